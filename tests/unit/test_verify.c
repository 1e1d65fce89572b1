/* test_verify.c — engine/analyze/verify.c: the size of differences between formulations, and the choice of states. */
#include "tests/unit/fixture.h"

#include "engine/analyze/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static hamel_verification *verification_of(const char *members, const char *simulation) {
    fixture f;
    hamel_verification *v = NULL;
    fixture_read(&f, members, simulation);
    hamel_status status = hamel_verify(&v, &f.description, NULL, NULL, &f.error);
    if (status != HAMEL_OK) fail_msg("verification: %s", f.error.count ? f.error.faults[0].message : "no message");
    fixture_close(&f);
    return v;
}

static bool compares(const hamel_verification *v, const char *name) {
    for (size_t i = 0; i < v->compared_count; i++)
        if (strcmp(v->compared[i].formulation, name) == 0) return true;
    return false;
}

static void formulations_agree_on_a_knife_edge_with_a_rod(void **state) {
    (void)state;
    hamel_verification *v =
        verification_of("`coordinates`: [`x`, `y`, {`name`: `phi`, `initial`: 0.3}, {`name`: `u`, `initial`: 2}, `w`],"
                        "`kinetic_energy`: `x'^2 + y'^2 + phi'^2/3 + u'^2 + w'^2`, `potential_energy`: `3*y + 2*w`,"
                        "`constraints`: [{`name`: `edge`, `equation`: `x'*sin(phi) = y'*cos(phi)`},"
                        "                {`name`: `rod`, `equation`: `(x-u)^2 + (y-w)^2 = 4`}]",
                        "`stop`: 3");
    assert_string_equal(v->compared[0].formulation, "lagrange");
    assert_true(compares(v, "udwadia-kalaba"));
    assert_int_equal(v->states, 100);
    assert_int_equal(v->singular, 0);
    assert_true(v->agree);
    assert_true(v->max_relative_difference > 0); /* rounding differs between the two solvers */
    /* no force acts on phi, so its rounding error is divided by the smallest scale */
    assert_true(v->max_relative_difference < 1e-11);
    hamel_verification_free(v);
}

/* Friction depends on the velocity of the light body. For masses 1 and 1e-13, the momenta determine only three digits
 * of this velocity. */
static void a_disagreement_is_found(void **state) {
    (void)state;
    hamel_verification *v = verification_of("`coordinates`: [`x`, `y`], `dissipation`: `(x'^2 + y'^2)/2`,"
                                            "`kinetic_energy`: `(x' + y')^2/2 + 1e-13*(x' - y')^2`",
                                            "`stop`: 1");
    assert_false(v->agree);
    assert_true(v->max_relative_difference > v->tolerance);
    assert_true(v->max_relative_difference <= 1);
    hamel_verification_free(v);
}

static void an_inapplicable_formulation_is_reported_with_its_reason(void **state) {
    (void)state;
    hamel_verification *v = verification_of("`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `potential_energy`: `x^2`",
                                            "`stop`: 1, `formulation`: `routh`");
    const char *reason = NULL;
    for (size_t i = 0; i < v->refused_count; i++)
        if (strcmp(v->refused[i].formulation, "routh") == 0) reason = v->refused[i].reason;
    assert_false(compares(v, "routh"));
    assert_non_null(reason);
    assert_non_null(strstr(reason, "`x` appears in the potential energy"));
    assert_true(v->agree);
    hamel_verification_free(v);
}

static void without_unique_accelerations_anywhere_there_is_no_verdict(void **state) {
    (void)state;
    fixture f;
    hamel_verification *v = NULL;
    fixture_read(&f, "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2`, `potential_energy`: `y^2`", "`stop`: 1");
    assert_int_equal(hamel_verify(&v, &f.description, NULL, NULL, &f.error), HAMEL_SINGULAR);
    assert_null(v);
    assert_true(fixture_says(&f, "singular"));
    fixture_close(&f);
}

static void singular_states_are_skipped_and_counted(void **state) {
    (void)state;
    hamel_verification *v = verification_of("`coordinates`: [`x`, `y`],"
                                            "`kinetic_energy`: `if(x > 0.1, x'^2, 0) + y'^2`,"
                                            "`potential_energy`: `x^2 + y^2`",
                                            "`stop`: 1");
    assert_int_equal(v->states + v->singular, 100);
    assert_true(v->states > 20 && v->singular > 20);
    assert_true(v->agree);
    hamel_verification_free(v);
}

/* A platform on three parallel cranks. The constraints are redundant only if the platform is level. Random states may
 * be close to the level position but are not exactly at this position. */
static void states_with_nearly_dependent_constraints_are_not_compared(void **state) {
    (void)state;
    hamel_verification *v = verification_of(
        "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}, `phi`],"
        "`kinetic_energy`: `(x'^2 + y'^2)/2 + phi'^2/9`, `potential_energy`: `9.81*y`,"
        "`constraints`: [{`name`: `a`, `equation`: `(x - cos(phi)/2 + 1/2)^2 + (y - sin(phi)/2)^2 = 1`},"
        "                {`name`: `b`, `equation`: `x^2 + y^2 = 1`},"
        "                {`name`: `c`, `equation`: `(x + cos(phi)/2 - 1/2)^2 + (y + sin(phi)/2)^2 = 1`}]",
        "`stop`: 1");
    assert_int_equal(v->states + v->singular, 100);
    assert_true(v->states > 90);
    assert_true(v->agree);
    assert_true(v->max_relative_difference < 1e-10);
    hamel_verification_free(v);
}

/* A constraint such as z'^2 + x'^2 = w'^2 describes a cone of velocities. At its apex, where the velocities vanish, the
 * gradient vanishes and the motion is undefined. States that are projected to the apex must not be compared. The first
 * two systems have other states near the initial state. The third system has no other states, because its second
 * constraint implies w'^2 <= (x'^2 + z'^2)/9. */
static void apexes_of_cones_are_left_out(void **state) {
    (void)state;
    static const char *const coordinates =
        "`coordinates`: [{`name`: `x`, `initial`: 0.1}, {`name`: `y`, `initial`: 0.3,"
        "`velocity`: 0.4}, `z`, `w`], `potential_energy`: `x^2 + y^2`,";
    static const char *const rest[] = {
        "`kinetic_energy`: `(x'^2 + y'^2 + z'^2 + w'^2)/2 + 0.2*x'*y'`, `constraints`: [{`name`: `c`, `equation`:"
        "`z'^2 + x'^2 - w'^2 = 0`}, {`name`: `l`, `equation`: `w' + x'*(0.2 + x) + z'*y = 0`}]",
        "`kinetic_energy`: `x'^2 + y'^2 + z'^2/3 + w'^2`, `constraints`: [{`name`: `c`, `equation`:"
        "`z'^2 + 4*x'^2 - w'^2 = 0`}, {`name`: `l`, `equation`: `y' + x'*y = 0`}]",
    };
    char members[1024];
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
        snprintf(members, sizeof members, "%s%s", coordinates, rest[k]);
        hamel_verification *v = verification_of(members, "`stop`: 1, `initialization`: `project`");
        assert_int_equal(v->states + v->singular, 100);
        assert_true(v->states > 20);
        assert_true(v->agree);
        hamel_verification_free(v);
    }
    fixture f;
    hamel_verification *none = NULL;
    snprintf(members, sizeof members,
             "%s`kinetic_energy`: `x'^2 + y'^2 + z'^2 + w'^2`, `constraints`: [{`name`: `c`, `equation`:"
             "`z'^2 + x'^2 - w'^2 = 0`}, {`name`: `l`, `equation`: `3*w' + x'*cos(y) + z'*sin(y) = 0`}]",
             coordinates);
    fixture_read(&f, members, "`stop`: 1, `initialization`: `project`");
    assert_int_equal(hamel_verify(&none, &f.description, NULL, NULL, &f.error), HAMEL_INCOMPATIBLE);
    assert_true(fixture_says(&f, "all random states are singular, so no motion can be compared"));
    fixture_close(&f);
}

static void large_systems_are_compared_at_fewer_states(void **state) {
    (void)state;
    hamel_verification *v = verification_of(
        "`parameters`: {`N`: 300}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`, `initial`: `i`},"
        "                                          {`name`: `y[i]`, `for`: `i = 1..N`}],"
        "`kinetic_energy`: `sum(i, 1, N, x[i]'^2 + y[i]'^2)/2`, `potential_energy`: `sum(i, 1, N, y[i]*cos(x[i]))`",
        "`stop`: 1");
    assert_int_equal(v->states, 4);
    assert_int_equal(v->singular, 0);
    assert_true(v->agree);
    hamel_verification_free(v);
}

static void no_consistent_state_is_an_error(void **state) {
    (void)state;
    fixture f;
    hamel_verification *v = NULL;
    fixture_read(&f,
                 "`coordinates`: [`x`], `kinetic_energy`: `x'^2`,"
                 "`constraints`: [{`name`: `never`, `equation`: `x^2 = -1`}]",
                 "`stop`: 1");
    assert_int_equal(hamel_verify(&v, &f.description, NULL, NULL, &f.error), HAMEL_INCOMPATIBLE);
    assert_null(v);
    fixture_close(&f);
}

static void an_unknown_formulation_is_an_error(void **state) {
    (void)state;
    fixture f;
    hamel_verification *v = NULL;
    fixture_read(&f, "`coordinates`: [`x`], `kinetic_energy`: `x'^2`", "`stop`: 1, `formulation`: `lagrang`");
    assert_int_equal(hamel_verify(&v, &f.description, NULL, NULL, &f.error), HAMEL_INVALID);
    assert_true(fixture_says(&f, "unknown formulation `lagrang`"));
    fixture_close(&f);
}

/* The equations 2 x'' + y'' = 3 − 2 λ and x'' + 5 y'' = −1 + λ are evaluated at x'' = 4, y'' = −6, λ = 0.5. Their terms
 * have the sizes 8, 6, 3, 1 and 4, 30, 1, 0.5. */
static void differences_are_relative_to_the_terms_of_the_equations(void **state) {
    (void)state;
    hamel_model *model = fixture_model("`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + x'*y' + 5*y'^2/2`,"
                                       "`potential_energy`: `-3*x + y`,"
                                       "`constraints`: [{`name`: `c`, `equation`: `y = 2*x`}]",
                                       "`stop`: 1");
    dynamics *k = dynamics_create(model);
    double q[2] = {0, 0}, a[2] = {4, -6}, lambda[1] = {0.5}, force[2], mass[2], R[2] = {0, 0};
    assert_non_null(k);
    assert_int_equal(dynamics_evaluate(k, 0, q, q, NULL), HAMEL_OK);
    verify_scale scale = {.force = force, .mass = mass};
    verify_scale_of(k, a, lambda, &scale);
    assert_near("S_1", force[0], 18, 1e-15);
    assert_near("S_2", force[1], 35.5, 1e-15);
    assert_near("M_22", mass[1], 5, 1e-15);
    assert_near("largest acceleration", scale.a, 6, 1e-15);
    double moved[2] = {4, -6 + 7.1e-8}, reaction[2] = {1.8e-7, 0}, accelerations, reactions;
    verify_motion x = {moved, reaction}, reference = {a, R};
    verify_compare(2, &x, &reference, &scale, &accelerations, &reactions);
    assert_near("accelerations", 1e8 * accelerations, 1, 1e-7);
    assert_near("reactions", 1e8 * reactions, 1, 1e-7);
    dynamics_free(k);
    hamel_model_free(model);
}

static void vanishing_residuals_are_relative_to_forces_at_other_states(void **state) {
    (void)state;
    double zero[2] = {0, 0}, rounding[2] = {0, 1e-15}, force[2] = {100, 1e-4}, mass[2] = {1, 0};
    verify_motion x = {rounding, rounding}, reference = {zero, zero};
    verify_scale scale = {force, mass, 10};
    double accelerations, reactions;
    verify_compare(2, &x, &reference, &scale, &accelerations, &reactions);
    assert_near("acceleration without mass, relative to the largest acceleration", accelerations * 1e16, 1, 1e-12);
    assert_near("reactions", reactions * 1e11, 1, 1e-9);
    verify_compare(2, &reference, &reference, &(verify_scale){zero, mass, 0}, &accelerations, &reactions);
    assert_true(accelerations == 0 && reactions == 0);
    verify_compare(2, &x, &reference, &(verify_scale){zero, mass, 0}, &accelerations, &reactions);
    assert_true(accelerations == 1 && reactions == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulations_agree_on_a_knife_edge_with_a_rod),
        cmocka_unit_test(a_disagreement_is_found),
        cmocka_unit_test(an_inapplicable_formulation_is_reported_with_its_reason),
        cmocka_unit_test(without_unique_accelerations_anywhere_there_is_no_verdict),
        cmocka_unit_test(singular_states_are_skipped_and_counted),
        cmocka_unit_test(states_with_nearly_dependent_constraints_are_not_compared),
        cmocka_unit_test(apexes_of_cones_are_left_out),
        cmocka_unit_test(large_systems_are_compared_at_fewer_states),
        cmocka_unit_test(no_consistent_state_is_an_error),
        cmocka_unit_test(an_unknown_formulation_is_an_error),
        cmocka_unit_test(differences_are_relative_to_the_terms_of_the_equations),
        cmocka_unit_test(vanishing_residuals_are_relative_to_forces_at_other_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
