/* remote_problem.h — a server's problem document as the failure that the same fault is in this process. */
#ifndef HAMEL_CLI_REMOTE_PROBLEM_H
#define HAMEL_CLI_REMOTE_PROBLEM_H

#include "api/simulate.h"

/* Whether the document tells a fault of the description or of its run, rather than one of the server or the request. */
bool remote_problem_is_of_description(const cJSON *problem);

/* Fills *failure (text, exit code, status) from the document; `tree` is the description it talks of. */
void remote_failure(api_failure *failure, const cJSON *problem, const cJSON *tree, const char *file);

/* The same for text that is no JSON, found before anything is sent. */
void remote_failure_of_json(api_failure *failure, const json_fault *fault, const char *file);

#endif
