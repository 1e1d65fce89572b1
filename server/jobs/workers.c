/* workers.c — see workers.h. One thread for each place, and one lock for what they share.
 *
 * A place is entered in the same critical section in which its job is claimed. So whoever marks a running job as
 * canceled in the store and then calls workers_cancel finds either the running place, or a claim yet to come that will
 * read the mark.
 *
 * Rows go to the store in chunks, twice a second or when a quarter of a mebibyte is full. A run is deterministic: after
 * an interruption it starts again and leaves out as many rows as are stored already. */
#include "server/jobs/workers.h"

#include "api/member.h"
#include "server/jobs/crash_mark.h"
#include "server/stamp.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 256 * 1024, STACK_BYTES = 2 * 1024 * 1024, COLLECTED_MAX = 16 * 1024 * 1024, FINISH_TRIES = 8 };
#define CHUNK_SECONDS 0.5
#define POLL_SECONDS 1.0
#define SOON_SECONDS 0.2
#define BACKOFF_MOST_SECONDS 30.0 /* between tries of what the store does not take: 1 s, 2 s, 4 s, ... */

typedef struct place {
    workers *owner;
    pthread_t thread;
    int64_t number; /* of the job that runs here; 0: none */
    atomic_bool cancel;
    bool canceled; /* by a client, rather than by the end of the daemon */
    bool lost;     /* with the lease on the store */
    _Alignas(16) char signal_stack[CRASH_STACK_BYTES];
} place;

struct workers {
    worker_services services;

    pthread_mutex_t lock;
    pthread_cond_t woken;
    uint64_t calls;
    bool stopping;
    double busy_until;  /* when the last run ended */
    double claim_after; /* no job is taken before: the store has failed */
    int faults;         /* of the store, since it took the end of a run */
    size_t count;
    place *places;
};

/* One job on its way through a place. */
typedef struct job_run {
    place *place;
    budget budget;
    job job;
    char *body;
    size_t length;

    double *values; /* of the chunk under way */
    size_t capacity;
    job_output output;
    job_event *events; /* of the output */
    size_t event_room, event_bytes;
    int64_t stored_events, counted_events;
    int64_t stored;  /* rows in the store at the start of this attempt */
    int64_t counted; /* rows that the run has delivered */
    double progress, last_append;
    api_sweep sweep; /* of a member; tree NULL: none */
    collector *collector;
    store_status fault; /* of the store */
    bool reported;
} job_run;

static const store_kind *kind_of(const workers *w) {
    return w->services.store->kind;
}

static bool was_canceled(const job_run *run) {
    place *p = run->place;
    pthread_mutex_lock(&p->owner->lock);
    bool canceled = p->canceled;
    pthread_mutex_unlock(&p->owner->lock);
    return canceled;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void drop_events(job_run *run) {
    for (size_t k = 0; k < run->output.event_count; k++) free(run->events[k].json);
    run->output.event_count = run->event_bytes = 0;
}

static bool append(job_run *run) {
    workers *w = run->place->owner;
    budget_leave_slot(&run->budget); /* the store may take its time */
    run->fault = kind_of(w)->append(w->services.store, run->job.number, run->job.attempt, &run->output, run->progress);
    budget_take_slot(&run->budget);
    run->output.rows.first += run->output.rows.rows;
    run->output.rows.rows = 0;
    run->output.first_event += (int64_t)run->output.event_count;
    drop_events(run);
    run->last_append = stamp_seconds();
    return run->fault == STORE_OK;
}

static bool on_header(void *context, const row_header *header) {
    job_run *run = context;
    workers *w = run->place->owner;
    budget_leave_slot(&run->budget);
    run->fault = kind_of(w)->begin(w->services.store, run->job.number, run->job.attempt, header->json, &run->stored,
                                   &run->stored_events);
    budget_take_slot(&run->budget);
    if (run->fault != STORE_OK) return false;
    size_t row_bytes = header->column_count * sizeof(double);
    run->capacity = row_bytes > CHUNK_BYTES ? 1 : CHUNK_BYTES / (row_bytes ? row_bytes : 1);
    run->values = malloc(run->capacity * (row_bytes ? row_bytes : 1));
    run->output.first_event = run->stored_events;
    run->output.rows = (row_chunk){.first = run->stored, .columns = header->column_count, .values = run->values};
    run->last_append = stamp_seconds();
    size_t unknown;
    if (run->sweep.tree) {
        run->collector = collector_open(&run->sweep.sweep, header->columns, header->column_count, &unknown);
    }
    return run->values && (!run->sweep.tree || run->collector);
}

static bool on_row(void *context, const double *values, size_t count) {
    job_run *run = context;
    if (run->collector) collector_row(run->collector, values);
    if (run->counted++ < run->stored) return true;
    memcpy(run->values + (size_t)run->output.rows.rows * count, values, count * sizeof *values);
    run->output.rows.rows++;
    if ((size_t)run->output.rows.rows < run->capacity && stamp_seconds() - run->last_append < CHUNK_SECONDS)
        return true;
    return append(run);
}

static bool make_room(job_run *run) {
    if (run->output.event_count < run->event_room) return true;
    size_t room = run->event_room ? 2 * run->event_room : 16;
    job_event *more = realloc(run->events, room * sizeof *more);
    if (!more) return false;
    run->output.events = run->events = more;
    run->event_room = room;
    return true;
}

static bool on_event(void *context, const char *json) {
    job_run *run = context;
    if (run->counted_events++ < run->stored_events) return true;
    char *copy = make_room(run) ? strdup(json) : NULL;
    if (!copy) return false;
    run->events[run->output.event_count++] = (job_event){.row = run->counted, .json = copy};
    run->event_bytes += strlen(copy);
    return run->event_bytes < CHUNK_BYTES || append(run);
}

static bool on_progress(void *context, const char *json, double fraction) {
    job_run *run = context;
    (void)json;
    run->progress = fraction;
    return stamp_seconds() - run->last_append < CHUNK_SECONDS || append(run);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void log_end(const job_run *run, const char *what) {
    log_write(run->place->owner->services.log, LOG_INFO, "job",
              LOG_FIELDS(log_text("job", run->job.id), log_text("end", what),
                         log_number("attempt", (double)run->job.attempt),
                         log_number("rows", (double)(run->output.rows.first + run->output.rows.rows))));
}

static double backoff_seconds(int tries) {
    return fmin(ldexp(POLL_SECONDS, tries < 10 ? tries : 10), BACKOFF_MOST_SECONDS);
}

/* False when the daemon ends. */
static bool wait_to_try_again(workers *w, int tries) {
    struct timespec until = stamp_deadline(backoff_seconds(tries));
    pthread_mutex_lock(&w->lock);
    while (!w->stopping && pthread_cond_timedwait(&w->woken, &w->lock, &until) == 0) {
    }
    bool going = !w->stopping;
    pthread_mutex_unlock(&w->lock);
    return going;
}

/* The store has failed, or (`failed` false) taken the end of a run. */
static void note_store(workers *w, bool failed) {
    pthread_mutex_lock(&w->lock);
    if (failed) w->claim_after = stamp_seconds() + backoff_seconds(w->faults);
    w->faults = failed ? w->faults + 1 : 0;
    pthread_mutex_unlock(&w->lock);
}

static bool was_refused(store_status status) {
    return status == STORE_FAILED || status == STORE_NO_SPACE;
}

/* What a full disk does not take it may take later; another failure may be of what is to be stored. */
static store_status store_end(job_run *run, const job_end *end) {
    workers *w = run->place->owner;
    store_status status;
    int tries = 0;
    budget_leave_slot(&run->budget);
    do status = kind_of(w)->finish(w->services.store, run->job.number, run->job.attempt, &run->output, end);
    while (was_refused(status) && (status == STORE_NO_SPACE || tries < FINISH_TRIES) && wait_to_try_again(w, tries++));
    return status;
}

/* Back to the queue: the store could not take what the run gave. If it cannot take this either until the daemon ends,
 * the job stays `running` there, and the next start of the daemon takes it up again. */
static void postpone(job_run *run) {
    workers *w = run->place->owner;
    bool full = run->fault == STORE_NO_SPACE;
    store_status status;
    int tries = 0;
    run->reported = true;
    note_store(w, true);
    budget_leave_slot(&run->budget); /* it may wait for long */
    do
        status = full ? kind_of(w)->hand_back(w->services.store, run->job.number, run->job.attempt, NULL)
                      : kind_of(w)->postpone(w->services.store, run->job.number, run->job.attempt);
    while (was_refused(status) && wait_to_try_again(w, tries++));
    if (status == STORE_ABSENT) metrics_fenced(w->services.metrics);
    log_end(run, status == STORE_OK ? "postponed" : status == STORE_ABSENT ? "refused" : "not stored");
}

/* The rows so far are kept; the summary would be of more. */
static job_end end_without_room(const job_run *run, const job_end *end) {
    static const char problem[] = "{\"type\":\"/problems/quota\",\"title\":\"Quota used up\",\"status\":429,"
                                  "\"detail\":\"the quota of stored bytes is used up; the rows up to there are kept\"}";
    bool ran = end->status == JOB_COMPLETED || end->status == JOB_INCOMPLETE;
    bool keeps = !ran && (!end->problem || strlen(end->problem) <= JOB_BASE_BYTES);
    return (job_end){.status = ran ? JOB_INCOMPLETE : end->status,
                     .progress = run->progress,
                     .problem = keeps ? end->problem : problem};
}

static void drop_output(job_run *run) {
    run->output.rows.rows = 0;
    drop_events(run);
}

static void finish(job_run *run, const job_end *end) {
    workers *w = run->place->owner;
    run->reported = true;
    text_buffer collected;
    text_buffer_init(&collected, COLLECTED_MAX);
    job_end whole = *end;
    if (run->collector && collector_text(run->collector, &collected)) whole.collected = collected.bytes;
    store_status status = run->fault == STORE_FULL ? STORE_FULL : store_end(run, &whole);
    if (status == STORE_FULL) {
        drop_output(run);
        whole = end_without_room(run, end);
        status = store_end(run, &whole);
    }
    text_buffer_free(&collected);
    if (was_refused(status)) {
        run->fault = status;
        postpone(run);
        return;
    }
    note_store(w, false);
    if (status == STORE_ABSENT) metrics_fenced(w->services.metrics);
    log_end(run, status == STORE_ABSENT ? "refused" : job_status_name(whole.status));
}

static void hand_back(job_run *run) {
    workers *w = run->place->owner;
    run->reported = true;
    budget_leave_slot(&run->budget);
    store_status status = kind_of(w)->hand_back(w->services.store, run->job.number, run->job.attempt, &run->output);
    if (status == STORE_ABSENT) metrics_fenced(w->services.metrics);
    if (!was_refused(status)) log_end(run, status == STORE_OK ? "handed back" : "refused");
}

/* `problem` NULL: there was not even memory for it. */
static void finish_failed(job_run *run, const char *problem, const char *summary) {
    finish(run, &(job_end){.status = JOB_FAILED,
                           .progress = run->progress,
                           .summary = summary,
                           .problem = problem ? problem : api_problem_no_memory});
}

/* A run that did not reach its end: canceled, interrupted, forgotten, or failed. */
static void end_early(job_run *run, const char *problem, const char *summary) {
    workers *w = run->place->owner;
    if (run->fault == STORE_ABSENT) {
        run->reported = true;
        metrics_fenced(w->services.metrics);
        log_end(run, "refused"); /* it has been forgotten, or is another daemon's */
    } else if (was_refused(run->fault)) {
        postpone(run);
    } else if (run->fault == STORE_FULL) {
        finish(run, &(job_end){.status = JOB_INCOMPLETE});
    } else if (was_canceled(run)) {
        finish(run, &(job_end){.status = JOB_CANCELED, .progress = run->progress, .summary = summary});
    } else {
        pthread_mutex_lock(&w->lock);
        bool interrupted = w->stopping || run->place->lost;
        pthread_mutex_unlock(&w->lock);
        if (interrupted && atomic_load(&run->place->cancel)) {
            hand_back(run);
        } else {
            finish_failed(run, problem, summary);
        }
    }
}

/* Between reports of progress a run may have come far, and a short one makes none. */
static double fraction_reached(const hamel_summary *summary) {
    double fraction = (summary->t - summary->start) / (summary->stop - summary->start);
    return fraction > 0 ? fmin(fraction, 1) : 0;
}

static bool on_summary(void *context, const char *json, const hamel_summary *summary) {
    job_run *run = context;
    bool whole = summary->outcome == HAMEL_COMPLETED || summary->outcome == HAMEL_TERMINATED;
    metrics_run(run->place->owner->services.metrics, RUN_KIND_JOB, whole ? RUN_COMPLETED : RUN_INCOMPLETE,
                summary->steps, summary->rows, summary->wall_seconds);
    finish(run, &(job_end){.status = whole ? JOB_COMPLETED : JOB_INCOMPLETE,
                           .progress = whole ? 1 : fraction_reached(summary),
                           .summary = json});
    return true;
}

static bool on_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    const job_run *run = context;
    (void)failure;
    bool canceled = atomic_load(&run->place->cancel);
    metrics_run(run->place->owner->services.metrics, RUN_KIND_JOB, canceled ? RUN_CANCELED : RUN_FAILED, 0, 0, 0);
    end_early(context, json, summary_json);
    return true;
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* A member of a sweep: the batch's description becomes its own. */
static bool take_member(job_run *run, api_failure *failure) {
    if (!run->job.assignments) return true;
    size_t length = 0;
    if (!api_sweep_open(&run->sweep, run->body, run->length, NULL, 0, &run->place->owner->services.limits, SIZE_MAX,
                        "request", failure))
        return false;
    char *text = api_sweep_member(&run->sweep, run->job.assignments, &length, failure);
    if (!text) return false;
    free(run->body);
    run->body = text;
    run->length = length;
    return true;
}

/* False with *failure, also when the budget is used up. */
static bool take_model(job_run *run, model_lease *lease, api_failure *failure) {
    bool derived = hamel_ask(&run->budget.poll) == HAMEL_OK && take_member(run, failure) &&
                   model_cache_take(run->place->owner->services.models, run->body, run->length, &run->budget, "job",
                                    lease, failure);
    if (!derived && budget_spent(&run->budget)) {
        int retry_after;
        cJSON_Delete(failure->problem);
        failure->problem = budget_problem(&run->budget, NULL, &failure->http, &retry_after);
    }
    return derived;
}

static void run_job(job_run *run) {
    workers *w = run->place->owner;
    api_failure failure = {0};
    if (run->job.cancel_requested) {
        finish(run, &(job_end){.status = JOB_CANCELED, .progress = run->job.progress, .summary = run->job.summary});
        return;
    }
    model_lease lease = {0};
    if (take_model(run, &lease, &failure)) {
        api_observer observer = {.context = run,
                                 .model_known = lease.known,
                                 .header = on_header,
                                 .row = on_row,
                                 .event = on_event,
                                 .progress = on_progress,
                                 .summary = on_summary,
                                 .problem = on_problem};
        hamel_status status = api_run(lease.model, &run->budget.poll, &observer, "job");
        (void)status; /* the observer has been told */
        model_cache_release(w->services.models, &lease);
    } else {
        char *problem = failure.problem ? cJSON_PrintUnformatted(failure.problem) : NULL;
        end_early(run, problem, NULL);
        cJSON_free(problem);
        api_failure_clear(&failure);
    }
    if (!run->reported) finish_failed(run, NULL, NULL);
}

static bool take_job(place *p, job_run *run) {
    workers *w = p->owner;
    pthread_mutex_lock(&w->lock);
    bool taken = !w->stopping && stamp_seconds() >= w->claim_after &&
                 kind_of(w)->claim(w->services.store, &run->job, &run->body, &run->length) == STORE_OK;
    if (taken) {
        p->number = run->job.number;
        p->canceled = p->lost = false;
        atomic_store(&p->cancel, false);
    }
    pthread_mutex_unlock(&w->lock);
    return taken;
}

static void leave(place *p, job_run *run) {
    pthread_mutex_lock(&p->owner->lock);
    p->number = 0;
    p->owner->busy_until = stamp_seconds();
    pthread_mutex_unlock(&p->owner->lock);
    collector_close(run->collector);
    if (run->sweep.tree) api_sweep_close(&run->sweep);
    job_clear(&run->job);
    free(run->body);
    free(run->values);
    drop_events(run);
    free(run->events);
}

static void *serve(void *context) {
    place *p = context;
    workers *w = p->owner;
    pthread_setname_np(pthread_self(), "hamel-job");
    crash_stack_use(p->signal_stack);
    pthread_mutex_lock(&w->lock);
    while (!w->stopping) {
        uint64_t calls = w->calls;
        pthread_mutex_unlock(&w->lock);
        job_run run = {.place = p};
        bool taken = take_job(p, &run);
        if (taken) {
            crash_mark_thread(run.job.number, run.job.attempt);
            budget_open(&run.budget, w->services.slots, access_named(w->services.access, run.job.owner), &p->cancel,
                        &w->services.budget, stamp_seconds());
            run.budget.is_job = true;
            budget_begin(&run.budget);
            budget_take_slot(&run.budget);
            run_job(&run);
            budget_close(&run.budget);
            crash_mark_thread(0, 0);
            leave(p, &run);
            hamel_release_thread();
        }
        pthread_mutex_lock(&w->lock);
        struct timespec until = stamp_deadline(POLL_SECONDS);
        if (!taken && calls == w->calls && !w->stopping) pthread_cond_timedwait(&w->woken, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool start_thread(place *p) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    bool started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                   pthread_create(&p->thread, &attributes, serve, p) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* With the lock. */
static void cancel_place_of(workers *w, int64_t number) {
    for (size_t i = 0; i < w->count; i++) {
        if (w->places[i].number != number) continue;
        w->places[i].canceled = true;
        atomic_store(&w->places[i].cancel, true);
    }
}

/* ---- what a store that others share tells ----------------------------------------------------------------------- */

/* A claim holds the lock while it waits for the store's writer. The store's own thread keeps its lease: it must not wait
 * for that, and asks again. */
static bool lock_soon(workers *w) {
    struct timespec until = stamp_deadline(SOON_SECONDS);
    return pthread_mutex_clocklock(&w->lock, CLOCK_MONOTONIC, &until) == 0;
}

static void on_queued(void *context) {
    workers *w = context;
    if (!lock_soon(w)) return; /* whoever claims looks again before long */
    w->calls++;
    pthread_cond_broadcast(&w->woken);
    pthread_mutex_unlock(&w->lock);
}

static void on_canceled(void *context, int64_t number) {
    workers *w = context;
    if (!lock_soon(w)) return;
    cancel_place_of(w, number);
    pthread_mutex_unlock(&w->lock);
}

/* What runs is handed back, should the store still take it for ours. */
static void on_lost(void *context) {
    workers *w = context;
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->count; i++) {
        if (w->places[i].number == 0) continue;
        w->places[i].lost = true;
        atomic_store(&w->places[i].cancel, true);
    }
    pthread_mutex_unlock(&w->lock);
}

static bool is_running(void *context, int64_t number) {
    workers *w = context;
    bool found = false;
    if (!lock_soon(w)) return true;
    for (size_t i = 0; i < w->count; i++) found = found || w->places[i].number == number;
    pthread_mutex_unlock(&w->lock);
    return found;
}

static void listen_to_store(workers *w) {
    const store_listener listener = {
        .context = w, .queued = on_queued, .canceled = on_canceled, .lost = on_lost, .runs = is_running};
    if (kind_of(w)->attend) kind_of(w)->attend(w->services.store, &listener);
}

/* ---- begin and end ---------------------------------------------------------------------------------------------- */

workers *workers_start(const worker_services *services, size_t count) {
    workers *w = calloc(1, sizeof *w);
    place *places = calloc(count, sizeof *places);
    if (!w || !places) {
        free(w);
        free(places);
        return NULL;
    }
    *w = (workers){.services = *services, .places = places, .busy_until = stamp_seconds()};
    pthread_mutex_init(&w->lock, NULL);
    stamp_condition_init(&w->woken);
    size_t started = 0;
    for (; started < count; started++) {
        places[started].owner = w;
        atomic_init(&places[started].cancel, false);
        if (!start_thread(&places[started])) break;
    }
    pthread_mutex_lock(&w->lock);
    w->count = started;
    pthread_mutex_unlock(&w->lock);
    if (started > 0) {
        listen_to_store(w);
        return w;
    }
    workers_stop(w);
    return NULL;
}

void workers_wake(workers *w) {
    pthread_mutex_lock(&w->lock);
    w->calls++;
    pthread_cond_signal(&w->woken);
    pthread_mutex_unlock(&w->lock);
}

void workers_cancel(workers *w, int64_t number) {
    pthread_mutex_lock(&w->lock);
    cancel_place_of(w, number);
    pthread_mutex_unlock(&w->lock);
}

double workers_idle_seconds(workers *w) {
    pthread_mutex_lock(&w->lock);
    bool busy = false;
    for (size_t i = 0; i < w->count; i++) busy = busy || w->places[i].number != 0;
    double idle = busy ? 0 : stamp_seconds() - w->busy_until;
    pthread_mutex_unlock(&w->lock);
    return idle;
}

void workers_hand_back(workers *w) {
    if (kind_of(w)->attend) kind_of(w)->attend(w->services.store, NULL);
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    for (size_t i = 0; i < w->count; i++) atomic_store(&w->places[i].cancel, true);
    pthread_cond_broadcast(&w->woken);
    pthread_mutex_unlock(&w->lock);
}

void workers_stop(workers *w) {
    if (!w) return;
    workers_hand_back(w);
    for (size_t i = 0; i < w->count; i++) pthread_join(w->places[i].thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->woken);
    free(w->places);
    free(w);
}
