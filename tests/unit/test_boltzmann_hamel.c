/* test_boltzmann_hamel.c — engine/mechanics/boltzmann_hamel.c, compared with Lagrange's equations and with Hamel
 * coefficients computed by hand. */
#include "engine/dynamics/dynamics.h"
#include "engine/dynamics/transitivity.h"
#include "tests/unit/agreement.h"
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { CANNOT_SERVE = HAS_ACCELERATION_ENERGY | HAS_NONLINEAR_CONSTRAINT };

static void accelerations_and_reactions_agree_with_lagrange(void **state) {
    (void)state;
    assert_accelerations_agree("boltzmann-hamel", CANNOT_SERVE);
}

static void trajectories_agree_with_lagrange(void **state) {
    (void)state;
    assert_motions_agree("boltzmann-hamel", CANNOT_SERVE);
}

/* Evaluates the system at a state and factors the basis there. */
static void take_state(transitivity *x, dynamics *k, double t, const double *q, const double *v) {
    const hamel_model *model = k->model;
    double a[3], lambda[3];
    assert_int_equal(model->n, 3);
    assert_int_equal(dynamics_evaluate(k, t, q, v, NULL), HAMEL_OK);
    assert_int_equal(dynamics_accelerations(k, 0, 0, a, lambda, NULL), HAMEL_OK);
    assert_int_equal(transitivity_evaluate(x, t, q, v), HAMEL_OK);
}

/* Greenwood, example 4.13: the edge rotates at the rate Ω relative to the rod, and u_3 is the velocity across the
 * edge. Of the coefficients γ^j_rl and γ^j_r with r, l ≤ 2, only γ³_12 = −1, γ³_21 = 1 and γ³_1 = −Ω do not vanish. */
static void coefficients_of_the_turning_knife_edge_are_those_of_greenwood(void **state) {
    (void)state;
    hamel_model *model =
        fixture_model("`parameters`: {`O`: 0.7}, `coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, `phi`],"
                      "`kinetic_energy`: `x'^2 + y'^2 + phi'^2/2 + phi'*(-x'*sin(phi) + y'*cos(phi))`,"
                      "`quasi_velocities`: [{`name`: `v`, `definition`: `x'*cos(phi + O*t) + y'*sin(phi + O*t)`},"
                      "  {`name`: `w`, `definition`: `phi'`}],"
                      "`constraints`: [{`name`: `edge`, `equation`: `-x'*sin(phi + O*t) + y'*cos(phi + O*t) = 0`}]",
                      "`stop`: 1, `formulation`: `boltzmann-hamel`");
    dynamics *k = dynamics_create(model);
    transitivity *x = transitivity_create(model, &k->discrete_state, &k->memory);
    assert_true(k && x);
    const double t = 0.6, q[3] = {0.3, -0.2, 0.9}, v[3] = {0.4, -1.1, 0.8};
    take_state(x, k, t, q, v);
    velocity_basis *basis = k->motion.basis;
    assert_int_equal(basis->freedom, 2);
    for (size_t j = 0; j < 3; j++)
        for (size_t r = 0; r < 2; r++) {
            double of_time = j == 2 && r == 0 ? -0.7 : 0;
            assert_near("time", transitivity_coefficient_of_time(x, basis, j, r), of_time, 1e-14);
            for (size_t l = 0; l < 2; l++) {
                double expected = j == 2 && r != l ? (r == 0 ? -1 : 1) : 0;
                assert_near("gamma", transitivity_coefficient(x, basis, j, r, l), expected, 1e-14);
            }
        }
    dynamics_free(k);
    hamel_model_free(model);
}

/* Angular velocity of a body in body axes: γ¹_23 = 1 cyclically, antisymmetric (Papastavridis, Analytical Mechanics,
 * example 2.13.9). */
static void coefficients_of_body_axes_are_those_of_the_rotation_group(void **state) {
    (void)state;
    hamel_model *model =
        fixture_model("`coordinates`: [`a`, {`name`: `b`, `initial`: 1}, `c`],"
                      "`quasi_velocities`: [{`name`: `w1`, `definition`: `a'*sin(b)*sin(c) + b'*cos(c)`},"
                      "  {`name`: `w2`, `definition`: `a'*sin(b)*cos(c) - b'*sin(c)`},"
                      "  {`name`: `w3`, `definition`: `a'*cos(b) + c'`}],"
                      "`kinetic_energy`: `w1^2 + 2*w2^2 + 3*w3^2`",
                      "`stop`: 1, `formulation`: `boltzmann-hamel`");
    dynamics *k = dynamics_create(model);
    transitivity *x = transitivity_create(model, &k->discrete_state, &k->memory);
    assert_true(k && x);
    const double q[3] = {0.3, 1.2, 0.9}, v[3] = {0.4, -1.1, 0.8};
    take_state(x, k, 0, q, v);
    for (size_t j = 0; j < 3; j++)
        for (size_t r = 0; r < 3; r++)
            for (size_t l = 0; l < 3; l++) {
                double expected = r == (j + 1) % 3 && l == (j + 2) % 3   ? 1
                                  : r == (j + 2) % 3 && l == (j + 1) % 3 ? -1
                                                                         : 0;
                assert_near("gamma", transitivity_coefficient(x, k->motion.basis, j, r, l), expected, 1e-14);
            }
    dynamics_free(k);
    hamel_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_and_reactions_agree_with_lagrange),
        cmocka_unit_test(trajectories_agree_with_lagrange),
        cmocka_unit_test(coefficients_of_the_turning_knife_edge_are_those_of_greenwood),
        cmocka_unit_test(coefficients_of_body_axes_are_those_of_the_rotation_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
