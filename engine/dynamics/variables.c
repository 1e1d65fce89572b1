/* variables.c — dispatch to the kinds of variables, and the simplest kind, w = q'. */
#include "engine/dynamics/variables.h"

#include <stdlib.h>
#include <string.h>

/* --- velocities: w = q' ------------------------------------------------------------------------------------------- */

static hamel_status velocities_open(variables *x, hamel_error *error) {
    (void)error;
    x->count = x->n;
    return HAMEL_OK;
}

static hamel_status velocities_velocities(variables *x, const double *w, hamel_error *error) {
    (void)error;
    memcpy(x->v, w, x->n * sizeof *w);
    return HAMEL_OK;
}

static hamel_status velocities_from_velocities(variables *x, double *w) {
    memcpy(w, x->v, x->n * sizeof *w);
    return HAMEL_OK;
}

static hamel_status velocities_rates(variables *x, const double *a, const double *lambda, double *dw) {
    (void)lambda;
    memcpy(dw, a, x->n * sizeof *dw);
    return HAMEL_OK;
}

static hamel_status velocities_change(variables *x, const double *dq, const double *from, double *to) {
    (void)dq;
    memcpy(to, from, x->n * sizeof *to);
    return HAMEL_OK;
}

static hamel_status velocities_velocity_change(variables *x, double dt, const double *dq, const double *from,
                                               double *to) {
    (void)dt;
    return velocities_change(x, dq, from, to);
}

static void velocities_tolerances(const variables *x, const double *atol, double *out) {
    memcpy(out, atol, x->n * sizeof *out);
}

const variables_table variables_plain = {
    .open = velocities_open,
    .velocities = velocities_velocities,
    .from_velocities = velocities_from_velocities,
    .rates = velocities_rates,
    .velocity_change = velocities_velocity_change,
    .change = velocities_change,
    .tolerances = velocities_tolerances,
};

static const variables_table *const tables[] = {
    [VARIABLES_VELOCITIES] = &variables_plain,
    [VARIABLES_MOMENTA] = &variables_momenta,
    [VARIABLES_NONCYCLIC] = &variables_noncyclic,
};

/* --- all kinds ---------------------------------------------------------------------------------------------------- */

static void keep_state(variables *x, double t, const double *q, const double *v) {
    x->t = t;
    memcpy(x->q, q, x->n * sizeof *q);
    memcpy(x->v, v, x->n * sizeof *v);
}

/* Frees the workspace of the previous kind and creates the workspace of the new kind at the state. */
static hamel_status open_kind(variables *x, const variables_table *table, double t, const double *q, const double *v,
                              hamel_error *error) {
    if (table == &variables_plain && x->table == table) { /* a restart, such as after an impact */
        keep_state(x, t, q, v);
        return HAMEL_OK;
    }
    arena_free(&x->memory);
    *x = (variables){.table = table, .dynamics = x->dynamics, .n = x->n, .memory = x->memory};
    x->q = arena_doubles(&x->memory, x->n);
    x->v = arena_doubles(&x->memory, x->n);
    if (x->memory.failed) return hamel_out_of_memory(error);
    keep_state(x, t, q, v);
    return table->open(x, error);
}

variables *variables_create(dynamics *k, double t, const double *q, const double *v, hamel_error *error) {
    variables *x = calloc(1, sizeof *x);
    if (!x) {
        (void)hamel_out_of_memory(error);
        return NULL;
    }
    *x = (variables){.dynamics = k, .n = k->model->n};
    if (open_kind(x, tables[k->model->formulation->variables], t, q, v, error) == HAMEL_OK) return x;
    variables_free(x);
    return NULL;
}

void variables_free(variables *x) {
    if (!x) return;
    arena_free(&x->memory);
    free(x);
}

hamel_status variables_restart(variables *x, double t, const double *q, const double *v, hamel_error *error) {
    return open_kind(x, x->table, t, q, v, error);
}

hamel_status variables_change_kind(variables *x, bool plain, double t, const double *q, const double *v,
                                   hamel_error *error) {
    return open_kind(x, plain ? &variables_plain : tables[x->dynamics->model->formulation->variables], t, q, v, error);
}

hamel_status variables_velocities(variables *x, double t, const double *q, const double *w, double *v,
                                  hamel_error *error) {
    keep_state(x, t, q, v);
    hamel_status status = x->table->velocities(x, w, error);
    memcpy(v, x->v, x->n * sizeof *v);
    return status;
}

hamel_status variables_from_velocities(variables *x, double t, const double *q, const double *v, double *w) {
    keep_state(x, t, q, v);
    return x->table->from_velocities(x, w);
}
