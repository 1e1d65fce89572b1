/* mass_vec8.c — see the header. */
#include "engine/linear/mass_vec8.h"

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

struct mass_vec8 {
    const kkt *kkt;
    vec8 *value; /* pivots and L of LDLᵀ, or the dense lower triangle */
    vec8 *z;     /* n: a solution in elimination order */
};

bool mass_vec8_serves(const kkt *k) {
    return k->k == 0 && !k->W && (k->ldl || (k->preferred == &kkt_by_cholesky && !k->diagonal && !k->least_reaction));
}

static size_t value_count(const kkt *k) {
    return k->ldl ? k->ldl->all + k->ldl->below : k->n * k->n;
}

mass_vec8 *mass_vec8_create(const kkt *k) {
    assert(mass_vec8_serves(k));
    mass_vec8 *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->kkt = k;
    s->value = vec8_alloc(value_count(k) + k->n);
    if (s->value) {
        s->z = s->value + value_count(k);
        return s;
    }
    free(s);
    return NULL;
}

void mass_vec8_free(mass_vec8 *s) {
    if (!s) return;
    free(s->value); /* one block holds all vectors */
    free(s);
}

/* Clears the lanes of *good in which an entry of x[n] is not finite. */
VEC8_INLINE void require_finite(const vec8 *x, size_t n, vec8_bits *good) {
    vec8 sum = {0};
    for (size_t i = 0; i < n; i++) sum += 0 * x[i];
    *good &= (vec8_bits)(sum == 0);
}

/* Accepts a pivot under the same conditions as factor_mass in kkt_ldl.c without constraints. */
VEC8_INLINE void solve_lists(mass_vec8 *s, const vec8 *values, const vec8 *g, vec8 *x, vec8_bits *good) {
    const kkt_ldl *lists = s->kkt->ldl;
    const int *target = lists->target;
    vec8 *value = s->value, most = {0}, least = most + INFINITY;
    for (size_t i = 0; i < lists->all + lists->below; i++) value[i] = (vec8){0};
    for (size_t e = 0; e < lists->entries; e++) value[lists->place[e]] = values[lists->from[e]];
    for (size_t j = 0; j < lists->n; j++) {
        vec8 pivot = value[j];
        for (int k = 0; k < VEC8_SIZE; k++) {
            least[k] = pivot[k] < least[k] ? pivot[k] : least[k];
            most[k] = pivot[k] > most[k] ? pivot[k] : most[k];
        }
        *good &= (vec8_bits)(pivot > 0);
        target = vec8_eliminate(lists, j, value, target);
    }
    *good &= (vec8_bits)(least > lists->least * most);
    for (size_t i = 0; i < lists->n; i++) s->z[i] = g[lists->order[i]];
    vec8_substitute(lists, 0, value, s->z);
    for (size_t i = 0; i < lists->n; i++) x[lists->order[i]] = s->z[i];
}

/* Accepts a pivot under the same conditions as dense_cholesky. */
VEC8_INLINE void solve_dense(mass_vec8 *s, const vec8 *values, const vec8 *g, vec8 *x, vec8_bits *good) {
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
    for (size_t i = 0; i < n; i++) x[i] = g[i];
    vec8_forward(n, L, x);
    vec8_backward(n, L, x);
}

VEC8_INLINE void solve_body(mass_vec8 *s, const vec8 *values, const vec8 *g, vec8 *x, vec8_bits *good) {
    if (s->kkt->ldl)
        solve_lists(s, values, g, x, good);
    else
        solve_dense(s, values, g, x, good);
    require_finite(x, s->kkt->n, good);
}
VEC8_FUNCTION(void, solve, (mass_vec8 * s, const vec8 *values, const vec8 *g, vec8 *x, vec8_bits *good),
              (s, values, g, x, good))

void mass_vec8_solve(mass_vec8 *s, const vec8 *values, const vec8 *g, vec8 *x, vec8_bits *good) {
    assert(s->kkt->n > 0);
    solve(s, values, g, x, good);
}
