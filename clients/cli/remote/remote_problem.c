/* remote_problem.c — see remote_problem.h. A problem document contains pointers and columns, but not the expressions.
 * The expressions are read from the description that was sent. */
#include "clients/cli/remote/remote_problem.h"

#include "clients/cli/cli.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "/problems/";

static hamel_status status_of(const cJSON *problem) {
    const char *type = json_text_at(problem, "type");
    if (strncmp(type, prefix, sizeof prefix - 1) != 0) return HAMEL_OK;
    const char *slug = type + sizeof prefix - 1;
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

/* Follows one reference token of a JSON Pointer. Returns the member or element that the unescaped token names. */
static const cJSON *follow_token(const cJSON *at, const char *token) {
    if (cJSON_IsObject(at)) return json_at(at, token);
    if (!cJSON_IsArray(at)) return NULL;
    char *end = NULL;
    long index = strtol(token, &end, 10);
    if (end == token || *end != '\0' || index < 0) return NULL;
    const cJSON *item = at->child;
    while (item != NULL && index-- > 0) item = item->next;
    return item;
}

/* Returns the string at a JSON Pointer (RFC 6901), or NULL if the value does not exist or is not a string. */
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
        at = follow_token(at, token);
    }
    return *pointer == '\0' && cJSON_IsString(at) ? at->valuestring : NULL;
}

static void add_error(hamel_error *error, hamel_status status, const cJSON *item, const cJSON *tree) {
    const char *pointer = json_text_at(item, "pointer"), *suggestion = json_text_at(item, "suggestion");
    double column = json_number_at(item, "column");
    int at = column > 0 && column < INT_MAX ? (int)column : 0;
    if (json_text_at(item, "message")[0] == '\0') return;
    (void)hamel_fail(error, status, pointer, at, "%s", json_text_at(item, "message"));
    if (suggestion[0] != '\0') hamel_suggest(error, "%s", suggestion);
    const char *expression = at > 0 ? text_at(tree, pointer) : NULL;
    if (expression != NULL) hamel_quote(error, expression, strlen(expression));
}

void remote_failure(api_failure *failure, const cJSON *problem, const cJSON *tree, const char *file) {
    hamel_status status = status_of(problem);
    /* the server ended the run: it is shutting down or out of memory */
    bool servers = !remote_problem_is_of_description(problem);
    if (status == HAMEL_OK) status = HAMEL_INTERNAL;
    hamel_error error = {0};
    for (const cJSON *f = json_first_at(problem, "errors"); f != NULL; f = f->next) add_error(&error, status, f, tree);
    const char *detail = json_text_at(problem, json_at(problem, "detail") != NULL ? "detail" : "title");
    if (error.count == 0)
        (void)hamel_fail(&error, status, "", 0, "%s", detail[0] ? detail : "the server gave no reason");
    failure->http = api_status_http(status);
    failure->exit_code = servers ? CLI_SERVER : api_status_exit(status);
    failure->text = api_error_text(&error, file);
    hamel_error_clear(&error);
}
