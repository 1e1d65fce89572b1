/* regular_file.c — opens files without blocking, and checks type and size; see regular_file.h. */
#include "server/regular_file.h"

#include "api/json/strict_json.h"
#include "server/log.h"

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
    bool known = fstat(file, &about) == 0;
    if (!known || S_ISDIR(about.st_mode))
        return failed_with(why, FILE_REASON_BYTES, "%s", strerror(known ? EISDIR : errno));
    if (!S_ISREG(about.st_mode)) return failed_with(why, FILE_REASON_BYTES, "not a regular file");
    return (unsigned long long)about.st_size <= most ||
           failed_with(why, FILE_REASON_BYTES, "larger than %zu bytes", most);
}

/* Reads at most `most` bytes, even if the file grows during the read. */
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
    /* O_NONBLOCK: opening a FIFO without a writer must not block. */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) {
        snprintf(why, FILE_REASON_BYTES, "%s", strerror(errno));
        return NULL;
    }
    char *text = can_be_read(file, most, why) ? read_bytes(file, most, length, why) : NULL;
    close(file);
    return text;
}

cJSON *json_file_read(const char *path, size_t most, char *message, size_t room) {
    char why[FILE_REASON_BYTES];
    json_limits limits = json_limits_default();
    json_fault fault;
    char *text = regular_file_read(path, most, &limits.bytes, why);
    cJSON *tree = text ? json_parse(text, limits.bytes, &limits, &fault) : NULL;
    if (!text)
        snprintf(message, room, "%.300s: %s", path, why);
    else if (!tree)
        snprintf(message, room, "%.200s:%zu:%zu: %.200s", path, fault.line, fault.column, fault.message);
    free(text);
    return tree;
}
