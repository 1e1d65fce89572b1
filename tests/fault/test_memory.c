/* test_memory.c — makes every allocation fail once while a system is parsed, derived, run in each format and analysed,
 * and while a job is stored. Each time, the operation must succeed or report exhausted memory, without a crash or leak.
 * The next attempt without faults must succeed.
 *
 * Usage: test_memory [EXAMPLE...]. The default is a selection of the examples, or all examples with HAMEL_TEST_LONG.
 *
 * As in SQLite's tests, allocation 1 fails, then allocation 2, and so on until the operation needs no more allocations.
 * In a second series, all later allocations fail too. Without HAMEL_TEST_LONG, the test skips more and more of the
 * later allocations. */
#include "api/analyze.h"
#include "tests/fault/faults.h"
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static faults *f;

typedef enum outcome { WORKED, NO_MEMORY, WRONG } outcome;

typedef struct work {
    const api_example *example;
    const row_format *format;
    unsigned analyses;
    char *expected; /* output without faults; NULL if it contains times and cannot be compared */
} work;

/* ---- the loop --------------------------------------------------------------------------------------------------- */

static char *out; /* output of the current run */
static size_t out_length;
enum { OUT_BYTES = 1 << 20, STRIDE_CHECK = 64, STRIDE_SHORT = 100 };

static bool keep(void *context, const char *bytes, size_t length) {
    (void)context;
    if (out_length + length >= OUT_BYTES) return false;
    memcpy(out + out_length, bytes, length);
    out_length += length;
    out[out_length] = '\0';
    return true;
}

static void begin_output(void) {
    out_length = 0;
    out[0] = '\0';
}

/* Performs the work while allocation `nth` fails. If `lasting` is set, all later allocations fail too. If the work has
 * fewer than `nth` allocations, returns false. */
static bool attempt(outcome (*perform)(work *w), work *w, const char *name, long nth, bool lasting) {
    long before = atomic_load(&f->live);
    begin_output();
    fault_order(f, FAULT_MEMORY, nth, lasting, 0);
    outcome result = perform(w);
    long calls = fault_cancel(f, FAULT_MEMORY);
    hamel_release_thread(); /* frees the memory that FLINT keeps for later calls */
    long leaked = atomic_load(&f->live) - before;
    if (result == WRONG || leaked != 0 || (calls < nth && result != WORKED))
        print_error("%s: if allocation %ld%s fails: %s, %ld blocks leaked; %.300s\n", name, nth,
                    lasting ? " and every later one" : "",
                    result == WRONG       ? "wrong outcome"
                    : result == NO_MEMORY ? "no memory"
                                          : "worked",
                    leaked, out);
    assert_int_not_equal(result, WRONG);
    assert_int_equal(leaked, 0);
    if (result == WORKED && w->expected) assert_string_equal(out, w->expected);
    if (calls < nth) assert_int_equal(result, WORKED);
    return calls >= nth;
}

static long fail_each(outcome (*perform)(work *w), work *w, const char *name) {
    long reached = 0;
    begin_output();
    assert_int_equal(perform(w), WORKED); /* the first run of the work fills the caches of libraries */
    begin_output();
    assert_int_equal(perform(w), WORKED);
    for (int lasting = 0; lasting < 2; lasting++) {
        for (long nth = 1; attempt(perform, w, name, nth, lasting);
             nth += 1 + (long_tests() ? 0 : nth / STRIDE_SHORT)) {
            reached++;
            if (reached % STRIDE_CHECK != 0) continue;
            begin_output();
            assert_int_equal(perform(w), WORKED);
        }
    }
    begin_output();
    assert_int_equal(perform(w), WORKED);
    return reached;
}

/* ---- the kinds of work ------------------------------------------------------------------------------------------- */

static const char *const short_run[] = {"simulation.samples=4", "simulation.max_steps=200"};

static outcome of_failure(api_failure *failure) {
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(failure->problem, "type");
    bool told =
        failure->http == 503 && (!failure->problem || (cJSON_IsString(type) && strstr(type->valuestring, "memory")));
    if (!told && failure->text) snprintf(out, OUT_BYTES, "%d %s", failure->http, failure->text);
    api_failure_clear(failure);
    return told ? NO_MEMORY : WRONG;
}

static outcome prepare(work *w) {
    api_failure failure = {0};
    api_limits limits = api_limits_default();
    hamel_model *model =
        api_prepare(w->example->json, w->example->length, short_run, 2, &limits, NULL, "example", &failure);
    if (!model) return of_failure(&failure);
    hamel_model_free(model);
    return WORKED;
}

static outcome run_to(const work *w, const hamel_model *model) {
    row_writer *writer = row_writer_open(w->format, (byte_sink){.write = keep});
    if (!writer) return NO_MEMORY;
    api_observer observer = api_observer_of(writer);
    hamel_status status = api_run(model, NULL, &observer, "example");
    bool refused = writer->reason != NULL; /* the writer has run out of memory */
    row_writer_close(writer);
    if (status == HAMEL_OK) return WORKED;
    return status == HAMEL_NO_MEMORY || (status == HAMEL_CANCELED && refused) ? NO_MEMORY : WRONG;
}

static hamel_model *prepared;
static outcome run(work *w) {
    return run_to(w, prepared);
}

static outcome analyze(work *w) {
    api_failure failure = {0};
    api_limits limits = api_limits_default();
    api_analysis_options options = api_analysis_default(w->analyses);
    options.starts = 2;
    cJSON *found =
        api_analyze(w->example->json, w->example->length, NULL, 0, &options, &limits, NULL, "example", &failure);
    if (!found) return of_failure(&failure);
    cJSON_Delete(found);
    return WORKED;
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static const char *const chosen[] = {"benchmark_car_axis", "bead_in_turning_tube", "baruh_ex_4_27_rocking_block",
                                     "papastavridis_2_13_7_rolling_disk", NULL};
static const char *const *names = chosen;

static bool is_chosen(const char *name) {
    for (const char *const *n = names; *n; n++)
        if (strcmp(*n, name) == 0) return true;
    return long_tests() && names == chosen;
}

static void deriving_without_memory_is_reported(void **state) {
    (void)state;
    for (size_t k = 0; api_example_at(k); k++) {
        work w = {.example = api_example_at(k)};
        if (!is_chosen(w.example->name)) continue;
        print_message("%s: %ld allocations failed\n", w.example->name, fail_each(prepare, &w, w.example->name));
    }
}

static void running_without_memory_is_reported_in_each_format(void **state) {
    (void)state;
    for (size_t k = 0; api_example_at(k); k++) {
        work w = {.example = api_example_at(k)};
        if (!is_chosen(w.example->name)) continue;
        api_failure failure = {0};
        api_limits limits = api_limits_default();
        prepared = api_prepare(w.example->json, w.example->length, short_run, 2, &limits, NULL, "example", &failure);
        assert_non_null(prepared);
        for (size_t n = 0; (w.format = row_format_at(n)) != NULL; n++) {
            begin_output();
            assert_int_equal(run(&w), WORKED);
            w.expected = strcmp(w.format->name, "csv") == 0 ? strdup(out) : NULL;
            print_message("%s as %s: %ld allocations failed\n", w.example->name, w.format->name,
                          fail_each(run, &w, w.example->name));
            free(w.expected);
        }
        hamel_model_free(prepared);
    }
}

static void analysing_without_memory_is_reported(void **state) {
    (void)state;
    static const struct {
        const char *name;
        unsigned bit;
    } analyses[] = {{"structure", API_STRUCTURE},     {"verification", API_VERIFICATION},
                    {"equilibrium", API_EQUILIBRIUM}, {"linearization", API_LINEARIZATION},
                    {"forces", API_FORCES},           {"displacements", API_DISPLACEMENTS},
                    {"impulses", API_IMPULSES}};
    for (size_t k = 0; api_example_at(k); k++) {
        work w = {.example = api_example_at(k)};
        if (!is_chosen(w.example->name)) continue;
        for (size_t n = 0; n < sizeof analyses / sizeof *analyses; n++) {
            w.analyses = analyses[n].bit;
            begin_output();
            if (analyze(&w) != WORKED) continue; /* some systems have no equilibrium */
            print_message("%s, %s: %ld allocations failed\n", w.example->name, analyses[n].name,
                          fail_each(analyze, &w, analyses[n].name));
        }
    }
}

static int have_room(void **state) {
    (void)state;
    out = malloc(OUT_BYTES);
    return out == NULL;
}

static int give_room(void **state) {
    (void)state;
    free(out);
    return 0;
}

int main(int argc, char **argv) {
    f = faults_here(argc, argv);
    if (argc > 1) names = (const char *const *)argv + 1;
    if (!f) {
        puts("1..0 # SKIP faults cannot be injected");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deriving_without_memory_is_reported),
        cmocka_unit_test(running_without_memory_is_reported_in_each_format),
        cmocka_unit_test(analysing_without_memory_is_reported),
    };
    return cmocka_run_group_tests_name("memory", tests, have_room, give_room);
}
