/* admission.c — admission of requests; see request.h. Admission runs on the HTTP thread, so it holds locks only
 * briefly. */
#include "server/http/request.h"

#include <math.h>

enum { RETRY_MOST = 86400 };

static void retry_after(request *r, double seconds) {
    r->reply.retry_after = seconds < 1 ? 1 : seconds > RETRY_MOST ? RETRY_MOST : (int)ceil(seconds);
}

static bool too_many_failures(request *r, double *seconds) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr) return false;
    return !address_limits_take(http_addresses(r->server), ADDRESS_WRONG_TOKEN, info->client_addr, seconds);
}

static void refuse_token(request *r, const char *authorization) {
    double seconds = 0;
    metrics_reject(r->services->metrics, REJECT_TOKEN);
    if (authorization && too_many_failures(r, &seconds)) {
        retry_after(r, seconds);
        reply_problem(r, 429, "too-many-requests", "Too many requests",
                      "too many invalid tokens from this address; retry later with a valid token");
        return;
    }
    r->reply.challenge = authorization ? "Bearer realm=\"hamel\", error=\"invalid_token\"" : "Bearer realm=\"hamel\"";
    reply_problem(r, 401, "unauthorized", "Unauthorized",
                  authorization ? "unknown token" : "send a token: Authorization: Bearer TOKEN");
}

static void refuse_scope(request *r) {
    static const char *const names[] = {"", "read", "run", "", "admin"};
    metrics_reject(r->services->metrics, REJECT_TOKEN);
    reply_problem(r, 403, "forbidden", "Forbidden", "the token '%s' lacks the scope %s", r->owner->name,
                  names[r->route->scope]);
}

static void refuse_for_now(request *r, rejection reason, double seconds, const char *what) {
    metrics_reject(r->services->metrics, reason);
    retry_after(r, seconds);
    reply_problem(r, 429, reason == REJECT_RATE ? "too-many-requests" : "quota", "Too many requests",
                  "the token '%s' has used up its %s", r->owner->name, what);
}

/* If the request already holds a resource, the caller must release it. */
static access_grant take_resource(request *r, access_resource kind) {
    const server_config *config = r->services->config;
    double most = kind == ACCESS_RUN_SLOT ? config->streams + config->waiting : config->followers;
    access_grant grant = access_take(r->services->access, r->owner, kind, 1, most);
    if (grant != ACCESS_GRANTED) return grant;
    r->holds_resource = true;
    r->resource = kind;
    return grant;
}

static void refuse_follower(request *r) {
    metrics_reject(r->services->metrics, REJECT_BUSY);
    r->reply.retry_after = 2;
    reply_problem(r, 503, "busy", "Busy",
                  "too many responses are waiting for jobs or slow clients (--followers); retry shortly");
}

void admit(request *r) {
    const char *authorization = request_header(r, "Authorization");
    double seconds = 0;
    if (r->route->scope == 0) return;
    r->owner = access_of(r->services->access, authorization);
    if (!r->owner) {
        refuse_token(r, authorization);
    } else if (!access_may(r->owner, r->route->scope)) {
        refuse_scope(r);
    } else if (!access_take_request(r->owner, &seconds)) {
        refuse_for_now(r, REJECT_RATE, seconds, "requests for this second");
    } else if (r->route->scope == SCOPE_RUN && !access_has_cpu(r->owner, &seconds)) {
        refuse_for_now(r, REJECT_QUOTA, seconds, "processor time for today");
    } else if (r->route->thread == RUN_STREAM) {
        if (take_resource(r, ACCESS_RUN_SLOT) != ACCESS_GRANTED)
            refuse_for_now(r, REJECT_QUOTA, 1, "run slots; end one of its requests first");
    } else if (r->route->thread == RUN_FOLLOW) {
        access_grant grant = take_resource(r, ACCESS_FOLLOWER);
        if (grant == ACCESS_QUOTA_USED) refuse_for_now(r, REJECT_QUOTA, 1, "followers; end one of them first");
        if (grant == ACCESS_ALL_USED) refuse_follower(r);
    }
}

bool admission_change(request *r, access_resource kind) {
    bool held = r->holds_resource;
    access_resource before = r->resource;
    if (take_resource(r, kind) != ACCESS_GRANTED) return false;
    if (held) access_release(r->services->access, r->owner, before, 1);
    return true;
}

void admission_end(request *r) {
    if (r->holds_resource) access_release(r->services->access, r->owner, r->resource, 1);
    r->holds_resource = false;
}
