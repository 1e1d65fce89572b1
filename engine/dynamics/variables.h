/* variables.h — velocity variables w of a formulation; an integration has the state y = (q, w).
 *
 *     y = (q, w),     q' = q'(t, q, w),     w = w(t, q, q')
 *
 * All other modules use (q, q'); these functions convert between q' and w. Each kind of variables is a table of
 * functions (variables_int.h); a formulation selects its kind (engine/mechanics/formulation.h). */
#pragma once

#include "engine/dynamics/dynamics.h"

typedef struct variables variables;

/* Creates the variables of a run that starts at the consistent state (q, v). `k` is borrowed. Returns NULL, with an
 * error, on failure. */
variables *variables_create(dynamics *k, double t, const double *q, const double *v, hamel_error *error);
void variables_free(variables *x);

/* Recreates the variables after active constraints have changed or velocities have jumped; their number may change.
 * After a failure, only variables_free may be called. */
hamel_status variables_restart(variables *x, double t, const double *q, const double *v,
                               hamel_error *error) HAMEL_CHECKED;

/* Changes the kind to w = q' if `plain`, otherwise to that of the formulation, and recreates the variables as
 * variables_restart does. */
hamel_status variables_change_kind(variables *x, bool plain, double t, const double *q, const double *v,
                                   hamel_error *error) HAMEL_CHECKED;

size_t variables_count(const variables *x); /* number of entries of w; changes only at a restart */

/* Returns true if w = q', so that the conversions only copy. */
bool variables_are_velocities(const variables *x);

/* Returns true if q'(t, q, w) satisfies every velocity constraint for any w, so that only positions can violate
 * constraints. */
bool variables_meet_constraints(const variables *x);

/* Returns true if variables_rates reads the multipliers. */
bool variables_need_multipliers(const variables *x);

/* Sets v to q'(t, q, w). On entry, v[n] is a guess, used only if w is not linear in q'. `error` may be NULL. Returns
 * HAMEL_OK, HAMEL_SINGULAR or HAMEL_NOT_FINITE. */
hamel_status variables_velocities(variables *x, double t, const double *q, const double *w, double *v,
                                  hamel_error *error) HAMEL_CHECKED;

/* Sets w to w(t, q, v). */
hamel_status variables_from_velocities(variables *x, double t, const double *q, const double *v,
                                       double *w) HAMEL_CHECKED;

/* Sets dw to w' at the state that `k` evaluated last, for its accelerations a[n] and, if needed, multipliers
 * lambda[m]. */
hamel_status variables_rates(variables *x, const double *a, const double *lambda, double *dw) HAMEL_CHECKED;

/* Replaces the accelerations a[n] of `k`, from which dw was computed, by d/dt q'(t, q, w) for the rates dw: the
 * accelerations of the integrated motion. Uses the state of the last call of variables_velocities or
 * variables_from_velocities. */
hamel_status variables_accelerations(variables *x, const double *dw, double *a) HAMEL_CHECKED;

/* Differentials at the state of the last conversion: dv = ∂q'/∂q dq + ∂q'/∂w dw, and dw = ∂w/∂q dq + ∂w/∂q' dv. */
hamel_status variables_velocity_change(variables *x, const double *dq, const double *dw, double *dv) HAMEL_CHECKED;
hamel_status variables_change(variables *x, const double *dq, const double *dv, double *dw) HAMEL_CHECKED;

/* Computes absolute tolerances of w from those of the velocities, atol[n], at the state of the last conversion. */
void variables_tolerances(const variables *x, const double *atol, double *out);
