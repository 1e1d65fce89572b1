/* test_redundant_turns.c — redundant constraints during full rotations, in which each constraint row vanishes at some
 * angle. All formulations and methods are compared with the same mechanism in one coordinate.
 *
 * The reference has no constraints, and its tolerances are a hundred times smaller. It also exists for mechanisms
 * without a closed form. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const char *const methods[] = {"auto", "adams", "bdf", "erk"};
enum { METHODS = 4 };
/* RTOL is the tolerance, and OFF is the bound on the position error. Errors grow about a hundredfold in four seconds of
 * rotation, and OFF is ten times the resulting error of 100 RTOL. */
static const double RTOL = 1e-8, OFF = 1e-5;

/* Two descriptions of a mechanism. The tests compare column 1 of their rows. */
typedef struct mechanism {
    char members[3000]; /* description with redundant constraints */
    char single[1500];  /* description in one coordinate */
} mechanism;

static double angle_at_the_end(const mechanism *m) {
    record *r = record_run_well(m->single, "`stop`: 4, `times`: [0, 4], `rtol`: 1e-10, `atol`: 1e-12, `method`: `erk`");
    double angle = record_end(r)[1];
    record_free(r);
    return angle;
}

static void check_run(const mechanism *m, const char *name, const char *method, double expected) {
    char simulation[300];
    snprintf(simulation, sizeof simulation,
             "`stop`: 4, `times`: [0, 1.1, 4], `rtol`: %g, `atol`: %g, `formulation`: `%s`, `method`: `%s`", RTOL,
             RTOL / 100, name, method);
    record *r = record_run(m->members, simulation);
    if (r->status != HAMEL_OK)
        fail_msg("%s, method %s: %s", name, method, r->error.count ? r->error.faults[0].message : "no message");
    double off = fabs(record_end(r)[1] - expected);
    if (!(off < OFF)) fail_msg("%s, method %s: the error is %g", name, method, off);
    if (record_warns(r, "become redundant") || r->summary.rank_changes > 0)
        fail_msg("%s, method %s: other branches are reported", name, method);
    if (!(r->summary.max_work_balance_error < 1e3 * r->summary.energy_tolerance))
        fail_msg("%s, method %s: the energy error is %g", name, method, r->summary.max_work_balance_error);
    assert_true(r->summary.redundant_count > 0);
    record_free(r);
}

/* Returns false for the two formulations that do not support the mechanisms. Routh's equations need a cyclic
 * coordinate. Chaplygin's equations need a coordinate that does not occur in the constraints. */
static bool serves_joints(const char *name) {
    return strcmp(name, "routh") != 0 && strcmp(name, "chaplygin") != 0;
}

static void check_all(const mechanism *m) {
    double expected = angle_at_the_end(m);
    for (size_t i = 0; hamel_formulation_name(i); i++)
        for (size_t k = 0; k < METHODS; k++)
            if (serves_joints(hamel_formulation_name(i))) check_run(m, hamel_formulation_name(i), methods[k], expected);
}

/* Both equations of the joint K restrict b only: their derivatives are multiples of cos(a + b) and -sin(a + b). */
static void a_pendulum_pinned_twice_rotates(void **state) {
    (void)state;
    /* Initial values of a, B and a'. In the last three lines, a + B is a multiple of π/2 at t = 0, so one constraint
     * row vanishes. In the last two lines, this row vanishes only up to rounding. */
    static const double starts[][3] = {{0, 0.8, 1},
                                       {-0.8, 0.8, 0},
                                       {0.4, 2.3, 7},
                                       {1.9, 1.1, -8.5},
                                       {M_PI / 2 - 0.6, 0.6, 6},
                                       {-0.7305526121199284, 2.301348938914825, -7},
                                       {2.3552126419829666, 0.7863800116068265, 1}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const double *s = starts[i];
        mechanism m;
        snprintf(
            m.members, sizeof m.members,
            "`parameters`: {`l`: 0.7, `B`: %.17g}, `gravity`: [0, -9.81],"
            "`coordinates`: [{`name`: `a`, `initial`: %.17g, `velocity`: %g}, {`name`: `b`, `initial`: `B`}],"
            "`particles`: [{`name`: `P`, `mass`: 1.3, `position`: [`cos(a) + l*cos(a+b)`, `sin(a) + l*sin(a+b)`]}],"
            "`joints`: [{`name`: `K`, `type`: `coincident`,"
            "`between`: [`P`, [`cos(a) + l*cos(a+B)`, `sin(a) + l*sin(a+B)`]]}]",
            s[1], s[0], s[2]);
        snprintf(
            m.single, sizeof m.single,
            "`parameters`: {`l`: 0.7, `B`: %.17g}, `gravity`: [0, -9.81],"
            "`coordinates`: [{`name`: `a`, `initial`: %.17g, `velocity`: %g}],"
            "`particles`: [{`name`: `P`, `mass`: 1.3, `position`: [`cos(a) + l*cos(a+B)`, `sin(a) + l*sin(a+B)`]}]",
            s[1], s[0], s[2]);
        check_all(&m);
    }
}

/* A link on a fixed pivot carries another link. The links are pinned together at the pivot of the angle b and at a
 * second point, so b is constant. A spring connects the second link to a free body. */
static void links_pinned_twice_rotate_as_one(void **state) {
    (void)state;
    static const struct {
        double m, M, pull, a, b, rate, x;
    } cases[] = {{0.86, 2.2, 10.6, -0.28, -0.81, -3.5, 0.22},
                 {3, 0.4, 2.5, 2.1, 1.7, 6, -0.4},
                 {1, 1, 40, 0.3, -2.6, 0.5, 0.05},
                 {0.05, 7, 5, 1.1, 3, -8, 0.7}};
#define LINKS(angle)                                                                                                   \
    "`bodies`: [{`name`: `A`, `mass`: %g, `inertia`: 0.1, `position`: [`0.5*cos(a)`, `0.5*sin(a)`], `orientation`: "   \
    "{`angle`: `a`}}, {`name`: `C`, `mass`: %g, `inertia`: 0.2, `position`: [`cos(a) + 0.4*cos(" angle ")`, "          \
    "`sin(a) + 0.4*sin(" angle ")`], `orientation`: {`angle`: `" angle "`}}, {`name`: `F`, `mass`: 2, `inertia`: 0.1," \
    "`position`: [`x`, `y`], `orientation`: {`angle`: `c`}}], `springs`: [{`between`: [{`frame`: `C`, `at`: [%g, "     \
    "0.3]}, {`frame`: `F`, `at`: [0.1, 0]}], `stiffness`: %g, `length`: 0.4}]"
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mechanism m;
        char free[300];
        double b = cases[i].b, x = cases[i].x;
        snprintf(free, sizeof free,
                 "`gravity`: [-0.2, -1.2], `parameters`: {`B`: %.17g}, `coordinates`: [{`name`: `a`, `initial`: %g, "
                 "`velocity`: %g}, {`name`: `x`, `initial`: -1.8}, `y`, {`name`: `c`, `initial`: 0.5}",
                 b, cases[i].a, cases[i].rate);
        snprintf(m.members, sizeof m.members,
                 "%s, {`name`: `b`, `initial`: `B`}], " LINKS(
                     "a+b") ", `joints`: [{`name`: `K`, `type`: `coincident`, "
                            "`between`: [{`frame`: `C`, `at`: [%g, 0.3]}, {`frame`: `A`, `at`: "
                            "[`0.5 + cos(B)*(0.4 + %g) - 0.3*sin(B)`, `sin(B)*(0.4 + %g) + 0.3*cos(B)`]}]}]",
                 free, cases[i].m, cases[i].M, x, cases[i].pull, x, x, x);
        snprintf(m.single, sizeof m.single, "%s], " LINKS("a+B"), free, cases[i].m, cases[i].M, x, cases[i].pull);
        check_all(&m);
    }
}

/* The units of the equations differ by factors of a thousand. Each gradient vanishes twice per revolution. */
static void equations_of_different_scales_rotate(void **state) {
    (void)state;
    mechanism m = {"`gravity`: [0, -9.81],"
                   "`coordinates`: [{`name`: `a`, `initial`: 0.3, `velocity`: 7.5}, {`name`: `r`, `initial`: 1.2}],"
                   "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`r*cos(a)`, `r*sin(a)`]}],"
                   "`constraints`: [{`name`: `u`, `equation`: `1000*(r - 1.2)*cos(a) = 0`},"
                   "{`name`: `v`, `equation`: `r*sin(a) - 1.2*sin(a) = 0`},"
                   "{`name`: `w`, `equation`: `0.001*(r^2 - 1.44)*sin(a + 1) = 0`}]",
                   "`gravity`: [0, -9.81], `coordinates`: [{`name`: `a`, `initial`: 0.3, `velocity`: 7.5}],"
                   "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`1.2*cos(a)`, `1.2*sin(a)`]}]"};
    check_all(&m);
}

/* A platform on four equal cranks, whose bases are not collinear, has three redundant equations and no singular
 * position. */
static void a_platform_on_four_cranks_rotates(void **state) {
    (void)state;
    mechanism m = {
        "`gravity`: [0, -9.81],"
        "`coordinates`: [{`name`: `a[i]`, `for`: `i = 1..4`, `initial`: 0.2, `velocity`: 6},"
        "{`name`: `x`, `initial`: `0.8*cos(0.2)`, `velocity`: `-4.8*sin(0.2)`},"
        "{`name`: `y`, `initial`: `0.8*sin(0.2)`, `velocity`: `4.8*cos(0.2)`}, `c`],"
        "`bodies`: [{`name`: `B[i]`, `for`: `i = 1..4`, `mass`: 1, `inertia`: 0.06,"
        "`position`: [`1.5*cos(2*i) + 0.4*cos(a[i])`, `1.1*sin(2*i) + 0.4*sin(a[i])`], `orientation`: {`angle`: "
        "`a[i]`}},"
        "{`name`: `C`, `mass`: 1.5, `inertia`: 0.3, `position`: [`x`, `y`], `orientation`: {`angle`: `c`}}],"
        "`joints`: [{`name`: `J[i]`, `for`: `i = 1..4`, `type`: `coincident`,"
        "`between`: [{`frame`: `B[i]`, `at`: [0.4, 0]}, {`frame`: `C`, `at`: [`1.5*cos(2*i)`, `1.1*sin(2*i)`]}]}]",
        "`gravity`: [0, -9.81], `coordinates`: [{`name`: `a`, `initial`: 0.2, `velocity`: 6}],"
        "`bodies`: [{`name`: `B[i]`, `for`: `i = 1..4`, `mass`: 1, `inertia`: 0.06,"
        "`position`: [`0.4*cos(a)`, `0.4*sin(a)`], `orientation`: {`angle`: `a`}}],"
        "`particles`: [{`name`: `C`, `mass`: 1.5, `position`: [`0.8*cos(a)`, `0.8*sin(a)`]}]"};
    check_all(&m);
}

/* A door rotates on two hinges in space. Five of the ten joint equations are redundant. Together with the norm
 * constraint of the quaternion, the joint equations have rank six. */
static void a_door_on_two_hinges_rotates(void **state) {
    (void)state;
    mechanism m = {"`gravity`: [3, -8, 1],"
                   "`coordinates`: [{`name`: `x`, `initial`: 0.9}, {`name`: `y`, `velocity`: 4.5}, `z`, {`name`: `e0`, "
                   "`initial`: 1}, `e1`,"
                   "`e2`, {`name`: `e3`, `velocity`: 2.5}],"
                   "`bodies`: [{`name`: `A`, `mass`: 2, `position`: [`x`, `y`, `z`], `inertia`: [0.1, 0.2, 0.3],"
                   "`orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]}}],"
                   "`joints`: [{`name`: `J`, `type`: `revolute`, `axis`: [0, 0, 1],"
                   "`between`: [[0, 0, 0], {`frame`: `A`, `at`: [-0.9, 0, 0]}]},"
                   "{`name`: `K`, `type`: `revolute`, `axis`: [0, 0, 1],"
                   "`between`: [[0, 0, 0.7], {`frame`: `A`, `at`: [-0.9, 0, 0.7]}]}]",
                   "`gravity`: [3, -8], `coordinates`: [{`name`: `x`, `initial`: 0.9}, {`name`: `a`, `velocity`: 5}],"
                   "`bodies`: [{`name`: `A`, `mass`: 2, `position`: [`0.9*cos(a)`, `0.9*sin(a)`], `inertia`: 0.3,"
                   "`orientation`: {`angle`: `a`}}],"
                   "`constraints`: [{`name`: `c`, `equation`: `x = 0.9*cos(a)`}]"};
    check_all(&m);
}

static void the_number_of_output_rows_does_not_change_them(void **state) {
    (void)state;
    /* The first system is a rigid body with a fixed point and a quaternion, so its mass matrix is singular. The second
     * system has redundant constraints. */
    static const char *const systems[] = {
        "`gravity`: [0.4, 0.2, -9.81], `coordinates`: [{`name`: `e0`, `initial`: 0.28, `velocity`: -0.9},"
        "{`name`: `e1`, `initial`: -0.17, `velocity`: -0.3}, {`name`: `e2`, `initial`: 0.49, `velocity`: 0.2},"
        "{`name`: `e3`, `initial`: 0.81, `velocity`: 0.1}],"
        "`bodies`: [{`name`: `A`, `mass`: 1.4, `position`: [0, 0, 0], `inertia`: [0.12, 0.13, 0.1],"
        "`orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]}}],"
        "`particles`: [{`name`: `P`, `mass`: 1, `position`: {`frame`: `A`, `at`: [0.3, 0.2, -0.5]}}]",
        "`gravity`: [0, -9.81], `coordinates`: [{`name`: `a`, `velocity`: 3}, {`name`: `b`, `initial`: 0.8}],"
        "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`cos(a) + cos(a+b)`, `sin(a) + sin(a+b)`]}],"
        "`joints`: [{`name`: `K`, `type`: `coincident`, `between`: [`P`, [`cos(a) + cos(a+0.8)`, `sin(a) + "
        "sin(a+0.8)`]]}]"};
    static const char *const formulations[] = {"lagrange", "udwadia-kalaba", "gauss", "maggi", "hamilton"};
    for (size_t i = 0; i < 2 * 5 * METHODS; i++) {
        char few[300], many[300];
        const char *format =
            "`stop`: 1.3, `samples`: %d, `initialization`: `project`, `formulation`: `%s`, `method`: `%s`";
        snprintf(few, sizeof few, format, 6, formulations[i / METHODS % 5], methods[i % METHODS]);
        snprintf(many, sizeof many, format, 21, formulations[i / METHODS % 5], methods[i % METHODS]);
        record *a = record_run_well(systems[i / METHODS / 5], few),
               *b = record_run_well(systems[i / METHODS / 5], many);
        for (size_t row = 0; row < 6; row++)
            assert_memory_equal(a->values[row], b->values[4 * row], a->columns * sizeof(double));
        record_free(a);
        record_free(b);
    }
}

enum { SIDE = 12, LARGE_SIDE = 14, GRID_TEXT = 200000 };

static void add(char *text, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, GRID_TEXT - length, format, arguments);
    va_end(arguments);
}

/* Writes a grid of side × side particles, with rods along both axes and along one or both diagonals, pinned at a
 * corner. */
static void write_grid(char *text, int side, bool both) {
    static const int to[4][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    add(text, "`gravity`: [0, -9.81], `outputs`: {`X`: `x[%d,%d]`}, `coordinates`: [", side - 1, side - 1);
    for (int i = 0; i < side * side; i++)
        add(text, "%s{`name`: `x[%d,%d]`, `initial`: %d}, {`name`: `y[%d,%d]`, `initial`: %d}", i ? ", " : "", i / side,
            i % side, i / side, i / side, i % side, i % side);
    add(text, "], `particles`: [");
    for (int i = 0; i < side * side; i++)
        add(text, "%s{`name`: `p[%d,%d]`, `mass`: 1, `position`: [`x[%d,%d]`, `y[%d,%d]`]}", i ? ", " : "", i / side,
            i % side, i / side, i % side, i / side, i % side);
    add(text, "], `joints`: [{`name`: `pin`, `type`: `coincident`, `between`: [`p[0,0]`, [0, 0]]}");
    for (int i = 0; i < side * side; i++)
        for (int k = 0; k < (both ? 4 : 3); k++) {
            int a = i / side + to[k][0], b = i % side + to[k][1];
            if (a < 0 || a >= side || b >= side) continue;
            add(text, ", {`name`: `r%d_%d`, `type`: `distance`, `between`: [`p[%d,%d]`, `p[%d,%d]`], `length`: %.17g}",
                i, k, i / side, i % side, a, b, sqrt(to[k][0] * to[k][0] + to[k][1] * to[k][1]));
        }
    add(text, "]");
}

/* The grid has 288 coordinates and up to 508 equations, and 285 equations are independent. The time limit of 10 s
 * requires a sparse factorization, because a dense factorization takes about a hundred times as long. */
static void a_braced_grid_swings_as_a_rigid_body(void **state) {
    (void)state;
    static const double seconds = 10;
    char single[400], *text = calloc(GRID_TEXT, 1);
    double inertia = 0;
    assert_non_null(text);
    for (int i = 0; i < SIDE * SIDE; i++) inertia += (i / SIDE) * (i / SIDE) + (i % SIDE) * (i % SIDE);
    snprintf(
        single, sizeof single,
        "`coordinates`: [`a`], `kinetic_energy`: `%.17g*a'^2/2`, `potential_energy`: `9.81*%d*sin(a + pi/4)*%.17g`,"
        "`outputs`: {`X`: `%.17g*cos(a + pi/4)`}",
        inertia, SIDE * SIDE, (SIDE - 1) / sqrt(2), (SIDE - 1) * sqrt(2));
    record *r = record_run_well(single, "`stop`: 1, `times`: [0, 1], `rtol`: 1e-11, `atol`: 1e-12, `record`: [`X`]");
    double expected = record_end(r)[1];
    record_free(r);
    clock_t began = clock();
    for (int both = 0; both < 2; both++) {
        text[0] = '\0';
        write_grid(text, SIDE, both);
        r = record_run_well(text, "`stop`: 1, `times`: [0, 1], `rtol`: 1e-8, `atol`: 1e-10, `record`: [`X`]");
        assert_near("corner", record_end(r)[1], expected, 1e-7);
        assert_true(r->summary.redundant_count > 90);
        record_free(r);
    }
    if ((double)(clock() - began) > seconds * CLOCKS_PER_SEC) fail_msg("the runs take more than %g s", seconds);
    free(text);
}

/* An evaluation of 704 equations takes a long time, and a step or a projection needs up to twenty evaluations. The time
 * limit must therefore be checked within a step. The test compares CPU time, which does not depend on other load. */
static void the_limit_of_wall_time_holds_within_large_steps(void **state) {
    (void)state;
    static const double limit = 1, most = 2.5;
    static const char *const chosen[] = {"erk", "auto", "adams"};
    char *text = calloc(GRID_TEXT, 1), simulation[100];
    assert_non_null(text);
    write_grid(text, LARGE_SIDE, true);
    for (size_t i = 0; i < 3; i++) {
        snprintf(simulation, sizeof simulation,
                 "`stop`: 100, `samples`: 2, `record`: [`X`], `time_limit`: %g, `method`: `%s`", limit, chosen[i]);
        clock_t began = clock();
        record *r = record_run(text, simulation);
        double spent = (double)(clock() - began) / CLOCKS_PER_SEC;
        if (r->summary.outcome != HAMEL_INCOMPLETE)
            fail_msg("%s: %s", chosen[i], r->error.count ? r->error.faults[0].message : "it ends");
        if (spent > most) fail_msg("%s takes %g s with a time limit of %g s", chosen[i], spent, limit);
        record_free(r);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum_pinned_twice_rotates),
        cmocka_unit_test(links_pinned_twice_rotate_as_one),
        cmocka_unit_test(equations_of_different_scales_rotate),
        cmocka_unit_test(a_platform_on_four_cranks_rotates),
        cmocka_unit_test(a_door_on_two_hinges_rotates),
        cmocka_unit_test(the_number_of_output_rows_does_not_change_them),
        cmocka_unit_test(a_braced_grid_swings_as_a_rigid_body),
        cmocka_unit_test(the_limit_of_wall_time_holds_within_large_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
