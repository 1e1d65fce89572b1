/* dynamics_vec8.c — see the header. */
#include "engine/dynamics/dynamics_vec8.h"

#include "engine/base/tolerances.h"
#include "engine/dynamics/dynamics.h"
#include "engine/linear/mass_rank.h"

#include <assert.h>
#include <stdlib.h>

/* Upper bound on the number of coordinates. Members of larger models are integrated one by one. The speed-up for
 * pendulum chains in angles was 4.4 with 2 links, 3 with 32 and 1.6 with 64, measured with an earlier dense solver.
 * Eight dense mass matrices of 64 rows take 256 KiB, a typical second-level cache. */
enum { COORDINATES_MOST = 64 };

static bool has_simple_forces(const hamel_model *model) {
    return model->m == 0 && !model->dynamics.mass && model->n > 0 && model->n <= COORDINATES_MOST &&
           model->dynamics.W.count == 0 && model->friction.count == 0 && !model->dynamics.nonideal &&
           !model->observation.needs_free && !model->momenta.program && !model->dynamics.reaction_shift &&
           model->formulation->variables == VARIABLES_VELOCITIES && model->formulation->solver == SOLVER_MULTIPLIERS;
}

bool dynamics_vec8_serves(const hamel_model *model) {
    if (!has_simple_forces(model)) return false;
    kkt *system = dynamics_create_system(model, CONSTRAINT_ACCELERATION);
    bool serves = system && mass_vec8_serves(system);
    kkt_free(system);
    return serves;
}

static bool create_vectors(dynamics_vec8 *k) {
    const hamel_model *model = k->model;
    const program *programs[] = {model->dynamics.program, model->dynamics.accelerations, model->observation.program,
                                 model->dynamics.energy_rate};
    vec8 **const works[] = {&k->dynamics_work, &k->accelerations_work, &k->observed_work, &k->rate_work};
    size_t parameters = model->system->parameter_count, solved = model->n + ACCELERATIONS_BESIDE, work = 0;
    for (size_t i = 0; i < 4; i++) work += programs[i] ? program_workspace_doubles(programs[i]) : 0;
    vec8 *at = k->parameters =
        vec8_alloc(parameters + model->dynamics.count + solved + model->observation.count + work);
    if (!at) return false;
    at += parameters;
    k->values = at, at += model->dynamics.count;
    k->solved = at, at += solved;
    k->observed = at, at += model->observation.count;
    for (size_t i = 0; i < 4; i++) {
        *works[i] = at;
        at += programs[i] ? program_workspace_doubles(programs[i]) : 0;
    }
    return true;
}

dynamics_vec8 *dynamics_vec8_create(const hamel_model *model) {
    assert(dynamics_vec8_serves(model));
    dynamics_vec8 *k = aligned_alloc(sizeof(vec8), (sizeof *k + sizeof(vec8) - 1) / sizeof(vec8) * sizeof(vec8));
    if (!k) return NULL;
    *k = (dynamics_vec8){.model = model};
    k->lane_values = arena_doubles(&k->memory, model->dynamics.count);
    k->residual = dynamics_residual_create(model, &k->memory);
    k->kkt = dynamics_create_system(model, CONSTRAINT_ACCELERATION);
    k->mass = k->kkt ? mass_vec8_create(k->kkt) : NULL;
    if (create_vectors(k) && k->mass && k->residual && !k->memory.failed) return k;
    dynamics_vec8_free(k);
    return NULL;
}

void dynamics_vec8_free(dynamics_vec8 *k) {
    if (!k) return;
    free(k->parameters); /* one block holds all vectors */
    mass_vec8_free(k->mass);
    kkt_free(k->kkt);
    arena_free(&k->memory);
    free(k);
}

static program_inputs vec8_inputs(const dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, const vec8 *a) {
    program_inputs in = {{0}};
    in.values[SYMBOL_PARAMETER] = (const double *)k->parameters;
    in.values[SYMBOL_TIME] = (const double *)t;
    in.values[SYMBOL_COORDINATE] = (const double *)q;
    in.values[SYMBOL_VELOCITY] = (const double *)v;
    in.values[SYMBOL_ACCELERATION] = (const double *)a;
    return in;
}

void dynamics_vec8_prepare(dynamics_vec8 *k) {
    const model_dynamics *d = &k->model->dynamics;
    program_inputs in = vec8_inputs(k, NULL, NULL, NULL, NULL);
    program_prepare_vec8(d->program, &in, k->dynamics_work);
    program_prepare_vec8(k->model->observation.program, &in, k->observed_work);
    if (d->accelerations) program_prepare_vec8(d->accelerations, &in, k->accelerations_work);
    if (d->energy_rate) program_prepare_vec8(d->energy_rate, &in, k->rate_work);
}

/* Clears the lanes of *good in which a number is not finite. */
static void require_finite(const vec8 *x, size_t count, vec8_bits *good) {
    vec8 sum = {0};
    for (size_t i = 0; i < count; i++) sum += 0 * x[i];
    *good &= (vec8_bits)(sum == 0);
}

static void solve(dynamics_vec8 *k, const program_inputs *in, vec8 *a) {
    const model_dynamics *d = &k->model->dynamics;
    program_evaluate_vec8(d->program, in, k->dynamics_work, k->values);
    require_finite(k->values, d->count, &k->good);
    mass_vec8_solve(k->mass, k->values, k->values + d->at_Q, a, &k->good);
}

void dynamics_vec8_rates(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *a) {
    const model_dynamics *d = &k->model->dynamics;
    const vec8 *solved = k->solved, *pivots = solved + k->model->n;
    program_inputs in = vec8_inputs(k, t, q, v, NULL);
    if (!d->accelerations) {
        solve(k, &in, a);
        return;
    }
    program_evaluate_vec8(d->accelerations, &in, k->accelerations_work, k->solved);
    k->good &= (vec8_bits)(pivots[0] > 0) & (vec8_bits)(pivots[1] > CHOLESKY_RANK_TOLERANCE);
    require_finite(solved, k->model->n, &k->good);
    for (size_t i = 0; i < k->model->n; i++) a[i] = solved[i];
}

void dynamics_vec8_energy_rate(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *rate) {
    program_inputs in = vec8_inputs(k, t, q, v, NULL);
    program_evaluate_vec8(k->model->dynamics.energy_rate, &in, k->rate_work, rate);
    require_finite(rate, 1, &k->good);
}

void dynamics_vec8_observe(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *a) {
    program_inputs in = vec8_inputs(k, t, q, v, a);
    solve(k, &in, a);
    program_evaluate_vec8(k->model->observation.program, &in, k->observed_work, k->observed);
    require_finite(k->observed, k->model->observation.count, &k->good);
}

void dynamics_vec8_select(dynamics_vec8 *k, int lane) {
    for (size_t i = 0; i < k->model->dynamics.count; i++) k->lane_values[i] = k->values[i][lane];
}

bool dynamics_vec8_is_verified(dynamics_vec8 *k, const double *v, const double *a) {
    const double *Q = k->lane_values + k->model->dynamics.at_Q;
    equation_residual missed = dynamics_residual_of(k->residual, k->lane_values, v, Q, NULL, NULL, a, NULL);
    return missed.motion <= RESIDUAL_MOST;
}

bool dynamics_vec8_mass_is_regular(const dynamics_vec8 *k) {
    bool singular;
    return mass_is_singular(&k->model->dynamics.M, k->lane_values, &singular) == HAMEL_OK && !singular;
}
