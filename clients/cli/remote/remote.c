/* remote.c — a run on a daemon (POST /v1/simulations), told to an observer as if it happened here; an analysis
 * (POST /v1/analyses), whose one document is told as the summary; the rows of a job (GET /v1/jobs/{id}/results).
 *
 * An answer of another kind than a stream is a problem document or somebody else's page. */
#include "clients/cli/remote.h"

#include "api/analyze.h"
#include "api/json_text.h"
#include "api/read_system.h"
#include "clients/cli/remote_problem.h"
#include "clients/cli/remote_stream.h"

#include <stdlib.h>
#include <string.h>

/* An analysis is asked for with the description below a key of its own, where this side has none. */
static void move_pointers(cJSON *problem, const char *prefix) {
    size_t length = strlen(prefix);
    const cJSON *errors = cJSON_GetObjectItemCaseSensitive(problem, "errors");
    for (const cJSON *e = errors != NULL ? errors->child : NULL; e != NULL; e = e->next) {
        const cJSON *pointer = cJSON_GetObjectItemCaseSensitive(e, "pointer");
        if (!cJSON_IsString(pointer) || strncmp(pointer->valuestring, prefix, length) != 0) continue;
        char *text = pointer->valuestring;
        memmove(text, text + length, strlen(text) - length + 1);
    }
}

cJSON *remote_tree(const cli_input *input, const cli_arguments *arguments, const api_observer *observer) {
    json_limits limits = json_limits_default();
    json_fault fault;
    api_failure failure = {0};
    hamel_error error = {0};
    cJSON *tree = json_parse(input->bytes, input->length, &limits, &fault);
    if (tree == NULL) remote_failure_of_json(&failure, &fault, input->file);
    hamel_status status = HAMEL_OK;
    for (size_t k = 0; tree != NULL && k < arguments->assignment_count; k++) {
        hamel_status one = api_override(tree, arguments->assignments[k], &error);
        if (status == HAMEL_OK) status = one;
    }
    if (status != HAMEL_OK) {
        failure = (api_failure){.exit_code = api_status_exit(status), .text = api_error_text(&error, input->file)};
        cJSON_Delete(tree);
        tree = NULL;
    }
    if (tree == NULL) (void)observer->problem(observer->context, "{}", &failure, NULL);
    api_failure_clear(&failure);
    hamel_error_clear(&error);
    return tree;
}

/* An answer without rows. Faults of the description are told as such; the rest is the server's. */
static int take_answer(remote_stream *s, const exchange *x, const cli_place *place, const char *prefix) {
    cJSON *problem = exchange_json(x);
    bool ours = remote_problem_is_of_description(problem);
    if (ours) {
        move_pointers(problem, prefix);
        remote_stream_problem(s, problem);
    }
    cJSON_Delete(problem);
    return ours ? CLI_OK : exchange_failed(x, place);
}

int remote_refusal(const exchange *x, const cli_place *place, const api_observer *observer, const char *file,
                   const cJSON *tree) {
    remote_stream s = {.observer = observer, .file = file, .tree = tree};
    return take_answer(&s, x, place, "");
}

static int no_memory(void) {
    cli_say("memory could not be allocated");
    return CLI_IO;
}

/* Asks for rows and tells them. */
static int take_rows(remote_stream *s, exchange *x, const cli_place *place) {
    int status = CLI_OK;
    if (!remote_stream_run(s, x, place)) {
        status = CLI_SERVER;
    } else if (!s->ended && !s->refused) {
        status = take_answer(s, x, place, "");
    }
    remote_stream_clear(s);
    exchange_clear(x);
    return status;
}

int cli_simulate_remote(const cli_place *place, const cli_input *input, const cli_arguments *arguments,
                        const api_observer *observer) {
    cJSON *tree = remote_tree(input, arguments, observer);
    if (tree == NULL) return CLI_OK; /* told */
    char *body = json_text(tree);
    remote_stream s = {.observer = observer, .file = input->file, .tree = tree};
    exchange x = {.method = "POST", .path = "/v1/simulations", .body = body, .lively = true};
    if (body != NULL) x.body_length = strlen(body);
    int status = body != NULL ? take_rows(&s, &x, place) : no_memory();
    free(body);
    cJSON_Delete(tree);
    return status;
}

static int analyze_tree(const cli_place *place, const char *file, const cJSON *tree, const char *body,
                        const api_observer *observer) {
    remote_stream s = {.observer = observer, .file = file, .tree = tree};
    exchange x = {.method = "POST",
                  .path = "/v1/analyses",
                  .accept = "application/json",
                  .body = body,
                  .body_length = strlen(body)};
    int status = CLI_OK;
    bool whole = exchange_run(&x, place);
    cJSON *answer = whole && x.status == 200 ? exchange_json(&x) : NULL;
    if (cJSON_IsObject(answer)) {
        remote_stream_summary(&s, answer);
    } else {
        status = take_answer(&s, &x, place, "/system");
    }
    cJSON_Delete(answer);
    exchange_clear(&x);
    return status;
}

int cli_analyze_remote(const cli_place *place, const cli_input *input, const cli_arguments *arguments,
                       const api_analysis_options *options, const api_observer *observer) {
    cJSON *tree = remote_tree(input, arguments, observer);
    if (tree == NULL) return CLI_OK; /* told */
    cJSON *request = api_analysis_request(options, tree);
    char *body = json_text(request);
    int status = body != NULL ? analyze_tree(place, input->file, tree, body, observer) : no_memory();
    free(body);
    cJSON_Delete(request);
    cJSON_Delete(tree);
    return status;
}

int cli_results_remote(const cli_place *place, const char *id, const char *path, const api_observer *observer) {
    remote_stream s = {.observer = observer, .file = id};
    exchange x = {.method = "GET", .path = path}; /* quiet while the job waits for its turn */
    return take_rows(&s, &x, place);
}
