/* interpolation.c — interpolation of states close to a singular configuration; see singularity.h. */
#include "engine/simulate/singularity/singularity.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { PLACES = 5, DISTANCE_TRIES = 20 };
/* Weights of the states at ±d to ±5d. The weighted sum of these ten states is the value at 0 of their polynomial of
 * degree nine. */
static const double WEIGHTS[PLACES] = {5.0 / 6, -10.0 / 21, 5.0 / 28, -5.0 / 126, 1.0 / 252};
/* MOST_MARGIN is the largest accepted rank margin, relative to `least`. FASTER is the largest factor by which one try
 * changes d. Both values affect only the number of tries and the size of d. */
static const double MOST_MARGIN = 2, FASTER = 16;

bool singular_state_create(singular_state *x, arena *memory, const hamel_model *model) {
    size_t n = model->n, length = 3 * n + model->m;
    x->place = arena_alloc(memory, 2 * length + 2 * n, sizeof *x->place);
    if (!x->place) return false;
    x->q = x->place + length; /* the arrays q, v, a, lambda, ideal and nonideal are adjacent */
    x->v = x->q + n;
    x->a = x->v + n;
    x->lambda = x->a + n;
    x->ideal = x->lambda + model->m;
    x->nonideal = x->ideal + n;
    return true;
}

/* Writes the state on the constraint manifold nearest to (q + d v, v) at t + d to x->place, with accelerations and
 * multipliers. */
static hamel_status evaluate_place(singular_state *x, dynamics *k, double t, const double *q, const double *v,
                                   double d) {
    size_t n = k->model->n;
    double *to = x->place, worst = 0;
    for (size_t i = 0; i < n; i++) to[i] = q[i] + d * v[i];
    memcpy(to + n, v, n * sizeof *to);
    hamel_status status = dynamics_project(k, t + d, to, to + n, &worst, NULL);
    if (status == HAMEL_OK && !(worst < ON_CONSTRAINTS)) status = HAMEL_INCOMPATIBLE;
    return status == HAMEL_OK ? dynamics_accelerations(k, 0, 0, to + 2 * n, to + 3 * n, NULL) : status;
}

hamel_status singular_state_interpolate(singular_state *x, dynamics *k, double t, const double *q, const double *v,
                                        double d) {
    size_t n = k->model->n, length = 3 * n + k->model->m;
    hamel_status status = HAMEL_OK;
    assert(d > 0 && isfinite(d));
    memset(x->q, 0, (length + 2 * n) * sizeof *x->q);
    for (int i = 0; i < 2 * PLACES && status == HAMEL_OK; i++) {
        int multiple = i < PLACES ? i + 1 : PLACES - 1 - i;
        status = evaluate_place(x, k, t, q, v, multiple * d);
        for (size_t j = 0; j < length; j++) x->q[j] += WEIGHTS[i % PLACES] * x->place[j];
        for (size_t j = 0; j < n; j++) {
            x->ideal[j] += WEIGHTS[i % PLACES] * k->ideal[j];
            x->nonideal[j] += WEIGHTS[i % PLACES] * k->nonideal[j];
        }
    }
    return status;
}

static double margin_at(singular_state *x, dynamics *k, double t, const double *q, const double *v, double d,
                        size_t rank) {
    hamel_status status = evaluate_place(x, k, t, q, v, d);
    return status == HAMEL_OK && motion_rank(&k->motion) >= rank ? dynamics_margin(k) : 0;
}

double singular_state_distance(singular_state *x, dynamics *k, double t, const double *q, const double *v, double d,
                               double least, size_t rank) {
    for (int i = 0; i < DISTANCE_TRIES && d > 0 && isfinite(d); i++) {
        double margin = fmin(margin_at(x, k, t, q, v, d, rank), margin_at(x, k, t, q, v, -d, rank));
        if (margin >= least && margin <= MOST_MARGIN * least) return d;
        d *= margin > 0 ? fmin(FASTER, fmax(1.5 * least / margin, 1 / FASTER)) : FASTER;
    }
    return 0;
}
