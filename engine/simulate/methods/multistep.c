/* multistep.c — the steppers `adams` and `bdf`: CVODES with the vector operations of vector_ops.h.
 *
 * Adams uses fixed-point iteration. BDF uses Newton's method, the linear solver of the problem, and CVODE's projection.
 * Properties of SUNDIALS 6.4.1 that shape this file:
 *   - The default error handler prints to stderr.
 *   - Projection is supported for BDF only.
 *   - The return value CV_TSTOP_RETURN is unreliable.
 *   - The limit `mxstep` applies to each call of CVode. */
#include "engine/base/memory_left.h"
#include "engine/simulate/methods/stepper.h"
#include "engine/simulate/methods/vector_ops.h"

#include <assert.h>
#include <cvodes/cvodes.h>
#include <cvodes/cvodes_proj.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

/* Upper bound on failed error tests in a step. As a sliding contact in space approaches rest, the direction of its slip
 * turns ever faster. The last step before rest may have to shrink by a factor of 1e10, for which CVODE's default of 7
 * failures does not suffice. */
enum { ERROR_TESTS = 40 };

typedef struct multistep {
    stepper base;
    SUNContext context;
    void *cvode;
    N_Vector y, dense; /* y: state after the last step; dense: scratch for dense output */
    SUNNonlinearSolver nonlinear;
    stepper_counts before; /* counts at the last restart, at which CVODE resets its own counts */
    char message[300];     /* last error message of CVODE */
} multistep;

static int cvode_rates(realtype t, N_Vector y, N_Vector out, void *user) {
    multistep *w = user;
    const stepper_problem *p = w->base.problem;
    w->base.counts.rhs++;
    return p->rates(p->user, t, NV_DATA_S(y), NV_DATA_S(out));
}

static int cvode_weights(N_Vector y, N_Vector out, void *user) {
    const stepper_problem *p = ((multistep *)user)->base.problem;
    return p->weights(p->user, NV_DATA_S(y), NV_DATA_S(out));
}

static int cvode_project(realtype t, N_Vector y, N_Vector correction, realtype epsilon, N_Vector error, void *user) {
    multistep *w = user;
    const stepper_problem *p = w->base.problem;
    w->base.counts.projections++;
    (void)epsilon; /* not needed: the projection is exact to rounding */
    return p->project(p->user, t, NV_DATA_S(y), NV_DATA_S(correction), error ? NV_DATA_S(error) : NULL);
}

static int cvode_forward_rates(int count, realtype t, N_Vector y, N_Vector rate, N_Vector *s, N_Vector *ds, void *user,
                               N_Vector t1, N_Vector t2) {
    const stepper_problem *p = ((multistep *)user)->base.problem;
    (void)count, (void)rate, (void)t1, (void)t2;
    return p->forward_rates(p->user, t, NV_DATA_S(y), s, ds);
}

static void keep_message(int code, const char *module, const char *function, char *message, void *user) {
    multistep *w = user;
    (void)module, (void)function;
    if (code < 0) snprintf(w->message, sizeof w->message, "%s", message);
}

static void multistep_close(stepper *s) {
    multistep *w = (multistep *)s;
    if (w->cvode) CVodeFree(&w->cvode);
    if (w->nonlinear) SUNNonlinSolFree(w->nonlinear);
    if (s->problem->forward) forward_close(s->problem->forward);
    if (w->dense) N_VDestroy(w->dense);
    if (w->y) N_VDestroy(w->y);
    if (w->context) SUNContext_Free(&w->context);
}

static bool configure(multistep *w, double t) {
    void *c = w->cvode;
    return !(CVodeSetUserData(c, w) || CVodeSetErrHandlerFn(c, keep_message, w) || CVodeInit(c, cvode_rates, t, w->y) ||
             CVodeWFtolerances(c, cvode_weights) || CVodeSetMaxNumSteps(c, -1) || CVodeSetMaxHnilWarns(c, -1) ||
             CVodeSetStopTime(c, w->base.problem->stop) || CVodeSetMaxErrTestFails(c, ERROR_TESTS));
}

static bool attach(multistep *w) {
    const stepper_problem *p = w->base.problem;
    bool implicit = w->base.kind->implicit;
    w->nonlinear = implicit ? SUNNonlinSol_Newton(w->y, w->context) : SUNNonlinSol_FixedPoint(w->y, 0, w->context);
    if (!w->nonlinear || CVodeSetNonlinearSolver(w->cvode, w->nonlinear)) return false;
    if (implicit && !p->attach_linear_solver(p->user, w->cvode, w->context)) return false;
    if (p->forward && !forward_open(p->forward, w->cvode, implicit, cvode_forward_rates)) return false;
    return !w->base.kind->projects || !p->project || CVodeSetProjFn(w->cvode, cvode_project) == CV_SUCCESS;
}

/* Upper bound on the number of vectors in CVODE: the 13 vectors of Nordsieck's array at order 12, and the work vectors
 * of method, projection and corrector. */
enum { METHOD_VECTORS = 40 };

static stepper *multistep_open(const stepper_kind *kind, const stepper_problem *p, double t, const double *y) {
    multistep *w = arena_alloc(p->memory, 1, sizeof *w);
    if (!w) return NULL;
    assert(!kind->implicit || p->attach_linear_solver);
    w->base = (stepper){.kind = kind, .problem = p, .most = INFINITY, .message = w->message};
    bool good = memory_left(METHOD_VECTORS, p->length) && SUNContext_Create(NULL, &w->context) == 0 &&
                (w->y = vector_create((sunindextype)p->length, w->context)) && (w->dense = N_VClone(w->y));
    if (good) memcpy(NV_DATA_S(w->y), y, p->length * sizeof *y);
    if (good) w->cvode = CVodeCreate(kind->implicit ? CV_BDF : CV_ADAMS, w->context);
    if (good && w->cvode && configure(w, t) && attach(w)) return &w->base;
    multistep_close(&w->base);
    return NULL;
}

static bool multistep_limit(stepper *s) {
    return CVodeSetMaxStep(((multistep *)s)->cvode, isinf(s->most) ? 0 : s->most) == CV_SUCCESS; /* 0: no bound */
}

static void multistep_count(stepper *s) {
    multistep *w = (multistep *)s;
    long jacobians = 0;
    if (s->kind->implicit) CVodeGetNumJacEvals(w->cvode, &jacobians);
    s->counts.jacobians = w->before.jacobians + jacobians;
}

static bool multistep_restart(stepper *s, double t, const double *y, double step) {
    multistep *w = (multistep *)s;
    multistep_count(s);
    w->before = s->counts;
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
    long failures = 0;
    assert(*t <= s->problem->stop);
    step_result result = result_of(CVode(w->cvode, s->problem->stop, w->y, &reached, CV_ONE_STEP));
    CVodeGetNumNonlinSolvConvFails(w->cvode, &failures);
    s->counts.stiff = w->before.stiff + failures;
    s->counts.steps += result == STEP_TAKEN;
    CVodeGetLastStep(w->cvode, &s->last);
    if (result != STEP_TAKEN) return result;
    if (s->problem->forward && !forward_take(s->problem->forward, w->cvode)) return STEP_REFUSED;
    *t = reached;
    memcpy(y, NV_DATA_S(w->y), s->problem->length * sizeof *y);
    return STEP_TAKEN;
}

static bool multistep_interpolate(stepper *s, double t, double *y) {
    multistep *w = (multistep *)s;
    if (CVodeGetDky(w->cvode, t, 0, w->dense) != CV_SUCCESS) return false;
    memcpy(y, NV_DATA_S(w->dense), s->problem->length * sizeof *y);
    return true;
}

static bool multistep_interpolate_forward(stepper *s, double t, double *const *along) {
    return forward_interpolate(s->problem->forward, ((multistep *)s)->cvode, t, along);
}

#define MULTISTEP_FUNCTIONS                                                                                   \
    .open = multistep_open, .close = multistep_close, .restart = multistep_restart, .limit = multistep_limit, \
    .step = multistep_step, .count = multistep_count, .interpolate = multistep_interpolate,                   \
    .interpolate_forward = multistep_interpolate_forward

/* The safety factor was measured on all 158 examples that are smooth enough to have a reference. The columns of rtol
 * contain the largest error of a coordinate or velocity, relative to rtol (max |y| + 1). The first number is the
 * median, and the second number the ninth decile. `steps` is the number of steps, divided by that of the first line.
 *
 *     safety |  rtol 1e-6     |  rtol 1e-9     | steps
 *     0.002  |  0.04    1.0   |  0.02    0.06  |  1
 *     0.005  |  0.11    1.0   |  0.06    0.33  |  0.91
 *     0.01   |  0.23    3.1   |  0.12    0.40  |  0.87
 *     0.03   |  0.56    6.6   |  0.37    1.2   |  0.79
 *
 * If the system is stiff, the fixed-point iteration fails repeatedly. With a bound of 8 failures in fifty steps,
 * occasional failures do not count as stiffness. */
const stepper_kind stepper_adams = {.safety = 0.005, .stiff_of_many = 8, MULTISTEP_FUNCTIONS};

/* The same measurement with BDF:
 *
 *     safety |  rtol 1e-6     |  rtol 1e-9     | steps
 *     0.003  |  0.29    3.5   |  0.27    2.1   |  1
 *     0.01   |  0.69    9.8   |  0.66    5.3   |  0.84
 *     0.03   |  1.9    22     |  2.0     9.8   |  0.72
 *     0.1    |  6.2    69     |  5.1    46     |  0.61
 */
const stepper_kind stepper_bdf = {.safety = 0.003, .implicit = true, .projects = true, MULTISTEP_FUNCTIONS};
