/* test_scene.c — engine/system/scene.c: shapes, and the columns of rows that describe them. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const hamel_shape *shape_at(const hamel_model *model, size_t k, const char *kind, const char *name) {
    const hamel_scene *scene = hamel_model_header(model)->scene;
    assert_non_null(scene);
    assert_in_range(k, 0, scene->count - 1);
    assert_string_equal(scene->shapes[k].kind, kind);
    assert_string_equal(scene->shapes[k].name, name);
    return &scene->shapes[k];
}

#define ARM                                                                                                         \
    "`parameters`: {`N`: 2}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`, `initial`: `i`}, `a`],"            \
    "`particles`: [{`name`: `P[i]`, `for`: `i = 1..N`, `mass`: 1, `position`: [`x[i]`, 3]}],"                       \
    "`bodies`: [{`name`: `B`, `mass`: 1, `inertia`: 1, `position`: [`cos(a)`, `sin(a)`], `orientation`: {`angle`: " \
    "`a`}}],"                                                                                                       \
    "`points`: [{`name`: `Q`, `body`: `B`, `at`: [1, 0]}, {`name`: `O`, `position`: [0, 0]}],"                      \
    "`springs`: [{`name`: `s`, `between`: [`Q`, `P[1]`], `stiffness`: 1}],"                                         \
    "`dampers`: [{`name`: `d`, `between`: [`P[1]`, `P[2]`], `coefficient`: 1}],"                                    \
    "`joints`: [{`name`: `J`, `type`: `distance`, `between`: [`P[1]`, `O`], `length`: `sqrt(10)`},"                 \
    "{`name`: `K`, `type`: `knife_edge`, `between`: [`B`], `direction`: [0, 1]}]"

static void the_scene_has_a_shape_for_each_element(void **state) {
    (void)state;
    hamel_model *model = fixture_model(ARM, "`stop`: 1, `scene`: true");
    static const char *const known[][2] = {{"point", "P[1]"}, {"point", "P[2]"}, {"point", "B"}, {"line", "Q"},
                                           {"point", "O"},    {"spring", "s"},   {"line", "d"},  {"line", "J"}};
    for (size_t k = 0; k < 8; k++) shape_at(model, k, known[k][0], known[k][1]);
    const hamel_scene *scene = hamel_model_header(model)->scene;
    assert_int_equal(scene->count, 8);
    assert_int_equal(scene->dimension, 2);
    assert_int_equal(scene->shapes[3].point_count, 2);
    assert_string_equal(scene->shapes[3].points[0], "scene.B.x");
    assert_string_equal(scene->shapes[3].points[3], "scene.Q.y");
    assert_int_equal(hamel_model_header(model)->column_count, 1 + 6 + 10); /* five positions */
    hamel_model_free(model);
}

static void a_scene_is_written_only_on_request(void **state) {
    (void)state;
    hamel_model *model = fixture_model(ARM ", `scene`: [{`point`: `B`}]", "`stop`: 1");
    assert_null(hamel_model_header(model)->scene);
    assert_int_equal(hamel_model_header(model)->column_count, 7);
    hamel_model_free(model);
}

static void the_record_option_does_not_remove_the_scene(void **state) {
    (void)state;
    hamel_model *model = fixture_model(ARM ", `outputs`: {`z`: `a`}, `scene`: [{`point`: `P[i]`, `for`: `i = 1..N`}]",
                                       "`stop`: 1, `scene`: true, `record`: [`a`]");
    const char *const columns[] = {"t", "a", "scene.P[1].x", "scene.P[1].y", "scene.P[2].x", "scene.P[2].y"};
    const hamel_header *h = hamel_model_header(model);
    assert_int_equal(h->column_count, 6);
    for (size_t k = 0; k < 6; k++) assert_string_equal(h->columns[k], columns[k]);
    hamel_model_free(model);
}

/* A wheel of radius t + 1 at (φ, 2) that rotates by φ = t: its first axis is (cos t, sin t). */
static void rows_contain_positions_axes_and_sizes(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [{`name`: `p`, `velocity`: 1}],"
        "`bodies`: [{`name`: `W`, `mass`: 1, `inertia`: 1, `position`: [`p`, 2],"
        "`orientation`: {`angle`: `p`}}], `scene`: [{`disk`: {`body`: `W`, `radius`: `t + 1`}},"
        "{`line`: [[`-p`, 1], `W`, {`frame`: `W`, `at`: [0, 1]}]}, {`box`: {`body`: `W`, `size`: [3, `p`]}}]",
        "`stop`: 1.5, `samples`: 4, `scene`: true");
    for (size_t i = 0; i < m.row_count; i++) {
        double t = motion_value(&m, i, 0);
        const struct {
            const char *column;
            double value;
        } known[] = {{"scene.W.x", t},        {"scene.W.y", 2},          {"scene.W.R11", cos(t)},
                     {"scene.W.R21", sin(t)}, {"scene.1.radius", t + 1}, {"scene.2.x", -t},
                     {"scene.2.y", 1},        {"scene.3.x", t - sin(t)}, {"scene.3.y", 2 + cos(t)},
                     {"scene.3.size1", 3},    {"scene.3.size2", t}};
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            assert_near(known[k].column, motion_value(&m, i, motion_column(&m, known[k].column)), known[k].value, 1e-6);
    }
    motion_free(&m);
}

/* In space, the rows contain all three axes, which are the columns of R. Here R is a rotation by t about the first
 * axis. */
static void a_box_in_space_has_three_axes(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [{`name`: `p`, `velocity`: 1}],"
        "`frames`: [{`name`: `F`, `origin`: [1, 2, `p`], `orientation`: {`euler`: {`sequence`: `XYZ`,"
        "`angles`: [`p`, 0, 0]}}}], `kinetic_energy`: `p'^2/2`,"
        "`scene`: [{`box`: {`body`: `F`, `size`: [1, 2, 3]}}, {`circle`: {`center`: [0, 0, 0], `radius`: 1}}]",
        "`stop`: 1, `samples`: 2, `scene`: true");
    const double R[3][3] = {{1, 0, 0}, {0, cos(1), -sin(1)}, {0, sin(1), cos(1)}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            char name[] = "scene.F.R11";
            name[9] = (char)('1' + i), name[10] = (char)('1' + j);
            assert_near(name, motion_last(&m, name), R[i][j], 1e-6);
        }
    assert_near("z", motion_last(&m, "scene.F.z"), 1, 1e-6);
    motion_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scene_has_a_shape_for_each_element),
        cmocka_unit_test(a_scene_is_written_only_on_request),
        cmocka_unit_test(the_record_option_does_not_remove_the_scene),
        cmocka_unit_test(rows_contain_positions_axes_and_sizes),
        cmocka_unit_test(a_box_in_space_has_three_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
