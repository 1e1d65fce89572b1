/* sweep_member.h — writes the description of one member of a sweep, so that the daemon can run the member as a job. */
#pragma once

#include "api/simulate.h"
#include "api/sweep/sweep_reduce.h"

/* A description and its sweep. */
typedef struct api_sweep {
    cJSON *tree;
    arena memory;
    sweep sweep;
} api_sweep;

/* Reads body[length], which must have the key `sweep`, and applies the assignments. `file` is the name of the input in
 * failure->text. Returns true, or fills *failure and returns false. */
bool api_sweep_open(api_sweep *out, const char *body, size_t length, const char *const *assignments,
                    size_t assignment_count, const api_limits *limits, size_t members_max, const char *file,
                    api_failure *failure);
void api_sweep_close(api_sweep *s);

/* Checks the description and its sweep, without deriving equations. Returns true, or false with *failure filled. */
bool api_sweep_check(const api_sweep *s, const api_limits *limits, api_failure *failure);

/* Returns the description of one member as text, which the caller frees, or NULL with *failure filled. `assignments` is
 * the JSON list of its overrides. */
char *api_sweep_member(const api_sweep *s, const char *assignments, size_t *length, api_failure *failure);
