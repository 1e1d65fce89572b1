/* potential.h — is an equilibrium a minimum of the potential?
 *
 * U is the Jacobi integral h at rest: V, with the centrifugal potential of prescribed rotations; with cyclic velocities
 * the amended potential at constant momenta (Routh). Where U has a strict minimum on the configurations that holonomic
 * constraints allow, h, which damping can only reduce, confines the motion: the equilibrium is stable (Lagrange,
 * Dirichlet). If the terms of lowest order show that U has no minimum, and no gyroscopic force acts, it is unstable
 * (Chetaev; Kozlov, J. Appl. Math. Mech. 46 (1982) 433; for terms of higher order Kozlov and Palamodov, Soviet Math.
 * Dokl. 25 (1982) 277). */
#ifndef HAMEL_ANALYZE_POTENTIAL_H
#define HAMEL_ANALYZE_POTENTIAL_H

#include "engine/analyze/statics.h"

typedef enum potential_kind { POTENTIAL_UNDECIDED, POTENTIAL_LEAST, POTENTIAL_NOT_LEAST } potential_kind;

typedef struct potential_verdict {
    potential_kind kind;
    int order;          /* of the terms that decide; 0: not a whole number, or the quadratic ones */
    bool gyroscopic;    /* gyroscopic forces act, which could stabilize an equilibrium that is not a minimum of U */
    const char *reason; /* why undecided; a literal */
} potential_verdict;

/* z: an equilibrium with the given velocities; family: orthonormal directions of q, n × family_count, along which it is
 * one of many, and U does not change. `integrable`: velocity constraints are holonomic in disguise; `kinked`: second
 * derivatives of U jump at z, so that only its growth along rays decides. */
potential_verdict potential_judge(statics *s, const double *z, const double *family, size_t family_count,
                                  bool integrable, bool kinked);

#endif
