/* test_equations.c — engine/equations/equations.c: the list of entries of written equations contains the same
 * quantities as their text, in all formulations that support the examples. */
#include "tests/unit/written_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two coordinates of one indexed family. No force acts on x[2], so its momentum is constant. A potential force and a
 * damping force act on x[1]. */
#define FAMILY                                                                                                        \
    "{`hamel`: 1, `coordinates`: [{`for`: `i = 1..2`, `name`: `x[i]`}], `kinetic_energy`: `sum(i, 1, 2, x[i]'^2)/2`," \
    "`potential_energy`: `x[1]`, `generalized_forces`: {`x[1]`: `-x[1]'`}, `simulation`: {`stop`: 1}}"

static void a_zero_rate_of_an_indexed_momentum_is_written(void **state) {
    (void)state;
    written_example e;
    written_open(&e, FAMILY, "hamilton");
    char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
    assert_non_null(strstr(text, "\np_x[2]' = 0\n"));
    free(text);
    written_close(&e);
}

static void entries_have_all_their_indices_in_latex_if_coordinate_names_are_indexed(void **state) {
    (void)state;
    written_example e;
    written_open(&e, FAMILY, "gauss");
    char *text = written_equations(&e, HAMEL_NOTATION_LATEX);
    assert_non_null(strstr(text, "M_{\\text{x[1], x[1]}} &= 1 "));
    assert_non_null(strstr(text, "Q_{\\text{x[1]; potential\\_energy}} &= -1 "));
    assert_non_null(strstr(text, "Q_{\\text{x[1]; generalized\\_forces}} &= -\\dot{x_{1}}\n"));
    free(text);
    written_close(&e);
}

static void coefficients_of_hamel_have_a_symbol_and_three_indices(void **state) {
    (void)state;
    written_example e;
    hamel_written *w = NULL;
    size_t coefficients = 0;
    written_open_example(&e, "papastavridis_2_13_7_rolling_disk", "boltzmann-hamel");
    const hamel_description *d = &e.description.description;
    assert_int_equal(hamel_write_equations(&w, d, HAMEL_NOTATION_TEXT, NULL, NULL, NULL), HAMEL_OK);
    for (size_t k = 0; k < w->count; k++) {
        assert_null(strchr(w->entries[k].symbol, '['));
        coefficients += strcmp(w->entries[k].symbol, "gamma") == 0 && w->entries[k].indices[2];
    }
    assert_true(coefficients > 0);
    hamel_written_free(w);
    written_close(&e);
}

/* Returns the line of the text that defines the entry, such as "M[x, y] = m", between newlines. The caller frees the
 * line. */
static char *line_of_entry(const hamel_written_entry *e) {
    bool is_force = strcmp(e->symbol, "Q") == 0;
    const char *const *i = e->indices, *separator = i[2] || is_force ? "; " : ", ";
    char *line = NULL;
    if (hamel_entry_is_reaction(e))
        (void)!asprintf(&line, "\nlambda(%s) = %s\n", i[0], e->value);
    else if (i[0])
        (void)!asprintf(&line, "\n%s[%s%s%s%s%s] = %s\n", e->symbol, i[0], i[1] ? separator : "", i[1] ? i[1] : "",
                        i[2] ? ", " : "", i[2] ? i[2] : "", e->value);
    else
        (void)!asprintf(&line, "\n%s = %s\n", e->symbol, e->value);
    assert_non_null(line);
    return line;
}

/* The text must define each entry in one line. The text must not contain other definitions: lines that begin with
 * the name of an equation and a colon are equations, and lines that begin with # are comments. Formulations that do
 * not support an example are skipped. */
static void entries_and_text_define_the_same_quantities(void **state) {
    static const char *const examples[] = {"cartesian_pendulum", "papastavridis_2_13_7_rolling_disk", "heavy_top"};
    (void)state;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
        for (size_t f = 0; hamel_formulation_name(f); f++) {
            written_example e;
            hamel_error error = {0};
            hamel_written *w = NULL;
            size_t lines = 0;
            written_open_example(&e, examples[k], "lagrange");
            e.description.description.simulation.formulation = hamel_formulation_name(f);
            hamel_status status =
                hamel_write_equations(&w, &e.description.description, HAMEL_NOTATION_TEXT, NULL, NULL, &error);
            for (size_t i = 0; w && i < w->count; i++) {
                char *line = line_of_entry(&w->entries[i]);
                if (!strstr(w->text, line)) fail_msg("%s, %s: no line%s", examples[k], hamel_formulation_name(f), line);
                free(line);
            }
            for (char *at = w ? w->text : NULL; at && *at; at = strchr(at, '\n') + 1)
                lines += *at != '#' && *at != '\n' && strcspn(at, ":") > strcspn(at, "[=\n");
            assert_true(status == HAMEL_INVALID || (status == HAMEL_OK && lines == w->count));
            hamel_written_free(w);
            hamel_error_clear(&error);
            written_close(&e);
        }
}

static void equations_written_as_c_have_no_entries(void **state) {
    (void)state;
    written_example e;
    hamel_written *w = NULL;
    written_open_example(&e, "cartesian_pendulum", "maggi");
    const hamel_description *d = &e.description.description;
    assert_int_equal(hamel_write_equations(&w, d, HAMEL_NOTATION_C, NULL, NULL, NULL), HAMEL_OK);
    assert_int_equal(w->count, 0);
    hamel_written_free(w);
    written_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_and_text_define_the_same_quantities),
        cmocka_unit_test(equations_written_as_c_have_no_entries),
        cmocka_unit_test(coefficients_of_hamel_have_a_symbol_and_three_indices),
        cmocka_unit_test(a_zero_rate_of_an_indexed_momentum_is_written),
        cmocka_unit_test(entries_have_all_their_indices_in_latex_if_coordinate_names_are_indexed),
    };
    return cmocka_run_group_tests_name("equations", tests, NULL, NULL);
}
