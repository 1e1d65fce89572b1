/* formulation.h — formulations: the ways to derive equations of motion, listed in a table in formulation.c.
 *
 * A formulation derives equations from the checked system and selects their solver. All formulations give the same
 * motion. */
#pragma once

#include "engine/mechanics/equations.h"

/* Solvers for accelerations from M, Q, A, b (engine/linear/kkt.h, engine/dynamics/null_space.h). */
typedef enum solver_kind {
    SOLVER_MULTIPLIERS,    /* M q'' − Aᵀλ = Q, A q'' = b solved together */
    SOLVER_LEAST_REACTION, /* pseudo-inverse in the metric of M⁻¹; redundant constraints need no special treatment */
    SOLVER_LEAST_CONSTRAINT, /* ½ (q'' − a)ᵀM (q'' − a) → min over A q'' = b */
    SOLVER_PROJECTION,       /* Φᵀ(M q'' − Q) = 0 in quasi-velocities or independent velocities q'_I */
    SOLVER_TRANSITIVITY /* Φᵀ(M q'' − Q) = 0, computed with Hamel's coefficients (or Voronets', Chaplygin's) */
} solver_kind;

/* The variables that are integrated together with q (engine/dynamics/variables.h). */
typedef enum variables_kind {
    VARIABLES_VELOCITIES, /* q' */
    VARIABLES_MOMENTA,    /* p = ∂L/∂q' */
    VARIABLES_NONCYCLIC /* q' of the coordinates that are not cyclic; the momenta of cyclic coordinates are constant */
} variables_kind;

/* Properties of systems that some formulations do not support. Each property has the reason that error messages
 * give. */
#define FORMULATION_NEED_LIST(X)                                                                 \
    X(LAGRANGIAN, "it is given by a lagrangian, which does not separate masses from potentials") \
    X(ACCELERATION_ENERGY, "it is given by an acceleration energy, not by a kinetic energy")     \
    X(NONLINEAR_CONSTRAINTS, "a velocity constraint is not linear in the velocities")            \
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
    unsigned serves; /* NEED_ bits of the properties that the formulation supports */
    /* Fills *e, in which only `system`, `n`, `m` and `held` are set. Errors are added to the system's error. */
    hamel_status (*derive)(hamel_equations *e);
} formulation;

extern const formulation formulation_lagrange, formulation_hamilton, formulation_routh, formulation_chaplygin;

/* The derivations. lagrange_derive sets M, Q, A, b, residuals and energies; every other derivation calls it first. */
hamel_status lagrange_derive(hamel_equations *e);
hamel_status maggi_derive(hamel_equations *e); /* quasi_velocities.c */
hamel_status kane_derive(hamel_equations *e);
hamel_status gibbs_appell_derive(hamel_equations *e);
hamel_status boltzmann_hamel_derive(hamel_equations *e);
hamel_status voronets_derive(hamel_equations *e);
hamel_status chaplygin_derive(hamel_equations *e);
hamel_status hamilton_derive(hamel_equations *e);
hamel_status routh_derive(hamel_equations *e);

const formulation *formulation_at(size_t index); /* NULL if index is too large */

/* Returns the formulation with this name, or NULL if the name is unknown. If `name` is "auto" or NULL, returns the
 * default formulation. */
const formulation *formulation_named(const char *name);

/* Returns HAMEL_OK if `f` supports the system. Otherwise adds an error with the reason and the names of the
 * formulations that support the system. */
hamel_status formulation_serves(const formulation *f, hamel_system *s) HAMEL_CHECKED;

/* Adds the error of a formulation that rejects a system for a reason that formulation_serves does not check. */
hamel_status formulation_refuse(const formulation *f, hamel_system *s, const char *reason) HAMEL_CHECKED;
