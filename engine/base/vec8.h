/* vec8.h — eight doubles in SIMD lanes, one for each of eight members of a sweep.
 *
 * Operations act on each lane separately and round as scalar operations do. A product is never fused with a sum. The
 * result of a member therefore depends neither on other members nor on the width of the registers. Arrays of vec8
 * values must be aligned; vec8_alloc allocates aligned arrays. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VEC8_SIZE = 8 };
typedef double vec8 __attribute__((vector_size(VEC8_SIZE * sizeof(double))));
typedef uint64_t vec8_bits __attribute__((vector_size(VEC8_SIZE * sizeof(uint64_t))));

/* Allocates an array of zeros, which the caller passes to free(). Returns NULL if out of memory. */
static inline vec8 *vec8_alloc(size_t count) {
    if (count > SIZE_MAX / sizeof(vec8) - 1) return NULL;
    vec8 *x = aligned_alloc(sizeof *x, (count + 1) * sizeof *x);
    if (x) memset(x, 0, (count + 1) * sizeof *x);
    return x;
}

/* A function with vec8 arguments or results must be inlined, because its calling convention depends on the width of the
 * registers. */
#define VEC8_INLINE static inline __attribute__((always_inline))

/* Returns true if the processor has 512-bit registers. */
static inline bool vec8_fits_register(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

/* Defines `static type name parameters` as name_body, compiled for the baseline and for 512-bit registers. Each call
 * selects one version. There is no version for 256 bits, because gcc 12 compiles it to slower code than the version for
 * 128 bits. */
#if defined(__x86_64__)
#define VEC8_FUNCTION(type, name, parameters, arguments)                   \
    __attribute__((target("avx512f"))) static type name##_512 parameters { \
        return name##_body arguments;                                      \
    }                                                                      \
    static type name parameters {                                          \
        if (vec8_fits_register()) return name##_512 arguments;             \
        return name##_body arguments;                                      \
    }
#else
#define VEC8_FUNCTION(type, name, parameters, arguments) \
    static type name parameters {                        \
        return name##_body arguments;                    \
    }
#endif

/* Sets *out, in each lane, to *x where the bits of `which` are set, and to *y elsewhere. All bits of a lane must be
 * equal. */
VEC8_INLINE void vec8_choose(const vec8_bits *which, const vec8 *x, const vec8 *y, vec8 *out) {
    *out = (vec8)(((vec8_bits)*x & *which) | ((vec8_bits)*y & ~*which));
}

/* Clears the lanes of *good in which an entry of x[n] is not finite. */
VEC8_INLINE void vec8_require_finite_body(const vec8 *x, size_t n, vec8_bits *good) {
    vec8 sum = {0};
    for (size_t i = 0; i < n; i++) sum += 0 * x[i];
    *good &= (vec8_bits)(sum == 0);
}
VEC8_FUNCTION(inline void, vec8_require_finite, (const vec8 *x, size_t n, vec8_bits *good), (x, n, good))
