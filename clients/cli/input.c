/* input.c — see input.h. The input is read in pieces, because the size of standard input is unknown. Reading stops
 * one byte beyond the limit of the JSON scan, which then reports that the input is too large. */
#include "clients/cli/input.h"

#include "api/json/strict_json.h"
#include "engine/base/text_buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 64 * 1024 };

static int read_all(cli_input *input, FILE *in) {
    size_t most = json_limits_default().bytes + 1;
    text_buffer bytes;
    text_buffer_init(&bytes, most);
    char piece[PIECE];
    size_t got;
    errno = 0;
    while (bytes.length < most && (got = fread(piece, 1, sizeof piece, in)) > 0) {
        size_t room = most - bytes.length;
        text_buffer_add(&bytes, piece, got < room ? got : room);
        if (bytes.failed) break;
    }
    if (ferror(in) || bytes.failed) {
        cli_say("%s: %s", input->file, ferror(in) ? strerror(errno) : "memory could not be allocated");
        text_buffer_free(&bytes);
        return CLI_IO;
    }
    input->length = bytes.length;
    input->bytes = text_buffer_take(&bytes, NULL);
    if (input->bytes == NULL) input->bytes = calloc(1, 1); /* an empty file; the JSON scan reports it */
    text_buffer_free(&bytes);
    return input->bytes != NULL ? CLI_OK : CLI_IO;
}

int cli_input_read(cli_input *input, const char *path) {
    bool standard = strcmp(path, "-") == 0;
    *input = (cli_input){.file = standard ? "standard input" : path};
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (in == NULL) return cli_say_errno(path);
    int status = read_all(input, in);
    if (!standard) fclose(in);
    return status;
}

void cli_input_free(cli_input *input) {
    free(input->bytes);
    *input = (cli_input){0};
}
