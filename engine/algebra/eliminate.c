/* eliminate.c — see eliminate.h. Each new entry is simplified by arrange(), so that terms cancel. */
#include "engine/algebra/eliminate.h"

#include "engine/algebra/arrange.h"
#include "engine/linear/dense.h"

#include <assert.h>
#include <math.h>

/* Returns the cost of x as a pivot (lower is better), or −1 if x is 0. */
static int cost_of(const graph *g, graph_node x) {
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
    const bool *preferred;
    const work_budget *work_budget;
    graph_node *nodes; /* rows × (columns + 1): the coefficients; GRAPH_NONE for right-hand sides */
    double *value;     /* values of `nodes` at the point `near`; 0 for GRAPH_NONE */
} table_view;

static bool table_open(table_view *t, arena *memory) {
    size_t count = t->rows * (t->columns + 1);
    t->nodes = arena_alloc(memory, count, sizeof *t->nodes);
    t->value = arena_alloc(memory, count, sizeof *t->value);
    return t->nodes && t->value;
}

static bool table_evaluate(const graph *g, table_view *t, const graph_point *near) {
    assert(t->nodes && t->value);
    size_t width = t->columns + 1, count = t->rows * width;
    for (size_t k = 0; k < count; k++) t->nodes[k] = k % width < t->columns ? t->entries[k] : GRAPH_NONE;
    return graph_values(g, t->nodes, count, near, t->value, NULL);
}

/* Pivots below this bound are treated as 0. Entries are of order 1 (direction cosines, lever arms), so division by a
 * larger pivot loses at most six digits. */
static const double VANISHING = 1e-6;

/* Penalties that are added to the cost of a pivot (cost_of, below 10). VANISHES exceeds NOT_PREFERRED plus any cost, so
 * a pivot in a column that is not preferred is chosen before an entry that vanishes at the initial point. */
enum { NOT_PREFERRED = 10, VANISHES = 20 };

static bool choose_pivot(const graph *g, const table_view *t, size_t *row, size_t *column) {
    int best = -1;
    double largest = 0;
    for (size_t i = 0; i < t->rows; i++) {
        for (size_t j = 0; j < t->columns && t->pivot_column[i] < 0; j++) {
            graph_node entry = t->entries[i * (t->columns + 1) + j];
            int price = cost_of(g, entry);
            double size = price < 0 ? 0 : fabs(t->value[i * (t->columns + 1) + j]);
            bool vanishes = !(size > VANISHING), spent = t->work_budget && t->work_budget->spent;
            if (price < 0 || (vanishes && spent)) continue; /* an entry that was not simplified may be identically 0 */
            if (vanishes) price += VANISHES;
            if (t->preferred && !t->preferred[j]) price += NOT_PREFERRED;
            if (best >= 0 && (price > best || (price == best && !(size > largest)))) continue;
            best = price;
            largest = size;
            *row = i;
            *column = j;
        }
    }
    return best >= 0;
}

static void subtract(graph *g, graph_node *row, const graph_node *pivot, size_t columns, size_t column, work_budget *e,
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
                      int *pivot_column, size_t most, work_budget *e, arena *memory) {
    return eliminate_preferring(g, table, rows, columns, near, NULL, pivot_column, most, e, memory);
}

bool eliminate_preferring(graph *g, graph_node *table, size_t rows, size_t columns, const graph_point *near,
                          const bool *preferred, int *pivot_column, size_t most, work_budget *e, arena *memory) {
    assert(rows == 0 || (table && pivot_column));
    size_t width = columns + 1, found = 0, row, column;
    table_view view = {.entries = table,
                       .rows = rows,
                       .columns = columns,
                       .pivot_column = pivot_column,
                       .preferred = preferred,
                       .work_budget = e};
    if (!table_open(&view, memory)) return false;
    for (size_t k = 0; k < rows * width; k++) table[k] = arrange_within(g, table[k], e, memory);
    for (size_t i = 0; i < rows; i++) pivot_column[i] = -1;
    while (found++ < most && graph_status(g) == HAMEL_OK && table_evaluate(g, &view, near) &&
           choose_pivot(g, &view, &row, &column)) {
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

bool table_rank(const graph *g, const graph_node *table, size_t rows, size_t columns, const graph_point *near,
                size_t *rank, arena *memory) {
    table_view view = {.entries = table, .rows = rows, .columns = columns};
    double *a = arena_alloc(memory, rows * columns, sizeof *a),
           *scratch = arena_alloc(memory, rows + 3 * columns, sizeof *scratch);
    size_t *pivot = arena_alloc(memory, columns, sizeof *pivot);
    *rank = 0;
    if (!a || !scratch || !pivot || !table_open(&view, memory) || !table_evaluate(g, &view, near)) return false;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) a[i + rows * j] = view.value[i * (columns + 1) + j];
    *rank = dense_qr(rows, columns, rows < columns ? rows : columns, a, scratch, pivot, VANISHING,
                     scratch + rows + columns);
    return true;
}
