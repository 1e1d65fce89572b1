/* write_redundancy.c — see write_redundancy.h. */
#include "api/write/write_redundancy.h"

void api_add_redundancy(json_builder *b, cJSON *object, const hamel_redundancy *r) {
    cJSON *redundancy = json_add_object(b, object, "redundancy"), *sets = json_add_list(b, redundancy, "sets");
    cJSON *not_unique = json_add_list(b, redundancy, "not_unique");
    if (r == NULL) return;
    for (size_t k = 0; k < r->set_count && !b->failed; k++)
        json_append_texts(b, json_append(b, sets, cJSON_CreateArray()), r->sets[k].items, r->sets[k].count);
    json_append_texts(b, not_unique, r->not_unique.items, r->not_unique.count);
}
