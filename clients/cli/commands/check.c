/* check.c — hamel check: runs each file and judges its checks and invariants, one line each; JUnit XML on request.
 *
 * The verdicts are read from the summary's JSON, so those of a server are treated alike. A file that does not run
 * counts as failed with its own exit code, and the others are still judged. */
#include "clients/cli/judge.h"
#include "clients/cli/simulation.h"

#include "api/junit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct judgement {
    const char *file;
    junit *report; /* or NULL */
    bool failed;   /* a check or invariant has not passed */
    int ended;     /* CLI_RUN_FAILED: the run is incomplete */
} judgement;

static void judge(void *context, const api_verdict *v) {
    const judgement *j = context;
    printf("%-6s %s: %s%s%s: %s\n", v->passed ? "ok" : "FAILED", j->file, v->kind, v->name[0] != '\0' ? " " : "",
           v->name, v->found);
    if (j->report != NULL) junit_case(j->report, j->file, v);
}

static bool on_summary(void *context, const char *json, const hamel_summary *unused) {
    judgement *j = context;
    (void)unused;
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *summary = json_parse(json, strlen(json), &limits, &fault);
    j->failed = !api_verdicts(summary, judge, j);
    j->ended = judge_summary(summary, j->file);
    cJSON_Delete(summary);
    return true;
}

static bool on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    const judgement *j = context;
    (void)json;
    (void)summary_json;
    printf("FAILED %s: run: see the message\n", j->file);
    if (j->report != NULL) junit_error(j->report, j->file, failure->text != NULL ? failure->text : "out of memory");
    return true;
}

static int check_file(const cli_arguments *arguments, const char *path, junit *report) {
    cli_input input;
    int status = cli_input_read(&input, path);
    if (status == CLI_OK) {
        judgement j = {.file = input.file, .report = report};
        cli_place place = cli_place_of(arguments);
        api_observer observer = {.context = &j, .summary = on_summary, .problem = on_problem};
        status = cli_simulate(&place, &input, arguments, &observer);
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

/* The first file that could not be judged to its end gives the exit code; a failed check only when all could. */
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

static const cli_option options[] = {
    {"junit", "FILE", NULL, "write the verdicts there as JUnit XML"},
    CLI_RUN_OPTIONS,
    {0},
};

const cli_command cli_check = {
    .name = "check",
    .synopsis = "FILE... [OPTIONS]",
    .summary = "simulate and judge checks and invariants; exit code 1 when one fails",
    .about = "Invariants without a tolerance are shown and never fail.\n\n"
             "Examples:\n"
             "  hamel check pendulum.json\n"
             "  hamel check systems/*.json --junit report.xml\n"
             "  hamel check pendulum.json --rtol 1e-10 --formulation udwadia-kalaba\n",
    .options = options,
    .operands_min = 1,
    .operands_max = (size_t)-1,
    .run = check_files,
};
