/* test_voronets.c — engine/mechanics/voronets.c, chaplygin.c: runs whose constraints are solved for dependent
 * velocities.
 *
 * The tests check accelerations with published values, and runs through configurations in which the constraints do
 * not determine the chosen dependent velocities. They also check that Chaplygin's equations reject unsupported
 * systems. */
#include "engine/mechanics/formulation.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"
#include "tests/unit/record.h"
#include "tests/unit/written_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const SOLVED_FORMS[] = {"hadamard", "voronets", "chaplygin"};

/* A sleigh with m = 1 and I_G = 0.1. Its mass centre is at the distance b = 0.2 ahead of the blade. With the speed v
 * along the blade and the rotation rate w, (I_G + m b²) φ'' = −m b v w and v' = b w² (Neimark & Fufaev, ch. 3).
 *
 * At v = 0.5, w = 2 and φ = 0.5: φ'' = −0.2/0.14, v' = 0.8, x'' = v' cos φ − v w sin φ and y'' = v' sin φ + v w cos
 * φ. The multiplier is λ = m (v w + b φ'') = 0.714285714. */
static void a_sleigh_has_the_published_accelerations(void **state) {
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "`stop`: 1e-3, `samples`: 2, `rtol`: 1e-10, `formulation`: `%s`",
                 SOLVED_FORMS[f]);
        motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: `0.5*cos(0.5)`}, {`name`: `y`, `velocity`: "
                              "`0.5*sin(0.5)`}, {`name`: `phi`, `initial`: 0.5, `velocity`: 2}],"
                              "`kinetic_energy`: `((x' - 0.2*sin(phi)*phi')^2 + (y' + 0.2*cos(phi)*phi')^2 + "
                              "0.1*phi'^2)/2`,"
                              "`constraints`: [{`name`: `blade`, `equation`: `y'*cos(phi) - x'*sin(phi) = 0`}],"
                              "`outputs`: {`ax`: `x''`, `ay`: `y''`, `aphi`: `phi''`, `N`: `lambda(blade)`}",
                              simulation);
        assert_near("x''", motion_value(&m, 0, motion_column(&m, "ax")), 0.8 * cos(0.5) - sin(0.5), 1e-13);
        assert_near("y''", motion_value(&m, 0, motion_column(&m, "ay")), 0.8 * sin(0.5) + cos(0.5), 1e-13);
        assert_near("phi''", motion_value(&m, 0, motion_column(&m, "aphi")), -0.2 / 0.14, 1e-13);
        assert_near("N", motion_value(&m, 0, motion_column(&m, "N")), 1 - 0.2 * 0.2 / 0.14, 1e-13);
        motion_free(&m);
    }
}

/* --- dependent velocities that the constraints do not determine
 * ------------------------------------------------------- */

#define KNIFE_EDGE(phi, potential)                                                                          \
    "`coordinates`: [{`name`: `x`, `velocity`: `cos(" phi ")`}, {`name`: `y`, `velocity`: `sin(" phi ")`}," \
    "{`name`: `phi`, `initial`: `" phi "`, `velocity`: 1}], `kinetic_energy`: `(x'^2 + y'^2 + phi'^2)/2`,"  \
    "`potential_energy`: `" potential "`,"                                                                  \
    "`constraints`: [{`name`: `edge`, `equation`: `x'*sin(phi) = y'*cos(phi)`}]"

/* A free knife edge moves on a circle: x = sin t, y = 1 − cos t. The constraint does not determine y' if cos φ = 0,
 * and does not determine x' if sin φ = 0. Some rows are at these configurations. The bound 1e-8 is 100 rtol, because
 * errors add up over the revolution. */
static void a_knife_edge_passes_configurations_that_do_not_determine_a_velocity(void **state) {
    static const char *const methods[] = {"erk", "adams", "bdf"};
    (void)state;
    for (size_t f = 0; f < 3; f++)
        for (size_t k = 0; k < 3; k++) {
            char simulation[200];
            snprintf(simulation, sizeof simulation,
                     "`stop`: 6.283185307179586, `samples`: 9, `rtol`: 1e-10, `formulation`: `%s`, `method`: `%s`",
                     SOLVED_FORMS[f], methods[k]);
            motion m = motion_run(KNIFE_EDGE("0", "0"), simulation);
            for (size_t row = 0; row < m.row_count; row++) {
                double t = motion_value(&m, row, 0);
                assert_near("x", motion_value(&m, row, motion_column(&m, "x")), sin(t), 1e-8);
                assert_near("y", motion_value(&m, row, motion_column(&m, "y")), 1 - cos(t), 1e-8);
            }
            motion_free(&m);
        }
}

/* The potential contains x, so only y may be dependent in Chaplygin's equations. The run stops at the row with cos φ
 * = 0, and the error names y'. Voronets' equations choose x' as the dependent velocity there. */
static void equations_of_chaplygin_report_velocities_that_are_not_determined(void **state) {
    static const char *const starts[] = {KNIFE_EDGE("0", "x^2/2"), KNIFE_EDGE("1.5707963267948966", "x^2/2")};
    static const char rows[] = "`stop`: 3.141592653589793, `samples`: 3";
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "%s, `formulation`: `chaplygin`", rows);
        record *r = record_run(starts[k], simulation);
        assert_true(r->status == HAMEL_SINGULAR || r->status == HAMEL_INTEGRATION);
        assert_true(record_says(r,
                                "the constraints do not determine the dependent velocities of Chaplygin's equations: "
                                "`y'`"));
        assert_true(record_says(r, k == 0 ? "at t = 1.57079633" : "at t = 0"));
        record_free(r);
        snprintf(simulation, sizeof simulation, "%s, `formulation`: `lagrange`", rows);
        motion expected = motion_run(starts[k], simulation);
        snprintf(simulation, sizeof simulation, "%s, `formulation`: `voronets`", rows);
        motion found = motion_run(starts[k], simulation);
        /* both runs have the default rtol of 1e-8; the bound is 100 rtol */
        assert_below("voronets", motion_difference(&expected, &found), 1e-6);
        motion_free(&expected);
        motion_free(&found);
    }
}

/* --- systems that Chaplygin's equations do not support ---------------------------------------------------------------- */

/* Checks that no model with Chaplygin's equations can be created, and that the error message contains `text`. */
static void assert_refused(const char *members, const char *text) {
    fixture f;
    hamel_model *model = NULL;
    fixture_read(&f, members, "`stop`: 1, `formulation`: `chaplygin`");
    assert_int_equal(hamel_model_create(&model, &f.description, NULL, NULL, &f.error), HAMEL_INVALID);
    if (!fixture_says(&f, text)) fail_msg("%s: %s", text, f.error.faults[0].message);
    fixture_close(&f);
}

#define TWO(kinetic, more)                                                            \
    "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: 1}, `z`]," \
    "`kinetic_energy`: `" kinetic "`, `constraints`: [{`name`: `c`, `equation`: `y' = z*x'`}]" more

static void equations_of_chaplygin_reject_systems_that_contain_the_dependent_coordinate(void **state) {
    (void)state;
    assert_refused(TWO("(1 + x^2 + y^2)*(x'^2 + y'^2 + z'^2)", ""), "`y` appears in the kinetic energy");
    assert_refused(TWO("x'^2 + y'^2 + z'^2", ", `potential_energy`: `x^2*y`"), "`y` appears in the force on `x`");
    assert_refused(TWO("x'^2 + y'^2 + z'^2", ", `generalized_forces`: {`z`: `sin(x - y)`}"),
                   "`y` appears in the force on `z`");
    assert_refused(
        "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: 1}], `kinetic_energy`: `x'^2 + "
        "y'^2`, `constraints`: [{`name`: `c`, `equation`: `x*y' = x'*y`}]",
        "the constraint `c` cannot be solved for a dependent velocity whose coordinate is absent from all "
        "energies, forces and constraints: `x` appears in the constraint `c`; `y` appears in the constraint "
        "`c`");
}

/* Papastavridis, example 2.2.4 (Ishlinsky's problem): the b_DI contain dependent coordinates. Example 2.13.5: the
 * b_D contain the dependent coordinates X and Y. */
static void equations_of_chaplygin_reject_two_systems_of_papastavridis(void **state) {
    static const char *const names[][2] = {
        {"papastavridis_2_2_4_ishlinsky", "appears in the constraint"},
        {"papastavridis_2_13_5_ball_on_turntable", "`Y` appears in the constraint `rollX`"}};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        written_example e;
        hamel_model *model = NULL;
        hamel_error error = {0};
        written_open_example(&e, names[k][0], "voronets");
        e.description.description.simulation.formulation = "chaplygin";
        assert_int_equal(hamel_model_create(&model, &e.description.description, NULL, NULL, &error), HAMEL_INVALID);
        if (!strstr(error.faults[0].message, names[k][1])) fail_msg("%s", error.faults[0].message);
        hamel_error_clear(&error);
        written_close(&e);
    }
}

/* A coordinate is absent if no derived expression contains it. A potential that is linear in the coordinate has a
 * constant force. sin² + cos² of the coordinate is simplified to 1. */
static void coordinates_that_are_absent_after_simplification_may_be_dependent(void **state) {
    static const char *const systems[] = {
        TWO("x'^2 + y'^2 + z'^2", ", `potential_energy`: `3*y`"),
        TWO("(x'^2 + (cos(y)^2 + sin(y)^2)*y'^2 + z'^2)", ""),
        /* the constraint contains the time (rheonomic) and a term without velocities (acatastatic) */
        "`coordinates`: [`x`, `y`, `z`], `kinetic_energy`: `x'^2 + y'^2 + z'^2`,"
        "`constraints`: [{`name`: `c`, `equation`: `y' = z*x' + sin(t)*z`}]",
        /* two equal constraints */
        "`coordinates`: [`x`, `y`, `z`], `kinetic_energy`: `x'^2 + y'^2 + z'^2 + z^2*x'^2`,"
        "`constraints`: [{`name`: `c`, `equation`: `y' = z*x'`}, {`name`: `d`, `equation`: `y' = z*x'`}]",
    };
    (void)state;
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++)
        for (size_t f = 0; f < 3; f++) {
            char simulation[200];
            const char *common = "`stop`: 2, `samples`: 5, `rtol`: 1e-10, `initialization`: `project`";
            snprintf(simulation, sizeof simulation, "%s, `formulation`: `lagrange`", common);
            motion expected = motion_run(systems[k], simulation);
            snprintf(simulation, sizeof simulation, "%s, `formulation`: `%s`", common, SOLVED_FORMS[f]);
            motion found = motion_run(systems[k], simulation);
            assert_below(SOLVED_FORMS[f], motion_difference(&expected, &found), 1e-7);
            motion_free(&expected);
            motion_free(&found);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sleigh_has_the_published_accelerations),
        cmocka_unit_test(a_knife_edge_passes_configurations_that_do_not_determine_a_velocity),
        cmocka_unit_test(equations_of_chaplygin_report_velocities_that_are_not_determined),
        cmocka_unit_test(equations_of_chaplygin_reject_systems_that_contain_the_dependent_coordinate),
        cmocka_unit_test(equations_of_chaplygin_reject_two_systems_of_papastavridis),
        cmocka_unit_test(coordinates_that_are_absent_after_simplification_may_be_dependent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
