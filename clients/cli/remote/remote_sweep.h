/* remote_sweep.h — a sweep on a daemon, as a batch; its table is that of a sweep in this process. */
#ifndef HAMEL_CLI_REMOTE_SWEEP_H
#define HAMEL_CLI_REMOTE_SWEEP_H

#include "api/member_table.h"
#include "clients/cli/exchange.h"
#include "clients/cli/input.h"

/* Submits the sweep (POST /v1/batches), waits for all members and writes the table to `output` (NULL: standard output)
 * when it is there. Returns the exit code after saying what went wrong. */
int cli_sweep_remote(const cli_place *place, const cli_input *input, const cli_arguments *arguments, table_form form,
                     const char *output);

#endif
