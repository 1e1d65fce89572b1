/* plot_axis.h — one axis of a drawing: the range it shows, round numbers on it, and their labels. */
#ifndef HAMEL_CLI_PLOT_AXIS_H
#define HAMEL_CLI_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum { PLOT_LABEL_BYTES = 32 };

typedef struct plot_axis {
    double low, high;   /* what is shown: low < high */
    double first, step; /* of the marks: (first + k) step */
    size_t count;       /* of the marks */
} plot_axis;

/* Shows least..most (finite, least <= most), with some room around when `room`, or when they do not differ; about
 * `marks` numbers on it, 1, 2 or 5 times a power of ten apart. */
plot_axis plot_axis_over(double least, double most, bool room, size_t marks);

double plot_axis_mark(const plot_axis *a, size_t k);
void plot_axis_label(const plot_axis *a, size_t k, char label[PLOT_LABEL_BYTES]);
size_t plot_axis_label_length(const plot_axis *a); /* of the longest label */

/* Where a value is: 0 at the low end, 1 at the high end. */
double plot_axis_part(const plot_axis *a, double value);

#endif
