/* test_trees.c — random trees of bodies with revolute joints, described by nested frames and by joint constraints
 * (revolute_tree.h).
 *
 * At equal states, both descriptions must give equal accelerations: the bound is 1e-9 of the largest acceleration. From
 * equal initial states, both must give equal motions: the centres may differ by 1e-9. The descriptions share only
 * the kinematics of revolute_tree.h. */
#include "api/simulate.h"
#include "engine/base/random.h"
#include "engine/dynamics/dynamics.h"
#include "tests/reference/revolute_tree.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double AGREE = 1e-9;
enum { STATES = 3, MOST = 200 };

static double *numbers(size_t count) {
    double *list = calloc(count + 1, sizeof *list);
    assert_non_null(list);
    return list;
}

static hamel_model *model_of(const revolute_tree *t, tree_form form) {
    double *zeros = numbers(t->count);
    char *text = tree_describe(t, form, (tree_motion){zeros, zeros, NULL}, 1, 2, 1e-9);
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    hamel_model *model = api_prepare(text, strlen(text), NULL, 0, &limits, NULL, "tree", &failure);
    if (!model) fail_msg("%s", failure.text ? failure.text : "no model");
    free(text);
    free(zeros);
    return model;
}

static double largest(const double *x, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Computes the accelerations of the centres in two ways: from the second derivatives of the angles in `frames`, and
 * from `joints`. Returns the largest difference relative to the largest acceleration. */
static double compare_at(const revolute_tree *t, dynamics *frames, dynamics *joints, uint64_t *seed) {
    const size_t n = t->count, width = tree_width(t), lengths = t->planar ? 2 : 3;
    double *angle = numbers(3 * n), *q = numbers(3 * width * n), *expected = numbers(3 * n), apart = 0;
    double *rate = angle + n, *second = rate + n, *v = q + width * n, *a = v + width * n;
    for (size_t i = 0; i < 2 * n; i++) angle[i] = random_uniform(seed, -1, 1);
    assert_int_equal(dynamics_rates(frames, 0, angle, rate, 0, 0, second, NULL, NULL), HAMEL_OK);
    tree_place(t, (tree_motion){angle, rate, second}, q, v, expected);
    assert_int_equal(dynamics_evaluate(joints, 0, q, v, NULL), HAMEL_OK);
    assert_below("the kinematics violate the joints", largest(dynamics_position(joints), joints->model->m), 1e-12);
    assert_below("the velocities violate the joints", largest(dynamics_velocity(joints), joints->model->m), 1e-11);
    assert_int_equal(dynamics_rates(joints, 0, q, v, 0, 0, a, NULL, NULL), HAMEL_OK);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < lengths; i++) apart = fmax(apart, fabs(a[width * k + i] - expected[3 * k + i]));
    apart /= largest(expected, 3 * n);
    free(angle);
    free(q);
    free(expected);
    return apart;
}

static void compare_trees(size_t count, bool planar, bool chain) {
    uint64_t seed = 1000 * count + 10 * planar + chain;
    revolute_tree t = tree_draw(count, planar, chain, seed);
    hamel_model *in_frames = model_of(&t, TREE_FRAMES), *in_joints = model_of(&t, TREE_JOINTS);
    dynamics *frames = dynamics_create(in_frames), *joints = dynamics_create(in_joints);
    assert_true(frames && joints);
    char name[80];
    snprintf(name, sizeof name, "%s of %zu bodies in %s", chain ? "chain" : "tree", count,
             planar ? "the plane" : "space");
    for (int k = 0; k < STATES; k++) assert_below(name, compare_at(&t, frames, joints, &seed), AGREE);
    dynamics_free(frames);
    dynamics_free(joints);
    hamel_model_free(in_frames);
    hamel_model_free(in_joints);
    tree_free(&t);
}

static void accelerations_of_both_descriptions_agree(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 3, 4, 7, 25, MOST};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int kind = 0; kind < 4; kind++) compare_trees(counts[i], kind % 2 == 0, kind / 2 == 0);
}

static void motions_of_both_descriptions_agree(void **state) {
    (void)state;
    enum { SHORT = 20, ROWS = 4 };
    const size_t count = getenv("HAMEL_TEST_LONG") ? MOST : SHORT;
    for (int kind = 0; kind < 4; kind++) {
        uint64_t seed = 31 + (uint64_t)kind;
        revolute_tree t = tree_draw(count, kind % 2 == 0, kind / 2 == 0, seed);
        double *start = numbers(2 * count);
        motion runs[2];
        for (size_t i = 0; i < 2 * count; i++) start[i] = random_uniform(&seed, -1, 1);
        for (int form = 0; form < 2; form++) {
            tree_motion at = {start, start + count, NULL};
            char *text = tree_describe(&t, form ? TREE_JOINTS : TREE_FRAMES, at, 0.1, ROWS, 1e-12);
            runs[form] = motion_of(text);
            assert_int_equal(runs[form].row_count, ROWS);
            free(text);
        }
        /* centres have the same names, coordinates have different names except a1, a2, ... in the plane */
        double apart = 0;
        for (size_t row = 0; row < ROWS; row++)
            for (size_t c = 0; c < runs[0].column_count; c++) {
                const char *name = runs[0].columns[c];
                if (name[0] != 'p') continue;
                double other = motion_value(&runs[1], row, motion_column(&runs[1], name));
                apart = fmax(apart, fabs(motion_value(&runs[0], row, c) - other));
            }
        assert_below("the motions differ by", apart, AGREE);
        motion_free(&runs[0]);
        motion_free(&runs[1]);
        free(start);
        tree_free(&t);
    }
}

static size_t instructions_of(size_t count, bool planar, tree_form form) {
    revolute_tree t = tree_draw(count, planar, true, 5);
    hamel_model *model = model_of(&t, form);
    const model_dynamics *d = &model->dynamics;
    size_t instructions =
        program_instruction_count(d->program) + (d->accelerations ? program_instruction_count(d->accelerations) : 0);
    hamel_model_free(model);
    tree_free(&t);
    return instructions;
}

/* Compares the increments of work from 50 to 100 and from 100 to 200 bodies. If the work is linear in N, their ratio is
 * 2. If the work is quadratic, the ratio is 4. */
static void the_work_is_linear_in_the_number_of_bodies(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        size_t count[3];
        for (size_t k = 0; k < 3; k++)
            count[k] = instructions_of((size_t)50 << k, kind % 2 == 0, kind / 2 ? TREE_JOINTS : TREE_FRAMES);
        size_t first = count[1] - count[0], second = count[2] - count[1];
        if (count[1] < count[0] || 10 * second > 22 * first)
            fail_msg("kind %d: %zu, %zu, %zu instructions", kind, count[0], count[1], count[2]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_of_both_descriptions_agree),
        cmocka_unit_test(motions_of_both_descriptions_agree),
        cmocka_unit_test(the_work_is_linear_in_the_number_of_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
