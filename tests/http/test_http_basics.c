/* test_http_basics.c — common properties of requests: statuses, problem documents, headers, and agreement between the
 * routes and openapi.json. */
#include "api/documents.h"
#include "server/http/routes.h"
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static test_daemon d;

static void expect_problem(const char *method, const char *path, const char *const *headers, const char *body,
                           long status, const char *type) {
    cJSON *problem = ask_json(&d, method, path, headers, body, status);
    assert_string_equal(json_text_of(problem, "type"), type);
    assert_true(strlen(json_text_of(problem, "title")) > 0);
    const char *instance = json_text_of(problem, "instance");
    assert_true(strncmp(path, instance, strlen(instance)) == 0 && strlen(instance) == strcspn(path, "?"));
    cJSON_Delete(problem);
}

static void the_service_reports_liveness_and_readiness(void **state) {
    (void)state;
    cJSON *health = ask_json(&d, "GET", "/healthz", NULL, NULL, 200);
    cJSON *ready = ask_json(&d, "GET", "/readyz", NULL, NULL, 200);
    /* load balancers add parameters like t=1700000000 */
    cJSON_Delete(ask_json(&d, "GET", "/healthz?t=1700000000&t", NULL, NULL, 200));
    cJSON_Delete(ask_json(&d, "GET", "/readyz?t=1700000000&t", NULL, NULL, 200));
    assert_string_equal(json_text_of(health, "status"), "ok");
    assert_string_equal(json_text_of(ready, "status"), "ready");
    cJSON_Delete(health);
    cJSON_Delete(ready);
}

static void the_index_links_to_existing_resources(void **state) {
    (void)state;
    cJSON *index = ask_json(&d, "GET", "/", NULL, NULL, 200);
    const cJSON *links = cJSON_GetObjectItemCaseSensitive(index, "links");
    for (const cJSON *link = links->child; link; link = link->next) {
        answer a = ask(&d, "GET", link->valuestring, NULL, NULL);
        assert_true(a.status == 200 || a.status == 405);
        answer_clear(&a);
    }
    cJSON_Delete(index);
}

static void examples_are_listed_and_served_unchanged(void **state) {
    (void)state;
    cJSON *list = ask_json(&d, "GET", "/v1/examples", NULL, NULL, 200);
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(list, "items");
    assert_true(cJSON_GetArraySize(items) > 0);
    for (const cJSON *item = items->child; item; item = item->next) {
        cJSON *example = ask_json(&d, "GET", json_text_of(item, "href"), NULL, NULL, 200);
        assert_int_equal((int)json_number_of(example, "hamel"), 1);
        cJSON_Delete(example);
    }
    cJSON_Delete(list);
    expect_problem("GET", "/v1/examples/none_of_them", NULL, NULL, 404, "/problems/no-such-example");
}

static void an_unknown_path_is_404(void **state) {
    (void)state;
    expect_problem("GET", "/v2/simulations", NULL, NULL, 404, "/problems/not-found");
    expect_problem("POST", "/v1/simulations/", json_type, "{}", 404, "/problems/not-found");
    expect_problem("GET", "/v1/jobs/0123", NULL, NULL, 404, "/problems/no-such-job");
}

static void a_known_path_with_another_method_is_405_with_allow(void **state) {
    (void)state;
    char allow[64];
    answer a = ask(&d, "DELETE", "/v1/jobs", NULL, NULL);
    assert_int_equal(a.status, 405);
    assert_true(answer_header(&a, "Allow", allow, sizeof allow));
    assert_string_equal(allow, "POST, GET, HEAD, OPTIONS");
    answer_clear(&a);
    a = ask(&d, "OPTIONS", "/v1/simulations", NULL, NULL);
    assert_int_equal(a.status, 204);
    assert_true(answer_header(&a, "Allow", allow, sizeof allow));
    assert_string_equal(allow, "POST, OPTIONS");
    answer_clear(&a);
    expect_problem("PATCH", "/v1/simulations", json_type, "{}", 405, "/problems/method-not-allowed");
}

static void head_is_get_without_a_body(void **state) {
    (void)state;
    answer a = ask(&d, "HEAD", "/healthz", NULL, NULL);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.length, 0);
    answer_clear(&a);
}

static void an_unknown_query_parameter_is_400(void **state) {
    (void)state;
    expect_problem("GET", "/v1/jobs?sttus=queued", NULL, NULL, 400, "/problems/unknown-parameter");
    expect_problem("GET", "/openapi.json?x=1", NULL, NULL, 400, "/problems/unknown-parameter");
    expect_problem("GET", "/v1/jobs?limit=1&limit=2", NULL, NULL, 400, "/problems/invalid-parameter");
    expect_problem("GET", "/v1/jobs?limit=0", NULL, NULL, 400, "/problems/invalid-parameter");
    expect_problem("GET", "/v1/jobs?status=done", NULL, NULL, 400, "/problems/invalid-parameter");
    expect_problem("GET", "/v1/jobs?cursor=x", NULL, NULL, 400, "/problems/invalid-parameter");
}

static void a_body_that_is_not_json_is_415(void **state) {
    (void)state;
    const char *form[] = {"Content-Type: application/x-www-form-urlencoded", NULL};
    const char *none[] = {"Content-Type:", NULL};
    const char *packed[] = {"Content-Type: application/json", "Content-Encoding: gzip", NULL};
    expect_problem("POST", "/v1/simulations", form, "{}", 415, "/problems/unsupported-media-type");
    expect_problem("POST", "/v1/simulations", none, "{}", 415, "/problems/unsupported-media-type");
    expect_problem("POST", "/v1/jobs", packed, "{}", 415, "/problems/unsupported-media-type");
}

static void json_with_another_media_type_is_accepted(void **state) {
    (void)state;
    char system[512];
    const char *types[] = {"Content-Type: application/vnd.hamel+json", "Content-Type: Application/JSON; charset=utf-8"};
    oscillator(system, sizeof system, "named", 1, 3);
    for (size_t i = 0; i < 2; i++) {
        answer a = ask(&d, "POST", "/v1/simulations", (const char *const[]){types[i], NULL}, system);
        assert_int_equal(a.status, 200);
        answer_clear(&a);
    }
}

static void an_unacceptable_format_is_406(void **state) {
    (void)state;
    char system[512];
    const char *headers[] = {"Content-Type: application/json", "Accept: image/png", NULL};
    expect_problem("POST", "/v1/simulations", headers, oscillator(system, sizeof system, "o", 1, 3), 406,
                   "/problems/not-acceptable");
}

static void malformed_json_is_400_with_line_and_column(void **state) {
    (void)state;
    cJSON *problem = ask_json(&d, "POST", "/v1/simulations", json_type, "{\"hamel\":1,\n  x}", 400);
    assert_int_equal((int)json_number_of(problem, "line"), 2);
    assert_int_equal((int)json_number_of(problem, "column"), 3);
    cJSON_Delete(problem);
    cJSON_Delete(ask_json(&d, "POST", "/v1/jobs", json_type, "", 400));
}

static void an_invalid_system_is_422_with_every_error(void **state) {
    (void)state;
    const char *bad =
        "{\"hamel\":1,\"coordinates\":[\"x\"],\"kinetic_energy\":\"m*x'^2/2\",\"potential_energy\":\"k*x\","
        "\"simulation\":{\"stop\":1}}";
    static const char *const paths[] = {"/v1/simulations", "/v1/jobs"};
    for (size_t i = 0; i < 2; i++) {
        cJSON *problem = ask_json(&d, "POST", paths[i], json_type, bad, 422);
        const cJSON *errors = cJSON_GetObjectItemCaseSensitive(problem, "errors");
        assert_int_equal(cJSON_GetArraySize(errors), 2);
        assert_string_equal(json_text_of(errors->child, "pointer"), "/kinetic_energy");
        assert_string_equal(json_text_of(problem, "instance"), paths[i]);
        cJSON_Delete(problem);
    }
}

static void an_error_at_the_start_of_the_run_decides_the_status(void **state) {
    (void)state;
    const char *off =
        "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":2},\"y\"],"
        "\"kinetic_energy\":\"(x'^2+y'^2)/2\",\"constraints\":[{\"name\":\"c\",\"equation\":\"x^2+y^2=1\"}],"
        "\"simulation\":{\"stop\":1}}";
    static const char *const accepts[] = {"Accept: application/x-ndjson", "Accept: text/csv",
                                          "Accept: application/json"};
    for (size_t i = 0; i < 3; i++) {
        const char *headers[] = {"Content-Type: application/json", accepts[i], NULL};
        expect_problem("POST", "/v1/simulations", headers, off, 422, "/problems/inconsistent-initial-values");
    }
}

static void a_body_over_the_limit_is_413(void **state) {
    (void)state;
    char *body = malloc(200000);
    assert_non_null(body);
    memset(body, ' ', 200000);
    const char *chunked[] = {"Content-Type: application/json", "Transfer-Encoding: chunked", NULL};
    answer a = ask_bytes(&d, "POST", "/v1/simulations", json_type, body, 20001);
    assert_int_equal(a.status, 413);
    answer_clear(&a);
    a = ask_bytes(&d, "POST", "/v1/simulations", chunked, body, 200000);
    assert_int_equal(a.status, 413);
    answer_clear(&a);
    a = ask_bytes(&d, "POST", "/v1/simulations", json_type, body, 20000);
    assert_int_equal(a.status, 400); /* 20,000 spaces are within the limit but are not JSON */
    answer_clear(&a);
    free(body);
}

static void a_valid_request_id_is_echoed_and_an_invalid_one_replaced(void **state) {
    (void)state;
    char id[256];
    answer a = ask(&d, "GET", "/healthz", (const char *const[]){"X-Request-Id: abc-123", NULL}, NULL);
    assert_true(answer_header(&a, "X-Request-Id", id, sizeof id));
    assert_string_equal(id, "abc-123");
    answer_clear(&a);
    a = ask(&d, "GET", "/nowhere", (const char *const[]){"X-Request-Id: a\"b", NULL}, NULL);
    assert_true(answer_header(&a, "X-Request-Id", id, sizeof id));
    assert_int_equal(strlen(id), 32);
    answer_clear(&a);
}

/* Returns true if openapi.json describes the route "METHOD /path", with {} for every parameter. */
static bool described(const cJSON *paths, const route *r) {
    static const struct {
        http_method method;
        const char *name;
    } methods[] = {{METHOD_GET, "get"}, {METHOD_POST, "post"}, {METHOD_DELETE, "delete"}};
    for (const cJSON *path = paths->child; path; path = path->next) {
        char plain[256];
        size_t n = 0;
        for (const char *c = path->string; *c && n + 1 < sizeof plain; c++) {
            plain[n++] = *c;
            if (*c == '{') c += strcspn(c, "}") - 1;
        }
        plain[n] = '\0';
        if (strcmp(plain, r->path) != 0) continue;
        for (size_t i = 0; i < 3; i++) {
            if (methods[i].method != r->method) continue;
            return cJSON_GetObjectItemCaseSensitive(path, methods[i].name) != NULL;
        }
    }
    return false;
}

static void routes_and_their_description_agree(void **state) {
    (void)state;
    cJSON *served = ask_json(&d, "GET", "/openapi.json", NULL, NULL, 200);
    cJSON *built = cJSON_ParseWithLength((const char *)api_openapi, api_openapi_length);
    assert_true(cJSON_Compare(served, built, true));
    assert_string_equal(json_text_of(served, "openapi"), "3.1.0");
    const cJSON *paths = cJSON_GetObjectItemCaseSensitive(served, "paths");
    int operations = 0, routes = 0;
    for (; route_at((size_t)routes); routes++) {
        const route *r = route_at((size_t)routes);
        if (!described(paths, r)) fail_msg("%s is not described", r->path);
    }
    for (const cJSON *path = paths->child; path; path = path->next) {
        operations +=
            cJSON_HasObjectItem(path, "get") + cJSON_HasObjectItem(path, "post") + cJSON_HasObjectItem(path, "delete");
    }
    assert_int_equal(operations, routes);
    cJSON_Delete(served);
    cJSON_Delete(built);
}

static void references_in_the_description_are_valid(void **state) {
    (void)state;
    cJSON *tree = cJSON_ParseWithLength((const char *)api_openapi, api_openapi_length);
    const char *text = (const char *)api_openapi;
    const char *end = text + api_openapi_length;
    static const char mark[] = "\"#/components/";
    int found = 0;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1)) != NULL; found++) {
        char kind[64], name[64];
        at += sizeof mark - 1;
        assert_int_equal(sscanf(at, "%63[^/]/%63[^\"]", kind, name), 2);
        const cJSON *components = cJSON_GetObjectItemCaseSensitive(tree, "components");
        const cJSON *group = cJSON_GetObjectItemCaseSensitive(components, kind);
        if (!cJSON_GetObjectItemCaseSensitive(group, name)) fail_msg("%s/%s is missing", kind, name);
    }
    assert_true(found > 50);
    cJSON_Delete(tree);
}

/* The daemon serves the page with its style and script, and the content security policy forbids other sources. */
static void the_documentation_loads_nothing_from_other_hosts(void **state) {
    (void)state;
    static const char *const paths[] = {"/docs", "/docs/docs.css", "/docs/docs.js", "/schemas/system.schema.json"};
    char policy[400];
    for (size_t k = 0; k < 4; k++) {
        answer a = ask(&d, "GET", paths[k], NULL, NULL);
        assert_int_equal(a.status, 200);
        assert_true(answer_header(&a, "Content-Security-Policy", policy, sizeof policy));
        assert_int_equal(strncmp(policy, "default-src 'none';", 19), 0);
        assert_int_equal(strstr(policy, "script-src 'self'") != NULL, k == 0);
        if (k < 3) assert_null(strstr(a.body, "://"));
        if (k == 2) assert_null(strstr(a.body, "innerHTML"));
        answer_clear(&a);
    }
}

/* A browser requests text/html. curl and clients without a preference get the index. */
static void a_browser_gets_the_page_and_a_program_the_index(void **state) {
    (void)state;
    static const char *const browser[] = {"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                                          NULL};
    static const char *const json[] = {"Accept: application/json", NULL};
    static const char *const any[] = {"Accept: */*", NULL};
    char value[400];
    answer page = ask(&d, "GET", "/", browser, NULL);
    assert_int_equal(page.status, 200);
    assert_true(answer_header(&page, "Content-Type", value, sizeof value));
    assert_string_equal(value, "text/html; charset=utf-8");
    assert_true(answer_header(&page, "Vary", value, sizeof value));
    assert_non_null(strstr(value, "Accept"));
    assert_true(answer_header(&page, "Content-Security-Policy", value, sizeof value));
    assert_non_null(strstr(value, "script-src 'self'"));
    assert_null(strstr(value, "unsafe"));
    answer_clear(&page);
    cJSON_Delete(ask_json(&d, "GET", "/", json, NULL, 200));
    cJSON_Delete(ask_json(&d, "GET", "/", any, NULL, 200));
    cJSON_Delete(ask_json(&d, "GET", "/", NULL, NULL, 200));
}

/* Each file /page/X must exist, have its media type with nosniff, and support validators. */
static void the_files_of_the_page_are_served(void **state) {
    (void)state;
    char page[8192];
    assert_true(api_page_html_length < sizeof page);
    memcpy(page, api_page_html, api_page_html_length);
    page[api_page_html_length] = '\0';
    int parts = 0;
    for (const char *at = page; (at = strstr(at, "\"/page/")) != NULL; parts++) {
        char path[64], value[200], match[240];
        assert_int_equal(sscanf(++at, "%63[^\"]", path), 1);
        answer a = ask(&d, "GET", path, NULL, NULL);
        assert_int_equal(a.status, 200);
        bool style = strstr(path, ".css") != NULL;
        assert_true(answer_header(&a, "Content-Type", value, sizeof value));
        assert_string_equal(value, style ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8");
        assert_true(answer_header(&a, "X-Content-Type-Options", value, sizeof value));
        assert_string_equal(value, "nosniff");
        assert_true(answer_header(&a, "ETag", value, sizeof value));
        answer_clear(&a);
        snprintf(match, sizeof match, "If-None-Match: %s", value);
        const char *const known[] = {match, NULL};
        a = ask(&d, "GET", path, known, NULL);
        assert_int_equal(a.status, 304);
        answer_clear(&a);
    }
    assert_int_equal(parts, 2);
    cJSON_Delete(ask_json(&d, "GET", "/page/other.mjs", NULL, NULL, 404));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_service_reports_liveness_and_readiness),
        cmocka_unit_test(the_index_links_to_existing_resources),
        cmocka_unit_test(examples_are_listed_and_served_unchanged),
        cmocka_unit_test(an_unknown_path_is_404),
        cmocka_unit_test(a_known_path_with_another_method_is_405_with_allow),
        cmocka_unit_test(head_is_get_without_a_body),
        cmocka_unit_test(an_unknown_query_parameter_is_400),
        cmocka_unit_test(a_body_that_is_not_json_is_415),
        cmocka_unit_test(json_with_another_media_type_is_accepted),
        cmocka_unit_test(an_unacceptable_format_is_406),
        cmocka_unit_test(malformed_json_is_400_with_line_and_column),
        cmocka_unit_test(an_invalid_system_is_422_with_every_error),
        cmocka_unit_test(an_error_at_the_start_of_the_run_decides_the_status),
        cmocka_unit_test(a_body_over_the_limit_is_413),
        cmocka_unit_test(a_valid_request_id_is_echoed_and_an_invalid_one_replaced),
        cmocka_unit_test(the_documentation_loads_nothing_from_other_hosts),
        cmocka_unit_test(a_browser_gets_the_page_and_a_program_the_index),
        cmocka_unit_test(the_files_of_the_page_are_served),
        cmocka_unit_test(routes_and_their_description_agree),
        cmocka_unit_test(references_in_the_description_are_valid),
    };
    daemon_share(&d, (const char *const[]){"--max-body", "20000", NULL});
    return cmocka_run_group_tests_name("http_basics", tests, start_shared_daemon, end_shared_daemon);
}
