/* kkt.h — the saddle-point systems of constrained motion.
 *
 *     [ M  −(Aᵀ+W) ] [ x ]   [ g ]
 *     [ A      0    ] [ λ ] = [ r ]
 *
 * over all rows of A or some of them (Baruh 4.10.5; accelerations: g = Q, r = b; corrections of positions and velocities
 * in the metric of M: g = 0, r = −residual). Solved
 *   dense   by Cholesky of M and of A M⁻¹ Aᵀ; when constraints are dependent, or least reactions are asked for, by a
 *           rank-revealing QR of L⁻¹Aᵀ: the reaction is then the one of least M⁻¹-norm and λ the least of all that give
 *           it (Udwadia & Kalaba 1992); M singular: M + Aᵀ diag(σ) A stands for M, which changes neither x nor λ; M
 *           indefinite or W present: LU;
 *   by lists of products (kkt_ldl.h), where M is positive and either sparse or small, and no row depends on others; the
 *           other ways stand by;
 *   sparse  by KLU, when the matrix is large and sparse, symbolic analysis once; redundant rows get a compliance that a
 *           proximal iteration removes again, with the same λ of least norm. Rows that become dependent unexpectedly
 *           are solved densely, up to some thousand.
 *
 * Belongs to one run. All memory is its own, sized at creation (a large sparse system that turns out to have dependent
 * constraints gets a dense one then; another selection of rows makes a sparse one anew). */
#ifndef HAMEL_SOLVE_KKT_H
#define HAMEL_SOLVE_KKT_H

#include "engine/model/model.h"

/* Below this squared sine of the angle between a row and those before it, Cholesky of A M⁻¹Aᵀ has lost half of the
 * digits: QR decides. */
#define KKT_DEPENDENT 1e-9

typedef struct kkt kkt;

typedef enum kkt_rows { KKT_ALL, KKT_HOLONOMIC, KKT_NO_ACCELERATION, KKT_NONE } kkt_rows;

/* NULL without memory. W is left out unless the rows are KKT_ALL and the model has one. */
kkt *kkt_create(const hamel_model *model, kkt_rows rows);
void kkt_free(kkt *k);

/* Of these rows, takes only those of active constraints (m) from now on: HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status kkt_select(kkt *k, const bool *active) HAMEL_CHECKED;

/* At most `rank` of the rows taken are independent, and usual[m] is the length of each constraint's row where it is longest
 * (row_survey.h; borrowed): until the next kkt_select. */
void kkt_expect(kkt *k, size_t rank, const double *usual);
bool kkt_expects_redundancy(const kkt *k); /* whether fewer rows than those taken are independent */

/* Whether dense matrices cost too much even if rows are redundant; the sparse solver with compliance then handles any
 * rank. */
bool kkt_prefers_sparse(const kkt *k);

/* Factors for the M, A, W in `values` (outputs of the model's dynamics program, all finite). HAMEL_OK, HAMEL_SINGULAR
 * or HAMEL_NO_MEMORY; no message: see kkt_explain. */
hamel_status kkt_factor(kkt *k, const double *values) HAMEL_CHECKED;

/* g[n] (NULL: zeros), r[m] (only the rows taken are read) → x[n], lambda[m] (0 for rows not taken; NULL: not wanted).
 * HAMEL_INCOMPATIBLE when dependent rows contradict each other by more than `tolerance` relative to r (x then
 * satisfies the rows that kkt_dependent does not name). */
hamel_status kkt_solve(kkt *k, const double *g, const double *r, double tolerance, double *x,
                       double *lambda) HAMEL_CHECKED;

/* The state that a factorization inherits from earlier ones: methods that have failed are not tried again. Recalling
 * has no effect after other rows have been selected. */
typedef struct kkt_memory {
    size_t selection;
    bool augment, use_dense, compliant;
} kkt_memory;
kkt_memory kkt_remember(const kkt *k);
void kkt_recall(kkt *k, kkt_memory memory);

size_t kkt_rank(const kkt *k); /* of the rows taken, after kkt_factor */

/* How far the rows are from losing rank, after kkt_factor: the sine of the smallest angle between a row and the span of
 * those before it, in the metric of M⁻¹; 1 where it is not known (KLU alone, or a mass matrix that needs LU). */
double kkt_margin(const kkt *k);
bool kkt_finds_margin(const kkt *k); /* whether the margin can be found; false if only KLU is used */

/* M is singular at every state (mass_rank.h): from now on only methods are used that need [M; A], not M, of full
 * rank. */
void kkt_expect_singular(kkt *k);

/* The constraints whose rows depend on others, after kkt_factor: their number, indices in list[m]. */
size_t kkt_dependent(const kkt *k, size_t *list);

#endif
