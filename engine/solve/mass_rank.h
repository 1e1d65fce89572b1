/* mass_rank.h — whether the mass matrix of a model is singular at every state.
 *
 * Quaternions of bodies have a mass matrix of rank three, coordinates without inertia one with zero rows; constraints make
 * up for it. An elimination that does not know finds a last pivot of rounding, which passes for an honest one near states
 * where an earlier pivot is small. */
#ifndef HAMEL_SOLVE_MASS_RANK_H
#define HAMEL_SOLVE_MASS_RANK_H

#include "engine/model/model.h"

/* *singular: whether the entries `mass` of model->M (positive semidefinite) are those of a singular matrix, within rounding
 * relative to the diagonal. Parts of M that do not touch are judged apart; those too large for dense matrices count as
 * regular, as do indefinite ones. HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status mass_is_singular(const hamel_model *model, const double *mass, bool *singular) HAMEL_CHECKED;

#endif
