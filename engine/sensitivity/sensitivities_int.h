/* sensitivities_int.h — declarations shared by the files of this module only. */
#pragma once

#include "engine/sensitivity/sensitivities.h"

enum { SENSITIVITY_LANES = PROGRAM_LANES, SENSITIVITY_NO_INPUTS = -1 };

struct sensitivities {
    const hamel_model *model;
    const model_sensitivities *inputs;
    dynamics *dynamics;
    size_t n, m, count;
    bool needs_ideal;        /* true if a program uses the ideal and nonideal parts of the reaction separately */
    double *parameter_seeds; /* parameters × lanes, for the inputs from `seeded` on; 0 for constant parameters */
    long seeded;
    double *q_seeds, *v_seeds, *a_seeds;  /* n × lanes */
    double *lambda_seeds;                 /* m × lanes */
    double *ideal_seeds, *nonideal_seeds; /* n × lanes: the two parts of the reaction, if needs_ideal */
    double *prescribed;                   /* n × lanes */
    double time_seeds[SENSITIVITY_LANES];
    double *residual, *dynamics_tangents, *observed; /* tangents: outputs × lanes */
    double *residual_work, *tangent_work;            /* workspaces of the residual program and of all tangents */
    double *a, *lambda;                              /* a[n], lambda[m]: accelerations and multipliers of the state */
    double *free_a, *free_lambda;                    /* `a` and `lambda` for ideal constraints alone, if needs_ideal */
    double *g, *r, *x, *mu;                          /* right-hand sides g[n] and r[m], solutions x[n] and mu[m] */
    double *given, *given_rates; /* given[n]: original velocities; given_rates: their derivatives, n per input */
    double *mass, *mass_rates;   /* mass: M at the original state; mass_rates: its derivatives for each input */
    double *step;                /* n: step from the original values to the consistent values */
    double *at_rest;             /* n zeros */
    double *quasi_work, *quasi_tangents; /* for model->quasi.program: workspace, and tangents of outputs × lanes */
    struct sensitivities_jump *jump;     /* NULL if the model has no root functions */
};

/* Up to SENSITIVITY_LANES directions with (δq, δq') = s[i] and δt = dt[i]; δt = 0 if dt is NULL. The directions belong
 * to the inputs from `first` on, or to no input. */
typedef struct directions {
    long first; /* a multiple of SENSITIVITY_LANES, or SENSITIVITY_NO_INPUTS */
    size_t count;
    const double *const *s;
    const double *dt;
} directions;

/* Returns the directions of a group of inputs with sensitivities s, at fixed time. */
static inline directions directions_of(const sensitivities *w, size_t batch, const double *const *s) {
    size_t first = batch * SENSITIVITY_LANES, left = w->count - first;
    return (directions){(long)first, left < SENSITIVITY_LANES ? left : SENSITIVITY_LANES, s + first, NULL};
}

static inline size_t sensitivities_batches(const sensitivities *w) {
    return (w->count + SENSITIVITY_LANES - 1) / SENSITIVITY_LANES;
}

/* Returns the seeds of the directions: coordinates, velocities, time and parameters. */
program_inputs sensitivities_seeds(sensitivities *w, const directions *d);

/* Sets w->dynamics_tangents to the tangents of the dynamics program at the state evaluated last. */
void sensitivities_dynamics(sensitivities *w, const directions *d);

/* Computes the derivatives of accelerations and multipliers along the directions at the state solved last. Sets
 * w->a_seeds, w->lambda_seeds and, if needs_ideal, w->ideal_seeds and w->nonideal_seeds. The seeds of d remain set. */
hamel_status sensitivities_accelerate(sensitivities *w, const directions *d, double alpha, double beta) HAMEL_CHECKED;

/* Adds accelerations, multipliers and reactions to the inputs of a program, and their derivatives to the seeds. */
static inline void sensitivities_seed_solution(const sensitivities *w, program_inputs *in, program_inputs *seeds) {
    in->values[SYMBOL_ACCELERATION] = w->a;
    in->values[SYMBOL_MULTIPLIER] = w->lambda;
    in->values[SYMBOL_IDEAL] = w->dynamics->ideal;
    in->values[SYMBOL_NONIDEAL] = w->dynamics->nonideal;
    in->values[SYMBOL_BRANCH] = w->dynamics->discrete_state.branches;
    seeds->values[SYMBOL_ACCELERATION] = w->a_seeds;
    seeds->values[SYMBOL_MULTIPLIER] = w->lambda_seeds;
    if (!w->needs_ideal) return;
    seeds->values[SYMBOL_IDEAL] = w->ideal_seeds;
    seeds->values[SYMBOL_NONIDEAL] = w->nonideal_seeds;
}

/* sensitivities_jump.c: creates the data for derivatives across events, for a model with root functions. Returns NULL
 * if out of memory. */
struct sensitivities_jump *sensitivities_jump_create(const hamel_model *model, arena *memory);
