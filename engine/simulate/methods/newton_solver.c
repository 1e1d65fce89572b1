/* newton_solver.c — a custom SUNMatrix that only carries a pointer, and a direct SUNLinearSolver on it. */
#include "engine/simulate/newton_solver.h"

#include "engine/solve/newton_matrix.h"

#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

struct newton_solver {
    const hamel_model *model;
    variables *variables;
    kinetics *kinetics;
    newton_matrix *matrix;
    SUNMatrix sun_matrix;
    SUNLinearSolver sun_solver;
    double *acceleration, *lambda;
    double *state;                                 /* 2n: (q, q') where the last linearization was made, at time t */
    double *change;                                /* 2n: (δq, δq') */
    double *shown, *found;                         /* of w, at most n each: what δq' shows of the change; and solved */
    double *rate_work, *rate_tangent_work, *seeds; /* of the energy rate's tangent; NULL without one */
    double t, gamma, linearizations;
    bool linearized;
};

/* SUNDIALS frees the objects' shells only; what they point to is this solver's. */
static SUNMatrix_ID matrix_id(SUNMatrix A) {
    (void)A;
    return SUNMATRIX_CUSTOM;
}
static SUNLinearSolver_Type solver_type(SUNLinearSolver S) {
    (void)S;
    return SUNLINEARSOLVER_DIRECT;
}

static int solver_setup(SUNLinearSolver S, SUNMatrix A) {
    newton_solver *s = S->content;
    (void)A;
    hamel_status status = newton_factor(s->matrix, s->gamma);
    return status == HAMEL_OK ? 0 : status == HAMEL_NO_MEMORY ? -1 : 1;
}

/* The row of W in J: dh/dt differentiated along x = (δq, δq'), δλ. */
static double rate_along(newton_solver *s, const double *x) {
    const hamel_model *model = s->model;
    size_t n = model->n, m = model->m;
    const double *multipliers = newton_multipliers(s->matrix);
    double dots[PROGRAM_LANES];
    program_inputs in = model_inputs(model, &s->t, s->state, s->state + n, NULL, s->lambda, NULL), seeds = {{0}};
    for (size_t i = 0; i < 2 * n + m; i++) s->seeds[i * PROGRAM_LANES] = i < 2 * n ? x[i] : multipliers[i - 2 * n];
    in.values[SYMBOL_IDEAL] = s->kinetics->ideal;
    in.values[SYMBOL_NONIDEAL] = s->kinetics->nonideal;
    in.values[SYMBOL_BRANCH] = s->kinetics->mode.branches;
    seeds.values[SYMBOL_COORDINATE] = s->seeds;
    seeds.values[SYMBOL_VELOCITY] = s->seeds + n * PROGRAM_LANES;
    seeds.values[SYMBOL_MULTIPLIER] = s->seeds + 2 * n * PROGRAM_LANES;
    program_tangent(model->energy_rate, &in, &seeds, s->rate_work, s->rate_tangent_work, NULL, dots);
    return dots[0];
}

/* The matrix is that of (q, q'); changes of w are turned into those of q' and back by the maps at the iterate. What that
 * neglects, the rate of the maps, is not stiff. What of a change no q' shows (momenta along Aᵀ) stays as it is. */
static int solver_solve(SUNLinearSolver S, SUNMatrix A, N_Vector x, N_Vector b, realtype tolerance) {
    newton_solver *s = S->content;
    size_t n = s->model->n;
    const double *in = NV_DATA_S(b);
    double *out = NV_DATA_S(x), *dq = s->change, *dv = dq + n;
    (void)A;
    (void)tolerance;
    memcpy(dq, in, n * sizeof *dq);
    size_t count = variables_count(s->variables);
    hamel_status status = variables_velocity_change(s->variables, in, in + n, dv);
    if (status == HAMEL_OK) status = variables_change(s->variables, in, dv, s->shown);
    if (status == HAMEL_OK) status = newton_solve(s->matrix, dq);
    if (status == HAMEL_OK && s->model->energy_rate) {
        size_t at = n + count;
        out[at] = in[at] + s->gamma * rate_along(s, dq);
    }
    memcpy(out, dq, n * sizeof *out);
    if (status == HAMEL_OK) status = variables_change(s->variables, dq, dv, s->found);
    for (size_t i = 0; i < count; i++) out[n + i] = s->found[i] + (in[n + i] - s->shown[i]);
    return status == HAMEL_OK ? 0 : 1;
}

/* CVODE's user data is the integrator's; this function finds its solver through the matrix. */
static int linear_system(realtype t, N_Vector y_vector, N_Vector fy, SUNMatrix M, booleantype jacobian_ok,
                         booleantype *jacobian_current, realtype gamma, void *user, N_Vector t1, N_Vector t2,
                         N_Vector t3) {
    newton_solver *s = M->content;
    const double *y = NV_DATA_S(y_vector);
    size_t n = s->model->n;
    double *v = s->state + n; /* its last value is the guess */
    (void)fy, (void)user, (void)t1, (void)t2, (void)t3;
    s->gamma = gamma;
    *jacobian_current = SUNFALSE;
    if (jacobian_ok && s->linearized) return 0;
    *jacobian_current = SUNTRUE;
    memcpy(s->state, y, n * sizeof *y);
    hamel_status status = variables_velocities(s->variables, t, y, y + n, v, NULL);
    if (status == HAMEL_OK) status = kinetics_evaluate(s->kinetics, t, s->state, v, NULL);
    if (status == HAMEL_OK) status = kinetics_accelerations(s->kinetics, 0, 0, s->acceleration, s->lambda, NULL);
    if (status == HAMEL_OK)
        status = newton_linearize(s->matrix, t, s->state, v, s->acceleration, s->lambda, s->kinetics->ideal,
                                  s->kinetics->values);
    s->t = t;
    s->linearizations++;
    s->linearized = status == HAMEL_OK;
    return status == HAMEL_OK ? 0 : 1;
}

static int matrix_zero(SUNMatrix A) {
    (void)A;
    return 0;
}

static bool create_shells(newton_solver *s, SUNContext context) {
    s->sun_matrix = SUNMatNewEmpty(context);
    s->sun_solver = SUNLinSolNewEmpty(context);
    if (!s->sun_matrix || !s->sun_solver) return false;
    s->sun_matrix->content = s;
    s->sun_matrix->ops->getid = matrix_id;
    s->sun_matrix->ops->zero = matrix_zero;
    s->sun_solver->content = s;
    s->sun_solver->ops->gettype = solver_type;
    s->sun_solver->ops->setup = solver_setup;
    s->sun_solver->ops->solve = solver_solve;
    return true;
}

static bool create_rate(newton_solver *s) {
    const hamel_model *model = s->model;
    if (!model->energy_rate) return true;
    s->rate_work = calloc(program_workspace_doubles(model->energy_rate) + 1, sizeof *s->rate_work);
    s->rate_tangent_work = calloc(program_tangent_doubles(model->energy_rate) + 1, sizeof *s->rate_tangent_work);
    s->seeds = calloc((2 * model->n + model->m) * PROGRAM_LANES, sizeof *s->seeds);
    if (!s->rate_work || !s->rate_tangent_work || !s->seeds) return false;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->energy_rate, &in, s->rate_work);
    return true;
}

newton_solver *newton_solver_attach(void *cvode, variables *x, kinetics *k, const double *v, SUNContext context) {
    const hamel_model *model = k->model;
    newton_solver *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->model = model;
    s->variables = x;
    s->kinetics = k;
    s->matrix = newton_create(model);
    s->acceleration = calloc(7 * model->n + model->m + 1, sizeof *s->acceleration);
    bool good = s->matrix && s->acceleration && create_rate(s) && create_shells(s, context);
    if (good) {
        newton_select(s->matrix, &k->mode);
        s->lambda = s->acceleration + model->n;
        s->state = s->lambda + model->m;
        s->change = s->state + 2 * model->n;
        s->shown = s->change + 2 * model->n;
        s->found = s->shown + model->n;
        memcpy(s->state + model->n, v, model->n * sizeof *v);
        good = CVodeSetLinearSolver(cvode, s->sun_solver, s->sun_matrix) == CV_SUCCESS &&
               CVodeSetLinSysFn(cvode, linear_system) == CV_SUCCESS;
    }
    if (good) return s;
    newton_solver_free(s);
    return NULL;
}

void newton_solver_free(newton_solver *s) {
    if (!s) return;
    if (s->sun_solver) SUNLinSolFreeEmpty(s->sun_solver);
    if (s->sun_matrix) SUNMatFreeEmpty(s->sun_matrix);
    newton_free(s->matrix);
    free(s->rate_work), free(s->rate_tangent_work), free(s->seeds);
    free(s->acceleration);
    free(s);
}

double newton_solver_linearizations(const newton_solver *s) {
    return s ? s->linearizations : 0;
}
