/* least_constraint.c — see the header for the method. */
#include "engine/linear/least_constraint.h"

#include <assert.h>
#include <string.h>

bool least_constraint_create(least_constraint *s, size_t n, size_t most) {
    *s = (least_constraint){.n = n, .most = n};
    s->pivot = arena_alloc(&s->memory, n, sizeof *s->pivot);
    return rank_qr_create(&s->rows, n, most) &&
           ARENA_DOUBLES(&s->memory, {&s->Z, n * n}, {&s->MZ, n * n}, {&s->H, n * n}, {&s->lu_scale, n}, {&s->xr, n},
                         {&s->y, n});
}

void least_constraint_free(least_constraint *s) {
    rank_qr_free(&s->rows);
    arena_free(&s->memory);
    *s = (least_constraint){0};
}

/* Sets out[rows × columns] to aᵀ b with a: n × rows, b: n × columns. */
static void transpose_times(size_t n, size_t rows, const double *a, size_t columns, const double *b, double *out) {
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) sum += a[k + n * i] * b[k + n * j];
            out[i + rows * j] = sum;
        }
}

hamel_status least_constraint_factor(least_constraint *s, size_t n, const double *M, size_t k, const double *rows,
                                     const double *usual) {
    assert(n <= s->most);
    s->n = s->rows.n = n;
    s->M = M;
    rank_qr_load(&s->rows, k, rows, usual);
    if (!rank_qr_factor(&s->rows)) return HAMEL_SINGULAR;
    s->freedom = n - s->rows.rank;
    if (s->rows.rank == 0) { /* Z is the identity */
        memcpy(s->H, M, n * n * sizeof *M);
    } else {
        rank_qr_free_directions(&s->rows, s->Z);
        transpose_times(n, n, M, s->freedom, s->Z, s->MZ);
        transpose_times(n, s->freedom, s->Z, s->freedom, s->MZ, s->H);
    }
    return s->freedom == 0 || dense_lu(s->freedom, s->H, s->pivot, s->lu_scale) ? HAMEL_OK : HAMEL_SINGULAR;
}

double least_constraint_solve(least_constraint *s, const double *g, const double *r, double *x) {
    size_t n = s->n, f = s->freedom;
    double contradiction = rank_qr_solution(&s->rows, r, s->xr);
    if (s->rows.rank == 0) {
        memcpy(x, g, n * sizeof *x);
        dense_lu_solve(n, s->H, s->pivot, s->lu_scale, x);
        return contradiction;
    }
    transpose_times(n, f, s->Z, 1, g, s->y);
    for (size_t j = 0; j < f; j++)
        for (size_t i = 0; i < n; i++) s->y[j] -= s->MZ[i + n * j] * s->xr[i];
    if (f > 0) dense_lu_solve(f, s->H, s->pivot, s->lu_scale, s->y);
    memcpy(x, s->xr, n * sizeof *x);
    for (size_t j = 0; j < f; j++)
        for (size_t i = 0; i < n; i++) x[i] += s->Z[i + n * j] * s->y[j];
    return contradiction;
}
