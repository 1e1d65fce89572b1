/* submit.c — hamel submit: stores runs on a server, which answers at once; the ids of the jobs on standard output. */
#include "clients/cli/job_client.h"
#include "clients/cli/remote.h"
#include "clients/cli/simulation.h"

#include "api/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct submission {
    const job_client *client;
    const cli_input *input;
} submission;

/* The id of the job; CLI_SERVER when the answer is none. */
static int print_id(const exchange *x, const cli_place *place) {
    cJSON *job = exchange_json(x);
    bool good = job_text(job, "id")[0] != '\0';
    if (good) printf("%s\n", job_text(job, "id"));
    cJSON_Delete(job);
    return good ? CLI_OK : exchange_failed(x, place);
}

/* Where nothing is set, the bytes of the file are stored as they are. */
static int send_system(void *context, const api_observer *observer) {
    const submission *s = context;
    const cli_arguments *arguments = s->client->arguments;
    cJSON *tree = remote_tree(s->input, arguments, observer);
    if (tree == NULL) return CLI_OK; /* told */
    char *made = arguments->assignment_count > 0 ? json_text(tree) : NULL;
    int status = CLI_IO;
    if (arguments->assignment_count > 0 && made == NULL) {
        cli_say("memory could not be allocated");
    } else {
        exchange x = {.method = "POST",
                      .path = "/v1/jobs",
                      .accept = "application/json",
                      .body = made != NULL ? made : s->input->bytes,
                      .body_length = made != NULL ? strlen(made) : s->input->length,
                      .key = cli_option_value(arguments, "key")};
        bool whole = exchange_run(&x, &s->client->place);
        status = whole && x.status == 201 ? print_id(&x, &s->client->place)
                                          : remote_refusal(&x, &s->client->place, observer, s->input->file, tree);
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

/* Each file is tried; the first that failed gives the exit code. */
static int submit_files(const cli_arguments *arguments) {
    job_client c;
    int status = job_client_open(&c, arguments, false);
    if (status != CLI_OK) return status;
    if (arguments->operand_count > 1 && cli_option_value(arguments, "key") != NULL) {
        cli_say("--key is for one file");
        return CLI_USAGE;
    }
    for (size_t k = 0; k < arguments->operand_count; k++) {
        int one = submit_file(&c, arguments->operands[k]);
        if (status == CLI_OK) status = one;
    }
    int written = cli_flush_stdout();
    return status != CLI_OK ? status : written;
}

static const cli_option options[] = {
    {"key", "TEXT", NULL, "the same key gives the same job: for trying again after an answer was lost"},
    CLI_SETTING_OPTIONS,
    {"sensitivities", "NAMES", "simulation.sensitivities", "derivatives by these inputs, as columns"},
    JOB_OPTIONS,
    {0},
};

const cli_command cli_submit = {
    .name = "submit",
    .synopsis = "FILE... [OPTIONS]",
    .summary = "store runs on a server; the ids of the jobs to standard output",
    .about = "The server has checked the system when it answers, and does not lose the job from then on.\n\n"
             "Examples:\n"
             "  job=$(hamel submit pendulum.json --server http://127.0.0.1:8080)\n"
             "  hamel wait $job && hamel results $job > rows.csv\n",
    .options = options,
    .operands_min = 1,
    .operands_max = (size_t)-1,
    .run = submit_files,
};
