/* routes_batch_results.c — GET /v1/batches/{id}/results: returns a table with one row for each member. The columns are
 * the number, job, inputs, status, reduced values and problem of the member. Values are empty for members that have not
 * completed.
 *
 * The formats are those of a local sweep (api/sweep/sweep_table.h). Members are read page by page and written to the
 * stream, since the table may be long. */
#include "api/json/strict_json.h"
#include "api/json/text.h"
#include "api/sweep/sweep_table.h"
#include "server/http/accept.h"
#include "server/http/job_json.h"
#include "server/http/routes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_PER_PAGE = 100, LINE_MAX_BYTES = 16 * 1024 * 1024 };
static const char *const forms[TABLE_FORMS] = {"application/x-ndjson", "text/csv", "application/json"};

typedef struct table {
    request *r; /* NULL once the reply is a stream */
    const daemon_services *services;
    stream *stream;
    table_form form;
    job_batch batch;
    cJSON *plan;
    const char **names; /* names of the inputs, then of the reduced values */
    sweep_columns columns;
    text_buffer keys;      /* for each reduced value, its key in the stored object, with a colon and a zero byte */
    text_buffer collected; /* reduced values of one row, as a list of numbers */
    text_buffer line;
    bool first; /* no row has been written yet */
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

static const char **add_names(const cJSON *list, const char **out) {
    for (const cJSON *c = list->child; c; c = c->next) *out++ = c->valuestring;
    return out;
}

/* Takes the names of the columns from the plan of the batch. Returns false if out of memory. */
static bool name_result_columns(table *t) {
    const cJSON *inputs = list_in(t, "inputs"), *collected = list_in(t, "collected");
    size_t input_count = (size_t)cJSON_GetArraySize(inputs), collected_count = (size_t)cJSON_GetArraySize(collected);
    t->names = calloc(input_count + collected_count + 1, sizeof *t->names);
    if (!t->names) return false;
    (void)add_names(collected, add_names(inputs, t->names));
    for (size_t k = 0; k < collected_count; k++) {
        json_text_string(&t->keys, t->names[input_count + k]);
        text_buffer_add(&t->keys, ":", sizeof ":");
    }
    t->columns = (sweep_columns){.jobs = true,
                                 .inputs = t->names,
                                 .collected = t->names + input_count,
                                 .input_count = input_count,
                                 .collected_count = collected_count};
    return !t->keys.failed;
}

/* Copies the numbers of a stored object that has the columns of the batch. Returns false if it has other columns. */
static bool copy_collected(table *t, const char *object) {
    const char *at = object, *key = t->keys.bytes;
    for (size_t k = 0; k < t->columns.collected_count; k++, key += strlen(key) + 1) {
        size_t key_length = strlen(key);
        if (*at++ != (k > 0 ? ',' : '{') || strncmp(at, key, key_length) != 0) return false;
        at += key_length;
        size_t length = strcspn(at, ",}");
        if (!json_is_number(at, length) && strncmp(at, "null", length) != 0) return false;
        if (k > 0) text_buffer_put(&t->collected, ',');
        text_buffer_add(&t->collected, at, length);
        at += length;
    }
    return strcmp(at, "}") == 0;
}

/* Takes the reduced values of a completed run. The columns of the run may differ from the columns of the batch. */
static void take_collected(table *t, const job *j) {
    const char *stored = j->status == JOB_COMPLETED ? j->collected : NULL;
    text_buffer_reset(&t->collected);
    if (stored && copy_collected(t, stored)) return;
    text_buffer_reset(&t->collected);
    cJSON *object = json_parse_trusted(stored);
    for (size_t k = 0; k < t->columns.collected_count; k++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, t->columns.collected[k]);
        if (k > 0) text_buffer_put(&t->collected, ',');
        json_text_number(&t->collected, cJSON_IsNumber(value) ? value->valuedouble : (double)NAN);
    }
    cJSON_Delete(object);
}

static bool write_member_row(table *t, const job *j) {
    job_outcome outcome;
    cJSON *assignments = json_parse_trusted(j->assignments);
    take_collected(t, j);
    job_outcome_read(&outcome, j);
    if (t->form == TABLE_JSON && !t->first) text_buffer_puts(&t->line, ",");
    t->first = false;
    sweep_cells cells = {.member = (size_t)j->member,
                         .job = j->id,
                         .name = j->name,
                         .assignments = assignments,
                         .status = outcome.status,
                         .collected = t->collected.bytes ? t->collected.bytes : "",
                         .problem = outcome.problem.bytes ? outcome.problem.bytes : ""};
    sweep_table_row(&t->columns, t->form, &cells, &t->line);
    t->line.failed = t->line.failed || t->collected.failed || outcome.problem.failed;
    text_buffer_free(&outcome.problem);
    cJSON_Delete(assignments);
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
    size_t count = 1;
    bool good = members != NULL;
    for (int64_t next = 0; good && count > 0;) {
        good = STORE_CALL(t->services->store, members, t->batch.number, next, MEMBERS_PER_PAGE, members, &count) ==
               STORE_OK;
        for (size_t k = 0; k < count; k++) {
            good = good && members[k].number >= next && members[k].number < INT64_MAX &&
                   write_member_row(t, &members[k]) && !atomic_load(stream_cancel_flag(t->stream));
            if (good) next = members[k].number + 1;
            job_clear(&members[k]);
        }
    }
    free(members);
    return good;
}

static handled write_table(table *t) {
    sweep_table_begin(&t->columns, t->form, t->batch.name, &t->line);
    bool whole = flush(t) && write_members(t) && write_end(t);
    if (t->r) return reply_no_memory(t->r);
    stream_end(t->stream, whole);
    return REPLY_STREAMED;
}

handled batches_get_results(request *r) {
    table t = {.r = r, .services = r->services, .stream = r->stream, .first = true};
    size_t form = accept_choose(request_header(r, "Accept"), forms, TABLE_FORMS, TABLE_NDJSON);
    if (form == TABLE_FORMS) {
        return reply_problem(r, 406, "not-acceptable", "Not acceptable",
                             "available formats of the table: application/x-ndjson, text/csv, application/json");
    }
    t.form = (table_form)form;
    stream_finish_first(r->stream);
    if (!request_batch(r, &t.batch)) return REPLY_READY;
    text_buffer_init(&t.line, LINE_MAX_BYTES);
    text_buffer_init(&t.keys, LINE_MAX_BYTES);
    text_buffer_init(&t.collected, LINE_MAX_BYTES);
    t.plan = json_parse_trusted(t.batch.plan);
    bool sound = json_is_texts(list_in(&t, "inputs")) && json_is_texts(list_in(&t, "collected"));
    handled replied =
        !sound ? reply_problem(r, 500, "storage", "Storage failed", "the stored plan of this batch cannot be read")
        : name_result_columns(&t) ? write_table(&t)
                                  : reply_no_memory(r);
    free(t.names);
    cJSON_Delete(t.plan);
    text_buffer_free(&t.line);
    text_buffer_free(&t.keys);
    text_buffer_free(&t.collected);
    batch_clear(&t.batch);
    return replied;
}
