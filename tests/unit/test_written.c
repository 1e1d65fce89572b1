/* test_written.c — engine/equations: generated equations agree with the equations that the integrator uses. The text is
 * parsed again, and the C is compiled and run. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"
#include "tests/unit/written_c.h"
#include "tests/unit/written_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* A consistent state: the initial state of the model with its accelerations. */
typedef struct motion_state {
    double t, q[64], v[64], a[64], lambda[64];
} motion_state;

static void start_of(const hamel_model *model, motion_state *s) {
    hamel_error error = {0};
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    assert_true(model->n <= 64 && model->m <= 64);
    s->t = model->settings.start;
    memcpy(s->q, model->q0, model->n * sizeof *s->q);
    memcpy(s->v, model->v0, model->n * sizeof *s->v);
    assert_int_equal(dynamics_evaluate(k, s->t, s->q, s->v, &error), HAMEL_OK);
    assert_int_equal(dynamics_accelerations(k, 0, 0, s->a, s->lambda, &error), HAMEL_OK);
    dynamics_free(k);
}

static const char *const systems[] = {
    "simple_pendulum",
    "cartesian_pendulum",
    "spherical_pendulum",
    "foucault_pendulum",
    "heavy_top",
    "chaplygin_sleigh",
    "coin_on_incline",
    "suslov_body",
    "greenwood_4_10_knife_edge_dumbbell",
    "greenwood_4_11_rolling_disk",
    "greenwood_4_12_bead_on_hoop",
    "greenwood_4_13_turning_knife_edge",
    "baruh_4_4_double_link_on_incline",
    "baruh_4_11_cart_bar_dashpot",
    "baruh_4_12_collar_on_rod",
    "baruh_ex_4_9_rolling_cylinders",
    "baruh_ex_4_36_four_bar",
    "papastavridis_2_2_2_ball_in_cylinder",
    "papastavridis_2_13_5_ball_on_turntable",
    "papastavridis_3_5_8_double_pendulum",
    "talamucci_3_1_pendulum_on_skate",
    "benchmark_andrews_squeezer",
    "motor_torque_curve",
    "bead_on_points",
};
enum { SYSTEMS = sizeof systems / sizeof *systems };

static void generated_c_computes_the_accelerations(void **state) {
    (void)state;
    for (size_t k = 0; k < SYSTEMS; k++) {
        written_example e;
        motion_state s;
        program_of_c p;
        written_open_example(&e, systems[k], "lagrange");
        start_of(e.model, &s);
        char *text = written_equations(&e, HAMEL_NOTATION_C);
        program_of_c_open(&p, text);
        double w[64], q_dot[64], w_dot[64], lambda[64], largest = 1;
        p.velocities(s.t, s.q, s.v, w);
        assert_int_equal(p.rates(s.t, s.q, w, q_dot, w_dot, lambda), 0);
        for (size_t i = 0; i < e.model->n; i++) largest = fmax(largest, fabs(s.a[i]));
        for (size_t i = 0; i < e.model->n; i++) {
            assert_true(q_dot[i] == s.v[i]);
            assert_near(systems[k], w_dot[i] / largest, s.a[i] / largest, 1e-10);
        }
        program_of_c_close(&p);
        free(text);
        written_close(&e);
    }
}

/* Opens `name`, which is the name of an example or the text of a description. */
static void open_named_or_text(written_example *e, const char *name, const char *as) {
    if (name[0] == '{')
        written_open(e, name, as);
    else
        written_open_example(e, name, as);
}

/* Computes the variables w at t + h, on a parabolic path with the velocities and accelerations of the state at t. */
static void later(const program_of_c *p, const motion_state *s, size_t n, double h, double *w) {
    double q[64], v[64];
    for (size_t i = 0; i < n; i++) {
        q[i] = s->q[i] + h * s->v[i] + h * h / 2 * s->a[i];
        v[i] = s->v[i] + h * s->a[i];
    }
    p->velocities(s->t + h, q, v, w);
}

/* Compares the rates of w with central differences of w along the trajectory. A central difference over 2h has the
 * truncation error h²/6 times the third derivative, and a rounding error of order ε/h. For h = 1e-4 both errors are
 * below 1e-6 if the rates of the variables are between 1 and 100 per second. */
static void the_rates_agree_with_differences(const char *name, const char *as, double arranging) {
    written_example e;
    motion_state s;
    program_of_c p;
    bool simplified;
    open_named_or_text(&e, name, "lagrange");
    start_of(e.model, &s);
    written_close(&e);
    open_named_or_text(&e, name, as);
    char *text = written_equations_within(&e, HAMEL_NOTATION_C, arranging, &simplified);
    assert_true(simplified == (strstr(text, "not fully simplified") == NULL));
    assert_true(simplified == (arranging > 0));
    program_of_c_open(&p, text);
    double w[64] = {0}, q_dot[64], w_dot[64] = {0}, lambda[64], before[64] = {0}, after[64] = {0};
    const double h = 1e-4;
    p.velocities(s.t, s.q, s.v, w);
    assert_int_equal(p.rates(s.t, s.q, w, q_dot, w_dot, lambda), 0);
    later(&p, &s, e.model->n, -h, before);
    later(&p, &s, e.model->n, h, after);
    for (size_t i = 0; i < e.model->n; i++) {
        assert_near(name, q_dot[i], s.v[i], 1e-9);
        assert_near(as, w_dot[i], (after[i] - before[i]) / (2 * h), 1e-6);
    }
    program_of_c_close(&p);
    free(text);
    written_close(&e);
}

/* Each of these formulations has its own variables w. The equations are checked with and without simplification. */
static void rates_of_other_formulations_agree_with_differences(void **state) {
    static const char *const cases[][2] = {
        {"papastavridis_3_5_8_double_pendulum", "hamilton"},
        {"heavy_top", "hamilton"},
        {"heavy_top", "routh"},
        {"foucault_pendulum", "hamilton"},
        {"cartesian_pendulum", "hamilton"},
        {"spherical_pendulum", "maggi"},
        {"chaplygin_sleigh", "kane"},
        {"chaplygin_sleigh", "gibbs-appell"},
        {"greenwood_4_11_rolling_disk", "kane"},
        {"papastavridis_2_13_7_rolling_disk", "gibbs-appell"},
        {"papastavridis_2_13_5_ball_on_turntable", "kane"},
        {"coin_on_incline", "hamilton"},
        {"greenwood_4_11_rolling_disk", "hadamard"},
        {"greenwood_4_13_turning_knife_edge", "voronets"},
        {"papastavridis_2_13_5_ball_on_turntable", "voronets"},
        {"papastavridis_2_13_8_two_wheels", "chaplygin"},
        {"baruh_4_14_vehicle", "kane"},
        {"baruh_4_9_bead_on_hoop", "kane"},
        {"cartesian_pendulum", "gibbs-appell"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        the_rates_agree_with_differences(cases[k][0], cases[k][1], hamel_limits_default().arranging);
        the_rates_agree_with_differences(cases[k][0], cases[k][1], 0);
    }
}

/* The C of every formulation must contain forces that depend on reactions. The forces depend on the reactions of one or
 * two constraints. The systems include quasi-velocities and a moving holonomic constraint. */
static void forces_that_depend_on_reactions_occur_in_generated_c(void **state) {
    static const char *const systems_by_reactions[] = {
        "{`hamel`: 1, `coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `initial`: 1, `velocity`: 1}],"
        "`kinetic_energy`: `(x'^2 + y'^2)/2`, `generalized_forces`: {`x`: `-0.3*x'*lambda(c)`},"
        "`constraints`: [{`name`: `c`, `equation`: `y' = y*x'`}], `simulation`: {`stop`: 1}}",
        "{`hamel`: 1, `coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `initial`: 1, `velocity`: 1},"
        "{`name`: `z`, `initial`: 0.5, `velocity`: 0.5}, `w`], `kinetic_energy`: `(x'^2 + 2*y'^2 + z'^2 + w'^2)/2`,"
        "`potential_energy`: `y^2 + z`, `generalized_forces`: {`x`: `-0.3*x'*lambda(c)`, `w`: `0.1*lambda(d) - "
        "0.2*lambda(c)`},"
        "`constraints`: [{`name`: `c`, `equation`: `y' = y*x'`}, {`name`: `d`, `equation`: `z' = z*y' - x*w'`}],"
        "`simulation`: {`stop`: 1, `initialization`: `project`}}",
        "{`hamel`: 1, `coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `initial`: 1, `velocity`: 1}],"
        "`quasi_velocities`: [{`name`: `u`, `definition`: `2*x' + y*y'`}],"
        "`kinetic_energy`: `(x'^2 + y'^2)/2`, `generalized_forces`: {`y`: `0.4*lambda(c)`},"
        "`constraints`: [{`name`: `c`, `equation`: `y' = y*x'`}], `simulation`: {`stop`: 1}}",
    };
    static const char *const formulations[] = {"lagrange",     "udwadia-kalaba",  "gauss",    "maggi",    "kane",
                                               "gibbs-appell", "boltzmann-hamel", "hamilton", "hadamard", "voronets"};
    (void)state;
    for (size_t k = 0; k < sizeof systems_by_reactions / sizeof *systems_by_reactions; k++)
        for (size_t f = 0; f < sizeof formulations / sizeof *formulations; f++)
            the_rates_agree_with_differences(systems_by_reactions[k], formulations[f],
                                             hamel_limits_default().arranging);
}

/* Checks that writing the equations fails with this reason. */
static void assert_not_written(const written_example *e, hamel_notation notation, const hamel_limits *limits,
                               const char *reason) {
    hamel_written *written = NULL;
    hamel_error error = {0};
    hamel_status status = hamel_write_equations(&written, &e->description.description, notation, limits, NULL, &error);
    assert_int_equal(status, HAMEL_INVALID);
    assert_string_equal(error.faults[0].message, reason);
    hamel_error_clear(&error);
}

/* A prescribed force that depends on the ideal reaction cannot be written as C, because the generated C has no unknown
 * for this reaction. */
static void prescribed_forces_that_depend_on_ideal_reactions_are_rejected_for_c(void **state) {
    (void)state;
    written_example e;
    written_open_example(&e, "udwadia_2000_horizontal_ring", "lagrange");
    assert_not_written(&e, HAMEL_NOTATION_C, NULL,
                       "these equations cannot be written out: prescribed forces of "
                       "constraints depend on the reactions of ideal constraints");
    written_close(&e);
}

/* --- the text, parsed again --------------------------------------------------------------------------------------- */

/* Compares every equation "coordinate: left = right" with the residual of the equations that are integrated. */
static void compare_text(written_example *e, char *text) {
    hamel_system *s = e->model->system;
    hamel_error error = {0};
    s->error = &error;
    hamel_equations equations = {.system = s, .n = e->model->n, .m = e->model->m};
    assert_int_equal(formulation_lagrange.derive(&equations), HAMEL_OK);
    size_t found = 0;
    char *rest;
    uint64_t seed = 5;
    double t = 0.3, q[64], v[64], a[64], lambda[64];
    random_fill(&seed, q, 64, 0.2, 1.2);
    random_fill(&seed, v, 64, -1, 1);
    random_fill(&seed, a, 64, -1, 1);
    random_fill(&seed, lambda, 64, -1, 1);
    program_inputs in = model_inputs(e->model, &t, q, v, a, lambda, NULL);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *colon = strstr(line, ": "), *equal = strstr(line, " = ");
        if (line[0] == '#' || !colon || !equal) continue;
        *colon = *equal = '\0';
        int32_t i = system_coordinate_index(s, line);
        if (i < 0) continue;
        graph_node left = written_read(s, colon + 2), right = written_read(s, equal + 3);
        assert_true(left >= 0 && right >= 0);
        double value = fixture_value(s->graph, left, &in) - fixture_value(s->graph, right, &in);
        assert_near(line, value, fixture_value(s->graph, equations.residual[i], &in), 1e-9);
        found++;
    }
    assert_int_equal(found, e->model->n);
    s->error = NULL;
}

static void the_parsed_text_agrees_with_the_integrated_equations(void **state) {
    (void)state;
    for (size_t k = 0; k < SYSTEMS; k++) {
        written_example e;
        written_open_example(&e, systems[k], "lagrange");
        char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
        /* the text contains a derivative of a table, which an expression must not contain */
        if (strstr(text, "# with\n") == NULL && strstr(text, "table") == NULL) compare_text(&e, text);
        free(text);
        written_close(&e);
    }
}

/* Copies line k of a text, without the newline. */
static void line_of(const char *text, int k, char *line, size_t room) {
    for (; k > 0 && text; k--) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    assert_non_null(text);
    snprintf(line, room, "%.*s", (int)strcspn(text, "\n"), text);
}

/* With a smaller work budget, only the first lines are simplified. With the budget 0, no line is simplified. Lines that
 * are not simplified must be correct after parsing. Work is counted, so the result is reproducible. */
static void expressions_beyond_the_work_budget_are_left_as_derived(void **state) {
    (void)state;
    written_example e;
    bool simplified = true;
    double work = 1e6;
    char found[512], expected[512];
    written_open_example(&e, "papastavridis_3_5_8_double_pendulum", "lagrange");
    char *all = written_equations(&e, HAMEL_NOTATION_TEXT), *some = NULL;
    for (; simplified && work > 1; work *= 0.9) {
        free(some);
        some = written_equations_within(&e, HAMEL_NOTATION_TEXT, work, &simplified);
    }
    assert_false(simplified);
    char *again = written_equations_within(&e, HAMEL_NOTATION_TEXT, work / 0.9, &simplified);
    assert_string_equal(some, again);
    line_of(some, 1, found, sizeof found);
    assert_string_equal(found, "# correct, but not fully simplified: the work budget was spent");
    line_of(all, 3, expected, sizeof expected);
    line_of(some, 4, found, sizeof found);
    assert_string_equal(found, expected);
    char *none = written_equations_within(&e, HAMEL_NOTATION_TEXT, 0, &simplified);
    assert_false(simplified);
    line_of(none, 4, found, sizeof found);
    assert_string_not_equal(found, expected);
    compare_text(&e, none);
    char *latex = written_equations_within(&e, HAMEL_NOTATION_LATEX, 0, &simplified);
    assert_non_null(strstr(latex, "\n% correct, but not fully simplified"));
    free(latex);
    free(none);
    free(again);
    free(some);
    free(all);
    written_close(&e);
}

/* The second rod repeats the first. If the simplification did not detect this, the equations would divide by 0. */
static void expressions_that_may_be_0_are_not_divisors(void **state) {
    (void)state;
    written_example e;
    hamel_limits limits = hamel_limits_default();
    written_open_example(&e, "redundant_rods", "kane");
    free(written_equations(&e, HAMEL_NOTATION_TEXT));
    limits.arranging = 0;
    assert_not_written(&e, HAMEL_NOTATION_TEXT, &limits,
                       "these equations cannot be written out: solving for velocities takes too much work");
    written_close(&e);
}

/* Bennett's linkage has four bars that move in space, and more degrees of freedom than the number of its joints
 * suggests. Without a limit, solving for its velocities takes twenty times the work budget (measured). */
static void the_work_is_limited(void **state) {
    (void)state;
    written_example e;
    written_open_example(&e, "bennett_linkage", "kane");
    assert_not_written(&e, HAMEL_NOTATION_TEXT, NULL,
                       "these equations cannot be written out: solving for velocities takes too much work");
    written_close(&e);
}

static void equations_have_the_form_of_textbooks(void **state) {
    (void)state;
    written_example e;
    written_open_example(&e, "papastavridis_3_5_8_double_pendulum", "lagrange");
    char *text = written_equations(&e, HAMEL_NOTATION_TEXT); /* Papastavridis, example 3.5.8 */
    assert_non_null(strstr(text, "φ2: m2*l1*l2*cos(φ1 - φ2)*φ1'' + m2*l2^2*φ2'' - m2*l1*l2*sin(φ1 - φ2)*φ1'^2 + "
                                 "m2*l2*g*sin(φ2) = 0\n"));
    free(text);
    text = written_equations(&e, HAMEL_NOTATION_LATEX);
    assert_non_null(
        strstr(text, "m_{2} \\, l_{1} \\, l_{2} \\, \\cos\\left(\\phi_{1} - \\phi_{2}\\right) \\, \\ddot{\\phi_{1}}"));
    free(text);
    written_close(&e);
}

static void an_index_is_printed_by_its_name(void **state) {
    (void)state;
    written_example e;
    written_open(&e,
                 "{`hamel`: 1, `parameters`: {`m_max_2`: 2, `k_`: 3}, `coordinates`: [`phi`, `phi1`, `x`],"
                 "`kinetic_energy`: `m_max_2*(phi'^2 + phi1'^2 + x'^2)/2`, `potential_energy`: `k_*x^2`,"
                 "`simulation`: {`stop`: 1}}",
                 "hamilton");
    char *text = written_equations(&e, HAMEL_NOTATION_LATEX);
    assert_non_null(strstr(text, "p_{\\phi} &= m_{\\mathrm{max},2} \\, \\dot{\\phi} \\\\\n"));
    assert_non_null(strstr(text, "p_{\\phi_{1}} &= m_{\\mathrm{max},2} \\, \\dot{\\phi_{1}}"));
    assert_non_null(strstr(text, "p_{x} &= "));
    assert_non_null(strstr(text, "\\dot{p_{x}} &= -2 \\, k \\, x"));
    free(text);
    written_close(&e);
}

/* Papastavridis, example 3.5.8, with momenta. The equations have (m1 + m2) as a common factor, separate potential
 * terms, and a name for the determinant. */
static void a_determinant_has_a_name(void **state) {
    (void)state;
    written_example e;
    written_open_example(&e, "papastavridis_3_5_8_double_pendulum", "hamilton");
    char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
    assert_non_null(strstr(text, "\nH = p_φ1^2/(2*l1^2*z1) - cos(φ1 - φ2)*p_φ1*p_φ2/(l1*l2*z1) + "
                                 "(m1 + m2)*p_φ2^2/(2*m2*l2^2*z1) - (m1 + m2)*l1*g*cos(φ1) - m2*l2*g*cos(φ2)\n"));
    assert_non_null(strstr(text, "\n# with\nz1 = m2*sin(φ1 - φ2)^2 + m1\n"));
    assert_null(strstr(text, "z2"));
    free(text);
    written_close(&e);
}

/* Neimark & Fufaev, Dynamics of Nonholonomic Systems, chapter 3. With the velocity u along the blade, the equations u'
 * = b φ'^2 and (I + m b²) φ'' = −m b u φ' contain no divisions. */
static void a_sleigh_is_written_in_the_velocity_along_its_blade(void **state) {
    (void)state;
    written_example e;
    written_open_example(&e, "chaplygin_sleigh", "kane");
    char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
    assert_non_null(strstr(text, "\nv_blade = cos(phi)*x' + sin(phi)*y'\n"));
    assert_non_null(strstr(text, "\nx' = cos(phi)*v_blade\ny' = sin(phi)*v_blade\n"));
    assert_non_null(strstr(text, "\nv_blade: m*v_blade' - m*b*phi'^2 = 0\n"
                                 "phi': (m*b^2 + I)*phi'' + m*b*phi'*v_blade = 0\n"));
    free(text);
    written_close(&e);
}

/* Baruh, example 4.14, in v and θ'. The coefficient of θ' in the constraint is constant, but the constraint must not be
 * solved for θ'. */
static void a_wheel_is_written_in_its_forward_velocity(void **state) {
    (void)state;
    written_example e;
    written_open_example(&e, "baruh_4_14_vehicle", "kane");
    char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
    assert_non_null(strstr(text, "\nv_wheels: m*v_wheels' - m*L*theta'^2 = FC + FD\n"
                                 "theta': (m*L^2 + IG)*theta'' + m*L*theta'*v_wheels = (FD - FC)*h\n"));
    free(text);
    text = written_equations(&e, HAMEL_NOTATION_LATEX); /* LaTeX sets an index of several letters in upright type */
    assert_non_null(strstr(text, "\nv_{\\mathrm{wheels}} &= \\cos"));
    free(text);
    written_close(&e);
}

/* Baruh, examples 4.9 and 4.10. With v = R θ', x cos Ωt + y sin Ωt = R sin θ and z = −R cos θ, the equation of motion
 * is R θ'' = (R Ω² cos θ − g) sin θ. Equations solved for z' would contain divisions by z. */
static void a_bead_is_written_in_the_velocity_along_its_circle(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"baruh_4_9_bead_on_hoop",
         "\nv_sphere: m*v_sphere' + m*(Omega^2*z + g)*(x*cos(Omega*t) + y*sin(Omega*t))/R = 0\n"},
        {"cartesian_pendulum", "\nx' = y*v_rod/l\ny' = -x*v_rod/l\n"},
        {"cartesian_pendulum", "\nv_rod: m*v_rod' - m*g*x/l = 0\n"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        written_example e;
        written_open_example(&e, cases[k][0], "kane");
        char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
        assert_non_null(strstr(text, cases[k][1]));
        free(text);
        written_close(&e);
    }
}

static void forces_are_grouped_by_origin(void **state) {
    (void)state;
    static const char *const formulations[] = {"lagrange", "udwadia-kalaba", "hamilton"};
    static const char *const lines[] = {"\nx: m*x'' = sin(a)*lambda(incline) + ", "\nC[x] = ", "\np_x' = "};
    for (size_t k = 0; k < sizeof formulations / sizeof *formulations; k++) {
        written_example e;
        written_open_example(&e, "block_stopping_on_incline", formulations[k]);
        char *text = written_equations(&e, HAMEL_NOTATION_TEXT), *line = strstr(text, lines[k]);
        assert_non_null(strstr(text, "\nQ[y; gravity] = -m*g\n"));
        assert_non_null(strstr(text, "\nQ[x; friction on incline] = "
                                     "mu*abs(lambda(incline))*sign(sin(a)*y' - cos(a)*x')*cos(a)\n"));
        assert_non_null(line);
        assert_ptr_not_equal(strstr(line, "abs(lambda(incline))"), NULL);
        assert_true(strstr(line, "abs(lambda(incline))") < strchr(line + 1, '\n'));
        free(text);
        written_close(&e);
    }
}

/* Greenwood, Advanced Dynamics, equations 4.317 to 4.319, in the angular velocities of the disk. */
static void the_rolling_disk_has_the_published_equations(void **state) {
    (void)state;
    written_example e;
    written_open_example(&e, "papastavridis_2_13_7_rolling_disk", "gibbs-appell");
    char *text = written_equations(&e, HAMEL_NOTATION_TEXT);
    assert_non_null(strstr(text, "\nw1: 5*m*r^2*w1'/4 - m*r^2*cos(th)*w2^2/(4*sin(th)) + 3*m*r^2*w2*w3/2 + "
                                 "m*r*g*cos(th) = 0\n"));
    assert_non_null(strstr(text, "\nw2: m*r^2*w2'/4 + m*r^2*cos(th)*w1*w2/(4*sin(th)) - m*r^2*w1*w3/2 = 0\n"));
    assert_non_null(strstr(text, "\nw3: 3*m*r^2*w3'/2 - m*r^2*w1*w2 = 0\n"));
    free(text);
    written_close(&e);
}

/* FLINT needs 40 s (measured) for a common divisor in ten atoms, because its dense interpolation has 1.4e6 points. This
 * computation cannot be interrupted. The energies were generated randomly. */
static void a_common_divisor_that_would_take_minutes_is_not_computed(void **state) {
    (void)state;
    written_example e;
    bool simplified = true;
    clock_t begun = clock();
    written_open(&e,
                 "{`hamel`: 1, `coordinates`: [{`name`: `x`, `initial`: -0.062, `velocity`: -0.777178723297881}, {`nam"
                 "e`: `y`, `initial`: -0.534, `velocity`: 0.07035628851335851}, {`name`: `z`, `initial`: -0.526, `velo"
                 "city`: 0.7919786857188781}, {`name`: `w`, `initial`: 0.272, `velocity`: -0.6930951373057226}], `kine"
                 "tic_energy`: [`1.46*x'^2*(1.56+.3*sin(x)*cos(w))`, `0.834*y'^2*(1.82+.3*sin(x)*cos(t))`, `0.806*z'^2"
                 "*(1.63+.3*sin(z)*cos(z))`, `1.98*w'^2*(1.86+.3*sin(y)*cos(w))`, `0.233*x'*y'*sin(y-w)`, `-0.218*z'*w"
                 "'*exp(-w^2)`, `z'*((0.434)*sqrt(0.481+w^2))`, `(-0.944)*sqrt(0.966+w^2)`], `potential_energy`: `1.04"
                 "*x^2+0.909*y^2+0.414*z^2+0.818*w^2+(0.921)*atan(y+t)+(-0.603)*exp(-1.36*y^2)`, `generalized_forces`:"
                 " {`x`: `-0.0978*x'^3`, `z`: `-0.131*z'^3`}, `constraints`: [{`name`: `c0`, `equation`: `((1.16+(-0.5"
                 "05)*tanh(x)*0.742)*z'+(-0.833+(0.382)*1/(2+sin(z)*cos(z)))*y'+(1.02+(0.31)*exp(-0.291*x^2))*x'+(-0.5"
                 "89)*atan(w+z))*(2.55) = 0`}, {`name`: `c1`, `equation`: `(0.877)*cos(x-0.393*w)+0.443*z+1.29*w-(0.98"
                 "23831175037063) = 0`}, {`name`: `c2`, `equation`: `(0.705)*cos(w-0.39*z)+0.669*z+0.779*w-(0.48625394"
                 "7163022) = 0`}], `simulation`: {`stop`: 0.6, `initialization`: `project`}}",
                 "hamilton");
    char *text = written_equations_within(&e, HAMEL_NOTATION_TEXT, 4e8, &simplified);
    assert_false(simplified);
    assert_non_null(strstr(text, "not fully simplified"));
    assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < 20); /* 20 s are half of the CPU time of FLINT */
    free(text);
    written_close(&e);
}

/* Advances q and w by one step of the classical Runge-Kutta method with the q' and w' of the generated C. Returns false
 * if w' is not determined. */
static bool step_of_c(const program_of_c *p, size_t n, double h, double *state) {
    double k[4][8], at[8], lambda[8];
    assert_true(2 * n <= 8);
    for (int s = 0; s < 4; s++) {
        for (size_t i = 0; i < 2 * n; i++) at[i] = state[i] + (s ? (s < 3 ? h / 2 : h) * k[s - 1][i] : 0);
        if (p->rates(0, at, at + n, k[s], k[s] + n, lambda)) return false;
    }
    for (size_t i = 0; i < 2 * n; i++) state[i] += h / 6 * (k[0][i] + 2 * (k[1][i] + k[2][i]) + k[3][i]);
    return true;
}

/* Between projections, a state violates the constraints by the integration error. Then redundant rows are not exactly
 * dependent, but must not be treated as independent equations. A bead of mass 1 moves on a circle, and its angle has
 * the moment of inertia 0.3. So (r² + 0.3) s'' = -9.81 r cos s. */
static void generated_c_supports_redundant_rows(void **state) {
    static const char *const rows[] = {"{`name`: `a`, `equation`: `x*sin(s) = y*cos(s)`}, {`name`: `b`, `equation`: `x "
                                       "= 1.6*cos(s)`}, {`name`: `c`, `equation`: `hypot(x,y) = 1.6`}",
                                       "{`name`: `a`, `equation`: `x = 1.6*cos(s)`}, {`name`: `b`, `equation`: `y = "
                                       "1.6*sin(s)`}, {`name`: `c`, `equation`: `x^2+y^2 = 1.6^2`}",
                                       "{`name`: `a`, `equation`: `y = 1.6*sin(s)`}, {`name`: `b`, `equation`: "
                                       "`x^2+y^2 = 1.6^2`}, {`name`: `c`, `equation`: `x = 1.6*cos(s)`}"};
    static const char *const names[] = {"lagrange", "udwadia-kalaba", "gauss", "hamilton"};
    const double r = 1.6, h = 1.0 / 1000;
    (void)state;
    for (size_t k = 0; k < 12; k++) {
        written_example e;
        program_of_c p;
        char description[800];
        double v[3] = {0, 1.6, 1}, all[6] = {1.6, 0, 0}, s = 0, w = 1;
        snprintf(
            description, sizeof description,
            "{`hamel`: 1, `coordinates`: [{`name`: `x`, `initial`: 1.6}, {`name`: `y`, `velocity`: 1.6}, {`name`: `s`, "
            "`velocity`: 1}], `kinetic_energy`: `(x'^2+y'^2)/2 + 0.3*s'^2/2`, `potential_energy`: `9.81*y`,"
            "`constraints`: [%s], `simulation`: {`stop`: 1}}",
            rows[k % 3]);
        written_open(&e, description, names[k / 3]);
        char *text = written_equations(&e, HAMEL_NOTATION_C);
        program_of_c_open(&p, text);
        p.velocities(0, all, v, all + 3);
        for (int i = 0; i < 1000; i++) {
            assert_true(step_of_c(&p, 3, h, all));
            double c = -9.81 * r / (r * r + 0.3), a[4] = {0}, b[4] = {0};
            for (int j = 0; j < 4; j++) {
                double part = j == 0 ? 0 : j < 3 ? h / 2 : h;
                a[j] = w + (j ? part * b[j - 1] : 0);
                b[j] = c * cos(s + (j ? part * a[j - 1] : 0));
            }
            s += h / 6 * (a[0] + 2 * (a[1] + a[2]) + a[3]);
            w += h / 6 * (b[0] + 2 * (b[1] + b[2]) + b[3]);
        }
        assert_near(names[k / 3], all[2], s, 1e-6);
        program_of_c_close(&p);
        free(text);
        written_close(&e);
    }
}

/* Very different masses must not be treated as a rank deficiency. */
static void generated_c_supports_very_different_masses(void **state) {
    static const char description[] =
        "{\"hamel\": 1, \"coordinates\": [\"x\", \"y\"], \"kinetic_energy\": \"1e8*x'^2 + "
        "1e-7*y'^2\", \"potential_energy\": \"4e-7*y^2\", \"simulation\": {\"stop\": 1}}";
    written_example e;
    program_of_c p;
    double q[] = {0, 0.5}, v[] = {1, 0}, w[2], q_dot[2], w_dot[2], lambda[1];
    (void)state;
    written_open(&e, description, "lagrange");
    char *text = written_equations(&e, HAMEL_NOTATION_C);
    program_of_c_open(&p, text);
    p.velocities(0, q, v, w);
    assert_int_equal(p.rates(0, q, w, q_dot, w_dot, lambda), 0);
    assert_near("x''", w_dot[0], 0, 1e-15);
    assert_near("y''", w_dot[1], -2, 1e-14); /* -(8e-7/2e-7) 0.5 */
    program_of_c_close(&p);
    free(text);
    written_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_common_divisor_that_would_take_minutes_is_not_computed),
        cmocka_unit_test(equations_have_the_form_of_textbooks),
        cmocka_unit_test(forces_are_grouped_by_origin),
        cmocka_unit_test(the_rolling_disk_has_the_published_equations),
        cmocka_unit_test(the_parsed_text_agrees_with_the_integrated_equations),
        cmocka_unit_test(generated_c_computes_the_accelerations),
        cmocka_unit_test(generated_c_supports_redundant_rows),
        cmocka_unit_test(generated_c_supports_very_different_masses),
        cmocka_unit_test(expressions_beyond_the_work_budget_are_left_as_derived),
        cmocka_unit_test(expressions_that_may_be_0_are_not_divisors),
        cmocka_unit_test(the_work_is_limited),
        cmocka_unit_test(an_index_is_printed_by_its_name),
        cmocka_unit_test(a_determinant_has_a_name),
        cmocka_unit_test(a_wheel_is_written_in_its_forward_velocity),
        cmocka_unit_test(a_bead_is_written_in_the_velocity_along_its_circle),
        cmocka_unit_test(a_sleigh_is_written_in_the_velocity_along_its_blade),
        cmocka_unit_test(rates_of_other_formulations_agree_with_differences),
        cmocka_unit_test(forces_that_depend_on_reactions_occur_in_generated_c),
        cmocka_unit_test(prescribed_forces_that_depend_on_ideal_reactions_are_rejected_for_c),
    };
    return cmocka_run_group_tests_name("written", tests, NULL, NULL);
}
