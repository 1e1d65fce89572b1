/* written.c — functions shared by all writers of equations. */
#include "engine/equations/written.h"

#include "engine/algebra/arrange.h"
#include "engine/algebra/eliminate.h"
#include "engine/mechanics/generalized_forces.h"
#include "engine/system/binder.h"

#include <assert.h>
#include <string.h>

void written_begin(written *w, const char *title) {
    assert(w->part_count < WRITTEN_PARTS);
    if (w->part_count < WRITTEN_PARTS) w->parts[w->part_count++].title = title;
}

static bool add_line(written *w, written_line line) {
    assert(w->part_count > 0 && w->part_count <= WRITTEN_PARTS);
    written_part *part = &w->parts[w->part_count - 1];
    written_line *lines = arena_grow(w->memory, part->lines, &part->capacity, part->count + 1, sizeof *lines);
    if (!lines || line.right < 0 || (!line.defines && line.left < 0) || system_interrupted(w->system)) return false;
    part->lines = lines;
    lines[part->count++] = line;
    return true;
}

graph_node written_arranged(written *w, graph_node node) {
    return arrange_within(w->system->graph, node, &w->work_budget, w->memory);
}

bool written_eliminate(written *w, graph_node *table, size_t rows, size_t columns, const bool *preferred, size_t most,
                       int *pivots, const char *why) {
    assert(most <= columns);
    graph *g = w->system->graph;
    if (!eliminate_preferring(g, table, rows, columns, &w->start, preferred, pivots, most, &w->work_budget, w->memory))
        return false;
    if (is_eliminated(g, table, rows, columns, pivots)) return true;
    if (w->error->status != HAMEL_OK) return false; /* canceled */
    return written_cannot(w, w->work_budget.spent ? "solving for velocities takes too much work" : why,
                          WRITTEN_BY_LAGRANGE);
}

/* Returns the arranged form of a node, or the node itself if the arranged form is too long to read. An arranged form
 * can be much longer than the node, because it shares fewer subexpressions. A form of up to LONG symbols and
 * operations, several pages of text, is always accepted. A longer form is accepted if its length is at most TIMES the
 * number of nodes below `node`. This number approximates the length of the derived form with named subexpressions. */
static graph_node readable(written *w, graph_node node) {
    enum { LONG = 4000, TIMES = 4 };
    graph *g = w->system->graph;
    graph_node arranged = arrange_where(g, node, w->zero, w->zero_count, &w->work_budget, w->memory), *below;
    if (arranged < 0 || written_length(w, arranged) <= LONG) return arranged;
    double most = TIMES * (double)graph_below(g, &node, 1, w->memory, &below);
    return written_length(w, arranged) > most ? node : arranged;
}

bool written_equation(written *w, const char *name, graph_node left, graph_node right) {
    if (!w->lines_read) return true;
    return add_line(w, (written_line){.name = name, .left = readable(w, left), .right = readable(w, right)});
}

/* Arranges the right-hand side of `line` and adds the line, unless the arranged side is 0. Returns false if out of
 * memory. */
static bool add_entry(written *w, written_line line) {
    if (!w->lines_read || !line.defines) return line.defines != NULL;
    line.left = GRAPH_NONE;
    line.right = readable(w, line.right);
    return graph_is_zero(w->system->graph, line.right) || add_line(w, line);
}

bool written_definition(written *w, const char *defines, graph_node right) {
    if (!w->lines_read || !defines) return defines != NULL;
    return add_line(
        w, (written_line){.defines = defines, .left = GRAPH_NONE, .right = readable(w, right), .symbol = defines});
}

/* Returns "M[x, y]", "Gamma[k; r, s]" or a similar name, or NULL if out of memory. */
static const char *name_of_entry(written *w, const char *letter, const char *const index[3]) {
    if (index[2]) return arena_format(w->memory, "%s[%s; %s, %s]", letter, index[0], index[1], index[2]);
    if (index[1]) return arena_format(w->memory, "%s[%s, %s]", letter, index[0], index[1]);
    return index[0] ? arena_format(w->memory, "%s[%s]", letter, index[0]) : letter;
}

bool written_entry(written *w, const char *letter, const char *const index[3], graph_node right) {
    return add_entry(w, (written_line){.defines = name_of_entry(w, letter, index),
                                       .right = right,
                                       .symbol = letter,
                                       .index = {index[0], index[1], index[2]}});
}

bool written_upright_entry(written *w, const char *letter, const char *const index[3], graph_node right) {
    return add_entry(w, (written_line){.defines = name_of_entry(w, letter, index),
                                       .right = right,
                                       .symbol = letter,
                                       .index = {index[0], index[1], index[2]},
                                       .upright = true});
}

bool written_remarked(written *w, const char *letter, const char *index, graph_node right, const char *note) {
    if (!w->lines_read || right < 0) return right >= 0;
    return add_line(w, (written_line){.defines = name_of_entry(w, letter, (const char *const[3]){index}),
                                      .left = GRAPH_NONE,
                                      .right = readable(w, right),
                                      .symbol = letter,
                                      .index = {index},
                                      .upright = true,
                                      .note = note});
}

bool written_multiplier(written *w, size_t c, graph_node right) {
    assert(c < w->m);
    if (!w->lines_read) return true;
    const char *name = w->system->constraints[c].name;
    return add_line(w, (written_line){.name = name,
                                      .left = graph_symbol(w->system->graph, SYMBOL_MULTIPLIER, (int32_t)c),
                                      .right = readable(w, right),
                                      .symbol = WRITTEN_MULTIPLIER,
                                      .index = {name}});
}

bool written_omit(written *w, const char *letter) {
    w->parts[w->part_count - 1].count = 0;
    if (w->omitted_count < WRITTEN_PARTS) w->omitted[w->omitted_count++] = letter;
    return true;
}

bool written_velocities(written *w, const graph_node *velocity) {
    for (size_t i = 0; i < w->n; i++) {
        const char *name = w->system->coordinates[i].name;
        if (velocity[i] >= 0 && !written_definition(w, arena_format(w->memory, "%s'", name), velocity[i])) return false;
    }
    return true;
}

void written_accelerations(written *w, const graph_node *velocity, graph_node *acceleration) {
    graph *g = w->system->graph;
    for (size_t i = 0; i < w->n; i++) {
        acceleration[i] = GRAPH_NONE;
        if (velocity[i] < 0) continue;
        acceleration[i] = graph_substitute(g, graph_rate(g, velocity[i]), SYMBOL_VELOCITY, velocity, w->n);
    }
}

bool written_row(written *w, graph_node *row, graph_node f, graph_node right, const graph_node *rest, size_t count) {
    assert(count >= w->n);
    graph *g = w->system->graph;
    for (size_t j = 0; j < count; j++) {
        row[j] = rest[j] < 0 ? graph_number(g, 0) : graph_partial(g, f, graph_symbol(g, SYMBOL_VELOCITY, (int32_t)j));
        if (graph_depends(g, row[j]) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) return false;
    }
    row[count] = graph_sub(g, right, graph_substitute(g, f, SYMBOL_VELOCITY, rest, count));
    return true;
}

int32_t written_symbol(written *w, const char *name) {
    const char **names = arena_grow(w->memory, w->extra_names, &w->extra_capacity, w->extra_count + 1, sizeof *names);
    if (!names) return -1;
    w->extra_names = names;
    names[w->extra_count] = name;
    return (int32_t)(w->n + w->extra_count++);
}

graph_node written_energy(written *w, bool *natural) {
    hamel_system *s = w->system;
    size_t count;
    *natural = s->lagrangian < 0;
    for (size_t k = 0; k < s->potential_count; k++)
        *natural &= !(graph_depends(s->graph, s->potential[k]) & GRAPH_DEPENDS(SYMBOL_VELOCITY));
    if (*natural) return energies_kinetic(&w->equations);
    const graph_node *terms = energies_lagrangian_terms(s, &count);
    graph_node sum = terms ? graph_number(s->graph, 0) : GRAPH_NONE;
    for (size_t k = 0; terms && k < count; k++) sum = graph_add(s->graph, sum, terms[k]);
    return sum;
}

bool written_use_energy(written *w, graph_node *K, bool *natural) {
    hamel_system *s = w->system;
    w->momentum = arena_alloc(w->memory, w->n, sizeof *w->momentum);
    *K = written_energy(w, natural);
    if (!w->momentum || *K < 0 || !graph_gradient(s->graph, K, 1, s->v, w->n, w->momentum)) return false;
    graph_node V = *natural ? energies_potential(&w->equations) : graph_number(s->graph, 0);
    for (size_t i = 0; i < w->n; i++) {
        graph_node slope = graph_partial(s->graph, V, s->q[i]);
        w->inertia[i] = graph_sub(s->graph, w->inertia[i], slope);
        w->equations.given[i] = graph_sub(s->graph, w->equations.given[i], slope);
    }
    return graph_status(s->graph) == HAMEL_OK;
}

graph_node written_momentum(written *w, size_t i) {
    assert(i < w->n && w->momentum);
    return w->momentum[i];
}

/* Replaces the multipliers of constraints that do not act by 0. */
static graph_node without_resting(written *w, graph_node node) {
    if (w->acting == w->m) return node;
    return graph_substitute(w->system->graph, node, SYMBOL_MULTIPLIER, w->resting, w->m);
}

graph_node written_reaction(written *w, size_t i) {
    assert(i < w->n);
    return w->reactions[i];
}

static bool add_reactions(written *w) {
    graph *g = w->system->graph;
    w->reactions = node_array(w->system, w->n);
    for (size_t k = 0; w->reactions && k < w->equations.A.count; k++) {
        const matrix_entry *a = &w->equations.A.entries[k];
        if (!w->acts[a->row]) continue;
        graph_node part = graph_mul(g, a->node, graph_symbol(g, SYMBOL_MULTIPLIER, a->row));
        w->reactions[a->column] = graph_add(g, w->reactions[a->column], part);
    }
    return w->reactions != NULL;
}

graph_node written_force(written *w, size_t i) {
    assert(i < w->n);
    return graph_add(w->system->graph, w->equations.given[i], w->nonideal[i]);
}

bool written_forces_depend_on_reactions(written *w) {
    for (size_t i = 0; i < w->n; i++)
        if (graph_depends(w->system->graph, written_force(w, i)) & GRAPH_DEPENDS(SYMBOL_MULTIPLIER)) return true;
    return false;
}

graph_node written_inertia(written *w, size_t i) {
    assert(i < w->n);
    return w->inertia[i];
}

/* Computes the inertia terms as the residual plus the forces, without multipliers. The forces cancel when the sum is
 * arranged. */
static bool add_inertia(written *w) {
    graph *g = w->system->graph;
    const graph_node *zeros = node_array(w->system, w->m);
    w->inertia = node_array(w->system, w->n);
    if (!zeros || !w->inertia) return false;
    for (size_t i = 0; i < w->n; i++) {
        graph_node sum = graph_add(g, w->equations.residual[i], written_force(w, i));
        w->inertia[i] = graph_substitute(g, sum, SYMBOL_MULTIPLIER, zeros, w->m);
    }
    return graph_status(g) == HAMEL_OK;
}

static bool add_nonideal(written *w) {
    graph *g = w->system->graph;
    w->nonideal = node_array(w->system, w->n);
    if (!w->nonideal) return false;
    for (size_t i = 0; w->equations.nonideal && i < w->n; i++) w->nonideal[i] = w->equations.nonideal[i];
    for (size_t k = 0; k < w->equations.F.count; k++) {
        const matrix_entry *f = &w->equations.F.entries[k];
        int32_t c = w->system->frictions[f->column].constraint;
        if (!w->acts[c]) continue;
        graph_node pressing = graph_unary(g, GRAPH_ABS, graph_symbol(g, SYMBOL_MULTIPLIER, c));
        w->nonideal[f->row] = graph_add(g, w->nonideal[f->row], graph_mul(g, f->node, pressing));
    }
    return graph_status(g) == HAMEL_OK;
}

/* Writes the generalized forces, grouped by origin. The forces of constraints that do not act are omitted. */
static bool generalized_forces(written *w) {
    generalized_force *all;
    size_t count;
    if (generalized_forces_list(&w->equations, w->memory, &all, &count) != HAMEL_OK) return false;
    if (count > 0) written_begin(w, "generalized forces: Q[coordinate; origin]");
    for (size_t k = 0; k < count; k++) {
        const generalized_force *f = &all[k];
        const char *name = w->system->coordinates[f->coordinate].name;
        if (f->friction >= 0 && !w->acts[w->system->frictions[f->friction].constraint]) continue;
        written_line line = {.defines = arena_format(w->memory, "Q[%s; %s]", name, f->origin),
                             .right = without_resting(w, f->node),
                             .symbol = "Q",
                             .index = {name, f->origin},
                             .upright = true};
        if (!add_entry(w, line)) return false;
    }
    return true;
}

bool written_constraints(written *w) {
    graph_node zero = graph_number(w->system->graph, 0);
    if (w->acting > 0) written_begin(w, "constraints");
    for (size_t c = 0; c < w->m; c++)
        if (w->acts[c] &&
            !written_equation(w, w->system->constraints[c].name, w->system->constraints[c].equation, zero))
            return false;
    return true;
}

bool written_machine(written *w, size_t w_count, size_t unknown_count) {
    w->w_count = w_count;
    w->unknown_count = unknown_count;
    w->rates = arena_alloc(w->memory, w->n, sizeof *w->rates);
    w->w = arena_alloc(w->memory, w_count, sizeof *w->w);
    w->w_given = arena_alloc(w->memory, w_count, sizeof *w->w_given);
    w->unknowns = arena_alloc(w->memory, unknown_count, sizeof *w->unknowns);
    w->residuals = arena_alloc(w->memory, unknown_count, sizeof *w->residuals);
    return w->rates && w->w && w->w_given && w->unknowns && w->residuals;
}

void written_add_multipliers(written *w, size_t at) {
    assert(at + w->acting <= w->unknown_count);
    for (size_t c = 0; c < w->m; c++)
        if (w->acts[c]) w->unknowns[at++] = graph_symbol(w->system->graph, SYMBOL_MULTIPLIER, (int32_t)c);
    w->with_multipliers = true;
}

bool written_cannot(written *w, const char *why, const char *hint) {
    (void)hamel_fail(w->error, HAMEL_INVALID, "", 0, "these equations cannot be written out: %s",
                     why ? why : "out of memory");
    hamel_suggest(w->error, "%s", hint);
    return false;
}

const char *written_remark(const written *w) {
    return w->work_budget.spent ? "correct, but not fully simplified: the work budget was spent" : NULL;
}

int written_derivative(const written *w, graph_symbol_kind kind, int32_t index) {
    if (kind == SYMBOL_VELOCITY && w->stride > 0 && (size_t)index >= w->stride)
        return (int)((size_t)index / w->stride) + 1;
    if ((kind != SYMBOL_VELOCITY && kind != SYMBOL_ACCELERATION) || (size_t)index >= w->n) return 0;
    return kind == SYMBOL_VELOCITY ? 1 : 2;
}

/* Returns the name of an extra symbol, or NULL for a symbol of the system. */
static const char *extra_name(const written *w, graph_symbol_kind kind, int32_t index) {
    bool velocity = kind == SYMBOL_VELOCITY || kind == SYMBOL_ACCELERATION;
    return velocity && written_derivative(w, kind, index) == 0 ? w->extra_names[(size_t)index - w->n] : NULL;
}

void written_namer(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out) {
    written *w = context;
    const char *extra = extra_name(w, kind, index);
    size_t parameters = w->system->parameter_count;
    if (written_derivative(w, kind, index) > 2) {
        text_buffer_printf(out, "%s%.*s", w->system->coordinates[(size_t)index % w->stride].name,
                           written_derivative(w, kind, index), "''''");
        return;
    }
    if (kind == SYMBOL_PARAMETER && (size_t)index >= parameters)
        text_buffer_printf(out, "%s%zu", w->shared_name, (size_t)index - parameters + 1);
    else if (extra)
        text_buffer_printf(out, "%s%s", extra, kind == SYMBOL_ACCELERATION ? "'" : "");
    else
        system_name_symbol(w->system, kind, index, out);
}

/* Names common subexpressions, so that long texts become readable. */
static bool share_lines(written *w) {
    size_t count = 0, found;
    for (size_t p = 0; p < w->part_count; p++) count += 2 * w->parts[p].count;
    graph_node **nodes = arena_alloc(w->memory, count, sizeof *nodes), *definitions;
    if (!nodes) return false;
    count = 0;
    for (size_t p = 0; p < w->part_count; p++)
        for (size_t k = 0; k < w->parts[p].count; k++) {
            written_line *line = &w->parts[p].lines[k];
            if (line->left >= 0) nodes[count++] = &line->left;
            nodes[count++] = &line->right;
        }
    if (!written_share(w, nodes, count, true, &definitions, &found)) return false;
    if (found == 0 || w->part_count == WRITTEN_PARTS) return true;
    written_begin(w, "with");
    for (size_t k = 0; k < found; k++) {
        const char *name = arena_format(w->memory, "%s%zu", w->shared_name, k + 1);
        if (!name ||
            !add_line(w, (written_line){.defines = name, .left = GRAPH_NONE, .right = definitions[k], .symbol = name}))
            return false;
    }
    return true;
}

/* Finds the constraints that act, and removes the multipliers of all other constraints. */
static bool omit_resting(written *w) {
    graph *g = w->system->graph;
    graph_node *to = w->resting = arena_alloc(w->memory, w->m, sizeof *to);
    if (!to) return false;
    w->acts = w->model->active;
    for (size_t c = 0; c < w->m; c++) {
        to[c] = w->acts[c] ? GRAPH_NONE : graph_number(g, 0);
        w->acting += w->acts[c];
    }
    for (size_t i = 0; i < w->n && w->acting < w->m; i++) {
        w->equations.residual[i] = without_resting(w, w->equations.residual[i]);
        w->equations.given[i] = without_resting(w, w->equations.given[i]);
    }
    return graph_status(g) == HAMEL_OK;
}

bool written_prepare(written *w) {
    w->start.values[SYMBOL_PARAMETER] = w->model->parameters;
    w->start.values[SYMBOL_TIME] = &w->model->settings.start;
    w->start.values[SYMBOL_COORDINATE] = w->model->q0;
    w->start.values[SYMBOL_VELOCITY] = w->model->v0;
    w->start.count[SYMBOL_VELOCITY] = w->n;
    return omit_resting(w) && add_reactions(w) && add_nonideal(w) && add_inertia(w);
}

bool written_finish(written *w) {
    return !w->lines_read || (generalized_forces(w) && share_lines(w));
}
