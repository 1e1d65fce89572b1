/* arrange.c — converts polynomials to expressions with collected and factored terms in the order in which they are
 * printed. */
#include "engine/algebra/arrange.h"

#include "engine/algebra/ring.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* FACTOR_TERMS: polynomials with more terms are not factored. SMALL_DENOMINATOR: coefficients with larger denominators
 * are written as decimals. Both limits keep equations readable. Longer sums seldom have factors. A fraction such as
 * 1/12, in the inertia of a rod, is easier to read than a decimal. */
enum { FACTOR_TERMS = 200, SMALL_DENOMINATOR = 12 };

/* A sum or a product under construction. */
typedef struct writer {
    ring *r;
    graph_node sum;
} writer;

/* Multiplies x by the factors of y one by one, since a*(b*c) would be printed with parentheses. GRAPH_NONE means 1. */
static graph_node product_in_row(graph *g, graph_node x, graph_node y) {
    graph_node factors[RING_ATOMS];
    int count = 0;
    if (x < 0 || y < 0) return x < 0 ? y : x;
    while (graph_at(g, y)->op == GRAPH_MUL && count < RING_ATOMS - 1) {
        factors[count++] = graph_at(g, y)->as.operand[1];
        y = graph_at(g, y)->as.operand[0];
    }
    x = graph_literal(g, GRAPH_MUL, x, y);
    while (count > 0) x = graph_literal(g, GRAPH_MUL, x, factors[--count]);
    return x;
}

static double to_double(const fmpq_t c) {
    char *text = fmpz_get_str(NULL, 10, fmpq_numref(c)), *below = fmpz_get_str(NULL, 10, fmpq_denref(c));
    double value = strtod(text, NULL) / strtod(below, NULL);
    flint_free(text);
    flint_free(below);
    return value;
}

/* Makes a number node. If the value is 0 or not finite, the exact coefficient is too small or too large for a double,
 * and the ring sets `failed`. */
static graph_node number(ring *r, double value) {
    bool exact = isfinite(value) && value != 0;
    r->failed |= !exact;
    return graph_number(r->graph, exact ? value : 1);
}

/* Returns |c| · body, written as `p*body/q` if q is small, otherwise with a decimal. body = GRAPH_NONE means 1. */
static graph_node scaled(ring *r, const fmpq_t c, graph_node body) {
    graph *g = r->graph;
    fmpq_t size;
    fmpq_init(size);
    fmpq_abs(size, c);
    bool fraction = fmpz_cmp_ui(fmpq_denref(size), SMALL_DENOMINATOR) <= 0;
    double above = fraction ? fmpz_get_d(fmpq_numref(size)) : to_double(size);
    graph_node node = above == 1 && body >= 0 ? body : product_in_row(g, number(r, above), body);
    if (fraction && !fmpz_is_one(fmpq_denref(size)))
        node = graph_literal(g, GRAPH_DIV, node, graph_number(g, fmpz_get_d(fmpq_denref(size))));
    fmpq_clear(size);
    return node;
}

/* Returns Π atom^exponent over the variables from ≤ k < to, or GRAPH_NONE if all exponents are 0. Parameters are the
 * first factors; velocities and accelerations are the last factors. */
static graph_node monomial(ring *r, const ulong *exponents, slong from, slong to) {
    assert(from >= 0 && to <= r->atom_count);
    graph *g = r->graph;
    graph_node product = GRAPH_NONE;
    for (slong i = to; i-- > from;) { /* parameters are the last variables */
        slong first = i;
        while (first > from && graph_at(g, r->atoms[first - 1])->op == graph_at(g, r->atoms[i])->op &&
               graph_at(g, r->atoms[first - 1])->kind == graph_at(g, r->atoms[i])->kind)
            first--;
        for (slong k = first; k <= i; k++) { /* variables of one kind in the order of declaration */
            if (exponents[k] == 0) continue;
            graph_node x = r->atoms[k];
            if (exponents[k] > 1) x = graph_literal(g, GRAPH_POW, x, graph_number(g, (double)exponents[k]));
            product = product_in_row(g, product, x);
        }
        i = first;
    }
    return product;
}

/* Replaces the writer's sum by sum ± node. */
static void append_term(writer *w, graph_node node, bool negative) {
    graph *g = w->r->graph;
    if (w->sum < 0)
        w->sum = negative ? graph_literal(g, GRAPH_NEG, node, GRAPH_NONE) : node;
    else
        w->sum = graph_literal(g, negative ? GRAPH_SUB : GRAPH_ADD, w->sum, node);
}

static bool is_monomial(const ring *r, const fmpq_mpoly_t p) {
    return ring_length(r, p) == 1;
}

/* Returns true if p contains no variable before `first`. */
static bool is_free_of(const ring *r, const fmpq_mpoly_t p, slong first) {
    for (slong k = 0; k < first; k++)
        if (fmpq_mpoly_degree_si(p, k, r->context) > 0) return false;
    return true;
}

/* Reads consecutive terms of p, beginning at index `from`, that have the same exponents of all variables before
 * `first`. Writes these exponents to exponents[0] to exponents[first − 1]. Sets `sum` to the sum of the terms, divided
 * by these powers of the variables. Returns the index after the last of these terms. */
static slong take_run(ring *r, const fmpq_mpoly_t p, slong from, slong first, fmpq_mpoly_t sum, ulong *exponents) {
    assert(first <= r->atom_count);
    ulong at[RING_ATOMS];
    slong length = ring_length(r, p), i = from;
    size_t shared = (size_t)first * sizeof *at;
    fmpq_mpoly_zero(sum, r->context);
    fmpq_mpoly_get_term_exp_ui(exponents, p, from, r->context);
    for (; i < length; i++) {
        fmpq_mpoly_get_term_exp_ui(at, p, i, r->context);
        if (memcmp(exponents, at, shared) != 0) break;
        memset(at, 0, shared);
        ring_push_term(r, sum, p, i, at);
    }
    return i;
}

static bool is_written_sum(const graph *g, graph_node node) {
    return node >= 0 && (graph_at(g, node)->op == GRAPH_ADD || graph_at(g, node)->op == GRAPH_SUB);
}

static bool is_unit(const fmpq_t c) {
    return fmpz_is_one(fmpq_denref(c)) && fmpz_is_pm1(fmpq_numref(c));
}

static graph_node factored(ring *r, const fmpq_mpoly_t p, fmpq_t constant, int outside);

/* Adds the terms of p. Terms with the same powers of all variables before `first` are collected. If the first
 * term is negative, all positive terms are added before the negative terms. */
static void add_terms(writer *w, const fmpq_mpoly_t p, slong first) {
    ring *r = w->r;
    ulong exponents[RING_ATOMS];
    fmpq_mpoly_t run;
    fmpq_t c;
    bool turned = false;
    fmpq_mpoly_init(run, r->context);
    fmpq_init(c);
    for (int pass = 0; pass < (turned ? 2 : 1); pass++)
        for (slong i = 0; i < ring_length(r, p);) {
            bool begins = pass == 0 && i == 0;
            i = take_run(r, p, i, first, run, exponents);
            graph_node body = factored(r, run, c, 1);
            bool negative = fmpq_sgn(c) < 0;
            if (begins) turned = negative;
            if (turned && negative != (pass == 1)) continue;
            graph_node varying = monomial(r, exponents, 0, first);
            if (varying < 0 && is_written_sum(r->graph, body) && is_unit(c))
                add_terms(w, run, r->atom_count); /* adds each term separately */
            else
                append_term(w, scaled(r, c, product_in_row(r->graph, body, varying)), negative);
        }
    fmpq_clear(c);
    fmpq_mpoly_clear(run, r->context);
}

/* Adds the terms of p, collected by the powers of all variables except time and parameters. If p contains only time and
 * parameters, adds each term separately. */
static void add_collected(writer *w, const fmpq_mpoly_t p) {
    add_terms(w, p, is_free_of(w->r, p, w->r->varying) ? w->r->atom_count : w->r->varying);
}

static graph_node sum_of_terms(ring *r, const fmpq_mpoly_t p) {
    writer w = {r, GRAPH_NONE};
    add_collected(&w, p);
    return w.sum;
}

static bool is_negative_term(const ring *r, const fmpq_mpoly_t p, slong i) {
    fmpq_t c;
    fmpq_init(c);
    fmpq_mpoly_get_term_coeff_fmpq(c, p, i, r->context);
    bool negative = fmpq_sgn(c) < 0;
    fmpq_clear(c);
    return negative;
}

static slong negative_terms(const ring *r, const fmpq_mpoly_t p) {
    slong negative = 0;
    for (slong i = 0; i < ring_length(r, p); i++) negative += is_negative_term(r, p, i);
    return negative;
}

/* Divides p by a number, so that the coefficients are integers without a common factor and the first coefficient is
 * positive. Multiplies `constant` by this number to the power `exponent`. */
static void make_primitive(ring *r, fmpq_mpoly_t p, const fmpz_t exponent, fmpq_t constant) {
    fmpq_t content;
    fmpq_init(content);
    fmpq_mpoly_content(content, p, r->context);
    if (is_negative_term(r, p, 0)) fmpq_neg(content, content);
    if (!fmpq_is_zero(content)) fmpq_mpoly_scalar_div_fmpq(p, p, content, r->context);
    (void)fmpq_pow_fmpz(content, content, exponent);
    fmpq_mul(constant, constant, content);
    fmpq_clear(content);
}

static void turn_factor(ring *r, fmpq_mpoly_factor_t factors, slong i, fmpq_t constant) {
    fmpq_mpoly_neg(factors->poly + i, factors->poly + i, r->context);
    if (fmpz_is_odd(factors->exp + i)) fmpq_neg(constant, constant);
}

/* Changes the sign of one sum if at least half of its terms are negative: −(C − A) becomes A − C. */
static void turn_one(ring *r, fmpq_mpoly_factor_t factors, fmpq_t constant) {
    for (slong i = 0; i < factors->num; i++) {
        slong negative = negative_terms(r, factors->poly + i);
        bool wanted = negative > 0 && 2 * negative >= ring_length(r, factors->poly + i);
        if (!wanted || !fmpz_is_odd(factors->exp + i)) continue;
        turn_factor(r, factors, i, constant);
        return;
    }
}

/* Gives each sum in a divisor the sign that makes most of its terms positive, so that equal divisors look equal. */
static void turn_divisor(ring *r, fmpq_mpoly_factor_t factors, fmpq_t constant) {
    for (slong i = 0; i < factors->num; i++)
        if (2 * negative_terms(r, factors->poly + i) > ring_length(r, factors->poly + i))
            turn_factor(r, factors, i, constant);
}

/* Returns true if p is a sum of parameters such as m1 + m2, which is usually a mass. */
static bool is_plain(const ring *r, const fmpq_mpoly_t p) {
    ulong exponents[RING_ATOMS];
    for (slong i = 0; i < ring_length(r, p); i++) {
        fmpq_mpoly_get_term_exp_ui(exponents, p, i, r->context);
        ulong degree = 0;
        for (slong k = 0; k < r->atom_count; k++) degree += exponents[k];
        if (degree != 1) return false;
    }
    return is_free_of(r, p, r->varying);
}

/* Orders the factors: plain sums, then monomials, then other sums, as in (m1 + m2)*l^2 and m*(l^2 + b^2). */
static graph_node product_of(ring *r, const fmpq_mpoly_factor_t factors) {
    graph *g = r->graph;
    graph_node front = GRAPH_NONE, behind = GRAPH_NONE;
    ulong gathered[RING_ATOMS] = {0}, exponents[RING_ATOMS];
    for (slong i = 0; i < factors->num; i++) {
        const fmpq_mpoly_struct *base = factors->poly + i;
        ulong power = fmpz_get_ui(factors->exp + i);
        if (is_monomial(r, base)) {
            fmpq_mpoly_get_term_exp_ui(exponents, base, 0, r->context);
            for (slong k = 0; k < r->atom_count; k++) gathered[k] += power * exponents[k];
            continue;
        }
        graph_node sum = sum_of_terms(r, base);
        if (power > 1) sum = graph_literal(g, GRAPH_POW, sum, graph_number(g, (double)power));
        graph_node *side = is_plain(r, base) ? &front : &behind;
        *side = product_in_row(g, *side, sum);
    }
    return product_in_row(g, product_in_row(g, front, monomial(r, gathered, 0, r->atom_count)), behind);
}

/* Returns the product of the factors of p without the constant, or GRAPH_NONE if that product is 1. `outside` is the
 * sign of the rest of the term, or 0 if p is a divisor. If constant · outside is negative, the sign of one sum is
 * changed. */
static graph_node factored(ring *r, const fmpq_mpoly_t p, fmpq_t constant, int outside) {
    fmpq_mpoly_factor_t factors;
    fmpq_mpoly_factor_init(factors, r->context);
    graph_node product = GRAPH_NONE;
    fmpq_one(constant);
    if (ring_length(r, p) > FACTOR_TERMS) {
        product = sum_of_terms(r, p);
    } else if (ring_factor(r, factors, p)) {
        fmpq_set(constant, factors->constant);
        for (slong i = 0; i < factors->num; i++) make_primitive(r, factors->poly + i, factors->exp + i, constant);
        if (outside == 0) turn_divisor(r, factors, constant);
        if (fmpq_sgn(constant) * outside < 0) turn_one(r, factors, constant);
        product = product_of(r, factors);
    }
    fmpq_mpoly_factor_clear(factors, r->context);
    return product;
}

/* Moves a small denominator of c into the divisor, so that x/(2*m) is written instead of x/2/m. Returns the new
 * divisor. */
static graph_node take_divisor(graph *g, fmpq_t c, graph_node under) {
    if (fmpz_is_one(fmpq_denref(c)) || fmpz_cmp_ui(fmpq_denref(c), SMALL_DENOMINATOR) > 0) return under;
    under = product_in_row(g, graph_number(g, fmpz_get_d(fmpq_denref(c))), under);
    fmpz_one(fmpq_denref(c));
    return under;
}

/* Returns true if p is one sum of terms that vary during a motion, possibly multiplied by parameters. The terms of such
 * a sum are added one by one. */
static bool is_spread(ring *r, const fmpq_mpoly_t p) {
    fmpq_mpoly_factor_t factors;
    slong sums = 0, others = 0;
    if (ring_length(r, p) > FACTOR_TERMS) return true;
    fmpq_mpoly_factor_init(factors, r->context);
    if (ring_factor(r, factors, p))
        for (slong i = 0; i < factors->num; i++) {
            const fmpq_mpoly_struct *base = factors->poly + i;
            bool sum = !is_monomial(r, base), varies = !is_free_of(r, base, r->varying);
            if (sum && varies && fmpz_is_one(factors->exp + i))
                sums++;
            else if (sum || varies)
                others++;
        }
    bool alone = factors->num == 1 && fmpz_is_one(factors->exp) && !is_monomial(r, p);
    fmpq_mpoly_factor_clear(factors, r->context);
    return alone || (sums == 1 && others == 0);
}

/* Adds (coefficient / below) · moving to the sum. The polynomials `coefficient` and `below` have no common factors. */
static void add_quotient(writer *w, const fmpq_mpoly_t coefficient, const fmpq_mpoly_t below, graph_node moving) {
    graph *g = w->r->graph;
    if (moving < 0 && fmpq_mpoly_is_one(below, w->r->context) && is_spread(w->r, coefficient)) {
        add_collected(w, coefficient);
        return;
    }
    fmpq_t constant, divisor;
    fmpq_init(constant);
    fmpq_init(divisor);
    graph_node under = factored(w->r, below, divisor, 0);
    graph_node body = factored(w->r, coefficient, constant, fmpq_sgn(divisor));
    fmpq_div(constant, constant, divisor);
    if (under >= 0) under = take_divisor(g, constant, under);
    body = scaled(w->r, constant, product_in_row(g, body, moving));
    append_term(w, under < 0 ? body : graph_literal(g, GRAPH_DIV, body, under), fmpq_sgn(constant) < 0);
    fmpq_clear(divisor);
    fmpq_clear(constant);
}

static void add_group(writer *w, fmpq_mpoly_t coefficient, const fmpq_mpoly_t denominator, graph_node moving) {
    ring *r = w->r;
    fmpq_mpoly_t below;
    fmpq_mpoly_init(below, r->context);
    fmpq_mpoly_set(below, denominator, r->context);
    ring_cancel(r, coefficient, below);
    if (!r->failed && !fmpq_mpoly_is_zero(coefficient, r->context)) add_quotient(w, coefficient, below, moving);
    fmpq_mpoly_clear(below, r->context);
}

/* Adds one quotient for each product of accelerations, multipliers and velocities. Terms with the same product are
 * consecutive, because these variables are the most significant. */
static void add_groups(writer *w, const fmpq_mpoly_t numerator, const fmpq_mpoly_t denominator) {
    ring *r = w->r;
    ulong exponents[RING_ATOMS];
    slong length = ring_length(r, numerator);
    fmpq_mpoly_t coefficient;
    if (!ring_take(r, length)) return;
    fmpq_mpoly_init(coefficient, r->context);
    for (slong i = 0; i < length && !r->failed;) {
        i = take_run(r, numerator, i, r->moving, coefficient, exponents);
        add_group(w, coefficient, denominator, monomial(r, exponents, 0, r->moving));
    }
    fmpq_mpoly_clear(coefficient, r->context);
}

graph_node arrange_where(graph *g, graph_node expression, const graph_node *zero, size_t count, work_budget *e,
                         arena *memory) {
    assert(count == 0 || zero != NULL);
    ring r = {0};
    writer w = {&r, GRAPH_NONE};
    const quotient *value = NULL;
    graph_node *all = arena_alloc(memory, count + 1, sizeof *all);
    if (!all || !work_budget_take(e, 1)) return expression;
    all[0] = expression;
    if (count > 0) memcpy(all + 1, zero, count * sizeof *zero);
    if (ring_open(&r, g, all, count + 1, e, memory)) {
        ring_conditions(&r, zero, count);
        value = ring_value(&r, expression);
    }
    if (value) add_groups(&w, &value->numerator, &value->denominator);
    bool arranged = value && !r.failed;
    ring_close(&r);
    if (graph_status(g) != HAMEL_OK) return GRAPH_NONE;
    if (!arranged) return expression;
    return w.sum < 0 ? graph_number(g, 0) : w.sum;
}

graph_node arrange_within(graph *g, graph_node expression, work_budget *e, arena *memory) {
    return arrange_where(g, expression, NULL, 0, e, memory);
}

graph_node arrange(graph *g, graph_node expression, arena *memory) {
    return arrange_within(g, expression, NULL, memory);
}
