/* kkt.h — solvers for the saddle-point systems of constrained motion.
 *
 *     [ M  −(Aᵀ+W) ] [ x ]   [ g ]
 *     [ A      0    ] [ λ ] = [ r ]
 *
 * The system contains all or selected rows of A (Baruh 4.10.5). For accelerations, g = Q and r = b. For projections of
 * positions and velocities in the metric of M, g = 0 and r = −residual.
 *
 * Each kind of solver (kkt_int.h) is used for one class of systems:
 *   LDLᵀ        evaluates a list of products (kkt_ldl.h). This kind is used if M is positive definite, the system is
 *               sparse or small, and rows are independent.
 *   Cholesky    factors the dense matrices M and A M⁻¹ Aᵀ. A singular M is replaced by M + Aᵀ diag(σ) A, which changes
 *               neither x nor λ.
 *   QR          is a rank-revealing factorization of L⁻¹Aᵀ with M = L Lᵀ. This kind is used if rows are redundant or
 *               least reactions are requested. The reaction has the least M⁻¹-norm, and λ has the least norm for this
 *               reaction (Udwadia & Kalaba 1992).
 *   LU          factors the dense system. This kind is used if M is indefinite or W is not zero.
 *   KLU         factors the sparse system with one symbolic analysis. This kind is used if the matrix is large and
 *               sparse.
 *   compliance  is KLU of a large system with redundant rows, where each row has a small compliance. A proximal
 *               iteration removes the effect of the compliance and yields the λ of least norm.
 * If rows of a large system unexpectedly become redundant, dense matrices are used for up to 3000 unknowns.
 *
 * Each run owns its systems. Memory is allocated at creation, when rows are selected, and when a large system first
 * needs dense matrices. */
#pragma once

#include "engine/base/error.h"
#include "engine/linear/sparse_block.h"

typedef struct kkt kkt;

/* Creates a system that borrows M (n × n, symmetric), A (m × n, sorted by rows) and W (n × m; NULL or empty if zero).
 * `rows` (m; NULL: all) marks the rows of A that may be selected. Returns NULL if out of memory. */
kkt *kkt_create(const sparse_block *M, const sparse_block *A, const sparse_block *W, const bool *rows,
                bool least_reaction);
void kkt_free(kkt *k);

/* Selects the rows of the constraints that active[m] marks, for later calls. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status kkt_select(kkt *k, const bool *active) HAMEL_CHECKED;

/* Sets the generic rank of the selected rows, and usual[m], the usual lengths of the rows (rank_survey.h; borrowed).
 * The rank and the lengths are used until the next kkt_select. */
void kkt_expect(kkt *k, size_t rank, const double *usual);
bool kkt_expects_redundancy(const kkt *k); /* true if the expected rank is below the number of selected rows */

/* Returns true if the system is so large and sparse that redundant rows are handled by compliance instead of dense
 * matrices. */
bool kkt_prefers_sparse(const kkt *k);

/* Factors the system for M, A and W in `values`, which must be finite. Returns HAMEL_OK, HAMEL_SINGULAR or
 * HAMEL_NO_MEMORY. */
hamel_status kkt_factor(kkt *k, const double *values) HAMEL_CHECKED;

/* Solves for x[n] and lambda[m]. The right-hand sides are g[n] (NULL: zeros) and r[m]. Only the elements of r for
 * selected rows are read. lambda may be NULL. Elements of lambda for rows that are not selected are set to 0. Returns
 * HAMEL_INCOMPATIBLE if redundant rows contradict each other by more than `tolerance` relative to r. x then satisfies a
 * maximal independent subset of the rows. */
hamel_status kkt_solve(kkt *k, const double *g, const double *r, double tolerance, double *x,
                       double *lambda) HAMEL_CHECKED;

/* The part of the history that affects later factorizations. A solver that has failed is not tried again. kkt_recall
 * restores the history that kkt_remember returned, unless kkt_select was called in between. */
typedef struct kkt_memory {
    size_t selection;
    bool augment;
    const struct kkt_kind *fallback;
} kkt_memory;
kkt_memory kkt_remember(const kkt *k);
void kkt_recall(kkt *k, kkt_memory memory);

size_t kkt_rank(const kkt *k); /* rank of the selected rows at the last kkt_factor */

/* Returns the rank margin at the last kkt_factor. The rank margin is the sine of the smallest angle between a row and
 * the span of the rows before it, in the metric of M⁻¹. If the rank margin is unknown (KLU without LDLᵀ, or LU),
 * returns 1. */
double kkt_margin(const kkt *k);
bool kkt_finds_margin(const kkt *k); /* true if the solver computes the rank margin */

/* Discards the history and the expected rank, so that the system is as after kkt_create and kkt_select. */
void kkt_reset(kkt *k);

/* Returns true if no factorization and no expectation has indicated a singular M or redundant rows, so that kkt_factor
 * tries its first solver. */
bool kkt_is_regular(const kkt *k);

/* Declares M singular at every state (mass_rank.h). Later factorizations use only solvers that require full rank of [M;
 * A] and not of M. */
void kkt_expect_singular(kkt *k);
