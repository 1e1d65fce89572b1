/* steady_int.h — the reduced system (s', u') of steady.h, for the files that search for steady motions. */
#pragma once

#include "engine/analyze/analysis_int.h"
#include "engine/analyze/local.h"
#include "engine/analyze/steady.h"

typedef struct steady_system {
    analysis *a;
    local_equations local;
    size_t n, m;

    /* candidates for u: coordinate[k] is i if candidate k is q'_i, otherwise −1 */
    size_t candidate_count;
    graph_node *candidate;
    int32_t *coordinate;
    local_program rates;  /* outputs: the candidates, the rates of the candidates, and h */
    double *W;            /* values of the 2 candidate_count + 1 outputs */
    double *Wq, *Wv, *Wa; /* derivatives of W with respect to q, q' and q''; n columns each */

    size_t freedom, *chosen; /* number of velocities u, and their indices among the candidates */
    bool *ignorable;         /* n */
    size_t shape_count;      /* number of coordinates s, which are not ignorable */
    size_t *shape;           /* indices of the coordinates s */

    /* values set by steady_evaluate: a state, F = (s', u', Φ), and the derivatives J of F with respect to (s, u) */
    double t, *q, *v, *acceleration, *lambda;
    double *F, *J; /* F: rows = shape_count + freedom + m entries; J: rows × (shape_count + freedom) entries */
    double *terms; /* rows: sum of the magnitudes of the terms of each entry of F; set together with J */
    double energy; /* value of h at the state */
    double *E, *K, *right, *dv, *da;
    lapack_int *pivot;
    bool starved;
} steady_system;

/* Creates the reduced system. Chooses u so that as many coordinates as possible are ignorable. Sets *found to false if
 * no choice leaves an ignorable coordinate, if the equations depend on t, or if a velocity constraint is not linear.
 * Call steady_free after success and after failure. */
hamel_status steady_create(steady_system *s, analysis *a, bool *found) HAMEL_CHECKED;
void steady_free(steady_system *s);

static inline size_t steady_unknowns(const steady_system *s) {
    return s->shape_count + s->freedom;
}
static inline size_t steady_rows(const steady_system *s) {
    return s->shape_count + s->freedom + s->m;
}

/* Evaluates the state with coordinates q[n] and velocities u[freedom]. If `derivatives` is true, also computes J.
 * Returns false if u does not determine the velocities and accelerations, or if a value is not finite. `q` and s->q may
 * be the same array. */
bool steady_evaluate(steady_system *s, double t, const double *q, const double *u, bool derivatives);

/* Stores in u[freedom] the values of the velocities u at the state (q, v). */
void steady_velocities(steady_system *s, double t, const double *q, const double *v, double *u);

/* steady_stability.c: fills the eigenvalues, family_dimension and the stability of *out. steady_evaluate must have
 * evaluated the steady motion last, with derivatives. `dimension` is the dimension of the set of steady motions. */
hamel_status steady_decide(steady_system *s, size_t dimension, hamel_steady_motion *out) HAMEL_CHECKED;
