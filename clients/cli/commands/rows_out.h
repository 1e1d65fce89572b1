/* rows_out.h — writes the output of a run. The option --format selects the format of the rows, which are written to the
 * file --output or to stdout. The summary is written to the file --summary; warnings and progress are written to
 * stderr. */
#pragma once

#include "api/simulate.h"
#include "clients/cli/options.h"

typedef struct rows_out {
    row_writer *writer;
    cli_output rows;
    const char *summary_path; /* NULL if the summary is not written */
    const char *file;         /* name in messages */
    progress_bar bar;
    int exit_code; /* exit code of the run, from its summary */
} rows_out;

/* Opens the outputs that --format, --output and --summary specify. Returns CLI_OK, or another exit code after reporting
 * an error. */
int rows_out_open(rows_out *o, const cli_arguments *arguments, const char *file);

/* Returns the observer that writes the rows. rows_out_on_problem is the callback `problem` of that observer, exported
 * for commands that extend the callback. */
api_observer rows_out_observer(rows_out *o);
bool rows_out_on_problem(void *writer, const char *json, const api_failure *failure, const char *summary_json);

/* Closes the outputs. `exit_code` is the exit code of the run. Returns the exit code of the command. */
int rows_out_finish(rows_out *o, int exit_code);

/* clang-format off */
#define ROWS_OUT_OPTIONS                                                                                               \
    {"format", "NAME", NULL, "write rows as csv, ndjson, json, npy or sse (csv)"},                                               \
    {"output", "FILE", NULL, "write rows to FILE (standard output)"},                                              \
    {"summary", "FILE", NULL, "write the summary as JSON to FILE"}
/* clang-format on */
