/* postgres.h — for tests: a PostgreSQL server for one test (tests/tools/postgres.sh). Functions fail the running cmocka
 * test if a step fails that must succeed. */
#pragma once

#include <stdint.h>

typedef struct test_postgres {
    char dir[32];
} test_postgres;

enum { POSTGRES_URL_BYTES = 128 };

void postgres_start(test_postgres *p, const char *setting); /* a line for postgresql.conf, or "" */
void postgres_stop(test_postgres *p);
void postgres_kill(test_postgres *p);  /* kill -9 */
void postgres_again(test_postgres *p); /* after that */

/* Makes an empty database and writes its URL to `url`. */
void postgres_database(test_postgres *p, const char *name, char url[POSTGRES_URL_BYTES]);
int64_t postgres_ask(test_postgres *p, const char *database, const char *sql); /* the number that it answers, else 0 */
