/* log.c — see log.h. A line is built in a fixed buffer on the stack: the log never allocates, so it can also say that
 * memory has run out. A line that does not fit loses its last fields, not its form. */
#include "server/log.h"

#include "server/stamp.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4096, TEXT_BYTES = 512 };

typedef struct log_line {
    char bytes[LINE_BYTES];
    size_t length;
} log_line;

static const char *const level_names[] = {"debug", "info", "warning", "error", "silent"};

void log_init(server_log *log, log_level level, int descriptor) {
    log->level = level;
    log->descriptor = descriptor;
    pthread_mutex_init(&log->lock, NULL);
}

void log_destroy(server_log *log) {
    pthread_mutex_destroy(&log->lock);
}

bool log_level_named(const char *name, log_level *out) {
    for (size_t i = 0; i < sizeof level_names / sizeof level_names[0]; i++) {
        if (strcmp(name, level_names[i]) != 0) continue;
        *out = (log_level)i;
        return true;
    }
    return false;
}

static bool put(log_line *line, const char *bytes, size_t length) {
    if (length > LINE_BYTES - 3 - line->length) return false; /* 3: the closing brace, newline and NUL always fit */
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
    return true;
}

static bool put_escaped(log_line *line, const char *text) {
    bool whole = put(line, "\"", 1);
    for (size_t i = 0; whole && text[i] && i < TEXT_BYTES; i++) {
        unsigned char c = (unsigned char)text[i];
        char code[8];
        if (c == '"' || c == '\\') {
            snprintf(code, sizeof code, "\\%c", c);
        } else if (c < 0x20 || c >= 0x7f) {
            snprintf(code, sizeof code, "\\u%04x", c);
        } else {
            code[0] = (char)c;
            code[1] = '\0';
        }
        whole = put(line, code, strlen(code));
    }
    return whole && put(line, "\"", 1);
}

static bool put_field(log_line *line, const log_field *field) {
    char number[40];
    if (!put(line, ",", 1) || !put_escaped(line, field->key) || !put(line, ":", 1)) return false;
    if (field->text) return put_escaped(line, field->text);
    if (!isfinite(field->number)) return put(line, "null", 4);
    snprintf(number, sizeof number, "%.10g", field->number);
    return put(line, number, strlen(number));
}

static void send_line(server_log *log, const log_line *line) {
    size_t sent = 0;
    pthread_mutex_lock(&log->lock);
    while (sent < line->length) {
        ssize_t n = write(log->descriptor, line->bytes + sent, line->length - sent);
        if (n <= 0) break; /* a log that cannot be written must not stop the daemon */
        sent += (size_t)n;
    }
    pthread_mutex_unlock(&log->lock);
}

void log_write(server_log *log, log_level level, const char *event, const log_field *fields, size_t count) {
    if (level < log->level || level == LOG_SILENT) return;
    char now[STAMP_TIME_BYTES];
    stamp_text(now, stamp_wall_ms());
    log_line line = {.length = 0};
    put(&line, "{\"time\":", 8);
    put_escaped(&line, now);
    const log_field head[] = {log_text("level", level_names[level]), log_text("event", event)};
    put_field(&line, &head[0]);
    put_field(&line, &head[1]);
    for (size_t i = 0; i < count; i++) {
        size_t before = line.length;
        if (put_field(&line, &fields[i])) continue;
        line.length = before; /* the field that did not fit goes whole */
        break;
    }
    memcpy(line.bytes + line.length, "}\n", 2);
    line.length += 2;
    send_line(log, &line);
}
