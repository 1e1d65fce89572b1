/* exchange.c — see exchange.h. */
#include "clients/cli/remote/exchange.h"
#include "clients/cli/library.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ANSWER_MAX_BYTES = 16 * 1024 * 1024, CONNECT_SECONDS = 10, QUIET_SECONDS = 60, TEXT_MAX_BYTES = 4096 };

cli_server cli_server_of(const cli_arguments *arguments) {
    const char *url = cli_option_value(arguments, "server");
    if (url == NULL) url = getenv("HAMEL_SERVER");
    if (url != NULL && url[0] == '\0') url = NULL;
    return (cli_server){.url = url, .token = getenv("HAMEL_TOKEN")};
}

/* clang-format off */
#define CURL_FUNCTIONS(F) \
    F(easy_init) F(easy_cleanup) F(easy_getinfo) F(easy_perform) F(easy_setopt) F(easy_strerror) \
    F(slist_append) F(slist_free_all)
typedef struct curl_library {
#define F(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(F)
#undef F
} curl_library;

static const char *load_curl(curl_library *library) {
#define F(name) {"curl_" #name, (void **)&library->name},
    const library_function functions[] = {CURL_FUNCTIONS(F)};
#undef F
    return library_load("libcurl.so.4", functions, sizeof functions / sizeof functions[0]);
}
/* clang-format on */

/* Context of the libcurl write callback. */
typedef struct receiver {
    curl_library library;
    CURL *curl;
    exchange *x;
    bool known; /* HTTP status and media type have been read */
} receiver;

static void set_reason(exchange *x, const char *reason) {
    if (x->reason[0] == '\0') snprintf(x->reason, sizeof x->reason, "%s", reason);
}

static void look_at_head(receiver *r) {
    const char *type = NULL;
    r->library.easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &r->x->status);
    r->library.easy_getinfo(r->curl, CURLINFO_CONTENT_TYPE, &type);
    r->known = true;
    r->x->streamed = r->x->line != NULL && r->x->status == 200 && type != NULL &&
                     strncasecmp(type, r->x->accept, strlen(r->x->accept)) == 0;
}

/* Write callback of libcurl. To end the transfer, returns less than `length`. */
static size_t take_bytes(char *bytes, size_t one, size_t length, void *context) {
    receiver *r = context;
    exchange *x = r->x;
    (void)one;
    if (!r->known) look_at_head(r);
    for (size_t at = 0; at < length;) {
        const char *end = x->streamed ? memchr(bytes + at, '\n', length - at) : NULL;
        size_t piece = end != NULL ? (size_t)(end - bytes) - at : length - at;
        text_buffer_add(&x->answer, bytes + at, piece);
        at += piece + (end != NULL);
        if (x->answer.failed) {
            set_reason(x, "the response, or one line of it, is longer than 16 MiB");
            return 0;
        }
        if (end == NULL) continue;
        x->ended = !x->line(x->context, x->answer.bytes != NULL ? x->answer.bytes : "", x->answer.length);
        text_buffer_reset(&x->answer);
        if (x->ended) return 0;
    }
    return length;
}

/* Adds a header. If memory runs out or the value is too long, frees the list and returns false. */
static bool add_header(const curl_library *library, struct curl_slist **list, const char *name, const char *value) {
    char text[TEXT_MAX_BYTES];
    int length = snprintf(text, sizeof text, "%s: %s", name, value);
    bool fits = length > 0 && (size_t)length < sizeof text;
    struct curl_slist *longer = fits ? library->slist_append(*list, text) : NULL;
    if (longer == NULL) library->slist_free_all(*list);
    *list = longer;
    return longer != NULL;
}

static struct curl_slist *headers_of(const curl_library *library, const exchange *x, const cli_server *server) {
    struct curl_slist *list = NULL;
    if (!add_header(library, &list, "Accept", x->accept)) return NULL;
    if (x->body != NULL && !add_header(library, &list, "Content-Type", "application/json")) return NULL;
    if (x->key != NULL && !add_header(library, &list, "Idempotency-Key", x->key)) return NULL;
    if (server->token == NULL || server->token[0] == '\0') return list;
    char bearer[TEXT_MAX_BYTES];
    int length = snprintf(bearer, sizeof bearer, "Bearer %s", server->token);
    if (length > 0 && (size_t)length < sizeof bearer && add_header(library, &list, "Authorization", bearer))
        return list;
    library->slist_free_all(list);
    return NULL;
}

/* Applies the environment variables that name certificate authorities. libcurl itself ignores these variables. */
static void set_authorities(const receiver *r) {
    const char *file = getenv("CURL_CA_BUNDLE"), *directory = getenv("SSL_CERT_DIR");
    if (file == NULL || *file == '\0') file = getenv("SSL_CERT_FILE");
    if (file != NULL && *file != '\0') r->library.easy_setopt(r->curl, CURLOPT_CAINFO, file);
    if (directory != NULL && *directory != '\0') r->library.easy_setopt(r->curl, CURLOPT_CAPATH, directory);
}

static void set_request(receiver *r, const char *url, struct curl_slist *headers) {
    const exchange *x = r->x;
    r->library.easy_setopt(r->curl, CURLOPT_URL, url);
    r->library.easy_setopt(r->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    r->library.easy_setopt(r->curl, CURLOPT_HTTPHEADER, headers);
    if (x->body != NULL || strcmp(x->method, "POST") == 0) {
        r->library.easy_setopt(r->curl, CURLOPT_POSTFIELDS, x->body != NULL ? x->body : "");
        r->library.easy_setopt(r->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body_length);
    }
    r->library.easy_setopt(r->curl, CURLOPT_CUSTOMREQUEST, x->method);
    r->library.easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, take_bytes);
    r->library.easy_setopt(r->curl, CURLOPT_WRITEDATA, r);
    r->library.easy_setopt(r->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    if (x->lively) {
        r->library.easy_setopt(r->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        r->library.easy_setopt(r->curl, CURLOPT_LOW_SPEED_TIME, (long)QUIET_SECONDS);
    }
    r->library.easy_setopt(r->curl, CURLOPT_TCP_KEEPALIVE, 1L); /* detects a lost connection while no data arrives */
    r->library.easy_setopt(r->curl, CURLOPT_NOSIGNAL, 1L);
    set_authorities(r);
}

exchange exchange_post(const char *path, const char *body) {
    return (exchange){
        .method = "POST", .path = path, .accept = "application/json", .body = body, .body_length = strlen(body)};
}

bool exchange_run(exchange *x, const cli_server *server) {
    char url[TEXT_MAX_BYTES], reason[CURL_ERROR_SIZE] = "";
    size_t length = strlen(server->url);
    while (length > 0 && server->url[length - 1] == '/') length--;
    text_buffer_init(&x->answer, ANSWER_MAX_BYTES);
    if (length + strlen(x->path) >= sizeof url) {
        set_reason(x, "the URL of the server is too long");
        return false;
    }
    snprintf(url, sizeof url, "%.*s%s", (int)length, server->url, x->path);
    receiver r = {.x = x};
    const char *missing = load_curl(&r.library);
    if (missing != NULL) {
        set_reason(x, missing);
        return false;
    }
    r.curl = r.library.easy_init();
    struct curl_slist *headers = r.curl != NULL ? headers_of(&r.library, x, server) : NULL;
    if (headers != NULL) {
        set_request(&r, url, headers);
        r.library.easy_setopt(r.curl, CURLOPT_ERRORBUFFER, reason);
        CURLcode code = r.library.easy_perform(r.curl);
        if (code == CURLE_OK) look_at_head(&r); /* if the response has no body, libcurl does not call take_bytes */
        if (code != CURLE_OK && !x->ended) set_reason(x, reason[0] != '\0' ? reason : r.library.easy_strerror(code));
    } else {
        set_reason(x, "the request headers could not be built; check the length of the token and of --key");
    }
    r.library.slist_free_all(headers);
    r.library.easy_cleanup(r.curl);
    return x->reason[0] == '\0';
}

void exchange_clear(exchange *x) {
    text_buffer_free(&x->answer);
}

cJSON *exchange_json(const exchange *x) {
    return x->answer.length > 0 ? json_parse(x->answer.bytes, x->answer.length, NULL, NULL) : NULL;
}

int exchange_failed(const exchange *x, const cli_server *server) {
    if (x->reason[0] != '\0') {
        cli_say("%.200s: %s", server->url, x->reason);
        return CLI_SERVER;
    }
    cJSON *problem = exchange_json(x);
    const cJSON *detail = json_at(problem, "detail");
    if (!cJSON_IsString(detail)) detail = json_at(problem, "title");
    cli_say("%.200s: HTTP status %ld%s%s", server->url, x->status, cJSON_IsString(detail) ? ": " : "",
            cJSON_IsString(detail) ? detail->valuestring : ", and the response is not from hameld; check the URL");
    cJSON_Delete(problem);
    return CLI_SERVER;
}
