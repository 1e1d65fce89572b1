/* integrator.h — integration of the motion on the constraint manifold, with dense output, by the methods in methods/.
 *
 * The state is y = (q, w, W). w are the velocity variables of the formulation (engine/dynamics/variables.h), usually
 * q'. If the rate dh/dt of the Jacobi integral is not identically 0, W = ∫ dh/dt dt is integrated as well. The work
 * balance of the summary uses W, and error control of W shortens the steps if W varies while the motion does not.
 *
 * With Adams, the rate of the constraint stabilization follows the step size. The drift then stays near the tolerance
 * without restarts. All other methods project each step. `auto` starts with the Runge–Kutta method, or with Adams if
 * there are sensitivities, and changes to BDF if the system is stiff. Near singular configurations collocation replaces
 * every method, with velocities as states, until the constraints are regular again (singularity/singularity.h). If
 * collocation fails or is not available, `auto` changes to Adams, and to BDF if the steps keep shrinking. An integrator
 * belongs to one thread. */
#pragma once

#include "engine/sensitivity/sensitivities.h"
#include "engine/simulate/integrator_control.h"
#include "engine/simulate/methods/newton_solver.h"
#include "engine/simulate/methods/stepper.h"
#include "engine/simulate/singularity/singularity.h"

typedef struct integrator_options {
    double tolerance_factor; /* factor on rtol and atol: 1, or 0.1 for the certifying trajectory */
    hamel_poll *poll;
    double deadline;                      /* time of CLOCK_MONOTONIC in seconds; 0 if there is no deadline */
    sensitivities *sensitivities;         /* borrowed; NULL without sensitivities */
    const double *const *start_sensitive; /* sensitivities of the initial state */
} integrator_options;

/* Code outside the integrator and singularity/ reads `t`, `previous`, `steps`, `velocity`, `near_singularity`,
 * `suspended` and `least_margin` only. members_vec8_events.c copies the state between integrators and SIMD lanes. */
struct integrator {
    const hamel_model *model;
    dynamics *dynamics;
    integrator_options options;
    double t, previous; /* t: end of the last step; previous: its start */
    long steps;         /* number of steps since integrator_create */
    double *y, *dense;  /* y: state after the last step; dense: scratch for dense output */
    double *velocity;   /* n: q' at the state evaluated last */

    /* The current method. */
    const stepper_kind *kind;
    stepper *stepper;
    stepper_problem problem;
    arena method_memory;   /* memory of the stepper and the Newton solver */
    newton_solver *newton; /* BDF only */
    stepper_counts before; /* counts of the previous methods */
    unsigned used;         /* USED_ bits of the methods used so far */
    bool may_change;
    double safety;       /* factor on tolerances */
    double rtol;         /* relative tolerance times atol_factor, at least RTOL_LEAST */
    double atol_factor;  /* factor on all tolerances: `safety` times the factor of the options */
    double alpha, beta;  /* current stabilization constants */
    double forward_rate; /* separate stabilization rate of the sensitivities, or 0 */
    long since_start;    /* number of steps since the method started */
    long tiny_steps;     /* number of consecutive steps shorter than INSTANT */
    shrinking_steps shrinking;
    stiffness_window window;
    long failed_evaluations; /* number of evaluations that were not finite and therefore do not indicate stiffness */

    /* The integrated state. */
    forward *forward; /* NULL without sensitivities */
    variables *variables;
    bool plain;            /* whether w = q' */
    size_t n, state_count; /* n: length of q; state_count: length of (q, w) */
    double *atol;          /* length state_count: absolute tolerances of (q, w) */
    double *scratch;       /* length 2n, for projections */
    double *acceleration, *lambda;
    double *wanted_lambda; /* the array lambda, or NULL if the right-hand side does not need multipliers */
    double start_energy;   /* largest energy tolerance at any start or restart */
    double most_work;      /* largest |W| so far */

    /* The last failed evaluation, for the error message. */
    hamel_status failure;
    double failed_t, *failed_state;
    bool canceled, timed_out;
    bool evaluating_dense; /* whether dense output, which must not be canceled, is being evaluated */

    /* Singular configurations. */
    const stepper_kind *suspended; /* method that collocation replaces; NULL if collocation is not in use */
    double suspended_safety, suspended_step;
    long collocation_steps;  /* number of steps since collocation started */
    bool collocation_failed; /* if true, collocation is not tried again until the constraints are regular */
    singular_state singular; /* interpolated state */
    double margin;           /* rank margin (kkt_margin) at the last evaluation */
    double least_margin;     /* smallest rank margin in the last step */
    double largest_margin;   /* largest rank margin since the last start or restart */
    size_t rank;             /* largest number of independent constraints since the last start or restart */
    double start_margin;     /* rank margin at the start of the last step */
    double margin_slope;     /* absolute rate of change of the rank margin in the last step */
    double margin_drop;      /* decrease of the rank margin in the last step */
    double regular_step;     /* largest length of recent steps without a nearly singular state; 0 initially */
    bool near_singularity;   /* whether the last step may contain a singular configuration */
    bool too_near;           /* whether a stage was too inaccurate for its distance from a singular configuration */
};
typedef struct integrator integrator;

/* Creates an integrator in the arena of `k` and starts it from the consistent state (q, v) at settings.start. `k` is
 * borrowed. On failure sets *out to NULL. If the failure is not a cancellation, also adds an error. */
hamel_status integrator_create(integrator **out, dynamics *k, const double *q, const double *v,
                               const integrator_options *options, hamel_error *error) HAMEL_CHECKED;
void integrator_free(integrator *w); /* frees resources outside the arena; does nothing for NULL */

/* Takes one internal step. Returns HAMEL_CANCELED without an error if canceled or past the deadline. On failure returns
 * HAMEL_NOT_FINITE, HAMEL_SINGULAR, HAMEL_INCOMPATIBLE, HAMEL_INTEGRATION or HAMEL_NO_MEMORY, with an error that
 * contains time and cause. */
hamel_status integrator_step(integrator *w, hamel_error *error) HAMEL_CHECKED;

/* Restarts from the state (q, v) at time t with W = work. Order and step size are chosen again. The state may have
 * jumped, and the discrete state of the dynamics may have changed. `sensitive` are the sensitivities of the state, or
 * NULL. `step` is the first step to try; 0 lets the method choose it. Returns the same statuses as integrator_step. */
hamel_status integrator_restart(integrator *w, double t, const double *q, const double *v,
                                const double *const *sensitive, double work, double step,
                                hamel_error *error) HAMEL_CHECKED;

/* Bounds the size of all further steps, in addition to max_step. Returns false if the method rejects the bound. */
bool integrator_limit_step(integrator *w, double most) HAMEL_CHECKED;

/* Returns the smallest rtol that the current method uses. With a smaller rtol, rounding errors would exceed the
 * truncation errors of shorter steps. */
double integrator_least_rtol(const integrator *w);

/* Calls the poll function of the options. Returns true if the run is canceled or past its deadline. Loops without
 * another bound must call this function. */
bool integrator_stopped(integrator *w);

/* Interpolates q[n], v[n] and *work = W at a time within the last step. Before the first step t must be the start
 * time. */
hamel_status integrator_interpolate(integrator *w, double t, double *q, double *v, double *work,
                                    hamel_error *error) HAMEL_CHECKED;

/* Sets `s` to the sensitivities at a time within the last step. */
hamel_status integrator_interpolate_sensitivities(integrator *w, double t, double *const *s,
                                                  hamel_error *error) HAMEL_CHECKED;

/* Computes v[n] again from (t, q), the velocity variables of v, and the constant momenta of cyclic coordinates. These
 * momenta then remain exactly constant. */
hamel_status integrator_keep_constants(integrator *w, double t, const double *q, double *v,
                                       hamel_error *error) HAMEL_CHECKED;

/* Computes q' and w' of a state y at t, and the multipliers in w->lambda if they are needed. */
hamel_status integrator_evaluate(integrator *w, double t, const double *y, double *out,
                                 hamel_error *error) HAMEL_CHECKED;

stepper_counts integrator_count(const integrator *w);
const char *integrator_method(const integrator *w); /* methods used so far, such as "adams" or "adams, bdf" */

/* Functions of the stepper_problem; `user` is the integrator (integrator_rates.c). */
int integrator_rates(void *user, double t, const double *y, double *out);
int integrator_forward_rates(void *user, double t, const double *y, N_Vector *s, N_Vector *ds);
int integrator_project(void *user, double t, const double *y, double *c, double *error);
int integrator_weights(void *user, const double *y, double *weight);
