/* rank_qr.c — see the header for the mathematics. */
#include "engine/linear/rank_qr.h"

#include "engine/base/finite.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

bool rank_qr_create(rank_qr *s, size_t n, size_t most) {
    size_t least = n < most ? n : most;
    *s = (rank_qr){.n = n, .most = most, .limit = SIZE_MAX};
    s->pivot = arena_alloc(&s->memory, most, sizeof *s->pivot);
    s->B_pivot = arena_alloc(&s->memory, least, sizeof *s->B_pivot);
    s->T_pivot = arena_alloc(&s->memory, least, sizeof *s->T_pivot);
    return ARENA_DOUBLES(&s->memory, {&s->QR, n * most}, {&s->scale, most}, {&s->length, most}, {&s->scratch, 2 * most},
                         {&s->tau, least}, {&s->B_tau, least}, {&s->T_tau, least}, {&s->B, most * least},
                         {&s->T, n * least}, {&s->z, n});
}

void rank_qr_free(rank_qr *s) {
    arena_free(&s->memory);
    *s = (rank_qr){0};
}

double rank_qr_part(double length, double usual) {
    return length > 0 && usual > 0 ? length / usual : 1;
}

void rank_qr_load(rank_qr *s, size_t k, const double *rows, const double *usual) {
    assert(k <= s->most);
    s->k = k;
    for (size_t c = 0; c < k; c++) {
        double sum = 0, *column = s->QR + s->n * c;
        for (size_t i = 0; i < s->n; i++) sum += rows[i + s->n * c] * rows[i + s->n * c];
        s->length[c] = rank_qr_part(sqrt(sum), usual ? usual[c] : 0);
        s->scale[c] = sum > 0 ? s->length[c] / sqrt(sum) : 1;
        for (size_t i = 0; i < s->n; i++) column[i] = s->scale[c] * rows[i + s->n * c];
    }
}

/* Computes T and factors it: T = [R₁₁ R₁₂; 0 R₂₂] [R₁₁ R₁₂]ᵀ. */
static void factor_rotation(rank_qr *s) {
    size_t n = s->n, rank = s->rank;
    memset(s->T, 0, n * rank * sizeof *s->T);
    for (size_t p = 0; p < s->k; p++) {
        const double *column = s->QR + n * p;
        size_t filled = p < rank ? p + 1 : n;
        for (size_t j = 0; j < rank && j < filled; j++)
            for (size_t i = 0; i < filled; i++) s->T[i + n * j] += column[i] * column[j];
    }
    (void)dense_qr(n, rank, rank, s->T, s->T_tau, s->T_pivot, 0, s->scratch);
    s->turned = true;
}

bool rank_qr_factor(rank_qr *s) {
    size_t n = s->n, k = s->k;
    assert(k <= s->most);
    s->turned = false;
    s->rank = dense_qr(n, k, s->limit, s->QR, s->tau, s->pivot, RANK_TOLERANCE, s->scratch);
    if (s->rank == k) return true;
    if (s->rank == 0) return all_finite(s->QR, n * k);
    memset(s->B, 0, k * s->rank * sizeof *s->B);
    for (size_t i = 0; i < s->rank; i++)
        for (size_t p = i; p < k; p++) /* R is upper trapezoidal */
            s->B[s->pivot[p] + k * i] = s->QR[i + n * p] / s->scale[s->pivot[p]];
    return dense_qr(k, s->rank, s->rank, s->B, s->B_tau, s->B_pivot, 0, s->scratch) == s->rank;
}

double rank_qr_margin(const rank_qr *s) {
    double least = 1;
    for (size_t i = 0; i < s->rank; i++) {
        double length = s->length[s->pivot[i]], angle = fabs(s->QR[i + s->n * i]);
        if (angle < least * length) least = angle / length;
    }
    return least;
}

double rank_qr_coordinates(const rank_qr *s, const double *rho, double *z) {
    double worst = 0, size = 1;
    for (size_t p = 0; p < s->k; p++) {
        double sum = rho[s->pivot[p]];
        size_t last = p < s->rank ? p : s->rank;
        for (size_t i = 0; i < last; i++) sum -= s->QR[i + s->n * p] * z[i];
        if (p < s->rank)
            z[p] = sum / s->QR[p + s->n * p];
        else
            worst = fmax(worst, fabs(sum));
        size = fmax(size, fabs(rho[s->pivot[p]]));
    }
    return worst / size;
}

void rank_qr_vector(rank_qr *s, const double *z, double *x) {
    size_t n = s->n, rank = s->rank;
    memset(x, 0, n * sizeof *x);
    if (rank == s->k) {
        memcpy(x, z, rank * sizeof *x);
    } else {
        rank_qr_scaled_multipliers(s, z, s->scratch);
        for (size_t p = 0; p < s->k; p++)
            for (size_t i = 0; i < (p < rank ? p + 1 : n); i++) x[i] += s->QR[i + n * p] * s->scratch[s->pivot[p]];
    }
    dense_qr_apply(n, rank, s->QR, s->tau, x);
}

double rank_qr_solution(rank_qr *s, const double *r, double *x) {
    for (size_t c = 0; c < s->k; c++) s->scratch[c] = s->scale[c] * r[c];
    double contradiction = rank_qr_coordinates(s, s->scratch, s->z);
    rank_qr_vector(s, s->z, x);
    return contradiction;
}

void rank_qr_scaled_multipliers(const rank_qr *s, const double *z, double *out) {
    size_t n = s->n, rank = s->rank;
    if (rank == s->k) {
        for (size_t i = rank; i-- > 0;) {
            double sum = z[i];
            for (size_t j = i + 1; j < rank; j++) sum -= s->QR[i + n * j] * out[s->pivot[j]];
            out[s->pivot[i]] = sum / s->QR[i + n * i];
        }
        return;
    }
    /* λ = Q_B R_B⁻ᵀ z satisfies R λ = z and is in the range of Bᵀ, so its norm is least */
    size_t k = s->k;
    memset(out, 0, k * sizeof *out);
    for (size_t i = 0; i < rank; i++) {
        double sum = z[s->B_pivot[i]];
        for (size_t j = 0; j < i; j++) sum -= s->B[j + k * i] * out[j];
        out[i] = sum / s->B[i + k * i];
    }
    dense_qr_apply(k, rank, s->B, s->B_tau, out);
    for (size_t c = 0; c < k; c++) out[c] /= s->scale[c];
}

void rank_qr_multipliers(rank_qr *s, const double *f, double *lambda) {
    memcpy(s->z, f, s->n * sizeof *f);
    dense_qr_apply_transpose(s->n, s->rank, s->QR, s->tau, s->z);
    rank_qr_scaled_multipliers(s, s->z, lambda);
    for (size_t c = 0; c < s->k; c++) lambda[c] *= s->scale[c];
}

/* Computes columns `first` to `last` − 1 of the rotated Q. */
static void list_directions(rank_qr *s, size_t first, size_t last, double *basis) {
    size_t n = s->n;
    if (s->rank < s->k && !s->turned) factor_rotation(s);
    memset(basis, 0, n * (last - first) * sizeof *basis);
    for (size_t j = first; j < last; j++) {
        double *column = basis + n * (j - first);
        column[j] = 1;
        if (s->turned) dense_qr_apply(n, s->rank, s->T, s->T_tau, column);
        dense_qr_apply(n, s->rank, s->QR, s->tau, column);
    }
}

void rank_qr_directions(rank_qr *s, double *basis) {
    list_directions(s, 0, s->rank, basis);
}

void rank_qr_free_directions(rank_qr *s, double *basis) {
    list_directions(s, s->rank, s->n, basis);
}
