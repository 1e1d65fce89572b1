/* routes_batch_results.c — GET /v1/batches/{id}/results: one table with a row for each member: its number, its job, its
 * inputs, its status and what was collected of its run. Members that have not ended have no numbers yet.
 *
 * Rows hold texts as well as numbers, so the table is written here and not by the writers of runs. Members are read
 * page by page and leave through the stream's ring: the table may be long. */
#include "api/accept.h"
#include "api/json_text.h"
#include "api/member_table.h"
#include "server/http/job_json.h"
#include "server/http/routes.h"

#include <math.h>
#include <stdlib.h>

enum { MEMBERS_PER_PAGE = 100, LINE_MAX_BYTES = 16 * 1024 * 1024 };
static const char *const forms[TABLE_FORMS] = {"application/x-ndjson", "text/csv", "application/json"};

typedef struct table {
    request *r; /* NULL once the answer is a stream */
    const http_services *services;
    stream *stream;
    table_form form;
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

static const cJSON *list_in(const table *t, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(t->plan, key);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void add_names(table *t) {
    static const char *const fixed[] = {"member", "job", "name"};
    table_row row = {.out = &t->line, .form = t->form};
    for (size_t k = 0; k < 3; k++) table_text(&row, fixed[k]);
    const cJSON *inputs = list_in(t, "inputs"), *collected = list_in(t, "collected");
    for (const cJSON *c = inputs ? inputs->child : NULL; c; c = c->next) table_text(&row, c->valuestring);
    table_text(&row, "status");
    for (const cJSON *c = collected ? collected->child : NULL; c; c = c->next) table_text(&row, c->valuestring);
}

static bool write_begin(table *t) {
    if (t->form == TABLE_CSV) {
        add_names(t);
        text_buffer_puts(&t->line, "\n");
        return flush(t);
    }
    text_buffer_puts(&t->line, "{\"header\":{\"columns\":[");
    add_names(t);
    text_buffer_puts(&t->line, "],\"name\":");
    json_text_string(&t->line, t->batch.name);
    text_buffer_puts(&t->line, t->form == TABLE_NDJSON ? "}}\n" : "},\"rows\":[");
    return flush(t);
}

static void add_cells(table *t, const job *j) {
    table_row row = {.out = &t->line, .form = t->form};
    table_index(&row, (size_t)j->member);
    table_text(&row, j->id);
    table_text(&row, j->name);
    cJSON *inputs = j->assignments ? cJSON_Parse(j->assignments) : NULL;
    for (const cJSON *c = inputs ? inputs->child : NULL; c; c = c->next) {
        if (cJSON_IsString(c)) table_input(&row, c->valuestring);
    }
    cJSON_Delete(inputs);
    table_text(&row, job_status_name(j->status));
    cJSON *collected = j->collected ? cJSON_Parse(j->collected) : NULL;
    const cJSON *value = collected ? collected->child : NULL;
    const cJSON *names = list_in(t, "collected");
    for (const cJSON *c = names ? names->child : NULL; c; c = c->next) {
        table_number(&row, cJSON_IsNumber(value) ? value->valuedouble : (double)NAN);
        if (value) value = value->next;
    }
    cJSON_Delete(collected);
}

static bool write_row(table *t, const job *j) {
    static const char *const before[TABLE_FORMS] = {"{\"row\":[", "", "["}, *const after[TABLE_FORMS] = {"]}\n", "\n",
                                                                                                         "]"};
    if (t->form == TABLE_JSON && !t->first) text_buffer_puts(&t->line, ",");
    t->first = false;
    text_buffer_puts(&t->line, before[t->form]);
    add_cells(t, j);
    text_buffer_puts(&t->line, after[t->form]);
    return flush(t);
}

static bool write_end(table *t) {
    if (t->form == TABLE_CSV) return true;
    text_buffer_puts(&t->line, t->form == TABLE_NDJSON ? "{\"summary\":{\"counts\":{" : "],\"summary\":{\"counts\":{");
    for (size_t k = 0; k < JOB_STATUSES; k++) {
        text_buffer_printf(&t->line, "%s\"%s\":%lld", k ? "," : "", job_status_name((job_status)k),
                           (long long)t->batch.counts[k]);
    }
    text_buffer_puts(&t->line, t->form == TABLE_NDJSON ? "}}}\n" : "}}}");
    return flush(t);
}

static bool write_members(table *t) {
    job *members = calloc(MEMBERS_PER_PAGE, sizeof *members);
    size_t count = members ? MEMBERS_PER_PAGE : 0;
    bool good = members != NULL;
    for (int64_t next = 0; good && count == MEMBERS_PER_PAGE;) {
        const store *s = t->services->store;
        good =
            s->kind->members(t->services->store, t->batch.number, next, MEMBERS_PER_PAGE, members, &count) == STORE_OK;
        for (size_t k = 0; k < count; k++) {
            good = good && members[k].number >= next && members[k].number < INT64_MAX && write_row(t, &members[k]) &&
                   !atomic_load(stream_cancel_flag(t->stream));
            if (good) next = members[k].number + 1;
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
    size_t form = accept_choose(request_header(r, "Accept"), forms, TABLE_FORMS, TABLE_NDJSON);
    if (form == TABLE_FORMS) {
        return reply_problem(r, 406, "not-acceptable", "Not acceptable",
                             "the table comes as application/x-ndjson, text/csv or application/json");
    }
    t.form = (table_form)form;
    store_status status =
        r->services->store->kind->find_batch(r->services->store, r->parameter, request_owner_filter(r), &t.batch);
    if (status == STORE_ABSENT) {
        return reply_problem(r, 404, "no-such-batch", "No such batch", "there is no batch '%s'", r->parameter);
    }
    if (status != STORE_OK) return reply_storage_failed(r);
    text_buffer_init(&t.line, LINE_MAX_BYTES);
    t.plan = cJSON_Parse(t.batch.plan);
    bool sound = json_is_texts(list_in(&t, "inputs")) && json_is_texts(list_in(&t, "collected"));
    handled replied =
        sound ? write_table(&t)
              : reply_problem(r, 500, "storage", "Storage failed", "the stored plan of this batch cannot be read");
    cJSON_Delete(t.plan);
    text_buffer_free(&t.line);
    batch_clear(&t.batch);
    return replied;
}
