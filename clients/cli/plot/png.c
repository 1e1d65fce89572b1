/* png.c — drawing surface for PNG images, with cairo. A unit is two pixels wide, for high-resolution screens and print. */
#include "clients/cli/plot/surface.h"

#include <cairo/cairo.h>
#include <errno.h>
#include <stdlib.h>

static const double pixels = 2;

typedef struct png {
    plot_surface surface;
    FILE *out;
    cairo_surface_t *image;
    cairo_t *context;
} png;

static void set_colour(cairo_t *context, unsigned colour) {
    cairo_set_source_rgb(context, (colour >> 16) / 255.0, (colour >> 8 & 0xff) / 255.0, (colour & 0xff) / 255.0);
}

static plot_surface *png_open(double width, double height, const char *title, FILE *out) {
    (void)title;
    png *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->surface.kind = &plot_png;
    s->out = out;
    /* If out of memory, cairo returns inert objects and reports the error when the image is written. */
    s->image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(pixels * width), (int)(pixels * height));
    s->context = cairo_create(s->image);
    cairo_scale(s->context, pixels, pixels);
    set_colour(s->context, 0xffffff);
    cairo_paint(s->context);
    cairo_select_font_face(s->context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_line_join(s->context, CAIRO_LINE_JOIN_ROUND);
    return &s->surface;
}

static void png_line(plot_surface *surface, const plot_point *points, size_t count, unsigned colour, double width) {
    cairo_t *context = ((png *)surface)->context;
    set_colour(context, colour);
    cairo_set_line_width(context, width);
    cairo_move_to(context, points[0].x, points[0].y);
    for (size_t k = 1; k < count; k++) {
        cairo_line_to(context, points[k].x, points[k].y);
        if (k % 1000 != 0) continue; /* cairo draws several short paths faster than one very long path */
        cairo_stroke(context);
        cairo_move_to(context, points[k].x, points[k].y);
    }
    cairo_stroke(context);
}

static void png_text(plot_surface *surface, double x, double y, plot_anchor anchor, double size, unsigned colour,
                     const char *text) {
    cairo_t *context = ((png *)surface)->context;
    static const double parts[] = {[ANCHOR_START] = 0, [ANCHOR_MIDDLE] = 0.5, [ANCHOR_END] = 1};
    cairo_text_extents_t extents;
    set_colour(context, colour);
    cairo_set_font_size(context, size);
    cairo_text_extents(context, text, &extents);
    cairo_move_to(context, x - extents.x_advance * parts[anchor], y);
    cairo_show_text(context, text);
}

static cairo_status_t write_bytes(void *context, const unsigned char *bytes, unsigned length) {
    return fwrite(bytes, 1, length, context) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static bool png_close(plot_surface *surface) {
    png *s = (png *)surface;
    errno = 0;
    cairo_status_t status = cairo_status(s->context);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_write_to_png_stream(s->image, write_bytes, s->out);
    bool good = status == CAIRO_STATUS_SUCCESS && fflush(s->out) == 0;
    if (status == CAIRO_STATUS_NO_MEMORY) errno = ENOMEM;
    cairo_destroy(s->context);
    cairo_surface_destroy(s->image);
    free(s);
    return good;
}

const plot_surface_kind plot_png = {
    .suffix = ".png", .open = png_open, .line = png_line, .text = png_text, .close = png_close};
