/* test_physics.c — motions with closed-form solutions, and conserved quantities.
 *
 * Expected values are computed in this file by the formula in the comment, not by the engine. Error bounds are about a
 * hundred times the error of a correct integrator at the requested tolerances. HAMEL_TEST_LONG makes the runs
 * longer. */
#include "tests/unit/elliptic.h"
#include "tests/unit/motion.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool long_tests(void) {
    const char *wanted = getenv("HAMEL_TEST_LONG");
    return wanted != NULL && wanted[0] != '\0' && strcmp(wanted, "0") != 0;
}

/* ---- closed forms ---- */

static double cosine(double t, const double *p) {
    return p[0] * cos(p[1] * t) + p[2] / p[1] * sin(p[1] * t);
}

static void an_oscillator_follows_the_cosine(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`m`: 2, `k`: 18},"
                          "`coordinates`: [{`name`: `x`, `initial`: 0.7, `velocity`: -1.2}],"
                          "`kinetic_energy`: `m*x'^2/2`, `potential_energy`: `k*x^2/2`, `outputs`: {`E`: `energy()`}",
                          "`stop`: 20, `samples`: 101, `rtol`: 1e-10, `atol`: 1e-12");
    assert_below("x", motion_distance(&m, "x", cosine, (double[]){0.7, 3, -1.2}), 1e-7);
    assert_below("energy", motion_drift(&m, "E"), 1e-7);
    motion_free(&m);
}

static double damped(double t, const double *p) {
    double w = sqrt(p[1] * p[1] - p[2] * p[2]);
    return p[0] * exp(-p[2] * t) * (cos(w * t) + p[2] / w * sin(w * t));
}

/* m = 2, c = 1.6, k = 18: x'' + 2 (0.4) x' + 9 x = 0. */
#define DAMPED                                                                                   \
    "`parameters`: {`m`: 2, `c`: 1.6, `k`: 18}, `coordinates`: [{`name`: `x`, `initial`: 0.7}]," \
    "`kinetic_energy`: `m*x'^2/2`, `potential_energy`: `k*x^2/2`,"

static void damping_by_a_dissipation_function_and_by_a_force_agree_with_the_closed_form(void **state) {
    (void)state;
    static const char *const ways[] = {DAMPED "`dissipation`: `c*x'^2/2`",
                                       DAMPED "`generalized_forces`: {`x`: `-c*x'`}"};
    for (size_t i = 0; i < 2; i++) {
        motion m = motion_run(ways[i], "`stop`: 15, `samples`: 76, `rtol`: 1e-10, `atol`: 1e-12");
        assert_below(ways[i], motion_distance(&m, "x", damped, (double[]){0.7, 3, 0.4}), 1e-8);
        motion_free(&m);
    }
}

static double parabola(double t, const double *p) {
    return p[0] + p[1] * t + p[2] * t * t / 2;
}

static void a_projectile_flies_a_parabola(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`g`: 9.81}, `coordinates`: [{`name`: `x`, `velocity`: 9},"
                          "{`name`: `y`, `initial`: 1.5, `velocity`: 7}], `gravity`: [0, `-g`],"
                          "`particles`: [{`name`: `shot`, `mass`: 0.2, `position`: [`x`, `y`]}]",
                          "`stop`: 1.5, `samples`: 16, `rtol`: 1e-9, `atol`: 1e-11");
    assert_below("x", motion_distance(&m, "x", parabola, (double[]){0, 9, 0}), 1e-8);
    assert_below("y", motion_distance(&m, "y", parabola, (double[]){1.5, 7, -9.81}), 1e-8);
    motion_free(&m);
}

/* A pendulum is released at the angle p[0]. Its angular frequency for small amplitudes is w = p[1]. Then sin(theta/2) =
 * k sn(K - w t, k), with k = sin(p[0]/2). */
static double pendulum(double t, const double *p) {
    double k = sin(p[0] / 2);
    return 2 * asin(k * jacobi_functions(jacobi_quarter(k) - p[1] * t, k).sn);
}

#define PENDULUM                                                                               \
    "`parameters`: {`l`: 1.3, `g`: 9.81}, `coordinates`: [{`name`: `theta`, `initial`: 2.5}]," \
    "`kinetic_energy`: `(l*theta')^2/2`, `potential_energy`: `-g*l*cos(theta)`, `outputs`: {`E`: `energy()`}"

static double pendulum_error(const char *simulation) {
    motion m = motion_run(PENDULUM, simulation);
    double error = motion_distance(&m, "theta", pendulum, (double[]){2.5, sqrt(9.81 / 1.3)});
    motion_free(&m);
    return error;
}

static void a_pendulum_follows_jacobis_elliptic_functions(void **state) {
    (void)state;
    assert_below("theta", pendulum_error("`stop`: 20, `samples`: 201, `rtol`: 1e-10, `atol`: 1e-12"), 1e-7);
}

static double hyperbolic(double t, const double *p) {
    return p[0] * cosh(p[1] * t);
}
static double wire_force(double t, const double *p) {
    return 2 * p[2] * p[1] * p[1] * p[0] * sinh(p[1] * t);
}

/* A bead starts at rest relative to its rotating wire: r = r0 cosh(w t), with the reaction 2 m w^2 r0 sinh(w t). */
static void a_bead_on_a_rotating_wire_moves_outward(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`m`: 0.3, `w`: 1.7, `r0`: 0.4},"
                          "`coordinates`: [{`name`: `x`, `initial`: `r0`}, {`name`: `y`, `velocity`: `w*r0`}],"
                          "`kinetic_energy`: `m*(x'^2 + y'^2)/2`,"
                          "`constraints`: [{`name`: `wire`, `equation`: `y*cos(w*t) = x*sin(w*t)`}],"
                          "`outputs`: {`r`: `x*cos(w*t) + y*sin(w*t)`, `N`: `lambda(wire)`}",
                          "`stop`: 2, `samples`: 41, `rtol`: 1e-10, `atol`: 1e-12");
    const double p[] = {0.4, 1.7, 0.3};
    assert_below("r", motion_distance(&m, "r", hyperbolic, p), 1e-7);
    assert_below("reaction", motion_distance(&m, "N", wire_force, p), 1e-6);
    motion_free(&m);
}

static double sleigh_speed(double t, const double *p) {
    return p[0] * tanh(p[1] * t);
}
static double sleigh_turn(double t, const double *p) {
    return p[2] / cosh(p[1] * t);
}

/* The blade is at (x, y), and the mass centre is at the distance b ahead of it. If v(0) = 0, then v = c tanh(k t) and
 * phi' = w0/cosh(k t), with c^2 = w0^2 (I + m b^2)/m and k = m b c/(I + m b^2). */
static void the_rotation_of_a_sleigh_becomes_straight_motion(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`m`: 2, `b`: 0.5, `I`: 0.5}, `coordinates`: [`x`, `y`,"
                          "{`name`: `phi`, `velocity`: 3}], `outputs`: {`v`: `x'*cos(phi) + y'*sin(phi)`},"
                          "`kinetic_energy`: `m*((x' - b*phi'*sin(phi))^2 + (y' + b*phi'*cos(phi))^2)/2 + I*phi'^2/2`,"
                          "`constraints`: [{`name`: `blade`, `equation`: `y'*cos(phi) = x'*sin(phi)`}]",
                          "`stop`: 5, `samples`: 51, `rtol`: 1e-10, `atol`: 1e-12");
    double c = 3 * sqrt(1.0 / 2), p[] = {c, 2 * 0.5 * c / 1.0, 3};
    assert_below("v", motion_distance(&m, "v", sleigh_speed, p), 1e-7);
    assert_below("phi'", motion_distance(&m, "phi'", sleigh_turn, p), 1e-7);
    motion_free(&m);
}

static double line(double t, const double *p) {
    return p[0] + p[1] * t;
}

/* x'^2 + y'^2 = a^2 z'^2 under gravity: the horizontal speed increases at the rate g a/(1 + a^2) in a constant
 * direction. */
static void chetaevs_rule_gives_the_appell_hamel_motion(void **state) {
    (void)state;
    motion m =
        motion_run("`parameters`: {`a`: 2, `g`: 9.81, `s0`: 0.5}, `coordinates`: [{`name`: `x`, `velocity`: `0.6*s0`},"
                   "{`name`: `y`, `velocity`: `0.8*s0`}, {`name`: `z`, `velocity`: `-s0/a`}],"
                   "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`, `potential_energy`: `g*z`,"
                   "`constraints`: [{`name`: `cone`, `equation`: `x'^2 + y'^2 = a^2*z'^2`}],"
                   "`outputs`: {`s`: `hypot(x', y')`, `cross`: `0.6*y' - 0.8*x'`}",
                   "`stop`: 3, `samples`: 31, `rtol`: 1e-10, `atol`: 1e-12");
    assert_below("speed", motion_distance(&m, "s", line, (double[]){0.5, 9.81 * 2 / 5}), 1e-7);
    assert_below("direction", motion_drift(&m, "cross"), 1e-8);
    motion_free(&m);
}

static double given_place(double t, const double *p) {
    return p[0] * t + p[1] * t * t * t / 6;
}

static void an_acceleration_constraint_is_not_differentiated(void **state) {
    (void)state;
    motion m = motion_run(
        "`parameters`: {`m`: 2}, `coordinates`: [{`name`: `x`, `velocity`: 0.3}, {`name`: `y`, `initial`: 1}],"
        "`kinetic_energy`: `m*(x'^2 + y'^2)/2`, `potential_energy`: `x*y`,"
        "`constraints`: [{`name`: `servo`, `equation`: `x'' = 1.5*t`}],"
        "`outputs`: {`force`: `lambda(servo) - 2*1.5*t - y`}",
        "`stop`: 2, `samples`: 21, `rtol`: 1e-10, `atol`: 1e-12");
    assert_below("x", motion_distance(&m, "x", given_place, (double[]){0.3, 1.5}), 1e-8);
    assert_below("force of the servo", motion_distance(&m, "force", line, (double[]){0, 0}), 1e-8);
    motion_free(&m);
}

/* A bead slides along a ring with the friction force mu |N|. Its speed is v0 exp(-mu s/R), and s = R ln(1 + mu v0
 * t/R)/mu. */
static double slowed(double t, const double *p) {
    return p[1] / (1 + p[0] * p[1] * t / p[2]);
}

static void friction_uses_the_true_multiplier(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`mu`: 0.3, `R`: 2}, `coordinates`: [{`name`: `x`, `initial`: `R`},"
                          "{`name`: `y`, `velocity`: 5}], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
                          "`constraints`: [{`name`: `ring`, `equation`: `x^2 + y^2 = R^2`}],"
                          "`generalized_forces`: {`x`: `-mu*2*R*abs(lambda(ring))*x'/hypot(x', y')`,"
                          "`y`: `-mu*2*R*abs(lambda(ring))*y'/hypot(x', y')`}, `outputs`: {`v`: `hypot(x', y')`}",
                          "`stop`: 3, `samples`: 31, `rtol`: 1e-10, `atol`: 1e-12");
    assert_below("speed", motion_distance(&m, "v", slowed, (double[]){0.3, 5, 2}), 1e-7);
    motion_free(&m);
}

/* ---- conservation ---- */

#define ROD                                                                                         \
    "`parameters`: {`l`: 1, `g`: 9.81},"                                                            \
    "`coordinates`: [{`name`: `x`, `initial`: `l*sin(2)`}, {`name`: `y`, `initial`: `-l*cos(2)`}]," \
    "`gravity`: [0, `-g`], `particles`: [{`name`: `bob`, `mass`: 1, `position`: [`x`, `y`]}],"
#define ROD_OUTPUTS "`outputs`: {`r`: `hypot(x, y)`, `E`: `energy()`}"

/* Energy errors are divided by m g l = 9.81. */
static void a_cartesian_pendulum_conserves_length_and_energy_for_1000_s(void **state) {
    (void)state;
    char simulation[200];
    snprintf(simulation, sizeof simulation,
             "`stop`: %d, `samples`: 1001, `rtol`: 1e-8, `atol`: 1e-10, `max_steps`: 1e7", long_tests() ? 10000 : 1000);
    motion m =
        motion_run(ROD ROD_OUTPUTS ", `constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = l^2`}]", simulation);
    double length = motion_distance(&m, "r", line, (double[]){1, 0});
    assert_below("length", length, 1e-7);
    assert_below("energy", motion_drift(&m, "E") / 9.81, long_tests() ? 1e-5 : 1e-6);
    motion_free(&m);
}

/* IFToMM benchmark A01: a pendulum is released from the horizontal, x = -1. After 2000 s the position must agree with
 * the published position (0.814603, -0.580019). The solution sin(theta/2) = -k cd(w t, k) with k = sin(pi/4), evaluated
 * to 20 digits, confirms the published position. */
static void the_benchmark_pendulum_has_its_published_position_after_2000_s(void **state) {
    (void)state;
    double stop = long_tests() ? 2000 : 200;
    char simulation[200];
    snprintf(simulation, sizeof simulation, "`stop`: %g, `samples`: 3, `rtol`: 1e-10, `atol`: 1e-12, `max_steps`: 1e7",
             stop);
    motion m = motion_run("`coordinates`: [{`name`: `x`, `initial`: -1}, `y`], `gravity`: [0, -9.81],"
                          "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, `y`]}],"
                          "`joints`: [{`name`: `rod`, `type`: `distance`, `between`: [`P`, [0, 0]], `length`: 1}]",
                          simulation);
    double k = sqrt(0.5);
    jacobi j = jacobi_functions(sqrt(9.81) * stop, k);
    double angle = -2 * asin(k * j.cn / j.dn);
    double x = motion_last(&m, "x"), y = motion_last(&m, "y");
    assert_below("position", hypot(x - sin(angle), y + cos(angle)), 1e-6);
    if (long_tests()) assert_below("distance from the published position", hypot(x - 0.814603, y + 0.580019), 1e-6);
    motion_free(&m);
}

/* A chaotic motion with large angles: position errors grow, but the energy must be conserved. */
static void a_chaotic_double_pendulum_conserves_energy(void **state) {
    (void)state;
    motion m = motion_run(
        "`parameters`: {`g`: 9.81}, `coordinates`: [{`name`: `a`, `initial`: 2}, {`name`: `b`, `initial`: 2.5}],"
        "`gravity`: [0, `-g`], `particles`: [{`name`: `p`, `mass`: 1, `position`: [`sin(a)`, `-cos(a)`]},"
        "{`name`: `q`, `mass`: 1, `position`: [`sin(a) + sin(b)`, `-cos(a) - cos(b)`]}],"
        "`outputs`: {`E`: `energy()`}",
        "`stop`: 100, `samples`: 201, `rtol`: 1e-9, `atol`: 1e-11");
    assert_below("energy", motion_drift(&m, "E"), 1e-6);
    motion_free(&m);
}

/* Each system runs for one hour at rtol 1e-9. If step errors are independent, their sum is a random walk. Its size is
 * about the tolerance times the square root of the number of steps. Constraint residuals must not accumulate. Their
 * bound, ten tolerances, therefore does not depend on the number of steps. */
static void an_hour_causes_no_drift(void **state) {
    (void)state;
    static const struct {
        const char *what, *system;
        double size; /* amplitude of the exchange between kinetic and potential energy */
    } hours[] = {
        {"double pendulum",
         "`coordinates`: [{`name`: `a`, `initial`: 2}, {`name`: `b`, `initial`: 2.5}], `gravity`: [0, -9.81],"
         "`particles`: [{`name`: `p`, `mass`: 1, `position`: [`sin(a)`, `-cos(a)`]},"
         "{`name`: `q`, `mass`: 1, `position`: [`sin(a) + sin(b)`, `-cos(a) - cos(b)`]}],",
         60},
        /* Greenwood 4.11, a wobbling disk */
        {"rolling disk",
         "`parameters`: {`m`: 2, `r`: 0.5, `A`: `m*r^2/4`, `C`: `m*r^2/2`, `g`: 9.81},"
         "`coordinates`: [{`name`: `X`, `velocity`: -1.3}, {`name`: `Y`}, {`name`: `f`, `velocity`: 0.6},"
         "{`name`: `h`, `initial`: 1.2, `velocity`: 0.3}, {`name`: `s`, `velocity`: 2.6}],"
         "`definitions`: {`w`: `s' + f'*cos(h)`, `x`: `X - r*cos(h)*sin(f)`, `y`: `Y + r*cos(h)*cos(f)`},"
         "`kinetic_energy`: [`m*(der(x)^2 + der(y)^2 + (r*cos(h)*h')^2)/2`, `A*(h'^2 + (f'*sin(h))^2)/2`, `C*w^2/2`],"
         "`potential_energy`: `m*g*r*sin(h)`,"
         "`constraints`: [{`name`: `along`, `equation`: `X' + r*s'*cos(f) = 0`},"
         "{`name`: `across`, `equation`: `Y' + r*s'*sin(f) = 0`}],",
         20},
        {"four bars",
         "`parameters`: {`l1`: 0.3, `l2`: 0.7, `l3`: 0.5, `d`: 0.6, `a0`: 1.1, `ex`: `d - l1*cos(a0)`, `ey`: "
         "`-l1*sin(a0)`,"
         "`e`: `hypot(ex, ey)`, `b0`: `atan2(ey, ex) + acos((l2^2 + e^2 - l3^2)/(2*l2*e))`,"
         "`c0`: `atan2(l1*sin(a0) + l2*sin(b0), l1*cos(a0) + l2*cos(b0) - d)`},"
         "`coordinates`: [{`name`: `a`, `initial`: `a0`}, {`name`: `b`, `initial`: `b0`}, {`name`: `c`, `initial`: "
         "`c0`}],"
         "`definitions`: {`x`: `l1*cos(a) + l2/2*cos(b)`, `y`: `l1*sin(a) + l2/2*sin(b)`},"
         "`kinetic_energy`: [`(l1*a')^2/12`, `0.9*(der(x)^2 + der(y)^2)/2 + 0.9*(l2*b')^2/24`, `0.7*(l3*c')^2/6`],"
         "`potential_energy`: [`3*(c - c0)^2/2`, `9.81*(0.25*l1*sin(a) + 0.9*y + 0.35*l3*sin(c))`],"
         "`constraints`: [{`name`: `right`, `equation`: `l1*cos(a) + l2*cos(b) = d + l3*cos(c)`},"
         "{`name`: `up`, `equation`: `l1*sin(a) + l2*sin(b) = l3*sin(c)`}],",
         10},
    };
    for (size_t i = 0; i < sizeof hours / sizeof *hours; i++) {
        char text[4000];
        snprintf(text, sizeof text, "%s `outputs`: {`E`: `energy()`}", hours[i].system);
        motion m = motion_run(text, "`stop`: 3600, `samples`: 3601, `rtol`: 1e-9, `atol`: 1e-11");
        assert_below(hours[i].what, motion_drift(&m, "E"), 1e-9 * sqrt(m.steps) * hours[i].size);
        assert_below(hours[i].what, m.position_residual, 1e-8);
        assert_below(hours[i].what, m.velocity_residual, 1e-8);
        motion_free(&m);
    }
}

/* The Lagrangian of a charged particle in a uniform magnetic field has a term linear in the velocities. */
static void a_term_linear_in_the_velocities_does_no_work(void **state) {
    (void)state;
    motion m = motion_run(
        "`parameters`: {`B`: 2, `k`: 3}, `coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: 0.5}],"
        "`lagrangian`: `(x'^2 + y'^2)/2 + B*(x*y' - y*x')/2 - k*(x^2 + y^2)/2`,"
        "`outputs`: {`T`: `(x'^2 + y'^2)/2 + k*(x^2 + y^2)/2`, `J`: `jacobi_integral()`,"
        "`h`: `x*y' - y*x' + B*(x^2 + y^2)/2`}",
        "`stop`: 20, `samples`: 101, `rtol`: 1e-10, `atol`: 1e-12");
    assert_below("energy", motion_drift(&m, "T"), 1e-7);
    assert_below("Jacobi integral", motion_drift(&m, "J"), 1e-7);
    assert_below("angular momentum including the field's contribution", motion_drift(&m, "h"), 1e-7);
    motion_free(&m);
}

static void the_work_balance_holds_for_a_driven_and_damped_system(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`c`: 0.3}, `coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`}],"
                          "`kinetic_energy`: `x'^2/2 + y'^2`, `potential_energy`: `x^2 + (x - y)^2`,"
                          "`dissipation`: `c*(x' - y')^2/2`, `generalized_forces`: {`y`: `sin(2*t)`}",
                          "`stop`: 20, `samples`: 101, `rtol`: 1e-9, `atol`: 1e-11");
    assert_below("work balance", m.work_balance_error, 1e-7);
    motion_free(&m);
}

/* ---- requested accuracy ---- */

/* The ratio of the errors at neighbouring tolerances may be accidental, so tolerances two decades apart are
 * compared. */
static void the_error_decreases_with_the_tolerance_over_five_decades(void **state) {
    (void)state;
    double before[2] = {INFINITY, INFINITY};
    for (int digits = 4; digits <= 9; digits++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "`stop`: 10, `samples`: 101, `rtol`: 1e-%d, `atol`: 1e-%d", digits,
                 digits);
        double error = pendulum_error(simulation);
        assert_below("error in units of the tolerance", error * pow(10, digits), 300);
        assert_below("error compared with the error at a hundred times the tolerance", error, before[0] / 5);
        before[0] = before[1];
        before[1] = error;
    }
}

static void certify_bounds_the_true_error(void **state) {
    (void)state;
    for (int digits = 5; digits <= 9; digits += 2) {
        char simulation[200];
        snprintf(simulation, sizeof simulation,
                 "`stop`: 10, `samples`: 101, `rtol`: 1e-%d, `atol`: 1e-%d, `certify`: true", digits, digits);
        motion m = motion_run(PENDULUM, simulation);
        double error = motion_distance(&m, "theta", pendulum, (double[]){2.5, sqrt(9.81 / 1.3)});
        assert_non_null(m.error_estimate);
        double estimate = m.error_estimate[motion_column(&m, "theta")];
        assert_below("true error compared with the estimate", error, 3 * estimate);
        assert_below("estimate compared with the true error", estimate, 100 * error);
        motion_free(&m);
    }
}

/* ---- invariance under formulation, method and output times ---- */

static void formulations_give_the_same_motion(void **state) {
    (void)state;
    static const char system[] =
        "`parameters`: {`m`: 0.05, `R`: 0.02, `g`: 9.81}, `coordinates`: [{`name`: `x`, `velocity`: `R*10`}, `y`,"
        "{`name`: `phi`, `velocity`: 2}, {`name`: `psi`, `velocity`: 10}],"
        "`kinetic_energy`: `m*(x'^2 + y'^2)/2 + m*R^2*(psi'^2/4 + phi'^2/8)`, `potential_energy`: `-m*g*0.3*x`,"
        "`constraints`: [{`name`: `cx`, `equation`: `x' = R*psi'*cos(phi)`}, {`name`: `cy`, `equation`: `y' = "
        "R*psi'*sin(phi)`}],"
        "`outputs`: {`Fx`: `lambda(cx)`, `Fy`: `lambda(cy)`}";
    motion lagrange =
        motion_run(system, "`stop`: 5, `samples`: 51, `rtol`: 1e-9, `atol`: 1e-11, `formulation`: `lagrange`");
    motion udwadia =
        motion_run(system, "`stop`: 5, `samples`: 51, `rtol`: 1e-9, `atol`: 1e-11, `formulation`: `udwadia-kalaba`");
    assert_below("columns", motion_difference(&lagrange, &udwadia), 1e-6);
    motion_free(&lagrange);
    motion_free(&udwadia);
}

static void methods_give_the_same_motion(void **state) {
    (void)state;
    static const char system[] = ROD ROD_OUTPUTS ", `constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = l^2`}]";
    motion adams = motion_run(system, "`stop`: 10, `samples`: 51, `rtol`: 1e-9, `atol`: 1e-11, `method`: `adams`");
    motion bdf = motion_run(system, "`stop`: 10, `samples`: 51, `rtol`: 1e-9, `atol`: 1e-11, `method`: `bdf`");
    assert_below("columns", motion_difference(&adams, &bdf), 1e-5);
    assert_below("position residual of BDF", bdf.position_residual, 1e-10);
    assert_below("velocity residual of BDF", bdf.velocity_residual, 1e-10);
    assert_below("position residual of Adams", adams.position_residual, 1e-10);
    assert_below("velocity residual of Adams", adams.velocity_residual, 1e-10);
    motion_free(&adams);
    motion_free(&bdf);
}

/* The mass matrix of four Euler parameters is singular, and its leading minor vanishes whenever e3 crosses 0. The
 * rounding error of this minor must not act as a mass. For a body that rotates at about 1 rad/s, a few hundred steps
 * suffice. The bound of 1000 steps is a few times this number. */
static void a_singular_mass_matrix_costs_no_steps(void **state) {
    (void)state;
    static const char system[] =
        "`coordinates`: [{`name`: `e0`, `initial`: 0.5, `velocity`: -0.35}, {`name`: `e1`, `initial`: 0.5, `velocity`: "
        "0.35}, {`name`: `e2`, `initial`: 0.5, `velocity`: -0.15}, {`name`: `e3`, `initial`: 0.5, `velocity`: 0.15}],"
        "`bodies`: [{`name`: `B`, `mass`: 1, `position`: [0, 0, 0], `inertia`: [1, 1.6, 2.2],"
        "`orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]}}], `outputs`: {`T`: `kinetic_energy()`}";
    static const char *const methods[] = {"adams", "bdf", "erk", "auto"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "`stop`: 12, `rtol`: 1e-6, `atol`: 1e-11, `method`: `%s`", methods[i]);
        motion m = motion_run(system, simulation);
        assert_below("steps", m.steps, 1000);
        assert_below("drift of the energy", motion_drift(&m, "T"), 1e-5);
        motion_free(&m);
    }
}

static void redundant_constraints_give_the_same_motion_and_reaction(void **state) {
    (void)state;
    static const char simulation[] = "`stop`: 10, `samples`: 51, `rtol`: 1e-9, `atol`: 1e-11";
    motion one = motion_run(ROD "`constraints`: [{`name`: `a`, `equation`: `x^2 + y^2 = l^2`}],"
                                "`outputs`: {`Rx`: `reaction(a, x)`, `Ry`: `reaction(a, y)`}",
                            simulation);
    motion three = motion_run(
        ROD "`constraints`: [{`name`: `a`, `equation`: `x^2 + y^2 = l^2`},"
            "{`name`: `b`, `equation`: `3*(x^2 + y^2) = 3*l^2`}, {`name`: `c`, `equation`: `x*x' + y*y' = 0`}],"
            "`outputs`: {`Rx`: `reaction(a, x) + reaction(b, x) + reaction(c, x)`,"
            "`Ry`: `reaction(a, y) + reaction(b, y) + reaction(c, y)`}",
        simulation);
    assert_below("columns", motion_difference(&one, &three), 1e-5);
    assert_int_equal(one.redundant_count, 0);
    assert_true(three.redundant_count >= 1);
    motion_free(&one);
    motion_free(&three);
}

/* A pendulum of length 1 that starts upright with speed 1 revolves. With w = sqrt(1 + 4 g)/2 and k^2 = 4 g/(1 + 4 g),
 * half the angle from the bottom is am(w t - K, k). */
static double going_round(double t, const double *p) {
    double k = sqrt(4 * p[0] / (1 + 4 * p[0]));
    jacobi j = jacobi_functions(sqrt(1 + 4 * p[0]) / 2 * t - jacobi_quarter(k), k);
    return -2 * j.sn * j.cn;
}

/* Three links and two bars of length 1 move as one pendulum. When the bars are level with the links, the constraint
 * rows are linearly dependent, and another branch of the motion exists. This is IFToMM benchmark A02 with the masses in
 * the joints. Each revolution amplifies errors about ten times, because the speed is about ten times as large at the
 * bottom as at the top. Rounding errors are amplified too. Closer to the singularity than 1e-3, accelerations are
 * interpolated. At the distance 1e-3, the rounding error is ε/(1e-3)². */
static void a_parallelogram_passes_its_level_positions(void **state) {
    (void)state;
    static const double tolerances[] = {1e-6, 1e-8, 1e-10};
    for (size_t i = 0; i < sizeof tolerances / sizeof tolerances[0]; i++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 3, `samples`: 31, `rtol`: %g, `atol`: %g", tolerances[i],
                 tolerances[i]);
        motion m =
            motion_run("`coordinates`: [{`name`: `x[i]`, `for`: `i = 0..2`, `initial`: `i`, `velocity`: 1},"
                       "{`name`: `y[i]`, `for`: `i = 0..2`, `initial`: 1}], `gravity`: [0, -9.81],"
                       "`particles`: [{`name`: `B[i]`, `for`: `i = 0..2`, `mass`: 1, `position`: [`x[i]`, `y[i]`]}],"
                       "`joints`: [{`name`: `link[i]`, `for`: `i = 0..2`, `type`: `distance`, `length`: 1, `between`: "
                       "[`B[i]`, [`i`, "
                       "0]]}, {`name`: `bar[i]`, `for`: `i = 1..2`, `type`: `distance`, `length`: 1, `between`: "
                       "[`B[i]`, `B[i-1]`]}],"
                       "`outputs`: {`fold`: `hypot(y[0] - y[1], y[1] - y[2])`}",
                       simulation);
        double floor = DBL_EPSILON / (1e-3 * 1e-3);
        assert_below("position", motion_distance(&m, "x[0]", going_round, (double[]){9.81}),
                     1e3 * (tolerances[i] + floor));
        assert_below("bars stay level", motion_drift(&m, "fold"), 1e3 * tolerances[i]);
        motion_free(&m);
    }
}

static void a_family_equals_its_explicit_members(void **state) {
    (void)state;
    static const char simulation[] = "`stop`: 2, `samples`: 21, `rtol`: 1e-8, `atol`: 1e-10";
    motion family = motion_run(
        "`parameters`: {`N`: 3, `l`: 0.4, `g`: 9.81},"
        "`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`, `initial`: `i*l`}, {`name`: `y[i]`, `for`: `i = 1..N`}],"
        "`gravity`: [0, `-g`], `particles`: [{`name`: `p[i]`, `for`: `i = 1..N`, `mass`: `0.1*i`, `position`: [`x[i]`, "
        "`y[i]`]}],"
        "`constraints`: [{`name`: `rod[1]`, `equation`: `x[1]^2 + y[1]^2 = l^2`}, {`name`: `rod[i]`, `for`: `i = 2..N`,"
        "`equation`: `(x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 = l^2`}], `outputs`: {`s`: `sum(i, 1, N, i*y[i])`}",
        simulation);
    motion plain = motion_run(
        "`parameters`: {`l`: 0.4, `g`: 9.81},"
        "`coordinates`: [{`name`: `x[1]`, `initial`: `l`}, {`name`: `x[2]`, `initial`: `2*l`}, {`name`: `x[3]`, "
        "`initial`: `3*l`},"
        "`y[1]`, `y[2]`, `y[3]`], `gravity`: [0, `-g`],"
        "`particles`: [{`name`: `p[1]`, `mass`: 0.1, `position`: [`x[1]`, `y[1]`]}, {`name`: `p[2]`, `mass`: 0.2,"
        "`position`: [`x[2]`, `y[2]`]}, {`name`: `p[3]`, `mass`: `0.1*3`, `position`: [`x[3]`, `y[3]`]}],"
        "`constraints`: [{`name`: `rod[1]`, `equation`: `x[1]^2 + y[1]^2 = l^2`}, {`name`: `rod[2]`,"
        "`equation`: `(x[2]-x[1])^2 + (y[2]-y[1])^2 = l^2`}, {`name`: `rod[3]`, `equation`: `(x[3]-x[2])^2 + "
        "(y[3]-y[2])^2 = l^2`}],"
        "`outputs`: {`s`: `y[1] + 2*y[2] + 3*y[3]`}",
        simulation);
    assert_int_equal(family.column_count, plain.column_count);
    for (size_t i = 0; i < family.column_count; i++) assert_string_equal(family.columns[i], plain.columns[i]);
    assert_below("columns", motion_difference(&family, &plain), 1e-12);
    motion_free(&family);
    motion_free(&plain);
}

static void output_times_do_not_change_the_values(void **state) {
    (void)state;
    static const char system[] = ROD ROD_OUTPUTS ", `constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = l^2`}]";
    motion few = motion_run(system, "`stop`: 10, `times`: [0, 2.5, 5, 10], `rtol`: 1e-7");
    motion many = motion_run(system, "`stop`: 10, `samples`: 401, `rtol`: 1e-7");
    assert_true(few.steps == many.steps);
    for (size_t i = 0; i < few.row_count; i++) {
        size_t other = (size_t)lround(40 * motion_value(&few, i, 0));
        assert_memory_equal(few.values + i * few.column_count, many.values + other * many.column_count,
                            few.column_count * sizeof(double));
    }
    motion_free(&few);
    motion_free(&many);
}

static void a_reversed_motion_returns_to_its_start(void **state) {
    (void)state;
    static const char format[] = "`coordinates`: [{`name`: `theta`, `initial`: %.17g, `velocity`: %.17g}],"
                                 "`kinetic_energy`: `theta'^2/2`, `potential_energy`: `-9.81*cos(theta)`";
    static const char simulation[] = "`stop`: 5, `samples`: 2, `rtol`: 1e-10, `atol`: 1e-12";
    char system[500];
    snprintf(system, sizeof system, format, 2.5, -1.0);
    motion there = motion_run(system, simulation);
    snprintf(system, sizeof system, format, motion_last(&there, "theta"), -motion_last(&there, "theta'"));
    motion back = motion_run(system, simulation);
    assert_below("angle", fabs(motion_last(&back, "theta") - 2.5), 1e-7);
    assert_below("rate", fabs(motion_last(&back, "theta'") - 1), 1e-7);
    motion_free(&there);
    motion_free(&back);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oscillator_follows_the_cosine),
        cmocka_unit_test(damping_by_a_dissipation_function_and_by_a_force_agree_with_the_closed_form),
        cmocka_unit_test(a_projectile_flies_a_parabola),
        cmocka_unit_test(a_pendulum_follows_jacobis_elliptic_functions),
        cmocka_unit_test(a_bead_on_a_rotating_wire_moves_outward),
        cmocka_unit_test(the_rotation_of_a_sleigh_becomes_straight_motion),
        cmocka_unit_test(chetaevs_rule_gives_the_appell_hamel_motion),
        cmocka_unit_test(an_acceleration_constraint_is_not_differentiated),
        cmocka_unit_test(friction_uses_the_true_multiplier),
        cmocka_unit_test(a_cartesian_pendulum_conserves_length_and_energy_for_1000_s),
        cmocka_unit_test(the_benchmark_pendulum_has_its_published_position_after_2000_s),
        cmocka_unit_test(a_chaotic_double_pendulum_conserves_energy),
        cmocka_unit_test(an_hour_causes_no_drift),
        cmocka_unit_test(a_term_linear_in_the_velocities_does_no_work),
        cmocka_unit_test(the_work_balance_holds_for_a_driven_and_damped_system),
        cmocka_unit_test(the_error_decreases_with_the_tolerance_over_five_decades),
        cmocka_unit_test(certify_bounds_the_true_error),
        cmocka_unit_test(formulations_give_the_same_motion),
        cmocka_unit_test(methods_give_the_same_motion),
        cmocka_unit_test(a_singular_mass_matrix_costs_no_steps),
        cmocka_unit_test(redundant_constraints_give_the_same_motion_and_reaction),
        cmocka_unit_test(a_parallelogram_passes_its_level_positions),
        cmocka_unit_test(a_family_equals_its_explicit_members),
        cmocka_unit_test(output_times_do_not_change_the_values),
        cmocka_unit_test(a_reversed_motion_returns_to_its_start),
    };
    return cmocka_run_group_tests_name("physics", tests, NULL, NULL);
}
