/* routes.c — table of routes; see routes.h. The routes are in the order of the documentation. Paths are matched segment
 * by segment. */
#include "server/http/routes.h"

#include <stdio.h>
#include <string.h>

static const char *const list_query[] = {"status", "name", "batch", "limit", "cursor", NULL};
static const char *const page_query[] = {"limit", "cursor", NULL};
static const char *const any_query[] = {ROUTE_ANY_QUERY, NULL}; /* health checks may add parameters to bypass caches */
static const char *const results_query[] = {"from", "to", "every", "columns", "follow", NULL};

/* clang-format off */
static const route routes[] = {
    {METHOD_POST,    "/v1/simulations",              RUN_STREAM, true,  simulations_create,    SCOPE_RUN,   NULL},
    {METHOD_POST,    "/v1/analyses",                 RUN_STREAM, true,  analyses_create,       SCOPE_RUN,   NULL},
    {METHOD_POST,    "/v1/checks",                   RUN_STREAM, true,  checks_create,         SCOPE_RUN,   NULL},
    {METHOD_POST,    "/v1/jobs",                     RUN_STREAM, true,  jobs_create,           SCOPE_RUN,   NULL},
    {METHOD_GET,     "/v1/jobs",                     RUN_BRIEF,  false, jobs_list,             SCOPE_READ,  list_query},
    {METHOD_GET,     "/v1/jobs/{}",                  RUN_BRIEF,  false, jobs_get,              SCOPE_READ,  NULL},
    {METHOD_DELETE,  "/v1/jobs/{}",                  RUN_BRIEF,  false, jobs_delete,           SCOPE_RUN,   NULL},
    {METHOD_GET,     "/v1/jobs/{}/system",           RUN_BRIEF,  false, jobs_get_system,       SCOPE_READ,  NULL},
    {METHOD_GET,     "/v1/jobs/{}/results",          RUN_FOLLOW, false, jobs_get_results,      SCOPE_READ,  results_query},
    {METHOD_GET,     "/v1/jobs/{}/events",           RUN_FOLLOW, false, jobs_get_events,       SCOPE_READ,  NULL},
    {METHOD_POST,    "/v1/jobs/{}/cancel",           RUN_BRIEF,  false, jobs_cancel,           SCOPE_RUN,   NULL},
    {METHOD_POST,    "/v1/batches",                  RUN_STREAM, true,  batches_create,        SCOPE_RUN,   NULL},
    {METHOD_GET,     "/v1/batches",                  RUN_BRIEF,  false, batches_list,          SCOPE_READ,  page_query},
    {METHOD_GET,     "/v1/batches/{}",               RUN_BRIEF,  false, batches_get,           SCOPE_READ,  NULL},
    {METHOD_DELETE,  "/v1/batches/{}",               RUN_BRIEF,  false, batches_delete,        SCOPE_RUN,   NULL},
    {METHOD_GET,     "/v1/batches/{}/results",       RUN_STREAM, false, batches_get_results,   SCOPE_READ,  NULL},
    {METHOD_POST,    "/v1/batches/{}/cancel",        RUN_BRIEF,  false, batches_cancel,        SCOPE_RUN,   NULL},
    {METHOD_GET,     "/v1/examples",                 RUN_BRIEF,  false, examples_list,         0,           NULL},
    {METHOD_GET,     "/v1/examples/{}",              RUN_BRIEF,  false, examples_get,          0,           NULL},
    {METHOD_GET,     "/",                            RUN_BRIEF,  false, service_index,         0,           NULL},
    {METHOD_GET,     "/page/{}",                     RUN_BRIEF,  false, service_document,      0,           NULL},
    {METHOD_GET,     "/openapi.json",                RUN_BRIEF,  false, service_document,      0,           NULL},
    {METHOD_GET,     "/schemas/system.schema.json",  RUN_BRIEF,  false, service_document,      0,           NULL},
    {METHOD_GET,     "/docs",                        RUN_BRIEF,  false, service_document,      0,           NULL},
    {METHOD_GET,     "/docs/docs.css",               RUN_BRIEF,  false, service_document,      0,           NULL},
    {METHOD_GET,     "/docs/docs.js",                RUN_BRIEF,  false, service_document,      0,           NULL},
    {METHOD_GET,     "/healthz",                     RUN_INLINE, false, service_healthz,       0,           any_query},
    {METHOD_GET,     "/readyz",                      RUN_BRIEF,  false, service_readyz,        0,           any_query},
    {METHOD_GET,     "/metrics",                     RUN_BRIEF,  false, service_metrics,       SCOPE_ADMIN, NULL},
};
/* clang-format on */
enum { ROUTE_TOTAL = sizeof routes / sizeof routes[0] };

const route *route_at(size_t index) {
    return index < ROUTE_TOTAL ? &routes[index] : NULL;
}

size_t route_index(const route *row) {
    return (size_t)(row - routes);
}

static bool matches(const char *pattern, const char *path, char parameter[PARAMETER_BYTES]) {
    for (; *pattern; pattern++) {
        if (strncmp(pattern, "{}", 2) != 0) {
            if (*pattern != *path++) return false;
            continue;
        }
        size_t length = strcspn(path, "/");
        if (length == 0 || length >= PARAMETER_BYTES) return false;
        memcpy(parameter, path, length);
        parameter[length] = '\0';
        path += length;
        pattern++; /* the loop skips the second brace */
    }
    return *path == '\0';
}

static void add_method(char allow[ALLOW_BYTES], const char *name) {
    size_t length = strlen(allow);
    snprintf(allow + length, ALLOW_BYTES - length, "%s%s", length ? ", " : "", name);
}

const route *route_find(http_method method, const char *path, char parameter[PARAMETER_BYTES],
                        char allow[ALLOW_BYTES]) {
    http_method sought = method == METHOD_HEAD ? METHOD_GET : method;
    allow[0] = '\0';
    parameter[0] = '\0';
    for (size_t i = 0; i < ROUTE_TOTAL; i++) {
        if (!matches(routes[i].path, path, parameter)) continue;
        if (routes[i].method == sought) {
            allow[0] = '\0';
            return &routes[i];
        }
        add_method(allow, routes[i].method == METHOD_GET ? "GET, HEAD" : http_method_names[routes[i].method]);
    }
    if (allow[0]) add_method(allow, "OPTIONS");
    return NULL;
}
