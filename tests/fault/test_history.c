/* test_history.c — checks that the replies to clients are consistent with a possible history of the store.
 *
 * Usage: test_history [OPERATIONS [SEED]]. The default is 4,000 operations, or 100,000 with HAMEL_TEST_LONG.
 *
 * Clients submit, read, list, cancel, delete and read results concurrently, while the daemon is killed, suspended and
 * restarted. Each operation is recorded with its reply and the interval in which it took effect. At the end the replies
 * about each job must be consistent with one sequence of these states:
 *
 * queued -> running -> completed | failed | incomplete | canceled -> deleted, and running -> queued if interrupted
 *
 * Therefore a job leaves a final state only by deletion, and a completed job has all its rows. At the end, every job
 * that was accepted and not deleted must exist and have ended. If a submission has no reply, the client repeats it with
 * its idempotency key. */
#include "tests/fault/store_files.h"
#include "tests/http/daemon.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CLIENTS = 4, JOBS_MAX = 20000, SYSTEM_BYTES = 512, PATH_BYTES = 160, ID_BYTES = 33, ROWS = 11 };

typedef enum said {
    SAID_QUEUED,
    SAID_RUNNING,
    SAID_COMPLETED,
    SAID_INCOMPLETE,
    SAID_FAILED,
    SAID_CANCELED,
    SAID_GONE
} said;
static const char *const names[] = {"queued", "running", "completed", "incomplete", "failed", "canceled"};

/* A reply to a client about one job. The operation took effect between the times `from` and `to`. */
typedef struct operation {
    double from, to;
    int job;
    said state;
    long rows; /* number of rows of a result; -1 if not requested */
} operation;

static test_daemon d;
static pthread_rwlock_t restart = PTHREAD_RWLOCK_INITIALIZER;
static size_t wanted = 4000; /* number of operations */
static size_t room;          /* capacity of the history; each client adds a final operation */
static unsigned seed = 1;
static char ids[JOBS_MAX][ID_BYTES];
static atomic_bool known[JOBS_MAX];    /* the daemon has returned the id of the job */
static atomic_bool doubtful[JOBS_MAX]; /* the reply to a deletion was lost */
static atomic_int job_count, batch_count;
static atomic_size_t done, unanswered;
static atomic_bool over;
static operation *history;

/* ---- clients ---------------------------------------------------------------------------------------------------- */

static test_daemon now_there(void) {
    pthread_rwlock_rdlock(&restart);
    test_daemon there = d;
    pthread_rwlock_unlock(&restart);
    return there;
}

static void note(double from, int job, said state, long rows) {
    size_t at = atomic_fetch_add(&done, 1);
    if (at >= room) return;
    history[at] = (operation){from, now_seconds(), job, state, rows};
}

static bool state_named(const char *name, said *out) {
    for (int k = 0; k < SAID_GONE; k++) {
        if (strcmp(names[k], name) != 0) continue;
        *out = (said)k;
        return true;
    }
    return false;
}

/* Reads the state in the document of a job. */
static bool state_in(const answer *a, said *out) {
    cJSON *tree = cJSON_ParseWithLength(a->body, a->length);
    bool found = state_named(json_text_of(tree, "status"), out);
    cJSON_Delete(tree);
    return found;
}

static void submit_one(const test_daemon *there) {
    char system[SYSTEM_BYTES], key[64];
    int number = atomic_fetch_add(&job_count, 1);
    if (number >= JOBS_MAX) return;
    oscillator(system, sizeof system, "history", 10, ROWS);
    snprintf(key, sizeof key, "Idempotency-Key: job-%d", number);
    double from = now_seconds();
    for (int attempt = 0; attempt < 400 && !atomic_load(&over);
         attempt++) { /* repeat until the id is returned; the key prevents a second job */
        test_daemon again = attempt ? now_there() : *there;
        answer a = ask(&again, "POST", "/v1/jobs", (const char *const[]){json_type[0], key, NULL}, system);
        cJSON *tree = a.status == 201 ? cJSON_ParseWithLength(a.body, a.length) : NULL;
        const char *id = json_text_of(tree, "id");
        said state;
        bool told = strlen(id) == ID_BYTES - 1 && state_named(json_text_of(tree, "status"), &state);
        if (told) {
            memcpy(ids[number], id, ID_BYTES);
            atomic_store(&known[number], true);
        }
        cJSON_Delete(tree);
        answer_clear(&a);
        if (told) {
            note(from, number, state, -1);
            return;
        }
        atomic_fetch_add(&unanswered, 1);
        sleep_seconds(0.02);
    }
}

/* The members of a batch are not checked one by one; only the counts at the end are checked. */
static void submit_batch(const test_daemon *there, unsigned *random) {
    char system[SYSTEM_BYTES], body[SYSTEM_BYTES + 64], path[PATH_BYTES];
    oscillator(system, sizeof system, "member", 10, ROWS);
    snprintf(body, sizeof body, "%.*s,\"sweep\":{\"over\":{\"x.initial\":{\"from\":1,\"to\":2,\"count\":80}}}}",
             (int)strlen(system) - 1, system);
    answer a = ask(there, "POST", "/v1/batches", json_type, body);
    cJSON *tree = a.status == 201 ? cJSON_ParseWithLength(a.body, a.length) : NULL;
    if (tree) atomic_fetch_add(&batch_count, 1);
    snprintf(path, sizeof path, "/v1/batches/%s%s", json_text_of(tree, "id"), rand_r(random) % 2 ? "/cancel" : "");
    cJSON_Delete(tree);
    answer_clear(&a);
    if (rand_r(random) % 2 == 0) return;
    answer changed = ask(there, strstr(path, "/cancel") ? "POST" : "DELETE", path, NULL, NULL);
    answer_clear(&changed);
}

static void look(const test_daemon *there, int job) {
    char path[PATH_BYTES];
    said state;
    snprintf(path, sizeof path, "/v1/jobs/%s", ids[job]);
    double from = now_seconds();
    answer a = ask(there, "GET", path, NULL, NULL);
    if (a.status == 404) note(from, job, SAID_GONE, -1);
    if (a.status == 200 && state_in(&a, &state)) note(from, job, state, -1);
    answer_clear(&a);
}

static void change(const test_daemon *there, int job, bool delete) {
    char path[PATH_BYTES];
    said state;
    snprintf(path, sizeof path, "/v1/jobs/%s%s", ids[job], delete ? "" : "/cancel");
    double from = now_seconds();
    answer a = ask(there, delete ? "DELETE" : "POST", path, NULL, NULL);
    if (delete &&a.status == 0) atomic_store(&doubtful[job], true);
    if (a.status == 204 || a.status == 404) note(from, job, SAID_GONE, -1);
    if (a.status == 202 && state_in(&a, &state)) note(from, job, state, -1);
    answer_clear(&a);
}

static void read_rows(const test_daemon *there, int job) {
    char path[PATH_BYTES];
    said state;
    snprintf(path, sizeof path, "/v1/jobs/%s", ids[job]);
    double from = now_seconds();
    answer before = ask(there, "GET", path, NULL, NULL);
    bool ended = before.status == 200 && state_in(&before, &state) && state == SAID_COMPLETED;
    answer_clear(&before);
    if (!ended) return;
    snprintf(path, sizeof path, "/v1/jobs/%s/results", ids[job]);
    answer a = ask(there, "GET", path, (const char *const[]){"Accept: text/csv", NULL}, NULL);
    long lines = 0;
    for (const char *c = a.body; *c; c++) lines += *c == '\n';
    /* ignore replies that were cut off */
    if (a.status == 200 && a.whole) note(from, job, SAID_COMPLETED, lines - 1);
    answer_clear(&a);
}

static void *use(void *context) {
    unsigned random = *(unsigned *)context;
    while (atomic_load(&done) < wanted) {
        test_daemon there = now_there();
        int all = atomic_load(&job_count), choice = rand_r(&random) % 100;
        if (all > JOBS_MAX) all = JOBS_MAX;
        int job = all ? rand_r(&random) % all : -1;
        if (all > 40 && choice % 3) job = all - 1 - rand_r(&random) % 40; /* prefer recent jobs, whose state changes */
        if (rand_r(&random) % 100 == 0) submit_batch(&there, &random);
        if (job < 0 || choice < 12) {
            submit_one(&there);
        } else if (atomic_load(&known[job])) {
            if (choice < 70)
                look(&there, job);
            else if (choice < 85)
                read_rows(&there, job);
            else if (choice < 93)
                change(&there, job, false);
            else if (choice < 95)
                change(&there, job, true);
        }
    }
    return NULL;
}

/* ---- the checker ------------------------------------------------------------------------------------------------ */

static int by_time(const void *x, const void *y) {
    const operation *a = x, *b = y;
    if (a->job != b->job) return a->job < b->job ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Returns true if a job can change from the state `before` to the state `after`. */
static bool may_follow(said before, said after) {
    if (before == SAID_GONE) return after == SAID_GONE;
    if (after == SAID_GONE) return true;
    if (before <= SAID_RUNNING) return true; /* a running job may be requeued */
    return after == before;                  /* final states do not change */
}

/* Checks that the operations on one job, sorted by their end times, are consistent with one sequence of states.
 * Operation i is later than operation k if i starts after k has ended. */
static size_t check_job(const operation *of, size_t count) {
    size_t violations = 0;
    for (size_t i = 0; i < count; i++) {
        if (of[i].rows >= 0 && of[i].rows != ROWS) violations++;
        for (size_t k = 0; k < i; k++) {
            if (of[k].to >= of[i].from || may_follow(of[k].state, of[i].state)) continue;
            print_error("job %s: reported as %s at %.3f, then as %s at %.3f\n", ids[of[i].job],
                        of[k].state == SAID_GONE ? "gone" : names[of[k].state], of[k].to,
                        of[i].state == SAID_GONE ? "gone" : names[of[i].state], of[i].from);
            violations++;
        }
    }
    return violations;
}

static size_t check_history(size_t count) {
    size_t violations = 0;
    qsort(history, count, sizeof *history, by_time);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && history[last].job == history[first].job; last++) {
        }
        violations += check_job(history + first, last - first);
    }
    return violations;
}

/* Checks that all jobs that were accepted and not deleted exist and have ended. */
static void check_ends(size_t count) {
    for (size_t first = 0, last; first < count; first = last) {
        bool gone = false;
        int job = history[first].job;
        for (last = first; last < count && history[last].job == history[first].job; last++)
            gone = gone || history[last].state == SAID_GONE;
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "/v1/jobs/%s", ids[history[first].job]);
        double until = hang_time();
        said state = SAID_QUEUED;
        for (bool ended = false; !ended; ended = ended || state > SAID_RUNNING) {
            answer a = ask(&d, "GET", path, NULL, NULL);
            ended = a.status == 404;
            if (a.status != 404 || !atomic_load(&doubtful[job])) assert_int_equal(a.status, gone ? 404 : 200);
            if (a.status == 200) assert_true(state_in(&a, &state));
            answer_clear(&a);
            assert_true(now_seconds() < until);
        }
    }
}

static double random_seconds(double least, double most) {
    return least + (most - least) * ((double)rand_r(&seed) / RAND_MAX);
}

/* Kills the daemon or suspends it for a while. */
static void disturb(size_t k) {
    if (k % 3 == 2) {
        kill(d.pid, SIGSTOP);
        sleep_seconds(random_seconds(0.05, 0.5));
        kill(d.pid, SIGCONT);
        return;
    }
    pthread_rwlock_wrlock(&restart);
    daemon_end(&d, SIGKILL);
    daemon_start_again(&d, (const char *const[]){"--workers", "2", NULL});
    pthread_rwlock_unlock(&restart);
}

static void replies_to_clients_are_consistent_with_one_order(void **state) {
    (void)state;
    pthread_t clients[CLIENTS];
    unsigned seeds[CLIENTS];
    setenv("HAMEL_TEST_EXCHANGES", "", 1); /* do not record exchanges, because there are too many */
    room = wanted + CLIENTS;
    history = calloc(room, sizeof *history);
    assert_non_null(history);
    daemon_start(&d, (const char *const[]){"--workers", "2", NULL});
    for (size_t k = 0; k < CLIENTS; k++) {
        seeds[k] = seed + 17 * (unsigned)k;
        assert_int_equal(pthread_create(&clients[k], NULL, use, &seeds[k]), 0);
    }
    size_t disturbed = 0;
    while (atomic_load(&done) < wanted) {
        sleep_seconds(random_seconds(0.2, 1.5));
        if (atomic_load(&done) < wanted) disturb(disturbed++);
    }
    atomic_store(&over, true);
    for (size_t k = 0; k < CLIENTS; k++) pthread_join(clients[k], NULL);
    print_message("%zu operations on %d jobs, %d batches, %zu unanswered, %zu kills and suspensions\n",
                  atomic_load(&done), atomic_load(&job_count), atomic_load(&batch_count), atomic_load(&unanswered),
                  disturbed);
    assert_true(atomic_load(&batch_count) > 0);
    assert_true(disturbed > 0);
    size_t count = atomic_load(&done) < room ? atomic_load(&done) : room;
    assert_int_equal(check_history(count), 0);
    check_ends(count);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/hamel.db", d.data);
    check_sound(path);
    daemon_remove(&d);
    free(history);
}

int main(int argc, char **argv) {
    if (long_tests()) wanted = 100000;
    if (argc > 1) wanted = strtoul(argv[1], NULL, 10);
    if (argc > 2) seed = (unsigned)strtoul(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(replies_to_clients_are_consistent_with_one_order)};
    return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
