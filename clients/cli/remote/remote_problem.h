/* remote_problem.h — converts the problem document of a server to the failure that a local run would have. */
#pragma once

#include "api/simulate.h"

/* Returns true if the problem is an error of the description or its run. Returns false for an error of the server or
 * the request. */
bool remote_problem_is_of_description(const cJSON *problem);

/* Fills *failure (text, exit code, status) from the document; `tree` is the description that was sent. */
void remote_failure(api_failure *failure, const cJSON *problem, const cJSON *tree, const char *file);
