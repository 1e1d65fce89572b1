/* test_energy_rate.c — engine/equations/energy_rate.c: the written terms of the energy rate agree with textbooks, and
 * their sum is the time derivative of the written energy. */
#include "engine/mechanics/formulation.h"
#include "tests/unit/fixture.h"
#include "tests/unit/written_state.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static hamel_status write_rate(const written_example *e, hamel_notation notation, hamel_written **out,
                               hamel_error *error) {
    return hamel_write_form(out, &e->description.description, HAMEL_FORM_ENERGY_RATE, notation, NULL, NULL, error);
}

static void open_named(written_example *e, const char *name, const char *as) {
    if (name[0] == '{')
        written_open(e, name, as);
    else
        written_open_example(e, name, as);
}

/* Checks that the written energy rate contains every string of `lines`, which ends with NULL. `name` is the name of an
 * example, or a description that begins with "{". */
static void assert_lines(const char *name, const char *as, hamel_notation notation, const char *const *lines) {
    written_example e;
    hamel_written *found = NULL;
    open_named(&e, name, as);
    assert_int_equal(write_rate(&e, notation, &found, NULL), HAMEL_OK);
    assert_true(found->simplified);
    for (; *lines; lines++)
        if (!strstr(found->text, *lines)) fail_msg("%s: no line %s in\n%s", name, *lines, found->text);
    hamel_written_free(found);
    written_close(&e);
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* --- textbooks ---------------------------------------------------------------------------------------------------- */

/* Greenwood, example 4.12: dE/dt = −m r² Ω Ω' sin² θ (4.405). Lagrange's form is (4.355), Kane's is (4.380), and the
 * form of Boltzmann and Hamel is (4.393). */
static void the_bead_on_a_hoop_has_the_energy_rate_of_greenwood(void **state) {
    (void)state;
    static const char rate[] = " = -m*r^2*w1*sin(theta)^2*(w1*t + w0)";
    char text[3][120];
    snprintf(text[0], sizeof text[0], "\nrate[time]%s  # -dL/dt\n", rate);
    snprintf(text[1], sizeof text[1], "\nrate[time]%s  # -dL*/dt\n", rate);
    snprintf(text[2], sizeof text[2], "\nrate[inertia]%s  # ", rate);
    assert_lines("greenwood_4_12_bead_on_hoop", "lagrange", HAMEL_NOTATION_TEXT,
                 LINES(text[0], "\nh = m*r^2*theta'^2/2 + m*r*g*cos(theta) - m*r^2*(w1*t + w0)^2*sin(theta)^2/2\n",
                       "\nrate[impressed] = 0  # all forces have a potential\n",
                       "\nrate[reactions] = 0  # no constraints\n", "\nh' = -m*r^2*w1*sin(theta)^2*(w1*t + w0)\n"));
    assert_lines("greenwood_4_12_bead_on_hoop", "boltzmann-hamel", HAMEL_NOTATION_TEXT,
                 LINES(text[1], "\nrate[transitivity] = 0  # stationary kinematics: all gamma[j; r, t] are 0\n"));
    assert_lines("greenwood_4_12_bead_on_hoop", "kane", HAMEL_NOTATION_TEXT, LINES(text[2]));
    assert_lines(
        "greenwood_4_12_bead_on_hoop", "lagrange", HAMEL_NOTATION_LATEX,
        LINES("\n\\mathrm{rate}_{\\text{reactions}} &= 0 \\quad \\text{(no constraints)} \\\\\n", "\n\\dot{h} &= "));
}

/* Baruh 4.9 describes the bead on a hoop with a constant rate in Cartesian coordinates. L does not contain the time,
 * and the reaction of the turning plane changes T + V (Greenwood 4.355). */
static void power_of_a_moving_constraint_is_a_term_of_the_energy_rate(void **state) {
    (void)state;
    assert_lines("baruh_4_9_bead_on_hoop", "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\nrate[time] = 0  # L does not depend explicitly on time\n",
                       "\nrate[reactions] = Omega*(x*cos(Omega*t) + y*sin(Omega*t))*lambda(plane)  # power of the "
                       "reactions\n"));
}

/* Greenwood, example 4.13 (4.433, 4.434): −∂T/∂t = −m l Ω v φ' cos Ωt cancels with the term that contains γ_t = −Ω, so
 * E = T is constant. */
static void energy_rate_terms_of_the_turning_knife_edge_cancel(void **state) {
    (void)state;
    assert_lines("greenwood_4_13_turning_knife_edge", "boltzmann-hamel", HAMEL_NOTATION_TEXT,
                 LINES("\ngamma[edge; v_edge, t] = -Omega\n",
                       "\nrate[time] = -m*l*Omega*cos(Omega*t)*phi'*v_edge  # -dL*/dt; cancels with transitivity\n",
                       "\nrate[transitivity] = m*l*Omega*cos(Omega*t)*phi'*v_edge  # ", "; cancels with time\n",
                       "\nrate[drift] = 0  # no drift: q' = 0 at u = 0\n", "\nh*' = 0  # the energy is conserved\n"));
    assert_lines("greenwood_4_13_turning_knife_edge", "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\nrate[reactions] = 0  # all constraints are catastatic or homogeneous\n",
                       "\nh' = 0  # the energy is conserved\n"));
}

/* Talamucci, example 3.4. The drift changes only x and y, on which L does not depend. The terms of Talamucci (18) and
 * the terms of Greenwood (4.380) have the same sum (Greenwood 4.394). */
static void the_driven_unicycle_has_the_energy_rate_of_talamucci(void **state) {
    (void)state;
#define SUM "-2*R*cos(phi)*(M*R + m3*h + m4*h)*(sin(t) + 5)*theta'*phi' - 2*m4*R*l*cos(psi)*(sin(t) + 5)*theta'*psi'"
#define TIME "2*cos(t)*((M*R^2 + m3*R*h + m4*R*h + Ia)*sin(phi) + m4*R*l*sin(psi))*theta' - 4*cos(t)*z1*(sin(t) + 5)"
    assert_lines("talamucci_3_4_driven_unicycle", "boltzmann-hamel", HAMEL_NOTATION_TEXT,
                 LINES("\nrate[time] = " TIME "  # -dL*/dt\n",
                       "\nrate[drift] = 0  # L* does not change along the drift\n",
                       "\nrate[transitivity] = " SUM "  # ", "\nh*' = " SUM " + " TIME "\n"));
    assert_lines("talamucci_3_4_driven_unicycle", "kane", HAMEL_NOTATION_TEXT,
                 LINES("\nrate[potential] = 0  # V does not change along the drift\n",
                       "\nrate[inertia] = " SUM " + " TIME "  # ", "\nh*' = " SUM " + " TIME "\n"));
}

/* Greenwood 4.346: the reaction of a constraint that is homogeneous in the velocities does no work, even if the
 * constraint is nonlinear. */
static void reactions_of_homogeneous_constraints_do_no_work(void **state) {
    (void)state;
    assert_lines("appell_hamel_machine", "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\nrate[reactions] = 0  # all constraints are catastatic or homogeneous\n"));
}

/* For L = (x'² − x²)/2, the force sin t and the dissipation function D = c x'²/2, the terms are x' sin t and −2 D. */
static void forces_and_dissipation_are_separate_terms_of_the_energy_rate(void **state) {
    (void)state;
    assert_lines("{`hamel`: 1, `parameters`: {`c`: 2}, `coordinates`: [`x`], `lagrangian`: `(x'^2 - x^2)/2`,"
                 "`dissipation`: `c*x'^2/2`, `generalized_forces`: {`x`: `sin(t)`}, `simulation`: {`stop`: 1}}",
                 "lagrange", HAMEL_NOTATION_TEXT,
                 LINES("\nrate[impressed] = sin(t)*x'  # sum of Q*q'\n",
                       "\nrate[dissipation] = -c*x'^2  # -sum of dD/dq'*q'\n"));
}

/* --- every example ------------------------------------------------------------------------------------------------ */

/* Returns the text between `left` and the remark or the end of its line. The caller frees it. Returns NULL if `text`
 * does not contain `left`. */
static char *right_side(const char *text, const char *left) {
    const char *line = strstr(text, left);
    if (!line) return NULL;
    line += strlen(left);
    size_t length = strcspn(line, "\n");
    const char *note = strstr(line, "  # ");
    if (note && (size_t)(note - line) < length) length = (size_t)(note - line);
    return strndup(line, length);
}

static double value_of(hamel_system *s, const char *text, const char *left, const program_inputs *in) {
    char *right = right_side(text, left);
    assert_non_null(right);
    double value = written_value(s, right, in);
    free(right);
    return value;
}

/* Compares the written sum with the sum of the terms, and with the time derivative of the written energy, at a state
 * that satisfies the constraints. Returns false if no such state is found, or if `text` cannot be read. */
static bool compare(const written_example *from, const char *as, const char *text) {
    written_example e;
    written_state at;
    uint64_t seed = 7;
    if (!written_open_with_definitions(&e, from, text)) return false;
    bool quasi = strstr(text, "\nh* = ") != NULL, found = written_find_state(e.model, &seed, &at);
    if (found) {
        program_inputs in = model_inputs(e.model, &at.t, at.q, at.v, at.a, at.lambda, NULL);
        hamel_system *s = e.model->system;
        hamel_error error = {0};
        s->error = &error;
        char *energy = right_side(text, quasi ? "\nh* = " : "\nh = ");
        graph_node rate = graph_rate(s->graph, written_read(s, energy));
        double sum = value_of(s, text, quasi ? "\nh*' = " : "\nh' = ", &in), terms = 0, size = 1;
        for (const char *line = strstr(text, "\nrate["); line; line = strstr(line + 1, "\nrate[")) {
            double term = value_of(s, line, " = ", &in);
            terms += term;
            size += fabs(term);
        }
        assert_true(rate >= 0);
        free(energy);
        hamel_error_clear(&error);
        s->error = NULL;
        /* the state violates the constraints by at most 1e-11; accelerations and multipliers are below 1e3; margin 10
         * */
        assert_near(as, fixture_value(s->graph, rate, &in), sum, 1e-7 * size);
        assert_near(as, terms, sum, 1e-10 * size);
    }
    written_close(&e);
    return found;
}

static void written_energy_rates_are_derivatives_of_the_written_energy(void **state) {
    (void)state;
    static const char *const as[] = {"lagrange", "kane", "boltzmann-hamel", "voronets"};
    size_t compared[4] = {0};
    glob_t files;
    assert_int_equal(glob("api/examples/*.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        for (size_t k = 0; k < 4; k++) {
            written_example e;
            hamel_written *found = NULL;
            hamel_error error = {0};
            char *text = written_file(files.gl_pathv[i]);
            if (written_open_text(&e, text, as[k])) {
                hamel_status status = write_rate(&e, HAMEL_NOTATION_TEXT, &found, &error);
                assert_true(status == HAMEL_OK || status == HAMEL_INVALID);
                if (status == HAMEL_OK) written_replace_points(found->text);
                if (status == HAMEL_OK && compare(&e, files.gl_pathv[i], found->text)) compared[k]++;
                if (status == HAMEL_OK) hamel_written_free(found);
                hamel_error_clear(&error);
                written_close(&e);
            }
            free(text);
        }
    globfree(&files);
    for (size_t k = 0; k < 4; k++) print_message("%s: %zu examples\n", as[k], compared[k]);
    for (size_t k = 0; k < 4; k++) assert_true(compared[k] > 60);
}

/* --- rejected ----------------------------------------------------------------------------------------------------- */

static void assert_refused(const char *name, const char *as, hamel_notation notation, const char *why) {
    written_example e;
    hamel_written *found = NULL;
    hamel_error error = {0};
    open_named(&e, name, as);
    assert_int_equal(write_rate(&e, notation, &found, &error), HAMEL_INVALID);
    assert_non_null(strstr(error.faults[0].message, why));
    hamel_error_clear(&error);
    written_close(&e);
}

static void energy_rates_that_cannot_be_written_are_rejected(void **state) {
    (void)state;
    assert_refused("heavy_top", "hamilton", HAMEL_NOTATION_TEXT, "momenta replace velocities");
    assert_refused("heavy_top", "routh", HAMEL_NOTATION_TEXT, "momenta replace velocities");
    assert_refused("heavy_top", "lagrange", HAMEL_NOTATION_C, "the energy rate cannot be written as C");
    assert_refused("{`hamel`: 1, `coordinates`: [`x`], `acceleration_energy`: `x''^2/2`, `simulation`: {`stop`: 1}}",
                   "gibbs-appell", HAMEL_NOTATION_TEXT, "has no energy rate");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bead_on_a_hoop_has_the_energy_rate_of_greenwood),
        cmocka_unit_test(power_of_a_moving_constraint_is_a_term_of_the_energy_rate),
        cmocka_unit_test(energy_rate_terms_of_the_turning_knife_edge_cancel),
        cmocka_unit_test(the_driven_unicycle_has_the_energy_rate_of_talamucci),
        cmocka_unit_test(reactions_of_homogeneous_constraints_do_no_work),
        cmocka_unit_test(forces_and_dissipation_are_separate_terms_of_the_energy_rate),
        cmocka_unit_test(written_energy_rates_are_derivatives_of_the_written_energy),
        cmocka_unit_test(energy_rates_that_cannot_be_written_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
