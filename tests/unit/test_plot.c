/* test_plot.c — clients/cli/plot/axis.c and plot_table.c: round and distinct axis labels, and reduced lines that
 * keep every peak. */
#include "clients/cli/plot/axis.h"
#include "clients/cli/plot/plot_table.h"
#include "tests/unit/random.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns true if the step is 1, 2 or 5 times a power of ten. */
static bool is_round(double step) {
    double mantissa = step / pow(10, floor(log10(step) + 1e-9));
    return fabs(mantissa - 1) < 1e-9 || fabs(mantissa - 2) < 1e-9 || fabs(mantissa - 5) < 1e-9;
}

static void check_axis(double least, double most, size_t marks) {
    plot_axis a = plot_axis_over(least, most, true, marks);
    char before[PLOT_LABEL_BYTES] = "", label[PLOT_LABEL_BYTES];
    assert_true(a.low < least && a.high > most && isfinite(a.low) && isfinite(a.high));
    assert_true(is_round(a.step));
    assert_in_range(a.count, marks / 3, 3 * marks + 2); /* consecutive step sizes differ by a factor of at most 2.5 */
    for (size_t k = 0; k < a.count; k++) {
        double mark = plot_axis_mark(&a, k), part = plot_axis_part(&a, mark);
        assert_true(part > -1e-6 && part < 1 + 1e-6);
        plot_axis_label(&a, k, label);
        assert_string_not_equal(label, before);
        assert_true(fabs(strtod(label, NULL) - mark) <= 1e-3 * a.step);
        assert_true(strlen(label) <= plot_axis_label_length(&a));
        memcpy(before, label, sizeof before);
    }
}

static void marks_are_round_inside_and_distinct(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int k = 0; k < 20000; k++) {
        double size = pow(10, random_between(&seed, -12, 12)), middle = random_between(&seed, -1, 1) * size;
        double span = size * pow(10, random_between(&seed, -9, 0));
        check_axis(middle - span, middle + span, 3 + (size_t)random_between(&seed, 0, 10));
    }
}

static void labels_are_short(void **state) {
    (void)state;
    static const struct {
        double least, most;
        const char *first, *last;
    } cases[] = {{0, 1, "0.0", "1.0"},
                 {0, 10, "0", "10"},
                 {-3, 3, "-2", "2"},
                 {0, 2e7, "0", "2.0e+07"},
                 {0, 5e-6, "0", "5e-06"},
                 {-0.02, 0.02, "-0.02", "0.02"},
                 {100000, 100010, "100000", "100010"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char label[PLOT_LABEL_BYTES];
        plot_axis a = plot_axis_over(cases[k].least, cases[k].most, false, 5);
        plot_axis_label(&a, 0, label);
        assert_string_equal(label, cases[k].first);
        plot_axis_label(&a, a.count - 1, label);
        assert_string_equal(label, cases[k].last);
    }
}

static void a_constant_is_in_the_middle(void **state) {
    (void)state;
    static const double values[] = {0, 1, -5, 1e-20, 1e300, -DBL_MAX};
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
        plot_axis a = plot_axis_over(values[k], values[k], false, 5);
        assert_true(a.low < a.high && isfinite(a.low) && isfinite(a.high));
        if (fabs(values[k]) < 1e299) assert_float_equal((float)plot_axis_part(&a, values[k]), 0.5f, 1e-6f);
    }
}

static void the_widest_range_of_doubles_has_an_axis(void **state) {
    (void)state;
    plot_axis a = plot_axis_over(-DBL_MAX, DBL_MAX, true, 5);
    assert_true(a.count >= 2 && isfinite(a.step));
    assert_true(plot_axis_part(&a, -DBL_MAX) >= 0 && plot_axis_part(&a, DBL_MAX) <= 1);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static const char *const names[] = {"t", "x", "y[1,2]", "x'", "y[1,2]'", "d(x)/d(l)"};
static const row_header header = {
    .column_count = 6, .columns = names, .json = "{\"name\":\"two\",\"units\":[\"s\",\"m\",null,\"m/s\",\"\",\"1\"]}"};

static void the_coordinates_are_drawn_over_time(void **state) {
    (void)state;
    plot_table t = {0};
    assert_true(plot_table_begin(&t, &header, NULL, NULL));
    assert_string_equal(t.title, "two");
    assert_int_equal(t.column_count, 3);
    assert_string_equal(t.columns[0].label, "t in s");
    assert_string_equal(t.columns[1].label, "x in m");
    assert_string_equal(t.columns[2].label, "y[1,2]");
    plot_table_clear(&t);
}

static void without_coordinates_all_columns_are_drawn(void **state) {
    (void)state;
    static const char *const recorded[] = {"t", "energy", "angle"};
    plot_table t = {0};
    assert_true(plot_table_begin(&t, &(row_header){.column_count = 3, .columns = recorded, .json = "{}"}, NULL, NULL));
    assert_int_equal(t.column_count, 3);
    assert_string_equal(t.columns[2].label, "angle");
    plot_table_clear(&t);
}

static void columns_are_chosen_by_name(void **state) {
    (void)state;
    plot_table t = {0};
    assert_true(plot_table_begin(&t, &header, "y[1,2]', d(x)/d(l)", "x"));
    assert_int_equal(t.column_count, 3);
    const double row[] = {0, 1, 2, 3, 4, 5};
    assert_true(plot_table_add(&t, row));
    assert_true(t.values[0] == 1 && t.values[1] == 4 && t.values[2] == 5);
    plot_table_clear(&t);
}

typedef struct scale {
    double across;
} scale;

static plot_point stretched(const void *context, double x, double y) {
    return (plot_point){x * ((const scale *)context)->across, y};
}

/* The line is a random walk in x and y. In each unit of width, the reduced line must have the same extremes and end
 * points as the walk, and at most four points. */
static void a_reduced_line_keeps_every_peak(void **state) {
    (void)state;
    enum { ROWS = 50000 };
    const scale narrow = {.across = 0.01};
    static const char *const two[] = {"t", "x"};
    plot_table t = {0};
    uint64_t seed = 5;
    plot_point *points = calloc(ROWS, sizeof *points);
    assert_non_null(points);
    assert_true(plot_table_begin(&t, &(row_header){.column_count = 2, .columns = two, .json = "{}"}, "x", "t"));
    double row[2] = {0, 0};
    for (size_t k = 0; k < ROWS; k++) {
        row[0] += (k < ROWS / 2 ? 1 : -1) * random_between(&seed, 0, 1);
        row[1] += random_between(&seed, -0.5, 0.5);
        assert_true(plot_table_add(&t, row));
    }
    size_t count = plot_table_line(&t, 1, stretched, &narrow, points), at = 0;
    assert_true(count < ROWS / 20);
    for (size_t begin = 0, end; begin < ROWS; begin = end) {
        double unit = floor(t.values[2 * begin] * narrow.across), least = INFINITY, most = -INFINITY;
        for (end = begin; end < ROWS && floor(t.values[2 * end] * narrow.across) == unit; end++) {
            least = fmin(least, t.values[2 * end + 1]);
            most = fmax(most, t.values[2 * end + 1]);
        }
        size_t first = at;
        double low = INFINITY, high = -INFINITY;
        assert_true(at < count && points[at].y == t.values[2 * begin + 1]);
        for (; at < count && floor(points[at].x) == unit; at++) {
            low = fmin(low, points[at].y);
            high = fmax(high, points[at].y);
        }
        assert_true(low == least && high == most && at - first <= 4);
        assert_true(points[at - 1].y == t.values[2 * end - 1]);
    }
    assert_int_equal(at, count);
    free(points);
    plot_table_clear(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_round_inside_and_distinct),
        cmocka_unit_test(labels_are_short),
        cmocka_unit_test(a_constant_is_in_the_middle),
        cmocka_unit_test(the_widest_range_of_doubles_has_an_axis),
        cmocka_unit_test(the_coordinates_are_drawn_over_time),
        cmocka_unit_test(without_coordinates_all_columns_are_drawn),
        cmocka_unit_test(columns_are_chosen_by_name),
        cmocka_unit_test(a_reduced_line_keeps_every_peak),
    };
    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
