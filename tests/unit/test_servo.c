/* test_servo.c — servo-constraints, whose reactions have a given direction, compared with closed forms. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const RUN = "`stop`: 1, `samples`: 6, `rtol`: 1e-10, `atol`: 1e-12";

static double at(const motion *m, size_t row, const char *name) {
    return motion_value(m, row, motion_column(m, name));
}

/* A cart of mass 2 carries a pendulum of mass 1 and length 0.5. A force on the cart keeps the angle p of the
 * pendulum at 0.3; p = 0 is upright. The acceleration of the cart is x'' = g tan p, and the force is (2 + 1) g tan
 * p. The generalized reaction on p is 0. */
static const char *const CART =
    "`coordinates`: [{`name`: `x`, `velocity`: 0.2}, {`name`: `p`, `initial`: 0.3}], `particles`: [{`name`: `C`,"
    "`mass`: 2, `position`: [`x`, 0]}, {`name`: `P`, `mass`: 1, `position`: [`x + 0.5*sin(p)`, `0.5*cos(p)`]}],"
    "`gravity`: [0, -9.81], `constraints`: [{`name`: `keep`, `equation`: `p = 0.3`, `direction`: {%s}}],"
    "`outputs`: {`a`: `x''`, `F`: `lambda(keep)`, `R`: `reaction(keep, x)`, `S`: `reaction(keep, p)`,"
    "`N`: `nonideal(x)`, `I`: `ideal(p)`, `w`: `power(keep)`, `r`: `der(energy())`, `h`: `energy_rate()`}";

static void check_cart(const char *direction, const char *form) {
    char system[1500], simulation[200];
    static const double F = 3 * 9.81;
    snprintf(system, sizeof system, CART, direction);
    snprintf(simulation, sizeof simulation, "%s, `formulation`: `%s`", RUN, form);
    motion m = motion_run(system, simulation);
    for (size_t row = 0; row < m.row_count; row++) {
        double slope = tan(at(&m, row, "p")), v = at(&m, row, "x'");
        assert_near(form, at(&m, row, "p"), 0.3, 1e-10);
        assert_near(form, at(&m, row, "a"), 9.81 * slope, 1e-9);
        assert_near(form, at(&m, row, "F"), F * slope, 1e-9);
        assert_near(form, at(&m, row, "R"), F * slope, 1e-9);
        assert_near(form, at(&m, row, "N"), F * slope, 1e-9);
        assert_near(form, at(&m, row, "S"), 0, 1e-9);
        assert_near(form, at(&m, row, "I"), 0, 0);
        assert_near(form, at(&m, row, "w"), F * slope * v, 1e-8);
        assert_near(form, at(&m, row, "h"), F * slope * v, 1e-8);
        assert_near(form, at(&m, row, "r"), F * slope * v, 1e-8);
    }
    motion_free(&m);
}

static void a_force_on_a_cart_keeps_the_angle_of_its_pendulum(void **state) {
    (void)state;
    check_cart("`coordinates`: {`x`: 1}", "lagrange");
    /* the component along y has no effect, because the cart cannot move along y */
    check_cart("`on`: `C`, `vector`: [1, 5]", "lagrange");
}

static void seven_formulations_give_the_same_reaction_along_a_given_direction(void **state) {
    (void)state;
    static const char *const formulations[] = {"udwadia-kalaba", "gauss",           "maggi",   "kane",
                                               "gibbs-appell",   "boltzmann-hamel", "hamilton"};
    for (size_t i = 0; i < sizeof formulations / sizeof *formulations; i++)
        check_cart("`coordinates`: {`x`: 1}", formulations[i]);
}

/* The direction (0, 1) is the gradient of the constraint p = 0.3, so the reaction is the ideal one. No horizontal
 * force acts on the cart and the pendulum: (2 + 1) x' is constant. */
static void the_gradient_as_direction_gives_the_ideal_reaction(void **state) {
    (void)state;
    char system[1500];
    snprintf(system, sizeof system, CART, "`coordinates`: {`p`: 1}");
    motion m = motion_run(system, RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        assert_near("a", at(&m, row, "a"), 0, 1e-12);
        assert_near("S", at(&m, row, "S"), -9.81 * 0.5 * sin(0.3), 1e-10);
    }
    motion_free(&m);
}

/* A force along (1, 1) enforces the acceleration constraint y'' = −4 y: x'' = λ and y'' = λ − g. */
static void a_force_of_given_direction_enforces_an_acceleration_constraint(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [`x`, {`name`: `y`, `initial`: 1}], `particles`: [{`name`: `P`, `mass`: 1,"
                          "`position`: [`x`, `y`]}], `gravity`: [0, -9.81], `constraints`: [{`name`: `law`,"
                          "`equation`: `y'' = -4*y`, `direction`: {`on`: `P`, `vector`: [1, 1]}}],"
                          "`outputs`: {`F`: `lambda(law)`, `X`: `x'' - 9.81 + 4*y`}",
                          RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double t = motion_value(&m, row, 0);
        assert_near("y", at(&m, row, "y"), cos(2 * t), 1e-8);
        assert_near("F", at(&m, row, "F"), 9.81 - 4 * cos(2 * t), 1e-7);
        assert_near("X", at(&m, row, "X"), 0, 1e-12);
    }
    motion_free(&m);
}

static void unsupported_directions_are_rejected(void **state) {
    (void)state;
    static const struct {
        const char *constraint, *more, *message;
    } cases[] = {
        /* a force along x does not change y'' */
        {"`equation`: `y = 0`, `direction`: {`coordinates`: {`x`: 1}}", ", `gravity`: [0, -1]",
         "do not determine the accelerations"},
        {"`equation`: `y = 0`, `direction`: {`coordinates`: {`z`: 1}}", "", "`z` is not a coordinate"},
        {"`equation`: `y = 0`, `direction`: {}", "", "the direction is 0"},
        {"`equation`: `y = 0`, `direction`: {`on`: `P`}", "", "needs `on` and `vector` with 2 components"},
        {"`equation`: `y = 0`, `direction`: {`coordinates`: {`y`: 1}}, `active`: false", "",
         "it is not active from the start"},
        {"`equation`: `y = 0`, `direction`: {`coordinates`: {`y`: 1}}, `nonideal`: {`x`: 1}", "",
         "it has `nonideal` or `friction`"},
        {"`equation`: `y = abs(t - 0.5)`, `direction`: {`coordinates`: {`y`: 1}}", "", "kinks or jumps"},
        {"`equation`: `y = 0`, `direction`: {`coordinates`: {`y`: 1}}", ", `outputs`: {`G`: `gauss()`}",
         "gauss() is not defined for `c`"},
        {"`equation`: `y = 0`, `direction`: {`coordinates`: {`y`: 1}}",
         ", `generalized_forces`: {`x`: `reaction(c, y)`}", "the force contains reaction() of `c`"},
        {"`equation`: `y = 0`, `direction`: {`coordinates`: {`y`: 1}}",
         ", `events`: [{`name`: `e`, `when`: `t - 0.5`, `impulse`: {`constraint`: `c`}}]",
         "the impact of the event `e` is unknown"},
        {"`equation`: `y = 0`, `direction`: {`coordinates`: {`y`: 1}}",
         ", `events`: [{`name`: `e`, `when`: `t - 0.5`, `activate`: [`c`]}]", "the impact of the event `e` is unknown"},
        {"`equation`: `y = 0`, `direction`: {`coordinates`: {`y`: 1}}",
         ", `events`: [{`name`: `e`, `when`: `t - 0.5`, `percussion`: {`on`: `x`, `value`: 1}}]",
         "the impact of the event `e` is unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[900];
        snprintf(text, sizeof text,
                 "`coordinates`: [`x`, `y`], `particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, `y`]}],"
                 "`constraints`: [{`name`: `c`, %s}]%s",
                 cases[i].constraint, cases[i].more);
        assert_run_fault(text, cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_force_on_a_cart_keeps_the_angle_of_its_pendulum),
        cmocka_unit_test(seven_formulations_give_the_same_reaction_along_a_given_direction),
        cmocka_unit_test(the_gradient_as_direction_gives_the_ideal_reaction),
        cmocka_unit_test(a_force_of_given_direction_enforces_an_acceleration_constraint),
        cmocka_unit_test(unsupported_directions_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
