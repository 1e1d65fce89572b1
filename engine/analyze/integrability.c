/* integrability.c — derives residuals as expressions and computes ranks at the initial state (integrability.h). */
#include "engine/analyze/integrability.h"

#include "engine/algebra/arrange.h"
#include "engine/algebra/eliminate.h"
#include "engine/analyze/forms.h"
#include "engine/base/tolerances.h"
#include "engine/system/binder.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Groups with more than VARIABLES_MOST variables have no residuals and ranks. Groups with more than COMPONENTS_MOST
 * variables have no components of ω ∧ dω: with 8 variables, a constraint has up to 56, and longer lists are not
 * readable. / */
enum { VARIABLES_MOST = 24, COMPONENTS_MOST = 8 };

typedef struct residual_list {
    hamel_integrability_residual *items;
    graph_node *nodes;
    bool *present;
    size_t count, capacity;
} residual_list;

typedef struct integrability {
    analysis *a;
    forms *f;
    graph_node *node; /* node[row * width + column]: coefficients a of the one-forms */
    double *A;        /* A[row * width + column]: values of `node` at the initial state */
    double *slope;    /* slope[(row * width + column) * width + k]: ∂a/∂x_k at the initial state */
    residual_list *solved;
} integrability;

static graph_node coefficient(const integrability *t, size_t row, size_t column) {
    return t->node[row * t->f->width + column];
}

static const char *variable_name(const integrability *t, size_t column) {
    bool time = column >= t->f->coordinate_count;
    return time ? "t" : arena_format(t->a->memory, "%s", t->a->system->coordinates[t->f->coordinates[column]].name);
}

static bool read_coefficients(integrability *t) {
    forms *f = t->f;
    t->node = arena_alloc(&f->memory, f->row_count * f->width, sizeof *t->node);
    if (!t->node) return false;
    for (size_t k = 0; k < f->row_count * f->width; k++) t->node[k] = graph_number(t->a->system->graph, 0);
    for (size_t e = 0; e < f->entry_count; e++) {
        graph_node *to = &t->node[f->entry_row[e] * f->width + f->entry_column[e]];
        *to = graph_add(t->a->system->graph, *to, f->nodes[e]);
    }
    return true;
}

/* Adds the residual `node` to the list unless it simplifies to 0. The arrays of the list are allocated from a->memory.
 * Returns false if out of memory. */
static bool add_residual(integrability *t, residual_list *list, hamel_integrability_residual residual,
                         graph_node node) {
    analysis *a = t->a;
    node = arrange_within(a->system->graph, node, &a->work, a->memory);
    if (node < 0 || graph_is_zero(a->system->graph, node)) return node >= 0;
    size_t capacity = list->capacity, more = capacity;
    list->items = arena_grow(a->memory, list->items, &more, list->count + 1, sizeof *list->items);
    more = capacity;
    list->nodes = arena_grow(a->memory, list->nodes, &more, list->count + 1, sizeof *list->nodes);
    list->capacity = more;
    if (!list->items || !list->nodes) return false;
    list->nodes[list->count] = node;
    list->items[list->count++] = residual;
    return true;
}

/* Removes residuals that are 0 at all sampled states. Sets `expression`, `has_value` and `value` of the residuals that
 * remain. */
static hamel_status finish_residuals(analysis *a, residual_list *list) {
    double *values = arena_doubles(a->memory, list->count);
    const graph_point start = sample_point(a, &a->start, false);
    list->present = arena_alloc(a->memory, list->count, sizeof *list->present);
    if (!values || !list->present) return analysis_no_memory(a);
    if (list->count == 0) return HAMEL_OK;
    for (size_t k = 0; k < list->count; k++)
        if (!zero_test_add(a, list->nodes[k], &list->present[k], NULL)) return analysis_stopped(a);
    hamel_status status = zero_tests_run(a);
    if (status == HAMEL_OK && !graph_values(a->system->graph, list->nodes, list->count, &start, values, NULL))
        status = analysis_no_memory(a);
    if (status != HAMEL_OK) return status;
    size_t kept = 0;
    for (size_t k = 0; k < list->count; k++) {
        if (!list->present[k]) continue;
        list->items[k].expression = analysis_text(a, list->nodes[k], HAMEL_RESIDUAL_TEXT);
        list->items[k].has_value = isfinite(values[k]);
        list->items[k].value = isfinite(values[k]) ? values[k] : 0;
        list->items[kept++] = list->items[k];
    }
    list->count = kept;
    return HAMEL_OK;
}

/* --- ω ∧ dω ------------------------------------------------------------------------------------------------------- */

/* Returns a_i (∂a_k/∂x_j − ∂a_j/∂x_k), one of three terms of h·curl h for h = (a_i, a_j, a_k). */
static graph_node curl_term(const integrability *t, size_t row, size_t i, size_t j, size_t k) {
    graph *g = t->a->system->graph;
    graph_node first = graph_partial(g, coefficient(t, row, k), forms_symbol(t->f, j));
    graph_node second = graph_partial(g, coefficient(t, row, j), forms_symbol(t->f, k));
    return graph_mul(g, coefficient(t, row, i), graph_sub(g, first, second));
}

static bool add_components(integrability *t, size_t row, residual_list *list) {
    graph *g = t->a->system->graph;
    size_t width = t->f->width;
    for (size_t i = 0; i < width; i++)
        for (size_t j = i + 1; j < width; j++)
            for (size_t k = j + 1; k < width; k++) {
                graph_node sum = graph_add(g, curl_term(t, row, i, j, k), curl_term(t, row, j, k, i));
                hamel_integrability_residual residual = {
                    .variables = {variable_name(t, i), variable_name(t, j), variable_name(t, k)}};
                if (!add_residual(t, list, residual, graph_add(g, sum, curl_term(t, row, k, i, j)))) return false;
            }
    return true;
}

/* --- ranks -------------------------------------------------------------------------------------------------------- */

/* Fills `A` and `slope`, and chooses independent rows at the initial state. *good becomes false if a value is not
 * finite. It also becomes false if the constraints contradict each other at the initial state. */
static hamel_status evaluate_forms(integrability *t, bool *good) {
    forms *f = t->f;
    size_t width = f->width;
    double *x = arena_doubles(&f->memory, width), *d = arena_doubles(&f->memory, width * PROGRAM_LANES);
    t->A = arena_doubles(&f->memory, f->row_count * width);
    t->slope = arena_doubles(&f->memory, f->row_count * width * width);
    *good = false;
    if (!x || !d || !t->A || !t->slope) return analysis_no_memory(t->a);
    forms_configuration(f, &t->a->start, x);
    hamel_status status = forms_choose(f, x);
    if (status == HAMEL_NOT_FINITE || status == HAMEL_INCOMPATIBLE) return hamel_error_clear(t->a->error), HAMEL_OK;
    if (status != HAMEL_OK) return status;
    for (size_t r = 0; r < f->row_count; r++) forms_row(f, r, t->A + r * width);
    for (size_t first = 0; first < width; first += PROGRAM_LANES) {
        size_t count = width - first < PROGRAM_LANES ? width - first : PROGRAM_LANES;
        memset(d, 0, count * width * sizeof *d);
        for (size_t k = 0; k < count; k++) d[k * width + first + k] = 1;
        if (!forms_differentiate(f, x, d, count)) return HAMEL_OK;
        for (size_t e = 0; e < f->entry_count; e++)
            for (size_t k = 0; k < count; k++)
                t->slope[(f->entry_row[e] * width + f->entry_column[e]) * width + first + k] +=
                    f->dots[e * PROGRAM_LANES + k];
    }
    *good = true;
    return HAMEL_OK;
}

/* Computes the rank of [a_kl, Aᵀ; −A, 0]. a_kl are the derivatives of row `row`, and A consists of the rows
 * rows[count]. */
static hamel_status bordered_rank(const integrability *t, size_t row, const size_t *rows, size_t count, size_t *rank) {
    size_t width = t->f->width, size = width + count;
    const double *slope = t->slope + row * width * width;
    rank_rows basis = {0};
    double *line = arena_doubles(&t->f->memory, size);
    bool good = rank_rows_init(&basis, size, size, SAMPLED_RANK_TOLERANCE) && line;
    for (size_t k = 0; good && k < size; k++) {
        memset(line, 0, size * sizeof *line);
        for (size_t l = 0; l < width && k < width; l++) line[l] = slope[k * width + l] - slope[l * width + k];
        for (size_t c = 0; c < count && k < width; c++) line[width + c] = t->A[rows[c] * width + k];
        for (size_t l = 0; l < width && k >= width; l++) line[l] = -t->A[rows[k - width] * width + l];
        (void)rank_rows_add(&basis, line);
    }
    *rank = basis.rank;
    rank_rows_free(&basis);
    return good ? HAMEL_OK : analysis_no_memory(t->a);
}

static hamel_status find_ranks(integrability *t, size_t row, hamel_integrability_form *form) {
    forms *f = t->f;
    form->system_rank = 2 * f->rank;
    hamel_status status = bordered_rank(t, row, &row, 1, &form->rank);
    return status == HAMEL_OK ? bordered_rank(t, row, f->chosen, f->rank, &form->joint_rank) : status;
}

/* --- Deahna and Bouquet ------------------------------------------------------------------------------------------- */

/* Returns ∂b/∂(J) for the independent variable J with index `column` (integrability.h). `table` contains the solved
 * one-forms, and pivots[row] is the dependent coordinate of a row or −1. */
static graph_node along(const integrability *t, graph_node b, const graph_node *table, const int *pivots,
                        size_t column) {
    graph *g = t->a->system->graph;
    size_t n = t->f->coordinate_count;
    graph_node sum = graph_partial(g, b, forms_symbol(t->f, column));
    for (size_t r = 0; r < t->f->row_count; r++) {
        if (pivots[r] < 0) continue;
        graph_node entry = table[r * (n + 1) + column]; /* −b_DJ if J is a coordinate, b_Dt if J is time */
        graph_node part = graph_mul(g, entry, graph_partial(g, b, forms_symbol(t->f, (size_t)pivots[r])));
        sum = column < n ? graph_sub(g, sum, part) : graph_add(g, sum, part);
    }
    return sum;
}

static graph_node solved_coefficient(const integrability *t, const graph_node *table, size_t row, size_t column) {
    graph_node entry = table[row * (t->f->coordinate_count + 1) + column];
    return column < t->f->coordinate_count ? graph_neg(t->a->system->graph, entry) : entry;
}

static bool add_solved_row(integrability *t, const graph_node *table, const int *pivots, size_t row) {
    forms *f = t->f;
    graph *g = t->a->system->graph;
    bool is_pivot[VARIABLES_MOST] = {false};
    for (size_t r = 0; r < f->row_count; r++)
        if (pivots[r] >= 0) is_pivot[pivots[r]] = true;
    for (size_t i = 0; i < f->width; i++)
        for (size_t j = i + 1; j < f->width && !is_pivot[i]; j++) {
            if (is_pivot[j]) continue;
            graph_node first = along(t, solved_coefficient(t, table, row, i), table, pivots, j);
            graph_node second = along(t, solved_coefficient(t, table, row, j), table, pivots, i);
            hamel_integrability_residual residual = {.of = variable_name(t, (size_t)pivots[row]),
                                                     .variables = {variable_name(t, i), variable_name(t, j)}};
            if (!add_residual(t, t->solved, residual, graph_sub(g, first, second))) return false;
        }
    return true;
}

/* Solves the one-forms of the group for dependent differentials, and adds the residuals of Deahna and Bouquet.
 * Redundant rows have no pivot and add no residuals. If the elimination is incomplete, no residuals are added. Returns
 * false if out of memory. */
static bool add_solved(integrability *t) {
    forms *f = t->f;
    analysis *a = t->a;
    graph *g = a->system->graph;
    size_t n = f->coordinate_count, width = n + 1;
    graph_node *table = arena_alloc(&f->memory, f->row_count * width, sizeof *table);
    int *pivots = arena_alloc(&f->memory, f->row_count, sizeof *pivots);
    if (!table || !pivots) return false;
    for (size_t r = 0; r < f->row_count; r++)
        for (size_t i = 0; i <= n; i++)
            table[r * width + i] = i < n      ? coefficient(t, r, i)
                                   : f->timed ? graph_neg(g, coefficient(t, r, n))
                                              : graph_number(g, 0);
    const graph_point near = sample_point(a, &a->start, false);
    if (!eliminate_within(g, table, f->row_count, n, &near, pivots, f->rank, &a->work, &f->memory)) return false;
    if (!is_eliminated(g, table, f->row_count, n, pivots)) return true;
    for (size_t r = 0; r < f->row_count; r++)
        if (pivots[r] >= 0 && !add_solved_row(t, table, pivots, r)) return false;
    return true;
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

static hamel_status add_form(integrability *t, size_t row, hamel_integrability_form *form) {
    residual_list components = {0};
    const char *name = t->a->system->constraints[t->f->rows[row]].name;
    *form = (hamel_integrability_form){.constraint = arena_format(t->a->memory, "%s", name),
                                       .has_components = t->f->width <= COMPONENTS_MOST};
    if (form->has_components && !add_components(t, row, &components)) return analysis_stopped(t->a);
    hamel_status status = finish_residuals(t->a, &components);
    form->frobenius = components.items;
    form->frobenius_count = components.count;
    return status == HAMEL_OK ? find_ranks(t, row, form) : status;
}

/* Appends the velocity constraints of the group to list[*count]. Groups that are too large, have no velocity
 * constraints or have no valid initial state are skipped. */
static hamel_status add_forms(integrability *t, hamel_integrability_form *list, size_t *count) {
    forms *f = t->f;
    if (f->width > VARIABLES_MOST || f->holonomic_count == f->row_count) return HAMEL_OK;
    bool good;
    hamel_status status = evaluate_forms(t, &good);
    if (status != HAMEL_OK || !good) return status;
    if (!read_coefficients(t)) return analysis_no_memory(t->a);
    for (size_t r = f->holonomic_count; r < f->row_count && status == HAMEL_OK; r++)
        status = add_form(t, r, &list[(*count)++]);
    if (status == HAMEL_OK && !add_solved(t)) status = analysis_stopped(t->a);
    return status;
}

hamel_status integrability_derive(analysis *a) {
    groups g;
    hamel_integrability *out = arena_alloc(a->memory, 1, sizeof *out);
    hamel_integrability_form *list = arena_alloc(a->memory, a->m, sizeof *list);
    residual_list solved = {0};
    if (!out || !list || !groups_create(&g, a->memory, a->system, a->linear)) return analysis_no_memory(a);
    analysis_begin_work(a);
    *out = (hamel_integrability){.forms = list};
    hamel_status status = HAMEL_OK;
    for (size_t k = 0; k < g.count && a->start_known && status == HAMEL_OK; k++) {
        forms f;
        status = forms_create(&f, a, &g, k);
        if (status == HAMEL_OK)
            status = add_forms(&(integrability){.a = a, .f = &f, .solved = &solved}, list, &out->form_count);
        forms_free(&f);
    }
    if (status == HAMEL_OK) status = finish_residuals(a, &solved);
    out->solved = solved.items;
    out->solved_count = solved.count;
    a->report->integrability = out;
    return status;
}
