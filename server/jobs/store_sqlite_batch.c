/* store_sqlite_batch.c — what concerns many jobs at once: batches, and forgetting what is old. Large removals are done
 * in slices, so that other changes come in between. */
#include "server/jobs/store_sqlite_int.h"

#include "server/stamp.h"

#include <stdlib.h>

enum { SLICE_MOST = 1000 };

typedef struct batch_change {
    sql_operation operation;
    const char *id, *owner;
    const batch_submission *submission;
    size_t most;
    job_batch *out;
} batch_change;

static store_status count_members(sql_connection *c, job_batch *b) {
    sqlite3_stmt *statement = sql_use(c, SQL_COUNT_MEMBERS);
    if (!statement || sqlite3_bind_int64(statement, 1, b->number) != SQLITE_OK) return STORE_FAILED;
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        int status = sqlite3_column_int(statement, 0);
        if (status >= 0 && status < JOB_STATUSES) b->counts[status] = sqlite3_column_int64(statement, 1);
    }
    sqlite3_reset(statement);
    return rc == SQLITE_DONE ? STORE_OK : STORE_FAILED;
}

/* The first parameter is `text`; others are bound already. Also counts its members. */
static store_status find(sql_connection *c, sqlite3_stmt *statement, const char *text, job_batch *out) {
    if (!statement || !sql_bind_text(statement, 1, text)) return STORE_FAILED;
    int rc = sqlite3_step(statement);
    bool read = rc == SQLITE_ROW && sql_read_batch(statement, out);
    sqlite3_reset(statement);
    if (read) return count_members(c, out);
    return rc == SQLITE_DONE ? STORE_ABSENT : STORE_FAILED;
}

static store_status find_by_id(sql_connection *c, const char *id, const char *owner, job_batch *out) {
    sqlite3_stmt *statement = sql_use(c, SQL_FIND_BATCH);
    if (!statement || !sql_bind_text(statement, 2, owner)) return STORE_FAILED;
    return find(c, statement, id, out);
}

/* ---- submit ----------------------------------------------------------------------------------------------------- */

static bool insert_batch(sql_connection *c, const batch_change *change, int64_t *number) {
    const job_submission *sent = &change->submission->whole;
    char key[SQL_KEY_BYTES];
    sqlite3_stmt *statement = sql_use(c, SQL_INSERT_BATCH);
    bool bound = statement && sql_bind_text(statement, 1, change->id) && sql_bind_text(statement, 2, sent->name) &&
                 sql_bind_text(statement, 4, sql_key(sent, key)) && sql_bind_text(statement, 5, sent->owner) &&
                 sql_bind_text(statement, 6, change->submission->plan);
    if (!bound) return false;
    sqlite3_bind_int64(statement, 3, stamp_wall_ms());
    if (!sql_step_done(statement)) return false;
    *number = sqlite3_last_insert_rowid(c->db);
    return sql_insert_body(c, -*number, sent->body, sent->length);
}

static store_status run_submit(sql_connection *c, sql_operation *self) {
    batch_change *change = (batch_change *)self;
    const batch_submission *submission = change->submission;
    char key[SQL_KEY_BYTES], id[STAMP_ID_BYTES];
    if (submission->whole.key) {
        store_status known = find(c, sql_use(c, SQL_FIND_BATCH_KEY), sql_key(&submission->whole, key), change->out);
        if (known == STORE_OK) return sql_same_body(c, -change->out->number, &submission->whole);
        if (known == STORE_FAILED) return STORE_FAILED;
    }
    store_status quota = sql_check_quota(c, &submission->whole, submission->count);
    if (quota != STORE_OK) return quota;
    int64_t number = 0;
    if (!insert_batch(c, change, &number)) return STORE_FAILED;
    for (size_t k = 0; k < submission->count; k++) {
        if (!stamp_id(id)) return STORE_FAILED;
        if (!sql_insert_job(c, &submission->whole, id, number, &submission->members[k], (int64_t)k))
            return STORE_FAILED;
    }
    return find_by_id(c, change->id, NULL, change->out) == STORE_OK ? STORE_OK : STORE_FAILED;
}

store_status sql_submit_batch(store *s, const batch_submission *submission, job_batch *out) {
    char id[STAMP_ID_BYTES];
    batch_change change = {{.run = run_submit, .durable = true}, .id = id, .submission = submission, .out = out};
    *out = (job_batch){0};
    if (!stamp_id(id)) return STORE_FAILED;
    return sql_change((sqlite_store *)s, &change.operation);
}

/* ---- cancel and forget ------------------------------------------------------------------------------------------ */

static store_status run_cancel(sql_connection *c, sql_operation *self) {
    batch_change *change = (batch_change *)self;
    store_status status = find_by_id(c, change->id, change->owner, change->out);
    if (status != STORE_OK) return status;
    int64_t number = change->out->number;
    bool canceled = SQL_RUN_WITH(c, SQL_CANCEL_QUEUED_MEMBERS, number, stamp_wall_ms()) &&
                    SQL_RUN_WITH(c, SQL_CANCEL_RUNNING_MEMBERS, number);
    for (size_t k = 0; k < JOB_STATUSES; k++) change->out->counts[k] = 0;
    return canceled ? count_members(c, change->out) : STORE_FAILED;
}

store_status sql_cancel_batch(store *s, const char *id, const char *owner, job_batch *out) {
    batch_change change = {{.run = run_cancel, .durable = true}, .id = id, .owner = owner, .out = out};
    *out = (job_batch){0};
    return sql_change((sqlite_store *)s, &change.operation);
}

/* The numbers are gathered first: rows must not go while a statement walks over them. */
static bool gather(sqlite3_stmt *statement, int64_t *numbers, size_t most, size_t *count) {
    int rc = SQLITE_DONE;
    *count = 0;
    while (statement && *count < most && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        numbers[(*count)++] = sqlite3_column_int64(statement, 0);
    }
    sqlite3_reset(statement);
    return statement && (rc == SQLITE_DONE || rc == SQLITE_ROW);
}

static store_status run_forget(sql_connection *c, sql_operation *self) {
    batch_change *change = (batch_change *)self;
    int64_t numbers[SLICE_MOST];
    size_t most = change->most < SLICE_MOST ? change->most : SLICE_MOST, count = 0;
    store_status status = find_by_id(c, change->id, change->owner, change->out);
    if (status != STORE_OK) return status;
    int64_t number = change->out->number;
    sqlite3_stmt *some = sql_use(c, SQL_SOME_MEMBERS);
    if (!some) return STORE_FAILED;
    sqlite3_bind_int64(some, 1, number);
    sqlite3_bind_int64(some, 2, (int64_t)most);
    if (!gather(some, numbers, most, &count)) return STORE_FAILED;
    for (size_t k = 0; k < count; k++) {
        if (!sql_drop_job(c, numbers[k])) return STORE_FAILED;
    }
    if (count == most) return STORE_EXISTS;
    bool dropped = SQL_RUN_WITH(c, SQL_DROP_BATCH, number) && SQL_RUN_WITH(c, SQL_DROP_DESCRIPTION, -number);
    return dropped ? STORE_OK : STORE_FAILED;
}

store_status sql_forget_batch(store *s, const char *id, const char *owner, size_t most) {
    job_batch found = {0};
    batch_change change = {{.run = run_forget, .durable = true}, .id = id, .owner = owner, .most = most, .out = &found};
    store_status status = sql_change((sqlite_store *)s, &change.operation);
    batch_clear(&found);
    return status;
}

/* ---- what is old ------------------------------------------------------------------------------------------------ */

typedef struct expiry {
    sql_operation operation;
    int64_t ended_before;
    double bytes;
    size_t most, *count;
} expiry;

static double stored_bytes(sql_connection *c) {
    sqlite3_stmt *statement = sql_use(c, SQL_COUNT_JOBS);
    double bytes = statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_double(statement, 2) : 0;
    sqlite3_reset(statement);
    return bytes;
}

/* Those that are to go, oldest first. */
static bool gather_old(sql_connection *c, const expiry *e, int64_t *numbers, size_t *count) {
    sqlite3_stmt *statement = sql_use(c, SQL_OLDEST_ENDED);
    double stored = e->bytes > 0 ? stored_bytes(c) : 0;
    int rc = SQLITE_DONE;
    *count = 0;
    if (!statement || sqlite3_bind_int64(statement, 1, (int64_t)e->most) != SQLITE_OK) return false;
    while (*count < e->most && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        bool old = sqlite3_column_int64(statement, 1) < e->ended_before;
        bool too_many = e->bytes > 0 && stored > e->bytes;
        if (!old && !too_many) break;
        stored -= sqlite3_column_double(statement, 2);
        numbers[(*count)++] = sqlite3_column_int64(statement, 0);
    }
    sqlite3_reset(statement);
    return rc == SQLITE_DONE || rc == SQLITE_ROW;
}

static store_status run_expiry(sql_connection *c, sql_operation *self) {
    expiry *e = (expiry *)self;
    int64_t numbers[SLICE_MOST];
    if (e->most > SLICE_MOST) e->most = SLICE_MOST;
    if (!gather_old(c, e, numbers, e->count)) return STORE_FAILED;
    for (size_t k = 0; k < *e->count; k++) {
        if (!sql_drop_job(c, numbers[k])) return STORE_FAILED;
    }
    if (*e->count == 0) return STORE_OK;
    return sql_run(c, SQL_DROP_EMPTY_BATCHES) && sql_run(c, SQL_DROP_BATCH_BODIES) ? STORE_OK : STORE_FAILED;
}

store_status sql_expire(store *s, int64_t ended_before, double bytes, size_t most, size_t *count) {
    expiry e = {{.run = run_expiry, .durable = true}, ended_before, bytes, most, count};
    *count = 0;
    return sql_change((sqlite_store *)s, &e.operation);
}

/* ---- questions -------------------------------------------------------------------------------------------------- */

store_status sql_find_batch(store *base, const char *id, const char *owner, job_batch *out) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    *out = (job_batch){0};
    store_status status = find_by_id(c, id, owner, out);
    if (status == STORE_FAILED) sql_complain(s, c, "read");
    sql_reader_back(s, c);
    return status;
}

store_status sql_list_batches(store *base, const job_query *query, job_batch *out, size_t *count) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    sqlite3_stmt *statement = sql_use(c, query->owner ? SQL_LIST_OWN_BATCHES : SQL_LIST_BATCHES);
    int rc = SQLITE_ERROR;
    *count = 0;
    if (statement) {
        sqlite3_bind_int64(statement, 1, query->before ? query->before : INT64_MAX);
        sqlite3_bind_int64(statement, 2, (int64_t)query->limit);
        if (query->owner) sql_bind_text(statement, 3, query->owner);
    }
    while (statement && *count < query->limit && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        if (!sql_read_batch(statement, &out[*count])) break;
        (*count)++;
    }
    bool good = rc == SQLITE_DONE || (rc == SQLITE_ROW && *count == query->limit);
    for (size_t k = 0; good && k < *count; k++) good = count_members(c, &out[k]) == STORE_OK;
    if (!good) {
        sql_complain(s, c, "list");
        while (*count > 0) batch_clear(&out[--*count]);
    }
    sql_reader_back(s, c);
    return good ? STORE_OK : STORE_FAILED;
}

store_status sql_members(store *base, int64_t number, int64_t first, size_t limit, job *out, size_t *count) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    sqlite3_stmt *statement = sql_use(c, SQL_MEMBERS);
    int rc = SQLITE_ERROR;
    *count = 0;
    if (statement) {
        sqlite3_bind_int64(statement, 1, number);
        sqlite3_bind_int64(statement, 2, first);
        sqlite3_bind_int64(statement, 3, (int64_t)limit);
    }
    while (statement && *count < limit && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        if (!sql_read_job(statement, &out[*count])) break;
        (*count)++;
    }
    bool good = rc == SQLITE_DONE || (rc == SQLITE_ROW && *count == limit);
    if (!good) {
        sql_complain(s, c, "members");
        while (*count > 0) job_clear(&out[--*count]);
    }
    sql_reader_back(s, c);
    return good ? STORE_OK : STORE_FAILED;
}
