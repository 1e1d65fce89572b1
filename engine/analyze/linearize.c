/* linearize.c — linear system about the initial state of a description or about an equilibrium. */
#include "engine/analyze/analysis_int.h"
#include "engine/analyze/local.h"
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

/* Allocates the state and fills in the equilibrium, or the consistent initial state with its accelerations and
 * multipliers. */
static hamel_status make_state(linearizer *z, local_state *state) {
    analysis *a = z->a;
    size_t n = a->n, m = a->model->m;
    double *q = arena_doubles(a->memory, 3 * n + m), *v = q + n, *lambda = q + 3 * n;
    if (!q) return analysis_no_memory(a);
    *state = (local_state){a->model->settings.start, q, v, q + 2 * n, lambda};
    if (!z->at) {
        hamel_status status = initial_state(z->dynamics, q, v, q + 2 * n, lambda, a->error);
        return status == HAMEL_OK || a->error->status != HAMEL_OK ? status
                                                                  : dynamics_explain(z->dynamics, status, a->error);
    }
    memcpy(q, z->at->q, n * sizeof *q);
    memcpy(v, z->at->v, n * sizeof *v);
    memcpy(lambda, z->at->lambda, m * sizeof *lambda);
    return HAMEL_OK;
}

/* Returns true if A is constant along a motion with constant velocities v. */
static bool is_steady(linearizer *z, const local_state *now, const hamel_linearization *here, hamel_status *status) {
    size_t n = z->a->n, count = here->state_count * here->state_count;
    double *q = arena_doubles(z->a->memory, n), largest = 0, worst = 0;
    if (!q) *status = analysis_no_memory(z->a);
    for (size_t i = 0; i < n && q; i++)
        if (fabs(now->a[i]) > STILL) return false;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, fabs(here->A[k]));
    for (int later = 1; later <= 2 && q; later++) {
        hamel_linearization there = {0};
        arena memory;
        for (size_t i = 0; i < n; i++) q[i] = now->q[i] + 0.37 * later * now->v[i];
        local_state state = {now->t + 0.37 * later, q, now->v, now->a, now->lambda};
        arena_init(&memory, z->a->model->limits.memory);
        hamel_status own = linear_evaluate(&there, &z->local, &state, &memory, NULL);
        bool same = own == HAMEL_OK && there.state_count == here->state_count;
        for (size_t k = 0; k < count && same; k++) worst = fmax(worst, fabs(there.A[k] - here->A[k]));
        arena_free(&memory);
        if (own == HAMEL_NO_MEMORY) *status = analysis_no_memory(z->a);
        if (!same) return false;
    }
    return worst <= CHANGES * largest;
}

static hamel_status linearize(linearizer *z) {
    analysis *a = z->a;
    hamel_linearization *out = z->result;
    const char **inputs = arena_alloc(a->memory, z->input_count, sizeof *inputs);
    local_state state;
    hamel_status status = make_state(z, &state);
    if (status != HAMEL_OK) return status;
    *out = (hamel_linearization){
        .t = state.t, .q = state.q, .v = state.v, .lambda = state.lambda, .coordinate_count = a->n, .inputs = inputs};
    out->coordinates = analysis_coordinate_names(a);
    for (size_t k = 0; k < z->input_count && inputs; k++) inputs[k] = arena_format(a->memory, "%s", z->inputs[k].name);
    if (a->memory->failed) return analysis_no_memory(a);
    status = local_create(&z->local, a->model, z->inputs, z->input_count, a->error);
    if (status == HAMEL_OK) status = linear_evaluate(out, &z->local, &state, a->memory, a->error);
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
    if (!z->dynamics) return analysis_no_memory(a);
    dynamics_limit(z->dynamics, a->request.poll, 0);
    status = linearize(z);
    dynamics_free(z->dynamics);
    return status;
}

hamel_status hamel_linearize(hamel_linearization **out, const hamel_description *d, const hamel_equilibrium *at,
                             const hamel_argument *inputs, size_t input_count, const hamel_limits *limits,
                             hamel_poll *poll, hamel_error *error) {
    linearizer z = {.at = at, .inputs = inputs, .input_count = input_count};
    return analysis_perform(&(analysis_request){d, limits, poll, error}, sizeof **out, linearize_description, &z, out);
}

void hamel_linearization_free(hamel_linearization *linearization) {
    analysis_result_free(linearization);
}
