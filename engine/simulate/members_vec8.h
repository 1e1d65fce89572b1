/* abreast.h — members of an ensemble eight at a time, each with steps of its own (dormand_prince.h).
 *
 * A member's rows are the same bits whoever its neighbours are. Where such a run is not fit to judge itself (a value that is
 * not finite, steps that stability bounds, an energy that is off its balance, a budget at its end) the member is left to
 * be run alone, by what can tell why. */
#ifndef HAMEL_SIMULATE_ABREAST_H
#define HAMEL_SIMULATE_ABREAST_H

#include "engine/model/variation.h"

/* Whether members of this model are run so: a motion without constraints, events and jumps, by method auto or erk. */
bool abreast_serves(const hamel_model *model);

/* Runs members 0..count - 1; left[i] := member i is still to be run, alone. `settings` are those of each member.
 * HAMEL_OK, HAMEL_CANCELED, HAMEL_NO_MEMORY. */
hamel_status abreast_run(const hamel_variation *v, const model_settings *settings,
                         const hamel_ensemble_options *options, size_t count, const double *values,
                         const hamel_ensemble_sink *sink, bool *left, hamel_error *error) HAMEL_CHECKED;

#endif
