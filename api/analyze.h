/* analyze.h — from the bytes of a description to what `hamel analyze` and POST /v1/analyses answer. */
#ifndef HAMEL_API_ANALYZE_H
#define HAMEL_API_ANALYZE_H

#include "api/simulate.h"

typedef enum api_analyses { API_STRUCTURE = 1, API_VERIFICATION = 2 } api_analyses; /* bits */

/* Adds members to the answer; their keys are those of schema `Analysis` in openapi.json. False without memory. */
bool api_add_structure(cJSON *answer, const hamel_report *report);
bool api_add_verification(cJSON *answer, const hamel_verification *verification);

/* Makes the analyses asked for (bits) of a description: body[length] with assignments, as api_prepare takes them. NULL
 * with *failure filled, or the answer (cJSON_Delete). */
cJSON *api_analyze(const char *body, size_t length, const char *const *assignments, size_t assignment_count,
                   unsigned analyses, const api_limits *limits, const atomic_bool *cancel, const char *file,
                   api_failure *failure);

/* The request for analyses (bits) of a system, which stays the caller's and must live as long: {"analyses":
 * ["structure"], "system": {...}}. The caller deletes it. NULL without memory. */
cJSON *api_analysis_request(unsigned analyses, cJSON *system);

/* Answers such a request; it may also have empty "options". Pointers of faults are those in the body. */
cJSON *api_analyze_request(const char *body, size_t length, const api_limits *limits, const atomic_bool *cancel,
                           api_failure *failure);

#endif
