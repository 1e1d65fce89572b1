/* baselines.h — small systems, and a stiff one, for contests (contest.h). */
#ifndef HAMEL_BENCH_BASELINES_H
#define HAMEL_BENCH_BASELINES_H

#include "tests/bench/contest.h"

extern const baseline baselines[];
extern const size_t baseline_count;

#endif
