/* local.h — the equations of motion and their first derivatives at one state, as dense matrices.
 *
 *     R(t, q, q', q'', λ, p) = 0     n + m rows: motion, then constraints at the level of accelerations
 *     Φ(t, q, p) = 0                 m rows; 0 where a constraint has no position level
 *     ψ(t, q, q', p) = 0             m rows; 0 where it has no velocity level
 *
 * Derivatives by the state come from the programs by forward mode, those by parameters p from the graph. Rows of
 * constraints that do not act are λ_c = 0. Matrices are row-major. */
#ifndef HAMEL_ANALYZE_LOCAL_H
#define HAMEL_ANALYZE_LOCAL_H

#include "engine/solve/mode.h"

enum { LOCAL_MOST = 600 }; /* coordinates and constraints together */

typedef struct local_equations {
    arena memory;
    hamel_model *model; /* borrowed; its graph is extended */
    size_t n, m, rows;  /* rows = n + m */
    size_t inputs;
    motion_mode mode;   /* for the branches at the state */
    program *by_inputs; /* ∂(R, Φ, ψ)/∂p, one input after the other; NULL without inputs */

    double *R, *phi, *psi;                         /* rows, m, m */
    double *R_q, *R_v, *R_a, *R_l, *R_p;           /* rows × n, n, n, m, inputs */
    double *phi_q, *phi_p, *psi_q, *psi_v, *psi_p; /* m × n, inputs, n, n, inputs */
    double *dynamics, *work, *tangent_work, *dots, *seeds, *input_work, *input_values;
} local_equations;

typedef struct local_state {
    double t;
    const double *q, *v, *a, *lambda; /* n, n, n, m */
} local_state;

/* `inputs`: names of parameters; parameters made of them move along. HAMEL_INVALID names one that does not exist;
 * HAMEL_LIMIT when the system is larger than LOCAL_MOST; HAMEL_INVALID where forces depend on reactions in a way that has
 * no derivative here (friction, prescribed work that asks for reactions). local_free in any case. */
hamel_status local_create(local_equations *l, hamel_model *model, const hamel_argument *inputs, size_t input_count,
                          hamel_error *error) HAMEL_CHECKED;
void local_free(local_equations *l);

/* Fills the matrices. HAMEL_NOT_FINITE, with a fault, when a value or a derivative is not finite. First asks the poll of the
 * model's system: if the answer is not HAMEL_OK, it is returned without a fault, so that every loop over this ends. */
hamel_status local_evaluate(local_equations *l, const local_state *s, hamel_error *error) HAMEL_CHECKED;

#endif
