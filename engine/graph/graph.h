/* graph.h — one hash-consed expression graph per model.
 *
 * A node is a number, a symbol or an operator on earlier nodes, so ids increase from operands to results and every pass
 * is a loop, never a recursion. Equal expressions are one node. Construction simplifies (constants folded unless the
 * result is not finite, neutral elements, x - x, like terms, integer powers); it never expands products.
 *
 * Errors are sticky: when memory or the node budget ends, every constructor returns GRAPH_NONE, constructors given
 * GRAPH_NONE return it, and graph->status tells why. Check once after building. */
#ifndef HAMEL_GRAPH_GRAPH_H
#define HAMEL_GRAPH_GRAPH_H

#include "engine/base/arena.h"
#include "engine/base/text_buffer.h"
#include "engine/graph/operators.h"
#include "engine/graph/table.h"

#include <stdint.h>

typedef int32_t graph_node;
enum { GRAPH_NONE = -1 };

/* What a symbol stands for; its index counts within the kind. The order is that of dependence in time: a node is
 * evaluated no earlier than its latest kind. */
typedef enum graph_symbol_kind {
    SYMBOL_PARAMETER,
    SYMBOL_TIME,          /* t, index 0 */
    SYMBOL_COORDINATE,    /* q_i */
    SYMBOL_VELOCITY,      /* q'_i */
    SYMBOL_ACCELERATION,  /* q''_i */
    SYMBOL_MULTIPLIER,    /* λ_c, the true one */
    SYMBOL_FREE,          /* acceleration that q''_i would have without constraints */
    SYMBOL_IDEAL,         /* x component of the ideal constraints' reaction */
    SYMBOL_NONIDEAL,      /* x component of what the constraints exert beyond that */
    SYMBOL_BRANCH,        /* of an operator that changes abruptly; fixed between events */
    SYMBOL_STABILIZATION, /* Baumgarte's constants: α, β² */
    SYMBOL_KIND_COUNT
} graph_symbol_kind;

#define GRAPH_DEPENDS(kind) (1u << (kind))

enum { GRAPH_IS_NUMBER = GRAPH_OP_COUNT, GRAPH_IS_SYMBOL };

typedef struct graph_cell {
    uint8_t op;       /* graph_op, GRAPH_IS_NUMBER or GRAPH_IS_SYMBOL */
    uint8_t kind;     /* graph_symbol_kind */
    uint16_t depends; /* GRAPH_DEPENDS bits of all symbols below */
    union {
        graph_node operand[3]; /* unused ones GRAPH_NONE */
        int32_t index;
        double number;
    } as;
} graph_cell;

typedef struct graph graph;

/* Creates an empty graph of at most `max_nodes` in `memory` (borrowed, must outlive it). NULL without memory. */
graph *graph_create(arena *memory, size_t max_nodes);

/* From now on `refuses(context)` is called after about a thousand operations on nodes. When it returns true the graph has
 * the status HAMEL_CANCELED. */
void graph_watch(graph *g, bool (*refuses)(void *context), void *context);
bool graph_refused(const graph *g); /* asks now */

hamel_status graph_status(const graph *g); /* HAMEL_OK, HAMEL_LIMIT, HAMEL_NO_MEMORY or HAMEL_CANCELED */
size_t graph_count(const graph *g);
const graph_cell *graph_at(const graph *g, graph_node node);

/* Takes a table in (borrowed, must outlive the graph and its programs); returns its number, or −1 without memory. */
int32_t graph_add_table(graph *g, const graph_table *table);
const graph_table *const *graph_tables(const graph *g); /* by number */
size_t graph_table_count(const graph *g);

graph_node graph_number(graph *g, double value);
graph_node graph_symbol(graph *g, graph_symbol_kind kind, int32_t index);
graph_node graph_apply(graph *g, graph_op op, graph_node x, graph_node y, graph_node z);

/* The order-th derivative of a table at x; 0 when it is that of a polynomial of lower degree. */
graph_node graph_lookup(graph *g, graph_node x, int32_t table, int order);

/* The node for exactly this operation: nothing is simplified or put in order. For expressions that are to be read. */
graph_node graph_literal(graph *g, graph_op op, graph_node x, graph_node y);

static inline graph_node graph_unary(graph *g, graph_op op, graph_node x) {
    return graph_apply(g, op, x, GRAPH_NONE, GRAPH_NONE);
}
static inline graph_node graph_binary(graph *g, graph_op op, graph_node x, graph_node y) {
    return graph_apply(g, op, x, y, GRAPH_NONE);
}
static inline graph_node graph_add(graph *g, graph_node x, graph_node y) {
    return graph_binary(g, GRAPH_ADD, x, y);
}
static inline graph_node graph_sub(graph *g, graph_node x, graph_node y) {
    return graph_binary(g, GRAPH_SUB, x, y);
}
static inline graph_node graph_mul(graph *g, graph_node x, graph_node y) {
    return graph_binary(g, GRAPH_MUL, x, y);
}
static inline graph_node graph_div(graph *g, graph_node x, graph_node y) {
    return graph_binary(g, GRAPH_DIV, x, y);
}
static inline graph_node graph_neg(graph *g, graph_node x) {
    return graph_unary(g, GRAPH_NEG, x);
}

bool graph_is_number(const graph *g, graph_node node, double *value); /* value may be NULL */
bool graph_is_zero(const graph *g, graph_node node);
unsigned graph_depends(const graph *g, graph_node node); /* GRAPH_DEPENDS bits */

/* --- derivative.c ------------------------------------------------------------------------------------------------ */

/* ∂node/∂symbol, all other symbols held. Results are memoized in the graph, so shared parts are differentiated once. */
graph_node graph_partial(graph *g, graph_node node, graph_node symbol);

/* d node/dt along the motion: ∂/∂t + Σ q'_i ∂/∂q_i + Σ a_i ∂/∂q'_i with a_i = q''_i, or a_i = 0 for the bias (the part
 * of the rate that does not contain accelerations). Accelerations, multipliers and parameters are held. Memoized. */
graph_node graph_rate(graph *g, graph_node node);
graph_node graph_rate_bias(graph *g, graph_node node);

/* The derivative of an operation by its operand k (0 or 1), as an expression of the operands and the operation itself. It is
 * finite wherever it is needed: that of x^y avoids x^(y - 1), whose own derivatives would have no end. */
graph_node graph_slope(graph *g, graph_node node, int k);

/* slopes[i] := Σ ∂root/∂symbols[i] over the roots, for symbols of coordinates, velocities and their like. One sweep for
 * all: cost and new nodes are linear in the part of the graph below the roots. False when the graph fails. */
bool graph_gradient(graph *g, const graph_node *roots, size_t root_count, const graph_node *symbols, size_t count,
                    graph_node *slopes);

/* The symbols of `kind` that `node` contains, increasing by index. Returns how many; *indices is in the graph's memory
 * and valid until the next call. Returns 0 and sets the sticky status without memory. Cost: the size of the part of
 * the graph below `node`. */
size_t graph_support(graph *g, graph_node node, graph_symbol_kind kind, const int32_t **indices);

/* All nodes at or below the roots, increasing, so that operands stand before results. A new array in `memory`; returns
 * their number, 0 when a root is GRAPH_NONE or without memory. */
size_t graph_below(graph *g, const graph_node *roots, size_t count, arena *memory, graph_node **nodes);

/* Where `node` stands in such a list, or would. */
static inline size_t graph_position(const graph_node *nodes, size_t count, graph_node node) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (nodes[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- substitute.c ------------------------------------------------------------------------------------------------ */

/* `node` with every symbol of `kind` replaced by replacement[index] (GRAPH_NONE: kept). */
graph_node graph_substitute(graph *g, graph_node node, graph_symbol_kind kind, const graph_node *replacement,
                            size_t count);

/* The additive terms of a sum: node = Σ sign[i] * term[i]; both arrays in `memory`. Walks +, - and unary minus,
 * and multiplies factors of parameters and numbers into the sums behind them.
 * Returns the number of terms, 0 without memory. */
size_t graph_terms(graph *g, graph_node node, arena *memory, graph_node **terms, signed char **signs);

/* --- turns.c ----------------------------------------------------------------------------------------------------- */

/* Rewrites the roots: sines and cosines of u ± v by those of u and v, where these are wanted anyway or by other sums, too. */
hamel_status graph_turn(graph *g, graph_node *roots, size_t count) HAMEL_CHECKED;

/* --- evaluate.c -------------------------------------------------------------------------------------------------- */

/* Values of symbols by kind and index (NULL: zeros), and how far those of a kind are off, relative to max(1, |value|). */
typedef struct graph_point {
    const double *values[SYMBOL_KIND_COUNT];
    double error[SYMBOL_KIND_COUNT];
} graph_point;

/* value[i] of every node i ≤ last, and a bound error[i] of its error, of first order: last + 1 each. */
void graph_evaluate(const graph *g, graph_node last, const graph_point *at, double *value, double *error);

/* --- print.c ----------------------------------------------------------------------------------------------------- */

/* Names a symbol for printing: appends it to `out`. */
typedef void graph_namer(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out);

/* Infix text that the parser reads back to the same expression; iterative; the buffer's maximum bounds it. */
void graph_print(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out);

/* The same in LaTeX, for math mode; the namer writes LaTeX, too. */
void graph_print_latex(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out);

/* The same as an expression of C in double; beside <math.h> it may call sign(x) and mod(x, y). */
void graph_print_c(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out);

#endif
