/* identity.c — see identity.h. */
#include "engine/algebra/identity.h"

#include "engine/algebra/decimal.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* POINTS: an expression counts as 0 if it has the value 0 at this many points. A root has a random sign at each point,
 * so √(x²) equals x at all points with probability 2^-16. MOST_POINTS: largest number of points that are tried. Each
 * radicand is a square at half of the points, so an expression with five different roots is defined at about 16 of 512
 * points. MOST_POWER: powers with larger exponents count as unknown functions. Exponents in descriptions are far
 * smaller, and residue_power needs about 20 squarings for this exponent. */
enum { POINTS = 16, MOST_POINTS = 512, MOST_POWER = 1 << 20 };

/* Factors of angles are multiples of 1/720720. Since 720720 is the least common multiple of 1 to 16, fractions with
 * denominators up to 16 are exact. */
#define ANGLE_UNITS 720720.0

typedef uint64_t residue;
static const residue PRIME = ((residue)1 << 61) - 1, UNDEFINED = UINT64_MAX;

static residue residue_plus(residue a, residue b) {
    assert(a <= PRIME && b <= PRIME);
    residue sum = a + b;
    return sum >= PRIME ? sum - PRIME : sum;
}

static residue residue_minus(residue a, residue b) {
    return residue_plus(a, b ? PRIME - b : 0);
}

static residue residue_times(residue a, residue b) {
    assert(a < PRIME && b < PRIME);
    unsigned __int128 product = (unsigned __int128)a * b;
    return residue_plus((residue)(product & PRIME), (residue)(product >> 61));
}

static residue residue_power(residue a, uint64_t exponent) {
    residue out = 1;
    for (; exponent; exponent >>= 1, a = residue_times(a, a))
        if (exponent & 1) out = residue_times(out, a);
    return out;
}

static residue residue_over(residue a, residue b) {
    return b ? residue_times(a, residue_power(b, PRIME - 2)) : UNDEFINED;
}

/* The finalizer of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014). */
static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t z = a + 0x9e3779b97f4a7c15u * (b + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static residue signed_integer(long value) {
    residue size = (residue)labs(value) % PRIME;
    return value < 0 ? residue_minus(0, size) : size;
}

static residue number_value(double value) {
    decimal written = decimal_of(value);
    if (written.below) return residue_over(signed_integer(written.above), signed_integer(written.below));
    bool negative = written.digits[0] == '-';
    residue digits = 0, scale = residue_power(10, (uint64_t)labs(written.exponent));
    for (const char *c = written.digits + negative; *c; c++)
        digits = residue_plus(residue_times(digits, 10), (residue)(*c - '0'));
    digits = written.exponent < 0 ? residue_over(digits, scale) : residue_times(digits, scale);
    return negative ? residue_minus(0, digits) : digits;
}

typedef struct turn {
    residue cosine, sine;
} turn;

static turn turn_by(turn a, turn b) {
    return (turn){residue_minus(residue_times(a.cosine, b.cosine), residue_times(a.sine, b.sine)),
                  residue_plus(residue_times(a.sine, b.cosine), residue_times(a.cosine, b.sine))};
}

/* Returns the point of the circle c² + s² = 1 that represents an angle times units/720720. `value` is the residue of
 * the angle and selects the point for units = 1; −value selects the point with the opposite sine. */
static turn turn_of(residue value, double units, uint64_t seed) {
    turn out = {1, 0};
    if (value == 0) return out;
    bool negative = (value > PRIME / 2) != (units < 0);
    residue t = mix(seed, value > PRIME / 2 ? PRIME - value : value) % PRIME, square = residue_times(t, t);
    residue below = residue_over(1, residue_plus(1, square)); /* not 0: no square is −1 modulo this prime */
    turn base = {residue_times(residue_minus(1, square), below), residue_times(residue_plus(t, t), below)};
    for (uint64_t n = (uint64_t)fabs(units); n; n >>= 1, base = turn_by(base, base))
        if (n & 1) out = turn_by(out, base);
    if (negative) out.sine = residue_minus(0, out.sine);
    return out;
}

typedef struct angle {
    graph_node *terms;
    double *factors;
    size_t count;
} angle;

typedef struct point {
    const graph *graph;
    residue *value; /* value[node]: value of the node at this point */
    uint64_t seed;
} point;

static turn turn_at(const point *p, const angle *a) {
    turn out = {1, 0};
    for (size_t k = 0; k < a->count; k++) {
        residue value = p->value[a->terms[k]];
        double units = a->factors[k] * ANGLE_UNITS, nearest = nearbyint(units);
        uint64_t seed = mix(p->seed, GRAPH_SIN), bits;
        if (value == UNDEFINED) return (turn){UNDEFINED, UNDEFINED};
        if (fabs(units - nearest) > 4 * DBL_EPSILON * fabs(units) || fabs(units) > 0x1p53) { /* independent angle */
            units = fabs(units);
            memcpy(&bits, &units, sizeof bits);
            seed = mix(seed, bits);
            nearest = a->factors[k] < 0 ? -1 : 1;
        }
        out = turn_by(out, turn_of(value, nearest, seed));
    }
    return out;
}

typedef struct plan {
    graph *graph;
    arena *memory;
    graph_node *order; /* nodes in the order of evaluation; terms of angles precede sines and cosines */
    angle *angles;     /* angles of the sines, cosines and tangents in `order` */
    bool *placed;      /* placed[node]: the node is in `order` */
    size_t count, angle_count, room, angle_room, placed_room;
} plan;

static bool is_angular(const graph *g, graph_node node) {
    uint8_t op = graph_at(g, node)->op;
    return op == GRAPH_SIN || op == GRAPH_COS || op == GRAPH_TAN;
}

/* Writes the node as *factor · rest with a number *factor. Returns the rest. */
static graph_node split_term(graph *g, graph_node node, double *factor) {
    double number;
    for (*factor = 1;;) {
        const graph_cell *cell = graph_at(g, node);
        if (graph_is_number(g, node, &number)) {
            *factor *= number;
            return graph_number(g, 1);
        }
        if (cell->op == GRAPH_MUL && graph_is_number(g, cell->as.operand[0], &number)) {
            *factor *= number;
            node = cell->as.operand[1];
        } else if (cell->op == GRAPH_DIV && graph_is_number(g, cell->as.operand[1], &number)) {
            *factor /= number;
            node = cell->as.operand[0];
        } else {
            return node;
        }
    }
}

static bool place_node(plan *p, graph_node node) {
    size_t nodes = graph_count(p->graph);
    bool *placed = arena_grow(p->memory, p->placed, &p->placed_room, nodes, sizeof *placed);
    graph_node *order = arena_grow(p->memory, p->order, &p->room, p->count + 1, sizeof *order);
    if (!placed || !order) return false;
    p->placed = placed;
    p->order = order;
    if (!placed[node]) order[p->count++] = node;
    placed[node] = true;
    return true;
}

static bool place_angle(plan *p, graph_node node) {
    signed char *signs;
    angle a = {0};
    graph_node *below;
    a.count = graph_terms(p->graph, graph_at(p->graph, node)->as.operand[0], p->memory, NULL, &a.terms, &signs);
    a.factors = arena_alloc(p->memory, a.count, sizeof *a.factors);
    angle *angles = arena_grow(p->memory, p->angles, &p->angle_room, p->angle_count + 1, sizeof *angles);
    if (a.count == 0 || !a.factors || !angles) return false;
    for (size_t k = 0; k < a.count; k++) {
        a.terms[k] = split_term(p->graph, a.terms[k], &a.factors[k]);
        a.factors[k] *= signs[k];
    }
    size_t count = graph_below(p->graph, a.terms, a.count, p->memory, &below);
    for (size_t k = 0; k < count; k++)
        if (!place_node(p, below[k])) return false;
    p->angles = angles;
    p->angles[p->angle_count++] = a;
    return count > 0;
}

static bool make_plan(plan *p, const graph_node *expressions, size_t count) {
    graph_node *below;
    size_t nodes = graph_below(p->graph, expressions, count, p->memory, &below);
    for (size_t k = 0; k < nodes; k++)
        if ((is_angular(p->graph, below[k]) && !place_angle(p, below[k])) || !place_node(p, below[k])) return false;
    return nodes > 0 && graph_status(p->graph) == HAMEL_OK;
}

static residue residue_root(residue u, uint64_t seed) {
    residue r = residue_power(u, (PRIME + 1) / 4);
    if (residue_times(r, r) != u) return UNDEFINED;
    return mix(seed, u) & 1 ? residue_minus(0, r) : r;
}

/* Returns the value of an operator that counts as an unknown function: equal operands give equal pseudo-random
 * values. */
static residue unknown(const point *p, const graph_cell *cell, const residue *x) {
    uint64_t key = mix(p->seed, cell->op);
    for (int k = 0; k < 3 && cell->as.operand[k] >= 0; k++) key = mix(key, x[k]);
    return key % PRIME;
}

static residue operation(const point *p, const graph_cell *cell, const residue *x) {
    double exponent;
    switch (cell->op) {
    case GRAPH_ADD: return residue_plus(x[0], x[1]);
    case GRAPH_SUB: return residue_minus(x[0], x[1]);
    case GRAPH_MUL: return residue_times(x[0], x[1]);
    case GRAPH_DIV: return residue_over(x[0], x[1]);
    case GRAPH_NEG: return residue_minus(0, x[0]);
    case GRAPH_SQRT: return residue_root(x[0], p->seed);
    case GRAPH_POW:
        if (!graph_is_number(p->graph, cell->as.operand[1], &exponent) || exponent != floor(exponent) ||
            fabs(exponent) > MOST_POWER)
            return unknown(p, cell, x);
        return exponent < 0 ? residue_over(1, residue_power(x[0], (uint64_t)-exponent))
                            : residue_power(x[0], (uint64_t)exponent);
    default: return unknown(p, cell, x);
    }
}

static residue angular(graph_op op, turn t) {
    if (t.cosine == UNDEFINED) return UNDEFINED;
    return op == GRAPH_SIN ? t.sine : op == GRAPH_COS ? t.cosine : residue_over(t.sine, t.cosine);
}

static residue node_value(const point *p, graph_node node) {
    const graph_cell *cell = graph_at(p->graph, node);
    residue x[3] = {0};
    if (cell->op == GRAPH_IS_SYMBOL)
        return mix(mix(p->seed, GRAPH_IS_SYMBOL + cell->kind), (uint64_t)cell->as.index) % PRIME;
    for (int k = 0; k < 3 && cell->as.operand[k] >= 0; k++) {
        x[k] = p->value[cell->as.operand[k]];
        if (x[k] == UNDEFINED) return UNDEFINED;
    }
    return operation(p, cell, x);
}

/* Sets the values of numbers, which do not depend on the point. */
static void set_numbers(const point *p, const plan *all) {
    double number;
    for (size_t k = 0; k < all->count; k++)
        if (graph_is_number(p->graph, all->order[k], &number)) p->value[all->order[k]] = number_value(number);
}

static void evaluate_point(const point *p, const plan *all) {
    const angle *next = all->angles;
    for (size_t k = 0; k < all->count; k++) {
        graph_node node = all->order[k];
        if (graph_is_number(p->graph, node, NULL)) continue;
        bool turns = is_angular(p->graph, node);
        p->value[node] = turns ? angular(graph_at(p->graph, node)->op, turn_at(p, next++)) : node_value(p, node);
    }
}

bool identity_find_zeros(graph *g, const graph_node *expressions, size_t count, bool *is_zero, arena *memory) {
    plan all = {.graph = g, .memory = memory};
    if (count == 0) return true;
    if (!make_plan(&all, expressions, count)) return false;
    point p = {.graph = g, .value = arena_alloc(memory, graph_count(g), sizeof *p.value)};
    int *good = arena_alloc(memory, count, sizeof *good);
    if (!p.value || !good) return false;
    size_t open = count;
    set_numbers(&p, &all);
    for (size_t k = 0; k < count; k++) is_zero[k] = false;
    for (int at = 0; at < MOST_POINTS && open > 0 && !graph_refused(g); at++) {
        p.seed = mix(0, (uint64_t)at);
        evaluate_point(&p, &all);
        for (size_t k = 0; k < count; k++) {
            residue value = p.value[expressions[k]];
            if (good[k] < 0 || good[k] == POINTS || value == UNDEFINED) continue;
            good[k] = value == 0 ? good[k] + 1 : -1;
            is_zero[k] = good[k] == POINTS;
            open -= good[k] < 0 || good[k] == POINTS;
        }
    }
    return graph_status(g) == HAMEL_OK;
}
