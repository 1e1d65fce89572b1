/* sensitivities.c — rates, projection and columns of sensitivities (sensitivities.h). Inputs are processed in groups of
 * PROGRAM_LANES, one tangent per group. */
#include "engine/base/finite.h"
#include "engine/sensitivity/sensitivities_int.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LANES = SENSITIVITY_LANES };

/* Returns the size of the largest tangent workspace of all programs. */
static size_t tangent_doubles(const hamel_model *model) {
    const program *const programs[] = {model->dynamics.program,  model->dynamics.residual, model->observation.program,
                                       model->dynamics.nonideal, model->events.roots,      model->events.jumps,
                                       model->friction.bounds,   model->quasi.program};
    size_t most = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        size_t doubles = programs[i] ? program_tangent_doubles(programs[i]) : 0;
        if (doubles > most) most = doubles;
    }
    return most;
}

static void set_parameters(sensitivities *w, long first, bool move) {
    const model_sensitivities *inputs = w->inputs;
    for (size_t k = 0; first >= 0 && k < LANES && (size_t)first + k < w->count; k++)
        for (size_t e = inputs->first[(size_t)first + k]; e < inputs->first[(size_t)first + k + 1]; e++)
            w->parameter_seeds[(size_t)inputs->parameter[e] * LANES + k] = move ? inputs->rate[e] : 0;
}

/* Seeds the parameters of a group of inputs. Returns false if no input of the group changes a parameter. */
static bool seed_parameters(sensitivities *w, const directions *d) {
    if (d->first != w->seeded) {
        set_parameters(w, w->seeded, false);
        set_parameters(w, d->first, true);
        w->seeded = d->first;
    }
    return d->first >= 0 && w->inputs->first[d->first] < w->inputs->first[(size_t)d->first + d->count];
}

sensitivities *sensitivities_create(dynamics *k) {
    assert(k->model->sensitivities && k->model->sensitivities->count > 0);
    const hamel_model *model = k->model;
    arena *memory = &k->memory;
    size_t n = model->n, m = model->m, count = model->sensitivities->count;
    sensitivities *w = arena_alloc(memory, 1, sizeof *w);
    if (!w) return NULL;
    size_t masses = model->dynamics.M.count, parameters = model->system->parameter_count;
    *w = (sensitivities){.model = model, .inputs = model->sensitivities, .dynamics = k, .n = n, .m = m, .count = count};
    w->needs_ideal = model->sensitivities->needs_ideal;
    w->seeded = SENSITIVITY_NO_INPUTS;
    w->residual_work = model_workspace(model, model->dynamics.residual, memory);
    w->quasi_work = model_workspace(model, model->quasi.program, memory);
    if (model->events.root_count > 0) w->jump = sensitivities_jump_create(model, memory);
    bool good = ARENA_DOUBLES(
        memory, {&w->parameter_seeds, parameters * LANES}, {&w->q_seeds, n * LANES}, {&w->v_seeds, n * LANES},
        {&w->a_seeds, n * LANES}, {&w->lambda_seeds, m * LANES}, {&w->ideal_seeds, n * LANES},
        {&w->nonideal_seeds, n * LANES}, {&w->prescribed, n * LANES}, {&w->residual, (n + m) * LANES},
        {&w->dynamics_tangents, model->dynamics.count * LANES}, {&w->observed, model->observation.count * LANES},
        {&w->tangent_work, tangent_doubles(model)}, {&w->a, n}, {&w->lambda, m}, {&w->free_a, n}, {&w->free_lambda, m},
        {&w->g, n}, {&w->r, m}, {&w->x, n}, {&w->mu, m}, {&w->given, n}, {&w->given_rates, n * count},
        {&w->mass, masses}, {&w->mass_rates, masses * count}, {&w->step, n}, {&w->at_rest, n},
        {&w->quasi_tangents, model->quasi.count * (n + 1) * LANES});
    return good ? w : NULL;
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

/* --- tangents ----------------------------------------------------------------------------------------------------- */

program_inputs sensitivities_seeds(sensitivities *w, const directions *d) {
    assert(d->count <= LANES && (d->first < 0 || d->first % LANES == 0));
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
    dynamics *k = w->dynamics;
    program_inputs in = discrete_state_inputs(&k->discrete_state, &k->t, k->q, k->v, NULL, k->lambda);
    program_inputs seeds = sensitivities_seeds(w, d);
    program_tangent(w->model->dynamics.program, &in, &seeds, k->dynamics_work, w->tangent_work, NULL,
                    w->dynamics_tangents);
}

/* Sets out[n × lanes] to tangents of the prescribed forces for the ideal multipliers `lambda`. If `moving` is true, the
 * tangents include the derivatives of the multipliers. */
static void prescribed_along(sensitivities *w, const directions *d, const double *lambda, bool moving, double *out) {
    dynamics *k = w->dynamics;
    program_inputs in = discrete_state_inputs(&k->discrete_state, &k->t, k->q, k->v, NULL, lambda);
    program_inputs seeds = sensitivities_seeds(w, d);
    in.values[SYMBOL_IDEAL] = k->ideal;
    if (moving) seeds.values[SYMBOL_MULTIPLIER] = w->lambda_seeds;
    if (moving) seeds.values[SYMBOL_IDEAL] = w->ideal_seeds;
    program_tangent(w->model->dynamics.nonideal, &in, &seeds, k->nonideal_work, w->tangent_work, NULL, out);
}

/* Sets w->residual to the residual's tangents at the state evaluated last, for constant accelerations and multipliers.
 * The residual includes the prescribed forces, whose tangents are removed. */
static void residual_along(sensitivities *w, const directions *d, const double *a, const double *lambda) {
    dynamics *k = w->dynamics;
    program_inputs in = discrete_state_inputs(&k->discrete_state, &k->t, k->q, k->v, a, lambda);
    program_inputs seeds = sensitivities_seeds(w, d);
    in.values[SYMBOL_IDEAL] = k->ideal;
    program_tangent(w->model->dynamics.residual, &in, &seeds, w->residual_work, w->tangent_work, NULL, w->residual);
    if (!w->model->dynamics.nonideal) return;
    prescribed_along(w, d, lambda, false, w->prescribed);
    for (size_t i = 0; i < w->n * LANES; i++) w->residual[i] += w->prescribed[i];
}

/* --- accelerations ------------------------------------------------------------------------------------------------ */

/* Computes w->a and w->lambda at a state. The factors of the state's matrix remain available. */
static HAMEL_CHECKED hamel_status solve_state(sensitivities *w, double t, const double *q, const double *v,
                                              double alpha, double beta, hamel_error *error) {
    dynamics *k = w->dynamics;
    hamel_status status = dynamics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) status = dynamics_accelerations(k, alpha, beta, w->a, w->lambda, error);
    if (status != HAMEL_OK || !w->needs_ideal) return status;
    return motion_solve(&k->motion, k->values + w->model->dynamics.at_Q, k->b, INFINITY, w->free_a, w->free_lambda);
}

/* Sets w->g and w->r to the right-hand sides for lane k of the residual's tangents. */
static void right_side(sensitivities *w, size_t k, double alpha, double beta) {
    const hamel_model *model = w->model;
    const double *velocity = w->dynamics_tangents + model->dynamics.at_velocity * LANES,
                 *position = w->dynamics_tangents + model->dynamics.at_position * LANES;
    for (size_t i = 0; i < w->n; i++) w->g[i] = -w->residual[i * LANES + k];
    for (size_t c = 0; c < w->m; c++) {
        /* the same stabilization as in dynamics.c */
        double damping = model->order[c] == CONSTRAINT_HOLONOMIC ? 2 * alpha : alpha;
        w->r[c] = -w->residual[(w->n + c) * LANES + k];
        if (alpha != 0 || beta != 0)
            w->r[c] -= damping * velocity[c * LANES + k] + beta * beta * position[c * LANES + k];
    }
}

static void store_lane(const double *from, size_t count, size_t k, double *to) {
    for (size_t i = 0; i < count; i++) to[i * LANES + k] = from[i];
}

/* Adds the derivative of Aᵀλ in lane k, for the first `count` rows of A, to the array `to` (n × lanes). */
static void add_reaction(const sensitivities *w, size_t k, const double *lambda, size_t count, double *to) {
    const hamel_model *model = w->model;
    const double *A = w->dynamics->values + model->dynamics.A.at,
                 *A_along = w->dynamics_tangents + model->dynamics.A.at * LANES;
    for (size_t e = 0; e < model->dynamics.A.count && (size_t)model->dynamics.A.row[e] < count; e++) {
        size_t c = (size_t)model->dynamics.A.row[e], i = (size_t)model->dynamics.A.column[e];
        to[i * LANES + k] += A_along[e * LANES + k] * lambda[c] + A[e] * w->lambda_seeds[c * LANES + k];
    }
}

/* Adds δ(F|λ|)_i of lane k to element i × stride of `to`. If `moving` is false, λ is constant. */
static void add_friction_tangent(const sensitivities *w, size_t k, const double *lambda, bool moving, double *to,
                                 size_t stride) {
    const hamel_model *model = w->model;
    const double *F = w->dynamics->values + model->dynamics.F.at,
                 *F_along = w->dynamics_tangents + model->dynamics.F.at * LANES;
    for (size_t e = 0; e < model->dynamics.F.count; e++) {
        size_t c = (size_t)model->friction.constraint[model->dynamics.F.column[e]];
        double by_lambda = moving ? (lambda[c] < 0 ? -F[e] : F[e]) * w->lambda_seeds[c * LANES + k] : 0;
        to[(size_t)model->dynamics.F.row[e] * stride] += F_along[e * LANES + k] * fabs(lambda[c]) + by_lambda;
    }
}

/* Sets w->ideal_seeds to the derivatives of the reaction that the ideal constraints alone would have. Sets
 * w->nonideal_seeds to the derivatives of the forces that are prescribed for this reaction. The residual includes
 * friction, which is subtracted here. */
static hamel_status ideal_along(sensitivities *w, const directions *d, double alpha, double beta) {
    const hamel_model *model = w->model;
    dynamics *k = w->dynamics;
    residual_along(w, d, w->free_a, w->free_lambda);
    memset(w->ideal_seeds, 0, w->n * LANES * sizeof *w->ideal_seeds);
    memset(w->nonideal_seeds, 0, w->n * LANES * sizeof *w->nonideal_seeds);
    memset(w->lambda_seeds, 0, w->m * LANES * sizeof *w->lambda_seeds);
    for (size_t lane = 0; lane < d->count; lane++) {
        right_side(w, lane, alpha, beta);
        memset(w->x, 0, w->n * sizeof *w->x);
        add_friction_tangent(w, lane, w->free_lambda, false, w->x, 1);
        for (size_t i = 0; i < w->n; i++) w->g[i] -= w->x[i];
        hamel_status status = motion_solve(&k->motion, w->g, w->r, INFINITY, w->x, w->mu);
        if (status != HAMEL_OK) return status;
        store_lane(w->mu, w->m, lane, w->lambda_seeds);
        add_reaction(w, lane, w->free_lambda, model->ideal_count, w->ideal_seeds);
    }
    if (model->dynamics.nonideal) prescribed_along(w, d, w->free_lambda, true, w->nonideal_seeds);
    return HAMEL_OK;
}

/* On entry, w->nonideal_seeds contains the derivatives of the prescribed forces. Converts these derivatives to
 * derivatives of the total reaction minus the ideal reaction (dynamics.h). */
static void collect_nonideal(sensitivities *w, size_t lane) {
    add_reaction(w, lane, w->lambda, w->m, w->nonideal_seeds);
    if (w->model->friction.count) add_friction_tangent(w, lane, w->lambda, true, w->nonideal_seeds + lane, LANES);
    for (size_t i = 0; i < w->n; i++) w->nonideal_seeds[i * LANES + lane] -= w->ideal_seeds[i * LANES + lane];
}

/* Sets w->x and w->mu to δq'' and δλ for one lane of the current tangents. */
static hamel_status solve_lane(sensitivities *w, size_t lane, double alpha, double beta) {
    dynamics *k = w->dynamics;
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
        status = solve_lane(w, lane, alpha, beta);
        if (status != HAMEL_OK) return status;
        store_lane(w->x, w->n, lane, w->a_seeds);
        store_lane(w->mu, w->m, lane, w->lambda_seeds);
        if (w->needs_ideal) collect_nonideal(w, lane);
    }
    return status;
}

/* --- rates along the motion --------------------------------------------------------------------------------------- */

hamel_status sensitivities_rates(sensitivities *w, double t, const double *q, const double *v, double alpha,
                                 double beta, const double *const *s, double *const *ds) {
    hamel_status status = solve_state(w, t, q, v, alpha, beta, NULL);
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++) {
        directions d = directions_of(w, batch, s);
        status = sensitivities_accelerate(w, &d, alpha, beta);
        if (status == HAMEL_OK && !all_finite(w->a_seeds, w->n * LANES)) status = HAMEL_NOT_FINITE;
        for (size_t k = 0; k < d.count && status == HAMEL_OK; k++) {
            double *to = ds[(size_t)d.first + k];
            memcpy(to, d.s[k] + w->n, w->n * sizeof *to);
            for (size_t i = 0; i < w->n; i++) to[w->n + i] = w->a_seeds[i * LANES + k];
        }
    }
    return status;
}

/* --- projection onto the constraints ------------------------------------------------------------------------------ */

/* Projects the position half or the velocity half of s onto the linearized constraints by the smallest step. */
static hamel_status correct_sensitivities(sensitivities *w, bool position, double *const *s) {
    dynamics *k = w->dynamics;
    kkt *system = dynamics_system(k, position);
    const double *f =
        w->dynamics_tangents + (position ? w->model->dynamics.at_position : w->model->dynamics.at_velocity) * LANES;
    if (!dynamics_has_level(w->dynamics, position)) return HAMEL_OK;
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

static hamel_status project_sensitivities(sensitivities *w, double *const *s) {
    if (w->model->settings.projection != HAMEL_PROJECTION_ON) return HAMEL_OK;
    hamel_status status = correct_sensitivities(w, true, s);
    return status == HAMEL_OK ? correct_sensitivities(w, false, s) : status;
}

/* Computes the columns of one group of inputs. Outputs may depend on accelerations and multipliers, so the derivatives
 * of accelerations and multipliers are computed first. */
static hamel_status observe_batch(sensitivities *w, size_t batch, double *const *s, double *out) {
    const hamel_model *model = w->model;
    dynamics *k = w->dynamics;
    size_t n = w->n, columns = w->inputs->column_count;
    directions d = directions_of(w, batch, (const double *const *)s);
    hamel_status status = sensitivities_accelerate(w, &d, 0, 0);
    if (status != HAMEL_OK) return status;
    program_inputs in = model_inputs(model, &k->t, k->q, k->v, w->a, w->lambda, NULL);
    program_inputs seeds = sensitivities_seeds(w, &d);
    sensitivities_seed_solution(w, &in, &seeds);
    program_tangent(model->observation.program, &in, &seeds, k->observed_work, w->tangent_work, NULL, w->observed);
    for (size_t lane = 0; lane < d.count; lane++) {
        double *to = out + ((size_t)d.first + lane) * columns;
        memcpy(to, d.s[lane], 2 * n * sizeof *to);
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
                          "at t = %.9g the derivative of `%s%s` with respect to `%s` is not finite", t,
                          w->model->system->coordinates[column % w->n].name, column < w->n ? "" : "'", input);
    return hamel_fail(error, HAMEL_NOT_FINITE, w->model->observation.pointers[column - 2 * w->n], 0,
                      "at t = %.9g the derivative of the output `%s` with respect to `%s` is not finite", t,
                      model_output_name(w->model, column - 2 * w->n), input);
}

/* Adds an error if outputs need unique multipliers and constraints are redundant: multipliers of least norm do not have
 * the derivatives computed here. */
static hamel_status check_unique(const sensitivities *w, double t, hamel_error *error) {
    size_t active = 0;
    for (size_t c = 0; c < w->m; c++) active += w->dynamics->discrete_state.active[c];
    if (!w->inputs->unique_only || motion_rank(&w->dynamics->motion) == active) return HAMEL_OK;
    (void)hamel_fail(error, HAMEL_SINGULAR, "/simulation/sensitivities", 0,
                     "at t = %.9g the multipliers in the outputs are not unique and have no derivatives, because "
                     "constraints are redundant",
                     t);
    hamel_suggest(error, "remove lambda() and reaction() from the outputs, or remove the redundant constraints");
    return HAMEL_SINGULAR;
}

hamel_status sensitivities_see(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                               double *out, hamel_error *error) {
    hamel_status status = dynamics_evaluate(w->dynamics, t, q, v, error);
    if (status == HAMEL_OK) status = project_sensitivities(w, s);
    if (status == HAMEL_OK) status = solve_state(w, t, q, v, 0, 0, error);
    if (status == HAMEL_OK) status = check_unique(w, t, error);
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++)
        status = observe_batch(w, batch, s, out);
    if (status == HAMEL_OK) return check_finite(w, out, t, error);
    return error->status == HAMEL_OK ? dynamics_explain(w->dynamics, status, error) : status;
}
