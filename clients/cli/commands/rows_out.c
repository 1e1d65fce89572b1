/* rows_out.c — see rows_out.h. */
#include "clients/cli/rows_out.h"

#include "clients/cli/judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool write_bytes(void *context, const char *bytes, size_t length) {
    rows_out *o = context;
    if (fwrite(bytes, 1, length, o->rows) == length) return true;
    bar_erase(&o->bar);
    cli_say("%s: %s", o->rows_name, strerror(errno));
    return false;
}

/* A writer that fails without its sink having refused says why itself. */
static bool taken(rows_out *o, bool good) {
    if (good || o->writer->reason == NULL) return good;
    bar_erase(&o->bar);
    cli_say("%s: %s", o->file, o->writer->reason);
    return false;
}

static bool on_header(void *context, const row_header *header) {
    rows_out *o = context;
    return taken(o, row_writer_begin(o->writer, header));
}

static bool on_row(void *context, const double *values, size_t count) {
    rows_out *o = context;
    return taken(o, row_writer_row(o->writer, values, count));
}

static bool on_event(void *context, const char *json) {
    rows_out *o = context;
    return taken(o, row_writer_event(o->writer, json));
}

static bool on_progress(void *context, const char *json, double fraction) {
    rows_out *o = context;
    bar_show(&o->bar, fraction);
    return taken(o, row_writer_progress(o->writer, json));
}

static bool write_summary_file(rows_out *o, const char *json) {
    return o->summary_path == NULL || cli_write_file(o->summary_path, json, strlen(json));
}

static bool on_summary(void *context, const char *json, const hamel_summary *summary) {
    rows_out *o = context;
    (void)summary;
    bar_erase(&o->bar);
    o->exit_code = judge_summary_text(json, o->file);
    return taken(o, row_writer_summary(o->writer, json)) && write_summary_file(o, json);
}

static bool on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    rows_out *o = context;
    (void)failure;
    bar_erase(&o->bar);
    /* Rows already written stay, closed in the way of their format; a run that never began leaves nothing. */
    bool good = o->writer->column_count == 0 || taken(o, row_writer_problem(o->writer, json, summary_json));
    return good && (summary_json == NULL || write_summary_file(o, summary_json));
}

int rows_out_finish(rows_out *o, int exit_code) {
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

int rows_out_open(rows_out *o, const cli_arguments *a, const char *file) {
    *o = (rows_out){.file = file};
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
    bar_init(&o->bar, standard);
    return CLI_OK;
}

api_observer rows_out_observer(rows_out *o) {
    return (api_observer){.context = o,
                          .header = on_header,
                          .row = on_row,
                          .event = on_event,
                          .progress = on_progress,
                          .summary = on_summary,
                          .problem = on_problem};
}
