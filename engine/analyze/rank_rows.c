/* row_basis.c — see row_basis.h. */
#include "engine/analyze/row_basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool row_basis_init(row_basis *b, size_t rows, size_t width, double tolerance) {
    size_t capacity = rows < width ? rows : width;
    *b = (row_basis){.width = width, .capacity = capacity, .tolerance = tolerance};
    b->Q = calloc(capacity * width + 1, sizeof *b->Q);
    b->L = calloc(capacity * capacity + 1, sizeof *b->L);
    b->rest = calloc(2 * width + 1, sizeof *b->rest);
    b->entries = calloc(width + 1, sizeof *b->entries);
    b->given = b->rest ? b->rest + width : NULL;
    return b->Q && b->L && b->rest && b->entries;
}

void row_basis_free(row_basis *b) {
    free(b->Q);
    free(b->L);
    free(b->rest);
    free(b->entries);
    *b = (row_basis){0};
}

void row_basis_clear(row_basis *b) {
    b->rank = 0;
}

void row_basis_reset(row_basis *b, size_t width) {
    b->rank = 0;
    b->width = width;
}

static double dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Takes the part along the rows kept out of `rest`. A row of few entries meets few of them. */
static void take_out(row_basis *b, double *l) {
    size_t entries = 0;
    for (size_t j = 0; j < b->width; j++)
        if (b->rest[j] != 0) b->entries[entries++] = j;
    bool few = 4 * entries < b->width;
    for (size_t i = 0; i < b->rank; i++) {
        const double *q = b->Q + i * b->width;
        double along = 0;
        if (few) /* of the row as given: classical Gram–Schmidt, as good when done twice */
            for (size_t k = 0; k < entries; k++) along += q[b->entries[k]] * b->given[b->entries[k]];
        else
            along = dot(b->width, q, b->rest);
        l[i] += along;
        for (size_t j = 0; along != 0 && j < b->width; j++) b->rest[j] -= along * q[j];
    }
}

bool row_basis_add(row_basis *b, const double *row) {
    if (b->rank >= b->capacity || b->rank >= b->width) return false;
    double *l = b->L + b->rank * b->capacity, length = sqrt(dot(b->width, row, row));
    if (!(length > 0) || !isfinite(length)) return false;
    memcpy(b->rest, row, b->width * sizeof *row);
    memset(l, 0, b->capacity * sizeof *l);
    double before = length, left = 0;
    for (int pass = 0; pass < 2;
         pass++) { /* again where much has canceled (Daniel et al., Math. Comp. 30 (1976) 772) */
        memcpy(b->given, b->rest, b->width * sizeof *row);
        take_out(b, l);
        left = sqrt(dot(b->width, b->rest, b->rest));
        if (left > 0.7 * before) break;
        before = left;
    }
    if (!(left > b->tolerance * length) || left <= b->floor) return false;
    l[b->rank] = left;
    double *q = b->Q + b->rank * b->width;
    for (size_t j = 0; j < b->width; j++) q[j] = b->rest[j] / left;
    b->rank++;
    return true;
}

void row_basis_solve(const row_basis *b, double *r, double *x) {
    memset(x, 0, b->width * sizeof *x);
    for (size_t i = 0; i < b->rank; i++) {
        const double *l = b->L + i * b->capacity, *q = b->Q + i * b->width;
        r[i] = (r[i] - dot(i, l, r)) / l[i];
        for (size_t j = 0; j < b->width; j++) x[j] += r[i] * q[j];
    }
}

void row_basis_project(const row_basis *b, const double *w, double *mu) {
    for (size_t i = 0; i < b->rank; i++) mu[i] = dot(b->width, b->Q + i * b->width, w);
    for (size_t i = b->rank; i-- > 0;) { /* Lᵀ mu = Q w */
        mu[i] /= b->L[i * b->capacity + i];
        for (size_t j = 0; j < i; j++) mu[j] -= b->L[i * b->capacity + j] * mu[i];
    }
}

void row_basis_reduce(const row_basis *b, double *w) {
    for (size_t i = 0; i < b->rank; i++) {
        const double *q = b->Q + i * b->width;
        double along = dot(b->width, q, w);
        for (size_t j = 0; j < b->width; j++) w[j] -= along * q[j];
    }
}
