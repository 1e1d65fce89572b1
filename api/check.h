/* check.h — the results of the checks and invariants of a run, from its summary: for the command line, JUnit reports
 * and the daemon. The summary is JSON, so that summaries from a server can also be checked. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

typedef struct api_check_result {
    const char *kind; /* "check", "invariant", or "run" */
    const char *name; /* "" for a run */
    bool passed;
    const char *found; /* "value 1.5", "drift 1e-9, relative 1e-10", the status of a run */
} api_check_result;

/* Calls `report` for each check, then for each invariant. A run that ended early, or has neither checks nor
 * invariants, is reported as a separate result. Texts are valid during the call. Returns whether all passed. */
bool api_check_results(const cJSON *summary, void (*report)(void *context, const api_check_result *result),
                       void *context);
