/* store_files.h — the files of a store, for tests. Errors fail the running cmocka test. */
#pragma once

#include <stdbool.h>

bool copy_file(const char *from, const char *to); /* returns false if the file does not exist */
void empty_folder(const char *path);
void check_sound(const char *file); /* runs SQLite's integrity check and verifies the counts of members */

/* SQL that counts the stored numbers of members, one per batch and status, that differ from the actual number of
 * members. It works in SQLite and in PostgreSQL. */
#define MISCOUNTED_MEMBERS                                                                                     \
    "SELECT count(*) FROM (SELECT batch, status FROM (SELECT batch, status, count(*) AS n FROM jobs WHERE "    \
    "batch<>0 GROUP BY batch, status UNION ALL SELECT batch, status, -members FROM member_counts) AS counted " \
    "GROUP BY batch, status HAVING sum(n)<>0) AS wrong"
