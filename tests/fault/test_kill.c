/* test_kill.c — SIGKILL at random times while jobs are submitted and run. No accepted job may be lost, and every result
 * must equal that of an undisturbed run.
 *
 * Usage: test_kill [JOBS KILLS [SEED]]. The default is a short test, or 1,000 jobs and 10 kills with HAMEL_TEST_LONG.
 *
 * One thread submits jobs and records each response 201. Another thread kills the daemon and restarts it with the same
 * data. At the end all recorded jobs must complete. No other jobs may exist, except jobs whose response 201 was
 * lost. */
#include "tests/fault/store_files.h"
#include "tests/http/daemon.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { KINDS = 3, SYSTEM_BYTES = 512, PATH_BYTES = 128 };

static test_daemon d;
static pthread_rwlock_t restart = PTHREAD_RWLOCK_INITIALIZER; /* locked for writing during a restart */
static size_t jobs_wanted = 60, kills_wanted = 4;
static unsigned seed = 1;

typedef struct submitted {
    char (*ids)[40];
    size_t count, lost; /* `lost` counts requests without a response */
} submitted;

/* Most systems have short runs. One in twenty may run longer than the time between two kills. */
static const char *system_of(size_t i, char *out) {
    static const double samples[KINDS] = {11, 20001, 300001};
    double n = samples[i % 20 == 7 ? 2 : i % 2];
    return oscillator(out, SYSTEM_BYTES, "kill", n, n);
}

static void *submit_all(void *context) {
    submitted *s = context;
    char system[SYSTEM_BYTES];
    while (s->count < jobs_wanted) {
        system_of(s->count, system);
        pthread_rwlock_rdlock(&restart);
        test_daemon now = d; /* the port changes with each start */
        pthread_rwlock_unlock(&restart);
        answer a = ask(&now, "POST", "/v1/jobs", json_type, system);
        const char *id = a.status == 201 ? strstr(a.body, "\"id\":\"") : NULL;
        if (id) {
            snprintf(s->ids[s->count++], sizeof s->ids[0], "%.32s", id + 6);
        } else {
            s->lost++;
            sleep_seconds(0.01);
        }
        answer_clear(&a);
        sleep_seconds(0.005);
    }
    return NULL;
}

static void kill_and_start_again(void) {
    pthread_rwlock_wrlock(&restart);
    daemon_end(&d, SIGKILL);
    daemon_start_again(&d, NULL);
    pthread_rwlock_unlock(&restart);
}

static double random_seconds(double least, double most) {
    return least + (most - least) * ((double)rand_r(&seed) / RAND_MAX);
}

static answer expected_rows(size_t i) {
    char system[SYSTEM_BYTES];
    const char *headers[] = {"Content-Type: application/json", "Accept: text/csv", NULL};
    return ask(&d, "POST", "/v1/simulations", headers, system_of(i, system));
}

static void check_rows(const submitted *s, size_t i, const answer *expected) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/v1/jobs/%s/results", s->ids[i]);
    answer a = ask(&d, "GET", path, (const char *const[]){"Accept: text/csv", NULL}, NULL);
    assert_int_equal(a.status, 200);
    if (a.length != expected->length) print_error("job %zu: %zu bytes, expected %zu\n", i, a.length, expected->length);
    assert_int_equal(a.length, expected->length);
    assert_memory_equal(a.body, expected->body, a.length);
    answer_clear(&a);
}

static size_t count_jobs(void) {
    size_t count = 0;
    char path[PATH_BYTES] = "/v1/jobs?limit=500";
    while (path[0]) {
        cJSON *list = ask_json(&d, "GET", path, NULL, NULL, 200);
        count += (size_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(list, "items"));
        const char *next = json_text_of(list, "next");
        path[0] = '\0';
        if (*next) snprintf(path, sizeof path, "/v1/jobs?limit=500&cursor=%s", next);
        cJSON_Delete(list);
    }
    return count;
}

static void no_accepted_job_is_lost_by_kills_at_random_moments(void **state) {
    (void)state;
    pthread_t submitter;
    submitted s = {.ids = calloc(jobs_wanted, sizeof *s.ids)};
    assert_non_null(s.ids);
    daemon_start(&d, NULL);
    assert_int_equal(pthread_create(&submitter, NULL, submit_all, &s), 0);
    for (size_t k = 0; k < kills_wanted; k++) {
        sleep_seconds(random_seconds(0.05, long_tests() ? 2 : 0.6));
        kill_and_start_again();
    }
    pthread_join(submitter, NULL);
    answer expected[KINDS] = {expected_rows(0), expected_rows(1), expected_rows(7)};
    for (size_t i = 0; i < s.count; i++) {
        wait_for_status(&d, s.ids[i], "completed");
        check_rows(&s, i, &expected[i % 20 == 7 ? 2 : i % 2]);
    }
    size_t all = count_jobs();
    print_message("%zu jobs accepted, %zu requests unanswered, %zu jobs stored, %zu kills\n", s.count, s.lost, all,
                  kills_wanted);
    assert_true(all >= s.count && all <= s.count + s.lost);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/hamel.db", d.data);
    check_sound(path);
    for (size_t i = 0; i < KINDS; i++) answer_clear(&expected[i]);
    free(s.ids);
    daemon_remove(&d);
}

/* Returns the processor time of a thread in clock ticks if it is the thread of a worker, otherwise 0. */
static unsigned long worker_ticks(const char *thread) {
    char path[PATH_BYTES], name[32] = "";
    unsigned long ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", (int)d.pid, thread);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%31[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", name, &ticks) != 2)
        ticks = 0;
    if (file) fclose(file);
    return strcmp(name, "hamel-job") == 0 ? ticks : 0;
}

/* Sends a signal to the worker's thread that computes, as if it had crashed. */
static void crash_worker(void) {
    char path[PATH_BYTES];
    double until = hang_time();
    long found = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)d.pid);
    while (found == 0) {
        DIR *tasks = opendir(path);
        assert_non_null(tasks);
        for (const struct dirent *task; (task = readdir(tasks)) != NULL;)
            if (worker_ticks(task->d_name) > 1) found = strtol(task->d_name, NULL, 10);
        closedir(tasks);
        assert_true(now_seconds() < until);
        sleep_seconds(0.01);
    }
    syscall(SYS_tgkill, d.pid, found, SIGSEGV);
}

/* Waits until the job is running or has failed. Returns true if the job is running. */
static bool comes_to_run(const char *id) {
    char path[PATH_BYTES], status[16] = "";
    double until = hang_time();
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    while (strcmp(status, "running") != 0 && strcmp(status, "failed") != 0) {
        cJSON *job = ask_json(&d, "GET", path, NULL, NULL, 200);
        snprintf(status, sizeof status, "%s", json_text_of(job, "status"));
        cJSON_Delete(job);
        assert_true(now_seconds() < until);
        sleep_seconds(0.01);
    }
    return strcmp(status, "running") == 0;
}

static void a_job_that_crashes_the_daemon_fails_and_others_continue(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    const char *const one[] = {"--workers", "1", NULL};
    daemon_start(&d, one);
    char *bad = submit(&d, endless(system, sizeof system));
    char *good = submit(&d, oscillator(system, sizeof system, "good", 10, 11));
    int crashes = 0;
    /* The daemon runs the oldest job first, so each crash hits the same job. The test waits until the run has started
     * before it causes a crash. */
    for (; comes_to_run(bad); crashes++) {
        assert_true(crashes < 40);
        crash_worker();
        int code = daemon_end(&d, 0);
        assert_true(code != 0);
        daemon_start_again(&d, one);
    }
    assert_true(crashes > 3);
    snprintf(path, sizeof path, "/v1/jobs/%s", bad);
    cJSON *job = ask_json(&d, "GET", path, NULL, NULL, 200);
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(job, "problem"), "type"), "/problems/crashed");
    cJSON_Delete(job);
    wait_for_status(&d, good, "completed");
    free(bad);
    free(good);
    daemon_remove(&d);
}

static void repeated_kills_do_not_count_against_a_job(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    const char *const one[] = {"--workers", "1", NULL};
    daemon_start(&d, one);
    char *id = submit(&d, oscillator(system, sizeof system, "long", 40000, 40001));
    for (int i = 0; i < 8; i++) { /* each kill usually occurs before the run has stored a row */
        wait_for_status(&d, id, "running");
        daemon_end(&d, SIGKILL);
        daemon_start_again(&d, one);
    }
    wait_for_status(&d, id, "completed");
    free(id);
    daemon_remove(&d);
}

int main(int argc, char **argv) {
    if (long_tests()) {
        jobs_wanted = 1000;
        kills_wanted = 10;
    }
    if (argc > 2) {
        jobs_wanted = strtoul(argv[1], NULL, 10);
        kills_wanted = strtoul(argv[2], NULL, 10);
    }
    if (argc > 3) seed = (unsigned)strtoul(argv[3], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_crashes_the_daemon_fails_and_others_continue),
        cmocka_unit_test(repeated_kills_do_not_count_against_a_job),
        cmocka_unit_test(no_accepted_job_is_lost_by_kills_at_random_moments),
    };
    return cmocka_run_group_tests_name("kill", tests, NULL, NULL);
}
