/* equations.h — the equations of motion as graph expressions.
 *
 *     M(q,t) q'' = Q(q,q',t) + Aᵀλ + F|λ|      n rows
 *     A q'' = b                                m rows: every constraint at the level of accelerations
 *
 * Q contains all terms except M q'' and the reactions. F|λ| is Coulomb friction: column k of F is multiplied by |λ_c|,
 * where constraint c supplies the normal force of friction k. M, A and F are lists of structural nonzeros. All arrays
 * are allocated in the system's arena. */
#pragma once

#include "engine/linear/congruence.h"
#include "engine/system/system.h"

typedef struct matrix_entry {
    int32_t row, column;
    graph_node node;
} matrix_entry;

typedef struct matrix_pattern {
    matrix_entry *entries; /* sorted by row, then column; one entry for each element */
    size_t count, capacity;
} matrix_pattern;

/* ∂Ψ_row,i/∂q_k */
typedef struct curl_entry {
    int32_t row, i, k;
    graph_node node;
} curl_entry;

/* Derivatives from which Hamel's coefficients are computed. Each row may become a row of Ψ: first the rows of the
 * user's quasi-velocities, then those of the constraints. Rows of holonomic constraints have no entries in `curl` and
 * `time`. Rows of acceleration constraints have no entries at all. */
typedef struct transitivity_nodes {
    size_t row_count;
    matrix_pattern rate;  /* dΨ_ji/dt along the motion */
    matrix_pattern slope; /* ∂u_j/∂q_i at fixed q' */
    matrix_pattern time;  /* ∂Ψ_ji/∂t − ∂Ψ_jt/∂q_i, where Ψ_jt is u_j at q' = 0 */
    curl_entry *curl;
    size_t curl_count, curl_capacity;
} transitivity_nodes;

typedef struct hamel_equations {
    hamel_system *system;
    size_t n, m;
    bool held; /* true if directions of friction are branches (runs), false if they follow the slip (display) */

    /* Allows the factored form M = Bᵀ D B (extended_system.h), which is used if terms of the energies share sums. The
     * pattern M is then empty. */
    bool may_factor_mass;
    congruence *mass;        /* structure of Bᵀ D B; NULL if the pattern M contains the entries */
    graph_node *mass_values; /* coefficients in B, then entries of D */

    graph_node *zeros;    /* n constant nodes 0, for substitutions (equations_zeros) */
    graph_node *momentum; /* p_i = ∂L/∂q'_i */
    matrix_pattern M;     /* lower triangle: row ≥ column */
    graph_node *Q;        /* n */
    matrix_pattern W;     /* row i, column c: ∂Q_i/∂λ_c; empty unless forces contain multipliers */

    matrix_pattern A;     /* row c, column i: reaction of constraint c on q_i per unit of λ_c */
    matrix_pattern F;     /* row i, column k: force of friction k on q_i per unit of |λ| of its constraint */
    graph_node *b;        /* m */
    graph_node *position; /* m: Φ_c of a holonomic constraint, GRAPH_NONE otherwise */
    graph_node *velocity; /* m: dΦ_c/dt or f_c; GRAPH_NONE for an acceleration constraint */

    /* The user's quasi-velocities, for formulations in quasi-velocities: u_r = Σ C_ri q'_i + d_r */
    matrix_pattern C;       /* row r: ∂u_r/∂q' */
    graph_node *quasi;      /* u_r */
    graph_node *quasi_bias; /* du_r/dt at q'' = 0 */

    transitivity_nodes *transitivity; /* NULL if the formulation does not need it */

    /* n: Q of Lagrange's equations minus Q of this formulation; NULL if the two are equal. The two Q agree in the
     * directions that the constraints allow. If ω is valid only on the constraint manifold (quaternions), the two Q may
     * differ in other directions. Multipliers are computed with Lagrange's Q. */
    graph_node *reaction_shift;

    /* The same equations as residuals in (t, q, q', q'', λ), for the Newton matrix:
     *   n rows  d/dt ∂L/∂q' − ∂L/∂q − Q_given − Aᵀλ − F|λ|,   m rows  A q'' − b */
    graph_node *residual; /* n + m */

    graph_node *nonideal;      /* n: prescribed reaction C of nonideal constraints; NULL if all constraints are ideal */
    graph_node *momentum_rate; /* n: p' without reactions, ∂L/∂q + Q; NULL unless the formulation uses momenta */
    bool *independent;         /* n: true if q'_i must not be dependent; NULL except in Chaplygin's equations */
    bool *cyclic;      /* n: whether a constant momentum replaces the velocity; NULL except in Routh's equations */
    graph_node *terms; /* terms of L if M and Q follow from these terms alone; otherwise NULL */
    size_t term_count;
    graph_node *given;      /* n: generalized forces without a potential: impressed forces and −∂D/∂q' */
    graph_node jacobi;      /* h = q'·∂L/∂q' − L */
    graph_node jacobi_rate; /* dh/dt along the motion (Greenwood 4.379) */
} hamel_equations;

/* constraints.c: fills A, b, position, velocity and the last m residuals. If an acceleration constraint is not linear
 * in the accelerations, an error is added to the system's error. */
hamel_status constraints_derive(hamel_equations *e) HAMEL_CHECKED;

/* friction.c: fills F and subtracts F|λ| from the residuals. */
hamel_status friction_derive(hamel_equations *e) HAMEL_CHECKED;

/* Returns Σ F_ik |λ_c| x_i, the power of sliding friction for the velocities x[n]. For x = q', the power is never
 * positive on surfaces at rest. */
graph_node friction_power(const hamel_equations *e, const graph_node *x);

/* Returns `node` with each branch symbol replaced by the argument of its operator. The held directions of friction
 * become the slips themselves. */
graph_node friction_let_go(const hamel_equations *e, graph_node node);

/* lagrange.c: adds d/dt ∂L/∂q' − ∂L/∂q of one term of L to M, Q, momentum and the residuals. */
bool lagrange_add_term(hamel_equations *e, graph_node term);

/* quasi_velocities.c: derives Lagrange's equations and fills C, quasi and quasi_bias. If add_others and add_rotors are
 * not NULL, also replaces M and Q, and fills reaction_shift. `add_rotors` then adds the contribution of rotations, and
 * `add_others` adds the contribution of all other masses. On failure, `add_others` and `add_rotors` add an error and
 * return false. */
hamel_status quasi_velocities_derive(hamel_equations *e, bool (*add_others)(hamel_equations *e),
                                     bool (*add_rotors)(hamel_equations *e)) HAMEL_CHECKED;

/* boltzmann_hamel.c: fills `transitivity` for the rows of the constraints. If `quasi` is filled, also fills it for the
 * rows of the description's quasi-velocities. Lagrange's equations must have been derived. */
hamel_status boltzmann_hamel_coefficients(hamel_equations *e) HAMEL_CHECKED;

/* chaplygin.c: sets absent[i] for the coordinates that no energy or force contains. If `from_constraints` is true, no
 * constraint may contain them either. Lagrange's equations must have been derived. Adds an error and returns false on
 * failure. */
bool chaplygin_find_absent(hamel_equations *e, bool from_constraints, bool *absent) HAMEL_CHECKED;

/* gibbs_appell.c: adds one term of a Gibbs–Appell function to M, Q and the residuals. Adds an error and returns false
 * on failure. */
bool appell_add_term(hamel_equations *e, graph_node term);

/* energies.c: returns the *count terms of L = T − V, or of the lagrangian of the description, with their signs. Returns
 * NULL if out of memory. */
graph_node *energies_lagrangian_terms(hamel_system *s, size_t *count);

/* Returns the n nodes ∂L/∂q, in the system's memory, or NULL after adding an error. */
graph_node *energies_slopes(const hamel_equations *e);

/* energy_rate.c: fills jacobi and jacobi_rate. Call it last, because it reads the other fields. */
hamel_status energies_derive(hamel_equations *e) HAMEL_CHECKED;

/* Return T, V or S (Gibbs–Appell) as one node. If the system does not define this energy, add an error and return
 * GRAPH_NONE. */
graph_node energies_kinetic(const hamel_equations *e);
graph_node energies_kinetic_part(const hamel_equations *e, int degree); /* degree 0, 1 or 2 in the velocities */
graph_node energies_potential(const hamel_equations *e);
graph_node energies_acceleration(const hamel_equations *e);

/* Returns true if all `count` nodes of `inertia`, a mass or moments of inertia, are constant. */
bool energies_inertia_is_constant(const hamel_system *s, const graph_node *inertia, size_t count);

/* The first function returns the term of T for one velocity component of a particle. The second function returns the
 * term for a rotation. */
graph_node energies_kinetic_of_particle(hamel_system *s, const system_particle *p, int component);
graph_node energies_kinetic_of_rotor(hamel_system *s, const system_rotor *r);

/* The first function returns the term of S for a rotation. The second function returns the other *count terms of S, or
 * NULL if out of memory. Parts of S without accelerations are omitted. */
graph_node energies_acceleration_of_rotor(hamel_system *s, const system_rotor *r);
graph_node *energies_acceleration_terms(hamel_system *s, size_t *count);

/* Returns `node`, an expression that contains momenta. If the user specifies an acceleration energy, which does not
 * define momenta, adds an error about `what` and returns GRAPH_NONE. */
graph_node energies_need_momentum(const hamel_equations *e, graph_node node, const char *what);

/* outputs.c: the nodes of all observed expressions. Each array is in the system's arena and has one node for each item
 * of the description. */
typedef struct hamel_observed {
    graph_node *outputs, *invariants, *checks;
    /* The energy in reports about impulses: T, or T2 − T0 + V if the description contains a lagrangian. At an impulse
     * T2 − T0 + V jumps as T2 does. GRAPH_NONE if no event has impulses or if these energies are not defined. */
    graph_node kinetic;
} hamel_observed;

/* Binds all observed expressions and the expressions of the system's events. If `e` is NULL, only syntax and names are
 * checked. Errors are added to the system's error. */
hamel_status outputs_bind(hamel_observed *out, hamel_system *s, const hamel_equations *e);

/* percussions.c: binds the percussions of an event and sets momenta, momentum_rows, momentum_columns and momentum_count
 * of `at`, which are allocated in the system's memory. Returns false after adding an error. */
bool percussions_bind(hamel_system *s, system_event *at, const loop_scope *scope, const system_quantities *quantities);

/* --- pattern helpers (equations.c) --------------------------------------------------------------------------------- */

/* Appends an entry. pattern_finish sorts the entries and adds up entries with the same row and column. Returns false if
 * out of memory. */
bool pattern_add(hamel_system *s, matrix_pattern *p, int32_t row, int32_t column, graph_node node);
bool pattern_finish(hamel_system *s, matrix_pattern *p);

/* Finds the entries of a row of a finished pattern: sets *first and returns their number. */
size_t pattern_row(const matrix_pattern *p, int32_t row, size_t *first);

/* Returns an array of n constant nodes 0. On failure, adds an error and returns NULL. */
graph_node *node_array(hamel_system *s, size_t n);

/* Returns n constant nodes 0. On failure, adds an error and returns NULL. All constraints share one array, because an
 * array for each constraint would need quadratic memory. */
const graph_node *equations_zeros(hamel_equations *e);

/* Copies the symbols of `kind` in `node` to *list, because graph_support's list is invalid after the next call. Returns
 * the number of symbols. */
size_t node_support(hamel_system *s, graph_node node, graph_symbol_kind kind, int32_t **list);

/* Returns HAMEL_OK, or the status of the error that stopped the derivation. */
hamel_status equations_status(hamel_system *s);

/* Adds an error that describes why an allocation failed or a node is missing. Returns the status of the graph (budget
 * exceeded, canceled), or HAMEL_NO_MEMORY, which replaces earlier errors. */
hamel_status equations_exhausted(hamel_system *s);
