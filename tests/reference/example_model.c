/* example_model.c — compilation of an example to a model. */
#include "tests/reference/example_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

hamel_model *example_model(const api_example *example, hamel_jit jit) {
    api_limits limits = api_limits_default();
    limits.jit = jit;
    api_failure failure = {0};
    hamel_model *model = api_prepare(example->json, example->length, NULL, 0, &limits, NULL, example->name, &failure);
    if (!model) fail_msg("%s", failure.text);
    return model;
}
