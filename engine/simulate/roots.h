/* roots.h — where functions of the state pass through zero along one integration.
 *
 * The functions are those that events of the description wait for, and how far each switch of the equations is inside its
 * branch. Each function has a side: the sign that it has, or will have once it leaves the zero it stands at. A step is searched
 * from its beginning for the first function that leaves its side; the instant is bracketed to rounding on the dense
 * output. It is done here and not by CVODE's own root finding because a function must be able to start at a zero that an
 * event has just left it at (with rounding on either side, and a rate that says where it goes), because a pair of
 * crossings within one step must be seen, and because it serves every integration method.
 *
 * Sampling never influences it: only the integrator's steps do. */
#ifndef HAMEL_SIMULATE_ROOTS_H
#define HAMEL_SIMULATE_ROOTS_H

#include "engine/simulate/integrator.h"
#include "engine/simulate/uncertainty.h"
#include "engine/solve/sticking.h"

typedef struct roots roots;

/* NULL without memory. `k` and `slips` (NULL where nothing sticks) are borrowed. */
roots *roots_create(const hamel_model *model, kinetics *k, sticking *slips);
void roots_free(roots *w);

/* A state with its accelerations, multipliers and free accelerations, and the rates of the functions (0: not known). For
 * roots_start also their second rates, and how large those may be by the tolerances alone. */
typedef struct roots_state {
    double t;
    const double *q, *v, *a, *lambda, *free, *rates, *bends, *bend_slack;
} roots_state;

/* Begins the search at a state. The functions that passed through zero in the search before stand at that zero unless
 * an event has moved them away; `changed`: an event has acted on the state or the mode. *again: that has taken
 * functions across their zeros; these count as found at the same instant. So do functions that are zero and about to
 * leave zero, at the start or because of another event, if their events change the motion. A contact (model_event) that
 * its event has left closed and under load is a fault. */
hamel_status roots_start(roots *w, const roots_state *at, bool changed, bool *again, hamel_error *error) HAMEL_CHECKED;

/* Takes the branches behind the edges that switches have passed; their number in *count. `at`: the state there. Slips are
 * marked only: what they do there is to be decided. */
hamel_status roots_flip(roots *w, const roots_state *at, size_t *count, hamel_error *error) HAMEL_CHECKED;

/* Takes the branches of a state that an event has changed. A switch that has just passed an edge and still stands there
 * keeps the branch behind it. */
hamel_status roots_follow_jump(roots *w, const roots_state *at, hamel_error *error) HAMEL_CHECKED;

/* Begins the search from the same state once more. */
void roots_again(roots *w);

typedef enum roots_finding {
    ROOTS_NONE,  /* nothing happens within the step */
    ROOTS_FOUND, /* at roots_time, to those that roots_passed names */
    ROOTS_MISSED /* the first step passed over the whole way away from a zero and back: take a shorter one */
} roots_finding;

/* Searches the integrator's last step, from where the search began when that lies within it. */
hamel_status roots_search(roots *w, integrator *steps, roots_finding *finding, hamel_error *error) HAMEL_CHECKED;

/* How long steps may be for the search to keep up with the forces on what sticks; infinite where nothing does. */
double roots_pace(const roots *w);

double roots_time(const roots *w);
/* Whether function i, found to pass with this rate, stood at its zero when the search began and now moves the other way
 * than it passed: the way between is too short for the integration to resolve. */
bool roots_contradicts(const roots *w, size_t i, double rate);
/* Records the rate of its function before and after event i. */
void roots_acted(roots *w, size_t i, double before, double after);
/* Whether a function that is found to pass, at the rate `before`, moves back to its side at this rate. */
bool roots_is_apart(const roots *w, size_t i, double before, double rate);
/* Whether i is a contact that passes at the instant found, or so little later at this rate that time does not resolve it: then
 * it passes now. */
bool roots_meet(roots *w, size_t i, double rate);
/* Whether the contact i, which meets its zero or is at it, closes at this rate. */
bool roots_is_closing(const roots *w, size_t i, bool meets, double rate);
bool roots_stood(const roots *w,
                 size_t i); /* whether it was at its zero when the search began: it passes by leaving zero */
/* Whether the function of event i leaves its zero at the start without anything happening, because the event only ends the
 * run or has no direction; or whether it is that of a contact and beyond its zero there. */
bool roots_unnoticed(const roots *w, size_t i);
bool roots_passed(const roots *w, size_t i); /* in a direction that counts; or is what was missed */

#endif
