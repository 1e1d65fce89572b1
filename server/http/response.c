/* response.c — validators, compression and headers of replies; see response.h. */
#include "server/http/response.h"

#include "api/json/text.h"
#include "server/http/accept.h"
#include "server/http/gzip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_BLOCK = 32 * 1024, CODED_BYTES_MIN = 1024, TAG_DIGITS = 24 };

bool etag_matches(const char *header, const char *etag) {
    size_t wanted = strlen(etag);
    while (header && *header) {
        header += strspn(header, " \t,");
        if (*header == '*') return true;
        if (strncmp(header, "W/", 2) == 0) header += 2; /* weak comparison */
        size_t length = strcspn(header, ", \t");
        if (length == wanted && memcmp(header, etag, wanted) == 0) return true;
        header += length;
    }
    return false;
}

bool response_coded(const request *r, const char *media_type) {
    if (strcmp(media_type, "application/x-npy") == 0) return false; /* binary floating-point numbers compress poorly */
    return accept_allows(request_header(r, "Accept-Encoding"), "gzip");
}

static void tag_by_content(reply *a) {
    char hex[DIGEST_HEX + 1];
    api_digest(a->bytes, a->length, hex);
    snprintf(a->etag, sizeof a->etag, "\"%.*s\"", TAG_DIGITS, hex);
}

static void compress_body(request *r) {
    reply *a = &r->reply;
    size_t length = 0;
    char *coded = gzip_whole(a->bytes, a->length, &length);
    if (!coded) return;
    answers_leave(&r->answers);
    if (length > ANSWER_SMALL_BYTES && !answers_take(&r->answers, length)) {
        free(coded);
        reply_answers_full(r);
        return;
    }
    if (!a->is_static) free(a->bytes);
    a->bytes = coded;
    a->length = length;
    a->is_static = false;
    a->coded = true;
}

void response_add(response_headers *h, const char *name, const char *value) {
    if (MHD_add_response_header(h->response, name, value) != MHD_YES) h->complete = false;
}

void response_finish(request *r) {
    reply *a = &r->reply;
    if (a->streamed || !a->media_type) return;
    if (a->status == 200 && r->route->method == METHOD_GET) {
        if (!a->etag[0]) tag_by_content(a);
        /* A 304 reply keeps its bytes: they are not sent, but Content-Length states their number (RFC 9110 8.6). */
        if (etag_matches(request_header(r, "If-None-Match"), a->etag)) a->status = 304;
    }
    if (a->length >= CODED_BYTES_MIN && response_coded(r, a->media_type)) compress_body(r);
}

/* Adds headers that prevent browsers from loading anything for the reply, showing it in a frame, and guessing its type.
 * HTML pages of this server may load files from this server. */
static void add_security(const reply *a, response_headers *h) {
    static const char none[] = "default-src 'none'; frame-ancestors 'none'";
    static const char own[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                              "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
    response_add(h, "Content-Security-Policy", a->page ? own : none);
    response_add(h, "X-Content-Type-Options", "nosniff");
    response_add(h, "Referrer-Policy", "no-referrer");
}

static void add_validator(const reply *a, response_headers *h) {
    char weak[sizeof a->etag + 2];
    /* Compressed and plain bodies differ, so the ETag must be weak. */
    snprintf(weak, sizeof weak, "%s%s", a->coded ? "W/" : "", a->etag);
    response_add(h, "ETag", weak);
    response_add(h, "Cache-Control", "private, no-cache");
}

/* Cross-origin requests from browsers: CORS protocol (Fetch standard, 3.2). The option --cors is `*` or a
 * comma-separated list of origins. If the option is empty, no origin is allowed. Credentials are never allowed.
 * Browsers never add a token, so even with `*` a page can use only a token that it already has. */
static const char allowed_headers[] =
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Prefer, Traceparent, X-Request-Id";
static const char exposed_headers[] = "ETag, Location, Preference-Applied, Retry-After, X-Request-Id";
static const char preflight_seconds[] = "600";

/* Adds the CORS headers for the Origin of this request, and the headers of a preflight reply to OPTIONS. */
static void add_cors(const request *r, response_headers *h) {
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

static void add_headers(const request *r, response_headers *h) {
    const reply *a = &r->reply;
    char number[16];
    bool changed = a->status != 304;
    if (a->media_type && changed) response_add(h, "Content-Type", a->media_type);
    if (a->media_type || !changed) response_add(h, "Vary", "Accept, Accept-Encoding");
    if (a->coded && changed) response_add(h, "Content-Encoding", "gzip");
    response_add(h, "X-Request-Id", r->id);
    add_security(a, h);
    if (a->etag[0]) {
        add_validator(a, h);
    } else {
        response_add(h, "Cache-Control", "no-store");
    }
    if (a->location[0]) response_add(h, "Location", a->location);
    if (a->allow[0] && (a->status == 405 || a->status == 204)) response_add(h, "Allow", a->allow);
    if (a->challenge) response_add(h, "WWW-Authenticate", a->challenge);
    if (a->waited) {
        snprintf(number, sizeof number, "wait=%d", a->waited);
        response_add(h, "Preference-Applied", number);
    }
    if (a->retry_after) {
        snprintf(number, sizeof number, "%d", a->retry_after);
        response_add(h, "Retry-After", number);
    }
    if (a->closes || http_draining(r->server)) response_add(h, "Connection", "close");
    add_cors(r, h);
}

static void release_streamed(void *context) {
    stream *s = context;
    stream_abandon(s); /* without a response the stream has no reader, so writes of the producer must fail */
    stream_release(s);
}

static struct MHD_Response *make_streamed(request *r) {
    stream_attach(r->stream, r->connection);
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, READ_BLOCK, stream_read,
                                                                      stream_hold(r->stream), release_streamed);
    if (!response) stream_release(r->stream);
    return response;
}

static ssize_t read_nothing(void *context, uint64_t at, char *out, size_t room) {
    (void)context, (void)at, (void)out, (void)room;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* Returns a 304 response for a stream. The length of the stream is unknown, so the response must have neither
 * Content-Length nor chunked coding. With the HTTP/1.0 option libmicrohttpd sends neither and closes the connection. */
static struct MHD_Response *make_unchanged_stream(void) {
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, READ_BLOCK, read_nothing, NULL, NULL);
    if (response) MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return response;
}

struct MHD_Response *response_make(request *r) {
    const reply *a = &r->reply;
    struct MHD_Response *response;
    if (a->streamed)
        response = make_streamed(r);
    else if (a->status == 304 && !a->bytes)
        response = make_unchanged_stream();
    else /* the bytes remain owned by the request, which outlives the response */
        response = MHD_create_response_from_buffer(a->length, a->bytes, MHD_RESPMEM_PERSISTENT);
    if (!response) return NULL;
    response_headers headers = {.response = response, .complete = true};
    add_headers(r, &headers);
    if (headers.complete) return response;
    MHD_destroy_response(response); /* closes the connection, since the security headers or the type are missing */
    return NULL;
}
