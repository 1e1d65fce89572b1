/* simplify.c — simplification of nodes when they are created.
 *
 * The rules inspect only one level of operands, so the cost per node is constant. The rules preserve exact values, but
 * not rounding errors: x/2 may become 0.5*x, and x*x becomes x^2. The rules do not remove singularities, so x/x remains
 * x/x. The only exceptions are 0*x and 0/x: they become 0, so that matrices keep their zero entries. Products are never
 * expanded. */
#include "engine/graph/graph_int.h"

#include <assert.h>

static graph_node keep(graph *g, graph_op op, graph_node x, graph_node y, graph_node z) {
    graph_cell cell = {.op = (uint8_t)op, .as.operand = {x, y, z}};
    return graph_intern(g, &cell);
}

static bool is_op(const graph *g, graph_node node, graph_op op) {
    return graph_at(g, node)->op == op;
}
static graph_node operand(const graph *g, graph_node node, int k) {
    return graph_at(g, node)->as.operand[k];
}

/* Returns true if two coefficients with this product may be merged. The product must be a normal floating-point number,
 * because a merged coefficient must neither overflow nor underflow. The value of 1e200·(1e200·x) may be finite although
 * 1e400 overflows. The value of 1e-200·(1e-200·x) may be nonzero although 1e-400 underflows. */
static bool may_merge(double coefficient) {
    return isnormal(coefficient);
}

static bool is_value(const graph *g, graph_node node, double value) {
    double number;
    return graph_is_number(g, node, &number) && number == value;
}

/* Writes the node as *factor · rest and returns the rest. The number *factor combines a numerical factor of a product
 * with the sign of a negation. */
static graph_node split_factor(const graph *g, graph_node node, double *factor) {
    *factor = 1;
    if (is_op(g, node, GRAPH_NEG)) {
        *factor = -1;
        node = operand(g, node, 0);
    }
    double number;
    if (is_op(g, node, GRAPH_MUL) && graph_is_number(g, operand(g, node, 0), &number)) {
        *factor *= number;
        node = operand(g, node, 1);
    }
    return node;
}

static graph_node scaled(graph *g, double factor, graph_node x) {
    return graph_mul(g, graph_number(g, factor), x);
}

/* Returns true if the node is function(*argument)². The rule sin²u + cos²u = 1 simplifies sums of squares of direction
 * cosines. */
static bool is_square_of(const graph *g, graph_node node, graph_op function, graph_node *argument) {
    if (!is_op(g, node, GRAPH_POW) || !is_value(g, operand(g, node, 1), 2)) return false;
    graph_node base = operand(g, node, 0);
    if (!is_op(g, base, function)) return false;
    *argument = operand(g, base, 0);
    return true;
}

static bool is_circle(const graph *g, graph_node x, graph_node y) {
    graph_node u, v;
    return (is_square_of(g, x, GRAPH_SIN, &u) && is_square_of(g, y, GRAPH_COS, &v) && u == v) ||
           (is_square_of(g, x, GRAPH_COS, &u) && is_square_of(g, y, GRAPH_SIN, &v) && u == v);
}

/* Returns true if the node is c + sign·u, where c is a number. */
static bool is_shifted(const graph *g, graph_node node, double *c, double *sign, graph_node *u) {
    *sign = is_op(g, node, GRAPH_SUB) ? -1 : 1;
    if (*sign > 0 && !is_op(g, node, GRAPH_ADD)) return false;
    *u = operand(g, node, 1);
    return graph_is_number(g, operand(g, node, 0), c);
}

/* Simplifies factor·(x + sign·y) if x is a ± u and y is b ± u with numbers a and b and the same u. Otherwise returns
 * GRAPH_NONE. With this rule, the derivative of (1 - u)(1 + u) becomes -2u, which is accurate for small u. */
static graph_node merge_shifted(graph *g, double factor, graph_node x, double sign, graph_node y) {
    double b, c, of_x, of_y;
    graph_node u, v;
    if (!is_shifted(g, x, &b, &of_x, &u) || !is_shifted(g, y, &c, &of_y, &v) || u != v || !isfinite(b + sign * c))
        return GRAPH_NONE;
    graph_node sum = graph_add(g, graph_number(g, b + sign * c), scaled(g, of_x + sign * of_y, u));
    return scaled(g, factor, sum);
}

static void exchange(graph_node *x, graph_node *y) {
    graph_node kept = *x;
    *x = *y;
    *y = kept;
}

static graph_node add(graph *g, graph_node x, graph_node y) {
    double a, b;
    if (graph_is_zero(g, x)) return y;
    if (graph_is_zero(g, y)) return x;
    if (graph_is_number(g, y, NULL)) exchange(&x, &y); /* a number is the first operand */
    if (graph_is_number(g, x, &a) && is_op(g, y, GRAPH_ADD) && graph_is_number(g, operand(g, y, 0), &b) &&
        isfinite(a + b))
        return graph_add(g, graph_number(g, a + b), operand(g, y, 1));
    graph_node u = split_factor(g, x, &a), v = split_factor(g, y, &b);
    if (u == v && isfinite(a + b)) return scaled(g, a + b, u);
    if (a == b && is_circle(g, u, v)) return graph_number(g, a);
    graph_node merged = fabs(a) == fabs(b) ? merge_shifted(g, a, u, a == b ? 1 : -1, v) : GRAPH_NONE;
    if (merged != GRAPH_NONE) return merged;
    if (is_op(g, y, GRAPH_NEG)) return graph_sub(g, x, operand(g, y, 0));
    if (is_op(g, x, GRAPH_NEG)) return graph_sub(g, y, operand(g, x, 0));
    if (!graph_is_number(g, x, NULL) && x > y) exchange(&x, &y);
    return keep(g, GRAPH_ADD, x, y, GRAPH_NONE);
}

static graph_node sub(graph *g, graph_node x, graph_node y) {
    double a, b;
    if (graph_is_zero(g, y)) return x;
    if (graph_is_zero(g, x)) return graph_neg(g, y);
    if (graph_is_number(g, y, &b)) return graph_add(g, graph_number(g, -b), x);
    graph_node u = split_factor(g, x, &a), v = split_factor(g, y, &b);
    if (u == v && isfinite(a - b)) return scaled(g, a - b, u);
    graph_node merged = fabs(a) == fabs(b) ? merge_shifted(g, a, u, a == b ? -1 : 1, v) : GRAPH_NONE;
    if (merged != GRAPH_NONE) return merged;
    if (is_op(g, y, GRAPH_NEG)) return graph_add(g, x, operand(g, y, 0));
    return keep(g, GRAPH_SUB, x, y, GRAPH_NONE);
}

static graph_node negate(graph *g, graph_node x) {
    double a;
    if (is_op(g, x, GRAPH_NEG)) return operand(g, x, 0);
    if (is_op(g, x, GRAPH_SUB)) return graph_sub(g, operand(g, x, 1), operand(g, x, 0));
    if (is_op(g, x, GRAPH_MUL) && graph_is_number(g, operand(g, x, 0), &a)) return scaled(g, -a, operand(g, x, 1));
    return keep(g, GRAPH_NEG, x, GRAPH_NONE, GRAPH_NONE);
}

/* Splits the node into base ^ *exponent with an integer exponent ≥ 1; returns the base. */
static graph_node split_power(const graph *g, graph_node node, double *exponent) {
    *exponent = 1;
    double number;
    if (!is_op(g, node, GRAPH_POW) || !graph_is_number(g, operand(g, node, 1), &number)) return node;
    if (number < 2 || number != floor(number)) return node;
    *exponent = number;
    return operand(g, node, 0);
}

static graph_node mul(graph *g, graph_node x, graph_node y) {
    double a, b;
    if (graph_is_zero(g, x) || graph_is_zero(g, y)) return graph_number(g, 0);
    if (graph_is_number(g, y, NULL)) exchange(&x, &y);
    if (is_value(g, x, 1)) return y;
    if (is_value(g, x, -1)) return graph_neg(g, y);
    if (graph_is_number(g, x, &a)) {
        graph_node rest = split_factor(g, y, &b);
        if (rest != y && may_merge(a * b)) return scaled(g, a * b, rest);
        return keep(g, GRAPH_MUL, x, y, GRAPH_NONE);
    }
    graph_node u = split_factor(g, x, &a), v = split_factor(g, y, &b);
    if ((u != x || v != y) && may_merge(a * b)) return scaled(g, a * b, graph_mul(g, u, v)); /* numbers move outwards */
    u = split_power(g, x, &a);
    v = split_power(g, y, &b);
    if (u == v) return graph_binary(g, GRAPH_POW, u, graph_number(g, a + b));
    if (x > y) exchange(&x, &y);
    return keep(g, GRAPH_MUL, x, y, GRAPH_NONE);
}

static bool is_power_of_two(double value) {
    int exponent;
    return may_merge(1 / value) && fabs(frexp(value, &exponent)) == 0.5;
}

static graph_node divide(graph *g, graph_node x, graph_node y) {
    double a, b;
    if (graph_is_zero(g, y)) return keep(g, GRAPH_DIV, x, y, GRAPH_NONE); /* not finite when it is evaluated */
    if (graph_is_zero(g, x)) return x;
    if (graph_is_number(g, y, &b) && is_power_of_two(b)) return scaled(g, 1 / b, x);
    graph_node u = split_factor(g, x, &a);
    if (u != x && a == -1) return graph_neg(g, graph_div(g, u, y));
    if (graph_is_number(g, y, &b) && u != x && may_merge(a / b)) return scaled(g, a / b, u);
    return keep(g, GRAPH_DIV, x, y, GRAPH_NONE);
}

static graph_node power(graph *g, graph_node x, graph_node y) {
    double a, b;
    if (is_value(g, y, 0)) return graph_number(g, 1);
    if (is_value(g, y, 1)) return x;
    if (graph_is_number(g, y, &b) && b == floor(b)) {
        graph_node base = split_power(g, x, &a);
        if (base != x) return graph_binary(g, GRAPH_POW, base, graph_number(g, a * b));
        if (is_op(g, x, GRAPH_NEG)) {
            graph_node p = graph_binary(g, GRAPH_POW, operand(g, x, 0), y);
            return fmod(b, 2) == 0 ? p : graph_neg(g, p);
        }
    }
    return keep(g, GRAPH_POW, x, y, GRAPH_NONE);
}

/* PARITY is −1 for odd and 1 for even functions: f(−u) = PARITY·f(u). For all other operators, PARITY is 0. */
static const signed char PARITY[GRAPH_OP_COUNT] = {
    [GRAPH_SIN] = -1, [GRAPH_COS] = 1,   [GRAPH_TAN] = -1, [GRAPH_ASIN] = -1,  [GRAPH_ATAN] = -1, [GRAPH_SINH] = -1,
    [GRAPH_COSH] = 1, [GRAPH_TANH] = -1, [GRAPH_SECH] = 1, [GRAPH_ASINH] = -1, [GRAPH_ABS] = 1,   [GRAPH_SIGN] = -1,
};

static graph_node fold(graph *g, graph_op op, graph_node x, graph_node y, graph_node z) {
    double a = 0, b = 0, c = 0;
    if (!graph_is_number(g, x, &a) || (y >= 0 && !graph_is_number(g, y, &b)) || (z >= 0 && !graph_is_number(g, z, &c)))
        return GRAPH_NONE;
    double value = graph_op_value(op, a, b, c);
    return isfinite(value) ? graph_number(g, value) : GRAPH_NONE; /* not folded, so that a run reports the value */
}

/* Returns a number if the argument is a number within the range of the table, otherwise a TABLE node. */
static graph_node look_up(graph *g, graph_node x, graph_node table, graph_node order) {
    double at, index, n;
    if (!graph_is_number(g, table, &index) || !graph_is_number(g, order, &n)) return GRAPH_NONE;
    assert(index >= 0 && index < (double)g->table_count && n >= 0);
    const graph_table *t = g->tables[(size_t)index];
    if (n > t->degree) return graph_number(g, 0);
    double value = graph_is_number(g, x, &at) ? table_value(t, at, (int)n) : NAN;
    return isfinite(value) ? graph_number(g, value) : keep(g, GRAPH_TABLE, x, table, order);
}

graph_node graph_simplify(graph *g, graph_op op, graph_node x, graph_node y, graph_node z) {
    double condition;
    if (op == GRAPH_TABLE) return look_up(g, x, y, z);
    graph_node folded = fold(g, op, x, y, z);
    if (folded != GRAPH_NONE || g->status != HAMEL_OK) return folded;
    if (PARITY[op] && is_op(g, x, GRAPH_NEG)) {
        graph_node positive = keep(g, op, operand(g, x, 0), GRAPH_NONE, GRAPH_NONE);
        return PARITY[op] > 0 ? positive : graph_neg(g, positive);
    }
    switch (op) {
    case GRAPH_ADD: return add(g, x, y);
    case GRAPH_SUB: return sub(g, x, y);
    case GRAPH_MUL: return mul(g, x, y);
    case GRAPH_DIV: return divide(g, x, y);
    case GRAPH_POW: return power(g, x, y);
    case GRAPH_NEG: return negate(g, x);
    case GRAPH_IF:
        if (graph_is_number(g, x, &condition)) return condition != 0 ? y : z;
        return y == z ? y : keep(g, op, x, y, z);
    default: return keep(g, op, x, y, z);
    }
}
