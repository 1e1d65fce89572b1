/* displacements.c — displacement vectors e_k, ε_k and β_I of particles, bodies, points and frames (displacements.h).
 *
 * The vectors of a position are its partial derivatives. The vectors of a rotation are the coefficients of the angular
 * velocity: δφ = Σ ∂ω/∂q'_k δq_k, and e_0 is ω at q' = 0 (Baruh 4.4.6; Papastavridis 1.9, 2.5). */
#include "engine/algebra/arrange.h"
#include "engine/analyze/displacements_int.h"
#include "engine/system/elements.h"
#include "engine/system/latex.h"

#include <assert.h>
#include <string.h>

/* Vectors of a position or a rotation. Component c of e_k is e[c * n + k]; component c of e_0 is time[c]. */
typedef struct base_vectors {
    graph_node *e, time[3];
    size_t dimension;
} base_vectors;

graph_node displacement_arranged(displacement_work *w, graph_node node) {
    return arrange_within(w->a->system->graph, node, &w->a->work, w->a->memory);
}

graph_node displacement_of(const displacement_work *w, size_t i) {
    assert(i < w->a->n);
    return w->a->system->a[i];
}

graph_node displacement_of_time(const displacement_work *w) {
    return graph_symbol(w->a->system->graph, SYMBOL_ACCELERATION, (int32_t)w->a->n);
}

graph_node displacement_of_velocity(const displacement_work *w, size_t k) {
    return graph_symbol(w->a->system->graph, SYMBOL_ACCELERATION, (int32_t)(w->a->n + 1 + k));
}

/* --- text --------------------------------------------------------------------------------------------------------- */

typedef struct displacement_names {
    const displacement_work *w;
    displacement_style style;
} displacement_names;

/* Prints the name of a coordinate or of a quasi-coordinate. In LaTeX, the quasi-coordinate of a quasi-velocity u is
 * printed as θ with the index u. */
static void name_variable(const char *name, bool quasi, bool latex, text_buffer *out) {
    size_t length = strcspn(name, "'"); /* the quasi-coordinate of the velocity x' is x */
    bool theta = quasi && latex && name[length] == '\0';
    if (theta) text_buffer_puts(out, "\\theta_{");
    if (latex)
        latex_name(name, out); /* ignores the prime */
    else
        text_buffer_add(out, name, length);
    if (theta) text_buffer_puts(out, "}");
}

static void name_displacement(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out) {
    static const char *const before[2][3] = {{"D(", "d(", "d/d("},
                                             {"\\delta ", "\\mathrm{d} ", "\\frac{\\partial}{\\partial "}};
    const displacement_names *names = context;
    const analysis *a = names->w->a;
    hamel_system *s = a->system;
    bool latex = a->request.latex;
    size_t n = a->n, k = (size_t)index;
    if (kind != SYMBOL_ACCELERATION) {
        (latex ? system_latex_symbol : system_name_symbol)(s, kind, index, out);
        return;
    }
    text_buffer_puts(out, before[latex][names->style]);
    name_variable(k < n    ? s->coordinates[k].name
                  : k == n ? "t"
                           : names->w->frame.names.items[k - n - 1],
                  k > n, latex, out);
    text_buffer_puts(out, !latex ? ")" : names->style == STYLE_OPERATOR ? "}" : "");
}

/* Returns the number of symbols, numbers and operations in the text of `node`, or −1 if out of memory. A common
 * subexpression counts once for each use. Counts above 1e15 are replaced by 1e15. */
static double text_size(const displacement_work *w, graph_node node) {
    graph *g = w->a->system->graph;
    graph_node *nodes;
    size_t count = graph_below(g, &node, 1, w->a->memory, &nodes);
    double *sizes = count ? arena_doubles(w->a->memory, count) : NULL;
    for (size_t k = 0; k < count && sizes; k++) {
        const graph_cell *cell = graph_at(g, nodes[k]);
        sizes[k] = 1;
        for (int i = 0; i < 3 && cell->op < GRAPH_OP_COUNT; i++)
            if (cell->as.operand[i] >= 0) sizes[k] += sizes[graph_position(nodes, count, cell->as.operand[i])];
        if (sizes[k] > 1e15) sizes[k] = 1e15;
    }
    return sizes ? sizes[count - 1] : -1;
}

const char *displacement_text(displacement_work *w, graph_node node, displacement_style style) {
    /* A text of more than ITEMS_MOST symbols and operations is too long to read. A symbol has at most a few hundred
     * bytes, so the text fits in 64 MiB. */
    enum { ITEMS_MOST = 100000, TEXT_MOST = 1 << 26 };
    analysis *a = w->a;
    displacement_names names = {w, style};
    text_buffer out;
    if (node < 0) return (void)analysis_stopped(a), NULL;
    double size = text_size(w, node);
    if (size < 0) return (void)analysis_no_memory(a), NULL;
    if (size > ITEMS_MOST) {
        (void)hamel_fail(a->error, HAMEL_LIMIT, "", 0,
                         "the expression of a displacement has more than %d symbols and operations", (int)ITEMS_MOST);
        return NULL;
    }
    text_buffer_init(&out, TEXT_MOST);
    (a->request.latex ? graph_print_latex : graph_print)(a->system->graph, node, name_displacement, &names, &out);
    const char *text = out.failed || !out.bytes ? NULL : arena_text(a->memory, out.bytes, out.length);
    text_buffer_free(&out);
    if (!text) (void)analysis_no_memory(a);
    return text;
}

hamel_entries displacement_entries(displacement_work *w, const char *of, const graph_node *nodes, bool *good) {
    analysis *a = w->a;
    hamel_entries to = {.of = of, .items = arena_alloc(a->memory, a->n, sizeof *to.items)};
    if (!to.items) (void)analysis_no_memory(a);
    *good = *good && to.items;
    for (size_t i = 0; i < a->n && *good; i++) {
        if (graph_is_zero(a->system->graph, nodes[i])) continue;
        hamel_entry *entry = &to.items[to.count++];
        entry->coordinate = arena_format(a->memory, "%s", a->system->coordinates[i].name);
        entry->value = displacement_text(w, nodes[i], STYLE_VIRTUAL);
        if (!entry->coordinate) (void)analysis_no_memory(a);
        *good = entry->coordinate && entry->value;
    }
    return to;
}

/* --- vectors ------------------------------------------------------------------------------------------------------ */

/* Sets e_k to the derivatives of x[dimension] with respect to the symbols of `kind`. Sets e_0 to ∂x/∂t for a position
 * (SYMBOL_COORDINATE), and to x at q' = 0 for an angular velocity (SYMBOL_VELOCITY). Returns false on failure. */
static bool find_base(displacement_work *w, const graph_node *x, size_t dimension, graph_symbol_kind kind,
                      base_vectors *to) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    graph_node time = graph_symbol(g, SYMBOL_TIME, 0);
    graph_node *zeros = node_array(a->system, a->n);
    to->dimension = dimension;
    to->e = node_array(a->system, 3 * a->n);
    if (!to->e || !zeros) return false;
    for (size_t c = 0; c < dimension; c++) {
        int32_t *support;
        size_t count = node_support(a->system, x[c], kind, &support);
        for (size_t j = 0; j < count; j++)
            to->e[c * a->n + (size_t)support[j]] =
                displacement_arranged(w, graph_partial(g, x[c], graph_symbol(g, kind, support[j])));
        graph_node rest = kind == SYMBOL_COORDINATE ? graph_partial(g, x[c], time)
                                                    : graph_substitute(g, x[c], SYMBOL_VELOCITY, zeros, a->n);
        to->time[c] = displacement_arranged(w, rest);
    }
    return graph_status(g) == HAMEL_OK;
}

static bool add_vector(displacement_work *w, hamel_vectors *to, const char *of, const graph_node *x, size_t dimension) {
    bool zero = true;
    for (size_t c = 0; c < dimension; c++) zero = zero && graph_is_zero(w->a->system->graph, x[c]);
    if (zero) return true;
    hamel_vector *vector = &to->items[to->count++];
    vector->of = arena_format(w->a->memory, "%s", of);
    for (size_t c = 0; c < dimension; c++)
        if (!(vector->items[c] = displacement_text(w, x[c], STYLE_VIRTUAL))) return false;
    return vector->of ? true : (analysis_no_memory(w->a), false);
}

static bool set_time(displacement_work *w, hamel_vectors *to, const graph_node *x, size_t dimension) {
    for (size_t c = 0; c < dimension; c++)
        if (!(to->time.items[c] = displacement_text(w, x[c], STYLE_VIRTUAL))) return false;
    return true;
}

/* Adds the vectors Σ_i matrix_ik e_i with the names names[k]. Unless `rest` is NULL, also sets the time vector to
 * e_0 + Σ_i rest_i e_i. */
static bool add_combined(displacement_work *w, hamel_vectors *to, const base_vectors *from, const graph_node *matrix,
                         size_t columns, const char *const *names, const graph_node *rest) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    to->items = arena_alloc(a->memory, columns, sizeof *to->items);
    if (!to->items) return analysis_no_memory(a), false;
    for (size_t k = 0; k <= columns; k++) {
        graph_node x[3];
        for (size_t c = 0; c < from->dimension; c++) {
            x[c] = k < columns ? graph_number(g, 0) : from->time[c];
            for (size_t i = 0; i < a->n && (k < columns || rest); i++)
                x[c] = graph_add(g, x[c],
                                 graph_mul(g, k < columns ? matrix[i * columns + k] : rest[i], from->e[c * a->n + i]));
            x[c] = displacement_arranged(w, x[c]);
        }
        if (k < columns && !add_vector(w, to, names[k], x, from->dimension)) return false;
        if (k == columns && rest && !set_time(w, to, x, from->dimension)) return false;
    }
    return true;
}

static bool add_coordinates(displacement_work *w, hamel_displacement *to, const base_vectors *from) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    size_t n = a->n;
    to->coordinates.items = arena_alloc(a->memory, n, sizeof *to->coordinates.items);
    if (!to->coordinates.items) return analysis_no_memory(a), false;
    for (size_t i = 0; i < n; i++) {
        const graph_node x[3] = {from->e[i], from->e[n + i], from->e[2 * n + i]};
        if (!add_vector(w, &to->coordinates, a->system->coordinates[i].name, x, from->dimension)) return false;
    }
    for (size_t c = 0; c < from->dimension; c++) {
        graph_node sum = graph_number(g, 0);
        for (size_t i = 0; i < n; i++) sum = graph_add(g, sum, graph_mul(g, from->e[c * n + i], displacement_of(w, i)));
        graph_node real = graph_add(g, sum, graph_mul(g, from->time[c], displacement_of_time(w)));
        to->virtual_form[c] = displacement_text(w, displacement_arranged(w, sum), STYLE_VIRTUAL);
        to->real_form[c] = displacement_text(w, displacement_arranged(w, real), STYLE_REAL);
        if (!to->virtual_form[c] || !to->real_form[c]) return false;
    }
    return set_time(w, &to->coordinates, from->time, from->dimension);
}

static bool fill_displacement(displacement_work *w, hamel_displacement *to, const graph_node *x, size_t dimension,
                              graph_symbol_kind kind) {
    analysis *a = w->a;
    base_vectors base;
    to->dimension = dimension;
    if (!find_base(w, x, dimension, kind, &base)) return (void)analysis_stopped(a), false;
    if (!add_coordinates(w, to, &base)) return false;
    if (w->framed && !add_combined(w, &to->quasi, &base, w->frame.Phi, a->n, w->frame.names.items, w->frame.Phi_t))
        return false;
    if (!w->out->tangents_known || a->m == 0) return true;
    const char **names = arena_alloc(a->memory, w->tangent_count, sizeof *names);
    if (!names) return analysis_no_memory(a), false;
    for (size_t k = 0; k < w->tangent_count; k++) names[k] = a->system->coordinates[w->free[k]].name;
    return add_combined(w, &to->independent, &base, w->tangent, w->tangent_count, names,
                        w->out->drift_known ? w->drift : NULL);
}

static hamel_status list_elements(displacement_work *w) {
    analysis *a = w->a;
    const system_binder *b = a->system->binder;
    hamel_displacements *out = w->out;
    size_t planar = a->system->dimension == 2;
    out->elements = arena_alloc(a->memory, b->located_count, sizeof *out->elements);
    if (!out->elements) return analysis_no_memory(a);
    for (size_t k = 0; k < b->located_count; k++) {
        const system_located *e = &b->located[k];
        if (!e->name || !*e->name || !e->ready) continue;
        hamel_element_displacements *to = &out->elements[out->element_count++];
        to->name = arena_format(a->memory, "%s", e->name);
        to->kind = arena_format(a->memory, "%s", e->kind);
        if (!to->name || !to->kind) return analysis_no_memory(a);
        if (!fill_displacement(w, &to->position, e->position, planar ? 2 : 3, SYMBOL_COORDINATE)) break;
        if (!e->turns || node_vector_is_zero(a->system->graph, e->omega)) continue;
        if (!fill_displacement(w, &to->rotation, e->omega + 2 * planar, planar ? 1 : 3, SYMBOL_VELOCITY)) break;
        if (!planar && !fill_displacement(w, &to->body_rotation, e->omega_body, 3, SYMBOL_VELOCITY)) break;
        if (system_interrupted(a->system)) break;
    }
    return a->error->status;
}

/* --- constraints -------------------------------------------------------------------------------------------------- */

static const char *rule_of(const analysis *a, size_t c) {
    if (a->model->order[c] == CONSTRAINT_HOLONOMIC) return "gradient";
    if (a->model->order[c] == CONSTRAINT_ACCELERATION) return "Appell";
    return a->linear[c] ? "linear" : "Chetaev";
}

static bool fill_constraint(displacement_work *w, size_t c, hamel_virtual_constraint *to) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    size_t first, count = pattern_row(&a->equations.A, (int32_t)c, &first);
    const matrix_entry *row = a->equations.A.entries + first;
    graph_node *normal = node_array(a->system, a->n), sum = graph_number(g, 0);
    bool good = normal != NULL;
    if (!good) return (void)analysis_stopped(a), false;
    for (size_t k = 0; k < count; k++) {
        graph_node entry = normal[row[k].column] = displacement_arranged(w, row[k].node);
        sum = graph_add(g, sum, graph_mul(g, entry, displacement_of(w, (size_t)row[k].column)));
    }
    to->name = arena_format(a->memory, "%s", a->system->constraints[c].name);
    to->rule = rule_of(a, c);
    to->normal = displacement_entries(w, to->name, normal, &good);
    const char *left = good ? displacement_text(w, displacement_arranged(w, sum), STYLE_VIRTUAL) : NULL;
    if (!to->name || !left) return analysis_no_memory(a), false;
    to->virtual_form = arena_format(a->memory, "%s = 0", left);
    if (a->linear[c]) {
        graph_node real = graph_add(g, sum, graph_mul(g, a->at_rest[c], displacement_of_time(w)));
        left = displacement_text(w, displacement_arranged(w, real), STYLE_REAL);
        if (!left || !(to->real_form = arena_format(a->memory, "%s = 0", left))) return analysis_no_memory(a), false;
    }
    return to->virtual_form ? true : (analysis_no_memory(a), false);
}

static hamel_status list_constraints(displacement_work *w) {
    analysis *a = w->a;
    hamel_displacements *out = w->out;
    out->constraints = arena_alloc(a->memory, a->m, sizeof *out->constraints);
    if (!out->constraints) return analysis_no_memory(a);
    for (size_t c = 0; c < a->m; c++)
        if (a->model->active[c] && !fill_constraint(w, c, &out->constraints[out->constraint_count++]))
            return a->error->status;
    return HAMEL_OK;
}

static hamel_status find_displacements(analysis *a, void *result, void *context) {
    displacement_work w = {.a = a, .out = result};
    (void)context;
    hamel_status status = analysis_open(a);
    if (status != HAMEL_OK) return status;
    a->report = arena_alloc(a->memory, 1, sizeof *a->report);
    if (!a->report || !analysis_begin_report(a)) return analysis_no_memory(a);
    if ((status = samples_draw(a)) == HAMEL_OK) status = regions_draw(a);
    if (status == HAMEL_OK) status = structure_derive(a);
    if (status == HAMEL_OK) status = moving_frame_create(&w.frame, a, &w.framed);
    if (status != HAMEL_OK) return status;
    w.out->quasi_omitted = a->system->quasi_count > 0 && !w.framed;
    analysis_begin_work(a);
    if ((status = configuration_derive(&w)) == HAMEL_OK) status = list_constraints(&w);
    if (status == HAMEL_OK) status = list_elements(&w);
    if (status == HAMEL_OK && w.framed) status = quasi_derivatives_derive(&w);
    w.out->simplified = !a->work.spent;
    return status;
}

hamel_status hamel_find_displacements(hamel_displacements **out, const hamel_description *d, bool latex,
                                      const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, latex}, sizeof **out, find_displacements, NULL,
                            out);
}

void hamel_displacements_free(hamel_displacements *displacements) {
    analysis_result_free(displacements);
}
