/* test_conserved.c — every quantity that an analysis reports as conserved is constant in the motion of the example.
 *
 * Impulses may change these quantities, so examples with events are omitted. Examples with sweeps are also omitted. Each test has the name of its example. */
#include "api/analyze.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Largest permitted drift of a quantity, as in invariants. The relative tolerance of the integration is 1e-9. Errors
 * accumulate over hundreds of steps, so the drift may be 1000 times this tolerance. Quantities that are not conserved
 * change by a noticeable part of their size. */
static const double DRIFT = 1e-6;

typedef struct outcome {
    double drift;
    bool completed;
    char quantity[200];
} outcome;

static bool on_summary(void *context, const char *json, const hamel_summary *s) {
    (void)json;
    outcome *o = context;
    o->completed = s->outcome == HAMEL_COMPLETED;
    for (size_t i = 0; i < s->invariant_count; i++) {
        if (s->invariants[i].max_drift <= o->drift) continue;
        o->drift = s->invariants[i].max_drift;
        snprintf(o->quantity, sizeof o->quantity, "%s", s->invariants[i].name);
    }
    return true;
}

/* Returns the description of the example as JSON, with one invariant for each quantity in `conserved` and without checks.
 * The caller frees it. */
static char *with_invariants(const api_example *example, const cJSON *conserved) {
    cJSON *root = cJSON_ParseWithLength(example->json, example->length), *list = cJSON_CreateArray();
    const cJSON *item;
    cJSON_ArrayForEach(item, conserved) {
        cJSON *invariant = cJSON_CreateObject();
        cJSON_AddStringToObject(invariant, "name", item->valuestring);
        cJSON_AddStringToObject(invariant, "expression", item->valuestring);
        cJSON_AddNumberToObject(invariant, "tolerance", DRIFT);
        cJSON_AddItemToArray(list, invariant);
    }
    cJSON_DeleteItemFromObject(root, "invariants");
    cJSON_DeleteItemFromObject(root, "checks");
    cJSON_AddItemToObject(root, "invariants", list);
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    assert_non_null(text);
    return text;
}

static void run(const char *text, const char *name, outcome *o) {
    static const char *const assignments[] = {"simulation.rtol=1e-9", "simulation.atol=1e-11"};
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    hamel_model *model = api_prepare(text, strlen(text), assignments, 2, &limits, NULL, name, &failure);
    if (!model) fail_msg("%s", failure.text);
    api_observer observer = {.context = o, .summary = on_summary};
    assert_int_equal(api_run(model, NULL, &observer, name), HAMEL_OK);
    hamel_model_free(model);
    api_failure_clear(&failure);
}

static void quantities_reported_as_conserved_are_constant(void **state) {
    const api_example *example = *state;
    const api_analysis_options asked = {.analyses = API_STRUCTURE};
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    outcome o = {0};
    cJSON *answer =
        api_analyze(example->json, example->length, NULL, 0, &asked, &limits, NULL, example->name, &failure);
    if (!answer) fail_msg("%s", failure.text);
    char *text = with_invariants(example, cJSON_GetObjectItemCaseSensitive(answer, "conserved"));
    run(text, example->name, &o);
    free(text);
    cJSON_Delete(answer);
    api_failure_clear(&failure);
    assert_true(o.completed);
    if (!(o.drift <= DRIFT)) fail_msg("%s: drift %.2e", o.quantity, o.drift);
}

int main(void) {
    enum { MOST = 400 };
    static struct CMUnitTest tests[MOST];
    size_t count = 0;
    const api_example *e;
    for (size_t i = 0; (e = api_example_at(i)) != NULL; i++) {
        if (strstr(e->json, "\"events\"") || strstr(e->json, "\"sweep\"") || count == MOST) continue;
        tests[count++] = (struct CMUnitTest){.name = e->name,
                                             .test_func = quantities_reported_as_conserved_are_constant,
                                             .initial_state = (void *)(uintptr_t)e};
    }
    return _cmocka_run_group_tests("conserved quantities", tests, count, NULL, NULL);
}
