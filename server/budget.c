/* budget.c — limits of a request or job; see budget.h. Most polls only read the cancel flag and a coarse clock. */
#include "server/budget.h"

#include "engine/base/monotonic.h"
#include "server/clock.h"

#include <math.h>
#include <stdio.h>

/* Interval between two checks of the limits. It is shorter than a time slice of cpu_slots.c (4 ms), so that a slice is
 * not exceeded for long. */
#define LOOK_SECONDS 0.003
/* Retry-After if other requests used most of the processor time. The time is long enough that retries add little to the
 * load, and short compared with --time-limit (600 s by default). */
#define BUSY_SECONDS 10

static const char *const spent_names[] = {
    [BUDGET_WALL] = "wall time",
    [BUDGET_DERIVATIONS] = "processor time of derivations",
    [BUDGET_QUOTA] = "the processor time that the token may use today",
};

static hamel_status answer_of(budget *b) {
    if (b->end == BUDGET_OPEN) return HAMEL_OK;
    b->poll.spent = spent_names[b->end];
    return b->end == BUDGET_CANCELED ? HAMEL_CANCELED : HAMEL_LIMIT;
}

void budget_add(budget *b, double seconds) {
    b->used += seconds;
    if (b->owner && !access_charge(b->owner, seconds) && b->end == BUDGET_OPEN) b->end = BUDGET_QUOTA;
}

static void charge_thread(budget *b) {
    double now = clock_cpu_seconds(), more = now - b->charged;
    b->charged = now;
    if (b->deriving) b->derived += more;
    budget_add(b, more);
}

static void check_limits(budget *b) {
    charge_thread(b);
    bool derived = b->limits.derive_seconds > 0 && b->derived > b->limits.derive_seconds;
    if (b->end == BUDGET_OPEN && derived) b->end = BUDGET_DERIVATIONS;
    if (b->end == BUDGET_OPEN && clock_seconds() > b->deadline) b->end = BUDGET_WALL;
}

/* Calls `wait`, which is cpu_slot_take or cpu_slot_yield. The wall time of a job does not include the time in which the
 * job waits for a CPU slot. */
static void wait_for_slot(budget *b, void (*wait)(cpu_slots *slots, cpu_slot *slot)) {
    double before = clock_seconds();
    wait(b->slots, &b->slot);
    if (b->is_job) b->deadline += clock_seconds() - before;
}

static hamel_status ask_budget(hamel_poll *poll) {
    budget *b = (budget *)poll;
    if (b->end == BUDGET_OPEN && atomic_load_explicit(b->cancel, memory_order_relaxed)) b->end = BUDGET_CANCELED;
    bool early =
        monotonic_coarse() - b->looked < LOOK_SECONDS && !(b->slot.held && cpu_slot_is_owed(b->slots, &b->slot));
    if (b->end != BUDGET_OPEN || early) return answer_of(b);
    check_limits(b);
    if (b->end == BUDGET_OPEN) wait_for_slot(b, cpu_slot_yield);
    b->looked = monotonic_coarse();
    return answer_of(b);
}

void budget_open(budget *b, cpu_slots *slots, token_owner *owner, const atomic_bool *cancel,
                 const budget_limits *limits, double since) {
    *b = (budget){.poll = {.ask = ask_budget},
                  .slots = slots,
                  .slot = {.share = owner ? &owner->share : NULL},
                  .owner = owner,
                  .cancel = cancel,
                  .limits = *limits,
                  .since = since,
                  .deadline = limits->wall_seconds > 0 ? since + limits->wall_seconds : INFINITY};
}

void budget_begin(budget *b) {
    b->charged = clock_cpu_seconds();
    check_limits(b);
}

void budget_close(budget *b) {
    budget_release_slot(b);
    charge_thread(b);
}

void budget_take_slot(budget *b) {
    wait_for_slot(b, cpu_slot_take);
}

void budget_release_slot(budget *b) {
    cpu_slot_release(b->slots, &b->slot);
}

bool budget_slot_is_wanted(const budget *b) {
    return cpu_slots_are_wanted(b->slots);
}

void budget_derive(budget *b, bool deriving) {
    charge_thread(b);
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
        if (!access_has_cpu(b->owner, &seconds)) *retry_after = (int)ceil(fmax(seconds, 1));
        snprintf(detail, sizeof detail, "the token '%s' has used up its processor time for today", b->owner->name);
        return api_problem_plain(*http, "quota", "Too many requests", detail, instance);
    }
    if (b->end == BUDGET_WALL)
        snprintf(detail, sizeof detail, "the work was not finished within its limit of %g s of wall time%s",
                 b->limits.wall_seconds, own ? "" : ", since other requests used most of this time; retry later");
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
