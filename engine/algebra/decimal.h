/* decimal.h — converts doubles to exact decimals or fractions. The double 0.1 becomes one tenth, and the double nearest
 * to 1/3 becomes 1/3. */
#pragma once

enum { DECIMAL_DIGITS = 64 };

/* The value digits · 10^exponent, or above/below if `below` is not 0. */
typedef struct decimal {
    char digits[DECIMAL_DIGITS]; /* may begin with '-' */
    long exponent;
    long above, below;
} decimal;

decimal decimal_of(double value);
