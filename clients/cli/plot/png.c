/* png.c — drawing surface for PNG images, with cairo. One unit of the figure is two pixels, for high-resolution screens
 * and print. */
#include "clients/cli/cli.h"
#include "clients/cli/library.h"
#include "clients/cli/plot/surface.h"

#include <cairo/cairo.h>
#include <errno.h>
#include <stdlib.h>

static const double pixels = 2;

/* clang-format off */
#define CAIRO_FUNCTIONS(F) \
    F(create) F(destroy) F(image_surface_create) F(line_to) F(move_to) F(paint) F(scale) F(select_font_face) \
    F(set_font_size) F(set_line_join) F(set_line_width) F(set_source_rgb) F(show_text) F(status) F(stroke) \
    F(surface_destroy) F(surface_write_to_png_stream) F(text_extents)
typedef struct cairo_library {
#define F(name) __typeof__(cairo_##name) *name;
    CAIRO_FUNCTIONS(F)
#undef F
} cairo_library;

static const char *load_cairo(cairo_library *library) {
#define F(name) {"cairo_" #name, (void **)&library->name},
    const library_function functions[] = {CAIRO_FUNCTIONS(F)};
#undef F
    return library_load("libcairo.so.2", functions, sizeof functions / sizeof functions[0]);
}
/* clang-format on */

typedef struct png {
    plot_surface surface;
    cairo_library cairo;
    FILE *out;
    cairo_surface_t *image;
    cairo_t *context;
} png;

static void set_colour(const png *s, unsigned colour) {
    s->cairo.set_source_rgb(s->context, (colour >> 16) / 255.0, (colour >> 8 & 0xff) / 255.0, (colour & 0xff) / 255.0);
}

static plot_surface *png_open(double width, double height, const char *title, FILE *out) {
    (void)title;
    png *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    const char *missing = load_cairo(&s->cairo);
    if (missing != NULL) {
        cli_say("%s", missing);
        free(s);
        errno = ELIBACC;
        return NULL;
    }
    s->surface.kind = &plot_png;
    s->out = out;
    /* If memory runs out, cairo returns objects that do nothing, and reports the error when the image is written. */
    s->image = s->cairo.image_surface_create(CAIRO_FORMAT_RGB24, (int)(pixels * width), (int)(pixels * height));
    s->context = s->cairo.create(s->image);
    s->cairo.scale(s->context, pixels, pixels);
    set_colour(s, 0xffffff);
    s->cairo.paint(s->context);
    s->cairo.select_font_face(s->context, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    s->cairo.set_line_join(s->context, CAIRO_LINE_JOIN_ROUND);
    return &s->surface;
}

static void png_line(plot_surface *surface, const plot_point *points, size_t count, unsigned colour, double width) {
    const png *s = (png *)surface;
    cairo_t *context = s->context;
    set_colour(s, colour);
    s->cairo.set_line_width(context, width);
    s->cairo.move_to(context, points[0].x, points[0].y);
    for (size_t k = 1; k < count; k++) {
        s->cairo.line_to(context, points[k].x, points[k].y);
        if (k % 1000 != 0) continue; /* cairo draws several short paths faster than one very long path */
        s->cairo.stroke(context);
        s->cairo.move_to(context, points[k].x, points[k].y);
    }
    s->cairo.stroke(context);
}

static void png_text(plot_surface *surface, double x, double y, plot_anchor anchor, double size, unsigned colour,
                     const char *text) {
    const png *s = (png *)surface;
    cairo_t *context = s->context;
    static const double parts[] = {[ANCHOR_START] = 0, [ANCHOR_MIDDLE] = 0.5, [ANCHOR_END] = 1};
    cairo_text_extents_t extents;
    set_colour(s, colour);
    s->cairo.set_font_size(context, size);
    s->cairo.text_extents(context, text, &extents);
    s->cairo.move_to(context, x - extents.x_advance * parts[anchor], y);
    s->cairo.show_text(context, text);
}

static cairo_status_t write_bytes(void *context, const unsigned char *bytes, unsigned length) {
    return fwrite(bytes, 1, length, context) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static bool png_close(plot_surface *surface) {
    png *s = (png *)surface;
    errno = 0;
    cairo_status_t status = s->cairo.status(s->context);
    if (status == CAIRO_STATUS_SUCCESS) status = s->cairo.surface_write_to_png_stream(s->image, write_bytes, s->out);
    bool good = status == CAIRO_STATUS_SUCCESS && fflush(s->out) == 0;
    if (status == CAIRO_STATUS_NO_MEMORY) errno = ENOMEM;
    s->cairo.destroy(s->context);
    s->cairo.surface_destroy(s->image);
    free(s);
    return good;
}

const plot_surface_kind plot_png = {
    .suffix = ".png", .open = png_open, .line = png_line, .text = png_text, .close = png_close};
