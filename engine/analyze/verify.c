/* verify.c — comparison of all formulations at random states.
 *
 * Lagrange's equations give the reference accelerations and reactions at random states. For each other formulation a
 * model is created from the same description, and its results at these states are compared. If a formulation does not
 * apply, the reason is reported instead of a difference. Singular states are skipped and counted. */
#include "engine/analyze/verify.h"

#include "engine/analyze/analysis_int.h"
#include "engine/dynamics/variables.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Largest relative difference that counts as agreement. With the scales below, rounding errors do not exceed this
 * bound. A wrong term usually changes an equation by a large fraction of its terms. */
static const double TOLERANCE = 1e-9;
/* Lower bound on the force scale of a coordinate, relative to the largest force. Canceling terms of other coordinates
 * leave rounding errors on a coordinate without forces. If products of momenta and rates cancel (Hamel's coefficients),
 * these errors reach 1e-13 of the largest force. The bound is therefore 1e-13 / TOLERANCE. */
static const double SCALE_LEAST = 1e-4;
enum { STATES_LEAST = 4 };
/* Upper bound on states · (coordinates + constraints)³, to which the time of a comparison is proportional. The bound
 * allows 100 states for up to 158 coordinates and constraints. */
static const double VERIFY_WORK = 4e8;

typedef struct compared_state {
    sample state;
    verify_motion motion;
    verify_scale scale;
    bool skipped;
} compared_state;

typedef struct verifier {
    analysis *a;
    compared_state *states;
    size_t count; /* states drawn */
    verify_motion motion;
    /* lambda: m entries; velocity: n; w: 2n, velocity variables (at most n), then their rates */
    double *lambda, *velocity, *w;
    hamel_formulation_difference *compared;
    hamel_formulation_refusal *refused;
    hamel_verification *result;
} verifier;

static void sum_force_terms(const dynamics *k, const double *a, const double *lambda, double *force) {
    const hamel_model *model = k->model;
    const double *A = k->values + model->dynamics.A.at, *Q = k->values + model->dynamics.at_Q;
    for (size_t i = 0; i < model->n; i++) force[i] = fabs(Q[i]);
    sparse_block_multiply_magnitudes(&model->dynamics.M, k->values, a, force);
    for (size_t e = 0; e < model->dynamics.A.count; e++)
        force[model->dynamics.A.column[e]] += fabs(A[e] * lambda[model->dynamics.A.row[e]]);
}

/* If a constraint determines a small acceleration from larger ones, raises the scale of the small acceleration. Its
 * absolute error is as large as the error of the larger accelerations, because the terms of A q'' cancel. */
static void widen_by_constraints(const dynamics *k, const double *a, verify_scale *scale) {
    const hamel_model *model = k->model;
    const double *A = k->values + model->dynamics.A.at;
    for (size_t e = 0, end; e < model->dynamics.A.count; e = end) {
        double terms = 0, most = 0;
        for (end = e; end < model->dynamics.A.count && model->dynamics.A.row[end] == model->dynamics.A.row[e]; end++) {
            terms += fabs(A[end] * a[model->dynamics.A.column[end]]);
            most = fmax(most, fabs(A[end]));
        }
        for (size_t i = e; i < end && most > 0; i++) {
            double *force = &scale->force[model->dynamics.A.column[i]], mass = scale->mass[model->dynamics.A.column[i]];
            *force = fmax(*force, mass * terms * fabs(A[i]) / (most * most));
        }
    }
}

void verify_scale_of(const dynamics *k, const double *a, const double *lambda, verify_scale *scale) {
    const hamel_model *model = k->model;
    double most = 0;
    scale->a = 0;
    sum_force_terms(k, a, lambda, scale->force);
    for (size_t i = 0; i < model->n; i++) {
        scale->mass[i] = 0;
        scale->a = fmax(scale->a, fabs(a[i]));
        most = fmax(most, scale->force[i]);
    }
    for (size_t i = 0; i < model->n; i++) scale->force[i] = fmax(scale->force[i], SCALE_LEAST * most);
    sparse_block_diagonal(&model->dynamics.M, k->values, scale->mass);
    widen_by_constraints(k, a, scale);
}

/* Returns a difference relative to a scale. The result is at most 1, also if the scale is 0. */
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
    motion->a = arena_doubles(v->a->memory, v->a->n);
    motion->reaction = arena_doubles(v->a->memory, v->a->n);
    return !v->a->memory->failed;
}

static bool allocate_verifier(verifier *v) {
    size_t most = 0;
    while (formulation_at(most)) most++;
    v->states = arena_alloc(v->a->memory, HAMEL_VERIFY_STATES, sizeof *v->states);
    v->compared = arena_alloc(v->a->memory, most, sizeof *v->compared);
    v->refused = arena_alloc(v->a->memory, most, sizeof *v->refused);
    v->lambda = arena_doubles(v->a->memory, v->a->model->m);
    v->velocity = arena_doubles(v->a->memory, v->a->n);
    v->w = arena_doubles(v->a->memory, 2 * v->a->n);
    return allocate_motion(v, &v->motion);
}

static bool allocate_state(verifier *v, compared_state *r) {
    r->scale.force = arena_doubles(v->a->memory, v->a->n);
    r->scale.mass = arena_doubles(v->a->memory, v->a->n);
    return sample_allocate(v->a, &r->state) && allocate_motion(v, &r->motion);
}

/* Returns how many states to draw. The work per state grows with the cube of the number of coordinates and constraints,
 * so larger systems are compared at fewer states. */
static size_t states_wanted(const verifier *v) {
    double size = (double)(v->a->n + v->a->m);
    return (size_t)fmax(STATES_LEAST, fmin(HAMEL_VERIFY_STATES, VERIFY_WORK / (size * size * size)));
}

/* Draws states until their number suffices or no further state is found. */
static hamel_status draw_states(verifier *v) {
    const model_settings *settings = &v->a->model->settings;
    sampler *s = sampler_create(v->a, settings->stop - settings->start);
    hamel_status status = s ? HAMEL_OK : analysis_no_memory(v->a);
    size_t wanted = states_wanted(v);
    while (status == HAMEL_OK && v->count < wanted) {
        compared_state *r = &v->states[v->count];
        if (!allocate_state(v, r)) {
            status = analysis_no_memory(v->a);
        } else if (!sampler_draw(s, &r->state)) {
            if (v->count == 0 || v->a->error->status != HAMEL_OK) status = samples_none(v->a);
            break;
        } else {
            r->skipped = !r->state.clear;
            v->count++;
        }
    }
    sampler_free(s);
    return status;
}

/* Computes accelerations as an integration does: converts q' to velocity variables and back, then converts the rates of
 * the velocity variables to accelerations. */
static hamel_status convert_velocities(verifier *v, dynamics *k, variables *x, const sample *at, verify_motion *motion,
                                       hamel_error *error) {
    double *velocity = v->velocity, *w = v->w, *rates = w + v->a->n;
    memcpy(velocity, at->v, v->a->n * sizeof *velocity);
    hamel_status status = variables_from_velocities(x, at->t, at->q, velocity, w);
    if (status == HAMEL_OK) status = variables_velocities(x, at->t, at->q, w, velocity, error);
    if (status == HAMEL_OK) status = dynamics_evaluate(k, at->t, at->q, velocity, error);
    if (status == HAMEL_OK) status = dynamics_accelerations(k, 0, 0, motion->a, v->lambda, error);
    if (status == HAMEL_OK) status = variables_rates(x, motion->a, v->lambda, rates);
    return status == HAMEL_OK ? variables_accelerations(x, rates, motion->a) : status;
}

/* Computes accelerations and reactions at a state. Returns HAMEL_SINGULAR, HAMEL_INCOMPATIBLE or HAMEL_NOT_FINITE if
 * the results are not unique or not finite. */
static hamel_status motion_at(verifier *v, dynamics *k, const sample *at, verify_motion *motion, hamel_error *error) {
    const hamel_model *model = k->model;
    hamel_error own = {0};
    variables *x = variables_create(k, at->t, at->q, at->v, error ? error : &own);
    hamel_status status = x ? convert_velocities(v, k, x, at, motion, error) : error ? error->status : own.status;
    variables_free(x);
    hamel_error_clear(&own);
    if (status != HAMEL_OK) return status;
    memset(motion->reaction, 0, model->n * sizeof *motion->reaction);
    sparse_block_multiply_transposed(&model->dynamics.A, k->values, 1, v->lambda, motion->reaction);
    return HAMEL_OK;
}

/* If `error` has the status `status`, returns its message. Otherwise returns the meaning of `status`. */
static const char *text_of(const hamel_error *error, hamel_status status) {
    return error->count && error->status == status ? error->faults[0].message : hamel_status_meaning(status);
}

static bool stops_comparisons(hamel_status status) {
    return status == HAMEL_NO_MEMORY || status == HAMEL_CANCELED || status == HAMEL_LIMIT;
}

/* Evaluates the model at every state. The results of the first model are the reference for the results of the other
 * models. Fails with HAMEL_NO_MEMORY, HAMEL_CANCELED or HAMEL_LIMIT, which end all comparisons. If the model could not
 * be evaluated at any state, fails with the first error. */
static hamel_status evaluate_formulation(verifier *v, const hamel_model *model, hamel_formulation_difference *d,
                                         hamel_error *error) {
    assert(model->n == v->a->n && model->m <= v->a->model->m);
    bool first = v->result->compared_count == 0;
    hamel_error fault = {0};
    hamel_status status = HAMEL_OK;
    dynamics *k = dynamics_create(model);
    if (!k) return hamel_out_of_memory(error);
    for (size_t i = 0; i < v->count && !stops_comparisons(status); i++) {
        compared_state *r = &v->states[i];
        if (system_interrupted(v->a->system)) status = v->a->error->status;
        if (r->skipped || stops_comparisons(status)) continue;
        status = motion_at(v, k, &r->state, first ? &r->motion : &v->motion, fault.count ? NULL : &fault);
        if (first && status != HAMEL_OK) r->skipped = true;
        if (status != HAMEL_OK) continue;
        double accelerations = 0, reactions = 0;
        d->states++;
        if (first)
            verify_scale_of(k, r->motion.a, v->lambda, &r->scale);
        else
            verify_compare(v->a->n, &v->motion, &r->motion, &r->scale, &accelerations, &reactions);
        d->accelerations = fmax(d->accelerations, accelerations);
        d->reactions = fmax(d->reactions, reactions);
    }
    dynamics_free(k);
    if (!stops_comparisons(status)) status = d->states > 0 ? HAMEL_OK : fault.status;
    if (status == HAMEL_OK && d->states == 0)
        status = hamel_fail(error, HAMEL_INCOMPATIBLE, "/constraints", 0,
                            "all random states are singular, so no motion can be compared");
    if (status != HAMEL_OK && error->status == HAMEL_OK)
        (void)hamel_fail(error, status, "", 0, "%s", text_of(&fault, status));
    hamel_error_clear(&fault);
    return status;
}

static void add_difference(verifier *v, const hamel_formulation_difference *d) {
    hamel_verification *r = v->result;
    v->compared[r->compared_count++] = *d;
    r->max_relative_difference = fmax(r->max_relative_difference, fmax(d->accelerations, d->reactions));
    if (d->states < r->states) r->states = d->states;
}

static hamel_status try_formulation(verifier *v, const char *name) {
    hamel_description taken = *v->a->request.description;
    hamel_formulation_difference d = {.formulation = name};
    hamel_model *model = NULL;
    hamel_error error = {0};
    taken.simulation.formulation = name;
    hamel_status status = model_derive(&model, &taken, v->a->request.limits, v->a->request.poll, &error);
    if (status == HAMEL_OK) status = evaluate_formulation(v, model, &d, &error);
    hamel_model_free(model);
    if (status == HAMEL_OK) {
        add_difference(v, &d);
    } else if (stops_comparisons(status)) {
        if (v->a->error->status == HAMEL_OK)
            (void)hamel_fail(v->a->error, status, "", 0, "%s", text_of(&error, status));
    } else {
        hamel_formulation_refusal *r = &v->refused[v->result->refused_count++];
        *r = (hamel_formulation_refusal){name, arena_format(v->a->memory, "%s", text_of(&error, status))};
        status = r->reason ? HAMEL_OK : analysis_no_memory(v->a);
    }
    hamel_error_clear(&error);
    return status;
}

/* Compares Lagrange's equations with finite differences at the first regular states. */
static hamel_status compare_differences(verifier *v) {
    enum { STATES = 4 };
    const sample *states[STATES];
    size_t count = 0;
    for (size_t i = 0; i < v->count && count < STATES; i++)
        if (!v->states[i].skipped) states[count++] = &v->states[i].state;
    return differences_compare(v->a, states, count, &v->result->differences);
}

static hamel_status verify(analysis *a, void *result, void *context) {
    hamel_formulation_difference first = {.formulation = formulation_lagrange.name};
    hamel_verification *r = result;
    verifier all = {.a = a, .result = r}, *v = &all;
    (void)context;
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK && !allocate_verifier(v)) status = analysis_no_memory(a);
    if (status == HAMEL_OK) status = draw_states(v);
    if (status == HAMEL_OK) status = evaluate_formulation(v, v->a->model, &first, v->a->error);
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
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, verify, NULL, out);
}

void hamel_verification_free(hamel_verification *verification) {
    analysis_result_free(verification);
}
