/* routes_events.c — GET /v1/jobs/{id}/events: changes of a job as server-sent events (HTML standard, 9.2).
 *
 * The id of an event is the revision of the job, so a client that comes back with Last-Event-ID gets what has happened
 * since: nothing when nothing has, else the job as it is now. Changes that follow closely on each other are told as one.
 * A client that has seen the end is answered 204, which tells a browser to stop coming back. */
#include "api/accept.h"
#include "server/http/job_json.h"
#include "server/http/routes.h"
#include "server/stamp.h"

#include <stdio.h>
#include <string.h>

#define HEARTBEAT_SECONDS 5.0
#define POLL_SECONDS 1.0
#define PAUSE_SECONDS 0.05 /* between two looks, however fast the store changes */

static const char media_type[] = "text/event-stream";

typedef struct watch {
    const http_services *services;
    stream *stream;
    job job;
    int64_t told;      /* revision of the last event; 0: none */
    job_status status; /* in it */
    bool begun;
} watch;

static const store_kind *kind_of(const watch *w) {
    return w->services->store->kind;
}

static bool write_event(watch *w, const char *name, int64_t id, cJSON *data) {
    char head[96];
    char *text = data ? cJSON_PrintUnformatted(data) : NULL;
    int length = snprintf(head, sizeof head, "event: %s\nid: %lld\ndata: ", name, (long long)id);
    bool sent = text && stream_write(w->stream, head, (size_t)length) && stream_write(w->stream, text, strlen(text)) &&
                stream_write(w->stream, "\n\n", 2);
    cJSON_free(text);
    cJSON_Delete(data);
    return sent;
}

static cJSON *progress_json(const job *j) {
    cJSON *object = cJSON_CreateObject();
    bool good = object && cJSON_AddStringToObject(object, "status", job_status_name(j->status)) &&
                cJSON_AddNumberToObject(object, "progress", j->progress);
    if (good) return object;
    cJSON_Delete(object);
    return NULL;
}

static bool tell(watch *w) {
    const job *j = &w->job;
    bool status_changed = !w->begun || j->status != w->status;
    if (j->revision != w->told) {
        if (!write_event(w, status_changed ? "status" : "progress", j->revision,
                         status_changed ? job_json(j) : progress_json(j))) {
            return false;
        }
        w->begun = true;
        w->status = j->status;
        w->told = j->revision;
    } else if (stream_quiet_seconds(w->stream) > HEARTBEAT_SECONDS && !stream_write(w->stream, ":\n\n", 3)) {
        return false;
    }
    return stream_flush(w->stream);
}

/* Whether the job is still there. */
static bool look_again(watch *w) {
    job newer;
    if (kind_of(w)->find(w->services->store, w->job.id, NULL, &newer) != STORE_OK) return false;
    job_clear(&w->job);
    w->job = newer;
    return true;
}

static bool tell_until_the_end(watch *w) {
    const struct timespec pause = {.tv_nsec = (long)(PAUSE_SECONDS * 1e9)};
    uint64_t seen = 0;
    for (;;) {
        if (!tell(w)) return false;
        if (job_ended(w->job.status)) return true;
        if (atomic_load(stream_cancel_flag(w->stream))) return false;
        kind_of(w)->wait(w->services->store, &seen, POLL_SECONDS);
        nanosleep(&pause, NULL);
        if (look_again(w)) continue;
        return write_event(w, "deleted", w->told + 1, cJSON_CreateObject());
    }
}

static handled reply_find_failed(request *r, store_status status) {
    if (status != STORE_ABSENT) return reply_storage_failed(r);
    return reply_problem(r, 404, "no-such-job", "No such job", "there is no job '%s'", r->parameter);
}

handled jobs_get_events(request *r) {
    static const char *const offers[] = {media_type};
    watch w = {.services = r->services, .stream = r->stream, .told = request_last_event(r)};
    if (accept_choose(request_header(r, "Accept"), offers, 1, 0) == 1) {
        return reply_problem(r, 406, "not-acceptable", "Not acceptable", "events come as %s", media_type);
    }
    store_status status = kind_of(&w)->find(r->services->store, r->parameter, request_owner_filter(r), &w.job);
    if (status != STORE_OK) return reply_find_failed(r, status);
    handled replied = REPLY_STREAMED;
    if (job_ended(w.job.status) && w.job.revision == w.told) {
        replied = reply_static(r, 204, NULL, NULL, 0);
    } else if (request_stream(r, media_type)) {
        stream_end(w.stream, tell_until_the_end(&w));
    } else {
        replied = reply_no_memory(r);
    }
    job_clear(&w.job);
    return replied;
}
