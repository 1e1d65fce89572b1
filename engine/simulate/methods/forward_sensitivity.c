/* forward_sensitivity.c — sensitivity vectors for CVODES and their rates. */
#include "engine/simulate/methods/forward_sensitivity.h"

#include "engine/base/memory_left.h"
#include "engine/sensitivity/sensitivities.h"
#include "engine/simulate/methods/vector_ops.h"

#include <assert.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

/* Upper bound on the number of vectors in CVODES for each sensitivity, like METHOD_VECTORS in multistep.c */
enum { VECTORS_EACH = 40 };

struct forward {
    sensitivities *sensitivities;
    size_t count, length; /* count: number of inputs; length: 2n */
    int number;           /* count, in the type of CVODES */
    SUNContext context;
    N_Vector *now, *dense;
    SUNNonlinearSolver solver;
    const double **from; /* count: arguments of sensitivities_rates */
    double **to;         /* count: arguments of sensitivities_rates */
};

void forward_move(forward *f, const double *const *from) {
    for (size_t i = 0; i < f->count; i++) {
        N_VConst(0, f->now[i]);
        memcpy(N_VGetArrayPointer(f->now[i]), from[i], f->length * sizeof **from);
    }
}

forward *forward_create(arena *memory, sensitivities *s, size_t length, const double *const *start) {
    forward *f = arena_alloc(memory, 1, sizeof *f);
    if (!f) return NULL;
    *f = (forward){.sensitivities = s, .count = sensitivities_count(s), .length = sensitivities_length(s)};
    assert(length >= f->length);
    f->number = (int)f->count;
    bool room = memory_left(VECTORS_EACH * f->count, length) && SUNContext_Create(NULL, &f->context) == 0;
    N_Vector like = room ? vector_create((sunindextype)length, f->context) : NULL;
    f->now = like ? N_VCloneVectorArray(f->number, like) : NULL;
    f->dense = like ? N_VCloneVectorArray(f->number, like) : NULL;
    if (like) N_VDestroy(like);
    f->from = arena_alloc(memory, f->count, sizeof *f->from);
    f->to = arena_alloc(memory, f->count, sizeof *f->to);
    if (!f->now || !f->dense || !f->from || !f->to) {
        forward_free(f);
        return NULL;
    }
    forward_move(f, start);
    return f;
}

void forward_free(forward *f) {
    if (!f) return;
    forward_close(f);
    if (f->now) N_VDestroyVectorArray(f->now, f->number);
    if (f->dense) N_VDestroyVectorArray(f->dense, f->number);
    if (f->context) SUNContext_Free(&f->context);
}

bool forward_open(forward *f, void *cvode, bool bdf, CVSensRhsFn rates) {
    if (CVodeSensInit(cvode, f->number, CV_STAGGERED, rates, f->now) || CVodeSensEEtolerances(cvode)) return false;
    if (CVodeSetSensParams(cvode, NULL, (realtype *)sensitivities_sizes(f->sensitivities), NULL)) return false;
    if (CVodeSetSensErrCon(cvode, SUNTRUE)) return false;
    f->solver = bdf ? SUNNonlinSol_NewtonSens(f->number, f->now[0], f->context)
                    : SUNNonlinSol_FixedPointSens(f->number, f->now[0], 0, f->context);
    return f->solver && CVodeSetNonlinearSolverSensStg(cvode, f->solver) == CV_SUCCESS;
}

void forward_close(forward *f) {
    if (f->solver) SUNNonlinSolFree(f->solver);
    f->solver = NULL;
}

bool forward_restart(forward *f, void *cvode) {
    return CVodeSensReInit(cvode, CV_STAGGERED, f->now) == CV_SUCCESS;
}

bool forward_take(forward *f, void *cvode) {
    realtype t;
    return CVodeGetSens(cvode, &t, f->now) == CV_SUCCESS;
}

hamel_status forward_rates(forward *f, double t, const double *q, const double *v, double alpha, double beta,
                           N_Vector *s, N_Vector *ds) {
    for (size_t i = 0; i < f->count; i++) {
        N_VConst(0, ds[i]);
        f->from[i] = N_VGetArrayPointer(s[i]);
        f->to[i] = N_VGetArrayPointer(ds[i]);
    }
    return sensitivities_rates(f->sensitivities, t, q, v, alpha, beta, f->from, f->to);
}

bool forward_interpolate(forward *f, void *cvode, double t, double *const *s) {
    if (cvode && CVodeGetSensDky(cvode, t, 0, f->dense) != CV_SUCCESS) return false;
    N_Vector *from = cvode ? f->dense : f->now;
    for (size_t i = 0; i < f->count; i++) memcpy(s[i], N_VGetArrayPointer(from[i]), f->length * sizeof **s);
    return true;
}
