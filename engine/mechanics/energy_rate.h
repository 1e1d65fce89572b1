/* energy_rate.h — the Jacobi integral h, the energy h* in the free velocities, and the terms of dh/dt and dh* / dt.
 *
 * The functions return a node in (t, q, q', λ, nonideal reactions), or GRAPH_NONE after adding an error to the system's
 * error. If the description specifies an acceleration energy, momenta are undefined: energy_rate_term, energy_rate_sum,
 * quasi_energy and quasi_energy_rate then fail. */
#pragma once

#include "engine/mechanics/equations.h"

/* The first function returns one term of dh/dt along the motion, the second one the sum of all terms. If points can
 * stick, the sum contains the power of their actual reactions. e->jacobi_rate contains the force F|λ| of sliding
 * instead. */
graph_node energy_rate_term(const hamel_equations *e, energy_term term);
graph_node energy_rate_sum(const hamel_equations *e);

/* Returns h* = Σ p_i (q'_i − σ_i) − L. The drift σ is the velocity q' at free velocities 0 (quasi_energy.c). Fails if
 * the description does not determine the drift. */
graph_node quasi_energy(const hamel_equations *e);

/* Returns one term of dh* / dt along the motion. `term` is an energy_term, or ENERGY_TERMS for the sum of all terms. */
graph_node quasi_energy_rate(const hamel_equations *e, int32_t term);

/* Returns −∂X/∂t − σ·∂X/∂q − ∂X/∂q'·dσ/dt for the drift σ = drift[n]. X is the sum of the potential terms of L if
 * `of_potential` is true, otherwise the sum of the other terms of L. */
graph_node quasi_energy_term(const hamel_equations *e, bool of_potential, const graph_node *drift);

/* Returns one term for the velocities x[n]: ENERGY_IMPRESSED, ENERGY_DISSIPATION, ENERGY_NONIDEAL or ENERGY_FRICTION.
 * For other terms, returns the constant 0. */
graph_node energy_power(const hamel_equations *e, energy_term term, const graph_node *x);

/* Returns Σ λ_c D_c·x, the power of the reactions of servo-constraints for the velocities x[n]. The description
 * specifies the directions D_c of the reactions. */
graph_node energy_servo_power(const hamel_equations *e, const graph_node *x);

/* Returns the power of the reaction of constraint c along the motion, per unit of λ_c. zeros[n] are constant nodes
 * 0. */
graph_node energy_constraint_power(const hamel_equations *e, size_t c, const graph_node *zeros);
