/* input.h — a description as bytes, from a file or standard input. */
#ifndef HAMEL_CLI_INPUT_H
#define HAMEL_CLI_INPUT_H

#include "clients/cli/cli.h"

typedef struct cli_input {
    const char *file; /* as messages name it */
    char *bytes;
    size_t length;
} cli_input;

/* Reads all of `path` ("-": standard input), no more than a description may have. CLI_OK, or CLI_IO after saying why
 * not. cli_input_free in both cases. */
int cli_input_read(cli_input *input, const char *path);
void cli_input_free(cli_input *input);

#endif
