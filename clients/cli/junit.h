/* junit.h — verdicts as the XML that test servers read: one testcase per check, invariant or run. */
#ifndef HAMEL_CLI_JUNIT_H
#define HAMEL_CLI_JUNIT_H

#include "engine/base/text_buffer.h"

typedef struct junit {
    text_buffer cases;
    size_t tests, failures, errors;
} junit;

void junit_init(junit *report);
void junit_case(junit *report, const char *file, const char *kind, const char *name, bool passed, const char *found);
void junit_error(junit *report, const char *file, const char *message); /* the file could not be judged */

/* Writes the report to `path` and frees it. CLI_OK, or CLI_IO after saying why not. */
int junit_write(junit *report, const char *path);

#endif
