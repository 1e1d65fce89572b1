/* io.c — messages, inputs, outputs and the progress bar of commands. */
#include "clients/cli/cli.h"

#include "api/json/text.h"
#include "engine/base/symbol_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 64 * 1024, BAR_WIDTH = 40 };

/* --- messages ----------------------------------------------------------------------------------------------------- */

void cli_say(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fputs("hamel: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
}

int cli_say_unknown(const char *what, const char *dashes, const char *name, size_t length, const char *const *names,
                    size_t count) {
    const char *nearest = nearest_name(names, count, name, length);
    if (nearest != NULL)
        cli_say("%s `%s%.*s`; did you mean `%s%s`?", what, dashes, (int)length, name, dashes, nearest);
    else
        cli_say("%s `%s%.*s`", what, dashes, (int)length, name);
    return CLI_USAGE;
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

/* --- outputs ------------------------------------------------------------------------------------------------------ */

bool cli_write_file(const char *path, const char *text, size_t length) {
    bool standard = strcmp(path, "-") == 0;
    FILE *out = standard ? stdout : fopen(path, "wb");
    bool good = out != NULL && fwrite(text, 1, length, out) == length;
    if (good && (length == 0 || text[length - 1] != '\n')) good = fputc('\n', out) != EOF;
    if (out != NULL) good = (standard ? fflush(out) : fclose(out)) == 0 && good;
    if (!good) cli_say_errno(standard ? "standard output" : path);
    return good;
}

int cli_print_json(const cJSON *document) {
    char *text = json_text(document);
    if (text == NULL) return cli_say_no_memory();
    puts(text);
    free(text);
    return CLI_OK;
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

int cli_output_open(cli_output *output, const char *path, bool draft) {
    bool standard = path == NULL || strcmp(path, "-") == 0;
    *output = (cli_output){.file = stdout, .name = standard ? "standard output" : path};
    if (standard) return CLI_OK;
    int length = draft ? snprintf(output->draft, sizeof output->draft, "%s.draft", path) : 0;
    errno = ENAMETOOLONG;
    output->file = length < (int)sizeof output->draft ? fopen(draft ? output->draft : path, "wb") : NULL;
    return output->file != NULL ? CLI_OK : cli_say_errno(path);
}

int cli_output_close(cli_output *output, int status) {
    bool draft = output->draft[0] != '\0', whole = status == CLI_OK || status == CLI_RUN_FAILED;
    errno = 0;
    bool good = output->file == stdout ? fflush(stdout) == 0 && !ferror(stdout) : fclose(output->file) == 0;
    if (good && draft && whole) good = rename(output->draft, output->name) == 0;
    if (!good && status != CLI_IO) cli_say_errno(output->name); /* after CLI_IO, the command has reported the error */
    if (draft && !(good && whole)) (void)remove(output->draft);
    return good || !whole ? status : CLI_IO;
}

/* --- inputs ------------------------------------------------------------------------------------------------------- */

/* Reads in pieces, because the size of standard input is unknown. Stops one byte after the limit of the JSON scan; the
 * scan then reports that the input is too large. */
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
    if (input->bytes == NULL) input->bytes = calloc(1, 1); /* the file is empty; the JSON scan reports this error */
    return input->bytes != NULL ? CLI_OK : cli_say_no_memory();
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

/* --- progress ----------------------------------------------------------------------------------------------------- */

void progress_bar_init(progress_bar *b, bool rows_on_stdout) {
    *b = (progress_bar){.wanted = isatty(STDERR_FILENO) && !(rows_on_stdout && isatty(STDOUT_FILENO))};
}

void progress_bar_show(progress_bar *b, double fraction) {
    if (!b->wanted) return;
    int done = (int)(fraction * BAR_WIDTH);
    fprintf(stderr, "\r[%.*s%*s] %3d %%", done, "########################################", BAR_WIDTH - done, "",
            (int)(fraction * 100));
    b->drawn = true;
}

void progress_bar_erase(progress_bar *b) {
    if (b->drawn) fputs("\r\033[K", stderr);
    b->drawn = false;
}
