/* test_faults.c — a daemon on a machine with faults. The disk is full, the directory is read-only, the store is missing
 * or in use, descriptors or memory run out, or the daemon is terminated. The daemon must report each fault, keep all
 * accepted data, and work normally after the cause is removed. */
#include "tests/http/daemon.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SYSTEM_BYTES = 512, PATH_BYTES = 200 };
static test_daemon d;

/* ---- the disk --------------------------------------------------------------------------------------------------- */

/* Simulates a full disk by a limit on the size of files; writes beyond the limit fail. */
static void start_with_small_files(rlim_t bytes, struct rlimit *before) {
    struct rlimit small;
    getrlimit(RLIMIT_FSIZE, before);
    small = (struct rlimit){.rlim_cur = bytes, .rlim_max = before->rlim_max};
    signal(SIGXFSZ, SIG_IGN); /* the daemon also ignores the signal, so its write fails instead */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    /* --min-free 0: no reserved disk space, so that only the limit acts */
    daemon_start(&d, (const char *const[]){"--workers", "1", "--min-free", "0", NULL});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, before), 0);
}

static void a_full_disk_rejects_jobs_and_loses_none(void **state) {
    (void)state;
    struct rlimit before;
    char system[SYSTEM_BYTES], padded[20000], path[PATH_BYTES], (*ids)[40] = calloc(2000, sizeof *ids);
    size_t accepted = 0, refused = 0;
    assert_non_null(ids);
    start_with_small_files(1024 * 1024, &before);
    char *running = submit(&d, oscillator(system, sizeof system, "busy", 1e9, 2)); /* occupies the only worker */
    snprintf(padded, sizeof padded, "%15000s%s", "", oscillator(system, sizeof system, "disk", 10, 11));
    while (accepted < 2000 && refused < 3) {
        answer a = ask(&d, "POST", "/v1/jobs", json_type, padded);
        const char *id = strstr(a.body, "\"id\":\"");
        assert_true(a.status == 201 || a.status == 503);
        if (a.status == 201) snprintf(ids[accepted++], sizeof ids[0], "%.32s", id + 6);
        if (a.status == 503 && !strstr(a.body, "/problems/disk-full")) print_error("%s\n", a.body);
        if (a.status == 503) assert_non_null(strstr(a.body, "/problems/disk-full"));
        refused += a.status == 503;
        answer_clear(&a);
    }
    print_message("%zu jobs accepted before the disk was full\n", accepted);
    assert_true(refused == 3 && accepted > 3);
    assert_int_equal(ask_status(&d, "GET", "/v1/jobs", NULL), 200); /* stored jobs can still be read */
    oscillator(system, sizeof system, "live", 1, 3);
    assert_int_equal(ask_status(&d, "POST", "/v1/simulations", system), 200); /* a live run needs no disk space */
    daemon_end(&d, SIGTERM);
    daemon_start_again(&d, NULL); /* without the limit on file sizes */
    snprintf(path, sizeof path, "/v1/jobs/%s", running);
    assert_int_equal(ask_status(&d, "DELETE", path, NULL), 204);
    for (size_t k = 0; k < accepted; k++) wait_for_status(&d, ids[k], "completed");
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
    free(running);
    free(ids);
}

static void a_job_whose_rows_do_not_fit_is_run_again(void **state) {
    (void)state;
    struct rlimit before;
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    start_with_small_files(400 * 1024, &before);
    char *id = submit(&d, oscillator(system, sizeof system, "wide", 1e5, 1e5));
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    wait_for_log(&d, "postponed");
    sleep_seconds(2.5); /* in seconds; the second attempt starts after 1 s and fails too */
    cJSON *job = ask_json(&d, "GET", path, NULL, NULL, 200);
    assert_true(strcmp(json_text_of(job, "status"), "queued") == 0 ||
                strcmp(json_text_of(job, "status"), "running") == 0);
    cJSON_Delete(job);
    assert_true(count_in_log(&d, "postponed") < 10);
    daemon_end(&d, SIGTERM);
    daemon_start_again(&d, NULL); /* without the limit on file sizes */
    wait_for_status(&d, id, "completed");
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
    free(id);
}

/* ---- the store -------------------------------------------------------------------------------------------------- */

static void a_directory_that_cannot_be_written_is_reported_at_the_start(void **state) {
    (void)state;
    char output[2000];
    const char *nowhere[] = {"--listen", "127.0.0.1:0", "--data", "/proc/hamel", NULL};
    const char *no_place[] = {"--listen", "127.0.0.1:0", "--store", "sqlite:/proc/self/hamel.db", NULL};
    assert_int_equal(daemon_run(nowhere, output, sizeof output), 5);
    assert_non_null(strstr(output, "/proc/hamel"));
    assert_int_equal(daemon_run(no_place, output, sizeof output), 5);
    assert_non_null(strstr(output, "/proc/self/hamel.db"));
}

static void a_file_that_is_not_a_store_is_reported_and_left_unchanged(void **state) {
    (void)state;
    static const char text[] =
        "This letter is not a database. It has more than the 100 bytes of the header of a database. "
        "It must be unchanged afterwards.";
    char path[PATH_BYTES], store[PATH_BYTES + 10], output[2000], again[sizeof text] = "";
    char folder[] = P_tmpdir "/hamel-fault-XXXXXX";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/letter", folder);
    snprintf(store, sizeof store, "sqlite:%s", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    const char *arguments[] = {"--listen", "127.0.0.1:0", "--data", folder, "--store", store, NULL};
    assert_int_equal(daemon_run(arguments, output, sizeof output), 5);
    assert_non_null(strstr(output, "not a database"));
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(again, 1, sizeof again - 1, file), sizeof text - 1);
    fclose(file);
    assert_string_equal(again, text);
    static const char *const ends[] = {"", ".lock", ".crash", ".reserve", "-wal", "-shm"};
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        char name[PATH_BYTES + 10];
        snprintf(name, sizeof name, "%s%s", path, ends[k]);
        unlink(name);
    }
    rmdir(folder);
}

static void a_store_in_use_is_reported_and_the_first_daemon_continues(void **state) {
    (void)state;
    char output[2000];
    daemon_start(&d, NULL);
    const char *second[] = {"--listen", "127.0.0.1:0", "--data", d.data, NULL};
    assert_int_equal(daemon_run(second, output, sizeof output), 5);
    assert_non_null(strstr(output, "another daemon"));
    assert_int_equal(ask_status(&d, "GET", "/readyz", NULL), 200);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

/* ---- descriptors and memory ------------------------------------------------------------------------------------- */

static void without_descriptors_others_wait_and_are_served_afterwards(void **state) {
    (void)state;
    enum { SOCKETS = 60 };
    int held[SOCKETS];
    char system[SYSTEM_BYTES];
    daemon_start(&d, (const char *const[]){"--connections", "40", "--per-address", "0", NULL});
    size_t before = daemon_descriptors(&d);
    char *id = submit(&d, oscillator(system, sizeof system, "descriptors", 10, 11));
    for (size_t k = 0; k < SOCKETS; k++) held[k] = connect_to(&d);
    double until = hang_time();
    while (daemon_descriptors(&d) < before + 30 && now_seconds() < until) sleep_seconds(0.05);
    assert_true(daemon_descriptors(&d) >= before + 30); /* the daemon uses (nearly) all descriptors */
    for (size_t k = 0; k < SOCKETS; k++) close(held[k]);
    long status = 0;
    while (status != 200 && now_seconds() < until) status = ask_status(&d, "GET", "/healthz", NULL);
    assert_int_equal(status, 200);
    wait_for_status(&d, id, "completed");
    while (daemon_descriptors(&d) > before + 10 && now_seconds() < until) sleep_seconds(0.05);
    assert_true(daemon_descriptors(&d) <= before + 10);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
    free(id);
}

/* A client that uses all connections allowed for its address must not exclude clients of other addresses. */
static void an_address_has_at_most_half_of_the_connections(void **state) {
    (void)state;
    enum { SOCKETS = 120, SHARE = 40 };
    int held[SOCKETS], open = 0;
    daemon_start(&d, (const char *const[]){"--connections", "80", NULL});
    for (size_t k = 0; k < SOCKETS; k++) held[k] = connect_from(&d, "127.0.0.2");
    assert_int_equal(ask_status(&d, "GET", "/healthz", NULL),
                     200); /* the daemon accepts connections in order, so it has accepted all of `held` */
    for (size_t k = 0; k < SOCKETS; k++) {
        char byte;
        open += recv(held[k], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    }
    assert_int_equal(open, SHARE);
    assert_true(daemon_metric(&d, "hamel_rejected_total{reason=\"address\"}") >= SOCKETS - SHARE);
    for (size_t k = 0; k < SOCKETS; k++) close(held[k]);
    for (double until = hang_time(); daemon_metric(&d, "hamel_http_connections") > 2 && now_seconds() < until;)
        sleep_seconds(0.05);
    int again = connect_from(&d, "127.0.0.2"); /* closed connections no longer count toward the limit for the address */
    assert_int_equal(send(again, "GET /healthz HTTP/1.0\r\n\r\n", 25, MSG_NOSIGNAL), 25);
    char out[16] = "";
    wait_for_bytes(again);
    assert_true(recv(again, out, sizeof out - 1, 0) > 12);
    assert_int_equal(strncmp(out, "HTTP/1.", 7), 0);
    close(again);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

static void more_connections_than_the_system_allows_is_reported_at_the_start(void **state) {
    (void)state;
    struct rlimit before, few;
    char output[2000];
    getrlimit(RLIMIT_NOFILE, &before);
    few = (struct rlimit){.rlim_cur = 256, .rlim_max = 256};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { /* in a child process, because a process cannot raise its hard limit again */
        setrlimit(RLIMIT_NOFILE, &few);
        const char *arguments[] = {"--listen", "127.0.0.1:0", "--store", "memory:", NULL};
        int code = daemon_run(arguments, output, sizeof output);
        _exit(code == 5 && strstr(output, "--connections") ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The system has 60,000 coordinates, for which the daemon has too little memory. */
static void a_run_out_of_memory_ends_with_a_problem_and_others_continue(void **state) {
    (void)state;
    struct rlimit before, small;
    char system[SYSTEM_BYTES], huge[600];
    if (slowness() > 1) skip(); /* sanitizers reserve more address space than the limit below */
    getrlimit(RLIMIT_AS, &before);
    small = (struct rlimit){.rlim_cur = (rlim_t)350 << 20, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    daemon_start(&d, (const char *const[]){"--workers", "1", NULL});
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    snprintf(huge, sizeof huge,
             "{\"hamel\":1,\"parameters\":{\"N\":60000},\"coordinates\":[{\"name\":\"x[i]\",\"for\":\"i = 1..N\"}],"
             "\"kinetic_energy\":\"sum(i, 1, N, x[i]'^2)\",\"potential_energy\":\"sum(i, 2, N, (x[i]-x[i-1])^4)\","
             "\"simulation\":{\"stop\":1}}");
    for (int k = 0; k < 3; k++) {
        answer a = ask(&d, "POST", "/v1/simulations", json_type, huge);
        if (a.status != 503 && a.status != 422) print_error("%ld %.300s\n", a.status, a.body);
        assert_true(a.status == 503 || a.status == 422);
        answer_clear(&a);
        oscillator(system, sizeof system, "small", 1, 3);
        assert_int_equal(ask_status(&d, "POST", "/v1/simulations", system), 200);
    }
    char *id = submit(&d, system);
    wait_for_status(&d, id, "completed");
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
    free(id);
}

/* ---- shutdown ---------------------------------------------------------------------------------------------------- */

/* The daemon receives SIGINT during streams, jobs and batches. Each stream must end with a `problem`, and each job must
 * exist afterwards. */
static void a_shutdown_under_load_is_orderly(void **state) {
    (void)state;
    enum { STREAMS = 20, JOBS = 20 };
    char system[SYSTEM_BYTES], request[1000], path[PATH_BYTES];
    int streams[STREAMS];
    char *ids[JOBS];
    daemon_start(&d, (const char *const[]){"--workers", "2", "--grace", "60", NULL});
    for (size_t k = 0; k < JOBS; k++) ids[k] = submit(&d, oscillator(system, sizeof system, "later", 1e4, 1e4));
    endless(system, sizeof system);
    int length = snprintf(request, sizeof request,
                          "POST /v1/simulations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          strlen(system), system);
    for (size_t k = 0; k < STREAMS; k++) {
        streams[k] = connect_to(&d);
        assert_int_equal(write(streams[k], request, (size_t)length), length);
    }
    for (size_t k = 0; k < STREAMS; k++) wait_for_bytes(streams[k]);
    kill(d.pid, SIGINT); /* not SIGTERM, after which the streams may continue for most of the grace period */
    static char rest[1 << 20];
    size_t with_last_word = 0;
    for (size_t k = 0; k < STREAMS; k++) {
        char tail[1024] = "";
        ssize_t n;
        /* Read until the daemon closes the connection. The test reads the streams one after the other. A connection
         * left open would delay the reading of the next streams beyond the grace period. */
        while ((n = read(streams[k], rest, sizeof rest)) > 0) { /* keep the last bytes across reads */
            size_t kept = strlen(tail), fresh = (size_t)n < 500 ? (size_t)n : 500;
            size_t old = kept < 500 ? kept : 500;
            memmove(tail, tail + kept - old, old);
            memcpy(tail + old, rest + (size_t)n - fresh, fresh);
            tail[old + fresh] = '\0';
        }
        with_last_word += strstr(tail, "shutting-down") != NULL;
        close(streams[k]);
    }
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    assert_int_equal(with_last_word, STREAMS);
    daemon_start_again(&d, NULL);
    for (size_t k = 0; k < JOBS; k++) {
        wait_for_status(&d, ids[k], "completed");
        snprintf(path, sizeof path, "/v1/jobs/%s/results", ids[k]);
        answer a = ask(&d, "GET", path, (const char *const[]){"Accept: text/csv", NULL}, NULL);
        size_t lines = 0;
        for (const char *c = a.body; *c; c++) lines += *c == '\n';
        assert_int_equal(lines, 10001); /* no line is missing or repeated */
        answer_clear(&a);
        free(ids[k]);
    }
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_rejects_jobs_and_loses_none),
        cmocka_unit_test(a_job_whose_rows_do_not_fit_is_run_again),
        cmocka_unit_test(a_directory_that_cannot_be_written_is_reported_at_the_start),
        cmocka_unit_test(a_file_that_is_not_a_store_is_reported_and_left_unchanged),
        cmocka_unit_test(a_store_in_use_is_reported_and_the_first_daemon_continues),
        cmocka_unit_test(without_descriptors_others_wait_and_are_served_afterwards),
        cmocka_unit_test(an_address_has_at_most_half_of_the_connections),
        cmocka_unit_test(more_connections_than_the_system_allows_is_reported_at_the_start),
        cmocka_unit_test(a_run_out_of_memory_ends_with_a_problem_and_others_continue),
        cmocka_unit_test(a_shutdown_under_load_is_orderly),
    };
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
