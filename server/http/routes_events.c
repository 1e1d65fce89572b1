/* routes_events.c — GET /v1/jobs/{id}/events: changes of a job as server-sent events (HTML standard, 9.2).
 *
 * The id of an event is the revision of the job. A client that reconnects with Last-Event-ID gets the current state of
 * the job if it has changed since then. Changes in quick succession are merged into one event. A client that has
 * received the final state gets 204, so that a browser does not reconnect. */
#include "api/json/builder.h"
#include "api/json/text.h"
#include "server/clock.h"
#include "server/http/accept.h"
#include "server/http/job_json.h"
#include "server/http/routes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_SECONDS 5.0
#define LOOK_SECONDS 1.0 /* interval between checks for a due heartbeat, which is delayed by at most 20 % */
/* Shortest interval between two reads of the store. A client therefore gets at most 20 events a second. */
#define PAUSE_SECONDS 0.05

static const char media_type[] = "text/event-stream";

typedef struct watch {
    request *r; /* NULL once the reply is a stream */
    const daemon_services *services;
    stream *stream;
    job job;
    int64_t told;      /* revision in the last event that the client received; 0: no event */
    job_status status; /* status in the last event */
    bool begun;
} watch;

static bool write_job_event(watch *w, const char *name, int64_t id, cJSON *data) {
    char head[96];
    char *text = json_text(data);
    int length = snprintf(head, sizeof head, "event: %s\nid: %lld\ndata: ", name, (long long)id);
    bool sent = text && stream_write(w->stream, head, (size_t)length) && stream_write(w->stream, text, strlen(text)) &&
                stream_write(w->stream, "\n\n", 2);
    free(text);
    cJSON_Delete(data);
    return sent;
}

static cJSON *progress_json(const job *j) {
    json_builder b = {0};
    cJSON *object = json_kept(&b, cJSON_CreateObject());
    json_add_text(&b, object, "status", job_status_name(j->status));
    json_add_number(&b, object, "progress", j->progress);
    return json_finished(&b, object);
}

static bool send_change(watch *w) {
    const job *j = &w->job;
    bool status_changed = !w->begun || j->status != w->status;
    if (j->revision != w->told) {
        if (!write_job_event(w, status_changed ? "status" : "progress", j->revision,
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

static void close_watch(watch *w) {
    job_clear(&w->job);
    stream_release(w->stream);
    free(w);
}

/* Writes an event if the job has changed, or a heartbeat if one is due. At the end of the stream, returns false and
 * sets *whole to true if the stream is complete. */
static bool go_on(watch *w, bool *whole) {
    *whole = false;
    if (!job_reread(w->services->store, &w->job)) {
        *whole = write_job_event(w, "deleted", w->told + 1, cJSON_CreateObject());
        return false;
    }
    if (!send_change(w)) return false;
    *whole = job_ended(w->job.status);
    return !*whole && !atomic_load(stream_cancel_flag(w->stream));
}

static follow_wait events_step(void *context) {
    watch *w = context;
    double now = clock_seconds();
    bool whole;
    if (w->r && !request_stream(w->r, media_type)) {
        reply_no_memory(w->r);
        request_reply(w->r);
        close_watch(w);
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
    close_watch(w);
    return (follow_wait){.ended = true};
}

handled jobs_get_events(request *r) {
    static const char *const offers[] = {media_type};
    if (accept_choose(request_header(r, "Accept"), offers, 1, 0) == 1)
        return reply_problem(r, 406, "not-acceptable", "Not acceptable", "available format: %s", media_type);
    watch *w = calloc(1, sizeof *w);
    if (!w) return reply_no_memory(r);
    *w = (watch){.r = r, .services = r->services, .stream = stream_hold(r->stream), .told = request_last_event(r)};
    handled replied = REPLY_STREAMED;
    if (!request_job(r, &w->job)) {
        replied = REPLY_READY;
    } else if (job_ended(w->job.status) && w->job.revision == w->told) {
        replied = reply_static(r, 204, NULL, NULL, 0);
    } else if (!request_follow(r, events_step, w)) {
        replied = reply_no_memory(r);
    }
    if (replied == REPLY_READY) close_watch(w);
    return replied;
}
