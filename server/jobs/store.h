/* store.h — where jobs live: an interface, with one file (or a few) per backend behind it.
 *
 * A backend is a table of functions (store_kind), registered in store.c under the scheme of its URL. All functions may
 * be called from any thread and may wait for the disk. What each promises about durability is said at its declaration;
 * "durable" means that it survives the loss of power, everything else survives the end of the process.
 *
 * A job's status only moves forward, with one exception: running goes back to queued when its run was interrupted.
 *     queued -> running -> completed | incomplete | failed | canceled,   queued -> canceled
 *
 * A run is named by (job, attempt). Writes of an attempt that is not the current one answer STORE_ABSENT: whoever held
 * the job has lost it. */
#ifndef HAMEL_SERVER_JOBS_STORE_H
#define HAMEL_SERVER_JOBS_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum job_status {
    JOB_QUEUED,
    JOB_RUNNING,
    JOB_COMPLETED,
    JOB_INCOMPLETE,
    JOB_FAILED,
    JOB_CANCELED,
    JOB_STATUSES
} job_status;
const char *job_status_name(job_status status);
bool job_status_named(const char *name, job_status *out);
static inline bool job_ended(job_status status) {
    return status >= JOB_COMPLETED;
}

enum {
    JOB_ID_BYTES = 33,
    JOB_KEY_BYTES = 256,
    JOB_CRASHES_MAX = 3,
    JOB_LOST_MAX = 3,
    JOB_FRUITLESS_MAX = 100,
    JOB_FAULTS_MAX = 10,
    JOB_BASE_BYTES = 1024
};

typedef struct job {
    int64_t number; /* in order of submission; never used twice */
    char id[JOB_ID_BYTES];
    char *name; /* of the system; "" when it has none */
    job_status status;
    double progress;                    /* 0..1 */
    int64_t created, started, finished; /* ms since 1970; 0: not yet */
    int64_t revision;                   /* grows with every change */
    int64_t attempt;                    /* of the current or last run; grows */
    bool cancel_requested;
    char *header, *summary, *problem; /* JSON texts or NULL */
    char *owner;                      /* name of the token that submitted it; "" without tokens */
    char batch[JOB_ID_BYTES];         /* "": none */
    int64_t member;                   /* position in the batch, from 0 */
    char *assignments;                /* of a member that shares its batch's description: JSON list of overrides */
    char *collected;                  /* JSON object of what the batch collects, once the run has ended */
} job;
void job_clear(job *j);

typedef enum store_status {
    STORE_OK,
    STORE_EXISTS,   /* submit: the key is known with the same body */
    STORE_CONFLICT, /* submit: the key is known with another body */
    STORE_ABSENT,   /* there is no such job, attempt or chunk, or it is another owner's */
    STORE_FULL,     /* submit, begin, append, finish: the owner's quota would be exceeded */
    STORE_NO_SPACE, /* nothing that takes room is stored at present: the disk is nearly full */
    STORE_FAILED    /* the backend failed; the log says why */
} store_status;

/* What an owner may have stored; 0: no limit. Bytes are those of all that clients and runs give, which is descriptions,
 * rows, events, headers and summaries, and JOB_BASE_BYTES for each job: its row in the tables, index entries, a short
 * problem. They are counted when a job is admitted and whenever something is stored. */
typedef struct store_quota {
    double active; /* jobs queued or running */
    double bytes;
} store_quota;

typedef struct job_submission {
    const char *owner;
    const char *name, *key; /* key: NULL or the client's Idempotency-Key, unique for its owner */
    const char *body;
    size_t length;
    store_quota quota;
} job_submission;

/* Jobs submitted together: each with a description of its own, or all sharing the batch's body with overrides. */
typedef struct batch_member {
    const char *name;
    const char *assignments; /* JSON list, or NULL */
    const char *body;        /* where there are no assignments */
    size_t length;
} batch_member;

typedef struct batch_submission {
    job_submission whole; /* its name, key, body as sent */
    const char *plan;     /* JSON object: what the table of results needs to know */
    const batch_member *members;
    size_t count;
} batch_submission;

typedef struct job_batch {
    int64_t number;
    char id[JOB_ID_BYTES];
    char *name, *plan;
    int64_t created; /* ms since 1970 */
    int64_t counts[JOB_STATUSES];
} job_batch;
void batch_clear(job_batch *b);
bool batch_ended(const job_batch *b); /* all its members have */

/* Rows `first` .. `first + rows - 1` of a job, row-major. */
typedef struct row_chunk {
    int64_t first, rows;
    size_t columns;
    double *values;
} row_chunk;
void row_chunk_clear(row_chunk *chunk);

/* What happened between rows: after `row` rows had come. */
typedef struct job_event {
    int64_t row;
    char *json; /* the object, as in NDJSON */
} job_event;

/* Rows and what happened among them, in order; either may be empty. */
typedef struct job_output {
    row_chunk rows;
    const job_event *events;
    size_t event_count;
    int64_t first_event; /* number of the first of them in the run */
} job_output;

typedef struct job_end {
    job_status status; /* one that has ended */
    double progress;
    const char *summary, *problem; /* JSON or NULL */
    const char *collected;         /* of a batch's member; JSON or NULL */
} job_end;

typedef struct job_query {
    bool by_status;
    job_status status;
    const char *name, *owner; /* NULL: any */
    const char *batch;        /* its id; NULL: any */
    int64_t before;           /* only jobs with a smaller number; 0: from the newest */
    size_t limit;
} job_query;

typedef struct store_counts {
    int64_t queued, running;
    int64_t queue_age; /* how long the oldest queued job has been waiting, ms; 0: there is none */
    int64_t bytes;     /* of the database, without what is free in it */
} store_counts;

typedef struct store store;
struct server_log;
struct metrics;

enum { STORE_URL_BYTES = 1024 };

typedef struct store_options {
    struct server_log *log;
    struct metrics *metrics;
    double lease_seconds; /* how long a daemon that shares the store may be silent before its jobs go to others */
    double min_free;      /* bytes of the disk below which nothing is stored that takes room; 0: no bound */
} store_options;

/* What a store that others share has to tell those who run its jobs. Called from a thread of the store's own. */
typedef struct store_listener {
    void *context;
    void (*queued)(void *context);                   /* there may be something to claim */
    void (*canceled)(void *context, int64_t number); /* by a client of another daemon */
    void (*lost)(void *context);                     /* what runs here may be given to others from now on */
    bool (*runs)(void *context, int64_t number);     /* whether it has been claimed and not ended, or may have */
} store_listener;

typedef struct store_kind {
    const char *scheme; /* "sqlite:" */
    store *(*open)(const char *url, const store_options *options, char *message, size_t room);
    void (*close)(store *s);

    /* Whether it can read such a URL, without opening it; NULL: any. False with a message. */
    bool (*check)(const char *url, char *message, size_t room);

    void (*show)(const char *url, char out[STORE_URL_BYTES]); /* see store_shown; NULL: there is nothing to hide */

    /* Whom to tell; NULL: nobody runs jobs any more, and nothing waits any longer for a store that cannot be reached.
     * After that none of the functions is called. `attend` itself is NULL where a store is not shared. */
    void (*attend)(store *s, const store_listener *listener);

    /* Copies the store at this URL, which a daemon may be using, to a new file. False with a message. NULL: it has
     * nothing to copy. */
    bool (*backup)(const char *url, const char *path, char *message, size_t room);

    /* Durable when it returns. *out is the job, new or known, to be cleared by the caller. */
    store_status (*submit)(store *s, const job_submission *submission, job *out);
    store_status (*submit_batch)(store *s, const batch_submission *submission, job_batch *out);

    /* Takes a queued job for a run and gives its description, or that of its batch (free() it). Owners take turns:
     * next is the oldest job of the one with the fewest running, then of the one that was served longest ago. */
    store_status (*claim)(store *s, job *out, char **body, size_t *length);

    /* The run has begun. Rows and events of an earlier attempt under the same header are kept and counted in *rows and
     * *events; under another header (another version ran then) they are dropped. */
    store_status (*begin)(store *s, int64_t number, int64_t attempt, const char *header, int64_t *rows,
                          int64_t *events);
    store_status (*append)(store *s, int64_t number, int64_t attempt, const job_output *output, double progress);

    /* Last output (may be NULL), status and summary in one durable step. An end without output, summary and what is
     * collected, and with a problem of JOB_BASE_BYTES at most, is within every quota. */
    store_status (*finish)(store *s, int64_t number, int64_t attempt, const job_output *output, const job_end *end);

    /* Back to the queue, with the output so far if it is within the quota: the daemon ends. Does not count as a fruitless
     * attempt. */
    store_status (*hand_back)(store *s, int64_t number, int64_t attempt, const job_output *output);

    /* Back to the queue because the store has failed to take what the run gave. Of JOB_FAULTS_MAX such attempts without a
     * row stored the last one is the job's failure. */
    store_status (*postpone)(store *s, int64_t number, int64_t attempt);

    /* Durable. A queued job becomes canceled; a running one is marked, and its worker must be told. *out as in find. */
    store_status (*cancel)(store *s, const char *id, const char *owner, job *out);
    store_status (*forget)(store *s, const char *id, const char *owner, int64_t *number); /* durable; any status */

    /* The same for all members of a batch, `most` at a time: STORE_EXISTS while there is more to do, STORE_OK when all is
     * done. cancel_batch goes on from *from, 0 at first; forget_batch ends with the batch itself. */
    store_status (*cancel_batch)(store *s, const char *id, const char *owner, size_t most, int64_t *from,
                                 job_batch *out);
    store_status (*forget_batch)(store *s, const char *id, const char *owner, size_t most);

    /* Forgets up to `most` jobs that ended at least `age` ago (ms; negative: none), and of the rest the oldest while
     * more than `bytes` are stored (0: any number); *count of them. Batches without members go too. Durable. */
    store_status (*expire)(store *s, int64_t age, double bytes, size_t most, size_t *count);

    store_status (*revision)(store *s, int64_t number, int64_t *revision); /* of a job: whether it has changed */

    /* `owner` NULL: anyone's; here, above and below. */
    store_status (*find)(store *s, const char *id, const char *owner, job *out);

    /* A page of jobs without header, summary, assignments and what was collected: query->limit at most, for which `out`
     * has room, and fewer, but at least one, when their texts are long. *more: the list goes on after them. */
    store_status (*list)(store *s, const job_query *query, job *out, size_t *count, bool *more);
    store_status (*description)(store *s, const job *j, char **body, size_t *length); /* its own, or its batch's */
    store_status (*known_key)(store *s, const job_submission *submission, job *out);  /* as submit, but makes nothing */
    store_status (*find_batch)(store *s, const char *id, const char *owner, job_batch *out);

    /* The same for batches, without their plans; of the query owner, before and limit count. */
    store_status (*list_batches)(store *s, const job_query *query, job_batch *out, size_t *count, bool *more);

    /* Members in order, from the one with the number `first`, without header: `limit` at most, and fewer, but at least
     * one while there is one, when their texts are long. */
    store_status (*members)(store *s, int64_t batch, int64_t first, size_t limit, job *out, size_t *count);
    store_status (*chunk_at)(store *s, int64_t number, int64_t row, row_chunk *out);
    store_status (*event_at)(store *s, int64_t number, int64_t event, job_event *out); /* its number; free() its json */
    store_status (*row_at_time)(store *s, int64_t number, double t,
                                int64_t *row); /* first row of the chunk that has t */
    store_status (*counts)(store *s, store_counts *out);

    /* Adds processor time to what this owner has used on this day (since 1970; an earlier day is then forgotten); *total
     * is all of it, of all daemons. Not durable. */
    store_status (*charge)(store *s, const char *owner, int64_t day, double seconds, double *total);

    /* Why the store takes no submissions at present, as a static text; NULL when it does. */
    const char *(*trouble)(store *s);

    /* Waits until something has changed since *seen, or for so long; *seen is then up to date. Start with 0. */
    void (*wait)(store *s, uint64_t *seen, double seconds);
} store_kind;

struct store {
    const store_kind *kind;
};

/* True when a backend knows this kind of URL and can read it; false with a message. */
bool store_check(const char *url, char *message, size_t room);

/* The URL as it may be shown: without a password. */
const char *store_shown(const char *url, char out[STORE_URL_BYTES]);

/* See store_kind.backup. */
bool store_backup(const char *url, const char *path, char *message, size_t room);

/* Opens by URL. NULL with a message. */
store *store_open(const char *url, const store_options *options, char *message, size_t room);

#endif
