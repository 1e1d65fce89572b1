/* sensitivities.c — see the header. Inputs are taken PROGRAM_LANES at a time, one tangent a batch. */
#include "engine/solve/sensitivities_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = SENSITIVITY_LANES };

static size_t largest(size_t x, size_t y) {
    return x > y ? x : y;
}

/* Whatever any of the programs needs. */
static size_t tangent_doubles(const hamel_model *model) {
    const program *const programs[] = {model->dynamics, model->residual, model->observed, model->nonideal,
                                       model->roots,    model->jumps,    model->bounds,   model->quasi};
    size_t most = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (programs[i]) most = largest(most, program_tangent_doubles(programs[i]));
    return most;
}

static bool allocate(sensitivities *w) {
    const hamel_model *model = w->model;
    size_t n = w->n, m = w->m, parameters = model->system->parameter_count;
    struct {
        double **to;
        size_t count;
    } parts[] = {{&w->parameter_seeds, parameters * LANES},
                 {&w->q_seeds, n * LANES},
                 {&w->v_seeds, n * LANES},
                 {&w->a_seeds, n * LANES},
                 {&w->lambda_seeds, m * LANES},
                 {&w->ideal_seeds, n * LANES},
                 {&w->nonideal_seeds, n * LANES},
                 {&w->prescribed, n * LANES},
                 {&w->residual, (n + m) * LANES},
                 {&w->dynamics, model->dynamics_count * LANES},
                 {&w->observed, model->observed_count * LANES},
                 {&w->residual_work, program_workspace_doubles(model->residual)},
                 {&w->tangent_work, tangent_doubles(model)},
                 {&w->a, n},
                 {&w->lambda, m},
                 {&w->free_a, n},
                 {&w->free_lambda, m},
                 {&w->g, n},
                 {&w->r, m},
                 {&w->x, n},
                 {&w->mu, m},
                 {&w->given, n},
                 {&w->given_rates, n * w->count},
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

static void set_parameters(sensitivities *w, long first, bool move) {
    const model_sensitivities *inputs = w->inputs;
    for (size_t k = 0; first >= 0 && k < LANES && (size_t)first + k < w->count; k++)
        for (size_t e = inputs->first[(size_t)first + k]; e < inputs->first[(size_t)first + k + 1]; e++)
            w->parameter_seeds[(size_t)inputs->parameter[e] * LANES + k] = move ? inputs->rate[e] : 0;
}

/* Whether any parameter moves along these directions. */
static bool seed_parameters(sensitivities *w, const directions *d) {
    if (d->first != w->seeded) {
        set_parameters(w, w->seeded, false);
        set_parameters(w, d->first, true);
        w->seeded = d->first;
    }
    return d->first >= 0 && w->inputs->first[d->first] < w->inputs->first[(size_t)d->first + d->count];
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
                         .count = model->sensitivities->count,
                         .needs_ideal = model->sensitivities->needs_ideal,
                         .seeded = SENSITIVITY_NO_INPUTS};
    if (!allocate(w) || !sensitivities_jump_create(w)) {
        sensitivities_free(w);
        return NULL;
    }
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->residual, &in, w->residual_work);
    return w;
}

void sensitivities_free(sensitivities *w) {
    if (!w) return;
    sensitivities_jump_free(w);
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

program_inputs sensitivities_seeds(sensitivities *w, const directions *d) {
    program_inputs seeds = {{0}};
    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; k < LANES; k++) {
            w->q_seeds[i * LANES + k] = k < d->count ? d->s[k][i] : 0;
            w->v_seeds[i * LANES + k] = k < d->count ? d->s[k][w->n + i] : 0;
        }
    seeds.values[SYMBOL_COORDINATE] = w->q_seeds;
    seeds.values[SYMBOL_VELOCITY] = w->v_seeds;
    if (seed_parameters(w, d)) seeds.values[SYMBOL_PARAMETER] = w->parameter_seeds;
    if (!d->dt) return seeds;
    for (size_t k = 0; k < LANES; k++) w->time_seeds[k] = k < d->count ? d->dt[k] : 0;
    seeds.values[SYMBOL_TIME] = w->time_seeds;
    return seeds;
}

void sensitivities_dynamics(sensitivities *w, const directions *d) {
    kinetics *k = w->kinetics;
    program_inputs in = model_inputs(w->model, &k->t, k->q, k->v, NULL, k->lambda, NULL);
    program_inputs seeds = sensitivities_seeds(w, d);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    program_tangent(w->model->dynamics, &in, &seeds, k->dynamics_work, w->tangent_work, NULL, w->dynamics);
}

/* out[n × lanes] := tangents of the forces that are prescribed, for these ideal multipliers; `moving`: which move. */
static void prescribed_along(sensitivities *w, const directions *d, const double *lambda, bool moving, double *out) {
    kinetics *k = w->kinetics;
    program_inputs in = model_inputs(w->model, &k->t, k->q, k->v, NULL, lambda, NULL);
    program_inputs seeds = sensitivities_seeds(w, d);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    in.values[SYMBOL_IDEAL] = k->ideal;
    if (moving) seeds.values[SYMBOL_MULTIPLIER] = w->lambda_seeds;
    if (moving) seeds.values[SYMBOL_IDEAL] = w->ideal_seeds;
    program_tangent(w->model->nonideal, &in, &seeds, k->nonideal_work, w->tangent_work, NULL, out);
}

/* w->residual := tangents at the state evaluated last with these accelerations and multipliers, which do not move; without
 * the forces that are prescribed, which the program takes for those of these multipliers. */
static void residual_along(sensitivities *w, const directions *d, const double *a, const double *lambda) {
    kinetics *k = w->kinetics;
    program_inputs in = model_inputs(w->model, &k->t, k->q, k->v, a, lambda, NULL);
    program_inputs seeds = sensitivities_seeds(w, d);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    in.values[SYMBOL_IDEAL] = k->ideal;
    program_tangent(w->model->residual, &in, &seeds, w->residual_work, w->tangent_work, NULL, w->residual);
    if (!w->model->nonideal) return;
    prescribed_along(w, d, lambda, false, w->prescribed);
    for (size_t i = 0; i < w->n * LANES; i++) w->residual[i] += w->prescribed[i];
}

bool sensitivities_finite(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += 0 * x[i];
    return sum == 0;
}

/* --- accelerations --------------------------------------------------------------------------------------------------- */

/* w->a, w->lambda and the factored matrix of a state. */
static HAMEL_CHECKED hamel_status solve_state(sensitivities *w, double t, const double *q, const double *v,
                                              double alpha, double beta, hamel_error *error) {
    kinetics *k = w->kinetics;
    hamel_status status = kinetics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) status = kinetics_accelerations(k, alpha, beta, w->a, w->lambda, error);
    if (status != HAMEL_OK || !w->needs_ideal) return status;
    return motion_solve(&k->motion, k->values + w->model->at_Q, k->b, INFINITY, w->free_a, w->free_lambda);
}

/* w->g, w->r := right sides for lane k of the residual's tangents. */
static void right_side(sensitivities *w, size_t k, double alpha, double beta) {
    const hamel_model *model = w->model;
    const double *velocity = w->dynamics + model->at_velocity * LANES,
                 *position = w->dynamics + model->at_position * LANES;
    for (size_t i = 0; i < w->n; i++) w->g[i] = -w->residual[i * LANES + k];
    for (size_t c = 0; c < w->m; c++) {
        double damping = model->order[c] == CONSTRAINT_HOLONOMIC ? 2 * alpha : alpha; /* as the motion's own */
        w->r[c] = -w->residual[(w->n + c) * LANES + k];
        if (alpha != 0 || beta != 0)
            w->r[c] -= damping * velocity[c * LANES + k] + beta * beta * position[c * LANES + k];
    }
}

static void store(const double *from, size_t count, size_t k, double *to) {
    for (size_t i = 0; i < count; i++) to[i * LANES + k] = from[i];
}

/* to[· × lanes] of lane k += ∂(A' λ) along it, with these multipliers and what they do; of the first `count` rows. */
static void add_reaction(const sensitivities *w, size_t k, const double *lambda, size_t count, double *to) {
    const hamel_model *model = w->model;
    const double *A = w->kinetics->values + model->at_A, *A_along = w->dynamics + model->at_A * LANES;
    for (size_t e = 0; e < model->A.count && (size_t)model->A.row[e] < count; e++) {
        size_t c = (size_t)model->A.row[e], i = (size_t)model->A.column[e];
        to[i * LANES + k] += A_along[e * LANES + k] * lambda[c] + A[e] * w->lambda_seeds[c * LANES + k];
    }
}

/* to[i × stride] += δ(F|λ|)_i of lane k: of F alone where the multipliers do not move (`moving` false). */
static void add_friction(const sensitivities *w, size_t k, const double *lambda, bool moving, double *to,
                         size_t stride) {
    const hamel_model *model = w->model;
    const double *F = w->kinetics->values + model->at_F, *F_along = w->dynamics + model->at_F * LANES;
    for (size_t e = 0; e < model->F.count; e++) {
        size_t c = (size_t)model->friction_constraint[model->F.column[e]];
        double by_lambda = moving ? (lambda[c] < 0 ? -F[e] : F[e]) * w->lambda_seeds[c * LANES + k] : 0;
        to[(size_t)model->F.row[e] * stride] += F_along[e * LANES + k] * fabs(lambda[c]) + by_lambda;
    }
}

/* What ideal constraints alone would exert moves; and so do the forces that are prescribed by it: into w->ideal_seeds and
 * w->nonideal_seeds. The residual contains friction, which is no part of this. */
static hamel_status ideal_along(sensitivities *w, const directions *d, double alpha, double beta) {
    const hamel_model *model = w->model;
    kinetics *k = w->kinetics;
    residual_along(w, d, w->free_a, w->free_lambda);
    memset(w->ideal_seeds, 0, w->n * LANES * sizeof *w->ideal_seeds);
    memset(w->nonideal_seeds, 0, w->n * LANES * sizeof *w->nonideal_seeds);
    memset(w->lambda_seeds, 0, w->m * LANES * sizeof *w->lambda_seeds);
    for (size_t lane = 0; lane < d->count; lane++) {
        right_side(w, lane, alpha, beta);
        memset(w->x, 0, w->n * sizeof *w->x);
        add_friction(w, lane, w->free_lambda, false, w->x, 1);
        for (size_t i = 0; i < w->n; i++) w->g[i] -= w->x[i];
        hamel_status status = motion_solve(&k->motion, w->g, w->r, INFINITY, w->x, w->mu);
        if (status != HAMEL_OK) return status;
        store(w->mu, w->m, lane, w->lambda_seeds);
        add_reaction(w, lane, w->free_lambda, model->ideal_count, w->ideal_seeds);
    }
    if (model->nonideal) prescribed_along(w, d, w->free_lambda, true, w->nonideal_seeds);
    return HAMEL_OK;
}

/* w->nonideal_seeds, which holds what the prescribed forces do: all that acts but the ideal reactions (kinetics.h). */
static void collect_nonideal(sensitivities *w, size_t lane) {
    add_reaction(w, lane, w->lambda, w->m, w->nonideal_seeds);
    if (w->model->friction_count) add_friction(w, lane, w->lambda, true, w->nonideal_seeds + lane, LANES);
    for (size_t i = 0; i < w->n; i++) w->nonideal_seeds[i * LANES + lane] -= w->ideal_seeds[i * LANES + lane];
}

/* w->x, w->mu := δq'', δλ of one lane of the tangents at hand. */
static hamel_status accelerate(sensitivities *w, size_t lane, double alpha, double beta) {
    kinetics *k = w->kinetics;
    right_side(w, lane, alpha, beta);
    for (size_t i = 0; i < w->n && w->needs_ideal; i++) w->g[i] += w->nonideal_seeds[i * LANES + lane];
    hamel_status status = motion_solve(&k->motion, w->g, w->r, INFINITY, w->x, w->mu);
    if (status != HAMEL_OK || !k->friction) return status;
    return friction_solve_along(k->friction, &k->motion, k->values, w->g, w->r, w->lambda, w->x, w->mu);
}

hamel_status sensitivities_accelerate(sensitivities *w, const directions *d, double alpha, double beta) {
    hamel_status status = HAMEL_OK;
    if (alpha != 0 || beta != 0 || w->needs_ideal) sensitivities_dynamics(w, d);
    if (w->needs_ideal) status = ideal_along(w, d, alpha, beta);
    if (status == HAMEL_OK) residual_along(w, d, w->a, w->lambda);
    memset(w->a_seeds, 0, w->n * LANES * sizeof *w->a_seeds);
    memset(w->lambda_seeds, 0, w->m * LANES * sizeof *w->lambda_seeds);
    for (size_t lane = 0; lane < d->count && status == HAMEL_OK; lane++) {
        status = accelerate(w, lane, alpha, beta);
        if (status != HAMEL_OK) return status;
        store(w->x, w->n, lane, w->a_seeds);
        store(w->mu, w->m, lane, w->lambda_seeds);
        if (w->needs_ideal) collect_nonideal(w, lane);
    }
    return status;
}

/* --- along the motion ------------------------------------------------------------------------------------------------ */

hamel_status sensitivities_rates(sensitivities *w, double t, const double *q, const double *v, double alpha,
                                 double beta, const double *const *s, double *const *ds) {
    hamel_status status = solve_state(w, t, q, v, alpha, beta, NULL);
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++) {
        directions d = directions_of(w, batch, s);
        status = sensitivities_accelerate(w, &d, alpha, beta);
        if (status == HAMEL_OK && !sensitivities_finite(w->a_seeds, w->n * LANES)) status = HAMEL_NOT_FINITE;
        for (size_t k = 0; k < d.count && status == HAMEL_OK; k++) {
            double *to = ds[(size_t)d.first + k];
            memcpy(to, d.s[k] + w->n, w->n * sizeof *to);
            for (size_t i = 0; i < w->n; i++) to[w->n + i] = w->a_seeds[i * LANES + k];
        }
    }
    return status;
}

/* --- onto the constraints -------------------------------------------------------------------------------------------- */

bool sensitivities_has_level(const sensitivities *w, bool position) {
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
    if (!sensitivities_has_level(w, position)) return HAMEL_OK;
    hamel_status status = kkt_factor(system, k->values);
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++) {
        directions d = directions_of(w, batch, (const double *const *)s);
        sensitivities_dynamics(w, &d);
        for (size_t lane = 0; lane < d.count && status == HAMEL_OK; lane++) {
            double *to = s[(size_t)d.first + lane] + (position ? 0 : w->n);
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
    size_t n = w->n, columns = w->inputs->column_count;
    directions d = directions_of(w, batch, (const double *const *)s);
    hamel_status status = sensitivities_accelerate(w, &d, 0, 0);
    if (status != HAMEL_OK) return status;
    program_inputs in = model_inputs(model, &k->t, k->q, k->v, w->a, w->lambda, NULL);
    program_inputs seeds = sensitivities_seeds(w, &d);
    sensitivities_seed_solution(w, &in, &seeds);
    program_tangent(model->observed, &in, &seeds, k->observed_work, w->tangent_work, NULL, w->observed);
    for (size_t lane = 0; lane < d.count; lane++) {
        double *to = out + ((size_t)d.first + lane) * columns;
        memcpy(to, d.s[lane], 2 * n * sizeof *to);
        for (size_t i = 0; i < w->inputs->output_count; i++) to[2 * n + i] = w->observed[i * LANES + lane];
    }
    return HAMEL_OK;
}

static hamel_status check_finite(const sensitivities *w, const double *out, double t, hamel_error *error) {
    size_t columns = w->inputs->column_count, at = 0;
    if (sensitivities_finite(out, w->count * columns)) return HAMEL_OK;
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
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++)
        status = observe(w, batch, s, out);
    if (status == HAMEL_OK) return check_finite(w, out, t, error);
    return error->status == HAMEL_OK ? kinetics_explain(w->kinetics, status, error) : status;
}
