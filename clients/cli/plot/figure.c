/* figure.c — draws title, column names with their colours, frame, marks and lines on a surface. */
#include "clients/cli/plot/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned ink = 0x1c2024, quiet = 0x60646c, grid = 0xe4e4de;
static const unsigned colours[PLOT_SERIES_MAX] = {0x2f5bd0, 0xd1600a, 0x138a62, 0xb8347f,
                                                  0x0f83b5, 0x8a6d00, 0x6b4fc4, 0x5c6570};

static const double margin = 14, title_size = 15, name_size = 13, label_size = 12;
/* Width of a character relative to its font size. The value exceeds the average of common fonts, so that the names in
 * the legend do not overlap. */
static const double character = 0.62;

typedef struct figure {
    const plot_table *table;
    plot_surface *surface;
    double left, right, top, bottom; /* edges of the frame */
    plot_axis across, up;
} figure;

plot_axis plot_axis_across(const plot_table *t, size_t marks) {
    return plot_axis_over(t->columns[0].least, t->columns[0].most, t->columns[0].at != 0, marks);
}

plot_axis plot_axis_up(const plot_table *t, size_t marks) {
    double least = t->columns[1].least, most = t->columns[1].most;
    for (size_t k = 2; k < t->column_count; k++) {
        least = fmin(least, t->columns[k].least);
        most = fmax(most, t->columns[k].most);
    }
    return plot_axis_over(least, most, true, marks);
}

static double text_width(const char *text, double size) {
    size_t characters = 0;
    for (const char *p = text; *p != '\0'; p++)
        characters += ((unsigned char)*p & 0xc0) != 0x80; /* skips UTF-8 continuation bytes */
    return (double)characters * size * character;
}

static plot_point figure_point(const void *context, double x, double y) {
    const figure *f = context;
    return (plot_point){f->left + plot_axis_part(&f->across, x) * (f->right - f->left),
                        f->bottom - plot_axis_part(&f->up, y) * (f->bottom - f->top)};
}

static void line(const figure *f, double x0, double y0, double x1, double y1, unsigned colour, double width) {
    const plot_point ends[] = {{x0, y0}, {x1, y1}};
    f->surface->kind->line(f->surface, ends, 2, colour, width);
}

/* Draws a legend: a stroke in the colour of each column, then the name of the column. Returns the y coordinate of the
 * last line. */
static double draw_names(const figure *f, double width, double y) {
    const double stroke = 22, gap = 6, between = 20;
    double x = margin;
    for (size_t k = 1; k < f->table->column_count; k++) {
        const char *label = f->table->columns[k].label;
        double needs = stroke + gap + text_width(label, name_size);
        if (x > margin && x + needs > width - margin) {
            x = margin;
            y += name_size * 1.6;
        }
        line(f, x, y - name_size * 0.35, x + stroke, y - name_size * 0.35, colours[k - 1], 2.5);
        f->surface->kind->text(f->surface, x + stroke + gap, y, ANCHOR_START, name_size, ink, label);
        x += needs + between;
    }
    return y;
}

static void draw_marks(const figure *f) {
    char label[PLOT_LABEL_BYTES];
    const plot_surface_kind *kind = f->surface->kind;
    for (size_t k = 0; k < f->across.count; k++) {
        double x = figure_point(f, plot_axis_mark(&f->across, k), 0).x;
        plot_axis_label(&f->across, k, label);
        line(f, x, f->top, x, f->bottom, grid, 1);
        kind->text(f->surface, x, f->bottom + label_size * 1.4, ANCHOR_MIDDLE, label_size, quiet, label);
    }
    for (size_t k = 0; k < f->up.count; k++) {
        double y = figure_point(f, 0, plot_axis_mark(&f->up, k)).y;
        plot_axis_label(&f->up, k, label);
        line(f, f->left, y, f->right, y, grid, 1);
        kind->text(f->surface, f->left - 6, y + label_size * 0.35, ANCHOR_END, label_size, quiet, label);
    }
    line(f, f->left, f->bottom, f->right, f->bottom, quiet, 1);
    line(f, f->left, f->top, f->left, f->bottom, quiet, 1);
    kind->text(f->surface, (f->left + f->right) / 2, f->bottom + label_size * 2.9, ANCHOR_MIDDLE, name_size, ink,
               f->table->columns[0].label);
}

static bool draw_lines(const figure *f) {
    plot_point *points = malloc(f->table->row_count * sizeof *points);
    if (points == NULL) return false;
    for (size_t k = 1; k < f->table->column_count; k++) {
        size_t count = plot_table_line(f->table, k, figure_point, f, points);
        f->surface->kind->line(f->surface, points, count, colours[k - 1], 1.6);
    }
    free(points);
    return true;
}

bool plot_figure_draw(const plot_table *t, plot_surface *surface, double width, double height) {
    const double mark_width = 90, mark_height = 44;
    figure f = {.table = t, .surface = surface};
    double y = margin + title_size * 0.8;
    if (t->title[0] != '\0') {
        surface->kind->text(surface, margin, y, ANCHOR_START, title_size, ink, t->title);
        y += title_size * 1.6;
    }
    f.top = draw_names(&f, width, y) + margin;
    f.bottom = height - label_size * 3.4 - 4;
    f.up = plot_axis_up(t, (size_t)fmax((f.bottom - f.top) / mark_height, 2));
    f.left = margin + (double)plot_axis_label_length(&f.up) * label_size * character;
    f.right = width - 2 * margin;
    f.across = plot_axis_across(t, (size_t)fmax((f.right - f.left) / mark_width, 2));
    draw_marks(&f);
    return draw_lines(&f);
}

const plot_surface_kind *plot_surface_named(const char *path) {
    static const plot_surface_kind *const kinds[] = {&plot_svg, &plot_png};
    size_t length = strlen(path);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        size_t suffix = strlen(kinds[k]->suffix);
        if (length > suffix && strcmp(path + length - suffix, kinds[k]->suffix) == 0) return kinds[k];
    }
    return NULL;
}
