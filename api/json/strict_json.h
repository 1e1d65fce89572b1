/* strict_json.h — parses JSON text that users and other programs have written. json_parse accepts RFC 8259 with a few
 * restrictions.
 *
 * cJSON accepts leading zeros, raw control characters, invalid UTF-8, duplicate keys, trailing text and 1e999. cJSON
 * also ends a string at the first NUL. Therefore json_parse first scans the text, and rejects texts with these defects
 * and texts that exceed a limit. Errors have line and column. Then cJSON builds the tree. The scan keeps an explicit
 * stack and does not recurse. */
#pragma once

#include "engine/base/error.h"

#include <cjson/cJSON.h>

typedef struct json_limits {
    size_t bytes, depth, nodes;
} json_limits;

/* Returns 16 MiB, 64 levels and 1,000,000 values. The largest example has less than 1/2,000 of these bytes and values,
 * and 1/9 of these levels. cJSON stores each value in 64 bytes, so the values take at most 64 MB. */
json_limits json_limits_default(void);

typedef struct json_fault {
    size_t line, column; /* line and column from 1; `column` counts code points */
    char message[200];
    bool too_large; /* the text exceeds a limit; it may be well-formed */
    bool no_memory; /* memory ran out; the text may be well-formed */
} json_fault;

/* Parses text[length], which need not be NUL-terminated, within `limits` (NULL: the defaults). Returns the tree, to be
 * deleted by cJSON_Delete, or NULL with `*fault` filled. `fault` may be NULL. */
cJSON *json_parse(const char *text, size_t length, const json_limits *limits, json_fault *fault);

/* Parses text written by hamel, such as stored jobs, without the scan and without limits. Returns NULL if the text is
 * NULL or damaged, or if memory could not be allocated. */
cJSON *json_parse_trusted(const char *text);

/* Returns true if text[length] is a JSON number that json_parse accepts, without white space. */
bool json_is_number(const char *text, size_t length);

/* Return a member of an object, its string, its number, or the first item of its list. If the object is NULL, or the
 * member does not exist or has another type, return NULL, "", 0 and NULL respectively. */
cJSON *json_at(const cJSON *object, const char *key);
const char *json_text_at(const cJSON *object, const char *key);
double json_number_at(const cJSON *object, const char *key);
const cJSON *json_first_at(const cJSON *object, const char *key);

/* Writes the tree in canonical form, for hashing and caching: keys sorted by bytes, no white space, shortest numbers.
 * The caller frees the text. Returns NULL if memory could not be allocated. */
char *json_canonical(const cJSON *tree);
