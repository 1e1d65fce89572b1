/* moving.c — detection of constraints and forces that exclude rest, because they change with time or require motion. */
#include "engine/analyze/statics.h"

#include "engine/base/random.h"

#include <assert.h>
#include <math.h>

/* Largest value treated as zero, relative to the coefficients. The bound is a few thousand ε (2.2e-16). */
static const double STILL = 1e-12;
/* Smallest change of a force with time that is reported, relative to the terms of the force. The rounding error of a
 * force is about 1e-15 of its terms. */
static const double CHANGES = 1e-9;
/* Number of random configurations. If a violation had a random sign at each of them, all signs would agree with a
 * probability of 1/32. */
enum { TRIALS = 6 };

/* Returns true if constraint c is violated at rest, and sets *value to the violation. At rest, the residual ψ at the
 * velocity level is ∂Φ/∂t for a holonomic constraint and the part without velocities for a velocity constraint. For an
 * acceleration constraint, the violation is the residual of the constraint. */
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

/* The constraints that are violated at rest, and the forces that change between instants. */
typedef struct findings {
    size_t evaluated; /* number of states at which the equations were evaluated */
    /* Arrays of m entries. moves: number of states at which the constraint was violated at rest. positive: number of
     * these states at which the violation was positive. */
    size_t *moves, *positive;
    double *q, *lambda, *before;
    bool *changes; /* n entries: true if the force changes with time */
} findings;

/* Evaluates the equilibrium equations at random configurations and at all instants, with zero multipliers. */
static void look(statics *s, findings *f) {
    for (size_t trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < s->n; i++)
            f->q[i] = s->model->q0[i] + random_uniform(&s->seed, -1, 1) * 1.5 * fmax(1, fabs(s->model->q0[i]));
        for (size_t k = 0; k < s->instants; k++) {
            local_state state = {s->t[k], f->q, s->zero_a, s->zero_a, f->lambda};
            if (local_evaluate(&s->local, &state, NULL) != HAMEL_OK) continue;
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

/* Returns true if constraint c excludes rest. If the violation of a constraint is positive at some configurations and
 * negative at others, it vanishes at a configuration between them. Such a constraint does not exclude rest at one
 * instant. */
static bool forbids(const statics *s, const findings *f, size_t c) {
    assert(f->positive[c] <= f->moves[c] && f->moves[c] <= f->evaluated);
    if (f->evaluated == 0 || f->moves[c] < f->evaluated) return false;
    return s->instants > 1 || f->positive[c] == 0 || f->positive[c] == f->evaluated;
}

static hamel_status report_motion(const statics *s, const findings *f, hamel_error *error) {
    const hamel_system *system = s->model->system;
    hamel_status status = HAMEL_OK;
    for (size_t c = 0; c < s->m; c++) {
        if (!forbids(s, f, c)) continue;
        const system_constraint *constraint = &system->constraints[c];
        static const char *const what[] = {"changes with time", "requires nonzero velocities",
                                           "requires nonzero accelerations"}; /* in the order of constraint_order */
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
    findings f = {.moves = arena_alloc(&s->memory, m, sizeof *f.moves),
                  .positive = arena_alloc(&s->memory, m, sizeof *f.positive),
                  .q = arena_doubles(&s->memory, n),
                  .lambda = arena_doubles(&s->memory, m),
                  .before = arena_doubles(&s->memory, n),
                  .changes = arena_alloc(&s->memory, n, sizeof *f.changes)};
    if (s->memory.failed) return hamel_out_of_memory(error);
    look(s, &f);
    return report_motion(s, &f, error);
}
