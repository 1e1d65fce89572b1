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

enum { MOST = WRITTEN_MOST, STATES = 3 };

static const char *const formulations[] = {"maggi", "gibbs-appell", "boltzmann-hamel", "hadamard", "voronets"};
enum { FORMULATIONS = sizeof formulations / sizeof *formulations };

/* Compares the multipliers of one example at random states. `published` is NULL or the expression in the source for the
 * first multiplier. Returns the number of comparisons. */
static size_t compare_reactions(const written_example *from, hamel_written *w, const char *name,
                                const char *published) {
    written_example e;
    hamel_error error = {0};
    size_t count = 0;
    uint64_t seed = 29;
    written_replace_points(w->text);
    if (!written_open_with_definitions(&e, from, w->text)) return 0;
    hamel_system *s = e.model->system;
    s->error = &error;
    for (int state = 0; state < STATES; state++) {
        written_state at;
        if (!written_find_state(e.model, &seed, &at)) continue;
        program_inputs in = model_inputs(e.model, &at.t, at.q, at.v, at.a, at.lambda, NULL);
        for (size_t k = 0; k < w->count; k++) {
            if (!hamel_entry_is_reaction(&w->entries[k])) continue;
            int32_t c = system_constraint_index(s, w->entries[k].indices[0]);
            assert_true(c >= 0);
            assert_near(name, written_value(s, w->entries[k].value, &in), at.lambda[c], 1e-9);
            if (published) assert_near(published, written_value(s, published, &in), at.lambda[c], 1e-9);
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

/* Example k is written in formulation k modulo FORMULATIONS. Examples without constraints and examples that the
 * formulation does not support are skipped. At least 95 examples must be compared. */
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
        written_state at;
        uint64_t seed = 31;
        double w[MOST], q_dot[MOST], w_dot[MOST], lambda[MOST];
        written_open_example(&e, examples[k], "lagrange");
        assert_true(written_find_state(e.model, &seed, &at));
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
