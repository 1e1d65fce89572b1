/* residual_rounding.c — see the header. */
#include "engine/solve/residual_rounding.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of bounds of first order, as in engine/analyze/zero.c. */
static const double SAFETY = 8;

static graph_node node_of(const kinetics *k, size_t c, bool position) {
    const hamel_model *model = k->model;
    return model->dynamics_nodes[(position ? model->at_position : model->at_velocity) + c];
}

/* Values of all nodes at the state, and bounds of their errors: `last` + 1 each in one block. NULL without memory. */
static double *evaluate(const kinetics *k, graph_node last) {
    size_t count = (size_t)last + 1;
    double *value = malloc(2 * count * sizeof *value);
    if (!value) return NULL;
    program_inputs in = model_inputs(k->model, &k->t, k->q, k->v, NULL, NULL, NULL);
    in.values[SYMBOL_BRANCH] = k->mode.branches;
    graph_point point = {{0}, {0}};
    memcpy(point.values, in.values, sizeof point.values);
    point.error[SYMBOL_PARAMETER] = point.error[SYMBOL_TIME] = DBL_EPSILON;
    point.error[SYMBOL_COORDINATE] = point.error[SYMBOL_VELOCITY] = DBL_EPSILON;
    graph_evaluate(k->model->system->graph, last, &point, value, value + count);
    return value;
}

hamel_status residuals_find_rounding(const kinetics *k, bool position, double scaled, bool *rounding) {
    const double *residual = position ? kinetics_position(k) : kinetics_velocity(k);
    graph_node last = -1;
    *rounding = true;
    for (size_t c = 0; c < k->model->m; c++) {
        graph_node node = node_of(k, c, position);
        if (!(kinetics_scaled(k, c, position) <= scaled) && node > last) last = node;
    }
    if (last < 0) return HAMEL_OK;
    double *value = evaluate(k, last);
    if (!value) return HAMEL_NO_MEMORY;
    const double *error = value + last + 1;
    for (size_t c = 0; c < k->model->m; c++)
        if (!(kinetics_scaled(k, c, position) <= scaled) &&
            !(fabs(residual[c]) <= SAFETY * error[node_of(k, c, position)]))
            *rounding = false;
    free(value);
    return HAMEL_OK;
}
