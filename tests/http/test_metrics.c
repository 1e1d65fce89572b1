/* test_metrics.c — GET /metrics in the format of Prometheus, and the log of requests. */
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static test_daemon d;

static double sample(const char *series) {
    return daemon_metric(&d, series);
}

static void wait_for_sample(const char *series, double value) {
    double until = hang_time();
    while (sample(series) != value && now_seconds() < until) sleep_seconds(0.01);
    assert_true(sample(series) == value);
}

static void requests_and_runs_are_counted(void **state) {
    (void)state;
    static const char live[] = "hamel_runs_total{kind=\"simulation\",outcome=\"completed\"}";
    static const char requests[] = "hamel_http_requests_total{route=\"POST /v1/simulations\",status=\"200\"}";
    char system[512];
    oscillator(system, sizeof system, "counted", 1, 11);
    double runs = sample(live), steps = sample("hamel_run_steps_total"), rows = sample("hamel_run_rows_total");
    for (int i = 0; i < 3; i++) {
        answer a = ask(&d, "POST", "/v1/simulations", json_type, system);
        answer_clear(&a);
    }
    wait_for_sample(live, runs + 3); /* the daemon counts the end of a run after it has sent the response */
    assert_true(sample("hamel_run_rows_total") == rows + 33);
    assert_true(sample("hamel_run_steps_total") > steps);
    assert_true(sample(requests) >= 3);
    wait_for_sample("hamel_http_request_seconds_count{route=\"POST /v1/simulations\"}", sample(requests));
}

static void queue_and_store_are_shown(void **state) {
    (void)state;
    char system[512], path[128];
    char *running[64];
    size_t count = (size_t)sysconf(_SC_NPROCESSORS_ONLN) + 2;
    for (size_t i = 0; i < count; i++) running[i] = submit(&d, endless(system, sizeof system));
    wait_for_status(&d, running[0], "running");
    sleep_seconds(1.1); /* 1.1 s exceeds the age of 1 s that is checked below */
    assert_true(sample("hamel_jobs_queued") >= 2);
    assert_true(sample("hamel_jobs_running") >= 1);
    assert_true(sample("hamel_queue_age_seconds") >= 1);
    assert_true(sample("hamel_store_bytes") > 4096);
    assert_true(sample("hamel_store_commit_seconds_count") > 0);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "/v1/jobs/%s", running[i]);
        answer a = ask(&d, "DELETE", path, NULL, NULL);
        answer_clear(&a);
        free(running[i]);
    }
    assert_true(sample("hamel_jobs_queued") == 0);
    assert_true(sample("process_open_fds") > 5);
    assert_true(sample("process_resident_memory_bytes") > 1e6);
}

/* Every line is a comment or `name{labels} value`, and each family is declared once, before its samples. */
static void the_text_has_the_exposition_format(void **state) {
    (void)state;
    answer a = ask(&d, "GET", "/metrics", NULL, NULL);
    char type[96], name[128], declared[128] = "";
    double value;
    assert_true(answer_header(&a, "Content-Type", type, sizeof type));
    assert_non_null(strstr(type, "version=0.0.4"));
    for (char *line = a.body, *next; *line; line = next) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        next = end + 1;
        if (sscanf(line, "# TYPE %127s", declared) == 1 || strncmp(line, "# HELP ", 7) == 0) continue;
        size_t length = strcspn(line, "{ ");
        const char *brace = strrchr(line, '}');
        snprintf(name, sizeof name, "%.*s", (int)length, line);
        assert_int_equal(strncmp(name, declared, strlen(declared)), 0);
        assert_int_equal(sscanf(brace ? brace + 1 : line + length, " %lf", &value), 1);
    }
    answer_clear(&a);
}

static void the_log_has_each_request_with_its_trace(void **state) {
    (void)state;
    static const char trace[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    char header[128];
    static char log[1 << 20];
    snprintf(header, sizeof header, "traceparent: %s", trace);
    answer a = ask(&d, "GET", "/healthz", (const char *const[]){header, "X-Request-Id: traced-1", NULL}, NULL);
    answer_clear(&a);
    a = ask(&d, "GET", "/healthz", (const char *const[]){"traceparent: nonsense", "X-Request-Id: traced-2", NULL},
            NULL);
    answer_clear(&a);
    wait_for_log(&d, "traced-2");
    FILE *file = fopen(d.log, "r");
    assert_non_null(file);
    log[fread(log, 1, sizeof log - 1, file)] = '\0';
    fclose(file);
    const char *line = strstr(log, "traced-1");
    assert_non_null(line);
    assert_non_null(strstr(line, trace));
    assert_non_null(strstr(log, "traced-2"));
    assert_null(strstr(log, "nonsense"));
    for (line = log; *line; line = strchr(line, '\n') + 1) { /* each line is an object */
        cJSON *object = cJSON_ParseWithLength(line, strcspn(line, "\n"));
        assert_true(cJSON_IsObject(object));
        assert_true(*json_text_of(object, "time") && *json_text_of(object, "level") && *json_text_of(object, "event"));
        cJSON_Delete(object);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_runs_are_counted),
        cmocka_unit_test(queue_and_store_are_shown),
        cmocka_unit_test(the_text_has_the_exposition_format),
        cmocka_unit_test(the_log_has_each_request_with_its_trace),
    };
    daemon_share(&d, NULL);
    return cmocka_run_group_tests_name("metrics", tests, start_shared_daemon, end_shared_daemon);
}
