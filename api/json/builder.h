/* json_builder.h — JSON trees out of many small allocations, whose failures are gathered and looked at once, at the end.
 *
 * After a failure every call does nothing; a parent may then be NULL. The tree stays the caller's (cJSON_Delete). */
#ifndef HAMEL_API_JSON_BUILDER_H
#define HAMEL_API_JSON_BUILDER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct json_builder {
    bool failed;
} json_builder;

/* `item` itself; notes a failure when it is NULL. */
cJSON *json_kept(json_builder *b, cJSON *item);

/* Members of an object; a text that is NULL becomes null. What is returned is part of the tree; NULL after a failure. */
void json_add_text(json_builder *b, cJSON *object, const char *key, const char *value);
void json_add_number(json_builder *b, cJSON *object, const char *key, double value);
void json_add_truth(json_builder *b, cJSON *object, const char *key, bool value);
cJSON *json_add_object(json_builder *b, cJSON *object, const char *key);
cJSON *json_add_list(json_builder *b, cJSON *object, const char *key);

/* Appends `item`, which may be NULL, to the list, and returns it while it is part of the tree. */
cJSON *json_append(json_builder *b, cJSON *list, cJSON *item);
void json_append_texts(json_builder *b, cJSON *list, const char *const *texts, size_t count);

#endif
