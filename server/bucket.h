/* bucket.h — rate limit by a token bucket: an allowance that refills at a fixed rate up to a maximum. */
#pragma once

#include <stdbool.h>

/* Zero-initialize: the bucket is then full. */
typedef struct bucket {
    double taken, at; /* amount not yet refilled at time `at`, in monotonic seconds */
} bucket;

/* Takes 1 from a bucket of size `most` that refills at `rate` per second. If it is empty, returns false and sets
 * *seconds to the time until a retry can succeed. */
bool bucket_take(bucket *b, double rate, double most, double *seconds);
