/* junit.h — verdicts as the XML that test servers read: one testcase per check, invariant or run. */
#ifndef HAMEL_API_JUNIT_H
#define HAMEL_API_JUNIT_H

#include "api/verdicts.h"
#include "engine/base/text_buffer.h"

typedef struct junit {
    text_buffer cases;
    size_t tests, failures, errors;
} junit;

void junit_init(junit *report);
/* Adds a verdict on a file, or what kept the file from being judged. */
void junit_case(junit *report, const char *file, const api_verdict *verdict);
void junit_error(junit *report, const char *file, const char *message);

/* The whole report, and frees it. free() it; NULL when it is too long or there is no memory. */
char *junit_take(junit *report, size_t *length);

#endif
