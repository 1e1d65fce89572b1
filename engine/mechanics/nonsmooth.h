/* switches.h — operators that change abruptly, held between events.
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
#ifndef HAMEL_MECHANICS_SWITCHES_H
#define HAMEL_MECHANICS_SWITCHES_H

#include "engine/system/system.h"

/* Replaces, in lists of nodes, every operator whose branch depends on time, coordinates or velocities; the switches are
 * appended to the system's. Operators that depend on multipliers or reactions stay as they are, since the equations that
 * they stand in are solved for these; in the first `watched` lists their kinks are found as well, as switches that hold
 * nothing. Those of parameters only never change. Cost: linear in the graph. False without memory. */
bool switches_hold(hamel_system *s, graph_node *const *lists, const size_t *counts, size_t list_count, size_t watched);

/* The branch for the value z of a switch's argument. */
double switch_branch(const system_switch *w, double z);

/* How far inside the branch z lies: 0 at its edge, negative beyond. */
double switch_distance(const system_switch *w, double branch, double z);

/* The branch beyond the edge that z, outside or at it, is nearest to. */
double switch_neighbour(const system_switch *w, double branch, double z);

#endif
