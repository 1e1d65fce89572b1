/* differences.h — the equations of motion against finite differences of what they were derived from.
 *
 * All formulations start from one derivation, so a fault in it is the same in each of them. Here nothing is derived: the
 * Lagrangian (or the Gibbs–Appell function), the dissipation function, the constraints as written and the places and
 * velocities along which forces do work are only evaluated, at states beside a random one, and their differences compared
 * with M, Q, A, b and the friction of the model. */
#ifndef HAMEL_ANALYZE_DIFFERENCES_H
#define HAMEL_ANALYZE_DIFFERENCES_H

#include "engine/analyze/analysis_int.h"

/* Compares at these states, fewer coordinates of a large system than it has, and fills *out. Memory is the analysis's.
 * HAMEL_OK, HAMEL_NO_MEMORY or HAMEL_CANCELED with a fault. */
hamel_status differences_compare(analysis *a, const sample *const *states, size_t count,
                                 hamel_difference_check *out) HAMEL_CHECKED;

#endif
