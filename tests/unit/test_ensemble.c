/* test_ensemble.c — members of one model against models of their own. */
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VALUES_MAX = 4000, MEMBERS_MAX = 64 };

/* Rows of the members, one after the other in each. */
typedef struct table {
    double values[MEMBERS_MAX][VALUES_MAX];
    size_t count[MEMBERS_MAX], begun[MEMBERS_MAX], width;
    hamel_status status[MEMBERS_MAX];
    hamel_outcome outcome[MEMBERS_MAX];
    char message[MEMBERS_MAX][200];
} table;

static bool on_begin(void *context, size_t member) {
    table *t = context;
    t->count[member] = 0;
    t->begun[member]++;
    return true;
}

static bool on_row(void *context, size_t member, const double *values, size_t count) {
    table *t = context;
    assert_true(t->count[member] + count <= VALUES_MAX);
    memcpy(&t->values[member][t->count[member]], values, count * sizeof *values);
    t->count[member] += count;
    t->width = count;
    return true;
}

static bool on_end(void *context, size_t member, const hamel_member_end *end) {
    table *t = context;
    t->status[member] = end->status;
    t->outcome[member] = end->outcome;
    const char *text = end->error && end->error->count ? end->error->faults[0].message : end->reason;
    snprintf(t->message[member], sizeof t->message[member], "%s", text ? text : "");
    return true;
}

static bool on_run_row(void *context, const double *values, size_t count) {
    return on_row(context, 0, values, count);
}

static void run_members(const hamel_model *model, const char *const *targets, size_t target_count, size_t count,
                        const double *values, table *out) {
    hamel_variation *v;
    hamel_error error = {0};
    hamel_ensemble_options options = {0};
    hamel_ensemble_sink sink = {out, on_begin, on_row, on_end};
    memset(out, 0, sizeof *out);
    assert_int_equal(hamel_variation_create(&v, model, targets, target_count, &error), HAMEL_OK);
    assert_int_equal(hamel_ensemble_run(v, &options, count, values, &sink, &error), HAMEL_OK);
    hamel_variation_free(v);
    hamel_error_clear(&error);
}

static hamel_status run_alone(const hamel_model *model, table *out) {
    hamel_summary summary;
    hamel_error error = {0};
    hamel_sink sink = {.context = out, .row = on_run_row};
    memset(out, 0, sizeof *out);
    hamel_status status = hamel_run(model, NULL, &sink, &summary, &error);
    hamel_summary_free(&summary);
    hamel_error_clear(&error);
    return status;
}

static table members, alone;

/* c is made of b and b of a, which stand after it. */
static const char chained[] =
    "`parameters`: {`c`: `b + 1`, `b`: `2*a`, `a`: %s, `m`: 1},"
    "`coordinates`: [{`name`: `x`, `initial`: `c/10`, `velocity`: `-b/10`}, {`name`: `y`, `initial`: %s}],"
    "`particles`: [{`name`: `p`, `mass`: `m`, `position`: [`x`, `y`]}],"
    "`potential_energy`: `a*x^2 + b*y^2/2 + c*x*y/4`, `outputs`: {`f`: `c*x`}";

static void what_is_made_of_a_parameter_moves_with_it(void **state) {
    (void)state;
    const char *targets[] = {"a", "y.initial"};
    const double values[] = {1, 0.5, 3, -0.25, 0.5, 2};
    char text[1000];
    snprintf(text, sizeof text, chained, "7", "1");
    hamel_model *model = fixture_model(text, "`stop`: 2, `samples`: 5, `method`: `adams`");
    run_members(model, targets, 2, 3, values, &members);
    for (size_t k = 0; k < 3; k++) {
        char a[30], y[30];
        snprintf(a, sizeof a, "%g", values[2 * k]);
        snprintf(y, sizeof y, "%g", values[2 * k + 1]);
        snprintf(text, sizeof text, chained, a, y);
        hamel_model *own = fixture_model(text, "`stop`: 2, `samples`: 5, `method`: `adams`");
        assert_int_equal(run_alone(own, &alone), HAMEL_OK);
        assert_int_equal(members.outcome[k], HAMEL_COMPLETED);
        assert_int_equal(members.count[k], alone.count[0]);
        assert_memory_equal(members.values[k], alone.values[0], alone.count[0] * sizeof(double));
        hamel_model_free(own);
    }
    hamel_model_free(model);
}

static void a_member_that_fails_leaves_the_others(void **state) {
    (void)state;
    const char *targets[] = {"m", "x.initial"};
    const double values[] = {1, 1, -1, 1, 1, 2, 1, 0.5};
    hamel_model *model =
        fixture_model("`parameters`: {`m`: 1}, `coordinates`: [`x`, `y`],"
                      "`particles`: [{`name`: `p`, `mass`: `m`, `position`: [`x`, `y`]}],"
                      "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}], `potential_energy`: `y`",
                      "`stop`: 1, `samples`: 2, `initialization`: `strict`, `method`: `adams`");
    run_members(model, targets, 2, 4, values, &members);
    assert_int_equal(members.status[0], HAMEL_OK);
    assert_int_equal(members.status[1], HAMEL_INVALID);
    assert_string_equal(members.message[1], "the mass of `p` is -1, and none is negative");
    assert_int_equal(members.status[2], HAMEL_INCONSISTENT);
    assert_int_equal(members.outcome[2], HAMEL_FAILED);
    assert_int_equal(members.status[3], HAMEL_INCONSISTENT);
    hamel_model_free(model);
}

static void expect_own_models(const char *text, const char *simulation, const char *target, hamel_status expected) {
    hamel_variation *v;
    hamel_error error = {0};
    hamel_model *model = fixture_model(text, simulation);
    hamel_status status = hamel_variation_create(&v, model, &target, 1, &error);
    assert_int_equal(status, expected);
    assert_true(status == HAMEL_OK ? v != NULL : v == NULL && error.count == 1);
    hamel_variation_free(v);
    hamel_error_clear(&error);
    hamel_model_free(model);
}

static void numbers_that_a_model_is_made_of_do_not_vary(void **state) {
    (void)state;
    static const char family[] = "`parameters`: {`N`: `n`, `n`: 2, `T`: 1, `k`: 1}, `coordinates`: [{`name`: `x[i]`, "
                                 "`for`: `i = 1..N`}], `kinetic_energy`: `sum(i, 1, N, k*x[i]'^2)`";
    expect_own_models(family, "`stop`: 1", "k", HAMEL_OK);
    expect_own_models(family, "`stop`: 1", "x[1].initial", HAMEL_OK);
    expect_own_models(family, "`stop`: 1", "n", HAMEL_UNSUPPORTED);
    expect_own_models(family, "`stop`: `2*T`", "T", HAMEL_UNSUPPORTED);
    expect_own_models(family, "`stop`: `2*T`", "k", HAMEL_OK);
    expect_own_models(family, "`stop`: 1, `sensitivities`: [`k`]", "k", HAMEL_UNSUPPORTED);
    expect_own_models(family, "`stop`: 1", "x[3].initial", HAMEL_INVALID);
    expect_own_models(family, "`stop`: 1", "K", HAMEL_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_made_of_a_parameter_moves_with_it),
        cmocka_unit_test(a_member_that_fails_leaves_the_others),
        cmocka_unit_test(numbers_that_a_model_is_made_of_do_not_vary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
