/* redundancy.h — redundant constraints, their dependent sets, and the constraints whose multipliers are unique.
 *
 * The rows of A are eliminated in the order of the constraints, so a constraint is redundant if it depends on
 * constraints before it. rank_qr.h cannot be used, because its pivoting changes this order. Each redundant row is a
 * unique combination of independent rows. The redundant row and the rows of the combination form a minimal dependent
 * set (a circuit), in which Σ w_i A_i = 0. The multiplier λ_c is unique if and only if no minimal dependent set
 * contains row c. If the columns of N are a basis of the null space of Aᵀ, the multipliers λ + N y exert the same
 * reaction for any y (Wojtyra, Multibody System Dynamics 14 (2005) 251; Frączek & Wojtyra, Mechanism and Machine Theory
 * 46 (2011) 1). */
#pragma once

#include "engine/base/arena.h"
#include "engine/linear/sparse_block.h"

typedef struct redundancy {
    arena memory;
    size_t rank, count; /* numbers of independent and of redundant rows among the selected rows */
    size_t *dependent;  /* count: indices of the redundant constraints, increasing */
    size_t *first;      /* count + 1: set k is items[first[k]] to items[first[k+1] − 1], increasing */
    size_t *items;      /* constraints of the sets */
    double *weights;    /* weight w_i of each item; 1 for the redundant row */
    double *rest;       /* count: residual of each redundant row, relative to the size of the row */
    bool *involved;     /* m: true if a set contains the constraint; if false, the multiplier is unique */
} redundancy;

/* Eliminates the rows of A that `taken` selects (m; NULL: all). A is sorted by rows. A row is redundant if no entry
 * exceeds `tolerance` times the size of the row after elimination. The size of a row is its largest entry before
 * elimination, or usual[c] (m entries; NULL: unknown) if that is larger. Call redundancy_free even after a failure.
 * Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status redundancy_find(redundancy *out, const sparse_block *A, const double *values, const bool *taken,
                             const double *usual, double tolerance) HAMEL_CHECKED;
void redundancy_free(redundancy *r);

bool redundancy_holds(const redundancy *r, size_t set, size_t constraint);

/* Returns |Σ w_i right_i| of a set, the amount by which the right-hand sides right[m] contradict each other. */
double redundancy_contradiction(const redundancy *r, size_t set, const double *right);
