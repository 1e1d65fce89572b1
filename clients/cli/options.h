/* options.h — the arguments of one command, as its option table describes them.
 *
 * `--name value` and `--name=value` anywhere among the operands; `--` ends the options; `-` is an operand. Options that
 * set a key of the description become assignments ("simulation.stop=5") in the order given, as api_override takes
 * them. Values point into argv; the lists belong to the arguments. */
#ifndef HAMEL_CLI_OPTIONS_H
#define HAMEL_CLI_OPTIONS_H

#include "clients/cli/cli.h"

struct cli_arguments {
    const cli_command *command;
    const char **values; /* per option of the command, the last one given; NULL when it was not */
    const char **operands;
    size_t operand_count;
    char **assignments;
    size_t assignment_count;
    bool help;
};

/* Parses argv[0..count). Returns CLI_OK, or CLI_USAGE after saying what is wrong; cli_arguments_free in both cases. */
int cli_arguments_parse(cli_arguments *arguments, const cli_command *command, int count, char **argv);
void cli_arguments_free(cli_arguments *arguments);

/* The value of an option of the command ("" for one without value that was given); NULL when it was not given. */
const char *cli_option_value(const cli_arguments *arguments, const char *name);

/* The help of a command on stdout. */
void cli_command_help(const cli_command *command);

#endif
