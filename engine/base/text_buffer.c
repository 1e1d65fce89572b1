/* text_buffer.c — growing byte buffer.
 *
 * Invariants: While bytes is not NULL, length < capacity <= maximum + 1 and bytes[length] is NUL. After a failure,
 * bytes is NULL and all fields except `maximum` and `failed` are 0. */
#include "engine/base/text_buffer.h"

#include "engine/base/shortest_digits.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 64 };

void text_buffer_init(text_buffer *b, size_t maximum) {
    *b = (text_buffer){.maximum = maximum < SIZE_MAX ? maximum : SIZE_MAX - 1};
}

void text_buffer_free(text_buffer *b) {
    free(b->bytes);
    text_buffer_init(b, b->maximum);
}

void text_buffer_reset(text_buffer *b) {
    b->length = 0;
    b->failed = false;
    if (b->bytes != NULL) b->bytes[0] = '\0';
}

static bool fail(text_buffer *b) {
    text_buffer_free(b);
    b->failed = true;
    return false;
}

/* Grows the buffer so that `more` bytes and a NUL fit. */
static bool reserve(text_buffer *b, size_t more) {
    if (b->failed) return false;
    if (more > b->maximum - b->length) return fail(b);
    size_t needed = b->length + more + 1;
    if (needed <= b->capacity) return true;
    size_t capacity = b->capacity < CAPACITY_FIRST ? CAPACITY_FIRST : b->capacity;
    while (capacity < needed && capacity <= b->maximum / 2) capacity *= 2;
    if (capacity < needed || capacity > b->maximum) capacity = b->maximum + 1;
    char *bytes = realloc(b->bytes, capacity);
    if (bytes == NULL) return fail(b);
    b->bytes = bytes;
    b->capacity = capacity;
    assert(b->length + more < b->capacity);
    return true;
}

void text_buffer_add(text_buffer *b, const char *bytes, size_t length) {
    if (!reserve(b, length)) return;
    if (length > 0) memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
    b->bytes[b->length] = '\0';
}

void text_buffer_puts(text_buffer *b, const char *text) {
    text_buffer_add(b, text, strlen(text));
}

void text_buffer_printf(text_buffer *b, const char *format, ...) {
    if (b->failed) return;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof text) {
        text_buffer_add(b, text, (size_t)length);
        return;
    }
    if (length < 0) (void)fail(b);
    if (!reserve(b, (size_t)length)) return;
    va_start(arguments, format);
    vsnprintf(b->bytes + b->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    b->length += (size_t)length;
}

/* NUMBER_SPACE bytes must be free before a number is written. A number has at most 25 bytes, but the digits are copied
 * as a block of DIGITS bytes, which may extend beyond the number. */
enum { NUMBER_SPACE = 64, DIGITS = SHORTEST_DIGITS_MOST };

/* Writes d.dddde±XX with at least two digits in the exponent. Returns the end. */
static char *lay_out_scientific(char *at, const char *digits, int count, int exponent) {
    int power = exponent - 1;
    *at++ = digits[0];
    if (count > 1) {
        *at++ = '.';
        memcpy(at, digits + 1, DIGITS);
        at += count - 1;
    }
    *at++ = 'e';
    *at++ = power < 0 ? '-' : '+';
    if (power < 0) power = -power;
    if (power >= 100) *at++ = (char)('0' + power / 100);
    *at++ = (char)('0' + power / 10 % 10);
    *at++ = (char)('0' + power % 10);
    return at;
}

/* Writes 0.00ddd, dd.dd or dd000. Returns the end. The exponent is between -3 and DIGITS. */
static char *lay_out_fixed(char *at, const char *digits, int count, int exponent) {
    static const char zeros[] = {'0', '.', '0', '0', '0'};
    if (exponent <= 0) {
        memcpy(at, zeros, sizeof zeros);
        at += 2 - exponent;
        memcpy(at, digits, DIGITS);
        return at + count;
    }
    memcpy(at, digits, DIGITS);
    if (exponent < count) {
        at[exponent] = '.';
        memcpy(at + exponent + 1, digits + exponent, DIGITS);
        return at + count + 1;
    }
    memset(at + count, '0', DIGITS);
    return at + exponent;
}

/* Uses the layout of %.15g, %.16g or %.17g, depending on the number of digits. Numbers from 10^-4 to 10^15 are written
 * without an exponent. For numbers with 16 or 17 digits, the upper limit is 10^16 or 10^17. */
void text_buffer_number(text_buffer *b, double value) {
    assert(isfinite(value));
    enum { USUAL = 15 };
    char text[NUMBER_SPACE], digits[SHORTEST_DIGITS_SPACE + DIGITS];
    int exponent, count = shortest_digits(value, digits, &exponent);
    bool fits = b->capacity - b->length > NUMBER_SPACE,
         fixed = exponent > -4 && exponent <= (count > USUAL ? count : USUAL);
    char *start = fits ? b->bytes + b->length : text, *at = start;
    if (signbit(value)) *at++ = '-';
    at = fixed ? lay_out_fixed(at, digits, count, exponent) : lay_out_scientific(at, digits, count, exponent);
    if (!fits) {
        text_buffer_add(b, text, (size_t)(at - text));
        return;
    }
    *at = '\0';
    b->length += (size_t)(at - start);
}

char *text_buffer_take(text_buffer *b, size_t *length) {
    char *bytes = b->bytes;
    if (length != NULL) *length = b->length;
    b->bytes = NULL;
    b->length = b->capacity = 0;
    assert(bytes == NULL || !b->failed);
    return bytes;
}
