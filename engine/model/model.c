/* model.c — creation of a model: checks the description, derives the equations and compiles the programs.
 *
 * A pass runs even if an earlier pass has found errors, provided that its input is valid. Names and syntax of outputs
 * are checked even if the energies are invalid, so that all errors are reported together. */
#include "engine/model/model.h"

#include "engine/base/monotonic.h"
#include "engine/system/binder.h"
#include "engine/system/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

hamel_limits hamel_limits_default(void) {
    return (hamel_limits){.memory = (size_t)4 << 30,
                          .nodes = 20000000,
                          .coordinates = 100000,
                          .constraints = 100000,
                          .outputs = 100000,
                          .max_steps = 1e12,
                          .max_rows = 1e12,
                          .arranging = 4e8};
}

hamel_status model_compile(hamel_model *model, program **out, const graph_node *nodes, size_t count) {
    hamel_system *s = model->system;
    return nodes ? program_compile(out, &model->memory, s->graph, nodes, count, s->error) : HAMEL_OK;
}

/* --- the dynamics program ------------------------------------------------------------------------------------------ */

static bool allocate_block(hamel_model *model, size_t rows, size_t columns, size_t count, size_t *at,
                           sparse_block *to) {
    *to = (sparse_block){.rows = rows, .columns = columns, .count = count, .at = *at};
    *at += count;
    to->row = arena_ints(&model->memory, count);
    to->column = arena_ints(&model->memory, count);
    return to->row && to->column;
}

/* Copies the structure of the pattern to the block *to. The entries are the outputs from *at on. Advances *at by the
 * number of entries. */
static bool copy_pattern(hamel_model *model, const matrix_pattern *from, size_t rows, size_t columns, size_t *at,
                         sparse_block *to) {
    if (!allocate_block(model, rows, columns, from->count, at, to)) return false;
    for (size_t k = 0; k < from->count; k++) {
        to->row[k] = from->entries[k].row;
        to->column[k] = from->entries[k].column;
    }
    return true;
}

static bool copy_frictions(hamel_model *model) {
    const hamel_system *s = model->system;
    int *constraint = model->friction.constraint = arena_ints(&model->memory, s->friction_count);
    model->friction.count = s->friction_count;
    for (size_t k = 0; constraint && k < s->friction_count; k++) constraint[k] = s->frictions[k].constraint;
    return constraint != NULL;
}

graph_node *model_append_pattern(graph_node *at, const matrix_pattern *p) {
    for (size_t k = 0; k < p->count; k++) *at++ = p->entries[k].node;
    return at;
}

graph_node *model_append_nodes(graph_node *at, const graph_node *nodes, size_t count, graph_node zero) {
    for (size_t k = 0; k < count; k++) *at++ = nodes[k] >= 0 ? nodes[k] : zero;
    return at;
}

/* Lists the nodes of the dynamics program. Returns NULL if out of memory. */
static graph_node *list_dynamics(hamel_model *model, const hamel_equations *e) {
    size_t n = e->n, m = e->m;
    graph_node zero = graph_number(model->system->graph, 0);
    model_dynamics *d = &model->dynamics;
    size_t end = 0, quasi_count = model->system->quasi_count;
    d->mass = e->mass;
    if (d->mass && !congruence_pattern(d->mass, &model->memory, &d->M, &d->mass_places)) return NULL;
    if (!copy_frictions(model) || (!d->mass && !copy_pattern(model, &e->M, n, n, &end, &d->M)) ||
        !copy_pattern(model, &e->A, m, n, &end, &d->A) || !copy_pattern(model, &e->W, n, m, &end, &d->W) ||
        !copy_pattern(model, &e->F, n, model->friction.count, &end, &d->F))
        return NULL;
    d->at_Q = end;
    d->at_b = d->at_Q + n;
    d->at_velocity = d->at_b + m;
    d->at_position = d->at_velocity + m;
    end = d->at_position + m;
    if (!copy_pattern(model, &e->C, quasi_count, n, &end, &d->C)) return NULL;
    d->at_quasi_bias = end;
    d->at_mass = end + (e->quasi_bias ? quasi_count : 0);
    d->count = d->at_mass + (d->mass ? d->mass->factor_count + d->mass->pair_count : 0);
    d->value_count = d->count + (d->mass ? d->M.count : 0);
    if (d->mass) d->M.at = d->count;
    graph_node *nodes = arena_alloc(&model->memory, d->count, sizeof *nodes), *at = nodes;
    if (!nodes) return NULL;
    at = model_append_pattern(at, &e->M);
    at = model_append_pattern(at, &e->A);
    at = model_append_pattern(at, &e->W);
    at = model_append_pattern(at, &e->F);
    at = model_append_nodes(at, e->Q, n, zero);
    at = model_append_nodes(at, e->b, m, zero);
    at = model_append_nodes(at, e->velocity, m, zero);
    at = model_append_nodes(at, e->position, m, zero);
    at = model_append_pattern(at, &e->C);
    assert(at - nodes == (ptrdiff_t)model->dynamics.at_quasi_bias);
    if (e->quasi_bias) at = model_append_nodes(at, e->quasi_bias, quasi_count, zero);
    if (d->mass) model_append_nodes(at, e->mass_values, d->count - d->at_mass, zero);
    return nodes;
}

/* Returns true if no entry in the rows of constraints of order *order depends on velocities. If `order` is NULL, checks
 * all rows. */
static bool is_free_of_velocities(const hamel_model *model, const matrix_pattern *p, const constraint_order *order) {
    for (size_t k = 0; k < p->count; k++)
        if ((!order || model->order[p->entries[k].row] == *order) &&
            (graph_depends(model->system->graph, p->entries[k].node) & GRAPH_DEPENDS(SYMBOL_VELOCITY)))
            return false;
    return true;
}

/* Lists M, A, p, ψ of formulations in momenta. For other formulations, *list does not change. Returns false if out of
 * memory. */
static bool list_momenta(hamel_model *model, const hamel_equations *e, graph_node **list) {
    graph_node zero = graph_number(model->system->graph, 0);
    if (!e->momentum_rate && !e->cyclic) return true;
    model->momenta.at_momentum = e->M.count + e->A.count;
    model->momenta.at_velocity = model->momenta.at_momentum + e->n;
    model->momenta.count = model->momenta.at_velocity + e->m;
    model->momenta.cyclic = e->cyclic;
    model->momenta.linear = is_free_of_velocities(model, &e->M, NULL) && is_free_of_velocities(model, &e->A, NULL);
    graph_node *at = *list = arena_alloc(&model->memory, model->momenta.count, sizeof *at);
    if (!at || zero < 0) return false;
    at = model_append_pattern(model_append_pattern(at, &e->M), &e->A);
    at = model_append_nodes(at, e->momentum, e->n, zero);
    model_append_nodes(at, e->velocity, e->m, zero);
    return true;
}

static bool copy_curl(hamel_model *model, const transitivity_nodes *from, size_t *at, model_transitivity *to) {
    size_t count = from->curl_count;
    to->curl_k = arena_ints(&model->memory, count);
    if (!to->curl_k || !allocate_block(model, from->row_count, model->n, count, at, &to->curl)) return false;
    for (size_t k = 0; k < count; k++) {
        to->curl.row[k] = from->curl[k].row;
        to->curl.column[k] = from->curl[k].i;
        to->curl_k[k] = from->curl[k].k;
    }
    return true;
}

static bool list_transitivity(hamel_model *model, const hamel_equations *e, graph_node **list) {
    const transitivity_nodes *from = e->transitivity;
    if (!from) return true;
    model_transitivity *to = model->transitivity = arena_alloc(&model->memory, 1, sizeof *to);
    if (!to) return false;
    size_t rows = from->row_count, n = e->n;
    *to = (model_transitivity){.row_count = rows, .count = n};
    if (!copy_pattern(model, &from->rate, rows, n, &to->count, &to->rate) ||
        !copy_pattern(model, &from->slope, rows, n, &to->count, &to->slope) ||
        !copy_pattern(model, &from->time, rows, n, &to->count, &to->time) || !copy_curl(model, from, &to->count, to))
        return false;
    graph_node *nodes = *list = arena_alloc(&model->memory, to->count, sizeof *nodes), *at = nodes;
    if (!nodes) return false;
    at = model_append_nodes(at, e->momentum, e->n, 0);
    at = model_append_pattern(at, &from->rate);
    at = model_append_pattern(at, &from->slope);
    at = model_append_pattern(at, &from->time);
    for (size_t k = 0; k < from->curl_count; k++) *at++ = from->curl[k].node;
    return true;
}

/* Compiles U_i = ∂u/∂q'_i and U_0 = u(q' = 0), from which initial quasi-velocities determine initial velocities. */
static hamel_status compile_quasi(hamel_model *model) {
    hamel_system *s = model->system;
    size_t count = 0;
    for (size_t i = 0; i < s->quasi_count; i++) count += s->quasi[i].initial_node >= 0;
    if (count == 0) return HAMEL_OK;
    graph_node *nodes = arena_alloc(&model->memory, count * (model->n + 1), sizeof *nodes),
               *zeros = node_array(s, model->n);
    model->quasi.initial = arena_alloc(&model->memory, count, sizeof *model->quasi.initial);
    model->quasi.names = arena_alloc(&model->memory, count, sizeof *model->quasi.names);
    if (!nodes || !zeros || !model->quasi.initial || !model->quasi.names) return equations_exhausted(model->system);
    graph_node *at = nodes;
    for (size_t i = 0; i < s->quasi_count; i++) {
        if (s->quasi[i].initial_node < 0) continue;
        for (size_t j = 0; j < model->n; j++) *at++ = graph_partial(s->graph, s->quasi[i].definition, s->v[j]);
        *at++ = graph_substitute(s->graph, s->quasi[i].definition, SYMBOL_VELOCITY, zeros, model->n);
        model->quasi.names[model->quasi.count] = s->quasi[i].name;
        model->quasi.initial[model->quasi.count++] = s->quasi[i].initial;
    }
    if (graph_status(s->graph) != HAMEL_OK) return equations_status(s);
    return model_compile(model, &model->quasi.program, nodes, count * (model->n + 1));
}

/* Lists of nodes that a run evaluates in addition to the nodes of `e`. A list is NULL if the formulation does not need
 * it. */
typedef struct motion_nodes {
    graph_node *dynamics, *directions, *transitivity, *momenta, *continuity;
} motion_nodes;

static bool list_motion(hamel_model *model, const hamel_equations *e, motion_nodes *list) {
    *list = (motion_nodes){.dynamics = list_dynamics(model, e), .directions = model_slip_directions(model)};
    return list->dynamics && list->directions && list_transitivity(model, e, &list->transitivity) &&
           list_momenta(model, e, &list->momenta) && model_list_continuity(model, e, &list->continuity);
}

/* Replaces nonsmooth operators in all lists by branches, so that the right-hand side is smooth within each step. */
static bool hold(hamel_model *model, hamel_equations *e, const motion_nodes *list) {
    hamel_system *s = model->system;
    const size_t n = e->n;
    const struct {
        graph_node *nodes;
        size_t count;
    } all[] = {{list->dynamics, model->dynamics.count},
               {e->nonideal, n},
               {e->residual, n + e->m},
               {&e->jacobi_rate, 1},
               {&e->jacobi, 1},
               {e->momentum_rate, n},
               {e->reaction_shift, n},
               {list->directions, e->m - s->ideal_count},
               {list->transitivity, list->transitivity ? model->transitivity->count : 0},
               {list->momenta, model->momenta.count},
               {list->continuity, n + 1 + model->continuity.count},
               {e->terms, e->term_count}};
    enum { LISTS = sizeof all / sizeof *all, WATCHED = 2 };
    graph_node *lists[LISTS];
    size_t counts[LISTS];
    for (size_t i = 0; i < LISTS; i++) {
        lists[i] = all[i].nodes;
        counts[i] = all[i].nodes ? all[i].count : 0;
    }
    return nonsmooth_hold(s, lists, counts, LISTS, WATCHED);
}

static hamel_status compile_variables(hamel_model *model, const hamel_equations *e, const motion_nodes *list) {
    model_transitivity *transitivity = model->transitivity;
    hamel_status status = HAMEL_OK;
    if (transitivity) status = model_compile(model, &transitivity->program, list->transitivity, transitivity->count);
    if (status == HAMEL_OK) status = model_compile(model, &model->dynamics.reaction_shift, e->reaction_shift, e->n);
    if (status == HAMEL_OK) status = model_compile(model, &model->momenta.program, list->momenta, model->momenta.count);
    if (status == HAMEL_OK) status = model_compile(model, &model->momenta.rates, e->momentum_rate, e->n);
    return status == HAMEL_OK ? model_compile_continuity(model, list->continuity, list->dynamics) : status;
}

static hamel_status compile_motion(hamel_model *model, hamel_equations *e) {
    hamel_system *s = model->system;
    graph *g = s->graph;
    const size_t n = e->n;
    motion_nodes list;
    if (!list_motion(model, e, &list)) return equations_exhausted(model->system);
    if (!hold(model, e, &list)) return equations_exhausted(s);
    graph_node *dynamics = list.dynamics;
    model->dynamics.nodes = dynamics;
    if (graph_expand_angle_sums(g, dynamics, model->dynamics.count) || graph_expand_angle_sums(g, &e->jacobi_rate, 1) ||
        graph_expand_angle_sums(g, e->residual, n + e->m) || graph_expand_angle_sums(g, &e->jacobi, 1))
        return equations_exhausted(s);
    hamel_status status = model_compile_slips(model, list.directions);
    if (status == HAMEL_OK) status = model_compile(model, &model->dynamics.program, dynamics, model->dynamics.count);
    model->dynamics.linear_velocities = is_free_of_velocities(model, &e->A, &(constraint_order){CONSTRAINT_VELOCITY});
    if (status == HAMEL_OK) status = compile_variables(model, e, &list);
    if (status == HAMEL_OK) status = model_compile_residual(model, e);
    if (status == HAMEL_OK) status = model_compile(model, &model->dynamics.nonideal, e->nonideal, e->n);
    if (status == HAMEL_OK && !graph_is_zero(g, e->jacobi_rate))
        status = model_compile(model, &model->dynamics.energy_rate, &e->jacobi_rate, 1);
    return status == HAMEL_OK ? model_compile_accelerations(model, e, dynamics) : status;
}

static hamel_status compile_programs(hamel_model *model, hamel_equations *e, const hamel_observed *o) {
    hamel_status status = compile_motion(model, e);
    if (status == HAMEL_OK) status = compile_quasi(model);
    if (status == HAMEL_OK) status = model_compile_observed(model, e, o);
    if (status == HAMEL_OK) status = events_compile(model, o);
    return status == HAMEL_OK ? model_compile_jerk(model, e) : status;
}

/* --- creation ------------------------------------------------------------------------------------------------------ */

static void choose_formulation(hamel_model *model, const hamel_simulation *in) {
    const char *names[32], *given = in->formulation;
    size_t count = 0;
    text_buffer all;
    model->formulation = formulation_named(in->formulation);
    if (model->formulation) return;
    text_buffer_init(&all, 1024);
    for (; count < 32 && formulation_at(count); count++) {
        names[count] = formulation_at(count)->name;
        text_buffer_printf(&all, ", %s", names[count]);
    }
    (void)hamel_fail(model->system->error, HAMEL_INVALID, in->formulation_pointer, 0, "unknown formulation `%s`",
                     given);
    const char *nearest = nearest_name(names, count, given, strlen(given));
    hamel_suggest(model->system->error, "%s%s%suse one of auto%s", nearest ? "did you mean `" : "",
                  nearest ? nearest : "", nearest ? "`? " : "", all.bytes && !all.failed ? all.bytes : "");
    text_buffer_free(&all);
}

static hamel_status copy_state(hamel_model *model) {
    hamel_system *s = model->system;
    model->q0 = arena_doubles(&model->memory, model->n);
    model->v0 = arena_doubles(&model->memory, model->n);
    model->velocity_given = arena_alloc(&model->memory, model->n, sizeof *model->velocity_given);
    model->order = arena_alloc(&model->memory, model->m, sizeof *model->order);
    model->active = arena_alloc(&model->memory, model->m, sizeof *model->active);
    if (model->memory.failed) return equations_exhausted(s);
    for (size_t i = 0; i < model->n; i++) {
        model->q0[i] = s->coordinates[i].initial;
        model->v0[i] = s->coordinates[i].velocity;
        model->velocity_given[i] = s->coordinates[i].velocity_given;
    }
    for (size_t c = 0; c < model->m; c++) {
        model->order[c] = s->constraints[c].order;
        model->active[c] = !s->constraints[c].inactive;
    }
    model->parameters = s->parameter_values;
    return HAMEL_OK;
}

/* M may be kept in factored form unless sensitivities, analyses or the formulation need its entries. */
static hamel_status derive_and_compile(hamel_model *model, const hamel_description *d, bool for_runs) {
    hamel_system *s = model->system;
    hamel_equations e = {.system = s, .n = s->coordinate_count, .m = s->constraint_count, .held = true};
    e.may_factor_mass = for_runs && !model->sensitivities && model->formulation->derive == lagrange_derive;
    hamel_observed observed;
    model->n = e.n;
    model->m = e.m;
    model->named_count = s->named_count;
    model->ideal_count = s->ideal_count;
    hamel_status status = formulation_serves(model->formulation, s);
    if (status == HAMEL_OK) status = model->formulation->derive(&e);
    model->independent = e.independent;
    if (status == HAMEL_OK) status = outputs_bind(&observed, s, &e);
    if (status == HAMEL_OK) status = copy_state(model);
    if (status == HAMEL_OK) status = model_make_header(model, d, &observed);
    if (status == HAMEL_OK) status = compile_programs(model, &e, &observed);
    if (status == HAMEL_OK) status = model_admit_sensitivities(model, &observed);
    if (status == HAMEL_OK && graph_status(s->graph) != HAMEL_OK) return equations_status(s);
    return status;
}

/* Checks everything that can be checked before the equations are derived. */
static hamel_status check(hamel_model *model, const hamel_description *d, hamel_poll *poll, hamel_error *error) {
    hamel_observed observed;
    hamel_status status =
        system_create(&model->system, &model->memory, &model->derivation, d, &model->limits, poll, error);
    if (!model->system || status == HAMEL_NO_MEMORY || status == HAMEL_CANCELED || status == HAMEL_LIMIT) return status;
    choose_formulation(model, &d->simulation);
    (void)settings_resolve(model, d);
    (void)model_find_sensitivities(model, &d->simulation);
    (void)model_resolve_observed(model, d);
    /* the errors of outputs are reported together with the earlier errors */
    if (error->status != HAMEL_OK) (void)outputs_bind(&observed, model->system, NULL);
    return error->status;
}

static hamel_model *create_empty(const hamel_limits *limits, hamel_error *error) {
    hamel_model *model = calloc(1, sizeof *model);
    if (!model) return (void)hamel_out_of_memory(error), NULL;
    model->limits = limits ? *limits : hamel_limits_default();
    arena_init(&model->memory, model->limits.memory);
    arena_init(&model->derivation, model->limits.memory);
    model->memory.beside = &model->derivation;
    model->derivation.beside = &model->memory;
    return model;
}

void hamel_description_check(const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                             hamel_error *error) {
    hamel_model *model = create_empty(limits, error);
    if (model) (void)check(model, d, poll, error);
    hamel_model_free(model);
}

static hamel_status create_for(hamel_model **out, const hamel_description *d, const hamel_limits *limits,
                               hamel_poll *poll, bool for_runs, hamel_error *error) {
    double start = monotonic();
    *out = NULL;
    hamel_error own = {0};
    if (!error) error = &own;
    hamel_model *model = create_empty(limits, error);
    hamel_status status = model ? check(model, d, poll, error) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) status = derive_and_compile(model, d, for_runs);
    hamel_error_clear(&own);
    if (status != HAMEL_OK) {
        hamel_model_free(model);
        return status;
    }
    model->system->description = NULL; /* the caller may free the description */
    model->system->error = NULL;
    model->system->poll = NULL;
    model->derive_seconds = monotonic() - start;
    *out = model;
    return HAMEL_OK;
}

hamel_status model_derive(hamel_model **out, const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                          hamel_error *error) {
    return create_for(out, d, limits, poll, false, error);
}

hamel_status hamel_model_create(hamel_model **out, const hamel_description *d, const hamel_limits *limits,
                                hamel_poll *poll, hamel_error *error) {
    hamel_status status = create_for(out, d, limits, poll, true, error);
    if (status == HAMEL_OK && graph_close((*out)->system->graph)) arena_free(&(*out)->derivation);
    return status;
}

void hamel_model_free(hamel_model *model) {
    if (!model) return;
    native_free(&model->native);
    arena_free(&model->derivation);
    arena_free(&model->memory);
    free(model);
}

size_t hamel_model_row_count(const hamel_model *model) {
    return model->settings.row_count;
}

const hamel_header *hamel_model_header(const hamel_model *model) {
    return &model->header;
}
size_t hamel_model_bytes(const hamel_model *model) {
    return model->memory.used + model->derivation.used + model->native.size;
}
size_t hamel_model_warning_count(const hamel_model *model) {
    return model->system->warning_count;
}
const char *hamel_model_warning(const hamel_model *model, size_t index) {
    return model->system->warnings[index];
}
