/* store_sql_members.c — claims and results of many members of a sweep, each in one transaction. With a transaction for
 * each member, short runs would wait for the disk and for the writer. */
#include "server/jobs/store_sql.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b) {
    int64_t x = ((const job *)a)->number, y = ((const job *)b)->number;
    return (x > y) - (x < y);
}

/* Returns the number of members to claim together with the first job of a claim, including this job. */
static size_t most_with(const job_claim *claim) {
    const job *first = &claim->jobs[0];
    if (!first->assignments || first->attempt != 1 || first->cancel_requested) return 1;
    for (size_t k = 0; k < claim->size_count; k++)
        if (strcmp(claim->sizes[k].batch, first->batch) == 0) return claim->sizes[k].most;
    return 1;
}

store_status sql_start_members(sql_connection *c, job_claim *claim) {
    size_t most = most_with(claim);
    if (most < 2) return STORE_OK;
    sql_value first = sql_int(claim->jobs[0].number);
    sql_step step = SQL_FIRST(c, SQL_START_MEMBERS, first, sql_int((int64_t)most - 1));
    while (step == SQL_STEP_ROW && claim->count < most && sql_read_job(c, &claim->jobs[claim->count])) {
        claim->count++;
        step = c->driver->next(c);
    }
    c->driver->end(c);
    if (step != SQL_STEP_END) return STORE_FAILED;
    qsort(claim->jobs, claim->count, sizeof *claim->jobs, by_number); /* the order of RETURNING is undefined */
    return STORE_OK;
}

typedef struct members_change {
    sql_operation operation;
    member_end *ends;
    size_t end_count;
} members_change;

static size_t end_bytes(const member_end *m) {
    return sql_end_bytes(&m->end) + (m->header ? strlen(m->header) : 0) + sql_output_bytes(&m->output);
}

/* Stores the ends of at most SQL_GROUP members and sets their statuses. */
static bool store_ends(sql_connection *c, member_end *ends, size_t count) {
    sql_value values[SQL_VALUES_MOST], *v = values;
    for (size_t k = 0; k < count; k++) {
        const job_end *end = &ends[k].end;
        *v++ = sql_int(ends[k].number);
        *v++ = sql_int(ends[k].attempt);
        *v++ = sql_int((int64_t)end->status);
        *v++ = sql_double(end->progress);
        *v++ = sql_text(ends[k].header);
        *v++ = sql_text(end->summary);
        *v++ = sql_text(end->problem);
        *v++ = sql_text(end->collected);
        *v++ = sql_int((int64_t)end_bytes(&ends[k]));
        ends[k].status = STORE_ABSENT;
    }
    sql_step step = sql_first_rows(c, SQL_FINISH_MEMBERS, values, count);
    for (; step == SQL_STEP_ROW; step = c->driver->next(c)) {
        int64_t number = c->driver->integer(c, 0);
        for (size_t k = 0; k < count; k++)
            if (ends[k].number == number) ends[k].status = STORE_OK;
    }
    c->driver->end(c);
    return step == SQL_STEP_END;
}

/* Stores the rows and events of the members whose ends have been stored, at most SQL_GROUP. */
static bool store_outputs(sql_connection *c, const member_end *ends, size_t count) {
    sql_value values[SQL_VALUES_MOST], *v = values;
    size_t chunks = 0;
    bool good = true;
    for (size_t k = 0; k < count; k++) {
        const job_output *output = &ends[k].output;
        if (ends[k].status != STORE_OK) continue;
        for (size_t i = 0; good && i < output->event_count; i++)
            good = sql_insert_event(c, ends[k].number, (int64_t)i, &output->events[i]);
        if (output->rows.rows == 0) continue;
        *v++ = sql_int(ends[k].number);
        *v++ = sql_int(output->rows.rows);
        *v++ = sql_int((int64_t)output->rows.columns);
        *v++ = sql_double(sql_last_time(&output->rows));
        *v++ = sql_blob(output->rows.values, sql_chunk_bytes(&output->rows));
        chunks++;
    }
    if (!good || chunks == 0) return good;
    good = sql_first_rows(c, SQL_INSERT_CHUNKS, values, chunks) == SQL_STEP_END;
    c->driver->end(c);
    return good;
}

/* Sets the statuses of members whose ends an earlier try of this change may have stored. */
static bool look_at_earlier_try(sql_connection *c, member_end *ends, size_t count) {
    bool good = true;
    for (size_t k = 0; good && k < count; k++) {
        member_end *m = &ends[k];
        if (m->status == STORE_ABSENT) m->status = sql_ended_before(c, m->number, m->attempt, m->end.status);
        good = m->status != STORE_FAILED;
    }
    return good;
}

static store_status run_finish_members(sql_connection *c, sql_operation *self) {
    const members_change *change = (members_change *)self;
    size_t bytes = 0;
    for (size_t k = 0; k < change->end_count; k++) bytes += end_bytes(&change->ends[k]);
    store_status status = sql_check_room(c, change->ends[0].number, bytes); /* all members have the same quota */
    if (status == STORE_ABSENT) return STORE_FULL; /* the first job has been deleted: finish the members singly */
    for (size_t k = 0; k < change->end_count && status == STORE_OK; k += SQL_GROUP) {
        member_end *ends = change->ends + k;
        size_t left = change->end_count - k, count = left < SQL_GROUP ? left : SQL_GROUP;
        bool stored = store_ends(c, ends, count) && store_outputs(c, ends, count) &&
                      (!self->is_retry || look_at_earlier_try(c, ends, count));
        if (!stored) status = STORE_FAILED;
    }
    return status;
}

store_status sql_finish_members(store *s, member_end *ends, size_t count) {
    members_change change = {
        {.run = run_finish_members, .durable = true, .wait_for_db = true}, .ends = ends, .end_count = count};
    return count > 0 ? sql_change((sql_store *)s, &change.operation) : STORE_OK;
}
