/* kkt_int.h — the representations of a saddle-point system. */
#ifndef HAMEL_SOLVE_KKT_INT_H
#define HAMEL_SOLVE_KKT_INT_H

#include "engine/solve/dense.h"
#include "engine/solve/kkt.h"
#include "engine/solve/kkt_ldl.h"
#include "engine/solve/row_space.h"
#include "engine/solve/sparse.h"

typedef enum dense_mode { DENSE_SCHUR, DENSE_RANK, DENSE_LU } dense_mode;

/* Everything column-major; k rows of A taken. */
typedef struct kkt_dense {
    dense_mode mode;
    size_t rank;
    double margin;           /* see kkt_margin; not of DENSE_LU */
    bool augmented;          /* M + Aᵀ diag(σ) A was factored */
    bool augment;            /* M was found singular before: the augmented matrix is taken at once */
    double *sigma;           /* k */
    double *A;               /* n × k: column c is row c of A */
    double *L;               /* n × n */
    bool diagonal;           /* M is diagonal: L is too, its inverse is in `inverse` and not in L */
    double *inverse;         /* n */
    double *Y;               /* n × k: L⁻¹Aᵀ, columns of unit length */
    double *scale;           /* k: what makes them so */
    double *S;               /* k × k: factor of YᵀY */
    row_space rows;          /* of Y, DENSE_RANK */
    size_t *pivot;           /* n + k, of DENSE_LU */
    double *LU, *lu_scale;   /* (n + k)², DENSE_LU; made when first needed */
    double *w, *z, *y, *rho; /* n + k each */
    double *left, *change;   /* n + k each, of the refinement */
} kkt_dense;

struct kkt {
    const hamel_model *model;
    kkt_rows rows;
    size_t n, k, capacity; /* rows taken, and at most */
    int *row_of;           /* constraint → row taken, or −1 */
    int *taken;            /* row taken → constraint */
    size_t selection;      /* how often rows have been selected */
    size_t limit;          /* see kkt_expect */
    const double *usual;   /* m, or NULL */
    bool with_W, least_reaction;
    bool diagonal;    /* M has no entry off its diagonal */
    kkt_ldl *ldl;     /* NULL: not for this system */
    bool use_ldl;     /* it factored the values given last */
    bool singular;    /* M is, at every state: kkt_expect_singular */
    kkt_dense *dense; /* else exactly one of these two is in use */
    sparse *sparse;
    bool use_dense, prefers_dense;
    double *sparse_values, *sparse_x;
    bool compliant;    /* sparse, with dependent rows: */
    double compliance; /* E is this times 1 */
    double *before;    /* k: multipliers of the step before */
    size_t sparse_rank;
};

kkt_dense *kkt_dense_create(const kkt *k);
void kkt_dense_free(kkt_dense *d);
void kkt_dense_forget(kkt_dense *d); /* what depends on the number of rows taken */
hamel_status kkt_dense_factor(const kkt *k, kkt_dense *d, const double *values) HAMEL_CHECKED;
hamel_status kkt_dense_solve(const kkt *k, kkt_dense *d, const double *g, const double *r, double tolerance, double *x,
                             double *lambda) HAMEL_CHECKED;

#endif
