/* test_schema.c — api/system.schema.json and the tables of the reader have the same keys, and the option `form` in
 * api/openapi.json accepts the names in hamel_forms. Run this program from the root of the repository. */
#include "api/json/strict_json.h"
#include "api/read/read_parts.h"
#include "api/sweep/sweep.h"
#include "engine/equations/equations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static cJSON *load_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    static char text[256 * 1024];
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *tree = json_parse(text, length, &limits, &fault);
    if (tree == NULL) print_message("line %zu: %s\n", fault.line, fault.message);
    return tree;
}

static int load(void **state) {
    *state = load_file("api/system.schema.json");
    return *state != NULL ? 0 : -1;
}

static int unload(void **state) {
    cJSON_Delete(*state);
    return 0;
}

static const struct {
    const char *definition;
    const json_kind *kind;
} pairs[] = {
    {"system", &system_kind},
    {"parameter", &parameter_kind},
    {"table", &table_kind},
    {"coordinate", &coordinate_kind},
    {"quasi_velocity", &quasi_velocity_kind},
    {"definition", &definition_kind},
    {"named", &named_kind},
    {"framed_position", &framed_position_kind},
    {"euler", &euler_kind},
    {"orientation", &orientation_kind},
    {"particle", &particle_kind},
    {"body", &body_kind},
    {"point", &point_kind},
    {"frame", &frame_kind},
    {"spring", &spring_kind},
    {"damper", &damper_kind},
    {"load", &load_kind},
    {"joint", &joint_kind},
    {"constraint", &constraint_kind},
    {"friction", &friction_kind},
    {"friction_couples", &friction_couples_kind},
    {"reaction_direction", &direction_kind},
    {"event", &event_kind},
    {"impulse", &impulse_kind},
    {"percussion", &percussion_kind},
    {"invariant", &invariant_kind},
    {"check", &check_kind},
    {"simulation", &simulation_kind},
    {"projection", &projection_kind},
    {"shape", &shape_kind},
    {"circle", &circle_kind},
    {"disk", &disk_kind},
    {"box", &box_kind},
    {"sweep", &sweep_kind},
    {"sweep_range", &sweep_range_kind},
    {"sweep_collected", &sweep_collect_kind},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static const cJSON *definition_of(const cJSON *schema, size_t pair) {
    const cJSON *d = cJSON_GetObjectItem(cJSON_GetObjectItem(schema, "$defs"), pairs[pair].definition);
    if (d == NULL) fail_msg("the schema has no %s", pairs[pair].definition);
    return d;
}

static bool holds(const cJSON *list, const char *text) {
    for (const cJSON *c = list != NULL ? list->child : NULL; c != NULL; c = c->next) {
        if (strcmp(c->valuestring, text) == 0) return true;
    }
    return false;
}

static void the_schema_has_every_key_of_the_reader(void **state) {
    for (size_t k = 0; k < PAIRS; k++) {
        const cJSON *d = definition_of(*state, k);
        const cJSON *properties = cJSON_GetObjectItem(d, "properties");
        for (size_t i = 0; i < pairs[k].kind->count; i++) {
            const json_key *key = &pairs[k].kind->keys[i];
            if (cJSON_GetObjectItemCaseSensitive(properties, key->name) == NULL) {
                fail_msg("%s.%s is missing in the schema", pairs[k].definition, key->name);
            }
            if (holds(cJSON_GetObjectItem(d, "required"), key->name) != key->required) {
                fail_msg("%s.%s is required by only one of the schema and the reader", pairs[k].definition, key->name);
            }
        }
    }
}

static void the_reader_has_every_key_of_the_schema(void **state) {
    for (size_t k = 0; k < PAIRS; k++) {
        const cJSON *d = definition_of(*state, k);
        const cJSON *properties = cJSON_GetObjectItem(d, "properties");
        assert_true(cJSON_IsFalse(cJSON_GetObjectItem(d, "additionalProperties")));
        assert_int_equal(json_child_count(properties), pairs[k].kind->count);
    }
}

static void the_openapi_description_lists_every_form_of_the_equations(void **state) {
    (void)state;
    cJSON *openapi = load_file("api/openapi.json");
    static const char *const keys[] = {
        "paths",  "/v1/analyses", "post",    "requestBody", "content",   "application/json",
        "schema", "properties",   "options", "properties",  "equations", "properties",
        "form",   "enum"};
    const cJSON *forms = openapi;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) forms = cJSON_GetObjectItem(forms, keys[k]);
    assert_int_equal(json_child_count(forms), HAMEL_FORM_COUNT);
    for (int k = 0; k < HAMEL_FORM_COUNT; k++)
        assert_string_equal(cJSON_GetArrayItem(forms, k)->valuestring, hamel_forms[k].name);
    cJSON_Delete(openapi);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_has_every_key_of_the_reader),
        cmocka_unit_test(the_reader_has_every_key_of_the_schema),
        cmocka_unit_test(the_openapi_description_lists_every_form_of_the_equations),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
