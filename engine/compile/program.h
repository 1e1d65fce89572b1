/* program.h — graph expressions compiled to straight-line code over doubles.
 *
 * A program has inputs (one slot for each symbol it reads, by kind and index), constants, and outputs. It is split in
 * two parts: what depends on parameters only is evaluated once per run (program_prepare), the rest at each call.
 * Equal work is done once (the graph shares it) and slots are reused when their value is dead.
 *
 * A program is immutable and shared by threads. A workspace belongs to one thread at a time, holds every value, is
 * sized once and is never grown: evaluation allocates nothing and touches nothing else. */
#ifndef HAMEL_COMPILE_PROGRAM_H
#define HAMEL_COMPILE_PROGRAM_H

#include "engine/compile/octet.h"
#include "engine/graph/graph.h"

typedef struct program program;

/* Values of the inputs, one array a symbol kind; an array may be NULL when the program reads no symbol of that kind. */
typedef struct program_inputs {
    const double *values[SYMBOL_KIND_COUNT]; /* values[SYMBOL_TIME] points to t */
} program_inputs;

/* Compiles the `count` nodes to the outputs 0..count-1 (nodes may repeat and may be numbers or symbols). Lives in
 * `memory`. Returns HAMEL_OK, HAMEL_NO_MEMORY or HAMEL_LIMIT. Cost: linear in the part of the graph below the nodes. */
hamel_status program_compile(program **out, arena *memory, const graph *g, const graph_node *nodes, size_t count,
                             hamel_error *error) HAMEL_CHECKED;

size_t program_output_count(const program *p);
size_t program_instruction_count(const program *p);
unsigned program_depends(const program *p);         /* GRAPH_DEPENDS bits of all outputs */
size_t program_workspace_doubles(const program *p); /* doubles a workspace needs */

/* The symbols of a kind that are read: how many, and *indices of that many. */
size_t program_reads(const program *p, graph_symbol_kind kind, const uint32_t **indices);

/* Writes constants and everything that depends on parameters only into the workspace. Call once per run, before
 * program_evaluate. Only inputs->values[SYMBOL_PARAMETER] is read. */
void program_prepare(const program *p, const program_inputs *inputs, double *workspace);

/* Evaluates the rest and writes outputs[count]. Values may be infinite or NaN: see program_first_fault. */
void program_evaluate(const program *p, const program_inputs *inputs, double *workspace, double *outputs);

/* Evaluates both parts and finds the operation behind the first output that is not finite: its operands were finite,
 * its result is not, and the output depends on it (a branch that IF does not take is not at fault). Returns its graph
 * node, to be printed in a message, or GRAPH_NONE: all outputs are finite, or the inputs were not. Parameters may be
 * NULL when the workspace is prepared. Slow and allocates; for error messages only. */
graph_node program_first_fault(const program *p, const program_inputs *inputs, double *workspace);

/* --- abreast.c: eight members of an ensemble at once -------------------------------------------------------------- */

/* As program_prepare and program_evaluate, each number being an octet: inputs->values[kind] points to octets by index, the
 * workspace has program_workspace_doubles octets, and outputs[count] are octets. What a member gets is what its own numbers
 * give; it differs from program_evaluate's in the rounding of sines and cosines. */
void program_prepare_abreast(const program *p, const program_inputs *inputs, octet *workspace);
void program_evaluate_abreast(const program *p, const program_inputs *inputs, octet *workspace, octet *outputs);

/* --- tangent.c: directional derivatives by forward mode ----------------------------------------------------------- */

enum { PROGRAM_LANES = 8 };

/* Doubles of scratch that program_tangent needs besides the workspace. */
size_t program_tangent_doubles(const program *p);

/* outputs_dot[i * PROGRAM_LANES + k] = Σ_s ∂output_i/∂s · seed_k(s), for PROGRAM_LANES directions at once, where
 * seeds->values[kind][index * PROGRAM_LANES + k] is the k-th direction's component along symbol (kind, index); a NULL
 * array means zero. Evaluates the values, too (outputs may be NULL). The workspace must be prepared; the parameters are
 * those it was prepared with. 0 · ∞ counts as 0 where a symbol does not move. */
void program_tangent(const program *p, const program_inputs *inputs, const program_inputs *seeds, double *workspace,
                     double *tangent_workspace, double *outputs, double *outputs_dot);

#endif
