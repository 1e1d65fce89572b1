/* singular_angles.c — see the header. */
#include "engine/dynamics/singular_angles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sine of the angle between two axes below which an orientation is reported. Its square is a pivot of the mass matrix.
 * Pivots below 1e-14 are rounding (mass_rank.c), which corresponds to a sine of 1e-7. */
static const double NEAR_SINGULAR = 1e-6;

/* Returns the orientation with the smallest sine, or NULL if none is near its singularity or if out of memory. */
static const system_angles *nearest_orientation(const dynamics *k) {
    const hamel_system *s = k->model->system;
    graph_node last = -1;
    for (size_t i = 0; i < s->angles_count; i++)
        if (s->angles[i].sine > last) last = s->angles[i].sine;
    if (last < 0) return NULL;
    size_t count = (size_t)last + 1;
    double *value = malloc(2 * count * sizeof *value), least = NEAR_SINGULAR;
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

bool singular_angles_explain(const dynamics *k, hamel_error *error) {
    const system_angles *found = nearest_orientation(k);
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
