/* rows_out.h — what is shown of a run whose rows are wanted, wherever it is: rows to stdout or --output in --format,
 * the summary to the file --summary, warnings and progress to stderr. */
#ifndef HAMEL_CLI_ROWS_OUT_H
#define HAMEL_CLI_ROWS_OUT_H

#include "api/simulate.h"
#include "clients/cli/bar.h"
#include "clients/cli/options.h"

#include <stdio.h>

typedef struct rows_out {
    row_writer *writer;
    FILE *rows;
    const char *rows_name;
    const char *summary_path; /* or NULL */
    const char *file;         /* what messages name */
    bar bar;
    int exit_code; /* how the run ended, by its summary */
} rows_out;

/* Opens what the options of the command ask for. CLI_OK, or another code after saying why not. */
int rows_out_open(rows_out *o, const cli_arguments *arguments, const char *file);
api_observer rows_out_observer(rows_out *o);

/* Closes. `exit_code`: what telling the observer has ended with. Returns that of the command. */
int rows_out_finish(rows_out *o, int exit_code);

/* clang-format off */
#define ROWS_OUT_OPTIONS                                                                                               \
    {"format", "NAME", NULL, "csv (default), ndjson, json, npy or sse"},                                               \
    {"output", "FILE", NULL, "rows go there instead of standard output"},                                              \
    {"summary", "FILE", NULL, "write the summary there, as JSON"}
/* clang-format on */

#endif
