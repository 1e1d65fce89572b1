/* friction.c — see the header. Newton's method starts with the signs of the last solution, because signs rarely change
 * along a motion. */
#include "engine/dynamics/friction.h"

#include "engine/linear/dense.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first three values bound the time for k frictions: O(k³) for a sign pattern, O(k²) for a fixed-point step. */
enum {
    NEWTON_ITERATIONS = 30,   /* upper bound on sign patterns tried by Newton's method */
    CONTRACTION_STEPS = 2000, /* upper bound on fixed-point steps; the signs are tested every 50 steps */
    ENUMERATED = 10,          /* upper bound on frictions for which all sign patterns are tried: 1024 small systems */
    NAMED = 6                 /* upper bound on constraints named in a message */
};
/* Relative distance below which two solutions count as equal: the rounding error for a condition number of 1e7. */
static const double SAME_SOLUTION = 1e-9;
/* The sign of a multiplier below this fraction of the largest multiplier is ignored. The bound is a few thousand ε
 * (2.2e-16), so such a multiplier may be a rounding error. */
static const double SIGN = 1e-12;

typedef enum search { FOUND, NONE, SEVERAL } search;

struct friction {
    const hamel_model *model;
    size_t k;
    double *T;              /* k × k, column-major: T_jk of the header */
    double *p, *p0, *other; /* k entries each; p: solution; p0: multipliers without friction; other: scratch */
    double *sign;           /* k: signs of the last solution */
    double *matrix, *scale; /* factors of I − T diag(sign); matrix: k × k; scale: k entries */
    size_t *pivot;          /* k */
    /* force: n entries, a friction force; response: m entries, the multipliers that it causes */
    double *force, *response;
    double *motion; /* n: the accelerations that the friction force causes */
};

friction *friction_create(const hamel_model *model, arena *memory) {
    assert(model->friction.count > 0);
    size_t n = model->n, k = model->friction.count;
    friction *f = arena_alloc(memory, 1, sizeof *f);
    if (!f) return NULL;
    *f = (friction){.model = model, .k = k, .pivot = arena_alloc(memory, k, sizeof *f->pivot)};
    if (!ARENA_DOUBLES(memory, {&f->T, k * k}, {&f->p, k}, {&f->p0, k}, {&f->other, k}, {&f->sign, k},
                       {&f->matrix, k * k}, {&f->scale, k}, {&f->force, n}, {&f->response, model->m}, {&f->motion, n}))
        return NULL;
    for (size_t j = 0; j < k; j++) f->sign[j] = 1;
    return f;
}

void friction_add_forces(const hamel_model *model, const double *values, const double *lambda, double *out) {
    const sparse_block *F = &model->dynamics.F;
    for (size_t e = 0; e < F->count; e++)
        out[F->row[e]] += values[model->dynamics.F.at + e] * fabs(lambda[model->friction.constraint[F->column[e]]]);
}

/* Computes T column by column: the response of the multipliers to each friction force. */
static hamel_status find_responses(friction *f, motion_solver *motion, const double *values) {
    const hamel_model *model = f->model;
    for (size_t k = 0; k < f->k; k++) {
        memset(f->force, 0, model->n * sizeof *f->force);
        for (size_t e = 0; e < model->dynamics.F.count; e++)
            if ((size_t)model->dynamics.F.column[e] == k)
                f->force[model->dynamics.F.row[e]] = values[model->dynamics.F.at + e];
        hamel_status status = motion_respond(motion, f->force, f->motion, f->response);
        if (status != HAMEL_OK) return status;
        for (size_t j = 0; j < f->k; j++) f->T[j + f->k * k] = f->response[model->friction.constraint[j]];
    }
    return HAMEL_OK;
}

/* Sets f->p to the solution of the linear equations for the signs in f->sign. The signs of f->p may differ from these
 * signs. Returns false if the system is singular. */
static bool solve_signs(friction *f) {
    size_t k = f->k;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) f->matrix[i + k * j] = (i == j) - f->T[i + k * j] * f->sign[j];
    if (!dense_lu(k, f->matrix, f->pivot, f->scale)) return false;
    memcpy(f->p, f->p0, k * sizeof *f->p);
    dense_lu_solve(k, f->matrix, f->pivot, f->scale, f->p);
    return true;
}

/* Sets f->p as solve_signs does. Returns true if the solution has the assumed signs. */
static bool solve_pattern(friction *f) {
    size_t k = f->k;
    if (!solve_signs(f)) return false;
    double least = -SIGN * dense_magnitude(k, f->p);
    for (size_t j = 0; j < k; j++)
        if (!(f->sign[j] * f->p[j] >= least)) return false;
    return true;
}

static void take_signs(friction *f, const double *p) {
    for (size_t j = 0; j < f->k; j++)
        if (p[j] != 0) f->sign[j] = p[j] > 0 ? 1 : -1;
}

/* Applies Newton's method to the piecewise linear equation p = p⁰ + T|p|. Returns true if the method converges. */
static bool newton(friction *f) {
    for (int i = 0; i < NEWTON_ITERATIONS; i++) {
        if (solve_pattern(f)) return true;
        take_signs(f, f->p);
    }
    return false;
}

/* Iterates p := p⁰ + T|p| until the signs of p are the signs of a solution. Returns false if the iteration finds no
 * solution. */
static bool contract(friction *f) {
    size_t k = f->k;
    memcpy(f->other, f->p0, k * sizeof *f->other);
    for (int step = 1; step <= CONTRACTION_STEPS; step++) {
        memcpy(f->p, f->p0, k * sizeof *f->p);
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < k; i++) f->p[i] += f->T[i + k * j] * fabs(f->other[j]);
        memcpy(f->other, f->p, k * sizeof *f->p);
        if (step % 50) continue;
        take_signs(f, f->other);
        if (solve_pattern(f)) return true;
    }
    return false;
}

static bool is_contraction(const friction *f) {
    for (size_t i = 0; i < f->k; i++) {
        double sum = 0;
        for (size_t j = 0; j < f->k; j++) sum += fabs(f->T[i + f->k * j]);
        if (!(sum < 1)) return false;
    }
    return true;
}

/* Tries all patterns of signs and sets f->p to the solution if it is unique. */
static search enumerate(friction *f) {
    assert(f->k <= ENUMERATED);
    size_t k = f->k, found = 0;
    for (size_t pattern = 0; pattern < (size_t)1 << k; pattern++) {
        for (size_t j = 0; j < k; j++) f->sign[j] = pattern >> j & 1 ? -1 : 1;
        if (!solve_pattern(f)) continue;
        double distance = 0;
        for (size_t j = 0; j < k && found; j++) distance = fmax(distance, fabs(f->p[j] - f->other[j]));
        if (found && distance > SAME_SOLUTION * dense_magnitude(k, f->p)) return SEVERAL;
        found++;
        memcpy(f->other, f->p, k * sizeof *f->p);
    }
    memcpy(f->p, f->other, k * sizeof *f->p);
    take_signs(f, f->p);
    return found ? FOUND : NONE;
}

static search find_pressing(friction *f) {
    if (is_contraction(f)) return newton(f) || contract(f) ? FOUND : NONE;
    if (f->k <= ENUMERATED) return enumerate(f);
    return newton(f) ? FOUND : NONE;
}

static hamel_status fail_friction(const friction *f, search outcome, double t, hamel_error *error) {
    const hamel_model *model = f->model;
    char names[400] = "";
    if (!error) return HAMEL_SINGULAR;
    for (size_t j = 0, at = 0; j < f->k && j < NAMED && at < sizeof names; j++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s`%s`", j ? ", " : "",
                               model->system->constraints[model->friction.constraint[j]].name);
    (void)hamel_fail(error, HAMEL_SINGULAR, model->system->constraints[model->friction.constraint[0]].pointer, 0,
                     "at t = %.9g %s of %s%s %s with Coulomb friction (Painlevé's paradox)", t,
                     outcome == NONE ? "no normal force" : "more than one normal force", names,
                     f->k > NAMED ? " and others" : "", outcome == NONE ? "agrees" : "agree");
    hamel_suggest(error,
                  "lower the coefficient, or replace the constraint by a spring and a damper: rigid bodies jam or "
                  "jump here");
    return HAMEL_SINGULAR;
}

hamel_status friction_solve(friction *f, motion_solver *motion, const double *values, const double *g, const double *r,
                            double tolerance, double t, double *x, double *lambda, hamel_error *error) {
    assert(x != g && lambda != f->p);
    const hamel_model *model = f->model;
    for (size_t j = 0; j < f->k; j++) f->p0[j] = lambda[model->friction.constraint[j]];
    hamel_status status = find_responses(f, motion, values);
    if (status != HAMEL_OK) return status;
    search outcome = find_pressing(f);
    if (outcome != FOUND) return fail_friction(f, outcome, t, error);
    for (size_t j = 0; j < f->k; j++) lambda[model->friction.constraint[j]] = f->p[j];
    memcpy(f->force, g, model->n * sizeof *g);
    friction_add_forces(model, values, lambda, f->force);
    return motion_solve(motion, f->force, r, tolerance, x, lambda);
}

hamel_status friction_solve_along(friction *f, motion_solver *motion, const double *values, const double *g,
                                  const double *r, const double *lambda, double *x, double *mu) {
    const hamel_model *model = f->model;
    const sparse_block *F = &model->dynamics.F;
    for (size_t j = 0; j < f->k; j++) {
        f->sign[j] = lambda[model->friction.constraint[j]] < 0 ? -1 : 1;
        f->p0[j] = mu[model->friction.constraint[j]];
    }
    if (!solve_signs(f)) return HAMEL_SINGULAR;
    memcpy(f->force, g, model->n * sizeof *g);
    for (size_t e = 0; e < F->count; e++)
        f->force[F->row[e]] += values[model->dynamics.F.at + e] * f->sign[F->column[e]] * f->p[F->column[e]];
    return motion_solve(motion, f->force, r, INFINITY, x, mu);
}
