/* rank_qr.h — linear constraints E x = r of any rank: computes solutions and multipliers of least norm, and free
 * directions.
 *
 * The method is a rank-revealing QR of Eᵀ with columns scaled to unit length: Eᵀ D P = Q R with D = diag(scale) (Golub
 * & Van Loan, Matrix Computations, 4th ed., 5.5.6). Matrices are column-major. Each row of E is stored as a column.
 *
 * Redundant rows are exactly dependent only at states that satisfy the constraints. At a state with a residual δ,
 * different choices of independent rows therefore span spaces that differ by δ. If results were computed from Q₁ alone,
 * they would jump when the choice changes, and integrators would fail. Solutions are therefore computed as Eᵀλ, where λ
 * has an entry for every row and the least norm. For the range of Eᵀ, one step of subspace iteration rotates Q₁ towards
 * the largest singular values: Eᵀ D (Q₁ᵀEᵀ D)ᵀ = Q T (Golub & Van Loan 8.2.4). Solutions and ranges computed with
 * different choices then differ only by δ². */
#pragma once

#include "engine/base/arena.h"
#include "engine/linear/dense.h"

typedef struct rank_qr {
    arena memory;
    size_t n, most, k, rank; /* k: number of loaded rows, at most `most`; n may be lowered before rows are loaded */
    size_t limit;            /* generic rank of the rows; SIZE_MAX if unknown */
    double *QR;              /* n × k */
    double *scale, *length;  /* k each; scale: scale factor of each row; length: its length after scaling */
    double *tau, *scratch;   /* tau: min(n, most); scratch: 2 most */
    double *B, *B_tau;       /* k × rank, if rank < k: QR of Bᵀ = D⁻¹P Rᵀ */
    double *T, *T_tau;       /* n × rank, if rank < k: rotation of Q₁, valid if `turned` */
    bool turned;
    size_t *B_pivot, *T_pivot; /* rank each */
    double *z;                 /* n */
    size_t *pivot;             /* k */
} rank_qr;

/* Allocates the arrays for at most `most` rows of n columns. Returns false if out of memory. Call rank_qr_free in both
 * cases. */
bool rank_qr_create(rank_qr *s, size_t n, size_t most);
void rank_qr_free(rank_qr *s);

/* Copies k rows (n × k) to QR. Each row is divided by its usual length, or by its own length if the usual length is
 * unknown (`usual`: k entries, 0: unknown; NULL: all unknown). The rounding errors of a row are proportional to its
 * usual length. If the row vanished and were divided by its own length, its rounding errors would become a direction.
 * Instead of calling this function, the caller may fill k, QR, scale and length. */
void rank_qr_load(rank_qr *s, size_t k, const double *rows, const double *usual);

/* Returns the length of a row relative to its usual length, or 1 if `usual` is 0 (unknown) or the row vanishes. */
double rank_qr_part(double length, double usual);

/* Factors the loaded rows and sets `rank` and `pivot`. The first `rank` elements of `pivot` are the indices of
 * independent rows. Returns false if an entry is not finite. */
bool rank_qr_factor(rank_qr *s);

/* After rank_qr_factor, returns the sine of the smallest angle between an independent row and the span of the rows
 * pivoted before it. */
double rank_qr_margin(const rank_qr *s);

/* Solves R₁₁ᵀ z = (Pᵀρ)₁ with ρ = D r. z[rank] are the coordinates of the least-norm solution in the basis Q₁. Returns
 * the largest residual of the redundant rows, relative to the largest of |ρ_i| and 1. */
double rank_qr_coordinates(const rank_qr *s, const double *rho, double *z);

/* Computes the least-norm solution x[n] from its coordinates z. */
void rank_qr_vector(rank_qr *s, const double *z, double *x);

/* Computes the solution x[n] of E x = r[k] of least norm. Returns the same residual as rank_qr_coordinates. Overwrites
 * s->z. */
double rank_qr_solution(rank_qr *s, const double *r, double *x);

/* Computes out[k] = D⁻¹λ, where λ is the vector of least norm with Eᵀλ = Q₁ z. */
void rank_qr_scaled_multipliers(const rank_qr *s, const double *z, double *out);

/* Computes the λ[k] of least norm for which Eᵀλ is the part of f[n] in the range of Eᵀ. Overwrites s->z. */
void rank_qr_multipliers(rank_qr *s, const double *f, double *lambda);

/* Compute an orthonormal basis: rank_qr_directions computes one of the range of Eᵀ (n × rank), rank_qr_free_directions
 * one of the null space {x : E x = 0} (n × (n − rank)). */
void rank_qr_directions(rank_qr *s, double *basis);
void rank_qr_free_directions(rank_qr *s, double *basis);
