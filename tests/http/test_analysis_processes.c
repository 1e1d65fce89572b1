/* test_analysis_processes.c — the separate processes that run analyses: the end of a process affects only one
 * analysis. */
#include "tests/http/tokens.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { PROCESSES = 4, CHILDREN_MAX = 64, BODY_BYTES = 4096, LINKS = 2, COSTLY = 8, SMALL = 32 };

static test_daemon d;

/* ---- systems to analyse ---- */

static const char small[] = "{\"system\":{\"hamel\":1,\"coordinates\":[\"x\"],\"kinetic_energy\":\"x'^2/2\"}}";

/* Writes a request for Hamilton's equations of a chain of masses on rods in space. The analysis takes seconds, mostly
 * in FLINT. */
static const char *costly(char *out, size_t room) {
    char at[3][BODY_BYTES / 4] = {"", "", ""};
    size_t n = (size_t)snprintf(out, room,
                                "{\"analyses\":[\"equations\"],\"system\":{\"hamel\":1,\"simulation\":"
                                "{\"formulation\":\"hamilton\"},\"parameters\":{\"l\":1},\"coordinates\":[");
    for (int k = 0; k < LINKS; k++)
        n += (size_t)snprintf(out + n, room - n, "%s{\"name\":\"a%d\",\"initial\":0.%d},\"b%d\"", k ? "," : "", k,
                              k + 3, k);
    n += (size_t)snprintf(out + n, room - n, "],\"bodies\":[");
    for (int k = 0; k < LINKS; k++) {
        static const char *const link[] = {"%sl*sin(a%d)*cos(b%d)", "%sl*sin(a%d)*sin(b%d)", "%sl*cos(a%d)+0*b%d"};
        for (int axis = 0; axis < 3; axis++) {
            size_t length = strlen(at[axis]);
            snprintf(at[axis] + length, sizeof at[axis] - length, link[axis], k ? "+" : "", k, k);
        }
        n += (size_t)snprintf(out + n, room - n, "%s{\"name\":\"m%d\",\"mass\":1,\"position\":[\"%s\",\"%s\",\"%s\"]}",
                              k ? "," : "", k, at[0], at[1], at[2]);
    }
    n += (size_t)snprintf(out + n, room - n, "]}}");
    assert_true(n < room);
    return out;
}

/* ---- the processes ---- */

static size_t children_of(pid_t pid, pid_t children[CHILDREN_MAX]) {
    char path[64], text[4096] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    size_t count = 0, length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    char *end = text;
    for (long child; count < CHILDREN_MAX && (child = strtol(end, &end, 10)) > 0; count++)
        children[count] = (pid_t)child;
    return count;
}

static pid_t spawner_of(const test_daemon *daemon) {
    pid_t children[CHILDREN_MAX];
    return children_of(daemon->pid, children) == 1 ? children[0] : 0;
}

static size_t processes_of(const test_daemon *daemon, pid_t children[CHILDREN_MAX]) {
    pid_t spawner = spawner_of(daemon);
    return spawner > 0 ? children_of(spawner, children) : 0;
}

/* Returns the letter of the process state (proc(5)), or '\0' if the process does not exist. */
static char state_of(pid_t pid) {
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return '\0';
    (void)!fgets(line, sizeof line, file);
    fclose(file);
    const char *name_end = strrchr(line, ')');
    return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

static bool is_gone(pid_t pid) {
    char state = state_of(pid);
    return state == '\0' || state == 'Z'; /* zombies are reaped by init or by the parent of this test */
}

/* Waits for a process that has used at least 0.1 s of CPU time, and returns its id. */
static pid_t busy_process(void) {
    pid_t children[CHILDREN_MAX];
    for (double until = hang_time(); now_seconds() < until; sleep_seconds(0.005)) {
        size_t count = processes_of(&d, children);
        for (size_t k = 0; k < count; k++) {
            const test_daemon it = {.pid = children[k]};
            if (!is_gone(children[k]) && daemon_cpu_seconds(&it) >= 0.1) return children[k];
        }
    }
    fail_msg("no analysis process has used 0.1 s of CPU time");
    return 0;
}

static void wait_until_gone(pid_t pid) {
    for (double until = hang_time(); !is_gone(pid); sleep_seconds(0.005)) assert_true(now_seconds() < until);
}

/* Checks that exactly `expected` analysis processes exist and that all of them wait for work. */
static void check_complete(size_t expected) {
    pid_t children[CHILDREN_MAX];
    size_t count = 0, waiting = 0;
    for (double until = hang_time(); waiting != expected && now_seconds() < until; sleep_seconds(0.01)) {
        count = processes_of(&d, children);
        waiting = 0;
        for (size_t k = 0; k < count; k++) waiting += state_of(children[k]) == 'S';
    }
    assert_int_equal(count, expected);
    assert_int_equal(waiting, expected);
}

/* ---- requests ---- */

typedef struct errand {
    pthread_t thread;
    const char *body, *header;
    answer answer;
    atomic_bool done;
} errand;

static void *run_errand(void *context) {
    errand *e = context;
    e->answer = ask(&d, "POST", "/v1/analyses",
                    (const char *const[]){"Content-Type: application/json", e->header, NULL}, e->body);
    atomic_store(&e->done, true);
    return NULL;
}

static void begin(errand *e, const char *body, const char *header) {
    *e = (errand){.body = body, .header = header};
    assert_int_equal(pthread_create(&e->thread, NULL, run_errand, e), 0);
}

static void expect_end(errand *e, long status, const char *words) {
    pthread_join(e->thread, NULL);
    if (e->answer.status != status || !strstr(e->answer.body, words))
        print_error("%ld, expected %ld: %.300s\n", e->answer.status, status, e->answer.body);
    assert_int_equal(e->answer.status, status);
    assert_non_null(strstr(e->answer.body, words));
    answer_clear(&e->answer);
}

static void expect_answer(const char *body, long status, const char *words) {
    errand e;
    begin(&e, body, NULL);
    expect_end(&e, status, words);
}

static void start(const char *const *arguments) {
    daemon_start(&d, arguments);
}

static void end(void) {
    pid_t spawner = spawner_of(&d), children[CHILDREN_MAX];
    size_t count = processes_of(&d, children);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
    assert_true(spawner == 0 || is_gone(spawner));
    for (size_t k = 0; k < count; k++) assert_true(is_gone(children[k]));
}

/* ---- tests ---- */

static void a_killed_process_ends_one_analysis(void **state) {
    (void)state;
    char body[BODY_BYTES];
    errand e;
    start((const char *const[]){"--workers", "2", NULL});
    check_complete(PROCESSES);
    begin(&e, costly(body, sizeof body), NULL);
    kill(busy_process(), SIGKILL);
    expect_end(&e, 500, "/problems/crashed");
    assert_int_equal(count_in_log(&d, "\"signal\":9"), 1);
    expect_answer(small, 200, "degrees_of_freedom");
    check_complete(PROCESSES);
    end();
}

static void an_idle_process_that_is_killed_is_replaced(void **state) {
    (void)state;
    pid_t children[CHILDREN_MAX];
    start((const char *const[]){"--workers", "1", NULL});
    check_complete(2);
    size_t count = processes_of(&d, children);
    for (size_t k = 0; k < count; k++) kill(children[k], SIGKILL);
    for (size_t k = 0; k < count; k++) wait_until_gone(children[k]);
    for (int k = 0; k < 2 * PROCESSES; k++) expect_answer(small, 200, "degrees_of_freedom");
    end();
}

static void too_little_memory_ends_one_analysis(void **state) {
    (void)state;
    char body[BODY_BYTES];
    if (slowness() > 1) skip(); /* sanitizers do not support the limit (analysis_process.h) */
    start((const char *const[]){"--workers", "2", "--analysis-memory", "1500000", NULL});
    for (int k = 0; k < PROCESSES; k++) {
        expect_answer(costly(body, sizeof body), 422, "/problems/limit-exceeded");
        expect_answer(small, 200, "degrees_of_freedom");
    }
    assert_int_equal(count_in_log(&d, "crashed"), 0);
    check_complete(PROCESSES);
    end();
}

/* A stopped process (SIGSTOP) neither replies nor polls, like a process that is busy in a library. */
static void the_time_limit_ends_a_stuck_process(void **state) {
    (void)state;
    char body[BODY_BYTES];
    errand e;
    start((const char *const[]){"--workers", "1", "--time-limit", "2", NULL});
    begin(&e, costly(body, sizeof body), NULL);
    pid_t stuck = busy_process();
    kill(stuck, SIGSTOP);
    expect_end(&e, 503, "/problems/budget");
    assert_true(is_gone(stuck));
    expect_answer(small, 200, "degrees_of_freedom");
    check_complete(2);
    end();
}

static void a_disconnected_client_ends_its_process(void **state) {
    (void)state;
    char body[BODY_BYTES], head[256];
    start((const char *const[]){"--workers", "1", NULL});
    costly(body, sizeof body);
    snprintf(head, sizeof head,
             "POST /v1/analyses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
             "%zu\r\n\r\n",
             strlen(body));
    int s = connect_to(&d);
    assert_true(send(s, head, strlen(head), MSG_NOSIGNAL) > 0);
    assert_true(send(s, body, strlen(body), MSG_NOSIGNAL) > 0);
    pid_t busy = busy_process();
    kill(busy, SIGSTOP); /* a stopped process cannot detect the disconnection */
    close(s);
    wait_until_gone(busy);
    check_complete(2);
    end();
}

static void memory_and_descriptors_are_released(void **state) {
    (void)state;
    char body[BODY_BYTES];
    pid_t children[CHILDREN_MAX];
    errand errands[COSTLY];
    start((const char *const[]){"--workers", "2", NULL});
    expect_answer(small, 200, "degrees_of_freedom");
    size_t before = daemon_resident_bytes(&d), files = daemon_descriptors(&d);
    costly(body, sizeof body);
    for (size_t k = 0; k < COSTLY; k++) begin(&errands[k], body, NULL);
    for (size_t k = 0; k < COSTLY; k++) expect_end(&errands[k], 200, "# system: hamilton");
    size_t after = daemon_resident_bytes(&d);
    print_message("the daemon uses %zu kB before the analyses and %zu kB after them\n", before / 1024, after / 1024);
    if (slowness() <= 1) assert_true(after < before + 4 * 1024 * 1024);
    for (double until = hang_time(); daemon_descriptors(&d) > files; sleep_seconds(0.01))
        assert_true(now_seconds() < until);
    check_complete(PROCESSES);
    size_t count = processes_of(&d, children);
    for (size_t k = 0; slowness() <= 1 && k < count; k++) {
        const test_daemon it = {.pid = children[k]};
        /* The daemon replaces a process that has grown by 32 MiB (GROWN_KIB). The other 32 MiB of the bound are for the
         * initial size of a process. */
        assert_true(daemon_resident_bytes(&it) < 64 * 1024 * 1024);
    }
    end();
}

static void many_simultaneous_analyses_are_served(void **state) {
    (void)state;
    errand errands[SMALL];
    start((const char *const[]){"--workers", "2", NULL});
    for (int round = 0; round < (long_tests() ? 100 : 5); round++) {
        for (size_t k = 0; k < SMALL; k++) begin(&errands[k], small, NULL);
        for (size_t k = 0; k < SMALL; k++) expect_end(&errands[k], 200, "degrees_of_freedom");
    }
    check_complete(PROCESSES);
    end();
}

/* The test checks the order of events, not times. Small analyses of one token must end while the costly analyses of
 * another token are still running. */
static void another_token_is_served_meanwhile(void **state) {
    (void)state;
    static char token_file[] = TOKEN_FILE_NAME;
    char body[BODY_BYTES], system[BODY_BYTES];
    errand errands[COSTLY];
    const test_token many = token_make("many", "\"read\",\"run\"", "{}"),
                     one = token_make("one", "\"read\",\"run\"", "{}");
    token_file_make(token_file);
    token_file_write(token_file, (const test_token[]){many, one}, 2);
    start((const char *const[]){"--workers", "1", "--tokens", token_file, "--grace", "1", NULL});
    costly(body, sizeof body);
    for (size_t k = 0; k < COSTLY; k++) begin(&errands[k], body, many.header);
    busy_process();
    for (int k = 0; k < 5; k++) {
        assert_int_equal(status_with(&d, &one, "POST", "/v1/analyses", small), 200);
        assert_int_equal(status_with(&d, &one, "POST", "/v1/simulations", oscillator(system, sizeof system, "o", 1, 3)),
                         200);
    }
    size_t ended = 0;
    for (size_t k = 0; k < COSTLY; k++) ended += atomic_load(&errands[k].done);
    assert_true(ended < COSTLY);
    end();
    for (size_t k = 0; k < COSTLY; k++) {
        pthread_join(errands[k].thread, NULL);
        answer_clear(&errands[k].answer);
    }
    unlink(token_file);
}

/* After SIGTERM the analysis may continue for half of --grace. Then all processes must end with the daemon. */
static void all_processes_end_with_the_daemon(void **state) {
    (void)state;
    char body[BODY_BYTES];
    pid_t children[CHILDREN_MAX];
    errand e;
    start((const char *const[]){"--workers", "2", "--grace", "1", NULL});
    begin(&e, costly(body, sizeof body), NULL);
    kill(busy_process(), SIGSTOP);
    pid_t spawner = spawner_of(&d);
    size_t count = processes_of(&d, children);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    expect_end(&e, 503, "/problems/shutting-down");
    assert_true(is_gone(spawner));
    for (size_t k = 0; k < count; k++) wait_until_gone(children[k]);
    daemon_remove(&d);
}

static void all_processes_end_when_the_daemon_is_killed(void **state) {
    (void)state;
    char body[BODY_BYTES];
    pid_t children[CHILDREN_MAX];
    errand e;
    start((const char *const[]){"--workers", "2", NULL});
    begin(&e, costly(body, sizeof body), NULL);
    busy_process();
    pid_t spawner = spawner_of(&d);
    size_t count = processes_of(&d, children);
    assert_int_equal(count, PROCESSES);
    assert_int_equal(daemon_end(&d, SIGKILL), 128 + SIGKILL);
    pthread_join(e.thread, NULL);
    answer_clear(&e.answer);
    wait_until_gone(spawner);
    for (size_t k = 0; k < count; k++) wait_until_gone(children[k]);
    daemon_remove(&d);
}

/* The daemon cannot replace the spawner process. If this process is killed, the daemon exits so that a service manager
 * can restart the daemon. */
static void the_daemon_exits_if_its_spawner_is_killed(void **state) {
    (void)state;
    enum { CANNOT_SERVE = 5 };
    start((const char *const[]){"--workers", "1", NULL});
    kill(spawner_of(&d), SIGKILL);
    wait_for_log(&d, "spawner lost");
    wait_for_log(&d, "\"event\":\"ending\"");
    assert_int_equal(daemon_end(&d, 0), CANNOT_SERVE);
    daemon_remove(&d);
}

static void no_processes_are_created_if_disabled(void **state) {
    (void)state;
    pid_t children[CHILDREN_MAX];
    start((const char *const[]){"--analysis-processes", "0", NULL});
    assert_int_equal(children_of(d.pid, children), 0);
    expect_answer(small, 200, "degrees_of_freedom");
    end();
}

static void the_answer_has_the_same_bytes_without_processes(void **state) {
    (void)state;
    char body[BODY_BYTES];
    const char *const bodies[] = {small, costly(body, sizeof body), "{\"system\": {\"hamel\": 1}}", "{\"system\": "};
    answer apart[4];
    start((const char *const[]){"--workers", "1", NULL});
    for (size_t k = 0; k < 4; k++) apart[k] = ask(&d, "POST", "/v1/analyses", json_type, bodies[k]);
    end();
    start((const char *const[]){"--analysis-processes", "0", NULL});
    for (size_t k = 0; k < 4; k++) {
        answer here = ask(&d, "POST", "/v1/analyses", json_type, bodies[k]);
        assert_int_equal(here.status, apart[k].status);
        assert_string_equal(here.body, apart[k].body);
        answer_clear(&here);
        answer_clear(&apart[k]);
    }
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_ends_one_analysis),
        cmocka_unit_test(an_idle_process_that_is_killed_is_replaced),
        cmocka_unit_test(too_little_memory_ends_one_analysis),
        cmocka_unit_test(the_time_limit_ends_a_stuck_process),
        cmocka_unit_test(a_disconnected_client_ends_its_process),
        cmocka_unit_test(memory_and_descriptors_are_released),
        cmocka_unit_test(many_simultaneous_analyses_are_served),
        cmocka_unit_test(another_token_is_served_meanwhile),
        cmocka_unit_test(all_processes_end_with_the_daemon),
        cmocka_unit_test(all_processes_end_when_the_daemon_is_killed),
        cmocka_unit_test(the_daemon_exits_if_its_spawner_is_killed),
        cmocka_unit_test(no_processes_are_created_if_disabled),
        cmocka_unit_test(the_answer_has_the_same_bytes_without_processes),
    };
    return cmocka_run_group_tests_name("analysis processes", tests, NULL, NULL);
}
