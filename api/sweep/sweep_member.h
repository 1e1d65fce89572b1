/* member.h — a member of a sweep as a description of its own, and what is collected of its run: what the daemon needs
 * to run one. */
#ifndef HAMEL_API_MEMBER_H
#define HAMEL_API_MEMBER_H

#include "api/collect.h"
#include "api/simulate.h"

/* A description with a sweep, read. */
typedef struct api_sweep {
    cJSON *tree;
    arena memory;
    sweep sweep;
} api_sweep;

/* Reads body[length], whose key `sweep` must be there, with these "NAME=VALUE" applied to it. `file` names it in
 * failure->text. False with *failure filled. */
bool api_sweep_open(api_sweep *out, const char *body, size_t length, const char *const *assignments,
                    size_t assignment_count, const api_limits *limits, size_t members_max, const char *file,
                    api_failure *failure);
void api_sweep_close(api_sweep *s);

/* Looks for faults of the description with its sweep before any member is made, as far as they show without deriving
 * equations. False with *failure filled. */
bool api_sweep_check(const api_sweep *s, const api_limits *limits, api_failure *failure);

/* The description of the member with these overrides (JSON list) as text; free() it. NULL with *failure filled. */
char *api_sweep_member(const api_sweep *s, const char *assignments, size_t *length, api_failure *failure);

#endif
