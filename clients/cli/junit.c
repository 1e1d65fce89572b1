/* junit.c — see junit.h. Characters that XML 1.0 cannot hold at all become `?`. */
#include "clients/cli/junit.h"

#include "clients/cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

void junit_case(junit *report, const char *file, const char *kind, const char *name, bool passed, const char *found) {
    open_case(report, file, kind, name);
    if (passed) {
        text_buffer_puts(&report->cases, "/>\n");
        return;
    }
    report->failures++;
    text_buffer_puts(&report->cases, "><failure");
    add_attribute(&report->cases, "message", found);
    text_buffer_puts(&report->cases, "/></testcase>\n");
}

void junit_error(junit *report, const char *file, const char *message) {
    open_case(report, file, "run", "");
    report->errors++;
    text_buffer_puts(&report->cases, "><error");
    add_attribute(&report->cases, "message", message);
    text_buffer_puts(&report->cases, "/></testcase>\n");
}

int junit_write(junit *report, const char *path) {
    FILE *out = report->cases.failed ? NULL : fopen(path, "wb");
    bool good = out != NULL;
    if (good) {
        const char counts[] = "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"";
        char numbers[128];
        snprintf(numbers, sizeof numbers, counts, report->tests, report->failures, report->errors);
        good = fprintf(out,
                       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites %s>\n"
                       "  <testsuite name=\"hamel check\" %s>\n%s  </testsuite>\n</testsuites>\n",
                       numbers, numbers, report->cases.bytes != NULL ? report->cases.bytes : "") > 0;
        good = fclose(out) == 0 && good;
    }
    if (!good) cli_say("%s: %s", path, report->cases.failed ? "the report is too long" : strerror(errno));
    text_buffer_free(&report->cases);
    return good ? CLI_OK : CLI_IO;
}
