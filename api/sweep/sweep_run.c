/* sweep_run.c — see sweep_run.h. */
#include "api/sweep/sweep_run.h"

#include "api/json/text.h"
#include "api/read/describe.h"
#include "api/read/read_system.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MOST = 1000000, TEXT_MOST = 1024 * 1024 };

/* --- the model ---------------------------------------------------------------------------------------------------- */

/* Derives the model of the description with the collected outputs and these overrides (NULL: without overrides). */
static hamel_status derive_model(const sweep_run *run, const cJSON *assignments, hamel_model **model,
                                 hamel_error *error) {
    cJSON *tree = cJSON_Duplicate(run->sweep.tree, 1);
    *model = NULL;
    if (!tree) return hamel_out_of_memory(error);
    hamel_status status = sweep_apply(tree, &run->sweep.sweep, assignments, error);
    if (status == HAMEL_OK) status = api_derive(model, tree, NULL, 0, &run->limits, NULL, error);
    cJSON_Delete(tree);
    return status;
}

/* Returns true if every value that the sweep lists is a number. */
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

static hamel_status vary(sweep_run *run, hamel_error *error) {
    const sweep *s = &run->sweep.sweep;
    hamel_error reason = {0};
    if (!has_numbers(s)) return HAMEL_OK;
    hamel_status status = hamel_variation_create(&run->variation, run->model, run->inputs, s->axis_count, &reason);
    hamel_error_clear(&reason);
    if (status != HAMEL_NO_MEMORY)
        return HAMEL_OK; /* if one model cannot vary the targets, each member has its own model */
    return hamel_out_of_memory(error);
}

static hamel_status name_columns(sweep_run *run, hamel_error *error) {
    const hamel_header *header = hamel_model_header(run->model);
    const sweep *s = &run->sweep.sweep;
    size_t unknown;
    run->inputs = arena_alloc(&run->sweep.memory, s->axis_count, sizeof *run->inputs);
    if (!run->inputs) return hamel_out_of_memory(error);
    for (size_t k = 0; k < s->axis_count; k++) run->inputs[k] = s->axes[k].target;
    sweep_reducer *c = sweep_reduce_open(s, header->columns, header->column_count, &unknown);
    if (!c && unknown < s->collect_count) {
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/sweep/collect/%zu/name", unknown);
        return hamel_fail(error, HAMEL_INVALID, pointer, 0, "the result has no column `%s`", s->collect[unknown].name);
    }
    size_t count = c ? sweep_reduce_count(c) : 0;
    run->collected = calloc(count + 1, sizeof *run->collected);
    for (; c && run->collected && run->collected_count < count; run->collected_count++) {
        run->collected[run->collected_count] = strdup(sweep_reduce_name(c, run->collected_count));
        if (!run->collected[run->collected_count]) break;
    }
    sweep_reduce_close(c);
    if (c && run->collected && run->collected_count == count) return HAMEL_OK;
    return hamel_out_of_memory(error);
}

static hamel_status prepare_run(sweep_run *run, hamel_error *error) {
    const sweep *s = &run->sweep.sweep;
    const char *hash = api_hash(run->sweep.tree, &run->sweep.memory);
    if (!hash) return hamel_out_of_memory(error);
    snprintf(run->hash, sizeof run->hash, "%s", hash);
    run->last_rows = true;
    for (size_t k = 0; k < s->collect_count; k++)
        run->last_rows = run->last_rows && s->collect[k].reduce == REDUCE_FINAL;
    hamel_status status = run->model ? HAMEL_OK : derive_model(run, NULL, &run->own, error);
    if (run->own) run->model = run->own;
    if (status == HAMEL_OK) status = name_columns(run, error);
    return status == HAMEL_OK ? vary(run, error) : status;
}

/* Replaces the pointers of errors in added outputs by pointers to the collected expressions in the sweep. */
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

static bool settle_run(sweep_run *run, const char *file, api_failure *failure) {
    hamel_error error = {0};
    hamel_status status = prepare_run(run, &error);
    point_to_collect(&run->sweep.sweep, &error);
    if (status != HAMEL_OK) sweep_run_close(run);
    return api_settle(failure, status, &error, file);
}

bool sweep_run_open(sweep_run *run, const char *body, size_t length, const char *const *assignments,
                    size_t assignment_count, const char *file, api_failure *failure) {
    *run = (sweep_run){.limits = api_limits_default()};
    if (!api_sweep_open(&run->sweep, body, length, assignments, assignment_count, &run->limits, MEMBERS_MOST, file,
                        failure))
        return false;
    return settle_run(run, file, failure);
}

bool sweep_run_share(sweep_run *run, api_sweep *from, const hamel_model *model, api_failure *failure) {
    *run = (sweep_run){.sweep = *from, .limits = api_limits_default(), .model = model};
    *from = (api_sweep){0};
    return settle_run(run, "request", failure);
}

void sweep_run_values(const sweep_run *run, size_t member, double *values) {
    const sweep *s = &run->sweep.sweep;
    assert(run->variation && member < s->count);
    for (size_t k = 0; k < s->axis_count; k++) (void)sweep_number(s, k, member, &values[k]); /* has_numbers is true */
}

void sweep_run_close(sweep_run *run) {
    hamel_variation_free(run->variation);
    hamel_model_free(run->own);
    for (size_t k = 0; k < run->collected_count; k++) free(run->collected[k]);
    free(run->collected);
    api_sweep_close(&run->sweep);
    *run = (sweep_run){0};
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static sweep_columns columns_of(const sweep_run *run) {
    return (sweep_columns){.inputs = run->inputs,
                           .collected = (const char *const *)run->collected,
                           .input_count = run->sweep.sweep.axis_count,
                           .collected_count = run->collected_count};
}

void sweep_run_begin(const sweep_run *run, table_form form, text_buffer *out) {
    sweep_columns columns = columns_of(run);
    sweep_table_begin(&columns, form, hamel_model_header(run->model)->name, out);
}

void sweep_counts_add(sweep_counts *to, const sweep_counts *from) {
    for (size_t k = 0; k <= HAMEL_FAILED; k++) to->outcomes[k] += from->outcomes[k];
}

bool sweep_counts_all_ended(const sweep_counts *counts) {
    return counts->outcomes[HAMEL_FAILED] + counts->outcomes[HAMEL_INCOMPLETE] == 0;
}

void sweep_run_end(const sweep_counts *counts, table_form form, text_buffer *out) {
    if (form == TABLE_CSV) return;
    text_buffer_puts(out, "{\"summary\":{\"counts\":{");
    for (size_t k = 0; k <= HAMEL_FAILED; k++)
        text_buffer_printf(out, "%s\"%s\":%zu", k ? "," : "", hamel_outcome_name((hamel_outcome)k),
                           counts->outcomes[k]);
    text_buffer_puts(out, "}}}\n");
}

/* --- members ------------------------------------------------------------------------------------------------------ */

/* The result of one member. */
typedef struct member_result {
    sweep_reducer *reducer; /* NULL if the run has not begun */
    hamel_outcome outcome;
    char *problem; /* reason why the run failed or is incomplete; otherwise NULL */
} member_result;

typedef struct block {
    const sweep_run *run;
    member_result *results; /* `count` results */
    size_t first, count;
    bool no_memory;
} block;

static bool member_on_begin(void *context, size_t member, const hamel_header *header) {
    const block *b = context;
    (void)header;
    sweep_reduce_reset(b->results[member].reducer);
    return true;
}

static bool member_on_row(void *context, size_t member, const double *values, size_t count) {
    const block *b = context;
    (void)count;
    sweep_reduce_row(b->results[member].reducer, values);
    return true;
}

/* Returns the first error as one line. */
static char *problem_of(const hamel_error *error) {
    text_buffer text;
    text_buffer_init(&text, TEXT_MOST);
    const hamel_fault *f = error && error->count > 0 ? &error->faults[0] : NULL;
    if (f && f->pointer[0]) text_buffer_printf(&text, "%s: ", f->pointer);
    text_buffer_puts(&text, f ? f->message : "memory could not be allocated");
    return text_buffer_take(&text, NULL);
}

/* Returns the reason why a run is incomplete, which is its last warning. */
static char *reason_of(const hamel_summary *s) {
    return strdup(s->warning_count > 0 ? s->warnings[s->warning_count - 1] : "");
}

static bool member_on_end(void *context, size_t member, const hamel_member_end *end) {
    block *b = context;
    member_result *r = &b->results[member];
    const hamel_summary *s = end->summary;
    r->outcome = s->outcome;
    if (end->status == HAMEL_OK && s->outcome != HAMEL_INCOMPLETE) return true;
    r->problem = end->status == HAMEL_OK ? reason_of(s) : problem_of(end->error);
    b->no_memory = !r->problem;
    return !b->no_memory;
}

static hamel_status run_shared(block *b, hamel_error *error) {
    const sweep_run *run = b->run;
    const hamel_header *header = hamel_model_header(run->model);
    const sweep *s = &run->sweep.sweep;
    size_t unknown;
    double *values = calloc(b->count * s->axis_count + 1, sizeof *values);
    b->no_memory = !values;
    for (size_t i = 0; i < b->count && !b->no_memory; i++) {
        b->results[i].reducer = sweep_reduce_open(s, header->columns, header->column_count, &unknown);
        b->no_memory = !b->results[i].reducer;
        sweep_run_values(run, b->first + i, &values[i * s->axis_count]);
    }
    hamel_members_options options = {.last_rows = run->last_rows};
    hamel_members_sink sink = {b, member_on_begin, member_on_row, NULL, member_on_end};
    hamel_status status = HAMEL_NO_MEMORY;
    if (!b->no_memory) status = hamel_run_members(run->variation, &options, b->count, values, &sink, error);
    free(values);
    return status;
}

static bool on_own_row(void *context, const double *values, size_t count) {
    (void)count;
    sweep_reduce_row(context, values);
    return true;
}

/* Runs a member that has its own model. The model must outlive the reducer, which borrows the column names of the
 * model. */
static hamel_status run_own(block *b, size_t i, hamel_model *model, hamel_error *error) {
    const hamel_header *header = hamel_model_header(model);
    member_result *r = &b->results[i];
    size_t unknown;
    r->reducer = sweep_reduce_open(&b->run->sweep.sweep, header->columns, header->column_count, &unknown);
    if (!r->reducer && unknown == b->run->sweep.sweep.collect_count) return HAMEL_NO_MEMORY;
    if (!r->reducer)
        return hamel_fail(error, HAMEL_INVALID, "/sweep/collect", 0, "the result has no column `%s`",
                          b->run->sweep.sweep.collect[unknown].name);
    hamel_summary summary;
    hamel_sink sink = {.context = r->reducer, .row = on_own_row};
    hamel_status status = hamel_run(model, NULL, &sink, &summary, error);
    r->outcome = summary.outcome;
    if (status == HAMEL_OK && summary.outcome == HAMEL_INCOMPLETE) r->problem = reason_of(&summary);
    hamel_summary_free(&summary);
    return status;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* If the run ended normally, returns the collected number. Otherwise returns NaN, because the number depends on the row
 * at which the run failed. */
static double collected(const member_result *r, const char *name, size_t guess) {
    bool whole = r->outcome == HAMEL_COMPLETED || r->outcome == HAMEL_TERMINATED;
    if (!r->reducer || !whole) return (double)NAN;
    size_t count = sweep_reduce_count(r->reducer);
    if (guess < count && strcmp(sweep_reduce_name(r->reducer, guess), name) == 0)
        return sweep_reduce_value(r->reducer, guess);
    for (size_t k = 0; k < count; k++) /* a model of one member may have other columns */
        if (strcmp(sweep_reduce_name(r->reducer, k), name) == 0) return sweep_reduce_value(r->reducer, k);
    return (double)NAN;
}

/* Adds the row of a member to the table. Returns false if memory could not be allocated. */
static bool add_row(const block *b, size_t i, const cJSON *assignments, table_form form, text_buffer *out) {
    const sweep_run *run = b->run;
    const member_result *r = &b->results[i];
    sweep_columns columns = columns_of(run);
    text_buffer values;
    text_buffer_init(&values, TEXT_MOST);
    for (size_t k = 0; k < run->collected_count; k++) {
        if (k > 0) text_buffer_put(&values, ',');
        json_text_number(&values, collected(r, run->collected[k], k));
    }
    sweep_cells cells = {.member = b->first + i,
                         .assignments = assignments,
                         .status = hamel_outcome_name(r->outcome),
                         .collected = values.bytes ? values.bytes : "",
                         .problem = r->problem ? r->problem : ""};
    sweep_table_row(&columns, form, &cells, out);
    bool made = !values.failed;
    text_buffer_free(&values);
    return made;
}

/* If the member has its own model, runs it. Then adds the row of the member and frees its results. */
static hamel_status finish_member(block *b, size_t i, table_form form, text_buffer *out, sweep_counts *counts,
                                  sweep_member_listener *listener, void *context) {
    const sweep_run *run = b->run;
    member_result *r = &b->results[i];
    hamel_model *model = NULL;
    hamel_error error = {0};
    cJSON *assignments = sweep_assignments_json(&run->sweep.sweep, b->first + i);
    hamel_status status = assignments ? HAMEL_OK : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK && !run->variation) {
        status = derive_model(run, assignments, &model, &error);
        if (status == HAMEL_OK) status = run_own(b, i, model, &error);
        if (status != HAMEL_OK) r->outcome = HAMEL_FAILED;
        if (status != HAMEL_OK && !r->problem) r->problem = problem_of(&error);
    }
    if (assignments && status != HAMEL_NO_MEMORY) status = HAMEL_OK;
    if (status == HAMEL_OK && !add_row(b, i, assignments, form, out)) status = HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) {
        if (r->problem && listener) listener(context, b->first + i, assignments, r->problem);
        counts->outcomes[r->outcome]++;
    }
    sweep_reduce_close(r->reducer);
    r->reducer = NULL;
    hamel_model_free(model);
    hamel_error_clear(&error);
    cJSON_Delete(assignments);
    return status;
}

hamel_status sweep_run_members(const sweep_run *run, size_t first, size_t count, table_form form, text_buffer *out,
                               sweep_counts *counts, sweep_member_listener *listener, void *context) {
    assert(count <= run->sweep.sweep.count && first <= run->sweep.sweep.count - count);
    block b = {.run = run, .first = first, .count = count, .results = calloc(count + 1, sizeof *b.results)};
    hamel_error error = {0};
    hamel_status status = b.results ? HAMEL_OK : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK && run->variation) status = run_shared(&b, &error);
    for (size_t i = 0; i < count && status == HAMEL_OK; i++)
        status = finish_member(&b, i, form, out, counts, listener, context);
    for (size_t i = 0; b.results && i < count; i++) {
        sweep_reduce_close(b.results[i].reducer);
        free(b.results[i].problem);
    }
    free(b.results);
    hamel_error_clear(&error);
    return status == HAMEL_OK && out->failed ? HAMEL_NO_MEMORY : status;
}
