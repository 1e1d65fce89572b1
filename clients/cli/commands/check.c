/* check.c — hamel check: runs each file, prints one line for each check and invariant, and optionally writes JUnit XML.
 *
 * Local and remote runs both take the results from the JSON of the summary. If a file cannot be run, the command
 * continues with the other files and returns the exit code of the error. */
#include "clients/cli/commands/simulation.h"

#include "api/write/junit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct judgement {
    const char *file;
    junit *report; /* NULL without --junit */
    bool failed;   /* a check or invariant has failed */
    int ended;     /* CLI_RUN_FAILED if the run is incomplete, otherwise CLI_OK */
} judgement;

static void print_result(void *context, const api_check_result *v) {
    const judgement *j = context;
    printf("%-6s %s: %s%s%s: %s\n", v->passed ? "ok" : "FAILED", j->file, v->kind, v->name[0] != '\0' ? " " : "",
           v->name, v->found);
    if (j->report != NULL) junit_case(j->report, j->file, v);
}

static bool check_on_summary(void *context, const char *json, const hamel_summary *unused) {
    judgement *j = context;
    (void)unused;
    cJSON *summary = json_parse_trusted(json);
    j->failed = !api_check_results(summary, print_result, j);
    j->ended = cli_say_warnings(summary, j->file);
    cJSON_Delete(summary);
    return true;
}

static bool check_on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    const judgement *j = context;
    (void)json;
    (void)summary_json;
    printf("FAILED %s: run: see the message on stderr\n", j->file);
    if (j->report != NULL) junit_error(j->report, j->file, failure->text != NULL ? failure->text : "out of memory");
    return true;
}

static int check_file(const cli_arguments *arguments, const char *path, junit *report) {
    cli_input input;
    int status = cli_input_read(&input, path);
    if (status == CLI_OK) {
        judgement j = {.file = input.file, .report = report};
        cli_server server = cli_server_of(arguments);
        api_observer observer = {.context = &j, .summary = check_on_summary, .problem = check_on_problem};
        status = cli_simulate(&server, &input, arguments, &observer);
        if (status == CLI_OK) status = j.ended;
        if (status == CLI_OK && j.failed) status = CLI_CHECK_FAILED;
    } else if (report != NULL) {
        junit_error(report, path, "the file cannot be read");
    }
    cli_input_free(&input);
    return status;
}

static int write_report(junit *report, const char *path) {
    size_t length = 0;
    char *text = junit_take(report, &length);
    if (text == NULL) cli_say("%s: the report is too long", path);
    bool good = text != NULL && cli_write_file(path, text, length);
    free(text);
    return good ? CLI_OK : CLI_IO;
}

/* Combines two exit codes. If a code reports an error, returns the first such code. Otherwise returns CLI_CHECK_FAILED
 * if a check failed, or CLI_OK. */
static int worse(int one, int other) {
    if (one > CLI_CHECK_FAILED) return one;
    return other > one ? other : one;
}

static int check_files(const cli_arguments *arguments) {
    const char *path = cli_option_value(arguments, "junit");
    junit report;
    if (path != NULL) junit_init(&report);
    int status = CLI_OK;
    for (size_t k = 0; k < arguments->operand_count; k++) {
        status = worse(status, check_file(arguments, arguments->operands[k], path != NULL ? &report : NULL));
        fflush(stdout);
    }
    if (path != NULL) status = worse(status, write_report(&report, path));
    return worse(status, cli_flush_stdout());
}

const cli_command cli_check = {
    .name = "check",
    .synopsis = "FILE... [OPTIONS]",
    .summary = "simulate, and evaluate checks and invariants; exit code 1 if one fails",
    .about = "Invariants without a tolerance are printed, but cannot fail.\n\n"
             "Examples:\n"
             "  hamel check pendulum.json\n"
             "  hamel check systems/*.json --junit report.xml\n"
             "  hamel check pendulum.json --rtol 1e-10 --formulation udwadia-kalaba\n",
    .options =
        (const cli_option[]){
            {"junit", "FILE", NULL, "write the results as JUnit XML to FILE"},
            CLI_RUN_OPTIONS,
            {0},
        },
    .operands = {1, SIZE_MAX},
    .run = check_files,
};
