/* test_holonomy.c — engine/analyze/holonomy.c: the number of integrable combinations of velocity constraints, for
 * systems whose integrals or growth vectors are known. */
#include "tests/unit/fixture.h"
#include "tests/unit/polls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct expectation {
    size_t constraints, integrable, accessible;
    hamel_verdict verdict;
} expectation;

static void expect(const char *members, expectation e) {
    hamel_report *r = fixture_report(members);
    assert_string_equal(hamel_verdict_name(r->verdict), hamel_verdict_name(e.verdict));
    assert_int_equal(r->velocity_rank, e.constraints);
    assert_int_equal(r->integrable, e.integrable);
    assert_int_equal(r->accessible_dimension, e.accessible);
    hamel_report_free(r);
}

/* ω ∧ dω = −dx ∧ dy ∧ dphi does not vanish anywhere. */
static void a_knife_edge_reaches_every_configuration(void **state) {
    (void)state;
    expect("`coordinates`: [`x`, `y`, {`name`: `phi`, `initial`: 0.6}], `kinetic_energy`: `x'^2 + y'^2 + phi'^2`,"
           "`constraints`: [{`name`: `edge`, `equation`: `x'*sin(phi) = y'*cos(phi)`}]",
           (expectation){1, 0, 3, HAMEL_VERDICT_NONHOLONOMIC});
}

/* Baruh, example 4.3: the integrating factor is q1, and the integral is q1³ sin q2 + q1 q2² + q1². */
static void one_form_in_two_variables_is_always_integrable(void **state) {
    (void)state;
    expect("`coordinates`: [{`name`: `q1`, `initial`: 1.3}, {`name`: `q2`, `initial`: 0.4}],"
           "`kinetic_energy`: `q1'^2 + q2'^2`, `constraints`: [{`name`: `c`,"
           "`equation`: `(3*q1*sin(q2) + q2^2/q1 + 2)*q1' + (q1^2*cos(q2) + 2*q2)*q2' = 0`}]",
           (expectation){1, 1, 1, HAMEL_VERDICT_HOLONOMIC});
}

/* Baruh, example 4.2: the integral is (x² + y²)^(3/2)/3 − C t. */
static void time_counts_as_a_coordinate(void **state) {
    (void)state;
    expect("`coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: -0.1}, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
           "`constraints`: [{`name`: `cord`, `equation`: `hypot(x, y)*(x*x' + y*y') = -0.1`}]",
           (expectation){1, 1, 1, HAMEL_VERDICT_HOLONOMIC});
}

/* The direction of the line is prescribed and rotates: x' sin t = y' cos t has no integral (Papastavridis 2.3,
 * pursuit). */
static void a_rotating_direction_makes_two_coordinates_free(void **state) {
    (void)state;
    const char *turning = "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                          "`constraints`: [{`name`: `c`, `equation`: `x'*sin(t) = y'*cos(t)`}]";
    const char *standing = "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                           "`constraints`: [{`name`: `c`, `equation`: `exp(t)*(x'*sin(2) - y'*cos(2)) = 0`}]";
    expect(turning, (expectation){1, 0, 2, HAMEL_VERDICT_NONHOLONOMIC});
    expect(standing, (expectation){1, 1, 1, HAMEL_VERDICT_HOLONOMIC});
}

/* The two constraints are combinations of d(x + y w) and d(z − x y). Neither constraint is integrable without the
 * other. */
static void a_pair_may_be_integrable_if_neither_member_is(void **state) {
    (void)state;
    const char *start =
        "`coordinates`: [{`name`: `x`, `initial`: 0.3}, {`name`: `y`, `initial`: -0.5}, {`name`: `z`,"
        "`initial`: 0.8}, {`name`: `w`, `initial`: 0.6}], `kinetic_energy`: `x'^2 + y'^2 + z'^2 + w'^2`,"
        "`constraints`: [";
    const char *members[] = {"{`name`: `a`, `equation`: `(x' + y'*w + y*w') + z*(z' - x'*y - x*y') = 0`}",
                             "{`name`: `b`, `equation`: `w*(x' + y'*w + y*w') + (2 + x)*(z' - x'*y - x*y') = 0`}"};
    char text[2000];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s%s]", start, members[i]);
        expect(text, (expectation){1, 0, 4, HAMEL_VERDICT_NONHOLONOMIC});
    }
    snprintf(text, sizeof text, "%s%s, %s]", start, members[0], members[1]);
    expect(text, (expectation){2, 2, 2, HAMEL_VERDICT_HOLONOMIC});
}

/* A rolling coin, whose growth vector is 2, 3, 4. */
static const char coin[] =
    "`coordinates`: [`x`, `y`, {`name`: `phi`, `initial`: 0.6}, `psi`],"
    "`kinetic_energy`: `x'^2 + y'^2 + phi'^2 + psi'^2`, `constraints`: [{`name`: `cx`,"
    "`equation`: `x' = 0.5*psi'*cos(phi)`}, {`name`: `cy`, `equation`: `y' = 0.5*psi'*sin(phi)`}";

static void a_coin_needs_brackets_of_brackets(void **state) {
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, "%s]", coin);
    expect(text, (expectation){2, 0, 4, HAMEL_VERDICT_NONHOLONOMIC});
}

/* Papastavridis 2.13: rolling in a fixed direction is holonomic. */
static void a_given_holonomic_constraint_changes_the_verdict(void **state) {
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, "%s, {`name`: `straight`, `equation`: `phi = 0.6`}]", coin);
    expect(text, (expectation){2, 2, 1, HAMEL_VERDICT_HOLONOMIC});
}

/* The third constraint is a linear combination of the others. */
static void redundant_rows_count_once(void **state) {
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, "%s, {`name`: `both`, `equation`: `x' + t*y' = 0.5*psi'*(cos(phi) + t*sin(phi))`}]",
             coin);
    expect(text, (expectation){2, 0, 4, HAMEL_VERDICT_NONHOLONOMIC});
    expect("`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `kinetic_energy`: `x'^2 + y'^2`, `constraints`: ["
           "{`name`: `c`, `equation`: `x^2 + y^2 = 1`}, {`name`: `d`, `equation`: `x*x' + y*y' = 0`}]",
           (expectation){0, 0, 1, HAMEL_VERDICT_NONE});
}

/* Neimark and Fufaev: 2 b th − r (p1 − p2) is the only integral. */
static void a_carriage_is_partially_holonomic(void **state) {
    (void)state;
    expect("`coordinates`: [`x`, `y`, {`name`: `th`, `initial`: 0.6}, `p1`, `p2`],"
           "`kinetic_energy`: `x'^2 + y'^2 + th'^2 + p1'^2 + p2'^2`, `constraints`: ["
           "{`name`: `side`, `equation`: `y'*cos(th) = x'*sin(th)`},"
           "{`name`: `right`, `equation`: `x'*cos(th) + y'*sin(th) + 0.25*th' = 0.1*p1'`},"
           "{`name`: `left`, `equation`: `x'*cos(th) + y'*sin(th) - 0.25*th' = 0.1*p2'`}]",
           (expectation){3, 1, 4, HAMEL_VERDICT_PARTIALLY_HOLONOMIC});
}

/* Greenwood, example 4.11: the growth vector is 3, 4, 5. */
static void a_rolling_disk_reaches_every_configuration(void **state) {
    (void)state;
    expect("`coordinates`: [`X`, `Y`, {`name`: `phi`, `initial`: 0.7}, {`name`: `theta`, `initial`: 1.1}, `psi`],"
           "`kinetic_energy`: `X'^2 + Y'^2 + phi'^2 + theta'^2 + psi'^2`, `constraints`: ["
           "{`name`: `cX`, `equation`: `X' + (psi' + phi'*cos(theta))*cos(phi) - theta'*sin(phi)*sin(theta) = 0`},"
           "{`name`: `cY`, `equation`: `Y' + (psi' + phi'*cos(theta))*sin(phi) + theta'*cos(phi)*sin(theta) = 0`}]",
           (expectation){2, 0, 5, HAMEL_VERDICT_NONHOLONOMIC});
}

/* Papastavridis 2.13.4, with Euler angles: the growth vector is 3, 5. If pivoting is forbidden, it is 2, 3, 5. */
static void a_rolling_sphere_reaches_every_configuration(void **state) {
    (void)state;
    const char *rolling =
        "`coordinates`: [`X`, `Y`, {`name`: `ph`, `initial`: 0.2}, {`name`: `th`, `initial`: 0.9}, `ps`],"
        "`kinetic_energy`: `X'^2 + Y'^2 + ph'^2 + th'^2 + ps'^2`, `constraints`: ["
        "{`name`: `a`, `equation`: `X' = sin(ph)*th' - sin(th)*cos(ph)*ps'`},"
        "{`name`: `b`, `equation`: `Y' = -cos(ph)*th' - sin(th)*sin(ph)*ps'`}";
    char text[1500];
    snprintf(text, sizeof text, "%s]", rolling);
    expect(text, (expectation){2, 0, 5, HAMEL_VERDICT_NONHOLONOMIC});
    snprintf(text, sizeof text, "%s, {`name`: `pivot`, `equation`: `ph' + cos(th)*ps' = 0`}]", rolling);
    expect(text, (expectation){3, 0, 5, HAMEL_VERDICT_NONHOLONOMIC});
    /* If th is also held constant, only the circle of example 2.13.4 remains, with one dimension. */
    snprintf(text, sizeof text,
             "%s, {`name`: `pivot`, `equation`: `ph' + cos(th)*ps' = 0`},"
             "{`name`: `held`, `equation`: `th = 0.9`}]",
             rolling);
    expect(text, (expectation){3, 3, 1, HAMEL_VERDICT_HOLONOMIC});
}

/* A body with a quaternion: the norm is a holonomic constraint, and the rotation remains free. */
static void a_quaternions_norm_is_a_holonomic_constraint(void **state) {
    (void)state;
    expect("`coordinates`: [`x`, {`name`: `a`, `initial`: 1}, `b`, `c`, `d`], `kinetic_energy`: `x'^2 + a'^2 + b'^2 + "
           "c'^2 + d'^2`,"
           "`constraints`: [{`name`: `norm`, `equation`: `a^2 + b^2 + c^2 + d^2 = 1`},"
           "{`name`: `roll`, `equation`: `x' = 2*(-d*a' + c*b' - b*c' + a*d')`}]",
           (expectation){1, 0, 4, HAMEL_VERDICT_NONHOLONOMIC});
}

/* Describes a train of trailers: axles connected by links of length 1, with the last axle at (x, y). The growth vector
 * is 2, 3, 4, ... up to the number of coordinates, so there is no integral. */
static void train(char *text, size_t size, int trailers) {
    text_buffer b;
    text_buffer_init(&b, size);
    text_buffer_puts(&b, "`coordinates`: [`x`, `y`");
    for (int k = 0; k <= trailers; k++) text_buffer_printf(&b, ", {`name`: `t%d`, `initial`: %g}", k, 0.1 * k);
    text_buffer_puts(&b, "], `kinetic_energy`: `x'^2 + y'^2");
    for (int k = 0; k <= trailers; k++) text_buffer_printf(&b, " + t%d'^2", k);
    text_buffer_puts(&b, "`, `constraints`: [");
    for (int k = 0; k <= trailers; k++) {
        text_buffer_printf(&b, "%s{`name`: `c%d`, `equation`: `y'*cos(t%d) - x'*sin(t%d)", k ? ", " : "", k, k, k);
        for (int j = 0; j < k; j++) text_buffer_printf(&b, " + t%d'*cos(t%d - t%d)", j, k, j);
        text_buffer_puts(&b, " = 0`}");
    }
    text_buffer_puts(&b, "]");
    assert_false(b.failed);
    memcpy(text, b.bytes, b.length + 1);
    text_buffer_free(&b);
}

static void a_car_with_trailers_can_be_parked(void **state) {
    (void)state;
    static char text[20000];
    for (int trailers = 0; trailers <= 8; trailers += 2) {
        train(text, sizeof text, trailers);
        size_t axles = (size_t)trailers + 1;
        expect(text, (expectation){axles, 0, axles + 2, HAMEL_VERDICT_NONHOLONOMIC});
    }
}

/* With 14 trailers, doubles may not distinguish small brackets from 0. The verdict may then be undetermined but must
 * not be wrong. */
static void a_long_train_is_decided_correctly_or_undetermined(void **state) {
    (void)state;
    static char text[40000];
    train(text, sizeof text, 14);
    hamel_report *r = fixture_report(text);
    if (r->verdict != HAMEL_VERDICT_UNDETERMINED) {
        assert_int_equal(r->verdict, HAMEL_VERDICT_NONHOLONOMIC);
        assert_int_equal(r->accessible_dimension, 17);
    }
    hamel_report_free(r);
}

/* The dimensions of 30 independent knife edges and of 10 independent integrable constraints add up. */
static void dimensions_of_independent_groups_add_up(void **state) {
    (void)state;
    expect("`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..40`}, {`name`: `y[i]`, `for`: `i = 1..40`},"
           "{`name`: `p[i]`, `for`: `i = 1..40`, `initial`: 0.3}],"
           "`kinetic_energy`: `sum(i, 1, 40, x[i]'^2 + y[i]'^2 + p[i]'^2)`, `constraints`: ["
           "{`name`: `free[i]`, `for`: `i = 1..30`, `equation`: `x[i]'*sin(p[i]) = y[i]'*cos(p[i])`},"
           "{`name`: `tied[i]`, `for`: `i = 31..40`, `equation`: `x[i]' = cos(p[i])*p[i]'`}]",
           (expectation){40, 10, 110, HAMEL_VERDICT_PARTIALLY_HOLONOMIC});
}

/* Wheel sizes in millimetres make the brackets small, but not zero. */
static void units_do_not_matter(void **state) {
    (void)state;
    expect("`coordinates`: [`x`, `y`, {`name`: `phi`, `initial`: 0.6}, `psi`],"
           "`kinetic_energy`: `x'^2 + y'^2 + phi'^2 + psi'^2`, `constraints`: [{`name`: `cx`,"
           "`equation`: `x' = 1e-4*psi'*cos(phi)`}, {`name`: `cy`, `equation`: `y' = 1e-4*psi'*sin(phi)`}]",
           (expectation){2, 0, 4, HAMEL_VERDICT_NONHOLONOMIC});
}

/* For k > 0, ∫ dx/(1 + k x²) is an arc tangent. For k = −2, the arc tangent is not finite, so no integral may be
 * reported. */
static void an_integral_that_fails_its_test_is_not_reported(void **state) {
    (void)state;
    static const char with_sign[] =
        "`coordinates`: [{`name`: `x`, `initial`: 0.1}, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
        "`parameters`: {`k`: %d}, `constraints`: [{`name`: `c`, `equation`: `x' = (1 + k*x^2)*y'`}]";
    char text[500];
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text, with_sign, k ? 2 : -2);
        hamel_report *r = fixture_report(text);
        assert_int_equal(r->integrable, 1);
        assert_int_equal(r->integral_count, k);
        hamel_report_free(r);
    }
}

static void expect_integrals(const char *members, const char *wanted) {
    hamel_report *r = fixture_report(members);
    char text[1000] = "";
    for (size_t k = 0, at = 0; k < r->integral_count; k++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s:", k ? "; " : "", r->integrals[k].integral);
        for (size_t i = 0; i < r->integrals[k].term_count; i++) {
            const hamel_integral_term *term = &r->integrals[k].terms[i];
            at += (size_t)snprintf(text + at, sizeof text - at, " (%s)*%s", term->factor, term->constraint);
        }
        assert_true(at < sizeof text);
    }
    assert_string_equal(text, wanted);
    hamel_report_free(r);
}

/* A disk rolls along a straight line, so x = r psi cos(0.6) after substitution of the constant angle. If the constraint
 * is that the angle's rate is 0, the angle is an integral and remains a variable in the other integrals. */
static void constant_coordinates_are_substituted_into_the_other_integrals(void **state) {
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, "%s, {`name`: `straight`, `equation`: `phi = 0.6`}]", coin);
    expect_integrals(text, "x - psi*cos(3/5)/2: (1)*cx; y - psi*sin(3/5)/2: (1)*cy");
    snprintf(text, sizeof text, "%s, {`name`: `straight`, `equation`: `phi' = 0`}]", coin);
    expect_integrals(text, "phi: (1)*straight; x - psi*cos(phi)/2: (1)*cx (psi*sin(phi)/2)*straight; "
                           "y - psi*sin(phi)/2: (1)*cy (-psi*cos(phi)/2)*straight");
}

/* The constraint z' = g y' is nonholonomic where g depends on x. The constraint z' = z (x y' − y x') keeps the plane z
 * = 0 invariant. Outside this plane, the constraint is a contact form. */
static void a_different_verdict_from_the_start_is_reported(void **state) {
    static const struct {
        const char *equation;
        double x, z;
        size_t integrable, at_start;
        const char *condition; /* region in which the verdict applies; NULL if everywhere */
    } cases[] = {
        {"z' = if(x > 5, (x - 5)^3, 0)*y'", 0, 0, 0, 1, "x<5"},
        {"z' = if(x > 5, (x - 5)^3, 0)*y'", 6, 0, 0, 0, NULL},
        {"z' = max(x - 2, 0)*y'", 0.3, 0, 0, 1, "x<2"},
        {"z' = (x + abs(x - 1))*y'", 0.3, 0, 0, 1, "x<1"},
        {"z' = floor(0.1*x + 0.5)*y'", 0.3, 0, 1, 1, "floor(0.5 + 0.1*x)==0"},
        {"z' = if(t > 1, x, 0)*y'", 0.3, 0, 0, 1, "t<1"},
        {"z' = if(x > 5, 1, 2)*y'", 0.3, 0, 1, 1, "x<5"},   /* for x < 5 the integral is z - 2 y, else z - y */
        {"z' = max(x - 0.5, 0)*y'", 0.3, 0, 0, 1, "x<0.5"}, /* the start is close to the boundary of the region */
        {"z' = x*x'", 0.3, 0, 1, 1, NULL},
        {"z' = z*(x*y' - y*x')", 0.3, 0, 0, 1, NULL},
        {"z' = z*(x*y' - y*x')", 0.3, 0.2, 0, 0, NULL},
        {"z' = sin(z)^2*x*y'", 0.3, 0, 0, 1, NULL},
        {"z' = (z - 0.1)*x*y'", 0.3, 0.1, 0, 1, NULL},
        {"z' = exp(-30 - x)*y'", 0.3, 0, 0, 0, NULL}, /* the coefficient is small, but the bracket is not zero */
        {"z' = 1e-15*x*y'", 0.3, 0, 0, 0, NULL},
        {"z' = (0.1*x*y' + 0.2*x*y') - 0.3*x*y' + 0.7*x*x'", 0.3, 0, 1, 1, NULL}, /* 5.6e-17*x*y' is a rounding error */
        {"z' = y^4*x'", 0, 0, 0, 0,
         NULL}, /* every configuration is reachable from the initial one, which is singular */
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[700];
        snprintf(text, sizeof text,
                 "`coordinates`: [{`name`: `x`, `initial`: %g}, `y`, {`name`: `z`, `initial`: %g}],"
                 "`kinetic_energy`: `x'^2 + y'^2 + z'^2`, `constraints`: [{`name`: `c`, `equation`: `%s`}]",
                 cases[k].x, cases[k].z, cases[k].equation);
        hamel_report *r = fixture_report(text);
        const hamel_start_verdict *start = &r->at_start;
        if (r->integrable != cases[k].integrable ||
            start->differs != (cases[k].at_start != cases[k].integrable || cases[k].condition) ||
            start->integrable != cases[k].at_start)
            fail_msg("%s: %zu integrable combinations, %zu at the initial configuration", cases[k].equation,
                     r->integrable, start->integrable);
        if (start->differs) assert_int_equal(start->accessible_dimension, 3 - start->integrable);
        assert_int_equal(start->conditions.count, cases[k].condition != NULL);
        if (cases[k].condition != NULL) assert_string_equal(start->conditions.items[0], cases[k].condition);
        hamel_report_free(r);
    }
}

/* The constraint a, x1' = f(x2) x2', is integrable for every f, and the constraint b is not. The verdict must not
 * depend on the initial configuration, even if f is small. */
static void a_small_coefficient_is_not_a_bracket(void **state) {
    static const char *const functions[] = {"x2^2",      "x2^3",         "0.3*x2^4",    "(1 - cos(x2))",
                                            "sin(x2)^2", "x2^2*exp(x2)", "(x2 - 0.2)^2"};
    static const char *const others[] = {"x4' - x3*x2'", "x4' - x2*x3'", "x4' - x3*x2' + x2*x3'"};
    static const double starts[] = {-0.9, -0.6, -0.26, -0.2, -0.1, 0, 1e-9, 0.05, 0.1, 0.3};
    (void)state;
    for (size_t k = 0; k < 7 * 3 * 10; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "`coordinates`: [`x1`, {`name`: `x2`, `initial`: %g}, `x3`, `x4`],"
                 "`kinetic_energy`: `x1'^2 + x2'^2 + x3'^2 + x4'^2`, `constraints`: ["
                 "{`name`: `a`, `equation`: `x1' - %s*x2' = 0`}, {`name`: `b`, `equation`: `%s = 0`}]",
                 starts[k % 10], functions[k / 30], others[k / 10 % 3]);
        expect(text, (expectation){2, 1, 3, HAMEL_VERDICT_PARTIALLY_HOLONOMIC});
    }
}

/* The form is d(0.1 x³ y + 0.7 z), differentiated by hand. In doubles, 0.3 is not 3 times 0.1, but the analysis must
 * recognize the form as exact. */
static void rounded_decimals_do_not_change_a_verdict(void **state) {
    (void)state;
    expect("`coordinates`: [{`name`: `x`, `initial`: 0.4}, `y`, `z`], `kinetic_energy`: `x'^2 + y'^2 + z'^2`,"
           "`constraints`: [{`name`: `c`, `equation`: `(0.3*x^2*y*x' + 0.1*x^3*y' + 0.7*z')*(1 + y^2) = 0`}]",
           (expectation){1, 1, 2, HAMEL_VERDICT_HOLONOMIC});
}

/* The dimensions are compared as text, for example "2, 3, 4". */
static void expect_dimensions(const size_t *found, size_t count, const char *wanted) {
    char text[200] = "";
    assert_non_null(found);
    for (size_t k = 0, at = 0; k < count; k++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%zu", k ? ", " : "", found[k]);
    assert_string_equal(text, wanted);
}

static void expect_flags(const char *members, const char *derived, const char *growth, bool exact) {
    hamel_report *r = fixture_report(members);
    expect_dimensions(r->derived_flag, r->derived_flag_count, derived);
    expect_dimensions(r->growth_vector, r->growth_vector_count, growth);
    assert_int_equal(r->exact, exact);
    assert_string_equal(r->flags_decided_by, exact ? "expressions" : "random states");
    hamel_report_free(r);
}

/* The polynomial fields X = ∂x and Y generate an algebra with [X, Y] = W, [X, W] = P, [X, P] = R, [Y, R] = −2 S, [W, P]
 * = 2 S. Brackets with X and Y alone yield S one step after R, but [W, P] yields S in the same step as R. */
static void brackets_of_brackets_need_fewer_steps_than_brackets_with_generators(void **state) {
    (void)state;
    expect_flags("`coordinates`: [{`name`: `x`, `initial`: 0.3}, `y`, `w`, `p`, `r`, `s`],"
                 "`kinetic_energy`: `x'^2 + y'^2 + w'^2 + p'^2 + r'^2 + s'^2`, `constraints`: ["
                 "{`name`: `a`, `equation`: `w' = x*y'`}, {`name`: `b`, `equation`: `p' = x^2/2*y'`},"
                 "{`name`: `c`, `equation`: `r' = x^3/6*y'`},"
                 "{`name`: `d`, `equation`: `s' = (r - x*p + x^2*w/2 - x^3*y/6)*y'`}]",
                 "4, 3, 2, 0", "2, 3, 4, 5, 6", true);
}

/* X = ∂x, Y = ∂y + x ∂z + x²/2 ∂a + g ∂b. With g = x³/6 + ε z, [Y, [X, Y]] = −ε ∂b is one step earlier than [X, [X, [X,
 * Y]]] = ∂b. If ε is written in the description, the analysis must treat ε as nonzero, however small it is. If ε is
 * caused by rounding, the analysis must treat ε as zero. In doubles, 1e-10 next to terms of size 1 would be treated as
 * rounding. */
static void small_brackets_in_between_count(void **state) {
    static const struct {
        const char *g, *derived, *growth;
        bool exact;
    } cases[] = {
        {"x^3/6 + z", "3, 2, 0", "2, 3, 5", true},
        {"x^3/6 + 1e-10*z", "3, 2, 0", "2, 3, 5", true},
        {"x^3/6 - 1e-14*z", "3, 2, 0", "2, 3, 5", true},
        {"x^3/6 + 1e-30*sin(z)", "3, 2, 0", "2, 3, 5", true},
        {"x^3/6 + k*z", "3, 2, 0", "2, 3, 5", true},
        {"x^3/6", "3, 2, 1, 0", "2, 3, 4, 5", true},
        {"x^3/6 + (0.1 + 0.2 - 0.3)*z", "3, 2, 1, 0", "2, 3, 4, 5", false},
        {"x^3/6 + 0.1*z + 0.2*z - 0.3*z", "3, 2, 1, 0", "2, 3, 4, 5", true},
        {"x^3/6 + 1e-10*(cosh(z) - sqrt(1 + sinh(z)^2))", "3, 2, 1, 0", "2, 3, 4, 5", false},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[700];
        snprintf(text, sizeof text,
                 "`parameters`: {`k`: 1e-12}, `coordinates`: [{`name`: `x`, `initial`: 0.3}, `y`, {`name`: `z`, "
                 "`initial`: 0.4}, `a`, `b`], `kinetic_energy`: `x'^2 + y'^2 + z'^2 + a'^2 + b'^2`, `constraints`: ["
                 "{`name`: `c1`, `equation`: `z' = x*y'`}, {`name`: `c2`, `equation`: `a' = x^2/2*y'`},"
                 "{`name`: `c3`, `equation`: `b' = (%s)*y'`}]",
                 cases[k].g);
        expect_flags(text, cases[k].derived, cases[k].growth, cases[k].exact);
    }
}

/* The fields of the previous test, given by combinations of the constraints that the algebra cannot simplify. */
static void small_brackets_count_if_algebra_cannot_simplify_them(void **state) {
    static const char *const rates[] = {"2, 3, 5", "2, 3, 4, 5"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        char text[1200];
        const char *by = k % 2 ? "atan(1 + tanh(x)*y)" : "sqrt(2 + sinh(y)^2)";
        snprintf(text, sizeof text,
                 "`coordinates`: [{`name`: `x`, `initial`: 0.3}, `y`, {`name`: `z`, `initial`: 0.4}, `a`, `b`],"
                 "`kinetic_energy`: `x'^2 + y'^2 + z'^2 + a'^2 + b'^2`, `constraints`: ["
                 "{`name`: `c1`, `equation`: `(z' - x*y') + %s*(a' - x^2/2*y') = 0`},"
                 "{`name`: `c2`, `equation`: `a' - x^2/2*y' + %s*(b' - (x^3/6 + %s*z)*y') = 0`},"
                 "{`name`: `c3`, `equation`: `b' = (x^3/6 + %s*z)*y'`}]",
                 by, by, k < 2 ? "1e-10" : "0", k < 2 ? "1e-10" : "0");
        hamel_report *r = fixture_report(text);
        expect_dimensions(r->growth_vector, r->growth_vector_count, rates[k / 2]);
        hamel_report_free(r);
    }
}

/* In the difference of the wheels' rates, all terms that depend on the cart's heading cancel. The integral must be
 * found even if a constraint is multiplied by a factor. */
static void the_carriage_has_its_integral(void **state) {
    (void)state;
    expect_integrals(
        "`parameters`: {`b`: 0.25, `r`: 0.1}, `coordinates`: [`x`, `y`, {`name`: `th`, `initial`: 0.6}, `p1`, `p2`],"
        "`kinetic_energy`: `x'^2 + y'^2 + th'^2 + p1'^2 + p2'^2`, `constraints`: ["
        "{`name`: `side`, `equation`: `y'*cos(th) = x'*sin(th)`},"
        "{`name`: `right`, `equation`: `x'*cos(th) + y'*sin(th) + b*th' = r*p1'`},"
        "{`name`: `left`, `equation`: `2*(x'*cos(th) + y'*sin(th) - b*th' - r*p2') = 0`}]",
        "2*b*th - r*p1 + r*p2: (1)*right (-1/2)*left");
}

/* Papastavridis 2.13.4: the centre of a ball that rolls without pivoting at constant nutation moves on a circle of
 * radius r tan th0. The angle is eliminated by an integral that contains a product. */
static void a_ball_that_rolls_without_pivoting_moves_on_a_circle(void **state) {
    (void)state;
    expect_integrals("`parameters`: {`r`: 0.3, `h`: 0.7},"
                     "`coordinates`: [`X`, `Y`, {`name`: `ph`, `initial`: 0.2}, {`name`: `th`, `initial`: `h`}, `ps`],"
                     "`kinetic_energy`: `X'^2 + Y'^2 + ph'^2 + th'^2 + ps'^2`, `constraints`: ["
                     "{`name`: `a`, `equation`: `X' = r*(sin(ph)*th' - sin(th)*cos(ph)*ps')`},"
                     "{`name`: `b`, `equation`: `Y' = -r*(cos(ph)*th' + sin(th)*sin(ph)*ps')`},"
                     "{`name`: `pivot`, `equation`: `ph' + cos(th)*ps' = 0`}, {`name`: `held`, `equation`: `th = h`}]",
                     "ph + ps*cos(h): (1)*pivot; X - r*sin(h)*sin(ph)/cos(h): (1)*a (-r*sin(h)*cos(ph)/cos(h))*pivot "
                     "(r*sin(ph))*held; Y + r*sin(h)*cos(ph)/cos(h): (1)*b (-r*sin(h)*sin(ph)/cos(h))*pivot "
                     "(-r*cos(ph))*held");
}

/* cosh² = 1 + sinh² is not among the rules of the algebra. The integral w − z is found only by evaluation at random
 * states. */
static void integrals_beyond_the_algebra_are_found_at_random_states(void **state) {
    (void)state;
    expect_flags("`coordinates`: [{`name`: `x`, `initial`: 0.3}, `y`, `z`, `w`],"
                 "`kinetic_energy`: `x'^2 + y'^2 + z'^2 + w'^2`, `constraints`: ["
                 "{`name`: `a`, `equation`: `z' = cosh(x)*y' + x'`},"
                 "{`name`: `b`, `equation`: `w' = sqrt(1 + sinh(x)^2)*y' + x'`}]",
                 "2, 1", "2, 3", false);
}

/* If Φ = 0 is a given constraint, dΦ is in every derived system. If derived forms are dependent only where Φ = 0, the
 * dependence is found only at test points that satisfy the constraint. */
static void given_constraints_stay_in_the_flag(void **state) {
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, "%s]", coin);
    expect_flags(text, "2, 1, 0", "2, 3, 4", true);
    snprintf(text, sizeof text, "%s, {`name`: `straight`, `equation`: `phi = 0.6`}]", coin);
    expect_flags(text, "3", "1", true);
    snprintf(text, sizeof text, "%s, {`name`: `twice`, `equation`: `x'*cos(0.5) = 0.5*psi'*cos(phi)*cos(0.5)`}]", coin);
    expect_flags(text, "2, 1, 0", "2, 3, 4", true);
    expect_flags(
        "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `kinetic_energy`: `x'^2 + y'^2`, `constraints`: ["
        "{`name`: `c`, `equation`: `x^2 + y^2 = 1`}, {`name`: `d`, `equation`: `(x^2 + y^2)*x*x' + y*y' = 0`}]",
        "1", "1", false);
}

/* Two groups without common coordinates have separate growth vectors, but the groups share the time. */
static void flags_of_groups_add_up(void **state) {
    (void)state;
    char text[1200];
    const char *rest =
        "`coordinates`: [`x`, `y`, {`name`: `f`, `initial`: 0.6}, `u`, {`name`: `v`, `initial`: 0.3}, `e`],"
        "`kinetic_energy`: `x'^2 + y'^2 + f'^2 + u'^2 + v'^2 + e'^2`, `constraints`: ["
        "{`name`: `edge`, `equation`: `x'*sin(f) = y'*cos(f)`},";
    snprintf(text, sizeof text, "%s{`name`: `p`, `equation`: `u' = v*v'`}]", rest);
    expect_flags(text, "2, 1", "4, 5", true);
    snprintf(text, sizeof text, "%s{`name`: `p`, `equation`: `u' = t*v'`}]", rest);
    expect_flags(text, "2, 0", "5, 7", true);
}

/* For 14 coordinates, twelvefold brackets take more than a few seconds, so the growth vector is not computed. */
static void a_train_grows_by_one_dimension_a_step(void **state) {
    (void)state;
    static char text[20000];
    train(text, sizeof text, 4);
    hamel_report *r = fixture_report(text);
    expect_dimensions(r->growth_vector, r->growth_vector_count, "2, 3, 4, 5, 6, 7");
    expect_dimensions(r->derived_flag, r->derived_flag_count, "5, 4, 3, 2, 1, 0");
    hamel_report_free(r);
    train(text, sizeof text, 11);
    r = fixture_report(text);
    assert_null(r->growth_vector);
    hamel_report_free(r);
}

static void contradictions_are_reported(void **state) {
    (void)state;
    fixture f;
    hamel_report *report;
    fixture_read(&f,
                 "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`, `constraints`: ["
                 "{`name`: `c`, `equation`: `x' = 1`}, {`name`: `d`, `equation`: `2*x' = 3`}]",
                 "`stop`: 1");
    assert_int_equal(hamel_analyze(&report, &f.description, NULL, NULL, &f.error), HAMEL_INCOMPATIBLE);
    assert_null(report);
    fixture_close(&f);
    fixture_read(&f,
                 "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`, `constraints`: ["
                 "{`name`: `c`, `equation`: `x^2 + y^2 = -1`}]",
                 "`stop`: 1");
    assert_int_equal(hamel_analyze(&report, &f.description, NULL, NULL, &f.error), HAMEL_INCOMPATIBLE);
    fixture_close(&f);
}

static void the_analysis_can_be_canceled(void **state) {
    (void)state;
    static char text[20000];
    fixture f;
    hamel_report *report;
    flag_poll canceled = flag_poll_of(true);
    train(text, sizeof text, 8);
    fixture_read(&f, text, "`stop`: 1");
    assert_int_equal(hamel_analyze(&report, &f.description, NULL, &canceled.poll, &f.error), HAMEL_CANCELED);
    assert_null(report);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_different_verdict_from_the_start_is_reported),
        cmocka_unit_test(a_small_coefficient_is_not_a_bracket),
        cmocka_unit_test(rounded_decimals_do_not_change_a_verdict),
        cmocka_unit_test(a_knife_edge_reaches_every_configuration),
        cmocka_unit_test(one_form_in_two_variables_is_always_integrable),
        cmocka_unit_test(time_counts_as_a_coordinate),
        cmocka_unit_test(a_rotating_direction_makes_two_coordinates_free),
        cmocka_unit_test(a_pair_may_be_integrable_if_neither_member_is),
        cmocka_unit_test(a_coin_needs_brackets_of_brackets),
        cmocka_unit_test(a_given_holonomic_constraint_changes_the_verdict),
        cmocka_unit_test(redundant_rows_count_once),
        cmocka_unit_test(a_carriage_is_partially_holonomic),
        cmocka_unit_test(a_rolling_disk_reaches_every_configuration),
        cmocka_unit_test(a_rolling_sphere_reaches_every_configuration),
        cmocka_unit_test(a_quaternions_norm_is_a_holonomic_constraint),
        cmocka_unit_test(a_car_with_trailers_can_be_parked),
        cmocka_unit_test(a_long_train_is_decided_correctly_or_undetermined),
        cmocka_unit_test(dimensions_of_independent_groups_add_up),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(a_ball_that_rolls_without_pivoting_moves_on_a_circle),
        cmocka_unit_test(the_carriage_has_its_integral),
        cmocka_unit_test(an_integral_that_fails_its_test_is_not_reported),
        cmocka_unit_test(constant_coordinates_are_substituted_into_the_other_integrals),
        cmocka_unit_test(brackets_of_brackets_need_fewer_steps_than_brackets_with_generators),
        cmocka_unit_test(small_brackets_in_between_count),
        cmocka_unit_test(small_brackets_count_if_algebra_cannot_simplify_them),
        cmocka_unit_test(integrals_beyond_the_algebra_are_found_at_random_states),
        cmocka_unit_test(given_constraints_stay_in_the_flag),
        cmocka_unit_test(flags_of_groups_add_up),
        cmocka_unit_test(a_train_grows_by_one_dimension_a_step),
        cmocka_unit_test(contradictions_are_reported),
        cmocka_unit_test(the_analysis_can_be_canceled),
    };
    return cmocka_run_group_tests_name("holonomy", tests, NULL, NULL);
}
