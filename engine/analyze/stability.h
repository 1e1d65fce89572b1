/* stability.h — is an equilibrium, or a steady motion, stable?
 *
 * A family is stable if motion that begins near it stays near it. Drift along it, and of cyclic coordinates, is
 * ignored. The arguments are tried in this order: an eigenvalue with positive real part (unstable); the potential
 * (potential.h); eigenvalues with negative real parts, and as many zeros as the steady motions nearby have dimensions
 * (stable: Lyapunov; Malkin 1952). Otherwise stability is undecided. */
#ifndef HAMEL_ANALYZE_STABILITY_H
#define HAMEL_ANALYZE_STABILITY_H

#include "engine/analyze/families.h"

/* Facts about the structure of the system. */
typedef struct stability_facts {
    bool integrable;        /* velocity constraints are holonomic in disguise */
    bool momenta_conserved; /* those of all cyclic coordinates */
} stability_facts;

stability_facts stability_look_up(const hamel_report *report); /* NULL: nothing is known */

/* Fills determined, stable, decided, decided_by, reason and the eigenvalues of *e; texts and numbers in `memory`. z has the
 * given velocities; f: the family that it belongs to. */
hamel_status stability_judge(statics *s, const double *z, const family *f, const stability_facts *facts,
                             hamel_equilibrium *e, arena *memory, hamel_error *error) HAMEL_CHECKED;

#endif
