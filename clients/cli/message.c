/* message.c — what is said to a person, and whether stdout took everything. */
#include "clients/cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cli_say(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fputs("hamel: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
}

int cli_flush_stdout(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return CLI_OK;
    cli_say("standard output: %s", errno != 0 ? strerror(errno) : "could not be written");
    return CLI_IO;
}
