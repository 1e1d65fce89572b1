/* closure.c — the smallest involutive distribution that contains D, from Taylor series along one curve.
 *
 * The forms, solved for as many differentials p as there are independent ones, leave the fields
 *     X_j = ∂_j − Σ_r b_rj ∂_p(r)         j: the other columns, time among them
 * and all their brackets are vertical: V = Σ_r V^r ∂_p(r). Along a curve x' = X_u = Σ u_j(s) X_j(x) let, with A the
 * matrix of forms and H^r_l = Σ_m (∂A_rm/∂x_l) x'_m,
 *     P_l = A_p⁻¹ H_l
 *     V_j = [X_u, X_j] = P_j − Σ_q P_p(q) b_qj − b_j'
 *     [X_u, V]^r = V^r' + Σ_q P^r_p(q) V^q
 * The span of D and of all these brackets at one point of a curve that is general enough is the closure (Sussmann,
 * Trans. AMS 180 (1973) 171; Sontag, J. Differential Equations 78 (1989) 105); a curve of random u(s) is. If one more
 * bracket adds nothing at a random point of the curve, no further bracket does. So the rank of forms bounds the length
 * of the series.
 *
 * Everything is computed with TAYLOR_BITS bits, so that rounding of the computation cannot be mistaken for a bracket.
 * Coefficients given as decimals are still rounded: 0.3 is not 3 times 0.1 in doubles. So everything is also computed
 * for two more systems, whose coefficients differ by CHANGE, and a direction counts if it is larger than SIGNAL times
 * the difference between the systems. No threshold for the size of a bracket is needed. */
#include "engine/analyze/forms.h"
#include "engine/analyze/taylor.h"
#include "engine/base/memory_left.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 3, FIRST_ORDER = 4, NEWTON_STEPS = 6, WAY_ORDER = 16, WAY_STEPS = 4 };
static const double CHANGE = 0x1p-46; /* a hundred times the rounding of a double */
static const double SIGNAL = 1e3;
static const double NOISE = 0x1p-200; /* of a bracket's terms and of the coefficients: TAYLOR_BITS less what cancels */
/* The path from a singular start: the error of steps of WAY times the length that the series allow. */
static const double WAY_NOISE = 1e-18, WAY = 0.05;
static const double WORK_MOST = 3e7;        /* products of numbers for one order; some seconds */
static const size_t NUMBERS_MOST = 1000000; /* of one system; 80 MB */

/* ∂(entry)/∂(column) */
typedef struct slope {
    size_t entry, column, place;
} slope;

typedef struct closure {
    forms *f;
    arena memory;
    taylor_plan plan;
    size_t width, rank, others, order;
    size_t *row;           /* entry → position among the chosen rows; rank for others */
    size_t *place;         /* entry → place of its node */
    size_t *variable;      /* column → place of its symbol; plan.count where no expression contains it */
    size_t *residual;      /* row → place of Φ of a holonomic constraint; plan.count for others */
    size_t *pivot, *other; /* columns: rank; width − rank */
    size_t *solved;        /* column → position in pivot; rank for others */
    slope *slopes;
    size_t slope_count;
    double *control;       /* width × (order + 1): u */
    double *matrix;        /* rank × width */
    double noise;          /* of a bracket, in units of its terms */
    mpfr_t *start[COPIES]; /* width: of each system's curve */
} closure;

/* One of the systems. Series are one after another, each of order + 1 coefficients. */
typedef struct copy {
    taylor t;
    mpfr_t *x;            /* width */
    mpfr_t *velocity;     /* width */
    mpfr_t *inverse;      /* rank × rank numbers: of A_p at the start */
    mpfr_t *b;            /* rank × others */
    mpfr_t *P;            /* rank × width */
    mpfr_t *V;            /* rank × others */
    mpfr_t *right, *work; /* rank; rank × 2 rank numbers */
    mpfr_t *scale;        /* rank: the largest coefficient or term of a component */
} copy;

/* The rows kept so far, for all copies, each reduced by the previous rows. */
typedef struct directions {
    size_t rank, count;
    double noise;         /* of a bracket, in units of its terms */
    size_t *pivot;        /* component that is 1 */
    mpfr_t *rows[COPIES]; /* rank × rank */
    mpfr_t *next[COPIES]; /* rank */
} directions;

/* --- the plan ------------------------------------------------------------------------------------------------------ */

static graph_node symbol_of(const forms *f, size_t column) {
    graph *g = f->a->system->graph;
    return column < f->coordinate_count ? graph_symbol(g, SYMBOL_COORDINATE, f->coordinates[column])
                                        : graph_symbol(g, SYMBOL_TIME, 0);
}

static size_t chosen_row(const forms *f, size_t row) {
    for (size_t k = 0; k < f->rank; k++)
        if (f->chosen[k] == row) return k;
    return f->rank;
}

/* The derivatives of the chosen rows' entries, and all roots. NULL without memory, or when the graph failed. */
static graph_node *list_roots(closure *c, size_t *count) {
    forms *f = c->f;
    graph *g = f->a->system->graph;
    size_t capacity = 0;
    graph_node *roots = arena_alloc(&c->memory, f->entry_count * (c->width + 1) + c->rank, sizeof *roots);
    *count = 0;
    if (!roots) return NULL;
    for (size_t e = 0; e < f->entry_count; e++) {
        c->row[e] = chosen_row(f, f->entry_row[e]);
        if (c->row[e] == c->rank) continue;
        roots[(*count)++] = f->nodes[e];
        for (size_t l = 0; l < c->width; l++) {
            graph_node node = graph_partial(g, f->nodes[e], symbol_of(f, l));
            if (node < 0) return NULL;
            if (graph_is_zero(g, node)) continue;
            slope *slopes = arena_grow(&c->memory, c->slopes, &capacity, c->slope_count + 1, sizeof *slopes);
            if (!slopes) return NULL;
            c->slopes = slopes;
            slopes[c->slope_count++] = (slope){e, l, (size_t)node};
            roots[(*count)++] = node;
        }
    }
    for (size_t r = 0; r < c->rank; r++)
        if (f->chosen[r] < f->holonomic_count)
            roots[(*count)++] = f->a->system->constraints[f->rows[f->chosen[r]]].equation;
    return roots;
}

static bool make_plan(closure *c) {
    forms *f = c->f;
    size_t count;
    c->row = arena_alloc(&c->memory, f->entry_count, sizeof *c->row);
    c->place = arena_alloc(&c->memory, f->entry_count, sizeof *c->place);
    c->variable = arena_alloc(&c->memory, c->width, sizeof *c->variable);
    c->residual = arena_alloc(&c->memory, c->rank, sizeof *c->residual);
    c->pivot = arena_alloc(&c->memory, c->rank, sizeof *c->pivot);
    c->other = arena_alloc(&c->memory, c->width, sizeof *c->other);
    c->solved = arena_alloc(&c->memory, c->width, sizeof *c->solved);
    c->matrix = arena_alloc(&c->memory, c->rank * c->width, sizeof *c->matrix);
    if (!c->row || !c->place || !c->variable || !c->residual || !c->pivot || !c->other || !c->solved || !c->matrix)
        return false;
    graph_node *roots = list_roots(c, &count);
    if (!roots || !taylor_plan_create(&c->plan, f->a->system->graph, roots, count, &c->memory)) return false;
    for (size_t e = 0; e < f->entry_count; e++)
        c->place[e] = c->row[e] < c->rank ? taylor_place(&c->plan, f->nodes[e]) : 0;
    for (size_t k = 0; k < c->slope_count; k++)
        c->slopes[k].place = taylor_place(&c->plan, (graph_node)c->slopes[k].place);
    for (size_t l = 0; l < c->width; l++) {
        graph_node node = symbol_of(f, l);
        c->variable[l] = taylor_place(&c->plan, node);
        if (c->variable[l] < c->plan.count && c->plan.nodes[c->variable[l]] != node) c->variable[l] = c->plan.count;
    }
    for (size_t r = 0; r < c->rank; r++) {
        graph_node equation = f->a->system->constraints[f->rows[f->chosen[r]]].equation;
        c->residual[r] = f->chosen[r] < f->holonomic_count ? taylor_place(&c->plan, equation) : c->plan.count;
    }
    return true;
}

/* Columns to solve for, by elimination with the entry that is largest in its row, time excepted. False at a singular point. */
static bool choose_pivots(closure *c) {
    size_t n = c->f->coordinate_count, count = 0;
    double *a = c->matrix;
    for (size_t l = 0; l < c->width; l++) c->solved[l] = c->rank;
    for (size_t r = 0; r < c->rank; r++) forms_row(c->f, c->f->chosen[r], a + r * c->width);
    for (size_t r = 0; r < c->rank; r++) {
        size_t column = n;
        double best = 0;
        for (size_t l = 0; l < n; l++)
            if (c->solved[l] == c->rank && fabs(a[r * c->width + l]) > best) {
                best = fabs(a[r * c->width + l]);
                column = l;
            }
        if (column == n) return false;
        c->pivot[r] = column;
        c->solved[column] = r;
        for (size_t i = r + 1; i < c->rank; i++) {
            double factor = a[i * c->width + column] / a[r * c->width + column];
            for (size_t l = 0; factor != 0 && l < n; l++) a[i * c->width + l] -= factor * a[r * c->width + l];
            a[i * c->width + column] = 0;
        }
    }
    for (size_t l = 0; l < c->width; l++)
        if (c->solved[l] == c->rank) c->other[count++] = l;
    return count == c->others;
}

/* --- one system ---------------------------------------------------------------------------------------------------- */

static mpfr_ptr term(mpfr_t *series, size_t which, size_t order, size_t k) {
    return series[which * (order + 1) + k];
}

/* to += or −= x y */
static void add_to(mpfr_ptr to, int sign, mpfr_srcptr x, mpfr_srcptr y, mpfr_ptr scratch) {
    if (mpfr_zero_p(x) || mpfr_zero_p(y)) return;
    mpfr_mul(scratch, x, y, MPFR_RNDN);
    if (sign > 0)
        mpfr_add(to, to, scratch, MPFR_RNDN);
    else
        mpfr_sub(to, to, scratch, MPFR_RNDN);
}

static void copy_free(const closure *c, copy *y) {
    size_t each = c->order + 1, k = c->rank;
    taylor_free(&y->t);
    taylor_numbers_free(y->x, c->width);
    taylor_numbers_free(y->velocity, c->width * each);
    taylor_numbers_free(y->inverse, k * k);
    taylor_numbers_free(y->b, k * c->others * each);
    taylor_numbers_free(y->P, k * c->width * each);
    taylor_numbers_free(y->V, k * c->others * each);
    taylor_numbers_free(y->right, k + 1);
    taylor_numbers_free(y->work, 2 * k * k);
    taylor_numbers_free(y->scale, k);
    *y = (copy){0};
}

/* Of one system. */
static size_t numbers_of(const closure *c) {
    return (c->plan.count + c->rank * (2 * c->others + c->width)) * (c->order + 1);
}

/* False without memory. MPFR does not check its allocations; a number takes the space of ten doubles. */
static bool copy_create(const closure *c, copy *y, double change, uint64_t seed) {
    size_t each = c->order + 1, k = c->rank;
    const double *parameters =
        model_inputs(c->f->a->model, NULL, NULL, NULL, NULL, NULL, NULL).values[SYMBOL_PARAMETER];
    if (!memory_left(10, numbers_of(c))) return false;
    bool good = taylor_init(&y->t, &c->plan, c->order, parameters, change, seed);
    y->x = taylor_numbers(c->width);
    y->velocity = taylor_numbers(c->width * each);
    y->inverse = taylor_numbers(k * k);
    y->b = taylor_numbers(k * c->others * each);
    y->P = taylor_numbers(k * c->width * each);
    y->V = taylor_numbers(k * c->others * each);
    y->right = taylor_numbers(k + 1);
    y->work = taylor_numbers(2 * k * k);
    y->scale = taylor_numbers(k);
    return good && y->x && y->velocity && y->inverse && y->b && y->P && y->V && y->right && y->work && y->scale;
}

static void set_variable(const closure *c, copy *y, size_t column, size_t k, mpfr_srcptr value) {
    if (c->variable[column] < c->plan.count)
        mpfr_set(taylor_coefficient(&y->t, c->variable[column], k), value, MPFR_RNDN);
}

/* Gauss–Jordan with the largest pivot of a column, on A_p | 1. False where A_p is singular or not finite. */
static bool invert(const closure *c, copy *y) {
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

/* Coefficient k of S in A_p S = R, of which right[] holds that of R; S has `stride` series from one row to the next. */
static void solve_for(const closure *c, copy *y, mpfr_t *S, size_t first, size_t stride, size_t k) {
    size_t rank = c->rank;
    for (size_t e = 0; k > 0 && e < c->f->entry_count; e++) {
        size_t q = c->solved[c->f->entry_column[e]];
        if (c->row[e] == rank || q == rank) continue;
        for (size_t i = 1; i <= k; i++)
            add_to(y->right[c->row[e]], -1, taylor_coefficient(&y->t, c->place[e], i),
                   term(S, first + q * stride, c->order, k - i), y->t.scratch[0]);
    }
    for (size_t q = 0; q < rank; q++) {
        mpfr_ptr to = term(S, first + q * stride, c->order, k);
        mpfr_set_zero(to, 1);
        for (size_t r = 0; r < rank; r++) add_to(to, 1, y->inverse[q * rank + r], y->right[r], y->t.scratch[0]);
    }
}

static void clear_right(const closure *c, copy *y) {
    for (size_t r = 0; r < c->rank; r++) mpfr_set_zero(y->right[r], 1);
}

/* Onto the chosen holonomic constraints, by Newton's method in the pivots: the sample satisfies them to rounding of doubles. */
static bool settle(const closure *c, copy *y) {
    bool holonomic = false;
    for (size_t l = 0; l < c->width; l++) set_variable(c, y, l, 0, y->x[l]);
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
            set_variable(c, y, c->pivot[q], 0, x);
        }
    }
    return false;
}

/* Series of x and x' along the curve, and of all nodes. False where something is not finite. */
static bool follow(const closure *c, copy *y) {
    if (!settle(c, y)) return false;
    for (size_t k = 0; k <= c->order; k++) {
        if (k > 0) taylor_step(&y->t, k);
        clear_right(c, y);
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
        /* the rows of V hold the velocities of the pivots until solve_for has read the lower orders */
        solve_for(c, y, y->V, 0, c->others, k);
        for (size_t q = 0; q < c->rank; q++)
            mpfr_set(term(y->velocity, c->pivot[q], c->order, k), term(y->V, q * c->others, c->order, k), MPFR_RNDN);
        for (size_t l = 0; k < c->order && l < c->width; l++) {
            mpfr_div_ui(y->right[0], term(y->velocity, l, c->order, k), k + 1, MPFR_RNDN);
            set_variable(c, y, l, k + 1, y->right[0]);
        }
    }
    for (size_t e = 0; e < c->f->entry_count; e++)
        for (size_t k = 0; c->row[e] < c->rank && k <= c->order; k++)
            if (!mpfr_number_p(taylor_coefficient(&y->t, c->place[e], k))) return false;
    return true;
}

static void solve_coefficients(const closure *c, copy *y) {
    for (size_t j = 0; j < c->others; j++)
        for (size_t k = 0; k <= c->order; k++) {
            clear_right(c, y);
            for (size_t e = 0; e < c->f->entry_count; e++)
                if (c->row[e] < c->rank && c->f->entry_column[e] == c->other[j])
                    mpfr_set(y->right[c->row[e]], taylor_coefficient(&y->t, c->place[e], k), MPFR_RNDN);
            solve_for(c, y, y->b, j, c->others, k);
        }
}

/* P_l = A_p⁻¹ H_l. Slopes are listed by entries, so each column looks for its own. */
static void solve_slopes(const closure *c, copy *y) {
    for (size_t l = 0; l < c->width; l++) {
        bool any = false;
        for (size_t i = 0; i < c->slope_count; i++) any |= c->slopes[i].column == l;
        for (size_t k = 0; any && k <= c->order; k++) {
            clear_right(c, y);
            for (size_t s = 0; s < c->slope_count; s++) {
                if (c->slopes[s].column != l) continue;
                size_t e = c->slopes[s].entry;
                for (size_t i = 0; i <= k; i++)
                    add_to(y->right[c->row[e]], 1, taylor_coefficient(&y->t, c->slopes[s].place, i),
                           term(y->velocity, c->f->entry_column[e], c->order, k - i), y->t.scratch[0]);
            }
            solve_for(c, y, y->P, l, c->width, k);
        }
    }
}

static void enlarge(mpfr_ptr scale, mpfr_srcptr value) {
    if (mpfr_cmpabs(value, scale) > 0) mpfr_abs(scale, value, MPFR_RNDN);
}

/* V_j, and the size of its terms at the start. */
static void first_brackets(const closure *c, copy *y) {
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

/* V := [X_u, V], whose series is one term shorter: `order` terms are left. In place, as coefficient k needs V up to k + 1
 * of all rows of a column: the column is copied first. */
static void next_brackets(const closure *c, copy *y, size_t left, mpfr_t *column) {
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

/* --- the rank ------------------------------------------------------------------------------------------------------- */

static void directions_free(directions *d) {
    for (size_t n = 0; n < COPIES; n++) {
        taylor_numbers_free(d->rows[n], d->rank * d->rank);
        taylor_numbers_free(d->next[n], d->rank);
    }
    free(d->pivot);
}

static bool directions_create(directions *d, size_t rank, double noise) {
    *d = (directions){.rank = rank, .noise = noise, .pivot = calloc(rank + 1, sizeof *d->pivot)};
    bool good = d->pivot != NULL;
    for (size_t n = 0; n < COPIES; n++) {
        d->rows[n] = taylor_numbers(rank * rank);
        d->next[n] = taylor_numbers(rank);
        good = good && d->rows[n] && d->next[n];
    }
    return good;
}

/* Ratio of component r of the next row to the rounding of the coefficients and of the computation. */
static double signal_of(const directions *d, const copy *copies, size_t r, mpfr_ptr scratch) {
    double noise = 0, value = fabs(mpfr_get_d(d->next[0][r], MPFR_RNDN)),
           size = mpfr_get_d(copies->scale[r], MPFR_RNDN);
    if (!(size > 0) || !isfinite(size)) return 0;
    for (size_t n = 1; n < COPIES; n++) {
        mpfr_sub(scratch, d->next[n][r], d->next[0][r], MPFR_RNDN);
        noise = fmax(noise, fabs(mpfr_get_d(scratch, MPFR_RNDN)));
    }
    return value / (SIGNAL * noise + d->noise * size);
}

/* Keeps the next row if it is independent of the previous rows. */
static bool add_direction(directions *d, const copy *copies, mpfr_ptr scratch, mpfr_ptr factor) {
    size_t rank = d->rank, best = rank;
    for (size_t i = 0; i < d->count; i++)
        for (size_t n = 0; n < COPIES; n++) {
            mpfr_set(factor, d->next[n][d->pivot[i]], MPFR_RNDN);
            for (size_t r = 0; r < rank; r++) add_to(d->next[n][r], -1, factor, d->rows[n][i * rank + r], scratch);
            mpfr_set_zero(d->next[n][d->pivot[i]], 1);
        }
    double largest = 0;
    for (size_t r = 0; r < rank; r++) {
        double size = mpfr_get_d(copies->scale[r], MPFR_RNDN),
               value = fabs(mpfr_get_d(d->next[0][r], MPFR_RNDN)) / size;
        if (value > largest && signal_of(d, copies, r, scratch) > 1) {
            largest = value;
            best = r;
        }
    }
    if (best == rank) return false;
    for (size_t n = 0; n < COPIES; n++) {
        mpfr_set(factor, d->next[n][best], MPFR_RNDN);
        for (size_t r = 0; r < rank; r++) mpfr_div(d->rows[n][d->count * rank + r], d->next[n][r], factor, MPFR_RNDN);
    }
    d->pivot[d->count++] = best;
    return true;
}

/* --- brackets at the start of the curve ------------------------------------------------------------------------------ */

/* [X_i, X_j] without the factor A_p⁻¹: Σ (∂A_rm/∂x_l) (X_i^m X_j^l − X_j^m X_i^l). */
static void pair(const closure *c, copy *y, size_t i, size_t j, mpfr_t *to, mpfr_t *field_i, mpfr_t *field_j) {
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

/* Directions that one step of all brackets adds. */
static bool count_pairs(const closure *c, copy *copies, size_t most, size_t *first) {
    directions d;
    mpfr_t *fields = taylor_numbers(2 * c->width + 1);
    bool good = directions_create(&d, c->rank, c->noise) && fields;
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
            (void)add_direction(&d, copies, copies->t.scratch[0], fields[2 * c->width]);
        }
    *first = d.count;
    directions_free(&d);
    taylor_numbers_free(fields, 2 * c->width + 1);
    return good;
}

/* Directions of all brackets along the curve. *closed: no more brackets add anything. */
static bool count_all(const closure *c, copy *copies, size_t most, size_t *all, bool *closed) {
    directions d;
    mpfr_t *column = taylor_numbers(c->rank * (c->order + 1) + 1);
    bool good = directions_create(&d, c->rank, c->noise) && column;
    *closed = false;
    for (size_t n = 0; good && n < COPIES; n++) first_brackets(c, &copies[n]);
    for (size_t left = c->order; good && left-- > 0 && !*closed;) {
        size_t before = d.count;
        for (size_t j = 0; j < c->others && d.count < most; j++) {
            for (size_t n = 0; n < COPIES; n++)
                for (size_t r = 0; r < c->rank; r++)
                    mpfr_set(d.next[n][r], term(copies[n].V, r * c->others + j, c->order, 0), MPFR_RNDN);
            (void)add_direction(&d, copies, copies->t.scratch[0], copies->right[c->rank]);
        }
        *closed = d.count == before || d.count == most;
        for (size_t n = 0; !*closed && left > 0 && n < COPIES; n++) next_brackets(c, &copies[n], left, column);
    }
    *all = d.count;
    directions_free(&d);
    taylor_numbers_free(column, c->rank * (c->order + 1) + 1);
    return good;
}

/* Products of numbers that one system takes. */
static double work_of(const closure *c) {
    double each = 0.5 * (double)(c->order + 1) * (double)(c->order + 2), rank = (double)c->rank;
    double solved =
        (double)(c->others + c->width) * ((double)c->f->entry_count * each + rank * rank * (double)c->order);
    double levels = (double)c->order * (double)c->others * rank * rank * each;
    return (double)c->plan.count * each + solved + levels;
}

static void draw_control(closure *c, uint64_t seed) {
    for (size_t i = 0; i < c->width * (c->order + 1); i++) c->control[i] = random_uniform(&seed, -1, 1);
}

/* With series of c->order. */
static hamel_status measure(closure *c, uint64_t seed, size_t most, size_t *first, size_t *all, bool *closed) {
    copy copies[COPIES] = {{.x = NULL}};
    hamel_status status = HAMEL_OK;
    bool good = true, finite = true;
    c->control = arena_alloc(&c->memory, c->width * (c->order + 1), sizeof *c->control);
    if (!c->control) return analysis_no_memory(c->f->a);
    draw_control(c, seed);
    for (size_t n = 0; n < COPIES && good; n++) good = copy_create(c, &copies[n], n > 0 ? CHANGE : 0, seed + n);
    for (size_t n = 0; n < COPIES && good && finite; n++) {
        for (size_t l = 0; l < c->width; l++) mpfr_set(copies[n].x[l], c->start[n][l], MPFR_RNDN);
        finite = follow(c, &copies[n]);
        if (!finite || system_interrupted(c->f->a->system)) break;
        solve_coefficients(c, &copies[n]);
        solve_slopes(c, &copies[n]);
    }
    if (good && finite && c->f->a->error->status == HAMEL_OK)
        good = count_pairs(c, copies, most, first) && count_all(c, copies, most, all, closed);
    if (!good) status = analysis_no_memory(c->f->a);
    if (good && !finite) status = HAMEL_NOT_FINITE;
    if (c->f->a->error->status != HAMEL_OK) status = c->f->a->error->status;
    for (size_t n = 0; n < COPIES; n++) copy_free(c, &copies[n]);
    return status;
}

/* Moves the start of system n's curve to x(s) by the series that a copy has, s as long as they are good for. */
static void advance(closure *c, size_t n, copy *y) {
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

/* Takes some steps along curves from the start, in each system; their starts differ by CHANGE as well, so a leaf is
 * found to double precision. *good is false if a value is not finite or the work is too large. */
static hamel_status leave_start(closure *c, uint64_t seed, bool *good) {
    c->order = WAY_ORDER;
    *good = work_of(c) <= WORK_MOST && numbers_of(c) <= NUMBERS_MOST;
    if (!*good) return HAMEL_OK;
    c->control = arena_alloc(&c->memory, c->width * (c->order + 1), sizeof *c->control);
    if (!c->control) return analysis_no_memory(c->f->a);
    for (size_t i = 0; i < (size_t)WAY_STEPS * COPIES && *good; i++) {
        size_t n = i % COPIES;
        copy y = {.x = NULL};
        for (size_t l = 0; n == 0 && l < c->width; l++)
            for (size_t k = 0; k < 2; k++) c->control[l * (c->order + 1) + k] = random_uniform(&seed, -1, 1);
        bool made = copy_create(c, &y, n > 0 ? CHANGE : 0, seed + n);
        for (size_t l = 0; made && l < c->width; l++) mpfr_set(y.x[l], c->start[n][l], MPFR_RNDN);
        *good = made && follow(c, &y);
        if (*good) advance(c, n, &y);
        copy_free(c, &y);
        if (!made) return analysis_no_memory(c->f->a);
        if (system_interrupted(c->f->a->system)) return c->f->a->error->status;
    }
    return HAMEL_OK;
}

/* The configuration x, for all systems; with changes of it when they are to leave it. */
static bool set_start(closure *c, const double *x, uint64_t seed, bool changed) {
    for (size_t n = 0; n < COPIES; n++) {
        c->start[n] = taylor_numbers(c->width);
        if (!c->start[n]) return false;
        for (size_t l = 0; l < c->width; l++) {
            double by = random_uniform(&seed, -CHANGE, CHANGE) * fmax(1, fabs(x[l]));
            mpfr_set_d(c->start[n][l], x[l], MPFR_RNDN);
            if (changed && n > 0) mpfr_add_d(c->start[n][l], c->start[n][l], by, MPFR_RNDN);
        }
    }
    return true;
}

static hamel_status run(closure *c, const double *x, uint64_t seed, bool reached, size_t most, size_t *first,
                        size_t *all, bool *clear) {
    *clear = false;
    if (!make_plan(c))
        return equations_status(c->f->a->system) != HAMEL_OK ? c->f->a->error->status : analysis_no_memory(c->f->a);
    if (!forms_evaluate(c->f, x) || !choose_pivots(c)) return HAMEL_NOT_FINITE;
    hamel_status status = set_start(c, x, seed, reached) ? HAMEL_OK : analysis_no_memory(c->f->a);
    bool good = status == HAMEL_OK;
    size_t longest = most + 2;
    if (good && reached) status = leave_start(c, seed, &good);
    for (c->order = FIRST_ORDER < longest ? FIRST_ORDER : longest;; c->order = 2 * c->order) {
        if (c->order > longest) c->order = longest;
        if (status != HAMEL_OK || !good || work_of(c) > WORK_MOST || numbers_of(c) > NUMBERS_MOST) break;
        status = measure(c, seed, most, first, all, clear);
        if (status != HAMEL_OK || *clear || c->order == longest) break;
    }
    for (size_t n = 0; n < COPIES; n++) taylor_numbers_free(c->start[n], c->width);
    mpfr_free_cache();
    return status;
}

hamel_status closure_dimension(forms *f, const double *x, uint64_t seed, bool reached, size_t *first, size_t *dimension,
                               bool *clear) {
    closure c = {
        .f = f, .width = f->width, .rank = f->rank, .others = f->width - f->rank, .noise = reached ? WAY_NOISE : NOISE};
    size_t all = 0, added = 0;
    *clear = true;
    *first = *dimension = c.others;
    if (c.others == 0) return HAMEL_OK;
    arena_init(&c.memory, f->a->model->limits.memory);
    hamel_status status = run(&c, x, seed, reached, f->rank - f->holonomic_rank, &added, &all, clear);
    arena_free(&c.memory);
    *first = c.others + added;
    *dimension = c.others + (all > added ? all : added);
    return status;
}
