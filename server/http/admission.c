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

/* What a request had before, it has no longer when it is given another place. */
static access_taken take_place(request *r, access_place kind) {
    const server_config *config = r->services->config;
    double most = kind == PLACE_STREAM ? config->streams + config->waiting : config->followers;
    access_taken taken = access_take_place(r->services->access, r->holder, kind, 1, most);
    if (taken != PLACE_TAKEN) return taken;
    r->holds_place = true;
    r->place = kind;
    return taken;
}

static void refuse_follower(request *r) {
    metrics_reject(r->services->metrics, REJECT_BUSY);
    r->reply.retry_after = 2;
    reply_problem(r, 503, "busy", "Busy",
                  "as many answers wait for jobs and readers as may wait (--followers); retry shortly");
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
        if (take_place(r, PLACE_STREAM) != PLACE_TAKEN)
            refuse_for_now(r, REJECT_QUOTA, 1, "run slots; end one of its requests first");
    } else if (r->route->thread == RUN_FOLLOW) {
        access_taken taken = take_place(r, PLACE_FOLLOWER);
        if (taken == PLACE_OWN_USED) refuse_for_now(r, REJECT_QUOTA, 1, "followers; end one of them first");
        if (taken == PLACE_ALL_USED) refuse_follower(r);
    }
}

bool admission_change(request *r, access_place kind) {
    bool held = r->holds_place;
    access_place before = r->place;
    if (take_place(r, kind) != PLACE_TAKEN) return false;
    if (held) access_leave_place(r->services->access, r->holder, before, 1);
    return true;
}

void admission_end(request *r) {
    if (r->holds_place) access_leave_place(r->services->access, r->holder, r->place, 1);
    r->holds_place = false;
}
