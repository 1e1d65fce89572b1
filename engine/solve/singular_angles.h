/* singular_angles.h — orientations by three angles of which two turn about the same axis at a state: angles do not determine
 * the motion there, though the body has all its inertia. */
#ifndef HAMEL_SOLVE_SINGULAR_ANGLES_H
#define HAMEL_SOLVE_SINGULAR_ANGLES_H

#include "engine/solve/kinetics.h"

/* A SINGULAR fault that names the orientation nearest to such a place at the state evaluated last; false when none is near. */
bool singular_angles_explain(const kinetics *k, hamel_error *error);

#endif
