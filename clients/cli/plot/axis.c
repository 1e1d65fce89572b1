/* axis.c — see axis.h. Differences are computed from halved values, which cannot overflow. */
#include "clients/cli/plot/axis.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARKS_MOST = 100 };

/* Bounds on half the range of values that are treated as constant. `flat` is relative to the size of the values. It is
 * about 1e4 units in the last place, so that rounding errors are not drawn as a curve. `least_span` is absolute.
 * Divided among 100 marks, it is more than 1e5 times the least normal double, 2e-308. */
static const double flat = 1e-12, least_span = 1e-300;

static double half_span(double low, double high) {
    return high / 2 - low / 2;
}

/* Returns the smallest number of the form 1, 2 or 5 times a power of ten that is at least `rough`. */
static double round_step(double rough) {
    double power = pow(10, floor(log10(rough)));
    static const double factors[] = {1, 2, 5};
    for (size_t k = 0; k < 3; k++)
        if (factors[k] * power >= rough * (1 - 1e-9)) return factors[k] * power;
    return 10 * power;
}

plot_axis plot_axis_over(double least, double most, bool room, size_t marks) {
    assert(least <= most);
    double size = fmax(fabs(least), fabs(most)), half = half_span(least, most);
    bool constant = half <= fmax(flat * size, least_span);
    double margin = constant ? fmax(size / 10, 5e-4) : room ? half / 10 : 0;
    plot_axis a = {.low = fmax(least - margin, -DBL_MAX), .high = fmin(most + margin, DBL_MAX)};
    if (marks < 1) marks = 1;
    a.step = round_step(fmin(half_span(a.low, a.high) / (double)marks * 2, DBL_MAX / 4));
    a.first = ceil(a.low / a.step - 1e-9);
    double count = floor(a.high / a.step + 1e-9) - a.first + 1;
    a.count = count > MARKS_MOST ? MARKS_MOST : count > 0 ? (size_t)count : 0;
    return a;
}

double plot_axis_mark(const plot_axis *a, size_t k) {
    return (a->first + (double)k) * a->step; /* -0 if first = -0 and k = 0; labels print 0 */
}

/* Writes as many digits as are needed to distinguish neighbouring marks. If the number is long, uses an exponent. */
void plot_axis_label(const plot_axis *a, size_t k, char label[PLOT_LABEL_BYTES]) {
    double value = plot_axis_mark(a, k) + 0.0; /* -0 becomes 0 */
    int of_step = (int)floor(log10(a->step) + 1e-9);
    int of_size = (int)floor(log10(fmax(fmax(fabs(a->low), fabs(a->high)), a->step)) + 1e-9);
    if (of_size >= 6 || of_step < -4) {
        int digits = of_size > of_step ? of_size - of_step : 0;
        if (value == 0) digits = 0;
        snprintf(label, PLOT_LABEL_BYTES, "%.*e", digits > 15 ? 15 : digits, value);
    } else {
        snprintf(label, PLOT_LABEL_BYTES, "%.*f", of_step < 0 ? -of_step : 0, value);
    }
    if (value == 0 && strchr(label, 'e') != NULL) snprintf(label, PLOT_LABEL_BYTES, "0");
}

size_t plot_axis_label_length(const plot_axis *a) {
    char label[PLOT_LABEL_BYTES];
    size_t longest = 0;
    for (size_t k = 0; k < a->count; k++) {
        plot_axis_label(a, k, label);
        if (strlen(label) > longest) longest = strlen(label);
    }
    return longest;
}

double plot_axis_part(const plot_axis *a, double value) {
    return half_span(a->low, value) / half_span(a->low, a->high);
}
