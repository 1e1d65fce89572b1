/* families.h — is an equilibrium one of a continuum?
 *
 * A kernel of J is not enough: V = x⁴ is flat at 0 and has one equilibrium. A family requires equilibria at finite
 * distances, each a fraction of the previous one. */
#ifndef HAMEL_ANALYZE_FAMILIES_H
#define HAMEL_ANALYZE_FAMILIES_H

#include "engine/analyze/statics.h"

typedef struct family {
    size_t dimension;   /* 0: isolated. Cyclic coordinates that turn do not count */
    size_t flat;        /* the dimension of J's kernel */
    bool inexact;       /* F is flat, and larger than its rounding: z is near an equilibrium, but may not be one */
    bool meet;          /* several families meet at this point, which then has no tangent */
    double *directions; /* given room for width × width: orthonormal, directions[k][width] */
    double *member;     /* given room for unknowns: another equilibrium of the family, where its tangent is least */
} family;

void family_find(statics *s, const double *z, family *f);

/* Moves z along its family, as near to `target` (n coordinates) as it goes. */
void family_approach(statics *s, double *z, const double *target);

/* The uncertainty of z along directions in which F is flat, relative for values above 1. z is moved to the middle of
 * the interval in which F vanishes to rounding. */
double family_uncertainty(statics *s, double *z);

#endif
