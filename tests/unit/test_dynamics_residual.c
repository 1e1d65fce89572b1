/* test_dynamics_residual.c — engine/dynamics/dynamics_residual.c and dynamics_verified.c: the residual of a solution
 * in the equations of motion, for every formulation. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"
#include "tests/unit/polls.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A pendulum of mass m and length l at rest at an angle whose sine is 0.6, and a particle without forces. */
static hamel_model *pendulum(double m, double l, const char *more) {
    char text[1200];
    snprintf(text, sizeof text,
             "`coordinates`: [{`name`: `x`, `initial`: %.17g}, {`name`: `y`, `initial`: %.17g}, `z`],"
             "`kinetic_energy`: `%.17g*(x'^2 + y'^2)/2 + z'^2`, `potential_energy`: `9.81*%.17g*y`,"
             "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = %.17g`}]",
             0.6 * l, -0.8 * l, m, m, l * l);
    return fixture_model(text, more);
}

/* The acceleration along the circle is −g sin θ. The component of the weight along the rod is 2λ l. */
static void solution(double m, double l, double *a, double *lambda) {
    a[0] = -9.81 * 0.6 * 0.8;
    a[1] = -9.81 * 0.6 * 0.6;
    a[2] = 0;
    lambda[0] = -m * 9.81 * 0.8 / (2 * l);
}

static void the_residual_of_a_pendulum_is_zero_in_any_units(void **state) {
    static const double sizes[][2] = {{1, 1}, {1e-9, 1e6}, {1e7, 1e-4}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double m = sizes[i][0], l = sizes[i][1], a[3], lambda[1];
        hamel_model *model = pendulum(m, l, "`stop`: 1");
        dynamics *k = dynamics_create(model);
        assert_non_null(k);
        assert_int_equal(dynamics_evaluate(k, 0, model->q0, model->v0, NULL), HAMEL_OK);
        solution(m, l, a, lambda);
        equation_residual missed = dynamics_missed(k, a, lambda);
        assert_true(missed.motion < 1e-15 && missed.constraints < 1e-15);
        a[0] *= 1 + 1e-6; /* violates the equation of motion and is not tangent to the circle */
        missed = dynamics_missed(k, a, lambda);
        assert_true(missed.motion > 1e-8 && missed.motion < 1e-6);
        assert_true(missed.constraints > 1e-8 && missed.constraints < 1e-6);
        solution(m, l, a, lambda);
        lambda[0] *= 1 - 1e-6;
        missed = dynamics_missed(k, a, lambda);
        assert_true(missed.motion > 1e-8 && missed.motion < 1e-6);
        assert_true(missed.constraints < 1e-15);
        solution(m, l, a, lambda);
        a[2] = NAN;
        assert_true(isinf(dynamics_missed(k, a, lambda).motion));
        dynamics_free(k);
        hamel_model_free(model);
    }
}

/* The free particle is an uncoupled part. Its residual must not be hidden by the forces on the pendulum. */
static void uncoupled_parts_are_checked_separately(void **state) {
    (void)state;
    double a[3], lambda[1], v[] = {0, 0, 2};
    hamel_model *model = pendulum(1e6, 1, "`stop`: 1");
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    assert_int_equal(dynamics_evaluate(k, 0, model->q0, v, NULL), HAMEL_OK);
    solution(1e6, 1, a, lambda);
    a[2] = 1e-17; /* negligible relative to the velocity divided by the duration of the run */
    assert_true(dynamics_missed(k, a, lambda).motion < 1e-15);
    a[2] = 1e-6;
    assert_true(dynamics_missed(k, a, lambda).motion > 1e-7);
    dynamics_free(k);
    hamel_model_free(model);
}

/* The output must be the correct solution although the input is wrong. */
static void a_solution_with_a_residual_is_replaced(void **state) {
    static const char *const names[] = {"lagrange", "udwadia-kalaba",  "gauss",    "maggi",
                                        "kane",     "boltzmann-hamel", "hadamard", "voronets"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char simulation[100];
        double a[3] = {0, 1, 0}, lambda[1] = {3}, right[3], right_lambda[1];
        equation_residual missed;
        hamel_error error = {0};
        snprintf(simulation, sizeof simulation, "`stop`: 1, `formulation`: `%s`", names[i]);
        hamel_model *model = pendulum(2, 1, simulation);
        dynamics *k = dynamics_create(model);
        assert_non_null(k);
        assert_int_equal(dynamics_evaluate(k, 0, model->q0, model->v0, NULL), HAMEL_OK);
        assert_int_equal(dynamics_accelerations(k, 0, 0, right, right_lambda, NULL), HAMEL_OK);
        assert_int_equal(dynamics_verify(k, a, lambda, &missed, &error), HAMEL_OK);
        assert_true(fmax(missed.motion, missed.constraints) < 1e-15);
        solution(2, 1, right, right_lambda);
        for (size_t j = 0; j < 3; j++) assert_near("a", a[j], right[j], 1e-14);
        assert_near("lambda", lambda[0], right_lambda[0], 1e-14);
        dynamics_free(k);
        hamel_model_free(model);
    }
}

/* If the check is canceled, the status is HAMEL_CANCELED. No error is added, because the residual is unknown. */
static void a_check_that_is_canceled_reports_so(void **state) {
    (void)state;
    double a[3] = {0, 1, 0}, lambda[1] = {3};
    equation_residual missed;
    hamel_error error = {0};
    hamel_model *model = pendulum(2, 1, "`stop`: 1");
    dynamics *k = dynamics_create(model);
    flag_poll canceled = flag_poll_of(true);
    assert_non_null(k);
    assert_int_equal(dynamics_evaluate(k, 0, model->q0, model->v0, NULL), HAMEL_OK);
    dynamics_limit(k, &canceled.poll, 0);
    assert_int_equal(dynamics_verify(k, a, lambda, &missed, &error), HAMEL_CANCELED);
    assert_int_equal(error.count, 0);
    dynamics_free(k);
    hamel_model_free(model);
}

#define PINNED_BODY                                                                                            \
    "`gravity`: [0, 0, -9.81], `coordinates`: [`x`, `y`, `z`, {`name`: `a`, `initial`: 0.8, `velocity`: 0.3}," \
    "{`name`: `b`, `initial`: 0.6, `velocity`: -0.4}, {`name`: `c`, `velocity`: 1}, `d`],"                     \
    "`bodies`: [{`name`: `B`, `mass`: 1, `inertia`: [1, 2, 2.5], `position`: [`x`, `y`, `z`],"                 \
    "`orientation`: {`quaternion`: [`a`, `b`, `c`, `d`]}}],"                                                   \
    "`points`: [{`name`: `Q`, `body`: `B`, `at`: [0.2, 0.1, 0.3]}],"                                           \
    "`joints`: [{`name`: `pin`, `type`: `coincident`, `between`: [[0, 0, 0], `Q`]}]"

/* If the orientation is a quaternion, Kane's generalized forces differ from the forces in the equations with
 * multipliers. Therefore no other solver can replace the result. */
static void a_solution_with_a_residual_and_no_replacement_is_rejected(void **state) {
    (void)state;
    double a[7] = {1}, lambda[4] = {0};
    equation_residual missed;
    hamel_error error = {0};
    hamel_model *model = fixture_model(PINNED_BODY, "`stop`: 1, `formulation`: `kane`, `initialization`: `project`");
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    assert_non_null(model->dynamics.reaction_shift);
    assert_int_equal(dynamics_evaluate(k, 0, model->q0, model->v0, NULL), HAMEL_OK);
    assert_int_equal(dynamics_accelerations(k, 0, 0, a, lambda, NULL), HAMEL_OK);
    assert_int_equal(dynamics_verify(k, a, lambda, &missed, &error), HAMEL_OK);
    a[3] += 1;
    assert_int_equal(dynamics_verify(k, a, lambda, &missed, &error), HAMEL_INTEGRATION);
    assert_non_null(strstr(error.faults[0].message,
                           "the computed accelerations violate the equations of motion: relative residual "));
    hamel_error_clear(&error);
    dynamics_free(k);
    hamel_model_free(model);
}

/* The systems contain friction, a force with a multiplier, and a quaternion. In these cases, some formulations derive
 * other terms than Lagrange's equations. */
static void all_forces_are_in_the_checked_equations(void **state) {
    static const char *const names[] = {"lagrange",     "udwadia-kalaba",  "gauss",    "maggi",   "kane",
                                        "gibbs-appell", "boltzmann-hamel", "hadamard", "voronets"};
    static const char *const systems[] = {
        "`gravity`: [0, -9.81], `coordinates`: [{`name`: `x`, `velocity`: 1}, `y`],"
        "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}],"
        "`constraints`: [{`name`: `floor`, `equation`: `y = 0.1*x`, `friction`: {`coefficient`: 0.3}}]",
        "`gravity`: [0, -9.81], `coordinates`: [{`name`: `x`, `velocity`: 1}, `y`],"
        "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}],"
        "`generalized_forces`: {`x`: `-0.2*lambda(floor)`},"
        "`constraints`: [{`name`: `floor`, `equation`: `y = 0.1*x^2`}]",
        PINNED_BODY,
    };
    (void)state;
    for (size_t s = 0; s < sizeof systems / sizeof *systems; s++) {
        double largest = 0; /* a residual of one formulation may be exactly 0 at all steps */
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            char simulation[120];
            hamel_summary summary;
            hamel_error error = {0};
            snprintf(simulation, sizeof simulation, "`stop`: 0.2, `initialization`: `project`, `formulation`: `%s`",
                     names[i]);
            hamel_model *model = fixture_model(systems[s], simulation);
            hamel_status status = hamel_run(model, NULL, NULL, &summary, &error);
            if (status != HAMEL_OK) fail_msg("%zu, %s: %s", s, names[i], error.faults[0].message);
            if (!(summary.max_dynamics_residual < 1e-14))
                fail_msg("%zu, %s: %g", s, names[i], summary.max_dynamics_residual);
            largest = fmax(largest, summary.max_dynamics_residual);
            hamel_summary_free(&summary);
            hamel_model_free(model);
        }
        assert_true(largest > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_residual_of_a_pendulum_is_zero_in_any_units),
        cmocka_unit_test(uncoupled_parts_are_checked_separately),
        cmocka_unit_test(a_solution_with_a_residual_is_replaced),
        cmocka_unit_test(a_check_that_is_canceled_reports_so),
        cmocka_unit_test(a_solution_with_a_residual_and_no_replacement_is_rejected),
        cmocka_unit_test(all_forces_are_in_the_checked_equations),
    };
    return cmocka_run_group_tests_name("dynamics_residual", tests, NULL, NULL);
}
