/* test_equations.c — engine/equations/equations.c: the entries of written equations agree with the text, in all
 * formulations. */
#include "tests/unit/written_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The momentum of x[2] is constant. Two forces act on x[1]. */
#define FAMILY                                                                                                        \
    "{`hamel`: 1, `coordinates`: [{`for`: `i = 1..2`, `name`: `x[i]`}], `kinetic_energy`: `sum(i, 1, 2, x[i]'^2)/2`," \
    "`potential_energy`: `x[1]`, `generalized_forces`: {`x[1]`: `-x[1]'`}, `simulation`: {`stop`: 1}}"

static void the_rate_of_an_indexed_variable_is_written_if_it_is_0(void **state) {
    (void)state;
    written_example e;
    written_open(&e, FAMILY, "hamilton");
    char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
    assert_non_null(strstr(text, "\np_x[2]' = 0\n"));
    free(text);
    written_close(&e);
}

static void latex_has_all_indices_of_an_entry_with_indexed_names(void **state) {
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

static void coefficients_have_symbols_and_indices(void **state) {
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

/* Returns the line that the text contains for an entry, such as "M[x, y] = m". The caller frees it. */
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

/* Each entry is a line of the text, and each line that does not begin with the name of an equation is an entry. */
static void entries_are_the_quantities_that_the_text_defines(void **state) {
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

static void c_code_has_no_entries(void **state) {
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
        cmocka_unit_test(entries_are_the_quantities_that_the_text_defines),
        cmocka_unit_test(c_code_has_no_entries),
        cmocka_unit_test(coefficients_have_symbols_and_indices),
        cmocka_unit_test(the_rate_of_an_indexed_variable_is_written_if_it_is_0),
        cmocka_unit_test(latex_has_all_indices_of_an_entry_with_indexed_names),
    };
    return cmocka_run_group_tests_name("equations", tests, NULL, NULL);
}
