/* integrator.h — one step at a time, on the constraint manifold, with dense output, by a stepper (stepper.h).
 *
 * State y = (q, w, W): w are the velocity variables of the formulation (engine/solve/variables.h), q' for most. W = ∫
 * dh/dt dt is carried along, when the rate of the Jacobi integral is not identically 0, and bounds steps where it
 * varies and the motion does not; the work balance of the summary comes from it.
 *
 * With Adams constrained systems carry a gentle stabilization whose rate follows the step size, so that the drift stays
 * at the size of the tolerance without restarts; BDF and the Runge–Kutta method project. `auto` starts with the
 * Runge–Kutta method, or with Adams where that is the faster one or the only one; it goes to BDF when stiffness shows.
 * Near dependent constraints every method gives way to collocation (collocation.c), with velocities as states, until
 * they are apart again. If collocation fails or cannot be used, `auto` changes to Adams there, and to BDF when steps
 * become ever shorter. One owner, one thread. */
#ifndef HAMEL_SIMULATE_INTEGRATOR_H
#define HAMEL_SIMULATE_INTEGRATOR_H

#include "engine/simulate/across.h"
#include "engine/solve/sensitivities.h"

typedef struct integrator integrator;

typedef struct integrator_options {
    double tolerance_factor; /* on rtol and atol: 1, or 0.1 to certify */
    hamel_poll *poll;
    double deadline;                  /* of CLOCK_MONOTONIC, seconds; 0: none */
    sensitivities *sensitivities;     /* NULL: none; borrowed */
    const double *const *start_along; /* those of the state at the start */
} integrator_options;

typedef struct integrator_counts {
    double steps, rhs, jacobians, projections;
} integrator_counts;

/* Starts at the consistent state (q, v) at settings.start. `k` is borrowed. NULL with a fault added. */
integrator *integrator_create(const hamel_model *model, kinetics *k, const double *q, const double *v,
                              const integrator_options *options, hamel_error *error);
void integrator_free(integrator *w);

/* One internal step. HAMEL_OK; HAMEL_CANCELED (flag, or deadline: see integrator_timed_out); HAMEL_NOT_FINITE,
 * HAMEL_SINGULAR, HAMEL_INCOMPATIBLE, HAMEL_INTEGRATION with a fault that says where and why. */
hamel_status integrator_step(integrator *w, hamel_error *error);

/* Goes on from the state (q, v) at time t with W = work, as from the start: order and step are found anew, the state may
 * have jumped and the mode of `k` may be another. `along`: the sensitivities there, where there are any. `step`: the
 * first step to try; 0: one is found. */
hamel_status integrator_restart(integrator *w, double t, const double *q, const double *v, const double *const *along,
                                double work, double step, hamel_error *error);

/* Takes no longer steps from now on, nor than the settings say. False when the solver refuses. */
bool integrator_limit_step(integrator *w, double most);

/* Below this rtol the method in force takes no shorter steps: rounding would outweigh what they gain. */
double integrator_least_rtol(const integrator *w);

double integrator_time(const integrator *w);
/* Whether the last step met states at which the constraints are near to losing rank. */
bool integrator_beside_singularity(const integrator *w);
/* Whether the last step was one of the crossing method (collocation.c), which finds where constraints become dependent
 * itself, and takes no step on which the motion changes its branch. The instant in it; NAN: none. */
bool integrator_crosses(const integrator *w);
double integrator_instant(const integrator *w);
/* Of the state evaluated and solved for last, which is the one on the constraints nearest to (q, v) at t: *near says whether
 * it is so near to dependent constraints that rounding is felt; *found is then what it has to be replaced by, or NULL where
 * nothing can be found. HAMEL_INTEGRATION where velocities follow from other variables and are lost there. */
hamel_status integrator_see_across(integrator *w, double t, const double *q, const double *v, bool *near,
                                   const across **found, hamel_error *error) HAMEL_CHECKED;
/* Least margin (kkt_margin) that the last step met, relative to the largest since the start. */
double integrator_margin(const integrator *w);
/* Adds to a fault what may pass states at which constraints become dependent. */
void integrator_suggest_passing(const integrator *w, hamel_error *error);
double integrator_previous_time(const integrator *w); /* start of the last step */
bool integrator_timed_out(const integrator *w);
bool integrator_stopped(integrator *w); /* looks: canceled, or too late; for loops that nothing else bounds */

/* The state at a time within the last step, or, before the first step after a start or restart, at that: q[n], v[n],
 * *work = W. */
hamel_status integrator_interpolate(integrator *w, double t, double *q, double *v, double *work,
                                    hamel_error *error) HAMEL_CHECKED;

/* s := the sensitivities at such a time. */
hamel_status integrator_interpolate_sensitivities(integrator *w, double t, double *const *s,
                                                  hamel_error *error) HAMEL_CHECKED;

/* v[n] := the velocities at (t, q) that have the w of (t, q, v): what the variables keep constant is so at q, too. */
hamel_status integrator_keep_constants(integrator *w, double t, const double *q, double *v,
                                       hamel_error *error) HAMEL_CHECKED;

integrator_counts integrator_count(const integrator *w);
/* n: velocities near those at the end of the last step: of the right-hand side evaluated last. */
const double *integrator_near_velocities(const integrator *w);
double integrator_steps(const integrator *w);       /* the same as in these counts, at less cost */
const char *integrator_method(const integrator *w); /* "adams"; "adams, bdf" after a change */

#endif
