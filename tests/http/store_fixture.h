/* store_fixture.h — a store under test, in memory, in a SQLite file or in PostgreSQL. */
#pragma once

#include "server/jobs/store_sql.h"
#include "server/log.h"
#include "server/metrics.h"
#include "tests/http/postgres.h"

/* State of the running test, owned by the fixture. If the store is not a SQLite file, `sqlite_path` is "". `database`
 * is used only with PostgreSQL. */
extern store *tested;
extern char sqlite_path[64], store_url[POSTGRES_URL_BYTES], database[16];

extern server_log quiet;
extern metrics counters;
extern test_postgres server;

/* Opens a store; an error fails the test. */
store *open_url(const char *url);

/* Set-up and tear-down of a test. *state is the name of the kind of store. The store is empty at the start of the
 * test. */
int open_fresh(void **state);
int close_tested(void **state);

/* Set-up and tear-down of a group: start and stop a PostgreSQL server. */
int start_server(void **state);
int stop_server(void **state);

/* The initial state is not const, because cmocka requires a pointer to non-const data, but tests do not modify the
 * state. */
#define ON(kind, test)                                                   \
    {                                                                    \
#test " (" #kind ")", test, open_fresh, close_tested, (char[]) { \
#kind                                                        \
        }                                                                \
    }
#define ON_EACH(test) ON(memory, test), ON(sqlite, test), ON(postgresql, test)
