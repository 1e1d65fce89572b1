/* plot_figure.h — the drawing itself: on a surface (a file), or in the characters of a terminal. */
#ifndef HAMEL_CLI_PLOT_FIGURE_H
#define HAMEL_CLI_PLOT_FIGURE_H

#include "clients/cli/plot_axis.h"
#include "clients/cli/plot_surface.h"

/* The axes of a table with a row at least: of column 0, and of all the others together. */
plot_axis plot_axis_across(const plot_table *t, size_t marks);
plot_axis plot_axis_up(const plot_table *t, size_t marks);

/* Draws frame, marks, names and columns. False without memory. */
bool plot_figure_draw(const plot_table *t, plot_surface *surface, double width, double height);

typedef struct plot_terminal {
    size_t width, height; /* in characters */
    bool dots;            /* Braille patterns (Unicode 2800..28ff), with lines around; else letters of ASCII */
    bool colours;         /* by the sequences of ECMA-48, 8.3.117 */
} plot_terminal;

/* To `out`. False without memory. */
bool plot_terminal_draw(const plot_table *t, const plot_terminal *terminal, FILE *out);

#endif
