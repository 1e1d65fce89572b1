/* baselines.h — hand-written right-hand sides of small systems, and of a stiff one, for contests (contest.h). */
#pragma once

#include "tests/bench/contest.h"

extern const baseline baselines[];
extern const size_t baseline_count;

/* The systems with constraints, also hand-written in hamel's coordinates with multipliers. */
extern const baseline multiplier_baselines[];
extern const size_t multiplier_baseline_count;
