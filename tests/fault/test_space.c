/* test_space.c — a disk that fills up, and a store that releases disk space. The store keeps accepted data, the daemon
 * reports rejections, and jobs continue when there is space again.
 *
 * Some tests set the number of free bytes in preload.c. Another test mounts a small tmpfs if possible. */
#include "tests/fault/faults.h"
#include "tests/fault/store_files.h"
#include "tests/http/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { SYSTEM_BYTES = 512, PATH_BYTES = 200, MIB = 1 << 20, ROWS = 200001 };
static test_daemon d;
static faults *f;

static int end(void **state) {
    (void)state;
    if (f) atomic_store(&f->free_bytes, 0);
    daemon_remove(&d);
    faults_end();
    return 0;
}

static long status_of_job(const char *method, const char *id) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    return ask_status(&d, method, path, NULL);
}

static void wait_for_readiness(long wanted) {
    double until = hang_time();
    while (ask_status(&d, "GET", "/readyz", NULL) != wanted && now_seconds() < until) sleep_seconds(0.05);
    assert_int_equal(ask_status(&d, "GET", "/readyz", NULL), wanted);
}

/* Submits a job with at least two mebibytes of rows, which takes some seconds. */
static char *submit_long(const char *name) {
    char system[SYSTEM_BYTES];
    return submit(&d, oscillator(system, sizeof system, name, ROWS - 1, ROWS));
}

static void check_rows(const char *id) {
    char path[PATH_BYTES];
    size_t lines = 0;
    snprintf(path, sizeof path, "/v1/jobs/%s/results?columns=t", id);
    answer a = ask(&d, "GET", path, (const char *const[]){"Accept: text/csv", NULL}, NULL);
    for (const char *c = a.body; *c; c++) lines += *c == '\n';
    assert_int_equal(lines, ROWS + 1); /* no row is missing or repeated */
    answer_clear(&a);
}

static void check_full(void) {
    char system[SYSTEM_BYTES], value[16];
    answer a = ask(&d, "POST", "/v1/jobs", json_type, oscillator(system, sizeof system, "refused", 10, 11));
    assert_int_equal(a.status, 503);
    assert_non_null(strstr(a.body, "/problems/disk-full"));
    assert_true(answer_header(&a, "Retry-After", value, sizeof value));
    answer_clear(&a);
    answer ready = ask(&d, "GET", "/readyz", NULL, NULL);
    assert_int_equal(ready.status, 503);
    assert_non_null(strstr(ready.body, "nearly full"));
    answer_clear(&ready);
    assert_int_equal(ask_status(&d, "GET", "/healthz", NULL), 200);
    assert_int_equal(ask_status(&d, "GET", "/v1/jobs", NULL), 200);
    assert_int_equal(ask_status(&d, "POST", "/v1/simulations", system), 200);
}

/* ---- little disk space ------------------------------------------------------------------------------------------- */

static void below_the_bound_submissions_are_rejected_and_jobs_wait(void **state) {
    (void)state;
    static const char *const arguments[] = {"--workers", "1", "--min-free", "1000000", NULL};
    f = faults_begin();
    assert_non_null(f);
    daemon_start(&d, arguments);
    char *gone = submit_long("gone"), *kept = submit_long("kept");
    wait_for_status(&d, gone, "completed");
    wait_for_status(&d, kept, "running");
    atomic_store(&f->free_bytes, 900000);
    wait_for_status(&d, kept, "queued");
    check_full();
    assert_int_equal(status_of_job("DELETE", gone), 204);
    daemon_end(&d, SIGKILL);
    daemon_start_again(&d, arguments);
    check_full();
    wait_for_status(&d, kept, "queued");
    atomic_store(&f->free_bytes, 0);
    wait_for_status(&d, kept, "completed");
    wait_for_readiness(200);
    check_rows(kept);
    assert_int_equal(count_in_log(&d, "has space again"), 1);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    free(gone);
    free(kept);
}

/* Other programs fill the disk, so that writes fail although the daemon had enough free space before. */
static void a_job_whose_rows_cannot_be_written_for_a_while_completes(void **state) {
    (void)state;
    const int errors[] = {ENOSPC, EIO};
    f = faults_begin();
    assert_non_null(f);
    daemon_start(&d, (const char *const[]){"--workers", "1", NULL});
    for (size_t k = 0; k < 2; k++) {
        char *id = submit_long("stubborn");
        wait_for_status(&d, id, "running");
        fault_order(f, FAULT_WRITE, 1, true, errors[k]);
        wait_for_log(&d, k == 0 ? "\"code\":13" : "\"code\":778"); /* SQLITE_FULL, SQLITE_IOERR_WRITE */
        sleep_seconds(1);
        assert_true(fault_cancel(f, FAULT_WRITE) > 0);
        wait_for_status(&d, id, "completed");
        check_rows(id);
        free(id);
    }
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
}

/* ---- no disk space ----------------------------------------------------------------------------------------------- */

static char disk[] = P_tmpdir "/hamel-space-XXXXXX";

/* Mounts a small tmpfs. If the user may not mount file systems, enters a new user namespace first. */
static bool mount_disk(void) {
    char map[64];
    unsigned user = (unsigned)getuid();
    if (mount("tmpfs", disk, "tmpfs", 0, "size=24m") == 0) return true;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    int length = snprintf(map, sizeof map, "0 %u 1", user), file = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
    bool mapped = file >= 0 && write(file, map, (size_t)length) == length;
    if (file >= 0) close(file);
    return mapped && mount("tmpfs", disk, "tmpfs", 0, "size=24m") == 0;
}

static void fill_disk(const char *path) {
    static char bytes[65536];
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    for (size_t size = sizeof bytes; size > 0;) {
        if (write(file, bytes, size) <= 0) size /= 2;
    }
    close(file);
}

static void a_full_disk_lets_jobs_be_deleted_and_the_daemon_start(void **state) {
    (void)state;
    char store[PATH_BYTES], filler[PATH_BYTES], more[PATH_BYTES];
    assert_non_null(mkdtemp(disk));
    if (!mount_disk()) {
        rmdir(disk);
        skip();
    }
    snprintf(store, sizeof store, "sqlite:%s/hamel.db", disk);
    snprintf(filler, sizeof filler, "%s/filler", disk);
    snprintf(more, sizeof more, "%s/more", disk);
    const char *const arguments[] = {"--workers", "1", "--min-free", "1000000", "--store", store, NULL};
    f = NULL;
    daemon_start(&d, arguments);
    char *gone = submit_long("gone"), *kept = submit_long("kept");
    wait_for_status(&d, gone, "completed");
    wait_for_status(&d, kept, "running");
    fill_disk(filler);
    wait_for_status(&d, kept, "queued");
    check_full();
    assert_int_equal(status_of_job("DELETE", gone), 204);
    for (int k = 0; k < (long_tests() ? 20 : 3); k++) { /* another program takes the released space */
        fill_disk(more);
        daemon_end(&d, SIGKILL);
        daemon_start_again(&d, arguments);
        check_full();
        wait_for_status(&d, kept, "queued");
        assert_int_equal(unlink(more), 0);
    }
    assert_int_equal(unlink(filler), 0);
    wait_for_status(&d, kept, "completed");
    wait_for_readiness(200);
    check_rows(kept);
    assert_int_equal(status_of_job("DELETE", kept), 204);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    snprintf(store, sizeof store, "%s/hamel.db", disk);
    check_sound(store);
    assert_int_equal(umount2(disk, MNT_DETACH), 0);
    rmdir(disk);
    free(gone);
    free(kept);
}

/* ---- released space -------------------------------------------------------------------------------------------- */

static off_t size_of(const char *ending) {
    char path[PATH_BYTES];
    struct stat about;
    snprintf(path, sizeof path, "%s/hamel.db%s", d.data, ending);
    assert_int_equal(stat(path, &about), 0);
    return about.st_size;
}

static void a_store_shrinks_when_jobs_are_deleted(void **state) {
    (void)state;
    enum { JOBS = 8 };
    char *ids[JOBS];
    daemon_start(&d, (const char *const[]){"--workers", "2", NULL});
    for (size_t k = 0; k < JOBS; k++) ids[k] = submit_long("large");
    for (size_t k = 0; k < JOBS; k++) wait_for_status(&d, ids[k], "completed");
    off_t full = size_of("");
    for (size_t k = 0; k < JOBS; k++) {
        assert_int_equal(status_of_job("DELETE", ids[k]), 204);
        free(ids[k]);
    }
    double until = hang_time();
    while ((size_of("") > 6 * MIB || size_of("-wal") > 4 * MIB) && now_seconds() < until) sleep_seconds(0.1);
    print_message("the store has %.1f MB before the deletion and %.1f MB after it; the log has %.1f MB\n",
                  1e-6 * (double)full, 1e-6 * (double)size_of(""), 1e-6 * (double)size_of("-wal"));
    assert_true(full > 20 * MIB);
    assert_true(size_of("") <= 6 * MIB);
    assert_true(size_of("-wal") <= 4 * MIB);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
}

#define ENDED(test) cmocka_unit_test_teardown(test, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        ENDED(below_the_bound_submissions_are_rejected_and_jobs_wait),
        ENDED(a_job_whose_rows_cannot_be_written_for_a_while_completes), ENDED(a_store_shrinks_when_jobs_are_deleted),
        ENDED(
            a_full_disk_lets_jobs_be_deleted_and_the_daemon_start), /* last: it may move the process to another namespace */
    };
    return cmocka_run_group_tests_name("space", tests, NULL, NULL);
}
