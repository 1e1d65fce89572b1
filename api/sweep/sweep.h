/* sweep.h — reads the `sweep` of a description (section 10 of the format) and expands it into members.
 *
 * A member is the description without its sweep, with some values overridden, and with an output for each collected
 * expression. Members are numbered from 0. Random values depend only on seed, target and member. Therefore a
 * description has the same members on every machine. */
#pragma once

#include "api/json/reader.h"
#include "engine/base/text_buffer.h"

#include <stdint.h>

typedef enum sweep_mode { SWEEP_GRID, SWEEP_ZIP, SWEEP_RANDOM, SWEEP_LATIN_HYPERCUBE } sweep_mode;

/* The values of one target: a list or a range. */
typedef struct sweep_axis {
    const char *target;  /* such as "m", "theta.initial" or "theta.velocity" */
    const char **listed; /* numbers and expressions as text; NULL for a range */
    double from, to;
    size_t count;  /* number of listed values, or of points of a range; 0 for a range without `count` */
    size_t *order; /* Latin hypercube: the stratum of each member */
} sweep_axis;

typedef enum reduction { REDUCE_FINAL, REDUCE_MIN, REDUCE_MAX, REDUCE_MEAN } reduction;

/* One entry of `collect`: a number computed from the rows of each member. */
typedef struct sweep_collected {
    const char *name;       /* name of a column, or of the expression; NULL selects all columns */
    const char *expression; /* expression to add as an output; NULL if the column exists */
    reduction reduce;
} sweep_collected;

typedef struct sweep {
    sweep_mode mode;
    size_t count; /* number of members; 0 if the sweep has errors */
    uint64_t seed;
    sweep_axis *axes;
    size_t axis_count;
    sweep_collected *collect;
    size_t collect_count;
} sweep;

/* Reads a sweep into *out, allocated in the reader's arena. Adds an error if the sweep has more than `members_max`
 * members. If `members_max` is 0, the sweep is only checked. */
void sweep_read(json_reader *r, const cJSON *value, const char *pointer, size_t members_max, sweep *out);

/* Write the overrides of a member as a JSON list of "TARGET=VALUE", as text or as a tree. The caller deletes the tree
 * with cJSON_Delete. If memory could not be allocated, return false or NULL. */
bool sweep_assignments(const sweep *s, size_t member, text_buffer *out);
cJSON *sweep_assignments_json(const sweep *s, size_t member);

/* Sets *value to the number that the target has in a member. If the value is an expression, returns false. */
bool sweep_number(const sweep *s, size_t target, size_t member, double *value);

/* Changes the tree of a description to that of one member. If `assignments` is NULL, only adds the collected outputs.
 * The pointers of errors refer to the unchanged description. */
hamel_status sweep_apply(cJSON *tree, const sweep *s, const cJSON *assignments, hamel_error *error) HAMEL_CHECKED;

/* Writes the JSON Pointer of a collected expression to `place`, given the pointer of the output that evaluates the
 * expression. Returns false if the sweep did not add the output. */
bool sweep_collect_place(const sweep *s, const char *pointer, char *place, size_t size);

/* The kinds of objects, for the test that compares them with system.schema.json. */
extern const json_kind sweep_kind, sweep_range_kind, sweep_collect_kind;

/* Checks the key `sweep`, and stores the listed expressions in the field `alternatives` of the hamel_description. */
json_read_function read_sweep;

/* Adds an error for each target of the sweep that the description does not have. */
hamel_status sweep_check_targets(const cJSON *tree, hamel_error *error) HAMEL_CHECKED;
