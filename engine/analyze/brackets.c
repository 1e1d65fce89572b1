/* brackets.c — the first step from a distribution to its closure, by exterior derivatives.
 *
 * For forms ω_r that annihilate the fields X, Y (Cartan's formula)
 *     ω_r([X, Y]) = −dω_r(X, Y) = −(X(ω_r)(Y) − Y(ω_r)(X)),
 * which needs the derivatives of the coefficients of ω along D and no field at all. The rank of these vectors of R^k over
 * all pairs of a basis of D is the number of directions that brackets add. None: D is involutive, and the forms are
 * integrable jointly (Frobenius; Papastavridis 2.12.5). */
#include "engine/analyze/forms.h"

#include <math.h>
#include <stdlib.h>

static const double DEPENDENT = 1e-9;

typedef struct brackets {
    forms *f;
    row_basis all; /* the chosen forms, then an orthonormal basis of D */
    row_basis added;
    size_t k, d;    /* forms; dimension of D */
    double *scale;  /* k: 1 / length of the form */
    double *slopes; /* d × k × width: derivatives of the forms along each basis vector, scaled */
    double *row;    /* width or k */
} brackets;

static const double *direction(const brackets *b, size_t i) {
    return b->all.Q + (b->k + i) * b->all.width;
}

/* D is what random vectors leave when the forms' span is taken away. */
static void complete(brackets *b) {
    uint64_t seed = 0x5851f42d4c957f2du;
    size_t width = b->all.width;
    for (size_t r = 0; r < b->k; r++) {
        double length = 0;
        forms_row(b->f, b->f->chosen[r], b->row);
        for (size_t i = 0; i < width; i++) length += b->row[i] * b->row[i];
        b->scale[r] = 1 / sqrt(length);
        (void)row_basis_add(&b->all, b->row);
    }
    for (size_t tries = 0; b->all.rank < width && tries < 4 * width + 8; tries++) {
        for (size_t i = 0; i < width; i++) b->row[i] = random_uniform(&seed, -1, 1);
        (void)row_basis_add(&b->all, b->row);
    }
}

/* Position of a row among the chosen ones, k when it is not. */
static void chosen_positions(const brackets *b, size_t *position) {
    for (size_t r = 0; r < b->f->row_count; r++) position[r] = b->k;
    for (size_t r = 0; r < b->k; r++) position[b->f->chosen[r]] = r;
}

static bool differentiate(brackets *b, const double *x, size_t *position) {
    forms *f = b->f;
    size_t width = b->all.width;
    chosen_positions(b, position);
    for (size_t i = 0; i < b->d; i += PROGRAM_LANES) {
        size_t count = b->d - i < PROGRAM_LANES ? b->d - i : PROGRAM_LANES;
        if (!forms_differentiate(f, x, direction(b, i), count)) return false;
        for (size_t e = 0; e < f->entry_count; e++) {
            size_t r = position[f->entry_row[e]];
            if (r == b->k) continue;
            for (size_t lane = 0; lane < count; lane++)
                b->slopes[((i + lane) * b->k + r) * width + f->entry_column[e]] +=
                    b->scale[r] * f->dots[e * PROGRAM_LANES + lane];
        }
    }
    return true;
}

static double along(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Pairs until brackets leave no direction that the holonomic constraints allow. */
static void add_pairs(brackets *b) {
    size_t width = b->all.width, most = b->k - b->f->holonomic_rank;
    double largest = 0;
    for (size_t i = 0; i < b->d * b->k * width; i++) largest = fmax(largest, fabs(b->slopes[i]));
    b->added.floor = DEPENDENT * largest;
    for (size_t i = 0; i < b->d; i++)
        for (size_t j = 0; j < i && b->added.rank < most; j++) {
            for (size_t r = 0; r < b->k; r++)
                b->row[r] = along(width, b->slopes + (i * b->k + r) * width, direction(b, j)) -
                            along(width, b->slopes + (j * b->k + r) * width, direction(b, i));
            (void)row_basis_add(&b->added, b->row);
        }
}

hamel_status brackets_dimension(forms *f, const double *x, size_t *dimension) {
    brackets b = {.f = f, .k = f->rank, .d = f->width - f->rank};
    hamel_status status = HAMEL_OK;
    size_t *position = calloc(f->row_count + 1, sizeof *position);
    b.scale = calloc(b.k + 1, sizeof *b.scale);
    b.row = calloc(f->width + 1, sizeof *b.row);
    b.slopes = calloc(b.d * b.k * f->width + 1, sizeof *b.slopes);
    bool good = position && b.scale && b.row && b.slopes;
    if (!row_basis_init(&b.all, f->width, f->width, DEPENDENT)) good = false;
    if (!row_basis_init(&b.added, b.k, b.k, DEPENDENT)) good = false;
    if (!good) {
        status = analysis_no_memory(f->a);
    } else if (!forms_evaluate(f, x)) {
        status = HAMEL_NOT_FINITE;
    } else {
        complete(&b);
        if (b.all.rank < f->width || !differentiate(&b, x, position))
            status = HAMEL_NOT_FINITE;
        else
            add_pairs(&b);
    }
    *dimension = b.d + b.added.rank;
    free(position);
    free(b.scale);
    free(b.row);
    free(b.slopes);
    row_basis_free(&b.all);
    row_basis_free(&b.added);
    return status;
}
