/* mechanism_compare.h — compares the rows of a run with a mechanism of newton_euler.h. */
#pragma once

#include "tests/reference/newton_euler.h"
#include "tests/unit/motion.h"

/* Returns `span`, halved until a small relative change of all velocities grows by at most a factor of 100 and at most
 * two impacts occur. Step errors of 1e-11 then grow to at most 1e-9, which is a hundredth of the bound in
 * mechanism_compare. */
double mechanism_span(const ne_system *start, double span);

/* Compares positions, velocities and angular velocities of all bodies in a row with the state `s` at the same time. If
 * a relative difference exceeds 1e-7, fails the running test. The message contains `by`, the name of the method that
 * computed `s`. */
void mechanism_compare(const char *what, const char *by, const motion *m, size_t row, const ne_system *s);
