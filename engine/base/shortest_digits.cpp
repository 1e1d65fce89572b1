/* shortest_digits.cpp — shortest decimal of a double, by std::to_chars. */
#include "engine/base/shortest_digits.h"

#include <charconv>
#include <cmath>
#include <cstring>

int shortest_digits(double value, char *digits, int *exponent) {
    char text[SHORTEST_DIGITS_SPACE + 1]; /* d.ddde±XX or d.ddde±XXX */
    char *end = std::to_chars(text, text + sizeof text, std::fabs(value), std::chars_format::scientific).ptr;
    char *e = end[-4] == 'e' ? end - 4 : end - 5;
    int power = 0;
    for (char *at = e + 2; at < end; at++) power = 10 * power + (*at - '0');
    *exponent = 1 + (e[1] == '-' ? -power : power);
    digits[0] = text[0];
    std::memcpy(digits + 1, text + 2, SHORTEST_DIGITS_SPACE - 1); /* a constant size compiles to two instructions */
    return e - text > 1 ? static_cast<int>(e - text) - 1 : 1;
}
