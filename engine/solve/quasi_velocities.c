/* quasi_velocities.c — w = u: quasi-velocities as states (engine/solve/frame.h).
 *
 *     q' = Ψ⁻¹([u; 0] − ψ_t)                     one linear system where all constraints are linear in the velocities,
 *                                                 Newton's method on u(q, q') = u, f(q, q') = 0 where they are not
 *     u' = C q'' + dC/dt q' + dd/dt
 *     ∂q'/∂q at fixed u = −Ψ⁻¹ ∂(Ψ q' + ψ_t)/∂q    by the tangent of the kinematics program */
#include "engine/solve/variables_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 40 };
static const double REACHED = 1e-15; /* size of a Newton step beside its velocities */

typedef struct quasi {
    frame *frame;
    double *values, *work;                      /* of the kinematics program */
    double *tangent_work, *dots, *seeds, *step; /* step: n */
} quasi;

/* --- at a state --------------------------------------------------------------------------------------------------------- */

static hamel_status not_finite(variables *x, const program_inputs *in, hamel_error *error) {
    const hamel_model *model = x->kinetics->model;
    quasi *own = x->own;
    if (!error) return HAMEL_NOT_FINITE;
    return model_not_finite(model, model->kinematics, in, own->work, x->t, "",
                            "a value in the constraints or quasi-velocities", error);
}

/* The user's quasi-velocities have become dependent on each other or on the constraints. */
static hamel_status dependent(variables *x, hamel_error *error) {
    const hamel_model *model = x->kinetics->model;
    const frame *f = ((quasi *)x->own)->frame;
    text_buffer names;
    if (!error || f->user_count == 0) return error ? frame_explain(f, x->t, error) : HAMEL_SINGULAR;
    text_buffer_init(&names, 400);
    for (size_t i = 0; i < f->user_count; i++)
        text_buffer_printf(&names, "%s`%s`", i ? ", " : "", model->system->quasi[f->user[i]].name);
    (void)hamel_fail(error, HAMEL_SINGULAR, "/quasi_velocities", 0,
                     "at t = %.9g the quasi-velocities %s no longer determine the velocities", x->t,
                     names.bytes && !names.failed ? names.bytes : "of the system");
    hamel_suggest(error, "leave them away, then others are chosen along the motion; or take another formulation: "
                         "lagrange");
    text_buffer_free(&names);
    return HAMEL_SINGULAR;
}

/* Constraints that are not active ask for nothing. */
static void mask(variables *x) {
    const hamel_model *model = x->kinetics->model;
    const bool *active = x->kinetics->mode.active;
    double *values = ((quasi *)x->own)->values;
    if (x->kinetics->masked_count == 0) return;
    for (size_t e = 0; e < model->A.count; e++)
        if (!active[model->A.row[e]]) values[e] = 0;
    for (size_t c = 0; c < model->m; c++)
        if (!active[c]) values[model->kinematics_velocity + c] = 0;
}

static hamel_status evaluate(variables *x, const double *v, hamel_error *error) {
    const hamel_model *model = x->kinetics->model;
    quasi *own = x->own;
    double sum = 0;
    program_inputs in = model_inputs(model, &x->t, x->q, v, NULL, NULL, NULL);
    in.values[SYMBOL_BRANCH] = x->kinetics->mode.branches;
    program_evaluate(model->kinematics, &in, own->work, own->values);
    mask(x);
    for (size_t i = 0; i < model->kinematics_count; i++) sum += 0 * own->values[i];
    if (sum != 0) return not_finite(x, &in, error);
    return HAMEL_OK;
}

static hamel_status factor(variables *x, hamel_error *error) {
    quasi *own = x->own;
    hamel_status status = frame_factor(own->frame, own->values, own->values + x->kinetics->model->kinematics_C);
    return status == HAMEL_OK ? status : dependent(x, error);
}

/* u of the values evaluated last, at velocities v. */
static void quasi_of(const variables *x, const double *v, double *u) {
    const quasi *own = x->own;
    const double *given = own->values + x->kinetics->model->kinematics_quasi;
    frame_apply(own->frame, v, u);
    for (size_t r = 0; r < own->frame->user_count; r++) u[r] = given[own->frame->user[r]];
}

/* --- the two maps --------------------------------------------------------------------------------------------------------- */

/* v += Ψ⁻¹([w; 0] − (Ψ v + ψ_t)) at the values evaluated last; returns the largest component of the step. */
static double newton_step(variables *x, const double *w) {
    quasi *own = x->own;
    frame *f = own->frame;
    double most = 0;
    quasi_of(x, x->v, own->step);
    for (size_t r = 0; r < f->freedom; r++) own->step[r] = w[r] - own->step[r];
    frame_gather(f, own->values + x->kinetics->model->kinematics_velocity, 1, own->step + f->freedom);
    for (size_t r = f->freedom; r < f->n; r++) own->step[r] = -own->step[r];
    frame_solve(f, own->step);
    for (size_t j = 0; j < x->n; j++) {
        x->v[j] += own->step[j];
        most = fmax(most, fabs(own->step[j]));
    }
    return most;
}

static hamel_status quasi_velocities(variables *x, const double *w, hamel_error *error) {
    bool linear = x->kinetics->model->linear_velocities;
    double before = INFINITY;
    if (linear) memset(x->v, 0, x->n * sizeof *x->v);
    for (int i = 0; i < ITERATIONS; i++) {
        double size = 0;
        hamel_status status = evaluate(x, x->v, error);
        if (status == HAMEL_OK) status = factor(x, error);
        if (status != HAMEL_OK) return status;
        double step = newton_step(x, w);
        for (size_t j = 0; j < x->n; j++) size = fmax(size, fabs(x->v[j]));
        if (linear || step <= REACHED * size || (step <= 1e-11 * size && step > 0.5 * before)) return HAMEL_OK;
        before = step;
    }
    return error ? hamel_fail(error, HAMEL_SINGULAR, "/constraints", 0,
                              "at t = %.9g no velocities near the motion satisfy the constraints", x->t)
                 : HAMEL_SINGULAR;
}

static hamel_status quasi_from_velocities(variables *x, double *w) {
    hamel_status status = evaluate(x, x->v, NULL);
    if (status == HAMEL_OK) status = factor(x, NULL);
    if (status == HAMEL_OK) quasi_of(x, x->v, w);
    return status;
}

static hamel_status quasi_rates(variables *x, const double *a, const double *lambda, double *dw) {
    const hamel_model *model = x->kinetics->model;
    const frame *f = ((quasi *)x->own)->frame;
    const double *bias = x->kinetics->values + model->at_quasi_bias;
    (void)lambda;
    frame_apply(f, a, dw); /* by the C of the equations of motion, which were solved just now */
    for (size_t r = 0; r < f->user_count; r++) dw[r] += bias[f->user[r]];
    return HAMEL_OK;
}

/* --- small changes ---------------------------------------------------------------------------------------------------------- */

/* The change of u (freedom) and of the constraints taken (the rest) along dq at fixed q' into own->step; the frame is
 * factored for the values evaluated last. */
static hamel_status along(variables *x, const double *dq) {
    const hamel_model *model = x->kinetics->model;
    quasi *own = x->own;
    frame *f = own->frame;
    program_inputs in = model_inputs(model, &x->t, x->q, x->v, NULL, NULL, NULL), seeds = {{0}};
    hamel_status status = factor(x, NULL);
    if (status != HAMEL_OK) return status;
    in.values[SYMBOL_BRANCH] = x->kinetics->mode.branches;
    for (size_t j = 0; j < x->n; j++) own->seeds[j * PROGRAM_LANES] = dq[j];
    seeds.values[SYMBOL_COORDINATE] = own->seeds;
    program_tangent(model->kinematics, &in, &seeds, own->work, own->tangent_work, NULL, own->dots);
    for (size_t r = 0; r < f->freedom; r++)
        own->step[r] = r < f->user_count ? own->dots[(model->kinematics_quasi + f->user[r]) * PROGRAM_LANES] : 0;
    frame_gather(f, own->dots + model->kinematics_velocity * PROGRAM_LANES, PROGRAM_LANES, own->step + f->freedom);
    return HAMEL_OK;
}

static hamel_status quasi_velocity_change(variables *x, const double *dq, const double *dw, double *dv) {
    quasi *own = x->own;
    hamel_status status = along(x, dq);
    if (status != HAMEL_OK) return status;
    for (size_t r = 0; r < x->n; r++) dv[r] = (r < x->count ? dw[r] : 0) - own->step[r];
    frame_solve(own->frame, dv);
    return HAMEL_OK;
}

static hamel_status quasi_change(variables *x, const double *dq, const double *dv, double *dw) {
    quasi *own = x->own;
    hamel_status status = along(x, dq);
    if (status != HAMEL_OK) return status;
    frame_apply(own->frame, dv, dw);
    for (size_t r = 0; r < x->count; r++) dw[r] += own->step[r];
    return HAMEL_OK;
}

/* The tolerance of Σ C_ri q'_i. */
static void quasi_tolerances(const variables *x, const double *atol, double *out) {
    const frame *f = ((const quasi *)x->own)->frame;
    const model_pattern *p = &x->kinetics->model->C;
    for (size_t r = 0; r < f->freedom; r++) {
        out[r] = 0;
        for (size_t e = 0; r < f->user_count && e < p->count; e++)
            if ((size_t)p->row[e] == f->user[r]) out[r] += fabs(f->C[e]) * atol[p->column[e]];
        if (r >= f->user_count) out[r] = atol[f->coordinate[r - f->user_count]];
    }
}

/* --- life ------------------------------------------------------------------------------------------------------------------- */

static hamel_status choose(variables *x, hamel_error *error) {
    quasi *own = x->own;
    hamel_status status = evaluate(x, x->v, error);
    if (status == HAMEL_OK)
        status = frame_choose(own->frame, own->values, own->values + x->kinetics->model->kinematics_C);
    return status == HAMEL_SINGULAR ? dependent(x, error) : status;
}

static hamel_status quasi_renew(variables *x, double *w, bool *renewed, hamel_error *error) {
    quasi *own = x->own;
    size_t freedom = own->frame->freedom;
    if (frame_is_lost(own->frame)) return dependent(x, error);
    if (!frame_is_worn(own->frame)) return HAMEL_OK;
    hamel_status status = choose(x, error);
    if (status == HAMEL_OK && own->frame->freedom != freedom) status = frame_explain(own->frame, x->t, error);
    if (status != HAMEL_OK) return status;
    quasi_of(x, x->v, w);
    *renewed = true;
    return HAMEL_OK;
}

static void quasi_close(variables *x) {
    quasi *own = x->own;
    if (!own) return;
    own->frame->held = false;
    free(own->values);
    free(own);
}

static hamel_status quasi_open(variables *x, hamel_error *error) {
    const hamel_model *model = x->kinetics->model;
    const program *p = model->kinematics;
    size_t work = program_workspace_doubles(p), tangent = program_tangent_doubles(p), count = model->kinematics_count;
    quasi *own = calloc(1, sizeof *own);
    double *at = calloc(count + work + tangent + (count + x->n) * PROGRAM_LANES + x->n + 1, sizeof *at);
    if (!own || !at) {
        free(own), free(at);
        return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the quasi-velocities");
    }
    x->own = own;
    *own = (quasi){.frame = x->kinetics->motion.frame, .values = at};
    own->work = at += count;
    own->tangent_work = at += work;
    own->dots = at += tangent;
    own->seeds = at += count * PROGRAM_LANES;
    own->step = at + x->n * PROGRAM_LANES;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(p, &in, own->work);
    hamel_status status = choose(x, error);
    own->frame->held = true;
    x->count = own->frame->freedom;
    return status;
}

const variables_table variables_quasi_velocities = {
    .meet_constraints = true,
    .open = quasi_open,
    .close = quasi_close,
    .velocities = quasi_velocities,
    .from_velocities = quasi_from_velocities,
    .rates = quasi_rates,
    .velocity_change = quasi_velocity_change,
    .change = quasi_change,
    .tolerances = quasi_tolerances,
    .renew = quasi_renew,
};
