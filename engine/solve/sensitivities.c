/* sensitivities.c — see the header. Inputs are taken PROGRAM_LANES at a time, one tangent a batch. */
#include "engine/solve/sensitivities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = PROGRAM_LANES, START_ITERATIONS = 60 };
/* Relative changes: one that ends the iteration of the start, and one above which it has led nowhere. */
static const double SETTLED = 1e-13, UNSETTLED = 1e-9;

struct sensitivities {
    const hamel_model *model;
    const model_sensitivities *inputs;
    kinetics *kinetics;
    size_t n, m, count;
    double *parameter_seeds; /* parameters × LANES, of the batch `seeded`; 0 for what does not move */
    size_t seeded;
    double *q_seeds, *v_seeds, *a_seeds;    /* n × LANES */
    double *lambda_seeds;                   /* m × LANES */
    double *residual, *dynamics, *observed; /* tangents: outputs × LANES */
    double *residual_work, *tangent_work;   /* of the programs */
    double *a, *lambda;                     /* n, m: of the state */
    double *g, *r, *x, *mu;                 /* n, m, n, m: right sides and solutions */
    double *mass, *mass_rates;              /* M of the given initial state; along each input */
    double *step;                           /* n: from the given initial values */
};

static size_t largest(size_t x, size_t y) {
    return x > y ? x : y;
}

static size_t batches(const sensitivities *w) {
    return (w->count + LANES - 1) / LANES;
}

static bool allocate(sensitivities *w) {
    const hamel_model *model = w->model;
    size_t n = w->n, m = w->m, parameters = model->system->parameter_count;
    size_t tangent =
        largest(program_tangent_doubles(model->dynamics),
                largest(program_tangent_doubles(model->residual), program_tangent_doubles(model->observed)));
    struct {
        double **to;
        size_t count;
    } parts[] = {{&w->parameter_seeds, parameters * LANES},
                 {&w->q_seeds, n * LANES},
                 {&w->v_seeds, n * LANES},
                 {&w->a_seeds, n * LANES},
                 {&w->lambda_seeds, m * LANES},
                 {&w->residual, (n + m) * LANES},
                 {&w->dynamics, model->dynamics_count * LANES},
                 {&w->observed, model->observed_count * LANES},
                 {&w->residual_work, program_workspace_doubles(model->residual)},
                 {&w->tangent_work, tangent},
                 {&w->a, n},
                 {&w->lambda, m},
                 {&w->g, n},
                 {&w->r, m},
                 {&w->x, n},
                 {&w->mu, m},
                 {&w->mass, model->M.count},
                 {&w->mass_rates, model->M.count * w->count},
                 {&w->step, n}};
    size_t all = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) all += parts[i].count;
    double *memory = calloc(all + 1, sizeof *memory);
    for (size_t i = 0; memory && i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = memory;
        memory += parts[i].count;
    }
    return memory != NULL;
}

static size_t batch_size(const sensitivities *w, size_t batch) {
    size_t left = w->count - batch * LANES;
    return left < LANES ? left : LANES;
}

static void set_parameters(sensitivities *w, size_t batch, bool move) {
    const model_sensitivities *inputs = w->inputs;
    for (size_t k = 0; k < batch_size(w, batch); k++)
        for (size_t e = inputs->first[batch * LANES + k]; e < inputs->first[batch * LANES + k + 1]; e++)
            w->parameter_seeds[(size_t)inputs->parameter[e] * LANES + k] = move ? inputs->rate[e] : 0;
}

/* Whether any parameter moves in this batch. */
static bool seed_parameters(sensitivities *w, size_t batch) {
    size_t first = batch * LANES;
    if (batch != w->seeded) {
        set_parameters(w, w->seeded, false);
        set_parameters(w, batch, true);
        w->seeded = batch;
    }
    return w->inputs->first[first] < w->inputs->first[first + batch_size(w, batch)];
}

sensitivities *sensitivities_create(kinetics *k) {
    const hamel_model *model = k->model;
    sensitivities *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (sensitivities){.model = model,
                         .inputs = model->sensitivities,
                         .kinetics = k,
                         .n = model->n,
                         .m = model->m,
                         .count = model->sensitivities->count};
    if (!allocate(w)) {
        free(w);
        return NULL;
    }
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->residual, &in, w->residual_work);
    set_parameters(w, 0, true);
    return w;
}

void sensitivities_free(sensitivities *w) {
    if (!w) return;
    free(w->parameter_seeds); /* the first part of the one block */
    free(w);
}

size_t sensitivities_count(const sensitivities *w) {
    return w->count;
}
size_t sensitivities_length(const sensitivities *w) {
    return 2 * w->n;
}
const double *sensitivities_sizes(const sensitivities *w) {
    return w->inputs->size;
}

/* --- tangents -------------------------------------------------------------------------------------------------------- */

/* Coordinates, velocities and parameters move along the inputs of a batch. */
static program_inputs seeds_of(sensitivities *w, size_t batch, const double *const *s) {
    size_t size = batch_size(w, batch);
    program_inputs seeds = {{0}};
    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; k < LANES; k++) {
            const double *of = k < size ? s[batch * LANES + k] : NULL;
            w->q_seeds[i * LANES + k] = of ? of[i] : 0;
            w->v_seeds[i * LANES + k] = of ? of[w->n + i] : 0;
        }
    seeds.values[SYMBOL_COORDINATE] = w->q_seeds;
    seeds.values[SYMBOL_VELOCITY] = w->v_seeds;
    if (seed_parameters(w, batch)) seeds.values[SYMBOL_PARAMETER] = w->parameter_seeds;
    return seeds;
}

/* w->dynamics := the dynamics program's tangents at the state evaluated last. */
static void dynamics_along(sensitivities *w, size_t batch, const double *const *s) {
    kinetics *k = w->kinetics;
    program_inputs in = model_inputs(w->model, &k->t, k->q, k->v, NULL, k->lambda, NULL);
    program_inputs seeds = seeds_of(w, batch, s);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    program_tangent(w->model->dynamics, &in, &seeds, k->dynamics_work, w->tangent_work, NULL, w->dynamics);
}

static void residual_along(sensitivities *w, size_t batch, const double *const *s) {
    kinetics *k = w->kinetics;
    program_inputs in = model_inputs(w->model, &k->t, k->q, k->v, w->a, w->lambda, NULL);
    program_inputs seeds = seeds_of(w, batch, s);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    program_tangent(w->model->residual, &in, &seeds, w->residual_work, w->tangent_work, NULL, w->residual);
}

static bool all_finite(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += 0 * x[i];
    return sum == 0;
}

/* --- along the motion ------------------------------------------------------------------------------------------------ */

/* w->a, w->lambda, and the factored matrix, of a state. */
static hamel_status solve_state(sensitivities *w, double t, const double *q, const double *v, double alpha, double beta,
                                hamel_error *error) {
    hamel_status status = kinetics_evaluate(w->kinetics, t, q, v, error);
    return status == HAMEL_OK ? kinetics_accelerations(w->kinetics, alpha, beta, w->a, w->lambda, error) : status;
}

/* w->x, w->mu := δq'', δλ of lane k of the tangents at hand. */
static hamel_status accelerate(sensitivities *w, size_t k, double alpha, double beta) {
    const hamel_model *model = w->model;
    const double *velocity = w->dynamics + model->at_velocity * LANES,
                 *position = w->dynamics + model->at_position * LANES;
    for (size_t i = 0; i < w->n; i++) w->g[i] = -w->residual[i * LANES + k];
    for (size_t c = 0; c < w->m; c++) {
        double damping = model->order[c] == CONSTRAINT_HOLONOMIC ? 2 * alpha : alpha; /* as the motion's own */
        w->r[c] = -w->residual[(w->n + c) * LANES + k] - damping * velocity[c * LANES + k] -
                  beta * beta * position[c * LANES + k];
    }
    return motion_solve(&w->kinetics->motion, w->g, w->r, INFINITY, w->x, w->mu);
}

hamel_status sensitivities_rates(sensitivities *w, double t, const double *q, const double *v, double alpha,
                                 double beta, const double *const *s, double *const *ds) {
    hamel_status status = solve_state(w, t, q, v, alpha, beta, NULL);
    for (size_t batch = 0; batch < batches(w) && status == HAMEL_OK; batch++) {
        residual_along(w, batch, s);
        if (alpha != 0 || beta != 0) dynamics_along(w, batch, s);
        for (size_t k = 0; k < batch_size(w, batch) && status == HAMEL_OK; k++) {
            size_t i = batch * LANES + k;
            status = accelerate(w, k, alpha, beta);
            if (status == HAMEL_OK && !all_finite(w->x, w->n)) status = HAMEL_NOT_FINITE;
            memcpy(ds[i], s[i] + w->n, w->n * sizeof **ds);
            memcpy(ds[i] + w->n, w->x, w->n * sizeof **ds);
        }
    }
    return status;
}

/* --- onto the constraints -------------------------------------------------------------------------------------------- */

/* Whether any constraint speaks of positions, or of velocities. A mass matrix that is singular is no matter where none
 * does. */
static bool has_level(const sensitivities *w, bool position) {
    const hamel_model *model = w->model;
    for (size_t c = 0; c < w->m; c++) {
        bool there = position ? model->order[c] == CONSTRAINT_HOLONOMIC : model->order[c] != CONSTRAINT_ACCELERATION;
        if (there && w->kinetics->mode.active[c]) return true;
    }
    return false;
}

/* Adds to the level of s the smallest step that its linearized constraints ask for. */
static hamel_status correct(sensitivities *w, bool position, double *const *s) {
    kinetics *k = w->kinetics;
    kkt *system = position ? k->positions : k->velocities;
    const double *f = w->dynamics + (position ? w->model->at_position : w->model->at_velocity) * LANES;
    if (!has_level(w, position)) return HAMEL_OK;
    hamel_status status = kkt_factor(system, k->values);
    for (size_t batch = 0; batch < batches(w) && status == HAMEL_OK; batch++) {
        dynamics_along(w, batch, (const double *const *)s);
        for (size_t lane = 0; lane < batch_size(w, batch) && status == HAMEL_OK; lane++) {
            double *to = s[batch * LANES + lane] + (position ? 0 : w->n);
            for (size_t c = 0; c < w->m; c++) w->r[c] = -f[c * LANES + lane];
            status = kkt_solve(system, NULL, w->r, INFINITY, w->x, NULL);
            for (size_t i = 0; i < w->n && status == HAMEL_OK; i++) to[i] += w->x[i];
        }
    }
    return status;
}

static hamel_status project(sensitivities *w, double *const *s) {
    if (w->model->settings.projection != HAMEL_PROJECTION_ON) return HAMEL_OK;
    hamel_status status = correct(w, true, s);
    return status == HAMEL_OK ? correct(w, false, s) : status;
}

/* Outputs are functions of accelerations and multipliers, too, which move with the state. */
static hamel_status observe(sensitivities *w, size_t batch, double *const *s, double *out) {
    const hamel_model *model = w->model;
    kinetics *k = w->kinetics;
    size_t n = w->n, columns = w->inputs->column_count, size = batch_size(w, batch);
    residual_along(w, batch, (const double *const *)s);
    memset(w->a_seeds, 0, n * LANES * sizeof *w->a_seeds);
    memset(w->lambda_seeds, 0, w->m * LANES * sizeof *w->lambda_seeds);
    for (size_t lane = 0; lane < size; lane++) {
        hamel_status status = accelerate(w, lane, 0, 0);
        if (status != HAMEL_OK) return status;
        for (size_t i = 0; i < n; i++) w->a_seeds[i * LANES + lane] = w->x[i];
        for (size_t c = 0; c < w->m; c++) w->lambda_seeds[c * LANES + lane] = w->mu[c];
    }
    program_inputs in = model_inputs(model, &k->t, k->q, k->v, w->a, w->lambda, NULL);
    program_inputs seeds = seeds_of(w, batch, (const double *const *)s);
    seeds.values[SYMBOL_ACCELERATION] = w->a_seeds;
    seeds.values[SYMBOL_MULTIPLIER] = w->lambda_seeds;
    in.values[SYMBOL_IDEAL] = k->ideal;
    in.values[SYMBOL_NONIDEAL] = k->nonideal;
    program_tangent(model->observed, &in, &seeds, k->observed_work, w->tangent_work, NULL, w->observed);
    for (size_t lane = 0; lane < size; lane++) {
        double *to = out + (batch * LANES + lane) * columns;
        memcpy(to, s[batch * LANES + lane], 2 * n * sizeof *to);
        for (size_t i = 0; i < w->inputs->output_count; i++) to[2 * n + i] = w->observed[i * LANES + lane];
    }
    return HAMEL_OK;
}

static hamel_status check_finite(const sensitivities *w, const double *out, double t, hamel_error *error) {
    size_t columns = w->inputs->column_count, at = 0;
    if (all_finite(out, w->count * columns)) return HAMEL_OK;
    while (isfinite(out[at])) at++;
    const char *input = w->inputs->names[at / columns];
    size_t column = at % columns;
    if (column < 2 * w->n)
        return hamel_fail(error, HAMEL_NOT_FINITE, "/simulation/sensitivities", 0,
                          "at t = %.9g the derivative of `%s%s` by `%s` is not finite", t,
                          w->model->system->coordinates[column % w->n].name, column < w->n ? "" : "'", input);
    return hamel_fail(error, HAMEL_NOT_FINITE, w->model->observed_pointers[column - 2 * w->n], 0,
                      "at t = %.9g the derivative of the output `%s` by `%s` is not finite", t,
                      model_output_name(w->model, column - 2 * w->n), input);
}

/* Of multipliers that are not unique, those of least norm are taken, and nothing says how these move. */
static hamel_status check_unique(const sensitivities *w, double t, hamel_error *error) {
    size_t active = 0;
    for (size_t c = 0; c < w->m; c++) active += w->kinetics->mode.active[c];
    if (!w->inputs->unique_only || motion_rank(&w->kinetics->motion) == active) return HAMEL_OK;
    (void)hamel_fail(error, HAMEL_SINGULAR, "/simulation/sensitivities", 0,
                     "at t = %.9g constraints depend on each other: multipliers have no derivatives, but outputs "
                     "contain some",
                     t);
    hamel_suggest(error, "take lambda() and reaction() out of the outputs, or remove the dependent constraints");
    return HAMEL_SINGULAR;
}

hamel_status sensitivities_see(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                               double *out, hamel_error *error) {
    hamel_status status = kinetics_evaluate(w->kinetics, t, q, v, error);
    if (status == HAMEL_OK) status = project(w, s);
    if (status == HAMEL_OK) status = solve_state(w, t, q, v, 0, 0, error);
    if (status == HAMEL_OK) status = check_unique(w, t, error);
    for (size_t batch = 0; batch < batches(w) && status == HAMEL_OK; batch++) status = observe(w, batch, s, out);
    if (status == HAMEL_OK) return check_finite(w, out, t, error);
    return error->status == HAMEL_OK ? kinetics_explain(w->kinetics, status, error) : status;
}

/* --- the start ---------------------------------------------------------------------------------------------------------
 *
 * x = q − q0 is the limit of  M0 x − Aᵀμ = 0,  A x = A (q − q0) − Φ(q)  (initial_values.c), and δ of both gives
 *
 *     M0 δx − Aᵀδμ = δAᵀμ − δM0 x,     A δx = A (δq − δq0) − δΦ
 *
 * where δA and δΦ are along δq: an iteration that converges as that of x did, and at once where x = 0. The same for the
 * velocities. */

/* w->g, w->r from lane `lane` of the dynamics' tangents; `given`, `now`: δ of the level. */
static void start_right_side(sensitivities *w, size_t input, size_t lane, bool position, const double *given,
                             const double *now, const double *moved) {
    const hamel_model *model = w->model;
    const double *A = w->kinetics->values + model->at_A, *A_along = w->dynamics + model->at_A * LANES,
                 *f = w->dynamics + (position ? model->at_position : model->at_velocity) * LANES,
                 *M_along = w->mass_rates + input * model->M.count;
    memset(w->g, 0, w->n * sizeof *w->g);
    for (size_t e = 0; e < model->M.count; e++) {
        int i = model->M.row[e], j = model->M.column[e];
        w->g[i] -= M_along[e] * moved[j];
        if (i != j) w->g[j] -= M_along[e] * moved[i];
    }
    for (size_t c = 0; c < w->m; c++) w->r[c] = -f[c * LANES + lane];
    for (size_t e = 0; e < model->A.count; e++) {
        int c = model->A.row[e], j = model->A.column[e];
        w->g[j] += A_along[e * LANES + lane] * w->mu[c];
        w->r[c] += A[e] * (now[j] - given[j]);
    }
}

/* One iteration of a batch; returns the largest change relative to the sizes. */
static hamel_status start_once(sensitivities *w, size_t batch, bool position, const double *moved, double *const *s,
                               double *change) {
    kkt *system = position ? w->kinetics->positions : w->kinetics->velocities;
    *change = 0;
    dynamics_along(w, batch, (const double *const *)s);
    for (size_t lane = 0; lane < batch_size(w, batch); lane++) {
        size_t input = batch * LANES + lane;
        const double *given = (position ? w->inputs->q0 : w->inputs->v0) + input * w->n;
        double *now = s[input] + (position ? 0 : w->n), size = 0, most = 0;
        start_right_side(w, input, lane, position, given, now, moved);
        hamel_status status = kkt_solve(system, w->g, w->r, INFINITY, w->x, NULL);
        if (status != HAMEL_OK) return status;
        for (size_t i = 0; i < w->n; i++) {
            double next = given[i] + w->x[i];
            most = fmax(most, fabs(next - now[i]));
            size = fmax(size, fabs(next));
            now[i] = next;
        }
        if (!isfinite(most)) return HAMEL_NOT_FINITE;
        *change = fmax(*change, size > 0 ? most / size : 0);
    }
    return HAMEL_OK;
}

/* w->mu := the multipliers of the step from the given values to the consistent ones, w->step := that step. */
static hamel_status start_step(sensitivities *w, bool position, const double *now, const double *given) {
    kinetics *k = w->kinetics;
    const hamel_model *model = w->model;
    kkt *system = position ? k->positions : k->velocities;
    memcpy(k->values + model->at_M, w->mass, model->M.count * sizeof *w->mass);
    for (size_t i = 0; i < w->n; i++) w->step[i] = now[i] - given[i];
    memset(w->r, 0, w->m * sizeof *w->r);
    for (size_t e = 0; e < model->A.count; e++)
        w->r[model->A.row[e]] += k->values[model->at_A + e] * w->step[model->A.column[e]];
    hamel_status status = kkt_factor(system, k->values);
    return status == HAMEL_OK ? kkt_solve(system, NULL, w->r, INFINITY, w->x, w->mu) : status;
}

static hamel_status start_level(sensitivities *w, bool position, const double *now, const double *given,
                                double *const *s) {
    if (!has_level(w, position)) return HAMEL_OK;
    hamel_status status = start_step(w, position, now, given);
    for (size_t batch = 0; batch < batches(w) && status == HAMEL_OK; batch++) {
        double change = INFINITY;
        for (int i = 0; i < START_ITERATIONS && status == HAMEL_OK && change > SETTLED; i++)
            status = start_once(w, batch, position, w->step, s, &change);
        if (status == HAMEL_OK && !(change < UNSETTLED)) status = HAMEL_SINGULAR;
    }
    return status;
}

hamel_status sensitivities_start(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                                 hamel_error *error) {
    const hamel_model *model = w->model;
    size_t n = w->n, masses = model->M.count;
    for (size_t i = 0; i < w->count; i++) {
        memcpy(s[i], w->inputs->q0 + i * n, n * sizeof **s);
        memcpy(s[i] + n, w->inputs->v0 + i * n, n * sizeof **s);
    }
    if (w->m == 0) return HAMEL_OK;
    hamel_status status = kinetics_evaluate(w->kinetics, t, model->q0, model->v0, error);
    if (status != HAMEL_OK) return status;
    memcpy(w->mass, w->kinetics->values + model->at_M, masses * sizeof *w->mass);
    for (size_t batch = 0; batch < batches(w); batch++) {
        dynamics_along(w, batch, (const double *const *)s);
        for (size_t lane = 0; lane < batch_size(w, batch); lane++)
            for (size_t e = 0; e < masses; e++)
                w->mass_rates[(batch * LANES + lane) * masses + e] = w->dynamics[(model->at_M + e) * LANES + lane];
    }
    status = kinetics_evaluate(w->kinetics, t, q, model->v0, error);
    if (status == HAMEL_OK) status = start_level(w, true, q, model->q0, s);
    if (status == HAMEL_OK) status = kinetics_evaluate(w->kinetics, t, q, v, error);
    if (status == HAMEL_OK) status = start_level(w, false, v, model->v0, s);
    if (status == HAMEL_OK || error->status != HAMEL_OK) return status;
    (void)hamel_fail(error, HAMEL_SINGULAR, "/simulation/sensitivities", 0,
                     "the consistent initial values have no derivatives");
    hamel_suggest(error, "give initial values that are nearer to the constraints");
    return HAMEL_SINGULAR;
}
