/* builder.h — builds JSON trees. The builder records failed allocations. Callers check only once, at the end.
 *
 * After a failure every call does nothing, and a parent may be NULL. The caller owns the tree (cJSON_Delete). */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct json_builder {
    bool failed;
} json_builder;

/* Returns `item`. Records a failure if `item` is NULL. */
cJSON *json_kept(json_builder *b, cJSON *item);

/* Add a member to an object. A NULL string becomes null. The returned item is part of the tree, or NULL after a
 * failure. */
void json_add_text(json_builder *b, cJSON *object, const char *key, const char *value);
void json_add_number(json_builder *b, cJSON *object, const char *key, double value);
void json_add_truth(json_builder *b, cJSON *object, const char *key, bool value);
void json_add_null(json_builder *b, cJSON *object, const char *key);
void json_add_number_or_null(json_builder *b, cJSON *object, const char *key, bool known, double value);
void json_add_texts(json_builder *b, cJSON *object, const char *key, const char *const *texts, size_t count);
void json_add_numbers(json_builder *b, cJSON *object, const char *key, const double *values, size_t count);
cJSON *json_add_object(json_builder *b, cJSON *object, const char *key);
cJSON *json_add_list(json_builder *b, cJSON *object, const char *key);
void json_add_truth_or_null(json_builder *b, cJSON *object, const char *key, bool known, bool value);

/* Append `item`, which the list then owns, or an empty object. Return the appended item, or NULL after a failure. */
cJSON *json_append(json_builder *b, cJSON *list, cJSON *item);
cJSON *json_append_object(json_builder *b, cJSON *list);
void json_append_texts(json_builder *b, cJSON *list, const char *const *texts, size_t count);

/* Returns the finished tree. After a failure, deletes the tree and returns NULL. */
cJSON *json_finished(const json_builder *b, cJSON *tree);
