/* effort.h — how much work may go into bringing expressions into order.
 *
 * It is counted, not timed, so that what becomes of an expression is the same on each machine: a unit is a variable of a
 * term that is read or written. One effort is shared by all that serves one purpose; when it is spent expressions stay as
 * they are. */
#ifndef HAMEL_ALGEBRA_EFFORT_H
#define HAMEL_ALGEBRA_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct effort {
    uint64_t left;
    bool spent; /* some work was skipped because the budget ran out, or one step would have exceeded it */
    bool (*interrupted)(
        void *context); /* polled: true when nobody waits for the outcome any more. NULL: somebody does */
    void *context;
} effort;

/* Takes `units`, or all that are left. False when they do not suffice, or nobody waits: then nothing is left. An effort
 * of NULL has no bounds. */
bool effort_take(effort *e, uint64_t units);

#endif
