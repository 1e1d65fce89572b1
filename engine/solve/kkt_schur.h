/* kkt_schur.h — saddle-point systems of particles: M diagonal and A sparse.
 *
 *     (A M⁻¹Aᵀ) λ = r − A M⁻¹g,    x = M⁻¹(g + Aᵀλ)
 *
 * A M⁻¹Aᵀ has an entry where two constraints share a coordinate. It is factored as LDLᵀ, when large in an
 * order of least degree (Amestoy, Davis & Duff, SIAM J. Matrix Anal. Appl. 17 (1996) 886). What is multiplied with what is listed once, so
 * that N rods cost O(N), a chain of them seven operations a rod. */
#ifndef HAMEL_SOLVE_KKT_SCHUR_H
#define HAMEL_SOLVE_KKT_SCHUR_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct kkt;
typedef struct kkt_schur kkt_schur;

/* For the rows that k takes. *out is NULL where M is not diagonal, W acts, or the dense way is shorter. HAMEL_OK or
 * HAMEL_NO_MEMORY. */
hamel_status kkt_schur_create(const struct kkt *k, kkt_schur **out) HAMEL_CHECKED;
void kkt_schur_free(kkt_schur *s);

/* For the M and A in `values`; false when a mass is not positive or a row depends on others. */
bool kkt_schur_factor(kkt_schur *s, const double *values) HAMEL_CHECKED;

/* g[n] (NULL: zeros), r[m] → x[n], lambda[m] (only the rows taken; NULL: not wanted). */
void kkt_schur_solve(kkt_schur *s, const double *g, const double *r, double *x, double *lambda);

/* After kkt_schur_factor: the sine of the smallest angle between a row and the span of those before it in the order of
 * elimination, in the metric of M⁻¹. */
double kkt_schur_margin(const kkt_schur *s);

/* Multiplications of a factorization: a count, for tests of how cost grows. */
size_t kkt_schur_operations(const kkt_schur *s);

#endif
