/* paging.h — lists in pages, newest first: `limit` and `cursor` in, {items, next} out. */
#ifndef HAMEL_SERVER_HTTP_PAGING_H
#define HAMEL_SERVER_HTTP_PAGING_H

#include "server/http/request.h"

typedef struct page {
    size_t limit;
    int64_t before; /* items with smaller numbers; 0: from the newest */
} page;

/* Reads the query. False after a reply that says what is wrong. */
bool page_read(request *r, page *out);

/* {items, next}: `count` items, made by item(context, k); `last` is the number of the last one, 0 when there are no
 * more. NULL without memory. */
cJSON *page_json(size_t count, cJSON *(*item)(const void *context, size_t k), const void *context, int64_t last);

#endif
