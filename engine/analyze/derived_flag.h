/* derived_flag.h — directions that brackets add to a distribution D = D_1, step by step. D_k+1 is D_k + [D_k, D_k] if
 * `derived`, else D_k + [D, D_k]. The steps end if `most` directions have been added or a step adds none. */
#pragma once

#include "engine/analyze/forms.h"

enum { DERIVED_FLAG_STEPS = 24 };

/* Dimensions of D_1, D_2, ...; the last one is that of the closure. */
typedef struct flag_dimensions {
    size_t steps, dimension[DERIVED_FLAG_STEPS];
} flag_dimensions;

/* derived_flag_tree.c: finds the dimensions at the configuration x; f->chosen must be the independent forms there.
 * Coefficients that are not short decimals are treated as rounded. Sets *good to false if the work is too large or x is
 * singular. */
hamel_status derived_flag_by_trees(forms *f, const double *x, bool derived, size_t most, flag_dimensions *flag,
                                   bool *good) HAMEL_CHECKED;

/* derived_flag_exact.c: finds the dimensions from all rows, by elimination in the graph; `near` must be a regular
 * state. The dimensions are never too small. Sets *good to false if the work is too large or the rank of the forms is
 * not f->rank. */
hamel_status derived_flag_by_expressions(forms *f, const sample *near, bool derived, size_t most, flag_dimensions *flag,
                                         bool *good) HAMEL_CHECKED;
