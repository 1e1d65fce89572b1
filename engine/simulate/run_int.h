/* run_int.h — a run that is continued step by step, for run.c and for members in SIMD lanes, whose steps are taken by
 * members_vec8_steps.c. */
#pragma once

#include "engine/simulate/monitor.h"

/* Times of events that the trajectory `ahead` has passed and the other trajectory has not. */
typedef struct unmatched {
    double *times;
    size_t first, count, capacity;
    const trajectory *ahead;
} unmatched;

typedef struct run {
    const hamel_model *model;
    const hamel_run_options *options;
    const hamel_sink *sink;
    hamel_summary *summary;
    hamel_error *error;
    arena memory;
    trajectory main, certifier;
    monitor monitor;
    branch_check branch_check;
    double *row, *certified_row;
    double *singular_state; /* 2n: scratch */
    int singularities;      /* number of singular configurations detected so far */
    double last_singularity;
    size_t *timed_checks, timed_count; /* checks with a time, sorted by time */
    size_t next_row, next_check;
    double began, next_progress;
    double deadline;                       /* 0: no deadline */
    double target;                         /* the next time of a row or check */
    bool aimed, target_row;                /* whether `target` is not reached yet; whether a row is output there */
    double before;                         /* time of the last state before `target` */
    bool watched;                          /* whether states between rows are evaluated as well */
    bool terminated, certifier_terminated; /* whether an event has ended the trajectory */
    bool warned_of_turn;
    bool started; /* whether the run has begun */
    bool refused; /* whether the sink has returned false */
    unmatched events;
    bool no_memory; /* whether an allocation in a callback has failed */
} run;

/* Starts a run from zeros with `model`, `options`, `sink`, `summary`, `error`, `began`, `deadline` and `target` set.
 * Call run_end even after a failure. */
hamel_status run_begin(run *r) HAMEL_CHECKED;

/* Continues the run until it needs a step, or sets *done to true at its end. */
hamel_status run_continue(run *r, bool *done) HAMEL_CHECKED;

/* Takes one step, with a search for events and checks. run_search_step does the same after a step that SIMD lanes have
 * taken. */
hamel_status run_step(run *r) HAMEL_CHECKED;
hamel_status run_search_step(run *r) HAMEL_CHECKED;

/* Completes the summary of a run that has ended with `status`, and frees the memory of the run. Returns the status of
 * the run. */
hamel_status run_end(run *r, hamel_status status);
