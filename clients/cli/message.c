/* message.c — prints messages, writes outputs, and reports errors in writing stdout. */
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

int cli_say_errno(const char *name) {
    cli_say("%s: %s", name, errno != 0 ? strerror(errno) : "could not be written");
    return CLI_IO;
}

int cli_say_no_memory(void) {
    cli_say("memory could not be allocated");
    return CLI_IO;
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
    if (!good) cli_say_errno(standard ? "standard output" : path);
    return good;
}

int cli_flush_stdout(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return CLI_OK;
    return cli_say_errno("standard output");
}

int cli_finish_stdout(int status) {
    int flushed = cli_flush_stdout();
    return status != CLI_OK ? status : flushed;
}

int cli_output_open(cli_output *output, const char *path) {
    bool standard = path == NULL || strcmp(path, "-") == 0;
    output->name = standard ? "standard output" : path;
    output->file = standard ? stdout : fopen(path, "wb");
    return output->file != NULL ? CLI_OK : cli_say_errno(path);
}

int cli_output_close(cli_output *output, int status) {
    int closed = CLI_OK;
    bool said = status == CLI_IO; /* the command has already reported this error */
    if (output->file == stdout)
        closed = said ? CLI_IO : cli_flush_stdout();
    else if (fclose(output->file) != 0)
        closed = said ? CLI_IO : cli_say_errno(output->name);
    return status != CLI_OK ? status : closed;
}
