/* simbody_tree.h — integration of a tree of bodies (newton_euler.h) by Simbody (Sherman, Seth & Delp, Procedia IUTAM 2
 * (2011) 241). */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "tests/reference/newton_euler.h"

/* Advances the state `s`, which is at t = 0, to each of `times` and stores the states in states[0] to states[count −
 * 1]. Joint k is a ball joint, or a pin about the third axis of both bodies. It connects body k to a previous body or
 * to the ground. The springs of `s` act on the bodies; `s` must have no loads. If Simbody fails, prints the reason to
 * standard error and returns false. */
bool simbody_advance(const ne_system *s, const double *times, size_t count, double accuracy, ne_system *states);

#ifdef __cplusplus
}
#endif
