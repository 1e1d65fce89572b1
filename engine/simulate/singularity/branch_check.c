/* branch_check.c — check that a motion stays on its branch across a singular configuration; see singularity.h. */
#include "engine/simulate/trajectory.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bound on the difference between velocities and their prediction, relative to the velocities. On different branches,
 * velocities differ by at least half of their size. On one branch, the trapezoidal rule predicts velocities to 0.1 %
 * over a quarter of a radian. */
static const double VELOCITY_JUMP = 0.2;

void branch_check_note(branch_check *p, double t, const char *names) {
    p->crossed = p->noted = true;
    p->at = t;
    snprintf(p->names, sizeof p->names, "%s", names ? names : "");
}

void branch_check_reset(branch_check *p) {
    p->inside = p->crossed = p->noted = p->rough = false;
    p->least = 1;
}

static double energy_balance(const trajectory *l) {
    return trajectory_jacobi(l) - l->work;
}

static hamel_status enter_stretch(branch_check *p, trajectory *l, hamel_error *error) {
    size_t bytes = l->model->n * sizeof *p->v;
    hamel_status status = trajectory_evaluate(l, l->integrator->previous, error);
    p->inside = true;
    p->t = l->t;
    p->balance = energy_balance(l);
    p->tolerance = trajectory_energy_tolerance(l);
    memcpy(p->v, l->v, bytes);
    memcpy(p->a, l->a, bytes);
    return status;
}

/* Returns the difference between the current velocities and those that the accelerations predict. The difference is
 * relative to the size of the velocities and is measured in the metric of the mass matrix M. */
static double velocity_jump(const branch_check *p, const trajectory *l) {
    const sparse_block *M = &l->model->dynamics.M;
    const double *values = l->dynamics->values + l->model->dynamics.M.at;
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

/* Returns the smallest rank margin of the last step, relative to the largest of the run. */
static double relative_margin(const trajectory *l) {
    const integrator *w = l->integrator;
    return w->largest_margin > 0 ? w->least_margin / w->largest_margin : 1;
}

static bool separates_branches(const trajectory *l, double margin) {
    return margin * margin >= l->model->settings.rtol;
}

bool branch_check_is_deep(const branch_check *p, const trajectory *l) {
    return p->inside && !separates_branches(l, relative_margin(l));
}

static hamel_status fail_branch(const branch_check *p, const trajectory *l, double jump, double turned,
                                hamel_error *error) {
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                     "at t = %.9g the constraints%s%s become redundant, and the run left its solution branch "
                     "there: its energy is off by %.3g, its velocities by %.2g of their size",
                     p->crossed ? p->at : (p->t + l->t) / 2, p->names[0] ? " " : "", p->names, jump, turned);
    singularity_suggest(l->integrator, error);
    return HAMEL_INTEGRATION;
}

/* Returns true if the energy balance has changed by far more than the tolerances allow. Sets *jump to this change. If
 * dh/dt is not identically 0, sets *jump to 0. W may then contain the work of reactions, which are inaccurate near a
 * singular configuration. */
static bool has_jumped(const branch_check *p, trajectory *l, double *jump) {
    *jump = l->model->dynamics.energy_rate ? 0 : fabs(energy_balance(l) - p->balance);
    return *jump > ANOTHER_MOTION * fmax(p->tolerance, trajectory_energy_tolerance(l));
}

/* Checks the energy of a motion that stays near singular configurations, if the state can be evaluated there. */
static hamel_status stay_inside(const branch_check *p, trajectory *l, hamel_error *error) {
    double jump;
    if (!p->rough || l->model->dynamics.energy_rate || branch_check_is_deep(p, l)) return HAMEL_OK;
    hamel_status status = trajectory_evaluate(l, trajectory_reach(l), error);
    return status == HAMEL_OK && has_jumped(p, l, &jump) ? fail_branch(p, l, jump, 0, error) : status;
}

static hamel_status leave_stretch(branch_check *p, trajectory *l, hamel_error *error) {
    bool checked = p->crossed || !separates_branches(l, p->least);
    hamel_status status = checked ? trajectory_evaluate(l, l->integrator->previous, error) : HAMEL_OK;
    if (checked && status == HAMEL_OK) {
        double jump, turned = p->rough ? velocity_jump(p, l) : 0;
        if (has_jumped(p, l, &jump) || turned > VELOCITY_JUMP) status = fail_branch(p, l, jump, turned, error);
    }
    branch_check_reset(p);
    return status;
}

hamel_status branch_check_follow(branch_check *p, trajectory *l, hamel_error *error) {
    assert(l->integrator && l->integrator->previous <= l->integrator->t);
    bool near = l->integrator->near_singularity;
    hamel_status status = near && !p->inside ? enter_stretch(p, l, error) : HAMEL_OK;
    if (status != HAMEL_OK || !p->inside) return status;
    double margin = relative_margin(l);
    if (!l->integrator->suspended && (p->noted || !separates_branches(l, margin))) p->rough = true;
    p->noted = false;
    p->least = fmin(p->least, margin);
    return near ? stay_inside(p, l, error) : leave_stretch(p, l, error);
}
