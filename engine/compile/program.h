/* program.h — graph expressions compiled to straight-line code over doubles.
 *
 * A program has inputs (one slot for each symbol it reads, by kind and index), constants, and outputs. A program has
 * two parts. program_prepare evaluates the operations that depend on parameters only, once per run. program_evaluate
 * evaluates all other operations, at each call. Equal expressions are one node of the graph and are therefore evaluated
 * once. A slot is reused after the last use of its value.
 *
 * A program is immutable and may be shared by threads. A workspace belongs to one thread at a time, contains all
 * values, and has a fixed size. Evaluation allocates no memory, and writes only the workspace and the outputs. */
#pragma once

#include "engine/base/vec8.h"
#include "engine/graph/graph.h"

typedef struct program program;

/* Machine code (native.h) that either evaluates a program or computes the tangent lanes of all slots from the seeds of
 * one kind of inputs. For tangents, `outputs` points to the lanes. */
typedef void (*program_native)(double *workspace, const double *const *inputs, double *outputs);

/* Values of the inputs, one array per symbol kind. An array may be NULL if the program reads no symbol of that kind. */
typedef struct program_inputs {
    const double *values[SYMBOL_KIND_COUNT]; /* values[SYMBOL_TIME] points to t */
} program_inputs;

/* Compiles nodes[count] to a program with the outputs 0..count-1. Nodes may repeat and may be numbers or symbols. The
 * program is allocated in `memory`. Returns HAMEL_OK, HAMEL_NO_MEMORY or HAMEL_LIMIT. Cost: linear in the reachable
 * subgraph. */
hamel_status program_compile(program **out, arena *memory, const graph *g, const graph_node *nodes, size_t count,
                             hamel_error *error) HAMEL_CHECKED;

size_t program_output_count(const program *p);
size_t program_instruction_count(const program *p);
unsigned program_depends(const program *p);         /* GRAPH_DEPENDS bits of all outputs */
size_t program_workspace_doubles(const program *p); /* size of a workspace in doubles */

/* Returns the number of symbols of a kind that the program reads, and sets *indices to their indices. */
size_t program_reads(const program *p, graph_symbol_kind kind, const uint32_t **indices);

/* Writes constants and the values that depend on parameters only to the workspace. Call this function once per run,
 * before program_evaluate. Of the inputs, the function reads only inputs->values[SYMBOL_PARAMETER]. */
void program_prepare(const program *p, const program_inputs *inputs, double *workspace);

/* Evaluates the operations that program_prepare has not evaluated, and writes outputs[count]. Outputs may be infinite
 * or NaN; program_first_fault finds the cause. */
void program_evaluate(const program *p, const program_inputs *inputs, double *workspace, double *outputs);

/* Evaluates both parts of the program and finds the cause of the first output that is not finite. The cause is an
 * operation with finite operands and a result that is not finite. Branches that IF does not take are ignored. Returns
 * the graph node of the operation, or GRAPH_NONE if all outputs are finite or an input is not finite. Parameters may be
 * NULL if the workspace is prepared. This function is slow and allocates memory. Use it for error messages only. */
graph_node program_first_fault(const program *p, const program_inputs *inputs, double *workspace);

/* --- program_vec8.c: eight members of a sweep at once ------------------------------------------------------------- */

/* These functions work as program_prepare and program_evaluate do, but inputs->values[kind], the workspace and
 * outputs[count] contain a vec8 instead of each double. The results of a member are bit-identical to those of
 * program_evaluate and do not depend on other members. */
void program_prepare_vec8(const program *p, const program_inputs *inputs, vec8 *workspace);
void program_evaluate_vec8(const program *p, const program_inputs *inputs, vec8 *workspace, vec8 *outputs);

/* --- tangent.c: directional derivatives by forward mode ----------------------------------------------------------- */

enum { PROGRAM_LANES = 8 };

/* Returns the number of scratch doubles that program_tangent needs in addition to the workspace. */
size_t program_tangent_doubles(const program *p);

/* Computes outputs_dot[i * PROGRAM_LANES + k] = Σ_s ∂output_i/∂s · seed_k(s), summed over all inputs s, for
 * PROGRAM_LANES directions k at once. seeds->values[kind][index * PROGRAM_LANES + k] is the component of direction k
 * along symbol (kind, index). A NULL array means zeros. Also evaluates the outputs (which may be NULL). The workspace
 * must be prepared, and the parameters stored in the workspace are used. If a seed is 0, its product with an infinite
 * derivative counts as 0. */
void program_tangent(const program *p, const program_inputs *inputs, const program_inputs *seeds, double *workspace,
                     double *tangent_workspace, double *outputs, double *outputs_dot);
