/* junit.h — writes check results as JUnit XML: one testcase for each check, invariant or run. */
#pragma once

#include "api/check.h"
#include "engine/base/text_buffer.h"

typedef struct junit {
    text_buffer cases;
    size_t tests, failures, errors;
} junit;

void junit_init(junit *report);
/* Add a testcase: the result of one check, or the reason why a file could not be checked. */
void junit_case(junit *report, const char *file, const api_check_result *verdict);
void junit_error(junit *report, const char *file, const char *message);

/* Frees the report and returns its XML, which the caller frees. Returns NULL if the XML is too long or memory could not
 * be allocated. */
char *junit_take(junit *report, size_t *length);
