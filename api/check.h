/* check.h — reports the results of the checks and invariants of a run, for the command line, JUnit reports and the
 * daemon. The results are read from the JSON of the summary, so that summaries from a server can also be checked. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

typedef struct api_check_result {
    const char *kind; /* "check", "invariant", or "run" */
    const char *name; /* name of the check or invariant; "" for a run */
    bool passed;
    const char *found; /* text such as "value 1.5" or "drift 1e-9, relative 1e-10", or the status of a run */
} api_check_result;

/* Calls `report` for each check, then for each invariant. If the run ended early, or has neither checks nor invariants,
 * one more call reports the run itself. The strings are valid only during the call. Returns true if all results
 * passed. */
bool api_check_results(const cJSON *summary, void (*report)(void *context, const api_check_result *result),
                       void *context);
