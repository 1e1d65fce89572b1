/* kkt.c — selection of the rows of a saddle-point system and choice of a solver. LDLᵀ (kkt_ldl.c) is tried first unless
 * M is singular or rows are redundant. */
#include "engine/linear/kkt_int.h"

#include "engine/base/finite.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

/* Largest number of unknowns at which a system with redundant rows is solved with dense matrices instead of compliance.
 * Dense solvers cost more, but also compute the rank margin. For grids of braced squares with 25, 36 and 64 particles,
 * dense matrices take 3, 5 and 14 times as long as compliance (measured). */
enum { REDUNDANT_DENSE_MAX = 160 };

static void take_rows(kkt *k, const bool *active) {
    k->selection++;
    k->k = 0;
    k->limit = SIZE_MAX;
    k->usual = NULL;
    k->margin = 1;
    k->factored = false;
    for (size_t c = 0; c < k->m; c++) {
        bool take = k->rows[c] && (!active || active[c]);
        k->row_of[c] = take ? (int)k->k : -1;
        if (take) k->taken[k->k++] = (int)c;
    }
    k->rank = k->k;
}

static bool list_saddle_entries(kkt *k) {
    if (!triplets_create(&k->entries, &k->selected, triplets_of_saddle(k->M, k->A, k->W) + k->k)) return false;
    triplets_add_saddle(&k->entries, k->M, k->A, k->W, k->row_of);
    for (int c = 0; c < (int)k->k; c++) triplets_add(&k->entries, (int)k->n + c, (int)k->n + c, -1, 0);
    return true;
}

static hamel_status create_ldl(kkt *k) {
    k->ldl = NULL;
    if (k->W || k->least_reaction) return HAMEL_OK;
    const kkt_ldl_form form = {k->n, k->k, &k->entries, k->taken, k->diagonal, k->preferred == &kkt_by_klu};
    return kkt_ldl_create(&form, &k->ldl);
}

static bool create(kkt *k, const bool *rows) {
    k->row_of = arena_ints(&k->memory, k->m);
    k->taken = arena_ints(&k->memory, k->m);
    k->rows = arena_alloc(&k->memory, k->m, sizeof *k->rows);
    k->before.taken = arena_alloc(&k->memory, k->m, sizeof *k->before.taken);
    if (k->memory.failed) return false;
    for (size_t c = 0; c < k->m; c++) k->rows[c] = !rows || rows[c];
    take_rows(k, NULL);
    if (!list_saddle_entries(k)) return false;
    k->capacity = k->k;
    bool klu = sparse_is_faster(k->n + k->k, k->entries.count);
    k->kind = k->fallback = k->preferred = klu ? &kkt_by_klu : &kkt_by_cholesky;
    return (klu ? kkt_sparse_create(k) : kkt_dense_create(k)) && create_ldl(k) == HAMEL_OK;
}

kkt *kkt_create(const sparse_block *M, const sparse_block *A, const sparse_block *W, const bool *rows,
                bool least_reaction) {
    assert(M->rows == M->columns && A->columns == M->rows);
    assert(!W || W->count == 0 || (W->rows == M->rows && W->columns == A->rows));
    kkt *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    *k = (kkt){.M = M, .A = A, .n = M->rows, .m = A->rows, .least_reaction = least_reaction};
    k->W = W && W->count > 0 ? W : NULL;
    k->diagonal = sparse_block_is_diagonal(M);
    if (create(k, rows)) return k;
    kkt_free(k);
    return NULL;
}

static void forget_selection(kkt_selection *s) {
    kkt_ldl_free(s->ldl);
    arena_free(&s->selected);
    s->ldl = NULL;
    s->kept = false;
}

/* Exchanges the current selection with the one before. */
static void exchange_selections(kkt *k) {
    kkt_selection now = {k->selected, k->entries, k->ldl, k->before.taken, true};
    k->selected = k->before.selected;
    k->entries = k->before.entries;
    k->ldl = k->before.ldl;
    k->before = now;
}

void kkt_free(kkt *k) {
    if (!k) return;
    forget_selection(&k->before);
    kkt_dense_free(k->dense);
    kkt_ldl_free(k->ldl);
    kkt_sparse_free(k);
    arena_free(&k->selected);
    arena_free(&k->memory);
    free(k);
}

void kkt_expect_singular(kkt *k) {
    k->singular = true;
}

/* Makes the selection before the current one, if it has the rows that `active` marks. Returns false otherwise; the
 * current selection is then kept as the one before. The LU factors of a selection are not kept, because they are large.
 */
static bool select_before(kkt *k, const bool *active) {
    bool same = k->before.kept, large = k->preferred == &kkt_by_klu || (k->dense && k->dense->LU);
    for (size_t c = 0; c < k->m && same; c++) same = k->before.taken[c] == (k->rows[c] && (!active || active[c]));
    if (large || !same) forget_selection(&k->before);
    if (large) return false;
    for (size_t c = 0; c < k->m; c++) k->before.taken[c] = k->row_of[c] >= 0;
    exchange_selections(k);
    return same;
}

hamel_status kkt_select(kkt *k, const bool *active) {
    bool same = select_before(k, active);
    take_rows(k, active);
    assert(k->k <= k->capacity);
    if (k->dense) kkt_dense_discard(k->dense);
    if (same) {
        k->kind = k->fallback = k->preferred;
        return HAMEL_OK;
    }
    kkt_ldl_free(k->ldl);
    kkt_sparse_free(k);
    arena_free(&k->selected);
    k->ldl = NULL;
    k->kind = k->fallback = k->preferred;
    if (!list_saddle_entries(k) || (k->preferred == &kkt_by_klu && !kkt_sparse_create(k))) return HAMEL_NO_MEMORY;
    return create_ldl(k);
}

void kkt_expect(kkt *k, size_t rank, const double *usual) {
    k->limit = rank;
    k->usual = usual;
}

bool kkt_expects_redundancy(const kkt *k) {
    return k->limit < k->k;
}

bool kkt_prefers_sparse(const kkt *k) {
    return k->preferred == &kkt_by_klu && k->n + k->k > REDUNDANT_DENSE_MAX;
}

void kkt_reset(kkt *k) {
    if (k->dense) k->dense->augment = false;
    k->kind = k->fallback = k->preferred;
    k->singular = k->factored = false;
    k->rank = k->k;
    k->margin = 1;
    kkt_expect(k, SIZE_MAX, NULL);
}

bool kkt_is_regular(const kkt *k) {
    return !k->singular && !(k->dense && k->dense->augment) && !kkt_expects_redundancy(k) &&
           k->fallback == k->preferred;
}

static hamel_status factor_by_any(kkt *k, const double *values) {
    bool singular = k->singular || (k->dense && k->dense->augment); /* M is always singular, or was singular earlier */
    if (k->singular && k->k == 0) return HAMEL_SINGULAR;
    if (k->ldl && !singular && !kkt_expects_redundancy(k) && kkt_by_ldl.factor(k, values) == HAMEL_OK) return HAMEL_OK;
    if (kkt_expects_redundancy(k) && kkt_prefers_sparse(k)) {
        k->fallback = &kkt_by_compliance;
        k->sparse.rank = k->limit;
    }
    return k->fallback->factor(k, values);
}

hamel_status kkt_factor(kkt *k, const double *values) {
    hamel_status status = factor_by_any(k, values);
    k->factored = status == HAMEL_OK;
    return status;
}

kkt_memory kkt_remember(const kkt *k) {
    return (kkt_memory){k->selection, k->dense && k->dense->augment, k->fallback};
}

void kkt_recall(kkt *k, kkt_memory memory) {
    if (memory.selection != k->selection) return;
    if (k->dense) k->dense->augment = memory.augment;
    if (k->fallback != memory.fallback && k->kind != &kkt_by_ldl) k->kind = memory.fallback, k->factored = false;
    k->fallback = memory.fallback;
}

hamel_status kkt_solve(kkt *k, const double *g, const double *r, double tolerance, double *x, double *lambda) {
    assert(k->factored);
    for (size_t c = 0; lambda && k->k < k->m && c < k->m; c++) lambda[c] = 0;
    hamel_status status = k->kind->solve(k, g, r, tolerance, x, lambda);
    return status == HAMEL_OK && !all_finite(x, k->n) ? HAMEL_SINGULAR : status;
}

size_t kkt_rank(const kkt *k) {
    return k->rank;
}

double kkt_margin(const kkt *k) {
    return kkt_finds_margin(k) ? k->margin : 1;
}

bool kkt_finds_margin(const kkt *k) {
    return k->k > 0 && (k->fallback == &kkt_by_cholesky || (k->fallback == &kkt_by_klu && k->ldl));
}

/* --- LDLᵀ --------------------------------------------------------------------------------------------------------- */

static hamel_status factor_ldl(kkt *k, const double *values) {
    bool regular = kkt_ldl_factor(k->ldl, values);
    k->kind = &kkt_by_ldl;
    k->rank = k->k;
    k->margin = kkt_ldl_margin(k->ldl);
    return regular ? HAMEL_OK : HAMEL_SINGULAR;
}

static hamel_status solve_ldl(kkt *k, const double *g, const double *r, double tolerance, double *x, double *lambda) {
    (void)tolerance; /* not used, because rows are independent */
    kkt_ldl_solve(k->ldl, g, r, x, lambda);
    return HAMEL_OK;
}

const kkt_kind kkt_by_ldl = {factor_ldl, solve_ldl};
