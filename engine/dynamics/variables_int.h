/* variables_int.h — interface of a kind of velocity variables: a table of functions and a workspace.
 *
 * Each entry implements the function of the same name in variables.h at the state x->t, x->q, x->v. */
#pragma once

#include "engine/dynamics/variables.h"

typedef struct variables_table {
    bool meet_constraints, need_multipliers;
    /* Sets x->count and x->own for the consistent state in x; allocates from x->memory. */
    hamel_status (*open)(variables *x, hamel_error *error);
    /* x->v is the guess on entry and the result on return. */
    hamel_status (*velocities)(variables *x, const double *w, hamel_error *error);
    hamel_status (*from_velocities)(variables *x, double *w);
    hamel_status (*rates)(variables *x, const double *a, const double *lambda, double *dw);
    /* NULL: the accelerations of `dynamics` are used unchanged. */
    hamel_status (*accelerations)(variables *x, const double *dw, double *a);
    hamel_status (*velocity_change)(variables *x, const double *dq, const double *dw, double *dv);
    hamel_status (*change)(variables *x, const double *dq, const double *dv, double *dw);
    void (*tolerances)(const variables *x, const double *atol, double *out);
} variables_table;

extern const variables_table variables_momenta, variables_noncyclic;

struct variables {
    const variables_table *table;
    dynamics *dynamics;
    size_t n, count;
    double t, *q, *v; /* state of the last conversion; q, v: n each, owned */
    arena memory;     /* holds q, v and the workspace */
    void *own;        /* workspace of the kind */
};
