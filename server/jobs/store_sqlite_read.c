/* store_sqlite_read.c — the questions: one short statement each, on a reader's connection. What comes from the file is
 * checked as if it came from a stranger: a damaged chunk is an error, never a wild read. */
#include "server/jobs/store_sqlite_int.h"

#include "server/stamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

store_status sql_find(store *base, const char *id, const char *owner, job *out) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    *out = (job){0};
    sqlite3_stmt *statement = sql_use(c, SQL_FIND_ID);
    bool bound = statement && sql_bind_text(statement, 1, id) && sql_bind_text(statement, 2, owner);
    int rc = bound ? sqlite3_step(statement) : SQLITE_ERROR;
    store_status status = sql_row_status(s, c, rc, rc == SQLITE_ROW && sql_read_job(statement, out));
    sql_reader_back(s, c);
    return status;
}

store_status sql_known_key(store *base, const job_submission *submission, job *out) {
    sqlite_store *s = (sqlite_store *)base;
    *out = (job){0};
    if (!submission->key) return STORE_ABSENT;
    sql_connection *c = sql_reader(s);
    char key[SQL_KEY_BYTES];
    sqlite3_stmt *statement = sql_use(c, SQL_FIND_KEY);
    int rc =
        statement && sql_bind_text(statement, 1, sql_key(submission, key)) ? sqlite3_step(statement) : SQLITE_ERROR;
    store_status status = sql_row_status(s, c, rc, rc == SQLITE_ROW && sql_read_job(statement, out));
    if (status == STORE_OK) status = sql_same_body(c, out->number, submission);
    sql_reader_back(s, c);
    return status;
}

static sqlite3_stmt *list_statement(sql_connection *c, unsigned filters) {
    sqlite3_stmt **statement = &c->lists[filters];
    char text[1024];
    if (!*statement) {
        snprintf(text, sizeof text,
                 "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE number<?1%s%s%s%s ORDER BY number DESC LIMIT ?2",
                 filters & SQL_BY_STATUS ? " AND status=?3" : "", filters & SQL_BY_NAME ? " AND name=?4" : "",
                 filters & SQL_BY_OWNER ? " AND owner=?5" : "",
                 filters & SQL_BY_BATCH ? " AND batch=(SELECT number FROM batches WHERE id=?6) AND batch<>0" : "");
        sqlite3_prepare_v3(c->db, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    }
    return *statement;
}

static sqlite3_stmt *bind_list(sql_connection *c, const job_query *query) {
    unsigned filters = (query->by_status ? SQL_BY_STATUS : 0u) | (query->name ? SQL_BY_NAME : 0u) |
                       (query->owner ? SQL_BY_OWNER : 0u) | (query->batch ? SQL_BY_BATCH : 0u);
    sqlite3_stmt *statement = list_statement(c, filters);
    if (!statement) return NULL;
    sqlite3_bind_int64(statement, 1, query->before ? query->before : INT64_MAX);
    sqlite3_bind_int64(statement, 2, (int64_t)query->limit);
    if (query->by_status) sqlite3_bind_int(statement, 3, (int)query->status);
    bool bound = (!query->name || sql_bind_text(statement, 4, query->name)) &&
                 (!query->owner || sql_bind_text(statement, 5, query->owner)) &&
                 (!query->batch || sql_bind_text(statement, 6, query->batch));
    return bound ? statement : NULL;
}

store_status sql_list(store *base, const job_query *query, job *out, size_t *count) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    sqlite3_stmt *statement = bind_list(c, query);
    int rc = SQLITE_ERROR;
    *count = 0;
    while (statement && *count < query->limit && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        if (!sql_read_job(statement, &out[*count])) break;
        (*count)++;
    }
    bool good = rc == SQLITE_DONE || (rc == SQLITE_ROW && *count == query->limit);
    if (!good) {
        sql_complain(s, c, "list");
        while (*count > 0) job_clear(&out[--*count]);
    }
    sql_reader_back(s, c);
    return good ? STORE_OK : STORE_FAILED;
}

store_status sql_description(store *base, const job *j, char **body, size_t *length) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    *body = NULL;
    sqlite3_stmt *statement = sql_use(c, SQL_DESCRIPTION);
    int rc =
        statement && sqlite3_bind_int64(statement, 1, j->number) == SQLITE_OK ? sqlite3_step(statement) : SQLITE_ERROR;
    store_status status = sql_row_status(s, c, rc, rc == SQLITE_ROW && sql_read_blob(statement, 0, body, length));
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
    if (!beyond) status = sql_row_status(s, c, rc, rc == SQLITE_ROW && read_chunk(statement, out));
    sql_reader_back(s, c);
    return status;
}

store_status sql_event_at(store *base, int64_t number, int64_t event, job_event *out) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    sqlite3_stmt *statement = sql_use(c, SQL_EVENT);
    int rc = SQLITE_ERROR;
    *out = (job_event){0};
    if (statement) {
        sqlite3_bind_int64(statement, 1, number);
        sqlite3_bind_int64(statement, 2, event);
        rc = sqlite3_step(statement);
    }
    const unsigned char *json = rc == SQLITE_ROW ? sqlite3_column_text(statement, 1) : NULL;
    if (json) *out = (job_event){.row = sqlite3_column_int64(statement, 0), .json = strdup((const char *)json)};
    store_status status = sql_row_status(s, c, rc, out->json != NULL);
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
    store_status status = sql_row_status(s, c, rc, true);
    sql_reader_back(s, c);
    return status;
}

store_status sql_counts(store *base, store_counts *out) {
    sqlite_store *s = (sqlite_store *)base;
    sql_connection *c = sql_reader(s);
    *out = (store_counts){0};
    sqlite3_stmt *counts = sql_use(c, SQL_COUNT_JOBS);
    int rc = counts ? sqlite3_step(counts) : SQLITE_ERROR;
    if (rc == SQLITE_ROW) {
        out->queued = sqlite3_column_int64(counts, 0);
        out->running = sqlite3_column_int64(counts, 1);
        out->bytes = sqlite3_column_int64(counts, 2);
    }
    sqlite3_stmt *first = rc == SQLITE_ROW ? sql_use(c, SQL_FIRST_QUEUED) : NULL;
    if (first && sqlite3_step(first) == SQLITE_ROW) out->oldest_queued = sqlite3_column_int64(first, 0);
    store_status status = sql_row_status(s, c, rc, true);
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
