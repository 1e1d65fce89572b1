/* events.h — effects of events on the state and the discrete state, at the times found by roots.h. */
#pragma once

#include "engine/sensitivity/sensitivities.h"
#include "engine/simulate/uncertainty.h"

enum { EVENTS_RECENT = 100 };

/* The events of one trajectory. */
typedef struct events {
    const hamel_model *model;
    dynamics *dynamics;
    uncertainty jumps; /* error bounds of the program `jumps`, whose first outputs are the rates of the roots */
    double *values;    /* jump_count: outputs of that program */
    double *bends, *bend_slack; /* jump_count each: events_bend */
    double *before;             /* per event: rate of its root function as it crosses zero */
    double *impulses;           /* m: multipliers of the impulses of the event applied last */
    double recent[EVENTS_RECENT];
    size_t count;             /* number of times at which events happened */
    double last;              /* the last of these times */
    size_t together;          /* number of events at that time */
    const model_event *gains; /* first event whose restitution above 1 has added energy; its time is gained_at */
    double gained_at;
    sensitivities *sensitivities;
    double *const *sensitive;
} events;

/* Returns false if out of memory. `s` and `sensitive` are borrowed and updated; both are NULL without sensitivities. */
bool events_create(events *e, arena *memory, const hamel_model *model, dynamics *k, sensitivities *s,
                   double *const *sensitive);

/* Evaluates rates and assignments at a state with its accelerations, multipliers and free accelerations. */
void events_evaluate(events *e, double t, const double *q, const double *v, const double *a, const double *lambda,
                     const double *free);

/* Sets `bends` to the second rates of the roots at this state (0 if unknown), and `bend_slack` to the second rates that the
 * tolerances alone may cause. */
void events_bend(events *e, double t, const double *q, const double *v, const double *a, const double *lambda,
                 const double *free);

/* Applies event i to (q, v) and to the discrete state of the dynamics: deactivates constraints, sets values, applies impulses,
 * then activates constraints. Call events_evaluate before. Writes the multipliers of the impulses to `impulses`. Adds an
 * error if a value or a restitution is not finite, if set values violate a constraint, if the state violates an activated
 * constraint, or if impulses add energy although no restitution is above 1. */
hamel_status events_act(events *e, size_t i, double t, double *q, double *v, hamel_error *error) HAMEL_CHECKED;

/* Records that root i passed at t; indices from the number of events on are branches. Returns HAMEL_INTEGRATION, with an
 * error, if too many roots pass in too short a time (Zeno). */
hamel_status events_note(events *e, size_t i, double t, hamel_error *error) HAMEL_CHECKED;

/* Adds the error that event i, which happened at `since`, would happen again at t, too soon to be resolved. */
hamel_status events_fail_zeno(const events *e, size_t i, double since, double t, hamel_error *error);
