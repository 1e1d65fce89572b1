/* bucket.c — token bucket; see bucket.h. */
#include "server/bucket.h"

#include "server/clock.h"

#include <math.h>

bool bucket_take(bucket *b, double rate, double most, double *seconds) {
    double now = clock_seconds();
    b->taken = fmax(0, b->taken - (now - b->at) * rate);
    b->at = now;
    if (b->taken + 1 <= most) {
        b->taken += 1;
        return true;
    }
    *seconds = (b->taken + 1 - most) / rate;
    return false;
}
