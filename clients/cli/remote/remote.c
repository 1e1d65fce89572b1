/* remote.c — forwards the responses of a daemon to an observer:
 *     POST /v1/simulations         a run
 *     POST /v1/analyses            an analysis; its document is passed as the summary
 *     GET /v1/jobs/{id}/results    the rows of a job
 *
 * Any other response is a problem document, or does not come from hameld. */
#include "clients/cli/remote/remote.h"

#include "api/analyze.h"
#include "api/json/text.h"
#include "api/read/describe.h"
#include "clients/cli/remote/remote_problem.h"
#include "clients/cli/remote/remote_stream.h"

#include <stdlib.h>
#include <string.h>

cJSON *remote_tree(const cli_input *input, const cli_arguments *arguments, const api_observer *observer) {
    json_fault fault;
    api_failure failure = {0};
    hamel_error error = {0};
    cJSON *tree = json_parse(input->bytes, input->length, NULL, &fault);
    if (tree == NULL) api_failure_of_json(&failure, &fault, input->file);
    hamel_status status = tree == NULL ? HAMEL_OK
                                       : api_override_all(tree, (const char *const *)arguments->assignments,
                                                          arguments->assignment_count, &error);
    if (status != HAMEL_OK) {
        api_failure_of_error(&failure, status, &error, input->file);
        cJSON_Delete(tree);
        tree = NULL;
    }
    if (tree == NULL) (void)observer->problem(observer->context, "{}", &failure, NULL);
    api_failure_clear(&failure);
    hamel_error_clear(&error);
    return tree;
}

/* Handles a response without rows. Forwards errors of the description to the observer, and prints errors of the
 * server. */
static int take_answer(remote_stream *s, const exchange *x, const cli_server *server, const char *prefix) {
    cJSON *problem = exchange_json(x);
    bool ours = remote_problem_is_of_description(problem);
    if (ours) {
        api_problem_rebase(problem, prefix, "");
        remote_stream_problem(s, problem);
    }
    cJSON_Delete(problem);
    return ours ? CLI_OK : exchange_failed(x, server);
}

int remote_refusal(const exchange *x, const cli_server *server, const api_observer *observer, const char *file,
                   const cJSON *tree) {
    remote_stream s = {.observer = observer, .file = file, .tree = tree};
    return take_answer(&s, x, server, "");
}

/* Requests rows and forwards them. */
static int take_rows(remote_stream *s, exchange *x, const cli_server *server) {
    int status = CLI_OK;
    if (!remote_stream_run(s, x, server))
        status = CLI_SERVER;
    else if (!s->ended && !s->refused)
        status = take_answer(s, x, server, "");
    remote_stream_clear(s);
    exchange_clear(x);
    return status;
}

int cli_simulate_remote(const cli_server *server, const cli_input *input, const cli_arguments *arguments,
                        const api_observer *observer) {
    cJSON *tree = remote_tree(input, arguments, observer);
    if (tree == NULL) return CLI_OK; /* reported */
    char *body = json_text(tree);
    remote_stream s = {.observer = observer, .file = input->file, .tree = tree};
    exchange x = {.method = "POST", .path = "/v1/simulations", .body = body, .lively = true};
    if (body != NULL) x.body_length = strlen(body);
    int status = body != NULL ? take_rows(&s, &x, server) : cli_say_no_memory();
    free(body);
    cJSON_Delete(tree);
    return status;
}

int cli_analyze_remote(const cli_server *server, const cli_input *input, const cli_arguments *arguments,
                       const api_analysis_options *options, const api_observer *observer) {
    cJSON *tree = remote_tree(input, arguments, observer);
    if (tree == NULL) return CLI_OK; /* reported */
    cJSON *request = api_analysis_request(options, tree);
    char *body = json_text(request);
    remote_stream s = {.observer = observer, .file = input->file, .tree = tree};
    int status = body != NULL ? CLI_OK : cli_say_no_memory();
    if (body != NULL) {
        exchange x = exchange_post("/v1/analyses", body);
        bool whole = exchange_run(&x, server);
        cJSON *answer = whole && x.status == 200 ? exchange_json(&x) : NULL;
        if (cJSON_IsObject(answer))
            remote_stream_summary(&s, answer);
        else
            status = take_answer(&s, &x, server, "/system");
        cJSON_Delete(answer);
        exchange_clear(&x);
    }
    free(body);
    cJSON_Delete(request);
    cJSON_Delete(tree);
    return status;
}

int cli_results_remote(const cli_server *server, const char *id, const char *path, const api_observer *observer) {
    remote_stream s = {.observer = observer, .file = id};
    exchange x = {.method = "GET", .path = path}; /* not `lively`: a queued job sends no heartbeats */
    return take_rows(&s, &x, server);
}
