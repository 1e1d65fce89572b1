/* newton_matrix.c — see the header for the mathematics. */
#include "engine/dynamics/newton_matrix.h"

#include "engine/base/tolerances.h"
#include "engine/linear/dense.h"
#include "engine/linear/sparse.h"
#include "engine/linear/triplets.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct newton_matrix {
    arena memory;
    const hamel_model *model;
    const discrete_state *state; /* NULL: every constraint is active */
    size_t n, m, all;
    /* color: color of each of the n columns; color_count: number of colors */
    int *color, color_count;
    double *Rq, *Rv;                            /* R_q and R_v, in the order of model->dynamics.residual_pattern */
    double *dynamics;                           /* outputs of the dynamics program at the linearization: M, A, W, F */
    double *sign;                               /* per friction: sign of its constraint's multiplier */
    double *work, *tangent_work, *dots, *seeds; /* workspaces, tangents and seeds of the residual program */
    double gamma;
    bool linearized, factored; /* linearized: newton_linearize has succeeded; factored: newton_factor has succeeded */
    triplets entries;          /* entries in this order: M, A, W, F, residual pattern, diagonal of the multipliers */
    double *value;             /* value of each entry */
    sparse *sparse;            /* NULL: dense */
    double *lu, *scale;        /* lu: all × all; scale: `all` entries */
    size_t *pivot;
    double *x; /* all: right-hand side, then solution */
    /* reach: `all` entries, largest entry of each row in the columns of q''; units: m entries, scale of each
     * multiplier */
    double *reach, *units;
};

static bool list_matrix_entries(newton_matrix *w) {
    const model_dynamics *d = &w->model->dynamics;
    const sparse_block *F = &d->F, *R = &d->residual_pattern;
    int n = (int)w->n;
    size_t capacity = triplets_of_saddle(&d->M, &d->A, &d->W) + F->count + R->count + w->m;
    if (!triplets_create(&w->entries, &w->memory, capacity)) return false;
    triplets_add_saddle(&w->entries, &d->M, &d->A, &d->W, NULL);
    for (size_t e = 0; e < F->count; e++)
        triplets_add(&w->entries, F->row[e], n + w->model->friction.constraint[F->column[e]], -1, 0);
    for (size_t e = 0; e < R->count; e++) triplets_add(&w->entries, R->row[e], R->column[e], -1, 0);
    for (int c = 0; c < (int)w->m; c++) triplets_add(&w->entries, n + c, n + c, -1, 0);
    w->value = arena_doubles(&w->memory, w->entries.count);
    return w->value != NULL;
}

static bool is_active(const newton_matrix *w, size_t c) {
    return !w->state || w->state->active[c];
}

/* Scales each multiplier by a power of two so that its largest force is comparable to the inertia on which it acts.
 * Without this scaling, constraint forces would dominate the rows of very small masses (1e-26), and the matrix would
 * appear singular. */
static void choose_units(newton_matrix *w) {
    const hamel_model *m = w->model;
    memset(w->reach, 0, w->all * sizeof *w->reach);
    for (size_t e = 0; e < w->entries.count; e++)
        if (w->entries.column[e] < (int)w->n)
            w->reach[w->entries.row[e]] = fmax(w->reach[w->entries.row[e]], fabs(w->value[e]));
    for (size_t c = 0; c < w->m; c++) w->units[c] = 0;
    for (size_t e = 0; e < m->dynamics.A.count; e++) {
        double inertia = w->reach[m->dynamics.A.column[e]], *most = &w->units[m->dynamics.A.row[e]];
        if (inertia > 0) *most = fmax(*most, fabs(w->dynamics[m->dynamics.A.at + e]) / inertia);
    }
    for (size_t c = 0; c < w->m; c++) {
        int exponent = 0;
        if (w->units[c] > 0 && isfinite(w->units[c])) (void)frexp(w->units[c], &exponent);
        w->units[c] = ldexp(1, -exponent);
    }
    for (size_t e = 0; e < w->entries.count; e++)
        if (w->entries.row[e] < (int)w->n && w->entries.column[e] >= (int)w->n)
            w->value[e] *= w->units[w->entries.column[e] - (int)w->n];
}

static void fill_entries(newton_matrix *w, double gamma, double compliance) {
    const model_dynamics *d = &w->model->dynamics;
    double *diagonal = w->value + w->entries.count - w->m, *residual = diagonal - d->residual_pattern.count,
           *friction = residual - d->F.count;
    triplets_fill(&w->entries, w->dynamics, w->value);
    for (size_t e = 0; e < d->F.count; e++) friction[e] = -w->dynamics[d->F.at + e] * w->sign[d->F.column[e]];
    for (size_t e = 0; e < d->residual_pattern.count; e++) residual[e] = gamma * w->Rv[e] + gamma * gamma * w->Rq[e];
    memset(diagonal, 0, w->m * sizeof *diagonal);
    choose_units(w);
    for (size_t c = 0; c < w->m; c++) {
        double reach = w->reach[w->n + c];
        diagonal[c] = is_active(w, c) ? compliance * (reach > 0 ? reach : 1) : 1;
    }
}

/* Returns true if a row contains all columns, so that all colors must differ. */
static bool has_full_row(const newton_matrix *w) {
    const sparse_block *p = &w->model->dynamics.residual_pattern;
    for (size_t e = 0, first = 0; e < p->count; e++) {
        if (p->row[e] != p->row[first]) first = e;
        if (e - first + 1 == w->n) return true;
    }
    return false;
}

/* Assigns colors greedily: two columns with entries in the same row get different colors. Entries of a row are
 * consecutive. Returns false if out of memory. */
static bool color_columns(newton_matrix *w) {
    const sparse_block *p = &w->model->dynamics.residual_pattern;
    size_t n = w->n;
    if (has_full_row(w)) {
        for (size_t j = 0; j < n; j++) w->color[j] = (int)j;
        w->color_count = (int)n;
        return true;
    }
    arena scratch = {0};
    size_t *start = arena_alloc(&scratch, n + 2, sizeof *start), *list = arena_alloc(&scratch, p->count, sizeof *list),
           *row_start = arena_alloc(&scratch, w->all + 2, sizeof *row_start);
    int *taken = arena_ints(&scratch, n); /* per color: 1 + the last column that cannot have the color */
    if (scratch.failed) {
        arena_free(&scratch);
        return false;
    }
    for (size_t e = 0; e < p->count; e++) start[(size_t)p->column[e] + 1]++, row_start[(size_t)p->row[e] + 1]++;
    for (size_t j = 0; j < n; j++) start[j + 1] += start[j];
    for (size_t i = 0; i < w->all; i++) row_start[i + 1] += row_start[i];
    /* makes start[j + 1] the first entry of column j */
    for (size_t e = p->count; e-- > 0;) list[--start[(size_t)p->column[e] + 1]] = e;
    for (size_t j = 0; j < n; j++) {
        size_t first = start[j + 1], last = j + 1 < n ? start[j + 2] : p->count;
        for (size_t k = first; k < last; k++) {
            size_t row = (size_t)p->row[list[k]];
            for (size_t e = row_start[row]; e < row_start[row + 1]; e++)
                if ((size_t)p->column[e] < j) taken[w->color[p->column[e]]] = (int)j + 1;
        }
        int color = 0;
        while (color < w->color_count && taken[color] == (int)j + 1) color++;
        if (color == w->color_count) w->color_count++;
        w->color[j] = color;
    }
    arena_free(&scratch);
    return true;
}

static bool create_solver(newton_matrix *w) {
    const triplets *t = &w->entries;
    if (!list_matrix_entries(w)) return false;
    if (sparse_is_faster(w->all, t->count))
        return (w->sparse = sparse_create(w->all, t->row, t->column, t->count)) != NULL;
    w->pivot = arena_alloc(&w->memory, w->all, sizeof *w->pivot);
    return ARENA_DOUBLES(&w->memory, {&w->lu, w->all * w->all}, {&w->scale, w->all});
}

static bool create_arrays(newton_matrix *w) {
    const model_dynamics *d = &w->model->dynamics;
    size_t entries = d->residual_pattern.count;
    w->color = arena_ints(&w->memory, w->n);
    return ARENA_DOUBLES(&w->memory, {&w->Rq, entries}, {&w->Rv, entries}, {&w->dynamics, d->value_count},
                         {&w->work, program_workspace_doubles(d->residual)},
                         {&w->tangent_work, program_tangent_doubles(d->residual)}, {&w->dots, w->all * PROGRAM_LANES},
                         {&w->seeds, w->n * PROGRAM_LANES}, {&w->x, w->all}, {&w->sign, w->model->friction.count},
                         {&w->reach, w->all}, {&w->units, w->m});
}

newton_matrix *newton_create(const hamel_model *model) {
    newton_matrix *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (newton_matrix){.model = model, .n = model->n, .m = model->m, .all = model->n + model->m};
    assert(model->dynamics.residual_pattern.rows == w->all);
    if (!create_arrays(w) || !color_columns(w) || !create_solver(w)) {
        newton_free(w);
        return NULL;
    }
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->dynamics.residual, &in, w->work);
    return w;
}

void newton_free(newton_matrix *w) {
    if (!w) return;
    sparse_free(w->sparse);
    arena_free(&w->memory);
    free(w);
}

/* Computes the derivatives with respect to the symbols of one kind, PROGRAM_LANES colors per pass, and stores them in
 * the order of the pattern. */
static void tangents(newton_matrix *w, const program_inputs *in, graph_symbol_kind kind, double *entries) {
    const sparse_block *p = &w->model->dynamics.residual_pattern;
    for (int base = 0; base < w->color_count; base += PROGRAM_LANES) {
        program_inputs seeds = {{0}};
        memset(w->seeds, 0, w->n * PROGRAM_LANES * sizeof *w->seeds);
        for (size_t j = 0; j < w->n; j++)
            if (w->color[j] >= base && w->color[j] < base + PROGRAM_LANES)
                w->seeds[j * PROGRAM_LANES + (size_t)(w->color[j] - base)] = 1;
        seeds.values[kind] = w->seeds;
        program_tangent(w->model->dynamics.residual, in, &seeds, w->work, w->tangent_work, NULL, w->dots);
        for (size_t e = 0; e < p->count; e++) {
            int lane = w->color[p->column[e]] - base;
            if (lane >= 0 && lane < PROGRAM_LANES)
                entries[e] = w->dots[(size_t)p->row[e] * PROGRAM_LANES + (size_t)lane];
        }
    }
}

hamel_status newton_linearize(newton_matrix *w, double t, const double *q, const double *v, const double *a,
                              const double *lambda, const double *ideal, const double *dynamics_values) {
    const hamel_model *model = w->model;
    program_inputs in = model_inputs(model, &t, q, v, a, lambda, NULL);
    in.values[SYMBOL_IDEAL] = ideal;
    if (w->state) in.values[SYMBOL_BRANCH] = w->state->branches;
    w->linearized = w->factored = false;
    tangents(w, &in, SYMBOL_COORDINATE, w->Rq);
    tangents(w, &in, SYMBOL_VELOCITY, w->Rv);
    memcpy(w->dynamics, dynamics_values, model->dynamics.value_count * sizeof *w->dynamics);
    for (size_t k = 0; k < model->friction.count; k++) {
        double pressing = lambda[model->friction.constraint[k]];
        w->sign[k] = (pressing > 0) - (pressing < 0);
    }
    for (size_t e = 0; e < model->dynamics.residual_pattern.count; e++) {
        size_t row = (size_t)model->dynamics.residual_pattern.row[e];
        if (row >= w->n && !is_active(w, row - w->n)) w->Rq[e] = w->Rv[e] = 0;
        if (!isfinite(w->Rq[e]) || !isfinite(w->Rv[e])) return HAMEL_NOT_FINITE;
    }
    w->linearized = true;
    return HAMEL_OK;
}

void newton_select(newton_matrix *w, const discrete_state *state) {
    w->state = state;
}

static hamel_status factor_with(newton_matrix *w, double compliance) {
    fill_entries(w, w->gamma, compliance);
    if (w->sparse) return sparse_factor(w->sparse, w->value);
    triplets_to_dense(&w->entries, w->value, w->all, w->lu);
    return dense_lu(w->all, w->lu, w->pivot, w->scale) ? HAMEL_OK : HAMEL_SINGULAR;
}

hamel_status newton_factor(newton_matrix *w, double gamma) {
    assert(w->linearized);
    w->gamma = gamma;
    hamel_status status = factor_with(w, 0);
    /* With redundant constraints, λ is not unique. A small compliance selects one λ. The relative change of δq'' is of
     * the order of the compliance. */
    if (status == HAMEL_SINGULAR && w->m > 0) status = factor_with(w, COMPLIANCE);
    w->factored = status == HAMEL_OK;
    return status;
}

static hamel_status solve_right_side(newton_matrix *w) {
    hamel_status status = HAMEL_OK;
    if (w->sparse)
        status = sparse_solve(w->sparse, w->x);
    else
        dense_lu_solve(w->all, w->lu, w->pivot, w->scale, w->x);
    for (size_t c = 0; c < w->m; c++) w->x[w->n + c] *= w->units[c];
    return status;
}

/* w->x := −(R_q dq + R_v dv). */
static void right_side(newton_matrix *w, const double *dq, double dq_gamma, const double *dv) {
    const sparse_block *p = &w->model->dynamics.residual_pattern;
    memset(w->x, 0, w->all * sizeof *w->x);
    for (size_t e = 0; e < p->count; e++) {
        size_t j = (size_t)p->column[e];
        w->x[p->row[e]] -= w->Rq[e] * (dq[j] + dq_gamma * dv[j]) + w->Rv[e] * dv[j];
    }
}

hamel_status newton_solve(newton_matrix *w, double *x) {
    double *q = x, *v = x + w->n, gamma = w->gamma;
    assert(w->factored);
    right_side(w, q, gamma, v);
    hamel_status status = solve_right_side(w);
    for (size_t j = 0; status == HAMEL_OK && j < w->n; j++) {
        q[j] += gamma * v[j] + gamma * gamma * w->x[j];
        v[j] += gamma * w->x[j];
    }
    return status;
}

const double *newton_multipliers(const newton_matrix *w) {
    return w->x + w->n;
}
