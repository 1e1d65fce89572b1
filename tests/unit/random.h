/* random.h — random numbers for tests. A seed gives the same numbers in every run, so failures are reproducible. */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t random_bits(uint64_t *seed); /* SplitMix64; any seed is valid */
double random_between(uint64_t *seed, double low, double high);
void random_fill(uint64_t *seed, double *x, size_t count, double low, double high);
