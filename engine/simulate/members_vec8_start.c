/* members_vec8_start.c — starts of members in SIMD lanes: initial values, the first state and the first row. */
#include "engine/simulate/members_vec8_int.h"

#include "engine/base/monotonic.h"
#include "engine/dynamics/initial_values.h"
#include "engine/simulate/uncertainty.h"

#include <math.h>
#include <string.h>

/* Sets p->used to the consistent initial values of a->member, by the functions of run.c. Returns false if a run would
 * fail, or use solvers that lanes do not have. */
static bool make_consistent_start(vec8_run *a, lane *p) {
    const hamel_model *model = &a->member.model;
    size_t n = model->n;
    memcpy(p->given, model->q0, n * sizeof *p->given);
    memcpy(p->given + n, model->v0, n * sizeof *p->given);
    memcpy(p->used, p->given, 2 * n * sizeof *p->used);
    p->initial_residual = 0;
    if (model->m == 0) return true;
    hamel_error error = {0};
    dynamics *k = a->starter;
    bool good = dynamics_renew(k) && initial_values_make_consistent(k, model->settings.start, p->used, p->used + n,
                                                                    model->settings.initialization,
                                                                    &p->initial_residual, &error) == HAMEL_OK;
    good = good && dynamics_is_regular(k);
    hamel_error_clear(&error);
    return good;
}

/* Prepares lane k for a new member. */
static void reset_lane(vec8_run *a, int k, size_t member) {
    lane *p = &a->lanes[k];
    *p = (lane){.taken = true,
                .member = member,
                .began = monotonic(),
                .visited = a->settings->start,
                .energy = (double)NAN,
                .margin = 1,
                .given = p->given,
                .used = p->used,
                .initial_residual = p->initial_residual,
                .residuals = p->residuals};
    for (size_t c = 0; c < a->model->named_count; c++) p->residuals[c].position = p->residuals[c].velocity = 0;
    a->least_margin[k] = 1;
    a->largest_margin[k] = 0;
}

/* Starts a member with valid numbers in lane k. Returns false if no member is left. */
static bool take_member(vec8_run *a, int k) {
    size_t n = a->model->n, targets = variation_target_count(a->variation);
    lane *p = &a->lanes[k];
    while (!p->taken && a->next < a->count) {
        size_t member = a->next++;
        a->left[member] = variation_set(a->variation, a->values + member * targets, &a->member, NULL) != HAMEL_OK ||
                          !make_consistent_start(a, p);
        if (!a->left[member]) reset_lane(a, k, member);
    }
    if (!p->taken) return false;
    for (size_t i = 0; i < a->model->system->parameter_count; i++)
        a->dynamics->parameters[i][k] = a->member.parameters[i];
    for (size_t i = 0; i < a->steps.length; i++) a->steps.y[i][k] = i < 2 * n ? p->used[i] : 0;
    a->steps.t[k] = a->settings->start;
    a->steps.h[k] = 0;
    return true;
}

/* Starts members in free lanes. Sets started[k] to true if lane k receives a member. Returns false if none of the lanes
 * receives a member. */
static bool take_members(vec8_run *a, bool *started) {
    bool any = false;
    for (int k = 0; k < VEC8_SIZE; k++) {
        started[k] = !a->lanes[k].taken && take_member(a, k);
        any = any || started[k];
    }
    if (any) dynamics_vec8_prepare(a->dynamics);
    return any;
}

/* Checks the initial state of a lane, which has been evaluated, and starts the integration there. Finds the energy
 * tolerance (note_energy in integrator.c). Returns false if the lane must be given up. */
static bool admit_start(vec8_run *a, int k) {
    if (!lane_is_good(a, k)) return false;
    lane *p = &a->lanes[k];
    size_t n = a->model->n;
    lane_select(a, k);
    if (a->model->m == 0 && !dynamics_vec8_mass_is_regular(a->dynamics)) return false;
    if (a->model->dynamics.energy_rate)
        p->start_energy = fmax(0, lane_energy_tolerance(a, 0) +
                                      energy_at_rest(a->model, a->dynamics->lane_values + a->model->dynamics.M.at));
    memcpy(p->used, a->q, n * sizeof *p->used);
    memcpy(p->used + n, a->v, n * sizeof *p->used);
    for (size_t i = 0; i < 2 * n; i++) a->steps.y[i][k] = p->used[i];
    return true;
}

bool lanes_start(vec8_run *a) {
    if (a->roots) return lanes_start_runs(a);
    dop853_vec8 *d = &a->steps;
    bool started[VEC8_SIZE];
    if (!take_members(a, started)) return true;
    for (int k = 0; k < VEC8_SIZE; k++)
        if (started[k] && a->sink->begin && !a->sink->begin(a->sink->context, a->lanes[k].member, &a->header))
            return false;
    const vec8_bits none = {0};
    vec8_bits which;
    lanes_bits(a, started, &which);
    memcpy(a->state, d->y, d->length * sizeof *a->state);
    lanes_evaluate(a, &which, &none, &d->t);
    for (int k = 0; k < VEC8_SIZE; k++)
        if (started[k] && !admit_start(a, k)) lane_give_up(a, k);
    for (int k = 0; k < VEC8_SIZE; k++) /* the state has been evaluated, and a start is always visited */
        if (started[k] && a->lanes[k].taken && !lane_visit(a, k, a->settings->start)) return false;
    lanes_find_first_steps(a, started);
    return true;
}
