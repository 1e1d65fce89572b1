/* test_closed_forms.c — classical systems follow their closed-form solutions within the requested tolerance.
 *
 * Each system is described by bodies, joints and constraints, and run at several tolerances by the methods auto and
 * bdf. The tolerance bounds the error of one step relative to the size of the integrated variables. These errors add up
 * along the run. All rates are about 1 rad/s or more. The bound on the error of a column of size `scale` is therefore
 * tolerance × scale × span, with the span in seconds. An error that does not decrease with the tolerance, for example
 * because of a small wrong term, fails the test. */
#include "tests/unit/elliptic.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

typedef double closed_form(double t, const double *p);

/* A column and its expected value. If `form` is NULL, the column must stay constant. */
typedef struct comparison {
    const char *column;
    closed_form *form;
    double scale;
} comparison;

/* BDF is not tested at 1e-11. Rounding errors limit the precision of a step, and over BDF's many steps they add up to
 * more than 1e-11. */
typedef struct demand {
    const char *method;
    double tolerance;
} demand;
static const demand demands[] = {{"auto", 1e-6}, {"auto", 1e-9}, {"auto", 1e-11}, {"bdf", 1e-6}, {"bdf", 1e-9}};
enum { DEMANDS = sizeof demands / sizeof demands[0] };

static motion run_at(demand d, const char *system, double span) {
    char simulation[200];
    snprintf(simulation, sizeof simulation, "`stop`: %g, `samples`: 25, `rtol`: %g, `atol`: %g, `method`: `%s`", span,
             d.tolerance, d.tolerance, d.method);
    return motion_run(system, simulation);
}

static void assert_meets(const char *column, double error, double tolerance, double allowed) {
    char what[100];
    snprintf(what, sizeof what, "%s at tolerance %g", column, tolerance);
    assert_below(what, error, tolerance * allowed);
}

static void meets(const char *system, double span, const comparison *list, size_t count, const double *p) {
    for (size_t i = 0; i < DEMANDS; i++) {
        double tolerance = demands[i].tolerance;
        motion m = run_at(demands[i], system, span);
        for (size_t k = 0; k < count; k++) {
            const comparison *c = &list[k];
            double error = c->form != NULL ? motion_distance(&m, c->column, c->form, p) : motion_drift(&m, c->column);
            assert_meets(c->column, error, tolerance, c->scale * span);
        }
        motion_free(&m);
    }
}
#define MEETS(system, span, list, p) meets(system, span, list, sizeof list / sizeof list[0], p)

/* Returns the integral of f from 0 to t by Gauss's rule with three points per panel. */
static double integral(closed_form *f, double t, const double *p, int panels) {
    double h = t / panels, sum = 0;
    for (int i = 0; i < panels; i++) {
        double middle = (i + 0.5) * h, off = h / 2 * sqrt(0.6);
        sum += 5 * f(middle - off, p) + 8 * f(middle, p) + 5 * f(middle + off, p);
    }
    return sum * h / 18;
}

/* --- Euler and Poinsot: a free body with I1 < I2 < I3 -------------------------------------------------------------- */

/* Computes the body rates for w2 = 0 at the start and M^2 > 2 E I2 (Landau and Lifshitz, Mechanics, section 37). p
 * contains 2E, M^2, I1, I2 and I3. */
static void body_rates(double t, const double *p, double w[3]) {
    double E2 = p[0], M2 = p[1], I1 = p[2], I2 = p[3], I3 = p[4];
    double large = M2 - E2 * I1, small = E2 * I3 - M2;
    jacobi j =
        jacobi_functions(t * sqrt((I3 - I2) * large / (I1 * I2 * I3)), sqrt((I2 - I1) * small / ((I3 - I2) * large)));
    w[0] = sqrt(small / (I1 * (I3 - I1))) * j.cn;
    w[1] = sqrt(small / (I2 * (I3 - I2))) * j.sn;
    w[2] = sqrt(large / (I3 * (I3 - I1))) * j.dn;
}

static double body_rate_1(double t, const double *p) {
    double w[3];
    body_rates(t, p, w);
    return w[0];
}
static double body_rate_2(double t, const double *p) {
    double w[3];
    body_rates(t, p, w);
    return w[1];
}
static double body_rate_3(double t, const double *p) {
    double w[3];
    body_rates(t, p, w);
    return w[2];
}

/* The third axis precesses about the angular momentum at the rate M (I1 w1^2 + I2 w2^2)/((I1 w1)^2 + (I2 w2)^2). */
static double precession_rate(double t, const double *p) {
    double w[3];
    body_rates(t, p, w);
    double a = p[2] * w[0], b = p[3] * w[1];
    return sqrt(p[1]) * (a * w[0] + b * w[1]) / (a * a + b * b);
}
static double axis_across(double t, const double *p) {
    double w[3];
    body_rates(t, p, w);
    return hypot(p[2] * w[0], p[3] * w[1]) / sqrt(p[1]);
}
static double axis_x(double t, const double *p) {
    return -axis_across(t, p) * cos(integral(precession_rate, t, p, 1000));
}
static double axis_y(double t, const double *p) {
    return -axis_across(t, p) * sin(integral(precession_rate, t, p, 1000));
}

/* The angular momentum is along z, and the first body axis is inclined downward by atan(I1 w1/(I3 w3)). */
static void a_free_body_follows_euler_and_poinsot(void **state) {
    (void)state;
    static const char system[] =
        "`parameters`: {`I1`: 1, `I2`: 1.6, `I3`: 2.2, `w1`: 0.4, `w3`: 1, `half`: `-atan(I1*w1/(I3*w3))/2`,"
        "`c`: `cos(half)`, `s`: `sin(half)`}, `coordinates`: [{`name`: `e0`, `initial`: `c`},"
        "{`name`: `e1`, `velocity`: `(w1*c + w3*s)/2`}, {`name`: `e2`, `initial`: `s`},"
        "{`name`: `e3`, `velocity`: `(w3*c - w1*s)/2`}],"
        "`bodies`: [{`name`: `B`, `mass`: 1, `position`: [0, 0, 0], `inertia`: [`I1`, `I2`, `I3`],"
        "`orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]}}],"
        "`points`: [{`name`: `A`, `body`: `B`, `at`: [0, 0, 1]}],"
        "`outputs`: {`W1`: `angular_velocity_body(B, 1)`, `W2`: `angular_velocity_body(B, 2)`,"
        "`W3`: `angular_velocity_body(B, 3)`, `X`: `position(A, 1)`, `Y`: `position(A, 2)`, `E`: `energy()`}";
    const double I[] = {1, 1.6, 2.2}, w[] = {0.4, 0, 1};
    const double E2 = I[0] * w[0] * w[0] + I[2] * w[2] * w[2];
    const double M2 = pow(I[0] * w[0], 2) + pow(I[2] * w[2], 2), p[] = {E2, M2, I[0], I[1], I[2]};
    const comparison list[] = {{"W1", body_rate_1, 1}, {"W2", body_rate_2, 1}, {"W3", body_rate_3, 1},
                               {"X", axis_x, 1},       {"Y", axis_y, 1},       {"E", NULL, E2}};
    MEETS(system, 12, list, p);
}

/* --- Lagrange: the heavy symmetric top ----------------------------------------------------------------------------- */

/* p contains the moment of inertia A1 about the tip, the momenta of precession and spin, weight times distance, and u2.
 * u2 is the cosine of the initial tilt, where the tilt rate is zero. With u = cos(tilt), u'^2 = 2 w/A1 (u - u1)(u -
 * u2)(u - u3), u1 < u < u2 < u3: Goldstein, section 5.7. */
static double top_height(double t, const double *p) {
    double A = p[0], P = p[1], S = p[2], w = p[3], u2 = p[4];
    /* E2 is twice the energy of the initial state, in which the tilt rate is zero. The other roots u1 and u3 of the
     * cubic follow from their sum and product. */
    double E2 = 2 * w * u2 + pow(P - S * u2, 2) / (A * (1 - u2 * u2));
    double sum = (A * E2 + S * S) / (2 * A * w) - u2;
    double product = P * S / (A * w) - 1 - sum * u2;
    double root = sqrt(sum * sum / 4 - product), u1 = sum / 2 - root, u3 = sum / 2 + root;
    jacobi j = jacobi_functions(t * sqrt(w / (2 * A) * (u3 - u1)), sqrt((u2 - u1) / (u3 - u1)));
    return u1 + (u2 - u1) * pow(j.cn / j.dn, 2);
}
static double top_tilt(double t, const double *p) {
    return acos(top_height(t, p));
}
static double top_precession_rate(double t, const double *p) {
    double u = top_height(t, p);
    return (p[1] - p[2] * u) / (p[0] * (1 - u * u));
}
static double top_precession(double t, const double *p) {
    return integral(top_precession_rate, t, p, 1000);
}

static void the_nutation_of_a_heavy_top_is_an_elliptic_function(void **state) {
    (void)state;
    static const char system[] =
        "`parameters`: {`l`: 0.08, `a`: 0.5, `w`: 2},"
        "`coordinates`: [{`name`: `x`, `velocity`: `l*sin(a)*w`}, {`name`: `y`, `initial`: `-l*sin(a)`},"
        "{`name`: `z`, `initial`: `l*cos(a)`}, {`name`: `phi`, `velocity`: `w`}, {`name`: `theta`, `initial`: `a`},"
        "{`name`: `psi`, `velocity`: 90}], `gravity`: [0, 0, -9.81],"
        "`bodies`: [{`name`: `top`, `mass`: 0.3, `position`: [`x`, `y`, `z`], `inertia`: [6e-4, 6e-4, 8e-4],"
        "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`phi`, `theta`, `psi`]}}}],"
        "`joints`: [{`name`: `tip`, `type`: `coincident`, `between`: [{`frame`: `top`, `at`: [0, 0, `-l`]},"
        "[0, 0, 0]]}]";
    const double A = 6e-4 + 0.3 * 0.08 * 0.08, u = cos(0.5), spin = 8e-4 * (90 + 2 * u);
    const double p[] = {A, A * 2 * (1 - u * u) + spin * u, spin, 0.3 * 9.81 * 0.08, u};
    const comparison list[] = {{"theta", top_tilt, 1}, {"phi", top_precession, 1}};
    MEETS(system, 1, list, p);
}

/* --- Appell and Korteweg: the rolling disk ------------------------------------------------------------------------- */

#define DISK(th, ph1, Om)                                                                                       \
    "`parameters`: {`r`: 0.5, `g`: 9.81, `th0`: `" th "`, `ph1`: `" ph1 "`, `Om0`: `" Om "`},"                  \
    "`coordinates`: [{`name`: `X`, `velocity`: `-r*Om0`}, `Y`, {`name`: `phi`, `velocity`: `ph1`},"             \
    "{`name`: `theta`, `initial`: `th0`}, {`name`: `psi`, `velocity`: `Om0 - ph1*cos(th0)`}],"                  \
    "`definitions`: {`Om`: `psi' + phi'*cos(theta)`}, `potential_energy`: `g*r*sin(theta)`,"                    \
    "`kinetic_energy`: [`(X'^2 + Y'^2 + (r*theta'*cos(theta))^2)/2`, `r^2/8*(theta'^2 + (phi'*sin(theta))^2)`," \
    "`r^2/4*Om^2`], `constraints`: [{`name`: `rollX`, `equation`: `X' = r*(theta'*sin(phi)*sin(theta) - "       \
    "Om*cos(phi))`},"                                                                                           \
    "{`name`: `rollY`, `equation`: `Y' = -r*(Om*sin(phi) + theta'*cos(phi)*sin(theta))`}],"                     \
    "`outputs`: {`spin`: `Om`, `turning`: `phi'*sin(theta)`, `E`: `energy()`}"

static double disk_x(double t, const double *p) {
    return -p[0] / p[1] * sin(p[1] * t);
}
static double disk_y(double t, const double *p) {
    return -p[0] / p[1] * (1 - cos(p[1] * t));
}

/* Steady precession at the tilt th: Om = (-(g/r) cos th + phi'^2 sin th cos th/4)/(3/2 phi' sin th), from Greenwood,
 * Advanced Dynamics, equation 4.317. */
static void a_disk_in_steady_precession_stays_in_steady_precession(void **state) {
    (void)state;
    static const char system[] = DISK("1.2", "1.5", "(-(g/r)*cos(th0) + ph1^2*sin(th0)*cos(th0)/4)/(3/2*ph1*sin(th0))");
    double spin = (-9.81 / 0.5 * cos(1.2) + 1.5 * 1.5 * sin(1.2) * cos(1.2) / 4) / (1.5 * 1.5 * sin(1.2));
    const double p[] = {0.5 * spin, 1.5};
    const comparison list[] = {
        {"theta", NULL, 1}, {"phi'", NULL, 1}, {"spin", NULL, 1}, {"X", disk_x, 1}, {"Y", disk_y, 1}};
    MEETS(system, 2, list, p);
}

/* Computes the even and odd series solutions of Legendre's equation (1 - z^2) y'' - 2 z y' - 4/3 y = 0 in z =
 * cos(tilt), and their derivatives. */
static void legendre(double z, double y[2], double slope[2]) {
    for (int odd = 0; odd < 2; odd++) {
        double term = 1; /* c_n z^(n - 1), where c_n is the coefficient of z^n; 1 for n = 0 */
        y[odd] = odd == 0 ? 1 : z;
        slope[odd] = odd;
        for (int n = odd + 2; n < 400; n += 2) {
            term *= ((n - 2) * (n - 1.0) + 4.0 / 3) / ((n - 1.0) * n) * (n == 2 ? z : z * z);
            y[odd] += term * z;
            slope[odd] += n * term;
        }
    }
}

/* The outputs are spin = Om and turning = phi' sin(tilt). Greenwood's equations 4.318 and 4.319, divided by the tilt
 * rate, are d spin/d tilt = (2/3) turning and d turning/d tilt = 2 spin - turning/tan(tilt). Therefore the spin is a
 * solution of Legendre's equation in every motion of the disk. */
static void the_spin_of_a_wobbling_disk_is_a_legendre_function(void **state) {
    (void)state;
    double span = 2, y[2], slope[2];
    legendre(cos(1.3), y, slope);
    double wronskian = y[0] * slope[1] - y[1] * slope[0], descent = -2.0 / 3 * 0.5 / sin(1.3);
    double even = (6 * slope[1] - descent * y[1]) / wronskian, odd = (descent * y[0] - 6 * slope[0]) / wronskian;
    for (size_t i = 0; i < DEMANDS; i++) {
        double tolerance = demands[i].tolerance;
        motion m = run_at(demands[i], DISK("1.3", "0.5/sin(th0)", "6"), span);
        size_t tilt = motion_column(&m, "theta"), spin = motion_column(&m, "spin"),
               turning = motion_column(&m, "turning");
        double error[2] = {0, 0};
        for (size_t row = 0; row < m.row_count; row++) {
            double theta = motion_value(&m, row, tilt);
            legendre(cos(theta), y, slope);
            double turn = -1.5 * sin(theta) * (even * slope[0] + odd * slope[1]);
            error[0] = fmax(error[0], fabs(motion_value(&m, row, spin) - even * y[0] - odd * y[1]));
            error[1] = fmax(error[1], fabs(motion_value(&m, row, turning) - turn));
        }
        assert_meets("spin", error[0], tolerance, 6 * span);
        assert_meets("turning", error[1], tolerance, 6 * span);
        motion_free(&m);
    }
}

/* --- Chaplygin: the sleigh ----------------------------------------------------------------------------------------- */

/* p contains c, k, t1 and sqrt(m/J). The speed of the blade is c tanh(k (t - t1)). The angular velocity of the body is
 * c sqrt(m/J)/cosh(k (t - t1)). */
static double sleigh_speed(double t, const double *p) {
    return p[0] * tanh(p[1] * (t - p[2]));
}
static double gudermannian(double x) {
    return 2 * atan(tanh(x / 2));
}
static double sleigh_heading(double t, const double *p) {
    return p[0] * p[3] / p[1] * (gudermannian(p[1] * (t - p[2])) + gudermannian(p[1] * p[2]));
}

/* The sleigh starts backwards and reverses its direction. Its mass centre is 0.25 ahead of the blade. */
static void a_sleigh_that_starts_backwards_reverses(void **state) {
    (void)state;
    static const char system[] =
        "`parameters`: {`b`: 0.25, `v`: -1.2, `w`: 0.05}, `coordinates`: [{`name`: `x`, `velocity`: `v`},"
        "{`name`: `y`, `velocity`: `b*w`}, {`name`: `phi`, `velocity`: `w`}],"
        "`bodies`: [{`name`: `B`, `mass`: 2, `position`: [`x`, `y`], `orientation`: {`angle`: `phi`}, `inertia`: 0.3}],"
        "`points`: [{`name`: `blade`, `body`: `B`, `at`: [`-b`, 0]}],"
        "`joints`: [{`name`: `edge`, `type`: `knife_edge`, `between`: [`blade`], `direction`: [1, 0]}],"
        "`outputs`: {`forward`: `velocity(blade, 1)*cos(phi) + velocity(blade, 2)*sin(phi)`, `E`: `energy()`}";
    const double J = 0.3 + 2 * 0.25 * 0.25, c = sqrt(1.2 * 1.2 + J * 0.05 * 0.05 / 2), k = 2 * 0.25 * c / J;
    const double p[] = {c, k, atanh(1.2 / c) / k, sqrt(2 / J)};
    const comparison list[] = {{"forward", sleigh_speed, c}, {"phi", sleigh_heading, 4}, {"E", NULL, 2}};
    MEETS(system, 8, list, p);
}

/* --- Suslov: a body that cannot rotate about one of its axes ------------------------------------------------------- */

/* p contains W, k and c. */
static double suslov_1(double t, const double *p) {
    return p[0] / cosh(p[1] * t);
}
static double suslov_2(double t, const double *p) {
    return p[2] * tanh(p[1] * t);
}

/* If I23 = 0, I1 w1' = -I13 w1 w2 and I2 w2' = I13 w1^2 (Bloch, Nonholonomic Mechanics). */
static void a_suslov_body_tends_to_a_steady_rotation(void **state) {
    (void)state;
    static const char system[] =
        "`parameters`: {`W`: 1.1, `a`: 1.2, `b`: 0.3, `w`: `W*sin(b)/sin(a)`},"
        "`coordinates`: [{`name`: `phi`, `velocity`: `w`}, {`name`: `theta`, `initial`: `a`, `velocity`: `W*cos(b)`},"
        "{`name`: `psi`, `initial`: `b`, `velocity`: `-w*cos(a)`}],"
        "`bodies`: [{`name`: `B`, `mass`: 1, `position`: [0, 0, 0],"
        "`inertia`: [[1.2, 0, 0.3], [0, 0.8, 0], [0.3, 0, 1.5]],"
        "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`phi`, `theta`, `psi`]}}}],"
        "`constraints`: [{`name`: `wheel`, `equation`: `angular_velocity_body(B, 3) = 0`}],"
        "`outputs`: {`w1`: `angular_velocity_body(B, 1)`, `w2`: `angular_velocity_body(B, 2)`}";
    const double c = 1.1 * sqrt(1.2 / 0.8), p[] = {1.1, 0.3 * c / 1.2, c};
    const comparison list[] = {{"w1", suslov_1, 1.1}, {"w2", suslov_2, c}};
    MEETS(system, 4, list, p);
}

/* --- a ball on a turntable ----------------------------------------------------------------------------------------- */

/* p contains the angular rate k of the circle and the initial speed v along y. */
static double ball_x(double t, const double *p) {
    return 1 - p[1] / p[0] * (1 - cos(p[0] * t));
}
static double ball_y(double t, const double *p) {
    return p[1] / p[0] * sin(p[0] * t);
}

/* A uniform ball moves in a circle at 2/7 of the angular rate of the table (Papastavridis, Analytical Mechanics,
 * example 2.13.5). It starts at (1, 0) without rotation, so its centre has the velocity of the table there. */
static void a_ball_on_a_turntable_runs_in_a_circle(void **state) {
    (void)state;
    static const char system[] =
        "`parameters`: {`W`: 2, `r`: 0.5}, `coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: `W`},"
        "{`name`: `z`, `initial`: `r`}, {`name`: `e0`, `initial`: 1}, `e1`, `e2`, `e3`],"
        "`frames`: [{`name`: `table`, `orientation`: {`euler`: {`sequence`: `ZYX`, `angles`: [`W*t`, 0, 0]}}}],"
        "`bodies`: [{`name`: `ball`, `mass`: 1, `position`: [`x`, `y`, `z`], `inertia`: [0.1, 0.1, 0.1],"
        "`orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]}}],"
        "`joints`: [{`name`: `roll`, `type`: `rolling`, `radius`: `r`, `normal`: [0, 0, 1],"
        "`between`: [`ball`, {`frame`: `table`, `at`: [0, 0, 0]}]}]";
    const double p[] = {4.0 / 7, 2};
    const comparison list[] = {{"x", ball_x, 7}, {"y", ball_y, 7}, {"z", NULL, 1}};
    MEETS(system, 4, list, p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_body_follows_euler_and_poinsot),
        cmocka_unit_test(the_nutation_of_a_heavy_top_is_an_elliptic_function),
        cmocka_unit_test(a_disk_in_steady_precession_stays_in_steady_precession),
        cmocka_unit_test(the_spin_of_a_wobbling_disk_is_a_legendre_function),
        cmocka_unit_test(a_sleigh_that_starts_backwards_reverses),
        cmocka_unit_test(a_suslov_body_tends_to_a_steady_rotation),
        cmocka_unit_test(a_ball_on_a_turntable_runs_in_a_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
