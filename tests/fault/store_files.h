/* store_files.h — the files of a store, for tests. Errors fail the running cmocka test. */
#pragma once

#include <stdbool.h>

bool copy_file(const char *from, const char *to); /* returns false if the file does not exist */
void empty_folder(const char *path);
void check_sound(const char *file); /* the integrity check of SQLite, and the counts of members */

/* How many counts of members, of one batch and status each, are not what a count over the members is; for any store. */
#define MISCOUNTED_MEMBERS                                                                                     \
    "SELECT count(*) FROM (SELECT batch, status FROM (SELECT batch, status, count(*) AS n FROM jobs WHERE "    \
    "batch<>0 GROUP BY batch, status UNION ALL SELECT batch, status, -members FROM member_counts) AS counted " \
    "GROUP BY batch, status HAVING sum(n)<>0) AS wrong"
