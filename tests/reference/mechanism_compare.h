/* mechanism_compare.h — compares the rows of a run with a mechanism of newton_euler.h. */
#pragma once

#include "tests/reference/newton_euler.h"
#include "tests/unit/motion.h"

/* Returns the span, or half of it, a quarter, and so on, such that a small relative change of all velocities grows
 * by at most 100 and a point has at most two impacts. */
double mechanism_span(const ne_system *start, double span);

/* Checks that positions, velocities and angular velocities of all bodies in a row agree with the state `s` at the
 * same time, with a relative error of 1e-7. `by` is the method that computed the state. Fails the running test
 * otherwise. */
void mechanism_compare(const char *what, const char *by, const motion *m, size_t row, const ne_system *s);
