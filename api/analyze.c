/* analyze.c — see analyze.h. A failure is made complete where it is found, as in simulate.c. */
#include "api/analyze.h"

#include "api/describe.h"
#include "engine/base/symbol_table.h"

#include <stdlib.h>
#include <string.h>

static const char *const known_analyses[] = {"structure"};
static const char *const known_keys[] = {"system", "analyses", "options"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static hamel_status analyze(cJSON **answer, cJSON *tree, const char *const *assignments, size_t assignment_count,
                            const api_limits *limits, const atomic_bool *cancel, hamel_error *error) {
    api_description d;
    hamel_report *report = NULL;
    hamel_status status = api_describe(&d, tree, assignments, assignment_count, limits, cancel, error);
    if (status == HAMEL_OK) status = hamel_analyze(&report, &d.description, &limits->engine, cancel, error);
    api_description_free(&d);
    if (status != HAMEL_OK) return status;
    *answer = api_report_json(report);
    hamel_report_free(report);
    if (*answer != NULL) return HAMEL_OK;
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory for the report could not be allocated");
}

cJSON *api_analyze(const char *body, size_t length, const char *const *assignments, size_t assignment_count,
                   const api_limits *limits, const atomic_bool *cancel, const char *file, api_failure *failure) {
    json_fault fault;
    cJSON *tree = json_parse(body, length, &limits->json, &fault), *answer = NULL;
    if (tree == NULL) {
        api_failure_of_json(failure, &fault, file);
        return NULL;
    }
    hamel_error error = {0};
    hamel_status status = analyze(&answer, tree, assignments, assignment_count, limits, cancel, &error);
    cJSON_Delete(tree);
    if (status != HAMEL_OK) {
        api_ensure_fault(&error, status);
        api_failure_of_error(failure, status, &error, file);
    }
    hamel_error_clear(&error);
    return answer;
}

/* --- requests ------------------------------------------------------------------------------------------------------ */

static bool is_one_of(const char *name, const char *const *list, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(list[k], name) == 0) return true;
    return false;
}

static void check_keys(const cJSON *request, hamel_error *error) {
    for (const cJSON *item = request->child; item != NULL; item = item->next) {
        if (is_one_of(item->string, known_keys, COUNT(known_keys))) continue;
        (void)hamel_fail(error, HAMEL_INVALID, "", 0, "unknown key `%.100s`", item->string);
        const char *nearest = nearest_name(known_keys, COUNT(known_keys), item->string, strlen(item->string));
        hamel_suggest(error, nearest ? "did you mean `%s`?" : "a request has the keys system, analyses and options",
                      nearest);
    }
}

/* Absent: the structure. */
static void check_analyses(const cJSON *list, hamel_error *error) {
    if (list == NULL) return;
    if (!cJSON_IsArray(list) || list->child == NULL) {
        (void)hamel_fail(error, HAMEL_INVALID, "/analyses", 0, "expected a list of analyses, as in [\"structure\"]");
        return;
    }
    size_t index = 0;
    for (const cJSON *item = list->child; item != NULL; item = item->next, index++) {
        if (cJSON_IsString(item) && is_one_of(item->valuestring, known_analyses, COUNT(known_analyses))) continue;
        text_buffer place;
        text_buffer_init(&place, 64);
        text_buffer_printf(&place, "/analyses/%zu", index);
        (void)hamel_fail(error, HAMEL_INVALID, place.bytes, 0, "this release has the analysis `structure` only");
        text_buffer_free(&place);
    }
}

static void check_request(const cJSON *request, hamel_error *error) {
    if (!cJSON_IsObject(request)) {
        (void)hamel_fail(error, HAMEL_INVALID, "", 0, "expected an object with the keys system and analyses");
        return;
    }
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(request, "options");
    check_keys(request, error);
    check_analyses(cJSON_GetObjectItemCaseSensitive(request, "analyses"), error);
    if (options != NULL && (!cJSON_IsObject(options) || options->child != NULL))
        (void)hamel_fail(error, HAMEL_INVALID, "/options", 0, "the analysis `structure` has no options");
    if (cJSON_GetObjectItemCaseSensitive(request, "system") == NULL)
        (void)hamel_fail(error, HAMEL_INVALID, "", 0, "the key `system` is missing: the description to analyse");
}

/* Pointers into the description become pointers into the body. */
static void move_pointers(hamel_error *error) {
    static const char prefix[] = "/system";
    for (size_t k = 0; k < error->count; k++) {
        char *old = error->faults[k].pointer;
        size_t length = strlen(old);
        char *moved = malloc(sizeof prefix + length);
        if (moved == NULL) return;
        memcpy(moved, prefix, sizeof prefix - 1);
        memcpy(moved + sizeof prefix - 1, old, length + 1);
        free(old);
        error->faults[k].pointer = moved;
    }
}

cJSON *api_analyze_request(const char *body, size_t length, const api_limits *limits, const atomic_bool *cancel,
                           api_failure *failure) {
    json_fault fault;
    cJSON *request = json_parse(body, length, &limits->json, &fault), *answer = NULL;
    if (request == NULL) {
        api_failure_of_json(failure, &fault, "request");
        return NULL;
    }
    hamel_error error = {0};
    check_request(request, &error);
    hamel_status status = error.status;
    if (status == HAMEL_OK) {
        cJSON *system = cJSON_GetObjectItemCaseSensitive(request, "system");
        status = analyze(&answer, system, NULL, 0, limits, cancel, &error);
        move_pointers(&error);
    }
    cJSON_Delete(request);
    if (status != HAMEL_OK) {
        api_ensure_fault(&error, status);
        api_failure_of_error(failure, status, &error, "request");
    }
    hamel_error_clear(&error);
    return answer;
}
