/* extended_system.h — accelerations in linear time for trees, from the structure of the energies.
 *
 * T of a tree is a sum of squares of velocities that share their parts: the velocity of a link contains that of the link
 * before. M, which multiplies these sums out, has N² entries for a chain. Here each shared sum stays an unknown:
 *
 *     T  = ½ Σ D_kl w_k w_l + lower,     w_k affine in the velocities, D free of them
 *     w  = Σ α_wc w_c + (free of velocities),     c: velocities and other sums
 *     f_c = dΦ_c/dt, or a constraint on velocities, is one more such sum
 *
 * With the accelerations, ŵ (the part of dw/dt that is linear in q'') and multipliers σ of the definitions:
 *
 *     [ 0     0        Bvᵀ     ] [ q'' ]   [ Q ]
 *     [ 0     D      (B − 1)ᵀ  ] [ ŵ   ] = [ 0 ]     Bv, B: coefficients α on velocities, on sums
 *     [ Bv   B − 1     0       ] [ σ   ]   [ 0 ]
 *
 * A sum is substituted once no remaining definition contains it, which eliminates its pair (ŵ, σ) with a pivot of
 * determinant −1; then coordinates are pivots, which are those of Cholesky's factorization of M in this order. From the tips to
 * the base of a tree this is the articulated-body algorithm (Featherstone, Rigid Body Dynamics Algorithms, 2008, 7.2), for a
 * star the elimination of a block arrow. */
#pragma once

#include "engine/linear/congruence.h"
#include "engine/mechanics/elimination.h"

/* The expressions that define the system; all borrowed. */
typedef struct extended_parts {
    const graph_node *terms; /* of T, or of L: at most quadratic in the velocities; lower terms do not matter */
    size_t term_count;
    const graph_node *rates; /* of constraints: affine in the velocities */
    size_t coordinate_count, constraint_count;
} extended_parts;

/* Enters the unknowns into an empty x (coordinates, then sums, then constraints from *first_constraint on) and eliminates
 * all of them. The caller sets right sides and calls elimination_solve. x->failed if the system is of another kind, has a
 * coordinate without inertia, or takes more products than x->products_most. */
void extended_system_eliminate(elimination *x, const extended_parts *parts, uint32_t *first_constraint);

/* Writes M = Bᵀ D B of the energies: the structure to *form, and its values, factors first, to *values. All are in the
 * arena's memory. Returns false if T is of another kind, or if memory ran out (memory->failed) or the graph failed. */
bool extended_system_mass(graph *g, const extended_parts *parts, arena *memory, congruence *form,
                          graph_node **values) HAMEL_CHECKED;
