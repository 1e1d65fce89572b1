/* write_summary.c — writes header, events and summary of a run as JSON, as openapi.json describes them. */
#include "api/analyze.h"
#include "api/json/builder.h"
#include "api/json/text.h"
#include "engine/simulate/impact.h"

#include <math.h>

enum { NAME_MAX_BYTES = 16 * 1024 * 1024 };

static void add_residuals(json_builder *b, cJSON *summary, const hamel_summary *s) {
    cJSON *all = json_add_object(b, summary, "max_residual");
    for (size_t k = 0; k < s->residual_count; k++) {
        const hamel_residual *residual = &s->residuals[k];
        cJSON *one = json_add_object(b, all, residual->name);
        if (residual->holonomic) json_add_number(b, one, "position", residual->position);
        json_add_number(b, one, "velocity", residual->velocity);
    }
}

/* If all coordinates have the same tolerance, adds one number. Otherwise adds a list in the order of the
 * coordinates. */
static void add_atol(json_builder *b, cJSON *manifest, const hamel_summary *s) {
    if (s->atol == NULL || s->coordinate_count == 0) return;
    size_t same = 1;
    while (same < s->coordinate_count && s->atol[same] == s->atol[0]) same++;
    if (same == s->coordinate_count)
        json_add_number(b, manifest, "atol", s->atol[0]);
    else
        json_add_numbers(b, manifest, "atol", s->atol, s->coordinate_count);
}

/* Adds the settings that another run needs to return the same bytes. */
static void add_manifest(json_builder *b, cJSON *summary, const hamel_summary *s) {
    cJSON *manifest = json_add_object(b, summary, "manifest");
    json_add_text(b, manifest, "system", s->description_hash);
    json_add_text(b, manifest, "version", HAMEL_VERSION);
    json_add_text(b, manifest, "method", s->method);
    json_add_text(b, manifest, "formulation", s->formulation);
    json_add_number(b, manifest, "start", s->start);
    json_add_number(b, manifest, "stop", s->stop);
    json_add_number(b, manifest, "rtol", s->rtol);
    add_atol(b, manifest, s);
    json_add_number(b, manifest, "coordinates", (double)s->coordinate_count);
    json_add_number(b, manifest, "degrees_of_freedom", s->degrees_of_freedom);
}

static void add_invariants_and_checks(json_builder *b, cJSON *summary, const hamel_summary *s) {
    cJSON *list = json_add_list(b, summary, "invariants");
    for (size_t k = 0; k < s->invariant_count && !b->failed; k++) {
        const hamel_invariant_result *r = &s->invariants[k];
        cJSON *one = json_append_object(b, list);
        json_add_text(b, one, "name", r->name);
        json_add_number(b, one, "initial", r->initial);
        json_add_number(b, one, "max_drift", r->max_drift);
        json_add_number(b, one, "max_relative_drift", r->max_relative_drift);
        json_add_truth(b, one, "passed", r->passed || !r->has_tolerance);
    }
    list = json_add_list(b, summary, "checks");
    for (size_t k = 0; k < s->check_count && !b->failed; k++) {
        const hamel_check_result *r = &s->checks[k];
        cJSON *one = json_append_object(b, list);
        json_add_text(b, one, "name", r->name);
        json_add_number_or_null(b, one, "value", r->reached, r->value);
        json_add_truth(b, one, "reached", r->reached);
        json_add_truth(b, one, "passed", r->passed);
    }
}

/* Adds the column name of an initial value: the name of the coordinate, followed by `'` for a velocity. */
static void add_column_name(json_builder *b, cJSON *object, const hamel_initial_value *v) {
    text_buffer name;
    text_buffer_init(&name, NAME_MAX_BYTES);
    text_buffer_printf(&name, "%s%s", v->name, v->velocity ? "'" : "");
    b->failed |= name.failed;
    json_add_text(b, object, "name", name.bytes);
    text_buffer_free(&name);
}

static void add_initialization(json_builder *b, cJSON *summary, const hamel_summary *s) {
    cJSON *initialization = json_add_object(b, summary, "initialization");
    json_add_number(b, initialization, "max_residual", s->initial_residual);
    cJSON *list = json_add_list(b, initialization, "changed");
    for (size_t k = 0; k < s->initial_change_count && !b->failed; k++) {
        cJSON *one = json_append_object(b, list);
        add_column_name(b, one, &s->initial_changes[k]);
        json_add_number(b, one, "given", s->initial_changes[k].given);
        json_add_number(b, one, "used", s->initial_changes[k].used);
    }
}

cJSON *api_summary_json(const hamel_summary *s) {
    json_builder b = {0};
    cJSON *summary = json_kept(&b, cJSON_CreateObject());
    json_add_text(&b, summary, "status", hamel_outcome_name(s->outcome));
    json_add_number(&b, summary, "t", s->t);
    json_add_number(&b, summary, "rows", (double)s->rows);
    json_add_number(&b, summary, "events", (double)s->events);
    json_add_number(&b, summary, "switches", (double)s->branch_changes);
    json_add_number(&b, summary, "steps", (double)s->steps);
    json_add_number(&b, summary, "rhs_evaluations", (double)s->rhs_evaluations);
    json_add_number(&b, summary, "jacobian_evaluations", (double)s->jacobian_evaluations);
    json_add_number(&b, summary, "projections", (double)s->projections);
    json_add_text(&b, summary, "evaluation", s->evaluation);
    json_add_number(&b, summary, "derive_seconds", s->derive_seconds);
    json_add_number(&b, summary, "wall_seconds", s->wall_seconds);
    json_add_truth(&b, summary, "passed", s->passed);
    add_residuals(&b, summary, s);
    json_add_number(&b, summary, "max_work_balance_error", s->max_work_balance_error);
    if (isfinite(s->max_dynamics_residual))
        json_add_number(&b, summary, "max_dynamics_residual", s->max_dynamics_residual);
    json_add_number(&b, summary, "rank_changes", s->rank_changes);
    if (s->error_estimate != NULL && s->columns != NULL) {
        cJSON *estimate = json_add_object(&b, summary, "error_estimate");
        for (size_t k = 0; k < s->column_count; k++) json_add_number(&b, estimate, s->columns[k], s->error_estimate[k]);
    }
    add_invariants_and_checks(&b, summary, s);
    add_initialization(&b, summary, s);
    json_add_texts(&b, summary, "redundant", s->redundant, s->redundant_count);
    api_add_redundancy(&b, summary, s->redundancy);
    json_add_texts(&b, summary, "warnings", (const char *const *)s->warnings, s->warning_count);
    add_manifest(&b, summary, s);
    return json_finished(&b, summary);
}

static void add_values(text_buffer *out, const char *name, const double *values, size_t count) {
    text_buffer_printf(out, ",\"%s\":[", name);
    json_text_numbers(out, values, count);
    text_buffer_add(out, "]", 1);
}

void api_event_text(text_buffer *out, const hamel_event_record *event) {
    text_buffer_puts(out, "{\"name\":");
    json_text_string(out, event->name);
    text_buffer_puts(out, ",\"t\":");
    json_text_number(out, event->t);
    add_values(out, "before", event->before, event->count);
    add_values(out, "after", event->after, event->count);
    const hamel_impact *impact = event->impact;
    if (impact != NULL && impact->impulse_count == 1) {
        text_buffer_puts(out, ",\"impulse\":");
        json_text_number(out, impact->impulses[0]);
    } else if (impact != NULL && impact->impulse_count > 1) {
        add_values(out, "impulse", impact->impulses, impact->impulse_count);
    }
    if (impact != NULL) {
        text_buffer_puts(out, ",\"impact\":");
        api_impact_text(out, impact);
    }
    text_buffer_add(out, "}", 1);
}

/* Adds a list of `count` lists, each of `width` column names. */
static void add_groups(json_builder *b, cJSON *shape, const char *key, const char *const *names, size_t count,
                       size_t width) {
    cJSON *groups = json_add_list(b, shape, key);
    for (size_t k = 0; k < count; k++)
        json_append_texts(b, json_append(b, groups, cJSON_CreateArray()), names + k * width, width);
}

/* Adds the shapes, each with the names of the columns that contain its numbers. */
static void add_scene(json_builder *b, cJSON *header, const hamel_scene *scene) {
    cJSON *object = json_add_object(b, header, "scene");
    json_add_number(b, object, "dimension", scene->dimension);
    cJSON *shapes = json_add_list(b, object, "shapes");
    for (size_t k = 0; k < scene->count; k++) {
        const hamel_shape *s = &scene->shapes[k];
        cJSON *shape = json_append_object(b, shapes);
        json_add_text(b, shape, "shape", s->kind);
        json_add_text(b, shape, "name", s->name);
        add_groups(b, shape, "points", s->points, s->point_count, (size_t)scene->dimension);
        add_groups(b, shape, "axes", s->axes, s->axis_count, (size_t)scene->dimension);
        json_add_texts(b, shape, "sizes", s->sizes, s->size_count);
    }
}

cJSON *api_header_json(const hamel_header *h) {
    json_builder b = {0};
    cJSON *header = json_kept(&b, cJSON_CreateObject());
    json_add_texts(&b, header, "columns", h->columns, h->column_count);
    json_add_texts(&b, header, "units", h->units, h->column_count);
    json_add_text(&b, header, "name", h->name);
    json_add_number_or_null(&b, header, "degrees_of_freedom", h->degrees_of_freedom >= 0, h->degrees_of_freedom);
    json_add_text(&b, header, "formulation", h->formulation);
    json_add_text(&b, header, "version", HAMEL_VERSION);
    if (h->scene) add_scene(&b, header, h->scene);
    return json_finished(&b, header);
}
