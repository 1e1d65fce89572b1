/* validity.h — checks for invalid values: orientations that are not rotations, impossible masses and moments of
 * inertia. Private to engine/system.
 *
 * Expressions of numbers and parameters are checked when they are bound. Expressions that depend on time or coordinates
 * become claims. All claims are checked together, at the initial state and at three random states, so that the cost is
 * linear in the size of the system. */
#pragma once

#include "engine/system/elements.h"

/* Checks the four components of the quaternion or the nine entries of the matrix of `e`. Constant values with an error up to
 * 1e-6 are replaced by an exact rotation. Adds an error and returns false on failure. */
bool validity_orientation(hamel_system *s, const system_located *e, graph_node *values);

/* Check the mass and the inertia matrix of a body or particle. */
void validity_mass(hamel_system *s, const hamel_expression *mass, graph_node node, const char *name);
void validity_inertia(hamel_system *s, const hamel_expressions *inertia, const graph_node nodes[9], const char *name);

/* Checks the radius of a wheel. Adds an error and returns false if it is negative. */
bool validity_radius(hamel_system *s, const hamel_expression *radius, graph_node node);

/* Warns if the wheel of the rolling joint `name` is not on the side of the surface to which its constant normal
 * (inertial components) points. */
void validity_side(hamel_system *s, const char *pointer, const char *name, const graph_node normal[3],
                   graph_node radius, const system_located *wheel, const system_located *surface);

/* Checks all claims. Initial values and constraints must be bound. */
void validity_check(hamel_system *s);
