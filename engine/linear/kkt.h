/* kkt.h — solvers for the saddle-point systems of constrained motion.
 *
 *     [ M  −(Aᵀ+W) ] [ x ]   [ g ]
 *     [ A      0    ] [ λ ] = [ r ]
 *
 * The system contains all or selected rows of A (Baruh 4.10.5). For accelerations, g = Q and r = b. For projections of
 * positions and velocities in the metric of M, g = 0 and r = −residual.
 *
 * Each kind of solver (kkt_int.h) serves a class of systems:
 *   LDLᵀ        listed products (kkt_ldl.h). Used if M is positive definite and either sparse or small, and rows are
 *               independent.
 *   Cholesky    of M and of A M⁻¹ Aᵀ, dense. M + Aᵀ diag(σ) A replaces a singular M. This changes neither x nor λ.
 *   QR          of L⁻¹Aᵀ, rank-revealing. Used if rows are redundant or least reactions are requested. The reaction has
 *               least M⁻¹-norm, and λ has least norm for this reaction (Udwadia & Kalaba 1992).
 *   LU          dense. Used if M is indefinite or W is not zero.
 *   KLU         with one symbolic analysis. Used if the matrix is large and sparse.
 *   compliance  KLU with a small compliance of each row. Used for redundant rows. A proximal iteration removes the
 *               compliance and gives the same λ of least norm.
 * If rows of a large system become dependent unexpectedly, the system is solved with dense matrices, up to 3000 rows.
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

/* Sets the generic rank of the selected rows and the usual length of each row, usual[m] (rank_survey.h; borrowed). The
 * rank and the lengths are valid until the next kkt_select. */
void kkt_expect(kkt *k, size_t rank, const double *usual);
bool kkt_expects_redundancy(const kkt *k); /* true if the expected rank is below the number of selected rows */

/* Returns true if dense matrices would cost too much even for redundant rows. The sparse solver with compliance, which
 * supports any rank, is then used. */
bool kkt_prefers_sparse(const kkt *k);

/* Factors the system for M, A and W in `values`, which must be finite. Returns HAMEL_OK, HAMEL_SINGULAR or
 * HAMEL_NO_MEMORY. */
hamel_status kkt_factor(kkt *k, const double *values) HAMEL_CHECKED;

/* Solves for x[n] and lambda[m]. The right-hand sides are g[n] (NULL: zeros) and r[m], of which only selected rows are
 * read. lambda may be NULL; it is 0 for rows not selected. Returns HAMEL_INCOMPATIBLE if redundant rows contradict each
 * other by more than `tolerance` relative to r; x then satisfies a maximal independent subset of the rows. */
hamel_status kkt_solve(kkt *k, const double *g, const double *r, double tolerance, double *x,
                       double *lambda) HAMEL_CHECKED;

/* The history that affects later factorizations. It lists the solvers that have failed, which are not tried again. If
 * other rows have been selected since kkt_remember, kkt_recall does nothing; otherwise it restores the history. */
typedef struct kkt_memory {
    size_t selection;
    bool augment;
    const struct kkt_kind *fallback;
} kkt_memory;
kkt_memory kkt_remember(const kkt *k);
void kkt_recall(kkt *k, kkt_memory memory);

size_t kkt_rank(const kkt *k); /* rank of the selected rows at the last kkt_factor */

/* Returns the rank margin at the last kkt_factor. It is the sine of the smallest angle between a row and the span of
 * the rows before it, in the metric of M⁻¹. Returns 1 if the margin is unknown (KLU without LDLᵀ, or LU). */
double kkt_margin(const kkt *k);
bool kkt_finds_margin(const kkt *k); /* true if the solver computes the margin */

/* Declares M singular at every state (mass_rank.h). Later factorizations use only solvers that need full rank of [M;
 * A], not of M. */
void kkt_expect_singular(kkt *k);
