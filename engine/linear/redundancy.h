/* redundancy.h — redundant constraints, their dependent sets, and the constraints whose multipliers are unique.
 *
 * Rows of A are eliminated in the order of the constraints. Among dependent constraints, the later constraints are
 * therefore redundant. rank_qr.h cannot be used, because it chooses the rows by their size. Each redundant row is a
 * unique combination of independent rows. The redundant row and these rows form a minimal dependent set (a circuit), in
 * which Σ w_i A_i = 0. The multiplier λ_c is unique if and only if no minimal dependent set contains row c. If N is a
 * basis of the null space of Aᵀ, λ + N y gives the same reaction for any y (Wojtyra, Multibody System Dynamics 14
 * (2005) 251; Frączek & Wojtyra, Mechanism and Machine Theory 46 (2011) 1). */
#pragma once

#include "engine/base/arena.h"
#include "engine/linear/sparse_block.h"

typedef struct redundancy {
    arena memory;
    size_t rank, count; /* rank: number of independent selected rows; count: number of dependent selected rows */
    size_t *dependent;  /* count: indices of the dependent constraints, increasing */
    size_t *first;      /* count + 1: set k is items[first[k]] to items[first[k+1] − 1], increasing */
    size_t *items;      /* constraints of the sets */
    double *weights;    /* weight w_i of each item; 1 for the dependent row */
    double *rest;       /* count: relative residual of the row after elimination */
    bool *involved;     /* m: true if a set contains the constraint; otherwise its multiplier is unique */
} redundancy;

/* Eliminates the rows of A that `taken` selects (m; NULL: all). A is sorted by rows. A row is dependent if no entry
 * after elimination exceeds `tolerance` times the size of the row. This size is the largest entry of the row, or its
 * usual length (m; NULL: unknown) if that is larger. Call redundancy_free in every case. Returns HAMEL_OK or
 * HAMEL_NO_MEMORY. */
hamel_status redundancy_find(redundancy *out, const sparse_block *A, const double *values, const bool *taken,
                             const double *usual, double tolerance) HAMEL_CHECKED;
void redundancy_free(redundancy *r);

/* Returns true if the set contains the constraint. */
bool redundancy_holds(const redundancy *r, size_t set, size_t constraint);

/* Returns |Σ w_i right_i| of a set: the contradiction of the right-hand sides right[m]. */
double redundancy_contradiction(const redundancy *r, size_t set, const double *right);
