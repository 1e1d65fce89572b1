/* text_buffer.h — the one growing byte buffer. Its maximum is named when it is made, so nothing grows on a client's
 * say-so. Adding beyond the maximum, or without memory, sets `failed`, frees the bytes and makes every later call a
 * no-op: check `failed` once, at the end. */
#ifndef HAMEL_BASE_TEXT_BUFFER_H
#define HAMEL_BASE_TEXT_BUFFER_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct text_buffer {
    char *bytes; /* NUL-terminated once something was added, else NULL */
    size_t length, capacity, maximum;
    bool failed;
} text_buffer;

void text_buffer_init(text_buffer *b, size_t maximum);
void text_buffer_free(text_buffer *b);
void text_buffer_reset(text_buffer *b); /* keeps the memory, forgets the bytes and `failed` */
void text_buffer_add(text_buffer *b, const char *bytes, size_t length);
void text_buffer_puts(text_buffer *b, const char *text);
void text_buffer_printf(text_buffer *b, const char *format, ...) HAMEL_PRINTF(2, 3);

/* The shortest decimal text that reads back to the same double (17 significant digits at most), "0" for -0 kept
 * as "-0"; `value` must be finite. */
void text_buffer_number(text_buffer *b, double value);

/* Hands the bytes over (free() them) and leaves the buffer empty; NULL when it failed or is empty. */
char *text_buffer_take(text_buffer *b, size_t *length);

#endif
