/* workers.c — runs jobs; see workers.h. Each worker has a thread; one lock guards the state that the threads share. The
 * lock is never held during a call of the store, so no function waits long for the lock.
 *
 * A claim runs without the lock. A client may therefore cancel a job after its claim has been committed and before its
 * worker is registered as running it. Cancellations are counted: if the count has changed during a claim, the worker
 * reads the job again once it is registered. After the registration workers_cancel finds the worker.
 *
 * Rows are stored in chunks, twice a second or when a chunk has 256 KiB. A run is deterministic: after an interruption
 * it starts from the beginning and skips as many rows as are already stored. */
#include "server/jobs/workers.h"

#include "api/json/text.h"
#include "api/sweep/sweep_member.h"
#include "server/clock.h"
#include "server/jobs/crash_mark.h"
#include "server/pool.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 256 * 1024, COLLECTED_MAX = 16 * 1024 * 1024, FINISH_TRIES = 8 };
#define CHUNK_SECONDS 0.5
#define POLL_SECONDS 1.0
#define BACKOFF_MOST_SECONDS 30.0 /* bound on the delays between retries, 1 s, 2 s, 4 s, ...; chosen */

typedef struct worker {
    workers *workers;
    pthread_t thread;
    int64_t number; /* number of the running job; 0 if idle */
    bool claiming;  /* true during a claim, when a job may already be assigned to this daemon */
    atomic_bool cancel;
    bool canceled; /* canceled by a client, not by shutdown */
    bool lost;     /* the lease on the store has been lost */
    _Alignas(16) char signal_stack[CRASH_STACK_BYTES];
} worker;

struct workers {
    daemon_services services;

    pthread_mutex_t lock;
    pthread_cond_t woken;
    uint64_t calls;         /* number of calls of workers_wake and on_queued */
    uint64_t cancellations; /* number of calls of cancel_run_of */
    bool stopping;
    double busy_until;  /* time of the end of the last run */
    double claim_after; /* no claim before this time, after a failure of the store */
    int faults;         /* failures of the store since it last stored the end of a run */
    size_t count;
    worker *members;
};

/* One attempt of a job, on the thread of its worker. */
typedef struct job_run {
    worker *worker;
    budget budget;
    job job;
    char *body;
    size_t length;

    double *values; /* values of the current chunk */
    size_t capacity;
    job_output output;
    job_event *events; /* events of the output */
    size_t event_room, event_bytes;
    int64_t stored_events, counted_events;
    int64_t stored;  /* rows in the store at the start of this attempt */
    int64_t counted; /* rows that the run has computed, including stored ones */
    double progress, last_append;
    api_sweep sweep; /* tree is NULL if the job is not a member of a sweep */
    sweep_reducer *reducer;
    store_status fault; /* last status of the store */
    bool reported;
} job_run;

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void drop_events(job_run *run) {
    for (size_t k = 0; k < run->output.event_count; k++) free(run->events[k].json);
    run->output.event_count = run->event_bytes = 0;
}

static bool append_output(job_run *run) {
    workers *w = run->worker->workers;
    budget_release_slot(&run->budget); /* the store may be slow */
    run->fault = STORE_CALL(w->services.store, append, run->job.number, run->job.attempt, &run->output, run->progress);
    budget_take_slot(&run->budget);
    run->output.rows.first += run->output.rows.rows;
    run->output.rows.rows = 0;
    run->output.first_event += (int64_t)run->output.event_count;
    drop_events(run);
    run->last_append = clock_seconds();
    return run->fault == STORE_OK;
}

static bool on_job_header(void *context, const row_header *header) {
    job_run *run = context;
    workers *w = run->worker->workers;
    budget_release_slot(&run->budget);
    run->fault = STORE_CALL(w->services.store, begin, run->job.number, run->job.attempt, header->json, &run->stored,
                            &run->stored_events);
    budget_take_slot(&run->budget);
    if (run->fault != STORE_OK) return false;
    size_t row_bytes = header->column_count * sizeof(double);
    run->capacity = row_bytes > CHUNK_BYTES ? 1 : CHUNK_BYTES / (row_bytes ? row_bytes : 1);
    run->values = malloc(run->capacity * (row_bytes ? row_bytes : 1));
    run->output.first_event = run->stored_events;
    run->output.rows = (row_chunk){.first = run->stored, .columns = header->column_count, .values = run->values};
    run->last_append = clock_seconds();
    size_t unknown;
    if (run->sweep.tree)
        run->reducer = sweep_reduce_open(&run->sweep.sweep, header->columns, header->column_count, &unknown);
    return run->values && (!run->sweep.tree || run->reducer);
}

static bool on_job_row(void *context, const double *values, size_t count) {
    job_run *run = context;
    if (run->reducer) sweep_reduce_row(run->reducer, values);
    if (run->counted++ < run->stored) return true;
    memcpy(run->values + (size_t)run->output.rows.rows * count, values, count * sizeof *values);
    run->output.rows.rows++;
    if ((size_t)run->output.rows.rows < run->capacity && clock_seconds() - run->last_append < CHUNK_SECONDS)
        return true;
    return append_output(run);
}

static bool reserve_event(job_run *run) {
    if (run->output.event_count < run->event_room) return true;
    size_t room = run->event_room ? 2 * run->event_room : 16;
    job_event *more = realloc(run->events, room * sizeof *more);
    if (!more) return false;
    run->output.events = run->events = more;
    run->event_room = room;
    return true;
}

static bool on_job_event(void *context, const char *json) {
    job_run *run = context;
    if (run->counted_events++ < run->stored_events) return true;
    char *copy = reserve_event(run) ? strdup(json) : NULL;
    if (!copy) return false;
    run->events[run->output.event_count++] = (job_event){.row = run->counted, .json = copy};
    run->event_bytes += strlen(copy);
    return run->event_bytes < CHUNK_BYTES || append_output(run);
}

static bool on_job_progress(void *context, const char *json, double fraction) {
    job_run *run = context;
    (void)json;
    run->progress = fraction;
    return clock_seconds() - run->last_append < CHUNK_SECONDS || append_output(run);
}

/* ---- end -------------------------------------------------------------------------------------------------------- */

/* Logs the end of a run. The status is STORE_ABSENT if the job was deleted or assigned to another daemon. */
static void log_end(const job_run *run, store_status status, const char *what) {
    if (status == STORE_ABSENT) {
        metrics_count(&run->worker->workers->services.metrics->fenced, 1);
        what = "refused";
    }
    log_write(run->worker->workers->services.log, LOG_INFO, "job",
              LOG_FIELDS(log_text("job", run->job.id), log_text("end", what),
                         log_number("attempt", (double)run->job.attempt),
                         log_number("rows", (double)(run->output.rows.first + run->output.rows.rows))));
}

static double backoff_seconds(int tries) {
    return fmin(ldexp(POLL_SECONDS, tries < 10 ? tries : 10), BACKOFF_MOST_SECONDS);
}

/* Waits before a retry. Returns false during shutdown. */
static bool wait_to_try_again(workers *w, int tries) {
    struct timespec until = clock_deadline(backoff_seconds(tries));
    pthread_mutex_lock(&w->lock);
    while (!w->stopping && pthread_cond_timedwait(&w->woken, &w->lock, &until) == 0) {
    }
    bool going = !w->stopping;
    pthread_mutex_unlock(&w->lock);
    return going;
}

/* Records that the store has failed (`failed`) or has stored the end of a run. */
static void note_store(workers *w, bool failed) {
    pthread_mutex_lock(&w->lock);
    if (failed) w->claim_after = clock_seconds() + backoff_seconds(w->faults);
    w->faults = failed ? w->faults + 1 : 0;
    pthread_mutex_unlock(&w->lock);
}

static bool was_refused(store_status status) {
    return status == STORE_FAILED || status == STORE_NO_SPACE;
}

/* While the disk is full, retries until shutdown. After any other failure, which the data may cause, retries at most
 * FINISH_TRIES times. */
static store_status store_end(job_run *run, const job_end *end) {
    workers *w = run->worker->workers;
    store_status status;
    int tries = 0;
    budget_release_slot(&run->budget);
    do status = STORE_CALL(w->services.store, finish, run->job.number, run->job.attempt, &run->output, end);
    while (was_refused(status) && (status == STORE_NO_SPACE || tries < FINISH_TRIES) && wait_to_try_again(w, tries++));
    return status;
}

/* Requeues a job whose output could not be stored. Retries until shutdown. If the store still fails at shutdown, the
 * job stays `running`, and the next start of the daemon requeues it. */
static void postpone_job(job_run *run) {
    workers *w = run->worker->workers;
    bool full = run->fault == STORE_NO_SPACE;
    store_status status;
    int tries = 0;
    run->reported = true;
    note_store(w, true);
    budget_release_slot(&run->budget); /* the retries may take a long time */
    do
        status = full ? STORE_CALL(w->services.store, requeue, run->job.number, run->job.attempt, NULL)
                      : STORE_CALL(w->services.store, postpone, run->job.number, run->job.attempt);
    while (was_refused(status) && wait_to_try_again(w, tries++));
    log_end(run, status, status == STORE_OK ? "postponed" : "not stored");
}

/* Returns the end of a run that has used up its quota. The stored rows are kept. The summary is omitted, since it also
 * describes rows that were not stored. */
static job_end end_without_room(const job_run *run, const job_end *end) {
    static const char problem[] = PROBLEM_JSON("quota", "Quota used up", "429",
                                               "the quota of stored bytes is used up; the rows stored so far are kept");
    bool ran = end->status == JOB_COMPLETED || end->status == JOB_INCOMPLETE;
    bool keeps = !ran && (!end->problem || strlen(end->problem) <= JOB_BASE_BYTES);
    return (job_end){.status = ran ? JOB_INCOMPLETE : end->status,
                     .progress = run->progress,
                     .problem = keeps ? end->problem : problem};
}

static void finish_job(job_run *run, const job_end *end) {
    workers *w = run->worker->workers;
    run->reported = true;
    text_buffer collected;
    text_buffer_init(&collected, COLLECTED_MAX);
    job_end whole = *end;
    if (run->reducer && sweep_reduce_text(run->reducer, &collected)) whole.collected = collected.bytes;
    store_status status = run->fault == STORE_FULL ? STORE_FULL : store_end(run, &whole);
    if (status == STORE_FULL) {
        run->output.rows.rows = 0;
        drop_events(run);
        whole = end_without_room(run, end);
        status = store_end(run, &whole);
    }
    text_buffer_free(&collected);
    if (was_refused(status)) {
        run->fault = status;
        postpone_job(run);
        return;
    }
    note_store(w, false);
    log_end(run, status, job_status_name(whole.status));
}

static void requeue_job(job_run *run) {
    workers *w = run->worker->workers;
    run->reported = true;
    budget_release_slot(&run->budget);
    store_status status = STORE_CALL(w->services.store, requeue, run->job.number, run->job.attempt, &run->output);
    if (!was_refused(status)) log_end(run, status, status == STORE_OK ? "requeued" : "refused");
}

/* Ends the job as failed. `problem` is NULL if memory was exhausted while the problem was made. */
static void finish_failed(job_run *run, const char *problem, const char *summary) {
    finish_job(run, &(job_end){.status = JOB_FAILED,
                               .progress = run->progress,
                               .summary = summary,
                               .problem = problem ? problem : api_problem_no_memory});
}

/* Ends a run that was canceled, interrupted or refused by the store, or that failed. */
static void end_early(job_run *run, const char *problem, const char *summary) {
    worker *p = run->worker;
    pthread_mutex_lock(&p->workers->lock);
    bool canceled = p->canceled, interrupted = p->workers->stopping || p->lost;
    pthread_mutex_unlock(&p->workers->lock);
    if (run->fault == STORE_ABSENT) {
        run->reported = true;
        log_end(run, STORE_ABSENT, "refused");
    } else if (was_refused(run->fault)) {
        postpone_job(run);
    } else if (run->fault == STORE_FULL) {
        finish_job(run, &(job_end){.status = JOB_INCOMPLETE});
    } else if (canceled) {
        finish_job(run, &(job_end){.status = JOB_CANCELED, .progress = run->progress, .summary = summary});
    } else if (interrupted && atomic_load(&p->cancel)) {
        requeue_job(run);
    } else {
        finish_failed(run, problem, summary);
    }
}

/* Computes the progress from the summary, since the last progress report may be old, and short runs send no report. */
static double fraction_reached(const hamel_summary *summary) {
    double fraction = (summary->t - summary->start) / (summary->stop - summary->start);
    return fraction > 0 ? fmin(fraction, 1) : 0;
}

static bool on_job_summary(void *context, const char *json, const hamel_summary *summary) {
    job_run *run = context;
    bool whole = metrics_summary(run->worker->workers->services.metrics, RUN_KIND_JOB, summary);
    finish_job(run, &(job_end){.status = whole ? JOB_COMPLETED : JOB_INCOMPLETE,
                               .progress = whole ? 1 : fraction_reached(summary),
                               .summary = json});
    return true;
}

static bool on_job_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    const job_run *run = context;
    (void)failure;
    bool canceled = atomic_load(&run->worker->cancel);
    metrics_run(run->worker->workers->services.metrics, RUN_KIND_JOB, canceled ? RUN_CANCELED : RUN_FAILED, 0, 0, 0);
    end_early(context, json, summary_json);
    return true;
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

/* For a member of a sweep, replaces the description of the batch by the description of the member. */
static bool take_member(job_run *run, api_failure *failure) {
    if (!run->job.assignments) return true;
    size_t length = 0;
    if (!api_sweep_open(&run->sweep, run->body, run->length, NULL, 0, &run->worker->workers->services.limits, SIZE_MAX,
                        "request", failure))
        return false;
    char *text = api_sweep_member(&run->sweep, run->job.assignments, &length, failure);
    if (!text) return false;
    free(run->body);
    run->body = text;
    run->length = length;
    return true;
}

/* Acquires the model of the job. On failure, or if the budget is used up, returns false and fills *failure. */
static bool take_model(job_run *run, model_lease *lease, api_failure *failure) {
    bool derived = hamel_ask(&run->budget.poll) == HAMEL_OK && take_member(run, failure) &&
                   model_cache_take(run->worker->workers->services.models, run->body, run->length, &run->budget, "job",
                                    lease, failure);
    if (!derived && budget_spent(&run->budget)) {
        int retry_after;
        cJSON_Delete(failure->problem);
        failure->problem = budget_problem(&run->budget, NULL, &failure->http, &retry_after);
    }
    return derived;
}

static void run_job(job_run *run) {
    workers *w = run->worker->workers;
    api_failure failure = {0};
    if (run->job.cancel_requested) {
        finish_job(run, &(job_end){.status = JOB_CANCELED, .progress = run->job.progress, .summary = run->job.summary});
        return;
    }
    model_lease lease = {0};
    if (take_model(run, &lease, &failure)) {
        api_observer observer = {.context = run,
                                 .model_known = lease.known,
                                 .header = on_job_header,
                                 .row = on_job_row,
                                 .event = on_job_event,
                                 .progress = on_job_progress,
                                 .summary = on_job_summary,
                                 .problem = on_job_problem};
        hamel_status status = api_run(lease.model, &run->budget.poll, &observer, "job");
        (void)status; /* the observer has already received the status */
        model_cache_release(w->services.models, &lease);
    } else {
        char *problem = json_text(failure.problem);
        end_early(run, problem, NULL);
        free(problem);
        api_failure_clear(&failure);
    }
    if (!run->reported) finish_failed(run, NULL, NULL);
}

/* Cancels the run of a worker. The caller holds the lock. */
static void cancel_worker(worker *p) {
    p->canceled = true;
    atomic_store(&p->cancel, true);
}

/* Cancels the run of a job if this daemon runs it. The caller holds the lock. */
static void cancel_run_of(workers *w, int64_t number) {
    w->cancellations++;
    for (size_t i = 0; i < w->count; i++)
        if (w->members[i].number == number) cancel_worker(&w->members[i]);
}

/* Reads the claimed job again, and cancels its run if a client has canceled or deleted it during the claim. */
static void read_job_again(worker *p, const job *claimed) {
    job now;
    store_status status = STORE_CALL(p->workers->services.store, find, claimed->id, NULL, &now);
    bool canceled = status == STORE_ABSENT || (status == STORE_OK && now.cancel_requested);
    if (status == STORE_OK) job_clear(&now);
    if (!canceled) return;
    pthread_mutex_lock(&p->workers->lock);
    cancel_worker(p);
    pthread_mutex_unlock(&p->workers->lock);
}

/* Claims a job. If p->canceled or p->lost is set during the claim, the flag applies to the claimed job. */
static bool take_job(worker *p, job_run *run) {
    workers *w = p->workers;
    pthread_mutex_lock(&w->lock);
    assert(p->number == 0 && !p->claiming);
    bool may_claim = !w->stopping && clock_seconds() >= w->claim_after;
    uint64_t cancellations = w->cancellations;
    p->claiming = may_claim;
    p->canceled = p->lost = false;
    if (may_claim) atomic_store(&p->cancel, false);
    pthread_mutex_unlock(&w->lock);
    if (!may_claim) return false;
    bool taken = STORE_CALL(w->services.store, claim, &run->job, &run->body, &run->length) == STORE_OK;
    pthread_mutex_lock(&w->lock);
    p->claiming = false;
    if (taken) p->number = run->job.number;
    bool read_again = taken && cancellations != w->cancellations;
    pthread_mutex_unlock(&w->lock);
    if (read_again) read_job_again(p, &run->job);
    return taken;
}

static void leave_job(worker *p, job_run *run) {
    pthread_mutex_lock(&p->workers->lock);
    assert(p->number == run->job.number);
    p->number = 0;
    p->workers->busy_until = clock_seconds();
    pthread_mutex_unlock(&p->workers->lock);
    sweep_reduce_close(run->reducer);
    if (run->sweep.tree) api_sweep_close(&run->sweep);
    job_clear(&run->job);
    free(run->body);
    free(run->values);
    drop_events(run);
    free(run->events);
}

static void *run_jobs(void *context) {
    worker *p = context;
    workers *w = p->workers;
    pthread_setname_np(pthread_self(), "hamel-job");
    crash_stack_use(p->signal_stack);
    pthread_mutex_lock(&w->lock);
    while (!w->stopping) {
        uint64_t calls = w->calls;
        pthread_mutex_unlock(&w->lock);
        job_run run = {.worker = p};
        bool taken = take_job(p, &run);
        if (taken) {
            crash_mark_thread(run.job.number, run.job.attempt);
            budget_open(&run.budget, w->services.slots, access_named(w->services.access, run.job.owner), &p->cancel,
                        &w->services.budget, clock_seconds());
            run.budget.is_job = true;
            budget_begin(&run.budget);
            budget_take_slot(&run.budget);
            run_job(&run);
            budget_close(&run.budget);
            crash_mark_thread(0, 0);
            leave_job(p, &run);
            hamel_release_thread();
        }
        pthread_mutex_lock(&w->lock);
        struct timespec until = clock_deadline(POLL_SECONDS);
        if (!taken && calls == w->calls && !w->stopping) pthread_cond_timedwait(&w->woken, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- listener of a shared store ---------------------------------------------------------------------------------- */

static void on_queued(void *context) {
    workers *w = context;
    pthread_mutex_lock(&w->lock);
    w->calls++;
    pthread_cond_broadcast(&w->woken);
    pthread_mutex_unlock(&w->lock);
}

static void on_canceled(void *context, int64_t number) {
    workers_cancel(context, number);
}

/* Cancels all runs. Their jobs are requeued, unless the store has already assigned them to another daemon. */
static void on_lost(void *context) {
    workers *w = context;
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->count; i++) {
        if (w->members[i].number == 0 && !w->members[i].claiming) continue;
        w->members[i].lost = true;
        atomic_store(&w->members[i].cancel, true);
    }
    pthread_mutex_unlock(&w->lock);
}

static bool may_be_running(void *context, int64_t number) {
    workers *w = context;
    bool found = false;
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->count; i++) found = found || w->members[i].number == number || w->members[i].claiming;
    pthread_mutex_unlock(&w->lock);
    return found;
}

static void listen_to_store(workers *w) {
    const store_listener listener = {
        .context = w, .queued = on_queued, .canceled = on_canceled, .lost = on_lost, .runs = may_be_running};
    store_set_listener(w->services.store, &listener);
}

/* ---- start and stop --------------------------------------------------------------------------------------------- */

workers *workers_start(const daemon_services *services, size_t count) {
    workers *w = calloc(1, sizeof *w);
    worker *members = calloc(count, sizeof *members);
    if (!w || !members) {
        free(w);
        free(members);
        return NULL;
    }
    *w = (workers){.services = *services, .members = members, .busy_until = clock_seconds()};
    pthread_mutex_init(&w->lock, NULL);
    clock_condition_init(&w->woken);
    size_t started = 0;
    for (; started < count; started++) {
        members[started].workers = w;
        atomic_init(&members[started].cancel, false);
        if (!pool_start_thread(&members[started].thread, run_jobs, &members[started])) break;
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
    cancel_run_of(w, number);
    pthread_mutex_unlock(&w->lock);
}

double workers_idle_seconds(workers *w) {
    pthread_mutex_lock(&w->lock);
    bool busy = false;
    for (size_t i = 0; i < w->count; i++) busy = busy || w->members[i].number != 0;
    double idle = busy ? 0 : clock_seconds() - w->busy_until;
    pthread_mutex_unlock(&w->lock);
    return idle;
}

void workers_requeue(workers *w) {
    store_set_listener(w->services.store, NULL);
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    for (size_t i = 0; i < w->count; i++) atomic_store(&w->members[i].cancel, true);
    pthread_cond_broadcast(&w->woken);
    pthread_mutex_unlock(&w->lock);
}

void workers_stop(workers *w) {
    if (!w) return;
    workers_requeue(w);
    for (size_t i = 0; i < w->count; i++) pthread_join(w->members[i].thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->woken);
    free(w->members);
    free(w);
}
