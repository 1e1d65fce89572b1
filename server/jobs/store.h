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

typedef enum job_status { JOB_QUEUED, JOB_RUNNING, JOB_COMPLETED, JOB_INCOMPLETE, JOB_FAILED, JOB_CANCELED } job_status;
const char *job_status_name(job_status status);
bool job_status_named(const char *name, job_status *out);
static inline bool job_ended(job_status status) {
    return status >= JOB_COMPLETED;
}

enum { JOB_ID_BYTES = 33, JOB_KEY_BYTES = 256, JOB_CRASHES_MAX = 3, JOB_FRUITLESS_MAX = 100 };

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
} job;
void job_clear(job *j);

typedef enum store_status {
    STORE_OK,
    STORE_EXISTS,   /* submit: the key is known with the same body */
    STORE_CONFLICT, /* submit: the key is known with another body */
    STORE_ABSENT,   /* there is no such job, attempt or chunk */
    STORE_FAILED    /* the backend failed; the log says why */
} store_status;

typedef struct job_submission {
    const char *name, *key; /* key: NULL or the client's Idempotency-Key */
    const char *body;
    size_t length;
} job_submission;

/* Rows `first` .. `first + rows - 1` of a job, row-major. */
typedef struct row_chunk {
    int64_t first, rows;
    size_t columns;
    double *values;
} row_chunk;
void row_chunk_clear(row_chunk *chunk);

typedef struct job_end {
    job_status status; /* one that has ended */
    double progress;
    const char *summary, *problem; /* JSON or NULL */
} job_end;

typedef struct job_query {
    bool by_status;
    job_status status;
    const char *name; /* NULL: any */
    int64_t before;   /* only jobs with a smaller number; 0: from the newest */
    size_t limit;
} job_query;

typedef struct store_counts {
    int64_t queued, running;
    int64_t oldest_queued; /* when it was submitted, ms since 1970; 0: none */
    int64_t bytes;         /* of the database, without what is free in it */
} store_counts;

typedef struct store store;
struct server_log;
struct metrics;

typedef struct store_kind {
    const char *scheme; /* "sqlite:" */
    store *(*open)(const char *url, struct server_log *log, struct metrics *metrics, char *message, size_t room);
    void (*close)(store *s);

    /* Durable when it returns. *out is the job, new or known, to be cleared by the caller. */
    store_status (*submit)(store *s, const job_submission *submission, job *out);

    /* Takes the oldest queued job for a run and gives its description (free() it). */
    store_status (*claim)(store *s, job *out, char **body, size_t *length);

    /* The run has begun. Rows of an earlier attempt under the same header are kept and counted in *rows; under another
     * header (another version ran then) they are dropped. */
    store_status (*begin)(store *s, int64_t number, int64_t attempt, const char *header, int64_t *rows);
    store_status (*append)(store *s, int64_t number, int64_t attempt, const row_chunk *chunk, double progress);

    /* Last rows (may be NULL), status and summary in one durable step. */
    store_status (*finish)(store *s, int64_t number, int64_t attempt, const row_chunk *chunk, const job_end *end);

    /* Back to the queue with the rows so far: the daemon ends. Does not count as a fruitless attempt. */
    store_status (*hand_back)(store *s, int64_t number, int64_t attempt, const row_chunk *chunk);

    /* Durable. A queued job becomes canceled; a running one is marked, and its worker must be told. *out as in find. */
    store_status (*cancel)(store *s, const char *id, job *out);
    store_status (*forget)(store *s, const char *id, int64_t *number); /* durable; whatever its status */

    store_status (*find)(store *s, const char *id, job *out);
    store_status (*list)(store *s, const job_query *query, job *out, size_t *count); /* out has room for query->limit */
    store_status (*description)(store *s, const char *id, char **body, size_t *length);
    store_status (*known_key)(store *s, const job_submission *submission, job *out); /* as submit, but makes nothing */
    store_status (*chunk_at)(store *s, int64_t number, int64_t row, row_chunk *out);
    store_status (*row_at_time)(store *s, int64_t number, double t,
                                int64_t *row); /* first row of the chunk that has t */
    store_status (*counts)(store *s, store_counts *out);
    bool (*healthy)(store *s);

    /* Waits until something has changed since *seen, or for so long; *seen is then up to date. Start with 0. */
    void (*wait)(store *s, uint64_t *seen, double seconds);
} store_kind;

struct store {
    const store_kind *kind;
};

/* True when a backend knows this kind of URL. */
bool store_known(const char *url);

/* Opens by URL. NULL with a message. */
store *store_open(const char *url, struct server_log *log, struct metrics *metrics, char *message, size_t room);

#endif
