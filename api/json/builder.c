/* json_builder.c — see the header. */
#include "api/json_builder.h"

cJSON *json_kept(json_builder *b, cJSON *item) {
    if (item == NULL) b->failed = true;
    return item;
}

void json_add_text(json_builder *b, cJSON *object, const char *key, const char *value) {
    if (b->failed) return;
    json_kept(b, value != NULL ? cJSON_AddStringToObject(object, key, value) : cJSON_AddNullToObject(object, key));
}

void json_add_number(json_builder *b, cJSON *object, const char *key, double value) {
    if (!b->failed) json_kept(b, cJSON_AddNumberToObject(object, key, value));
}

void json_add_truth(json_builder *b, cJSON *object, const char *key, bool value) {
    if (!b->failed) json_kept(b, cJSON_AddBoolToObject(object, key, value));
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

void json_append_texts(json_builder *b, cJSON *list, const char *const *texts, size_t count) {
    for (size_t k = 0; k < count && !b->failed; k++) json_append(b, list, cJSON_CreateString(texts[k]));
}
