/* routes_service.c — description of the API, health checks, schema and examples. */
#include "api/documents.h"
#include "api/json/strict_json.h"
#include "server/http/routes.h"

#include <string.h>

handled service_openapi(request *r) {
    return reply_static(r, 200, "application/json", (const char *)api_openapi, api_openapi_length);
}

handled service_system_schema(request *r) {
    return reply_static(r, 200, "application/schema+json", (const char *)api_system_schema, api_system_schema_length);
}

handled service_healthz(request *r) {
    static const char good[] = "{\"status\":\"ok\"}\n";
    return reply_static(r, 200, "application/json", good, sizeof good - 1);
}

/* Returns the reason why requests cannot be served now; NULL if they can. */
static const char *trouble_of(const request *r) {
    const http_services *services = r->services;
    double places = services->config->streams + services->config->waiting;
    if ((double)http_load_of(r->server).streams >= places) return "all run slots are busy";
    return services->store->kind->trouble(services->store);
}

/* Replies whether requests can be served. During shutdown this handler is not called: dispatch replies 503. */
handled service_readyz(request *r) {
    static const char good[] = "{\"status\":\"ready\"}\n";
    const char *trouble = trouble_of(r);
    if (!trouble) return reply_static(r, 200, "application/json", good, sizeof good - 1);
    r->reply.retry_after = 5;
    return reply_problem(r, 503, "not-ready", "Not ready", "%s", trouble);
}

/* ---- examples --------------------------------------------------------------------------------------------------- */

/* Returns {name, title, description, source, href}. The texts are taken from the example; `name` is part of its
 * path. */
static cJSON *example_json(const api_example *example) {
    static const char *const keys[] = {"name", "description", "source"};
    static const char *const shown[] = {"title", "description", "source"};
    cJSON *system = json_parse_trusted(example->json);
    cJSON *object = cJSON_CreateObject();
    bool good = system && object && cJSON_AddStringToObject(object, "name", example->name);
    for (size_t i = 0; good && i < sizeof keys / sizeof keys[0]; i++) {
        const cJSON *text = cJSON_GetObjectItemCaseSensitive(system, keys[i]);
        if (cJSON_IsString(text)) good = cJSON_AddStringToObject(object, shown[i], text->valuestring) != NULL;
    }
    char path[256] = "/v1/examples/";
    size_t used = strlen(path);
    good = good && strlen(example->name) < sizeof path - used;
    if (good) {
        memcpy(path + used, example->name, strlen(example->name) + 1);
        good = cJSON_AddStringToObject(object, "href", path) != NULL;
    }
    cJSON_Delete(system);
    if (good) return object;
    cJSON_Delete(object);
    return NULL;
}

handled examples_list(request *r) {
    cJSON *object = cJSON_CreateObject();
    cJSON *items = object ? cJSON_AddArrayToObject(object, "items") : NULL;
    const api_example *example;
    for (size_t i = 0; items && (example = api_example_at(i)); i++) {
        cJSON *item = example_json(example);
        if (item && cJSON_AddItemToArray(items, item)) continue;
        cJSON_Delete(item);
        items = NULL;
    }
    if (items) return reply_json(r, 200, object);
    cJSON_Delete(object);
    return reply_no_memory(r);
}

handled examples_get(request *r) {
    const api_example *example;
    for (size_t i = 0; (example = api_example_at(i)); i++) {
        if (strcmp(example->name, r->parameter) != 0) continue;
        return reply_static(r, 200, "application/json", example->json, example->length);
    }
    return reply_problem(r, 404, "no-such-example", "No such example", "there is no example '%s'", r->parameter);
}
