/* integrate.c — see integrate.h.
 *
 * A sum is integrated term by term. A term of the form K f(u) ∂u/∂x with K free of x is integrated by substitution. If
 * no rule applies to a term, one of its sums is multiplied out, and the rules are tried again. The integrating factor
 * μ(x_k) of a form Σ a_i dx_i is from Ince, Ordinary Differential Equations, 2.5. If the quotient (∂a_k/∂x_j −
 * ∂a_j/∂x_k)/a_j depends on x_k only, this quotient equals d log μ/dx_k. A separable form has such a factor after it is
 * divided by one of its coefficients. */
#include "engine/algebra/integrate.h"

#include "engine/algebra/arrange.h"

#include <assert.h>
#include <math.h>

enum { FACTORS = 24, EXPANSIONS = 4, TERMS = 64 };

typedef struct power_factor {
    graph_node base;
    double power;
} power_factor;

/* The product constant · Π base^power. */
typedef struct product {
    graph_node constant; /* does not contain the symbol */
    power_factor items[FACTORS];
    size_t count;
} product;

static bool is_free_of(graph *g, graph_node node, graph_node symbol) {
    const graph_cell *s = graph_at(g, symbol);
    const int32_t *indices;
    if (!(graph_depends(g, node) & GRAPH_DEPENDS(s->kind))) return true;
    size_t count = graph_support(g, node, (graph_symbol_kind)s->kind, &indices);
    for (size_t k = 0; k < count; k++)
        if (indices[k] == s->as.index) return false;
    return graph_status(g) == HAMEL_OK;
}

static graph_node power_of(graph *g, graph_node base, double power) {
    return power == 1 ? base : graph_binary(g, GRAPH_POW, base, graph_number(g, power));
}

static bool add_factor(graph *g, product *p, graph_node base, double power, graph_node symbol) {
    assert(p->count <= FACTORS);
    if (is_free_of(g, base, symbol)) {
        p->constant = graph_mul(g, p->constant, power_of(g, base, power));
        return true;
    }
    for (size_t k = 0; k < p->count; k++)
        if (p->items[k].base == base) {
            p->items[k].power += power;
            return true;
        }
    if (p->count == FACTORS) return false;
    p->items[p->count++] = (power_factor){base, power};
    return true;
}

/* Splits a factor into one or two simpler factors. Returns the number of these factors, or 0 if the factor cannot be
 * split. */
static int split_base(graph *g, power_factor f, power_factor parts[2]) {
    graph_cell cell = *graph_at(g, f.base);
    graph_node x = cell.as.operand[0], y = cell.as.operand[1];
    double number;
    switch (cell.op) {
    case GRAPH_MUL: parts[1] = (power_factor){y, f.power}; break;
    case GRAPH_DIV: parts[1] = (power_factor){y, -f.power}; break;
    case GRAPH_NEG: parts[1] = (power_factor){x, f.power}, x = graph_number(g, -1); break;
    case GRAPH_POW:
        if (!graph_is_number(g, y, &number)) return 0;
        parts[0] = (power_factor){x, f.power * number};
        return 1;
    default: return 0;
    }
    parts[0] = (power_factor){x, f.power};
    return 2;
}

/* Splits a term into factors. Returns false if there are more than FACTORS factors. */
static bool factors_of(graph *g, graph_node node, graph_node symbol, product *p) {
    power_factor stack[FACTORS + 2], parts[2];
    size_t depth = 1;
    p->constant = graph_number(g, 1);
    p->count = 0;
    stack[0] = (power_factor){node, 1};
    while (depth > 0) {
        power_factor f = stack[--depth];
        int count = is_free_of(g, f.base, symbol) ? 0 : split_base(g, f, parts);
        if (count == 0 && !add_factor(g, p, f.base, f.power, symbol)) return false;
        if (depth + (size_t)count > FACTORS + 2) return false;
        for (int k = 0; k < count; k++) stack[depth++] = parts[k];
    }
    return true;
}

/* Returns the product without the factor at index `without`. */
static graph_node rest_of(graph *g, const product *p, size_t without) {
    graph_node rest = p->constant;
    for (size_t k = 0; k < p->count; k++)
        if (k != without) rest = graph_mul(g, rest, power_of(g, p->items[k].base, p->items[k].power));
    return rest;
}

/* Returns K with rest = K ∂u/∂x, or GRAPH_NONE if K contains x (the symbol). */
static graph_node slope_ratio(graph *g, graph_node rest, graph_node u, graph_node symbol, work_budget *e,
                              arena *memory) {
    graph_node slope = graph_partial(g, u, symbol);
    if (slope < 0 || graph_is_zero(g, slope)) return GRAPH_NONE;
    graph_node ratio = arrange_within(g, graph_div(g, rest, slope), e, memory);
    return ratio >= 0 && is_free_of(g, ratio, symbol) ? ratio : GRAPH_NONE;
}

/* Returns ∫ u^power du. */
static graph_node power_rule(graph *g, graph_node u, double power) {
    if (power == -1) return graph_unary(g, GRAPH_LOG, graph_unary(g, GRAPH_ABS, u));
    return graph_div(g, power_of(g, u, power + 1), graph_number(g, power + 1));
}

/* Returns ∫ f(u) du for a named function f, or GRAPH_NONE if no rule applies. */
static graph_node function_rule(graph *g, graph_op op, graph_node u) {
    switch (op) {
    case GRAPH_SIN: return graph_neg(g, graph_unary(g, GRAPH_COS, u));
    case GRAPH_COS: return graph_unary(g, GRAPH_SIN, u);
    case GRAPH_SINH: return graph_unary(g, GRAPH_COSH, u);
    case GRAPH_COSH: return graph_unary(g, GRAPH_SINH, u);
    case GRAPH_EXP: return graph_unary(g, GRAPH_EXP, u);
    case GRAPH_TAN: return graph_neg(g, power_rule(g, graph_unary(g, GRAPH_COS, u), -1));
    default: return GRAPH_NONE;
    }
}

/* Returns the radicand: u for sqrt(u), x² + y² for hypot(x, y). */
static graph_node under_root(graph *g, graph_node root) {
    graph_cell cell = *graph_at(g, root);
    graph_node x = cell.as.operand[0], y = cell.as.operand[1];
    if (cell.op == GRAPH_SQRT) return x;
    return cell.op == GRAPH_HYPOT ? graph_add(g, graph_mul(g, x, x), graph_mul(g, y, y)) : GRAPH_NONE;
}

/* Returns ∫ root^power du, where u is the radicand. */
static graph_node root_rule(graph *g, graph_node root, double power) {
    if (power == -2) return power_rule(g, under_root(g, root), -1);
    return graph_div(g, power_of(g, root, power + 2), graph_number(g, (power + 2) / 2));
}

/* Finds c and k if the base is c + k x²; returns false otherwise. */
static bool is_quadratic(graph *g, graph_node base, graph_node x, work_budget *e, arena *memory, graph_node *c,
                         graph_node *k) {
    *k = graph_div(g, graph_partial(g, graph_partial(g, base, x), x), graph_number(g, 2));
    *c = arrange_within(g, graph_sub(g, base, graph_mul(g, *k, graph_mul(g, x, x))), e, memory);
    *k = arrange_within(g, *k, e, memory);
    return *k >= 0 && *c >= 0 && !graph_is_zero(g, *k) && !graph_is_zero(g, *c) && is_free_of(g, *k, x) &&
           is_free_of(g, *c, x);
}

/* Returns √|k/c| and sets *negative if k/c is a negative number. Parameters are assumed to be positive. If an
 * expression k/c has a negative value nevertheless, the root is NaN, and the caller's check of the integral fails. */
static graph_node root_of_ratio(graph *g, graph_node c, graph_node k, bool *negative) {
    graph_node ratio = graph_div(g, k, c);
    double value;
    *negative = graph_is_number(g, ratio, &value) && value < 0;
    return graph_unary(g, GRAPH_SQRT, *negative ? graph_neg(g, ratio) : ratio);
}

/* Returns ∫ dx/(c + k x²) with a = √|k/c| (Abramowitz & Stegun 3.3.20, 3.3.24). The result is atan(a x)/(a c). For k/c
 * < 0 the result is log|(1 + a x)/(1 − a x)|/(2 a c). */
static graph_node quadratic_rule(graph *g, graph_node base, graph_node x, work_budget *e, arena *memory) {
    graph_node c, k, one = graph_number(g, 1);
    bool negative;
    if (!is_quadratic(g, base, x, e, memory, &c, &k)) return GRAPH_NONE;
    graph_node a = root_of_ratio(g, c, k, &negative), ax = graph_mul(g, a, x), scale = graph_mul(g, a, c);
    if (!negative) return graph_div(g, graph_unary(g, GRAPH_ATAN, ax), scale);
    graph_node ends = graph_div(g, graph_add(g, one, ax), graph_sub(g, one, ax));
    return graph_div(g, power_rule(g, ends, -1), graph_mul(g, graph_number(g, 2), scale));
}

/* Returns ∫ √(c + k x²)^±1 dx with a = √|k/c| (Abramowitz & Stegun 3.3.41, 3.3.44). Below, √ alone means √(c + k x²). ∫
 * dx/√ is asinh(a x)/(a √c), or asin(a x)/(a √c) for k < 0. ∫ √ dx = x √/2 + c/2 ∫ dx/√. */
static graph_node arc_rule(graph *g, power_factor f, graph_node x, work_budget *e, arena *memory) {
    graph_node c, k, half = graph_number(g, 0.5);
    bool negative;
    if (graph_at(g, f.base)->op != GRAPH_SQRT || fabs(f.power) != 1) return GRAPH_NONE;
    if (!is_quadratic(g, graph_at(g, f.base)->as.operand[0], x, e, memory, &c, &k)) return GRAPH_NONE;
    graph_node a = root_of_ratio(g, c, k, &negative);
    graph_node angle = graph_unary(g, negative ? GRAPH_ASIN : GRAPH_ASINH, graph_mul(g, a, x));
    graph_node inverse = graph_div(g, angle, graph_mul(g, a, graph_unary(g, GRAPH_SQRT, c)));
    if (f.power < 0) return inverse;
    return graph_mul(g, half, graph_add(g, graph_mul(g, x, f.base), graph_mul(g, c, inverse)));
}

static graph_node by_substitution(graph *g, const product *p, graph_node symbol, work_budget *e, arena *memory) {
    if (p->count == 0) return graph_mul(g, p->constant, symbol);
    if (p->count == 1) {
        graph_node arc = GRAPH_NONE;
        if (p->items[0].power == -1) arc = quadratic_rule(g, p->items[0].base, symbol, e, memory);
        if (arc < 0) arc = arc_rule(g, p->items[0], symbol, e, memory);
        if (arc >= 0) return graph_mul(g, p->constant, arc);
    }
    for (size_t k = 0; k < p->count; k++) {
        power_factor f = p->items[k];
        graph_node rest = rest_of(g, p, k), ratio = slope_ratio(g, rest, f.base, symbol, e, memory);
        if (ratio >= 0) return graph_mul(g, ratio, power_rule(g, f.base, f.power));
        graph_node inner = under_root(g, f.base), whole = GRAPH_NONE;
        if (inner >= 0) ratio = slope_ratio(g, rest, inner, symbol, e, memory);
        if (ratio >= 0) return graph_mul(g, ratio, root_rule(g, f.base, f.power));
        graph_cell cell = *graph_at(g, f.base);
        graph_node u = cell.as.operand[0];
        if (f.power != 1 || cell.op >= GRAPH_IS_NUMBER) continue;
        whole = function_rule(g, (graph_op)cell.op, u);
        if (whole >= 0) ratio = slope_ratio(g, rest, u, symbol, e, memory);
        if (ratio >= 0) return graph_mul(g, ratio, whole);
    }
    return GRAPH_NONE;
}

/* Returns the product with one of its sums multiplied out, or GRAPH_NONE if the product contains no sum. */
static graph_node multiply_out(graph *g, const product *p, arena *memory) {
    for (size_t k = 0; k < p->count; k++) {
        graph_node *terms, sum = graph_number(g, 0), rest = rest_of(g, p, k);
        signed char *signs;
        power_factor f = p->items[k];
        if (!(f.power >= 1 && f.power == floor(f.power))) continue;
        size_t count = graph_terms(g, f.base, memory, NULL, &terms, &signs);
        if (count < 2 || count > TERMS) continue;
        if (f.power > 1) rest = graph_mul(g, rest, power_of(g, f.base, f.power - 1));
        for (size_t i = 0; i < count; i++) {
            graph_node term = graph_mul(g, terms[i], rest);
            sum = signs[i] < 0 ? graph_sub(g, sum, term) : graph_add(g, sum, term);
        }
        return sum;
    }
    return GRAPH_NONE;
}

/* Terms that no rule integrates are multiplied out, and the rules are tried again, at most EXPANSIONS times. */
graph_node integrate(graph *g, graph_node node, graph_node symbol, work_budget *e, arena *memory) {
    graph_node sum = graph_number(g, 0);
    for (int level = 0; level <= EXPANSIONS; level++) {
        graph_node *terms, left = graph_number(g, 0);
        signed char *signs;
        if (graph_is_zero(g, node)) return sum;
        size_t count = graph_terms(g, node, memory, NULL, &terms, &signs);
        if (count == 0 || count > TERMS) return GRAPH_NONE;
        for (size_t k = 0; k < count; k++) {
            product p;
            if (!factors_of(g, terms[k], symbol, &p)) return GRAPH_NONE;
            graph_node part = by_substitution(g, &p, symbol, e, memory);
            graph_node *to = part >= 0 ? &sum : &left;
            if (part < 0) part = multiply_out(g, &p, memory);
            if (part < 0) return GRAPH_NONE;
            *to = signs[k] < 0 ? graph_sub(g, *to, part) : graph_add(g, *to, part);
        }
        node = left;
    }
    return GRAPH_NONE;
}

/* Returns F such that dF is the form. Integrates with respect to one variable after the other. The remainder of the
 * form must then be free of the variables already used. */
static graph_node potential(graph *g, const one_form *form, work_budget *e, arena *memory) {
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; i < form->count; i++) {
        graph_node rest = graph_sub(g, form->coefficient[i], graph_partial(g, sum, form->variable[i]));
        rest = arrange_within(g, rest, e, memory);
        for (size_t j = 0; j < i; j++)
            if (rest < 0 || !is_free_of(g, rest, form->variable[j])) return GRAPH_NONE;
        graph_node part = rest < 0 ? GRAPH_NONE : integrate(g, rest, form->variable[i], e, memory);
        if (part < 0) return GRAPH_NONE;
        sum = graph_add(g, sum, part);
    }
    return sum;
}

graph_node arrange_terms(graph *g, graph_node sum, work_budget *e, arena *memory) {
    graph_node *terms, result = GRAPH_NONE;
    signed char *signs;
    size_t count = graph_terms(g, sum, memory, NULL, &terms, &signs);
    for (size_t k = 0; k < count; k++) {
        graph_node term = arrange_within(g, signs[k] < 0 ? graph_neg(g, terms[k]) : terms[k], e, memory);
        if (term < 0) return GRAPH_NONE;
        bool negative = result >= 0 && graph_at(g, term)->op == GRAPH_NEG;
        if (negative) term = graph_at(g, term)->as.operand[0];
        result = result < 0 ? term : graph_literal(g, negative ? GRAPH_SUB : GRAPH_ADD, result, term);
    }
    return result;
}

/* Returns exp(node), where each term number · log|u| of the node becomes a power of u. */
static graph_node exponential(graph *g, graph_node node, arena *memory) {
    graph_node *terms, result = graph_number(g, 1);
    signed char *signs;
    size_t count = graph_terms(g, node, memory, NULL, &terms, &signs);
    for (size_t k = 0; k < count; k++) {
        graph_cell cell = *graph_at(g, terms[k]);
        double power = 1;
        if (cell.op == GRAPH_MUL && graph_is_number(g, cell.as.operand[0], &power))
            cell = *graph_at(g, cell.as.operand[1]);
        power *= signs[k];
        bool log_of_size = cell.op == GRAPH_LOG && graph_at(g, cell.as.operand[0])->op == GRAPH_ABS;
        graph_node part = log_of_size ? power_of(g, graph_at(g, cell.as.operand[0])->as.operand[0], power)
                                      : graph_unary(g, GRAPH_EXP, signs[k] < 0 ? graph_neg(g, terms[k]) : terms[k]);
        result = graph_mul(g, result, part);
    }
    return count > 0 ? result : GRAPH_NONE;
}

/* Returns μ(x_k), computed with the first nonzero coefficient other than a_k. */
static graph_node factor_in(graph *g, const one_form *form, size_t k, work_budget *e, arena *memory) {
    size_t j = 0;
    while (j < form->count && (j == k || graph_is_zero(g, form->coefficient[j]))) j++;
    if (j == form->count) return GRAPH_NONE;
    graph_node curl = graph_sub(g, graph_partial(g, form->coefficient[k], form->variable[j]),
                                graph_partial(g, form->coefficient[j], form->variable[k]));
    graph_node slope = arrange_within(g, graph_div(g, curl, form->coefficient[j]), e, memory);
    if (slope < 0 || graph_is_zero(g, slope)) return GRAPH_NONE;
    for (size_t i = 0; i < form->count; i++)
        if (i != k && !is_free_of(g, slope, form->variable[i])) return GRAPH_NONE;
    graph_node logarithm = integrate(g, slope, form->variable[k], e, memory);
    return logarithm < 0 ? GRAPH_NONE : exponential(g, logarithm, memory);
}

/* Sets scaled[i] to factor · coefficient[i]. */
static void scale(graph *g, graph_node factor, const one_form *form, graph_node *scaled, work_budget *e,
                  arena *memory) {
    for (size_t i = 0; i < form->count; i++)
        scaled[i] = arrange_within(g, graph_mul(g, factor, form->coefficient[i]), e, memory);
}

/* Tries the integrating factors 1, then μ(x_k) for each k. scaled[form->count] is scratch. */
static bool with_factor(graph *g, const one_form *form, graph_node *scaled, graph_node *factor, graph_node *integral,
                        work_budget *e, arena *memory) {
    *factor = graph_number(g, 1);
    *integral = potential(g, form, e, memory);
    for (size_t k = 0; *integral < 0 && k < form->count; k++) {
        *factor = factor_in(g, form, k, e, memory);
        if (*factor < 0) continue;
        scale(g, *factor, form, scaled, e, memory);
        *integral = potential(g, &(one_form){scaled, form->variable, form->count}, e, memory);
    }
    return *integral >= 0;
}

bool integrate_form(graph *g, const one_form *form, graph_node *factor, graph_node *integral, work_budget *e,
                    arena *memory) {
    assert(form->count > 0);
    graph_node *scaled = arena_alloc(memory, form->count, sizeof *scaled);
    graph_node *divided = arena_alloc(memory, form->count, sizeof *divided);
    if (!scaled || !divided) return false;
    if (!with_factor(g, form, scaled, factor, integral, e, memory)) {
        size_t first = 0;
        while (first < form->count && graph_is_zero(g, form->coefficient[first])) first++;
        if (first == form->count || graph_is_number(g, form->coefficient[first], NULL)) return false;
        graph_node divisor = graph_div(g, graph_number(g, 1), form->coefficient[first]);
        scale(g, divisor, form, divided, e, memory);
        one_form solved = {divided, form->variable, form->count};
        if (!with_factor(g, &solved, scaled, factor, integral, e, memory)) return false;
        *factor = arrange_within(g, graph_mul(g, *factor, divisor), e, memory);
    }
    *integral = arrange_terms(g, *integral, e, memory);
    return *integral >= 0 && graph_status(g) == HAMEL_OK;
}
