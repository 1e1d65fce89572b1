/* residual.c — the program of the residuals, and the pattern of its derivatives.
 *
 * Row i lists the coordinates that occur in residual i, directly or through their velocities. If each residual contains
 * few coordinates, a search below each residual takes little time. In a chain in angles, all residuals contain all
 * coordinates and share most of their nodes. One pass over the nodes then finds the coordinates of all residuals. */
#include "engine/model/model.h"

#include "engine/mechanics/equations.h"

/* Average number of entries in a row above which one pass finds the pattern. For chains of 20 to 40 links in angles,
 * both methods are measured to take the same time. */
enum { ENTRIES_MANY = 32 };

/* If the first ROWS_SEEN rows contain more than half of the coordinates on average, all rows are expected to be long. A
 * wrong expectation costs time, but does not change the pattern. */
enum { ROWS_SEEN = 4 };

/* Reserves space for `more` entries. */
static bool reserve(hamel_model *model, size_t more, size_t *capacity) {
    sparse_block *p = &model->dynamics.residual_pattern;
    size_t row_capacity = *capacity, column_capacity = *capacity;
    int *row = arena_grow(&model->memory, p->row, &row_capacity, p->count + more, sizeof *row);
    int *column = row ? arena_grow(&model->memory, p->column, &column_capacity, p->count + more, sizeof *column) : NULL;
    if (!row || !column) return false;
    p->row = row;
    p->column = column;
    *capacity = row_capacity;
    return true;
}

static void add_entry(sparse_block *p, size_t row, size_t column) {
    p->row[p->count] = (int)row;
    p->column[p->count++] = (int)column;
}

static bool search_row(hamel_model *model, const hamel_equations *e, size_t i, size_t *capacity) {
    hamel_system *s = model->system;
    sparse_block *p = &model->dynamics.residual_pattern;
    int32_t *q, *v;
    size_t nq = node_support(s, e->residual[i], SYMBOL_COORDINATE, &q),
           nv = node_support(s, e->residual[i], SYMBOL_VELOCITY, &v);
    if (!reserve(model, nq + nv, capacity)) return false;
    for (size_t a = 0, b = 0; a < nq || b < nv;) { /* both lists are sorted */
        int32_t column = b >= nv || (a < nq && q[a] <= v[b]) ? q[a] : v[b];
        if (a < nq && q[a] == column) a++;
        if (b < nv && v[b] == column) b++;
        add_entry(p, i, (size_t)column);
    }
    return true;
}

/* Appends or counts the entries of all rows in the columns `first` to `first` + GRAPH_SET_BITS − 1. */
static void visit_columns(const graph_sets *sets, const hamel_equations *e, size_t first, sparse_block *p,
                          size_t *end) {
    for (size_t i = 0; i < e->n + e->m; i++) {
        const graph_set *set = graph_sets_at(sets, e->residual[i]);
        for (size_t bit = 0; bit < GRAPH_SET_BITS && first + bit < e->n; bit++) {
            if (!graph_set_contains(set, bit)) continue;
            if (p->row) p->row[end[i]] = (int)i, p->column[end[i]] = (int)(first + bit);
            end[i]++;
        }
    }
}

/* Finds all rows in two rounds: the first one counts the entries of each row, the second one lists them. */
static bool find_rows(hamel_model *model, const hamel_equations *e, arena *scratch) {
    const unsigned kinds = GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY);
    const size_t rows = e->n + e->m;
    sparse_block found = {.rows = rows, .columns = e->n};
    graph_sets sets;
    size_t *end = arena_alloc(scratch, rows, sizeof *end);
    if (!end || !graph_sets_create(&sets, model->system->graph, e->residual, rows, scratch)) return false;
    for (int round = 0; round < 2; round++) {
        for (size_t first = 0; first < e->n; first += GRAPH_SET_BITS) {
            graph_sets_find(&sets, kinds, first);
            visit_columns(&sets, e, first, &found, end);
        }
        for (size_t i = 0; round == 0 && i < rows; i++) { /* end[i] becomes the start of row i */
            size_t count = end[i];
            end[i] = found.count;
            found.count += count;
        }
        if (round == 1) break;
        found.row = arena_ints(&model->memory, found.count);
        found.column = arena_ints(&model->memory, found.count);
        if (!found.row || !found.column) return false;
    }
    model->dynamics.residual_pattern = found;
    return true;
}

/* Returns true if the first `searched` rows suggest that one pass takes less time. */
static bool is_long(const sparse_block *p, size_t searched) {
    bool full = searched >= ROWS_SEEN && p->columns >= ENTRIES_MANY && 2 * p->count > searched * p->columns;
    return full || p->count > ENTRIES_MANY * p->rows;
}

hamel_status model_compile_residual(hamel_model *model, const hamel_equations *e) {
    sparse_block *p = &model->dynamics.residual_pattern;
    const size_t rows = e->n + e->m;
    size_t capacity = 0, searched = 0;
    bool good = true;
    *p = (sparse_block){.rows = rows, .columns = e->n};
    while (good && searched < rows && !is_long(p, searched)) good = search_row(model, e, searched++, &capacity);
    if (good && searched < rows) {
        arena scratch;
        arena_init(&scratch, model->limits.memory);
        good = find_rows(model, e, &scratch);
        arena_free(&scratch);
    }
    if (!good) return equations_exhausted(model->system);
    return model_compile(model, &model->dynamics.residual, e->residual, rows);
}
