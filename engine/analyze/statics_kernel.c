/* statics_kernel.c — neighbourhood of a solution of F(z) = 0 (statics.h): null directions of J, distances, kinks. */
#include "engine/analyze/statics.h"
#include "engine/base/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A direction is a null direction if its singular value, relative to the sizes of the rows, is at most this bound. The
 * bound may be large, because families.c checks each direction found. */
static const double KERNEL = 1e-6;
/* Displacement at which derivatives are compared, relative to max(1, |value|). Over this displacement, smooth
 * derivatives change by about 1e-7 of their size, far less than the smallest kink, 1e-3. */
static const double TINY = 1e-7;
enum { KINK_TRIALS = 12 }; /* number of random displacements at which derivatives are compared */

void statics_tidy(statics *s, double *z) {
    bool some = false;
    memcpy(s->trial, z, s->unknowns * sizeof *z);
    for (size_t j = 0; j < s->n; j++) {
        bool small = z[j] != 0 && fabs(z[j]) < TINY;
        if (small) s->trial[j] = 0;
        some = some || small;
    }
    if (!some || !statics_noise(s, z)) return;
    for (size_t i = 0; i < s->rows; i++)
        s->weight[i] = fmax(fabs(s->F[i]), fmax(4 * s->noise[i], 0x1p-52 * s->scale[i]));
    bool good = statics_evaluate(s, s->trial);
    for (size_t i = 0; i < s->rows && good; i++) good = fabs(s->F[i]) <= s->weight[i];
    if (good) memcpy(z, s->trial, s->unknowns * sizeof *z);
}

size_t statics_width(const statics *s) {
    return s->n + (s->velocities == STATICS_FREE ? s->spinning_count : 0);
}

size_t statics_place(const statics *s, size_t j) {
    assert(j < statics_width(s));
    return j < s->n ? j : j + s->instants * s->m;
}

double statics_distance(const statics *s, const double *x, const double *y) {
    double worst = 0;
    for (size_t j = 0; j < statics_width(s); j++) {
        size_t k = statics_place(s, j);
        worst = fmax(worst, fabs(x[k] - y[k]) / fmax(1, fabs(y[k])));
    }
    return worst;
}

bool statics_right_vectors(statics *s, size_t rows, size_t columns, double *A, double *values, double *vectors) {
    memset(values, 0, columns * sizeof *values);
    if (rows == 0) {
        memset(vectors, 0, columns * columns * sizeof *vectors);
        for (size_t j = 0; j < columns; j++) vectors[j * columns + j] = 1;
        return true;
    }
    int info = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', (lapack_int)rows, (lapack_int)columns, A, (lapack_int)columns,
                              values, NULL, 1, vectors, (lapack_int)columns, s->right);
    s->starved = s->starved || lapacke_starved(info);
    return info == 0;
}

bool statics_decompose(statics *s, size_t rows, size_t columns, double *A) {
    size_t count = rows < columns ? rows : columns;
    s->spent += 8 * (double)rows * (double)columns * (double)count + (double)(columns * columns * columns);
    return statics_right_vectors(s, rows, columns, A, s->singular, s->vectors);
}

void statics_congruence(size_t n, size_t columns, const double *A, const double *T, size_t row_step, size_t column_step,
                        double *scratch, double *B) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < columns; k++) {
            double sum = 0;
            for (size_t r = 0; r < n; r++) sum += A[i * n + r] * T[r * row_step + k * column_step];
            scratch[i * columns + k] = sum;
        }
    for (size_t k = 0; k < columns; k++)
        for (size_t r = 0; r < columns; r++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += T[i * row_step + k * column_step] * scratch[i * columns + r];
            B[k * columns + r] = sum;
        }
}

/* Copies the null vectors to the rows of s->work, reduced to the entries that define a family. Returns the number of
 * vectors. */
static size_t take_null_vectors(statics *s, const double *z) {
    size_t found = 0, width = statics_width(s);
    for (size_t k = 0; k < s->unknowns; k++) {
        if (s->singular[k] > KERNEL) continue;
        for (size_t j = 0; j < width; j++) {
            size_t at = statics_place(s, j);
            bool counts = j >= s->n || !s->cyclic[j] || (s->velocities == STATICS_GIVEN && s->v[j] == 0);
            s->work[found * width + j] = counts ? s->vectors[k * s->unknowns + at] * fmax(1, fabs(z[at])) : 0;
        }
        found++;
    }
    return found;
}

size_t statics_kernel(statics *s, const double *z, double *columns) {
    size_t unknowns = s->unknowns, width = statics_width(s), found, count = 0;
    if (width == 0 || !statics_row_sizes(s, z)) return 0;
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < unknowns; j++)
            s->work[i * unknowns + j] =
                s->weight[i] > 0 ? s->J[i * unknowns + j] * fmax(1, fabs(z[j])) / s->weight[i] : 0;
    if (!statics_decompose(s, s->rows, unknowns, s->work)) return 0;
    found = take_null_vectors(s, z);
    if (found == 0 || !statics_decompose(s, found, width, s->work)) return 0;
    /* Smaller singular values belong to null vectors of J in which only multipliers change. */
    while (count < width && s->singular[count] > 1e-4) count++;
    memcpy(columns, s->vectors, count * width * sizeof *columns);
    return count;
}

/* --- kinks -------------------------------------------------------------------------------------------------------- */

/* Returns the largest difference between R, R_q and R_v and their values in `kept`, relative to the sizes of the
 * rows. */
static double jump_from(const statics *s, const double *kept) {
    const local_equations *l = &s->local;
    double worst = 0;
    for (size_t i = 0; i < s->n; i++) {
        double size = s->weight[i] > 0 ? s->weight[i] : 1;
        const double *row = kept + i * (2 * s->n + 1);
        worst = fmax(worst, fabs(l->R[i] - row[2 * s->n]) / size);
        for (size_t j = 0; j < s->n; j++) {
            worst = fmax(worst, fabs(l->R_q[i * s->n + j] - row[j]) / size);
            worst = fmax(worst, fabs(l->R_v[i * s->n + j] - row[s->n + j]) / size);
        }
    }
    return worst;
}

static void keep_derivatives(const statics *s, double *kept) {
    const local_equations *l = &s->local;
    for (size_t i = 0; i < s->n; i++) {
        double *row = kept + i * (2 * s->n + 1);
        memcpy(row, l->R_q + i * s->n, s->n * sizeof *row);
        memcpy(row + s->n, l->R_v + i * s->n, s->n * sizeof *row);
        row[2 * s->n] = l->R[i];
    }
}

bool statics_has_kink(statics *s, const double *z) {
    double *kept = s->work, worst = 0; /* s->work holds at least (2n)² doubles; n (2n + 1) are used */
    uint64_t seed = 29;
    if (s->model->system->nonsmooth_count == 0 || s->n == 0 || !statics_row_sizes(s, z)) return false;
    keep_derivatives(s, kept);
    for (int trial = 0; trial < KINK_TRIALS; trial++) {
        for (size_t j = 0; j < s->unknowns; j++) s->trial[j] = z[j];
        for (size_t j = 0; j < s->n; j++) {
            s->trial[j] += TINY * fmax(1, fabs(z[j])) * random_uniform(&seed, -1, 1);
            s->velocity[j] = s->v[j] + TINY * fmax(1, fabs(s->v[j])) * random_uniform(&seed, -1, 1);
        }
        local_state state = {s->t[0], s->trial, s->velocity, s->zero_a, s->trial + s->n};
        if (local_evaluate(&s->local, &state, NULL) == HAMEL_OK) worst = fmax(worst, jump_from(s, kept));
    }
    return worst > 1e-3;
}
