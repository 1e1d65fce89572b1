/* json_text.h — JSON values to compact text, with numbers that read back to the same double.
 *
 * cJSON's own printer recurses and spends 17 digits where fewer do; results are read by people too. */
#ifndef HAMEL_API_JSON_TEXT_H
#define HAMEL_API_JSON_TEXT_H

#include "engine/base/text_buffer.h"

#include <cjson/cJSON.h>

/* Adds `text` in quotes, escaped; UTF-8 stays as it is. */
void json_text_string(text_buffer *out, const char *text);

/* Adds the number, or null when it is infinite or not a number (JSON has no such values). */
void json_text_number(text_buffer *out, double value);

/* The tree on one line, members in their order. free() it; NULL without memory, or when `tree` is NULL. */
char *json_text(const cJSON *tree);

#endif
