/* forms.c — evaluation of one-forms and choice of independent rows; see forms.h. */
#include "engine/analyze/forms.h"

#include "engine/base/finite.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <string.h>

/* A redundant row contradicts the chosen rows if its component orthogonal to these rows, including dt, exceeds this
 * fraction of the length of the row. Samples satisfy the constraints to 1e-10 (samples.c), and the safety factor is
 * 1000. */
static const double CONTRADICTING = 1e-7;

/* Lists the constraints, holonomic ones first. Returns false if out of memory. */
static bool list_rows(forms *f, const size_t *constraints, size_t count) {
    f->rows = arena_alloc(&f->memory, count, sizeof *f->rows);
    f->chosen = arena_alloc(&f->memory, count, sizeof *f->chosen);
    if (f->memory.failed) return false;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            bool holonomic = f->a->model->order[constraints[i]] == CONSTRAINT_HOLONOMIC;
            if (holonomic != (pass == 0)) continue;
            f->rows[f->row_count++] = constraints[i];
            if (holonomic) f->holonomic_count++;
        }
    return true;
}

static void add_entry(forms *f, size_t row, size_t column, graph_node node) {
    f->nodes[f->entry_count] = node;
    f->entry_row[f->entry_count] = row;
    f->entry_column[f->entry_count++] = column;
}

/* Lists the entries of each row: the entries of A, then the coefficient of dt. Returns false if out of memory. */
static bool list_form_entries(forms *f, const groups *g) {
    const matrix_pattern *A = &f->a->equations.A;
    size_t first, capacity = f->row_count;
    for (size_t r = 0; r < f->row_count; r++) capacity += pattern_row(A, (int32_t)f->rows[r], &first);
    f->nodes = arena_alloc(&f->memory, capacity, sizeof *f->nodes);
    f->first_entry = arena_alloc(&f->memory, f->row_count + 1, sizeof *f->first_entry);
    f->entry_row = arena_alloc(&f->memory, capacity, sizeof *f->entry_row);
    f->entry_column = arena_alloc(&f->memory, capacity, sizeof *f->entry_column);
    if (f->memory.failed) return false;
    for (size_t r = 0; r < f->row_count; r++) {
        size_t count = pattern_row(A, (int32_t)f->rows[r], &first);
        graph_node rest = f->a->at_rest[f->rows[r]];
        for (size_t k = first; k < first + count; k++)
            add_entry(f, r, g->local[A->entries[k].column], A->entries[k].node);
        if (!graph_is_zero(f->a->system->graph, rest)) add_entry(f, r, f->coordinate_count, rest);
        f->first_entry[r + 1] = f->entry_count;
    }
    return true;
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
    f->workspace = model_workspace(f->a->model, f->program, m);
    f->tangent = arena_doubles(m, program_tangent_doubles(f->program));
    f->values = arena_doubles(m, f->entry_count);
    f->dots = arena_doubles(m, f->entry_count * PROGRAM_LANES);
    f->row = arena_doubles(m, f->width);
    return !m->failed;
}

hamel_status forms_create(forms *f, analysis *a, const groups *g, size_t k) {
    *f = (forms){.a = a, .coordinate_count = groups_coordinates(g, k), .q = a->inputs_q, .seed_q = a->seeds_q};
    arena_init(&f->memory, a->model->limits.memory);
    f->coordinates = g->coordinates + g->first_coordinate[k];
    if (!list_rows(f, g->constraints + g->first_constraint[k], groups_constraints(g, k))) return analysis_no_memory(a);
    f->timed = contains_time(f);
    f->width = f->coordinate_count + f->timed;
    if (!list_form_entries(f, g)) return analysis_no_memory(a);
    hamel_status status =
        program_compile(&f->program, &f->memory, a->system->graph, f->nodes, f->entry_count, a->error);
    if (status != HAMEL_OK) return status;
    return allocate_numbers(f) ? HAMEL_OK : analysis_no_memory(a);
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

/* Returns the program's inputs at x. Sets *t, to which the inputs point. */
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
    for (size_t e = f->first_entry[r]; e < f->first_entry[r + 1]; e++) row[f->entry_column[e]] += f->values[e];
}

/* Chooses rows whose velocity coefficients are independent. If the coefficient of dt makes another row independent of
 * the chosen rows, the constraints contradict each other. */
static hamel_status choose_independent_rows(forms *f, rank_rows *spatial, rank_rows *whole) {
    f->rank = f->holonomic_rank = 0;
    for (size_t r = 0; r < f->row_count; r++) {
        forms_row(f, r, f->row);
        if (!rank_rows_add(spatial, f->row)) continue;
        (void)rank_rows_add(whole, f->row);
        f->chosen[f->rank++] = r;
        if (r < f->holonomic_count) f->holonomic_rank++;
    }
    for (size_t r = 0, k = 0; r < f->row_count; r++) {
        forms_row(f, r, f->row);
        if (k < f->rank && f->chosen[k] == r) {
            k++;
        } else if (rank_rows_add(whole, f->row)) {
            const system_constraint *c = &f->a->system->constraints[f->rows[r]];
            return hamel_fail(f->a->error, HAMEL_INCOMPATIBLE, c->pointer, 0,
                              "the constraint `%s` contradicts the constraints before it", c->name);
        }
    }
    return HAMEL_OK;
}

hamel_status forms_choose(forms *f, const double *x) {
    rank_rows spatial = {0}, whole = {0};
    hamel_status status = HAMEL_NOT_FINITE;
    if (!forms_evaluate(f, x)) return status;
    if (rank_rows_init(&spatial, f->row_count, f->coordinate_count, SAMPLED_RANK_TOLERANCE) &&
        rank_rows_init(&whole, f->row_count, f->width, CONTRADICTING))
        status = choose_independent_rows(f, &spatial, &whole);
    else
        status = analysis_no_memory(f->a);
    rank_rows_free(&spatial);
    rank_rows_free(&whole);
    return status;
}
