/* plot_surface.h — what a figure is drawn on: each kind of file is a table of functions. Units are those of the figure,
 * x to the right and y down. */
#ifndef HAMEL_CLI_PLOT_SURFACE_H
#define HAMEL_CLI_PLOT_SURFACE_H

#include "clients/cli/plot_table.h"

#include <stdio.h>

typedef enum plot_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } plot_anchor;

typedef struct plot_surface plot_surface;

typedef struct plot_surface_kind {
    const char *suffix; /* of the file's name, with the dot */
    plot_surface *(*open)(double width, double height, const char *title, FILE *out); /* white; NULL without memory */
    /* colour: 0xRRGGBB. `points` has one at least; all within the surface. */
    void (*line)(plot_surface *s, const plot_point *points, size_t count, unsigned colour, double width);
    /* (x, y) is on the base line. */
    void (*text)(plot_surface *s, double x, double y, plot_anchor anchor, double size, unsigned colour,
                 const char *text);
    bool (*close)(plot_surface *s); /* false when not all could be written: errno tells */
} plot_surface_kind;

struct plot_surface {
    const plot_surface_kind *kind;
};

extern const plot_surface_kind plot_svg, plot_png;

/* By the name of the file; NULL when it has another suffix. */
const plot_surface_kind *plot_surface_named(const char *path);

#endif
