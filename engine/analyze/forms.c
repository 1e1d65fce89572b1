/* forms.c — evaluation of one-forms and choice of independent rows; see forms.h. */
#include "engine/analyze/forms.h"

#include "engine/base/finite.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A redundant row contradicts the chosen rows if more than this part of it, dt included, is independent of them: 1000
 * times the 1e-10 to which samples satisfy the constraints (samples.c). */
static const double CONTRADICTING = 1e-7;

static bool by_order(forms *f, const size_t *constraints, size_t count) {
    f->rows = arena_alloc(&f->memory, count, sizeof *f->rows);
    f->chosen = arena_alloc(&f->memory, count, sizeof *f->chosen);
    if (!f->rows || !f->chosen) return false;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            bool holonomic = f->a->model->order[constraints[i]] == CONSTRAINT_HOLONOMIC;
            if (holonomic != (pass == 0)) continue;
            f->rows[f->row_count++] = constraints[i];
            if (holonomic) f->holonomic_count++;
        }
    return true;
}

static size_t local_index(const forms *f, int32_t coordinate) {
    size_t low = 0, high = f->coordinate_count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (f->coordinates[middle] <= coordinate)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Lists the entries of each row: those of A, then the coefficient of dt. */
static graph_node *list_form_entries(forms *f) {
    const matrix_pattern *A = &f->a->equations.A;
    size_t first, capacity = f->row_count;
    for (size_t r = 0; r < f->row_count; r++) capacity += pattern_row(A, (int32_t)f->rows[r], &first);
    graph_node *nodes = arena_alloc(&f->memory, capacity, sizeof *nodes);
    f->entry_row = arena_alloc(&f->memory, capacity, sizeof *f->entry_row);
    f->entry_column = arena_alloc(&f->memory, capacity, sizeof *f->entry_column);
    if (!nodes || !f->entry_row || !f->entry_column) return NULL;
    for (size_t r = 0; r < f->row_count; r++) {
        size_t count = pattern_row(A, (int32_t)f->rows[r], &first);
        for (size_t k = first; k < first + count; k++) {
            nodes[f->entry_count] = A->entries[k].node;
            f->entry_row[f->entry_count] = r;
            f->entry_column[f->entry_count++] = local_index(f, A->entries[k].column);
        }
        if (graph_is_zero(f->a->system->graph, f->a->at_rest[f->rows[r]])) continue;
        nodes[f->entry_count] = f->a->at_rest[f->rows[r]];
        f->entry_row[f->entry_count] = r;
        f->entry_column[f->entry_count++] = f->coordinate_count;
    }
    return nodes;
}

static bool contains_time(const forms *f) {
    for (size_t r = 0; r < f->row_count; r++) {
        graph_node equation = f->a->system->constraints[f->rows[r]].equation;
        if (graph_depends(f->a->system->graph, equation) & GRAPH_DEPENDS(SYMBOL_TIME)) return true;
        if (!graph_is_zero(f->a->system->graph, f->a->at_rest[f->rows[r]])) return true;
    }
    return false;
}

static bool allocate_numbers(forms *f) {
    arena *m = &f->memory;
    f->workspace = arena_alloc(m, program_workspace_doubles(f->program), sizeof(double));
    f->tangent = arena_alloc(m, program_tangent_doubles(f->program), sizeof(double));
    f->values = arena_alloc(m, f->entry_count, sizeof(double));
    f->dots = arena_alloc(m, f->entry_count * PROGRAM_LANES, sizeof(double));
    return f->workspace && f->tangent && f->values && f->dots;
}

hamel_status forms_create(forms *f, analysis *a, const size_t *constraints, size_t constraint_count,
                          const int32_t *coordinates, size_t coordinate_count) {
    *f = (forms){.a = a, .coordinate_count = coordinate_count, .q = a->inputs_q, .seed_q = a->seeds_q};
    arena_init(&f->memory, a->model->limits.memory);
    f->coordinates = arena_alloc(&f->memory, coordinate_count, sizeof *f->coordinates);
    if (!f->coordinates || !by_order(f, constraints, constraint_count)) return analysis_no_memory(a);
    memcpy(f->coordinates, coordinates, coordinate_count * sizeof *coordinates);
    f->timed = contains_time(f);
    f->width = coordinate_count + f->timed;
    f->nodes = list_form_entries(f);
    if (!f->nodes) return analysis_no_memory(a);
    hamel_status status =
        program_compile(&f->program, &f->memory, a->system->graph, f->nodes, f->entry_count, a->error);
    if (status != HAMEL_OK) return status;
    if (!allocate_numbers(f)) return analysis_no_memory(a);
    program_inputs in = model_inputs(a->model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(f->program, &in, f->workspace);
    return HAMEL_OK;
}

void forms_free(forms *f) {
    arena_free(&f->memory);
}

graph_node forms_symbol(const forms *f, size_t column) {
    assert(column < f->width);
    graph *g = f->a->system->graph;
    return column < f->coordinate_count ? graph_symbol(g, SYMBOL_COORDINATE, f->coordinates[column])
                                        : graph_symbol(g, SYMBOL_TIME, 0);
}

void forms_configuration(const forms *f, const sample *s, double *x) {
    for (size_t i = 0; i < f->coordinate_count; i++) x[i] = s->q[f->coordinates[i]];
    if (f->timed) x[f->coordinate_count] = s->t;
}

/* Returns the program's inputs at x; they point to *t. */
static program_inputs inputs_at(forms *f, const double *x, double *t) {
    *t = f->timed ? x[f->coordinate_count] : 0;
    for (size_t i = 0; i < f->coordinate_count; i++) f->q[f->coordinates[i]] = x[i];
    return model_inputs(f->a->model, t, f->q, NULL, NULL, NULL, NULL);
}

bool forms_evaluate(forms *f, const double *x) {
    double t;
    program_inputs in = inputs_at(f, x, &t);
    program_evaluate(f->program, &in, f->workspace, f->values);
    return all_finite(f->values, f->entry_count);
}

bool forms_differentiate(forms *f, const double *x, const double *d, size_t count) {
    assert(count <= PROGRAM_LANES);
    double t, seed_t[PROGRAM_LANES] = {0};
    program_inputs in = inputs_at(f, x, &t), seeds = {{0}};
    for (size_t k = 0; k < PROGRAM_LANES; k++) {
        const double *along = k < count ? d + k * f->width : NULL;
        for (size_t i = 0; i < f->coordinate_count; i++)
            f->seed_q[(size_t)f->coordinates[i] * PROGRAM_LANES + k] = along ? along[i] : 0;
        if (f->timed && along) seed_t[k] = along[f->coordinate_count];
    }
    seeds.values[SYMBOL_COORDINATE] = f->seed_q;
    seeds.values[SYMBOL_TIME] = seed_t;
    program_tangent(f->program, &in, &seeds, f->workspace, f->tangent, f->values, f->dots);
    return all_finite(f->values, f->entry_count) && all_finite(f->dots, f->entry_count * PROGRAM_LANES);
}

void forms_row(const forms *f, size_t r, double *row) {
    assert(r < f->row_count);
    memset(row, 0, f->width * sizeof *row);
    size_t low = 0, high = f->entry_count; /* entries are sorted by row */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->entry_row[middle] < r)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < f->entry_count && f->entry_row[low] == r; low++) row[f->entry_column[low]] += f->values[low];
}

static hamel_status contradiction(forms *f, size_t r) {
    const system_constraint *c = &f->a->system->constraints[f->rows[r]];
    return hamel_fail(f->a->error, HAMEL_INCOMPATIBLE, c->pointer, 0,
                      "the constraint `%s` contradicts the constraints before it", c->name);
}

/* Chooses rows whose velocity coefficients are independent. The other rows must depend on them with the coefficient of
 * dt included. */
static hamel_status choose_independent_rows(forms *f, rank_rows *spatial, rank_rows *whole, double *row) {
    f->rank = f->holonomic_rank = 0;
    for (size_t r = 0; r < f->row_count; r++) {
        forms_row(f, r, row);
        if (!rank_rows_add(spatial, row)) continue;
        (void)rank_rows_add(whole, row);
        f->chosen[f->rank++] = r;
        if (r < f->holonomic_count) f->holonomic_rank++;
    }
    for (size_t r = 0, k = 0; r < f->row_count; r++) {
        if (k < f->rank && f->chosen[k] == r) {
            k++;
            continue;
        }
        forms_row(f, r, row);
        if (rank_rows_add(whole, row)) return contradiction(f, r);
    }
    return HAMEL_OK;
}

hamel_status forms_choose(forms *f, const double *x) {
    rank_rows spatial = {0}, whole = {0};
    double *row = calloc(f->width + 1, sizeof *row);
    hamel_status status = HAMEL_OK;
    if (!forms_evaluate(f, x))
        status = HAMEL_NOT_FINITE;
    else if (!row || !rank_rows_init(&spatial, f->row_count, f->coordinate_count, SAMPLED_RANK_TOLERANCE) ||
             !rank_rows_init(&whole, f->row_count, f->width, CONTRADICTING))
        status = analysis_no_memory(f->a);
    else
        status = choose_independent_rows(f, &spatial, &whole, row);
    rank_rows_free(&spatial);
    rank_rows_free(&whole);
    free(row);
    return status;
}
