/* store_sqlite_int.h — declarations shared by the files of the SQLite store; see store_sqlite.c for the design. */
#pragma once

#include "server/jobs/store_sql.h"

#include <sqlite3.h>
#include <sys/types.h>

typedef enum sqlite_name {
    LITE_BEFORE = SQL_TOTAL - 1,
#define X(name, text) LITE_##name,
    SQLITE_STATEMENTS(X)
#undef X
        LITE_TOTAL
} sqlite_name;

typedef struct sqlite_connection {
    sql_connection base;
    sqlite3 *db;
    sqlite3_stmt *statements[LITE_TOTAL]; /* prepared when first used */
    sqlite3_stmt *current;                /* the current statement, or NULL */
} sqlite_connection;

/* Bytes of the path of a database, and of the name of a file next to it: path and suffix. */
enum { SQLITE_PATH_BYTES = 1136, SQLITE_NAME_BYTES = SQLITE_PATH_BYTES + 16 };

typedef struct file_identity {
    dev_t device;
    ino_t inode;
} file_identity;

typedef struct sqlite_store {
    sql_store base;
    bool in_memory;               /* `memory:` */
    char path[SQLITE_PATH_BYTES]; /* path of the database */
    int lock_file,
        data_file;  /* descriptors of the files that are locked while the store is open; -1 if there is no file */
    int crash_file; /* crash marks; -1 if there is no file */
    file_identity data, log; /* identities of the database and its write-ahead log when they were opened */
    int reserve_file;        /* -1 if there is no file */
    double min_free;         /* see store_options */
    atomic_bool full;        /* a write failed for lack of space, and the reserve has not been filled since then */
    bool wants_room; /* a change was rolled back for lack of space; this and the next two lines: writer thread only */
    bool gave_back;  /* a vacuum moved free pages to the end of the file, and the file is not truncated yet */
    bool misplaced, low; /* states that have been logged */
    sqlite_connection writer;
} sqlite_store;

enum { SQLITE_BUSY_MS = 10000 };

/* store_sqlite_files.c */

/* Opens and locks the files. On failure returns false with a message. */
bool sqlite_files_open(sqlite_store *s, const char *path, char *message, size_t room);
void sqlite_files_close(sqlite_store *s); /* call after closing all connections */

void sqlite_name_beside(const sqlite_store *s, const char *ending, char out[SQLITE_NAME_BYTES]);

/* Records the files that SQLite has opened. Returns false if a file cannot be found. */
bool sqlite_files_note(sqlite_store *s);
bool sqlite_files_in_place(const sqlite_store *s); /* true if the names still refer to these files; thread-safe */

/* store_sqlite_space.c: all functions but the first two run on the writer's thread, or before this thread starts */
bool sqlite_space_is_low(const sqlite_store *s);        /* true if operations that need space must be refused */
bool sqlite_is_space_fault(const sqlite_connection *c); /* true if the last failure on c was lack of space */
void sqlite_reserve_start(sqlite_store *s);             /* empties the reserve if the disk is full */
void sqlite_reserve_fill(sqlite_store *s);              /* fills the reserve if there is space */
bool sqlite_space_gain(sqlite_store *s); /* frees some space after a failure; true if a retry may succeed */
bool sqlite_log_cut(sqlite_store *s);    /* truncates the log; returns false while a reader uses the log */
double sqlite_tend(sql_store *s);

/* store_sqlite_driver.c */
extern const sql_driver sqlite_driver;
bool sqlite_connect(sqlite_connection *c, const char *name, bool writer);
void sqlite_disconnect(sqlite_connection *c);
bool sqlite_execute(sqlite_connection *c, const char *sql);
int64_t sqlite_query(sqlite_connection *c, const char *sql); /* returns an integer, or -1 on failure */

/* store_sqlite_backup.c */
bool sqlite_backup(const char *url, const char *path, char *message, size_t room);
