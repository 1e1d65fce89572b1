/* test_warnings.c — engine/system/warnings.c and the warnings of elements: probable mistakes are reported with their
 * JSON Pointer, and plausible descriptions cause no warning. */
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POINT                                                                                                      \
    "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `particles`: [{`name`: `p`, `mass`: 1, `position`: [`x`, " \
    "`y`]}]"
#define ROD(members)                                                                                              \
    "`coordinates`: [{`name`: `th`, `initial`: 1}], `bodies`: [{`name`: `B`, `mass`: 1, `position`: [`sin(th)`, " \
    "`-cos(th)`]" members "}]"

typedef struct expectation {
    const char *members, *warning; /* expected warning; NULL if none */
} expectation;

static void check(const expectation *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        hamel_model *model = fixture_model(list[i].members, "`stop`: 1");
        const hamel_system *s = model->system;
        const char *found = s->warning_count ? s->warnings[0] : "no warning";
        if (s->warning_count != (list[i].warning != NULL) || (list[i].warning && !strstr(found, list[i].warning)))
            fail_msg("%s\n  found %zu warnings, first warning: %s\n  expected: %s", list[i].members, s->warning_count,
                     found, list[i].warning ? list[i].warning : "none");
        hamel_model_free(model);
    }
}
#define CHECK(list) check(list, sizeof list / sizeof *list)

static void negative_constants_are_reported(void **state) {
    (void)state;
    static const expectation list[] = {
        {POINT ", `dampers`: [{`name`: `d`, `between`: [`p`, [0, 0]], `coefficient`: -1}]",
         "/dampers/0/coefficient: the coefficient of damper d is -1: the damper adds energy"},
        {POINT ", `parameters`: {`c`: 2}, `dampers`: [{`between`: [`p`, [0, 0]], `coefficient`: `-c`}]",
         "the coefficient of damper 1 is -2"},
        {POINT ", `springs`: [{`name`: `s`, `between`: [`p`, [0, 0]], `stiffness`: -3}]",
         "/springs/0/stiffness: the stiffness of spring s is -3"},
        {POINT ", `springs`: [{`name`: `s`, `between`: [`p`, [0, 0]], `stiffness`: 3, `length`: -1}]",
         "/springs/0/length: the length of spring s is -1"},
        {POINT ", `dissipation`: `x'^2/2 - 0.1*y'^2`", "/dissipation: the dissipation is negative if only `y` moves"},
        {POINT ", `events`: [{`name`: `e`, `when`: `x`, `impulse`: {`constraint`: `x = 0`, `restitution`: 1.5}}]",
         "/events/0/impulse/restitution: the restitution is 1.5: the impulse adds energy"},
        /* the sign depends on the state, so no warning is reported */
        {POINT ", `dampers`: [{`between`: [`p`, [0, 0]], `coefficient`: `x - 5`}]", NULL},
        {POINT ", `dampers`: [{`between`: [`p`, [0, 0]], `coefficient`: 1}]", NULL},
        {POINT ", `springs`: [{`between`: [`p`, [0, 0]], `stiffness`: 1, `length`: 0.5}]", NULL},
        {POINT ", `dissipation`: `0.5*x'`", "only `x` moves, with x' < 0: it adds energy"},
        {POINT ", `dissipation`: `0.5*abs(x')`", NULL},
        {POINT ", `dissipation`: `(x' - y')^2`", NULL},
        {POINT ", `dissipation`: `x'^2 - 2*x'*y' + y'^2`", NULL},
        {POINT ", `dissipation`: `-(1 - x^2)*x'^2/2`", NULL}, /* van der Pol's equation */
        {POINT ", `events`: [{`name`: `e`, `when`: `x`, `impulse`: {`constraint`: `x = 0`, `restitution`: 1}}]", NULL},
    };
    CHECK(list);
}

static void elements_without_effect_are_reported(void **state) {
    (void)state;
    static const expectation list[] = {
        {POINT ", `points`: [{`name`: `O`, `position`: [1, 0]}], `loads`: [{`on`: `O`, `force`: [1, 0]}]",
         "/loads/0/force: the force has no effect: no coordinate moves `O`"},
        {POINT ", `springs`: [{`between`: [[0, 0], [1, 0]], `stiffness`: 5}]", "/springs/0: spring 1 has no effect"},
        {POINT ", `dampers`: [{`between`: [[0, 0], [1, `t`]], `coefficient`: 5}]",
         "/dampers/0: damper 1 has no effect"},
        {POINT ", `constraints`: [{`name`: `c`, `equation`: `x = 1`, `active`: false}]",
         "/constraints/0/equation: the constraint `c` never acts"},
        {POINT ", `constraints`: [{`name`: `c`, `equation`: `x = 1`}],"
               "`events`: [{`name`: `e`, `when`: `y`, `activate`: [`c`]}]",
         "/constraints/0/equation: the constraint `c` acts from the start, before the event `e` activates it"},
        {POINT ", `dissipation`: `x^2`", "/dissipation: the dissipation has no effect: it contains no velocity"},
        {ROD(", `inertia`: 0.3"), "/bodies/0/inertia: the inertia of `B` has no effect"},
        {ROD(", `orientation`: {`angle`: `th`}"), "/bodies/0: `B` rotates but has no inertia"},
        {ROD("") ", `loads`: [{`on`: `B`, `torque`: 2}]", "/loads/0/torque: the torque has no effect"},
        {ROD(", `orientation`: {`angle`: `th`}, `inertia`: 0.3") ", `loads`: [{`on`: `B`, `torque`: 2}]", NULL},
        /* an explicit angle of 0 shows that it is intended */
        {ROD(", `orientation`: {`angle`: 0}, `inertia`: 0.3"), NULL},
        {ROD(", `orientation`: {`angle`: `th`}") ", `kinetic_energy`: `0.1*th'^2`", NULL},
        {ROD(""), NULL},
        {POINT ", `constraints`: [{`name`: `c`, `equation`: `x = 1`}], `events`: [{`name`: `e`, `when`: `y`,"
               "`deactivate`: [`c`]}, {`name`: `f`, `when`: `y - 1`, `activate`: [`c`]}]",
         NULL},
        {POINT ", `constraints`: [{`name`: `c`, `equation`: `x = 1`, `active`: false}],"
               "`events`: [{`name`: `e`, `when`: `x`, `activate`: [`c`]}]",
         NULL},
        {POINT ", `constraints`: [{`name`: `c`, `equation`: `x = 1`, `active`: false}],"
               "`events`: [{`name`: `e`, `when`: `x`, `impulse`: {`constraint`: `c`}}]",
         NULL},
    };
    CHECK(list);
}

static void terms_that_count_twice_are_reported(void **state) {
    (void)state;
    static const expectation list[] = {
        {POINT ", `gravity`: [0, -9.81], `potential_energy`: `9.81*y`",
         "/potential_energy: the expression contains a term that"},
        {POINT ", `parameters`: {`g`: 9.81}, `gravity`: [0, `-g`], `potential_energy`: [`x^2`, `g*y`]",
         "/potential_energy"},
        {POINT ", `kinetic_energy`: `(x'^2 + y'^2)/2`", "/kinetic_energy"},
        {POINT ", `gravity`: [0, -9.81], `potential_energy`: `9.81*x`", NULL},
        {POINT ", `lagrangian`: `(x'^2 + y'^2)/2 - y`",
         "/lagrangian: the expression contains a term that elements and gravity also add"},
        {POINT ", `gravity`: [0, -9.81], `lagrangian`: `x'*y' - 9.81*y`", "/lagrangian"},
        {POINT ", `gravity`: [0, -9.81], `lagrangian`: `2*x'^2 + 9.81*y`", NULL},
        {POINT ", `kinetic_energy`: `3*(x'^2 + y'^2)/2`", NULL},
    };
    CHECK(list);
}

static void angles_that_look_like_degrees_are_reported(void **state) {
    (void)state;
#define PENDULUM(initial) "`coordinates`: [{`name`: `th`, `initial`: " initial "}], `kinetic_energy`: `th'^2/2`"
    static const expectation list[] = {
        {PENDULUM("30") ", `potential_energy`: `-cos(th)`",
         "/coordinates/0/initial: the angle `th` is 30 radians (4.77 turns); if degrees are meant, write 30*pi/180"},
        {PENDULUM("-22.5") ", `potential_energy`: `-cos(th + t)`", "the angle `th` is -22.5 radians"},
        {PENDULUM("`30*pi/180`") ", `potential_energy`: `-cos(th)`", NULL},
        {PENDULUM("`30`") ", `potential_energy`: `-cos(th)`", NULL}, /* a value in a string counts as intended */
        {PENDULUM("12.5") ", `potential_energy`: `-cos(th)`", NULL},
        {PENDULUM("30") ", `potential_energy`: `th^2`", NULL},
        {POINT ", `generalized_forces`: {`x`: `sin(30)`}",
         "/generalized_forces/x: the angle in a sine, cosine or tangent"},
        {POINT ", `generalized_forces`: {`x`: `sin(2*15 + t)`}", NULL},
        {POINT ", `parameters`: {`al`: 45}, `constraints`: [{`name`: `c`, `equation`: `y = tan(al)*(x - 1)`}]",
         "/parameters/al: the angle `al` is 45 radians"},
        {POINT ", `parameters`: {`w`: 45}, `generalized_forces`: {`x`: `sin(w*t)`}", NULL},
        {ROD(", `orientation`: {`angle`: 90}, `inertia`: 1"), "/bodies/0/orientation/angle: the angle is 90 radians"},
    };
    CHECK(list);
}

static void units_and_names_that_hide_others_are_reported(void **state) {
    (void)state;
    static const expectation list[] = {
        {"`coordinates`: [{`name`: `x`, `unit`: `m`}, `y`], `parameters`: {`m`: {`value`: 1, `unit`: `kg`}},"
         "`particles`: [{`name`: `p`, `mass`: `m`, `position`: [`x`, `y`]}]",
         "/coordinates/1: `y` is without a unit, but other quantities have one"},
        {"`coordinates`: [`x`, `y`], `parameters`: {`m`: {`value`: 1, `unit`: `kg`}},"
         "`particles`: [{`name`: `p`, `mass`: `m`, `position`: [`x`, `y`]}]",
         "/coordinates/0: `x`, `y` are without a unit, but other quantities have one: units of expressions with "
         "them are not checked"},
        {"`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..2`}], `parameters`: {`i`: 3}, `kinetic_energy`: "
         "`sum(k, 1, 2, x[k]'^2)`",
         "/coordinates/0/for: the index `i` hides the parameter with the same name"},
    };
    CHECK(list);
}

static void symbols_of_other_conventions_are_reported(void **state) {
    (void)state;
#define QUATERNION(first, last)                                                                                       \
    "`coordinates`: [{`name`: `a`, `initial`: " first "}, `b`, `c`, {`name`: `d`, `initial`: " last "}], `bodies`: [" \
    "{`name`: `B`, `mass`: 1, `position`: [0, 0, 0], `inertia`: [1, 1, 1], `orientation`: {`quaternion`: [`a`, `b`, " \
    "`c`, `d`]}}]"
    static const expectation list[] = {
        {ROD(", `orientation`: {`angle`: `th`}, `inertia`: 1") ", `outputs`: {`w`: `angular_velocity(B, 1)`}",
         "/outputs/w: in the plane angular_velocity() has only component 3; components 1 and 2 are 0"},
        {ROD(", `orientation`: {`angle`: `th`}, `inertia`: 1") ", `outputs`: {`w`: `angular_velocity(B, 3)`}", NULL},
        {QUATERNION("0", "1"),
         "/bodies/0/orientation/quaternion: `B` starts rotated by 180 degrees about the third axis"},
        {QUATERNION("1", "0"), NULL},
        {QUATERNION("0.6", "0.8"), NULL},
        {POINT ", `events`: [{`name`: `e`, `when`: `y`, `set`: {`y`: `-0.5*y'`}}]",
         "/events/0/set/y: the coordinate `y` is set to an expression of velocities; to set its velocity, write y'"},
        {POINT ", `events`: [{`name`: `e`, `when`: `y`, `set`: {`y'`: `-0.5*y'`, `x`: `x + y`}}]", NULL},
    };
    CHECK(list);
}

static void indices_that_only_multiply_are_reported(void **state) {
    (void)state;
#define LINE                                                                                                \
    "`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..3`, `initial`: `i`}], `particles`: [{`name`: `p[i]`, " \
    "`for`: `i = 1..3`, `mass`: 1, `position`: [`x[i]`, 0]}]"
    static const expectation list[] = {
        {LINE ", `springs`: [{`for`: `i = 1..2`, `between`: [`p[1]`, `p[2]`], `stiffness`: 2}]",
         "/springs/0/for: the index `i` is not used"},
        {LINE ", `loads`: [{`for`: {`i`: [1, 2], `j`: [1, 2]}, `on`: `p[j]`, `force`: [`3*t`, 0]}]",
         "/loads/0/for: the index `i` is not used"},
        {LINE ", `springs`: [{`for`: `i = 1..2`, `between`: [`p[i]`, `p[i + 1]`], `stiffness`: 2}]", NULL},
        {LINE ", `dampers`: [{`for`: `i = 1..2`, `between`: [`p[1]`, [0, 0]], `coefficient`: `2*i`}]", NULL},
        {LINE ", `loads`: [{`for`: {`i`: [1, 2], `j`: [1, `i`]}, `on`: `p[j]`, `force`: [3, 0]}]", NULL},
    };
    CHECK(list);
}

static void a_wheel_behind_its_surface_is_reported(void **state) {
    (void)state;
#define WHEEL(y, normal)                                                                                            \
    "`coordinates`: [`x`, {`name`: `y`, `initial`: " y "}, `th`], `bodies`: [{`name`: `B`, `mass`: 1, `position`: " \
    "[`x`, `y`], `orientation`: {`angle`: `th`}, `inertia`: 0.5}], `joints`: [{`name`: `r`, `type`: `rolling`,"     \
    "`radius`: 0.5, `normal`: " normal ", `between`: [[3, 0], `B`]}]"
    static const expectation list[] = {
        {WHEEL("0.5", "[0, -1]"), "/joints/0/normal: the wheel of `r` starts behind the surface"},
        {WHEEL("-0.5", "[0, 2]"), "/joints/0/normal: the wheel of `r` starts behind the surface"},
        {WHEEL("0.5", "[0, 1]"), NULL},
        {WHEEL("-0.5", "[0, -1]"), NULL}, /* the wheel is below a ceiling */
        {WHEEL("-2", "[0, 1]"), NULL},    /* the wheel moves in another plane */
    };
    CHECK(list);
}

static void a_family_has_one_warning_and_the_number_of_warnings_is_limited(void **state) {
    (void)state;
    char text[6000];
    int at = snprintf(text, sizeof text, POINT ", `dampers`: [");
    for (int k = 0; k < 40; k++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s{`between`: [`p`, [0, 0]], `coefficient`: -1}",
                       k ? ", " : "");
    snprintf(text + at, sizeof text - (size_t)at, "]");
    hamel_model *model = fixture_model(text, "`stop`: 1");
    assert_int_equal(model->system->warning_count, 21);
    assert_string_equal(model->system->warnings[20], "there are more warnings about the description");
    hamel_model_free(model);
    model = fixture_model(POINT ", `dampers`: [{`name`: `d[i]`, `for`: `i = 1..40`, `between`: [`p`, [0, 0]],"
                                "`coefficient`: `-i`}]",
                          "`stop`: 1");
    assert_int_equal(model->system->warning_count, 1);
    hamel_model_free(model);
}

static void analyses_report_warnings_too(void **state) {
    (void)state;
    hamel_report *report =
        fixture_report(POINT ", `dampers`: [{`name`: `d`, `between`: [`p`, [0, 0]], `coefficient`: -1}]");
    assert_int_equal(report->warnings.count, 1);
    assert_string_equal(report->warnings.items[0],
                        "/dampers/0/coefficient: the coefficient of damper d is -1: the damper adds energy");
    hamel_report_free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negative_constants_are_reported),
        cmocka_unit_test(elements_without_effect_are_reported),
        cmocka_unit_test(terms_that_count_twice_are_reported),
        cmocka_unit_test(angles_that_look_like_degrees_are_reported),
        cmocka_unit_test(units_and_names_that_hide_others_are_reported),
        cmocka_unit_test(symbols_of_other_conventions_are_reported),
        cmocka_unit_test(indices_that_only_multiply_are_reported),
        cmocka_unit_test(a_wheel_behind_its_surface_is_reported),
        cmocka_unit_test(analyses_report_warnings_too),
        cmocka_unit_test(a_family_has_one_warning_and_the_number_of_warnings_is_limited),
    };
    return cmocka_run_group_tests_name("warnings", tests, NULL, NULL);
}
