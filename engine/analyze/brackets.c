/* brackets.c — first step from a distribution D to its closure under brackets, by exterior derivatives.
 *
 * If the forms ω_r annihilate the fields X and Y, Cartan's formula gives
 *     ω_r([X, Y]) = −dω_r(X, Y) = −(X(ω_r)(Y) − Y(ω_r)(X)).
 * Only the derivatives of the coefficients of ω along D are needed. For k forms, each pair of fields gives a vector in
 * R^k. The rank of these vectors over all pairs of a basis of D is the number of directions that brackets add. If this
 * rank is 0, D is involutive and the forms are jointly integrable (Frobenius; Papastavridis 2.12.5). */
#include "engine/analyze/forms.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>

typedef struct brackets {
    forms *f;
    rank_rows all; /* the chosen forms, then an orthonormal basis of D */
    rank_rows added;
    size_t k, d;    /* k: number of forms; d: dimension of D */
    double *scale;  /* k entries: reciprocal norm of each form */
    double *slopes; /* d × k × width: derivatives of the forms along each basis vector, scaled */
    double *row;    /* scratch: at most `width` entries */
} brackets;

static const double *direction(const brackets *b, size_t i) {
    assert(b->k + i < b->all.rank);
    return b->all.Q + (b->k + i) * b->all.width;
}

/* Appends random vectors to the forms until the rows span R^width. The components of these vectors orthogonal to the
 * forms are a basis of D. */
static void complete(brackets *b) {
    uint64_t seed = 0x5851f42d4c957f2du;
    size_t width = b->all.width;
    for (size_t r = 0; r < b->k; r++) {
        forms_row(b->f, b->f->chosen[r], b->row);
        b->scale[r] = 1 / sqrt(rank_rows_dot(width, b->row, b->row));
        (void)rank_rows_add(&b->all, b->row);
    }
    for (size_t tries = 0; b->all.rank < width && tries < 4 * width + 8; tries++) {
        for (size_t i = 0; i < width; i++) b->row[i] = random_uniform(&seed, -1, 1);
        (void)rank_rows_add(&b->all, b->row);
    }
}

/* Fills b->slopes. `position` is scratch: position[r] is the position of row r among the chosen rows, or b->k if row r
 * is not chosen. */
static bool differentiate_forms(brackets *b, const double *x, size_t *position) {
    forms *f = b->f;
    size_t width = b->all.width;
    for (size_t r = 0; r < f->row_count; r++) position[r] = b->k;
    for (size_t r = 0; r < b->k; r++) position[f->chosen[r]] = r;
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

/* Adds brackets of pairs of fields until they span all directions that the holonomic constraints allow. */
static void add_pairs(brackets *b) {
    assert(b->k >= b->f->holonomic_rank);
    size_t width = b->all.width, most = b->k - b->f->holonomic_rank;
    double largest = 0;
    for (size_t i = 0; i < b->d * b->k * width; i++) largest = fmax(largest, fabs(b->slopes[i]));
    b->added.floor = SAMPLED_RANK_TOLERANCE * largest;
    for (size_t i = 0; i < b->d; i++)
        for (size_t j = 0; j < i && b->added.rank < most; j++) {
            for (size_t r = 0; r < b->k; r++)
                b->row[r] = rank_rows_dot(width, b->slopes + (i * b->k + r) * width, direction(b, j)) -
                            rank_rows_dot(width, b->slopes + (j * b->k + r) * width, direction(b, i));
            (void)rank_rows_add(&b->added, b->row);
        }
}

/* Fills b->added at x. Returns HAMEL_NOT_FINITE if the forms are not finite or no basis of D is found. */
static hamel_status find_brackets(brackets *b, const double *x, arena *memory) {
    const forms *f = b->f;
    size_t *position = arena_alloc(memory, f->row_count, sizeof *position);
    b->scale = arena_doubles(memory, b->k);
    b->row = arena_doubles(memory, f->width);
    b->slopes = arena_doubles(memory, b->d * b->k * f->width);
    if (memory->failed || !rank_rows_init(&b->all, f->width, f->width, SAMPLED_RANK_TOLERANCE) ||
        !rank_rows_init(&b->added, b->k, b->k, SAMPLED_RANK_TOLERANCE))
        return analysis_no_memory(f->a);
    if (!forms_evaluate(b->f, x)) return HAMEL_NOT_FINITE;
    complete(b);
    if (b->all.rank < f->width || !differentiate_forms(b, x, position)) return HAMEL_NOT_FINITE;
    add_pairs(b);
    return HAMEL_OK;
}

hamel_status brackets_dimension(forms *f, const double *x, size_t *dimension) {
    brackets b = {.f = f, .k = f->rank, .d = f->width - f->rank};
    arena memory;
    arena_init(&memory, 0);
    hamel_status status = find_brackets(&b, x, &memory);
    *dimension = b.d + b.added.rank;
    arena_free(&memory);
    rank_rows_free(&b.all);
    rank_rows_free(&b.added);
    return status;
}
