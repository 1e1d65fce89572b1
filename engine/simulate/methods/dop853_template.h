/* dormand_prince.c — see the header. */
#include "engine/simulate/dormand_prince.h"

#include <math.h>
#include <stdlib.h>

enum { DENSE_TERMS = 7 };

bool dp_create(dormand_prince *d, size_t length, dp_rates *rates, void *context) {
    *d = (dormand_prince){.length = length, .rates = rates, .context = context};
    d->y = octets_alloc((3 + DOP853_ALL + DENSE_TERMS) * length);
    if (!d->y) return false;
    d->next = d->y + length;
    d->stage = d->next + length;
    d->slopes = d->stage + length;
    d->dense = d->slopes + DOP853_ALL * length;
    return true;
}

void dp_free(dormand_prince *d) {
    free(d->y);
    d->y = NULL;
}

/* out := from + h Σ weights[j] k_j, j < count; `from` may be NULL for 0. */
OCTET_INLINE void add_up_body(const dormand_prince *d, const double *weights, size_t count, const octet *from,
                              octet *out) {
    size_t used = 0, at[DOP853_ALL] = {0};
    double factor[DOP853_ALL] = {0};
    for (size_t j = 0; j < count; j++) {
        if (weights[j] == 0) continue;
        factor[used] = weights[j];
        at[used++] = j * d->length;
    }
    for (size_t i = 0; i < d->length; i++) {
        octet sum = factor[0] * d->slopes[at[0] + i];
        for (size_t j = 1; j < used; j++) sum += factor[j] * d->slopes[at[j] + i];
        out[i] = from ? from[i] + d->h * sum : d->h * sum;
    }
}
OCTET_FUNCTION(void, add_up,
               (const dormand_prince *d, const double *weights, size_t count, const octet *from, octet *out),
               (d, weights, count, from, out))

static void find_slope(dormand_prince *d, size_t number, const octet *y) {
    octet t = d->t + dop853_c[number] * d->h;
    d->rates(d->context, &t, y, dp_slope(d, number));
}

void dp_try(dormand_prince *d) {
    for (size_t k = 1; k <= DOP853_STAGES; k++) {
        octet *state = k < DOP853_STAGES ? d->stage : d->next;
        add_up(d, dop853_a[k], k, d->y, state);
        find_slope(d, k, state);
    }
}

/* |h| e5² / √(length (e5² + e3²/100)), e the weighted sums of both estimates (Hairer & al. II.10, as in their code). */
OCTET_INLINE void measure_body(const dormand_prince *d, double rtol, const double *atol, octet *error) {
    octet fifth = {0}, third = {0};
    for (size_t i = 0; i < d->length; i++) {
        octet e5 = {0}, e3 = {0}, scale = {0};
        for (size_t k = 0; k < DOP853_STAGES; k++) {
            if (dop853_error_5[k] == 0) continue; /* the same ones as of the other */
            e5 += dop853_error_5[k] * d->slopes[k * d->length + i];
            e3 += dop853_error_3[k] * d->slopes[k * d->length + i];
        }
        for (int k = 0; k < OCTET; k++) {
            double before = fabs(d->y[i][k]), after = fabs(d->next[i][k]);
            scale[k] = before > after ? before : after;
        }
        scale = 1 / (rtol * scale + atol[i]);
        e5 *= scale;
        e3 *= scale;
        fifth += e5 * e5;
        third += e3 * e3;
    }
    octet both = (double)d->length * (fifth + 0.01 * third);
    for (int k = 0; k < OCTET; k++) {
        double size = fifth[k] * fabs(d->h[k]) / sqrt(both[k]);
        (*error)[k] = both[k] == 0 ? 0 : size;
    }
}
OCTET_FUNCTION(void, measure, (const dormand_prince *d, double rtol, const double *atol, octet *error),
               (d, rtol, atol, error))

void dp_error(const dormand_prince *d, double rtol, const double *atol, octet *error) {
    measure(d, rtol, atol, error);
}

void dp_stiffness(const dormand_prince *d, octet *product) {
    octet slopes = {0}, states = {0};
    const octet *last = dp_slope(d, DOP853_STAGES - 1), *end = dp_slope(d, DOP853_STAGES);
    for (size_t i = 0; i < d->length; i++) {
        octet slope = end[i] - last[i], state = d->next[i] - d->stage[i];
        slopes += slope * slope;
        states += state * state;
    }
    for (int k = 0; k < OCTET; k++) (*product)[k] = states[k] > 0 ? fabs(d->h[k]) * sqrt(slopes[k] / states[k]) : 0;
}

void dp_open_dense(dormand_prince *d) {
    const octet *begin = dp_slope(d, 0), *end = dp_slope(d, DOP853_STAGES);
    size_t n = d->length;
    for (size_t k = DOP853_STAGES + 1; k < DOP853_ALL; k++) {
        add_up(d, dop853_a[k], k, d->y, d->dense); /* scratch until below */
        find_slope(d, k, d->dense);
    }
    for (size_t i = 0; i < n; i++) {
        octet change = d->next[i] - d->y[i];
        d->dense[i] = change;
        d->dense[n + i] = d->h * begin[i] - change;
        d->dense[2 * n + i] = 2 * change - d->h * (end[i] + begin[i]);
    }
    for (size_t k = 3; k < DENSE_TERMS; k++) add_up(d, dop853_dense[k - 3], DOP853_ALL, NULL, d->dense + k * n);
}

/* Hairer & al. II.6, (6.15): a polynomial in factors part and 1 − part by turns. */
void dp_interpolate(const dormand_prince *d, const octet *part, octet *out) {
    octet rest = 1 - *part;
    for (size_t i = 0; i < d->length; i++) {
        octet sum = {0};
        for (size_t k = DENSE_TERMS; k-- > 0;) sum = (sum + d->dense[k * d->length + i]) * (k % 2 ? rest : *part);
        out[i] = d->y[i] + sum;
    }
}
