/* forward.h — sensitivities integrated beside the state, by CVODES.
 *
 * Staggered: the state of a step is settled first, then all sensitivities are corrected together with its linear solver
 * (Feehery, Tolsma & Barton, Appl. Numer. Math. 25 (1997) 41). They take part in error control, each weighed as the
 * state is when its input moves by its own size. Vectors have the state's length; what stands behind (q, q') stays 0. */
#ifndef HAMEL_SIMULATE_FORWARD_H
#define HAMEL_SIMULATE_FORWARD_H

#include "engine/solve/sensitivities.h"

#include <cvodes/cvodes.h>

typedef struct forward forward;

/* Begins with the sensitivities `start`. `s` is borrowed; `length`: of the state. NULL without memory. */
forward *forward_create(sensitivities *s, size_t length, const double *const *start);
void forward_free(forward *f);

/* Adds the sensitivities as they are to a CVODES memory whose nonlinear solver and tolerances are set; `rates` gets its
 * user data. False when it refuses. Closed before the memory is used or freed for another method. */
bool forward_open(forward *f, void *cvode, bool bdf, CVSensRhsFn rates);
void forward_close(forward *f); /* after CVodeFree */

/* Goes on from other sensitivities: forward_restart after CVodeReInit. */
void forward_move(forward *f, const double *const *from);
bool forward_restart(forward *f, void *cvode);

/* After a step: notes where they are, to go on from there. */
bool forward_take(forward *f, void *cvode);

/* The rates of all of them at (t, q, v), for a CVSensRhsFn. */
hamel_status forward_rates(forward *f, double t, const double *q, const double *v, double alpha, double beta,
                           N_Vector *s, N_Vector *ds) HAMEL_CHECKED;

/* s := the sensitivities at a time within the last step, or (cvode NULL) those noted last. */
bool forward_interpolate(forward *f, void *cvode, double t, double *const *s);

#endif
