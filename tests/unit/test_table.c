/* test_table.c — engine/graph/table.c, and tables in graphs, programs and runs. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static graph_table table_of(arena *memory, int degree, bool hold, size_t count, const double *x, const double *y) {
    graph_table table = {.name = "f", .degree = degree, .hold = hold};
    assert_int_equal(table_make(&table, memory, x, y, count), HAMEL_OK);
    return table;
}

/* With not-a-knot ends, the first two segments are one cubic, and so are the last two. Therefore the spline of a cubic
 * is the cubic itself. Slopes are of order 1000, so the bound 1e-11 allows about a hundred rounding errors. */
static void a_cubic_is_its_own_spline(void **state) {
    const double c[4] = {-3, 2.5, 4, -1.75}, x[] = {-2, -1.25, 0.5, 1, 4, 4.25, 7};
    enum { COUNT = sizeof x / sizeof *x };
    double y[COUNT];
    for (size_t i = 0; i < COUNT; i++) y[i] = c[0] + x[i] * (c[1] + x[i] * (c[2] + x[i] * c[3]));
    for (size_t count = 4; count <= COUNT; count++) {
        graph_table table = table_of(*state, 3, false, count, x, y);
        for (double at = x[0]; at <= x[count - 1]; at += 0.125) {
            assert_near("f", table_value(&table, at, 0), c[0] + at * (c[1] + at * (c[2] + at * c[3])), 1e-11);
            assert_near("f'", table_value(&table, at, 1), c[1] + at * (2 * c[2] + at * 3 * c[3]), 1e-11);
            assert_near("f''", table_value(&table, at, 2), 2 * c[2] + at * 6 * c[3], 1e-11);
            assert_near("f'''", table_value(&table, at, 3), 6 * c[3], 1e-11);
            assert_true(table_value(&table, at, 4) == 0);
        }
    }
}

/* The expected coefficients are the solution of the 4 (n − 1) conditions of the spline in rational arithmetic, rounded
 * once. */
static void a_spline_agrees_with_its_conditions_solved_exactly(void **state) {
    const double x[] = {0, 0.5, 2, 3, 3.5, 6}, y[] = {1, -1, 2, 0.5, 4, -2};
    const double known[][5] = {
        {0, 1, -7.980931586608443, 18.404657933042213, -14.885589519650654},
        {0.25, -0.4588518922852984, -3.8449417758369724, 14.683260553129548, -14.885589519650654},
        {1.3, 0.7261181950509461, 3.3668005822416305, -0.946608442503639, -14.885589519650654},
        {2, 2, -0.9427947598253276, -11.366521106259098, 30.75633187772926},
        {2.9, 0.28493799126637553, 1.283650655021834, 16.314177583697234, 30.75633187772926},
        {3.2, 1.472244541484716, 6.506986899563318, 14.99155749636099, -21.99126637554585},
        {5, 16.095633187772926, -2.134061135371179, -24.592721979621544, -21.99126637554585},
        {6, -2, -37.722416302765645, -46.58398835516739, -21.99126637554585},
    };
    graph_table table = table_of(*state, 3, false, 6, x, y);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int k = 0; k < 4; k++) assert_near("spline", table_value(&table, known[i][0], k), known[i][k + 1], 1e-13);
}

static void a_cubic_of_few_points_is_a_parabola_or_a_line(void **state) {
    const double x[] = {1, 2, 4}, y[] = {3, 1, 9}; /* 2 x² − 8 x + 9 */
    graph_table three = table_of(*state, 3, false, 3, x, y), two = table_of(*state, 3, false, 2, x, y);
    for (double at = 1; at <= 4; at += 0.25) {
        assert_near("parabola", table_value(&three, at, 0), 2 * at * at - 8 * at + 9, 1e-14);
        assert_near("slope", table_value(&three, at, 1), 4 * at - 8, 1e-14);
        assert_near("curvature", table_value(&three, at, 2), 4, 1e-14);
    }
    assert_near("line", table_value(&two, 1.25, 0), 2.5, 1e-15);
    assert_near("line", table_value(&two, 1.25, 1), -2, 1e-15);
    assert_true(table_value(&two, 1.25, 2) == 0);
}

static void a_linear_table_has_the_slope_to_the_right_of_a_knot(void **state) {
    const double x[] = {0, 1, 3}, y[] = {0, 5, 1};
    graph_table table = table_of(*state, 1, false, 3, x, y);
    const double known[][3] = {{0, 0, 5}, {0.5, 2.5, 5}, {1, 5, -2}, {2, 3, -2}, {3, 1, -2}};
    for (size_t i = 0; i < 5; i++) {
        assert_true(table_value(&table, known[i][0], 0) == known[i][1]);
        assert_true(table_value(&table, known[i][0], 1) == known[i][2]);
        assert_true(table_value(&table, known[i][0], 2) == 0);
    }
}

static void outside_a_table_is_undefined_or_held_at_the_end_value(void **state) {
    const double x[] = {0, 1, 3}, y[] = {2, 5, 1};
    for (int degree = 1; degree <= 3; degree += 2) {
        graph_table open = table_of(*state, degree, false, 3, x, y), held = table_of(*state, degree, true, 3, x, y);
        assert_true(isnan(table_value(&open, nextafter(0, -1), 0)) && isnan(table_value(&open, nextafter(3, 4), 1)));
        assert_true(isnan(table_value(&open, NAN, 0)) && isnan(table_value(&held, NAN, 0)));
        assert_true(table_value(&held, -7, 0) == 2);
        assert_near("end", table_value(&held, 1e300, 0), 1, 1e-15);
        assert_true(table_value(&held, -7, 1) == 0 && table_value(&held, 1e300, 1) == 0);
        assert_true(table_value(&held, 0, 0) == 2 && table_value(&open, 0, 0) == 2);
    }
}

static void the_segment_below_the_first_point_is_number_zero(void **state) {
    const double x[] = {0, 1, 3, 4}, y[] = {0, 0, 0, 0};
    graph_table table = table_of(*state, 1, true, 4, x, y);
    const double at[] = {-0.5, 0, 0.9, 1, 2.9, 3, 3.5, 4, 4.5};
    const int segment[] = {-1, 0, 0, 1, 1, 2, 2, 2, 3};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) assert_int_equal((int)table_segment(&table, at[i]), segment[i]);
}

/* The table contains the sine at 10^5 + 1 points. The error of the spline is 5 h^4/384 = 1e-18, so rounding of second
 * differences dominates. */
static void a_table_may_be_large(void **state) {
    enum { COUNT = 100001 };
    double *x = malloc(2 * COUNT * sizeof *x);
    assert_non_null(x);
    double *y = x + COUNT;
    for (size_t i = 0; i < COUNT; i++) y[i] = sin(x[i] = (double)i * 1e-4);
    graph_table table = table_of(*state, 3, false, COUNT, x, y);
    uint64_t seed = 7;
    for (int i = 0; i < 1000; i++) {
        double at = random_between(&seed, 0, 10);
        assert_near("sine", table_value(&table, at, 0), sin(at), 1e-14);
        assert_near("cosine", table_value(&table, at, 1), cos(at), 1e-11);
    }
    free(x);
}

/* --- in expressions ------------------------------------------------------------------------------------------------- */

#define SYSTEM                                                                                              \
    "`parameters`: {`a`: 3, `b`: `table(cube, a) - 20`}, `coordinates`: [`x`], `kinetic_energy`: `x'^2/2`," \
    "`tables`: {`cube`: {`x`: [-1, 0, `a/3`, 2, `a`, 5], `y`: [-1, 0, 1, 8, `a^3`, 125], `kind`: `cubic`}," \
    "`saw`: {`x`: [0, 1, 2], `y`: [0, `b`, 0], `outside`: `hold`}}"

static double value_at(const fixture *f, const program *p, double x) {
    static double workspace[200], out;
    const double *parameters = f->system->parameter_values;
    program_inputs in = {{0}};
    in.values[SYMBOL_PARAMETER] = parameters;
    in.values[SYMBOL_COORDINATE] = &x;
    assert_true(program_workspace_doubles(p) <= 200);
    program_prepare(p, &in, workspace);
    program_evaluate(p, &in, workspace, &out);
    return out;
}

/* table(cube, x^2) = x^6 for x² <= 5. */
static void derivatives_follow_the_chain_rule(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, SYSTEM);
    assert_near("b", f.system->parameter_values[1], 7, 1e-14); /* 27 − 20, through the table */
    graph *g = f.system->graph;
    graph_node node = fixture_node(&f, "table(cube, x^2)");
    for (int k = 0; k <= 3; k++) {
        program *p;
        assert_int_equal(program_compile(&p, &f.memory, g, &node, 1, &f.error), HAMEL_OK);
        const double factor[] = {1, 6, 30, 120};
        for (double x = 0.1; x < 2.2; x += 0.3)
            assert_near("derivative", value_at(&f, p, x), factor[k] * pow(x, 6 - k), 1e-12);
        node = graph_partial(g, node, f.system->q[0]);
    }
    graph_node line = fixture_node(&f, "table(saw, x)");
    for (int k = 0; k < 2; k++) line = graph_partial(g, line, f.system->q[0]);
    assert_true(graph_is_zero(g, line));
    fixture_close(&f);
}

static void tangents_are_the_derivatives(void **state) {
    (void)state;
    fixture f;
    program *p;
    fixture_open(&f, SYSTEM);
    graph_node node = fixture_node(&f, "table(cube, x^2)*table(saw, x)");
    graph_node slope = graph_partial(f.system->graph, node, f.system->q[0]);
    graph_node both[2] = {node, slope};
    assert_int_equal(program_compile(&p, &f.memory, f.system->graph, both, 2, &f.error), HAMEL_OK);
    double workspace[200], tangent[2000], out[2], dot[2 * PROGRAM_LANES], seed[PROGRAM_LANES] = {1, -2};
    assert_true(program_workspace_doubles(p) <= 200 && program_tangent_doubles(p) <= 2000);
    for (double x = -0.75; x < 2.2; x += 0.25) { /* includes knots and points beyond the ends */
        program_inputs in = {{0}}, seeds = {{0}};
        in.values[SYMBOL_PARAMETER] = f.system->parameter_values;
        in.values[SYMBOL_COORDINATE] = &x;
        seeds.values[SYMBOL_COORDINATE] = seed;
        program_prepare(p, &in, workspace);
        program_tangent(p, &in, &seeds, workspace, tangent, out, dot);
        assert_near("first lane", dot[0], out[1], 1e-14);
        assert_near("second lane", dot[1], -2 * out[1], 1e-14);
        assert_true(dot[2] == 0);
    }
    fixture_close(&f);
}

static void a_table_of_a_number_is_folded(void **state) {
    (void)state;
    fixture f;
    double value;
    fixture_open(&f, SYSTEM);
    graph *g = f.system->graph;
    graph_node node = fixture_node(&f, "table(cube, x)"), two = graph_number(g, 2);
    node = graph_substitute(g, node, SYMBOL_COORDINATE, &two, 1);
    assert_true(graph_is_number(g, node, &value));
    assert_near("cube", value, 8, 1e-15);
    /* outside its range, the table is not folded into a constant, and the evaluation reports the error */
    assert_false(graph_is_number(g, fixture_node(&f, "table(cube, 6)"), NULL));
    fixture_close(&f);
}

static void a_table_is_printed_as_it_is_written(void **state) {
    (void)state;
    fixture f;
    text_buffer out;
    fixture_open(&f, SYSTEM);
    text_buffer_init(&out, 1000);
    graph_node node = fixture_node(&f, "2*table(cube, 1 + x)");
    graph_print(f.system->graph, node, system_name_symbol, f.system, &out);
    assert_string_equal(out.bytes, "2*table(cube, 1 + x)");
    text_buffer_free(&out);
    fixture_close(&f);
}

/* φ'' = M(t)/J, where M rises to 5 at t = 1, falls to 0 at t = 2, and remains 0. After t = 2, φ' = 5/J and φ = 5/J +
 * 5/J (t − 2). */
static double turned(double t, const double *p) {
    double M = p[0], rest = t - 1;
    if (t <= 1) return M * t * t * t / 6;
    if (t <= 2) return M * (1.0 / 6 + rest / 2 + rest * rest / 2 - rest * rest * rest / 6);
    return M + M * (t - 2);
}

static void a_wheel_is_driven_by_a_torque_from_a_table(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`J`: 2}, `coordinates`: [`phi`], `kinetic_energy`: `J*phi'^2/2`,"
                          "`tables`: {`torque`: {`x`: [0, 1, 2], `y`: [0, 5, 0], `outside`: `hold`}},"
                          "`generalized_forces`: {`phi`: `table(torque, t)`}",
                          "`stop`: 3, `samples`: 31, `rtol`: 1e-9, `atol`: 1e-11");
    assert_below("phi", motion_distance(&m, "phi", turned, (double[]){2.5}), 1e-7);
    motion_free(&m);
}

static int open_arena(void **state) {
    static arena memory;
    arena_init(&memory, 0);
    *state = &memory;
    return 0;
}

static int close_arena(void **state) {
    arena_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cubic_is_its_own_spline),
        cmocka_unit_test(a_spline_agrees_with_its_conditions_solved_exactly),
        cmocka_unit_test(a_cubic_of_few_points_is_a_parabola_or_a_line),
        cmocka_unit_test(a_linear_table_has_the_slope_to_the_right_of_a_knot),
        cmocka_unit_test(outside_a_table_is_undefined_or_held_at_the_end_value),
        cmocka_unit_test(the_segment_below_the_first_point_is_number_zero),
        cmocka_unit_test(a_table_may_be_large),
        cmocka_unit_test(derivatives_follow_the_chain_rule),
        cmocka_unit_test(tangents_are_the_derivatives),
        cmocka_unit_test(a_table_of_a_number_is_folded),
        cmocka_unit_test(a_table_is_printed_as_it_is_written),
        cmocka_unit_test(a_wheel_is_driven_by_a_torque_from_a_table),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
