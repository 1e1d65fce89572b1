/* test_access.c — tokens: scopes, visibility and quotas, and configurations that the daemon rejects. */
#include "server/http/routes.h"
#include "tests/http/tokens.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { ANN, BOB, READER, RUNNER, ROOT, SLOW, SMALL, ROWS, HOLDERS };
static test_token owners[HOLDERS];
static test_daemon d;
static char token_file[] = TOKEN_FILE_NAME;

static int set_up(void **state) {
    (void)state;
    owners[ANN] = token_make("ann", "\"read\",\"run\"", "{}");
    owners[BOB] = token_make("bob", "\"read\",\"run\"", "{}");
    owners[READER] = token_make("reader", "\"read\"", "{}");
    owners[RUNNER] = token_make("runner", "\"run\"", "{}");
    owners[ROOT] = token_make("root", "\"admin\"", "{}");
    owners[SLOW] = token_make("slow", "\"read\"", "{\"requests_per_second\": 1}");
    owners[SMALL] = token_make("small", "\"read\",\"run\"", "{\"jobs\": 2, \"streams\": 1, \"stored_bytes\": 4000}");
    owners[ROWS] = token_make("rows", "\"read\",\"run\"", "{\"stored_bytes\": 400000}");
    token_file_make(token_file);
    token_file_write(token_file, owners, HOLDERS);
    daemon_start(&d, (const char *const[]){"--tokens", token_file, NULL});
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    int code = daemon_end(&d, SIGTERM);
    daemon_remove(&d);
    unlink(token_file);
    return code;
}

static answer ask_as(int owner, const char *method, const char *path, const char *body) {
    return ask_with(&d, &owners[owner], method, path, body);
}

static long status_as(int owner, const char *method, const char *path, const char *body) {
    return status_with(&d, &owners[owner], method, path, body);
}

static char *submit_as(int owner, const char *system) {
    answer a = ask_as(owner, "POST", "/v1/jobs", system);
    if (a.status != 201) print_error("%s\n", a.body);
    assert_int_equal(a.status, 201);
    cJSON *made = answer_json(&a);
    char *id = strdup(json_text_of(made, "id"));
    cJSON_Delete(made);
    answer_clear(&a);
    return id;
}

static void without_a_token_only_public_routes_are_served(void **state) {
    (void)state;
    static const char *const open[] = {"/", "/openapi.json", "/healthz", "/readyz", "/v1/examples"};
    char challenge[128];
    for (size_t k = 0; k < 5; k++) {
        answer a = ask(&d, "GET", open[k], NULL, NULL);
        assert_int_equal(a.status, 200);
        answer_clear(&a);
    }
    answer a = ask(&d, "GET", "/v1/jobs", NULL, NULL);
    assert_int_equal(a.status, 401);
    assert_true(answer_header(&a, "WWW-Authenticate", challenge, sizeof challenge));
    assert_string_equal(challenge, "Bearer realm=\"hamel\"");
    answer_clear(&a);
    cJSON_Delete(ask_json(&d, "POST", "/v1/simulations", json_type, "{}", 401));
}

static void a_wrong_token_is_401_and_too_many_are_429(void **state) {
    (void)state;
    char challenge[128], retry[16];
    int refused = 0;
    for (int k = 0; k < 40; k++) {
        answer a = ask(&d, "GET", "/v1/jobs", (const char *const[]){"Authorization: Bearer hamel_guess", NULL}, NULL);
        assert_true(a.status == 401 || a.status == 429);
        refused += a.status == 429;
        if (a.status == 401) {
            assert_true(answer_header(&a, "WWW-Authenticate", challenge, sizeof challenge));
            assert_non_null(strstr(challenge, "invalid_token"));
        } else {
            assert_true(answer_header(&a, "Retry-After", retry, sizeof retry));
        }
        answer_clear(&a);
    }
    assert_true(refused >= 10);
    assert_int_equal(status_as(ANN, "GET", "/v1/jobs", NULL),
                     200); /* the limit on wrong tokens does not affect valid tokens */
}

static long status_for_host(const test_daemon *server, const char *host) {
    char header[200];
    snprintf(header, sizeof header, "Host: %s", host);
    answer a = ask(server, "GET", "/v1/jobs", (const char *const[]){header, owners[ANN].header, NULL}, NULL);
    long status = a.status;
    if (status == 421) assert_non_null(strstr(a.body, "/problems/misdirected"));
    answer_clear(&a);
    return status;
}

/* A web page may resolve its own host name to this machine (DNS rebinding). Browsers then treat requests from the page
 * as same-origin. If the daemon requires tokens, the page is harmless, because it has no token. */
static void without_tokens_requests_must_name_this_machine(void **state) {
    (void)state;
    static const char *const local[] = {"localhost",    "LocalHost:8080", "127.0.0.1",
                                        "127.1.2.3:80", "[::1]",          "[::1]:8080"};
    static const char *const foreign[] = {
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "0x7f.1",
        "[2001:db8::1]",
        "localhost:80:",
        "localhost:x",
        "[::1",
        "[]",
    };
    test_daemon open, named, with_tokens;
    daemon_start(&open, NULL);
    daemon_start(&named, (const char *const[]){"--hosts", "hamel.example.org,[2001:db8::1]", NULL});
    daemon_start(&with_tokens, (const char *const[]){"--hosts", "hamel.example.org", "--tokens", token_file, NULL});
    for (size_t k = 0; k < sizeof local / sizeof local[0]; k++) {
        assert_int_equal(status_for_host(&open, local[k]), 200);
        assert_int_equal(status_for_host(&with_tokens, local[k]), 200);
    }
    for (size_t k = 0; k < sizeof foreign / sizeof foreign[0]; k++) {
        long status = status_for_host(&open, foreign[k]);
        if (status != 421) print_error("%s: %ld\n", foreign[k], status);
        assert_int_equal(status, 421);
    }
    assert_int_equal(status_for_host(&named, "Hamel.example.org:80"), 200);
    assert_int_equal(status_for_host(&named, "[2001:db8::1]:80"), 200);
    assert_int_equal(status_for_host(&named, "example.org"), 421);
    assert_int_equal(status_for_host(&with_tokens, "evil.example"), 421);
    /* the daemon requires tokens, so any host name is allowed */
    assert_int_equal(status_for_host(&d, "evil.example"), 200);
    test_daemon *all[] = {&open, &named, &with_tokens};
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(daemon_end(all[k], SIGTERM), 0);
        daemon_remove(all[k]);
    }
}

/* Returns the scope that a route with this path and method must require. */
static unsigned scope_expected(const route *row) {
    if (strcmp(row->path, "/metrics") == 0) return SCOPE_ADMIN;
    if (strncmp(row->path, "/v1/", 4) != 0 || strncmp(row->path, "/v1/examples", 12) == 0) return 0;
    return row->method == METHOD_GET ? SCOPE_READ : SCOPE_RUN;
}

static const char *method_of(const route *row) {
    return row->method == METHOD_GET ? "GET" : row->method == METHOD_POST ? "POST" : "DELETE";
}

/* Requests each route with each kind of token and without a token. The checks for the statuses 401 and 403 must precede
 * all other checks. */
static void every_route_requires_its_scope(void **state) {
    (void)state;
    static const struct {
        int owner;
        unsigned may;
    } kinds[] = {{READER, SCOPE_READ}, {RUNNER, SCOPE_RUN}, {ROOT, SCOPE_READ | SCOPE_RUN | SCOPE_ADMIN}};
    const route *row;
    char path[128];
    for (size_t k = 0; (row = route_at(k)); k++) {
        unsigned needed = scope_expected(row);
        const char *place = strstr(row->path, "{}"), *body = row->takes_json ? "{}" : NULL;
        snprintf(path, sizeof path, "%.*s%s%s", (int)(place ? place - row->path : (long)strlen(row->path)), row->path,
                 place ? "00000000000000000000000000000000" : "", place ? place + 2 : "");
        answer a = ask(&d, method_of(row), path, json_type, body);
        assert_int_equal(a.status == 401, needed != 0);
        answer_clear(&a);
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            long status = status_as(kinds[i].owner, method_of(row), path, body);
            if ((status == 403) != (needed != 0 && !(needed & kinds[i].may)))
                print_error("%s %s: %ld\n", method_of(row), path, status);
            assert_int_equal(status == 403, needed != 0 && !(needed & kinds[i].may));
            assert_int_not_equal(status, 401);
        }
    }
}

static void scopes_decide_what_a_token_may_do(void **state) {
    (void)state;
    char system[512];
    oscillator(system, sizeof system, "scoped", 1, 3);
    assert_int_equal(status_as(READER, "GET", "/v1/jobs", NULL), 200);
    assert_int_equal(status_as(READER, "POST", "/v1/simulations", system), 403);
    assert_int_equal(status_as(READER, "POST", "/v1/jobs", system), 403);
    assert_int_equal(status_as(RUNNER, "POST", "/v1/simulations", system), 200);
    assert_int_equal(status_as(RUNNER, "GET", "/v1/jobs", NULL), 403);
    assert_int_equal(status_as(ANN, "GET", "/metrics", NULL), 403);
    assert_int_equal(status_as(ROOT, "GET", "/metrics", NULL), 200);
    assert_int_equal(status_as(ROOT, "POST", "/v1/simulations", system), 200);
}

/* ---- jobs of other owners ---- */

/* A route for a single job, requested by its owner, by another owner, and by an administrator. */
typedef struct way {
    const char *method, *rest;
    long own; /* expected status if the owner sends the request */
} way;

/* Replaces each occurrence of `id` in the text by zeros. */
static void mask(char *text, const char *id) {
    for (char *at = text; (at = strstr(at, id));) memset(at, '0', strlen(id));
}

/* Checks that other owners get the same reply for an existing job as for a missing job. */
static void check_way(const way *w, const char *kind, const char *id, int looker) {
    char path[128], absent[128];
    snprintf(path, sizeof path, "/v1/%s/%s%s", kind, id, w->rest);
    snprintf(absent, sizeof absent, "/v1/%s/%032d%s", kind, 0, w->rest);
    answer foreign = ask_as(BOB, w->method, path, NULL), none = ask_as(BOB, w->method, absent, NULL);
    assert_int_equal(foreign.status, 404);
    assert_int_equal(none.status, 404);
    mask(foreign.body, id);
    assert_string_equal(foreign.body, none.body);
    answer_clear(&foreign);
    answer_clear(&none);
    assert_int_equal(status_as(looker, w->method, path, NULL), w->own);
}

/* Submits a job or a batch and waits for its end. */
static char *submit_to(const char *kind, const char *body) {
    const char *headers[] = {"Content-Type: application/json", "Prefer: wait=60", owners[ANN].header, NULL};
    char path[32];
    snprintf(path, sizeof path, "/v1/%s", kind);
    cJSON *made = ask_json(&d, "POST", path, headers, body, 201);
    char *id = strdup(json_text_of(made, "id"));
    cJSON_Delete(made);
    return id;
}

static void jobs_of_others_look_like_jobs_that_do_not_exist(void **state) {
    (void)state;
    static const way ways[] = {{"GET", "", 200},        {"GET", "/system", 200},  {"GET", "/results", 200},
                               {"GET", "/events", 200}, {"POST", "/cancel", 202}, {"DELETE", "", 204}};
    char system[512];
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        for (int looker = ANN; looker <= ROOT; looker += ROOT - ANN) {
            char *id = submit_to("jobs", oscillator(system, sizeof system, "private", 1, 3));
            check_way(&ways[k], "jobs", id, looker);
            free(id);
        }
    }
}

static void batches_of_others_look_like_batches_that_do_not_exist(void **state) {
    (void)state;
    static const way ways[] = {
        {"GET", "", 200}, {"GET", "/results", 200}, {"POST", "/cancel", 202}, {"DELETE", "", 204}};
    char system[512], body[600], path[128];
    snprintf(body, sizeof body, "{\"systems\":[%s]}", oscillator(system, sizeof system, "private", 1, 3));
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        for (int looker = ANN; looker <= ROOT; looker += ROOT - ANN) {
            char *id = submit_to("batches", body);
            snprintf(path, sizeof path, "/v1/jobs?batch=%s", id);
            answer members = ask_as(BOB, "GET", path, NULL);
            assert_null(strstr(members.body, "private"));
            answer_clear(&members);
            check_way(&ways[k], "batches", id, looker);
            free(id);
        }
    }
}

static void owner_and_status_cannot_be_set_in_a_body(void **state) {
    (void)state;
    static const char *const keys[] = {"owner", "status", "priority", "token", "id"};
    char system[600], pointer[32];
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        snprintf(system, sizeof system,
                 "{\"%s\":\"bob\",\"hamel\":1,\"coordinates\":[\"x\"],\"kinetic_energy\":\"x'^2/2\","
                 "\"simulation\":{\"stop\":1}}",
                 keys[k]);
        answer a = ask_as(ANN, "POST", "/v1/jobs", system);
        assert_int_equal(a.status, 422);
        snprintf(pointer, sizeof pointer, "\"pointer\":\"/%s\"", keys[k]);
        assert_non_null(strstr(a.body, pointer));
        answer_clear(&a);
    }
}

static void lists_and_keys_are_separate_for_each_owner(void **state) {
    (void)state;
    char system[512], header[] = "Idempotency-Key: same";
    oscillator(system, sizeof system, "listed", 1, 3);
    char *ids[2];
    for (int k = ANN; k <= BOB; k++) {
        const char *headers[] = {"Content-Type: application/json", owners[k].header, header, NULL};
        answer a = ask(&d, "POST", "/v1/jobs", headers, system);
        assert_int_equal(a.status, 201);
        cJSON *listed = answer_json(&a);
        ids[k] = strdup(json_text_of(listed, "id"));
        cJSON_Delete(listed);
        answer_clear(&a);
    }
    assert_string_not_equal(ids[0], ids[1]);
    answer of_ann = ask_as(ANN, "GET", "/v1/jobs?name=listed", NULL);
    answer of_root = ask_as(ROOT, "GET", "/v1/jobs?name=listed", NULL);
    assert_non_null(strstr(of_ann.body, ids[0]));
    assert_null(strstr(of_ann.body, ids[1]));
    assert_true(strstr(of_root.body, ids[0]) && strstr(of_root.body, ids[1]));
    answer_clear(&of_ann);
    answer_clear(&of_root);
    free(ids[0]);
    free(ids[1]);
}

static void a_fast_client_is_rejected_with_a_time_to_retry(void **state) {
    (void)state;
    int good = 0, refused = 0;
    char retry[16];
    for (int k = 0; k < 30; k++) {
        answer a = ask_as(SLOW, "GET", "/v1/jobs", NULL);
        good += a.status == 200;
        refused += a.status == 429;
        if (a.status == 429) assert_true(answer_header(&a, "Retry-After", retry, sizeof retry));
        answer_clear(&a);
    }
    assert_int_equal(good + refused, 30);
    assert_true(good >= 10 && good <= 15);
    assert_int_equal(status_as(ANN, "GET", "/v1/jobs", NULL), 200);
}

static void quotas_limit_jobs_and_bytes(void **state) {
    (void)state;
    char system[512], path[128], large[6000];
    /* rows also count toward the quota `stored_bytes` */
    const char *quiet = oscillator(system, sizeof system, "long, few rows", 1e9, 3);
    char *first = submit_as(SMALL, quiet);
    char *second = submit_as(SMALL, quiet);
    answer a = ask_as(SMALL, "POST", "/v1/jobs", quiet);
    assert_int_equal(a.status, 429);
    assert_non_null(strstr(a.body, "/problems/quota"));
    answer_clear(&a);
    char *ids[] = {first, second};
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "/v1/jobs/%s", ids[k]);
        assert_int_equal(status_as(SMALL, "DELETE", path, NULL), 204);
        free(ids[k]);
    }
    snprintf(large, sizeof large, "%5000s%s", "", oscillator(system, sizeof system, "large", 1, 3));
    assert_int_equal(status_as(SMALL, "POST", "/v1/jobs", large), 429);
}

/* Reads the rows of a job as CSV and returns their number. Copies the problem of the job to `problem`. */
static size_t rows_of(int owner, const char *id, char *problem, size_t room) {
    char path[128];
    size_t rows = 0;
    snprintf(path, sizeof path, "/v1/jobs/%s/results", id);
    answer a = ask_as(owner, "GET", path, NULL);
    for (const char *c = a.body; (c = strstr(c, "{\"row\":")) != NULL; c++) rows++;
    const char *last = strstr(a.body, "/problems/");
    snprintf(problem, room, "%.20s", last ? last : "");
    answer_clear(&a);
    return rows;
}

static void wait_for_end(int owner, const char *id, const char *wanted) {
    char path[128], status[16] = "";
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    for (double until = hang_time(); strcmp(status, wanted) != 0 && now_seconds() < until; sleep_seconds(0.05)) {
        answer a = ask_as(owner, "GET", path, NULL);
        cJSON *found = answer_json(&a);
        snprintf(status, sizeof status, "%s", json_text_of(found, "status"));
        cJSON_Delete(found);
        answer_clear(&a);
    }
    assert_string_equal(status, wanted);
}

/* Eight runs are active at the same time. Without the quota, each run would store 2.4 MB. */
static void a_quota_of_bytes_ends_runs_and_keeps_their_rows(void **state) {
    (void)state;
    enum { JOBS = 8, ROW_BYTES = 3 * sizeof(double) };
    char system[512], path[128], problem[32], *ids[JOBS];
    size_t rows = 0;
    oscillator(system, sizeof system, "rows", 1e5, 100001);
    for (int k = 0; k < JOBS; k++) ids[k] = submit_as(ROWS, system);
    for (int k = 0; k < JOBS; k++) {
        wait_for_end(ROWS, ids[k], "incomplete");
        rows += rows_of(ROWS, ids[k], problem, sizeof problem);
        assert_string_equal(problem, "/problems/quota\",\"ti");
    }
    print_message("%zu bytes of rows are stored\n", rows * ROW_BYTES);
    assert_true(rows * ROW_BYTES > 100000 && rows * ROW_BYTES <= 400000);
    for (int k = 0; k < JOBS; k++) {
        snprintf(path, sizeof path, "/v1/jobs/%s", ids[k]);
        assert_int_equal(status_as(ROWS, "DELETE", path, NULL), 204);
        free(ids[k]);
    }
    char *id = submit_as(ROWS, oscillator(system, sizeof system, "fits", 10, 11)); /* the deletions free the quota */
    wait_for_end(ROWS, id, "completed");
    assert_int_equal(rows_of(ROWS, id, problem, sizeof problem), 11);
    free(id);
}

static void a_quota_of_streams_is_released(void **state) {
    (void)state;
    char system[600], bytes[1400];
    endless(system, sizeof system);
    int length = snprintf(bytes, sizeof bytes,
                          "POST /v1/simulations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          owners[SMALL].header, strlen(system), system);
    int held = connect_to(&d);
    assert_int_equal(write(held, bytes, (size_t)length), length);
    char byte[16];
    assert_true(read(held, byte, sizeof byte) > 0); /* the stream has started */
    oscillator(system, sizeof system, "second", 1, 3);
    assert_int_equal(status_as(SMALL, "POST", "/v1/simulations", system), 429);
    close(held);
    long status = 429;
    for (double until = hang_time(); status == 429 && now_seconds() < until;) {
        sleep_seconds(0.1);
        status = status_as(SMALL, "POST", "/v1/simulations", system);
    }
    assert_int_equal(status, 200);
}

static void tokens_are_never_logged(void **state) {
    (void)state;
    assert_true(count_in_log(&d, "\"token\":\"ann\"") > 0);
    assert_int_equal(count_in_log(&d, "hamel_"), 0);
}

static void write_tokens(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void an_invalid_token_file_is_rejected_with_the_position(void **state) {
    (void)state;
    static const char hash[] = "\"sha256\": \"0000000000000000000000000000000000000000000000000000000000000000\"";
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"{", ":1:2"},
        {"{}", "tokens"},
        {"{\"tokens\": []}", "1 to 10000"},
        {"{\"tokens\": [{\"name\": \"a\", \"scopes\": [\"read\"]}]}", "sha256"},
        {"{\"tokens\": [{\"name\": \"a\", \"sha256\": \"abc\", \"scopes\": [\"read\"]}]}", "/tokens/0/sha256"},
        {"{\"tokens\": [{\"name\": \"a\", %s, \"scopes\": [\"write\"]}]}", "/tokens/0/scopes/0"},
        {"{\"tokens\": [{\"name\": \"a\", %s, \"scopes\": [\"read\"], \"quotas\": {\"runs\": 1}}]}", "runs"},
        {"{\"tokens\": [{\"name\": \"a\", %s, \"scopes\": [\"read\"]}, {\"name\": \"a\", %s, \"scopes\": [\"run\"]}]}",
         "/tokens/1/name"},
        {"{\"tokens\": [{\"name\": \"a\", %s, \"scopes\": [\"read\"]}, {\"name\": \"b\", %s, \"scopes\": [\"run\"]}]}",
         "/tokens/1/sha256: another token has this hash"},
    };
    char path[] = TOKEN_FILE_NAME, text[1000], output[2000];
    token_file_make(path);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        snprintf(text, sizeof text, bad[k].text, hash, hash);
        write_tokens(path, text);
        assert_int_equal(daemon_run((const char *const[]){"--tokens", path, NULL}, output, sizeof output), 2);
        if (!strstr(output, bad[k].said)) print_error("%s: %s\n", text, output);
        assert_non_null(strstr(output, bad[k].said));
    }
    unlink(path);
}

static void the_program_creates_tokens(void **state) {
    (void)state;
    char output[2000];
    assert_int_equal(daemon_run((const char *const[]){"--new-token", "carl \"c\"", NULL}, output, sizeof output), 0);
    assert_int_equal(strncmp(output, "hamel_", 6), 0);
    assert_int_equal(strcspn(output, "\n"), 6 + 64);
    const char *entry = strchr(output, '{');
    assert_non_null(entry);
    cJSON *tree = cJSON_Parse(entry);
    assert_string_equal(json_text_of(tree, "name"), "carl \"c\"");
    assert_int_equal(strlen(json_text_of(tree, "sha256")), 64);
    cJSON_Delete(tree);
}

/* ---- changes of the token file ---- */

/* ann gets another token and fewer scopes, bob is removed, and carl is added. Then the file becomes invalid. */
static void tokens_are_read_again_on_sighup(void **state) {
    (void)state;
    test_daemon own;
    char path[] = TOKEN_FILE_NAME, system[512], place[128];
    const test_token old_ann = token_make("ann", "\"read\",\"run\"", "{}"), ann = token_make("ann", "\"read\"", "{}"),
                     bob = token_make("bob", "\"read\"", "{}"), carl = token_make("carl", "\"read\"", "{}");
    token_file_make(path);
    token_file_write(path, (const test_token[]){old_ann, bob}, 2);
    daemon_start(&own, (const char *const[]){"--tokens", path, NULL});
    oscillator(system, sizeof system, "before", 1, 3);
    answer a = ask_with(&own, &old_ann, "POST", "/v1/jobs", system);
    assert_int_equal(a.status, 201);
    assert_true(answer_header(&a, "Location", place, sizeof place));
    answer_clear(&a);
    assert_int_equal(status_with(&own, &bob, "GET", "/v1/jobs", NULL), 200);

    token_file_write(path, (const test_token[]){carl, ann}, 2);
    assert_int_equal(status_with(&own, &ann, "GET", place, NULL), 401); /* the daemon has not read the file yet */
    kill(own.pid, SIGHUP);
    wait_for_log(&own, "\"owners\":2");
    assert_int_equal(status_with(&own, &ann, "GET", place, NULL), 200); /* the job belongs to the same owner */
    assert_int_equal(status_with(&own, &ann, "POST", "/v1/jobs", system), 403);
    assert_int_equal(status_with(&own, &old_ann, "GET", place, NULL), 401);
    assert_int_equal(status_with(&own, &bob, "GET", "/v1/jobs", NULL), 401);
    assert_int_equal(status_with(&own, &carl, "GET", place, NULL), 404);

    write_tokens(path, "{\"tokens\": [{\"name\": \"dave\"}]}");
    kill(own.pid, SIGHUP);
    wait_for_log(&own, "/tokens/0");
    assert_int_equal(status_with(&own, &ann, "GET", place, NULL), 200);

    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    kill(own.pid, SIGHUP);
    wait_for_log(&own, "not a regular file");
    assert_int_equal(status_with(&own, &ann, "GET", place, NULL), 200);
    assert_int_equal(unlink(path), 0);
    for (int k = 0; k < 100; k++) { /* add and remove bob during requests of others */
        token_file_write(path, (const test_token[]){k % 2 ? bob : carl, ann}, 2);
        kill(own.pid, SIGHUP);
        long status = status_with(&own, &ann, "GET", place, NULL);
        assert_int_equal(status, 200);
    }
    assert_int_equal(daemon_end(&own, SIGTERM), 0);
    daemon_remove(&own);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_token_only_public_routes_are_served),
        cmocka_unit_test(a_wrong_token_is_401_and_too_many_are_429),
        cmocka_unit_test(without_tokens_requests_must_name_this_machine),
        cmocka_unit_test(every_route_requires_its_scope),
        cmocka_unit_test(scopes_decide_what_a_token_may_do),
        cmocka_unit_test(jobs_of_others_look_like_jobs_that_do_not_exist),
        cmocka_unit_test(batches_of_others_look_like_batches_that_do_not_exist),
        cmocka_unit_test(owner_and_status_cannot_be_set_in_a_body),
        cmocka_unit_test(lists_and_keys_are_separate_for_each_owner),
        cmocka_unit_test(a_fast_client_is_rejected_with_a_time_to_retry),
        cmocka_unit_test(quotas_limit_jobs_and_bytes),
        cmocka_unit_test(a_quota_of_bytes_ends_runs_and_keeps_their_rows),
        cmocka_unit_test(a_quota_of_streams_is_released),
        cmocka_unit_test(tokens_are_never_logged),
        cmocka_unit_test(an_invalid_token_file_is_rejected_with_the_position),
        cmocka_unit_test(the_program_creates_tokens),
        cmocka_unit_test(tokens_are_read_again_on_sighup),
    };
    return cmocka_run_group_tests_name("access", tests, set_up, tear_down);
}
