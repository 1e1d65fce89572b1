/* store_sql_members.c — claims and results of many members of a sweep, each in one transaction. With a transaction for
 * each member, short runs would wait for the disk and for the writer. */
#include "server/jobs/store_sql.h"

#include <stdlib.h>
#include <string.h>

typedef struct members_change {
    sql_operation operation;
    int64_t number; /* number of a job of the sweep */
    size_t most;
    job *out;
    size_t *count;
    member_end *ends;
    size_t end_count;
} members_change;

static void clear_jobs(job *jobs, size_t *count) {
    while (*count > 0) job_clear(&jobs[--*count]);
}

static int by_number(const void *a, const void *b) {
    int64_t x = ((const job *)a)->number, y = ((const job *)b)->number;
    return (x > y) - (x < y);
}

store_status sql_start_members(sql_connection *c, int64_t number, size_t most, job *out, size_t *count) {
    *count = 0;
    sql_step step = SQL_FIRST(c, SQL_START_MEMBERS, sql_int(number), sql_int((int64_t)most));
    while (step == SQL_STEP_ROW && *count < most && sql_read_job(c, &out[*count])) {
        (*count)++;
        step = c->driver->next(c);
    }
    c->driver->end(c);
    if (step != SQL_STEP_END) {
        clear_jobs(out, count);
        return STORE_FAILED;
    }
    qsort(out, *count, sizeof *out, by_number); /* the order of RETURNING is undefined */
    return STORE_OK;
}

static store_status run_claim_members(sql_connection *c, sql_operation *self) {
    const members_change *change = (members_change *)self;
    clear_jobs(change->out, change->count); /* jobs of a run that was rolled back */
    return sql_start_members(c, change->number, change->most, change->out, change->count);
}

store_status sql_claim_members(store *s, int64_t number, size_t most, job *out, size_t *count) {
    members_change change = {
        {.run = run_claim_members, .grows = true}, .number = number, .most = most, .out = out, .count = count};
    *count = 0;
    store_status status = sql_change((sql_store *)s, &change.operation);
    if (status != STORE_OK) clear_jobs(out, count);
    return status;
}

static size_t end_bytes(const member_end *m) {
    return sql_end_bytes(&m->end) + (m->header ? strlen(m->header) : 0) + sql_output_bytes(&m->output);
}

static store_status finish_member(sql_connection *c, const member_end *m, bool is_retry) {
    const job_end *end = &m->end;
    bool ran = SQL_RUN(c, SQL_FINISH_MEMBER, sql_int(m->number), sql_int(m->attempt), sql_int((int64_t)end->status),
                       sql_double(end->progress), sql_text(m->header), sql_text(end->summary), sql_text(end->problem),
                       sql_text(end->collected), sql_int((int64_t)end_bytes(m)));
    store_status status = sql_of_current(c, ran);
    if (status == STORE_ABSENT && is_retry) return sql_ended_before(c, m->number, m->attempt, end->status);
    bool good = status != STORE_OK || m->output.rows.rows == 0 || sql_insert_chunk(c, m->number, &m->output.rows);
    for (size_t k = 0; good && status == STORE_OK && k < m->output.event_count; k++)
        good = sql_insert_event(c, m->number, (int64_t)k, &m->output.events[k]);
    return good ? status : STORE_FAILED;
}

static store_status run_finish_members(sql_connection *c, sql_operation *self) {
    const members_change *change = (members_change *)self;
    size_t bytes = 0;
    for (size_t k = 0; k < change->end_count; k++) bytes += end_bytes(&change->ends[k]);
    store_status status = sql_check_room(c, change->ends[0].number, bytes); /* all members have the same quota */
    if (status == STORE_ABSENT) return STORE_FULL; /* the first job has been deleted: finish the members singly */
    for (size_t k = 0; k < change->end_count && status == STORE_OK; k++) {
        member_end *m = &change->ends[k];
        m->status = finish_member(c, m, self->is_retry);
        if (m->status == STORE_FAILED) status = STORE_FAILED;
    }
    return status;
}

store_status sql_finish_members(store *s, member_end *ends, size_t count) {
    members_change change = {
        {.run = run_finish_members, .durable = true, .wait_for_db = true}, .ends = ends, .end_count = count};
    return count > 0 ? sql_change((sql_store *)s, &change.operation) : STORE_OK;
}
