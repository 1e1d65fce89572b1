/* plot.c — hamel plot: runs a description and draws its columns to a file or the terminal. */
#include "clients/cli/commands/simulation.h"
#include "clients/cli/plot/figure.h"

#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    WIDTH = 800,
    HEIGHT = 500,
    COLUMNS = 80,
    LINES = 24,
    CHARACTERS_LEAST = 10,
    PIXELS_LEAST = 100,
    SIZE_MOST = 4000
};

typedef struct drawing {
    const cli_arguments *arguments;
    const char *file;
    const char *path; /* NULL to draw on the terminal */
    const plot_surface_kind *kind;
    size_t width, height; /* 0 without --size */
    plot_table table;
    progress_bar bar;
    bool unfit; /* the options do not fit the result; the reason has been reported */
    int exit_code;
} drawing;

/* --- the run ------------------------------------------------------------------------------------------------------ */

static bool plot_on_header(void *context, const row_header *header) {
    drawing *d = context;
    d->unfit = !plot_table_begin(&d->table, header, cli_option_value(d->arguments, "columns"),
                                 cli_option_value(d->arguments, "over"));
    return !d->unfit;
}

static bool plot_on_row(void *context, const double *values, size_t count) {
    drawing *d = context;
    (void)count;
    d->unfit = !plot_table_add(&d->table, values);
    return !d->unfit;
}

static bool plot_on_progress(void *context, const char *json, double fraction) {
    drawing *d = context;
    (void)json;
    progress_bar_show(&d->bar, fraction);
    return true;
}

static bool plot_on_summary(void *context, const char *json, const hamel_summary *summary) {
    drawing *d = context;
    (void)summary;
    progress_bar_erase(&d->bar);
    d->exit_code = cli_say_warnings_of(json, d->file);
    return true;
}

static bool plot_on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    drawing *d = context;
    (void)json;
    (void)failure;
    (void)summary_json;
    progress_bar_erase(&d->bar);
    return true;
}

/* --- the drawing -------------------------------------------------------------------------------------------------- */

static bool draw_on(const drawing *d, FILE *out) {
    size_t width = d->width > 0 ? d->width : WIDTH, height = d->height > 0 ? d->height : HEIGHT;
    plot_surface *surface = d->kind->open((double)width, (double)height, d->table.title, out);
    if (surface == NULL) return false;
    bool drawn = plot_figure_draw(&d->table, surface, (double)width, (double)height);
    return d->kind->close(surface) && drawn;
}

static int draw_file(const drawing *d) {
    cli_output out;
    int status = cli_output_open(&out, d->path, false);
    if (status != CLI_OK) return status;
    return cli_output_close(&out, draw_on(d, out.file) ? CLI_OK : cli_say_errno(d->path));
}

static bool takes_utf8(void) {
    locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool utf8 = user != (locale_t)0 && strcmp(nl_langinfo_l(CODESET, user), "UTF-8") == 0;
    if (user != (locale_t)0) freelocale(user);
    return utf8;
}

/* Returns size, characters and colours for a drawing on the terminal. Braille dots look the same for all columns.
 * Therefore several columns are drawn with dots only if colours distinguish them. */
static plot_terminal terminal_of(const drawing *d) {
    struct winsize window = {0};
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    bool tty = isatty(STDOUT_FILENO) != 0;
    if (tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) window = (struct winsize){0};
    plot_terminal t = {
        .width = d->width > 0        ? d->width
                 : window.ws_col > 0 ? window.ws_col
                                     : COLUMNS,
        .height = d->height > 0       ? d->height
                  : window.ws_row > 1 ? window.ws_row - 1u
                                      : LINES, /* the last line is for the prompt */
        .colours = tty && term != NULL && strcmp(term, "dumb") != 0 && (plain == NULL || plain[0] == '\0'),
    };
    t.dots = takes_utf8() && (t.colours || d->table.column_count == 2);
    return t;
}

static int draw_result(const drawing *d) {
    if (d->table.row_count == 0) return CLI_OK;
    if (d->path != NULL) return draw_file(d);
    plot_terminal terminal = terminal_of(d);
    if (plot_terminal_draw(&d->table, &terminal, stdout)) return cli_flush_stdout();
    return cli_say_no_memory();
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static bool read_length(const char **text, size_t least, size_t *length) {
    char *end = NULL;
    *length = isdigit((unsigned char)**text) ? strtoul(*text, &end, 10) : 0;
    if (end != NULL) *text = end;
    return *length >= least && *length <= SIZE_MOST;
}

static int read_options(drawing *d) {
    const char *path = cli_option_value(d->arguments, "output"), *size = cli_option_value(d->arguments, "size");
    d->path = path != NULL && strcmp(path, "-") != 0 ? path : NULL;
    d->kind = d->path != NULL ? plot_surface_named(d->path) : NULL;
    if (d->path != NULL && d->kind == NULL) {
        cli_say("--output must end with .svg or .png, not `%s`", d->path);
        return CLI_USAGE;
    }
    if (size == NULL) return CLI_OK;
    size_t least = d->path != NULL ? PIXELS_LEAST : CHARACTERS_LEAST;
    const char *at = size;
    if (read_length(&at, least, &d->width) && *at++ == 'x' && read_length(&at, least, &d->height) && *at == '\0')
        return CLI_OK;
    cli_say("--size must be WIDTHxHEIGHT, both from %zu to %d, not `%s`", least, SIZE_MOST, size);
    return CLI_USAGE;
}

static int run_and_draw(drawing *d, const cli_input *input) {
    cli_server server = cli_server_of(d->arguments);
    api_observer observer = {.context = d,
                             .header = plot_on_header,
                             .row = plot_on_row,
                             .progress = plot_on_progress,
                             .summary = plot_on_summary,
                             .problem = plot_on_problem};
    progress_bar_init(&d->bar, false);
    int status = cli_simulate(&server, input, d->arguments, &observer);
    if (d->unfit) return CLI_USAGE;
    int drawn = draw_result(d); /* also draws the rows of a failed run */
    if (status != CLI_OK) return status;
    return drawn != CLI_OK ? drawn : d->exit_code;
}

static int plot(const cli_arguments *arguments) {
    cli_input input;
    drawing d = {.arguments = arguments};
    int status = read_options(&d);
    if (status != CLI_OK) return status;
    status = cli_input_read(&input, arguments->operands[0]);
    d.file = input.file;
    if (status == CLI_OK) status = run_and_draw(&d, &input);
    plot_table_clear(&d.table);
    cli_input_free(&input);
    return status;
}

const cli_command cli_plot = {
    .name = "plot",
    .synopsis = "FILE [OPTIONS]",
    .summary = "simulate and draw to a file or the terminal",
    .about = "Up to 8 columns can be drawn. The first line of hamel run FILE lists the names of all columns. A PNG\n"
             "has two pixels for each unit of its size. The rows of a failed run are drawn, too.\n\n"
             "Examples:\n"
             "  hamel plot pendulum.json\n"
             "  hamel plot pendulum.json --columns \"theta,theta'\" --output motion.svg\n"
             "  hamel plot pendulum.json --columns \"theta'\" --over theta --output phases.png --size 600x600\n",
    .options =
        (const cli_option[]){
            {"columns", "NAMES", NULL, "draw these columns, separated by commas (coordinates)"},
            {"over", "NAME", NULL, "use this column as horizontal axis (time)"},
            {"output", "FILE", NULL, "draw to FILE.svg or FILE.png (terminal)"},
            {"size", "WxH", NULL, "set width and height (800x500, or size of the terminal)"},
            CLI_RUN_OPTIONS,
            {0},
        },
    .operands = {1, 1},
    .run = plot,
};
