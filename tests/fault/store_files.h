/* store_files.h — the files of a store, for tests. Errors fail the running cmocka test. */
#pragma once

#include <stdbool.h>

bool copy_file(const char *from, const char *to); /* returns false if the file does not exist */
void empty_folder(const char *path);
void check_sound(const char *file); /* runs SQLite's integrity check and verifies the counts of members */

/* A SQL query for SQLite and PostgreSQL that returns the number of wrong counts. A count is the stored number of
 * members of a batch in one status. */
#define MISCOUNTED_MEMBERS                                                                                     \
    "SELECT count(*) FROM (SELECT batch, status FROM (SELECT batch, status, count(*) AS n FROM jobs WHERE "    \
    "batch<>0 GROUP BY batch, status UNION ALL SELECT batch, status, -members FROM member_counts) AS counted " \
    "GROUP BY batch, status HAVING sum(n)<>0) AS wrong"
