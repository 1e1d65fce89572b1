/* velocity_basis.c — choice of the rows by rank-revealing QR, and LU of Ψ at each state. */
#include "engine/dynamics/velocity_basis.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Smallest sine of the angle between a quasi-velocity and the span of the preceding quasi-velocities and the
 * constraints. If the sine is below this bound, the quasi-velocity is treated as redundant, and the velocity of a
 * coordinate replaces it. At the bound, solutions lose three digits. */
static const double INDEPENDENT = 1e-3;
/* Smallest sine of that angle for velocities of coordinates that the formulation requires to be independent. No other
 * velocity can replace such a velocity, so the bound is smaller. At the bound, solutions lose six digits. */
static const double REQUIRED = 1e-6;
/* If the smallest pivot of Ψ falls below this fraction of its value when the basis was chosen, the basis is chosen
 * again. Between two choices, solutions therefore lose at most one digit. */
static const double WORN = 0.1;
/* Smallest pivot accepted in the QR that selects coordinates: about √ε. The rows of the matrix are orthonormal, so a
 * smaller pivot means that the rows are rank-deficient. */
static const double FULL_RANK = 1e-8;
/* Largest component of a redundant row outside the span of the other rows, relative to the length of the row. If the
 * component is larger, the rank has grown. Between projections, states satisfy the constraints only within the
 * integration tolerance, so redundant rows also have a component of that size. The bound exceeds the usual tolerances
 * of 1e-6 or less. */
static const double GROWN = 1e-4;

/* Returns the length of the array that holds the indices of quasi-velocities, constraints and coordinates. */
static size_t name_count(const hamel_model *model) {
    return model->system->quasi_count + model->m + model->n;
}

velocity_basis *velocity_basis_create(const hamel_model *model, arena *memory) {
    size_t n = model->n, m = model->m;
    velocity_basis *b = arena_alloc(memory, 1, sizeof *b);
    if (!b) return NULL;
    *b = (velocity_basis){.model = model, .n = n, .limit = SIZE_MAX};
    b->user = arena_alloc(memory, name_count(model), sizeof *b->user);
    b->kept.names = arena_alloc(memory, name_count(model), sizeof *b->user);
    b->pivot = arena_alloc(memory, n, sizeof *b->pivot);
    bool good = rank_qr_create(&b->rows, n, m);
    good = rank_qr_create(&b->all, n, n) && good;
    good = ARENA_DOUBLES(memory, {&b->lu, n * n}, {&b->lu_scale, n}, {&b->Phi, n * n}, {&b->orthonormal, n * n},
                         {&b->A, model->dynamics.A.count}, {&b->C, model->dynamics.C.count}, {&b->work, n * m},
                         {&b->constraint_rows, n * n}, {&b->usual_here, m}, {&b->values, m}, {&b->vector, n}) &&
           good;
    if (!good) {
        velocity_basis_free(b);
        return NULL;
    }
    b->row = b->user + model->system->quasi_count;
    b->coordinate = b->row + m;
    return b;
}

void velocity_basis_free(velocity_basis *b) {
    if (!b) return;
    rank_qr_free(&b->rows);
    rank_qr_free(&b->all);
}

/* --- choice ------------------------------------------------------------------------------------------------------- */

/* Copies the velocity-level constraint rows to `work` (n × number of rows) and lists their indices in `row`. */
static size_t list_rows(velocity_basis *b, const double *A) {
    const hamel_model *model = b->model;
    size_t count = 0;
    memset(b->work, 0, b->n * model->m * sizeof *b->work);
    for (size_t c = 0, e = 0; c < model->m; c++) { /* the pattern is sorted by row */
        bool take = model->order[c] != CONSTRAINT_ACCELERATION;
        for (; e < model->dynamics.A.count && (size_t)model->dynamics.A.row[e] == c; e++)
            if (take) b->work[(size_t)model->dynamics.A.column[e] + b->n * count] = A[e];
        if (take) b->row[count++] = c;
    }
    return count;
}

/* Writes an orthonormal basis of the velocity-level rows of A to `constraint_rows`. Returns false if the rows are not
 * finite, or if `exact` is true and the rank of the rows is below `limit`. */
static bool find_basis(velocity_basis *b, const double *A, size_t limit, bool exact) {
    b->listed = list_rows(b, A);
    for (size_t r = 0; r < b->listed; r++) b->usual_here[r] = b->usual ? b->usual[b->row[r]] : 0;
    b->rows.limit = limit;
    rank_qr_load(&b->rows, b->listed, b->work, b->usual_here);
    if (!rank_qr_factor(&b->rows) || (exact && b->rows.rank < limit)) return false;
    rank_qr_directions(&b->rows, b->constraint_rows);
    return true;
}

static bool choose_rows(velocity_basis *b, const double *A) {
    if (!find_basis(b, A, b->limit, false)) return false;
    b->row_count = b->rows.rank;
    b->freedom = b->n - b->row_count;
    memcpy(b->orthonormal, b->constraint_rows, b->n * b->row_count * sizeof *b->constraint_rows);
    return true;
}

static double row_norm(size_t n, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Orthonormalizes row[n] against the first `count` rows of b->orthonormal and appends the result to these rows. Returns
 * false, without appending, if the sine of the angle between `row` and their span is at most `least`. Two passes of
 * Gram–Schmidt suffice (Parlett, The Symmetric Eigenvalue Problem, 6.9). */
static bool take_quasi_row(velocity_basis *b, double *row, size_t count, double least) {
    size_t n = b->n;
    double before = row_norm(n, row);
    if (!(before > 0)) return false;
    for (size_t i = 0; i < n; i++) row[i] /= before;
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < count; j++) {
            double sum = 0, *q = b->orthonormal + n * j;
            for (size_t i = 0; i < n; i++) sum += q[i] * row[i];
            for (size_t i = 0; i < n; i++) row[i] -= sum * q[i];
        }
    double left = row_norm(n, row);
    if (!(left > least)) return false;
    for (size_t i = 0; i < n; i++) b->orthonormal[i + n * count] = row[i] / left;
    return true;
}

/* Chooses independent quasi-velocities of the user in the order of the description, at most as many as there are
 * degrees of freedom. */
static void choose_user(velocity_basis *b, const double *C) {
    const sparse_block *p = &b->model->dynamics.C;
    b->user_count = 0;
    for (size_t r = 0, e = 0; r < b->model->system->quasi_count && b->user_count < b->freedom; r++) {
        memset(b->lu_scale, 0, b->n * sizeof *b->lu_scale);
        for (; e < p->count && (size_t)p->row[e] == r; e++) b->lu_scale[p->column[e]] = C[e];
        if (take_quasi_row(b, b->lu_scale, b->row_count + b->user_count, INDEPENDENT)) b->user[b->user_count++] = r;
    }
}

/* Adds the velocities of the coordinates with model->independent[i] to the basis. If the constraints and the velocities
 * added before determine one of these velocities, the constraints cannot be solved for the other velocities: sets
 * b->unsolvable and returns false. */
static bool choose_required(velocity_basis *b) {
    const bool *independent = b->model->independent;
    size_t count = 0;
    for (size_t i = 0; independent && i < b->n; i++) {
        if (!independent[i]) continue;
        memset(b->lu_scale, 0, b->n * sizeof *b->lu_scale);
        b->lu_scale[i] = 1;
        size_t taken = b->row_count + b->user_count + count;
        b->unsolvable = taken >= b->n || !take_quasi_row(b, b->lu_scale, taken, REQUIRED);
        if (b->unsolvable) return false;
        b->coordinate[count++] = i;
    }
    b->required_count = count;
    return true;
}

static hamel_status factor_basis(velocity_basis *b, const double *A, const double *C);

/* Chooses the coordinates whose velocities complete the basis, as the pivots of a QR of the remaining free directions.
 * Orthonormal input rows keep uncoupled coordinates separate. */
static bool choose_coordinates(velocity_basis *b) {
    size_t n = b->n, count = b->freedom - b->user_count - b->required_count;
    rank_qr_load(&b->all, n - count, b->orthonormal, NULL);
    if (!rank_qr_factor(&b->all) || b->all.rank != n - count) return false;
    rank_qr_free_directions(&b->all, b->Phi);
    b->has_directions = false;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < count; i++) b->all.QR[i + count * j] = b->Phi[j + n * i];
    if (dense_qr(count, n, count, b->all.QR, b->all.tau, b->all.pivot, FULL_RANK, b->all.scratch) < count) return false;
    memcpy(b->coordinate + b->required_count, b->all.pivot, count * sizeof *b->coordinate);
    return true;
}

void velocity_basis_release(velocity_basis *b) {
    b->chosen = b->kept.chosen = false;
}

void velocity_basis_remember(velocity_basis *b) {
    size_t *names = b->kept.names;
    b->kept = (velocity_basis_choice){b->chosen, b->freedom, b->user_count, b->row_count, b->listed, b->least, names};
    memcpy(names, b->user, name_count(b->model) * sizeof *names);
}

void velocity_basis_recall(velocity_basis *b) {
    const velocity_basis_choice *kept = &b->kept;
    b->chosen = kept->chosen;
    b->factored = false;
    b->freedom = kept->freedom;
    b->user_count = kept->user_count;
    b->row_count = kept->row_count;
    b->listed = kept->listed;
    b->least = kept->least;
    memcpy(b->user, kept->names, name_count(b->model) * sizeof *b->user);
}

static hamel_status choose_basis(velocity_basis *b, const double *A, const double *C) {
    b->chosen = b->factored = b->unsolvable = false;
    if (!choose_rows(b, A)) return HAMEL_SINGULAR;
    choose_user(b, C);
    if (!choose_required(b) || !choose_coordinates(b)) return HAMEL_SINGULAR;
    b->chosen = true;
    hamel_status status = factor_basis(b, A, C);
    b->least = b->now;
    return status;
}

/* --- factorization ------------------------------------------------------------------------------------------------ */

static void fill_basis(velocity_basis *b, const double *A, const double *C) {
    const hamel_model *model = b->model;
    size_t n = b->n;
    memset(b->lu, 0, n * n * sizeof *b->lu);
    for (size_t r = 0, e = 0; r < b->user_count; r++) {
        while (e < model->dynamics.C.count && (size_t)model->dynamics.C.row[e] < b->user[r]) e++;
        for (; e < model->dynamics.C.count && (size_t)model->dynamics.C.row[e] == b->user[r]; e++)
            b->lu[r + n * (size_t)model->dynamics.C.column[e]] = C[e];
    }
    for (size_t r = b->user_count; r < b->freedom; r++) b->lu[r + n * b->coordinate[r - b->user_count]] = 1;
    for (size_t r = 0, e = 0; r < b->row_count; r++) {
        for (size_t i = 0; velocity_basis_is_redundant(b) && i < n; i++)
            b->lu[b->freedom + r + n * i] = b->constraint_rows[i + n * r];
        if (velocity_basis_is_redundant(b)) continue;
        while (e < model->dynamics.A.count && (size_t)model->dynamics.A.row[e] < b->row[r]) e++;
        for (; e < model->dynamics.A.count && (size_t)model->dynamics.A.row[e] == b->row[r]; e++)
            b->lu[b->freedom + r + n * (size_t)model->dynamics.A.column[e]] = A[e];
    }
}

static hamel_status factor_basis(velocity_basis *b, const double *A, const double *C) {
    size_t n = b->n;
    double least = INFINITY, most = 0;
    memcpy(b->A, A, b->model->dynamics.A.count * sizeof *A);
    memcpy(b->C, C, b->model->dynamics.C.count * sizeof *C);
    b->has_directions = false;
    b->now = 0;
    b->factored = !velocity_basis_is_redundant(b) || find_basis(b, A, b->row_count, true);
    if (!b->factored) return HAMEL_SINGULAR;
    fill_basis(b, A, C);
    b->factored = dense_lu(n, b->lu, b->pivot, b->lu_scale);
    if (!b->factored) return HAMEL_SINGULAR;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, fabs(b->lu[i + n * i]));
        most = fmax(most, fabs(b->lu[i + n * i]));
    }
    b->now = n > 0 ? least / most : 1;
    return HAMEL_OK;
}

/* Returns true if the rank of the constraints has grown since the choice, that is, if a constraint row is no longer
 * orthogonal to Φ. */
static bool has_grown(velocity_basis *b) {
    const hamel_model *model = b->model;
    if (!velocity_basis_is_redundant(b)) return false;
    const double *Phi = velocity_basis_directions(b);
    for (size_t c = 0, e = 0, first; c < model->m; c++) {
        for (first = e; e < model->dynamics.A.count && (size_t)model->dynamics.A.row[e] == c;) e++;
        for (size_t k = 0; model->order[c] != CONSTRAINT_ACCELERATION && k < b->freedom; k++) {
            const double *direction = Phi + b->n * k;
            double sum = 0, size = 0;
            for (size_t i = first; i < e; i++) {
                sum += b->A[i] * direction[model->dynamics.A.column[i]];
                size += b->A[i] * b->A[i];
            }
            double length = b->usual ? fmax(b->usual[c], sqrt(size)) : sqrt(size);
            if (!(fabs(sum) <= GROWN * length * row_norm(b->n, direction))) return true;
        }
    }
    return false;
}

hamel_status velocity_basis_factor(velocity_basis *b, const double *A, const double *C) {
    if (!b->chosen) return choose_basis(b, A, C);
    if (b->factored && memcmp(A, b->A, b->model->dynamics.A.count * sizeof *A) == 0 &&
        memcmp(C, b->C, b->model->dynamics.C.count * sizeof *C) == 0)
        return HAMEL_OK;
    hamel_status status = factor_basis(b, A, C);
    return status != HAMEL_OK || b->now < WORN * b->least || has_grown(b) ? choose_basis(b, A, C) : status;
}

void velocity_basis_solve(const velocity_basis *b, double *x) {
    assert(b->factored && b->freedom + b->row_count == b->n);
    dense_lu_solve(b->n, b->lu, b->pivot, b->lu_scale, x);
}

void velocity_basis_solve_transposed(const velocity_basis *b, double *x) {
    assert(b->factored && b->freedom + b->row_count == b->n);
    dense_lu_solve_transposed(b->n, b->lu, b->pivot, b->lu_scale, x);
}

const double *velocity_basis_directions(velocity_basis *b) {
    assert(b->factored && b->freedom <= b->n);
    size_t n = b->n;
    if (b->has_directions) return b->Phi;
    memset(b->Phi, 0, n * b->freedom * sizeof *b->Phi);
    for (size_t j = 0; j < b->freedom; j++) {
        b->Phi[j + n * j] = 1;
        velocity_basis_solve(b, b->Phi + n * j);
    }
    b->has_directions = true;
    return b->Phi;
}

void velocity_basis_gather(velocity_basis *b, const double *all, double *out) {
    assert(b->factored && b->row_count <= b->listed && out != b->vector);
    if (!velocity_basis_is_redundant(b)) {
        for (size_t r = 0; r < b->row_count; r++) out[r] = all[b->row[r]];
        return;
    }
    for (size_t r = 0; r < b->listed; r++) b->values[r] = all[b->row[r]];
    (void)rank_qr_solution(&b->rows, b->values, b->vector);
    for (size_t r = 0; r < b->row_count; r++) out[r] = dense_dot(b->n, b->constraint_rows + b->n * r, b->vector);
}

void velocity_basis_scatter(velocity_basis *b, const double *z, double *all) {
    assert(b->factored && b->row_count <= b->listed && b->listed <= b->model->m);
    memset(all, 0, b->model->m * sizeof *all);
    if (!velocity_basis_is_redundant(b)) {
        for (size_t r = 0; r < b->row_count; r++) all[b->row[r]] = z[r];
        return;
    }
    memset(b->vector, 0, b->n * sizeof *b->vector);
    for (size_t r = 0; r < b->row_count; r++)
        for (size_t i = 0; i < b->n; i++) b->vector[i] += z[r] * b->constraint_rows[i + b->n * r];
    rank_qr_multipliers(&b->rows, b->vector, b->values);
    for (size_t r = 0; r < b->listed; r++) all[b->row[r]] = b->values[r];
}
