/* members_vec8.h — integration of the members of a sweep in eight SIMD lanes (methods/dop853_vec8.h).
 *
 * The rows of a member do not depend on the members in other lanes, bit for bit. If a value is not finite, the system
 * is stiff, the energy is unbalanced, or a limit is exceeded, the member is rerun alone. hamel_run then reports the
 * cause. */
#pragma once

#include "engine/model/variation.h"

/* Returns true if members of this model can run in SIMD lanes. README.md, "Sweeps", lists the conditions. */
bool members_vec8_serves(const hamel_model *model);

/* Runs members 0 to count − 1 with `settings`. Sets left[i] to true if member i must be rerun alone. On failure,
 * returns HAMEL_CANCELED or HAMEL_NO_MEMORY with an error. */
hamel_status members_vec8_run(const hamel_variation *v, const model_settings *settings,
                              const hamel_members_options *options, size_t count, const double *values,
                              const hamel_members_sink *sink, bool *left, hamel_error *error) HAMEL_CHECKED;
