/* forward_sensitivity.h — integration of forward sensitivities by CVODES together with the state.
 *
 * The method is staggered: each step solves for the state first and then corrects all sensitivities with the same
 * linear solver (Feehery, Tolsma & Barton, Appl. Numer. Math. 25 (1997) 41). Sensitivities take part in error control.
 * A sensitivity, multiplied by the magnitude of its input, has the error weights of the state. Vectors have the length
 * of the state; their entries after (q, q') stay 0. */
#pragma once

#include "engine/base/arena.h"

#include <cvodes/cvodes.h>

typedef struct sensitivities sensitivities;
typedef struct forward forward;

/* Creates the vectors in `memory` with the initial sensitivities `start`. `s` is borrowed; `length` is the length of
 * the state. Returns NULL if out of memory. */
forward *forward_create(arena *memory, sensitivities *s, size_t length, const double *const *start);
void forward_free(forward *f); /* destroys the handles of SUNDIALS; does nothing for NULL */

/* Adds the current sensitivities to a CVODES memory whose nonlinear solver and tolerances are set. CVODES passes its
 * user data to `rates`. Returns false if CVODES reports an error. Call forward_close after CVodeFree. */
bool forward_open(forward *f, void *cvode, bool bdf, CVSensRhsFn rates);
void forward_close(forward *f);

/* To restart from the sensitivities `from`, call forward_move, CVodeReInit, and then forward_restart. */
void forward_move(forward *f, const double *const *from);
bool forward_restart(forward *f, void *cvode);

/* Saves the sensitivities at the end of a step. */
bool forward_take(forward *f, void *cvode);

/* Computes the rates of all sensitivities at (t, q, v), for a CVSensRhsFn. Returns the same statuses as
 * sensitivities_rates. */
hamel_status forward_rates(forward *f, double t, const double *q, const double *v, double alpha, double beta,
                           N_Vector *s, N_Vector *ds) HAMEL_CHECKED;

/* Sets `s` to the sensitivities at a time within the last step. If `cvode` is NULL, sets `s` to the sensitivities saved
 * last. */
bool forward_interpolate(forward *f, void *cvode, double t, double *const *s);
