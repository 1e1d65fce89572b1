/* store_sqlite_space.c — what a SQLite store takes of its disk.
 *
 * What is free in the database is given back in small steps (incremental vacuum), but for a part that new rows will
 * fill, and the write-ahead log is cut when it has grown. A store of an earlier release is rewritten once for that when
 * it is opened, if there is room; SQLite does this in one transaction.
 *
 * While less of the disk is free than is configured, nothing that takes room is stored; jobs still end and can be deleted.
 * Other programs may fill the disk nonetheless, and SQLite needs room even to delete: the log grows first. So a file
 * beside the store keeps some in reserve. A running daemon gives half of it back when a write fails; the
 * other half is for the next start. The file is whole again when there is room. */
#include "server/jobs/store_sqlite_int.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    RESERVE_BYTES = 8 * 1024 * 1024, /* a job of 64 MiB of rows is deleted with a log of 0.3 MiB */
    LOG_BYTES = 4 * 1024 * 1024,     /* SQLite moves the log into the database when it has as much */
    STEP_PAGES = 256,                /* of a vacuum: one MiB, some milliseconds */
    KEPT_PAGES = 1024,               /* and an eighth of all: free pages that are kept for new rows */
};
#define REWRITTEN_MOST ((int64_t)1 << 30) /* bytes; takes some seconds on a disk */
#define ROUND_SECONDS 1.0
#define STEP_SECONDS 0.02

/* ---- room ------------------------------------------------------------------------------------------------------- */

/* Bytes of the disk that this user may take; infinite when the system does not tell. */
static double free_bytes(const sqlite_store *s) {
    struct statvfs about;
    if (fstatvfs(s->lock_file, &about) != 0) return INFINITY;
    return (double)about.f_bavail * (double)about.f_frsize;
}

bool sqlite_space_is_low(const sqlite_store *s) {
    return !s->in_memory && (atomic_load(&s->full) || (s->min_free > 0 && free_bytes(s) < s->min_free));
}

static bool says_full(sqlite3_file *file) {
    int reason = 0;
    bool told =
        file && file->pMethods && file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &reason) == SQLITE_OK;
    return told && (reason == ENOSPC || reason == EDQUOT || reason == EFBIG);
}

/* SQLITE_FULL is ENOSPC only. */
bool sqlite_is_space_fault(const sqlite_connection *c) {
    int code = sqlite3_extended_errcode(c->db);
    sqlite3_file *database = NULL, *log = NULL;
    if (code != SQLITE_IOERR_WRITE) return (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE;
    sqlite3_file_control(c->db, "main", SQLITE_FCNTL_FILE_POINTER, &database);
    sqlite3_file_control(c->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    return says_full(log) || says_full(database);
}

/* ---- the reserve ------------------------------------------------------------------------------------------------ */

static off_t reserve_size(const sqlite_store *s) {
    struct stat about;
    return s->reserve_file >= 0 && fstat(s->reserve_file, &about) == 0 ? about.st_size : 0;
}

static bool shrink_reserve(sqlite_store *s, off_t size) {
    return reserve_size(s) > size && ftruncate(s->reserve_file, size) == 0;
}

void sqlite_reserve_start(sqlite_store *s) {
    if (free_bytes(s) < RESERVE_BYTES) shrink_reserve(s, 0);
}

/* Logs when it has become low, or is so no longer. */
static void note_space(sqlite_store *s) {
    bool low = sqlite_space_is_low(s);
    if (low == s->low) return;
    s->low = low;
    log_write(s->base.log, low ? LOG_ERROR : LOG_INFO, "store",
              LOG_FIELDS(log_text("message", low ? "the disk is nearly full: no submissions, no runs of jobs"
                                                 : "the disk has room again"),
                         log_number("free_bytes", free_bytes(s))));
}

/* False when there is no room; then the file is as before. */
static bool grow_reserve(sqlite_store *s, off_t size) {
    off_t before = reserve_size(s);
    if (posix_fallocate(s->reserve_file, 0, size) == 0) return true;
    shrink_reserve(s, before);
    return false;
}

/* The half for the next start is made even if there is less room than is configured. */
void sqlite_reserve_fill(sqlite_store *s) {
    bool whole = s->reserve_file < 0 || reserve_size(s) >= RESERVE_BYTES;
    if (!whole && free_bytes(s) >= s->min_free + RESERVE_BYTES) {
        whole = grow_reserve(s, RESERVE_BYTES);
    } else if (!whole && reserve_size(s) < RESERVE_BYTES / 2) {
        grow_reserve(s, RESERVE_BYTES / 2);
    }
    atomic_store(&s->full, !whole);
    note_space(s);
}

bool sqlite_space_gain(sqlite_store *s) {
    bool before = atomic_exchange(&s->full, true);
    bool shrunk = shrink_reserve(s, RESERVE_BYTES / 2), cut = sqlite_log_cut(s);
    note_space(s);
    return shrunk || cut || !before;
}

/* ---- the log ---------------------------------------------------------------------------------------------------- */

bool sqlite_log_cut(sqlite_store *s) {
    sqlite3 *db = s->writer.db;
    sqlite3_busy_timeout(db, 0); /* a reader in the way is tried again in the next round */
    int rc = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(db, SQLITE_BUSY_MS);
    return rc == SQLITE_OK;
}

/* ---- free pages ------------------------------------------------------------------------------------------------- */

static int64_t pragma(sqlite_store *s, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int64_t value = 0;
    if (sqlite3_prepare_v2(s->writer.db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        value = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return value;
}

void sqlite_space_rewrite(sqlite_store *s) {
    if (s->in_memory || pragma(s, "PRAGMA auto_vacuum") == SQLITE_VACUUM_INCREMENTAL) return;
    int64_t pages = pragma(s, "PRAGMA page_count") - pragma(s, "PRAGMA freelist_count");
    int64_t bytes = pages * pragma(s, "PRAGMA page_size");
    bool fits = bytes <= REWRITTEN_MOST && free_bytes(s) > 3 * (double)bytes + s->min_free; /* copy, log, database */
    if (fits && sqlite_execute(&s->writer, "PRAGMA auto_vacuum=INCREMENTAL; VACUUM;")) return;
    log_write(
        s->base.log, LOG_WARNING, "store",
        LOG_FIELDS(log_text("message", "the store of an earlier release keeps its size when jobs are deleted: see "
                                       "server/README.md, Disk space"),
                   log_number("bytes", (double)bytes),
                   log_text("reason", fits ? sqlite3_errmsg(s->writer.db) : "too large to be rewritten now")));
}

/* True when there is more to give back. */
static bool give_back_pages(sqlite_store *s) {
    char sql[64];
    int64_t free_pages = pragma(s, "PRAGMA freelist_count");
    int64_t kept = s->low ? 0 : KEPT_PAGES + pragma(s, "PRAGMA page_count") / 8;
    int64_t surplus = free_pages - kept;
    if (surplus <= 0 || pragma(s, "PRAGMA auto_vacuum") != SQLITE_VACUUM_INCREMENTAL) return false;
    snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%d)", surplus < STEP_PAGES ? (int)surplus : STEP_PAGES);
    if (!sqlite_execute(&s->writer, sql)) return false;
    s->gave_back = true;
    return surplus > STEP_PAGES;
}

static off_t log_size(const sqlite_store *s) {
    char name[SQLITE_NAME_BYTES];
    struct stat about;
    sqlite_name_beside(s, "-wal", name);
    return stat(name, &about) == 0 ? about.st_size : 0;
}

/* The database is cut when all of the log has been moved into it, with the log. */
double sqlite_tend(sql_store *base) {
    sqlite_store *s = (sqlite_store *)base;
    if (s->in_memory || !sqlite_files_in_place(s)) return ROUND_SECONDS;
    sqlite_reserve_fill(s);
    bool more = give_back_pages(s);
    bool cut = log_size(s) > (s->low ? 0 : LOG_BYTES) || (s->gave_back && !more);
    if (cut && sqlite_log_cut(s)) s->gave_back = false;
    return more ? STEP_SECONDS : ROUND_SECONDS;
}
