/* fuzz_description.c — passes arbitrary bytes as a description to the reader and derives a model with low limits.
 *
 * Detects crashes, leaks and unlimited work, and checks that the result is a model or an error that can be reported. */
#include "api/json/strict_json.h"
#include "api/read/read_system.h"
#include "api/simulate.h"

#include <stdint.h>
#include <stdlib.h>

enum { MEMORY = 16 * 1024 * 1024, NODES = 20000, SIZE_LIMIT = 64 };

static void derive(const cJSON *tree, const hamel_limits *limits) {
    arena memory;
    arena_init(&memory, 0);
    hamel_error error = {0};
    hamel_description description;
    hamel_status status = api_read_system(&description, tree, false, &memory, &error);
    hamel_model *model = NULL;
    if (status == HAMEL_OK) status = hamel_model_create(&model, &description, limits, NULL, &error);
    if ((status == HAMEL_OK) != (error.status == HAMEL_OK)) abort();
    if ((status == HAMEL_OK) != (model != NULL)) abort();
    if (status != HAMEL_OK) {
        cJSON *problem = api_problem(&error, NULL);
        char *text = api_error_text(&error, "fuzz");
        if (problem == NULL || text == NULL) abort();
        cJSON_Delete(problem);
        free(text);
    }
    hamel_model_free(model);
    hamel_error_clear(&error);
    arena_free(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_limits limits = {.bytes = 64 * 1024, .depth = 32, .nodes = 5000};
    hamel_limits engine = hamel_limits_default();
    engine.memory = MEMORY;
    engine.nodes = NODES;
    engine.coordinates = engine.constraints = engine.outputs = SIZE_LIMIT;
    json_fault fault;
    cJSON *tree = json_parse((const char *)data, size, &limits, &fault);
    if (tree == NULL) return 0;
    derive(tree, &engine);
    cJSON_Delete(tree);
    return 0;
}
