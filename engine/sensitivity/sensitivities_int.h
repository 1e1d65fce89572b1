/* sensitivities_int.h — what the files of sensitivities share: directions, and tangents along them.
 *
 * sensitivities.c        along the motion, and what columns show
 * sensitivities_start.c  of consistent initial values
 * sensitivities_jump.c   across events */
#ifndef HAMEL_SOLVE_SENSITIVITIES_INT_H
#define HAMEL_SOLVE_SENSITIVITIES_INT_H

#include "engine/solve/sensitivities.h"

enum { SENSITIVITY_LANES = PROGRAM_LANES, SENSITIVITY_NO_INPUTS = -1 };

struct sensitivities {
    const hamel_model *model;
    const model_sensitivities *inputs;
    kinetics *kinetics;
    size_t n, m, count;
    bool needs_ideal;        /* something asks for the reactions of ideal constraints apart from those that act */
    double *parameter_seeds; /* parameters × lanes, of the batch `seeded`; 0 for what does not move */
    long seeded;
    double *q_seeds, *v_seeds, *a_seeds;  /* n × lanes */
    double *lambda_seeds;                 /* m × lanes */
    double *ideal_seeds, *nonideal_seeds; /* n × lanes: of the two parts of the reaction, where they differ */
    double *prescribed;                   /* n × lanes */
    double time_seeds[SENSITIVITY_LANES];
    double *residual, *dynamics, *observed; /* tangents: outputs × lanes */
    double *residual_work, *tangent_work;   /* of the programs */
    double *a, *lambda;                     /* n, m: of the state */
    double *free_a, *free_lambda;           /* n, m: of ideal constraints alone, where needs_ideal */
    double *g, *r, *x, *mu;                 /* n, m, n, m: right sides and solutions */
    double *given, *given_rates;            /* n: the given initial velocities; along each input */
    double *mass, *mass_rates;              /* M of the given initial state; along each input */
    double *step;                           /* n: from the given initial values */
    struct jump *jump;                      /* NULL: nothing happens between start and stop (sensitivities_jump.c) */
};

/* Up to `lanes` directions (δq, δq') = s[i], δt = dt[i] (NULL: 0), along the inputs from `first` on, or along none. */
typedef struct directions {
    long first; /* a multiple of the lanes, or SENSITIVITY_NO_INPUTS */
    size_t count;
    const double *const *s;
    const double *dt;
} directions;

/* The batch of inputs, of sensitivities s, at a time that is held. */
static inline directions directions_of(const sensitivities *w, size_t batch, const double *const *s) {
    size_t first = batch * SENSITIVITY_LANES, left = w->count - first;
    return (directions){(long)first, left < SENSITIVITY_LANES ? left : SENSITIVITY_LANES, s + first, NULL};
}

static inline size_t sensitivities_batches(const sensitivities *w) {
    return (w->count + SENSITIVITY_LANES - 1) / SENSITIVITY_LANES;
}

/* What moves along the directions: coordinates, velocities, time, parameters. */
program_inputs sensitivities_seeds(sensitivities *w, const directions *d);

/* w->dynamics := the dynamics program's tangents at the state evaluated last. */
void sensitivities_dynamics(sensitivities *w, const directions *d);

/* w->a_seeds, w->lambda_seeds (and, where they differ, w->ideal_seeds, w->nonideal_seeds) := what accelerations and
 * multipliers do along the directions, at the state that was solved last. Seeds of d stay. */
hamel_status sensitivities_accelerate(sensitivities *w, const directions *d, double alpha, double beta) HAMEL_CHECKED;

/* Lets a program see what was solved for, and its tangent what that does. */
static inline void sensitivities_seed_solution(const sensitivities *w, program_inputs *in, program_inputs *seeds) {
    in->values[SYMBOL_ACCELERATION] = w->a;
    in->values[SYMBOL_MULTIPLIER] = w->lambda;
    in->values[SYMBOL_IDEAL] = w->kinetics->ideal;
    in->values[SYMBOL_NONIDEAL] = w->kinetics->nonideal;
    in->values[SYMBOL_BRANCH] = w->kinetics->mode.branches;
    seeds->values[SYMBOL_ACCELERATION] = w->a_seeds;
    seeds->values[SYMBOL_MULTIPLIER] = w->lambda_seeds;
    if (!w->needs_ideal) return;
    seeds->values[SYMBOL_IDEAL] = w->ideal_seeds;
    seeds->values[SYMBOL_NONIDEAL] = w->nonideal_seeds;
}

/* Whether any active constraint speaks of positions, or of velocities. A mass matrix that is singular is no matter where
 * none does. */
bool sensitivities_has_level(const sensitivities *w, bool position);

bool sensitivities_finite(const double *x, size_t count);

/* sensitivities_jump.c; create: false without memory. */
bool sensitivities_jump_create(sensitivities *w);
void sensitivities_jump_free(sensitivities *w);

#endif
