/* text_buffer.c — the growing byte buffer.
 *
 * Invariants: length < capacity <= maximum + 1 while bytes is not NULL, and bytes[length] is NUL; after a failure bytes
 * is NULL and everything is 0 but `maximum` and `failed`. */
#include "engine/base/text_buffer.h"

#include <assert.h>
#include <float.h>
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

static void drop_bytes(text_buffer *b) {
    free(b->bytes);
    b->bytes = NULL;
    b->length = b->capacity = 0;
}

void text_buffer_free(text_buffer *b) {
    drop_bytes(b);
    b->failed = false;
}

void text_buffer_reset(text_buffer *b) {
    b->length = 0;
    b->failed = false;
    if (b->bytes != NULL) b->bytes[0] = '\0';
}

static void fail(text_buffer *b) {
    drop_bytes(b);
    b->failed = true;
}

/* Makes room for `more` bytes and a NUL. */
static bool reserve(text_buffer *b, size_t more) {
    if (b->failed) return false;
    if (more > b->maximum - b->length) {
        fail(b);
        return false;
    }
    size_t needed = b->length + more + 1;
    if (needed <= b->capacity) return true;
    size_t capacity = b->capacity < CAPACITY_FIRST ? CAPACITY_FIRST : b->capacity;
    while (capacity < needed && capacity <= b->maximum / 2) capacity *= 2;
    if (capacity < needed || capacity > b->maximum) capacity = b->maximum + 1;
    char *bytes = realloc(b->bytes, capacity);
    if (bytes == NULL) {
        fail(b);
        return false;
    }
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
    if (length < 0) {
        fail(b);
        return;
    }
    if ((size_t)length < sizeof text) {
        text_buffer_add(b, text, (size_t)length);
        return;
    }
    if (!reserve(b, (size_t)length)) return;
    va_start(arguments, format);
    vsnprintf(b->bytes + b->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    b->length += (size_t)length;
}

/* Any double that 15 digits can tell has them in %.15g; beyond the normal range fewer digits may do, so the search
 * starts at one there. The C locale is never changed in this program, so the separator is a point. */
void text_buffer_number(text_buffer *b, double value) {
    assert(isfinite(value));
    char text[40];
    int length = 0;
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        length = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    text_buffer_add(b, text, (size_t)length);
}

char *text_buffer_take(text_buffer *b, size_t *length) {
    char *bytes = b->bytes;
    if (length != NULL) *length = b->length;
    b->bytes = NULL;
    b->length = b->capacity = 0;
    return bytes;
}
