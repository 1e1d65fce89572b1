/* model.c — description → checked system → equations → programs, once.
 *
 * Faults are collected as long as the next pass makes sense: names and syntax of outputs are checked even when the
 * energies are wrong, so that one answer holds everything that is to be mended. */
#include "engine/model/model.h"

#include "engine/base/monotonic.h"
#include "engine/system/binder.h"
#include "engine/system/units.h"

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

/* The graph's budget ends in a missing node, too. */
static hamel_status no_memory(hamel_model *model, hamel_error *error) {
    hamel_system *s = model->system;
    if (error->status == HAMEL_OK && s && graph_status(s->graph) != HAMEL_OK) return equations_status(s);
    if (error->status == HAMEL_OK)
        (void)hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "the system needs more than %zu MiB of memory",
                         model->limits.memory >> 20);
    return error->status;
}

/* --- the dynamics program ------------------------------------------------------------------------------------------ */

static bool copy_pattern(hamel_model *model, const matrix_pattern *from, model_pattern *to) {
    to->count = from->count;
    to->row = arena_alloc(&model->memory, from->count, sizeof *to->row);
    to->column = arena_alloc(&model->memory, from->count, sizeof *to->column);
    if (!to->row || !to->column) return false;
    for (size_t k = 0; k < from->count; k++) {
        to->row[k] = from->entries[k].row;
        to->column[k] = from->entries[k].column;
    }
    return true;
}

static bool copy_frictions(hamel_model *model) {
    const hamel_system *s = model->system;
    model->friction_count = s->friction_count;
    model->friction_constraint = arena_alloc(&model->memory, s->friction_count, sizeof *model->friction_constraint);
    for (size_t k = 0; model->friction_constraint && k < s->friction_count; k++)
        model->friction_constraint[k] = s->frictions[k].constraint;
    return model->friction_constraint != NULL;
}

static graph_node *append_pattern(graph_node *at, const matrix_pattern *p) {
    for (size_t k = 0; k < p->count; k++) *at++ = p->entries[k].node;
    return at;
}

static graph_node *append_nodes(graph_node *at, const graph_node *nodes, size_t count, graph_node zero) {
    for (size_t k = 0; k < count; k++) *at++ = nodes[k] >= 0 ? nodes[k] : zero;
    return at;
}

/* The nodes of the dynamics program; NULL without memory. */
static graph_node *list_dynamics(hamel_model *model, const hamel_equations *e) {
    size_t n = e->n, m = e->m;
    graph_node zero = graph_number(model->system->graph, 0);
    model->at_M = 0;
    model->at_A = e->M.count;
    model->at_W = model->at_A + e->A.count;
    model->at_F = model->at_W + e->W.count;
    model->at_Q = model->at_F + e->F.count;
    model->at_b = model->at_Q + n;
    model->at_velocity = model->at_b + m;
    model->at_position = model->at_velocity + m;
    model->at_C = model->at_position + m;
    model->at_quasi_bias = model->at_C + e->C.count;
    model->dynamics_count = model->at_quasi_bias + (e->quasi_bias ? model->system->quasi_count : 0);
    graph_node *nodes = arena_alloc(&model->memory, model->dynamics_count, sizeof *nodes), *at = nodes;
    if (!nodes || !copy_pattern(model, &e->M, &model->M) || !copy_pattern(model, &e->A, &model->A) ||
        !copy_pattern(model, &e->W, &model->W) || !copy_pattern(model, &e->F, &model->F) ||
        !copy_pattern(model, &e->C, &model->C) || !copy_frictions(model))
        return NULL;
    at = append_pattern(at, &e->M);
    at = append_pattern(at, &e->A);
    at = append_pattern(at, &e->W);
    at = append_pattern(at, &e->F);
    at = append_nodes(at, e->Q, n, zero);
    at = append_nodes(at, e->b, m, zero);
    at = append_nodes(at, e->velocity, m, zero);
    at = append_nodes(at, e->position, m, zero);
    at = append_pattern(at, &e->C);
    if (e->quasi_bias) append_nodes(at, e->quasi_bias, model->system->quasi_count, zero);
    return nodes;
}

/* Whether the row of A of every velocity constraint is free of velocities. */
static bool has_linear_velocities(const hamel_model *model, const hamel_equations *e) {
    for (size_t k = 0; k < e->A.count; k++)
        if (model->order[e->A.entries[k].row] == CONSTRAINT_VELOCITY &&
            (graph_depends(model->system->graph, e->A.entries[k].node) & GRAPH_DEPENDS(SYMBOL_VELOCITY)))
            return false;
    return true;
}

static bool copy_curl(hamel_model *model, const transitivity_nodes *from, model_transitivity *to) {
    size_t count = to->curl.count = from->curl_count;
    to->curl.row = arena_alloc(&model->memory, count, sizeof *to->curl.row);
    to->curl.column = arena_alloc(&model->memory, count, sizeof *to->curl.column);
    to->curl_k = arena_alloc(&model->memory, count, sizeof *to->curl_k);
    if (!to->curl.row || !to->curl.column || !to->curl_k) return false;
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
    *to = (model_transitivity){.row_count = from->row_count, .at_rest = e->n};
    to->at_rate = to->at_rest + from->row_count;
    to->at_slope = to->at_rate + from->rate.count;
    to->at_time = to->at_slope + from->slope.count;
    to->at_curl = to->at_time + from->time.count;
    to->count = to->at_curl + from->curl_count;
    graph_node *nodes = *list = arena_alloc(&model->memory, to->count, sizeof *nodes), *at = nodes;
    if (!nodes || !copy_pattern(model, &from->rate, &to->rate) || !copy_pattern(model, &from->slope, &to->slope) ||
        !copy_pattern(model, &from->time, &to->time) || !copy_curl(model, from, to))
        return false;
    at = append_nodes(at, e->momentum, e->n, 0);
    at = append_nodes(at, from->rest, from->row_count, 0);
    at = append_pattern(at, &from->rate);
    at = append_pattern(at, &from->slope);
    at = append_pattern(at, &from->time);
    for (size_t k = 0; k < from->curl_count; k++) *at++ = from->curl[k].node;
    return true;
}

static hamel_status compile_observed(hamel_model *model, const hamel_equations *e, const hamel_observed *o,
                                     hamel_error *error) {
    hamel_system *s = model->system;
    const hamel_description *d = s->description;
    model->output_count = s->quasi_count + s->output_count;
    model->invariant_count = d->invariant_count;
    model->check_count = d->check_count;
    model->observed_count = model->output_count + d->invariant_count + d->check_count + 1;
    graph_node *nodes = arena_alloc(&model->memory, model->observed_count, sizeof *nodes), *at = nodes;
    const char **pointers = model->observed_pointers =
        arena_alloc(&model->memory, model->observed_count, sizeof *pointers);
    if (!nodes || !pointers) return no_memory(model, error);
    for (size_t i = 0; i < s->quasi_count; i++) *at++ = s->quasi[i].definition;
    at = append_nodes(at, o->outputs, s->output_count, 0);
    at = append_nodes(at, o->invariants, d->invariant_count, 0);
    at = append_nodes(at, o->checks, d->check_count, 0);
    *at = e->jacobi;
    size_t k = 0;
    for (size_t i = 0; i < s->quasi_count; i++) pointers[k++] = s->quasi[i].pointer;
    for (size_t i = 0; i < s->output_count; i++) pointers[k++] = s->outputs[i].pointer;
    for (size_t i = 0; i < d->invariant_count; i++) pointers[k++] = d->invariants[i].expression.pointer;
    for (size_t i = 0; i < d->check_count; i++) pointers[k++] = d->checks[i].expression.pointer;
    pointers[k] = "";
    for (k = 0; k < model->observed_count; k++) { /* they outlive the description */
        pointers[k] = arena_text(&model->memory, pointers[k] ? pointers[k] : "", pointers[k] ? strlen(pointers[k]) : 0);
        if (!pointers[k]) return no_memory(model, error);
    }
    hamel_status status =
        program_compile(&model->observed, &model->memory, s->graph, nodes, model->observed_count, error);
    if (status == HAMEL_OK) model->needs_free = (program_depends(model->observed) & GRAPH_DEPENDS(SYMBOL_FREE)) != 0;
    return status;
}

/* The columns of row i: coordinates that the residual contains, or whose velocities it contains. */
static bool residual_row(hamel_model *model, const hamel_equations *e, size_t i, size_t *capacity) {
    hamel_system *s = model->system;
    model_pattern *p = &model->residual_pattern;
    int32_t *q, *v;
    size_t nq = node_support(s, e->residual[i], SYMBOL_COORDINATE, &q),
           nv = node_support(s, e->residual[i], SYMBOL_VELOCITY, &v);
    size_t row_capacity = *capacity, column_capacity = *capacity;
    p->row = arena_grow(&model->memory, p->row, &row_capacity, p->count + nq + nv, sizeof *p->row);
    p->column = arena_grow(&model->memory, p->column, &column_capacity, p->count + nq + nv, sizeof *p->column);
    if (!p->row || !p->column) return false;
    *capacity = row_capacity;
    for (size_t a = 0, b = 0; a < nq || b < nv;) { /* both lists increase */
        int32_t column = b >= nv || (a < nq && q[a] <= v[b]) ? q[a] : v[b];
        if (a < nq && q[a] == column) a++;
        if (b < nv && v[b] == column) b++;
        p->row[p->count] = (int)i;
        p->column[p->count++] = column;
    }
    return true;
}

static hamel_status compile_residual(hamel_model *model, const hamel_equations *e, hamel_error *error) {
    size_t capacity = 0;
    for (size_t i = 0; i < e->n + e->m; i++)
        if (!residual_row(model, e, i, &capacity)) return no_memory(model, error);
    return program_compile(&model->residual, &model->memory, model->system->graph, e->residual, e->n + e->m, error);
}

/* Initial velocities may follow from quasi-velocities: U_i = ∂u/∂q'_i and U_0 = u(q' = 0). */
static hamel_status compile_quasi(hamel_model *model, hamel_error *error) {
    hamel_system *s = model->system;
    size_t count = 0;
    for (size_t i = 0; i < s->quasi_count; i++) count += s->quasi[i].initial_node >= 0;
    if (count == 0) return HAMEL_OK;
    graph_node *nodes = arena_alloc(&model->memory, count * (model->n + 1), sizeof *nodes),
               *zeros = node_array(s, model->n);
    model->quasi_initial = arena_alloc(&model->memory, count, sizeof *model->quasi_initial);
    model->quasi_initial_names = arena_alloc(&model->memory, count, sizeof *model->quasi_initial_names);
    if (!nodes || !zeros || !model->quasi_initial || !model->quasi_initial_names) return no_memory(model, error);
    graph_node *at = nodes;
    for (size_t i = 0; i < s->quasi_count; i++) {
        if (s->quasi[i].initial_node < 0) continue;
        for (size_t j = 0; j < model->n; j++) *at++ = graph_partial(s->graph, s->quasi[i].definition, s->v[j]);
        *at++ = graph_substitute(s->graph, s->quasi[i].definition, SYMBOL_VELOCITY, zeros, model->n);
        model->quasi_initial_names[model->quasi_initial_count] = s->quasi[i].name;
        model->quasi_initial[model->quasi_initial_count++] = s->quasi[i].initial;
    }
    if (graph_status(s->graph) != HAMEL_OK) return equations_status(s);
    return program_compile(&model->quasi, &model->memory, s->graph, nodes, count * (model->n + 1), error);
}

static bool turn(graph *g, graph_node *nodes, size_t count) {
    return graph_turn(g, nodes, count) == HAMEL_OK;
}

/* What the integration evaluates, beside the lists of `e` itself. NULL where the formulation has no use for it. */
typedef struct motion_nodes {
    graph_node *dynamics, *directions, *transitivity, *momenta, *continuity;
} motion_nodes;

static bool list_motion(hamel_model *model, const hamel_equations *e, motion_nodes *list) {
    *list = (motion_nodes){.dynamics = list_dynamics(model, e), .directions = model_slip_directions(model)};
    return list->dynamics && list->directions && list_transitivity(model, e, &list->transitivity) &&
           model_list_momenta(model, e, &list->momenta) && model_list_continuity(model, e, &list->continuity);
}

/* Abrupt operators are held in all of it: a step over the instant at which one changes sees one branch throughout. */
static bool hold(hamel_model *model, hamel_equations *e, const motion_nodes *list) {
    hamel_system *s = model->system;
    const size_t n = e->n;
    const struct {
        graph_node *nodes;
        size_t count;
    } all[] = {{list->dynamics, model->dynamics_count},
               {e->nonideal, n},
               {e->residual, n + e->m},
               {&e->jacobi_rate, 1},
               {&e->jacobi, 1},
               {e->momentum_rate, n},
               {e->reaction_shift, n},
               {list->directions, e->m - s->ideal_count},
               {list->transitivity, list->transitivity ? model->transitivity->count : 0},
               {list->momenta, model->momenta_count},
               {list->continuity, n + 1 + model->continuous_count}};
    enum { LISTS = sizeof all / sizeof *all, WATCHED = 2 };
    graph_node *lists[LISTS];
    size_t counts[LISTS];
    for (size_t i = 0; i < LISTS; i++) {
        lists[i] = all[i].nodes;
        counts[i] = all[i].nodes ? all[i].count : 0;
    }
    return switches_hold(s, lists, counts, LISTS, WATCHED);
}

static hamel_status compile_list(hamel_model *model, program **out, const graph_node *nodes, size_t count,
                                 hamel_error *error) {
    return nodes ? program_compile(out, &model->memory, model->system->graph, nodes, count, error) : HAMEL_OK;
}

static hamel_status compile_variables(hamel_model *model, const hamel_equations *e, const motion_nodes *list,
                                      hamel_error *error) {
    model_transitivity *transitivity = model->transitivity;
    hamel_status status = HAMEL_OK;
    if (transitivity)
        status = compile_list(model, &transitivity->program, list->transitivity, transitivity->count, error);
    if (status == HAMEL_OK) status = compile_list(model, &model->reaction_shift, e->reaction_shift, e->n, error);
    if (status == HAMEL_OK) status = compile_list(model, &model->momenta, list->momenta, model->momenta_count, error);
    if (status == HAMEL_OK) status = compile_list(model, &model->momentum_rates, e->momentum_rate, e->n, error);
    return status == HAMEL_OK ? model_compile_continuity(model, list->continuity, list->dynamics, error) : status;
}

static hamel_status compile_motion(hamel_model *model, hamel_equations *e, hamel_error *error) {
    hamel_system *s = model->system;
    graph *g = s->graph;
    const size_t n = e->n;
    motion_nodes list;
    if (!list_motion(model, e, &list)) return no_memory(model, error);
    if (!hold(model, e, &list)) return equations_status(s);
    graph_node *dynamics = list.dynamics;
    model->dynamics_nodes = dynamics;
    if (!turn(g, dynamics, model->dynamics_count) || !turn(g, e->residual, n + e->m) || !turn(g, &e->jacobi_rate, 1) ||
        !turn(g, &e->jacobi, 1))
        return graph_status(g) == HAMEL_OK ? no_memory(model, error) : equations_status(s);
    hamel_status status = model_compile_slips(model, list.directions, error);
    if (status == HAMEL_OK)
        status = program_compile(&model->dynamics, &model->memory, g, dynamics, model->dynamics_count, error);
    model->linear_velocities = has_linear_velocities(model, e);
    if (status == HAMEL_OK) status = compile_variables(model, e, &list, error);
    if (status == HAMEL_OK) status = compile_residual(model, e, error);
    if (status == HAMEL_OK) status = compile_list(model, &model->nonideal, e->nonideal, e->n, error);
    if (status == HAMEL_OK && !graph_is_zero(g, e->jacobi_rate)) {
        status = program_compile(&model->energy_rate, &model->memory, g, &e->jacobi_rate, 1, error);
    }
    return status == HAMEL_OK ? model_compile_accelerations(model, dynamics, error) : status;
}

static hamel_status compile_programs(hamel_model *model, hamel_equations *e, const hamel_observed *o,
                                     hamel_error *error) {
    hamel_status status = compile_motion(model, e, error);
    if (status == HAMEL_OK) status = compile_quasi(model, error);
    if (status == HAMEL_OK) status = compile_observed(model, e, o, error);
    return status == HAMEL_OK ? events_compile(model, error) : status;
}

/* --- columns ------------------------------------------------------------------------------------------------------- */

/* The unit of a velocity column: the coordinate's unit per second. */
static const char *rate_unit(hamel_model *model, const char *unit) {
    if (!*unit) return "";
    const char *text =
        strcmp(unit, "1") == 0 ? arena_text(&model->memory, "1/s", 3) : arena_format(&model->memory, "%s/s", unit);
    return text ? text : "";
}

static bool all_columns(hamel_model *model, const hamel_observed *o, const char **columns, const char **units) {
    hamel_system *s = model->system;
    size_t n = model->n, at = 1;
    columns[0] = "t";
    units[0] = "s";
    for (size_t i = 0; i < n; i++) {
        columns[at + i] = s->coordinates[i].name;
        columns[at + n + i] = arena_format(&model->memory, "%s'", s->coordinates[i].name);
        units[at + i] = s->coordinates[i].unit;
        units[at + n + i] = rate_unit(model, s->coordinates[i].unit);
        if (!columns[at + n + i]) return false;
    }
    for (size_t i = 0; i < model->output_count; i++) {
        graph_node node = i < s->quasi_count ? s->quasi[i].definition : o->outputs[i - s->quasi_count];
        columns[at + 2 * n + i] = model_output_name(model, i);
        units[at + 2 * n + i] = units_text(s, node);
    }
    return model_name_sensitivities(model, o, columns, units);
}

static hamel_status index_columns(hamel_model *model, const char **columns, symbol_table *table, hamel_error *error) {
    if (symbol_table_init(table, &model->memory) != HAMEL_OK) return no_memory(model, error);
    for (size_t i = 0; i < model->all_column_count; i++) {
        hamel_status status = symbol_add(table, columns[i], strlen(columns[i]), (int32_t)i, NULL);
        if (status == HAMEL_NO_MEMORY) return no_memory(model, error);
        if (status == HAMEL_OK) continue;
        size_t output = i - 1 - 2 * model->n - model->system->quasi_count; /* other names are distinct already */
        (void)hamel_fail(error, HAMEL_INVALID, model->system->outputs[output].pointer, 0,
                         "there is a column `%s` already", columns[i]);
        hamel_suggest(error,
                      "columns are t, the coordinates, their velocities and the outputs; give the output another name");
    }
    return error->status;
}

/* `record`: which columns leave; t and those of the scene always do. */
static hamel_status choose_columns(hamel_model *model, const hamel_simulation *in, const symbol_table *table,
                                   hamel_error *error) {
    bool *chosen = arena_alloc(&model->memory, model->all_column_count, sizeof *chosen);
    model->recorded = arena_alloc(&model->memory, model->all_column_count, sizeof *model->recorded);
    if (!chosen || !model->recorded) return no_memory(model, error);
    size_t scene = model->system->scene
                       ? 1 + 2 * model->n + model->system->quasi_count + model->system->first_scene_output
                       : model->state_column_count;
    for (size_t i = 0; i < model->all_column_count; i++)
        chosen[i] = !in->has_record || i == 0 || (i >= scene && i < model->state_column_count);
    for (size_t k = 0; in->has_record && k < in->record_count; k++) {
        int32_t found = symbol_find(table, in->record[k], strlen(in->record[k]));
        if (found >= 0) {
            chosen[found] = true;
            continue;
        }
        (void)hamel_fail(error, HAMEL_INVALID, in->record_pointers[k], 0, "there is no column `%s`", in->record[k]);
        const char *nearest = symbol_nearest(table, in->record[k], strlen(in->record[k]));
        if (nearest) hamel_suggest(error, "did you mean `%s`?", nearest);
    }
    model->header.column_count = 0;
    for (size_t i = 0; i < model->all_column_count; i++)
        if (chosen[i]) model->recorded[model->header.column_count++] = i;
    return error->status;
}

static hamel_status make_header(hamel_model *model, const hamel_description *d, const hamel_observed *o,
                                hamel_error *error) {
    hamel_system *s = model->system;
    symbol_table table;
    model->output_count = s->quasi_count + s->output_count;
    model->state_column_count = model->all_column_count = 1 + 2 * model->n + model->output_count;
    if (model->sensitivities)
        model->all_column_count += model->sensitivities->count * model->sensitivities->column_count;
    const char **columns = arena_alloc(&model->memory, model->all_column_count, sizeof *columns);
    const char **units = arena_alloc(&model->memory, model->all_column_count, sizeof *units);
    if (!columns || !units || !all_columns(model, o, columns, units)) return no_memory(model, error);
    if (index_columns(model, columns, &table, error) != HAMEL_OK ||
        choose_columns(model, &d->simulation, &table, error) != HAMEL_OK)
        return error->status;
    for (size_t i = 0; i < model->header.column_count; i++) { /* recorded[i] ≥ i: in place */
        columns[i] = columns[model->recorded[i]];
        units[i] = units[model->recorded[i]];
    }
    model->header.columns = columns;
    model->header.units = units;
    model->header.name = d->name ? arena_text(&model->memory, d->name, strlen(d->name)) : "";
    model->header.coordinate_count = model->n;
    model->header.constraint_count = s->standing_count;
    model->header.formulation = model->formulation->name;
    model->header.scene = s->scene;
    model->header.degrees_of_freedom = -1;
    model->hash = d->hash ? arena_text(&model->memory, d->hash, strlen(d->hash)) : NULL;
    return model->header.name ? HAMEL_OK : no_memory(model, error);
}

/* --- invariants and checks ------------------------------------------------------------------------------------------ */

static const char *name_or_text(hamel_model *model, const char *name, const hamel_expression *e) {
    if (!name) name = e->text ? e->text : "";
    return arena_text(&model->memory, name, strlen(name));
}

static void resolve_tolerance(hamel_system *s, const hamel_expression *e, double *value) {
    if (!hamel_expression_given(e) || !system_number(s, e, NULL, value)) return;
    if (*value < 0) (void)hamel_fail(s->error, HAMEL_INVALID, e->pointer, 0, "a tolerance must not be negative");
}

static void resolve_invariant(hamel_model *model, const hamel_invariant *in, model_invariant *out) {
    *out = (model_invariant){name_or_text(model, in->name, &in->expression), hamel_expression_given(&in->tolerance), 0};
    resolve_tolerance(model->system, &in->tolerance, &out->tolerance);
}

static void resolve_check(hamel_model *model, const hamel_check *in, model_check *out) {
    hamel_system *s = model->system;
    out->name = name_or_text(model, in->name, &in->expression);
    out->at = in->at;
    out->has_equals = hamel_expression_given(&in->equals);
    out->has_min = hamel_expression_given(&in->min);
    out->has_max = hamel_expression_given(&in->max);
    if (!out->has_equals && !out->has_min && !out->has_max) {
        (void)hamel_fail(s->error, HAMEL_INVALID, in->pointer, 0,
                         "a check needs `equals` (with `tolerance`), `min` or `max`");
        return;
    }
    bool good = (!out->has_equals || system_number(s, &in->equals, NULL, &out->equals)) &&
                (!out->has_min || system_number(s, &in->min, NULL, &out->min)) &&
                (!out->has_max || system_number(s, &in->max, NULL, &out->max));
    if (!good) return;
    if (out->has_equals && !hamel_expression_given(&in->tolerance)) {
        (void)hamel_fail(s->error, HAMEL_INVALID, in->pointer, 0, "a check with `equals` needs a `tolerance`");
    } else if (!out->has_equals && hamel_expression_given(&in->tolerance)) {
        (void)hamel_fail(s->error, HAMEL_INVALID, in->tolerance.pointer, 0,
                         "a `tolerance` belongs to `equals`, which is missing");
        hamel_suggest(s->error, "widen `min` and `max` instead");
    } else {
        resolve_tolerance(s, &in->tolerance, &out->tolerance);
    }
    if (out->has_min && out->has_max && out->min > out->max)
        (void)hamel_fail(s->error, HAMEL_INVALID, in->max.pointer, 0, "max is %.9g, which lies below min, %.9g",
                         out->max, out->min);
    if (in->at != HAMEL_CHECK_TIME || !system_number(s, &in->time, NULL, &out->time)) return;
    if (out->time < model->settings.start || out->time > model->settings.stop)
        (void)hamel_fail(s->error, HAMEL_INVALID, in->time.pointer, 0, "%.15g lies outside the span from start to stop",
                         out->time);
}

static hamel_status resolve_observed(hamel_model *model, const hamel_description *d, hamel_error *error) {
    model->invariants = arena_alloc(&model->memory, d->invariant_count, sizeof *model->invariants);
    model->checks = arena_alloc(&model->memory, d->check_count, sizeof *model->checks);
    if (!model->invariants || !model->checks) return no_memory(model, error);
    for (size_t i = 0; i < d->invariant_count; i++) {
        resolve_invariant(model, &d->invariants[i], &model->invariants[i]);
    }
    for (size_t i = 0; i < d->check_count; i++) resolve_check(model, &d->checks[i], &model->checks[i]);
    return error->status;
}

/* --- creation ------------------------------------------------------------------------------------------------------ */

static hamel_status choose_formulation(hamel_model *model, const hamel_simulation *in, hamel_error *error) {
    const char *names[32];
    size_t count = 0;
    text_buffer all;
    model->formulation = formulation_named(in->formulation);
    if (model->formulation) return HAMEL_OK;
    text_buffer_init(&all, 1024);
    for (; count < 32 && formulation_at(count); count++) {
        names[count] = formulation_at(count)->name;
        text_buffer_printf(&all, ", %s", names[count]);
    }
    hamel_status status =
        hamel_fail(error, HAMEL_INVALID, in->formulation_pointer, 0, "there is no formulation `%s`", in->formulation);
    const char *nearest = nearest_name(names, count, in->formulation, strlen(in->formulation));
    hamel_suggest(error, "%s%s%sone of auto%s", nearest ? "did you mean `" : "", nearest ? nearest : "",
                  nearest ? "`? " : "", all.bytes && !all.failed ? all.bytes : "");
    text_buffer_free(&all);
    return status;
}

static hamel_status copy_state(hamel_model *model, hamel_error *error) {
    hamel_system *s = model->system;
    model->q0 = arena_alloc(&model->memory, model->n, sizeof *model->q0);
    model->v0 = arena_alloc(&model->memory, model->n, sizeof *model->v0);
    model->velocity_given = arena_alloc(&model->memory, model->n, sizeof *model->velocity_given);
    model->order = arena_alloc(&model->memory, model->m, sizeof *model->order);
    model->active = arena_alloc(&model->memory, model->m, sizeof *model->active);
    if (!model->q0 || !model->v0 || !model->velocity_given || !model->order || !model->active)
        return no_memory(model, error);
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

static hamel_status derive_and_compile(hamel_model *model, const hamel_description *d, hamel_error *error) {
    hamel_system *s = model->system;
    hamel_equations e = {.system = s, .n = s->coordinate_count, .m = s->constraint_count, .held = true};
    hamel_observed observed;
    model->n = e.n;
    model->m = e.m;
    model->named_count = s->named_count;
    model->ideal_count = s->ideal_count;
    hamel_status status = formulation_serves(model->formulation, s);
    if (status == HAMEL_OK) status = model->formulation->derive(&e);
    if (status == HAMEL_OK) status = outputs_bind(&observed, s, &e);
    if (status == HAMEL_OK) status = copy_state(model, error);
    if (status == HAMEL_OK) status = make_header(model, d, &observed, error);
    if (status == HAMEL_OK) status = compile_programs(model, &e, &observed, error);
    if (status == HAMEL_OK) status = model_admit_sensitivities(model, &observed, error);
    if (status == HAMEL_OK && graph_status(s->graph) != HAMEL_OK) return equations_status(s);
    return status;
}

/* Everything that can be found wrong before the equations are derived. */
static hamel_status check(hamel_model *model, const hamel_description *d, hamel_poll *poll, hamel_error *error) {
    hamel_observed observed;
    hamel_status status = system_create(&model->system, &model->memory, d, &model->limits, poll, error);
    if (!model->system || status == HAMEL_NO_MEMORY || status == HAMEL_CANCELED || status == HAMEL_LIMIT) return status;
    (void)choose_formulation(model, &d->simulation, error);
    (void)settings_resolve(model, d);
    (void)model_find_sensitivities(model, &d->simulation);
    (void)resolve_observed(model, d, error);
    if (error->status != HAMEL_OK)
        (void)outputs_bind(&observed, model->system, NULL); /* their faults belong into the same answer */
    return error->status;
}

static hamel_model *create_empty(const hamel_limits *limits, hamel_error *error) {
    hamel_model *model = calloc(1, sizeof *model);
    if (!model) {
        (void)hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the model");
        return NULL;
    }
    model->limits = limits ? *limits : hamel_limits_default();
    arena_init(&model->memory, model->limits.memory);
    return model;
}

void hamel_description_check(const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                             hamel_error *error) {
    hamel_model *model = create_empty(limits, error);
    if (model) (void)check(model, d, poll, error);
    hamel_model_free(model);
}

hamel_status hamel_model_create(hamel_model **out, const hamel_description *d, const hamel_limits *limits,
                                hamel_poll *poll, hamel_error *error) {
    double start = monotonic();
    *out = NULL;
    hamel_error own = {0};
    if (!error) error = &own;
    hamel_model *model = create_empty(limits, error);
    hamel_status status = model ? check(model, d, poll, error) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) status = derive_and_compile(model, d, error);
    hamel_error_clear(&own);
    if (status != HAMEL_OK) {
        hamel_model_free(model);
        return status;
    }
    model->system->description = NULL; /* it may go now */
    model->system->error = NULL;
    model->system->poll = NULL;
    model->derive_seconds = monotonic() - start;
    *out = model;
    return HAMEL_OK;
}

void hamel_model_free(hamel_model *model) {
    if (!model) return;
    native_free(&model->native);
    arena_free(&model->memory);
    free(model);
}

const hamel_header *hamel_model_header(const hamel_model *model) {
    return &model->header;
}
size_t hamel_model_bytes(const hamel_model *model) {
    return model->memory.used + model->native.size;
}
size_t hamel_model_warning_count(const hamel_model *model) {
    return model->system->warning_count;
}
const char *hamel_model_warning(const hamel_model *model, size_t index) {
    return model->system->warnings[index];
}
