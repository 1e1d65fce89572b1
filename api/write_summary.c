/* write_summary.c — header and summary of a run as JSON (format section 11).
 *
 * The builders below take a parent that may be NULL after an earlier failure and then do nothing; `failed` is looked at
 * once, at the end. */
#include "api/simulate.h"

enum { NAME_MAX_BYTES = 16 * 1024 * 1024 };

typedef struct builder {
    bool failed;
} builder;

static cJSON *kept(builder *b, cJSON *item) {
    if (item == NULL) b->failed = true;
    return item;
}

static void text(builder *b, cJSON *object, const char *key, const char *value) {
    if (b->failed) return;
    kept(b, value != NULL ? cJSON_AddStringToObject(object, key, value) : cJSON_AddNullToObject(object, key));
}

static void number(builder *b, cJSON *object, const char *key, double value) {
    if (!b->failed) kept(b, cJSON_AddNumberToObject(object, key, value));
}

static void truth(builder *b, cJSON *object, const char *key, bool value) {
    if (!b->failed) kept(b, cJSON_AddBoolToObject(object, key, value));
}

static cJSON *object_in(builder *b, cJSON *parent, const char *key) {
    return b->failed ? NULL : kept(b, cJSON_AddObjectToObject(parent, key));
}

static cJSON *list_in(builder *b, cJSON *parent, const char *key) {
    return b->failed ? NULL : kept(b, cJSON_AddArrayToObject(parent, key));
}

/* Appends `item`, which may be NULL, to the list, and returns it while it is part of the tree. */
static cJSON *append(builder *b, cJSON *list, cJSON *item) {
    if (!b->failed && item != NULL && cJSON_AddItemToArray(list, item)) return item;
    cJSON_Delete(item);
    b->failed = true;
    return NULL;
}

static void append_texts(builder *b, cJSON *list, const char *const *texts, size_t count) {
    for (size_t k = 0; k < count && !b->failed; k++) append(b, list, cJSON_CreateString(texts[k]));
}

static void add_residuals(builder *b, cJSON *summary, const hamel_summary *s) {
    cJSON *all = object_in(b, summary, "max_residual");
    for (size_t k = 0; k < s->residual_count; k++) {
        const hamel_residual *residual = &s->residuals[k];
        cJSON *one = object_in(b, all, residual->name);
        if (residual->holonomic) number(b, one, "position", residual->position);
        number(b, one, "velocity", residual->velocity);
    }
}

/* One number where all coordinates share it, else a list in the coordinates' order. */
static void add_atol(builder *b, cJSON *manifest, const hamel_summary *s) {
    if (s->atol == NULL || s->coordinate_count == 0) return;
    bool same = true;
    for (size_t k = 1; k < s->coordinate_count; k++) {
        same = same && s->atol[k] == s->atol[0];
    }
    if (same) {
        number(b, manifest, "atol", s->atol[0]);
        return;
    }
    cJSON *list = list_in(b, manifest, "atol");
    for (size_t k = 0; k < s->coordinate_count && !b->failed; k++) append(b, list, cJSON_CreateNumber(s->atol[k]));
}

/* What is needed to run it again to the same bytes. */
static void add_manifest(builder *b, cJSON *summary, const hamel_summary *s) {
    cJSON *manifest = object_in(b, summary, "manifest");
    text(b, manifest, "system", s->description_hash);
    text(b, manifest, "version", HAMEL_VERSION);
    text(b, manifest, "method", s->method);
    text(b, manifest, "formulation", s->formulation);
    number(b, manifest, "start", s->start);
    number(b, manifest, "stop", s->stop);
    number(b, manifest, "rtol", s->rtol);
    add_atol(b, manifest, s);
    number(b, manifest, "coordinates", (double)s->coordinate_count);
    number(b, manifest, "degrees_of_freedom", s->degrees_of_freedom);
}

static void add_invariants(builder *b, cJSON *summary, const hamel_summary *s) {
    cJSON *list = list_in(b, summary, "invariants");
    for (size_t k = 0; k < s->invariant_count && !b->failed; k++) {
        const hamel_invariant_result *r = &s->invariants[k];
        cJSON *one = append(b, list, cJSON_CreateObject());
        text(b, one, "name", r->name);
        number(b, one, "initial", r->initial);
        number(b, one, "max_drift", r->max_drift);
        number(b, one, "max_relative_drift", r->max_relative_drift);
        truth(b, one, "passed", r->passed || !r->has_tolerance);
    }
}

static void add_checks(builder *b, cJSON *summary, const hamel_summary *s) {
    cJSON *list = list_in(b, summary, "checks");
    for (size_t k = 0; k < s->check_count && !b->failed; k++) {
        const hamel_check_result *r = &s->checks[k];
        cJSON *one = append(b, list, cJSON_CreateObject());
        text(b, one, "name", r->name);
        if (r->reached) {
            number(b, one, "value", r->value);
        } else {
            text(b, one, "value", NULL);
        }
        truth(b, one, "reached", r->reached);
        truth(b, one, "passed", r->passed);
    }
}

/* The column of an initial value: the coordinate's name, with `'` for its velocity. */
static void add_column_name(builder *b, cJSON *object, const hamel_initial_value *v) {
    text_buffer name;
    text_buffer_init(&name, NAME_MAX_BYTES);
    text_buffer_puts(&name, v->name);
    if (v->velocity) text_buffer_puts(&name, "'");
    if (name.failed || name.bytes == NULL) {
        b->failed = true;
    } else {
        text(b, object, "name", name.bytes);
    }
    text_buffer_free(&name);
}

static void add_initialization(builder *b, cJSON *summary, const hamel_summary *s) {
    cJSON *initialization = object_in(b, summary, "initialization");
    number(b, initialization, "max_residual", s->initial_residual);
    cJSON *list = list_in(b, initialization, "changed");
    for (size_t k = 0; k < s->initial_change_count && !b->failed; k++) {
        const hamel_initial_value *v = &s->initial_changes[k];
        cJSON *one = append(b, list, cJSON_CreateObject());
        add_column_name(b, one, v);
        number(b, one, "given", v->given);
        number(b, one, "used", v->used);
    }
}

static void add_error_estimate(builder *b, cJSON *summary, const hamel_summary *s) {
    if (s->error_estimate == NULL || s->columns == NULL) return;
    cJSON *estimate = object_in(b, summary, "error_estimate");
    for (size_t k = 0; k < s->column_count; k++) number(b, estimate, s->columns[k], s->error_estimate[k]);
}

static void add_counters(builder *b, cJSON *summary, const hamel_summary *s) {
    text(b, summary, "status", hamel_outcome_name(s->outcome));
    number(b, summary, "t", s->t);
    number(b, summary, "rows", s->rows);
    number(b, summary, "steps", s->steps);
    number(b, summary, "rhs_evaluations", s->rhs_evaluations);
    number(b, summary, "jacobian_evaluations", s->jacobian_evaluations);
    number(b, summary, "projections", s->projections);
    number(b, summary, "derive_seconds", s->derive_seconds);
    number(b, summary, "wall_seconds", s->wall_seconds);
}

static cJSON *finished(builder *b, cJSON *tree) {
    if (!b->failed) return tree;
    cJSON_Delete(tree);
    return NULL;
}

cJSON *api_summary_json(const hamel_summary *s) {
    builder b = {0};
    cJSON *summary = kept(&b, cJSON_CreateObject());
    add_counters(&b, summary, s);
    truth(&b, summary, "passed", s->passed);
    add_residuals(&b, summary, s);
    number(&b, summary, "max_work_balance_error", s->max_work_balance_error);
    number(&b, summary, "rank_changes", s->rank_changes);
    add_error_estimate(&b, summary, s);
    add_invariants(&b, summary, s);
    add_checks(&b, summary, s);
    add_initialization(&b, summary, s);
    append_texts(&b, list_in(&b, summary, "redundant"), s->redundant, s->redundant_count);
    append_texts(&b, list_in(&b, summary, "warnings"), (const char *const *)s->warnings, s->warning_count);
    add_manifest(&b, summary, s);
    return finished(&b, summary);
}

cJSON *api_header_json(const hamel_header *h) {
    builder b = {0};
    cJSON *header = kept(&b, cJSON_CreateObject());
    append_texts(&b, list_in(&b, header, "columns"), h->columns, h->column_count);
    append_texts(&b, list_in(&b, header, "units"), h->units, h->column_count);
    text(&b, header, "name", h->name);
    if (h->degrees_of_freedom >= 0) {
        number(&b, header, "degrees_of_freedom", h->degrees_of_freedom);
    } else {
        text(&b, header, "degrees_of_freedom", NULL);
    }
    text(&b, header, "formulation", h->formulation);
    text(&b, header, "version", HAMEL_VERSION);
    return finished(&b, header);
}
