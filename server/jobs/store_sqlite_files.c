/* store_sqlite_files.c — files of a SQLite store: locks, and checks that the files are still in place.
 *
 * Two locks exclude a second daemon. The lock on PATH.lock guards the name, from which SQLite derives the names of its
 * other files. The lock on the database guards the file, whatever its name. A file with two names is refused, since
 * after a crash SQLite would look for a different log under each name.
 *
 * A database or log that was renamed, replaced or deleted while the daemon runs still accepts writes, but the next
 * start does not find them. So the store acknowledges no change while the names refer to other files.
 *
 * The database file is opened here before SQLite opens it, and closed after SQLite has closed it. Closing it earlier
 * would release the POSIX locks that SQLite holds in this process. */
#include "server/jobs/store_sqlite_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

void sqlite_name_beside(const sqlite_store *s, const char *ending, char out[SQLITE_NAME_BYTES]) {
    snprintf(out, SQLITE_NAME_BYTES, "%s%s", s->path, ending);
}

/* Returns true for network file systems, where the locks and shared memory of SQLite do not work. */
static bool on_network(int descriptor) {
    struct statfs about;
    if (fstatfs(descriptor, &about) != 0) return false;
    unsigned long type = (unsigned long)about.f_type & 0xffffffffUL;
    return type == NFS_SUPER_MAGIC || type == SMB_SUPER_MAGIC || type == CIFS_SUPER_MAGIC || type == SMB2_SUPER_MAGIC;
}

static bool open_beside(const sqlite_store *s, const char *ending, int flags, int *file, char *message, size_t room) {
    char name[SQLITE_NAME_BYTES];
    sqlite_name_beside(s, ending, name);
    *file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);
    return *file >= 0 || failed_with(message, room, "%.300s: %s", name, strerror(errno));
}

static bool lock(const sqlite_store *s, int file, char *message, size_t room) {
    return flock(file, LOCK_EX | LOCK_NB) == 0 ||
           failed_with(message, room, "%.300s: another daemon uses this store", s->path);
}

static bool has_one_name(const sqlite_store *s, char *message, size_t room) {
    struct stat about;
    return (fstat(s->data_file, &about) == 0 && about.st_nlink == 1) ||
           failed_with(message, room, "%.300s: the store has several names (hard links); remove all but one", s->path);
}

bool sqlite_files_open(sqlite_store *s, const char *path, char *message, size_t room) {
    snprintf(s->path, sizeof s->path, "%s", path);
    if (!open_beside(s, ".lock", 0, &s->lock_file, message, room)) return false;
    if (on_network(s->lock_file))
        return failed_with(message, room, "%.300s: network file systems are not supported; use a local path", path);
    return lock(s, s->lock_file, message, room) && open_beside(s, "", 0, &s->data_file, message, room) &&
           lock(s, s->data_file, message, room) && has_one_name(s, message, room) &&
           open_beside(s, ".crash", O_APPEND, &s->crash_file, message, room) &&
           (s->min_free <= 0 || open_beside(s, ".reserve", 0, &s->reserve_file, message, room));
}

static void close_file(int *file) {
    if (*file >= 0) close(*file);
    *file = -1;
}

void sqlite_files_close(sqlite_store *s) {
    close_file(&s->reserve_file);
    close_file(&s->crash_file);
    close_file(&s->data_file);
    close_file(&s->lock_file);
}

static bool identify(const sqlite_store *s, const char *ending, file_identity *out) {
    char name[SQLITE_NAME_BYTES];
    struct stat about;
    sqlite_name_beside(s, ending, name);
    if (stat(name, &about) != 0) return false;
    *out = (file_identity){about.st_dev, about.st_ino};
    return true;
}

static bool is_same(const file_identity *a, const file_identity *b) {
    return a->device == b->device && a->inode == b->inode;
}

bool sqlite_files_note(sqlite_store *s) {
    struct stat about;
    if (s->in_memory) return true;
    if (fstat(s->data_file, &about) != 0) return false;
    s->data = (file_identity){about.st_dev, about.st_ino};
    return identify(s, "-wal", &s->log);
}

bool sqlite_files_in_place(const sqlite_store *s) {
    file_identity data, log;
    return s->in_memory ||
           (identify(s, "", &data) && is_same(&data, &s->data) && identify(s, "-wal", &log) && is_same(&log, &s->log));
}
