/* verdicts.h — what a run's summary says of its checks and invariants, for whoever reports it: the command line, JUnit
 * reports, the daemon. Read from the JSON, so that the summary of another machine is treated alike. */
#ifndef HAMEL_API_VERDICTS_H
#define HAMEL_API_VERDICTS_H

#include <cjson/cJSON.h>
#include <stdbool.h>

typedef struct api_verdict {
    const char *kind; /* "check", "invariant", or "run" */
    const char *name; /* "" for a run */
    bool passed;
    const char *found; /* "value 1.5", "drift 1e-9, relative 1e-10", the status of a run */
} api_verdict;

/* Tells each verdict of the summary, checks first. A run that did not reach its end, or that has neither checks nor
 * invariants, is a verdict itself. Texts are valid during the call. Returns whether all passed. */
bool api_verdicts(const cJSON *summary, void (*tell)(void *context, const api_verdict *verdict), void *context);

#endif
