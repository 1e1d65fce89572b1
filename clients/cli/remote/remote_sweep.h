/* remote_sweep.h — runs a sweep as a batch on a daemon. The table has the same form as the table of a local sweep. */
#pragma once

#include "api/sweep/sweep_table.h"
#include "clients/cli/remote/exchange.h"

/* Submits the sweep (POST /v1/batches), waits for all members and writes the table to `output` (NULL: standard output).
 * Reports errors. Returns the exit code. */
int cli_sweep_remote(const cli_server *server, const cli_input *input, const cli_arguments *arguments, table_form form,
                     const char *output);
