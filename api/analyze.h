/* analyze.h — from the bytes of a description to what `hamel analyze` and POST /v1/analyses answer. */
#ifndef HAMEL_API_ANALYZE_H
#define HAMEL_API_ANALYZE_H

#include "api/simulate.h"

/* The report as JSON; the keys are those of schema `Analysis` in openapi.json. The caller deletes it. NULL without
 * memory. */
cJSON *api_report_json(const hamel_report *report);

/* Analyses a description: body[length] with assignments, as api_prepare takes them. NULL with *failure filled, or the
 * answer (cJSON_Delete). */
cJSON *api_analyze(const char *body, size_t length, const char *const *assignments, size_t assignment_count,
                   const api_limits *limits, const atomic_bool *cancel, const char *file, api_failure *failure);

/* The same for the body of a request: {"system": {...}, "analyses": ["structure"], "options": {}}. Pointers of faults
 * are those in that body. */
cJSON *api_analyze_request(const char *body, size_t length, const api_limits *limits, const atomic_bool *cancel,
                           api_failure *failure);

#endif
