/* uncertainty.c — error bounds from directional derivatives. Direction 0 is the direction of the motion; all other
 * directions are coordinate axes of the state (q, q'). */
#include "engine/simulate/uncertainty.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Bound on the rounding error of the energy, relative to the energy. The energy is a sum of rounded terms, so the bound
 * is a few tens of rounding units. */
static const double ENERGY_ROUNDING = 1e-14;

program_inputs motion_inputs(const dynamics *k, const motion_state *at) {
    program_inputs in = model_inputs(k->model, &at->t, at->q, at->v, at->a, at->lambda, at->free);
    in.values[SYMBOL_IDEAL] = k->ideal;
    in.values[SYMBOL_NONIDEAL] = k->nonideal;
    in.values[SYMBOL_JERK] = k->jerk;
    in.values[SYMBOL_BRANCH] = k->discrete_state.branches;
    return in;
}

bool uncertainty_create(uncertainty *u, arena *memory, const dynamics *k, const program *p) {
    *u = (uncertainty){.dynamics = k, .program = p};
    u->work = model_workspace(k->model, p, memory);
    u->tangent_work = arena_doubles(memory, program_tangent_doubles(p));
    u->seeds = arena_doubles(memory, (2 * k->model->n + 1) * PROGRAM_LANES);
    u->dots = arena_doubles(memory, program_output_count(p) * PROGRAM_LANES);
    return !memory->failed;
}

/* Sets the seeds of PROGRAM_LANES directions, starting with direction `first`. */
static program_inputs seed_directions(uncertainty *u, size_t first, const double *v, const double *a) {
    size_t n = u->dynamics->model->n;
    double *q_seeds = u->seeds, *v_seeds = q_seeds + n * PROGRAM_LANES, *t_seeds = v_seeds + n * PROGRAM_LANES;
    program_inputs seeds = {{0}};
    memset(u->seeds, 0, (2 * n + 1) * PROGRAM_LANES * sizeof *u->seeds);
    for (size_t lane = 0; lane < PROGRAM_LANES && first + lane <= 2 * n; lane++)
        if (first + lane > 0)
            q_seeds[(first + lane - 1) * PROGRAM_LANES + lane] =
                1; /* the axes of the coordinates, then those of the velocities */
    if (first == 0) {
        t_seeds[0] = 1;
        for (size_t i = 0; i < n; i++) {
            q_seeds[i * PROGRAM_LANES] = v[i];
            v_seeds[i * PROGRAM_LANES] = a[i];
        }
    }
    seeds.values[SYMBOL_COORDINATE] = q_seeds;
    seeds.values[SYMBOL_VELOCITY] = v_seeds;
    seeds.values[SYMBOL_TIME] = t_seeds;
    return seeds;
}

void uncertainty_find(uncertainty *u, const motion_state *at, double *value, double *rate, double *motion) {
    const model_settings *s = &u->dynamics->model->settings;
    const double *q = at->q, *v = at->v, *a = at->a;
    size_t n = u->dynamics->model->n, count = program_output_count(u->program);
    program_inputs in = motion_inputs(u->dynamics, at);
    assert(u->program && rate);
    if (value) memset(value, 0, count * sizeof *value);
    memset(rate, 0, count * sizeof *rate);
    for (size_t first = 0; first <= 2 * n; first += PROGRAM_LANES) {
        program_inputs seeds = seed_directions(u, first, v, a);
        program_tangent(u->program, &in, &seeds, u->work, u->tangent_work, NULL, u->dots);
        for (size_t lane = 0; lane < PROGRAM_LANES && first + lane <= 2 * n; lane++) {
            bool along = first + lane == 0;
            size_t y = first + lane - 1, k = y % n;
            for (size_t i = 0; i < count; i++) {
                double slope = u->dots[i * PROGRAM_LANES + lane];
                if (!isfinite(slope)) slope = 0;
                if (along && motion) motion[i] = slope;
                if (along) continue;
                if (value) value[i] += fabs(slope) * (s->rtol * fabs(y < n ? q[k] : v[k]) + s->atol[k]);
                rate[i] += fabs(slope) * (s->rtol * fabs(y < n ? v[k] : a[k]) + s->atol[k]);
            }
        }
    }
}

double energy_tolerance(const hamel_model *model, const double *M, const double *Q, const double *q, const double *v,
                        double energy) {
    const double *atol = model->settings.atol;
    double rtol = model->settings.rtol, sum = 0;
    for (size_t e = 0; e < model->dynamics.M.count; e++) { /* only one triangle of M is stored; |p_i| ≤ Σ |M_ij q'_j| */
        size_t i = (size_t)model->dynamics.M.row[e], j = (size_t)model->dynamics.M.column[e];
        sum += fabs(M[e] * v[j]) * (rtol * fabs(v[i]) + atol[i]);
        if (i == j) sum += fabs(M[e]) * atol[i] * atol[i]; /* keeps the tolerance positive at rest */
        if (i != j) sum += fabs(M[e] * v[i]) * (rtol * fabs(v[j]) + atol[j]);
    }
    sum += ENERGY_ROUNDING * fabs(energy);
    for (size_t i = 0; i < model->n; i++) sum += fabs(Q[i]) * (rtol * fabs(q[i]) + atol[i]);
    return sum;
}

double motion_energy_tolerance(dynamics *k, const double *q, const double *v, double energy) {
    const hamel_model *model = k->model;
    const double *atol = model->settings.atol, *Q = k->values + model->dynamics.at_Q;
    double rtol = model->settings.rtol, sum = ENERGY_ROUNDING * fabs(energy);
    if (!k->without_mass) return energy_tolerance(model, k->values + model->dynamics.M.at, Q, q, v, energy);
    dynamics_multiply_mass(k, v);
    for (size_t i = 0; i < model->n; i++) {
        sum += k->magnitude[i] * (rtol * fabs(v[i]) + atol[i]);
        sum += fabs(Q[i]) * (rtol * fabs(q[i]) + atol[i]);
    }
    dynamics_multiply_mass(k, atol); /* at rest; at least Σ M_ii atol_i² */
    for (size_t i = 0; i < model->n; i++) sum += k->magnitude[i] * atol[i];
    return sum;
}

double energy_at_rest(const hamel_model *model, const double *M) {
    const double *atol = model->settings.atol;
    double sum = 0;
    for (size_t e = 0; e < model->dynamics.M.count; e++)
        if (model->dynamics.M.row[e] == model->dynamics.M.column[e])
            sum += fabs(M[e]) * atol[model->dynamics.M.row[e]] * atol[model->dynamics.M.row[e]];
    return sum / model->settings.rtol;
}

bool energy_is_unbalanced(double error, double tolerance) {
    assert(!(error < 0) && !(tolerance < 0));
    return error > ANOTHER_MOTION * tolerance;
}
