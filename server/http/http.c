/* http.c — see http.h. libmicrohttpd runs one thread; everything here but http_start and http_stop is
 * called on it. That thread never waits: what may take time goes to a pool while its connection is suspended.
 *
 *     request line ─ begin ─> headers ─ look_at_headers ─> body ─ take_body ─> dispatch ─> [pool] ─> send_reply ─> finish
 *
 * A suspended connection stays as it is until it is resumed, so a handler may use its request freely; and since
 * libmicrohttpd aborts when it is stopped with a suspended connection, every request given to a pool is resumed by
 * its task, and every stream by its end. */
#include "server/http/http.h"

#include "server/http/admission.h"
#include "server/http/request_check.h"
#include "server/http/response.h"
#include "server/http/routes.h"
#include "server/pool.h"
#include "server/stamp.h"

#include <gnutls/abstract.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTION_MEMORY = 64 * 1024, /* twice what headers may have: then it is us who answer 431 */
    SEND_BUFFER = 256 * 1024,      /* of a socket */
    BRIEF_THREADS = 4,
    BRIEF_QUEUE = 1024,
    DISCARD_BYTES = 16 * 1024 * 1024, /* of a refused body: read to the end, so that the client reads our answer */
    BODY_BYTES_PER_SECOND = 64 * 1024,
};
#define HEADERS_SECONDS 10.0
#define IDLE_SECONDS 30.0
#define LINGER_SECONDS 0.1 /* of a connection whose response ends while the daemon does */

struct http_server {
    const http_services *services;
    struct MHD_Daemon *daemon;
    sockets *sockets;
    pool *brief, *streams;
    address_limits *addresses;
    followers *followers;
    atomic_bool draining;
    unsigned port;
};

/* What a connection has of ours. */
typedef struct http_connection {
    socket_entry *entry;
    address_row *row;
    tls_credentials *credentials; /* NULL: plain HTTP */
} http_connection;

bool http_draining(const http_server *server) {
    return atomic_load(&server->draining);
}

unsigned http_port(const http_server *server) {
    return server->port;
}

address_limits *http_addresses(const http_server *server) {
    return server->addresses;
}

http_load http_load_of(const http_server *server) {
    return (http_load){.connections = sockets_count(server->sockets),
                       .streams = pool_load(server->streams),
                       .followers = followers_count(server->followers)};
}

/* ---- the request ------------------------------------------------------------------------------------------------ */

const char *request_header(const request *r, const char *name) {
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *request_query(const request *r, const char *name) {
    return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

int64_t request_last_event(const request *r) {
    const char *text = request_header(r, "Last-Event-ID");
    char *end;
    long long number = text ? strtoll(text, &end, 10) : 0;
    return text && *text && *end == '\0' && number > 0 ? number : 0;
}

const char *request_owner_filter(const request *r) {
    return access_may(r->holder, SCOPE_ADMIN) ? NULL : r->holder->name;
}

/* Called with the request line; the result is the request's context in all later calls. */
static void *begin(void *context, const char *target, struct MHD_Connection *connection) {
    http_server *server = context;
    request *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->server = server;
    r->services = server->services;
    r->connection = connection;
    r->received_at = stamp_seconds();
    r->target_fault = request_check_target(target, r->path, sizeof r->path);
    text_buffer_init(&r->body, (size_t)server->services->config->max_body);
    atomic_init(&r->ready, false);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const http_connection *own = info ? info->socket_context : NULL;
    r->socket = own ? own->entry : NULL;
    return r;
}

static void note_request(const request *r, bool whole) {
    const char *trace = request_header(r, "traceparent");
    if (trace && !trace_parent_sane(trace)) trace = NULL;
    metrics_request(r->services->metrics, r->route ? route_index(r->route) : METRIC_ROUTES, r->reply.status,
                    stamp_seconds() - r->received_at);
    log_write(r->services->log, LOG_INFO, "request",
              LOG_FIELDS(log_text("request_id", r->id), log_text("method", r->method_text), log_text("path", r->path),
                         log_text("token", r->holder ? r->holder->name : ""), log_number("status", r->reply.status),
                         log_number("seconds", stamp_seconds() - r->received_at),
                         log_text("end", whole ? "complete" : "cut off"), log_text("traceparent", trace)));
}

/* Called when the response is sent or the connection is lost. */
static void finish(void *context, struct MHD_Connection *connection, void **con_cls,
                   enum MHD_RequestTerminationCode code) {
    http_server *server = context;
    request *r = *con_cls;
    (void)connection;
    if (!r) return;
    *con_cls = NULL;
    sockets_watch(server->sockets, r->socket, NULL);
    sockets_expect(server->sockets, r->socket, http_draining(server) ? LINGER_SECONDS : IDLE_SECONDS);
    if (r->stream) stream_abandon(r->stream);
    if (r->headers_seen) note_request(r, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    stream_release(r->stream);
    admission_end(r);
    if (!r->reply.is_static) free(r->reply.bytes);
    answers_leave(&r->answers);
    text_buffer_free(&r->body);
    free(r);
}

/* ---- headers ---------------------------------------------------------------------------------------------------- */

static http_method method_named(const char *name) {
    static const struct {
        const char *name;
        http_method method;
    } known[] = {{"GET", METHOD_GET},
                 {"HEAD", METHOD_HEAD},
                 {"POST", METHOD_POST},
                 {"DELETE", METHOD_DELETE},
                 {"OPTIONS", METHOD_OPTIONS}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) == 0) return known[i].method;
    }
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
        reply_problem(look->r, 400, "invalid-parameter", "Invalid query parameter", "'%s' is given twice", name);
        return MHD_NO;
    }
    if (!value) {
        reply_problem(look->r, 400, "invalid-parameter", "Invalid query parameter", "'%s' has no value", name);
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
        reply_problem(r, 404, "not-found", "Not found", "there is nothing at this path");
    } else if (r->method == METHOD_OPTIONS) {
        reply_static(r, 204, NULL, NULL, 0);
    } else {
        reply_problem(r, 405, "method-not-allowed", "Method not allowed", "this path knows %s", r->reply.allow);
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
        reply_problem(r, 415, "unsupported-media-type", "Unsupported media type", "compressed bodies are not taken");
    }
}

static handled reply_too_large(request *r) {
    return reply_problem(r, 413, "content-too-large", "Content too large", "a request body may have %.0f bytes",
                         r->services->config->max_body);
}

/* Seconds that the body may take; replies 413 when its declared length is beyond the limit. */
static double check_declared_length(request *r) {
    const char *text = request_header(r, "Content-Length");
    double limit = r->services->config->max_body;
    double length = text ? strtod(text, NULL) : limit;
    if (length > limit && r->reply.status == 0) reply_too_large(r);
    if (length > DISCARD_BYTES && r->reply.status != 0) r->reply.closes = true;
    return HEADERS_SECONDS + (length < DISCARD_BYTES ? length : DISCARD_BYTES) / BODY_BYTES_PER_SECOND;
}

static void take_id(request *r) {
    const char *sent = request_header(r, "X-Request-Id");
    if (sent && request_id_sane(sent)) {
        snprintf(r->id, sizeof r->id, "%s", sent);
    } else {
        char id[STAMP_ID_BYTES] = "";
        if (!stamp_id(id)) snprintf(id, sizeof id, "%.0f", r->received_at * 1e6);
        snprintf(r->id, sizeof r->id, "%s", id);
    }
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

/* Without tokens whoever reaches this server may use it, and a page in a browser must not (DNS rebinding). Browsers always
 * send Host; HTTP/1.0 may come without. */
static bool is_misdirected(const request *r) {
    const char *host = request_header(r, "Host"), *names = r->services->config->hosts;
    bool checked = names[0] || access_open_to_anyone(r->services->access);
    return checked && host && !request_host_allowed(host, names);
}

/* Decides all that can be decided without the body. A reply made here waits until the body has been read, unless the
 * body cannot be trusted to end or the client waits for a go-ahead. */
static void look_at_headers(request *r, const char *method, const char *version) {
    r->headers_seen = true;
    r->method = method_named(method);
    snprintf(r->method_text, sizeof r->method_text, "%s", method);
    take_id(r);
    request_fault fault = r->target_fault.text ? r->target_fault : request_check_headers(r->connection, version);
    if (fault.text) {
        r->reply.closes = true;
        reply_fault(r, fault);
        return;
    }
    if (is_misdirected(r)) {
        r->reply.closes = true;
        reply_problem(r, 421, "misdirected", "Misdirected request",
                      "this server is not known as '%.200s'; its option --hosts lists names besides localhost",
                      request_header(r, "Host"));
        return;
    }
    find_route(r);
    r->answers = (answers_share){.list = r->services->access, .most = r->services->config->answers};
    if (r->route) admit(r);
    r->answers.holder = r->holder;
    if (r->route && r->reply.status == 0) check_query(r);
    if (r->route && r->route->takes_json && r->reply.status == 0) check_body_headers(r);
    double seconds = check_declared_length(r);
    if (r->reply.status != 0 && request_header(r, "Expect")) r->reply.closes = true;
    sockets_expect(r->server->sockets, r->socket, seconds);
}

/* ---- body ------------------------------------------------------------------------------------------------------- */

static enum MHD_Result take_body(request *r, const char *bytes, size_t length) {
    if (r->reply.status == 0 && r->body.length + length <= (size_t)r->services->config->max_body) {
        text_buffer_add(&r->body, bytes, length);
        if (r->body.failed) reply_no_memory(r);
        return MHD_YES;
    }
    if (r->reply.status == 0) reply_too_large(r);
    text_buffer_free(&r->body);
    r->discarded += length;
    return r->discarded <= DISCARD_BYTES ? MHD_YES : MHD_NO;
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

static enum MHD_Result send_reply(request *r) {
    sockets_expect(r->server->sockets, r->socket,
                   r->reply.streamed ? 0 : fmin(IDLE_SECONDS, r->services->config->stall));
    struct MHD_Response *response = response_make(r);
    if (!response) return MHD_NO;
    enum MHD_Result queued = MHD_queue_response(r->connection, (unsigned)r->reply.status, response);
    MHD_destroy_response(response);
    return queued;
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

/* The reply is decided: back to the HTTP thread, which calls send_reply. The request is not ours after that. */
static void complete(request *r) {
    struct MHD_Connection *connection = r->connection;
    atomic_store(&r->ready, true);
    MHD_resume_connection(connection);
}

static void run_handler(void *argument) {
    request *r = argument;
    stream *s = r->stream ? stream_hold(r->stream) : NULL;
    access_holder *holder = r->holder; /* outlives the request */
    double begin = stamp_cpu_seconds();
    if (s) budget_begin(stream_budget(s));
    handled result = r->route->handle(r);
    if (result == REPLY_READY) response_finish(r);
    /* Before the client has the answer: its next request is admitted by what this one has used. */
    if (s) {
        budget_close(stream_budget(s));
    } else if (holder) {
        access_charge(holder, stamp_cpu_seconds() - begin);
    }
    if (result == REPLY_READY) complete(r);
    stream_release(s);
}

bool request_stream(request *r, const char *media_type) {
    bool coded = response_coded(r, media_type);
    if (!stream_begin(r->stream, coded)) return false;
    r->reply.status = 200;
    r->reply.coded = coded;
    r->reply.media_type = media_type;
    r->reply.streamed = true;
    complete(r);
    return true;
}

bool request_follow(request *r, follow_step *step, void *context) {
    return followers_add(r->server->followers, r->stream, r->holder, step, context);
}

void request_reply(request *r) {
    response_finish(r);
    complete(r);
}

static void reply_busy(request *r) {
    r->reply.retry_after = 2;
    metrics_reject(r->services->metrics, REJECT_BUSY);
    reply_problem(r, 503, "busy", "Busy", "all run slots are busy; retry shortly");
}

bool request_run(request *r, void (*task)(void *context), void *context) {
    stream_may_wait(r->stream);
    bool place = admission_change(r, PLACE_STREAM);
    if (place && pool_give(r->server->streams, task, context)) return true;
    reply_busy(r);
    return false;
}

static bool give_to_pool(request *r) {
    bool streams = r->route->thread == RUN_STREAM;
    if (streams || r->route->thread == RUN_FOLLOW) {
        r->stream = stream_open(r->answers);
        if (!r->stream) {
            reply_no_memory(r);
            return false;
        }
        budget_open(stream_budget(r->stream), r->services->slots, r->holder, stream_cancel_flag(r->stream),
                    &r->services->budget, r->received_at);
    }
    sockets_expect(r->server->sockets, r->socket, 0);
    MHD_suspend_connection(r->connection); /* before the task, which resumes it */
    sockets_watch(r->server->sockets, r->socket, r->stream);
    if (pool_give(streams ? r->server->streams : r->server->brief, run_handler, r)) return true;
    reply_busy(r);
    complete(r);
    return true;
}

static enum MHD_Result dispatch(request *r) {
    r->dispatched = true;
    if (r->reply.status == 0 && http_draining(r->server) && r->route->thread != RUN_INLINE) {
        r->reply.retry_after = 5;
        reply_problem(r, 503, "shutting-down", "Shutting down", "the server is about to end");
    }
    if (r->reply.status == 0 && r->route->thread == RUN_INLINE) r->route->handle(r);
    if (r->reply.status == 0 && give_to_pool(r)) return MHD_YES;
    return send_reply(r);
}

/* The access handler: once with the headers, then with each piece of the body, once at its end, and again after a
 * resume. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **con_cls) {
    request *r = *con_cls;
    (void)context;
    (void)connection;
    (void)url;
    if (!r) return MHD_NO; /* begin found no memory */
    if (!r->headers_seen) {
        look_at_headers(r, method, version);
        return r->reply.closes ? send_reply(r) : MHD_YES;
    }
    if (*upload_size > 0) {
        enum MHD_Result taken = take_body(r, upload, *upload_size);
        *upload_size = 0;
        return taken;
    }
    if (!r->dispatched) return dispatch(r);
    return atomic_load(&r->ready) ? send_reply(r) : MHD_YES;
}

/* Connections are few, and a TLS handshake is the most that a client gets without a token: it is computed on this thread. */
static enum MHD_Result accept_connection(void *context, const struct sockaddr *address, socklen_t length) {
    http_server *server = context;
    double seconds;
    (void)length;
    if (!address_limits_full(server->addresses, address) &&
        (!server->services->tls || address_limits_take(server->addresses, ADDRESS_HANDSHAKE, address, &seconds))) {
        return MHD_YES;
    }
    metrics_reject(server->services->metrics, REJECT_ADDRESS);
    return MHD_NO;
}

static address_row *enter_row(http_server *server, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info && info->client_addr ? address_limits_enter(server->addresses, info->client_addr) : NULL;
}

static tls_credentials *attach_credentials(http_server *server, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info && info->tls_session ? tls_attach(server->services->tls, info->tls_session) : NULL;
}

static http_connection *begin_connection(http_server *server, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int descriptor = info ? info->connect_fd : -1;
    http_connection *own = calloc(1, sizeof *own);
    socket_entry *entry = own ? sockets_add(server->sockets, descriptor) : NULL;
    if (!entry) { /* nobody would end it at its deadline */
        shutdown(descriptor, SHUT_RDWR);
        free(own);
        return NULL;
    }
    /* The kernel would grow this to megabytes for each stream whose reader is slow. */
    const int send_bytes = SEND_BUFFER;
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
    own->entry = entry;
    own->row = enter_row(server, connection);
    if (server->services->tls) own->credentials = attach_credentials(server, connection);
    sockets_expect(server->sockets, entry, HEADERS_SECONDS);
    return own;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code) {
    http_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = begin_connection(server, connection);
        return;
    }
    http_connection *own = *socket_context;
    if (!own) return;
    sockets_remove(server->sockets, own->entry);
    address_limits_leave(own->row);
    tls_release(own->credentials);
    free(own);
    *socket_context = NULL;
}

/* ---- start and stop --------------------------------------------------------------------------------------------- */

static void note_fault(void *context, const char *format, va_list arguments) {
    http_server *server = context;
    char text[400];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    log_write(server->services->log, LOG_DEBUG, "http", LOG_FIELDS(log_text("message", text)));
}

/* libmicrohttpd wants a certificate or this; note_connection has given each session its credentials before. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                          const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **certificates,
                          unsigned *certificate_count, gnutls_privkey_t *key) {
    (void)session, (void)authorities, (void)authority_count, (void)algorithms, (void)algorithm_count;
    (void)certificates, (void)certificate_count, (void)key;
    return -1;
}

/* With epoll libmicrohttpd, up to 1.0 at least, turns in circles while a TLS handshake waits for the client (it never notes
 * that there is nothing to read): one connection with half a hello costs a core. With poll it waits. */
static unsigned flags_of(const http_services *services) {
    unsigned flags = MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    flags |= services->tls ? MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_TLS : MHD_USE_EPOLL_INTERNAL_THREAD;
    return services->config->address.ss_family == AF_INET6 ? flags | MHD_USE_IPv6 : flags;
}

static struct MHD_Daemon *start_daemon(http_server *server) {
    const server_config *config = server->services->config;
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(intptr_t)no_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        flags_of(server->services), 0, accept_connection, server, answer, server, MHD_OPTION_EXTERNAL_LOGGER,
        note_fault, server, MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)&config->address,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)config->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_URI_LOG_CALLBACK, begin, server,
        MHD_OPTION_NOTIFY_COMPLETED, finish, server, MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
        MHD_OPTION_ARRAY, server->services->tls ? secure : secure + 2, MHD_OPTION_END);
}

static http_server *give_up(http_server *server, char *message, size_t room, const char *reason) {
    snprintf(message, room, "%s", reason);
    pool_close(server->brief);
    pool_close(server->streams);
    followers_close(server->followers);
    sockets_close(server->sockets);
    address_limits_close(server->addresses);
    free(server);
    return NULL;
}

http_server *http_start(const http_services *services, char *message, size_t room) {
    const server_config *config = services->config;
    http_server *server = calloc(1, sizeof *server);
    if (!server) {
        snprintf(message, room, "out of memory");
        return NULL;
    }
    server->services = services;
    atomic_init(&server->draining, false);
    server->sockets = sockets_open(config->stall);
    server->brief = pool_open(BRIEF_THREADS, BRIEF_QUEUE);
    server->streams = pool_open((size_t)config->streams, (size_t)config->waiting);
    server->addresses = address_limits_open(config->per_address, config->handshakes);
    server->followers = followers_open(services->store, (size_t)config->followers);
    if (!server->sockets || !server->brief || !server->streams || !server->addresses || !server->followers) {
        return give_up(server, message, room, "out of memory or threads");
    }
    server->daemon = start_daemon(server);
    if (!server->daemon) {
        char reason[CONFIG_TEXT_BYTES + 64];
        snprintf(reason, sizeof reason, "cannot listen on %s (is it in use?)", config->listen);
        return give_up(server, message, room, reason);
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info ? info->port : 0;
    return server;
}

static bool wait_until_idle(http_server *server, double patient_until, double until) {
    const struct timespec step = {.tv_nsec = 10000000};
    for (;;) {
        bool busy = pool_load(server->streams) + pool_load(server->brief) + sockets_streaming(server->sockets) > 0;
        if (!busy) return true;
        double now = stamp_seconds();
        if (now > until) return false;
        /* Each time: a request may have become a stream meanwhile. */
        sockets_stop_streams(server->sockets, now >= patient_until);
        nanosleep(&step, NULL);
    }
}

void http_stop(http_server *server, double seconds, double patience) {
    if (!server) return;
    double begin = stamp_seconds();
    atomic_store(&server->draining, true);
    MHD_socket listener = MHD_quiesce_daemon(server->daemon);
    /* Who comes now is refused, not kept waiting; it is to be closed only after the daemon. */
    if (listener != MHD_INVALID_SOCKET) shutdown(listener, SHUT_RDWR);
    if (!wait_until_idle(server, begin + patience, begin + seconds)) sockets_abandon_streams(server->sockets);
    /* Each may still give something to the next; the streams of all have been canceled. */
    pool_close(server->brief);
    followers_close(server->followers);
    pool_close(server->streams);
    MHD_stop_daemon(server->daemon);
    if (listener != MHD_INVALID_SOCKET) close(listener);
    sockets_close(server->sockets);
    address_limits_close(server->addresses);
    free(server);
}
