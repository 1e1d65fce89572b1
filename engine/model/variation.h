/* variation.h — the varied parameters and initial values of one member of a sweep, and all values that depend on them.
 * A member is a copy of the model and shares all other data with the model. */
#pragma once

#include "engine/model/model.h"

typedef struct variation_member {
    hamel_model model; /* borrows all other data; must not be passed to hamel_model_free */
    double *parameters, *q0, *v0;
    bool *velocity_given;
    double *work;
} variation_member;

const hamel_model *variation_model(const hamel_variation *v);
size_t variation_target_count(const hamel_variation *v);

/* Returns false if out of memory. Call variation_member_free in both cases. */
bool variation_member_create(variation_member *m, const hamel_variation *v);
void variation_member_free(variation_member *m);

/* Sets the member's parameters and initial values from values[targets]. Allocates memory only for errors. Returns
 * HAMEL_INVALID if a value is not finite, or if a quantity that must not be negative, such as a mass, is negative. */
hamel_status variation_set(const hamel_variation *v, const double *values, variation_member *m,
                           hamel_error *error) HAMEL_CHECKED;
