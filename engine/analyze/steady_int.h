/* steady_int.h — the reduced system (s', u') of steady.h, for the files that search for steady motions. */
#pragma once

#include "engine/analyze/analysis_int.h"
#include "engine/analyze/local.h"
#include "engine/analyze/steady.h"

typedef struct steady_system {
    analysis *a;
    local_equations local;
    size_t n, m;

    /* velocities among which u is chosen: coordinate[k] is i for q'_i, otherwise −1 */
    size_t candidate_count;
    graph_node *candidate;
    int32_t *coordinate;
    local_program rates;  /* outputs: candidates, their rates, h */
    double *W;            /* 2 candidate_count + 1 */
    double *Wq, *Wv, *Wa; /* derivatives of W, n columns each */

    size_t freedom, *chosen; /* u: indices of candidates */
    bool *ignorable;         /* n */
    size_t shape_count;      /* number of other coordinates s */
    size_t *shape;           /* their indices */

    /* values set by steady_evaluate: a state, and F = (s', u', Φ) with its derivatives with respect to (s, u) */
    double t, *q, *v, *acceleration, *lambda;
    double *F, *J; /* rows, rows × (shape_count + freedom); rows = shape_count + freedom + m */
    double *terms; /* rows: size of the terms that add up to F; set with the derivatives */
    double energy; /* h at the state */
    double *E, *K, *right, *dv, *da;
    lapack_int *pivot;
    bool starved;
} steady_system;

/* Creates the system: chooses u so that as many coordinates as possible are ignorable. Sets *found to false if no choice
 * leaves an ignorable coordinate, or if a velocity constraint is not linear. Call steady_free also on failure. */
hamel_status steady_create(steady_system *s, analysis *a, bool *found) HAMEL_CHECKED;
void steady_free(steady_system *s);

static inline size_t steady_unknowns(const steady_system *s) {
    return s->shape_count + s->freedom;
}
static inline size_t steady_rows(const steady_system *s) {
    return s->shape_count + s->freedom + s->m;
}

/* Evaluates the state with coordinates q[n] and velocities u[freedom]. Computes J if `derivatives`. Returns false if the
 * velocities or accelerations are not determined or not finite. `q` may be s->q. */
bool steady_evaluate(steady_system *s, double t, const double *q, const double *u, bool derivatives);

/* Sets u to the values of the chosen velocities at (q, v). */
void steady_velocities(steady_system *s, double t, const double *q, const double *v, double *u);

/* steady_stability.c: fills the eigenvalues, the dimension of the family and the stability of the steady motion that was
 * evaluated last with derivatives. `dimension` is the dimension of the set of steady motions. */
hamel_status steady_decide(steady_system *s, size_t dimension, hamel_steady_motion *out) HAMEL_CHECKED;
