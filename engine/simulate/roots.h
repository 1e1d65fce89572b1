/* roots.h — search for the times at which functions of the state pass through zero along a trajectory.
 *
 * The functions are the root functions of events, and the distance of each nonsmooth operator from the edge of its
 * branch. Each function has a side: its sign, or at a zero the sign that it will have after leaving the zero. A step is
 * searched from its beginning for the first function that leaves its side. The time of the root is bracketed on the
 * dense output until the bracket is a few units in the last place long.
 *
 * CVODE's root finding is not used for three reasons. After an event a function may start at its zero, where rounding
 * can give it either sign. Its rate then decides its side. If a function has two roots within one step, both must be
 * found. All methods must use the same search, including the methods that are not part of CVODE.
 *
 * Results depend on the integrator's steps only, not on output times. */
#pragma once

#include "engine/dynamics/stick_slip.h"
#include "engine/simulate/integrator.h"
#include "engine/simulate/uncertainty.h"

/* One function f of the state. Other modules read `passed`, `from_zero` and `unnoticed` only. */
typedef struct root {
    /* side: −1, 1, or 0 if the side is undetermined until f moves away from 0; start_side: side when the search
     * began */
    int side, start_side;
    /* touching: whether f has been at its zero since the search began; start_touching: `touching` when the search
     * began */
    bool touching, start_touching;
    bool passed;    /* whether f triggers an event or a change of branch at roots.t, or two of its roots were skipped */
    bool jumped;    /* whether an event moved f across or away from its zero when the search began */
    bool from_zero; /* whether f jumped by leaving its zero when the search began */
    /* The following fields are used for events only. */
    bool by_second_rate; /* whether the second rate decided how f left its zero, because the rate was 0 */
    bool turned;         /* whether the event has stopped or reversed the rate of f */
    bool stopped;        /* whether the event has made the rate of f 0 */
    bool stuck;          /* whether the event has left the contact closed, at rest and under load */
    bool held;           /* whether active constraints that the event uses hold f at its zero */
    /* whether the event has deactivated a constraint that held f at its zero, and f has not moved away from its zero
     * since then */
    bool released;
    bool undecided; /* whether f leaves its zero although the event has no direction */
    /* whether f leaves its zero at the start of the run without its event, or has already crossed the zero at which its
     * contact closes */
    bool unnoticed;
} root;

typedef struct roots {
    const hamel_model *model;
    dynamics *dynamics;
    stick_slip *slips; /* NULL if no contact can stick */
    size_t count;
    double t; /* time at which the search began, or the root found last */
    root *of;
    bool begun;
    double *noise, *last_noise; /* uncertainty of functions at their zero: now, and after the last search */
    double *slack;              /* rates up to this size are treated as 0 */
    double *first;              /* values when the search began */
    double *low, *high;         /* values at both ends of the interval that is searched */
    double *older, *trial;      /* `older`: values at the beginning of the previous interval; `trial`: scratch */
    double *q, *v, *a, *lambda, *free;
    uncertainty uncertain;
    bool needs_motion;              /* whether any function contains accelerations or reactions */
    double weight_low, weight_high; /* Illinois weights of the bracket */
    double pace;                    /* sampling interval of the forces on sticking contacts */
    double older_time;              /* time of the values in `older`, or NAN */
    root *kept;                     /* `of` before the step that roots_pass_quietly searches */
} roots;

/* Creates the search in `memory`. Returns NULL if out of memory. `k` and `slips` (NULL if no contact can stick) are
 * borrowed. */
roots *roots_create(arena *memory, dynamics *k, stick_slip *slips);

/* Starts the search at a state. A function that passed through zero in the previous search is still at its zero unless
 * an event has moved it away. `changed` is true if an event has changed the state or the discrete state. Sets *again to
 * true if further events happen at the same time:
 *   - the change has moved a function across its zero
 *   - the function of an event that changes the motion is about to leave its zero, initially or due to another event
 * Adds an error in these cases:
 *   - an event has left its contact closed and under load (HAMEL_INTEGRATION)
 *   - the event of a contact has no direction and its function leaves zero (HAMEL_INVALID at the initial state) */
hamel_status roots_start(roots *w, const motion_state *at, bool changed, bool *again, hamel_error *error) HAMEL_CHECKED;

/* Sets the new branches of the operators that have passed an edge, at the state on the edge. *count is the number of
 * these operators. Directions of slips are only marked as changed; stick_slip_decide must be called next. */
hamel_status roots_flip(roots *w, const motion_state *at, size_t *count, hamel_error *error) HAMEL_CHECKED;

/* Sets the branches after an event has changed the state. An operator that has just passed an edge and is still on the
 * edge keeps its new branch. */
hamel_status roots_follow_jump(roots *w, const motion_state *at, hamel_error *error) HAMEL_CHECKED;

/* Restores the sides at the start of the search, so that a shorter step can be searched. */
void roots_again(roots *w);

typedef enum roots_finding {
    ROOTS_NONE,  /* no root within the step */
    ROOTS_FOUND, /* the functions with `passed` have a root at roots.t */
    ROOTS_MISSED /* the first step skipped two roots of the same function; a shorter step is needed */
} roots_finding;

/* Searches the integrator's last step for roots, but only after the time at which the search began. If canceled,
 * returns HAMEL_CANCELED without an error. */
hamel_status roots_search(roots *w, integrator *steps, roots_finding *finding, hamel_error *error) HAMEL_CHECKED;

/* A step is searched in ROOTS_PARTS intervals, or in fewer if a value needs accelerations. The number is chosen small,
 * because pairs of roots between two samples are searched for separately. */
enum { ROOTS_PARTS = 4 };

/* Returns the time of the sample at the end of interval `part`, 1 to `parts`, of a step. */
static inline double roots_sample_time(double from, double to, int part, int parts) {
    return part < parts ? from + (to - from) * part / parts : to;
}

/* Does what roots_search does in a step between `from` and `to` in which no function leaves its side. values[count *
 * (part − 1) + i] is function i at roots_sample_time. Returns false, and changes nothing, if roots_search would
 * evaluate other times, find a root or fail. No function may depend on accelerations or belong to an operator. */
bool roots_pass_quietly(roots *w, double from, double to, const double *values);

/* Returns the longest step in which the search can sample the forces on sticking contacts, or INFINITY if no contact
 * sticks. */
double roots_pace(const roots *w);

/* Returns true if function i, which passes zero now, was at its zero when the search began and `rate` points away from
 * its new side. The time since the start of the search is then too short to be resolved. */
bool roots_contradicts(const roots *w, size_t i, double rate);
/* Records the rate of the root function of event i before and after the event. */
void roots_acted(roots *w, size_t i, double before, double after);
/* Function i has passed zero with the rate `before`. Returns true if, with `rate`, the function returns to the side
 * that it left. */
bool roots_is_apart(const roots *w, size_t i, double before, double rate);
/* Returns true if i is a contact that passes zero at the time found. If contact i passes zero at this rate so soon
 * afterwards that doubles do not resolve the difference, marks i as passed and also returns true. */
bool roots_meet(roots *w, size_t i, double rate);
/* Returns true if the contact i closes at this rate. If `meets` is true, the function of i counts as being at its
 * zero. */
bool roots_is_closing(const roots *w, size_t i, bool meets, double rate);
