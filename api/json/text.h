/* text.h — writes JSON as compact text. Each number reads back to the same double.
 *
 * cJSON's printer is not used, because it recurses, and writes 17 digits where fewer suffice. */
#pragma once

#include "engine/base/text_buffer.h"

#include <cjson/cJSON.h>

/* Adds `text` in quotes, escaped; UTF-8 is copied. */
void json_text_string(text_buffer *out, const char *text);

/* Adds the number, or null if it is not finite, because JSON has no such numbers. */
void json_text_number(text_buffer *out, double value);

/* Adds `count` numbers, separated by commas. */
void json_text_numbers(text_buffer *out, const double *values, size_t count);

/* Returns the tree as text on one line, with members in their order. The caller frees the text. Returns NULL if `tree`
 * is NULL or memory could not be allocated. */
char *json_text(const cJSON *tree);

/* Writes the SHA-256 of the bytes as 64 lower-case hexadecimal digits and a NUL. */
enum { DIGEST_HEX = 64 };
void api_digest(const char *bytes, size_t length, char hex[DIGEST_HEX + 1]);
