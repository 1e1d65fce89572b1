/* test_path.c — third derivatives, and the curvature, torsion and Frenet triad of paths, compared with closed forms. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const RUN = "`stop`: 1.5, `samples`: 7, `rtol`: 1e-10, `atol`: 1e-12";

static double at(const motion *m, size_t row, const char *name) {
    return motion_value(m, row, motion_column(m, name));
}

/* A bead slides down the helix (a cos p, a sin p, c p). At any speed, the curvature is a/(a² + c²) and the torsion
 * is c/(a² + c²) (Papastavridis 1.2). The normal points to the axis of the helix. */
static void a_helix_has_constant_curvature_and_torsion(void **state) {
    (void)state;
    static const double a = 0.8, c = 0.3, size = 0.8 * 0.8 + 0.3 * 0.3;
    motion m = motion_run(
        "`coordinates`: [{`name`: `p`, `velocity`: -1}], `gravity`: [0, 0, -9.81], `particles`: [{`name`: `B`,"
        "`mass`: 2, `position`: [`0.8*cos(p)`, `0.8*sin(p)`, `0.3*p`]}], `outputs`: {`k`: `path_curvature(B)`,"
        "`s`: `path_torsion(B)`, `n1`: `path_normal(B, 1)`, `n2`: `path_normal(B, 2)`, `n3`: `path_normal(B, 3)`,"
        "`t1`: `path_tangent(B, 1)`, `t3`: `path_tangent(B, 3)`, `b1`: `path_binormal(B, 1)`,"
        "`b3`: `path_binormal(B, 3)`}",
        RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double p = at(&m, row, "p"); /* p decreases, so the tangent is −dr/dp, normalized */
        assert_near("curvature", at(&m, row, "k"), a / size, 1e-12);
        assert_near("torsion", at(&m, row, "s"), c / size, 1e-11);
        assert_near("n1", at(&m, row, "n1"), -cos(p), 1e-12);
        assert_near("n2", at(&m, row, "n2"), -sin(p), 1e-12);
        assert_near("n3", at(&m, row, "n3"), 0, 1e-12);
        assert_near("t1", at(&m, row, "t1"), a * sin(p) / sqrt(size), 1e-12);
        assert_near("t3", at(&m, row, "t3"), -c / sqrt(size), 1e-12);
        assert_near("b1", at(&m, row, "b1"), -c * sin(p) / sqrt(size), 1e-12);
        assert_near("b3", at(&m, row, "b3"), -a / sqrt(size), 1e-12);
    }
    motion_free(&m);
}

/* A projectile with linear drag: m a = m g − c v, so the jerk is −(c/m) a with a = g − (c/m) v. */
static void linear_drag_gives_a_jerk_proportional_to_the_acceleration(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: 3}, {`name`: `y`, `velocity`: 4}],"
                          "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}], `gravity`: [0, -9.81],"
                          "`dissipation`: `0.25*(x'^2 + y'^2)`, `outputs`: {`j1`: `jerk(P, 1)`, `j2`: `jerk(P, 2)`,"
                          "`k`: `path_curvature(P)`, `s`: `path_torsion(P)`}",
                          RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double vx = at(&m, row, "x'"), vy = at(&m, row, "y'");
        assert_near("j1", at(&m, row, "j1"), 0.0625 * vx, 1e-12);
        assert_near("j2", at(&m, row, "j2"), 0.25 * (9.81 + 0.25 * vy), 1e-12);
        assert_near("curvature", at(&m, row, "k"), fabs(9.81 * vx) / pow(hypot(vx, vy), 3), 1e-12);
        assert_near("torsion", at(&m, row, "s"), 0, 0);
    }
    motion_free(&m);
}

/* A pendulum of length l = 2 in the coordinates x and y. The angle p from the vertical satisfies p'' = −(g/l) sin p
 * and p''' = −(g/l) p' cos p. For x = l sin p, x''' = l (cos p (p''' − p'³) − 3 sin p p' p''). Formulations with
 * multipliers also need λ'. */
static void nine_formulations_give_the_jerk_of_a_pendulum(void **state) {
    (void)state;
    static const char *const formulations[] = {"lagrange",     "udwadia-kalaba",  "gauss",    "maggi", "kane",
                                               "gibbs-appell", "boltzmann-hamel", "hamilton", "routh"};
    for (size_t f = 0; f < sizeof formulations / sizeof *formulations; f++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "%s, `formulation`: `%s`", RUN, formulations[f]);
        motion m = motion_run("`coordinates`: [{`name`: `x`, `initial`: 1.2}, {`name`: `y`, `initial`: -1.6}, `z`],"
                              "`particles`: [{`name`: `P`, `mass`: 3, `position`: [`x`, `y`, `z`]}],"
                              "`gravity`: [0, -9.81, 0],"
                              "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 4`}],"
                              "`outputs`: {`j`: `der(x'')`, `k`: `jerk(P, 1)`, `r`: `der(x''*y)`, `a`: `x''`}",
                              simulation);
        for (size_t row = 0; row < m.row_count; row++) {
            double x = at(&m, row, "x"), y = at(&m, row, "y"), s = x / 2, c = -y / 2;
            double w = (at(&m, row, "x'") * c + at(&m, row, "y'") * s) / 2, e = -9.81 / 2 * s, e2 = -9.81 / 2 * c * w;
            double j = 2 * (c * (e2 - w * w * w) - 3 * s * w * e);
            assert_near(formulations[f], at(&m, row, "j"), j, 1e-10);
            assert_near(formulations[f], at(&m, row, "k"), j, 1e-10);
            assert_near(formulations[f], at(&m, row, "r"), j * y + at(&m, row, "a") * at(&m, row, "y'"), 1e-10);
        }
        motion_free(&m);
    }
}

/* A sleigh with its mass centre on the knife edge, a nonholonomic constraint, has a constant speed u along the edge
 * and a constant rotation rate w. The curvature of its path is w/u, and the jerk is −w² v. */
static void a_sleigh_without_forces_moves_on_a_circle(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [{`name`: `x`, `velocity`: 1.5}, `y`, {`name`: `p`, `velocity`: 0.6}], `bodies`: [{`name`: `S`,"
        "`mass`: 2, `inertia`: 0.7, `position`: [`x`, `y`], `orientation`: {`angle`: `p`}}], `constraints`:"
        "[{`name`: `edge`, `equation`: `x'*sin(p) - y'*cos(p) = 0`}], `outputs`: {`k`: `path_curvature(S)`,"
        "`j`: `jerk(S, 2)`}",
        RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        assert_near("curvature", at(&m, row, "k"), 0.4, 1e-9);
        assert_near("jerk", at(&m, row, "j"), -0.36 * at(&m, row, "y'"), 1e-9);
    }
    motion_free(&m);
}

/* The force cos t contains the time explicitly: x''' = −4 x' − sin t. The acceleration constraint y'' = x y' + t² is
 * differentiated once: y''' = x' y' + x y'' + 2 t. */
static void third_derivatives_contain_explicit_derivatives_with_respect_to_time(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `kinetic_energy`: `x'^2/2 + y'^2/2`,"
                          "`potential_energy`: `2*x^2`, `generalized_forces`: {`x`: `cos(t)`},"
                          "`constraints`: [{`name`: `c`, `equation`: `y'' = x*y' + t^2`}],"
                          "`outputs`: {`j`: `der(x'')`, `k`: `der(y'')`, `b`: `y''`}",
                          RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double t = motion_value(&m, row, 0), x = at(&m, row, "x"), v = at(&m, row, "x'"), w = at(&m, row, "y'");
        assert_near("j", at(&m, row, "j"), -4 * v - sin(t), 1e-12);
        assert_near("k", at(&m, row, "k"), v * w + x * at(&m, row, "b") + 2 * t, 1e-11);
    }
    motion_free(&m);
}

static void unsupported_third_derivatives_are_rejected(void **state) {
    (void)state;
    static const struct {
        const char *more, *output, *message;
    } cases[] = {
        {"`constraints`: [{`name`: `f`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.1, `on`: `P`}}]",
         "`o`: `jerk(P, 1)`", "because of friction"},
        {"`constraints`: [{`name`: `f`, `equation`: `y = 0`, `nonideal`: {`x`: `-x'`}}]", "`o`: `jerk(P, 1)`",
         "because of nonideal constraints"},
        {"`constraints`: [{`name`: `f`, `equation`: `y = 0`}], `generalized_forces`: {`x`: `lambda(f)/3`}",
         "`o`: `path_torsion(P)`", "forces contain multipliers"},
        {"`constraints`: [{`name`: `f`, `equation`: `y = 0`}]", "`o`: `der(lambda(f))`", "cannot differentiate"},
        {"`constraints`: [{`name`: `f`, `equation`: `y = 0`}]", "`o`: `der(jerk(P, 1))`", "cannot differentiate"},
        {"`events`: [{`name`: `e`, `when`: `jerk(P, 1) - 1`, `set`: {`x`: `0`}}]", "`o`: `1`",
         "rates of accelerations are not available in events"},
        {"`definitions`: {`d`: `der(x'')`}", "`o`: `d`", "only in outputs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[800];
        snprintf(text, sizeof text,
                 "`coordinates`: [`x`, `y`, `z`], `gravity`: [0, -1, 0],"
                 "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, `y`, `z`]}], %s, `outputs`: {%s}",
                 cases[i].more, cases[i].output);
        assert_run_fault(text, cases[i].message);
    }
}

/* The particle starts at rest, so its path has no tangent, normal or curvature at t = 0. It then falls on a straight
 * line, whose torsion is undefined. */
static void an_undefined_quantity_of_a_path_ends_the_run_with_an_error(void **state) {
    (void)state;
    static const char *const outputs[] = {"path_curvature(P)", "path_tangent(P, 2)", "path_normal(P, 2)",
                                          "path_torsion(P)"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "`coordinates`: [`x`, `y`, `z`], `gravity`: [0, -1, 0],"
                 "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, `y`, `z`]}], `outputs`: {`o`: `%s`}",
                 outputs[i]);
        assert_run_fault(text, "is not finite");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_helix_has_constant_curvature_and_torsion),
        cmocka_unit_test(linear_drag_gives_a_jerk_proportional_to_the_acceleration),
        cmocka_unit_test(nine_formulations_give_the_jerk_of_a_pendulum),
        cmocka_unit_test(a_sleigh_without_forces_moves_on_a_circle),
        cmocka_unit_test(third_derivatives_contain_explicit_derivatives_with_respect_to_time),
        cmocka_unit_test(unsupported_third_derivatives_are_rejected),
        cmocka_unit_test(an_undefined_quantity_of_a_path_ends_the_run_with_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
