/* test_transitivity.c — engine/analyze/transitivity.c: Hamel coefficients of classical quasi-velocities against
 * textbooks. */
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The lower indices are in ascending order: γ^4_53 = −1 in a book is γ^4_35 = 1 here. */
/* clang-format off */
static const struct known {
    const char *name, *members, *coefficients;
} known[] = {
    /* Papastavridis, Analytical Mechanics, example 2.13.2 */
    {"a_knife_edge",
     "`coordinates`: [{`name`: `x`, `initial`: 0.3}, {`name`: `y`, `initial`: 0.4}, {`name`: `ph`, `initial`: 0.5}],"
     "`kinetic_energy`: `x'^2 + y'^2 + ph'^2`, `quasi_velocities`: ["
     "{`name`: `u1`, `definition`: `-sin(ph)*x' + cos(ph)*y'`},"
     "{`name`: `u2`, `definition`: `cos(ph)*x' + sin(ph)*y'`},"
     "{`name`: `u3`, `definition`: `ph'`}]",
     "u1; u2, u3 = -1\nu2; u1, u3 = 1\n"},
    /* Papastavridis, example 2.13.6, with radius 1/2 and rate 3 */
    {"a_ball_on_a_turntable",
     "`coordinates`: [{`name`: `X`, `initial`: 0.3}, {`name`: `Y`, `initial`: 0.4}, {`name`: `ph`, `initial`: 0.5}, {`name`: `th`, `initial`: 0.6}, {`name`: `ps`, `initial`: 0.7}],"
     "`kinetic_energy`: `X'^2 + Y'^2 + ph'^2 + th'^2 + ps'^2`, `quasi_velocities`: ["
     "{`name`: `u1`, `definition`: `X' - 0.5*u4 + 3*Y`},"
     "{`name`: `u2`, `definition`: `Y' + 0.5*u3 - 3*X`},"
     "{`name`: `u3`, `definition`: `cos(ph)*th' + sin(ph)*sin(th)*ps'`},"
     "{`name`: `u4`, `definition`: `sin(ph)*th' - cos(ph)*sin(th)*ps'`},"
     "{`name`: `u5`, `definition`: `ph' + cos(th)*ps'`}]",
     "u1; u2, t = -3\nu1; u3, u5 = -1/2\nu1; u3, t = 3/2\nu2; u1, t = 3\nu2; u4, u5 = -1/2\nu2; u4, t = 3/2\nu3; u4, u5 = -1\nu4; u3, u5 = 1\nu5; u3, u4 = -1\n"},
    /* Papastavridis, example 2.13.7, with the velocity of the point of contact */
    {"a_disk_by_its_point_of_contact",
     "`coordinates`: [{`name`: `X`, `initial`: 0.3}, {`name`: `Y`, `initial`: 0.4}, {`name`: `ph`, `initial`: 0.5}, {`name`: `th`, `initial`: 0.6}, {`name`: `ps`, `initial`: 0.7}],"
     "`kinetic_energy`: `X'^2 + Y'^2 + ph'^2 + th'^2 + ps'^2`, `quasi_velocities`: ["
     "{`name`: `u1`, `definition`: `-sin(ph)*X' + cos(ph)*Y'`},"
     "{`name`: `u2`, `definition`: `0.5*ps' + cos(ph)*X' + sin(ph)*Y'`},"
     "{`name`: `u3`, `definition`: `ph'`},"
     "{`name`: `u4`, `definition`: `th'`},"
     "{`name`: `u5`, `definition`: `cos(ph)*X' + sin(ph)*Y'`}]",
     "u1; u3, u5 = 1\nu2; u1, u3 = 1\nu5; u1, u3 = 1\n"},
    /* Papastavridis, example 2.13.8, where γ⁴ contains the factor 2 of the definition of u4 */
    {"two_wheels_on_an_axle",
     "`coordinates`: [{`name`: `X`, `initial`: 0.3}, {`name`: `Y`, `initial`: 0.4}, {`name`: `ph`, `initial`: 0.5}, {`name`: `p1`, `initial`: 0.6}, {`name`: `p2`, `initial`: 0.7}],"
     "`kinetic_energy`: `X'^2 + Y'^2 + ph'^2 + p1'^2 + p2'^2`, `quasi_velocities`: ["
     "{`name`: `u1`, `definition`: `cos(ph)*X' + sin(ph)*Y'`},"
     "{`name`: `u2`, `definition`: `-sin(ph)*X' + cos(ph)*Y'`},"
     "{`name`: `u3`, `definition`: `ph'`},"
     "{`name`: `u4`, `definition`: `2*u2 + 0.5*(p1' + p2')`},"
     "{`name`: `u5`, `definition`: `2*ph' + 0.5*(p1' - p2')`}]",
     "u1; u2, u3 = 1\nu2; u1, u3 = -1\nu4; u1, u3 = -2\n"},
    /* Papastavridis, example 2.13.9 */
    {"rotation_in_axes_of_the_body",
     "`coordinates`: [{`name`: `ph`, `initial`: 0.3}, {`name`: `th`, `initial`: 0.4}, {`name`: `ps`, `initial`: 0.5}],"
     "`kinetic_energy`: `ph'^2 + th'^2 + ps'^2`, `quasi_velocities`: ["
     "{`name`: `w1`, `definition`: `sin(th)*sin(ps)*ph' + cos(ps)*th'`},"
     "{`name`: `w2`, `definition`: `sin(th)*cos(ps)*ph' - sin(ps)*th'`},"
     "{`name`: `w3`, `definition`: `cos(th)*ph' + ps'`}]",
     "w1; w2, w3 = 1\nw2; w1, w3 = -1\nw3; w1, w2 = 1\n"},
    /* Papastavridis, example 2.13.9 */
    {"rotation_in_axes_of_space",
     "`coordinates`: [{`name`: `ph`, `initial`: 0.3}, {`name`: `th`, `initial`: 0.4}, {`name`: `ps`, `initial`: 0.5}],"
     "`kinetic_energy`: `ph'^2 + th'^2 + ps'^2`, `quasi_velocities`: ["
     "{`name`: `w1`, `definition`: `cos(ph)*th' + sin(ph)*sin(th)*ps'`},"
     "{`name`: `w2`, `definition`: `sin(ph)*th' - cos(ph)*sin(th)*ps'`},"
     "{`name`: `w3`, `definition`: `ph' + cos(th)*ps'`}]",
     "w1; w2, w3 = -1\nw2; w1, w3 = 1\nw3; w1, w2 = -1\n"},
    /* Papastavridis, example 2.13.9, with the line of nodes as the first axis */
    {"rotation_in_axes_of_the_nodes",
     "`coordinates`: [{`name`: `ph`, `initial`: 0.3}, {`name`: `th`, `initial`: 0.4}, {`name`: `ps`, `initial`: 0.5}],"
     "`kinetic_energy`: `ph'^2 + th'^2 + ps'^2`, `quasi_velocities`: ["
     "{`name`: `wx`, `definition`: `th'`},"
     "{`name`: `wy`, `definition`: `sin(th)*ph'`},"
     "{`name`: `wz`, `definition`: `cos(th)*ph' + ps'`}]",
     "wy; wx, wy = -cos(th)/sin(th)\nwz; wx, wy = 1\n"},
    /* Papastavridis, example 2.13.9 */
    {"velocity_of_a_pole_in_axes_of_the_nodes",
     "`coordinates`: [{`name`: `X`, `initial`: 0.3}, {`name`: `Y`, `initial`: 0.4}, {`name`: `ph`, `initial`: 0.5}, {`name`: `th`, `initial`: 0.6}, {`name`: `ps`, `initial`: 0.7}],"
     "`kinetic_energy`: `X'^2 + Y'^2 + ph'^2 + th'^2 + ps'^2`, `quasi_velocities`: ["
     "{`name`: `vn`, `definition`: `cos(ph)*X' + sin(ph)*Y'`},"
     "{`name`: `vN`, `definition`: `-sin(ph)*X' + cos(ph)*Y'`},"
     "{`name`: `wx`, `definition`: `th'`},"
     "{`name`: `wy`, `definition`: `sin(th)*ph'`},"
     "{`name`: `wz`, `definition`: `cos(th)*ph' + ps'`}]",
     "vn; vN, wy = 1/sin(th)\nvN; vn, wy = -1/sin(th)\nwy; wx, wy = -cos(th)/sin(th)\nwz; wx, wy = 1\n"},
    /* Papastavridis, example 2.13.9 */
    {"velocity_of_a_pole_in_axes_of_the_body",
     "`coordinates`: [{`name`: `X`, `initial`: 0.3}, {`name`: `Y`, `initial`: 0.4}, {`name`: `Z`, `initial`: 0.5}, {`name`: `ph`, `initial`: 0.6}, {`name`: `th`, `initial`: 0.7}, {`name`: `ps`, `initial`: 0.8}],"
     "`kinetic_energy`: `X'^2 + Y'^2 + Z'^2 + ph'^2 + th'^2 + ps'^2`, `quasi_velocities`: ["
     "{`name`: `v1`, `definition`: `(cos(ph)*cos(ps) - sin(ph)*cos(th)*sin(ps))*X' + (sin(ph)*cos(ps) + cos(ph)*cos(th)*sin(ps))*Y' + sin(th)*sin(ps)*Z'`},"
     "{`name`: `v2`, `definition`: `(-cos(ph)*sin(ps) - sin(ph)*cos(th)*cos(ps))*X' + (-sin(ph)*sin(ps) + cos(ph)*cos(th)*cos(ps))*Y' + sin(th)*cos(ps)*Z'`},"
     "{`name`: `v3`, `definition`: `sin(ph)*sin(th)*X' - cos(ph)*sin(th)*Y' + cos(th)*Z'`},"
     "{`name`: `w1`, `definition`: `sin(th)*sin(ps)*ph' + cos(ps)*th'`},"
     "{`name`: `w2`, `definition`: `sin(th)*cos(ps)*ph' - sin(ps)*th'`},"
     "{`name`: `w3`, `definition`: `cos(th)*ph' + ps'`}]",
     "v1; v2, w3 = 1\nv1; v3, w2 = -1\nv2; v1, w3 = -1\nv2; v3, w1 = 1\nv3; v1, w2 = 1\nv3; v2, w1 = -1\nw1; w2, w3 = 1\nw2; w1, w3 = -1\nw3; w1, w2 = 1\n"},
    /* Papastavridis, example 2.13.10 */
    {"gimbals",
     "`coordinates`: [{`name`: `ph`, `initial`: 0.3}, {`name`: `th`, `initial`: 0.4}, {`name`: `ps`, `initial`: 0.5}],"
     "`kinetic_energy`: `ph'^2 + th'^2 + ps'^2`, `quasi_velocities`: ["
     "{`name`: `wx`, `definition`: `ps' - sin(th)*ph'`},"
     "{`name`: `wy`, `definition`: `th'`},"
     "{`name`: `wz`, `definition`: `cos(th)*ph'`}]",
     "wx; wy, wz = 1\nwz; wy, wz = sin(th)/cos(th)\n"},
    /* Greenwood, Advanced Dynamics, example 4.13, rate 2 */
    {"a_knife_edge_that_turns_against_its_rod",
     "`coordinates`: [{`name`: `x`, `initial`: 0.3}, {`name`: `y`, `initial`: 0.4}, {`name`: `th`, `initial`: 0.5}],"
     "`kinetic_energy`: `x'^2 + y'^2 + th'^2`, `quasi_velocities`: ["
     "{`name`: `u1`, `definition`: `cos(th + 2*t)*x' + sin(th + 2*t)*y'`},"
     "{`name`: `u2`, `definition`: `th'`},"
     "{`name`: `u3`, `definition`: `-sin(th + 2*t)*x' + cos(th + 2*t)*y'`}]",
     "u1; u2, u3 = -1\nu1; u3, t = 2\nu3; u1, u2 = -1\nu3; u1, t = -2\n"},
};
/* clang-format on */
enum { KNOWN = sizeof known / sizeof *known };

static void expect_coefficients(const hamel_report *r, const char *wanted) {
    char text[2000] = "";
    for (size_t k = 0, at = 0; k < r->coefficient_count; k++) {
        const hamel_coefficient *c = &r->coefficients[k];
        at += (size_t)snprintf(text + at, sizeof text - at, "%s; %s, %s = %s\n", c->of, c->first, c->second, c->value);
        assert_true(at < sizeof text);
    }
    assert_string_equal(text, wanted);
}

static void the_coefficients_agree_with_the_source(void **state) {
    const struct known *k = *state;
    hamel_report *r = fixture_report(k->members);
    assert_int_equal(r->frame.count, r->coordinate_count);
    expect_coefficients(r, k->coefficients);
    hamel_report_free(r);
}

/* The system is the knife edge of example 2.13.2. The engine adds the quasi-velocity of the constraint and the velocity
 * of a coordinate. */
static void constraints_and_coordinates_complete_the_quasi_velocities(void **state) {
    (void)state;
    hamel_report *r = fixture_report(
        "`coordinates`: [`x`, `y`, {`name`: `ph`, `initial`: 0.6}], `kinetic_energy`: `x'^2 + y'^2 + ph'^2`,"
        "`quasi_velocities`: [{`name`: `u`, `definition`: `cos(ph)*x' + sin(ph)*y'`}],"
        "`constraints`: [{`name`: `edge`, `equation`: `-sin(ph)*x' + cos(ph)*y' = 0`}]");
    assert_int_equal(r->frame.count, 3);
    assert_string_equal(r->frame.items[1], "edge");
    expect_coefficients(r, "u; edge, ph' = 1\nedge; u, ph' = -1\n");
    hamel_report_free(r);
}

/* Velocities that are derivatives of positions commute: d δθ = δ dθ. */
static void derivatives_of_positions_have_no_coefficients(void **state) {
    (void)state;
    hamel_report *r =
        fixture_report("`coordinates`: [{`name`: `r`, `initial`: 1}, `ph`], `kinetic_energy`: `r'^2 + ph'^2`,"
                       "`quasi_velocities`: [{`name`: `X`, `definition`: `cos(ph)*r' - r*sin(ph)*ph'`},"
                       "{`name`: `Y`, `definition`: `sin(ph)*r' + r*cos(ph)*ph' + t`}]");
    assert_int_equal(r->frame.count, 2);
    expect_coefficients(r, "");
    hamel_report_free(r);
}

static void without_quasi_velocities_there_is_no_report(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [`x`], `kinetic_energy`: `x'^2`");
    assert_int_equal(r->frame.count, 0);
    assert_int_equal(r->coefficient_count, 0);
    hamel_report_free(r);
}

/* The inverse matrix and the curls are rational functions of a dozen atoms with thousands of terms. The computation of
 * the coefficients would take minutes. The report must list these coefficients as unfinished and contain all other
 * results. */
static void coefficients_beyond_the_work_budget_are_reported_as_unfinished(void **state) {
    (void)state;
    hamel_report *r = fixture_report(
        "`coordinates`: [{`name`: `x`, `initial`: 0.569, `velocity`: -0.3410075966906866}, {`name`: `y`, `ini"
        "tial`: -0.621, `velocity`: -0.3879091751735267}, {`name`: `z`, `initial`: 0.01, `velocity`: 0.130357"
        "5893721969}, {`name`: `w`, `initial`: -0.039, `velocity`: -0.3565083441699241}], `kinetic_energy`: `"
        "(x'^2+y'^2+z'^2+w'^2)/2`, `constraints`: [{`name`: `c0`, `equation`: `(-0.203+(-0.22)*z*x)*y'+(-1.12"
        "+(-0.878)*atan(y+w))*z' = 0`}, {`name`: `c1`, `equation`: `(-0.686+(-0.774)*sin(0.842*z+w))*w'+(0.95"
        "1+(-0.954)*w*w)*y'+(-0.404+(-0.562)*atan(z+w))*x' = 0`}], `quasi_velocities`: [{`name`: `s0`, `defin"
        "ition`: `x'*(1.2+.4*sin(w))+0.312*y'*cos(x-0.338*y)+0.27*y`}, {`name`: `s1`, `definition`: `y'*(1.2+"
        ".4*sin(z))+0.205*z'*cos(w-0.665*y)+.3*t`}, {`name`: `s2`, `definition`: `z'*(1.2+.4*sin(x))`}]");
    assert_int_equal(r->frame.count, 0);
    assert_int_equal(r->coefficient_count, 0);
    assert_int_equal(r->verdict, HAMEL_VERDICT_NONHOLONOMIC);
    bool named = false;
    for (size_t k = 0; k < r->unfinished.count; k++) named |= strcmp(r->unfinished.items[k], "transitivity") == 0;
    assert_true(named);
    hamel_report_free(r);
}

int main(void) {
    struct CMUnitTest tests[KNOWN + 4] = {
        cmocka_unit_test(constraints_and_coordinates_complete_the_quasi_velocities),
        cmocka_unit_test(derivatives_of_positions_have_no_coefficients),
        cmocka_unit_test(without_quasi_velocities_there_is_no_report),
        cmocka_unit_test(coefficients_beyond_the_work_budget_are_reported_as_unfinished),
    };
    for (size_t k = 0; k < KNOWN; k++) {
        tests[4 + k].name = known[k].name;
        tests[4 + k].test_func = the_coefficients_agree_with_the_source;
        tests[4 + k].initial_state = (void *)&known[k];
    }
    return cmocka_run_group_tests_name("transitivity", tests, NULL, NULL);
}
