/* test_formulation.c — the formulations of engine/mechanics/formulation.c, compared with Lagrange's equations at random
 * consistent states and along trajectories. The message of a failure contains the name of the system. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Properties of a system that not every formulation supports. */
enum {
    HAS_LAGRANGIAN = 1,
    HAS_NONLINEAR_CONSTRAINT = 2,
    HAS_ACCELERATION_CONSTRAINT = 4,
    HAS_LAMBDA_FORCES = 8,
    HAS_NONIDEAL = 16,
    HAS_ACCELERATION_ENERGY = 32
};

enum { STATES = 12, TRIES = 200 };

/* The systems contain each kind of term and constraint, without symmetries that could hide an error. */
typedef struct agreement_system {
    const char *name;
    unsigned has;
    const char *members;
} agreement_system;

/* clang-format off */
static const agreement_system systems[] = {
    {"knife edge that rotates (Greenwood 4.13)", 0,
     "`parameters`: {`m`: 1.3, `l`: 0.9, `O`: 0.7},"
     "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, {`name`: `phi`, `velocity`: 0.5}],"
     "`kinetic_energy`: `m*(2*x'^2 + 2*y'^2 + (l*phi')^2 + 2*l*phi'*(-x'*sin(phi) + y'*cos(phi)))/2`,"
     "`quasi_velocities`: [{`name`: `u`, `definition`: `x'*cos(phi + O*t) + y'*sin(phi + O*t)`},"
     "  {`name`: `w`, `definition`: `phi'`}],"
     "`constraints`: [{`name`: `edge`, `equation`: `-x'*sin(phi + O*t) + y'*cos(phi + O*t) = 0`}]"},

    {"rolling disk (Greenwood 4.11)", 0,
     "`parameters`: {`m`: 1, `r`: 0.5, `g`: 9.81}, `coordinates`: [{`name`: `X`, `velocity`: -3}, `Y`,"
     "  {`name`: `phi`, `velocity`: 0.5}, {`name`: `theta`, `initial`: 1.3}, {`name`: `psi`, `velocity`: 5.866}],"
     "`definitions`: {`Om`: `psi' + phi'*cos(theta)`, `wd`: `phi'*sin(theta)`},"
     "`quasi_velocities`: [{`name`: `u1`, `definition`: `theta'`}, {`name`: `u2`, `definition`: `wd`},"
     "  {`name`: `u3`, `definition`: `Om`}],"
     "`kinetic_energy`: [`m*(X'^2 + Y'^2 + (r*theta'*cos(theta))^2)/2`, `m*r^2/4*(theta'^2 + wd^2)/2`, `m*r^2/2*Om^2/2`],"
     "`potential_energy`: `m*g*r*sin(theta)`, `constraints`: ["
     "  {`name`: `rollX`, `equation`: `X' = -r*Om*cos(phi) + r*theta'*sin(phi)*sin(theta)`},"
     "  {`name`: `rollY`, `equation`: `Y' = -r*Om*sin(phi) - r*theta'*cos(phi)*sin(theta)`}]"},

    {"unicycle with a rider, driven (Talamucci 3.4)", 0,
     "`parameters`: {`M`: 2, `n`: 0.5, `R`: 0.4, `h`: 0.8, `g`: 9.81},"
     "`coordinates`: [{`name`: `x`, `velocity`: 4}, `y`, {`name`: `theta`, `velocity`: 0.5}, {`name`: `phi`, `initial`: 0.1},"
     "  {`name`: `s`, `velocity`: 10}],"
     "`definitions`: {`d`: `h*sin(phi)`, `xG`: `x - R*sin(phi)*sin(theta)`, `yG`: `y + R*sin(phi)*cos(theta)`,"
     "  `zG`: `R*cos(phi)`}, `gravity`: [0, 0, `-g`],"
     "`kinetic_energy`: [`M*(der(xG)^2 + der(yG)^2 + der(zG)^2)/2`, `0.1*(phi'^2 + (theta'*cos(phi))^2)/2`,"
     "  `0.2*(s' - theta'*sin(phi))^2/2`], `potential_energy`: `M*g*zG`,"
     "`particles`: [{`name`: `rider`, `mass`: `n`, `position`: [`x - d*sin(theta)`, `y + d*cos(theta)`, `h*cos(phi)`]}],"
     "`constraints`: [{`name`: `rollx`, `equation`: `x' = R*s'*cos(theta)`}, {`name`: `rolly`, `equation`: `y' = R*s'*sin(theta)`},"
     "  {`name`: `motor`, `equation`: `s' = 10 + 2*sin(t)`}]"},

    {"bead on a wire that moves (rheonomic)", 0,
     "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: 0.5, `velocity`: 0.4}, {`name`: `z`, `initial`: 1}],"
     "`gravity`: [0, 0, -9.81], `particles`: [{`name`: `b`, `mass`: `1 + 0.2*sin(t)`, `position`: [`x`, `y`, `z`]}],"
     "`dissipation`: `0.3*(x'^2 + y'^2*z'^2)/2`,"
     "`constraints`: [{`name`: `wire`, `equation`: `z = x^2 + y^2/2 - 0.125 + 0.3*sin(2*t)`}]"},

    {"closed loop with a redundant crank", 0,
     "`parameters`: {`l`: 0.7, `d`: 0.5},"
     "`coordinates`: [{`name`: `x`, `initial`: `l*sin(0.9)`}, {`name`: `y`, `initial`: `-l*cos(0.9)`}, `phi`],"
     "`kinetic_energy`: `1.5*(x'^2 + y'^2)/2 + 0.1*phi'^2`, `potential_energy`: `15*y`, `constraints`: ["
     "  {`name`: `left`, `equation`: `(x - d*cos(phi) + d)^2 + (y - d*sin(phi))^2 = l^2`},"
     "  {`name`: `middle`, `equation`: `x^2 + y^2 = l^2`},"
     "  {`name`: `right`, `equation`: `(x + d*cos(phi) - d)^2 + (y + d*sin(phi))^2 = l^2`}]"},

    {"top described by a quaternion, on a spring", 0,
     "`coordinates`: [`x`, `y`, `z`, {`name`: `e0`, `initial`: 0.8}, {`name`: `e1`, `initial`: 0.6, `velocity`: 0.4},"
     "  {`name`: `e2`, `velocity`: 0.7}, {`name`: `e3`, `velocity`: 1.1}], `gravity`: [0, 0, -9.81],"
     "`bodies`: [{`name`: `top`, `mass`: 0.8, `position`: [`x`, `y`, `z`],"
     "  `orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]},"
     "  `inertia`: [[0.3, 0.02, -0.01], [0.02, 0.2, 0.03], [-0.01, 0.03, 0.25]]}],"
     "`points`: [{`name`: `A`, `body`: `top`, `at`: [0.1, 0.2, 0.4]}],"
     "`springs`: [{`name`: `s`, `between`: [`A`, [0, 0, 2]], `stiffness`: 20, `length`: 1}]"},

    {"body, particle and energies together, in a rotating frame", 0,
     "`coordinates`: [{`name`: `r`, `initial`: 0.5}, {`name`: `a`, `velocity`: 1}, {`name`: `s`, `velocity`: 0.3},"
     "  {`name`: `h`, `initial`: 0.2}], `gravity`: [0, 0, -9.81],"
     "`frames`: [{`name`: `T`, `orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`2*t`, 0.3, `a`]}}}],"
     "`bodies`: [{`name`: `B`, `mass`: 1.2, `in`: `T`, `position`: [`r`, 0.1, `h`],"
     "  `orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`a`, `s`, `h*t`]}}, `inertia`: [0.1, 0.2, 0.25]}],"
     "`particles`: [{`name`: `P`, `mass`: 0.4, `position`: [`r*cos(a)`, `r*sin(a)`, `h - s`]}],"
     "`kinetic_energy`: [`0.3*s'^2*(1 + r^2)`, `0.2*s'*a'*cos(h)`, `0.1*r'*sin(t)`], `potential_energy`: `3*r^2 + s^2/2`,"
     "`generalized_forces`: {`s`: `-0.2*s' + cos(t)`},"
     "`quasi_velocities`: [{`name`: `u`, `definition`: `s' + r*a'`}],"
     "`constraints`: [{`name`: `c`, `equation`: `h' = r*a' + 0.1*t`}]"},

    {"charge in a magnetic field, described by a Lagrangian", HAS_LAGRANGIAN,
     "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, {`name`: `z`, `initial`: 0.3}],"
     "`lagrangian`: `1.5*(x'^2 + y'^2 + z'^2*(1 + x^2)) + 0.8*(x*y' - y*x')*cos(t) - x*y*z`,"
     "`constraints`: [{`name`: `c`, `equation`: `z' = y*x' + 0.2`}]"},

    {"relativistic particle, described by a Lagrangian", HAS_LAGRANGIAN,
     "`coordinates`: [{`name`: `x`, `velocity`: 0.3}, {`name`: `y`, `initial`: 0.4, `velocity`: 0.1}],"
     "`lagrangian`: `-4*sqrt(1 - (x'^2 + y'^2)/4) - x^2 - y^2/3`, `constraints`: [{`name`: `c`, `equation`: `y' = x*x'`}]"},

    {"Appell-Hamel machine", HAS_NONLINEAR_CONSTRAINT,
     "`coordinates`: [{`name`: `x`, `velocity`: 0.459}, {`name`: `y`, `velocity`: 0.3865}, {`name`: `z`, `initial`: 2, `velocity`: -0.75}],"
     "`gravity`: [0.4, 0, -9.81], `particles`: [{`name`: `w`, `mass`: 0.5, `position`: [`x`, `y`, `z`]}],"
     "`constraints`: [{`name`: `machine`, `equation`: `x'^2 + y'^2 = 0.64*z'^2`}]"},

    {"servo cart", HAS_ACCELERATION_CONSTRAINT,
     "`coordinates`: [{`name`: `x`, `velocity`: -0.2}, {`name`: `theta`, `initial`: 0.4}, {`name`: `y`, `initial`: 0.1}],"
     "`kinetic_energy`: [`x'^2`, `0.25*(x'^2 + 1.2*x'*theta'*cos(theta) + (0.6*theta')^2) + y'^2`],"
     "`potential_energy`: `-3*cos(theta) + y^2`,"
     "`constraints`: [{`name`: `servo`, `equation`: `x'' = 4*sin(3*t) - 0.2*theta''`}, {`name`: `v`, `equation`: `y' = theta*theta'`}]"},

    {"bead on a ring with dry friction", HAS_LAMBDA_FORCES,
     "`coordinates`: [{`name`: `x`, `velocity`: 8}, {`name`: `y`, `initial`: -1}], `gravity`: [0, -9.81],"
     "`particles`: [{`name`: `b`, `mass`: 1, `position`: [`x`, `y`]}],"
     "`constraints`: [{`name`: `ring`, `equation`: `x^2 + y^2 = 1`}],"
     "`generalized_forces`: {`x`: `-0.3*lambda(ring)*x'/hypot(x', y')`, `y`: `-0.4*abs(lambda(ring))*y'/hypot(x', y')`}"},

    {"bead on a rotating ring with Coulomb friction", HAS_NONIDEAL,
     "`coordinates`: [{`name`: `x`, `velocity`: 8}, {`name`: `y`, `initial`: -1}, {`name`: `z`, `initial`: 0}],"
     "`gravity`: [0.5, -9.81, 0.3], `particles`: [{`name`: `b`, `mass`: 1, `position`: [`x`, `y`, `z`]}],"
     "`constraints`: [{`name`: `ring`, `equation`: `x^2 + y^2 + z^2/2 = 1`,"
     "  `friction`: {`coefficient`: 0.3, `regularization`: 0.1}}, {`name`: `plane`, `equation`: `z = 0.3*x*sin(t)`}]"},

    {"skate with a prescribed drag", HAS_NONIDEAL,
     "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, {`name`: `a`, `velocity`: 1}],"
     "`kinetic_energy`: `x'^2 + y'^2 + 0.3*a'^2 + 0.2*a'*x'*sin(a)`,"
     "`constraints`: [{`name`: `edge`, `equation`: `y'*cos(a) = x'*sin(a)`,"
     "  `nonideal`: {`x`: `-0.3*abs(ideal(x))*x'`, `a`: `-0.1*a' - 0.2*ideal(y)`}}]"},

    {"sleigh described by its Gibbs-Appell function", HAS_ACCELERATION_ENERGY,
     "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, {`name`: `a`, `velocity`: 0.7}],"
     "`acceleration_energy`: `(x''^2 + y''^2)/2 + 0.3*a''^2 + 0.2*a''*(y''*cos(a) - x''*sin(a)) - 0.2*a'^2*(x''*cos(a) + y''*sin(a))`,"
     "`potential_energy`: `0.5*x^2`, `constraints`: [{`name`: `edge`, `equation`: `y'*cos(a) = x'*sin(a)`}]"},
};
/* clang-format on */
enum { SYSTEM_COUNT = sizeof systems / sizeof *systems };

typedef struct solution {
    double *a, *exerted, *lambda; /* n, n, m */
} solution;

static hamel_model *model_of(const agreement_system *s, const char *wanted) {
    char simulation[200];
    snprintf(simulation, sizeof simulation, "`stop`: 1, `formulation`: `%s`", wanted);
    return fixture_model(s->members, simulation);
}

static solution solution_create(const hamel_model *model) {
    solution s = {calloc(2 * model->n + model->m + 1, sizeof(double)), NULL, NULL};
    assert_non_null(s.a);
    s.exerted = s.a + model->n;
    s.lambda = s.exerted + model->n;
    return s;
}

/* Computes accelerations and total constraint forces at a state. The total is Aᵀλ or, if constraints have friction or
 * prescribed forces, the sum of ideal and nonideal forces. */
static void solve(dynamics *k, double t, const double *q, const double *v, const char *name, solution *out) {
    const hamel_model *model = k->model;
    hamel_error error = {0};
    hamel_status status = dynamics_evaluate(k, t, q, v, &error);
    if (status == HAMEL_OK) status = dynamics_accelerations(k, 0, 0, out->a, out->lambda, &error);
    if (status != HAMEL_OK) fail_msg("%s: %s", name, error.count ? error.faults[0].message : "no message");
    memset(out->exerted, 0, model->n * sizeof *out->exerted);
    for (size_t e = 0; e < model->dynamics.A.count; e++)
        out->exerted[model->dynamics.A.column[e]] +=
            k->values[model->dynamics.A.at + e] * out->lambda[model->dynamics.A.row[e]];
    for (size_t i = 0; (model->dynamics.nonideal || k->friction) && i < model->n; i++)
        out->exerted[i] = k->ideal[i] + k->nonideal[i];
}

/* Finds a consistent state near the initial state. The random change of the state is first projected onto the tangent
 * space of the constraints, so that redundant constraints stay consistent. */
static void random_state(dynamics *k, uint64_t *seed, double *t, double *q, double *v, const char *name) {
    const hamel_model *model = k->model;
    size_t n = model->n;
    double worst = INFINITY, *change = calloc(2 * n + 1, sizeof *change);
    assert_non_null(change);
    for (int i = 0; i < TRIES && !(worst < 1e-12); i++) {
        memcpy(q, model->q0, n * sizeof *q);
        memcpy(v, model->v0, n * sizeof *v);
        random_fill(seed, change, n, -0.4, 0.4);
        random_fill(seed, change + n, n, -1, 1);
        if (dynamics_evaluate(k, model->settings.start, q, v, NULL) != HAMEL_OK) continue;
        if (dynamics_project_direction(k, change, change + n) != HAMEL_OK) continue;
        for (size_t j = 0; j < n; j++) {
            q[j] += change[j];
            v[j] += change[n + j];
        }
        *t = random_between(seed, 0, 2);
        if (dynamics_project(k, *t, q, v, &worst, NULL) != HAMEL_OK) worst = INFINITY;
    }
    free(change);
    if (!(worst < 1e-12)) fail_msg("%s: no consistent state was found", name);
}

static double largest(const double *x, size_t count) {
    double most = 1;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void compare(const char *name, const char *what, const double *x, const double *y, size_t count) {
    double size = largest(y, count), worst = 0;
    for (size_t i = 0; i < count; i++) worst = fmax(worst, fabs(x[i] - y[i]) / size);
    if (!(worst < 1e-10)) fail_msg("%s: %s differ by %.3g", name, what, worst);
}

static void compare_at_states(const agreement_system *s, const char *wanted) {
    hamel_model *model = model_of(s, "lagrange"), *other_model = model_of(s, wanted);
    dynamics *k = dynamics_create(model), *other = dynamics_create(other_model);
    assert_true(k && other);
    solution expected = solution_create(model), found = solution_create(model);
    double *q = calloc(2 * model->n + 1, sizeof *q), t = 0;
    assert_non_null(q);
    uint64_t seed = 77;
    for (int i = 0; i < STATES; i++) {
        random_state(k, &seed, &t, q, q + model->n, s->name);
        solve(k, t, q, q + model->n, s->name, &expected);
        solve(other, t, q, q + model->n, s->name, &found);
        compare(s->name, "accelerations", found.a, expected.a, model->n);
        compare(s->name, "reactions", found.exerted, expected.exerted, model->n);
        compare(s->name, "multipliers", found.lambda, expected.lambda, model->m);
        assert_int_equal(motion_rank(&other->motion), motion_rank(&k->motion));
    }
    free(q), free(expected.a), free(found.a);
    dynamics_free(k), dynamics_free(other);
    hamel_model_free(model), hamel_model_free(other_model);
}

/* Compares accelerations, total constraint forces, and least-norm multipliers. */
static void assert_accelerations_agree(const char *wanted, unsigned without) {
    for (size_t i = 0; i < SYSTEM_COUNT; i++)
        if (!(systems[i].has & without)) compare_at_states(&systems[i], wanted);
}

/* Compares the trajectories of each method, with integration tolerances of 1e-10. */
static void assert_motions_agree(const char *wanted, unsigned without) {
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (size_t i = 0; i < SYSTEM_COUNT; i++) {
        if (systems[i].has & without) continue;
        for (size_t k = 0; k < 3; k++) {
            char simulation[300];
            const char *format = "`stop`: 1, `samples`: 11, `rtol`: 1e-10, `atol`: 1e-11, `method`: `%s`,"
                                 "`initialization`: `project`, `formulation`: `%s`";
            snprintf(simulation, sizeof simulation, format, methods[k], "lagrange");
            motion expected = motion_run(systems[i].members, simulation);
            snprintf(simulation, sizeof simulation, format, methods[k], wanted);
            motion found = motion_run(systems[i].members, simulation);
            char what[200];
            snprintf(what, sizeof what, "%s, %s", systems[i].name, methods[k]);
            assert_below(what, motion_difference(&found, &expected), k == 0 ? 1e-7 : 1e-5);
            motion_free(&expected);
            motion_free(&found);
        }
    }
}

static const struct {
    const char *name;
    unsigned without; /* properties of systems that the formulation does not support */
} formulations[] = {{"udwadia-kalaba", 0},
                    {"gauss", 0},
                    {"maggi", 0},
                    {"kane", HAS_LAGRANGIAN | HAS_ACCELERATION_ENERGY},
                    {"gibbs-appell", HAS_LAGRANGIAN},
                    {"boltzmann-hamel", HAS_ACCELERATION_ENERGY | HAS_NONLINEAR_CONSTRAINT},
                    {"hadamard", 0},
                    {"voronets", HAS_ACCELERATION_ENERGY | HAS_NONLINEAR_CONSTRAINT}};
enum { COUNT = sizeof formulations / sizeof *formulations };

static void accelerations_and_reactions_agree_with_lagrange(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT; i++) assert_accelerations_agree(formulations[i].name, formulations[i].without);
}

static void trajectories_agree_with_lagrange(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT; i++) assert_motions_agree(formulations[i].name, formulations[i].without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_and_reactions_agree_with_lagrange),
        cmocka_unit_test(trajectories_agree_with_lagrange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
