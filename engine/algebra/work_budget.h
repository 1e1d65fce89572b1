/* work_budget.h — a bound on the work of simplification.
 *
 * Work is counted, not timed, so that results are the same on each machine. One unit is the cost of reading or writing
 * one variable of a term. All simplification for one purpose shares a work budget. Once the budget is spent,
 * expressions remain unchanged. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct work_budget {
    uint64_t left;
    bool spent;                         /* whether work was skipped, because its cost exceeded `left` */
    bool (*interrupted)(void *context); /* returns true to cancel the work; NULL: never canceled */
    void *context;
} work_budget;

/* Subtracts `units` from the budget (NULL: no bound). If `units` exceeds the remaining budget, or if the work is
 * canceled, sets the remaining budget to 0 and returns false. */
static inline bool work_budget_take(work_budget *e, uint64_t units) {
    if (!e) return true;
    bool enough = !(e->interrupted && e->interrupted(e->context)) && units <= e->left;
    e->left = enough ? e->left - units : 0;
    e->spent |= !enough;
    return enough;
}
