/* variables_int.h — a kind of velocity variables: a table of functions over a workspace of its own.
 *
 * The functions are those of variables.h; a map is called with the state already kept in x->t, x->q, x->v. */
#ifndef HAMEL_SOLVE_VARIABLES_INT_H
#define HAMEL_SOLVE_VARIABLES_INT_H

#include "engine/solve/variables.h"

typedef struct variables_table {
    bool meet_constraints, need_multipliers;
    /* Sets x->count and x->own at the consistent state kept. */
    hamel_status (*open)(variables *x, hamel_error *error);
    void (*close)(variables *x);
    /* x->v holds the guess and takes the result. */
    hamel_status (*velocities)(variables *x, const double *w, hamel_error *error);
    hamel_status (*from_velocities)(variables *x, double *w);
    hamel_status (*rates)(variables *x, const double *a, const double *lambda, double *dw);
    /* NULL: kinetics' own are the rates. */
    hamel_status (*accelerations)(variables *x, const double *dw, double *a);
    hamel_status (*velocity_change)(variables *x, const double *dq, const double *dw, double *dv);
    hamel_status (*change)(variables *x, const double *dq, const double *dv, double *dw);
    void (*tolerances)(const variables *x, const double *atol, double *out);
} variables_table;

extern const variables_table variables_momenta, variables_noncyclic;

struct variables {
    const variables_table *table;
    kinetics *kinetics;
    size_t n, count;
    double t, *q, *v; /* the state given last; n each, its own */
    void *own;        /* of the kind */
};

#endif
