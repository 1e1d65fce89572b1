/* graph.h — one hash-consed expression graph per model.
 *
 * A node is a number, a symbol or an operator on earlier nodes. Ids therefore increase from operands to results, and
 * every pass is a loop without recursion. Structurally equal expressions share one node. Constructors simplify: they
 * fold constants unless the result is not finite, remove neutral elements, and combine like terms and integer powers.
 * Constructors never expand products.
 *
 * Errors are sticky. Once memory or the node budget is exhausted, every constructor returns GRAPH_NONE, and
 * graph_status returns the reason. Constructors accept operands that are GRAPH_NONE, so callers check the status once,
 * at the end. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/text_buffer.h"
#include "engine/graph/operators.h"
#include "engine/graph/table.h"

#include <stdint.h>

typedef int32_t graph_node;
enum { GRAPH_NONE = -1 };

/* The kind of a symbol. Each kind has its own indices. Kinds are listed in the order in which an evaluation computes
 * the values of their symbols. Once the symbols of the last kind in a node have values, the node can be evaluated. */
typedef enum graph_symbol_kind {
    SYMBOL_PARAMETER,
    SYMBOL_TIME,          /* t, index 0 */
    SYMBOL_COORDINATE,    /* q_i */
    SYMBOL_VELOCITY,      /* q'_i */
    SYMBOL_ACCELERATION,  /* q''_i */
    SYMBOL_MULTIPLIER,    /* λ_c */
    SYMBOL_FREE,          /* index i < n: q''_i without constraints, (M⁻¹Q)_i; index n + i: (M⁻¹Aᵀλ)_i */
    SYMBOL_IDEAL,         /* component i of the reaction of the ideal constraints */
    SYMBOL_NONIDEAL,      /* component i of the reaction of the nonideal constraints */
    SYMBOL_JERK,          /* q'''_i */
    SYMBOL_BRANCH,        /* branch of a nonsmooth operator; constant between events */
    SYMBOL_STABILIZATION, /* Baumgarte's constants α and β² */
    SYMBOL_INTEGRAL,      /* integral of an integrand over time, from the start of the run */
    SYMBOL_KIND_COUNT
} graph_symbol_kind;

#define GRAPH_DEPENDS(kind) (1u << (kind))

enum { GRAPH_IS_NUMBER = GRAPH_OP_COUNT, GRAPH_IS_SYMBOL };

typedef struct graph_cell {
    uint8_t op;       /* graph_op, GRAPH_IS_NUMBER or GRAPH_IS_SYMBOL */
    uint8_t kind;     /* graph_symbol_kind */
    uint16_t depends; /* GRAPH_DEPENDS bits of all symbols that the node contains */
    union {
        graph_node operand[3]; /* unused operands are GRAPH_NONE */
        int32_t index;
        double number;
    } as;
} graph_cell;

typedef struct graph graph;

/* Creates an empty graph of at most `max_nodes` nodes in `memory` (borrowed, must outlive the graph). `scratch` holds
 * the data that is needed only while nodes are constructed. `scratch` and `memory` may be the same arena. Returns NULL
 * if out of memory. */
graph *graph_create(arena *memory, arena *scratch, size_t max_nodes);

/* Moves the nodes to the graph's memory; the caller may then free `scratch`. A closed graph is immutable: it can be
 * read, evaluated, printed and compiled, but functions that may create a node must not be called. The ids of nodes do
 * not change. Returns false if out of memory; the graph is then unchanged. */
bool graph_close(graph *g) HAMEL_CHECKED;

/* Installs a callback: `refuses(context)` is called after about every thousand operations on nodes. When the callback
 * returns true, the status of the graph becomes HAMEL_CANCELED. */
void graph_watch(graph *g, bool (*refuses)(void *context), void *context);
/* Calls `refuses` immediately and returns its result. If there is no callback, returns false. */
bool graph_refused(const graph *g);

hamel_status graph_status(const graph *g); /* HAMEL_OK, HAMEL_LIMIT, HAMEL_NO_MEMORY or HAMEL_CANCELED */
size_t graph_count(const graph *g);
const graph_cell *graph_at(const graph *g, graph_node node);

/* Adds a table (borrowed, must outlive the graph and its programs). Returns the index of the table, or −1 if out of
 * memory. */
int32_t graph_add_table(graph *g, const graph_table *table);
const graph_table *const *graph_tables(const graph *g); /* the tables, in the order of their indices */
size_t graph_table_count(const graph *g);

graph_node graph_number(graph *g, double value);
graph_node graph_symbol(graph *g, graph_symbol_kind kind, int32_t index);
graph_node graph_apply(graph *g, graph_op op, graph_node x, graph_node y, graph_node z);

/* Returns the node of the derivative of the given order of a table at x. If the order exceeds the degree of the
 * polynomials, returns the node of 0. */
graph_node graph_lookup(graph *g, graph_node x, int32_t table, int order);

/* Returns the node of exactly this operation, without simplification or reordering. This function is used for
 * expressions that are only printed. */
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

/* Returns ∂node/∂symbol, with all other symbols constant. The derivatives of subexpressions are memoized. */
graph_node graph_partial(graph *g, graph_node node, graph_node symbol);

/* Return d node/dt along the motion: ∂/∂t + Σ q'_i ∂/∂q_i + Σ a_i ∂/∂q'_i. graph_rate uses a_i = q''_i. graph_rate_bias
 * uses a_i = 0, so it returns the part of the rate without accelerations. Accelerations, multipliers and parameters in
 * `node` are treated as constant. The derivatives of subexpressions are memoized. */
graph_node graph_rate(graph *g, graph_node node);
graph_node graph_rate_bias(graph *g, graph_node node);

/* Returns the derivative of an operation with respect to operand k (0 or 1), in terms of the operands and the
 * operation. The derivative of x^y is written y·node/x, so that repeated differentiation introduces no new powers such
 * as x^(y - 1). */
graph_node graph_slope(graph *g, graph_node node, int k);

/* Sets slopes[i] to the sum of ∂root/∂symbols[i] over all roots. One pass computes all slopes, so the cost and the
 * number of new nodes are linear in the size of the reachable subgraph. Returns false if a node cannot be created;
 * graph_status then returns the reason. */
bool graph_gradient(graph *g, const graph_node *roots, size_t root_count, const graph_node *symbols, size_t count,
                    graph_node *slopes);

/* Lists the indices of the symbols of `kind` that `node` contains, in increasing order. Returns the number of indices.
 * *indices is in the graph's memory and valid until the next call. If out of memory, returns 0 and sets the sticky
 * status. The cost is linear in the size of the reachable subgraph. */
size_t graph_support(graph *g, graph_node node, graph_symbol_kind kind, const int32_t **indices);

/* support_sets.c: the symbols of many nodes that share most of their subgraphs. graph_support would visit each shared
 * subgraph once for each node. Here one pass over all nodes finds the symbols with GRAPH_SET_BITS consecutive
 * indices. */
enum { GRAPH_SET_WORDS = 8, GRAPH_SET_BITS = 64 * GRAPH_SET_WORDS };
typedef struct graph_set {
    uint64_t words[GRAPH_SET_WORDS];
} graph_set;
typedef struct graph_sets {
    graph *g;
    graph_node *nodes; /* increasing */
    uint32_t (*operands)[3];
    graph_set *sets;
    size_t count;
} graph_sets;

/* Prepares the passes over the reachable subgraph of the roots; all arrays are in `memory`. Returns false if a root is
 * GRAPH_NONE or if out of memory. */
bool graph_sets_create(graph_sets *s, graph *g, const graph_node *roots, size_t count, arena *memory);
/* Finds the symbols of `kinds` (bits GRAPH_DEPENDS) with the indices `first` to `first` + GRAPH_SET_BITS − 1 in each
 * node. */
void graph_sets_find(graph_sets *s, unsigned kinds, size_t first);
/* Returns the set of a node of the subgraph: bit i stands for the index `first` + i. */
const graph_set *graph_sets_at(const graph_sets *s, graph_node node);
static inline bool graph_set_contains(const graph_set *set, size_t bit) {
    return set->words[bit / 64] >> bit % 64 & 1;
}

/* Lists the nodes of the subgraph reachable from the roots in increasing order, so operands come before results. *nodes
 * is a new array in `memory`. Returns the number of nodes, or 0 if a root is GRAPH_NONE or if out of memory. */
size_t graph_below(graph *g, const graph_node *roots, size_t count, arena *memory, graph_node **nodes);

/* Returns the position of `node` in an increasing list, or the position at which to insert it. */
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

/* Replaces every symbol of `kind` in `node` by replacement[index], unless replacement[index] is GRAPH_NONE. Returns the
 * new node. */
graph_node graph_substitute(graph *g, graph_node node, graph_symbol_kind kind, const graph_node *replacement,
                            size_t count);

/* The sums that several calls of graph_terms have split. After GRAPH_TERMS_FREE terms in all calls, a sum that was
 * split before is kept as one term. An example is the heights of the N links of a chain, each of which is the previous
 * height plus one term. All calls then return about 2N terms instead of N²/2. Chains of up to 22 links, with 253 terms,
 * remain below the bound and are differentiated term by term. */
enum { GRAPH_TERMS_FREE = 256 };
typedef struct graph_sums {
    size_t terms, capacity;
    uint8_t *split; /* for each node: whether it was split after GRAPH_TERMS_FREE terms */
} graph_sums;

/* Splits a sum into terms: node = Σ signs[i] * terms[i]; both arrays are in `memory`. Splits at +, - and unary minus,
 * and distributes factors that are parameters or numbers over sums. `sums` may be NULL. Returns the number of terms, or
 * 0 if out of memory. */
size_t graph_terms(graph *g, graph_node node, arena *memory, graph_sums *sums, graph_node **terms, signed char **signs);

/* --- angle_sums.c ------------------------------------------------------------------------------------------------- */

/* Expands the sine and cosine of u ± v in the roots if other expressions also need the sines and cosines of u and v. */
hamel_status graph_expand_angle_sums(graph *g, graph_node *roots, size_t count) HAMEL_CHECKED;

/* --- evaluate.c -------------------------------------------------------------------------------------------------- */

/* Values of symbols by kind and index. If the array of a kind is NULL, the values of its symbols are 0. If `count` of a
 * kind is not 0, symbols with the index `count` or above have the value 0. Each kind has one error bound, relative to
 * max(1, |value|). */
typedef struct graph_point {
    const double *values[SYMBOL_KIND_COUNT];
    double error[SYMBOL_KIND_COUNT];
    size_t count[SYMBOL_KIND_COUNT];
} graph_point;

/* Computes value[i] of every node i ≤ last, and a first-order bound error[i] on the rounding error. Both arrays have
 * last + 1 entries. */
void graph_evaluate(const graph *g, graph_node last, const graph_point *at, double *value, double *error);

/* Computes the values of nodes[count], and bounds on their errors unless `errors` is NULL. Both arrays have `count`
 * entries; entries for nodes that are GRAPH_NONE are not written. Returns false if out of memory. */
bool graph_values(const graph *g, const graph_node *nodes, size_t count, const graph_point *at, double *values,
                  double *errors) HAMEL_CHECKED;

/* --- print.c ----------------------------------------------------------------------------------------------------- */

/* Appends the name of a symbol to `out`. */
typedef void graph_namer(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out);

/* Prints infix text that the parser reads back as an equal expression. If the text exceeds the maximum size of `out`,
 * out->failed becomes true. */
void graph_print(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out);

/* Prints LaTeX for math mode; the namer must also write LaTeX. */
void graph_print_latex(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out);

/* Prints a C expression of type double. The expression may call functions of <math.h>, sign(x), mod(x, y) and table(x,
 * number, order). */
void graph_print_c(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out);
