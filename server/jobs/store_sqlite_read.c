/* store_sqlite_read.c — the questions: one short statement each, on a reader's connection. What comes from the file is
 * checked as if it came from a stranger: a damaged chunk is an error, never a wild read. */
#include "server/jobs/store_sqlite_int.h"

#include "server/stamp.h"

#include <stdlib.h>
#include <string.h>

/* How a statement ended that was to give one row. */
static store_status row_status(sqlite_store *s, sql_connection *c, int rc, bool read) {
    if (rc == SQLITE_ROW && read) return STORE_OK;
    if (rc == SQLITE_DONE) return STORE_ABSENT;
    sql_complain(s, c, "read");
    return STORE_FAILED;
}

store_status sql_find(store *base, const char *id, job *out) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    *out = (job){0};
    sqlite3_stmt *statement = sql_use(c, SQL_FIND_ID);
    int rc = statement && sql_bind_text(statement, 1, id) ? sqlite3_step(statement) : SQLITE_ERROR;
    store_status status = row_status(s, c, rc, rc == SQLITE_ROW && sql_read_job(statement, out));
    sql_reader_back(s, c);
    return status;
}

store_status sql_known_key(store *base, const job_submission *submission, job *out) {
    sqlite_store *s = (sqlite_store *)base;
    *out = (job){0};
    if (!submission->key) return STORE_ABSENT;
    sql_connection *c = sql_reader(s);
    sqlite3_stmt *statement = sql_use(c, SQL_FIND_KEY);
    int rc = statement && sql_bind_text(statement, 1, submission->key) ? sqlite3_step(statement) : SQLITE_ERROR;
    store_status status = row_status(s, c, rc, rc == SQLITE_ROW && sql_read_job(statement, out));
    if (status == STORE_OK) status = sql_same_body(c, out, submission);
    sql_reader_back(s, c);
    return status;
}

store_status sql_list(store *base, const job_query *query, job *out, size_t *count) {
    static const sql_name names[2][2] = {{SQL_LIST, SQL_LIST_NAME}, {SQL_LIST_STATUS, SQL_LIST_BOTH}};
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    sqlite3_stmt *statement = sql_use(c, names[query->by_status][query->name != NULL]);
    int rc = SQLITE_ERROR;
    *count = 0;
    if (statement) {
        sqlite3_bind_int64(statement, 1, query->before ? query->before : INT64_MAX);
        sqlite3_bind_int64(statement, 2, (int64_t)query->limit);
        if (query->by_status) sqlite3_bind_int(statement, 3, (int)query->status);
        if (query->name) sql_bind_text(statement, 4, query->name);
        while (*count < query->limit && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
            if (!sql_read_job(statement, &out[*count])) break;
            (*count)++;
        }
    }
    bool good = rc == SQLITE_DONE || (rc == SQLITE_ROW && *count == query->limit);
    if (!good) {
        sql_complain(s, c, "list");
        while (*count > 0) job_clear(&out[--*count]);
    }
    sql_reader_back(s, c);
    return good ? STORE_OK : STORE_FAILED;
}

store_status sql_description(store *base, const char *id, char **body, size_t *length) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    *body = NULL;
    sqlite3_stmt *statement = sql_use(c, SQL_DESCRIPTION_BY_ID);
    int rc = statement && sql_bind_text(statement, 1, id) ? sqlite3_step(statement) : SQLITE_ERROR;
    store_status status = row_status(s, c, rc, rc == SQLITE_ROW && sql_read_blob(statement, 0, body, length));
    sql_reader_back(s, c);
    return status;
}

static bool read_chunk(sqlite3_stmt *statement, row_chunk *out) {
    int64_t first = sqlite3_column_int64(statement, 0);
    int64_t rows = sqlite3_column_int64(statement, 1);
    int64_t columns = sqlite3_column_int64(statement, 2);
    const void *data = sqlite3_column_blob(statement, 3);
    int64_t bytes = sqlite3_column_bytes(statement, 3);
    if (first < 0 || rows < 1 || columns < 1 || rows > bytes || columns > bytes || !data) return false;
    if (rows * columns * (int64_t)sizeof(double) != bytes) return false; /* no overflow: both are below 2^31 */
    out->values = malloc((size_t)bytes);
    if (!out->values) return false;
    memcpy(out->values, data, (size_t)bytes);
    out->first = first;
    out->rows = rows;
    out->columns = (size_t)columns;
    return true;
}

store_status sql_chunk_at(store *base, int64_t number, int64_t row, row_chunk *out) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    *out = (row_chunk){0};
    sqlite3_stmt *statement = sql_use(c, SQL_CHUNK);
    int rc = SQLITE_ERROR;
    if (statement) {
        sqlite3_bind_int64(statement, 1, number);
        sqlite3_bind_int64(statement, 2, row);
        rc = sqlite3_step(statement);
    }
    store_status status = STORE_ABSENT;
    /* When the last chunk there is ends before this row, its data is not looked at. */
    bool beyond = rc == SQLITE_ROW && row - sqlite3_column_int64(statement, 0) >= sqlite3_column_int64(statement, 1);
    if (!beyond) status = row_status(s, c, rc, rc == SQLITE_ROW && read_chunk(statement, out));
    sql_reader_back(s, c);
    return status;
}

store_status sql_row_at_time(store *base, int64_t number, double t, int64_t *row) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    sqlite3_stmt *statement = sql_use(c, SQL_CHUNK_AT_TIME);
    int rc = SQLITE_ERROR;
    if (statement) {
        sqlite3_bind_int64(statement, 1, number);
        sqlite3_bind_double(statement, 2, t);
        rc = sqlite3_step(statement);
    }
    *row = rc == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    store_status status = row_status(s, c, rc, true);
    sql_reader_back(s, c);
    return status;
}

store_status sql_counts(store *base, store_counts *out) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    int rc = SQLITE_ROW;
    *out = (store_counts){0};
    for (int status = JOB_QUEUED; rc == SQLITE_ROW && status <= JOB_RUNNING; status++) {
        sqlite3_stmt *statement = sql_use(c, SQL_COUNT_STATUS);
        rc = statement && sqlite3_bind_int(statement, 1, status) == SQLITE_OK ? sqlite3_step(statement) : SQLITE_ERROR;
        if (rc != SQLITE_ROW) break;
        *(status == JOB_QUEUED ? &out->queued : &out->running) = sqlite3_column_int64(statement, 0);
        if (status == JOB_QUEUED) out->oldest_queued = sqlite3_column_int64(statement, 1);
    }
    sqlite3_stmt *size = rc == SQLITE_ROW ? sql_use(c, SQL_COUNT_BYTES) : NULL;
    rc = size ? sqlite3_step(size) : SQLITE_ERROR;
    if (rc == SQLITE_ROW) out->bytes = sqlite3_column_int64(size, 0);
    store_status status = row_status(s, c, rc, true);
    sql_reader_back(s, c);
    return status;
}

bool sql_healthy(store *base) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    bool healthy = sql_run(c, SQL_HEALTH);
    sql_reader_back(s, c);
    return healthy;
}

void sql_wait(store *base, uint64_t *seen, double seconds) {
    sqlite_store *s = (sqlite_store *)base;
    struct timespec until = stamp_deadline(seconds);
    pthread_mutex_lock(&s->lock);
    while (*seen == s->changes) {
        if (pthread_cond_timedwait(&s->changed, &s->lock, &until) != 0) break;
    }
    *seen = s->changes;
    pthread_mutex_unlock(&s->lock);
}
