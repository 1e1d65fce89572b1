/* override.c — applies "NAME=VALUE" to the tree of a description before the tree is read. The run, its hash and its
 * errors therefore belong to the changed description. */
#include "api/json/strict_json.h"
#include "api/read/read_system.h"
#include "engine/base/symbol_table.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 200, CANDIDATES_MAX = 500 };

typedef struct assignment {
    char name[NAME_MAX_BYTES + 1];
    char *member; /* points into `name`: the part after its last dot, or NULL */
    const char *value;
} assignment;

/* Converts the value to JSON. A value that is null or not JSON becomes a string (an expression). */
static cJSON *json_of(const char *text) {
    cJSON *value = json_parse(text, strlen(text), NULL, NULL);
    if (value != NULL && !cJSON_IsNull(value)) return value;
    cJSON_Delete(value);
    return cJSON_CreateString(text);
}

cJSON *api_names(const char *text) {
    cJSON *list = cJSON_CreateArray();
    int depth = 0;
    for (const char *begin = text, *at = text; list != NULL; at++) {
        depth += (*at == '[') - (*at == ']');
        if (*at != '\0' && (*at != ',' || depth > 0)) continue;
        const char *end = at;
        while (begin < end && (*begin == ' ' || *begin == '\t')) begin++;
        while (end > begin && (end[-1] == ' ' || end[-1] == '\t')) end--;
        char *name = strndup(begin, (size_t)(end - begin));
        cJSON *item = name != NULL ? cJSON_CreateString(name) : NULL;
        free(name);
        if (item == NULL || !cJSON_AddItemToArray(list, item)) {
            cJSON_Delete(item);
            cJSON_Delete(list);
            return NULL;
        }
        if (*at == '\0') break;
        begin = at + 1;
    }
    return list;
}

/* Converts the value of a simulation key. For a key whose value is a list of names, also accepts "a, b". */
static cJSON *value_of_member(const assignment *a) {
    bool names = strcmp(a->member, "record") == 0 || strcmp(a->member, "sensitivities") == 0;
    cJSON *value = json_of(a->value);
    if (!names || !cJSON_IsString(value)) return value;
    cJSON_Delete(value);
    return api_names(a->value);
}

/* Sets object[key]. If the key exists, its position in the object does not change. */
static hamel_status set_key(cJSON *object, const char *key, cJSON *value, hamel_error *error) {
    if (value == NULL) return hamel_out_of_memory(error);
    bool there = json_at(object, key) != NULL;
    bool done =
        there ? cJSON_ReplaceItemInObjectCaseSensitive(object, key, value) : cJSON_AddItemToObject(object, key, value);
    if (!done) {
        cJSON_Delete(value);
        return hamel_out_of_memory(error);
    }
    /* cJSON copies the key when it replaces an item, without checking that the copy was allocated. */
    return value->string != NULL ? HAMEL_OK : hamel_out_of_memory(error);
}

static hamel_status set_simulation(cJSON *tree, const assignment *a, hamel_error *error) {
    static const char *const output_times[] = {"samples", "step", "times"};
    cJSON *simulation = json_at(tree, "simulation");
    if (simulation == NULL) simulation = cJSON_AddObjectToObject(tree, "simulation");
    if (simulation == NULL) return hamel_out_of_memory(error);
    if (!cJSON_IsObject(simulation)) return HAMEL_OK; /* the reader reports the error */
    size_t given = 0;
    while (given < 3 && strcmp(a->member, output_times[given]) != 0) given++;
    /* `samples`, `step` and `times` exclude each other, so the new key replaces the others. */
    for (size_t k = 0; given < 3 && k < 3; k++)
        if (k != given) cJSON_DeleteItemFromObjectCaseSensitive(simulation, output_times[k]);
    return set_key(simulation, a->member, value_of_member(a), error);
}

static const char *coordinate_name(const cJSON *item) {
    if (cJSON_IsString(item)) return item->valuestring;
    return cJSON_IsObject(item) ? cJSON_GetStringValue(json_at(item, "name")) : NULL;
}

static hamel_status report_unknown(const cJSON *list, const char *what, const char *name, hamel_error *error) {
    const char *names[CANDIDATES_MAX];
    size_t count = 0;
    for (const cJSON *c = list != NULL ? list->child : NULL; c != NULL && count < CANDIDATES_MAX; c = c->next) {
        const char *candidate = c->string != NULL ? c->string : coordinate_name(c);
        if (candidate != NULL) names[count++] = candidate;
    }
    (void)hamel_fail(error, HAMEL_INVALID, "", 0, "the system has no %s `%s`", what, name);
    const char *nearest = nearest_name(names, count, name, strlen(name));
    if (nearest != NULL) hamel_suggest(error, "%s", nearest);
    return HAMEL_INVALID;
}

/* Converts a coordinate that is only a name to an object. */
static cJSON *as_object(cJSON *list, cJSON *item) {
    if (cJSON_IsObject(item)) return item;
    cJSON *object = cJSON_CreateObject();
    bool made = object != NULL && cJSON_AddStringToObject(object, "name", item->valuestring) != NULL &&
                cJSON_ReplaceItemViaPointer(list, item, object);
    if (made) return object;
    cJSON_Delete(object);
    return NULL;
}

static hamel_status set_coordinate(cJSON *tree, const assignment *a, hamel_error *error) {
    cJSON *list = json_at(tree, "coordinates");
    if (!cJSON_IsArray(list)) list = NULL;
    for (cJSON *item = list != NULL ? list->child : NULL; item != NULL; item = item->next) {
        const char *name = coordinate_name(item);
        if (name == NULL || strcmp(name, a->name) != 0) continue;
        cJSON *object = as_object(list, item);
        return object != NULL ? set_key(object, a->member, json_of(a->value), error) : hamel_out_of_memory(error);
    }
    return report_unknown(list, "coordinate", a->name, error);
}

/* Reports an unknown parameter. If a coordinate has this name, suggests its initial value or velocity. */
static hamel_status unknown_parameter(const cJSON *tree, const cJSON *parameters, const char *name,
                                      hamel_error *error) {
    hamel_status status = report_unknown(parameters, "parameter", name, error);
    for (const cJSON *c = json_first_at(tree, "coordinates"); c != NULL; c = c->next) {
        const char *coordinate = coordinate_name(c);
        if (coordinate != NULL && strcmp(coordinate, name) == 0)
            hamel_suggest(error, "use %s.initial or %s.velocity", name, name);
    }
    return status;
}

static hamel_status set_parameter(cJSON *tree, const assignment *a, hamel_error *error) {
    cJSON *parameters = json_at(tree, "parameters");
    if (!cJSON_IsObject(parameters)) parameters = NULL;
    cJSON *given = parameters != NULL ? json_at(parameters, a->name) : NULL;
    if (given == NULL) return unknown_parameter(tree, parameters, a->name, error);
    if (cJSON_IsObject(given)) return set_key(given, "value", json_of(a->value), error);
    return set_key(parameters, a->name, json_of(a->value), error);
}

/* Splits "NAME=VALUE" at its first `=` and removes blanks around the name and before the value. */
static bool split_assignment(const char *text, assignment *a) {
    const char *equals = strchr(text, '=');
    if (equals == NULL) return false;
    const char *begin = text + strspn(text, " \t");
    const char *end = equals;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t')) end--;
    size_t length = (size_t)(end - begin);
    if (end <= begin || length > NAME_MAX_BYTES) return false;
    memcpy(a->name, begin, length);
    a->name[length] = '\0';
    a->value = equals + 1 + strspn(equals + 1, " \t");
    a->member = strrchr(a->name, '.');
    if (a->member != NULL) *a->member++ = '\0';
    return a->value[0] != '\0';
}

hamel_status api_override(cJSON *tree, const char *text, hamel_error *error) {
    assignment a;
    if (!split_assignment(text, &a))
        return hamel_fail(error, HAMEL_INVALID, "", 0, "expected NAME=VALUE, found `%.100s`", text);
    if (!cJSON_IsObject(tree)) return HAMEL_OK; /* the reader reports the error */
    if (a.member == NULL) return set_parameter(tree, &a, error);
    if (strcmp(a.name, "simulation") == 0) return set_simulation(tree, &a, error);
    if (strcmp(a.member, "initial") == 0 || strcmp(a.member, "velocity") == 0) return set_coordinate(tree, &a, error);
    return hamel_fail(error, HAMEL_INVALID, "", 0,
                      "`%s.%s` cannot be set: expected a parameter, COORDINATE.initial, COORDINATE.velocity or "
                      "simulation.KEY",
                      a.name, a.member);
}
