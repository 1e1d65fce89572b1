/* least_constraint.h — Gauss's principle as a least-squares problem with equality constraints:
 *
 *     ½ xᵀM x − gᵀx → min   over   E x = r
 *
 * which is ½ (x − a)ᵀM (x − a) → min with M a = g (Gauss 1829; Papastavridis A94; Greenwood 4.320-4.340), where M may be
 * singular as long as it is not in the directions that E leaves free. Null-space method (Björck, Numerical Methods for
 * Least Squares Problems, 5.1.3): x = x_r + Z y, with x_r the least solution of E x = r and Z a basis of the rest,
 * ZᵀM Z y = Zᵀ(g − M x_r). E may have any rank. All dense, column-major; nothing is allocated after creation. */
#ifndef HAMEL_SOLVE_LEAST_CONSTRAINT_H
#define HAMEL_SOLVE_LEAST_CONSTRAINT_H

#include "engine/base/error.h"
#include "engine/solve/row_space.h"

typedef struct least_constraint {
    size_t n, freedom; /* freedom: n − rank E */
    row_space rows;
    const double *M;           /* borrowed until the next factorization */
    double *Z, *MZ, *H;        /* n × freedom; n × freedom; freedom × freedom */
    double *lu_scale, *xr, *y; /* n each */
    size_t *pivot;
} least_constraint;

/* For at most n unknowns and `most` rows. False without memory; least_constraint_free in both cases. */
bool least_constraint_create(least_constraint *s, size_t n, size_t most);
void least_constraint_free(least_constraint *s);

/* For n unknowns, not more than created for. M: n × n, symmetric and full; k rows of E as n × k, and their usual lengths
 * as row_space_load takes them. HAMEL_OK or HAMEL_SINGULAR. */
hamel_status least_constraint_factor(least_constraint *s, size_t n, const double *M, size_t k, const double *rows,
                                     const double *usual) HAMEL_CHECKED;

/* x[n]. Returns by how much dependent rows contradict each other (row_space_coordinates). */
double least_constraint_solve(least_constraint *s, const double *g, const double *r, double *x);

#endif
