/* variables.h — velocity variables w of a formulation. An integration has the state y = (q, w).
 *
 *     q' = q'(t, q, w),     w = w(t, q, q')
 *
 * All other modules use (q, q'). The functions of this module convert between q' and w. A formulation selects the kind
 * of variables (engine/mechanics/formulation.h). Each kind is a table of functions and a workspace. */
#pragma once

#include "engine/dynamics/dynamics.h"

#include <assert.h>

typedef struct variables variables;

/* The functions of a kind of variables. Each of them implements the public function variables_NAME at the state (x->t,
 * x->q, x->v). */
typedef struct variables_table {
    bool meet_constraints, need_multipliers;
    /* Sets x->count and x->own for the consistent state in x; allocates from x->memory. */
    hamel_status (*open)(variables *x, hamel_error *error);
    /* Replaces x->v, which is a guess on entry, by q'(t, q, w). */
    hamel_status (*velocities)(variables *x, const double *w, hamel_error *error);
    hamel_status (*from_velocities)(variables *x, double *w);
    hamel_status (*rates)(variables *x, const double *a, const double *lambda, double *dw);
    /* Sets dv[n] to the differential of q'(t, q, w) for dt, dq and dw. */
    hamel_status (*velocity_change)(variables *x, double dt, const double *dq, const double *dw, double *dv);
    hamel_status (*change)(variables *x, const double *dq, const double *dv, double *dw);
    void (*tolerances)(const variables *x, const double *atol, double *out);
} variables_table;

extern const variables_table variables_plain, variables_momenta, variables_noncyclic; /* variables_plain: w = q' */

struct variables {
    const variables_table *table;
    dynamics *dynamics;
    size_t n, count;  /* n: number of coordinates; count: number of entries of w */
    double t, *q, *v; /* state of the last conversion; q, v: n each */
    arena memory;     /* memory of q, v and the workspace */
    void *own;        /* workspace of the kind */
};

/* Creates the variables of a run that starts at the consistent state (q, v). `k` is borrowed. Returns NULL, with an
 * error, on failure. */
variables *variables_create(dynamics *k, double t, const double *q, const double *v, hamel_error *error);
void variables_free(variables *x);

/* Recreates the variables after the set of active constraints has changed or velocities have jumped. The number of
 * variables may change. After a failure, only variables_free may be called. */
hamel_status variables_restart(variables *x, double t, const double *q, const double *v,
                               hamel_error *error) HAMEL_CHECKED;

/* Changes the kind to w = q' if `plain` is true, and otherwise to the kind of the formulation. Then recreates the
 * variables as variables_restart does. */
hamel_status variables_change_kind(variables *x, bool plain, double t, const double *q, const double *v,
                                   hamel_error *error) HAMEL_CHECKED;

/* Returns the number of entries of w, which changes only at a restart. */
static inline size_t variables_count(const variables *x) {
    return x->count;
}

/* Returns true if w = q', so that the conversions only copy. */
static inline bool variables_are_velocities(const variables *x) {
    return x->table == &variables_plain;
}

/* Returns true if q'(t, q, w) satisfies every velocity constraint for any w, so that only positions can violate
 * constraints. */
static inline bool variables_meet_constraints(const variables *x) {
    return x->table->meet_constraints;
}

/* Returns true if variables_rates reads the multipliers. */
static inline bool variables_need_multipliers(const variables *x) {
    return x->table->need_multipliers;
}

/* Sets v[n] to q'(t, q, w). On entry, v is a guess, used only if w is not linear in q'. `error` may be NULL. Returns
 * HAMEL_OK, HAMEL_SINGULAR or HAMEL_NOT_FINITE. */
hamel_status variables_velocities(variables *x, double t, const double *q, const double *w, double *v,
                                  hamel_error *error) HAMEL_CHECKED;

hamel_status variables_from_velocities(variables *x, double t, const double *q, const double *v,
                                       double *w) HAMEL_CHECKED;

/* Sets dw[count] to w' at the state that x->dynamics evaluated last. a[n] are the accelerations and lambda[m] the
 * multipliers at that state. lambda is read only if variables_need_multipliers returns true. */
static inline hamel_status variables_rates(variables *x, const double *a, const double *lambda, double *dw) {
    assert(x->count <= x->n && dw != a);
    return x->table->rates(x, a, lambda, dw);
}

/* Replaces the accelerations a[n], from which the rates dw were computed, by d/dt q'(t, q, w) with w' = dw. These are
 * the accelerations of the trajectory that is integrated. Uses the state of the last call of variables_velocities or
 * variables_from_velocities. */
static inline hamel_status variables_accelerations(variables *x, const double *dw, double *a) {
    return variables_are_velocities(x) ? HAMEL_OK : x->table->velocity_change(x, 1, x->v, dw, a);
}

/* Differentials at the state of the last conversion: dv = ∂q'/∂q dq + ∂q'/∂w dw, and dw = ∂w/∂q dq + ∂w/∂q' dv. */
static inline hamel_status variables_velocity_change(variables *x, const double *dq, const double *dw, double *dv) {
    return x->table->velocity_change(x, 0, dq, dw, dv);
}
static inline hamel_status variables_change(variables *x, const double *dq, const double *dv, double *dw) {
    assert(x->count <= x->n);
    return x->table->change(x, dq, dv, dw);
}

/* Computes absolute tolerances of w from atol[n], the absolute tolerances of the velocities, at the state of the last
 * conversion. */
static inline void variables_tolerances(const variables *x, const double *atol, double *out) {
    x->table->tolerances(x, atol, out);
}
