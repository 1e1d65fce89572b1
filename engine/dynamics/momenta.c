/* momenta.c — momenta as velocity variables, w = p = ∂L/∂q' (engine/mechanics/hamilton.c).
 *
 * Newton's method on [M −Aᵀ; A 0] solves p(t, q, q') = w together with the velocity-level constraints for q':
 *
 *     p(t, q, q') + Aᵀμ = w,     ψ(t, q, q') = 0
 *
 * The first step is exact if L is quadratic and the constraints are linear in the velocities. At the states of a
 * motion, w is the momentum, and μ = 0. Because the equations include the constraints, M may be singular (quaternions),
 * and the velocities satisfy the constraints. */
#include "engine/base/finite.h"
#include "engine/dynamics/momentum_map.h"
#include "engine/dynamics/variables.h"

#include <math.h>
#include <string.h>

typedef struct momenta {
    momentum_map map;
    double *g, *r, *rest; /* g: n entries; r: m entries; rest: n zeros */
    double *rates_work;   /* workspace of model->momenta.rates */
} momenta;

static hamel_status momenta_open(variables *x, hamel_error *error) {
    const hamel_model *model = x->dynamics->model;
    momenta *o = x->own = arena_alloc(&x->memory, 1, sizeof *o);
    if (!o || !momentum_map_create(&o->map, &x->dynamics->discrete_state, &x->memory))
        return hamel_out_of_memory(error);
    o->rates_work = model_workspace(model, model->momenta.rates, &x->memory);
    x->count = x->n;
    bool good = ARENA_DOUBLES(&x->memory, {&o->g, x->n}, {&o->r, model->m}, {&o->rest, x->n});
    return good ? HAMEL_OK : hamel_out_of_memory(error);
}

/* Solves M z − Aᵀμ = g, A z = r with the matrices evaluated last. */
static hamel_status solve_velocities(const variables *x, momenta *o, double *z) {
    hamel_status status = kkt_factor(x->dynamics->velocities, o->map.values);
    return status == HAMEL_OK ? kkt_solve(x->dynamics->velocities, o->g, o->r, INFINITY, z, NULL) : status;
}

static hamel_status step_towards(void *context, const double *p, double *step) {
    const variables *x = context;
    momenta *o = x->own;
    for (size_t i = 0; i < x->n; i++) o->g[i] = p[i] - momentum_map_p(&o->map, i);
    for (size_t c = 0; c < x->dynamics->model->m; c++) o->r[c] = -momentum_map_residual(&o->map, c);
    return solve_velocities(x, o, step);
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

/* Computes p' = ∂L/∂q + Q + the reaction of the constraints. */
static hamel_status momenta_rates(variables *x, const double *a, const double *lambda, double *dw) {
    const dynamics *k = x->dynamics;
    const hamel_model *model = k->model;
    momenta *o = x->own;
    bool split = model->dynamics.nonideal || k->friction; /* the reaction has an ideal and a nonideal part */
    (void)a;
    program_inputs in = discrete_state_inputs(&k->discrete_state, &k->t, k->q, k->v, NULL, lambda);
    program_evaluate(model->momenta.rates, &in, o->rates_work, dw);
    if (!split) sparse_block_multiply_transposed(&model->dynamics.A, k->values, 1, lambda, dw);
    for (size_t i = 0; split && i < x->n; i++) dw[i] += k->ideal[i] + k->nonideal[i];
    return all_finite(dw, x->n) ? HAMEL_OK : HAMEL_NOT_FINITE;
}

/* Sets dv[n] to the differential of q' for dt, dq and dw at the state in x. */
static hamel_status momenta_velocity_change(variables *x, double dt, const double *dq, const double *dw, double *dv) {
    momenta *o = x->own;
    hamel_status status = momentum_map_differentiate(&o->map, x->t, x->q, x->v, dt, dq, NULL);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < x->n; i++) o->g[i] = dw[i] - momentum_map_p_dot(&o->map, i);
    for (size_t c = 0; c < x->dynamics->model->m; c++) o->r[c] = -momentum_map_residual_dot(&o->map, c);
    return solve_velocities(x, o, dv);
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
    .velocities = momenta_velocities,
    .from_velocities = momenta_from_velocities,
    .rates = momenta_rates,
    .velocity_change = momenta_velocity_change,
    .change = momenta_change,
    .tolerances = momenta_tolerances,
};
