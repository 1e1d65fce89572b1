/* sensitivities.c — the inputs of sensitivities, and derivatives of parameters and initial values with respect to
 * inputs.
 *
 * Derivatives are taken at fixed start, stop and output times and at fixed tolerances. */
#include "engine/model/inputs.h"
#include "engine/model/model.h"
#include "engine/system/binder.h"
#include "engine/system/units.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char WHERE[] = "/simulation/sensitivities";

/* --- inputs -------------------------------------------------------------------------------------------------------- */

/* Returns how many of the first `first` quasi-velocities have an initial value. */
static size_t count_quasi(const hamel_system *s, size_t first) {
    size_t count = 0;
    for (size_t i = 0; i < first; i++) count += s->quasi[i].initial_node >= 0;
    return count;
}

/* Adds an error if the initial velocities do not depend on the input. */
static void refuse_unused(hamel_system *s, model_input in, const char *name, const char *pointer) {
    if (in.kind == INPUT_QUASI && s->quasi[in.index].initial_node < 0) {
        (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "the quasi-velocity `%s` has no initial value",
                         s->quasi[in.index].name);
        hamel_suggest(s->error, "give the quasi-velocity an `initial`");
    }
    if (in.kind == INPUT_VELOCITY && count_quasi(s, s->quasi_count) > 0 && !s->coordinates[in.index].velocity_given) {
        (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0,
                         "`%s` is determined by the initial values of quasi-velocities", name);
        hamel_suggest(s->error, "name the `.initial` of a quasi-velocity, or give the coordinate a `velocity`");
    }
}

static void refuse_unknown(hamel_system *s, const char *name, const char *pointer) {
    input_kind kind;
    const char *coordinate = inputs_base_name(s, name, &kind), *nearest;
    (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "unknown parameter or initial value `%s`", name);
    if (coordinate && (nearest = system_nearest_coordinate(s, coordinate)))
        hamel_suggest(s->error, "did you mean `%s%s`?", nearest, strrchr(name, '.'));
    else if (system_coordinate_index(s, name) >= 0)
        hamel_suggest(s->error, "did you mean `%s.initial` or `%s.velocity`?", name, name);
    else if ((nearest = nearest_name(s->parameter_names, s->parameter_count, name, strlen(name))))
        hamel_suggest(s->error, "did you mean `%s`?", nearest);
    else
        hamel_suggest(s->error, "name a parameter, COORDINATE.initial or COORDINATE.velocity");
}

static hamel_status find_inputs(hamel_system *s, const hamel_simulation *in, model_input *inputs) {
    symbol_table seen;
    if (symbol_table_init(&seen, s->memory) != HAMEL_OK) return equations_exhausted(s);
    for (size_t k = 0; k < in->sensitivity_count; k++) {
        const char *name = in->sensitivities[k], *pointer = in->sensitivity_pointers[k];
        if (!name) return HAMEL_INVALID; /* missing name, already reported by the reader */
        inputs[k] = inputs_find(s, name);
        if (inputs[k].kind == INPUT_NONE) {
            refuse_unknown(s, name, pointer);
            continue;
        }
        refuse_unused(s, inputs[k], name, pointer);
        hamel_status status = symbol_add(&seen, name, strlen(name), (int32_t)k, NULL);
        if (status == HAMEL_NO_MEMORY) return equations_exhausted(s);
        if (status != HAMEL_OK)
            (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "`%s` is in the list twice", name);
    }
    return s->error->status;
}

/* --- dependent values ------------------------------------------------------------------------------------------------ */

static bool number_of(hamel_system *s, graph_node node, const char *name, const char *what, double *value) {
    if (binder_number(s, node, value) && isfinite(*value)) return true;
    (void)hamel_fail(s->error, HAMEL_NOT_FINITE, WHERE, 0, "the derivative of `%s` with respect to `%s` is not finite",
                     what, name);
    return false;
}

/* Adds an error if a parameter that depends on the input is structural (system.h). */
static bool is_continuous(hamel_system *s, const char *name, size_t parameter) {
    if (!s->parameter_structural[parameter]) return true;
    (void)hamel_fail(s->error, HAMEL_INVALID, WHERE, 0,
                     "the derivative with respect to `%s` does not exist: `%s` determines the range of a family, an "
                     "index or a table",
                     name, s->parameter_names[parameter]);
    return false;
}

/* Growing lists of the parameters that depend on each input. The lists of all inputs are stored one after another. */
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

/* Differentiates parameters and given initial values with respect to the k-th input. */
static bool follow_input(hamel_system *s, model_sensitivities *m, size_t k, model_input in, graph_node *rates,
                         moved_parameters *moved) {
    const char *name = m->names[k];
    double *q0 = m->q0 + k * s->coordinate_count, *v0 = m->v0 + k * s->coordinate_count, rate;
    double *u0 = m->u0 + k * count_quasi(s, s->quasi_count);
    if (in.kind == INPUT_INITIAL) q0[in.index] = 1;
    if (in.kind == INPUT_VELOCITY) v0[in.index] = 1;
    if (in.kind == INPUT_QUASI) u0[count_quasi(s, (size_t)in.index)] = 1;
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
    for (size_t i = 0; i < s->quasi_count; i++) {
        const system_quasi_velocity *u = &s->quasi[i];
        if (u->initial_node >= 0 && !number_of(s, inputs_along(s, u->initial_node, rates), name, u->name, u0++))
            return false;
    }
    return true;
}

static double size_of_input(const hamel_system *s, model_input in) {
    double value = in.kind == INPUT_PARAMETER ? s->parameter_values[in.index]
                   : in.kind == INPUT_INITIAL ? s->coordinates[in.index].initial
                   : in.kind == INPUT_QUASI   ? s->quasi[in.index].initial
                                              : s->coordinates[in.index].velocity;
    return value != 0 ? fabs(value) : 1;
}

/* Allocates the arrays for `count` inputs. On failure adds an error and returns NULL. */
static model_sensitivities *allocate_sensitivities(hamel_system *s, size_t count, size_t limit) {
    model_sensitivities *m = arena_alloc(s->memory, 1, sizeof *m);
    size_t n = s->coordinate_count, outputs = s->scene ? s->first_scene_output : s->output_count;
    if (!m) return (void)equations_exhausted(s), NULL;
    *m = (model_sensitivities){.count = count, .output_count = s->quasi_count + outputs};
    m->column_count = 2 * n + m->output_count;
    if (limit > 0 && m->column_count > limit / count) {
        (void)hamel_fail(s->error, HAMEL_LIMIT, WHERE, 0,
                         "%zu inputs make %.0f columns of derivatives, more than the limit of %zu", count,
                         (double)count * (double)m->column_count, limit);
        return NULL;
    }
    m->names = arena_alloc(s->memory, count, sizeof *m->names);
    m->size = arena_doubles(s->memory, count);
    m->first = arena_alloc(s->memory, count + 1, sizeof *m->first);
    m->q0 = arena_doubles(s->memory, count * n);
    m->v0 = arena_doubles(s->memory, count * n);
    m->u0 = arena_doubles(s->memory, count * s->quasi_count);
    return s->memory->failed ? ((void)equations_exhausted(s), NULL) : m;
}

hamel_status model_find_sensitivities(hamel_model *model, const hamel_simulation *in) {
    hamel_system *s = model->system;
    size_t count = in->sensitivity_count;
    if (count == 0) return HAMEL_OK;
    model_input *inputs = arena_alloc(s->memory, count, sizeof *inputs);
    graph_node *rates = arena_alloc(s->memory, s->parameter_count, sizeof *rates);
    if (!inputs || !rates) return equations_exhausted(s);
    if (find_inputs(s, in, inputs) != HAMEL_OK) return s->error->status;
    model_sensitivities *m = allocate_sensitivities(s, count, model->limits.outputs);
    if (!m) return s->error->status;
    moved_parameters moved = {0};
    for (size_t k = 0; k < count; k++) {
        if (system_interrupted(s)) return s->error->status;
        m->names[k] = arena_text(s->memory, in->sensitivities[k], strlen(in->sensitivities[k]));
        if (!m->names[k]) return equations_exhausted(s);
        m->size[k] = size_of_input(s, inputs[k]);
        m->first[k] = moved.count;
        if (!follow_input(s, m, k, inputs[k], rates, &moved)) return s->error->status;
    }
    m->first[count] = moved.count;
    assert(moved.count <= moved.parameter_capacity && moved.count <= moved.rate_capacity);
    model->sensitivities = m;
    return HAMEL_OK;
}

/* --- unsupported models ---------------------------------------------------------------------------------------------- */

static hamel_status refuse_sensitivities(const hamel_model *model, const char *pointer, const char *why,
                                         const char *hint) {
    hamel_error *error = model->system->error;
    (void)hamel_fail(error, HAMEL_INVALID, pointer, 0, "sensitivities are not available: %s", why);
    hamel_suggest(error, "%s", hint);
    return HAMEL_INVALID;
}

static bool has_two_values(const system_nonsmooth *w) {
    return !w->held && w->jumps && w->kind != NONSMOOTH_SLIP;
}

/* Rejects operators that jump and depend on unknowns: their values at the jump are not unique. */
static hamel_status refuse_jump(const hamel_model *model) {
    hamel_system *s = model->system;
    text_buffer text;
    size_t i = 0;
    text_buffer_init(&text, 300);
    while (i < s->nonsmooth_count && !has_two_values(&s->nonsmooth[i])) i++;
    if (i == s->nonsmooth_count) return HAMEL_OK;
    graph_print(s->graph, s->nonsmooth[i].written, system_name_symbol, s, &text);
    (void)hamel_fail(s->error, HAMEL_INVALID, WHERE, 0,
                     "sensitivities are not available: forces jump where `%s`, which depends on these forces, passes "
                     "a bound",
                     text.bytes ? text.bytes : "");
    hamel_suggest(s->error, "avoid sign, if, floor and mod of multipliers and reactions");
    text_buffer_free(&text);
    return HAMEL_INVALID;
}

static bool depends(const program *p, unsigned kinds) {
    return p && (program_depends(p) & kinds);
}

/* Rejects event functions and assignments that have no derivatives. */
static hamel_status look_at_events(const hamel_model *model) {
    model_sensitivities *m = model->sensitivities;
    const unsigned multipliers = GRAPH_DEPENDS(SYMBOL_MULTIPLIER);
    if (depends(model->events.roots, GRAPH_DEPENDS(SYMBOL_FREE)) ||
        depends(model->events.jumps, GRAPH_DEPENDS(SYMBOL_FREE)))
        return refuse_sensitivities(model, "/events", "derivatives of gauss() and gauss_nonideal() are not supported",
                                    "use another function for the event");
    m->unique_only = m->unique_only || depends(model->events.roots, multipliers) ||
                     depends(model->events.jumps, multipliers) || model->friction.count > 0 ||
                     depends(model->dynamics.nonideal, multipliers);
    return refuse_jump(model);
}

/* If ideal reactions are needed, rejects models whose forces contain multipliers. In such a model, the derivatives of
 * reactions and multipliers do not follow from one linear system. */
static hamel_status look_at_reactions(const hamel_model *model) {
    const unsigned parts = GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_NONIDEAL);
    bool asked = depends(model->observation.program, parts) || depends(model->events.roots, parts) ||
                 depends(model->events.jumps, parts);
    model->sensitivities->needs_ideal = model->dynamics.nonideal || (model->friction.count > 0 && asked);
    if (!model->sensitivities->needs_ideal || model->dynamics.W.count == 0) return HAMEL_OK;
    return refuse_sensitivities(
        model, "/constraints",
        "forces contain multipliers, and the ideal reactions of nonideal constraints are requested",
        "remove lambda() and reaction() from the forces, or the nonideal constraints from the description");
}

static hamel_status look_at_integrals(const hamel_model *model) {
    if (model->observation.integral_count == 0) return HAMEL_OK;
    return refuse_sensitivities(model, model->observation.integral_pointers[0],
                                "derivatives of integrals over time are not supported", "remove the integral");
}

static hamel_status look_at_outputs(const hamel_model *model, const hamel_observed *o) {
    const hamel_system *s = model->system;
    model_sensitivities *m = model->sensitivities;
    for (size_t i = 0; i + s->quasi_count < m->output_count; i++) {
        unsigned needs = graph_depends(s->graph, o->outputs[i]);
        if (needs & GRAPH_DEPENDS(SYMBOL_FREE))
            return refuse_sensitivities(model, s->outputs[i].pointer,
                                        "derivatives of gauss() and gauss_nonideal() are not supported",
                                        "remove this output");
        if (needs & GRAPH_DEPENDS(SYMBOL_JERK))
            return refuse_sensitivities(model, s->outputs[i].pointer,
                                        "derivatives of rates of accelerations are not supported",
                                        "remove this output");
        if (needs & GRAPH_DEPENDS(SYMBOL_MULTIPLIER)) m->unique_only = true;
    }
    return HAMEL_OK;
}

hamel_status model_admit_sensitivities(const hamel_model *model, const hamel_observed *o) {
    if (!model->sensitivities) return HAMEL_OK;
    if (model->settings.method == HAMEL_METHOD_ERK)
        return refuse_sensitivities(model, "/simulation/method", "`erk` cannot integrate sensitivities",
                                    "use auto, adams or bdf");
    if (model->formulation->variables != VARIABLES_VELOCITIES)
        return refuse_sensitivities(model, "/simulation/formulation",
                                    "this formulation integrates variables other than velocities",
                                    "use a formulation other than hamilton or routh");
    hamel_status status = look_at_reactions(model);
    if (status == HAMEL_OK) status = look_at_events(model);
    if (status == HAMEL_OK) status = look_at_integrals(model);
    return status == HAMEL_OK ? look_at_outputs(model, o) : status;
}

/* --- columns --------------------------------------------------------------------------------------------------------- */

/* Returns the node of the parameter that is the input, or of the quantity whose initial value is the input. */
static graph_node node_of_input(hamel_system *s, const char *name) {
    model_input in = inputs_find(s, name);
    if (in.kind == INPUT_PARAMETER) return graph_symbol(s->graph, SYMBOL_PARAMETER, in.index);
    if (in.kind == INPUT_QUASI) return s->quasi[in.index].definition;
    return in.kind == INPUT_INITIAL ? s->q[in.index] : s->v[in.index];
}

static graph_node node_of_column(hamel_system *s, const hamel_observed *o, size_t i) {
    size_t n = s->coordinate_count, output = i - 2 * n;
    if (i < n) return s->q[i];
    if (i < 2 * n) return s->v[i - n];
    return output < s->quasi_count ? s->quasi[output].definition : o->outputs[output - s->quasi_count];
}

bool model_name_sensitivities(hamel_model *model, const hamel_observed *o, const char **columns, const char **units) {
    assert(!model->sensitivities || model->columns.all_count > model->columns.state_count);
    hamel_system *s = model->system;
    const model_sensitivities *m = model->sensitivities;
    size_t at = model->columns.state_count;
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
