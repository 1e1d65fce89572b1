/* budget.h — the limits of one request or job: CPU slot, wall time, processor time.
 *
 * The engine polls a budget at each evaluation (hamel_poll). Every few milliseconds a poll charges the processor time
 * used since the last charge to the token owner and checks all limits. A poll also yields the CPU slot if the time
 * slice has ended and other threads wait.
 *
 * The first exceeded limit ends the budget, and all later polls report this limit. Only one thread at a time may use a
 * budget. */
#pragma once

#include "api/simulate.h"
#include "server/access.h"

#include <stdatomic.h>

typedef struct budget_limits {
    double wall_seconds;   /* 0: no limit */
    double derive_seconds; /* processor time of all derivations together; 0: no limit */
} budget_limits;

typedef enum budget_end { BUDGET_OPEN, BUDGET_CANCELED, BUDGET_WALL, BUDGET_DERIVATIONS, BUDGET_QUOTA } budget_end;

typedef struct budget {
    hamel_poll poll; /* first member: ask_budget converts the address of `poll` to that of the budget */
    cpu_slots *slots;
    cpu_slot slot;
    token_owner *owner;
    const atomic_bool *cancel;
    budget_limits limits;
    double since, deadline; /* start and end (clock_seconds); `deadline` is INFINITY without a limit */
    double looked;          /* time of the last check of the limits */
    double charged;         /* processor time of the thread at the last charge, s */
    double used, derived;   /* processor time in s: total, and in derivations only */
    bool deriving, is_job;
    budget_end end;
} budget;

/* `since` is the time at which the first byte of the request arrived (clock_seconds). If `owner` is NULL, no owner is
 * charged. All arguments must outlive the budget. The wall time of a job does not include its waits for a CPU slot. */
void budget_open(budget *b, cpu_slots *slots, token_owner *owner, const atomic_bool *cancel,
                 const budget_limits *limits, double since);

/* Call budget_begin and budget_close on the working thread. The budget charges the processor time of this thread
 * between the two calls. */
void budget_begin(budget *b);
void budget_close(budget *b); /* releases the slot */

void budget_take_slot(budget *b);    /* waits for a slot; no-op if a slot is already held */
void budget_release_slot(budget *b); /* no-op if the slot is not held */

/* Charges the processor time of another process that computes under this budget's slot. */
void budget_add(budget *b, double seconds);
bool budget_slot_is_wanted(const budget *b); /* true if the next poll may wait; stop the other process first */

/* Marks the beginning or the end of a derivation. */
void budget_derive(budget *b, bool deriving);

/* budget_problem returns a problem document about the exceeded limit, or NULL if no limit was exceeded or memory is
 * exhausted. It sets *http to the status of the document, and *retry_after to the seconds after which to retry. If a
 * retry would fail as well, *retry_after is 0. */
bool budget_spent(const budget *b); /* returns true if a limit was exceeded, false if the work was only canceled */
cJSON *budget_problem(const budget *b, const char *instance, int *http, int *retry_after);
