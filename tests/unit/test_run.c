/* test_run.c — engine/simulate: independence of steps from output rows, methods, budgets, cancellation, failures. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"
#include "tests/unit/polls.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

typedef struct record {
    hamel_summary summary;
    hamel_error error;
    hamel_status status;
    size_t columns, rows, capacity, stop_after; /* `stop_after`: row at which the sink cancels; 0 if never */
    size_t headers;
    double *values;
} record;

static double time_by(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool take_header(void *context, const hamel_header *header) {
    record *r = context;
    r->columns = header->column_count;
    r->headers++;
    return true;
}

static bool take_row(void *context, const double *values, size_t count) {
    record *r = context;
    if (r->stop_after > 0 && r->rows + 1 >= r->stop_after) return false;
    if (r->rows < 5000) {
        if (r->rows == r->capacity) {
            r->capacity = 2 * r->capacity + 64;
            double *grown = realloc(r->values, r->capacity * count * sizeof *grown);
            if (!grown) return false;
            r->values = grown;
        }
        memcpy(r->values + r->rows * count, values, count * sizeof *values);
    }
    r->rows++;
    return true;
}

static void run_model(record *r, const hamel_model *model, const hamel_run_options *options) {
    hamel_sink sink = {.context = r, .header = take_header, .row = take_row};
    r->status = hamel_run(model, options, &sink, &r->summary, &r->error);
}

static record run(const char *members, const char *simulation) {
    record r = {0};
    hamel_model *model = fixture_model(members, simulation);
    run_model(&r, model, NULL);
    hamel_model_free(model); /* the names in the summary belong to the model and are invalid now */
    if (r.status != HAMEL_OK) fail_msg("%s", r.error.count > 0 ? r.error.faults[0].message : "no message");
    return r;
}

static void drop(record *r) {
    hamel_summary_free(&r->summary);
    hamel_error_clear(&r->error);
    free(r->values);
    *r = (record){0};
}

static const double *row_of(const record *r, size_t i) {
    return r->values + i * r->columns;
}

#define PENDULUM                                                                                             \
    "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}], `gravity`: [0, -9.81]," \
    "`particles`: [{`name`: `p`, `mass`: 1, `position`: [`x`, `y`]}],"                                       \
    "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}]"

/* --- steps --------------------------------------------------------------------------------------------------------- */

static void outputs_do_not_influence_the_steps(void **state) {
    (void)state;
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (int m = 0; m < 3; m++) {
        char few[200], many[200], times[200];
        snprintf(few, sizeof few, "`stop`: 3, `samples`: 4, `method`: `%s`, `rtol`: 1e-8", methods[m]);
        snprintf(many, sizeof many, "`stop`: 3, `samples`: 301, `method`: `%s`, `rtol`: 1e-8", methods[m]);
        snprintf(times, sizeof times,
                 "`stop`: 3, `times`: [0.1234, 1, 2], `method`: `%s`, `rtol`: 1e-8, `record`: [`x`, `y`, `x'`, `y'`]",
                 methods[m]);
        record a = run(PENDULUM, few),
               b = run(PENDULUM ", `outputs`: {`E`: `energy()`, `T`: `lambda(rod)`}, `invariants`: [`energy()`]", many),
               c = run(PENDULUM, times);
        assert_int_equal(a.rows, 4);
        assert_int_equal(b.rows, 301);
        assert_int_equal(c.rows, 3);
        assert_true(a.summary.steps == b.summary.steps && a.summary.steps == c.summary.steps);
        assert_true(a.summary.rhs_evaluations == b.summary.rhs_evaluations);
        for (size_t i = 0; i < 4; i++) assert_memory_equal(row_of(&a, i), row_of(&b, 100 * i), 5 * sizeof(double));
        for (size_t i = 1; i < 3; i++) assert_memory_equal(row_of(&a, i), row_of(&c, i), 5 * sizeof(double));
        drop(&a), drop(&b), drop(&c);
    }
}

static void the_same_model_gives_the_same_bytes(void **state) {
    (void)state;
    hamel_model *model = fixture_model(PENDULUM, "`stop`: 5, `samples`: 51");
    record a = {0}, b = {0};
    run_model(&a, model, NULL);
    run_model(&b, model, NULL);
    assert_int_equal(a.rows, 51);
    assert_memory_equal(a.values, b.values, a.rows * a.columns * sizeof(double));
    drop(&a), drop(&b);
    hamel_model_free(model);
}

static void *run_in_thread(void *context) {
    const hamel_model *model = *(const hamel_model **)context;
    record *r = calloc(1, sizeof *r);
    if (r) run_model(r, model, NULL);
    return r;
}

static void a_model_serves_several_threads_at_once(void **state) {
    (void)state;
    const hamel_model *model =
        fixture_model(PENDULUM ", `outputs`: {`E`: `energy()`}", "`stop`: 5, `samples`: 51, `method`: `bdf`");
    pthread_t threads[4];
    record *records[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_in_thread, &model), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        records[i] = result;
        assert_non_null(records[i]);
        assert_int_equal(records[i]->rows, 51);
        assert_memory_equal(records[i]->values, records[0]->values, 51 * records[0]->columns * sizeof(double));
    }
    for (int i = 0; i < 4; i++) {
        drop(records[i]);
        free(records[i]);
    }
    hamel_model_free((hamel_model *)model);
}

static void bdf_and_adams_give_the_same_motion(void **state) {
    (void)state;
    static const char *const systems[] = {
        PENDULUM,
        "`coordinates`: [{`name`: `a`, `initial`: 1}, {`name`: `b`, `initial`: -0.5}], `kinetic_energy`: `a'^2 + "
        "b'^2/2 + a'*b'*cos(a - b)`, `potential_energy`: `-9*cos(a) - 5*cos(b)`",
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, {`name`: `f`, `velocity`: 2}], `kinetic_energy`: `(x'^2 + "
        "y'^2 + f'^2)/2`, `constraints`: [{`name`: `edge`, `equation`: `-x'*sin(f) + y'*cos(f) = 0`}],"
        "`generalized_forces`: {`x`: `-0.1*x'*abs(lambda(edge))`}",
    };
    for (size_t i = 0; i < 3; i++) {
        record a = run(systems[i], "`stop`: 2, `samples`: 21, `method`: `adams`, `rtol`: 1e-10, `atol`: 1e-12");
        record b = run(systems[i], "`stop`: 2, `samples`: 21, `method`: `bdf`, `rtol`: 1e-10, `atol`: 1e-12");
        record u =
            run(systems[i], "`stop`: 2, `samples`: 21, `formulation`: `udwadia-kalaba`, `rtol`: 1e-10, `atol`: 1e-12");
        for (size_t k = 0; k < a.rows * a.columns; k++) {
            assert_near(systems[i], a.values[k], b.values[k], 1e-7);
            assert_near(systems[i], a.values[k], u.values[k], 1e-7);
        }
        drop(&a), drop(&b), drop(&u);
    }
}

/* Strongly damped springs of 10^7 N/m connect masses of 1 g. An explicit method needs steps of microseconds. */
static void auto_changes_to_bdf_on_a_stiff_chain(void **state) {
    (void)state;
    hamel_model *model = fixture_model(
        "`parameters`: {`N`: 6, `k`: 1e7, `d`: 1e4}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`}],"
        "`kinetic_energy`: `0.001*sum(i, 1, N, x[i]'^2)/2`, `potential_energy`: `k*sum(i, 2, N, (x[i] - x[i-1])^2)/2 + "
        "x[1]^2/2`,"
        "`dissipation`: `d*sum(i, 2, N, (x[i]' - x[i-1]')^2)/2`, `generalized_forces`: {`x[6]`: `sin(t)`}",
        "`stop`: 20, `samples`: 3, `max_steps`: 200000");
    record r = {0};
    run_model(&r, model, NULL);
    assert_int_equal(r.status, HAMEL_OK);
    assert_string_equal(r.summary.method, "erk, bdf");
    assert_int_equal(r.summary.outcome, HAMEL_COMPLETED);
    assert_true(r.summary.steps < 20000);
    assert_true(r.summary.jacobian_evaluations > 0);
    drop(&r);
    hamel_model_free(model);
}

/* --- budgets and cancellation -------------------------------------------------------------------------------------- */

/* The acceleration energy contains x'' only, so M is singular. The constraint determines y = x = 3 t²/2. */
static void bdf_integrates_masses_that_are_singular_without_the_constraints(void **state) {
    (void)state;
    record r = run("`coordinates`: [`x`, `y`], `acceleration_energy`: `x''^2/2`, `generalized_forces`: {`x`: 3},"
                   "`constraints`: [{`name`: `c`, `equation`: `y' = x'`}]",
                   "`stop`: 2, `samples`: 2, `method`: `bdf`");
    assert_int_equal(r.status, HAMEL_OK);
    assert_near("x", row_of(&r, 1)[1], 6, 1e-5);
    assert_near("y", row_of(&r, 1)[2], 6, 1e-5);
    drop(&r);
}

/* x oscillates twenty times as fast as y. If the tolerance of x is larger than its amplitude, the step size depends on
 * y only. */
static void a_large_tolerance_excludes_a_coordinate_from_step_control(void **state) {
    (void)state;
#define OSCILLATORS                                                                                    \
    "`coordinates`: [{`name`: `x`, `initial`: 1e-3}, {`name`: `y`, `initial`: 1}], `kinetic_energy`: " \
    "`(x'^2 + y'^2)/2`, `potential_energy`: `(400*x^2 + y^2)/2`"
    record tight = run(OSCILLATORS, "`stop`: 10, `samples`: 2, `rtol`: 1e-8, `atol`: 1e-9, `method`: `bdf`");
    record loose =
        run(OSCILLATORS, "`stop`: 10, `samples`: 2, `rtol`: 1e-8, `atol`: {`x`: 100, `y`: 1e-9}, `method`: `bdf`");
    assert_near("y", row_of(&tight, 1)[2], cos(10), 1e-7);
    assert_near("y", row_of(&loose, 1)[2], cos(10), 1e-7);
    assert_near("x", row_of(&tight, 1)[1], 1e-3 * cos(200), 1e-6);
    assert_true(loose.summary.steps < tight.summary.steps / 2);
    drop(&tight);
    drop(&loose);
}

/* A column with springs k and dampers k/100 settles under its weight. If the springs are stiffer, it settles sooner. */
static void stiffer_springs_need_no_more_steps(void **state) {
    (void)state;
    double before = INFINITY;
    for (int power = 6; power <= 10; power++) {
        char members[700];
        snprintf(
            members, sizeof members,
            "`parameters`: {`N`: 16, `k`: 1e%d, `c`: `k/100`}, `coordinates`: [{`name`: `u[i]`, `for`: `i = 1..N`}],"
            "`kinetic_energy`: `sum(i, 1, N, u[i]'^2)/2`, `potential_energy`: [`sum(i, 1, N, 9.81*u[i])`,"
            "`k/2*(u[1]^2 + sum(i, 2, N, (u[i] - u[i-1])^2))`],"
            "`dissipation`: `c/2*(u[1]'^2 + sum(i, 2, N, (u[i]' - u[i-1]')^2))`",
            power);
        record r = run(members, "`stop`: 10, `samples`: 2, `method`: `bdf`");
        assert_true((double)r.summary.steps <= before);
        /* at rest, the lowest spring carries N weights, the next one N − 1, and so on */
        double lowest = row_of(&r, 1)[1], top = row_of(&r, 1)[16], weight = 9.81 / pow(10, power);
        assert_true(fabs(lowest + 16 * weight) < 1e-8 && fabs(top + 136 * weight) < 1e-8);
        before = (double)r.summary.steps;
        drop(&r);
    }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_MEMORY false /* mallinfo2 does not count the allocations of sanitizers */
#else
#define COUNTS_MEMORY true
#endif

static double allocated(void) {
    struct mallinfo2 m = mallinfo2();
    return (double)m.uordblks + (double)m.hblkhd;
}

static bool note_memory(void *context, const double *values, size_t count) {
    (void)values, (void)count;
    *(double *)context = fmax(*(double *)context, allocated());
    return true;
}

/* Returns the number of bytes that a model and its run allocate. */
static double memory_of_a_chain(int links) {
    char members[700];
    snprintf(members, sizeof members,
             "`parameters`: {`N`: %d}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`, `initial`: `i*0.6`},"
             "{`name`: `y[i]`, `for`: `i = 1..N`, `initial`: `-i*0.8`}], `gravity`: [0, -10],"
             "`particles`: [{`name`: `p[i]`, `for`: `i = 1..N`, `mass`: 1, `position`: [`x[i]`, `y[i]`]}],"
             "`constraints`: [{`name`: `rod[1]`, `equation`: `x[1]^2 + y[1]^2 = 1`},"
             "{`name`: `rod[i]`, `for`: `i = 2..N`, `equation`: `(x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 = 1`}]",
             links);
    double before = allocated(), most = 0;
    hamel_model *model = fixture_model(members, "`stop`: 0.01, `samples`: 3");
    hamel_sink sink = {.context = &most, .row = note_memory};
    hamel_summary summary;
    assert_int_equal(hamel_run(model, NULL, &sink, &summary, NULL), HAMEL_OK);
    hamel_summary_free(&summary);
    hamel_model_free(model);
    return most - before;
}

static void memory_grows_with_the_length_of_a_chain(void **state) {
    (void)state;
    if (!COUNTS_MEMORY) skip();
    double ratio = memory_of_a_chain(1024) / memory_of_a_chain(64);
    assert_true(ratio < pow(16, 1.05));
}

static void max_steps_ends_a_run_as_incomplete(void **state) {
    (void)state;
    record r = run(PENDULUM, "`stop`: 1000, `samples`: 1001, `max_steps`: 100");
    assert_int_equal(r.summary.outcome, HAMEL_INCOMPLETE);
    assert_true(r.summary.steps == 100);
    assert_true(r.summary.t < 1000 && r.summary.t > 0);
    assert_int_equal(r.summary.warning_count, 1);
    assert_false(r.summary.passed);
    assert_true(r.rows >= 1 && row_of(&r, r.rows - 1)[0] <= r.summary.t);
    drop(&r);
}

static void the_limit_of_wall_time_ends_a_run_as_incomplete(void **state) {
    (void)state;
    hamel_model *model = fixture_model(PENDULUM, "`stop`: 1e7, `samples`: 3, `max_steps`: 1e12, `time_limit`: 0.1");
    record r = {0};
    run_model(&r, model, NULL); /* time_limit ends the run long before `stop` */
    assert_int_equal(r.status, HAMEL_OK);
    assert_int_equal(r.summary.outcome, HAMEL_INCOMPLETE);
    drop(&r);
    hamel_model_free(model);
}

/* If a description can be integrated for some time, a later failure must give exit status 4, not 3 (an invalid
 * description). */
static void any_failure_after_the_start_is_a_failed_integration(void **state) {
    (void)state;
    static const struct {
        const char *members, *formulation, *said;
    } cases[] = {
        /* the momentum has its maximum at |v| = 1 */
        {"`coordinates`: [{`name`: `x`, `velocity`: 0.5}, {`name`: `y`, `velocity`: 0.2}], `kinetic_energy`: "
         "`(x'^2+y'^2)/2 - (x'^2+y'^2)^2/12`, `potential_energy`: `-x-0.3*y`",
         "hamilton", "the momenta do not determine the velocities"},
        {"`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `kinetic_energy`: `(x'^2+y'^2)/2`, `constraints`: "
         "[{`name`: `c`, `equation`: `y = 0`}, {`name`: `d`, `equation`: `y'' = max(0, t - 0.5)`}]",
         "lagrange", "the constraints `c` and `d` contradict each other"},
        {"`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `kinetic_energy`: `(x'^2+y'^2)/2`, `constraints`: "
         "[{`name`: `c`, `equation`: `y' = 0`}, {`name`: `d`, `equation`: `y' = max(0, x - 0.5)`}]",
         "maggi", "the constraints `c` and `d` contradict each other"},
        {"`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`, `constraints`: "
         "[{`name`: `c`, `equation`: `x = 0.4`, `active`: false}], "
         "`events`: [{`name`: `e`, `when`: `x - 0.5`, `activate`: [`c`]}]",
         "gauss", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "`stop`: 2, `samples`: 21, `formulation`: `%s`", cases[i].formulation);
        hamel_model *model = fixture_model(cases[i].members, simulation);
        record r = {0};
        run_model(&r, model, NULL);
        if (r.status != HAMEL_INTEGRATION || !strstr(r.error.faults[0].message, cases[i].said))
            fail_msg("system %zu: status %d: %s", i, (int)r.status, r.error.count ? r.error.faults[0].message : "");
        if (r.rows < 2) fail_msg("system %zu: %zu rows", i, r.rows);
        drop(&r);
        hamel_model_free(model);
    }
}

/* The wall time limit must also end evaluations outside steps, for example in projections and root searches. */
static void the_wall_time_limit_applies_everywhere(void **state) {
    (void)state;
    hamel_model *model = fixture_model(PENDULUM, "`stop`: 10, `samples`: 3");
    dynamics *k = dynamics_create(model);
    const double v[3] = {0};
    double q[3], worst;
    memcpy(q, model->q0, model->n * sizeof *q);
    dynamics_limit(k, NULL, 1e-3); /* the limit is 1 ms on the monotonic clock, so it has expired */
    assert_int_equal(dynamics_evaluate(k, 0, q, v, NULL), HAMEL_CANCELED);
    assert_int_equal(dynamics_project(k, 0, q, (double[3]){0}, &worst, NULL), HAMEL_CANCELED);
    dynamics_free(k);
    hamel_model_free(model);
}

/* The body is at rest, so the integrator reaches the end in two steps. All output rows are within these steps. */
static void the_wall_time_limit_applies_to_rows_within_one_step(void **state) {
    (void)state;
    hamel_model *model = fixture_model("`coordinates`: [{`name`: `x`, `initial`: 1}], `kinetic_energy`: `x'^2`",
                                       "`stop`: 1e6, `samples`: 1000000000");
    record r = {0};
    clock_poll soon = clock_poll_of(0.2);
    hamel_run_options options = {.poll = &soon.poll};
    run_model(&r, model, &options);
    assert_int_equal(r.status, HAMEL_OK);
    assert_int_equal(r.summary.outcome, HAMEL_INCOMPLETE);
    assert_non_null(strstr(r.summary.warnings[r.summary.warning_count - 1], "at its limit of patience"));
    assert_true(r.summary.t < 1e6);
    drop(&r);
    hamel_model_free(model);
}

/* A bead sticks on a ring of 1e-150 m. Its forces vary so fast that the check for sliding needs 1e80 samples per
 * step. */
static void the_wall_time_limit_applies_to_samples_within_one_step(void **state) {
    (void)state;
    hamel_model *model = fixture_model(
        "`parameters`: {`R`: 1e-150}, `coordinates`: [{`name`: `x`, `velocity`: `R*1.5`}, {`name`: `y`, `initial`: "
        "`-R`}],"
        "`gravity`: [0, -9.81], `particles`: [{`name`: `bead`, `mass`: 1, `position`: [`x`, `y`]}],"
        "`constraints`: [{`name`: `ring`, `equation`: `x^2 + y^2 = R^2`, `friction`: {`coefficient`: 0.5}}]",
        "`stop`: 2, `samples`: 3, `rtol`: 1e-8, `atol`: 1e-10");
    record r = {0};
    clock_poll soon = clock_poll_of(0.2);
    hamel_run_options options = {.poll = &soon.poll};
    run_model(&r, model, &options);
    assert_int_equal(r.status, HAMEL_OK);
    assert_int_equal(r.summary.outcome, HAMEL_INCOMPLETE);
    drop(&r);
    hamel_model_free(model);
}

/* A flag that a thread sets after a delay, and the CPU time of the run at that moment. CPU time does not depend on
 * other load. */
typedef struct canceler {
    flag_poll by_flag;
    clockid_t clock;
    double at;
} canceler;

static void *cancel_soon(void *context) {
    canceler *c = context;
    nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
    atomic_store(&c->by_flag.canceled, true);
    c->at = time_by(c->clock); /* read after the flag is set, so earlier work does not count */
    return NULL;
}

static void a_run_stops_within_a_tenth_of_a_second_of_its_cancellation(void **state) {
    (void)state;
    static const char *const simulations[] = {"`stop`: 1e7, `samples`: 3, `max_steps`: 1e12",
                                              "`stop`: 1e7, `samples`: 3, `max_steps`: 1e12, `method`: `bdf`",
                                              "`stop`: 1e7, `samples`: 3, `max_steps`: 1e12, `certify`: true"};
    for (size_t i = 0; i < 3; i++) {
        hamel_model *model = fixture_model(PENDULUM, simulations[i]);
        record r = {0};
        canceler c = {.by_flag = flag_poll_of(false)};
        pthread_t thread;
        hamel_run_options options = {.poll = &c.by_flag.poll};
        assert_int_equal(pthread_getcpuclockid(pthread_self(), &c.clock), 0);
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &c), 0);
        run_model(&r, model, &options);
        double end = time_by(c.clock);
        pthread_join(thread, NULL);
        assert_int_equal(r.status, HAMEL_CANCELED);
        assert_int_equal(r.summary.outcome, HAMEL_FAILED);
        if (!(end - c.at < 0.1)) fail_msg("the run ended %g s after the cancellation", end - c.at);
        drop(&r);
        hamel_model_free(model);
    }
}

static void an_error_of_the_sink_cancels_the_run(void **state) {
    (void)state;
    hamel_model *model = fixture_model(PENDULUM, "`stop`: 5");
    record r = {.stop_after = 7};
    run_model(&r, model, NULL);
    assert_int_equal(r.status, HAMEL_CANCELED);
    assert_int_equal(r.rows, 6);
    drop(&r);
    hamel_model_free(model);
}

static void a_singularity_is_reported_with_its_expression_and_time(void **state) {
    (void)state;
    hamel_model *model = fixture_model("`coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: -1}], "
                                       "`kinetic_energy`: `x'^2/2`, `generalized_forces`: {`x`: `-sqrt(x)`}",
                                       "`stop`: 10");
    record r = {0};
    run_model(&r, model, NULL);
    assert_int_equal(r.status, HAMEL_NOT_FINITE);
    if (!strstr(r.error.faults[0].message, "sqrt(x)")) fail_msg("%s", r.error.faults[0].message);
    assert_int_equal(r.summary.outcome, HAMEL_FAILED);
    assert_int_equal(r.headers, 1);
    drop(&r);
    hamel_model_free(model);
}

static void errors_before_the_start_send_no_header(void **state) {
    (void)state;
    hamel_model *model = fixture_model("`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `kinetic_energy`: `x'^2 + "
                                       "y'^2`, `constraints`: [{`name`: `c`, `equation`: `x = y`}]",
                                       "`stop`: 10");
    record r = {0};
    run_model(&r, model, NULL);
    assert_int_equal(r.status, HAMEL_INCONSISTENT);
    assert_int_equal(r.headers, 0);
    drop(&r);
    hamel_model_free(model);
}

static void settings_are_expressions_of_parameters(void **state) {
    (void)state;
    hamel_model *model = fixture_model("`parameters`: {`T`: 2, `N`: 5, `h`: `T/N`}, `coordinates`: [`x`],"
                                       "`kinetic_energy`: `x'^2/2`,"
                                       "`invariants`: [{`expression`: `x'`, `tolerance`: `h/1000`}]",
                                       "`stop`: `N*h`, `samples`: `2*N + 1`, `max_steps`: `100*N`, `max_step`: `h/4`,"
                                       "`time_limit`: `3*T`, `projection`: {`baumgarte`: [`N`, `T`]}");
    const model_settings *s = &model->settings;
    assert_int_equal(s->row_count, 11);
    assert_true(s->max_steps == 500 && s->max_step == 0.1 && s->time_limit == 6);
    assert_true(s->baumgarte[0] == 5 && s->baumgarte[1] == 2);
    assert_true(model->observation.invariants[0].has_tolerance &&
                model->observation.invariants[0].tolerance == 0.4 / 1000);
    hamel_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_do_not_influence_the_steps),
        cmocka_unit_test(the_same_model_gives_the_same_bytes),
        cmocka_unit_test(a_model_serves_several_threads_at_once),
        cmocka_unit_test(bdf_and_adams_give_the_same_motion),
        cmocka_unit_test(auto_changes_to_bdf_on_a_stiff_chain),
        cmocka_unit_test(bdf_integrates_masses_that_are_singular_without_the_constraints),
        cmocka_unit_test(a_large_tolerance_excludes_a_coordinate_from_step_control),
        cmocka_unit_test(stiffer_springs_need_no_more_steps),
        cmocka_unit_test(memory_grows_with_the_length_of_a_chain),
        cmocka_unit_test(settings_are_expressions_of_parameters),
        cmocka_unit_test(max_steps_ends_a_run_as_incomplete),
        cmocka_unit_test(the_limit_of_wall_time_ends_a_run_as_incomplete),
        cmocka_unit_test(the_wall_time_limit_applies_to_rows_within_one_step),
        cmocka_unit_test(any_failure_after_the_start_is_a_failed_integration),
        cmocka_unit_test(the_wall_time_limit_applies_everywhere),
        cmocka_unit_test(the_wall_time_limit_applies_to_samples_within_one_step),
        cmocka_unit_test(a_run_stops_within_a_tenth_of_a_second_of_its_cancellation),
        cmocka_unit_test(an_error_of_the_sink_cancels_the_run),
        cmocka_unit_test(a_singularity_is_reported_with_its_expression_and_time),
        cmocka_unit_test(errors_before_the_start_send_no_header),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
