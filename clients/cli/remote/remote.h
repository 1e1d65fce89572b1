/* remote.h — what a daemon is asked for, told to an observer as if it happened here. The observer has all callbacks
 * that can be called. Each returns CLI_OK when the observer has been told the end, else an exit code after saying why
 * there is no proper answer. */
#ifndef HAMEL_CLI_REMOTE_H
#define HAMEL_CLI_REMOTE_H

#include "api/analyze.h"
#include "api/simulate.h"
#include "clients/cli/exchange.h"
#include "clients/cli/input.h"

/* A run. */
int cli_simulate_remote(const cli_place *place, const cli_input *input, const cli_arguments *arguments,
                        const api_observer *observer);

/* An analysis: the observer is told the answer as `summary`, or a `problem`. */
int cli_analyze_remote(const cli_place *place, const cli_input *input, const cli_arguments *arguments,
                       const api_analysis_options *options, const api_observer *observer);

/* What a job has computed; `path` with its query: "/v1/jobs/ID/results?follow=true". */
int cli_results_remote(const cli_place *place, const char *id, const char *path, const api_observer *observer);

/* The description with the assignments applied (cJSON_Delete). NULL after telling the observer its faults. */
cJSON *remote_tree(const cli_input *input, const cli_arguments *arguments, const api_observer *observer);

/* What a problem document as the answer to a description is worth: the observer is told faults of the description. */
int remote_refusal(const exchange *x, const cli_place *place, const api_observer *observer, const char *file,
                   const cJSON *tree);

#endif
