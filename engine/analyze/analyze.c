/* analyze.c — a description in, a report out: the order of the questions, and who owns the memory. */
#include "engine/analyze/analysis_int.h"

#include "engine/mechanics/formulation.h"

#include <stdlib.h>
#include <string.h>

enum { UNFINISHED_MOST = 3 }; /* questions that have a work budget */

/* What the caller holds is the report inside. */
typedef struct owned_report {
    hamel_report report; /* first: a pointer to it is a pointer to the whole */
    arena memory;
} owned_report;

const char *hamel_verdict_name(hamel_verdict verdict) {
    static const char *const names[] = {
#define X(name, text) text,
        HAMEL_VERDICT_LIST(X)
#undef X
    };
    return names[verdict];
}

hamel_status analysis_no_memory(analysis *a) {
    if (a->error->status == HAMEL_OK) (void)hamel_fail(a->error, HAMEL_NO_MEMORY, "", 0, "no memory for the analysis");
    return a->error->status;
}

static bool nobody_waits(void *system) {
    return system_interrupted(system);
}

void analysis_begin_work(analysis *a) {
    const uint64_t most = 60000000; /* at most two seconds over the examples and random Pfaffian systems */
    a->work = (effort){.left = most, .interrupted = nobody_waits, .context = a->system};
}

bool analysis_unfinished(analysis *a, const char *what) {
    hamel_names *names = &a->report->unfinished;
    if (!names->items) names->items = arena_alloc(a->memory, UNFINISHED_MOST, sizeof *names->items);
    if (!names->items || names->count == UNFINISHED_MOST) return false;
    names->items[names->count++] = what;
    return true;
}

bool analysis_text(analysis *a, graph_node node, const char **text) {
    text_buffer out;
    text_buffer_init(&out, 1 << 16);
    graph_print(a->system->graph, node, system_name_symbol, a->system, &out);
    *text = out.failed || !out.bytes ? NULL : arena_text(a->memory, out.bytes, out.length);
    text_buffer_free(&out);
    return *text != NULL;
}

/* The model's equations once more, from its own graph: every node is there already. */
static hamel_status derive_again(analysis *a, hamel_poll *poll) {
    hamel_system *s = a->system;
    s->error = a->error;
    s->poll = poll;
    a->equations = (hamel_equations){.system = s, .n = a->n, .m = a->m};
    return lagrange_derive(&a->equations);
}

static const char *const kinds[] = {"holonomic", "velocity", "acceleration"};

/* Names outlive the model, so they are copied. */
static bool begin_report(analysis *a) {
    hamel_report *r = a->report;
    const char *name = a->model->header.name;
    r->name = arena_text(a->memory, name, strlen(name));
    r->coordinate_count = a->n;
    r->constraint_count = a->m;
    r->constraints = arena_alloc(a->memory, a->m, sizeof *r->constraints);
    r->warnings.items = arena_alloc(a->memory, a->system->warning_count + 1, sizeof *r->warnings.items);
    if (!r->name || !r->constraints || !r->warnings.items) return false;
    for (size_t i = 0; i < a->system->warning_count; i++) {
        const char *text = a->system->warnings[i];
        r->warnings.items[r->warnings.count++] = arena_text(a->memory, text, strlen(text));
        if (!r->warnings.items[i]) return false;
    }
    for (size_t c = 0; c < a->m; c++) {
        const system_constraint *given = &a->system->constraints[c];
        r->constraints[c].name = arena_text(a->memory, given->name, strlen(given->name));
        r->constraints[c].kind = kinds[given->order];
        if (!r->constraints[c].name) return false;
    }
    return true;
}

/* Ranks are found by dense eliminations, a group at a time. */
static hamel_status make_groups(analysis *a) {
    const double most_entries = 1e7, most_work = 1e11; /* of one elimination; multiplications at worst */
    if (!groups_create(&a->groups, a->memory, a->system, NULL)) return analysis_no_memory(a);
    for (size_t k = 0; k < a->groups.count; k++) {
        double rows = (double)groups_constraints(&a->groups, k), columns = (double)groups_coordinates(&a->groups, k);
        if (rows * columns <= most_entries && rows * rows * columns <= most_work) continue;
        return hamel_fail(a->error, HAMEL_LIMIT, "/constraints", 0,
                          "%.0f constraints on %.0f coordinates hang together: too many for an analysis", rows,
                          columns);
    }
    return HAMEL_OK;
}

hamel_status analysis_open(analysis *a, const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                           hamel_error *error) {
    hamel_description taken = *d;
    a->error = error;
    if (formulation_named(d->simulation.formulation)) /* otherwise it is a fault like any other */
        taken.simulation.formulation = formulation_lagrange.name;
    hamel_status status = hamel_model_create(&a->model, &taken, limits, poll, error);
    if (status != HAMEL_OK) return status;
    a->system = a->model->system;
    a->n = a->model->n;
    a->m = a->system->standing_count; /* what acts at the start; the other rows come after */
    status = derive_again(a, poll);
    return status == HAMEL_OK ? make_groups(a) : status;
}

static hamel_status analyze(analysis *a) {
    if (!begin_report(a)) return analysis_no_memory(a);
    hamel_status status = samples_draw(a);
    if (status == HAMEL_OK) status = regions_draw(a);
    if (status == HAMEL_OK) status = structure_derive(a);
    if (status == HAMEL_OK) status = structure_rank(a);
    if (status == HAMEL_OK) status = coupling_derive(a);
    if (status == HAMEL_OK) status = dependence_derive(a);
    if (status == HAMEL_OK) status = holonomy_derive(a);
    return status == HAMEL_OK ? transitivity_derive(a) : status;
}

static owned_report *create_empty(size_t limit, hamel_error *error) {
    owned_report *owned = calloc(1, sizeof *owned);
    if (!owned) {
        (void)hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the analysis");
        return NULL;
    }
    arena_init(&owned->memory, limit);
    return owned;
}

hamel_status hamel_analyze(hamel_report **out, const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                           hamel_error *error) {
    hamel_limits taken = limits ? *limits : hamel_limits_default();
    hamel_error own = {0};
    if (!error) error = &own;
    *out = NULL;
    owned_report *owned = create_empty(taken.memory, error);
    analysis a = {0};
    hamel_status status = HAMEL_NO_MEMORY;
    if (owned) {
        a.memory = &owned->memory;
        a.report = &owned->report;
        status = analysis_open(&a, d, &taken, poll, error);
    }
    if (status == HAMEL_OK) status = analyze(&a);
    hamel_model_free(a.model);
    if (status == HAMEL_OK)
        *out = &owned->report;
    else
        hamel_report_free(owned ? &owned->report : NULL);
    hamel_error_clear(&own);
    return status;
}

void hamel_report_free(hamel_report *report) {
    owned_report *owned = (owned_report *)report;
    if (!owned) return;
    arena_free(&owned->memory);
    free(report->redundancy);
    free(owned);
}
