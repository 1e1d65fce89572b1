/* store_sql_read.c — conversion of table rows to structs, and queries: each is one short statement on the connection of
 * a reader. Data from the database is checked like data from a client: a damaged chunk causes an error, never an
 * out-of-bounds read. */
#include "server/jobs/store_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *column_text(sql_connection *c, int column, bool *good) {
    size_t length;
    const char *text = c->driver->bytes(c, column, &length);
    if (!text) return NULL;
    char *copy = strdup(text);
    if (!copy) *good = false;
    return copy;
}

static void copy_id(sql_connection *c, int column, char out[JOB_ID_BYTES]) {
    size_t length;
    const char *id = c->driver->bytes(c, column, &length);
    snprintf(out, JOB_ID_BYTES, "%s", id ? id : "");
}

bool sql_read_job(sql_connection *c, job *out) {
    const sql_driver *d = c->driver;
    bool good = true;
    *out = (job){.number = d->integer(c, 0)};
    copy_id(c, 1, out->id);
    out->name = column_text(c, 2, &good);
    int64_t status = d->integer(c, 3);
    out->status = status >= JOB_QUEUED && status <= JOB_CANCELED ? (job_status)status : JOB_FAILED;
    out->progress = d->real(c, 4);
    out->created = d->integer(c, 5);
    out->started = d->integer(c, 6);
    out->finished = d->integer(c, 7);
    out->revision = d->integer(c, 8);
    out->attempt = d->integer(c, 9);
    out->cancel_requested = d->integer(c, 10) != 0;
    out->header = column_text(c, 11, &good);
    out->summary = column_text(c, 12, &good);
    out->problem = column_text(c, 13, &good);
    out->owner = column_text(c, 14, &good);
    out->member = d->integer(c, 15);
    out->assignments = column_text(c, 16, &good);
    out->collected = column_text(c, 17, &good);
    copy_id(c, 18, out->batch);
    if (good && out->name && out->owner) return true;
    job_clear(out);
    return false;
}

bool sql_read_batch(sql_connection *c, job_batch *out) {
    bool good = true;
    *out = (job_batch){.number = c->driver->integer(c, 0)};
    copy_id(c, 1, out->id);
    out->name = column_text(c, 2, &good);
    out->created = c->driver->integer(c, 3);
    out->plan = column_text(c, 4, &good);
    out->complete = c->driver->integer(c, 5) != 0;
    if (good && out->name && out->plan) return true;
    batch_clear(out);
    return false;
}

bool sql_read_blob(sql_connection *c, int column, char **bytes, size_t *length) {
    const char *blob = c->driver->bytes(c, column, length);
    *bytes = malloc(*length + 1);
    if (!*bytes) return false;
    if (*length) memcpy(*bytes, blob, *length);
    (*bytes)[*length] = '\0';
    return true;
}

store_status sql_row_status(sql_step step, bool read) {
    return step == SQL_STEP_ROW && read ? STORE_OK : step == SQL_STEP_END ? STORE_ABSENT : STORE_FAILED;
}

store_status sql_one_job(sql_connection *c, sql_step step, job *out) {
    bool read = step == SQL_STEP_ROW && sql_read_job(c, out);
    c->driver->end(c);
    return sql_row_status(step, read);
}

store_status sql_one_int(sql_connection *c, sql_step step, int64_t *out) {
    *out = step == SQL_STEP_ROW ? c->driver->integer(c, 0) : 0;
    c->driver->end(c);
    return sql_row_status(step, true);
}

store_status sql_same_body(sql_connection *c, int64_t description, const job_submission *submission) {
    if (SQL_FIRST(c, SQL_BODY, sql_int(description)) != SQL_STEP_ROW) return STORE_FAILED;
    size_t length;
    const char *body = c->driver->bytes(c, 0, &length);
    bool same = length == submission->length && (length == 0 || memcmp(body, submission->body, length) == 0);
    c->driver->end(c);
    return same ? STORE_EXISTS : STORE_CONFLICT;
}

const char *sql_key(const job_submission *submission, char out[SQL_KEY_BYTES]) {
    if (!submission->key) return NULL;
    const char *separator = submission->owner[0] ? "\x1f" : ""; /* names and keys contain no control characters */
    snprintf(out, SQL_KEY_BYTES, "%s%s%s", submission->owner, separator, submission->key);
    return out;
}

/* Ends a query and logs a failure. */
static store_status end_read(sql_connection *c, store_status status) {
    if (status == STORE_FAILED) c->driver->complain(c->store, c, "read");
    sql_reader_back(c);
    return status;
}

store_status sql_find(store *base, const char *id, const char *owner, job *out) {
    sql_connection *c = sql_reader(base);
    *out = (job){0};
    return end_read(c, sql_one_job(c, SQL_FIRST(c, SQL_FIND_ID, sql_text(id), sql_text(owner)), out));
}

store_status sql_revision(store *base, int64_t number, int64_t *revision) {
    sql_connection *c = sql_reader(base);
    return end_read(c, sql_one_int(c, SQL_FIRST(c, SQL_REVISION, sql_int(number)), revision));
}

store_status sql_known_key(store *base, const job_submission *submission, job *out) {
    char key[SQL_KEY_BYTES];
    *out = (job){0};
    if (!submission->key) return STORE_ABSENT;
    sql_connection *c = sql_reader(base);
    store_status status = sql_one_job(c, SQL_FIRST(c, SQL_FIND_KEY, sql_text(sql_key(submission, key))), out);
    if (status == STORE_OK) status = sql_same_body(c, out->number, submission);
    return end_read(c, status);
}

/* Reads at most `limit` jobs of a statement. Sets *matched to the number of jobs that match without the bound on
 * bytes. */
static store_status read_jobs(store *base, unsigned name, const sql_value *values, size_t value_count, size_t limit,
                              job *out, size_t *count, int64_t *matched) {
    sql_connection *c = sql_reader(base);
    *count = 0;
    *matched = 0;
    sql_step step = sql_first(c, name, values, value_count);
    while (step == SQL_STEP_ROW && *count < limit && sql_read_job(c, &out[*count])) {
        *matched = c->driver->integer(c, SQL_JOB_MATCHED);
        (*count)++;
        step = c->driver->next(c);
    }
    bool good = step == SQL_STEP_END || (step == SQL_STEP_ROW && *count == limit);
    while (!good && *count > 0) job_clear(&out[--*count]);
    return end_read(c, good ? STORE_OK : STORE_FAILED);
}

store_status sql_list(store *base, const job_query *query, job *out, size_t *count, bool *more) {
    int64_t matched;
    unsigned filters = (query->by_status ? SQL_BY_STATUS : 0u) | (query->name ? SQL_BY_NAME : 0u) |
                       (query->owner ? SQL_BY_OWNER : 0u) | (query->batch ? SQL_BY_BATCH : 0u);
    const sql_value values[] = {
        sql_int(query->before ? query->before : INT64_MAX),
        sql_int((int64_t)query->limit + 1), /* + 1 to detect whether the list continues */
        sql_int((int64_t)query->status),
        sql_text(query->name),
        sql_text(query->owner),
        sql_text(query->batch),
    };
    store_status status = read_jobs(base, SQL_JOB_LISTS + filters, values, sizeof values / sizeof values[0],
                                    query->limit, out, count, &matched);
    *more = matched > (int64_t)*count;
    return status;
}

store_status sql_members(store *base, int64_t number, int64_t first, size_t limit, job *out, size_t *count) {
    const sql_value values[] = {sql_int(number), sql_int((int64_t)limit), sql_int(first)};
    int64_t matched;
    return read_jobs(base, SQL_MEMBERS, values, sizeof values / sizeof values[0], limit, out, count, &matched);
}

store_status sql_description(store *base, const job *j, char **body, size_t *length) {
    sql_connection *c = sql_reader(base);
    *body = NULL;
    sql_step step = SQL_FIRST(c, SQL_DESCRIPTION, sql_int(j->number));
    return end_read(c, sql_row_status(step, step == SQL_STEP_ROW && sql_read_blob(c, 0, body, length)));
}

static bool read_chunk(sql_connection *c, row_chunk *out) {
    size_t length;
    int64_t first = c->driver->integer(c, 0), rows = c->driver->integer(c, 1), columns = c->driver->integer(c, 2);
    const char *data = c->driver->bytes(c, 3, &length);
    int64_t bytes = (int64_t)length;
    if (first < 0 || rows < 1 || columns < 1 || rows > bytes || columns > bytes || !data) return false;
    if (rows * columns * (int64_t)sizeof(double) != bytes) return false; /* no overflow: both are below 2^31 */
    out->values = malloc(length);
    if (!out->values) return false;
    memcpy(out->values, data, length);
    out->first = first;
    out->rows = rows;
    out->columns = (size_t)columns;
    return true;
}

store_status sql_chunk_at(store *base, int64_t number, int64_t row, row_chunk *out) {
    sql_connection *c = sql_reader(base);
    *out = (row_chunk){0};
    sql_step step = SQL_FIRST(c, SQL_CHUNK, sql_int(number), sql_int(row));
    /* If the last chunk ends before this row, the row is absent and the data of the chunk need not be read. */
    bool beyond = step == SQL_STEP_ROW && row - c->driver->integer(c, 0) >= c->driver->integer(c, 1);
    return end_read(c, beyond ? STORE_ABSENT : sql_row_status(step, step == SQL_STEP_ROW && read_chunk(c, out)));
}

store_status sql_event_at(store *base, int64_t number, int64_t event, job_event *out) {
    sql_connection *c = sql_reader(base);
    size_t length;
    *out = (job_event){0};
    sql_step step = SQL_FIRST(c, SQL_EVENT, sql_int(number), sql_int(event));
    const char *json = step == SQL_STEP_ROW ? c->driver->bytes(c, 1, &length) : NULL;
    if (json) *out = (job_event){.row = c->driver->integer(c, 0), .json = strdup(json)};
    return end_read(c, sql_row_status(step, out->json != NULL));
}

store_status sql_row_at_time(store *base, int64_t number, double t, int64_t *row) {
    sql_connection *c = sql_reader(base);
    return end_read(c, sql_one_int(c, SQL_FIRST(c, SQL_CHUNK_AT_TIME, sql_int(number), sql_double(t)), row));
}

store_status sql_counts(store *base, store_counts *out) {
    sql_connection *c = sql_reader(base);
    *out = (store_counts){0};
    sql_step step = sql_first(c, SQL_COUNT_JOBS, NULL, 0);
    if (step != SQL_STEP_ROW) return end_read(c, sql_row_status(step, false));
    out->queued = c->driver->integer(c, 0);
    out->running = c->driver->integer(c, 1);
    out->bytes = c->driver->integer(c, 2);
    store_status waiting = sql_one_int(c, sql_first(c, SQL_FIRST_QUEUED, NULL, 0), &out->queue_age);
    return end_read(c, waiting == STORE_FAILED ? STORE_FAILED : STORE_OK);
}

const char *sql_trouble(store *base) {
    sql_connection *c = sql_reader(base);
    bool answers = sql_run(c, SQL_HEALTH);
    sql_reader_back(c);
    return answers ? NULL : "the job store does not respond";
}
