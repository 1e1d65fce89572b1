/* workers_int.h — declarations shared by workers.c (threads and claims), job_run.c (one attempt of a job) and
 * members_run.c (claimed members of a sweep). */
#pragma once

#include "api/sweep/sweep_member.h"
#include "server/jobs/crash_mark.h"
#include "server/jobs/member_block.h"
#include "server/jobs/workers.h"

#include <pthread.h>

/* A worker claims jobs, waits for permission to run, runs them and stores the results. Only as many workers run at a
 * time as there are CPU slots, but there are twice as many workers: while some wait for the store, others run. */
typedef struct worker {
    workers *workers;
    pthread_t thread;
    pthread_cond_t permitted; /* signaled when this worker may run */
    const job *jobs;          /* [job_count] the claimed jobs, in the order of their numbers; NULL if idle */
    size_t job_count;
    bool canceled[BLOCK_MEMBERS_MAX]; /* for each claimed job: canceled by a client, not by shutdown */
    bool claiming;                    /* true during a claim, when a job may already be assigned to this daemon */
    atomic_bool cancel;               /* stops the run that is in progress */
    bool lost;                        /* the lease on the store has been lost */
    bool holds;                       /* holds claimed jobs that have not run to their end, or is claiming */
    bool running;
    uint64_t ticket; /* order of the claims; among the workers that wait to run, the smallest runs first */
    /* Used by the thread of the worker only: */
    job claimed[BLOCK_MEMBERS_MAX];
    _Alignas(16) char signal_stack[CRASH_STACK_BYTES];
} worker;

/* Number of sweeps for which claim sizes are stored. If more sweeps alternate, the oldest entry is replaced, and the next
 * claim of that sweep is small again. Chosen larger than the number of sweeps that usually run at a time. */
enum { SIZES_KEPT = 16 };

struct workers {
    daemon_services services;

    pthread_mutex_t lock;
    pthread_cond_t woken, stopped;
    uint64_t calls;         /* number of calls of workers_wake, on_queued and let_claim */
    uint64_t cancellations; /* number of calls of cancel_run_of */
    bool stopping;
    double busy_until;   /* time of the end of the last run */
    double claim_after;  /* after a failure of the store, no job is claimed before this time */
    int faults;          /* failures of the store since it last stored the end of a run */
    size_t most_running; /* number of workers that may run at a time */
    uint64_t tickets;
    claim_size
        sizes[SIZES_KEPT]; /* sizes for the sweeps that ran last, the latest first; `most` is 0 if members run alone */
    size_t count;
    worker *members;
};

/* One attempt of a job, on the thread of its worker. */
typedef struct job_run {
    worker *worker;
    budget *budget;
    const job *job;
    const char *body; /* description of the job or of its batch */
    size_t length;
    char *own_body; /* description of a member, or NULL */

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

/* workers.c */
bool worker_is_canceled(worker *p, int64_t number);           /* true if a client has canceled the claimed job */
bool worker_is_interrupted(worker *p);                        /* true during shutdown or after the loss of the lease */
bool workers_wait_to_try_again(workers *w, int tries);        /* waits before a retry; returns false during shutdown */
void workers_note_store(workers *w, bool failed);             /* records that the store failed or stored an end */
void worker_open_budget(worker *p, budget *b, const job *of); /* also takes a CPU slot */
void worker_end_run(worker *p);                               /* lets another worker run and claim; idempotent */
size_t worker_claim_size(worker *p, const char *batch);       /* returns the number of members to claim together */
void worker_set_claim_size(worker *p, const char *batch, size_t most);

/* job_run.c: all functions below set run->reported once the store has stored or refused the result. */
void job_run_all(job_run *run); /* runs the job and stores its result */
void job_run_finish(job_run *run, const job_end *end);
void job_run_requeue(job_run *run);

/* Ends a run that was canceled, interrupted or refused by the store, or that failed. */
void job_run_end_early(job_run *run, const char *problem, const char *summary);

/* members_run.c: runs claimed members together and stores their results. Returns false if the members must run as
 * single jobs. */
bool members_run(worker *p, job_claim *c);
