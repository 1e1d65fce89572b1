/* steady_stability.c — eigenvalues and stability of a steady motion.
 *
 * The reduced system is linearized for changes of s that satisfy the holonomic constraints. If an eigenvalue has a
 * positive real part, the motion is unstable. Suppose that all nonzero eigenvalues have negative real
 * parts. The motion is then stable if the number of zero eigenvalues is the dimension of the set of steady motions
 * (Lyapunov; Malkin 1952).
 *
 * If s is a single coordinate, a case with imaginary eigenvalues is decided as well. Suppose that the rates of all u
 * other than s' are proportional to s'. Then du/ds is a function of s and u, so each u is a function of s and of
 * constants of integration (as for the rolling disk: Papastavridis, Introduction 8.13). For given constants, the motion
 * has one freedom with a positive mass. If the eigenvalues are imaginary, the energy T + V has a minimum at the steady
 * motion. */
#include "engine/analyze/steady_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An eigenvalue counts as 0 below this fraction of the largest eigenvalue, or of the norm of the matrix. Rounding
 * changes a double eigenvalue by about √ε = 1.5e-8 times the norm. */
static const double ZERO_BY_LARGEST = 1e-6, ZERO_BY_NORM = 1e-7;
/* A real part counts as 0 below this fraction of the largest eigenvalue, because of the same rounding errors. */
static const double REAL_PART = 1e-6;
/* Two accelerations count as equal below this relative difference; see SAME in steady_system.c. */
static const double SAME_RATE = 1e-8;
enum { PROBES = 3 };

/* Fills the columns of N (k rows) with an orthonormal basis of the changes of s that satisfy the holonomic constraints.
 * Returns the number of columns, or SIZE_MAX on failure. */
static size_t admissible(steady_system *s, double *N) {
    size_t k = s->shape_count, columns = steady_unknowns(s), rows = s->m > k ? s->m : k, rank = 0;
    const double *phi = s->J + (k + s->freedom) * columns;
    double *A = calloc(rows * k + k * k + 2 * k + 1, sizeof *A), *V = A ? A + rows * k : NULL;
    if (!A) return SIZE_MAX;
    double *values = V + k * k, *super = values + k;
    for (size_t c = 0; c < s->m; c++) memcpy(A + c * k, phi + c * columns, k * sizeof *A);
    int info = k == 0 ? 0
                      : LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', (lapack_int)rows, (lapack_int)k, A, (lapack_int)k,
                                       values, NULL, 1, V, (lapack_int)k, super);
    while (rank < k && values[rank] > 1e-10 * values[0]) rank++;
    for (size_t z = rank; z < k; z++)
        for (size_t i = 0; i < k; i++) N[i * k + z - rank] = V[z * k + i];
    free(A);
    return info == 0 ? k - rank : SIZE_MAX;
}

/* Fills A with the matrix of the linearized reduced system: changes of s in the basis N, then changes of u. */
static void reduce_matrix(const steady_system *s, const double *N, size_t count, double *A) {
    size_t k = s->shape_count, f = s->freedom, size = count + f, columns = k + f;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++) {
            double sum = 0;
            for (size_t x = 0; x < (i < count ? k : 1); x++)
                for (size_t y = 0; y < (j < count ? k : 1); y++) {
                    size_t row = i < count ? x : k + i - count, column = j < count ? y : k + j - count;
                    double left = i < count ? N[x * k + i] : 1, right = j < count ? N[y * k + j] : 1;
                    sum += left * s->J[row * columns + column] * right;
                }
            A[i * size + j] = sum;
        }
}

static int by_parts(const void *x, const void *y) {
    const double *a = x, *b = y;
    if (fabs(a[1]) != fabs(b[1])) return fabs(a[1]) < fabs(b[1]) ? -1 : 1;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return (a[1] < b[1]) - (a[1] > b[1]);
}

/* Returns the index r for which u_r is the rate of the single coordinate s. Returns `freedom` if there is no such
 * index. */
static size_t rate_of_shape(const steady_system *s) {
    for (size_t r = 0; r < s->freedom && s->shape_count == 1; r++)
        if (s->coordinate[s->chosen[r]] == (int32_t)s->shape[0]) return r;
    return s->freedom;
}

/* Returns true if energy is conserved and, at random states, the rates of all u other than s' are proportional to
 * s'. */
static bool has_one_freedom(steady_system *s) {
    size_t own = rate_of_shape(s), f = s->freedom, n = s->n;
    uint64_t seed = 11;
    bool good = own < f && !s->a->model->dynamics.energy_rate;
    double *room = good ? calloc(n + 2 * f, sizeof *room) : NULL, *u = room ? room + n : NULL;
    s->starved = s->starved || (good && !room);
    for (int probe = 0; probe < PROBES && room && good; probe++) {
        memcpy(room, s->q, n * sizeof *room);
        room[s->shape[0]] += random_uniform(&seed, -0.1, 0.1);
        for (size_t r = 0; r < f; r++) u[r] = random_uniform(&seed, -1.5, 1.5);
        for (int factor = 0; factor <= 2 && good; factor++) {
            u[own] = factor;
            good = steady_evaluate(s, s->t, room, u, false);
            for (size_t r = 0; r < f && good; r++) {
                double rate = s->F[1 + r];
                if (factor == 1) u[f + r] = rate;
                double expected = factor == 0 ? 0 : factor * u[f + r];
                good = r == own || fabs(rate - expected) <= SAME_RATE * (1 + fabs(rate));
            }
        }
    }
    free(room);
    return good && own < f;
}

/* Decides the stability from the eigenvalues in *out. `norm` is the Frobenius norm of the matrix with these
 * eigenvalues. */
static void decide(steady_system *s, size_t dimension, double norm, hamel_steady_motion *out) {
    size_t zeros = 0;
    double largest = 0, right = 0;
    bool imaginary = false;
    for (size_t k = 0; k < out->eigenvalue_count; k++)
        largest = fmax(largest, hypot(out->eigenvalues[2 * k], out->eigenvalues[2 * k + 1]));
    double zero = fmax(ZERO_BY_LARGEST * largest, ZERO_BY_NORM * norm);
    for (size_t k = 0; k < out->eigenvalue_count; k++) {
        double re = out->eigenvalues[2 * k], size = hypot(re, out->eigenvalues[2 * k + 1]);
        zeros += size <= zero;
        if (size <= zero) continue;
        right = fmax(right, re);
        imaginary = imaginary || fabs(re) <= REAL_PART * largest;
    }
    bool grows = right > REAL_PART * largest, explained = zeros == dimension;
    out->linearly_stable = !grows;
    out->decided = grows || (explained && (!imaginary || has_one_freedom(s)));
    out->stable = out->decided && !grows;
    if (out->decided)
        out->decided_by = grows || !imaginary ? "eigenvalues" : "minimum of the energy at constant integrals";
    if (!out->decided)
        out->reason = explained ? "linear theory does not decide, because some eigenvalues are imaginary"
                                : "linear theory does not decide, because the number of zero eigenvalues is not the "
                                  "dimension of the set of steady motions";
}

hamel_status steady_decide(steady_system *s, size_t dimension, hamel_steady_motion *out) {
    analysis *a = s->a;
    size_t k = s->shape_count, most = k + s->freedom;
    double *N = arena_doubles(a->memory, k * k + 1), *A = arena_doubles(a->memory, most * most + 1);
    double *re = arena_doubles(a->memory, 2 * most), *values = arena_doubles(a->memory, 2 * most), norm = 0;
    if (a->memory->failed) return analysis_no_memory(a);
    size_t count = admissible(s, N);
    if (count == SIZE_MAX) return analysis_no_memory(a);
    size_t size = count + s->freedom;
    reduce_matrix(s, N, count, A);
    for (size_t i = 0; i < size * size; i++) norm = hypot(norm, A[i]);
    if (size > 0 && LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', (lapack_int)size, A, (lapack_int)size, re, re + most,
                                  NULL, (lapack_int)size, NULL, (lapack_int)size) != 0)
        return analysis_no_memory(a);
    for (size_t i = 0; i < size; i++) {
        bool zero = hypot(re[i], re[most + i]) < 1e-12;
        values[2 * i] = zero ? 0 : re[i];
        values[2 * i + 1] = zero ? 0 : re[most + i];
    }
    qsort(values, size, 2 * sizeof *values, by_parts);
    out->eigenvalues = values;
    out->eigenvalue_count = size;
    out->family_dimension = dimension;
    decide(s, dimension, norm, out);
    return s->starved ? analysis_no_memory(a) : HAMEL_OK;
}
