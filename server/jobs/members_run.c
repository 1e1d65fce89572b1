/* members_run.c — runs claimed members of a sweep together (member_block.h) and stores all their results in one step.
 *
 * If the last block took less than a quarter of SLICE_SECONDS, the next claim has twice as many members. If the block
 * took more than SLICE_SECONDS, the next claim has half as many. So short members share the costs of a claim and of a
 * transaction, while long members are claimed one by one, and other workers can claim the next members. */
#include "server/jobs/workers_int.h"

#include "server/clock.h"

#include <string.h>

#define SLICE_SECONDS 1.0 /* approximate bound on the work of other members that a cancelation interrupts */

typedef struct members_store {
    worker *worker;
    const job_claim *claim;
    member_block *block;
    budget *budget;
} members_store;

/* Stores the result of one member, as for a single job, or requeues a member that has not ended. */
static void store_singly(const members_store *s, size_t k) {
    const job *j = &s->claim->jobs[k];
    block_member *m = &s->block->members[k];
    store *to = s->worker->workers->services.store;
    job_run run = {.worker = s->worker, .budget = s->budget, .job = j};
    if (!m->ended) {
        bool stopped = worker_is_canceled(s->worker, j->number) || worker_is_interrupted(s->worker);
        if (stopped || s->claim->count == 1)
            job_run_end_early(&run, NULL, NULL);
        else
            job_run_requeue(&run);
        return;
    }
    int64_t events = 0;
    run.output = m->end.output;
    if (m->end.header) {
        run.fault = STORE_CALL(to, begin, j->number, j->attempt, m->end.header, &run.stored, &events);
        if (run.fault != STORE_OK) {
            job_run_end_early(&run, NULL, NULL);
            return;
        }
    }
    run.output.rows.first = run.stored; /* an earlier attempt may have stored the first rows and events */
    run.output.rows.rows -= run.stored;
    run.output.rows.values += (size_t)run.stored * run.output.rows.columns;
    run.output.first_event = events;
    run.output.event_count -= (size_t)events;
    run.output.events += events;
    job_run_finish(&run, &m->end.end);
}

/* Returns true if the result can be stored together with others: the member has ended, and nothing is stored yet. */
static bool is_simple(const members_store *s, size_t k) {
    return s->block->members[k].ended && !s->claim->jobs[k].header;
}

static void log_members(const members_store *s, size_t stored, size_t refused) {
    const daemon_services *services = &s->worker->workers->services;
    if (refused > 0) metrics_count(&services->metrics->fenced, (double)refused);
    log_write(services->log, LOG_INFO, "members",
              LOG_FIELDS(log_text("batch", s->claim->jobs[0].batch),
                         log_number("first", (double)s->claim->jobs[0].member), log_number("stored", (double)stored),
                         log_number("refused", (double)refused)));
}

static void store_members(const members_store *s) {
    member_end ends[BLOCK_MEMBERS_MAX];
    bool simple[BLOCK_MEMBERS_MAX] = {false};
    size_t count = 0, refused = 0;
    for (size_t k = 0; k < s->claim->count; k++) {
        simple[k] = is_simple(s, k);
        if (simple[k]) ends[count++] = s->block->members[k].end;
    }
    budget_release_slot(s->budget); /* the store may be slow */
    worker_end_run(s->worker);
    store_status status = STORE_CALL(s->worker->workers->services.store, finish_members, ends, count);
    if (status == STORE_OK) {
        for (size_t k = 0; k < count; k++) refused += ends[k].status == STORE_ABSENT;
        workers_note_store(s->worker->workers, false);
        log_members(s, count - refused, refused);
    }
    for (size_t k = 0; k < s->claim->count; k++)
        if (!simple[k] || status != STORE_OK) store_singly(s, k);
}

/* Sets the number of members to claim together from the time that `count` members have taken. */
static void adapt_size(worker *p, const member_block *b, double seconds, bool whole) {
    const char *batch = b->jobs[0].batch;
    size_t most = worker_claim_size(p, batch); /* the claim may have found fewer members */
    if (!whole || seconds > SLICE_SECONDS) most = b->count > 1 && whole ? b->count / 2 : 1;
    if (whole && seconds < SLICE_SECONDS / 4 && most < 2 * b->count) most = 2 * b->count;
    worker_set_claim_size(p, batch, most < b->fitting ? most : b->fitting);
}

bool members_run(worker *p, job_claim *c) {
    member_block block;
    budget spent;
    const job *first = &c->jobs[0];
    double began = clock_seconds();
    if (!first->assignments || first->cancel_requested || worker_claim_size(p, first->batch) == 0) return false;
    if (c->count == 1) crash_mark_thread(first->number, first->attempt); /* with several members, any could crash */
    worker_open_budget(p, &spent, first);
    bool opened = member_block_open(&block, &p->workers->services, &spent, c->jobs, c->count, c->body, c->length);
    bool together = opened && member_block_run(&block);
    if (!opened) worker_set_claim_size(p, first->batch, 0);
    if (together) {
        adapt_size(p, &block, clock_seconds() - began, !block.too_large && !budget_spent(&spent));
        store_members(&(members_store){p, c, &block, &spent});
    }
    if (opened) member_block_close(&block);
    budget_close(&spent);
    crash_mark_thread(0, 0);
    return together;
}
