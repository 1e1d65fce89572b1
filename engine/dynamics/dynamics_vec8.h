/* kinetics_abreast.h — accelerations of eight members of an ensemble at once, without constraints.
 *
 * Owns the workspaces of the model's programs; one thread at a time, nothing allocated after create. */
#ifndef HAMEL_SOLVE_KINETICS_ABREAST_H
#define HAMEL_SOLVE_KINETICS_ABREAST_H

#include "engine/model/model.h"

typedef struct kinetics_abreast {
    const hamel_model *model;
    octet *parameters;                    /* of each member: write them, then kinetics_abreast_prepare */
    octet *values;                        /* outputs of the dynamics program at the states evaluated last */
    octet *L, *pivot;                     /* M = L D Lᵀ: n × n, and the inverse of D */
    size_t *place, *empty, empty_count;   /* of entries of M in L, and of what M does not have */
    octet *observed;                      /* outputs of the model's program of that name */
    octet *dynamics_work, *observed_work; /* workspaces of these programs */
    octet margin;                         /* of the pivots, least since it was set; > 0: M is well positive definite */
} kinetics_abreast;

/* Whether a model's motion is computed so: no constraints, forces without multipliers, a small dense mass matrix. */
bool kinetics_abreast_serves(const hamel_model *model);

/* NULL without memory. */
kinetics_abreast *kinetics_abreast_create(const hamel_model *model);
void kinetics_abreast_free(kinetics_abreast *k);

/* What depends on parameters only. */
void kinetics_abreast_prepare(kinetics_abreast *k);

/* a[n] at (*t, q[n], v[n]). What is not finite shows in a, and a mass matrix that is not positive definite in k->margin
 * (≤ 0), of that member alone. */
void kinetics_abreast_accelerations(kinetics_abreast *k, const octet *t, const octet *q, const octet *v, octet *a);

/* Outputs, invariants, checks and energy at these states into k->observed. */
void kinetics_abreast_observe(kinetics_abreast *k, const octet *t, const octet *q, const octet *v, const octet *a);

#endif
