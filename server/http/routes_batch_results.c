/* routes_batch_results.c — GET /v1/batches/{id}/results: one table with a row for each member: its number, its job, its
 * inputs, its status and what was collected of its run. Members that have not ended have no numbers yet.
 *
 * Rows hold texts as well as numbers, so the table is written here and not by the writers of runs. Members are read
 * page by page and leave through the stream's ring: the table may be long. */
#include "api/accept.h"
#include "api/json_text.h"
#include "server/http/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORM_NDJSON, FORM_CSV, FORM_JSON, FORMS };
enum { MEMBERS_PER_PAGE = 100, LINE_MAX_BYTES = 16 * 1024 * 1024 };
static const char *const forms[FORMS] = {"application/x-ndjson", "text/csv", "application/json"};

typedef struct table {
    request *r; /* NULL once the answer is a stream */
    const http_services *services;
    stream *stream;
    size_t form;
    job_batch batch;
    cJSON *plan;
    text_buffer line;
    bool first; /* no row has been written */
} table;

static bool flush(table *t) {
    if (t->line.failed) return false;
    if (t->r) {
        if (!request_stream(t->r, forms[t->form])) return false;
        t->r = NULL;
    }
    bool sent = stream_write(t->stream, t->line.bytes ? t->line.bytes : "", t->line.length);
    text_buffer_reset(&t->line);
    return sent;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

/* RFC 4180. */
static void add_csv_text(text_buffer *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        text_buffer_puts(out, text);
        return;
    }
    text_buffer_puts(out, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"') text_buffer_puts(out, "\"");
        text_buffer_add(out, c, 1);
    }
    text_buffer_puts(out, "\"");
}

static void add_separator(table *t, size_t *cells) {
    if ((*cells)++ > 0) text_buffer_puts(&t->line, ",");
}

static void add_text(table *t, size_t *cells, const char *text) {
    add_separator(t, cells);
    if (t->form == FORM_CSV) {
        add_csv_text(&t->line, text);
    } else {
        json_text_string(&t->line, text);
    }
}

/* An input as it was set: a number, or else an expression. */
static void add_input(table *t, size_t *cells, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    const char *value = equals ? equals + 1 : "";
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *number = json_parse(value, strlen(value), &limits, &fault);
    if (cJSON_IsNumber(number)) {
        add_separator(t, cells);
        text_buffer_puts(&t->line, value);
    } else {
        add_text(t, cells, value);
    }
    cJSON_Delete(number);
}

static void add_number(table *t, size_t *cells, const cJSON *value) {
    add_separator(t, cells);
    if (cJSON_IsNumber(value)) {
        json_text_number(&t->line, value->valuedouble);
    } else if (t->form != FORM_CSV) {
        text_buffer_puts(&t->line, "null");
    }
}

static const cJSON *list_in(const table *t, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(t->plan, key);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void add_names(table *t) {
    static const char *const fixed[] = {"member", "job", "name"};
    size_t cells = 0;
    for (size_t k = 0; k < 3; k++) add_text(t, &cells, fixed[k]);
    const cJSON *inputs = list_in(t, "inputs"), *collected = list_in(t, "collected");
    for (const cJSON *c = inputs ? inputs->child : NULL; c; c = c->next) add_text(t, &cells, c->valuestring);
    add_text(t, &cells, "status");
    for (const cJSON *c = collected ? collected->child : NULL; c; c = c->next) add_text(t, &cells, c->valuestring);
}

static bool write_begin(table *t) {
    if (t->form == FORM_CSV) {
        add_names(t);
        text_buffer_puts(&t->line, "\n");
        return flush(t);
    }
    text_buffer_puts(&t->line, "{\"header\":{\"columns\":[");
    add_names(t);
    text_buffer_puts(&t->line, "],\"name\":");
    json_text_string(&t->line, t->batch.name);
    text_buffer_puts(&t->line, t->form == FORM_NDJSON ? "}}\n" : "},\"rows\":[");
    return flush(t);
}

static void add_cells(table *t, const job *j) {
    size_t cells = 0;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)j->member);
    add_separator(t, &cells);
    text_buffer_puts(&t->line, number);
    add_text(t, &cells, j->id);
    add_text(t, &cells, j->name);
    cJSON *inputs = j->assignments ? cJSON_Parse(j->assignments) : NULL;
    for (const cJSON *c = inputs ? inputs->child : NULL; c; c = c->next) {
        if (cJSON_IsString(c)) add_input(t, &cells, c->valuestring);
    }
    cJSON_Delete(inputs);
    add_text(t, &cells, job_status_name(j->status));
    cJSON *collected = j->collected ? cJSON_Parse(j->collected) : NULL;
    const cJSON *value = collected ? collected->child : NULL;
    const cJSON *names = list_in(t, "collected");
    for (const cJSON *c = names ? names->child : NULL; c; c = c->next) {
        add_number(t, &cells, value);
        if (value) value = value->next;
    }
    cJSON_Delete(collected);
}

static bool write_row(table *t, const job *j) {
    static const char *const before[FORMS] = {"{\"row\":[", "", "["}, *const after[FORMS] = {"]}\n", "\n", "]"};
    if (t->form == FORM_JSON && !t->first) text_buffer_puts(&t->line, ",");
    t->first = false;
    text_buffer_puts(&t->line, before[t->form]);
    add_cells(t, j);
    text_buffer_puts(&t->line, after[t->form]);
    return flush(t);
}

static bool write_end(table *t) {
    if (t->form == FORM_CSV) return true;
    text_buffer_puts(&t->line, t->form == FORM_NDJSON ? "{\"summary\":{\"counts\":{" : "],\"summary\":{\"counts\":{");
    for (size_t k = 0; k < JOB_STATUSES; k++) {
        text_buffer_printf(&t->line, "%s\"%s\":%lld", k ? "," : "", job_status_name((job_status)k),
                           (long long)t->batch.counts[k]);
    }
    text_buffer_puts(&t->line, t->form == FORM_NDJSON ? "}}}\n" : "}}}");
    return flush(t);
}

static bool write_members(table *t) {
    job *members = calloc(MEMBERS_PER_PAGE, sizeof *members);
    size_t count = members ? MEMBERS_PER_PAGE : 0;
    bool good = members != NULL;
    for (int64_t first = 0; good && count == MEMBERS_PER_PAGE;) {
        const store *s = t->services->store;
        good =
            s->kind->members(t->services->store, t->batch.number, first, MEMBERS_PER_PAGE, members, &count) == STORE_OK;
        for (size_t k = 0; k < count; k++) {
            good = good && write_row(t, &members[k]) && !atomic_load(stream_cancel_flag(t->stream));
            first = members[k].member + 1;
            job_clear(&members[k]);
        }
    }
    free(members);
    return good;
}

static handled write_table(table *t) {
    bool whole = write_begin(t) && write_members(t) && write_end(t);
    if (t->r) return reply_no_memory(t->r);
    stream_end(t->stream, whole);
    return REPLY_STREAMED;
}

handled batches_get_results(request *r) {
    table t = {.r = r, .services = r->services, .stream = r->stream, .first = true};
    t.form = accept_choose(request_header(r, "Accept"), forms, FORMS, FORM_NDJSON);
    if (t.form == FORMS) {
        return reply_problem(r, 406, "not-acceptable", "Not acceptable",
                             "the table comes as application/x-ndjson, text/csv or application/json");
    }
    store_status status =
        r->services->store->kind->find_batch(r->services->store, r->parameter, request_owner_filter(r), &t.batch);
    if (status == STORE_ABSENT) {
        return reply_problem(r, 404, "no-such-batch", "No such batch", "there is no batch '%s'", r->parameter);
    }
    if (status != STORE_OK) return reply_storage_failed(r);
    text_buffer_init(&t.line, LINE_MAX_BYTES);
    t.plan = cJSON_Parse(t.batch.plan);
    handled replied = t.plan ? write_table(&t) : reply_no_memory(r);
    cJSON_Delete(t.plan);
    text_buffer_free(&t.line);
    batch_clear(&t.batch);
    return replied;
}
