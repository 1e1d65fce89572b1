/* newton_solver.c — a custom SUNMatrix that only contains a pointer, and a direct SUNLinearSolver for this matrix. */
#include "engine/simulate/methods/newton_solver.h"

#include "engine/dynamics/newton_matrix.h"

#include <assert.h>
#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <string.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

struct newton_solver {
    const hamel_model *model;
    variables *variables;
    dynamics *dynamics;
    newton_matrix *matrix;
    SUNMatrix sun_matrix;
    SUNLinearSolver sun_solver;
    double *acceleration, *lambda;
    double *state;         /* 2n: (q, q') at the last linearization; t is its time */
    double *change;        /* 2n: (δq, δq') */
    double *shown, *found; /* at most n each: δw computed from δq' before (shown) and after (found) solving */
    double *rate_work, *rate_tangent_work, *seeds; /* scratch for the tangent of dh/dt; NULL if dh/dt is 0 */
    double t, gamma;
    bool linearized;
};

/* SUNDIALS frees only its own structs. The solver owns the content of these structs. */
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

/* Returns the derivative of dh/dt along x = (δq, δq') and δλ: the row of the Jacobian for W times this change. */
static double energy_rate_tangent(newton_solver *s, const double *x) {
    const hamel_model *model = s->model;
    size_t n = model->n, m = model->m;
    const double *multipliers = newton_multipliers(s->matrix);
    double dots[PROGRAM_LANES];
    program_inputs in = model_inputs(model, &s->t, s->state, s->state + n, NULL, s->lambda, NULL), seeds = {{0}};
    for (size_t i = 0; i < 2 * n + m; i++) s->seeds[i * PROGRAM_LANES] = i < 2 * n ? x[i] : multipliers[i - 2 * n];
    in.values[SYMBOL_IDEAL] = s->dynamics->ideal;
    in.values[SYMBOL_NONIDEAL] = s->dynamics->nonideal;
    in.values[SYMBOL_BRANCH] = s->dynamics->discrete_state.branches;
    seeds.values[SYMBOL_COORDINATE] = s->seeds;
    seeds.values[SYMBOL_VELOCITY] = s->seeds + n * PROGRAM_LANES;
    seeds.values[SYMBOL_MULTIPLIER] = s->seeds + 2 * n * PROGRAM_LANES;
    program_tangent(model->dynamics.energy_rate, &in, &seeds, s->rate_work, s->rate_tangent_work, NULL, dots);
    return dots[0];
}

/* The Newton matrix is derived for the state (q, q'). At the iterate, the map between w and q' converts the right-hand
 * side to changes of q', and the solution back to changes of w. The rate of this map is neglected, because it does not
 * contribute to stiffness. The part of δw that does not affect q' (momenta along Aᵀ) is not converted. */
static int solver_solve(SUNLinearSolver S, SUNMatrix A, N_Vector x, N_Vector b, realtype tolerance) {
    newton_solver *s = S->content;
    size_t n = s->model->n;
    const double *in = NV_DATA_S(b);
    double *out = NV_DATA_S(x), *dq = s->change, *dv = dq + n;
    (void)A, (void)tolerance;
    memcpy(dq, in, n * sizeof *dq);
    size_t count = variables_count(s->variables);
    hamel_status status = variables_velocity_change(s->variables, in, in + n, dv);
    if (status == HAMEL_OK) status = variables_change(s->variables, in, dv, s->shown);
    if (status == HAMEL_OK) status = newton_solve(s->matrix, dq);
    if (status == HAMEL_OK && s->model->dynamics.energy_rate) {
        size_t at = n + count;
        out[at] = in[at] + s->gamma * energy_rate_tangent(s, dq);
    }
    memcpy(out, dq, n * sizeof *out);
    if (status == HAMEL_OK) status = variables_change(s->variables, dq, dv, s->found);
    for (size_t i = 0; i < count; i++) out[n + i] = s->found[i] + (in[n + i] - s->shown[i]);
    return status == HAMEL_OK ? 0 : 1;
}

/* The content of the matrix points to the solver, because CVODE's user data belongs to the stepper. */
static int linear_system(realtype t, N_Vector y_vector, N_Vector fy, SUNMatrix M, booleantype jacobian_ok,
                         booleantype *jacobian_current, realtype gamma, void *user, N_Vector t1, N_Vector t2,
                         N_Vector t3) {
    newton_solver *s = M->content;
    const double *y = NV_DATA_S(y_vector);
    size_t n = s->model->n;
    double *v = s->state + n; /* on entry: the initial guess */
    (void)fy, (void)user, (void)t1, (void)t2, (void)t3;
    s->gamma = gamma;
    *jacobian_current = SUNFALSE;
    if (jacobian_ok && s->linearized) return 0;
    *jacobian_current = SUNTRUE;
    memcpy(s->state, y, n * sizeof *y);
    hamel_status status = variables_velocities(s->variables, t, y, y + n, v, NULL);
    if (status == HAMEL_OK) status = dynamics_evaluate(s->dynamics, t, s->state, v, NULL);
    if (status == HAMEL_OK) status = dynamics_accelerations(s->dynamics, 0, 0, s->acceleration, s->lambda, NULL);
    if (status == HAMEL_OK)
        status = newton_linearize(s->matrix, t, s->state, v, s->acceleration, s->lambda, s->dynamics->ideal,
                                  s->dynamics->values);
    s->t = t;
    s->linearized = status == HAMEL_OK;
    return status == HAMEL_OK ? 0 : 1;
}

static int matrix_zero(SUNMatrix A) {
    (void)A;
    return 0;
}

static bool create_sundials_shells(newton_solver *s, SUNContext context) {
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

static bool create_rate_tangent(newton_solver *s, arena *memory) {
    const hamel_model *model = s->model;
    if (!model->dynamics.energy_rate) return !memory->failed;
    s->rate_work = model_workspace(model, model->dynamics.energy_rate, memory);
    s->rate_tangent_work = arena_doubles(memory, program_tangent_doubles(model->dynamics.energy_rate));
    s->seeds = arena_doubles(memory, (2 * model->n + model->m) * PROGRAM_LANES);
    return !memory->failed;
}

newton_solver *newton_solver_attach(arena *memory, void *cvode, variables *x, dynamics *k, const double *v,
                                    SUNContext context) {
    const hamel_model *model = k->model;
    size_t n = model->n;
    newton_solver *s = arena_alloc(memory, 1, sizeof *s);
    if (!s) return NULL;
    assert(variables_count(x) <= n);
    *s = (newton_solver){.model = model, .variables = x, .dynamics = k, .matrix = newton_create(model)};
    s->acceleration = arena_doubles(memory, n);
    s->state = arena_doubles(memory, 2 * n);
    s->change = arena_doubles(memory, 2 * n);
    s->shown = arena_doubles(memory, n);
    s->found = arena_doubles(memory, n);
    s->lambda = arena_doubles(memory, model->m);
    if (s->matrix && create_rate_tangent(s, memory) && create_sundials_shells(s, context)) {
        memcpy(s->state + n, v, n * sizeof *v);
        newton_select(s->matrix, &k->discrete_state);
        if (!CVodeSetLinearSolver(cvode, s->sun_solver, s->sun_matrix) && !CVodeSetLinSysFn(cvode, linear_system))
            return s;
    }
    newton_solver_free(s);
    return NULL;
}

void newton_solver_free(newton_solver *s) {
    if (!s) return;
    if (s->sun_solver) SUNLinSolFreeEmpty(s->sun_solver);
    if (s->sun_matrix) SUNMatFreeEmpty(s->sun_matrix);
    newton_free(s->matrix);
}
