/* store_sql_batch.c — operations that change many jobs: batches, and the deletion of old jobs. Large deletions are
 * split into slices, so that other changes need not wait for the whole deletion. */
#include "server/jobs/store_sql.h"

#include "server/clock.h"

#include <string.h>

enum {
    SLICE_MOST = 1000,
    SUBMIT_MOST = 32 * SQL_GROUP, /* members submitted in one step; a step delays other changes by about 30 ms */
    ABANDONED_MS = 10 * 60 * 1000 /* age at which an interrupted submission is deleted; clients may retry until then */
};

typedef struct batch_change {
    sql_operation operation;
    const char *id, *owner;
    const batch_submission *submission;
    double bytes; /* bytes of the whole submission */
    size_t most;
    int64_t from, beyond; /* numbers of the first member, and of the first member after the slice */
    job_batch *out;
} batch_change;

static store_status count_members(sql_connection *c, job_batch *b) {
    sql_step step = SQL_FIRST(c, SQL_COUNT_MEMBERS, sql_int(b->number));
    for (size_t k = 0; k < JOB_STATUSES; k++) b->counts[k] = 0;
    for (; step == SQL_STEP_ROW; step = c->driver->next(c)) {
        int64_t status = c->driver->integer(c, 0);
        if (status >= 0 && status < JOB_STATUSES) b->counts[status] = c->driver->integer(c, 1);
    }
    c->driver->end(c);
    return step == SQL_STEP_END ? STORE_OK : STORE_FAILED;
}

/* Reads the batch that a statement returns, with the counts of its members. */
static store_status one_batch(sql_connection *c, sql_step step, job_batch *out) {
    bool read = step == SQL_STEP_ROW && sql_read_batch(c, out);
    c->driver->end(c);
    return read ? count_members(c, out) : sql_row_status(step, false);
}

static store_status find_by_id(sql_connection *c, const char *id, const char *owner, job_batch *out) {
    batch_clear(out);
    return one_batch(c, SQL_FIRST(c, SQL_FIND_BATCH, sql_text(id), sql_text(owner)), out);
}

/* Returns the bytes of the batch without its members. The body of a batch is stored in addition to the bodies of listed
 * members. */
static size_t batch_bytes(const batch_submission *submission) {
    return JOB_BASE_BYTES + strlen(submission->whole.name) + submission->whole.length + strlen(submission->plan);
}

/* Sets out[count] to members of the submission, from `first` on. */
static bool take_members(const batch_submission *submission, size_t first, size_t count, batch_member *out) {
    if (submission->fill) return submission->fill(submission->context, first, count, out);
    memcpy(out, submission->members + first, count * sizeof *out);
    return true;
}

/* Adds the bytes of members `first` to `end` - 1 to *bytes, if the owner has a quota. */
static bool add_member_bytes(const batch_submission *submission, size_t first, size_t end, double *bytes) {
    batch_member members[SQL_GROUP];
    if (submission->whole.quota.bytes <= 0) return true;
    for (size_t k = first; k < end; k += SQL_GROUP) {
        size_t count = end - k < SQL_GROUP ? end - k : SQL_GROUP;
        if (!take_members(submission, k, count, members)) return false;
        for (size_t i = 0; i < count; i++) *bytes += (double)sql_member_bytes(&members[i]);
    }
    return true;
}

static store_status insert_batch(sql_connection *c, const batch_change *change, int64_t *number) {
    const job_submission *sent = &change->submission->whole;
    char key[SQL_KEY_BYTES];
    sql_step step =
        SQL_FIRST(c, SQL_INSERT_BATCH, sql_text(change->id), sql_text(sent->name), sql_text(sql_key(sent, key)),
                  sql_text(sent->owner), sql_text(change->submission->plan),
                  sql_int((int64_t)batch_bytes(change->submission)), sql_int((int64_t)change->submission->count));
    if (sql_one_int(c, step, number) != STORE_OK) return STORE_FAILED;
    return sql_insert_body(c, -*number, sent->body, sent->length) ? STORE_OK : STORE_FAILED;
}

/* Inserts at most SQL_GROUP members, of which `first` is the first. */
static bool insert_group(sql_connection *c, const batch_submission *submission, int64_t batch, size_t first,
                         const batch_member *members, size_t count) {
    _Static_assert((int)SQL_GROUP <= (int)RANDOM_IDS_MOST, "the ids of a group are made together");
    char ids[SQL_GROUP][RANDOM_ID_BYTES];
    int64_t numbers[SQL_GROUP] = {0};
    sql_value values[SQL_VALUES_MOST], *v = values;
    *v++ = sql_text(submission->whole.owner);
    *v++ = sql_int(batch);
    *v++ = sql_int(sql_quota_bytes(&submission->whole));
    if (!random_ids(ids, count)) return false;
    for (size_t k = 0; k < count; k++) {
        *v++ = sql_text(ids[k]);
        *v++ = sql_text(members[k].name);
        *v++ = sql_int((int64_t)sql_member_bytes(&members[k]));
        *v++ = sql_int((int64_t)(first + k));
        *v++ = sql_text(members[k].assignments);
    }
    sql_step step = sql_first_rows(c, SQL_INSERT_MEMBERS, values, count);
    for (; step == SQL_STEP_ROW; step = c->driver->next(c)) {
        size_t k = (size_t)c->driver->integer(c, 1) - first;
        if (k < count) numbers[k] = c->driver->integer(c, 0);
    }
    c->driver->end(c);
    bool good = step == SQL_STEP_END;
    for (size_t k = 0; good && k < count; k++)
        if (!members[k].assignments) good = sql_insert_body(c, numbers[k], members[k].body, members[k].length);
    return good;
}

static bool insert_members(sql_connection *c, const batch_submission *submission, int64_t batch, size_t first,
                           size_t end) {
    batch_member members[SQL_GROUP];
    for (size_t k = first; k < end; k += SQL_GROUP) {
        size_t count = end - k < SQL_GROUP ? end - k : SQL_GROUP;
        if (!take_members(submission, k, count, members) || !insert_group(c, submission, batch, k, members, count))
            return false;
    }
    return true;
}

/* Inserts the next members, at most SUBMIT_MOST. Two submissions with the same key may alternate. */
static store_status run_submit_more(sql_connection *c, sql_operation *self) {
    const batch_change *change = (batch_change *)self;
    const batch_submission *submission = change->submission;
    int64_t number = change->out->number, submitted;
    double bytes = 0;
    store_status status = sql_one_int(c, SQL_FIRST(c, SQL_SUBMITTED, sql_int(number)), &submitted);
    if (status == STORE_OK) {
        size_t first = (size_t)submitted, left = submission->count - first;
        size_t end = first + (left < SUBMIT_MOST ? left : SUBMIT_MOST);
        if (!add_member_bytes(submission, first, end, &bytes)) return STORE_FAILED;
        status = sql_check_quota(c, &submission->whole, end - first, bytes);
        if (status != STORE_OK) return status;
        if (!insert_members(c, submission, number, first, end)) return STORE_FAILED;
        if (!SQL_RUN(c, SQL_SET_SUBMITTED, sql_int(number), sql_int((int64_t)end))) return STORE_FAILED;
    } else if (status == STORE_FAILED) {
        return STORE_FAILED;
    }
    return find_by_id(c, change->id, NULL, change->out); /* absent if a client has deleted the batch */
}

static store_status run_submit(sql_connection *c, sql_operation *self) {
    const batch_change *change = (batch_change *)self;
    const batch_submission *submission = change->submission;
    char key[SQL_KEY_BYTES];
    batch_clear(change->out);
    if (submission->whole.key) {
        store_status known =
            one_batch(c, SQL_FIRST(c, SQL_FIND_BATCH_KEY, sql_text(sql_key(&submission->whole, key))), change->out);
        if (known == STORE_OK) return sql_same_body(c, -change->out->number, &submission->whole);
        if (known == STORE_FAILED) return STORE_FAILED;
    }
    if (self->is_retry) { /* the previous attempt may have been committed */
        store_status made = find_by_id(c, change->id, NULL, change->out);
        if (made != STORE_ABSENT) return made;
    }
    store_status quota = sql_check_quota(c, &submission->whole, submission->count, change->bytes);
    if (quota != STORE_OK) return quota;
    if (insert_batch(c, change, &change->out->number) != STORE_OK) return STORE_FAILED;
    return run_submit_more(c, self) == STORE_OK ? STORE_OK : STORE_FAILED;
}

/* Submits the members that the first step has not submitted. On failure deletes the batch. */
static store_status submit_rest(store *s, const batch_submission *submission, job_batch *out) {
    char id[JOB_ID_BYTES];
    memcpy(id, out->id, sizeof id);
    batch_change more = {{.run = run_submit_more, .durable = true, .grows = true, .queues = true},
                         .id = id,
                         .submission = submission,
                         .out = out};
    store_status status = STORE_OK;
    while (status == STORE_OK && !out->complete) {
        more.operation.done = more.operation.is_retry = false;
        status = sql_change((sql_store *)s, &more.operation);
    }
    if (status == STORE_OK) return STORE_OK;
    while (sql_delete_batch(s, id, NULL, SLICE_MOST) == STORE_EXISTS) continue;
    return status;
}

store_status sql_submit_batch(store *s, const batch_submission *submission, job_batch *out) {
    char id[RANDOM_ID_BYTES];
    batch_change change = {{.run = run_submit, .durable = true, .grows = true, .queues = true},
                           .id = id,
                           .submission = submission,
                           .bytes = (double)batch_bytes(submission),
                           .out = out};
    *out = (job_batch){0};
    if (!random_id(id) || !add_member_bytes(submission, 0, submission->count, &change.bytes)) return STORE_FAILED;
    store_status status = sql_change((sql_store *)s, &change.operation);
    if ((status != STORE_OK && status != STORE_EXISTS) || out->complete) return status;
    store_status rest = submit_rest(s, submission, out);
    return rest == STORE_OK ? status : rest;
}

static store_status run_cancel(sql_connection *c, sql_operation *self) {
    batch_change *change = (batch_change *)self;
    store_status status = find_by_id(c, change->id, change->owner, change->out);
    if (status != STORE_OK) return status;
    sql_value batch = sql_int(change->out->number), from = sql_int(change->from);
    sql_step step = SQL_FIRST(c, SQL_MEMBER_BEYOND, batch, from, sql_int((int64_t)change->most));
    store_status more = sql_one_int(c, step, &change->beyond);
    if (more == STORE_FAILED) return STORE_FAILED;
    if (more == STORE_ABSENT) change->beyond = INT64_MAX;
    if (!SQL_RUN(c, SQL_CANCEL_MEMBERS, batch, from, sql_int(change->beyond))) return STORE_FAILED;
    if (more == STORE_OK) return STORE_EXISTS;
    if (!SQL_RUN(c, SQL_SEAL_BATCH, batch)) return STORE_FAILED;
    change->out->complete = true;
    return count_members(c, change->out);
}

store_status sql_cancel_batch(store *s, const char *id, const char *owner, size_t most, int64_t *from, job_batch *out) {
    batch_change change = {
        {.run = run_cancel, .durable = true}, .id = id, .owner = owner, .most = most, .from = *from, .out = out};
    *out = (job_batch){0};
    store_status status = sql_change((sql_store *)s, &change.operation);
    *from = change.beyond;
    return status;
}

/* Deletes up to `most` members. Collects their numbers first: rows must not be deleted while a statement reads them. */
static bool drop_some_members(sql_connection *c, int64_t batch, size_t most, size_t *count) {
    int64_t numbers[SLICE_MOST];
    *count = 0;
    sql_step step = SQL_FIRST(c, SQL_SOME_MEMBERS, sql_int(batch), sql_int((int64_t)most));
    for (; step == SQL_STEP_ROW && *count < most; step = c->driver->next(c))
        numbers[(*count)++] = c->driver->integer(c, 0);
    c->driver->end(c);
    bool good = step != SQL_STEP_FAILED;
    for (size_t k = 0; good && k < *count; k++) good = sql_drop_job(c, numbers[k]);
    return good;
}

static store_status run_delete(sql_connection *c, sql_operation *self) {
    const batch_change *change = (batch_change *)self;
    size_t most = change->most < SLICE_MOST ? change->most : SLICE_MOST, count = 0;
    store_status status = find_by_id(c, change->id, change->owner, change->out);
    if (status != STORE_OK) return status;
    int64_t number = change->out->number;
    if (!drop_some_members(c, number, most, &count)) return STORE_FAILED;
    if (count == most) return STORE_EXISTS;
    return SQL_RUN(c, SQL_DROP_BATCH, sql_int(number)) ? STORE_OK : STORE_FAILED;
}

store_status sql_delete_batch(store *s, const char *id, const char *owner, size_t most) {
    job_batch found = {0};
    batch_change change = {{.run = run_delete, .durable = true}, .id = id, .owner = owner, .most = most, .out = &found};
    store_status status = sql_change((sql_store *)s, &change.operation);
    batch_clear(&found);
    return status;
}

typedef struct expiry {
    sql_operation operation;
    int64_t age;
    double bytes;
    size_t most, *count;
} expiry;

static double stored_bytes(sql_connection *c) {
    double bytes = sql_first(c, SQL_COUNT_JOBS, NULL, 0) == SQL_STEP_ROW ? (double)c->driver->integer(c, 2) : 0;
    c->driver->end(c);
    return bytes;
}

/* Collects the jobs to delete, oldest first. */
static bool gather_old(sql_connection *c, const expiry *e, int64_t *numbers, size_t *count) {
    double stored = e->bytes > 0 ? stored_bytes(c) : 0;
    *count = 0;
    sql_step step = SQL_FIRST(c, SQL_OLDEST_ENDED, sql_int((int64_t)e->most));
    for (; step == SQL_STEP_ROW && *count < e->most; step = c->driver->next(c)) {
        bool old = e->age >= 0 && c->driver->integer(c, 1) >= e->age;
        bool too_many = e->bytes > 0 && stored > e->bytes;
        if (!old && !too_many) break;
        stored -= (double)c->driver->integer(c, 2);
        numbers[(*count)++] = c->driver->integer(c, 0);
    }
    c->driver->end(c);
    return step != SQL_STEP_FAILED;
}

/* Deletes some members of a batch whose submission was interrupted, and finally the batch. */
static store_status drop_abandoned(sql_connection *c, size_t most, size_t *count) {
    int64_t number;
    store_status status = sql_one_int(c, SQL_FIRST(c, SQL_ABANDONED_BATCH, sql_int(ABANDONED_MS)), &number);
    if (status != STORE_OK) return status;
    if (!drop_some_members(c, number, most, count)) return STORE_FAILED;
    return *count == most || SQL_RUN(c, SQL_DROP_BATCH, sql_int(number)) ? STORE_OK : STORE_FAILED;
}

static store_status run_expiry(sql_connection *c, sql_operation *self) {
    expiry *e = (expiry *)self;
    int64_t numbers[SLICE_MOST];
    if (e->most > SLICE_MOST) e->most = SLICE_MOST;
    store_status abandoned = drop_abandoned(c, e->most, e->count);
    if (abandoned != STORE_ABSENT) return abandoned;
    if (!gather_old(c, e, numbers, e->count)) return STORE_FAILED;
    for (size_t k = 0; k < *e->count; k++)
        if (!sql_drop_job(c, numbers[k])) return STORE_FAILED;
    if (*e->count == 0 || *e->count == e->most)
        return STORE_OK; /* search for empty batches only after the last slice */
    return sql_run(c, SQL_DROP_EMPTY_BATCHES) ? STORE_OK : STORE_FAILED;
}

store_status sql_expire(store *s, int64_t age, double bytes, size_t most, size_t *count) {
    expiry e = {{.run = run_expiry, .durable = true}, age, bytes, most, count};
    *count = 0;
    return sql_change((sql_store *)s, &e.operation);
}

store_status sql_find_batch(store *base, const char *id, const char *owner, job_batch *out) {
    sql_connection *c = sql_reader(base);
    *out = (job_batch){0};
    store_status status = find_by_id(c, id, owner, out);
    if (status == STORE_FAILED) c->driver->complain(c->store, c, "read");
    sql_reader_back(c);
    return status;
}

store_status sql_list_batches(store *base, const job_query *query, job_batch *out, size_t *count, bool *more) {
    sql_connection *c = sql_reader(base);
    const sql_value values[] = {sql_int(query->before ? query->before : INT64_MAX), sql_int((int64_t)query->limit + 1),
                                sql_text(query->owner)};
    int64_t matched = 0;
    *count = 0;
    sql_step step = sql_first(c, query->owner ? SQL_LIST_OWN_BATCHES : SQL_LIST_BATCHES, values, query->owner ? 3 : 2);
    while (step == SQL_STEP_ROW && *count < query->limit && sql_read_batch(c, &out[*count])) {
        matched = c->driver->integer(c, SQL_BATCH_MATCHED);
        (*count)++;
        step = c->driver->next(c);
    }
    bool good = step == SQL_STEP_END || (step == SQL_STEP_ROW && *count == query->limit);
    for (size_t k = 0; good && k < *count; k++) good = count_members(c, &out[k]) == STORE_OK;
    if (!good) {
        c->driver->complain(c->store, c, "list");
        while (*count > 0) batch_clear(&out[--*count]);
    }
    sql_reader_back(c);
    *more = matched > (int64_t)*count;
    return good ? STORE_OK : STORE_FAILED;
}
