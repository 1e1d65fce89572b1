/* monitor.h — what a run proves about itself: residuals, invariants, checks, work balance, changes of rank. */
#ifndef HAMEL_SIMULATE_MONITOR_H
#define HAMEL_SIMULATE_MONITOR_H

#include "engine/simulate/lane.h"

/* Allocates the summary's arrays and names them. False without memory. */
bool monitor_start(hamel_summary *summary, const hamel_model *model);

/* Finds which constraints depend on which others at the state seen last. HAMEL_SINGULAR when friction needs a multiplier
 * that is not unique; HAMEL_NO_MEMORY. */
hamel_status monitor_redundancy(hamel_summary *summary, const lane *l, hamel_error *error) HAMEL_CHECKED;

/* Takes the state seen last by the lane into account. `row`: it is written out (residuals are reported of rows). The
 * first call sets the initial values of invariants and energy. */
void monitor_see(hamel_summary *summary, const lane *l, bool row);

/* The last step may have gone further than rows and checks show. */
void monitor_follow(hamel_summary *summary, lane *l);

/* Whether the work balance is off by far more than the tolerances asked for account for. */
bool monitor_unbalanced(const hamel_summary *summary);

/* The same of the residuals of rows, which are not projected when the description says so. */
bool monitor_adrift(const hamel_summary *summary);

/* The lane has been through an event: other constraints may act from here on. */
void monitor_jump(hamel_summary *summary, const lane *l);

/* The value of a check whose time is l->t. */
void monitor_check_at(hamel_summary *summary, const lane *l, size_t check);

/* Judges invariants and checks at the end; `completed`: final checks count. */
void monitor_finish(hamel_summary *summary, const hamel_model *model, bool completed);

#endif
