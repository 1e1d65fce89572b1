/* formulation.h — the ways to equations of motion, each a kind: one file, one row in the table of formulation.c.
 *
 * A formulation derives equations from the checked system and says which solver they want. All give the same motion. */
#ifndef HAMEL_MECHANICS_FORMULATION_H
#define HAMEL_MECHANICS_FORMULATION_H

#include "engine/mechanics/equations.h"

/* How accelerations are found from M, Q, A, b (engine/solve/kkt.h). */
typedef enum solver_kind {
    SOLVER_MULTIPLIERS,   /* M q'' − Aᵀλ = Q, A q'' = b solved together */
    SOLVER_LEAST_REACTION /* pseudo-inverse in the metric of M⁻¹; redundant constraints are nothing special */
} solver_kind;

typedef struct formulation {
    const char *name, *summary;
    solver_kind solver;
    /* Fills *e (zeroed, system, n and m set). Faults go to the system's error. */
    hamel_status (*derive)(hamel_equations *e);
} formulation;

extern const formulation formulation_lagrange, formulation_udwadia_kalaba;

const formulation *formulation_at(size_t index); /* NULL past the end */

/* By name; "auto" and NULL give what suits the system. NULL when there is none of that name. */
const formulation *formulation_named(const char *name);

#endif
