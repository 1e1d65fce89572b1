/* singular_angles.c — see the header. */
#include "engine/solve/singular_angles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sine of the angle between two axes. The mass matrix has its square as a pivot, and what rounding makes a singular one of
 * begins at 1e-8 (mass_rank.c). */
static const double NEAR = 1e-6;

/* The orientation with the least sine; NULL when none is near, or without memory. */
static const system_angles *nearest(const kinetics *k) {
    const hamel_system *s = k->model->system;
    graph_node last = -1;
    for (size_t i = 0; i < s->angles_count; i++)
        if (s->angles[i].sine > last) last = s->angles[i].sine;
    if (last < 0) return NULL;
    size_t count = (size_t)last + 1;
    double *value = malloc(2 * count * sizeof *value), least = NEAR;
    if (!value) return NULL;
    program_inputs in = model_inputs(k->model, &k->t, k->q, k->v, NULL, NULL, NULL);
    graph_point at = {{0}, {0}};
    memcpy(at.values, in.values, sizeof at.values);
    graph_evaluate(s->graph, last, &at, value, value + count);
    const system_angles *found = NULL;
    for (size_t i = 0; i < s->angles_count; i++) {
        double sine = fabs(value[s->angles[i].sine]);
        if (!(sine < least)) continue;
        least = sine;
        found = &s->angles[i];
    }
    free(value);
    return found;
}

bool singular_angles_explain(const kinetics *k, hamel_error *error) {
    const system_angles *found = nearest(k);
    if (!found) return false;
    (void)hamel_fail(
        error, HAMEL_SINGULAR, found->pointer, 0,
        "at t = %.9g the angles of `%s` are singular: the first and the third turn about the same axis, and the "
        "equations of motion do not determine their accelerations",
        k->t, found->name);
    hamel_suggest(error,
                  "describe the orientation by a quaternion, or by a sequence of axes whose second angle stays away "
                  "from such values");
    return true;
}
