/* samples.c — creation of random states that satisfy the constraints.
 *
 * Positions are drawn around the initial values and projected onto the holonomic constraints. Velocities are drawn and
 * projected onto the velocity-level constraints. Both projections use Gauss–Newton steps of least norm. The random
 * numbers do not depend on the system. If an expression vanishes at all samples, it is therefore zero everywhere,
 * except with probability zero. */
#include "engine/analyze/analysis_int.h"

#include "engine/base/finite.h"
#include "engine/base/tolerances.h"
#include "engine/dynamics/discrete_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ITERATIONS bounds the iterations of a projection. If the residual still exceeds 1e-2 after PATIENCE iterations, the
 * projection fails. TRIES bounds the attempts to draw a state. These limits bound the time. Near a solution,
 * convergence is quadratic: about five iterations reduce 0.1 to rounding errors. */
enum { ITERATIONS = 60, PATIENCE = 15, TRIES = 14 };
/* Largest distance from the initial values, relative to max(1, |value|). An angle that is initially 0 leaves this
 * special value by up to 34 degrees, but does not reach singularities at 90 degrees. */
static const double RADIUS = 0.6;
/* Bounds on the scaled residual. A projection stops below SETTLED_EXACTLY, a few hundred ε (2.2e-16). A state is
 * accepted below ACCEPTED, a tenth of SAMPLED_RANK_TOLERANCE. */
static const double SETTLED_EXACTLY = 1e-13, ACCEPTED = 1e-10;
/* The rank of a state is ambiguous if this tolerance and SAMPLED_RANK_TOLERANCE give different ranks. At regular
 * states, the angle between a row and the span of other rows is seldom below half a degree. */
static const double NEARLY_DEPENDENT = 1e-2;
/* A projection that reduces a row of A below this fraction of its size approaches a point where the gradient of the
 * constraint vanishes. An example is the apex of a cone of admissible velocities. The motion is undefined at such a
 * state. The smallest of 100 uniform draws from (−1, 1) is about 1e-2, so rows that are small by chance are above the
 * bound. */
static const double VANISHING = 1e-3;

struct sampler {
    analysis *a;
    double *values, *workspace;    /* outputs and workspace of model->dynamics.program */
    discrete_state discrete_state; /* chooses the branches of that program */
    double *row, *step, *right;
    /* m entries each: largest absolute entry of each row of A; drawn_size: when the state was drawn; size: now */
    double *drawn_size, *size;
    rank_rows basis;
    double span;   /* length of the interval of times after the initial time if radius = RADIUS */
    double radius; /* distance from the initial values at which the last state was found */
    uint64_t seed;
};

static void evaluate_sample(sampler *p, const sample *s) {
    discrete_state_choose_branches(&p->discrete_state, s->t, s->q, s->v);
    const program_inputs in = discrete_state_inputs(&p->discrete_state, &s->t, s->q, s->v, s->a, s->lambda);
    program_evaluate(p->a->model->dynamics.program, &in, p->workspace, p->values);
}

/* Moves a group's entries of x (positions or velocities) by one Gauss–Newton step towards the constraints of this
 * level. Uses the values evaluated last. If `from` is not NULL, the linearization A (x − from) replaces the residuals.
 * Returns the largest scaled residual before the step, or NaN if a residual is not finite. */
static double improve_group(sampler *p, double *x, const double *from, bool position, size_t group) {
    assert(group < p->a->groups.count && (!from || position));
    analysis *a = p->a;
    const groups *g = &a->groups;
    const int32_t *coordinates = g->coordinates + g->first_coordinate[group];
    const double *f = p->values + (position ? a->model->dynamics.at_position : a->model->dynamics.at_velocity);
    double worst = 0;
    rank_rows_reset(&p->basis, groups_coordinates(g, group));
    for (size_t k = g->first_constraint[group]; k < g->first_constraint[group + 1]; k++) {
        size_t c = g->constraints[k], rank = p->basis.rank;
        constraint_order order = a->model->order[c];
        if (order == CONSTRAINT_ACCELERATION || (position && order != CONSTRAINT_HOLONOMIC)) continue;
        double scale = 0, residual = from ? 0 : f[c];
        groups_row(g, group, &a->equations.A, p->values + a->model->dynamics.A.at, c, p->row);
        for (size_t i = 0; i < p->basis.width; i++) {
            scale += fabs(p->row[i]) * fmax(1, fabs(x[coordinates[i]]));
            if (from) residual += p->row[i] * (x[coordinates[i]] - from[coordinates[i]]);
        }
        double size = residual == 0 ? 0 : fabs(residual) / scale;
        if (!from && !isfinite(size)) return NAN;
        worst = fmax(worst, size);
        if (rank_rows_add(&p->basis, p->row)) p->right[rank] = -residual;
    }
    rank_rows_solve(&p->basis, p->right, p->step);
    for (size_t i = 0; i < p->basis.width; i++) x[coordinates[i]] += p->step[i];
    return worst;
}

static bool project_sample(sampler *p, sample *s, bool position) {
    double now = INFINITY;
    for (int i = 0; i < ITERATIONS && !system_interrupted(p->a->system); i++) {
        evaluate_sample(p, s);
        now = 0;
        for (size_t k = 0; k < p->a->groups.count && !isnan(now); k++) {
            double here = improve_group(p, position ? s->q : s->v, NULL, position, k);
            now = isnan(here) ? NAN : fmax(now, here);
        }
        if (!(now >= SETTLED_EXACTLY) || (i >= PATIENCE && now > 1e-2)) break;
    }
    return now < ACCEPTED;
}

/* Removes the part of s->q − q0 that violates the holonomic constraints to first order at the initial values. Without
 * this step, the rows of redundant constraints could differ by the square root of the residual. Such rows would appear
 * independent. */
static void follow_constraints(sampler *p, sample *s) {
    const hamel_model *model = p->a->model;
    sample initial = *s;
    initial.t = model->settings.start;
    initial.q = model->q0;
    evaluate_sample(p, &initial);
    for (size_t k = 0; k < p->a->groups.count; k++) (void)improve_group(p, s->q, model->q0, true, k);
}

static size_t rank_of_group(sampler *p, size_t group, double tolerance) {
    assert(group < p->a->groups.count && tolerance > 0 && tolerance < 1);
    p->basis.tolerance = tolerance;
    size_t rank = groups_rank(&p->a->groups, group, &p->a->equations.A, p->values + p->a->model->dynamics.A.at,
                              &p->basis, p->row, NULL);
    p->basis.tolerance = SAMPLED_RANK_TOLERANCE;
    return rank;
}

/* Returns true if a row of A, at the values evaluated last, is smaller than VANISHING times its size when the state was
 * drawn. */
static bool has_vanishing_row(const sampler *p) {
    sparse_block_row_sizes(&p->a->model->dynamics.A, p->values, p->size);
    for (size_t c = 0; c < p->a->m; c++)
        if (p->size[c] < VANISHING * p->drawn_size[c]) return true;
    return false;
}

/* Returns true if the rank at the values evaluated last is unambiguous. The rank is ambiguous, for example, if the
 * projection approaches a singular configuration of an overconstrained linkage without reaching the configuration. */
static bool has_clear_rank(sampler *p) {
    for (size_t k = 0; k < p->a->groups.count; k++)
        if (rank_of_group(p, k, SAMPLED_RANK_TOLERANCE) != rank_of_group(p, k, NEARLY_DEPENDENT)) return false;
    return true;
}

/* Draws a state within p->radius of the initial values. The range of times is proportional to the radius. */
static void draw_sample(sampler *p, sample *s) {
    assert(p->radius >= 0 && p->radius <= RADIUS);
    const analysis *a = p->a;
    uint64_t *seed = &p->seed;
    s->t = a->model->settings.start + p->span * p->radius / RADIUS * random_uniform(seed, 0.05, 0.95);
    for (size_t i = 0; i < a->n; i++) {
        s->q[i] = a->model->q0[i] + p->radius * fmax(1, fabs(a->model->q0[i])) * random_uniform(seed, -1, 1);
        s->v[i] = random_uniform(seed, -1.5, 1.5);
        s->free_v[i] = random_uniform(seed, -1.5, 1.5);
        s->a[i] = random_uniform(seed, -1.5, 1.5);
        s->nonideal[i] = random_uniform(seed, -1.5, 1.5);
    }
    for (size_t c = 0; c < a->m; c++) s->lambda[c] = random_uniform(seed, -1.5, 1.5);
}

bool sampler_settle(sampler *p, sample *s) {
    if (!project_sample(p, s, true) || !project_sample(p, s, false)) return false;
    evaluate_sample(p, s);
    return all_finite(p->values, p->a->model->dynamics.count);
}

/* Draws states until one satisfies the constraints and has an unambiguous rank. A failed projection halves the radius,
 * because the system may be defined near the initial values only. In the first half of the attempts, a successful
 * projection onto a state of ambiguous rank keeps the radius, because regular states may be rare. The last attempt
 * starts from the initial positions and accepts an ambiguous rank. */
bool sampler_draw(sampler *p, sample *s) {
    p->radius = p->radius > 0 ? fmin(RADIUS, 2 * p->radius) : RADIUS;
    for (int i = 0; i < TRIES; i++) {
        if (i + 1 == TRIES) p->radius = 0;
        draw_sample(p, s);
        evaluate_sample(p, s);
        sparse_block_row_sizes(&p->a->model->dynamics.A, p->values, p->drawn_size);
        follow_constraints(p, s);
        bool good = sampler_settle(p, s);
        s->clear = good && !has_vanishing_row(p) && has_clear_rank(p);
        if (s->clear || (good && p->radius == 0)) return true;
        if (p->a->error->status != HAMEL_OK) return false;
        if (!good || i >= TRIES / 2) p->radius *= 0.5;
    }
    return false;
}

bool sample_allocate(const analysis *a, sample *s) {
    size_t n = a->n;
    double *q = arena_doubles(a->memory, 5 * n + a->model->m); /* λ remains 0 for inactive constraints */
    if (q) *s = (sample){0, q, q + n, q + 2 * n, q + 3 * n, q + 4 * n, q + 5 * n, false};
    return q != NULL;
}

void sample_copy(const analysis *a, sample *to, const sample *from) {
    assert(to->lambda == to->q + 5 * a->n && from->lambda == from->q + 5 * a->n);
    to->t = from->t;
    memcpy(to->q, from->q, (5 * a->n + a->model->m) * sizeof *to->q);
}

sampler *sampler_create(analysis *a, double span) {
    const hamel_model *model = a->model;
    sampler *p = arena_alloc(a->memory, 1, sizeof *p);
    if (!p) return NULL;
    *p = (sampler){.a = a, .span = span, .radius = RADIUS, .seed = 0x9e3779b97f4a7c15u};
    p->values = arena_doubles(a->memory, model->dynamics.count);
    p->workspace = model_workspace(model, model->dynamics.program, a->memory);
    p->row = arena_doubles(a->memory, a->n);
    p->step = arena_doubles(a->memory, a->n);
    p->right = arena_doubles(a->memory, a->m);
    p->drawn_size = arena_doubles(a->memory, model->m);
    p->size = arena_doubles(a->memory, model->m);
    if (!rank_rows_init(&p->basis, a->groups.most_constraints, a->groups.most_coordinates, SAMPLED_RANK_TOLERANCE) ||
        !discrete_state_create(&p->discrete_state, model, a->memory) || a->memory->failed) {
        sampler_free(p);
        return NULL;
    }
    return p;
}

void sampler_free(sampler *p) {
    if (p) rank_rows_free(&p->basis);
}

hamel_status samples_none(analysis *a) {
    if (a->error->status != HAMEL_OK) return a->error->status; /* canceled */
    bool constrained = a->model->m > 0;
    (void)hamel_fail(a->error, HAMEL_INCOMPATIBLE, constrained ? "/constraints" : "", 0,
                     "no state near the initial values was found %s",
                     constrained ? "that satisfies the constraints" : "at which the equations are finite");
    hamel_suggest(a->error, "specify initial values at which the system is defined%s",
                  constrained ? " and the constraints hold" : "");
    return HAMEL_INCOMPATIBLE;
}

/* Projects the initial state onto the constraints and stores it in a->start. Returns false if out of memory. */
static bool draw_start(sampler *p) {
    analysis *a = p->a;
    if (!sample_allocate(a, &a->start)) return false;
    p->radius = 0;
    draw_sample(p, &a->start);
    a->start.t = a->model->settings.start;
    memcpy(a->start.v, a->model->v0, a->n * sizeof *a->start.v);
    a->start_known = sampler_settle(p, &a->start);
    return true;
}

hamel_status samples_draw(analysis *a) {
    const model_settings *settings = &a->model->settings;
    sampler *p = sampler_create(a, fmin(settings->stop - settings->start, 1));
    hamel_status status = p ? HAMEL_OK : analysis_no_memory(a);
    for (size_t k = 0; k < SAMPLE_COUNT && status == HAMEL_OK; k++) {
        if (!sample_allocate(a, &a->samples[k]))
            status = analysis_no_memory(a);
        else if (!sampler_draw(p, &a->samples[k]))
            status = samples_none(a);
    }
    if (status == HAMEL_OK && !draw_start(p)) status = analysis_no_memory(a);
    sampler_free(p);
    return status;
}
