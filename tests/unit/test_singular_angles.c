/* test_singular_angles.c — engine/dynamics/dynamics_explain.c: the message names singular angles and does not mention a
 * missing inertia. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Computes the accelerations with the second angle `second` and returns the status. If the computation fails, writes
 * the pointer, message and suggestion of the error to `message`. */
static hamel_status start_at(const char *sequence, double second, const char *wanted, char *message, size_t size) {
    char text[600], simulation[100];
    double a[3], lambda[1];
    hamel_error error = {0};
    snprintf(text, sizeof text,
             "`coordinates`: [{`name`: `a`, `velocity`: 1}, {`name`: `b`, `initial`: %.17g, `velocity`: 0.5}, `c`],"
             "`bodies`: [{`name`: `Top`, `mass`: 1, `inertia`: [1, 2, 2.5], `position`: [0, 0, 0], `orientation`: "
             "{`euler`: {`sequence`: `%s`, `angles`: [`a`, `b`, `c`]}}}]",
             second, sequence);
    snprintf(simulation, sizeof simulation, "`stop`: 1, `formulation`: `%s`", wanted);
    hamel_model *model = fixture_model(text, simulation);
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    hamel_status status = dynamics_evaluate(k, 0, model->q0, model->v0, &error);
    if (status == HAMEL_OK) status = dynamics_accelerations(k, 0, 0, a, lambda, &error);
    message[0] = 0;
    if (status != HAMEL_OK)
        snprintf(message, size, "%s: %s; %s", error.faults[0].pointer, error.faults[0].message,
                 error.faults[0].suggestion);
    hamel_error_clear(&error);
    dynamics_free(k);
    hamel_model_free(model);
    return status;
}

static void the_singular_angles_of_every_sequence_are_named(void **state) {
    static const char *const sequences[] = {"ZXZ", "ZYZ", "XYX", "XZX", "YXY", "YZY", "ZYX", "ZXY",
                                            "XYZ", "XZY", "YXZ", "YZX", "zxz", "zyx", "xyz"};
    static const char *const names[] = {"lagrange", "gauss", "kane"};
    (void)state;
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
        for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
            char message[600];
            bool same = sequences[i][0] == sequences[i][2];
            double at = same ? (i % 2 ? acos(-1) : 0) : (i % 2 ? -1 : 1) * acos(0);
            assert_int_equal(start_at(sequences[i], at, names[f], message, sizeof message), HAMEL_SINGULAR);
            if (!strstr(message, "/bodies/0/orientation: at t = 0 the angles of `Top` are singular") ||
                !strstr(message, "quaternion") || strstr(message, "inertia"))
                fail_msg("%s: %s", sequences[i], message);
            assert_int_equal(start_at(sequences[i], at + 0.1, names[f], message, sizeof message), HAMEL_OK);
        }
}

/* A spherical pendulum is at rest at its lowest point, which is a pole of its user-defined angles. */
static void singular_user_defined_angles_are_named(void **state) {
    (void)state;
    double a[2];
    hamel_error error = {0};
    hamel_model *model = fixture_model("`coordinates`: [`theta`, {`name`: `phi`, `velocity`: 1}],"
                                       "`kinetic_energy`: `(theta'^2 + sin(theta)^2*phi'^2)/2`",
                                       "`stop`: 1");
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    assert_int_equal(dynamics_evaluate(k, 0, model->q0, model->v0, &error), HAMEL_OK);
    assert_int_equal(dynamics_accelerations(k, 0, 0, a, NULL, &error), HAMEL_SINGULAR);
    assert_non_null(strstr(error.faults[0].suggestion, "(`phi`) are singular here"));
    hamel_error_clear(&error);
    dynamics_free(k);
    hamel_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_singular_angles_of_every_sequence_are_named),
        cmocka_unit_test(singular_user_defined_angles_are_named),
    };
    return cmocka_run_group_tests_name("singular_angles", tests, NULL, NULL);
}
