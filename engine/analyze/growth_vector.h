/* growth_vector.h — growth vector and derived flag of a group of constraints and of the whole system. */
#pragma once

#include "engine/analyze/forms.h"

enum { DERIVED_FLAG_STEPS = 24 };

/* Dimensions of D_1, D_2, ...; the last dimension is that of the closure. */
typedef struct flag_dimensions {
    size_t steps, dimension[DERIVED_FLAG_STEPS];
} flag_dimensions;

/* Both functions below find the directions that brackets add to a distribution D = D_1, step by step. If `derived`,
 * D_k+1 is D_k + [D_k, D_k]; otherwise D_k+1 is D_k + [D, D_k]. The steps end if `most` directions have been added or a
 * step adds no direction. The functions set *good to false if the work is too large, or for the reason stated at each
 * function. */

/* derived_flag_tree.c: finds the dimensions at the configuration x. f->chosen must be the independent forms at x.
 * Coefficients that are not short binary fractions are treated as rounded. *good is also set to false if x is
 * singular. */
hamel_status derived_flag_by_trees(forms *f, const double *x, bool derived, size_t most, flag_dimensions *flag,
                                   bool *good) HAMEL_CHECKED;

/* derived_flag_exact.c: finds the dimensions from all rows, by elimination with expressions. `near` must be a regular
 * state. The dimensions are never too small. *good is also set to false if the rank of the forms is not f->rank. */
hamel_status derived_flag_by_expressions(forms *f, const sample *near, bool derived, size_t most, flag_dimensions *flag,
                                         bool *good) HAMEL_CHECKED;

/* --- growth_vector.c ---------------------------------------------------------------------------------------------- */

/* Ranks of the constraints of a group. */
typedef struct group_rank {
    /* width: length of a configuration; holonomic, velocity: numbers of independent constraints */
    size_t width, holonomic, velocity;
    size_t integrable; /* integrable combinations of the velocity constraints */
    size_t first;      /* number of directions that first-order brackets add */
    const sample *at;  /* a state at which the constraints have these ranks */
    bool regional;     /* true if `at` is on another branch than the initial state */
} group_rank;

typedef struct group_flags {
    flag_dimensions growth_vector, derived_flag; /* dimensions of distributions, not of forms */
    bool known, exact, timed;
} group_flags;

/* Finds the growth vector and the derived flag of a group. f->chosen must be the independent forms of this group at
 * g->at. */
hamel_status flags_of_group(forms *f, const group_rank *g, group_flags *found) HAMEL_CHECKED;

/* Reports the dimensions of the derived flag and the growth vector. Each entry is the sum of the entries of all groups.
 * If an entry of a group is unknown, reports neither the flag nor the vector. */
hamel_status flags_report(analysis *a, const group_flags *parts, size_t count) HAMEL_CHECKED;
