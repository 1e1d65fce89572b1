/* kkt_vec8.c — see the header. */
#include "engine/linear/kkt_vec8.h"

#include "engine/base/tolerances.h"
#include "engine/linear/kkt_int.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#define LDL_REAL vec8
#define LDL_NAME(name) vec8_##name
#include "engine/linear/kkt_ldl_template.h"

#define DENSE_REAL vec8
#define DENSE_NAME(name) vec8_##name
#define DENSE_ROOT(x, r) \
    for (int lane = 0; lane < VEC8_SIZE; lane++) r[lane] = sqrt((x)[lane])
#include "engine/linear/dense_template.h"

struct kkt_vec8 {
    const kkt *kkt;
    vec8 *value;   /* pivots and L of LDLᵀ, or the dense lower triangle */
    vec8 *z;       /* n + k: a solution in elimination order */
    vec8 *before;  /* n + k: diagonals of M and of A M⁻¹Aᵀ */
    vec8 *sine;    /* smallest squared sine of an angle between rows */
    vec8 *given;   /* LDLᵀ: entries of the matrix that was factored last */
    vec8 *regular; /* bits of the lanes in which that factorization succeeded */
    bool factored;
};

bool kkt_vec8_serves(const kkt *k) {
    if (k->W || k->least_reaction) return false;
    return k->ldl || (k->k == 0 && k->preferred == &kkt_by_cholesky && !k->diagonal);
}

static size_t value_count(const kkt *k) {
    return k->ldl ? k->ldl->all + k->ldl->below : k->n * k->n;
}

kkt_vec8 *kkt_vec8_create(const kkt *k) {
    assert(kkt_vec8_serves(k));
    kkt_vec8 *s = calloc(1, sizeof *s);
    size_t all = k->n + k->k;
    if (!s) return NULL;
    s->kkt = k;
    s->value = vec8_alloc(value_count(k) + 2 * all + 2 + (k->ldl ? k->ldl->entries : 0));
    if (s->value) {
        s->z = s->value + value_count(k);
        s->before = s->z + all;
        s->sine = s->before + all;
        s->regular = s->sine + 1;
        s->given = s->sine + 2;
        return s;
    }
    free(s);
    return NULL;
}

void kkt_vec8_free(kkt_vec8 *s) {
    if (!s) return;
    free(s->value); /* one block holds all vectors */
    free(s);
}

/* Copies the entries of the matrix. Returns true if they have the bits of the last factorization's entries
 * (kkt_ldl.c). */
VEC8_INLINE bool is_same_matrix(kkt_vec8 *s, const vec8 *values) {
    const kkt_ldl *lists = s->kkt->ldl;
    vec8_bits changed = {0};
    uint64_t any = 0;
    for (size_t e = 0; e < lists->entries; e++) {
        const vec8 *now = &values[lists->from[e]];
        changed |= (vec8_bits)s->given[e] ^ (vec8_bits)*now;
        s->given[e] = *now;
    }
    for (int k = 0; k < VEC8_SIZE; k++) any |= changed[k];
    return s->factored && any == 0;
}

/* The decisions are those of kkt_ldl_factor. */
VEC8_INLINE void factor_lists(kkt_vec8 *s, vec8_bits *good) {
    const kkt_ldl *lists = s->kkt->ldl;
    const int *target = lists->target;
    const double kept = lists->all > lists->n ? MASS_PIVOT_KEPT : 0;
    vec8 *value = s->value, *before = s->before, most = {0}, least = most + INFINITY, sine = most + 1;
    for (size_t i = 0; i < lists->all + lists->below; i++) value[i] = (vec8){0};
    for (size_t e = 0; e < lists->entries; e++) value[lists->place[e]] = s->given[e];
    for (size_t j = 0; j < lists->n; j++) before[j] = value[j];
    for (size_t j = 0; j < lists->n; j++) {
        vec8 pivot = value[j];
        vec8_bits less = (vec8_bits)(pivot < least), more = (vec8_bits)(pivot > most);
        vec8_choose(&less, &pivot, &least, &least);
        vec8_choose(&more, &pivot, &most, &most);
        *good &= (vec8_bits)(pivot > kept * before[j]);
        target = vec8_eliminate(lists, j, value, target);
    }
    if (lists->n > 0) *good &= (vec8_bits)(least > lists->least * most);
    for (size_t j = lists->n; j < lists->all; j++) before[j] = value[j];
    for (size_t j = lists->n; j < lists->all; j++) {
        vec8 squared = value[j] / before[j];
        vec8_bits less = (vec8_bits)(squared < sine);
        vec8_choose(&less, &squared, &sine, &sine);
        *good &= (vec8_bits)(squared > CHOLESKY_RANK_TOLERANCE);
        target = vec8_eliminate(lists, j, value, target);
    }
    *s->sine = sine;
}

/* The decisions are those of dense_cholesky. */
VEC8_INLINE void factor_dense(kkt_vec8 *s, const vec8 *values, vec8_bits *good) {
    const sparse_block *M = s->kkt->M;
    size_t n = s->kkt->n;
    vec8 *L = s->value, least = {0};
    for (size_t i = 0; i < n * n; i++) L[i] = (vec8){0};
    for (size_t e = 0; e < M->count; e++) L[(size_t)M->row[e] + n * (size_t)M->column[e]] = values[M->at + e];
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < VEC8_SIZE; k++) {
            double size = fabs(L[i + n * i][k]);
            least[k] = size > least[k] ? size : least[k];
        }
    least = (double)n * DBL_EPSILON * least;
    for (size_t j = 0; j < n; j++) {
        vec8_cholesky_subtract(n, j, L);
        vec8 pivot = L[j + n * j];
        *good &= (vec8_bits)(pivot > least) & (vec8_bits)(pivot <= DBL_MAX);
        vec8_cholesky_divide(n, j, L);
    }
}

VEC8_INLINE void factor_body(kkt_vec8 *s, const vec8 *values, vec8_bits *good) {
    if (!s->kkt->ldl) {
        factor_dense(s, values, good);
        return;
    }
    if (!is_same_matrix(s, values)) {
        vec8_bits regular = ~(vec8_bits){0};
        factor_lists(s, &regular);
        *s->regular = (vec8)regular;
        s->factored = true;
    }
    *good &= (vec8_bits)*s->regular;
}
VEC8_FUNCTION(void, factor, (kkt_vec8 * s, const vec8 *values, vec8_bits *good), (s, values, good))

void kkt_vec8_factor(kkt_vec8 *s, const vec8 *values, vec8_bits *good) {
    assert(s->kkt->n > 0);
    factor(s, values, good);
}

/* The operations are those of kkt_ldl_solve. */
VEC8_INLINE void solve_lists(kkt_vec8 *s, const vec8 *g, const vec8 *r, vec8 *x, vec8 *lambda) {
    const kkt_ldl *lists = s->kkt->ldl;
    vec8 *z = s->z;
    for (size_t i = 0; i < lists->n; i++) z[i] = g ? g[lists->order[i]] : (vec8){0};
    for (size_t i = lists->n; i < lists->all; i++) z[i] = r[lists->constraint[i]];
    vec8_substitute(lists, g ? 0 : lists->n, s->value, z);
    for (size_t i = 0; i < lists->n; i++) x[lists->order[i]] = z[i];
    for (size_t i = lists->n; lambda && i < lists->all; i++) lambda[lists->constraint[i]] = -z[i];
}

VEC8_INLINE void solve_body(kkt_vec8 *s, const vec8 *g, const vec8 *r, vec8 *x, vec8 *lambda, vec8_bits *good) {
    size_t n = s->kkt->n;
    for (size_t c = 0; lambda && s->kkt->k < s->kkt->m && c < s->kkt->m; c++) lambda[c] = (vec8){0};
    if (s->kkt->ldl) {
        solve_lists(s, g, r, x, lambda);
    } else {
        for (size_t i = 0; i < n; i++) x[i] = g ? g[i] : (vec8){0};
        vec8_forward(n, s->value, x);
        vec8_backward(n, s->value, x);
    }
    vec8_require_finite_body(x, n, good);
}
VEC8_FUNCTION(void, solve, (kkt_vec8 * s, const vec8 *g, const vec8 *r, vec8 *x, vec8 *lambda, vec8_bits *good),
              (s, g, r, x, lambda, good))

void kkt_vec8_solve(kkt_vec8 *s, const vec8 *g, const vec8 *r, vec8 *x, vec8 *lambda, vec8_bits *good) {
    solve(s, g, r, x, lambda, good);
}

void kkt_vec8_margin(const kkt_vec8 *s, vec8 *margin) {
    for (int k = 0; k < VEC8_SIZE; k++) (*margin)[k] = kkt_finds_margin(s->kkt) ? sqrt((*s->sine)[k]) : 1;
}
