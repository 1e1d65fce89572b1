/* run.c — hamel run: rows to stdout or a file, the summary to a file, progress to a terminal. */
#include "clients/cli/simulation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 40 };

/* What a run writes to. */
typedef struct outputs {
    row_writer *writer;
    FILE *rows;
    const char *rows_name;
    const char *summary_path; /* or NULL */
    const char *file;         /* the description, for messages */
    bool bar;                 /* a progress bar is shown; it stands on stderr now where `bar_drawn` */
    bool bar_drawn;
    int exit_code;
} outputs;

static void erase_bar(outputs *o) {
    if (o->bar_drawn) fputs("\r\033[K", stderr);
    o->bar_drawn = false;
}

static bool write_bytes(void *context, const char *bytes, size_t length) {
    outputs *o = context;
    if (fwrite(bytes, 1, length, o->rows) == length) return true;
    erase_bar(o);
    cli_say("%s: %s", o->rows_name, strerror(errno));
    return false;
}

/* A writer that fails without its sink having refused says why itself. */
static bool taken(outputs *o, bool good) {
    if (good || o->writer->reason == NULL) return good;
    erase_bar(o);
    cli_say("%s: %s", o->file, o->writer->reason);
    return false;
}

static bool on_header(void *context, const row_header *header) {
    outputs *o = context;
    return taken(o, row_writer_begin(o->writer, header));
}

static bool on_row(void *context, const double *values, size_t count) {
    outputs *o = context;
    return taken(o, row_writer_row(o->writer, values, count));
}

static bool on_event(void *context, const char *json) {
    outputs *o = context;
    return taken(o, row_writer_event(o->writer, json));
}

static bool on_progress(void *context, const char *json, double fraction) {
    outputs *o = context;
    if (o->bar) {
        int done = (int)(fraction * BAR);
        fprintf(stderr, "\r[%.*s%*s] %3d %%", done, "########################################", BAR - done, "",
                (int)(fraction * 100));
        o->bar_drawn = true;
    }
    return taken(o, row_writer_progress(o->writer, json));
}

static bool write_summary_file(outputs *o, const char *json) {
    if (o->summary_path == NULL) return true;
    FILE *out = fopen(o->summary_path, "wb");
    bool good = out != NULL && fprintf(out, "%s\n", json) >= 0;
    if (out != NULL) good = fclose(out) == 0 && good;
    if (!good) cli_say("%s: %s", o->summary_path, strerror(errno));
    return good;
}

/* How the run ended, from the summary: also a server's. Warnings are for the person at the terminal; one of them says
 * why a run is incomplete. */
static void judge_summary(outputs *o, const char *json) {
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *summary = json_parse(json, strlen(json), &limits, &fault);
    const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(summary, "warnings");
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(summary, "status");
    bool incomplete = cJSON_IsString(status) && strcmp(status->valuestring, "incomplete") == 0;
    if (incomplete) o->exit_code = CLI_RUN_FAILED;
    for (const cJSON *w = warnings != NULL ? warnings->child : NULL; w != NULL; w = w->next) {
        if (cJSON_IsString(w)) cli_say("%s: %s: %s", o->file, incomplete ? "incomplete" : "warning", w->valuestring);
    }
    cJSON_Delete(summary);
}

static bool on_summary(void *context, const char *json, const hamel_summary *summary) {
    outputs *o = context;
    (void)summary;
    erase_bar(o);
    judge_summary(o, json);
    return taken(o, row_writer_summary(o->writer, json)) && write_summary_file(o, json);
}

static bool on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    outputs *o = context;
    (void)failure;
    erase_bar(o);
    /* Rows already written stay, closed in the way of their format; a run that never began leaves nothing. */
    bool good = o->writer->column_count == 0 || taken(o, row_writer_problem(o->writer, json));
    return good && (summary_json == NULL || write_summary_file(o, summary_json));
}

static int finish(outputs *o, int exit_code) {
    int status = CLI_OK;
    if (o->rows == stdout) {
        if (exit_code != CLI_IO) status = cli_flush_stdout(); /* else it has been said */
    } else if (fclose(o->rows) != 0 && exit_code != CLI_IO) {
        cli_say("%s: %s", o->rows_name, strerror(errno));
        status = CLI_IO;
    }
    row_writer_close(o->writer);
    if (exit_code != CLI_OK) return exit_code;
    return status != CLI_OK ? status : o->exit_code;
}

static int open_outputs(outputs *o, const cli_arguments *a) {
    const char *name = cli_option_value(a, "format");
    const row_format *format = row_format_named(name != NULL ? name : "csv");
    if (format == NULL) {
        cli_say("unknown format `%s`: csv, ndjson, json, npy or sse", name);
        return CLI_USAGE;
    }
    const char *path = cli_option_value(a, "output");
    bool standard = path == NULL || strcmp(path, "-") == 0;
    o->rows_name = standard ? "standard output" : path;
    o->rows = standard ? stdout : fopen(path, "wb");
    if (o->rows == NULL) {
        cli_say("%s: %s", path, strerror(errno));
        return CLI_IO;
    }
    o->writer = row_writer_open(format, (byte_sink){o, write_bytes});
    if (o->writer == NULL) {
        cli_say("memory could not be allocated");
        if (!standard) fclose(o->rows);
        return CLI_IO;
    }
    o->summary_path = cli_option_value(a, "summary");
    /* A bar between rows on the same terminal would only disturb them. */
    o->bar = isatty(STDERR_FILENO) && !(standard && isatty(STDOUT_FILENO));
    return CLI_OK;
}

static int run_file(const cli_arguments *arguments) {
    cli_input input;
    outputs o = {0};
    int status = cli_input_read(&input, arguments->operands[0]);
    if (status == CLI_OK) status = open_outputs(&o, arguments);
    if (status == CLI_OK) {
        o.file = input.file;
        cli_place place = cli_place_of(arguments);
        api_observer observer = {.context = &o,
                                 .header = on_header,
                                 .row = on_row,
                                 .event = on_event,
                                 .progress = on_progress,
                                 .summary = on_summary,
                                 .problem = on_problem};
        status = finish(&o, cli_simulate(&place, &input, arguments, &observer));
    }
    cli_input_free(&input);
    return status;
}

static const cli_option options[] = {
    {"format", "NAME", NULL, "csv (default), ndjson, json, npy or sse"},
    {"output", "FILE", NULL, "rows go there instead of standard output"},
    {"summary", "FILE", NULL, "write the summary there, as JSON"},
    CLI_RUN_OPTIONS,
    {0},
};

const cli_command cli_run = {
    .name = "run",
    .synopsis = "FILE [OPTIONS]",
    .summary = "simulate a system; rows to standard output",
    .about = "FILE may be - for standard input. A VALUE is a number or an expression of the parameters.\n\n"
             "Examples:\n"
             "  hamel run pendulum.json > rows.csv\n"
             "  hamel run pendulum.json --set l=2 --set theta.initial=pi/3 --stop 20 --samples 1001\n"
             "  hamel run pendulum.json --sensitivities l,theta.initial\n"
             "  hamel examples chain | hamel run - --format npy --output chain.npy --summary chain-summary.json\n"
             "  hamel run pendulum.json --server http://127.0.0.1:8080 --format ndjson\n",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_file,
};
