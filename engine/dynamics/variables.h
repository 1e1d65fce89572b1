/* variables.h — the velocity variables w of a formulation: what stands beside q in the state of an integration.
 *
 *     y = (q, w),     q' = q'(t, q, w),     w = w(t, q, q')
 *
 * Everything outside the integration sees (q, q'); here is the way there and back, for one run. Kinds of variables are
 * tables of functions (variables_int.h); a formulation names its kind (engine/mechanics/formulation.h). */
#ifndef HAMEL_SOLVE_VARIABLES_H
#define HAMEL_SOLVE_VARIABLES_H

#include "engine/solve/kinetics.h"

typedef struct variables variables;

/* Makes the variables for a run from the consistent state (q, v). `k` is borrowed. NULL with a fault. */
variables *variables_create(kinetics *k, double t, const double *q, const double *v, hamel_error *error);
void variables_free(variables *x);

/* The same once more at a state where constraints have come or gone, or velocities have jumped: their number may change. On failure
 * they can only be freed. */
hamel_status variables_restart(variables *x, double t, const double *q, const double *v,
                               hamel_error *error) HAMEL_CHECKED;

/* From now on w = q' if `plain`, else what the formulation has; then as variables_restart. */
hamel_status variables_change_kind(variables *x, bool plain, double t, const double *q, const double *v,
                                   hamel_error *error) HAMEL_CHECKED;

size_t variables_count(const variables *x); /* of w; changes at a restart only */

/* Whether w = q': then these functions only copy. */
bool variables_are_velocities(const variables *x);

/* Whether q'(t, q, w) meets every constraint on velocities whatever w is: then only positions can leave theirs. */
bool variables_meet_constraints(const variables *x);

/* Whether variables_rates reads the multipliers. */
bool variables_need_multipliers(const variables *x);

/* v := q'(t, q, w). On entry v[n] is a guess near it, which only equations that are not linear in q' use. `error` may
 * be NULL. HAMEL_OK, HAMEL_SINGULAR, HAMEL_NOT_FINITE. */
hamel_status variables_velocities(variables *x, double t, const double *q, const double *w, double *v,
                                  hamel_error *error) HAMEL_CHECKED;

/* w := w(t, q, v). */
hamel_status variables_from_velocities(variables *x, double t, const double *q, const double *v,
                                       double *w) HAMEL_CHECKED;

/* dw := w' at the state that `k` evaluated last, with its accelerations a[n] and, where needed, multipliers
 * lambda[m]. */
hamel_status variables_rates(variables *x, const double *a, const double *lambda, double *dw) HAMEL_CHECKED;

/* a[n] := d/dt q'(t, q, w) along the motion with the rates dw, at the state given last to one of the two maps: the
 * accelerations that an integration of w really follows. On entry those of `k`, from which `dw` was made. */
hamel_status variables_accelerations(variables *x, const double *dw, double *a) HAMEL_CHECKED;

/* Small changes at the state given last to one of the two maps: dv = ∂q'/∂q dq + ∂q'/∂w dw, and
 * dw = ∂w/∂q dq + ∂w/∂q' dv. */
hamel_status variables_velocity_change(variables *x, const double *dq, const double *dw, double *dv) HAMEL_CHECKED;
hamel_status variables_change(variables *x, const double *dq, const double *dv, double *dw) HAMEL_CHECKED;

/* Absolute tolerances of w that follow from those of the velocities, atol[n], at the state given last. */
void variables_tolerances(const variables *x, const double *atol, double *out);

#endif
