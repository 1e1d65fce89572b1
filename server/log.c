/* log.c — the daemon's log; see log.h. A line is built in a fixed buffer on the stack. The log never allocates, so it
 * can report that memory is exhausted. If a line is too long, its last fields are omitted, and the line remains valid
 * JSON. */
#include "server/log.h"

#include "server/clock.h"

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

bool failed_with(char *message, size_t room, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, room, format, arguments);
    va_end(arguments);
    return false;
}

static bool put_bytes(log_line *line, const char *bytes, size_t length) {
    if (length > LINE_BYTES - 3 - line->length)
        return false; /* reserves 3 bytes for the closing brace, newline and NUL */
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
    return true;
}

static bool put_escaped(log_line *line, const char *text) {
    bool whole = put_bytes(line, "\"", 1);
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
        whole = put_bytes(line, code, strlen(code));
    }
    return whole && put_bytes(line, "\"", 1);
}

static bool put_field(log_line *line, const log_field *field) {
    char number[40];
    if (!put_bytes(line, ",", 1) || !put_escaped(line, field->key) || !put_bytes(line, ":", 1)) return false;
    if (field->text) return put_escaped(line, field->text);
    if (!isfinite(field->number)) return put_bytes(line, "null", 4);
    snprintf(number, sizeof number, "%.10g", field->number);
    return put_bytes(line, number, strlen(number));
}

static void send_line(server_log *log, const log_line *line) {
    size_t sent = 0;
    pthread_mutex_lock(&log->lock);
    while (sent < line->length) {
        ssize_t n = write(log->descriptor, line->bytes + sent, line->length - sent);
        if (n <= 0) break; /* a failed write of the log cannot be reported */
        sent += (size_t)n;
    }
    pthread_mutex_unlock(&log->lock);
}

void log_write(server_log *log, log_level level, const char *event, const log_field *fields, size_t count) {
    if (level < log->level || level == LOG_SILENT) return;
    char now[CLOCK_TEXT_BYTES];
    clock_text(now, clock_wall_ms());
    log_line line = {.length = 0};
    put_bytes(&line, "{\"time\":", 8);
    put_escaped(&line, now);
    const log_field head[] = {log_text("level", level_names[level]), log_text("event", event)};
    put_field(&line, &head[0]);
    put_field(&line, &head[1]);
    for (size_t i = 0; i < count; i++) {
        size_t before = line.length;
        if (put_field(&line, &fields[i])) continue;
        line.length = before; /* omit the whole field */
        break;
    }
    memcpy(line.bytes + line.length, "}\n", 2);
    line.length += 2;
    send_line(log, &line);
}
