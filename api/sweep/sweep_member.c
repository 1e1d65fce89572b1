/* sweep_member.c — see sweep_member.h. */
#include "api/sweep/sweep_member.h"

#include "api/json/text.h"
#include "api/read/describe.h"

#include <string.h>

static hamel_status read(api_sweep *out, size_t members_max, hamel_error *error) {
    const cJSON *value = cJSON_IsObject(out->tree) ? json_at(out->tree, "sweep") : NULL;
    if (!value) {
        hamel_status status = hamel_fail(error, HAMEL_INVALID, "", 0, "the key `sweep` is missing");
        hamel_suggest(error, "add a key such as \"sweep\": {\"over\": {\"m\": [1, 2]}}");
        return status;
    }
    json_reader reader = {.memory = &out->memory, .error = error};
    sweep_read(&reader, value, "/sweep", members_max, &out->sweep);
    if (error->status != HAMEL_OK) return error->status;
    if (reader.no_memory || out->sweep.count == 0)
        return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory could not be allocated for the sweep");
    return HAMEL_OK;
}

bool api_sweep_open(api_sweep *out, const char *body, size_t length, const char *const *assignments,
                    size_t assignment_count, const api_limits *limits, size_t members_max, const char *file,
                    api_failure *failure) {
    json_fault fault;
    *out = (api_sweep){.tree = json_parse(body, length, &limits->json, &fault)};
    arena_init(&out->memory, 0); /* no limit: `members_max` and the size of the body bound the memory */
    if (!out->tree) {
        api_failure_of_json(failure, &fault, file);
        api_sweep_close(out);
        return false;
    }
    hamel_error error = {0};
    hamel_status status = api_override_all(out->tree, assignments, assignment_count, &error);
    if (status == HAMEL_OK) status = read(out, members_max, &error);
    if (status != HAMEL_OK) api_sweep_close(out);
    return api_settle(failure, status, &error, file);
}

void api_sweep_close(api_sweep *s) {
    cJSON_Delete(s->tree);
    arena_free(&s->memory);
    *s = (api_sweep){0};
}

bool api_sweep_check(const api_sweep *s, const api_limits *limits, api_failure *failure) {
    hamel_error error = {0};
    api_description d = {0};
    cJSON *tree = cJSON_Duplicate(s->tree, 1);
    hamel_status status = tree ? api_describe(&d, tree, false, NULL, 0, limits, NULL, &error) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) hamel_description_check(&d.description, &limits->engine, NULL, &error);
    if (status == HAMEL_OK) status = error.status;
    api_description_free(&d);
    cJSON_Delete(tree);
    return api_settle(failure, status, &error, "request");
}

static hamel_status apply(cJSON *tree, const api_sweep *s, const char *assignments, hamel_error *error) {
    cJSON *list = json_parse_trusted(assignments);
    hamel_status status = tree && list ? sweep_apply(tree, &s->sweep, list, error) : hamel_out_of_memory(error);
    cJSON_Delete(list);
    return status;
}

char *api_sweep_member(const api_sweep *s, const char *assignments, size_t *length, api_failure *failure) {
    hamel_error error = {0};
    cJSON *tree = cJSON_Duplicate(s->tree, 1);
    hamel_status status = apply(tree, s, assignments, &error);
    char *text = status == HAMEL_OK ? json_text(tree) : NULL;
    cJSON_Delete(tree);
    if (status == HAMEL_OK && !text) status = HAMEL_NO_MEMORY;
    if (text) *length = strlen(text);
    (void)api_settle(failure, status, &error, "request");
    return text;
}
