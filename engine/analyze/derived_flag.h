/* flag.h — what brackets add to a distribution, step by step: D_k+1 = D_k + [D, D_k], or D_k + [D_k, D_k] when `derived`,
 * until `most` directions have been added or a step adds none. */
#ifndef HAMEL_ANALYZE_FLAG_H
#define HAMEL_ANALYZE_FLAG_H

#include "engine/analyze/forms.h"

enum { FLAG_STEPS = 24 };

/* Dimensions of D = D1, D2, ...; the last is that of the closure. */
typedef struct flag_growth {
    size_t steps, dimension[FLAG_STEPS];
} flag_growth;

/* tree_flag.c: at the configuration x, where f->chosen are the independent forms, whose coefficients are not short decimals
 * counting as rounded. *good is false when it would be too much, or x is singular. */
hamel_status flag_by_trees(forms *f, const double *x, bool derived, size_t most, flag_growth *growth,
                           bool *good) HAMEL_CHECKED;

/* exact_flag.c: of all rows, by elimination in the graph; for regular `near`. The dimensions are never too small. *good is
 * false when it would be too much, or the forms have another rank. */
hamel_status flag_by_expressions(forms *f, const sample *near, bool derived, size_t most, flag_growth *growth,
                                 bool *good) HAMEL_CHECKED;

#endif
