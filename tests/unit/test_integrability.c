/* test_integrability.c — engine/analyze/integrability.c: residuals and ranks of velocity constraints agree with
 * Papastavridis and with the verdict on holonomy (holonomy.c). */
#include "engine/analyze/integrability.h"
#include "tests/unit/fixture.h"
#include "tests/unit/written_text.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ENERGY(...) "`kinetic_energy`: `" __VA_ARGS__ "`,"

static const hamel_integrability_form *form_at(const hamel_report *r, size_t k) {
    assert_true(k < r->integrability->form_count);
    return &r->integrability->forms[k];
}

/* Checks the ranks of constraint k: `alone`, `joint` (with all m independent constraints of its group), and `system` =
 * 2m. */
static void assert_ranks(const hamel_report *r, size_t k, size_t alone, size_t joint, size_t system) {
    assert_int_equal(form_at(r, k)->rank, alone);
    assert_int_equal(form_at(r, k)->joint_rank, joint);
    assert_int_equal(form_at(r, k)->system_rank, system);
}

static void assert_residual(const hamel_integrability_residual *found, const char *of, const char *first,
                            const char *second, const char *third, const char *expression, double value) {
    assert_true((of == NULL) == (found->of == NULL) && (third == NULL) == (found->variables[2] == NULL));
    if (of) assert_string_equal(found->of, of);
    assert_string_equal(found->variables[0], first);
    assert_string_equal(found->variables[1], second);
    if (third) assert_string_equal(found->variables[2], third);
    assert_string_equal(found->expression, expression);
    assert_true(found->has_value && fabs(found->value - value) < 1e-12);
}

/* Papastavridis, example 2.13.1: h·curl h of the knife edge is −1, so the constraint is not integrable. */
static void the_knife_edge_has_the_published_h_curl_h(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [`x`, `y`, {`name`: `phi`, `initial`: 0.3}]," ENERGY(
        "x'^2 + y'^2 + phi'^2") "`constraints`: [{`name`: `knife`, `equation`: "
                                "`sin(phi)*x' - cos(phi)*y' = 0`}]");
    assert_int_equal(form_at(r, 0)->frobenius_count, 1);
    assert_residual(&form_at(r, 0)->frobenius[0], NULL, "x", "y", "phi", "-1", -1);
    assert_ranks(r, 0, 4, 4, 2);
    assert_int_equal(r->integrability->solved_count, 1);
    hamel_report_free(r);
}

/* z dx + z dy − (x + y) dz = z² d((x + y)/z) has an integrating factor but is not exact: curl h ≠ 0, and h·curl h = 0.
 * */
static void h_curl_h_of_an_integrable_constraint_is_zero(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [`x`, `y`, {`name`: `z`, `initial`: 1}]," ENERGY(
        "x'^2 + y'^2 + z'^2") "`constraints`: [{`name`: `c`, `equation`: "
                              "`z*x' + z*y' = (x + y)*z'`}]");
    assert_true(form_at(r, 0)->has_components);
    assert_int_equal(form_at(r, 0)->frobenius_count, 0);
    assert_ranks(r, 0, 2, 2, 2);
    assert_int_equal(r->integrability->solved_count, 0);
    hamel_report_free(r);
}

/* Papastavridis 2.3.8: dz = A dx + B dy is integrable if and only if A_y + A_z B = B_x + B_z A. For A = y z and B = x²,
 * the difference of the two sides is z + x² y − 2 x. */
static void a_solved_constraint_has_the_residual_of_deahna_and_bouquet(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [{`name`: `x`, `initial`: 2}, {`name`: `y`, `initial`: 3},"
                                     "{`name`: `z`, `initial`: 5}]," ENERGY(
                                         "x'^2 + y'^2 + z'^2") "`constraints`: [{"
                                                               "`name`: `c`, `equation`: `z' = y*z*x' + x^2*y'`}]");
    assert_int_equal(r->integrability->solved_count, 1);
    const hamel_integrability_residual *found = &r->integrability->solved[0];
    assert_string_equal(found->of, "z");
    assert_string_equal(found->variables[0], "x");
    assert_string_equal(found->variables[1], "y");
    assert_true(fabs(found->value - (5 + 4 * 3 - 4)) < 1e-12);
    hamel_report_free(r);
}

/* x' = t y' + y is integrable: x = t y. x' = t y' − y is not, because ∂t/∂t − ∂(−y)/∂y = 2. */
static void integrability_of_a_rheonomic_constraint_depends_on_time_terms(void **state) {
    (void)state;
#define MOVING(sign)                                             \
    "`coordinates`: [`x`, {`name`: `y`, `initial`: 0}]," ENERGY( \
        "x'^2 + y'^2") "`constraints`: [{`name`: `c`, `equation`: `x' = t*y' " sign " y`}]"
    hamel_report *r = fixture_report(MOVING("+"));
    assert_int_equal(r->integrability->solved_count, 0);
    assert_int_equal(form_at(r, 0)->frobenius_count, 0);
    assert_ranks(r, 0, 2, 2, 2);
    hamel_report_free(r);
    r = fixture_report(MOVING("-"));
    assert_int_equal(r->integrability->solved_count, 1);
    assert_residual(&r->integrability->solved[0], "x", "y", "t", NULL, "2", 2);
    assert_ranks(r, 0, 4, 4, 2);
    hamel_report_free(r);
}

/* Papastavridis, problem 2.12.8: the joint ranks of both constraints of the vertical rolling disk are 6, and 2m = 4.
 * With the third constraint φ' = 0, all joint ranks are 6 = 2m, so the system is holonomic. The first two constraints
 * are not integrable alone. */
static void a_third_constraint_makes_the_vertical_rolling_disk_integrable(void **state) {
    (void)state;
#define DISK(more)                                                                                             \
    "`coordinates`: [`x`, `y`, {`name`: `phi`, `initial`: 0.6}, `psi`], " ENERGY(                              \
        "x'^2 + y'^2 + phi'^2 + psi'^2") "`constraints`: [{`name`: `a`, `equation`: `x' = 2*cos(phi)*psi'`}, " \
                                         "{`name`: `b`, `equation`: "                                          \
                                         "`y' = 2*sin(phi)*psi'`}" more "]"
    hamel_report *r = fixture_report(DISK(""));
    for (size_t k = 0; k < 2; k++) assert_ranks(r, k, 4, 6, 4);
    assert_int_equal(r->integrability->solved_count, 2);
    hamel_report_free(r);
    r = fixture_report(DISK(", {`name`: `c`, `equation`: `phi' = 0`}"));
    for (size_t k = 0; k < 2; k++) assert_ranks(r, k, 4, 6, 6);
    assert_ranks(r, 2, 2, 6, 6);
    assert_int_equal(r->integrability->solved_count, 0);
    hamel_report_free(r);
}

/* Papastavridis, example 2.13.7: the disk may lean and has two constraints. The joint rank of the first is 2m = 4; the
 * joint rank of the second is 6, so only the second fails Frobenius' test. */
static void one_constraint_of_the_leaning_disk_fails_the_test_of_frobenius(void **state) {
    (void)state;
    written_example e;
    hamel_report *r = NULL;
    written_open_example(&e, "papastavridis_2_13_7_rolling_disk", "lagrange");
    assert_int_equal(hamel_analyze(&r, &e.description.description, NULL, NULL, NULL), HAMEL_OK);
    assert_ranks(r, 0, 4, 4, 4);
    assert_ranks(r, 1, 4, 6, 4);
    hamel_report_free(r);
    written_close(&e);
}

/* The residuals of Deahna and Bouquet are all 0 if and only if all velocity constraints can be integrated. holonomy.c
 * finds the number of integrable combinations by a different method. */
static void residuals_agree_with_the_decided_verdicts_of_the_examples(void **state) {
    (void)state;
    glob_t files;
    size_t holonomic = 0, nonholonomic = 0;
    assert_int_equal(glob("api/examples/*.json", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        char *text = written_file(files.gl_pathv[k]);
        written_example e;
        hamel_report *r = NULL;
        if (strstr(text, "velocit") != NULL || strstr(text, "'") != NULL) {
            assert_true(written_open_text(&e, text, "auto"));
            assert_int_equal(hamel_analyze(&r, &e.description.description, NULL, NULL, NULL), HAMEL_OK);
            const hamel_integrability *i = r->integrability;
            bool decided = r->verdict != HAMEL_VERDICT_UNDETERMINED && !r->at_start.differs && i->form_count > 0;
            if (decided && r->integrable == r->velocity_rank && i->solved_count > 0)
                fail_msg("%s: all velocity constraints are integrable, but a residual is %s", files.gl_pathv[k],
                         i->solved[0].expression);
            if (decided && r->integrable < r->velocity_rank && i->solved_count == 0 && i->form_count > 0)
                fail_msg("%s: a velocity constraint is not integrable, but all residuals are 0", files.gl_pathv[k]);
            holonomic += decided && r->integrable == r->velocity_rank;
            nonholonomic += decided && r->integrable < r->velocity_rank && i->solved_count > 0;
            hamel_report_free(r);
            written_close(&e);
        }
        free(text);
    }
    globfree(&files);
    print_message("%zu holonomic, %zu nonholonomic\n", holonomic, nonholonomic);
    assert_true(holonomic >= 5 && nonholonomic >= 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_knife_edge_has_the_published_h_curl_h),
        cmocka_unit_test(h_curl_h_of_an_integrable_constraint_is_zero),
        cmocka_unit_test(a_solved_constraint_has_the_residual_of_deahna_and_bouquet),
        cmocka_unit_test(integrability_of_a_rheonomic_constraint_depends_on_time_terms),
        cmocka_unit_test(a_third_constraint_makes_the_vertical_rolling_disk_integrable),
        cmocka_unit_test(one_constraint_of_the_leaning_disk_fails_the_test_of_frobenius),
        cmocka_unit_test(residuals_agree_with_the_decided_verdicts_of_the_examples),
    };
    return cmocka_run_group_tests_name("integrability", tests, NULL, NULL);
}
