/* test_hamilton.c — engine/mechanics/hamilton.c and engine/dynamics/momenta.c: canonical equations against explicit
 * Hamiltonians, and trajectories against Lagrange's equations. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include "engine/dynamics/variables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The momenta p at a state (t, q, v), the velocities recomputed from p and a guess, the rates p', and the
 * accelerations. */
typedef struct canonical {
    double p[8], v[8], rates[8], a[8];
} canonical;

static canonical canonical_at(const char *members, double t, const double *q, const double *v, const double *guess) {
    canonical c = {{0}, {0}, {0}, {0}};
    hamel_error error = {0};
    hamel_model *model = fixture_model(members, "`stop`: 1, `formulation`: `hamilton`");
    dynamics *k = dynamics_create(model);
    double lambda[8];
    size_t n = model->n;
    assert_non_null(k);
    assert_true(n <= 8 && model->m <= 8);
    variables *x = variables_create(k, t, q, v, &error);
    assert_non_null(x);
    assert_int_equal(variables_count(x), n);
    assert_int_equal(variables_from_velocities(x, t, q, v, c.p), HAMEL_OK);
    memcpy(c.v, guess, n * sizeof *guess);
    assert_int_equal(variables_velocities(x, t, q, c.p, c.v, &error), HAMEL_OK);
    assert_int_equal(dynamics_evaluate(k, t, q, c.v, &error), HAMEL_OK);
    assert_int_equal(dynamics_accelerations(k, 0, 0, c.a, lambda, &error), HAMEL_OK);
    assert_int_equal(variables_rates(x, c.a, lambda, c.rates), HAMEL_OK);
    variables_free(x);
    dynamics_free(k);
    hamel_model_free(model);
    return c;
}

/* H = pθ²/2 + pφ²/(2 sin²θ) + 3 cos θ: θ' = pθ, φ' = pφ/sin²θ, pθ' = pφ² cos θ/sin³θ + 3 sin θ, pφ' = 0. */
static void a_spherical_pendulum_follows_its_hamiltonian(void **state) {
    (void)state;
    const char *system = "`coordinates`: [{`name`: `th`, `initial`: 1}, `phi`],"
                         "`kinetic_energy`: `(th'^2 + sin(th)^2*phi'^2)/2`, `potential_energy`: `3*cos(th)`";
    double q[] = {1.1, 0.4}, v[] = {0.3, -0.7}, zero[] = {0, 0}, s = sin(1.1);
    canonical c = canonical_at(system, 0, q, v, zero);
    assert_near("p_th", c.p[0], 0.3, 1e-15);
    assert_near("p_phi", c.p[1], -0.7 * s * s, 1e-15);
    assert_near("th'", c.v[0], 0.3, 1e-15);
    assert_near("phi'", c.v[1], -0.7, 1e-15);
    assert_near("rate of p_th", c.rates[0], c.p[1] * c.p[1] * cos(1.1) / (s * s * s) + 3 * s, 1e-14);
    assert_near("rate of p_phi", c.rates[1], 0, 1e-15);
}

/* A charge in a field that grows with time: L = v²/2 + t(x y' − y x')/2 − x², with a damper on x. Then p = v + t(−y,
 * x)/2, H = (p − t(−y, x)/2)²/2 + x², px' = t y'/2 − 2x − 0.1x', py' = −t x'/2. */
static void terms_linear_in_the_velocities_contribute_to_momenta(void **state) {
    (void)state;
    const char *system = "`coordinates`: [`x`, `y`], `dissipation`: `0.05*x'^2`,"
                         "`lagrangian`: `(x'^2 + y'^2)/2 + t*(x*y' - y*x')/2 - x^2`";
    double q[] = {0.5, -0.2}, v[] = {1.5, 2}, guess[] = {-9, 30};
    canonical c = canonical_at(system, 3, q, v, guess);
    assert_near("p_x", c.p[0], 1.5 + 0.3, 1e-15);
    assert_near("p_y", c.p[1], 2 + 0.75, 1e-15);
    assert_near("x'", c.v[0], 1.5, 1e-15);
    assert_near("y'", c.v[1], 2, 1e-15);
    assert_near("rate of p_x", c.rates[0], 3 * 2 / 2.0 - 1 - 0.15, 1e-15);
    assert_near("rate of p_y", c.rates[1], -3 * 1.5 / 2, 1e-15);
}

/* L = −9 √(1 − v²/9) − 2x, so p = v/√(1 − v²/9). From any initial guess with a speed below 3, Newton's method must find
 * the inverse v = p/√(1 + p²/9). */
static void a_lagrangian_that_is_not_quadratic_is_inverted_by_newton(void **state) {
    (void)state;
    const char *system = "`coordinates`: [`x`, `y`], `lagrangian`: `-9*sqrt(1 - (x'^2 + y'^2)/9) - 2*x`";
    double q[] = {0, 0}, speeds[] = {0.1, 1.5, 2.9, 2.999999}, guesses[][2] = {{0, 0}, {-2.9, 0.5}, {1, 2.8}};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 3; k++) {
            double v[] = {0.6 * speeds[i], -0.8 * speeds[i]};
            canonical c = canonical_at(system, 0, q, v, guesses[k]);
            double gamma = 1 / sqrt(1 - speeds[i] * speeds[i] / 9);
            assert_near("p_x", c.p[0] / gamma, v[0], 1e-9);
            assert_near("x'", c.v[0], v[0], 1e-14);
            assert_near("y'", c.v[1], v[1], 1e-14);
            assert_near("rate of p_x", c.rates[0], -2, 1e-15);
        }
}

/* Constant force 2 from rest: x = (c²/2) (√(1 + (2t/c)²) − 1) for mass 1 and c = 3 (Goldstein 7.10). */
static double hyperbolic(double t, const double *p) {
    return p[0] * p[0] / 2 * (sqrt(1 + 4 * t * t / (p[0] * p[0])) - 1);
}

static void a_relativistic_rocket_follows_its_closed_form(void **state) {
    (void)state;
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (size_t i = 0; i < 3; i++) {
        char simulation[200];
        double c = 3;
        snprintf(simulation, sizeof simulation,
                 "`stop`: 20, `rtol`: 1e-10, `atol`: 1e-12, `formulation`: `hamilton`, `method`: `%s`", methods[i]);
        motion m = motion_run("`coordinates`: [`x`], `lagrangian`: `-9*sqrt(1 - x'^2/9) + 2*x`", simulation);
        assert_below("distance from the hyperbola", motion_distance(&m, "x", hyperbolic, &c), 1e-7);
        motion_free(&m);
    }
}

/* Even if the momenta are inconsistent, the velocities ∂H/∂p satisfy the constraints of a rod and of a quaternion with
 * a singular mass matrix. */
static void velocities_satisfy_the_constraints_for_any_momenta(void **state) {
    (void)state;
    hamel_error error = {0};
    hamel_model *model = fixture_model(
        "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`, {`name`: `e0`, `initial`: 1}, `e1`, `e2`, `e3`],"
        "`bodies`: [{`name`: `B`, `mass`: 2, `position`: [`x`, `y`, `0`], `inertia`: [1, 2, 3],"
        "            `orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]}}],"
        "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1 + t`}]",
        "`stop`: 1, `formulation`: `hamilton`");
    dynamics *k = dynamics_create(model);
    double q[] = {0.6, 0.8, 0.5, 0.5, -0.5, 0.5}, p[] = {1, 2, 3, 4, 5, 6}, v[6] = {0.3125, 0.390625};
    assert_non_null(k);
    variables *x = variables_create(k, 0, q, v, &error);
    assert_non_null(x);
    assert_true(variables_meet_constraints(x));
    assert_int_equal(variables_velocities(x, 0, q, p, v, &error), HAMEL_OK);
    assert_near("rod", 2 * (q[0] * v[0] + q[1] * v[1]), 1, 1e-14);
    assert_near("norm", q[2] * v[2] + q[3] * v[3] + q[4] * v[4] + q[5] * v[5], 0, 1e-14);
    assert_near("velocity perpendicular to the rod", -q[1] * v[0] + q[0] * v[1], (-q[1] * 1 + q[0] * 2) / 2, 1e-14);
    variables_free(x);
    dynamics_free(k);
    hamel_model_free(model);
}

/* These systems contain each term by which canonical equations can differ from Lagrange's equations. */
static const struct {
    const char *name, *system;
    double stop;
} systems[] = {
    {"foucault pendulum",
     "`parameters`: {`w`: 0.7}, `coordinates`: [{`name`: `x`, `initial`: 0.4}, {`name`: `y`, `velocity`: 0.2}],"
     "`kinetic_energy`: `((x' - w*y)^2 + (y' + w*x)^2)/2`, `potential_energy`: `3*(x^2 + y^2)`,"
     "`outputs`: {`h`: `jacobi_integral()`}",
     20},
    {"parametric pendulum",
     "`coordinates`: [{`name`: `a`, `initial`: 0.5}],"
     "`kinetic_energy`: `(1 + 0.3*sin(2*t))^2*a'^2/2`, `potential_energy`: `-9*cos(a)`",
     10},
    {"rod",
     "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `9.81*y`,"
     "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}], `outputs`: {`l`: `lambda(rod)`}",
     10},
    {"knife edge on an incline",
     "`coordinates`: [`x`, `y`, {`name`: `phi`, `velocity`: 1}],"
     "`kinetic_energy`: `(x'^2 + y'^2 + phi'^2 + 0.6*phi'*(y'*cos(phi) - x'*sin(phi)))/2`,"
     "`potential_energy`: `-2*x`, `constraints`: [{`name`: `e`, `equation`: `x'*sin(phi) = y'*cos(phi)`}]",
     8},
    {"collar with friction that depends on the reaction",
     "`coordinates`: [{`name`: `x`, `velocity`: 2}, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
     "`potential_energy`: `9.81*y`, `generalized_forces`: {`x`: `-0.1*abs(lambda(w))*tanh(20*x')`},"
     "`constraints`: [{`name`: `w`, `equation`: `y = 0.1*x^2`}]",
     3},
    {"prescribed work",
     "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: 3}],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2`,"
     "`constraints`: [{`name`: `r`, `equation`: `x^2 + y^2 = 1`,"
     " `nonideal`: {`x`: `-0.2*abs(ideal(x))*x'`, `y`: `-0.2*abs(ideal(y))*y'`}}],"
     "`outputs`: {`n`: `nonideal(x)`}",
     4},
    {"acceleration constraint",
     "`coordinates`: [`x`, {`name`: `y`, `velocity`: 1}],"
     "`kinetic_energy`: `x'^2 + y'^2/2`, `potential_energy`: `2*y`,"
     "`constraints`: [{`name`: `a`, `equation`: `x'' = sin(t)*y' + 0.1*y''`}]",
     5},
    {"appell's constraint",
     "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, {`name`: `z`, `velocity`: -0.5}],"
     "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`, `potential_energy`: `9.81*z`,"
     "`constraints`: [{`name`: `a`, `equation`: `z'^2 = 0.25*(x'^2 + y'^2)`}]",
     2},
    {"cubic constraint", /* some Newton steps increase the residual of the momenta */
     "`coordinates`: [{`name`: `x`, `initial`: -0.7, `velocity`: 1.125}, {`name`: `y`, `initial`: 0.2, `velocity`: "
     "0.5}],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `x^2 + y`,"
     "`constraints`: [{`name`: `c`, `equation`: `y'^3 + 0.2*x' + 0.5*x = 0`}]",
     3},
    {"constraint with a square root, not differentiable at rest",
     "`coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `velocity`: 1}],"
     "`kinetic_energy`: `(x'^2 + y'^2)/2*(1 + x^2)`,"
     "`constraints`: [{`name`: `c`, `equation`: `sqrt(x'^2 + y'^2) - x' = sqrt(2) - 1`}]",
     2},
    {"spinning body",
     "`coordinates`: [{`name`: `e0`, `initial`: 1}, {`name`: `e1`, `velocity`: 0.05},"
     " {`name`: `e2`, `velocity`: 0.5}, {`name`: `e3`, `velocity`: 0.01}, `x`, `y`, `z`],"
     "`bodies`: [{`name`: `B`, `mass`: 1, `position`: [`x`, `y`, `z`], `inertia`: [1, 2, 3],"
     " `orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]}}], `gravity`: [0, 0, -9.81]",
     6},
};

static void trajectories_agree_with_lagrange(void **state) {
    (void)state;
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        for (size_t k = 0; k < 3; k++) {
            char simulation[300], what[100];
            const char *format = "`stop`: %g, `rtol`: 1e-9, `atol`: 1e-11, `method`: `%s`, `formulation`: `%s`";
            snprintf(simulation, sizeof simulation, format, systems[i].stop, "adams", "lagrange");
            motion expected = motion_run(systems[i].system, simulation);
            snprintf(simulation, sizeof simulation, format, systems[i].stop, methods[k], "hamilton");
            motion found = motion_run(systems[i].system, simulation);
            snprintf(what, sizeof what, "%s by %s", systems[i].name, methods[k]);
            assert_below(what, motion_difference(&expected, &found), 1e-6);
            assert_below("position residual", found.position_residual, 1e-9);
            assert_below("velocity residual", found.velocity_residual, 1e-9);
            motion_free(&expected);
            motion_free(&found);
        }
}

static void the_hamiltonian_is_conserved(void **state) {
    (void)state;
    motion m = motion_run(systems[0].system, "`stop`: 200, `rtol`: 1e-10, `atol`: 1e-12, `formulation`: `hamilton`");
    assert_below("drift of H", motion_drift(&m, "h"), 1e-8);
    motion_free(&m);
}

/* Compares the change of q' due to changes of q and p, and q'' computed from p', with central differences. Also checks
 * that the change of p follows from the changes of q and q'. */
static void derivatives_of_the_maps_agree_with_differences(void **state) {
    (void)state;
    hamel_error error = {0};
    hamel_model *model = fixture_model("`coordinates`: [`x`, `y`],"
                                       "`lagrangian`: `(1 + x^2 + t*y)*(x'^2 + x'*y' + 2*y'^2) + 0.3*x'^4 + x*y'`",
                                       "`stop`: 1, `formulation`: `hamilton`");
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    double q[] = {0.3, 0.2}, v[] = {0.7, -0.4}, w[2], h = 1e-5;
    variables *x = variables_create(k, 0.5, q, v, &error);
    assert_non_null(x);
    assert_int_equal(variables_from_velocities(x, 0.5, q, v, w), HAMEL_OK);
    double dq[] = {1, -2}, dw[] = {0.5, 3}, dv[2], back[2], side[2][2], a[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        double e = i ? h : -h, at[] = {q[0] + e * dq[0], q[1] + e * dq[1]}, to[] = {w[0] + e * dw[0], w[1] + e * dw[1]};
        memcpy(side[i], v, sizeof v);
        assert_int_equal(variables_velocities(x, 0.5, at, to, side[i], &error), HAMEL_OK);
    }
    assert_int_equal(variables_from_velocities(x, 0.5, q, v, w), HAMEL_OK);
    assert_int_equal(variables_velocity_change(x, dq, dw, dv), HAMEL_OK);
    for (int i = 0; i < 2; i++) assert_near("dv", dv[i], (side[1][i] - side[0][i]) / (2 * h), 1e-8);
    assert_int_equal(variables_change(x, dq, dv, back), HAMEL_OK);
    for (int i = 0; i < 2; i++) assert_near("dw", back[i], dw[i], 1e-13);
    for (int i = 0; i < 2; i++) {
        double e = i ? h : -h, at[] = {q[0] + e * v[0], q[1] + e * v[1]}, to[] = {w[0] + e * dw[0], w[1] + e * dw[1]};
        memcpy(side[i], v, sizeof v);
        assert_int_equal(variables_velocities(x, 0.5 + e, at, to, side[i], &error), HAMEL_OK);
    }
    assert_int_equal(variables_from_velocities(x, 0.5, q, v, w), HAMEL_OK);
    assert_int_equal(variables_accelerations(x, dw, a), HAMEL_OK);
    for (int i = 0; i < 2; i++) assert_near("a", a[i], (side[1][i] - side[0][i]) / (2 * h), 1e-8);
    variables_free(x);
    dynamics_free(k);
    hamel_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spherical_pendulum_follows_its_hamiltonian),
        cmocka_unit_test(terms_linear_in_the_velocities_contribute_to_momenta),
        cmocka_unit_test(a_lagrangian_that_is_not_quadratic_is_inverted_by_newton),
        cmocka_unit_test(a_relativistic_rocket_follows_its_closed_form),
        cmocka_unit_test(velocities_satisfy_the_constraints_for_any_momenta),
        cmocka_unit_test(trajectories_agree_with_lagrange),
        cmocka_unit_test(the_hamiltonian_is_conserved),
        cmocka_unit_test(derivatives_of_the_maps_agree_with_differences),
    };
    return cmocka_run_group_tests_name("hamilton", tests, NULL, NULL);
}
