/* text_buffer.h — growing byte buffer. The maximum size is fixed at creation, so clients cannot make a buffer grow
 * without bound. If an addition exceeds the maximum or memory runs out, the buffer sets `failed` and frees the bytes.
 * The buffer then ignores later calls, so callers check `failed` once at the end. */
#pragma once

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct text_buffer {
    char *bytes; /* NUL-terminated; NULL before the first addition */
    size_t length, capacity, maximum;
    bool failed;
} text_buffer;

void text_buffer_init(text_buffer *b, size_t maximum);
void text_buffer_free(text_buffer *b);
void text_buffer_reset(text_buffer *b); /* empties the buffer and clears `failed`; keeps the memory */
void text_buffer_add(text_buffer *b, const char *bytes, size_t length);
void text_buffer_puts(text_buffer *b, const char *text);

static inline void text_buffer_put(text_buffer *b, char byte) {
    if (b->capacity - b->length < 2) {
        text_buffer_add(b, &byte, 1);
        return;
    }
    b->bytes[b->length++] = byte;
    b->bytes[b->length] = '\0';
}

void text_buffer_printf(text_buffer *b, const char *format, ...) HAMEL_PRINTF(2, 3);

/* Adds the shortest decimal that strtod converts back to the same double (at most 17 significant digits). The text of
 * −0 is "-0". `value` must be finite. */
void text_buffer_number(text_buffer *b, double value);

/* Returns the bytes, which the caller frees, and leaves the buffer empty. Returns NULL if the buffer has failed or is
 * empty. */
char *text_buffer_take(text_buffer *b, size_t *length);
