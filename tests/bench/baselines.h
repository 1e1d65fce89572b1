/* baselines.h — hand-written right-hand sides of several small systems and one stiff system, for contest.h. */
#pragma once

#include "tests/bench/contest.h"

extern const baseline baselines[];
extern const size_t baseline_count;

/* Systems with more output rows than ROWS, for bench_limits. */
extern const baseline long_baselines[];
extern const size_t long_baseline_count;

/* Constrained systems of `baselines` whose hand-written equations use the coordinates of the description and multipliers. */
extern const baseline multiplier_baselines[];
extern const size_t multiplier_baseline_count;
