/* test_rotation.c — orientations: rotation matrices and angular velocities for every form of input.
 *
 * A body at the origin has three points, one on each axis. The positions of the points are the columns of the rotation
 * matrix. Most expected values are computed numerically, from products of elementary rotations and from differences of
 * matrices over a short time. The other expected values are published (Papastavridis, Analytical Mechanics, 1.12 and
 * 1.13). */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 10, COORDINATES = 4 };

typedef struct turned {
    fixture f;
    graph_node rotation[9], omega[3], omega_body[3];
} turned;

/* Opens a body B with this orientation in the coordinates a, b, c, d. */
static void open_turned(turned *b, const char *orientation) {
    char text[3000], name[40];
    int length = snprintf(text, sizeof text,
                          "`coordinates`: [`a`, `b`, `c`, `d`],"
                          "`bodies`: [{`name`: `B`, `mass`: 1, `position`: [0, 0, 0], `orientation`: {%s}}],"
                          "`kinetic_energy`: `a'^2 + b'^2 + c'^2 + d'^2`,"
                          "`points`: [{`name`: `P[1]`, `body`: `B`, `at`: [1, 0, 0]},"
                          "{`name`: `P[2]`, `body`: `B`, `at`: [0, 1, 0]},"
                          "{`name`: `P[3]`, `body`: `B`, `at`: [0, 0, 1]}]",
                          orientation);
    assert_in_range(length, 1, sizeof text - 1);
    fixture_open(&b->f, text);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "position(P[%d], %d)", k + 1, i + 1);
            b->rotation[3 * i + k] = fixture_node(&b->f, name);
        }
        snprintf(name, sizeof name, "angular_velocity(B, %d)", i + 1);
        b->omega[i] = fixture_node(&b->f, name);
        snprintf(name, sizeof name, "angular_velocity_body(B, %d)", i + 1);
        b->omega_body[i] = fixture_node(&b->f, name);
    }
}

static double value(turned *b, graph_node node, const double *q, const double *v) {
    static const double t = 0.25;
    program_inputs in = {{0}};
    in.values[SYMBOL_TIME] = &t;
    in.values[SYMBOL_COORDINATE] = q;
    in.values[SYMBOL_VELOCITY] = v;
    return fixture_value(b->f.system->graph, node, &in);
}

static void values(turned *b, const graph_node *nodes, size_t count, const double *q, const double *v, double *out) {
    for (size_t i = 0; i < count; i++) out[i] = value(b, nodes[i], q, v);
}

static void times(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[3 * i + k] = a[3 * i] * b[k] + a[3 * i + 1] * b[3 + k] + a[3 * i + 2] * b[6 + k];
}

static void transpose(const double a[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) out[3 * i + k] = a[3 * k + i];
}

static void elementary(int axis, double angle, double out[9]) {
    int i = (axis + 1) % 3, k = (axis + 2) % 3;
    for (int n = 0; n < 9; n++) out[n] = n % 4 == 0;
    out[4 * i] = out[4 * k] = cos(angle);
    out[3 * i + k] = -sin(angle);
    out[3 * k + i] = sin(angle);
}

static void assert_all_near(const char *what, const double *x, const double *y, size_t count, double bound) {
    for (size_t i = 0; i < count; i++) assert_near(what, x[i], y[i], bound);
}

/* Computes q(t + h) for a motion that has the state q and the velocity v at t. If `unit` is true, normalizes the result
 * as a quaternion. */
static void step(const double *q, const double *v, double h, bool unit, double *out) {
    double sum = 0;
    for (int i = 0; i < COORDINATES; i++) {
        out[i] = q[i] + h * v[i];
        sum += out[i] * out[i];
    }
    for (int i = 0; unit && i < COORDINATES; i++) out[i] /= sqrt(sum);
}

/* Checks that ω is the axial vector of R' Rᵀ and, in body axes, of Rᵀ R'. R' is a central difference. */
static void omega_is_the_rate_of_the_matrix(turned *b, const double *q, const double *v, bool unit) {
    static const double h = 1e-5;
    double later[4], earlier[4], R[9], after[9], before[9], rate[9], turned_over[9], product[9], found[3];
    step(q, v, h, unit, later);
    step(q, v, -h, unit, earlier);
    values(b, b->rotation, 9, q, v, R);
    values(b, b->rotation, 9, later, v, after);
    values(b, b->rotation, 9, earlier, v, before);
    for (int i = 0; i < 9; i++) rate[i] = (after[i] - before[i]) / (2 * h);
    transpose(R, turned_over);
    times(rate, turned_over, product);
    values(b, b->omega, 3, q, v, found);
    assert_all_near("omega", found, (double[]){product[7], product[2], product[3]}, 3, 1e-8);
    times(turned_over, rate, product);
    values(b, b->omega_body, 3, q, v, found);
    assert_all_near("omega in body axes", found, (double[]){product[7], product[2], product[3]}, 3, 1e-8);
}

/* --- Euler angles -------------------------------------------------------------------------------------------------- */

/* Angles a, b, c, and the components of ω in body axes: Papastavridis 1.12, 1.13. */
static const struct {
    const char *sequence, *omega[3];
} sequences[] = {
    {"XYZ", {"cos(b)*cos(c)*a' + sin(c)*b'", "-cos(b)*sin(c)*a' + cos(c)*b'", "sin(b)*a' + c'"}},
    {"YZX", {"sin(b)*a' + c'", "cos(b)*cos(c)*a' + sin(c)*b'", "-cos(b)*sin(c)*a' + cos(c)*b'"}},
    {"ZXY", {"-cos(b)*sin(c)*a' + cos(c)*b'", "sin(b)*a' + c'", "cos(b)*cos(c)*a' + sin(c)*b'"}},
    {"XZY", {"cos(b)*cos(c)*a' - sin(c)*b'", "-sin(b)*a' + c'", "cos(b)*sin(c)*a' + cos(c)*b'"}},
    {"YXZ", {"cos(b)*sin(c)*a' + cos(c)*b'", "cos(b)*cos(c)*a' - sin(c)*b'", "-sin(b)*a' + c'"}},
    {"ZYX", {"-sin(b)*a' + c'", "cos(b)*sin(c)*a' + cos(c)*b'", "cos(b)*cos(c)*a' - sin(c)*b'"}},
    {"XYX", {"cos(b)*a' + c'", "sin(b)*sin(c)*a' + cos(c)*b'", "sin(b)*cos(c)*a' - sin(c)*b'"}},
    {"XZX", {"cos(b)*a' + c'", "-sin(b)*cos(c)*a' + sin(c)*b'", "sin(b)*sin(c)*a' + cos(c)*b'"}},
    {"YXY", {"sin(b)*sin(c)*a' + cos(c)*b'", "cos(b)*a' + c'", "-sin(b)*cos(c)*a' + sin(c)*b'"}},
    {"YZY", {"sin(b)*cos(c)*a' - sin(c)*b'", "cos(b)*a' + c'", "sin(b)*sin(c)*a' + cos(c)*b'"}},
    {"ZXZ", {"sin(b)*sin(c)*a' + cos(c)*b'", "sin(b)*cos(c)*a' - sin(c)*b'", "cos(b)*a' + c'"}},
    {"ZYZ", {"-sin(b)*cos(c)*a' + sin(c)*b'", "sin(b)*sin(c)*a' + cos(c)*b'", "cos(b)*a' + c'"}},
};
enum { SEQUENCES = sizeof sequences / sizeof sequences[0] };

static void open_euler(turned *b, const char *sequence, bool intrinsic, const char *angles) {
    char text[200], own[4];
    for (int i = 0; i < 4; i++) own[i] = (char)(sequence[i] == '\0' || intrinsic ? sequence[i] : sequence[i] | 32);
    snprintf(text, sizeof text, "`euler`: {`sequence`: `%s`, `angles`: [%s]}", own, angles);
    open_turned(b, text);
}

static void euler_angles_multiply_elementary_rotations(void **state) {
    (void)state;
    uint64_t seed = 11;
    double q[4], v[4], single[3][9], pair[9], expected[9], found[9];
    for (size_t k = 0; k < 2 * SEQUENCES; k++) {
        bool intrinsic = k % 2 == 0;
        const char *sequence = sequences[k / 2].sequence;
        turned b;
        open_euler(&b, sequence, intrinsic, "`a`, `b`, `c`");
        for (int round = 0; round < ROUNDS; round++) {
            random_fill(&seed, q, 4, -3, 3);
            random_fill(&seed, v, 4, -2, 2);
            for (int i = 0; i < 3; i++) elementary(sequence[i] - 'X', q[i], single[i]);
            times(single[intrinsic ? 0 : 2], single[1], pair);
            times(pair, single[intrinsic ? 2 : 0], expected);
            values(&b, b.rotation, 9, q, v, found);
            assert_all_near(sequence, found, expected, 9, 1e-14);
            omega_is_the_rate_of_the_matrix(&b, q, v, false);
        }
        fixture_close(&b.f);
    }
}

static void euler_rates_give_the_published_components(void **state) {
    (void)state;
    uint64_t seed = 12;
    double q[4], v[4];
    for (size_t k = 0; k < SEQUENCES; k++) {
        turned b;
        open_euler(&b, sequences[k].sequence, true, "`a`, `b`, `c`");
        for (int i = 0; i < 3; i++) {
            graph_node formula = fixture_node(&b.f, sequences[k].omega[i]);
            random_fill(&seed, q, 4, -3, 3);
            random_fill(&seed, v, 4, -2, 2);
            assert_near(sequences[k].sequence, value(&b, b.omega_body[i], q, v), value(&b, formula, q, v), 1e-14);
        }
        fixture_close(&b.f);
    }
}

static void an_extrinsic_sequence_is_the_reversed_intrinsic_one(void **state) {
    (void)state;
    double q[4] = {0.3, -1.1, 2.0, 0}, v[4] = {1, 0.5, -0.7, 0}, x[9], y[9];
    for (size_t k = 0; k < SEQUENCES; k++) {
        const char *s = sequences[k].sequence, backwards[] = {s[2], s[1], s[0], '\0'};
        turned one, other;
        open_euler(&one, s, true, "`a`, `b`, `c`");
        open_euler(&other, backwards, false, "`c`, `b`, `a`");
        values(&one, one.rotation, 9, q, v, x);
        values(&other, other.rotation, 9, q, v, y);
        assert_all_near(s, x, y, 9, 1e-15);
        values(&one, one.omega, 3, q, v, x);
        values(&other, other.omega, 3, q, v, y);
        assert_all_near(s, x, y, 3, 1e-15);
        fixture_close(&one.f);
        fixture_close(&other.f);
    }
}

/* --- other forms of orientation ----------------------------------------------------------------------------------- */

static void an_angle_rotates_about_the_third_axis(void **state) {
    (void)state;
    double q[4] = {0.7}, v[4] = {-1.5}, expected[9], found[9];
    turned b;
    open_turned(&b, "`angle`: `2*a + t`");
    elementary(2, 2 * q[0] + 0.25, expected);
    values(&b, b.rotation, 9, q, v, found);
    assert_all_near("matrix", found, expected, 9, 1e-15);
    values(&b, b.omega, 3, q, v, found);
    assert_all_near("omega", found, (double[]){0, 0, 2 * v[0] + 1}, 3, 1e-15);
    fixture_close(&b.f);
}

/* x + 2 e0 e × x + 2 e × (e × x). */
static void quaternion_turns(const double q[4], const double x[3], double out[3]) {
    double once[3], twice[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        once[i] = q[1 + j] * x[k] - q[1 + k] * x[j];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        twice[i] = q[1 + j] * once[k] - q[1 + k] * once[j];
        out[i] = x[i] + 2 * q[0] * once[i] + 2 * twice[i];
    }
}

static void a_quaternion_has_its_scalar_first(void **state) {
    (void)state;
    uint64_t seed = 13;
    double q[4], v[4], R[9];
    turned b;
    open_turned(&b, "`quaternion`: [`a`, `b`, `c`, `d`]");
    for (int round = 0; round < ROUNDS; round++) {
        double dot = 0;
        random_fill(&seed, v, 4, -1, 1);
        step(v, v, 0, true, q);
        random_fill(&seed, v, 4, -1, 1);
        for (int i = 0; i < 4; i++) dot += q[i] * v[i];
        for (int i = 0; i < 4; i++) v[i] -= dot * q[i]; /* velocity consistent with the norm constraint */
        values(&b, b.rotation, 9, q, v, R);
        for (int k = 0; k < 3; k++) {
            double column[3], unit[3] = {k == 0, k == 1, k == 2};
            quaternion_turns(q, unit, column);
            assert_all_near("column", (double[]){R[k], R[3 + k], R[6 + k]}, column, 3, 1e-14);
        }
        omega_is_the_rate_of_the_matrix(&b, q, v, true);
    }
    fixture_close(&b.f);
}

static void a_quaternion_adds_a_norm_constraint(void **state) {
    (void)state;
    turned b;
    open_turned(&b, "`quaternion`: [`a`, `b`, `c`, `d`]");
    assert_int_equal(b.f.system->constraint_count, 1);
    assert_string_equal(b.f.system->constraints[0].name, "B.norm");
    assert_int_equal(b.f.system->constraints[0].order, CONSTRAINT_HOLONOMIC);
    double q[4] = {0.5, -1, 2, 0.25}, v[4] = {0};
    assert_near("norm", value(&b, b.f.system->constraints[0].equation, q, v), 0.25 + 1 + 4 + 0.0625 - 1, 1e-15);
    fixture_close(&b.f);
}

/* The matrix is the product of rotations by a about Z and by b about X. */
static void a_matrix_is_given_row_by_row(void **state) {
    (void)state;
    uint64_t seed = 14;
    double q[4], v[4], x[9], y[9];
    turned given, angles;
    open_turned(&given, "`matrix`: [[`cos(a)`, `-sin(a)*cos(b)`, `sin(a)*sin(b)`],"
                        "[`sin(a)`, `cos(a)*cos(b)`, `-cos(a)*sin(b)`], [0, `sin(b)`, `cos(b)`]]");
    open_euler(&angles, "ZXZ", true, "`a`, `b`, 0");
    for (int round = 0; round < ROUNDS; round++) {
        random_fill(&seed, q, 4, -3, 3);
        random_fill(&seed, v, 4, -2, 2);
        values(&given, given.rotation, 9, q, v, x);
        values(&angles, angles.rotation, 9, q, v, y);
        assert_all_near("matrix", x, y, 9, 1e-14);
        values(&given, given.omega, 3, q, v, x);
        values(&angles, angles.omega, 3, q, v, y);
        assert_all_near("omega", x, y, 3, 1e-14);
        values(&given, given.omega_body, 3, q, v, x);
        values(&angles, angles.omega_body, 3, q, v, y);
        assert_all_near("omega in body axes", x, y, 3, 1e-14);
    }
    fixture_close(&given.f);
    fixture_close(&angles.f);
}

/* --- free bodies in all sequences --------------------------------------------------------------------------------- */

/* Computes the matrix R = R1 R2 R3 for the intrinsic angles x about the axes `axis`. Also computes the angular velocity
 * in body axes for the rates v: omega' = (R2 R3)^T n1 v1 + R3^T n2 v2 + n3 v3. */
static void intrinsic_state(const int axis[3], const double x[3], const double v[3], double R[9], double omega[3]) {
    double single[3][9], pair[9];
    for (int i = 0; i < 3; i++) elementary(axis[i], x[i], single[i]);
    times(single[1], single[2], pair);
    times(single[0], pair, R);
    for (int i = 0; i < 3; i++) {
        omega[i] = pair[3 * axis[0] + i] * v[0] + single[2][3 * axis[1] + i] * v[1] + (i == axis[2] ? v[2] : 0);
    }
}

/* Computes the quaternion of R, whose trace must be positive, and its rate e' = e (0, omega')/2. */
static void quaternion_state(const double R[9], const double omega[3], double e[4], double rate[4]) {
    e[0] = sqrt(1 + R[0] + R[4] + R[8]) / 2;
    e[1] = (R[7] - R[5]) / (4 * e[0]);
    e[2] = (R[2] - R[6]) / (4 * e[0]);
    e[3] = (R[3] - R[1]) / (4 * e[0]);
    rate[0] = -(e[1] * omega[0] + e[2] * omega[1] + e[3] * omega[2]) / 2;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        rate[1 + i] = (e[0] * omega[i] + e[1 + j] * omega[k] - e[1 + k] * omega[j]) / 2;
    }
}

/* Returns the motion of a free body: position of one of its points, and angular velocity. */
static motion free_body(const char *orientation, const double *x, const double *v, size_t count) {
    static const char *const names = "abcd";
    char text[2000];
    int length = snprintf(text, sizeof text, "`coordinates`: [");
    for (size_t i = 0; i < count; i++) {
        length +=
            snprintf(text + length, sizeof text - (size_t)length,
                     "%s{`name`: `%c`, `initial`: %.17g, `velocity`: %.17g}", i > 0 ? ", " : "", names[i], x[i], v[i]);
    }
    snprintf(text + length, sizeof text - (size_t)length,
             "], `bodies`: [{`name`: `B`, `mass`: 1, `position`: [0, 0, 0], `inertia`: [1, 1.6, 2.2],"
             "`orientation`: {%s}}], `points`: [{`name`: `P`, `body`: `B`, `at`: [0.3, -0.5, 0.8]}], `outputs`: {"
             "`X`: `position(P, 1)`, `Y`: `position(P, 2)`, `Z`: `position(P, 3)`,"
             "`WX`: `angular_velocity(B, 1)`, `WY`: `angular_velocity(B, 2)`, `WZ`: `angular_velocity(B, 3)`,"
             "`V`: `velocity(P, 1)`, `A`: `acceleration(P, 1)`}",
             orientation);
    return motion_run(text, "`stop`: 0.6, `samples`: 7, `rtol`: 1e-10, `atol`: 1e-12,"
                            "`record`: [`t`, `X`, `Y`, `Z`, `WX`, `WY`, `WZ`, `V`, `A`]");
}

/* Compares the motion in the angles of each sequence with the motion in quaternions, from the same initial state. The
 * angles stay away from the singular angles of each sequence. */
static void a_free_body_moves_identically_in_every_sequence(void **state) {
    (void)state;
    for (size_t k = 0; k < 2 * SEQUENCES; k++) {
        bool intrinsic = k % 2 == 0;
        const char *sequence = sequences[k / 2].sequence;
        double x[3] = {0.4, 0.8, -0.3}, v[3] = {0.7, 0.2, -0.9}, R[9], omega[3], e[4], rate[4];
        int axis[3];
        for (int i = 0; i < 3; i++) axis[i] = sequence[i] - 'X';
        char text[100];
        snprintf(text, sizeof text, "`euler`: {`sequence`: `%c%c%c`, `angles`: [`a`, `b`, `c`]}",
                 sequence[0] | (intrinsic ? 0 : 32), sequence[1] | (intrinsic ? 0 : 32),
                 sequence[2] | (intrinsic ? 0 : 32));
        motion angles = free_body(text, x, v, 3);
        if (intrinsic) {
            intrinsic_state(axis, x, v, R, omega);
        } else {
            intrinsic_state((int[]){axis[2], axis[1], axis[0]}, (double[]){x[2], x[1], x[0]},
                            (double[]){v[2], v[1], v[0]}, R, omega);
        }
        quaternion_state(R, omega, e, rate);
        motion quaternion = free_body("`quaternion`: [`a`, `b`, `c`, `d`]", e, rate, 4);
        assert_below(text, motion_difference(&angles, &quaternion), 1e-8);
        motion_free(&angles);
        motion_free(&quaternion);
    }
}

static void invalid_sequences_are_rejected(void **state) {
    (void)state;
    static const char *const bad[] = {"ZZX", "XZZ", "ZX", "ZXZX", "zXz", "ABC", "313", "Z"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "`coordinates`: [`a`], `kinetic_energy`: `a'^2`, `frames`: [{`name`: `F`,"
                 "`orientation`: {`euler`: {`sequence`: `%s`, `angles`: [`a`, 0, 0]}}}]",
                 bad[k]);
        assert_fault(text, "not an Euler sequence");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(euler_angles_multiply_elementary_rotations),
        cmocka_unit_test(euler_rates_give_the_published_components),
        cmocka_unit_test(an_extrinsic_sequence_is_the_reversed_intrinsic_one),
        cmocka_unit_test(an_angle_rotates_about_the_third_axis),
        cmocka_unit_test(a_quaternion_has_its_scalar_first),
        cmocka_unit_test(a_quaternion_adds_a_norm_constraint),
        cmocka_unit_test(a_matrix_is_given_row_by_row),
        cmocka_unit_test(a_free_body_moves_identically_in_every_sequence),
        cmocka_unit_test(invalid_sequences_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
