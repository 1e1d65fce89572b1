/* judge.c — see judge.h. */
#include "clients/cli/judge.h"

#include "api/strict_json.h"
#include "clients/cli/cli.h"

#include <string.h>

int judge_summary(const cJSON *summary, const char *file) {
    const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(summary, "warnings");
    const cJSON *status = cJSON_GetObjectItemCaseSensitive(summary, "status");
    bool incomplete = cJSON_IsString(status) && strcmp(status->valuestring, "incomplete") == 0;
    for (const cJSON *w = warnings != NULL ? warnings->child : NULL; w != NULL; w = w->next) {
        bool reason = incomplete && w->next == NULL; /* why a run is incomplete is its last warning */
        if (cJSON_IsString(w)) cli_say("%s: %s: %s", file, reason ? "incomplete" : "warning", w->valuestring);
    }
    return incomplete ? CLI_RUN_FAILED : CLI_OK;
}

int judge_summary_text(const char *json, const char *file) {
    json_limits limits = json_limits_default();
    json_fault fault;
    cJSON *summary = json_parse(json, strlen(json), &limits, &fault);
    int status = judge_summary(summary, file);
    cJSON_Delete(summary);
    return status;
}
