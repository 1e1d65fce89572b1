/* test_simulate.c — runs of complete descriptions: failures before a run, the order of an observer's calls, and runs
 * that end early. */
#include "api/check.h"
#include "api/json/text.h"
#include "api/simulate.h"
#include "tests/unit/polls.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char oscillator[] = "{\"hamel\":1,\"name\":\"o\",\"parameters\":{\"k\":1},"
                                 "\"coordinates\":[{\"name\":\"x\",\"initial\":1}],"
                                 "\"kinetic_energy\":\"x'^2/2\",\"potential_energy\":\"k*x^2/2\","
                                 "\"simulation\":{\"stop\":1,\"samples\":11,\"rtol\":1e-9,\"atol\":1e-12}}";

static hamel_model *prepare(const char *text, const char *const *assignments, size_t count, api_failure *failure) {
    api_limits limits = api_limits_default();
    *failure = (api_failure){0};
    return api_prepare(text, strlen(text), assignments, count, &limits, NULL, "f.json", failure);
}

static void expect_failure(const char *text, int http, int exit_code, const char *line) {
    api_failure failure;
    assert_null(prepare(text, NULL, 0, &failure));
    assert_int_equal(failure.http, http);
    assert_int_equal(failure.exit_code, exit_code);
    assert_int_equal(cJSON_GetObjectItem(failure.problem, "status")->valueint, http);
    if (strstr(failure.text, line) == NULL) fail_msg("no `%s` in `%s`", line, failure.text);
    api_failure_clear(&failure);
}

static void failures_before_a_run_have_status_text_and_problem(void **state) {
    (void)state;
    expect_failure("{", 400, 3, "hamel: f.json:1:2: expected a key");
    expect_failure("{\"hamel\":1,\"coordinats\":[]}", 422, 3, "  try: coordinates\n");
    expect_failure("{\"hamel\":1,\"coordinates\":[\"x\"],\"kinetic_energy\":\"x'^2 + (\",\"simulation\":{\"stop\":1}}",
                   422, 3, "hamel: f.json: /kinetic_energy:");
}

static void a_description_that_exceeds_its_budget_is_413(void **state) {
    (void)state;
    api_limits limits = api_limits_default();
    limits.json.bytes = 10;
    api_failure failure = {0};
    assert_null(api_prepare(oscillator, strlen(oscillator), NULL, 0, &limits, NULL, NULL, &failure));
    assert_int_equal(failure.http, 413);
    api_failure_clear(&failure);
}

static void a_canceled_derivation_is_503(void **state) {
    (void)state;
    api_limits limits = api_limits_default();
    flag_poll canceled = flag_poll_of(true);
    api_failure failure = {0};
    hamel_model *model = api_prepare(oscillator, strlen(oscillator), NULL, 0, &limits, &canceled.poll, "f", &failure);
    assert_null(model);
    assert_int_equal(failure.http, 503);
    api_failure_clear(&failure);
}

/* Records the calls of an observer as the letters h (header), r (row), s (summary) and p (problem). */
typedef struct record {
    char order[64];
    size_t count, stop_after; /* in rows */
    double last[3];
    size_t rows;
    int problem_http;
    bool summary_seen;
} record;

static void note(record *r, char letter) {
    if (r->count + 1 < sizeof r->order) r->order[r->count++] = letter;
}

static bool on_header(void *context, const row_header *header) {
    note(context, 'h');
    assert_int_equal(header->column_count, 3);
    assert_string_equal(header->columns[2], "x'");
    assert_non_null(strstr(header->json, "\"columns\":[\"t\",\"x\",\"x'\"]"));
    return true;
}

static bool on_row(void *context, const double *values, size_t count) {
    record *r = context;
    note(r, 'r');
    memcpy(r->last, values, count * sizeof *values);
    return ++r->rows != r->stop_after;
}

static bool on_summary(void *context, const char *json, const hamel_summary *summary) {
    note(context, 's');
    assert_non_null(strstr(json, "\"status\":\"completed\""));
    assert_int_equal(summary->outcome, HAMEL_COMPLETED);
    return true;
}

static bool on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    record *r = context;
    note(r, 'p');
    r->problem_http = failure->http;
    r->summary_seen = summary_json != NULL;
    assert_non_null(strstr(json, "\"type\":\"/problems/"));
    return true;
}

static hamel_status observe(record *r, const char *const *assignments, size_t count, const char *text) {
    api_failure failure;
    hamel_model *model = prepare(text, assignments, count, &failure);
    if (model == NULL) fail_msg("%s", failure.text);
    api_observer observer = {
        .context = r, .header = on_header, .row = on_row, .summary = on_summary, .problem = on_problem};
    hamel_status status = api_run(model, NULL, &observer, "f.json");
    hamel_model_free(model);
    return status;
}

static void an_observer_receives_header_rows_and_summary(void **state) {
    (void)state;
    record r = {0};
    assert_int_equal(observe(&r, NULL, 0, oscillator), HAMEL_OK);
    assert_string_equal(r.order, "hrrrrrrrrrrrs");
    assert_true(fabs(r.last[1] - cos(1)) < 1e-7);
}

static void overrides_apply_to_the_run(void **state) {
    (void)state;
    static const char *const assignments[] = {"k=4", "x.initial=k", "simulation.samples=3"};
    record r = {0};
    assert_int_equal(observe(&r, assignments, 3, oscillator), HAMEL_OK);
    assert_string_equal(r.order, "hrrrs");
    assert_true(fabs(r.last[1] - 4 * cos(2)) < 1e-6);
}

static void an_error_of_a_callback_cancels_the_run(void **state) {
    (void)state;
    record r = {.stop_after = 3};
    assert_int_equal(observe(&r, NULL, 0, oscillator), HAMEL_CANCELED);
    assert_string_equal(r.order, "hrrrp");
    assert_int_equal(r.problem_http, 503);
    assert_true(r.summary_seen);
}

static void a_run_that_fails_to_begin_sends_only_a_problem(void **state) {
    (void)state;
    record r = {0};
    const char *text = "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":1}],\"kinetic_energy\":\"x'^2/2\","
                       "\"constraints\":[{\"name\":\"c\",\"equation\":\"x = 2\"}],\"simulation\":{\"stop\":1}}";
    assert_int_equal(observe(&r, NULL, 0, text), HAMEL_INCONSISTENT);
    assert_string_equal(r.order, "p");
    assert_int_equal(r.problem_http, 422);
}

static bool append(void *context, const char *bytes, size_t length) {
    text_buffer_add(context, bytes, length);
    return true;
}

static void every_format_writes_a_repeated_run_to_the_same_bytes(void **state) {
    (void)state;
    api_failure failure;
    hamel_model *model = prepare(oscillator, NULL, 0, &failure);
    assert_non_null(model);
    for (size_t k = 0; row_format_at(k) != NULL; k++) {
        text_buffer out[2];
        for (size_t i = 0; i < 2; i++) {
            text_buffer_init(&out[i], 1 << 20);
            row_writer *w = row_writer_open(row_format_at(k), (byte_sink){&out[i], append});
            api_observer observer = api_observer_of(w);
            observer.progress = NULL;
            assert_int_equal(api_run(model, NULL, &observer, "f"), HAMEL_OK);
            row_writer_close(w);
        }
        /* The summary contains wall times, so the test compares only the bytes before the wall times. */
        const char *end = strstr(out[0].bytes, "\"derive_seconds\"");
        size_t same = end != NULL ? (size_t)(end - out[0].bytes) : out[0].length;
        assert_true(same > 0 && same <= out[1].length);
        assert_memory_equal(out[0].bytes, out[1].bytes, same);
        text_buffer_free(&out[0]);
        text_buffer_free(&out[1]);
    }
    hamel_model_free(model);
}

static void every_shipped_example_can_be_derived(void **state) {
    (void)state;
    size_t k = 0;
    for (; api_example_at(k) != NULL; k++) {
        const api_example *e = api_example_at(k);
        assert_int_equal(strlen(e->json), e->length);
        api_failure failure;
        hamel_model *model = prepare(e->json, NULL, 0, &failure);
        if (model == NULL) fail_msg("%s: %s", e->name, failure.text);
        hamel_model_free(model);
    }
    assert_true(k > 0);
}

static void keep_found(void *context, const api_check_result *result) {
    (void)snprintf(context, 256, "%s", result->found);
}

static void the_reason_of_an_incomplete_run_is_truncated_between_code_points(void **state) {
    (void)state;
    char found[256] = "";
    text_buffer summary;
    text_buffer_init(&summary, 1024);
    text_buffer_puts(&summary, "{\"status\":\"incomplete\",\"warnings\":[\"");
    /* a truncation after 199 bytes splits a character */
    for (int k = 0; k < 150; k++) text_buffer_puts(&summary, "\xc3\xa4");
    text_buffer_puts(&summary, "\"]}");
    cJSON *tree = json_parse_trusted(summary.bytes);
    text_buffer_free(&summary);
    assert_false(api_check_results(tree, keep_found, found));
    cJSON_Delete(tree);
    cJSON *text = cJSON_CreateString(found);
    char *json = json_text(text);
    cJSON_Delete(text);
    cJSON *again = json_parse(json, strlen(json), NULL, NULL); /* json_parse rejects text that is not UTF-8 */
    assert_non_null(again);
    cJSON_Delete(again);
    free(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reason_of_an_incomplete_run_is_truncated_between_code_points),
        cmocka_unit_test(failures_before_a_run_have_status_text_and_problem),
        cmocka_unit_test(a_description_that_exceeds_its_budget_is_413),
        cmocka_unit_test(a_canceled_derivation_is_503),
        cmocka_unit_test(an_observer_receives_header_rows_and_summary),
        cmocka_unit_test(overrides_apply_to_the_run),
        cmocka_unit_test(an_error_of_a_callback_cancels_the_run),
        cmocka_unit_test(a_run_that_fails_to_begin_sends_only_a_problem),
        cmocka_unit_test(every_format_writes_a_repeated_run_to_the_same_bytes),
        cmocka_unit_test(every_shipped_example_can_be_derived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
