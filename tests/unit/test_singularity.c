/* test_singularity.c — mechanisms that pass configurations at which the rank of their constraints decreases.
 *
 * The mechanisms are N four-bar windows of bodies with revolute joints (IFToMM benchmark A02). N + 1 links of length l
 * are hinged to the ground, and N bars connect the upper ends of neighbouring links. In the level position, N rows of
 * the constraint Jacobian depend on the other rows, and 2^N solution branches intersect. From the initial state used
 * here, the windows remain parallelograms with one degree of freedom. Then I phi'' = G sin(phi), where I = (N + 1) m
 * l²/3 + N M l² and G = g l ((N + 1) m/2 + N M). A link has the mass m, and a bar has the mass M. The tests integrate
 * this equation as reference. HAMEL_TEST_LONG runs more windows at more tolerances. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct windows {
    int count;            /* N */
    double length, width; /* `length`: l; `width`: distance between neighbouring ground hinges */
    double link, bar;     /* `link`: mass m; `bar`: mass M */
    double turn;          /* initial phi' */
} windows;

static const char members[] =
    "`parameters`: {`N`: %d, `l`: %.17g, `d`: %.17g, `m`: %.17g, `M`: %.17g, `s`: %.17g}, `gravity`: [0, -9.81],"
    "`coordinates`: ["
    "{`name`: `x[i]`, `for`: `i = 0..N`, `initial`: `i*d`, `velocity`: `s*l/2`},"
    "{`name`: `y[i]`, `for`: `i = 0..N`, `initial`: `l/2`},"
    "{`name`: `a[i]`, `for`: `i = 0..N`, `velocity`: `s`},"
    "{`name`: `u[i]`, `for`: `i = 1..N`, `initial`: `(i - 1/2)*d`, `velocity`: `s*l`},"
    "{`name`: `w[i]`, `for`: `i = 1..N`, `initial`: `l`}, {`name`: `b[i]`, `for`: `i = 1..N`}],"
    "`bodies`: ["
    "{`name`: `link[i]`, `for`: `i = 0..N`, `mass`: `m`, `position`: [`x[i]`, `y[i]`],"
    "`orientation`: {`angle`: `-a[i]`}, `inertia`: `m*l^2/12`},"
    "{`name`: `bar[i]`, `for`: `i = 1..N`, `mass`: `M`, `position`: [`u[i]`, `w[i]`],"
    "`orientation`: {`angle`: `b[i]`}, `inertia`: `M*d^2/12`}],"
    "`joints`: ["
    "{`name`: `foot[i]`, `for`: `i = 0..N`, `type`: `revolute`,"
    "`between`: [{`frame`: `link[i]`, `at`: [0, `-l/2`]}, [`i*d`, 0]]},"
    "{`name`: `left[i]`, `for`: `i = 1..N`, `type`: `revolute`,"
    "`between`: [{`frame`: `link[i-1]`, `at`: [0, `l/2`]}, {`frame`: `bar[i]`, `at`: [`-d/2`, 0]}]},"
    "{`name`: `right[i]`, `for`: `i = 1..N`, `type`: `revolute`,"
    "`between`: [{`frame`: `link[i]`, `at`: [0, `l/2`]}, {`frame`: `bar[i]`, `at`: [`d/2`, 0]}]}]";

static bool is_long(void) {
    const char *wanted = getenv("HAMEL_TEST_LONG");
    return wanted && wanted[0] != '\0' && strcmp(wanted, "0") != 0;
}

/* Returns G/I. */
static double pull(const windows *w) {
    double n = w->count, l = w->length;
    return 9.81 * l * ((n + 1) * w->link / 2 + n * w->bar) / (((n + 1) * w->link / 3 + n * w->bar) * l * l);
}

/* Advances *phi and *rate by `time` with the classical Runge-Kutta method. A step is at most 1/4000 of the shortest
 * time in which the links rotate by one radian. The errors are about 1e-13. */
static void turn_for(const windows *w, double time, double *phi, double *rate) {
    double a = pull(w), fastest = sqrt(w->turn * w->turn + 4 * a), p = *phi, v = *rate;
    int steps = 1 + (int)(4000 * fastest * fabs(time));
    double h = time / steps;
    for (int i = 0; i < steps; i++) {
        double a1 = a * sin(p), v2 = v + h / 2 * a1, a2 = a * sin(p + h / 2 * v), v3 = v + h / 2 * a2;
        double a3 = a * sin(p + h / 2 * v2), v4 = v + h * a3, a4 = a * sin(p + h * v3);
        p += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
        v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    *phi = p;
    *rate = v;
}

/* Finds the first time at which the links are level, by Newton's method. */
static double level_time(const windows *w) {
    double time = 0, phi = 0, rate = w->turn, level = w->turn > 0 ? acos(0) : -acos(0);
    for (int i = 0; i < 40; i++) {
        double step = fmin((level - phi) / rate, 0.2 / fabs(rate)); /* limited, so that Newton's method converges */
        turn_for(w, step, &phi, &rate);
        time += step;
    }
    return time;
}

/* Returns the largest error in all rows, for the angles and rates of the first and last link. Errors of rates are
 * relative to the highest possible rate. */
static double error_of(const windows *w, const motion *m) {
    char last[20], last_rate[20];
    snprintf(last, sizeof last, "a[%d]", w->count);
    snprintf(last_rate, sizeof last_rate, "a[%d]'", w->count);
    const size_t angles[] = {motion_column(m, "a[0]"), motion_column(m, last)};
    const size_t rates[] = {motion_column(m, "a[0]'"), motion_column(m, last_rate)};
    double worst = 0, fastest = sqrt(w->turn * w->turn + 4 * pull(w)), phi = 0, rate = w->turn, t = 0;
    for (size_t i = 0; i < m->row_count; i++) {
        turn_for(w, motion_value(m, i, 0) - t, &phi, &rate);
        t = motion_value(m, i, 0);
        for (size_t k = 0; k < 2; k++) {
            worst = fmax(worst, fabs(motion_value(m, i, angles[k]) - phi));
            worst = fmax(worst, fabs(motion_value(m, i, rates[k]) - rate) / fastest);
        }
    }
    return worst;
}

static motion run(const windows *w, const char *method, double rtol, const char *rows) {
    char text[4000], simulation[400];
    snprintf(text, sizeof text, members, w->count, w->length, w->width, w->link, w->bar, w->turn);
    snprintf(simulation, sizeof simulation, "%s, `method`: `%s`, `rtol`: %g, `atol`: %g", rows, method, rtol,
             rtol / 100);
    return motion_run(text, simulation);
}

/* The error bound is a hundred times rtol. A relative error of rtol grows by the ratio of the largest to the initial
 * rate, which is at most 8 in these tests. The errors of about ten steps add up. Near a singularity the integrator
 * takes tens of steps, and between two singularities 30 to 400 (measured). */
static void pass(const windows *w, const char *method, double rtol, const char *rows, int crossings) {
    char what[100];
    motion m = run(w, method, rtol, rows);
    snprintf(what, sizeof what, "N = %d by %s at rtol %g", w->count, method, rtol);
    assert_below(what, error_of(w, &m), 100 * rtol);
    assert_below(what, m.steps, 3000);
    if (m.rank_changes != crossings) fail_msg("%s: %d rank changes", what, m.rank_changes);
    motion_free(&m);
}

static const char two_seconds[] = "`stop`: 2, `samples`: 9";

static void windows_pass_level_positions(void **state) {
    (void)state;
    static const int counts[] = {2, 3, 4, 5, 8, 10, 20, 40};
    static const double tolerances[] = {1e-6, 1e-8, 1e-9, 1e-10};
    static const char *const methods[] = {"auto", "adams"};
    size_t last = is_long() ? 8 : 5;
    for (size_t n = 0; n < last; n++)
        for (size_t k = 0; k < 8; k++)
            pass(&(windows){counts[n], 1, 1, 1, 1, 1}, methods[k % 2], tolerances[k / 2], two_seconds, 2);
    if (!is_long()) pass(&(windows){40, 1, 1, 1, 1, 1}, "auto", 1e-9, "`stop`: 0.75, `samples`: 2", 1);
}

static void windows_of_other_lengths_masses_and_speeds_pass_level_positions(void **state) {
    (void)state;
    static const windows other[] = {{2, 0.7, 1.3, 2, 0.5, 2.5}, {3, 1.5, 0.4, 0.3, 1, 1.2}, {5, 0.2, 1, 1, 3, 9},
                                    {6, 2, 2, 1, 0.01, 0.7},    {7, 1, 3, 5, 1, 30},        {4, 1, 1, 1, 1, -2}};
    static const double tolerances[] = {1e-6, 1e-8, 1e-10};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 3; k++) {
            char rows[100];
            snprintf(rows, sizeof rows, "`stop`: %.17g, `samples`: 9", 1.2 * level_time(&other[i]));
            pass(&other[i], "auto", tolerances[k], rows, 1);
        }
}

/* The rows of a long run are at various distances from the ten singularities. */
static void rows_near_level_positions_are_accurate(void **state) {
    (void)state;
    pass(&(windows){2, 1, 1, 1, 1, 1}, "auto", 1e-8, "`stop`: 10, `samples`: 701", 10);
    pass(&(windows){5, 1, 1, 1, 1, 1}, "auto", 1e-8, "`stop`: 2, `samples`: 201", 2);
}

/* Tests rows at the singularity, and runs that end at the singularity, shortly before or shortly after. */
static void runs_may_end_at_a_level_position(void **state) {
    (void)state;
    static const double off[] = {0, 1e-12, -1e-12, 1e-8, -1e-8, 1e-4, -1e-4, -1e-2};
    for (int n = 2; n <= 5; n += 3)
        for (size_t i = 0; i < 8; i++) {
            windows w = {n, 1, 1, 1, 1, 1};
            char rows[100];
            snprintf(rows, sizeof rows, "`stop`: %.17g, `samples`: 2", level_time(&w) + off[i]);
            motion m = run(&w, "auto", 1e-8, rows);
            assert_below("error at the end", error_of(&w, &m), 1e-6);
            motion_free(&m);
        }
}

static void all_formulations_pass_singularities(void **state) {
    (void)state;
    for (size_t i = 0; hamel_formulation_name(i); i++) {
        const char *name = hamel_formulation_name(i);
        char rows[100];
        /* Routh's equations need a cyclic coordinate, and Chaplygin's need a coordinate that is absent from the
         * constraints */
        if (!strcmp(name, "routh") || !strcmp(name, "chaplygin")) continue;
        snprintf(rows, sizeof rows, "`formulation`: `%s`, %s", name, two_seconds);
        for (int k = 6; k <= 10; k += 2) pass(&(windows){2, 1, 1, 1, 1, 1}, "auto", pow(10, -k), rows, 2);
        if (!strcmp(name, "udwadia-kalaba")) continue; /* this formulation fails (status 4) for large sparse systems */
        for (int k = 6; k <= 10; k += 2) pass(&(windows){5, 1, 1, 1, 1, 1}, "auto", pow(10, -k), rows, 2);
    }
}

/* --- near misses ------------------------------------------------------------------------------------------------------- */

/* In a parallelogram whose right crank is longer than the left crank by a fraction e, the stretched position cannot be
 * reached. While the cranks rotate by an angle of about √e, the bar swings to the other side, and the linkage continues
 * as an antiparallelogram. No forces act, and the bar has unit masses at its ends. So (x, y, u, v) moves at constant
 * speed along the curve defined by the constraints. */
static const char cranks[] =
    "`coordinates`: [{`name`: `x`, `initial`: %.17g, `velocity`: 1}, {`name`: `y`, `initial`: %.17g, `velocity`: "
    "%.17g},"
    "{`name`: `u`, `initial`: %.17g, `velocity`: %.17g}, {`name`: `v`, `initial`: %.17g, `velocity`: %.17g}],"
    "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, `y`]}, {`name`: `Q`, `mass`: 1, `position`: [`u`, `v`]}],"
    "`constraints`: [{`name`: `left`, `equation`: `x^2 + y^2 = 1`},"
    "{`name`: `right`, `equation`: `(u - 2)^2 + v^2 = %.17g`},"
    "{`name`: `bar`, `equation`: `(u - x)^2 + (v - y)^2 = 4`}]";

static void gradients(const double q[4], double g[3][4]) {
    const double dx = q[2] - q[0], dy = q[3] - q[1];
    const double all[3][4] = {{q[0], q[1], 0, 0}, {0, 0, q[2] - 2, q[3]}, {-dx, -dy, dx, dy}};
    memcpy(g, all, sizeof all);
}

/* Computes the unit tangent of the curve: removes from `along` its components along the orthonormalized gradients. */
static void tangent(const double q[4], const double along[4], double out[4]) {
    double g[3][4], part;
    gradients(q, g);
    memcpy(out, along, 4 * sizeof *out);
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < i; j++) {
                part = g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2] + g[i][3] * g[j][3];
                for (int k = 0; k < 4; k++) g[i][k] -= part * g[j][k];
            }
            part = sqrt(g[i][0] * g[i][0] + g[i][1] * g[i][1] + g[i][2] * g[i][2] + g[i][3] * g[i][3]);
            for (int k = 0; k < 4; k++) g[i][k] /= part;
            part = g[i][0] * out[0] + g[i][1] * out[1] + g[i][2] * out[2] + g[i][3] * out[3];
            for (int k = 0; k < 4; k++) out[k] -= part * g[i][k];
        }
    part = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    for (int k = 0; k < 4; k++) out[k] /= part;
}

/* Moves along the curve by an arc length with the classical Runge-Kutta method, with short steps near the
 * swing-over. */
static void follow(double q[4], double along[4], double length, double step) {
    int steps = 1 + (int)(length / step);
    double h = length / steps, k1[4], k2[4], k3[4], k4[4], at[4];
    for (int i = 0; i < steps; i++) {
        tangent(q, along, k1);
        for (int k = 0; k < 4; k++) at[k] = q[k] + h / 2 * k1[k];
        tangent(at, k1, k2);
        for (int k = 0; k < 4; k++) at[k] = q[k] + h / 2 * k2[k];
        tangent(at, k2, k3);
        for (int k = 0; k < 4; k++) at[k] = q[k] + h * k3[k];
        tangent(at, k3, k4);
        for (int k = 0; k < 4; k++) q[k] += h / 6 * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]);
        memcpy(along, k4, sizeof k4);
    }
}

/* Computes the end (u, v) of the right crank for a bar that starts at (x, y). The end is an intersection of two
 * circles. Newton's method starts at the parallelogram. */
static void close_linkage(double e, double q[4]) {
    for (int i = 0; i < 50; i++) { /* Newton's method */
        double a = q[2] - 2, b = q[3], c = q[2] - q[0], d = q[3] - q[1], determinant = 2 * (a * d - b * c);
        double r1 = a * a + b * b - (1 + e) * (1 + e), r2 = c * c + d * d - 4;
        q[2] -= (r1 * d - r2 * b) / determinant;
        q[3] -= (a * r2 - c * r1) / determinant;
    }
}

/* Describes the linkage for a fraction e, starting with x' = 1 one radian before the nearly stretched position. */
static void describe_cranks(double e, char *text, size_t size, double q[4], double along[4]) {
    const double level[4] = {cos(1), sin(1), 2 + cos(1), sin(1)}, start[4] = {1, -1, 1, -1};
    memcpy(q, level, sizeof level);
    close_linkage(e, q);
    tangent(q, start, along);
    double y = along[1] / along[0], u = along[2] / along[0], v = along[3] / along[0];
    snprintf(text, size, cranks, q[0], q[1], y, q[2], u, q[3], v, (1 + e) * (1 + e));
}

/* The bound 1e-7 is a hundred times rtol. It includes the effect of rounding, ε/e, on a swing-over of width √e. */
static void mechanisms_close_to_a_singularity_swing_over(void **state) {
    (void)state;
    static const double parts[] = {1e-4, 1e-6, -1e-6, 1e-8};
    static const char *const methods[] = {"auto", "adams", "bdf"}, *const names[] = {"x", "y", "u", "v"};
    for (size_t i = 0; i < 4; i++) {
        double q[4], along[4];
        char text[3000], simulation[200];
        describe_cranks(parts[i], text, sizeof text, q, along);
        follow(q, along, 2 / along[0], 0.03 * sqrt(fabs(parts[i])));
        for (size_t k = 0; k < 3; k++) {
            snprintf(simulation, sizeof simulation,
                     "`stop`: 2, `samples`: 2, `method`: `%s`, `rtol`: 1e-9, `atol`: 1e-11", methods[k]);
            motion m = motion_run(text, simulation);
            for (size_t j = 0; j < 4; j++) assert_below(names[j], fabs(motion_last(&m, names[j]) - q[j]), 1e-7);
            motion_free(&m);
        }
    }
}

/* Here e is so small that rounding moves the swing-over by more than its width √e. */
static void a_motion_decided_by_rounding_is_rejected(void **state) {
    (void)state;
    static const char *const methods[] = {"auto", "adams", "bdf", "erk"};
    for (size_t i = 0; i < 4; i++) {
        double q[4], along[4];
        char text[3000], simulation[200];
        hamel_summary s;
        hamel_error error = {0};
        describe_cranks(3e-11, text, sizeof text, q, along);
        snprintf(simulation, sizeof simulation, "`stop`: 2, `samples`: 2, `method`: `%s`, `rtol`: 1e-8, `atol`: 1e-10",
                 methods[i]);
        hamel_model *model = fixture_model(text, simulation);
        assert_int_equal(hamel_run(model, NULL, NULL, &s, &error), HAMEL_INTEGRATION);
        assert_non_null(strstr(error.faults[0].message, "`left`, `right` and `bar` are so close to redundancy"));
        hamel_summary_free(&s);
        hamel_error_clear(&error);
        hamel_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_pass_level_positions),
        cmocka_unit_test(windows_of_other_lengths_masses_and_speeds_pass_level_positions),
        cmocka_unit_test(rows_near_level_positions_are_accurate),
        cmocka_unit_test(runs_may_end_at_a_level_position),
        cmocka_unit_test(all_formulations_pass_singularities),
        cmocka_unit_test(mechanisms_close_to_a_singularity_swing_over),
        cmocka_unit_test(a_motion_decided_by_rounding_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
