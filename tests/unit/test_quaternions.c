/* test_quaternions.c — accelerations of bodies with quaternions as orientations: chains of bodies on ball joints, and
 * free bodies. The reference is Newton and Euler's equations in maximal coordinates, solved here with long doubles.
 *
 * The mass matrix of such bodies is singular at every state. If components of a quaternion are small, leading minors of
 * this matrix are also small. An elimination in fixed order would then use pivots that are rounding errors. The tests
 * use states with small components. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BODIES = 3, SEVEN = 7, UNKNOWNS = 9 * BODIES };

typedef struct body {
    double mass, inertia[3];
    /* positions in body axes: `inner` of the joint to the previous body, `outer` of the joint to the next body */
    double inner[3], outer[3];
} body;

typedef struct chain {
    size_t count;
    bool free; /* without joints */
    double gravity[3];
    body bodies[BODIES];
} chain;

/* --- vectors and quaternions -------------------------------------------------------------------------------------- */

static void cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Computes the rotation matrix R, by rows, from body to inertial axes. */
static void rotation(const double *e, double R[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int k = 3 - i - j;
            double sign = (j - i + 3) % 3 == 1 ? -1 : 1;
            R[i][j] = i == j ? 2 * (e[0] * e[0] + e[1 + i] * e[1 + i]) - 1
                             : 2 * (e[1 + i] * e[1 + j] + sign * e[0] * e[1 + k]);
        }
}

static void turn(double R[3][3], const double *x, double *out) {
    for (int i = 0; i < 3; i++) out[i] = R[i][0] * x[0] + R[i][1] * x[1] + R[i][2] * x[2];
}

static void turn_back(double R[3][3], const double *x, double *out) {
    for (int i = 0; i < 3; i++) out[i] = R[0][i] * x[0] + R[1][i] * x[1] + R[2][i] * x[2];
}

/* Computes e ∘ (0, w) / 2, the rate of a quaternion with the angular velocity w in body axes. */
static void rate(const double *e, const double *w, double *out) {
    out[0] = -(e[1] * w[0] + e[2] * w[1] + e[3] * w[2]) / 2;
    out[1] = (e[0] * w[0] + e[2] * w[2] - e[3] * w[1]) / 2;
    out[2] = (e[0] * w[1] + e[3] * w[0] - e[1] * w[2]) / 2;
    out[3] = (e[0] * w[2] + e[1] * w[1] - e[2] * w[0]) / 2;
}

/* --- Newton and Euler's equations --------------------------------------------------------------------------------- */

typedef long double big;

static void solve(size_t n, big a[UNKNOWNS][UNKNOWNS + 1]) {
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k; i < n; i++)
            if (fabsl(a[i][k]) > fabsl(a[best][k])) best = i;
        for (size_t j = 0; j <= n; j++) {
            big kept = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = kept;
        }
        assert_true(a[k][k] != 0);
        for (size_t i = 0; i < n; i++) {
            big factor = i == k ? 0 : a[i][k] / a[k][k];
            for (size_t j = k; factor != 0 && j <= n; j++) a[i][j] -= factor * a[k][j];
        }
    }
    for (size_t k = 0; k < n; k++) a[k][n] /= a[k][k];
}

/* Adds `factor` times the matrix of the cross product x × to the 3 × 3 block of `a` that starts at (row, column). */
static void add_cross(big a[UNKNOWNS][UNKNOWNS + 1], size_t row, size_t column, const double *x, double factor) {
    for (size_t i = 0; i < 3; i++) {
        size_t j = (i + 1) % 3, k = (i + 2) % 3;
        a[row + i][column + j] -= (big)(factor * x[k]);
        a[row + i][column + k] += (big)(factor * x[j]);
    }
}

static void add_unit(big a[UNKNOWNS][UNKNOWNS + 1], size_t row, size_t column, double factor) {
    for (size_t i = 0; i < 3; i++) a[row + i][column + i] += (big)factor;
}

/* Adds a joint force to the equations of a body. The rows of the body begin at `at`, and the columns of the force begin
 * at `force`. The force acts at `arm` with the sign `sign`. In the rows of the joint, the acceleration of the point has
 * the same sign. */
static void attach(big a[UNKNOWNS][UNKNOWNS + 1], size_t n, size_t at, size_t force, const double *arm,
                   const double *spin, double sign) {
    double once[3], twice[3];
    add_unit(a, at, force, -sign);
    add_cross(a, at + 3, force, arm, -sign);
    add_unit(a, force, at, sign);
    add_cross(a, force, at + 3, arm, -sign); /* α × arm */
    cross(spin, arm, once);
    cross(spin, once, twice);
    for (size_t i = 0; i < 3; i++) a[force + i][n] -= (big)(sign * twice[i]);
}

/* Computes q'', seven components per body, at a state with the angular velocities w in body axes. */
static void newton_euler(const chain *c, const double *q, const double *v, double w[BODIES][3], double *out) {
    static big a[UNKNOWNS][UNKNOWNS + 1];
    size_t n = (c->free ? 6 : 9) * c->count, forces = 6 * c->count;
    double R[BODIES][3][3], arm[3], spin[BODIES][3];
    memset(a, 0, sizeof a);
    for (size_t b = 0; b < c->count; b++) {
        const body *one = &c->bodies[b];
        rotation(q + SEVEN * b + 3, R[b]);
        turn(R[b], w[b], spin[b]);
        double momentum[3], torque[3], moment[3];
        for (size_t i = 0; i < 3; i++) momentum[i] = one->inertia[i] * w[b][i];
        cross(w[b], momentum, moment);
        turn(R[b], moment, torque);
        add_unit(a, 6 * b, 6 * b, one->mass);
        for (size_t i = 0; i < 3; i++) {
            a[6 * b + i][n] = (big)(one->mass * c->gravity[i]);
            a[6 * b + 3 + i][n] = -(big)torque[i];
            for (size_t j = 0; j < 3; j++)
                for (size_t k = 0; k < 3; k++)
                    a[6 * b + 3 + i][6 * b + 3 + j] += (big)R[b][i][k] * one->inertia[k] * R[b][j][k];
        }
    }
    for (size_t b = 0; !c->free && b < c->count; b++) {
        turn(R[b], c->bodies[b].inner, arm);
        attach(a, n, 6 * b, forces + 3 * b, arm, spin[b], 1);
        if (b == 0) continue;
        turn(R[b - 1], c->bodies[b - 1].outer, arm);
        attach(a, n, 6 * (b - 1), forces + 3 * b, arm, spin[b - 1], -1);
    }
    solve(n, a);
    for (size_t b = 0; b < c->count; b++) {
        double turning[3], in_body[3], first[4], second[4];
        for (size_t i = 0; i < 3; i++) {
            out[SEVEN * b + i] = (double)a[6 * b + i][n];
            turning[i] = (double)a[6 * b + 3 + i][n];
        }
        turn_back(R[b], turning, in_body);
        rate(q + SEVEN * b + 3, in_body, first);
        rate(v + SEVEN * b + 3, w[b], second);
        for (size_t i = 0; i < 4; i++) out[SEVEN * b + 3 + i] = first[i] + second[i];
    }
}

/* --- states ------------------------------------------------------------------------------------------------------- */

/* Generates a random unit quaternion. The components are zero or of any size down to 1e-9, with random signs. */
static void random_quaternion(uint64_t *seed, double *e) {
    double length = 0;
    while (length < 1e-3) {
        for (size_t i = 0; i < 4; i++) {
            double size = random_between(seed, 0, 1) < 0.5 ? 1 : pow(10, random_between(seed, -9, 0));
            e[i] = random_between(seed, 0, 1) < 0.1 ? 0 : size * random_between(seed, -1, 1);
        }
        length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    }
    for (size_t i = 0; i < 4; i++) e[i] /= length;
}

/* Computes a state that satisfies the joints. The position and velocity of each body follow from the position and
 * velocity of the previous body. */
static void random_state(const chain *c, uint64_t *seed, double *q, double *v, double w[BODIES][3]) {
    double point[3] = {0.2, -0.1, 0.4}, velocity[3] = {0}, R[3][3], arm[3], spin[3], swing[3];
    for (size_t b = 0; b < c->count; b++) {
        double *e = q + SEVEN * b + 3;
        random_quaternion(seed, e);
        random_fill(seed, w[b], 3, -2, 2);
        rate(e, w[b], v + SEVEN * b + 3);
        rotation(e, R);
        turn(R, w[b], spin);
        turn(R, c->bodies[b].inner, arm);
        cross(spin, arm, swing);
        for (size_t i = 0; i < 3; i++) {
            q[SEVEN * b + i] = point[i] - arm[i];
            v[SEVEN * b + i] = velocity[i] - swing[i];
        }
        turn(R, c->bodies[b].outer, arm);
        cross(spin, arm, swing);
        for (size_t i = 0; i < 3; i++) {
            point[i] = q[SEVEN * b + i] + arm[i];
            velocity[i] = v[SEVEN * b + i] + swing[i];
        }
    }
}

static hamel_model *model_of(const chain *c, const char *wanted) {
    char text[6000], simulation[200], *at = text, *end = text + sizeof text;
    at += snprintf(at, (size_t)(end - at), "`gravity`: [%g, %g, %g], `coordinates`: [", c->gravity[0], c->gravity[1],
                   c->gravity[2]);
    for (size_t b = 0; b < c->count; b++)
        at += snprintf(at, (size_t)(end - at),
                       "%s`x%zu`, `y%zu`, `z%zu`, {`name`: `a%zu`, `initial`: 1}, `b%zu`, `c%zu`, `d%zu`",
                       b ? ", " : "", b, b, b, b, b, b, b);
    at += snprintf(at, (size_t)(end - at), "], `bodies`: [");
    for (size_t b = 0; b < c->count; b++) {
        const double *J = c->bodies[b].inertia;
        at += snprintf(at, (size_t)(end - at),
                       "%s{`name`: `B%zu`, `mass`: %.17g, `inertia`: [%.17g, %.17g, %.17g], "
                       "`position`: [`x%zu`, `y%zu`, `z%zu`], "
                       "`orientation`: {`quaternion`: [`a%zu`, `b%zu`, `c%zu`, `d%zu`]}}",
                       b ? ", " : "", b, c->bodies[b].mass, J[0], J[1], J[2], b, b, b, b, b, b, b);
    }
    at += snprintf(at, (size_t)(end - at), "], `points`: [");
    for (size_t b = 0; b < c->count; b++) {
        const double *in = c->bodies[b].inner, *out = c->bodies[b].outer;
        at += snprintf(at, (size_t)(end - at),
                       "%s{`name`: `I%zu`, `body`: `B%zu`, `at`: [%.17g, %.17g, %.17g]}, "
                       "{`name`: `O%zu`, `body`: `B%zu`, `at`: [%.17g, %.17g, %.17g]}",
                       b ? ", " : "", b, b, in[0], in[1], in[2], b, b, out[0], out[1], out[2]);
    }
    at += snprintf(at, (size_t)(end - at), "], `joints`: [");
    for (size_t b = 0; !c->free && b < c->count; b++) {
        char before[32] = "[0.2, -0.1, 0.4]";
        if (b > 0) snprintf(before, sizeof before, "`O%zu`", b - 1);
        at += snprintf(at, (size_t)(end - at), "%s{`name`: `j%zu`, `type`: `coincident`, `between`: [%s, `I%zu`]}",
                       b ? ", " : "", b, before, b);
    }
    snprintf(at, (size_t)(end - at), "]");
    snprintf(simulation, sizeof simulation, "`stop`: 1, `initialization`: `project`, `formulation`: `%s`", wanted);
    return fixture_model(text, simulation);
}

static double largest(const double *x, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Bounds on the error in accelerations, relative to the largest acceleration. Each bound is derived from ε times the
 * ratio of the largest to the smallest mass or moment of inertia in a system. This product is 2e-13 for the ratio 1e3,
 * and 2e-7 for 1e9. AGREE is 50 times the first product, because quaternion components may be small. AGREE_UNEQUAL is
 * half of the second product. */
static const double AGREE = 1e-11, AGREE_UNEQUAL = 1e-7;
/* Bound on the residual of each equation, relative to the terms of the equation. The solver is backward stable, so the
 * residual is of order ε = 2e-16. The bound detects each wrong term whose relative size exceeds 1e-10. */
static const double RESIDUAL = 1e-10;

static void compare(const chain *c, const char *wanted, size_t starts, uint64_t seed, double agree) {
    double q[SEVEN * BODIES], v[SEVEN * BODIES], w[BODIES][3], right[SEVEN * BODIES], a[SEVEN * BODIES], lambda[99];
    hamel_model *model = model_of(c, wanted);
    assert_true(model->m < 99);
    for (size_t start = 0; start < starts; start++) {
        dynamics *k = dynamics_create(model);
        assert_non_null(k);
        random_state(c, &seed, q, v, w);
        newton_euler(c, q, v, w, right);
        hamel_error error = {0};
        hamel_status status = dynamics_evaluate(k, 0, q, v, &error);
        if (status == HAMEL_OK) status = dynamics_accelerations(k, 0, 0, a, lambda, &error);
        if (status != HAMEL_OK) fail_msg("%s, start %zu: %s", wanted, start, error.faults[0].message);
        equation_residual missed = dynamics_missed(k, a, lambda);
        if (!(fmax(missed.motion, missed.constraints) <= RESIDUAL))
            fail_msg("%s, start %zu: residual of motion %g, of constraints %g", wanted, start, missed.motion,
                     missed.constraints);
        for (size_t b = 0; b < c->count; b++) {
            const double *e = q + SEVEN * b + 3, *rate_of = v + SEVEN * b + 3, *second = a + SEVEN * b + 3;
            double identity = 0, size = 1 + largest(right, SEVEN * c->count);
            for (size_t i = 0; i < 4; i++) identity += e[i] * second[i] + rate_of[i] * rate_of[i];
            if (!(fabs(identity) <= agree * size))
                fail_msg("%s, start %zu, body %zu: e e'' + e' e' = %g", wanted, start, b, identity);
        }
        for (size_t i = 0; i < SEVEN * c->count; i++) {
            double size = 1 + largest(right, SEVEN * c->count);
            if (!(fabs(a[i] - right[i]) <= agree * size))
                fail_msg("%s, start %zu: q''[%zu] = %.17g, expected %.17g", wanted, start, i, a[i], right[i]);
        }
        dynamics_free(k);
    }
    hamel_model_free(model);
}

static void compare_all(const chain *c, size_t starts, double agree) {
    static const char *const names[] = {"lagrange",     "udwadia-kalaba",  "gauss",    "maggi",    "kane",
                                        "gibbs-appell", "boltzmann-hamel", "hadamard", "voronets", "hamilton",
                                        "routh"};
    bool cyclic = c->free && largest(c->gravity, 3) == 0;
    for (size_t i = 0; i + !cyclic < sizeof names / sizeof *names; i++) compare(c, names[i], starts, 11 + i, agree);
}

static void a_pinned_body_agrees_with_newton_and_euler(void **state) {
    chain c = {1, false, {0.3, -0.2, -9.81}, {{1, {1, 1, 1}, {-0.17, -0.017, 0.42}, {0}}}};
    (void)state;
    compare_all(&c, 300, AGREE);
    c.bodies[0] = (body){2.5, {0.3, 0.02, 0.31}, {0.1, 0.3, -0.2}, {0}};
    compare_all(&c, 300, AGREE);
}

static void a_free_body_agrees_with_newton_and_euler(void **state) {
    chain c = {1, true, {0}, {{1.5, {2, 1, 3}, {0}, {0}}}};
    (void)state;
    compare_all(&c, 300, AGREE);
    c.gravity[1] = -5;
    compare_all(&c, 20, AGREE);
}

static void chains_of_bodies_agree_with_newton_and_euler(void **state) {
    chain c = {3,
               false,
               {0, 0, -9.81},
               {{1, {0.2, 0.3, 0.4}, {0, 0, 0.5}, {0.1, 0, -0.5}},
                {0.3, {0.01, 0.02, 0.025}, {0.2, 0.1, 0}, {-0.2, 0.1, 0.1}},
                {7, {3, 1, 2.5}, {0.3, 0.2, 0.6}, {0}}}};
    (void)state;
    compare_all(&c, 20, AGREE);
}

/* In millimetres and kilograms, moments of inertia are 1e5 times the masses. A light body hangs on a heavy body. */
static void units_and_unequal_masses_make_no_difference(void **state) {
    chain c = {
        2,
        false,
        {0, 0, -9810},
        {{2681, {1.2e8, 0.9e8, 1.5e8}, {0, 30, 500}, {100, 0, -500}}, {0.3, {2e3, 3e3, 2.5e3}, {70, 50, 80}, {0}}}};
    (void)state;
    compare_all(&c, 40, AGREE_UNEQUAL);
    chain small = {2,
                   false,
                   {0, 9.81, 0},
                   {{1e-6, {1e-14, 2e-14, 2.5e-14}, {1e-4, 0, 1e-4}, {-1e-4, 0, 0}},
                    {2e-6, {3e-14, 2e-14, 2.5e-14}, {1e-4, 2e-4, 0}, {0}}}};
    compare_all(&small, 40, AGREE);
}

/* --- long runs of free bodies ------------------------------------------------------------------------------------- */

static double steps_of(const char *method, const double *J, const double *spin, double rtol) {
    char text[1500], simulation[200];
    hamel_summary summary;
    hamel_error error = {0};
    snprintf(text, sizeof text,
             "`coordinates`: [{`name`: `a`, `initial`: 1}, {`name`: `b`, `velocity`: %.17g}, {`name`: `c`, `velocity`: "
             "%.17g}, {`name`: `d`, `velocity`: %.17g}], `bodies`: [{`name`: `B`, `mass`: 1, `inertia`: [%.17g, %.17g, "
             "%.17g], `position`: [0, 0, 0], `orientation`: {`quaternion`: [`a`, `b`, `c`, `d`]}}],"
             "`invariants`: [{`name`: `E`, `expression`: `energy()`, `tolerance`: 1e-4}]",
             spin[0] / 2, spin[1] / 2, spin[2] / 2, J[0], J[1], J[2]);
    snprintf(simulation, sizeof simulation, "`stop`: 500, `samples`: 3, `rtol`: %g, `atol`: %g, `method`: `%s`", rtol,
             1e-3 * rtol, method);
    hamel_model *model = fixture_model(text, simulation);
    if (hamel_run(model, NULL, NULL, &summary, &error) != HAMEL_OK) fail_msg("%s", error.faults[0].message);
    assert_true(summary.passed);
    double steps = (double)summary.steps;
    hamel_summary_free(&summary);
    hamel_model_free(model);
    return steps;
}

/* Noise in the accelerations must not be detected as stiffness, because BDF needs seven times as many steps
 * (measured). */
static void a_tumbling_body_is_not_classified_as_stiff(void **state) {
    static const double cases[][7] = {
        {2, 1, 3, 1, 0.01, 0, 1e-6},       {2, 1, 3, 1, 1e-5, 1e-6, 1e-6},
        {0.7, 2, 1.5, 1, 0, -1.9, 1.5e-8}, {1, 1.2, 2.1, 3.9, -0.04, -0.003, 1e-6},
        {3, 2, 1.1, 3e-3, 0.6, 0, 4e-9},   {1, 1, 1, 1.5, 1.3, 0.005, 3e-9},
        {1, 2, 2.9, -3.5, 0, 0.04, 5e-7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double chosen = steps_of("auto", cases[i], cases[i] + 3, cases[i][6]),
               erk = steps_of("erk", cases[i], cases[i] + 3, cases[i][6]);
        if (chosen != erk) fail_msg("case %zu: %g steps by auto, %g by erk", i, chosen, erk);
    }
}

/* --- positions that depend on the quaternion --------------------------------------------------------------------- */

/* A body at the end of an arm. Its mass matrix is regular except at e = (±1, 0, 0, 0). Near these points the diagonal
 * entry for e0 is of order e1² + e2² + e3², and the norm constraint determines e0''. */
static motion written_out(double mass, double angle, const char *wanted, const char *method) {
    char text[1200], simulation[200];
    double e[] = {cos(angle), 0.36 * sin(angle), 0.48 * sin(angle), -0.8 * sin(angle)}, w[] = {0.7, -3.1, 2.2}, v[4];
    rate(e, w, v);
    snprintf(
        text, sizeof text,
        "`coordinates`: [{`name`: `e0`, `initial`: %.17g, `velocity`: %.17g}, {`name`: `e1`, `initial`: %.17g, "
        "`velocity`: %.17g}, {`name`: `e2`, `initial`: %.17g, `velocity`: %.17g}, {`name`: `e3`, `initial`: %.17g, "
        "`velocity`: %.17g}],"
        "`gravity`: [0, 0, -9.81], `bodies`: [{`name`: `B`, `mass`: %.17g, `inertia`: [0.41, 0.4, 0.46],"
        "`position`: [`1-2*(e2^2+e3^2)`, `2*(e1*e2+e0*e3)`, `2*(e1*e3-e0*e2)`],"
        "`orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]}}],"
        "`outputs`: {`norm`: `e0*e0''+e1*e1''+e2*e2''+e3*e3''+e0'^2+e1'^2+e2'^2+e3'^2`}",
        e[0], v[0], e[1], v[1], e[2], v[2], e[3], v[3], mass);
    snprintf(simulation, sizeof simulation,
             "`stop`: 0.1, `samples`: 2, `rtol`: 1e-9, `atol`: 1e-11, `formulation`: `%s`, `method`: `%s`", wanted,
             method);
    return motion_run(text, simulation);
}

static void a_mass_that_nearly_vanishes_does_not_disturb_the_norm(void **state) {
    static const char *const formulations[] = {"lagrange", "udwadia-kalaba", "hamilton", "gauss"};
    static const char *const methods[] = {"erk", "adams"};
    static const double masses[] = {0.02, 1, 30};
    (void)state;
    for (size_t i = 0; i < 4 * 3 * 12; i++) {
        double angle = pow(10, -3 - 0.5 * (double)(i % 12)) + (i % 2 ? acos(-1) : 0);
        motion m = written_out(masses[i / 12 % 3], angle, formulations[i / 36], methods[i % 12 / 2 % 2]);
        size_t norm = motion_column(&m, "norm");
        /* the terms have the size |w|²/4 = 4 and must cancel to eight digits */
        assert_below("norm at the start", fabs(motion_value(&m, 0, norm)), 1e-8);
        assert_below("norm at the end", fabs(motion_last(&m, "norm")), 1e-8);
        assert_below("steps", m.steps, 500);
        motion_free(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pinned_body_agrees_with_newton_and_euler),
        cmocka_unit_test(a_free_body_agrees_with_newton_and_euler),
        cmocka_unit_test(chains_of_bodies_agree_with_newton_and_euler),
        cmocka_unit_test(units_and_unequal_masses_make_no_difference),
        cmocka_unit_test(a_tumbling_body_is_not_classified_as_stiff),
        cmocka_unit_test(a_mass_that_nearly_vanishes_does_not_disturb_the_norm),
    };
    return cmocka_run_group_tests_name("quaternions", tests, NULL, NULL);
}
