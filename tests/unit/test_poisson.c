/* test_poisson.c — engine/analyze/poisson.c: Poisson brackets, Poisson's theorem and canonical transformations
 * (Papastavridis, Intro 8). The sign of the brackets is that of most books, [q, p] = 1, and opposite to that of
 * Papastavridis. */
#include "engine/analyze/poisson.h"

#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char kepler[] =
    "`parameters`: {`m`: 2, `mu`: 3}, `coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: 0.2},"
    "{`name`: `z`, `initial`: 0.1}], `kinetic_energy`: `m*(x'^2 + y'^2 + z'^2)/2`,"
    "`potential_energy`: `-mu/sqrt(x^2 + y^2 + z^2)`";

/* A pendulum on a cart. Its mass matrix is not diagonal. */
static const char cart[] =
    "`parameters`: {`M`: 3, `m`: 2, `l`: 0.7, `g`: 9.81}, `coordinates`: [{`name`: `x`}, {`name`: `th`, `initial`: 1}],"
    "`kinetic_energy`: `(M + m)*x'^2/2 + m*l*x'*th'*cos(th) + m*l^2*th'^2/2`, `potential_energy`: `-m*g*l*cos(th)`";

/* Returns the bracket [first, second]; an error fails the test. The caller frees the result. */
static hamel_bracket *bracket_of(const char *members, const char *first, const char *second) {
    fixture f;
    hamel_bracket *found = NULL;
    const hamel_argument functions[2] = {{first, "/first"}, {second, "/second"}};
    fixture_read(&f, members, "`stop`: 1");
    if (hamel_find_bracket(&found, &f.description, functions, NULL, NULL, &f.error) != HAMEL_OK)
        fail_msg("[%s, %s]: %s", first, second, f.error.faults[0].message);
    fixture_close(&f);
    return found;
}

static void expect_bracket(const char *members, const char *first, const char *second, const char *value) {
    hamel_bracket *found = bracket_of(members, first, second);
    assert_string_equal(found->value, value);
    assert_int_equal(found->zero, strcmp(value, "0") == 0 ? HAMEL_IS_ZERO : HAMEL_NOT_ZERO);
    assert_string_equal(found->first, first);
    hamel_bracket_free(found);
}

static void coordinates_and_momenta_have_the_fundamental_brackets(void **state) {
    (void)state;
    expect_bracket(kepler, "x", "p_x", "1");
    expect_bracket(kepler, "p_x", "x", "-1");
    expect_bracket(kepler, "x", "p_y", "0");
    expect_bracket(kepler, "x", "momentum(x)*t", "t");
    expect_bracket(kepler, "p_x^2/2", "x^3", "-3*x^2*p_x");
}

#define LX "(y*p_z - z*p_y)"
#define LY "(z*p_x - x*p_z)"
#define LZ "(x*p_y - y*p_x)"
/* The first component of the Laplace–Runge–Lenz vector p × L − m μ r/|r|. */
#define AX "(p_y*" LZ " - p_z*" LY " - m*mu*x/sqrt(x^2 + y^2 + z^2))"

/* Poisson's theorem: the bracket of two constants of the motion is a constant of the motion. Here [Lx, Ly] = Lz and
 * [Ly, Ax] = −Az. */
static void the_bracket_of_two_constants_of_the_motion_is_constant(void **state) {
    (void)state;
    expect_bracket(kepler, LX, LY, "x*p_y - y*p_x");
    static const char *const pairs[][2] = {{LX, LY}, {LY, AX}};
    for (int k = 0; k < 2; k++) {
        hamel_bracket *third = bracket_of(kepler, pairs[k][0], pairs[k][1]);
        assert_int_equal(third->zero, HAMEL_NOT_ZERO);
        expect_bracket(kepler, pairs[k][0], "jacobi_integral()", "0");
        expect_bracket(kepler, pairs[k][1], "jacobi_integral()", "0");
        expect_bracket(kepler, third->value, "jacobi_integral()", "0");
        hamel_bracket_free(third);
    }
    hamel_bracket *other = bracket_of(kepler, "x*p_x", "jacobi_integral()");
    assert_int_equal(other->zero, HAMEL_NOT_ZERO); /* x p_x is not constant */
    hamel_bracket_free(other);
}

/* [q, H] = q' and [p, H] = p'. The test subtracts the rates of Lagrange's equations, with p_th' = ∂L/∂th = −m l
 * sin(th) (x' th' + g). If the difference vanishes in all states, its brackets with all coordinates and momenta are
 * 0. */
static void brackets_with_the_hamiltonian_are_time_derivatives(void **state) {
    (void)state;
    static const char *const functions[][2] = {
        {"x", "x'"}, {"th", "th'"}, {"p_x", "0"}, {"p_th", "-m*l*sin(th)*(x'*th' + g)"}};
    static const char *const others[] = {"x", "th", "p_x", "p_th"};
    for (int k = 0; k < 4; k++) {
        char difference[2000];
        hamel_bracket *rate = bracket_of(cart, functions[k][0], "energy()");
        snprintf(difference, sizeof difference, "%s - (%s)", rate->value, functions[k][1]);
        for (int j = 0; j < 4; j++) expect_bracket(cart, difference, others[j], "0");
        hamel_bracket_free(rate);
    }
}

static void a_bracket_that_simplification_does_not_reduce_to_zero_is_unknown(void **state) {
    (void)state;
    hamel_bracket *found = bracket_of(kepler, "log(exp(2*p_x)*y)*z - (2*p_x + log(y))*z", "p_z");
    assert_int_equal(found->zero, HAMEL_ZERO_UNKNOWN);
    hamel_bracket_free(found);
}

/* --- canonical transformations ------------------------------------------------------------------------------------ */

static hamel_canonical *canonical_of(const char *members, const char *const *Q, const char *const *P, size_t count) {
    fixture f;
    hamel_canonical *found = NULL;
    hamel_argument q[4], p[4];
    for (size_t i = 0; i < count; i++) q[i] = (hamel_argument){Q[i], "/Q"}, p[i] = (hamel_argument){P[i], "/P"};
    fixture_read(&f, members, "`stop`: 1");
    if (hamel_check_canonical(&found, &f.description, &(hamel_transformation){"/t", q, p, count, count}, NULL, NULL,
                              &f.error) != HAMEL_OK)
        fail_msg("%s", f.error.faults[0].message);
    fixture_close(&f);
    return found;
}

static const char oscillator[] = "`parameters`: {`m`: 2, `w`: 3}, `coordinates`: [{`name`: `x`, `initial`: 1}],"
                                 "`kinetic_energy`: `m*x'^2/2`, `potential_energy`: `m*w^2*x^2/2`";

/* The exchange of coordinate and momentum; action and angle of the oscillator; Goldstein's Q = log(sin(p)/q), P = q
 * cot(p); a rotation of the phase plane that depends on time. Then cylindrical coordinates of a particle in space. */
static void known_canonical_transformations_are_recognized(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"p_x", "-x"},
                                           {"atan2(m*w*x, p_x)", "(p_x^2/(m*w) + m*w*x^2)/2"},
                                           {"log(sin(p_x)/x)", "x*cos(p_x)/sin(p_x)"},
                                           {"x*cos(t) - p_x*sin(t)", "x*sin(t) + p_x*cos(t)"}};
    for (int k = 0; k < 4; k++) {
        hamel_canonical *found = canonical_of(oscillator, &pairs[k][0], &pairs[k][1], 1);
        if (!found->canonical) fail_msg("%s: %s", pairs[k][0], found->failing.value);
        assert_int_equal(found->brackets, 1);
        assert_true(found->decided && !found->failed);
        hamel_canonical_free(found);
    }
    static const char *const Q[] = {"sqrt(x^2 + y^2)", "atan2(y, x)", "z"};
    static const char *const P[] = {"(x*p_x + y*p_y)/sqrt(x^2 + y^2)", "x*p_y - y*p_x", "p_z"};
    hamel_canonical *polar = canonical_of(kepler, Q, P, 3);
    assert_true(polar->canonical);
    assert_int_equal(polar->brackets, 15); /* 3 pairs of Q, 3 pairs of P, and 9 pairs (Q, P) */
    hamel_canonical_free(polar);
}

static void the_first_failing_bracket_is_reported(void **state) {
    (void)state;
    static const char *const Q[] = {"x", "2*y", "z"}, *const P[] = {"p_x", "p_y", "p_z + x"};
    /* the first of the two failing brackets [Q2, P2] = 2 and [P1, P3] = −1 is reported */
    hamel_canonical *found = canonical_of(kepler, Q, P, 3);
    assert_true(found->decided && !found->canonical && found->failed);
    assert_string_equal(found->failing.first, "Q2");
    assert_string_equal(found->failing.second, "P2");
    assert_string_equal(found->failing.value, "2");
    hamel_canonical_free(found);
}

static void a_transformation_with_an_undecided_bracket_is_reported_as_undecided(void **state) {
    (void)state;
    static const char *const Q[] = {"log(exp(x))"}, *const P[] = {"p_x*log(exp(2*t))/log(exp(t))/2"};
    hamel_canonical *found = canonical_of(oscillator, Q, P, 1);
    assert_false(found->decided);
    assert_true(found->failed);
    assert_int_equal(found->failing.zero, HAMEL_ZERO_UNKNOWN);
    hamel_canonical_free(found);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

static void expect_error(const char *members, const char *first, const char *message, const char *pointer) {
    fixture f;
    hamel_bracket *found = NULL;
    const hamel_argument functions[2] = {{first, "/first"}, {"x", "/second"}};
    fixture_read(&f, members, "`stop`: 1");
    assert_int_equal(hamel_find_bracket(&found, &f.description, functions, NULL, NULL, &f.error), HAMEL_INVALID);
    if (!fixture_says(&f, message)) fail_msg("%s", f.error.faults[0].message);
    if (pointer) assert_string_equal(f.error.faults[0].pointer, pointer);
    assert_null(found);
    fixture_close(&f);
}

static void functions_without_defined_brackets_are_rejected(void **state) {
    (void)state;
    expect_error(kepler, "x''", "must be a function of coordinates, momenta and time", "/first");
    expect_error(kepler, "p_x'", "must be a function", "/first");
    expect_error(kepler, "integral(x)", "must be a function", "/first");
    expect_error(kepler, "q", "unknown name `q`", "/first");
    expect_error("`coordinates`: [`x`], `lagrangian`: `x'^4 - x^2`", "x'", "not linear in the velocities", "/first");
    expect_error("`coordinates`: [`x`, `y`], `lagrangian`: `x'^2/2 - y^2`", "y'", "have no unique solution", "/first");
    expect_error("`coordinates`: [`x`], `acceleration_energy`: `x''^2/2`", "x'", "defines no momenta", "/first");
    expect_error("`parameters`: {`p_x`: 1}, `coordinates`: [`x`], `kinetic_energy`: `x'^2/2`", "x", "p_x", NULL);
    fixture f;
    hamel_canonical *found = NULL;
    const hamel_argument Q[] = {{"x", "/Q"}}, P[] = {{"p_x", "/P"}};
    fixture_read(&f, kepler, "`stop`: 1");
    assert_int_equal(
        hamel_check_canonical(&found, &f.description, &(hamel_transformation){"/t", Q, P, 1, 1}, NULL, NULL, &f.error),
        HAMEL_INVALID);
    assert_true(fixture_says(&f, "2 expressions, but the system has 3 coordinates"));
    assert_string_equal(f.error.faults[0].pointer, "/t");
    fixture_close(&f);
}

/* The momenta of indexed coordinates x[1], x[2] are p_x[1], p_x[2]. */
static void momenta_of_indexed_coordinates_have_indices(void **state) {
    (void)state;
    static const char chain[] = "`parameters`: {`N`: 2}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`}],"
                                "`kinetic_energy`: `sum(i, 1, N, x[i]'^2)/2`, `potential_energy`: `(x[1] - x[2])^2/2`";
    expect_bracket(chain, "x[2]", "p_x[2]", "1");
    expect_bracket(chain, "p_x[1] + p_x[2]", "energy()", "0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_and_momenta_have_the_fundamental_brackets),
        cmocka_unit_test(the_bracket_of_two_constants_of_the_motion_is_constant),
        cmocka_unit_test(brackets_with_the_hamiltonian_are_time_derivatives),
        cmocka_unit_test(a_bracket_that_simplification_does_not_reduce_to_zero_is_unknown),
        cmocka_unit_test(known_canonical_transformations_are_recognized),
        cmocka_unit_test(the_first_failing_bracket_is_reported),
        cmocka_unit_test(a_transformation_with_an_undecided_bracket_is_reported_as_undecided),
        cmocka_unit_test(functions_without_defined_brackets_are_rejected),
        cmocka_unit_test(momenta_of_indexed_coordinates_have_indices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
