/* random.c — SplitMix64 and derived distributions. */
#include "tests/unit/random.h"

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), with Stafford's mix 13. */
uint64_t random_bits(uint64_t *seed) {
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_between(uint64_t *seed, double low, double high) {
    return low + (high - low) * ((double)(random_bits(seed) >> 11) * 0x1p-53);
}

void random_fill(uint64_t *seed, double *x, size_t count, double low, double high) {
    for (size_t i = 0; i < count; i++) x[i] = random_between(seed, low, high);
}
