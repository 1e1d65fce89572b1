/* test_integrability.c — what the books say of constraints as such, whatever moves under them: can they be integrated?
 *
 * integrability.json holds coordinates, with the configuration near which is judged, and constraints. `growth` are the
 * dimensions of the allowed directions and of what their brackets of increasing depth add, with time as a coordinate
 * where `with_time`: computed by a program that differentiates symbolically and shares nothing with this one. It begins
 * with the degrees of freedom and ends with what can be reached, so that the three counts that an analysis gives must
 * fit it. The growth that an analysis finds is the same. `integrals` are those known, as an analysis writes them; it must find no more than there are. */
#include "api/analyze.h"
#include "api/strict_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 200 };

static const cJSON *member(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (item == NULL) fail_msg("no %s", key);
    return item;
}

static cJSON *read_cases(void) {
    static char text[1 << 17];
    FILE *file = fopen("tests/reference/integrability.json", "rb");
    if (file == NULL) return NULL;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return cJSON_ParseWithLength(text, length);
}

/* Unit masses everywhere: constraints are judged without regard to what moves. */
static char *description_of(const cJSON *c) {
    cJSON *d = cJSON_CreateObject(), *coordinates = cJSON_AddArrayToObject(d, "coordinates");
    cJSON *energies = cJSON_AddArrayToObject(d, "kinetic_energy");
    cJSON *constraints = cJSON_AddArrayToObject(d, "constraints");
    cJSON *simulation = cJSON_AddObjectToObject(d, "simulation");
    cJSON *definitions = cJSON_GetObjectItemCaseSensitive(c, "definitions");
    const cJSON *item;
    char text[80];
    cJSON_AddNumberToObject(d, "hamel", 1);
    cJSON_AddNumberToObject(simulation, "stop", 1);
    cJSON_AddStringToObject(simulation, "initialization", "project");
    if (definitions != NULL) cJSON_AddItemReferenceToObject(d, "definitions", definitions);
    cJSON_ArrayForEach(item, member(c, "coordinates")) {
        cJSON *coordinate = cJSON_CreateObject();
        cJSON_AddStringToObject(coordinate, "name", item->string);
        cJSON_AddNumberToObject(coordinate, "initial", item->valuedouble);
        cJSON_AddItemToArray(coordinates, coordinate);
        snprintf(text, sizeof text, "%s'^2/2", item->string);
        cJSON_AddItemToArray(energies, cJSON_CreateString(text));
    }
    cJSON_ArrayForEach(item, member(c, "constraints")) {
        cJSON *constraint = cJSON_CreateObject();
        snprintf(text, sizeof text, "c%d", cJSON_GetArraySize(constraints) + 1);
        cJSON_AddStringToObject(constraint, "name", text);
        cJSON_AddStringToObject(constraint, "equation", item->valuestring);
        cJSON_AddItemToArray(constraints, constraint);
    }
    char *json = cJSON_PrintUnformatted(d);
    cJSON_Delete(d);
    return json;
}

static void expect_number(const cJSON *found, const cJSON *wanted, const char *key) {
    assert_int_equal((int)member(found, key)->valuedouble, (int)member(wanted, key)->valuedouble);
}

/* As they are printed, in any order; nothing is expected where the file says nothing. */
static void expect_integrals(const cJSON *found, const cJSON *wanted) {
    const cJSON *item, *other;
    cJSON_ArrayForEach(item, wanted) {
        bool known = false;
        cJSON_ArrayForEach(other, found) known |=
            strcmp(member(other, "integral")->valuestring, item->valuestring) == 0;
        if (!known) fail_msg("no integral %s", item->valuestring);
    }
    if (wanted != NULL) assert_int_equal(cJSON_GetArraySize(found), cJSON_GetArraySize(wanted));
}

/* Growth is the file's; the derived systems annihilate the first and the last directions, and those of the second step. */
static void expect_flags(const cJSON *found, const cJSON *wanted, int time) {
    const cJSON *growth = member(found, "growth"), *derived = member(found, "derived_flag");
    int steps = cJSON_GetArraySize(wanted), systems = cJSON_GetArraySize(derived);
    assert_true(cJSON_Compare(growth, wanted, true));
    assert_int_equal(cJSON_IsTrue(member(found, "with_time")), time);
    assert_int_equal((int)member(found, "degree")->valuedouble, steps);
    int all = (int)(cJSON_GetArrayItem(growth, 0)->valuedouble + cJSON_GetArrayItem(derived, 0)->valuedouble);
    for (int k = 0; k < systems; k++) {
        int step = k == systems - 1 ? steps - 1 : k, left = (int)cJSON_GetArrayItem(derived, k)->valuedouble;
        if (k > 2 && k < systems - 1) continue;
        assert_int_equal(left, all - (int)cJSON_GetArrayItem(growth, step)->valuedouble);
    }
    double missed = member(found, "error_probability")->valuedouble;
    assert_true(cJSON_IsTrue(member(found, "exact")) ? missed == 0 : missed > 0 && missed < 1e-6);
}

static void has_the_verdict_of_its_source(void **state) {
    const cJSON *c = *state, *wanted = member(c, "holonomy"), *growth = member(c, "growth");
    char *description = description_of(c);
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    api_analysis_options asked = api_analysis_default(API_STRUCTURE);
    cJSON *answer = api_analyze(description, strlen(description), NULL, 0, &asked, &limits, NULL, "", &failure);
    free(description);
    if (answer == NULL) fail_msg("%s", failure.text != NULL ? failure.text : "no answer");
    const cJSON *found = member(answer, "holonomy");
    int time = cJSON_GetObjectItemCaseSensitive(c, "with_time") != NULL, steps = cJSON_GetArraySize(growth);
    int freedoms = (int)cJSON_GetArrayItem(growth, 0)->valuedouble - time;
    int reached = (int)cJSON_GetArrayItem(growth, steps - 1)->valuedouble - time;
    assert_string_equal(member(found, "verdict")->valuestring, member(wanted, "verdict")->valuestring);
    expect_number(found, wanted, "velocity_constraints");
    expect_number(found, wanted, "integrable");
    expect_number(found, wanted, "accessible_dimension");
    expect_flags(found, growth, time);
    assert_int_equal((int)member(answer, "degrees_of_freedom")->valuedouble, freedoms);
    assert_int_equal((int)member(found, "accessible_dimension")->valuedouble, reached);
    assert_true(cJSON_GetArraySize(member(found, "integrals")) <= (int)member(found, "integrable")->valuedouble);
    expect_integrals(member(found, "integrals"), cJSON_GetObjectItemCaseSensitive(c, "integrals"));
    cJSON_Delete(answer);
    api_failure_clear(&failure);
}

int main(void) {
    struct CMUnitTest tests[MOST] = {0};
    size_t count = 0;
    cJSON *cases = read_cases();
    for (cJSON *c = cases != NULL ? cases->child : NULL; c != NULL && count < MOST; c = c->next, count++) {
        tests[count].name = member(c, "name")->valuestring;
        tests[count].test_func = has_the_verdict_of_its_source;
        tests[count].initial_state = c;
    }
    if (count == 0) return 1;
    int failed = _cmocka_run_group_tests("integrability", tests, count, NULL, NULL);
    cJSON_Delete(cases);
    return failed;
}
