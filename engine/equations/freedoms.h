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

/* energy_rate.c: writes the energy h* in the free velocities, the terms of its rate, and the sum of the terms. If
 * `by_inertia` is true, the terms are those of Greenwood 4.380, otherwise those of Greenwood 4.393. Returns false after
 * adding an error, or if out of memory. */
bool write_quasi_energy_rate(written *w, const freedoms *f, bool by_inertia);

/* Fills the fields of `w` that the C code is printed from (written.h). freedoms_reactions and freedoms_machine return
 * false after adding an error, or if out of memory. */
bool freedoms_machine(written *w, const freedoms *f);

/* Returns Σ_s γ_rs u_s + γ_r, the coefficient of δθ_r in d(δθ)/dt − δu. `form` is the velocity form u = Σ Ψ_i q'_i +
 * Ψ_t, and r is the index of a free velocity. γ are Hamel's coefficients of u (Greenwood 4.383). */
graph_node freedoms_commutator(written *w, const freedoms *f, graph_node form, size_t r);

/* The first function writes q' in terms of the free velocities, the second one writes Hamel's coefficients. Both return
 * false if out of memory. */
bool freedoms_kinematics(written *w, const freedoms *f);
bool freedoms_coefficients(written *w, const freedoms *f);

/* Writes the equations in the free velocities in the form w->form. `as` is the name of the formulation. The kinematics
 * must be written before. Returns false after adding an error, or if out of memory. */
bool freedoms_write(written *w, freedoms *f, const char *as);

/* restricted.c: writes T*, the kinetic energy in the free velocities, by degree in these velocities, and the
 * coefficients of the equations of motion. Returns false after adding an error, or if out of memory. */
bool write_restricted(written *w, const freedoms *f);

/* principles.c: the first function writes Jourdain's principle in the free velocities, the second one writes the
 * central equation. Both return false after adding an error, or if out of memory. */
bool write_jourdain_of(written *w, const freedoms *f);
bool write_central_of(written *w, const freedoms *f);
