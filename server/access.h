/* access.h — who may do what, and how much of it: bearer tokens (RFC 6750) with scopes and quotas.
 *
 * The file of tokens, in JSON:
 *
 *     {"tokens": [{"name": "ann", "sha256": "<64 hexadecimal digits>", "scopes": ["read", "run"],
 *                  "quotas": {"requests_per_second": 20, "streams": 4, "followers": 50, "jobs": 1000, "stored_bytes": 1e9,
 *                             "cpu_seconds_per_day": 3600}}]}
 *
 * Only the hash of a token is kept: a token has 256 random bits (`hameld --new-token NAME` makes one), so a plain
 * SHA-256 can neither be guessed back nor looked up. Without a file there is one holder, `anyone`, with all scopes and
 * no quotas, and the daemon serves loopback only.
 *
 * A daemon reads its file again when it is told to (access_reload). Holders are known by their names: one that is in the
 * file again keeps what it has used, with the token, scopes and quotas of now. One that has gone can no longer be found,
 * but stays in memory until the list is closed, since a request or a stream of it may still run. */
#ifndef HAMEL_SERVER_ACCESS_H
#define HAMEL_SERVER_ACCESS_H

#include "server/bucket.h"
#include "server/cpu_slots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCOPE_READ = 1, SCOPE_RUN = 2, SCOPE_ADMIN = 4 }; /* admin: everything, of every holder */
enum { TOKEN_NAME_BYTES = 64, TOKEN_TEXT_BYTES = 80, TOKEN_HASH_BYTES = 32 };

/* 0: no limit. */
typedef struct access_quotas {
    double requests_per_second; /* on average; twice as many, and at least ten, at once */
    double streams;             /* live runs, checks, analyses, submissions at the same time */
    double followers;           /* answers that wait: results, events, Prefer: wait */
    double jobs;                /* queued or running */
    double stored_bytes;        /* of jobs and batches: see store_quota */
    double cpu_seconds_per_day; /* of runs; a day begins at midnight UTC */
} access_quotas;

/* What holders share: run slots; answers that wait; bytes of answers that have not been read. */
typedef enum access_place { PLACE_STREAM, PLACE_FOLLOWER, PLACE_ANSWER, ACCESS_PLACES } access_place;

typedef struct access_holder access_holder;
struct access_holder {
    access_holder *next;            /* of all that the list ever had */
    char name[TOKEN_NAME_BYTES];    /* "" for anyone; owner of the jobs */
    uint8_t hash[TOKEN_HASH_BYTES]; /* under the list's lock */
    cpu_share share;
    size_t analyses;                 /* processes that it holds; under the lock of analysis_pool.c */
    size_t derivations, model_bytes; /* under way; of models in use; under the lock of model_cache.c */

    pthread_mutex_t lock; /* of what follows */
    unsigned scopes;
    access_quotas quotas;
    bucket requests;
    double places[ACCESS_PLACES];
    double cpu_used, cpu_unsaved; /* on cpu_day; how much of it is yet to be stored */
    int64_t cpu_day;              /* days since 1970 */
    bool cpu_known;               /* what is stored of that day has been added */
};

typedef struct access_list access_list;

/* Reads the file ("": none). NULL with a message that names the place of a fault. */
access_list *access_open(const char *path, char *message, size_t room);
void access_close(access_list *a);

/* Reads the file again, all of it or nothing: false with a message as above when it is faulty, and what was known stays.
 * Called by one thread at a time. The number of holders, 1 for anyone. */
bool access_reload(access_list *a, const char *path, char *message, size_t room);
size_t access_count(access_list *a);
bool access_open_to_anyone(const access_list *a);

/* The holder of the token in an Authorization header (NULL: none sent); NULL when it is not a known one. The time taken
 * does not depend on the token. */
access_holder *access_of(access_list *a, const char *authorization);
access_holder *access_named(access_list *a, const char *name); /* NULL when there is none now */

bool access_may(access_holder *holder, unsigned scope);
access_quotas access_quotas_of(access_holder *holder); /* as they are now */

/* Each takes one of what the holder may use, or returns false with the seconds after which to try again. */
bool access_take_request(access_holder *holder, double *seconds);

/* Takes `amount` of what all holders share, of which there is `most`. Beside its quota a holder has at most as much as
 * is left then, so that one who comes later finds room; a holder that is alone in the list may have all. */
typedef enum access_taken { PLACE_TAKEN, PLACE_OWN_USED, PLACE_ALL_USED } access_taken;
access_taken access_take_place(access_list *a, access_holder *holder, access_place kind, double amount, double most);
void access_leave_place(access_list *a, access_holder *holder, access_place kind, double amount);
double access_used(access_list *a, access_place kind); /* by all */
bool access_has_cpu(access_holder *holder, double *seconds);
bool access_charge(access_holder *holder, double seconds); /* false when the quota is used up now */

/* Processor time that is yet to be stored. Its owner outlives it. */
typedef struct access_usage {
    access_holder *holder;
    int64_t day; /* since 1970 */
    double seconds;
} access_usage;

/* Takes what the next owner has used, from the one at *from on, which moves behind it; false if there is none. It is then
 * settled: `total` is what the owner has used on that day by the store; if it could not be saved, it is taken again. */
bool access_take_usage(access_list *a, size_t *from, access_usage *out);
void access_settle_usage(const access_usage *usage, bool saved, double total);

/* Makes a token: its text, and its hash in hexadecimal digits. False without random bytes. */
bool access_make_token(char text[TOKEN_TEXT_BYTES], char hash[2 * TOKEN_HASH_BYTES + 1]);

#endif
