/* postgres.h — a PostgreSQL server for one test program (tests/tools/postgres.sh). A failed step fails the running
 * cmocka test. */
#pragma once

#include <stdint.h>

typedef struct test_postgres {
    char dir[32];
} test_postgres;

enum { POSTGRES_URL_BYTES = 128 };

void postgres_start(test_postgres *p, const char *setting); /* `setting` is a line for postgresql.conf, or "" */
void postgres_stop(test_postgres *p);
void postgres_kill(test_postgres *p);  /* with SIGKILL */
void postgres_again(test_postgres *p); /* restarts a killed server */

/* Creates an empty database and writes its URL to `url`. */
void postgres_database(test_postgres *p, const char *name, char url[POSTGRES_URL_BYTES]);
/* Executes the query. Returns the number in its output, or 0 if the output does not begin with a number. */
int64_t postgres_ask(test_postgres *p, const char *database, const char *sql);
