/* test_place.c — the files of a store and their names. A daemon serves a store only if no other daemon has it open
 * under any name. If the file of its store has been moved or replaced, the daemon accepts no jobs. At the next start it
 * would not find these jobs. */
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SYSTEM_BYTES = 512, PATH_BYTES = 200 };
static test_daemon d;
static char database[PATH_BYTES], elsewhere[PATH_BYTES + 16];

static int start(void **state) {
    (void)state;
    daemon_start(&d, NULL);
    snprintf(database, sizeof database, "%s/hamel.db", d.data);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere.db", d.data);
    return 0;
}

static int end(void **state) {
    (void)state;
    daemon_remove(&d);
    return 0;
}

static void refuses(const char *store, const char *why) {
    char url[PATH_BYTES + 32], output[2000];
    snprintf(url, sizeof url, "sqlite:%s", store);
    const char *second[] = {"--listen", "127.0.0.1:0", "--store", url, NULL};
    assert_int_equal(daemon_run(second, output, sizeof output), 5);
    if (!strstr(output, why)) print_error("%s\n", output);
    assert_non_null(strstr(output, why));
}

static void a_second_name_of_a_store_does_not_admit_a_second_daemon(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    char *id = submit(&d, oscillator(system, sizeof system, "named", 10, 11));
    wait_for_status(&d, id, "completed");
    assert_int_equal(link(database, elsewhere), 0);
    refuses(elsewhere, "another daemon");
    assert_int_equal(unlink(elsewhere), 0);
    assert_int_equal(symlink(database, elsewhere), 0);
    refuses(elsewhere, "another daemon");
    assert_int_equal(unlink(elsewhere), 0);
    /* SQLite finds the log of a database by the name of the database. If a database were opened under another name
     * after a crash, the last accepted jobs would be missing. */
    daemon_end(&d, SIGKILL);
    assert_int_equal(link(database, elsewhere), 0);
    refuses(elsewhere, "several names");
    refuses(database, "several names");
    assert_int_equal(unlink(elsewhere), 0);
    daemon_start_again(&d, NULL);
    wait_for_status(&d, id, "completed");
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    free(id);
}

static void check_refused(void) {
    char system[SYSTEM_BYTES];
    oscillator(system, sizeof system, "lost", 10, 11);
    assert_int_equal(ask_status(&d, "GET", "/readyz", NULL), 503);
    assert_int_equal(ask_status(&d, "GET", "/healthz", NULL), 200);
    assert_int_equal(ask_status(&d, "POST", "/v1/jobs", system), 503);
    assert_int_equal(ask_status(&d, "GET", "/v1/jobs", NULL), 200); /* the stored jobs can still be read */
}

/* Moves the database, its log, or its directory, and moves it back. */
static void a_moved_store_accepts_no_jobs_until_it_is_back(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], log[PATH_BYTES + 8], folder[PATH_BYTES];
    snprintf(log, sizeof log, "%s-wal", database);
    snprintf(folder, sizeof folder, "%s-moved", d.data);
    const char *const moves[][2] = {{database, elsewhere}, {log, elsewhere}, {d.data, folder}};
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(rename(moves[k][0], moves[k][1]), 0);
        check_refused();
        assert_int_equal(rename(moves[k][1], moves[k][0]), 0);
        assert_int_equal(ask_status(&d, "GET", "/readyz", NULL), 200);
        char *id = submit(&d, oscillator(system, sizeof system, "back", 10, 11));
        wait_for_status(&d, id, "completed");
        free(id);
    }
    assert_int_equal(count_in_log(&d, "moved or replaced"), 3); /* one message for each move */
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
}

static void a_replaced_store_accepts_no_jobs(void **state) {
    (void)state;
    FILE *other = fopen(elsewhere, "w");
    assert_non_null(other);
    fclose(other);
    assert_int_equal(rename(elsewhere, database), 0);
    check_refused();
    assert_int_equal(unlink(database), 0);
    check_refused();
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_name_of_a_store_does_not_admit_a_second_daemon, start, end),
        cmocka_unit_test_setup_teardown(a_moved_store_accepts_no_jobs_until_it_is_back, start, end),
        cmocka_unit_test_setup_teardown(a_replaced_store_accepts_no_jobs, start, end),
    };
    return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
