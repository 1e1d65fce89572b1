/* moving.c — see moving.h. */
#include "engine/analyze/moving.h"

#include "engine/base/random.h"

#include <math.h>
#include <stdlib.h>

static const double STILL = 1e-12;  /* a velocity or a force against the sizes of its terms */
static const double CHANGES = 1e-9; /* a force, the same */
enum { TRIALS = 6 };

/* At rest ψ is Φ_t of a holonomic constraint and B of one on velocities; a constraint on accelerations has its residual. */
static bool demands_motion(const statics *s, size_t c, double *value) {
    const local_equations *l = &s->local;
    bool accelerates = s->model->order[c] == CONSTRAINT_ACCELERATION;
    const double *by = accelerates ? l->R_a + (s->n + c) * s->n : l->psi_v + c * s->n;
    double size = 1e-3;
    if (!s->model->active[c]) return false;
    for (size_t i = 0; i < s->n; i++) size = fmax(size, fabs(by[i]));
    *value = accelerates ? l->R[s->n + c] : l->psi[c];
    return fabs(*value) > STILL * size;
}

/* A random configuration, without multipliers. */
static void draw(statics *s, double *q) {
    for (size_t i = 0; i < s->n; i++)
        q[i] = s->model->q0[i] + random_uniform(&s->seed, -1, 1) * 1.5 * fmax(1, fabs(s->model->q0[i]));
}

/* How often, and with which signs, each constraint demands motion; which forces on coordinates change between instants. */
typedef struct findings {
    size_t evaluated;
    size_t *moves, *positive; /* m */
    double *q, *lambda, *before;
    bool *changes; /* n */
} findings;

static void look(statics *s, findings *f) {
    for (size_t trial = 0; trial < TRIALS; trial++) {
        draw(s, f->q);
        for (size_t k = 0; k < s->instants; k++) {
            hamel_error quiet = {0};
            local_state state = {s->t[k], f->q, s->zero_a, s->zero_a, f->lambda};
            hamel_status status = local_evaluate(&s->local, &state, &quiet);
            hamel_error_clear(&quiet);
            if (status != HAMEL_OK) continue;
            f->evaluated++;
            for (size_t c = 0; c < s->m; c++) {
                double value = 0;
                if (!demands_motion(s, c, &value)) continue;
                f->moves[c]++;
                f->positive[c] += value > 0;
            }
            for (size_t i = 0; i < s->n; i++) {
                double now = s->local.R[i], size = fabs(now);
                for (size_t j = 0; j < s->n; j++) size += fabs(s->local.R_q[i * s->n + j]) * fmax(1, fabs(f->q[j]));
                if (k > 0 && fabs(now - f->before[i]) > CHANGES * size) f->changes[i] = true;
                f->before[i] = now;
            }
        }
    }
}

/* A continuous B(q) that changes its sign vanishes somewhere. */
static bool forbids(const statics *s, const findings *f, size_t c) {
    if (f->evaluated == 0 || f->moves[c] < f->evaluated) return false;
    return s->instants > 1 || f->positive[c] == 0 || f->positive[c] == f->evaluated;
}

static hamel_status report(const statics *s, const findings *f, hamel_error *error) {
    const hamel_system *system = s->model->system;
    hamel_status status = HAMEL_OK;
    for (size_t c = 0; c < s->m; c++) {
        if (!forbids(s, f, c)) continue;
        const system_constraint *constraint = &system->constraints[c];
        static const char *const what[] = {"moves with time", "requires nonzero velocities",
                                           "requires nonzero accelerations"}; /* by order */
        bool holonomic = constraint->order == CONSTRAINT_HOLONOMIC;
        status =
            hamel_fail(error, HAMEL_INVALID, constraint->pointer, 0, "there is no equilibrium: the constraint `%s` %s",
                       constraint->name, what[constraint->order]);
        hamel_suggest(error, holonomic ? "replace t by a constant to find the equilibria at one instant"
                                       : "give cyclic coordinates the initial velocities of a steady motion, or leave "
                                         "the constraint out");
    }
    for (size_t i = 0; i < s->n; i++) {
        if (!f->changes[i]) continue;
        status = hamel_fail(error, HAMEL_INVALID, "", 0, "there is no equilibrium: the force on `%s` depends on time",
                            system->coordinates[i].name);
        hamel_suggest(error, "replace t by a constant to find the equilibria at one instant");
    }
    return status;
}

hamel_status moving_refuse(statics *s, hamel_error *error) {
    size_t n = s->n, m = s->m;
    findings f = {0};
    f.moves = calloc(2 * m + 1, sizeof *f.moves);
    f.q = calloc(2 * n + m + 1, sizeof *f.q);
    f.changes = calloc(n + 1, sizeof *f.changes);
    hamel_status status = HAMEL_OK;
    if (f.moves && f.q && f.changes) {
        f.positive = f.moves + m;
        f.before = f.q + n;
        f.lambda = f.before + n;
        look(s, &f);
        status = report(s, &f, error);
    } else
        status = hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the equilibria");
    free(f.moves);
    free(f.q);
    free(f.changes);
    return status;
}
