/* detection.c — detection of singular configurations within a step; see singularity.h. */
#include "engine/simulate/trajectory.h"

#include <assert.h>
#include <math.h>

enum { GOLDEN_STEPS = 70 };
/* A rank margin below this fraction of the rank margins on both sides counts as zero. The rounding error of a rank
 * margin near zero is √ε = 1e-8. With a larger value, a small minimum would count as zero. */
static const double SINGULAR = 1e-4;

typedef struct margin_search {
    trajectory *trajectory;
    double *q, *v;
    size_t rank;
    hamel_status status;
    hamel_error *error;
} margin_search;

static double project_and_measure(margin_search *w, double t) {
    dynamics *k = w->trajectory->dynamics;
    double work, worst;
    if (w->status == HAMEL_OK)
        w->status = integrator_interpolate(w->trajectory->integrator, t, w->q, w->v, &work, w->error);
    if (w->status != HAMEL_OK) return 1;
    hamel_status status = dynamics_project(k, t, w->q, w->v, &worst, NULL);
    if (status == HAMEL_OK) status = kkt_factor(k->all, k->values);
    if (status == HAMEL_NO_MEMORY) w->status = hamel_out_of_memory(w->error);
    if (status == HAMEL_CANCELED) w->status = status;
    if (status != HAMEL_OK) return status == HAMEL_SINGULAR ? 0 : 1;
    if (kkt_rank(k->all) > w->rank) w->rank = kkt_rank(k->all);
    return kkt_rank(k->all) < w->rank ? 0 : kkt_margin(k->all);
}

/* Returns the time of the smallest rank margin between a and b. */
static double least_margin_time(margin_search *w, double a, double b) {
    const double golden = 0.6180339887498949;
    double x = b - golden * (b - a), y = a + golden * (b - a), fx = project_and_measure(w, x),
           fy = project_and_measure(w, y);
    for (int i = 0; i < GOLDEN_STEPS && b - a > 4e-16 * fmax(fabs(a), fabs(b)); i++) {
        if (fx < fy) {
            b = y, y = x, fy = fx;
            x = b - golden * (b - a);
            fx = project_and_measure(w, x);
        } else {
            a = x, x = y, fx = fy;
            y = a + golden * (b - a);
            fy = project_and_measure(w, y);
        }
    }
    return fx < fy ? x : y;
}

int singularity_least(const double margin[SINGULARITY_PARTS + 1]) {
    int least = 0;
    for (int i = 1; i <= SINGULARITY_PARTS; i++)
        if (margin[i] < margin[least]) least = i;
    return least;
}

bool singularity_is_monotonic(const double margin[SINGULARITY_PARTS + 1]) {
    int least = singularity_least(margin);
    if (least > 0 && least < SINGULARITY_PARTS) return false;
    double neighbour = margin[least ? SINGULARITY_PARTS - 1 : 1], next = margin[least ? SINGULARITY_PARTS - 2 : 2];
    return margin[least] + neighbour > 1.2 * fabs(next - neighbour);
}

hamel_status singularity_detect(trajectory *l, double *q, double *v, bool *found, double *t, hamel_error *error) {
    assert(l->integrator && l->integrator->previous <= l->integrator->t);
    margin_search w = {l, q, v, 0, HAMEL_OK, error};
    double from = l->integrator->previous, to = trajectory_reach(l), margin[SINGULARITY_PARTS + 1],
           time[SINGULARITY_PARTS + 1];
    *found = false;
    if (!l->integrator->near_singularity || l->model->settings.projection != HAMEL_PROJECTION_ON || !(to > from))
        return HAMEL_OK;
    if (l->integrator->suspended) {
        *t = collocation_instant(l->integrator->stepper);
        *found = *t <= to;
        if (*found) (void)project_and_measure(&w, *t);
        return w.status;
    }
    for (int i = 0; i <= SINGULARITY_PARTS; i++) {
        time[i] = i == SINGULARITY_PARTS ? to : from + (to - from) * i / SINGULARITY_PARTS;
        margin[i] = project_and_measure(&w, time[i]);
    }
    int least = singularity_least(margin), low = least > 0 ? least - 1 : 0,
        high = least < SINGULARITY_PARTS ? least + 1 : SINGULARITY_PARTS;
    double neighbour = fmax(margin[low], margin[high]);
    if (w.status != HAMEL_OK || singularity_is_monotonic(margin)) return w.status;
    *t = least_margin_time(&w, time[low], time[high]);
    *found = project_and_measure(&w, *t) < SINGULAR * fmax(neighbour, 1e-3);
    return w.status;
}
