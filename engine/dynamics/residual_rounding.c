/* residual_rounding.c — see the header. */
#include "engine/dynamics/residual_rounding.h"

#include "engine/base/tolerances.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static graph_node node_of(const dynamics *k, size_t c, bool position) {
    const hamel_model *model = k->model;
    return model->dynamics.nodes[(position ? model->dynamics.at_position : model->dynamics.at_velocity) + c];
}

/* Returns the values of all nodes up to `last` at the state, followed by bounds on their errors. NULL if out of
 * memory. */
static double *evaluate_with_bounds(const dynamics *k, graph_node last) {
    size_t count = (size_t)last + 1;
    double *value = malloc(2 * count * sizeof *value);
    if (!value) return NULL;
    program_inputs in = discrete_state_inputs(&k->discrete_state, &k->t, k->q, k->v, NULL, NULL);
    graph_point point = {{0}, {0}};
    memcpy(point.values, in.values, sizeof point.values);
    point.error[SYMBOL_PARAMETER] = point.error[SYMBOL_TIME] = DBL_EPSILON;
    point.error[SYMBOL_COORDINATE] = point.error[SYMBOL_VELOCITY] = DBL_EPSILON;
    graph_evaluate(k->model->system->graph, last, &point, value, value + count);
    return value;
}

hamel_status residuals_find_rounding(const dynamics *k, bool position, double scaled, bool *rounding) {
    const double *residual = position ? dynamics_position(k) : dynamics_velocity(k);
    graph_node last = -1;
    *rounding = true;
    for (size_t c = 0; c < k->model->m; c++) {
        graph_node node = node_of(k, c, position);
        if (!(dynamics_scaled(k, c, position) <= scaled) && node > last) last = node;
    }
    if (last < 0) return HAMEL_OK;
    double *value = evaluate_with_bounds(k, last);
    if (!value) return HAMEL_NO_MEMORY;
    const double *error = value + last + 1;
    for (size_t c = 0; c < k->model->m; c++)
        if (!(dynamics_scaled(k, c, position) <= scaled) &&
            !(fabs(residual[c]) <= ROUNDING_SAFETY * error[node_of(k, c, position)]))
            *rounding = false;
    free(value);
    return HAMEL_OK;
}
