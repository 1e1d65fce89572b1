/* moving_frame.h — the quasi-velocities of a description, completed to n independent velocities, and their inverse.
 *
 *     u_j = Σ Ψ_ji q'_i + Ψ_jt,     q'_i = Σ Φ_ik u_k + Φ_it          (Papastavridis 2.9; Greenwood 4.383) */
#pragma once

#include "engine/analyze/analysis_int.h"

/* Upper bounds on the number of coordinates and on the number of graph nodes of all velocities. The bounds keep the
 * report readable: 12 velocities have up to 936 coefficients. For larger systems, the report omits the coefficients. */
enum { VELOCITIES_MOST = 12, FRAME_NODES = 300 };

/* γ^of_{first second} */
typedef struct frame_coefficient {
    size_t of, first, second; /* the indices j, r and l of γ^j_rl; `second` is n for γ^j_r */
    graph_node value;
    bool present;
} frame_coefficient;

typedef struct moving_frame {
    analysis *a;
    size_t n;
    hamel_names names;       /* names of the velocities; the name of the rate of a coordinate ends with a prime */
    graph_node *Psi, *Psi_t; /* Psi: n × n; Psi_t: n entries */
    graph_node *Phi, *Phi_t; /* Phi: n × n, row i belongs to q'_i; Phi_t: n entries */
    graph_node *zeros;       /* n nodes, all equal to 0 */
    rank_rows basis;         /* like `values`, valid only while velocities are chosen */
    double *values;
    frame_coefficient *items; /* nonzero coefficients */
    size_t item_count, item_capacity;
} moving_frame;

/* Computes *f; its arrays are in a->memory. Requires a->samples and a->linear. Stores in *good whether *f is valid. *f
 * is not valid if the description has no quasi-velocities or exceeds the bounds above, or if the work budget is spent.
 * On failure, adds an error. */
hamel_status moving_frame_create(moving_frame *f, analysis *a, bool *good) HAMEL_CHECKED;
