/* stability.h — stability of equilibria and steady motions.
 *
 * A family of equilibria or steady motions is stable if every motion that begins near the family stays near the family.
 * Drift along the family and drift of cyclic coordinates do not count as instability. If an eigenvalue has a positive
 * real part, the equilibrium is unstable. Otherwise the potential decides if possible (potential.c). If the potential
 * does not decide, two conditions together prove stability (Lyapunov; Malkin 1952). First, all nonzero eigenvalues have
 * negative real parts. Second, the number of zero eigenvalues equals the dimension of the manifold of nearby steady
 * motions. In all other cases, stability is undecided. */
#pragma once

#include "engine/analyze/families.h"

/* Properties of the system that stability_decide uses. */
typedef struct stability_facts {
    bool integrable;        /* true if all velocity constraints are integrable */
    bool momenta_conserved; /* true if the momenta of all cyclic coordinates are conserved */
} stability_facts;

stability_facts stability_look_up(const hamel_report *report); /* if `report` is NULL, all facts are false */

/* Fills determined, stable, decided, decided_by, reason and the eigenvalues of *e. The texts and the eigenvalues are
 * allocated in `memory`. z is an equilibrium with the prescribed velocities, and f is the family to which z belongs. */
hamel_status stability_decide(statics *s, const double *z, const family *f, const stability_facts *facts,
                              hamel_equilibrium *e, arena *memory, hamel_error *error) HAMEL_CHECKED;

/* --- potential.c: test whether an equilibrium is a minimum of the potential --------------------------------------- */

typedef enum potential_kind { POTENTIAL_UNDECIDED, POTENTIAL_LEAST, POTENTIAL_NOT_LEAST } potential_kind;

typedef struct potential_verdict {
    potential_kind kind;
    int order;          /* order of the terms that decide, or 0 if the order is not an integer */
    bool gyroscopic;    /* true if gyroscopic forces act, which may stabilize an equilibrium without a minimum */
    const char *reason; /* reason for POTENTIAL_UNDECIDED; a string literal */
} potential_verdict;

/* Examines the equilibrium z of the family f with the prescribed velocities. `integrable` means that all velocity
 * constraints are integrable. `kinked` means that second derivatives of U jump at z. The verdict then depends on the
 * growth of U along rays only. */
potential_verdict potential_decide(statics *s, const double *z, const family *f, bool integrable, bool kinked);
