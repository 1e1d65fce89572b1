/* test_equilibria.c — engine/analyze: equilibria, whether they are isolated, and their stability. Expected values
 * are closed forms. A verdict without a cited source follows from the sign of the potential near the equilibrium. */
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

/* UNDECIDED: neither stability nor instability can be proved */
typedef enum verdict { UNDECIDED = -1, UNSTABLE = 0, STABLE = 1 } verdict;

typedef struct expectation {
    const char *members;
    double q[3]; /* coordinates of the equilibrium */
    verdict verdict;
    const char *by;   /* criterion that decides the stability; NULL if undecided */
    size_t dimension; /* dimension of the family of equilibria */
    size_t count;     /* number of equilibria found; 0 if not checked */
} expectation;

static const hamel_equilibrium *at(const hamel_equilibria *e, const double *q) {
    for (size_t k = 0; k < e->count; k++) {
        double worst = 0;
        for (size_t i = 0; i < e->coordinate_count && i < 3; i++) worst = fmax(worst, fabs(e->items[k].q[i] - q[i]));
        if (worst < 1e-5) return &e->items[k];
    }
    return NULL;
}

static void expect(const expectation *x) {
    fixture f;
    hamel_equilibria *e = NULL;
    fixture_read(&f, x->members, "`stop`: 1");
    if (hamel_find_equilibria(&e, &f.description, 32, NULL, NULL, &f.error) != HAMEL_OK)
        fail_msg("%s: %s", x->members, f.error.faults[0].message);
    const hamel_equilibrium *found = at(e, x->q);
    if (!found) fail_msg("%s: not found at %g %g %g", x->members, x->q[0], x->q[1], x->q[2]);
    assert_non_null(found); /* for cppcheck, which does not recognize that fail_msg never returns */
    verdict got = !found->decided ? UNDECIDED : found->stable ? STABLE : UNSTABLE;
    if (got != x->verdict || found->family_dimension != x->dimension || (x->count > 0 && e->count != x->count))
        fail_msg("%s: verdict %d (%s), dimension %zu, %zu equilibria", x->members, got,
                 found->decided ? found->decided_by : found->reason, found->family_dimension, e->count);
    if (x->by && strcmp(found->decided_by, x->by) != 0) fail_msg("%s: decided by %s", x->members, found->decided_by);
    assert_true(found->isolated == (x->dimension == 0));
    assert_true(found->decided == (found->reason == NULL));
    hamel_equilibria_free(e);
    fixture_close(&f);
}

static void expect_all(const expectation *list, size_t count) {
    for (size_t k = 0; k < count; k++) expect(&list[k]);
}
#define EXPECT(...)                                      \
    do {                                                 \
        static const expectation list[] = {__VA_ARGS__}; \
        expect_all(list, sizeof list / sizeof *list);    \
    } while (0)

#define ONE(V) "`coordinates`: [{`name`: `x`, `initial`: 0.1}], `kinetic_energy`: `x'^2/2`, `potential_energy`: `" V "`"
#define TWO(V)                                                                                          \
    "`coordinates`: [{`name`: `x`, `initial`: 0.1}, {`name`: `y`, `initial`: 0.15}], `kinetic_energy`:" \
    "`(x'^2 + y'^2)/2`, `potential_energy`: `" V "`"
#define THREE(V)                                                                                              \
    "`coordinates`: [{`name`: `x`, `initial`: 0.1}, {`name`: `y`, `initial`: 0.15}, {`name`: `z`, `initial`:" \
    "0.2}], `kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`, `potential_energy`: `" V "`"
#define LEAST "minimum of the potential"
#define ORDER(k) "order " #k " of the potential"
#define LINEAR "eigenvalues"

static void powers_are_decided_by_the_order_of_the_first_derivative(void **state) {
    (void)state;
    EXPECT({ONE("x^2"), {0}, STABLE, LEAST, 0, 1}, {ONE("-x^2"), {0}, UNSTABLE, LINEAR, 0, 1},
           {ONE("x^3"), {0}, UNSTABLE, ORDER(3), 0, 1}, {ONE("-x^3"), {0}, UNSTABLE, ORDER(3), 0, 1},
           {ONE("x^4"), {0}, STABLE, ORDER(4), 0, 1}, {ONE("-x^4"), {0}, UNSTABLE, ORDER(4), 0, 1},
           {ONE("x^5"), {0}, UNSTABLE, ORDER(5), 0, 1}, {ONE("x^6"), {0}, STABLE, ORDER(6), 0, 1},
           {ONE("-x^6"), {0}, UNSTABLE, ORDER(6), 0, 1}, {ONE("-x^7"), {0}, UNSTABLE, ORDER(7), 0, 1},
           {ONE("x^8"), {0}, STABLE, ORDER(8), 0, 1}, {ONE("1e6*(x - 0.7)^6"), {0.7}, STABLE, ORDER(6), 0, 1},
           /* in the expanded sum, the triple root is accurate only to the cube root of ε */
           {ONE("x^4 - 1.2*x^3 + 0.54*x^2 - 0.108*x"), {0.3}, STABLE, ORDER(4), 0, 1},
           {ONE("(x - 0.3)^4"), {0.3}, STABLE, ORDER(4), 0, 1}, {ONE("x^4 - x^3"), {0.75}, STABLE, LEAST, 0, 2},
           {ONE("x^4 - x^3"), {0}, UNSTABLE, ORDER(3), 0, 2});
}

static void several_flat_directions_are_examined_together(void **state) {
    (void)state;
    EXPECT({TWO("(x^2 + y^2)^2"), {0}, STABLE, ORDER(4), 0, 1}, {TWO("x^4 - y^4"), {0}, UNSTABLE, ORDER(4), 0, 1},
           {TWO("x*y*(x + y)"), {0}, UNSTABLE, ORDER(3), 0, 1}, {TWO("x^4 + y^6"), {0}, STABLE, ORDER(6), 0, 1},
           {TWO("x^4 + y^4 - 1.9*x^2*y^2"), {0}, STABLE, ORDER(4), 0, 1},
           {TWO("x^4 + y^4 - 2.1*x^2*y^2"), {0}, UNSTABLE, ORDER(4), 0, 1},
           {THREE("(x^2 + y^2 + z^2)^2"), {0}, STABLE, ORDER(4), 0, 1},
           {THREE("x^4 + y^4 - z^4/5"), {0}, UNSTABLE, ORDER(4), 0, 1},
           {THREE("(x - y)^4 + (y - z)^4 + (x + y + z)^4"), {0}, STABLE, ORDER(4), 0, 1});
}

/* Along the valley x = −y²/2, V is −y⁴/4, or 3y⁴/4 if y⁴ is added to V. Peano's (x − y²)(x − 2y²) grows along every
 * straight line but is −y⁴/4 on x = 3y²/2. */
static void the_potential_is_reduced_along_the_flat_direction(void **state) {
    (void)state;
    EXPECT({TWO("x^2 + x*y^2"), {0}, UNSTABLE, ORDER(4), 0, 1}, {TWO("x^2 + x*y^2 + y^4"), {0}, STABLE, ORDER(4), 0, 1},
           {TWO("(x - y^2)*(x - 2*y^2)"), {0}, UNSTABLE, ORDER(4), 0, 1},
           {TWO("(x - y)^2 + x^4"), {0}, STABLE, ORDER(4), 0, 1},
           {TWO("100*(x - y)^2 - x^4"), {0}, UNSTABLE, ORDER(4), 0, 1},
           /* With the factor 1e9, rounding of the stiff term hides x⁴ at all radii at which x⁴ would decide. */
           {TWO("1e6*(x - y)^2 + x^4"), {0}, STABLE, ORDER(4), 0, 1},
           {TWO("1e9*(x - y)^2 + x^4"), {0}, UNDECIDED, NULL, 0, 1}, {TWO("x^2 - y^4"), {0}, UNSTABLE, ORDER(4), 0, 1});
}

static void families_and_isolated_points_are_distinguished(void **state) {
    (void)state;
    double c = 0.1 / sqrt(0.0325), s = 0.15 / sqrt(0.0325); /* the point of the ring nearest to the initial point */
    expectation ring[] = {{TWO("(x^2 + y^2 - 1)^2"), {c, s, 0}, STABLE, LEAST, 1, 2},
                          {TWO("(x^2 + y^2 - 1)^4"), {c, s, 0}, STABLE, ORDER(4), 1, 2},
                          {TWO("-(x^2 + y^2 - 1)^2"), {c, s, 0}, UNSTABLE, LINEAR, 1, 2}};
    expect_all(ring, 3);
    EXPECT({TWO("0"), {0.1, 0.15}, STABLE, LEAST, 2, 1}, {TWO("x^2"), {0, 0.15}, STABLE, LEAST, 1, 1},
           {TWO("x^4"), {0, 0.15}, STABLE, ORDER(4), 1, 1}, {TWO("-x^4"), {0, 0.15}, UNSTABLE, ORDER(4), 1, 1},
           {TWO("(x - y)^2"), {0.125, 0.125}, STABLE, LEAST, 1, 1},
           {TWO("(x - y)^4"), {0.125, 0.125}, STABLE, ORDER(4), 1, 1},
           /* two families of equilibria: lines that intersect at 0 */
           {TWO("x^2*y^2"), {0}, UNDECIDED, NULL, 1, 0}, {TWO("(x^2 - y^2)^2"), {0}, UNDECIDED, NULL, 1, 0},
           {TWO("(x^2 - y^2)^2"), {0.125, 0.125}, STABLE, LEAST, 1, 0},
           {THREE("x^2*y^2 + z^4"), {0}, UNDECIDED, NULL, 1, 0},
           {"`coordinates`: [`x`, {`name`: `th`, `initial`: 0.2}], `kinetic_energy`: `x'^2 + x'*th'*cos(th) + th'^2/2`,"
            "`potential_energy`: `-9.81*cos(th)`",
            {0},
            STABLE,
            LEAST,
            1,
            2});
}

/* A bead on a hoop that rotates at the rate w. At the bottom, the amended potential has U'' = g − w². If w² = g, the
 * term 3g th⁴/24 > 0 of order 4 decides. For larger w, the bead is also in equilibrium at cos th = g/w². */
#define HOOP(w2)                                                                                         \
    "`coordinates`: [{`name`: `th`, `initial`: 0.3}], `kinetic_energy`: `(th'^2 + " w2 "*sin(th)^2)/2`," \
    "`potential_energy`: `-9.81*cos(th)`"
static void a_hoop_is_decided_at_its_critical_speed(void **state) {
    (void)state;
    EXPECT({HOOP("9.81"), {0}, STABLE, ORDER(4), 0, 2}, {HOOP("9.81"), {M_PI}, UNSTABLE, LINEAR, 0, 2},
           {HOOP("5"), {0}, STABLE, LEAST, 0, 2}, {HOOP("19.62"), {0}, UNSTABLE, LINEAR, 0, 4},
           {HOOP("19.62"), {M_PI / 3}, STABLE, LEAST, 0, 4}, {HOOP("19.62"), {-M_PI / 3}, STABLE, LEAST, 0, 4},
           {HOOP("9.80999"), {0}, STABLE, LEAST, 0, 2});
}

/* A bead described as a particle on a hoop whose orientation is the angle w t. Time occurs in the description, but the
 * equations of motion do not depend on it. */
#define TURNED(w)                                                                                              \
    "`parameters`: {`w`: `" w "`}, `coordinates`: [{`name`: `th`, `initial`: 0.3}], `gravity`: [0, 0, -9.81]," \
    "`particles`: [{`name`: `bead`, `mass`: 2, `position`: [`sin(th)*cos(w*t)`, `sin(th)*sin(w*t)`, `-cos(th)`]}]"
static void a_uniform_rotation_permits_relative_equilibria(void **state) {
    (void)state;
    EXPECT({TURNED("sqrt(9.81)"), {0}, STABLE, ORDER(4), 0, 2}, {TURNED("2"), {0}, STABLE, LEAST, 0, 2},
           {TURNED("sqrt(19.62)"), {M_PI / 3}, STABLE, LEAST, 0, 4},
           {TURNED("sqrt(19.62)"), {0}, UNSTABLE, LINEAR, 0, 4});
}

/* V may have a kink, so both sides must be examined. */
static void branches_are_found_on_both_sides(void **state) {
    (void)state;
    EXPECT({ONE("abs(x)^3"), {0}, STABLE, ORDER(3), 0, 1}, {ONE("if(x < 0, x^2, x^4)"), {0}, STABLE, ORDER(4), 0, 1},
           {ONE("if(x < 0, x^2, -x^4)"), {0}, UNSTABLE, ORDER(4), 0, 1},
           {ONE("if(x < 0, x^4, -x^4)"), {0}, UNSTABLE, ORDER(4), 0, 1},
           {ONE("max(x, 0)^2 + max(-x, 0)^4"), {0}, STABLE, ORDER(4), 0, 1});
}

/* If forces dissipate energy, are circulatory, or are gyroscopic, the potential alone may not decide the stability. */
static void other_forces_are_taken_into_account(void **state) {
    (void)state;
#define FORCE(x) ", `generalized_forces`: {`x`: `" x "`}"
#define FORCES(x, y) ", `generalized_forces`: {`x`: `" x "`, `y`: `" y "`}"
    EXPECT(
        {ONE("x^4") FORCE("-x'"), {0}, STABLE, ORDER(4), 0, 1}, {ONE("x^4") FORCE("x'"), {0}, UNSTABLE, LINEAR, 0, 1},
        {ONE("x^3") FORCE("-x'"), {0}, UNSTABLE, ORDER(3), 0, 1}, {ONE("x^2") FORCE("-x'"), {0}, STABLE, LINEAR, 0, 1},
        {ONE("x^2") FORCE("-x'^3"), {0}, STABLE, LEAST, 0, 1}, {ONE("x^2") FORCE("x'^3"), {0}, UNDECIDED, NULL, 0, 1},
        {ONE("0") FORCE("-x^3"), {0}, STABLE, ORDER(4), 0, 1},
        /* without damping, a circulatory force makes one of two equal frequencies unstable */
        {TWO("x^2 + y^2") FORCES("-0.5*y", "0.5*x"), {0}, UNSTABLE, LINEAR, 0, 1},
        {TWO("x^2 + y^2") FORCES("-0.1*y - x'", "0.1*x - y'"), {0}, STABLE, LINEAR, 0, 1},
        {TWO("0") FORCES("-x^3 - y^3", "x^3 - y^3"), {0}, UNDECIDED, NULL, 0, 1},
        {TWO("-(x^2 + y^2)/2") FORCES("3*y'", "-3*x'"), {0}, UNDECIDED, NULL, 0, 1},
        {TWO("-x^4 - y^4") FORCES("3*y'", "-3*x'"), {0}, UNDECIDED, NULL, 0, 1},
        {TWO("x^4 + y^4") FORCES("3*y'", "-3*x'"), {0}, STABLE, ORDER(4), 0, 1});
}

#define UNDER(V, constraints)                                                                           \
    "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}], `kinetic_energy`:" \
    "`(x'^2 + y'^2)/2`, `potential_energy`: `" V "`, `constraints`: [" constraints "]"
#define CONSTRAINT(name, equation) "{`name`: `" name "`, `equation`: `" equation "`}"
static void constraints_shape_the_potential(void **state) {
    (void)state;
    EXPECT({UNDER("9.81*y", CONSTRAINT("c", "x^2 + y^2 = 1")), {0, -1}, STABLE, LEAST, 0, 2},
           {UNDER("9.81*y", CONSTRAINT("c", "x^2 + y^2 = 1")), {0, 1}, UNSTABLE, LINEAR, 0, 2},
           {UNDER("9.81*y", CONSTRAINT("c", "x^2 + y^2 = 1") "," CONSTRAINT("d", "3*x^2 = 3 - 3*y^2")),
            {0, -1},
            STABLE,
            LEAST,
            0,
            2},
           {UNDER("9.81*y", CONSTRAINT("c", "y + 0.9296 = x^4")), {0, -0.9296}, STABLE, ORDER(4), 0, 1},
           {UNDER("-9.81*y", CONSTRAINT("c", "y + 0.9296 = x^4")), {0, -0.9296}, UNSTABLE, ORDER(4), 0, 1},
           {UNDER("9.81*y", CONSTRAINT("c", "y + 1.016 = x^3")), {0, -1.016}, UNSTABLE, ORDER(3), 0, 1},
           /* rolling is a holonomic constraint written with velocities: equilibria have x = 0 and any angle */
           {UNDER("x^2", CONSTRAINT("c", "x' = 0.5*y'")), {0, -0.8}, STABLE, LEAST, 1, 1});
}

/* Systems with a blade (x' sin f = y' cos f). On a slope, each position is an equilibrium if the blade is perpendicular
 * to the line of steepest slope (f = ±π/2). The stability of these equilibria is undecided. The straight motion of a
 * sleigh is stable if the mass centre is ahead of the blade, and unstable if it is behind the blade (Chaplygin). */
#define BLADE(vx, T, V)                                                                                                \
    "`coordinates`: [{`name`: `x`, `velocity`: " vx "}, `y`, `f`], `kinetic_energy`: `" T "`, `potential_energy`: `" V \
    "`, `constraints`: [" CONSTRAINT("k", "x'*sin(f) = y'*cos(f)") "]"
#define SLEIGH "((x' - 0.3*sin(f)*f')^2 + (y' + 0.3*cos(f)*f')^2 + f'^2)/2"
static void blades_rest_in_families_and_run_straight(void **state) {
    (void)state;
    EXPECT({BLADE("0", "(x'^2 + y'^2 + f'^2)/2", "x"), {0, 0, M_PI / 2}, UNDECIDED, NULL, 2, 2},
           {BLADE("0", "(x'^2 + y'^2 + f'^2)/2", "x"), {0, 0, -M_PI / 2}, UNDECIDED, NULL, 2, 2},
           {BLADE("1", SLEIGH, "0"), {0, 0, 0}, STABLE, LINEAR, 1, 2},
           {BLADE("-1", SLEIGH, "0"), {0, 0, 0}, UNSTABLE, LINEAR, 1, 2});
}

/* Circular orbits in V = −1/(k r^k) are stable for k < 2. For k = 2, the amended potential is constant. */
#define ORBIT(V)                                                                                                  \
    "`coordinates`: [{`name`: `r`, `initial`: 1}, {`name`: `f`, `velocity`: 1}], `kinetic_energy`: `(r'^2 + r^2*" \
    "f'^2)/2`, `potential_energy`: `" V "`"
static void steady_motions_are_checked_at_constant_momenta(void **state) {
    (void)state;
    EXPECT({ORBIT("-1/r"), {1, 0}, STABLE, LEAST, 0, 0}, {ORBIT("r^4/4"), {1, 0}, STABLE, LEAST, 0, 0},
           {ORBIT("-1/(3*r^3)"), {1, 0}, UNSTABLE, LINEAR, 0, 0}, {ORBIT("-1/(2*r^2)"), {1, 0}, UNDECIDED, NULL, 0, 0});
}

static void expect_refusal(const char *members, const char *text) {
    fixture f;
    hamel_equilibria *e = NULL;
    fixture_read(&f, members, "`stop`: 1");
    if (hamel_find_equilibria(&e, &f.description, 8, NULL, NULL, &f.error) != HAMEL_INVALID) fail_msg("%s", members);
    if (!fixture_says(&f, text)) fail_msg("%s: %s", members, f.error.faults[0].message);
    assert_null(e);
    fixture_close(&f);
}

/* Papastavridis, example 3.2.5: an equilibrium requires time-independent constraints and forces. */
static void moving_constraints_and_forces_are_reported(void **state) {
    (void)state;
    expect_refusal(UNDER("x^2 + y^2", CONSTRAINT("floor", "y + 0.8 = 0.1*sin(2*t)")),
                   "the constraint `floor` changes with time");
    expect_refusal(UNDER("x^2 + y^2", CONSTRAINT("drive", "x' = t")),
                   "the constraint `drive` requires nonzero velocities");
    expect_refusal(UNDER("x^2 + y^2", CONSTRAINT("drive", "x' = 2")),
                   "the constraint `drive` requires nonzero velocities");
    expect_refusal(UNDER("x^2 + y^2", CONSTRAINT("servo", "x'' = 3")),
                   "the constraint `servo` requires nonzero accelerations");
    expect_refusal(ONE("x^2") FORCE("sin(t)"), "the force on `x` depends on time");
    expect_refusal(ONE("x^2 + x*cos(3*t)"), "the force on `x` depends on time");
}

/* These systems depend on time, but the equilibrium persists. The time-dependent quantity is the direction of a blade,
 * a factor of a constraint, the slope of a rail, or a stiffness. */
static void time_dependence_that_permits_equilibrium_is_accepted(void **state) {
    (void)state;
    EXPECT({UNDER("x^2 + y^2", CONSTRAINT("c", "cos(t)*x' + sin(t)*y' = 0")), {0, 0}, STABLE, LEAST, 0, 1},
           {UNDER("(x - 1)^2 + y^2", CONSTRAINT("c", "cos(t)*x' + sin(t)*y' = 0")), {1, 0}, STABLE, LEAST, 0, 1},
           {UNDER("x^2 + y^2", CONSTRAINT("c", "(1 + t^2)*(x' - y') = 0")), {0.7, -0.7}, STABLE, LEAST, 1, 1},
           {UNDER("(x - 0.6)^2 + (y + 0.8)^2", CONSTRAINT("c", "y + 0.8 = (x - 0.6)*sin(t)")),
            {0.6, -0.8},
            UNDECIDED,
            NULL,
            0,
            0},
           {ONE("x^2*(1 + 0.3*sin(t))"), {0}, UNDECIDED, NULL, 0, 1});
}

/* The search reports whether it may have missed equilibria. The potentials x and exp(x) have no equilibrium. */
static void a_search_reports_its_extent(void **state) {
    (void)state;
    static const struct {
        const char *members;
        bool complete;
        size_t unsolved;
    } cases[] = {{ONE("x^2 - x"), true, 0}, {TWO("(x - y)^2"), true, 0}, {ONE("x"), true, 1},
                 {ONE("x^4"), false, 0},    {ONE("exp(x)"), false, 17},  {ONE("cos(x)"), false, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fixture f;
        hamel_equilibria *e = NULL;
        fixture_read(&f, cases[k].members, "`stop`: 1");
        assert_int_equal(hamel_find_equilibria(&e, &f.description, 16, NULL, NULL, &f.error), HAMEL_OK);
        assert_true(e->complete == cases[k].complete);
        assert_true(e->complete == (e->note == NULL));
        assert_int_equal(e->starts, e->complete ? 1 : 17);
        assert_int_equal(e->unsolved, cases[k].unsolved);
        hamel_equilibria_free(e);
        fixture_close(&f);
    }
}

/* A hanging chain of 14 links in x and y has 28 coordinates. The straight vertical chain is the minimum of the
 * potential. */
static void a_chain_of_28_coordinates_hangs_at_its_minimum(void **state) {
    (void)state;
    fixture f;
    hamel_equilibria *e = NULL;
    double down[28];
    fixture_read(&f,
                 "`coordinates`: [{`name`: `x[i]`, `for`: `i = 1..14`, `initial`: `0.6*i`}, {`name`: `y[i]`, `for`:"
                 "`i = 1..14`, `initial`: `-0.8*i`}], `gravity`: [0, -9.81], `particles`: [{`name`: `p[i]`, `for`:"
                 "`i = 1..14`, `mass`: 0.5, `position`: [`x[i]`, `y[i]`]}], `constraints`: ["
                 "{`name`: `rod[1]`, `equation`: `x[1]^2 + y[1]^2 = 1`}, {`name`: `rod[i]`, `for`: `i = 2..14`,"
                 "`equation`: `(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1`}]",
                 "`stop`: 1");
    assert_int_equal(hamel_find_equilibria(&e, &f.description, 64, NULL, NULL, &f.error), HAMEL_OK);
    for (int i = 0; i < 14; i++) down[i] = 0, down[14 + i] = -(i + 1);
    bool found = false;
    for (size_t k = 0; k < e->count; k++) {
        double worst = 0;
        for (size_t i = 0; i < 28; i++) worst = fmax(worst, fabs(e->items[k].q[i] - down[i]));
        if (worst > 1e-9) {
            assert_true(!e->items[k].decided || !e->items[k].stable);
            continue;
        }
        found = true;
        assert_true(e->items[k].stable && e->items[k].isolated);
        assert_string_equal(e->items[k].decided_by, LEAST);
    }
    assert_true(found);
    hamel_equilibria_free(e);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_are_decided_by_the_order_of_the_first_derivative),
        cmocka_unit_test(several_flat_directions_are_examined_together),
        cmocka_unit_test(the_potential_is_reduced_along_the_flat_direction),
        cmocka_unit_test(families_and_isolated_points_are_distinguished),
        cmocka_unit_test(a_hoop_is_decided_at_its_critical_speed),
        cmocka_unit_test(a_uniform_rotation_permits_relative_equilibria),
        cmocka_unit_test(branches_are_found_on_both_sides),
        cmocka_unit_test(other_forces_are_taken_into_account),
        cmocka_unit_test(constraints_shape_the_potential),
        cmocka_unit_test(blades_rest_in_families_and_run_straight),
        cmocka_unit_test(steady_motions_are_checked_at_constant_momenta),
        cmocka_unit_test(moving_constraints_and_forces_are_reported),
        cmocka_unit_test(time_dependence_that_permits_equilibrium_is_accepted),
        cmocka_unit_test(a_search_reports_its_extent),
        cmocka_unit_test(a_chain_of_28_coordinates_hangs_at_its_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
