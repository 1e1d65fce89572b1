/* squares.c — shortening of polynomials by sin² + cos² = 1 (A&S 4.3.10).
 *
 * Terms that differ only in even powers of the sine and cosine of one angle form a polynomial P(cos²). P can be written
 * in terms of cos² or sin², with or without powers of the other square as factors. Each P is written in the form with
 * the lowest cost (`cost`). */
#include "engine/algebra/ring.h"

#include <assert.h>
#include <flint/fmpq_poly.h>
#include <math.h>
#include <string.h>

/* SQUARES_MOST: a polynomial with a higher power of cos² stays unchanged. SORTED_TERM: cost of sorting a term, in units
 * of the cost of reading and writing a term, measured on api/examples. */
enum { SQUARES_MOST = RING_POWER, SORTED_TERM = 4 };

/* Length of an expression as a reader perceives it. Two lengths are compared field by field, in this order. */
typedef struct cost {
    /* factors: sum of the weights of all powers, plus 1 for each coefficient other than ±1 */
    slong terms, factors;
    double size; /* sum of the magnitudes of the coefficients, divided by their common factor */
} cost;

/* Returns the weight of a power in the number of factors. A symbol, sine or cosine has the weight 1, another atom the
 * weight 3. An exponent above 1 adds 1 to the weight. */
static slong weight(const ring *r, slong variable, ulong power) {
    uint8_t op = graph_at(r->graph, r->atoms[variable])->op;
    slong once = op == GRAPH_IS_SYMBOL || op == GRAPH_SIN || op == GRAPH_COS ? 1 : 3;
    return power == 0 ? 0 : power == 1 ? once : once + 1;
}

static cost cost_of_square(const ring *r, const fmpq_mpoly_t p) {
    ulong exponents[RING_ATOMS];
    cost c = {ring_length(r, p), 0, 0};
    fmpz_t size;
    fmpz_init(size);
    for (slong i = 0; i < c.terms; i++) { /* FLINT stores a rational polynomial as content · integer polynomial */
        fmpq_mpoly_get_term_exp_ui(exponents, p, i, r->context);
        fmpz_mpoly_get_term_coeff_fmpz(size, p->zpoly, i, r->context->zctx);
        slong factors = fmpz_is_pm1(size) ? 0 : 1;
        for (slong k = 0; k < r->atom_count; k++) factors += weight(r, k, exponents[k]);
        c.factors += factors > 0 ? factors : 1; /* a term without variables counts as one factor */
        c.size += fabs(fmpz_get_d(size));
    }
    fmpz_clear(size);
    return c;
}

static bool shorter(cost x, cost y) {
    return x.terms != y.terms ? x.terms < y.terms : x.factors < y.factors;
}

bool ring_is_shorter(const ring *r, const fmpq_mpoly_t p, const fmpq_mpoly_t q) {
    return shorter(cost_of_square(r, p), cost_of_square(r, q));
}

/* The terms being rewritten: rest · sin^s cos^c · P(cos²). */
typedef struct group {
    ring *r;
    slong sine, cosine;
    ulong exponents[RING_ATOMS]; /* exponents of the rest and of sin^s cos^c; s and c are 0 or 1 */
    /* odd_cosines: even and odd powers of the cosine occur, so 1 + cos may be a factor; odd_sines: the same for the
     * sine */
    bool odd_cosines, odd_sines;
    fmpq_mpoly_t best;
    cost least;
    bool any;
} group;

/* Keeps rest · taken^(2 power) · P(written²) as the best form if this form is the cheapest so far. */
static void consider_form(group *g, const fmpq_poly_t P, slong written, slong taken, ulong power) {
    assert(written != taken);
    ring *r = g->r;
    ulong exponents[RING_ATOMS];
    fmpq_mpoly_t form;
    fmpq_t coefficient;
    fmpq_mpoly_init(form, r->context);
    fmpq_init(coefficient);
    memcpy(exponents, g->exponents, (size_t)r->atom_count * sizeof *exponents);
    exponents[taken] += 2 * power;
    for (slong i = fmpq_poly_degree(P); i >= 0; i--) {
        fmpq_poly_get_coeff_fmpq(coefficient, P, i);
        if (fmpq_is_zero(coefficient)) continue;
        exponents[written] = g->exponents[written] + 2 * (ulong)i;
        fmpq_mpoly_push_term_fmpq_ui(form, coefficient, exponents, r->context);
    }
    fmpq_mpoly_sort_terms(form, r->context);
    cost c = cost_of_square(r, form);
    bool tie = g->any && c.terms == g->least.terms && c.factors == g->least.factors;
    bool better = !g->any || shorter(c, g->least);
    if (tie && !g->odd_cosines && !g->odd_sines) better = c.size < g->least.size;
    if (better) {
        fmpq_mpoly_swap(g->best, form, r->context);
        g->least = c;
        g->any = true;
    }
    fmpq_clear(coefficient);
    fmpq_mpoly_clear(form, r->context);
}

/* Sets p to 1 − x, which converts the square of a cosine to the square of the sine and vice versa. */
static void set_to_other_square(fmpq_poly_t p) {
    fmpq_poly_set_coeff_si(p, 0, 1);
    fmpq_poly_set_coeff_si(p, 1, -1);
}

/* Tries to write P as a polynomial in x, the square of one function. Also tries powers of 1 − x, the square of the
 * other function, as factors. */
static void consider_powers(group *g, const fmpq_poly_t P, slong written, slong taken) {
    fmpq_poly_t left, rest, other, divided;
    fmpq_poly_init(left);
    fmpq_poly_init(rest);
    fmpq_poly_init(other);
    fmpq_poly_init(divided);
    set_to_other_square(other);
    fmpq_poly_set(divided, P);
    for (ulong power = 0; fmpq_poly_is_zero(rest); power++) { /* the loop ends because P is not 0 */
        consider_form(g, divided, written, taken, power);
        fmpq_poly_divrem(left, rest, divided, other);
        fmpq_poly_swap(divided, left);
    }
    fmpq_poly_clear(left);
    fmpq_poly_clear(rest);
    fmpq_poly_clear(other);
    fmpq_poly_clear(divided);
}

static void choose_form(group *g, const fmpq_poly_t in_cosines) {
    fmpq_poly_t in_sines, other;
    fmpq_poly_init(in_sines);
    fmpq_poly_init(other);
    set_to_other_square(other);
    fmpq_poly_compose(in_sines, in_cosines, other);
    bool sines_first = g->odd_sines && !g->odd_cosines;
    g->any = false;
    if (sines_first) consider_powers(g, in_sines, g->sine, g->cosine);
    consider_powers(g, in_cosines, g->cosine, g->sine);
    if (!sines_first) consider_powers(g, in_sines, g->sine, g->cosine);
    fmpq_poly_clear(in_sines);
    fmpq_poly_clear(other);
}

static void swap_exponents(ulong *exponents, slong x, slong y) {
    ulong kept = exponents[x];
    exponents[x] = exponents[y];
    exponents[y] = kept;
}

/* Sets `out` to p with the variables x and y exchanged. */
static void exchange(ring *r, fmpq_mpoly_t out, const fmpq_mpoly_t p, slong x, slong y) {
    ulong exponents[RING_ATOMS];
    fmpq_mpoly_zero(out, r->context);
    for (slong i = 0; i < ring_length(r, p); i++) {
        fmpq_mpoly_get_term_exp_ui(exponents, p, i, r->context);
        swap_exponents(exponents, x, y);
        ring_push_term(r, out, p, i, exponents);
    }
    fmpq_mpoly_sort_terms(out, r->context);
}

/* Sets g->odd_cosines and g->odd_sines. Returns false if a power of the cosine exceeds 2 · SQUARES_MOST. */
static bool survey_parities(group *g, const fmpq_mpoly_t p) {
    ulong exponents[RING_ATOMS];
    bool cosines[2] = {false, false}, sines[2] = {false, false};
    for (slong i = 0; i < ring_length(g->r, p); i++) {
        fmpq_mpoly_get_term_exp_ui(exponents, p, i, g->r->context);
        if (exponents[g->cosine] > 2UL * SQUARES_MOST) return false;
        cosines[exponents[g->cosine] % 2] = sines[exponents[g->sine] % 2] = true;
    }
    g->odd_cosines = cosines[0] && cosines[1];
    g->odd_sines = sines[0] && sines[1];
    return true;
}

/* Appends the cheapest form of one P to `out`; the caller sorts the terms later. If P has a single term, copies this
 * term. */
static void add_form(group *g, const fmpq_poly_t in_cosines, fmpq_mpoly_t out) {
    ring *r = g->r;
    ulong exponents[RING_ATOMS];
    fmpq_t coefficient;
    slong degree = fmpq_poly_degree(in_cosines), low = 0;
    fmpq_init(coefficient);
    while (low < degree && fmpz_is_zero(fmpq_poly_numref(in_cosines) + low)) low++;
    if (low == degree) {
        memcpy(exponents, g->exponents, (size_t)r->atom_count * sizeof *exponents);
        exponents[g->cosine] += 2 * (ulong)degree;
        fmpq_poly_get_coeff_fmpq(coefficient, in_cosines, degree);
        fmpq_mpoly_push_term_fmpq_ui(out, coefficient, exponents, r->context);
    } else {
        choose_form(g, in_cosines);
        for (slong i = 0; i < ring_length(r, g->best); i++) {
            fmpq_mpoly_get_term_exp_ui(exponents, g->best, i, r->context);
            ring_push_term(r, out, g->best, i, exponents);
        }
    }
    fmpq_clear(coefficient);
}

/* Reads consecutive terms of `sorted`, beginning at `from`, that differ only in powers of the last variable, which
 * represents the cosine. Adds these terms to `out` in their cheapest forms. Returns the index after the last of these
 * terms. */
static slong add_run(group *g, const fmpq_mpoly_t sorted, slong from, fmpq_mpoly_t out) {
    ring *r = g->r;
    slong last = r->atom_count - 1, i = from, length = ring_length(r, sorted);
    ulong exponents[RING_ATOMS], first[RING_ATOMS];
    fmpq_poly_t parts[2];
    fmpq_t coefficient;
    fmpq_init(coefficient);
    for (int odd = 0; odd < 2; odd++) fmpq_poly_init(parts[odd]);
    fmpq_mpoly_get_term_exp_ui(first, sorted, from, r->context);
    for (; i < length; i++) {
        fmpq_mpoly_get_term_exp_ui(exponents, sorted, i, r->context);
        if (memcmp(exponents, first, (size_t)last * sizeof *first) != 0) break;
        fmpq_mpoly_get_term_coeff_fmpq(coefficient, sorted, i, r->context);
        fmpq_poly_set_coeff_fmpq(parts[exponents[last] % 2], (slong)(exponents[last] / 2), coefficient);
    }
    for (int odd = 0; odd < 2; odd++) {
        memcpy(g->exponents, first, (size_t)r->atom_count * sizeof *first);
        g->exponents[last] = (ulong)odd;
        swap_exponents(g->exponents, g->cosine, last);
        if (!fmpq_poly_is_zero(parts[odd])) add_form(g, parts[odd], out);
        fmpq_poly_clear(parts[odd]);
    }
    fmpq_clear(coefficient);
    return i;
}

bool ring_collect_squares(ring *r, fmpq_mpoly_t p, slong sine, slong cosine) {
    assert(sine != cosine);
    group g = {.r = r, .sine = sine, .cosine = cosine};
    fmpq_mpoly_t sorted, result;
    if (fmpq_mpoly_degree_si(p, sine, r->context) < 2 && fmpq_mpoly_degree_si(p, cosine, r->context) < 2) return false;
    if (!ring_take(r, SORTED_TERM * ring_length(r, p))) return false;
    fmpq_mpoly_init(sorted, r->context);
    fmpq_mpoly_init(result, r->context);
    fmpq_mpoly_init(g.best, r->context);
    fmpq_mpoly_set(result, p, r->context);
    ring_replace_square(r, result, sine, cosine);
    bool collected = !r->failed && survey_parities(&g, result);
    if (collected) {
        exchange(r, sorted, result, cosine, r->atom_count - 1);
        fmpq_mpoly_zero(result, r->context);
        for (slong i = 0; i < ring_length(r, sorted);) i = add_run(&g, sorted, i, result);
        fmpq_mpoly_sort_terms(result, r->context);
        fmpq_mpoly_combine_like_terms(result, r->context);
        collected = ring_is_shorter(r, result, p);
    }
    if (collected) fmpq_mpoly_swap(p, result, r->context);
    fmpq_mpoly_clear(g.best, r->context);
    fmpq_mpoly_clear(result, r->context);
    fmpq_mpoly_clear(sorted, r->context);
    return collected;
}
