/* formulation.h — formulations: ways to derive equations of motion, each with one file and one row in formulation.c.
 *
 * A formulation derives equations from the checked system and names the solver for them. All give the same motion. */
#pragma once

#include "engine/mechanics/equations.h"

/* How accelerations are found from M, Q, A, b (engine/linear/kkt.h, engine/dynamics/null_space.h). */
typedef enum solver_kind {
    SOLVER_MULTIPLIERS,    /* M q'' − Aᵀλ = Q, A q'' = b solved together */
    SOLVER_LEAST_REACTION, /* pseudo-inverse in the metric of M⁻¹; redundant constraints need no special treatment */
    SOLVER_LEAST_CONSTRAINT, /* ½ (q'' − a)ᵀM (q'' − a) → min over A q'' = b */
    SOLVER_PROJECTION,       /* Φᵀ(M q'' − Q) = 0 in quasi-velocities */
    SOLVER_TRANSITIVITY      /* the same unknowns, by Hamel's coefficients */
} solver_kind;

/* The state that is integrated together with q (engine/dynamics/variables.h). */
typedef enum variables_kind {
    VARIABLES_VELOCITIES, /* q' */
    VARIABLES_MOMENTA,    /* p = ∂L/∂q' */
    VARIABLES_NONCYCLIC   /* q' of the coordinates that are not cyclic; momenta of the others are constants of a run */
} variables_kind;

/* Properties of systems that not every formulation supports. */
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
    unsigned serves; /* the needs that it supports */
    /* Fills *e (zeroed, system, n and m set). Errors are added to the system's error. */
    hamel_status (*derive)(hamel_equations *e);
} formulation;

extern const formulation formulation_lagrange, formulation_udwadia_kalaba, formulation_gauss, formulation_maggi,
    formulation_kane, formulation_gibbs_appell, formulation_boltzmann_hamel, formulation_hamilton, formulation_routh;

/* M, Q, A, b, residuals and energies, the start of the other formulations. */
hamel_status lagrange_derive(hamel_equations *e);

const formulation *formulation_at(size_t index); /* NULL past the end */

/* By name; "auto" and NULL give the default. NULL for an unknown name. */
const formulation *formulation_named(const char *name);

/* HAMEL_OK if `f` supports the system; otherwise an error with the reason and the formulations that do. */
hamel_status formulation_serves(const formulation *f, hamel_system *s) HAMEL_CHECKED;

/* Adds the error of a formulation that rejects a system for another reason, after formulation_serves. */
hamel_status formulation_refuse(const formulation *f, hamel_system *s, const char *reason) HAMEL_CHECKED;
