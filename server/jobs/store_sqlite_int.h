/* store_sqlite_int.h — what the files of the SQLite store share; see store_sqlite.c for the design. */
#ifndef HAMEL_SERVER_JOBS_STORE_SQLITE_INT_H
#define HAMEL_SERVER_JOBS_STORE_SQLITE_INT_H

#include "server/jobs/store_sql.h"
#include "server/jobs/store_sqlite.h"

#include <sqlite3.h>
#include <sys/types.h>

/* Statements of SQLite alone. */
/* clang-format off */
#define LITE_LIST(X)                                                                                                 \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                                        \
    X(COMMIT, "COMMIT")                                                                                                \
    X(ROLLBACK, "ROLLBACK")                                                                                            \
    X(SAVE, "SAVEPOINT operation")                                                                                     \
    X(UNDO, "ROLLBACK TO operation")                                                                                   \
    X(KEEP, "RELEASE operation")                                                                                       \
    X(SYNC_FULL, "PRAGMA synchronous=FULL")                                                                            \
    X(SYNC_NORMAL, "PRAGMA synchronous=NORMAL")                                                                        \
    X(NEXT_OWNER, "SELECT owner FROM owners WHERE queued>0 ORDER BY running, turn LIMIT 1")                            \
    X(TAKE_TURN, "UPDATE owners SET turn=(SELECT max(turn)+1 FROM owners) WHERE owner=?1")                             \
    X(OLDEST_QUEUED, "SELECT number FROM jobs WHERE status=0 AND owner=?1 ORDER BY number LIMIT 1")                    \
    X(COUNT_CRASH, "UPDATE jobs SET crashes=crashes+1 WHERE number=?1 AND attempt=?2 AND status=1")                    \
    X(RECOVER_CANCELED, "UPDATE jobs SET status=5, finished=hamel_now(), revision=revision+1 WHERE status=1 AND "      \
                        "cancel=1")                                                                                    \
    X(RECOVER_POISON, "UPDATE jobs SET status=4, finished=hamel_now(), problem=?1, revision=revision+1 WHERE "         \
                      "status=1 AND (crashes>?2 OR fruitless>?3)")                                                     \
    X(RECOVER_RUNNING, "UPDATE jobs SET status=0, revision=revision+1 WHERE status=1")
/* clang-format on */

typedef enum sqlite_name {
    LITE_BEFORE = SQL_TOTAL - 1,
#define X(name, text) LITE_##name,
    LITE_LIST(X)
#undef X
        LITE_TOTAL
} sqlite_name;

typedef struct sqlite_connection {
    sql_connection base;
    sqlite3 *db;
    sqlite3_stmt *statements[LITE_TOTAL]; /* prepared when first used */
    sqlite3_stmt *current;                /* the one under way, or NULL */
} sqlite_connection;

enum { SQLITE_PATH_BYTES = 1136, SQLITE_NAME_BYTES = SQLITE_PATH_BYTES + 16 }; /* with the ending of a file beside it */

typedef struct file_identity {
    dev_t device;
    ino_t inode;
} file_identity;

typedef struct sqlite_store {
    sql_store base;
    bool in_memory;               /* then there are none of the files */
    char path[SQLITE_PATH_BYTES]; /* of the database */
    int lock_file, data_file;     /* locked for as long as the store is open; -1: none */
    int crash_file;               /* of crash marks; -1: none */
    file_identity data, log;      /* of the database and its write-ahead log, when they were opened */
    int reserve_file;             /* -1: none */
    double min_free;              /* bytes; 0: no bound */
    atomic_bool full;             /* a write has failed for want of room, and the reserve is not whole since */
    bool wants_room;     /* a change is undone for want of room; of the writer's thread, as those that follow */
    bool gave_back;      /* pages to the end of the database, which is still as large */
    bool misplaced, low; /* have been logged */
    sqlite_connection writer;
} sqlite_store;

enum { SQLITE_BUSY_MS = 10000, SQLITE_VACUUM_INCREMENTAL = 2 };

/* store_sqlite_files.c */

/* Opens and locks them. False with a message. */
bool sqlite_files_open(sqlite_store *s, const char *path, char *message, size_t room);
void sqlite_files_close(sqlite_store *s); /* after all connections */

void sqlite_name_beside(const sqlite_store *s, const char *ending, char out[SQLITE_NAME_BYTES]);

/* Notes which files SQLite has open. False when they cannot be found. */
bool sqlite_files_note(sqlite_store *s);
bool sqlite_files_in_place(const sqlite_store *s); /* their names still lead to them; from any thread */

/* store_sqlite_space.c; but for the first two on the writer's thread, or before there is one */
bool sqlite_space_is_low(const sqlite_store *s);        /* nothing that takes room may be stored; from any thread */
bool sqlite_is_space_fault(const sqlite_connection *c); /* the last failure on this connection */
void sqlite_reserve_start(sqlite_store *s);             /* gives all of it back if the disk is full */
void sqlite_reserve_fill(sqlite_store *s);              /* makes it whole if there is room */
bool sqlite_space_gain(sqlite_store *s);                /* after such a failure; whether trying again may help */
bool sqlite_log_cut(sqlite_store *s);                   /* false while a reader needs the log */
void sqlite_space_rewrite(sqlite_store *s);             /* so that the file of an earlier release can shrink */
double sqlite_tend(sql_store *s);

/* store_sqlite_driver.c */
extern const sql_driver sqlite_driver;
bool sqlite_connect(sqlite_connection *c, const char *name, bool writer);
void sqlite_disconnect(sqlite_connection *c);
bool sqlite_execute(sqlite_connection *c, const char *sql);

/* store_sqlite_schema.c: brings the file to this release's schema. False with a message. */
bool sqlite_migrate(sqlite_connection *c, bool in_memory, char *message, size_t room);

/* store_sqlite_backup.c */
bool sqlite_backup(const char *url, const char *path, char *message, size_t room);

#endif
