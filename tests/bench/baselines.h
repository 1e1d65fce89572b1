/* baselines.h — hand-written right-hand sides of several small systems and one stiff system, for contest.h. */
#pragma once

#include "tests/bench/contest.h"

extern const baseline baselines[];
extern const size_t baseline_count;

/* Systems with many rows, for bench_limits. */
extern const baseline long_baselines[];
extern const size_t long_baseline_count;

/* Some constrained systems again, hand-written in hamel's coordinates with multipliers. */
extern const baseline multiplier_baselines[];
extern const size_t multiplier_baseline_count;
