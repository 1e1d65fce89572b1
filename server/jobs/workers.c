/* workers.c — runs jobs; see workers.h. Each worker has a thread. One lock guards the state that the threads share. The
 * lock is never held during a call of the store, so no function waits long for the lock.
 *
 * A claim runs without the lock. A client may therefore cancel a job after its claim has been committed and before its
 * worker is registered as running it. Cancellations are counted: if the count has changed during a claim, the worker
 * reads the job again once it is registered. After the registration workers_cancel finds the worker. */
#include "server/clock.h"
#include "server/jobs/workers_int.h"
#include "server/pool.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POLL_SECONDS 1.0
/* Bound on the delays 1 s, 2 s, ... between retries. After the store responds again, jobs resume within this time. */
#define BACKOFF_MOST_SECONDS 30.0

/* ---- the store --------------------------------------------------------------------------------------------------- */

static double backoff_seconds(int tries) {
    return fmin(ldexp(POLL_SECONDS, tries < 10 ? tries : 10), BACKOFF_MOST_SECONDS);
}

bool workers_wait_to_try_again(workers *w, int tries) {
    struct timespec until = clock_deadline(backoff_seconds(tries));
    pthread_mutex_lock(&w->lock);
    while (!w->stopping && pthread_cond_timedwait(&w->stopped, &w->lock, &until) == 0) {
    }
    bool going = !w->stopping;
    pthread_mutex_unlock(&w->lock);
    return going;
}

void workers_note_store(workers *w, bool failed) {
    pthread_mutex_lock(&w->lock);
    if (failed) w->claim_after = clock_seconds() + backoff_seconds(w->faults);
    w->faults = failed ? w->faults + 1 : 0;
    pthread_mutex_unlock(&w->lock);
}

/* ---- claims ------------------------------------------------------------------------------------------------------ */

/* Returns the index of a job among the claimed ones, or job_count. The caller holds the lock. */
static size_t find_job(const worker *p, int64_t number) {
    size_t k = 0;
    while (p->jobs && k < p->job_count && p->jobs[k].number != number) k++;
    return p->jobs ? k : p->job_count;
}

/* Cancels a job, if this worker has claimed it. Other members that run with the job are requeued. The caller holds the
 * lock. */
static void cancel_job(worker *p, int64_t number) {
    size_t k = find_job(p, number);
    if (!p->jobs || k == p->job_count) return;
    p->canceled[k] = true;
    atomic_store(&p->cancel, true);
}

/* Cancels the run of a job, if the job runs here. The caller holds the lock. */
static void cancel_run_of(workers *w, int64_t number) {
    w->cancellations++;
    for (size_t i = 0; i < w->count; i++) cancel_job(&w->members[i], number);
}

bool worker_is_canceled(worker *p, int64_t number) {
    pthread_mutex_lock(&p->workers->lock);
    size_t k = find_job(p, number);
    bool canceled = k < p->job_count && p->canceled[k];
    pthread_mutex_unlock(&p->workers->lock);
    return canceled;
}

bool worker_is_interrupted(worker *p) {
    pthread_mutex_lock(&p->workers->lock);
    bool interrupted = p->workers->stopping || p->lost;
    pthread_mutex_unlock(&p->workers->lock);
    return interrupted;
}

/* Reads a claimed job again, and cancels its run if a client has canceled or deleted the job during the claim. */
static void read_job_again(worker *p, const job *claimed) {
    job now;
    store_status status = STORE_CALL(p->workers->services.store, find, claimed->id, NULL, &now);
    bool canceled = status == STORE_ABSENT || (status == STORE_OK && now.cancel_requested);
    if (status == STORE_OK) job_clear(&now);
    if (!canceled) return;
    pthread_mutex_lock(&p->workers->lock);
    cancel_job(p, claimed->number);
    pthread_mutex_unlock(&p->workers->lock);
}

size_t worker_claim_size(worker *p, const char *batch) {
    workers *w = p->workers;
    size_t k = 0;
    pthread_mutex_lock(&w->lock);
    while (k < SIZES_KEPT && strcmp(w->sizes[k].batch, batch) != 0) k++;
    size_t most = k < SIZES_KEPT ? w->sizes[k].most : 1; /* the first claim is small: the run times are unknown */
    pthread_mutex_unlock(&w->lock);
    return most;
}

void worker_set_claim_size(worker *p, const char *batch, size_t most) {
    workers *w = p->workers;
    size_t k = 0;
    claim_size size = {.most = most};
    memcpy(size.batch, batch, strlen(batch));
    pthread_mutex_lock(&w->lock);
    while (k < SIZES_KEPT - 1 && strcmp(w->sizes[k].batch, batch) != 0) k++;
    memmove(w->sizes + 1, w->sizes, k * sizeof *w->sizes);
    w->sizes[0] = size;
    pthread_mutex_unlock(&w->lock);
}

/* Returns true if a worker may claim now. As many workers may hold claims as may run at a time. In addition, one claim
 * may wait for each claim of several members, which will soon end. The caller holds the lock. */
static bool may_claim(const workers *w) {
    size_t held = 0, blocks = 0;
    for (size_t i = 0; i < w->count; i++) {
        const worker *p = &w->members[i];
        held += p->holds;
        blocks += p->holds && p->jobs && p->job_count > 1;
    }
    bool ahead = held < w->most_running + (blocks < w->most_running ? blocks : w->most_running);
    return !w->stopping && ahead && clock_seconds() >= w->claim_after;
}

/* Wakes a worker that waits for a claim. The caller holds the lock. */
static void let_claim(workers *w) {
    w->calls++;
    pthread_cond_signal(&w->woken);
}

/* Claims jobs. A call of cancel_run_of or on_lost during the claim applies to the claimed jobs. */
static bool take_jobs(worker *p, job_claim *c) {
    workers *w = p->workers;
    claim_size sizes[SIZES_KEPT];
    pthread_mutex_lock(&w->lock);
    assert(!p->jobs && !p->claiming && !p->holds);
    bool may = may_claim(w);
    uint64_t cancellations = w->cancellations;
    p->claiming = p->holds = may;
    p->lost = false;
    memset(p->canceled, 0, sizeof p->canceled);
    memcpy(sizes, w->sizes, sizeof sizes);
    if (may) atomic_store(&p->cancel, false);
    pthread_mutex_unlock(&w->lock);
    if (!may) return false;
    *c = (job_claim){.jobs = p->claimed, .sizes = sizes, .size_count = SIZES_KEPT};
    bool taken = STORE_CALL(w->services.store, claim, c) == STORE_OK;
    pthread_mutex_lock(&w->lock);
    p->claiming = false;
    p->holds = taken;
    p->jobs = taken ? c->jobs : NULL;
    p->job_count = taken ? c->count : 0;
    p->ticket = w->tickets++;
    if (taken) let_claim(w); /* more workers may claim than before if several members were claimed */
    bool read_again = taken && cancellations != w->cancellations;
    pthread_mutex_unlock(&w->lock);
    for (size_t k = 0; read_again && k < c->count; k++) read_job_again(p, &c->jobs[k]);
    return taken;
}

static void leave_jobs(worker *p, job_claim *c) {
    worker_end_run(p);
    pthread_mutex_lock(&p->workers->lock);
    assert(p->jobs == c->jobs);
    p->jobs = NULL;
    p->job_count = 0;
    p->workers->busy_until = clock_seconds();
    pthread_mutex_unlock(&p->workers->lock);
    claim_clear(c);
}

/* ---- permissions to run ------------------------------------------------------------------------------------------ */

/* Lets the workers that claimed first run, as many as may run at a time. The caller holds the lock. */
static void permit_runs(workers *w) {
    size_t running = 0;
    for (size_t i = 0; i < w->count; i++) running += w->members[i].running;
    for (; running < w->most_running; running++) {
        worker *first = NULL;
        for (size_t i = 0; i < w->count; i++) {
            worker *p = &w->members[i];
            if (p->jobs && p->holds && !p->running && (!first || p->ticket < first->ticket)) first = p;
        }
        if (!first) return;
        first->running = true;
        pthread_cond_signal(&first->permitted);
    }
}

/* Waits until this worker may run. During shutdown all may run, since their runs end at once. */
static void begin_run(worker *p) {
    workers *w = p->workers;
    pthread_mutex_lock(&w->lock);
    permit_runs(w);
    while (!p->running && !w->stopping) pthread_cond_wait(&p->permitted, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void worker_end_run(worker *p) {
    workers *w = p->workers;
    pthread_mutex_lock(&w->lock);
    if (p->holds) let_claim(w);
    p->running = p->holds = false;
    permit_runs(w);
    pthread_mutex_unlock(&w->lock);
}

void worker_open_budget(worker *p, budget *b, const job *of) {
    const daemon_services *services = &p->workers->services;
    budget_open(b, services->slots, access_named(services->access, of->owner), &p->cancel, &services->budget,
                clock_seconds());
    b->is_job = true;
    budget_begin(b);
    budget_take_slot(b);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Runs claimed jobs one after the other. */
static void run_singly(worker *p, const job_claim *c) {
    for (size_t k = 0; k < c->count; k++) {
        const job *j = &c->jobs[k];
        budget spent;
        job_run run = {.worker = p, .budget = &spent, .job = j, .body = c->body, .length = c->length};
        pthread_mutex_lock(&p->workers->lock);
        atomic_store(&p->cancel, p->canceled[k] || p->workers->stopping || p->lost);
        pthread_mutex_unlock(&p->workers->lock);
        crash_mark_thread(j->number, j->attempt);
        worker_open_budget(p, &spent, j);
        job_run_all(&run);
        budget_close(&spent);
        crash_mark_thread(0, 0);
    }
}

static void *run_jobs(void *context) {
    worker *p = context;
    workers *w = p->workers;
    job_claim claim;
    pthread_setname_np(pthread_self(), "hamel-job");
    crash_stack_use(p->signal_stack);
    pthread_mutex_lock(&w->lock);
    while (!w->stopping) {
        uint64_t calls = w->calls;
        pthread_mutex_unlock(&w->lock);
        bool taken = take_jobs(p, &claim);
        if (taken) {
            begin_run(p);
            if (!members_run(p, &claim)) run_singly(p, &claim);
            leave_jobs(p, &claim);
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
        if (!w->members[i].jobs && !w->members[i].claiming) continue;
        w->members[i].lost = true;
        atomic_store(&w->members[i].cancel, true);
    }
    pthread_mutex_unlock(&w->lock);
}

static bool may_be_running(void *context, int64_t number) {
    workers *w = context;
    bool found = false;
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->count && !found; i++) {
        const worker *p = &w->members[i];
        found = p->claiming || (p->jobs && find_job(p, number) < p->job_count);
    }
    pthread_mutex_unlock(&w->lock);
    return found;
}

static void listen_to_store(workers *w) {
    const store_listener listener = {
        .context = w, .queued = on_queued, .canceled = on_canceled, .lost = on_lost, .runs = may_be_running};
    store_set_listener(w->services.store, &listener);
}

/* ---- start and stop --------------------------------------------------------------------------------------------- */

workers *workers_start(const daemon_services *services, size_t most_running) {
    workers *w = calloc(1, sizeof *w);
    size_t count = 2 * most_running;
    worker *members = calloc(count, sizeof *members);
    if (!w || !members) {
        free(w);
        free(members);
        return NULL;
    }
    *w = (workers){
        .services = *services, .members = members, .most_running = most_running, .busy_until = clock_seconds()};
    pthread_mutex_init(&w->lock, NULL);
    clock_condition_init(&w->woken);
    clock_condition_init(&w->stopped);
    size_t started = 0;
    pthread_mutex_lock(
        &w->lock); /* until w->count is set: a thread that claimed before would not be permitted to run */
    for (; started < count; started++) {
        members[started].workers = w;
        atomic_init(&members[started].cancel, false);
        pthread_cond_init(&members[started].permitted, NULL);
        if (!pool_start_thread(&members[started].thread, run_jobs, &members[started])) break;
    }
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
    let_claim(w);
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
    for (size_t i = 0; i < w->count; i++) busy = busy || w->members[i].jobs != NULL;
    double idle = busy ? 0 : clock_seconds() - w->busy_until;
    pthread_mutex_unlock(&w->lock);
    return idle;
}

void workers_requeue(workers *w) {
    store_set_listener(w->services.store, NULL);
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    for (size_t i = 0; i < w->count; i++) atomic_store(&w->members[i].cancel, true);
    for (size_t i = 0; i < w->count; i++) pthread_cond_signal(&w->members[i].permitted);
    pthread_cond_broadcast(&w->woken);
    pthread_cond_broadcast(&w->stopped);
    pthread_mutex_unlock(&w->lock);
}

void workers_stop(workers *w) {
    if (!w) return;
    workers_requeue(w);
    for (size_t i = 0; i < w->count; i++) pthread_join(w->members[i].thread, NULL);
    for (size_t i = 0; i < w->count; i++) pthread_cond_destroy(&w->members[i].permitted);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->woken);
    pthread_cond_destroy(&w->stopped);
    free(w->members);
    free(w);
}
