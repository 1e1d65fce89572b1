/* figure.h — draws a table on a surface (a file), or as characters on a terminal. */
#pragma once

#include "clients/cli/plot/axis.h"
#include "clients/cli/plot/surface.h"

/* Return the horizontal axis (column 0) and the vertical axis (all other columns) of a table with at least one row. */
plot_axis plot_axis_across(const plot_table *t, size_t marks);
plot_axis plot_axis_up(const plot_table *t, size_t marks);

/* Draws the title, a legend, the frame, the marks and one line for each column. Returns false if memory could not be
 * allocated. */
bool plot_figure_draw(const plot_table *t, plot_surface *surface, double width, double height);

typedef struct plot_terminal {
    size_t width, height; /* size in characters */
    bool dots;            /* true: Braille patterns (Unicode 2800..28ff) and box lines; false: ASCII */
    bool colours;         /* whether to use the colour sequences of ECMA-48, 8.3.117 */
} plot_terminal;

/* Draws the table to `out` as characters. Returns false if memory could not be allocated. */
bool plot_terminal_draw(const plot_table *t, const plot_terminal *terminal, FILE *out);
