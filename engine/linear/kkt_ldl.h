/* kkt_ldl.h — saddle-point systems with a positive M, sparse or small, as LDLᵀ.
 *
 *     [ M  Aᵀ ] [  x ]   [ g ]
 *     [ A  0  ] [ −λ ] = [ r ]
 *
 * Coordinates are eliminated first, which leaves −A M⁻¹Aᵀ of the constraints: no pivot needs to be searched for. Large
 * systems are put in an order of least degree under this condition (CAMD; Amestoy, Davis & Duff, SIAM J. Matrix Anal.
 * Appl. 17 (1996) 886). What is to be multiplied and where it goes is listed once: a chain of N rods costs O(N), and a
 * small system nothing but its multiplications. */
#ifndef HAMEL_SOLVE_KKT_LDL_H
#define HAMEL_SOLVE_KKT_LDL_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct kkt;
typedef struct kkt_ldl kkt_ldl;

/* For the rows that k takes. *out is NULL where W acts, least reactions are asked for, or columns of a dense matrix are
 * faster. HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status kkt_ldl_create(const struct kkt *k, kkt_ldl **out) HAMEL_CHECKED;
void kkt_ldl_free(kkt_ldl *s);

/* For the M and A in `values`; false when M is not positive, or looks singular, or a row depends on others. */
bool kkt_ldl_factor(kkt_ldl *s, const double *values) HAMEL_CHECKED;

/* g[n] (NULL: zeros), r[m] → x[n], lambda[m] (only the rows taken; NULL: not wanted). */
void kkt_ldl_solve(kkt_ldl *s, const double *g, const double *r, double *x, double *lambda);

/* After kkt_ldl_factor, also where a row depends on others: the sine of the smallest angle between a row and the span of
 * those before it in the order of elimination (of small systems: the one they are given in), in the metric of M⁻¹. */
double kkt_ldl_margin(const kkt_ldl *s);

/* Multiplications of a factorization: a count, for tests of how cost grows. */
size_t kkt_ldl_operations(const kkt_ldl *s);

#endif
