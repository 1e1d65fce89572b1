/* series.c — see series.h. */
#include "engine/analyze/series.h"

#include <string.h>

/* Binomial coefficient of n + k over k, at most `most` + 1. */
static size_t choices(size_t n, size_t k, size_t most) {
    double result = 1;
    for (size_t i = 1; i <= k; i++) {
        result = result * (double)(n + i) / (double)i;
        if (result > (double)most) return most + 1;
    }
    return (size_t)(result + 0.5);
}

/* Monomial i times each variable: beyond those from its last variable on, which are made here, by that of its parent. */
static void extend(series_space *s, size_t i, size_t *made) {
    for (size_t v = 0; v < s->variables; v++) {
        size_t *to = &s->times[i * s->variables + v];
        if (s->degree[i] == s->order) {
            *to = s->count;
        } else if (v < s->last[i]) { /* (parent · v) · last */
            size_t other = s->times[s->parent[i] * s->variables + v];
            *to = s->times[other * s->variables + s->last[i]];
        } else {
            *to = (*made)++;
            s->parent[*to] = i;
            s->last[*to] = v;
            s->degree[*to] = s->degree[i] + 1;
            memcpy(s->exponent + *to * s->variables, s->exponent + i * s->variables,
                   s->variables * sizeof *s->exponent);
            s->exponent[*to * s->variables + v]++;
        }
    }
}

static void list_products(series_space *s) {
    for (size_t i = 0, at = 0; i < s->count; i++) {
        size_t others = s->within[s->order - s->degree[i]];
        s->product[at] = i;
        for (size_t j = 1; j < others; j++)
            s->product[at + j] = s->times[s->product[at + s->parent[j]] * s->variables + s->last[j]];
        at += others;
    }
}

bool series_space_init(series_space *s, size_t variables, size_t order, arena *memory) {
    size_t pairs = choices(2 * variables, order, SERIES_PAIRS), made = 1;
    *s = (series_space){.variables = variables, .order = order, .count = choices(variables, order, SERIES_TERMS)};
    if (s->count > SERIES_TERMS || pairs > SERIES_PAIRS) return false;
    s->parent = arena_alloc(memory, s->count, sizeof *s->parent);
    s->last = arena_alloc(memory, s->count, sizeof *s->last);
    s->degree = arena_alloc(memory, s->count, sizeof *s->degree);
    s->exponent = arena_alloc(memory, s->count * variables, sizeof *s->exponent);
    s->times = arena_alloc(memory, s->count * variables, sizeof *s->times);
    s->within = arena_alloc(memory, order + 1, sizeof *s->within);
    s->product = arena_alloc(memory, pairs, sizeof *s->product);
    if (!s->parent || !s->last || !s->degree || !s->exponent || !s->times || !s->within || !s->product) return false;
    for (size_t i = 0; i < s->count; i++) {
        extend(s, i, &made);
        s->within[s->degree[i]] = i + 1;
    }
    list_products(s);
    return true;
}

void series_add_product(const series_space *s, double *to, double factor, const double *x, const double *y) {
    const size_t *product = s->product;
    for (size_t i = 0; i < s->count; i++) {
        size_t others = s->within[s->order - s->degree[i]];
        double scaled = factor * x[i];
        for (size_t j = 0; scaled != 0 && j < others; j++) to[product[j]] += scaled * y[j];
        product += others;
    }
}

void series_partial(const series_space *s, const double *x, size_t variable, double *to) {
    for (size_t i = 0; i < s->count; i++) {
        size_t above = s->times[i * s->variables + variable];
        to[i] = above < s->count ? (double)s->exponent[above * s->variables + variable] * x[above] : 0;
    }
}

/* x · to = 1, coefficient after coefficient: those of lower degree are known, and a product only adds to higher ones. */
void series_invert(const series_space *s, const double *x, double *to) {
    const size_t *product = s->product;
    memset(to, 0, s->count * sizeof *to);
    to[0] = 1;
    for (size_t i = 0; i < s->count; i++) {
        size_t others = s->within[s->order - s->degree[i]];
        to[i] /= x[0];
        for (size_t j = 1; j < others; j++) to[product[j]] -= to[i] * x[j];
        product += others;
    }
}
