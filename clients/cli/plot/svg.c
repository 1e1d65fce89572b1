/* svg.c — drawing surface for Scalable Vector Graphics (SVG 1.1). Labels are text elements, not outlines. */
#include "clients/cli/plot/surface.h"

#include <errno.h>
#include <stdlib.h>

typedef struct svg {
    plot_surface surface;
    FILE *out;
} svg;

/* Writes text with markup escaped (XML 1.0, 2.4) and control characters omitted (2.2). */
static void put_text(FILE *out, const char *text) {
    for (const char *p = text; *p != '\0'; p++) {
        switch (*p) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        default:
            if ((unsigned char)*p >= 0x20) fputc(*p, out);
        }
    }
}

static plot_surface *svg_open(double width, double height, const char *title, FILE *out) {
    svg *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->surface.kind = &plot_svg;
    s->out = out;
    errno = 0;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" role=\"img\" "
            "font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<title>",
            width, height, width, height);
    put_text(out, title);
    fprintf(out, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    return &s->surface;
}

static void svg_line(plot_surface *surface, const plot_point *points, size_t count, unsigned colour, double width) {
    FILE *out = ((svg *)surface)->out;
    fprintf(out, "<polyline fill=\"none\" stroke=\"#%06x\" stroke-width=\"%g\" stroke-linejoin=\"round\" points=\"",
            colour, width);
    for (size_t k = 0; k < count; k++) fprintf(out, "%s%.2f,%.2f", k > 0 ? " " : "", points[k].x, points[k].y);
    fputs("\"/>\n", out);
}

static void svg_text(plot_surface *surface, double x, double y, plot_anchor anchor, double size, unsigned colour,
                     const char *text) {
    static const char *const anchors[] = {"start", "middle", "end"};
    FILE *out = ((svg *)surface)->out;
    fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" font-size=\"%g\" fill=\"#%06x\">", x, y,
            anchors[anchor], size, colour);
    put_text(out, text);
    fputs("</text>\n", out);
}

static bool svg_close(plot_surface *surface) {
    svg *s = (svg *)surface;
    fputs("</svg>\n", s->out);
    bool good = fflush(s->out) == 0 && !ferror(s->out);
    free(s);
    return good;
}

const plot_surface_kind plot_svg = {
    .suffix = ".svg", .open = svg_open, .line = svg_line, .text = svg_text, .close = svg_close};
