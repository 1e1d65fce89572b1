/* request.h — one request, from its first byte to its reply.
 *
 * A handler is a function from a request to a reply. The route selects the thread of the handler:
 *     RUN_INLINE   the HTTP thread; the handler must not block
 *     RUN_BRIEF    one of a few threads for handlers that use the store
 *     RUN_STREAM   a thread of the pool until the reply is complete; such a request has a stream
 *     RUN_FOLLOW   like RUN_BRIEF, with a stream; a follower continues the reply (followers.h)
 * A handler fills request->reply and returns REPLY_READY, or calls request_stream and returns REPLY_STREAMED. After
 * request_stream the request belongs to the HTTP thread, and the handler may use only the stream. After request_follow
 * the request belongs to the follower; in this case the handler also returns REPLY_STREAMED. */
#pragma once

#include "api/simulate.h"
#include "server/http/connections.h"
#include "server/http/followers.h"
#include "server/http/http.h"
#include "server/http/request_check.h"
#include "server/http/stream.h"
#include "server/jobs/store.h"

#include <microhttpd.h>

typedef enum handled { REPLY_READY, REPLY_STREAMED } handled;
typedef enum route_thread { RUN_INLINE, RUN_BRIEF, RUN_STREAM, RUN_FOLLOW } route_thread;
typedef enum http_method {
    METHOD_GET = 1,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHODS
} http_method;
extern const char *const http_method_names[METHODS];

typedef struct request request;
typedef handled route_handler(request *r);

/* If this is the first name in route.query, all parameters are accepted and ignored. */
#define ROUTE_ANY_QUERY "*"

typedef struct route {
    http_method method;
    const char *path; /* "{}" matches one segment, which is copied to request->parameter */
    route_thread thread;
    bool takes_json; /* a JSON body is required */
    route_handler *handle;
    unsigned scope;           /* scope that the token must have; 0: no token is required */
    const char *const *query; /* allowed query parameters, NULL-terminated; NULL: no parameter is allowed */
} route;

enum { PATH_BYTES = 512, PARAMETER_BYTES = 128, REQUEST_ID_BYTES = 129, ALLOW_BYTES = 64 };

/* A rejected body is read up to this size, since most clients read the reply only after sending the body. The size is
 * 16 times the default of --max-body. */
enum { REQUEST_DISCARD_BYTES = 16 * 1024 * 1024 };

typedef struct reply {
    int status;             /* 0: no reply yet */
    const char *media_type; /* static text; NULL if there is no body */
    char *bytes;            /* owned unless `is_static` */
    size_t length;
    bool is_static;
    bool streamed;         /* the body comes from the request's stream */
    bool coded;            /* compressed with gzip */
    bool page;             /* HTML page: may load scripts and styles from this server and send requests to it */
    bool closes;           /* the connection is closed after this reply */
    const char *challenge; /* value of WWW-Authenticate; static text or NULL */
    int waited;            /* N of Preference-Applied: wait=N; 0: no such header */
    int retry_after;       /* Retry-After in seconds; 0: no such header */
    char location[PATH_BYTES], etag[64], allow[ALLOW_BYTES];
} reply;

struct request {
    http_server *server;
    const daemon_services *services;
    struct MHD_Connection *connection;
    connection_entry *entry; /* entry in the connection registry */
    const route *route;
    http_method method;
    request_fault target_fault; /* error in the request line */
    char path[PATH_BYTES], parameter[PARAMETER_BYTES], id[REQUEST_ID_BYTES];
    char method_text[16];
    text_buffer body;
    size_t discarded; /* bytes read of a rejected body */
    double received_at;
    token_owner *owner;  /* owner of the token; NULL on routes without scope, and before admission */
    bool holds_resource; /* holds a run slot or follower, counted against the quota of its owner */
    access_resource resource;
    answers_share answers; /* bytes charged for a reply that is not streamed */
    stream *stream;        /* set on RUN_STREAM and RUN_FOLLOW routes, otherwise NULL */
    reply reply;
    bool headers_seen, dispatched;
    atomic_bool ready;
};

/* Begins a streamed reply with status 200; the handler must not use the request afterwards. If out of memory, returns
 * false and changes nothing. */
bool request_stream(request *r, const char *media_type);

/* Passes the request and its stream to a new follower; returns false if there are too many followers. The steps of the
 * follower end the request either by request_reply with a complete reply, or by request_stream and stream_end. */
bool request_follow(request *r, follow_step *step, void *context);
void request_reply(request *r);

/* Runs task(context) in a run slot, for a follower that must block until its client has read the response. If all slots
 * are busy, replies 503 and returns false. */
bool request_run(request *r, void (*task)(void *context), void *context);

/* Reads the headers. If the headers already determine the reply (404, for example), fills in the reply. A reply that
 * closes the connection is then sent immediately, and any other reply after the body has been read. Returns the seconds
 * within which the body must be complete, or 0 if the request is malformed or misdirected. */
double request_read_headers(request *r, const char *method, const char *version);

/* Admits a request before its body is read: checks token, scope, rate and quotas. Sets r->owner, or fills in the reply
 * that rejects the request: 401, 403, 429 or 503 (admission.c). */
void admit(request *r);
void admission_end(request *r); /* releases the resources taken by admit */

/* Exchanges the resource that the request holds for a resource of another kind. If no resource of that kind is free,
 * returns false and keeps the present resource. */
bool admission_change(request *r, access_resource kind);

/* Return the value of a header or query parameter, or NULL if it is absent. */
const char *request_header(const request *r, const char *name);
const char *request_query(const request *r, const char *name);

const char *request_body(const request *r); /* returns "" if there is no body */

/* Returns the id of the last event that the client received, from the header Last-Event-ID (HTML standard, 9.2). If the
 * header is absent or invalid, returns 0. */
int64_t request_last_event(const request *r);

/* Returns the name of the owner whose jobs this request may read, or NULL for all owners. */
const char *request_owner_filter(const request *r);

/* Replies with a problem document of type /problems/SLUG; `detail` is a printf format. Returns REPLY_READY, as do the
 * functions below. */
handled reply_problem(request *r, int status, const char *slug, const char *title, const char *detail, ...)
    HAMEL_PRINTF(5, 6);
#define reply_parameter(r, ...) reply_problem(r, 400, "invalid-parameter", "Invalid query parameter", __VA_ARGS__)
handled reply_problem_tree(request *r, int status, cJSON *problem); /* takes ownership of the tree */
handled reply_no_memory(request *r);
handled reply_too_large(request *r);                     /* 413, the body exceeds --max-body */
handled reply_answers_full(request *r);                  /* 503, the budget of unread responses is used up */
handled reply_json(request *r, int status, cJSON *tree); /* takes ownership of the tree; NULL means out of memory */
handled reply_static(request *r, int status, const char *media_type, const char *bytes, size_t length);
handled reply_bytes(request *r, int status, const char *media_type, char *owned, size_t length);
