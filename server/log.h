/* log.h — the daemon's log on stderr: one JSON object per line.
 *
 *     log_write(log, LOG_INFO, "request", LOG_FIELDS(log_text("method", m), log_number("status", 200)));
 *
 * Each line is written by one call of write() under a lock, so lines of different threads never mix. Texts from clients
 * are escaped and truncated to 512 bytes. Bodies are never logged. The only logged header values are the request id and
 * traceparent. */
#pragma once

#include "engine/base/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR, LOG_SILENT } log_level;

typedef struct server_log {
    log_level level; /* messages below this level are dropped */
    int descriptor;
    pthread_mutex_t lock;
} server_log;

typedef struct log_field {
    const char *key;
    const char *text; /* NULL if the field is a number */
    double number;
} log_field;

void log_init(server_log *log, log_level level, int descriptor);
void log_destroy(server_log *log);

/* Parses "debug", "info", "warning", "error" or "silent". Returns false for any other name. */
bool log_level_named(const char *name, log_level *out);

static inline log_field log_text(const char *key, const char *text) {
    return (log_field){.key = key, .text = text ? text : ""};
}
static inline log_field log_number(const char *key, double number) {
    return (log_field){.key = key, .text = NULL, .number = number};
}

#define LOG_FIELDS(...) (const log_field[]){__VA_ARGS__}, sizeof((const log_field[]){__VA_ARGS__}) / sizeof(log_field)

/* Formats a message about a failure to start. Always returns false, so that callers can write `return
 * failed_with(...)`. */
bool failed_with(char *message, size_t room, const char *format, ...) HAMEL_PRINTF(3, 4);

void log_write(server_log *log, log_level level, const char *event, const log_field *fields, size_t count);
