/* test_members.c — members of one model give the same results as separate models. */
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VALUES_MAX = 4000, MEMBERS_MAX = 64 };

/* The rows of all members, stored one member after the other. */
typedef struct table {
    double values[MEMBERS_MAX][VALUES_MAX];
    size_t count[MEMBERS_MAX], begun[MEMBERS_MAX], width;
    hamel_status status[MEMBERS_MAX];
    hamel_outcome outcome[MEMBERS_MAX];
    char message[MEMBERS_MAX][200];
} table;

static bool on_begin(void *context, size_t member, const hamel_header *header) {
    table *t = context;
    assert_non_null(header);
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
    const hamel_summary *s = end->summary;
    t->outcome[member] = s->outcome;
    const char *text = end->error && end->error->count                          ? end->error->faults[0].message
                       : s->outcome == HAMEL_INCOMPLETE && s->warning_count > 0 ? s->warnings[s->warning_count - 1]
                                                                                : "";
    snprintf(t->message[member], sizeof t->message[member], "%s", text);
    return true;
}

static bool on_run_row(void *context, const double *values, size_t count) {
    return on_row(context, 0, values, count);
}

static void run_members(const hamel_model *model, const char *const *targets, size_t target_count, size_t count,
                        const double *values, table *out) {
    hamel_variation *v;
    hamel_error error = {0};
    hamel_members_options options = {0};
    hamel_members_sink sink = {out, on_begin, on_row, NULL, on_end};
    memset(out, 0, sizeof *out);
    assert_int_equal(hamel_variation_create(&v, model, targets, target_count, &error), HAMEL_OK);
    assert_int_equal(hamel_run_members(v, &options, count, values, &sink, &error), HAMEL_OK);
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

/* Parameter c depends on b, and b depends on a. Parameter a is declared after b and c. */
static const char chained[] =
    "`parameters`: {`c`: `b + 1`, `b`: `2*a`, `a`: %s, `m`: 1},"
    "`coordinates`: [{`name`: `x`, `initial`: `c/10`, `velocity`: `-b/10`}, {`name`: `y`, `initial`: %s}],"
    "`particles`: [{`name`: `p`, `mass`: `m`, `position`: [`x`, `y`]}],"
    "`potential_energy`: `a*x^2 + b*y^2/2 + c*x*y/4`, `outputs`: {`f`: `c*x`}";

static void derived_parameters_follow_their_parameter(void **state) {
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

static void a_member_that_fails_does_not_affect_the_others(void **state) {
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
    assert_string_equal(members.message[1], "the mass of `p` is -1; it must not be negative");
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

static void structural_parameters_cannot_vary(void **state) {
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

/* --- eight members in SIMD lanes ---------------------------------------------------------------------------------- */

static const char double_pendulum[] =
    "`parameters`: {`l`: 1, `g`: 9.81}, `coordinates`: [{`name`: `a`, `initial`: 1}, {`name`: `b`, `initial`: 0.5}],"
    "`kinetic_energy`: `l^2*(a'^2 + b'^2/2 + a'*b'*cos(a-b))`, `potential_energy`: `-g*l*(2*cos(a) + cos(b))`,"
    "`outputs`: {`A`: `a''`, `E`: `energy()`, `slow`: `sqrt(a'^2 + b'^2)`}";
enum { TARGETS = 3, CROWD = 29 };
static const char *const pendulum_targets[TARGETS] = {"a.initial", "b.velocity", "l"};

static void draw(uint64_t *seed, double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        values[TARGETS * i] = random_between(seed, -0.5, 0.5); /* regular motions, which do not amplify errors */
        values[TARGETS * i + 1] = random_between(seed, -0.3, 0.3);
        values[TARGETS * i + 2] = random_between(seed, 0.5, 3);
    }
}

/* A reference solution with the same parameters, by method `adams` at 1e-12. */
static table exact;

static void each_member_is_within_its_tolerance(void **state) {
    (void)state;
    uint64_t seed = 3;
    double values[TARGETS * CROWD];
    draw(&seed, values, CROWD);
    hamel_model *fine = fixture_model(double_pendulum, "`times`: [0, 1, 1.0625, 3.3, 5], `stop`: 5, `rtol`: 1e-12, "
                                                       "`atol`: 1e-13, `method`: `adams`");
    run_members(fine, pendulum_targets, TARGETS, CROWD, values, &exact);
    static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
    for (size_t r = 0; r < sizeof tolerances / sizeof *tolerances; r++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "`times`: [0, 1, 1.0625, 3.3, 5], `stop`: 5, `rtol`: %g, `atol`: %g",
                 tolerances[r], tolerances[r]);
        hamel_model *model = fixture_model(double_pendulum, simulation);
        run_members(model, pendulum_targets, TARGETS, CROWD, values, &members);
        double worst = 0;
        for (size_t k = 0; k < CROWD; k++) {
            assert_int_equal(members.outcome[k], HAMEL_COMPLETED);
            assert_int_equal(members.begun[k], 1); /* each member was started once */
            assert_int_equal(members.count[k], 5 * members.width);
            for (size_t i = 0; i < members.count[k]; i++) {
                size_t column = i % members.width;
                double x = members.values[k][i], y = exact.values[k][i];
                if (column == 0) assert_true(x == y);
                /* Times, angles and velocities have the bound of 10 tolerances below. Outputs may vary more steeply and
                 * have the bound of 1e4 tolerances. */
                if (column <= 4) worst = fmax(worst, fabs(x - y) / fmax(1, fabs(y)));
                assert_true(fabs(x - y) < 1e4 * tolerances[r] * fmax(1, fabs(y)));
            }
        }
        if (!(worst < 10 * tolerances[r])) fail_msg("rtol %g: the error is %.3g", tolerances[r], worst);
        hamel_model_free(model);
    }
    hamel_model_free(fine);
}

/* The results of a member must have the same bits if the member runs alone, in another order, or next to other
 * members. */
static void a_member_does_not_depend_on_its_neighbors(void **state) {
    (void)state;
    uint64_t seed = 4;
    double values[TARGETS * CROWD], turned[TARGETS * CROWD];
    draw(&seed, values, CROWD);
    values[TARGETS * 5] = 3.1; /* this member needs many more steps */
    for (size_t i = 0; i < CROWD; i++)
        memcpy(turned + TARGETS * i, values + TARGETS * (CROWD - 1 - i), TARGETS * sizeof *values);
    hamel_model *model = fixture_model(double_pendulum, "`stop`: 3, `samples`: 7");
    run_members(model, pendulum_targets, TARGETS, CROWD, values, &members);
    run_members(model, pendulum_targets, TARGETS, CROWD, turned, &exact);
    for (size_t i = 0; i < CROWD; i++) {
        size_t bytes = members.count[i] * sizeof(double);
        assert_int_equal(members.count[i], 7 * members.width);
        assert_memory_equal(members.values[i], exact.values[CROWD - 1 - i], bytes);
        run_members(model, pendulum_targets, TARGETS, 1, values + TARGETS * i, &alone);
        assert_memory_equal(members.values[i], alone.values[0], bytes);
    }
    hamel_model_free(model);
}

/* If a member is stiff or fails in SIMD lanes, the member must be rerun alone. The rerun reports the cause of a
 * failure. */
static void members_that_need_it_are_run_alone(void **state) {
    (void)state;
    static const char system[] = "`parameters`: {`m`: 1, `c`: 0}, `coordinates`: [{`name`: `x`, `initial`: 1}],"
                                 "`kinetic_energy`: `m*x'^2/2`, `potential_energy`: `x^2/2 + sqrt(x + 5)/100`,"
                                 "`dissipation`: `c*x'^2/2`";
    const char *targets[] = {"m", "c", "x.initial"};
    /* five members: regular, stiff, without inertia, with a square root of a negative number, and regular */
    const double values[] = {1, 0, 1, 1, 1e6, 1, 0, 0, 1, 1, 0, -6, 2, 0.5, 1};
    static const size_t begun[] = {1, 2, 1, 1, 1}; /* a run whose initialization fails is not counted */
    hamel_model *model = fixture_model(system, "`stop`: 10, `samples`: 11");
    run_members(model, targets, 3, 5, values, &members);
    for (size_t k = 0; k < 5; k++)
        if (members.begun[k] != begun[k]) fail_msg("member %zu was started %zu times", k, members.begun[k]);
    assert_int_equal(members.status[1], HAMEL_OK);
    assert_int_equal(members.count[1], 11 * members.width);
    assert_int_equal(members.status[2], HAMEL_SINGULAR);
    assert_int_equal(members.status[3], HAMEL_NOT_FINITE);
    assert_int_equal(members.status[4], HAMEL_OK);
    double slow = members.values[1][11 * members.width - 2]; /* x at the end, from c x' = −x − 1/(200 √(x + 5)) */
    assert_true(fabs(slow - (1 - 10 * (1 + 0.005 / sqrt(6)) / 1e6)) < 1e-6);
    hamel_model_free(model);
}

/* x'' = −x + cos t from rest has the resonant solution t sin(t)/2. */
static void each_member_has_its_own_time(void **state) {
    (void)state;
    const char *target = "x.initial";
    const double values[] = {0, 1, -1, 0.5, 0, 0, 2, 3, 4};
    hamel_model *model =
        fixture_model("`coordinates`: [`x`], `kinetic_energy`: `x'^2/2`, `potential_energy`: `x^2/2`,"
                      "`generalized_forces`: {`x`: `cos(t)`}",
                      "`start`: 0, `stop`: 4, `samples`: 9, `rtol`: 1e-9, `atol`: 1e-9, `max_step`: 0.3");
    run_members(model, &target, 1, 9, values, &members);
    for (size_t k = 0; k < 9; k++) {
        assert_int_equal(members.begun[k], 1);
        for (size_t i = 0; i < 9; i++) {
            const double *row = &members.values[k][i * members.width];
            assert_true(fabs(row[1] - (values[k] * cos(row[0]) + row[0] * sin(row[0]) / 2)) < 1e-8);
        }
    }
    hamel_model_free(model);
}

static bool refuse_row(void *context, size_t member, const double *values, size_t count) {
    (void)values, (void)count;
    *(size_t *)context += member == 2;
    return member != 2;
}

static void a_sink_ends_the_sweep(void **state) {
    (void)state;
    const char *target = "a.initial";
    const double values[] = {0.1, 0.2, 0.3, 0.4};
    size_t refused = 0;
    hamel_variation *v;
    hamel_error error = {0};
    hamel_members_options options = {0};
    hamel_members_sink sink = {.context = &refused, .row = refuse_row};
    hamel_model *model = fixture_model(double_pendulum, "`stop`: 1");
    assert_int_equal(hamel_variation_create(&v, model, &target, 1, &error), HAMEL_OK);
    assert_int_equal(hamel_run_members(v, &options, 4, values, &sink, &error), HAMEL_CANCELED);
    assert_int_equal(refused, 1);
    hamel_variation_free(v);
    hamel_error_clear(&error);
    hamel_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derived_parameters_follow_their_parameter),
        cmocka_unit_test(a_member_that_fails_does_not_affect_the_others),
        cmocka_unit_test(structural_parameters_cannot_vary),
        cmocka_unit_test(each_member_is_within_its_tolerance),
        cmocka_unit_test(a_member_does_not_depend_on_its_neighbors),
        cmocka_unit_test(members_that_need_it_are_run_alone),
        cmocka_unit_test(each_member_has_its_own_time),
        cmocka_unit_test(a_sink_ends_the_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
