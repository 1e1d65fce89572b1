/* quotients.c — cancels common factors of numerator and denominator modulo sin² + cos² = 1.
 *
 * A polynomial that is even in the sine of an angle can be written as a polynomial in the cosine, and vice versa. In
 * this form, FLINT finds common factors with other polynomials. The shortest form of a product is often a sum, so
 * factors are also shortened separately. */
#include "engine/algebra/ring.h"

#include <assert.h>

/* Upper bound on the terms of a polynomial that is factored only to compare lengths. Longer polynomials remain sums.
 * The bound is below that of arrange.c, because most of these factorizations are not used in the result. */
enum { FACTOR_TERMS = 60 };

/* Divides `above` and `below` by their greatest common divisor. Returns true if the common divisor is not a number. */
static bool take_common(ring *r, fmpq_mpoly_t above, fmpq_mpoly_t below) {
    fmpq_mpoly_t common;
    if (fmpq_mpoly_is_fmpq(below, r->context)) return false;
    fmpq_mpoly_init(common, r->context);
    bool found = ring_gcd(r, common, above, below, above, below) && !fmpq_mpoly_is_fmpq(common, r->context);
    fmpq_mpoly_clear(common, r->context);
    return found;
}

/* For each angle of `below`, keeps the function (sine or cosine) that occurs in odd powers and eliminates the other
 * function. */
static void write_alike(ring *r, fmpq_mpoly_t above, fmpq_mpoly_t below) {
    for (int i = 0; i < r->angle_count && !r->failed; i++) {
        slong sine = r->angles[i].sine, cosine = r->angles[i].cosine;
        bool in_cosines = fmpq_mpoly_degree_si(below, cosine, r->context) > 0;
        if (!in_cosines && fmpq_mpoly_degree_si(below, sine, r->context) <= 0) continue;
        ring_replace_square(r, below, sine, cosine);
        bool odd = fmpq_mpoly_degree_si(below, sine, r->context) > 0;
        if (odd) ring_replace_square(r, below, cosine, sine);
        ring_replace_square(r, above, odd ? cosine : sine, odd ? sine : cosine);
    }
}

/* Counts the terms of the sums among the factors of p. */
static slong terms_of_factors(ring *r, const fmpq_mpoly_t p) {
    fmpq_mpoly_factor_t factors;
    slong sum = ring_length(r, p);
    if (sum <= 1 || sum > FACTOR_TERMS) return sum;
    fmpq_mpoly_factor_init(factors, r->context);
    if (ring_factor(r, factors, p)) sum = 0;
    for (slong i = 0; !r->failed && i < factors->num; i++) {
        slong terms = ring_length(r, factors->poly + i);
        sum += terms > 1 ? terms : 0;
    }
    fmpq_mpoly_factor_clear(factors, r->context);
    return sum;
}

/* Sets p to the product of the reduced factors. A factor √x² becomes x, but (√x + y)² is not expanded. */
static bool expand_reduced(ring *r, fmpq_mpoly_t p, const fmpq_mpoly_factor_t factors) {
    fmpq_mpoly_t base, power;
    fmpq_mpoly_init(base, r->context);
    fmpq_mpoly_init(power, r->context);
    fmpq_mpoly_set_fmpq(p, factors->constant, r->context);
    for (slong i = 0; i < factors->num && !r->failed; i++) {
        bool single = ring_length(r, factors->poly + i) == 1;
        fmpq_mpoly_set(base, factors->poly + i, r->context);
        ring_reduce(r, base);
        if (!fmpq_mpoly_pow_fmpz(power, base, factors->exp + i, r->context)) r->failed = true;
        if (single) ring_square_roots(r, power);
        if (!ring_too_long(r, ring_length(r, p), ring_length(r, power))) fmpq_mpoly_mul(p, p, power, r->context);
    }
    fmpq_mpoly_clear(power, r->context);
    fmpq_mpoly_clear(base, r->context);
    return !r->failed;
}

/* Reduces each factor of p. Returns false if p has only one factor. */
static bool reduce_factors(ring *r, fmpq_mpoly_t p) {
    fmpq_mpoly_factor_t factors;
    bool done = false;
    if (ring_length(r, p) > FACTOR_TERMS) return false;
    fmpq_mpoly_factor_init(factors, r->context);
    if (ring_factor(r, factors, p) && (factors->num > 1 || !fmpz_is_one(factors->exp)))
        done = expand_reduced(r, p, factors);
    fmpq_mpoly_factor_clear(factors, r->context);
    return done;
}

/* Writes p as a sum or as a product, whichever is shorter. If the two are equally long, writes the product. */
static void shorten_polynomial(ring *r, fmpq_mpoly_t p) {
    fmpq_mpoly_t product;
    fmpq_mpoly_init(product, r->context);
    fmpq_mpoly_set(product, p, r->context);
    ring_reduce(r, p);
    bool same = r->angle_count == 0 && fmpq_mpoly_equal(p, product, r->context);
    bool single = r->failed || ring_length(r, p) <= 1;
    if (!same && !single && reduce_factors(r, product) && terms_of_factors(r, product) <= terms_of_factors(r, p))
        fmpq_mpoly_swap(p, product, r->context);
    fmpq_mpoly_clear(product, r->context);
}

/* Upper bound on the number of terms that are multiplied when a quotient is expanded by a conjugate. For the equations
 * of all examples, bounds up to 200 shorten only the velocities of papastavridis_2_13_9_body_axes. With a bound of
 * 2,000, some examples with long quotients spend their work budget on products that do not lead to a shorter form. */
enum { CONJUGATE_TERMS = 200 };

static void eliminate_squares_of_sines(ring *r, fmpq_mpoly_t p) {
    for (int i = 0; i < r->angle_count && !r->failed; i++)
        if (fmpq_mpoly_degree_si(p, r->angles[i].sine, r->context) > 1)
            ring_replace_square(r, p, r->angles[i].sine, r->angles[i].cosine);
}

/* Replaces the variable with index `sine` by its negative in p. */
static void conjugate(ring *r, fmpq_mpoly_t p, slong sine) {
    fmpq_t coefficient;
    fmpq_init(coefficient);
    for (slong i = 0; i < ring_length(r, p); i++) {
        if (fmpq_mpoly_get_term_var_exp_ui(p, i, sine, r->context) % 2 == 0) continue;
        fmpq_mpoly_get_term_coeff_fmpq(coefficient, p, i, r->context);
        fmpq_neg(coefficient, coefficient);
        fmpq_mpoly_set_term_coeff_fmpq(p, i, coefficient, r->context);
    }
    fmpq_clear(coefficient);
}

/* Multiplies the numerator `above` and the denominator `below` by conjugates of `below` until `below` contains no sine.
 * The conjugate with respect to a sine is `below` with the opposite sign of this sine. Returns false if a product
 * exceeds CONJUGATE_TERMS or the work budget is spent. `above` and `below` may then have changed. */
static bool clear_sines(ring *r, fmpq_mpoly_t above, fmpq_mpoly_t below) {
    bool cleared = true;
    fmpq_mpoly_t other;
    fmpq_mpoly_init(other, r->context);
    eliminate_squares_of_sines(r, above);
    eliminate_squares_of_sines(r, below);
    for (int i = 0; i < r->angle_count && cleared && !r->failed; i++) {
        if (fmpq_mpoly_degree_si(below, r->angles[i].sine, r->context) <= 0) continue;
        fmpq_mpoly_set(other, below, r->context);
        conjugate(r, other, r->angles[i].sine);
        slong terms = (ring_length(r, above) + ring_length(r, below)) * ring_length(r, other);
        cleared = terms <= CONJUGATE_TERMS && ring_take(r, terms);
        if (!cleared) break;
        fmpq_mpoly_mul(above, above, other, r->context);
        fmpq_mpoly_mul(below, below, other, r->context);
        eliminate_squares_of_sines(r, above);
        eliminate_squares_of_sines(r, below);
    }
    fmpq_mpoly_clear(other, r->context);
    return cleared && !r->failed;
}

/* Replaces above/below by a polynomial if both are equal modulo sin² + cos² = 1. Otherwise leaves the quotient
 * unchanged. After clear_sines, the denominator contains no sine, and the numerator is at most linear in each sine.
 * This form of the numerator is unique, so the greatest common divisor yields the polynomial. */
static void divide_by_conjugates(ring *r, fmpq_mpoly_t above, fmpq_mpoly_t below) {
    fmpq_mpoly_t x, y;
    fmpq_mpoly_init(x, r->context);
    fmpq_mpoly_init(y, r->context);
    fmpq_mpoly_set(x, above, r->context);
    fmpq_mpoly_set(y, below, r->context);
    if (ring_length(r, below) > 1 && clear_sines(r, x, y) && !fmpq_mpoly_is_zero(y, r->context) &&
        take_common(r, x, y) && fmpq_mpoly_is_fmpq(y, r->context)) {
        fmpq_mpoly_swap(above, x, r->context);
        fmpq_mpoly_swap(below, y, r->context);
        shorten_polynomial(r, above);
    }
    fmpq_mpoly_clear(x, r->context);
    fmpq_mpoly_clear(y, r->context);
}

void ring_cancel(ring *r, fmpq_mpoly_t above, fmpq_mpoly_t below) {
    assert(r->open);
    fmpq_mpoly_t x, y;
    (void)take_common(r, above, below);
    if (!r->failed) shorten_polynomial(r, above);
    if (!r->failed) shorten_polynomial(r, below);
    if (fmpq_mpoly_is_zero(below, r->context))
        r->failed = true; /* the expression stays unchanged; its evaluation reports the division by 0 */
    if (r->failed || fmpq_mpoly_is_zero(above, r->context) || fmpq_mpoly_is_fmpq(below, r->context)) return;
    fmpq_mpoly_init(x, r->context);
    fmpq_mpoly_init(y, r->context);
    fmpq_mpoly_set(x, above, r->context);
    fmpq_mpoly_set(y, below, r->context);
    write_alike(r, x, y);
    if (!r->failed && take_common(r, x, y)) {
        fmpq_mpoly_swap(above, x, r->context);
        fmpq_mpoly_swap(below, y, r->context);
        shorten_polynomial(r, above);
        shorten_polynomial(r, below);
    } else if (!r->failed) {
        divide_by_conjugates(r, above, below);
    }
    if (!r->failed) (void)take_common(r, above, below);
    fmpq_mpoly_clear(x, r->context);
    fmpq_mpoly_clear(y, r->context);
}
