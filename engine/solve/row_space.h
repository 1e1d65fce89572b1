/* row_space.h — the rows of linear constraints E x = r of any rank: solutions of least norm, the directions that they
 * leave free, multipliers of least norm.
 *
 * A rank-revealing QR of Eᵀ, its columns brought to unit length (Golub & Van Loan, Matrix Computations, 4th ed., 5.5.6):
 * Eᵀ D P = Q R with D = diag(scale). Matrices are column-major; a row of E is a column here. */
#ifndef HAMEL_SOLVE_ROW_SPACE_H
#define HAMEL_SOLVE_ROW_SPACE_H

#include "engine/solve/dense.h"

typedef struct row_space {
    size_t n, most, k, rank; /* n may be set lower before rows are loaded */
    double *QR;              /* n × k */
    double *scale;           /* k */
    double *tau, *scratch;   /* min(n, most); 2 most */
    double *B, *B_tau;       /* k × rank, where rank < k: QR of Bᵀ = D⁻¹P Rᵀ */
    size_t *B_pivot;         /* rank */
    double *z;               /* n */
    size_t *pivot;           /* k */
} row_space;

/* For at most `most` rows of n columns. False without memory; row_space_free in both cases. */
bool row_space_create(row_space *s, size_t n, size_t most);
void row_space_free(row_space *s);

/* Copies k rows (n × k) to QR, scaled to unit length. Or fill k, QR and scale yourself. */
void row_space_load(row_space *s, size_t k, const double *rows);

/* Factors what was loaded: rank and pivot; the first `rank` pivots name independent rows. False when an entry is not
 * finite. */
bool row_space_factor(row_space *s);

/* R₁₁ᵀ z = (Pᵀρ)₁ for ρ = D r: z[rank] are the coordinates of the least-norm solution. Returns by how much the other rows
 * contradict, relative to ρ or 1. */
double row_space_coordinates(const row_space *s, const double *rho, double *z);
void row_space_vector(const row_space *s, const double *z, double *x); /* x[n] := Q₁ z */

/* x[n] of least norm with E x = r[k]; returns as row_space_coordinates. Uses s->z. */
double row_space_solution(row_space *s, const double *r, double *x);

/* D⁻¹λ for the λ[k] of least norm with Eᵀλ = Q₁ z; z is left as it is. */
void row_space_scaled_multipliers(const row_space *s, double *z, double *out);

/* λ[k] of least norm such that Eᵀλ is what of f[n] lies in the row space. Uses s->z. */
void row_space_multipliers(row_space *s, const double *f, double *lambda);

/* basis[n × (n − rank)], orthonormal, of {x : E x = 0}. */
void row_space_free_directions(const row_space *s, double *basis);

#endif
