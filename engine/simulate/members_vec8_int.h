/* members_vec8_int.h — the state of eight SIMD lanes, for members_vec8.c (creation, the loop, ends of members),
 * members_vec8_start.c (starts), members_vec8_visit.c (rows and checks), members_vec8_steps.c (steps) and
 * members_vec8_events.c (members with events). */
#pragma once

#include "engine/dynamics/dynamics_vec8.h"
#include "engine/simulate/integrator_control.h"
#include "engine/simulate/members_vec8.h"
#include "engine/simulate/methods/dop853_vec8.h"

typedef struct lane_run lane_run; /* run of a member with events (members_vec8_events.c) */

/* State of one SIMD lane. */
typedef struct lane {
    bool taken;
    lane_run *run; /* NULL if the model has no events */
    size_t member, next_row, next_check;
    double began;            /* time of the clock at the start */
    double visited;          /* time of the state evaluated last */
    long rhs, projections;   /* evaluations of the rates; projections of steps */
    long tiny_steps;         /* consecutive tiny steps */
    long since_start;        /* steps since the integration was started or restarted */
    stiffness_window counts; /* steps so far, and how many of them indicate stiffness */
    stiffness_window window; /* counts at the start of a stiffness window */
    shrinking_steps shrinking;
    double last, next_h;            /* length of the last step, 0 initially; length to try next */
    bool rejected;                  /* whether the last try was rejected */
    double start_energy, most_work; /* energy tolerance at the start; largest |W| so far */
    double energy;                  /* energy at the start; NAN before the first state */
    double event_work;              /* part of W that events have added */
    double imbalance, tolerance;    /* largest error of the work balance; largest energy tolerance */
    bool near;                      /* whether the last step may contain a singular configuration */
    double margin, margin_slope;    /* rank margin at the start of the step; |its change| per time in the last step */
    double regular_step;            /* length of the last step without a nearly singular state */
    double *given, *used;           /* 2n each: initial values of the description and of the run */
    double initial_residual;
    hamel_residual *residuals; /* per named constraint: largest residuals of rows */
} lane;

typedef struct vec8_run {
    const hamel_model *model;
    const hamel_variation *variation;
    const model_settings *settings;
    const hamel_members_options *options;
    const hamel_members_sink *sink;
    const double *values;
    size_t count, next; /* number of members; the next member to start */
    bool *left;
    hamel_header header;
    hamel_summary summary; /* of a completed member */
    variation_member member;
    dynamics_vec8 *dynamics;
    struct dynamics *starter; /* finds consistent initial values; NULL without constraints */
    dop853_vec8 steps;        /* of (q, q', W); W only if the model has an energy rate */
    lane lanes[VEC8_SIZE];
    /* rank margins: smallest since lanes_reset, smallest in the step, largest since the start */
    vec8 margin, least_margin, largest_margin;
    arena memory;                 /* memory of the next arrays and of the arrays of the lanes */
    double rtol, *atol;           /* 2n: tolerances with the method's factor */
    double *check_times;          /* times of checks, sorted */
    double *row;                  /* a row */
    double *q, *v;                /* n each: a state of one lane */
    hamel_initial_value *changes; /* 2n: changed initial values of one lane */
    size_t check_count;           /* number of check_times */
    double longest;               /* upper bound on steps; INFINITY: no bound */
    bool watched;                 /* whether states at the ends of steps are evaluated */
    vec8 *roots;                  /* samples of the root functions; NULL without events */
    double *root_values;          /* samples of one lane */
    vec8 *vectors;                /* memory of the arrays in `steps` and of the next three arrays */
    vec8 *state;                  /* length: state that is evaluated */
    vec8 *acceleration;           /* n: accelerations of that state */
    vec8 *weights;                /* length: error weights at the start of the step */
} vec8_run;

static inline bool lane_is_good(const vec8_run *a, int k) {
    return a->dynamics->good[k] != 0;
}

/* Ends the run of a lane, whose result is not used. Does nothing for NULL. */
void lane_run_drop(lane_run *l);

/* Ends a member in its lane. hamel_members reruns the member alone. */
static inline void lane_give_up(vec8_run *a, int k) {
    a->left[a->lanes[k].member] = true;
    a->lanes[k].taken = false;
    a->steps.h[k] = 0;
    lane_run_drop(a->lanes[k].run);
}

/* Sets *bits to the taken lanes in `which`. */
static inline void lanes_bits(const vec8_run *a, const bool *which, vec8_bits *bits) {
    vec8_bits found = {0};
    for (int k = 0; k < VEC8_SIZE; k++)
        if (which[k] && a->lanes[k].taken) found[k] = ~(uint64_t)0;
    *bits = found;
}

/* Call before evaluations. */
static inline void lanes_reset(vec8_run *a) {
    dynamics_vec8_reset(a->dynamics);
    for (int k = 0; k < VEC8_SIZE; k++) a->margin[k] = 1;
}

/* --- members_vec8_visit.c ----------------------------------------------------------------------------------------- */

/* Returns the time of the next row or check, or the stop after all of them; INFINITY after the stop. */
double lane_next_visit(const vec8_run *a, const lane *p);

/* Moves the states of the lanes `which` in a->state at *t onto the constraints. Evaluates all states and their outputs.
 * Lanes at the start, with events or near a singular configuration are not `regular` (solve_motion in trajectory.c). */
void lanes_evaluate(vec8_run *a, const vec8_bits *which, const vec8_bits *regular, const vec8 *t);

/* Copies the state of a lane evaluated last to a->q and a->v, and the values of its dynamics program to
 * a->dynamics->lane_values. */
void lane_select(vec8_run *a, int k);

/* Returns the energy tolerance of the state selected last. */
double lane_energy_tolerance(const vec8_run *a, double energy);

/* Computes the continuous extension of the steps that end at `until`. Sets *good to the lanes in which this
 * succeeds. */
void lanes_extend(vec8_run *a, const vec8 *until, vec8_bits *good);

/* Sets a->state to the states at the times t within the steps tried, which end at `until`. */
void lanes_interpolate(vec8_run *a, const vec8 *t, const vec8 *until, bool extended);

/* Evaluates the states of the lanes in `which` at their rows and checks in the steps tried, which end at `until`. If
 * `always`, a lane without rows or checks in its step is evaluated at the end. Returns false if the sink does. */
bool lanes_visit(vec8_run *a, const bool *which, const vec8 *until, bool always);

/* Samples the rank margins in the steps of the lanes in `which`, which end at `until`. Gives up the lanes in which a
 * singular configuration may be found (singularity_detect, branch_check_follow). */
void lanes_watch_singularities(vec8_run *a, const bool *which, const vec8 *until);

/* Handles the state of lane k evaluated last, with the rows and checks at its time. Returns false if the sink does. */
bool lane_visit(vec8_run *a, int k, double t);

/* --- members_vec8_start.c and members_vec8_steps.c ---------------------------------------------------------------- */

/* Starts members in free lanes, with their first rows. Returns false if the sink does. */
bool lanes_start(vec8_run *a);

/* Rates of `steps`; the context is the vec8_run. */
int lanes_rates(void *context, const vec8 *t, const vec8 *y, vec8 *dy);

/* Begins steps of the lanes `entered`, which are at the end of a step if `begun` and otherwise at a start. */
void lanes_begin(vec8_run *a, const bool *entered, const bool *begun);

/* Computes the first slopes and steps of the lanes that have started (find_first_step in runge_kutta.c). */
void lanes_find_first_steps(vec8_run *a, const bool *started);

/* Tries a step in each lane and visits the states in the accepted steps. Returns false if the sink does. */
bool lanes_step(vec8_run *a);

/* --- members_vec8_events.c ---------------------------------------------------------------------------------------- */

/* Create and free the runs of the lanes, if the model has events. lane_runs_create returns false if out of memory. */
bool lane_runs_create(vec8_run *a);
void lane_runs_free(vec8_run *a);

/* Starts runs in free lanes. Returns false if the sink does. */
bool lanes_start_runs(vec8_run *a);

/* Searches the steps of the lanes in `which`, which end at `until`, for events. Removes from `which` the lanes in which
 * the run has continued alone. Sets entered[k] if such a lane needs a step again, and begun[k] if it is not at a
 * restart. Returns false if the sink does. */
bool lanes_search(vec8_run *a, bool *which, const vec8 *until, bool *entered, bool *begun);

/* --- members_vec8.c ----------------------------------------------------------------------------------------------- */

/* Ends the completed member in lane k. Returns false if the sink does. */
bool lane_end(vec8_run *a, int k);
