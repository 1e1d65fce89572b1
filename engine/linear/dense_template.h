/* dense_template.h — the operations of dense Cholesky solutions, for one number type.
 *
 * dense.c includes the template for one matrix, kkt_vec8.c for eight matrices in SIMD lanes. The results are
 * bit-identical. The including file defines these macros, and the template undefines them:
 *
 *     DENSE_REAL          number type
 *     DENSE_NAME(name)    name of a function for this type
 *     DENSE_ROOT(x, r)    sets r to the square root of x */
#include <stddef.h>

#define DENSE_INLINE static inline __attribute__((always_inline))

/* y := y - Σ_k c_k x_k for four columns x_k at distances of `stride`. */
DENSE_INLINE void DENSE_NAME(subtract_four)(size_t n, DENSE_REAL *restrict y, const DENSE_REAL *restrict x,
                                            size_t stride, const DENSE_REAL c[4]) {
    const DENSE_REAL *restrict x1 = x + stride, *restrict x2 = x1 + stride, *restrict x3 = x2 + stride;
    DENSE_REAL c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    for (size_t i = 0; i < n; i++) y[i] -= (c0 * x[i] + c1 * x1[i]) + (c2 * x2[i] + c3 * x3[i]);
}

DENSE_INLINE void DENSE_NAME(subtract_one)(size_t n, DENSE_REAL *restrict y, const DENSE_REAL *restrict x,
                                           const DENSE_REAL *c) {
    DENSE_REAL factor = *c;
    for (size_t i = 0; i < n; i++) y[i] -= factor * x[i];
}

/* Subtracts the columns before column j of L from column j of a, whose diagonal entry is then the pivot. */
DENSE_INLINE void DENSE_NAME(cholesky_subtract)(size_t n, size_t j, DENSE_REAL *a) {
    DENSE_REAL *column = a + j + n * j; /* from the diagonal down */
    size_t k = 0;
    for (; k + 4 <= j; k += 4) {
        const DENSE_REAL *l = a + j + n * k;
        DENSE_NAME(subtract_four)(n - j, column, l, n, (DENSE_REAL[4]){l[0], l[n], l[2 * n], l[3 * n]});
    }
    for (; k < j; k++) DENSE_NAME(subtract_one)(n - j, column, a + j + n * k, &a[j + n * k]);
}

/* Completes column j of L. */
DENSE_INLINE void DENSE_NAME(cholesky_divide)(size_t n, size_t j, DENSE_REAL *a) {
    DENSE_REAL *column = a + j + n * j, root = {0};
    DENSE_ROOT(column[0], root);
    column[0] = root;
    for (size_t i = 1; i < n - j; i++) column[i] /= root;
}

/* x := L⁻¹ x */
DENSE_INLINE void DENSE_NAME(forward)(size_t n, const DENSE_REAL *l, DENSE_REAL *x) {
    for (size_t j = 0; j < n; j++) {
        x[j] /= l[j + n * j];
        DENSE_NAME(subtract_one)(n - j - 1, x + j + 1, l + j + 1 + n * j, &x[j]);
    }
}

/* Σ x_i y_i in four partial sums whose order is fixed, the order of dense_dot. */
DENSE_INLINE void DENSE_NAME(dot)(size_t n, const DENSE_REAL *x, const DENSE_REAL *y, DENSE_REAL *out) {
    DENSE_REAL sum[4];
    size_t i = 0;
    for (size_t k = 0; k < 4; k++) sum[k] = (DENSE_REAL){0};
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += x[i + k] * y[i + k];
    for (; i < n; i++) sum[0] += x[i] * y[i];
    *out = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* x := L⁻ᵀ x */
DENSE_INLINE void DENSE_NAME(backward)(size_t n, const DENSE_REAL *l, DENSE_REAL *x) {
    for (size_t j = n; j-- > 0;) {
        DENSE_REAL known;
        DENSE_NAME(dot)(n - j - 1, l + j + 1 + n * j, x + j + 1, &known);
        x[j] = (x[j] - known) / l[j + n * j];
    }
}

#undef DENSE_REAL
#undef DENSE_NAME
#undef DENSE_ROOT
