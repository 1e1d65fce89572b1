/* test_validity.c — engine/system/validity.c: orientations that are not rotations, and impossible masses and moments of
 * inertia, are rejected. If a matrix is a rotation whenever the constraints are satisfied, it is accepted. */
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SPACE "`parameters`: {`k`: 0.6, `s`: 0.8}, `kinetic_energy`: [`a'^2`, `b'^2`, `c'^2`, `d'^2`],"
#define COORDINATES "`coordinates`: [`a`, {`name`: `b`, `initial`: 0.4}, `c`, {`name`: `d`, `initial`: 1}],"

/* Describes a frame F with this orientation, and a body in the frame. */
static const char *with_orientation(char text[3000], const char *orientation) {
    snprintf(text, 3000,
             COORDINATES SPACE "`frames`: [{`name`: `F`, `orientation`: {%s}}],"
                               "`bodies`: [{`name`: `B`, `mass`: 1, `in`: `F`, `position`: [1, 2, 3]}]",
             orientation);
    return text;
}

static const char *with_body(char text[3000], const char *members) {
    snprintf(text, 3000,
             COORDINATES SPACE "`bodies`: [{`name`: `B`, `position`: [0, 0, 0],"
                               "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`a`, `b`, `c`]}}, %s}]",
             members);
    return text;
}

static void matrices_that_are_not_rotations_are_rejected(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[[2, 0, 0], [0, 1, 0], [0, 0, 1]]", "row 1 of the matrix of `F` has length 2, not 1"},
        {"[[1, 0, 0], [0, 1, 0], [0, 0, `k`]]", "row 3 of the matrix of `F` has length 0.6, not 1"},
        {"[[`k`, `s`, 0], [`s`, `k`, 0], [0, 0, 1]]", "rows 1 and 2 of the matrix of `F` are not perpendicular: their "
                                                      "product is 0.96"},
        {"[[0, 1, 0], [1, 0, 0], [0, 0, 1]]", "determinant -1"},
        {"[[0.866, -0.5, 0], [0.5, 0.866, 0], [0, 0, 1]]", "has length"},
        {"[[`cos(a)`, `sin(a)`, 0], [`sin(a)`, `cos(a)`, 0], [0, 0, 1]]", "rows 1 and 2"},
        {"[[`cos(a)`, `-sin(b)`, 0], [`sin(b)`, `cos(a)`, 0], [0, 0, 1]]", "has length"},
        {"[[`cos(a)`, `-sin(a)`, 0], [`sin(a)`, `cos(a)`, 0], [0, 0, -1]]", "determinant -1"},
        {"[[`cos(t)`, `sin(t)`, 0], [`sin(t)`, `cos(t)`, 0], [0, 0, 1]]", "not perpendicular: their product is"},
        {"[[`a`, `b`, 0], [`-b`, `a`, 0], [0, 0, 1]]", "has length"},
    };
    char text[3000], orientation[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(orientation, sizeof orientation, "`matrix`: %s", cases[i][0]);
        assert_fault(with_orientation(text, orientation), cases[i][1]);
    }
}

static void quaternions_that_are_not_unit_are_rejected(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[2, 0, 0, 0]", "the quaternion of `F` has norm 2, not 1"},
        {"[`k`, `k`, 0, 0]", "has norm 0.848528137, not 1"},
        {"[0.707, 0.707, 0, 0]", "has norm 0.999848989, not 1"},
        {"[`cos(a)`, `sin(b)`, 0, 0]", "has norm"},
        {"[`cos(t)`, `sin(2*t)`, 0, 0]", "at t ="},
    };
    char text[3000], orientation[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(orientation, sizeof orientation, "`quaternion`: %s", cases[i][0]);
        assert_fault(with_orientation(text, orientation), cases[i][1]);
    }
}

/* If the orientation of F is normalized, the distance of B from the origin is √14. */
static void rotations_are_accepted_and_normalized(void **state) {
    (void)state;
    static const char *const cases[] = {
        "`quaternion`: [0.7071068, 0, 0.7071068, 0]",
        "`quaternion`: [`k`, 0, 0, `s`]",
        "`quaternion`: [`cos(a/2)`, 0, `sin(a/2)`, 0]",
        "`quaternion`: [`cos(t)`, `sin(t)`, 0, 0]",
        "`matrix`: [[`k`, `-s`, 0], [`s`, `k`, 0], [0, 0, 1]]",
        "`matrix`: [[0, 0, 1], [1, 0, 0], [0, 1, 0]]",
        "`matrix`: [[0.8660254, -0.5, 0], [0.5, 0.8660254, 0], [0, 0, 1]]",
        ("`matrix`: [[`cos(a)`, `-sin(a)*cos(b)`, `sin(a)*sin(b)`], [`sin(a)`, `cos(a)*cos(b)`, `-cos(a)*sin(b)`],"
         "[0, `sin(b)`, `cos(b)`]]"),
    };
    char text[3000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        fixture_open(&f, with_orientation(text, cases[i]));
        graph_node r2 = fixture_node(&f, "position(B, 1)^2 + position(B, 2)^2 + position(B, 3)^2");
        fixture_point p = {.t = 0.7, .q = {0.3, -0.5, 1.1, 0.2}};
        assert_near(cases[i], fixture_value_at(&f, r2, &p), 14, 1e-12);
        assert_int_equal(f.system->constraint_count, 0);
        fixture_close(&f);
    }
}

/* Quaternions specified by definitions are checked by their values. */
static void quaternions_may_be_given_by_definitions(void **state) {
    (void)state;
    char text[3000], more[3400];
    static const struct {
        const char *definitions;
        size_t constraints;
    } cases[] = {{"`p`: `d`, `q`: `a`", 1},
                 {"`p`: `r`, `r`: `d`, `q`: `sin(a)`", 1},
                 {"`p`: `cos(a)`, `q`: `sin(a)`", 0},
                 {"`p`: `cos(t)`, `q`: `sin(t)`", 0},
                 {"`p`: 0.6, `q`: 0.8", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        snprintf(more, sizeof more, "`definitions`: {%s}, %s", cases[i].definitions,
                 with_orientation(text, "`quaternion`: [`p`, 0, 0, `q`]"));
        fixture_open(&f, more);
        assert_int_equal(f.system->constraint_count, cases[i].constraints);
        fixture_close(&f);
    }
    snprintf(more, sizeof more, "`definitions`: {`p`: `cos(a)`, `q`: `sin(b)`}, %s",
             with_orientation(text, "`quaternion`: [`p`, 0, 0, `q`]"));
    assert_fault(more, "has norm");
}

static void quaternions_of_coordinates_get_a_norm_constraint(void **state) {
    (void)state;
    static const char *const cases[] = {"`quaternion`: [`d`, `a`, `b`, `c`]", "`quaternion`: [`d`, 0, `b`, 0]"};
    char text[3000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        fixture_open(&f, with_orientation(text, cases[i]));
        assert_int_equal(f.system->constraint_count, 1);
        assert_string_equal(f.system->constraints[0].name, "F.norm");
        fixture_point p = {.q = {0, 0.3, 0, 0.5}};
        assert_near("norm", fixture_value_at(&f, f.system->constraints[0].equation, &p), 0.34 - 1, 1e-15);
        fixture_close(&f);
    }
}

/* Direction cosines form a rotation matrix only if their constraints are satisfied. The sign of the determinant must be
 * checked at states that satisfy the constraints. */
#define COSINES                                                                           \
    "`coordinates`: [{`name`: `u[i]`, `for`: `i = 1..3`, `initial`: `if(i == 1, 1, 0)`}," \
    "{`name`: `v[i]`, `for`: `i = 1..3`, `initial`: `if(i == 2, 1, 0)`}],"                \
    "`constraints`: [{`name`: `uu`, `equation`: `u[1]^2 + u[2]^2 + u[3]^2 = 1`},"         \
    "{`name`: `vv`, `equation`: `v[1]^2 + v[2]^2 + v[3]^2 = 1`},"                         \
    "{`name`: `uv`, `equation`: `u[1]*v[1] + u[2]*v[2] + u[3]*v[3] = %s`}],"              \
    "`bodies`: [{`name`: `B`, `mass`: 1, `position`: [0, 0, 0], `inertia`: [1, 2, 2.5],"  \
    "`orientation`: {`matrix`: [[`u[1]`, `v[1]`, `%su[2]*v[3] - u[3]*v[2]%s`],"           \
    "[`u[2]`, `v[2]`, `%su[3]*v[1] - u[1]*v[3]%s`], [`u[3]`, `v[3]`, `%su[1]*v[2] - u[2]*v[1]%s`]]}}]"

static void direction_cosines_are_checked_at_consistent_states(void **state) {
    (void)state;
    fixture f;
    char text[3000];
    snprintf(text, sizeof text, COSINES, "0", "", "", "", "", "", "");
    fixture_open(&f, text);
    fixture_close(&f);
    snprintf(text, sizeof text, COSINES, "0", "-(", ")", "-(", ")", "-(", ")");
    assert_fault(text, "determinant -1");
    snprintf(text, sizeof text, COSINES, "u[1]*0.1", "", "", "", "", "", "");
    assert_fault(text, "the matrix of `B`");
}

/* The first axis points along a rod, and the coordinates are the positions of the end points of the rod. The check must
 * not depend on the unit of length. */
static void axes_along_rods_of_any_size_are_checked(void **state) {
    (void)state;
    static const double sizes[] = {1e-3, 1, 1e3, 1e9};
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
        char text[3000];
        fixture f;
        snprintf(text, sizeof text,
                 "`parameters`: {`l`: %g}, `coordinates`: [`x`, `y`, {`name`: `u`, `initial`: `l`}, `v`],"
                 "`constraints`: [{`name`: `rod`, `equation`: `(u - x)^2 + (v - y)^2 = l^2`}],"
                 "`bodies`: [{`name`: `B`, `mass`: 1, `position`: [`x`, `y`, 0], `orientation`: {`matrix`:"
                 "[[`(u - x)/l`, `%s(v - y)/l`, 0], [`(v - y)/l`, `(u - x)/l`, 0], [0, 0, 1]]}}]",
                 sizes[k / 2], k % 2 ? "" : "-");
        if (k % 2) {
            assert_fault(text, "not perpendicular");
            continue;
        }
        fixture_open(&f, text);
        fixture_close(&f);
    }
}

static void impossible_inertia_is_rejected(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"`mass`: 1, `inertia`: [[1, 0.3, 0], [-0.3, 1, 0], [0, 0, 1]]",
         "is not symmetric: entry 1,2 is 0.3 and entry 2,1 is -0.3"},
        {"`mass`: 1, `inertia`: [[2, 0, 0.1], [0, 2, 0], [0, 0, 2]]", "entry 1,3 is 0.1 and entry 3,1 is 0"},
        {"`mass`: 1, `inertia`: [[2, `0.1*b`, 0], [`-0.1*b`, 2, 0], [0, 0, 2]]", "is not symmetric"},
        {"`mass`: 1, `inertia`: [[2, `0.1*d`, 0], [`0.1*d^2`, 2, 0], [0, 0, 2]]", "is not symmetric"},
        {"`mass`: 1, `inertia`: [1, 2, 4]", "no body can have the moments of inertia of `B`"},
        {"`mass`: 1, `inertia`: [1, 2, `4 + b`]", "no body can have the moments of inertia of `B` at b = 0.4"},
        {"`mass`: 1, `inertia`: [1, `-b`, 1]", "no body can have"},
        {"`mass`: -1, `inertia`: [1, 1, 1]", "the mass of `B` is -1; a mass must not be negative"},
        {"`mass`: `-b`, `inertia`: [1, 1, 1]", "the mass of `B` is -0.4 at b = 0.4; a mass must not be negative"},
    };
    char text[3000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_fault(with_body(text, cases[i][0]), cases[i][1]);
}

static void inertia_that_is_impossible_at_other_states_is_a_warning(void **state) {
    (void)state;
    char text[3000];
    fixture f;
    fixture_open(&f, with_body(text, "`mass`: 1, `inertia`: [1, 1, `1.9 + 20*a^2`]"));
    assert_int_equal(f.system->warning_count, 1);
    assert_non_null(strstr(f.system->warnings[0], "/bodies/0/inertia: no body can have the moments of inertia of `B`"));
    fixture_close(&f);
    fixture_open(&f, with_body(text, "`mass`: `1 + a^2`, `inertia`: [[1, `0.1*a`, 0], [`a/10`, 1.9, 0], [0, 0, 1.8]]"));
    assert_int_equal(f.system->warning_count, 0);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_that_are_not_rotations_are_rejected),
        cmocka_unit_test(quaternions_that_are_not_unit_are_rejected),
        cmocka_unit_test(rotations_are_accepted_and_normalized),
        cmocka_unit_test(quaternions_may_be_given_by_definitions),
        cmocka_unit_test(quaternions_of_coordinates_get_a_norm_constraint),
        cmocka_unit_test(direction_cosines_are_checked_at_consistent_states),
        cmocka_unit_test(axes_along_rods_of_any_size_are_checked),
        cmocka_unit_test(impossible_inertia_is_rejected),
        cmocka_unit_test(inertia_that_is_impossible_at_other_states_is_a_warning),
    };
    return cmocka_run_group_tests_name("validity", tests, NULL, NULL);
}
