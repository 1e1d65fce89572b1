/* sincos.h — sine and cosine of a double, and of eight doubles in SIMD lanes, with the same bits.
 *
 * Both types use the operations of sincos_template.h, so a member of a sweep has the same digits in a lane as in a
 * separate run. The results differ from those of the library by at most 1 ulp (test_program_vec8.c). Arguments that are
 * too large for the reduction are passed to the library. Programs, tangents, machine code and constant folding use
 * these functions. On a virtual AMD EPYC, random angles up to 30 take 12 ns, and 23 ns with glibc's sincos. Angles
 * below π/4 take 7 and 12 ns. */
#pragma once

#include "engine/base/vec8.h"

#include <math.h>

#define SINCOS_INLINE static inline __attribute__((always_inline))

/* Upper bound of |x| for the reduction. Multiples n of π/2 then have at most 17 bits, so their products with the first
 * two parts of π/2 are exact. The error was measured for 2·10⁶ arguments up to 2^p, some of them next to multiples of
 * π/2. It is 0.79 ulp for p ≤ 15, 0.86 for p = 17, and 1.2 for p = 19. */
static const double SINCOS_REDUCIBLE = 0x1p17;
/* Slightly below π/4. The reduction does not change smaller arguments, so it can be skipped. */
static const double SINCOS_REDUCED = 0.785;

typedef union sincos_cast {
    double number;
    uint64_t bits;
} sincos_cast;

#define SINCOS_REAL double
#define SINCOS_BITS uint64_t
#define SINCOS_NAME(name) scalar_sincos_##name
#define SINCOS_TO_BITS(x) ((sincos_cast){.number = (x)}).bits
#define SINCOS_TO_REAL(b) ((sincos_cast){.bits = (b)}).number
#include "engine/base/sincos_template.h"

#define SINCOS_REAL vec8
#define SINCOS_BITS vec8_bits
#define SINCOS_NAME(name) vec8_sincos_##name
#define SINCOS_TO_BITS(x) ((vec8_bits)(x))
#define SINCOS_TO_REAL(b) ((vec8)(b))
#include "engine/base/sincos_template.h"

SINCOS_INLINE void scalar_sincos(double x, double *sine, double *cosine) {
    const double none = 0;
    if (fabs(x) <= SINCOS_REDUCED)
        scalar_sincos_kernels(&x, &none, sine, cosine);
    else if (fabs(x) <= SINCOS_REDUCIBLE)
        scalar_sincos_within(&x, sine, cosine);
    else
        sincos(x, sine, cosine);
}

static inline double scalar_sin(double x) {
    double sine, cosine;
    scalar_sincos(x, &sine, &cosine);
    return sine;
}

static inline double scalar_cos(double x) {
    double sine, cosine;
    scalar_sincos(x, &sine, &cosine);
    return cosine;
}

/* Replaces the results of arguments that are too large for the reduction. */
__attribute__((noinline, cold, unused)) static void vec8_sincos_library(const vec8 *x, vec8 *sine, vec8 *cosine) {
    for (int k = 0; k < VEC8_SIZE; k++) {
        double s, c;
        if (fabs((*x)[k]) <= SINCOS_REDUCIBLE) continue;
        sincos((*x)[k], &s, &c);
        (*sine)[k] = s;
        (*cosine)[k] = c;
    }
}

/* Computes sin and cos of x; `sine` or `cosine` may equal x. */
VEC8_INLINE void vec8_sincos(const vec8 *x, vec8 *sine, vec8 *cosine) {
    vec8 given = *x, of_sine, of_cosine;
    bool all = true;
    vec8_sincos_within(&given, &of_sine, &of_cosine);
    for (int k = 0; k < VEC8_SIZE; k++) all &= fabs(given[k]) <= SINCOS_REDUCIBLE;
    if (!all) vec8_sincos_library(&given, &of_sine, &of_cosine);
    *sine = of_sine;
    *cosine = of_cosine;
}
