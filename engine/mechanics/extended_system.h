/* extended_system.h — accelerations in linear time for trees, from the structure of the energies.
 *
 * T of a tree is a sum of squares of velocities. The velocity of a link contains the velocity of the preceding link.
 * Multiplying out these sums gives M, which has N² entries for a chain of N links. Here each shared sum remains a
 * separate unknown:
 *
 *     T  = ½ Σ D_kl w_k w_l + (terms of lower degree),     w_k affine in the velocities, D free of velocities
 *     w  = Σ α_wc w_c + (free of velocities),     c: velocities and other sums
 *     f_c = dΦ_c/dt, or a constraint on velocities, is another sum of this form
 *
 * The system contains the accelerations, ŵ (the part of dw/dt that is linear in q'') and multipliers σ of the
 * definitions:
 *
 *     [ 0     0        Bvᵀ     ] [ q'' ]   [ Q ]
 *     [ 0     D      (B − 1)ᵀ  ] [ ŵ   ] = [ 0 ]     Bv, B: coefficients α on velocities, on sums
 *     [ Bv   B − 1     0       ] [ σ   ]   [ 0 ]
 *
 * A sum is substituted once no remaining definition contains it. This step eliminates the pair (ŵ, σ) of the sum with a
 * pivot of determinant −1. The coordinates are pivots afterwards. The values of these pivots are the same as in
 * Cholesky's factorization of M in the same order. From the tips to the base of a tree, this elimination is the
 * articulated-body algorithm (Featherstone, Rigid Body Dynamics Algorithms, 2008, 7.2). For a star-shaped system, the
 * elimination is that of a block arrow matrix. */
#pragma once

#include "engine/linear/congruence.h"
#include "engine/mechanics/elimination.h"

/* The expressions that define the system; all borrowed. */
typedef struct extended_parts {
    const graph_node *terms; /* terms of T or L, at most quadratic in the velocities; only quadratic terms are used */
    size_t term_count;
    const graph_node *rates; /* rates of constraints, affine in the velocities */
    size_t coordinate_count, constraint_count;
} extended_parts;

/* Enters the unknowns into an empty x (coordinates, then sums, then constraints from *first_constraint on) and
 * eliminates all of them. The caller then sets right-hand sides and calls elimination_solve. Sets x->failed if T is not
 * quadratic, a rate is not affine, or a coordinate has no inertia. x->failed is also set if more than x->products_most
 * products are needed. */
void extended_system_eliminate(elimination *x, const extended_parts *parts, uint32_t *first_constraint);

/* Derives M in the form Bᵀ D B. Writes the structure to *form, and the coefficients in B followed by the entries of D
 * to *values. All arrays are allocated in `memory`. Returns false if T is not quadratic, if an allocation in `memory`
 * fails (memory->failed), or if a node cannot be created (graph_status). */
bool extended_system_mass(graph *g, const extended_parts *parts, arena *memory, congruence *form,
                          graph_node **values) HAMEL_CHECKED;
