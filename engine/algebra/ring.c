/* ring.c — finds the atoms, and converts every needed node to a quotient of polynomials, operands before results. */
#include "engine/algebra/ring.h"

#include "engine/algebra/decimal.h"
#include "engine/hamel.h"

#include <assert.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

/* Costs in units of reading and writing one term, measured on api/examples. GCD_TERM: cost of a greatest common divisor
 * per term. FACTOR_TERM: cost of a factorization per term. PRODUCTS: number of products of two terms that cost one unit
 * in total. */
enum { GCD_TERM = 8, FACTOR_TERM = 30, PRODUCTS = 4 };

/* Bounds on the points of a dense interpolation; the comment at take_points gives the measurements. GCD_FREE_POINTS:
 * fewer points cost no more than the terms of the polynomials and are not charged. GCD_POINTS: if one common divisor
 * needs more points, the ring sets `failed`. GCD_POINT: cost of a point in units of one variable of a term. */
enum { GCD_FREE_POINTS = 10000, GCD_POINTS = 400000, GCD_POINT = 100 };

void ring_push_term(const ring *r, fmpq_mpoly_t out, const fmpq_mpoly_t p, slong i, const ulong *exponents) {
    fmpq_t c;
    fmpq_init(c);
    fmpq_mpoly_get_term_coeff_fmpq(c, p, i, r->context);
    fmpq_mpoly_push_term_fmpq_ui(out, c, exponents, r->context);
    fmpq_clear(c);
}

bool ring_too_long(ring *r, slong x, slong y) {
    if (x > 0 && y > RING_TERMS / x) r->failed = true;
    return !ring_take(r, x + y + x * y / PRODUCTS);
}

bool ring_take(ring *r, slong terms) {
    assert(terms >= 0);
    if (!r->failed) r->failed = !work_budget_take(r->work_budget, (uint64_t)terms * (uint64_t)r->atom_count);
    return !r->failed;
}

static graph_node operand(const ring *r, graph_node node, int k) {
    return graph_at(r->graph, node)->as.operand[k];
}

static bool integer_power(const ring *r, graph_node node, slong *exponent) {
    double e;
    if (!graph_is_number(r->graph, operand(r, node, 1), &e) || e != floor(e) || fabs(e) > RING_POWER) return false;
    *exponent = (slong)e;
    return true;
}

/* Returns the number of operands that the ring reads from an arithmetic operation, or 0 for any other node, which is an
 * atom. */
static int ring_operands(const ring *r, graph_node node) {
    slong exponent;
    switch (graph_at(r->graph, node)->op) {
    case GRAPH_ADD:
    case GRAPH_SUB:
    case GRAPH_MUL:
    case GRAPH_DIV: return 2;
    case GRAPH_NEG: return 1;
    case GRAPH_POW: return integer_power(r, node, &exponent);
    default: return 0;
    }
}

static bool is_angular(const ring *r, graph_node node) {
    uint8_t op = graph_at(r->graph, node)->op;
    return op == GRAPH_SIN || op == GRAPH_COS || op == GRAPH_TAN;
}

/* Returns the rank of an atom in the order of significance. Accelerations, multipliers and velocities have the first
 * ranks. Terms with the same product of such factors are therefore consecutive. */
static int rank_of(const ring *r, graph_node node) {
    const graph_cell *cell = graph_at(r->graph, node);
    if (cell->op != GRAPH_IS_SYMBOL) return cell->op == GRAPH_COS ? 7 : cell->op == GRAPH_SIN ? 8 : 9;
    switch (cell->kind) {
    case SYMBOL_ACCELERATION: return 0;
    case SYMBOL_MULTIPLIER: return 1;
    case SYMBOL_FREE:
    case SYMBOL_IDEAL:
    case SYMBOL_NONIDEAL:
    case SYMBOL_JERK: return 2;
    case SYMBOL_VELOCITY: return 3;
    case SYMBOL_COORDINATE: return 10;
    case SYMBOL_TIME: return 11;
    default: return 12;
    }
}
enum { MOVING_RANKS = 4, VARYING_RANKS = 11 };

/* Compares atoms of one rank: symbols by declaration, sines and cosines by their arguments. */
static bool is_before(const ring *r, graph_node x, graph_node y) {
    const graph_cell *left = graph_at(r->graph, x), *right = graph_at(r->graph, y);
    if (is_angular(r, x) && is_angular(r, y)) {
        left = graph_at(r->graph, left->as.operand[0]);
        right = graph_at(r->graph, right->as.operand[0]);
    }
    bool one = left->op == GRAPH_IS_SYMBOL, other = right->op == GRAPH_IS_SYMBOL;
    if (one != other) return one;
    if (!one) return x < y;
    return left->kind != right->kind ? left->kind < right->kind : left->as.index < right->as.index;
}

static void add_atom(ring *r, graph_node node) {
    assert(!r->open && r->atom_count <= RING_ATOMS);
    for (slong i = 0; i < r->atom_count; i++)
        if (r->atoms[i] == node) return;
    if (r->atom_count == RING_ATOMS) {
        r->failed = true;
        return;
    }
    int rank = rank_of(r, node);
    slong at = r->atom_count++;
    for (; at > 0; at--) { /* insertion sort: by rank, then by is_before */
        int other = rank_of(r, r->atoms[at - 1]);
        if (other < rank || (other == rank && is_before(r, r->atoms[at - 1], node))) break;
        r->atoms[at] = r->atoms[at - 1];
    }
    r->atoms[at] = node;
    if (rank < MOVING_RANKS) r->moving++;
    if (rank < VARYING_RANKS) r->varying++;
}

static slong variable_of(const ring *r, graph_node atom) {
    for (slong i = 0; i < r->atom_count; i++)
        if (r->atoms[i] == atom) return i;
    return -1;
}

static size_t position_of(const ring *r, graph_node node) {
    return graph_position(r->nodes, r->node_count, node);
}

/* Marks the expressions, the atoms and all nodes on paths between them. */
static void mark_needed(ring *r, const graph_node *expressions, size_t count) {
    for (size_t i = 0; i < count; i++) r->needed[position_of(r, expressions[i])] = true;
    for (size_t k = r->node_count; k-- > 0;) {
        bool root = graph_at(r->graph, r->nodes[k])->op == GRAPH_SQRT; /* the square of a root becomes the radicand */
        int read = root ? 1 : ring_operands(r, r->nodes[k]);
        for (int i = 0; r->needed[k] && i < read; i++) r->needed[position_of(r, operand(r, r->nodes[k], i))] = true;
    }
}

static void collect_atoms(ring *r) {
    int sign;
    for (size_t k = 0; k < r->node_count && !r->failed; k++)
        if (r->needed[k] && is_angular(r, r->nodes[k])) (void)ring_angle_of(r, operand(r, r->nodes[k], 0), &sign);
    ring_angles_finish(r);
    for (int i = 0; i < r->angle_count && !r->failed; i++) {
        graph_node angle = ring_angle_node(r, &r->angles[i]);
        add_atom(r, graph_literal(r->graph, GRAPH_SIN, angle, GRAPH_NONE));
        add_atom(r, graph_literal(r->graph, GRAPH_COS, angle, GRAPH_NONE));
    }
    for (size_t k = 0; k < r->node_count && !r->failed; k++) {
        graph_node node = r->nodes[k];
        bool number = graph_is_number(r->graph, node, NULL);
        if (r->needed[k] && !number && ring_operands(r, node) == 0 && !is_angular(r, node)) add_atom(r, node);
    }
    for (int i = 0; i < r->angle_count && !r->failed; i++) {
        graph_node angle = ring_angle_node(r, &r->angles[i]);
        r->angles[i].sine = variable_of(r, graph_literal(r->graph, GRAPH_SIN, angle, GRAPH_NONE));
        r->angles[i].cosine = variable_of(r, graph_literal(r->graph, GRAPH_COS, angle, GRAPH_NONE));
    }
}

bool ring_open(ring *r, graph *g, const graph_node *expressions, size_t count, work_budget *e, arena *memory) {
    *r = (ring){.graph = g, .memory = memory, .work_budget = e};
    r->node_count = graph_below(g, expressions, count, memory, &r->nodes);
    if (r->node_count == 0 || !work_budget_take(e, r->node_count)) return false;
    r->needed = arena_alloc(memory, r->node_count, sizeof *r->needed);
    r->known = arena_alloc(memory, r->node_count, sizeof *r->known);
    r->values = arena_alloc(memory, r->node_count, sizeof *r->values);
    if (!r->needed || !r->known || !r->values) return false;
    mark_needed(r, expressions, count);
    collect_atoms(r);
    if (r->failed || graph_status(g) != HAMEL_OK) return false;
    fmpq_mpoly_ctx_init(r->context, r->atom_count, ORD_LEX);
    r->open = true;
    return true;
}

void ring_close(ring *r) {
    if (!r->open) return;
    for (size_t k = 0; k < r->node_count; k++) {
        if (!r->known[k]) continue;
        fmpq_mpoly_clear(&r->values[k].numerator, r->context);
        fmpq_mpoly_clear(&r->values[k].denominator, r->context);
    }
    for (size_t k = 0; k < r->basis_count; k++) fmpq_mpoly_clear(&r->basis[k], r->context);
    fmpq_mpoly_ctx_clear(r->context);
    r->open = false;
}

static void decimal_fraction(const char *digits, long exponent, fmpq_t number) {
    fmpz_t mantissa, power;
    fmpz_init(mantissa);
    fmpz_init(power);
    (void)fmpz_set_str(mantissa, digits, 10);
    fmpz_set_ui(power, 10);
    fmpz_pow_ui(power, power, (ulong)labs(exponent));
    if (exponent < 0)
        fmpq_set_fmpz_frac(number, mantissa, power);
    else {
        fmpz_mul(mantissa, mantissa, power);
        fmpq_set_fmpz(number, mantissa);
    }
    fmpz_clear(power);
    fmpz_clear(mantissa);
}

static void set_number(ring *r, fmpq_mpoly_t out, double value) {
    decimal written = decimal_of(value);
    fmpq_t number;
    fmpq_init(number);
    if (written.below)
        fmpq_set_si(number, written.above, (ulong)written.below);
    else
        decimal_fraction(written.digits, written.exponent, number);
    fmpq_mpoly_set_fmpq(out, number, r->context);
    fmpq_clear(number);
}

static void multiply(ring *r, fmpq_mpoly_t out, const fmpq_mpoly_t x, const fmpq_mpoly_t y) {
    if (!ring_too_long(r, ring_length(r, x), ring_length(r, y))) fmpq_mpoly_mul(out, x, y, r->context);
}

/* Returns true if one of the polynomials divides the other. The shorter polynomial is then the greatest common divisor,
 * which costs one division. */
static bool one_divides(ring *r, const fmpq_mpoly_t x, const fmpq_mpoly_t y) {
    fmpq_mpoly_t ratio;
    fmpq_mpoly_init(ratio, r->context);
    bool longer = ring_length(r, x) > ring_length(r, y);
    bool divides = fmpq_mpoly_divides(ratio, longer ? x : y, longer ? y : x, r->context);
    fmpq_mpoly_clear(ratio, r->context);
    return divides;
}

/* Charges the worst-case cost of a common divisor of two sums, in addition to the cost of their terms. FLINT cannot be
 * interrupted. In the worst case FLINT computes the divisor by dense interpolation (Brown, J. ACM 18 (1971) 478), which
 * needs as many points as the divisor may have terms. For Hamilton's equations of random systems, 20000 points were
 * measured to take 0.1 s, and 10^6 points 3 to 40 s. If more than GCD_POINTS points are needed, sets `failed` and
 * returns false. */
static bool take_points(ring *r, const fmpq_mpoly_t x, const fmpq_mpoly_t y) {
    slong of_x[RING_ATOMS], of_y[RING_ATOMS];
    double points = 1;
    fmpq_mpoly_degrees_si(of_x, x, r->context);
    fmpq_mpoly_degrees_si(of_y, y, r->context);
    for (slong i = 0; i < r->atom_count; i++) points *= 1 + fmin((double)of_x[i], (double)of_y[i]);
    if (points < GCD_FREE_POINTS || one_divides(r, x, y)) return true;
    if (points > GCD_POINTS) {
        r->failed = true;
        if (r->work_budget) r->work_budget->spent = true;
        return false;
    }
    return ring_take(r, (slong)points * GCD_POINT / r->atom_count);
}

bool ring_gcd(ring *r, fmpq_mpoly_t common, fmpq_mpoly_t x_rest, fmpq_mpoly_t y_rest, const fmpq_mpoly_t x,
              const fmpq_mpoly_t y) {
    assert(r->open);
    slong x_terms = ring_length(r, x), y_terms = ring_length(r, y);
    bool sums = x_terms > 1 && y_terms > 1;
    bool begun = ring_take(r, (sums ? GCD_TERM : 1) * (x_terms + y_terms)) && (!sums || take_points(r, x, y));
    if (begun && !fmpq_mpoly_gcd_cofactors(common, x_rest, y_rest, x, y, r->context)) r->failed = true;
    return !r->failed;
}

bool ring_factor(ring *r, fmpq_mpoly_factor_t factors, const fmpq_mpoly_t p) {
    assert(r->open);
    if (ring_take(r, FACTOR_TERM * ring_length(r, p)) && !fmpq_mpoly_factor(factors, p, r->context)) r->failed = true;
    return !r->failed;
}

/* Sets *out to x + sign·y over the least common denominator. */
static void add_quotients(ring *r, quotient *out, const quotient *x, const quotient *y, int sign) {
    fmpq_mpoly_t common, left, right;
    fmpq_mpoly_init(common, r->context);
    fmpq_mpoly_init(left, r->context);
    fmpq_mpoly_init(right, r->context);
    if (fmpq_mpoly_equal(&x->denominator, &y->denominator, r->context)) {
        fmpq_mpoly_set(left, &x->numerator, r->context);
        fmpq_mpoly_set(right, &y->numerator, r->context);
        fmpq_mpoly_set(&out->denominator, &x->denominator, r->context);
    } else if (ring_gcd(r, common, left, right, &x->denominator, &y->denominator)) {
        multiply(r, &out->denominator, &x->denominator, right);
        multiply(r, right, &x->numerator, right);
        multiply(r, left, &y->numerator, left);
        fmpq_mpoly_swap(left, right, r->context);
    }
    if (sign < 0)
        fmpq_mpoly_sub(&out->numerator, left, right, r->context);
    else
        fmpq_mpoly_add(&out->numerator, left, right, r->context);
    fmpq_mpoly_clear(common, r->context);
    fmpq_mpoly_clear(left, r->context);
    fmpq_mpoly_clear(right, r->context);
}

/* Sets *out to n1/d1 · n2/d2. Cancels the common factors of n1 and d2, and the common factors of n2 and d1. */
static void multiply_quotients(ring *r, quotient *out, const fmpq_mpoly_t n1, const fmpq_mpoly_t d1,
                               const fmpq_mpoly_t n2, const fmpq_mpoly_t d2) {
    fmpq_mpoly_t common, a, b, c, d;
    fmpq_mpoly_struct *all[] = {common, a, b, c, d};
    for (int i = 0; i < 5; i++) fmpq_mpoly_init(all[i], r->context);
    if (ring_gcd(r, common, a, d, n1, d2) && ring_gcd(r, common, c, b, n2, d1)) {
        multiply(r, &out->numerator, a, c);
        multiply(r, &out->denominator, b, d);
    }
    for (int i = 0; i < 5; i++) fmpq_mpoly_clear(all[i], r->context);
}

static void divide(ring *r, quotient *out, const quotient *x, const quotient *y) {
    if (fmpq_mpoly_is_zero(&y->numerator, r->context))
        r->failed = true; /* the expression stays unchanged, so that evaluation reports the division by 0 */
    else
        multiply_quotients(r, out, &x->numerator, &x->denominator, &y->denominator, &y->numerator);
}

static void power_quotient(ring *r, quotient *out, const quotient *x, slong exponent) {
    ulong e = (ulong)labs(exponent);
    double longest = (double)ring_length(r, &x->numerator);
    longest = fmax(longest, (double)ring_length(r, &x->denominator));
    bool by_zero = exponent < 0 && fmpq_mpoly_is_zero(&x->numerator, r->context);
    if (by_zero || pow(longest, (double)e) > RING_TERMS) {
        r->failed = true;
        return;
    }
    fmpq_mpoly_t above, below;
    fmpq_mpoly_init(above, r->context);
    fmpq_mpoly_init(below, r->context);
    r->failed |= !fmpq_mpoly_pow_ui(above, &x->numerator, e, r->context);
    r->failed |= !fmpq_mpoly_pow_ui(below, &x->denominator, e, r->context);
    fmpq_mpoly_swap(&out->numerator, exponent < 0 ? below : above, r->context);
    fmpq_mpoly_swap(&out->denominator, exponent < 0 ? above : below, r->context);
    fmpq_mpoly_clear(above, r->context);
    fmpq_mpoly_clear(below, r->context);
}

static void set_variable(ring *r, fmpq_mpoly_t out, slong variable, int sign) {
    assert(variable < r->atom_count);
    if (variable < 0) {
        r->failed = true;
        return;
    }
    fmpq_mpoly_gen(out, variable, r->context);
    if (sign < 0) fmpq_mpoly_neg(out, out, r->context);
}

static void set_angular(ring *r, quotient *out, graph_node node) {
    int sign, index = ring_angle_of(r, operand(r, node, 0), &sign);
    if (index < 0) {
        r->failed = true;
        return;
    }
    const ring_angle *angle = &r->angles[index];
    uint8_t op = graph_at(r->graph, node)->op;
    set_variable(r, &out->numerator, op == GRAPH_COS ? angle->cosine : angle->sine, op == GRAPH_COS ? 1 : sign);
    if (op == GRAPH_TAN) set_variable(r, &out->denominator, angle->cosine, 1);
}

static void evaluate_operation(ring *r, quotient *out, graph_node node) {
    const graph_cell *cell = graph_at(r->graph, node);
    slong exponent;
    const quotient *x = &r->values[position_of(r, cell->as.operand[0])], *y = x;
    if (cell->as.operand[1] >= 0) y = &r->values[position_of(r, cell->as.operand[1])];
    switch (cell->op) {
    case GRAPH_ADD: add_quotients(r, out, x, y, 1); break;
    case GRAPH_SUB: add_quotients(r, out, x, y, -1); break;
    case GRAPH_MUL: multiply_quotients(r, out, &x->numerator, &x->denominator, &y->numerator, &y->denominator); break;
    case GRAPH_DIV: divide(r, out, x, y); break;
    case GRAPH_POW:
        if (integer_power(r, node, &exponent)) power_quotient(r, out, x, exponent);
        break;
    default:
        fmpq_mpoly_neg(&out->numerator, &x->numerator, r->context);
        fmpq_mpoly_set(&out->denominator, &x->denominator, r->context);
    }
}

static void evaluate_node(ring *r, quotient *out, graph_node node) {
    double number;
    fmpq_mpoly_one(&out->denominator, r->context);
    if (graph_is_number(r->graph, node, &number))
        set_number(r, &out->numerator, number);
    else if (is_angular(r, node))
        set_angular(r, out, node);
    else if (ring_operands(r, node) == 0)
        set_variable(r, &out->numerator, variable_of(r, node), 1);
    else
        evaluate_operation(r, out, node);
}

/* FLINT and MPFR keep reusable numbers and constants for each thread. */
void hamel_release_thread(void) {
    flint_cleanup(); /* calls mpfr_free_cache only if FLINT has used MPFR; calling it twice is harmless */
    mpfr_free_cache();
}

const quotient *ring_value(ring *r, graph_node expression) {
    assert(r->open);
    size_t last = position_of(r, expression);
    for (size_t k = 0; k <= last && !r->failed; k++) {
        if (!r->needed[k] || r->known[k]) continue;
        fmpq_mpoly_init(&r->values[k].numerator, r->context);
        fmpq_mpoly_init(&r->values[k].denominator, r->context);
        r->known[k] = true;
        evaluate_node(r, &r->values[k], r->nodes[k]);
    }
    return r->failed ? NULL : &r->values[last];
}
