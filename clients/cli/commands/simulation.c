/* simulation.c — see simulation.h. Local and remote analyses give the same JSON.
 *
 * A listener forwards the run to the observer of the command. The listener prints errors, keeps their exit code, and
 * records whether the observer has canceled the run. */
#include "clients/cli/commands/simulation.h"

#include "clients/cli/remote/remote.h"

#include <string.h>

typedef struct listener {
    const api_observer *next;
    int exit_code; /* exit code of the failure that was printed */
    bool refused;  /* the observer has returned false */
} listener;

static bool noted(listener *l, bool taken) {
    if (!taken) l->refused = true;
    return taken;
}

static bool listener_on_header(void *context, const row_header *header) {
    listener *l = context;
    return l->next->header == NULL || noted(l, l->next->header(l->next->context, header));
}

static bool listener_on_row(void *context, const double *values, size_t count) {
    listener *l = context;
    return l->next->row == NULL || noted(l, l->next->row(l->next->context, values, count));
}

static bool listener_on_event(void *context, const char *json) {
    listener *l = context;
    return l->next->event == NULL || noted(l, l->next->event(l->next->context, json));
}

static bool listener_on_progress(void *context, const char *json, double fraction) {
    listener *l = context;
    return l->next->progress == NULL || noted(l, l->next->progress(l->next->context, json, fraction));
}

static bool listener_on_summary(void *context, const char *json, const hamel_summary *summary) {
    listener *l = context;
    return l->next->summary == NULL || noted(l, l->next->summary(l->next->context, json, summary));
}

static bool listener_on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    listener *l = context;
    if (l->refused) return true; /* canceled by the observer, which has reported the reason */
    if (l->next->problem != NULL) (void)l->next->problem(l->next->context, json, failure, summary_json);
    l->exit_code = cli_say_failure(failure);
    return true;
}

int cli_observe(const api_observer *observer, int (*source)(void *context, const api_observer *front), void *context) {
    listener l = {.next = observer};
    api_observer front = {.context = &l,
                          .header = listener_on_header,
                          .row = listener_on_row,
                          .event = listener_on_event,
                          .progress = listener_on_progress,
                          .summary = listener_on_summary,
                          .problem = listener_on_problem};
    int status = source(context, &front);
    if (l.refused) return CLI_IO;
    return status != CLI_OK ? status : l.exit_code;
}

typedef struct simulation {
    const cli_server *server;
    const cli_input *input;
    const cli_arguments *arguments;
    hamel_jit jit;
} simulation;

static int simulate_here(void *context, const api_observer *observer) {
    const simulation *s = context;
    api_limits limits = api_limits_default();
    limits.jit = s->jit;
    api_failure failure = {0};
    hamel_model *model = api_prepare(s->input->bytes, s->input->length, (const char *const *)s->arguments->assignments,
                                     s->arguments->assignment_count, &limits, NULL, s->input->file, &failure);
    if (model == NULL) {
        (void)observer->problem(observer->context, "{}", &failure, NULL);
    } else {
        hamel_status status = api_run(model, NULL, observer, s->input->file);
        (void)status; /* the observer has received the failure */
    }
    api_failure_clear(&failure);
    hamel_model_free(model);
    return CLI_OK;
}

static int simulate_there(void *context, const api_observer *observer) {
    const simulation *s = context;
    return cli_simulate_remote(s->server, s->input, s->arguments, observer);
}

int cli_simulate(const cli_server *server, const cli_input *input, const cli_arguments *arguments,
                 const api_observer *observer) {
    simulation s = {.server = server, .input = input, .arguments = arguments, .jit = HAMEL_JIT_AUTO};
    const char *when = cli_option_value(arguments, "jit");
    if (when != NULL && !hamel_jit_named(when, &s.jit)) {
        cli_say("--jit must be auto, on or off, not `%s`", when);
        return CLI_USAGE;
    }
    if (server->url != NULL && when != NULL) {
        cli_say("--jit applies to local runs only; for runs on a server, set --jit of hameld");
        return CLI_USAGE;
    }
    return cli_observe(observer, server->url != NULL ? simulate_there : simulate_here, &s);
}

int cli_say_warnings(const cJSON *summary, const char *file) {
    bool incomplete = strcmp(json_text_at(summary, "status"), "incomplete") == 0;
    for (const cJSON *w = json_first_at(summary, "warnings"); w != NULL; w = w->next) {
        bool reason = incomplete && w->next == NULL; /* the last warning is the reason why the run ended early */
        if (cJSON_IsString(w)) cli_say("%s: %s: %s", file, reason ? "incomplete" : "warning", w->valuestring);
    }
    return incomplete ? CLI_RUN_FAILED : CLI_OK;
}

int cli_say_warnings_of(const char *json, const char *file) {
    cJSON *summary = json_parse_trusted(json);
    int status = cli_say_warnings(summary, file);
    cJSON_Delete(summary);
    return status;
}

/* --- analyses ------------------------------------------------------------------------------------------------------- */

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

/* Context of the observer that receives the response of a server. */
typedef struct answer_listener {
    cli_answer_printer *print;
    void *context;
    int status;
} answer_listener;

static bool answer_on_summary(void *context, const char *json, const hamel_summary *unused) {
    answer_listener *l = context;
    (void)unused;
    cJSON *answer = json_parse_trusted(json);
    if (answer != NULL) l->status = l->print(l->context, answer);
    cJSON_Delete(answer);
    return true;
}

static bool answer_on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    answer_listener *l = context;
    (void)json;
    (void)summary_json;
    l->status = cli_say_failure(failure);
    return true;
}

static int analyze_input(const cli_arguments *arguments, const cli_input *input, const api_analysis_options *options,
                         cli_answer_printer *print, void *context) {
    cli_server server = cli_server_of(arguments);
    if (server.url == NULL) return analyze_here(arguments, input, options, print, context);
    answer_listener l = {.print = print, .context = context, .status = CLI_IO};
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
