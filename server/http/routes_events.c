/* routes_events.c — GET /v1/jobs/{id}/events: changes of a job as server-sent events (HTML standard, 9.2).
 *
 * The id of an event is the revision of the job, so a client that comes back with Last-Event-ID gets what has happened
 * since: nothing when nothing has, else the job as it is now. Changes that follow closely on each other are told as one.
 * A client that has seen the end is answered 204, which tells a browser to stop coming back. */
#include "api/accept.h"
#include "server/http/job_json.h"
#include "server/http/routes.h"
#include "server/stamp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_SECONDS 5.0
#define LOOK_SECONDS 1.0   /* whether a heartbeat is due */
#define PAUSE_SECONDS 0.05 /* between two looks, however fast the store changes */

static const char media_type[] = "text/event-stream";

typedef struct watch {
    request *r; /* NULL once the answer is a stream */
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
    int64_t revision;
    if (kind_of(w)->revision(w->services->store, w->job.number, &revision) != STORE_OK) return false;
    if (revision == w->job.revision) return true;
    if (kind_of(w)->find(w->services->store, w->job.id, NULL, &newer) != STORE_OK) return false;
    job_clear(&w->job);
    w->job = newer;
    return true;
}

static void forget(watch *w) {
    job_clear(&w->job);
    stream_release(w->stream);
    free(w);
}

/* Writes what is new. False when that was the last of it; *whole: its end was not cut off. */
static bool go_on(watch *w, bool *whole) {
    *whole = false;
    if (!look_again(w)) {
        *whole = write_event(w, "deleted", w->told + 1, cJSON_CreateObject());
        return false;
    }
    if (!tell(w)) return false;
    *whole = job_ended(w->job.status);
    return !*whole && !atomic_load(stream_cancel_flag(w->stream));
}

static follow_wait step(void *context) {
    watch *w = context;
    double now = stamp_seconds();
    bool whole;
    if (w->r && !request_stream(w->r, media_type)) {
        reply_no_memory(w->r);
        request_reply(w->r);
        forget(w);
        return (follow_wait){.ended = true};
    }
    w->r = NULL;
    bool canceled = atomic_load(stream_cancel_flag(w->stream));
    if (!canceled && !stream_has_room(w->stream)) return (follow_wait){.reader = true, .until = INFINITY};
    if (go_on(w, &whole)) {
        return (follow_wait){.number = w->job.number,
                             .revision = w->job.revision,
                             .from = now + PAUSE_SECONDS,
                             .until = now + LOOK_SECONDS};
    }
    stream_end(w->stream, whole);
    forget(w);
    return (follow_wait){.ended = true};
}

static handled reply_find_failed(request *r, store_status status) {
    if (status != STORE_ABSENT) return reply_storage_failed(r);
    return reply_problem(r, 404, "no-such-job", "No such job", "there is no job '%s'", r->parameter);
}

handled jobs_get_events(request *r) {
    static const char *const offers[] = {media_type};
    if (accept_choose(request_header(r, "Accept"), offers, 1, 0) == 1) {
        return reply_problem(r, 406, "not-acceptable", "Not acceptable", "events come as %s", media_type);
    }
    watch *w = calloc(1, sizeof *w);
    if (!w) return reply_no_memory(r);
    *w = (watch){.r = r, .services = r->services, .stream = stream_hold(r->stream), .told = request_last_event(r)};
    store_status status = kind_of(w)->find(r->services->store, r->parameter, request_owner_filter(r), &w->job);
    handled replied = REPLY_STREAMED;
    if (status != STORE_OK) {
        replied = reply_find_failed(r, status);
    } else if (job_ended(w->job.status) && w->job.revision == w->told) {
        replied = reply_static(r, 204, NULL, NULL, 0);
    } else if (!request_follow(r, step, w)) {
        replied = reply_no_memory(r);
    }
    if (replied == REPLY_READY) forget(w);
    return replied;
}
