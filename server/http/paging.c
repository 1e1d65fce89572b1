/* paging.c — pages of lists; see paging.h. */
#include "server/http/paging.h"

#include "api/json/builder.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_STANDARD = 50, LIMIT_MOST = 500 };

/* Parses an integer from `least` to `most`. Leaves *out unchanged if the text is NULL. */
static bool parse_number(const char *text, int64_t least, int64_t most, int64_t *out) {
    char *end;
    if (!text) return true;
    if (!isdigit((unsigned char)text[0]) || strlen(text) > 18) return false;
    long long value = strtoll(text, &end, 10);
    if (*end || value < least || value > most) return false;
    *out = value;
    return true;
}

bool page_read(request *r, page *out) {
    int64_t limit = LIMIT_STANDARD;
    out->before = 0;
    if (!parse_number(request_query(r, "limit"), 1, LIMIT_MOST, &limit)) {
        reply_problem(r, 400, "invalid-parameter", "Invalid query parameter", "limit must be an integer from 1 to %d",
                      LIMIT_MOST);
        return false;
    }
    out->limit = (size_t)limit;
    if (parse_number(request_query(r, "cursor"), 1, INT64_MAX, &out->before)) return true;
    reply_problem(r, 400, "invalid-parameter", "Invalid query parameter",
                  "cursor must be the `next` of an earlier list");
    return false;
}

cJSON *page_json(size_t count, cJSON *(*item)(const void *context, size_t k), const void *context, int64_t last) {
    json_builder b = {0};
    char cursor[24];
    cJSON *list = json_kept(&b, cJSON_CreateObject()), *items = json_add_list(&b, list, "items");
    for (size_t k = 0; k < count; k++) json_append(&b, items, item(context, k));
    snprintf(cursor, sizeof cursor, "%lld", (long long)last);
    json_add_text(&b, list, "next", last ? cursor : NULL);
    return json_finished(&b, list);
}
