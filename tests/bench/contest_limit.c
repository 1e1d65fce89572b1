/* contest_limit.c — DOP853 around the hand-written equations: the fastest program that a person would write.
 *
 * The sums over stages are those of hamel's stepper (dop853_template.h). The rest is the program DOP853 of Hairer,
 * Nørsett & Wanner, Solving Ordinary Differential Equations I, Springer 1993, II.5, with the dense output of II.6.
 * States are neither projected nor checked. */
#include "engine/simulate/methods/dop853_scalar.h"
#include "tests/bench/contest.h"

#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>

typedef struct limit_program {
    const baseline *system;
    dop853_scalar steps;
    SUNContext context;
    N_Vector state, rate; /* empty vectors, whose data are set for each evaluation */
    double *memory;
} limit_program;

static int limit_rates(void *context, const double *t, const double *y, double *dy) {
    limit_program *p = context;
    N_VSetArrayPointer_Serial((double *)(uintptr_t)y, p->state);
    N_VSetArrayPointer_Serial(dy, p->rate);
    return p->system->rhs(*t, p->state, p->rate, p->system->data);
}

/* Returns the error estimate of a step, at most 1 if the step is accurate (loc. cit., II.10). */
static double limit_error(dop853_scalar *d, double rtol) {
    static const double one = 1;
    static const double *const rows[] = {dop853_error_5, dop853_error_3};
    double *fifth = dop853_scalar_slope(d, DOP853_STAGES), *third = fifth + d->length, five = 0, three = 0;
    double *const errors[] = {fifth, third};
    dop853_scalar_sums_body(d, &one, rows, 2, DOP853_STAGES, errors);
    for (size_t i = 0; i < d->length; i++) {
        double weight = 1 / (rtol * (fmax(fabs(d->y[i]), fabs(d->next[i])) + 1e-2));
        five += fifth[i] * fifth[i] * weight * weight;
        three += third[i] * third[i] * weight * weight;
    }
    double both = sqrt((five + 0.01 * three) * (double)d->length);
    return both > 0 ? d->h * five / both : 0;
}

/* Stores the rows within the step just taken, from row `row`. Returns the next row. */
static size_t limit_rows(limit_program *p, double *y, size_t row, table *out) {
    dop853_scalar *d = &p->steps;
    const baseline *b = p->system;
    bool extended = false;
    for (; row < out->most; row++) {
        double part = (b->stop * (double)row / (double)(out->most - 1) - d->t) / d->h;
        if (part > 1 + 1e-12) break;
        if (!extended) require(dop853_scalar_extend(d, &d->t) == 0, b->name);
        extended = true;
        dop853_scalar_interpolate(d, &part, y);
        b->columns(y, out->values + row * out->columns, b->data);
    }
    return row;
}

static void limit_integrate(limit_program *p, double rtol, double *y, table *out) {
    dop853_scalar *d = &p->steps;
    size_t row = 1;
    bool rejected = false;
    d->t = 0;
    d->h = p->system->stop / (double)(out->most - 1);
    require(limit_rates(p, &d->t, d->y, d->slopes) == 0, p->system->name);
    p->system->columns(d->y, out->values, p->system->data);
    while (row < out->most) {
        require(dop853_scalar_try(d) == 0 && d->h > 1e-12, p->system->name);
        double error = limit_error(d, rtol), factor = fmin(6, fmax(1.0 / 3, 0.9 * pow(error, -1.0 / 8)));
        if (error > 1) {
            d->h *= factor;
            rejected = true;
            continue;
        }
        double end = d->t + d->h, *new = dop853_scalar_slope(d, DOP853_STAGES);
        require(limit_rates(p, &end, d->next, new) == 0, p->system->name);
        row = limit_rows(p, y, row, out);
        for (size_t i = 0; i < d->length; i++) d->y[i] = d->next[i], d->slopes[i] = new[i];
        d->t = end;
        d->h *= rejected ? fmin(factor, 1) : factor;
        rejected = false;
        out->steps++;
    }
}

void run_limit(const baseline *b, double rtol, table *out) {
    limit_program p = {.system = b, .steps = {.rates = limit_rates, .context = &p}};
    size_t length = (size_t)b->states;
    require(SUNContext_Create(NULL, &p.context) == 0, "SUNContext_Create");
    p.state = N_VNewEmpty_Serial(b->states, p.context);
    p.rate = N_VNewEmpty_Serial(b->states, p.context);
    p.memory = malloc((DOP853_VECTORS + 1) * length * sizeof *p.memory);
    require(p.state && p.rate && p.memory, "out of memory");
    dop853_scalar_init(&p.steps, length, p.memory);
    b->start(p.steps.y, b->data);
    out->steps = 0;
    limit_integrate(&p, rtol, p.memory + DOP853_VECTORS * length, out);
    out->rows = out->most;
    N_VDestroy(p.state), N_VDestroy(p.rate);
    SUNContext_Free(&p.context);
    free(p.memory);
}
