/* test_inertia.c — engine/analyze/inertia.c: principal moments and axes of inertia, and the transfer of inertia
 * tensors to another point. */
#include "engine/analyze/inertia.h"
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static hamel_inertia *inertia_of(const char *members, const char *about) {
    fixture f;
    hamel_inertia *found = NULL;
    fixture_read(&f, members, "`stop`: 1");
    hamel_status status = hamel_find_inertia(&found, &f.description, (hamel_argument){about, ""}, NULL, NULL, &f.error);
    if (status != HAMEL_OK) fail_msg("inertia: %s", f.error.count ? f.error.faults[0].message : "no fault");
    fixture_close(&f);
    return found;
}

static void assert_numbers(const char *what, const double *found, const double *expected, size_t count) {
    for (size_t i = 0; i < count; i++) assert_near(what, found[i], expected[i], 1e-14);
}

/* A cube of mass m = 3 and side a = 2 has the central moment m a²/6 = 2. About a corner, the diagonal elements are 2
 * m a²/3 = 8 and the others are −m a²/4 = −3 (parallel axes, Papastavridis 1.15). The tensor is in body axes, so the
 * orientation of the cube does not change it. */
static void the_inertia_tensor_of_a_cube_is_transferred_to_a_corner(void **state) {
    (void)state;
    static const double corner[] = {8, -3, -3, -3, 8, -3, -3, -3, 8};
    hamel_inertia *i = inertia_of("`coordinates`: [{`name`: `x`, `initial`: 4}, {`name`: `p`, `initial`: 0.7}],"
                                  "`bodies`: [{`name`: `C`, `mass`: 3, `inertia`: [2, 2, 2], `position`: [`x`, 1, 2],"
                                  "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`p`, 0.5, -0.2]}}}],"
                                  "`points`: [{`name`: `K`, `body`: `C`, `at`: [1, 1, 1]}]",
                                  "K");
    assert_string_equal(i->about, "K");
    assert_int_equal(i->count, 1);
    assert_numbers("corner", i->bodies[0].about, corner, 9);
    assert_numbers("centre", i->bodies[0].center, (double[]){4, 1, 2}, 3);
    assert_numbers("principal", i->bodies[0].principal, (double[]){2, 2, 2}, 3);
    hamel_inertia_free(i);
}

/* The tensor is I = Qᵀ diag(1, 2.5, 3) Q with a rotation matrix Q. The principal axes must be the rows of Q, except
 * for their signs, and must form a right-handed system. */
static void principal_axes_are_right_handed_eigenvectors_of_the_tensor(void **state) {
    (void)state;
    static const double J[3] = {1, 2.5, 3}, n[9] = {0.6, 0.64, 0.48, -0.8, 0.48, 0.36, 0, -0.6, 0.8};
    double I[9] = {0};
    char text[1000];
    for (size_t k = 0; k < 3; k++)
        for (size_t e = 0; e < 9; e++) I[e] += J[k] * n[3 * k + e / 3] * n[3 * k + e % 3];
    snprintf(text, sizeof text,
             "`coordinates`: [`x`], `bodies`: [{`name`: `B`, `mass`: 1, `position`: [`x`, 0, 0], `orientation`:"
             "{`euler`: {`sequence`: `ZXZ`, `angles`: [`x`, 0, 0]}}, `inertia`:"
             "[[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]]}]",
             I[0], I[1], I[2], I[3], I[4], I[5], I[6], I[7], I[8]);
    hamel_inertia *i = inertia_of(text, NULL);
    const double *axes = i->bodies[0].axes;
    assert_numbers("moments", i->bodies[0].principal, J, 3);
    for (size_t k = 0; k < 3; k++) {
        double dot = axes[3 * k] * n[3 * k] + axes[3 * k + 1] * n[3 * k + 1] + axes[3 * k + 2] * n[3 * k + 2];
        assert_near("axis", fabs(dot), 1, 1e-14);
    }
    double hand = axes[0] * (axes[4] * axes[8] - axes[5] * axes[7]) +
                  axes[1] * (axes[5] * axes[6] - axes[3] * axes[8]) + axes[2] * (axes[3] * axes[7] - axes[4] * axes[6]);
    assert_near("right-handed", hand, 1, 1e-14);
    hamel_inertia_free(i);
}

/* The masses 1 and 3 have the distance vector (3, 0, 4) of length 5. About their centre of mass, the moment is m1
 * m2/(m1 + m2)·25 = 18.75 about any axis perpendicular to this vector, and 0 about the vector. */
static void two_particles_have_the_moment_of_inertia_of_their_reduced_mass(void **state) {
    (void)state;
    hamel_inertia *i =
        inertia_of("`coordinates`: [`x`], `particles`: [{`name`: `A`, `mass`: 1, `position`: [`x`, 0, 0]},"
                   "{`name`: `B`, `mass`: 3, `position`: [3, 0, 4]}]",
                   NULL);
    assert_int_equal(i->count, 0);
    assert_near("mass", i->system.mass, 4, 0);
    assert_numbers("centre", i->system.center, (double[]){2.25, 0, 3}, 3);
    assert_numbers("principal", i->system.principal, (double[]){0, 18.75, 18.75}, 3);
    assert_numbers("axis", i->system.axes, (double[]){0.6, 0, 0.8}, 3);
    assert_numbers("origin", i->system.about, (double[]){48, 0, -36, 0, 75, 0, -36, 0, 27}, 9);
    hamel_inertia_free(i);
}

/* The moment of inertia of a rod of mass 3 and length 2 is 1 about its centre, and 1 + 3·1² = 4 about its end at the
 * origin. */
static void a_planar_body_has_one_moment_of_inertia(void **state) {
    (void)state;
    hamel_inertia *i = inertia_of("`coordinates`: [{`name`: `p`, `initial`: 2}], `bodies`: [{`name`: `R`, `mass`: 3,"
                                  "`inertia`: 1, `position`: [`cos(p)`, `sin(p)`], `orientation`: {`angle`: `p`}}]",
                                  NULL);
    assert_int_equal(i->dimension, 2);
    assert_near("about the end", i->bodies[0].about[8], 4, 1e-14);
    assert_near("own", i->system.principal[0], 1, 1e-14);
    hamel_inertia_free(i);
}

static void missing_masses_and_unknown_reference_points_are_reported(void **state) {
    (void)state;
    static const char *const SYSTEM =
        "`coordinates`: [`p`], `particles`: [{`name`: `tip`, `mass`: 1, `position`: [`p`, "
        "0]}], `kinetic_energy`: `p'^2`";
    hamel_inertia *i = inertia_of(SYSTEM, NULL), *none = NULL;
    assert_non_null(i->reason);
    hamel_inertia_free(i);
    fixture f;
    fixture_read(&f, SYSTEM, "`stop`: 1");
    assert_int_equal(hamel_find_inertia(&none, &f.description, (hamel_argument){"tap", "/about"}, NULL, NULL, &f.error),
                     HAMEL_INVALID);
    assert_null(none);
    assert_true(fixture_says(&f, "there is no particle, body, point or frame `tap`"));
    assert_true(fixture_says(&f, "did you mean `tip`"));
    fixture_close(&f);
    fixture_read(&f, "`coordinates`: [`p`], `kinetic_energy`: `p'^2`", "`stop`: 1");
    assert_int_equal(hamel_find_inertia(&none, &f.description, (hamel_argument){NULL, ""}, NULL, NULL, &f.error),
                     HAMEL_INVALID);
    assert_true(fixture_says(&f, "neither bodies nor particles"));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_inertia_tensor_of_a_cube_is_transferred_to_a_corner),
        cmocka_unit_test(principal_axes_are_right_handed_eigenvectors_of_the_tensor),
        cmocka_unit_test(two_particles_have_the_moment_of_inertia_of_their_reduced_mass),
        cmocka_unit_test(a_planar_body_has_one_moment_of_inertia),
        cmocka_unit_test(missing_masses_and_unknown_reference_points_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
