/* dynamics_project.c — constraint residuals, and projections onto the constraints in the metric of M. */
#include "engine/dynamics/dynamics.h"

#include "engine/base/larger.h"
#include "engine/linear/newton_progress.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Computes the scales Σ |A_ci| max(1, |x_i|) of a level. The rounding error of a residual is about ε times the
 * scale. */
static void find_scales(dynamics *k, bool position) {
    const sparse_block *A = &k->model->dynamics.A; /* sorted by rows */
    const double *values = k->values + k->model->dynamics.A.at, *x = position ? k->q : k->v;
    double *scale = position ? k->position_scale : k->velocity_scale;
    size_t e = 0;
    for (size_t c = 0; c < k->model->m; c++) {
        double sum = 0;
        for (; e < A->count && (size_t)A->row[e] == c; e++) {
            double size = fabs(x[A->column[e]]);
            sum += fabs(values[e]) * (size > 1 ? size : 1);
        }
        scale[c] = larger(sum, k->survey.usual[c]);
    }
}

static double ratio(double residual, double scale) {
    return residual == 0 ? 0 : fabs(residual) / (scale > 0 ? scale : 1);
}

double dynamics_scaled(const dynamics *k, size_t c, bool position) {
    assert(c < k->model->m);
    return ratio(dynamics_level(k, position)[c], (position ? k->position_scale : k->velocity_scale)[c]);
}

/* Returns the largest residual of a level relative to its scale. */
static double largest_residual(dynamics *k, bool position) {
    const double *residual = dynamics_level(k, position), *scale = position ? k->position_scale : k->velocity_scale;
    double largest = 0;
    for (size_t c = 0; c < k->model->m; c++) {
        if (!(fabs(residual[c]) > largest * scale[c])) continue; /* saves most divisions */
        double here = ratio(residual[c], scale[c]);
        if (here > largest) largest = here;
    }
    return largest;
}

void dynamics_residuals(dynamics *k, double *position, double *velocity) {
    find_scales(k, true);
    find_scales(k, false);
    *position = largest_residual(k, true);
    *velocity = largest_residual(k, false);
}

/* Computes the step for the residuals −k->b by a program. Returns false if there is no such program, or if a pivot is
 * too small to trust the result. */
static bool correct_at_once(dynamics *k, bool position, double *step) {
    const program *correction = model_correction(k->model, position);
    const double *solved = k->solved, *pivots = solved + k->model->n;
    if (!correction || k->rest > 0 || k->singular_mass || k->masked_count > 0 ||
        kkt_expects_redundancy(dynamics_system(k, position)))
        return false;
    program_inputs in = k->solved_from;
    in.values[SYMBOL_COORDINATE] = k->q;
    in.values[SYMBOL_VELOCITY] = k->v;
    in.values[SYMBOL_MULTIPLIER] = k->b;
    program_evaluate(correction, &in, position ? k->positions_work : k->velocities_work, k->solved);
    if (!(pivots[0] > 0 && pivots[1] > CHOLESKY_RANK_TOLERANCE)) return false;
    for (size_t i = 0; i < k->model->n; i++) {
        if (!isfinite(solved[i])) return false;
        step[i] = solved[i];
    }
    return true;
}

/* Computes one Newton step of a level. */
static hamel_status correct_level(dynamics *k, bool position, double *step) {
    const double *residual = dynamics_level(k, position);
    kkt *system = dynamics_system(k, position);
    for (size_t c = 0; c < k->model->m; c++) k->b[c] = -residual[c];
    if (correct_at_once(k, position, step)) return HAMEL_OK;
    hamel_status status = kkt_factor(system, k->values);
    return status == HAMEL_OK ? kkt_solve(system, NULL, k->b, INFINITY, step, NULL) : status;
}

hamel_status dynamics_approach_positions(dynamics *k, double rate, double *dq) {
    hamel_status status = correct_level(k, true, k->project_step);
    for (size_t j = 0; status == HAMEL_OK && j < k->model->n; j++) dq[j] += rate * k->project_step[j];
    return status;
}

/* Returns true if all residuals of the positions (or of the velocities) are exactly 0, for example because there are no
 * such constraints. */
static bool is_exact(const dynamics *k, bool position) {
    const double *residual = dynamics_level(k, position);
    size_t c = 0;
    while (c < k->model->m && residual[c] == 0) c++;
    return c == k->model->m;
}

static hamel_status project_level(dynamics *k, double t, double *q, double *v, double *step, bool position,
                                  double *worst, hamel_error *error) {
    double before = INFINITY;
    *worst = 0;
    if (is_exact(k, position)) return HAMEL_OK; /* saves the scales */
    for (int i = 0; i < PROJECT_ITERATIONS; i++) {
        if (!(before < SHORT_STEP)) find_scales(k, position);
        *worst = largest_residual(k, position);
        if (newton_has_ended(&before, *worst, NEWTON_RESIDUAL)) return HAMEL_OK;
        double *x = position ? q : v;
        hamel_status status = correct_level(k, position, step);
        if (status != HAMEL_OK) return error ? dynamics_explain(k, status, error) : status;
        for (size_t j = 0; j < k->model->n; j++) x[j] += step[j];
        status = dynamics_evaluate(k, t, q, v, error);
        if (status != HAMEL_OK) return status;
    }
    *worst = largest_residual(k, position);
    return HAMEL_OK;
}

hamel_status dynamics_project(dynamics *k, double t, double *q, double *v, double *worst, hamel_error *error) {
    assert(q != v && q != k->project_step && v != k->project_step);
    double *step = k->project_step, position = 0, velocity = 0;
    hamel_status status = dynamics_evaluate(k, t, q, v, error);
    *worst = 0;
    if (k->model->m == 0 || status != HAMEL_OK) return status;
    status = project_level(k, t, q, v, step, true, &position, error);
    if (status == HAMEL_OK) status = project_level(k, t, q, v, step, false, &velocity, error);
    *worst = fmax(position, velocity);
    return status;
}

bool dynamics_has_level(const dynamics *k, bool position) {
    for (size_t c = 0; c < k->model->m; c++)
        if (k->discrete_state.active[c] && is_of_level(k->model->order[c], position)) return true;
    return false;
}

hamel_status dynamics_project_direction(dynamics *k, double *dq, double *dv) {
    const hamel_model *model = k->model;
    double *step = k->project_step, *r = k->b, *d[2] = {dq, dv};
    for (int level = 0; level < 2; level++) {
        if (!dynamics_has_level(k, level == 0)) continue;
        kkt *system = dynamics_system(k, level == 0);
        memset(r, 0, model->m * sizeof *r);
        sparse_block_multiply(&model->dynamics.A, k->values, -1, d[level], r);
        hamel_status status = kkt_factor(system, k->values);
        if (status == HAMEL_OK) status = kkt_solve(system, NULL, r, INFINITY, step, NULL);
        if (status != HAMEL_OK) return status;
        for (size_t j = 0; j < model->n; j++) d[level][j] += step[j];
    }
    return HAMEL_OK;
}
