/* submit.c — hamel submit: stores runs as jobs on a server and prints the ids of the jobs. */
#include "clients/cli/commands/simulation.h"
#include "clients/cli/remote/job_client.h"
#include "clients/cli/remote/remote.h"

#include "api/json/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct submission {
    const job_client *client;
    const cli_input *input;
} submission;

/* Prints the id of the job. Returns CLI_OK, or CLI_SERVER if the response is not a job. */
static int print_id(const exchange *x, const cli_server *server) {
    cJSON *job = exchange_json(x);
    bool good = json_text_at(job, "id")[0] != '\0';
    if (good) printf("%s\n", json_text_at(job, "id"));
    cJSON_Delete(job);
    return good ? CLI_OK : exchange_failed(x, server);
}

/* Sends the description as a job. Without assignments, sends the bytes of the file unchanged. */
static int send_system(void *context, const api_observer *observer) {
    const submission *s = context;
    const cli_arguments *arguments = s->client->arguments;
    cJSON *tree = remote_tree(s->input, arguments, observer);
    if (tree == NULL) return CLI_OK; /* reported */
    bool changed = arguments->assignment_count > 0;
    char *made = changed ? json_text(tree) : NULL;
    int status = changed && made == NULL ? cli_say_no_memory() : CLI_OK;
    if (status == CLI_OK) {
        exchange x = exchange_post("/v1/jobs", changed ? made : s->input->bytes);
        if (!changed) x.body_length = s->input->length;
        x.key = cli_option_value(arguments, "key");
        bool whole = exchange_run(&x, &s->client->server);
        status = whole && x.status == 201 ? print_id(&x, &s->client->server)
                                          : remote_refusal(&x, &s->client->server, observer, s->input->file, tree);
        exchange_clear(&x);
    }
    free(made);
    cJSON_Delete(tree);
    return status;
}

static int submit_file(const job_client *c, const char *path) {
    cli_input input;
    int status = cli_input_read(&input, path);
    if (status == CLI_OK) {
        api_observer silent = {0};
        submission s = {.client = c, .input = &input};
        status = cli_observe(&silent, send_system, &s);
    }
    cli_input_free(&input);
    return status;
}

/* Submits each file. Returns the exit code of the first failure, or CLI_OK. */
static int submit_files(const cli_arguments *arguments) {
    job_client c;
    int status = job_client_open(&c, arguments, false);
    if (status != CLI_OK) return status;
    if (arguments->operand_count > 1 && cli_option_value(arguments, "key") != NULL) {
        cli_say("--key requires exactly one file");
        return CLI_USAGE;
    }
    for (size_t k = 0; k < arguments->operand_count; k++) {
        int one = submit_file(&c, arguments->operands[k]);
        if (status == CLI_OK) status = one;
    }
    return cli_finish_stdout(status);
}

const cli_command cli_submit = {
    .name = "submit",
    .synopsis = "FILE... [OPTIONS]",
    .summary = "store runs on a server and print the ids of the jobs",
    .about = "The server checks the system before it responds. A job whose id was printed survives restarts of the "
             "server.\n\n"
             "Examples:\n"
             "  job=$(hamel submit pendulum.json --server http://127.0.0.1:8080)\n"
             "  hamel wait $job && hamel results $job > rows.csv\n",
    .options =
        (const cli_option[]){
            {"key", "TEXT", NULL, "identify the job, so that a retry with the same key does not store it twice"},
            CLI_SETTING_OPTIONS,
            {"sensitivities", "NAMES", "simulation.sensitivities",
             "add columns with derivatives with respect to these inputs"},
            JOB_OPTIONS,
            {0},
        },
    .operands = {1, SIZE_MAX},
    .run = submit_files,
};
