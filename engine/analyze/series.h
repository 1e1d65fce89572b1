/* series.h — truncated Taylor series in several variables.
 *
 * A series is an array of `count` coefficients, by increasing degree; the first is the value. A derivative is one degree
 * less precise: its coefficients of the highest degree are wrong, and those of a product are wrong where a factor's are, so
 * that after k derivatives the first order − k degrees are right. */
#ifndef HAMEL_ANALYZE_SERIES_H
#define HAMEL_ANALYZE_SERIES_H

#include "engine/base/arena.h"

#include <stdbool.h>

enum { SERIES_TERMS = 5000, SERIES_PAIRS = 1000000 };

typedef struct series_space {
    size_t variables, order, count;
    size_t *parent, *last; /* count: monomial = parent · variable `last`; of the constant 0, 0 */
    size_t *exponent;      /* count × variables */
    size_t *times;         /* count × variables: the monomial times a variable; `count` beyond the order */
    size_t *within;        /* order + 1: monomials of degree k at most */
    size_t *degree;        /* count */
    size_t *product;       /* of monomials i, j, i · j within the order, i by i */
} series_space;

/* False without memory, or beyond SERIES_TERMS coefficients and SERIES_PAIRS multiplications a product. */
bool series_space_init(series_space *s, size_t variables, size_t order, arena *memory);

/* to := to + factor · x · y */
void series_add_product(const series_space *s, double *to, double factor, const double *x, const double *y);

/* to := ∂x/∂variable; not in place. */
void series_partial(const series_space *s, const double *x, size_t variable, double *to);

/* to := 1/x, x[0] ≠ 0; not in place. */
void series_invert(const series_space *s, const double *x, double *to);

#endif
