/* formulation.h — the ways to equations of motion, each a kind: one file, one row in the table of formulation.c.
 *
 * A formulation derives equations from the checked system and says which solver they want. All give the same motion. */
#ifndef HAMEL_MECHANICS_FORMULATION_H
#define HAMEL_MECHANICS_FORMULATION_H

#include "engine/mechanics/equations.h"

/* How accelerations are found from M, Q, A, b (engine/solve/kkt.h, engine/solve/reduced.h). */
typedef enum solver_kind {
    SOLVER_MULTIPLIERS,      /* M q'' − Aᵀλ = Q, A q'' = b solved together */
    SOLVER_LEAST_REACTION,   /* pseudo-inverse in the metric of M⁻¹; redundant constraints are nothing special */
    SOLVER_LEAST_CONSTRAINT, /* ½ (q'' − a)ᵀM (q'' − a) → min over A q'' = b */
    SOLVER_PROJECTION,       /* Φᵀ(M q'' − Q) = 0 in quasi-velocities */
    SOLVER_TRANSITIVITY      /* the same unknowns, by Hamel's coefficients */
} solver_kind;

/* What an integration carries beside q (engine/solve/variables.h). */
typedef enum variables_kind {
    VARIABLES_VELOCITIES, /* q' */
    VARIABLES_MOMENTA,    /* p = ∂L/∂q' */
    VARIABLES_NONCYCLIC   /* q' of the coordinates that are not cyclic; momenta of the others are constants of a run */
} variables_kind;

/* What systems may ask of a formulation that not every one can give. */
#define FORMULATION_NEED_LIST(X)                                                             \
    X(LAGRANGIAN, "it is given by a lagrangian, which does not tell masses from potentials") \
    X(ACCELERATION_ENERGY, "it is given by an acceleration energy, not by a kinetic energy") \
    X(NONLINEAR_CONSTRAINTS, "a velocity constraint is not linear in the velocities")        \
    X(SIZE, "its matrices are dense, and the system has more than 500 coordinates")

enum {
#define X(name, reason) NEED_INDEX_##name,
    FORMULATION_NEED_LIST(X) NEED_COUNT,
#undef X
#define X(name, reason) NEED_##name = 1u << NEED_INDEX_##name,
    FORMULATION_NEED_LIST(X)
#undef X
        NEED_ANY = (1u << NEED_COUNT) - 1
};

typedef struct formulation {
    const char *name, *summary;
    solver_kind solver;
    variables_kind variables;
    unsigned serves; /* the needs that it can meet */
    /* Fills *e (zeroed, system, n and m set). Faults go to the system's error. */
    hamel_status (*derive)(hamel_equations *e);
} formulation;

extern const formulation formulation_lagrange, formulation_udwadia_kalaba, formulation_gauss, formulation_maggi,
    formulation_kane, formulation_gibbs_appell, formulation_boltzmann_hamel, formulation_hamilton, formulation_routh;

/* M, Q, A, b, residuals and energies, from which the other formulations set out. */
hamel_status lagrange_derive(hamel_equations *e);

const formulation *formulation_at(size_t index); /* NULL past the end */

/* By name; "auto" and NULL give what suits the system. NULL when there is none of that name. */
const formulation *formulation_named(const char *name);

/* Whether `f` can serve the system; if not, a fault that says why and which ones can. */
hamel_status formulation_serves(const formulation *f, hamel_system *s) HAMEL_CHECKED;

/* The fault of a formulation that cannot serve a system for a reason of its own, after formulation_serves. */
hamel_status formulation_refuse(const formulation *f, hamel_system *s, const char *reason) HAMEL_CHECKED;

#endif
