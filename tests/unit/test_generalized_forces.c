/* test_generalized_forces.c — engine/analyze/forces.c: the terms of the virtual work, and reactions by relaxation of
 * constraints. */
#include "engine/analyze/forces.h"
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const simulation = "`stop`: 1";

static hamel_forces *forces_of(const char *members) {
    fixture f;
    hamel_forces *forces = NULL;
    fixture_read(&f, members, simulation);
    hamel_status status = hamel_find_forces(&forces, &f.description, false, NULL, NULL, &f.error);
    if (status != HAMEL_OK) fail_msg("forces: %s", f.error.count ? f.error.faults[0].message : "no fault");
    fixture_close(&f);
    return forces;
}

static void expect(const hamel_forces *forces, const char *origin, const char *coordinate, double value) {
    for (size_t k = 0; k < forces->count; k++) {
        const hamel_action *action = &forces->actions[k];
        for (size_t i = 0; i < action->count && strcmp(action->origin, origin) == 0; i++) {
            if (strcmp(action->on[i].coordinate, coordinate) != 0) continue;
            assert_near(origin, action->on[i].value, value, 1e-13);
            return;
        }
    }
    fail_msg("no force on %s from %s", coordinate, origin);
}

static void forces_are_listed_by_origin(void **state) {
    (void)state;
    hamel_forces *forces = forces_of(
        "`parameters`: {`k`: 3, `m`: 2}, `coordinates`: [{`name`: `x`, `initial`: 1.5, `velocity`: 0.7}],"
        "`particles`: [{`name`: `P`, `mass`: `m`, `position`: [`x`, 0]}], `gravity`: [-9, 0],"
        "`springs`: [{`name`: `s`, `between`: [`P`, [0, 0]], `stiffness`: `k`, `length`: 1},"
        "{`between`: [`P`, [0, 0]], `stiffness`: 4}, {`name`: `r[i]`, `for`: `i = 1..2`, `between`: [`P`, [`i`, 0]],"
        "`stiffness`: 1}], `dampers`: [{`between`: [`P`, [0, 0]], `coefficient`: 2}],"
        "`loads`: [{`on`: `P`, `force`: [4, 1]}, {`on`: `P`, `force`: [`t - x'`, 0]}],"
        "`potential_energy`: `5*x`, `generalized_forces`: {`x`: 6}, `dissipation`: `x'^2/4`");
    assert_int_equal(forces->count, 11);
    expect(forces, "potential_energy", "x", -5);
    expect(forces, "gravity", "x", -18);
    expect(forces, "spring s", "x", -1.5);
    expect(forces, "spring 2", "x", -6);
    expect(forces, "spring r[1]", "x", -0.5);
    expect(forces, "spring r[2]", "x", 0.5);
    expect(forces, "damper 1", "x", -1.4);
    expect(forces, "load on P", "x", 4); /* the first of two loads */
    expect(forces, "generalized_forces", "x", 6);
    expect(forces, "dissipation", "x", -0.35);
    hamel_forces_free(forces);
}

/* Baruh, example 4.7: uniform links, angles measured from the downward vertical, and a force at the tip. */
static void the_virtual_work_of_a_force_at_the_tip(void **state) {
    (void)state;
    double L1 = 0.8, L2 = 0.6, m1 = 1.2, m2 = 0.7, g = 9.81, Fx = 1.5, Fy = -0.4, a = 0.3, b = -0.5;
    hamel_forces *forces = forces_of(
        "`coordinates`: [{`name`: `a`, `initial`: 0.3}, {`name`: `b`, `initial`: -0.5}], `gravity`: [0, -9.81],"
        "`bodies`: [{`name`: `A`, `mass`: 1.2, `position`: [`0.4*sin(a)`, `-0.4*cos(a)`], `inertia`: 0.064,"
        "`orientation`: {`angle`: `a`}}, {`name`: `B`, `mass`: 0.7, `inertia`: 0.021, `orientation`: {`angle`: `b`},"
        "`position`: [`0.8*sin(a) + 0.3*sin(b)`, `-0.8*cos(a) - 0.3*cos(b)`]}],"
        "`points`: [{`name`: `tip`, `position`: [`0.8*sin(a) + 0.6*sin(b)`, `-0.8*cos(a) - 0.6*cos(b)`]}],"
        "`loads`: [{`on`: `tip`, `force`: [1.5, -0.4]}]");
    expect(forces, "load on tip", "a", L1 * (Fx * cos(a) + Fy * sin(a)));
    expect(forces, "load on tip", "b", L2 * (Fx * cos(b) + Fy * sin(b)));
    expect(forces, "gravity", "a", -L1 * (m2 + m1 / 2) * g * sin(a));
    expect(forces, "gravity", "b", -L2 * m2 * g * sin(b) / 2);
    hamel_forces_free(forces);
}

/* Baruh, example 4.13: a collar on a rod. In the relaxed system, the angle of the collar is independent of the angle of
 * the rod. The reaction is the moment N r. */
static const char *const collar =
    "`parameters`: {`m`: 0.5, `M`: 1.5, `L`: 2, `g`: 9.81}, `coordinates`: [{`name`: `r`, `initial`: 0.8, `velocity`: "
    "0.4},"
    "{`name`: `th`, `initial`: 0.6, `velocity`: 1.1}, {`name`: `ph`, `initial`: 0.6, `velocity`: 1.1}],"
    "`kinetic_energy`: `M*L^2*th'^2/6 + m*(r'^2 + r^2*ph'^2)/2`,"
    "`potential_energy`: `-m*g*r*cos(ph) - M*g*L/2*cos(th)`,"
    "`constraints`: [{`name`: `guide`, `equation`: `ph - th = 0`}, {`name`: `idle`, `equation`: `r = 9`, `active`: "
    "false}]";

static void a_relaxed_constraint_shows_its_reaction(void **state) {
    (void)state;
    double m = 0.5, M = 1.5, L = 2, g = 9.81, r = 0.8, r1 = 0.4, th = 0.6, w = 1.1;
    double th2 = -(2 * m * r * r1 * w + (m * r + M * L / 2) * g * sin(th)) / (M * L * L / 3 + m * r * r);
    double N = m * (r * th2 + 2 * r1 * w + g * sin(th));
    fixture f;
    hamel_relaxation *relaxation = NULL;
    fixture_read(&f, collar, simulation);
    assert_int_equal(hamel_relax(&relaxation, &f.description, (hamel_argument){"guide", ""}, NULL, NULL, &f.error),
                     HAMEL_OK);
    assert_string_equal(relaxation->constraint, "guide");
    assert_int_equal(relaxation->count, 2);
    assert_near("multiplier", relaxation->multiplier, N * r, 1e-12);
    assert_string_equal(relaxation->reactions[0].coordinate, "th");
    assert_near("on the rod", relaxation->reactions[0].value, -N * r, 1e-12);
    assert_near("on the collar", relaxation->reactions[1].value, N * r, 1e-12);
    assert_string_equal(relaxation->reactions[1].expression, "m*r^2*ph'' + 2*m*r*r'*ph' + m*g*r*sin(ph)");
    hamel_relaxation_free(relaxation);
    fixture_close(&f);
}

/* A block of 2 kg on a horizontal floor is pulled by 3 N along x. If the block slides, friction is μ N. If the block
 * sticks, friction cancels the pull. */
static void friction_acts_whether_it_slides_or_sticks(void **state) {
    (void)state;
    static const char *const velocities[] = {"0.5", "-0.5", "0"};
    static const double force[] = {-0.2 * 2 * 9.81, 0.2 * 2 * 9.81, -3};
    for (int k = 0; k < 3; k++) {
        char members[600];
        snprintf(members, sizeof members,
                 "`coordinates`: [{`name`: `x`, `velocity`: %s}, `y`], `gravity`: [0, -9.81],"
                 "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}],"
                 "`loads`: [{`on`: `P`, `force`: [3, 0]}],"
                 "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.2}}]",
                 velocities[k]);
        hamel_forces *forces = forces_of(members);
        assert_int_equal(forces->count, 3);
        expect(forces, "friction on floor", "x", force[k]);
        hamel_forces_free(forces);
    }
}

/* A horizontal pendulum: the ideal reaction of the rod is the centripetal force m y'²/l = 2·0.7². The prescribed
 * transverse force depends on this reaction and on its multiplier. */
static void prescribed_work_depends_on_the_ideal_reaction(void **state) {
    (void)state;
    hamel_forces *forces =
        forces_of("`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: 0.7}],"
                  "`kinetic_energy`: `x'^2 + y'^2`, `constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`,"
                  "`nonideal`: {`y`: `-0.1*abs(ideal(x))*y' + lambda(rod)`}}]");
    assert_int_equal(forces->count, 1);
    expect(forces, "nonideal", "y", -0.1 * 2 * 0.7 * 0.7 * 0.7 - 0.7 * 0.7);
    hamel_forces_free(forces);
}

static void expect_refusal(const char *constraint, const char *message) {
    fixture f;
    hamel_relaxation *relaxation = NULL;
    fixture_read(&f, collar, simulation);
    assert_int_equal(
        hamel_relax(&relaxation, &f.description, (hamel_argument){constraint, "/asked"}, NULL, NULL, &f.error),
        HAMEL_INVALID);
    assert_null(relaxation);
    assert_true(fixture_says(&f, message));
    assert_string_equal(f.error.faults[0].pointer, "/asked");
    fixture_close(&f);
}

static void constraints_that_cannot_be_relaxed_are_reported(void **state) {
    (void)state;
    expect_refusal("guid", "no constraint `guid`");
    expect_refusal("idle", "`idle` does not act at the start");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_listed_by_origin),
        cmocka_unit_test(the_virtual_work_of_a_force_at_the_tip),
        cmocka_unit_test(a_relaxed_constraint_shows_its_reaction),
        cmocka_unit_test(friction_acts_whether_it_slides_or_sticks),
        cmocka_unit_test(prescribed_work_depends_on_the_ideal_reaction),
        cmocka_unit_test(constraints_that_cannot_be_relaxed_are_reported),
    };
    return cmocka_run_group_tests_name("generalized_forces", tests, NULL, NULL);
}
