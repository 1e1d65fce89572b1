/* stepper.h — interface of the integration methods: each method is a table of functions.
 *
 * A stepper integrates y' = f(t, y) and does not depend on mechanics. The functions of the problem supply rates,
 * weights, projections and the linear solver of an implicit method. To add a method, write a file with its table. */
#pragma once

#include "engine/base/arena.h"
#include "engine/simulate/methods/forward_sensitivity.h"

#include <math.h>

/* The problem, borrowed and constant while a stepper is open. Functions that return an int return 0 on success, a
 * positive value if a shorter step may help, or a negative value to end the integration. */
typedef struct stepper_problem {
    size_t length; /* length of y */
    double stop;   /* time that steps never pass */
    arena *memory; /* memory of the stepper's workspaces; the owner frees the arena after the stepper is closed */
    void *user;
    int (*rates)(void *user, double t, const double *y, double *dy);
    /* Computes error weights. An error is acceptable if its weighted root mean square is at most 1. */
    int (*weights)(void *user, const double *y, double *weights);
    /* Sets `correction` to the change that projects y onto the constraint manifold. Removes the component normal to the
     * manifold from `error` (may be NULL). The function is NULL if the system has no constraints. */
    int (*project)(void *user, double t, const double *y, double *correction, double *error);
    /* Returns the rank margin (kkt_margin) at the state evaluated last, relative to the largest rank margin of the
     * run. */
    double (*margin)(void *user);
    /* Attaches a linear solver for I − γ ∂f/∂y to a CVODE memory with Newton's method. Returns false on failure. The
     * solver must remain valid until the stepper is closed. Only implicit methods call this function. */
    bool (*attach_linear_solver)(void *user, void *cvode, SUNContext context);
    /* Sensitivities that are integrated with the state, and their rates; NULL if there are no sensitivities. */
    forward *forward;
    int (*forward_rates)(void *user, double t, const double *y, N_Vector *s, N_Vector *ds);
} stepper_problem;

typedef enum step_result {
    STEP_TAKEN,
    STEP_ENDED,          /* a function of the problem ended the integration */
    STEP_NOT_EVALUATED,  /* a function of the problem fails even for the smallest step */
    STEP_TOO_ERRONEOUS,  /* the error test fails for the smallest step */
    STEP_NOT_CONVERGENT, /* the nonlinear iteration fails for the smallest step */
    STEP_TOO_SHORT,      /* start and stop are too close to each other */
    STEP_REFUSED         /* another failure, described by stepper.message */
} step_result;

typedef struct stepper_counts {
    long steps, rhs, jacobians, projections;
    long stiff; /* number of steps that indicate stiffness, as defined by each method */
} stepper_counts;

static inline stepper_counts stepper_add_counts(stepper_counts a, stepper_counts b) {
    return (stepper_counts){a.steps + b.steps, a.rhs + b.rhs, a.jacobians + b.jacobians, a.projections + b.projections,
                            a.stiff + b.stiff};
}

typedef struct stepper stepper;

typedef struct stepper_kind {
    /* Factor on tolerances. A method bounds the error of each step, but users expect rtol to bound the accumulated
     * error. */
    double safety;
    bool implicit;      /* whether the method solves nonlinear systems for the states at which it evaluates rates */
    bool projects;      /* whether each step is projected if problem->project is set */
    bool rough_stages;  /* whether the intermediate states of a step are far less accurate than its final state */
    long stiff_of_many; /* if `stiff` increases by this number in fifty steps, the system is stiff */
    /* Starts a stepper of this kind from y at t. Returns NULL if out of memory or if the library fails. */
    stepper *(*open)(const struct stepper_kind *kind, const stepper_problem *p, double t, const double *y);
    void (*close)(stepper *s); /* destroys handles of libraries; NULL if the method has no handles */
    /* Restarts from y at t and keeps the counts. `step` is the first step to try; 0 lets the stepper choose it. */
    bool (*restart)(stepper *s, double t, const double *y, double step);
    bool (*limit)(stepper *s); /* applies a changed s->most; NULL if each step reads s->most */
    /* Takes one step and sets *t and y[length] to its end. */
    step_result (*step)(stepper *s, double *t, double *y);
    void (*count)(stepper *s); /* updates the counts that steps do not update; NULL if steps update all counts */
    bool (*interpolate)(stepper *s, double t, double *y); /* sets y to the state at t within the last step */
    bool (*interpolate_forward)(stepper *s, double t,
                                double *const *along); /* NULL if the method does not support sensitivities */
} stepper_kind;

/* Common data of all methods; first member of the struct of each method. */
struct stepper {
    const stepper_kind *kind;
    const stepper_problem *problem;
    double last;           /* length of the last step */
    double most;           /* upper bound on all further steps; INFINITY if there is no bound */
    stepper_counts counts; /* counts since `open`; evaluations for dense output are not counted */
    const char *message;   /* message of the library after a failure, or "" */
};

static inline stepper_counts stepper_count(stepper *s) {
    if (s->kind->count) s->kind->count(s);
    return s->counts;
}

static inline void stepper_close(stepper *s) {
    if (s && s->kind->close) s->kind->close(s);
}

/* Returns the weighted root mean square of x[length]. */
static inline double stepper_norm(const double *x, const double *weights, size_t length) {
    double sum = 0;
    for (size_t i = 0; i < length; i++) {
        double e = x[i] * weights[i];
        sum += e * e;
    }
    return sqrt(sum / (double)length);
}

extern const stepper_kind stepper_adams, stepper_bdf; /* multistep.c */
extern const stepper_kind stepper_erk;                /* runge_kutta.c */
extern const stepper_kind stepper_collocation;        /* collocation.c */

/* Returns the time within the last step of stepper_collocation at which the constraints are singular, or NAN. */
double collocation_instant(const stepper *s);
