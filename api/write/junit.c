/* junit.c — see junit.h. Characters that XML 1.0 does not allow become `?`. */
#include "api/write/junit.h"

#include <stdio.h>

enum { REPORT_MAX = 64 * 1024 * 1024 };

void junit_init(junit *report) {
    *report = (junit){0};
    text_buffer_init(&report->cases, REPORT_MAX);
}

static void add_escaped(text_buffer *out, const char *text) {
    for (const char *p = text; *p != '\0'; p++) {
        switch (*p) {
        case '&': text_buffer_puts(out, "&amp;"); break;
        case '<': text_buffer_puts(out, "&lt;"); break;
        case '>': text_buffer_puts(out, "&gt;"); break;
        case '"': text_buffer_puts(out, "&quot;"); break;
        case '\n': text_buffer_puts(out, "&#10;"); break;
        default: text_buffer_add(out, (unsigned char)*p < 0x20 ? "?" : p, 1);
        }
    }
}

static void add_attribute(text_buffer *out, const char *key, const char *value) {
    text_buffer_printf(out, " %s=\"", key);
    add_escaped(out, value);
    text_buffer_puts(out, "\"");
}

static void open_case(junit *report, const char *file, const char *kind, const char *name) {
    text_buffer *out = &report->cases;
    report->tests++;
    text_buffer_puts(out, "    <testcase");
    add_attribute(out, "classname", file);
    text_buffer_printf(out, " name=\"%s%s", kind, name[0] != '\0' ? " " : "");
    add_escaped(out, name);
    text_buffer_puts(out, "\"");
}

void junit_case(junit *report, const char *file, const api_check_result *verdict) {
    open_case(report, file, verdict->kind, verdict->name);
    if (verdict->passed) {
        text_buffer_puts(&report->cases, "/>\n");
        return;
    }
    report->failures++;
    text_buffer_puts(&report->cases, "><failure");
    add_attribute(&report->cases, "message", verdict->found);
    text_buffer_puts(&report->cases, "/></testcase>\n");
}

void junit_error(junit *report, const char *file, const char *message) {
    open_case(report, file, "run", "");
    report->errors++;
    text_buffer_puts(&report->cases, "><error");
    add_attribute(&report->cases, "message", message);
    text_buffer_puts(&report->cases, "/></testcase>\n");
}

char *junit_take(junit *report, size_t *length) {
    char numbers[128];
    text_buffer out;
    text_buffer_init(&out, REPORT_MAX);
    snprintf(numbers, sizeof numbers, "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", report->tests, report->failures,
             report->errors);
    text_buffer_printf(&out,
                       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites %s>\n"
                       "  <testsuite name=\"hamel check\" %s>\n",
                       numbers, numbers);
    text_buffer_add(&out, report->cases.bytes != NULL ? report->cases.bytes : "", report->cases.length);
    text_buffer_puts(&out, "  </testsuite>\n</testsuites>\n");
    char *text = report->cases.failed ? NULL : text_buffer_take(&out, length);
    text_buffer_free(&out);
    text_buffer_free(&report->cases);
    return text;
}
