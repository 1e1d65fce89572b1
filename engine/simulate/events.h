/* events.h — effects of events on the state and the discrete state, at the times found by roots.h. */
#pragma once

#include "engine/sensitivity/sensitivities.h"
#include "engine/simulate/impact_record.h"
#include "engine/simulate/uncertainty.h"

enum { EVENTS_RECENT = 100 };

typedef struct roots roots;

typedef struct events {
    const hamel_model *model;
    dynamics *dynamics;
    uncertainty jumps; /* error bounds on the program `jumps`; its first outputs are rates of the root functions */
    double *values;    /* jump_count: outputs of the program `jumps` */
    double *bends, *bend_slack; /* jump_count each: `bends` and `bend_slack` of a motion_state (uncertainty.h) */
    double *before;             /* per event: rate of its root function before the events at the current time */
    impact_record *record;      /* report about the last event; NULL if no event has impulses or percussions */
    bool recording;             /* true if events_act fills `record` */
    double *scratch;            /* 2n + 2m numbers for impulses.c, then 3n + count for impact_order.c */
    bool *flags;                /* 2m + event count: m for impulses, the others for impact_order.c */
    double recent[EVENTS_RECENT];
    size_t count;             /* number of times at which events happened */
    double last;              /* time of the last event */
    size_t together;          /* number of events at `last` */
    const model_event *gains; /* first event whose restitution above 1 has added energy, or NULL */
    double gained_at;         /* time of that event */
    sensitivities *sensitivities;
    double *const *sensitive;
} events;

/* Returns false if out of memory. Events update `s` and `sensitive` (borrowed); both are NULL if there are no
 * sensitivities. */
bool events_create(events *e, arena *memory, dynamics *k, sensitivities *s, double *const *sensitive);

/* Evaluates rates and assignments at a state; at->rates is ignored. */
void events_evaluate(events *e, const motion_state *at);

/* Sets e->bends and e->bend_slack at a state. If the second rate of a root function is unknown, both entries are 0.
 * at->rates is ignored. */
void events_bend(events *e, const motion_state *at);

/* Applies event i to (q, v) and to the discrete state of the dynamics: deactivates constraints, sets values, applies
 * impulses and percussions, then activates constraints. Call events_evaluate first. Fills `record` if `recording` is
 * true. Adds an error in these cases:
 *   - an assigned value, a restitution or a percussion is not finite, or a restitution is negative
 *   - the assigned values violate an active constraint, or the state violates a constraint that the event activates
 *   - the active constraints prevent the change of velocities that an impulse requires
 *   - impulses add energy although no restitution is above 1 and the event has no percussions */
hamel_status events_act(events *e, size_t i, double t, double *q, double *v, hamel_error *error) HAMEL_CHECKED;

/* impulses.c: adds to v[n] the changes of the velocities that the impulses and percussions of an event cause. Adds the
 * errors about impulses and percussions that are listed at events_act. */
hamel_status impulses_apply(events *e, const model_event *event, double t, const double *q, double *v,
                            hamel_error *error) HAMEL_CHECKED;

/* Records that root function i passed zero at t. If i is not less than the number of events, the root belongs to a
 * nonsmooth operator. If roots are so frequent that the run would not end (Zeno), returns HAMEL_INTEGRATION with an
 * error. */
hamel_status events_note(events *e, size_t i, double t, hamel_error *error) HAMEL_CHECKED;

/* Adds the error that event i happened at `since` and again at t, an interval that is too short to be resolved. */
hamel_status events_fail_zeno(const events *e, size_t i, double since, double t, hamel_error *error);

/* Follows the impacts of the contacts with closing[event] = true, at least two, until no contact approaches. Does this
 * in the order of declaration, and again in the reverse order. Sets *matters to true if the final velocities of the two
 * orders differ by more than the tolerances. State, discrete state and sensitivities do not change, but the dynamics
 * have evaluated other states. Returns HAMEL_OK, or HAMEL_NO_MEMORY with an error. Defined in impact_order.c. */
hamel_status impact_order_matters(const events *e, const roots *w, const motion_state *at, const bool *closing,
                                  bool *matters, hamel_error *error) HAMEL_CHECKED;
