/* test_linear.c — engine/analyze: equilibria, linearizations, modes. Expected values are computed from closed forms. */
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static hamel_linearization *linearize(const char *members, bool about_equilibrium, const char *input) {
    fixture f;
    hamel_linearization *l = NULL;
    hamel_equilibria *e = NULL;
    fixture_read(&f, members, "`stop`: 1");
    if (about_equilibrium) {
        assert_int_equal(hamel_find_equilibria(&e, &f.description, 0, NULL, NULL, &f.error), HAMEL_OK);
        assert_true(e->count > 0);
    }
    hamel_argument asked = {input, ""};
    hamel_status status =
        hamel_linearize(&l, &f.description, e ? &e->items[0] : NULL, &asked, input != NULL, NULL, NULL, &f.error);
    if (status != HAMEL_OK) print_message("%s\n", f.error.faults[0].message);
    assert_int_equal(status, HAMEL_OK);
    hamel_equilibria_free(e);
    fixture_close(&f);
    return l;
}

/* Checks the real and imaginary parts of the modes, ordered by the imaginary part. Simple eigenvalues of a matrix of
 * this size have an error of about 1e-14 relative to the largest eigenvalue. The bound 1e-9 allows this error to grow
 * by a factor of 1e5 if an eigenvalue is ill-conditioned. */
static void expect_modes(const char *what, const char *members, bool about_equilibrium, const double (*expected)[2],
                         size_t count) {
    hamel_linearization *l = linearize(members, about_equilibrium, NULL);
    assert_int_equal(l->mode_count, count);
    for (size_t k = 0; k < count; k++) {
        assert_near(what, l->modes[k].eigenvalue[0], expected[k][0], 1e-9);
        assert_near(what, l->modes[k].eigenvalue[1], expected[k][1], 1e-9);
    }
    hamel_linearization_free(l);
}

static const double g = 9.81;

static void pendulums_have_their_frequencies(void **state) {
    (void)state;
    const double simple[][2] = {{0, sqrt(g / 0.8)}};
    expect_modes("angle",
                 "`parameters`: {`g`: 9.81, `l`: 0.8}, `coordinates`: [`a`], `kinetic_energy`: `l^2*a'^2/2`,"
                 "`potential_energy`: `-g*l*cos(a)`",
                 true, simple, 1);
    expect_modes("rod in the plane",
                 "`parameters`: {`g`: 9.81, `l`: 0.8}, `coordinates`: [{`name`: `x`}, {`name`: `y`, `initial`: `-l`}],"
                 "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `g*y`,"
                 "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = l^2`}]",
                 true, simple, 1);
    /* Papastavridis, example 3.5.9: equal masses and lengths, ω² = (2 ∓ √2) g/l */
    const double two[][2] = {{0, sqrt((2 - sqrt(2)) * g)}, {0, sqrt((2 + sqrt(2)) * g)}};
    expect_modes("double pendulum",
                 "`parameters`: {`g`: 9.81}, `coordinates`: [`a`, `b`], `gravity`: [0, `-g`], `particles`: ["
                 "{`name`: `P`, `mass`: 1, `position`: [`sin(a)`, `-cos(a)`]},"
                 "{`name`: `Q`, `mass`: 1, `position`: [`sin(a) + sin(b)`, `-cos(a) - cos(b)`]}]",
                 true, two, 2);
    /* a uniform rod about its end: ω² = 3g/(2l); redundant constraints have no effect */
    const double rod[][2] = {{0, sqrt(1.5 * g / 1.2)}};
    expect_modes(
        "physical pendulum, pinned twice",
        "`parameters`: {`g`: 9.81, `l`: 1.2}, `coordinates`: [`x`, {`name`: `y`, `initial`: -0.6}, `a`],"
        "`gravity`: [0, `-g`], `bodies`: [{`name`: `B`, `mass`: 2, `position`: [`x`, `y`],"
        "`orientation`: {`angle`: `a`}, `inertia`: `2*l^2/12`}],"
        "`constraints`: [{`name`: `h`, `equation`: `x = l/2*sin(a)`}, {`name`: `v`, `equation`: `y = -l/2*cos(a)`},"
        "{`name`: `twice`, `equation`: `2*x = l*sin(a)`}]",
        true, rod, 1);
}

static void springs_have_their_frequencies(void **state) {
    (void)state;
    /* N equal masses between two walls: ω_k = 2 √(k/m) sin(kπ/(2(N + 1))) */
    double chain[8][2] = {{0}};
    for (int k = 0; k < 8; k++) chain[k][1] = 2 * sqrt(50 / 0.2) * sin((k + 1) * M_PI / 18);
    expect_modes(
        "chain of springs",
        "`parameters`: {`N`: 8}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 0..N+1`}],"
        "`kinetic_energy`: `0.1*sum(i, 0, N+1, x[i]'^2)`,"
        "`potential_energy`: `25*sum(i, 0, N, (x[i+1] - x[i])^2)`,"
        "`constraints`: [{`name`: `left`, `equation`: `x[0] = 0`}, {`name`: `right`, `equation`: `x[N+1] = 0`}]",
        true, (const double(*)[2])chain, 8);
    /* Papastavridis, example 3.5.10: at the equilibrium r = b + m g/k, ω² is k/m and g/r */
    const double elastic[][2] = {{0, sqrt(g / (1 + 0.3 * g / 40))}, {0, sqrt(40 / 0.3)}};
    expect_modes("elastic pendulum",
                 "`coordinates`: [{`name`: `r`, `initial`: 1}, `f`], `kinetic_energy`: `0.15*(r'^2 + r^2*f'^2)`,"
                 "`potential_energy`: `20*(r - 1)^2 - 0.3*9.81*r*cos(f)`",
                 true, elastic, 2);
    /* m x'' + c x' + k x = 0 */
    const double damped[][2] = {{-0.75, sqrt(30 - 0.75 * 0.75)}};
    expect_modes(
        "damped oscillator",
        "`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `potential_energy`: `30*x^2`, `dissipation`: `1.5*x'^2`", true,
        damped, 1);
}

/* A spring with play d exerts the force k (|x| − d) if |x| > d, and no force otherwise. So x'' = -k (|x| - d) sign(x) -
 * c x' if |x| > d. */
static void an_operator_with_branches_is_linearized_on_the_current_branch(void **state) {
    (void)state;
    const double beyond[][2] = {{-0.1, sqrt(9 - 0.01)}}, within[][2] = {{-0.2, 0}, {0, 0}};
#define PLAY(x)                                                                                                \
    "`coordinates`: [{`name`: `x`, `initial`: " x "}], `kinetic_energy`: `x'^2/2`, `dissipation`: `0.1*x'^2`," \
    "`generalized_forces`: {`x`: `-9*(max(x - 0.5, 0) + if(x < -0.5, x + 0.5, 0))`}"
    expect_modes("beyond the play", PLAY("2"), false, beyond, 1);
    expect_modes("beyond the play on the other side", PLAY("-2"), false, beyond, 1);
    expect_modes("within the play", PLAY("0.1"), false, within, 2);
    expect_modes("an equilibrium within the play", PLAY("0.1"), true, within, 2);
}

static void rolling_and_rotation_change_frequencies(void **state) {
    (void)state;
    /* a cylinder of radius r in a trough of radius R, with a velocity constraint for rolling: ω² = 2g/(3(R − r)) */
    const double trough[][2] = {{0, 0}, {0, sqrt(2 * g / (3 * 0.7))}};
    hamel_linearization *l =
        linearize("`parameters`: {`R`: 1, `r`: 0.3, `m`: 2}, `coordinates`: [`f`, `s`],"
                  "`kinetic_energy`: `m*(R-r)^2*f'^2/2 + m*r^2/2*s'^2/2`, `potential_energy`: `-m*9.81*(R-r)*cos(f)`,"
                  "`constraints`: [{`name`: `roll`, `equation`: `(R-r)*f' + r*s' = 0`}]",
                  true, NULL);
    assert_int_equal(l->state_count, 3); /* two coordinates and one independent velocity */
    assert_int_equal(l->mode_count, 2);
    for (int k = 0; k < 2; k++) assert_near("trough", l->modes[k].eigenvalue[1], trough[k][1], 1e-9);
    hamel_linearization_free(l);
    /* Foucault's pendulum: in a frame that rotates at Ω, its two circular motions have the frequencies √(g/l) ± Ω */
    const double foucault[][2] = {{0, sqrt(g / 2) - 0.4}, {0, sqrt(g / 2) + 0.4}};
    expect_modes("rotating frame",
                 "`parameters`: {`W`: 0.4}, `coordinates`: [`x`, `y`],"
                 "`kinetic_energy`: `((x' - W*y)^2 + (y' + W*x)^2)/2`, `potential_energy`: `9.81/2*(x^2 + y^2)/2`",
                 true, foucault, 2);
    /* a bead on a hoop that rotates at w: vibrations about cos a = g/(w² R) have ω² = w² sin²a (Greenwood, example
     * 4.12) */
    const double hoop[][2] = {{0, 6 * sqrt(1 - pow(g / (36 * 0.5), 2))}};
    expect_modes("bead on a rotating hoop",
                 "`coordinates`: [{`name`: `a`, `initial`: 0.9}],"
                 "`kinetic_energy`: `0.25*(a'^2 + 36*sin(a)^2)/2`, `potential_energy`: `-9.81*0.5*cos(a)`",
                 true, hoop, 1);
}

/* A sleeping top is stable if (C s)² > 4 A m g h (Lagrange). */
static void a_fast_sleeping_top_is_stable(void **state) {
    (void)state;
    const char *top =
        "`parameters`: {`s`: %s, `A`: 0.02, `C`: 0.01, `k`: 0.5}, `coordinates`: [`x`, `y`],"
        "`kinetic_energy`: `A*(x'^2 + y'^2)/2 + C*s*(x*y' - y*x')/2`, `potential_energy`: `-k*(x^2 + y^2)/2`";
    for (int fast = 0; fast < 2; fast++) {
        char members[500];
        snprintf(members, sizeof members, top, fast ? "21" : "19"); /* the limit is √(4·0.02·0.5)/0.01 = 20 */
        hamel_linearization *l = linearize(members, false, NULL);
        assert_true(l->at_rest);
        assert_int_equal(l->stable, fast);
        hamel_linearization_free(l);
    }
}

/* Baruh, example 4.8: two links with two vertical springs. Equilibria have sin θ1 = g(m1+m2)/(2 k1 L1) and sin θ2 =
 * g m2/(2 k2 L2) − g(m1+m2)/(2 k1 L2), or cos θ_i = 0. */
static void all_equilibria_of_two_links_are_found(void **state) {
    (void)state;
    fixture f;
    hamel_equilibria *e = NULL;
    fixture_read(&f,
                 "`parameters`: {`g`: 9.81, `k`: 50}, `coordinates`: [`a`, `b`],"
                 "`kinetic_energy`: `a'^2/6 + (a'^2 + a'*b'*cos(a-b) + b'^2/3)/2`,"
                 "`potential_energy`: `-g*sin(a)/2 + k*sin(a)^2/2 - g*(sin(a) + sin(b)/2) + k*(sin(a) + sin(b))^2/2`",
                 "`stop`: 1");
    assert_int_equal(hamel_find_equilibria(&e, &f.description, 400, NULL, NULL, &f.error), HAMEL_OK);
    size_t tilted = 0, stable = 0;
    for (size_t k = 0; k < e->count; k++) {
        const double *q = e->items[k].q;
        bool first = fabs(cos(q[0])) < 1e-9, second = fabs(cos(q[1])) < 1e-9;
        assert_true(e->items[k].isolated);
        stable += e->items[k].stable;
        if (first || second) continue;
        tilted++;
        assert_near("first link", sin(q[0]), g * 2 / 100, 1e-9);
        assert_near("second link", sin(q[1]), g / 100 - g * 2 / 100, 1e-9);
    }
    assert_int_equal(tilted, 4); /* each link is inclined to the right or to the left */
    /* If both links are upright, there are 4 equilibria. If only the first link is upright, sin b = g/(2k) − sin a.
     * This value is in [−1, 1] for one sign of sin a only, so there are 2 equilibria. If only the second link is
     * upright, sin a = (g(m1+m2) − k sin b)/(2k). For each sign of sin b there are two angles a, so there are 4
     * equilibria. */
    assert_int_equal(e->count, 14);
    assert_int_equal(stable, 4); /* V is convex in the heights of the links, and its minimum has inclined links */
    hamel_equilibria_free(e);
    fixture_close(&f);
}

/* The Euler angles of an upright top are degenerate: the mass matrix of psi' and ph' is singular. The stability of the
 * top (Whittaker, art. 71) cannot be found in these angles. Steady precession at th = 2.0006 is regular: (A − C) w² cos
 * th = C w s − m g l. */
static void stability_is_undecided_where_angles_are_degenerate(void **state) {
    (void)state;
    fixture f;
    hamel_equilibria *e = NULL;
    fixture_read(&f,
                 "`coordinates`: [{`name`: `psi`, `velocity`: 1.2}, {`name`: `th`, `initial`: 0.6},"
                 "{`name`: `ph`, `velocity`: 12}], `kinetic_energy`: "
                 "`0.1*(th'^2 + psi'^2*sin(th)^2) + 0.05*(ph' + psi'*cos(th))^2`, `potential_energy`: `1.5*cos(th)`",
                 "`stop`: 1");
    assert_int_equal(hamel_find_equilibria(&e, &f.description, 64, NULL, NULL, &f.error), HAMEL_OK);
    assert_int_equal(e->count, 4);
    size_t upright = 0;
    for (size_t k = 0; k < e->count; k++) {
        const hamel_equilibrium *at = &e->items[k];
        upright += !at->determined;
        assert_true(at->determined == (fabs(sin(at->q[1])) > 1e-6));
        assert_int_equal(at->eigenvalue_count, at->determined ? 6 : 0);
        if (at->determined) assert_near("nutation", cos(at->q[1]), (0.1 * 12 * 1.2 - 1.5) / (0.1 * 1.44), 1e-9);
    }
    assert_int_equal(upright, 2);
    hamel_equilibria_free(e);
    fixture_close(&f);
}

/* Two rods are bodies. A ball joint connects the second rod to the end of the first rod. The search starts with both
 * rods horizontal, where Newton's method fails. It must find the equilibrium in which both rods hang. The rods can
 * rotate about the vertical, so the equilibrium is one of a family. The upper joint carries the weight of both rods.
 * Its multiplier λ is the force on the fixed point. */
static void a_released_body_is_found_hanging(void **state) {
    (void)state;
#define ROD(i)                                                                                                   \
    "{`name`: `B" #i "`, `mass`: 2, `inertia`: [0.01, 0.2, 0.2], `position`: [`x" #i "`, `y" #i "`, `z" #i "`]," \
    "`orientation`: {`quaternion`: [`e" #i "`, `f" #i "`, `g" #i "`, `h" #i "`]}}"
#define PLACE(i, x)                                                                                              \
    "{`name`: `x" #i "`, `initial`: " x "}, `y" #i "`, `z" #i "`, {`name`: `e" #i "`, `initial`: 1}, `f" #i "`," \
    "`g" #i "`, `h" #i "`"
    fixture f;
    hamel_equilibria *e = NULL;
    fixture_read(
        &f,
        "`coordinates`: [" PLACE(1, "0.5") "," PLACE(2, "1.5") "], `bodies`: [" ROD(1) "," ROD(
            2) "],"
               "`gravity`: [0, 0, -10], `joints`: ["
               "{`name`: `J`, `type`: `coincident`, `between`: [[0, 0, 0], {`frame`: `B1`, `at`: [-0.5, 0, 0]}]},"
               "{`name`: `K`, `type`: `coincident`,"
               "`between`: [{`frame`: `B1`, `at`: [0.5, 0, 0]}, {`frame`: `B2`, `at`: [-0.5, 0, 0]}]}]",
        "`stop`: 1");
    assert_int_equal(hamel_find_equilibria(&e, &f.description, 2, NULL, NULL, &f.error), HAMEL_OK);
    assert_true(e->count >= 1);
    assert_true(e->items[0].stable);
    assert_false(e->items[0].isolated);
    assert_near("first rod", e->items[0].q[2], -0.5, 1e-9);
    assert_near("second rod", e->items[0].q[9], -1.5, 1e-9);
    for (size_t c = 0; c < e->constraint_count; c++)
        if (strcmp(e->constraints[c], "J.3") == 0) assert_near("weight", e->items[0].lambda[c], -40, 1e-6);
    hamel_equilibria_free(e);
    fixture_close(&f);
}

/* A spherical pendulum that rotates at w: cos a = g/(w² l), with the tension m w² l. */
static void cyclic_velocities_give_steady_motions(void **state) {
    (void)state;
    fixture f;
    hamel_equilibria *e = NULL;
    fixture_read(&f,
                 "`coordinates`: [{`name`: `a`, `initial`: 1}, {`name`: `f`, `velocity`: 4}],"
                 "`kinetic_energy`: `(a'^2 + sin(a)^2*f'^2)/2`, `potential_energy`: `-9.81*cos(a)`",
                 "`stop`: 1");
    assert_int_equal(hamel_find_equilibria(&e, &f.description, 20, NULL, NULL, &f.error), HAMEL_OK);
    assert_true(e->steady);
    bool found = false;
    for (size_t k = 0; k < e->count; k++) {
        assert_true(e->items[k].v[1] == 4);
        if (fabs(fabs(e->items[k].q[0]) - acos(g / 16)) > 1e-9) continue;
        found = true;
        assert_true(e->items[k].stable && e->items[k].isolated);
        /* for the conical motion, ω² = w²(1 + 3cos²a): Whittaker, art. 55 */
        double c = g / 16, largest = 0;
        for (size_t i = 0; i < e->items[k].eigenvalue_count; i++)
            largest = fmax(largest, e->items[k].eigenvalues[2 * i + 1]);
        assert_near("nutation", largest, 4 * sqrt(1 + 3 * c * c), 1e-9);
    }
    assert_true(found);
    hamel_equilibria_free(e);
    fixture_close(&f);
}

/* The motion of a wheel on a shaft is steady. The other three motions are not steady. A body rotates about its second
 * axis, and the angle occurs in the equations. A pendulum passes its lowest point with a velocity. A spring has a
 * stiffness that depends on time. */
static void stability_is_reported_only_for_steady_motions(void **state) {
    (void)state;
    static const struct {
        const char *members;
        bool steady;
    } cases[] = {
        {"`coordinates`: [{`name`: `f`, `velocity`: 3}, `x`], `kinetic_energy`: `f'^2 + x'^2`, `potential_energy`: "
         "`x^2`",
         true},
        {"`coordinates`: [`a`, {`name`: `b`, `velocity`: 2}, `c`], `bodies`: [{`name`: `B`, `mass`: 1, `position`:"
         "[0, 0, 0], `orientation`: {`euler`: {`sequence`: `XYZ`, `angles`: [`a`, `b`, `c`]}}, `inertia`: [1, 2, 3]}]",
         false},
        {"`coordinates`: [{`name`: `a`, `velocity`: 1}], `kinetic_energy`: `a'^2`, `potential_energy`: `-cos(a)`",
         false},
        {"`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `potential_energy`: `(2 + sin(t))*x^2`", false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        hamel_linearization *l = linearize(cases[k].members, false, NULL);
        assert_true(l->steady == cases[k].steady);
        assert_true(l->steady || !l->stable);
        hamel_linearization_free(l);
    }
}

/* B = ∂f/∂p must include parameters that depend on the input. The model is x'' = −(k/m) x + F/m with m = 2 s³,
 * linearized about x = F/k. */
static void inputs_include_parameters_that_depend_on_them(void **state) {
    (void)state;
    const char *members =
        "`parameters`: {`s`: 1.5, `m`: `2*s^3`, `k`: 7, `F`: 3}, `coordinates`: [{`name`: `x`, `initial`: 1}],"
        "`kinetic_energy`: `m*x'^2/2`, `potential_energy`: `k*x^2/2`, `generalized_forces`: {`x`: `F`}";
    double m = 2 * 1.5 * 1.5 * 1.5;
    hamel_linearization *l = linearize(members, false, "s");
    /* x'' = (F − kx)/m = −4/m at x = 1; ∂/∂s = 4/m² · 6 s² */
    assert_near("by s", l->B[1], 4 / (m * m) * 6 * 1.5 * 1.5, 1e-12);
    assert_false(l->at_rest);
    hamel_linearization_free(l);
    l = linearize(members, false, "F");
    assert_near("by F", l->B[1], 1 / m, 1e-12);
    hamel_linearization_free(l);
}

static void an_unknown_input_is_reported(void **state) {
    (void)state;
    fixture f;
    hamel_linearization *l = NULL;
    hamel_argument input = {"lenght", "/inputs/0"};
    fixture_read(&f, "`parameters`: {`length`: 1}, `coordinates`: [`x`], `kinetic_energy`: `x'^2`", "`stop`: 1");
    assert_int_equal(hamel_linearize(&l, &f.description, NULL, &input, 1, NULL, NULL, &f.error), HAMEL_INVALID);
    assert_true(fixture_says(&f, "`lenght`") && fixture_says(&f, "`length`"));
    assert_string_equal(f.error.faults[0].pointer, "/inputs/0");
    fixture_close(&f);
}

static void a_start_that_violates_its_constraint_is_the_only_error(void **state) {
    (void)state;
    fixture f;
    hamel_linearization *l = NULL;
    fixture_read(&f,
                 "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                 "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1.21`}]",
                 "`stop`: 1");
    assert_int_equal(hamel_linearize(&l, &f.description, NULL, NULL, 0, NULL, NULL, &f.error), HAMEL_INCONSISTENT);
    assert_int_equal(f.error.count, 1);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_that_violates_its_constraint_is_the_only_error),
        cmocka_unit_test(pendulums_have_their_frequencies),
        cmocka_unit_test(springs_have_their_frequencies),
        cmocka_unit_test(an_operator_with_branches_is_linearized_on_the_current_branch),
        cmocka_unit_test(rolling_and_rotation_change_frequencies),
        cmocka_unit_test(a_fast_sleeping_top_is_stable),
        cmocka_unit_test(all_equilibria_of_two_links_are_found),
        cmocka_unit_test(a_released_body_is_found_hanging),
        cmocka_unit_test(stability_is_undecided_where_angles_are_degenerate),
        cmocka_unit_test(cyclic_velocities_give_steady_motions),
        cmocka_unit_test(stability_is_reported_only_for_steady_motions),
        cmocka_unit_test(inputs_include_parameters_that_depend_on_them),
        cmocka_unit_test(an_unknown_input_is_reported),
    };
    return cmocka_run_group_tests_name("linear", tests, NULL, NULL);
}
