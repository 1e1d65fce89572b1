/* test_config.c — options from flags, environment and file, and the messages for invalid options. */
#include "server/config.h"
#include "tests/http/daemon.h"

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

static server_config config;
static char message[CONFIG_MESSAGE_BYTES];

static char *no_environment[] = {NULL};

static bool read_two(const char *a, const char *b, char *const *environment) {
    char words[3][CONFIG_TEXT_BYTES] = {"hameld"};
    char *argv[4] = {words[0]};
    int argc = 1;
    const char *given[] = {a, b};
    for (int i = 0; i < 2 && given[i]; i++) {
        snprintf(words[argc], sizeof words[argc], "%s", given[i]);
        argv[argc] = words[argc];
        argc++;
    }
    return config_read(&config, argc, argv, environment, message);
}

static void every_option_has_a_default(void **state) {
    (void)state;
    assert_true(read_two(NULL, NULL, no_environment));
    assert_true(config.workers >= 1);
    assert_true(config.max_body == 1048576);
    assert_true(config.connections == 1024 && config.per_address == 512);
    assert_int_equal(config.level, LOG_INFO);
    assert_int_equal(config.address.ss_family, AF_INET);
    assert_non_null(strstr(config.store, "sqlite:"));
}

static void flags_override_the_environment_and_the_environment_overrides_the_file(void **state) {
    (void)state;
    char path[] = P_tmpdir "/hamel-test-XXXXXX", entry[64];
    int file = mkstemp(path);
    static const char text[] = "{\"workers\": 3, \"max_body\": 333, \"time_limit\": 33, \"quiet\": true}";
    assert_true(file >= 0);
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    snprintf(entry, sizeof entry, "HAMELD_CONFIG=%s", path);
    char body[] = "HAMELD_MAX_BODY=222", workers[] = "HAMELD_WORKERS=2", other[] = "PATH=/bin";
    char *environment[] = {other, entry, body, workers, NULL};
    assert_true(read_two("--workers=1", NULL, environment));
    unlink(path);
    assert_true(config.workers == 1);
    assert_true(config.max_body == 222);
    assert_true(config.time_limit == 33);
    assert_int_equal(config.level, LOG_WARNING);
}

static void an_unknown_option_is_rejected(void **state) {
    (void)state;
    char unknown[] = "HAMELD_WORKRS=2";
    char *environment[] = {unknown, NULL};
    static const char *const bad[][2] = {
        {"--workrs", "2"},
        {"--workers", NULL},
        {"--workers", "two"},
        {"--workers", "0"},
        {"--workers", "1.5"},
        {"--workers", "1e9"},
        {"--workers", ""},
        {"--workers", " 2"},
        {"--stall", "nan"},
        {"--quiet=maybe", NULL},
        {"stray", NULL},
        {"--log-level", "loud"},
        {"--jit", "maybe"},
        {"--seccomp", "maybe"},
        {"--workers=1", "--workers=2"},
        {"--config", "/nonexistent"},
        {"--listen", "8080"},
        {"--listen", "127.0.0.1:"},
        {"--listen", "127.0.0.1:65536"},
        {"--listen", "127.0.0.1:-1"},
        {"--listen", "host:80"},
        {"--listen", ":80"},
        {"--hosts", "example.org:80"},
        {"--hosts", "*"},
        {"--hosts", "http://example.org"},
        {"--hosts", "[::1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bool taken = read_two(bad[i][0], bad[i][1], no_environment);
        if (taken) print_error("%s %s was accepted\n", bad[i][0], bad[i][1] ? bad[i][1] : "");
        assert_false(taken);
        assert_true(strlen(message) > 0);
    }
    assert_false(read_two(NULL, NULL, environment));
    assert_non_null(strstr(message, "HAMELD_WORKRS"));
}

static void only_loopback_addresses_are_served(void **state) {
    (void)state;
    static const char *const good[] = {"127.0.0.1:0", "127.1.2.3:80", "localhost:8080", "[::1]:8080"};
    static const char *const bad[] = {"0.0.0.0:8080", "192.168.1.1:80", "[::]:8080", "[2001:db8::1]:80"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(read_two("--listen", good[i], no_environment));
        assert_false(read_two("--listen", bad[i], no_environment));
        assert_non_null(strstr(message, "loopback"));
    }
}

static void a_data_directory_is_needed_only_if_it_contains_the_store(void **state) {
    (void)state;
    const char *names[] = {"HOME", "XDG_STATE_HOME", "STATE_DIRECTORY"};
    char *kept[3];
    for (int i = 0; i < 3; i++) {
        kept[i] = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;
        unsetenv(names[i]);
    }
    bool elsewhere = read_two("--store", "memory:", no_environment), here = read_two(NULL, NULL, no_environment);
    for (int i = 0; i < 3; i++) {
        if (kept[i]) setenv(names[i], kept[i], 1);
        free(kept[i]);
    }
    assert_true(elsewhere);
    assert_false(here);
    assert_non_null(strstr(message, "--data"));
}

static void the_program_reports_the_error_and_exits_with_2(void **state) {
    (void)state;
    char output[8192];
    assert_int_equal(daemon_run((const char *const[]){"--nonsense", NULL}, output, sizeof output), 2);
    assert_non_null(strstr(output, "--nonsense"));
    assert_int_equal(daemon_run((const char *const[]){"--listen", "0.0.0.0:80", NULL}, output, sizeof output), 2);
    assert_int_equal(daemon_run((const char *const[]){"--store", "redis:x", NULL}, output, sizeof output), 2);
    assert_non_null(strstr(output, "--store"));
    const char *const nowhere[] = {"--check-config", "--store", "sqlite:", NULL};
    assert_int_equal(daemon_run(nowhere, output, sizeof output), 2);
    assert_non_null(strstr(output, "needs a path"));
    assert_int_equal(daemon_run((const char *const[]){"--config", "/", NULL}, output, sizeof output), 2);
    assert_non_null(strstr(output, "/: Is a directory"));
    assert_int_equal(daemon_run((const char *const[]){"--help", NULL}, output, sizeof output), 0);
    assert_non_null(strstr(output, "--max-body BYTES"));
    assert_int_equal(daemon_run((const char *const[]){"--version", NULL}, output, sizeof output), 0);
    assert_int_equal(strncmp(output, "hameld ", 7), 0);
}

/* Opening a FIFO blocks, and reading /dev/zero never ends. */
static void only_regular_files_are_read(void **state) {
    (void)state;
    static const char *const options[] = {"--config", "--tokens", "--tls-cert", "--tls-key"};
    char folder[] = P_tmpdir "/hamel-test-XXXXXX", fifo[64], output[1000];
    assert_non_null(mkdtemp(folder));
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const char *places[] = {fifo, "/dev/zero"};
    for (size_t k = 0; k < 8; k++) {
        const char *option = options[k / 2], *place = places[k % 2];
        /* each TLS option requires the other one, here with a regular file */
        const char *other = k / 2 == 2 ? "--tls-key" : "--tls-cert";
        const char *arguments[] = {option, place, k / 2 >= 2 ? other : NULL, "README.md", NULL};
        assert_int_equal(daemon_run(arguments, output, sizeof output), 2);
        assert_non_null(strstr(output, "not a regular file"));
    }
    unlink(fifo);
    rmdir(folder);
}

static void a_configuration_can_be_checked_without_serving(void **state) {
    (void)state;
    char output[4096];
    const char *good[] = {"--check-config", "--listen", "127.0.0.1:1", "--store", "memory:", NULL};
    const char *bad[] = {"--check-config", "--tokens", "/nonexistent", NULL};
    assert_int_equal(daemon_run(good, output, sizeof output), 0);
    assert_string_equal(output, "127.0.0.1:1, store memory:, any local user has access: good\n");
    assert_int_equal(daemon_run(bad, output, sizeof output), 2);
    assert_non_null(strstr(output, "--tokens"));
}

/* Another daemon must be able to serve a copy that was made while the store was in use. */
static void the_store_can_be_copied_during_use(void **state) {
    (void)state;
    test_daemon d;
    char system[512], copy[128], store[160], output[1000], path[160];
    daemon_start(&d, NULL);
    char *id = submit(&d, oscillator(system, sizeof system, "kept", 10, 11));
    wait_for_status(&d, id, "completed");
    char *running = submit(&d, endless(system, sizeof system));
    snprintf(copy, sizeof copy, "%s-copy.db", d.data);
    const char *backup[] = {"--data", d.data, "--backup", copy, NULL};
    struct stat about;
    mode_t usual = umask(022);
    assert_int_equal(daemon_run(backup, output, sizeof output), 0);
    umask(usual);
    assert_int_equal(stat(copy, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);                   /* other users must not be able to read the file */
    assert_int_equal(daemon_run(backup, output, sizeof output), 5); /* existing files are not overwritten */
    assert_non_null(strstr(output, "already"));
    const char *nothing[] = {"--store", "memory:", "--backup", "/nonexistent/x", NULL};
    assert_int_equal(daemon_run(nothing, output, sizeof output), 5);
    daemon_end(&d, SIGTERM);
    snprintf(store, sizeof store, "sqlite:%s", copy);
    daemon_start_again(&d, (const char *const[]){"--store", store, NULL});
    snprintf(path, sizeof path, "/v1/jobs/%s/results", id);
    answer a = ask(&d, "GET", path, NULL, NULL);
    assert_int_equal(a.status, 200);
    answer_clear(&a);
    wait_for_status(&d, running, "running"); /* the run continues after the last row in the copy */
    daemon_end(&d, SIGKILL);
    daemon_remove(&d);
    static const char *const ends[] = {"", ".lock", ".crash", ".reserve", "-wal", "-shm"};
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        snprintf(path, sizeof path, "%s%s", copy, ends[k]);
        unlink(path);
    }
    free(id);
    free(running);
}

static void jobs_that_ended_long_ago_are_deleted(void **state) {
    (void)state;
    test_daemon d;
    char system[512], path[128];
    daemon_start(&d, (const char *const[]){"--keep-days", "0.00001", NULL}); /* 0.00001 days are 0.9 s */
    char *old = submit(&d, oscillator(system, sizeof system, "old", 1, 3));
    char *running = submit(&d, endless(system, sizeof system));
    wait_for_status(&d, old, "completed");
    snprintf(path, sizeof path, "/v1/jobs/%s", old);
    long status = 200;
    for (double until = hang_time(); status == 200 && now_seconds() < until; sleep_seconds(0.1)) {
        answer a = ask(&d, "GET", path, NULL, NULL);
        status = a.status;
        answer_clear(&a);
    }
    assert_int_equal(status, 404);
    wait_for_status(&d, running, "running"); /* unfinished jobs are kept */
    daemon_end(&d, SIGKILL);
    daemon_remove(&d);
    free(old);
    free(running);
}

static void a_server_that_cannot_start_exits_with_5(void **state) {
    (void)state;
    char output[4096];
    test_daemon d;
    char listen[64];
    daemon_start(&d, NULL);
    snprintf(listen, sizeof listen, "127.0.0.1:%u", d.port);
    const char *const taken[] = {"--store", "memory:", "--listen", listen, NULL};
    assert_int_equal(daemon_run(taken, output, sizeof output), 5);
    assert_non_null(strstr(output, "cannot listen on"));
    assert_non_null(strstr(output, listen));
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_has_a_default),
        cmocka_unit_test(flags_override_the_environment_and_the_environment_overrides_the_file),
        cmocka_unit_test(an_unknown_option_is_rejected),
        cmocka_unit_test(only_loopback_addresses_are_served),
        cmocka_unit_test(a_data_directory_is_needed_only_if_it_contains_the_store),
        cmocka_unit_test(the_program_reports_the_error_and_exits_with_2),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(a_configuration_can_be_checked_without_serving),
        cmocka_unit_test(the_store_can_be_copied_during_use),
        cmocka_unit_test(jobs_that_ended_long_ago_are_deleted),
        cmocka_unit_test(a_server_that_cannot_start_exits_with_5),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
