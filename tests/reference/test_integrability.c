/* test_integrability.c — integrability of constraints without dynamics. Expected verdicts are from textbooks.
 *
 * Each case of integrability.json has coordinates, a configuration near which the check is made, and constraints.
 * `growth` is the growth vector of the distribution, computed by an independent symbolic program. If `with_time` is
 * set, time is a coordinate. `growth` starts with the degrees of freedom and ends with the dimension of the reachable
 * set. The analysis must report the same counts and the same growth vector. `integrals` are the known integrals, in the
 * notation of an analysis. The analysis must find exactly these integrals. */
#include "api/analyze.h"

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
    if (item == NULL) fail_msg("the key %s is missing", key);
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

/* Masses are 1; they do not influence the check of constraints. */
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

/* Compares integrals as text, in any order. If the case has no `integrals`, they are not checked. */
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

/* Compares the growth vector with that of the file. The dimensions of the growth vector and of the derived flag must
 * have the same sum at steps 0, 1, 2 and the last step. */
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
    assert_string_equal(member(found, "decided_by")->valuestring,
                        cJSON_IsTrue(member(found, "exact")) ? "expressions" : "random states");
}

static void the_verdict_agrees_with_the_source(void **state) {
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

/* The book's verdicts on its numbered systems, one letter for each case: holonomic, nonholonomic, partially holonomic,
 * or - for no velocity constraint. The file must contain all cases of each numbered system. */
/* clang-format off */
static const struct numbered {
    const char *number, *verdicts;
} numbered[] = {
    {"section 1.7.10", "h"},
    {"section 1.7.14", "h"},
    {"section 1.9.5", "n"},
    {"section 1.9.6", "n"},
    {"example 2.2.1", "nnp"},
    {"example 2.2.2", "nn"},
    {"example 2.2.3", "n"},
    {"example 2.2.3 (i)", "nn"},
    {"example 2.2.3 (ii)", "n"},
    {"example 2.2.4", "n"},
    {"example 2.2.5", "hnhh"},
    {"example 2.3.1 (i)", "nn"},
    {"example 2.3.1 (ii)", "n"},
    {"problem 2.3.1", "hh"},
    {"problem 2.3.2", "h-h"},
    {"problem 2.3.3", "nh"},
    {"problem 2.3.4", "h"},
    {"problem 2.3.5", "h"},
    {"problem 2.3.6", "hn"},
    {"problem 2.3.7", "n"},
    {"section 2.4", "hh"},
    {"example 2.4.1", "h"},
    {"example 2.4.2", "h"},
    {"example 2.4.3", "h"},
    {"example 2.5.1 (i)", "hh"},
    {"example 2.5.1 (ii)", "h"},
    {"example 2.5.1 (iii)", "h"},
    {"example 2.5.2 (i)", "h"},
    {"example 2.5.2 (ii)", "h"},
    {"problem 2.6.1", "h"},
    {"example 2.8.1", "h"},
    {"example 2.8.2", "h"},
    {"example 2.9.1", "nh"},
    {"problem 2.11.1", "n"},
    {"example 2.12.1", "n"},
    {"example 2.12.2", "nn"},
    {"example 2.12.3", "h"},
    {"problem 2.12.6", "h"},
    {"problem 2.12.7", "hh"},
    {"problem 2.12.8", "h"},
    {"example 2.13.1", "nh"},
    {"example 2.13.3", "nh"},
    {"example 2.13.4", "nnh"},
    {"examples 2.13.5, 2.13.6", "nnn"},
    {"example 2.13.7", "nn"},
    {"example 2.13.8", "phnp"},
    {"example 2.13.10", "nh"},
    {"problem 2.13.1", "n"},
    {"problem 2.13.2", "nn"},
    {"problem 2.13.3", "n"},
    {"example 3.2.1", "h"},
    {"example 3.5.8 (i)", "h"},
    {"problem 3.5.6", "h"},
};
/* clang-format on */

static bool is_of(const char *source, const char *number) {
    static const char book[] = "Papastavridis, Analytical Mechanics, ";
    size_t length = strlen(number);
    if (strncmp(source, book, sizeof book - 1) != 0 || strncmp(source + sizeof book - 1, number, length) != 0)
        return false;
    const char *rest = source + sizeof book - 1 + length;
    return *rest == '\0' || *rest == ':' || (*rest == ',' && strchr("0123456789", rest[2]) == NULL);
}

static char letter_of(const cJSON *c) {
    const char *verdict = member(member(c, "holonomy"), "verdict")->valuestring;
    return strcmp(verdict, "none") == 0 ? '-' : verdict[0];
}

static void every_numbered_system_has_its_verdicts(void **state) {
    const cJSON *cases = *state, *c;
    size_t found = 0, of_book = 0;
    for (size_t k = 0; k < sizeof numbered / sizeof *numbered; k++) {
        char verdicts[16] = "";
        size_t count = 0;
        cJSON_ArrayForEach(c, cases) {
            if (!is_of(member(c, "source")->valuestring, numbered[k].number)) continue;
            assert_true(count + 1 < sizeof verdicts);
            verdicts[count++] = letter_of(c);
        }
        if (strcmp(verdicts, numbered[k].verdicts) != 0)
            fail_msg("%s: cases %s, not %s", numbered[k].number, verdicts, numbered[k].verdicts);
        found += count;
    }
    cJSON_ArrayForEach(c, cases) of_book += strncmp(member(c, "source")->valuestring, "Papa", 4) == 0;
    assert_int_equal(found, of_book);
}

int main(void) {
    struct CMUnitTest tests[MOST] = {0};
    size_t count = 0;
    cJSON *cases = read_cases();
    for (cJSON *c = cases != NULL ? cases->child : NULL; c != NULL && count < MOST; c = c->next, count++) {
        tests[count].name = member(c, "name")->valuestring;
        tests[count].test_func = the_verdict_agrees_with_the_source;
        tests[count].initial_state = c;
    }
    if (count == 0 || count == MOST) return 1;
    tests[count].name = "every_numbered_system_has_its_verdicts";
    tests[count].test_func = every_numbered_system_has_its_verdicts;
    tests[count++].initial_state = cases;
    int failed = _cmocka_run_group_tests("integrability", tests, count, NULL, NULL);
    cJSON_Delete(cases);
    return failed;
}
