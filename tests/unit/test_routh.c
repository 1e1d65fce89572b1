/* test_routh.c — engine/mechanics/routh.c, cyclic.c and engine/dynamics/noncyclic.c. Compares Routh's equations with
 * explicit Routhians, and trajectories with Lagrange's equations. Also tests the detection of cyclic coordinates. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include "engine/dynamics/variables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct reduced {
    size_t count;
    double w[8], rates[8], v[8], a[8];
} reduced;

/* Computes the variables w of Routh's equations and their rates at (t, q, v). Then computes all velocities, including
 * cyclic velocities, from w, and all accelerations from the rates. */
static reduced reduced_at(const char *members, double t, const double *q, const double *v) {
    reduced r = {0};
    hamel_error error = {0};
    hamel_model *model = fixture_model(members, "`stop`: 1, `formulation`: `routh`");
    dynamics *k = dynamics_create(model);
    double lambda[8];
    assert_non_null(k);
    assert_true(model->n <= 8 && model->m <= 8);
    variables *x = variables_create(k, t, q, v, &error);
    assert_non_null(x);
    r.count = variables_count(x);
    assert_int_equal(variables_from_velocities(x, t, q, v, r.w), HAMEL_OK);
    assert_int_equal(variables_velocities(x, t, q, r.w, r.v, &error), HAMEL_OK);
    assert_int_equal(dynamics_evaluate(k, t, q, r.v, &error), HAMEL_OK);
    assert_int_equal(dynamics_accelerations(k, 0, 0, r.a, lambda, &error), HAMEL_OK);
    assert_int_equal(variables_rates(x, r.a, lambda, r.rates), HAMEL_OK);
    memset(r.a, 0, sizeof r.a);
    assert_int_equal(variables_accelerations(x, r.rates, r.a), HAMEL_OK);
    variables_free(x);
    dynamics_free(k);
    hamel_model_free(model);
    return r;
}

/* R = ½ m r'² − β²/(2 m r²) − 5r, so m r'' = β²/(m r³) − 5 and φ' = β/(m r²). */
static void a_central_field_has_the_centrifugal_potential(void **state) {
    (void)state;
    const char *system = "`coordinates`: [{`name`: `r`, `initial`: 1}, `phi`], `potential_energy`: `5*r`,"
                         "`kinetic_energy`: `2*(r'^2 + r^2*phi'^2)/2`";
    double q[] = {0.8, 33}, v[] = {-0.3, 1.7}, beta = 2 * 0.64 * 1.7;
    reduced r = reduced_at(system, 0, q, v);
    assert_int_equal(r.count, 1);
    assert_near("w", r.w[0], -0.3, 1e-15);
    assert_near("w'", r.rates[0], beta * beta / (4 * 0.512) - 2.5, 1e-14);
    assert_near("cyclic velocity", r.v[1], beta / (2 * 0.64), 1e-15);
    assert_near("cyclic acceleration", r.a[1], -2 * v[0] * v[1] / q[0], 1e-14);
}

/* In a frame that rotates at the rate t: p = r² (φ' + t) = β, R = ½ r'² − β²/(2 r²) + β t − V. */
static void cyclic_velocities_are_eliminated_from_linear_terms_with_time(void **state) {
    (void)state;
    const char *system = "`coordinates`: [{`name`: `r`, `initial`: 1}, `phi`], `potential_energy`: `r^2`,"
                         "`kinetic_energy`: `(r'^2 + r^2*(phi' + t)^2)/2`";
    double q[] = {1.2, 0}, v[] = {0.4, 0.5}, beta = 1.44 * (0.5 + 3);
    reduced r = reduced_at(system, 3, q, v);
    assert_near("w'", r.rates[0], beta * beta / (1.44 * 1.2) - 2.4, 1e-14);
    assert_near("cyclic velocity", r.v[1], 0.5, 1e-14);
    assert_near("cyclic acceleration", r.a[1], -1 - 2 * 0.4 * 3.5 / 1.2, 1e-14); /* (r² (φ' + t))' = 0 */
}

/* L = −4 √(1 − v²/4) + 1/r, so β = γ r² φ'. Newton's method must find φ' at a speed close to the limit 2. */
static void a_relativistic_orbit_is_eliminated_by_newton(void **state) {
    (void)state;
    const char *system = "`coordinates`: [{`name`: `r`, `initial`: 1}, `phi`],"
                         "`lagrangian`: `-4*sqrt(1 - (r'^2 + r^2*phi'^2)/4) + 1/r`";
    double q[] = {1.5, 0}, v[] = {1.1, 1.09};
    reduced r = reduced_at(system, 0, q, v);
    assert_near("cyclic velocity", r.v[1], 1.09, 1e-13);
}

static const struct {
    const char *name, *system, *momenta[3];
    double stop;
} systems[] = {
    {"heavy top",
     "`coordinates`: [{`name`: `phi`}, {`name`: `th`, `initial`: 0.5}, {`name`: `psi`, `velocity`: 20}],"
     "`kinetic_energy`: `(th'^2 + sin(th)^2*phi'^2 + 0.5*(psi' + phi'*cos(th))^2)/2`,"
     "`potential_energy`: `6*cos(th)`,"
     "`outputs`: {`p1`: `momentum(phi)`, `p2`: `momentum(psi)`, `h`: `jacobi_integral()`}",
     {"p1", "p2"},
     10},
    /* psi is cyclic only because sin² + cos² = 1 */
    {"top as a body",
     "`coordinates`: [{`name`: `phi`}, {`name`: `th`, `initial`: 0.5}, {`name`: `psi`, `velocity`: 20}],"
     "`bodies`: [{`name`: `T`, `mass`: 1, `inertia`: [0.8, 0.8, 0.5],"
     "  `position`: [`sin(phi)*sin(th)/2`, `-cos(phi)*sin(th)/2`, `cos(th)/2`],"
     "  `orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`phi`, `th`, `psi`]}}}], `gravity`: [0, 0, -9.81],"
     "`outputs`: {`p1`: `momentum(phi)`, `p2`: `momentum(psi)`, `h`: `jacobi_integral()`}",
     {"p1", "p2"},
     5},
    {"relativistic orbit",
     "`coordinates`: [{`name`: `r`, `initial`: 1}, {`name`: `phi`, `velocity`: 1.2}],"
     "`lagrangian`: `-9*sqrt(1 - (r'^2 + r^2*phi'^2)/9) + 1/r`,"
     "`outputs`: {`p1`: `momentum(phi)`, `h`: `jacobi_integral()`}",
     {"p1"},
     20},
    {"on a paraboloid",
     "`coordinates`: [{`name`: `r`, `initial`: 1}, {`name`: `phi`, `velocity`: 1}, {`name`: `z`, `initial`: 0.5}],"
     "`kinetic_energy`: `(r'^2 + r^2*phi'^2 + z'^2)/2`, `potential_energy`: `9.81*z`,"
     "`constraints`: [{`name`: `s`, `equation`: `z = r^2/2`}],"
     "`outputs`: {`p1`: `momentum(phi)`, `h`: `jacobi_integral()`, `l`: `lambda(s)`}",
     {"p1"},
     10},
    {"free particle and an oscillator of increasing mass",
     "`coordinates`: [{`name`: `x`, `velocity`: 3}, {`name`: `y`, `initial`: 1}],"
     "`kinetic_energy`: `(x'^2 + (1 + t)*y'^2)/2`, `potential_energy`: `y^2`,"
     "`outputs`: {`p1`: `momentum(x)`}",
     {"p1"},
     10},
    {"all free",
     "`coordinates`: [{`name`: `x`, `velocity`: 3}, {`name`: `y`, `velocity`: -1}],"
     "`kinetic_energy`: `x'^2 + x'*y' + (2 + sin(t))*y'^2`,"
     "`outputs`: {`p1`: `momentum(x)`, `p2`: `momentum(y)`}",
     {"p1", "p2"},
     10},
};

static void trajectories_agree_with_lagrange_and_momenta_are_constant(void **state) {
    (void)state;
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        for (size_t k = 0; k < 3; k++) {
            char simulation[300], what[100];
            const char *format = "`stop`: %g, `rtol`: 1e-10, `atol`: 1e-12, `method`: `%s`, `formulation`: `%s`";
            snprintf(simulation, sizeof simulation, format, systems[i].stop, "adams", "lagrange");
            motion expected = motion_run(systems[i].system, simulation);
            snprintf(simulation, sizeof simulation, format, systems[i].stop, methods[k], "routh");
            motion found = motion_run(systems[i].system, simulation);
            snprintf(what, sizeof what, "%s by %s", systems[i].name, methods[k]);
            assert_below(what, motion_difference(&expected, &found), 1e-6);
            for (size_t p = 0; systems[i].momenta[p]; p++) {
                snprintf(what, sizeof what, "%s by %s: drift of %s", systems[i].name, methods[k],
                         systems[i].momenta[p]);
                assert_below(what, motion_drift(&found, systems[i].momenta[p]), 2e-14);
            }
            motion_free(&expected);
            motion_free(&found);
        }
}

static void the_energy_of_the_top_is_conserved(void **state) {
    (void)state;
    motion m = motion_run(systems[0].system, "`stop`: 100, `rtol`: 1e-10, `atol`: 1e-12, `formulation`: `routh`");
    assert_below("drift of h", motion_drift(&m, "h"), 1e-7);
    motion_free(&m);
}

/* If an event changes a cyclic velocity, the motion continues with a new momentum. Here φ' increases by 1 when r
 * crosses 1. */
static void events_change_the_constant_momenta(void **state) {
    (void)state;
    const char *system = "`coordinates`: [{`name`: `r`, `initial`: 0.8}, {`name`: `phi`, `velocity`: 2}],"
                         "`kinetic_energy`: `(r'^2 + r^2*phi'^2)/2`, `potential_energy`: `r^2`,"
                         "`events`: [{`name`: `kick`, `when`: `r - 1`, `direction`: `rising`,"
                         "            `set`: {`phi'`: `phi' + 1`}}], `outputs`: {`p`: `momentum(phi)`}";
    motion expected = motion_run(system, "`stop`: 3, `rtol`: 1e-10, `atol`: 1e-12");
    motion found = motion_run(system, "`stop`: 3, `rtol`: 1e-10, `atol`: 1e-12, `formulation`: `routh`");
    motion canonical = motion_run(system, "`stop`: 3, `rtol`: 1e-10, `atol`: 1e-12, `formulation`: `hamilton`");
    assert_true(motion_drift(&found, "p") > 0.9);
    assert_below("routh", motion_difference(&expected, &found), 1e-7);
    assert_below("hamilton", motion_difference(&expected, &canonical), 1e-7);
    motion_free(&expected);
    motion_free(&found);
    motion_free(&canonical);
}

/* --- cyclic coordinates ------------------------------------------------------------------------------------------- */

static void expect_refusal(const char *members, const char *reason) {
    fixture f;
    hamel_model *model = NULL;
    fixture_read(&f, members, "`stop`: 1, `formulation`: `routh`");
    assert_int_equal(hamel_model_create(&model, &f.description, NULL, NULL, &f.error), HAMEL_INVALID);
    if (!fixture_says(&f, reason)) fail_msg("%s", f.error.count ? f.error.faults[0].message : "no message");
    assert_true(fixture_says(&f, "use one of lagrange"));
    fixture_close(&f);
}

static void reasons_against_cyclic_coordinates_are_reported(void **state) {
    (void)state;
    expect_refusal("`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `potential_energy`: `x`",
                   "`x` appears in the potential energy");
    expect_refusal("`coordinates`: [`x`], `kinetic_energy`: `(2 + sin(x))*x'^2`", "`x` appears in the kinetic energy");
    expect_refusal("`coordinates`: [`x`], `lagrangian`: `x'^2 - x`", "`x` appears in the lagrangian");
    expect_refusal("`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `generalized_forces`: {`x`: `-x'`}",
                   "`x` is driven by a force");
    expect_refusal("`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                   "`generalized_forces`: {`y`: `-x - y`}",
                   "`x` appears in the force on `y`");
    expect_refusal("`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                   "`constraints`: [{`name`: `c`, `equation`: `x' = 2*y'`}]",
                   "`x` is driven by the constraint `c`; `y` is driven by the constraint `c`");
}

/* If no coordinate is cyclic, the message lists the three coordinates with the fewest reasons that exclude them. */
static void the_nearest_candidates_come_first(void **state) {
    (void)state;
    expect_refusal(
        "`coordinates`: [`a`, `b`], `kinetic_energy`: `(1 + b^2)*a'^2 + b'^2`, `potential_energy`: `a + b`,"
        "`dissipation`: `b'^2`",
        "conserved: `a` appears in the potential energy; `b` appears in the energies and is driven by a force");
}

/* If a force is zero at all states near the initial state, or underflows there, its coordinate must not count as
 * cyclic. */
static void a_force_that_is_zero_near_the_start_counts(void **state) {
    (void)state;
    expect_refusal("`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `potential_energy`: `if(x > 5, (x - 5)^2, 0)`",
                   "`x` appears in the potential energy");
    expect_refusal("`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `potential_energy`: `exp(1000*(x - 5))`",
                   "`x` appears in the potential energy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_central_field_has_the_centrifugal_potential),
        cmocka_unit_test(cyclic_velocities_are_eliminated_from_linear_terms_with_time),
        cmocka_unit_test(a_relativistic_orbit_is_eliminated_by_newton),
        cmocka_unit_test(trajectories_agree_with_lagrange_and_momenta_are_constant),
        cmocka_unit_test(the_energy_of_the_top_is_conserved),
        cmocka_unit_test(events_change_the_constant_momenta),
        cmocka_unit_test(reasons_against_cyclic_coordinates_are_reported),
        cmocka_unit_test(the_nearest_candidates_come_first),
        cmocka_unit_test(a_force_that_is_zero_near_the_start_counts),
    };
    return cmocka_run_group_tests_name("routh", tests, NULL, NULL);
}
