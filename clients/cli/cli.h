/* cli.h — what the commands of `hamel` share: exit codes, messages, the table that describes a command.
 *
 * A command is a cli_command in a file of its own, listed in main.c. It gets its arguments parsed (options.h) and
 * returns an exit code. Rows and documents go to stdout, everything said to a person goes to stderr. */
#ifndef HAMEL_CLI_CLI_H
#define HAMEL_CLI_CLI_H

#include "api/simulate.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    CLI_OK = 0,
    CLI_CHECK_FAILED = 1,
    CLI_USAGE = 2,
    CLI_INVALID = 3, /* the description, or its start */
    CLI_RUN_FAILED = 4,
    CLI_SERVER = 5,
    CLI_IO = 6
};

typedef struct cli_arguments cli_arguments;

typedef struct cli_option {
    const char *name;    /* without the dashes; NULL ends a list */
    const char *value;   /* what its value is called in the help; NULL: it takes none */
    const char *assigns; /* the key that it sets in the description, "" where its value names that; NULL: none */
    const char *help;
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *synopsis; /* after the name: "FILE [OPTIONS]" */
    const char *summary;  /* one line */
    const char *about;    /* what --help says after the options: examples */
    bool lists_formulations;
    const cli_option *options;
    size_t operands_min, operands_max;
    int (*run)(const cli_arguments *arguments);
} cli_command;

extern const cli_command cli_run, cli_check, cli_analyze, cli_equations, cli_plot, cli_sweep, cli_merge, cli_submit,
    cli_status, cli_wait, cli_results, cli_cancel, cli_jobs, cli_examples, cli_new, cli_worker;

/* "hamel: MESSAGE" on stderr. */
void cli_say(const char *format, ...) HAMEL_PRINTF(1, 2);

/* The faults of a failure, or that there was no memory for them. Returns its exit code. */
int cli_say_failure(const api_failure *failure);

/* Writes a whole file, or to stdout where `path` is "-"; ends it by a line end. False after saying why not. */
bool cli_write_file(const char *path, const char *text, size_t length);

/* Flushes stdout. CLI_OK, or CLI_IO after saying why not all of it was written. */
int cli_flush_stdout(void);

#endif
