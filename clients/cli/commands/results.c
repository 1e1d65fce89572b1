/* results.c — hamel results: prints the rows of a job on a server, in the formats of hamel run. */
#include "clients/cli/commands/rows_out.h"
#include "clients/cli/commands/simulation.h"
#include "clients/cli/remote/job_client.h"
#include "clients/cli/remote/remote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_BYTES = 1600, COUNT_MOST = 1000000000 };

typedef struct wanted {
    const job_client *client;
    const char *id, *path;
    rows_out out;
} wanted;

static int ask_rows(void *context, const api_observer *front) {
    const wanted *w = context;
    return cli_results_remote(&w->client->server, w->id, w->path, front);
}

/* A canceled job counts as a failed run, not as an error of the server. */
static bool results_on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    rows_out *out = ((row_writer *)context)->sink.context;
    if (strstr(json, "\"/problems/canceled\"") != NULL) out->exit_code = CLI_RUN_FAILED;
    return rows_out_on_problem(context, json, failure, summary_json);
}

static int check_time(const cli_arguments *arguments, const char *name) {
    const char *text = cli_option_value(arguments, name);
    char *end = NULL;
    if (text == NULL || (isfinite(strtod(text, &end)) && end != text && *end == '\0')) return CLI_OK;
    cli_say("--%s must be a time, not `%s`", name, text);
    return CLI_USAGE;
}

static int check_numbers(const cli_arguments *arguments) {
    size_t every;
    int status = check_time(arguments, "from");
    if (status == CLI_OK) status = check_time(arguments, "to");
    return status == CLI_OK ? cli_option_whole(arguments, "every", 1, COUNT_MOST, &every) : status;
}

static void add_query(text_buffer *path, const cli_arguments *arguments) {
    static const char *const filters[] = {"columns", "from", "to", "every"};
    text_buffer query;
    text_buffer_init(&query, PATH_MAX_BYTES);
    for (size_t k = 0; k < sizeof filters / sizeof filters[0]; k++)
        job_query_add(&query, filters[k], cli_option_value(arguments, filters[k]));
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
    observer.problem = results_on_problem;
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
        cli_say("the list of --columns is too long; request fewer columns");
        status = CLI_USAGE;
    } else {
        status = print_rows(&c, arguments->operands[0], path.bytes);
    }
    text_buffer_free(&path);
    return status;
}

const cli_command cli_results = {
    .name = "results",
    .synopsis = "JOB [OPTIONS]",
    .summary = "print the rows of a job on a server",
    .about = "Without --follow, a running job yields the rows computed so far.\n\n"
             "Examples:\n"
             "  hamel results $job > rows.csv\n"
             "  hamel results $job --follow --format ndjson --columns t,theta --every 10\n",
    .options =
        (const cli_option[]){
            ROWS_OUT_OPTIONS,
            {"columns", "NAMES", NULL, "print only these columns, separated by commas"},
            {"from", "TIME", NULL, "print only rows from this time on"},
            {"to", "TIME", NULL, "print only rows up to this time"},
            {"every", "N", NULL, "print only the first of every N rows"},
            {"follow", NULL, NULL, "wait for further rows until the job has ended"},
            JOB_OPTIONS,
            {0},
        },
    .operands = {1, 1},
    .run = print_results,
};
