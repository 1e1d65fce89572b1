/* test_kinetostatic.c — the written expressions of the multipliers have the values that the engine computes. The C code
 * is compiled and run, the text is parsed.
 *
 * For each example, the definitions in the generated text (quasi-velocities along the directions of constraints, common
 * subexpressions) are added to the description. The expressions of the multipliers are then parsed in this description
 * and evaluated at random states that satisfy the constraints. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"
#include "tests/unit/written_c.h"
#include "tests/unit/written_text.h"

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64, STATES = 3 };

static const char *const formulations[] = {"maggi", "gibbs-appell", "boltzmann-hamel"};
enum { FORMULATIONS = sizeof formulations / sizeof *formulations };

/* A random state near the initial state, with its accelerations and multipliers. */
typedef struct random_state {
    double t, q[MOST], v[MOST], a[MOST], lambda[MOST], worst;
} random_state;

/* Returns false if no state that satisfies the constraints is found. */
static bool find_state(const hamel_model *model, uint64_t *seed, random_state *s) {
    hamel_error error = {0};
    double change[2 * MOST];
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    assert_true(model->n <= MOST && model->m <= MOST);
    random_fill(seed, change, 2 * MOST, -0.05, 0.05);
    s->t = model->settings.start;
    for (size_t i = 0; i < model->n; i++) {
        s->q[i] = model->q0[i] + change[i] * fmax(0.1, fabs(model->q0[i]));
        s->v[i] = model->v0[i] + change[MOST + i] * fmax(1, fabs(model->v0[i]));
    }
    hamel_status status = HAMEL_OK;
    for (int round = 0; round < 3 && status == HAMEL_OK; round++)
        status = dynamics_project(k, s->t, s->q, s->v, &s->worst, &error);
    if (status == HAMEL_OK) status = dynamics_evaluate(k, s->t, s->q, s->v, &error);
    if (status == HAMEL_OK) status = dynamics_accelerations(k, 0, 0, s->a, s->lambda, &error);
    dynamics_free(k);
    hamel_error_clear(&error);
    return status == HAMEL_OK && s->worst < 1e-11;
}

/* Adds the definitions in the part of the text with this title to the object `to` of a description. */
static void add_definitions(const char *text, const char *title, cJSON *tree, const char *to, bool quasi) {
    const char *part = strstr(text, title);
    if (!part) return;
    cJSON *object = cJSON_GetObjectItemCaseSensitive(tree, to);
    if (!object) object = quasi ? cJSON_AddArrayToObject(tree, to) : cJSON_AddObjectToObject(tree, to);
    for (const char *line = strchr(part + 1, '\n') + 1; *line && *line != '\n'; line = strchr(line, '\n') + 1) {
        const char *equal = strstr(line, " = ");
        assert_non_null(equal);
        char *name = strndup(line, (size_t)(equal - line)), *value = strndup(equal + 3, strcspn(equal + 3, "\n"));
        cJSON *item = quasi ? cJSON_CreateObject() : NULL;
        if (quasi) {
            cJSON_AddStringToObject(item, "name", name);
            cJSON_AddStringToObject(item, "definition", value);
            cJSON_AddItemToArray(object, item);
        } else {
            cJSON_AddStringToObject(object, name, value);
        }
        free(name);
        free(value);
    }
}

/* Replaces the points in names such as v_rod.1, which a description must not contain. */
static void replace_points(char *text) {
    for (char *at = strstr(text, "v_"); at; at = strstr(at + 2, "v_"))
        for (char *c = at; isalnum((unsigned char)*c) || *c == '_' || *c == '.'; c++)
            if (*c == '.') *c = '_';
}

/* Opens the example with the definitions in the text. Returns false if a definition contains a multiplier, which is
 * allowed only in outputs, or if the text contains the derivative of a table or an ideal reaction, which written_read
 * does not support. */
static bool open_with_definitions(written_example *e, const written_example *from, const char *text) {
    const char *with = strstr(text, "\n# with\n");
    if ((with && strstr(with, "lambda(")) || strstr(text, "table'") || strstr(text, "ideal(")) return false;
    cJSON *tree = cJSON_Duplicate(from->tree, true);
    add_definitions(text, "\n# velocities along", tree, "quasi_velocities", true);
    add_definitions(text, "\n# with", tree, "definitions", false);
    char *json = cJSON_PrintUnformatted(tree);
    assert_true(written_open_text(e, json, "lagrange"));
    free(json);
    cJSON_Delete(tree);
    return true;
}

static double value_of(hamel_system *s, const char *expression, const program_inputs *in) {
    char *text = strdup(expression);
    replace_points(text);
    graph_node node = written_read(s, text);
    if (node < 0) fail_msg("%s: %s", text, s->error->count ? s->error->faults[0].message : "");
    free(text);
    return fixture_value(s->graph, node, in);
}

/* Compares the multipliers of one example at random states. `published` is NULL or the expression in the source for the
 * first multiplier. Returns the number of comparisons. */
static size_t compare_reactions(const written_example *from, hamel_written *w, const char *name,
                                const char *published) {
    written_example e;
    hamel_error error = {0};
    size_t count = 0;
    uint64_t seed = 29;
    replace_points(w->text);
    if (!open_with_definitions(&e, from, w->text)) return 0;
    hamel_system *s = e.model->system;
    s->error = &error;
    for (int state = 0; state < STATES; state++) {
        random_state at;
        if (!find_state(e.model, &seed, &at)) continue;
        program_inputs in = model_inputs(e.model, &at.t, at.q, at.v, at.a, at.lambda, NULL);
        for (size_t k = 0; k < w->count; k++) {
            if (!hamel_entry_is_reaction(&w->entries[k])) continue;
            int32_t c = system_constraint_index(s, w->entries[k].indices[0]);
            assert_true(c >= 0);
            assert_near(name, value_of(s, w->entries[k].value, &in), at.lambda[c], 1e-9);
            if (published) assert_near(published, value_of(s, published, &in), at.lambda[c], 1e-9);
            count++;
        }
    }
    s->error = NULL;
    written_close(&e);
    return count;
}

/* Writes one example, if the formulation supports it, and compares its multipliers. Returns the number of
 * comparisons. */
static size_t compare_example(const char *path, const char *as) {
    written_example e;
    hamel_written *w = NULL;
    hamel_error error = {0};
    size_t count = 0;
    char *text = written_file(path);
    bool constrained = strstr(text, "\"constraints\"") || strstr(text, "\"joints\"");
    if (constrained && written_open_text(&e, text, as)) {
        const hamel_description *d = &e.description.description;
        if (hamel_write_equations(&w, d, HAMEL_NOTATION_TEXT, NULL, NULL, &error) == HAMEL_OK)
            count = compare_reactions(&e, w, path, NULL);
        hamel_written_free(w);
        hamel_error_clear(&error);
        written_close(&e);
    }
    free(text);
    return count;
}

/* Each example is written in one of the formulations, because all of them solve for the same velocities. */
static void multipliers_of_all_examples_agree_with_the_engine(void **state) {
    (void)state;
    glob_t found;
    size_t examples = 0;
    assert_int_equal(glob("api/examples/*.json", 0, NULL, &found), 0);
    for (size_t k = 0; k < found.gl_pathc; k++)
        examples += compare_example(found.gl_pathv[k], formulations[k % FORMULATIONS]) > 0;
    globfree(&found);
    assert_true(examples >= 95);
}

/* Multipliers in books. Papastavridis, equation 3.5.28g: the tension of a pendulum's thread; example 3.5.8 (i): the
 * reaction on the upper particle of a double pendulum; Baruh, example 4.14 [s], where v is the speed. */
static void multipliers_agree_with_books(void **state) {
    static const char *const cases[][2] = {
        {"{`hamel`: 1, `coordinates`: [{`name`: `r`, `initial`: `l`}, {`name`: `p`, `initial`: 0.4, `velocity`: 1}],"
         "`parameters`: {`m`: 1.3, `g`: 9.81, `l`: 0.7}, `kinetic_energy`: `m*(r'^2 + r^2*p'^2)/2`,"
         "`potential_energy`: `-m*g*r*cos(p)`, `constraints`: [{`name`: `thread`, `equation`: `l - r = 0`}],"
         "`simulation`: {`stop`: 1}}",
         "m*l*p'^2 + m*g*cos(p)"},
        {"{`hamel`: 1, `coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: 0.8}, `z`],"
         "`parameters`: {`m`: 1.3, `g`: 9.81}, `kinetic_energy`: `m*(x'^2 + y'^2 + z'^2)/2`, `potential_energy`: "
         "`m*g*(y + z)`, `constraints`: [{`name`: `plane`, `equation`: `z = 0`}, {`name`: `circle`, `equation`: "
         "`x^2 + y^2 = 1`}, {`name`: `again`, `equation`: `x*x' + y*y' = 0`}], `simulation`: {`stop`: 1}}",
         "m*g"}, /* the other two multipliers are not unique */
        {"papastavridis_3_5_8_i_upper_thread_vertical", "m2*l2*(cos(p2)*p2'' - sin(p2)*p2'^2)"},
        {"baruh_4_14_vehicle", "m*v*theta' + m*L*theta''"}, /* the constraint is minus the constraint of [f] */
    };
    (void)state;
    for (size_t k = 0; k < FORMULATIONS * sizeof cases / sizeof *cases; k++) {
        const char *name = cases[k / FORMULATIONS][0];
        written_example e;
        hamel_written *w = NULL;
        hamel_error error = {0};
        if (name[0] == '{')
            written_open(&e, name, formulations[k % FORMULATIONS]);
        else
            written_open_example(&e, name, formulations[k % FORMULATIONS]);
        const hamel_description *d = &e.description.description;
        assert_int_equal(hamel_write_equations(&w, d, HAMEL_NOTATION_TEXT, NULL, NULL, &error), HAMEL_OK);
        assert_int_equal(compare_reactions(&e, w, name, cases[k / FORMULATIONS][1]), STATES);
        hamel_written_free(w);
        written_close(&e);
    }
}

/* The generated C computes the multipliers with w'. */
static void generated_c_computes_the_multipliers(void **state) {
    static const char *const examples[] = {"cartesian_pendulum", "papastavridis_2_13_7_rolling_disk",
                                           "talamucci_3_1_pendulum_on_skate", "baruh_ex_4_36_four_bar",
                                           "greenwood_4_13_turning_knife_edge"};
    (void)state;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        written_example e;
        program_of_c p;
        random_state at;
        uint64_t seed = 31;
        double w[MOST], q_dot[MOST], w_dot[MOST], lambda[MOST];
        written_open_example(&e, examples[k], "lagrange");
        assert_true(find_state(e.model, &seed, &at));
        written_close(&e);
        written_open_example(&e, examples[k], formulations[k % FORMULATIONS]);
        char *text = written_equations_within(&e, HAMEL_NOTATION_C, 1e9, &(bool){false});
        program_of_c_open(&p, text);
        p.velocities(at.t, at.q, at.v, w);
        assert_int_equal(p.rates(at.t, at.q, w, q_dot, w_dot, lambda), 0);
        for (size_t c = 0; c < e.model->m; c++) assert_near(examples[k], lambda[c], at.lambda[c], 1e-9);
        program_of_c_close(&p);
        free(text);
        written_close(&e);
    }
}

/* The multipliers of redundant constraints are not unique. The text names these constraints instead. */
static void redundant_constraints_have_no_expressions(void **state) {
    (void)state;
    written_example e;
    hamel_written *w = NULL;
    hamel_error error = {0};
    written_open_example(&e, "redundant_rods", "maggi");
    const hamel_description *d = &e.description.description;
    assert_int_equal(hamel_write_equations(&w, d, HAMEL_NOTATION_LATEX, NULL, NULL, &error), HAMEL_OK);
    for (size_t k = 0; k < w->count; k++) assert_false(hamel_entry_is_reaction(&w->entries[k]));
    assert_non_null(strstr(w->text,
                           "\n% reactions: one equation for each multiplier, except for redundant constraints: "
                           "first, second, third\n% constraints\n"));
    hamel_written_free(w);
    written_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(multipliers_agree_with_books),
                                       cmocka_unit_test(redundant_constraints_have_no_expressions),
                                       cmocka_unit_test(generated_c_computes_the_multipliers),
                                       cmocka_unit_test(multipliers_of_all_examples_agree_with_the_engine)};
    return cmocka_run_group_tests_name("kinetostatic", tests, NULL, NULL);
}
