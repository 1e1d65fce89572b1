/* sweep.h — one description as many: the `sweep` of the format (section 10) expanded into members.
 *
 * A member is the description with its sweep taken out, some values overridden, and an output added for each collected
 * expression. Members are numbered from 0; the same description gives the same members everywhere: random values are a
 * function of seed, target and member alone. */
#ifndef HAMEL_API_SWEEP_H
#define HAMEL_API_SWEEP_H

#include "api/json_reader.h"
#include "engine/base/text_buffer.h"

#include <stdint.h>

typedef enum sweep_mode { SWEEP_GRID, SWEEP_ZIP, SWEEP_RANDOM, SWEEP_LATIN_HYPERCUBE } sweep_mode;

/* The values of one target: listed, or taken from a range. */
typedef struct sweep_axis {
    const char *target; /* "m", "theta.initial", "theta.velocity" */
    char **listed;      /* numbers and expressions as text; NULL: a range */
    double from, to;
    size_t count;  /* of the listed values, or of the points of the range; 0: a range without points */
    size_t *order; /* latin hypercube: the stratum of each member */
} sweep_axis;

typedef enum reduction { REDUCE_FINAL, REDUCE_MIN, REDUCE_MAX, REDUCE_MEAN } reduction;

/* What is kept of each member's rows. */
typedef struct sweep_collected {
    const char *name;       /* of a column, or of the expression; NULL: the last value of every column */
    const char *expression; /* becomes an output of this name; NULL: the column is there already */
    reduction reduce;
} sweep_collected;

typedef struct sweep {
    sweep_mode mode;
    size_t count; /* members; 0 when it is faulty */
    uint64_t seed;
    sweep_axis *axes;
    size_t axis_count;
    sweep_collected *collect;
    size_t collect_count;
} sweep;

/* Reads a sweep into `out`, in the reader's arena; `members_max` bounds its members; 0: only look for faults. Faults are
 * added to the reader's error. */
void sweep_read(json_reader *r, const cJSON *value, const char *pointer, size_t members_max, sweep *out);

/* The overrides of a member as a JSON list of "TARGET=VALUE". False without memory. */
bool sweep_assignments(const sweep *s, size_t member, text_buffer *out);

/* The number that a member gives a target. False for one that is an expression. */
bool sweep_number(const sweep *s, size_t target, size_t member, double *value);

/* Makes the tree of a description that of a member; without assignments: adds what is collected, and no more. Faults
 * carry pointers into the description as it was sent. */
hamel_status sweep_apply(cJSON *tree, const sweep *s, const cJSON *assignments, hamel_error *error) HAMEL_CHECKED;

/* The place in the sweep of what is collected under this pointer to an output, into place[size]. False: not collected. */
bool sweep_collect_place(const sweep *s, const char *pointer, char *place, size_t size);

extern const json_kind sweep_kind, sweep_range_kind, sweep_collect_kind; /* for the test of the schema */

/* A reader of the key `sweep` of a hamel_description, to which its listed expressions are alternatives. */
json_read_function read_sweep;

/* Adds a fault for each target that the description `tree`, whose sweep it is, does not have. */
hamel_status sweep_check_targets(const cJSON *tree, hamel_error *error) HAMEL_CHECKED;

#endif
