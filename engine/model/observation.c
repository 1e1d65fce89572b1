/* observation.c — output columns with their units, invariants and checks. */
#include "engine/model/model.h"
#include "engine/system/units.h"

#include <assert.h>
#include <string.h>

/* Returns the unit of a velocity column: the unit of the coordinate per second. */
static const char *rate_unit(hamel_model *model, const char *unit) {
    if (!*unit) return "";
    const char *text =
        strcmp(unit, "1") == 0 ? arena_text(&model->memory, "1/s", 3) : arena_format(&model->memory, "%s/s", unit);
    return text ? text : "";
}

static bool name_columns(hamel_model *model, const hamel_observed *o, const char **columns, const char **units) {
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
    for (size_t i = 0; i < model->observation.output_count; i++) {
        graph_node node = i < s->quasi_count ? s->quasi[i].definition : o->outputs[i - s->quasi_count];
        columns[at + 2 * n + i] = model_output_name(model, i);
        units[at + 2 * n + i] = units_text(s, node);
    }
    return model_name_sensitivities(model, o, columns, units);
}

static hamel_status index_columns(hamel_model *model, const char **columns, symbol_table *table) {
    if (symbol_table_init(table, &model->memory) != HAMEL_OK) return equations_exhausted(model->system);
    for (size_t i = 0; i < model->columns.all_count; i++) {
        hamel_status status = symbol_add(table, columns[i], strlen(columns[i]), (int32_t)i, NULL);
        if (status == HAMEL_NO_MEMORY) return equations_exhausted(model->system);
        if (status == HAMEL_OK) continue;
        size_t output = i - 1 - 2 * model->n - model->system->quasi_count; /* only names of outputs can clash */
        (void)hamel_fail(model->system->error, HAMEL_INVALID, model->system->outputs[output].pointer, 0,
                         "the column `%s` exists already", columns[i]);
        hamel_suggest(model->system->error,
                      "give the output another name; columns are t, the coordinates, their velocities and the outputs");
    }
    return model->system->error->status;
}

/* Selects the columns listed in `record`; t and the columns of the scene are always included. */
static hamel_status choose_columns(hamel_model *model, const hamel_simulation *in, const symbol_table *table) {
    bool *chosen = arena_alloc(&model->memory, model->columns.all_count, sizeof *chosen);
    model->columns.recorded = arena_alloc(&model->memory, model->columns.all_count, sizeof *model->columns.recorded);
    if (!chosen || !model->columns.recorded) return equations_exhausted(model->system);
    size_t scene = model->system->scene
                       ? 1 + 2 * model->n + model->system->quasi_count + model->system->first_scene_output
                       : model->columns.state_count;
    for (size_t i = 0; i < model->columns.all_count; i++)
        chosen[i] = !in->has_record || i == 0 || (i >= scene && i < model->columns.state_count);
    for (size_t k = 0; in->has_record && k < in->record_count; k++) {
        int32_t found = symbol_find(table, in->record[k], strlen(in->record[k]));
        if (found >= 0) {
            chosen[found] = true;
            continue;
        }
        (void)hamel_fail(model->system->error, HAMEL_INVALID, in->record_pointers[k], 0, "unknown column `%s`",
                         in->record[k]);
        const char *nearest = symbol_nearest(table, in->record[k], strlen(in->record[k]));
        if (nearest) hamel_suggest(model->system->error, "did you mean `%s`?", nearest);
    }
    model->header.column_count = 0;
    for (size_t i = 0; i < model->columns.all_count; i++)
        if (chosen[i]) model->columns.recorded[model->header.column_count++] = i;
    return model->system->error->status;
}

hamel_status model_make_header(hamel_model *model, const hamel_description *d, const hamel_observed *o) {
    assert(model->n == model->system->coordinate_count);
    hamel_system *s = model->system;
    symbol_table table;
    model->observation.output_count = s->quasi_count + s->output_count;
    model->columns.state_count = model->columns.all_count = 1 + 2 * model->n + model->observation.output_count;
    if (model->sensitivities)
        model->columns.all_count += model->sensitivities->count * model->sensitivities->column_count;
    const char **columns = arena_alloc(&model->memory, model->columns.all_count, sizeof *columns);
    const char **units = arena_alloc(&model->memory, model->columns.all_count, sizeof *units);
    if (!columns || !units || !name_columns(model, o, columns, units)) return equations_exhausted(model->system);
    if (index_columns(model, columns, &table) != HAMEL_OK || choose_columns(model, &d->simulation, &table) != HAMEL_OK)
        return model->system->error->status;
    for (size_t i = 0; i < model->header.column_count; i++) { /* in place, because recorded[i] ≥ i */
        columns[i] = columns[model->columns.recorded[i]];
        units[i] = units[model->columns.recorded[i]];
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
    return model->header.name ? HAMEL_OK : equations_exhausted(model->system);
}

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
    if ((out->has_equals && !system_number(s, &in->equals, NULL, &out->equals)) ||
        (out->has_min && !system_number(s, &in->min, NULL, &out->min)) ||
        (out->has_max && !system_number(s, &in->max, NULL, &out->max)))
        return;
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
        (void)hamel_fail(s->error, HAMEL_INVALID, in->max.pointer, 0, "max (%.9g) is less than min (%.9g)", out->max,
                         out->min);
    if (in->at != HAMEL_CHECK_TIME || !system_number(s, &in->time, NULL, &out->time)) return;
    if (out->time < model->settings.start || out->time > model->settings.stop)
        (void)hamel_fail(s->error, HAMEL_INVALID, in->time.pointer, 0,
                         "%.15g is outside the interval from start to stop", out->time);
}

hamel_status model_resolve_observed(hamel_model *model, const hamel_description *d) {
    model->observation.invariants =
        arena_alloc(&model->memory, d->invariant_count, sizeof *model->observation.invariants);
    model->observation.checks = arena_alloc(&model->memory, d->check_count, sizeof *model->observation.checks);
    if (!model->observation.invariants || !model->observation.checks) return equations_exhausted(model->system);
    for (size_t i = 0; i < d->invariant_count; i++)
        resolve_invariant(model, &d->invariants[i], &model->observation.invariants[i]);
    for (size_t i = 0; i < d->check_count; i++) resolve_check(model, &d->checks[i], &model->observation.checks[i]);
    return model->system->error->status;
}

/* Compiles the integrands. The JSON Pointers are copied, because the caller may free the description. */
static hamel_status compile_integrands(hamel_model *model) {
    hamel_system *s = model->system;
    model_observation *to = &model->observation;
    if (s->integral_count == 0) return HAMEL_OK;
    to->integral_count = s->integral_count;
    to->integral_pointers = arena_alloc(&model->memory, s->integral_count, sizeof *to->integral_pointers);
    if (!to->integral_pointers) return equations_exhausted(s);
    for (size_t i = 0; i < s->integral_count; i++) {
        const char *pointer = s->integral_pointers[i];
        to->integral_pointers[i] = arena_text(&model->memory, pointer, strlen(pointer));
        if (!to->integral_pointers[i]) return equations_exhausted(s);
    }
    return model_compile(model, &to->integrands, s->integrands, s->integral_count);
}

static bool reads_free(const program *p) {
    return p && (program_depends(p) & GRAPH_DEPENDS(SYMBOL_FREE)) != 0;
}

hamel_status model_compile_observed(hamel_model *model, const hamel_equations *e, const hamel_observed *o) {
    hamel_system *s = model->system;
    const hamel_description *d = s->description;
    model->observation.output_count = s->quasi_count + s->output_count;
    model->observation.invariant_count = d->invariant_count;
    model->observation.check_count = d->check_count;
    model->observation.count = model->observation.output_count + d->invariant_count + d->check_count + 1;
    graph_node *nodes = arena_alloc(&model->memory, model->observation.count, sizeof *nodes), *at = nodes;
    const char **pointers = model->observation.pointers =
        arena_alloc(&model->memory, model->observation.count, sizeof *pointers);
    if (!nodes || !pointers) return equations_exhausted(model->system);
    for (size_t i = 0; i < s->quasi_count; i++) *at++ = s->quasi[i].definition;
    at = model_append_nodes(at, o->outputs, s->output_count, 0);
    at = model_append_nodes(at, o->invariants, d->invariant_count, 0);
    at = model_append_nodes(at, o->checks, d->check_count, 0);
    *at = e->jacobi;
    assert(at - nodes == (ptrdiff_t)model->observation.count - 1);
    size_t k = 0;
    for (size_t i = 0; i < s->quasi_count; i++) pointers[k++] = s->quasi[i].pointer;
    for (size_t i = 0; i < s->output_count; i++) pointers[k++] = s->outputs[i].pointer;
    for (size_t i = 0; i < d->invariant_count; i++) pointers[k++] = d->invariants[i].expression.pointer;
    for (size_t i = 0; i < d->check_count; i++) pointers[k++] = d->checks[i].expression.pointer;
    pointers[k] = "";
    for (k = 0; k < model->observation.count; k++) { /* copies, because the caller may free the description */
        pointers[k] = arena_text(&model->memory, pointers[k] ? pointers[k] : "", pointers[k] ? strlen(pointers[k]) : 0);
        if (!pointers[k]) return equations_exhausted(model->system);
    }
    hamel_status status = model_compile(model, &model->observation.program, nodes, model->observation.count);
    if (status == HAMEL_OK) status = compile_integrands(model);
    if (status == HAMEL_OK)
        model->observation.needs_free =
            reads_free(model->observation.program) || reads_free(model->observation.integrands);
    return status;
}
