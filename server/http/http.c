/* http.c — HTTP server on libmicrohttpd; see http.h. The library runs one thread, which calls all functions here except
 * http_start and http_stop. The HTTP thread never blocks. Slow work runs in a pool while its connection is suspended.
 *
 *     request line ─ begin_request ─> headers ─ request_read_headers ─> body ─ take_body ─> dispatch
 *     dispatch ─> [pool] ─> send_reply
 *
 * A suspended connection does not change until it is resumed, so a handler may use its request freely. libmicrohttpd
 * aborts if it is stopped with a suspended connection. Therefore the task of a pool always resumes its request, and the
 * end of a stream always resumes its connection. */
#include "server/http/http.h"

#include "server/clock.h"
#include "server/http/request_check.h"
#include "server/http/response.h"
#include "server/http/routes.h"
#include "server/pool.h"

#include <gnutls/abstract.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTION_MEMORY =
        64 * 1024,            /* over twice REQUEST_HEADERS_BYTES, so that the daemon replies 431, not the library */
    SEND_BUFFER = 256 * 1024, /* SO_SNDBUF of a connection, as large as the ring of a stream */
    BRIEF_THREADS = 4,
    BRIEF_QUEUE = 1024,
};
#define HEADERS_SECONDS 10.0
#define IDLE_SECONDS 30.0
/* Time for the last bytes of a response that ends during shutdown. A client that is still reading receives these bytes
 * within this time, which is short compared with --grace (10 s by default). */
#define LINGER_SECONDS 0.1

struct http_server {
    const daemon_services *services;
    struct MHD_Daemon *daemon;
    connections *connections;
    pool *brief, *streams;
    address_limits *addresses;
    followers *followers;
    atomic_bool draining;
    unsigned port;
};

/* The daemon's data for a connection. */
typedef struct http_connection {
    connection_entry *entry;
    address_row *row;
    tls_credentials *credentials; /* NULL for plain HTTP */
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
    return (http_load){.connections = connections_count(server->connections, false),
                       .streams = pool_load(server->streams),
                       .followers = followers_count(server->followers)};
}

/* ---- request ---------------------------------------------------------------------------------------------------- */

/* Called by libmicrohttpd after the request line. libmicrohttpd passes the returned request to all later callbacks. */
static void *begin_request(void *context, const char *target, struct MHD_Connection *connection) {
    http_server *server = context;
    request *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->server = server;
    r->services = server->services;
    r->connection = connection;
    r->received_at = clock_seconds();
    r->target_fault = request_check_target(target, r->path, sizeof r->path);
    text_buffer_init(&r->body, (size_t)server->services->config->max_body);
    atomic_init(&r->ready, false);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const http_connection *own = info ? info->socket_context : NULL;
    r->entry = own ? own->entry : NULL;
    return r;
}

static void note_request(const request *r, bool whole) {
    const char *trace = request_header(r, "traceparent");
    if (trace && !trace_parent_sane(trace)) trace = NULL;
    metrics_request(r->services->metrics, r->route ? route_index(r->route) : METRIC_ROUTES, r->reply.status,
                    clock_seconds() - r->received_at);
    log_write(r->services->log, LOG_INFO, "request",
              LOG_FIELDS(log_text("request_id", r->id), log_text("method", r->method_text), log_text("path", r->path),
                         log_text("token", r->owner ? r->owner->name : ""), log_number("status", r->reply.status),
                         log_number("seconds", clock_seconds() - r->received_at),
                         log_text("end", whole ? "complete" : "cut off"), log_text("traceparent", trace)));
}

/* Called by libmicrohttpd when the response has been sent or the connection is lost. */
static void finish_request(void *context, struct MHD_Connection *connection, void **con_cls,
                           enum MHD_RequestTerminationCode code) {
    http_server *server = context;
    request *r = *con_cls;
    (void)connection;
    if (!r) return;
    *con_cls = NULL;
    connections_set_stream(server->connections, r->entry, NULL);
    connections_set_deadline(server->connections, r->entry, http_draining(server) ? LINGER_SECONDS : IDLE_SECONDS);
    if (r->stream) stream_abandon(r->stream);
    if (r->headers_seen) note_request(r, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    stream_release(r->stream);
    admission_end(r);
    if (!r->reply.is_static) free(r->reply.bytes);
    answers_leave(&r->answers);
    text_buffer_free(&r->body);
    free(r);
}

static enum MHD_Result take_body(request *r, const char *bytes, size_t length) {
    if (r->reply.status == 0 && r->body.length + length <= (size_t)r->services->config->max_body) {
        text_buffer_add(&r->body, bytes, length);
        if (r->body.failed) reply_no_memory(r);
        return MHD_YES;
    }
    if (r->reply.status == 0) reply_too_large(r);
    text_buffer_free(&r->body);
    r->discarded += length;
    return r->discarded <= REQUEST_DISCARD_BYTES ? MHD_YES : MHD_NO;
}

static enum MHD_Result send_reply(request *r) {
    connections_set_deadline(r->server->connections, r->entry,
                             r->reply.streamed ? 0 : fmin(IDLE_SECONDS, r->services->config->stall));
    struct MHD_Response *response = response_make(r);
    if (!response) return MHD_NO;
    enum MHD_Result queued = MHD_queue_response(r->connection, (unsigned)r->reply.status, response);
    MHD_destroy_response(response);
    return queued;
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

/* Passes the request back to the HTTP thread, which calls send_reply. The caller must not use the request
 * afterwards. */
static void complete_request(request *r) {
    struct MHD_Connection *connection = r->connection;
    atomic_store(&r->ready, true);
    MHD_resume_connection(connection);
}

static void run_handler(void *argument) {
    request *r = argument;
    stream *s = r->stream ? stream_hold(r->stream) : NULL;
    token_owner *owner = r->owner; /* still valid after the request is freed */
    double begin = clock_cpu_seconds();
    if (s) budget_begin(stream_budget(s));
    handled result = r->route->handle(r);
    if (result == REPLY_READY) response_finish(r);
    /* Charge before the client gets the reply, so that the admission of its next request uses the new value. */
    if (s) {
        budget_close(stream_budget(s));
    } else if (owner) {
        access_charge(owner, clock_cpu_seconds() - begin);
    }
    if (result == REPLY_READY) complete_request(r);
    stream_release(s);
}

bool request_stream(request *r, const char *media_type) {
    bool coded = response_coded(r, media_type);
    if (!stream_begin(r->stream, coded)) return false;
    r->reply.status = 200;
    r->reply.coded = coded;
    r->reply.media_type = media_type;
    r->reply.streamed = true;
    complete_request(r);
    return true;
}

bool request_follow(request *r, follow_step *step, void *context) {
    return followers_add(r->server->followers, r->stream, r->owner, step, context);
}

void request_reply(request *r) {
    response_finish(r);
    complete_request(r);
}

static void reply_busy(request *r) {
    r->reply.retry_after = 2;
    metrics_reject(r->services->metrics, REJECT_BUSY);
    reply_problem(r, 503, "busy", "Busy", "all run slots are busy; retry shortly");
}

bool request_run(request *r, void (*task)(void *context), void *context) {
    stream_may_wait(r->stream);
    bool granted = admission_change(r, ACCESS_RUN_SLOT);
    if (granted && pool_give(r->server->streams, task, context)) return true;
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
        budget_open(stream_budget(r->stream), r->services->slots, r->owner, stream_cancel_flag(r->stream),
                    &r->services->budget, r->received_at);
    }
    connections_set_deadline(r->server->connections, r->entry, 0);
    MHD_suspend_connection(r->connection); /* suspend first: the task may resume the connection at any time */
    connections_set_stream(r->server->connections, r->entry, r->stream);
    if (pool_give(streams ? r->server->streams : r->server->brief, run_handler, r)) return true;
    reply_busy(r);
    complete_request(r);
    return true;
}

static enum MHD_Result dispatch(request *r) {
    r->dispatched = true;
    if (r->reply.status == 0 && http_draining(r->server) && r->route->thread != RUN_INLINE) {
        r->reply.retry_after = 5;
        reply_problem(r, 503, "shutting-down", "Shutting down", "the server is shutting down; retry later");
    }
    if (r->reply.status == 0 && r->route->thread == RUN_INLINE) r->route->handle(r);
    if (r->reply.status == 0 && give_to_pool(r)) return MHD_YES;
    return send_reply(r);
}

/* Access handler of libmicrohttpd: called after the headers, with each part of the body, at the end of the body, and
 * after a resume. */
static enum MHD_Result answer_request(void *context, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *upload, size_t *upload_size,
                                      void **con_cls) {
    request *r = *con_cls;
    (void)context, (void)connection, (void)url;
    if (!r) return MHD_NO; /* memory was exhausted in begin_request */
    if (!r->headers_seen) {
        double seconds = request_read_headers(r, method, version);
        if (seconds > 0) connections_set_deadline(r->server->connections, r->entry, seconds);
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

/* Limits the connections and TLS handshakes of an address. Handshakes run on this thread and are the most expensive
 * operation that needs no token. */
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
    connection_entry *entry = own ? connections_add(server->connections, descriptor) : NULL;
    if (!entry) { /* without an entry the connection would have no deadline */
        shutdown(descriptor, SHUT_RDWR);
        free(own);
        return NULL;
    }
    /* Without a fixed size the kernel would enlarge the buffer to megabytes for each slow reader. */
    const int send_bytes = SEND_BUFFER;
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
    own->entry = entry;
    own->row = enter_row(server, connection);
    if (server->services->tls) own->credentials = attach_credentials(server, connection);
    connections_set_deadline(server->connections, entry, HEADERS_SECONDS);
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
    connections_remove(server->connections, own->entry);
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

/* Provides no certificate: libmicrohttpd requires this callback, but note_connection has already set the credentials of
 * the session. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                          const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **certificates,
                          unsigned *certificate_count, gnutls_privkey_t *key) {
    (void)session, (void)authorities, (void)authority_count, (void)algorithms, (void)algorithm_count;
    (void)certificates, (void)certificate_count, (void)key;
    return -1;
}

/* Selects poll for HTTPS. With epoll, libmicrohttpd (at least up to 1.0) busy-waits during a TLS handshake if there is
 * nothing to read. One connection that sends half of a ClientHello then uses a whole core. */
static unsigned flags_of(const daemon_services *services) {
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
        flags_of(server->services), 0, accept_connection, server, answer_request, server, MHD_OPTION_EXTERNAL_LOGGER,
        note_fault, server, MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)&config->address,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)config->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_URI_LOG_CALLBACK, begin_request,
        server, MHD_OPTION_NOTIFY_COMPLETED, finish_request, server, MHD_OPTION_NOTIFY_CONNECTION, note_connection,
        server, MHD_OPTION_ARRAY, server->services->tls ? secure : secure + 2, MHD_OPTION_END);
}

static http_server *give_up(http_server *server, char *message, size_t room, const char *reason) {
    snprintf(message, room, "%s", reason);
    pool_close(server->brief);
    pool_close(server->streams);
    followers_close(server->followers);
    connections_close(server->connections);
    free(server->addresses);
    free(server);
    return NULL;
}

http_server *http_start(const daemon_services *services, char *message, size_t room) {
    const server_config *config = services->config;
    http_server *server = calloc(1, sizeof *server);
    if (!server) {
        snprintf(message, room, "out of memory");
        return NULL;
    }
    server->services = services;
    atomic_init(&server->draining, false);
    server->connections = connections_open(config->stall);
    server->brief = pool_open(BRIEF_THREADS, BRIEF_QUEUE);
    server->streams = pool_open((size_t)config->streams, (size_t)config->waiting);
    server->addresses = address_limits_open(config->per_address, config->handshakes);
    server->followers = followers_open(services->store, (size_t)config->followers);
    if (!server->connections || !server->brief || !server->streams || !server->addresses || !server->followers)
        return give_up(server, message, room, "cannot start the HTTP server: out of memory or threads");
    server->daemon = start_daemon(server);
    if (!server->daemon) {
        char reason[CONFIG_TEXT_BYTES + 64];
        snprintf(reason, sizeof reason, "cannot listen on %s (is the address in use?)", config->listen);
        return give_up(server, message, room, reason);
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info ? info->port : 0;
    return server;
}

static bool wait_until_idle(http_server *server, double patient_until, double until) {
    const struct timespec step = {.tv_nsec = 10000000};
    for (;;) {
        size_t streaming = connections_count(server->connections, true);
        if (pool_load(server->streams) + pool_load(server->brief) + streaming == 0) return true;
        double now = clock_seconds();
        if (now > until) return false;
        /* Stop the streams in each round, since a request may have become a stream after the previous round. */
        connections_stop_streams(server->connections, now >= patient_until);
        nanosleep(&step, NULL);
    }
}

void http_stop(http_server *server, double seconds, double patience) {
    if (!server) return;
    double begin = clock_seconds();
    atomic_store(&server->draining, true);
    MHD_socket listener = MHD_quiesce_daemon(server->daemon);
    /* The kernel then refuses new connections instead of queueing them. The socket itself is closed last. */
    if (listener != MHD_INVALID_SOCKET) shutdown(listener, SHUT_RDWR);
    if (!wait_until_idle(server, begin + patience, begin + seconds)) connections_abandon_streams(server->connections);
    /* The order matters: tasks of the brief pool add followers, and followers add tasks to the pool of streams. All
     * streams have been canceled. */
    pool_close(server->brief);
    followers_close(server->followers);
    pool_close(server->streams);
    MHD_stop_daemon(server->daemon);
    if (listener != MHD_INVALID_SOCKET) close(listener);
    connections_close(server->connections);
    free(server->addresses);
    free(server);
}
