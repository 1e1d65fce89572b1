/* store_fixture.c — creation of empty stores. */
#include "tests/http/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

server_log quiet;
metrics counters;
test_postgres server;
store *tested;
char sqlite_path[64], store_url[POSTGRES_URL_BYTES], database[16];

store *open_url(const char *url) {
    char message[512] = "";
    store *opened = store_open(url, &(store_options){.log = &quiet, .metrics = &counters, .lease_seconds = 30}, message,
                               sizeof message);
    if (!opened) print_error("%s\n", message);
    assert_non_null(opened);
    return opened;
}

static void remove_file(const char *path) {
    static const char *const ends[] = {"", ".lock", ".crash", "-wal", "-shm"};
    char name[96];
    for (size_t k = 0; k < 5; k++) {
        snprintf(name, sizeof name, "%s%s", path, ends[k]);
        unlink(name);
    }
}

static void new_file(char *path, char *url, size_t size) {
    snprintf(path, sizeof sqlite_path, "%s", P_tmpdir "/hamel-store-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    snprintf(url, size, "sqlite:%s", path);
}

int open_fresh(void **state) {
    static int databases;
    const char *kind = *state;
    snprintf(store_url, sizeof store_url, "memory:");
    sqlite_path[0] = '\0';
    if (strcmp(kind, "sqlite") == 0) new_file(sqlite_path, store_url, sizeof store_url);
    snprintf(database, sizeof database, "s%d", databases++);
    if (strcmp(kind, "postgresql") == 0) postgres_database(&server, database, store_url);
    tested = open_url(store_url);
    return 0;
}

int close_tested(void **state) {
    (void)state;
    tested->kind->close(tested);
    if (sqlite_path[0]) remove_file(sqlite_path);
    return 0;
}

int start_server(void **state) {
    (void)state;
    log_init(&quiet, LOG_SILENT, STDERR_FILENO);
    postgres_start(&server, "fsync=off"); /* data need not survive a power failure */
    return 0;
}

int stop_server(void **state) {
    (void)state;
    postgres_stop(&server);
    return 0;
}
