/* row_sink.c — the registry of result formats, the choice by an Accept header, and the calls common to all formats. */
#include "api/row_sink.h"

#include "api/write_formats.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One line of output: a row of a wide system or a header. */
enum { LINE_MAX_BYTES = 256 * 1024 * 1024 };

/* The order breaks ties between formats that a client likes equally. */
static const row_format *const formats[] = {
    &row_format_ndjson, &row_format_sse, &row_format_csv, &row_format_json, &row_format_npy,
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

const row_format *row_format_at(size_t index) {
    return index < FORMAT_COUNT ? formats[index] : NULL;
}

const row_format *row_format_named(const char *name) {
    for (size_t k = 0; k < FORMAT_COUNT; k++) {
        if (strcasecmp(formats[k]->name, name) == 0 || strcasecmp(formats[k]->media_type, name) == 0) return formats[k];
    }
    return NULL;
}

/* A media range of an Accept header: where its type stands, and its weight in thousandths. */
typedef struct media_range {
    const char *type;
    size_t length;
    int weight;
} media_range;

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* The end of the piece at p: the next `,` or, with `semicolon`, `;` outside quotes. */
static const char *piece_end(const char *p, bool semicolon) {
    bool quoted = false;
    for (; *p != '\0'; p++) {
        if (quoted && *p == '\\' && p[1] != '\0') {
            p++;
        } else if (*p == '"') {
            quoted = !quoted;
        } else if (!quoted && (*p == ',' || (semicolon && *p == ';'))) {
            break;
        }
    }
    return p;
}

/* A weight: 0, 1, or up to three decimals (RFC 9110 12.4.2); anything else counts as 0, so that it is not served. */
static int weight_of(const char *p, const char *end) {
    if (p == end || (*p != '0' && *p != '1')) return 0;
    int weight = (*p++ - '0') * 1000;
    int place = 100;
    if (p < end && *p == '.') {
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, place /= 10) weight += (*p - '0') * place;
    }
    return weight > 1000 ? 1000 : weight;
}

/* Reads the range that begins at p; returns its end. */
static const char *read_range(const char *p, media_range *range) {
    while (is_blank(*p)) p++;
    const char *end = piece_end(p, true);
    const char *last = end;
    while (last > p && is_blank(last[-1])) last--;
    *range = (media_range){.type = p, .length = (size_t)(last - p), .weight = 1000};
    while (*end == ';') {
        const char *name = end + 1;
        while (is_blank(*name)) name++;
        end = piece_end(name, true);
        const char *value = end;
        while (value > name && is_blank(value[-1])) value--;
        if (value - name >= 2 && (name[0] == 'q' || name[0] == 'Q') && name[1] == '=') {
            range->weight = weight_of(name + 2, value);
        }
    }
    return end;
}

/* How closely the range names the format: 3 exactly, 2 "type/ *", 1 "* / *", 0 not at all. */
static int closeness(const media_range *range, const char *media_type) {
    size_t main_length = (size_t)(strchr(media_type, '/') - media_type) + 1;
    if (range->length == strlen(media_type) && strncasecmp(range->type, media_type, range->length) == 0) return 3;
    if (range->length == 3 && memcmp(range->type, "*/*", 3) == 0) return 1;
    if (range->length == main_length + 1 && range->type[main_length] == '*' &&
        strncasecmp(range->type, media_type, main_length) == 0) {
        return 2;
    }
    return 0;
}

/* What a header says about one format: by its closest range. */
typedef struct opinion {
    int weight, closeness;
    size_t position; /* of the range in the header */
} opinion;

static opinion opinion_of(const char *accept, const row_format *format) {
    opinion best = {0};
    size_t position = 0;
    for (const char *p = accept; *p != '\0'; position++) {
        media_range range;
        p = read_range(p, &range);
        int close = closeness(&range, format->media_type);
        if (close > best.closeness) best = (opinion){range.weight, close, position};
        if (*p == ',') p++;
    }
    return best;
}

static bool better(const opinion *a, const row_format *format, const opinion *b, const row_format *fallback) {
    if (a->weight != b->weight) return a->weight > b->weight;
    if (a->closeness != b->closeness) return a->closeness > b->closeness;
    if (a->position != b->position) return a->position < b->position;
    return format == fallback;
}

const row_format *row_format_accepted(const char *accept, const row_format *fallback) {
    if (accept == NULL || accept[strspn(accept, " \t,")] == '\0') return fallback;
    const row_format *chosen = NULL;
    opinion best = {0};
    for (size_t k = 0; k < FORMAT_COUNT; k++) {
        opinion o = opinion_of(accept, formats[k]);
        if (o.closeness == 0 || o.weight == 0) continue;
        if (chosen != NULL && !better(&o, formats[k], &best, fallback)) continue;
        chosen = formats[k];
        best = o;
    }
    return chosen;
}

row_writer *row_writer_open(const row_format *format, byte_sink sink) {
    row_writer *w = calloc(1, format->writer_bytes);
    if (w == NULL) return NULL;
    w->format = format;
    w->sink = sink;
    text_buffer_init(&w->line, LINE_MAX_BYTES);
    return w;
}

void row_writer_close(row_writer *w) {
    if (w == NULL) return;
    if (w->format->close != NULL) w->format->close(w);
    text_buffer_free(&w->line);
    free(w);
}

bool row_writer_flush(row_writer *w) {
    if (w->line.failed) {
        w->reason = "memory could not be allocated";
        return false;
    }
    bool taken = w->line.length == 0 || w->sink.write(w->sink.context, w->line.bytes, w->line.length);
    text_buffer_reset(&w->line);
    return taken;
}

bool row_writer_begin(row_writer *w, const row_header *header) {
    w->column_count = header->column_count;
    return w->format->begin == NULL || w->format->begin(w, header);
}

bool row_writer_row(row_writer *w, const double *values, size_t count) {
    return w->format->row == NULL || w->format->row(w, values, count);
}

bool row_writer_event(row_writer *w, const char *json) {
    return w->format->event == NULL || w->format->event(w, json);
}

bool row_writer_progress(row_writer *w, const char *json) {
    return w->format->progress == NULL || w->format->progress(w, json);
}

bool row_writer_summary(row_writer *w, const char *json) {
    return w->format->summary == NULL || w->format->summary(w, json);
}

bool row_writer_problem(row_writer *w, const char *json) {
    return w->format->problem == NULL || w->format->problem(w, json);
}

bool row_writer_heartbeat(row_writer *w) {
    return w->format->heartbeat == NULL || w->format->heartbeat(w);
}
