/* test_adversaries.c — costly request bodies of at most one mebibyte. The daemon must respond to each body in bounded
 * time and memory, and serve the next request. */
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { BODY_BYTES = 1 << 20, FILL_BYTES = BODY_BYTES - 1000 };

/* Limits in seconds and bytes. The daemon's limits for one description are 20 s and 1 GiB (server/main.c). The
 * differences allow for a run of one second and for the response. */
static const double SECONDS_MOST = 23, BYTES_MOST = 1.2e9;

static test_daemon d;
static char body[BODY_BYTES + 1];

/* Fills the body with `before`, repetitions of `piece` up to `bytes`, and `after`. "%" in the piece is replaced by a
 * counter. */
static void fill(const char *before, const char *piece, size_t bytes, const char *middle, const char *closing,
                 const char *after) {
    size_t length = (size_t)snprintf(body, sizeof body, "%s", before), count = 0;
    const char *mark = strchr(piece, '%');
    for (; length < bytes; count++) {
        int n = mark ? snprintf(body + length, 200, "%.*s%zu%s", (int)(mark - piece), piece, count, mark + 1)
                     : snprintf(body + length, 200, "%s", piece);
        length += (size_t)n;
    }
    length += (size_t)snprintf(body + length, sizeof body - length, "%s", middle);
    for (size_t k = 0; closing && k < count; k++)
        length += (size_t)snprintf(body + length, sizeof body - length, "%s", closing);
    snprintf(body + length, sizeof body - length, "%s", after);
}

#define BEGIN                                                                                  \
    "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":1}],\"kinetic_energy\":\"x'^2/" \
    "2\",\"potential_energy\":\""
#define END "\",\"simulation\":{\"stop\":1}}"

static const struct {
    const char *name, *before, *piece;
    size_t part; /* the pieces fill FILL_BYTES / part bytes */
    const char *middle, *closing, *after;
} bodies[] = {
    {"nested parentheses", BEGIN, "(", 2, "x", ")", END},
    {"a long sum", BEGIN, "x+", 1, "x", NULL, END},
    {"a long sum of different terms", BEGIN, "sin(%*x)+", 1, "x", NULL, END},
    {"a long product", BEGIN, "(x+%)*", 1, "x", NULL, END},
    {"nested functions", BEGIN, "sin(", 5, "x", ")", END},
    {"a tower of powers", BEGIN, "x^", 1, "x", NULL, END},
    {"nested quotients", BEGIN, "1/(1+x*", 8, "x", ")", END},
    {"a name of a mebibyte", BEGIN, "abcdefgh", 1, "", NULL, END},
    {"a number of a mebibyte", BEGIN, "12345678", 1, "", NULL, END},
    {"many unknown keys", "{\"hamel\":1", ",\"k%\":1", 1, "", NULL, "}"},
    {"many parameters",
     "{\"hamel\":1,\"coordinates\":[\"x\"],\"kinetic_energy\":\"x'^2\",\"simulation\":{\"stop\":1},\"parameters\":{"
     "\"p\":1",
     ",\"p%\":1", 1, "", NULL, "}}"},
    {"many coordinates", "{\"hamel\":1,\"kinetic_energy\":\"0\",\"simulation\":{\"stop\":1},\"coordinates\":[\"x\"",
     ",\"x%\"", 1, "", NULL, "]}"},
    {"many definitions, each using the previous one",
     "{\"hamel\":1,\"coordinates\":[\"x\"],\"kinetic_energy\":\"x'^2\",\"simulation\":{\"stop\":1},\"definitions\":{"
     "\"d\":\"x\"",
     ",\"d%\":\"d*d+x\"", 1, "", NULL, "}}"},
    {"nested lists", "", "[", 2, "", "]", ""},
    {"a long list", "[0", ",0", 1, "", NULL, "]"},
    {"escapes", BEGIN, "\\u0061", 1, "", NULL, END},
};

static void costly_bodies_are_answered_within_bounds(void **state) {
    (void)state;
    daemon_start(&d, (const char *const[]){"--workers", "1", "--time-limit", "1", NULL});
    free(ask(&d, "GET", "/healthz", NULL, NULL).body);
    size_t before = daemon_resident_bytes(&d);
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        fill(bodies[k].before, bodies[k].piece, FILL_BYTES / bodies[k].part, bodies[k].middle, bodies[k].closing,
             bodies[k].after);
        double cpu = daemon_cpu_seconds(&d);
        answer a = ask(&d, "POST", "/v1/simulations", json_type, body);
        cpu = daemon_cpu_seconds(&d) - cpu;
        double more = (double)daemon_resident_bytes(&d) - (double)before;
        print_message("%s: %ld, %.2f s of CPU, %.0f MiB more; %.90s\n", bodies[k].name, a.status, cpu, more / 1048576,
                      a.status == 200 ? "" : a.body);
        /* 503 if the machine is busy and the wall-time limit expires before the CPU-time limit */
        assert_true(a.status == 200 || a.status == 400 || a.status == 413 || a.status == 422 || a.status == 503);
        answer_clear(&a);
        assert_true(cpu < SECONDS_MOST * slowness());
        if (slowness() <= 1) assert_true(more < BYTES_MOST);
        answer next = ask(&d, "GET", "/healthz", NULL, NULL);
        assert_int_equal(next.status, 200);
        answer_clear(&next);
    }
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

/* ---- lists of jobs with large summaries ------------------------------------------------------------------------- */

/* Each redundant constraint has an entry in three lists of the summary. With 10,000 constraints, a body of 300 bytes
 * gives a summary of 0.77 MB. */
static cJSON *submit_redundant(int constraints, int jobs) {
    snprintf(body, sizeof body,
             "{\"hamel\":1,\"parameters\":{\"k\":1},\"coordinates\":[\"x\",\"y\"],\"kinetic_energy\":\"x'^2+y'^2\","
             "\"constraints\":[{\"name\":\"c[i]\",\"for\":\"i=1..%d\",\"equation\":\"x = y\"}],"
             "\"simulation\":{\"stop\":1e-3,\"samples\":2},"
             "\"sweep\":{\"over\":{\"k\":{\"from\":1,\"to\":2,\"count\":%d}}}}",
             constraints, jobs);
    return ask_json(&d, "POST", "/v1/batches", json_type, body, 201);
}

static void wait_for_batch(const char *id) {
    char path[80];
    snprintf(path, sizeof path, "/v1/batches/%s", id);
    for (bool ended = false; !ended; sleep_seconds(0.1)) {
        cJSON *batch = ask_json(&d, "GET", path, NULL, NULL, 200);
        ended = strcmp(json_text_of(batch, "status"), "ended") == 0;
        cJSON_Delete(batch);
    }
}

static void lists_of_jobs_with_large_summaries_are_small(void **state) {
    (void)state;
    enum { LISTS = 14, JOB_BYTES = 1000 };
    int jobs = long_tests() ? 250 : 8, sockets[LISTS], small = 4096;
    static const char question[] = "GET /v1/jobs?limit=500 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    daemon_start(&d, (const char *const[]){"--cache", "0", NULL});
    cJSON *made = submit_redundant(long_tests() ? 10000 : 2000, jobs);
    wait_for_batch(json_text_of(made, "id"));
    size_t before = daemon_resident_bytes(&d);
    answer a = ask(&d, "GET", "/v1/jobs?limit=500", NULL, NULL);
    assert_int_equal(a.status, 200);
    print_message("a list of %d jobs: %zu bytes\n", jobs, a.length);
    assert_true(a.length < (size_t)jobs * JOB_BYTES);
    answer_clear(&a);
    for (int k = 0; k < LISTS; k++) { /* requests whose responses are not read */
        sockets[k] = connect_to(&d);
        setsockopt(sockets[k], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        assert_int_equal(write(sockets[k], question, sizeof question - 1), sizeof question - 1);
    }
    sleep_seconds(1);
    double more = (double)daemon_resident_bytes(&d) - (double)before;
    print_message("%d clients that do not read their lists: %.1f MiB more memory\n", LISTS, more / 1048576);
    if (slowness() <= 1) assert_true(more < 16e6);
    for (int k = 0; k < LISTS; k++) close(sockets[k]);
    cJSON_Delete(made);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

int main(void) {
    setenv("HAMEL_TEST_EXCHANGES", "", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costly_bodies_are_answered_within_bounds),
        cmocka_unit_test(lists_of_jobs_with_large_summaries_are_small),
    };
    return cmocka_run_group_tests_name("adversaries", tests, NULL, NULL);
}
