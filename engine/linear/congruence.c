/* congruence.c — see congruence.h. */
#include "engine/linear/congruence.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const size_t WIDTH = CONGRUENCE_WIDTH;
enum { BITS = 64 };

static void set_times(double *to, double factor, const double *from) {
    for (size_t k = 0; k < WIDTH; k++) to[k] = factor * from[k];
}

static void add_times(double *to, double factor, const double *from) {
    for (size_t k = 0; k < WIDTH; k++) to[k] += factor * from[k];
}

/* Computes WIDTH columns of M, beginning with `column`. Returns a pointer into `work`. Element WIDTH · i + k of this
 * array is the entry of M in row i and column `column` + k. */
static const double *columns_from(const congruence *c, const double *values, size_t column, double *work) {
    size_t count = c->n + c->sum_count;
    double *w = work, *y = work + WIDTH * count;
    memset(w, 0, WIDTH * c->n * sizeof *w);
    memset(y, 0, WIDTH * count * sizeof *y);
    for (size_t k = 0; k < WIDTH && column + k < c->n; k++) w[WIDTH * (column + k) + k] = 1;
    for (size_t s = 0; s < c->sum_count; s++) {
        double *sum = w + WIDTH * (c->n + s);
        set_times(sum, values[c->first[s]], w + WIDTH * c->with[c->first[s]]);
        for (size_t f = c->first[s] + 1; f < c->first[s + 1]; f++) add_times(sum, values[f], w + WIDTH * c->with[f]);
    }
    for (size_t p = 0; p < c->pair_count; p++) {
        size_t one = c->pairs[p][0], other = c->pairs[p][1];
        double entry = values[c->factor_count + p];
        add_times(y + WIDTH * one, entry, w + WIDTH * other);
        if (one != other) add_times(y + WIDTH * other, entry, w + WIDTH * one);
    }
    for (size_t s = c->sum_count; s-- > 0;)
        for (size_t f = c->first[s]; f < c->first[s + 1]; f++)
            add_times(y + WIDTH * c->with[f], values[f], y + WIDTH * (c->n + s));
    return y;
}

static bool allocate_pattern(arena *memory, size_t n, size_t count, sparse_block *M, uint32_t **places) {
    *M = (sparse_block){.rows = n, .columns = n, .count = count};
    M->row = arena_ints(memory, count);
    M->column = arena_ints(memory, count);
    *places = arena_alloc(memory, count, sizeof **places);
    return M->row && M->column && *places;
}

/* Sets y[i] to a bit set of the columns `column` to `column` + BITS − 1 of row i of M that can be nonzero. An entry
 * whose terms could cancel counts as nonzero. Returns y, an array in `work`. */
static const uint64_t *paths_from(const congruence *c, size_t column, uint64_t *work) {
    size_t count = c->n + c->sum_count;
    uint64_t *w = work, *y = work + count;
    memset(work, 0, 2 * count * sizeof *work);
    for (size_t k = 0; k < BITS && column + k < c->n; k++) w[column + k] = UINT64_C(1) << k;
    for (size_t s = 0; s < c->sum_count; s++)
        for (size_t f = c->first[s]; f < c->first[s + 1]; f++) w[c->n + s] |= w[c->with[f]];
    for (size_t p = 0; p < c->pair_count; p++) {
        y[c->pairs[p][0]] |= w[c->pairs[p][1]];
        y[c->pairs[p][1]] |= w[c->pairs[p][0]];
    }
    for (size_t s = c->sum_count; s-- > 0;)
        for (size_t f = c->first[s]; f < c->first[s + 1]; f++) y[c->with[f]] |= y[c->n + s];
    return y;
}

/* Makes two passes over the columns: the first counts the entries of each row, and the second lists them. */
bool congruence_pattern(const congruence *c, arena *memory, sparse_block *M, uint32_t **places) {
    arena scratch;
    arena_init(&scratch, SIZE_MAX);
    const size_t n = c->n;
    uint64_t *work = arena_alloc(&scratch, 2 * (n + c->sum_count), sizeof *work);
    size_t *end = arena_alloc(&scratch, n + 1, sizeof *end), listed = 0;
    bool good = work && end;
    for (size_t j = 0; good && j < n; j += BITS) {
        const uint64_t *paths = paths_from(c, j, work);
        for (size_t i = j; i < n; i++) {
            uint64_t lower = i - j < BITS - 1 ? (UINT64_C(2) << (i - j)) - 1 : UINT64_MAX; /* columns up to i */
            end[i + 1] += (size_t)__builtin_popcountll(paths[i] & lower);
        }
    }
    for (size_t i = 0; good && i < n; i++) end[i + 1] += end[i];
    good = good && allocate_pattern(memory, n, end[n], M, places);
    for (size_t j = 0; good && j < n; j += BITS) {
        const uint64_t *paths = paths_from(c, j, work);
        for (size_t k = 0; k < BITS && j + k < n; k++)
            for (size_t i = j + k; i < n; i++) {
                if (!(paths[i] >> k & 1)) continue;
                size_t at = end[i]++; /* end[i] moves from the start of row i to its end */
                M->row[at] = (int)i;
                M->column[at] = (int)(j + k);
                (*places)[listed++] = (uint32_t)at;
            }
    }
    assert(!good || listed == M->count);
    arena_free(&scratch);
    return good;
}

void congruence_multiply(const congruence *c, const double *values, const double *x, double *work, double *product,
                         double *magnitude) {
    size_t n = c->n, count = n + c->sum_count;
    double *w = work, *size = w + count, *y = size + count, *most = y + count;
    memset(y, 0, 2 * count * sizeof *y);
    for (size_t i = 0; i < n; i++) w[i] = x[i], size[i] = fabs(x[i]);
    for (size_t s = 0; s < c->sum_count; s++) {
        double sum = 0, sizes = 0;
        for (size_t f = c->first[s]; f < c->first[s + 1]; f++) {
            sum += values[f] * w[c->with[f]];
            sizes += fabs(values[f]) * size[c->with[f]];
        }
        w[n + s] = sum;
        size[n + s] = sizes;
    }
    for (size_t p = 0; p < c->pair_count; p++) {
        size_t one = c->pairs[p][0], other = c->pairs[p][1];
        double entry = values[c->factor_count + p];
        y[one] += entry * w[other];
        most[one] += fabs(entry) * size[other];
        if (one == other) continue;
        y[other] += entry * w[one];
        most[other] += fabs(entry) * size[one];
    }
    for (size_t s = c->sum_count; s-- > 0;)
        for (size_t f = c->first[s]; f < c->first[s + 1]; f++) {
            y[c->with[f]] += values[f] * y[n + s];
            most[c->with[f]] += fabs(values[f]) * most[n + s];
        }
    memcpy(product, y, n * sizeof *y);
    memcpy(magnitude, most, n * sizeof *most);
}

void congruence_evaluate(const congruence *c, const double *values, const sparse_block *M, const uint32_t *places,
                         double *work, double *out) {
    assert(M->rows == c->n && M->columns == c->n);
    for (size_t j = 0, e = 0; j < c->n; j += WIDTH) {
        const double *y = columns_from(c, values, j, work);
        for (; e < M->count && (size_t)M->column[places[e]] < j + WIDTH; e++)
            out[places[e]] = y[WIDTH * (size_t)M->row[places[e]] + (size_t)M->column[places[e]] - j];
    }
}
