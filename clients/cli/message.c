/* message.c — what is said to a person, small files beside the rows, and whether stdout took everything. */
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

int cli_say_failure(const api_failure *failure) {
    fputs(failure->text != NULL ? failure->text : "hamel: memory could not be allocated\n", stderr);
    return failure->exit_code;
}

bool cli_write_file(const char *path, const char *text, size_t length) {
    bool standard = strcmp(path, "-") == 0;
    FILE *out = standard ? stdout : fopen(path, "wb");
    bool good = out != NULL && fwrite(text, 1, length, out) == length;
    if (good && (length == 0 || text[length - 1] != '\n')) good = fputc('\n', out) != EOF;
    if (out != NULL) good = (standard ? fflush(out) : fclose(out)) == 0 && good;
    if (!good) cli_say("%s: %s", standard ? "standard output" : path, strerror(errno));
    return good;
}

int cli_flush_stdout(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return CLI_OK;
    cli_say("standard output: %s", errno != 0 ? strerror(errno) : "could not be written");
    return CLI_IO;
}
