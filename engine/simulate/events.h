/* events.h — what happens at the instants that roots.h finds. */
#ifndef HAMEL_SIMULATE_EVENTS_H
#define HAMEL_SIMULATE_EVENTS_H

#include "engine/simulate/uncertainty.h"
#include "engine/solve/sensitivities.h"

enum { EVENTS_RECENT = 100 };

/* Of one lane. */
typedef struct events {
    const hamel_model *model;
    kinetics *kinetics;
    uncertainty jumps; /* of the model's `jumps`; its first outputs are the rates of the roots */
    double *values;    /* its outputs; behind them in one block */
    double *bends, *bend_slack, *before, *impulses;
    double recent[EVENTS_RECENT];
    double count;             /* instants at which an event happened */
    double instant;           /* the last of them, and */
    double together;          /* number of events there */
    const model_event *gains; /* the first whose restitution, above 1, has added energy; and when */
    double gained_at;
    sensitivities *along;
    double *const *s;
} events;

/* False without memory. The sensitivities s (NULL, NULL: none) are carried along; borrowed. */
bool events_create(events *e, const hamel_model *model, kinetics *k, sensitivities *along, double *const *s);
void events_free(events *e);

/* Evaluates rates and assignments at a state with its accelerations, multipliers and free accelerations. */
void events_evaluate(events *e, double t, const double *q, const double *v, const double *a, const double *lambda,
                     const double *free);

/* The second rates of the roots there, 0 where they are not known, and how large they may be by the tolerances alone: to
 * `bends` and `bend_slack`. */
void events_bend(events *e, double t, const double *q, const double *v, const double *a, const double *lambda,
                 const double *free);

/* Makes event i happen to (q, v) and to the mode of the kinetics. In this order: constraints are deactivated, values set,
 * the impulse strikes, constraints are activated; what is assigned has been evaluated before. Faults: a value or a
 * restitution that is not finite, values that miss a constraint, an activation that finds positions or velocities
 * elsewhere. The multipliers of its impulses are in `impulses`. Impulses that add
 * energy although no restitution is above 1 are a fault, too. */
hamel_status events_act(events *e, size_t i, double t, double *q, double *v, hamel_error *error) HAMEL_CHECKED;

/* Notes that root i, an event or a switch behind all events, passed at t. HAMEL_INTEGRATION, with a fault, when so many happen in so short a time that no end is
 * in sight (Zeno). */
hamel_status events_note(events *e, size_t i, double t, hamel_error *error) HAMEL_CHECKED;

/* The fault where event i, which happened at `since`, would happen again at t, too soon to be resolved. */
hamel_status events_fail_zeno(const events *e, size_t i, double since, double t, hamel_error *error);

#endif
