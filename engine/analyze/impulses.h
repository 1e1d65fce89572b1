/* impulses.h — the problems of impulsive motion that the events of a description pose. */
#pragma once

#include "engine/hamel.h"

/* A constraint that acts during the impulses of an event when the event happens for the first time. Other events may activate or deactivate the constraint before
 * the event, so it may have two types (engine/simulate/impact.h). */
typedef struct hamel_shock_constraint {
    const char *name; /* of the constraint, or the equation of an impulse as in the description */
    int types[2];     /* type_count possible types; the first is that of a constraint that does not act before */
    size_t type_count;
    bool certain; /* false if the constraint takes part only if it is active when the event happens */
} hamel_shock_constraint;

/* A theorem that does not apply to the event, and the reason. */
typedef struct hamel_shock_theorem {
    const char *name, *reason;
} hamel_shock_theorem;

/* The counts refer to the case in which every constraint whose activity depends on other events is inactive before the
 * event. Each active constraint that is not in `impulse` adds one unknown impulse and one equation. Redundant
 * constraints are counted like others. */
typedef struct hamel_shock {
    const char *event;
    size_t percussion_count;
    const hamel_shock_constraint *constraints;
    size_t constraint_count;
    size_t velocities, impulses, equations; /* unknown velocities, unknown impulses, equations */
    hamel_names theorems;                   /* theorems that the description does not exclude */
    const hamel_shock_theorem *excluded;
    size_t excluded_count;
} hamel_shock;

typedef struct hamel_shocks {
    hamel_shock *items; /* the events with impulses or percussions, in the order of the description */
    size_t count;
} hamel_shocks;

/* Lists the events of `d` that have impulses or percussions. The arguments are as for hamel_find_forces. On success the
 * caller owns *out and frees it with hamel_shocks_free. */
hamel_status hamel_find_shocks(hamel_shocks **out, const hamel_description *d, const hamel_limits *limits,
                               hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_shocks_free(hamel_shocks *shocks);
