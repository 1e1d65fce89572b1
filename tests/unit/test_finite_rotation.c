/* test_finite_rotation.c — rotation_angle(), rotation_axis() and gibbs_vector(), compared with the logarithm of
 * rotation matrices and with Rodrigues' composition. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const double PI = 3.14159265358979323846;

static void times(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 9; i++)
        out[i] = a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] + a[i / 3 * 3 + 2] * b[6 + i % 3];
}

static void elementary(int axis, double angle, double out[9]) {
    int i = (axis + 1) % 3, k = (axis + 2) % 3;
    for (int n = 0; n < 9; n++) out[n] = n % 4 == 0;
    out[4 * i] = out[4 * k] = cos(angle);
    out[3 * i + k] = -sin(angle);
    out[3 * k + i] = sin(angle);
}

/* Runs a body B whose position and orientation are relative to a frame A. out = {angle, 3 components of the axis, 3
 * components of the Gibbs vector} in the first row. `to` is ", A" for the rotation relative to A, or "" for the
 * rotation relative to the inertial frame. */
static void outputs_of(const char *frame, const char *body, const char *to, double out[7]) {
    char text[2000];
    snprintf(text, sizeof text,
             "`coordinates`: [`q`], `frames`: [{`name`: `A`, `origin`: [0, 0, 0], `orientation`: {%s}}],"
             "`bodies`: [{`name`: `B`, `in`: `A`, `mass`: 1, `position`: [`q`, 0, 0], `orientation`: {%s},"
             "`inertia`: [1, 1, 1]}], `outputs`: {`x`: `rotation_angle(B%s)`, `n1`: `rotation_axis(B, 1%s)`,"
             "`n2`: `rotation_axis(B, 2%s)`, `n3`: `rotation_axis(B, 3%s)`, `g1`: `gibbs_vector(B, 1%s)`,"
             "`g2`: `gibbs_vector(B, 2%s)`, `g3`: `gibbs_vector(B, 3%s)`}",
             frame, body, to, to, to, to, to, to, to);
    motion m = motion_run(text, "`stop`: 1, `samples`: 2");
    for (size_t i = 0; i < 7; i++) out[i] = motion_value(&m, 0, motion_column(&m, "x") + i);
    motion_free(&m);
}

/* Compares the outputs with log R, where R is a rotation matrix in row-major order. The angle x satisfies cos x =
 * (tr R − 1)/2, and n sin x is the axial vector of (R − Rᵀ)/2. The Gibbs vector is n tan(x/2). */
static void assert_is_logarithm(const char *what, const double R[9], const double out[7]) {
    double x = acos((R[0] + R[4] + R[8] - 1) / 2);
    double n[3] = {(R[7] - R[5]) / (2 * sin(x)), (R[2] - R[6]) / (2 * sin(x)), (R[3] - R[1]) / (2 * sin(x))};
    assert_near(what, out[0], x, 1e-12);
    for (int i = 0; i < 3; i++) {
        assert_near(what, out[1 + i], n[i], 1e-12);
        assert_near(what, out[4 + i], n[i] * tan(x / 2), 1e-10);
    }
}

static void rotations_of_every_euler_sequence_are_the_logarithms_of_their_matrices(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 27; k++) {
        int axis[3] = {k / 9, k / 3 % 3, k % 3};
        if (axis[0] == axis[1] || axis[1] == axis[2]) continue;
        char text[200], name[4] = {(char)('X' + axis[0]), (char)('X' + axis[1]), (char)('X' + axis[2]), 0};
        double angles[3], single[3][9], pair[9], R[9], out[7];
        random_fill(&seed, angles, 3, -3, 3);
        for (int i = 0; i < 3; i++) elementary(axis[i], angles[i], single[i]);
        times(single[0], single[1], pair);
        times(pair, single[2], R);
        snprintf(text, sizeof text, "`euler`: {`sequence`: `%s`, `angles`: [%.17g, %.17g, %.17g]}", name, angles[0],
                 angles[1], angles[2]);
        outputs_of("`angle`: 0", text, "", out);
        assert_is_logarithm(name, R, out);
    }
}

/* Unit quaternions of the frame A and of the body B relative to A. */
static const double QA[4] = {0.5, 0.5, -0.1, 0.7}, QB[4] = {0.8, -0.36, 0.48, 0};

static void write_quaternion(char *text, size_t size, const double q[4]) {
    snprintf(text, size, "`quaternion`: [%.17g, %.17g, %.17g, %.17g]", q[0], q[1], q[2], q[3]);
}

/* The Gibbs vector of the rotation 1 followed by the rotation 2 is γ = (γ1 + γ2 + γ2 × γ1)/(1 − γ1·γ2)
 * (Papastavridis 1.10, Rodrigues). In inertial axes, the rotation of B relative to A comes first, and the rotation
 * of A second. */
static void gibbs_vectors_of_two_rotations_satisfy_the_formula_of_rodrigues(void **state) {
    (void)state;
    char frame[200], body[200];
    double whole[7], relative[7], first[3], second[3];
    write_quaternion(frame, sizeof frame, QA);
    write_quaternion(body, sizeof body, QB);
    outputs_of(frame, body, "", whole);
    outputs_of(frame, body, ", A", relative);
    for (int i = 0; i < 3; i++) {
        first[i] = QB[1 + i] / QB[0];
        second[i] = QA[1 + i] / QA[0];
        assert_near("relative", relative[4 + i], first[i], 1e-13);
    }
    double below = 1 - (first[0] * second[0] + first[1] * second[1] + first[2] * second[2]);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double above = first[i] + second[i] + second[j] * first[k] - second[k] * first[j];
        assert_near("composed", whole[4 + i], above / below, 1e-13);
    }
    assert_near("relative angle", relative[0], 2 * acos(0.8), 1e-14);
}

/* At an angle of π, R − Rᵀ vanishes, so the axis cannot be computed from R − Rᵀ alone. At small angles, acos((tr R −
 * 1)/2) loses half of the digits, because tr R rounds to 3. The outputs must have neither error. */
static void angle_and_axis_are_accurate_near_pi_and_near_zero(void **state) {
    (void)state;
    char text[200];
    static const double n[3] = {-0.6, 0, 0.8};
    for (int k = 0; k < 2; k++) {
        double x = k == 0 ? PI - 1e-9 : 1e-9, q[4] = {cos(x / 2)}, out[7];
        for (int i = 0; i < 3; i++) q[1 + i] = n[i] * sin(x / 2);
        write_quaternion(text, sizeof text, q);
        outputs_of("`angle`: 0", text, "", out);
        /* The quotient is compared, because the tolerance of assert_near is absolute for values below 1. */
        assert_near("angle", out[0] / x, 1, 1e-15);
        for (int i = 0; i < 3; i++) assert_near("axis", out[1 + i], n[i], 1e-14);
    }
}

/* rotation_angle() of a planar body is the absolute value of its angle modulo 2π, between 0 and π. The axis is e3 or
 * −e3. */
static void a_planar_body_rotates_about_the_normal_of_the_plane(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `p`, `initial`: 0.5, `velocity`: 2}], `bodies`: [{`name`: `B`,"
                          "`mass`: 1, `inertia`: 1, `position`: [0, 0], `orientation`: {`angle`: `p`}}],"
                          "`outputs`: {`x`: `rotation_angle(B)`, `n`: `rotation_axis(B, 3)`,"
                          "`g`: `gibbs_vector(B, 3)`, `r`: `der(rotation_angle(B))`}",
                          "`stop`: 4, `samples`: 9, `rtol`: 1e-10, `atol`: 1e-12");
    for (size_t row = 0; row < m.row_count; row++) {
        double p = motion_value(&m, row, 1), n = motion_value(&m, row, motion_column(&m, "n"));
        double turned = remainder(p, 2 * PI);
        assert_near("angle", motion_value(&m, row, motion_column(&m, "x")), fabs(turned), 1e-13);
        assert_near("axis", n, turned > 0 ? 1 : -1, 1e-14);
        assert_near("gibbs", motion_value(&m, row, motion_column(&m, "g")) / tan(p / 2), 1, 1e-12);
        assert_near("rate", motion_value(&m, row, motion_column(&m, "r")), 2 * n, 1e-9);
    }
    motion_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations_of_every_euler_sequence_are_the_logarithms_of_their_matrices),
        cmocka_unit_test(gibbs_vectors_of_two_rotations_satisfy_the_formula_of_rodrigues),
        cmocka_unit_test(angle_and_axis_are_accurate_near_pi_and_near_zero),
        cmocka_unit_test(a_planar_body_rotates_about_the_normal_of_the_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
