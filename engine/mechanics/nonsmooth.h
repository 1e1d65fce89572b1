/* nonsmooth.h — operators that change abruptly, held between events.
 *
 * sign, abs, min, max, comparisons, floor, ceil, mod and linear tables have kinks or jumps. In the equations of motion each
 * is written by a symbol for its branch, which the run holds fixed between events:
 *
 *     sign x = B,  abs x = B x                 B = sign x
 *     x < y  is  B > 0,  min(x, y) is x where B ≥ 0, ...     B = sign(y − x)
 *     floor x = B,  ceil x = −B', mod(x, y) = x − y B''      B = floor x, B' = floor(−x), B'' = floor(x/y)
 *     table(T, x) = T(B) + T'(B) (x − B)       B = a point of the segment that x lies in
 *
 * so that the right-hand side is smooth across a step even where the step goes over a kink; the instant is then found as
 * a root, the branch changed and the integration started again. (Restarting alone, with the operators as they are, would
 * let every step over a kink fail its error test down to a tiny size first.) */
#pragma once

#include "engine/system/system.h"

/* Replaces, in lists of nodes, every nonsmooth operator that depends on time, coordinates or velocities by a form with a
 * branch symbol, and appends the operators to the system's list. Operators of multipliers or reactions stay as written,
 * since the equations that contain them are solved for these; in the first `watched` lists such operators still get a
 * root function, but no branch symbol. Operators of parameters alone stay as well. Cost: linear in the graph. Returns
 * false without memory. */
bool nonsmooth_hold(hamel_system *s, graph_node *const *lists, const size_t *counts, size_t list_count, size_t watched);

/* Whether the branch is (a component of) the direction of a slip, which stick-slip decides instead of z alone. */
static inline bool nonsmooth_is_slip(const system_nonsmooth *w) {
    return w->kind == NONSMOOTH_SLIP || w->kind == NONSMOOTH_DIRECTION;
}

/* The branch for the value z of a nonsmooth operator's argument. */
double nonsmooth_branch(const system_nonsmooth *w, double z);

/* How far inside the branch z lies: 0 at its edge, negative beyond. */
double nonsmooth_distance(const system_nonsmooth *w, double branch, double z);

/* The branch beyond the edge that z, outside or at it, is nearest to. */
double nonsmooth_neighbour(const system_nonsmooth *w, double branch, double z);
