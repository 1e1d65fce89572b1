/* equations.h — the equations of motion as graph expressions.
 *
 *     M(q,t) q'' = Q(q,q',t) + Aᵀλ + F|λ|      n rows
 *     A q'' = b                                m rows: every constraint at the level of accelerations
 *
 * Q holds everything that is neither mass times acceleration nor reaction. F|λ| is Coulomb friction: a column belongs to
 * one constraint, whose |λ| is meant. M, A and F are lists of their structural nonzeros. All memory is the arena's of
 * the system. */
#ifndef HAMEL_MECHANICS_EQUATIONS_H
#define HAMEL_MECHANICS_EQUATIONS_H

#include "engine/system/system.h"

typedef struct matrix_entry {
    int32_t row, column;
    graph_node node;
} matrix_entry;

typedef struct matrix_pattern {
    matrix_entry *entries; /* sorted by row, then column; one an element */
    size_t count, capacity;
} matrix_pattern;

/* ∂Ψ_row,i/∂q_k */
typedef struct curl_entry {
    int32_t row, i, k;
    graph_node node;
} curl_entry;

/* What Hamel's coefficients are made of. Rows are those of Ψ that may be taken: the user's quasi-velocities, then the
 * constraints. Rows of holonomic constraints have no entry in curl and time, those of acceleration constraints none. */
typedef struct transitivity_nodes {
    size_t row_count;
    matrix_pattern rate;  /* dΨ_ji/dt along the motion */
    matrix_pattern slope; /* ∂u_j/∂q_i at fixed q' */
    matrix_pattern time;  /* ∂Ψ_ji/∂t − ∂Ψ_jt/∂q_i */
    graph_node *rest;     /* Ψ_jt: u_j at q' = 0 */
    curl_entry *curl;
    size_t curl_count, curl_capacity;
} transitivity_nodes;

typedef struct hamel_equations {
    hamel_system *system;
    size_t n, m;
    bool held; /* for a run, which holds the direction of friction between events; otherwise as it is read */

    graph_node *zeros;    /* n times the number 0, to substitute; see equations_zeros */
    graph_node *momentum; /* p_i = ∂L/∂q'_i */
    matrix_pattern M;     /* lower triangle: row ≥ column */
    graph_node *Q;        /* n */
    matrix_pattern W;     /* ∂Q_i/∂λ_c where forces contain multipliers; row i, column c */

    matrix_pattern A;     /* row c, column i: direction of the reaction of c */
    matrix_pattern F;     /* row i, column k: force of the k-th friction for each unit of |λ| of its constraint */
    graph_node *b;        /* m */
    graph_node *position; /* m: Φ_c of a holonomic constraint, GRAPH_NONE otherwise */
    graph_node *velocity; /* m: dΦ_c/dt or f_c; GRAPH_NONE for an acceleration constraint */

    /* Where the formulation is one of quasi-velocities, those of the user: u_r = Σ C_ri q'_i + d_r */
    matrix_pattern C;       /* row r: ∂u_r/∂q' */
    graph_node *quasi;      /* u_r */
    graph_node *quasi_bias; /* du_r/dt without accelerations */

    transitivity_nodes *transitivity; /* NULL where the formulation does not ask for it */

    /* Where M and Q are not Lagrange's: n, by what Lagrange's Q is larger; NULL for nothing. The two agree along the
     * constraints. Across them they may not, where angular velocities are such on the constraints only (quaternions), and
     * multipliers are Lagrange's. */
    graph_node *reaction_shift;

    /* The same equations as residuals in (t, q, q', q'', λ), for Newton's matrix:
     *   n rows  d/dt ∂L/∂q' − ∂L/∂q − Q_given − Aᵀλ − F|λ|,   m rows  A q'' − b */
    graph_node *residual; /* n + m */

    graph_node *nonideal;      /* n: C of constraints that are not ideal; NULL when all are */
    graph_node *momentum_rate; /* n: ∂L/∂q + Q, p' without reactions; NULL unless the formulation is in momenta */
    bool *cyclic; /* n: coordinates whose velocities their constant momenta stand for; NULL but in Routh's equations */
    graph_node *given;      /* n: generalized forces that stem from no potential: given ones and −∂D/∂q' */
    graph_node jacobi;      /* h = q'·∂L/∂q' − L */
    graph_node jacobi_rate; /* its rate along the motion (Greenwood 4.379) */
} hamel_equations;

/* --- constraints.c ------------------------------------------------------------------------------------------------ */

/* Fills A, b, position, velocity and the last m residuals. Faults (acceleration constraints that are not linear in the
 * accelerations) go to the system's error. */
hamel_status constraints_derive(hamel_equations *e) HAMEL_CHECKED;

/* --- friction.c --------------------------------------------------------------------------------------------------- */

/* Fills F and subtracts F|λ| from the residuals. */
hamel_status friction_derive(hamel_equations *e) HAMEL_CHECKED;

/* Σ F_ik |λ_c| q'_i: what friction takes from the motion, never positive. */
graph_node friction_power(const hamel_equations *e);

/* `node`, where frictions have the directions of their slips in place of those that are held. */
graph_node friction_let_go(const hamel_equations *e, graph_node node);

/* --- lagrange.c --------------------------------------------------------------------------------------------------- */

/* Adds d/dt ∂L/∂q' − ∂L/∂q of one term of L to M, Q, momentum and the residuals. */
bool lagrange_add_term(hamel_equations *e, graph_node term);

/* --- inertia.c ---------------------------------------------------------------------------------------------------- */

/* Puts other M and Q in the place of those of Lagrange's equations, which are there already: `add_rotors` gives what
 * rotations contribute, `add_others` all other masses, false with a fault; potentials and given forces are as before.
 * Fills reaction_shift. */
hamel_status inertia_replace(hamel_equations *e, bool (*add_others)(hamel_equations *e),
                             bool (*add_rotors)(hamel_equations *e)) HAMEL_CHECKED;

/* Whether a mass or moment of inertia stays what it is; the terms of T where it does not. */
bool inertia_is_constant(const hamel_system *s, const graph_node *inertia, size_t count);
graph_node inertia_of_particle(hamel_system *s, const system_particle *p, int component);
graph_node inertia_of_rotor(hamel_system *s, const system_rotor *r);

/* --- quasi_velocities.c ------------------------------------------------------------------------------------------- */

/* Fills C, quasi and quasi_bias. */
hamel_status quasi_velocities_derive(hamel_equations *e) HAMEL_CHECKED;

/* --- appell.c ---------------------------------------------------------------------------------------------------- */

/* Adds what one term of a Gibbs–Appell function says to M, Q and the residuals. False with a fault. */
bool appell_add_term(hamel_equations *e, graph_node term);

/* --- energies.c --------------------------------------------------------------------------------------------------- */

/* The terms of L = T − V, or of the given lagrangian: *count nodes, signs applied. NULL without memory. */
graph_node *energies_lagrangian_terms(hamel_system *s, size_t *count);

/* n nodes ∂L/∂q, in the system's memory. NULL with a fault. */
graph_node *energies_slopes(const hamel_equations *e);

/* Fills jacobi and jacobi_rate; needs everything else. */
hamel_status energies_derive(hamel_equations *e) HAMEL_CHECKED;

/* T, V and the Gibbs–Appell function S as single nodes; GRAPH_NONE when the system cannot have them (fault added). */
graph_node energies_kinetic(const hamel_equations *e);
graph_node energies_kinetic_part(const hamel_equations *e, int degree); /* of T, in the velocities: 0, 1, 2 */
graph_node energies_potential(const hamel_equations *e);
graph_node energies_acceleration(const hamel_equations *e);

/* The terms of S, each up to what is free of accelerations: those of rotations, and *count others (NULL without memory). */
graph_node energies_acceleration_of_rotor(hamel_system *s, const system_rotor *r);
graph_node *energies_acceleration_terms(hamel_system *s, size_t *count);

/* `node`, which is made of momenta; GRAPH_NONE with a fault when a given acceleration energy leaves them unknown. */
graph_node energies_need_momentum(const hamel_equations *e, graph_node node, const char *what);

/* --- pattern helpers (equations.c) --------------------------------------------------------------------------------- */

/* Appends; entries may repeat until pattern_finish sorts them and adds equals up. False without memory. */
bool pattern_add(hamel_system *s, matrix_pattern *p, int32_t row, int32_t column, graph_node node);
bool pattern_finish(hamel_system *s, matrix_pattern *p);

/* Entries of one row of a finished pattern: *first and the number of them. */
size_t pattern_row(const matrix_pattern *p, int32_t row, size_t *first);

/* An array of n nodes, all the number 0. NULL with a fault. */
graph_node *node_array(hamel_system *s, size_t n);

/* n zeros, made once: one array a constraint would be quadratic. NULL with a fault. */
const graph_node *equations_zeros(hamel_equations *e);

/* A copy of the symbols of `kind` in `node`: graph_support's own list dies at the next call. */
size_t node_support(hamel_system *s, graph_node node, graph_symbol_kind kind, int32_t **list);

/* HAMEL_OK, or the fault that stopped the graph. */
hamel_status equations_status(hamel_system *s);

#endif
