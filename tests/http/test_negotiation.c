/* test_negotiation.c — replies that depend on request headers: compression, validators, cross-origin requests. */
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

static test_daemon d;

/* Returns the uncompressed body, NUL-terminated. If the body is cut off, returns the part before the cut. */
static char *inflated(const answer *a, size_t *length) {
    enum { ROOM = 4 << 20 };
    char *out = malloc(ROOM);
    z_stream z = {.next_in = (Bytef *)a->body, .avail_in = (uInt)a->length, .next_out = (Bytef *)out};
    assert_non_null(out);
    z.avail_out = ROOM - 1;
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    int rc = inflate(&z, Z_FINISH);
    assert_true(rc == Z_STREAM_END || rc == Z_BUF_ERROR);
    *length = ROOM - 1 - z.avail_out;
    out[*length] = '\0';
    inflateEnd(&z);
    return out;
}

static bool has(const answer *a, const char *name, const char *value) {
    char text[256];
    return answer_header(a, name, text, sizeof text) && strcmp(text, value) == 0;
}

static void a_client_that_accepts_gzip_gets_the_same_bytes(void **state) {
    (void)state;
    char system[512];
    static const char *const accepts[] = {"text/csv", "application/json", "text/event-stream"};
    oscillator(system, sizeof system, "coded", 100, 2001);
    for (size_t i = 0; i < 3; i++) {
        char accept[64];
        snprintf(accept, sizeof accept, "Accept: %s", accepts[i]);
        const char *plain_headers[] = {"Content-Type: application/json", accept, NULL};
        const char *headers[] = {"Content-Type: application/json", accept, "Accept-Encoding: br, gzip;q=0.5", NULL};
        answer plain = ask(&d, "POST", "/v1/simulations", plain_headers, system);
        answer coded = ask(&d, "POST", "/v1/simulations", headers, system);
        assert_int_equal(coded.status, 200);
        assert_true(has(&coded, "Content-Encoding", "gzip"));
        assert_false(has(&plain, "Content-Encoding", "gzip"));
        assert_true(coded.length * 2 < plain.length);
        size_t length;
        char *text = inflated(&coded, &length);
        /* The summary at the end contains the duration of the run, so the end is not compared. */
        size_t same = i == 0 ? plain.length : plain.length / 2;
        assert_memory_equal(text, plain.body, same);
        if (i == 0) assert_int_equal(length, plain.length);
        free(text);
        answer_clear(&plain);
        answer_clear(&coded);
    }
}

static void complete_answers_are_compressed_unless_the_client_forbids_it(void **state) {
    (void)state;
    answer plain = ask(&d, "GET", "/openapi.json", (const char *const[]){"Accept-Encoding: gzip;q=0", NULL}, NULL);
    answer coded = ask(&d, "GET", "/openapi.json", (const char *const[]){"Accept-Encoding: *", NULL}, NULL);
    assert_false(has(&plain, "Content-Encoding", "gzip"));
    assert_true(has(&coded, "Content-Encoding", "gzip"));
    assert_true(has(&coded, "Vary", "Accept, Accept-Encoding"));
    size_t length;
    char *text = inflated(&coded, &length);
    assert_int_equal(length, plain.length);
    assert_memory_equal(text, plain.body, length);
    free(text);
    answer_clear(&plain);
    answer_clear(&coded);
}

static void a_compressed_stream_is_not_delayed(void **state) {
    (void)state;
    char system[600], request[1200], out[4096];
    endless(system, sizeof system);
    snprintf(request, sizeof request,
             "POST /v1/simulations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept-Encoding: "
             "gzip\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             strlen(system), system);
    bool closed;
    exchange(&d, request, strlen(request), NULL, out, sizeof out, &closed);
    assert_false(closed); /* the daemon has sent these bytes although the run continues */
}

static void unchanged_content_is_304(void **state) {
    (void)state;
    static const char *const paths[] = {"/openapi.json", "/v1/examples", "/v1/jobs"};
    for (size_t i = 0; i < 3; i++) {
        char etag[96], header[128], vary[64], length[32], of_304[64];
        answer a = ask(&d, "GET", paths[i], (const char *const[]){"Accept-Encoding: gzip", NULL}, NULL);
        assert_int_equal(a.status, 200);
        assert_true(answer_header(&a, "ETag", etag, sizeof etag));
        assert_true(answer_header(&a, "Vary", vary, sizeof vary));
        assert_true(answer_header(&a, "Content-Length", length, sizeof length));
        answer_clear(&a);
        snprintf(header, sizeof header, "If-None-Match: %s", etag);
        a = ask(&d, "GET", paths[i], (const char *const[]){"Accept-Encoding: gzip", header, NULL}, NULL);
        assert_int_equal(a.status, 304);
        assert_int_equal(a.length, 0);
        /* Headers that describe the body must equal the headers of the 200 response (RFC 9110 8.6 and 15.4.5). */
        assert_true(answer_header(&a, "ETag", of_304, sizeof of_304));
        assert_string_equal(of_304, etag);
        assert_true(answer_header(&a, "Vary", of_304, sizeof of_304));
        assert_string_equal(of_304, vary);
        assert_true(answer_header(&a, "Content-Length", of_304, sizeof of_304));
        assert_string_equal(of_304, length);
        answer_clear(&a);
    }
}

static void results_of_an_ended_job_have_a_tag_for_each_format(void **state) {
    (void)state;
    char system[512], path[128], csv[96], json[96], header[128];
    char *id = submit(&d, oscillator(system, sizeof system, "tagged", 1, 11));
    wait_for_status(&d, id, "completed");
    snprintf(path, sizeof path, "/v1/jobs/%s/results", id);
    answer a = ask(&d, "GET", path, (const char *const[]){"Accept: text/csv", NULL}, NULL);
    assert_true(answer_header(&a, "ETag", csv, sizeof csv));
    answer_clear(&a);
    a = ask(&d, "GET", path, (const char *const[]){"Accept: application/json", NULL}, NULL);
    assert_true(answer_header(&a, "ETag", json, sizeof json));
    answer_clear(&a);
    assert_string_not_equal(csv, json);
    snprintf(header, sizeof header, "If-None-Match: %s", csv);
    a = ask(&d, "GET", path, (const char *const[]){"Accept: text/csv", header, NULL}, NULL);
    assert_int_equal(a.status, 304);
    /* the daemon does not compute the length of the 200 response */
    assert_false(answer_header(&a, "Content-Length", json, sizeof json));
    assert_false(answer_header(&a, "Transfer-Encoding", json, sizeof json));
    answer_clear(&a);
    a = ask(&d, "GET", path, (const char *const[]){"Accept: application/json", header, NULL}, NULL);
    assert_int_equal(a.status, 200);
    answer_clear(&a);
    free(id);
}

static void only_listed_origins_may_call(void **state) {
    (void)state;
    char value[256];
    answer a = ask(&d, "GET", "/healthz", (const char *const[]){"Origin: https://a.example", NULL}, NULL);
    assert_true(has(&a, "Access-Control-Allow-Origin", "https://a.example"));
    answer_clear(&a);
    a = ask(&d, "GET", "/healthz", (const char *const[]){"Origin: https://a.example.org", NULL}, NULL);
    assert_false(answer_header(&a, "Access-Control-Allow-Origin", value, sizeof value));
    answer_clear(&a);
    const char *preflight[] = {"Origin: http://b.example:8000", "Access-Control-Request-Method: POST",
                               "Access-Control-Request-Headers: content-type", NULL};
    a = ask(&d, "OPTIONS", "/v1/jobs", preflight, NULL);
    assert_int_equal(a.status, 204);
    assert_true(has(&a, "Access-Control-Allow-Origin", "http://b.example:8000"));
    assert_true(answer_header(&a, "Access-Control-Allow-Methods", value, sizeof value));
    assert_non_null(strstr(value, "POST"));
    assert_true(answer_header(&a, "Access-Control-Allow-Headers", value, sizeof value));
    assert_non_null(strstr(value, "Content-Type"));
    answer_clear(&a);
}

static void an_invalid_origin_is_rejected_at_the_start(void **state) {
    (void)state;
    char output[1024];
    static const char *const bad[] = {"example.org", "https://", "https://a.example/path", "ftp://a.example"};
    for (size_t i = 0; i < 4; i++) {
        const char *arguments[] = {"--cors", bad[i], NULL};
        assert_int_equal(daemon_run(arguments, output, sizeof output), 2);
        assert_non_null(strstr(output, "--cors"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_that_accepts_gzip_gets_the_same_bytes),
        cmocka_unit_test(complete_answers_are_compressed_unless_the_client_forbids_it),
        cmocka_unit_test(a_compressed_stream_is_not_delayed),
        cmocka_unit_test(unchanged_content_is_304),
        cmocka_unit_test(results_of_an_ended_job_have_a_tag_for_each_format),
        cmocka_unit_test(only_listed_origins_may_call),
        cmocka_unit_test(an_invalid_origin_is_rejected_at_the_start),
    };
    daemon_share(&d, (const char *const[]){"--cors", "https://a.example, http://b.example:8000", NULL});
    return cmocka_run_group_tests_name("negotiation", tests, start_shared_daemon, end_shared_daemon);
}
