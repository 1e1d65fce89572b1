/* impact_order.c — simulates simultaneous impacts in the declared and in the reverse order. Other simultaneous events
 * and friction are ignored. */
#include "engine/simulate/events.h"
#include "engine/simulate/roots.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* At most ROUNDS rounds of impacts are followed, plus ROUNDS_EACH rounds for each event. The velocities of inelastic
 * chains gain a digit of accuracy every few rounds. Galperin's billiard with a mass ratio of 10,000 needs 314
 * rounds. */
static const size_t ROUNDS = 500, ROUNDS_EACH = 50;
/* The error of a state may be this number of tolerances (STATE_UNCERTAINTY), so final velocities with a smaller
 * difference are treated as equal. Impacts end when no contact closes faster than a thousandth of the uncertainty of
 * its rate. */
static const double DIFFERENT = 10;

typedef struct trial {
    events *e;
    const roots *w;
    const motion_state *at;
    double *q, *v;
    const bool *closing; /* per event: whether its contact closes at this state */
    bool *pending;       /* per event: whether its contact collides in the next round */
    bool reversed;
} trial;

static const double *contact_rates(const trial *x) {
    motion_state at = *x->at;
    at.q = x->q;
    at.v = x->v;
    events_evaluate(x->e, &at);
    return x->e->values;
}

/* Applies the impacts of the pending contacts one after the other. Skips contacts that earlier impacts have opened. */
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

/* Compares the final velocities of the two orders of impacts. Both orders start with the active constraints
 * `active`. */
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

hamel_status impact_order_matters(const events *e, const roots *w, const motion_state *at, const bool *closing,
                                  bool *matters, hamel_error *error) {
    size_t n = e->model->n, m = e->model->m;
    events own = *e;
    double *scratch = e->scratch + 2 * n + 2 * m;
    bool *active = e->flags + m;
    trial x = {&own, w, at, scratch, scratch + n, closing, active + m, false};
    hamel_error unused = {0}; /* errors are reported when the impacts are applied to the run */
    assert(e->model == w->model);
    own.sensitivities = NULL;
    own.recording = false;
    memcpy(active, e->dynamics->discrete_state.active, m * sizeof *active);
    hamel_status status = compare_orders(&x, scratch + 2 * n, active, matters, &unused);
    hamel_error_clear(&unused);
    return status == HAMEL_OK ? HAMEL_OK : hamel_out_of_memory(error);
}
