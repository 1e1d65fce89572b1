/* builder.c — see builder.h. */
#include "api/json/builder.h"

cJSON *json_kept(json_builder *b, cJSON *item) {
    if (item == NULL) b->failed = true;
    return item;
}

void json_add_text(json_builder *b, cJSON *object, const char *key, const char *value) {
    if (b->failed) return;
    json_kept(b, value != NULL ? cJSON_AddStringToObject(object, key, value) : cJSON_AddNullToObject(object, key));
}

void json_add_number(json_builder *b, cJSON *object, const char *key, double value) {
    json_add_number_or_null(b, object, key, true, value);
}

void json_add_truth(json_builder *b, cJSON *object, const char *key, bool value) {
    json_add_truth_or_null(b, object, key, true, value);
}

void json_add_null(json_builder *b, cJSON *object, const char *key) {
    json_add_text(b, object, key, NULL);
}

void json_add_number_or_null(json_builder *b, cJSON *object, const char *key, bool known, double value) {
    if (!b->failed)
        json_kept(b, known ? cJSON_AddNumberToObject(object, key, value) : cJSON_AddNullToObject(object, key));
}

void json_add_truth_or_null(json_builder *b, cJSON *object, const char *key, bool known, bool value) {
    if (!b->failed)
        json_kept(b, known ? cJSON_AddBoolToObject(object, key, value) : cJSON_AddNullToObject(object, key));
}

void json_add_texts(json_builder *b, cJSON *object, const char *key, const char *const *texts, size_t count) {
    json_append_texts(b, json_add_list(b, object, key), texts, count);
}

void json_add_numbers(json_builder *b, cJSON *object, const char *key, const double *values, size_t count) {
    cJSON *list = json_add_list(b, object, key);
    for (size_t k = 0; k < count && !b->failed; k++) json_append(b, list, cJSON_CreateNumber(values[k]));
}

cJSON *json_add_object(json_builder *b, cJSON *object, const char *key) {
    return b->failed ? NULL : json_kept(b, cJSON_AddObjectToObject(object, key));
}

cJSON *json_add_list(json_builder *b, cJSON *object, const char *key) {
    return b->failed ? NULL : json_kept(b, cJSON_AddArrayToObject(object, key));
}

cJSON *json_append(json_builder *b, cJSON *list, cJSON *item) {
    if (!b->failed && item != NULL && cJSON_AddItemToArray(list, item)) return item;
    cJSON_Delete(item);
    b->failed = true;
    return NULL;
}

cJSON *json_append_object(json_builder *b, cJSON *list) {
    return json_append(b, list, cJSON_CreateObject());
}

void json_append_texts(json_builder *b, cJSON *list, const char *const *texts, size_t count) {
    for (size_t k = 0; k < count && !b->failed; k++) json_append(b, list, cJSON_CreateString(texts[k]));
}

cJSON *json_finished(const json_builder *b, cJSON *tree) {
    if (!b->failed) return tree;
    cJSON_Delete(tree);
    return NULL;
}
