/* members.c — runs the members of a sweep in SIMD lanes if the model allows it, otherwise one by one. */
#include "engine/simulate/members_vec8.h"
#include "engine/simulate/run.h"

#include <assert.h>
#include <stdlib.h>

typedef struct members_run {
    const hamel_variation *variation;
    const hamel_members_options *options;
    const hamel_members_sink *sink;
    hamel_error *error;
    variation_member member;
    size_t number; /* number of the member that is running */
} members_run;

static bool send_member_header(void *context, const hamel_header *header) {
    const members_run *e = context;
    return !e->sink->begin || e->sink->begin(e->sink->context, e->number, header);
}

static bool send_member_event(void *context, const hamel_event_record *event) {
    const members_run *e = context;
    return e->sink->event(e->sink->context, e->number, event);
}

static bool send_member_row(void *context, const double *values, size_t count) {
    const members_run *e = context;
    return !e->sink->row || e->sink->row(e->sink->context, e->number, values, count);
}

static hamel_status fail_member_canceled(const members_run *e) {
    return hamel_fail(e->error, HAMEL_CANCELED, "", 0, "canceled at member %zu", e->number);
}

static hamel_status send_member_end(const members_run *e, hamel_status status, const hamel_summary *s,
                                    hamel_error *error) {
    if (status == HAMEL_CANCELED) return fail_member_canceled(e);
    if (status == HAMEL_NO_MEMORY) return hamel_out_of_memory(e->error);
    hamel_member_end end = {.status = status, .summary = s, .error = status == HAMEL_OK ? NULL : error};
    return !e->sink->end || e->sink->end(e->sink->context, e->number, &end) ? HAMEL_OK : fail_member_canceled(e);
}

static hamel_status run_member(members_run *e, const double *values) {
    hamel_summary summary = {0};
    hamel_error error = {0};
    hamel_run_options options = {.poll = e->options->poll};
    hamel_sink sink = {.context = e,
                       .header = send_member_header,
                       .row = send_member_row,
                       .event = e->sink->event ? send_member_event : NULL};
    hamel_status status = variation_set(e->variation, values, &e->member, &error);
    if (status == HAMEL_OK)
        status = hamel_run(&e->member.model, &options, &sink, &summary, &error);
    else
        run_summary_init(&summary, &e->member.model);
    status = send_member_end(e, status, &summary, &error);
    hamel_summary_free(&summary);
    hamel_error_clear(&error);
    return status;
}

static hamel_status run_alone(members_run *e, size_t count, const double *values, const bool *left) {
    hamel_status status = HAMEL_OK;
    for (e->number = 0; e->number < count && status == HAMEL_OK; e->number++)
        if (!left || left[e->number]) status = run_member(e, values + e->number * variation_target_count(e->variation));
    return status;
}

static bool run_in_lanes(const members_run *e) {
    const hamel_model *model = variation_model(e->variation);
    bool assessed = e->options->assess && model->observation.invariant_count + model->observation.check_count > 0;
    return members_vec8_serves(model) && !assessed;
}

static hamel_status run_all(members_run *e, size_t count, const double *values) {
    if (!run_in_lanes(e)) return run_alone(e, count, values, NULL);
    bool *left = calloc(count + 1, sizeof *left);
    if (!left) return hamel_out_of_memory(e->error);
    hamel_status status =
        members_vec8_run(e->variation, &e->member.model.settings, e->options, count, values, e->sink, left, e->error);
    if (status == HAMEL_OK) status = run_alone(e, count, values, left);
    free(left);
    return status;
}

hamel_status hamel_run_members(const hamel_variation *v, const hamel_members_options *options, size_t count,
                               const double *values, const hamel_members_sink *sink, hamel_error *error) {
    members_run e = {.variation = v, .options = options, .sink = sink, .error = error};
    if (!variation_member_create(&e.member, v)) {
        variation_member_free(&e.member);
        return hamel_out_of_memory(error);
    }
    model_settings *settings = &e.member.model.settings;
    assert(options && sink && (count == 0 || values));
    if (options->last_rows) { /* output times do not affect the steps */
        settings->times = &settings->stop;
        settings->row_count = 1;
    }
    hamel_status status = run_all(&e, count, values);
    variation_member_free(&e.member);
    return status;
}
