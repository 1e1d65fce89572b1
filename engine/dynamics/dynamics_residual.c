/* dynamics_residual.c — see the header. */
#include "engine/dynamics/dynamics_residual.h"

#include "engine/base/larger.h"

#include <math.h>
#include <string.h>

/* Lower bound on the mass of a coordinate in the scaling, relative to the heaviest coordinate coupled with it. Near the
 * quaternion e = (1, 0, 0, 0) the mass of e0 vanishes, and every force would be huge relative to this mass. With this
 * bound, the scaling enlarges forces by at most 1e3. */
static const double LIGHTEST = 1e-6;

/* Lower bound on the size of the terms in a set of coupled coordinates, relative to the set with the largest terms.
 * Dense solvers spread the rounding errors of that set, 1e-16 of its size, to uncoupled sets. With this bound, the
 * errors are at most 1e-12 of the size of any set. */
static const double PASSED_ON = 1e-4;

struct dynamics_residual {
    const hamel_model *model;
    size_t *part;         /* n: representative of each coordinate's set of coupled coordinates */
    double *force, *size; /* n entries each; force: residual of each equation of motion; size: sum of its |terms| */
    double *root;         /* n: square root of the diagonal entry of M, with a lower bound */
    double *most;         /* n: at each representative, the heaviest mass of its set, later the largest scaled size */
    double *scale;        /* n: scaled size of each coordinate, later the scaled size of its set divided by `root` */
};

/* Finds the sets of coordinates coupled by M or by a row of A. Entries of a row are consecutive in the pattern. */
static void join_parts(dynamics_residual *r) {
    const hamel_model *model = r->model;
    const sparse_block *A = &model->dynamics.A;
    for (size_t i = 0; i < model->n; i++) r->part[i] = i;
    sparse_block_join(&model->dynamics.M, r->part);
    for (size_t e = 1; e < A->count; e++)
        if (A->row[e] == A->row[e - 1])
            r->part[sparse_block_root(r->part, (size_t)A->column[e])] =
                sparse_block_root(r->part, (size_t)A->column[e - 1]);
    for (size_t i = 0; i < model->n; i++) r->part[i] = sparse_block_root(r->part, i);
}

dynamics_residual *dynamics_residual_create(const hamel_model *model, arena *memory) {
    size_t n = model->n;
    dynamics_residual *r = arena_alloc(memory, 1, sizeof *r);
    if (!r) return NULL;
    *r = (dynamics_residual){.model = model, .part = arena_alloc(memory, n, sizeof *r->part)};
    if (!ARENA_DOUBLES(memory, {&r->force, n}, {&r->size, n}, {&r->root, n}, {&r->most, n}, {&r->scale, n}))
        return NULL;
    join_parts(r);
    return r;
}

static void add_residual_term(dynamics_residual *r, size_t i, double term) {
    r->force[i] += term;
    r->size[i] += fabs(term);
}

static void add_motion(dynamics_residual *r, const double *values, const double *Q, const double *R, const double *a,
                       const double *lambda) {
    const hamel_model *model = r->model;
    const double *M = values + model->dynamics.M.at, *A = values + model->dynamics.A.at;
    double *const sums[] = {r->force, r->size, r->root};
    for (size_t i = 0; i < 3; i++) memset(sums[i], 0, model->n * sizeof *r->force);
    for (size_t e = 0; e < model->dynamics.M.count; e++) {
        size_t i = (size_t)model->dynamics.M.row[e], j = (size_t)model->dynamics.M.column[e];
        add_residual_term(r, i, M[e] * a[j]);
        if (i != j)
            add_residual_term(r, j, M[e] * a[i]);
        else
            r->root[i] = fabs(M[e]);
    }
    for (size_t e = 0; e < model->dynamics.A.count; e++) {
        size_t i = (size_t)model->dynamics.A.column[e];
        double term = A[e] * lambda[model->dynamics.A.row[e]];
        if (R)
            r->size[i] += fabs(term);
        else
            add_residual_term(r, i, -term);
    }
    for (size_t i = 0; i < model->n; i++) {
        add_residual_term(r, i, -Q[i]);
        if (R) add_residual_term(r, i, -R[i]);
    }
}

/* Sets most[part] to the maximum of `values` over the coordinates of each part. Neighbors usually belong to the same
 * part, so the running maximum stays in a register. */
static void find_most(dynamics_residual *r, const double *values) {
    size_t n = r->model->n, at = 0;
    double most = 0;
    memset(r->most, 0, n * sizeof *r->most);
    for (size_t i = 0; i < n; i++) {
        if (r->part[i] != at) {
            r->most[at] = larger(r->most[at], most);
            at = r->part[i];
            most = 0;
        }
        most = larger(most, values[i]);
    }
    if (n > 0) r->most[at] = larger(r->most[at], most);
}

/* Replaces r->root by the square roots of the mass diagonal. Sets r->most to the largest scaled size of each coupled
 * set, and r->scale to this size over the root of each coordinate. */
static void find_sizes(dynamics_residual *r, const double *v) {
    const model_settings *settings = &r->model->settings;
    size_t n = r->model->n;
    double span = settings->stop - settings->start; /* INFINITY if there is no simulation */
    find_most(r, r->root);
    for (size_t i = 0; i < n; i++) {
        double heaviest = r->most[r->part[i]];
        r->root[i] = heaviest > 0 ? sqrt(larger(r->root[i], LIGHTEST * heaviest)) : 1;
    }
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        r->scale[i] = larger(r->size[i] / r->root[i], r->root[i] * fabs(v[i]) / span);
        largest = larger(largest, r->scale[i]);
    }
    find_most(r, r->scale);
    for (size_t i = 0; i < n; i++) r->most[i] = larger(r->most[i], PASSED_ON * largest);
    for (size_t i = 0; i < n; i++) r->scale[i] = r->most[r->part[i]] / r->root[i];
}

static double relative(double left, double size) {
    if (!isfinite(left) || !isfinite(size)) return INFINITY;
    return left == 0 ? 0 : fabs(left) / size;
}

/* Returns the largest relative residual of the constraints. The rounding error of a row is proportional to the usual
 * length of the row, even if the row is shorter at this state. */
static double of_constraints(const dynamics_residual *r, const double *values, const double *usual, const double *a) {
    const hamel_model *model = r->model;
    const sparse_block *A = &model->dynamics.A;
    double worst = 0;
    for (size_t c = 0, e = 0; c < model->m; c++) {
        double b = values[model->dynamics.at_b + c], left = -b, size = fabs(b), most = 0;
        for (; e < A->count && (size_t)A->row[e] == c; e++) {
            size_t i = (size_t)A->column[e];
            double entry = values[model->dynamics.A.at + e];
            left += entry * a[i];
            size += fabs(entry * a[i]) + fabs(entry) * r->scale[i];
            most = larger(most, r->scale[i]);
        }
        size = larger(size, usual[c] * most);
        worst = larger(worst, relative(left, size));
    }
    return worst;
}

equation_residual dynamics_residual_of(dynamics_residual *r, const double *values, const double *v, const double *Q,
                                       const double *R, const double *usual, const double *a, const double *lambda) {
    equation_residual missed = {0, 0};
    add_motion(r, values, Q, R, a, lambda);
    find_sizes(r, v);
    for (size_t i = 0; i < r->model->n; i++)
        missed.motion = larger(missed.motion, relative(r->force[i], r->most[r->part[i]] * r->root[i]));
    missed.constraints = of_constraints(r, values, usual, a);
    return missed;
}
