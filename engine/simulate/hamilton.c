/* hamilton.c — evaluates the first variation of the action for random virtual displacements (hamilton.h).
 *
 * The virtual displacement is δq = P η for a random function η(t). P = 1 − A⁺A is the orthogonal projection onto the
 * null space of A. Its derivative along the motion is −d(A⁺A)/dt (Golub & Pereyra, SIAM J. Numer. Anal. 10 (1973) 413,
 * eq. 4.11):
 *
 *   d(A⁺A)/dt = Y + Yᵀ,    Y = A⁺ (dA/dt) P
 *
 * time_integrals.c computes the integrals. The motion is integrated twice: the first run finds the end of the interval,
 * which η depends on, and the second run evaluates the integrals. */
#include "engine/simulate/hamilton.h"

#include "engine/base/random.h"
#include "engine/base/tolerances.h"
#include "engine/dynamics/initial_values.h"
#include "engine/linear/dense.h"
#include "engine/simulate/trajectory.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* VARIATIONS: number of random functions η. WAVES: number of sines in each component of η. Every η has random
 * components along all coordinates, so each of them reveals an error of the equations with probability 1; the others
 * guard against small components. */
enum { VARIATIONS = 5, WAVES = 3 };
/* A change of q or q' at an event counts as a jump if it exceeds the tolerance rtol max |q, q'| + atol by this factor.
 * Smaller changes may be errors of the integration. */
static const double JUMP = 1000;
/* Largest relative change of a state by change_rounding: 8 rounding units, enough to change the rounding errors of all
 * later operations. */
static const double ROUNDING = 8 * DBL_EPSILON;

/* Component i of a random function: η_i = Σ_j c_j sin(jπτ), plus free_0 + free_1 τ if η need not vanish at the ends. τ
 * runs from 0 at the start of the interval to 1 at its end. */
typedef struct wave {
    double c[WAVES], free[2];
} wave;

/* Kinds of displacements: projected and 0 at both ends, projected and arbitrary at the ends, not projected and 0 at
 * both ends. */
typedef enum displacement { VANISHING, FREE_ENDS, UNPROJECTED, DISPLACEMENTS } displacement;

typedef struct check {
    hamel_hamilton *to;
    arena memory;
    hamel_model *model;
    hamel_equations equations;
    trajectory main;
    hamel_poll *poll;
    hamel_error *error;
    double slowed;
    size_t n, m, rows; /* rows: number of independent active rows of A at the state evaluated last */
    program *forms;    /* outputs: L, ∂L/∂q, ∂L/∂q', Q, A, dA/dt */
    double *forms_work, *values;
    wave *waves; /* VARIATIONS × n */
    /* accepted rows of A (add_row): A = L Q with orthonormal rows of Q (m × n), L (m × m), and dA/dt (m × n) */
    double *Q, *L, *rates;
    double *eta, *eta_rate, *dq, *dv, *work; /* n each; work: n + m */
    double *full;                            /* n: one row of A */
    time_integrals integrals;
    double *total, *noise;   /* noise: largest rounding noise of each integrand in the run */
    double ends[VARIATIONS]; /* [∂L/∂q'·δq] for FREE_ENDS */
} check;

/* --- forms -------------------------------------------------------------------------------------------------------- */

static graph_node lagrangian_node(check *k) {
    size_t count;
    graph *g = k->model->system->graph;
    graph_node sum = graph_number(g, 0), *terms = energies_lagrangian_terms(k->model->system, &count);
    for (size_t i = 0; terms && i < count; i++) sum = graph_add(g, sum, terms[i]);
    return terms ? sum : GRAPH_NONE;
}

/* Adds the prescribed reactions of nonideal constraints to force[n]. They are the sum of all reactions minus Aᵀλ. */
static void add_prescribed(check *k, graph_node *force) {
    const hamel_equations *e = &k->equations;
    graph *g = k->model->system->graph;
    if (!e->nonideal && e->F.count == 0) return;
    for (size_t i = 0; i < k->n; i++) {
        graph_node ideal = graph_symbol(g, SYMBOL_IDEAL, (int32_t)i);
        graph_node nonideal = graph_symbol(g, SYMBOL_NONIDEAL, (int32_t)i);
        force[i] = graph_add(g, force[i], graph_add(g, ideal, nonideal));
    }
    for (size_t j = 0; j < e->A.count; j++) {
        const matrix_entry *a = &e->A.entries[j];
        if ((size_t)a->row >= k->m) continue; /* a row of sticking friction */
        graph_node reaction = graph_mul(g, graph_symbol(g, SYMBOL_MULTIPLIER, a->row), a->node);
        force[a->column] = graph_sub(g, force[a->column], reaction);
    }
}

static hamel_status compile_forms(check *k) {
    hamel_equations *e = &k->equations;
    hamel_system *s = k->model->system;
    size_t count = 1 + 3 * k->n + 2 * e->A.count;
    graph_node *nodes = arena_alloc(&k->memory, count, sizeof *nodes), *at = nodes, *slopes = energies_slopes(e);
    if (!nodes || !slopes) return equations_exhausted(s);
    *at++ = lagrangian_node(k);
    for (size_t i = 0; i < k->n; i++) *at++ = slopes[i];
    for (size_t i = 0; i < k->n; i++) *at++ = e->momentum[i];
    memcpy(at, e->given, k->n * sizeof *at);
    add_prescribed(k, at);
    at += k->n;
    for (size_t c = 0; c < e->A.count; c++) *at++ = e->A.entries[c].node;
    for (size_t c = 0; c < e->A.count; c++) *at++ = graph_rate(s->graph, e->A.entries[c].node);
    if (graph_status(s->graph) != HAMEL_OK) return equations_status(s);
    hamel_status status = model_compile(k->model, &k->forms, nodes, count);
    if (status != HAMEL_OK) return status;
    k->forms_work = model_workspace(k->model, k->forms, &k->memory);
    k->values = arena_doubles(&k->memory, count);
    return k->memory.failed ? hamel_out_of_memory(k->error) : HAMEL_OK;
}

static hamel_status create_model(check *k, const hamel_description *d, const hamel_limits *limits) {
    hamel_description taken = *d; /* outputs are not needed here and would only cost time */
    taken.outputs.count = taken.invariant_count = taken.check_count = 0;
    taken.simulation.has_record = taken.simulation.certify = taken.simulation.scene = false;
    taken.simulation.sensitivity_count = 0;
    hamel_status status = model_derive(&k->model, &taken, limits, k->poll, k->error);
    if (status != HAMEL_OK) return status;
    hamel_system *s = k->model->system;
    s->error = k->error;
    s->poll = k->poll;
    k->n = k->model->n;
    k->m = k->model->ideal_count;
    if (s->acceleration_energy >= 0)
        return hamel_fail(k->error, HAMEL_INVALID, "/acceleration_energy", 0,
                          "a system given by its acceleration energy has no Lagrangian");
    if (k->n > HAMEL_HAMILTON_MOST)
        return hamel_fail(k->error, HAMEL_LIMIT, "/coordinates", 0,
                          "Hamilton's principle is evaluated for at most %d coordinates, found %zu",
                          HAMEL_HAMILTON_MOST, k->n);
    if (!isfinite(k->model->settings.stop))
        return hamel_fail(k->error, HAMEL_INVALID, "/simulation/stop", 0, "simulation.stop is missing");
    k->equations = (hamel_equations){.system = s, .n = k->n, .m = k->model->m};
    status = lagrange_derive(&k->equations);
    return status == HAMEL_OK ? compile_forms(k) : status;
}

/* --- virtual displacements ---------------------------------------------------------------------------------------- */

static void draw_waves(check *k) {
    uint64_t seed = 1; /* reproducible */
    for (size_t i = 0; i < VARIATIONS * k->n; i++) {
        for (int j = 0; j < WAVES; j++) k->waves[i].c[j] = random_uniform(&seed, -1, 1);
        for (int j = 0; j < 2; j++) k->waves[i].free[j] = random_uniform(&seed, -1, 1);
    }
}

/* Sets k->eta[n] and k->eta_rate[n] to random function `number` and its time derivative at t. */
static void set_eta(check *k, size_t number, bool free_ends, double t) {
    const double pi = 3.14159265358979323846, length = k->to->stop - k->to->start, x = (t - k->to->start) / length;
    for (size_t i = 0; i < k->n; i++) {
        const wave *w = &k->waves[number * k->n + i];
        k->eta[i] = free_ends ? w->free[0] + w->free[1] * x : 0;
        k->eta_rate[i] = free_ends ? w->free[1] / length : 0;
        for (int j = 0; j < WAVES; j++) {
            double rate = (j + 1) * pi;
            k->eta[i] += w->c[j] * sin(rate * x);
            k->eta_rate[i] += w->c[j] * rate / length * cos(rate * x);
        }
    }
}

/* Appends the row of A in k->full to the accepted rows. Returns false if the row depends linearly on the accepted
 * rows. */
static bool add_row(check *k) {
    const size_t n = k->n, r = k->rows;
    double *row = k->Q + r * n, *L = k->L + r * k->m, size = sqrt(dense_dot(n, k->full, k->full));
    memcpy(row, k->full, n * sizeof *row);
    memset(L, 0, k->m * sizeof *L);
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < r; j++) {
            double part = dense_dot(n, k->Q + j * n, row);
            for (size_t i = 0; i < n; i++) row[i] -= part * k->Q[j * n + i];
            L[j] += part;
        }
    double rest = sqrt(dense_dot(n, row, row));
    if (!(rest > RANK_TOLERANCE * size) || r == n) return false;
    for (size_t i = 0; i < n; i++) row[i] /= rest;
    L[r] = rest;
    k->rows++;
    return true;
}

/* Sets k->Q, k->L and k->rates from the gradients of the active constraints at the state evaluated last. */
static void span_rows(check *k) {
    const hamel_equations *e = &k->equations;
    const double *A = k->values + 1 + 3 * k->n, *rate = A + e->A.count;
    size_t at = 0;
    k->rows = 0;
    for (size_t c = 0; c < k->m; c++) {
        size_t first = at;
        memset(k->full, 0, k->n * sizeof *k->full);
        for (; at < e->A.count && (size_t)e->A.entries[at].row == c; at++) k->full[e->A.entries[at].column] = A[at];
        if (!k->main.dynamics->discrete_state.active[c] || !add_row(k)) continue;
        double *to = k->rates + (k->rows - 1) * k->n;
        memset(to, 0, k->n * sizeof *to);
        for (size_t j = first; j < at; j++) to[e->A.entries[j].column] = rate[j];
    }
}

/* Replaces x[n] by P x: subtracts the part of x in the span of the accepted rows. */
static void project_out(const check *k, double *x) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t r = 0; r < k->rows; r++) {
            double part = dense_dot(k->n, k->Q + r * k->n, x);
            for (size_t i = 0; i < k->n; i++) x[i] -= part * k->Q[r * k->n + i];
        }
}

/* Sets k->dq = P η and k->dv = d(P η)/dt. For the accepted rows A = L Q, A⁺ = Qᵀ L⁻¹ and d(A⁺A)/dt η = Qᵀ L⁻¹ A' dq + P
 * A'ᵀ L⁻ᵀ Q η, where A' = dA/dt. */
static void project_eta(check *k) {
    const size_t n = k->n;
    double *x = k->work, *y = k->work + k->m; /* x[m], y[n] */
    memcpy(k->dq, k->eta, n * sizeof *k->dq);
    memcpy(k->dv, k->eta_rate, n * sizeof *k->dv);
    project_out(k, k->dq);
    project_out(k, k->dv);
    for (size_t r = 0; r < k->rows; r++) { /* x = L⁻¹ A' dq */
        x[r] = dense_dot(n, k->rates + r * n, k->dq);
        for (size_t j = 0; j < r; j++) x[r] -= k->L[r * k->m + j] * x[j];
        x[r] /= k->L[r * k->m + r];
        for (size_t i = 0; i < n; i++) k->dv[i] -= x[r] * k->Q[r * n + i];
    }
    for (size_t r = k->rows; r-- > 0;) { /* x = L⁻ᵀ Q η */
        x[r] = dense_dot(n, k->Q + r * n, k->eta);
        for (size_t j = r + 1; j < k->rows; j++) x[r] -= k->L[j * k->m + r] * x[j];
        x[r] /= k->L[r * k->m + r];
    }
    memset(y, 0, n * sizeof *y);
    for (size_t r = 0; r < k->rows; r++)
        for (size_t i = 0; i < n; i++) y[i] += x[r] * k->rates[r * n + i];
    project_out(k, y);
    for (size_t i = 0; i < n; i++) k->dv[i] -= y[i];
}

/* --- integrands --------------------------------------------------------------------------------------------------- */

/* Changes each number of the state evaluated last by a random relative amount up to ROUNDING. `sample` is the seed. */
static void change_rounding(check *k, int sample) {
    double *const arrays[] = {k->main.q, k->main.a, k->main.lambda}; /* q is followed by v */
    const size_t lengths[] = {2 * k->n, k->n, k->model->m};
    uint64_t seed = (uint64_t)sample;
    for (int j = 0; j < 3; j++)
        for (size_t i = 0; i < lengths[j]; i++) arrays[j][i] *= 1 + random_uniform(&seed, -ROUNDING, ROUNDING);
}

/* Sets k->values to the outputs of k->forms at time t of the run, and updates the accepted rows of A. If `sample` is
 * not 0, evaluates at a state that change_rounding has changed. */
static hamel_status evaluate_forms(check *k, double t, int sample) {
    trajectory *l = &k->main;
    hamel_status status = trajectory_evaluate(l, t, k->error);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < k->n; i++) l->v[i] *= 1 - k->slowed;
    if (sample) change_rounding(k, sample);
    motion_state at = {.t = l->t, .q = l->q, .v = l->v, .a = l->a, .lambda = l->lambda, .free = l->free};
    program_inputs in = motion_inputs(l->dynamics, &at);
    program_evaluate(k->forms, &in, k->forms_work, k->values);
    for (size_t i = 0; i < program_output_count(k->forms); i++)
        if (!isfinite(k->values[i]))
            return model_not_finite(k->model, k->forms, &in, k->forms_work, t, "", "the first variation", k->error);
    span_rows(k);
    return HAMEL_OK;
}

/* Sets k->dq[n] and k->dv[n] to the displacement of a kind from random function `number`, and to its rate at time t. */
static void displace(check *k, displacement kind, size_t number, double t) {
    set_eta(k, number, kind == FREE_ENDS, t);
    if (kind != UNPROJECTED) {
        project_eta(k);
        return;
    }
    memcpy(k->dq, k->eta, k->n * sizeof *k->dq);
    memcpy(k->dv, k->eta_rate, k->n * sizeof *k->dv);
}

/* An integrand_function. Its values are L, ∂L/∂q'·q', then for each displacement the integrand of the first variation,
 * and the root of the sum of squares of its three terms. */
static hamel_status evaluate_variations(void *context, double t, int sample, double *values, hamel_error *error) {
    check *k = context;
    const size_t n = k->n;
    const double *slope = k->values + 1, *momentum = slope + n, *force = momentum + n;
    (void)error; /* k->error */
    hamel_status status = evaluate_forms(k, t, sample);
    if (status != HAMEL_OK) return status;
    *values++ = k->values[0];
    *values++ = dense_dot(n, momentum, k->main.v);
    for (int kind = 0; kind < DISPLACEMENTS; kind++)
        for (size_t v = 0; v < VARIATIONS; v++) {
            displace(k, (displacement)kind, v, t);
            double x = dense_dot(n, slope, k->dq), y = dense_dot(n, momentum, k->dv), z = dense_dot(n, force, k->dq);
            *values++ = x + y + z;
            *values++ = sqrt(x * x + y * y + z * z);
        }
    return HAMEL_OK;
}

/* Adds sign · ∂L/∂q'·δq at time t to k->ends, for each random function. */
static hamel_status add_ends(check *k, double t, double sign) {
    hamel_status status = evaluate_forms(k, t, 0);
    for (size_t v = 0; v < VARIATIONS && status == HAMEL_OK; v++) {
        displace(k, FREE_ENDS, v, t);
        k->ends[v] += sign * dense_dot(k->n, k->values + 1 + k->n, k->dq);
    }
    return status;
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static hamel_status start_run(check *k) {
    const hamel_model *model = k->model;
    trajectory *l = &k->main;
    double residual;
    hamel_status status = trajectory_create(l, model, k->error);
    if (status != HAMEL_OK) return status;
    dynamics_limit(l->dynamics, k->poll, 0);
    status = initial_velocities_from_quasi(l->dynamics, model->settings.start, l->q, l->v, k->error);
    if (status == HAMEL_OK)
        status = initial_values_make_consistent(l->dynamics, model->settings.start, l->q, l->v,
                                                model->settings.initialization, &residual, k->error);
    if (status == HAMEL_OK) status = trajectory_evaluate(l, model->settings.start, k->error);
    integrator_options options = {.tolerance_factor = 1, .poll = k->poll};
    return status == HAMEL_OK ? trajectory_start(l, &options, k->error) : status;
}

/* Applies the pending events. Sets *changed to true if a position or velocity has jumped, or if the set of active
 * constraints has changed. */
static hamel_status pass_events(check *k, bool *changed, bool *terminated) {
    trajectory *l = &k->main;
    const model_settings *s = &k->model->settings;
    const bool *active = l->dynamics->discrete_state.active;
    double *before = arena_doubles(&k->memory, 2 * k->n), size = 0;
    bool *acted = arena_alloc(&k->memory, k->model->m, sizeof *acted);
    if (!before || !acted) return hamel_out_of_memory(k->error);
    hamel_status status = trajectory_evaluate(l, trajectory_reach(l), k->error);
    if (status != HAMEL_OK) return status;
    memcpy(before, l->q, 2 * k->n * sizeof *before);
    memcpy(acted, active, k->model->m * sizeof *acted);
    status = trajectory_apply_events(l, NULL, NULL, terminated, k->error);
    *changed = memcmp(acted, active, k->model->m * sizeof *acted) != 0;
    for (size_t i = 0; i < 2 * k->n; i++) size = fmax(size, fabs(before[i]));
    for (size_t i = 0; i < 2 * k->n; i++)
        if (fabs(l->q[i] - before[i]) > JUMP * (s->rtol * size + s->atol[i % k->n])) *changed = true;
    return status;
}

/* Continues the integrals up to t, and updates k->noise. */
static hamel_status integrate_to(check *k, double t) {
    hamel_status status = time_integrals_to(&k->integrals, t, evaluate_variations, k, k->total, k->error);
    for (size_t i = 0; i < k->integrals.count; i++) k->noise[i] = fmax(k->noise[i], k->integrals.noise[i]);
    if (status == HAMEL_OK && t > k->integrals.t) time_integrals_advance(&k->integrals, t, k->total);
    return status;
}

/* Integrates the motion from the start to k->to->stop. If an event changes the motion or ends the run earlier, the
 * integration ends there, and k->to->stop becomes the time of this event. If `measure` is true, also evaluates the
 * integrals. */
static hamel_status run(check *k, bool measure) {
    trajectory *l = &k->main;
    bool ended = false;
    hamel_status status = start_run(k);
    if (status == HAMEL_OK && measure) status = add_ends(k, k->to->start, -1);
    while (status == HAMEL_OK && !ended) {
        double t = fmin(trajectory_reach(l), k->to->stop);
        if (measure) status = integrate_to(k, t);
        if (status != HAMEL_OK || t >= k->to->stop) break;
        if (!l->event_pending) {
            status = trajectory_step(l, k->error);
            if (status == HAMEL_OK && (double)l->integrator->steps > k->model->settings.max_steps)
                status = hamel_fail(k->error, HAMEL_LIMIT, "/simulation/max_steps", 0,
                                    "the run needs more than max_steps = %.0f steps", k->model->settings.max_steps);
            continue;
        }
        bool changed = false, terminated = false;
        status = pass_events(k, &changed, &terminated);
        ended = changed || terminated;
        if (ended) k->to->stop = t;
        if (ended) k->to->shortened = true;
    }
    if (status == HAMEL_OK && measure) status = add_ends(k, k->to->stop, 1);
    if (status == HAMEL_OK) k->to->steps = (size_t)l->integrator->steps;
    trajectory_free(l);
    return status;
}

static void report(check *k) {
    hamel_hamilton *to = k->to;
    double errors[DISPLACEMENTS] = {0};
    const double *at = k->total;
    to->action = *at++;
    to->lagrange_action = *at++;
    for (int kind = 0; kind < DISPLACEMENTS; kind++)
        for (size_t v = 0; v < VARIATIONS; v++, at += 2) {
            double error = fabs(at[0] - (kind == FREE_ENDS ? k->ends[v] : 0));
            double noise = (to->stop - to->start) * k->noise[at - k->total];
            if (error > noise && at[1] > 0) errors[kind] = fmax(errors[kind], error / at[1]);
        }
    to->variations = VARIATIONS;
    to->principle = errors[VANISHING];
    to->varying_action = errors[FREE_ENDS];
    to->without_constraints = errors[UNPROJECTED];
    to->tolerance = fmax(k->model->settings.rtol, RTOL_LEAST) * (double)to->steps;
    to->holds = fmax(to->principle, to->varying_action) <= to->tolerance;
}

static bool allocate(check *k) {
    arena *a = &k->memory;
    size_t n = k->n, m = k->m, count = 2 + 2 * DISPLACEMENTS * VARIATIONS;
    k->waves = arena_alloc(a, VARIATIONS * n, sizeof *k->waves);
    k->Q = arena_doubles(a, (m + 1) * n);
    k->L = arena_doubles(a, (m + 1) * m);
    k->rates = arena_doubles(a, m * n);
    double **const vectors[] = {&k->eta, &k->eta_rate, &k->dq, &k->dv, &k->full};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = arena_doubles(a, n);
    k->work = arena_doubles(a, n + m);
    k->total = arena_doubles(a, count);
    k->noise = arena_doubles(a, count);
    return time_integrals_create(&k->integrals, a, count, fmax(k->model->settings.rtol, RTOL_LEAST), k->to->start);
}

static hamel_status perform(check *k) {
    hamel_hamilton *to = k->to;
    const model_settings *s = &k->model->settings;
    *to = (hamel_hamilton){.start = s->start, .stop = s->stop, .constrained = k->equations.A.count > 0};
    if (!allocate(k)) return hamel_out_of_memory(k->error);
    draw_waves(k);
    hamel_status status = run(k, false);
    if (status == HAMEL_OK && !(to->stop > to->start))
        return hamel_fail(k->error, HAMEL_INVALID, "/events", 0,
                          "an event changes the motion at the start: there is no interval without a jump");
    if (status == HAMEL_OK) status = run(k, true);
    if (status == HAMEL_OK) report(k);
    return status;
}

hamel_status hamel_check_hamilton(hamel_hamilton *out, const hamel_description *d, double slowed,
                                  const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_error own = {0};
    hamel_limits fallback = hamel_limits_default();
    check k = {.to = out, .poll = poll, .error = error ? error : &own, .slowed = slowed};
    arena_init(&k.memory, limits ? limits->memory : fallback.memory);
    hamel_status status = create_model(&k, d, limits ? limits : &fallback);
    if (status == HAMEL_OK) status = perform(&k);
    /* evaluations after a cancellation fail, but add no error */
    if (status != HAMEL_OK && k.model && system_interrupted(k.model->system)) status = k.error->status;
    trajectory_free(&k.main);
    hamel_model_free(k.model);
    arena_free(&k.memory);
    hamel_error_clear(&own);
    return status;
}
