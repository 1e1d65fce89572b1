/* families.h — families of equilibria: connected sets of dimension 1 or more.
 *
 * J is the Jacobian of the equilibrium equations F. A null space of J does not prove that there is a family. With the
 * potential x⁴, J vanishes at 0, but 0 is the only equilibrium. A family is accepted if equilibria are found at several
 * finite distances, each a fraction of the previous one. */
#pragma once

#include "engine/analyze/statics.h"

typedef struct family {
    size_t dimension;   /* 0 if the equilibrium is isolated; cyclic coordinates that move are not counted */
    size_t flat;        /* dimension of the null space of J */
    bool inexact;       /* true if J is singular and F exceeds its rounding error: z may only be near an equilibrium */
    bool meet;          /* true if several families meet at this point, so there is no tangent space */
    double *directions; /* array of the caller, width × width: orthonormal tangent vectors directions[k][width] */
    double *member;     /* array of the caller, s->unknowns: the member found with the smallest null space of J */
} family;

/* Examines the equilibrium z and fills *f. */
void family_find(statics *s, const double *z, family *f);

/* Moves z along its family to the point nearest to `target` (n coordinates). */
void family_approach(statics *s, double *z, const double *target);

/* Returns the uncertainty of z along the null directions of J, relative to max(1, |value|). If there is only one null
 * direction, moves z to the middle of the interval in which |F| is within rounding errors. */
double family_uncertainty(statics *s, double *z);
