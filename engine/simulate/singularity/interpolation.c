/* across.c — see the header. */
#include "engine/simulate/across.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 5, TRIES = 20 };
/* Of ±1 to ±5: the polynomial of degree nine through all ten, at 0. */
static const double WEIGHTS[PLACES] = {5.0 / 6, -10.0 / 21, 5.0 / 28, -5.0 / 126, 1.0 / 252};
static const double ON_CONSTRAINTS = 1e-9; /* scaled residual; projections reach rounding, far below */
static const double MOST = 2, FASTER = 16; /* times the margin that is wanted; the distance at once */

bool across_create(across *x, const hamel_model *model) {
    size_t n = model->n;
    *x = (across){.memory = calloc(8 * n + 2 * model->m + 1, sizeof *x->memory)};
    if (!x->memory) return false;
    x->q = x->memory + 3 * n + model->m; /* after the state that is visited */
    x->v = x->q + n;
    x->a = x->v + n;
    x->lambda = x->a + n;
    x->reaction = x->lambda + model->m;
    return true;
}

void across_free(across *x) {
    free(x->memory);
    *x = (across){0};
}

/* The state on the constraints nearest to the one a time d further along the velocity, in x->memory. */
static hamel_status visit(across *x, kinetics *k, double t, const double *q, const double *v, double d) {
    size_t n = k->model->n;
    double *to = x->memory, worst = 0;
    for (size_t i = 0; i < n; i++) to[i] = q[i] + d * v[i];
    memcpy(to + n, v, n * sizeof *to);
    hamel_status status = kinetics_project(k, t + d, to, to + n, &worst, NULL);
    if (status == HAMEL_OK && !(worst < ON_CONSTRAINTS)) status = HAMEL_INCOMPATIBLE;
    return status == HAMEL_OK ? kinetics_accelerations(k, 0, 0, to + 2 * n, to + 3 * n, NULL) : status;
}

hamel_status across_find(across *x, kinetics *k, double t, const double *q, const double *v, double d) {
    size_t n = k->model->n, length = 3 * n + k->model->m;
    hamel_status status = HAMEL_OK;
    memset(x->q, 0, (length + 2 * n) * sizeof *x->q);
    for (int i = 0; i < 2 * PLACES && status == HAMEL_OK; i++) {
        int place = i < PLACES ? i + 1 : PLACES - 1 - i;
        status = visit(x, k, t, q, v, place * d);
        for (size_t j = 0; j < length; j++) x->q[j] += WEIGHTS[i % PLACES] * x->memory[j];
        for (size_t j = 0; j < 2 * n; j++) x->reaction[j] += WEIGHTS[i % PLACES] * k->ideal[j];
    }
    return status;
}

static double margin_at(across *x, kinetics *k, double t, const double *q, const double *v, double d, size_t rank) {
    hamel_status status = visit(x, k, t, q, v, d);
    return status == HAMEL_OK && motion_rank(&k->motion) >= rank ? kinetics_margin(k) : 0;
}

double across_distance(across *x, kinetics *k, double t, const double *q, const double *v, double d, double least,
                       size_t rank) {
    for (int i = 0; i < TRIES && d > 0 && isfinite(d); i++) {
        double margin = fmin(margin_at(x, k, t, q, v, d, rank), margin_at(x, k, t, q, v, -d, rank));
        if (margin >= least && margin <= MOST * least) return d;
        d *= margin > 0 ? fmin(FASTER, fmax(1.5 * least / margin, 1 / FASTER)) : FASTER;
    }
    return 0;
}
