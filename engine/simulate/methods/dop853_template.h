/* dop853_template.h — a step of DOP853 and its dense output, for one number type.
 *
 * dop853_scalar.h includes the template for one state. dop853_vec8.h includes it for eight states in SIMD lanes, which
 * have separate times and steps. The including file defines these macros, and the template undefines them:
 *
 *     DOP853_STATE               name of the struct, and prefix of the functions
 *     DOP853_REAL                number type
 *     DOP853_BLOCK               number of components summed together, so that compilers vectorize the sum
 *
 * After the inclusion, that file defines DOP853_STATE_sum from DOP853_STATE_sum_body, for one or more register widths,
 * and DOP853_STATE_dense. The order of operations does not depend on the number type, on DOP853_BLOCK, or on the number
 * of sums in one pass. Results are therefore bit-identical on every machine, and for one or eight states. */
#include "engine/simulate/methods/dop853.h"

#include <stdbool.h>
#include <stddef.h>

/* Makes gcc unroll the next loop. The compiler then omits zero coefficients in sums over the stages. With unrolling, a
 * run of one pendulum takes 0.8 times as long, and a run of a rolling disk 0.9 times as long
 * (engine/simulate/README.md). */
#if defined(__GNUC__) && !defined(__clang__)
#define DOP853_UNROLL _Pragma("GCC unroll 16")
#else
#define DOP853_UNROLL
#endif

#define DOP853_JOIN_(a, b) a##b
#define DOP853_JOIN(a, b) DOP853_JOIN_(a, b)
#define DOP853_NAME(suffix) DOP853_JOIN(DOP853_STATE, suffix)

typedef struct DOP853_STATE {
    DOP853_REAL t, h; /* start and length of the step that is tried; a SIMD lane with h = 0 is idle */
    size_t length;
    /* Computes dy[length] at (*t, y). Returns 0 on success. */
    int (*rates)(void *context, const DOP853_REAL *t, const DOP853_REAL *y, DOP853_REAL *dy);
    void *context;
    DOP853_REAL *y, *next; /* states at the start and the end of the step */
    DOP853_REAL *stage;    /* state of the last stage evaluated */
    DOP853_REAL *slopes;   /* DOP853_ALL × length: slope 0 is at y, slope DOP853_STAGES at `next` */
    DOP853_REAL *dense;    /* DOP853_TERMS × length: terms of the continuous extension */
} DOP853_STATE;

/* Assigns the arrays to parts of `memory`, which holds DOP853_VECTORS × length numbers. */
static inline void DOP853_NAME(_init)(DOP853_STATE *d, size_t length, DOP853_REAL *memory) {
    d->length = length;
    d->y = memory;
    d->next = d->y + length;
    d->stage = d->next + length;
    d->slopes = d->stage + length;
    d->dense = d->slopes + DOP853_ALL * length;
}

static inline DOP853_REAL *DOP853_NAME(_slope)(const DOP853_STATE *d, size_t number) {
    return d->slopes + number * d->length;
}

/* Sets the components i to i + width − 1 of `out` to those of from + Σ factor_j k_j, j < used. Slope k_j begins at
 * d->slopes + at[j]. If `from` is NULL, the first term is 0. `width` is a compile-time constant of at most
 * DOP853_BLOCK. */
static inline __attribute__((always_inline)) void DOP853_NAME(_sum_block)(const DOP853_STATE *d, size_t used,
                                                                          const DOP853_REAL *factor, const size_t *at,
                                                                          size_t i, size_t width,
                                                                          const DOP853_REAL *from, DOP853_REAL *out) {
    DOP853_REAL sum[DOP853_BLOCK > DOP853_PAIR ? DOP853_BLOCK : DOP853_PAIR];
    for (size_t e = 0; e < width; e++) sum[e] = (DOP853_REAL){0};
    DOP853_UNROLL
    for (size_t j = 0; j < used; j++)
        for (size_t e = 0; e < width; e++) sum[e] += factor[j] * d->slopes[at[j] + i + e];
    for (size_t e = 0; e < width; e++) out[i + e] = from ? from[i + e] + sum[e] : sum[e];
}

/* Sets `out` to from + h Σ c_j k_j, j < count. If `from` is NULL, the first term is 0. */
static inline __attribute__((always_inline)) void DOP853_NAME(_sum_body)(const DOP853_STATE *d, const DOP853_REAL *h,
                                                                         const double *c, size_t count,
                                                                         const DOP853_REAL *from, DOP853_REAL *out) {
    size_t used = 0, at[DOP853_ALL], i = 0;
    DOP853_REAL factor[DOP853_ALL];
    DOP853_UNROLL
    for (size_t j = 0; j < count; j++) {
        if (c[j] == 0) continue;
        factor[used] = *h * c[j];
        at[used++] = j * d->length;
    }
    for (; i + DOP853_BLOCK <= d->length; i += DOP853_BLOCK)
        DOP853_NAME(_sum_block)(d, used, factor, at, i, DOP853_BLOCK, from, out);
    for (; i + DOP853_PAIR <= d->length; i += DOP853_PAIR)
        DOP853_NAME(_sum_block)(d, used, factor, at, i, DOP853_PAIR, from, out);
    for (; i < d->length; i++) DOP853_NAME(_sum_block)(d, used, factor, at, i, 1, from, out);
}

static inline void DOP853_NAME(_sum)(const DOP853_STATE *d, const DOP853_REAL *h, const double *c, size_t count,
                                     const DOP853_REAL *from, DOP853_REAL *out);

/* Sets the components i to i + width − 1 of each out[r], r < rows, to those of Σ factor[j][r] k_j, j < used. Slope k_j
 * begins at d->slopes + at[j]. */
static inline __attribute__((always_inline)) void DOP853_NAME(_sums_block)(const DOP853_STATE *d, size_t used,
                                                                           DOP853_REAL (*factor)[DOP853_ROWS],
                                                                           const size_t *at, size_t i, size_t width,
                                                                           size_t rows, DOP853_REAL *const *out) {
    DOP853_REAL sum[DOP853_ROWS][DOP853_BLOCK > DOP853_PAIR ? DOP853_BLOCK : DOP853_PAIR];
    for (size_t r = 0; r < rows; r++)
        for (size_t e = 0; e < width; e++) sum[r][e] = (DOP853_REAL){0};
    for (size_t j = 0; j < used; j++)
        for (size_t r = 0; r < rows; r++)
            for (size_t e = 0; e < width; e++) sum[r][e] += factor[j][r] * d->slopes[at[j] + i + e];
    for (size_t r = 0; r < rows; r++)
        for (size_t e = 0; e < width; e++) out[r][i + e] = sum[r][e];
}

/* Sets the arrays out[r], r < rows, to h Σ c[r][j] k_j, j < count, bit-identical to DOP853_STATE_sum. All rows have
 * zeros at the same positions. Each slope is read only once, because memory access limits the speed for long systems.
 * `rows` is a compile-time constant of at most DOP853_ROWS. */
static inline __attribute__((always_inline)) void DOP853_NAME(_sums_body)(const DOP853_STATE *d, const DOP853_REAL *h,
                                                                          const double *const *c, size_t rows,
                                                                          size_t count, DOP853_REAL *const *out) {
    size_t at[DOP853_ALL], used = 0, i = 0;
    DOP853_REAL factor[DOP853_ALL][DOP853_ROWS];
    for (size_t j = 0; j < count; j++) {
        if (c[0][j] == 0) continue;
        for (size_t r = 0; r < rows; r++) factor[used][r] = *h * c[r][j];
        at[used++] = j * d->length;
    }
    for (; i + DOP853_BLOCK <= d->length; i += DOP853_BLOCK)
        DOP853_NAME(_sums_block)(d, used, factor, at, i, DOP853_BLOCK, rows, out);
    for (; i + DOP853_PAIR <= d->length; i += DOP853_PAIR)
        DOP853_NAME(_sums_block)(d, used, factor, at, i, DOP853_PAIR, rows, out);
    for (; i < d->length; i++) DOP853_NAME(_sums_block)(d, used, factor, at, i, 1, rows, out);
}

/* Computes the last terms of the continuous extension, one array of d->length numbers after the other. */
static inline void DOP853_NAME(_dense)(const DOP853_STATE *d, DOP853_REAL *out);

/* Computes the stages of a step from y and the new state in `next`. Slope 0 must be set. Returns the result of
 * `rates`. */
static inline int DOP853_NAME(_try)(DOP853_STATE *d) {
    DOP853_UNROLL
    for (size_t i = 1; i < DOP853_STAGES; i++) {
        DOP853_REAL t = d->t + dop853_c[i] * d->h;
        DOP853_NAME(_sum)(d, &d->h, dop853_a[i], i, d->y, d->stage);
        int flag = d->rates(d->context, &t, d->stage, DOP853_NAME(_slope)(d, i));
        if (flag != 0) return flag;
    }
    DOP853_NAME(_sum)(d, &d->h, dop853_a[DOP853_STAGES], DOP853_STAGES, d->y, d->next);
    return 0;
}

/* Computes the terms of the continuous extension of a step from `start`. The slopes at both ends must already be set.
 * Terms 1 and 2 match states and slopes at both ends, so a projection of `next` keeps the extension continuous. */
static inline int DOP853_NAME(_extend)(DOP853_STATE *d, const DOP853_REAL *start) {
    const DOP853_REAL *first = d->slopes, *last = DOP853_NAME(_slope)(d, DOP853_STAGES);
    size_t length = d->length;
    DOP853_UNROLL
    for (size_t i = DOP853_STAGES + 1; i < DOP853_ALL; i++) {
        DOP853_REAL t = *start + dop853_c[i] * d->h;
        DOP853_NAME(_sum)(d, &d->h, dop853_a[i], i, d->y, d->dense); /* d->dense is scratch here */
        int flag = d->rates(d->context, &t, d->dense, DOP853_NAME(_slope)(d, i));
        if (flag != 0) return flag;
    }
    for (size_t i = 0; i < length; i++) {
        d->dense[i] = d->next[i] - d->y[i];
        d->dense[length + i] = d->h * first[i] - d->dense[i];
        d->dense[2 * length + i] = 2 * d->dense[i] - d->h * (first[i] + last[i]);
    }
    DOP853_NAME(_dense)(d, d->dense + 3 * length);
    return 0;
}

/* Sets out[length] to the state at t + part · h (Hairer, Nørsett & Wanner, II.6, (6.15)). The terms of the continuous
 * extension must already be computed. */
static inline void DOP853_NAME(_interpolate)(const DOP853_STATE *d, const DOP853_REAL *part, DOP853_REAL *out) {
    const DOP853_REAL p = *part, rest = 1 - p;
    size_t length = d->length;
    for (size_t i = 0; i < length; i++) {
        const DOP853_REAL *F = d->dense + i;
        DOP853_REAL sum = F[5 * length] + p * F[6 * length];
        sum = F[3 * length] + p * (F[4 * length] + rest * sum);
        sum = F[length] + p * (F[2 * length] + rest * sum);
        out[i] = d->y[i] + p * (F[0] + rest * sum);
    }
}

#undef DOP853_UNROLL
#undef DOP853_STATE
#undef DOP853_REAL
#undef DOP853_BLOCK
