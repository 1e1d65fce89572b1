/* multistep.c — the steppers `adams` and `bdf`: CVODES, with vector operations of our own.
 *
 * Adams with fixed-point iteration; BDF with Newton's method, analytic matrix (newton_solver.h), and CVODE's projection.
 * Facts about SUNDIALS 6.4.1 that shape this file: the default error handler prints; the projection is for BDF only;
 * CV_TSTOP_RETURN cannot be relied on; `mxstep` counts per call. */
#include "engine/base/memory_left.h"
#include "engine/simulate/stepper.h"
#include "engine/simulate/vector_ops.h"

#include <cvodes/cvodes.h>
#include <cvodes/cvodes_proj.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

/* A slip in space turns ever faster as it comes to rest: the step to that may have to shrink by ten powers of ten. */
enum { ERROR_TESTS = 40 };

typedef struct multistep {
    stepper base;
    SUNContext context;
    void *cvode;
    N_Vector y, dense; /* state after the last step; scratch of dense output */
    SUNNonlinearSolver nonlinear;
    newton_solver *newton; /* BDF only */
    stepper_counts before; /* the last start */
    char message[300];     /* CVODE's own */
} multistep;

/* --- callbacks ------------------------------------------------------------------------------------------------------ */

static int rates(realtype t, N_Vector y, N_Vector out, void *user) {
    const stepper_problem *p = ((multistep *)user)->base.problem;
    return p->rates(p->user, t, NV_DATA_S(y), NV_DATA_S(out));
}

static int weights(N_Vector y, N_Vector out, void *user) {
    const stepper_problem *p = ((multistep *)user)->base.problem;
    return p->weights(p->user, NV_DATA_S(y), NV_DATA_S(out));
}

static int project(realtype t, N_Vector y, N_Vector correction, realtype epsilon, N_Vector error, void *user) {
    const stepper_problem *p = ((multistep *)user)->base.problem;
    (void)epsilon; /* positions and velocities are brought to rounding, far below what error control asks for */
    return p->project(p->user, t, NV_DATA_S(y), NV_DATA_S(correction), error ? NV_DATA_S(error) : NULL);
}

static int rates_along(int count, realtype t, N_Vector y, N_Vector rate, N_Vector *s, N_Vector *ds, void *user,
                       N_Vector t1, N_Vector t2) {
    const stepper_problem *p = ((multistep *)user)->base.problem;
    (void)count, (void)rate, (void)t1, (void)t2;
    return p->rates_along(p->user, t, NV_DATA_S(y), s, ds);
}

static void keep_message(int code, const char *module, const char *function, char *message, void *user) {
    multistep *w = user;
    (void)module;
    (void)function;
    if (code < 0) snprintf(w->message, sizeof w->message, "%s", message);
}

/* --- opening and closing --------------------------------------------------------------------------------------------- */

static void multistep_close(stepper *s) {
    multistep *w = (multistep *)s;
    if (!w) return;
    if (w->cvode) CVodeFree(&w->cvode);
    if (w->nonlinear) SUNNonlinSolFree(w->nonlinear);
    newton_solver_free(w->newton);
    if (s->problem->forward) forward_close(s->problem->forward);
    if (w->dense) N_VDestroy(w->dense);
    if (w->y) N_VDestroy(w->y);
    if (w->context) SUNContext_Free(&w->context);
    free(w);
}

static bool configure(multistep *w, double t) {
    if (CVodeSetUserData(w->cvode, w) || CVodeSetErrHandlerFn(w->cvode, keep_message, w)) return false;
    if (CVodeInit(w->cvode, rates, t, w->y) || CVodeWFtolerances(w->cvode, weights)) return false;
    if (CVodeSetMaxNumSteps(w->cvode, -1) || CVodeSetStopTime(w->cvode, w->base.problem->stop)) return false;
    return CVodeSetMaxErrTestFails(w->cvode, ERROR_TESTS) == CV_SUCCESS &&
           CVodeSetMaxHnilWarns(w->cvode, -1) == CV_SUCCESS;
}

static bool attach(multistep *w) {
    const stepper_problem *p = w->base.problem;
    bool implicit = w->base.kind->implicit;
    w->nonlinear = implicit ? SUNNonlinSol_Newton(w->y, w->context) : SUNNonlinSol_FixedPoint(w->y, 0, w->context);
    if (!w->nonlinear || CVodeSetNonlinearSolver(w->cvode, w->nonlinear)) return false;
    if (implicit) w->newton = newton_solver_attach(w->cvode, p->variables, p->kinetics, p->velocity, w->context);
    if (implicit && !w->newton) return false;
    if (p->forward && !forward_open(p->forward, w->cvode, implicit, rates_along)) return false;
    return !w->base.kind->projects || !p->project || CVodeSetProjFn(w->cvode, project) == CV_SUCCESS;
}

/* Nordsieck's array of the highest order, and what methods, projection and corrections keep beside it. */
enum { METHOD_VECTORS = 40 };

static stepper *multistep_open(const stepper_kind *kind, const stepper_problem *p, double t, const double *y) {
    multistep *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->base = (stepper){kind, p};
    bool good = memory_left(METHOD_VECTORS, p->length) && SUNContext_Create(NULL, &w->context) == 0 &&
                (w->y = vector_create((sunindextype)p->length, w->context)) && (w->dense = N_VClone(w->y));
    if (good) memcpy(NV_DATA_S(w->y), y, p->length * sizeof *y);
    if (good) w->cvode = CVodeCreate(kind->implicit ? CV_BDF : CV_ADAMS, w->context);
    if (good && w->cvode && configure(w, t) && attach(w)) return &w->base;
    multistep_close(&w->base);
    return NULL;
}

static stepper *adams_open(const stepper_problem *p, double t, const double *y) {
    return multistep_open(&stepper_adams, p, t, y);
}

static stepper *bdf_open(const stepper_problem *p, double t, const double *y) {
    return multistep_open(&stepper_bdf, p, t, y);
}

static bool multistep_limit(stepper *s, double most) {
    return CVodeSetMaxStep(((multistep *)s)->cvode, isinf(most) ? 0 : most) == CV_SUCCESS; /* 0: no limit */
}

/* --- steps ------------------------------------------------------------------------------------------------------------ */

static stepper_counts multistep_count(const stepper *s) {
    const multistep *w = (const multistep *)s;
    stepper_counts c = w->before;
    long steps = 0, rhs = 0, projections = 0, failures = 0;
    CVodeGetNumSteps(w->cvode, &steps);
    CVodeGetNumRhsEvals(w->cvode, &rhs);
    CVodeGetNumNonlinSolvConvFails(w->cvode, &failures);
    if (s->kind->projects && s->problem->project) CVodeGetNumProjEvals(w->cvode, &projections);
    c.steps += (double)steps;
    c.rhs += (double)rhs;
    c.projections += (double)projections;
    c.stiff += (double)failures;
    c.jacobians = newton_solver_linearizations(w->newton);
    return c;
}

/* Counters of CVODE begin at 0 again. */
static bool multistep_restart(stepper *s, double t, const double *y, double step) {
    multistep *w = (multistep *)s;
    w->before = multistep_count(s);
    memcpy(NV_DATA_S(w->y), y, s->problem->length * sizeof *y);
    return CVodeReInit(w->cvode, t, w->y) == CV_SUCCESS && CVodeSetStopTime(w->cvode, s->problem->stop) == CV_SUCCESS &&
           CVodeSetInitStep(w->cvode, step) == CV_SUCCESS &&
           (!s->problem->forward || forward_restart(s->problem->forward, w->cvode));
}

static step_result result_of(int flag) {
    switch (flag) {
    case CV_RHSFUNC_FAIL:
    case CV_MEM_FAIL: return STEP_ENDED;
    case CV_FIRST_RHSFUNC_ERR:
    case CV_REPTD_RHSFUNC_ERR:
    case CV_UNREC_RHSFUNC_ERR: return STEP_NOT_EVALUATED;
    case CV_ERR_FAILURE: return STEP_TOO_ERRONEOUS;
    case CV_CONV_FAILURE: return STEP_NOT_CONVERGENT;
    case CV_TOO_CLOSE: return STEP_TOO_SHORT;
    default: return flag < 0 ? STEP_REFUSED : STEP_TAKEN;
    }
}

static step_result multistep_step(stepper *s, double *t, double *y) {
    multistep *w = (multistep *)s;
    realtype reached = *t;
    step_result result = result_of(CVode(w->cvode, s->problem->stop, w->y, &reached, CV_ONE_STEP));
    if (result != STEP_TAKEN) return result;
    if (s->problem->forward && !forward_take(s->problem->forward, w->cvode)) return STEP_REFUSED;
    *t = reached;
    memcpy(y, NV_DATA_S(w->y), s->problem->length * sizeof *y);
    return STEP_TAKEN;
}

static double multistep_last_step(const stepper *s) {
    realtype step = 0;
    CVodeGetLastStep(((const multistep *)s)->cvode, &step);
    return step;
}

static bool multistep_interpolate(stepper *s, double t, double *y) {
    multistep *w = (multistep *)s;
    if (CVodeGetDky(w->cvode, t, 0, w->dense) != CV_SUCCESS) return false;
    memcpy(y, NV_DATA_S(w->dense), s->problem->length * sizeof *y);
    return true;
}

static bool multistep_interpolate_along(stepper *s, double t, double *const *along) {
    return forward_interpolate(s->problem->forward, ((multistep *)s)->cvode, t, along);
}

static const char *multistep_message(const stepper *s) {
    return ((const multistep *)s)->message;
}

/* Measured on all 158 examples that are smooth enough to have a reference: the largest error of a coordinate or velocity
 * beside rtol (max |y| + 1), at the median and at nine in ten, and steps beside those of the first line.
 *
 *     safety |  rtol 1e-6     |  rtol 1e-9     | steps
 *     0.002  |  0.04    1.0   |  0.02    0.06  |  1
 *     0.005  |  0.11    1.0   |  0.06    0.33  |  0.91
 *     0.01   |  0.23    3.1   |  0.12    0.40  |  0.87
 *     0.03   |  0.56    6.6   |  0.37    1.2   |  0.79
 *
 * What stiffness does to Adams is that the fixed-point iteration keeps failing. */
const stepper_kind stepper_adams = {
    .name = "adams",
    .safety = 0.005,
    .stiff_of_many = 8,
    .open = adams_open,
    .close = multistep_close,
    .restart = multistep_restart,
    .limit = multistep_limit,
    .step = multistep_step,
    .last_step = multistep_last_step,
    .interpolate = multistep_interpolate,
    .interpolate_along = multistep_interpolate_along,
    .count = multistep_count,
    .message = multistep_message,
};

/* As above, by BDF:
 *
 *     safety |  rtol 1e-6     |  rtol 1e-9     | steps
 *     0.003  |  0.29    3.5   |  0.27    2.1   |  1
 *     0.01   |  0.69    9.8   |  0.66    5.3   |  0.84
 *     0.03   |  1.9    22     |  2.0     9.8   |  0.72
 *     0.1    |  6.2    69     |  5.1    46     |  0.61
 */
const stepper_kind stepper_bdf = {
    .name = "bdf",
    .safety = 0.003,
    .implicit = true,
    .projects = true,
    .open = bdf_open,
    .close = multistep_close,
    .restart = multistep_restart,
    .limit = multistep_limit,
    .step = multistep_step,
    .last_step = multistep_last_step,
    .interpolate = multistep_interpolate,
    .interpolate_along = multistep_interpolate_along,
    .count = multistep_count,
    .message = multistep_message,
};
