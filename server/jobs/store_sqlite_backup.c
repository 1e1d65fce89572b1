/* store_sqlite_backup.c — copies a store while a daemon uses it.
 *
 * The copy is made in one read transaction, so it contains exactly the data that was committed when this transaction
 * began. The daemon continues to write to its log. The connection is read-only, so that only the daemon checkpoints.
 * The copy is renamed to its final name after it is complete, checked and synchronized to the disk. */
#include "server/jobs/store_sqlite_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 1200 };

static bool backup_failed(char *message, size_t room, const char *path, const char *why) {
    return failed_with(message, room, "--backup: %.300s: %.150s", path, why);
}

static bool is_sound(sqlite3 *db) {
    sqlite3_stmt *check = NULL;
    bool sound = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &check, NULL) == SQLITE_OK &&
                 sqlite3_step(check) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(check, 0), "ok") == 0;
    sqlite3_finalize(check);
    return sound;
}

static bool copy(sqlite3 *from, sqlite3 *to, const char *path, char *message, size_t room) {
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    int rc = backup ? sqlite3_backup_step(backup, -1) : sqlite3_errcode(to);
    if (backup) sqlite3_backup_finish(backup);
    if (rc != SQLITE_DONE) return backup_failed(message, room, path, sqlite3_errstr(rc));
    /* The copy is one file, without a log. */
    if (!is_sound(to) || sqlite3_exec(to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) != SQLITE_OK)
        return backup_failed(message, room, path, "the copy is damaged");
    return true;
}

static bool to_disk(const char *part, const char *path, char *message, size_t room) {
    int file = open(part, O_RDONLY | O_CLOEXEC);
    bool done = file >= 0 && fsync(file) == 0 && rename(part, path) == 0;
    int reason = errno;
    if (file >= 0) close(file);
    return done || backup_failed(message, room, path, strerror(reason));
}

bool sqlite_backup(const char *url, const char *path, char *message, size_t room) {
    const char *source = url + strlen(store_kind_sqlite.scheme);
    char part[PATH_ROOM];
    sqlite3 *from = NULL, *to = NULL;
    if (strlen(path) > sizeof part - 8) return backup_failed(message, room, path, "the name is too long");
    if (access(path, F_OK) == 0) return backup_failed(message, room, path, "a file with this name already exists");
    snprintf(part, sizeof part, "%s.part", path);
    unlink(part);
    bool good = sqlite3_open_v2(source, &from, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
    if (!good) backup_failed(message, room, source, sqlite3_errmsg(from));
    if (good) {
        sqlite3_busy_timeout(from, SQLITE_BUSY_MS);
        umask(077); /* the copy may contain data of all owners, so only this user may read it */
        good = sqlite3_open_v2(part, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK;
        if (!good) backup_failed(message, room, path, sqlite3_errmsg(to));
    }
    good = good && copy(from, to, path, message, room);
    sqlite3_close(to);
    sqlite3_close(from);
    good = good && to_disk(part, path, message, room);
    if (!good) unlink(part);
    return good;
}
