/* friction.c — see the header. The signs of the last solution are tried first: along a motion they rarely change. */
#include "engine/solve/friction.h"

#include "engine/solve/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEWTON_ITERATIONS = 30,   /* patterns of signs, each from the solution for the one before */
    CONTRACTION_STEPS = 2000, /* before the pattern is read off a contraction */
    ENUMERATED = 10,          /* frictions whose patterns of signs are all looked at */
    NAMED = 6
};
static const double SAME = 1e-9;  /* solutions this near to each other are one */
static const double SIGN = 1e-12; /* a multiplier this small against the largest has either sign */

typedef enum search { FOUND, NONE, SEVERAL } search;

struct friction {
    const hamel_model *model;
    size_t k;
    double *T;                /* k × k by column */
    double *p, *p0, *other;   /* k: solution, without friction, scratch */
    double *sign;             /* k: of the solution found last */
    double *matrix, *scale;   /* k × k, k: I − T diag(sign) */
    size_t *pivot;            /* k */
    double *force, *response; /* n, m */
    double *motion;           /* n */
};

friction *friction_create(const hamel_model *model) {
    size_t n = model->n, m = model->m, k = model->friction_count;
    friction *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    *f = (friction){.model = model, .k = k};
    f->T = calloc(2 * k * k + 5 * k + 2 * n + m + 1, sizeof *f->T);
    f->pivot = calloc(k + 1, sizeof *f->pivot);
    if (!f->T || !f->pivot) {
        friction_free(f);
        return NULL;
    }
    f->matrix = f->T + k * k;
    f->p = f->matrix + k * k;
    f->p0 = f->p + k;
    f->other = f->p0 + k;
    f->sign = f->other + k;
    f->scale = f->sign + k;
    f->force = f->scale + k;
    f->motion = f->force + n;
    f->response = f->motion + n;
    for (size_t j = 0; j < k; j++) f->sign[j] = 1;
    return f;
}

void friction_free(friction *f) {
    if (!f) return;
    free(f->T);
    free(f->pivot);
    free(f);
}

void friction_add_forces(const hamel_model *model, const double *values, const double *lambda, double *out) {
    const model_pattern *F = &model->F;
    for (size_t e = 0; e < F->count; e++)
        out[F->row[e]] += values[model->at_F + e] * fabs(lambda[model->friction_constraint[F->column[e]]]);
}

/* T, column by column: the multipliers' answer to each friction's force alone. */
static hamel_status find_responses(friction *f, motion_solver *motion, const double *values) {
    const hamel_model *model = f->model;
    for (size_t k = 0; k < f->k; k++) {
        memset(f->force, 0, model->n * sizeof *f->force);
        for (size_t e = 0; e < model->F.count; e++)
            if ((size_t)model->F.column[e] == k) f->force[model->F.row[e]] = values[model->at_F + e];
        hamel_status status = motion_respond(motion, f->force, f->motion, f->response);
        if (status != HAMEL_OK) return status;
        for (size_t j = 0; j < f->k; j++) f->T[j + f->k * k] = f->response[model->friction_constraint[j]];
    }
    return HAMEL_OK;
}

static double magnitude(size_t count, const double *x) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* f->p := the solution for the signs in f->sign, which it need not have; false when it is not determined. */
static bool solve_signs(friction *f) {
    size_t k = f->k;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) f->matrix[i + k * j] = (i == j) - f->T[i + k * j] * f->sign[j];
    if (!dense_lu(k, f->matrix, f->pivot, f->scale)) return false;
    memcpy(f->p, f->p0, k * sizeof *f->p);
    dense_lu_solve(k, f->matrix, f->pivot, f->scale, f->p);
    return true;
}

/* The same; true when it has these signs. */
static bool solve_pattern(friction *f) {
    size_t k = f->k;
    if (!solve_signs(f)) return false;
    double least = -SIGN * magnitude(k, f->p);
    for (size_t j = 0; j < k; j++)
        if (!(f->sign[j] * f->p[j] >= least)) return false;
    return true;
}

static void take_signs(friction *f, const double *p) {
    for (size_t j = 0; j < f->k; j++)
        if (p[j] != 0) f->sign[j] = p[j] > 0 ? 1 : -1;
}

/* Newton's method on the piecewise linear equation. */
static bool newton(friction *f) {
    for (int i = 0; i < NEWTON_ITERATIONS; i++) {
        if (solve_pattern(f)) return true;
        take_signs(f, f->p);
    }
    return false;
}

/* p := p⁰ + T|p| until its signs are those of the solution. */
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

/* All patterns of signs; the solution, if it is the only one, in f->p. */
static search enumerate(friction *f) {
    size_t k = f->k, found = 0;
    for (size_t pattern = 0; pattern < (size_t)1 << k; pattern++) {
        for (size_t j = 0; j < k; j++) f->sign[j] = pattern >> j & 1 ? -1 : 1;
        if (!solve_pattern(f)) continue;
        double distance = 0;
        for (size_t j = 0; j < k && found; j++) distance = fmax(distance, fabs(f->p[j] - f->other[j]));
        if (found && distance > SAME * magnitude(k, f->p)) return SEVERAL;
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

static hamel_status fail(const friction *f, search outcome, double t, hamel_error *error) {
    const hamel_model *model = f->model;
    char names[400] = "";
    if (!error) return HAMEL_SINGULAR;
    for (size_t j = 0, at = 0; j < f->k && j < NAMED && at < sizeof names; j++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s`%s`", j ? ", " : "",
                               model->system->constraints[model->friction_constraint[j]].name);
    (void)hamel_fail(error, HAMEL_SINGULAR, model->system->constraints[model->friction_constraint[0]].pointer, 0,
                     "at t = %.9g %s of %s%s %s with Coulomb friction (Painlevé's paradox)", t,
                     outcome == NONE ? "no normal force" : "more than one normal force", names,
                     f->k > NAMED ? " and others" : "", outcome == NONE ? "agrees" : "agree");
    hamel_suggest(error, "rigid bodies jam or jump here: lower the coefficient, or let the contact yield "
                         "by a spring and a damper in place of the constraint");
    return HAMEL_SINGULAR;
}

hamel_status friction_solve(friction *f, motion_solver *motion, const double *values, const double *g, const double *r,
                            double tolerance, double t, double *x, double *lambda, hamel_error *error) {
    const hamel_model *model = f->model;
    for (size_t j = 0; j < f->k; j++) f->p0[j] = lambda[model->friction_constraint[j]];
    hamel_status status = find_responses(f, motion, values);
    if (status != HAMEL_OK) return status;
    search outcome = find_pressing(f);
    if (outcome != FOUND) return fail(f, outcome, t, error);
    for (size_t j = 0; j < f->k; j++) lambda[model->friction_constraint[j]] = f->p[j];
    memcpy(f->force, g, model->n * sizeof *g);
    friction_add_forces(model, values, lambda, f->force);
    return motion_solve(motion, f->force, r, tolerance, x, lambda);
}

hamel_status friction_solve_along(friction *f, motion_solver *motion, const double *values, const double *g,
                                  const double *r, const double *lambda, double *x, double *mu) {
    const hamel_model *model = f->model;
    const model_pattern *F = &model->F;
    for (size_t j = 0; j < f->k; j++) {
        f->sign[j] = lambda[model->friction_constraint[j]] < 0 ? -1 : 1;
        f->p0[j] = mu[model->friction_constraint[j]];
    }
    if (!solve_signs(f)) return HAMEL_SINGULAR;
    memcpy(f->force, g, model->n * sizeof *g);
    for (size_t e = 0; e < F->count; e++)
        f->force[F->row[e]] += values[model->at_F + e] * f->sign[F->column[e]] * f->p[F->column[e]];
    return motion_solve(motion, f->force, r, INFINITY, x, mu);
}
