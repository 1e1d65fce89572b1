/* configuration.c — regularity of the holonomic constraints, and a basis of the displacements that constraints allow.
 *
 * If the gradients of the holonomic constraints have constant rank near the initial configuration, the configurations
 * form a single smooth branch there (constant rank theorem). The rank near the initial state is never smaller than at
 * the initial state. The largest rank is found at random configurations, one of which violates the constraints. If the
 * rank at the initial state is smaller than the largest rank, the gradients do not determine how many branches meet
 * there.
 *
 * Each row of A is the normal of a constraint. Gauss–Jordan elimination solves A δq = 0 for the dependent coordinates:
 * δq_D = Σ b_DI δq_I (Papastavridis 2.6.10, 2.7). */
#include "engine/algebra/eliminate.h"
#include "engine/analyze/displacements_int.h"
#include "engine/base/random.h"

#include <assert.h>
#include <string.h>

/* Copies row c of A, including zeros, to row[n]. */
static void copy_row(const analysis *a, size_t c, graph_node *row) {
    size_t first, count = pattern_row(&a->equations.A, (int32_t)c, &first);
    for (size_t i = 0; i < a->n; i++) row[i] = graph_number(a->system->graph, 0);
    for (size_t k = first; k < first + count; k++)
        row[a->equations.A.entries[k].column] = a->equations.A.entries[k].node;
}

/* Returns a table in a->memory: the rows of A of the active constraints whose order is at most `most`. Each row has
 * n + 1 entries; the last entry is −a_ct, or 0 if the constraint is not linear. The number of rows is stored in *rows.
 * Returns NULL if out of memory. */
static graph_node *table_of(displacement_work *w, constraint_order most, size_t *rows) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    size_t width = a->n + 1;
    graph_node *table = arena_alloc(a->memory, a->m * width, sizeof *table);
    *rows = 0;
    for (size_t c = 0; c < a->m && table; c++) {
        if (!a->model->active[c] || a->model->order[c] > most) continue;
        graph_node *row = table + width * (*rows)++;
        copy_row(a, c, row);
        row[a->n] = a->linear[c] ? graph_neg(g, a->at_rest[c]) : graph_number(g, 0);
    }
    return table;
}

/* Stores in *rank the largest rank at the samples and at a configuration that violates the constraints. Returns false
 * if out of memory. */
static bool generic_rank(const displacement_work *w, const graph_node *table, size_t rows, size_t *rank) {
    analysis *a = w->a;
    const graph *g = a->system->graph;
    size_t here;
    *rank = 0;
    for (size_t k = 0; k < SAMPLE_COUNT; k++) {
        const graph_point near = sample_point(a, &a->samples[k], false);
        if (!table_rank(g, table, rows, a->n, &near, &here, a->memory)) return false;
        if (here > *rank) *rank = here;
    }
    /* The coordinates change by up to 0.5; the samples are drawn within 0.6 of the initial values. */
    uint64_t seed = 1;
    double *q = arena_doubles(a->memory, a->n);
    if (!q) return false;
    graph_point off = sample_point(a, &a->samples[0], false);
    for (size_t i = 0; i < a->n; i++) q[i] = a->samples[0].q[i] + random_uniform(&seed, -0.5, 0.5);
    off.values[SYMBOL_COORDINATE] = q;
    if (!table_rank(g, table, rows, a->n, &off, &here, a->memory)) return false;
    if (here > *rank) *rank = here;
    return true;
}

static hamel_status find_regularity(displacement_work *w) {
    analysis *a = w->a;
    hamel_displacements *out = w->out;
    size_t usual;
    graph_node *table = table_of(w, CONSTRAINT_HOLONOMIC, &out->holonomic);
    if (!table || !generic_rank(w, table, out->holonomic, &usual)) return analysis_no_memory(a);
    out->start_known = a->start_known;
    if (!a->start_known) {
        out->undecided = "no consistent initial state was found";
        return HAMEL_OK;
    }
    const graph_point start = sample_point(a, &a->start, false);
    if (!table_rank(a->system->graph, table, out->holonomic, a->n, &start, &out->rank, a->memory))
        return analysis_no_memory(a);
    out->regular = out->rank == out->holonomic;
    out->branches = out->rank == usual;
    if (!out->branches)
        out->undecided = "the rank of the holonomic constraints is smaller at the initial state than near it";
    return HAMEL_OK;
}

/* Lists coordinates that, together with the functions of the holonomic constraints, are adapted coordinates. The
 * columns of these coordinates are not pivots of the gradients. The matrix of the pivot columns is regular at the
 * initial state. */
static hamel_status find_adapted(displacement_work *w) {
    analysis *a = w->a;
    hamel_names *names = &w->out->adapted;
    size_t rows;
    graph_node *table = table_of(w, CONSTRAINT_HOLONOMIC, &rows);
    int *pivots = arena_alloc(a->memory, a->m, sizeof *pivots);
    bool *taken = arena_alloc(a->memory, a->n, sizeof *taken);
    names->items = arena_alloc(a->memory, a->n, sizeof *names->items);
    if (a->memory->failed) return analysis_no_memory(a);
    const graph_point near = sample_point(a, &a->start, false);
    if (!eliminate_within(a->system->graph, table, rows, a->n, &near, pivots, a->n, &a->work, a->memory))
        return analysis_stopped(a);
    for (size_t r = 0; r < rows; r++) {
        if (pivots[r] < 0) return HAMEL_OK; /* the elimination exceeded the work budget */
        taken[pivots[r]] = true;
    }
    for (size_t i = 0; i < a->n; i++)
        if (!taken[i] &&
            !(names->items[names->count++] = arena_format(a->memory, "%s", a->system->coordinates[i].name)))
            return analysis_no_memory(a);
    return HAMEL_OK;
}

/* Fills w->free, w->tangent, w->drift and the list of dependent coordinates from the eliminated table. pivots[r] is the
 * dependent coordinate of row r, or −1 if row r has no pivot. */
static hamel_status read_tangents(displacement_work *w, const graph_node *table, size_t rows, const int *pivots) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    size_t n = a->n, width = n + 1;
    bool *dependent = arena_alloc(a->memory, n, sizeof *dependent);
    w->free = arena_alloc(a->memory, n, sizeof *w->free);
    w->drift = node_array(a->system, n);
    w->out->dependent.items = arena_alloc(a->memory, n, sizeof *w->out->dependent.items);
    if (a->memory->failed || !w->drift) return analysis_no_memory(a);
    for (size_t r = 0; r < rows; r++)
        if (pivots[r] >= 0) dependent[pivots[r]] = true;
    for (size_t i = 0; i < n; i++) {
        const char *name = arena_format(a->memory, "%s", a->system->coordinates[i].name);
        if (!name) return analysis_no_memory(a);
        if (dependent[i])
            w->out->dependent.items[w->out->dependent.count++] = name;
        else
            w->free[w->tangent_count++] = i;
    }
    w->tangent = node_array(a->system, n * w->tangent_count + 1);
    if (!w->tangent) return analysis_no_memory(a);
    for (size_t k = 0; k < w->tangent_count; k++) {
        w->tangent[w->free[k] * w->tangent_count + k] = graph_number(g, 1);
        for (size_t r = 0; r < rows; r++)
            if (pivots[r] >= 0)
                w->tangent[(size_t)pivots[r] * w->tangent_count + k] =
                    displacement_arranged(w, graph_neg(g, table[r * width + w->free[k]]));
    }
    for (size_t r = 0; r < rows; r++)
        if (pivots[r] >= 0) w->drift[pivots[r]] = displacement_arranged(w, table[r * width + n]);
    return HAMEL_OK;
}

static hamel_status list_tangents(displacement_work *w) {
    analysis *a = w->a;
    hamel_displacements *out = w->out;
    graph_node *column = arena_alloc(a->memory, a->n, sizeof *column);
    bool good = true;
    out->tangents = arena_alloc(a->memory, w->tangent_count, sizeof *out->tangents);
    if (!column || !out->tangents) return analysis_no_memory(a);
    for (size_t k = 0; k < w->tangent_count && good; k++) {
        for (size_t i = 0; i < a->n; i++) column[i] = w->tangent[i * w->tangent_count + k];
        const char *of = arena_format(a->memory, "%s", a->system->coordinates[w->free[k]].name);
        out->tangents[out->tangent_count++] = displacement_entries(w, of, column, &good);
    }
    if (good && out->drift_known) out->drift = displacement_entries(w, NULL, w->drift, &good);
    return good ? HAMEL_OK : a->error->status;
}

hamel_status configuration_derive(displacement_work *w) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    size_t rows;
    hamel_status status = find_regularity(w);
    if (status != HAMEL_OK) return status;
    if (a->n > CONFIGURATION_SOLVED) return HAMEL_OK;
    if (w->out->regular && w->out->holonomic > 0 && (status = find_adapted(w)) != HAMEL_OK) return status;
    graph_node *table = table_of(w, CONSTRAINT_ACCELERATION, &rows);
    int *pivots = arena_alloc(a->memory, a->m, sizeof *pivots);
    const graph_point near = sample_point(a, a->start_known ? &a->start : &a->samples[0], false);
    if (!table || !pivots) return analysis_no_memory(a);
    if (!eliminate_within(g, table, rows, a->n, &near, pivots, a->n, &a->work, a->memory)) return analysis_stopped(a);
    if (!is_eliminated(g, table, rows, a->n, pivots)) return HAMEL_OK;
    w->out->tangents_known = w->out->drift_known = true;
    for (size_t c = 0; c < a->m; c++)
        if (a->model->active[c] && !a->linear[c]) w->out->drift_known = false;
    status = read_tangents(w, table, rows, pivots);
    return status == HAMEL_OK ? list_tangents(w) : status;
}
