/* ensemble.c — see ensemble.h. */
#include "api/ensemble.h"

#include "api/describe.h"
#include "api/json_text.h"
#include "api/read_system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MOST = 1000000, TEXT_MOST = 1024 * 1024 };

/* ---- the model ----------------------------------------------------------------------------------------------------- */

/* The model of the description with these overrides (NULL: as it stands), and what is collected. */
static hamel_status derive(const api_ensemble *e, const cJSON *assignments, hamel_model **model, hamel_error *error) {
    api_description d = {0};
    cJSON *tree = cJSON_Duplicate(e->sweep.tree, 1);
    *model = NULL;
    if (!tree) return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory could not be allocated");
    hamel_status status = sweep_apply(tree, &e->sweep.sweep, assignments, error);
    if (status == HAMEL_OK) {
        status = api_describe(&d, tree, NULL, 0, &e->limits, NULL, error);
        if (status == HAMEL_OK) status = hamel_model_create(model, &d.description, &e->limits.engine, NULL, error);
        if (status == HAMEL_OK) hamel_model_translate(*model, e->limits.jit);
        api_description_free(&d);
    }
    cJSON_Delete(tree);
    return status;
}

/* Whether all members can be told by numbers. */
static bool has_numbers(const sweep *s) {
    for (size_t k = 0; k < s->axis_count; k++) {
        const sweep_axis *axis = &s->axes[k];
        for (size_t i = 0; axis->listed && i < axis->count; i++) {
            char *end;
            (void)strtod(axis->listed[i], &end);
            if (*end != '\0') return false;
        }
    }
    return true;
}

static hamel_status vary(api_ensemble *e, hamel_error *error) {
    const sweep *s = &e->sweep.sweep;
    hamel_error reason = {0};
    if (!has_numbers(s)) return HAMEL_OK;
    hamel_status status = hamel_variation_create(&e->variation, e->model, e->inputs, s->axis_count, &reason);
    hamel_error_clear(&reason);
    if (status != HAMEL_NO_MEMORY) return HAMEL_OK; /* unfit targets are told by the members' own models */
    return hamel_fail(error, status, "", 0, "memory could not be allocated");
}

static hamel_status name_columns(api_ensemble *e, hamel_error *error) {
    const hamel_header *header = hamel_model_header(e->model);
    const sweep *s = &e->sweep.sweep;
    size_t unknown;
    e->inputs = arena_alloc(&e->sweep.memory, s->axis_count, sizeof *e->inputs);
    if (!e->inputs) return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory could not be allocated");
    for (size_t k = 0; k < s->axis_count; k++) e->inputs[k] = s->axes[k].target;
    collector *c = collector_open(s, header->columns, header->column_count, &unknown);
    if (!c && unknown < s->collect_count) {
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/sweep/collect/%zu/name", unknown);
        return hamel_fail(error, HAMEL_INVALID, pointer, 0, "the result has no column `%s`", s->collect[unknown].name);
    }
    size_t count = c ? collector_count(c) : 0;
    e->collected = calloc(count + 1, sizeof *e->collected);
    for (; c && e->collected && e->collected_count < count; e->collected_count++) {
        e->collected[e->collected_count] = strdup(collector_name(c, e->collected_count));
        if (!e->collected[e->collected_count]) break;
    }
    collector_close(c);
    if (c && e->collected && e->collected_count == count) return HAMEL_OK;
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory could not be allocated");
}

static hamel_status prepare(api_ensemble *e, hamel_error *error) {
    const sweep *s = &e->sweep.sweep;
    const char *hash = api_hash(e->sweep.tree, &e->sweep.memory);
    if (!hash) return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory could not be allocated");
    snprintf(e->hash, sizeof e->hash, "%s", hash);
    e->last_rows = true;
    for (size_t k = 0; k < s->collect_count; k++) e->last_rows = e->last_rows && s->collect[k].reduce == REDUCE_FINAL;
    hamel_status status = derive(e, NULL, &e->model, error);
    if (status == HAMEL_OK) status = name_columns(e, error);
    return status == HAMEL_OK ? vary(e, error) : status;
}

/* Pointers to added outputs lead to where their expressions are written. */
static void point_to_collect(const sweep *s, hamel_error *error) {
    char place[64];
    for (size_t k = 0; k < error->count; k++) {
        if (!sweep_collect_place(s, error->faults[k].pointer, place, sizeof place)) continue;
        char *moved = strdup(place);
        if (!moved) continue;
        free(error->faults[k].pointer);
        error->faults[k].pointer = moved;
    }
}

bool api_ensemble_open(api_ensemble *e, const char *body, size_t length, const char *const *assignments,
                       size_t assignment_count, const char *file, api_failure *failure) {
    *e = (api_ensemble){.limits = api_limits_default()};
    if (!api_sweep_open(&e->sweep, body, length, assignments, assignment_count, &e->limits, MEMBERS_MOST, file,
                        failure))
        return false;
    hamel_error error = {0};
    hamel_status status = prepare(e, &error);
    if (status != HAMEL_OK) {
        api_ensure_fault(&error, status);
        point_to_collect(&e->sweep.sweep, &error);
        api_failure_of_error(failure, status, &error, file);
        api_ensemble_close(e);
    }
    hamel_error_clear(&error);
    return status == HAMEL_OK;
}

void api_ensemble_close(api_ensemble *e) {
    hamel_variation_free(e->variation);
    hamel_model_free(e->model);
    for (size_t k = 0; k < e->collected_count; k++) free(e->collected[k]);
    free(e->collected);
    api_sweep_close(&e->sweep);
    *e = (api_ensemble){0};
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

static member_columns columns_of(const api_ensemble *e) {
    return (member_columns){.inputs = e->inputs,
                            .collected = (const char *const *)e->collected,
                            .input_count = e->sweep.sweep.axis_count,
                            .collected_count = e->collected_count};
}

void api_ensemble_begin(const api_ensemble *e, table_form form, text_buffer *out) {
    member_columns columns = columns_of(e);
    member_table_begin(&columns, form, hamel_model_header(e->model)->name, out);
}

void api_ensemble_end(const api_member_counts *counts, table_form form, text_buffer *out) {
    if (form == TABLE_CSV) return;
    text_buffer_puts(out, "{\"summary\":{\"counts\":{");
    for (size_t k = 0; k <= HAMEL_FAILED; k++)
        text_buffer_printf(out, "%s\"%s\":%zu", k ? "," : "", hamel_outcome_name((hamel_outcome)k),
                           counts->outcomes[k]);
    text_buffer_puts(out, "}}}\n");
}

/* ---- members ------------------------------------------------------------------------------------------------------- */

/* What is known of a member that has been run. */
typedef struct member_result {
    collector *collector; /* NULL: it has not come so far */
    hamel_outcome outcome;
    char *problem; /* or NULL */
} member_result;

typedef struct block {
    const api_ensemble *ensemble;
    member_result *results; /* count */
    size_t first, count;
    bool no_memory;
} block;

static bool on_begin(void *context, size_t member) {
    const block *b = context;
    collector_reset(b->results[member].collector);
    return true;
}

static bool on_row(void *context, size_t member, const double *values, size_t count) {
    const block *b = context;
    (void)count;
    collector_row(b->results[member].collector, values);
    return true;
}

/* The first fault on one line. */
static char *problem_of(const hamel_error *error) {
    text_buffer text;
    text_buffer_init(&text, TEXT_MOST);
    const hamel_fault *f = error && error->count > 0 ? &error->faults[0] : NULL;
    if (f && f->pointer[0]) text_buffer_printf(&text, "%s: ", f->pointer);
    text_buffer_puts(&text, f ? f->message : "memory could not be allocated");
    return text_buffer_take(&text, NULL);
}

static bool on_end(void *context, size_t member, const hamel_member_end *end) {
    block *b = context;
    member_result *r = &b->results[member];
    r->outcome = end->outcome;
    if (end->outcome == HAMEL_COMPLETED || end->outcome == HAMEL_TERMINATED) return true;
    r->problem = end->reason ? strdup(end->reason) : problem_of(end->error);
    b->no_memory = !r->problem;
    return !b->no_memory;
}

static hamel_status run_shared(block *b, hamel_error *error) {
    const api_ensemble *e = b->ensemble;
    const hamel_header *header = hamel_model_header(e->model);
    const sweep *s = &e->sweep.sweep;
    size_t unknown;
    double *values = calloc(b->count * s->axis_count + 1, sizeof *values);
    b->no_memory = !values;
    for (size_t i = 0; i < b->count && !b->no_memory; i++) {
        b->results[i].collector = collector_open(s, header->columns, header->column_count, &unknown);
        b->no_memory = !b->results[i].collector;
        for (size_t k = 0; k < s->axis_count; k++)
            (void)sweep_number(s, k, b->first + i, &values[i * s->axis_count + k]);
    }
    hamel_ensemble_options options = {.last_rows = e->last_rows};
    hamel_ensemble_sink sink = {b, on_begin, on_row, on_end};
    hamel_status status = HAMEL_NO_MEMORY;
    if (!b->no_memory) status = hamel_ensemble_run(e->variation, &options, b->count, values, &sink, error);
    free(values);
    return status;
}

static bool on_own_row(void *context, const double *values, size_t count) {
    (void)count;
    collector_row(context, values);
    return true;
}

/* A member with a model of its own: `model` outlives the collector, which borrows the names of its columns. */
static hamel_status run_own(block *b, size_t i, hamel_model *model, hamel_error *error) {
    const hamel_header *header = hamel_model_header(model);
    member_result *r = &b->results[i];
    size_t unknown;
    r->collector = collector_open(&b->ensemble->sweep.sweep, header->columns, header->column_count, &unknown);
    if (!r->collector && unknown == b->ensemble->sweep.sweep.collect_count) return HAMEL_NO_MEMORY;
    if (!r->collector)
        return hamel_fail(error, HAMEL_INVALID, "/sweep/collect", 0, "the result has no column `%s`",
                          b->ensemble->sweep.sweep.collect[unknown].name);
    hamel_summary summary;
    hamel_sink sink = {.context = r->collector, .row = on_own_row};
    hamel_status status = hamel_run(model, NULL, &sink, &summary, error);
    r->outcome = summary.outcome;
    if (status == HAMEL_OK && summary.outcome == HAMEL_INCOMPLETE && summary.warning_count > 0)
        r->problem = strdup(summary.warnings[summary.warning_count - 1]);
    hamel_summary_free(&summary);
    return status;
}

static cJSON *assignments_of(const api_ensemble *e, size_t member) {
    text_buffer text;
    text_buffer_init(&text, TEXT_MOST);
    cJSON *list = sweep_assignments(&e->sweep.sweep, member, &text) ? cJSON_Parse(text.bytes) : NULL;
    text_buffer_free(&text);
    return list;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

/* Of a run that came to its end; what others have collected until then depends on which rows they gave. */
static double collected(const member_result *r, const char *name, size_t guess) {
    bool whole = r->outcome == HAMEL_COMPLETED || r->outcome == HAMEL_TERMINATED;
    if (!r->collector || !whole) return (double)NAN;
    size_t count = collector_count(r->collector);
    if (guess < count && strcmp(collector_name(r->collector, guess), name) == 0)
        return collector_value(r->collector, guess);
    for (size_t k = 0; k < count; k++) /* a model of its own may have other columns */
        if (strcmp(collector_name(r->collector, k), name) == 0) return collector_value(r->collector, k);
    return (double)NAN;
}

/* False without memory. */
static bool add_row(const block *b, size_t i, const cJSON *assignments, table_form form, text_buffer *out) {
    const api_ensemble *e = b->ensemble;
    const member_result *r = &b->results[i];
    member_columns columns = columns_of(e);
    double *values = calloc(e->collected_count + 1, sizeof *values);
    if (!values) return false;
    for (size_t k = 0; k < e->collected_count; k++) values[k] = collected(r, e->collected[k], k);
    member_cells cells = {.member = b->first + i,
                          .assignments = assignments,
                          .status = hamel_outcome_name(r->outcome),
                          .collected = values,
                          .problem = r->problem ? r->problem : ""};
    member_table_row(&columns, form, &cells, out);
    free(values);
    return true;
}

static void tell(const member_result *r, size_t member, const cJSON *assignments, api_member_told *told,
                 void *context) {
    text_buffer inputs;
    if (!r->problem || !told) return;
    text_buffer_init(&inputs, TEXT_MOST);
    member_inputs_text(assignments, &inputs);
    told(context, member, inputs.bytes ? inputs.bytes : "", r->problem);
    text_buffer_free(&inputs);
}

/* Runs what has not been run, and takes everything down. */
static hamel_status finish_member(block *b, size_t i, table_form form, text_buffer *out, api_member_counts *counts,
                                  api_member_told *told, void *context) {
    const api_ensemble *e = b->ensemble;
    member_result *r = &b->results[i];
    hamel_model *model = NULL;
    hamel_error error = {0};
    cJSON *assignments = assignments_of(e, b->first + i);
    hamel_status status = assignments ? HAMEL_OK : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK && !e->variation) {
        status = derive(e, assignments, &model, &error);
        if (status == HAMEL_OK) status = run_own(b, i, model, &error);
        if (status != HAMEL_OK) r->outcome = HAMEL_FAILED;
        if (status != HAMEL_OK && !r->problem) r->problem = problem_of(&error);
    }
    if (assignments && status != HAMEL_NO_MEMORY) status = HAMEL_OK;
    if (status == HAMEL_OK && !add_row(b, i, assignments, form, out)) status = HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) {
        tell(r, b->first + i, assignments, told, context);
        counts->outcomes[r->outcome]++;
    }
    collector_close(r->collector);
    r->collector = NULL;
    hamel_model_free(model);
    hamel_error_clear(&error);
    cJSON_Delete(assignments);
    return status;
}

hamel_status api_ensemble_run(const api_ensemble *e, size_t first, size_t count, table_form form, text_buffer *out,
                              api_member_counts *counts, api_member_told *told, void *context) {
    block b = {.ensemble = e, .first = first, .count = count, .results = calloc(count + 1, sizeof *b.results)};
    hamel_error error = {0};
    hamel_status status = b.results ? HAMEL_OK : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK && e->variation) status = run_shared(&b, &error);
    for (size_t i = 0; i < count && status == HAMEL_OK; i++)
        status = finish_member(&b, i, form, out, counts, told, context);
    for (size_t i = 0; b.results && i < count; i++) {
        collector_close(b.results[i].collector);
        free(b.results[i].problem);
    }
    free(b.results);
    hamel_error_clear(&error);
    return status == HAMEL_OK && out->failed ? HAMEL_NO_MEMORY : status;
}
