/* eliminate.c — see eliminate.h. Each new entry is arranged, so that what cancels is seen to. */
#include "engine/algebra/eliminate.h"

#include "engine/algebra/arrange.h"

#include <math.h>

/* How much one would rather divide by something else; −1: cannot be. */
static int reluctance(const graph *g, graph_node x) {
    double value;
    if (graph_is_number(g, x, &value)) return value == 0 ? -1 : fabs(value) == 1 ? 0 : 1;
    unsigned depends = graph_depends(g, x);
    bool sum = graph_at(g, x)->op == GRAPH_ADD || graph_at(g, x)->op == GRAPH_SUB;
    if (depends == GRAPH_DEPENDS(SYMBOL_PARAMETER)) return sum ? 3 : 2;
    return sum ? 5 : 4;
}

static bool choose_pivot(const graph *g, const graph_node *table, size_t rows, size_t columns, const int *pivot_column,
                         size_t *row, size_t *column) {
    int best = -1;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns && pivot_column[i] < 0; j++) {
            int price = reluctance(g, table[i * (columns + 1) + j]);
            if (price < 0 || (best >= 0 && price >= best)) continue;
            best = price;
            *row = i;
            *column = j;
        }
    }
    return best >= 0;
}

static void subtract(graph *g, graph_node *row, const graph_node *pivot, size_t columns, size_t column, arena *memory) {
    graph_node factor = row[column];
    if (graph_is_zero(g, factor)) return;
    for (size_t j = 0; j <= columns; j++) {
        if (j == column)
            row[j] = graph_number(g, 0);
        else if (!graph_is_zero(g, pivot[j]))
            row[j] = arrange(g, graph_sub(g, row[j], graph_mul(g, factor, pivot[j])), memory);
    }
}

bool eliminate(graph *g, graph_node *table, size_t rows, size_t columns, int *pivot_column, arena *memory) {
    size_t width = columns + 1, row, column;
    for (size_t k = 0; k < rows * width; k++) table[k] = arrange(g, table[k], memory);
    for (size_t i = 0; i < rows; i++) pivot_column[i] = -1;
    while (graph_status(g) == HAMEL_OK && choose_pivot(g, table, rows, columns, pivot_column, &row, &column)) {
        graph_node *at = table + row * width, divisor = at[column];
        for (size_t j = 0; j < width; j++)
            at[j] = j == column ? graph_number(g, 1) : arrange(g, graph_div(g, at[j], divisor), memory);
        pivot_column[row] = (int)column;
        for (size_t i = 0; i < rows; i++)
            if (i != row) subtract(g, table + i * width, at, columns, column, memory);
    }
    return graph_status(g) == HAMEL_OK;
}
