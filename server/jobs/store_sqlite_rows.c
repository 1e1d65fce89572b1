/* store_sqlite_rows.c — rows of the tables as structs, and keys as the tables hold them. */
#include "server/jobs/store_sqlite_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a statement ended that was to give one row. */
store_status sql_row_status(sqlite_store *s, sql_connection *c, int rc, bool read) {
    if (rc == SQLITE_ROW && read) return STORE_OK;
    if (rc == SQLITE_DONE) return STORE_ABSENT;
    sql_complain(s, c, "read");
    return STORE_FAILED;
}

static char *column_text(sqlite3_stmt *statement, int column, bool *good) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    if (!text) return NULL;
    char *copy = strdup((const char *)text);
    if (!copy) *good = false;
    return copy;
}

bool sql_read_job(sqlite3_stmt *statement, job *out) {
    bool good = true;
    *out = (job){.number = sqlite3_column_int64(statement, 0)};
    const unsigned char *id = sqlite3_column_text(statement, 1);
    snprintf(out->id, sizeof out->id, "%s", id ? (const char *)id : "");
    out->name = column_text(statement, 2, &good);
    int status = sqlite3_column_int(statement, 3);
    out->status = status >= JOB_QUEUED && status <= JOB_CANCELED ? (job_status)status : JOB_FAILED;
    out->progress = sqlite3_column_double(statement, 4);
    out->created = sqlite3_column_int64(statement, 5);
    out->started = sqlite3_column_int64(statement, 6);
    out->finished = sqlite3_column_int64(statement, 7);
    out->revision = sqlite3_column_int64(statement, 8);
    out->attempt = sqlite3_column_int64(statement, 9);
    out->cancel_requested = sqlite3_column_int(statement, 10) != 0;
    out->header = column_text(statement, 11, &good);
    out->summary = column_text(statement, 12, &good);
    out->problem = column_text(statement, 13, &good);
    out->owner = column_text(statement, 14, &good);
    out->member = sqlite3_column_int64(statement, 15);
    out->assignments = column_text(statement, 16, &good);
    out->collected = column_text(statement, 17, &good);
    const unsigned char *batch = sqlite3_column_text(statement, 18);
    snprintf(out->batch, sizeof out->batch, "%s", batch ? (const char *)batch : "");
    if (good && out->name && out->owner) return true;
    job_clear(out);
    return false;
}

bool sql_read_batch(sqlite3_stmt *statement, job_batch *out) {
    bool good = true;
    *out = (job_batch){.number = sqlite3_column_int64(statement, 0)};
    const unsigned char *id = sqlite3_column_text(statement, 1);
    snprintf(out->id, sizeof out->id, "%s", id ? (const char *)id : "");
    out->name = column_text(statement, 2, &good);
    out->created = sqlite3_column_int64(statement, 3);
    out->plan = column_text(statement, 4, &good);
    if (good && out->name && out->plan) return true;
    batch_clear(out);
    return false;
}

bool sql_read_blob(sqlite3_stmt *statement, int column, char **bytes, size_t *length) {
    const void *blob = sqlite3_column_blob(statement, column);
    *length = (size_t)sqlite3_column_bytes(statement, column);
    *bytes = malloc(*length + 1);
    if (!*bytes) return false;
    if (*length) memcpy(*bytes, blob, *length);
    (*bytes)[*length] = '\0';
    return true;
}

store_status sql_same_body(sql_connection *c, int64_t description, const job_submission *submission) {
    sqlite3_stmt *statement = sql_use(c, SQL_BODY);
    if (!statement || sqlite3_bind_int64(statement, 1, description) != SQLITE_OK) return STORE_FAILED;
    if (sqlite3_step(statement) != SQLITE_ROW) return STORE_FAILED;
    const void *body = sqlite3_column_blob(statement, 0);
    size_t length = (size_t)sqlite3_column_bytes(statement, 0);
    bool same = length == submission->length && (length == 0 || memcmp(body, submission->body, length) == 0);
    sqlite3_reset(statement);
    return same ? STORE_EXISTS : STORE_CONFLICT;
}

const char *sql_key(const job_submission *submission, char out[SQL_KEY_BYTES]) {
    if (!submission->key) return NULL;
    const char *separator = submission->owner[0] ? "\x1f" : ""; /* no name and no key holds a control character */
    snprintf(out, SQL_KEY_BYTES, "%s%s%s", submission->owner, separator, submission->key);
    return out;
}
