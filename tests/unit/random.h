/* random.h — for tests: numbers that are the same in every run, so that a failure can be repeated. */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t random_bits(uint64_t *seed); /* SplitMix64; any seed will do */
double random_between(uint64_t *seed, double low, double high);
void random_fill(uint64_t *seed, double *x, size_t count, double low, double high);
