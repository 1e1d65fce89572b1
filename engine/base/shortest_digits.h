/* shortest_digits.h — the fewest decimal digits that read back to a double, by libstdc++ (std::to_chars, Ryu: Adams, PLDI
 * 2018). The only C++ of the engine: printing and reading with 15, 16 and 17 digits costs fifteen times as much. */
#ifndef HAMEL_BASE_SHORTEST_DIGITS_H
#define HAMEL_BASE_SHORTEST_DIGITS_H

#ifdef __cplusplus
extern "C" {
#endif

enum { SHORTEST_DIGITS_MOST = 17 };

/* |value| = 0.d₁d₂d₃… · 10^exponent, d₁ ≠ 0 unless the value is 0, which has the digit "0" and the exponent 1. Writes the
 * digits to digits[SHORTEST_DIGITS_MOST], without a NUL, and returns their number. `value` is finite. */
int shortest_digits(double value, char *digits, int *exponent);

#ifdef __cplusplus
}
#endif

#endif
