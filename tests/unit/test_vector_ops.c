/* test_vector_ops.c — engine/simulate/methods/vector_ops.c against SUNDIALS' own serial operations. */
#include "engine/simulate/methods/vector_ops.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4 };

typedef struct pair {
    SUNContext context;
    sunindextype n;
    N_Vector ours[MOST], theirs[MOST];
} pair;

static void open_pair(pair *p, sunindextype n) {
    uint64_t seed = (uint64_t)n + 1;
    p->n = n;
    assert_int_equal(SUNContext_Create(NULL, &p->context), 0);
    for (int k = 0; k < MOST; k++) {
        p->ours[k] = k == 0 ? vector_create(n, p->context) : N_VClone(p->ours[0]);
        p->theirs[k] = N_VNew_Serial(n, p->context);
        assert_true(p->ours[k] && p->theirs[k]);
        random_fill(&seed, NV_DATA_S(p->ours[k]), (size_t)n, -1, 1);
        memcpy(NV_DATA_S(p->theirs[k]), NV_DATA_S(p->ours[k]), (size_t)n * sizeof(double));
    }
}

static void close_pair(pair *p) {
    for (int k = 0; k < MOST; k++) {
        N_VDestroy(p->ours[k]);
        N_VDestroy(p->theirs[k]);
    }
    SUNContext_Free(&p->context);
}

static void expect_equal(const pair *p) {
    for (int k = 0; k < MOST; k++)
        for (sunindextype i = 0; i < p->n; i++) {
            double x = NV_Ith_S(p->ours[k], i), y = NV_Ith_S(p->theirs[k], i);
            assert_near("entry", x, y, 4e-16);
        }
}

static const sunindextype lengths[] = {1, 2, 3, 4, 5, 7, 8, 33, 1000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void a_new_vector_is_zero(void **state) {
    (void)state;
    SUNContext context;
    assert_int_equal(SUNContext_Create(NULL, &context), 0);
    N_Vector v = vector_create(9, context);
    assert_non_null(v);
    for (sunindextype i = 0; i < 9; i++) assert_true(NV_Ith_S(v, i) == 0);
    N_VDestroy(v);
    SUNContext_Free(&context);
}

/* z may alias x or y. */
static void linear_sums_agree_in_every_case_and_in_place(void **state) {
    (void)state;
    static const double factors[][2] = {{1, 1},      {1, -1}, {-1, 1}, {2, 1},    {1, 0.3},
                                        {0.7, -0.7}, {-2, 3}, {0, 1},  {0.5, 0.5}};
    for (size_t l = 0; l < LENGTHS; l++)
        for (size_t c = 0; c < sizeof factors / sizeof *factors; c++)
            for (int target = 0; target < 3; target++) {
                pair p;
                open_pair(&p, lengths[l]);
                N_VLinearSum(factors[c][0], p.ours[0], factors[c][1], p.ours[1], p.ours[target]);
                N_VLinearSum(factors[c][0], p.theirs[0], factors[c][1], p.theirs[1], p.theirs[target]);
                expect_equal(&p);
                close_pair(&p);
            }
}

static void the_difference_of_equal_vectors_is_zero(void **state) {
    (void)state;
    pair p;
    open_pair(&p, 100);
    N_VScale(1, p.ours[0], p.ours[1]);
    N_VLinearSum(0.1, p.ours[0], -0.1, p.ours[1], p.ours[2]);
    for (sunindextype i = 0; i < 100; i++) assert_true(NV_Ith_S(p.ours[2], i) == 0);
    close_pair(&p);
}

static void scaling_constants_and_norms_agree(void **state) {
    (void)state;
    for (size_t l = 0; l < LENGTHS; l++) {
        pair p;
        open_pair(&p, lengths[l]);
        N_VScale(-2.5, p.ours[0], p.ours[1]), N_VScale(-2.5, p.theirs[0], p.theirs[1]);
        N_VScale(1, p.ours[0], p.ours[0]), N_VScale(1, p.theirs[0], p.theirs[0]);
        N_VScale(3, p.ours[2], p.ours[2]), N_VScale(3, p.theirs[2], p.theirs[2]);
        N_VConst(0.25, p.ours[3]), N_VConst(0.25, p.theirs[3]);
        expect_equal(&p);
        assert_near("norm", N_VWrmsNorm(p.ours[0], p.ours[1]), N_VWrmsNorm(p.theirs[0], p.theirs[1]), 1e-14);
        close_pair(&p);
    }
}

static void combinations_agree_and_may_overwrite_the_first(void **state) {
    (void)state;
    for (size_t l = 0; l < LENGTHS; l++)
        for (int in_place = 0; in_place < 2; in_place++) {
            pair p;
            double c[3] = {0.5, -1.25, 3};
            open_pair(&p, lengths[l]);
            int target = in_place ? 0 : 3;
            assert_int_equal(N_VLinearCombination(3, c, p.ours, p.ours[target]), 0);
            assert_int_equal(N_VLinearCombination(3, c, p.theirs, p.theirs[target]), 0);
            expect_equal(&p);
            assert_int_equal(N_VScaleAddMulti(2, c, p.ours[0], p.ours + 1, p.ours + 1), 0);
            assert_int_equal(N_VScaleAddMulti(2, c, p.theirs[0], p.theirs + 1, p.theirs + 1), 0);
            expect_equal(&p);
            assert_int_equal(N_VScaleVectorArray(3, c, p.ours, p.ours), 0);
            assert_int_equal(N_VScaleVectorArray(3, c, p.theirs, p.theirs), 0);
            expect_equal(&p);
            close_pair(&p);
        }
}

static void the_norm_of_a_vector_that_is_not_finite_is_not_finite(void **state) {
    (void)state;
    pair p;
    open_pair(&p, 6);
    NV_DATA_S(p.ours[0])[3] = NAN;
    double norm = N_VWrmsNorm(p.ours[0], p.ours[1]);
    assert_true(isnan(norm) || isinf(norm));
    close_pair(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_vector_is_zero),
        cmocka_unit_test(linear_sums_agree_in_every_case_and_in_place),
        cmocka_unit_test(the_difference_of_equal_vectors_is_zero),
        cmocka_unit_test(scaling_constants_and_norms_agree),
        cmocka_unit_test(combinations_agree_and_may_overwrite_the_first),
        cmocka_unit_test(the_norm_of_a_vector_that_is_not_finite_is_not_finite),
    };
    return cmocka_run_group_tests_name("vector_ops", tests, NULL, NULL);
}
