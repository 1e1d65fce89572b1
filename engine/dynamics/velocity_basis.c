/* frame.c — rank-revealing choice of the rows, LU of Ψ at each state. */
#include "engine/solve/frame.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The sine of the angle below which a quasi-velocity of the user is treated as dependent on those before it and on the
 * constraints: solutions may lose three digits to it, and velocities of coordinates take its place. */
static const double INDEPENDENT = 1e-3;
/* The frame is chosen again where the smallest pivot falls below this part of what it was. */
static const double WORN = 0.1;
/* The smallest part of unit rows in the QR that names coordinates; rows of a basis have full rank. */
static const double FULL_RANK = 1e-8;
/* Part of a redundant row that may lie outside the span of the others: integration keeps constraints only to its
 * tolerance. */
static const double GROWN = 1e-4;

/* Of quasi-velocities, constraints and coordinates. */
static size_t name_count(const hamel_model *model) {
    return model->system->quasi_count + model->m + model->n;
}

frame *frame_create(const hamel_model *model) {
    frame *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    size_t n = model->n, m = model->m, A = model->A.count, C = model->C.count;
    f->model = model;
    f->n = n;
    f->user = calloc(2 * name_count(model) + n + 1, sizeof *f->user);
    double *at = calloc(4 * n * n + 2 * n + n * m + A + C + 2 * m + 1, sizeof *at);
    f->lu = at;
    bool good = f->user && at;
    good = row_space_create(&f->rows, n, m) && good;
    good = row_space_create(&f->all, n, n) && good;
    if (!good) {
        frame_free(f);
        return NULL;
    }
    f->row = f->user + model->system->quasi_count;
    f->coordinate = f->row + m;
    f->kept.names = f->coordinate + n;
    f->pivot = f->kept.names + name_count(model);
    f->Phi = at += n * n;
    f->orthonormal = at += n * n;
    f->lu_scale = at += n * n;
    f->A = at += n;
    f->C = at += A;
    f->work = at += C;
    f->basis = at += n * m;
    f->usual_here = at += n * n;
    f->values = at += m;
    f->vector = at + m;
    f->limit = SIZE_MAX;
    return f;
}

void frame_free(frame *f) {
    if (!f) return;
    row_space_free(&f->rows);
    row_space_free(&f->all);
    free(f->lu); /* the block of all doubles */
    free(f->user);
    free(f);
}

/* --- choice ---------------------------------------------------------------------------------------------------------- */

/* Constraint rows at the level of velocities into `work`, n × their number; `row` names them. */
static size_t list_rows(frame *f, const double *A) {
    const hamel_model *model = f->model;
    size_t count = 0;
    memset(f->work, 0, f->n * model->m * sizeof *f->work);
    for (size_t c = 0, e = 0; c < model->m; c++) { /* the pattern is sorted by row */
        bool take = model->order[c] != CONSTRAINT_ACCELERATION;
        for (; e < model->A.count && (size_t)model->A.row[e] == c; e++)
            if (take) f->work[(size_t)model->A.column[e] + f->n * count] = A[e];
        if (take) f->row[count++] = c;
    }
    return count;
}

/* Q₁ of the rows listed, for the values of A, into `basis`. False when they have fewer than `limit` dimensions and it is
 * `exact`. */
static bool find_basis(frame *f, const double *A, size_t limit, bool exact) {
    f->listed = list_rows(f, A);
    for (size_t r = 0; r < f->listed; r++) f->usual_here[r] = f->usual ? f->usual[f->row[r]] : 0;
    f->rows.limit = limit;
    row_space_load(&f->rows, f->listed, f->work, f->usual_here);
    if (!row_space_factor(&f->rows) || (exact && f->rows.rank < limit)) return false;
    row_space_directions(&f->rows, f->basis);
    return true;
}

static bool choose_rows(frame *f, const double *A) {
    if (!find_basis(f, A, f->limit, false)) return false;
    f->row_count = f->rows.rank;
    f->freedom = f->n - f->row_count;
    memcpy(f->orthonormal, f->basis, f->n * f->row_count * sizeof *f->basis);
    return true;
}

static double norm(size_t n, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Takes a row into the orthonormal set of `count` if it is independent of it (Gram and Schmidt, twice is enough). */
static bool take_row(frame *f, double *row, size_t count) {
    size_t n = f->n;
    double before = norm(n, row);
    if (!(before > 0)) return false;
    for (size_t i = 0; i < n; i++) row[i] /= before;
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < count; j++) {
            double sum = 0, *q = f->orthonormal + n * j;
            for (size_t i = 0; i < n; i++) sum += q[i] * row[i];
            for (size_t i = 0; i < n; i++) row[i] -= sum * q[i];
        }
    double left = norm(n, row);
    if (!(left > INDEPENDENT)) return false;
    for (size_t i = 0; i < n; i++) f->orthonormal[i + n * count] = row[i] / left;
    return true;
}

/* The user's quasi-velocities in their order, as far as they are independent and there is room. */
static void choose_user(frame *f, const double *C) {
    const model_pattern *p = &f->model->C;
    f->user_count = 0;
    for (size_t r = 0, e = 0; r < f->model->system->quasi_count && f->user_count < f->freedom; r++) {
        memset(f->lu_scale, 0, f->n * sizeof *f->lu_scale);
        for (; e < p->count && (size_t)p->row[e] == r; e++) f->lu_scale[p->column[e]] = C[e];
        if (take_row(f, f->lu_scale, f->row_count + f->user_count)) f->user[f->user_count++] = r;
    }
}

static hamel_status factor(frame *f, const double *A, const double *C);

/* Coordinates whose velocities complete the set: those by which what is left free is determined best, the pivots of a QR
 * of a basis of it. Unit rows keep apart what does not touch. */
static bool choose_coordinates(frame *f) {
    size_t n = f->n, count = f->freedom - f->user_count;
    row_space_load(&f->all, n - count, f->orthonormal, NULL);
    if (!row_space_factor(&f->all) || f->all.rank != n - count) return false;
    row_space_free_directions(&f->all, f->Phi);
    f->has_directions = false;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < count; i++) f->all.QR[i + count * j] = f->Phi[j + n * i];
    if (dense_qr(count, n, count, f->all.QR, f->all.tau, f->all.pivot, FULL_RANK, f->all.scratch) < count) return false;
    memcpy(f->coordinate, f->all.pivot, count * sizeof *f->coordinate);
    return true;
}

void frame_release(frame *f) {
    f->chosen = f->kept.chosen = false;
}

void frame_remember(frame *f) {
    size_t *names = f->kept.names;
    f->kept = (frame_choice){f->chosen, f->freedom, f->user_count, f->row_count, f->listed, f->least, names};
    memcpy(names, f->user, name_count(f->model) * sizeof *names);
}

void frame_recall(frame *f) {
    const frame_choice *kept = &f->kept;
    f->chosen = kept->chosen;
    f->factored = false;
    f->freedom = kept->freedom;
    f->user_count = kept->user_count;
    f->row_count = kept->row_count;
    f->listed = kept->listed;
    f->least = kept->least;
    memcpy(f->user, kept->names, name_count(f->model) * sizeof *f->user);
}

static hamel_status choose(frame *f, const double *A, const double *C) {
    f->chosen = f->factored = false;
    if (!choose_rows(f, A)) return HAMEL_SINGULAR;
    choose_user(f, C);
    if (!choose_coordinates(f)) return HAMEL_SINGULAR;
    f->chosen = true;
    hamel_status status = factor(f, A, C);
    f->least = f->now;
    return status;
}

/* --- at a state --------------------------------------------------------------------------------------------------------- */

static void fill(frame *f, const double *A, const double *C) {
    const hamel_model *model = f->model;
    size_t n = f->n;
    memset(f->lu, 0, n * n * sizeof *f->lu);
    for (size_t r = 0, e = 0; r < f->user_count; r++) {
        while (e < model->C.count && (size_t)model->C.row[e] < f->user[r]) e++;
        for (; e < model->C.count && (size_t)model->C.row[e] == f->user[r]; e++)
            f->lu[r + n * (size_t)model->C.column[e]] = C[e];
    }
    for (size_t r = f->user_count; r < f->freedom; r++) f->lu[r + n * f->coordinate[r - f->user_count]] = 1;
    for (size_t r = 0, e = 0; r < f->row_count; r++) {
        for (size_t i = 0; frame_is_redundant(f) && i < n; i++) f->lu[f->freedom + r + n * i] = f->basis[i + n * r];
        if (frame_is_redundant(f)) continue;
        while (e < model->A.count && (size_t)model->A.row[e] < f->row[r]) e++;
        for (; e < model->A.count && (size_t)model->A.row[e] == f->row[r]; e++)
            f->lu[f->freedom + r + n * (size_t)model->A.column[e]] = A[e];
    }
}

static hamel_status factor(frame *f, const double *A, const double *C) {
    size_t n = f->n;
    double least = INFINITY, most = 0;
    memcpy(f->A, A, f->model->A.count * sizeof *A);
    memcpy(f->C, C, f->model->C.count * sizeof *C);
    f->has_directions = false;
    f->now = 0;
    f->factored = !frame_is_redundant(f) || find_basis(f, A, f->row_count, true);
    if (!f->factored) return HAMEL_SINGULAR;
    fill(f, A, C);
    f->factored = dense_lu(n, f->lu, f->pivot, f->lu_scale);
    if (!f->factored) return HAMEL_SINGULAR;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, fabs(f->lu[i + n * i]));
        most = fmax(most, fabs(f->lu[i + n * i]));
    }
    f->now = n > 0 ? least / most : 1;
    return HAMEL_OK;
}

/* Redundant rows are orthogonal to Φ; where one no longer is, the rank has grown. */
static bool has_grown(frame *f) {
    const hamel_model *model = f->model;
    if (!frame_is_redundant(f)) return false;
    const double *Phi = frame_directions(f);
    for (size_t c = 0, e = 0, first; c < model->m; c++) {
        for (first = e; e < model->A.count && (size_t)model->A.row[e] == c;) e++;
        for (size_t k = 0; model->order[c] != CONSTRAINT_ACCELERATION && k < f->freedom; k++) {
            const double *direction = Phi + f->n * k;
            double sum = 0, size = 0;
            for (size_t i = first; i < e; i++) {
                sum += f->A[i] * direction[model->A.column[i]];
                size += f->A[i] * f->A[i];
            }
            double length = f->usual ? fmax(f->usual[c], sqrt(size)) : sqrt(size);
            if (!(fabs(sum) <= GROWN * length * norm(f->n, direction))) return true;
        }
    }
    return false;
}

hamel_status frame_factor(frame *f, const double *A, const double *C) {
    if (!f->chosen) return choose(f, A, C);
    if (f->factored && memcmp(A, f->A, f->model->A.count * sizeof *A) == 0 &&
        memcmp(C, f->C, f->model->C.count * sizeof *C) == 0)
        return HAMEL_OK;
    hamel_status status = factor(f, A, C);
    return status != HAMEL_OK || f->now < WORN * f->least || has_grown(f) ? choose(f, A, C) : status;
}

void frame_solve(const frame *f, double *x) {
    dense_lu_solve(f->n, f->lu, f->pivot, f->lu_scale, x);
}

void frame_solve_transposed(const frame *f, double *x) {
    dense_lu_solve_transposed(f->n, f->lu, f->pivot, f->lu_scale, x);
}

const double *frame_directions(frame *f) {
    size_t n = f->n;
    if (f->has_directions) return f->Phi;
    memset(f->Phi, 0, n * f->freedom * sizeof *f->Phi);
    for (size_t j = 0; j < f->freedom; j++) {
        f->Phi[j + n * j] = 1;
        frame_solve(f, f->Phi + n * j);
    }
    f->has_directions = true;
    return f->Phi;
}

void frame_apply(const frame *f, const double *x, double *out) {
    const model_pattern *p = &f->model->C;
    for (size_t r = 0, e = 0; r < f->user_count; r++) {
        out[r] = 0;
        while (e < p->count && (size_t)p->row[e] < f->user[r]) e++;
        for (; e < p->count && (size_t)p->row[e] == f->user[r]; e++) out[r] += f->C[e] * x[p->column[e]];
    }
    for (size_t r = f->user_count; r < f->freedom; r++) out[r] = x[f->coordinate[r - f->user_count]];
}

void frame_gather(frame *f, const double *all, size_t stride, double *out) {
    if (!frame_is_redundant(f)) {
        for (size_t r = 0; r < f->row_count; r++) out[r] = all[stride * f->row[r]];
        return;
    }
    for (size_t r = 0; r < f->listed; r++) f->values[r] = all[stride * f->row[r]];
    (void)row_space_solution(&f->rows, f->values, f->vector);
    for (size_t r = 0; r < f->row_count; r++) out[r] = dense_dot(f->n, f->basis + f->n * r, f->vector);
}

void frame_scatter(frame *f, const double *z, double *all) {
    memset(all, 0, f->model->m * sizeof *all);
    if (!frame_is_redundant(f)) {
        for (size_t r = 0; r < f->row_count; r++) all[f->row[r]] = z[r];
        return;
    }
    memset(f->vector, 0, f->n * sizeof *f->vector);
    for (size_t r = 0; r < f->row_count; r++)
        for (size_t i = 0; i < f->n; i++) f->vector[i] += z[r] * f->basis[i + f->n * r];
    row_space_multipliers(&f->rows, f->vector, f->values);
    for (size_t r = 0; r < f->listed; r++) all[f->row[r]] = f->values[r];
}
