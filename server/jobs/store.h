/* store.h — interface of job stores.
 *
 * A backend is a table of functions (store_kind), registered in store.c under the scheme of its URL. All functions may
 * be called from any thread and may wait for the disk. "Durable" in a declaration means that the change survives a
 * power failure. All other changes survive the end of the process.
 *
 * The status of a job only moves forward, with one exception: if a run is interrupted, its job is requeued.
 *     queued -> running -> completed | incomplete | failed | canceled,   queued -> canceled
 *
 * A run is identified by (job, attempt). A write of an earlier attempt returns STORE_ABSENT, since the job has been
 * assigned to another run or deleted. */
#pragma once

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
    int64_t number; /* increases with each submission; never reused */
    char id[JOB_ID_BYTES];
    char *name; /* system name; "" if the system is unnamed */
    job_status status;
    double progress;                    /* 0..1 */
    int64_t created, started, finished; /* times in ms since 1970; 0 before the event */
    int64_t revision;                   /* increases with every change */
    int64_t attempt;                    /* number of the current or last run; increases with every run */
    bool cancel_requested;
    char *header, *summary, *problem; /* JSON texts or NULL */
    char *owner;                      /* name of the token that submitted the job; "" without tokens */
    char batch[JOB_ID_BYTES];         /* id of the batch; "" if the job is not a member */
    int64_t member;                   /* position in the batch, counted from 0 */
    char *assignments; /* JSON list of overrides if the job shares its batch's description; otherwise NULL */
    char *collected;   /* JSON object of reduced values for the batch, after the end of the run */
} job;
void job_clear(job *j);

/* The number of members of a sweep to claim together. */
typedef struct claim_size {
    char batch[JOB_ID_BYTES]; /* "": unused */
    size_t most;
} claim_size;

/* A claimed job with its description, or members of one sweep with the description of their batch. The caller sets
 * `jobs` and `sizes`. */
typedef struct job_claim {
    job *jobs;               /* in the order of their numbers; has room for the largest claim, at least one job */
    const claim_size *sizes; /* [size_count] of some sweeps; of other sweeps, single members are claimed */
    size_t size_count;
    size_t count; /* number of claimed jobs */
    char *body;   /* ends with a zero byte */
    size_t length;
} job_claim;
void claim_clear(job_claim *c); /* clears the results of a claim */

/* JSON text of a problem document; all arguments are string literals. */
#define PROBLEM_JSON(slug, title, status, detail) \
    "{\"type\":\"/problems/" slug "\",\"title\":\"" title "\",\"status\":" status ",\"detail\":\"" detail "\"}"

typedef enum store_status {
    STORE_OK,
    STORE_EXISTS,   /* submit: the key exists with the same body */
    STORE_CONFLICT, /* submit: the key exists with another body */
    STORE_ABSENT,   /* no such job, attempt or chunk, or the job belongs to another owner */
    STORE_FULL,     /* submit, begin, append, finish: the call would exceed the owner's quota */
    STORE_NO_SPACE, /* the disk is nearly full, so nothing that needs space is stored */
    STORE_FAILED    /* the backend failed; the reason is in the log */
} store_status;

/* Limits of an owner; 0: no limit. Bytes of descriptions, rows, events, headers and summaries are counted at admission
 * and whenever data is stored. Each job adds JOB_BASE_BYTES (table row, index entries, a short problem). */
typedef struct store_quota {
    double active; /* queued and running jobs */
    double bytes;
} store_quota;

typedef struct job_submission {
    const char *owner;
    const char *name, *key; /* key: the client's Idempotency-Key, unique for its owner, or NULL */
    const char *body;
    size_t length;
    store_quota quota;
} job_submission;

/* Jobs submitted together. Either each job has its own description, or all jobs share the description of the batch and
 * differ in overrides. */
typedef struct batch_member {
    const char *name;
    const char *assignments; /* JSON list of overrides, or NULL */
    const char *body;        /* description if `assignments` is NULL */
    size_t length;
} batch_member;

typedef struct batch_submission {
    job_submission whole; /* name, key and body of the batch as the client sent them */
    const char *plan;     /* JSON object with the columns of the table of results */
    size_t count;
    const batch_member *members; /* [count]; NULL if `fill` makes them */
    /* Sets out[number] to the members from `first` on; their texts are valid until the next call. Returns false if out
     * of memory. */
    bool (*fill)(void *context, size_t first, size_t number, batch_member *out);
    void *context;
} batch_submission;

typedef struct job_batch {
    int64_t number;
    char id[JOB_ID_BYTES];
    char *name, *plan;
    int64_t created; /* ms since 1970 */
    bool complete;   /* false while members are being submitted */
    int64_t counts[JOB_STATUSES];
} job_batch;
void batch_clear(job_batch *b);
bool batch_ended(const job_batch *b); /* true if all members have ended */

/* Rows `first` to `first + rows - 1` of a job, row-major. */
typedef struct row_chunk {
    int64_t first, rows;
    size_t columns;
    double *values;
} row_chunk;
void row_chunk_clear(row_chunk *chunk);

/* An event of a run; `row` is the number of rows before the event. */
typedef struct job_event {
    int64_t row;
    char *json; /* JSON object as in NDJSON results */
} job_event;

/* Consecutive rows and events; either may be empty. */
typedef struct job_output {
    row_chunk rows;
    const job_event *events;
    size_t event_count;
    int64_t first_event; /* number of events that the run has stored before */
} job_output;

typedef struct job_end {
    job_status status; /* final status: completed, incomplete, failed or canceled */
    double progress;
    const char *summary, *problem; /* JSON or NULL */
    const char *collected;         /* reduced values of a batch's member; JSON or NULL */
} job_end;

/* The result of a member that is stored in one step. */
typedef struct member_end {
    int64_t number, attempt;
    const char *header; /* NULL if the run has not begun */
    job_output output;
    job_end end;
    store_status status;
} member_end;

typedef struct job_query {
    bool by_status;
    job_status status;
    const char *name, *owner; /* NULL: any */
    const char *batch;        /* id of the batch; NULL: any */
    int64_t before;           /* only jobs with a smaller number; 0: start with the newest */
    size_t limit;
} job_query;

typedef struct store_counts {
    int64_t queued, running;
    int64_t queue_age; /* age of the oldest queued job, ms; 0 if no job is queued */
    int64_t bytes;     /* bytes of the database without its free pages */
} store_counts;

typedef struct store store;
struct server_log;
struct metrics;

enum { STORE_URL_BYTES = 1024 };

typedef struct store_options {
    struct server_log *log;
    struct metrics *metrics;
    double lease_seconds; /* duration of a lease on a shared store */
    double min_free;      /* if fewer bytes of the disk are free, nothing that needs space is stored; 0: no bound */
} store_options;

/* Callbacks of the workers for a shared store. A thread of the store calls them. */
typedef struct store_listener {
    void *context;
    void (*queued)(void *context);                   /* there may be jobs to claim */
    void (*canceled)(void *context, int64_t number); /* a client of another daemon has canceled the job */
    void (*lost)(void *context);                 /* the lease has ended, so other daemons may claim the running jobs */
    bool (*runs)(void *context, int64_t number); /* returns true if this daemon runs the job or may have claimed it */
} store_listener;

typedef struct store_kind {
    const char *scheme; /* "sqlite:" */
    store *(*open)(const char *url, const store_options *options, char *message, size_t room);
    void (*close)(store *s);

    /* Checks the URL without opening the store. If the URL is invalid, returns false with a message. The pointer is
     * NULL if all URLs are valid. */
    bool (*check)(const char *url, char *message, size_t room);

    void (*show)(const char *url, char out[STORE_URL_BYTES]); /* see store_shown; NULL if URLs contain no secrets */

    /* Sets the listener. If `listener` is NULL, no function of the former listener is called afterwards, and changes
     * fail at once if the database is unreachable. The pointer is NULL for stores that are not shared. */
    void (*set_listener)(store *s, const store_listener *listener);

    /* Copies the store at this URL, which may be in use, to a new file. On failure returns false with a message. The
     * pointer is NULL if the backend cannot copy stores. */
    bool (*backup)(const char *url, const char *path, char *message, size_t room);

    /* Durable. Sets *out to the new or existing job, which the caller clears. */
    store_status (*submit)(store *s, const job_submission *submission, job *out);

    /* Like `submit`, for a batch. Many members are submitted in several steps, so that other changes are not delayed.
     * Workers may claim the first members before the last members are submitted. If the daemon ends between two steps,
     * a submission with the same key completes the batch; otherwise `expire` deletes the incomplete batch after ten
     * minutes. */
    store_status (*submit_batch)(store *s, const batch_submission *submission, job_batch *out);

    /* Claims a queued job. Selects the oldest job of the owner with the fewest running jobs. Among owners with equally
     * many running jobs, selects the owner whose last claim is oldest. If the job is a member of a sweep, also claims
     * the next queued members, as many as claim->sizes allows. Members that a previous attempt has begun are claimed
     * alone, since they may have caused a crash. The caller clears the claim if the status is STORE_OK. */
    store_status (*claim)(store *s, job_claim *claim);

    /* Stores the header of a run before its first row. If an earlier attempt stored the same header, its rows and
     * events are kept and counted in *rows and *events. If the header differs (after an upgrade), these rows and events
     * are deleted. */
    store_status (*begin)(store *s, int64_t number, int64_t attempt, const char *header, int64_t *rows,
                          int64_t *events);
    store_status (*append)(store *s, int64_t number, int64_t attempt, const job_output *output, double progress);

    /* Stores the last output (may be NULL), status and summary in one durable step. If output, summary and reduced
     * values are absent and the problem has at most JOB_BASE_BYTES, the call exceeds no quota. */
    store_status (*finish)(store *s, int64_t number, int64_t attempt, const job_output *output, const job_end *end);

    /* Stores the results of members that have stored nothing before, all in one durable step, and sets their statuses:
     * STORE_OK or STORE_ABSENT. Any other return value means that nothing is stored. */
    store_status (*finish_members)(store *s, member_end *ends, size_t count);

    /* Requeues the job because the daemon shuts down. Stores the output so far if the quota allows it. The attempt does
     * not count as an attempt without a stored row. */
    store_status (*requeue)(store *s, int64_t number, int64_t attempt, const job_output *output);

    /* Requeues the job because the store could not store the output. After JOB_FAULTS_MAX such attempts without a
     * stored row the job fails. */
    store_status (*postpone)(store *s, int64_t number, int64_t attempt);

    /* Durable. A queued job becomes canceled. A running job is marked; the caller must cancel its run. Sets *out to the
     * job. */
    store_status (*cancel)(store *s, const char *id, const char *owner, job *out);

    /* Durable. Deletes a job with any status. */
    store_status (*delete)(store *s, const char *id, const char *owner, int64_t *number);

    /* Cancel or delete up to `most` members of a batch. Return STORE_EXISTS if there are more members, and STORE_OK at
     * the end. cancel_batch continues from *from, initially 0. delete_batch finally deletes the batch. */
    store_status (*cancel_batch)(store *s, const char *id, const char *owner, size_t most, int64_t *from,
                                 job_batch *out);
    store_status (*delete_batch)(store *s, const char *id, const char *owner, size_t most);

    /* Durable. Deletes up to `most` jobs. First it deletes jobs that ended at least `age` ms ago (negative: no bound).
     * Then it deletes the oldest ended jobs while more than `bytes` are stored (0: no bound). Sets *count to the number
     * of deleted jobs. Also deletes batches without members, and batches whose submission was interrupted. */
    store_status (*expire)(store *s, int64_t age, double bytes, size_t most, size_t *count);

    store_status (*revision)(store *s, int64_t number, int64_t *revision); /* reads the revision of a job */

    /* In all functions a NULL `owner` means any owner. */
    store_status (*find)(store *s, const char *id, const char *owner, job *out);

    /* Reads a page of at most query->limit jobs to `out`, without header, summary, assignments and reduced values. If
     * their texts are long, the page has fewer jobs, but at least one. Sets *more to true if the list continues. */
    store_status (*list)(store *s, const job_query *query, job *out, size_t *count, bool *more);

    /* Reads the description of the job, or the description of its batch. The caller frees *body. */
    store_status (*description)(store *s, const job *j, char **body, size_t *length);

    /* Returns STORE_EXISTS or STORE_CONFLICT if the key of the submission is known, otherwise STORE_ABSENT. */
    store_status (*known_key)(store *s, const job_submission *submission, job *out);
    store_status (*find_batch)(store *s, const char *id, const char *owner, job_batch *out);

    /* Reads a page of batches without their plans; uses owner, before and limit of the query. */
    store_status (*list_batches)(store *s, const job_query *query, job_batch *out, size_t *count, bool *more);

    /* Reads at most `limit` members in order, from number `first`, without header. If their texts are long, reads fewer
     * members, but at least one. */
    store_status (*members)(store *s, int64_t batch, int64_t first, size_t limit, job *out, size_t *count);
    store_status (*chunk_at)(store *s, int64_t number, int64_t row, row_chunk *out);
    store_status (*event_at)(store *s, int64_t number, int64_t event, job_event *out); /* the caller frees out->json */
    store_status (*row_at_time)(store *s, int64_t number, double t,
                                int64_t *row); /* reads the first row of the chunk that contains time t */
    store_status (*counts)(store *s, store_counts *out);

    /* Adds processor time to the usage of an owner on a day (in days since 1970), and deletes the usage of earlier
     * days. Sets *total to the usage of the day over all daemons. Not durable. */
    store_status (*charge)(store *s, const char *owner, int64_t day, double seconds, double *total);

    /* Returns the reason why the store currently accepts no submissions, as a static text, or NULL if it accepts
     * submissions. */
    const char *(*trouble)(store *s);

    /* Waits at most `seconds` until the number of changes differs from *seen (initially 0), and updates *seen. */
    void (*wait)(store *s, uint64_t *seen, double seconds);
} store_kind;

extern const store_kind store_kind_sqlite;     /* sqlite:PATH */
extern const store_kind store_kind_memory;     /* memory: lost when the process ends */
extern const store_kind store_kind_postgresql; /* postgresql://USER@HOST/DATABASE, shared by many daemons */

struct store {
    const store_kind *kind;
};

/* Calls a function of the store, as in STORE_CALL(s, find, id, owner, &found). */
#define STORE_CALL(s, function, ...) ((s)->kind->function((s), __VA_ARGS__))

/* Returns true if a backend supports this URL. If no backend does, returns false with a message. */
bool store_check(const char *url, char *message, size_t room);

/* Returns the URL without its password. */
const char *store_shown(const char *url, char out[STORE_URL_BYTES]);

/* Registers the listener of a shared store, or removes it (NULL); no-op for other stores. See
 * store_kind.set_listener. */
void store_set_listener(store *s, const store_listener *listener);

/* See store_kind.backup. */
bool store_backup(const char *url, const char *path, char *message, size_t room);

/* Opens the store at a URL. On failure returns NULL with a message. */
store *store_open(const char *url, const store_options *options, char *message, size_t room);
