/* mechanism_compare.h — the rows of a run against a mechanism of newton_euler.h. */
#pragma once

#include "tests/reference/newton_euler.h"
#include "tests/unit/motion.h"

/* The span, or a half, a quarter, ... of it, in which a change of all velocities by a small part grows by at most 100, and in
 * which a point hits its plane twice at most. */
double mechanism_span(const ne_system *start, double span);

/* Places, velocities and angular velocities of all bodies in a row agree with the state `s` at its time to 1e-7 of their
 * sizes. Fails the running test otherwise; `by`: the method that computed the state. */
void mechanism_compare(const char *what, const char *by, const motion *m, size_t row, const ne_system *s);
