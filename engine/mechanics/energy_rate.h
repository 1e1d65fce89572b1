/* energy_rate.h — the rates of the Jacobi integral and of the energy of quasi-velocities, term by term.
 *
 * The functions return a node in (t, q, q', λ, nonideal reactions), or GRAPH_NONE after adding an error to the system's
 * error. If the user specifies an acceleration energy, there are no momenta, and all functions fail. */
#pragma once

#include "engine/mechanics/equations.h"

/* The first function returns one term of dh/dt along the motion, the second one the sum of all terms. The sum is valid for
 * points that slide and points that stick, whereas e->jacobi_rate is valid only for the directions of friction that the
 * run holds. */
graph_node energy_rate_term(const hamel_equations *e, energy_term term);
graph_node energy_rate_sum(const hamel_equations *e);

/* Returns h* = Σ p_i (q'_i − σ_i) − L, where σ is the drift: the velocities q' at which all free velocities are 0
 * (quasi_energy.c). Fails if the description does not determine the drift. */
graph_node quasi_energy(const hamel_equations *e);

/* Returns one term of dh* / dt along the motion, or dh* / dt itself if `term` is ENERGY_TERMS. */
graph_node quasi_energy_rate(const hamel_equations *e, int32_t term);

/* Returns −∂L/∂t − σ·∂L/∂q − ∂L/∂q'·dσ/dt of the drift σ = drift[n], for the terms of L that are potentials, or for all
 * other terms. */
graph_node quasi_energy_term(const hamel_equations *e, bool of_potential, const graph_node *drift);

/* Return the power of the impressed forces, of the dissipation function, of prescribed reactions, or of friction, for
 * the velocities x[n]. energy_power handles these four terms only. */
graph_node energy_power(const hamel_equations *e, energy_term term, const graph_node *x);

/* Returns the power λ D·x of the reactions of servo-constraints, whose directions D are given. */
graph_node energy_servo_power(const hamel_equations *e, const graph_node *x);

/* Returns the power of the reaction of constraint c, divided by λ_c. zeros[n] are constant nodes 0. */
graph_node energy_constraint_power(const hamel_equations *e, size_t c, const graph_node *zeros);
