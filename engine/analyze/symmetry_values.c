/* symmetry_values.c — writes the numerical coefficients of a symmetry as expressions in the parameters.
 *
 * For example, a hoop that rotates at the rate Omega = 6 leads to the coefficient 6. The symmetry is computed again
 * with other values of all parameters. If the coefficient is the same multiple of Omega in all cases, it is written
 * with Omega. */
#include "engine/analyze/symmetries_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Two values count as equal below this relative difference. The coefficients are solutions of linear equations and have
 * errors of about 1e-12. */
static const double SAME_VALUE = 1e-9;
/* Fractions with larger denominators are written as decimals. Denominators up to 12 include those of moments of
 * inertia, such as m l²/12. A number that differs from all decimals with MOST_DIGITS digits is written with all
 * digits. */
enum { LARGEST_DENOMINATOR = 12, MOST_DIGITS = 6 };

static bool is_same(double x, double y) {
    return fabs(x - y) <= SAME_VALUE * fmax(fabs(x), fabs(y));
}

/* Returns x as a fraction with a denominator of at most LARGEST_DENOMINATOR or, if there is no such fraction, as a
 * decimal with at most MOST_DIGITS digits. If x equals neither, returns x itself. */
static graph_node write_number(graph *g, double x) {
    for (int d = 1; d <= LARGEST_DENOMINATOR; d++)
        if (is_same(round(x * d) / d, x)) return graph_number(g, round(x * d) / d);
    for (int digits = 1; digits <= MOST_DIGITS; digits++) {
        char text[32];
        snprintf(text, sizeof text, "%.*g", digits, x);
        double rounded = strtod(text, NULL);
        if (is_same(rounded, x)) return graph_number(g, rounded);
    }
    return graph_number(g, x);
}

/* A monomial p_i^a p_j^b of parameters. */
typedef struct monomial {
    size_t i, j;
    int a, b;
} monomial;

static double monomial_value(const monomial *m, const double *p) {
    return pow(p[m->i], m->a) * pow(p[m->j], m->b);
}

/* Returns true if x[k] is the same multiple of the monomial for all sets of parameters. Stores the multiple in
 * *factor. */
static bool fits(const monomial *m, const double *x, size_t sets, double *const *parameters, double *factor) {
    *factor = x[0] / monomial_value(m, parameters[0]);
    for (size_t k = 0; k < sets; k++)
        if (!isfinite(*factor) || *factor == 0 || !is_same(x[k], *factor * monomial_value(m, parameters[k])))
            return false;
    return true;
}

/* Finds the first monomial that fits. Tries powers of single parameters before products and quotients of two
 * parameters. Returns false if no monomial fits. */
static bool find_monomial(monomial *m, const double *x, size_t sets, double *const *parameters, size_t count,
                          double *factor) {
    static const int powers[][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}, {2, 1}, {2, -1}, {1, -2}, {1, 2}};
    static const int single[] = {1, -1, 2, -2};
    for (size_t k = 0; k < sizeof single / sizeof *single; k++)
        for (size_t i = 0; i < count; i++) {
            *m = (monomial){i, i, single[k], 0};
            if (fits(m, x, sets, parameters, factor)) return true;
        }
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++)
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++) {
                *m = (monomial){i, j, powers[k][0], powers[k][1]};
                if (i != j && fits(m, x, sets, parameters, factor)) return true;
            }
    return false;
}

/* Multiplies or divides `node` by a power of a parameter. */
static graph_node times_power(graph *g, graph_node node, size_t parameter, int exponent) {
    graph_node base = graph_symbol(g, SYMBOL_PARAMETER, (int32_t)parameter);
    for (int k = 0; k < abs(exponent); k++) node = exponent > 0 ? graph_mul(g, node, base) : graph_div(g, node, base);
    return node;
}

graph_node symmetry_value(graph *g, const double *x, size_t sets, double *const *parameters, size_t count) {
    monomial m;
    double factor;
    bool constant = true;
    for (size_t k = 1; k < sets; k++) constant = constant && is_same(x[k], x[0]);
    if (constant || !find_monomial(&m, x, sets, parameters, count, &factor)) return write_number(g, x[0]);
    return times_power(g, times_power(g, write_number(g, factor), m.i, m.a), m.j, m.b);
}
