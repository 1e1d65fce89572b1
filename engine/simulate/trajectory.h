/* lane.h — one integration and the view of it: states brought onto the manifold, with everything observed there. */
#ifndef HAMEL_SIMULATE_LANE_H
#define HAMEL_SIMULATE_LANE_H

#include "engine/simulate/events.h"
#include "engine/simulate/impact_order.h"
#include "engine/simulate/integrator.h"
#include "engine/simulate/roots.h"
#include "engine/solve/branch_change.h"

typedef struct lane {
    const hamel_model *model;
    kinetics *kinetics;
    integrator *integrator;
    roots *roots;          /* NULL: no events or branches to watch */
    sticking *sticking;    /* NULL: nothing sticks */
    branch_change *change; /* NULL: branches are a matter of forces only */
    int32_t turned; /* the first constraint that has turned at a jump of velocities, or −1; when, and its effect on h */
    double turned_at, turned_energy;
    events events;
    double switches;                              /* branches changed so far */
    bool due;                                     /* an event lies within the last step, at roots_time */
    double since, since_work, *since_q, *since_v; /* where the integrator was started */
    double t, *q, *v, *a, *lambda, *free;         /* the state seen last, projected */
    dynamics_missed missed;                       /* of the equations of motion there */
    double *given;                                /* 2n: q and v of it before they were projected */
    double work, gained;                          /* W there, and the part of it that events gave */
    double *fastest, *end;                        /* n: largest |q'| where that was looked at; 2n: scratch */
    double *observed;                             /* outputs, invariants, checks, h */
    double *before, *after;                       /* rows of a happening */
    sensitivities *sensitivities;                 /* NULL: none asked for */
    double **along, *derivatives;                 /* at the state seen last; and their columns */
    double **since_along;                         /* where the integrator was started */
    kinetics_memory memory;                       /* as the last step left it */
    bool *meeting;                                /* of events: contacts that close at the instant */
    /* Instants at which the order of impacts decides on the motion: how many, when, and two events of the first. */
    double disordered, disordered_first, disordered_last;
    size_t disordered_events[2];
    bool again; /* the pending event was caused by the event that has just happened */
} lane;

/* The sensitivities of the consistent state in q, v at the start, which was made of the model's; does nothing without. */
hamel_status lane_start_sensitivities(lane *l, hamel_error *error) HAMEL_CHECKED;

/* Starts the integration from the consistent state in q, v. */
hamel_status lane_start(lane *l, const integrator_options *options, hamel_error *error);

/* Makes workspaces and takes the given initial state, not consistent yet. False with a fault. */
bool lane_create(lane *l, const hamel_model *model, hamel_error *error);
void lane_free(lane *l);

/* Sees the state at a time that the last step covers, or (integrator NULL) the one in q, v: interpolated, projected onto
 * the constraints, accelerations and multipliers solved for, outputs evaluated. */
hamel_status lane_see(lane *l, double t, hamel_error *error);

/* Takes the integrator on by one step and looks for events in it. Statuses as of integrator_step. */
hamel_status lane_step(lane *l, hamel_error *error);

/* How far rows can be seen. When an event is due it lies there, and must happen before the lane goes on. */
double lane_reach(const lane *l);

/* Makes the events that are due happen, one after the other, and starts the integrator anew. `tell` (may be NULL) is
 * called for each one that the description names; when it returns false the status is HAMEL_CANCELED without a fault. The state after the
 * last one has been seen. *terminated when one of them ends the run. */
typedef bool lane_tell(void *context, const hamel_happening *happening);
hamel_status lane_happen(lane *l, lane_tell *tell, void *context, bool *terminated, hamel_error *error);

/* HAMEL_NOT_FINITE with a fault unless a check has a value at the state seen last. Of checks only those that always hold are
 * looked at when a state is seen. */
hamel_status lane_demand_check(const lane *l, size_t check, hamel_error *error) HAMEL_CHECKED;

/* The values of the recorded columns at the state seen last. */
void lane_row(const lane *l, double *row);

/* energy_tolerance at the state seen last. */
double lane_energy_tolerance(const lane *l);

/* The same at the end of the last step, for a peak that no row may show: 0 unless some velocity has become the largest of
 * its coordinate by a fifth. */
double lane_energy_tolerance_of_step(lane *l);

static inline const double *lane_invariants(const lane *l) {
    return l->observed + l->model->output_count;
}
static inline const double *lane_checks(const lane *l) {
    return lane_invariants(l) + l->model->invariant_count;
}
static inline double lane_jacobi(const lane *l) {
    return l->observed[l->model->observed_count - 1];
}

#endif
