/* table.c — piecewise polynomials through points.
 *
 * A cubic spline is determined by its slopes s_i at the points. With h_i = x_(i+1) − x_i and
 * d_i = (y_(i+1) − y_i)/h_i, continuity of the second derivative at point i requires
 *
 *     h_i s_(i−1) + 2 (h_(i−1) + h_i) s_i + h_(i−1) s_(i+1) = 3 (h_i d_(i−1) + h_(i−1) d_i)
 *
 * The two not-a-knot conditions complete the system. Each of these conditions has three unknowns. The neighbouring
 * equation eliminates one of the unknowns (de Boor, chapter IV, equations 6 to 8), so the system is tridiagonal. After
 * elimination of the first row, every pivot exceeds the entry to its right, so no pivoting is needed. */
#include "engine/graph/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct spline {
    const double *x, *y;
    double *diagonal, *slope; /* `count` each; `slope` contains the right-hand sides until the system is solved */
    size_t count;
} spline;

static double width(const spline *s, size_t i) {
    return s->x[i + 1] - s->x[i];
}

static double secant(const spline *s, size_t i) {
    return (s->y[i + 1] - s->y[i]) / width(s, i);
}

/* Sets the slopes of the parabola through three points, or of the line through two points. */
static void slopes_of_few(spline *s) {
    double curvature = s->count > 2 ? (secant(s, 1) - secant(s, 0)) / (s->x[2] - s->x[0]) : 0;
    s->slope[0] = secant(s, 0) - curvature * width(s, 0);
    for (size_t i = 1; i < s->count; i++) s->slope[i] = secant(s, i - 1) + curvature * width(s, i - 1);
}

/* Return the entries of row i to the right and to the left of the diagonal. */
static double right_of(const spline *s, size_t i) {
    return i == 0 ? s->x[2] - s->x[0] : width(s, i - 1);
}

static double left_of(const spline *s, size_t i) {
    return i == s->count - 1 ? s->x[i] - s->x[i - 2] : width(s, i);
}

static void fill_rows(spline *s) {
    size_t last = s->count - 1;
    double span = s->x[2] - s->x[0], h = width(s, 0), k = width(s, 1);
    s->diagonal[0] = k;
    s->slope[0] = ((h + 2 * span) * k * secant(s, 0) + h * h * secant(s, 1)) / span;
    for (size_t i = 1; i < last; i++) {
        h = width(s, i - 1), k = width(s, i);
        s->diagonal[i] = 2 * (h + k);
        s->slope[i] = 3 * (k * secant(s, i - 1) + h * secant(s, i));
    }
    span = s->x[last] - s->x[last - 2], h = width(s, last - 1), k = width(s, last - 2);
    s->diagonal[last] = k;
    s->slope[last] = (h * h * secant(s, last - 2) + (2 * span + h) * k * secant(s, last - 1)) / span;
}

static void slopes_of_many(spline *s) {
    fill_rows(s);
    for (size_t i = 1; i < s->count; i++) {
        double factor = left_of(s, i) / s->diagonal[i - 1];
        s->diagonal[i] -= factor * right_of(s, i - 1);
        s->slope[i] -= factor * s->slope[i - 1];
    }
    s->slope[s->count - 1] /= s->diagonal[s->count - 1];
    for (size_t i = s->count - 1; i-- > 0;)
        s->slope[i] = (s->slope[i] - right_of(s, i) * s->slope[i + 1]) / s->diagonal[i];
}

/* Computes the cubic of each segment from the values and slopes at both ends (Hermite interpolation). */
static void fill_cubics(const spline *s, double *c) {
    for (size_t i = 0; i + 1 < s->count; i++, c += 4) {
        double h = width(s, i), d = secant(s, i), bend = (s->slope[i] + s->slope[i + 1] - 2 * d) / h;
        c[0] = s->y[i];
        c[1] = s->slope[i];
        c[2] = (d - s->slope[i]) / h - bend;
        c[3] = bend / h;
    }
}

static bool make_cubics(spline *s, double *coefficients) {
    s->slope = malloc(2 * s->count * sizeof *s->slope);
    if (!s->slope) return false;
    s->diagonal = s->slope + s->count;
    if (s->count < 4)
        slopes_of_few(s);
    else
        slopes_of_many(s);
    fill_cubics(s, coefficients);
    free(s->slope);
    return true;
}

hamel_status table_make(graph_table *table, arena *memory, const double *x, const double *y, size_t count) {
    assert(count >= 2 && (table->degree == 1 || table->degree == 3));
    size_t terms = (size_t)table->degree + 1, total = (count - 1) * terms;
    double *kept = arena_alloc(memory, count, sizeof *kept), *c = arena_alloc(memory, total, sizeof *c);
    if (!kept || !c) return HAMEL_NO_MEMORY;
    memcpy(kept, x, count * sizeof *kept);
    spline s = {.x = kept, .y = y, .count = count};
    if (table->degree == 3 && !make_cubics(&s, c)) return HAMEL_NO_MEMORY;
    for (size_t i = 0; table->degree == 1 && i + 1 < count; i++) {
        c[2 * i] = y[i];
        c[2 * i + 1] = secant(&s, i);
    }
    for (size_t i = 0; i < total; i++)
        if (!isfinite(c[i])) return HAMEL_NOT_FINITE;
    table->count = count;
    table->x = kept;
    table->coefficients = c;
    return HAMEL_OK;
}

ptrdiff_t table_segment(const graph_table *table, double x) {
    size_t low = 0, high = table->count - 1;
    if (x < table->x[0]) return -1;
    if (x > table->x[high]) return (ptrdiff_t)high;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (table->x[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return (ptrdiff_t)low;
}

/* Returns the derivative of the given order of Σ c_k u^k, by Horner's rule. */
static double polynomial(const double *c, int degree, double u, int order) {
    double sum = 0;
    for (int k = degree; k >= order; k--) {
        double factor = 1;
        for (int j = 0; j < order; j++) factor *= k - j;
        sum = sum * u + factor * c[k];
    }
    return sum;
}

double table_value(const graph_table *table, double x, int order) {
    size_t last = table->count - 1, terms = (size_t)table->degree + 1;
    if (isnan(x)) return x;
    double nearest = x < table->x[0] ? table->x[0] : x > table->x[last] ? table->x[last] : x;
    if (x != nearest && !table->hold) return NAN;
    if (x != nearest && order > 0) return 0;
    size_t i = (size_t)table_segment(table, nearest);
    return polynomial(table->coefficients + i * terms, table->degree, nearest - table->x[i], order);
}
