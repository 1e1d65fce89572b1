/* larger.h — the maximum of two numbers, inline. */
#pragma once

/* Returns what fmax returns, except for the sign of a zero. Compilers call the library for fmax, because fmax ignores
 * NaN. In loops over coordinates, these calls take as long as the rest of the loop. */
static inline double larger(double a, double b) {
    return a > b || b != b ? a : b;
}
