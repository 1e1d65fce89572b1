/* remote.h — requests to a daemon. An observer receives the responses through the same calls as for a run in this
 * process. Every callback that can be called must be set. The functions return CLI_OK if the observer has received the
 * summary or problem. Otherwise they report why the response is missing or invalid, and return another exit code. */
#pragma once

#include "api/analyze.h"
#include "api/simulate.h"
#include "clients/cli/remote/exchange.h"

/* Runs a description on the server. */
int cli_simulate_remote(const cli_server *server, const cli_input *input, const cli_arguments *arguments,
                        const api_observer *observer);

/* Analyses a description on the server. The observer receives the response as `summary`, or a `problem`. */
int cli_analyze_remote(const cli_server *server, const cli_input *input, const cli_arguments *arguments,
                       const api_analysis_options *options, const api_observer *observer);

/* Requests the rows of a job; `path` includes the query: "/v1/jobs/ID/results?follow=true". */
int cli_results_remote(const cli_server *server, const char *id, const char *path, const api_observer *observer);

/* Returns the description with the assignments applied, which the caller deletes (cJSON_Delete). Returns NULL after
 * reporting errors to the observer. */
cJSON *remote_tree(const cli_input *input, const cli_arguments *arguments, const api_observer *observer);

/* Handles the problem document that a server has returned for a description. The observer receives errors of the
 * description; other errors are printed. Returns the exit code. */
int remote_refusal(const exchange *x, const cli_server *server, const api_observer *observer, const char *file,
                   const cJSON *tree);
