/* written.c — functions shared by all writers of equations, hamel_write_equations and hamel_write_explicit. */
#include "engine/equations/written.h"

#include "engine/algebra/arrange.h"
#include "engine/algebra/eliminate.h"
#include "engine/mechanics/formulation.h"
#include "engine/mechanics/generalized_forces.h"
#include "engine/system/binder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 64 << 20 }; /* maximum length of a text, in bytes */

void written_begin(written *w, const char *title) {
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

bool written_eliminate(written *w, graph_node *table, size_t rows, size_t columns, size_t most, int *pivots,
                       const char *why) {
    assert(most <= columns);
    graph *g = w->system->graph;
    if (!eliminate_within(g, table, rows, columns, &w->start, pivots, most, &w->work_budget, w->memory)) return false;
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

/* Adds `line`, whose right-hand side is arranged first. Zero entries of matrices are not listed. */
static bool add_definition(written *w, written_line line) {
    if (!w->lines_read || !line.defines) return line.defines != NULL;
    line.right = readable(w, line.right);
    bool coefficient = line.symbol || strchr(line.defines, '[') != NULL;
    if (coefficient && graph_is_zero(w->system->graph, line.right)) return true;
    return add_line(w, line);
}

bool written_definition(written *w, const char *name, const char *defines, graph_node right) {
    return add_definition(w, (written_line){.name = name, .defines = defines, .left = GRAPH_NONE, .right = right});
}

bool written_entry(written *w, const char *letter, const char *const index[3], graph_node right) {
    written_line line = {.name = letter,
                         .defines = letter,
                         .left = GRAPH_NONE,
                         .right = right,
                         .symbol = letter,
                         .index = {index[0], index[1], index[2]}};
    if (index[2])
        line.defines = arena_format(w->memory, "%s[%s; %s, %s]", letter, index[0], index[1], index[2]);
    else if (index[1])
        line.defines = arena_format(w->memory, "%s[%s, %s]", letter, index[0], index[1]);
    else if (index[0])
        line.defines = arena_format(w->memory, "%s[%s]", letter, index[0]);
    return add_definition(w, line);
}

bool written_omit(written *w, const char *letter) {
    w->parts[w->part_count - 1].count = 0;
    if (w->omitted_count < WRITTEN_PARTS) w->omitted[w->omitted_count++] = letter;
    return true;
}

bool written_velocities(written *w, const graph_node *velocity) {
    for (size_t i = 0; i < w->n; i++) {
        const char *name = w->system->coordinates[i].name;
        if (velocity[i] >= 0 && !written_definition(w, name, arena_format(w->memory, "%s'", name), velocity[i]))
            return false;
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
        const char *defines = arena_format(w->memory, "Q[%s; %s]", name, f->origin);
        written_line line = {name, defines, GRAPH_NONE, without_resting(w, f->node), "Q", {name, f->origin}, true};
        if (!add_definition(w, line)) return false;
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

/* Returns the name of an extra symbol, or NULL for a symbol of the system. */
static const char *extra_name(const written *w, graph_symbol_kind kind, int32_t index) {
    bool velocity = kind == SYMBOL_VELOCITY || kind == SYMBOL_ACCELERATION;
    return velocity && (size_t)index >= w->n ? w->extra_names[(size_t)index - w->n] : NULL;
}

void written_namer(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out) {
    written *w = context;
    const char *extra = extra_name(w, kind, index);
    size_t parameters = w->system->parameter_count;
    if (kind == SYMBOL_PARAMETER && (size_t)index >= parameters)
        text_buffer_printf(out, "%s%zu", w->shared_name, (size_t)index - parameters + 1);
    else if (extra)
        text_buffer_printf(out, "%s%s", extra, kind == SYMBOL_ACCELERATION ? "'" : "");
    else
        system_name_symbol(w->system, kind, index, out);
}

typedef struct writer_kind {
    const char *name;
    const formulation *from; /* formulation whose derivation is used */
    bool (*write)(written *w, const char *as);
    bool solves; /* true if the writer solves for velocities; the number of coordinates is then limited */
} writer_kind;

static const writer_kind writers[] = {
    {"lagrange", &formulation_lagrange, write_multipliers, false},
    {"udwadia-kalaba", &formulation_lagrange, write_multipliers, false},
    {"gauss", &formulation_lagrange, write_multipliers, false},
    {"maggi", &formulation_lagrange, write_quasi_velocities, true},
    {"kane", &formulation_lagrange, write_quasi_velocities, true},
    {"gibbs-appell", &formulation_lagrange, write_quasi_velocities, true},
    {"boltzmann-hamel", &formulation_lagrange, write_quasi_velocities, true},
    {"hamilton", &formulation_hamilton, write_canonical, true},
    {"routh", &formulation_routh, write_canonical, true},
};

static bool write_as(written *w, const writer_kind *kind) {
    if (!kind->solves || w->n <= WRITTEN_SOLVED) return kind->write(w, kind->name);
    return written_cannot(w,
                          arena_format(w->memory,
                                       "velocities can be solved for %d coordinates at most; the system has %zu",
                                       (int)WRITTEN_SOLVED, w->n),
                          WRITTEN_BY_LAGRANGE);
}

static const writer_kind *writer_of(const char *name) {
    for (size_t k = 0; k < sizeof writers / sizeof *writers; k++)
        if (strcmp(writers[k].name, name) == 0) return &writers[k];
    return NULL;
}

/* Returns a prefix for the names of common subexpressions. No name in the description begins with this prefix. */
static const char *free_name(const written *w) {
    static const char *const candidates[] = {"z", "s", "k", "zz", "ss", "kk"};
    for (size_t k = 0; k < sizeof candidates / sizeof *candidates; k++) {
        const char *c = candidates[k];
        bool taken = false;
        for (size_t i = 0; i < w->n; i++) taken |= strncmp(w->system->coordinates[i].name, c, strlen(c)) == 0;
        for (size_t i = 0; i < w->system->parameter_count; i++)
            taken |= strncmp(w->system->parameter_names[i], c, strlen(c)) == 0;
        for (size_t i = 0; i < w->system->quasi_count; i++)
            taken |= strncmp(w->system->quasi[i].name, c, strlen(c)) == 0;
        if (!taken) return c;
    }
    return "shared_";
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
            !add_line(w, (written_line){.name = name, .defines = name, .left = GRAPH_NONE, .right = definitions[k]}))
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

static hamel_status write_in(written *w, hamel_notation notation, text_buffer *out) {
    assert(!w->is_explicit || notation != HAMEL_NOTATION_C);
    hamel_system *s = w->system;
    s->error = w->error;
    w->equations = (hamel_equations){.system = s, .n = w->n, .m = w->m};
    w->start.values[SYMBOL_PARAMETER] = w->model->parameters;
    w->start.values[SYMBOL_TIME] = &w->model->settings.start;
    w->start.values[SYMBOL_COORDINATE] = w->model->q0;
    const writer_kind *kind = writer_of(w->model->formulation->name);
    if (!kind) return hamel_fail(w->error, HAMEL_INTERNAL, "", 0, "this formulation has no written form");
    hamel_status status = kind->from->derive(&w->equations);
    if (status != HAMEL_OK) return status;
    w->shared_name = free_name(w);
    w->lines_read = notation != HAMEL_NOTATION_C;
    bool done = omit_resting(w) && add_reactions(w) && add_nonideal(w) && add_inertia(w) && write_as(w, kind) &&
                (!w->lines_read || (generalized_forces(w) && share_lines(w)));
    if (done && notation == HAMEL_NOTATION_TEXT) print_text(w, out);
    if (done && notation == HAMEL_NOTATION_LATEX) print_latex(w, out);
    if (done && notation == HAMEL_NOTATION_C) done = print_c(w, out);
    if (w->error->status != HAMEL_OK) return w->error->status;
    if (done && !out->failed) return HAMEL_OK;
    return hamel_fail(w->error, HAMEL_LIMIT, "", 0, "the equations are longer than %zu MiB, or memory is exhausted",
                      out->maximum >> 20);
}

static bool is_writing_interrupted(void *system) {
    return system_interrupted(system);
}

typedef struct owned_equations {
    hamel_written written; /* first, because callers hold a pointer to it */
    arena memory;          /* memory of the reactions */
} owned_equations;

/* The result of hamel_write_explicit and the memory of its entries. */
typedef struct explicit_result {
    hamel_explicit found; /* first, because callers hold a pointer to it */
    arena memory;
} explicit_result;

/* Copies the expressions of the multipliers to the result. */
static bool copy_reactions(const written *w, hamel_notation notation, owned_equations *to) {
    const written_part *part = w->lines_read ? w->reaction_part : NULL;
    size_t count = part ? part->count : 0;
    hamel_written_reaction *list = arena_alloc(&to->memory, count, sizeof *list);
    for (size_t k = 0; list && k < count; k++) {
        text_buffer text;
        text_buffer_init(&text, MOST_TEXT);
        print_expression(w, notation, part->lines[k].right, &text);
        list[k].constraint = arena_format(&to->memory, "%s", part->lines[k].name);
        list[k].expression = text.bytes ? arena_text(&to->memory, text.bytes, text.length) : NULL;
        text_buffer_free(&text);
        if (!list[k].constraint || !list[k].expression) return false;
    }
    to->written.reactions = list;
    to->written.reaction_count = count;
    return list != NULL;
}

/* Writes the equations to `out` and `to`, or their explicit form and its entries to `out` and `kept` if `kept` is not
 * NULL. */
static hamel_status write_to(text_buffer *out, owned_equations *to, explicit_result *kept, const hamel_description *d,
                             hamel_notation notation, const hamel_limits *limits, hamel_poll *poll,
                             hamel_error *error) {
    hamel_limits taken = limits ? *limits : hamel_limits_default();
    hamel_model *model = NULL;
    arena memory;
    arena_init(kept ? &kept->memory : &to->memory, taken.memory);
    arena_init(&memory, taken.memory);
    text_buffer_init(out, MOST_TEXT);
    hamel_status status = model_derive(&model, d, &taken, poll, error);
    if (status == HAMEL_OK) {
        written w = {.memory = &memory,
                     .model = model,
                     .system = model->system,
                     .error = error,
                     .n = model->n,
                     .m = model->m,
                     .is_explicit = kept != NULL};
        model->system->poll = poll;
        w.work_budget = (work_budget){(uint64_t)taken.arranging, false, is_writing_interrupted, model->system};
        status = write_in(&w, notation, out);
        *(kept ? &kept->found.simplified : &to->written.simplified) = !w.work_budget.spent;
        if (status == HAMEL_OK &&
            !(kept ? print_entries(&w, notation, &kept->found, &kept->memory) : copy_reactions(&w, notation, to)))
            status = hamel_out_of_memory(error);
    }
    arena_free(&memory);
    hamel_model_free(model);
    return status;
}

hamel_status hamel_write_equations(hamel_written **out, const hamel_description *d, hamel_notation notation,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_error own = {0};
    text_buffer text;
    if (!error) error = &own;
    *out = NULL;
    owned_equations *to = calloc(1, sizeof *to);
    if (!to) return hamel_out_of_memory(error);
    hamel_status status = write_to(&text, to, NULL, d, notation, limits, poll, error);
    if (status == HAMEL_OK) to->written.text = text_buffer_take(&text, NULL);
    if (status == HAMEL_OK)
        *out = &to->written;
    else
        hamel_written_free(&to->written);
    text_buffer_free(&text);
    hamel_error_clear(&own);
    return status; /* cppcheck-suppress memleak ; the caller owns *out */
}

void hamel_written_free(hamel_written *equations) {
    if (!equations) return;
    owned_equations *owned = (owned_equations *)(void *)equations; /* the first member */
    free(owned->written.text);
    arena_free(&owned->memory);
    free(owned);
}

hamel_status hamel_write_explicit(hamel_explicit **out, const hamel_description *d, hamel_notation notation,
                                  const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_error own = {0};
    text_buffer text;
    if (!error) error = &own;
    *out = NULL;
    explicit_result *result = calloc(1, sizeof *result);
    if (!result) return hamel_out_of_memory(error);
    hamel_status status = write_to(&text, NULL, result, d, notation, limits, poll, error);
    if (status == HAMEL_OK) result->found.text = text_buffer_take(&text, NULL);
    if (status == HAMEL_OK)
        *out = &result->found;
    else
        hamel_explicit_free(&result->found);
    text_buffer_free(&text);
    hamel_error_clear(&own);
    return status; /* cppcheck-suppress memleak ; the caller owns *out */
}

void hamel_explicit_free(hamel_explicit *found) {
    if (!found) return;
    explicit_result *result = (explicit_result *)(void *)found; /* the first member */
    free(found->text);
    arena_free(&result->memory);
    free(result);
}
