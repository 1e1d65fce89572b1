/* eliminate.c — see eliminate.h. Each new entry is arranged, so that what cancels is seen to. */
#include "engine/algebra/eliminate.h"

#include "engine/algebra/arrange.h"

#include <math.h>
#include <stdlib.h>

/* How much one would rather divide by something else; −1: cannot be. */
static int reluctance(const graph *g, graph_node x) {
    double value;
    if (graph_is_number(g, x, &value)) return value == 0 ? -1 : fabs(value) == 1 ? 0 : 1;
    unsigned depends = graph_depends(g, x);
    bool sum = graph_at(g, x)->op == GRAPH_ADD || graph_at(g, x)->op == GRAPH_SUB;
    if (depends == GRAPH_DEPENDS(SYMBOL_PARAMETER)) return sum ? 3 : 2;
    return sum ? 5 : 4;
}

typedef struct table_view {
    const graph_node *entries;
    size_t rows, columns;
    const int *pivot_column;
    const effort *effort;
    double *value, *error; /* of all nodes, at the point */
} table_view;

/* Values of the entries that may become pivots. */
static bool evaluate(const graph *g, table_view *t, const graph_point *near) {
    graph_node last = 0;
    for (size_t k = 0; k < t->rows * (t->columns + 1); k++)
        if (k % (t->columns + 1) < t->columns && t->entries[k] > last) last = t->entries[k];
    t->value = malloc(2 * ((size_t)last + 1) * sizeof *t->value);
    if (!t->value) return false;
    t->error = t->value + last + 1;
    graph_evaluate(g, last, near, t->value, t->error);
    return true;
}

static const double VANISHING = 1e-6; /* entries are direction cosines and lever arms: of the size of 1 */

static bool choose_pivot(const graph *g, const table_view *t, size_t *row, size_t *column) {
    int best = -1;
    double largest = 0;
    for (size_t i = 0; i < t->rows; i++) {
        for (size_t j = 0; j < t->columns && t->pivot_column[i] < 0; j++) {
            graph_node entry = t->entries[i * (t->columns + 1) + j];
            int price = reluctance(g, entry);
            double size = price < 0 ? 0 : fabs(t->value[entry]);
            bool vanishes = !(size > VANISHING);
            if (price < 0 || (vanishes && t->effort && t->effort->spent)) continue; /* it may be 0 everywhere */
            if (vanishes) price += 10;
            if (best >= 0 && (price > best || (price == best && !(size > largest)))) continue;
            best = price;
            largest = size;
            *row = i;
            *column = j;
        }
    }
    return best >= 0;
}

static bool next_pivot(const graph *g, table_view *t, const graph_point *near, size_t *row, size_t *column) {
    if (graph_status(g) != HAMEL_OK || !evaluate(g, t, near)) return false;
    bool found = choose_pivot(g, t, row, column);
    free(t->value);
    return found;
}

static void subtract(graph *g, graph_node *row, const graph_node *pivot, size_t columns, size_t column, effort *e,
                     arena *memory) {
    graph_node factor = row[column];
    if (graph_is_zero(g, factor)) return;
    for (size_t j = 0; j <= columns; j++) {
        if (j == column)
            row[j] = graph_number(g, 0);
        else if (!graph_is_zero(g, pivot[j]))
            row[j] = arrange_within(g, graph_sub(g, row[j], graph_mul(g, factor, pivot[j])), e, memory);
    }
}

bool eliminate_within(graph *g, graph_node *table, size_t rows, size_t columns, const graph_point *near,
                      int *pivot_column, size_t most, effort *e, arena *memory) {
    size_t width = columns + 1, found = 0, row, column;
    table_view view = {.entries = table, .rows = rows, .columns = columns, .pivot_column = pivot_column, .effort = e};
    for (size_t k = 0; k < rows * width; k++) table[k] = arrange_within(g, table[k], e, memory);
    for (size_t i = 0; i < rows; i++) pivot_column[i] = -1;
    while (found++ < most && next_pivot(g, &view, near, &row, &column)) {
        graph_node *at = table + row * width, divisor = at[column];
        for (size_t j = 0; j < width; j++)
            at[j] = j == column ? graph_number(g, 1) : arrange_within(g, graph_div(g, at[j], divisor), e, memory);
        pivot_column[row] = (int)column;
        for (size_t i = 0; i < rows; i++)
            if (i != row) subtract(g, table + i * width, at, columns, column, e, memory);
    }
    return graph_status(g) == HAMEL_OK;
}

bool is_eliminated(const graph *g, const graph_node *table, size_t rows, size_t columns, const int *pivot_column) {
    for (size_t k = 0; k < rows * (columns + 1); k++) {
        bool coefficient = k % (columns + 1) < columns;
        if (coefficient && pivot_column[k / (columns + 1)] < 0 && !graph_is_zero(g, table[k])) return false;
    }
    return true;
}

/* Index of the largest of the numbers in rows `from` and below. */
static size_t largest_of(const double *a, size_t rows, size_t columns, size_t from) {
    size_t best = from * columns;
    for (size_t k = best; k < rows * columns; k++)
        if (fabs(a[k]) > fabs(a[best])) best = k;
    return best;
}

/* Elimination with the largest of all as pivot. */
static size_t rank_of(double *a, size_t rows, size_t columns) {
    double scale = 0;
    for (size_t done = 0; done < rows; done++) {
        size_t best = largest_of(a, rows, columns, done), row = best / columns, column = best % columns;
        double pivot = a[best];
        if (done == 0) scale = fabs(pivot);
        if (!(fabs(pivot) > VANISHING * scale)) return done;
        for (size_t j = 0; j < columns; j++) {
            double moved = a[done * columns + j];
            a[done * columns + j] = a[row * columns + j];
            a[row * columns + j] = moved;
        }
        for (size_t i = done + 1; i < rows; i++) {
            double factor = a[i * columns + column] / pivot;
            for (size_t j = 0; j < columns; j++) a[i * columns + j] -= factor * a[done * columns + j];
            a[i * columns + column] = 0;
        }
    }
    return rows;
}

bool table_rank(const graph *g, const graph_node *table, size_t rows, size_t columns, const graph_point *near,
                size_t *rank) {
    table_view view = {.entries = table, .rows = rows, .columns = columns};
    *rank = 0;
    if (rows == 0 || columns == 0) return true;
    double *a = malloc(rows * columns * sizeof *a);
    bool good = a && evaluate(g, &view, near);
    for (size_t k = 0; good && k < rows * columns; k++)
        a[k] = view.value[table[k / columns * (columns + 1) + k % columns]];
    if (good) *rank = rank_of(a, rows, columns);
    if (good) free(view.value);
    free(a);
    return good;
}
