/* test_solved_form.c — engine/equations/solved_form.c: the written equations of Hadamard, Voronets and Chaplygin are
 * satisfied by the accelerations of Lagrange's equations with multipliers.
 *
 * The lines of the text are parsed and evaluated at random states that satisfy the constraints. The coefficients w
 * are compared with Hamel's coefficients of the quasi-velocities q'_D − Σ b_DI q'_I − b_D. The Boltzmann-Hamel
 * formulation derives Hamel's coefficients independently. */
#include "engine/mechanics/formulation.h"
#include "tests/unit/fixture.h"
#include "tests/unit/written_state.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STATES = 3 };

static const char *const SOLVED_FORMS[] = {"hadamard", "voronets", "chaplygin"};

/* A line `label: left = right` or `left = right`. `label` is the name of an equation, or "" without a label. */
typedef struct text_line {
    char label[100], *left, *right;
} text_line;

/* Copies and splits a line, which must contain " = ". The caller frees `left`, which owns the copy; `right` points
 * into it. */
static text_line split(const char *line) {
    text_line found = {.left = strndup(line, strcspn(line, "\n"))};
    char *colon = strstr(found.left, ": "), *equal = strstr(found.left, " = ");
    assert_true(found.left && equal && equal - found.left < 1 << 20);
    *equal = '\0';
    found.right = equal + 3;
    /* the name of an equation ends with a colon; indices are separated by semicolons */
    if (colon && colon < equal) {
        *colon = '\0';
        snprintf(found.label, sizeof found.label, "%s", found.left);
        memmove(found.left, colon + 2, strlen(colon + 2) + 1);
    }
    return found;
}

/* Returns the start of the next line, or NULL after the last line. */
static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end && end[1] ? end + 1 : NULL;
}

/* The quantities of Lagrange's equations that are compared with the written equations. */
typedef struct reference {
    hamel_system *system;
    hamel_equations equations;
    graph_node T;
    /* true if T is the kinetic energy and p are the derivatives of T, because no potential contains velocities */
    bool natural;
} reference;

static void derive(reference *r, hamel_model *model) {
    hamel_system *s = r->system = model->system;
    r->equations = (hamel_equations){.system = s, .n = model->n, .m = model->m};
    assert_int_equal(formulation_lagrange.derive(&r->equations), HAMEL_OK);
    r->natural = s->lagrangian < 0;
    for (size_t k = 0; k < s->potential_count; k++)
        r->natural &= !(graph_depends(s->graph, s->potential[k]) & GRAPH_DEPENDS(SYMBOL_VELOCITY));
    r->T = r->natural ? energies_kinetic(&r->equations) : GRAPH_NONE;
}

/* Compares the two sides of an equation of motion, or the value of T_o, a momentum or a dependent velocity with
 * Lagrange's equations. The tolerance is relative to the larger of 1 and both sides. For equations of motion and
 * velocities it is 1e-9, which exceeds the rounding errors of sums of large terms that cancel. Returns 1 if the line
 * was compared, or 0 for other lines. */
static size_t compare_line(const reference *r, const written_state *at, const program_inputs *in, const char *line) {
    hamel_system *s = r->system;
    text_line found = split(line);
    size_t compared = 1, name = strcspn(found.left, "'");
    double right = written_value(s, found.right, in);
    if (found.label[0] != '\0' && strchr(found.label, '\'')) {
        assert_near(line, written_value(s, found.left, in), right, 1e-9);
    } else if (strcmp(found.left, "T_o") == 0) {
        assert_near(line, right, fixture_value(s->graph, r->T, in), 1e-11);
    } else if (strncmp(found.left, "p[", 2) == 0 && r->natural) {
        found.left[strlen(found.left) - 1] = '\0';
        int32_t i = system_coordinate_index(s, found.left + 2);
        assert_true(i >= 0);
        assert_near(line, right, fixture_value(s->graph, r->equations.momentum[i], in), 1e-11);
    } else if (strcmp(found.left + name, "'") == 0) {
        found.left[name] = '\0';
        int32_t i = system_coordinate_index(s, found.left);
        assert_true(i >= 0);
        assert_near(line, right, at->v[i], 1e-9);
    } else {
        compared = 0;
    }
    free(found.left);
    return compared;
}

/* Compares the lines of the text before its sections on reactions, on generalized forces and on common
 * subexpressions. Returns the number of comparisons at all states, or 0 if the definitions in the text are not
 * supported. */
static size_t compare_text(const written_example *from, char *text) {
    written_example e;
    reference r;
    hamel_error error = {0};
    size_t count = 0;
    uint64_t seed = 41;
    written_replace_points(text);
    if (!written_open_with_definitions(&e, from, text)) return 0;
    e.model->system->error = &error;
    derive(&r, e.model);
    for (int state = 0; state < STATES; state++) {
        written_state at;
        if (!written_find_state(e.model, &seed, &at)) continue;
        program_inputs in = model_inputs(e.model, &at.t, at.q, at.v, at.a, at.lambda, NULL);
        for (const char *line = text; line; line = next_line(line)) {
            if (strncmp(line, "# reactions", 11) == 0 || strncmp(line, "# generalized", 13) == 0 ||
                strncmp(line, "# with", 6) == 0)
                break;
            if (line[0] != '#' && line[0] != '\n') count += compare_line(&r, &at, &in, line);
        }
    }
    e.model->system->error = NULL;
    written_close(&e);
    return count;
}

/* Returns the number of comparisons in one example, or 0 if the formulation or the parser does not support the
 * example. */
static size_t compare_example(const char *path, const char *as) {
    written_example e;
    hamel_written *w = NULL;
    hamel_error error = {0};
    size_t count = 0;
    char *text = written_file(path);
    if (written_open_text(&e, text, as)) {
        const hamel_description *d = &e.description.description;
        if (hamel_write_equations(&w, d, HAMEL_NOTATION_TEXT, NULL, NULL, &error) == HAMEL_OK)
            count = compare_text(&e, w->text);
        hamel_written_free(w);
        hamel_error_clear(&error);
        written_close(&e);
    }
    free(text);
    return count;
}

/* Of 168 examples, 154, 153 and 95 are compared in Hadamard's, Voronets' and Chaplygin's form. The other examples
 * have nonlinear constraints, constraints on accelerations, or too many coordinates, or exceed the work budget. Some
 * contain derivatives of tables or reactions, which the test cannot parse. `least` is slightly smaller, so that
 * examples may change. */
static void solved_forms_of_all_supported_examples_agree_with_the_engine(void **state) {
    (void)state;
    static const size_t least[] = {140, 140, 90};
    glob_t found;
    assert_int_equal(glob("api/examples/*.json", 0, NULL, &found), 0);
    for (size_t f = 0; f < 3; f++) {
        size_t examples = 0;
        for (size_t k = 0; k < found.gl_pathc; k++) examples += compare_example(found.gl_pathv[k], SOLVED_FORMS[f]) > 0;
        if (examples < least[f])
            fail_msg("%s: only %zu examples are compared; `least` contains the minimum", SOLVED_FORMS[f], examples);
    }
    globfree(&found);
}

/* --- coefficients ------------------------------------------------------------------------------------------------------ */

/* Adds a quasi-velocity to `list`: u_NAME = NAME' if `right` is empty, or o_NAME = NAME' − right. `prefix` is "u" or
 * "o". */
static void add_quasi(cJSON *list, const char *prefix, const char *coordinate, const char *right) {
    size_t room = strlen(right) + 200;
    char name[100], *definition = calloc(1, room);
    cJSON *item = cJSON_CreateObject();
    assert_non_null(definition);
    snprintf(name, sizeof name, "%s_%s", prefix, coordinate);
    snprintf(definition, room, right[0] ? "%s' - (%s)" : "%s'", coordinate, right);
    cJSON_AddStringToObject(item, "name", name);
    cJSON_AddStringToObject(item, "definition", definition);
    cJSON_AddItemToArray(list, item);
    free(definition);
}

/* Returns the description as JSON with quasi-velocities instead of constraints. Each dependent velocity q'_D of the
 * solved form in `text` gives the quasi-velocity o_D = q'_D − Σ b_DI q'_I − b_D, which vanishes. The kinetic energy
 * is replaced by a simple one, because Hamel's coefficients do not depend on it. The caller frees the result. */
static char *with_quasi_velocities(const written_example *from, const char *text) {
    cJSON *tree = cJSON_Duplicate(from->tree, true), *list = cJSON_CreateArray();
    const hamel_system *s = from->model->system;
    size_t room = 100 * s->coordinate_count + 10, used = 0;
    char *kinetic = calloc(1, room);
    static const char *const removed[] = {
        "constraints",        "outputs",    "checks", "invariants", "quasi_velocities", "kinetic_energy",
        "potential_energy",   "events",     "bodies", "particles",  "springs",          "gravity",
        "generalized_forces", "dissipation"};
    for (size_t k = 0; k < sizeof removed / sizeof *removed; k++) cJSON_DeleteItemFromObject(tree, removed[k]);
    for (size_t i = 0; i < s->coordinate_count; i++) {
        char start[100];
        const char *name = s->coordinates[i].name, *line;
        int length = snprintf(start, sizeof start, "\n%s' = ", name);
        used += (size_t)snprintf(kinetic + used, room - used, "%s%s'^2", i ? " + " : "", name);
        line = strstr(text, start);
        char *right = line ? strndup(line + length, strcspn(line + length, "\n")) : strdup("");
        add_quasi(list, line ? "o" : "u", name, right);
        free(right);
    }
    cJSON_AddStringToObject(tree, "kinetic_energy", kinetic);
    cJSON_AddItemToObject(tree, "quasi_velocities", list);
    char *json = cJSON_PrintUnformatted(tree);
    cJSON_Delete(tree);
    free(kinetic);
    return json;
}

/* Returns the value of gamma[o_D; u_I, u_J], or of gamma[o_D; u_I, t] if `j` is "t". Coefficients without a line in
 * `text` are 0. */
static double gamma_of(hamel_system *s, const char *text, const char *d, const char *i, const char *j,
                       const program_inputs *in) {
    char start[300];
    bool time = strcmp(j, "t") == 0;
    snprintf(start, sizeof start, "\ngamma[o_%s; u_%s, %s%s] = ", d, i, time ? "" : "u_", j);
    const char *line = strstr(text, start);
    if (!line) return 0;
    line += strlen(start);
    char *right = strndup(line, strcspn(line, "\n"));
    double value = written_value(s, right, in);
    free(right);
    return value;
}

/* Compares each coefficient w[D; I, J] in `text` with −gamma[o_D; u_I, u_J] in `gammas`. Both texts must contain the
 * same number of these coefficients. Adds this number to *count. */
static void compare_coefficients(const written_example *e, const char *text, const char *gammas, char letter,
                                 size_t *count) {
    written_example with_text, with_gammas;
    uint64_t seed = 5;
    written_state at;
    size_t listed = 0, expected = 0;
    char start[10];
    assert_true(written_open_with_definitions(&with_text, e, text));
    assert_true(written_open_with_definitions(&with_gammas, e, gammas));
    assert_true(written_find_state(e->model, &seed, &at));
    hamel_error error = {0};
    with_text.model->system->error = with_gammas.model->system->error = &error;
    program_inputs in = model_inputs(with_text.model, &at.t, at.q, at.v, at.a, at.lambda, NULL);
    program_inputs other = model_inputs(with_gammas.model, &at.t, at.q, at.v, at.a, at.lambda, NULL);
    snprintf(start, sizeof start, "%c[", letter);
    for (const char *line = text; line; line = next_line(line)) {
        char d[100], i[100], j[100];
        if (strncmp(line, start, 2) != 0) continue;
        assert_int_equal(sscanf(line + 2, "%99[^;]; %99[^,], %99[^]]", d, i, j), 3);
        text_line found = split(line);
        double value = written_value(with_text.model->system, found.right, &in);
        assert_near(line, value, -gamma_of(with_gammas.model->system, gammas, d, i, j, &other), 1e-10);
        free(found.left);
        listed++;
    }
    for (const char *line = gammas; line; line = next_line(line)) {
        char indices[300] = "";
        (void)sscanf(line, "gamma[o_%299[^]]", indices);
        expected += indices[0] && !strstr(indices, ", o_") && !strstr(indices, "; o_");
    }
    if (listed != expected) fail_msg("found %zu coefficients, expected %zu, in\n%s", listed, expected, text);
    with_text.model->system->error = with_gammas.model->system->error = NULL;
    *count += listed;
    written_close(&with_text);
    written_close(&with_gammas);
}

/* Papastavridis, problem 2.12.4: w^D_IJ = −γ^D_IJ and w^D_I = −γ^D_I. All γ^I vanish. In systems that Chaplygin's
 * equations support, the γ with a dependent lower index vanish too. */
static void coefficients_of_voronets_and_chaplygin_are_those_of_hamel_with_the_opposite_sign(void **state) {
    static const char *const cases[][2] = {
        {"chaplygin_sleigh", "chaplygin"},
        {"coin_on_incline", "chaplygin"},
        {"greenwood_4_11_rolling_disk", "chaplygin"},
        {"papastavridis_2_13_8_two_wheels", "chaplygin"},
        {"papastavridis_2_2_4_ishlinsky", "voronets"},
        {"papastavridis_2_13_5_ball_on_turntable", "voronets"},
        {"papastavridis_pr_2_13_1_knife_on_turntable", "voronets"},
        {"greenwood_4_13_turning_knife_edge", "voronets"},
        {"papastavridis_2_2_2_ball_in_cylinder", "voronets"},
    };
    size_t count = 0;
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        written_example e, hamel;
        bool chaplygin = strcmp(cases[k][1], "chaplygin") == 0;
        written_open_example(&e, cases[k][0], cases[k][1]);
        char *text = written_equations(&e, HAMEL_NOTATION_TEXT), *with = strstr(text, "\n# with\n");
        /* the quasi-velocities may contain common subexpressions, so their definitions are added to the description */
        written_example defined;
        assert_true(written_open_with_definitions(&defined, &e, text));
        char *json = with_quasi_velocities(&defined, text);
        assert_true(written_open_text(&hamel, json, "boltzmann-hamel"));
        bool simplified;
        char *gammas = written_equations_within(&hamel, HAMEL_NOTATION_TEXT, 1e9, &simplified);
        assert_true(simplified && (with || !strstr(text, "z1")));
        compare_coefficients(&e, text, gammas, chaplygin ? 't' : 'w', &count);
        assert_null(strstr(gammas, "gamma[u_"));
        if (chaplygin) assert_null(strstr(gammas, ", o_"));
        free(json);
        free(gammas);
        free(text);
        written_close(&hamel);
        written_close(&defined);
        written_close(&e);
    }
    assert_int_equal(count, 28);
}

/* --- entries and LaTeX -------------------------------------------------------------------------------------------------- */

/* Returns the value of the entry with the symbol `letter` and up to three indices, or NULL if the entry is not
 * listed. Unused indices are NULL. */
static const char *entry_of(const hamel_written *w, const char *letter, const char *first, const char *second,
                            const char *third) {
    const char *const wanted[3] = {first, second, third};
    for (size_t k = 0; k < w->count; k++) {
        bool same = strcmp(w->entries[k].symbol, letter) == 0;
        for (int i = 0; i < 3; i++) {
            const char *index = w->entries[k].indices[i];
            same = same && (index && wanted[i] ? strcmp(index, wanted[i]) == 0 : index == wanted[i]);
        }
        if (same) return w->entries[k].value;
    }
    return NULL;
}

/* Papastavridis, problem 2.13.1, in inertial coordinates: a knife on a table that rotates at the rate w. */
static void coefficients_of_voronets_are_entries_of_the_result_and_written_in_latex(void **state) {
    written_example e;
    hamel_written *text = NULL, *latex = NULL;
    (void)state;
    written_open_example(&e, "papastavridis_pr_2_13_1_knife_on_turntable", "voronets");
    const hamel_description *d = &e.description.description;
    assert_int_equal(hamel_write_equations(&text, d, HAMEL_NOTATION_TEXT, NULL, NULL, NULL), HAMEL_OK);
    assert_int_equal(hamel_write_equations(&latex, d, HAMEL_NOTATION_LATEX, NULL, NULL, NULL), HAMEL_OK);
    assert_string_equal(entry_of(text, "b", "Y", "X", NULL), "sin(Ph)/cos(Ph)");
    assert_string_equal(entry_of(text, "w", "Y", "X", "Ph"), "1/cos(Ph)^2");
    assert_string_equal(entry_of(text, "w", "Y", "Ph", "t"), "-w*Y/cos(Ph)^2");
    assert_non_null(entry_of(text, "T_o", NULL, NULL, NULL));
    assert_non_null(entry_of(text, "p", "Y", NULL, NULL));
    assert_non_null(entry_of(text, "lambda", "knife", NULL, NULL));
    assert_non_null(strstr(latex->text, "\nw_{Y;X,t} &= -\\frac{w}{\\cos"));
    assert_non_null(strstr(latex->text, "\nT_{o} &= "));
    hamel_written_free(text);
    hamel_written_free(latex);
    written_close(&e);
}

/* --- refusals ---------------------------------------------------------------------------------------------------------- */

/* At the initial state cos(th) = 0, so the constraint does not determine y'. The potential contains x, so
 * Chaplygin's equations cannot use x' as the dependent velocity. */
static void equations_of_chaplygin_need_an_initial_state_that_determines_the_dependent_velocities(void **state) {
    written_example e;
    hamel_written *w = NULL;
    hamel_error error = {0};
    (void)state;
    written_open(&e,
                 "{`hamel`: 1, `coordinates`: [`x`, {`name`: `y`, `velocity`: 1}, {`name`: `th`, `initial`: `pi/2`}],"
                 "`kinetic_energy`: `x'^2 + y'^2 + th'^2`, `potential_energy`: `x^2`,"
                 "`constraints`: [{`name`: `edge`, `equation`: `x'*sin(th) = y'*cos(th)`}], `simulation`: {`stop`: 1}}",
                 "chaplygin");
    hamel_status status =
        hamel_write_equations(&w, &e.description.description, HAMEL_NOTATION_TEXT, NULL, NULL, &error);
    assert_int_equal(status, HAMEL_INVALID);
    assert_non_null(strstr(error.faults[0].message,
                           "at the initial state, the constraints do not determine the velocities of the coordinates "
                           "that are absent from the equations"));
    hamel_error_clear(&error);
    written_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_of_voronets_and_chaplygin_are_those_of_hamel_with_the_opposite_sign),
        cmocka_unit_test(coefficients_of_voronets_are_entries_of_the_result_and_written_in_latex),
        cmocka_unit_test(equations_of_chaplygin_need_an_initial_state_that_determines_the_dependent_velocities),
        cmocka_unit_test(solved_forms_of_all_supported_examples_agree_with_the_engine),
    };
    return cmocka_run_group_tests_name("solved_form", tests, NULL, NULL);
}
