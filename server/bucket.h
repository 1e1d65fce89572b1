/* bucket.h — a rate that is kept on average: an allowance that fills over time, up to what may be taken at once. */
#ifndef HAMEL_SERVER_BUCKET_H
#define HAMEL_SERVER_BUCKET_H

#include <stdbool.h>

/* All zero: full when first used. */
typedef struct bucket {
    double taken, at; /* what had not filled up again at this monotonic time */
} bucket;

/* Takes one of `most` that fill at `rate` a second; else returns false with the seconds after which to try again. */
bool bucket_take(bucket *b, double rate, double most, double *seconds);

#endif
