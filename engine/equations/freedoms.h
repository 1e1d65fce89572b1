/* freedoms.h — the velocities that the constraints leave free, and equations in terms of them (quasi_velocities.c). */
#pragma once

#include "engine/equations/written.h"

typedef struct freedoms {
    /* The caller sets these four fields: */
    bool reactions;        /* true if the multipliers are written */
    bool in_coordinates;   /* true if all free velocities must be velocities of coordinates */
    const bool *preferred; /* n: true for velocities that should be dependent if possible; NULL: no preference */
    graph_node *equation;  /* count: left minus right sides for the C code; NULL: projected Lagrange equations */

    quasi_velocity *quasi; /* quasi[k] is velocity n + k */
    size_t quasi_count;
    /* velocity[n + quasi_count]: q' and the quasi-velocities in terms of the free velocities; GRAPH_NONE: the velocity
     * is free */
    graph_node *velocity;
    graph_node *relaxed;      /* relaxed[n]: `velocity` of the coordinates with the terms in ω */
    bool *unique;             /* unique[m]: the multiplier is determined, because the constraint is not redundant */
    graph_node *acceleration; /* acceleration[n]: q'' in terms of the free velocities and their rates */
    const char **solved_from; /* solved_from[n]: constraint from which a velocity is solved; NULL: no constraint */
    graph_node *symbol;       /* symbols of the free velocities, at most n */
    const char **name;        /* names of the free velocities */
    size_t count;             /* number of free velocities */
} freedoms;

/* Solves the constraints for velocities. The free velocities are the quasi-velocities of the description. Without
 * quasi-velocities in the description, the free velocities are velocities along the free directions of constraints, and
 * velocities of coordinates. Returns false after adding an error, or if out of memory. */
bool freedoms_solve(written *w, freedoms *f);

/* Rewrites an expression in (t, q, q', q'') in terms of the free velocities and their rates. */
graph_node freedoms_substitute(written *w, const freedoms *f, graph_node node);

/* Returns Σ_i x_i ∂q'_i/∂u for the symbol u of a free velocity, or of a quasi-velocity ω. */
graph_node freedoms_project(written *w, const freedoms *f, graph_node u, graph_node (*x)(written *, size_t));

/* Writes the multipliers as expressions, if f->reactions is true. If `eliminated` is true, the expressions contain only
 * the free velocities and their rates. */
bool freedoms_reactions(written *w, const freedoms *f, bool eliminated);

/* Fills the fields of `w` that the C code is printed from (written.h). freedoms_reactions and freedoms_machine return
 * false after adding an error, or if out of memory. */
bool freedoms_machine(written *w, const freedoms *f);
