/* nonsmooth.h — operators with kinks or jumps, whose branches a run holds between events.
 *
 * These operators are sign, abs, min, max, comparisons, floor, ceil, mod and linear tables. In the equations of motion
 * an expression in a symbol B replaces each operator. B is the branch of the operator, which the run holds fixed
 * between events:
 *
 *     sign x = B,  abs x = B x                 B = sign x
 *     x < y  is  B > 0,  min(x, y) is x where B ≥ 0, ...     B = sign(y − x)
 *     floor x = B,  ceil x = −B', mod(x, y) = x − y B''      B = floor x, B' = floor(−x), B'' = floor(x/y)
 *     table(T, x) = T(B) + T'(B) (x − B)       B = a point of the segment that x lies in
 *
 * The right-hand side is therefore smooth in a step, even if the step passes over a kink. The run then finds the time
 * of the kink as a root, changes the branch and restarts the integration. (Without branches, a step over a kink would
 * fail its error test until the step is tiny.) */
#pragma once

#include "engine/system/system.h"

/* Replaces nonsmooth operators that depend on time, coordinates or velocities in lists of nodes. Each replacement is an
 * expression with a branch symbol, and the operator is appended to the system's list. Operators of multipliers or
 * reactions are not replaced, because multipliers and reactions are themselves unknowns of the equations of motion. In
 * the first `watched` lists, operators of multipliers or reactions get a root function, but no branch symbol. Operators
 * of parameters alone are not replaced either. The cost is linear in the size of the graph. Returns false if out of
 * memory. */
bool nonsmooth_hold(hamel_system *s, graph_node *const *lists, const size_t *counts, size_t list_count, size_t watched);

/* Returns true if the branch is a component of a slip direction, which stick_slip.c determines. */
static inline bool nonsmooth_is_slip(const system_nonsmooth *w) {
    return w->kind == NONSMOOTH_SLIP || w->kind == NONSMOOTH_DIRECTION;
}

/* Returns the branch for the value z of a nonsmooth operator's argument. */
double nonsmooth_branch(const system_nonsmooth *w, double z);

/* Returns the distance of z from the edge of the branch: positive inside, 0 at the edge, negative outside. */
double nonsmooth_distance(const system_nonsmooth *w, double branch, double z);

/* z must be at or outside the nearest edge of `branch`. Returns the adjacent branch beyond that edge. */
double nonsmooth_neighbour(const system_nonsmooth *w, double branch, double z);
