/* kkt_int.h — internal structures of saddle-point systems and the kinds of solvers. */
#pragma once

#include "engine/base/arena.h"
#include "engine/linear/dense.h"
#include "engine/linear/kkt.h"
#include "engine/linear/kkt_ldl.h"
#include "engine/linear/rank_qr.h"
#include "engine/linear/sparse.h"
#include "engine/linear/triplets.h"

/* A kind of solver. Arguments and results are those of the functions in kkt.h. `factor` may delegate to another kind.
 * `factor` sets k->kind to the kind that has factored the system, and sets k->rank and k->margin. */
typedef struct kkt_kind {
    hamel_status (*factor)(kkt *k, const double *values);
    hamel_status (*solve)(kkt *k, const double *g, const double *r, double tolerance, double *x, double *lambda);
} kkt_kind;

extern const kkt_kind kkt_by_ldl; /* listed products: M positive definite, rows independent */
extern const kkt_kind
    kkt_by_cholesky;              /* dense: M positive definite, rows independent; otherwise delegates to QR or LU */
extern const kkt_kind kkt_by_qr;  /* dense: M positive definite, any rows */
extern const kkt_kind kkt_by_lu;  /* dense: M indefinite, or W is not zero */
extern const kkt_kind kkt_by_klu; /* sparse: rows independent; otherwise delegates to Cholesky or compliance */
extern const kkt_kind kkt_by_compliance; /* sparse: any rows */

/* The matrices of the dense kinds, column-major; k: number of selected rows. */
typedef struct kkt_dense {
    bool augmented;          /* true if M + Aᵀ diag(σ) A was factored */
    bool augment;            /* true if M has been singular, so that the augmented matrix is tried first */
    double *sigma;           /* k: weight of each row in the augmented matrix */
    double *A;               /* n × k: column c is row c of A */
    double *L;               /* n × n */
    bool diagonal;           /* true if M is diagonal; L⁻¹ is then stored in `inverse` */
    double *inverse;         /* n: diagonal of L⁻¹ */
    double *Y;               /* n × k: L⁻¹Aᵀ, columns of unit length */
    double *scale;           /* k: scale factor of each column of Y */
    double *S;               /* k × k: factor of YᵀY */
    rank_qr rows;            /* factors of Y, for QR */
    size_t *pivot;           /* n + k, for LU */
    double *LU, *lu_scale;   /* LU: (n + k)²; lu_scale: n + k; allocated when first needed */
    double *entries;         /* values of k->entries, for LU */
    double *w, *z, *y, *rho; /* n + k each */
    double *left, *change;   /* n + k each; left: residual before a refinement step; change: correction */
} kkt_dense;

/* Data of the sparse kinds, KLU and compliance. */
typedef struct kkt_sparse {
    sparse *lu;
    double *values, *x; /* values: entries of k->entries; x: n + k */
    double compliance;  /* diagonal entry of E */
    double *before;     /* k: multipliers of the previous iteration */
    size_t rank;        /* rank of the selected rows; set if the compliance is used */
} kkt_sparse;

/* The selection before the current one. Impacts alternate between two selections. */
typedef struct kkt_selection {
    arena selected;
    triplets entries;
    kkt_ldl *ldl;
    bool *taken; /* m: whether the row is selected */
    bool kept;
} kkt_selection;

struct kkt {
    arena memory, selected;        /* `selected` is freed with the current selection */
    const sparse_block *M, *A, *W; /* borrowed; W is NULL if it is zero */
    bool *rows;                    /* m: true if the row may be selected */
    size_t n, m, k, capacity;      /* k: number of selected rows; capacity: its maximum */
    int *row_of;                   /* m: index of the selected row of each constraint, or −1 */
    int *taken;                    /* k: index of the constraint of each selected row */
    size_t rank;                   /* rank of the selected rows at the last factorization */
    double margin;                 /* rank margin at the last factorization (kkt_margin) */
    size_t selection;              /* number of selections so far */
    size_t limit;                  /* expected rank (kkt_expect); SIZE_MAX: unknown */
    const double *usual;           /* m, or NULL: usual lengths of rows */
    bool least_reaction;
    bool diagonal;             /* true if M has no entry off its diagonal */
    bool singular;             /* true if M is singular at every state (kkt_expect_singular) */
    triplets entries;          /* [M, −(Aᵀ + W); A, −E] for the selected rows; the entries of E are last */
    const kkt_kind *preferred; /* kind tried after LDLᵀ once rows are selected: Cholesky or KLU */
    const kkt_kind *fallback;  /* kind tried after LDLᵀ in the next factorization: Cholesky, KLU or compliance */
    const kkt_kind *kind;      /* kind of the last factorization */
    bool factored;             /* true if the last factorization succeeded */
    kkt_ldl *ldl;              /* NULL if LDLᵀ is not used for this system */
    kkt_selection before;      /* used unless KLU is preferred */
    kkt_dense *dense;          /* NULL until first needed */
    kkt_sparse sparse;         /* unused if Cholesky is preferred */
};

bool kkt_dense_create(kkt *k);        /* creates k->dense; false if out of memory */
void kkt_dense_discard(kkt_dense *d); /* discards the arrays of the last selection */
void kkt_dense_free(kkt_dense *d);
bool kkt_sparse_create(kkt *k); /* creates k->sparse for the selected rows; false if out of memory */
void kkt_sparse_free(kkt *k);
