/* job_run.c — one attempt of a job, on the thread of its worker.
 *
 * Rows are stored in chunks, twice a second or when a chunk has 256 KiB. A run is deterministic: after an interruption
 * it starts from the beginning and skips as many rows as are already stored. */
#include "server/jobs/workers_int.h"

#include "api/json/text.h"
#include "server/clock.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 256 * 1024, COLLECTED_MAX = 16 * 1024 * 1024, FINISH_TRIES = 8 };
#define CHUNK_SECONDS 0.5

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void drop_events(job_run *run) {
    for (size_t k = 0; k < run->output.event_count; k++) free(run->events[k].json);
    run->output.event_count = run->event_bytes = 0;
}

static bool append_output(job_run *run) {
    workers *w = run->worker->workers;
    budget_release_slot(run->budget); /* the store may be slow */
    run->fault =
        STORE_CALL(w->services.store, append, run->job->number, run->job->attempt, &run->output, run->progress);
    budget_take_slot(run->budget);
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
    budget_release_slot(run->budget);
    run->fault = STORE_CALL(w->services.store, begin, run->job->number, run->job->attempt, header->json, &run->stored,
                            &run->stored_events);
    budget_take_slot(run->budget);
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
              LOG_FIELDS(log_text("job", run->job->id), log_text("end", what),
                         log_number("attempt", (double)run->job->attempt),
                         log_number("rows", (double)(run->output.rows.first + run->output.rows.rows))));
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
    budget_release_slot(run->budget);
    do status = STORE_CALL(w->services.store, finish, run->job->number, run->job->attempt, &run->output, end);
    while (was_refused(status) && (status == STORE_NO_SPACE || tries < FINISH_TRIES) &&
           workers_wait_to_try_again(w, tries++));
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
    workers_note_store(w, true);
    budget_release_slot(run->budget); /* the retries may take a long time */
    do
        status = full ? STORE_CALL(w->services.store, requeue, run->job->number, run->job->attempt, NULL)
                      : STORE_CALL(w->services.store, postpone, run->job->number, run->job->attempt);
    while (was_refused(status) && workers_wait_to_try_again(w, tries++));
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

void job_run_finish(job_run *run, const job_end *end) {
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
    workers_note_store(w, false);
    log_end(run, status, job_status_name(whole.status));
}

void job_run_requeue(job_run *run) {
    workers *w = run->worker->workers;
    run->reported = true;
    budget_release_slot(run->budget);
    store_status status = STORE_CALL(w->services.store, requeue, run->job->number, run->job->attempt, &run->output);
    if (!was_refused(status)) log_end(run, status, status == STORE_OK ? "requeued" : "refused");
}

/* Ends the job as failed. `problem` is NULL if memory was exhausted while the problem was made. */
static void finish_failed(job_run *run, const char *problem, const char *summary) {
    job_run_finish(run, &(job_end){.status = JOB_FAILED,
                                   .progress = run->progress,
                                   .summary = summary,
                                   .problem = problem ? problem : api_problem_no_memory});
}

/* Ends a run that was canceled, interrupted or refused by the store, or that failed. */
void job_run_end_early(job_run *run, const char *problem, const char *summary) {
    worker *p = run->worker;
    bool canceled = worker_is_canceled(p, run->job->number), interrupted = worker_is_interrupted(p);
    if (run->fault == STORE_ABSENT) {
        run->reported = true;
        log_end(run, STORE_ABSENT, "refused");
    } else if (was_refused(run->fault)) {
        postpone_job(run);
    } else if (run->fault == STORE_FULL) {
        job_run_finish(run, &(job_end){.status = JOB_INCOMPLETE});
    } else if (canceled) {
        job_run_finish(run, &(job_end){.status = JOB_CANCELED, .progress = run->progress, .summary = summary});
    } else if (interrupted && atomic_load(&p->cancel)) {
        job_run_requeue(run);
    } else {
        finish_failed(run, problem, summary);
    }
}

static bool on_job_summary(void *context, const char *json, const hamel_summary *summary) {
    job_run *run = context;
    bool whole = metrics_summary(run->worker->workers->services.metrics, RUN_KIND_JOB, summary);
    job_run_finish(run, &(job_end){.status = whole ? JOB_COMPLETED : JOB_INCOMPLETE,
                                   .progress = whole ? 1 : job_progress(summary),
                                   .summary = json});
    return true;
}

static bool on_job_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    const job_run *run = context;
    (void)failure;
    bool canceled = atomic_load(&run->worker->cancel);
    metrics_run(run->worker->workers->services.metrics, RUN_KIND_JOB, canceled ? RUN_CANCELED : RUN_FAILED, 0, 0, 0);
    job_run_end_early(context, json, summary_json);
    return true;
}

/* ---- the whole run ----------------------------------------------------------------------------------------------- */

/* For a member of a sweep, replaces the description of the batch by the description of the member. */
static bool take_member(job_run *run, api_failure *failure) {
    if (!run->job->assignments) return true;
    size_t length = 0;
    if (!api_sweep_open(&run->sweep, run->body, run->length, NULL, 0, &run->worker->workers->services.limits, SIZE_MAX,
                        "request", failure))
        return false;
    char *text = api_sweep_member(&run->sweep, run->job->assignments, &length, failure);
    if (!text) return false;
    run->body = run->own_body = text;
    run->length = length;
    return true;
}

/* Acquires the model of the job. On failure, or if the budget is used up, returns false and fills *failure. */
static bool take_model(job_run *run, model_lease *lease, api_failure *failure) {
    bool derived = hamel_ask(&run->budget->poll) == HAMEL_OK && take_member(run, failure) &&
                   model_cache_take(run->worker->workers->services.models, run->body, run->length, run->budget, "job",
                                    lease, failure);
    if (!derived && budget_spent(run->budget)) {
        int retry_after;
        cJSON_Delete(failure->problem);
        failure->problem = budget_problem(run->budget, NULL, &failure->http, &retry_after);
    }
    return derived;
}

static void run_model(job_run *run) {
    workers *w = run->worker->workers;
    api_failure failure = {0};
    if (run->job->cancel_requested) {
        job_run_finish(
            run, &(job_end){.status = JOB_CANCELED, .progress = run->job->progress, .summary = run->job->summary});
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
        hamel_status status = api_run(lease.model, &run->budget->poll, &observer, "job");
        (void)status; /* the observer has already received the status */
        model_cache_release(w->services.models, &lease);
    } else {
        char *problem = json_text(failure.problem);
        job_run_end_early(run, problem, NULL);
        free(problem);
        api_failure_clear(&failure);
    }
    if (!run->reported) finish_failed(run, NULL, NULL);
}

static void free_run(job_run *run) {
    sweep_reduce_close(run->reducer);
    if (run->sweep.tree) api_sweep_close(&run->sweep);
    free(run->own_body);
    free(run->values);
    drop_events(run);
    free(run->events);
}

void job_run_all(job_run *run) {
    run_model(run);
    free_run(run);
}
