/* fuzz_json.c — passes arbitrary bytes to the JSON reader. If the reader accepts a document, it must also accept the
 * canonical form, and canonicalizing this form again must not change it. A rejection must have a reason and a
 * position. */
#include "api/json/strict_json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const json_limits limits = {.bytes = 64 * 1024, .depth = 32, .nodes = 5000};
    json_limits wide = limits;
    wide.bytes *= 8; /* the canonical form may contain longer escape sequences */
    json_fault fault;
    cJSON *tree = json_parse((const char *)data, size, &limits, &fault);
    if (tree == NULL) {
        if (fault.message[0] == '\0' || fault.line == 0 || fault.column == 0 || fault.no_memory) abort();
        return 0;
    }
    char *once = json_canonical(tree);
    if (once == NULL) abort();
    cJSON *again = json_parse(once, strlen(once), &wide, &fault);
    char *twice = json_canonical(again);
    if (twice == NULL || strcmp(once, twice) != 0) abort();
    cJSON_Delete(again);
    cJSON_Delete(tree);
    free(once);
    free(twice);
    return 0;
}
