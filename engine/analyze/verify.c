/* verify.c — all formulations side by side at random states.
 *
 * States are drawn, and the reference is Lagrange's motion there; then each other formulation makes a model of its own
 * from the same description and is asked for its accelerations at the same states. What a formulation refuses is not a
 * difference: its reason is reported. So is a state that it finds singular. */
#include "engine/analyze/verify.h"

#include "engine/analyze/differences.h"
#include "engine/solve/variables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-9;
/* Of the largest force: what cancels in a coordinate that feels nothing leaves rounding of the others, and more of it where
 * products of momenta and rates cancel (Hamel's coefficients). 1e-13 of the largest force is rounding. */
static const double FLOOR = 1e-4;
enum { STATES_LEAST = 4 };
static const double WORK = 4e8; /* coordinates and constraints cubed, times states */

/* What the caller holds is the verification inside. */
typedef struct owned_verification {
    hamel_verification verification; /* first */
    arena memory;
} owned_verification;

typedef struct compared_state {
    sample state;
    verify_motion motion;
    verify_scale scale;
    bool skipped;
} compared_state;

typedef struct verifier {
    analysis a;
    const hamel_description *description;
    const hamel_limits *limits;
    hamel_poll *poll;
    compared_state *states;
    size_t count; /* of states drawn */
    verify_motion motion;
    double *lambda, *velocity, *w; /* m, n, 2n: velocity variables and their rates, at most as many as coordinates */
    hamel_formulation_difference *compared;
    hamel_formulation_refusal *refused;
    hamel_verification *result;
} verifier;

static void add_forces(const kinetics *k, const double *a, const double *lambda, double *force) {
    const hamel_model *model = k->model;
    const double *M = k->values + model->at_M, *A = k->values + model->at_A, *Q = k->values + model->at_Q;
    for (size_t i = 0; i < model->n; i++) force[i] = fabs(Q[i]);
    for (size_t e = 0; e < model->M.count; e++) {
        int i = model->M.row[e], j = model->M.column[e];
        force[i] += fabs(M[e] * a[j]);
        if (i != j) force[j] += fabs(M[e] * a[i]);
    }
    for (size_t e = 0; e < model->A.count; e++) force[model->A.column[e]] += fabs(A[e] * lambda[model->A.row[e]]);
}

/* Accelerations that the constraints make of larger ones are no more exact than those: terms of A q'' that cancel. */
static void widen_by_constraints(const kinetics *k, const double *a, verify_scale *scale) {
    const hamel_model *model = k->model;
    const double *A = k->values + model->at_A;
    for (size_t e = 0, end; e < model->A.count; e = end) {
        double terms = 0, most = 0;
        for (end = e; end < model->A.count && model->A.row[end] == model->A.row[e]; end++) {
            terms += fabs(A[end] * a[model->A.column[end]]);
            most = fmax(most, fabs(A[end]));
        }
        for (size_t i = e; i < end && most > 0; i++) {
            double *force = &scale->force[model->A.column[i]], mass = scale->mass[model->A.column[i]];
            *force = fmax(*force, mass * terms * fabs(A[i]) / (most * most));
        }
    }
}

void verify_scale_of(const kinetics *k, const double *a, const double *lambda, verify_scale *scale) {
    const hamel_model *model = k->model;
    double most = 0;
    scale->a = 0;
    add_forces(k, a, lambda, scale->force);
    for (size_t i = 0; i < model->n; i++) {
        scale->mass[i] = 0;
        scale->a = fmax(scale->a, fabs(a[i]));
        most = fmax(most, scale->force[i]);
    }
    for (size_t i = 0; i < model->n; i++) scale->force[i] = fmax(scale->force[i], FLOOR * most);
    for (size_t e = 0; e < model->M.count; e++)
        if (model->M.row[e] == model->M.column[e]) scale->mass[model->M.row[e]] = k->values[model->at_M + e];
    widen_by_constraints(k, a, scale);
}

/* At most 1, also where there is nothing to compare with. */
static double relative(double difference, double scale) {
    double size = fabs(difference);
    return size > 0 ? size / (scale + size) : 0;
}

void verify_compare(size_t n, const verify_motion *x, const verify_motion *reference, const verify_scale *scale,
                    double *accelerations, double *reactions) {
    *accelerations = *reactions = 0;
    for (size_t i = 0; i < n; i++) {
        double a = x->a[i] - reference->a[i], mass = scale->mass[i];
        double here = mass > 0 ? relative(mass * a, scale->force[i]) : relative(a, scale->a);
        *accelerations = fmax(*accelerations, here);
        *reactions = fmax(*reactions, relative(x->reaction[i] - reference->reaction[i], scale->force[i]));
    }
}

static bool allocate_motion(verifier *v, verify_motion *motion) {
    motion->a = arena_alloc(v->a.memory, v->a.n, sizeof *motion->a);
    motion->reaction = arena_alloc(v->a.memory, v->a.n, sizeof *motion->reaction);
    return motion->a && motion->reaction;
}

static bool allocate(verifier *v) {
    size_t most = 0;
    while (formulation_at(most)) most++;
    v->states = arena_alloc(v->a.memory, HAMEL_VERIFY_STATES, sizeof *v->states);
    v->compared = arena_alloc(v->a.memory, most, sizeof *v->compared);
    v->refused = arena_alloc(v->a.memory, most, sizeof *v->refused);
    v->lambda = arena_alloc(v->a.memory, v->a.model->m, sizeof *v->lambda);
    v->velocity = arena_alloc(v->a.memory, v->a.n, sizeof *v->velocity);
    v->w = arena_alloc(v->a.memory, 2 * v->a.n, sizeof *v->w);
    return v->states && v->compared && v->refused && v->lambda && v->velocity && v->w && allocate_motion(v, &v->motion);
}

static bool allocate_state(verifier *v, compared_state *r) {
    r->scale.force = arena_alloc(v->a.memory, v->a.n, sizeof *r->scale.force);
    r->scale.mass = arena_alloc(v->a.memory, v->a.n, sizeof *r->scale.mass);
    return r->scale.force && r->scale.mass && sample_allocate(&v->a, &r->state) && allocate_motion(v, &r->motion);
}

/* Work grows with the cube of the size, and with the number of states: the larger the system, the fewer. */
static size_t states_wanted(const verifier *v) {
    double size = (double)(v->a.n + v->a.m);
    return (size_t)fmax(STATES_LEAST, fmin(HAMEL_VERIFY_STATES, WORK / (size * size * size)));
}

/* As many states as are wanted and can be found. */
static hamel_status draw_states(verifier *v) {
    const model_settings *settings = &v->a.model->settings;
    sampler *s = sampler_create(&v->a, settings->stop - settings->start);
    hamel_status status = s ? HAMEL_OK : analysis_no_memory(&v->a);
    size_t wanted = states_wanted(v);
    while (status == HAMEL_OK && v->count < wanted) {
        compared_state *r = &v->states[v->count];
        if (!allocate_state(v, r)) {
            status = analysis_no_memory(&v->a);
        } else if (!sampler_draw(s, &r->state)) {
            if (v->count == 0 || v->a.error->status != HAMEL_OK) status = samples_none(&v->a);
            break;
        } else {
            r->skipped = !r->state.clear;
            v->count++;
        }
    }
    sampler_free(s);
    return status;
}

/* As an integration goes about it: from q' to the velocity variables and back, and from their rates to accelerations. */
static hamel_status follow(verifier *v, kinetics *k, variables *x, const sample *at, verify_motion *motion,
                           hamel_error *error) {
    double *velocity = v->velocity, *w = v->w, *rates = w + v->a.n;
    memcpy(velocity, at->v, v->a.n * sizeof *velocity);
    hamel_status status = variables_from_velocities(x, at->t, at->q, velocity, w);
    if (status == HAMEL_OK) status = variables_velocities(x, at->t, at->q, w, velocity, error);
    if (status == HAMEL_OK) status = kinetics_evaluate(k, at->t, at->q, velocity, error);
    if (status == HAMEL_OK) status = kinetics_accelerations(k, 0, 0, motion->a, v->lambda, error);
    if (status == HAMEL_OK) status = variables_rates(x, motion->a, v->lambda, rates);
    return status == HAMEL_OK ? variables_accelerations(x, rates, motion->a) : status;
}

/* The motion at a state. A state that has no unique one is HAMEL_SINGULAR, INCOMPATIBLE or NOT_FINITE. */
static hamel_status motion_at(verifier *v, kinetics *k, const sample *at, verify_motion *motion, hamel_error *error) {
    const hamel_model *model = k->model;
    hamel_error own = {0};
    variables *x = variables_create(k, at->t, at->q, at->v, error ? error : &own);
    hamel_status status = x ? follow(v, k, x, at, motion, error) : error ? error->status : own.status;
    variables_free(x);
    hamel_error_clear(&own);
    if (status != HAMEL_OK) return status;
    memset(motion->reaction, 0, model->n * sizeof *motion->reaction);
    for (size_t e = 0; e < model->A.count; e++)
        motion->reaction[model->A.column[e]] += k->values[model->at_A + e] * v->lambda[model->A.row[e]];
    return HAMEL_OK;
}

static bool stops_everything(hamel_status status) {
    return status == HAMEL_NO_MEMORY || status == HAMEL_CANCELED || status == HAMEL_LIMIT;
}

static void compare_at(verifier *v, const compared_state *r, hamel_formulation_difference *d) {
    double accelerations, reactions;
    verify_compare(v->a.n, &v->motion, &r->motion, &r->scale, &accelerations, &reactions);
    d->accelerations = fmax(d->accelerations, accelerations);
    d->reactions = fmax(d->reactions, reactions);
}

/* Asks the model at every state: the first one becomes the reference, the others are compared with it. A fault is one
 * that stops everything, or the first one met when no state was good. */
static hamel_status tour(verifier *v, const hamel_model *model, hamel_formulation_difference *d, hamel_error *error) {
    bool first = v->result->compared_count == 0;
    hamel_error fault = {0};
    hamel_status status = HAMEL_OK;
    kinetics *k = kinetics_create(model);
    if (!k) return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the analysis");
    for (size_t i = 0; i < v->count && !stops_everything(status); i++) {
        compared_state *r = &v->states[i];
        if (system_interrupted(v->a.system)) status = v->a.error->status;
        if (r->skipped || stops_everything(status)) continue;
        status = motion_at(v, k, &r->state, first ? &r->motion : &v->motion, fault.count ? NULL : &fault);
        if (first && status != HAMEL_OK) r->skipped = true;
        if (status != HAMEL_OK) continue;
        d->states++;
        if (first)
            verify_scale_of(k, r->motion.a, v->lambda, &r->scale);
        else
            compare_at(v, r, d);
    }
    kinetics_free(k);
    if (!stops_everything(status) && d->states == 0 && fault.status == HAMEL_OK)
        status = hamel_fail(error, HAMEL_INCOMPATIBLE, "/constraints", 0,
                            "all states found are singular, so there is no motion to compare");
    else if (!stops_everything(status))
        status = d->states ? HAMEL_OK : fault.status;
    if (status != HAMEL_OK && error->status == HAMEL_OK)
        (void)hamel_fail(error, status, "", 0, "%s", fault.count ? fault.faults[0].message : "no memory");
    hamel_error_clear(&fault);
    return status;
}

static void add_difference(verifier *v, const hamel_formulation_difference *d) {
    hamel_verification *r = v->result;
    v->compared[r->compared_count++] = *d;
    r->max_relative_difference = fmax(r->max_relative_difference, fmax(d->accelerations, d->reactions));
    if (d->states < r->states) r->states = d->states;
}

static bool add_refusal(verifier *v, const char *name, const hamel_error *error) {
    const char *reason = error->count ? error->faults[0].message : hamel_status_meaning(error->status);
    hamel_formulation_refusal *r = &v->refused[v->result->refused_count++];
    *r = (hamel_formulation_refusal){name, arena_text(v->a.memory, reason, strlen(reason))};
    return r->reason != NULL;
}

static hamel_status try_formulation(verifier *v, const char *name) {
    hamel_description taken = *v->description;
    hamel_formulation_difference d = {.formulation = name};
    hamel_model *model = NULL;
    hamel_error error = {0};
    taken.simulation.formulation = name;
    hamel_status status = hamel_model_create(&model, &taken, v->limits, v->poll, &error);
    if (status == HAMEL_OK) status = tour(v, model, &d, &error);
    hamel_model_free(model);
    if (status == HAMEL_OK) {
        add_difference(v, &d);
    } else if (stops_everything(status)) {
        if (v->a.error->status == HAMEL_OK)
            (void)hamel_fail(v->a.error, status, "", 0, "%s",
                             error.count ? error.faults[0].message : hamel_status_meaning(status));
    } else {
        status = add_refusal(v, name, &error) ? HAMEL_OK : analysis_no_memory(&v->a);
    }
    hamel_error_clear(&error);
    return status;
}

/* At the first regular states, as Lagrange's equations are there. */
static hamel_status compare_differences(verifier *v) {
    enum { STATES = 4 };
    const sample *states[STATES];
    size_t count = 0;
    for (size_t i = 0; i < v->count && count < STATES; i++)
        if (!v->states[i].skipped) states[count++] = &v->states[i].state;
    return differences_compare(&v->a, states, count, &v->result->differences);
}

static hamel_status verify(verifier *v) {
    hamel_formulation_difference first = {.formulation = formulation_lagrange.name};
    hamel_verification *r = v->result;
    if (!allocate(v)) return analysis_no_memory(&v->a);
    hamel_status status = draw_states(v);
    if (status == HAMEL_OK) status = tour(v, v->a.model, &first, v->a.error);
    if (status == HAMEL_OK) status = compare_differences(v);
    if (status != HAMEL_OK) return status;
    r->states = first.states;
    add_difference(v, &first);
    for (size_t i = 0; formulation_at(i) && status == HAMEL_OK; i++)
        if (formulation_at(i) != &formulation_lagrange) status = try_formulation(v, formulation_at(i)->name);
    r->compared = v->compared;
    r->refused = v->refused;
    r->singular = v->count - r->states;
    r->tolerance = TOLERANCE;
    r->agree = r->max_relative_difference <= TOLERANCE && r->differences.agree;
    return status;
}

hamel_status hamel_verify(hamel_verification **out, const hamel_description *d, const hamel_limits *limits,
                          hamel_poll *poll, hamel_error *error) {
    hamel_limits taken = limits ? *limits : hamel_limits_default();
    hamel_error own = {0};
    if (!error) error = &own;
    *out = NULL;
    owned_verification *owned = calloc(1, sizeof *owned);
    if (!owned) return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the analysis");
    arena_init(&owned->memory, taken.memory);
    verifier v = {.a = {.memory = &owned->memory},
                  .description = d,
                  .limits = &taken,
                  .poll = poll,
                  .result = &owned->verification};
    hamel_status status = analysis_open(&v.a, d, &taken, poll, error);
    if (status == HAMEL_OK) status = verify(&v);
    hamel_model_free(v.a.model);
    if (status == HAMEL_OK)
        *out = &owned->verification;
    else
        hamel_verification_free(&owned->verification);
    hamel_error_clear(&own);
    return status;
}

void hamel_verification_free(hamel_verification *verification) {
    owned_verification *owned = (owned_verification *)verification;
    if (!owned) return;
    arena_free(&owned->memory);
    free(owned);
}
