/* dynamics_residual.c — see the header. */
#include "engine/dynamics/dynamics_residual.h"

#include "engine/base/larger.h"

#include <math.h>

/* Lower bound on the mass of a coordinate in the scaling, relative to the heaviest coordinate coupled with it. Near the
 * quaternion e = (1, 0, 0, 0) the mass of e0 vanishes, and every force would be huge relative to this mass. With this
 * bound, the scaling enlarges forces by at most 1e3. */
static const double LIGHTEST = 1e-6;

/* Lower bound on the size of the terms in a set of coupled coordinates, relative to the set with the largest terms.
 * Dense solvers spread the rounding errors of that set, 1e-16 of its size, to uncoupled sets. With this bound, the
 * errors are at most 1e-12 of the size of any set. */
static const double PASSED_ON = 1e-4;

#define RESIDUAL_INLINE static inline __attribute__((always_inline))

/* --- one member --------------------------------------------------------------------------------------------------- */

RESIDUAL_INLINE void one_magnitude(const double *x, double *out) {
    *out = fabs(*x);
}

RESIDUAL_INLINE void one_larger(const double *a, const double *b, double *out) {
    *out = larger(*a, *b);
}

/* Sets *out to the square root of a mass, with a lower bound relative to the heaviest mass of its set. */
RESIDUAL_INLINE void one_root_of(const double *mass, const double *heaviest, double *out) {
    *out = *heaviest > 0 ? sqrt(larger(*mass, LIGHTEST * *heaviest)) : 1;
}

RESIDUAL_INLINE void one_relative(const double *left, const double *size, double *out) {
    *out = !isfinite(*left) || !isfinite(*size) ? INFINITY : *left == 0 ? 0 : fabs(*left) / *size;
}

#define RESIDUAL_REAL double
#define RESIDUAL_NAME(name) one_##name
#include "engine/dynamics/dynamics_residual_template.h"

/* --- eight members ------------------------------------------------------------------------------------------------ */

RESIDUAL_INLINE void vec8_magnitude(const vec8 *x, vec8 *out) {
    *out = (vec8)((vec8_bits)*x & INT64_MAX);
}

RESIDUAL_INLINE void vec8_larger(const vec8 *a, const vec8 *b, vec8 *out) {
    vec8_bits number = (vec8_bits)(*b <= 0) | (vec8_bits)(*b > 0), first = (vec8_bits)(*a > *b) | ~number;
    vec8_choose(&first, a, b, out);
}

RESIDUAL_INLINE void vec8_root_of(const vec8 *mass, const vec8 *heaviest, vec8 *out) {
    const vec8 one = {1, 1, 1, 1, 1, 1, 1, 1};
    vec8_bits positive = (vec8_bits)(*heaviest > 0);
    vec8 bound = LIGHTEST * *heaviest, root;
    vec8_larger(mass, &bound, &root);
    for (int k = 0; k < VEC8_SIZE; k++) root[k] = sqrt(root[k]);
    vec8_choose(&positive, &root, &one, out);
}

RESIDUAL_INLINE void vec8_relative(const vec8 *left, const vec8 *size, vec8 *out) {
    const vec8 none = {0}, most = none + INFINITY;
    vec8_bits finite = (vec8_bits)(0 * *left == 0) & (vec8_bits)(0 * *size == 0), zero = (vec8_bits)(*left == 0);
    vec8 here;
    vec8_magnitude(left, &here);
    here = here / *size;
    vec8_choose(&zero, &none, &here, &here);
    vec8_choose(&finite, &here, &most, out);
}

#define RESIDUAL_REAL vec8
#define RESIDUAL_NAME(name) vec8_##name
#include "engine/dynamics/dynamics_residual_template.h"

/* --- residuals ---------------------------------------------------------------------------------------------------- */

struct dynamics_residual {
    const hamel_model *model;
    size_t *part; /* n: representative of each coordinate's set of coupled coordinates */
    one_arrays one;
};

/* Finds the sets of coordinates coupled by M or by a row of A. Entries of a row are consecutive in the pattern. */
static void join_parts(dynamics_residual *r) {
    const hamel_model *model = r->model;
    const sparse_block *A = &model->dynamics.A;
    for (size_t i = 0; i < model->n; i++) r->part[i] = i;
    sparse_block_join(&model->dynamics.M, r->part);
    for (size_t e = 1; e < A->count; e++)
        if (A->row[e] == A->row[e - 1])
            r->part[sparse_block_root(r->part, (size_t)A->column[e])] =
                sparse_block_root(r->part, (size_t)A->column[e - 1]);
    for (size_t i = 0; i < model->n; i++) r->part[i] = sparse_block_root(r->part, i);
}

dynamics_residual *dynamics_residual_create(const hamel_model *model, arena *memory) {
    size_t n = model->n;
    dynamics_residual *r = arena_alloc(memory, 1, sizeof *r);
    if (!r) return NULL;
    *r = (dynamics_residual){.model = model, .part = arena_alloc(memory, n, sizeof *r->part)};
    if (!ARENA_DOUBLES(memory, {&r->one.force, n}, {&r->one.size, n}, {&r->one.root, n}, {&r->one.most, n},
                       {&r->one.scale, n}))
        return NULL;
    join_parts(r);
    return r;
}

equation_residual dynamics_residual_of(dynamics_residual *r, const double *values, const double *v, const double *Q,
                                       const double *R, const double *usual, const double *a, const double *lambda) {
    equation_residual missed = {0, 0};
    one_add_motion(r->model, &r->one, values, Q, R, a, lambda);
    one_find_residuals(r->model, r->part, &r->one, values, v, usual, a, &missed.motion, &missed.constraints);
    return missed;
}

VEC8_INLINE void verify_body(const dynamics_residual *r, vec8 *work, const vec8 *values, const vec8 *v,
                             const double *usual, const vec8 *a, const vec8 *lambda, vec8_bits *good) {
    const hamel_model *model = r->model;
    size_t n = model->n;
    const vec8_arrays arrays = {work, work + n, work + 2 * n, work + 3 * n, work + 4 * n};
    vec8 motion, constraints;
    vec8_add_motion(model, &arrays, values, values + model->dynamics.at_Q, NULL, a, lambda);
    vec8_find_residuals(model, r->part, &arrays, values, v, usual, a, &motion, &constraints);
    *good &= (vec8_bits)(motion <= RESIDUAL_MOST) & (vec8_bits)(constraints <= RESIDUAL_MOST);
}
VEC8_FUNCTION(void, verify,
              (const dynamics_residual *r, vec8 *work, const vec8 *values, const vec8 *v, const double *usual,
               const vec8 *a, const vec8 *lambda, vec8_bits *good),
              (r, work, values, v, usual, a, lambda, good))

void dynamics_residual_verify_vec8(const dynamics_residual *r, vec8 *work, const vec8 *values, const vec8 *v,
                                   const double *usual, const vec8 *a, const vec8 *lambda, vec8_bits *good) {
    verify(r, work, values, v, usual, a, lambda, good);
}
