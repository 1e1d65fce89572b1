/* linearize.c — the linear system about the initial state of a description. */
#include "engine/analyze/linear.h"
#include "engine/solve/initial_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double STILL = 1e-9;   /* an acceleration, as for at_rest */
static const double CHANGES = 1e-7; /* an entry of A against the largest, beyond rounding of trigonometric functions */

/* What the caller holds is the linearization inside. */
typedef struct owned_linearization {
    hamel_linearization linearization; /* first */
    arena memory;
} owned_linearization;

typedef struct linearizer {
    owned_linearization *owned;
    hamel_model *model;
    kinetics *kinetics;
    local_equations local;
    hamel_error *error;
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

static hamel_status no_memory(hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the linearization");
}

/* The equilibrium, or the initial state on its constraints; with accelerations and multipliers. */
static hamel_status make_state(linearizer *z, const hamel_equilibrium *at, double *q, double *v, double *a,
                               double *lambda) {
    const hamel_model *model = z->model;
    if (at) {
        memcpy(q, at->q, model->n * sizeof *q);
        memcpy(v, at->v, model->n * sizeof *v);
        memset(a, 0, model->n * sizeof *a);
        memcpy(lambda, at->lambda, model->m * sizeof *lambda);
        return HAMEL_OK;
    }
    return initial_state(z->kinetics, q, v, a, lambda, z->error);
}

/* Whether A is the same some time later along a motion with the velocities v. */
static bool is_steady(linearizer *z, const local_state *now, const hamel_linearization *here, hamel_status *status) {
    const hamel_model *model = z->model;
    size_t count = here->state_count * here->state_count;
    double *q = arena_alloc(&z->owned->memory, model->n, sizeof *q), largest = 0, worst = 0;
    if (!q) *status = no_memory(z->error);
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
        if (own == HAMEL_NO_MEMORY) *status = no_memory(z->error);
        if (!same) return false;
    }
    return worst <= CHANGES * largest;
}

static hamel_status linearize(linearizer *z, const hamel_equilibrium *at, const hamel_argument *inputs,
                              size_t input_count) {
    const hamel_model *model = z->model;
    arena *memory = &z->owned->memory;
    hamel_linearization *out = &z->owned->linearization;
    const char **coordinates = arena_alloc(memory, model->n, sizeof *coordinates),
               **asked = arena_alloc(memory, input_count, sizeof *asked);
    double *q = copied(memory, model->q0, model->n), *v = copied(memory, model->q0, model->n);
    double *a = copied(memory, model->q0, model->n), *lambda = arena_alloc(memory, model->m, sizeof *lambda);
    if (!coordinates || !asked || !q || !v || !a || !lambda) return no_memory(z->error);
    hamel_status status = make_state(z, at, q, v, a, lambda);
    if (status != HAMEL_OK && z->error->status == HAMEL_OK) return kinetics_explain(z->kinetics, status, z->error);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < model->n; i++) coordinates[i] = model->system->coordinates[i].name;
    *out = (hamel_linearization){
        .t = model->settings.start, .q = q, .v = v, .lambda = lambda, .coordinate_count = model->n};
    out->coordinates = names(memory, coordinates, model->n);
    for (size_t k = 0; k < input_count; k++) asked[k] = inputs[k].name;
    out->inputs = names(memory, asked, input_count);
    if (!out->coordinates || !out->inputs) return no_memory(z->error);
    local_state state = {out->t, q, v, a, lambda};
    status = local_create(&z->local, z->model, inputs, input_count, z->error);
    if (status == HAMEL_OK) status = local_evaluate(&z->local, &state, z->error);
    if (status == HAMEL_OK) status = linear_reduce(out, &z->local, v, a, memory, z->error);
    if (status == HAMEL_OK) out->steady = is_steady(z, &state, out, &status);
    out->stable = out->stable && out->steady;
    local_free(&z->local);
    return status;
}

hamel_status hamel_linearize(hamel_linearization **out, const hamel_description *d, const hamel_equilibrium *at,
                             const hamel_argument *inputs, size_t input_count, const hamel_limits *limits,
                             hamel_poll *poll, hamel_error *error) {
    hamel_limits taken = limits ? *limits : hamel_limits_default();
    hamel_error own = {0};
    if (!error) error = &own;
    *out = NULL;
    linearizer z = {.owned = calloc(1, sizeof(owned_linearization)), .error = error};
    if (z.owned) arena_init(&z.owned->memory, taken.memory);
    hamel_status status = z.owned ? hamel_model_create(&z.model, d, &taken, poll, error) : no_memory(error);
    if (status == HAMEL_OK && !(z.kinetics = kinetics_create(z.model))) status = no_memory(error);
    if (status == HAMEL_OK) {
        z.model->system->poll = poll;
        kinetics_limit(z.kinetics, poll, 0);
        status = linearize(&z, at, inputs, input_count);
    }
    kinetics_free(z.kinetics);
    hamel_model_free(z.model);
    if (status == HAMEL_OK)
        *out = &z.owned->linearization;
    else
        hamel_linearization_free(z.owned ? &z.owned->linearization : NULL);
    hamel_error_clear(&own);
    return status;
}

void hamel_linearization_free(hamel_linearization *linearization) {
    owned_linearization *owned = (owned_linearization *)linearization;
    if (!owned) return;
    arena_free(&owned->memory);
    free(owned);
}
