/* initial_values.c — consistent initial values by the Gauss–Newton method in the metric of M.
 *
 * Each step solves M x − Aᵀμ = 0, A x = A (q_k − q0) − Φ(q_k) for x = q_{k+1} − q0. M is evaluated at the original
 * state, so the limit is the point of the manifold nearest to q0. */
#include "engine/dynamics/initial_values.h"

#include "engine/base/text_buffer.h"
#include "engine/base/tolerances.h"
#include "engine/linear/newton_progress.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { ITERATIONS = 60, NEWTON_STEPS = 10, SHOWN = 12 };

typedef struct nearest {
    dynamics *k;
    double t;
    arena memory;
    double *mass;          /* M at the original state */
    double *given;         /* n: original values of the level */
    double *from;          /* n: reference values of the minimization */
    double *step;          /* n */
    double *right;         /* m */
    double *value, *error; /* m entries each; value: residuals; error: bounds on their rounding (find_rounding) */
    bool *taken;           /* m: true if the row belongs to the level */
    /* m entries each, for the original velocities [0] and positions [1]; off: residuals; scaled: scaled residuals */
    double *off[2], *scaled[2];
} nearest;

/* Returns false if out of memory. Free w->memory in both cases. */
static bool nearest_create(nearest *w, dynamics *k, double t) {
    size_t n = k->model->n, m = k->model->m;
    *w = (nearest){.k = k, .t = t};
    w->taken = arena_alloc(&w->memory, m, sizeof *w->taken);
    return ARENA_DOUBLES(&w->memory, {&w->mass, k->model->dynamics.M.count}, {&w->given, n}, {&w->from, n},
                         {&w->step, n}, {&w->right, m}, {&w->value, m}, {&w->error, m}, {&w->off[0], m},
                         {&w->off[1], m}, {&w->scaled[0], m}, {&w->scaled[1], m});
}

/* Adds an error for each violated constraint whose coefficients are all 0, because no projection can correct such a
 * constraint. An example is the norm of a zero quaternion. Returns false if there is no such constraint. */
static bool fail_flat(dynamics *k, bool position, hamel_error *error) {
    const hamel_model *model = k->model;
    bool any = false;
    for (size_t c = 0; c < model->m; c++) {
        const system_constraint *at = &model->system->constraints[c];
        double most = 0;
        size_t length = strlen(at->name);
        for (size_t e = 0; e < model->dynamics.A.count; e++)
            if (model->dynamics.A.row[e] == (int)c) most = fmax(most, fabs(k->values[model->dynamics.A.at + e]));
        if (most > 0 || !(dynamics_scaled(k, c, position) > INITIAL_MISS)) continue;
        (void)hamel_fail(error, HAMEL_INCONSISTENT, at->pointer, 0,
                         "the initial %s miss the constraint `%s` by %.6g, and all its coefficients are 0 there",
                         position ? "coordinates" : "velocities", at->name, dynamics_level(k, position)[c]);
        bool norm = length > 5 && strcmp(at->name + length - 5, ".norm") == 0;
        hamel_suggest(error, norm ? "set the quaternion to norm 1, for example (1, 0, 0, 0)"
                                  : "choose initial values nearer to the constraint");
        any = true;
    }
    return any;
}

/* Sets *rounding to true if each residual of a level is at most `scaled` (dynamics_scaled) or within its rounding
 * error. A residual is scaled by its gradient, Σ |A_ci| max(1, |q_i|). The terms of a constraint may be much larger
 * than this scale and cancel, for example positions in millimetres. The rounding errors of these terms then exceed any
 * fixed fraction of the scale. The residual is therefore also compared with a bound on the rounding error of its
 * expression. */
static hamel_status find_rounding(nearest *w, bool position, double scaled, bool *rounding) {
    const hamel_model *model = w->k->model;
    const dynamics *k = w->k;
    const graph_node *nodes =
        model->dynamics.nodes + (position ? model->dynamics.at_position : model->dynamics.at_velocity);
    program_inputs in = discrete_state_inputs(&k->discrete_state, &k->t, k->q, k->v, NULL, NULL);
    graph_point point = {{0}, {0}, {0}};
    *rounding = true;
    for (size_t c = 0; c < model->m; c++) *rounding = *rounding && dynamics_scaled(k, c, position) <= scaled;
    if (*rounding) return HAMEL_OK;
    memcpy(point.values, in.values, sizeof point.values);
    point.error[SYMBOL_PARAMETER] = point.error[SYMBOL_TIME] = DBL_EPSILON;
    point.error[SYMBOL_COORDINATE] = point.error[SYMBOL_VELOCITY] = DBL_EPSILON;
    if (!graph_values(model->system->graph, nodes, model->m, &point, w->value, w->error)) return HAMEL_NO_MEMORY;
    *rounding = true;
    for (size_t c = 0; c < model->m; c++)
        *rounding = *rounding && (dynamics_scaled(k, c, position) <= scaled ||
                                  fabs(dynamics_level(k, position)[c]) <= ROUNDING_SAFETY * w->error[c]);
    return HAMEL_OK;
}

/* Restores the original values after the iteration has diverged, so that their residuals are reported. */
static hamel_status return_to_start(nearest *w, const double *q, const double *v, double *x, hamel_error *error) {
    memcpy(x, w->given, w->k->model->n * sizeof *x);
    hamel_status status = dynamics_evaluate(w->k, w->t, q, v, error);
    return status == HAMEL_OK ? HAMEL_INCOMPATIBLE : status;
}

/* Takes one step of a level from the state evaluated last: x = from + step satisfies the linearized constraints. */
static hamel_status take_nearest_step(nearest *w, double *x, bool position, hamel_error *error) {
    dynamics *k = w->k;
    const hamel_model *model = k->model;
    const double *f = dynamics_level(k, position);
    kkt *system = dynamics_system(k, position);
    memcpy(k->values + model->dynamics.M.at, w->mass, model->dynamics.M.count * sizeof *w->mass);
    for (size_t c = 0; c < model->m; c++) w->right[c] = -f[c];
    for (size_t j = 0; j < model->n; j++) w->step[j] = x[j] - w->from[j];
    sparse_block_multiply(&model->dynamics.A, k->values, 1, w->step, w->right);
    hamel_status status = kkt_factor(system, k->values);
    if (status == HAMEL_OK) status = kkt_solve(system, NULL, w->right, INFINITY, w->step, NULL);
    if (status == HAMEL_SINGULAR && fail_flat(k, position, error)) return HAMEL_INCONSISTENT;
    if (status != HAMEL_OK) return dynamics_explain(k, status, error);
    for (size_t j = 0; j < model->n; j++) x[j] = w->from[j] + w->step[j];
    return HAMEL_OK;
}

/* Solves one level, where x is q or v. The iteration converges linearly to the nearest consistent point. It converges
 * faster if the original values are closer to this point. The last steps are Newton steps from x, which square the
 * remaining error. */
static hamel_status solve_level(nearest *w, double *q, double *v, bool position, hamel_error *error) {
    assert(q != v && w->from != q && w->from != v);
    dynamics *k = w->k;
    double *x = position ? q : v, residual[2], *now = &residual[position ? 0 : 1], first = INFINITY, before = INFINITY;
    memcpy(w->given, x, k->model->n * sizeof *x);
    memcpy(w->from, x, k->model->n * sizeof *x);
    for (int i = 0; i < ITERATIONS; i++) {
        if (i == ITERATIONS - NEWTON_STEPS) memcpy(w->from, x, k->model->n * sizeof *x);
        dynamics_residuals(k, &residual[0], &residual[1]);
        if (i == 0) first = *now;
        if (newton_has_ended(&before, *now, NEWTON_RESIDUAL)) return HAMEL_OK;
        hamel_status status = take_nearest_step(w, x, position, error);
        if (status == HAMEL_OK) status = dynamics_evaluate(k, w->t, q, v, NULL);
        if (status == HAMEL_NOT_FINITE) return return_to_start(w, q, v, x, error);
        if (status != HAMEL_OK) return status;
    }
    dynamics_residuals(k, &residual[0], &residual[1]);
    if (*now < NEWTON_RESIDUAL.stalled) return HAMEL_OK;
    if (*now > fmax(first, INITIAL_MISS)) return return_to_start(w, q, v, x, error);
    bool rounding;
    hamel_status status = find_rounding(w, position, NEWTON_RESIDUAL.stalled, &rounding);
    if (status != HAMEL_OK) return dynamics_explain(k, status, error);
    return rounding ? HAMEL_OK : HAMEL_INCOMPATIBLE;
}

/* If redundant constraints contradict each other, adds an error that names them. Otherwise the error names the
 * constraint with the largest residual. */
static hamel_status no_consistent_values(nearest *w, bool position, hamel_error *error) {
    dynamics *k = w->k;
    const hamel_model *model = k->model;
    const system_constraint *constraints = model->system->constraints;
    const char *what = position ? "coordinates" : "velocities";
    const double *f = dynamics_level(k, position);
    size_t worst = 0;
    dynamics_contradiction found;
    for (size_t c = 0; c < model->m; c++) {
        w->taken[c] = is_of_level(model->order[c], position);
        if (dynamics_scaled(k, c, position) > dynamics_scaled(k, worst, position)) worst = c;
    }
    hamel_status status = dynamics_find_contradiction(k, w->taken, f, &found);
    if (status == HAMEL_NO_MEMORY) return hamel_out_of_memory(error);
    if (!(found.off > 0.1 * fabs(f[worst])))
        (void)hamel_fail(error, HAMEL_INCOMPATIBLE, constraints[worst].pointer, 0,
                         "no %s near the initial values satisfy all constraints: `%s` is off by %.3g", what,
                         constraints[worst].name, f[worst]);
    else
        (void)hamel_fail(error, HAMEL_INCOMPATIBLE, constraints[found.last].pointer, 0,
                         found.count == 1
                             ? "no %s near the initial values satisfy the constraint %s: it is off by %.3g"
                             : "no %s near the initial values satisfy the constraints %s together: they are %.3g apart",
                         what, found.names, found.off);
    hamel_suggest(error, "choose initial values nearer to the constraints, or remove a contradiction between them");
    return HAMEL_INCOMPATIBLE;
}

/* Adds an error for each constraint that the original values violate. The first error suggests the nearest values. */
static hamel_status report_misses(const nearest *w, const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = w->k->model;
    text_buffer text;
    size_t shown = 0;
    text_buffer_init(&text, 4096);
    for (size_t i = 0; i < 2 * model->n && shown < SHOWN; i++) {
        double given = i < model->n ? model->q0[i] : model->v0[i - model->n],
               near = i < model->n ? q[i] : v[i - model->n];
        if (fabs(given - near) <= 1e-12 * fmax(1, fabs(near))) continue;
        text_buffer_printf(&text, "%s%s%s = %.10g", shown++ ? ", " : "", model->system->coordinates[i % model->n].name,
                           i < model->n ? "" : "'", near);
    }
    size_t first = error->count;
    for (size_t i = 0; i < 2 * model->m; i++) { /* positions and velocities of each constraint */
        size_t c = i / 2;
        bool position = i % 2 == 0;
        const system_constraint *at = &model->system->constraints[c];
        if (!(w->scaled[position][c] > INITIAL_MISS)) continue;
        (void)hamel_fail(error, HAMEL_INCONSISTENT, at->pointer, 0, "the initial %s miss the constraint `%s` by %.6g",
                         position ? "coordinates" : "velocities", at->name, w->off[position][c]);
        if (error->count == first + 1)
            hamel_suggest(error,
                          "use the nearest consistent values %s, or set simulation.initialization to \"project\"",
                          text.bytes ? text.bytes : "");
    }
    text_buffer_free(&text);
    return HAMEL_INCONSISTENT;
}

static hamel_status survey_start(dynamics *k, double t, const double *q, const double *v, hamel_error *error) {
    hamel_status status = rank_survey_find(k, t, q, v);
    return status == HAMEL_NO_MEMORY ? hamel_out_of_memory(error) : status;
}

/* Stores M and the residuals of the original values, which were evaluated last. Returns the largest scaled residual. */
static double keep_given(nearest *w) {
    dynamics *k = w->k;
    const sparse_block *M = &k->model->dynamics.M;
    double position, velocity;
    memcpy(w->mass, k->values + M->at, M->count * sizeof *w->mass);
    dynamics_residuals(k, &position, &velocity);
    for (int level = 0; level < 2; level++)
        for (size_t c = 0; c < k->model->m; c++) {
            w->off[level][c] = dynamics_level(k, level)[c];
            w->scaled[level][c] = dynamics_scaled(k, c, level);
        }
    return fmax(position, velocity);
}

static hamel_status make_consistent(nearest *w, double *q, double *v, hamel_initialization mode, double *residual,
                                    hamel_error *error) {
    dynamics *k = w->k;
    bool positions_hold = false, velocities_hold = false;
    hamel_status status = HAMEL_OK;
    if (!k->survey.done) status = survey_start(k, w->t, q, v, error); /* rows may vanish at the initial state */
    if (status != HAMEL_OK) return status;
    *residual = keep_given(w);
    status = find_rounding(w, true, INITIAL_MISS, &positions_hold);
    if (status == HAMEL_OK) status = find_rounding(w, false, INITIAL_MISS, &velocities_hold);
    if (status != HAMEL_OK) return hamel_out_of_memory(error);
    for (int level = 1; level >= 0 && status == HAMEL_OK; level--) {
        status = solve_level(w, q, v, level, error);
        if (status == HAMEL_INCOMPATIBLE && error->status == HAMEL_OK) status = no_consistent_values(w, level, error);
    }
    bool consistent = positions_hold && velocities_hold;
    if (status == HAMEL_OK && mode == HAMEL_INITIALIZATION_STRICT && !consistent)
        status = report_misses(w, q, v, error);
    return status == HAMEL_OK ? survey_start(k, w->t, q, v, error) : status;
}

hamel_status initial_values_make_consistent(dynamics *k, double t, double *q, double *v, hamel_initialization mode,
                                            double *residual, hamel_error *error) {
    nearest w;
    *residual = 0;
    hamel_status status = dynamics_evaluate(k, t, q, v, error);
    if (status != HAMEL_OK || k->model->m == 0) return status;
    status = nearest_create(&w, k, t) ? make_consistent(&w, q, v, mode, residual, error) : hamel_out_of_memory(error);
    arena_free(&w.memory);
    return status;
}

hamel_status initial_state(dynamics *k, double *q, double *v, double *a, double *lambda, hamel_error *error) {
    const hamel_model *model = k->model;
    double t = model->settings.start, residual;
    memcpy(q, model->q0, model->n * sizeof *q);
    memcpy(v, model->v0, model->n * sizeof *v);
    hamel_status status = initial_velocities_from_quasi(k, t, q, v, error);
    if (status == HAMEL_OK)
        status = initial_values_make_consistent(k, t, q, v, model->settings.initialization, &residual, error);
    if (status == HAMEL_OK) status = dynamics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) status = dynamics_accelerations(k, 0, 0, a, lambda, error);
    return status;
}
