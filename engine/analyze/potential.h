/* potential.h — test whether an equilibrium is a minimum of the potential.
 *
 * U is the Jacobi integral h at rest: V plus the centrifugal potential of prescribed rotations. With cyclic velocities,
 * U is the amended potential at constant momenta (Routh). If U has a strict minimum on the configurations that
 * holonomic constraints allow, the equilibrium is stable, because damping can only reduce h (Lagrange, Dirichlet). If
 * the terms of lowest order show that U has no minimum, and no gyroscopic force acts, it is unstable (Chetaev; Kozlov,
 * J. Appl. Math. Mech. 46 (1982) 433; for terms of higher order Kozlov and Palamodov, Soviet Math. Dokl. 25 (1982)
 * 277). */
#pragma once

#include "engine/analyze/statics.h"

typedef enum potential_kind { POTENTIAL_UNDECIDED, POTENTIAL_LEAST, POTENTIAL_NOT_LEAST } potential_kind;

typedef struct potential_verdict {
    potential_kind kind;
    int order;          /* order of the terms that decide; 0: not an integer */
    bool gyroscopic;    /* whether gyroscopic forces act, which may stabilize an equilibrium that is no minimum */
    const char *reason; /* why the verdict is undecided; a string literal */
} potential_verdict;

/* Examines the equilibrium z with the given velocities. family[family_count][n] are orthonormal directions of its
 * family, along which U is constant. `integrable` means that all velocity constraints are integrable. `kinked` means
 * that second derivatives of U jump at z, so only the growth along rays decides. */
potential_verdict potential_decide(statics *s, const double *z, const double *family, size_t family_count,
                                   bool integrable, bool kinked);
