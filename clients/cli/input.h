/* input.h — reads the bytes of a description from a file or standard input. */
#pragma once

#include "clients/cli/cli.h"

typedef struct cli_input {
    const char *file; /* name in messages */
    char *bytes;
    size_t length;
} cli_input;

/* Reads the file `path` ("-": standard input) up to the size limit of descriptions. Returns CLI_OK, or CLI_IO after
 * reporting an error. Call cli_input_free in both cases. */
int cli_input_read(cli_input *input, const char *path);
void cli_input_free(cli_input *input);
