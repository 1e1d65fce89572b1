/* regular_file.c — reads a regular file; see regular_file.h. */
#include "server/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool can_be_read(int file, size_t most, char why[FILE_REASON_BYTES]) {
    struct stat about;
    const char *reason = NULL;
    if (fstat(file, &about) != 0) {
        reason = strerror(errno);
    } else if (S_ISDIR(about.st_mode)) {
        reason = strerror(EISDIR);
    } else if (!S_ISREG(about.st_mode)) {
        reason = "not a regular file";
    } else if ((unsigned long long)about.st_size > most) {
        snprintf(why, FILE_REASON_BYTES, "larger than %zu bytes", most);
        return false;
    }
    if (reason) snprintf(why, FILE_REASON_BYTES, "%s", reason);
    return !reason;
}

/* Reads at most `most` bytes, even if the file grows meanwhile. */
static char *read_bytes(int file, size_t most, size_t *length, char why[FILE_REASON_BYTES]) {
    char *text = malloc(most + 1);
    ssize_t n = text ? 1 : -1;
    *length = 0;
    while (n > 0 && *length < most) {
        do n = read(file, text + *length, most - *length);
        while (n < 0 && errno == EINTR);
        if (n > 0) *length += (size_t)n;
    }
    if (n < 0) {
        snprintf(why, FILE_REASON_BYTES, "%s", strerror(text ? errno : ENOMEM));
        free(text);
        return NULL;
    }
    text[*length] = '\0';
    return text;
}

char *regular_file_read(const char *path, size_t most, size_t *length, char why[FILE_REASON_BYTES]) {
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY |
                              O_CLOEXEC); /* O_NONBLOCK: opening a FIFO without a writer must not block */
    if (file < 0) {
        snprintf(why, FILE_REASON_BYTES, "%s", strerror(errno));
        return NULL;
    }
    char *text = can_be_read(file, most, why) ? read_bytes(file, most, length, why) : NULL;
    close(file);
    return text;
}
