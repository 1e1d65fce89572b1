/* momentum_map.c — see the header. */
#include "engine/solve/momentum_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A momentum that is small at the start, by its coefficients, may grow: its tolerance is this part of the largest. */
static const double TOLERANCE_FLOOR = 1e-3;

bool momentum_map_open(momentum_map *map, const hamel_model *model) {
    size_t count = model->momenta_count;
    *map = (momentum_map){.model = model};
    map->values = calloc(count + 1, sizeof *map->values);
    map->dots = calloc((count + 1) * PROGRAM_LANES, sizeof *map->dots);
    map->work = calloc(program_workspace_doubles(model->momenta) + 1, sizeof *map->work);
    map->tangent_work = calloc(program_tangent_doubles(model->momenta) + 1, sizeof *map->tangent_work);
    map->seeds = calloc((2 * model->n + 1) * PROGRAM_LANES, sizeof *map->seeds);
    if (!map->values || !map->dots || !map->work || !map->tangent_work || !map->seeds) return false;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->momenta, &in, map->work);
    return true;
}

void momentum_map_close(momentum_map *map) {
    free(map->values);
    free(map->dots);
    free(map->work);
    free(map->tangent_work);
    free(map->seeds);
    *map = (momentum_map){0};
}

static bool is_finite(const momentum_map *map) {
    double sum = 0;
    for (size_t i = 0; i < map->model->momenta_count; i++) sum += 0 * map->values[i];
    return sum == 0;
}

hamel_status momentum_map_evaluate(momentum_map *map, double t, const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = map->model;
    program_inputs in = model_inputs(model, &t, q, v, NULL, NULL, NULL);
    program_evaluate(model->momenta, &in, map->work, map->values);
    if (is_finite(map)) return HAMEL_OK;
    if (!error) return HAMEL_NOT_FINITE;
    return model_not_finite(model, model->momenta, &in, map->work, t, "", "a momentum", error);
}

hamel_status momentum_map_differentiate(momentum_map *map, double t, const double *q, const double *v, double dt,
                                        const double *dq, const double *dv) {
    const hamel_model *model = map->model;
    double *of_time = map->seeds, *of_q = of_time + PROGRAM_LANES, *of_v = of_q + model->n * PROGRAM_LANES;
    program_inputs in = model_inputs(model, &t, q, v, NULL, NULL, NULL), seeds = {{0}};
    of_time[0] = dt;
    for (size_t i = 0; dq && i < model->n; i++) of_q[i * PROGRAM_LANES] = dq[i];
    for (size_t i = 0; dv && i < model->n; i++) of_v[i * PROGRAM_LANES] = dv[i];
    seeds.values[SYMBOL_TIME] = of_time;
    seeds.values[SYMBOL_COORDINATE] = dq ? of_q : NULL;
    seeds.values[SYMBOL_VELOCITY] = dv ? of_v : NULL;
    program_tangent(model->momenta, &in, &seeds, map->work, map->tangent_work, map->values, map->dots);
    double sum = 0;
    for (size_t i = 0; i < model->momenta_count; i++) sum += 0 * map->dots[i * PROGRAM_LANES];
    return sum == 0 && is_finite(map) ? HAMEL_OK : HAMEL_NOT_FINITE;
}

void momentum_map_tolerances(const momentum_map *map, const double *atol, double *out) {
    const hamel_model *model = map->model;
    double most = 0;
    memset(out, 0, model->n * sizeof *out);
    for (size_t e = 0; e < model->M.count; e++) {
        int i = model->M.row[e], j = model->M.column[e];
        double mass = fabs(map->values[model->at_M + e]);
        out[i] += mass * atol[j];
        if (i != j) out[j] += mass * atol[i];
    }
    for (size_t i = 0; i < model->n; i++) most = fmax(most, out[i]);
    for (size_t i = 0; i < model->n; i++) {
        out[i] = fmax(out[i], TOLERANCE_FLOOR * most);
        if (!(out[i] > 0)) out[i] = atol[i];
    }
}
