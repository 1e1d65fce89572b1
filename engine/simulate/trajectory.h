/* trajectory.h — integration of one set of initial values. Evaluates projected states with accelerations, multipliers
 * and outputs, and applies the events between steps. */
#pragma once

#include "engine/dynamics/branch_change.h"
#include "engine/simulate/events.h"
#include "engine/simulate/roots.h"
#include "engine/simulate/time_integrals.h"

struct trajectory {
    const hamel_model *model;
    dynamics *dynamics; /* all arrays of the trajectory are in its arena */
    integrator *integrator;
    roots *roots;            /* NULL if there are no events or branches */
    stick_slip *stick_slip;  /* NULL if no contact can stick */
    branch_change *branches; /* NULL if no change of branch can make velocities jump */
    events events;
    sensitivities *sensitivities; /* NULL if not requested */
    dynamics_memory recalled;     /* history of evaluations (dynamics_remember) after the last step */

    /* The state evaluated last, after projection onto the constraints. */
    double t, *q, *v;           /* q and v are one array of length 2n */
    double *a, *lambda, *free;  /* a[n]: q''; lambda[m]; free[2n]: result of dynamics_free_accelerations */
    double *observed;           /* values of the observation program */
    time_integrals integrals;   /* integrals over time, up to the start of the last step or to a later event */
    double *integral;           /* integral_count: values of these integrals at t */
    double *integrand_work;     /* workspace of the program observation.integrands; NULL without integrals */
    double *kept;               /* 4n + 2m: copy of the state evaluated last, during the evaluation of integrands */
    double *unprojected;        /* 2n: q and v before the projection */
    bool has_dynamics;          /* true if the dynamics program was evaluated at this state */
    equation_residual residual; /* residual of the equations of motion when they were last verified */
    long verified_steps;        /* number of steps at that time */
    double work, event_work;    /* W, and the part of W that events have added */
    double **sensitive;         /* sensitivities, 2n for each input */
    double *derivatives;        /* derivative columns of an output row */
    double *fastest;            /* n: largest |q'| at which the energy tolerance has been evaluated */
    double *end;                /* 2n: scratch for the state at the end of a step */
    double *before, *after;     /* output rows before and after an event */

    /* The state from which the integrator was started last. */
    double start_t, start_work, *start_q, *start_v, **start_sensitive;

    /* Events. */
    bool event_pending; /* whether an event is within the last step, at roots->t */
    bool chained;       /* whether the event that has just happened caused the pending event */
    long branch_changes;
    bool *closing;                          /* per event: whether its contact closes at the current time */
    int32_t turned;                         /* the first constraint whose gradient has jumped, or −1 */
    double turned_at, turned_energy;        /* time at which that gradient jumped, and the change of energy */
    long unordered;                         /* number of times at which the order of impacts matters */
    double unordered_first, unordered_last; /* first and last time at which the order matters */
    size_t unordered_events[2];             /* two events whose order matters at unordered_first */
};
typedef struct trajectory trajectory;

/* Allocates workspaces and copies the specified initial state, which need not be consistent. Returns HAMEL_NO_MEMORY,
 * with an error, if out of memory. Call trajectory_free even after a failure. */
hamel_status trajectory_create(trajectory *l, const hamel_model *model, hamel_error *error) HAMEL_CHECKED;
void trajectory_free(trajectory *l);

/* Computes the sensitivities of the consistent initial state in q, v. Does nothing if sensitivities are not
 * requested. */
hamel_status trajectory_start_sensitivities(trajectory *l, hamel_error *error) HAMEL_CHECKED;

/* Starts the integration from the consistent state in q, v. Call trajectory_evaluate first. */
hamel_status trajectory_start(trajectory *l, const integrator_options *options, hamel_error *error) HAMEL_CHECKED;

/* Evaluates the state at a time within the last step or, before trajectory_start, the state in q, v. Interpolates and
 * projects the state, solves for accelerations and multipliers, and evaluates outputs. Returns HAMEL_INCOMPATIBLE if no
 * state that satisfies the constraints is found, HAMEL_INTEGRATION at a singular configuration, or a status of the
 * dynamics or the integrator. */
hamel_status trajectory_evaluate(trajectory *l, double t, hamel_error *error) HAMEL_CHECKED;
/* Evaluates the state for a row or check, as trajectory_evaluate does. Verifies the equations of motion once after each
 * step: the states of a step differ little. At other states, accelerations and multipliers are computed only if
 * outputs, events or sensitivities use them. */
hamel_status trajectory_visit(trajectory *l, double t, hamel_error *error) HAMEL_CHECKED;

/* Takes one step of the integrator and searches the step for events. Returns the same statuses as integrator_step. */
hamel_status trajectory_step(trajectory *l, hamel_error *error) HAMEL_CHECKED;

/* Searches the integrator's last step for events. trajectory_step calls this function. */
hamel_status trajectory_search_step(trajectory *l, hamel_error *error) HAMEL_CHECKED;

/* Returns the time up to which states can be evaluated. If there is an event in the last step, returns the time of the
 * event; call trajectory_apply_events before the next step. */
double trajectory_reach(const trajectory *l);

/* Applies the pending events one after the other, evaluates the state after the last one, and restarts the integrator.
 * `report` (may be NULL) is called for each event of the description. If `report` returns false, returns HAMEL_CANCELED
 * without an error. Sets *terminated to true if an event ends the run. */
typedef bool trajectory_report(void *context, const hamel_event_record *record);
hamel_status trajectory_apply_events(trajectory *l, trajectory_report *report, void *context, bool *terminated,
                                     hamel_error *error) HAMEL_CHECKED;

/* Returns HAMEL_NOT_FINITE, with an error, if a check is not finite at the state evaluated last. trajectory_evaluate
 * itself tests only the checks that must hold at all times. */
hamel_status trajectory_require_check(const trajectory *l, size_t check, hamel_error *error) HAMEL_CHECKED;

/* Sets row[column_count] to the recorded columns at the state evaluated last. */
void trajectory_row(const trajectory *l, double *row);

/* Returns the energy tolerance at the state evaluated last. */
double trajectory_energy_tolerance(const trajectory *l);

/* Returns the energy tolerance at the end of the last step. The caller uses the maximum over all states. If no velocity
 * exceeds its previous maximum by a fifth, the tolerance cannot be much larger, and the function returns 0. */
double trajectory_energy_tolerance_of_step(trajectory *l);

static inline const double *trajectory_invariants(const trajectory *l) {
    return l->observed + l->model->observation.output_count;
}
static inline const double *trajectory_checks(const trajectory *l) {
    return trajectory_invariants(l) + l->model->observation.invariant_count;
}
static inline double trajectory_jacobi(const trajectory *l) {
    return l->observed[l->model->observation.count - 1];
}
