/* ensemble.c — members of an ensemble: eight at a time where the model is of that kind, and one after the other, each as a
 * run of its own, where it is not or a member was left over. */
#include "engine/simulate/abreast.h"

#include <stdlib.h>

typedef struct ensemble {
    const hamel_variation *variation;
    const hamel_ensemble_options *options;
    const hamel_ensemble_sink *sink;
    hamel_error *error;
    variation_member member;
    size_t number; /* of the member that runs */
} ensemble;

static bool take_row(void *context, const double *values, size_t count) {
    const ensemble *e = context;
    return !e->sink->row || e->sink->row(e->sink->context, e->number, values, count);
}

static hamel_status canceled(const ensemble *e) {
    return hamel_fail(e->error, HAMEL_CANCELED, "", 0, "canceled at member %zu", e->number);
}

static hamel_status tell_end(const ensemble *e, hamel_status status, const hamel_summary *s, const hamel_error *fault) {
    if (status == HAMEL_CANCELED) return canceled(e);
    if (status == HAMEL_NO_MEMORY) return hamel_fail(e->error, status, "", 0, "no memory for member %zu", e->number);
    bool incomplete = status == HAMEL_OK && s->outcome == HAMEL_INCOMPLETE && s->warning_count > 0;
    hamel_member_end end = {.status = status,
                            .outcome = status == HAMEL_OK ? s->outcome : HAMEL_FAILED,
                            .t = s->t,
                            .steps = s->steps,
                            .reason = incomplete ? s->warnings[s->warning_count - 1] : NULL,
                            .error = status == HAMEL_OK ? NULL : fault};
    return !e->sink->end || e->sink->end(e->sink->context, e->number, &end) ? HAMEL_OK : canceled(e);
}

static hamel_status run_member(ensemble *e, const double *values) {
    hamel_summary summary = {0};
    hamel_error fault = {0};
    hamel_run_options options = {.poll = e->options->poll};
    hamel_sink sink = {.context = e, .row = take_row};
    if (e->sink->begin && !e->sink->begin(e->sink->context, e->number)) return canceled(e);
    hamel_status status = variation_set(e->variation, values, &e->member, &fault);
    if (status == HAMEL_OK) status = hamel_run(&e->member.model, &options, &sink, &summary, &fault);
    status = tell_end(e, status, &summary, &fault);
    hamel_summary_free(&summary);
    hamel_error_clear(&fault);
    return status;
}

static hamel_status run_alone(ensemble *e, size_t count, const double *values, const bool *left) {
    hamel_status status = HAMEL_OK;
    for (e->number = 0; e->number < count && status == HAMEL_OK; e->number++)
        if (!left || left[e->number]) status = run_member(e, values + e->number * variation_target_count(e->variation));
    return status;
}

static hamel_status run_all(ensemble *e, size_t count, const double *values) {
    if (!abreast_serves(variation_model(e->variation))) return run_alone(e, count, values, NULL);
    bool *left = calloc(count + 1, sizeof *left);
    if (!left) return hamel_fail(e->error, HAMEL_NO_MEMORY, "", 0, "no memory for the members");
    hamel_status status =
        abreast_run(e->variation, &e->member.model.settings, e->options, count, values, e->sink, left, e->error);
    if (status == HAMEL_OK) status = run_alone(e, count, values, left);
    free(left);
    return status;
}

hamel_status hamel_ensemble_run(const hamel_variation *v, const hamel_ensemble_options *options, size_t count,
                                const double *values, const hamel_ensemble_sink *sink, hamel_error *error) {
    ensemble e = {.variation = v, .options = options, .sink = sink, .error = error};
    if (!variation_member_create(&e.member, v)) {
        variation_member_free(&e.member);
        return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the members");
    }
    model_settings *settings = &e.member.model.settings;
    if (options->last_rows) { /* output times do not touch the steps */
        settings->times = &settings->stop;
        settings->row_count = 1;
    }
    hamel_status status = run_all(&e, count, values);
    variation_member_free(&e.member);
    return status;
}
