/* test_constraints.c — engine/mechanics/constraints.c and energies.c: A, b, constraint residuals and the rate of the
 * Jacobi integral against closed forms. */
#include "tests/unit/fixture.h"

#include "engine/dynamics/initial_values.h"
#include "engine/mechanics/formulation.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define PLANE "`coordinates`: [`x`, `y`, `f`], `kinetic_energy`: `(x'^2 + y'^2 + f'^2)/2`,"

static void a_holonomic_constraint_is_differentiated_twice(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, PLANE "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = (1 + t)^2`}]");
    uint64_t seed = 1;
    fixture_point p = fixture_point_anywhere(&seed);
    double x = p.q[0], y = p.q[1], u = p.v[0], w = p.v[1];
    assert_near("phi", fixture_value_at(&f, f.equations.position[0], &p), x * x + y * y - (1 + p.t) * (1 + p.t), 1e-14);
    assert_near("rate", fixture_value_at(&f, f.equations.velocity[0], &p), 2 * (x * u + y * w - (1 + p.t)), 1e-14);
    assert_near("A_x", fixture_entry_at(&f, &f.equations.A, 0, 0, &p), 2 * x, 1e-14);
    assert_near("A_y", fixture_entry_at(&f, &f.equations.A, 0, 1, &p), 2 * y, 1e-14);
    assert_near("b", fixture_value_at(&f, f.equations.b[0], &p), 2 - 2 * (u * u + w * w), 1e-14);
    fixture_close(&f);
}

static void a_knife_edge_is_differentiated_once(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, PLANE "`constraints`: [{`name`: `c`, `equation`: `-x'*sin(f) + y'*cos(f) = 0`}]");
    uint64_t seed = 2;
    fixture_point p = fixture_point_anywhere(&seed);
    double phi = p.q[2], rate = p.v[2];
    assert_int_equal(f.equations.position[0], GRAPH_NONE);
    assert_near("A_x", fixture_entry_at(&f, &f.equations.A, 0, 0, &p), -sin(phi), 1e-15);
    assert_near("A_y", fixture_entry_at(&f, &f.equations.A, 0, 1, &p), cos(phi), 1e-15);
    assert_near("A_f", fixture_entry_at(&f, &f.equations.A, 0, 2, &p), 0, 0);
    assert_near("b", fixture_value_at(&f, f.equations.b[0], &p), rate * (p.v[0] * cos(phi) + p.v[1] * sin(phi)), 1e-14);
    fixture_close(&f);
}

/* Appell and Hamel's constraint z'² = k² (x'² + y'²): Chetaev's direction is ∂f/∂q' = (−2k² x', −2k² y', 2 z'), and
 * b = 0. */
static void the_force_of_a_nonlinear_constraint_has_chetaevs_direction(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, PLANE
                   "`parameters`: {`k`: 1.5}, `constraints`: [{`name`: `c`, `equation`: `f'^2 = k^2*(x'^2 + y'^2)`}]");
    uint64_t seed = 3;
    fixture_point p = fixture_point_anywhere(&seed);
    for (int j = 0; j < 3; j++)
        assert_near("A", fixture_entry_at(&f, &f.equations.A, 0, j, &p), (j == 2 ? 2 : -4.5) * p.v[j], 1e-14);
    assert_near("b", fixture_value_at(&f, f.equations.b[0], &p), 0, 0);
    fixture_close(&f);
}

static void an_acceleration_constraint_is_unchanged(void **state) {
    (void)state;
    fixture f;
    fixture_derive(&f, PLANE "`constraints`: [{`name`: `c`, `equation`: `x''*y - 2*y''*x' = t*f'`}]");
    uint64_t seed = 4;
    fixture_point p = fixture_point_anywhere(&seed);
    assert_int_equal(f.equations.velocity[0], GRAPH_NONE);
    assert_near("A_x", fixture_entry_at(&f, &f.equations.A, 0, 0, &p), p.q[1], 0);
    assert_near("A_y", fixture_entry_at(&f, &f.equations.A, 0, 1, &p), -2 * p.v[0], 1e-15);
    assert_near("b", fixture_value_at(&f, f.equations.b[0], &p), p.t * p.v[2], 1e-15);
    fixture_close(&f);
}

static void constraints_not_linear_in_the_accelerations_are_rejected(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, PLANE "`constraints`: [{`name`: `c`, `equation`: `x''^2 = y''`}]");
    f.equations = (hamel_equations){.system = f.system, .n = 3, .m = 1};
    assert_int_equal(formulation_lagrange.derive(&f.equations), HAMEL_INVALID);
    assert_true(fixture_says(&f, "`c` is not linear in the accelerations"));
    fixture_close(&f);
}

/* --- energies ------------------------------------------------------------------------------------------------------ */

/* Compares dh/dt with a central difference of h. The states for this difference are computed by a Taylor expansion with
 * the model's accelerations, not by an integration. */
static void expect_rate(const char *members) {
    hamel_model *model = fixture_model(members, "`stop`: 1, `initialization`: `project`");
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    uint64_t seed = 12;
    size_t n = model->n, all = 2 * n + model->m;
    double *work = calloc(program_workspace_doubles(model->observation.program) + 1, sizeof *work);
    double *x = calloc(2 * all + 3 * n + model->observation.count + 1, sizeof *x);
    assert_true(work && x);
    double *v = x + n, *a = v + n, *lambda = a + n, *q2 = lambda + model->m, *v2 = q2 + n, *seen = v2 + n;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->observation.program, &in, work);
    for (int round = 0; round < 5; round++) {
        double t = random_between(&seed, 0, 1), residual, slope[2];
        random_fill(&seed, x, 2 * n, 0.2, 1.2);
        hamel_error error = {0};
        assert_int_equal(initial_values_make_consistent(k, t, x, v, HAMEL_INITIALIZATION_PROJECT, &residual, &error),
                         HAMEL_OK);
        assert_int_equal(dynamics_evaluate(k, t, x, v, &error), HAMEL_OK);
        assert_int_equal(dynamics_accelerations(k, 0, 0, a, lambda, &error), HAMEL_OK);
        double rate = dynamics_energy_rate(k, t, x, v, lambda);
        for (int level = 0; level < 2; level++) {
            double h = level ? 1e-3 : 2e-3, energy[2];
            for (int side = 0; side < 2; side++) {
                double step = side ? h : -h, time = t + step;
                for (size_t i = 0; i < n; i++) {
                    q2[i] = x[i] + step * v[i] + step * step * a[i] / 2;
                    v2[i] = v[i] + step * a[i];
                }
                in = model_inputs(model, &time, q2, v2, a, lambda, a);
                program_evaluate(model->observation.program, &in, work, seen);
                energy[side] = seen[model->observation.count - 1];
            }
            slope[level] = (energy[1] - energy[0]) / (2 * h);
        }
        assert_near("dh/dt", rate, (4 * slope[1] - slope[0]) / 3, 1e-8);
    }
    free(work);
    free(x);
    dynamics_free(k);
    hamel_model_free(model);
}

static void the_rate_of_the_jacobi_integral_agrees_with_differences(void **state) {
    (void)state;
    expect_rate(PLANE
                "`potential_energy`: `x^2*y*cos(t)`, `dissipation`: `f'^2*x'^2`, `generalized_forces`: {`y`: `x*f'`}");
    expect_rate(PLANE "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = (1 + t)^2`}]");
    expect_rate(
        PLANE
        "`constraints`: [{`name`: `c`, `equation`: `-x'*sin(f) + y'*cos(f) = sin(t)*x`}], `potential_energy`: `y`");
    expect_rate(
        PLANE "`constraints`: [{`name`: `c`, `equation`: `f'^2 = 2*(x'^2 + y'^2) + t^2/10`}], `potential_energy`: `f`");
    expect_rate(PLANE "`constraints`: [{`name`: `c`, `equation`: `x''*y - 2*y'' = t*f'`}]");
    expect_rate(
        PLANE
        "`constraints`: [{`name`: `c`, `equation`: `y = x^2`}], `generalized_forces`: {`x`: `-0.2*lambda(c)*x'`}");
    expect_rate("`coordinates`: [`x`, `y`], `lagrangian`: `(x'^2 + y'^2*(2 + cos(t)))/2 + x*y'*t - x^2*y`");
}

static void the_rate_of_the_jacobi_integral_of_a_conservative_system_is_zero(void **state) {
    (void)state;
    hamel_model *model =
        fixture_model(PLANE "`potential_energy`: `x^2*y`, `constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = 1`},"
                            "{`name`: `d`, `equation`: `-x'*sin(f) + y'*cos(f) = 0`}]",
                      "`stop`: 1");
    assert_null(model->dynamics.energy_rate);
    hamel_model_free(model);
}

/* With T = T2 + T1 + T0, h = T2 − T0 + V (Greenwood 2.152). The system is a bead on a wire that rotates at the rate
 * w. */
static void the_jacobi_integral_of_a_rotating_wire_is_t2_minus_t0(void **state) {
    (void)state;
    fixture f;
    fixture_derive(
        &f, "`coordinates`: [`r`], `particles`: [{`name`: `b`, `mass`: 2, `position`: [`r*cos(3*t)`, `r*sin(3*t)`]}]");
    fixture_point p = {.t = 0.2, .q = {0.7}, .v = {-1.3}};
    assert_near("h", fixture_value_at(&f, f.equations.jacobi, &p), 1.3 * 1.3 - 9 * 0.49, 1e-14);
    fixture_close(&f);
}

/* Compares S = m a·a/2 in polar coordinates with d'Alembert's principle: ∂S/∂q'' = d/dt ∂T/∂q' − ∂T/∂q. */
static void the_gibbs_appell_function_gives_the_same_inertia_forces(void **state) {
    (void)state;
    static const char *const ways[] = {
        "`coordinates`: [`r`, `a`], `kinetic_energy`: `r'^2 + r^2*a'^2`",
        "`coordinates`: [`r`, `a`], `particles`: [{`name`: `p`, `mass`: 2, `position`: [`r*cos(a)`, `r*sin(a)`]}]"};
    for (int way = 0; way < 2; way++) {
        fixture f;
        fixture_derive(&f, ways[way]);
        graph *g = f.system->graph;
        graph_node S = energies_acceleration(&f.equations);
        double r = 0.8, q[] = {r, 0.3}, v[] = {0.5, -1.2}, a[] = {0.7, 2.5};
        program_inputs in = {{[SYMBOL_COORDINATE] = q, [SYMBOL_VELOCITY] = v, [SYMBOL_ACCELERATION] = a}};
        assert_near("r", fixture_value(g, graph_partial(g, S, f.system->a[0]), &in), 2 * (a[0] - r * v[1] * v[1]),
                    1e-14);
        assert_near("a", fixture_value(g, graph_partial(g, S, f.system->a[1]), &in),
                    2 * (r * r * a[1] + 2 * r * v[0] * v[1]), 1e-14);
        fixture_close(&f);
    }
}

static double bytes_of_family(int count) {
    char members[400];
    snprintf(members, sizeof members,
             "`parameters`: {`N`: %d}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`}], `kinetic_energy`: `sum(i, "
             "1, N, x[i]'^2)`,"
             "`constraints`: [{`name`: `c[i]`, `for`: `i = 1..N`, `equation`: `%s`}]",
             count, count % 2 ? "x[i]'' = sin(t)" : "x[i]' = sin(t)");
    hamel_model *model = fixture_model(members, "`stop`: 1");
    double bytes = (double)hamel_model_bytes(model);
    hamel_model_free(model);
    return bytes;
}

static void many_constraints_need_linear_memory(void **state) {
    (void)state;
    for (int odd = 0; odd < 2; odd++) {
        double small = bytes_of_family(1000 + odd), large = bytes_of_family(8000 + odd);
        if (!(large < 12 * small)) fail_msg("%g bytes for 1000 constraints, %g for 8000", small, large);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_holonomic_constraint_is_differentiated_twice),
        cmocka_unit_test(a_knife_edge_is_differentiated_once),
        cmocka_unit_test(the_force_of_a_nonlinear_constraint_has_chetaevs_direction),
        cmocka_unit_test(an_acceleration_constraint_is_unchanged),
        cmocka_unit_test(constraints_not_linear_in_the_accelerations_are_rejected),
        cmocka_unit_test(the_rate_of_the_jacobi_integral_agrees_with_differences),
        cmocka_unit_test(the_rate_of_the_jacobi_integral_of_a_conservative_system_is_zero),
        cmocka_unit_test(the_jacobi_integral_of_a_rotating_wire_is_t2_minus_t0),
        cmocka_unit_test(many_constraints_need_linear_memory),
        cmocka_unit_test(the_gibbs_appell_function_gives_the_same_inertia_forces),
    };
    return cmocka_run_group_tests_name("constraints and energies", tests, NULL, NULL);
}
