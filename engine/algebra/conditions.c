/* conditions.c — remainders of polynomials modulo expressions that are 0.
 *
 * Remainders are computed with a Gröbner basis (Buchberger's algorithm; Cox, Little & O'Shea, Ideals, Varieties, and
 * Algorithms, 2.7). The basis is computed from the conditions and from the relations sin² + cos² = 1 and (√x)² = x of
 * their angles and roots. The basis is truncated at RING_BASIS elements, and elements with more than BASIS_TERMS terms
 * are omitted. A truncated basis is still correct, because each element is 0 where the conditions hold. */
#include "engine/algebra/ring.h"

#include <assert.h>

enum { BASIS_TERMS = 40, REDUCED_TERMS = 300 };

/* Moves p into the basis unless p is 0 or has more than BASIS_TERMS terms, or the basis is full. */
static void keep_in_basis(ring *r, fmpq_mpoly_t p) {
    assert(r->basis_count <= RING_BASIS);
    slong length = ring_length(r, p);
    if (length == 0 || length > BASIS_TERMS || r->basis_count == RING_BASIS) return;
    fmpq_mpoly_struct *at = &r->basis[r->basis_count++];
    fmpq_mpoly_init(at, r->context);
    fmpq_mpoly_swap(at, p, r->context);
}

/* Replaces p by its remainder after division by the basis. */
static void remainder_of(ring *r, fmpq_mpoly_t p) {
    fmpq_mpoly_struct quotients[RING_BASIS], *q[RING_BASIS], *by[RING_BASIS];
    if (r->basis_count == 0 || !ring_take(r, ring_length(r, p) * (slong)r->basis_count)) return;
    for (size_t i = 0; i < r->basis_count; i++) {
        q[i] = &quotients[i];
        by[i] = &r->basis[i];
        fmpq_mpoly_init(q[i], r->context);
    }
    fmpq_mpoly_divrem_ideal(q, p, p, by, (slong)r->basis_count, r->context);
    for (size_t i = 0; i < r->basis_count; i++) fmpq_mpoly_clear(q[i], r->context);
}

/* Sets `out` to p · Π x_k^(to[k] − from[k]), divided by the leading coefficient of p. */
static void scale_to(const ring *r, fmpq_mpoly_t out, const fmpq_mpoly_t p, const ulong *from, const ulong *to) {
    ulong exponents[RING_ATOMS];
    fmpq_t coefficient;
    fmpq_mpoly_t monomial;
    fmpq_init(coefficient);
    fmpq_mpoly_init(monomial, r->context);
    for (slong k = 0; k < r->atom_count; k++) exponents[k] = to[k] - from[k];
    fmpq_mpoly_get_term_coeff_fmpq(coefficient, p, 0, r->context);
    fmpq_inv(coefficient, coefficient);
    fmpq_mpoly_push_term_fmpq_ui(monomial, coefficient, exponents, r->context);
    fmpq_mpoly_mul(out, p, monomial, r->context);
    fmpq_mpoly_clear(monomial, r->context);
    fmpq_clear(coefficient);
}

/* Adds the remainder of the S-polynomial of x and y to the basis. */
static void add_s_polynomial(ring *r, const fmpq_mpoly_t x, const fmpq_mpoly_t y) {
    ulong left[RING_ATOMS], right[RING_ATOMS], both[RING_ATOMS];
    fmpq_mpoly_t s, t;
    bool coprime = true;
    fmpq_mpoly_get_term_exp_ui(left, x, 0, r->context);
    fmpq_mpoly_get_term_exp_ui(right, y, 0, r->context);
    for (slong k = 0; k < r->atom_count; k++) {
        both[k] = left[k] > right[k] ? left[k] : right[k];
        coprime &= left[k] == 0 || right[k] == 0;
    }
    if (coprime) return; /* the remainder is 0 (Buchberger's first criterion) */
    fmpq_mpoly_init(s, r->context);
    fmpq_mpoly_init(t, r->context);
    scale_to(r, s, x, left, both);
    scale_to(r, t, y, right, both);
    fmpq_mpoly_sub(s, s, t, r->context);
    remainder_of(r, s);
    keep_in_basis(r, s);
    fmpq_mpoly_clear(t, r->context);
    fmpq_mpoly_clear(s, r->context);
}

/* Returns true if one of the first `count` polynomials of the basis contains the variable. */
static bool contains(const ring *r, size_t count, slong variable) {
    for (size_t k = 0; k < count; k++)
        if (fmpq_mpoly_degree_si(&r->basis[k], variable, r->context) > 0) return true;
    return false;
}

/* Adds sin² + cos² − 1 to the basis for each angle in the conditions. */
static void add_angles(ring *r) {
    fmpq_mpoly_t p, x;
    size_t given = r->basis_count;
    fmpq_mpoly_init(p, r->context);
    fmpq_mpoly_init(x, r->context);
    for (int i = 0; i < r->angle_count; i++) {
        slong both[] = {r->angles[i].sine, r->angles[i].cosine};
        if (!contains(r, given, both[0]) && !contains(r, given, both[1])) continue;
        fmpq_mpoly_set_si(p, -1, r->context);
        for (int f = 0; f < 2; f++) {
            fmpq_mpoly_gen(x, both[f], r->context);
            fmpq_mpoly_mul(x, x, x, r->context);
            fmpq_mpoly_add(p, p, x, r->context);
        }
        keep_in_basis(r, p);
    }
    fmpq_mpoly_clear(x, r->context);
    fmpq_mpoly_clear(p, r->context);
}

/* Adds (√x)² − x to the basis for each root in the conditions. */
static void add_roots(ring *r) {
    fmpq_mpoly_t p;
    size_t given = r->basis_count;
    fmpq_mpoly_init(p, r->context);
    for (slong i = 0; i < r->atom_count && !r->failed; i++) {
        const graph_cell *cell = graph_at(r->graph, r->atoms[i]);
        bool root = cell->op == GRAPH_SQRT && contains(r, given, i);
        const quotient *x = root ? ring_value(r, cell->as.operand[0]) : NULL;
        if (!x || !fmpq_mpoly_is_one(&x->denominator, r->context)) continue;
        fmpq_mpoly_gen(p, i, r->context);
        fmpq_mpoly_mul(p, p, p, r->context);
        fmpq_mpoly_sub(p, p, &x->numerator, r->context);
        keep_in_basis(r, p);
    }
    fmpq_mpoly_clear(p, r->context);
}

void ring_conditions(ring *r, const graph_node *zero, size_t count) {
    fmpq_mpoly_t p;
    fmpq_mpoly_init(p, r->context);
    for (size_t c = 0; c < count && !r->failed; c++) {
        const quotient *value = ring_value(r, zero[c]);
        if (!value) break;
        fmpq_mpoly_set(p, &value->numerator, r->context);
        keep_in_basis(r, p);
    }
    fmpq_mpoly_clear(p, r->context);
    add_angles(r);
    add_roots(r);
    for (size_t j = 1; j < r->basis_count; j++) /* new elements are appended and paired with all earlier elements */
        for (size_t i = 0; i < j; i++) add_s_polynomial(r, &r->basis[i], &r->basis[j]);
}

bool ring_remainder(ring *r, fmpq_mpoly_t p) {
    if (r->basis_count == 0 || ring_length(r, p) > REDUCED_TERMS) return false;
    remainder_of(r, p);
    return true;
}
