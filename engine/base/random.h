/* random.h — reproducible pseudo-random numbers. */
#pragma once

#include <stdint.h>

/* Returns the next number in [low, high) from the upper bits of a linear congruential generator modulo 2^64 (Knuth, The
 * Art of Computer Programming 2, 3.3.4, table 1). */
static inline double random_uniform(uint64_t *seed, double low, double high) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ((double)(*seed >> 11) * 0x1p-53);
}
