/* impact_theorems.c — checks theorems on energies and extrema of impulsive motion (Papastavridis, Analytical Mechanics,
 * ch. 4; Pars, A Treatise on Analytical Dynamics, ch. 14).
 *
 * K(u) = ½ u·M u. P are the generalized impulses of the percussions, and e is the restitution. A constraint is fixed if
 * its equation A v = 0 has no term that is independent of the velocities. T must not have terms linear in the
 * velocities, except in Kelvin's and Robin's theorems. The equations M (v⁺ − v⁻) = P + Aᵀ Λ and A v⁺ = −e A v⁻ imply:
 *
 *   Carnot, first     no percussions; all constraints are fixed, of the types 1 and 2, and without restitution:
 *                     T⁻ − T⁺ = K(v⁻ − v⁺), because v⁺·Aᵀ Λ = 0
 *   Carnot, second    the percussions have no power at v⁻ (an explosion); all constraints are fixed, and v⁻ satisfies
 *                     them:
 *                     T⁺ − T⁻ = K(v⁺ − v⁻), because v⁻·(P + Aᵀ Λ) = 0
 *   Carnot, third     no percussions; all constraints are fixed; those that v⁻ violates share the restitution e:
 *                     T⁻ − T⁺ = (1 − e)/(1 + e) K(v⁻ − v⁺)
 *   Kelvin            percussions; all constraints are of type 1. v⁺ minimizes K(u − v⁻) among the velocities u that
 *                     satisfy the constraints and F·u = F·v⁺ for each percussion F. If v⁻ = 0, K(u − v⁻) is T.
 *   Bertrand–Delaunay percussions; fixed constraints of the types 1 and 2, without restitution. K(v⁺) is not smaller
 *                     than K(u), where u are the velocities after the same percussions with an additional fixed
 *                     constraint.
 *   Robin             v⁺ minimizes K(u − v⁻) − P·(u − v⁻) among the velocities u with A u = A v⁺. This function is
 *                     Gauss's function of impulsive motion plus a constant.
 *
 * Minima and maxima are compared with values at random alternatives (ALTERNATIVES). */
#include "engine/base/random.h"
#include "engine/base/tolerances.h"
#include "engine/linear/rank_qr.h"
#include "engine/simulate/impact_record.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of random alternatives for one theorem. For minima, the alternatives are pairs v⁺ ± x. Each pair is a tenth as
 * far from v⁺ as the preceding pair: if v⁺ is not the minimum, a smaller value may exist only near v⁺. */
enum { ALTERNATIVES = 8 };
/* Theorems on extrema need dense n × n matrices. With more coordinates, these theorems are omitted. */
enum { MOST_COORDINATES = 100 };
/* Values are treated as equal if their difference is below this fraction of the sum of the absolute values of their
 * terms. Rounding errors are about 1e-16 times the condition number of the impulse equations, as for GAIN_ROUNDING in
 * impulses.c. */
static const double THEOREM_ROUNDING = 1e-10;

typedef struct theorems {
    impact_record *r;
    const dynamics *k;
    double scale;     /* sum of the absolute values of the terms of K(v⁻), K(v⁺) and K(v⁺ − v⁻) */
    double lost;      /* K(v⁺ − v⁻) */
    bool fixed;       /* true if all constraints are fixed */
    bool agreeing;    /* true if all constraints that v⁻ violates have the same restitution */
    bool kept;        /* true if v⁻ satisfies all constraints of the shock */
    double e;         /* the common restitution */
    int highest, all; /* highest type that occurs; all: sum of 1 << type over the types that occur */
    size_t n, rows;   /* rows: number of constraints of the shock */
    arena memory;
    double *basis, *x, *y, *z; /* basis: find_freedoms, n × freedoms; x, y, z: scratch, n each */
    rank_qr qr;
    size_t freedoms;
} theorems;

/* Sets y[n] = M x and returns x·M x. */
static double multiply_mass(const theorems *w, const double *x, double *y) {
    memset(y, 0, w->n * sizeof *y);
    sparse_block_multiply_symmetric(&w->r->model->dynamics.M, w->k->values, 1, x, y);
    return dense_dot(w->n, x, y);
}

/* Returns ½ Σ |x_i M_ij x_j|, the scale of the rounding errors of K(x). */
static double magnitude_of(const theorems *w, const double *x) {
    double sum = 0;
    memset(w->y, 0, w->n * sizeof *w->y);
    sparse_block_multiply_magnitudes(&w->r->model->dynamics.M, w->k->values, x, w->y);
    for (size_t i = 0; i < w->n; i++) sum += 0.5 * fabs(x[i]) * w->y[i];
    return sum;
}

static bool agree(const theorems *w, double a, double b) {
    return fabs(a - b) <= THEOREM_ROUNDING * w->scale;
}

static void add(theorems *w, const char *name, double actual, double other, size_t alternatives, bool holds) {
    hamel_impact *out = &w->r->impact;
    assert(out->theorem_count < HAMEL_IMPACT_THEOREMS);
    w->r->theorems[out->theorem_count++] = (hamel_impact_theorem){name, actual, other, alternatives, holds};
}

/* --- hypotheses --------------------------------------------------------------------------------------------------- */

/* Sets w->fixed, agreeing, kept, e, highest and all from the rates ψ⁻ = A v⁻ + f of the constraints. A constraint is
 * fixed if f = 0. */
static void look_at_constraints(theorems *w) {
    const impact_record *r = w->r;
    const sparse_block *A = &r->model->dynamics.A;
    const double *values = w->k->values + A->at;
    bool first = true;
    w->fixed = w->agreeing = w->kept = true;
    for (size_t c = 0, e = 0, at = 0; c < r->model->m; c++) {
        double own = 0, size = 0;
        for (; e < A->count && (size_t)A->row[e] == c; e++) {
            own += values[e] * r->v[A->column[e]];
            size += fabs(values[e] * r->v[A->column[e]]) + fabs(values[e] * r->after[A->column[e]]);
        }
        if (!r->during[c]) continue;
        int type = r->list[at++].type;
        w->all |= 1 << type;
        if (type > w->highest) w->highest = type;
        if (fabs(r->rate[c] - own) > THEOREM_ROUNDING * size) w->fixed = false;
        if (fabs(r->rate[c]) <= THEOREM_ROUNDING * size) continue;
        w->kept = false;
        if (!first && r->restitution[c] != w->e) w->agreeing = false;
        w->e = r->restitution[c];
        first = false;
    }
}

/* --- Carnot ------------------------------------------------------------------------------------------------------- */

static void check_carnot(theorems *w) {
    const hamel_impact *out = &w->r->impact;
    double gained = out->kinetic_after - out->kinetic_before, power = 0, size = 0;
    const double *P = w->r->momentum;
    for (size_t i = 0; i < w->n; i++) {
        power += P[i] * w->r->v[i];
        size += fabs(P[i] * w->r->v[i]);
    }
    if (!w->fixed || w->lost <= 0) return;
    if (out->has_percussion) {
        if (w->kept && fabs(power) <= THEOREM_ROUNDING * size)
            add(w, "carnot_second", gained, w->lost, 0, agree(w, gained, w->lost));
        return;
    }
    if (w->kept || !w->agreeing) return;
    double loss = out->kinetic_before - out->kinetic_after, part = (1 - w->e) / (1 + w->e) * w->lost;
    bool first = w->highest <= 2 && w->e == 0;
    add(w, first ? "carnot_first" : "carnot_third", loss, part, 0, agree(w, loss, part));
}

/* --- extrema ------------------------------------------------------------------------------------------------------ */

/* Sets w->basis and w->freedoms to a basis of the velocities x with A x = 0 for the constraints of the shock. If
 * `struck` is true, x also satisfies F·x = 0 for the percussions F. Returns false if out of memory. */
static bool find_freedoms(theorems *w, bool struck) {
    const impact_record *r = w->r;
    const sparse_block *A = &r->model->dynamics.A;
    size_t k = 0, most = w->rows + (struck ? r->percussion_count : 0);
    double *rows = arena_doubles(&w->memory, w->n * (most + 1));
    if (!rows) return false;
    for (size_t c = 0, e = 0; c < r->model->m; c++) {
        bool taken = r->during[c];
        for (; e < A->count && (size_t)A->row[e] == c; e++)
            if (taken) rows[k * w->n + (size_t)A->column[e]] = w->k->values[A->at + e];
        k += taken;
    }
    if (struck) memcpy(rows + k * w->n, r->each, r->percussion_count * w->n * sizeof *rows);
    rank_qr_load(&w->qr, most, rows, NULL);
    w->freedoms = rank_qr_factor(&w->qr) ? w->n - w->qr.rank : 0;
    if (w->freedoms > 0) rank_qr_free_directions(&w->qr, w->basis);
    return true;
}

/* Sets x[n] to a random linear combination of the basis, scaled to K(x) = size² K(v⁺ − v⁻). */
static void draw(theorems *w, uint64_t *seed, double size, double *x) {
    memset(x, 0, w->n * sizeof *x);
    for (size_t j = 0; j < w->freedoms; j++) {
        double factor = random_uniform(seed, -1, 1);
        for (size_t i = 0; i < w->n; i++) x[i] += factor * w->basis[j * w->n + i];
    }
    double own = 0.5 * multiply_mass(w, x, w->y);
    for (size_t i = 0; i < w->n && own > 0; i++) x[i] *= size * sqrt(w->lost / own);
}

/* Returns the function that v⁺ minimizes, at v⁺ + x: K(v⁺ + x − v⁻) if `struck` is true (Kelvin), otherwise K(v⁺ + x −
 * v⁻) − P·(v⁺ + x − v⁻) (Robin). Overwrites w->y and w->z. */
static double function_at(const theorems *w, const double *x, bool struck) {
    const impact_record *r = w->r;
    for (size_t i = 0; i < w->n; i++) w->z[i] = r->after[i] + x[i] - r->v[i];
    double value = 0.5 * multiply_mass(w, w->z, w->y);
    return struck ? value : value - dense_dot(w->n, r->momentum, w->z);
}

/* Checks Kelvin's theorem (`struck` is true) or Robin's theorem. Returns false if out of memory. */
static bool check_minimum(theorems *w, const char *name, bool struck) {
    uint64_t seed = 1;
    double least = INFINITY, *x = w->x;
    if (!find_freedoms(w, struck)) return false;
    if (w->freedoms == 0) return true;
    memset(x, 0, w->n * sizeof *x);
    double actual = function_at(w, x, struck);
    double size = 1;
    for (int i = 0; i < ALTERNATIVES / 2; i++, size /= 10) {
        draw(w, &seed, size, x);
        least = fmin(least, function_at(w, x, struck));
        for (size_t k = 0; k < w->n; k++) x[k] = -x[k];
        least = fmin(least, function_at(w, x, struck));
    }
    add(w, name, actual, least, ALTERNATIVES, actual <= least + THEOREM_ROUNDING * w->scale);
    return true;
}

/* Computes the velocities u after the shock with the additional constraint c·u = 0, in the null space Z of the
 * constraints: u = Z y, H y = Zᵀ (M v⁻ + P) + γ Zᵀc, with H = Zᵀ M Z = L Lᵀ. Returns K(u). g[freedoms] and b[freedoms]
 * are scratch. */
static double constrained_energy(theorems *w, const double *L, const double *c, double *g, double *b) {
    const impact_record *r = w->r;
    size_t f = w->freedoms, n = w->n;
    multiply_mass(w, r->v, w->y);
    for (size_t i = 0; i < n; i++) w->y[i] += r->momentum[i];
    for (size_t j = 0; j < f; j++) {
        g[j] = dense_dot(n, w->basis + j * n, c);
        b[j] = dense_dot(n, w->basis + j * n, w->y);
    }
    dense_forward(f, L, g);
    dense_forward(f, L, b);
    double length = dense_dot(f, g, g), factor = length > 0 ? dense_dot(f, g, b) / length : 0;
    for (size_t j = 0; j < f; j++) b[j] -= factor * g[j];
    return 0.5 * dense_dot(f, b, b); /* K(u) = ½ yᵀ H y with Lᵀ y = b */
}

static bool check_bertrand_delaunay(theorems *w) {
    uint64_t seed = 2;
    double most = -INFINITY;
    if (!find_freedoms(w, false)) return false;
    size_t f = w->freedoms, n = w->n;
    double *H = arena_doubles(&w->memory, f * f + 1), *g = arena_doubles(&w->memory, 2 * f + 1);
    if (!H || !g) return false;
    for (size_t j = 0; j < f; j++) {
        multiply_mass(w, w->basis + j * n, w->y);
        for (size_t i = 0; i < f; i++) H[j * f + i] = dense_dot(n, w->basis + i * n, w->y);
    }
    if (f == 0 || !dense_cholesky(f, H)) return true;
    for (int i = 0; i < ALTERNATIVES; i++) {
        for (size_t k = 0; k < n; k++) w->x[k] = random_uniform(&seed, -1, 1);
        most = fmax(most, constrained_energy(w, H, w->x, g, g + f));
    }
    double actual = 0.5 * multiply_mass(w, w->r->after, w->y);
    add(w, "bertrand_delaunay", actual, most, ALTERNATIVES, actual >= most - THEOREM_ROUNDING * w->scale);
    return true;
}

static bool check_extrema(theorems *w, bool odd) {
    bool given = w->r->impact.has_percussion, persistent = w->highest <= 2;
    bool good = ARENA_DOUBLES(&w->memory, {&w->basis, w->n * w->n}) &&
                rank_qr_create(&w->qr, w->n, w->rows + w->r->percussion_count + 1);
    if (good && given && w->highest <= 1) good = check_minimum(w, "kelvin", true);
    if (good && given && persistent && w->fixed && !odd && (w->kept || (w->agreeing && w->e == 0)))
        good = check_bertrand_delaunay(w);
    if (good) good = check_minimum(w, "robin", false);
    rank_qr_free(&w->qr);
    return good;
}

hamel_status impact_theorems_check(impact_record *r, const dynamics *k, bool odd) {
    theorems w = {.r = r, .k = k, .n = r->model->n, .rows = r->impact.constraint_count};
    r->impact.theorem_count = 0;
    if (!r->impact.has_energy || !r->model->dynamics.linear_velocities) return HAMEL_OK;
    arena_init(&w.memory, 0);
    bool good = ARENA_DOUBLES(&w.memory, {&w.x, w.n}, {&w.y, w.n}, {&w.z, w.n});
    if (good) {
        look_at_constraints(&w);
        for (size_t i = 0; i < w.n; i++) w.x[i] = r->after[i] - r->v[i];
        w.lost = 0.5 * multiply_mass(&w, w.x, w.y);
        w.scale = magnitude_of(&w, w.x) + magnitude_of(&w, r->v) + magnitude_of(&w, r->after);
        if (!odd) check_carnot(&w);
        if (w.n <= MOST_COORDINATES && w.lost > 0) good = check_extrema(&w, odd);
    }
    arena_free(&w.memory);
    return good ? HAMEL_OK : HAMEL_NO_MEMORY;
}
