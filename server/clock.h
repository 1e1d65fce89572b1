/* clock.h — monotonic time, wall time as text, random identifiers, and rate limits. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

enum { RANDOM_ID_BYTES = 33, CLOCK_TEXT_BYTES = 32 };

double clock_seconds(void); /* CLOCK_MONOTONIC: for intervals and deadlines */

double clock_cpu_seconds(void); /* processor time of the calling thread */

double clock_used_seconds(const struct rusage *used); /* user and system time */

/* clock_deadline returns the time `seconds` from now, for pthread_cond_timedwait. clock_condition_init initializes a
 * condition variable. Both functions use CLOCK_MONOTONIC. */
struct timespec clock_deadline(double seconds);
void clock_condition_init(pthread_cond_t *out);

/* Waits at most `seconds` for a condition variable initialized by clock_condition_init. Returns false on timeout. */
bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds);

int64_t clock_wall_ms(void); /* milliseconds since 1970, UTC */

/* Writes the time as RFC 3339 in UTC with milliseconds: 2026-01-31T12:00:00.000Z. */
void clock_text(char out[CLOCK_TEXT_BYTES], int64_t wall_ms);

/* Writes 128 random bits as 32 lower-case hexadecimal digits. Returns false if the kernel returns no random bytes. */
bool random_id(char out[RANDOM_ID_BYTES]);

/* Makes up to RANDOM_IDS_MOST ids that begin with the same 48 random bits; the other 80 bits of each are random, too.
 * In an index such ids are adjacent, so that inserting them changes few pages. */
enum { RANDOM_IDS_MOST = 64 };
bool random_ids(char (*out)[RANDOM_ID_BYTES], size_t count);

/* Rate limit by a token bucket, which refills at a fixed rate up to a maximum. A zero-initialized bucket is full. */
typedef struct bucket {
    double taken, at; /* amount not yet refilled at time `at` (clock_seconds) */
} bucket;

/* Takes one unit from a bucket of `most` units that refills at `rate` units per second. If the bucket is empty, returns
 * false and sets *seconds to the time until a retry can succeed. */
bool bucket_take(bucket *b, double rate, double most, double *seconds);
