/* variation.h — the numbers of one member of an ensemble: parameters and initial values that are given, and those that are
 * made of them. A member is a model that shares everything else with the one it comes from. */
#ifndef HAMEL_MODEL_VARIATION_H
#define HAMEL_MODEL_VARIATION_H

#include "engine/model/model.h"

typedef struct variation_member {
    hamel_model model; /* borrows all but the four arrays below: never to be freed as a model */
    double *parameters, *q0, *v0;
    bool *velocity_given;
    double *work;
} variation_member;

const hamel_model *variation_model(const hamel_variation *v);
size_t variation_target_count(const hamel_variation *v);

/* False without memory; variation_member_free in both cases. */
bool variation_member_create(variation_member *m, const hamel_variation *v);
void variation_member_free(variation_member *m);

/* Gives the member the numbers that follow from values[targets]. Allocates nothing but faults. HAMEL_INVALID when one of
 * them is not finite, or a mass is negative. */
hamel_status variation_set(const hamel_variation *v, const double *values, variation_member *m,
                           hamel_error *error) HAMEL_CHECKED;

#endif
