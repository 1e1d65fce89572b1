/* kkt_ldl_int.h — the lists of an LDLᵀ factorization, for kkt_ldl.c and kkt_vec8.c. */
#pragma once

#include "engine/base/arena.h"
#include "engine/linear/kkt_ldl.h"

struct kkt_ldl {
    arena memory;
    size_t n, all;         /* numbers of coordinates and of all unknowns */
    size_t entries, below; /* entries of the lower triangle of M and of A; entries of L below the diagonal */
    size_t updates;        /* number of products that the elimination subtracts */
    int *order;            /* all entries: a coordinate, or n + the index of a selected row */
    int *constraint;       /* all entries: index of the constraint of each row */
    int *from, *place;     /* `entries` entries: index in the caller's values, and in `value` */
    int *start, *row;      /* all + 1 and `below` entries: columns of L with increasing rows */
    int *target;           /* `updates` entries: index in `value` from which a product is subtracted */
    double *value;         /* all + below: 1/D and L after factorization */
    double *given;         /* entries: the matrix that was factored last */
    double *z, *before;    /* all each: a solution; diagonals of M and of A M⁻¹Aᵀ */
    bool factored;         /* whether `value` is the factor of `given` */
    double margin, least;  /* rank margin; lower bound on the pivots of M, relative to the largest */
};
