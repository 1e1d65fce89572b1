/* store_sqlite_write.c — the changes: each a small struct that begins with an operation, filled by the caller and run
 * on the writer's thread. A change answers STORE_FAILED only when SQLite does; it is then undone as a whole. */
#include "server/jobs/store_sqlite_int.h"

#include "server/stamp.h"

#include <stdlib.h>
#include <string.h>

enum { LOST_MOST = 100 }; /* jobs without description that one claim steps over */

static store_status find_by_number(sql_connection *c, int64_t number, job *out) {
    sqlite3_stmt *statement = sql_use(c, SQL_FIND_NUMBER);
    if (!statement || sqlite3_bind_int64(statement, 1, number) != SQLITE_OK) return STORE_FAILED;
    int rc = sqlite3_step(statement);
    bool read = rc == SQLITE_ROW && sql_read_job(statement, out);
    sqlite3_reset(statement);
    return read ? STORE_OK : rc == SQLITE_DONE ? STORE_ABSENT : STORE_FAILED;
}

/* The first parameter is `text`; others are bound already. */
static store_status find_bound(sqlite3_stmt *statement, const char *text, job *out) {
    if (!sql_bind_text(statement, 1, text)) return STORE_FAILED;
    int rc = sqlite3_step(statement);
    bool read = rc == SQLITE_ROW && sql_read_job(statement, out);
    sqlite3_reset(statement);
    return read ? STORE_OK : rc == SQLITE_DONE ? STORE_ABSENT : STORE_FAILED;
}

static store_status find_by_text(sql_connection *c, sql_name name, const char *text, job *out) {
    sqlite3_stmt *statement = sql_use(c, name);
    return statement ? find_bound(statement, text, out) : STORE_FAILED;
}

/* ---- submit ----------------------------------------------------------------------------------------------------- */

typedef struct submit_change {
    sql_operation operation;
    const job_submission *submission;
    char id[JOB_ID_BYTES];
    job *out;
} submit_change;

bool sql_insert_body(sql_connection *c, int64_t description, const char *body, size_t length) {
    sqlite3_stmt *statement = sql_use(c, SQL_INSERT_DESCRIPTION);
    if (!statement) return false;
    sqlite3_bind_int64(statement, 1, description);
    int bound = sqlite3_bind_blob64(statement, 2, body, length, SQLITE_STATIC);
    return bound == SQLITE_OK && sql_step_done(statement);
}

bool sql_insert_job(sql_connection *c, const job_submission *sent, const char *id, int64_t batch,
                    const batch_member *member, int64_t position) {
    char key[SQL_KEY_BYTES];
    const batch_member own = {.name = sent->name, .body = sent->body, .length = sent->length};
    const batch_member *m = member ? member : &own;
    sqlite3_stmt *statement = sql_use(c, SQL_INSERT_JOB);
    bool bound = statement && sql_bind_text(statement, 1, id) && sql_bind_text(statement, 2, m->name) &&
                 sql_bind_text(statement, 4, member ? NULL : sql_key(sent, key)) &&
                 sql_bind_text(statement, 5, sent->owner) && sql_bind_text(statement, 9, m->assignments);
    if (!bound) return false;
    sqlite3_bind_int64(statement, 3, stamp_wall_ms());
    sqlite3_bind_int64(statement, 6, (int64_t)m->length);
    sqlite3_bind_int64(statement, 7, batch);
    sqlite3_bind_int64(statement, 8, position);
    if (!sql_step_done(statement)) return false;
    return m->assignments || sql_insert_body(c, sqlite3_last_insert_rowid(c->db), m->body, m->length);
}

store_status sql_check_quota(sql_connection *c, const job_submission *sent, size_t jobs) {
    if (sent->quota.active <= 0 && sent->quota.bytes <= 0) return STORE_OK;
    sqlite3_stmt *statement = sql_use(c, SQL_OWNER);
    if (!statement || !sql_bind_text(statement, 1, sent->owner)) return STORE_FAILED;
    int rc = sqlite3_step(statement);
    double active = (double)jobs, bytes = (double)sent->length;
    if (rc == SQLITE_ROW) {
        active += sqlite3_column_double(statement, 0);
        bytes += sqlite3_column_double(statement, 1);
    }
    sqlite3_reset(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) return STORE_FAILED;
    bool over =
        (sent->quota.active > 0 && active > sent->quota.active) || (sent->quota.bytes > 0 && bytes > sent->quota.bytes);
    return over ? STORE_FULL : STORE_OK;
}

static store_status run_submit(sql_connection *c, sql_operation *self) {
    submit_change *change = (submit_change *)self;
    char key[SQL_KEY_BYTES];
    if (change->submission->key) {
        store_status known = find_by_text(c, SQL_FIND_KEY, sql_key(change->submission, key), change->out);
        if (known == STORE_OK) return sql_same_body(c, change->out->number, change->submission);
        if (known == STORE_FAILED) return STORE_FAILED;
    }
    store_status quota = sql_check_quota(c, change->submission, 1);
    if (quota != STORE_OK) return quota;
    if (!sql_insert_job(c, change->submission, change->id, 0, NULL, 0)) return STORE_FAILED;
    return find_by_number(c, sqlite3_last_insert_rowid(c->db), change->out) == STORE_OK ? STORE_OK : STORE_FAILED;
}

store_status sql_submit(store *s, const job_submission *submission, job *out) {
    submit_change change = {{.run = run_submit, .durable = true}, submission, "", out};
    *out = (job){0};
    if (!stamp_id(change.id)) return STORE_FAILED;
    return sql_change((sqlite_store *)s, &change.operation);
}

/* ---- claim ------------------------------------------------------------------------------------------------------ */

typedef struct claim_change {
    sql_operation operation;
    job *out;
    char **body;
    size_t *length;
} claim_change;

static store_status read_description(sql_connection *c, int64_t number, char **body, size_t *length) {
    sqlite3_stmt *statement = sql_use(c, SQL_DESCRIPTION);
    if (!statement || sqlite3_bind_int64(statement, 1, number) != SQLITE_OK) return STORE_FAILED;
    int rc = sqlite3_step(statement);
    bool read = rc == SQLITE_ROW && sql_read_blob(statement, 0, body, length);
    sqlite3_reset(statement);
    return read ? STORE_OK : rc == SQLITE_DONE ? STORE_ABSENT : STORE_FAILED;
}

/* A damaged file must not hold up the queue: a job without description has failed. */
static store_status lose(sql_connection *c, int64_t number) {
    static const char problem[] = "{\"type\":\"/problems/storage\",\"title\":\"Storage failed\",\"status\":500,"
                                  "\"detail\":\"the description of this job is missing in the store\"}";
    sqlite3_stmt *statement = sql_use(c, SQL_LOSE);
    if (!statement || !sql_bind_text(statement, 3, problem)) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, number);
    sqlite3_bind_int64(statement, 2, stamp_wall_ms());
    return sql_step_done(statement) ? STORE_OK : STORE_FAILED;
}

/* Whose turn it is: STORE_ABSENT when nothing waits. */
static store_status next_number(sql_connection *c, int64_t *number) {
    sqlite3_stmt *owner = sql_use(c, SQL_NEXT_OWNER), *oldest = sql_use(c, SQL_OLDEST_QUEUED);
    sqlite3_stmt *turn = sql_use(c, SQL_TAKE_TURN);
    if (!owner || !oldest || !turn) return STORE_FAILED;
    int rc = sqlite3_step(owner);
    if (rc == SQLITE_ROW) {
        sqlite3_bind_value(oldest, 1, sqlite3_column_value(owner, 0));
        sqlite3_bind_value(turn, 1, sqlite3_column_value(owner, 0));
    }
    sqlite3_reset(owner);
    if (rc != SQLITE_ROW) return rc == SQLITE_DONE ? STORE_ABSENT : STORE_FAILED;
    rc = sqlite3_step(oldest);
    *number = rc == SQLITE_ROW ? sqlite3_column_int64(oldest, 0) : 0;
    sqlite3_reset(oldest);
    return rc == SQLITE_ROW && sql_step_done(turn) ? STORE_OK : STORE_FAILED;
}

static store_status run_claim(sql_connection *c, sql_operation *self) {
    claim_change *change = (claim_change *)self;
    int64_t number = 0;
    store_status status = STORE_ABSENT;
    for (int lost = 0; status == STORE_ABSENT && lost < LOST_MOST; lost++) {
        store_status found = next_number(c, &number);
        if (found != STORE_OK) return found;
        status = read_description(c, number, change->body, change->length);
        if (status == STORE_ABSENT && lose(c, number) != STORE_OK) return STORE_FAILED;
    }
    if (status != STORE_OK) return status;
    if (!SQL_RUN_WITH(c, SQL_START, number, stamp_wall_ms())) return STORE_FAILED;
    return find_by_number(c, number, change->out) == STORE_OK ? STORE_OK : STORE_FAILED;
}

store_status sql_claim(store *s, job *out, char **body, size_t *length) {
    claim_change change = {{.run = run_claim}, out, body, length};
    *out = (job){0};
    *body = NULL;
    store_status status = sql_change((sqlite_store *)s, &change.operation);
    if (status == STORE_OK) return status;
    job_clear(out); /* a commit that failed has taken it back */
    free(*body);
    *body = NULL;
    return status;
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

typedef struct run_change {
    sql_operation operation;
    int64_t number, attempt;
    const job_output *output; /* may be NULL */
    double progress;
    const char *header;
    int64_t *rows, *events;
    const job_end *end;
} run_change;

static store_status look_at_header(sql_connection *c, const run_change *change, bool *same) {
    sqlite3_stmt *statement = sql_use(c, SQL_HEADER_OF_RUN);
    if (!statement) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, change->number);
    sqlite3_bind_int64(statement, 2, change->attempt);
    int rc = sqlite3_step(statement);
    const char *known = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    *same = known && strcmp(known, change->header) == 0;
    sqlite3_reset(statement);
    return rc == SQLITE_ROW ? STORE_OK : rc == SQLITE_DONE ? STORE_ABSENT : STORE_FAILED;
}

static store_status count_stored(sql_connection *c, sql_name name, int64_t number, int64_t *rows) {
    sqlite3_stmt *statement = sql_use(c, name);
    if (!statement || sqlite3_bind_int64(statement, 1, number) != SQLITE_OK) return STORE_FAILED;
    int rc = sqlite3_step(statement);
    *rows = rc == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? STORE_OK : STORE_FAILED;
}

static store_status run_begin(sql_connection *c, sql_operation *self) {
    run_change *change = (run_change *)self;
    bool same = false;
    store_status status = look_at_header(c, change, &same);
    if (status != STORE_OK) return status;
    *change->rows = *change->events = 0;
    if (same) {
        status = count_stored(c, SQL_STORED_ROWS, change->number, change->rows);
        return status == STORE_OK ? count_stored(c, SQL_STORED_EVENTS, change->number, change->events) : status;
    }
    sqlite3_stmt *set = sql_use(c, SQL_SET_HEADER);
    if (!set || sqlite3_bind_int64(set, 1, change->number) != SQLITE_OK || !sql_bind_text(set, 2, change->header)) {
        return STORE_FAILED;
    }
    bool dropped = sql_step_done(set) && SQL_RUN_WITH(c, SQL_DROP_ROWS, change->number) &&
                   SQL_RUN_WITH(c, SQL_DROP_EVENTS, change->number) &&
                   SQL_RUN_WITH(c, SQL_UNCOUNT_ROWS, change->number);
    return dropped ? STORE_OK : STORE_FAILED;
}

store_status sql_begin(store *s, int64_t number, int64_t attempt, const char *header, int64_t *rows, int64_t *events) {
    run_change change = {{.run = run_begin}, .number = number, .attempt = attempt,
                         .header = header,   .rows = rows,     .events = events};
    return sql_change((sqlite_store *)s, &change.operation);
}

static bool insert_chunk(sql_connection *c, int64_t number, const row_chunk *chunk) {
    if (chunk->rows == 0) return true;
    sqlite3_stmt *statement = sql_use(c, SQL_INSERT_CHUNK);
    if (!statement) return false;
    size_t values = (size_t)chunk->rows * chunk->columns;
    sqlite3_bind_int64(statement, 1, number);
    sqlite3_bind_int64(statement, 2, chunk->first);
    sqlite3_bind_int64(statement, 3, chunk->rows);
    sqlite3_bind_int64(statement, 4, (int64_t)chunk->columns);
    sqlite3_bind_double(statement, 5, chunk->values[values - chunk->columns]); /* t of the last row */
    int bound = sqlite3_bind_blob64(statement, 6, chunk->values, values * sizeof(double), SQLITE_STATIC);
    return bound == SQLITE_OK && sql_step_done(statement) &&
           SQL_RUN_WITH(c, SQL_COUNT_CHUNK, number, (int64_t)(values * sizeof(double)));
}

static bool insert_event(sql_connection *c, int64_t job_number, int64_t number, const job_event *event) {
    sqlite3_stmt *statement = sql_use(c, SQL_INSERT_EVENT);
    if (!statement || !sql_bind_text(statement, 4, event->json)) return false;
    sqlite3_bind_int64(statement, 1, job_number);
    sqlite3_bind_int64(statement, 2, number);
    sqlite3_bind_int64(statement, 3, event->row);
    return sql_step_done(statement) && SQL_RUN_WITH(c, SQL_COUNT_CHUNK, job_number, (int64_t)strlen(event->json));
}

static bool insert_output(sql_connection *c, int64_t number, const job_output *output) {
    bool good = !output || insert_chunk(c, number, &output->rows);
    for (size_t k = 0; good && output && k < output->event_count; k++) {
        good = insert_event(c, number, output->first_event + (int64_t)k, &output->events[k]);
    }
    return good;
}

static store_status run_append(sql_connection *c, sql_operation *self) {
    run_change *change = (run_change *)self;
    sqlite3_stmt *statement = sql_use(c, SQL_ADVANCE);
    if (!statement) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, change->number);
    sqlite3_bind_int64(statement, 2, change->attempt);
    sqlite3_bind_double(statement, 3, change->progress);
    if (!sql_step_done(statement)) return STORE_FAILED;
    if (sqlite3_changes(c->db) == 0) return STORE_ABSENT;
    return insert_output(c, change->number, change->output) ? STORE_OK : STORE_FAILED;
}

store_status sql_append(store *s, int64_t number, int64_t attempt, const job_output *output, double progress) {
    run_change change = {
        {.run = run_append}, .number = number, .attempt = attempt, .output = output, .progress = progress};
    return sql_change((sqlite_store *)s, &change.operation);
}

static store_status run_finish(sql_connection *c, sql_operation *self) {
    run_change *change = (run_change *)self;
    sqlite3_stmt *statement = sql_use(c, SQL_FINISH);
    if (!statement) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, change->number);
    sqlite3_bind_int64(statement, 2, change->attempt);
    sqlite3_bind_int(statement, 3, (int)change->end->status);
    sqlite3_bind_double(statement, 4, change->end->progress);
    sqlite3_bind_int64(statement, 5, stamp_wall_ms());
    if (!sql_bind_text(statement, 6, change->end->summary) || !sql_bind_text(statement, 7, change->end->problem) ||
        !sql_bind_text(statement, 8, change->end->collected)) {
        return STORE_FAILED;
    }
    if (!sql_step_done(statement)) return STORE_FAILED;
    if (sqlite3_changes(c->db) == 0) return STORE_ABSENT;
    return insert_output(c, change->number, change->output) ? STORE_OK : STORE_FAILED;
}

store_status sql_finish(store *s, int64_t number, int64_t attempt, const job_output *output, const job_end *end) {
    run_change change = {
        {.run = run_finish, .durable = true}, .number = number, .attempt = attempt, .output = output, .end = end};
    return sql_change((sqlite_store *)s, &change.operation);
}

static store_status run_hand_back(sql_connection *c, sql_operation *self) {
    run_change *change = (run_change *)self;
    if (!SQL_RUN_WITH(c, SQL_HAND_BACK, change->number, change->attempt)) return STORE_FAILED;
    if (sqlite3_changes(c->db) == 0) return STORE_ABSENT;
    return insert_output(c, change->number, change->output) ? STORE_OK : STORE_FAILED;
}

store_status sql_hand_back(store *s, int64_t number, int64_t attempt, const job_output *output) {
    run_change change = {{.run = run_hand_back}, .number = number, .attempt = attempt, .output = output};
    return sql_change((sqlite_store *)s, &change.operation);
}

/* ---- cancel and forget ------------------------------------------------------------------------------------------ */

typedef struct job_change {
    sql_operation operation;
    const char *id, *owner;
    job *out;
} job_change;

static store_status find_by_id(sql_connection *c, const job_change *change) {
    sqlite3_stmt *statement = sql_use(c, SQL_FIND_ID);
    if (!statement || !sql_bind_text(statement, 2, change->owner)) return STORE_FAILED;
    return find_bound(statement, change->id, change->out);
}

static store_status run_cancel(sql_connection *c, sql_operation *self) {
    job_change *change = (job_change *)self;
    store_status status = find_by_id(c, change);
    if (status != STORE_OK || job_ended(change->out->status)) return status;
    int64_t number = change->out->number;
    job_clear(change->out);
    if (!SQL_RUN_WITH(c, SQL_CANCEL_QUEUED, number, stamp_wall_ms()) || !SQL_RUN_WITH(c, SQL_CANCEL_RUNNING, number)) {
        return STORE_FAILED;
    }
    return find_by_number(c, number, change->out);
}

store_status sql_cancel(store *s, const char *id, const char *owner, job *out) {
    job_change change = {{.run = run_cancel, .durable = true}, id, owner, out};
    *out = (job){0};
    return sql_change((sqlite_store *)s, &change.operation);
}

bool sql_drop_job(sql_connection *c, int64_t number) {
    return SQL_RUN_WITH(c, SQL_DROP_JOB, number) && SQL_RUN_WITH(c, SQL_DROP_DESCRIPTION, number) &&
           SQL_RUN_WITH(c, SQL_DROP_ROWS, number) && SQL_RUN_WITH(c, SQL_DROP_EVENTS, number);
}

static store_status run_forget(sql_connection *c, sql_operation *self) {
    job_change *change = (job_change *)self;
    store_status status = find_by_id(c, change);
    if (status != STORE_OK) return status;
    return sql_drop_job(c, change->out->number) ? STORE_OK : STORE_FAILED;
}

store_status sql_forget(store *s, const char *id, const char *owner, int64_t *number) {
    job dropped = {0};
    job_change change = {{.run = run_forget, .durable = true}, id, owner, &dropped};
    store_status status = sql_change((sqlite_store *)s, &change.operation);
    *number = dropped.number;
    job_clear(&dropped);
    return status;
}
