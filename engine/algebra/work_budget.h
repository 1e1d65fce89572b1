/* work_budget.h — a bound on the work of simplification.
 *
 * Work is counted, not timed, so that results are the same on each machine. One unit is the cost of reading or writing
 * one variable of a term. All simplification for one purpose shares a work budget. Once it is spent, expressions stay
 * unchanged. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct work_budget {
    uint64_t left;
    bool spent;                         /* some work was skipped because its cost exceeded the rest of the budget */
    bool (*interrupted)(void *context); /* cancellation callback: true ends the work. NULL: never canceled */
    void *context;
} work_budget;

/* Subtracts `units` from the budget (NULL: no bound). If they exceed the rest, or if the work is canceled, the rest
 * becomes 0, and false is returned. */
bool work_budget_take(work_budget *e, uint64_t units);
