/* flag.h — what brackets add to a distribution, step by step.
 *
 * The forms of a group, solved for as many differentials p as there are independent ones, leave the fields
 *     X_j = ∂_j − Σ_r b_rj ∂_p(r)         j: the other columns
 * whose brackets have components along the ∂_p alone: vertical fields, rows of one scalar a form. So have all brackets
 * of these. Scalars are expressions, or Taylor series at a configuration: the same steps with two kinds of numbers. */
#ifndef HAMEL_ANALYZE_FLAG_H
#define HAMEL_ANALYZE_FLAG_H

#include "engine/analyze/forms.h"

typedef union flag_scalar {
    graph_node node;
    double *series;
} flag_scalar;

typedef struct flag_fields flag_fields;

/* What the steps need of scalars. Each is false when that is more than can be computed. */
typedef struct flag_arithmetic {
    /* Component r of the row := 0. */
    bool (*begin)(flag_fields *f, flag_scalar *row, size_t r);
    /* Component r of the row += ± x · ∂y/∂column; x is 1 when NULL. */
    bool (*add)(flag_fields *f, flag_scalar *row, size_t r, int sign, const flag_scalar *x, flag_scalar y,
                size_t column);
    /* Among f->vertical, when it is independent of those there. */
    bool (*keep)(flag_fields *f, flag_scalar *row, bool *independent);
} flag_arithmetic;

struct flag_fields {
    const flag_arithmetic *arithmetic;
    void *numbers; /* the arithmetic's own */
    arena *memory;
    size_t width, rank;    /* columns; forms */
    size_t *pivot, *other; /* rank; width − rank: columns p and j */
    flag_scalar *b;        /* rank × (width − rank) */
    flag_scalar *vertical; /* capacity rank × rank, row by row */
    size_t count;          /* of vertical fields */
    size_t steps_most;     /* steps that can be computed */
};

enum { FLAG_STEPS = 24 };

/* Dimensions of D = D1, D2, ...; the last is that of the closure. */
typedef struct flag_growth {
    size_t steps, dimension[FLAG_STEPS];
} flag_growth;

/* D_k+1 = D_k + [D, D_k], or D_k + [D_k, D_k] when `derived`, until `most` vertical fields are found. False when it cannot be
 * computed. */
bool flag_climb(flag_fields *f, bool derived, size_t most, flag_growth *growth);

/* series_flag.c: at the configuration of a sample, where f->chosen are the independent forms. *good is false when it would
 * be too much. */
hamel_status flag_by_series(forms *f, const sample *at, bool derived, size_t most, flag_growth *growth,
                            bool *good) HAMEL_CHECKED;

/* exact_flag.c: of all rows, by elimination in the graph; for regular `near`. The dimensions are never too small. *good is
 * false when it would be too much, or the forms have another rank. */
hamel_status flag_by_expressions(forms *f, const sample *near, bool derived, size_t most, flag_growth *growth,
                                 bool *good) HAMEL_CHECKED;

/* The symbol of a column. */
graph_node flag_symbol(const forms *f, size_t column);

#endif
