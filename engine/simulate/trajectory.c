/* trajectory.c — evaluation of states between steps, and handling of events.
 *
 * Interpolated states violate the constraints slightly. A copy of each interpolated state is projected and output; the
 * integration is not affected. */
#include "engine/simulate/trajectory.h"

#include "engine/base/tolerances.h"
#include "engine/dynamics/jerk.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* If a velocity exceeds its previous maximum by this factor, the energy tolerance is evaluated again. The kinetic part
 * of the tolerance is quadratic in the velocities, so it grows at most by a factor of 1.44 between two evaluations. */
static const double GROWN = 1.2;
/* After ROOTS_MISSED, the integration restarts with a first step that is shorter by this factor. A smaller factor needs
 * more restarts to separate close roots; a larger factor needs more steps to regain the step size. */
static const double SHORTENED = 64;

static bool create_sensitivities(trajectory *l) {
    const model_sensitivities *inputs = l->model->sensitivities;
    if (!inputs) return true;
    arena *memory = &l->dynamics->memory;
    size_t length = 2 * l->model->n;
    l->sensitivities = sensitivities_create(l->dynamics);
    l->sensitive = arena_alloc(memory, 2 * inputs->count, sizeof *l->sensitive);
    l->derivatives = arena_doubles(memory, inputs->count * (inputs->column_count + 2 * length));
    if (!l->sensitivities || memory->failed) return false;
    l->start_sensitive = l->sensitive + inputs->count;
    for (size_t i = 0; i < 2 * inputs->count; i++)
        l->sensitive[i] = l->derivatives + inputs->count * inputs->column_count + i * length;
    return true;
}

hamel_status trajectory_start_sensitivities(trajectory *l, hamel_error *error) {
    if (!l->sensitivities) return HAMEL_OK;
    return sensitivities_start(l->sensitivities, l->t, l->q, l->v, l->sensitive, error);
}

static bool create_vectors(trajectory *l) {
    const hamel_model *model = l->model;
    arena *memory = &l->dynamics->memory;
    size_t n = model->n, columns = model->header.column_count;
    const struct {
        double **array;
        size_t length;
    } vectors[] = {{&l->q, 2 * n},           {&l->a, n},           {&l->free, n},
                   {&l->lambda, model->m},   {&l->start_q, n},     {&l->start_v, n},
                   {&l->unprojected, 2 * n}, {&l->fastest, n},     {&l->end, 2 * n},
                   {&l->before, columns},    {&l->after, columns}, {&l->observed, model->observation.count}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i].array = arena_doubles(memory, vectors[i].length);
    l->closing = arena_alloc(memory, model->events.count, sizeof *l->closing);
    if (memory->failed) return false;
    l->v = l->q + n;
    memcpy(l->q, model->q0, n * sizeof *l->q);
    memcpy(l->v, model->v0, n * sizeof *l->v);
    return true;
}

static bool create_events(trajectory *l) {
    const hamel_model *model = l->model;
    if (model->events.root_count == 0) return true;
    if (model->friction.slip_count > 0 && !(l->stick_slip = stick_slip_create(l->dynamics))) return false;
    if (model->continuity.program && !(l->branches = branch_change_create(l->dynamics))) return false;
    l->roots = roots_create(&l->dynamics->memory, l->dynamics, l->stick_slip);
    return l->roots && events_create(&l->events, &l->dynamics->memory, l->dynamics, l->sensitivities, l->sensitive);
}

hamel_status trajectory_create(trajectory *l, const hamel_model *model, hamel_error *error) {
    *l = (trajectory){.model = model, .t = model->settings.start, .turned = -1, .verified_steps = -1};
    l->dynamics = dynamics_create(model);
    if (!l->dynamics || !create_vectors(l) || !create_sensitivities(l) || !create_events(l))
        return hamel_out_of_memory(error);
    l->dynamics->discrete_state.ahead = isfinite(model->settings.stop) ? INSTANT * (model->settings.stop - l->t) : 0;
    return HAMEL_OK;
}

void trajectory_free(trajectory *l) {
    integrator_free(l->integrator);
    dynamics_free(l->dynamics);
    *l = (trajectory){0};
}

/* Returns the state evaluated last. The rates of the root functions are those that l->events evaluated last. */
static motion_state state_of(const trajectory *l) {
    return (motion_state){
        l->t, l->q, l->v, l->a, l->lambda, l->free, l->events.values, l->events.bends, l->events.bend_slack};
}

/* Returns HAMEL_NOT_FINITE, with an error, if the observed value i is not finite. */
static hamel_status require_number(const trajectory *l, size_t i, hamel_error *error) {
    const hamel_model *model = l->model;
    char place[200] = "an invariant, a check or the energy";
    if (isfinite(l->observed[i])) return HAMEL_OK;
    if (i < model->observation.output_count)
        snprintf(place, sizeof place, "the output `%s`", model_output_name(model, i));
    motion_state at = state_of(l);
    program_inputs in = motion_inputs(l->dynamics, &at);
    return model_not_finite(model, model->observation.program, &in, l->dynamics->observed_work, l->t,
                            model->observation.pointers[i], place, error);
}

hamel_status trajectory_require_check(const trajectory *l, size_t check, hamel_error *error) {
    return require_number(l, (size_t)(trajectory_checks(l) - l->observed) + check, error);
}

/* Returns true if a value must be finite at each state. A check that applies to one time only may be undefined at other
 * times. */
static bool is_always_required(const hamel_model *model, size_t i) {
    size_t checks = model->observation.output_count + model->observation.invariant_count;
    if (i < checks || i >= checks + model->observation.check_count) return true;
    return model->observation.checks[i - checks].at == HAMEL_CHECK_ALWAYS;
}

static hamel_status evaluate_observed(trajectory *l, hamel_error *error) {
    const hamel_model *model = l->model;
    hamel_status status = HAMEL_OK;
    if (model->observation.needs_free) status = dynamics_free_accelerations(l->dynamics, l->free);
    if (status == HAMEL_SINGULAR)
        return hamel_fail(error, status, "/outputs", 0, "at t = %.9g gauss() needs a mass matrix that is not singular",
                          l->t);
    if (status == HAMEL_OK && model->observation.jerk) status = jerk_compute(l->dynamics, l->a, l->lambda);
    if (status != HAMEL_OK) return dynamics_explain(l->dynamics, status, error);
    motion_state at = state_of(l);
    program_inputs in = motion_inputs(l->dynamics, &at);
    program_evaluate(model->observation.program, &in, l->dynamics->observed_work, l->observed);
    for (size_t i = 0; i < model->observation.count && status == HAMEL_OK; i++)
        if (is_always_required(model, i)) status = require_number(l, i, error);
    return status;
}

/* Adds the error that no state satisfies all constraints. A state that violates the constraints is never output. */
static hamel_status fail_projection(const trajectory *l, hamel_error *error) {
    const hamel_model *model = l->model;
    size_t worst = 0;
    double most = -1;
    for (size_t c = 0; c < model->m; c++) {
        double scaled = fmax(dynamics_scaled(l->dynamics, c, true), dynamics_scaled(l->dynamics, c, false));
        if (scaled > most) most = scaled, worst = c;
    }
    const system_constraint *c = &model->system->constraints[worst];
    (void)hamel_fail(error, HAMEL_INCOMPATIBLE, c->pointer, 0,
                     "at t = %.9g no state near the motion satisfies all constraints: `%s` is off by %.3g", l->t,
                     c->name,
                     fmax(fabs(dynamics_position(l->dynamics)[worst]), fabs(dynamics_velocity(l->dynamics)[worst])));
    hamel_suggest(error,
                  "end the run earlier, or check whether the constraints contradict each other from this time on");
    return HAMEL_INCOMPATIBLE;
}

static hamel_status fail_singular(const trajectory *l, hamel_error *error) {
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                     "at t = %.17g the constraint Jacobian is singular, and %s not determined there", l->t,
                     l->sensitivities ? "sensitivities are" : "the motion is");
    hamel_suggest(error, l->sensitivities ? "omit the sensitivities, or end the run earlier"
                                          : "choose a slightly different time for the row, check or event");
    return HAMEL_INTEGRATION;
}

/* Returns true if the projection has changed each velocity by at most ANOTHER_MOTION times its tolerance. */
static bool keeps_velocities(const trajectory *l) {
    const model_settings *s = &l->model->settings;
    size_t n = l->model->n;
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(l->v[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(l->v[i] - l->unprojected[n + i]) <= ANOTHER_MOTION * (s->rtol * size + s->atol[i]))) return false;
    return true;
}

/* Close to a singular configuration, replaces the state by an interpolation of states on both sides of the
 * configuration. */
static hamel_status replace_singular(trajectory *l, bool *between, hamel_error *error) {
    dynamics *k = l->dynamics;
    size_t n = l->model->n, bytes = n * sizeof *l->q;
    bool near;
    const singular_state *found = NULL;
    double residual[2];
    hamel_status status =
        singularity_replace_state(l->integrator, l->t, l->unprojected, l->unprojected + n, &near, &found, error);
    *between = status == HAMEL_OK && found;
    if (status != HAMEL_OK || !near) return status;
    if (l->sensitivities || (!found && !keeps_velocities(l))) return fail_singular(l, error);
    if (found) {
        memcpy(l->q, found->q, bytes);
        memcpy(l->v, found->v, bytes);
    }
    status = dynamics_evaluate(k, l->t, l->q, l->v, error); /* other states were evaluated in between */
    if (status != HAMEL_OK) return status;
    if (!found) return dynamics_accelerations(k, 0, 0, l->a, l->lambda, error);
    memcpy(l->a, found->a, bytes);
    memcpy(l->lambda, found->lambda, l->model->m * sizeof *l->lambda);
    memcpy(k->ideal, found->ideal, bytes);
    memcpy(k->nonideal, found->nonideal, bytes);
    l->residual = dynamics_missed(k, l->a, l->lambda);
    dynamics_residuals(k, &residual[0], &residual[1]);
    return fmax(residual[0], residual[1]) < ON_CONSTRAINTS ? HAMEL_OK : fail_projection(l, error);
}

/* Computes accelerations and multipliers of the state in q, v. Close to a singular configuration, rounding may prevent
 * a solution that satisfies all constraints. The state, its accelerations and its multipliers are then interpolated. */
static hamel_status solve_motion(trajectory *l, bool projected, bool *between, hamel_error *error) {
    dynamics *k = l->dynamics;
    /* replace_singular and the ranks after events need the factorization */
    bool regular = l->integrator && !l->integrator->near_singularity && l->model->events.root_count == 0;
    hamel_status solved = regular ? dynamics_rates(k, l->t, l->q, l->v, 0, 0, l->a, l->lambda, NULL)
                                  : dynamics_accelerations(k, 0, 0, l->a, l->lambda, NULL);
    hamel_status status = HAMEL_OK;
    bool determined = solved != HAMEL_NOT_FINITE && solved != HAMEL_NO_MEMORY && solved != HAMEL_CANCELED;
    if (projected && l->integrator && determined) status = replace_singular(l, between, error);
    if (status != HAMEL_OK || *between || solved == HAMEL_OK) return status;
    return dynamics_accelerations(k, 0, 0, l->a, l->lambda, error);
}

/* Returns true if a row or check needs accelerations and multipliers: outputs, events or sensitivities use them, a
 * singular configuration is near, or the equations of motion have not been verified since the last step. */
static bool needs_motion(const trajectory *l) {
    const unsigned motion = GRAPH_DEPENDS(SYMBOL_ACCELERATION) | GRAPH_DEPENDS(SYMBOL_MULTIPLIER);
    const hamel_model *model = l->model;
    return !l->integrator || l->integrator->near_singularity || l->integrator->steps != l->verified_steps ||
           model->events.root_count > 0 || l->sensitivities || model->observation.needs_free ||
           model->observation.jerk || (program_depends(model->observation.program) & motion);
}

/* Evaluates the state in q, v at l->t, as trajectory_evaluate does after the interpolation. If `motion` is false, omits
 * accelerations and multipliers. */
static hamel_status evaluate_state(trajectory *l, bool motion, hamel_error *error) {
    const hamel_model *model = l->model;
    bool projected = model->settings.projection == HAMEL_PROJECTION_ON && model->m > 0;
    bool between = false; /* whether state and accelerations are interpolated */
    double worst = 0;
    hamel_status status = HAMEL_OK;
    memcpy(l->unprojected, l->q, 2 * model->n * sizeof *l->q); /* q and v */
    if (!l->dynamics->survey.done) status = rank_survey_find(l->dynamics, l->t, l->q, l->v);
    if (status == HAMEL_NO_MEMORY) return hamel_out_of_memory(error);
    status = projected ? dynamics_project(l->dynamics, l->t, l->q, l->v, &worst, error)
                       : dynamics_evaluate_without_mass(l->dynamics, l->t, l->q, l->v, error);
    if (status == HAMEL_OK && !(worst < ON_CONSTRAINTS)) return fail_projection(l, error);
    if (status == HAMEL_OK && motion) {
        status = solve_motion(l, projected, &between, error);
        if (status == HAMEL_OK && !between) status = dynamics_verify(l->dynamics, l->a, l->lambda, &l->residual, error);
        if (l->integrator) l->verified_steps = l->integrator->steps;
    }
    if (status == HAMEL_OK) status = evaluate_observed(l, error);
    if (status != HAMEL_OK || !l->sensitivities) return status;
    sensitivities_part(l->sensitivities, l->v, l->a, l->sensitive);
    return sensitivities_see(l->sensitivities, l->t, l->q, l->v, l->sensitive, l->derivatives, error);
}

static hamel_status evaluate_here(trajectory *l, hamel_error *error) {
    return evaluate_state(l, true, error);
}

/* If momenta are constants of the motion, projects the state and computes the velocities again from these momenta. */
static hamel_status keep_constants(trajectory *l, hamel_error *error) {
    double worst;
    if (!l->model->momenta.cyclic || l->model->settings.projection != HAMEL_PROJECTION_ON) return HAMEL_OK;
    hamel_status status = dynamics_project(l->dynamics, l->t, l->q, l->v, &worst, error);
    return status == HAMEL_OK ? integrator_keep_constants(l->integrator, l->t, l->q, l->v, error) : status;
}

static hamel_status evaluate_at(trajectory *l, double t, bool motion, hamel_error *error) {
    l->t = t;
    if (!l->integrator) return evaluate_here(l, error);
    dynamics_recall(l->dynamics, &l->recalled);
    hamel_status status = integrator_interpolate(l->integrator, t, l->q, l->v, &l->work, error);
    if (status == HAMEL_OK && l->sensitivities)
        status = integrator_interpolate_sensitivities(l->integrator, t, l->sensitive, error);
    if (status == HAMEL_OK) status = keep_constants(l, error);
    l->work += l->event_work;
    return status == HAMEL_OK ? evaluate_state(l, motion, error) : status;
}

hamel_status trajectory_evaluate(trajectory *l, double t, hamel_error *error) {
    return evaluate_at(l, t, true, error);
}

hamel_status trajectory_visit(trajectory *l, double t, hamel_error *error) {
    return evaluate_at(l, t, needs_motion(l), error);
}

void trajectory_row(const trajectory *l, double *row) {
    const hamel_model *model = l->model;
    size_t n = model->n;
    for (size_t c = 0; c < model->header.column_count; c++) {
        size_t i = model->columns.recorded[c];
        row[c] = i == 0                           ? l->t
                 : i <= n                         ? l->q[i - 1]
                 : i <= 2 * n                     ? l->v[i - 1 - n]
                 : i < model->columns.state_count ? l->observed[i - 1 - 2 * n]
                                                  : l->derivatives[i - model->columns.state_count];
    }
}

double trajectory_energy_tolerance(const trajectory *l) {
    return motion_energy_tolerance(l->dynamics, l->q, l->v, trajectory_jacobi(l));
}

double trajectory_energy_tolerance_of_step(trajectory *l) {
    const hamel_model *model = l->model;
    dynamics *k = l->dynamics;
    const double *near = l->integrator->velocity;
    double t = l->integrator->t, *q = l->end, *v = q + model->n, work;
    bool grown = false;
    for (size_t i = 0; i < model->n; i++) grown = grown || fabs(near[i]) > GROWN * l->fastest[i];
    if (!grown || l->event_pending || integrator_interpolate(l->integrator, t, q, v, &work, NULL) != HAMEL_OK ||
        dynamics_evaluate_without_mass(k, t, q, v, NULL) != HAMEL_OK)
        return 0;
    for (size_t i = 0; i < model->n; i++) l->fastest[i] = fmax(l->fastest[i], fmax(fabs(near[i]), fabs(v[i])));
    return motion_energy_tolerance(k, q, v, trajectory_jacobi(l));
}

/* Returns the state evaluated last, with the rates of the root functions. */
static motion_state present_state(trajectory *l) {
    motion_state at = state_of(l);
    events_evaluate(&l->events, &at);
    return at;
}

/* Saves the state evaluated last, from which the integration and the search for events start. */
static hamel_status start_search(trajectory *l, bool changed, hamel_error *error) {
    size_t bytes = l->model->n * sizeof *l->q;
    l->start_t = l->t;
    l->start_work = l->work - l->event_work;
    memcpy(l->start_q, l->q, bytes);
    memcpy(l->start_v, l->v, bytes);
    size_t count = l->sensitivities ? sensitivities_count(l->sensitivities) : 0;
    for (size_t i = 0; i < count; i++) memcpy(l->start_sensitive[i], l->sensitive[i], 2 * bytes);
    motion_state at = present_state(l);
    if (changed || !l->integrator) events_bend(&l->events, &at);
    hamel_status status = roots_start(l->roots, &at, changed, &l->event_pending, error);
    l->chained = l->event_pending && l->integrator;
    return status;
}

/* Decides which contacts stick at (q, v), and evaluates the state with these contacts. */
static hamel_status decide_sticking(trajectory *l, hamel_error *error) {
    hamel_status status = l->stick_slip ? stick_slip_decide(l->stick_slip, l->t, l->q, l->v, error) : HAMEL_OK;
    return status == HAMEL_OK ? evaluate_here(l, error) : status;
}

static hamel_status limit_steps(trajectory *l, hamel_error *error) {
    if (!l->stick_slip || integrator_limit_step(l->integrator, roots_pace(l->roots))) return HAMEL_OK;
    return hamel_fail(error, HAMEL_INTERNAL, "", 0, "could not set the maximum step size");
}

hamel_status trajectory_start(trajectory *l, const integrator_options *options, hamel_error *error) {
    hamel_status status = HAMEL_OK;
    assert(!l->integrator && l->t == l->model->settings.start);
    if (l->roots) {
        if (l->branches) status = branch_change_foresee(l->branches, l->q, l->v, error);
        if (status == HAMEL_OK) status = evaluate_here(l, error); /* the branches are then held until the next event */
        l->dynamics->held = true;
        motion_state at = present_state(l);
        if (status == HAMEL_OK) status = roots_follow_jump(l->roots, &at, error);
        l->dynamics->discrete_state.ahead = 0;
        if (status == HAMEL_OK) status = decide_sticking(l, error);
        if (status == HAMEL_OK) status = start_search(l, false, error);
    }
    if (status != HAMEL_OK) return status;
    status = integrator_create(&l->integrator, l->dynamics, l->q, l->v, options, error);
    l->recalled = dynamics_remember(l->dynamics);
    return status == HAMEL_OK ? limit_steps(l, error) : status;
}

/* After a step that skipped two roots of the same function, restarts at the beginning of the step with a shorter first
 * step. */
static hamel_status repeat_shorter(trajectory *l, hamel_error *error) {
    double step = (l->integrator->t - l->start_t) / SHORTENED;
    size_t i = 0;
    if (!(step > 8 * DBL_EPSILON * fmax(fabs(l->start_t), fabs(l->model->settings.stop)))) {
        while (!l->roots->of[i].passed) i++;
        return events_fail_zeno(&l->events, i, l->start_t, l->integrator->t, error);
    }
    roots_again(l->roots);
    return integrator_restart(l->integrator, l->start_t, l->start_q, l->start_v,
                              (const double *const *)l->start_sensitive, l->start_work, step, error);
}

hamel_status trajectory_search_step(trajectory *l, hamel_error *error) {
    roots_finding finding;
    hamel_status status = roots_search(l->roots, l->integrator, &finding, error);
    if (status != HAMEL_OK) return status;
    l->event_pending = finding == ROOTS_FOUND;
    if (finding == ROOTS_MISSED) return repeat_shorter(l, error);
    return limit_steps(l, error);
}

hamel_status trajectory_step(trajectory *l, hamel_error *error) {
    assert(l->integrator && !l->event_pending);
    dynamics_recall(l->dynamics, &l->recalled);
    hamel_status status = integrator_step(l->integrator, error);
    l->recalled = dynamics_remember(l->dynamics);
    return status == HAMEL_OK && l->roots ? trajectory_search_step(l, error) : status;
}

double trajectory_reach(const trajectory *l) {
    return l->event_pending ? l->roots->t : l->integrator->t;
}

static hamel_status meet_sensitivities(trajectory *l, size_t i, hamel_error *error) {
    return l->sensitivities ? sensitivities_meet(l->sensitivities, i, l->roots->of[i].from_zero, l->sensitive, error)
                            : HAMEL_OK;
}

/* Applies event i. The energy that the event adds or removes is not an integration error, so this energy is added to
 * W. */
static hamel_status apply_event(trajectory *l, size_t i, hamel_error *error) {
    double energy = trajectory_jacobi(l);
    motion_state at = present_state(l);
    double rate = at.rates[i];
    trajectory_row(l, l->before);
    bool changes = model_event_acts(&l->model->events.list[i]);
    hamel_status status = changes ? meet_sensitivities(l, i, error) : HAMEL_OK;
    if (status == HAMEL_OK && changes && l->stick_slip && stick_slip_release(l->stick_slip) != HAMEL_OK)
        status = hamel_out_of_memory(error);
    if (status == HAMEL_OK) status = events_act(&l->events, i, l->t, l->q, l->v, error);
    if (status == HAMEL_OK && changes) status = roots_follow_jump(l->roots, &at, error);
    if (status == HAMEL_OK) status = changes ? decide_sticking(l, error) : evaluate_here(l, error);
    l->event_work += trajectory_jacobi(l) - energy;
    l->work += trajectory_jacobi(l) - energy;
    trajectory_row(l, l->after);
    roots_acted(l->roots, i, rate, present_state(l).rates[i]);
    return status;
}

static hamel_status note_rates(trajectory *l, hamel_error *error) {
    motion_state at = present_state(l);
    for (size_t i = 0; i < l->model->events.count; i++) {
        l->events.before[i] = at.rates[i];
        if (l->roots->of[i].passed && roots_contradicts(l->roots, i, at.rates[i]))
            return events_fail_zeno(&l->events, i, l->start_t, l->t, error);
    }
    return HAMEL_OK;
}

/* Returns true if another impact at the same time has already opened this contact. */
static bool is_opened(trajectory *l, size_t i) {
    double rate = present_state(l).rates[i], before = l->events.before[i];
    bool opened = l->model->events.list[i].contact && roots_is_apart(l->roots, i, before, rate);
    if (opened) roots_acted(l->roots, i, before, rate);
    return opened;
}

/* Completes a change of branches at which velocities may jump. The work of such an impact is not an integration error,
 * so this work is added to W. */
static hamel_status finish_jump(trajectory *l, hamel_error *error) {
    branch_jump jump;
    hamel_status status = branch_change_end(l->branches, l->v, &jump, error);
    if (status != HAMEL_OK) return status;
    l->event_work += jump.energy;
    l->work += jump.energy;
    if (jump.turned >= 0 && l->turned < 0) {
        l->turned = jump.turned;
        l->turned_at = l->t;
        l->turned_energy = jump.energy;
    }
    if (!jump.jumped || !l->sensitivities) return HAMEL_OK;
    (void)hamel_fail(
        error, HAMEL_INTEGRATION, "/simulation/sensitivities", 0,
        "at t = %.9g velocities jump as prescribed, and sensitivities across such a jump are not supported", l->t);
    hamel_suggest(error, "omit the sensitivities, end the run earlier, or make the prescribed velocity continuous");
    return HAMEL_INTEGRATION;
}

/* Sets the branches of the operators that have passed an edge. If the branches keep changing at one time, adds an error
 * that names the first operator. */
static hamel_status change_branches(trajectory *l, bool *changed, hamel_error *error) {
    size_t count, first = l->model->events.count;
    motion_state at = present_state(l);
    hamel_status status = l->branches ? branch_change_begin(l->branches, l->t, l->q, l->v, error) : HAMEL_OK;
    if (status == HAMEL_OK) status = roots_flip(l->roots, &at, &count, error);
    if (status != HAMEL_OK) return status;
    *changed = count > 0;
    if (count == 0) return status;
    discrete_state_follow_inner(&l->dynamics->discrete_state, l->t, l->q, l->v,
                                INSTANT * (l->model->settings.stop - l->model->settings.start));
    l->branch_changes += (long)count;
    while (!l->roots->of[first].passed) first++;
    for (size_t i = first; i < l->model->events.root_count && status == HAMEL_OK; i++)
        if (l->roots->of[i].passed) status = meet_sensitivities(l, i, error);
    if (status == HAMEL_OK) status = events_note(&l->events, first, l->t, error);
    if (status == HAMEL_OK && l->branches) status = finish_jump(l, error);
    return status == HAMEL_OK ? decide_sticking(l, error) : status;
}

/* If several contacts close at the same time, checks whether the order of their impacts affects the velocities. */
static hamel_status note_order(trajectory *l, hamel_error *error) {
    size_t found[2] = {0, 0}, count = 0;
    bool matters = false;
    for (size_t i = 0; i < l->model->events.count; i++) {
        l->closing[i] = roots_meet(l->roots, i, l->events.before[i]);
        if (l->closing[i]) found[count++ > 0] = i;
    }
    if (count < 2 || (l->unordered > 0 && l->unordered_last == l->t)) return HAMEL_OK;
    motion_state at = present_state(l);
    hamel_status status = impact_order_matters(&l->events, l->roots, &at, l->closing, &matters, error);
    if (status == HAMEL_OK) status = evaluate_here(l, error); /* again: impact_order_matters evaluates other states */
    if (status != HAMEL_OK || !matters) return status;
    l->unordered_last = l->t;
    if (l->unordered++ > 0) return HAMEL_OK;
    l->unordered_first = l->t;
    memcpy(l->unordered_events, found, sizeof found);
    return HAMEL_OK;
}

hamel_status trajectory_apply_events(trajectory *l, trajectory_report *report, void *context, bool *terminated,
                                     hamel_error *error) {
    const hamel_model *model = l->model;
    bool changed = false;
    assert(l->event_pending);
    *terminated = false;
    hamel_status status = trajectory_evaluate(l, l->roots->t, error);
    if (status == HAMEL_OK && l->sensitivities)
        status = sensitivities_instant(l->sensitivities, l->chained, (const double *const *)l->sensitive, error);
    if (status == HAMEL_OK) status = change_branches(l, &changed, error);
    if (status == HAMEL_OK) status = note_rates(l, error);
    if (status == HAMEL_OK) status = note_order(l, error);
    for (size_t i = 0; i < model->events.count && !*terminated && status == HAMEL_OK; i++) {
        const model_event *event = &model->events.list[i];
        hamel_event_record record = {event->name,
                                     l->t,
                                     l->before,
                                     l->after,
                                     model->header.column_count,
                                     l->events.recording && model_event_strikes(event) ? &l->events.record->impact
                                                                                       : NULL};
        if (!l->roots->of[i].passed || is_opened(l, i)) continue;
        status = apply_event(l, i, error);
        if (status == HAMEL_OK) status = events_note(&l->events, i, l->t, error);
        if (status == HAMEL_OK && report && !report(context, &record)) return HAMEL_CANCELED;
        *terminated = event->terminate;
        changed = changed || model_event_acts(event);
    }
    if (status == HAMEL_OK) status = start_search(l, changed, error);
    if (status != HAMEL_OK || *terminated) return status;
    if (!changed) return trajectory_search_step(l, error); /* the rest of the step is still valid */
    status = integrator_restart(l->integrator, l->t, l->q, l->v, (const double *const *)l->sensitive, l->start_work, 0,
                                error);
    return status == HAMEL_OK ? limit_steps(l, error) : status;
}
