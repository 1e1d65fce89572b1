/* written_state.h — evaluates expressions of written equations at random states that satisfy the constraints.
 *
 * Written equations may contain definitions: quasi-velocities along the directions of constraints, and common
 * subexpressions. These definitions are added to the description, so that expressions that contain their names can
 * be parsed. */
#pragma once

#include "tests/unit/written_text.h"

enum { WRITTEN_MOST = 64 };

/* A random state near the initial state, with its accelerations and multipliers. */
typedef struct written_state {
    double t, q[WRITTEN_MOST], v[WRITTEN_MOST], a[WRITTEN_MOST], lambda[WRITTEN_MOST], worst;
} written_state;

/* Returns false if no state that satisfies the constraints is found. */
bool written_find_state(const hamel_model *model, uint64_t *seed, written_state *s);

/* Replaces the points in names such as v_rod.1, which a description must not contain. */
void written_replace_points(char *text);

/* Opens the example with the definitions in the text. Returns false if a definition contains a multiplier, which is
 * allowed only in outputs. Also returns false if the text contains the derivative of a table or an ideal reaction,
 * which written_read does not support. */
bool written_open_with_definitions(written_example *e, const written_example *from, const char *text);

/* Returns the value of `expression` at the state `in`. If the expression has an error, the running test fails. */
double written_value(hamel_system *s, const char *expression, const program_inputs *in);
