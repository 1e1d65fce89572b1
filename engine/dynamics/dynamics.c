/* kinetics.c — one evaluation of the dynamics program serves accelerations, residuals and projections alike. */
#include "engine/solve/kinetics.h"

#include "engine/base/finite.h"
#include "engine/base/monotonic.h"
#include "engine/base/random.h"
#include "engine/base/text_buffer.h"
#include "engine/solve/mass_rank.h"
#include "engine/solve/redundancy.h"
#include "engine/solve/singular_angles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Dependent constraints may disagree by this much, relative to the right side: consistent states leave rounding only,
 * states between projections the tolerance of the integration. */
static const double CONTRADICTION = 1e-3;
/* Rows at an instant at which they become dependent, as far as it can be found; beside it, of the margin. */
static const double DEPENDENT = 1e-5, NEARLY = 10;
enum { FORCE_ITERATIONS = 60, PROJECT_ITERATIONS = 12 };
enum { MASS_STATES = 3 };         /* at which a mass matrix that is always singular has been found so */
static const double BESIDE = 0.5; /* how far apart, relative to 1 or the coordinate */

static bool has_mixed_rows(const hamel_model *model, constraint_order order, bool equal) {
    for (size_t c = 0; c < model->m; c++)
        if ((model->order[c] == order) == equal) return true;
    return false;
}

/* The rows of corrections are often all rows: then one factorization serves. */
static bool create_systems(kinetics *k) {
    const hamel_model *model = k->model;
    bool forces = model->W.count > 0;
    if (!(k->all = kkt_create(model, KKT_ALL))) return false;
    bool holonomic_only = !has_mixed_rows(model, CONSTRAINT_HOLONOMIC, false) && !forces;
    bool no_acceleration = !has_mixed_rows(model, CONSTRAINT_ACCELERATION, true) && !forces;
    k->positions = holonomic_only ? k->all : kkt_create(model, KKT_HOLONOMIC);
    k->velocities = no_acceleration ? k->all : kkt_create(model, KKT_NO_ACCELERATION);
    if (model->needs_free && !(k->mass = kkt_create(model, KKT_NONE))) return false;
    return k->positions && k->velocities;
}

/* Which entries of the dynamics program's values belong to constraints that are not active. */
static void mask_values(kinetics *k) {
    const hamel_model *model = k->model;
    const bool *active = k->mode.active;
    size_t count = 0;
    for (size_t e = 0; e < model->A.count; e++)
        if (!active[model->A.row[e]]) k->masked[count++] = model->at_A + e;
    for (size_t c = 0; c < model->m; c++) {
        if (active[c]) continue;
        k->masked[count++] = model->at_b + c;
        k->masked[count++] = model->at_velocity + c;
        k->masked[count++] = model->at_position + c;
    }
    k->masked_count = count;
}

hamel_status kinetics_select(kinetics *k, const bool *active) {
    memmove(k->mode.active, active, k->model->m * sizeof *active);
    mask_values(k);
    if (k->motion.frame) frame_release(k->motion.frame);
    row_survey_drop(k);
    hamel_status status = kkt_select(k->all, active);
    if (status == HAMEL_OK && k->positions != k->all) status = kkt_select(k->positions, active);
    if (status == HAMEL_OK && k->velocities != k->all) status = kkt_select(k->velocities, active);
    return status;
}

kinetics_memory kinetics_remember(kinetics *k) {
    if (k->motion.frame) frame_remember(k->motion.frame);
    return (kinetics_memory){k->rest, kkt_remember(k->all), kkt_remember(k->positions), kkt_remember(k->velocities)};
}

void kinetics_recall(kinetics *k, const kinetics_memory *memory) {
    k->rest = memory->rest;
    if (k->motion.frame) frame_recall(k->motion.frame);
    kkt_recall(k->all, memory->all);
    kkt_recall(k->positions, memory->positions);
    kkt_recall(k->velocities, memory->velocities);
}

/* Finds whether M is singular at the initial values, which may be special, and near them. If M is not finite there, it
 * counts as regular. False without memory. */
static bool find_mass_rank(kinetics *k) {
    const hamel_model *model = k->model;
    double *q = k->project_step;
    uint64_t seed = 1;
    memcpy(q, model->q0, model->n * sizeof *q);
    for (int state = 0; state < MASS_STATES; state++) {
        hamel_status status = kinetics_evaluate(k, model->settings.start, q, model->v0, NULL);
        if (status == HAMEL_OK) status = mass_is_singular(model, k->values + model->at_M, &k->singular_mass);
        if (status == HAMEL_NO_MEMORY) return false;
        if (status == HAMEL_OK && !k->singular_mass) return true;
        for (size_t i = 0; i < model->n; i++)
            q[i] = model->q0[i] + random_uniform(&seed, -BESIDE, BESIDE) * (1 + fabs(model->q0[i]));
    }
    if (!k->singular_mass) return true;
    kkt *const systems[] = {k->all, k->positions, k->velocities, k->mass};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (systems[i]) kkt_expect_singular(systems[i]);
    return true;
}

/* The constraints that are active at the start. */
static bool create_mode(kinetics *k) {
    const hamel_model *model = k->model;
    k->masked = calloc(model->A.count + 3 * model->m + 1, sizeof *k->masked);
    if (!mode_create(&k->mode, model) || !k->masked) return false;
    bool all = true;
    for (size_t c = 0; c < model->m; c++) all = all && model->active[c];
    return all || kinetics_select(k, model->active) == HAMEL_OK;
}

kinetics *kinetics_create(const hamel_model *model) {
    kinetics *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->model = model;
    k->values = calloc(model->dynamics_count + 5 * model->m + 4 * model->n + ACCELERATIONS_BESIDE, sizeof *k->values);
    k->dynamics_work = calloc(program_workspace_doubles(model->dynamics) + 1, sizeof *k->dynamics_work);
    k->observed_work = calloc(program_workspace_doubles(model->observed) + 1, sizeof *k->observed_work);
    k->rate_work =
        calloc((model->energy_rate ? program_workspace_doubles(model->energy_rate) : 0) + 1, sizeof *k->rate_work);
    const program *accelerations = model->accelerations;
    k->accelerations_work =
        calloc((accelerations ? program_workspace_doubles(accelerations) : 0) + 1, sizeof *k->accelerations_work);
    k->nonideal_work =
        calloc((model->nonideal ? program_workspace_doubles(model->nonideal) : 0) + 1, sizeof *k->nonideal_work);
    if (model->friction_count && !(k->friction = friction_create(model))) {
        kinetics_free(k);
        return NULL;
    }
    k->residual = dynamics_residual_create(model);
    k->survey.usual = calloc(model->m + 2 * model->n + 1, sizeof *k->survey.usual);
    if (k->survey.usual) k->survey.state = k->survey.usual + model->m;
    if (!k->survey.usual || !k->residual || !k->nonideal_work || !k->accelerations_work || !k->values ||
        !k->dynamics_work || !k->observed_work || !k->rate_work || !create_systems(k) ||
        !motion_solver_create(&k->motion, model, &k->mode, k->all) || !create_mode(k)) {
        kinetics_free(k);
        return NULL;
    }
    k->lambda = k->values + model->dynamics_count;
    k->b = k->lambda + model->m;
    k->position_scale = k->b + model->m;
    k->velocity_scale = k->position_scale + model->m;
    k->project_step = k->velocity_scale + model->m;
    k->ideal = k->project_step + model->n;
    k->nonideal = k->ideal + model->n;
    k->solved = k->nonideal + model->n;
    k->solved_from = model_inputs(model, &k->t, NULL, NULL, NULL, NULL, NULL);
    k->solved_from.values[SYMBOL_BRANCH] = k->mode.branches;
    k->solved_from.values[SYMBOL_STABILIZATION] = k->stabilization;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->dynamics, &in, k->dynamics_work);
    program_prepare(model->observed, &in, k->observed_work);
    if (accelerations) program_prepare(accelerations, &in, k->accelerations_work);
    if (model->energy_rate) program_prepare(model->energy_rate, &in, k->rate_work);
    if (model->nonideal) program_prepare(model->nonideal, &in, k->nonideal_work);
    if (find_mass_rank(k)) return k;
    kinetics_free(k);
    return NULL;
}

void kinetics_free(kinetics *k) {
    if (!k) return;
    if (k->positions != k->all) kkt_free(k->positions);
    if (k->velocities != k->all) kkt_free(k->velocities);
    kkt_free(k->mass);
    friction_free(k->friction);
    dynamics_residual_free(k->residual);
    reduced_free(k->other_reduced);
    free(k->other_a);
    motion_solver_free(&k->motion);
    kkt_free(k->all);
    free(k->values);
    free(k->dynamics_work);
    free(k->accelerations_work);
    free(k->observed_work);
    free(k->rate_work);
    free(k->nonideal_work);
    free(k->survey.usual);
    mode_free(&k->mode);
    free(k->masked);
    free(k);
}

void kinetics_limit(kinetics *k, hamel_poll *poll, double deadline) {
    k->poll = poll;
    k->deadline = deadline;
}

static bool is_stopped(const kinetics *k) {
    return hamel_ask(k->poll) != HAMEL_OK || (k->deadline > 0 && monotonic_coarse() > k->deadline);
}

static hamel_status evaluate(kinetics *k, hamel_error *error) {
    const hamel_model *model = k->model;
    program_inputs in = model_inputs(model, &k->t, k->q, k->v, NULL, k->lambda, NULL);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    program_evaluate(model->dynamics, &in, k->dynamics_work, k->values);
    for (size_t i = 0; i < k->masked_count; i++) k->values[k->masked[i]] = 0;
    if (all_finite(k->values, model->dynamics_count)) return HAMEL_OK;
    if (!error) return HAMEL_NOT_FINITE;
    return model_not_finite(model, model->dynamics, &in, k->dynamics_work, k->t, "",
                            "a value in the equations of motion", error);
}

hamel_status kinetics_evaluate_again(kinetics *k, hamel_error *error) {
    return evaluate(k, error);
}

hamel_status kinetics_evaluate(kinetics *k, double t, const double *q, const double *v, hamel_error *error) {
    k->t = t;
    k->q = q;
    k->v = v;
    if (is_stopped(k)) return HAMEL_CANCELED;
    if (!k->held) mode_choose_branches(&k->mode, t, q, v);
    if (k->model->W.count) memset(k->lambda, 0, k->model->m * sizeof *k->lambda);
    return evaluate(k, error);
}

static void stabilized(kinetics *k, double alpha, double beta) {
    const hamel_model *model = k->model;
    const double *b = k->values + model->at_b, *velocity = kinetics_velocity(k), *position = kinetics_position(k);
    for (size_t c = 0; c < model->m; c++) {
        double damping =
            model->order[c] == CONSTRAINT_HOLONOMIC ? 2 * alpha : alpha; /* first order in f alone: f' = −αf */
        k->b[c] = b[c] - damping * velocity[c] - beta * beta * position[c];
    }
}

bool kinetics_needs_multipliers(const kinetics *k) {
    return k->model->W.count > 0 || k->model->nonideal || k->friction;
}

/* Solves the factored system for the forces g; with what is not ideal, when `whole`, Coulomb friction too. */
static hamel_status solve_factored(kinetics *k, const double *g, bool whole, double *a, double *lambda,
                                   hamel_error *error) {
    hamel_status status = motion_solve(&k->motion, g, k->b, CONTRADICTION, a, lambda);
    if (status != HAMEL_OK || !whole || !k->friction) return status;
    return friction_solve(k->friction, &k->motion, k->values, g, k->b, CONTRADICTION, k->t, a, lambda, error);
}

/* Q with its linear part in λ taken to the left side: g = Q(λ) − W λ, from the multipliers in k->lambda on. C (may be
 * NULL) acts beside it. */
static hamel_status solve_with_forces(kinetics *k, const double *C, double *a, double *lambda, hamel_error *error) {
    const hamel_model *model = k->model;
    double *g = k->values + model->at_Q; /* overwritten: evaluated afresh in each iteration */
    double change = 0;
    for (int iteration = 0; iteration < FORCE_ITERATIONS; iteration++) {
        hamel_status status = iteration || C ? evaluate(k, error) : HAMEL_OK;
        if (status == HAMEL_OK) status = motion_factor(&k->motion, k->t, k->q, k->v, k->values);
        if (status != HAMEL_OK) return status;
        for (size_t e = 0; e < model->W.count; e++)
            g[model->W.row[e]] -= k->values[model->at_W + e] * k->lambda[model->W.column[e]];
        for (size_t i = 0; C && i < model->n; i++) g[i] += C[i];
        status = solve_factored(k, g, C != NULL, a, lambda, error);
        if (status != HAMEL_OK) return status;
        double size = 0;
        change = 0;
        for (size_t c = 0; c < model->m; c++) {
            change = fmax(change, fabs(lambda[c] - k->lambda[c]));
            size = fmax(size, fabs(lambda[c]));
            k->lambda[c] = lambda[c];
        }
        if (change <= 1e-13 * size || size == 0) return HAMEL_OK;
    }
    if (error)
        (void)hamel_fail(error, HAMEL_SINGULAR, "/generalized_forces", 0,
                         "at t = %.9g the forces that contain multipliers have no solution, or several (Painlevé)",
                         k->t);
    return HAMEL_SINGULAR;
}

/* out := Aᵀ λ of the first `count` constraints. */
static void reaction(const kinetics *k, const double *lambda, size_t count, double *out) {
    const hamel_model *model = k->model;
    memset(out, 0, model->n * sizeof *out);
    for (size_t e = 0; e < model->A.count && (size_t)model->A.row[e] < count; e++)
        out[model->A.column[e]] += k->values[model->at_A + e] * lambda[model->A.row[e]];
}

/* k->nonideal := C for the ideal multipliers. */
static hamel_status prescribed_forces(kinetics *k, const double *lambda, hamel_error *error) {
    const hamel_model *model = k->model;
    memset(k->nonideal, 0, model->n * sizeof *k->nonideal);
    if (!model->nonideal) return HAMEL_OK;
    program_inputs in = model_inputs(model, &k->t, k->q, k->v, NULL, lambda, NULL);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    in.values[SYMBOL_IDEAL] = k->ideal;
    program_evaluate(model->nonideal, &in, k->nonideal_work, k->nonideal);
    if (all_finite(k->nonideal, model->n)) return HAMEL_OK;
    return error ? model_not_finite(model, model->nonideal, &in, k->nonideal_work, k->t, "/constraints",
                                    "a nonideal force", error)
                 : HAMEL_NOT_FINITE;
}

/* Udwadia 2000, eq. 28. On entry a and lambda hold the ideal solution and the system is factored. The prescribed force acts
 * beside Q; the constraints answer it ideally, so what they exert in all is Aᵀλ + C, and F|λ| by friction. What
 * holds a point that sticks is friction, too, though it is found as a reaction. */
static hamel_status add_nonideal(kinetics *k, double *a, double *lambda, hamel_error *error) {
    const hamel_model *model = k->model;
    double *g = k->values + model->at_Q, *C = k->nonideal, *total = k->project_step;
    reaction(k, lambda, model->ideal_count, k->ideal);
    hamel_status status = prescribed_forces(k, lambda, error);
    if (status != HAMEL_OK) return status;
    if (model->W.count) {
        status = solve_with_forces(k, C, a, lambda, error);
    } else {
        for (size_t i = 0; i < model->n; i++) g[i] += C[i];
        status = solve_factored(k, g, true, a, lambda, error);
        for (size_t i = 0; i < model->n; i++) g[i] -= C[i];
    }
    reaction(k, lambda, model->m, total);
    if (k->friction) friction_add_forces(model, k->values, lambda, total);
    for (size_t i = 0; i < model->n; i++) k->nonideal[i] += total[i] - k->ideal[i];
    return status;
}

hamel_status kinetics_accelerations(kinetics *k, double alpha, double beta, double *a, double *lambda,
                                    hamel_error *error) {
    const hamel_model *model = k->model;
    hamel_status status;
    size_t faults = error ? error->count : 0;
    if (is_stopped(k)) return HAMEL_CANCELED;
    stabilized(k, alpha, beta);
    if (model->W.count) {
        status = solve_with_forces(k, NULL, a, lambda, error);
    } else {
        status = motion_factor(&k->motion, k->t, k->q, k->v, k->values);
        if (status == HAMEL_OK) status = solve_factored(k, k->values + model->at_Q, false, a, lambda, error);
    }
    if (status == HAMEL_OK && (model->nonideal || k->friction)) status = add_nonideal(k, a, lambda, error);
    if (status == HAMEL_NOT_FINITE || model->W.count) return status;
    return status == HAMEL_OK || !error || error->count > faults ? status : kinetics_explain(k, status, error);
}

/* By the program `accelerations`; false where what it finds is not to be trusted. */
static bool solve_at_once(kinetics *k, double alpha, double beta, double *a, double *lambda) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m;
    const double *solved = k->solved, *beside = solved + n + m;
    k->stabilization[0] = alpha;
    k->stabilization[1] = beta * beta;
    k->solved_from.values[SYMBOL_COORDINATE] = k->q;
    k->solved_from.values[SYMBOL_VELOCITY] = k->v;
    program_evaluate(model->accelerations, &k->solved_from, k->accelerations_work, k->solved);
    if (!(beside[0] > 0 && beside[1] > KKT_DEPENDENT)) return false;
    for (size_t i = 0; i < n + m; i++) { /* one by one: just stored so, they would stall wider loads */
        if (!isfinite(solved[i])) return false;
        if (i < n)
            a[i] = solved[i];
        else if (lambda)
            lambda[i - n] = solved[i];
    }
    k->margin = sqrt(beside[1]);
    return true;
}

/* What is singular once is so for a while, or for good. */
enum { REST = 100 };

hamel_status kinetics_rates(kinetics *k, double t, const double *q, const double *v, double alpha, double beta,
                            double *a, double *lambda, hamel_error *error) {
    if (k->rest > 0) {
        k->rest--;
    } else if (k->model->accelerations && !k->singular_mass && k->masked_count == 0 && !error &&
               !kkt_expects_redundancy(k->all)) {
        k->t = t, k->q = q, k->v = v;
        if (k->model->switches && !k->held) mode_choose_branches(&k->mode, t, q, v);
        if (solve_at_once(k, alpha, beta, a, lambda)) return HAMEL_OK;
        k->rest = REST;
    }
    hamel_status status = kinetics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) status = kinetics_accelerations(k, alpha, beta, a, lambda, error);
    if (!k->motion.frame) k->margin = motion_margin(&k->motion);
    return status;
}

/* Σ |A_ci| max(1, |x_i|): a residual of the size of rounding is ε of it. */
static void find_scales(kinetics *k, bool position) {
    const model_pattern *A = &k->model->A; /* by rows */
    const double *values = k->values + k->model->at_A, *x = position ? k->q : k->v;
    double *scale = position ? k->position_scale : k->velocity_scale;
    size_t e = 0;
    for (size_t c = 0; c < k->model->m; c++) {
        double sum = 0;
        for (; e < A->count && (size_t)A->row[e] == c; e++) {
            double size = fabs(x[A->column[e]]);
            sum += fabs(values[e]) * (size > 1 ? size : 1);
        }
        scale[c] = fmax(sum, k->survey.usual[c]);
    }
}

static double ratio(double residual, double scale) {
    return residual == 0 ? 0 : fabs(residual) / (scale > 0 ? scale : 1);
}

double kinetics_scaled(const kinetics *k, size_t c, bool position) {
    return position ? ratio(kinetics_position(k)[c], k->position_scale[c])
                    : ratio(kinetics_velocity(k)[c], k->velocity_scale[c]);
}

static double largest_residual(kinetics *k, bool position) {
    double largest = 0;
    find_scales(k, position);
    for (size_t c = 0; c < k->model->m; c++) {
        double here = kinetics_scaled(k, c, position);
        if (here > largest) largest = here;
    }
    return largest;
}

void kinetics_residuals(kinetics *k, double *position, double *velocity) {
    *position = largest_residual(k, true);
    *velocity = largest_residual(k, false);
}

/* One Newton step of a level; the step in `step`. */
static hamel_status correct(kinetics *k, kkt *system, const double *residual, double *step) {
    for (size_t c = 0; c < k->model->m; c++) k->b[c] = -residual[c];
    hamel_status status = kkt_factor(system, k->values);
    return status == HAMEL_OK ? kkt_solve(system, NULL, k->b, INFINITY, step, NULL) : status;
}

hamel_status kinetics_approach_positions(kinetics *k, double rate, double *dq) {
    hamel_status status = correct(k, k->positions, kinetics_position(k), k->project_step);
    for (size_t j = 0; status == HAMEL_OK && j < k->model->n; j++) dq[j] += rate * k->project_step[j];
    return status;
}

static hamel_status project_level(kinetics *k, double t, double *q, double *v, double *step, bool position,
                                  double *worst, hamel_error *error) {
    double before = INFINITY;
    for (int i = 0; i < PROJECT_ITERATIONS; i++) {
        *worst = largest_residual(k, position);
        if (*worst < 4e-16 || (*worst < 1e-11 && *worst > 0.5 * before)) return HAMEL_OK; /* rounding is reached */
        before = *worst;
        double *x = position ? q : v;
        hamel_status status = correct(k, position ? k->positions : k->velocities,
                                      position ? kinetics_position(k) : kinetics_velocity(k), step);
        if (status != HAMEL_OK) return error ? kinetics_explain(k, status, error) : status;
        for (size_t j = 0; j < k->model->n; j++) x[j] += step[j];
        status = kinetics_evaluate(k, t, q, v, error);
        if (status != HAMEL_OK) return status;
    }
    *worst = largest_residual(k, position);
    return HAMEL_OK;
}

hamel_status kinetics_project(kinetics *k, double t, double *q, double *v, double *worst, hamel_error *error) {
    double *step = k->project_step, position = 0, velocity = 0;
    hamel_status status = kinetics_evaluate(k, t, q, v, error);
    *worst = 0;
    if (k->model->m == 0 || status != HAMEL_OK) return status;
    status = project_level(k, t, q, v, step, true, &position, error);
    if (status == HAMEL_OK) status = project_level(k, t, q, v, step, false, &velocity, error);
    *worst = fmax(position, velocity);
    return status;
}

/* Whether any constraint that acts has the level. Where none has, nothing is factored: M may be singular by itself. */
static bool has_level(const kinetics *k, bool position) {
    for (size_t c = 0; c < k->model->m; c++) {
        constraint_order order = k->model->order[c];
        if (k->mode.active[c] && (position ? order == CONSTRAINT_HOLONOMIC : order != CONSTRAINT_ACCELERATION))
            return true;
    }
    return false;
}

hamel_status kinetics_project_direction(kinetics *k, double *dq, double *dv) {
    const hamel_model *model = k->model;
    double *step = k->project_step, *r = k->b, *d[2] = {dq, dv};
    kkt *systems[2] = {k->positions, k->velocities};
    for (int level = 0; level < 2; level++) {
        if (!has_level(k, level == 0)) continue;
        memset(r, 0, model->m * sizeof *r);
        for (size_t e = 0; e < model->A.count; e++)
            r[model->A.row[e]] -= k->values[model->at_A + e] * d[level][model->A.column[e]];
        hamel_status status = kkt_factor(systems[level], k->values);
        if (status == HAMEL_OK) status = kkt_solve(systems[level], NULL, r, INFINITY, step, NULL);
        if (status != HAMEL_OK) return status;
        for (size_t j = 0; j < model->n; j++) d[level][j] += step[j];
    }
    return HAMEL_OK;
}

hamel_status kinetics_free_accelerations(kinetics *k, double *out) {
    hamel_status status = kkt_factor(k->mass, k->values);
    return status == HAMEL_OK ? kkt_solve(k->mass, k->values + k->model->at_Q, k->b, 1, out, NULL) : status;
}

static program_inputs rate_inputs(const kinetics *k, const double *t, const double *q, const double *v,
                                  const double *lambda) {
    program_inputs in = model_inputs(k->model, t, q, v, NULL, lambda, NULL);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    in.values[SYMBOL_IDEAL] = k->ideal;
    in.values[SYMBOL_NONIDEAL] = k->nonideal;
    return in;
}

double kinetics_energy_rate(kinetics *k, double t, const double *q, const double *v, const double *lambda) {
    double rate = 0;
    if (!k->model->energy_rate) return 0;
    program_inputs in = rate_inputs(k, &t, q, v, lambda);
    program_evaluate(k->model->energy_rate, &in, k->rate_work, &rate);
    return rate;
}

hamel_status kinetics_check_energy_rate(kinetics *k, double t, const double *q, const double *v, const double *lambda,
                                        hamel_error *error) {
    if (isfinite(kinetics_energy_rate(k, t, q, v, lambda))) return HAMEL_OK;
    program_inputs in = rate_inputs(k, &t, q, v, lambda);
    return model_not_finite(k->model, k->model->energy_rate, &in, k->rate_work, t, "", "the rate of the energy", error);
}

hamel_status kinetics_find_contradiction(kinetics *k, const bool *taken, const double *right,
                                         kinetics_contradiction *out) {
    const hamel_model *model = k->model;
    redundancy r;
    *out = (kinetics_contradiction){0};
    hamel_status status = redundancy_find(&r, model, k->values, taken, k->survey.usual, REDUNDANCY_TOLERANCE);
    for (size_t set = 0; status == HAMEL_OK && set < r.count; set++) {
        double off = redundancy_contradiction(&r, set, right);
        if (!(off > out->off)) continue;
        out->off = off;
        out->last = r.dependent[set];
        out->count = r.first[set + 1] - r.first[set];
        redundancy_names(&r, model, set, out->names, sizeof out->names);
    }
    redundancy_free(&r);
    return status;
}

double kinetics_margin(kinetics *k) {
    if (!k->motion.frame) return motion_margin(&k->motion);
    if (!kkt_finds_margin(k->all)) return 1;
    hamel_status status = kkt_factor(k->all, k->values);
    return status == HAMEL_OK ? kkt_margin(k->all) : status == HAMEL_SINGULAR ? 0 : 1;
}

bool kinetics_dependent_names(const kinetics *k, double margin, char *names, size_t size) {
    redundancy found;
    size_t set = 0;
    bool any = redundancy_find(&found, k->model, k->values, k->mode.active, k->survey.usual,
                               fmax(DEPENDENT, NEARLY * margin)) == HAMEL_OK;
    for (size_t i = 1; any && i < found.count; i++) /* sets that always depend leave less */
        if (found.rest[i] > found.rest[set]) set = i;
    any = any && found.count > 0;
    if (any) redundancy_names(&found, k->model, set, names, size);
    redundancy_free(&found);
    return any;
}

static hamel_status fail_memory(hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory to solve for the accelerations");
}

static hamel_status explain_contradiction(kinetics *k, hamel_error *error) {
    kinetics_contradiction found;
    hamel_status status = kinetics_find_contradiction(k, k->mode.active, k->b, &found);
    if (status == HAMEL_NO_MEMORY) return fail_memory(error);
    if (found.count == 0)
        return hamel_fail(error, HAMEL_INCOMPATIBLE, "/constraints", 0,
                          "at t = %.9g the constraints contradict each other", k->t);
    const char *pointer = k->model->system->constraints[found.last].pointer;
    bool one = found.count == 1;
    (void)hamel_fail(error, HAMEL_INCOMPATIBLE, pointer, 0,
                     one ? "at t = %.9g no accelerations satisfy the constraint %s: it is off by %.3g"
                         : "at t = %.9g the constraints %s contradict each other: their accelerations are %.3g apart",
                     k->t, found.names, found.off);
    hamel_suggest(error, one ? "its coefficients are all 0 here: start elsewhere, or write it otherwise"
                             : "remove one of them, or make them agree");
    return HAMEL_INCOMPATIBLE;
}

static double reach_of(const double *values, const model_pattern *p, size_t coordinate, bool rows) {
    double most = 0;
    for (size_t e = 0; e < p->count; e++)
        if ((rows && (size_t)p->row[e] == coordinate) || (size_t)p->column[e] == coordinate)
            most = fmax(most, fabs(values[e]));
    return most;
}

/* The coordinates that neither inertia nor a constraint reaches, as text. */
static bool name_massless(const kinetics *k, text_buffer *text) {
    enum { SHOWN = 8 };
    const hamel_model *model = k->model;
    size_t found = 0;
    for (size_t i = 0; i < model->n && found < SHOWN; i++) {
        if (reach_of(k->values + model->at_M, &model->M, i, true) > 0) continue;
        if (reach_of(k->values + model->at_A, &model->A, i, false) > 0) continue;
        text_buffer_printf(text, "%s`%s`", found++ ? ", " : "", model->system->coordinates[i].name);
    }
    return found > 0;
}

static void suggest_inertia(const kinetics *k, hamel_error *error) {
    text_buffer text;
    text_buffer_init(&text, 4096);
    bool named = name_massless(k, &text) && text.bytes;
    if (!k->singular_mass)
        hamel_suggest(
            error,
            "near this state the mass matrix is regular: coordinates%s%s%s singular here, as angles at a pole; "
            "start elsewhere, or use other coordinates",
            named ? " (" : "", named ? text.bytes : "", named ? ") are" : " are");
    else if (named)
        hamel_suggest(error, "no mass or inertia moves with %s: give it one, or a constraint that fixes it",
                      text.bytes);
    else
        hamel_suggest(error, "give every coordinate a mass or inertia, or a constraint that fixes it");
    text_buffer_free(&text);
}

hamel_status kinetics_explain(kinetics *k, hamel_status status, hamel_error *error) {
    if (status == HAMEL_CANCELED) return status;
    if (status == HAMEL_NO_MEMORY) return fail_memory(error);
    if (status == HAMEL_INCOMPATIBLE) return explain_contradiction(k, error);
    if (!k->singular_mass && singular_angles_explain(k, error)) return HAMEL_SINGULAR;
    (void)hamel_fail(
        error, HAMEL_SINGULAR, "", 0,
        "at t = %.9g the equations of motion do not determine the accelerations: the mass matrix is singular%s", k->t,
        k->model->m ? " in directions that the constraints leave free" : "");
    suggest_inertia(k, error);
    return HAMEL_SINGULAR;
}
