/* growth_vector.h — growth vector and derived flag of a group of constraints and of the whole system. */
#pragma once

#include "engine/analyze/derived_flag.h"

/* Ranks of the constraints of a group. */
typedef struct group_rank {
    size_t width, holonomic, velocity; /* length of a configuration; independent holonomic and velocity constraints */
    size_t integrable;                 /* integrable combinations of the velocity constraints */
    size_t first;                      /* number of directions that the first step of brackets adds */
    const sample *at;                  /* a state with these ranks */
    bool regional;                     /* whether `at` is on another branch than the initial state */
} group_rank;

typedef struct group_flags {
    flag_dimensions growth_vector, derived_flag; /* both as dimensions of distributions, not of forms */
    bool known, exact, timed;
} group_flags;

hamel_status flags_of_group(forms *f, const group_rank *g, group_flags *found) HAMEL_CHECKED;

/* Reports the sums of the groups' dimensions. If the dimensions of a group are unknown, reports no flags. */
hamel_status flags_report(analysis *a, const group_flags *parts, size_t count) HAMEL_CHECKED;
