/* differences.h — the equations of motion against finite differences of what they were derived from.
 *
 * All formulations start from one derivation, so they share its errors. This check derives nothing: it only evaluates
 * the Lagrangian (or the Gibbs–Appell function), the dissipation function, the constraints as written and the positions
 * and velocities along which forces do work, at states near a random one, and compares their differences with M, Q, A,
 * b and the friction of the model. */
#ifndef HAMEL_ANALYZE_DIFFERENCES_H
#define HAMEL_ANALYZE_DIFFERENCES_H

#include "engine/analyze/analysis_int.h"

/* Compares at these states, only some coordinates of a large system, and fills *out. Memory is the analysis's.
 * HAMEL_OK, HAMEL_NO_MEMORY or HAMEL_CANCELED with a fault. */
hamel_status differences_compare(analysis *a, const sample *const *states, size_t count,
                                 hamel_difference_check *out) HAMEL_CHECKED;

#endif
