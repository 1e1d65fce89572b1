/* settings.c — the `simulation` section of a description: defaults, ranges and output times. */
#include "engine/model/model.h"

#include "engine/system/units.h"

#include <math.h>
#include <string.h>

/* With the default tolerances, the estimated local error is at most about 1e-6 of a value, or 1e-9 if the value is
 * below 1e-3. STEPS_DEFAULT ends runs whose step size has collapsed. ROWS_MOST keeps row counts within the range of
 * size_t (1.8e19). */
static const double RTOL_DEFAULT = 1e-6, ATOL_DEFAULT = 1e-9, STEPS_DEFAULT = 1e6, ROWS_MOST = 1e18;
enum { SAMPLES_DEFAULT = 101 };

double settings_time(const model_settings *s, size_t i) {
    if (s->times) return s->times[i];
    if (i + 1 >= s->row_count) return s->stop;
    if (s->step > 0) return s->start + (double)i * s->step;
    return s->start + (s->stop - s->start) * ((double)i / (double)(s->row_count - 1));
}

static bool number_or(hamel_system *s, const hamel_expression *e, double otherwise, double *value) {
    *value = otherwise;
    return !hamel_expression_given(e) || system_number(s, e, NULL, value);
}

static bool time_of(hamel_system *s, const hamel_expression *e, double *value) {
    if (!system_number(s, e, NULL, value)) return false;
    units_note_number(s, e, NULL, UNIT_TIME, 0);
    return true;
}

static void require(hamel_system *s, bool condition, const hamel_expression *e, const char *message) {
    if (!condition) (void)hamel_fail(s->error, HAMEL_INVALID, e->pointer, 0, "%s", message);
}

/* Reads a time above 0; *value is unchanged if the description contains no time. */
static void positive_time(hamel_system *s, const hamel_expression *e, double *value) {
    double found;
    if (!hamel_expression_given(e) || !time_of(s, e, &found)) return;
    if (found > 0)
        *value = found;
    else
        (void)hamel_fail(s->error, HAMEL_INVALID, e->pointer, 0, "expected a number above 0, found %.15g", found);
}

/* Reads a whole number; *value is unchanged if the description contains no number. */
static void count_of(hamel_system *s, const hamel_expression *e, const char *what, double least, double *value) {
    double found;
    if (!hamel_expression_given(e) || !system_number(s, e, NULL, &found)) return;
    units_note_number(s, e, NULL, UNIT_NUMBER, 0);
    if (found >= least && found == floor(found)) {
        *value = found;
        return;
    }
    (void)hamel_fail(s->error, HAMEL_INVALID, e->pointer, 0, "expected a whole number of %s, %.0f or more, found %.17g",
                     what, least, found);
    if (found > least && e->text) hamel_suggest(s->error, "use `floor` or `ceil` to get a whole number");
}

static void resolve_span(hamel_system *s, const hamel_simulation *in, model_settings *out) {
    out->stop = INFINITY;
    if (hamel_expression_given(&in->start) && !time_of(s, &in->start, &out->start)) return;
    if (!hamel_expression_given(&in->stop)) {
        if (in->timeless) return;
        (void)hamel_fail(s->error, HAMEL_INVALID, "/simulation/stop", 0, "simulation.stop is missing");
        return;
    }
    if (!time_of(s, &in->stop, &out->stop)) return;
    if (!(out->stop > out->start))
        (void)hamel_fail(s->error, HAMEL_INVALID, in->stop.pointer, 0,
                         "stop must be later than start: %.15g is not after %.15g", out->stop, out->start);
}

static void resolve_times(hamel_system *s, const hamel_simulation *in, model_settings *out) {
    double *times = arena_alloc(s->memory, in->times.count, sizeof *times);
    double before = -INFINITY;
    if (!times) return;
    for (size_t i = 0; i < in->times.count; i++) {
        const hamel_expression *e = &in->times.items[i];
        if (!time_of(s, e, &times[i])) return;
        bool outside = times[i] < out->start || times[i] > out->stop;
        if (outside || !(times[i] > before)) {
            (void)hamel_fail(s->error, HAMEL_INVALID, e->pointer, 0,
                             outside ? "%.15g is outside the interval from start to stop"
                                     : "output times must increase: %.15g is not after %.15g",
                             times[i], before);
            return;
        }
        before = times[i];
    }
    out->times = times;
    out->row_count = in->times.count;
}

static void resolve_rows(hamel_system *s, const hamel_simulation *in, model_settings *out) {
    int ways = hamel_expression_given(&in->samples) + hamel_expression_given(&in->step) + (in->times.pointer != NULL);
    if (ways > 1) {
        (void)hamel_fail(s->error, HAMEL_INVALID, in->pointer, 0, "samples, step and times exclude each other");
        return;
    }
    if (in->times.pointer) {
        resolve_times(s, in, out);
    } else if (hamel_expression_given(&in->step)) {
        if (!time_of(s, &in->step, &out->step)) return;
        require(s, out->step > 0, &in->step, "step must be greater than 0");
        if (!(out->step > 0)) return;
        /* A remainder below 1e-9 steps counts as a rounding error and gets no row. */
        double count = floor((out->stop - out->start) / out->step * (1 + 1e-12)) + 1;
        if (out->start + (count - 1) * out->step < out->stop - 1e-9 * out->step) count++;
        out->row_count = (size_t)fmin(count, ROWS_MOST);
    } else {
        double count = SAMPLES_DEFAULT;
        count_of(s, &in->samples, "samples", 2, &count); /* includes both ends */
        out->row_count = (size_t)fmin(count, ROWS_MOST);
    }
    if (s->limits->max_rows > 0 && (double)out->row_count > s->limits->max_rows)
        (void)hamel_fail(s->error, HAMEL_LIMIT, in->pointer, 0,
                         "the run would have %.0f rows, more than the limit of %.0f", (double)out->row_count,
                         s->limits->max_rows);
}

static void resolve_tolerances(hamel_system *s, const hamel_simulation *in, model_settings *out) {
    double atol;
    out->atol = arena_alloc(s->memory, s->coordinate_count, sizeof *out->atol);
    if (!out->atol || !number_or(s, &in->rtol, RTOL_DEFAULT, &out->rtol) ||
        !number_or(s, &in->atol, ATOL_DEFAULT, &atol))
        return;
    require(s, out->rtol >= 1e-14 && out->rtol <= 0.1, &in->rtol,
            "rtol must lie between 1e-14 (the resolution of double precision) and 0.1");
    require(s, atol > 0, &in->atol, "atol must be greater than 0");
    for (size_t i = 0; i < s->coordinate_count; i++) out->atol[i] = atol;
    for (size_t k = 0; k < in->atol_by_name.count; k++) {
        const hamel_named *item = &in->atol_by_name.items[k];
        int32_t index = system_coordinate_index(s, item->name);
        double value;
        if (index < 0) {
            (void)hamel_fail(s->error, HAMEL_INVALID, item->pointer, 0, "unknown coordinate `%s`", item->name);
            const char *nearest = system_nearest_coordinate(s, item->name);
            if (nearest) hamel_suggest(s->error, "did you mean `%s`?", nearest);
        } else if (system_number(s, &item->value.items[0], NULL, &value)) {
            require(s, value > 0, &item->value.items[0], "atol must be greater than 0");
            out->atol[index] = value;
        }
    }
}

static void resolve_budgets(hamel_system *s, const hamel_simulation *in, model_settings *out) {
    const hamel_limits *limits = s->limits;
    out->max_steps = STEPS_DEFAULT;
    count_of(s, &in->max_steps, "steps", 1, &out->max_steps);
    if (limits->max_steps > 0 && out->max_steps > limits->max_steps) out->max_steps = limits->max_steps;
    positive_time(s, &in->max_step, &out->max_step);
    positive_time(s, &in->time_limit, &out->time_limit);
}

hamel_status settings_resolve(hamel_model *model, const hamel_description *d) {
    hamel_system *s = model->system;
    const hamel_simulation *in = &d->simulation;
    model_settings *out = &model->settings;
    size_t faults = s->error->count;
    resolve_span(s, in, out);
    if (s->error->count == faults && isfinite(out->stop)) resolve_rows(s, in, out);
    resolve_tolerances(s, in, out);
    resolve_budgets(s, in, out);
    out->method = in->method;
    out->projection = in->projection;
    out->initialization = in->initialization;
    out->certify = in->certify;
    for (int k = 0; k < 2; k++) {
        if (in->projection != HAMEL_PROJECTION_BAUMGARTE || !number_or(s, &in->baumgarte[k], 0, &out->baumgarte[k]))
            continue;
        require(s, out->baumgarte[k] >= 0, &in->baumgarte[k], "a Baumgarte constant must not be negative");
    }
    return s->error->status;
}
