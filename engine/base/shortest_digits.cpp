/* shortest_digits.cpp — see shortest_digits.h. */
#include "engine/base/shortest_digits.h"

#include <charconv>
#include <cmath>

int shortest_digits(double value, char *digits, int *exponent) {
    char text[40]; /* d.ddde+XXX */
    char *end = std::to_chars(text, text + sizeof text, std::fabs(value), std::chars_format::scientific).ptr;
    int count = 0, power = 0;
    char *at = text;
    for (; *at != 'e'; at++)
        if (*at != '.') digits[count++] = *at;
    bool negative = at[1] == '-';
    for (at += 2; at < end; at++) power = 10 * power + (*at - '0');
    *exponent = 1 + (negative ? -power : power);
    return count;
}
