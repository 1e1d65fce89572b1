/* queue_nodes.h — several daemons with one queue in PostgreSQL, their jobs, and checks of the queue. A failed step
 * fails the running cmocka test. */
#pragma once

#include "tests/http/daemon.h"
#include "tests/http/postgres.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NODES = 3, SYSTEM_BYTES = 512, PATH_BYTES = 128, JOBS_MOST = 100000, MEMBERS = 200 };

extern test_postgres queue_server;
extern char queue_database[16], queue_url[POSTGRES_URL_BYTES], lease[16];
extern test_daemon nodes[NODES];
extern size_t node_count;

/* The fixture of a group starts and stops the database server. The fixture of a test is an empty queue without
 * nodes. */
int start_queue_server(void **state);
int stop_queue_server(void **state);
int new_queue(void **state);
int end_nodes(void **state);
#define WITH_QUEUE(test) cmocka_unit_test_setup_teardown(test, new_queue, end_nodes)

double lease_seconds(void);
void start_node(size_t k, bool again); /* if `again`, keeps the data of node k */
void start_nodes(size_t count);
/* Waits until the node is ready. If the database was unreachable, the node may wait some seconds before it connects
 * again. */
void wait_until_ready(const test_daemon *d);

int64_t in_database(const char *sql);
void wait_for_number(const char *sql, int64_t wanted);

typedef struct submitted {
    char (*ids)[40];
    size_t wanted, count, unanswered;
    size_t members; /* number of jobs submitted in a batch; `count` excludes them */
    atomic_bool stop;
} submitted;

submitted new_jobs(size_t wanted);
const char *system_of(size_t i, char *out); /* writes the description of job i to out[SYSTEM_BYTES] */
/* Submits each job to a node that responds, and records the accepted jobs. `context` is a `submitted`. */
void *submit_jobs(void *context);
/* Submits a batch of jobs with few rows each. Returns the id of the batch, which the caller frees. */
char *submit_batch(submitted *s);

/* Checks that every accepted job has completed once, and that no other jobs exist. */
void check_history(const submitted *s);
/* Checks that all jobs with the same description have the same results, byte for byte, as a run without a queue. */
void check_rows(const submitted *s);

double random_seconds(double least, double most);
size_t random_node(void);
