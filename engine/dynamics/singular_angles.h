/* singular_angles.h — orientations by three angles, two of which rotate about the same axis at a state. The angles do
 * not determine the motion there, although the inertia of the body is regular. */
#ifndef HAMEL_SOLVE_SINGULAR_ANGLES_H
#define HAMEL_SOLVE_SINGULAR_ANGLES_H

#include "engine/solve/kinetics.h"

/* Adds a SINGULAR fault that names the orientation nearest to its singularity at the state evaluated last; false if
 * none is near it. */
bool singular_angles_explain(const kinetics *k, hamel_error *error);

#endif
