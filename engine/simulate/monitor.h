/* monitor.h — evaluation of residuals, invariants, checks, the work balance and the rank during a run. */
#pragma once

#include "engine/simulate/trajectory.h"

typedef struct monitor {
    hamel_summary *summary;
    double initial_energy; /* Jacobi integral at the initial state; NAN before the first state */
    /* settled_rank: last rank of A found at two consecutive states; latest_rank: rank at the state evaluated last */
    size_t settled_rank, latest_rank;
    double *gradients;    /* A at the state evaluated last; NULL if A does not depend on velocities */
    double *steepest;     /* per constraint: largest norm of its row of A so far; used with `gradients` */
    const char *reversed; /* constraint whose gradient reversed near zero; NULL if there is none */
    double reversed_at;   /* time of that reversal */
} monitor;

/* Allocates arrays in the summary, which owns them, and sets names. Scratch is allocated in `memory`. Returns false if
 * out of memory. */
bool monitor_start(monitor *o, hamel_summary *summary, arena *memory, const hamel_model *model);

/* Returns true if the states at the ends of steps are evaluated as well as those of rows and checks. */
bool monitor_watches_steps(const hamel_model *model);

/* Finds the redundant constraints at the state evaluated last. If friction needs a multiplier that is not unique,
 * returns HAMEL_SINGULAR. May return HAMEL_NO_MEMORY. */
hamel_status monitor_redundancy(monitor *o, const trajectory *l, hamel_error *error) HAMEL_CHECKED;

/* Updates the summary from the state evaluated last by the trajectory. `row` is true if the state is output as a row;
 * only rows contribute to the residuals. `after_event` is true if an event at this time may have changed the active
 * constraints. The first call sets the initial values of invariants and energy. */
void monitor_add(monitor *o, const trajectory *l, bool row, bool after_event);

/* Updates the largest energy tolerance of the run with the energy tolerance at the end of the last step. */
void monitor_add_step(monitor *o, trajectory *l);

/* Records the value of a check whose time is l->t. */
void monitor_check_at(monitor *o, const trajectory *l, size_t check);

/* Returns true if the error of the work balance is far larger than the energy tolerance. */
bool monitor_is_unbalanced(const monitor *o);

/* Returns true if the residuals of rows are far larger than rtol, which is possible without projection. */
bool monitor_has_drifted(const monitor *o);

/* Evaluates invariants and checks at the end of the run. Checks of the final state are included only if `completed`. */
void monitor_finish(monitor *o, const hamel_model *model, bool completed);
