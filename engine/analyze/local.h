/* local.h — equations of motion and their first derivatives at one state, as dense matrices.
 *
 *     R(t, q, q', q'', λ, p) = 0     n + m rows: equations of motion, then constraints at the level of accelerations
 *     Φ(t, q, p) = 0                 m rows; 0 for constraints without a position level
 *     ψ(t, q, q', p) = 0             m rows; 0 for constraints without a velocity level
 *
 * Programs in tangent mode compute derivatives with respect to the state. Derivatives with respect to parameters p are
 * expressions of the graph. The row of an inactive constraint is λ_c = 0. Matrices are row-major. */
#pragma once

#include "engine/dynamics/discrete_state.h"

#include <lapacke.h>

enum { LOCAL_MOST = 600 }; /* upper bound of n + m: a dense matrix of 600² doubles takes 3 MB */

/* A program of the model with a workspace and arrays for derivatives. The workspace is prepared for the parameters of
 * the model (model_workspace). */
typedef struct local_program {
    const program *p;
    double *work, *tangent, *dots, *seeds;
} local_program;

typedef struct local_equations {
    arena memory;
    hamel_model *model; /* borrowed; derivatives are added to its graph */
    size_t n, m, rows;  /* rows = n + m */
    size_t inputs;
    discrete_state discrete_state;  /* branches of nonsmooth operators at the state */
    program *by_inputs;             /* ∂(R, Φ, ψ)/∂p, input by input; NULL if there are no inputs */
    local_program levels, residual; /* levels: values Φ and ψ of the constraints; residual: R */

    double *R, *phi, *psi; /* values; R: rows entries; phi, psi: m entries */
    /* Derivatives of R with respect to q, v and a (rows × n), λ (rows × m) and the parameters p (rows × inputs). */
    double *R_q, *R_v, *R_a, *R_l, *R_p;
    /* Derivatives of phi and psi with respect to q and v (m × n) and the parameters p (m × inputs). */
    double *phi_q, *phi_p, *psi_q, *psi_v, *psi_p;
    /* dynamics: outputs of the dynamics program; input_work, input_values: workspace and outputs of by_inputs */
    double *dynamics, *input_work, *input_values;
} local_equations;

typedef struct local_state {
    double t;
    const double *q, *v, *a, *lambda; /* q, v, a: n entries; lambda: m entries */
} local_state;

/* An entry of the list of all arrays of values and derivatives. The last m rows of each matrix belong to the
 * constraints. */
enum { LOCAL_MATRICES = 13 };
typedef struct local_matrix {
    double **values; /* rows × columns */
    size_t rows, columns;
} local_matrix;
void local_list(local_equations *l, local_matrix list[LOCAL_MATRICES]);

/* Creates the equations. `inputs` are names of parameters. Parameters that depend on these inputs change with them.
 * Returns HAMEL_INVALID if an input does not exist, if dry friction acts, or if prescribed work depends on reactions.
 * Returns HAMEL_LIMIT if n + m exceeds LOCAL_MOST. Call local_free also on failure. */
hamel_status local_create(local_equations *l, hamel_model *model, const hamel_argument *inputs, size_t input_count,
                          hamel_error *error) HAMEL_CHECKED;
void local_free(local_equations *l);

/* Fills the matrices. Returns HAMEL_NOT_FINITE with an error if a value or a derivative is not finite. First calls the
 * poll function of the model's system. If the poll function does not return HAMEL_OK, returns its status without an
 * error, so loops that call local_evaluate end after a cancellation. `error` may be NULL. */
hamel_status local_evaluate(local_equations *l, const local_state *s, hamel_error *error) HAMEL_CHECKED;

/* Creates arrays for the derivatives of the first `outputs` outputs of p with respect to at most `symbols` symbols of a
 * kind. Returns false if out of memory. */
bool local_program_create(local_program *l, const hamel_model *model, const program *p, size_t outputs, size_t symbols,
                          arena *memory);

/* Rows of a matrix that receive the derivatives of outputs [first, first + count) of a program. */
typedef struct local_rows {
    size_t first, count, stride;
    double *matrix; /* count rows, `stride` numbers apart */
} local_rows;

/* Fills `rows` with the derivatives with respect to all symbols of `kind` at the point `in`. */
void local_derivatives(local_program *l, const program_inputs *in, graph_symbol_kind kind, size_t symbols,
                       const local_rows *rows, size_t row_count);

/* --- linear.c ----------------------------------------------------------------------------------------------------- */

/* Evaluates the equations at the state and reduces them to a linear system in independent coordinates and velocities.
 * Fills *out except coordinates, q, v, lambda and inputs. Allocates in `memory`. Returns HAMEL_SINGULAR if the
 * accelerations are not determined. `error` may be NULL. */
hamel_status linear_evaluate(hamel_linearization *out, local_equations *l, const local_state *s, arena *memory,
                             hamel_error *error) HAMEL_CHECKED;

/* Returns true if LAPACK failed to allocate its workspace. */
static inline bool lapacke_starved(int info) {
    return info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR;
}
