/* test_steady.c — engine/analyze/steady*.c: steady motions of rolling disks, skates and sleighs and their stability,
 * compared with published results and closed forms. */
#include "engine/analyze/steady.h"
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static hamel_steady_motions *find_motions(const char *members) {
    fixture f;
    hamel_steady_motions *found = NULL;
    fixture_read(&f, members, "`stop`: 1");
    hamel_status status = hamel_find_steady_motions(&found, &f.description, 16, NULL, NULL, &f.error);
    if (status != HAMEL_OK) fail_msg("search: %s", f.error.count ? f.error.faults[0].message : "no fault");
    fixture_close(&f);
    return found;
}

static double value_of(const hamel_steady_motions *all, const double *values, const char *coordinate) {
    for (size_t i = 0; i < all->coordinate_count; i++)
        if (strcmp(all->coordinates[i], coordinate) == 0) return values[i];
    fail_msg("no coordinate %s", coordinate);
    return NAN;
}

/* Returns the largest frequency. Eigenvalues are sorted by the absolute value of their imaginary part, and the
 * positive one of a pair is first. */
static double frequency_of(const hamel_steady_motion *m) {
    assert_true(m->eigenvalue_count >= 2);
    return m->eigenvalues[2 * (m->eigenvalue_count - 2) + 1];
}

enum { TEXT = 1600 };
static const double g = 9.81, r = 0.5;

/* Greenwood, example 4.11: a disk that rolls without slipping, with the heading phi, the tilt theta and the spin
 * psi. theta = π/2 is upright. */
static void write_disk(char *text, double tilt, double heading_rate, double spin_rate) {
    double rolled = spin_rate + heading_rate * cos(tilt);
    snprintf(text, TEXT,
             "`parameters`: {`m`: 1, `r`: %.17g, `g`: %.17g}, `coordinates`: [{`name`: `X`, `velocity`: %.17g}, `Y`, "
             "{`name`: `phi`, `velocity`: %.17g}, {`name`: `theta`, `initial`: %.17g}, {`name`: `psi`, `velocity`: "
             "%.17g}], `definitions`: {`Om`: `psi' + phi'*cos(theta)`}, `kinetic_energy`: [`m*(X'^2 + Y'^2 + "
             "(r*theta'*cos(theta))^2)/2`, `m*r^2/4*(theta'^2 + (phi'*sin(theta))^2)/2`, `m*r^2/2*Om^2/2`], "
             "`potential_energy`: `m*g*r*sin(theta)`, `constraints`: [{`name`: `rollX`, `equation`: `X' = "
             "-r*Om*cos(phi) + r*theta'*sin(phi)*sin(theta)`}, {`name`: `rollY`, `equation`: `Y' = -r*Om*sin(phi) - "
             "r*theta'*cos(phi)*sin(theta)`}]",
             r, g, -r * rolled, heading_rate, tilt, spin_rate);
}

/* Greenwood (4.317)-(4.319): in a steady circle of the disk, the rates ω_d = φ' sin θ and Ω satisfy
 *     -¼ ω_d² cot θ + 3/2 ω_d Ω + (g/r) cos θ = 0.
 * The other two equations of motion determine ω_d and Ω as functions of θ: dω_d/dθ = 2 Ω - ω_d cot θ and dΩ/dθ = 2/3
 * ω_d. The total derivative of the left side with respect to θ gives the frequency n of small oscillations:
 *     5/4 n² = -½ ω_d ω_d' cot θ + ¼ ω_d²/sin²θ + 3/2 (ω_d' Ω + ω_d Ω') - (g/r) sin θ. */
static double disk_frequency(double tilt, double wd, double W) {
    double cot = cos(tilt) / sin(tilt), wd_slope = 2 * W - wd * cot, W_slope = wd * 2 / 3;
    double square = -0.5 * wd * wd_slope * cot + 0.25 * wd * wd / (sin(tilt) * sin(tilt)) +
                    1.5 * (wd_slope * W + wd * W_slope) - g / r * sin(tilt);
    return sqrt(square / 1.25);
}

static void a_rolling_disk_has_the_published_steady_circles_and_frequencies(void **state) {
    static const double cases[][2] = {{1.2, 1.5}, {0.8, 2.2}, {1.9, -1}, {1.4, 6}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[TEXT];
        double tilt = cases[k][0], rate = cases[k][1], wd = rate * sin(tilt);
        double W = (0.25 * wd * wd * cos(tilt) / sin(tilt) - g / r * cos(tilt)) / (1.5 * wd);
        write_disk(text, tilt + 0.1, rate, W - rate * cos(tilt));
        hamel_steady_motions *all = find_motions(text);
        const hamel_steady_motion *m = all->items;
        assert_true(all->searched && all->count > 0);
        assert_int_equal(all->ignorable.count, 4); /* X, Y, phi and psi */
        assert_true(m->kept);
        assert_near("tilt", value_of(all, m->q, "theta"), tilt, 1e-9);
        assert_near("heading rate", value_of(all, m->v, "phi"), rate, 1e-12);
        assert_near("speed of the centre", value_of(all, m->v, "X"), -r * W, 1e-9);
        assert_int_equal(m->family_dimension, 2); /* the parameters are ω_d and Ω, which determine the tilt */
        assert_int_equal(m->eigenvalue_count, 4);
        assert_near("frequency", frequency_of(m), disk_frequency(tilt, wd, W), 1e-8);
        assert_true(m->decided && m->stable && m->linearly_stable);
        hamel_steady_motions_free(all);
    }
}

static bool straight_roll_is_stable(double spin_rate, double *square) {
    char text[TEXT];
    write_disk(text, M_PI / 2, 0, spin_rate);
    hamel_steady_motions *all = find_motions(text);
    const hamel_steady_motion *m = all->items;
    assert_true(all->count > 0 && m->kept);
    assert_near("tilt", value_of(all, m->q, "theta"), M_PI / 2, 1e-12);
    double re = m->eigenvalues[2 * 3], im = frequency_of(m);
    *square = im != 0 ? im * im : -re * re;
    bool stable = m->linearly_stable;
    assert_true(m->decided && m->stable == stable);
    hamel_steady_motions_free(all);
    return stable;
}

/* Papastavridis, example 1.17.22; Greenwood, example 4.11: straight rolling is stable if Ω² > g/(3r). The square of
 * the frequency of small tilts is (4/5)(3 Ω² - g/r). */
static void straight_rolling_of_a_disk_is_stable_above_the_critical_speed(void **state) {
    double critical = sqrt(g / (3 * r)), square;
    (void)state;
    for (int k = 0; k < 5; k++) {
        double speed = critical * (0.4 + 0.35 * k), expected = 0.8 * (3 * speed * speed - g / r);
        assert_int_equal(straight_roll_is_stable(speed, &square), expected > 0);
        assert_near("squared frequency", square, expected, 1e-9);
    }
    assert_false(straight_roll_is_stable(critical * (1 - 1e-9), &square));
    assert_true(straight_roll_is_stable(critical * (1 + 1e-9), &square));
}

/* Greenwood, example 4.11: an upright disk that spins about its vertical diameter is stable if ω_d² > 4g/(5r). Its
 * frequency is that of disk_frequency with Ω = 0. */
static void an_upright_spinning_disk_is_stable_above_the_critical_rate(void **state) {
    double critical = sqrt(0.8 * g / r);
    (void)state;
    for (int above = 0; above < 2; above++) {
        char text[TEXT];
        double rate = critical * (above ? 1.1 : 0.9);
        write_disk(text, M_PI / 2, rate, 0);
        hamel_steady_motions *all = find_motions(text);
        assert_true(all->count > 0);
        assert_int_equal(all->items->linearly_stable, above);
        if (above) assert_near("frequency", frequency_of(all->items), disk_frequency(M_PI / 2, rate, 0), 1e-8);
        hamel_steady_motions_free(all);
    }
}

/* Chaplygin's sleigh, with the mass centre at the distance a ahead of the blade: v' = a w², (I + m a²) w' = -m a v
 * w. All steady motions are straight. The eigenvalue of w is -m a v/(I + m a²), so motions with v > 0 are stable and
 * motions with v < 0 are unstable. */
static void a_straight_sleigh_is_stable_only_if_its_mass_centre_is_in_front(void **state) {
    const double m = 2, a = 0.3, I = 0.7;
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        char text[TEXT];
        double v = 1.5 * sign, rate = m * a * v / (I + m * a * a);
        snprintf(text, sizeof text,
                 "`parameters`: {`m`: %.17g, `a`: %.17g, `I`: %.17g}, `coordinates`: [{`name`: `x`, `velocity`: %.17g},"
                 "`y`, {`name`: `phi`, `velocity`: 0.2}], `kinetic_energy`: `m*((x' - a*phi'*sin(phi))^2 + (y' + "
                 "a*phi'*cos(phi))^2)/2 + I*phi'^2/2`, `constraints`: [{`name`: `blade`, `equation`: `x'*sin(phi) = "
                 "y'*cos(phi)`}]",
                 m, a, I, v);
        hamel_steady_motions *all = find_motions(text);
        assert_int_equal(all->count, 1);
        assert_int_equal(all->constant.count, 2);
        assert_string_equal(all->constant.items[0], "phi'");
        const hamel_steady_motion *found = all->items;
        assert_false(found->kept); /* the initial rate of phi is not 0, so this is not the initial motion */
        assert_near("rate", found->u[0], 0, 1e-12);
        assert_near("speed", fabs(found->u[1]), 1.5, 1e-12);
        assert_near("eigenvalue", found->eigenvalues[0] + found->eigenvalues[2], -rate, 1e-9);
        assert_true(found->decided);
        assert_int_equal(found->stable, sign > 0);
        hamel_steady_motions_free(all);
    }
}

/* Papastavridis, example 2.13.1: a skate whose mass centre is above its blade can run on a circle at any speed and
 * any rate of rotation. */
static void a_skate_has_a_family_of_steady_circles(void **state) {
    (void)state;
    hamel_steady_motions *all = find_motions(
        "`coordinates`: [{`name`: `x`, `velocity`: 3}, `y`, {`name`: `phi`, `velocity`: 0.7}], `kinetic_energy`: "
        "`60*(x'^2 + y'^2)/2 + phi'^2`, `constraints`: [{`name`: `blade`, `equation`: `x'*sin(phi) = y'*cos(phi)`}]");
    assert_int_equal(all->count, 1);
    assert_true(all->items->kept);
    assert_int_equal(all->ignorable.count, 3);
    assert_int_equal(all->items->family_dimension, 2);
    assert_near("rate", all->items->u[0], 0.7, 1e-14);
    assert_near("speed", fabs(all->items->u[1]), 3, 1e-14);
    hamel_steady_motions_free(all);
}

/* The skate of the previous test. Declared quasi-velocities may be chosen as the constant velocities. */
static void declared_quasi_velocities_are_used_as_constant_velocities(void **state) {
    (void)state;
    hamel_steady_motions *all = find_motions(
        "`coordinates`: [{`name`: `x`, `velocity`: 3}, `y`, {`name`: `phi`, `velocity`: 0.7}], `kinetic_energy`: "
        "`60*(x'^2 + y'^2)/2 + phi'^2`, `quasi_velocities`: [{`name`: `speed`, `definition`: `x'*cos(phi) + "
        "y'*sin(phi)`}], `constraints`: [{`name`: `blade`, `equation`: `x'*sin(phi) = y'*cos(phi)`}]");
    assert_int_equal(all->constant.count, 2);
    assert_string_equal(all->constant.items[1], "speed");
    assert_near("speed", all->items->u[1], 3, 1e-14);
    hamel_steady_motions_free(all);
}

/* The search requires velocity constraints, initial velocities and an ignorable coordinate. Each of the three
 * systems lacks one of these; hamel_find_equilibria finds the steady motions of the first. */
static void unsupported_systems_are_not_searched(void **state) {
    static const char *const systems[] = {
        "`coordinates`: [{`name`: `th`, `initial`: 0.5}, {`name`: `ph`, `velocity`: 4}], `kinetic_energy`: `(th'^2 + "
        "sin(th)^2*ph'^2)/2`, `potential_energy`: `-9.81*cos(th)`",
        "`coordinates`: [`x`, `y`, `phi`], `kinetic_energy`: `x'^2 + y'^2 + phi'^2`, `constraints`: [{`name`: `blade`, "
        "`equation`: `x'*sin(phi) = y'*cos(phi)`}]",
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `kinetic_energy`: `x'^2 + y'^2`, `potential_energy`: `x^2 "
        "+ "
        "y^2`, `constraints`: [{`name`: `c`, `equation`: `y' = x*x'`}]",
    };
    (void)state;
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        hamel_steady_motions *all = find_motions(systems[k]);
        if (all->searched) fail_msg("%s", systems[k]);
        assert_int_equal(all->count, 0);
        hamel_steady_motions_free(all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rolling_disk_has_the_published_steady_circles_and_frequencies),
        cmocka_unit_test(straight_rolling_of_a_disk_is_stable_above_the_critical_speed),
        cmocka_unit_test(an_upright_spinning_disk_is_stable_above_the_critical_rate),
        cmocka_unit_test(a_straight_sleigh_is_stable_only_if_its_mass_centre_is_in_front),
        cmocka_unit_test(a_skate_has_a_family_of_steady_circles),
        cmocka_unit_test(declared_quasi_velocities_are_used_as_constant_velocities),
        cmocka_unit_test(unsupported_systems_are_not_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
