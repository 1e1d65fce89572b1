/* momenta.c — variables w = p = ∂L/∂q' (engine/mechanics/hamilton.c).
 *
 * q' solves p(t, q, q') = w together with the constraints at the level of velocities,
 *
 *     p(t, q, q') + Aᵀμ = w,     ψ(t, q, q') = 0,
 *
 * by Newton's method on [M −Aᵀ; A 0], whose first step is exact where L is quadratic and the constraints are linear in
 * the velocities. On the motion μ = 0; but M may be singular where constraints make up for it (quaternions), and so
 * velocities never leave their constraints. */
#include "engine/solve/momentum_map.h"
#include "engine/solve/variables_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct momenta {
    momentum_map map;
    double *g, *r, *rest; /* n, m, n: zeros */
    double *rates_work;   /* of the model's momentum_rates */
} momenta;

static void momenta_close(variables *x) {
    momenta *o = x->own;
    if (!o) return;
    momentum_map_close(&o->map);
    free(o->g);
    free(o->rates_work);
    free(o);
    x->own = NULL;
}

static hamel_status momenta_open(variables *x, hamel_error *error) {
    const hamel_model *model = x->kinetics->model;
    momenta *o = x->own = calloc(1, sizeof *o);
    bool good = o && momentum_map_open(&o->map, &x->kinetics->mode);
    if (o) o->g = calloc(2 * x->n + model->m + 1, sizeof *o->g);
    if (o) o->rates_work = calloc(program_workspace_doubles(model->momentum_rates) + 1, sizeof *o->rates_work);
    if (!good || !o->g || !o->rates_work)
        return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the variables of the formulation");
    o->rest = o->g + x->n;
    o->r = o->rest + x->n;
    x->count = x->n;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->momentum_rates, &in, o->rates_work);
    return HAMEL_OK;
}

/* M z − Aᵀμ = g, A z = r with the matrices evaluated last. */
static hamel_status solve(const variables *x, momenta *o, double *z) {
    hamel_status status = kkt_factor(x->kinetics->velocities, o->map.values);
    return status == HAMEL_OK ? kkt_solve(x->kinetics->velocities, o->g, o->r, INFINITY, z, NULL) : status;
}

static hamel_status step_towards(void *context, const double *p, double *step) {
    const variables *x = context;
    momenta *o = x->own;
    for (size_t i = 0; i < x->n; i++) o->g[i] = p[i] - momentum_map_p(&o->map, i);
    for (size_t c = 0; c < x->kinetics->model->m; c++) o->r[c] = -momentum_map_residual(&o->map, c);
    return solve(x, o, step);
}

static hamel_status momenta_velocities(variables *x, const double *w, hamel_error *error) {
    momenta *o = x->own;
    momentum_search search = {.p = w, .start = o->rest, .step = step_towards, .context = x};
    return momentum_map_invert(&o->map, x->t, x->q, &search, x->v, error);
}

static hamel_status momenta_from_velocities(variables *x, double *w) {
    momenta *o = x->own;
    hamel_status status = momentum_map_evaluate(&o->map, x->t, x->q, x->v, NULL);
    for (size_t i = 0; i < x->n; i++) w[i] = momentum_map_p(&o->map, i);
    return status;
}

/* p' = ∂L/∂q + Q + what the constraints exert. */
static hamel_status momenta_rates(variables *x, const double *a, const double *lambda, double *dw) {
    const kinetics *k = x->kinetics;
    const hamel_model *model = k->model;
    momenta *o = x->own;
    bool split = model->nonideal || k->friction; /* the reaction is in two parts */
    (void)a;
    program_inputs in = model_inputs(model, &k->t, k->q, k->v, NULL, lambda, NULL);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    program_evaluate(model->momentum_rates, &in, o->rates_work, dw);
    for (size_t e = 0; !split && e < model->A.count; e++)
        dw[model->A.column[e]] += k->values[model->at_A + e] * lambda[model->A.row[e]];
    for (size_t i = 0; split && i < x->n; i++) dw[i] += k->ideal[i] + k->nonideal[i];
    double sum = 0;
    for (size_t i = 0; i < x->n; i++) sum += 0 * dw[i];
    return sum == 0 ? HAMEL_OK : HAMEL_NOT_FINITE;
}

/* The change dv of q' with changes of t, q and w, at the state given last. */
static hamel_status change_velocities(variables *x, double dt, const double *dq, const double *dw, double *dv) {
    momenta *o = x->own;
    hamel_status status = momentum_map_differentiate(&o->map, x->t, x->q, x->v, dt, dq, NULL);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < x->n; i++) o->g[i] = dw[i] - momentum_map_p_dot(&o->map, i);
    for (size_t c = 0; c < x->kinetics->model->m; c++) o->r[c] = -momentum_map_residual_dot(&o->map, c);
    return solve(x, o, dv);
}

static hamel_status momenta_velocity_change(variables *x, const double *dq, const double *dw, double *dv) {
    return change_velocities(x, 0, dq, dw, dv);
}

static hamel_status momenta_accelerations(variables *x, const double *dw, double *a) {
    return change_velocities(x, 1, x->v, dw, a);
}

static hamel_status momenta_change(variables *x, const double *dq, const double *dv, double *dw) {
    momenta *o = x->own;
    hamel_status status = momentum_map_differentiate(&o->map, x->t, x->q, x->v, 0, dq, dv);
    for (size_t i = 0; i < x->n; i++) dw[i] = momentum_map_p_dot(&o->map, i);
    return status;
}

static void momenta_tolerances(const variables *x, const double *atol, double *out) {
    const momenta *o = x->own;
    momentum_map_tolerances(&o->map, atol, out);
}

const variables_table variables_momenta = {
    .meet_constraints = true,
    .need_multipliers = true,
    .open = momenta_open,
    .close = momenta_close,
    .velocities = momenta_velocities,
    .from_velocities = momenta_from_velocities,
    .rates = momenta_rates,
    .accelerations = momenta_accelerations,
    .velocity_change = momenta_velocity_change,
    .change = momenta_change,
    .tolerances = momenta_tolerances,
};
