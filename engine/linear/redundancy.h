/* redundancy.h — which constraints depend on which others, and which multipliers are unique.
 *
 * Rows of A are eliminated one after the other, so that of dependent constraints those written later are the redundant
 * ones. Each of these is a combination of independent rows in one way only: that set is a smallest dependent one (a
 * circuit), Σ w_i A_i = 0 over it. The multiplier λ_c is unique exactly when no such combination contains row c, since
 * λ + N y with N the null space of Aᵀ gives the same reaction (Wojtyra, Multibody System Dynamics 14 (2005) 251;
 * Frączek & Wojtyra, Mechanism and Machine Theory 46 (2011) 1). */
#ifndef HAMEL_SOLVE_REDUNDANCY_H
#define HAMEL_SOLVE_REDUNDANCY_H

#include "engine/model/model.h"

typedef struct redundancy {
    size_t rank, count; /* independent and dependent rows among those taken */
    size_t *dependent;  /* count: constraints, increasing */
    size_t *first;      /* count + 1: set k is items[first[k]] to items[first[k+1] − 1], increasing */
    size_t *items;
    double *weights; /* of the items; that of the dependent row is 1 */
    double *rest;    /* count: what of the row, relative to it, its combination leaves; rounding, or the tolerance */
    bool *involved;  /* m: in some set; otherwise the multiplier is unique */
} redundancy;

/* Dependent at a state whose residuals are rounding. */
#define REDUNDANCY_TOLERANCE 1e-10

/* Of the rows of A in `values` (outputs of the dynamics program); `taken` (m, NULL: all) lists which. A row depends on
 * others when they leave no more than `tolerance` of its largest entry, or of its usual length (m, NULL: unknown) where
 * that is more. Free the result in every case. HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status redundancy_find(redundancy *out, const hamel_model *model, const double *values, const bool *taken,
                             const double *usual, double tolerance) HAMEL_CHECKED;
void redundancy_free(redundancy *r);

bool redundancy_holds(const redundancy *r, size_t set, size_t constraint);

/* |Σ w_i r_i| of a set: by how much right sides r[m] contradict each other. */
double redundancy_contradiction(const redundancy *r, size_t set, const double *right);

/* The same by names: one block of memory, to be freed in one go. NULL without memory. */
hamel_redundancy *redundancy_report(const redundancy *r, const hamel_model *model);

/* Writes the names of a set, "`a`, `b` and `c`", as many as fit. */
void redundancy_names(const redundancy *r, const hamel_model *model, size_t set, char *text, size_t size);

#endif
