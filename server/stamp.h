/* stamp.h — what marks a moment or a thing: monotonic seconds, wall time as text, random identifiers. */
#ifndef HAMEL_SERVER_STAMP_H
#define HAMEL_SERVER_STAMP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { STAMP_ID_BYTES = 33, STAMP_TIME_BYTES = 32 };

double stamp_seconds(void); /* CLOCK_MONOTONIC: for intervals and deadlines */

double stamp_cpu_seconds(void); /* processor time of this thread */

/* `seconds` from now on CLOCK_MONOTONIC, for pthread_cond_timedwait; and a condition that waits by that clock. */
struct timespec stamp_deadline(double seconds);
void stamp_condition_init(pthread_cond_t *out);

int64_t stamp_wall_ms(void); /* milliseconds since 1970, UTC */

/* RFC 3339 in UTC with milliseconds: 2026-01-31T12:00:00.000Z. */
void stamp_text(char out[STAMP_TIME_BYTES], int64_t wall_ms);

/* 128 random bits as 32 lower-case hexadecimal digits. False when the kernel gives no random bytes. */
bool stamp_id(char out[STAMP_ID_BYTES]);

#endif
