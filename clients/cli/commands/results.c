/* results.c — hamel results: the rows of a job on a server, as hamel run would give them. */
#include "clients/cli/job_client.h"
#include "clients/cli/remote.h"
#include "clients/cli/rows_out.h"
#include "clients/cli/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_BYTES = 1600 };

typedef struct wanted {
    const job_client *client;
    const char *id, *path;
    rows_out out;
} wanted;

static int ask_rows(void *context, const api_observer *front) {
    const wanted *w = context;
    return cli_results_remote(&w->client->place, w->id, w->path, front);
}

/* A job that was canceled has ended before its run has, through no fault of the server. */
static bool on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    rows_out *out = context;
    if (strstr(json, "\"/problems/canceled\"") != NULL) out->exit_code = CLI_RUN_FAILED;
    return rows_out_observer(out).problem(context, json, failure, summary_json);
}

/* Of what is asked for; whole: a count. */
static int check_number(const cli_arguments *arguments, const char *name, bool whole) {
    const char *text = cli_option_value(arguments, name);
    char *end = NULL;
    double value = text != NULL ? strtod(text, &end) : 1;
    bool good = text == NULL || (end != text && *end == '\0' && isfinite(value));
    if (good && (!whole || (value >= 1 && value == floor(value)))) return CLI_OK;
    cli_say("--%s takes a %s, not `%s`", name, whole ? "whole number from 1" : "time", text);
    return CLI_USAGE;
}

static int check_numbers(const cli_arguments *arguments) {
    int status = check_number(arguments, "from", false);
    if (status == CLI_OK) status = check_number(arguments, "to", false);
    return status == CLI_OK ? check_number(arguments, "every", true) : status;
}

static void add_query(text_buffer *path, const cli_arguments *arguments) {
    static const char *const filters[] = {"columns", "from", "to", "every"};
    text_buffer query;
    text_buffer_init(&query, PATH_MAX_BYTES);
    for (size_t k = 0; k < sizeof filters / sizeof filters[0]; k++) {
        job_query_add(&query, filters[k], cli_option_value(arguments, filters[k]));
    }
    if (cli_option_value(arguments, "follow") != NULL) job_query_add(&query, "follow", "true");
    if (query.bytes != NULL) text_buffer_puts(path, query.bytes);
    path->failed |= query.failed;
    text_buffer_free(&query);
}

static int print_rows(const job_client *c, const char *id, const char *path) {
    wanted w = {.client = c, .id = id, .path = path};
    int status = rows_out_open(&w.out, c->arguments, id);
    if (status != CLI_OK) return status;
    api_observer observer = rows_out_observer(&w.out);
    observer.problem = on_problem;
    status = cli_observe(&observer, ask_rows, &w);
    if (w.out.exit_code == CLI_RUN_FAILED && status == CLI_SERVER) status = CLI_RUN_FAILED;
    return rows_out_finish(&w.out, status);
}

static int print_results(const cli_arguments *arguments) {
    job_client c;
    int status = job_client_open(&c, arguments, true);
    if (status == CLI_OK) status = check_numbers(arguments);
    if (status != CLI_OK) return status;
    text_buffer path;
    text_buffer_init(&path, PATH_MAX_BYTES);
    text_buffer_printf(&path, "/v1/jobs/%s/results", arguments->operands[0]);
    add_query(&path, arguments);
    if (path.failed) {
        cli_say("the names of the columns are too long together");
        status = CLI_USAGE;
    } else {
        status = print_rows(&c, arguments->operands[0], path.bytes);
    }
    text_buffer_free(&path);
    return status;
}

static const cli_option options[] = {
    ROWS_OUT_OPTIONS,
    {"columns", "NAMES", NULL, "only these columns, by commas"},
    {"from", "TIME", NULL, "only rows from then on"},
    {"to", "TIME", NULL, "only rows until then"},
    {"every", "N", NULL, "only the first of each N rows"},
    {"follow", NULL, NULL, "of a job that has not ended: go on with the rows as they come"},
    JOB_OPTIONS,
    {0},
};

const cli_command cli_results = {
    .name = "results",
    .synopsis = "JOB [OPTIONS]",
    .summary = "the rows of a job on a server, to standard output",
    .about = "Without --follow, a job that has not ended gives the rows that there are.\n\n"
             "Examples:\n"
             "  hamel results $job > rows.csv\n"
             "  hamel results $job --follow --format ndjson --columns t,theta --every 10\n",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = print_results,
};
