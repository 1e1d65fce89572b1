/* check.c — hamel check: runs each file and judges its checks and invariants, one line each; JUnit XML on request.
 *
 * The verdicts are read from the summary's JSON, so those of a server are treated alike. A file that does not run
 * counts as failed with its own exit code, and the others are still judged. */
#include "clients/cli/simulation.h"

#include "clients/cli/junit.h"

#include <stdio.h>
#include <string.h>

typedef struct judgement {
    const char *file;
    junit *report; /* or NULL */
    bool failed;   /* a check or invariant has not passed */
} judgement;

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* What was found: "value 1.5" of a check, "drift 1e-9, relative 1e-10" of an invariant. */
static void describe(char *out, size_t size, const cJSON *result, bool invariant) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(result, invariant ? "max_drift" : "value");
    const cJSON *relative = cJSON_GetObjectItemCaseSensitive(result, "max_relative_drift");
    if (!cJSON_IsNumber(value)) {
        snprintf(out, size, "not reached: the run ended before its time");
    } else if (invariant) {
        snprintf(out, size, "drift %.3g, relative %.3g", value->valuedouble,
                 cJSON_IsNumber(relative) ? relative->valuedouble : 0.0);
    } else {
        snprintf(out, size, "value %.10g", value->valuedouble);
    }
}

static void judge(judgement *j, const char *kind, const char *name, bool passed, const char *found) {
    printf("%-6s %s: %s%s%s: %s\n", passed ? "ok" : "FAILED", j->file, kind, name[0] != '\0' ? " " : "", name, found);
    if (j->report != NULL) junit_case(j->report, j->file, kind, name, passed, found);
    if (!passed) j->failed = true;
}

static size_t judge_list(judgement *j, const cJSON *summary, const char *key, const char *kind, bool invariant) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(summary, key);
    size_t count = 0;
    for (const cJSON *r = list != NULL ? list->child : NULL; r != NULL; r = r->next, count++) {
        char found[200];
        describe(found, sizeof found, r, invariant);
        judge(j, kind, text_of(r, "name"), cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(r, "passed")), found);
    }
    return count;
}

static bool on_summary(void *context, const char *json, const hamel_summary *unused) {
    judgement *j = context;
    (void)unused;
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *summary = json_parse(json, strlen(json), &limits, &fault);
    const char *status = text_of(summary, "status");
    size_t count = judge_list(j, summary, "checks", "check", false);
    count += judge_list(j, summary, "invariants", "invariant", true);
    bool whole = strcmp(status, "completed") == 0 || strcmp(status, "terminated") == 0;
    if (count == 0 || !whole) judge(j, "run", "", whole, status);
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
        if (status == CLI_OK && j.failed) status = CLI_CHECK_FAILED;
    } else if (report != NULL) {
        junit_error(report, path, "the file cannot be read");
    }
    cli_input_free(&input);
    return status;
}

/* The first file that could not be judged gives the exit code; a failed check only when all could. */
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
    if (path != NULL) status = worse(status, junit_write(&report, path));
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
