/* dormand_prince.c — see the header. */
#include "engine/simulate/dormand_prince.h"

#include <math.h>
#include <stdlib.h>

enum { DENSE_TERMS = 7 };

bool dp_create(dormand_prince *d, size_t length, dp_rates *rates, void *context) {
    *d = (dormand_prince){.length = length, .rates = rates, .context = context};
    d->y = octets_alloc((3 + DP_SLOPES + DENSE_TERMS) * length);
    if (!d->y) return false;
    d->next = d->y + length;
    d->stage = d->next + length;
    d->slopes = d->stage + length;
    d->dense = d->slopes + DP_SLOPES * length;
    return true;
}

void dp_free(dormand_prince *d) {
    free(d->y);
    d->y = NULL;
}

/* out := from + h Σ weight k; `from` may be NULL for 0. */
OCTET_INLINE void add_up_body(const dormand_prince *d, const dp_sum *s, const octet *from, octet *out) {
    for (size_t i = 0; i < d->length; i++) {
        octet sum = s->weight[0] * d->slopes[s->slope[0] * d->length + i];
        for (size_t k = 1; k < s->count; k++) sum += s->weight[k] * d->slopes[s->slope[k] * d->length + i];
        out[i] = from ? from[i] + d->h * sum : d->h * sum;
    }
}
OCTET_FUNCTION(void, add_up, (const dormand_prince *d, const dp_sum *s, const octet *from, octet *out),
               (d, s, from, out))

static void find_slope(dormand_prince *d, size_t number, const octet *y) {
    octet t = d->t + dp_node[number] * d->h;
    d->rates(d->context, &t, y, dp_slope(d, number));
}

void dp_try(dormand_prince *d) {
    for (size_t k = 1; k < DP_STAGES; k++) {
        add_up(d, &dp_stage[k - 1], d->y, d->stage);
        find_slope(d, k, d->stage);
    }
    add_up(d, &dp_step, d->y, d->next);
    find_slope(d, DP_STAGES, d->next);
}

/* |h| e5² / √(length (e5² + e3²/100)), e the weighted sums of both estimates (Hairer & al. II.10, as in their code). */
OCTET_INLINE void measure_body(const dormand_prince *d, double rtol, const double *atol, octet *error) {
    octet fifth = {0}, third = {0};
    for (size_t i = 0; i < d->length; i++) {
        octet e5 = {0}, e3 = {0}, scale;
        for (size_t k = 0; k < dp_error_5.count; k++)
            e5 += dp_error_5.weight[k] * d->slopes[dp_error_5.slope[k] * d->length + i];
        for (size_t k = 0; k < dp_error_3.count; k++)
            e3 += dp_error_3.weight[k] * d->slopes[dp_error_3.slope[k] * d->length + i];
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
    const octet *last = dp_slope(d, DP_STAGES - 1), *end = dp_slope(d, DP_STAGES);
    for (size_t i = 0; i < d->length; i++) {
        octet slope = end[i] - last[i], state = d->next[i] - d->stage[i];
        slopes += slope * slope;
        states += state * state;
    }
    for (int k = 0; k < OCTET; k++) (*product)[k] = states[k] > 0 ? fabs(d->h[k]) * sqrt(slopes[k] / states[k]) : 0;
}

void dp_open_dense(dormand_prince *d) {
    const octet *begin = dp_slope(d, 0), *end = dp_slope(d, DP_STAGES);
    size_t n = d->length;
    for (size_t k = 0; k < DP_EXTRA; k++) {
        add_up(d, &dp_extra[k], d->y, d->dense); /* scratch until below */
        find_slope(d, DP_STAGES + 1 + k, d->dense);
    }
    for (size_t i = 0; i < n; i++) {
        octet change = d->next[i] - d->y[i];
        d->dense[i] = change;
        d->dense[n + i] = d->h * begin[i] - change;
        d->dense[2 * n + i] = 2 * change - d->h * (end[i] + begin[i]);
    }
    for (size_t k = 0; k < DP_DENSE; k++) add_up(d, &dp_dense[k], NULL, d->dense + (3 + k) * n);
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
