/* terminal.c — draws with characters on a terminal. A cell shows a Braille pattern of 2 by 4 dots (bits as in Unicode
 * 15, chapter 21.1), or an ASCII character that identifies the column. */
#include "clients/cli/plot/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DOTS_ACROSS = 2, DOTS_UP = 4, LEAST_CELLS = 4 };

static const char letters[PLOT_SERIES_MAX + 1] = "*+xo#@%&";
static const int colours[PLOT_SERIES_MAX] = {34, 33, 32, 35, 36, 31, 94, 90};

typedef struct cell {
    unsigned char dots;   /* Braille bits of the dots that are set */
    unsigned char series; /* number of the drawn column, from 1; 0 if the cell is empty */
} cell;

typedef struct sheet {
    const plot_table *table;
    const plot_terminal *terminal;
    FILE *out;
    size_t left;          /* number of characters left of the frame */
    size_t width, height; /* number of cells inside the frame */
    size_t across_dots, up_dots;
    cell *cells;
    plot_axis across, up;
} sheet;

/* --- cells -------------------------------------------------------------------------------------------------------- */

static plot_point sheet_point(const void *context, double x, double y) {
    const sheet *s = context;
    double w = (double)(s->width * s->across_dots), h = (double)(s->height * s->up_dots);
    return (plot_point){plot_axis_part(&s->across, x) * (w - 1) + 0.5, (1 - plot_axis_part(&s->up, y)) * (h - 1) + 0.5};
}

static void set_dot(sheet *s, double x, double y, unsigned char series) {
    static const unsigned char bits[DOTS_UP][DOTS_ACROSS] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    size_t i = (size_t)x, j = (size_t)y;
    cell *c = &s->cells[j / s->up_dots * s->width + i / s->across_dots];
    c->dots |= bits[j % s->up_dots][i % s->across_dots];
    c->series = series;
}

/* Draws a line, one dot for each unit along its longer side. */
static void set_line(sheet *s, plot_point from, plot_point to, unsigned char series) {
    double steps = ceil(fmax(fabs(to.x - from.x), fabs(to.y - from.y)));
    for (double k = 1; k <= steps; k++)
        set_dot(s, from.x + (to.x - from.x) * k / steps, from.y + (to.y - from.y) * k / steps, series);
}

static bool set_lines(sheet *s) {
    plot_point *points = malloc(s->table->row_count * sizeof *points);
    if (points == NULL) return false;
    for (size_t k = 1; k < s->table->column_count; k++) {
        size_t count = plot_table_line(s->table, k, sheet_point, s, points);
        set_dot(s, points[0].x, points[0].y, (unsigned char)k);
        for (size_t i = 1; i < count; i++) set_line(s, points[i - 1], points[i], (unsigned char)k);
    }
    free(points);
    return true;
}

/* --- characters --------------------------------------------------------------------------------------------------- */

static void put_colour(const sheet *s, size_t series) {
    if (s->terminal->colours) fprintf(s->out, "\033[%dm", series > 0 ? colours[series - 1] : 0);
}

static void put_cell(const sheet *s, const cell *c) {
    if (c->series == 0) {
        fputc(' ', s->out);
        return;
    }
    put_colour(s, c->series);
    if (s->terminal->dots)
        fprintf(s->out, "\xe2%c%c", 0xa0 | c->dots >> 6, 0x80 | (c->dots & 0x3f)); /* UTF-8 of U+2800 + dots */
    else
        fputc(letters[c->series - 1], s->out);
    put_colour(s, 0);
}

/* Writes text, omitting control characters. */
static void put_text(const sheet *s, const char *text) {
    for (const char *p = text; *p != '\0'; p++)
        if ((unsigned char)*p >= 0x20 && *p != 0x7f) fputc(*p, s->out);
}

static void put_heading(const sheet *s) {
    if (s->table->title[0] != '\0') {
        put_text(s, s->table->title);
        fputc('\n', s->out);
    }
    for (size_t k = 1; k < s->table->column_count; k++) {
        if (k > 1) fputs("   ", s->out);
        put_colour(s, k);
        if (s->terminal->dots) fputs("\xe2\xa0\x92\xe2\xa0\x92", s->out); /* a short stroke of dots */
        if (!s->terminal->dots) fputc(letters[k - 1], s->out);
        put_colour(s, 0);
        fputc(' ', s->out);
        put_text(s, s->table->columns[k].label);
    }
    fputc('\n', s->out);
}

/* Returns the index of the mark of the vertical axis in this line. If the line has no mark, returns the number of
 * marks. */
static size_t mark_in_line(const sheet *s, size_t line) {
    size_t k = 0;
    while (k < s->up.count && (size_t)(sheet_point(s, 0, plot_axis_mark(&s->up, k)).y) / s->up_dots != line) k++;
    return k;
}

static void put_line(const sheet *s, size_t line) {
    char label[PLOT_LABEL_BYTES] = "";
    size_t mark = mark_in_line(s, line);
    bool marked = mark < s->up.count;
    if (marked) plot_axis_label(&s->up, mark, label);
    fprintf(s->out, "%*s ", (int)s->left, label);
    fputs(s->terminal->dots ? marked ? "┤" : "│" : marked ? "+" : "|", s->out);
    const cell *row = s->cells + line * s->width;
    size_t end = s->width;
    while (end > 0 && row[end - 1].series == 0) end--;
    for (size_t k = 0; k < end; k++) put_cell(s, &row[k]);
    fputc('\n', s->out);
}

/* Draws the horizontal axis and, below it, its labels. Omits labels that overlap others. */
static void put_foot(const sheet *s) {
    char *marks = calloc(s->width + 1, 1), *labels = malloc(s->width + 1);
    if (marks != NULL && labels != NULL) {
        memset(labels, ' ', s->width);
        labels[s->width] = '\0';
        size_t free_from = 0;
        for (size_t k = 0; k < s->across.count; k++) {
            char label[PLOT_LABEL_BYTES];
            size_t at = (size_t)(sheet_point(s, plot_axis_mark(&s->across, k), 0).x) / s->across_dots;
            plot_axis_label(&s->across, k, label);
            size_t length = strlen(label), begin = at > length / 2 ? at - length / 2 : 0;
            marks[at] = 1;
            if (begin + length > s->width) begin = s->width > length ? s->width - length : 0;
            if (begin < free_from || begin + length > s->width) continue;
            memcpy(labels + begin, label, length);
            free_from = begin + length + 1;
        }
        labels[free_from > 0 ? free_from - 1 : 0] = '\0';
        fprintf(s->out, "%*s %s", (int)s->left, "", s->terminal->dots ? "└" : "+");
        for (size_t k = 0; k < s->width; k++)
            fputs(s->terminal->dots ? marks[k] ? "┬" : "─" : marks[k] ? "+" : "-", s->out);
        fprintf(s->out, "\n%*s  %s\n", (int)s->left, "", labels);
    }
    free(marks);
    free(labels);
    const char *name = s->table->columns[0].label;
    size_t length = strlen(name), middle = s->left + 2 + s->width / 2;
    fprintf(s->out, "%*s", (int)(middle > length / 2 ? middle - length / 2 : 0), "");
    put_text(s, name);
    fputc('\n', s->out);
}

bool plot_terminal_draw(const plot_table *t, const plot_terminal *terminal, FILE *out) {
    sheet s = {.table = t, .terminal = terminal, .out = out};
    s.across_dots = terminal->dots ? DOTS_ACROSS : 1;
    s.up_dots = terminal->dots ? DOTS_UP : 1;
    size_t taken = 4 + (t->title[0] != '\0'); /* lines above and below the frame */
    s.height = terminal->height > taken + LEAST_CELLS ? terminal->height - taken : LEAST_CELLS;
    s.up = plot_axis_up(t, s.height < 8 ? 2 : s.height / 4);
    s.left = plot_axis_label_length(&s.up);
    s.width = terminal->width > s.left + 2 + LEAST_CELLS ? terminal->width - s.left - 2 : LEAST_CELLS;
    s.across = plot_axis_across(t, s.width / 12);
    s.cells = calloc(s.width * s.height, sizeof *s.cells);
    bool good = s.cells != NULL && set_lines(&s);
    if (good) {
        put_heading(&s);
        for (size_t k = 0; k < s.height; k++) put_line(&s, k);
        put_foot(&s);
    }
    free(s.cells);
    return good;
}
