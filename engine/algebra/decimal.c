/* decimal.c — see decimal.h. */
#include "engine/algebra/decimal.h"

#include "engine/base/text_buffer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Sets *out to the shortest decimal that reads back as the value. Returns the number of digits. */
static size_t shortest(double value, decimal *out) {
    text_buffer text;
    text_buffer_init(&text, DECIMAL_DIGITS);
    text_buffer_number(&text, value);
    size_t length = 0;
    bool fraction = false;
    for (const char *c = text.bytes; c && *c; c++) {
        if (*c == 'e' || *c == 'E') {
            out->exponent += strtol(c + 1, NULL, 10);
            break;
        }
        if (*c == '.')
            fraction = true;
        else if (length + 1 < DECIMAL_DIGITS) {
            out->digits[length++] = *c;
            out->exponent -= fraction;
        }
    }
    text_buffer_free(&text);
    return length;
}

/* Replaces a long decimal by a simple fraction if the value is the double nearest to that fraction. Such a value, for
 * example 1/3, is the result of an earlier constant folding. */
static void find_fraction(double value, decimal *out) {
    enum { DENOMINATORS = 1000 };
    if (fabs(value) > 1e9) return;
    for (int q = 2; q <= DENOMINATORS; q++) {
        double p = nearbyint(value * q);
        if (p == 0 || p / q != value) continue;
        out->above = (long)p;
        out->below = q;
        return;
    }
}

/* A number with more than WRITTEN_DIGITS digits is assumed to be the result of a computation, not a number in the
 * description. */
decimal decimal_of(double value) {
    enum { WRITTEN_DIGITS = 14 };
    decimal out = {.exponent = 0};
    if (shortest(value, &out) > WRITTEN_DIGITS) find_fraction(value, &out);
    return out;
}
