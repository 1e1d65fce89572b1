/* budget.h — what the work of one request or job may use: a CPU slot, wall time, processor time.
 *
 * The engine asks a budget at each evaluation whether to continue (hamel_poll). Every few milliseconds the answer
 * charges the processor time used since then to the token owner, checks all limits, and yields the CPU slot if its time
 * is over and others wait. So no phase of a request, be it a derivation, an analysis or a run, holds a slot for longer,
 * and a token owner whose quota is used up is stopped while it computes.
 *
 * The first limit that is exceeded ends the budget; that does not change any more. One thread at a time works on a
 * budget. */
#ifndef HAMEL_SERVER_BUDGET_H
#define HAMEL_SERVER_BUDGET_H

#include "api/simulate.h"
#include "server/access.h"

#include <stdatomic.h>

typedef struct budget_limits {
    double wall_seconds;   /* 0: no limit */
    double derive_seconds; /* processor time of all derivations together; 0: no limit */
} budget_limits;

typedef enum budget_end { BUDGET_OPEN, BUDGET_CANCELED, BUDGET_WALL, BUDGET_DERIVATIONS, BUDGET_QUOTA } budget_end;

typedef struct budget {
    hamel_poll poll; /* first */
    cpu_slots *slots;
    cpu_turn turn;
    access_holder *holder;
    const atomic_bool *cancel;
    budget_limits limits;
    double since, deadline;        /* of stamp_seconds; deadline INFINITY: none */
    double looked;                 /* when limits were checked last */
    double charged, used, derived; /* processor time: by the thread's clock, of all, of derivations */
    bool deriving, is_job;
    budget_end end;
} budget;

/* `since`: when the request's first byte came, by stamp_seconds. `holder` NULL: nobody is charged. All that is named
 * outlives the budget. A job's time in line for a CPU slot does not count as wall time: nobody waits for its answer. */
void budget_open(budget *b, cpu_slots *slots, access_holder *holder, const atomic_bool *cancel,
                 const budget_limits *limits, double since);

/* On the thread that works: from here on, and up to here, its processor time is charged. */
void budget_begin(budget *b);
void budget_close(budget *b); /* gives up the slot */

void budget_take_slot(budget *b);  /* waits; no-op when held */
void budget_leave_slot(budget *b); /* no-op when not held */

/* Charges processor time of another process that works for this budget; the slot of the budget is its slot. */
void budget_add(budget *b, double seconds);
bool budget_slot_is_wanted(const budget *b); /* asking may block the thread: that process is to be stopped meanwhile */

/* The thread derives from now on, or no more. */
void budget_derive(budget *b, bool deriving);

/* Which limit ended the budget, as a problem document; NULL without memory, or when none did. *http is its status,
 * *retry_after the seconds after which to try again, 0: never. */
bool budget_spent(const budget *b); /* by a limit, not by being canceled */
cJSON *budget_problem(const budget *b, const char *instance, int *http, int *retry_after);

#endif
