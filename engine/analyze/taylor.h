/* taylor.h — Taylor series of expressions, in long floating-point numbers.
 *
 * Coordinates and time are given as series in one variable s, and each expression becomes one: coefficient k of every node
 * follows from the coefficients up to k of its operands (Griewank and Walther, Evaluating Derivatives, 2nd ed., ch. 13). A
 * function z = F(x) of the graph obeys z' = F'(x) x' with F'(x) as another node, so one recurrence serves them all.
 *
 * A multilinear series has variables e_0, e_1, ... with e_i² = 0: coefficient k belongs to the product of those whose bits
 * are set in k. Coefficient k of a product is the sum over i of coefficients i and k − i, where i is 0 … k in one variable,
 * and the subsets of k otherwise; the derivative is that by the highest variable of k. All rules hold for both. Numbers
 * have TAYLOR_BITS bits: an expression that vanishes identically is then near 2^-TAYLOR_BITS, far below all others. */
#ifndef HAMEL_ANALYZE_TAYLOR_H
#define HAMEL_ANALYZE_TAYLOR_H

#include "engine/base/arena.h"
#include "engine/graph/graph.h"

#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

enum { TAYLOR_BITS = 256 };

/* The nodes that given expressions need, and where each finds its operands. */
typedef struct taylor_plan {
    graph *g;
    size_t count;
    graph_node *nodes;     /* increasing */
    int32_t (*operand)[3]; /* positions in `nodes`; −1 for none */
    int32_t (*slope)[2];   /* of the derivative by each operand; −1 where another rule serves */
} taylor_plan;

/* False when memory or the graph failed. Everything is in `memory`. */
bool taylor_plan_create(taylor_plan *p, graph *g, const graph_node *roots, size_t count, arena *memory);

/* Position of a node that the plan contains. */
size_t taylor_place(const taylor_plan *p, graph_node node);

typedef struct taylor {
    const taylor_plan *plan;
    size_t order;         /* coefficients 0 … order of each node */
    bool multilinear;     /* set by the owner; a series in one variable otherwise */
    mpfr_t *coefficients; /* count × (order + 1) */
    mpfr_t *scratch;
} taylor;

/* Series of all nodes: numbers and parameters as given, all others zero so far. Each number that is no short binary
 * fraction, and so may be rounded, is changed by a relative amount of `change` at most, as `seed` has it; what is left where
 * decimals cancel, by as much as itself. False without
 * memory; taylor_free in both cases. */
bool taylor_init(taylor *t, const taylor_plan *plan, size_t order, const double *parameters, double change,
                 uint64_t seed);
void taylor_free(taylor *t);

static inline mpfr_ptr taylor_coefficient(const taylor *t, size_t place, size_t k) {
    return t->coefficients[place * (t->order + 1) + k];
}

/* From one index i of a factor of coefficient k to the next, beginning with k and ending after 0: false. */
static inline bool taylor_next(const taylor *t, size_t k, size_t *i) {
    if (*i == 0) return false;
    *i = (*i - 1) & (t->multilinear ? k : SIZE_MAX);
    return true;
}

/* Coefficient k of all operations. Those of coordinates and time up to k are set before, and steps 0 … k − 1 are done. */
void taylor_step(taylor *t, size_t k);

/* `count` numbers, 0 at first; NULL without memory. */
mpfr_t *taylor_numbers(size_t count);
void taylor_numbers_free(mpfr_t *numbers, size_t count);

#endif
