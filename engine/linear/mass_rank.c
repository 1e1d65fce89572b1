/* mass_rank.c — Cholesky factorization with diagonal pivoting of the matrix scaled to a unit diagonal. After as many
 * steps as the rank, the remaining pivots are rounding errors (Higham, Accuracy and Stability of Numerical Algorithms,
 * 2nd ed., theorem 10.14). */
#include "engine/linear/mass_rank.h"

#include "engine/base/arena.h"
#include "engine/linear/dense.h"

#include <assert.h>
#include <math.h>

/* Upper bound on the rounding error of a pivot relative to the unit diagonal, per coordinate of an uncoupled part. An
 * entry of M is a sum of a few tens of products, so its rounding error is a few tens of ε. The elimination adds nε.
 * RANK_TOLERANCE does not apply here, because it bounds the sine of an angle, and a pivot is the square of a sine. */
static const double ROUNDING = 1e-14;
/* Upper bound on the number of coordinates in an uncoupled part. Larger parts are treated as regular. A part of this
 * size takes half a megabyte, and its factorization takes a few milliseconds. */
enum { PART_MOST = 256 };

/* The uncoupled parts of M, stored as consecutive dense blocks. */
typedef struct parts {
    arena memory;
    /* n each. parent: see sparse_block_root; size, offset: size of a part and offset of its block, stored at the root
     * of the part; place: index of a coordinate in its part */
    size_t *parent, *size, *place, *offset;
    double *scale, *block; /* scale: n; block: entries of all blocks */
} parts;

static bool is_dense(const parts *p, size_t root) {
    return p->size[root] <= PART_MOST;
}

/* Returns false if out of memory. */
static bool find_parts(parts *p, const sparse_block *M, size_t n) {
    size_t entries = 0;
    p->parent = arena_alloc(&p->memory, 4 * n, sizeof *p->parent);
    if (!p->parent) return false;
    p->size = p->parent + n, p->place = p->size + n, p->offset = p->place + n;
    for (size_t i = 0; i < n; i++) p->parent[i] = i;
    sparse_block_join(M, p->parent);
    for (size_t i = 0; i < n; i++) p->place[i] = p->size[sparse_block_root(p->parent, i)]++;
    for (size_t i = 0; i < n; i++) {
        p->offset[i] = entries;
        if (is_dense(p, i)) entries += p->size[i] * p->size[i];
    }
    return ARENA_DOUBLES(&p->memory, {&p->scale, n}, {&p->block, entries});
}

/* Fills the blocks, scaled to a unit diagonal. Returns false if M is indefinite, that is, a diagonal entry is negative,
 * or 0 in a nonzero row. */
static bool fill_blocks(parts *p, const sparse_block *M, size_t n, const double *mass) {
    double most = 0;
    for (size_t e = 0; e < M->count; e++) {
        if (M->row[e] != M->column[e]) continue;
        if (mass[e] < 0) return false;
        p->scale[M->row[e]] = mass[e] > 0 ? 1 / sqrt(mass[e]) : 0;
        most = fmax(most, mass[e]);
    }
    for (size_t e = 0; e < M->count; e++) {
        size_t i = (size_t)M->row[e], j = (size_t)M->column[e], root = sparse_block_root(p->parent, i),
               size = p->size[root];
        bool massless = p->scale[i] == 0 || p->scale[j] == 0;
        if (massless && fabs(mass[e]) > ROUNDING * (double)n * most) return false;
        if (!is_dense(p, root)) continue;
        double *block = p->block + p->offset[root];
        block[p->place[i] + size * p->place[j]] = block[p->place[j] + size * p->place[i]] =
            mass[e] * p->scale[i] * p->scale[j];
    }
    return true;
}

/* Returns true if a positive semidefinite matrix with a unit diagonal is singular. Overwrites the matrix. */
static bool loses_rank(size_t n, double *a) {
    double rounding = ROUNDING * (double)n;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k; i < n; i++) {
            if (a[i + n * i] > a[best + n * best]) best = i;
            if (a[i + n * i] < -rounding) return false;
        }
        double pivot = a[best + n * best];
        if (!(pivot > rounding)) return true;
        dense_exchange(n, n, a + best, a + k);
        dense_exchange(n, 1, a + n * best, a + n * k);
        for (size_t j = k + 1; j < n; j++) {
            double factor = a[k + n * j] / pivot;
            for (size_t i = k + 1; factor != 0 && i < n; i++) a[i + n * j] -= factor * a[i + n * k];
        }
    }
    return false;
}

hamel_status mass_is_singular(const sparse_block *M, const double *values, bool *singular) {
    parts p = {0};
    size_t n = M->rows;
    assert(M->rows == M->columns);
    bool found = find_parts(&p, M, n), lost = false;
    if (found && fill_blocks(&p, M, n, values + M->at))
        for (size_t i = 0; i < n && !lost; i++)
            lost = p.scale[i] == 0 || (is_dense(&p, i) && loses_rank(p.size[i], p.block + p.offset[i]));
    *singular = lost;
    arena_free(&p.memory);
    return found ? HAMEL_OK : HAMEL_NO_MEMORY;
}
