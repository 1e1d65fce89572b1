/* dynamics_residual.c — see the header. */
#include "engine/solve/dynamics_residual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A coordinate counts as no lighter than this part of the heaviest one that it is coupled with. Near e = (1, 0, 0, 0) the
 * mass of e0 vanishes, and relative to it every force would be huge. */
static const double LIGHTEST = 1e-6;

/* Dense solvers pass rounding on between parts that do not touch: sizes of a part count as no smaller than this part of the
 * largest, so that such rounding is 1e-12 beside it. */
static const double PASSED_ON = 1e-4;

struct dynamics_residual {
    const hamel_model *model;
    size_t *part;         /* n: one of the coordinates that this one is coupled with, the same for all of them */
    double *force, *size; /* n: what is left of a row, and the sum of its absolute terms */
    double *root;         /* n: of the diagonal entry of M */
    double *most;         /* n, of a part: the heaviest mass, then the largest scaled size */
};

static size_t part_of(size_t *part, size_t i) {
    while (part[i] != i) i = part[i] = part[part[i]];
    return i;
}

/* Joins the coordinates in the columns of each row of A, which are neighbours in the pattern. */
static void join(dynamics_residual *r) {
    const hamel_model *model = r->model;
    const model_pattern *M = &model->M, *A = &model->A;
    for (size_t i = 0; i < model->n; i++) r->part[i] = i;
    for (size_t e = 0; e < M->count; e++)
        r->part[part_of(r->part, (size_t)M->row[e])] = part_of(r->part, (size_t)M->column[e]);
    for (size_t e = 1; e < A->count; e++)
        if (A->row[e] == A->row[e - 1])
            r->part[part_of(r->part, (size_t)A->column[e])] = part_of(r->part, (size_t)A->column[e - 1]);
    for (size_t i = 0; i < model->n; i++) r->part[i] = part_of(r->part, i);
}

dynamics_residual *dynamics_residual_create(const hamel_model *model) {
    dynamics_residual *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    size_t n = model->n;
    r->model = model;
    r->part = calloc(n + 1, sizeof *r->part);
    r->force = calloc(4 * n + 1, sizeof *r->force);
    if (!r->part || !r->force) {
        dynamics_residual_free(r);
        return NULL;
    }
    r->size = r->force + n;
    r->root = r->size + n;
    r->most = r->root + n;
    join(r);
    return r;
}

void dynamics_residual_free(dynamics_residual *r) {
    if (!r) return;
    free(r->part);
    free(r->force); /* the block of all doubles */
    free(r);
}

static void add(dynamics_residual *r, size_t i, double term) {
    r->force[i] += term;
    r->size[i] += fabs(term);
}

static void add_motion(dynamics_residual *r, const double *values, const double *Q, const double *R, const double *a,
                       const double *lambda) {
    const hamel_model *model = r->model;
    const double *M = values + model->at_M, *A = values + model->at_A;
    memset(r->force, 0, 3 * model->n * sizeof *r->force); /* and size, and root */
    for (size_t e = 0; e < model->M.count; e++) {
        size_t i = (size_t)model->M.row[e], j = (size_t)model->M.column[e];
        add(r, i, M[e] * a[j]);
        if (i != j)
            add(r, j, M[e] * a[i]);
        else
            r->root[i] = fabs(M[e]);
    }
    for (size_t e = 0; e < model->A.count; e++) {
        size_t i = (size_t)model->A.column[e];
        double term = A[e] * lambda[model->A.row[e]];
        if (R)
            r->size[i] += fabs(term);
        else
            add(r, i, -term);
    }
    for (size_t i = 0; i < model->n; i++) {
        add(r, i, -Q[i]);
        if (R) add(r, i, -R[i]);
    }
}

/* Roots of masses; r->most := the largest scaled size of a part. */
static void find_sizes(dynamics_residual *r, const double *v) {
    const model_settings *settings = &r->model->settings;
    size_t n = r->model->n;
    double span = settings->stop - settings->start; /* INFINITY where nothing runs */
    memset(r->most, 0, n * sizeof *r->most);
    for (size_t i = 0; i < n; i++) r->most[r->part[i]] = fmax(r->most[r->part[i]], r->root[i]);
    for (size_t i = 0; i < n; i++) {
        double heaviest = r->most[r->part[i]];
        r->root[i] = heaviest > 0 ? sqrt(fmax(r->root[i], LIGHTEST * heaviest)) : 1;
    }
    memset(r->most, 0, n * sizeof *r->most);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double size = fmax(r->size[i] / r->root[i], r->root[i] * fabs(v[i]) / span);
        r->most[r->part[i]] = fmax(r->most[r->part[i]], size);
        largest = fmax(largest, size);
    }
    for (size_t i = 0; i < n; i++) r->most[i] = fmax(r->most[i], PASSED_ON * largest);
}

static double relative(double left, double size) {
    if (!isfinite(left) || !isfinite(size)) return INFINITY;
    return left == 0 ? 0 : fabs(left) / size;
}

/* A row that is shorter than usual keeps the rounding of its usual length. */
static double of_constraints(const dynamics_residual *r, const double *values, const double *usual, const double *a) {
    const hamel_model *model = r->model;
    const model_pattern *A = &model->A;
    double worst = 0;
    for (size_t c = 0, e = 0; c < model->m; c++) {
        double b = values[model->at_b + c], left = -b, size = fabs(b), most = 0;
        for (; e < A->count && (size_t)A->row[e] == c; e++) {
            size_t i = (size_t)A->column[e];
            double entry = values[model->at_A + e];
            left += entry * a[i];
            size += fabs(entry * a[i]) + fabs(entry) * r->most[r->part[i]] / r->root[i];
            most = fmax(most, r->most[r->part[i]] / r->root[i]);
        }
        size = fmax(size, usual[c] * most);
        worst = fmax(worst, relative(left, size));
    }
    return worst;
}

dynamics_missed dynamics_residual_of(dynamics_residual *r, const double *values, const double *v, const double *Q,
                                     const double *R, const double *usual, const double *a, const double *lambda) {
    dynamics_missed missed = {0, 0};
    add_motion(r, values, Q, R, a, lambda);
    find_sizes(r, v);
    for (size_t i = 0; i < r->model->n; i++)
        missed.motion = fmax(missed.motion, relative(r->force[i], r->most[r->part[i]] * r->root[i]));
    missed.constraints = of_constraints(r, values, usual, a);
    return missed;
}
