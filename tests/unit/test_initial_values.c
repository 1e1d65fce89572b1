/* test_initial_values.c — engine/dynamics/initial_values.c: the nearest consistent state, and the messages of strict
 * mode. */
#include "tests/unit/fixture.h"

#include "engine/dynamics/initial_values.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct start {
    hamel_model *model;
    double q[4], v[4], residual;
    hamel_error error;
} start;

static hamel_status make_consistent(start *s, const char *members, hamel_initialization mode) {
    *s = (start){.model = fixture_model(members, "`stop`: 1")};
    dynamics *k = dynamics_create(s->model);
    assert_non_null(k);
    memcpy(s->q, s->model->q0, s->model->n * sizeof *s->q);
    memcpy(s->v, s->model->v0, s->model->n * sizeof *s->v);
    hamel_status status = initial_values_make_consistent(k, 0, s->q, s->v, mode, &s->residual, &s->error);
    dynamics_free(k);
    return status;
}

static void close_start(start *s) {
    hamel_error_clear(&s->error);
    hamel_model_free(s->model);
}

/* The minimum of m₁(x − x₀)² + m₂(y − y₀)² with x + y = 1: x = x₀ + μ/m₁, y = y₀ + μ/m₂, μ = (1 − x₀ − y₀)/(1/m₁ +
 * 1/m₂). */
static void the_distance_to_the_nearest_point_is_weighted_by_the_masses(void **state) {
    (void)state;
    start s;
    assert_int_equal(
        make_consistent(&s,
                        "`coordinates`: [{`name`: `x`, `initial`: 2, `velocity`: 1}, {`name`: `y`, `initial`: 3}],"
                        "`kinetic_energy`: `x'^2 + 3*y'^2`, `constraints`: [{`name`: `c`, `equation`: `x + y = 1`}]",
                        HAMEL_INITIALIZATION_PROJECT),
        HAMEL_OK);
    double mu = (1 - 5) / (1.0 / 2 + 1.0 / 6), nu = -1 / (1.0 / 2 + 1.0 / 6);
    assert_near("x", s.q[0], 2 + mu / 2, 1e-14);
    assert_near("y", s.q[1], 3 + mu / 6, 1e-14);
    assert_near("x'", s.v[0], 1 + nu / 2, 1e-14);
    assert_near("y'", s.v[1], nu / 6, 1e-14);
    assert_near("residual", s.residual, 4.0 / 5, 1e-14); /* relative to |A| max(1, |q|) = 2 + 3 */
    close_start(&s);
}

/* From a distant start, the result must be the nearest point of the circle, not another of its points. */
static void the_nearest_point_of_a_curve_is_the_foot_of_the_perpendicular(void **state) {
    (void)state;
    start s;
    assert_int_equal(make_consistent(&s,
                                     "`coordinates`: [{`name`: `x`, `initial`: 3}, {`name`: `y`, `initial`: -4}], "
                                     "`kinetic_energy`: `x'^2 + y'^2`,"
                                     "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = 4`}]",
                                     HAMEL_INITIALIZATION_PROJECT),
                     HAMEL_OK);
    assert_near("x", s.q[0], 1.2, 1e-9);
    assert_near("y", s.q[1], -1.6, 1e-9);
    close_start(&s);
}

/* The constraint and the sphere about the specified point have nearly equal curvatures, so the iteration converges
 * slowly. The constraint is satisfied. After sixty steps, the displacement from the specified point is parallel to the
 * gradient to 1e-4 (measured). */
static void a_nearest_point_that_is_approached_slowly_is_accepted(void **state) {
    (void)state;
    start s;
    const double x0 = 0.017, y0 = -0.47, z0 = 0.513;
    assert_int_equal(make_consistent(&s,
                                     "`coordinates`: [{`name`: `x`, `initial`: 0.017}, {`name`: `y`, `initial`: -0.47},"
                                     "{`name`: `z`, `initial`: 0.513}],"
                                     "`kinetic_energy`: `1.641*x'^2/2 + 1.024*y'^2/2 + 0.75*z'^2/2`,"
                                     "`constraints`: [{`name`: `c`, `equation`: `sin(x)*y + z^2/2 = -0.19`}]",
                                     HAMEL_INITIALIZATION_PROJECT),
                     HAMEL_OK);
    double x = s.q[0], y = s.q[1], z = s.q[2];
    assert_near("c", sin(x) * y + z * z / 2, -0.19, 1e-12);
    double along_x = 1.641 * (x - x0) / (cos(x) * y), along_y = 1.024 * (y - y0) / sin(x),
           along_z = 0.75 * (z - z0) / z;
    assert_near("parallel to the gradient, y", along_y, along_x, 1e-4);
    assert_near("parallel to the gradient, z", along_z, along_x, 1e-4);
    close_start(&s);
}

/* tanh is flat far from 0, and Newton's steps leave the domain of the logarithm. The message must contain the initial
 * values as the user specified them. */
static void a_start_from_which_the_search_diverges_is_reported_as_given(void **state) {
    (void)state;
    start s;
    assert_int_equal(make_consistent(&s,
                                     "`coordinates`: [{`name`: `x`, `initial`: 3}, {`name`: `y`, `initial`: 1}],"
                                     "`kinetic_energy`: `x'^2 + y'^2 + log(20 - x)^2*x'^2`,"
                                     "`constraints`: [{`name`: `c`, `equation`: `tanh(x) = 0.5`}]",
                                     HAMEL_INITIALIZATION_STRICT),
                     HAMEL_INCOMPATIBLE);
    assert_int_equal(s.error.count, 1);
    assert_non_null(strstr(s.error.faults[0].message, "`c` is off by 0.495")); /* tanh(3) − 0.5 */
    close_start(&s);
}

static void velocities_satisfy_nonlinear_and_moving_constraints(void **state) {
    (void)state;
    start s;
    assert_int_equal(
        make_consistent(
            &s,
            "`coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: 2}, {`name`: `y`, `velocity`: 2}, {`name`: `z`, "
            "`velocity`: 5}],"
            "`kinetic_energy`: `x'^2 + y'^2 + z'^2`, `constraints`: [{`name`: `c`, `equation`: `z'^2 = x'^2 + y'^2`},"
            "{`name`: `d`, `equation`: `x = cosh(t) + t`}]",
            HAMEL_INITIALIZATION_PROJECT),
        HAMEL_OK);
    assert_near("x'", s.v[0], 1, 1e-12);
    assert_near("cone", s.v[2] * s.v[2], 1 + s.v[1] * s.v[1], 1e-11);
    /* the stationary point in y', z' on the cone: (y' − 2)/(−y') = (z' − 5)/z' */
    assert_near("nearest", (s.v[1] - 2) * s.v[2], -(s.v[2] - 5) * s.v[1], 1e-5);
    close_start(&s);
}

static void consistent_values_are_not_changed(void **state) {
    (void)state;
    start s;
    assert_int_equal(make_consistent(&s,
                                     "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: 0.8}], "
                                     "`kinetic_energy`: `x'^2 + y'^2`,"
                                     "`constraints`: [{`name`: `c`, `equation`: `x + y = 1.4`}]",
                                     HAMEL_INITIALIZATION_STRICT),
                     HAMEL_OK);
    assert_true(s.residual < 1e-15);
    assert_near("x", s.q[0], 0.6, 1e-15);
    close_start(&s);
}

static void strict_mode_names_each_constraint_and_the_nearest_values(void **state) {
    (void)state;
    start s;
    assert_int_equal(
        make_consistent(&s,
                        "`coordinates`: [{`name`: `x`, `initial`: 2}, {`name`: `y`, `initial`: 1, `velocity`: 0.5}],"
                        "`kinetic_energy`: `x'^2 + y'^2`, `constraints`: [{`name`: `slope`, `equation`: `x = y`}, "
                        "{`name`: `other`, `equation`: `2*x = 2*y`}]",
                        HAMEL_INITIALIZATION_STRICT),
        HAMEL_INCONSISTENT);
    assert_int_equal(s.error.count, 4);
    assert_string_equal(s.error.faults[0].message, "the initial coordinates miss the constraint `slope` by 1");
    assert_non_null(strstr(s.error.faults[0].suggestion, "x = 1.5, y = 1.5, x' = 0.25, y' = 0.25"));
    assert_string_equal(s.error.faults[1].message, "the initial velocities miss the constraint `slope` by -0.5");
    close_start(&s);
}

static void strict_mode_projects_small_residuals_away(void **state) {
    (void)state;
    start s;
    assert_int_equal(
        make_consistent(&s,
                        "`coordinates`: [{`name`: `x`, `initial`: 1.0000001}, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                        "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = 1`}]",
                        HAMEL_INITIALIZATION_STRICT),
        HAMEL_OK);
    assert_near("x", s.q[0], 1, 1e-15);
    assert_true(s.residual > 1e-8 && s.residual < 1e-6);
    close_start(&s);
}

static void constraints_without_a_common_point_are_incompatible(void **state) {
    (void)state;
    start s;
    assert_int_equal(
        make_consistent(&s,
                        "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                        "`constraints`: [{`name`: `c`, `equation`: `x = 0`}, {`name`: `d`, `equation`: `x = 1`}]",
                        HAMEL_INITIALIZATION_PROJECT),
        HAMEL_INCOMPATIBLE);
    assert_true(s.error.count >= 1);
    close_start(&s);
}

static void a_constraint_that_is_not_finite_is_reported_with_its_expression(void **state) {
    (void)state;
    start s;
    assert_int_equal(make_consistent(&s,
                                     "`coordinates`: [{`name`: `x`, `initial`: -1}], `kinetic_energy`: `x'^2`,"
                                     "`constraints`: [{`name`: `c`, `equation`: `sqrt(x) = 1`}]",
                                     HAMEL_INITIALIZATION_PROJECT),
                     HAMEL_NOT_FINITE);
    assert_non_null(strstr(s.error.faults[0].message, "sqrt(x)"));
    close_start(&s);
}

/* Computes consistent initial values of a body that slides by s on another body A, in millimetres. All axes are
 * parallel to the axes of A. P and Q are points of the slider, and O is a point of A. Then (Q − P)·(P − O) = 0 depends
 * on s alone. But its terms contain differences of positions of a few hundred mm, and velocities of several thousand
 * mm/s. `more` is a further constraint. */
static hamel_status start_in_millimetres(start *s, uint64_t *seed, const char *more) {
    char text[2000];
    double x = random_between(seed, -1000, 1000), y = random_between(seed, -1000, 1000),
           angle = random_between(seed, -3, 3), spin = random_between(seed, -3, 3), u = random_between(seed, -700, 700),
           v = random_between(seed, -700, 700), P[2] = {random_between(seed, 200, 300), random_between(seed, -50, 50)},
           apart[2] = {random_between(seed, 0.3, 1), random_between(seed, 0.3, 1)}, O[2] = {617, 41},
           slider[2] = {-428, -461};
    double slid = O[0] - slider[0] - P[0] - apart[1] / apart[0] * (slider[1] + P[1] - O[1]);
    snprintf(text, sizeof text,
             "`coordinates`: [{`name`: `x`, `initial`: %.17g, `velocity`: %.17g}, {`name`: `y`, `initial`: %.17g, "
             "`velocity`: %.17g}, {`name`: `a`, `initial`: %.17g, `velocity`: %.17g}, {`name`: `s`, `initial`: %.17g}],"
             "`bodies`: [{`name`: `A`, `mass`: 2681, `position`: [`x`, `y`], `orientation`: {`angle`: `a`}, `inertia`: "
             "1.3e8}, {`name`: `B`, `mass`: 1947, `inertia`: 1.2e8, `in`: `F`, `position`: [%.17g, %.17g]}],"
             "`frames`: [{`name`: `F`, `in`: `A`, `origin`: [`s`, 0]}], `points`: ["
             "{`name`: `P`, `body`: `B`, `at`: [%.17g, %.17g]}, {`name`: `Q`, `body`: `B`, `at`: [%.17g, %.17g]},"
             "{`name`: `O`, `body`: `A`, `at`: [%.17g, %.17g]}],"
             "`constraints`: [{`name`: `c`, `equation`: "
             "`(position(Q, 1) - position(P, 1))*(position(P, 1) - position(O, 1)) + "
             "(position(Q, 2) - position(P, 2))*(position(P, 2) - position(O, 2)) = 0`}%s]",
             x, u, y, v, angle, spin, slid, slider[0], slider[1], P[0], P[1], P[0] + apart[0], P[1] + apart[1], O[0],
             O[1], more);
    return make_consistent(s, text, HAMEL_INITIALIZATION_STRICT);
}

static void rounding_of_large_terms_is_not_a_contradiction(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 200; i++) {
        start s;
        if (start_in_millimetres(&s, &seed, "") != HAMEL_OK) fail_msg("start %d: %s", i, s.error.faults[0].message);
        assert_true(s.residual < 1e-6);
        close_start(&s);
    }
}

/* The second constraint, s' = 1e-6, contradicts the first. The contradiction is 1e-9 times the other velocities. */
static void a_contradiction_larger_than_rounding_is_reported(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 20; i++) {
        start s;
        assert_int_equal(start_in_millimetres(&s, &seed, ", {`name`: `d`, `equation`: `s' = 1e-6`}"),
                         HAMEL_INCOMPATIBLE);
        close_start(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_of_large_terms_is_not_a_contradiction),
        cmocka_unit_test(a_contradiction_larger_than_rounding_is_reported),
        cmocka_unit_test(the_distance_to_the_nearest_point_is_weighted_by_the_masses),
        cmocka_unit_test(the_nearest_point_of_a_curve_is_the_foot_of_the_perpendicular),
        cmocka_unit_test(a_nearest_point_that_is_approached_slowly_is_accepted),
        cmocka_unit_test(a_start_from_which_the_search_diverges_is_reported_as_given),
        cmocka_unit_test(velocities_satisfy_nonlinear_and_moving_constraints),
        cmocka_unit_test(consistent_values_are_not_changed),
        cmocka_unit_test(strict_mode_names_each_constraint_and_the_nearest_values),
        cmocka_unit_test(strict_mode_projects_small_residuals_away),
        cmocka_unit_test(constraints_without_a_common_point_are_incompatible),
        cmocka_unit_test(a_constraint_that_is_not_finite_is_reported_with_its_expression),
    };
    return cmocka_run_group_tests_name("initial_values", tests, NULL, NULL);
}
