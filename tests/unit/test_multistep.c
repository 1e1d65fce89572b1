/* test_multistep.c — engine/simulate/methods/multistep.c on equations that do not come from a mechanical system. */
#include "engine/simulate/methods/stepper.h"
#include "tests/unit/fixture.h"

#include <cvodes/cvodes_diag.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* y1' = −fast (y1 − cos t), y2' = −y2. The first equation is stiff. */
static int decay(void *user, double t, const double *y, double *dy) {
    dy[0] = -*(const double *)user * (y[0] - cos(t));
    dy[1] = -y[1];
    return 0;
}

static int tolerances(void *user, const double *y, double *weights) {
    (void)user, (void)y;
    weights[0] = weights[1] = 1e8;
    return 0;
}

/* The Jacobian is diagonal, so CVODE's diagonal solver is sufficient. */
static bool attach_diagonal(void *user, void *cvode, SUNContext context) {
    (void)user, (void)context;
    return CVDiag(cvode) == CV_SUCCESS;
}

static stepper_counts integrate(const stepper_kind *kind, double fast) {
    arena memory = {0};
    double t = 0, y[2] = {fast * fast / (fast * fast + 1), 1}, middle[2];
    stepper_problem p = {.length = 2,
                         .stop = 2,
                         .memory = &memory,
                         .user = &fast,
                         .rates = decay,
                         .weights = tolerances,
                         .attach_linear_solver = attach_diagonal};
    stepper *s = kind->open(kind, &p, t, y);
    assert_non_null(s);
    while (t < 2) {
        double before = t;
        assert_int_equal(kind->step(s, &t, y), STEP_TAKEN);
        assert_near("last step", s->last, t - before, 1e-12);
        assert_true(kind->interpolate(s, (before + t) / 2, middle));
        assert_near("dense output", middle[1], exp(-(before + t) / 2), 1e-5);
    }
    assert_true(t == 2);
    /* after the transient has decayed, y1 = (fast² cos t + fast sin t)/(fast² + 1) */
    assert_near("stiff component", y[0], (fast * fast * cos(2) + fast * sin(2)) / (fast * fast + 1), 1e-5);
    assert_near("slow component", y[1], exp(-2), 1e-5);
    stepper_counts counts = s->counts;
    stepper_close(s);
    arena_free(&memory);
    return counts;
}

static void steppers_integrate_any_equations(void **state) {
    (void)state;
    stepper_counts adams = integrate(&stepper_adams, 2), bdf = integrate(&stepper_bdf, 2);
    assert_true(adams.steps > 10 && adams.rhs >= adams.steps && adams.jacobians == 0);
    assert_true(bdf.steps > 10 && bdf.projections == 0);
}

static void stiffness_shows_in_the_counts_of_adams_only(void **state) {
    (void)state;
    stepper_counts adams = integrate(&stepper_adams, 1e4), bdf = integrate(&stepper_bdf, 1e4);
    assert_true(adams.stiff > 100 && bdf.stiff < 10);
    assert_true(bdf.steps < adams.steps / 4);
}

static void counts_continue_after_a_restart(void **state) {
    (void)state;
    arena memory = {0};
    double fast = 2, t = 0, y[2] = {0.8, 1};
    stepper_problem p = {
        .length = 2, .stop = 2, .memory = &memory, .user = &fast, .rates = decay, .weights = tolerances};
    stepper *s = stepper_adams.open(&stepper_adams, &p, t, y);
    for (int i = 0; i < 7; i++) assert_int_equal(stepper_adams.step(s, &t, y), STEP_TAKEN);
    assert_true(stepper_adams.restart(s, t, y, 0));
    assert_int_equal(s->counts.steps, 7);
    assert_int_equal(stepper_adams.step(s, &t, y), STEP_TAKEN);
    assert_int_equal(s->counts.steps, 8);
    stepper_close(s);
    arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steppers_integrate_any_equations),
        cmocka_unit_test(stiffness_shows_in_the_counts_of_adams_only),
        cmocka_unit_test(counts_continue_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
