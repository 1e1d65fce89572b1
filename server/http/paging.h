/* paging.h — pages of lists, newest items first: reads `limit` and `cursor`, writes {items, next}. */
#pragma once

#include "server/http/request.h"

typedef struct page {
    size_t limit;
    int64_t before; /* only items with smaller numbers; 0: start with the newest */
} page;

/* Reads the query parameters. If one is invalid, replies with the error and returns false. */
bool page_read(request *r, page *out);

/* Returns {items, next} with `count` items, each made by item(context, k); NULL if out of memory. `last` is the number
 * of the last item, or 0 if the list ends with this page. */
cJSON *page_json(size_t count, cJSON *(*item)(const void *context, size_t k), const void *context, int64_t last);
