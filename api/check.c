/* check.c — see check.h. */
#include "api/check.h"

#include "api/json/strict_json.h"

#include <stdio.h>
#include <string.h>

typedef struct check_report {
    void (*report)(void *context, const api_check_result *result);
    void *context;
    int count;
    bool passed;
} check_report;

static void describe_result(char *out, size_t size, const cJSON *result, bool invariant) {
    const cJSON *value = json_at(result, invariant ? "max_drift" : "value");
    if (!cJSON_IsNumber(value)) {
        snprintf(out, size, "not evaluated, because the run ended early");
    } else if (invariant) {
        snprintf(out, size, "drift %.3g, relative %.3g", value->valuedouble,
                 json_number_at(result, "max_relative_drift"));
    } else {
        snprintf(out, size, "value %.10g", value->valuedouble);
    }
}

static void report_result(check_report *r, const api_check_result *result) {
    r->count++;
    r->passed = r->passed && result->passed;
    r->report(r->context, result);
}

static void report_list(check_report *report, const cJSON *first, const char *kind, bool invariant) {
    for (const cJSON *r = first; r != NULL; r = r->next) {
        char found[200];
        describe_result(found, sizeof found, r, invariant);
        report_result(report, &(api_check_result){.kind = kind,
                                                  .name = json_text_at(r, "name"),
                                                  .passed = cJSON_IsTrue(json_at(r, "passed")),
                                                  .found = found});
    }
}

/* Writes the status of the run. If the run ended early, adds its last warning, which contains the reason. */
static void describe_run(char *out, size_t size, const cJSON *summary, bool whole) {
    const cJSON *warnings = json_at(summary, "warnings");
    const char *why = cJSON_GetStringValue(cJSON_GetArrayItem(warnings, cJSON_GetArraySize(warnings) - 1));
    bool explained = !whole && why != NULL;
    snprintf(out, size, "%s%s%s", json_text_at(summary, "status"), explained ? ": " : "", explained ? why : "");
    hamel_keep_code_points(out);
}

bool api_check_results(const cJSON *summary, void (*report)(void *context, const api_check_result *result),
                       void *context) {
    check_report r = {.report = report, .context = context, .passed = true};
    const char *status = json_text_at(summary, "status");
    bool whole = strcmp(status, "completed") == 0 || strcmp(status, "terminated") == 0;
    report_list(&r, json_first_at(summary, "checks"), "check", false);
    report_list(&r, json_first_at(summary, "invariants"), "invariant", true);
    if (r.count == 0 || !whole) {
        char found[200];
        describe_run(found, sizeof found, summary, whole);
        report_result(&r, &(api_check_result){.kind = "run", .name = "", .passed = whole, .found = found});
    }
    return r.passed;
}
