/* test_lagrange.c — engine/mechanics/lagrange.c: M, Q and the residuals against equations derived by hand. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Two rods with masses at their ends and angles from the vertical, as in Greenwood, Principles of Dynamics, chapter
 * 6. */
static void the_double_pendulum_has_the_equations_of_the_textbooks(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, "`parameters`: {`m`: 2, `n`: 3, `l`: 0.7, `k`: 1.1, `g`: 9.81}, `coordinates`: [`a`, `b`],"
                       "`kinetic_energy`: [`(m+n)*(l*a')^2/2`, `n*(k*b')^2/2 + n*l*k*a'*b'*cos(a - b)`],"
                       "`potential_energy`: `-(m+n)*g*l*cos(a) - n*g*k*cos(b)`, `dissipation`: `(b'-a')^2/4`,"
                       "`generalized_forces`: {`a`: `sin(t)`}");
    double m = 2, n = 3, l = 0.7, k = 1.1, g = 9.81;
    uint64_t seed = 1;
    for (int i = 0; i < 10; i++) {
        fixture_point p = fixture_point_anywhere(&seed);
        double a = p.q[0], b = p.q[1], u = p.v[0], w = p.v[1], s = sin(a - b), c = cos(a - b);
        assert_near("M11", fixture_entry_at(&f, &f.equations.M, 0, 0, &p), (m + n) * l * l, 1e-14);
        assert_near("M21", fixture_entry_at(&f, &f.equations.M, 1, 0, &p), n * l * k * c, 1e-14);
        assert_near("M22", fixture_entry_at(&f, &f.equations.M, 1, 1, &p), n * k * k, 1e-14);
        assert_near("Q1", fixture_value_at(&f, f.equations.Q[0], &p),
                    -n * l * k * w * w * s - (m + n) * g * l * sin(a) + sin(p.t) + (w - u) / 2, 1e-13);
        assert_near("Q2", fixture_value_at(&f, f.equations.Q[1], &p),
                    n * l * k * u * u * s - n * g * k * sin(b) - (w - u) / 2, 1e-13);
        assert_near("p1", fixture_value_at(&f, f.equations.momentum[0], &p), (m + n) * l * l * u + n * l * k * w * c,
                    1e-14);
    }
    fixture_close(&f);
}

/* A charge in a uniform magnetic field has L = m v²/2 + (e B/2)(x y' − y x'). So m x'' = e B y' and m y'' = −e B x'. */
static void terms_linear_in_the_velocities_do_no_work(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, "`coordinates`: [`x`, `y`], `lagrangian`: `1.5*(x'^2 + y'^2) + 0.8*(x*y' - y*x')`");
    uint64_t seed = 2;
    fixture_point p = fixture_point_anywhere(&seed);
    assert_near("Q_x", fixture_value_at(&f, f.equations.Q[0], &p), 1.6 * p.v[1], 1e-14);
    assert_near("Q_y", fixture_value_at(&f, f.equations.Q[1], &p), -1.6 * p.v[0], 1e-14);
    assert_near("M", fixture_entry_at(&f, &f.equations.M, 0, 0, &p), 3, 1e-14);
    assert_int_equal(f.equations.M.count, 2);
    fixture_close(&f);
}

/* L = −mc² √(1 − v²/c²) with c = 3 is not quadratic in the velocity: M = m/(1 − v²/c²)^(3/2). */
static void a_relativistic_particle_has_the_longitudinal_mass(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, "`coordinates`: [`x`], `lagrangian`: `-9*sqrt(1 - x'^2/9) - 2*x*t`");
    fixture_point p = {.t = 0.4, .q = {0.3}, .v = {1.7}};
    assert_near("M", fixture_entry_at(&f, &f.equations.M, 0, 0, &p), pow(1 - 1.7 * 1.7 / 9, -1.5), 1e-14);
    assert_near("Q", fixture_value_at(&f, f.equations.Q[0], &p), -0.8, 1e-14);
    fixture_close(&f);
}

/* A bead on a wire whose angle is s(t) = t²: T = m (r'² + r² s'²)/2, r'' = r s'². */
static void a_rheonomic_bead_has_the_centrifugal_acceleration(void **state) {
    (void)state;
    fixture f;
    fixture_derive(
        &f,
        "`coordinates`: [`r`], `particles`: [{`name`: `bead`, `mass`: 2, `position`: [`r*cos(t^2)`, `r*sin(t^2)`]}]");
    uint64_t seed = 4;
    for (int i = 0; i < 5; i++) {
        fixture_point p = fixture_point_anywhere(&seed);
        assert_near("M", fixture_entry_at(&f, &f.equations.M, 0, 0, &p), 2, 1e-14);
        assert_near("Q", fixture_value_at(&f, f.equations.Q[0], &p), 2 * p.q[0] * 4 * p.t * p.t, 1e-13);
    }
    fixture_close(&f);
}

static void forces_may_be_linear_in_multipliers(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`, `constraints`: [{`name`: `c`, "
                       "`equation`: `y = x^2`}],"
                       "`generalized_forces`: {`x`: `3*lambda(c)*x + reaction(c, x)`}");
    uint64_t seed = 5;
    fixture_point p = fixture_point_anywhere(&seed);
    assert_int_equal(f.equations.W.count, 1);
    assert_near("W", fixture_entry_at(&f, &f.equations.W, 0, 0, &p), 3 * p.q[0] - 2 * p.q[0], 1e-14);
    fixture_close(&f);
}

/* --- energies with many common subexpressions --------------------------------------------------------------------- */

/* A chain of twenty links has a moving support, different masses, and absolute angles as coordinates. One description
 * contains T and V as nested sums, which reverse differentiation processes in one pass. The other description contains
 * particles and uses Kane's equations. */
static void nested_energies_agree_with_those_of_particles(void **state) {
    (void)state;
    static const char links[] = "`parameters`: {`N`: 20}, `coordinates`: [{`name`: `a[i]`, `for`: `i = 1..N`,"
                                "`initial`: `0.4 + 0.1*sin(7*i)`, `velocity`: `cos(3*i)/2`}],";
    char typed[1200], particles[1200];
    snprintf(typed, sizeof typed,
             "%s `kinetic_energy`: `sum(i, 1, N, (1 + i/9)*((cos(t) + sum(j, 1, i, a[j]'*cos(a[j])))^2"
             " + sum(j, 1, i, a[j]'*sin(a[j]))^2))/2`,"
             "`potential_energy`: `-9.81*sum(i, 1, N, (1 + i/9)*sum(j, 1, i, cos(a[j])))`",
             links);
    snprintf(particles, sizeof particles,
             "%s `gravity`: [0, -9.81], `particles`: [{`name`: `p[i]`, `for`: `i = 1..N`, `mass`: `1 + i/9`,"
             "`position`: [`sin(t) + sum(j, 1, i, sin(a[j]))`, `-sum(j, 1, i, cos(a[j]))`]}]",
             links);
    motion one = motion_run(typed, "`stop`: 0.5, `samples`: 6, `rtol`: 1e-10, `atol`: 1e-12");
    motion other =
        motion_run(particles, "`stop`: 0.5, `samples`: 6, `rtol`: 1e-10, `atol`: 1e-12, `formulation`: `kane`");
    /* the bound is the sum of 100 step errors of size rtol */
    assert_below("difference", motion_difference(&one, &other), 1e-8);
    motion_free(&one);
    motion_free(&other);
}

/* A block of mass 2 lies on a floor. For each form of the constraint, λ times the gradient of (left side − right side)
 * is the upward reaction 2 g. */
static void multipliers_have_the_sign_of_left_minus_right(void **state) {
    (void)state;
    static const struct {
        const char *equation;
        double lambda;
    } cases[] = {{"y = 0", 19.62},  {"0 = y", -19.62},  {"-y = 0", -19.62}, {"2*y = 0", 9.81},
                 {"y' = 0", 19.62}, {"0 = y'", -19.62}, {"y'' = 0", 19.62}, {"0 = y''", -19.62}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char system[600];
        snprintf(system, sizeof system,
                 "`coordinates`: [`x`, `y`], `gravity`: [0, -9.81], `particles`: [{`name`: `block`, `mass`: 2,"
                 "`position`: [`x`, `y`]}], `constraints`: [{`name`: `floor`, `equation`: `%s`}],"
                 "`outputs`: {`l`: `lambda(floor)`, `r`: `reaction(floor, y)`}",
                 cases[k].equation);
        motion m = motion_run(system, "`stop`: 1, `samples`: 2");
        assert_near(cases[k].equation, motion_last(&m, "l"), cases[k].lambda, 1e-12);
        assert_near(cases[k].equation, motion_last(&m, "r"), 19.62, 1e-12);
        motion_free(&m);
    }
}

/* --- residuals of the equations ----------------------------------------------------------------------------------- */

static void expect_same_equations(const char *members) {
    fixture f;
    fixture_derive(&f, members);
    const hamel_equations *e = &f.equations;
    uint64_t seed = 9;
    for (int round = 0; round < 6; round++) {
        fixture_point p = fixture_point_anywhere(&seed);
        double left[2 * FIXTURE_MOST] = {0};
        assert_true(e->n <= FIXTURE_MOST && e->m <= FIXTURE_MOST);
        for (size_t k = 0; k < e->M.count; k++) {
            const matrix_entry *m = &e->M.entries[k];
            double x = fixture_value_at(&f, m->node, &p);
            assert_true(m->row >= m->column);
            left[m->row] += x * p.a[m->column];
            if (m->row != m->column) left[m->column] += x * p.a[m->row];
        }
        for (size_t k = 0; k < e->A.count; k++) {
            const matrix_entry *a = &e->A.entries[k];
            double x = fixture_value_at(&f, a->node, &p);
            left[a->column] -= x * p.lambda[a->row];
            left[e->n + (size_t)a->row] += x * p.a[a->column];
        }
        for (size_t i = 0; i < e->n; i++)
            assert_near("M a - Q - A^T l", fixture_value_at(&f, e->residual[i], &p),
                        left[i] - fixture_value_at(&f, e->Q[i], &p), 1e-12);
        for (size_t c = 0; c < e->m; c++)
            assert_near("A a - b", fixture_value_at(&f, e->residual[e->n + c], &p),
                        left[e->n + c] - fixture_value_at(&f, e->b[c], &p), 1e-12);
    }
    fixture_close(&f);
}

static void residuals_are_the_equations_of_motion(void **state) {
    (void)state;
    expect_same_equations("`coordinates`: [`a`, `b`], `kinetic_energy`: `a'^2 + b'^2*(2 + sin(a)) + a'*b'*cos(a - b)`, "
                          "`potential_energy`: `cos(a*b)`,"
                          "`dissipation`: `(a' - b')^2`, `generalized_forces`: {`b`: `t*a'`}");
    expect_same_equations("`coordinates`: [`x`, `y`, `f`], `kinetic_energy`: `x'^2 + y'^2 + f'^2`, `constraints`: ["
                          "{`name`: `edge`, `equation`: `-x'*sin(f) + y'*cos(f) = 0`}, {`name`: `drive`, `equation`: "
                          "`x^2 + y^2 = 1 + t^2`}]");
    expect_same_equations("`coordinates`: [`x`, `y`, `z`], `gravity`: [0, 0, -9], `particles`: [{`name`: `p`, `mass`: "
                          "2, `position`: [`x`, `y`, `z*cosh(t)`]}],"
                          "`constraints`: [{`name`: `nonlinear`, `equation`: `z'^2 = 2*(x'^2 + y'^2)`}, {`name`: `a`, "
                          "`equation`: `x''*y - y''*x' = t*z`}],"
                          "`generalized_forces`: {`x`: `-0.3*lambda(nonlinear)*x' + reaction(a, y)`}");
    expect_same_equations("`coordinates`: [`x`, `y`], `lagrangian`: `-sqrt(1 - (x'^2 + y'^2)/100) + x*y'*t - x^2*y`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_double_pendulum_has_the_equations_of_the_textbooks),
        cmocka_unit_test(terms_linear_in_the_velocities_do_no_work),
        cmocka_unit_test(a_relativistic_particle_has_the_longitudinal_mass),
        cmocka_unit_test(a_rheonomic_bead_has_the_centrifugal_acceleration),
        cmocka_unit_test(forces_may_be_linear_in_multipliers),
        cmocka_unit_test(residuals_are_the_equations_of_motion),
        cmocka_unit_test(nested_energies_agree_with_those_of_particles),
        cmocka_unit_test(multipliers_have_the_sign_of_left_minus_right),
    };
    return cmocka_run_group_tests_name("lagrange", tests, NULL, NULL);
}
