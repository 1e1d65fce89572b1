/* test_energies.c — engine/mechanics/energies.c: the kinetic energy and its parts, the Jacobi integral and its rate,
 * the power of constraints. The tests check these formulas:
 *
 * - T = T2 + T1 + T0 and h = q'·∂L/∂q' − L = T2 − T0 + V (Papastavridis 3.9).
 * - dh/dt by Greenwood 4.379 is the derivative of h along the motion.
 * - d(T + V)/dt = Σ Q q' + Σ power(c) + ∂V/∂t if T does not contain t (Greenwood 4.357 to 4.364). */
#include "api/simulate.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_column_zero(const motion *m, const char *what, const char *column, double bound) {
    size_t at = motion_column(m, column);
    for (size_t i = 0; i < m->row_count; i++)
        if (!(fabs(motion_value(m, i, at)) <= bound))
            fail_msg("%s: %s is %.3g in row %zu", what, column, motion_value(m, i, at), i);
}

/* Systems whose coordinates are relative to a moving frame, so that T1 and T0 do not vanish. */
static const char *const moving[] = {
    /* Greenwood 4.12: a bead on a hoop that rotates at the rate W + a t */
    "`parameters`: {`W`: 2, `a`: 0.7, `g`: 9.81}, `coordinates`: [{`name`: `th`, `initial`: 1, `velocity`: 0.4}],"
    "`particles`: [{`name`: `P`, `mass`: 0.5, `position`: [`sin(th)*cos(W*t + a*t^2/2)`, `sin(th)*sin(W*t + a*t^2/2)`,"
    "`cos(th)`]}], `gravity`: [0, 0, `-g`],",
    /* a pendulum on a driven pivot, with drag */
    "`parameters`: {`A`: 0.3, `w`: 4, `m`: 2, `l`: 0.8, `g`: 9.81}, `coordinates`: [{`name`: `ph`, `initial`: 0.5}],"
    "`definitions`: {`x`: `A*sin(w*t) + l*sin(ph)`, `y`: `A*cos(2*t) - l*cos(ph)`},"
    "`kinetic_energy`: `m*(der(x)^2 + der(y)^2)/2`, `potential_energy`: `m*g*y + t*ph^2`,"
    "`generalized_forces`: {`ph`: `-0.3*ph'`},",
    /* two bodies in rotating frames, connected by a spring */
    "`parameters`: {`W`: 1.5}, `coordinates`: [{`name`: `r`, `initial`: 1}, {`name`: `s`, `initial`: 0.4, `velocity`: "
    "-1}],"
    "`frames`: [{`name`: `F`, `origin`: [`t^2/5`, 0], `orientation`: {`angle`: `W*t`}}],"
    "`particles`: [{`name`: `P`, `mass`: 1, `position`: {`frame`: `F`, `at`: [`r`, 0]}}],"
    "`bodies`: [{`name`: `B`, `mass`: 2, `inertia`: 0.3, `in`: `F`, `position`: [0, `s`],"
    "`orientation`: {`angle`: `s - W*t`}}], `springs`: [{`between`: [`P`, `B`], `stiffness`: 20, `length`: 1}],",
};

/* The bound 1e-12 allows only for rounding errors: it is 45 ε times 100. The energies are below 100 and are computed by
 * a few hundred operations. */
static void the_parts_of_the_kinetic_energy_add_up(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++) {
        char text[4000];
        snprintf(
            text, sizeof text,
            "%s `outputs`: {`sum`: `kinetic_energy() - kinetic_energy(2) - kinetic_energy(1) - kinetic_energy(0)`,"
            "`h`: `jacobi_integral() - kinetic_energy(2) + kinetic_energy(0) - potential_energy()`,"
            "`rate`: `der(jacobi_integral()) - energy_rate()`, `T1`: `kinetic_energy(1)`, `T0`: `kinetic_energy(0)`}",
            moving[i]);
        motion m = motion_run(text, "`stop`: 2, `samples`: 21");
        assert_column_zero(&m, "parts", "sum", 1e-12);
        assert_column_zero(&m, "Jacobi integral", "h", 1e-12);
        assert_column_zero(&m, "rate", "rate", 1e-10);
        assert_true(motion_last(&m, "T0") > 0.01); /* T0 does not vanish, so T2 is not the whole kinetic energy */
        motion_free(&m);
    }
}

/* T = ½ m r² (θ'² + W² sin²θ), so T1 = 0, and the rate given in Greenwood 4.12 is −m r² W W' sin²θ. */
static void the_bead_on_a_hoop_has_its_published_rate(void **state) {
    (void)state;
    char text[4000];
    snprintf(text, sizeof text,
             "%s `outputs`: {`T2`: `kinetic_energy(2) - 0.25*th'^2`, `T1`: `kinetic_energy(1)`,"
             "`T0`: `kinetic_energy(0) - 0.25*(W + a*t)^2*sin(th)^2`,"
             "`rate`: `energy_rate() + 0.5*(W + a*t)*a*sin(th)^2`}",
             moving[0]);
    motion m = motion_run(text, "`stop`: 2, `samples`: 21");
    const char *const columns[] = {"T2", "T1", "T0", "rate"};
    for (size_t i = 0; i < 4; i++) assert_column_zero(&m, "hoop", columns[i], 1e-12);
    motion_free(&m);
}

static void an_energy_that_is_not_quadratic_has_no_parts(void **state) {
    (void)state;
    fixture f;
    hamel_model *model;
    fixture_read(&f,
                 "`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^4 + x'^2`,"
                 "`outputs`: {`T2`: `kinetic_energy(2)`}",
                 "`stop`: 1");
    assert_int_equal(hamel_model_create(&model, &f.description, NULL, NULL, &f.error), HAMEL_INVALID);
    assert_true(fixture_says(&f, "not quadratic"));
    fixture_close(&f);
}

/* Systems with moving constraints. The power of the constraints is the rate of T + V minus `work`, the power of the
 * other forces. */
static const char *const driven[] = {
    /* Baruh 4.9: a bead on a hoop whose rotation is a constraint */
    "`coordinates`: [{`name`: `th`, `initial`: 1}, {`name`: `ps`, `velocity`: 2}],"
    "`kinetic_energy`: `(th'^2 + ps'^2*sin(th)^2)/2`, `potential_energy`: `-9.81*cos(th)`,"
    "`constraints`: [{`name`: `c`, `equation`: `ps = 2*t + t^2/4`}], `definitions`: {`work`: 0},",
    /* Greenwood 4.13: a knife edge that rotates relative to its rod. The constraint is catastatic, so its power is
     * zero. */
    "`coordinates`: [`x`, `y`, {`name`: `ph`, `velocity`: 1}], `parameters`: {`W`: 0.8},"
    "`kinetic_energy`: `(x'^2 + y'^2) + ph'^2/2 + ph'*(y'*cos(ph) - x'*sin(ph))`, `generalized_forces`: {`x`: `1 - "
    "x'`},"
    "`constraints`: [{`name`: `c`, `equation`: `-x'*sin(ph + W*t) + y'*cos(ph + W*t) = 0`}],"
    "`definitions`: {`work`: `(1 - x')*x'`},",
    /* Baruh, exercise 4.40: a motor as an acatastatic velocity constraint, with bearing friction */
    "`coordinates`: [{`name`: `a`, `velocity`: 3}, {`name`: `b`, `initial`: 1}],"
    "`kinetic_energy`: `a'^2 + b'^2/2 + a'*b'*cos(a - b)/2`, `potential_energy`: `-5*cos(a) - 2*cos(b)`,"
    "`dissipation`: `0.2*(a' - b')^2/2`, `constraints`: [{`name`: `c`, `equation`: `a' = 3 + sin(t)`}],"
    "`definitions`: {`work`: `-0.2*(a' - b')^2`},",
    /* Appell and Hamel: the constraint is homogeneous in the velocities, so its power is zero */
    "`coordinates`: [{`name`: `x`, `velocity`: 0.6}, {`name`: `y`, `velocity`: 0.8}, {`name`: `z`, `velocity`: 0.5}],"
    "`kinetic_energy`: `(x'^2 + y'^2 + 2*z'^2)/2`, `potential_energy`: `z`,"
    "`constraints`: [{`name`: `c`, `equation`: `x'^2 + y'^2 - 4*z'^2 = 0`}], `definitions`: {`work`: 0},",
};

static void powers_of_constraints_complete_the_balance(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof driven / sizeof *driven; i++) {
        char text[4000];
        snprintf(text, sizeof text,
                 "%s `outputs`: {`balance`: `der(kinetic_energy() + potential_energy()) - work - power(c)`,"
                 "`P`: `power(c)`, `rate`: `der(jacobi_integral()) - energy_rate()`}",
                 driven[i]);
        motion m = motion_run(text, "`stop`: 2, `samples`: 21, `rtol`: 1e-9, `atol`: 1e-11");
        assert_column_zero(&m, "balance", "balance", 1e-10);
        /* this rate is 0 if A q' = −a_t, which holds up to the velocity residual */
        assert_column_zero(&m, "rate", "rate", 1e-7);
        if (i == 1 || i == 3) assert_column_zero(&m, "power", "P", 1e-7);
        motion_free(&m);
    }
}

#define TERMS_OF_RATE                                                                                   \
    "energy_rate(impressed) + energy_rate(dissipation) + energy_rate(time) + energy_rate(reactions) + " \
    "energy_rate(nonideal) + energy_rate(friction)"
#define SIZE_OF_RATE                                                                          \
    "abs(energy_rate(impressed)) + abs(energy_rate(dissipation)) + abs(energy_rate(time)) + " \
    "abs(energy_rate(reactions)) + abs(energy_rate(nonideal)) + abs(energy_rate(friction))"
#define TERMS_OF_QUASI_RATE                                                                           \
    "quasi_energy_rate(impressed) + quasi_energy_rate(dissipation) + quasi_energy_rate(potential) + " \
    "quasi_energy_rate(inertia) + quasi_energy_rate(reactions) + quasi_energy_rate(nonideal) + "      \
    "quasi_energy_rate(friction)"

/* Runs the examples without events and without a given acceleration energy for a twentieth of their duration. Compares
 * energy_rate() with the time derivative of the Jacobi integral, and with the sum of its terms. */
static void energy_rate_is_the_derivative_of_the_jacobi_integral_in_the_examples(void **state) {
    (void)state;
    size_t count = 0;
    for (const api_example *e; (e = api_example_at(count)) != NULL; count++) {
        cJSON *d = cJSON_Parse(e->json), *simulation = cJSON_GetObjectItem(d, "simulation");
        assert_non_null(simulation);
        cJSON *stop = cJSON_GetObjectItem(simulation, "stop");
        if (!cJSON_IsNumber(stop) || cJSON_HasObjectItem(d, "acceleration_energy") ||
            cJSON_HasObjectItem(d, "events")) {
            cJSON_Delete(d);
            continue;
        }
        cJSON_SetNumberValue(stop, stop->valuedouble / 20);
        cJSON_DeleteItemFromObject(d, "outputs");
        cJSON_DeleteItemFromObject(d, "checks");
        cJSON_DeleteItemFromObject(d, "invariants");
        cJSON_DeleteItemFromObject(simulation, "record");
        cJSON *outputs = cJSON_AddObjectToObject(d, "outputs");
        cJSON_AddStringToObject(outputs, "difference of rates", "der(jacobi_integral()) - energy_rate()");
        cJSON_AddStringToObject(outputs, "speed of energies", "abs(der(kinetic_energy(2)))");
        cJSON_AddStringToObject(outputs, "difference of terms", "energy_rate() - (" TERMS_OF_RATE ")");
        cJSON_AddStringToObject(outputs, "size of terms", SIZE_OF_RATE);
        if (cJSON_HasObjectItem(d, "lagrangian")) cJSON_DeleteItemFromObject(outputs, "speed of energies");
        char *text = cJSON_PrintUnformatted(d);
        motion m = motion_of(text);
        double scale = 1;
        size_t size = cJSON_HasObjectItem(d, "lagrangian") ? 0 : motion_column(&m, "speed of energies");
        for (size_t i = 0; size && i < m.row_count; i++) scale = fmax(scale, motion_value(&m, i, size));
        /* the difference is limited by the velocity residuals times the multipliers */
        assert_column_zero(&m, e->name, "difference of rates", 1e-6 * scale);
        /* rounding: energy_rate() and the sum of its terms add fewer than 1e3 equal summands in different orders */
        double most = 1;
        for (size_t i = 0; i < m.row_count; i++)
            most = fmax(most, motion_value(&m, i, motion_column(&m, "size of terms")));
        assert_column_zero(&m, e->name, "difference of terms", 1e-12 * most);
        motion_free(&m);
        free(text);
        cJSON_Delete(d);
    }
    assert_true(count > 40);
}

/* Gauss's function ½ Σ m |a − a_free|² includes friction: a block on a floor with the coefficient 0.2 deviates from
 * free fall by (−0.2 g, g). */
static void gauss_function_includes_the_friction_force(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `kinetic_energy`: `3*(x'^2 + y'^2)/2`,"
                          "`potential_energy`: `3*9.81*y`, `constraints`: [{`name`: `floor`, `equation`: `y = 0`,"
                          "`nonideal`: {`x`: `-0.2*ideal(y)`}}],"
                          "`outputs`: {`Z`: `gauss() - 3*(0.2^2 + 1)*9.81^2/2`}",
                          "`stop`: 0.1, `samples`: 3");
    assert_column_zero(&m, "block", "Z", 1e-10);
    motion_free(&m);
}

/* Greenwood, example 4.12, with a force and dissipation added: −m r² Ω Ω' sin² θ (4.405) equals −∂L/∂t. Baruh 4.9
 * describes the bead in Cartesian coordinates. In these coordinates T does not contain the time, and only the reaction
 * of the turning plane changes T + V. */
static void terms_of_the_energy_rate_agree_with_greenwood_and_baruh(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`W`: 3, `a`: 1, `g`: 9.81}, `coordinates`: [{`name`: `th`, `initial`: 1}],"
                          "`kinetic_energy`: `0.25*(th'^2 + ((W + a*t)*sin(th))^2)/2`,"
                          "`potential_energy`: `g*0.5*cos(th)`, `generalized_forces`: {`th`: `0.3*sin(t)`},"
                          "`dissipation`: `0.1*th'^2/2`, `outputs`: {"
                          "`time`: `energy_rate(time) + 0.25*(W + a*t)*a*sin(th)^2`,"
                          "`impressed`: `energy_rate(impressed) - 0.3*sin(t)*th'`,"
                          "`dissipation`: `energy_rate(dissipation) + 0.1*th'^2`,"
                          "`others`: `abs(energy_rate(reactions)) + abs(energy_rate(nonideal)) + "
                          "abs(energy_rate(friction))`}",
                          "`stop`: 2, `samples`: 21");
    const char *const zero[] = {"time", "impressed", "dissipation", "others"};
    for (size_t i = 0; i < 4; i++) assert_column_zero(&m, zero[i], zero[i], 1e-14);
    motion_free(&m);
    m = motion_run(
        "`parameters`: {`W`: 3}, `coordinates`: [{`name`: `x`, `initial`: 0.5}, {`name`: `y`, `velocity`: 1.5},"
        "{`name`: `z`, `initial`: 1}], `kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`,"
        "`potential_energy`: `9.81*z`, `constraints`: [{`name`: `turn`, `equation`: `x*sin(W*t) = y*cos(W*t)`}],"
        "`outputs`: {`time`: `energy_rate(time)`, `power`: `energy_rate(reactions) - power(turn)`,"
        "`size`: `abs(power(turn))`}",
        "`stop`: 0.5, `samples`: 6");
    assert_column_zero(&m, "time", "time", 0);
    assert_column_zero(&m, "power", "power", 1e-6); /* A q' = −a_t is satisfied only to the velocity residual */
    assert_true(motion_value(&m, 5, motion_column(&m, "size")) > 1);
    motion_free(&m);
}

/* A block of mass 2 slides on a floor with the coefficient of friction 0.2. The power of friction is −0.2 · 2 g x'. In
 * the second run, a prescribed nonideal reaction replaces the friction and has the same power. */
static void friction_and_nonideal_reactions_are_separate_terms_of_the_energy_rate(void **state) {
    (void)state;
    static const char *const force[] = {"`friction`: {`coefficient`: 0.2, `on`: `P`}",
                                        "`nonideal`: {`x`: `-0.2*ideal(y)`}"};
    static const char *const name[] = {"friction", "nonideal"};
    for (int i = 0; i < 2; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "`coordinates`: [{`name`: `x`, `velocity`: 3}, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                 "`potential_energy`: `2*9.81*y`, `points`: [{`name`: `P`, `position`: [`x`, `y`]}],"
                 "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, %s}], `outputs`: {"
                 "`this`: `energy_rate(%s) + 0.4*9.81*x'`, `other`: `energy_rate(%s)`,"
                 "`sum`: `energy_rate() + 0.4*9.81*x'`}",
                 force[i], name[i], name[1 - i]);
        motion m = motion_run(text, "`stop`: 0.5, `samples`: 6");
        assert_column_zero(&m, name[i], "this", 1e-10);
        assert_column_zero(&m, name[i], "other", 1e-10);
        assert_column_zero(&m, name[i], "sum", 1e-10);
        motion_free(&m);
    }
}

/* Runs examples with rheonomic or acatastatic constraints or time-dependent energies. Compares quasi_energy_rate() with
 * the time derivative of quasi_energy(), and with the sum of its terms (Greenwood 4.380). */
static void quasi_energy_rate_is_the_derivative_of_the_quasi_energy(void **state) {
    (void)state;
    static const char *const names[] = {"talamucci_3_2_guided_skate",        "talamucci_3_4_driven_unicycle",
                                        "greenwood_4_12_bead_on_hoop",       "talamucci_3_2_lead_on_circle",
                                        "greenwood_4_13_turning_knife_edge", "baruh_ex_4_12_pendulum_drawn_in"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const api_example *e = NULL;
        for (size_t k = 0; (e = api_example_at(k)) != NULL && strcmp(e->name, names[i]) != 0; k++) {
        }
        assert_non_null(e);
        cJSON *d = cJSON_Parse(e->json), *outputs = NULL;
        cJSON_DeleteItemFromObject(d, "outputs");
        cJSON_DeleteItemFromObject(d, "checks");
        cJSON_DeleteItemFromObject(d, "invariants");
        outputs = cJSON_AddObjectToObject(d, "outputs");
        cJSON_AddStringToObject(outputs, "rate", "der(quasi_energy()) - quasi_energy_rate()");
        cJSON_AddStringToObject(outputs, "sum", "quasi_energy_rate() - (" TERMS_OF_QUASI_RATE ")");
        char *text = cJSON_PrintUnformatted(d);
        motion m = motion_of(text);
        /* powers are below 1e3, and the velocities violate the constraints by about 1e-12; margin 10 */
        assert_column_zero(&m, e->name, "rate", 1e-8);
        assert_column_zero(&m, e->name, "sum", 1e-12);
        motion_free(&m);
        free(text);
        cJSON_Delete(d);
    }
}

/* The quasi-velocities u = x' − W y and v = y' + W x are the velocity relative to a frame that turns at the rate −W.
 * The velocity at u = v = 0 is σ = (W y, −W x). Hence h* = T + V − p·σ = (u² + v² − W² r² + k r²)/2. It is constant
 * because the potential depends only on r. */
static void quasi_energy_relative_to_a_rotating_frame_is_conserved(void **state) {
    (void)state;
    motion m = motion_run(
        "`parameters`: {`W`: 0.7, `k`: 2}, `coordinates`: [{`name`: `x`, `initial`: 1},"
        "{`name`: `y`, `velocity`: 0.4}], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
        "`potential_energy`: `k*(x^2 + y^2)/2`, `quasi_velocities`: [{`name`: `u`, `definition`: `x' - W*y`},"
        "{`name`: `v`, `definition`: `y' + W*x`}], `outputs`: {"
        "`H`: `quasi_energy() - ((x' - W*y)^2 + (y' + W*x)^2 + (k - W^2)*(x^2 + y^2))/2`,"
        "`rate`: `quasi_energy_rate()`, `potential`: `quasi_energy_rate(potential)`}",
        "`stop`: 1, `samples`: 11");
    assert_column_zero(&m, "value", "H", 1e-14);
    assert_column_zero(&m, "rate", "rate", 1e-14);
    assert_column_zero(&m, "potential", "potential", 1e-14); /* k (x σ_x + y σ_y) = 0 */
    motion_free(&m);
}

/* A block of mass 1 sticks to a belt that moves by s(t) = t²/10, so x = s. The force of friction is x'' = 0.2, and its
 * power is 0.2 x'. The normal force has no power. */
static void power_of_sticking_friction_is_in_the_term_friction(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [`x`, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
        "`potential_energy`: `9.81*y`, `definitions`: {`s`: `t^2/10`},"
        "`points`: [{`name`: `P`, `position`: [`x - s`, `y`]}],"
        "`constraints`: [{`name`: `belt`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.2, `on`: `P`}}],"
        "`outputs`: {`friction`: `energy_rate(friction) - 0.2*t/5`, `gap`: `x - s`,"
        "`reactions`: `energy_rate(reactions)`, `sum`: `energy_rate() - der(jacobi_integral())`}",
        "`stop`: 1, `samples`: 11");
    const char *const zero[] = {"gap", "friction", "reactions", "sum"};
    for (size_t i = 0; i < 4; i++)
        assert_column_zero(&m, zero[i], zero[i], 1e-6); /* the run uses the default tolerances */
    motion_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_of_the_kinetic_energy_add_up),
        cmocka_unit_test(the_bead_on_a_hoop_has_its_published_rate),
        cmocka_unit_test(an_energy_that_is_not_quadratic_has_no_parts),
        cmocka_unit_test(powers_of_constraints_complete_the_balance),
        cmocka_unit_test(energy_rate_is_the_derivative_of_the_jacobi_integral_in_the_examples),
        cmocka_unit_test(gauss_function_includes_the_friction_force),
        cmocka_unit_test(terms_of_the_energy_rate_agree_with_greenwood_and_baruh),
        cmocka_unit_test(friction_and_nonideal_reactions_are_separate_terms_of_the_energy_rate),
        cmocka_unit_test(quasi_energy_rate_is_the_derivative_of_the_quasi_energy),
        cmocka_unit_test(quasi_energy_relative_to_a_rotating_frame_is_conserved),
        cmocka_unit_test(power_of_sticking_friction_is_in_the_term_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
