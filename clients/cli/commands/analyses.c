/* analyses.c — analyses of a file in this process or on a server. Both give the same JSON. */
#include "clients/cli/commands/simulation.h"
#include "clients/cli/remote/remote.h"

#include <stdio.h>
#include <string.h>

static int analyze_here(const cli_arguments *arguments, const cli_input *input, const api_analysis_options *options,
                        cli_answer_printer *print, void *context) {
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    cJSON *answer = api_analyze(input->bytes, input->length, (const char *const *)arguments->assignments,
                                arguments->assignment_count, options, &limits, NULL, input->file, &failure);
    int status = answer != NULL ? print(context, answer) : cli_say_failure(&failure);
    cJSON_Delete(answer);
    api_failure_clear(&failure);
    return status;
}

/* Context of the observer that receives the answer of a server. */
typedef struct listener {
    cli_answer_printer *print;
    void *context;
    int status;
} listener;

static bool answer_on_summary(void *context, const char *json, const hamel_summary *unused) {
    listener *l = context;
    (void)unused;
    cJSON *answer = json_parse_trusted(json);
    if (answer != NULL) l->status = l->print(l->context, answer);
    cJSON_Delete(answer);
    return true;
}

static bool answer_on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    listener *l = context;
    (void)json;
    (void)summary_json;
    l->status = cli_say_failure(failure);
    return true;
}

static int analyze_input(const cli_arguments *arguments, const cli_input *input, const api_analysis_options *options,
                         cli_answer_printer *print, void *context) {
    cli_server server = cli_server_of(arguments);
    if (server.url == NULL) return analyze_here(arguments, input, options, print, context);
    listener l = {.print = print, .context = context, .status = CLI_IO};
    api_observer observer = {.context = &l, .summary = answer_on_summary, .problem = answer_on_problem};
    int status = cli_analyze_remote(&server, input, arguments, options, &observer);
    return status != CLI_OK ? status : l.status;
}

int cli_analyses(const cli_arguments *arguments, const api_analysis_options *options, cli_answer_printer *print,
                 void *context) {
    cli_input input;
    int status = cli_input_read(&input, arguments->operands[0]);
    if (status == CLI_OK) status = analyze_input(arguments, &input, options, print, context);
    cli_input_free(&input);
    return status;
}
