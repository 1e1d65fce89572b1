/* remote_problem.c — see the header. The document has pointers and columns but not the expressions that the columns
 * count in: those are looked up in the description that was sent. */
#include "clients/cli/remote_problem.h"

#include "clients/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "/problems/";

static hamel_status status_of(const cJSON *problem) {
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(problem, "type");
    if (!cJSON_IsString(type) || strncmp(type->valuestring, prefix, sizeof prefix - 1) != 0) return HAMEL_OK;
    const char *slug = type->valuestring + sizeof prefix - 1;
#define X(name, text, meaning) \
    if (strcmp(slug, text) == 0) return HAMEL_##name;
    HAMEL_STATUS_LIST(X)
#undef X
    return HAMEL_OK;
}

bool remote_problem_is_of_description(const cJSON *problem) {
    hamel_status status = status_of(problem);
    return status != HAMEL_OK && status != HAMEL_CANCELED && status != HAMEL_NO_MEMORY;
}

/* One step of a JSON Pointer: the member or element that `token` (unescaped, length bytes) names. */
static const cJSON *step(const cJSON *at, const char *token) {
    if (cJSON_IsObject(at)) return cJSON_GetObjectItemCaseSensitive(at, token);
    if (!cJSON_IsArray(at)) return NULL;
    char *end = NULL;
    long index = strtol(token, &end, 10);
    if (end == token || *end != '\0' || index < 0) return NULL;
    const cJSON *item = at->child;
    while (item != NULL && index-- > 0) item = item->next;
    return item;
}

/* RFC 6901. The text at the pointer; NULL when there is none. */
static const char *text_at(const cJSON *tree, const char *pointer) {
    char token[256];
    const cJSON *at = tree;
    while (*pointer == '/' && at != NULL) {
        size_t length = 0;
        for (pointer++; *pointer != '\0' && *pointer != '/' && length + 1 < sizeof token; pointer++) {
            char c = *pointer;
            if (c == '~' && (pointer[1] == '0' || pointer[1] == '1')) c = *++pointer == '0' ? '~' : '/';
            token[length++] = c;
        }
        token[length] = '\0';
        at = step(at, token);
    }
    return *pointer == '\0' && cJSON_IsString(at) ? at->valuestring : NULL;
}

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static void add_fault(hamel_error *error, hamel_status status, const cJSON *fault, const cJSON *tree) {
    const char *message = text_of(fault, "message");
    const char *pointer = text_of(fault, "pointer");
    const char *suggestion = text_of(fault, "suggestion");
    const cJSON *column = cJSON_GetObjectItemCaseSensitive(fault, "column");
    int at = cJSON_IsNumber(column) && column->valueint > 0 ? column->valueint : 0;
    if (message == NULL) return;
    (void)hamel_fail(error, status, pointer, at, "%s", message);
    if (suggestion != NULL) hamel_suggest(error, "%s", suggestion);
    const char *expression = at > 0 && pointer != NULL ? text_at(tree, pointer) : NULL;
    if (expression != NULL) hamel_quote(error, expression, strlen(expression));
}

void remote_failure(api_failure *failure, const cJSON *problem, const cJSON *tree, const char *file) {
    hamel_status status = status_of(problem);
    /* Ended by the server (it shuts down, it has no memory): not the description's fault. */
    bool servers = !remote_problem_is_of_description(problem);
    if (status == HAMEL_OK) status = HAMEL_INTERNAL;
    hamel_error error = {0};
    const cJSON *faults = cJSON_GetObjectItemCaseSensitive(problem, "errors");
    for (const cJSON *f = faults != NULL ? faults->child : NULL; f != NULL; f = f->next) {
        add_fault(&error, status, f, tree);
    }
    const char *detail = text_of(problem, "detail");
    if (detail == NULL) detail = text_of(problem, "title");
    if (error.count == 0) (void)hamel_fail(&error, status, "", 0, "%s", detail != NULL ? detail : "no reason is given");
    failure->http = api_status_http(status);
    failure->exit_code = servers ? CLI_SERVER : api_status_exit(status);
    failure->text = api_error_text(&error, file);
    hamel_error_clear(&error);
}

void remote_failure_of_json(api_failure *failure, const json_fault *fault, const char *file) {
    size_t bytes = strlen(file) + sizeof fault->message + 80;
    failure->http = fault->too_large ? 413 : 400;
    failure->exit_code = CLI_INVALID;
    failure->text = malloc(bytes);
    if (failure->text == NULL) return;
    snprintf(failure->text, bytes, "hamel: %s:%zu:%zu: %s\n", file, fault->line, fault->column, fault->message);
}
