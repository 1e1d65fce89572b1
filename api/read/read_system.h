/* read_system.h — JSON tree to description: every key of the format, every fault reported at once.
 *
 * Checks shapes only (types, required keys, unknown keys with the nearest known one); meaning is the engine's. Texts
 * and lists live in `memory`; the tree may be deleted afterwards. */
#ifndef HAMEL_API_READ_SYSTEM_H
#define HAMEL_API_READ_SYSTEM_H

#include "engine/base/arena.h"
#include "engine/system/description.h"

#include <cjson/cJSON.h>

/* Fills *out. Returns HAMEL_OK, or HAMEL_INVALID with all faults added to `error`. Also sets out->hash
 * (api_hash). */
hamel_status api_read_system(hamel_description *out, const cJSON *tree, arena *memory,
                             hamel_error *error) HAMEL_CHECKED;

/* The same where nothing will be integrated: `simulation` and its `stop` may be absent. */
hamel_status api_read_timeless(hamel_description *out, const cJSON *tree, arena *memory,
                               hamel_error *error) HAMEL_CHECKED;

/* Hexadecimal SHA-256 of the canonical form, in `memory`; NULL without memory. */
const char *api_hash(const cJSON *tree, arena *memory);

/* Applies "NAME=VALUE" (a parameter, COORD.initial or COORD.velocity) or a key of `simulation` ("simulation.rtol=1e-9")
 * to the tree, as `hamel run --set` does. VALUE is a number or an expression. HAMEL_INVALID with a fault otherwise. */
hamel_status api_override(cJSON *tree, const char *assignment, hamel_error *error) HAMEL_CHECKED;

/* "a, b[1,2]" as a list of texts (cJSON_Delete; NULL without memory): commas in the index of a member of a family do
 * not part names. */
cJSON *api_names(const char *text);

#endif
