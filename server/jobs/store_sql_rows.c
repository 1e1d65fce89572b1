/* store_sql_rows.c — conversion of table rows to structs, and the stored form of keys. */
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

store_status sql_one_job(sql_connection *c, sql_step step, job *out) {
    bool read = step == SQL_STEP_ROW && sql_read_job(c, out);
    c->driver->end(c);
    return read ? STORE_OK : step == SQL_STEP_END ? STORE_ABSENT : STORE_FAILED;
}

store_status sql_one_int(sql_connection *c, sql_step step, int64_t *out) {
    *out = step == SQL_STEP_ROW ? c->driver->integer(c, 0) : 0;
    c->driver->end(c);
    return step == SQL_STEP_ROW ? STORE_OK : step == SQL_STEP_END ? STORE_ABSENT : STORE_FAILED;
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
