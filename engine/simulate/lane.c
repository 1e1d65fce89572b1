/* lane.c — interpolated output leaves the manifold, so the copy that is written is projected; the integration itself
 * never sees it. */
#include "engine/simulate/lane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest scaled residual of a row; projections reach rounding, far below. */
static const double ROW_RESIDUAL = 1e-9;

bool lane_create(lane *l, const hamel_model *model, hamel_error *error) {
    size_t n = model->n, m = model->m;
    *l = (lane){.model = model, .t = model->settings.start};
    l->kinetics = kinetics_create(model);
    l->q = calloc(4 * n + m + model->observed_count + 1, sizeof *l->q);
    if (!l->kinetics || !l->q) {
        (void)hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the run");
        return false;
    }
    l->v = l->q + n;
    l->a = l->v + n;
    l->free = l->a + n;
    l->lambda = l->free + n;
    l->observed = l->lambda + m;
    memcpy(l->q, model->q0, n * sizeof *l->q);
    memcpy(l->v, model->v0, n * sizeof *l->v);
    return true;
}

void lane_free(lane *l) {
    integrator_free(l->integrator);
    kinetics_free(l->kinetics);
    free(l->q);
    *l = (lane){0};
}

static hamel_status observe(lane *l, hamel_error *error) {
    const hamel_model *model = l->model;
    if (model->observed_needs_free && kinetics_free_accelerations(l->kinetics, l->free) != HAMEL_OK)
        return hamel_fail(error, HAMEL_SINGULAR, "/outputs", 0,
                          "at t = %.9g gauss() needs a mass matrix that is not singular", l->t);
    program_inputs in = model_inputs(model, &l->t, l->q, l->v, l->a, l->lambda, l->free);
    in.values[SYMBOL_IDEAL] = l->kinetics->ideal;
    in.values[SYMBOL_NONIDEAL] = l->kinetics->nonideal;
    program_evaluate(model->observed, &in, l->kinetics->observed_work, l->observed);
    for (size_t i = 0; i < model->observed_count; i++) {
        if (isfinite(l->observed[i])) continue;
        const char *what =
            i < model->output_count ? model_output_name(model, i) : "an invariant, a check or the energy";
        char place[200];
        snprintf(place, sizeof place, i < model->output_count ? "the output `%s`" : "%s", what);
        return model_not_finite(model, model->observed, &in, l->kinetics->observed_work, l->t,
                                model->observed_pointers[i], place, error);
    }
    return HAMEL_OK;
}

/* No row leaves off the manifold. */
static hamel_status fail_projection(const lane *l, hamel_error *error) {
    const hamel_model *model = l->model;
    size_t worst = 0;
    double most = -1;
    for (size_t c = 0; c < model->m; c++) {
        double scaled = fmax(kinetics_scaled(l->kinetics, c, true), kinetics_scaled(l->kinetics, c, false));
        if (scaled > most) most = scaled, worst = c;
    }
    const system_constraint *c = &model->system->constraints[worst];
    (void)hamel_fail(error, HAMEL_INCOMPATIBLE, c->pointer, 0,
                     "at t = %.9g no state near the motion satisfies all constraints: `%s` is off by %.3g", l->t,
                     c->name,
                     fmax(fabs(kinetics_position(l->kinetics)[worst]), fabs(kinetics_velocity(l->kinetics)[worst])));
    hamel_suggest(error, "constraints contradict each other from here on, or the mechanism has reached its end");
    return HAMEL_INCOMPATIBLE;
}

hamel_status lane_see(lane *l, double t, hamel_error *error) {
    const hamel_model *model = l->model;
    double worst = 0;
    l->t = t;
    hamel_status status =
        l->integrator ? integrator_interpolate(l->integrator, t, l->q, l->v, &l->work, error) : HAMEL_OK;
    if (status != HAMEL_OK) return status;
    if (model->settings.projection == HAMEL_PROJECTION_ON)
        status = kinetics_project(l->kinetics, t, l->q, l->v, &worst, error);
    else
        status = kinetics_evaluate(l->kinetics, t, l->q, l->v, error);
    if (status == HAMEL_OK && !(worst < ROW_RESIDUAL)) return fail_projection(l, error);
    if (status == HAMEL_OK) status = kinetics_accelerations(l->kinetics, 0, 0, l->a, l->lambda, error);
    return status == HAMEL_OK ? observe(l, error) : status;
}

void lane_row(const lane *l, double *row) {
    const hamel_model *model = l->model;
    size_t n = model->n;
    for (size_t c = 0; c < model->header.column_count; c++) {
        size_t i = model->recorded[c];
        row[c] = i == 0 ? l->t : i <= n ? l->q[i - 1] : i <= 2 * n ? l->v[i - 1 - n] : l->observed[i - 1 - 2 * n];
    }
}
