/* singular_angles.h — detection of singular angle triples (gimbal lock). Two of the three angles then rotate about the
 * same axis and do not determine the motion, although the inertia of the body is regular. */
#pragma once

#include "engine/dynamics/dynamics.h"

/* Adds an error HAMEL_SINGULAR for the orientation nearest to its singularity at the state evaluated last. Returns
 * false if no orientation is near one. */
bool singular_angles_explain(const dynamics *k, hamel_error *error);
