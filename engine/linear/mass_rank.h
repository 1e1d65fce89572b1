/* mass_rank.h — whether the mass matrix of a model is singular at every state.
 *
 * Quaternions of bodies have a mass matrix of rank three, and coordinates without inertia one with zero rows;
 * constraints compensate for the missing rank. A plain elimination ends with a pivot of rounding, which is mistaken for
 * a regular pivot near states where an earlier pivot is small. */
#ifndef HAMEL_SOLVE_MASS_RANK_H
#define HAMEL_SOLVE_MASS_RANK_H

#include "engine/model/model.h"

/* *singular: whether the entries `mass` of model->M (positive semidefinite) are those of a singular matrix, within
 * rounding relative to the diagonal. Uncoupled parts of M are tested separately; parts too large for dense matrices
 * count as regular, as do indefinite ones. HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status mass_is_singular(const hamel_model *model, const double *mass, bool *singular) HAMEL_CHECKED;

#endif
