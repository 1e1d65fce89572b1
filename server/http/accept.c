/* accept.c — content negotiation; see accept.h. All functions are pure. A header is parsed again for each offer. */
#include "server/http/accept.h"

#include <string.h>
#include <strings.h>

/* A range in an Accept header: its name, and its weight in thousandths. */
typedef struct accept_range {
    const char *type;
    size_t length;
    int weight;
} accept_range;

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Returns the end of the element at p: the next `,` outside quotes or, if `semicolon` is true, also the next `;`. */
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

/* Reads a weight from 0 to 1 with up to three decimals (RFC 9110 12.4.2). An invalid weight counts as 0 (not
 * acceptable). */
static int weight_of(const char *p, const char *end) {
    if (p == end || (*p != '0' && *p != '1')) return 0;
    int weight = (*p++ - '0') * 1000;
    int place = 100;
    if (p < end && *p == '.') {
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, place /= 10) weight += (*p - '0') * place;
    }
    return weight > 1000 ? 1000 : weight;
}

/* Reads the range that begins at p. Returns the end of the range. */
static const char *read_range(const char *p, accept_range *range) {
    while (is_blank(*p)) p++;
    const char *end = piece_end(p, true);
    const char *last = end;
    while (last > p && is_blank(last[-1])) last--;
    *range = (accept_range){.type = p, .length = (size_t)(last - p), .weight = 1000};
    while (*end == ';') {
        const char *name = end + 1;
        while (is_blank(*name)) name++;
        end = piece_end(name, true);
        const char *value = end;
        while (value > name && is_blank(value[-1])) value--;
        if (value - name >= 2 && (name[0] == 'q' || name[0] == 'Q') && name[1] == '=')
            range->weight = weight_of(name + 2, value);
    }
    return end;
}

/* Returns how closely the range matches the offer: 3 for the same type, 2 for "type/ *", 1 for "* / *" or "*", else
 * 0. */
static int closeness(const accept_range *range, const char *offer) {
    const char *slash = strchr(offer, '/');
    size_t main_length = slash != NULL ? (size_t)(slash - offer) + 1 : 0;
    if (range->length == strlen(offer) && strncasecmp(range->type, offer, range->length) == 0) return 3;
    if (slash == NULL) return range->length == 1 && range->type[0] == '*';
    if (range->length == 3 && memcmp(range->type, "*/*", 3) == 0) return 1;
    if (range->length == main_length + 1 && range->type[main_length] == '*' &&
        strncasecmp(range->type, offer, main_length) == 0) {
        return 2;
    }
    return 0;
}

/* The range of an Accept header that matches an offer most closely. Its weight is the weight of the offer. */
typedef struct opinion {
    int weight, closeness, position; /* `position` is the index of the range in the header */
} opinion;

static opinion opinion_of(const char *accept, const char *offer) {
    opinion best = {0};
    int position = 0;
    for (const char *p = accept; *p != '\0'; position++) {
        accept_range range;
        p = read_range(p, &range);
        int close = closeness(&range, offer);
        if (close > best.closeness) best = (opinion){range.weight, close, position};
        if (*p == ',') p++;
    }
    return best;
}

/* Returns a positive number if `a` is preferred to `b`, a negative number if `b` is preferred, and 0 for equal rank. */
static int compare(const opinion *a, const opinion *b) {
    if (a->weight != b->weight) return a->weight - b->weight;
    if (a->closeness != b->closeness) return a->closeness - b->closeness;
    return (a->position < b->position) - (a->position > b->position);
}

static bool says_nothing(const char *header) {
    return header == NULL || header[strspn(header, " \t,")] == '\0';
}

size_t accept_choose(const char *header, const char *const *offers, size_t count, size_t preferred) {
    if (says_nothing(header)) return preferred;
    size_t chosen = count;
    opinion best = {0};
    for (size_t k = 0; k < count; k++) {
        opinion o = opinion_of(header, offers[k]);
        if (o.closeness == 0 || o.weight == 0) continue;
        int order = chosen == count ? 1 : compare(&o, &best);
        if (order < 0 || (order == 0 && k != preferred)) continue;
        chosen = k;
        best = o;
    }
    return chosen;
}

/* Upper bound on the number of result formats (api/write/row_writer.c defines five); further formats are ignored. */
enum { FORMATS_MOST = 16 };

const row_format *accept_row_format(const char *header, const row_format *fallback) {
    const char *types[FORMATS_MOST];
    size_t count = 0, preferred = 0;
    for (const row_format *format; count < FORMATS_MOST && (format = row_format_at(count)) != NULL; count++) {
        types[count] = format->media_type;
        if (format == fallback) preferred = count;
    }
    size_t chosen = accept_choose(header, types, count, preferred);
    return chosen < count ? row_format_at(chosen) : NULL;
}

bool accept_allows(const char *header, const char *offer) {
    if (says_nothing(header)) return false;
    opinion o = opinion_of(header, offer);
    return o.closeness > 0 && o.weight > 0;
}
