/* admission.c — see admission.h. Runs on the HTTP thread: locks are held for moments only. */
#include "server/http/admission.h"

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
        reply_problem(r, 429, "too-many-requests", "Too many requests", "too many wrong tokens from this address");
        return;
    }
    r->reply.challenge = authorization ? "Bearer realm=\"hamel\", error=\"invalid_token\"" : "Bearer realm=\"hamel\"";
    reply_problem(r, 401, "unauthorized", "Unauthorized",
                  authorization ? "this token is not known" : "send a token: Authorization: Bearer TOKEN");
}

static void refuse_scope(request *r) {
    static const char *const names[] = {"", "read", "run", "", "admin"};
    metrics_reject(r->services->metrics, REJECT_TOKEN);
    reply_problem(r, 403, "forbidden", "Forbidden", "the token '%s' lacks the scope %s", r->holder->name,
                  names[r->route->scope]);
}

static void refuse_for_now(request *r, rejection reason, double seconds, const char *what) {
    metrics_reject(r->services->metrics, reason);
    retry_after(r, seconds);
    reply_problem(r, 429, reason == REJECT_RATE ? "too-many-requests" : "quota", "Too many requests",
                  "the token '%s' has used up its %s", r->holder->name, what);
}

void admit(request *r) {
    const char *authorization = request_header(r, "Authorization");
    double seconds = 0;
    if (r->route->scope == 0) return;
    r->holder = access_of(r->services->access, authorization);
    if (!r->holder) {
        refuse_token(r, authorization);
    } else if (!access_may(r->holder, r->route->scope)) {
        refuse_scope(r);
    } else if (!access_take_request(r->holder, &seconds)) {
        refuse_for_now(r, REJECT_RATE, seconds, "requests for this second");
    } else if (r->route->scope == SCOPE_RUN && !access_has_cpu(r->holder, &seconds)) {
        refuse_for_now(r, REJECT_QUOTA, seconds, "processor time for today");
    } else if (r->route->thread == RUN_STREAM) {
        double places = r->services->config->streams + r->services->config->waiting;
        r->holds_stream = access_take_stream(r->services->access, r->holder, places, &seconds);
        if (!r->holds_stream) refuse_for_now(r, REJECT_QUOTA, seconds, "streams; end one first");
    }
}

void admission_end(request *r) {
    if (r->holds_stream) access_leave_stream(r->services->access, r->holder);
    r->holds_stream = false;
}
