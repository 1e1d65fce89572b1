/* postgres.c — control of PostgreSQL servers by means of tests/tools/postgres.sh. */
#include "tests/http/postgres.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { COMMAND_BYTES = 2048 };

static int64_t run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int64_t run(const char *format, ...) {
    char command[COMMAND_BYTES], line[64] = "";
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    assert_true(length > 0 && length < (int)sizeof command);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    (void)!fgets(line, sizeof line, output);
    int status = pclose(output);
    if (status != 0) print_error("%s: %d\n", command, status);
    assert_int_equal(status, 0);
    return strtoll(line, NULL, 10);
}

void postgres_start(test_postgres *p, const char *setting) {
    snprintf(p->dir, sizeof p->dir, P_tmpdir "/hamel-pg-%d", (int)getpid());
    run("tests/tools/postgres.sh start %s %d '%s'", p->dir, (int)getpid(), setting);
}

void postgres_stop(test_postgres *p) {
    run("tests/tools/postgres.sh stop %s", p->dir);
}

void postgres_kill(test_postgres *p) {
    run("tests/tools/postgres.sh kill %s", p->dir);
}

void postgres_again(test_postgres *p) {
    run("tests/tools/postgres.sh again %s", p->dir);
}

void postgres_database(test_postgres *p, const char *name, char url[POSTGRES_URL_BYTES]) {
    run("tests/tools/postgres.sh sql %s postgres 'CREATE DATABASE %s'", p->dir, name);
    snprintf(url, POSTGRES_URL_BYTES, "postgresql://hamel@/%s?host=%s", name, p->dir);
}

int64_t postgres_ask(test_postgres *p, const char *database, const char *sql) {
    return run("tests/tools/postgres.sh sql %s %s \"%s\"", p->dir, database, sql);
}
