/* integrator_int.h — what the files of the integrator share.
 *
 * integrator.c        its steps: methods, their change, where they end
 * integrator_rates.c  what is integrated: rates, projection and weights, as methods ask for them */
#ifndef HAMEL_SIMULATE_INTEGRATOR_INT_H
#define HAMEL_SIMULATE_INTEGRATOR_INT_H

#include "engine/simulate/integrator.h"
#include "engine/simulate/stepper.h"

/* kkt_margin of states beside a singular one: from where on the drift has to be kept out. */
#define INTEGRATOR_BESIDE 0.03

/* And where rounding is negligible, relative to the largest margin. */
#define INTEGRATOR_REGULAR 0.015

struct integrator {
    const hamel_model *model;
    kinetics *kinetics;
    integrator_options options;
    const stepper_kind *kind, *home; /* home: which the crossing method has been taken instead of; else NULL */
    double home_safety, home_step;
    long crossing_steps; /* of the crossing method, since it was taken last */
    bool shy;            /* it has failed here: not used again until the constraints are far from dependence */
    stepper *stepper;
    stepper_problem problem;
    double *y, *dense; /* state after the last step; scratch of dense output */
    forward *forward;  /* NULL: no sensitivities */
    variables *variables;
    bool plain;            /* w = q' */
    size_t n, state_count; /* of q; of (q, w) */
    double *velocity;      /* n: q' of the right-hand side evaluated last */
    double *atol;          /* of (q, w) */
    double *scratch;       /* 2n, for projections */
    unsigned used;         /* USED_ of the methods so far */
    bool may_change;
    double safety; /* on tolerances, of the method in force */
    double t, previous;
    double rtol, atol_factor;    /* of the method in force */
    double least_energy;         /* what the tolerances amount to in the energy, at the starts */
    double most_work;            /* |W| */
    double alpha, beta;          /* stabilization in force */
    double along_rate;           /* and of the sensitivities, where they have one of their own; else 0 */
    double margin, least_margin; /* kkt_margin at the last evaluation; least since the last step */
    double calm_step;            /* the last one that met no state beside a singular one; 0 at first */
    double widest;               /* largest margin since the start */
    size_t rank;                 /* and the most independent constraints */
    double start_margin, slope;  /* margin at the start of the last step, and how fast it fell or rose before */
    double closing;              /* by how much it has fallen in the last step */
    bool beside;                 /* the last step may have passed a singular state */
    double *acceleration, *lambda;
    across across;
    double *wanted_lambda;    /* where the right-hand side puts multipliers: lambda, or NULL when it needs none */
    double steps;             /* since the beginning */
    integrator_counts before; /* of a method left behind */
    double window_steps, window_stiff;
    long since_start, tiny_steps, shrunk_steps;    /* steps: since the method was started; ... in a row */
    double longest;                                /* step of late */
    double failed_evaluations, window_evaluations; /* a value that is not finite is no sign of stiffness */
    /* the last evaluation that failed, for the message */
    hamel_status failure;
    double failed_t, *failed_state;
    bool canceled, timed_out;
    bool too_near; /* a stage has met a state beside a singular one, where stages are too rough */
    bool looking;  /* at a state within the last step, which ends whatever happens meanwhile */
};

/* Those of a stepper_problem; `user` is the integrator. */
int integrator_rates(void *user, double t, const double *y, double *out);
int integrator_rates_along(void *user, double t, const double *y, N_Vector *s, N_Vector *ds);
int integrator_project(void *user, double t, const double *y, double *c, double *error);
double integrator_margin_here(void *user);

/* Independent constraints at the state whose margin was found last. */
size_t integrator_rank(const integrator *w);
int integrator_weights(void *user, const double *y, double *weight);

/* q', w', and the multipliers in w->lambda where they are needed, of a state, with a fault. */
hamel_status integrator_evaluate(integrator *w, double t, const double *y, double *out, hamel_error *error);

/* Whether the method in force may give way to the crossing method (collocation.c), and has not done so already. */
bool integrator_may_cross(const integrator *w);

/* Whether it has to, after a step: rough stages find that out themselves. */
bool integrator_is_near(integrator *w);

/* Where velocities follow from other variables by the constraints, errors δ of the positions tell on velocities as δ/s at
 * the distance s = margin, and on their rates as δ/s². */
bool integrator_loses_velocities(const integrator *w, double margin);
hamel_status integrator_explain_dependence(integrator *w, double t, double margin, hamel_error *error);

#endif
