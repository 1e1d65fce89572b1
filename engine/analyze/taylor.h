/* taylor.h — Taylor series of expressions in multiple-precision arithmetic (MPFR).
 *
 * The caller specifies coordinates and time as series in one variable s. Coefficient k of a node then follows from the
 * coefficients up to k of its operands. See Griewank and Walther, Evaluating Derivatives, 2nd ed., ch. 13. A function
 * z = F(x) of the graph satisfies z' = F'(x) x'. Because F'(x) is another node, one recurrence is used for all
 * functions.
 *
 * A multilinear series has variables e_0, e_1, ... with e_i² = 0. Coefficient k belongs to the product of the e_i whose
 * bit i is set in k. The same recurrences apply to both kinds of series. Coefficient k of a product x y is the sum of
 * x_i y_(k−i) over i. In one variable, i runs from 0 to k. In a multilinear series, i runs over all subsets of the bits
 * of k, and series are differentiated with respect to the highest variable in k.
 *
 * Numbers have TAYLOR_BITS bits. If an expression vanishes identically, its computed value is therefore about
 * 2^-TAYLOR_BITS times its terms. */
#pragma once

#include "engine/base/arena.h"
#include "engine/graph/graph.h"

#include <assert.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

enum { TAYLOR_BITS = 256 };

/* Owns arrays of MPFR numbers; number_pool_free frees all of them. Initialize the pool with zeros. */
typedef struct number_block number_block;
typedef struct number_pool {
    number_block *last;
    bool failed; /* true if a request has returned NULL; one test after several requests suffices */
} number_pool;

/* Returns `count` numbers, initially 0, or NULL if out of memory. MPFR aborts the process if it cannot allocate the
 * digits of the numbers (see memory_left). */
mpfr_t *number_pool_take(number_pool *pool, size_t count);
void number_pool_free(number_pool *pool);

/* The nodes on which the planned expressions depend, with the positions of their operands. */
typedef struct taylor_plan {
    graph *g;
    size_t count;
    graph_node *nodes;     /* in increasing order */
    int32_t (*operand)[3]; /* positions in `nodes`; −1 for unused operands */
    int32_t (*slope)[2];   /* positions of the derivatives with respect to the operands; −1 if not needed */
} taylor_plan;

/* Creates the plan; its arrays are in `memory`. Returns false if an allocation or the construction of a node fails. */
bool taylor_plan_create(taylor_plan *p, graph *g, const graph_node *roots, size_t count, arena *memory);

/* Returns the position of a node, or p->count if the plan does not contain the node. */
size_t taylor_place(const taylor_plan *p, graph_node node);

typedef struct taylor {
    const taylor_plan *plan;
    size_t order;         /* highest coefficient of each node */
    bool multilinear;     /* true if series are multilinear; set after taylor_init */
    mpfr_t *coefficients; /* count × (order + 1) */
    mpfr_t *scratch;
} taylor;

/* Creates the series of all nodes. The series of constants and parameters are set to their values, and all other series
 * to zero. A constant that is not a short binary fraction may be a rounded decimal. Such a constant is changed randomly
 * (`seed`) by at most `change`, relative to its size. A constant that is itself a rounding error, such as 0.1 + 0.2 -
 * 0.3, is changed by at most its own size. If out of memory, pool->failed is true. */
void taylor_init(taylor *t, const taylor_plan *plan, size_t order, const double *parameters, double change,
                 uint64_t seed, number_pool *pool);

static inline mpfr_ptr taylor_coefficient(const taylor *t, size_t place, size_t k) {
    assert(k <= t->order);
    return t->coefficients[place * (t->order + 1) + k];
}

/* Replaces i by the next lower index in the sum Σ x_i y_(k−i). Returns false if i was 0. */
static inline bool taylor_next(const taylor *t, size_t k, size_t *i) {
    assert(*i <= k);
    if (*i == 0) return false;
    *i = (*i - 1) & (t->multilinear ? k : SIZE_MAX);
    return true;
}

/* Computes coefficient k of all operations. Requires coefficients 0 … k of coordinates and time, and a previous call
 * for each smaller k. */
void taylor_step(taylor *t, size_t k);
