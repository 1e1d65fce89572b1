/* store_sqlite_space.c — disk space of a SQLite store.
 *
 * Free pages of the database are returned in small steps (incremental vacuum), except a part that is kept for new rows.
 * The write-ahead log is truncated when it has grown.
 *
 * While less of the disk is free than configured, the store accepts no operation that needs space, but jobs still end
 * and can be deleted. Other programs may still fill the disk, and SQLite needs space even to delete, because the log
 * grows first. So a file next to the store reserves space. If a write fails, the running daemon frees half of this
 * file. The next start may free the other half. The file is filled again when enough space is free. */
#include "server/jobs/store_sqlite_int.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    RESERVE_BYTES = 8 * 1024 * 1024, /* measured: deleting a job with 64 MiB of rows needs a log of 0.3 MiB */
    LOG_BYTES = 4 * 1024 * 1024,     /* SQLite checkpoints the log at 1000 pages, which is about this size */
    STEP_PAGES = 256,                /* pages of one vacuum step: 1 MiB, which takes some milliseconds */
    KEPT_PAGES = 1024,               /* 4 MiB kept so that new rows rarely extend the file, plus an eighth of it */
};
#define ROUND_SECONDS 1.0
#define STEP_SECONDS 0.02

/* Returns the free bytes of the disk for this user, or infinity if the number is unknown. */
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

/* SQLite maps ENOSPC, and no other error, to SQLITE_FULL. */
bool sqlite_is_space_fault(const sqlite_connection *c) {
    int code = sqlite3_extended_errcode(c->db);
    sqlite3_file *database = NULL, *log = NULL;
    if (code != SQLITE_IOERR_WRITE) return (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE;
    sqlite3_file_control(c->db, "main", SQLITE_FCNTL_FILE_POINTER, &database);
    sqlite3_file_control(c->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    return says_full(log) || says_full(database);
}

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

/* Logs when space becomes low and when it is sufficient again. */
static void note_space(sqlite_store *s) {
    bool low = sqlite_space_is_low(s);
    if (low == s->low) return;
    s->low = low;
    log_write(s->base.log, low ? LOG_ERROR : LOG_INFO, "store",
              LOG_FIELDS(log_text("message", low ? "the disk is nearly full: submissions are refused, jobs wait"
                                                 : "the disk has space again"),
                         log_number("free_bytes", free_bytes(s))));
}

/* Extends the reserve to `size`. If there is not enough space, returns false and leaves the file unchanged. */
static bool grow_reserve(sqlite_store *s, off_t size) {
    off_t before = reserve_size(s);
    if (posix_fallocate(s->reserve_file, 0, size) == 0) return true;
    shrink_reserve(s, before);
    return false;
}

/* Fills the reserve. The half for the next start is filled even if less than min_free is free. */
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

bool sqlite_log_cut(sqlite_store *s) {
    sqlite3 *db = s->writer.db;
    sqlite3_busy_timeout(db, 0); /* if a reader needs the log, do not wait, since the next round retries */
    int rc = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(db, SQLITE_BUSY_MS);
    return rc == SQLITE_OK;
}

/* Returns up to STEP_PAGES free pages to the disk. Returns true if more pages can be returned. */
static bool give_back_pages(sqlite_store *s) {
    char sql[64];
    int64_t free_pages = sqlite_query(&s->writer, "PRAGMA freelist_count");
    int64_t kept = s->low ? 0 : KEPT_PAGES + sqlite_query(&s->writer, "PRAGMA page_count") / 8;
    int64_t surplus = free_pages - kept;
    if (surplus <= 0) return false;
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

/* SQLite truncates the database only when the whole log has been checkpointed. Therefore the log is truncated after a
 * vacuum. */
double sqlite_tend(sql_store *base) {
    sqlite_store *s = (sqlite_store *)base;
    if (s->in_memory || !sqlite_files_in_place(s)) return ROUND_SECONDS;
    sqlite_reserve_fill(s);
    bool more = give_back_pages(s);
    bool cut = log_size(s) > (s->low ? 0 : LOG_BYTES) || (s->gave_back && !more);
    if (cut && sqlite_log_cut(s)) s->gave_back = false;
    return more ? STEP_SECONDS : ROUND_SECONDS;
}
