/* strict_json.h — JSON as RFC 8259 says and a little stricter, in front of cJSON.
 *
 * cJSON accepts leading zeros, raw control characters, invalid UTF-8, duplicate keys, trailing text and 1e999, and cuts
 * strings at NUL. A scan of our own rejects all that first, with line and column, within the budgets; only then cJSON
 * builds the tree. The scan keeps an explicit stack; nothing recurses. */
#ifndef HAMEL_API_STRICT_JSON_H
#define HAMEL_API_STRICT_JSON_H

#include "engine/base/error.h"

#include <cjson/cJSON.h>

typedef struct json_limits {
    size_t bytes, depth, nodes;
} json_limits;
json_limits json_limits_default(void); /* 16 MiB, 64 deep, 1,000,000 nodes */

typedef struct json_fault {
    size_t line, column; /* 1-based; column in code points */
    char message[200];
    bool too_large; /* a budget was exceeded, rather than the grammar */
    bool no_memory; /* nothing is wrong with the text */
} json_fault;

/* Parses text[length] (need not be NUL-terminated). Returns the tree (cJSON_Delete) or NULL with *fault filled. */
cJSON *json_parse(const char *text, size_t length, const json_limits *limits, json_fault *fault);

/* The document in canonical form: keys sorted by bytes, no white space, shortest numbers. For hashing and caching.
 * free() it; NULL without memory. */
char *json_canonical(const cJSON *tree);

#endif
