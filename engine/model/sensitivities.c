/* sensitivities.c — the inputs by which a motion is differentiated, and all that follows from them before it begins.
 *
 * Times (start, stop, those of rows) and tolerances are held: a derivative is that of the state at a time. */
#include "engine/model/inputs.h"
#include "engine/model/model.h"
#include "engine/system/binder.h"
#include "engine/system/units.h"

#include <math.h>
#include <string.h>

static const char WHERE[] = "/simulation/sensitivities";

static hamel_status no_memory(hamel_system *s) {
    return hamel_fail(s->error, HAMEL_NO_MEMORY, WHERE, 0, "no memory for the sensitivities");
}

/* --- inputs -------------------------------------------------------------------------------------------------------- */

typedef enum input_kind { INPUT_PARAMETER, INPUT_INITIAL, INPUT_VELOCITY, INPUT_NONE } input_kind;
typedef struct input {
    input_kind kind;
    int32_t index;
} input;

/* COORDINATE.initial or COORDINATE.velocity: the coordinate's name in the arena, or NULL. */
static const char *coordinate_of(hamel_system *s, const char *name, input_kind *kind) {
    const char *dot = strrchr(name, '.');
    *kind = !dot                            ? INPUT_NONE
            : strcmp(dot, ".initial") == 0  ? INPUT_INITIAL
            : strcmp(dot, ".velocity") == 0 ? INPUT_VELOCITY
                                            : INPUT_NONE;
    return *kind == INPUT_NONE ? NULL : arena_text(s->memory, name, (size_t)(dot - name));
}

static input find_input(hamel_system *s, const char *name) {
    input_kind kind;
    int32_t index = inputs_find_parameter(s, name);
    if (index >= 0) return (input){INPUT_PARAMETER, index};
    const char *coordinate = coordinate_of(s, name, &kind);
    index = coordinate ? system_coordinate_index(s, coordinate) : -1;
    return (input){index >= 0 ? kind : INPUT_NONE, index};
}

static void refuse_unknown(hamel_system *s, const char *name, const char *pointer) {
    input_kind kind;
    const char *coordinate = coordinate_of(s, name, &kind), *nearest;
    (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "there is no parameter and no initial value `%s`", name);
    if (coordinate && (nearest = system_nearest_coordinate(s, coordinate)))
        hamel_suggest(s->error, "did you mean `%s%s`?", nearest, strrchr(name, '.'));
    else if (system_coordinate_index(s, name) >= 0)
        hamel_suggest(s->error, "did you mean `%s.initial` or `%s.velocity`?", name, name);
    else if ((nearest = nearest_name(s->parameter_names, s->parameter_count, name, strlen(name))))
        hamel_suggest(s->error, "did you mean `%s`?", nearest);
    else
        hamel_suggest(s->error, "name a parameter, COORDINATE.initial or COORDINATE.velocity");
}

static hamel_status find_inputs(hamel_system *s, const hamel_simulation *in, input *inputs) {
    symbol_table seen;
    if (symbol_table_init(&seen, s->memory) != HAMEL_OK) return no_memory(s);
    for (size_t k = 0; k < in->sensitivity_count; k++) {
        const char *name = in->sensitivities[k], *pointer = in->sensitivity_pointers[k];
        if (!name) return HAMEL_INVALID; /* no text: the reader has told */
        inputs[k] = find_input(s, name);
        if (inputs[k].kind == INPUT_NONE) {
            refuse_unknown(s, name, pointer);
            continue;
        }
        hamel_status status = symbol_add(&seen, name, strlen(name), (int32_t)k, NULL);
        if (status == HAMEL_NO_MEMORY) return no_memory(s);
        if (status != HAMEL_OK)
            (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "`%s` stands in the list already", name);
    }
    return s->error->status;
}

/* --- what follows from them ------------------------------------------------------------------------------------------ */

static bool number_of(hamel_system *s, graph_node node, const char *name, const char *what, double *value) {
    if (binder_number(s, node, value) && isfinite(*value)) return true;
    (void)hamel_fail(s->error, HAMEL_NOT_FINITE, WHERE, 0, "the derivative of `%s` by `%s` is not finite", what, name);
    return false;
}

/* The number of a parameter that moves with the input must not be part of what the equations are made of. */
static bool is_continuous(hamel_system *s, const char *name, size_t parameter) {
    if (!s->parameter_structural[parameter]) return true;
    (void)hamel_fail(
        s->error, HAMEL_INVALID, WHERE, 0,
        "there is no derivative by `%s`: the value of `%s` is in the range of a family, an index or a table", name,
        s->parameter_names[parameter]);
    return false;
}

/* The parameters of one input after those of the inputs before. */
typedef struct moved_parameters {
    size_t count, parameter_capacity, rate_capacity;
} moved_parameters;

static bool note_moved(hamel_system *s, model_sensitivities *m, moved_parameters *moved, size_t j, double rate) {
    m->parameter = binder_grow(s, m->parameter, &moved->parameter_capacity, moved->count, sizeof *m->parameter, WHERE);
    m->rate = binder_grow(s, m->rate, &moved->rate_capacity, moved->count, sizeof *m->rate, WHERE);
    if (!m->parameter || !m->rate) return false;
    m->parameter[moved->count] = (int32_t)j;
    m->rate[moved->count++] = rate;
    return true;
}

/* Parameters and given initial values along the k-th input. */
static bool follow(hamel_system *s, model_sensitivities *m, size_t k, input in, graph_node *rates,
                   moved_parameters *moved) {
    const char *name = m->names[k];
    double *q0 = m->q0 + k * s->coordinate_count, *v0 = m->v0 + k * s->coordinate_count, rate;
    if (in.kind == INPUT_INITIAL) q0[in.index] = 1;
    if (in.kind == INPUT_VELOCITY) v0[in.index] = 1;
    if (in.kind != INPUT_PARAMETER) return true;
    if (!inputs_parameter_rates(s, in.index, rates)) return binder_graph_fault(s, WHERE);
    for (size_t j = 0; j < s->parameter_count; j++) {
        if (graph_is_zero(s->graph, rates[j])) continue;
        if (!number_of(s, rates[j], name, s->parameter_names[j], &rate)) return false;
        if (rate == 0) continue;
        if (!is_continuous(s, name, j) || !note_moved(s, m, moved, j, rate)) return false;
    }
    for (size_t i = 0; i < s->coordinate_count; i++) {
        const system_coordinate *c = &s->coordinates[i];
        if (!number_of(s, inputs_along(s, c->initial_node, rates), name, c->name, &q0[i])) return false;
        if (!number_of(s, inputs_along(s, c->velocity_node, rates), name, c->name, &v0[i])) return false;
    }
    return true;
}

static double size_of(const hamel_system *s, input in) {
    double value = in.kind == INPUT_PARAMETER ? s->parameter_values[in.index]
                   : in.kind == INPUT_INITIAL ? s->coordinates[in.index].initial
                                              : s->coordinates[in.index].velocity;
    return value != 0 ? fabs(value) : 1;
}

/* Filled with zeros. */
static double *numbers(hamel_system *s, size_t count) {
    double *x = arena_alloc(s->memory, count, sizeof *x);
    if (x) memset(x, 0, count * sizeof *x);
    return x;
}

/* Arrays for so many inputs; NULL with a fault. */
static model_sensitivities *allocate(hamel_system *s, size_t count, size_t limit) {
    model_sensitivities *m = arena_alloc(s->memory, 1, sizeof *m);
    size_t n = s->coordinate_count, outputs = s->scene ? s->first_scene_output : s->output_count;
    if (!m) return (void)no_memory(s), NULL;
    *m = (model_sensitivities){.count = count, .output_count = s->quasi_count + outputs};
    m->column_count = 2 * n + m->output_count;
    if (limit > 0 && m->column_count > limit / count) {
        (void)hamel_fail(s->error, HAMEL_LIMIT, WHERE, 0,
                         "%zu inputs make %.0f columns of derivatives, more than the limit of %zu", count,
                         (double)count * (double)m->column_count, limit);
        return NULL;
    }
    m->names = arena_alloc(s->memory, count, sizeof *m->names);
    m->size = numbers(s, count);
    m->first = arena_alloc(s->memory, count + 1, sizeof *m->first);
    m->q0 = numbers(s, count * n);
    m->v0 = numbers(s, count * n);
    if (m->names && m->size && m->first && m->q0 && m->v0) return m;
    return (void)no_memory(s), NULL;
}

hamel_status model_find_sensitivities(hamel_model *model, const hamel_simulation *in) {
    hamel_system *s = model->system;
    size_t count = in->sensitivity_count;
    if (count == 0) return HAMEL_OK;
    input *inputs = arena_alloc(s->memory, count, sizeof *inputs);
    graph_node *rates = arena_alloc(s->memory, s->parameter_count, sizeof *rates);
    if (!inputs || !rates) return no_memory(s);
    if (find_inputs(s, in, inputs) != HAMEL_OK) return s->error->status;
    model_sensitivities *m = allocate(s, count, model->limits.outputs);
    if (!m) return s->error->status;
    moved_parameters moved = {0};
    for (size_t k = 0; k < count; k++) {
        if (system_interrupted(s)) return s->error->status;
        m->names[k] = arena_text(s->memory, in->sensitivities[k], strlen(in->sensitivities[k]));
        if (!m->names[k]) return no_memory(s);
        m->size[k] = size_of(s, inputs[k]);
        m->first[k] = moved.count;
        if (!follow(s, m, k, inputs[k], rates, &moved)) return s->error->status;
    }
    m->first[count] = moved.count;
    model->sensitivities = m;
    return HAMEL_OK;
}

/* --- what has no derivative ------------------------------------------------------------------------------------------ */

static hamel_status refuse(hamel_error *error, const char *pointer, const char *why, const char *hint) {
    (void)hamel_fail(error, HAMEL_INVALID, pointer, 0, "sensitivities are not available here: %s", why);
    hamel_suggest(error, "%s", hint);
    return HAMEL_INVALID;
}

/* The first operator whose branch changes during the motion. */
static hamel_status refuse_switch(const hamel_model *model, hamel_error *error) {
    hamel_system *s = model->system;
    text_buffer text;
    size_t i = 0;
    text_buffer_init(&text, 300);
    while (i < s->switch_count && !s->switches[i].held) i++;
    if (i < s->switch_count) graph_print(s->graph, s->switches[i].written, system_name_symbol, s, &text);
    (void)hamel_fail(error, HAMEL_INVALID, WHERE, 0,
                     "sensitivities are not available here: the equations change abruptly where `%s` passes a bound",
                     text.bytes ? text.bytes : "");
    hamel_suggest(error, "write them without sign, abs, min, max, if, floor, mod and linear tables of what moves");
    text_buffer_free(&text);
    return HAMEL_INVALID;
}

static hamel_status look_at_outputs(const hamel_model *model, const hamel_observed *o, hamel_error *error) {
    const hamel_system *s = model->system;
    model_sensitivities *m = model->sensitivities;
    for (size_t i = 0; i + s->quasi_count < m->output_count; i++) {
        unsigned depends = graph_depends(s->graph, o->outputs[i]);
        if (depends & GRAPH_DEPENDS(SYMBOL_FREE))
            return refuse(error, s->outputs[i].pointer, "gauss() is not differentiated", "leave this output out");
        if (depends & GRAPH_DEPENDS(SYMBOL_MULTIPLIER)) m->unique_only = true;
    }
    return HAMEL_OK;
}

hamel_status model_admit_sensitivities(const hamel_model *model, const hamel_observed *o, hamel_error *error) {
    const hamel_system *s = model->system;
    if (!model->sensitivities) return HAMEL_OK;
    if (model->formulation->variables != VARIABLES_VELOCITIES)
        return refuse(error, "/simulation/formulation", "this formulation integrates other variables than velocities",
                      "take lagrange, udwadia-kalaba or gauss");
    if (s->friction_count > 0)
        return refuse(error, s->frictions[0].pointer, "the direction of dry friction has no derivative where it turns",
                      "take the friction or the sensitivities out of the description");
    if (model->nonideal)
        return refuse(error, "/constraints", "prescribed work of constraints is not differentiated",
                      "take the nonideal forces or the sensitivities out of the description");
    if (s->event_count > 0)
        return refuse(error, s->events[0].pointer, "derivatives are not carried across events",
                      "take the events or the sensitivities out of the description");
    if (model->quasi)
        return refuse(error, "/quasi_velocities", "initial values of quasi-velocities are not differentiated",
                      "give velocities to the coordinates instead");
    if (model->root_count > 0) return refuse_switch(model, error);
    return look_at_outputs(model, o, error);
}

/* --- columns --------------------------------------------------------------------------------------------------------- */

/* The node whose value an input is, or whose initial value. */
static graph_node node_of_input(hamel_system *s, const char *name) {
    input in = find_input(s, name);
    if (in.kind == INPUT_PARAMETER) return graph_symbol(s->graph, SYMBOL_PARAMETER, in.index);
    return in.kind == INPUT_INITIAL ? s->q[in.index] : s->v[in.index];
}

static graph_node node_of_column(hamel_system *s, const hamel_observed *o, size_t i) {
    size_t n = s->coordinate_count, output = i - 2 * n;
    if (i < n) return s->q[i];
    if (i < 2 * n) return s->v[i - n];
    return output < s->quasi_count ? s->quasi[output].definition : o->outputs[output - s->quasi_count];
}

bool model_name_sensitivities(hamel_model *model, const hamel_observed *o, const char **columns, const char **units) {
    hamel_system *s = model->system;
    const model_sensitivities *m = model->sensitivities;
    size_t at = model->state_column_count;
    for (size_t k = 0; m && k < m->count; k++) {
        graph_node by = node_of_input(s, m->names[k]);
        for (size_t i = 0; i < m->column_count; i++, at++) {
            columns[at] = arena_format(s->memory, "d(%s)/d(%s)", columns[1 + i], m->names[k]);
            units[at] = s->units ? units_text(s, graph_div(s->graph, node_of_column(s, o, i), by)) : "";
            if (!columns[at]) return false;
        }
    }
    return true;
}
