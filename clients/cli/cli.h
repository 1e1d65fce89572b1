/* cli.h — exit codes, messages and outputs of the commands of `hamel`, and the struct that describes a command.
 *
 * Each command is a cli_command in its own file, listed in main.c. A command receives parsed arguments (options.h) and
 * returns an exit code. Rows and documents go to stdout, messages to stderr. */
#pragma once

#include "api/simulate.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CLI_OK = 0,
    CLI_CHECK_FAILED = 1,
    CLI_USAGE = 2,
    CLI_INVALID = 3, /* the description or its initial values are invalid */
    CLI_RUN_FAILED = 4,
    CLI_SERVER = 5,
    CLI_IO = 6
};

typedef struct cli_arguments cli_arguments;

typedef struct cli_option {
    const char *name;    /* name without the dashes; NULL ends the list */
    const char *value;   /* placeholder of the value in the help; NULL if the option has no value */
    const char *assigns; /* key of the description to set; "" if the value names the key; NULL: no key */
    const char *help;
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *synopsis;                 /* arguments shown in the usage line: "FILE [OPTIONS]" */
    const char *summary;                  /* one line for the list of commands */
    const char *about;                    /* text that follows the options in the help, with examples */
    bool lists_formulations, lists_forms; /* whether the help lists formulations; forms of equations */
    const cli_option *options;
    struct {
        size_t least, most;
    } operands;
    int (*run)(const cli_arguments *arguments);
} cli_command;

extern const cli_command cli_run, cli_check, cli_analyze, cli_equations, cli_plot, cli_sweep, cli_merge, cli_submit,
    cli_status, cli_wait, cli_results, cli_cancel, cli_jobs, cli_examples, cli_new, cli_worker;

/* Prints "hamel: MESSAGE" to stderr. */
void cli_say(const char *format, ...) HAMEL_PRINTF(1, 2);

/* Reports that name[length] is not one of `names`, and suggests the nearest name. The message begins with `what`,
 * followed by the quoted name. `dashes` is "--" for an option, otherwise "". Returns CLI_USAGE. */
int cli_say_unknown(const char *what, const char *dashes, const char *name, size_t length, const char *const *names,
                    size_t count);

/* cli_say_errno prints the name of a file or stream and the text of errno. cli_say_no_memory reports that memory could
 * not be allocated. The two functions return CLI_IO. */
int cli_say_errno(const char *name);
int cli_say_no_memory(void);

/* Prints the text of a failure. If the text is NULL, prints that memory could not be allocated. Returns the exit code
 * of the failure. */
int cli_say_failure(const api_failure *failure);

/* Writes the text and a newline to a file, or to stdout if `path` is "-". Returns false after reporting an error. */
bool cli_write_file(const char *path, const char *text, size_t length);

/* Prints a JSON document and a newline to stdout. Returns CLI_OK, or CLI_IO after reporting that memory ran out. */
int cli_print_json(const cJSON *document);

/* Flushes stdout. Returns CLI_OK, or CLI_IO after reporting an error. */
int cli_flush_stdout(void);

/* Flushes stdout after a command has ended with exit code `status`. If `status` reports a failure, returns `status`.
 * Otherwise returns CLI_OK or CLI_IO. */
int cli_finish_stdout(int status);

/* The output of a command: a file, or standard output if the path is NULL or "-". Opening returns CLI_OK, or CLI_IO
 * after reporting an error. Closing flushes the file. If the flush fails and `status` is CLI_OK or CLI_RUN_FAILED,
 * closing returns CLI_IO, otherwise `status`. A draft is written to PATH.draft. If `status` is CLI_OK or
 * CLI_RUN_FAILED, closing renames the draft to PATH; otherwise closing deletes the draft. */
typedef struct cli_output {
    FILE *file;
    const char *name;     /* name in messages */
    char draft[PATH_MAX]; /* "" if the output is not a draft */
} cli_output;
int cli_output_open(cli_output *output, const char *path, bool draft);
int cli_output_close(cli_output *output, int status);

/* The bytes of a file or of standard input. */
typedef struct cli_input {
    const char *file; /* name in messages */
    char *bytes;
    size_t length;
} cli_input;

/* Reads the file `path` ("-": standard input) up to the size limit of descriptions. Returns CLI_OK, or CLI_IO after
 * reporting an error. Call cli_input_free in both cases. */
int cli_input_read(cli_input *input, const char *path);
void cli_input_free(cli_input *input);

/* A progress bar on stderr, which is shown only if stderr is a terminal. */
typedef struct progress_bar {
    bool wanted, drawn;
} progress_bar;

/* If `rows_on_stdout` is set and stdout is a terminal, the progress bar is not shown. */
void progress_bar_init(progress_bar *b, bool rows_on_stdout);
void progress_bar_show(progress_bar *b, double fraction); /* fraction: 0 to 1 */
void progress_bar_erase(progress_bar *b);                 /* call before other output to the terminal */
