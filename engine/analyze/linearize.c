/* linearize.c — linear system about the initial state of a description or about an equilibrium. */
#include "engine/analyze/analysis_int.h"
#include "engine/analyze/linear.h"
#include "engine/dynamics/initial_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double STILL = 1e-9; /* upper bound of accelerations in a steady motion */
/* Largest relative change of an entry of A in a steady motion; above rounding errors of trigonometric functions. */
static const double CHANGES = 1e-7;

typedef struct linearizer {
    analysis *a;
    const hamel_equilibrium *at; /* NULL: the initial state */
    const hamel_argument *inputs;
    size_t input_count;
    hamel_linearization *result;
    dynamics *dynamics;
    local_equations local;
} linearizer;

static double *copied(arena *memory, const double *x, size_t count) {
    double *copy = arena_alloc(memory, count, sizeof *copy);
    if (copy && count > 0) memcpy(copy, x, count * sizeof *copy);
    return copy;
}

static const char *const *names(arena *memory, const char *const *given, size_t count) {
    const char **list = arena_alloc(memory, count, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (!(list[i] = arena_text(memory, given[i], strlen(given[i])))) return NULL;
    return list;
}

/* Fills in the equilibrium, or the consistent initial state with its accelerations and multipliers. */
static hamel_status make_state(linearizer *z, double *q, double *v, double *a, double *lambda) {
    const hamel_model *model = z->a->model;
    const hamel_equilibrium *at = z->at;
    if (at) {
        memcpy(q, at->q, model->n * sizeof *q);
        memcpy(v, at->v, model->n * sizeof *v);
        memset(a, 0, model->n * sizeof *a);
        memcpy(lambda, at->lambda, model->m * sizeof *lambda);
        return HAMEL_OK;
    }
    return initial_state(z->dynamics, q, v, a, lambda, z->a->error);
}

/* Returns true if A is constant along a motion with constant velocities v. */
static bool is_steady(linearizer *z, const local_state *now, const hamel_linearization *here, hamel_status *status) {
    const hamel_model *model = z->a->model;
    size_t count = here->state_count * here->state_count;
    double *q = arena_alloc(z->a->memory, model->n, sizeof *q), largest = 0, worst = 0;
    if (!q) *status = hamel_out_of_memory(z->a->error);
    for (size_t i = 0; i < model->n && q; i++)
        if (fabs(now->a[i]) > STILL) return false;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, fabs(here->A[k]));
    for (int later = 1; later <= 2 && q; later++) {
        hamel_linearization there = {0};
        hamel_error quiet = {0};
        double t = now->t + 0.37 * later;
        arena memory;
        for (size_t i = 0; i < model->n; i++) q[i] = now->q[i] + 0.37 * later * now->v[i];
        local_state state = {t, q, now->v, now->a, now->lambda};
        arena_init(&memory, model->limits.memory);
        hamel_status own = local_evaluate(&z->local, &state, &quiet);
        if (own == HAMEL_OK) own = linear_reduce(&there, &z->local, now->v, now->a, &memory, &quiet);
        bool same = own == HAMEL_OK && there.state_count == here->state_count;
        for (size_t k = 0; k < count && same; k++) worst = fmax(worst, fabs(there.A[k] - here->A[k]));
        arena_free(&memory);
        hamel_error_clear(&quiet);
        if (own == HAMEL_NO_MEMORY) *status = hamel_out_of_memory(z->a->error);
        if (!same) return false;
    }
    return worst <= CHANGES * largest;
}

static hamel_status linearize(linearizer *z) {
    const hamel_model *model = z->a->model;
    const hamel_argument *inputs = z->inputs;
    size_t input_count = z->input_count;
    arena *memory = z->a->memory;
    hamel_linearization *out = z->result;
    const char **coordinates = arena_alloc(memory, model->n, sizeof *coordinates),
               **asked = arena_alloc(memory, input_count, sizeof *asked);
    double *q = copied(memory, model->q0, model->n), *v = copied(memory, model->q0, model->n);
    double *a = copied(memory, model->q0, model->n), *lambda = arena_alloc(memory, model->m, sizeof *lambda);
    if (!coordinates || !asked || !q || !v || !a || !lambda) return hamel_out_of_memory(z->a->error);
    hamel_status status = make_state(z, q, v, a, lambda);
    if (status != HAMEL_OK && z->a->error->status == HAMEL_OK)
        return dynamics_explain(z->dynamics, status, z->a->error);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < model->n; i++) coordinates[i] = model->system->coordinates[i].name;
    *out = (hamel_linearization){
        .t = model->settings.start, .q = q, .v = v, .lambda = lambda, .coordinate_count = model->n};
    out->coordinates = names(memory, coordinates, model->n);
    for (size_t k = 0; k < input_count; k++) asked[k] = inputs[k].name;
    out->inputs = names(memory, asked, input_count);
    if (!out->coordinates || !out->inputs) return hamel_out_of_memory(z->a->error);
    local_state state = {out->t, q, v, a, lambda};
    status = local_create(&z->local, z->a->model, inputs, input_count, z->a->error);
    if (status == HAMEL_OK) status = local_evaluate(&z->local, &state, z->a->error);
    if (status == HAMEL_OK) status = linear_reduce(out, &z->local, v, a, memory, z->a->error);
    if (status == HAMEL_OK) out->steady = is_steady(z, &state, out, &status);
    out->stable = out->stable && out->steady;
    local_free(&z->local);
    return status;
}

static hamel_status linearize_description(analysis *a, void *result, void *context) {
    linearizer *z = context;
    z->a = a;
    z->result = result;
    hamel_status status = analysis_create_model(a, a->request.description);
    if (status != HAMEL_OK) return status;
    z->dynamics = dynamics_create(a->model);
    if (z->dynamics) {
        dynamics_limit(z->dynamics, a->request.poll, 0);
        status = linearize(z);
    } else
        status = analysis_no_memory(a);
    dynamics_free(z->dynamics);
    return status;
}

hamel_status hamel_linearize(hamel_linearization **out, const hamel_description *d, const hamel_equilibrium *at,
                             const hamel_argument *inputs, size_t input_count, const hamel_limits *limits,
                             hamel_poll *poll, hamel_error *error) {
    linearizer z = {.at = at, .inputs = inputs, .input_count = input_count};
    void *result;
    hamel_status status =
        analysis_perform(&(analysis_request){d, limits, poll, error}, sizeof **out, linearize_description, &z, &result);
    *out = result;
    return status;
}

void hamel_linearization_free(hamel_linearization *linearization) {
    analysis_result_free(linearization);
}
