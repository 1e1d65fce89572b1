/* surface.h — drawing functions for each kind of image file. The arguments of `open` set the width and height of a
 * figure in units. The x axis points to the right, the y axis down. */
#pragma once

#include "clients/cli/plot/plot_table.h"

#include <stdio.h>

typedef enum plot_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } plot_anchor;

typedef struct plot_surface plot_surface;

typedef struct plot_surface_kind {
    const char *suffix; /* suffix of the file name, with the dot */
    /* Returns a white surface, or NULL with errno set. */
    plot_surface *(*open)(double width, double height, const char *title, FILE *out);
    /* Draws a line through at least one point. All points are inside the surface; colour is 0xRRGGBB. */
    void (*line)(plot_surface *s, const plot_point *points, size_t count, unsigned colour, double width);
    /* Draws a text whose base line passes through (x, y). */
    void (*text)(plot_surface *s, double x, double y, plot_anchor anchor, double size, unsigned colour,
                 const char *text);
    /* Writes the image to the file and frees the surface. If writing fails, sets errno and returns false. */
    bool (*close)(plot_surface *s);
} plot_surface_kind;

struct plot_surface {
    const plot_surface_kind *kind;
};

extern const plot_surface_kind plot_svg, plot_png;

/* Returns the kind of image file that the suffix of `path` selects, or NULL for an unknown suffix. */
const plot_surface_kind *plot_surface_named(const char *path);
