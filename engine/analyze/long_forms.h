/* long_forms.h — forms of a group in arithmetic of TAYLOR_BITS bits, for three copies of the system with slightly
 * different coefficients.
 *
 * With this precision, rounding errors of the computation cannot be mistaken for a bracket. Coefficients written as
 * decimals, however, are rounded to doubles: 0.3 is not 3 times 0.1. All brackets are therefore also computed for two
 * more copies, whose coefficients differ by LONG_CHANGE. A bracket counts as a direction if it is larger than SIGNAL
 * times the difference between the copies. No threshold for the size of a bracket is needed. */
#pragma once

#include "engine/analyze/forms.h"
#include "engine/analyze/taylor.h"

enum { COPIES = 3 };
/* Relative change of the coefficients in all copies but the first. The change is 64 ε (2.2e-16), larger than the
 * rounding error of a coefficient that a few operations compute. */
static const double LONG_CHANGE = 0x1p-46;
/* Default of the field `noise` of `directions`: 2^-TAYLOR_BITS times 2^56, which allows for the cancellation of 56
 * bits. */
static const double LONG_NOISE = 0x1p-200;

/* The derivative of an entry of the forms with respect to the variable of a column. `place` is the position of the
 * derivative in the plan. */
typedef struct slope {
    size_t entry, column, place;
} slope;

typedef struct long_forms {
    forms *f;
    arena memory;
    taylor_plan plan;
    size_t width, rank, others, order;
    size_t *row;           /* row[entry]: position among the chosen rows; rank if not chosen */
    size_t *place;         /* place[entry]: position of the entry's node in the plan */
    size_t *variable;      /* variable[column]: position of the column's symbol in the plan; plan.count if unused */
    size_t *residual;      /* residual[row]: position of Φ in the plan; plan.count if not holonomic */
    size_t *pivot, *other; /* pivot: the `rank` columns solved for; other: the other columns */
    size_t *solved;        /* solved[column]: position in pivot; rank if not solved for */
    slope *slopes;
    size_t slope_count;
    double *control;       /* width × (order + 1): series of u (closure.c) */
    double *matrix;        /* rank × width: scratch for the choice of pivots */
    double noise;          /* bound on the rounding error of a bracket, relative to its terms */
    mpfr_t *start[COPIES]; /* `width` entries: first point of each copy's curve */
} long_forms;

/* A copy of the system. Each series has order + 1 consecutive coefficients; closure.c fills the series along a
 * curve. */
typedef struct copy {
    taylor t;
    mpfr_t *x;            /* `width` entries: configuration */
    mpfr_t *velocity;     /* `width` power series: x' along the curve */
    mpfr_t *inverse;      /* rank × rank numbers: inverse of A_p at x */
    mpfr_t *b;            /* rank × others */
    mpfr_t *P;            /* rank × width */
    mpfr_t *V;            /* rank × others */
    mpfr_t *right, *work; /* scratch; right: rank + 1 numbers; work: rank × 2 rank */
    mpfr_t *scale;        /* `rank` entries: largest coefficient or term of each component */
} copy;

/* The independent rows found so far, for all copies. Each row is reduced by the previous rows. */
typedef struct directions {
    size_t rank, count;
    double noise;         /* bound on the rounding error of a bracket, relative to its terms */
    size_t *pivot;        /* pivot[k]: component of row k that is 1 */
    mpfr_t *rows[COPIES]; /* rank × rank: the independent rows found so far */
    mpfr_t *next[COPIES]; /* `rank` entries: row to be tested; set by the caller */
} directions;

/* Fills *l. The caller sets l->f, width, rank, others and memory. If `slopes`, also lists the derivatives of entries.
 * Returns false if an allocation or the construction of a node fails. */
bool long_forms_plan(long_forms *l, bool slopes);

/* Chooses the columns to solve for, from the values of the forms evaluated last. Returns false at a singular point. */
bool long_forms_pivots(long_forms *l);

/* Creates copy n, without the series of a curve. The pool owns the numbers; pool->failed is true if out of memory. */
void copy_create(const long_forms *l, copy *y, size_t n, uint64_t seed, number_pool *pool);

/* Projects y->x onto the chosen holonomic constraints and computes the inverse of A_p there. Returns false if A_p is
 * singular or not finite. */
bool copy_settle(const long_forms *l, copy *y);

/* Sets coefficient k of the power series of the coordinate that belongs to `column`. */
void copy_set(const long_forms *l, copy *y, size_t column, size_t k, mpfr_srcptr value);

/* Computes coefficient k of the series S that satisfies A_p S = R. The caller writes coefficient k of R to y->right,
 * which is overwritten. Rows of S are `stride` series apart, beginning at `first`. */
void copy_solve(const long_forms *l, copy *y, mpfr_t *S, size_t first, size_t stride, size_t k);
void copy_clear_right(const long_forms *l, copy *y);

/* Sets `scale` to the larger of `scale` and |value|. */
void enlarge(mpfr_ptr scale, mpfr_srcptr value);

/* Adds sign · x y to `to`. */
void add_to(mpfr_ptr to, int sign, mpfr_srcptr x, mpfr_srcptr y, mpfr_ptr scratch);

/* Returns coefficient k of the series with index `which`. */
static inline mpfr_ptr term(mpfr_t *series, size_t which, size_t order, size_t k) {
    return series[which * (order + 1) + k];
}

/* Creates an empty set of rows with l->rank components and the error bound l->noise. The pool owns the numbers. Returns
 * false if l's arena or the pool is out of memory. */
bool directions_create(directions *d, long_forms *l, number_pool *pool);

/* If the row in d->next is independent of the previous rows, adds the row and returns true. copies[0].scale gives the
 * size of the terms of each component. */
bool directions_add(directions *d, copy *copies);
