/* cors.c — headers for cross-origin requests; see cors.h. */
#include "server/http/cors.h"

#include <string.h>

static const char allowed_headers[] =
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Prefer, Traceparent, X-Request-Id";
static const char exposed_headers[] = "ETag, Location, Preference-Applied, Retry-After, X-Request-Id";
static const char preflight_seconds[] = "600";

void cors_add_headers(const request *r, response_headers *h) {
    const char *list = r->services->config->cors;
    const char *origin = request_header(r, "Origin");
    if (!list[0]) return;
    bool any = strcmp(list, "*") == 0;
    if (!any) response_add(h, "Vary", "Origin");
    if (!origin || (!any && !request_text_listed(list, origin, strlen(origin)))) return;
    response_add(h, "Access-Control-Allow-Origin", any ? "*" : origin);
    response_add(h, "Access-Control-Expose-Headers", exposed_headers);
    if (r->method != METHOD_OPTIONS || !request_header(r, "Access-Control-Request-Method")) return;
    if (r->reply.allow[0]) response_add(h, "Access-Control-Allow-Methods", r->reply.allow);
    response_add(h, "Access-Control-Allow-Headers", allowed_headers);
    response_add(h, "Access-Control-Max-Age", preflight_seconds);
}
