/* simbody_tree.h — a tree of bodies of newton_euler.h, moved by Simbody (Sherman, Seth & Delp, Procedia IUTAM 2 (2011) 241). */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "tests/reference/newton_euler.h"

/* Advances the start `s` (at t = 0) to each of `times`, and writes states[0] to states[count − 1]. Joint k hangs body k on one
 * before it or on the ground, by a ball or by a pin along the third axis; there are springs and no loads. False, with a text
 * on standard error, when Simbody fails. */
bool simbody_advance(const ne_system *s, const double *times, size_t count, double accuracy, ne_system *states);

#ifdef __cplusplus
}
#endif
