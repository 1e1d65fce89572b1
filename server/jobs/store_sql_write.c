/* store_sql_write.c — operations that change one job. A change is a struct whose first member is an operation. The
 * caller fills the struct, and the writer's thread runs the operation. An operation returns STORE_FAILED only if the
 * database fails, and is then rolled back completely. An operation may run more than once, so each run initializes the
 * results. */
#include "server/jobs/store_sql.h"

#include "server/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static store_status find_by_number(sql_connection *c, int64_t number, job *out) {
    job_clear(out);
    return sql_one_job(c, SQL_FIRST(c, SQL_FIND_NUMBER, sql_int(number)), out);
}

/* ---- submit ----------------------------------------------------------------------------------------------------- */

typedef struct submit_change {
    sql_operation operation;
    const job_submission *submission;
    char id[JOB_ID_BYTES];
    job *out;
} submit_change;

bool sql_insert_body(sql_connection *c, int64_t description, const char *body, size_t length) {
    return SQL_RUN(c, SQL_INSERT_DESCRIPTION, sql_int(description), sql_blob(body, length));
}

static size_t text_length(const char *text) {
    return text ? strlen(text) : 0;
}

size_t sql_member_bytes(const batch_member *m) {
    return JOB_BASE_BYTES + text_length(m->name) + m->length + text_length(m->assignments);
}

int64_t sql_quota_bytes(const job_submission *submission) {
    return submission->quota.bytes < 1e18 ? (int64_t)ceil(submission->quota.bytes) : 0;
}

static size_t submission_bytes(const job_submission *sent) {
    return JOB_BASE_BYTES + text_length(sent->name) + sent->length;
}

static store_status insert_job(sql_connection *c, const job_submission *sent, const char *id, int64_t *number) {
    char key[SQL_KEY_BYTES];
    sql_step step =
        SQL_FIRST(c, SQL_INSERT_JOB, sql_text(id), sql_text(sent->name), sql_text(sql_key(sent, key)),
                  sql_text(sent->owner), sql_int((int64_t)submission_bytes(sent)), sql_int(sql_quota_bytes(sent)));
    if (sql_one_int(c, step, number) != STORE_OK) return STORE_FAILED;
    return sql_insert_body(c, *number, sent->body, sent->length) ? STORE_OK : STORE_FAILED;
}

store_status sql_check_quota(sql_connection *c, const job_submission *sent, size_t jobs, double bytes) {
    if (sent->quota.active <= 0 && sent->quota.bytes <= 0) return STORE_OK;
    sql_step step = SQL_FIRST(c, SQL_OWNER, sql_text(sent->owner));
    double active = (double)jobs;
    if (step == SQL_STEP_FAILED) return STORE_FAILED;
    if (step == SQL_STEP_ROW) {
        active += (double)c->driver->integer(c, 0);
        bytes += (double)c->driver->integer(c, 1);
    }
    c->driver->end(c);
    bool over =
        (sent->quota.active > 0 && active > sent->quota.active) || (sent->quota.bytes > 0 && bytes > sent->quota.bytes);
    return over ? STORE_FULL : STORE_OK;
}

static store_status run_submit(sql_connection *c, sql_operation *self) {
    submit_change *change = (submit_change *)self;
    const job_submission *sent = change->submission;
    char key[SQL_KEY_BYTES];
    job_clear(change->out);
    if (sent->key) {
        store_status known = sql_one_job(c, SQL_FIRST(c, SQL_FIND_KEY, sql_text(sql_key(sent, key))), change->out);
        if (known == STORE_OK) return sql_same_body(c, change->out->number, sent);
        if (known == STORE_FAILED) return STORE_FAILED;
    }
    if (self->is_retry) { /* the previous attempt may have been committed */
        store_status made =
            sql_one_job(c, SQL_FIRST(c, SQL_FIND_ID, sql_text(change->id), sql_text(NULL)), change->out);
        if (made != STORE_ABSENT) return made;
    }
    store_status quota = sql_check_quota(c, sent, 1, (double)submission_bytes(sent));
    if (quota != STORE_OK) return quota;
    int64_t number = 0;
    if (insert_job(c, sent, change->id, &number) != STORE_OK) return STORE_FAILED;
    return find_by_number(c, number, change->out) == STORE_OK ? STORE_OK : STORE_FAILED;
}

store_status sql_submit(store *s, const job_submission *submission, job *out) {
    submit_change change = {{.run = run_submit, .durable = true, .grows = true, .queues = true}, submission, "", out};
    *out = (job){0};
    if (!random_id(change.id)) return STORE_FAILED;
    return sql_change((sql_store *)s, &change.operation);
}

store_status sql_start(sql_connection *c, int64_t number, job_claim *claim) {
    static const char problem[] =
        PROBLEM_JSON("storage", "Storage failed", "500", "the description of this job is missing in the store");
    claim_clear(claim); /* of a run that was rolled back */
    sql_step step = SQL_FIRST(c, SQL_DESCRIPTION, sql_int(number));
    bool read = step == SQL_STEP_ROW && sql_read_blob(c, 0, &claim->body, &claim->length);
    c->driver->end(c);
    if (step == SQL_STEP_END) /* the job fails, so that a damaged store does not block the queue */
        return SQL_RUN(c, SQL_FAIL, sql_int(number), sql_text(problem)) ? STORE_ABSENT : STORE_FAILED;
    if (!read) return STORE_FAILED;
    store_status status = sql_one_job(c, SQL_FIRST(c, SQL_START, sql_int(number)), &claim->jobs[0]);
    if (status != STORE_OK) return status;
    claim->count = 1;
    return sql_start_members(c, claim);
}

store_status sql_claim(store *s, sql_claim_change *change) {
    job_claim *claim = change->claim;
    *claim = (job_claim){.jobs = claim->jobs, .sizes = claim->sizes, .size_count = claim->size_count};
    store_status status = sql_change((sql_store *)s, &change->operation);
    if (status != STORE_OK) claim_clear(claim); /* the transaction may have been rolled back after the claim */
    return status;
}

/* ---- run -------------------------------------------------------------------------------------------------------- */

typedef struct run_change {
    sql_operation operation;
    int64_t number, attempt;
    const job_output *output; /* may be NULL */
    double progress;
    const char *header;
    int64_t *rows, *events;
    const job_end *end;
} run_change;

/* Returns STORE_FULL if `bytes` more bytes would exceed the quota of the job. */
store_status sql_check_room(sql_connection *c, int64_t number, size_t bytes) {
    if (bytes == 0) return STORE_OK;
    sql_step step = SQL_FIRST(c, SQL_ROOM, sql_int(number));
    bool read = step == SQL_STEP_ROW;
    int64_t quota = read ? c->driver->integer(c, 0) : 0, used = read ? c->driver->integer(c, 1) : 0;
    c->driver->end(c);
    if (!read) return sql_row_status(step, false);
    return quota > 0 && (double)used + (double)bytes > (double)quota ? STORE_FULL : STORE_OK;
}

/* Reads the stored header. If this attempt is not the current one, returns STORE_ABSENT. Otherwise locks the row until
 * the end of the transaction. */
static store_status look_at_header(sql_connection *c, const run_change *change, bool *known, bool *same) {
    sql_step step = SQL_FIRST(c, SQL_BEGIN_RUN, sql_int(change->number), sql_int(change->attempt));
    size_t length;
    const char *header = step == SQL_STEP_ROW ? c->driver->bytes(c, 0, &length) : NULL;
    *known = header != NULL;
    *same = header && strcmp(header, change->header) == 0;
    c->driver->end(c);
    return sql_row_status(step, true);
}

/* Reads the number of stored rows or events of a job. */
static bool count_stored(sql_connection *c, sql_name name, int64_t number, int64_t *count) {
    return sql_one_int(c, SQL_FIRST(c, name, sql_int(number)), count) != STORE_FAILED;
}

static store_status run_begin(sql_connection *c, sql_operation *self) {
    run_change *change = (run_change *)self;
    bool known = false, same = false;
    store_status status = look_at_header(c, change, &known, &same);
    if (status != STORE_OK) return status;
    *change->rows = *change->events = 0;
    if (same) {
        bool counted = count_stored(c, SQL_STORED_ROWS, change->number, change->rows) &&
                       count_stored(c, SQL_STORED_EVENTS, change->number, change->events);
        return counted ? STORE_OK : STORE_FAILED;
    }
    size_t bytes = strlen(change->header);
    status = sql_check_room(c, change->number, bytes);
    if (status != STORE_OK) return status;
    sql_value number = sql_int(change->number);
    bool dropped = !known || (SQL_RUN(c, SQL_DROP_ROWS, number) && SQL_RUN(c, SQL_DROP_EVENTS, number));
    bool set = dropped && SQL_RUN(c, SQL_SET_HEADER, number, sql_text(change->header), sql_int((int64_t)bytes));
    return set ? STORE_OK : STORE_FAILED;
}

store_status sql_begin(store *s, int64_t number, int64_t attempt, const char *header, int64_t *rows, int64_t *events) {
    run_change change = {.number = number, .attempt = attempt, .header = header, .rows = rows, .events = events};
    change.operation = (sql_operation){.run = run_begin, .wait_for_db = true};
    return sql_change((sql_store *)s, &change.operation);
}

/* Adds bytes to the job's usage. Rows that an earlier attempt has committed are not counted again. */
static bool count_bytes(sql_connection *c, int64_t number, size_t bytes) {
    if (c->driver->changed(c) == 0) return true;
    return SQL_RUN(c, SQL_COUNT_BYTES, sql_int(number), sql_int((int64_t)bytes));
}

size_t sql_chunk_bytes(const row_chunk *chunk) {
    return (size_t)chunk->rows * chunk->columns * sizeof(double);
}

double sql_last_time(const row_chunk *chunk) {
    return chunk->values[(size_t)(chunk->rows - 1) * chunk->columns];
}

static bool insert_chunk(sql_connection *c, int64_t number, const row_chunk *chunk) {
    return SQL_RUN(c, SQL_INSERT_CHUNK, sql_int(number), sql_int(chunk->first), sql_int(chunk->rows),
                   sql_int((int64_t)chunk->columns), sql_double(sql_last_time(chunk)),
                   sql_blob(chunk->values, sql_chunk_bytes(chunk)));
}

bool sql_insert_event(sql_connection *c, int64_t job_number, int64_t number, const job_event *event) {
    return SQL_RUN(c, SQL_INSERT_EVENT, sql_int(job_number), sql_int(number), sql_int(event->row),
                   sql_text(event->json));
}

static store_status store_output(sql_connection *c, const run_change *change) {
    const job_output *output = change->output;
    if (!output) return STORE_OK;
    bool good = output->rows.rows == 0 || (insert_chunk(c, change->number, &output->rows) &&
                                           count_bytes(c, change->number, sql_chunk_bytes(&output->rows)));
    for (size_t k = 0; good && k < output->event_count; k++)
        good = sql_insert_event(c, change->number, output->first_event + (int64_t)k, &output->events[k]) &&
               count_bytes(c, change->number, strlen(output->events[k].json));
    return good ? STORE_OK : STORE_FAILED;
}

size_t sql_output_bytes(const job_output *output) {
    if (!output) return 0;
    size_t bytes = sql_chunk_bytes(&output->rows);
    for (size_t k = 0; k < output->event_count; k++) bytes += strlen(output->events[k].json);
    return bytes;
}

/* Returns the status after a statement for the current attempt. If the statement changed no row, the status is
 * STORE_ABSENT. */
store_status sql_of_current(sql_connection *c, bool ran) {
    if (!ran) return STORE_FAILED;
    return c->driver->changed(c) == 0 ? STORE_ABSENT : STORE_OK;
}

static store_status run_append(sql_connection *c, sql_operation *self) {
    const run_change *change = (run_change *)self;
    bool ran = SQL_RUN(c, SQL_ADVANCE, sql_int(change->number), sql_int(change->attempt), sql_double(change->progress));
    store_status status = sql_of_current(c, ran);
    if (status == STORE_OK) status = sql_check_room(c, change->number, sql_output_bytes(change->output));
    return status == STORE_OK ? store_output(c, change) : status;
}

store_status sql_append(store *s, int64_t number, int64_t attempt, const job_output *output, double progress) {
    run_change change = {.number = number, .attempt = attempt, .output = output, .progress = progress};
    change.operation = (sql_operation){.run = run_append, .grows = true, .wait_for_db = true};
    return sql_change((sql_store *)s, &change.operation);
}

/* Returns STORE_OK if an earlier execution of this change was committed and only the reply of the database was lost. */
store_status sql_ended_before(sql_connection *c, int64_t number, int64_t attempt, job_status status) {
    int64_t one;
    return sql_one_int(c, SQL_FIRST(c, SQL_ENDED, sql_int(number), sql_int(attempt), sql_int((int64_t)status)), &one);
}

/* Returns the bytes that the end of a run adds to the bytes of its job. */
size_t sql_end_bytes(const job_end *end) {
    size_t problem = text_length(end->problem), texts = text_length(end->summary) + text_length(end->collected);
    return problem > JOB_BASE_BYTES ? texts + problem : texts;
}

static store_status run_finish(sql_connection *c, sql_operation *self) {
    const run_change *change = (run_change *)self;
    const job_end *end = change->end;
    size_t texts = sql_end_bytes(end);
    store_status status = sql_check_room(c, change->number, texts + sql_output_bytes(change->output));
    if (status != STORE_OK) return status;
    bool ran = SQL_RUN(c, SQL_FINISH, sql_int(change->number), sql_int(change->attempt), sql_int((int64_t)end->status),
                       sql_double(end->progress), sql_text(end->summary), sql_text(end->problem),
                       sql_text(end->collected), sql_int((int64_t)texts));
    status = sql_of_current(c, ran);
    if (status == STORE_ABSENT && self->is_retry)
        return sql_ended_before(c, change->number, change->attempt, end->status);
    return status == STORE_OK ? store_output(c, change) : status;
}

store_status sql_finish(store *s, int64_t number, int64_t attempt, const job_output *output, const job_end *end) {
    run_change change = {.number = number, .attempt = attempt, .output = output, .end = end};
    change.operation = (sql_operation){.run = run_finish, .durable = true, .wait_for_db = true};
    return sql_change((sql_store *)s, &change.operation);
}

static store_status run_requeue(sql_connection *c, sql_operation *self) {
    const run_change *change = (run_change *)self;
    store_status status = sql_of_current(c, SQL_RUN(c, SQL_REQUEUE, sql_int(change->number), sql_int(change->attempt)));
    if (status != STORE_OK) return status;
    status = sql_check_room(c, change->number, sql_output_bytes(change->output));
    return status == STORE_OK ? store_output(c, change) : status == STORE_FULL ? STORE_OK : status;
}

store_status sql_requeue(store *s, int64_t number, int64_t attempt, const job_output *output) {
    run_change change = {.number = number, .attempt = attempt, .output = output};
    change.operation = (sql_operation){.run = run_requeue, .queues = true};
    return sql_change((sql_store *)s, &change.operation);
}

static store_status run_postpone(sql_connection *c, sql_operation *self) {
    static const char problem[] = PROBLEM_JSON("storage", "Storage failed", "500",
                                               "the store failed in each of the last attempts to store the output of "
                                               "this job; the log of the daemon contains the reason");
    const run_change *change = (run_change *)self;
    bool ran = SQL_RUN(c, SQL_POSTPONE, sql_int(change->number), sql_int(change->attempt), sql_int(JOB_FAULTS_MAX),
                       sql_text(problem));
    return sql_of_current(c, ran);
}

store_status sql_postpone(store *s, int64_t number, int64_t attempt) {
    run_change change = {.number = number, .attempt = attempt};
    change.operation = (sql_operation){.run = run_postpone, .queues = true};
    return sql_change((sql_store *)s, &change.operation);
}

/* ---- cancel and delete ------------------------------------------------------------------------------------------ */

typedef struct job_change {
    sql_operation operation;
    const char *id, *owner;
    job *out;
} job_change;

static store_status find_by_id(sql_connection *c, const job_change *change) {
    job_clear(change->out);
    return sql_one_job(c, SQL_FIRST(c, SQL_FIND_ID, sql_text(change->id), sql_text(change->owner)), change->out);
}

static store_status run_cancel(sql_connection *c, sql_operation *self) {
    const job_change *change = (job_change *)self;
    store_status status = find_by_id(c, change);
    if (status != STORE_OK || job_ended(change->out->status)) return status;
    int64_t number = change->out->number;
    if (!SQL_RUN(c, SQL_CANCEL, sql_int(number))) return STORE_FAILED;
    return find_by_number(c, number, change->out);
}

store_status sql_cancel(store *s, const char *id, const char *owner, job *out) {
    job_change change = {{.run = run_cancel, .durable = true}, id, owner, out};
    *out = (job){0};
    return sql_change((sql_store *)s, &change.operation);
}

bool sql_drop_job(sql_connection *c, int64_t number) {
    return SQL_RUN(c, SQL_DROP_JOB, sql_int(number)) && SQL_RUN(c, SQL_DROP_DESCRIPTION, sql_int(number)) &&
           SQL_RUN(c, SQL_DROP_ROWS, sql_int(number)) && SQL_RUN(c, SQL_DROP_EVENTS, sql_int(number));
}

static store_status run_delete(sql_connection *c, sql_operation *self) {
    const job_change *change = (job_change *)self;
    store_status status = find_by_id(c, change);
    if (status != STORE_OK) return status;
    return sql_drop_job(c, change->out->number) ? STORE_OK : STORE_FAILED;
}

store_status sql_delete(store *s, const char *id, const char *owner, int64_t *number) {
    job dropped = {0};
    job_change change = {{.run = run_delete, .durable = true}, id, owner, &dropped};
    store_status status = sql_change((sql_store *)s, &change.operation);
    *number = dropped.number;
    job_clear(&dropped);
    return status;
}

typedef struct charge_change {
    sql_operation operation;
    const char *owner;
    int64_t day;
    double seconds, *total;
} charge_change;

static store_status run_charge(sql_connection *c, sql_operation *self) {
    const charge_change *change = (charge_change *)self;
    sql_step step =
        SQL_FIRST(c, SQL_CHARGE, sql_text(change->owner), sql_int(change->day), sql_double(change->seconds));
    if (step == SQL_STEP_ROW) *change->total = c->driver->real(c, 0);
    bool good = step == SQL_STEP_ROW && c->driver->next(c) == SQL_STEP_END;
    c->driver->end(c);
    return good ? STORE_OK : STORE_FAILED;
}

store_status sql_charge(store *s, const char *owner, int64_t day, double seconds, double *total) {
    charge_change change = {{.run = run_charge}, .owner = owner, .day = day, .seconds = seconds, .total = total};
    return sql_change((sql_store *)s, &change.operation);
}
