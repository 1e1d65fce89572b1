/* verdicts.c — see verdicts.h. */
#include "api/verdicts.h"

#include <stdio.h>
#include <string.h>

typedef struct telling {
    void (*tell)(void *context, const api_verdict *verdict);
    void *context;
    int count;
    bool passed;
} telling;

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

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

static void tell(telling *t, const api_verdict *verdict) {
    t->count++;
    t->passed = t->passed && verdict->passed;
    t->tell(t->context, verdict);
}

static void tell_list(telling *t, const cJSON *list, const char *kind, bool invariant) {
    for (const cJSON *r = list != NULL ? list->child : NULL; r != NULL; r = r->next) {
        char found[200];
        describe(found, sizeof found, r, invariant);
        bool passed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(r, "passed"));
        tell(t, &(api_verdict){.kind = kind, .name = text_of(r, "name"), .passed = passed, .found = found});
    }
}

/* The status; and of a run that was cut short, why: its last warning. */
static void describe_run(char *out, size_t size, const cJSON *summary, bool whole) {
    const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(summary, "warnings");
    const char *why = cJSON_GetStringValue(cJSON_GetArrayItem(warnings, cJSON_GetArraySize(warnings) - 1));
    bool told = !whole && why != NULL;
    snprintf(out, size, "%s%s%s", text_of(summary, "status"), told ? ": " : "", told ? why : "");
}

bool api_verdicts(const cJSON *summary, void (*function)(void *context, const api_verdict *verdict), void *context) {
    telling t = {.tell = function, .context = context, .passed = true};
    const char *status = text_of(summary, "status");
    bool whole = strcmp(status, "completed") == 0 || strcmp(status, "terminated") == 0;
    tell_list(&t, cJSON_GetObjectItemCaseSensitive(summary, "checks"), "check", false);
    tell_list(&t, cJSON_GetObjectItemCaseSensitive(summary, "invariants"), "invariant", true);
    if (t.count == 0 || !whole) {
        char found[200];
        describe_run(found, sizeof found, summary, whole);
        tell(&t, &(api_verdict){.kind = "run", .name = "", .passed = whole, .found = found});
    }
    return t.passed;
}
