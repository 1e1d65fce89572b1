/* stepper.h — what takes the steps of an integration, behind one table of functions.
 *
 * A stepper knows y' = f(t, y) and nothing of mechanics; what it is to integrate asks it for steps, one after the other,
 * and for states within the last one. Another method is another file and a table. */
#ifndef HAMEL_SIMULATE_STEPPER_H
#define HAMEL_SIMULATE_STEPPER_H

#include "engine/simulate/forward.h"
#include "engine/simulate/newton_solver.h"

/* What is integrated. Borrowed, and constant while a stepper is open. Functions get `user` and return 0, a positive value
 * where a shorter step may help, or a negative one to end the integration. */
typedef struct stepper_problem {
    size_t length; /* of y */
    double stop;   /* never passed */
    void *user;
    int (*rates)(void *user, double t, const double *y, double *dy);
    int (*weights)(void *user, const double *y,
                   double *weights); /* of errors: their weighted root mean square is ≤ 1 */
    /* correction := what brings y onto the constraints; `error` (may be NULL) loses what leads off them. NULL: nothing
     * to keep. */
    int (*project)(void *user, double t, const double *y, double *correction, double *error);
    /* Of the state whose rates were asked for last: its distance from dependence (kkt_margin), relative to the largest. */
    double (*margin)(void *user);
    /* Rates of the sensitivities beside the state, for `forward`, or NULL where there are none. */
    int (*rates_along)(void *user, double t, const double *y, N_Vector *s, N_Vector *ds);
    forward *forward;
    /* For the matrix of an implicit method. */
    variables *variables;
    kinetics *kinetics;
    const double *velocity;
} stepper_problem;

typedef enum step_result {
    STEP_TAKEN,
    STEP_ENDED,          /* a function has ended it */
    STEP_NOT_EVALUATED,  /* a function fails, however short the step is */
    STEP_TOO_ERRONEOUS,  /* the error test fails with the smallest step */
    STEP_NOT_CONVERGENT, /* the nonlinear iteration fails with the smallest step */
    STEP_TOO_SHORT,      /* there is hardly anything between the start and the stop */
    STEP_REFUSED         /* for another reason, told in the message */
} step_result;

typedef struct stepper_counts {
    double steps, rhs, jacobians, projections;
    double stiff; /* signs of stiffness: what they are is the method's */
} stepper_counts;

typedef struct stepper stepper;

typedef struct stepper_kind {
    const char *name;
    /* On tolerances: a method bounds the error of a step; what a user reads rtol as is the error of the result, which
     * steps add up to. */
    double safety;
    bool implicit;        /* evaluates the rates at states that are solved for */
    bool projects;        /* each step, where problem->project is given */
    bool rough_stages;    /* evaluates the rates at states that are far less exact than its steps */
    double stiff_of_many; /* signs in fifty steps that mean a stiff system */
    /* From y at t. NULL without memory. */
    stepper *(*open)(const stepper_problem *p, double t, const double *y);
    void (*close)(stepper *s);
    /* Once more from y at t; counts go on. `step`: the first one to try, 0 to find one. */
    bool (*restart)(stepper *s, double t, const double *y, double step);
    bool (*limit)(stepper *s, double most); /* no longer steps from now on; INFINITY: any */
    /* One step; *t and y[length] are where it ends. */
    step_result (*step)(stepper *s, double *t, double *y);
    double (*last_step)(const stepper *s);
    bool (*interpolate)(stepper *s, double t, double *y);                  /* within the last step */
    bool (*interpolate_along)(stepper *s, double t, double *const *along); /* NULL: takes no sensitivities */
    stepper_counts (*count)(const stepper *s);                             /* since it was opened */
    const char *(*message)(const stepper *s);                              /* "": none */
} stepper_kind;

/* First member of each kind's own struct. */
struct stepper {
    const stepper_kind *kind;
    const stepper_problem *problem;
};

extern const stepper_kind stepper_adams, stepper_bdf; /* multistep.c */
extern const stepper_kind stepper_erk;                /* runge_kutta.c */
extern const stepper_kind stepper_collocation;        /* collocation.c */

/* The instant within the last step of stepper_collocation at which constraints are dependent; NAN: none. */
double collocation_instant(const stepper *s);

#endif
