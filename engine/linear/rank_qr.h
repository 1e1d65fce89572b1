/* row_space.h — the rows of linear constraints E x = r of any rank: solutions of least norm, the directions that they
 * leave free, multipliers of least norm.
 *
 * A rank-revealing QR of Eᵀ, its columns brought to unit length (Golub & Van Loan, Matrix Computations, 4th ed.,
 * 5.5.6): Eᵀ D P = Q R with D = diag(scale). Matrices are column-major; a row of E is a column here.
 *
 * At a state that violates the constraints by δ, each choice of independent rows spans another space, at a distance of
 * δ. Results computed from Q₁ alone jump when the choice changes, and integrators fail there. So solutions are Eᵀλ with
 * the λ of least norm, of all rows; and the row space is that of Q₁ rotated by one step of subspace iteration towards
 * the largest singular values (Golub & Van Loan 8.2.4), Eᵀ D (Q₁ᵀEᵀ D)ᵀ = Q T. Both depend on the choice only by δ². */
#ifndef HAMEL_SOLVE_ROW_SPACE_H
#define HAMEL_SOLVE_ROW_SPACE_H

#include "engine/solve/dense.h"

typedef struct row_space {
    size_t n, most, k, rank; /* n may be set lower before rows are loaded */
    size_t limit;            /* the rank that rows have in general, when it is known; SIZE_MAX otherwise */
    double *QR;              /* n × k */
    double *scale, *length;  /* k each; length: of the scaled rows */
    double *tau, *scratch;   /* min(n, most); 2 most */
    double *B, *B_tau;       /* k × rank, where rank < k: QR of Bᵀ = D⁻¹P Rᵀ */
    double *T, *T_tau;       /* n × rank, where rank < k: what turns Q₁, once it is `turned` */
    bool turned;
    size_t *B_pivot, *T_pivot; /* rank each */
    double *z;                 /* n */
    size_t *pivot;             /* k */
} row_space;

/* For at most `most` rows of n columns. False without memory; row_space_free in both cases. */
bool row_space_create(row_space *s, size_t n, size_t most);
void row_space_free(row_space *s);

/* Copies k rows (n × k) to QR, scaled to unit length, or by their usual length where `usual` (k, NULL: unknown) gives it: a
 * row that turns through zero keeps the rounding of its usual length, and at unit length that rounding would pass for a
 * direction. Or fill k, QR, scale and length yourself. */
void row_space_load(row_space *s, size_t k, const double *rows, const double *usual);

/* A row's length in parts of its usual one; 1 where that is not known (0), or the row vanishes. */
double row_space_part(double length, double usual);

/* Factors what was loaded: rank and pivot; the first `rank` pivots name independent rows. False when an entry is not
 * finite. */
bool row_space_factor(row_space *s);

/* After row_space_factor: the sine of the smallest angle between a row taken and the span of those taken before it. */
double row_space_margin(const row_space *s);

/* R₁₁ᵀ z = (Pᵀρ)₁ for ρ = D r: z[rank] are the coordinates of the least-norm solution. Returns by how much the other rows
 * contradict, relative to ρ or 1. */
double row_space_coordinates(const row_space *s, const double *rho, double *z);

/* x[n] := the vector of the coordinates z, which is left as it is. */
void row_space_vector(row_space *s, double *z, double *x);

/* x[n] of least norm with E x = r[k]; returns as row_space_coordinates. Uses s->z. */
double row_space_solution(row_space *s, const double *r, double *x);

/* D⁻¹λ for the λ[k] of least norm with Eᵀλ = Q₁ z; z is left as it is. */
void row_space_scaled_multipliers(const row_space *s, double *z, double *out);

/* λ[k] of least norm such that Eᵀλ is what of f[n] lies in the row space. Uses s->z. */
void row_space_multipliers(row_space *s, const double *f, double *lambda);

/* basis[n × rank] of the rows and basis[n × (n − rank)] of {x : E x = 0}, orthonormal. */
void row_space_directions(row_space *s, double *basis);
void row_space_free_directions(row_space *s, double *basis);

#endif
