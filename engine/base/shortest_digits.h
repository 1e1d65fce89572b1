/* shortest_digits.h — converts a double to the shortest decimal that strtod converts back to it. Uses std::to_chars of
 * libstdc++ (Ryu: Adams, PLDI 2018). The engine uses C++ only here, because trying 15, 16 and 17 digits with printf and
 * strtod takes fifteen times as long. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { SHORTEST_DIGITS_MOST = 17, SHORTEST_DIGITS_SPACE = 32 };

/* Writes the digits of |value| = 0.d₁d₂d₃… · 10^(*exponent) to digits[SHORTEST_DIGITS_SPACE], without a NUL. Returns
 * the number of digits, at most SHORTEST_DIGITS_MOST. The other bytes of the array are unspecified. d₁ ≠ 0, except that
 * 0 has the digit "0" and the exponent 1. `value` must be finite. */
int shortest_digits(double value, char *digits, int *exponent);

#ifdef __cplusplus
}
#endif
