/* crossing.c — see the header. */
#include "engine/simulate/crossing.h"

#include <math.h>

enum { PARTS = 4, GOLDEN_STEPS = 70 };
static const double CROSSED = 1e-4; /* of its neighbours: zero, but for what rounding makes of it */

typedef struct margin_search {
    lane *lane;
    double *q, *v;
    size_t rank;
    hamel_status status;
    hamel_error *error;
} margin_search;

static double margin_at(margin_search *w, double t) {
    kinetics *k = w->lane->kinetics;
    double work, worst;
    if (w->status == HAMEL_OK) w->status = integrator_interpolate(w->lane->integrator, t, w->q, w->v, &work, w->error);
    if (w->status != HAMEL_OK) return 1;
    hamel_status status = kinetics_project(k, t, w->q, w->v, &worst, NULL);
    if (status == HAMEL_OK) status = kkt_factor(k->all, k->values);
    if (status == HAMEL_NO_MEMORY) w->status = hamel_fail(w->error, status, "", 0, "no memory for the run");
    if (status != HAMEL_OK) return status == HAMEL_SINGULAR ? 0 : 1;
    if (kkt_rank(k->all) > w->rank) w->rank = kkt_rank(k->all);
    return kkt_rank(k->all) < w->rank ? 0 : kkt_margin(k->all);
}

/* The time of the least margin between a and b. */
static double bottom(margin_search *w, double a, double b) {
    const double golden = 0.6180339887498949;
    double x = b - golden * (b - a), y = a + golden * (b - a), fx = margin_at(w, x), fy = margin_at(w, y);
    for (int i = 0; i < GOLDEN_STEPS && b - a > 4e-16 * fmax(fabs(a), fabs(b)); i++) {
        if (fx < fy) {
            b = y, y = x, fy = fx;
            x = b - golden * (b - a);
            fx = margin_at(w, x);
        } else {
            a = x, x = y, fx = fy;
            y = a + golden * (b - a);
            fy = margin_at(w, y);
        }
    }
    return fx < fy ? x : y;
}

/* The least margin is at an end of the step, and beside it the margin does not rise as it would from a zero in between. */
static bool is_monotonic(const double margin[PARTS + 1], int least) {
    if (least > 0 && least < PARTS) return false;
    double beside = margin[least ? PARTS - 1 : 1], next = margin[least ? PARTS - 2 : 2];
    return margin[least] + beside > 1.2 * fabs(next - beside);
}

hamel_status crossing_find(lane *l, double *q, double *v, bool *found, double *t, hamel_error *error) {
    margin_search w = {l, q, v, 0, HAMEL_OK, error};
    double from = integrator_previous_time(l->integrator), to = lane_reach(l), margin[PARTS + 1], time[PARTS + 1];
    int least = 0;
    *found = false;
    if (!integrator_beside_singularity(l->integrator) || l->model->settings.projection != HAMEL_PROJECTION_ON ||
        !(to > from))
        return HAMEL_OK;
    if (integrator_crosses(l->integrator)) {
        *t = integrator_instant(l->integrator);
        *found = *t <= to;
        if (*found) (void)margin_at(&w, *t);
        return w.status;
    }
    for (int i = 0; i <= PARTS; i++) {
        time[i] = i == PARTS ? to : from + (to - from) * i / PARTS;
        margin[i] = margin_at(&w, time[i]);
        if (margin[i] < margin[least]) least = i;
    }
    int low = least > 0 ? least - 1 : 0, high = least < PARTS ? least + 1 : PARTS;
    double beside = fmax(margin[low], margin[high]);
    if (w.status != HAMEL_OK || is_monotonic(margin, least)) return w.status;
    *t = bottom(&w, time[low], time[high]);
    *found = margin_at(&w, *t) < CROSSED * fmax(beside, 1e-3);
    return w.status;
}
