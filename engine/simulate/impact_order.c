/* impact_order.c — see the header. Only contacts act here; other events of the instant are left out, as is friction, which
 * impulses do without. */
#include "engine/simulate/impact_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of impacts that are followed, in all and for each contact: inelastic chains converge by a digit in some rounds, and
 * Galperin's ball (a mass ratio of 10,000 at a wall) takes 314. */
static const size_t ROUNDS = 500, ROUNDS_EACH = 50;
static const double DIFFERENT = 10; /* tolerances: a chain ends where contacts approach by a thousandth of one */

typedef struct trial {
    events *e;
    const roots *w;
    const roots_state *at;
    double *q, *v;
    const bool *meeting; /* contacts that close at the instant */
    bool *pending;       /* of these and of others that are closed: to happen next */
    bool reversed;
} trial;

static const double *rates(const trial *x) {
    const roots_state *at = x->at;
    events_evaluate(x->e, at->t, x->q, x->v, at->a, at->lambda, at->free);
    return x->e->values;
}

/* Applies the impacts of the pending contacts in turn, except those that have opened meanwhile. */
static hamel_status strike_pending(const trial *x, const double *before, hamel_error *error) {
    size_t total = x->e->model->event_count;
    hamel_status status = HAMEL_OK;
    for (size_t k = 0; k < total && status == HAMEL_OK; k++) {
        size_t i = x->reversed ? total - 1 - k : k;
        if (!x->pending[i] || roots_is_apart(x->w, i, before[i], rates(x)[i])) continue;
        status = events_act(x->e, i, x->at->t, x->q, x->v, error);
    }
    return status;
}

/* *settled: no contact approaches any more. */
static hamel_status follow(trial *x, double *before, bool *settled, hamel_error *error) {
    size_t total = x->e->model->event_count;
    hamel_status status = HAMEL_OK;
    *settled = false;
    memcpy(x->q, x->at->q, x->e->model->n * sizeof *x->q);
    memcpy(x->v, x->at->v, x->e->model->n * sizeof *x->v);
    memcpy(x->pending, x->meeting, total * sizeof *x->pending);
    for (size_t rounds = 0; status == HAMEL_OK && !*settled && rounds < ROUNDS + ROUNDS_EACH * total; rounds++) {
        memcpy(before, rates(x), total * sizeof *before);
        status = strike_pending(x, before, error);
        const double *now = rates(x);
        *settled = true;
        for (size_t i = 0; i < total; i++) {
            x->pending[i] = roots_is_closing(x->w, i, x->meeting[i], now[i]);
            *settled = *settled && !x->pending[i];
        }
    }
    return status;
}

static bool differ(const hamel_model *model, const double *v, const double *other) {
    double size = 0;
    for (size_t i = 0; i < model->n; i++) size = fmax(size, fmax(fabs(v[i]), fabs(other[i])));
    for (size_t i = 0; i < model->n; i++)
        if (fabs(v[i] - other[i]) > DIFFERENT * (model->settings.rtol * size + model->settings.atol[i])) return true;
    return false;
}

/* Both orders, each from the mode `active`. */
static hamel_status compare(trial *x, double *scratch, const bool *active, bool *matters, hamel_error *error) {
    kinetics *k = x->e->kinetics;
    size_t n = k->model->n, m = k->model->m;
    double *first = scratch, *before = first + n;
    bool settled = true;
    hamel_status status = HAMEL_OK;
    for (int order = 0; order < 2 && status == HAMEL_OK && settled; order++) {
        x->reversed = order == 1;
        for (size_t c = 0; c < m; c++) k->mode.active[c] = c < k->model->ideal_count && active[c];
        status = kinetics_select(k, k->mode.active);
        if (status == HAMEL_OK) status = follow(x, before, &settled, error);
        if (order == 0) memcpy(first, x->v, n * sizeof *first);
    }
    *matters = status == HAMEL_OK && settled && differ(k->model, first, x->v);
    memcpy(k->mode.active, active, m * sizeof *active);
    hamel_status back = kinetics_select(k, k->mode.active);
    return back == HAMEL_OK && status != HAMEL_NO_MEMORY ? HAMEL_OK : HAMEL_NO_MEMORY;
}

hamel_status impact_order_matters(events *e, const roots *w, const roots_state *at, const bool *meeting, bool *matters,
                                  hamel_error *error) {
    size_t n = e->model->n, m = e->model->m, total = e->model->event_count;
    double *scratch = calloc(3 * n + total + 1, sizeof *scratch);
    bool *flags = calloc(m + total + 1, sizeof *flags);
    sensitivities *along = e->along;
    const model_event *gains = e->gains;
    hamel_error unused = {0}; /* the actual chain of impacts reports its own faults */
    hamel_status status = HAMEL_NO_MEMORY;
    *matters = false;
    if (scratch && flags) {
        trial x = {e, w, at, scratch, scratch + n, meeting, flags + m, false};
        memcpy(flags, e->kinetics->mode.active, m * sizeof *flags);
        e->along = NULL;
        status = compare(&x, scratch + 2 * n, flags, matters, &unused);
        e->along = along;
        e->gains = gains;
    }
    if (status != HAMEL_OK) (void)hamel_fail(error, status, "", 0, "no memory for an impact");
    hamel_error_clear(&unused);
    free(scratch);
    free(flags);
    return status;
}
