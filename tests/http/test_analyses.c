/* test_analyses.c — POST /v1/analyses returns the same report as the command line, and reports errors with pointers
 * into the body. */
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static test_daemon d;

static const char knife_edge[] =
    "{\"hamel\": 1, \"coordinates\": [\"x\", \"y\", {\"name\": \"phi\", \"initial\": 0.6}],"
    "\"kinetic_energy\": \"x'^2 + y'^2 + phi'^2\", \"simulation\": {\"stop\": 1},"
    "\"constraints\": [{\"name\": \"edge\", \"equation\": \"x'*sin(phi) = y'*cos(%s)\"}]}";

/* Writes a request whose constraint contains `angle`. `rest` is appended after the system. */
static const char *request_with(char *out, size_t room, const char *angle, const char *rest) {
    char system[1000];
    snprintf(system, sizeof system, knife_edge, angle);
    snprintf(out, room, "{\"system\": %s%s}", system, rest);
    return out;
}

static void a_system_is_classified(void **state) {
    (void)state;
    char body[2000];
    cJSON *found =
        ask_json(&d, "POST", "/v1/analyses", json_type,
                 request_with(body, sizeof body, "phi", ", \"analyses\": [\"structure\"], \"options\": {}"), 200);
    const cJSON *holonomy = cJSON_GetObjectItemCaseSensitive(found, "holonomy");
    assert_string_equal(json_text_of(holonomy, "verdict"), "nonholonomic");
    assert_true(json_number_of(holonomy, "accessible_dimension") == 3);
    assert_true(json_number_of(found, "degrees_of_freedom") == 2);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(found, "constraints")), 1);
    cJSON_Delete(found);
}

static void simulation_stop_is_not_required(void **state) {
    (void)state;
    cJSON *found = ask_json(&d, "POST", "/v1/analyses", json_type,
                            "{\"system\": {\"hamel\": 1, \"coordinates\": [\"x\"], \"kinetic_energy\": \"x'^2/2\"},"
                            "\"analyses\": [\"structure\", \"equations\", \"verification\"]}",
                            200);
    assert_true(json_number_of(found, "degrees_of_freedom") == 1);
    const cJSON *equations = cJSON_GetObjectItemCaseSensitive(found, "equations");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(equations, "simplified")));
    cJSON_Delete(found);
}

/* In polar coordinates Γ_r,φφ = −m r and Γ_φ,rφ = m r. */
static void the_explicit_form_has_entries(void **state) {
    (void)state;
    cJSON *found = ask_json(&d, "POST", "/v1/analyses", json_type,
                            "{\"system\": {\"hamel\": 1, \"coordinates\": [{\"name\": \"r\", \"initial\": 1}, \"phi\"],"
                            "\"kinetic_energy\": \"(r'^2 + r^2*phi'^2)/2\"}, \"analyses\": [\"equations\"],"
                            "\"options\": {\"equations\": {\"format\": \"latex\", \"form\": \"explicit\"}}}",
                            200);
    const cJSON *equations = cJSON_GetObjectItemCaseSensitive(found, "equations");
    const cJSON *entries = cJSON_GetObjectItemCaseSensitive(equations, "entries"), *entry;
    const char *const values[] = {"-r", "r"};
    int symbols = 0;
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(equations, "omitted")), 0);
    cJSON_ArrayForEach(entry, entries) {
        if (strcmp(json_text_of(entry, "symbol"), "Gamma") != 0) continue;
        assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(entry, "indices")), 3);
        assert_true(symbols < 2);
        assert_string_equal(json_text_of(entry, "value"), values[symbols++]);
    }
    assert_int_equal(symbols, 2);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(equations, "reactions")), 0);
    cJSON_Delete(found);
}

/* Papastavridis, example 2.12.1: w_xy = db_x/dy - db_y/dx - b_x db_y/dz = 1 - y, because b_x = y, b_y = z and
 * b_y db_x/dz = 0. */
static void the_entries_of_voronets_equations_contain_the_coefficients_w(void **state) {
    (void)state;
    cJSON *found =
        ask_json(&d, "POST", "/v1/analyses", json_type,
                 "{\"system\": {\"hamel\": 1, \"coordinates\": [\"x\", \"y\", \"z\"], \"kinetic_energy\": "
                 "\"(x'^2 + y'^2 + z'^2)/2\", \"constraints\": [{\"name\": \"c\", \"equation\": \"z' = y*x' + "
                 "z*y'\"}], \"simulation\": {\"stop\": 1, \"formulation\": \"voronets\"}},"
                 "\"analyses\": [\"equations\"]}",
                 200);
    const cJSON *equations = cJSON_GetObjectItemCaseSensitive(found, "equations"), *entry;
    int coefficients = 0;
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(equations, "entries")) {
        if (strcmp(json_text_of(entry, "symbol"), "w") != 0) continue;
        char *indices = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(entry, "indices"));
        assert_string_equal(indices, "[\"z\",\"x\",\"y\"]");
        assert_string_equal(json_text_of(entry, "value"), "1 - y");
        free(indices);
        coefficients++;
    }
    assert_int_equal(coefficients, 1);
    cJSON_Delete(found);
}

static void equations_contain_the_multipliers(void **state) {
    (void)state;
    cJSON *found = ask_json(&d, "POST", "/v1/analyses", json_type,
                            "{\"system\": {\"hamel\": 1, \"coordinates\": [\"r\", \"p\"], \"kinetic_energy\": "
                            "\"(r'^2 + r^2*p'^2)/2\", \"constraints\": [{\"name\": \"rod\", \"equation\": \"r = 0\"}],"
                            "\"simulation\": {\"stop\": 1, \"formulation\": \"maggi\"}},"
                            "\"analyses\": [\"equations\"]}",
                            200);
    const cJSON *equations = cJSON_GetObjectItemCaseSensitive(found, "equations");
    const cJSON *reactions = cJSON_GetObjectItemCaseSensitive(equations, "reactions");
    assert_int_equal(cJSON_GetArraySize(reactions), 1);
    assert_string_equal(json_text_of(cJSON_GetArrayItem(reactions, 0), "constraint"), "rod");
    assert_string_equal(json_text_of(cJSON_GetArrayItem(reactions, 0), "expression"), "r''");
    assert_non_null(strstr(json_text_of(equations, "text"), "\nlambda(rod) = r''\n"));
    cJSON_Delete(found);
}

static void structure_is_the_default_analysis(void **state) {
    (void)state;
    char body[2000];
    cJSON *found = ask_json(&d, "POST", "/v1/analyses", json_type, request_with(body, sizeof body, "phi", ""), 200);
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(found, "holonomy"), "verdict"), "nonholonomic");
    cJSON_Delete(found);
}

static void the_response_has_the_requested_analyses(void **state) {
    (void)state;
    char body[2000];
    cJSON *found = ask_json(&d, "POST", "/v1/analyses", json_type,
                            request_with(body, sizeof body, "phi", ", \"analyses\": [\"verification\"]"), 200);
    const cJSON *verification = cJSON_GetObjectItemCaseSensitive(found, "verification");
    assert_null(cJSON_GetObjectItemCaseSensitive(found, "holonomy"));
    assert_true(json_number_of(verification, "states") == 100);
    assert_true(json_number_of(verification, "max_relative_difference") <= 1e-9);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(verification, "agree")));
    cJSON_Delete(found);
}

/* The derivatives overflow, so the linearization is not finite. */
static void an_equilibrium_without_a_linearization_has_no_eigenvalues(void **state) {
    (void)state;
    cJSON *found =
        ask_json(&d, "POST", "/v1/analyses", json_type,
                 "{\"system\":{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":0.3},\"y\"],"
                 "\"kinetic_energy\":\"x'^2+y'^2\",\"potential_energy\":\"cos(y)\",\"constraints\":[{\"name\":"
                 "\"c\",\"equation\":\"x'=-1e308*sin(x)\"}]},\"analyses\":[\"equilibrium\"]}",
                 200);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(found, "equilibria"), 0);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(first, "determined")));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(first, "eigenvalues")), 0);
    cJSON_Delete(found);
}

static void a_constraint_is_relaxed(void **state) {
    (void)state;
    char body[2000];
    const char *asked = ", \"analyses\": [\"forces\", \"relaxation\"], \"options\": {\"relaxation\": {\"constraint\": "
                        "\"edge\"}}";
    cJSON *found = ask_json(&d, "POST", "/v1/analyses", json_type, request_with(body, sizeof body, "phi", asked), 200);
    const cJSON *relaxation = cJSON_GetObjectItemCaseSensitive(found, "relaxation");
    assert_string_equal(json_text_of(relaxation, "constraint"), "edge");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(relaxation, "reactions")), 2);
    assert_true(cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(found, "forces")));
    cJSON_Delete(found);
}

static void the_degree_of_indeterminacy_of_an_event_is_reported(void **state) {
    (void)state;
    cJSON *found = ask_json(&d, "POST", "/v1/analyses", json_type,
                            "{\"system\": {\"hamel\": 1, \"coordinates\": [\"x\", \"y\"], \"kinetic_energy\": "
                            "\"(x'^2 + y'^2)/2\", \"events\": [{\"name\": \"hit\", \"when\": \"x\", \"impulse\": "
                            "{\"constraint\": \"x = 0\"}, \"percussion\": {\"on\": \"y\", \"value\": 1}}]}, "
                            "\"analyses\": [\"impulses\"]}",
                            200);
    const cJSON *hit = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(found, "impulses"), 0);
    const cJSON *constraint = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(hit, "constraints"), 0);
    assert_string_equal(json_text_of(hit, "event"), "hit");
    assert_string_equal(json_text_of(constraint, "name"), "x = 0");
    assert_true(json_number_of(hit, "percussions") == 1);
    assert_true(json_number_of(hit, "equations") == 2);
    assert_true(json_number_of(hit, "indeterminacy") == 1);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(hit, "not_applicable")), 4);
    cJSON_Delete(found);
}

static void virtual_forms_of_constraints_are_written_in_latex(void **state) {
    (void)state;
    char body[2000];
    cJSON *found =
        ask_json(&d, "POST", "/v1/analyses", json_type,
                 request_with(body, sizeof body, "phi",
                              ", \"analyses\": [\"displacements\", \"forces\"], \"options\": {\"displacements\": "
                              "{\"format\": \"latex\"}, \"forces\": {\"format\": \"text\"}}"),
                 200);
    const cJSON *displacements = cJSON_GetObjectItemCaseSensitive(found, "displacements");
    const cJSON *constraint = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(displacements, "constraints"), 0);
    assert_string_equal(json_text_of(constraint, "rule"), "linear");
    assert_true(cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(displacements, "tangents")));
    assert_non_null(strstr(json_text_of(constraint, "virtual"), "\\delta "));
    cJSON_Delete(found);
}

static void gauss_hamilton_bracket_and_canonical_are_reported_together(void **state) {
    (void)state;
    char body[3000];
    const char *asked =
        ", \"analyses\": [\"gauss\", \"hamilton\", \"bracket\", \"canonical\"], \"options\": {\"bracket\": "
        "{\"first\": \"phi\", \"second\": \"p_phi\"}, \"canonical\": {\"Q\": [\"x\", \"y\", \"2*phi\"],"
        "\"P\": [\"p_x\", \"p_y\", \"p_phi\"]}}";
    cJSON *found = ask_json(&d, "POST", "/v1/analyses", json_type, request_with(body, sizeof body, "phi", asked), 200);
    assert_true(
        cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(found, "gauss"), "reactions")));
    assert_true(
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(found, "hamilton"), "holds")));
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(found, "bracket"), "value"), "1");
    const cJSON *canonical = cJSON_GetObjectItemCaseSensitive(found, "canonical");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(canonical, "canonical")));
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(canonical, "failing"), "first"), "Q3");
    cJSON_Delete(found);
}

static void inertia_is_transferred_by_the_parallel_axis_theorem(void **state) {
    (void)state;
    cJSON *found = ask_json(&d, "POST", "/v1/analyses", json_type,
                            "{\"system\":{\"hamel\":1,\"coordinates\":[\"x\"],\"bodies\":[{\"name\":\"B\",\"mass\":2,"
                            "\"inertia\":3,\"position\":[\"x\",0],\"orientation\":{\"angle\":\"x\"}}],\"points\":["
                            "{\"name\":\"P\",\"position\":[0,2]}]},\"analyses\":[\"inertia\"],"
                            "\"options\":{\"inertia\":{\"about\":\"P\"}}}",
                            200);
    const cJSON *inertia = cJSON_GetObjectItemCaseSensitive(found, "inertia");
    const cJSON *system = cJSON_GetObjectItemCaseSensitive(inertia, "system");
    assert_string_equal(json_text_of(inertia, "about"), "P");
    assert_true(cJSON_GetObjectItemCaseSensitive(system, "about")->valuedouble ==
                11); /* inertia + mass * distance^2 = 3 + 2 * 2^2 */
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(inertia, "bodies")), 1);
    cJSON_Delete(found);
}

static void expect_fault(const char *body, const char *pointer) {
    cJSON *problem = ask_json(&d, "POST", "/v1/analyses", json_type, body, 422);
    const cJSON *errors = cJSON_GetObjectItemCaseSensitive(problem, "errors");
    assert_string_equal(json_text_of(problem, "type"), "/problems/invalid-system");
    assert_string_equal(json_text_of(cJSON_GetArrayItem(errors, 0), "pointer"), pointer);
    cJSON_Delete(problem);
}

static void expect_option_fault(const char *analysis, const char *options, const char *pointer) {
    char body[2000], asked[300];
    snprintf(asked, sizeof asked, ", \"analyses\": [\"%s\"], \"options\": %s", analysis, options);
    expect_fault(request_with(body, sizeof body, "phi", asked), pointer);
}

static void errors_point_into_the_body(void **state) {
    (void)state;
    char body[2000];
    expect_fault(request_with(body, sizeof body, "psi", ""), "/system/constraints/0/equation");
    expect_fault(request_with(body, sizeof body, "phi", ", \"analyses\": [\"structure\", \"weather\"]"), "/analyses/1");
    expect_fault(request_with(body, sizeof body, "phi", ", \"analyses\": []"), "/analyses");
    expect_fault(request_with(body, sizeof body, "phi", ", \"options\": {\"a\": 1}"), "/options/a");
    expect_option_fault("relaxation", "{\"relaxation\": {\"constraint\": \"edgy\"}}", "/options/relaxation/constraint");
    expect_option_fault("relaxation", "{\"relaxation\": {\"constraint\": 1}}", "/options/relaxation/constraint");
    expect_option_fault("inertia", "{\"inertia\": {\"about\": \"nowhere\"}}", "/options/inertia/about");
    expect_option_fault("linearization", "{\"linearization\": {\"inputs\": [\"nowhere\"]}}",
                        "/options/linearization/inputs/0");
    expect_option_fault("linearization", "{\"linearization\": {\"about\": \"noon\"}}", "/options/linearization/about");
    expect_option_fault("equilibrium", "{\"equilibrium\": {\"starts\": -1}}", "/options/equilibrium/starts");
    expect_option_fault("equations", "{\"equations\": {\"format\": \"html\"}}", "/options/equations/format");
    expect_option_fault("equations", "{\"equations\": {\"formulation\": \"x\"}}", "/options/equations/formulation");
    expect_option_fault("equations", "{\"equations\": {\"form\": \"hamel\"}}", "/options/equations/form");
    expect_option_fault("equations", "{\"equations\": {\"form\": \"explicit\", \"format\": \"c\"}}",
                        "/options/equations/format");
    expect_fault(request_with(body, sizeof body, "phi", ", \"analysis\": []"), "/analysis");
    expect_fault(request_with(body, sizeof body, "phi", ", \"analyses\": [\"relaxation\"]"), "/options");
    expect_fault(request_with(body, sizeof body, "phi", ", \"analyses\": [\"bracket\"]"), "/options");
    expect_fault(request_with(body, sizeof body, "phi", ", \"analyses\": [\"canonical\"]"), "/options");
    expect_option_fault("bracket", "{\"bracket\": {\"first\": \"x\", \"second\": \"x +\"}}", "/options/bracket/second");
    expect_option_fault("canonical", "{\"canonical\": {\"Q\": [\"x\"], \"P\": [\"p_x\"]}}", "/options/canonical");
    expect_option_fault("canonical", "{\"canonical\": {\"Q\": [\"x\", 1], \"P\": [\"p_x\"]}}",
                        "/options/canonical/Q/1");
    expect_fault("{\"analyses\": [\"structure\"]}", "");
    expect_fault("[]", "");
    expect_fault("{\"system\": 3}", "/system");
}

static void malformed_json_is_400(void **state) {
    (void)state;
    cJSON *problem = ask_json(&d, "POST", "/v1/analyses", json_type, "{\"system\": ", 400);
    assert_string_equal(json_text_of(problem, "type"), "/problems/malformed-json");
    cJSON_Delete(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_system_is_classified),
        cmocka_unit_test(simulation_stop_is_not_required),
        cmocka_unit_test(the_explicit_form_has_entries),
        cmocka_unit_test(the_entries_of_voronets_equations_contain_the_coefficients_w),
        cmocka_unit_test(structure_is_the_default_analysis),
        cmocka_unit_test(equations_contain_the_multipliers),
        cmocka_unit_test(the_response_has_the_requested_analyses),
        cmocka_unit_test(an_equilibrium_without_a_linearization_has_no_eigenvalues),
        cmocka_unit_test(a_constraint_is_relaxed),
        cmocka_unit_test(the_degree_of_indeterminacy_of_an_event_is_reported),
        cmocka_unit_test(virtual_forms_of_constraints_are_written_in_latex),
        cmocka_unit_test(gauss_hamilton_bracket_and_canonical_are_reported_together),
        cmocka_unit_test(inertia_is_transferred_by_the_parallel_axis_theorem),
        cmocka_unit_test(errors_point_into_the_body),
        cmocka_unit_test(malformed_json_is_400),
    };
    daemon_share(&d, NULL);
    return cmocka_run_group_tests_name("analyses", tests, start_shared_daemon, end_shared_daemon);
}
