/* initial_values.c — consistent initial values by Gauss–Newton in the metric of M.
 *
 * Each step solves  M x − Aᵀμ = 0,  A x = A (q_k − q0) − Φ(q_k)  for x = q_{k+1} − q0 with M kept at the given state, so
 * that the limit is the nearest point of the manifold, not merely one on it. */
#include "engine/solve/initial_values.h"

#include "engine/base/text_buffer.h"
#include "engine/solve/residual_rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 60, NEWTON_STEPS = 10, SHOWN = 12 };
static const double STRICT = 1e-6;   /* scaled residual of given values that count as consistent */
static const double REACHED = 1e-12; /* scaled residual of a state that counts as consistent */

typedef struct nearest {
    kinetics *k;
    double t;
    double *mass;  /* M of the given state */
    double *given; /* n: the level's given values */
    double *from;  /* n: what the result is to be nearest to */
    double *step;  /* n */
    double *right; /* m */
} nearest;

static bool nearest_create(nearest *w, kinetics *k, double t) {
    const hamel_model *model = k->model;
    *w = (nearest){.k = k, .t = t};
    w->mass = calloc(model->M.count + 3 * model->n + model->m + 1, sizeof *w->mass);
    if (!w->mass) return false;
    w->given = w->mass + model->M.count;
    w->from = w->given + model->n;
    w->step = w->from + model->n;
    w->right = w->step + model->n;
    return true;
}

/* Whether constraints are missed where all their coefficients are 0, as a quaternion of zeros misses its norm: no values
 * are nearest there. One fault each. */
static bool fail_flat(kinetics *k, bool position, hamel_error *error) {
    const hamel_model *model = k->model;
    bool any = false;
    for (size_t c = 0; c < model->m; c++) {
        const system_constraint *at = &model->system->constraints[c];
        double most = 0;
        size_t length = strlen(at->name);
        for (size_t e = 0; e < model->A.count; e++)
            if (model->A.row[e] == (int)c) most = fmax(most, fabs(k->values[model->at_A + e]));
        if (most > 0 || !(kinetics_scaled(k, c, position) > STRICT)) continue;
        (void)hamel_fail(error, HAMEL_INCONSISTENT, at->pointer, 0,
                         "the initial %s miss the constraint `%s` by %.6g, and all its coefficients are 0 there",
                         position ? "coordinates" : "velocities", at->name,
                         position ? kinetics_position(k)[c] : kinetics_velocity(k)[c]);
        bool norm = length > 5 && strcmp(at->name + length - 5, ".norm") == 0;
        hamel_suggest(error, norm ? "a quaternion has norm 1: without rotation its first component is initially 1"
                                  : "give initial values nearer to it");
        any = true;
    }
    return any;
}

/* The iteration diverges: x goes back to the given values, whose residuals are to be reported. */
static hamel_status return_to_start(nearest *w, const double *q, const double *v, double *x, hamel_error *error) {
    memcpy(x, w->given, w->k->model->n * sizeof *x);
    hamel_status status = kinetics_evaluate(w->k, w->t, q, v, error);
    return status == HAMEL_OK ? HAMEL_INCOMPATIBLE : status;
}

/* One step of a level from the state evaluated last: x = from + step, where the linearized constraints hold. */
static hamel_status take_step(nearest *w, double *x, bool position, hamel_error *error) {
    kinetics *k = w->k;
    const hamel_model *model = k->model;
    const double *f = position ? kinetics_position(k) : kinetics_velocity(k);
    kkt *system = position ? k->positions : k->velocities;
    memcpy(k->values + model->at_M, w->mass, model->M.count * sizeof *w->mass);
    for (size_t c = 0; c < model->m; c++) w->right[c] = -f[c];
    for (size_t e = 0; e < model->A.count; e++) {
        int j = model->A.column[e];
        w->right[model->A.row[e]] += k->values[model->at_A + e] * (x[j] - w->from[j]);
    }
    hamel_status status = kkt_factor(system, k->values);
    if (status == HAMEL_OK) status = kkt_solve(system, NULL, w->right, INFINITY, w->step, NULL);
    if (status == HAMEL_SINGULAR && fail_flat(k, position, error)) return HAMEL_INCONSISTENT;
    if (status != HAMEL_OK) return kinetics_explain(k, status, error);
    for (size_t j = 0; j < model->n; j++) x[j] = w->from[j] + w->step[j];
    return HAMEL_OK;
}

/* Solves one level; x is q or v. The nearest consistent point is approached linearly, at a rate that falls with its distance;
 * the last steps are Newton's from where x is, which square what is left. */
static hamel_status solve_level(nearest *w, double *q, double *v, bool position, hamel_error *error) {
    kinetics *k = w->k;
    double *x = position ? q : v, residual[2], *now = &residual[position ? 0 : 1], first = INFINITY, best = INFINITY;
    memcpy(w->given, x, k->model->n * sizeof *x);
    memcpy(w->from, x, k->model->n * sizeof *x);
    for (int i = 0; i < ITERATIONS; i++) {
        if (i == ITERATIONS - NEWTON_STEPS) memcpy(w->from, x, k->model->n * sizeof *x);
        kinetics_residuals(k, &residual[0], &residual[1]);
        if (i == 0) first = *now;
        if (*now < 4e-16 || (*now<REACHED && * now> 0.25 * best)) return HAMEL_OK;
        best = fmin(best, *now);
        hamel_status status = take_step(w, x, position, error);
        if (status == HAMEL_OK) status = kinetics_evaluate(k, w->t, q, v, NULL);
        if (status == HAMEL_NOT_FINITE) return return_to_start(w, q, v, x, error);
        if (status != HAMEL_OK) return status;
    }
    kinetics_residuals(k, &residual[0], &residual[1]);
    if (*now < REACHED) return HAMEL_OK;
    if (*now > fmax(first, STRICT)) return return_to_start(w, q, v, x, error);
    bool rounding;
    hamel_status status = residuals_find_rounding(k, position, REACHED, &rounding);
    if (status != HAMEL_OK) return kinetics_explain(k, status, error);
    return rounding ? HAMEL_OK : HAMEL_INCOMPATIBLE;
}

static hamel_status no_memory(hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the initial values");
}

/* Where constraints depend on each other and disagree, they are named together; otherwise the one that is off most. */
static hamel_status no_consistent_values(nearest *w, bool position, hamel_error *error) {
    kinetics *k = w->k;
    const hamel_model *model = k->model;
    const system_constraint *constraints = model->system->constraints;
    const char *what = position ? "coordinates" : "velocities";
    const double *f = position ? kinetics_position(k) : kinetics_velocity(k);
    size_t worst = 0;
    kinetics_contradiction found;
    bool *taken = calloc(model->m, sizeof *taken);
    if (!taken) return no_memory(error);
    for (size_t c = 0; c < model->m; c++) {
        taken[c] = position ? model->order[c] == CONSTRAINT_HOLONOMIC : model->order[c] != CONSTRAINT_ACCELERATION;
        if (kinetics_scaled(k, c, position) > kinetics_scaled(k, worst, position)) worst = c;
    }
    hamel_status status = kinetics_find_contradiction(k, taken, f, &found);
    free(taken);
    if (status == HAMEL_NO_MEMORY) return no_memory(error);
    bool named = found.off > 0.1 * fabs(f[worst]);
    if (!named)
        (void)hamel_fail(error, HAMEL_INCOMPATIBLE, constraints[worst].pointer, 0,
                         "no %s near the initial values satisfy all constraints: `%s` is off by %.3g", what,
                         constraints[worst].name, f[worst]);
    else if (found.count == 1)
        (void)hamel_fail(error, HAMEL_INCOMPATIBLE, constraints[found.last].pointer, 0,
                         "no %s near the initial values satisfy the constraint %s: it is off by %.3g", what,
                         found.names, found.off);
    else
        (void)hamel_fail(error, HAMEL_INCOMPATIBLE, constraints[found.last].pointer, 0,
                         "no %s near the initial values satisfy the constraints %s together: they are %.3g apart", what,
                         found.names, found.off);
    hamel_suggest(error, "start nearer to the constraints, or check that they do not contradict each other");
    return HAMEL_INCOMPATIBLE;
}

/* One fault a constraint that the given values miss; the nearest values are told with the first. */
static hamel_status report(kinetics *k, const double *position, const double *velocity, const double *scaled,
                           const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = k->model;
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
    for (size_t i = 0; i < 2 * model->m; i++) { /* a constraint's coordinates, then its velocities */
        size_t c = i / 2;
        bool coordinates = i % 2 == 0;
        const system_constraint *at = &model->system->constraints[c];
        if (!(scaled[coordinates ? c : model->m + c] > STRICT)) continue;
        (void)hamel_fail(error, HAMEL_INCONSISTENT, at->pointer, 0, "the initial %s miss the constraint `%s` by %.6g",
                         coordinates ? "coordinates" : "velocities", at->name, coordinates ? position[c] : velocity[c]);
        if (error->count == first + 1)
            hamel_suggest(error,
                          "the nearest consistent values are %s; or set simulation.initialization to \"project\"",
                          text.bytes ? text.bytes : "");
    }
    text_buffer_free(&text);
    return HAMEL_INCONSISTENT;
}

static hamel_status survey(kinetics *k, double t, const double *q, const double *v, hamel_error *error) {
    hamel_status status = row_survey_find(k, t, q, v);
    return status == HAMEL_NO_MEMORY ? hamel_fail(error, status, "", 0, "no memory for the initial values") : status;
}

/* Whether the given values, evaluated last, count as consistent. */
static hamel_status find_whether_given_hold(const kinetics *k, bool *hold, hamel_error *error) {
    bool velocities = true;
    hamel_status status = residuals_find_rounding(k, true, STRICT, hold);
    if (status == HAMEL_OK) status = residuals_find_rounding(k, false, STRICT, &velocities);
    *hold = *hold && velocities;
    return status == HAMEL_OK ? status : no_memory(error);
}

hamel_status initial_values_make_consistent(kinetics *k, double t, double *q, double *v, hamel_initialization mode,
                                            double *residual, hamel_error *error) {
    const hamel_model *model = k->model;
    size_t m = model->m;
    nearest w;
    *residual = 0;
    hamel_status status = kinetics_evaluate(k, t, q, v, error);
    if (status != HAMEL_OK || m == 0) return status;
    double *given = calloc(4 * m, sizeof *given), level[2];
    if (!given || !nearest_create(&w, k, t)) {
        free(given);
        return no_memory(error);
    }
    if (!k->survey.done) status = survey(k, t, q, v, error); /* of rows that vanish at the start only */
    if (status != HAMEL_OK) {
        free(given), free(w.mass);
        return status;
    }
    memcpy(w.mass, k->values + model->at_M, model->M.count * sizeof *w.mass);
    memcpy(given, kinetics_position(k), m * sizeof *given);
    memcpy(given + m, kinetics_velocity(k), m * sizeof *given);
    kinetics_residuals(k, &level[0], &level[1]);
    *residual = fmax(level[0], level[1]);
    for (size_t c = 0; c < m; c++) {
        given[2 * m + c] = kinetics_scaled(k, c, true);
        given[3 * m + c] = kinetics_scaled(k, c, false);
    }
    bool hold;
    status = find_whether_given_hold(k, &hold, error);
    if (status == HAMEL_OK) status = solve_level(&w, q, v, true, error);
    if (status == HAMEL_INCOMPATIBLE && error->status == HAMEL_OK) status = no_consistent_values(&w, true, error);
    if (status == HAMEL_OK) status = solve_level(&w, q, v, false, error);
    if (status == HAMEL_INCOMPATIBLE && error->status == HAMEL_OK) status = no_consistent_values(&w, false, error);
    if (status == HAMEL_OK && mode == HAMEL_INITIALIZATION_STRICT && !hold)
        status = report(k, given, given + m, given + 2 * m, q, v, error);
    free(w.mass);
    free(given);
    return status == HAMEL_OK ? survey(k, t, q, v, error) : status;
}

hamel_status initial_state(kinetics *k, double *q, double *v, double *a, double *lambda, hamel_error *error) {
    const hamel_model *model = k->model;
    double t = model->settings.start, residual;
    memcpy(q, model->q0, model->n * sizeof *q);
    memcpy(v, model->v0, model->n * sizeof *v);
    hamel_status status = initial_velocities_from_quasi(k, t, q, v, error);
    if (status == HAMEL_OK)
        status = initial_values_make_consistent(k, t, q, v, model->settings.initialization, &residual, error);
    if (status == HAMEL_OK) status = kinetics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) status = kinetics_accelerations(k, 0, 0, a, lambda, error);
    return status;
}
