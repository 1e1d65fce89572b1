/* long_forms.c — evaluation of forms in 256-bit numbers, and rank decisions; see long_forms.h. */
#include "engine/analyze/long_forms.h"

#include <assert.h>
#include <math.h>

/* Three Newton steps reduce 1e-10, the error of samples, to about 2^-256. The number of steps is twice as large,
 * because convergence may be slower at the beginning. */
enum { NEWTON_STEPS = 6 };
/* Safety factor on the difference between the copies. By chance, both differences may be smaller than usual; the
 * probability that both are smaller by a factor of 1000 is about 1e-6. */
static const double SIGNAL = 1e3;

/* --- the plan ----------------------------------------------------------------------------------------------------- */

/* Lists the derivatives of the chosen rows' entries, and all expressions that the plan must contain. Returns NULL if an
 * allocation or the construction of a node fails. */
static graph_node *list_roots(long_forms *c, bool slopes, size_t *count) {
    forms *f = c->f;
    graph *g = f->a->system->graph;
    size_t capacity = 0;
    graph_node *roots = arena_alloc(&c->memory, f->entry_count * (c->width + 1) + c->rank, sizeof *roots);
    *count = 0;
    if (!roots) return NULL;
    for (size_t e = 0; e < f->entry_count; e++) {
        c->row[e] = 0;
        while (c->row[e] < c->rank && f->chosen[c->row[e]] != f->entry_row[e]) c->row[e]++;
        if (c->row[e] == c->rank) continue;
        roots[(*count)++] = f->nodes[e];
        for (size_t l = 0; slopes && l < c->width; l++) {
            graph_node node = graph_partial(g, f->nodes[e], forms_symbol(f, l));
            if (node < 0) return NULL;
            if (graph_is_zero(g, node)) continue;
            slope *grown = arena_grow(&c->memory, c->slopes, &capacity, c->slope_count + 1, sizeof *grown);
            if (!grown) return NULL;
            c->slopes = grown;
            grown[c->slope_count++] = (slope){e, l, (size_t)node};
            roots[(*count)++] = node;
        }
    }
    for (size_t r = 0; r < c->rank; r++)
        if (f->chosen[r] < f->holonomic_count)
            roots[(*count)++] = f->a->system->constraints[f->rows[f->chosen[r]]].equation;
    return roots;
}

bool long_forms_plan(long_forms *c, bool slopes) {
    assert(c->rank == c->f->rank && c->rank + c->others == c->width);
    forms *f = c->f;
    size_t count;
    c->row = arena_alloc(&c->memory, f->entry_count, sizeof *c->row);
    c->place = arena_alloc(&c->memory, f->entry_count, sizeof *c->place);
    size_t **const lists[] = {&c->variable, &c->residual, &c->pivot, &c->other, &c->solved};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        *lists[k] = arena_alloc(&c->memory, c->width, sizeof **lists[k]);
    c->matrix = arena_doubles(&c->memory, c->rank * c->width);
    if (c->memory.failed) return false;
    graph_node *roots = list_roots(c, slopes, &count);
    if (!roots || !taylor_plan_create(&c->plan, f->a->system->graph, roots, count, &c->memory)) return false;
    for (size_t e = 0; e < f->entry_count; e++)
        c->place[e] = c->row[e] < c->rank ? taylor_place(&c->plan, f->nodes[e]) : 0;
    for (size_t k = 0; k < c->slope_count; k++)
        c->slopes[k].place = taylor_place(&c->plan, (graph_node)c->slopes[k].place);
    for (size_t l = 0; l < c->width; l++) c->variable[l] = taylor_place(&c->plan, forms_symbol(f, l));
    for (size_t r = 0; r < c->rank; r++) {
        graph_node equation = f->a->system->constraints[f->rows[f->chosen[r]]].equation;
        c->residual[r] = f->chosen[r] < f->holonomic_count ? taylor_place(&c->plan, equation) : c->plan.count;
    }
    return true;
}

/* Chooses the columns to solve for by Gaussian elimination. The pivot of a row is its largest entry outside the column
 * of time. */
bool long_forms_pivots(long_forms *c) {
    size_t n = c->f->coordinate_count, count = 0;
    double *a = c->matrix;
    for (size_t l = 0; l < c->width; l++) c->solved[l] = c->rank;
    for (size_t r = 0; r < c->rank; r++) forms_row(c->f, c->f->chosen[r], a + r * c->width);
    for (size_t r = 0; r < c->rank; r++) {
        const double *row = a + r * c->width;
        size_t column = n;
        for (size_t l = 0; l < n; l++)
            if (c->solved[l] == c->rank && fabs(row[l]) > (column < n ? fabs(row[column]) : 0)) column = l;
        if (column == n) return false;
        c->pivot[r] = column;
        c->solved[column] = r;
        for (size_t i = r + 1; i < c->rank; i++) {
            double *below = a + i * c->width, factor = below[column] / row[column];
            for (size_t l = 0; factor != 0 && l < n; l++) below[l] -= factor * row[l];
            below[column] = 0;
        }
    }
    for (size_t l = 0; l < c->width; l++)
        if (c->solved[l] == c->rank) c->other[count++] = l;
    return count == c->others;
}

/* --- one copy of the system --------------------------------------------------------------------------------------- */

void add_to(mpfr_ptr to, int sign, mpfr_srcptr x, mpfr_srcptr y, mpfr_ptr scratch) {
    if (mpfr_zero_p(x) || mpfr_zero_p(y)) return;
    mpfr_mul(scratch, x, y, MPFR_RNDN);
    if (sign > 0)
        mpfr_add(to, to, scratch, MPFR_RNDN);
    else
        mpfr_sub(to, to, scratch, MPFR_RNDN);
}

void copy_create(const long_forms *c, copy *y, size_t n, uint64_t seed, number_pool *pool) {
    assert(n < COPIES);
    size_t k = c->rank;
    const double *parameters =
        model_inputs(c->f->a->model, NULL, NULL, NULL, NULL, NULL, NULL).values[SYMBOL_PARAMETER];
    taylor_init(&y->t, &c->plan, c->order, parameters, n > 0 ? LONG_CHANGE : 0, seed + n, pool);
    y->x = number_pool_take(pool, c->width);
    y->inverse = number_pool_take(pool, k * k);
    y->right = number_pool_take(pool, k + 1);
    y->work = number_pool_take(pool, 2 * k * k);
    y->scale = number_pool_take(pool, k);
}

void copy_set(const long_forms *c, copy *y, size_t column, size_t k, mpfr_srcptr value) {
    assert(column < c->width && k <= c->order);
    if (c->variable[column] < c->plan.count)
        mpfr_set(taylor_coefficient(&y->t, c->variable[column], k), value, MPFR_RNDN);
}

/* Inverts A_p by Gauss–Jordan elimination with partial pivoting. Returns false if A_p is singular or not finite. */
static bool invert(const long_forms *c, copy *y) {
    size_t k = c->rank, wide = 2 * k;
    for (size_t i = 0; i < k * wide; i++) mpfr_set_zero(y->work[i], 1);
    for (size_t e = 0; e < c->f->entry_count; e++) {
        if (c->row[e] == k) continue;
        mpfr_srcptr value = taylor_coefficient(&y->t, c->place[e], 0);
        size_t column = c->solved[c->f->entry_column[e]];
        if (!mpfr_number_p(value)) return false;
        if (column < k) mpfr_set(y->work[c->row[e] * wide + column], value, MPFR_RNDN);
    }
    for (size_t r = 0; r < k; r++) mpfr_set_ui(y->work[r * wide + k + r], 1, MPFR_RNDN);
    for (size_t r = 0; r < k; r++) {
        size_t best = r;
        for (size_t i = r + 1; i < k; i++)
            if (mpfr_cmpabs(y->work[i * wide + r], y->work[best * wide + r]) > 0) best = i;
        if (mpfr_zero_p(y->work[best * wide + r])) return false;
        for (size_t j = 0; best != r && j < wide; j++) mpfr_swap(y->work[r * wide + j], y->work[best * wide + j]);
        mpfr_set(y->right[k], y->work[r * wide + r], MPFR_RNDN);
        for (size_t j = 0; j < wide; j++)
            mpfr_div(y->work[r * wide + j], y->work[r * wide + j], y->right[k], MPFR_RNDN);
        for (size_t i = 0; i < k; i++) {
            if (i == r || mpfr_zero_p(y->work[i * wide + r])) continue;
            mpfr_set(y->right[k], y->work[i * wide + r], MPFR_RNDN);
            for (size_t j = 0; j < wide; j++)
                add_to(y->work[i * wide + j], -1, y->right[k], y->work[r * wide + j], y->t.scratch[0]);
        }
    }
    for (size_t r = 0; r < k; r++)
        for (size_t j = 0; j < k; j++) mpfr_set(y->inverse[r * k + j], y->work[r * wide + k + j], MPFR_RNDN);
    return true;
}

void copy_solve(const long_forms *c, copy *y, mpfr_t *S, size_t first, size_t stride, size_t k) {
    assert(k <= c->order);
    size_t rank = c->rank;
    for (size_t e = 0; k > 0 && e < c->f->entry_count; e++) {
        size_t q = c->solved[c->f->entry_column[e]];
        if (c->row[e] == rank || q == rank) continue;
        for (size_t i = k; i > 0; (void)taylor_next(&y->t, k, &i))
            add_to(y->right[c->row[e]], -1, taylor_coefficient(&y->t, c->place[e], i),
                   term(S, first + q * stride, c->order, k - i), y->t.scratch[0]);
    }
    for (size_t q = 0; q < rank; q++) {
        mpfr_ptr to = term(S, first + q * stride, c->order, k);
        mpfr_set_zero(to, 1);
        for (size_t r = 0; r < rank; r++) add_to(to, 1, y->inverse[q * rank + r], y->right[r], y->t.scratch[0]);
    }
}

void copy_clear_right(const long_forms *c, copy *y) {
    for (size_t r = 0; r < c->rank; r++) mpfr_set_zero(y->right[r], 1);
}

/* Changes the pivot coordinates by Newton's method. The sample nearly satisfies the constraints, so a fixed number of
 * steps suffices. */
bool copy_settle(const long_forms *c, copy *y) {
    bool holonomic = false;
    for (size_t l = 0; l < c->width; l++) copy_set(c, y, l, 0, y->x[l]);
    for (size_t r = 0; r < c->rank; r++) holonomic |= c->residual[r] < c->plan.count;
    for (int i = 0; i <= NEWTON_STEPS; i++) {
        taylor_step(&y->t, 0);
        if (!invert(c, y)) return false;
        if (!holonomic || i == NEWTON_STEPS) return true;
        for (size_t q = 0; q < c->rank; q++) {
            mpfr_ptr x = y->x[c->pivot[q]];
            for (size_t r = 0; r < c->rank; r++)
                if (c->residual[r] < c->plan.count)
                    add_to(x, -1, y->inverse[q * c->rank + r], taylor_coefficient(&y->t, c->residual[r], 0),
                           y->t.scratch[0]);
            if (!mpfr_number_p(x)) return false;
            copy_set(c, y, c->pivot[q], 0, x);
        }
    }
    return false;
}

void enlarge(mpfr_ptr scale, mpfr_srcptr value) {
    if (mpfr_cmpabs(value, scale) > 0) mpfr_abs(scale, value, MPFR_RNDN);
}

/* --- the rank ----------------------------------------------------------------------------------------------------- */

bool directions_create(directions *d, long_forms *c, number_pool *pool) {
    size_t rank = c->rank;
    *d = (directions){.rank = rank, .noise = c->noise, .pivot = arena_alloc(&c->memory, rank, sizeof *d->pivot)};
    for (size_t n = 0; n < COPIES; n++) {
        d->rows[n] = number_pool_take(pool, rank * rank);
        d->next[n] = number_pool_take(pool, rank);
    }
    return !pool->failed && !c->memory.failed;
}

/* Returns the ratio of `value`, the size of component r of the next row, to its error bound. The error bound includes
 * the rounding of the coefficients and the rounding errors of the computation. `size` is the size of the terms of the
 * component. */
static double signal_of(const directions *d, double value, double size, size_t r, mpfr_ptr scratch) {
    double noise = 0;
    if (!(size > 0) || !isfinite(size)) return 0;
    for (size_t n = 1; n < COPIES; n++) {
        mpfr_sub(scratch, d->next[n][r], d->next[0][r], MPFR_RNDN);
        noise = fmax(noise, fabs(mpfr_get_d(scratch, MPFR_RNDN)));
    }
    return value / (SIGNAL * noise + d->noise * size);
}

bool directions_add(directions *d, copy *copies) {
    assert(d->count <= d->rank);
    mpfr_ptr scratch = copies->t.scratch[0], factor = copies->t.scratch[1];
    size_t rank = d->rank, best = rank;
    for (size_t i = 0; i < d->count; i++)
        for (size_t n = 0; n < COPIES; n++) {
            mpfr_set(factor, d->next[n][d->pivot[i]], MPFR_RNDN);
            for (size_t r = 0; r < rank; r++) add_to(d->next[n][r], -1, factor, d->rows[n][i * rank + r], scratch);
            mpfr_set_zero(d->next[n][d->pivot[i]], 1);
        }
    double largest = 0;
    for (size_t r = 0; r < rank; r++) {
        double size = mpfr_get_d(copies->scale[r], MPFR_RNDN), value = fabs(mpfr_get_d(d->next[0][r], MPFR_RNDN));
        if (!(value / size > largest && signal_of(d, value, size, r, scratch) > 1)) continue;
        largest = value / size;
        best = r;
    }
    if (best == rank) return false;
    for (size_t n = 0; n < COPIES; n++) {
        mpfr_set(factor, d->next[n][best], MPFR_RNDN);
        for (size_t r = 0; r < rank; r++) mpfr_div(d->rows[n][d->count * rank + r], d->next[n][r], factor, MPFR_RNDN);
    }
    d->pivot[d->count++] = best;
    return true;
}
