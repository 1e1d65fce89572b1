/* impulses.h — constraints, unknowns and theorems for the impulses of each event in a description. */
#pragma once

#include "engine/hamel.h"

/* A constraint that acts during the impulses of an event when the event happens for the first time. Other events may
 * activate or deactivate the constraint before the event, so the constraint may have two types
 * (engine/simulate/impact.h). */
typedef struct hamel_shock_constraint {
    const char *name; /* name of the constraint, or the equation of an impulse as written in the description */
    /* types[0] to types[type_count − 1] are possible; of two types, the first holds if the constraint is inactive
     * before the event */
    int types[2];
    size_t type_count;
    bool certain; /* true if the constraint acts in any case; false if it acts only if it is active before the event */
} hamel_shock_constraint;

/* A theorem whose hypotheses the description rules out, and the reason. */
typedef struct hamel_shock_theorem {
    const char *name, *reason;
} hamel_shock_theorem;

/* The counts assume that every constraint whose activity depends on other events is inactive before the event. Each
 * active constraint that is not in `impulse` adds one unknown impulse and one equation. Redundant constraints are
 * included in the counts. */
typedef struct hamel_shock {
    const char *event;
    size_t percussion_count;
    const hamel_shock_constraint *constraints;
    size_t constraint_count;
    size_t velocities, impulses, equations; /* numbers of unknown velocities, unknown impulses and equations */
    hamel_names theorems;                   /* theorems whose hypotheses the description does not rule out */
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
