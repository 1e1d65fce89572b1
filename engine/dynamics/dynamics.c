/* dynamics.c — evaluation of the dynamics program and solution for accelerations and multipliers. */
#include "engine/dynamics/dynamics.h"

#include "engine/base/finite.h"
#include "engine/base/monotonic.h"
#include "engine/base/random.h"
#include "engine/linear/mass_rank.h"
#include "engine/linear/newton_progress.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest accepted contradiction of redundant constraints, relative to the right-hand side. At consistent states the
 * contradiction is a rounding error. Between projections it is of the order of the integration tolerance, at most 1e-3
 * for usable tolerances. */
static const double CONTRADICTION = 1e-3;
enum { FORCE_ITERATIONS = 60 };
/* After a singular evaluation, the program `accelerations` is skipped in the next REST evaluations of the dynamics.
 * An integration takes about a hundred evaluations to pass a singular state. */
enum { REST = 100 };
/* Above this number of unknowns, a solution is copied and checked by vector instructions. The last values stored by the
 * program have then left the store buffer, which holds about 60 values. */
enum { SMALL = 64 };
enum { MASS_STATES = 3 }; /* M counts as singular at every state if it is singular at this many states */
/* Largest distance of the tested states from the initial values in a coordinate, relative to 1 + |q|. With a smaller
 * value, the states would stay near special initial values, such as angles of 0. With a larger value, more states would
 * be outside the domains of the expressions. */
static const double BESIDE = 0.5;

kkt *dynamics_create_system(const hamel_model *model, int highest) {
    bool *rows = calloc(model->m + 1, sizeof *rows);
    if (!rows) return NULL;
    for (size_t c = 0; c < model->m; c++) rows[c] = (int)model->order[c] <= highest;
    const model_dynamics *d = &model->dynamics;
    kkt *system = kkt_create(&d->M, &d->A, highest == CONSTRAINT_ACCELERATION ? &d->W : NULL, rows,
                             model->formulation->solver == SOLVER_LEAST_REACTION);
    free(rows);
    return system;
}

/* Returns true if no constraint has a higher order than `highest` and no force depends on multipliers. */
static bool has_all_rows(const hamel_model *model, constraint_order highest) {
    bool all = model->dynamics.W.count == 0;
    for (size_t c = 0; c < model->m; c++) all = all && model->order[c] <= highest;
    return all;
}

/* Creates the systems. A projection that uses all rows shares the system of the accelerations and its factorization. */
static bool create_systems(dynamics *k) {
    const hamel_model *model = k->model;
    if (!(k->all = dynamics_create_system(model, CONSTRAINT_ACCELERATION))) return false;
    k->positions =
        has_all_rows(model, CONSTRAINT_HOLONOMIC) ? k->all : dynamics_create_system(model, CONSTRAINT_HOLONOMIC);
    k->velocities =
        has_all_rows(model, CONSTRAINT_VELOCITY) ? k->all : dynamics_create_system(model, CONSTRAINT_VELOCITY);
    if (model->observation.needs_free && !(k->mass = dynamics_create_system(model, -1))) return false;
    return k->positions && k->velocities;
}

/* Lists the outputs of the dynamics program that belong to inactive constraints. */
static void mask_values(dynamics *k) {
    assert(k->discrete_state.model == k->model);
    const hamel_model *model = k->model;
    const bool *active = k->discrete_state.active;
    size_t count = 0;
    for (size_t e = 0; e < model->dynamics.A.count; e++)
        if (!active[model->dynamics.A.row[e]]) k->masked[count++] = model->dynamics.A.at + e;
    for (size_t c = 0; c < model->m; c++) {
        if (active[c]) continue;
        k->masked[count++] = model->dynamics.at_b + c;
        k->masked[count++] = model->dynamics.at_velocity + c;
        k->masked[count++] = model->dynamics.at_position + c;
    }
    k->masked_count = count;
}

hamel_status dynamics_select(dynamics *k, const bool *active) {
    memmove(k->discrete_state.active, active, k->model->m * sizeof *active);
    mask_values(k);
    if (k->motion.basis) velocity_basis_release(k->motion.basis);
    rank_survey_drop(k);
    hamel_status status = kkt_select(k->all, active);
    if (status == HAMEL_OK && k->positions != k->all) status = kkt_select(k->positions, active);
    if (status == HAMEL_OK && k->velocities != k->all) status = kkt_select(k->velocities, active);
    return status;
}

dynamics_memory dynamics_remember(dynamics *k) {
    if (k->motion.basis) velocity_basis_remember(k->motion.basis);
    return (dynamics_memory){k->rest, kkt_remember(k->all), kkt_remember(k->positions), kkt_remember(k->velocities)};
}

void dynamics_recall(dynamics *k, const dynamics_memory *memory) {
    assert(k->rest <= REST && memory->rest <= REST);
    k->rest = memory->rest;
    if (k->motion.basis) velocity_basis_recall(k->motion.basis);
    kkt_recall(k->all, memory->all);
    if (k->positions != k->all) kkt_recall(k->positions, memory->positions);
    if (k->velocities != k->all) kkt_recall(k->velocities, memory->velocities);
}

bool dynamics_is_regular(const dynamics *k) {
    return !k->singular_mass && k->rest == 0 && kkt_is_regular(k->all) && kkt_is_regular(k->positions) &&
           kkt_is_regular(k->velocities);
}

/* Returns true if values[count], which a program has just stored, are finite. Up to SMALL values are loaded one by one:
 * a vector load of values that were just stored as scalars would wait for the store buffer. */
static inline bool are_finite(const double *values, size_t count) {
    if (count > SMALL) return all_finite(values, count);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

/* Evaluates the program `accelerations` at the state (q, v), and stores the state. Returns false if a pivot is too
 * small to trust the result. A copy of k->q and k->v would stall: a vector load cannot read two scalars just stored. */
static inline bool solve_at_once(dynamics *k, double t, const double *q, const double *v, double alpha, double beta,
                                 double *a, double *lambda) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m;
    const double *solved = k->solved, *pivots = solved + n + m;
    k->t = t, k->q = q, k->v = v;
    k->stabilization[0] = alpha;
    k->stabilization[1] = beta * beta;
    k->solved_from.values[SYMBOL_COORDINATE] = q;
    k->solved_from.values[SYMBOL_VELOCITY] = v;
    program_evaluate(model->dynamics.accelerations, &k->solved_from, k->accelerations_work, k->solved);
    if (!(pivots[0] > 0 && pivots[1] > CHOLESKY_RANK_TOLERANCE)) return false;
    k->margin = sqrt(pivots[1]);
    if (n + m > SMALL) {
        memcpy(a, solved, n * sizeof *a);
        if (lambda) memcpy(lambda, solved + n, m * sizeof *lambda);
        return all_finite(solved, n + m);
    }
    for (size_t i = 0; i < n + m; i++) { /* scalar loads, for the reason given at are_finite */
        if (!isfinite(solved[i])) return false;
        if (i < n)
            a[i] = solved[i];
        else if (lambda)
            lambda[i - n] = solved[i];
    }
    return true;
}

/* Returns true if M = Bᵀ D B has accurate pivots at the initial state. This test takes O(n) operations for trees,
 * whereas expanding and factoring M takes O(n³). */
static bool has_regular_pivots(dynamics *k) {
    const hamel_model *model = k->model;
    if (!model->dynamics.mass || !model->dynamics.accelerations || model->m > 0) return false;
    k->t = model->settings.start, k->q = model->q0, k->v = model->v0;
    discrete_state_choose_branches(&k->discrete_state, k->t, k->q, k->v);
    return solve_at_once(k, k->t, k->q, k->v, 0, 0, k->product, NULL);
}

/* Sets k->singular_mass to true if M is singular at the initial values and at states near them. The initial values
 * alone may be special. States at which M is not finite are ignored. Returns false if out of memory. */
static bool find_mass_rank(dynamics *k) {
    const hamel_model *model = k->model;
    double *q = k->project_step;
    uint64_t seed = 1;
    if (has_regular_pivots(k)) return true;
    memcpy(q, model->q0, model->n * sizeof *q);
    for (int state = 0; state < MASS_STATES; state++) {
        hamel_status status = dynamics_evaluate(k, model->settings.start, q, model->v0, NULL);
        if (status == HAMEL_OK) status = mass_is_singular(&model->dynamics.M, k->values, &k->singular_mass);
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

/* Selects the initially active constraints. Returns false if out of memory. */
static bool select_initial(dynamics *k) {
    const hamel_model *model = k->model;
    bool all = true;
    for (size_t c = 0; c < model->m; c++) all = all && model->active[c];
    return all || dynamics_select(k, model->active) == HAMEL_OK;
}

static bool create_arrays(dynamics *k) {
    const hamel_model *model = k->model;
    const model_dynamics *d = &model->dynamics;
    arena *memory = &k->memory;
    size_t n = model->n, m = model->m;
    k->masked = arena_alloc(memory, d->A.count + 3 * m, sizeof *k->masked);
    k->dynamics_work = model_workspace(model, d->program, memory);
    k->observed_work = model_workspace(model, model->observation.program, memory);
    k->rate_work = model_workspace(model, d->energy_rate, memory);
    k->accelerations_work = model_workspace(model, d->accelerations, memory);
    k->positions_work = model_workspace(model, model_correction(model, true), memory);
    k->velocities_work = model_workspace(model, model_correction(model, false), memory);
    k->nonideal_work = model_workspace(model, d->nonideal, memory);
    k->jerk_work = model_workspace(model, model->observation.jerk, memory);
    return ARENA_DOUBLES(memory, {&k->values, d->value_count}, {&k->mass_work, d->mass ? congruence_work(d->mass) : 0},
                         {&k->product, d->mass ? n : 0}, {&k->magnitude, d->mass ? n : 0}, {&k->lambda, m}, {&k->b, m},
                         {&k->position_scale, m}, {&k->velocity_scale, m}, {&k->project_step, n}, {&k->ideal, n},
                         {&k->nonideal, n}, {&k->solved, n + m + ACCELERATIONS_BESIDE}, {&k->survey.usual, m},
                         {&k->jerk, n}, {&k->jerk_lambda, m}, {&k->jerk_right, model->observation.jerk ? n + m : 0},
                         {&k->survey.state, 2 * n});
}

static bool create_motion_solver(dynamics *k) {
    const solver_kind solver = k->model->formulation->solver;
    motion_solver *s = &k->motion;
    *s = (motion_solver){.kkt = k->all, .zero = arena_doubles(&k->memory, k->model->m)};
    bool projects = solver == SOLVER_PROJECTION || solver == SOLVER_TRANSITIVITY;
    if (projects && !(s->basis = velocity_basis_create(k->model, &k->memory))) return false;
    if (solver != SOLVER_MULTIPLIERS && solver != SOLVER_LEAST_REACTION)
        s->null_space = null_space_create(k->model, &k->discrete_state, s->basis, &k->memory);
    return !k->memory.failed && (s->null_space || solver == SOLVER_MULTIPLIERS || solver == SOLVER_LEAST_REACTION);
}

static bool create_parts(dynamics *k) {
    const hamel_model *model = k->model;
    arena *memory = &k->memory;
    if (!create_arrays(k) || !discrete_state_create(&k->discrete_state, model, memory)) return false;
    if (model->friction.count && !(k->friction = friction_create(model, memory))) return false;
    if (!(k->residual = dynamics_residual_create(model, memory)) || !create_systems(k)) return false;
    return create_motion_solver(k) && select_initial(k);
}

dynamics *dynamics_create(const hamel_model *model) {
    dynamics *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->model = model;
    k->solved_from = model_inputs(model, &k->t, NULL, NULL, NULL, NULL, NULL);
    k->solved_from.values[SYMBOL_STABILIZATION] = k->stabilization;
    bool good = create_parts(k);
    k->solved_from.values[SYMBOL_BRANCH] = k->discrete_state.branches;
    if (!good || !find_mass_rank(k)) {
        dynamics_free(k);
        return NULL;
    }
    k->may_omit_mass = model->dynamics.mass && model->dynamics.accelerations && !k->singular_mass && model->m == 0 &&
                       model->events.root_count == 0 && !model->observation.needs_free && !model->observation.jerk;
    return k;
}

bool dynamics_renew(dynamics *k) {
    const hamel_model *model = k->model;
    const model_dynamics *d = &model->dynamics;
    const struct {
        const program *program;
        double *work;
    } all[] = {{d->program, k->dynamics_work},  {model->observation.program, k->observed_work},
               {d->energy_rate, k->rate_work},  {d->accelerations, k->accelerations_work},
               {d->nonideal, k->nonideal_work}, {model->observation.jerk, k->jerk_work}};
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    assert(model->events.root_count == 0 && model->friction.count == 0 && !k->motion.null_space);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].program) program_prepare(all[i].program, &in, all[i].work);
    kkt *const systems[] = {k->all, k->positions, k->velocities, k->mass};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (systems[i]) kkt_reset(systems[i]);
    rank_survey_drop(k);
    k->rest = 0;
    k->singular_mass = k->without_mass = false;
    return find_mass_rank(k);
}

void dynamics_free(dynamics *k) {
    if (!k) return;
    if (k->positions != k->all) kkt_free(k->positions);
    if (k->velocities != k->all) kkt_free(k->velocities);
    kkt_free(k->mass);
    null_space_free(k->other_null_space);
    null_space_free(k->motion.null_space);
    velocity_basis_free(k->motion.basis);
    kkt_free(k->all);
    arena_free(&k->memory);
    free(k);
}

void dynamics_limit(dynamics *k, hamel_poll *poll, double deadline) {
    k->poll = poll;
    k->deadline = deadline;
}

static bool is_stopped(const dynamics *k) {
    return hamel_ask(k->poll) != HAMEL_OK || (k->deadline > 0 && monotonic_coarse() > k->deadline);
}

void dynamics_expand_mass(dynamics *k) {
    const model_dynamics *d = &k->model->dynamics;
    congruence_evaluate(d->mass, k->values + d->at_mass, &d->M, d->mass_places, k->mass_work, k->values + d->M.at);
    k->without_mass = false;
}

static hamel_status evaluate_again(dynamics *k, bool omit_mass, hamel_error *error) {
    const hamel_model *model = k->model;
    program_inputs in = discrete_state_inputs(&k->discrete_state, &k->t, k->q, k->v, NULL, k->lambda);
    program_evaluate(model->dynamics.program, &in, k->dynamics_work, k->values);
    for (size_t i = 0; i < k->masked_count; i++) k->values[k->masked[i]] = 0;
    k->without_mass = omit_mass;
    if (model->dynamics.mass && !omit_mass) dynamics_expand_mass(k);
    if (are_finite(k->values, omit_mass ? model->dynamics.count : model->dynamics.value_count)) return HAMEL_OK;
    if (!error) return HAMEL_NOT_FINITE;
    return model_not_finite(model, model->dynamics.program, &in, k->dynamics_work, k->t, "",
                            "a value in the equations of motion", error);
}

hamel_status dynamics_evaluate_again(dynamics *k, hamel_error *error) {
    return evaluate_again(k, false, error);
}

static hamel_status evaluate_at(dynamics *k, double t, const double *q, const double *v, bool omit_mass,
                                hamel_error *error) {
    k->t = t, k->q = q, k->v = v;
    if (is_stopped(k)) return HAMEL_CANCELED;
    if (!k->held) discrete_state_choose_branches(&k->discrete_state, t, q, v);
    if (k->model->dynamics.W.count) memset(k->lambda, 0, k->model->m * sizeof *k->lambda);
    return evaluate_again(k, omit_mass, error);
}

hamel_status dynamics_evaluate(dynamics *k, double t, const double *q, const double *v, hamel_error *error) {
    return evaluate_at(k, t, q, v, false, error);
}

hamel_status dynamics_evaluate_without_mass(dynamics *k, double t, const double *q, const double *v,
                                            hamel_error *error) {
    return evaluate_at(k, t, q, v, k->may_omit_mass, error);
}

void dynamics_multiply_mass(dynamics *k, const double *x) {
    const model_dynamics *d = &k->model->dynamics;
    congruence_multiply(d->mass, k->values + d->at_mass, x, k->mass_work, k->product, k->magnitude);
}

static void stabilized(dynamics *k, double alpha, double beta) {
    const hamel_model *model = k->model;
    const double *b = k->values + model->dynamics.at_b, *velocity = dynamics_velocity(k),
                 *position = dynamics_position(k);
    for (size_t c = 0; c < model->m; c++) {
        /* a violation f of a velocity constraint decays as f' = −αf */
        double damping = model->order[c] == CONSTRAINT_HOLONOMIC ? 2 * alpha : alpha;
        k->b[c] = b[c] - damping * velocity[c] - beta * beta * position[c];
    }
}

bool dynamics_needs_multipliers(const dynamics *k) {
    return k->model->dynamics.W.count > 0 || k->model->dynamics.nonideal || k->friction;
}

/* Solves the factored system for a and lambda, with the forces g on the right-hand side. If `whole` is true, includes
 * Coulomb friction. */
static hamel_status solve_factored(dynamics *k, const double *g, bool whole, double *a, double *lambda,
                                   hamel_error *error) {
    hamel_status status = motion_solve(&k->motion, g, k->b, CONTRADICTION, a, lambda);
    if (status != HAMEL_OK || !whole || !k->friction) return status;
    return friction_solve(k->friction, &k->motion, k->values, g, k->b, CONTRADICTION, k->t, a, lambda, error);
}

/* Finds a and lambda if forces contain multipliers, by Newton's method from k->lambda. The linear part W λ of Q(λ) is
 * on the left-hand side, so the right-hand side is g = Q(λ) − W λ + C. If C is NULL, C is omitted and Coulomb friction
 * is not included. */
static hamel_status solve_with_forces(dynamics *k, const double *C, double *a, double *lambda, hamel_error *error) {
    const hamel_model *model = k->model;
    double *g = k->values + model->dynamics.at_Q; /* Q, overwritten by g; each iteration evaluates Q again */
    double change = 0;
    for (int iteration = 0; iteration < FORCE_ITERATIONS; iteration++) {
        hamel_status status = iteration || C ? dynamics_evaluate_again(k, error) : HAMEL_OK;
        if (status == HAMEL_OK) status = motion_factor(&k->motion, k->t, k->q, k->v, k->values);
        if (status != HAMEL_OK) return status;
        sparse_block_multiply(&model->dynamics.W, k->values, -1, k->lambda, g);
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
        if (change <= NEWTON_STEP.rounding * size || size == 0) return HAMEL_OK;
    }
    if (error)
        (void)hamel_fail(
            error, HAMEL_SINGULAR, "/generalized_forces", 0,
            "at t = %.9g the iteration for forces that contain multipliers does not converge (Painlevé's paradox)",
            k->t);
    return HAMEL_SINGULAR;
}

/* Sets out[n] to Aᵀλ for the first `count` constraints. */
static void reaction(const dynamics *k, const double *lambda, size_t count, double *out) {
    const hamel_model *model = k->model;
    memset(out, 0, model->n * sizeof *out);
    for (size_t e = 0; e < model->dynamics.A.count && (size_t)model->dynamics.A.row[e] < count; e++)
        out[model->dynamics.A.column[e]] += k->values[model->dynamics.A.at + e] * lambda[model->dynamics.A.row[e]];
}

/* Sets k->nonideal to the prescribed force C, computed from the ideal solution with the multipliers lambda. */
static hamel_status prescribed_forces(dynamics *k, const double *lambda, hamel_error *error) {
    const hamel_model *model = k->model;
    memset(k->nonideal, 0, model->n * sizeof *k->nonideal);
    if (!model->dynamics.nonideal) return HAMEL_OK;
    program_inputs in = discrete_state_inputs(&k->discrete_state, &k->t, k->q, k->v, NULL, lambda);
    in.values[SYMBOL_IDEAL] = k->ideal;
    program_evaluate(model->dynamics.nonideal, &in, k->nonideal_work, k->nonideal);
    if (all_finite(k->nonideal, model->n)) return HAMEL_OK;
    return error ? model_not_finite(model, model->dynamics.nonideal, &in, k->nonideal_work, k->t, "/constraints",
                                    "a nonideal force", error)
                 : HAMEL_NOT_FINITE;
}

/* Adds nonideal forces (Udwadia 2000, eq. 28). On entry, a and lambda contain the ideal solution, and the system is
 * factored. The prescribed force C is added to Q, and the constraints react ideally to the sum. The total reaction is
 * Aᵀλ + C + F|λ|, where the last term is friction. The force on a sticking point is friction as well, although it is
 * computed as a multiplier. */
static hamel_status add_nonideal(dynamics *k, double *a, double *lambda, hamel_error *error) {
    const hamel_model *model = k->model;
    double *g = k->values + model->dynamics.at_Q, *C = k->nonideal, *total = k->project_step;
    reaction(k, lambda, model->ideal_count, k->ideal);
    hamel_status status = prescribed_forces(k, lambda, error);
    if (status != HAMEL_OK) return status;
    if (model->dynamics.W.count) {
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

hamel_status dynamics_accelerations(dynamics *k, double alpha, double beta, double *a, double *lambda,
                                    hamel_error *error) {
    assert(lambda || !dynamics_needs_multipliers(k));
    const hamel_model *model = k->model;
    hamel_status status;
    size_t faults = error ? error->count : 0;
    if (is_stopped(k)) return HAMEL_CANCELED;
    if (k->without_mass && solve_at_once(k, k->t, k->q, k->v, alpha, beta, a, lambda)) return HAMEL_OK;
    if (k->without_mass) dynamics_expand_mass(k);
    stabilized(k, alpha, beta);
    if (model->dynamics.W.count) {
        status = solve_with_forces(k, NULL, a, lambda, error);
    } else {
        status = motion_factor(&k->motion, k->t, k->q, k->v, k->values);
        if (status == HAMEL_OK) status = solve_factored(k, k->values + model->dynamics.at_Q, false, a, lambda, error);
    }
    if (status == HAMEL_OK && (model->dynamics.nonideal || k->friction)) status = add_nonideal(k, a, lambda, error);
    if (status == HAMEL_SINGULAR && model->dynamics.W.count && error && error->count == faults)
        return hamel_fail(error, status, "/constraints", 0,
                          "at t = %.9g the equations of motion do not determine the accelerations and multipliers: a "
                          "force that depends on multipliers, or the direction of a reaction, makes them singular",
                          k->t);
    if (status == HAMEL_NOT_FINITE || model->dynamics.W.count) return status;
    return status == HAMEL_OK || !error || error->count > faults ? status : dynamics_explain(k, status, error);
}

hamel_status dynamics_rates(dynamics *k, double t, const double *q, const double *v, double alpha, double beta,
                            double *a, double *lambda, hamel_error *error) {
    if (k->rest > 0) {
        k->rest--;
    } else if (k->model->dynamics.accelerations && !k->singular_mass && k->masked_count == 0 && !error &&
               !kkt_expects_redundancy(k->all)) {
        if (k->model->events.nonsmooth && !k->held) discrete_state_choose_branches(&k->discrete_state, t, q, v);
        if (solve_at_once(k, t, q, v, alpha, beta, a, lambda)) return HAMEL_OK;
        k->rest = REST;
    }
    hamel_status status = dynamics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) status = dynamics_accelerations(k, alpha, beta, a, lambda, error);
    if (!k->motion.basis) k->margin = motion_margin(&k->motion);
    return status;
}

hamel_status dynamics_free_accelerations(dynamics *k, const double *a, const double *lambda, double *out) {
    const hamel_model *model = k->model;
    const size_t n = model->n;
    double *force = k->project_step, *caused = out + n;
    bool split = model->dynamics.nonideal || k->friction, reacts = model->dynamics.W.count > 0;
    assert(model->observation.needs_free);
    hamel_status status = kkt_factor(k->mass, k->values);
    if (status == HAMEL_OK && reacts) {
        reaction(k, lambda, model->m, force);
        for (size_t i = 0; split && i < n; i++) force[i] = k->ideal[i] + k->nonideal[i];
        status = kkt_solve(k->mass, force, k->b, 1, out, NULL);
        for (size_t i = 0; i < n; i++) out[i] = a[i] - out[i];
    } else if (status == HAMEL_OK) {
        status = kkt_solve(k->mass, k->values + model->dynamics.at_Q, k->b, 1, out, NULL);
    }
    if (status != HAMEL_OK) return status;
    reaction(k, lambda, model->ideal_count, force);
    return kkt_solve(k->mass, force, k->b, 1, caused, NULL);
}

static program_inputs rate_inputs(const dynamics *k, const double *t, const double *q, const double *v,
                                  const double *lambda) {
    program_inputs in = discrete_state_inputs(&k->discrete_state, t, q, v, NULL, lambda);
    in.values[SYMBOL_IDEAL] = k->ideal;
    in.values[SYMBOL_NONIDEAL] = k->nonideal;
    return in;
}

double dynamics_energy_rate(dynamics *k, double t, const double *q, const double *v, const double *lambda) {
    double rate = 0;
    if (!k->model->dynamics.energy_rate) return 0;
    program_inputs in = rate_inputs(k, &t, q, v, lambda);
    program_evaluate(k->model->dynamics.energy_rate, &in, k->rate_work, &rate);
    return rate;
}

hamel_status dynamics_check_energy_rate(dynamics *k, double t, const double *q, const double *v, const double *lambda,
                                        hamel_error *error) {
    if (isfinite(dynamics_energy_rate(k, t, q, v, lambda))) return HAMEL_OK;
    program_inputs in = rate_inputs(k, &t, q, v, lambda);
    return model_not_finite(k->model, k->model->dynamics.energy_rate, &in, k->rate_work, t, "",
                            "the rate of the energy", error);
}

double dynamics_margin(dynamics *k) {
    if (!k->motion.basis) return motion_margin(&k->motion);
    if (!kkt_finds_margin(k->all)) return 1;
    hamel_status status = kkt_factor(k->all, k->values);
    return status == HAMEL_OK ? kkt_margin(k->all) : status == HAMEL_SINGULAR ? 0 : 1;
}
