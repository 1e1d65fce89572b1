/* budget.c — see budget.h. Most answers cost a look at a flag and at a coarse clock. */
#include "server/budget.h"

#include "engine/base/monotonic.h"
#include "server/stamp.h"

#include <math.h>
#include <stdio.h>

#define LOOK_SECONDS 0.003 /* between checks: below the turn of a CPU slot, and a tick of the coarse clock */
#define BUSY_SECONDS 10    /* after which a request that others have slowed down may be sent again */

static const char *const spent_names[] = {
    [BUDGET_WALL] = "wall time",
    [BUDGET_DERIVATIONS] = "processor time of derivations",
    [BUDGET_QUOTA] = "processor time of its token for today",
};

static hamel_status answer(budget *b) {
    if (b->end == BUDGET_OPEN) return HAMEL_OK;
    b->poll.spent = spent_names[b->end];
    return b->end == BUDGET_CANCELED ? HAMEL_CANCELED : HAMEL_LIMIT;
}

void budget_add(budget *b, double seconds) {
    b->used += seconds;
    if (b->holder && !access_charge(b->holder, seconds) && b->end == BUDGET_OPEN) b->end = BUDGET_QUOTA;
}

static void charge(budget *b) {
    double now = stamp_cpu_seconds(), more = now - b->charged;
    b->charged = now;
    if (b->deriving) b->derived += more;
    budget_add(b, more);
}

static void check(budget *b) {
    charge(b);
    bool derived = b->limits.derive_seconds > 0 && b->derived > b->limits.derive_seconds;
    if (b->end == BUDGET_OPEN && derived) b->end = BUDGET_DERIVATIONS;
    if (b->end == BUDGET_OPEN && stamp_seconds() > b->deadline) b->end = BUDGET_WALL;
}

/* Waits for a slot by one of the functions of cpu_slots.h. */
static void wait_for_slot(budget *b, void (*wait)(cpu_slots *slots, cpu_turn *turn)) {
    double before = stamp_seconds();
    wait(b->slots, &b->turn);
    if (b->is_job) b->deadline += stamp_seconds() - before;
}

static hamel_status ask(hamel_poll *poll) {
    budget *b = (budget *)poll;
    if (b->end == BUDGET_OPEN && atomic_load_explicit(b->cancel, memory_order_relaxed)) b->end = BUDGET_CANCELED;
    bool early = monotonic_coarse() - b->looked < LOOK_SECONDS && !(b->turn.held && cpu_is_owed(b->slots, &b->turn));
    if (b->end != BUDGET_OPEN || early) return answer(b);
    check(b);
    if (b->end == BUDGET_OPEN) wait_for_slot(b, cpu_pass);
    b->looked = monotonic_coarse();
    return answer(b);
}

void budget_open(budget *b, cpu_slots *slots, access_holder *holder, const atomic_bool *cancel,
                 const budget_limits *limits, double since) {
    *b = (budget){.poll = {.ask = ask},
                  .slots = slots,
                  .turn = {.share = holder ? &holder->share : NULL},
                  .holder = holder,
                  .cancel = cancel,
                  .limits = *limits,
                  .since = since,
                  .deadline = limits->wall_seconds > 0 ? since + limits->wall_seconds : INFINITY};
}

void budget_begin(budget *b) {
    b->charged = stamp_cpu_seconds();
    check(b);
}

void budget_close(budget *b) {
    budget_leave_slot(b);
    charge(b);
}

void budget_take_slot(budget *b) {
    wait_for_slot(b, cpu_take);
}

void budget_leave_slot(budget *b) {
    cpu_leave(b->slots, &b->turn);
}

bool budget_slot_is_wanted(const budget *b) {
    return cpu_is_wanted(b->slots);
}

void budget_derive(budget *b, bool deriving) {
    charge(b);
    b->deriving = deriving;
}

bool budget_spent(const budget *b) {
    return b->end > BUDGET_CANCELED;
}

cJSON *budget_problem(const budget *b, const char *instance, int *http, int *retry_after) {
    char detail[200] = "";
    double seconds = 0;
    bool quota = b->end == BUDGET_QUOTA, own = b->end == BUDGET_DERIVATIONS || b->used > b->limits.wall_seconds / 2;
    *http = quota ? 429 : own ? 422 : 503;
    *retry_after = own && !quota ? 0 : BUSY_SECONDS;
    if (quota) {
        if (!access_has_cpu(b->holder, &seconds)) *retry_after = (int)ceil(fmax(seconds, 1));
        snprintf(detail, sizeof detail, "the token '%s' has used up its processor time for today", b->holder->name);
        return api_problem_plain(*http, "quota", "Too many requests", detail, instance);
    }
    if (b->end == BUDGET_WALL)
        snprintf(detail, sizeof detail, "the work was not finished within its limit of %g s of wall time%s",
                 b->limits.wall_seconds, own ? "" : ", as others had most of the processor time; try again later");
    if (b->end == BUDGET_DERIVATIONS)
        snprintf(detail, sizeof detail,
                 "deriving the equations takes more than the limit of %g s of processor time for one request; send a "
                 "simpler system, or a long list in several batches",
                 b->limits.derive_seconds);
    cJSON *problem = api_problem_plain(*http, "budget", "A budget is used up", detail, instance);
    if (problem && cJSON_AddStringToObject(problem, "budget", spent_names[b->end])) return problem;
    cJSON_Delete(problem);
    return NULL;
}
