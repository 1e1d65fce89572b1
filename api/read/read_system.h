/* read_system.h — reads a description from a JSON tree and reports all errors together.
 *
 * The reader checks only the structure: types, required keys, unknown keys. The engine checks everything else. Strings
 * and lists are copied to `memory`; the tree may be deleted afterwards. */
#pragma once

#include "engine/base/arena.h"
#include "engine/system/description.h"

#include <cjson/cJSON.h>

/* Fills *out and its hash (api_hash). Set `timeless` if the description will not be integrated; `simulation` and its
 * `stop` may then be absent. Returns HAMEL_OK, or HAMEL_INVALID with all errors added to `error`. */
hamel_status api_read_system(hamel_description *out, const cJSON *tree, bool timeless, arena *memory,
                             hamel_error *error) HAMEL_CHECKED;

/* Returns the SHA-256 of the tree's canonical form as hexadecimal digits, allocated in `memory`, or NULL if memory
 * could not be allocated. */
const char *api_hash(const cJSON *tree, arena *memory);

/* Applies "NAME=VALUE" to the tree, as `hamel run --set` does. NAME is a parameter, COORD.initial, COORD.velocity, or a
 * key of `simulation` ("simulation.rtol=1e-9"). VALUE is a number or an expression. Returns HAMEL_INVALID for any other
 * assignment. */
hamel_status api_override(cJSON *tree, const char *assignment, hamel_error *error) HAMEL_CHECKED;

/* Splits "a, b[1,2]" at commas outside brackets into a JSON list of strings (cJSON_Delete). Returns NULL if memory
 * could not be allocated. */
cJSON *api_names(const char *text);
