/* closure.c — smallest involutive distribution that contains D (its closure), from Taylor series along one curve.
 *
 * The forms are solved for as many differentials p as there are independent forms. Each of the other columns j, which
 * include time, then gives a field
 *     X_j = ∂_j − Σ_r b_rj ∂_p(r).
 * All brackets of the X_j are vertical: V = Σ_r V^r ∂_p(r). Let A be the matrix of forms, x' = X_u = Σ u_j(s) X_j(x) a
 * curve, and H^r_l = Σ_m (∂A_rm/∂x_l) x'_m. Along this curve
 *     P_l = A_p⁻¹ H_l
 *     V_j = [X_u, X_j] = P_j − Σ_q P_p(q) b_qj − b_j'
 *     [X_u, V]^r = V^r' + Σ_q P^r_p(q) V^q
 * At a point of a generic curve, D and all these brackets span the closure (Sussmann, Trans. AMS 180 (1973) 171;
 * Sontag, J. Differential Equations 78 (1989) 105). A curve with random u(s) is generic. If one more bracket adds no
 * direction at a random point of the curve, further brackets add no direction either. The rank of the forms therefore
 * bounds the number of terms of the series. */
#include "engine/analyze/long_forms.h"
#include "engine/base/memory_left.h"

#include <assert.h>
#include <math.h>

enum { FIRST_ORDER = 4, WAY_ORDER = 16, WAY_STEPS = 4 };
/* WAY_STEPS: number of steps that lead away from a singular initial state. WAY: length of a step, relative to the
 * estimated radius of convergence of the series. WAY_NOISE: upper bound on the truncation error of a step. The error is
 * about WAY^(WAY_ORDER + 1) = 1e-22; the bound includes a safety factor of 1e4. */
static const double WAY_NOISE = 1e-18, WAY = 0.05;
/* Upper bound on the 256-bit multiplications for series of one order, which take a few seconds. */
static const double WORK_MOST = 3e7;
/* Upper bound on the 256-bit numbers for one copy of the system, which take 80 MB. */
static const size_t NUMBERS_MOST = 1000000;

/* --- one system --------------------------------------------------------------------------------------------------- */

/* Returns the number of 256-bit numbers in the series of one copy. */
static size_t numbers_of(const long_forms *c) {
    return (c->plan.count + c->rank * (2 * c->others + c->width)) * (c->order + 1);
}

/* Creates copy n of the system at c->start[n]. Returns false if out of memory. MPFR aborts if an allocation fails, so
 * memory is checked first. A 256-bit number takes as much memory as ten doubles. */
static bool series_create(const long_forms *c, copy *y, size_t n, uint64_t seed, number_pool *pool) {
    size_t each = c->order + 1, k = c->rank;
    if (!memory_left(10, numbers_of(c))) return false;
    copy_create(c, y, n, seed, pool);
    y->velocity = number_pool_take(pool, c->width * each);
    y->b = number_pool_take(pool, k * c->others * each);
    y->P = number_pool_take(pool, k * c->width * each);
    y->V = number_pool_take(pool, k * c->others * each);
    for (size_t l = 0; l < c->width && !pool->failed; l++) mpfr_set(y->x[l], c->start[n][l], MPFR_RNDN);
    return !pool->failed;
}

/* Computes the series of x, x' and all nodes along the curve. Returns false if a value is not finite. */
static bool follow_curve(const long_forms *c, copy *y) {
    if (!copy_settle(c, y)) return false;
    for (size_t k = 0; k <= c->order; k++) {
        if (k > 0) taylor_step(&y->t, k);
        copy_clear_right(c, y);
        for (size_t j = 0; j < c->others; j++)
            mpfr_set_d(term(y->velocity, c->other[j], c->order, k), c->control[c->other[j] * (c->order + 1) + k],
                       MPFR_RNDN);
        for (size_t e = 0; e < c->f->entry_count; e++) {
            size_t column = c->f->entry_column[e];
            if (c->row[e] == c->rank || c->solved[column] < c->rank) continue;
            for (size_t i = 0; i <= k; i++)
                add_to(y->right[c->row[e]], -1, taylor_coefficient(&y->t, c->place[e], i),
                       term(y->velocity, column, c->order, k - i), y->t.scratch[0]);
        }
        /* V temporarily contains the series of the pivots' velocities: copy_solve reads the lower orders */
        copy_solve(c, y, y->V, 0, c->others, k);
        for (size_t q = 0; q < c->rank; q++)
            mpfr_set(term(y->velocity, c->pivot[q], c->order, k), term(y->V, q * c->others, c->order, k), MPFR_RNDN);
        for (size_t l = 0; k < c->order && l < c->width; l++) {
            mpfr_div_ui(y->right[0], term(y->velocity, l, c->order, k), k + 1, MPFR_RNDN);
            copy_set(c, y, l, k + 1, y->right[0]);
        }
    }
    for (size_t e = 0; e < c->f->entry_count; e++)
        for (size_t k = 0; c->row[e] < c->rank && k <= c->order; k++)
            if (!mpfr_number_p(taylor_coefficient(&y->t, c->place[e], k))) return false;
    return true;
}

static void solve_coefficients(const long_forms *c, copy *y) {
    for (size_t j = 0; j < c->others; j++)
        for (size_t k = 0; k <= c->order; k++) {
            copy_clear_right(c, y);
            for (size_t e = 0; e < c->f->entry_count; e++)
                if (c->row[e] < c->rank && c->f->entry_column[e] == c->other[j])
                    mpfr_set(y->right[c->row[e]], taylor_coefficient(&y->t, c->place[e], k), MPFR_RNDN);
            copy_solve(c, y, y->b, j, c->others, k);
        }
}

/* Computes P_l = A_p⁻¹ H_l. The derivatives (slopes) are listed by entry, so the list is searched for each column. */
static void solve_slopes(const long_forms *c, copy *y) {
    for (size_t l = 0; l < c->width; l++) {
        bool any = false;
        for (size_t i = 0; i < c->slope_count; i++) any |= c->slopes[i].column == l;
        for (size_t k = 0; any && k <= c->order; k++) {
            copy_clear_right(c, y);
            for (size_t s = 0; s < c->slope_count; s++) {
                if (c->slopes[s].column != l) continue;
                size_t e = c->slopes[s].entry;
                for (size_t i = 0; i <= k; i++)
                    add_to(y->right[c->row[e]], 1, taylor_coefficient(&y->t, c->slopes[s].place, i),
                           term(y->velocity, c->f->entry_column[e], c->order, k - i), y->t.scratch[0]);
            }
            copy_solve(c, y, y->P, l, c->width, k);
        }
    }
}

/* Computes V_j and the size of its terms at the first point of the curve. */
static void first_brackets(const long_forms *c, copy *y) {
    size_t order = c->order;
    for (size_t r = 0; r < c->rank; r++) {
        mpfr_set_ui(y->scale[r], 1, MPFR_RNDN); /* the coefficient of the pivot */
        for (size_t j = 0; j < c->others; j++) {
            size_t at = r * c->others + j, column = r * c->width + c->other[j];
            enlarge(y->scale[r], term(y->b, at, order, 0));
            for (size_t k = 0; k < order; k++) {
                mpfr_ptr to = term(y->V, at, order, k);
                mpfr_mul_ui(y->right[0], term(y->b, at, order, k + 1), k + 1, MPFR_RNDN);
                mpfr_sub(to, term(y->P, column, order, k), y->right[0], MPFR_RNDN);
                if (k == 0) enlarge(y->scale[r], y->right[0]);
                for (size_t q = 0; q < c->rank; q++)
                    for (size_t i = 0; i <= k; i++) {
                        mpfr_set_zero(y->t.scratch[0], 1);
                        add_to(to, -1, term(y->P, r * c->width + c->pivot[q], order, i),
                               term(y->b, q * c->others + j, order, k - i), y->t.scratch[0]);
                        if (k == 0) enlarge(y->scale[r], y->t.scratch[0]);
                    }
            }
            enlarge(y->scale[r], term(y->P, column, order, 0));
        }
    }
}

/* Replaces V by [X_u, V], whose series is one term shorter and has `left` terms. Coefficient k depends on coefficients
 * up to k + 1 of all rows of a column of V, so the column is copied first. */
static void next_brackets(const long_forms *c, copy *y, size_t left, mpfr_t *column) {
    assert(left > 0 && left <= c->order);
    for (size_t j = 0; j < c->others; j++) {
        for (size_t r = 0; r < c->rank; r++)
            for (size_t k = 0; k <= left; k++)
                mpfr_set(term(column, r, c->order, k), term(y->V, r * c->others + j, c->order, k), MPFR_RNDN);
        for (size_t r = 0; r < c->rank; r++)
            for (size_t k = 0; k < left; k++) {
                mpfr_ptr to = term(y->V, r * c->others + j, c->order, k);
                mpfr_mul_ui(to, term(column, r, c->order, k + 1), k + 1, MPFR_RNDN);
                if (k == 0) enlarge(y->scale[r], to);
                for (size_t q = 0; q < c->rank; q++)
                    for (size_t i = 0; i <= k; i++) {
                        mpfr_set_zero(y->t.scratch[0], 1);
                        add_to(to, 1, term(y->P, r * c->width + c->pivot[q], c->order, i),
                               term(column, q, c->order, k - i), y->t.scratch[0]);
                        if (k == 0) enlarge(y->scale[r], y->t.scratch[0]);
                    }
            }
    }
}

/* --- brackets at the first point of the curve --------------------------------------------------------------------- */

/* Computes [X_i, X_j] without the factor A_p⁻¹: Σ (∂A_rm/∂x_l) (X_i^m X_j^l − X_j^m X_i^l). */
static void pair(const long_forms *c, copy *y, size_t i, size_t j, mpfr_t *to, mpfr_t *field_i, mpfr_t *field_j) {
    mpfr_t *const fields[] = {field_i, field_j};
    const size_t which[] = {i, j};
    for (int n = 0; n < 2; n++) {
        for (size_t l = 0; l < c->width; l++) mpfr_set_zero(fields[n][l], 1);
        mpfr_set_ui(fields[n][c->other[which[n]]], 1, MPFR_RNDN);
        for (size_t q = 0; q < c->rank; q++)
            mpfr_neg(fields[n][c->pivot[q]], term(y->b, q * c->others + which[n], c->order, 0), MPFR_RNDN);
    }
    for (size_t r = 0; r < c->rank; r++) mpfr_set_zero(to[r], 1);
    for (size_t s = 0; s < c->slope_count; s++) {
        size_t e = c->slopes[s].entry, m = c->f->entry_column[e], l = c->slopes[s].column;
        mpfr_ptr t = y->t.scratch[0], u = y->t.scratch[1];
        for (int sign = 1; sign >= -1; sign -= 2) {
            mpfr_srcptr x = sign > 0 ? field_i[m] : field_j[m], z = sign > 0 ? field_j[l] : field_i[l];
            if (mpfr_zero_p(x) || mpfr_zero_p(z)) continue;
            mpfr_mul(u, x, z, MPFR_RNDN);
            mpfr_set_zero(t, 1);
            add_to(to[c->row[e]], sign, taylor_coefficient(&y->t, c->slopes[s].place, 0), u, t);
            enlarge(y->scale[c->row[e]], t);
        }
    }
}

/* Counts the directions that first-order brackets add. */
static bool count_pairs(long_forms *c, copy *copies, size_t most, size_t *first, number_pool *pool) {
    assert(most <= c->rank);
    directions d;
    mpfr_t *fields = number_pool_take(pool, 2 * c->width);
    bool good = directions_create(&d, c, pool);
    for (size_t n = 0; good && n < COPIES; n++)
        for (size_t r = 0; r < c->rank; r++) {
            mpfr_set_zero(copies[n].scale[r], 1);
            for (size_t e = 0; e < c->f->entry_count; e++) {
                if (c->row[e] == r) enlarge(copies[n].scale[r], taylor_coefficient(&copies[n].t, c->place[e], 0));
            }
        }
    for (size_t i = 1; good && i < c->others; i++)
        for (size_t j = 0; j < i && d.count < most; j++) {
            for (size_t n = 0; n < COPIES; n++) pair(c, &copies[n], i, j, d.next[n], fields, fields + c->width);
            (void)directions_add(&d, copies);
        }
    *first = d.count;
    return good;
}

/* Counts the directions that brackets of all orders add along the curve. Sets *closed to true if further brackets add
 * no direction. */
static bool count_all(long_forms *c, copy *copies, size_t most, size_t *all, bool *closed, number_pool *pool) {
    directions d;
    mpfr_t *column = number_pool_take(pool, c->rank * (c->order + 1) + 1);
    bool good = directions_create(&d, c, pool);
    *closed = false;
    for (size_t n = 0; good && n < COPIES; n++) first_brackets(c, &copies[n]);
    for (size_t left = c->order; good && left-- > 0 && !*closed;) {
        size_t before = d.count;
        for (size_t j = 0; j < c->others && d.count < most; j++) {
            for (size_t n = 0; n < COPIES; n++)
                for (size_t r = 0; r < c->rank; r++)
                    mpfr_set(d.next[n][r], term(copies[n].V, r * c->others + j, c->order, 0), MPFR_RNDN);
            (void)directions_add(&d, copies);
        }
        *closed = d.count == before || d.count == most;
        for (size_t n = 0; !*closed && left > 0 && n < COPIES; n++) next_brackets(c, &copies[n], left, column);
    }
    *all = d.count;
    return good;
}

/* Returns true if one copy of the system, with series of order c->order, needs at most WORK_MOST multiplications and
 * NUMBERS_MOST numbers. */
static bool is_affordable(const long_forms *c) {
    double each = 0.5 * (double)(c->order + 1) * (double)(c->order + 2), rank = (double)c->rank;
    double solved =
        (double)(c->others + c->width) * ((double)c->f->entry_count * each + rank * rank * (double)c->order);
    double levels = (double)c->order * (double)c->others * rank * rank * each;
    return (double)c->plan.count * each + solved + levels <= WORK_MOST && numbers_of(c) <= NUMBERS_MOST;
}

/* Counts the directions that first-order brackets add, and those that brackets of all orders add, with series of order
 * c->order. */
static hamel_status measure_closure(long_forms *c, uint64_t seed, size_t most, size_t *first, size_t *all,
                                    bool *closed) {
    copy copies[COPIES] = {{.x = NULL}};
    number_pool pool = {0};
    uint64_t control_seed = seed;
    bool good = true, finite = true;
    for (size_t i = 0; i < c->width * (c->order + 1); i++) c->control[i] = random_uniform(&control_seed, -1, 1);
    for (size_t n = 0; n < COPIES && good; n++) good = series_create(c, &copies[n], n, seed, &pool);
    for (size_t n = 0; n < COPIES && good && finite; n++) {
        finite = follow_curve(c, &copies[n]);
        if (!finite || system_interrupted(c->f->a->system)) break;
        solve_coefficients(c, &copies[n]);
        solve_slopes(c, &copies[n]);
    }
    if (good && finite && c->f->a->error->status == HAMEL_OK)
        good = count_pairs(c, copies, most, first, &pool) && count_all(c, copies, most, all, closed, &pool);
    number_pool_free(&pool);
    if (!good) return analysis_no_memory(c->f->a);
    return c->f->a->error->status != HAMEL_OK || finite ? c->f->a->error->status : HAMEL_NOT_FINITE;
}

/* Moves the first point of copy n's curve along its series, by WAY times the estimated radius of convergence. */
static void advance_start(long_forms *c, size_t n, copy *y) {
    double fastest = 1;
    for (size_t l = 0; l < c->width; l++)
        for (size_t k = 1; k <= c->order; k++) {
            double size = fabs(mpfr_get_d(term(y->velocity, l, c->order, k), MPFR_RNDN));
            fastest = fmax(fastest, pow(size, 1 / (double)k));
        }
    for (size_t l = 0; l < c->width; l++) {
        mpfr_set_zero(y->right[0], 1);
        for (size_t k = c->order + 1; k-- > 0;) { /* Horner: Σ x'_k s^(k+1)/(k+1) */
            mpfr_div_ui(y->t.scratch[0], term(y->velocity, l, c->order, k), k + 1, MPFR_RNDN);
            mpfr_add(y->right[0], y->right[0], y->t.scratch[0], MPFR_RNDN);
            mpfr_mul_d(y->right[0], y->right[0], WAY / fastest, MPFR_RNDN);
        }
        mpfr_add(c->start[n][l], y->x[l], y->right[0], MPFR_RNDN);
    }
}

/* Moves each copy WAY_STEPS steps along curves away from its initial point. The initial points of the copies differ by
 * as much as the coefficients of the copies. An initial state that lies on a singular leaf to double precision is
 * therefore recognized as singular. Sets *good to false if a value is not finite or the work is too large. */
static hamel_status leave_start(long_forms *c, uint64_t seed, bool *good) {
    c->order = WAY_ORDER;
    *good = is_affordable(c);
    for (size_t i = 0; i < (size_t)WAY_STEPS * COPIES && *good; i++) {
        size_t n = i % COPIES;
        copy y = {.x = NULL};
        number_pool pool = {0};
        for (size_t l = 0; n == 0 && l < c->width; l++)
            for (size_t k = 0; k < 2; k++) c->control[l * (c->order + 1) + k] = random_uniform(&seed, -1, 1);
        bool made = series_create(c, &y, n, seed, &pool);
        *good = made && follow_curve(c, &y);
        if (*good) advance_start(c, n, &y);
        number_pool_free(&pool);
        if (!made) return analysis_no_memory(c->f->a);
        if (system_interrupted(c->f->a->system)) return c->f->a->error->status;
    }
    return HAMEL_OK;
}

/* Sets the initial point of all copies to x. If `changed`, perturbs this point in all copies except the first. */
static bool set_start(long_forms *c, const double *x, uint64_t seed, bool changed, number_pool *pool) {
    for (size_t n = 0; n < COPIES; n++) {
        c->start[n] = number_pool_take(pool, c->width);
        if (!c->start[n]) return false;
        for (size_t l = 0; l < c->width; l++) {
            double by = random_uniform(&seed, -LONG_CHANGE, LONG_CHANGE) * fmax(1, fabs(x[l]));
            mpfr_set_d(c->start[n][l], x[l], MPFR_RNDN);
            if (changed && n > 0) mpfr_add_d(c->start[n][l], c->start[n][l], by, MPFR_RNDN);
        }
    }
    return true;
}

static hamel_status find_closure(long_forms *c, const double *x, uint64_t seed, bool reached, size_t most,
                                 size_t *first, size_t *all, bool *clear) {
    assert(most <= c->rank);
    *clear = false;
    if (!long_forms_plan(c, true)) return analysis_stopped(c->f->a);
    if (!forms_evaluate(c->f, x) || !long_forms_pivots(c)) return HAMEL_NOT_FINITE;
    number_pool pool = {0};
    size_t longest = most + 2;
    c->control = arena_doubles(&c->memory, c->width * (longest + WAY_ORDER));
    bool good = set_start(c, x, seed, reached, &pool) && c->control;
    hamel_status status = good ? HAMEL_OK : analysis_no_memory(c->f->a);
    if (good && reached) status = leave_start(c, seed, &good);
    for (c->order = FIRST_ORDER; good && status == HAMEL_OK && !*clear; c->order *= 2) {
        if (c->order > longest) c->order = longest;
        if (!is_affordable(c)) break;
        status = measure_closure(c, seed, most, first, all, clear);
        if (c->order == longest) break;
    }
    number_pool_free(&pool);
    mpfr_free_cache();
    return status;
}

hamel_status closure_dimension(forms *f, const double *x, uint64_t seed, bool reached, size_t *first, size_t *dimension,
                               bool *clear) {
    long_forms c = {.f = f,
                    .width = f->width,
                    .rank = f->rank,
                    .others = f->width - f->rank,
                    .noise = reached ? WAY_NOISE : LONG_NOISE};
    size_t all = 0, added = 0;
    *clear = true;
    *first = *dimension = c.others;
    if (c.others == 0) return HAMEL_OK;
    arena_init(&c.memory, f->a->model->limits.memory);
    hamel_status status = find_closure(&c, x, seed, reached, f->rank - f->holonomic_rank, &added, &all, clear);
    arena_free(&c.memory);
    *first = c.others + added;
    *dimension = c.others + (all > added ? all : added);
    return status;
}
