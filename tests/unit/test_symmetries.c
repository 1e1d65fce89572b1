/* test_symmetries.c — engine/analyze/symmetries.c: momenta and energies that are conserved because of combined
 * shifts and rotations, compared with textbooks and with motions. */
#include "engine/analyze/symmetries.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Checks the expressions of all conserved quantities. `list` contains them in the order of the report, separated by
 * "; ". */
static void expect_conserved(const hamel_report *r, const char *list) {
    char found[4000] = "";
    for (size_t k = 0; k < r->conserved.count; k++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s", k > 0 ? "; " : "", r->conserved.items[k]);
    }
    assert_string_equal(found, list);
    assert_int_equal(r->symmetries->count, r->conserved.count);
    for (size_t k = 0; k < r->conserved.count; k++)
        assert_string_equal(r->symmetries->items[k].conserved, r->conserved.items[k]);
}

/* Checks the displacement of each coordinate, in the form "x: -y, y: x", and the shift of the time. */
static void expect_symmetry(const hamel_symmetry *s, int time_shift, const char *displacement) {
    char found[1000] = "";
    for (size_t k = 0; k < s->displacement_count; k++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%s: %s", k > 0 ? ", " : "", s->displacements[k].coordinate,
                 s->displacements[k].value);
    }
    assert_string_equal(found, displacement);
    assert_int_equal(s->time_shift, time_shift);
}

static void check_conserved(const char *members, const char *list) {
    hamel_report *r = fixture_report(members);
    expect_conserved(r, list);
    hamel_report_free(r);
}

/* Runs the system and checks that a quantity changes by less than 1e-7. The error of the integration is about 1e-9. */
static void expect_constant(const char *members, const char *quantity) {
    char system[4000];
    snprintf(system, sizeof system, "%s, `outputs`: {`J`: `%s`}", members, quantity);
    motion m = motion_run(system, "`stop`: 2, `samples`: 21, `rtol`: 1e-10, `atol`: 1e-12");
    assert_below(quantity, motion_drift(&m, "J"), 1e-7);
    motion_free(&m);
}

/* Each system has conserved quantities, and each of them is constant along a motion. */
static void reported_quantities_are_constant_along_a_motion(void **state) {
    static const char *const systems[] = {
        /* a particle in a rotating trough: the constraint contains the time */
        ("`parameters`: {`W`: 1.7, `m`: 0.6}, `coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: 0.3}, {`name`: "
         "`y`, "
         "`velocity`: 1.7}], `kinetic_energy`: `m*(x'^2 + y'^2)/2`, `potential_energy`: `m*(x^2 + y^2)^2`, "
         "`constraints`: [{`name`: `trough`, `equation`: `x*sin(W*t) = y*cos(W*t)`}]"),
        /* two masses that are connected by a nonlinear spring */
        ("`coordinates`: [{`name`: `x`, `initial`: 0.2}, {`name`: `y`, `initial`: 1}, {`name`: `u`, `initial`: -1, "
         "`velocity`: 0.4}, {`name`: `v`, `velocity`: 0.7}], `kinetic_energy`: `3*(x'^2 + y'^2)/2 + (u'^2 + v'^2)`, "
         "`potential_energy`: `((x - u)^2 + (y - v)^2)^2`"),
        /* coordinates with a mass matrix that is not diagonal, and a potential that depends only on the same
         * quadratic form */
        ("`coordinates`: [{`name`: `x`, `initial`: 0.7}, {`name`: `y`, `initial`: 1, `velocity`: 0.4}], "
         "`kinetic_energy`: `x'^2 + x'*y' + 2*y'^2`, `potential_energy`: `(x^2 + x*y + 2*y^2)^2`"),
    };
    (void)state;
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        hamel_report *r = fixture_report(systems[k]);
        assert_true(r->conserved.count > 0);
        for (size_t i = 0; i < r->conserved.count; i++) expect_constant(systems[k], r->conserved.items[i]);
        hamel_report_free(r);
    }
}

/* A potential with helical symmetry: the screw motion δφ = 1, δz = k conserves p_φ + k p_z. */
static void a_potential_with_helical_symmetry_conserves_the_momentum_of_a_screw_motion(void **state) {
    (void)state;
    hamel_report *r =
        fixture_report("`parameters`: {`k`: 0.3}, `coordinates`: [{`name`: `r`, `initial`: 1}, `phi`, `z`],"
                       "`kinetic_energy`: `(r'^2 + r^2*phi'^2 + z'^2)/2`,"
                       "`potential_energy`: `r^2*cos(z - k*phi)`");
    expect_conserved(r, "jacobi_integral(); momentum(phi) + k*momentum(z)");
    expect_symmetry(&r->symmetries->items[0], 1, "");
    expect_symmetry(&r->symmetries->items[1], 0, "phi: 1, z: k");
    hamel_report_free(r);
}

/* Two particles that attract each other conserve their total linear and angular momenta. */
static void interacting_particles_conserve_linear_and_angular_momentum(void **state) {
    (void)state;
    hamel_report *r =
        fixture_report("`coordinates`: [{`name`: `x`, `initial`: 1}, `y`, `z`, {`name`: `u`, `initial`: -1}, `v`, `w`],"
                       "`kinetic_energy`: `3*(x'^2 + y'^2 + z'^2)/2 + (u'^2 + v'^2 + w'^2)/2`,"
                       "`potential_energy`: `-1/sqrt((x - u)^2 + (y - v)^2 + (z - w)^2)`");
    expect_conserved(r, "jacobi_integral(); x*momentum(y) + u*momentum(v) - y*momentum(x) - v*momentum(u); "
                        "x*momentum(z) + u*momentum(w) - z*momentum(x) - w*momentum(u); "
                        "y*momentum(z) + v*momentum(w) - z*momentum(y) - w*momentum(v); "
                        "momentum(x) + momentum(u); momentum(y) + momentum(v); momentum(z) + momentum(w)");
    hamel_report_free(r);
}

/* Baruh, example 4.9: a bead on a hoop that rotates at the rate W. The energy E in Cartesian coordinates is not
 * constant. E − W L with the angular momentum L is constant. It is the Jacobi integral T2 − T0 + V for the angle of
 * the bead on the hoop. */
static void the_jacobi_integral_of_rotating_coordinates_is_found_in_cartesian_coordinates(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`parameters`: {`W`: 6, `R`: 0.5, `g`: 9.81}, `coordinates`: [{`name`: `x`, "
                                     "`initial`: `R*0.6`}, {`name`: `y`, `velocity`: `W*R*0.6`}, {`name`: `z`, "
                                     "`initial`: `-R*0.8`}], `kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`,"
                                     "`potential_energy`: `g*z`, `constraints`: [{`name`: `sphere`, `equation`: "
                                     "`x^2 + y^2 + z^2 = R^2`}, {`name`: `plane`, `equation`: "
                                     "`x*sin(W*t) = y*cos(W*t)`}]");
    expect_conserved(r, "jacobi_integral() + y*W*momentum(x) - x*W*momentum(y)");
    expect_symmetry(&r->symmetries->items[0], 1, "x: -y*W, y: x*W");
    hamel_report_free(r);
}

/* The displacement of a symmetry must be a virtual displacement. For a skate on a table at rest, the shift of φ and
 * the shift of the time are symmetries. A rotation about the origin is not, because the reaction of the blade does
 * work in it. On a rotating table (Papastavridis, problem 2.13.1, in inertial coordinates), the shift of the time
 * must be combined with a rotation at the rate W. */
static void displacements_of_symmetries_satisfy_nonholonomic_constraints(void **state) {
    static const char *const skate = "`coordinates`: [`x`, `y`, `phi`], `kinetic_energy`: `(x'^2 + y'^2 + phi'^2)/2`,"
                                     "`constraints`: [{`name`: `blade`, `equation`: `x'*sin(phi) = y'*cos(phi)`}]";
    (void)state;
    check_conserved(skate, "jacobi_integral(); momentum(phi)");
    check_conserved(
        "`parameters`: {`W`: 0.8}, `coordinates`: [{`name`: `x`, `initial`: 0.4, `velocity`: 1}, {`name`: `y`,"
        "`velocity`: 0.32}, `phi`], `kinetic_energy`: `(x'^2 + y'^2 + phi'^2)/2`, `constraints`: [{`name`: "
        "`blade`, `equation`: `(x' + W*y)*sin(phi) = (y' - W*x)*cos(phi)`}]",
        "momentum(phi); jacobi_integral() + y*W*momentum(x) - x*W*momentum(y)");
}

/* Papastavridis, problem 3.5.8: a double pendulum with vertical axes conserves p_φ + p_ψ. Dampers and forces that
 * act between the two links do not change this sum. External dampers and forces do. */
static void internal_forces_conserve_a_sum_of_momenta(void **state) {
    static const char *const members = "`coordinates`: [`a`, `b`], `kinetic_energy`: `a'^2 + cos(a - b)*a'*b' + b'^2`, "
                                       "`potential_energy`: `(a - b)^2`, ";
    static const struct {
        const char *force, *conserved;
    } cases[] = {
        {"`dissipation`: `0.2*(a' - b')^2`", "momentum(a) + momentum(b)"},
        {"`dissipation`: `0.2*(a' + b')^2`", ""},
        {"`generalized_forces`: {`a`: `sin(t)`, `b`: `-sin(t)`}", "momentum(a) + momentum(b)"},
        {"`generalized_forces`: {`a`: `sin(t)`}", ""},
        {"`parameters`: {`k`: 0.4}, `generalized_forces`: {`a`: `k*a'`, `b`: `-k*a'`}", "momentum(a) + momentum(b)"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[600];
        snprintf(text, sizeof text, "%s%s", members, cases[k].force);
        check_conserved(text, cases[k].conserved);
    }
}

/* If a block slides with friction on a cart, the sum of their momenta is conserved. If it slides on the ground, only
 * the momentum of the cart is conserved. */
static void friction_between_bodies_conserves_the_sum_of_their_momenta(void **state) {
    static const char *const between =
        "`coordinates`: [`X`, {`name`: `x`, `velocity`: 1}, {`name`: `y`, `initial`: 0.5}], `gravity`: [0, -9.81], "
        "`bodies`: [{`name`: `cart`, `mass`: 3, `position`: [`X`, 0]}], "
        "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`]}], "
        "`constraints`: [{`name`: `contact`, `equation`: `y = 0.5`, `friction`: {`coefficient`: 0.3, `on`: "
        "`block`%s}}]";
    char text[900];
    (void)state;
    snprintf(text, sizeof text, between, ", `against`: `cart`");
    check_conserved(text, "momentum(X) + momentum(x)");
    snprintf(text, sizeof text, between, "");
    check_conserved(text, "momentum(X)");
}

/* The sum of the momenta is conserved while x ≤ 0.7. For x > 0.7, an external force acts on x. */
static void a_sum_of_momenta_may_be_conserved_on_one_branch(void **state) {
    (void)state;
    hamel_report *r = fixture_report("`coordinates`: [`x`, `u`], `kinetic_energy`: `x'^2 + 2*u'^2`, "
                                     "`potential_energy`: `(x - u)^2 + if(x > 0.7, (x - 0.7)^3, 0)`");
    expect_conserved(r, "jacobi_integral()");
    assert_int_equal(r->conserved_while_count, 1);
    assert_string_equal(r->conserved_while[0].name, "momentum(x) + momentum(u)");
    hamel_report_free(r);
}

/* Only one of several quantities that are equal on the constraints is listed. The first system has no rotational
 * symmetry, because its potential contains u⁴. In the second, x = u and y = v, so the same angular momentum has
 * several expressions. */
static void quantities_that_are_equal_on_the_constraints_are_listed_once(void **state) {
    (void)state;
    check_conserved(
        "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: 0}, {`name`: `u`, `initial`: 1}],"
        "`kinetic_energy`: `(x'^2 + y'^2 + u'^2)/2`, `potential_energy`: `(x^2 + y^2)^2 + u^4`, "
        "`constraints`: [{`name`: `same`, `equation`: `x = u`}]",
        "jacobi_integral()");
    check_conserved(
        "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: 0}, {`name`: `u`, `initial`: 1},"
        "`v`], `kinetic_energy`: `(x'^2 + y'^2 + u'^2 + v'^2)/2`, `potential_energy`: `(x^2 + y^2)^2`, "
        "`constraints`: [{`name`: `same`, `equation`: `x = u`}, {`name`: `equal`, `equation`: `y = v`}]",
        "jacobi_integral(); u*momentum(y) + u*momentum(v) - v*momentum(x) - v*momentum(u)");
}

/* For two coordinates with constant velocities, q_i p_j/M_j − q_j p_i/M_i is constant as well. It contains no other
 * information than the two momenta, so it is not listed. */
static void trivial_combinations_of_constant_momenta_are_not_listed(void **state) {
    (void)state;
    check_conserved("`coordinates`: [`x`, `theta`], `kinetic_energy`: `x'^2 + 3*theta'^2`",
                    "jacobi_integral(); momentum(x); momentum(theta)");
    check_conserved(
        "`coordinates`: [`x`, `s`, `a`], `kinetic_energy`: `x'^2 + 3*s'^2 + a'^2`, `potential_energy`: `s`, "
        "`constraints`: [{`name`: `roll`, `equation`: `s' = 0.5*a'`}]",
        "jacobi_integral(); momentum(x)");
}

/* Checks the name of the variable s, and the text of the time unless `text` is NULL. Runs the system and checks that
 * the square of `rate` is equal to f(s) at each row. */
static void expect_quadrature(const char *members, const char *variable, const char *rate, const char *text) {
    hamel_report *r = fixture_report(members);
    const hamel_quadrature *q = r->symmetries->quadrature;
    assert_non_null(q);
    char difference[3000];
    snprintf(difference, sizeof difference, "(%s)^2 - (%s)", rate, q->rate_squared);
    assert_string_equal(q->variable, variable);
    if (text) assert_string_equal(q->time, text);
    char system[6000];
    snprintf(system, sizeof system, "%s, `outputs`: {`J`: `%s`}", members, difference);
    motion m = motion_run(system, "`stop`: 2, `samples`: 21, `rtol`: 1e-10, `atol`: 1e-12");
    assert_below("difference", fabs(motion_last(&m, "J")), 1e-7);
    assert_below("change of the difference", motion_drift(&m, "J"), 1e-7);
    motion_free(&m);
    hamel_report_free(r);
}

/* Systems in which the conserved quantities leave one degree of freedom, so that s'² is a function of s: a pendulum,
 * a planet, and the systems that are described below (Papastavridis, problem 3.5.8). */
static void one_remaining_degree_of_freedom_leads_to_a_quadrature(void **state) {
    (void)state;
    expect_quadrature("`parameters`: {`m`: 2, `l`: 0.7, `g`: 9.81}, `coordinates`: [{`name`: `theta`, `initial`: 1}],"
                      "`kinetic_energy`: `m*l^2*theta'^2/2`, `potential_energy`: `-m*g*l*cos(theta)`",
                      "theta", "theta'", "t = integral d(theta)/sqrt(2*jacobi_integral()/(m*l^2) + 2*g*cos(theta)/l)");
    expect_quadrature(
        "`coordinates`: [{`name`: `r`, `initial`: 1.2, `velocity`: 0.2}, {`name`: `phi`, `velocity`: 0.8}],"
        "`kinetic_energy`: `(r'^2 + r^2*phi'^2)/2`, `potential_energy`: `-1/r`",
        "r", "r'", NULL);
    /* the heavy symmetric top */
    expect_quadrature("`coordinates`: [{`name`: `th`, `initial`: 0.5}, {`name`: `ph`, `velocity`: 0.4}, {`name`: `ps`, "
                      "`velocity`: 20}], `kinetic_energy`: `0.3*(th'^2 + sin(th)^2*ph'^2)/2 + 0.1*(ps' + "
                      "cos(th)*ph')^2/2`, `potential_energy`: `2*cos(th)`",
                      "th", "th'", NULL);
    /* a double pendulum with vertical axes, in which only the sum of the momenta is constant */
    expect_quadrature(
        "`parameters`: {`A`: 2, `B`: 0.7, `C`: 0.5}, `coordinates`: [{`name`: `a`, `velocity`: 0.6}, {`name`:"
        "`b`, `initial`: 0.5, `velocity`: -1}], `kinetic_energy`: `(A*a'^2 + 2*C*cos(a - b)*a'*b' + "
        "B*b'^2)/2`",
        "a - b", "a' - b'", NULL);
    /* a bead on a rotating rod that carries a wheel; T contains the terms T1 and T0 */
    expect_quadrature("`coordinates`: [{`name`: `x`, `initial`: 0.3, `velocity`: 1}, {`name`: `w`, `velocity`: 0.4}],"
                      "`kinetic_energy`: `(x'^2 + (1 + x^2)*(w' + 0.8)^2)/2`, `potential_energy`: `3*x^2`",
                      "x", "x'", NULL);
}

/* The systems have no conserved energy, two remaining degrees of freedom, or constraints, so no quadrature is
 * reported. */
static void systems_without_one_remaining_degree_of_freedom_have_no_quadrature(void **state) {
    static const char *const systems[] = {
        "`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `dissipation`: `x'^2`",
        "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`, `potential_energy`: `x^4 + x^2*y^2`",
        "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `kinetic_energy`: `x'^2 + y'^2`, `constraints`: [{`name`: "
        "`c`,"
        "`equation`: `x^2 + y^2 = 1`}]",
        "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`",
    };
    (void)state;
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        hamel_report *r = fixture_report(systems[k]);
        if (r->symmetries->quadrature) fail_msg("%s: %s", systems[k], r->symmetries->quadrature->time);
        hamel_report_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reported_quantities_are_constant_along_a_motion),
        cmocka_unit_test(a_potential_with_helical_symmetry_conserves_the_momentum_of_a_screw_motion),
        cmocka_unit_test(interacting_particles_conserve_linear_and_angular_momentum),
        cmocka_unit_test(the_jacobi_integral_of_rotating_coordinates_is_found_in_cartesian_coordinates),
        cmocka_unit_test(displacements_of_symmetries_satisfy_nonholonomic_constraints),
        cmocka_unit_test(internal_forces_conserve_a_sum_of_momenta),
        cmocka_unit_test(friction_between_bodies_conserves_the_sum_of_their_momenta),
        cmocka_unit_test(a_sum_of_momenta_may_be_conserved_on_one_branch),
        cmocka_unit_test(quantities_that_are_equal_on_the_constraints_are_listed_once),
        cmocka_unit_test(trivial_combinations_of_constant_momenta_are_not_listed),
        cmocka_unit_test(one_remaining_degree_of_freedom_leads_to_a_quadrature),
        cmocka_unit_test(systems_without_one_remaining_degree_of_freedom_have_no_quadrature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
