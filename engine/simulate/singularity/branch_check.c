/* passage.c — see the header. */
#include "engine/simulate/passage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A passage that keeps to its tolerances stays within a few times what they amount to; on another branch the energy is off
 * by a part of itself. Velocities that turn do so by half of their size or more; a step that spans a quarter of a radian
 * leaves the trapezoidal rule off by 0.1 %. */
static const double JUMP = 1e3, TURN = 0.2;

void passage_note(passage *p, double t, const char *names) {
    p->crossed = p->noted = true;
    p->at = t;
    snprintf(p->names, sizeof p->names, "%s", names ? names : "");
}

void passage_forget(passage *p) {
    p->inside = p->crossed = p->noted = p->rough = false;
    p->least = 1;
}

static double balance(const lane *l) {
    return lane_jacobi(l) - l->work;
}

/* Else the power of reactions goes into W, which is as rough as they are there. */
static bool conserves_energy(const lane *l) {
    return !l->model->energy_rate;
}

static hamel_status enter(passage *p, lane *l, hamel_error *error) {
    size_t bytes = l->model->n * sizeof *p->v;
    hamel_status status = lane_see(l, integrator_previous_time(l->integrator), error);
    p->inside = true;
    p->t = l->t;
    p->balance = balance(l);
    p->tolerance = lane_energy_tolerance(l);
    memcpy(p->v, l->v, bytes);
    memcpy(p->a, l->a, bytes);
    return status;
}

/* How far velocities are from those that the accelerations lead to, relative to them, in the metric of M. */
static double turn(const passage *p, const lane *l) {
    const model_pattern *M = &l->model->M;
    const double *values = l->kinetics->values + l->model->at_M;
    double half = (l->t - p->t) / 2, off = 0, before = 0, now = 0, gained = 0;
    for (size_t e = 0; e < M->count; e++) {
        size_t i = (size_t)M->row[e], j = (size_t)M->column[e];
        double mass = (i == j ? 1 : 2) * values[e]; /* one triangle */
        double gi = half * (p->a[i] + l->a[i]), gj = half * (p->a[j] + l->a[j]);
        off += mass * (l->v[i] - p->v[i] - gi) * (l->v[j] - p->v[j] - gj);
        before += mass * p->v[i] * p->v[j];
        now += mass * l->v[i] * l->v[j];
        gained += mass * gi * gj;
    }
    double size = fmax(fabs(gained), fmax(fabs(before), fabs(now)));
    return size > 0 ? sqrt(fabs(off) / size) : 0;
}

static bool tells_branches(const lane *l, double margin) {
    return margin * margin >= l->model->settings.rtol;
}

bool passage_is_deep(const passage *p, const lane *l) {
    return p->inside && !tells_branches(l, integrator_margin(l->integrator));
}

static hamel_status fail(const passage *p, const lane *l, double jump, double turned, hamel_error *error) {
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                     "at t = %.9g the constraints%s%s become dependent, and the motion afterwards is not the "
                     "same: its energy is off by %.3g, its velocities by %.2g of their size",
                     p->crossed ? p->at : (p->t + l->t) / 2, p->names[0] ? " " : "", p->names, jump, turned);
    integrator_suggest_passing(l->integrator, error);
    return HAMEL_INTEGRATION;
}

static bool has_jumped(const passage *p, lane *l, double *jump) {
    *jump = conserves_energy(l) ? fabs(balance(l) - p->balance) : 0;
    return *jump > JUMP * fmax(p->tolerance, lane_energy_tolerance(l));
}

/* A motion may stay near such configurations: its energy is checked there, too, if the state can be evaluated. */
static hamel_status stay(const passage *p, lane *l, hamel_error *error) {
    double jump;
    if (!p->rough || !conserves_energy(l) || passage_is_deep(p, l)) return HAMEL_OK;
    hamel_status status = lane_see(l, lane_reach(l), error);
    return status == HAMEL_OK && has_jumped(p, l, &jump) ? fail(p, l, jump, 0, error) : status;
}

static hamel_status leave(passage *p, lane *l, hamel_error *error) {
    bool judged = p->crossed || !tells_branches(l, p->least);
    hamel_status status = judged ? lane_see(l, integrator_previous_time(l->integrator), error) : HAMEL_OK;
    if (judged && status == HAMEL_OK) {
        double jump, turned = p->rough ? turn(p, l) : 0;
        if (has_jumped(p, l, &jump) || turned > TURN) status = fail(p, l, jump, turned, error);
    }
    passage_forget(p);
    return status;
}

hamel_status passage_follow(passage *p, lane *l, hamel_error *error) {
    bool beside = integrator_beside_singularity(l->integrator);
    hamel_status status = beside && !p->inside ? enter(p, l, error) : HAMEL_OK;
    if (status != HAMEL_OK || !p->inside) return status;
    double margin = integrator_margin(l->integrator);
    if (!integrator_crosses(l->integrator) && (p->noted || !tells_branches(l, margin))) p->rough = true;
    p->noted = false;
    p->least = fmin(p->least, margin);
    return beside ? stay(p, l, error) : leave(p, l, error);
}
