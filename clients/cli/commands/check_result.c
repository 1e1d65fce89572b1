/* check_result.c — see check_result.h. */
#include "clients/cli/commands/check_result.h"

#include "api/json/strict_json.h"
#include "clients/cli/cli.h"

#include <string.h>

int check_result_print(const cJSON *summary, const char *file) {
    const cJSON *warnings = json_at(summary, "warnings");
    const cJSON *status = json_at(summary, "status");
    bool incomplete = cJSON_IsString(status) && strcmp(status->valuestring, "incomplete") == 0;
    for (const cJSON *w = warnings != NULL ? warnings->child : NULL; w != NULL; w = w->next) {
        bool reason = incomplete && w->next == NULL; /* the last warning is the reason why the run ended early */
        if (cJSON_IsString(w)) cli_say("%s: %s: %s", file, reason ? "incomplete" : "warning", w->valuestring);
    }
    return incomplete ? CLI_RUN_FAILED : CLI_OK;
}

int check_result_print_text(const char *json, const char *file) {
    cJSON *summary = json_parse_trusted(json);
    int status = check_result_print(summary, file);
    cJSON_Delete(summary);
    return status;
}
