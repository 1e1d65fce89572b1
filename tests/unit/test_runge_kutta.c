/* test_runge_kutta.c — engine/simulate/methods/dop853.h and runge_kutta.c: orders of accuracy, limits of the step
 * size, and failures of the right-hand side. */
#include "engine/simulate/methods/dop853.h"
#include "engine/simulate/methods/stepper.h"
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* --- coefficients ------------------------------------------------------------------------------------------------------ */

/* Σ a_ij = c_i for each stage i, and Σ a_ij c_j = c_i²/2 from the third stage on. The second equation is the first
 * simplifying assumption of the method (Hairer, Nørsett & Wanner, Solving ODEs I, II.5). */
static void rows_of_coefficients_sum_to_the_nodes(void **state) {
    (void)state;
    for (size_t i = 0; i < DOP853_ALL; i++) {
        double sum = 0, first = 0;
        for (size_t j = 0; j < i; j++) sum += dop853_a[i][j], first += dop853_a[i][j] * dop853_c[j];
        assert_near("row", sum, dop853_c[i], 2e-14);
        if (i >= 2) assert_near("first moment", first, dop853_c[i] * dop853_c[i] / 2, 2e-14);
        for (size_t j = i; j < DOP853_ALL; j++) assert_true(dop853_a[i][j] == 0);
    }
}

/* Σ b_i c_i^(k−1) = 1/k up to the order of the method: the order conditions of bushy trees (loc. cit., II.1). */
static double moment(const double *b, size_t count, int k) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += b[i] * pow(dop853_c[i], k - 1);
    return sum;
}

static void weights_integrate_polynomials_to_their_order(void **state) {
    (void)state;
    for (int k = 1; k <= 8; k++)
        assert_near("weights", moment(dop853_a[DOP853_STAGES], DOP853_STAGES, k), 1.0 / k, 1e-14);
    for (int k = 1; k <= 5; k++) assert_near("order 5", moment(dop853_error_5, DOP853_STAGES, k), 0, 1e-14);
    for (int k = 1; k <= 3; k++) assert_near("order 3", moment(dop853_error_3, DOP853_STAGES, k), 0, 1e-14);
    assert_true(fabs(moment(dop853_error_5, DOP853_STAGES, 6)) > 1e-5);
    assert_true(fabs(moment(dop853_error_3, DOP853_STAGES, 4)) > 1e-5);
}

/* --- steps ---------------------------------------------------------------------------------------------------------------- */

typedef struct world {
    double tolerance, wall, decay; /* for t > `wall`, evaluations fail; `decay`: rate constant of the stiff component */
    int calls;
    arena memory; /* memory of the stepper */
} world;

/* A pendulum equation with a force that depends on time. The equation is nonlinear, but its solution is y = sin t. */
static int bend(void *user, double t, const double *y, double *dy) {
    world *w = user;
    w->calls++;
    if (t > w->wall) return 1;
    dy[0] = y[1];
    dy[1] = -sin(y[0]) + sin(sin(t)) - sin(t);
    return 0;
}

static int turn(void *user, double t, const double *y, double *dy) {
    (void)user, (void)t;
    dy[0] = -y[1];
    dy[1] = y[0];
    return 0;
}

static int decay(void *user, double t, const double *y, double *dy) {
    const world *w = user;
    dy[0] = y[1];
    dy[1] = -w->decay * (y[1] - cos(t)) - sin(t);
    return 0;
}

static int even(void *user, const double *y, double *weights) {
    const world *w = user;
    (void)y;
    weights[0] = weights[1] = 1 / w->tolerance;
    return 0;
}

static int to_circle(void *user, double t, const double *y, double *correction, double *error) {
    double r = hypot(y[0], y[1]);
    (void)user, (void)t, (void)error;
    correction[0] = y[0] / r - y[0];
    correction[1] = y[1] / r - y[1];
    return 0;
}

static stepper_problem problem(world *w, double stop) {
    return (stepper_problem){
        .length = 2, .stop = stop, .user = w, .rates = bend, .weights = even, .memory = &w->memory};
}

/* Takes one step of length h from t = 0.3. Sets *end to the error at the end of the step, and *middle to the error
 * within the step. */
static void errors_of_a_step(double h, double *end, double *middle) {
    world w = {.tolerance = 1e30, .wall = INFINITY};
    double t = 0.3, y[2] = {sin(t), cos(t)};
    stepper_problem p = problem(&w, 10);
    stepper *s = stepper_erk.open(&stepper_erk, &p, t, y);
    assert_true(stepper_erk.restart(s, t, y, h));
    assert_int_equal(stepper_erk.step(s, &t, y), STEP_TAKEN);
    assert_near("end", t, 0.3 + h, 1e-15);
    *end = fabs(y[0] - sin(t)) + fabs(y[1] - cos(t));
    assert_true(stepper_erk.interpolate(s, 0.3 + 0.4 * h, y));
    *middle = fabs(y[0] - sin(0.3 + 0.4 * h)) + fabs(y[1] - cos(0.3 + 0.4 * h));
    arena_free(p.memory);
}

/* The method has order 8 and its dense output has order 7, so the local errors are O(h^9) and O(h^8). */
static void halved_steps_show_the_orders(void **state) {
    (void)state;
    double end[2], middle[2];
    errors_of_a_step(0.6, &end[0], &middle[0]);
    errors_of_a_step(0.3, &end[1], &middle[1]);
    assert_true(log2(end[0] / end[1]) > 8.5);
    assert_true(log2(middle[0] / middle[1]) > 7.5);
}

static void errors_follow_the_tolerance_and_the_stop_time_is_exact(void **state) {
    (void)state;
    for (double tolerance = 1e-4; tolerance > 1e-12; tolerance *= 0.1) {
        world w = {.tolerance = tolerance, .wall = INFINITY};
        double t = 0, y[2] = {0, 1}, before = 0;
        stepper_problem p = problem(&w, 20);
        stepper *s = stepper_erk.open(&stepper_erk, &p, t, y);
        while (t < 20) {
            assert_int_equal(stepper_erk.step(s, &t, y), STEP_TAKEN);
            assert_true(t > before);
            assert_near("last step", s->last, t - before, 1e-14);
            before = t;
        }
        assert_true(t == 20);
        assert_near("sin", y[0], sin(20), 20 * tolerance);
        stepper_counts c = s->counts;
        assert_true(c.steps > 0 && c.rhs == w.calls && c.rhs < 16 * c.steps + 20 && c.stiff == 0);
        arena_free(p.memory);
    }
}

static void steps_respect_their_maximum(void **state) {
    (void)state;
    world w = {.tolerance = 1e-3, .wall = INFINITY};
    double t = 0, y[2] = {0, 1};
    stepper_problem p = problem(&w, 3);
    stepper *s = stepper_erk.open(&stepper_erk, &p, t, y);
    s->most = 0.07;
    while (t < 3) {
        assert_int_equal(stepper_erk.step(s, &t, y), STEP_TAKEN);
        assert_true(s->last <= 0.07);
    }
    arena_free(p.memory);
}

static void each_step_ends_on_the_projection_and_is_continuous_there(void **state) {
    (void)state;
    world w = {.tolerance = 1e-5};
    double t = 0, y[2] = {1, 0}, seen[2];
    stepper_problem p = problem(&w, 30);
    p.rates = turn;
    p.project = to_circle;
    stepper *s = stepper_erk.open(&stepper_erk, &p, t, y);
    while (t < 30) {
        assert_int_equal(stepper_erk.step(s, &t, y), STEP_TAKEN);
        assert_near("radius", hypot(y[0], y[1]), 1, 2e-16);
        assert_true(stepper_erk.interpolate(s, t, seen));
        assert_near("continuous", hypot(seen[0] - y[0], seen[1] - y[1]), 0, 1e-13);
    }
    assert_near("angle", atan2(y[1], y[0]), atan2(sin(30), cos(30)), 1e-3);
    assert_true(s->counts.projections == s->counts.steps);
    arena_free(p.memory);
}

static void a_failure_of_the_right_hand_side_is_approached_and_reported(void **state) {
    (void)state;
    world w = {.tolerance = 1e-6, .wall = 1};
    double t = 0, y[2] = {0, 1};
    step_result result = STEP_TAKEN;
    stepper_problem p = problem(&w, 3);
    stepper *s = stepper_erk.open(&stepper_erk, &p, t, y);
    while (result == STEP_TAKEN) result = stepper_erk.step(s, &t, y);
    assert_int_equal(result, STEP_NOT_EVALUATED);
    assert_near("wall", t, 1, 1e-12);
    assert_near("state at the wall", y[0], sin(1), 1e-5);
    arena_free(p.memory);
}

/* Returns the number of steps, out of a hundred, in which stiffness is detected. */
static long signs(int (*rates)(void *, double, const double *, double *), double fast, double tolerance, double *y) {
    world w = {.tolerance = tolerance, .decay = fast, .wall = INFINITY};
    double t = 0;
    stepper_problem p = problem(&w, 1e6);
    p.rates = rates;
    stepper *s = stepper_erk.open(&stepper_erk, &p, t, y);
    for (int i = 0; i < 100; i++) assert_int_equal(stepper_erk.step(s, &t, y), STEP_TAKEN);
    long found = s->counts.stiff;
    arena_free(p.memory);
    return found;
}

/* A component with the rate constant 1e4 is added to the motion. Stability limits the steps, but at tight tolerances
 * the error of the decaying component limits them first. */
static void stiffness_is_detected(void **state) {
    (void)state;
    for (double tolerance = 1e-4; tolerance > 1e-11; tolerance *= 1e-2) {
        double y[] = {0, 1};
        if (signs(decay, 1e4, tolerance, y) < 2 * stepper_erk.stiff_of_many)
            fail_msg("no stiffness is detected at %g", tolerance);
    }
}

static void oscillations_are_not_detected_as_stiffness(void **state) {
    (void)state;
    for (double tolerance = 1e-4; tolerance > 1e-13; tolerance *= 1e-4) {
        double on_circle[] = {1, 0}, on_sine[] = {0, 1};
        assert_true(signs(turn, 0, tolerance, on_circle) == 0);
        assert_true(signs(bend, 0, tolerance, on_sine) < 5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_coefficients_sum_to_the_nodes),
        cmocka_unit_test(weights_integrate_polynomials_to_their_order),
        cmocka_unit_test(halved_steps_show_the_orders),
        cmocka_unit_test(errors_follow_the_tolerance_and_the_stop_time_is_exact),
        cmocka_unit_test(steps_respect_their_maximum),
        cmocka_unit_test(each_step_ends_on_the_projection_and_is_continuous_there),
        cmocka_unit_test(a_failure_of_the_right_hand_side_is_approached_and_reported),
        cmocka_unit_test(stiffness_is_detected),
        cmocka_unit_test(oscillations_are_not_detected_as_stiffness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
