/* rows_out.c — see rows_out.h. */
#include "clients/cli/commands/rows_out.h"

#include "clients/cli/commands/simulation.h"

#include <string.h>

static bool write_bytes(void *context, const char *bytes, size_t length) {
    rows_out *o = context;
    if (fwrite(bytes, 1, length, o->rows.file) == length) return true;
    progress_bar_erase(&o->bar);
    cli_say_errno(o->rows.name);
    return false;
}

/* Returns the rows_out to which `writer` writes. `writer` is the context of the observer, and its sink has the rows_out
 * as context. */
static rows_out *rows_out_of(void *writer) {
    return ((row_writer *)writer)->sink.context;
}

static bool rows_out_on_progress(void *context, const char *json, double fraction) {
    progress_bar_show(&rows_out_of(context)->bar, fraction);
    return row_writer_object(context, ROW_PROGRESS, json);
}

static bool write_summary_file(const rows_out *o, const char *json) {
    return o->summary_path == NULL || cli_write_file(o->summary_path, json, strlen(json));
}

static bool rows_out_on_summary(void *context, const char *json, const hamel_summary *summary) {
    rows_out *o = rows_out_of(context);
    (void)summary;
    progress_bar_erase(&o->bar);
    o->exit_code = cli_say_warnings_of(json, o->file);
    return row_writer_object(context, ROW_SUMMARY, json) && write_summary_file(o, json);
}

bool rows_out_on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    rows_out *o = rows_out_of(context);
    (void)failure;
    progress_bar_erase(&o->bar);
    /* If the header was written, end the output as its format requires. If the run failed before its header, write
     * nothing. */
    bool good = o->writer->column_count == 0 || row_writer_problem(context, json, summary_json);
    return good && (summary_json == NULL || write_summary_file(o, summary_json));
}

int rows_out_finish(rows_out *o, int exit_code) {
    if (o->writer->reason != NULL) { /* an error of the writer; write_bytes has already reported errors of the file */
        progress_bar_erase(&o->bar);
        cli_say("%s: %s", o->file, o->writer->reason);
    }
    row_writer_close(o->writer);
    int status = cli_output_close(&o->rows, exit_code);
    return status != CLI_OK ? status : o->exit_code;
}

int rows_out_open(rows_out *o, const cli_arguments *a, const char *file) {
    *o = (rows_out){.file = file, .summary_path = cli_option_value(a, "summary")};
    const char *name = cli_option_value(a, "format");
    const row_format *format = row_format_named(name != NULL ? name : "csv");
    if (format == NULL) {
        cli_say("unknown format `%s`; use csv, ndjson, json, npy or sse", name);
        return CLI_USAGE;
    }
    int status = cli_output_open(&o->rows, cli_option_value(a, "output"), false);
    if (status != CLI_OK) return status;
    o->writer = row_writer_open(format, (byte_sink){o, write_bytes});
    if (o->writer == NULL) return cli_output_close(&o->rows, cli_say_no_memory());
    progress_bar_init(&o->bar, o->rows.file == stdout);
    return CLI_OK;
}

api_observer rows_out_observer(rows_out *o) {
    api_observer observer = api_observer_of(o->writer);
    observer.progress = rows_out_on_progress;
    observer.summary = rows_out_on_summary;
    observer.problem = rows_out_on_problem;
    return observer;
}
