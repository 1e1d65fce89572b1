/* test_stick_slip.c — sticking and sliding along lines, against piecewise closed forms. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FINE "`rtol`: 1e-10, `atol`: 1e-12"

static motion run_with(const char *system, const char *simulation, ...) __attribute__((format(printf, 1, 3)));
static motion run_with(const char *system, const char *simulation, ...) {
    char text[4000];
    va_list arguments;
    va_start(arguments, simulation);
    vsnprintf(text, sizeof text, system, arguments);
    va_end(arguments);
    return motion_run(text, simulation);
}

/* Checks that friction never adds energy to a system in x and y. */
static void assert_never_gives_energy(const motion *m) {
    size_t power = motion_column(m, "power");
    for (size_t i = 0; i < m->row_count; i++) assert_below("power", motion_value(m, i, power), 1e-9);
}

#define INCLINE(law)                                                                                                 \
    "`parameters`: {`a`: %.17g}, `coordinates`: [{`name`: `x`, `velocity`: `%g*cos(a)`}, {`name`: `y`, `velocity`: " \
    "`%g*sin(a)`}],"                                                                                                 \
    "`gravity`: [0, -10], `particles`: [{`name`: `block`, `mass`: 2, `position`: [`x`, `y`]}],"                      \
    "`constraints`: [{`name`: `incline`, `equation`: `y*cos(a) = x*sin(a)`, `friction`: {" law "}}],"                \
    "`outputs`: {`s`: `x*cos(a) + y*sin(a)`, `N`: `lambda(incline)`, `fx`: `nonideal(x)`, `fy`: `nonideal(y)`,"      \
    "`power`: `nonideal(x)*x' + nonideal(y)*y'`}"

/* A block at rest on an incline sticks if tan a ≤ μ_s. Otherwise it slides by g (sin a − μ cos a) t²/2. */
static void a_block_sticks_on_an_incline_up_to_its_angle(void **state) {
    (void)state;
    static const double angles[] = {0.1, 0.3, 0.4635, 0.4637, 0.6, 0.7}; /* atan 0.5 = 0.46365 */
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        double a = angles[i];
        motion m =
            run_with(INCLINE("`coefficient`: 0.3, `static`: 0.5"), "`stop`: 1, `samples`: 3, " FINE, a, 0.0, 0.0);
        double way = tan(a) <= 0.5 ? 0 : 5 * (sin(a) - 0.3 * cos(a));
        assert_below("distance", fabs(motion_last(&m, "s") + way), 1e-9);
        assert_below("N", fabs(motion_last(&m, "N") - 20 * cos(a)), 1e-9);
        double force = tan(a) <= 0.5 ? 20 * sin(a) : 6 * cos(a); /* force up the incline */
        assert_below("friction along x", fabs(motion_last(&m, "fx") - force * cos(a)), 1e-8);
        assert_below("friction along y", fabs(motion_last(&m, "fy") - force * sin(a)), 1e-8);
        assert_never_gives_energy(&m);
        motion_free(&m);
    }
}

/* A block is thrown up an incline with the speed v. It stops after T = v/(g (sin a + μ cos a)) at the distance v
 * T/2. */
static void a_block_thrown_up_stops_and_stays_or_slides_back(void **state) {
    (void)state;
    for (int back = 0; back < 2; back++) {
        double a = 0.4, mu = back ? 0.2 : 0.45, v = 3, up = 10 * (sin(a) + mu * cos(a)), stop = v / up;
        motion m = run_with(INCLINE("`coefficient`: %g"), "`stop`: 2, `samples`: 201, " FINE, a, v, v, mu);
        for (size_t i = 0; i < m.row_count; i++) {
            double t = motion_value(&m, i, 0), after = fmax(t - stop, 0);
            double s = t < stop ? v * t - up * t * t / 2 : v * stop / 2;
            if (back) s -= 5 * (sin(a) - mu * cos(a)) * after * after;
            assert_below("distance", fabs(motion_value(&m, i, motion_column(&m, "s")) - s), 1e-8);
        }
        assert_never_gives_energy(&m);
        assert_below("work balance", m.work_balance_error, 1e-8);
        motion_free(&m);
    }
}

#define FLOOR(force, law)                                                             \
    "`coordinates`: [{`name`: `x`%s}, {`name`: `y`}], `gravity`: [0, -10],"           \
    "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`]}],"            \
    "`generalized_forces`: {`x`: `" force "`},"                                       \
    "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `friction`: {" law "}}]," \
    "`outputs`: {`f`: `nonideal(x)`, `power`: `nonideal(x)*x'`}"

/* Under the force 2t, with μ_s N = 5, the block starts to slide at t = 2.5. Then x'' = 2t − 3. */
static void a_growing_force_starts_sliding_at_the_limit(void **state) {
    (void)state;
    motion m = run_with(FLOOR("2*t", "`coefficient`: 0.3, `static`: 0.5"), "`stop`: 4, `samples`: 401, " FINE, "");
    for (size_t i = 0; i < m.row_count; i++) {
        double t = motion_value(&m, i, 0), u = fmax(t - 2.5, 0);
        assert_below("x", fabs(motion_value(&m, i, 1) - (u * u * u / 3 + u * u)), 1e-9);
        if (fabs(u) > 1e-9 || t < 2.5 - 1e-9)
            assert_below("friction", fabs(motion_value(&m, i, motion_column(&m, "f")) + (u > 0 ? 3 : 2 * t)), 1e-9);
    }
    assert_never_gives_energy(&m);
    motion_free(&m);
}

/* A phase of sticking or sliding of a unit mass under the force `force` sin t. The phase begins at the time `start`
 * with the position x and the velocity v. While the mass slides, the friction force is `friction`. */
typedef struct phase {
    double start, x, v, force, friction;
    int direction; /* 0 while sticking */
} phase;

static double phase_velocity(const phase *p, double t) {
    return p->direction ? p->v + p->force * (cos(p->start) - cos(t)) - p->direction * p->friction * (t - p->start) : 0;
}
static double phase_place(const phase *p, double t) {
    double u = t - p->start;
    if (!p->direction) return p->x;
    return p->x + (p->v + p->force * cos(p->start)) * u - p->force * (sin(t) - sin(p->start)) -
           p->direction * p->friction * u * u / 2;
}

/* Finds the time at which the velocity of a sliding phase returns to zero, by a search on a fine grid and bisection. */
static double phase_end(const phase *p) {
    double a = p->start + 1e-3, b = a;
    while (p->direction * phase_velocity(p, b) > 0) a = b, b += 1e-3;
    for (int i = 0; i < 80; i++) {
        double c = 0.5 * (a + b);
        *(p->direction * phase_velocity(p, c) > 0 ? &a : &b) = c;
    }
    return b;
}

/* The force F sin t acts on a block of mass 1. The block sticks while |F sin t| ≤ μ_s N. While it slides, the friction
 * force is μ N. With μ_s N = 5 and μ N = 4, the block sticks between sliding phases if F = 6, and reverses immediately
 * if F = 30. */
static void a_shaken_block_sticks_and_slips(void **state) {
    (void)state;
    static const double forces[] = {4.9, 6, 9, 30};
    for (size_t k = 0; k < sizeof forces / sizeof *forces; k++) {
        motion m = run_with("`parameters`: {`F`: %g}," FLOOR("F*sin(t)", "`coefficient`: 0.4, `static`: 0.5"),
                            "`stop`: 15, `samples`: 1501, " FINE, forces[k], "");
        phase p = {.force = forces[k], .friction = 4};
        size_t slips = 0;
        double end = forces[k] > 5 ? asin(5 / forces[k]) : INFINITY;
        for (size_t i = 0; i < m.row_count; i++) {
            double t = motion_value(&m, i, 0);
            while (t > end) {
                double pull = forces[k] * sin(end);
                p = (phase){end, phase_place(&p, end), 0, forces[k], 4, 0};
                bool broke = end == asin(5 / forces[k]) || fabs(pull) > 5 - 1e-9;
                p.direction = broke ? (pull > 0 ? 1 : -1) : 0;
                slips += broke;
                if (broke) {
                    end = phase_end(&p);
                } else { /* the next time at which |F sin t| increases to the limit */
                    double limit = asin(5 / forces[k]), turn = M_PI * floor(end / M_PI);
                    end = turn + limit > end ? turn + limit : turn + M_PI + limit;
                }
            }
            assert_below("x", fabs(motion_value(&m, i, 1) - phase_place(&p, t)), 1e-7);
        }
        assert_true((slips > 3) == (forces[k] > 5));
        assert_never_gives_energy(&m);
        assert_below("work balance", m.work_balance_error, 1e-6);
        motion_free(&m);
    }
}

/* A mass on a spring: m x'' + k x = −μN sign x'. Each half cycle takes π/w and is a cosine about ∓μN/k. The amplitude
 * decreases by 2 μN/k until a turning point is within μ_s N/k. Here w = 2 and μN/k = 0.25. From 1.8 the turning points
 * are −1.3, 0.8, −0.3 and −0.2. The mass leaves −0.3, because 0.3 > 0.25, and stays at −0.2. */
static void a_coulomb_oscillator_stops_in_its_dead_band(void **state) {
    (void)state;
    motion m = run_with(FLOOR("-4*x", "`coefficient`: 0.1"), "`stop`: 10, `samples`: 1001, " FINE, ", `initial`: 1.8");
    for (size_t i = 0; i < m.row_count; i++) {
        double t = motion_value(&m, i, 0);
        double half = floor(t / (M_PI / 2)), u = t - half * M_PI / 2, a = 1.8 - 0.5 * half;
        int sign = fmod(half, 2) == 0 ? 1 : -1;
        double x = a > 0.25 ? sign * (0.25 + (a - 0.25) * cos(2 * u)) : -0.2;
        assert_below("x", fabs(motion_value(&m, i, 1) - x), 1e-8);
    }
    assert_below("at rest", fabs(motion_last(&m, "x'")), 1e-15);
    assert_never_gives_energy(&m);
    motion_free(&m);
}

/* A block on a belt of speed V = 1/2 is connected to the ground by a spring k = 4. It sticks to the belt until 4x = μ_s
 * N = 5, so x = 5/4. Then it slides with friction μN = 3: x = 3/4 + cos(2u)/2 + sin(2u)/4, where u is the time since
 * sliding began. It sticks again when x' = V, at 2u = 2π − 2 atan 2 and x = 1/4. */
static void a_block_on_a_belt_sticks_and_slips_back(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [{`name`: `x`, `initial`: 0.25, `velocity`: 0.5}, {`name`: `y`}], `gravity`: [0, -10],"
        "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`]}], `potential_energy`: `2*x^2`,"
        "`frames`: [{`name`: `belt`, `origin`: [`0.5*t`, 0]}],"
        "`constraints`: [{`name`: `top`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.3, `static`: 0.5, "
        "`against`: "
        "`belt`}}]",
        "`stop`: 20, `samples`: 2001, " FINE);
    double slip = M_PI - atan(2), period = 2 + slip;
    for (size_t i = 0; i < m.row_count; i++) {
        double t = fmod(motion_value(&m, i, 0), period), u = 2 * (t - 2);
        double x = t < 2 ? 0.25 + 0.5 * t : 0.75 + cos(u) / 2 + sin(u) / 4;
        assert_below("x", fabs(motion_value(&m, i, 1) - x), 1e-8);
    }
    motion_free(&m);
}

/* B (1 kg) rests on A (2 kg), and A is pulled by 2t along the floor. Friction is at most 3 on the floor, and at most 2
 * between A and B. Both blocks stick until t = 1.5. Then they move together with the acceleration 2u/3, where u = t −
 * 1.5, until the acceleration is 2 at u = 3. Then B slides on A. With w = u − 3, the acceleration of A is w + 2, and
 * the acceleration of B is 2. */
static void the_upper_of_two_blocks_slides_when_the_lower_is_pulled_away(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [`x`, {`name`: `y`, `initial`: 1}, `X`, `Y`], `gravity`: [0, -10],"
        "`bodies`: [{`name`: `A`, `mass`: 2, `position`: [`X`, `Y`]}],"
        "`particles`: [{`name`: `B`, `mass`: 1, `position`: [`x`, `y`]}], `generalized_forces`: {`X`: `2*t`},"
        "`constraints`: [{`name`: `floor`, `equation`: `Y = 0`, `friction`: {`coefficient`: 0.1, `on`: `A`}},"
        "{`name`: `contact`, `equation`: `y = Y + 1`, `friction`: {`coefficient`: 0.2, `on`: `B`, `against`: `A`}}]",
        "`stop`: 6, `samples`: 601, " FINE);
    for (size_t i = 0; i < m.row_count; i++) {
        double u = fmax(motion_value(&m, i, 0) - 1.5, 0), w = fmax(u - 3, 0), v = fmin(u, 3);
        double together = v * v * v / 9 + 3 * w;
        assert_below("x", fabs(motion_value(&m, i, motion_column(&m, "x")) - together - w * w), 1e-8);
        assert_below("X", fabs(motion_value(&m, i, motion_column(&m, "X")) - together - w * w - w * w * w / 6), 1e-8);
    }
    motion_free(&m);
}

/* A uniform ladder at the angle h to the vertical, with friction μ at floor and wall, stays at rest if and only if h ≤
 * 2 atan μ. At h = 2 atan μ, friction reaches its limit at both ends. The forces at rest are not unique, but the engine
 * must decide whether admissible forces exist. */
static void a_ladder_with_friction_at_both_ends_rests_up_to_its_limit_angle(void **state) {
    (void)state;
    static const double angles[] = {0.2, 0.5, 0.7, 0.7609, 0.7611, 0.9}; /* 2 atan 0.4 = 0.76101 */
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        motion m = run_with(
            "`parameters`: {`a`: %.17g}, `gravity`: [0, -10],"
            "`coordinates`: [{`name`: `x`, `initial`: `sin(a)`}, {`name`: `y`, `initial`: `cos(a)`}, {`name`: `h`,"
            "`initial`: `a`}], `bodies`: [{`name`: `ladder`, `mass`: 1, `position`: [`x`, `y`], `orientation`: "
            "{`angle`:"
            "`h`}, `inertia`: `1/3`}], `points`: [{`name`: `top`, `position`: [`x - sin(h)`, `y + cos(h)`]},"
            "{`name`: `foot`, `position`: [`x + sin(h)`, `y - cos(h)`]}],"
            "`constraints`: [{`name`: `wall`, `equation`: `position(top, 1) = 0`, `friction`: {`coefficient`: 0.4}},"
            "{`name`: `floor`, `equation`: `position(foot, 2) = 0`, `friction`: {`coefficient`: 0.4}}]",
            "`stop`: 0.3, `samples`: 4, " FINE, angles[i]);
        double moved = motion_last(&m, "h") - angles[i];
        if (angles[i] < 2 * atan(0.4))
            assert_below("displacement of the ladder", fabs(moved), 1e-12);
        else
            assert_true(moved > 1e-6);
        motion_free(&m);
    }
}

/* The motion x = sin t is prescribed. Friction reverses when x' does, and the body never sticks. */
static void a_driven_body_reverses_without_sticking(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `gravity`: [0, -10],"
                          "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`]}],"
                          "`constraints`: [{`name`: `drive`, `equation`: `x = sin(t)`},"
                          "{`name`: `floor`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.5, `on`: `block`}}],"
                          "`outputs`: {`F`: `lambda(drive)`}",
                          "`stop`: 6, `samples`: 601, " FINE);
    for (size_t i = 0; i < m.row_count; i++) {
        double t = motion_value(&m, i, 0);
        double force = -sin(t) + (cos(t) > 0 ? 5 : -5);
        assert_below("drive", fabs(motion_value(&m, i, motion_column(&m, "F")) - force), 1e-7);
    }
    motion_free(&m);
}

/* A pendulum on the block varies the normal force. The coordinate c is cyclic, so Routh's equations are also tested. */
static void all_formulations_agree(void **state) {
    (void)state;
    assert_formulations_agree(
        "`coordinates`: [{`name`: `x`}, {`name`: `y`}, {`name`: `h`, `initial`: 1.2},"
        "{`name`: `c`, `velocity`: 1}], `kinetic_energy`: `c'^2/2`,"
        "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`]},"
        "{`name`: `bob`, `mass`: 1, `position`: [`x + sin(h)`, `y - cos(h)`]}], `gravity`: [0, -10],"
        "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.15,"
        "`static`: 0.25, `on`: `block`}}], `outputs`: {`f`: `nonideal(x)`, `N`: `lambda(floor)`}",
        "`stop`: 4, `samples`: 41, " FINE, 1e-7, 1e-6);
}

/* At t = 1 an event sets x' = 3 for a block at rest. The block stops at t = 1 + 3/4 and x = 9/8. At t = 3 an event sets
 * the velocity (1, 5). The block lands at t = 4, one unit further, and slides by 1/8 in 1/4 s. The impact has no
 * friction. */
static void events_release_sticking_contacts(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [`x`, `y`], `gravity`: [0, -10],"
                          "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`]}],"
                          "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.4}}],"
                          "`events`: [{`name`: `thrust`, `when`: `t - 1`, `set`: {`x'`: 3}},"
                          "{`name`: `look`, `when`: `t - 1.2`},"
                          "{`name`: `lift`, `when`: `t - 3`, `set`: {`x'`: 1, `y'`: 5}, `deactivate`: [`floor`]},"
                          "{`name`: `land`, `when`: `y`, `direction`: `falling`, `impulse`: {`constraint`: `floor`,"
                          "`restitution`: 0}, `activate`: [`floor`]}]",
                          "`stop`: 5, `samples`: 501, " FINE);
    for (size_t i = 0; i < m.row_count; i++) {
        double t = motion_value(&m, i, 0), u = fmin(fmax(t - 1, 0), 0.75), w = fmin(fmax(t - 3, 0), 1);
        double z = fmin(fmax(t - 4, 0), 0.25), x = 3 * u - 2 * u * u + w + z - 2 * z * z;
        assert_below("x", fabs(motion_value(&m, i, 1) - x), 1e-8);
    }
    motion_free(&m);
}

static void assert_refuses(const char *system, const char *constraint, const char *text) {
    hamel_model *model = fixture_model(system, "`stop`: 1");
    hamel_summary summary;
    hamel_error error = {0};
    assert_int_equal(hamel_run(model, NULL, NULL, &summary, &error), HAMEL_SINGULAR);
    assert_int_equal(error.count, 1);
    assert_non_null(strstr(error.faults[0].message, constraint));
    assert_non_null(strstr(error.faults[0].message, text));
    hamel_summary_free(&summary);
    hamel_error_clear(&error);
    hamel_model_free(model);
}

/* Tests Painlevé's rod (test_friction.c), and a block with more sliding friction than static friction. A force of 5.5
 * on the block exceeds the static limit 5, but not the sliding friction 6. */
static void states_without_a_consistent_decision_are_reported(void **state) {
    (void)state;
    assert_refuses("`parameters`: {`h0`: `atan(2)`}, `gravity`: [0, -9.81],"
                   "`coordinates`: [{`name`: `x`, `velocity`: -1}, {`name`: `y`, `initial`: `sin(h0)`}, {`name`: `h`,"
                   "`initial`: `h0`}], `bodies`: [{`name`: `rod`, `mass`: 1, `position`: [`x`, `y`],"
                   "`orientation`: {`angle`: `h`}, `inertia`: `1/3`}], `points`: [{`name`: `tip`, `body`: `rod`, `at`:"
                   "[-1, 0]}], `constraints`: [{`name`: `line`, `equation`: `position(tip, 2) = 0`, `friction`:"
                   "{`coefficient`: 1.4}}]",
                   "`line`", "Painlev");
    assert_refuses(
        "`coordinates`: [`x`, `y`], `gravity`: [0, -10], `generalized_forces`: {`x`: 5.5},"
        "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`]}], `constraints`: [{`name`: `floor`,"
        "`equation`: `y = 0`, `friction`: {`coefficient`: `0.6 - x'^2`, `static`: 0.5}}]",
        "`floor`", "no consistent stick or slip state was found for the friction on `floor`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_sticks_on_an_incline_up_to_its_angle),
        cmocka_unit_test(a_block_thrown_up_stops_and_stays_or_slides_back),
        cmocka_unit_test(a_growing_force_starts_sliding_at_the_limit),
        cmocka_unit_test(a_shaken_block_sticks_and_slips),
        cmocka_unit_test(a_coulomb_oscillator_stops_in_its_dead_band),
        cmocka_unit_test(a_block_on_a_belt_sticks_and_slips_back),
        cmocka_unit_test(the_upper_of_two_blocks_slides_when_the_lower_is_pulled_away),
        cmocka_unit_test(a_ladder_with_friction_at_both_ends_rests_up_to_its_limit_angle),
        cmocka_unit_test(a_driven_body_reverses_without_sticking),
        cmocka_unit_test(all_formulations_agree),
        cmocka_unit_test(events_release_sticking_contacts),
        cmocka_unit_test(states_without_a_consistent_decision_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
