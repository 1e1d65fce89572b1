/* sweep_reduce.c — see sweep_reduce.h. `mean` is the mean over time (trapezoidal rule), so that it does not depend on
 * the spacing of the rows. */
#include "api/sweep/sweep_reduce.h"

#include "api/json/text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct quantity {
    const char *name;
    size_t column;
    reduction reduce;
    double value; /* result so far; for a mean, the integral */
} quantity;

struct sweep_reducer {
    quantity *quantities;
    size_t count, rows;
    double start, t; /* times of the first and the last row */
    double *last;    /* values of the last row, by quantity */
};

static size_t find_column(const char *const *columns, size_t count, const char *name) {
    size_t k = 0;
    while (k < count && strcmp(columns[k], name) != 0) k++;
    return k;
}

/* Returns true if the sweep added this column to the description, as the output of a collected expression. */
static bool is_added(const sweep *s, const char *column) {
    for (size_t k = 0; k < s->collect_count; k++)
        if (s->collect[k].expression && strcmp(s->collect[k].name, column) == 0) return true;
    return false;
}

static void add_last_values(sweep_reducer *c, const sweep *s, const char *const *columns, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!is_added(s, columns[i])) c->quantities[c->count++] = (quantity){.name = columns[i], .column = i};
}

static bool add_quantities(sweep_reducer *c, const sweep *s, const char *const *columns, size_t count,
                           size_t *unknown) {
    for (size_t k = 0; k < s->collect_count; k++) {
        const sweep_collected *what = &s->collect[k];
        if (!what->name) {
            add_last_values(c, s, columns, count);
            continue;
        }
        size_t column = find_column(columns, count, what->name);
        if (column == count) {
            *unknown = k;
            return false;
        }
        c->quantities[c->count++] = (quantity){.name = what->name, .column = column, .reduce = what->reduce};
    }
    return true;
}

sweep_reducer *sweep_reduce_open(const sweep *s, const char *const *columns, size_t count, size_t *unknown) {
    size_t most = s->collect_count * (count + 1);
    sweep_reducer *c = calloc(1, sizeof *c);
    *unknown = s->collect_count;
    if (c) c->quantities = calloc(most, sizeof *c->quantities);
    if (c) c->last = calloc(most, sizeof *c->last);
    if (c && c->quantities && c->last && add_quantities(c, s, columns, count, unknown)) return c;
    sweep_reduce_close(c);
    return NULL;
}

void sweep_reduce_close(sweep_reducer *c) {
    if (!c) return;
    free(c->quantities);
    free(c->last);
    free(c);
}

void sweep_reduce_reset(sweep_reducer *c) {
    c->rows = 0;
    for (size_t k = 0; k < c->count; k++) c->quantities[k].value = 0;
}

static void take(quantity *q, double value, double before, double step, bool first) {
    switch (q->reduce) {
    case REDUCE_FINAL: q->value = value; break;
    case REDUCE_MIN: q->value = first ? value : fmin(q->value, value); break;
    case REDUCE_MAX: q->value = first ? value : fmax(q->value, value); break;
    case REDUCE_MEAN: q->value += first ? 0 : 0.5 * step * (value + before); break;
    }
}

void sweep_reduce_row(sweep_reducer *c, const double *values) {
    bool first = c->rows++ == 0;
    double step = first ? 0 : values[0] - c->t;
    c->t = values[0];
    if (first) c->start = values[0];
    for (size_t k = 0; k < c->count; k++) {
        double value = values[c->quantities[k].column];
        take(&c->quantities[k], value, c->last[k], step, first);
        c->last[k] = value;
    }
}

size_t sweep_reduce_count(const sweep_reducer *c) {
    return c->count;
}

const char *sweep_reduce_name(const sweep_reducer *c, size_t k) {
    return c->quantities[k].name;
}

static double result_of(const sweep_reducer *c, size_t k) {
    const quantity *q = &c->quantities[k];
    if (q->reduce != REDUCE_MEAN) return q->value;
    double span = c->t - c->start;
    return span > 0 || span < 0 ? q->value / span : c->last[k];
}

double sweep_reduce_value(const sweep_reducer *c, size_t k) {
    assert(k < c->count);
    return c->rows > 0 ? result_of(c, k) : (double)NAN;
}

bool sweep_reduce_text(const sweep_reducer *c, text_buffer *out) {
    text_buffer_puts(out, "{");
    for (size_t k = 0; k < c->count; k++) {
        if (k > 0) text_buffer_puts(out, ",");
        json_text_string(out, sweep_reduce_name(c, k));
        text_buffer_puts(out, ":");
        json_text_number(out, sweep_reduce_value(c, k));
    }
    text_buffer_puts(out, "}");
    return !out->failed;
}
