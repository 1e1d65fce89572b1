/* impact_order.c — simulation of impacts in both orders. Other simultaneous events and friction are ignored. */
#include "engine/simulate/impact_order.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bound on the rounds of impacts, in all and for each contact: inelastic chains gain a digit every few rounds, and Galperin's
 * ball (a mass ratio of 10,000 at a wall) needs 314. */
static const size_t ROUNDS = 500, ROUNDS_EACH = 50;
static const double DIFFERENT =
    10; /* in tolerances: a chain ends when contacts approach by less than a thousandth of one */

typedef struct trial {
    events *e;
    const roots *w;
    const roots_state *at;
    double *q, *v;
    const bool *closing; /* contacts that close at this state */
    bool *pending;       /* contacts whose impact is next, of these and of closed ones */
    bool reversed;
} trial;

static const double *contact_rates(const trial *x) {
    const roots_state *at = x->at;
    events_evaluate(x->e, at->t, x->q, x->v, at->a, at->lambda, at->free);
    return x->e->values;
}

/* Applies the impacts of the pending contacts one after the other, and skips contacts that have opened in the meantime. */
static hamel_status strike_pending(const trial *x, const double *before, hamel_error *error) {
    size_t total = x->e->model->events.count;
    hamel_status status = HAMEL_OK;
    for (size_t k = 0; k < total && status == HAMEL_OK; k++) {
        size_t i = x->reversed ? total - 1 - k : k;
        if (!x->pending[i] || roots_is_apart(x->w, i, before[i], contact_rates(x)[i])) continue;
        status = events_act(x->e, i, x->at->t, x->q, x->v, error);
    }
    return status;
}

/* Follows one order of impacts. Sets *settled to true if no contact approaches at the end. */
static hamel_status follow_impacts(trial *x, double *before, bool *settled, hamel_error *error) {
    size_t total = x->e->model->events.count;
    hamel_status status = HAMEL_OK;
    *settled = false;
    memcpy(x->q, x->at->q, x->e->model->n * sizeof *x->q);
    memcpy(x->v, x->at->v, x->e->model->n * sizeof *x->v);
    memcpy(x->pending, x->closing, total * sizeof *x->pending);
    for (size_t rounds = 0; status == HAMEL_OK && !*settled && rounds < ROUNDS + ROUNDS_EACH * total; rounds++) {
        memcpy(before, contact_rates(x), total * sizeof *before);
        status = strike_pending(x, before, error);
        const double *now = contact_rates(x);
        *settled = true;
        for (size_t i = 0; i < total; i++) {
            x->pending[i] = roots_is_closing(x->w, i, x->closing[i], now[i]);
            *settled = *settled && !x->pending[i];
        }
    }
    return status;
}

static bool velocities_differ(const hamel_model *model, const double *v, const double *other) {
    double size = 0;
    for (size_t i = 0; i < model->n; i++) size = fmax(size, fmax(fabs(v[i]), fabs(other[i])));
    for (size_t i = 0; i < model->n; i++)
        if (fabs(v[i] - other[i]) > DIFFERENT * (model->settings.rtol * size + model->settings.atol[i])) return true;
    return false;
}

/* Compares both orders, each starting with the active constraints `active`. */
static hamel_status compare_orders(trial *x, double *scratch, const bool *active, bool *matters, hamel_error *error) {
    dynamics *k = x->e->dynamics;
    size_t n = k->model->n, m = k->model->m;
    double *first = scratch, *before = first + n;
    bool settled = true;
    hamel_status status = HAMEL_OK;
    for (int order = 0; order < 2 && status == HAMEL_OK && settled; order++) {
        x->reversed = order == 1;
        for (size_t c = 0; c < m; c++) k->discrete_state.active[c] = c < k->model->ideal_count && active[c];
        status = dynamics_select(k, k->discrete_state.active);
        if (status == HAMEL_OK) status = follow_impacts(x, before, &settled, error);
        if (order == 0) memcpy(first, x->v, n * sizeof *first);
    }
    *matters = status == HAMEL_OK && settled && velocities_differ(k->model, first, x->v);
    memcpy(k->discrete_state.active, active, m * sizeof *active);
    hamel_status back = dynamics_select(k, k->discrete_state.active);
    return back == HAMEL_OK && status != HAMEL_NO_MEMORY ? HAMEL_OK : HAMEL_NO_MEMORY;
}

hamel_status impact_order_matters(events *e, const roots *w, const roots_state *at, const bool *closing, bool *matters,
                                  hamel_error *error) {
    size_t n = e->model->n, m = e->model->m, total = e->model->events.count;
    double *scratch = calloc(3 * n + total + 1, sizeof *scratch);
    bool *flags = calloc(m + total + 1, sizeof *flags);
    sensitivities *saved = e->sensitivities;
    const model_event *gains = e->gains;
    hamel_error unused = {0}; /* the real impacts report their errors later */
    hamel_status status = HAMEL_NO_MEMORY;
    assert(e->model == w->model);
    *matters = false;
    if (scratch && flags) {
        trial x = {e, w, at, scratch, scratch + n, closing, flags + m, false};
        memcpy(flags, e->dynamics->discrete_state.active, m * sizeof *flags);
        e->sensitivities = NULL;
        status = compare_orders(&x, scratch + 2 * n, flags, matters, &unused);
        e->sensitivities = saved;
        e->gains = gains;
    }
    if (status != HAMEL_OK) (void)hamel_out_of_memory(error);
    hamel_error_clear(&unused);
    free(scratch);
    free(flags);
    return status;
}
