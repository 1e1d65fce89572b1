/* dynamics_vec8.c — see the header. The functions have the operations of dynamics.c and dynamics_project.c. */
#include "engine/dynamics/dynamics_vec8.h"

#include "engine/dynamics/dynamics.h"
#include "engine/linear/mass_rank.h"
#include "engine/linear/newton_progress.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Upper bound on the number of coordinates. Members of larger models are integrated one by one. The speed-up for
 * pendulum chains in angles was 4.4 with 2 links, 3 with 32 and 1.6 with 64, measured with an earlier dense solver.
 * Eight dense mass matrices of 64 rows take 256 KiB, a typical second-level cache. */
enum { COORDINATES_MOST = 64 };

/* --- creation ----------------------------------------------------------------------------------------------------- */

static bool has_simple_forces(const hamel_model *model) {
    return !model->dynamics.mass && model->n > 0 && model->n <= COORDINATES_MOST && model->dynamics.W.count == 0 &&
           model->friction.count == 0 && !model->dynamics.nonideal && !model->observation.needs_free &&
           model->observation.integral_count == 0 && !model->observation.jerk && !model->momenta.program &&
           !model->dynamics.reaction_shift && model->formulation->variables == VARIABLES_VELOCITIES &&
           model->formulation->solver == SOLVER_MULTIPLIERS;
}

/* Velocity constraints whose gradients depend on velocities are monitored in each step (monitor.c). */
static bool has_simple_constraints(const hamel_model *model) {
    return model->m == 0 || (model->settings.projection == HAMEL_PROJECTION_ON && model->dynamics.linear_velocities);
}

/* Returns the number of rows up to the order `highest` that act at the start. */
static size_t count_rows(const hamel_model *model, constraint_order highest) {
    size_t count = 0;
    for (size_t c = 0; c < model->m; c++) count += model->active[c] && model->order[c] <= highest;
    return count;
}

/* Creates the system of these rows, in s->scalar[which] and *out. Returns false if out of memory, or if the system is
 * not supported. */
static bool create_system(dynamics_vec8_systems *s, int which, kkt_vec8 **out, const hamel_model *model,
                          constraint_order highest) {
    kkt *k = s->scalar[which] = dynamics_create_system(model, (int)highest);
    if (!k || kkt_select(k, model->active) != HAMEL_OK || !kkt_vec8_serves(k)) return false;
    return (*out = kkt_vec8_create(k)) != NULL;
}

static bool create_systems(dynamics_vec8_systems *s, const hamel_model *model) {
    size_t all = count_rows(model, CONSTRAINT_ACCELERATION), velocities = count_rows(model, CONSTRAINT_VELOCITY),
           positions = count_rows(model, CONSTRAINT_HOLONOMIC);
    *s = (dynamics_vec8_systems){.all = NULL};
    if (!create_system(s, 0, &s->all, model, CONSTRAINT_ACCELERATION)) return false;
    if (velocities == all)
        s->velocities = s->all;
    else if (velocities > 0 && !create_system(s, 1, &s->velocities, model, CONSTRAINT_VELOCITY))
        return false;
    if (positions == all)
        s->positions = s->all;
    else if (positions > 0 && !create_system(s, 2, &s->positions, model, CONSTRAINT_HOLONOMIC))
        return false;
    return true;
}

static void free_systems(dynamics_vec8_systems *s) {
    if (s->velocities != s->all) kkt_vec8_free(s->velocities);
    if (s->positions != s->all) kkt_vec8_free(s->positions);
    kkt_vec8_free(s->all);
    for (size_t i = 0; i < sizeof s->scalar / sizeof *s->scalar; i++)
        if (s->scalar[i]) kkt_free(s->scalar[i]);
}

bool dynamics_vec8_serves(const hamel_model *model) {
    if (!has_simple_forces(model) || !has_simple_constraints(model)) return false;
    dynamics_vec8_systems systems;
    bool serves = create_systems(&systems, model);
    free_systems(&systems);
    return serves;
}

static bool create_vectors(dynamics_vec8 *k) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m, count = model->system->parameter_count;
    const struct {
        vec8 **array;
        size_t length;
    } vectors[] = {{&k->parameters, count},
                   {&k->values, model->dynamics.count},
                   {&k->solved, n + m + ACCELERATIONS_BESIDE},
                   {&k->observed, model->observation.count},
                   {&k->lambda, m},
                   {&k->b, m},
                   {&k->step, n},
                   {&k->scale, m},
                   {&k->stabilization, 2},
                   {&k->residual_work, 5 * n}};
    size_t all = 0;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) all += vectors[i].length;
    for (size_t i = 0; i < VEC8_PROGRAMS; i++) all += k->programs[i] ? program_workspace_doubles(k->programs[i]) : 0;
    vec8 *at = vec8_alloc(all);
    if (!at) return false;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i].array = at;
        at += vectors[i].length;
    }
    for (size_t i = 0; i < VEC8_PROGRAMS; i++) {
        k->works[i] = at;
        at += k->programs[i] ? program_workspace_doubles(k->programs[i]) : 0;
    }
    return true;
}

/* Lists the outputs of the dynamics program that belong to inactive constraints (dynamics_select). */
static bool mask_inactive(dynamics_vec8 *k) {
    const hamel_model *model = k->model;
    const sparse_block *A = &model->dynamics.A;
    k->masked = arena_alloc(&k->memory, A->count + 3 * model->m, sizeof *k->masked);
    if (!k->masked) return false;
    for (size_t e = 0; e < A->count; e++)
        if (!model->active[A->row[e]]) k->masked[k->masked_count++] = A->at + e;
    for (size_t c = 0; c < model->m; c++) {
        if (model->active[c]) continue;
        k->masked[k->masked_count++] = model->dynamics.at_b + c;
        k->masked[k->masked_count++] = model->dynamics.at_velocity + c;
        k->masked[k->masked_count++] = model->dynamics.at_position + c;
    }
    return true;
}

dynamics_vec8 *dynamics_vec8_create(const hamel_model *model) {
    assert(dynamics_vec8_serves(model));
    dynamics_vec8 *k = aligned_alloc(sizeof(vec8), (sizeof *k + sizeof(vec8) - 1) / sizeof(vec8) * sizeof(vec8));
    if (!k) return NULL;
    *k = (dynamics_vec8){.model = model,
                         .width = native_widest(),
                         .programs = {model->dynamics.program, model->dynamics.accelerations,
                                      model->dynamics.correct_positions, model->dynamics.correct_velocities,
                                      model->observation.program, model->dynamics.energy_rate, model->events.roots}};
    if (model->jit != HAMEL_JIT_OFF) /* otherwise, and on failure, programs are interpreted */
        (void)native_translate_vec8(&k->code, k->width, k->programs, VEC8_PROGRAMS, k->made);
    k->residual = dynamics_residual_create(model, &k->memory);
    if (ARENA_DOUBLES(&k->memory, {&k->lane_values, model->dynamics.count}, {&k->usual, model->m}) && k->residual &&
        mask_inactive(k) && create_vectors(k) && create_systems(&k->systems, model))
        return k;
    dynamics_vec8_free(k);
    return NULL;
}

void dynamics_vec8_free(dynamics_vec8 *k) {
    if (!k) return;
    free(k->parameters); /* one block holds all vectors */
    native_free(&k->code);
    free_systems(&k->systems);
    arena_free(&k->memory);
    free(k);
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static program_inputs vec8_inputs(const dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, const vec8 *a) {
    program_inputs in = {{0}};
    in.values[SYMBOL_PARAMETER] = (const double *)k->parameters;
    in.values[SYMBOL_TIME] = (const double *)t;
    in.values[SYMBOL_COORDINATE] = (const double *)q;
    in.values[SYMBOL_VELOCITY] = (const double *)v;
    in.values[SYMBOL_ACCELERATION] = (const double *)a;
    in.values[SYMBOL_MULTIPLIER] = (const double *)k->lambda;
    in.values[SYMBOL_STABILIZATION] = (const double *)k->stabilization;
    return in;
}

void dynamics_vec8_prepare(dynamics_vec8 *k) {
    program_inputs in = vec8_inputs(k, NULL, NULL, NULL, NULL);
    for (size_t i = 0; i < VEC8_PROGRAMS; i++)
        if (k->programs[i]) program_prepare_vec8(k->programs[i], &in, k->works[i]);
}

static void run_program(dynamics_vec8 *k, int which, const program_inputs *in, vec8 *outputs) {
    if (k->made[which])
        native_evaluate_vec8(k->made[which], k->width, in, k->works[which], outputs);
    else
        program_evaluate_vec8(k->programs[which], in, k->works[which], outputs);
}

static void evaluate(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v) {
    const model_dynamics *d = &k->model->dynamics;
    program_inputs in = vec8_inputs(k, t, q, v, NULL);
    run_program(k, VEC8_DYNAMICS, &in, k->values);
    for (size_t i = 0; i < k->masked_count; i++) k->values[k->masked[i]] = (vec8){0};
    vec8_require_finite(k->values, d->count, &k->good);
}

/* Solves for a and k->lambda at the states evaluated last, without stabilization. Its products with 0 decide the sign
 * of zeros. */
static void solve(dynamics_vec8 *k, vec8 *a) {
    const model_dynamics *d = &k->model->dynamics;
    const vec8 *b = k->values + d->at_b, *velocity = k->values + d->at_velocity, *position = k->values + d->at_position,
               zero = k->stabilization[0];
    for (size_t c = 0; c < k->model->m; c++) k->b[c] = b[c] - zero * velocity[c] - zero * position[c];
    kkt_vec8_factor(k->systems.all, k->values, &k->good);
    kkt_vec8_solve(k->systems.all, k->values + d->at_Q, k->b, a, k->lambda, &k->good);
}

/* Copies the outputs of the program `accelerations`, if they can be trusted (solve_at_once), in the lanes `which`. */
VEC8_INLINE void take_solved_body(dynamics_vec8 *k, const vec8_bits *which, vec8 *a) {
    size_t n = k->model->n, m = k->model->m;
    const vec8 *solved = k->solved, *pivots = solved + n + m;
    vec8_bits good = (vec8_bits)(pivots[0] > 0) & (vec8_bits)(pivots[1] > CHOLESKY_RANK_TOLERANCE);
    vec8_require_finite_body(solved, n + m, &good);
    k->good &= good | ~*which;
    for (size_t i = 0; i < n; i++) vec8_choose(which, &solved[i], &a[i], &a[i]);
    for (size_t c = 0; c < m; c++) vec8_choose(which, &solved[n + c], &k->lambda[c], &k->lambda[c]);
}
VEC8_FUNCTION(void, take_solved, (dynamics_vec8 * k, const vec8_bits *which, vec8 *a), (k, which, a))

void dynamics_vec8_rates(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *a) {
    if (!k->model->dynamics.accelerations) {
        evaluate(k, t, q, v);
        solve(k, a);
        kkt_vec8_margin(k->systems.all, &k->margin);
        return;
    }
    const vec8_bits all = ~(vec8_bits){0};
    const vec8 *pivots = k->solved + k->model->n + k->model->m;
    program_inputs in = vec8_inputs(k, t, q, v, NULL);
    run_program(k, VEC8_ACCELERATIONS, &in, k->solved);
    take_solved(k, &all, a);
    for (int lane = 0; k->model->m > 0 && lane < VEC8_SIZE; lane++) k->margin[lane] = sqrt(pivots[1][lane]);
}

void dynamics_vec8_energy_rate(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *rate) {
    program_inputs in = vec8_inputs(k, t, q, v, NULL);
    run_program(k, VEC8_ENERGY_RATE, &in, rate);
    vec8_require_finite(rate, 1, &k->good);
}

/* Solves by the program `accelerations` in the lanes `regular`, by the matrices in the other lanes. */
static void solve_states(dynamics_vec8 *k, const vec8_bits *regular, const program_inputs *in, vec8 *a) {
    const vec8_bits good = k->good;
    bool all = true;
    for (int i = 0; i < VEC8_SIZE; i++) all = all && (*regular)[i];
    if (!k->programs[VEC8_ACCELERATIONS]) {
        solve(k, a);
        return;
    }
    if (!all) solve(k, a);
    k->good |= good & *regular;
    run_program(k, VEC8_ACCELERATIONS, in, k->solved);
    take_solved(k, regular, a);
}

void dynamics_vec8_observe(dynamics_vec8 *k, const vec8_bits *regular, const vec8 *t, const vec8 *q, const vec8 *v,
                           vec8 *a) {
    program_inputs in = vec8_inputs(k, t, q, v, a);
    solve_states(k, regular, &in, a);
    dynamics_residual_verify_vec8(k->residual, k->residual_work, k->values, v, k->usual, a, k->lambda, &k->good);
    run_program(k, VEC8_OBSERVATION, &in, k->observed);
    vec8_require_finite(k->observed, k->model->observation.count, &k->good);
}

void dynamics_vec8_roots(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *values) {
    program_inputs in = vec8_inputs(k, t, q, v, NULL);
    run_program(k, VEC8_ROOTS, &in, values);
}

void dynamics_vec8_margin(const dynamics_vec8 *k, vec8 *margin) {
    kkt_vec8_margin(k->systems.all, margin);
}

void dynamics_vec8_select(dynamics_vec8 *k, int lane) {
    for (size_t i = 0; i < k->model->dynamics.count; i++) k->lane_values[i] = k->values[i][lane];
}

bool dynamics_vec8_mass_is_regular(const dynamics_vec8 *k) {
    bool singular;
    return mass_is_singular(&k->model->dynamics.M, k->lane_values, &singular) == HAMEL_OK && !singular;
}

/* --- projection --------------------------------------------------------------------------------------------------- */

#define vec8_size(x) ((vec8)((vec8_bits)(x)&INT64_MAX)) /* |x| */

/* Computes the scales of a level in the lanes `which` (find_scales in dynamics_project.c). */
VEC8_INLINE void find_scales_body(dynamics_vec8 *k, const vec8_bits *which, const vec8 *x) {
    const model_dynamics *d = &k->model->dynamics;
    const vec8 *A = k->values + d->A.at, one = {1, 1, 1, 1, 1, 1, 1, 1};
    size_t e = 0;
    for (size_t c = 0; c < k->model->m; c++) {
        vec8 scale = {0};
        for (; e < d->A.count && (size_t)d->A.row[e] == c; e++) {
            vec8 size = vec8_size(x[d->A.column[e]]);
            vec8_bits large = (vec8_bits)(size > 1);
            vec8_choose(&large, &size, &one, &size);
            scale += vec8_size(A[e]) * size;
        }
        vec8_choose(which, &scale, &k->scale[c], &k->scale[c]);
    }
}
VEC8_FUNCTION(void, find_scales, (dynamics_vec8 * k, const vec8_bits *which, const vec8 *x), (k, which, x))

/* Sets *worst to the largest scaled residuals of a level (largest_residual in dynamics_project.c). */
VEC8_INLINE void largest_residual_body(const dynamics_vec8 *k, bool position, vec8 *worst) {
    const model_dynamics *d = &k->model->dynamics;
    const vec8 *residual = k->values + (position ? d->at_position : d->at_velocity), *scale = k->scale;
    const vec8 one = {1, 1, 1, 1, 1, 1, 1, 1};
    vec8 largest = {0};
    for (size_t c = 0; c < k->model->m; c++) {
        vec8_bits positive = (vec8_bits)(scale[c] > 0);
        vec8 left = vec8_size(residual[c]), divisor;
        vec8_choose(&positive, &scale[c], &one, &divisor);
        vec8 here = left / divisor;
        vec8_bits larger = (vec8_bits)(left > largest * scale[c]) & (vec8_bits)(here > largest);
        vec8_choose(&larger, &here, &largest, &largest);
    }
    *worst = largest;
}
VEC8_FUNCTION(void, largest_residual, (const dynamics_vec8 *k, bool position, vec8 *worst), (k, position, worst))

/* Computes the step for the residuals −k->b into k->step. Clears the lanes of *solved in which this fails. */
static void find_step(dynamics_vec8 *k, bool position, const vec8 *t, const vec8 *q, const vec8 *v, vec8_bits *solved) {
    const size_t n = k->model->n;
    kkt_vec8 *system = position ? k->systems.positions : k->systems.velocities;
    int which = position && k->programs[VEC8_POSITIONS] ? VEC8_POSITIONS : VEC8_VELOCITIES;
    if (!k->programs[which]) {
        kkt_vec8_factor(system, k->values, solved);
        kkt_vec8_solve(system, NULL, k->b, k->step, NULL, solved);
        return;
    }
    program_inputs in = vec8_inputs(k, t, q, v, NULL);
    in.values[SYMBOL_MULTIPLIER] = (const double *)k->b;
    run_program(k, which, &in, k->solved);
    *solved &= (vec8_bits)(k->solved[n] > 0) & (vec8_bits)(k->solved[n + 1] > CHOLESKY_RANK_TOLERANCE);
    memcpy(k->step, k->solved, n * sizeof *k->step);
}

/* Takes one Newton step of a level in the lanes `open`. */
static void correct_level(dynamics_vec8 *k, bool position, const vec8_bits *open, const vec8 *t, vec8 *q, vec8 *v) {
    const model_dynamics *d = &k->model->dynamics;
    const vec8 *residual = k->values + (position ? d->at_position : d->at_velocity);
    vec8_bits solved = ~(vec8_bits){0};
    vec8 *x = position ? q : v;
    for (size_t c = 0; c < k->model->m; c++) k->b[c] = -residual[c];
    find_step(k, position, t, q, v, &solved);
    vec8_require_finite(k->step, k->model->n, &solved);
    k->good &= solved | ~*open;
    for (size_t j = 0; j < k->model->n; j++) {
        vec8 moved = x[j] + k->step[j];
        vec8_choose(open, &moved, &x[j], &x[j]);
    }
}

/* Closes the lanes of *open in which Newton's method has ended or an evaluation has failed. Returns true if all lanes
 * are closed. */
static bool close_lanes(const dynamics_vec8 *k, double *before, const vec8 *worst, vec8_bits *open) {
    bool any = false;
    *open &= k->good;
    for (int i = 0; i < VEC8_SIZE; i++) {
        if ((*open)[i] && newton_has_ended(&before[i], (*worst)[i], NEWTON_RESIDUAL)) (*open)[i] = 0;
        any = any || (*open)[i];
    }
    return !any;
}

static void project_level(dynamics_vec8 *k, const vec8_bits *which, const vec8 *t, vec8 *q, vec8 *v, bool position) {
    double before[VEC8_SIZE];
    vec8_bits open = *which;
    vec8 worst, *x = position ? q : v;
    if (!(position ? k->systems.positions : k->systems.velocities)) return;
    for (int i = 0; i < VEC8_SIZE; i++) before[i] = INFINITY;
    for (int i = 0; i < PROJECT_ITERATIONS; i++) {
        vec8_bits far = {0};
        bool any = false;
        for (int lane = 0; lane < VEC8_SIZE; lane++)
            if (!(before[lane] < SHORT_STEP)) far[lane] = UINT64_MAX, any = true;
        if (any) find_scales(k, &far, x);
        largest_residual(k, position, &worst);
        if (close_lanes(k, before, &worst, &open)) break;
        correct_level(k, position, &open, t, q, v);
        evaluate(k, t, q, v);
    }
    largest_residual(k, position, &worst);
    k->good &= (vec8_bits)(worst < ON_CONSTRAINTS);
}

void dynamics_vec8_project(dynamics_vec8 *k, const vec8_bits *which, const vec8 *t, vec8 *q, vec8 *v) {
    evaluate(k, t, q, v);
    project_level(k, which, t, q, v, true);
    project_level(k, which, t, q, v, false);
}
