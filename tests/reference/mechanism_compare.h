/* mechanism_compare.h — compares the rows of a run with a mechanism of newton_euler.h. */
#pragma once

#include "tests/reference/newton_euler.h"
#include "tests/unit/motion.h"

/* Halves the span until a small relative change of all velocities grows by at most 100 and at most two impacts occur.
 * Returns the resulting span. The factor 100 is chosen: step errors of 1e-11 then stay below 1e-7. */
double mechanism_span(const ne_system *start, double span);

/* Compares positions, velocities and angular velocities of all bodies in a row with the state `s` at the same time. If
 * relative differences exceed 1e-7, fails the running test with a message that contains `by`, the name of the method
 * that computed `s`. */
void mechanism_compare(const char *what, const char *by, const motion *m, size_t row, const ne_system *s);
