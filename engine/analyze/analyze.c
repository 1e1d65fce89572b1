/* analyze.c — sequence of the analyses in hamel_analyze, and ownership of the results of engine/analyze. */
#include "engine/analyze/analysis_int.h"

#include "engine/mechanics/formulation.h"
#include "engine/system/latex.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { UNFINISHED_MOST = 3 }; /* number of parts of an analysis that have a work budget */

/* A result together with the arena of its arrays and texts. */
typedef struct owned_result {
    arena memory;
    max_align_t result[];
} owned_result;

hamel_status analysis_perform(const analysis_request *request, size_t size, analysis_body *body, void *context,
                              void *out) {
    hamel_limits limits = request->limits ? *request->limits : hamel_limits_default();
    hamel_error own = {0}, *error = request->error ? request->error : &own;
    owned_result *owned = calloc(1, sizeof *owned + size);
    void *result = owned ? owned->result : NULL;
    hamel_status status = result ? HAMEL_OK : hamel_out_of_memory(error);
    if (result) {
        analysis a = {.request = {request->description, &limits, request->poll, error, request->latex}, .error = error};
        arena_init(&owned->memory, limits.memory);
        a.memory = &owned->memory;
        status = body(&a, result, context);
        hamel_model_free(a.model);
        if (status != HAMEL_OK) {
            analysis_result_free(result);
            result = NULL;
        }
    }
    hamel_error_clear(&own);
    memcpy(out, &result, sizeof result);
    return status; /* cppcheck-suppress memleak ; the caller owns *out */
}

void analysis_result_free(void *result) {
    if (!result) return;
    owned_result *owned = (owned_result *)(void *)((char *)result - offsetof(owned_result, result));
    arena_free(&owned->memory);
    free(owned);
}

const char *hamel_verdict_name(hamel_verdict verdict) {
    static const char *const names[] = {
#define X(name, text) text,
        HAMEL_VERDICT_LIST(X)
#undef X
    };
    return names[verdict];
}

hamel_status analysis_no_memory(analysis *a) {
    if (a->error->status == HAMEL_OK) (void)hamel_out_of_memory(a->error);
    return a->error->status;
}

hamel_status analysis_stopped(analysis *a) {
    hamel_status status = equations_status(a->system);
    return status != HAMEL_OK ? status : analysis_no_memory(a);
}

static bool is_interrupted(void *system) {
    return system_interrupted(system);
}

void analysis_begin_work(analysis *a) {
    /* 60 million operations take at most two seconds, measured on the examples and on random Pfaffian systems */
    a->work = (work_budget){.left = 60000000, .interrupted = is_interrupted, .context = a->system};
}

void analysis_unfinished(analysis *a, const char *what) {
    assert(a->report->unfinished.count < UNFINISHED_MOST);
    a->report->unfinished.items[a->report->unfinished.count++] = what;
}

const char *analysis_text(analysis *a, graph_node node, size_t most) {
    text_buffer out;
    text_buffer_init(&out, most);
    if (a->request.latex)
        graph_print_latex(a->system->graph, node, system_latex_symbol, a->system, &out);
    else
        graph_print(a->system->graph, node, system_name_symbol, a->system, &out);
    const char *text = out.failed || !out.bytes ? NULL : arena_text(a->memory, out.bytes, out.length);
    text_buffer_free(&out);
    return text;
}

const char *const *analysis_coordinate_names(analysis *a) {
    const char **names = arena_alloc(a->memory, a->n, sizeof *names);
    for (size_t i = 0; i < a->n && names; i++) names[i] = arena_format(a->memory, "%s", a->system->coordinates[i].name);
    return a->memory->failed ? NULL : names;
}

/* Copies all names and warnings, because the report outlives the model. */
bool analysis_begin_report(analysis *a) {
    assert(a->m == a->system->standing_count && a->m <= a->model->m);
    static const char *const kinds[] = {"holonomic", "velocity", "acceleration"}; /* in the order of constraint_order */
    hamel_report *r = a->report;
    r->name = arena_format(a->memory, "%s", a->model->header.name);
    r->coordinate_count = a->n;
    r->constraint_count = a->m;
    r->constraints = arena_alloc(a->memory, a->m, sizeof *r->constraints);
    r->warnings.items = arena_alloc(a->memory, a->system->warning_count + 1, sizeof *r->warnings.items);
    r->unfinished.items = arena_alloc(a->memory, UNFINISHED_MOST, sizeof *r->unfinished.items);
    if (a->memory->failed) return false;
    for (; r->warnings.count < a->system->warning_count; r->warnings.count++)
        r->warnings.items[r->warnings.count] = arena_format(a->memory, "%s", a->system->warnings[r->warnings.count]);
    for (size_t c = 0; c < a->m; c++) {
        r->constraints[c].name = arena_format(a->memory, "%s", a->system->constraints[c].name);
        r->constraints[c].kind = kinds[a->system->constraints[c].order];
    }
    return !a->memory->failed;
}

/* Creates the groups. Adds an error if a group is too large for dense rank elimination. */
static hamel_status make_groups(analysis *a) {
    assert(a->equations.n == a->n && a->equations.m == a->m);
    const double most_entries = 1e7; /* largest number of entries of a matrix: 80 MB of doubles */
    const double most_work = 1e11;   /* largest number of multiplications of an elimination: about a minute */
    if (!groups_create(&a->groups, a->memory, a->system, NULL)) return analysis_no_memory(a);
    for (size_t k = 0; k < a->groups.count; k++) {
        double rows = (double)groups_constraints(&a->groups, k), columns = (double)groups_coordinates(&a->groups, k);
        if (rows * columns <= most_entries && rows * rows * columns <= most_work) continue;
        return hamel_fail(a->error, HAMEL_LIMIT, "/constraints", 0,
                          "a group of %.0f constraints that share %.0f coordinates is too large for dense elimination",
                          rows, columns);
    }
    return HAMEL_OK;
}

hamel_status analysis_create_model(analysis *a, const hamel_description *d) {
    const analysis_request *r = &a->request;
    hamel_status status = model_derive(&a->model, d, r->limits, r->poll, a->error);
    if (status != HAMEL_OK) return status;
    a->system = a->model->system;
    a->n = a->model->n;
    a->m = a->system->standing_count; /* constraints that act initially, listed first */
    a->system->error = a->error;
    a->system->poll = r->poll;
    return HAMEL_OK;
}

hamel_status analysis_open(analysis *a) {
    hamel_description taken = *a->request.description;
    if (formulation_named(taken.simulation.formulation)) /* an unknown name is reported with the other errors */
        taken.simulation.formulation = formulation_lagrange.name;
    hamel_status status = analysis_create_model(a, &taken);
    if (status != HAMEL_OK) return status;
    /* The equations of the model are derived again. This costs little, because every node is already in the graph. */
    a->equations = (hamel_equations){.system = a->system, .n = a->n, .m = a->m};
    status = lagrange_derive(&a->equations);
    return status == HAMEL_OK ? make_groups(a) : status;
}

static hamel_status analyze(analysis *a, void *result, void *context) {
    static hamel_status (*const parts[])(analysis *) = {samples_draw,      regions_draw,         structure_derive,
                                                        symmetries_derive, redundancy_derive,    structure_coupling,
                                                        holonomy_derive,   integrability_derive, transitivity_derive};
    (void)context;
    a->report = result;
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK && !analysis_begin_report(a)) status = analysis_no_memory(a);
    for (size_t k = 0; k < sizeof parts / sizeof *parts && status == HAMEL_OK; k++) status = parts[k](a);
    if (status != HAMEL_OK) free(a->report->redundancy);
    return status;
}

hamel_status hamel_analyze(hamel_report **out, const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                           hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, analyze, NULL, out);
}

void hamel_report_free(hamel_report *report) {
    if (report) free(report->redundancy);
    analysis_result_free(report);
}
