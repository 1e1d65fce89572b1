/* request.h — one request, from its first byte to its answer.
 *
 * A handler is a function from a request to a reply. It runs on the thread its route asks for:
 *     RUN_INLINE   the HTTP thread itself: must not wait for anything
 *     RUN_BRIEF    a few threads for what touches the store
 *     RUN_STREAM   a thread of its own for as long as the answer takes; such a request has a stream
 *     RUN_FOLLOW   like RUN_BRIEF, with a stream; the rest of the answer is a follower's (followers.h)
 * A handler fills request->reply and returns REPLY_READY, or calls request_stream and returns REPLY_STREAMED; after
 * request_stream the request belongs to the HTTP thread and only the stream may be used. After request_follow it belongs
 * to the follower, and the handler returns REPLY_STREAMED, too. */
#ifndef HAMEL_SERVER_HTTP_REQUEST_H
#define HAMEL_SERVER_HTTP_REQUEST_H

#include "api/simulate.h"
#include "server/http/followers.h"
#include "server/http/http.h"
#include "server/http/request_check.h"
#include "server/http/sockets.h"
#include "server/http/stream.h"
#include "server/jobs/store.h"

#include <microhttpd.h>

typedef enum handled { REPLY_READY, REPLY_STREAMED } handled;
typedef enum route_thread { RUN_INLINE, RUN_BRIEF, RUN_STREAM, RUN_FOLLOW } route_thread;
typedef enum http_method {
    METHOD_GET = 1,
    METHOD_HEAD = 2,
    METHOD_POST = 4,
    METHOD_DELETE = 8,
    METHOD_OPTIONS = 16
} http_method;

typedef struct request request;

/* As the first name of a query: all parameters are allowed, and ignored. */
#define ROUTE_ANY_QUERY "*"

typedef struct route {
    http_method method;
    const char *path; /* "{}" stands for one segment, kept in request->parameter */
    route_thread thread;
    bool takes_json; /* a JSON body is required */
    handled (*handle)(request *r);
    unsigned scope;           /* that a token must have; 0: open to all */
    const char *const *query; /* names of query parameters that are allowed, NULL-terminated; NULL: none */
} route;

enum { PATH_BYTES = 512, PARAMETER_BYTES = 128, REQUEST_ID_BYTES = 129, ALLOW_BYTES = 64 };

typedef struct reply {
    int status;             /* 0: no reply yet */
    const char *media_type; /* static; NULL without a body */
    char *bytes;            /* owned unless `is_static` */
    size_t length;
    bool is_static;
    bool streamed;         /* the body is the request's stream */
    bool coded;            /* with gzip */
    bool page;             /* HTML that loads its own scripts and styles, and asks this server */
    bool closes;           /* the connection ends with this reply */
    const char *challenge; /* WWW-Authenticate; static, or NULL */
    int waited;            /* Preference-Applied: wait=N; 0: none */
    int retry_after;       /* seconds; 0: none */
    char location[PATH_BYTES], etag[64], allow[ALLOW_BYTES];
} reply;

struct request {
    http_server *server;
    const http_services *services;
    struct MHD_Connection *connection;
    socket_entry *socket;
    const route *route;
    http_method method;
    request_fault target_fault; /* of the request line */
    char path[PATH_BYTES], parameter[PARAMETER_BYTES], id[REQUEST_ID_BYTES];
    char method_text[16];
    text_buffer body;
    size_t discarded; /* bytes of a body that nobody wants */
    double received_at;
    access_holder *holder; /* whose token it carries; NULL on routes without scope, and before admission */
    bool holds_place;      /* counted against its quota, and of which kind */
    access_place place;
    answers_share answers; /* of the whole reply */
    stream *stream;        /* of a RUN_STREAM or RUN_FOLLOW route, else NULL */
    reply reply;
    bool headers_seen, dispatched;
    atomic_bool ready;
};

/* Begins a streamed answer with status 200: the request leaves the handler. False without memory (nothing happened). */
bool request_stream(request *r, const char *media_type);

/* Gives the request, whose stream it has, to a follower; false when there is no room for one. Its steps end it by
 * request_reply, with a reply that is filled in, or by request_stream and the end of the stream. */
bool request_follow(request *r, follow_step *step, void *context);
void request_reply(request *r);

/* For a follower that has to wait for its reader: runs task(context) in a run slot. False after a reply to the request
 * when there is none. */
bool request_run(request *r, void (*task)(void *context), void *context);

/* Header or query parameter; NULL when absent. */
const char *request_header(const request *r, const char *name);
const char *request_query(const request *r, const char *name);

/* Last-Event-ID (HTML standard, 9.2), up to which a client has heard; 0: from the beginning. */
int64_t request_last_event(const request *r);

/* Whose jobs this request may see: a name, or NULL for everyone's. */
const char *request_owner_filter(const request *r);

/* Problem documents. The first returns REPLY_READY, so that `return reply_problem(...)` reads well. `slug` completes
 * /problems/...; `detail` is printf-like. */
handled reply_problem(request *r, int status, const char *slug, const char *title, const char *detail, ...)
    HAMEL_PRINTF(5, 6);
handled reply_problem_tree(request *r, int status, cJSON *problem); /* takes the tree */
handled reply_no_memory(request *r);
handled reply_answers_full(request *r);                  /* 503: the budget of unread answers is used up */
handled reply_storage_failed(request *r);                /* 503: the store does not answer */
handled reply_disk_full(request *r);                     /* 503: the store takes nothing that needs room */
handled reply_json(request *r, int status, cJSON *tree); /* takes the tree; NULL: out of memory */
handled reply_static(request *r, int status, const char *media_type, const char *bytes, size_t length);
handled reply_bytes(request *r, int status, const char *media_type, char *bytes, size_t length); /* takes the bytes */

#endif
