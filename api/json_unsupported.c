/* json_unsupported.c — what the format has and this release does not serve.
 *
 * Such a key is refused by name, so that nobody takes its silence for a result. Serving one means: remove its line
 * here, and add it to the table of its kind in read_system.c, read_elements.c, read_bodies.c, read_events.c or read_simulation.c. */
#include "api/json_reader.h"

#include <string.h>

/* clang-format off */
static const struct {
    const char *kind, *key;
} unsupported[] = {
    {"method", "erk"},
};
/* clang-format on */

bool json_key_unsupported(const char *kind, const char *key) {
    for (size_t k = 0; k < sizeof unsupported / sizeof unsupported[0]; k++) {
        if (strcmp(unsupported[k].kind, kind) == 0 && strcmp(unsupported[k].key, key) == 0) return true;
    }
    return false;
}
