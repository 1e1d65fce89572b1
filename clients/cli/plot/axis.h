/* axis.h — axis of a drawing: range, tick marks at round numbers, labels. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PLOT_LABEL_BYTES = 32 };

typedef struct plot_axis {
    double low, high;   /* range: low < high */
    double first, step; /* mark k is at (first + k) * step */
    size_t count;       /* number of marks */
} plot_axis;

/* Returns an axis for values from `least` to `most` (finite, least <= most). If `room` is set, or the values are equal
 * up to rounding, the axis extends beyond the values at both ends. The axis has about `marks` marks, whose distance is
 * 1, 2 or 5 times a power of ten. */
plot_axis plot_axis_over(double least, double most, bool room, size_t marks);

double plot_axis_mark(const plot_axis *a, size_t k);
void plot_axis_label(const plot_axis *a, size_t k, char label[PLOT_LABEL_BYTES]);
size_t plot_axis_label_length(const plot_axis *a); /* returns the length in bytes of the longest label */

/* Returns the relative position of a value on the axis: 0 at the low end, 1 at the high end. */
double plot_axis_part(const plot_axis *a, double value);
