/* taylor.c — recurrences for Taylor series of expressions; see taylor.h. */
#include "engine/analyze/taylor.h"

#include "engine/base/random.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the plan ----------------------------------------------------------------------------------------------------- */

/* Returns true for operations that advance_node computes by a special rule, without derivatives of the operation. */
static bool has_own_rule(const graph *g, const graph_cell *cell) {
    static const bool special[GRAPH_OP_COUNT] = {
        [GRAPH_ADD] = true,  [GRAPH_SUB] = true,  [GRAPH_MUL] = true, [GRAPH_DIV] = true, [GRAPH_NEG] = true,
        [GRAPH_ABS] = true,  [GRAPH_SIGN] = true, [GRAPH_MIN] = true, [GRAPH_MAX] = true, [GRAPH_FLOOR] = true,
        [GRAPH_CEIL] = true, [GRAPH_MOD] = true,  [GRAPH_IF] = true};
    if (cell->op == GRAPH_POW) return graph_is_number(g, cell->as.operand[1], NULL);
    return special[cell->op] || (cell->op < GRAPH_LISTED_COUNT && graph_op_get((graph_op)cell->op)->condition);
}

static bool is_operation(const graph_cell *cell) {
    return cell->op != GRAPH_IS_NUMBER && cell->op != GRAPH_IS_SYMBOL;
}

/* Creates the derivatives of the listed nodes with respect to their first two operands. If a derivative is not needed,
 * it is GRAPH_NONE. */
static bool make_slopes(taylor_plan *p, graph_node *slopes) {
    for (size_t i = 0; i < p->count; i++) {
        graph_cell cell = *graph_at(p->g, p->nodes[i]);
        bool follows = is_operation(&cell) && !has_own_rule(p->g, &cell);
        for (int k = 0; k < 2; k++) {
            bool needed = follows && cell.as.operand[k] >= 0 && (k == 0 || cell.op != GRAPH_TABLE);
            slopes[2 * i + (size_t)k] = needed ? graph_slope(p->g, p->nodes[i], k) : GRAPH_NONE;
            if (needed && slopes[2 * i + (size_t)k] < 0) return false;
        }
    }
    return true;
}

size_t taylor_place(const taylor_plan *p, graph_node node) {
    size_t place = graph_position(p->nodes, p->count, node);
    return place < p->count && p->nodes[place] == node ? place : p->count;
}

static int32_t place_or_none(const taylor_plan *p, graph_node node) {
    return node >= 0 ? (int32_t)taylor_place(p, node) : -1;
}

static bool locate_operands(taylor_plan *p, const graph_node *slopes, arena *memory) {
    p->operand = arena_alloc(memory, p->count, sizeof *p->operand);
    p->slope = arena_alloc(memory, p->count, sizeof *p->slope);
    if (memory->failed) return false;
    for (size_t i = 0; i < p->count; i++) {
        const graph_cell *cell = graph_at(p->g, p->nodes[i]);
        for (size_t k = 0; k < 3; k++)
            p->operand[i][k] = is_operation(cell) ? place_or_none(p, cell->as.operand[k]) : -1;
        for (size_t k = 0; k < 2; k++) p->slope[i][k] = place_or_none(p, slopes[2 * i + k]);
    }
    return true;
}

/* The derivatives (slopes) of a node are nodes themselves, so the plan needs their derivatives as well. Most of these
 * nodes are already listed, so the list is complete after a few rounds. */
bool taylor_plan_create(taylor_plan *p, graph *g, const graph_node *roots, size_t count, arena *memory) {
    graph_node *all = arena_alloc(memory, count, sizeof *all), *slopes;
    *p = (taylor_plan){.g = g};
    if (!all) return false;
    memcpy(all, roots, count * sizeof *roots);
    for (;;) {
        p->count = graph_below(g, all, count, memory, &p->nodes);
        slopes = arena_alloc(memory, 2 * p->count, sizeof *slopes);
        graph_node *more = arena_alloc(memory, count + 2 * p->count, sizeof *more);
        if (p->count == 0 || !slopes || !more || !make_slopes(p, slopes)) return false;
        size_t before = count;
        memcpy(more, all, count * sizeof *all);
        for (size_t i = 0; i < 2 * p->count; i++)
            if (slopes[i] >= 0 && taylor_place(p, slopes[i]) == p->count) more[count++] = slopes[i];
        all = more;
        if (count == before) return locate_operands(p, slopes, memory);
    }
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

struct number_block {
    number_block *before;
    size_t count;
    mpfr_t numbers[];
};

mpfr_t *number_pool_take(number_pool *pool, size_t count) {
    number_block *block = calloc(1, sizeof *block + count * sizeof *block->numbers);
    pool->failed = pool->failed || !block;
    if (!block) return NULL;
    *block = (number_block){pool->last, count};
    pool->last = block;
    for (size_t i = 0; i < count; i++) {
        mpfr_init2(block->numbers[i], TAYLOR_BITS);
        mpfr_set_zero(block->numbers[i], 1);
    }
    return block->numbers;
}

void number_pool_free(number_pool *pool) {
    while (pool->last) {
        number_block *block = pool->last;
        for (size_t i = 0; i < block->count; i++) mpfr_clear(block->numbers[i]);
        pool->last = block->before;
        free(block);
    }
}

/* Returns true for numbers with at most twenty binary digits after the point, such as 0.5. These numbers are treated as
 * exact. */
static bool is_short(double value) {
    return fabs(value) < 0x1p30 && value * 0x1p20 == floor(value * 0x1p20);
}

/* Returns true for numbers below 2^-41 with at most ten significant bits, such as 0.1 + 0.2 - 0.3. */
static bool is_residue(double value) {
    int exponent;
    double mantissa = frexp(fabs(value), &exponent) * 0x1p10;
    return exponent < -40 && mantissa == floor(mantissa);
}

static void set_number(mpfr_ptr to, double value, double change, uint64_t *seed) {
    double by = random_uniform(seed, 0.5, 1) * (is_residue(value) ? 1 : change);
    if (random_uniform(seed, -1, 1) < 0) by = -by;
    mpfr_set_d(to, value, MPFR_RNDN);
    if (change == 0 || is_short(value)) return;
    mpfr_t factor;
    mpfr_init2(factor, TAYLOR_BITS);
    mpfr_set_d(factor, by, MPFR_RNDN);
    mpfr_add_ui(factor, factor, 1, MPFR_RNDN);
    mpfr_mul(to, to, factor, MPFR_RNDN);
    mpfr_clear(factor);
}

void taylor_init(taylor *t, const taylor_plan *plan, size_t order, const double *parameters, double change,
                 uint64_t seed, number_pool *pool) {
    *t = (taylor){.plan = plan, .order = order};
    t->coefficients = number_pool_take(pool, plan->count * (order + 1));
    t->scratch = number_pool_take(pool, 2 * (order + 2));
    for (size_t i = 0; i < plan->count && !pool->failed; i++) {
        const graph_cell *cell = graph_at(plan->g, plan->nodes[i]);
        if (cell->op == GRAPH_IS_NUMBER) set_number(taylor_coefficient(t, i, 0), cell->as.number, change, &seed);
        if (cell->op == GRAPH_IS_SYMBOL && cell->kind == SYMBOL_PARAMETER)
            set_number(taylor_coefficient(t, i, 0), parameters[cell->as.index], change, &seed);
    }
}

/* --- rules -------------------------------------------------------------------------------------------------------- */

static mpfr_ptr of(const taylor *t, int32_t place, size_t k) {
    return taylor_coefficient(t, (size_t)place, k);
}

/* Returns the factor by which differentiation multiplies coefficient i of a series in the recurrence for coefficient k.
 * For series in one variable, the factor is i. */
static size_t weight(const taylor *t, size_t k, size_t i) {
    assert(i <= k);
    if (!t->multilinear) return i;
    size_t highest = k;
    while (highest & (highest - 1)) highest &= highest - 1;
    return (i & highest) != 0;
}

/* Adds x · y to `to`. */
static void add_product(const taylor *t, mpfr_ptr to, mpfr_srcptr x, mpfr_srcptr y) {
    if (mpfr_zero_p(x) || mpfr_zero_p(y)) return; /* skips 0 · NaN if a derivative is not needed */
    mpfr_mul(t->scratch[0], x, y, MPFR_RNDN);
    mpfr_add(to, to, t->scratch[0], MPFR_RNDN);
}

/* Computes the order-th derivative of the table's polynomial piece at x. */
static void table_derivative(const graph_table *table, mpfr_srcptr x, int order, mpfr_ptr to) {
    double at = mpfr_get_d(x, MPFR_RNDN);
    ptrdiff_t segment = table_segment(table, at), last = (ptrdiff_t)table->count - 1;
    if (segment < 0 || segment >= last) {
        mpfr_set_d(to, table_value(table, at, order), MPFR_RNDN);
        return;
    }
    const double *c = table->coefficients + (size_t)segment * ((size_t)table->degree + 1);
    mpfr_t u;
    mpfr_init2(u, TAYLOR_BITS);
    mpfr_sub_d(u, x, table->x[segment], MPFR_RNDN);
    mpfr_set_zero(to, 1);
    for (int k = table->degree; k >= order; k--) {
        double factor = 1;
        for (int j = 0; j < order; j++) factor *= k - j;
        mpfr_mul(to, to, u, MPFR_RNDN);
        mpfr_add_d(to, to, factor * c[k], MPFR_RNDN);
    }
    mpfr_clear(u);
}

/* Sets z to F(x, y). */
static void function_value(mpfr_ptr z, graph_op op, mpfr_srcptr x, mpfr_srcptr y) {
    static int (*const unary[GRAPH_OP_COUNT])(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t) = {
        [GRAPH_SIN] = mpfr_sin,     [GRAPH_COS] = mpfr_cos,   [GRAPH_TAN] = mpfr_tan,     [GRAPH_ASIN] = mpfr_asin,
        [GRAPH_ACOS] = mpfr_acos,   [GRAPH_ATAN] = mpfr_atan, [GRAPH_SINH] = mpfr_sinh,   [GRAPH_COSH] = mpfr_cosh,
        [GRAPH_TANH] = mpfr_tanh,   [GRAPH_SECH] = mpfr_sech, [GRAPH_ASINH] = mpfr_asinh, [GRAPH_ACOSH] = mpfr_acosh,
        [GRAPH_ATANH] = mpfr_atanh, [GRAPH_EXP] = mpfr_exp,   [GRAPH_LOG] = mpfr_log,     [GRAPH_LOG10] = mpfr_log10,
        [GRAPH_SQRT] = mpfr_sqrt,   [GRAPH_CBRT] = mpfr_cbrt};
    static int (*const binary[GRAPH_OP_COUNT])(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t) = {
        [GRAPH_POW] = mpfr_pow, [GRAPH_ATAN2] = mpfr_atan2, [GRAPH_HYPOT] = mpfr_hypot};
    if (unary[op])
        unary[op](z, x, MPFR_RNDN);
    else if (binary[op])
        binary[op](z, x, y, MPFR_RNDN);
    else
        mpfr_set_nan(z);
}

/* Sets z to the value of a condition, 0 or 1. */
static void condition(mpfr_ptr z, graph_op op, mpfr_srcptr x, mpfr_srcptr y) {
    bool logical = op == GRAPH_AND || op == GRAPH_OR || op == GRAPH_NOT;
    double left = logical ? mpfr_sgn(x) != 0 : mpfr_cmp(x, y), right = logical && y ? mpfr_sgn(y) != 0 : 0;
    mpfr_set_d(z, graph_op_value(op, left, right, 0), MPFR_RNDN);
}

/* Computes coefficient k of a piecewise operator: plus or minus the coefficient of one operand, or a constant. */
static void piece(const taylor *t, mpfr_ptr z, const int32_t *o, graph_op op, size_t k) {
    mpfr_srcptr x = of(t, o[0], 0), y = o[1] >= 0 ? of(t, o[1], 0) : NULL;
    int32_t from = o[0];
    if (op == GRAPH_MIN) from = mpfr_cmp(x, y) <= 0 ? o[0] : o[1];
    if (op == GRAPH_MAX) from = mpfr_cmp(x, y) >= 0 ? o[0] : o[1];
    if (op == GRAPH_IF) from = mpfr_sgn(x) != 0 ? o[1] : o[2];
    bool constant = op == GRAPH_SIGN || op == GRAPH_FLOOR || op == GRAPH_CEIL;
    if (constant && k > 0)
        mpfr_set_zero(z, 1);
    else if (op == GRAPH_SIGN)
        mpfr_set_si(z, mpfr_sgn(x), MPFR_RNDN);
    else if (op == GRAPH_FLOOR)
        mpfr_floor(z, x);
    else if (op == GRAPH_CEIL)
        mpfr_ceil(z, x);
    else
        mpfr_set(z, of(t, from, k), MPFR_RNDN);
    if (op == GRAPH_ABS && mpfr_sgn(x) < 0) mpfr_neg(z, z, MPFR_RNDN);
}

/* Computes coefficient k of x − y floor(x_0/y_0). */
static void remainder_of(const taylor *t, mpfr_ptr z, const int32_t *o, size_t k) {
    mpfr_div(t->scratch[1], of(t, o[0], 0), of(t, o[1], 0), MPFR_RNDN);
    mpfr_floor(t->scratch[1], t->scratch[1]);
    mpfr_mul(t->scratch[1], t->scratch[1], of(t, o[1], k), MPFR_RNDN);
    mpfr_sub(z, of(t, o[0], k), t->scratch[1], MPFR_RNDN);
}

static void product_series(const taylor *t, mpfr_ptr z, const int32_t *o, size_t k) {
    size_t i = k;
    mpfr_set_zero(z, 1);
    do add_product(t, z, of(t, o[0], i), of(t, o[1], k - i));
    while (taylor_next(t, k, &i));
}

/* Computes z_k = (x_k − Σ_{i≠0} y_i z_{k−i}) / y_0. */
static void quotient(const taylor *t, size_t place, const int32_t *o, size_t k) {
    mpfr_ptr z = taylor_coefficient(t, place, k);
    mpfr_set_zero(z, 1);
    for (size_t i = k; i > 0; (void)taylor_next(t, k, &i))
        add_product(t, z, of(t, o[1], i), taylor_coefficient(t, place, k - i));
    mpfr_sub(z, of(t, o[0], k), z, MPFR_RNDN);
    mpfr_div(z, z, of(t, o[1], 0), MPFR_RNDN);
}

/* Computes coefficient k of x^n, n ≥ 0, by multiplication of series. This method is used for small x_0, because the
 * recurrence for powers divides by x_0 and loses digits. Overwrites t->scratch from index 1 on. */
static void power_at_zero(const taylor *t, mpfr_ptr z, int32_t x, size_t n, size_t k) {
    mpfr_t *power = t->scratch + 2;
    for (size_t i = 0; i <= k; i++) mpfr_set_ui(power[i], i == 0, MPFR_RNDN);
    for (size_t factor = 0; factor < n; factor++)
        for (size_t i = k + 1; i-- > 0;) { /* in descending order, because lower coefficients are still needed */
            mpfr_set_zero(t->scratch[1], 1);
            size_t j = i;
            do add_product(t, t->scratch[1], power[j], of(t, x, i - j));
            while (taylor_next(t, i, &j));
            mpfr_set(power[i], t->scratch[1], MPFR_RNDN);
        }
    mpfr_set(z, power[k], MPFR_RNDN);
}

/* Computes coefficient k of z = x^a from x z' = a z x': z_k = Σ_{i≠0} (a w_i − w_{k−i}) x_i z_{k−i} / (w_k x_0). For
 * series in one variable, the weights are w_i = i. */
static void power_series(const taylor *t, size_t place, const int32_t *o, size_t k) {
    const size_t most = 64; /* upper bound of n: x^n needs n products of series */
    mpfr_ptr z = taylor_coefficient(t, place, k);
    mpfr_srcptr x = of(t, o[0], 0), a = of(t, o[1], 0);
    bool small = mpfr_zero_p(x) || (mpfr_regular_p(x) && mpfr_get_exp(x) < -20);
    if (small && mpfr_integer_p(a) && mpfr_sgn(a) >= 0 && mpfr_cmp_ui(a, most) <= 0) {
        power_at_zero(t, z, o[0], mpfr_get_ui(a, MPFR_RNDN), k);
        return;
    }
    if (k == 0) {
        mpfr_pow(z, x, a, MPFR_RNDN);
        return;
    }
    mpfr_set_zero(z, 1);
    for (size_t i = k; i > 0; (void)taylor_next(t, k, &i)) {
        mpfr_mul_ui(t->scratch[1], a, weight(t, k, i), MPFR_RNDN);
        mpfr_sub_ui(t->scratch[1], t->scratch[1], weight(t, k, k - i), MPFR_RNDN);
        mpfr_mul(t->scratch[1], t->scratch[1], of(t, o[0], i), MPFR_RNDN);
        add_product(t, z, t->scratch[1], taylor_coefficient(t, place, k - i));
    }
    mpfr_div(z, z, x, MPFR_RNDN);
    mpfr_div_ui(z, z, weight(t, k, k), MPFR_RNDN);
}

/* Computes coefficient k of z = F(x, y) from z' = Σ (∂F/∂x) x'. */
static void function(const taylor *t, size_t place, const graph_cell *cell, size_t k) {
    const int32_t *o = t->plan->operand[place], *slope = t->plan->slope[place];
    mpfr_ptr z = taylor_coefficient(t, place, k);
    if (k == 0 && cell->op == GRAPH_TABLE) {
        double index = mpfr_get_d(of(t, o[1], 0), MPFR_RNDN), order = mpfr_get_d(of(t, o[2], 0), MPFR_RNDN);
        table_derivative(graph_tables(t->plan->g)[(size_t)index], of(t, o[0], 0), (int)order, z);
    } else if (k == 0)
        function_value(z, (graph_op)cell->op, of(t, o[0], 0), o[1] >= 0 ? of(t, o[1], 0) : NULL);
    if (k == 0) return;
    mpfr_set_zero(z, 1);
    for (int which = 0; which < 2; which++)
        for (size_t i = slope[which] >= 0 ? k : 0; i > 0; (void)taylor_next(t, k, &i)) {
            if (weight(t, k, i) == 0) continue;
            mpfr_mul_ui(t->scratch[1], of(t, o[which], i), weight(t, k, i), MPFR_RNDN);
            add_product(t, z, t->scratch[1], of(t, slope[which], k - i));
        }
    mpfr_div_ui(z, z, weight(t, k, k), MPFR_RNDN);
}

static void advance_node(const taylor *t, size_t place, const graph_cell *cell, size_t k) {
    const int32_t *o = t->plan->operand[place];
    mpfr_ptr z = taylor_coefficient(t, place, k);
    graph_op op = (graph_op)cell->op;
    switch (op) {
    case GRAPH_ADD: mpfr_add(z, of(t, o[0], k), of(t, o[1], k), MPFR_RNDN); break;
    case GRAPH_SUB: mpfr_sub(z, of(t, o[0], k), of(t, o[1], k), MPFR_RNDN); break;
    case GRAPH_NEG: mpfr_neg(z, of(t, o[0], k), MPFR_RNDN); break;
    case GRAPH_MUL: product_series(t, z, o, k); break;
    case GRAPH_DIV: quotient(t, place, o, k); break;
    case GRAPH_MOD: remainder_of(t, z, o, k); break;
    default:
        if (op == GRAPH_POW && t->plan->slope[place][0] < 0) {
            power_series(t, place, o, k);
        } else if (op < GRAPH_LISTED_COUNT && graph_op_get(op)->condition) {
            if (k == 0) condition(z, op, of(t, o[0], 0), o[1] >= 0 ? of(t, o[1], 0) : NULL);
        } else if (has_own_rule(t->plan->g, cell)) {
            piece(t, z, o, op, k);
        } else {
            function(t, place, cell, k);
        }
    }
}

void taylor_step(taylor *t, size_t k) {
    assert(k <= t->order);
    for (size_t i = 0; i < t->plan->count; i++) {
        const graph_cell *cell = graph_at(t->plan->g, t->plan->nodes[i]);
        if (is_operation(cell)) advance_node(t, i, cell, k);
    }
}
