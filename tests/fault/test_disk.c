/* test_disk.c — disk failures: each write, read, synchronization and allocation of a store fails once, or
 * permanently, and power fails after each synchronization. Afterwards the file must be valid and contain all accepted
 * data.
 *
 * To simulate a power failure, the test opens copies of the files made at their last synchronization. */
#include "server/jobs/store.h"
#include "server/log.h"
#include "server/metrics.h"
#include "tests/fault/faults.h"
#include "tests/fault/store_files.h"
#include "tests/http/daemon.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 128, MESSAGE_BYTES = 512, COLUMNS = 3, ROWS = 5 };

static faults *f;
static server_log quiet;
static metrics counters;
static const store_options services = {.log = &quiet, .metrics = &counters};
static char folder[PATH_BYTES], file[PATH_BYTES + 16], url[PATH_BYTES + 32];

/* ---- files ------------------------------------------------------------------------------------------------------ */

static int make_folder(void **state) {
    (void)state;
    log_init(&quiet, LOG_SILENT, STDERR_FILENO);
    bool quick = access("/dev/shm", W_OK) == 0; /* use memory if possible, because writing to a disk is slow */
    snprintf(folder, sizeof folder, "%s/hamel-disk-XXXXXX", quick ? "/dev/shm" : P_tmpdir);
    if (!mkdtemp(folder)) return 1;
    snprintf(file, sizeof file, "%s/hamel.db", folder);
    snprintf(url, sizeof url, "sqlite:%s", file);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    empty_folder(folder);
    return rmdir(folder);
}

static store *open_sound(const char *at) {
    char message[MESSAGE_BYTES] = "";
    store *s = store_open(at, &services, message, sizeof message);
    if (!s) print_error("%s\n", message);
    assert_non_null(s);
    return s;
}

/* ---- operations on a store, with their results ------------------------------------------------------------------- */

typedef struct said {
    char id[JOB_ID_BYTES];
    int64_t number, attempt;
    bool submitted, finished, canceled, forgotten;
    bool doubtful; /* the operation returned an error but may have taken effect */
} said;

static void submit_to(store *s, const char *body, said *j) {
    job made;
    job_submission sent = {.owner = "", .name = "disk", .body = body, .length = strlen(body)};
    j->submitted = s->kind->submit(s, &sent, &made) == STORE_OK;
    if (j->submitted) memcpy(j->id, made.id, sizeof j->id);
    j->number = made.number;
    job_clear(&made);
}

/* Claims the next job and runs it to its end, with ROWS rows. Returns the job's number, or 0 if no job is queued. */
static int64_t run_next(store *s, bool *finished) {
    job taken = {0};
    job_claim claim = {.jobs = &taken};
    int64_t rows = 0, events = 0, number = 0;
    double values[COLUMNS * ROWS];
    *finished = false;
    for (int k = 0; k < COLUMNS * ROWS; k++) values[k] = (double)k;
    if (s->kind->claim(s, &claim) != STORE_OK) return 0;
    number = taken.number;
    job_event event = {.row = 1, .json = (char[]){"{\"event\":\"e\"}"}};
    job_output first = {.rows = {.first = 0, .rows = 2, .columns = COLUMNS, .values = values}};
    job_output rest = {.rows = {.first = 2, .rows = ROWS - 2, .columns = COLUMNS, .values = values + 2 * COLUMNS},
                       .events = &event,
                       .event_count = 1};
    const store_kind *kind = s->kind;
    bool going =
        kind->begin(s, number, taken.attempt, "{\"columns\":[\"t\",\"x\",\"x'\"]}", &rows, &events) == STORE_OK;
    if (going && rows == 0) going = kind->append(s, number, taken.attempt, &first, 0.5) == STORE_OK;
    if (going) {
        const job_end end = {.status = JOB_COMPLETED, .progress = 1, .summary = "{}"};
        *finished = kind->finish(s, number, taken.attempt, &rest, &end) == STORE_OK;
    }
    claim_clear(&claim);
    return number;
}

static void check_rows(store *s, int64_t number) {
    int64_t seen = 0;
    for (row_chunk chunk; seen < ROWS; seen += chunk.rows, row_chunk_clear(&chunk)) {
        assert_int_equal(s->kind->chunk_at(s, number, seen, &chunk), STORE_OK);
        assert_int_equal(chunk.first, seen);
        for (int64_t k = 0; k < chunk.rows * COLUMNS; k++)
            assert_true(chunk.values[k] == (double)(seen * COLUMNS + k)); /* run_next stored these values */
    }
    assert_int_equal(seen, ROWS);
}

static void check_kept(store *s, const said *j) {
    job found;
    if (!j->submitted) return;
    store_status status = s->kind->find(s, j->id, NULL, &found);
    if (j->doubtful && status == STORE_ABSENT) return;
    assert_int_equal(status, j->forgotten ? STORE_ABSENT : STORE_OK);
    if (status == STORE_OK) {
        char *body = NULL;
        size_t length = 0;
        assert_int_equal(s->kind->description(s, &found, &body, &length), STORE_OK);
        free(body);
        if (j->finished) assert_int_equal(found.status, JOB_COMPLETED);
        if (j->canceled) assert_int_equal(found.status, JOB_CANCELED);
        if (found.status == JOB_COMPLETED) check_rows(s, found.number);
    }
    job_clear(&found);
}

/* ---- each call fails once ---------------------------------------------------------------------------------------- */

enum { JOBS = 5 };

/* Opens the store, performs each operation, and records the acknowledged operations. */
static void live(said jobs[JOBS]) {
    char message[MESSAGE_BYTES];
    job listed[JOBS + 1], canceled;
    size_t count = 0;
    store_counts counts;
    int64_t number;
    bool finished, more;
    store *s = store_open(url, &services, message, sizeof message);
    if (!s) return;
    for (int k = 1; k < JOBS; k++) submit_to(s, "{\"a\": 1}", &jobs[k]);
    number = run_next(s, &finished);
    for (int k = 0; k < JOBS; k++)
        if (jobs[k].submitted && jobs[k].number == number) jobs[k].finished = finished;
    said *c = &jobs[3], *g = &jobs[4];
    if (c->submitted && c->number != number) {
        c->canceled = s->kind->cancel(s, c->id, NULL, &canceled) == STORE_OK;
        job_clear(&canceled);
    }
    if (g->submitted) g->forgotten = s->kind->delete (s, g->id, NULL, &number) == STORE_OK;
    g->doubtful = !g->forgotten;
    if (s->kind->list(s, &(job_query){.limit = JOBS + 1}, listed, &count, &more) == STORE_OK)
        for (size_t k = 0; k < count; k++) job_clear(&listed[k]);
    (void)s->kind->counts(s, &counts);
    s->kind->close(s);
}

static void begin_with_one(said jobs[JOBS]) {
    memset(jobs, 0, JOBS * sizeof *jobs);
    empty_folder(folder);
    store *s = open_sound(url);
    submit_to(s, "{}", &jobs[0]);
    assert_true(jobs[0].submitted);
    s->kind->close(s);
}

static const char *of_error(int error) {
    return error == 0 ? "half of it" : strerrorname_np(error);
}

/* Returns false if fewer than `nth` calls were made. */
static bool fail_one(fault_kind kind, int error, long nth, bool lasting) {
    said jobs[JOBS];
    begin_with_one(jobs);
    if (lasting && error == EINTR) /* some calls succeed, because the store repeats interrupted calls */
        fault_order_every(f, kind, nth + 1, error);
    else
        fault_order(f, kind, nth, lasting, error);
    live(jobs);
    long calls = fault_cancel(f, kind);
    store *s = open_sound(url);
    for (int k = 0; k < JOBS; k++) check_kept(s, &jobs[k]);
    bool finished; /* the following calls succeed again */
    said more = {0};
    submit_to(s, "{}", &more);
    assert_true(more.submitted);
    while (run_next(s, &finished) != 0) assert_true(finished);
    check_kept(s, &more);
    s->kind->close(s);
    check_sound(file);
    return calls >= nth;
}

static void fail_each(fault_kind kind, const char *name, const int *errors, size_t count) {
    for (size_t e = 0; e < count; e++) {
        long reached = 0;
        for (int lasting = 0; lasting < 2; lasting++)
            for (long nth = 1; fail_one(kind, errors[e], nth, lasting); nth += 1 + (long_tests() ? 0 : nth / 8))
                reached++;
        print_message("%s, %s: %ld calls failed\n", name, of_error(errors[e]), reached);
        assert_true(reached > 4);
    }
}

static void a_failed_write_loses_no_accepted_data(void **state) {
    (void)state;
    fail_each(FAULT_WRITE, "write", (const int[]){EIO, ENOSPC, EINTR, 0}, 4);
}

static void a_failed_synchronization_loses_no_accepted_data(void **state) {
    (void)state;
    fail_each(FAULT_SYNC, "sync", (const int[]){EIO}, 1);
}

static void a_failed_read_loses_no_accepted_data(void **state) {
    (void)state;
    fail_each(FAULT_READ, "read", (const int[]){EIO, EINTR}, 2);
}

static void a_failed_allocation_loses_no_accepted_data(void **state) {
    (void)state;
    fail_each(FAULT_MEMORY, "memory", (const int[]){ENOMEM}, 1);
}

/* Makes each allocation during the lifetime of a store fail in turn, and counts leaked blocks. */
static void a_store_without_memory_leaks_nothing(void **state) {
    (void)state;
    said jobs[JOBS];
    begin_with_one(jobs);
    live(jobs);
    bool reached = true;
    for (long nth = 1; reached; nth += 1 + (long_tests() ? 0 : nth / 20)) {
        begin_with_one(jobs);
        long before = atomic_load(&f->live);
        fault_order(f, FAULT_MEMORY, nth, false, 0);
        live(jobs);
        reached = fault_cancel(f, FAULT_MEMORY) >= nth;
        long leaked = atomic_load(&f->live) - before;
        if (leaked > 0) print_error("allocation %ld: %ld blocks leaked\n", nth, leaked);
        assert_true(leaked <= 0);
    }
}

/* ---- loss of power ---------------------------------------------------------------------------------------------- */

enum { CLIENTS = 4, ACCEPTED_MAX = 4096 };

typedef struct accepted {
    said job;
    long at; /* number of copies when the operation was acknowledged */
    long finished_at;
} accepted;

static struct {
    store *store;
    pthread_mutex_t lock;
    accepted list[ACCEPTED_MAX];
    size_t count, wanted;
} power = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *submit_many(void *context) {
    (void)context;
    for (size_t k = 0; k < power.wanted; k++) {
        accepted a = {.finished_at = LONG_MAX};
        submit_to(power.store, "{\"power\": 1}", &a.job);
        a.at = atomic_load(&f->copies);
        if (!a.job.submitted) continue;
        pthread_mutex_lock(&power.lock);
        if (power.count < ACCEPTED_MAX) power.list[power.count++] = a;
        pthread_mutex_unlock(&power.lock);
    }
    return NULL;
}

static void *run_many(void *context) {
    (void)context;
    for (size_t k = 0; k < power.wanted; k++) {
        bool finished;
        int64_t number = run_next(power.store, &finished);
        long at = atomic_load(&f->copies);
        pthread_mutex_lock(&power.lock);
        for (size_t i = 0; finished && i < power.count; i++)
            if (power.list[i].job.number == number) power.list[i].finished_at = at;
        pthread_mutex_unlock(&power.lock);
    }
    return NULL;
}

/* Restores, in a separate directory, the contents that the disk had after `moment` synchronizations. */
static void restore(long moment, const char *to) {
    static const char *const names[] = {"hamel.db", "hamel.db-wal"};
    char from[PATH_BYTES + 64], path[PATH_BYTES + 64];
    for (size_t k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s", to, names[k]);
        bool found = false;
        for (long m = moment; m > 0 && !found; m--) {
            snprintf(from, sizeof from, "%s/%s.%ld", folder, names[k], m);
            found = copy_file(from, path);
        }
    }
}

static void check_moment(long moment, const char *there) {
    char name[PATH_BYTES + 32], at[PATH_BYTES + 48];
    restore(moment, there);
    snprintf(name, sizeof name, "%s/hamel.db", there);
    snprintf(at, sizeof at, "sqlite:%s", name);
    store *s = open_sound(at);
    for (size_t k = 0; k < power.count; k++) {
        const accepted *a = &power.list[k];
        said then = a->job;
        if (a->at > moment) continue; /* the store had not acknowledged the operation yet */
        then.finished = a->finished_at <= moment;
        check_kept(s, &then);
    }
    s->kind->close(s);
    check_sound(name);
    empty_folder(there);
}

static void accepted_work_survives_a_loss_of_power(void **state) {
    (void)state;
    pthread_t clients[CLIENTS], worker;
    char there[PATH_BYTES + 8];
    snprintf(there, sizeof there, "%s-power", folder);
    assert_int_equal(mkdir(there, 0700), 0);
    empty_folder(folder);
    power.count = 0;
    power.wanted = long_tests() ? 800 : 60;
    atomic_store(&f->copies, 0);
    atomic_store(&f->copying, true);
    power.store = open_sound(url);
    for (size_t k = 0; k < CLIENTS; k++) assert_int_equal(pthread_create(&clients[k], NULL, submit_many, NULL), 0);
    assert_int_equal(pthread_create(&worker, NULL, run_many, NULL), 0);
    for (size_t k = 0; k < CLIENTS; k++) pthread_join(clients[k], NULL);
    pthread_join(worker, NULL);
    power.store->kind->close(power.store);
    atomic_store(&f->copying, false);
    long moments = atomic_load(&f->copies);
    size_t checked = 0;
    for (long m = 1; m <= moments; m += long_tests() ? 1 : 1 + moments / 60, checked++) check_moment(m, there);
    print_message("%zu jobs accepted, %ld synchronizations, power failures after %zu of them\n", power.count, moments,
                  checked);
    assert_true(power.count == CLIENTS * power.wanted && checked >= (long_tests() ? 200 : 30));
    rmdir(there);
}

int main(int argc, char **argv) {
    f = faults_here(argc, argv);
    if (!f) {
        puts("1..0 # SKIP faults cannot be injected");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_write_loses_no_accepted_data),
        cmocka_unit_test(a_failed_synchronization_loses_no_accepted_data),
        cmocka_unit_test(a_failed_read_loses_no_accepted_data),
        cmocka_unit_test(a_failed_allocation_loses_no_accepted_data),
        cmocka_unit_test(a_store_without_memory_leaks_nothing),
        cmocka_unit_test(accepted_work_survives_a_loss_of_power),
    };
    return cmocka_run_group_tests_name("disk", tests, make_folder, remove_folder);
}
