/* request.c — reads the request line and headers, and rejects invalid requests before their bodies are read. */
#include "server/http/request.h"

#include "server/clock.h"
#include "server/http/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Minimum rate of a body, after an allowance of HEADERS_SECONDS. The rate is about 0.5 Mbit/s, which usual connections
 * exceed. A body of 1 MiB may take 26 s. */
enum { BODY_BYTES_PER_SECOND = 64 * 1024 };
#define HEADERS_SECONDS 10.0

const char *request_header(const request *r, const char *name) {
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *request_query(const request *r, const char *name) {
    return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *request_body(const request *r) {
    return r->body.bytes ? r->body.bytes : "";
}

int64_t request_last_event(const request *r) {
    const char *text = request_header(r, "Last-Event-ID");
    char *end;
    long long number = text ? strtoll(text, &end, 10) : 0;
    return text && *text && *end == '\0' && number > 0 ? number : 0;
}

const char *request_owner_filter(const request *r) {
    return access_may(r->owner, SCOPE_ADMIN) ? NULL : r->owner->name;
}

const char *const http_method_names[METHODS] = {"", "GET", "HEAD", "POST", "DELETE", "OPTIONS"};

static http_method method_named(const char *name) {
    for (size_t k = 1; k < METHODS; k++)
        if (strcmp(http_method_names[k], name) == 0) return (http_method)k;
    return (http_method)0;
}

static bool is_json_type(const char *type) {
    size_t length = type ? strcspn(type, "; \t") : 0;
    if (length == strlen("application/json") && strncasecmp(type, "application/json", length) == 0) return true;
    return length > 5 && strncasecmp(type + length - 5, "+json", 5) == 0;
}

typedef struct query_look {
    request *r;
    const char *const *known;
    const char *names[16];
    size_t count;
} query_look;

static enum MHD_Result look_at_query(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    query_look *look = context;
    (void)kind;
    size_t k = 0;
    while (look->known && look->known[k] && strcmp(look->known[k], name) != 0) k++;
    if (!look->known || !look->known[k]) {
        reply_problem(look->r, 400, "unknown-parameter", "Unknown query parameter", "'%.100s' is not a parameter of %s",
                      name, look->r->path);
        return MHD_NO;
    }
    for (size_t i = 0; i < look->count; i++) {
        if (strcmp(look->names[i], name) != 0) continue;
        reply_parameter(look->r, "'%s' is given twice", name);
        return MHD_NO;
    }
    if (!value) {
        reply_parameter(look->r, "'%s' has no value", name);
        return MHD_NO;
    }
    if (look->count < sizeof look->names / sizeof look->names[0]) look->names[look->count++] = name;
    return MHD_YES;
}

static void check_query(request *r) {
    query_look look = {.r = r, .known = r->route->query};
    if (look.known && strcmp(look.known[0], ROUTE_ANY_QUERY) == 0) return;
    MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, look_at_query, &look);
}

static void find_route(request *r) {
    r->route = route_find(r->method, r->path, r->parameter, r->reply.allow);
    if (r->route) return;
    if (strcmp(r->path, "*") == 0) {
        const char *known = r->method == METHOD_OPTIONS ? "GET, HEAD, POST, DELETE, OPTIONS" : "OPTIONS";
        snprintf(r->reply.allow, sizeof r->reply.allow, "%s", known);
    }
    if (!r->reply.allow[0]) {
        reply_problem(r, 404, "not-found", "Not found", "no resource has this path");
    } else if (r->method == METHOD_OPTIONS) {
        reply_static(r, 204, NULL, NULL, 0);
    } else {
        reply_problem(r, 405, "method-not-allowed", "Method not allowed", "allowed methods: %s", r->reply.allow);
    }
}

static void check_body_headers(request *r) {
    const char *coding = request_header(r, "Content-Encoding");
    const char *length = request_header(r, "Content-Length");
    if (!length && !request_header(r, "Transfer-Encoding")) {
        reply_problem(r, 411, "length-required", "Length required", "send a JSON body, with its Content-Length");
    } else if (!is_json_type(request_header(r, "Content-Type"))) {
        reply_problem(r, 415, "unsupported-media-type", "Unsupported media type",
                      "the body must be JSON: send Content-Type: application/json");
    } else if (coding && strcasecmp(coding, "identity") != 0) {
        reply_problem(r, 415, "unsupported-media-type", "Unsupported media type",
                      "compressed request bodies are not supported");
    }
}

handled reply_too_large(request *r) {
    return reply_problem(r, 413, "content-too-large", "Content too large", "the body exceeds %.0f bytes",
                         r->services->config->max_body);
}

/* Returns the seconds allowed for the body. Replies 413 if the declared length exceeds the limit. */
static double check_declared_length(request *r) {
    const char *text = request_header(r, "Content-Length");
    double limit = r->services->config->max_body;
    double length = text ? strtod(text, NULL) : limit;
    if (length > limit && r->reply.status == 0) reply_too_large(r);
    if (length > REQUEST_DISCARD_BYTES && r->reply.status != 0) r->reply.closes = true;
    return HEADERS_SECONDS + (length < REQUEST_DISCARD_BYTES ? length : REQUEST_DISCARD_BYTES) / BODY_BYTES_PER_SECOND;
}

static void take_id(request *r) {
    const char *sent = request_header(r, "X-Request-Id");
    if (sent && request_id_sane(sent))
        snprintf(r->id, sizeof r->id, "%s", sent);
    else if (!random_id(r->id))
        snprintf(r->id, sizeof r->id, "%.0f", r->received_at * 1e6);
}

static void reply_fault(request *r, request_fault fault) {
    if (fault.status == 414) {
        reply_problem(r, 414, "target-too-long", "Request target too long", "%s", fault.text);
    } else if (fault.status == 431) {
        reply_problem(r, 431, "headers-too-large", "Request header fields too large", "%s", fault.text);
    } else {
        reply_problem(r, 400, "bad-request", "Bad request", "%s", fault.text);
    }
}

/* Returns true if the Host header names another host. Without tokens every local program may use this server, but a
 * page in a browser must not (DNS rebinding). Browsers always send Host. Clients of HTTP/1.0 may omit this header. */
static bool is_misdirected(const request *r) {
    const char *host = request_header(r, "Host"), *names = r->services->config->hosts;
    bool checked = names[0] || access_open_to_anyone(r->services->access);
    return checked && host && !request_host_allowed(host, names);
}

double request_read_headers(request *r, const char *method, const char *version) {
    r->headers_seen = true;
    r->method = method_named(method);
    snprintf(r->method_text, sizeof r->method_text, "%s", method);
    take_id(r);
    request_fault fault = r->target_fault.text ? r->target_fault : request_check_headers(r->connection, version);
    if (fault.text) {
        r->reply.closes = true;
        reply_fault(r, fault);
        return 0;
    }
    if (is_misdirected(r)) {
        r->reply.closes = true;
        reply_problem(r, 421, "misdirected", "Misdirected request",
                      "the host name '%.200s' is not served; use localhost, or allow the name with --hosts",
                      request_header(r, "Host"));
        return 0;
    }
    find_route(r);
    r->answers = (answers_share){.list = r->services->access, .most = r->services->config->answers};
    if (r->route) admit(r);
    r->answers.owner = r->owner;
    if (r->route && r->reply.status == 0) check_query(r);
    if (r->route && r->route->takes_json && r->reply.status == 0) check_body_headers(r);
    double seconds = check_declared_length(r);
    if (r->reply.status != 0 && request_header(r, "Expect")) r->reply.closes = true;
    return seconds;
}
