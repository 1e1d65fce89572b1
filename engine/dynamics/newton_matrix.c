/* newton_matrix.c — see the header for the mathematics. */
#include "engine/solve/newton_matrix.h"

#include "engine/solve/dense.h"
#include "engine/solve/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_ALWAYS = 48 };
static const double COMPLIANCE = 1e-10; /* of a constraint's largest coefficient */

struct newton_matrix {
    const hamel_model *model;
    const motion_mode *mode; /* NULL: every constraint is active */
    size_t n, m, all;
    int *color, color_count;                    /* of the n columns */
    double *Rq, *Rv;                            /* entries of model->residual_pattern */
    double *dynamics;                           /* M, A, W, F of the linearization */
    double *sign;                               /* of the multipliers that press, by friction */
    double *work, *tangent_work, *dots, *seeds; /* of the residual program */
    double gamma;
    size_t entry_count;
    int *row, *column; /* all triplets of the matrix */
    double *value;
    sparse *sparse;     /* or */
    double *lu, *scale; /* dense */
    size_t *pivot;
    double *x;             /* all */
    double *reach, *units; /* all: largest entry of a row by q''; m: of the multipliers */
};

static size_t list_entries(const hamel_model *m, int *row, int *column) {
    size_t at = 0;
    int n = (int)m->n;
#define ENTRY(i, j)                               \
    do {                                          \
        if (row) row[at] = (i), column[at] = (j); \
        at++;                                     \
    } while (0)
    for (size_t e = 0; e < m->M.count; e++) {
        ENTRY(m->M.row[e], m->M.column[e]);
        if (m->M.row[e] != m->M.column[e]) ENTRY(m->M.column[e], m->M.row[e]);
    }
    for (size_t e = 0; e < m->A.count; e++) {
        ENTRY(n + m->A.row[e], m->A.column[e]);
        ENTRY(m->A.column[e], n + m->A.row[e]);
    }
    for (size_t e = 0; e < m->W.count; e++) ENTRY(m->W.row[e], n + m->W.column[e]);
    for (size_t e = 0; e < m->F.count; e++) ENTRY(m->F.row[e], n + m->friction_constraint[m->F.column[e]]);
    for (size_t e = 0; e < m->residual_pattern.count; e++)
        ENTRY(m->residual_pattern.row[e], m->residual_pattern.column[e]);
    for (int c = 0; c < (int)m->m; c++) ENTRY(n + c, n + c);
#undef ENTRY
    return at;
}

static bool is_active(const newton_matrix *w, size_t c) {
    return !w->mode || w->mode->active[c];
}

/* Each multiplier in a unit of its own, a power of two in which its largest force is of the size of the inertia that it
 * acts on. Without, the rows of masses of 1e-26 would show their constraint forces only, and the matrix be called singular. */
static void choose_units(newton_matrix *w) {
    const hamel_model *m = w->model;
    memset(w->reach, 0, w->all * sizeof *w->reach);
    for (size_t e = 0; e < w->entry_count; e++)
        if (w->column[e] < (int)w->n) w->reach[w->row[e]] = fmax(w->reach[w->row[e]], fabs(w->value[e]));
    for (size_t c = 0; c < w->m; c++) w->units[c] = 0;
    for (size_t e = 0; e < m->A.count; e++) {
        double inertia = w->reach[m->A.column[e]], *most = &w->units[m->A.row[e]];
        if (inertia > 0) *most = fmax(*most, fabs(w->dynamics[m->at_A + e]) / inertia);
    }
    for (size_t c = 0; c < w->m; c++) {
        int exponent = 0;
        if (w->units[c] > 0 && isfinite(w->units[c])) (void)frexp(w->units[c], &exponent);
        w->units[c] = ldexp(1, -exponent);
    }
    for (size_t e = 0; e < w->entry_count; e++)
        if (w->row[e] < (int)w->n && w->column[e] >= (int)w->n) w->value[e] *= w->units[w->column[e] - (int)w->n];
}

static void fill_entries(newton_matrix *w, double gamma, double compliance) {
    const hamel_model *m = w->model;
    const double *d = w->dynamics;
    double *out = w->value;
    for (size_t e = 0; e < m->M.count; e++) {
        *out++ = d[m->at_M + e];
        if (m->M.row[e] != m->M.column[e]) *out++ = d[m->at_M + e];
    }
    for (size_t e = 0; e < m->A.count; e++) {
        *out++ = d[m->at_A + e];
        *out++ = -d[m->at_A + e];
    }
    for (size_t e = 0; e < m->W.count; e++) *out++ = -d[m->at_W + e];
    for (size_t e = 0; e < m->F.count; e++) *out++ = -d[m->at_F + e] * w->sign[m->F.column[e]];
    for (size_t e = 0; e < m->residual_pattern.count; e++) *out++ = gamma * w->Rv[e] + gamma * gamma * w->Rq[e];
    double *diagonal = out;
    for (size_t c = 0; c < m->m; c++) *out++ = 0;
    choose_units(w);
    for (size_t c = 0; c < m->m; c++) {
        double reach = w->reach[w->n + c];
        diagonal[c] = is_active(w, c) ? compliance * (reach > 0 ? reach : 1) : 1;
    }
}

/* A row with every column in it leaves nothing to share. */
static bool has_full_row(const newton_matrix *w) {
    const model_pattern *p = &w->model->residual_pattern;
    for (size_t e = 0, first = 0; e < p->count; e++) {
        if (p->row[e] != p->row[first]) first = e;
        if (e - first + 1 == w->n) return true;
    }
    return false;
}

/* Greedy colouring: two columns that meet in a row differ. Rows list their entries consecutively. */
static bool colour_columns(newton_matrix *w) {
    const model_pattern *p = &w->model->residual_pattern;
    size_t n = w->n;
    if (has_full_row(w)) {
        for (size_t j = 0; j < n; j++) w->color[j] = (int)j;
        w->color_count = (int)n;
        return true;
    }
    size_t *start = calloc(n + 2, sizeof *start), *list = calloc(p->count + 1, sizeof *list),
           *row_start = calloc(w->all + 2, sizeof *row_start);
    int *taken = calloc(n + 1, sizeof *taken); /* colour → last column that found it taken, plus 1 */
    bool good = start && list && row_start && taken;
    for (size_t e = 0; good && e < p->count; e++) start[(size_t)p->column[e] + 1]++, row_start[(size_t)p->row[e] + 1]++;
    for (size_t j = 0; good && j < n; j++) start[j + 1] += start[j];
    for (size_t i = 0; good && i < w->all; i++) row_start[i + 1] += row_start[i];
    for (size_t e = p->count; good && e-- > 0;)
        list[--start[(size_t)p->column[e] + 1]] = e; /* start[j+1] becomes the first of j */
    for (size_t j = 0; good && j < n; j++) {
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
    free(start), free(list), free(row_start), free(taken);
    return good;
}

static bool create_solver(newton_matrix *w) {
    w->entry_count = list_entries(w->model, NULL, NULL);
    w->row = calloc(w->entry_count + 1, sizeof *w->row);
    w->column = calloc(w->entry_count + 1, sizeof *w->column);
    w->value = calloc(w->entry_count + 1, sizeof *w->value);
    if (!w->row || !w->column || !w->value) return false;
    list_entries(w->model, w->row, w->column);
    if (w->all > DENSE_ALWAYS && (double)w->entry_count < 0.1 * (double)w->all * (double)w->all)
        return (w->sparse = sparse_create(w->all, w->row, w->column, w->entry_count)) != NULL;
    w->lu = calloc(w->all * w->all + 1, sizeof *w->lu);
    w->scale = calloc(w->all + 1, sizeof *w->scale);
    w->pivot = calloc(w->all + 1, sizeof *w->pivot);
    return w->lu && w->scale && w->pivot;
}

newton_matrix *newton_create(const hamel_model *model) {
    newton_matrix *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->model = model;
    w->n = model->n;
    w->m = model->m;
    w->all = model->n + model->m;
    w->color = calloc(w->n + 1, sizeof *w->color);
    w->Rq = calloc(model->residual_pattern.count + 1, sizeof *w->Rq);
    w->Rv = calloc(model->residual_pattern.count + 1, sizeof *w->Rv);
    w->dynamics = calloc(model->dynamics_count + 1, sizeof *w->dynamics);
    w->work = calloc(program_workspace_doubles(model->residual) + 1, sizeof *w->work);
    w->tangent_work = calloc(program_tangent_doubles(model->residual) + 1, sizeof *w->tangent_work);
    w->dots = calloc(w->all * PROGRAM_LANES + 1, sizeof *w->dots);
    w->seeds = calloc(w->n * PROGRAM_LANES + 1, sizeof *w->seeds);
    w->x = calloc(w->all + 1, sizeof *w->x);
    w->sign = calloc(model->friction_count + 1, sizeof *w->sign);
    w->reach = calloc(w->all + w->m + 1, sizeof *w->reach);
    w->units = w->reach + w->all;
    bool good = w->sign && w->reach && w->color && w->Rq && w->Rv && w->dynamics && w->work && w->tangent_work &&
                w->dots && w->seeds && w->x;
    if (!good || !colour_columns(w) || !create_solver(w)) {
        newton_free(w);
        return NULL;
    }
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->residual, &in, w->work);
    return w;
}

void newton_free(newton_matrix *w) {
    if (!w) return;
    sparse_free(w->sparse);
    free(w->color), free(w->Rq), free(w->Rv), free(w->dynamics), free(w->work), free(w->tangent_work);
    free(w->sign), free(w->dots), free(w->seeds), free(w->x), free(w->row), free(w->column), free(w->value);
    free(w->lu), free(w->scale), free(w->pivot), free(w->reach);
    free(w);
}

/* Derivatives by the symbols of one kind into the pattern's entries, PROGRAM_LANES colours at a time. */
static void tangents(newton_matrix *w, const program_inputs *in, graph_symbol_kind kind, double *entries) {
    const model_pattern *p = &w->model->residual_pattern;
    for (int base = 0; base < w->color_count; base += PROGRAM_LANES) {
        program_inputs seeds = {{0}};
        memset(w->seeds, 0, w->n * PROGRAM_LANES * sizeof *w->seeds);
        for (size_t j = 0; j < w->n; j++)
            if (w->color[j] >= base && w->color[j] < base + PROGRAM_LANES)
                w->seeds[j * PROGRAM_LANES + (size_t)(w->color[j] - base)] = 1;
        seeds.values[kind] = w->seeds;
        program_tangent(w->model->residual, in, &seeds, w->work, w->tangent_work, NULL, w->dots);
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
    if (w->mode) in.values[SYMBOL_BRANCH] = w->mode->branches;
    tangents(w, &in, SYMBOL_COORDINATE, w->Rq);
    tangents(w, &in, SYMBOL_VELOCITY, w->Rv);
    memcpy(w->dynamics, dynamics_values, model->dynamics_count * sizeof *w->dynamics);
    for (size_t k = 0; k < model->friction_count; k++) {
        double pressing = lambda[model->friction_constraint[k]];
        w->sign[k] = (pressing > 0) - (pressing < 0);
    }
    for (size_t e = 0; e < model->residual_pattern.count; e++) {
        size_t row = (size_t)model->residual_pattern.row[e];
        if (row >= w->n && !is_active(w, row - w->n)) w->Rq[e] = w->Rv[e] = 0;
    }
    for (size_t e = 0; e < model->residual_pattern.count; e++)
        if (!isfinite(w->Rq[e]) || !isfinite(w->Rv[e])) return HAMEL_NOT_FINITE;
    return HAMEL_OK;
}

void newton_select(newton_matrix *w, const motion_mode *mode) {
    w->mode = mode;
}

static hamel_status factor(newton_matrix *w, double compliance) {
    fill_entries(w, w->gamma, compliance);
    if (w->sparse) return sparse_factor(w->sparse, w->value);
    memset(w->lu, 0, w->all * w->all * sizeof *w->lu);
    for (size_t e = 0; e < w->entry_count; e++) w->lu[(size_t)w->row[e] + w->all * (size_t)w->column[e]] += w->value[e];
    return dense_lu(w->all, w->lu, w->pivot, w->scale) ? HAMEL_OK : HAMEL_SINGULAR;
}

hamel_status newton_factor(newton_matrix *w, double gamma) {
    w->gamma = gamma;
    hamel_status status = factor(w, 0);
    if (status != HAMEL_SINGULAR || w->m == 0) return status;
    /* Dependent constraints leave λ open: a small compliance picks one, δq'' is unchanged to its size. */
    return factor(w, COMPLIANCE);
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
    const model_pattern *p = &w->model->residual_pattern;
    memset(w->x, 0, w->all * sizeof *w->x);
    for (size_t e = 0; e < p->count; e++) {
        size_t j = (size_t)p->column[e];
        w->x[p->row[e]] -= w->Rq[e] * (dq[j] + dq_gamma * dv[j]) + w->Rv[e] * dv[j];
    }
}

hamel_status newton_solve(newton_matrix *w, double *x) {
    double *q = x, *v = x + w->n, gamma = w->gamma;
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
