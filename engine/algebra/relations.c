/* relations.c — shortening of polynomials in sines and cosines.
 *
 * Three rewritings are tried: squares of sines as cosines and vice versa, expansion of angle sums, and products of
 * functions of two angles as sums. The shortest result is kept; a rewriting that lengthens a polynomial is
 * discarded. */
#include "engine/algebra/ring.h"

#include <assert.h>

/* In each term, replaces x^a y^b by x^(a − k x_power) y^(b − k) · by^k, where k = min(a / x_power, b). If y is −1, y^b
 * is absent and k = a / x_power. */
static void replace_products(ring *r, fmpq_mpoly_t p, slong x, ulong x_power, slong y, const fmpq_mpoly_t by) {
    assert(x != y && x_power > 0);
    ulong exponents[RING_ATOMS], most = 0;
    fmpq_mpoly_t parts[RING_POWER + 1], factor;
    if (fmpq_mpoly_degree_si(p, x, r->context) < (slong)x_power || !ring_take(r, ring_length(r, p))) return;
    fmpq_mpoly_init(factor, r->context);
    for (int k = 0; k <= RING_POWER; k++) fmpq_mpoly_init(parts[k], r->context);
    for (slong i = 0; i < ring_length(r, p); i++) {
        fmpq_mpoly_get_term_exp_ui(exponents, p, i, r->context);
        ulong k = exponents[x] / x_power;
        if (y >= 0 && exponents[y] < k) k = exponents[y];
        if (k > RING_POWER) k = RING_POWER;
        exponents[x] -= k * x_power;
        if (y >= 0) exponents[y] -= k;
        if (k > most) most = k;
        ring_push_term(r, parts[k], p, i, exponents);
    }
    for (ulong k = 0; k <= most; k++) {
        if (k > 0) fmpq_mpoly_sort_terms(parts[k], r->context); /* part 0 is already sorted */
        fmpq_mpoly_combine_like_terms(parts[k], r->context);
    }
    for (ulong k = most; k > 0 && !r->failed; k--) { /* Horner */
        if (ring_too_long(r, ring_length(r, parts[k]), ring_length(r, by))) break;
        fmpq_mpoly_mul(factor, parts[k], by, r->context);
        fmpq_mpoly_add(parts[k - 1], parts[k - 1], factor, r->context);
    }
    fmpq_mpoly_swap(p, parts[0], r->context);
    for (int k = 0; k <= RING_POWER; k++) fmpq_mpoly_clear(parts[k], r->context);
    fmpq_mpoly_clear(factor, r->context);
}

/* Sets `by` to sign1·a·b + sign2·c·d, where a variable −1 means the factor 1. */
static void products(ring *r, fmpq_mpoly_t by, int sign1, slong a, slong b, int sign2, slong c, slong d) {
    slong variables[4] = {a, b, c, d};
    fmpq_mpoly_t term[2], x;
    fmpq_mpoly_init(x, r->context);
    for (int i = 0; i < 2; i++) {
        fmpq_mpoly_init(term[i], r->context);
        fmpq_mpoly_set_si(term[i], i == 0 ? sign1 : sign2, r->context);
        for (int k = 2 * i; k < 2 * i + 2; k++) {
            if (variables[k] < 0) continue;
            fmpq_mpoly_gen(x, variables[k], r->context);
            fmpq_mpoly_mul(term[i], term[i], x, r->context);
        }
    }
    fmpq_mpoly_add(by, term[0], term[1], r->context);
    fmpq_mpoly_clear(x, r->context);
    for (int i = 0; i < 2; i++) fmpq_mpoly_clear(term[i], r->context);
}

/* Returns true if x·y divides a term of p. */
static bool occurs(const ring *r, const fmpq_mpoly_t p, slong x, slong y) {
    ulong exponents[RING_ATOMS];
    if (fmpq_mpoly_degree_si(p, x, r->context) < 1 || fmpq_mpoly_degree_si(p, y, r->context) < 1) return false;
    for (slong i = 0; i < ring_length(r, p); i++) {
        fmpq_mpoly_get_term_exp_ui(exponents, p, i, r->context);
        if (exponents[x] > 0 && exponents[y] > 0) return true;
    }
    return false;
}

/* Replaces x·y by sign1·a·b + sign2·c·d in p if p then has fewer terms. Returns true if p changed. */
static bool attempt(ring *r, fmpq_mpoly_t p, slong x, slong y, int sign1, slong a, slong b, int sign2, slong c,
                    slong d) {
    fmpq_mpoly_t trial, by;
    if (r->failed || !occurs(r, p, x, y)) return false;
    fmpq_mpoly_init(trial, r->context);
    fmpq_mpoly_init(by, r->context);
    products(r, by, sign1, a, b, sign2, c, d);
    fmpq_mpoly_set(trial, p, r->context);
    replace_products(r, trial, x, 1, y, by);
    bool shorter = !r->failed && ring_length(r, trial) < ring_length(r, p);
    if (shorter) fmpq_mpoly_swap(p, trial, r->context);
    fmpq_mpoly_clear(by, r->context);
    fmpq_mpoly_clear(trial, r->context);
    return shorter;
}

void ring_replace_square(ring *r, fmpq_mpoly_t p, slong from, slong to) {
    fmpq_mpoly_t by;
    fmpq_mpoly_init(by, r->context);
    products(r, by, 1, -1, -1, -1, to, to);
    replace_products(r, p, from, 2, -1, by);
    fmpq_mpoly_clear(by, r->context);
}

/* Replaces squares of sines, so that p contains sines in the first power only. For single angles this form is
 * canonical. */
static void only_cosines(ring *r, fmpq_mpoly_t p) {
    for (int i = 0; i < r->angle_count && !r->failed; i++)
        ring_replace_square(r, p, r->angles[i].sine, r->angles[i].cosine);
}

/* Expands the sine and cosine of a + b and of a − b (A&S 4.3.16, 4.3.17). */
static void expand_sums(ring *r, fmpq_mpoly_t p) {
    fmpq_mpoly_t by;
    fmpq_mpoly_init(by, r->context);
    for (size_t k = r->pair_count; k-- > 0 && !r->failed;) {
        const ring_angle_pair *pair = &r->pairs[k];
        const ring_angle *a = &r->angles[pair->a], *b = &r->angles[pair->b];
        for (int sign = 1; sign >= -1; sign -= 2) {
            int index = sign > 0 ? pair->sum : pair->difference;
            if (index < 0 || r->angles[index].count < 2) continue;
            int turn = sign > 0 ? 1 : pair->difference_sign;
            products(r, by, turn, a->sine, b->cosine, turn * sign, a->cosine, b->sine);
            replace_products(r, p, r->angles[index].sine, 1, -1, by);
            products(r, by, 1, a->cosine, b->cosine, -sign, a->sine, b->sine);
            replace_products(r, p, r->angles[index].cosine, 1, -1, by);
        }
    }
    fmpq_mpoly_clear(by, r->context);
}

static bool shorten_pair(ring *r, fmpq_mpoly_t p, const ring_angle_pair *pair) {
    slong sa = r->angles[pair->a].sine, ca = r->angles[pair->a].cosine;
    slong sb = r->angles[pair->b].sine, cb = r->angles[pair->b].cosine;
    bool shorter = false;
    if (pair->a == pair->b) return false;
    if (pair->difference >= 0) {
        const ring_angle *d = &r->angles[pair->difference];
        int turn = pair->difference_sign;
        shorter |= attempt(r, p, sa, sb, 1, d->cosine, -1, -1, ca, cb);
        shorter |= attempt(r, p, sa, cb, turn, d->sine, -1, 1, ca, sb);
        shorter |= attempt(r, p, ca, sb, -turn, d->sine, -1, 1, sa, cb);
    }
    if (pair->sum >= 0) {
        const ring_angle *s = &r->angles[pair->sum];
        shorter |= attempt(r, p, sa, sb, 1, ca, cb, -1, s->cosine, -1);
        shorter |= attempt(r, p, sa, cb, 1, s->sine, -1, -1, ca, sb);
    }
    return shorter;
}

/* Repeats all steps until no step shortens p. The loop ends, because each shortening reduces the number of terms or of
 * factors. */
static void shorten_by_steps(ring *r, fmpq_mpoly_t p) {
    size_t angles = (size_t)r->angle_count, steps = angles + r->pair_count;
    for (size_t step = 0, vain = 0; vain < steps && !r->failed; step = (step + 1) % steps) {
        bool shorter = step < angles ? ring_collect_squares(r, p, r->angles[step].sine, r->angles[step].cosine)
                                     : shorten_pair(r, p, &r->pairs[step - angles]);
        vain = shorter ? 0 : vain + 1;
    }
}

void ring_square_roots(ring *r, fmpq_mpoly_t p) {
    for (slong i = 0; i < r->atom_count && !r->failed; i++) {
        const graph_cell *cell = graph_at(r->graph, r->atoms[i]);
        const quotient *x = cell->op == GRAPH_SQRT ? ring_value(r, cell->as.operand[0]) : NULL;
        if (x && fmpq_mpoly_is_one(&x->denominator, r->context)) replace_products(r, p, i, 2, -1, &x->numerator);
    }
}

/* Forms of p. GIVEN: p unchanged. COSINES: without squares of sines. EXPANDED: with expanded angle sums and without
 * squares of sines. REST: the remainder modulo the conditions. */
enum { GIVEN, COSINES, EXPANDED, REST, FORMS };

/* Returns true if form k equals an earlier form. */
static bool is_repeated(const ring *r, const fmpq_mpoly_struct *forms, int k) {
    for (int i = 0; i < k; i++)
        if (fmpq_mpoly_equal(&forms[i], &forms[k], r->context)) return true;
    return false;
}

void ring_reduce(ring *r, fmpq_mpoly_t p) {
    fmpq_mpoly_struct forms[FORMS];
    bool repeated[FORMS];
    ring_square_roots(r, p);
    if ((r->angle_count == 0 && r->basis_count == 0) || r->failed) return;
    for (int k = 0; k < FORMS; k++) {
        fmpq_mpoly_init(&forms[k], r->context);
        fmpq_mpoly_set(&forms[k], p, r->context);
    }
    only_cosines(r, &forms[COSINES]);
    expand_sums(r, &forms[EXPANDED]);
    only_cosines(r, &forms[EXPANDED]);
    (void)ring_remainder(r, &forms[REST]);
    for (int k = 0; k < FORMS; k++) repeated[k] = is_repeated(r, forms, k);
    for (int k = 0; k < FORMS && !r->failed; k++) {
        if (repeated[k]) continue;
        shorten_by_steps(r, &forms[k]);
        if (!r->failed && (k == GIVEN || ring_is_shorter(r, &forms[k], p))) fmpq_mpoly_swap(p, &forms[k], r->context);
    }
    for (int k = 0; k < FORMS; k++) fmpq_mpoly_clear(&forms[k], r->context);
}
