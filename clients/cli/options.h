/* options.h — parser of a command's arguments, driven by the command's table of options.
 *
 * `--name value` and `--name=value` may occur anywhere among the operands. `--` ends the options. `-` is an operand.
 * Options that set a key of the description become assignments for api_override ("simulation.stop=5"), in the order of
 * the arguments. Values point into argv; cli_arguments owns the lists. */
#pragma once

#include "clients/cli/cli.h"

struct cli_arguments {
    const cli_command *command;
    const char **values; /* [option] last value given on the command line; NULL if the option was not given */
    const char **operands;
    size_t operand_count;
    char **assignments;
    size_t assignment_count;
    bool help;
};

/* Parses argv[0..count). Returns CLI_OK, or CLI_USAGE after reporting an error. Call cli_arguments_free in both
 * cases. */
int cli_arguments_parse(cli_arguments *arguments, const cli_command *command, int count, char **argv);
void cli_arguments_free(cli_arguments *arguments);

/* Returns the value of an option, "" for an option without value, or NULL if the option was not given. */
const char *cli_option_value(const cli_arguments *arguments, const char *name);

/* Sets *choice to the index of the option's value among `names`, or to 0 if the option was not given. If the value is
 * not among `names`, lists the valid values on stderr and returns CLI_USAGE. Otherwise returns CLI_OK. */
int cli_option_choice(const cli_arguments *arguments, const char *name, const char *const *names, size_t count,
                      size_t *choice);

/* Sets *value to the value of an option, a whole number from `least` to `most`. If the option was not given, leaves
 * *value unchanged. Returns CLI_OK, or CLI_USAGE after reporting an error. */
int cli_option_whole(const cli_arguments *arguments, const char *name, size_t least, size_t most, size_t *value);

/* Prints the help of a command to stdout. */
void cli_command_help(const cli_command *command);
