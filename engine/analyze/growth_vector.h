/* growth.h — growth vector and derived flag of a group of constraints, and of the system that the groups make up. */
#ifndef HAMEL_ANALYZE_GROWTH_H
#define HAMEL_ANALYZE_GROWTH_H

#include "engine/analyze/flag.h"

/* What is known of a group from ranks alone. */
typedef struct group_rank {
    size_t width, holonomic, velocity; /* of a configuration; independent constraints */
    size_t integrable;                 /* combinations of the latter */
    size_t first;                      /* directions that one step of brackets adds */
    const sample *at;                  /* where the ranks are these */
    bool regional;                     /* there alone, as far as is known: on another branch than the start's */
} group_rank;

typedef struct group_growth {
    flag_growth growth, derived; /* dimensions of distributions, of both flags */
    bool known, exact, timed;
} group_growth;

hamel_status growth_of_group(forms *f, const group_rank *g, group_growth *found) HAMEL_CHECKED;

/* Adds the groups' up in the report; leaves it without flags when one is not known. */
hamel_status growth_report(analysis *a, const group_growth *parts, size_t count) HAMEL_CHECKED;

#endif
