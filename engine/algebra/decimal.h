/* decimal.h — numbers as they were written: 0.1 is one tenth, 0.333… to the last digit is one third. */
#ifndef HAMEL_ALGEBRA_DECIMAL_H
#define HAMEL_ALGEBRA_DECIMAL_H

enum { DECIMAL_DIGITS = 64 };

/* digits · 10^exponent; or above/below, where `below` is not 0. */
typedef struct decimal {
    char digits[DECIMAL_DIGITS]; /* may begin with '-' */
    long exponent;
    long above, below;
} decimal;

decimal decimal_of(double value);

#endif
