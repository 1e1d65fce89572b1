/* long_forms.h — the forms of a group in numbers of TAYLOR_BITS bits, in three systems whose coefficients differ slightly.
 *
 * Rounding of a computation with so many bits cannot be mistaken for a bracket. Coefficients given as decimals are still
 * rounded: 0.3 is not 3 times 0.1 in doubles. So everything is also computed for two more systems, whose coefficients
 * differ by CHANGE, and a direction counts if it is larger than SIGNAL times the difference between the systems. No
 * threshold for the size of a bracket is needed. */
#ifndef HAMEL_ANALYZE_LONG_FORMS_H
#define HAMEL_ANALYZE_LONG_FORMS_H

#include "engine/analyze/forms.h"
#include "engine/analyze/taylor.h"

enum { COPIES = 3 };

/* ∂(entry)/∂(column) */
typedef struct slope {
    size_t entry, column, place;
} slope;

typedef struct long_forms {
    forms *f;
    arena memory;
    taylor_plan plan;
    size_t width, rank, others, order;
    size_t *row;           /* entry → position among the chosen rows; rank for others */
    size_t *place;         /* entry → place of its node */
    size_t *variable;      /* column → place of its symbol; plan.count where no expression contains it */
    size_t *residual;      /* row → place of Φ of a holonomic constraint; plan.count for others */
    size_t *pivot, *other; /* columns: rank; width − rank */
    size_t *solved;        /* column → position in pivot; rank for others */
    slope *slopes;
    size_t slope_count;
    double *control;       /* width × (order + 1): u */
    double *matrix;        /* rank × width */
    double noise;          /* of a bracket, in units of its terms */
    mpfr_t *start[COPIES]; /* width: of each system's curve */
} long_forms;

/* One of the systems. The series of a curve are closure.c's. Series are one after another, each of order + 1 coefficients. */
typedef struct copy {
    taylor t;
    mpfr_t *x;            /* width */
    mpfr_t *velocity;     /* width */
    mpfr_t *inverse;      /* rank × rank numbers: of A_p at the start */
    mpfr_t *b;            /* rank × others */
    mpfr_t *P;            /* rank × width */
    mpfr_t *V;            /* rank × others */
    mpfr_t *right, *work; /* rank; rank × 2 rank numbers */
    mpfr_t *scale;        /* rank: the largest coefficient or term of a component */
} copy;

/* The rows kept so far, for all copies, each reduced by the previous rows. */
typedef struct directions {
    size_t rank, count;
    double noise;         /* of a bracket, in units of its terms */
    size_t *pivot;        /* component that is 1 */
    mpfr_t *rows[COPIES]; /* rank × rank */
    mpfr_t *next[COPIES]; /* rank */
} directions;

/* Fills `l`, whose forms, width, rank, others and memory are given. With `slopes` the derivatives of entries, too. False
 * when memory or the graph failed. */
bool long_forms_plan(long_forms *l, bool slopes);

/* Columns to solve for, at the values of the forms that were evaluated last. False at a singular point. */
bool long_forms_pivots(long_forms *l);

/* A system with coefficients changed by up to `change`: its numbers without the series of a curve. False without memory;
 * copy_free in both cases. */
bool copy_create(const long_forms *l, copy *y, double change, uint64_t seed);
void copy_free(const long_forms *l, copy *y);

/* The coefficients of system n are changed by so much. */
double copy_change(size_t n);

/* y->x moved onto the chosen holonomic constraints, and the inverse there. False where A_p is singular or not finite. */
bool copy_settle(const long_forms *l, copy *y);

/* Coefficient k of a column's series of x. */
void copy_set(const long_forms *l, copy *y, size_t column, size_t k, mpfr_srcptr value);

/* Coefficient k of S in A_p S = R, of which right[] holds that of R; S has `stride` series from one row to the next. */
void copy_solve(const long_forms *l, copy *y, mpfr_t *S, size_t first, size_t stride, size_t k);
void copy_clear_right(const long_forms *l, copy *y);

/* Makes scale[r] at least as large as a term of component r. */
void enlarge(mpfr_ptr scale, mpfr_srcptr value);

/* to += or −= x y */
void add_to(mpfr_ptr to, int sign, mpfr_srcptr x, mpfr_srcptr y, mpfr_ptr scratch);

/* Coefficient k of a series among others of that order. */
static inline mpfr_ptr term(mpfr_t *series, size_t which, size_t order, size_t k) {
    return series[which * (order + 1) + k];
}

bool directions_create(directions *d, size_t rank, double noise);
void directions_free(directions *d);

/* Keeps the next row if it is independent of the previous rows; the scales are those of the copies. */
bool directions_add(directions *d, copy *copies);

/* `noise` of directions: a bracket's terms and the coefficients; TAYLOR_BITS less what cancels. */
extern const double LONG_NOISE;

#endif
