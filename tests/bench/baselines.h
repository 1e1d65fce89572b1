/* baselines.h — small systems, and a stiff one, for contests (contest.h). */
#pragma once

#include "tests/bench/contest.h"

extern const baseline baselines[];
extern const size_t baseline_count;

/* The systems with constraints again, hand-written in hamel's coordinates. */
extern const baseline multiplier_baselines[];
extern const size_t multiplier_baseline_count;
