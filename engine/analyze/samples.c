/* samples.c — random states that satisfy the constraints.
 *
 * Positions are drawn around the initial values and moved onto the holonomic constraints, velocities are drawn and moved
 * onto the velocity-level ones, both by Gauss–Newton steps of least length. The numbers have no relation to the system,
 * so what vanishes at such states vanishes identically but for a set of measure zero. */
#include "engine/analyze/analysis_int.h"

#include "engine/base/finite.h"
#include "engine/solve/mode.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 60, PATIENCE = 15, TRIES = 14 };
static const double RADIUS = 0.6;                      /* relative to an initial value above 1 */
static const double REACHED = 1e-13, ACCEPTED = 1e-10; /* scaled residuals: no further step; good enough */
static const double DEPENDENT = 1e-9, NEARLY_DEPENDENT = 1e-2;
/* A row that the projection has shrunk to less than this part of its size before approaches a zero of the gradient: the
 * apex of a cone in the velocities, where the motion is undefined. The least of 100 uniform draws of a factor in (−1, 1)
 * is about 1e-2, so that rows which only happen to be small remain. */
static const double VANISHING = 1e-3;

struct sampler {
    analysis *a;
    double *values, *workspace; /* of the model's dynamics program */
    motion_mode mode;           /* for its branches */
    double *row, *step, *right;
    double *drawn_size, *size; /* m: the largest entry of each row of A at the state as drawn, and now */
    row_basis basis;
    double span;   /* of time after the start, at RADIUS */
    double radius; /* around the initial values, at which a state was found last */
    uint64_t seed;
};

static void evaluate(sampler *p, const sample *s) {
    program_inputs in = model_inputs(p->a->model, &s->t, s->q, s->v, s->a, s->lambda, NULL);
    mode_choose_branches(&p->mode, s->t, s->q, s->v);
    in.values[SYMBOL_BRANCH] = p->mode.branches;
    program_evaluate(p->a->model->dynamics, &in, p->workspace, p->values);
}

/* One step of a group's x (positions or velocities) towards the constraints of its level at the values evaluated last;
 * returns the largest scaled residual before it, NaN when some value is not finite. */
static double improve_group(sampler *p, double *x, bool position, size_t group) {
    analysis *a = p->a;
    const groups *g = &a->groups;
    const int32_t *coordinates = g->coordinates + g->first_coordinate[group];
    const double *f = p->values + (position ? a->model->at_position : a->model->at_velocity);
    double worst = 0;
    row_basis_reset(&p->basis, groups_coordinates(g, group));
    for (size_t k = g->first_constraint[group]; k < g->first_constraint[group + 1]; k++) {
        size_t c = g->constraints[k];
        constraint_order order = a->model->order[c];
        if (order == CONSTRAINT_ACCELERATION || (position && order != CONSTRAINT_HOLONOMIC)) continue;
        double scale = 0;
        groups_row(g, group, &a->equations.A, p->values + a->model->at_A, c, p->row);
        for (size_t i = 0; i < p->basis.width; i++) scale += fabs(p->row[i]) * fmax(1, fabs(x[coordinates[i]]));
        double size = f[c] == 0 ? 0 : fabs(f[c]) / scale;
        if (!isfinite(size)) return NAN;
        worst = fmax(worst, size);
        size_t rank = p->basis.rank;
        if (row_basis_add(&p->basis, p->row)) p->right[rank] = -f[c];
    }
    row_basis_solve(&p->basis, p->right, p->step);
    for (size_t i = 0; i < p->basis.width; i++) x[coordinates[i]] += p->step[i];
    return worst;
}

static double improve(sampler *p, sample *s, bool position) {
    double worst = 0;
    evaluate(p, s);
    for (size_t k = 0; k < p->a->groups.count; k++) {
        double here = improve_group(p, position ? s->q : s->v, position, k);
        if (isnan(here)) return NAN;
        worst = fmax(worst, here);
    }
    return worst;
}

static bool project(sampler *p, sample *s, bool position) {
    double now = INFINITY;
    for (int i = 0; i < ITERATIONS && !system_interrupted(p->a->system); i++) {
        now = improve(p, s, position);
        if (!(now >= REACHED) || (i >= PATIENCE && now > 1e-2)) break;
    }
    return now < ACCEPTED;
}

/* Takes out of s->q − q0 what leads off the holonomic constraints at the initial values. Redundant constraints that are
 * pulled apart come together again only as the root of the residual, too far apart to be told redundant. */
static void follow_constraints(sampler *p, sample *s) {
    const analysis *a = p->a;
    const groups *g = &a->groups;
    sample initial = *s;
    initial.t = a->model->settings.start;
    initial.q = a->model->q0;
    evaluate(p, &initial);
    for (size_t group = 0; group < g->count; group++) {
        const int32_t *coordinates = g->coordinates + g->first_coordinate[group];
        row_basis_reset(&p->basis, groups_coordinates(g, group));
        for (size_t k = g->first_constraint[group]; k < g->first_constraint[group + 1]; k++) {
            size_t c = g->constraints[k], rank = p->basis.rank;
            if (a->model->order[c] != CONSTRAINT_HOLONOMIC) continue;
            groups_row(g, group, &a->equations.A, p->values + a->model->at_A, c, p->row);
            double off = 0;
            for (size_t i = 0; i < p->basis.width; i++)
                off += p->row[i] * (s->q[coordinates[i]] - a->model->q0[coordinates[i]]);
            if (row_basis_add(&p->basis, p->row)) p->right[rank] = -off;
        }
        row_basis_solve(&p->basis, p->right, p->step);
        for (size_t i = 0; i < p->basis.width; i++) s->q[coordinates[i]] += p->step[i];
    }
}

/* All values of the dynamics program finite: the state lies where the system is defined. */
static bool is_regular(sampler *p, const sample *s) {
    evaluate(p, s);
    return all_finite(p->values, p->a->model->dynamics_count);
}

static size_t rank_of_group(sampler *p, size_t group, double tolerance) {
    const groups *g = &p->a->groups;
    p->basis.tolerance = tolerance;
    row_basis_reset(&p->basis, groups_coordinates(g, group));
    for (size_t k = g->first_constraint[group]; k < g->first_constraint[group + 1]; k++) {
        groups_row(g, group, &p->a->equations.A, p->values + p->a->model->at_A, g->constraints[k], p->row);
        (void)row_basis_add(&p->basis, p->row);
    }
    p->basis.tolerance = DEPENDENT;
    return p->basis.rank;
}

/* The largest entry of each row of A at the values evaluated last; m. */
static void measure_rows(const sampler *p, double *size) {
    const hamel_model *model = p->a->model;
    for (size_t c = 0; c < model->m; c++) size[c] = 0;
    for (size_t e = 0; e < model->A.count; e++) {
        double *row = &size[model->A.row[e]];
        *row = fmax(*row, fabs(p->values[model->at_A + e])); /* fmax drops a NaN */
    }
}

/* Whether a row at the values evaluated last has nearly vanished on the way from the state as drawn. */
static bool has_vanishing_row(const sampler *p) {
    measure_rows(p, p->size);
    for (size_t c = 0; c < p->a->m; c++)
        if (p->size[c] < VANISHING * p->drawn_size[c]) return true;
    return false;
}

/* At the values evaluated last constraints depend on each other or they do not. In between lie states that approach,
 * but cannot reach, configurations where constraints touch each other, as in overconstrained linkages. */
static bool has_clear_rank(sampler *p) {
    for (size_t k = 0; k < p->a->groups.count; k++)
        if (rank_of_group(p, k, DEPENDENT) != rank_of_group(p, k, NEARLY_DEPENDENT)) return false;
    return true;
}

/* The nearer to the initial values in space, the nearer in time. */
static void draw(sampler *p, sample *s) {
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
    return project(p, s, true) && project(p, s, false) && is_regular(p, s);
}

/* Draws until a state satisfies the constraints with a clear rank, each failed projection at half the radius: the system may
 * be defined near the initial values only. Half of the tries stay at a radius where projections succeed, since regular
 * states may be rare among those that satisfy the constraints. The last try is at the initial values, which may be the only
 * state of clear rank; its own is accepted as it is. */
bool sampler_draw(sampler *p, sample *s) {
    p->radius = p->radius > 0 ? fmin(RADIUS, 2 * p->radius) : RADIUS;
    for (int i = 0; i < TRIES; i++) {
        if (i + 1 == TRIES) p->radius = 0;
        draw(p, s);
        evaluate(p, s);
        measure_rows(p, p->drawn_size);
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
    s->q = arena_alloc(a->memory, a->n, sizeof *s->q);
    s->v = arena_alloc(a->memory, a->n, sizeof *s->v);
    s->free_v = arena_alloc(a->memory, a->n, sizeof *s->free_v);
    s->a = arena_alloc(a->memory, a->n, sizeof *s->a);
    s->nonideal = arena_alloc(a->memory, a->n, sizeof *s->nonideal);
    s->lambda = arena_alloc(a->memory, a->model->m, sizeof *s->lambda); /* 0 of what does not act */
    return s->q && s->v && s->free_v && s->a && s->nonideal && s->lambda;
}

sampler *sampler_create(analysis *a, double span) {
    const hamel_model *model = a->model;
    sampler *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    *p = (sampler){.a = a, .span = span, .radius = RADIUS, .seed = 0x9e3779b97f4a7c15u};
    p->values = calloc(model->dynamics_count + 1, sizeof *p->values);
    p->workspace = calloc(program_workspace_doubles(model->dynamics) + 1, sizeof *p->workspace);
    p->row = calloc(2 * a->n + a->m + 2 * model->m + 1, sizeof *p->row);
    p->step = p->row ? p->row + a->n : NULL;
    p->right = p->row ? p->step + a->n : NULL;
    p->drawn_size = p->row ? p->right + a->m : NULL;
    p->size = p->row ? p->drawn_size + model->m : NULL;
    if (!row_basis_init(&p->basis, a->groups.most_constraints, a->groups.most_coordinates, DEPENDENT) || !p->values ||
        !p->workspace || !p->row || !mode_create(&p->mode, model)) {
        sampler_free(p);
        return NULL;
    }
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->dynamics, &in, p->workspace);
    return p;
}

void sampler_free(sampler *p) {
    if (!p) return;
    row_basis_free(&p->basis);
    mode_free(&p->mode);
    free(p->values);
    free(p->workspace);
    free(p->row);
    free(p);
}

hamel_status samples_none(analysis *a) {
    if (a->error->status != HAMEL_OK) return a->error->status; /* canceled */
    bool constrained = a->model->m > 0;
    (void)hamel_fail(a->error, HAMEL_INCOMPATIBLE, constrained ? "/constraints" : "", 0,
                     "no state near the initial values was found %s",
                     constrained ? "that satisfies the constraints" : "at which the equations are finite");
    hamel_suggest(a->error, "give initial values at which the system is defined%s",
                  constrained ? " and the constraints hold" : "");
    return HAMEL_INCOMPATIBLE;
}

/* The initial state itself, moved onto the constraints. */
static bool draw_start(sampler *p) {
    analysis *a = p->a;
    if (!sample_allocate(a, &a->start)) return false;
    p->radius = 0;
    draw(p, &a->start);
    a->start.t = a->model->settings.start;
    for (size_t i = 0; i < a->n; i++) a->start.v[i] = a->model->v0[i];
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
