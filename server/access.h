/* access.h — token owners with their scopes and quotas: bearer tokens (RFC 6750).
 *
 * The file of tokens, in JSON:
 *
 *     {"tokens": [{"name": "ann", "sha256": "<64 hexadecimal digits>", "scopes": ["read", "run"],
 *                  "quotas": {"requests_per_second": 20, "streams": 4, "followers": 50, "jobs": 1000,
 *                             "stored_bytes": 1e9, "cpu_seconds_per_day": 3600}}]}
 *
 * Only the hash of a token is stored. `hameld --new-token NAME` makes tokens with 256 random bits, so a plain SHA-256
 * of a token can be neither inverted nor found in a table. Without a file there is one owner, `anyone`, with all scopes
 * and no quotas, and the daemon serves loopback only.
 *
 * On SIGHUP the daemon reads the file again (access_reload). Owners are identified by name: an owner that is still in
 * the file keeps its usage and gets the new token, scopes and quotas. An owner that has been removed is no longer
 * found. A removed owner stays in memory until the list is closed, since requests or streams of this owner may still
 * run. */
#pragma once

#include "api/json/text.h"
#include "server/clock.h"
#include "server/cpu_slots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCOPE_READ = 1, SCOPE_RUN = 2, SCOPE_ADMIN = 4 }; /* admin: all rights for the jobs of all owners */
enum { TOKEN_NAME_BYTES = 64, TOKEN_TEXT_BYTES = 80 };

/* In all quotas 0 means no limit. */
typedef struct access_quotas {
    double requests_per_second; /* average; a burst has at most max(10, twice this number) requests */
    double streams;             /* simultaneous live runs, checks, analyses and submissions */
    double followers;           /* responses that wait: results, events, `Prefer: wait` */
    double jobs;                /* queued and running jobs */
    double stored_bytes;        /* bytes of jobs and batches; see store_quota */
    double cpu_seconds_per_day; /* days begin at midnight UTC */
} access_quotas;

/* Resources that owners share: run slots, responses that wait, and bytes of responses that clients have not read. */
typedef enum access_resource {
    ACCESS_RUN_SLOT,
    ACCESS_FOLLOWER,
    ACCESS_ANSWER_BYTES,
    ACCESS_RESOURCES
} access_resource;

typedef struct token_owner token_owner;
struct token_owner {
    token_owner *next;           /* next in the list of all owners loaded since the start */
    char name[TOKEN_NAME_BYTES]; /* stored as the owner of jobs; "" for anyone */
    char hash[DIGEST_HEX + 1];   /* SHA-256 of the token; guarded by the list's lock */
    cpu_share share;
    size_t analyses;                 /* analysis processes in use; guarded by the lock of analysis_pool.c */
    size_t derivations, model_bytes; /* running derivations, and bytes of models in use; guarded by model_cache.c */

    pthread_mutex_t lock; /* guards the members below */
    unsigned scopes;
    access_quotas quotas;
    bucket requests;
    double used[ACCESS_RESOURCES];
    double cpu_used, cpu_unsaved; /* seconds used on cpu_day, and the part of them that is not stored yet */
    int64_t cpu_day;              /* in days since 1970 */
    bool cpu_known;               /* cpu_used includes the stored usage of cpu_day */
};

typedef struct access_list access_list;

/* Reads the file of tokens; path "" means no file. On an error returns NULL with a message that names the position. */
access_list *access_open(const char *path, char *message, size_t room);
void access_close(access_list *a);

/* Reads the file again. If the file has an error, leaves the owners unchanged and returns false with a message that
 * names the position. Not thread-safe. */
bool access_reload(access_list *a, const char *path, char *message, size_t room);
size_t access_count(access_list *a);
bool access_open_to_anyone(const access_list *a);

/* Returns the owner of the token in an Authorization header, or NULL if the token is unknown. `authorization` is NULL
 * if the request has no such header. The call takes the same time for every token. */
token_owner *access_of(access_list *a, const char *authorization);
token_owner *access_named(access_list *a, const char *name); /* returns NULL if no owner has this name */

bool access_may(token_owner *owner, unsigned scope);
access_quotas access_quotas_of(token_owner *owner); /* returns a copy, since a reload may change the quotas */

/* Counts one request against the owner's rate. If the rate is exceeded, returns false and sets *seconds to the time
 * after which to retry. */
bool access_take_request(token_owner *owner, double *seconds);

/* Takes `amount` of a shared resource, of which `most` exist in total. Refuses an owner whose quota is used up. If the
 * list has several owners, also refuses an owner whose use would exceed the part that remains free. The only owner in a
 * list may take the whole resource. */
typedef enum access_grant { ACCESS_GRANTED, ACCESS_QUOTA_USED, ACCESS_ALL_USED } access_grant;
access_grant access_take(access_list *a, token_owner *owner, access_resource kind, double amount, double most);
void access_release(access_list *a, token_owner *owner, access_resource kind, double amount);
double access_used(access_list *a, access_resource kind); /* returns the amount that all owners use */

/* Bytes that one response takes from ACCESS_ANSWER_BYTES, the common budget of unread responses. The budget counts
 * whole responses, bytes that a stream keeps beyond its ring, and rows that a format collects. It does not count
 * responses below ANSWER_SMALL_BYTES, since the number of connections bounds their sum: 16 MiB for 1024 connections.
 * The caller serializes its calls. */
enum { ANSWER_SMALL_BYTES = 16 * 1024 };
typedef struct answers_share {
    access_list *list;
    token_owner *owner; /* NULL for a response on a route that needs no token */
    double most, taken; /* in bytes: `most` bounds all responses together; this response holds `taken` */
} answers_share;
bool answers_take(answers_share *s, size_t bytes); /* false if the budget or the owner's share is used up */
void answers_give_back(answers_share *s, size_t bytes);
void answers_leave(answers_share *s); /* releases all bytes of the response */

bool access_has_cpu(token_owner *owner, double *seconds);
bool access_charge(token_owner *owner, double seconds); /* returns false if the quota is now used up */

/* Unstored processor time of an owner. The owner must outlive this struct. */
typedef struct access_usage {
    token_owner *owner;
    int64_t day; /* days since 1970 */
    double seconds;
} access_usage;

/* Takes the unstored usage of the next owner from position *from, and advances *from. Returns false at the end. After
 * each attempt to store the usage, call access_settle_usage with the stored usage of the day in `total`. If `saved` is
 * false, the usage is kept for the next attempt. */
bool access_take_usage(access_list *a, size_t *from, access_usage *out);
void access_settle_usage(const access_usage *usage, bool saved, double total);

/* Makes a token and the hexadecimal digits of its hash. Returns false if the kernel returns no random bytes. */
bool access_make_token(char text[TOKEN_TEXT_BYTES], char hash[DIGEST_HEX + 1]);
