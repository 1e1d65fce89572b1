/* octet.h — one number of eight members of an ensemble, side by side in vector registers.
 *
 * Operations act on each of the eight alone and round as scalar ones do, without fused products, so what a member gets
 * depends neither on its neighbours nor on the width of the registers. Arrays of octets are aligned: octets_alloc. */
#ifndef HAMEL_COMPILE_OCTET_H
#define HAMEL_COMPILE_OCTET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OCTET = 8 };
typedef double octet __attribute__((vector_size(OCTET * sizeof(double))));
typedef int64_t octet_bits __attribute__((vector_size(OCTET * sizeof(int64_t))));

/* Zeros; free() them. NULL without memory. */
octet *octets_alloc(size_t count);

/* Functions of octets must be inlined into code for one width: the address of one, and not its value, is passed. */
#define OCTET_INLINE static inline __attribute__((always_inline))

/* Whether this processor has registers that hold an octet. */
static inline bool octet_fits_register(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

/* Defines `static type name parameters` as name_body, compiled once more for registers of 512 bits, and chosen when it is
 * called. Not for 256: gcc 12 breaks octets up so that they take longer than with 128. */
#if defined(__x86_64__)
#define OCTET_FUNCTION(type, name, parameters, arguments)                  \
    __attribute__((target("avx512f"))) static type name##_512 parameters { \
        return name##_body arguments;                                      \
    }                                                                      \
    static type name parameters {                                          \
        if (octet_fits_register()) return name##_512 arguments;            \
        return name##_body arguments;                                      \
    }
#else
#define OCTET_FUNCTION(type, name, parameters, arguments) \
    static type name parameters {                         \
        return name##_body arguments;                     \
    }
#endif

#endif
