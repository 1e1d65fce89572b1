/* least_constraint.h — Gauss's principle as a least-squares problem with equality constraints:
 *
 *     ½ xᵀM x − gᵀx → min   over   E x = r
 *
 * This problem is equivalent to ½ (x − a)ᵀM (x − a) → min with M a = g (Gauss 1829; Papastavridis A94; Greenwood
 * 4.320-4.340). M may be singular if it is regular in the null space of E. The null-space method (Björck, Numerical
 * Methods for Least Squares Problems, 5.1.3) computes x = x_r + Z y. Here x_r is the least-norm solution of E x = r,
 * and Z is a basis of the null space of E. y is the solution of ZᵀM Z y = Zᵀ(g − M x_r). E may have any rank. Matrices
 * are dense and column-major. No memory is allocated after creation. */
#pragma once

#include "engine/base/arena.h"
#include "engine/linear/rank_qr.h"

typedef struct least_constraint {
    arena memory;
    size_t n, most, freedom; /* n: at most `most`; freedom: n − rank E */
    rank_qr rows;
    const double *M;           /* borrowed until the next factorization */
    double *Z, *MZ, *H;        /* Z, MZ: n × freedom; H: freedom × freedom */
    double *lu_scale, *xr, *y; /* n each */
    size_t *pivot;
} least_constraint;

/* Allocates the arrays for at most n unknowns and `most` rows. Returns false if out of memory. Call
 * least_constraint_free in both cases. */
bool least_constraint_create(least_constraint *s, size_t n, size_t most);
void least_constraint_free(least_constraint *s);

/* Factors the problem for n unknowns. M is n × n, and both triangles are read. `rows` is n × k, with the k rows of E as
 * columns. `usual` is as for rank_qr_load. Returns HAMEL_OK or HAMEL_SINGULAR. */
hamel_status least_constraint_factor(least_constraint *s, size_t n, const double *M, size_t k, const double *rows,
                                     const double *usual) HAMEL_CHECKED;

/* Computes the solution x[n]. Returns the contradiction of the redundant rows, as rank_qr_coordinates does. */
double least_constraint_solve(least_constraint *s, const double *g, const double *r, double *x);
