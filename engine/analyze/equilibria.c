/* equilibria.c — where a system can rest, or move steadily.
 *
 * Unknowns (q, λ):  R(q, q' = v*, q'' = 0, λ) = 0 (Baruh 4.6.7: generalized forces and reactions balance), Φ(q) = 0,
 * ψ(q, v*) = 0; v* holds the velocities of cyclic coordinates, 0 for all others. Solved by KINSOL (Newton with line
 * search) from the initial values and from random configurations around them; where it fails from the initial values,
 * from where the system settles that is let go there. Its linear systems are solved by least squares of least norm
 * (LAPACK dgelsy): equilibria need not be isolated, nor multipliers unique. */
#include "engine/analyze/linear.h"
#include "engine/base/memory_left.h"
#include "engine/base/random.h"

#include <kinsol/kinsol.h>
#include <lapacke.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

static const double SOLVED = 1e-9;    /* residual against the sizes of its terms */
static const double SAME = 1e-6;      /* distance of two solutions, relative to values above 1 */
static const double RANK = 1e-9;      /* of the largest pivot */
static const double ITERATED = 1e-11; /* scaled residual at which KINSOL may stop */
/* Relaxation: the first step moves by so much of a coordinate or of 1, and none by more; it has settled below the last. */
static const double FIRST_MOVE = 0.05, LARGEST_MOVE = 0.4, SETTLED = 1e-4;
enum { RELAXATION = 400 }; /* steps */
enum { POLISH = 4, MOST = 256, MOST_ITERATIONS = 100, KINSOL_VECTORS = 20 };

/* What the caller holds is the list inside. */
typedef struct owned_equilibria {
    hamel_equilibria equilibria; /* first */
    arena memory;
} owned_equilibria;

typedef struct found {
    hamel_equilibrium equilibrium;
    double distance;
} found;

typedef struct search {
    owned_equilibria *owned;
    hamel_model *model;
    hamel_error *error;
    local_equations local;
    size_t n, m, size; /* size = n + m */
    double *v, *zero_a;
    bool *cyclic, *periodic; /* n: absent from everything; of period 2π */
    double *F, *J, *scale, *step, *work;
    lapack_int *pivot;
    found *items;
    size_t count;
    uint64_t seed;
    SUNContext context;
    SUNMatrix matrix;
    SUNLinearSolver solver;
    void *kinsol;
    N_Vector z, unit, weight;
    bool starved; /* something was not computed for want of memory: what was not found says nothing */
} search;

static hamel_status no_memory(hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the equilibria");
}

/* --- the equations ------------------------------------------------------------------------------------------------- */

/* Which level of constraint c must hold. */
static const double *level(const search *s, size_t c, const double *holonomic, const double *velocity) {
    return s->model->order[c] == CONSTRAINT_HOLONOMIC ? holonomic : velocity;
}

/* F, J and the size of each row's terms at z. False when something is not finite. */
static bool evaluate(search *s, const double *z) {
    size_t n = s->n, m = s->m, size = s->size;
    const local_equations *l = &s->local;
    hamel_error quiet = {0};
    local_state state = {s->model->settings.start, z, s->v, s->zero_a, z + n};
    hamel_status status = local_evaluate(&s->local, &state, &quiet);
    hamel_error_clear(&quiet);
    s->starved = s->starved || status == HAMEL_NO_MEMORY;
    if (status != HAMEL_OK) return false;
    memset(s->J, 0, size * size * sizeof *s->J);
    for (size_t i = 0; i < size; i++) {
        size_t c = i - n;
        bool constraint = i >= n && s->model->active[c] && s->model->order[c] != CONSTRAINT_ACCELERATION;
        s->F[i] = constraint ? level(s, c, l->phi, l->psi)[c] : l->R[i];
        memcpy(s->J + i * size, constraint ? level(s, c, l->phi_q, l->psi_q) + c * n : l->R_q + i * n,
               n * sizeof *s->J);
        if (!constraint && m > 0) memcpy(s->J + i * size + n, l->R_l + i * m, m * sizeof *s->J);
        s->scale[i] = fabs(s->F[i]);
        for (size_t j = 0; j < size; j++) s->scale[i] += fabs(s->J[i * size + j]) * fmax(1, fabs(z[j]));
    }
    return true;
}

/* x := A⁺x, the least squares solution of least norm; A is overwritten. The rank of A, or −1. */
static lapack_int least_squares(search *s, size_t rows, size_t columns, double *A, double *x) {
    lapack_int rank = 0;
    memset(s->pivot, 0, s->size * sizeof *s->pivot);
    int info = LAPACKE_dgelsy(LAPACK_ROW_MAJOR, (lapack_int)rows, (lapack_int)columns, 1, A, (lapack_int)columns, x, 1,
                              s->pivot, RANK, &rank);
    s->starved = s->starved || lapacke_starved(info);
    return info == 0 ? rank : -1;
}

/* step := −J⁺F of least norm at the point evaluated last, or J⁺ right with `right` in place of −F. */
static bool solve(search *s, const double *right, double *step) {
    size_t size = s->size;
    memcpy(s->work, s->J, size * size * sizeof *s->work);
    for (size_t i = 0; i < size; i++) { /* rows of one size: a force may be in newtons, a constraint in metres */
        double scale = s->scale[i] > 0 ? s->scale[i] : 1;
        for (size_t j = 0; j < size; j++) s->work[i * size + j] /= scale;
        step[i] = (right ? right[i] : -s->F[i]) / scale;
    }
    return least_squares(s, size, size, s->work, step) >= 0;
}

static double residual(const search *s) {
    double worst = 0;
    for (size_t i = 0; i < s->size; i++)
        if (s->F[i] != 0) worst = fmax(worst, fabs(s->F[i]) / s->scale[i]);
    return worst;
}

/* --- KINSOL -------------------------------------------------------------------------------------------------------- */

static int system_function(N_Vector z, N_Vector f, void *user) {
    search *s = user;
    if (!evaluate(s, NV_DATA_S(z))) return 1;
    memcpy(NV_DATA_S(f), s->F, s->size * sizeof(double));
    return 0;
}

static int jacobian_function(N_Vector z, N_Vector f, SUNMatrix J, void *user, N_Vector t1, N_Vector t2) {
    (void)f, (void)J, (void)t1, (void)t2;
    return evaluate(user, NV_DATA_S(z)) ? 0 : 1;
}

static SUNMatrix_ID matrix_id(SUNMatrix A) {
    (void)A;
    return SUNMATRIX_CUSTOM;
}
static int matrix_zero(SUNMatrix A) {
    (void)A;
    return 0;
}
static SUNLinearSolver_Type solver_type(SUNLinearSolver S) {
    (void)S;
    return SUNLINEARSOLVER_DIRECT;
}
static int solver_setup(SUNLinearSolver S, SUNMatrix A) {
    (void)S, (void)A;
    return 0;
}
static int solver_solve(SUNLinearSolver S, SUNMatrix A, N_Vector x, N_Vector b, realtype tolerance) {
    (void)A, (void)tolerance;
    return solve(S->content, NV_DATA_S(b), NV_DATA_S(x)) ? 0 : 1;
}

static void be_quiet(int code, const char *module, const char *function, char *message, void *user) {
    (void)code, (void)module, (void)function, (void)message, (void)user;
}

static bool create_solver(search *s) {
    sunindextype size = (sunindextype)s->size;
    if (!memory_left(KINSOL_VECTORS, s->size) || SUNContext_Create(NULL, &s->context) != 0) return false;
    s->matrix = SUNMatNewEmpty(s->context);
    s->solver = SUNLinSolNewEmpty(s->context);
    s->z = N_VNew_Serial(size, s->context);
    s->unit = N_VNew_Serial(size, s->context);
    s->weight = N_VNew_Serial(size, s->context);
    s->kinsol = KINCreate(s->context);
    if (!s->matrix || !s->solver || !s->z || !s->unit || !s->weight || !s->kinsol) return false;
    s->matrix->ops->getid = matrix_id;
    s->matrix->ops->zero = matrix_zero;
    s->solver->content = s;
    s->solver->ops->gettype = solver_type;
    s->solver->ops->setup = solver_setup;
    s->solver->ops->solve = solver_solve;
    N_VConst(1, s->unit);
    return KINSetErrHandlerFn(s->kinsol, be_quiet, NULL) == KIN_SUCCESS &&
           KINSetUserData(s->kinsol, s) == KIN_SUCCESS && KINInit(s->kinsol, system_function, s->z) == KIN_SUCCESS &&
           KINSetLinearSolver(s->kinsol, s->solver, s->matrix) == KINLS_SUCCESS &&
           KINSetJacFn(s->kinsol, jacobian_function) == KINLS_SUCCESS &&
           KINSetFuncNormTol(s->kinsol, ITERATED) == KIN_SUCCESS && KINSetMaxSetupCalls(s->kinsol, 1) == KIN_SUCCESS &&
           KINSetNumMaxIters(s->kinsol, MOST_ITERATIONS) == KIN_SUCCESS;
}

static void free_solver(search *s) {
    if (s->kinsol) KINFree(&s->kinsol);
    if (s->z) N_VDestroy(s->z);
    if (s->unit) N_VDestroy(s->unit);
    if (s->weight) N_VDestroy(s->weight);
    if (s->matrix) SUNMatFreeEmpty(s->matrix);
    if (s->solver) SUNLinSolFreeEmpty(s->solver);
    if (s->context) (void)SUNContext_Free(&s->context);
}

/* From z to a solution nearby, in place. */
static bool converge(search *s, double *z) {
    if (s->size == 0) return true;
    if (!evaluate(s, z)) return false;
    for (size_t i = 0; i < s->size; i++) NV_DATA_S(s->weight)[i] = s->scale[i] > 0 ? 1 / s->scale[i] : 1;
    memcpy(NV_DATA_S(s->z), z, s->size * sizeof *z);
    (void)KINSol(s->kinsol, s->z, KIN_LINESEARCH, s->unit, s->weight); /* judged by the residual below */
    memcpy(z, NV_DATA_S(s->z), s->size * sizeof *z);
    for (int k = 0; k < POLISH; k++) {
        if (!evaluate(s, z) || residual(s) > 1e-2 || !solve(s, NULL, s->step)) return false;
        for (size_t i = 0; i < s->size; i++) z[i] += s->step[i];
    }
    return evaluate(s, z) && residual(s) < SOLVED;
}

/* --- relaxation ---------------------------------------------------------------------------------------------------- */

/* The step in which the forces at z alone would move some coordinate by FIRST_MOVE. */
static double first_step(const search *s, const double *z) {
    double h = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        double mass = s->local.R_a[i * s->n + i], force = fabs(s->F[i]);
        if (mass > 0 && force > 0) h = fmin(h, FIRST_MOVE * fmax(1, fabs(z[i])) * mass / force);
    }
    return h;
}

/* One step of implicit Euler in s->step; how far it moves, relative to values above 1, or NAN. */
static double relaxed(search *s, const double *z, double h) {
    double most = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++) s->J[i * s->size + j] += s->local.R_a[i * s->n + j] / h;
    if (!solve(s, NULL, s->step)) return NAN;
    for (size_t i = 0; i < s->n; i++) most = fmax(most, fabs(s->step[i]) / fmax(1, fabs(z[i])));
    return most;
}

/* Along M dq/ds = Q + Aᵀλ, Φ = 0, as if in honey, to where it settles, in place. Steps grow as the way that is left
 * shrinks: pseudo-transient continuation (Kelley & Keyes, SIAM J. Numer. Anal. 35 (1998) 508). */
static bool relax(search *s, double *z) {
    if (!evaluate(s, z)) return false;
    double h = first_step(s, z);
    for (int k = 0; k < RELAXATION && h > 0 && isfinite(h); k++) {
        if (k > 0 && !evaluate(s, z)) return false;
        double move = relaxed(s, z, h);
        if (!(move <= LARGEST_MOVE)) {
            h /= isnan(move) ? 4 : fmin(4, 2 * move / LARGEST_MOVE);
            continue;
        }
        for (size_t i = 0; i < s->size; i++) z[i] += s->step[i];
        if (move < SETTLED) return true;
        h *= move < LARGEST_MOVE / 4 ? 4 : 1;
    }
    return false;
}

/* --- what is found ------------------------------------------------------------------------------------------------- */

static size_t rank_of(search *s, size_t first_column, size_t columns) {
    double *copy = s->work, *right = s->step;
    for (size_t i = 0; i < s->size; i++) {
        double scale = s->scale[i] > 0 ? s->scale[i] : 1;
        for (size_t j = 0; j < columns; j++) copy[i * columns + j] = s->J[i * s->size + first_column + j] / scale;
        right[i] = 0;
    }
    lapack_int rank = columns == 0 ? 0 : least_squares(s, s->size, columns, copy, right);
    return rank < 0 ? 0 : (size_t)rank;
}

/* Null directions of J that move coordinates are those beyond the multipliers' own; cyclic coordinates always have one. */
static bool is_isolated(search *s) {
    size_t whole = rank_of(s, 0, s->size), multipliers = rank_of(s, s->n, s->m), cyclic = 0;
    for (size_t i = 0; i < s->n; i++) cyclic += s->cyclic[i];
    return s->n - (whole - multipliers) <= cyclic;
}

static void wrap(const search *s, double *q) {
    for (size_t i = 0; i < s->n; i++)
        if (s->periodic[i] && !s->cyclic[i]) q[i] -= 2 * M_PI * ceil((q[i] - M_PI) / (2 * M_PI) - 1e-9);
}

static bool is_known(const search *s, const double *q) {
    for (size_t k = 0; k < s->count; k++) {
        double worst = 0;
        for (size_t i = 0; i < s->n; i++) {
            double difference = fabs(q[i] - s->items[k].equilibrium.q[i]);
            if (s->periodic[i]) difference = fmin(difference, fabs(2 * M_PI - difference));
            worst = fmax(worst, difference / fmax(1, fabs(q[i])));
        }
        if (worst < SAME) return true;
    }
    return false;
}

static double *copied(search *s, const double *x, size_t count) {
    double *copy = arena_alloc(&s->owned->memory, count, sizeof *copy);
    if (copy && count > 0) memcpy(copy, x, count * sizeof *copy);
    return copy;
}

/* Eigenvalues of the motion linearized there; none where coordinates are singular. */
static hamel_status judge(search *s, const double *z, hamel_equilibrium *e) {
    hamel_linearization linear = {0};
    local_state state = {s->model->settings.start, z, s->v, s->zero_a, z + s->n};
    hamel_status status = local_evaluate(&s->local, &state, s->error);
    if (status == HAMEL_OK) status = linear_reduce(&linear, &s->local, s->v, s->zero_a, &s->owned->memory, s->error);
    e->determined = status != HAMEL_SINGULAR;
    if (status == HAMEL_SINGULAR) {
        hamel_error_clear(s->error);
        status = HAMEL_OK;
    }
    e->stable = linear.stable;
    e->eigenvalues = linear.eigenvalues;
    e->eigenvalue_count = linear.eigenvalues ? linear.state_count : 0;
    return status;
}

/* z is a solution. One that belongs to a family is kept only when it was found from the initial values. */
static hamel_status keep(search *s, double *z, bool first) {
    hamel_equilibrium e = {.isolated = is_isolated(s)};
    wrap(s, z);
    if ((!e.isolated && !first) || is_known(s, z) || s->count == MOST) return HAMEL_OK;
    hamel_status status = judge(s, z, &e);
    e.q = copied(s, z, s->n);
    e.v = copied(s, s->v, s->n);
    e.lambda = copied(s, z + s->n, s->m);
    if (!e.q || !e.v || !e.lambda) return no_memory(s->error);
    double distance = 0;
    for (size_t i = 0; i < s->n; i++) distance = hypot(distance, z[i] - s->model->q0[i]);
    s->items[s->count++] = (found){e, distance};
    return status;
}

/* --- starts -------------------------------------------------------------------------------------------------------- */

/* The multipliers that balance the forces at q best. */
static bool balance(search *s, double *z) {
    memset(z + s->n, 0, s->m * sizeof *z);
    if (!evaluate(s, z) || s->m == 0) return s->m == 0;
    for (size_t i = 0; i < s->n; i++) {
        for (size_t c = 0; c < s->m; c++) s->work[i * s->m + c] = s->J[i * s->size + s->n + c];
        s->step[i] = -s->F[i];
    }
    if (least_squares(s, s->n, s->m, s->work, s->step) < 0) return false;
    memcpy(z + s->n, s->step, s->m * sizeof *z);
    return true;
}

static void draw(search *s, double *z) {
    for (size_t i = 0; i < s->n; i++) {
        double start = s->model->q0[i], reach = s->periodic[i] ? M_PI : 1.5 * fmax(1, fabs(start));
        z[i] = s->cyclic[i] ? start : start + random_uniform(&s->seed, -reach, reach);
    }
}

/* A coordinate is an angle when a whole turn changes no equation, at two random configurations. */
static void find_angles(search *s, double *z) {
    for (size_t i = 0; i < s->n; i++) s->periodic[i] = false; /* draw asks */
    for (size_t i = 0; i < s->n; i++) {
        bool same = true;
        for (int k = 0; k < 2 && same; k++) {
            draw(s, z);
            for (size_t c = 0; c < s->m; c++) z[s->n + c] = random_uniform(&s->seed, -1, 1);
            if (!evaluate(s, z)) continue;
            memcpy(s->step, s->F, s->size * sizeof *s->step);
            z[i] += 2 * M_PI;
            same = evaluate(s, z);
            for (size_t r = 0; r < s->size && same; r++) same = fabs(s->F[r] - s->step[r]) <= 1e-9 * (1 + s->scale[r]);
        }
        s->periodic[i] = same;
    }
}

static void mark_cyclic(search *s, const hamel_names *names) {
    for (size_t k = 0; k < names->count; k++) {
        int32_t i = system_coordinate_index(s->model->system, names->items[k]);
        if (i < 0) continue;
        s->cyclic[i] = true;
        s->v[i] = s->model->v0[i];
        if (s->v[i] != 0) s->owned->equilibria.steady = true;
    }
}

static hamel_status run(search *s, size_t starts, const atomic_bool *cancel) {
    double *z = arena_alloc(&s->owned->memory, s->size, sizeof *z);
    if (!z) return no_memory(s->error);
    s->seed = 0x9e3779b97f4a7c15u;
    find_angles(s, z);
    for (size_t k = 0; k <= starts; k++) {
        if (cancel && atomic_load(cancel))
            return hamel_fail(s->error, HAMEL_CANCELED, "", 0, "canceled while equilibria were sought");
        if (k == 0)
            memcpy(z, s->model->q0, s->n * sizeof *z);
        else
            draw(s, z);
        hamel_status status = balance(s, z) && converge(s, z) ? keep(s, z, k == 0) : HAMEL_OK;
        if (k == 0 && s->count == 0) {
            memcpy(z, s->model->q0, s->n * sizeof *z);
            if (balance(s, z) && relax(s, z) && converge(s, z) && status == HAMEL_OK) status = keep(s, z, true);
        }
        if (status == HAMEL_OK && s->starved) status = no_memory(s->error);
        if (status != HAMEL_OK) return status;
        s->owned->equilibria.starts++;
    }
    return HAMEL_OK;
}

static int by_distance(const void *x, const void *y) {
    const found *a = x, *b = y;
    return (a->distance > b->distance) - (a->distance < b->distance);
}

/* Into the caller's list; names outlive the model. */
static hamel_status publish(search *s) {
    hamel_equilibria *out = &s->owned->equilibria;
    arena *memory = &s->owned->memory;
    const hamel_system *system = s->model->system;
    const char **coordinates = arena_alloc(memory, s->n, sizeof *coordinates);
    const char **constraints = arena_alloc(memory, s->m, sizeof *constraints);
    hamel_equilibrium *items = arena_alloc(memory, s->count, sizeof *items);
    if (!coordinates || !constraints || !items) return no_memory(s->error);
    for (size_t i = 0; i < s->n; i++)
        if (!(coordinates[i] = arena_format(memory, "%s", system->coordinates[i].name))) return no_memory(s->error);
    for (size_t c = 0; c < s->m; c++)
        if (!(constraints[c] = arena_format(memory, "%s", system->constraints[c].name))) return no_memory(s->error);
    qsort(s->items, s->count, sizeof *s->items, by_distance);
    for (size_t k = 0; k < s->count; k++) items[k] = s->items[k].equilibrium;
    out->coordinates = coordinates;
    out->constraints = constraints;
    out->coordinate_count = s->n;
    out->constraint_count = s->m;
    out->items = items;
    out->count = s->count;
    return HAMEL_OK;
}

static bool allocate(search *s) {
    arena *memory = &s->owned->memory;
    size_t size = s->size;
    s->v = arena_alloc(memory, s->n, sizeof *s->v);
    s->zero_a = arena_alloc(memory, s->n, sizeof *s->zero_a);
    s->cyclic = arena_alloc(memory, s->n, sizeof *s->cyclic);
    s->periodic = arena_alloc(memory, s->n, sizeof *s->periodic);
    s->F = arena_alloc(memory, size, sizeof *s->F);
    s->J = arena_alloc(memory, size * size, sizeof *s->J);
    s->work = arena_alloc(memory, size * size, sizeof *s->work);
    s->scale = arena_alloc(memory, size, sizeof *s->scale);
    s->step = arena_alloc(memory, size, sizeof *s->step);
    s->pivot = arena_alloc(memory, size, sizeof *s->pivot);
    s->items = arena_alloc(memory, MOST, sizeof *s->items);
    return s->v && s->zero_a && s->cyclic && s->periodic && s->F && s->J && s->work && s->scale && s->step &&
           s->pivot && s->items;
}

static hamel_status find(search *s, size_t starts, const hamel_description *d, const hamel_limits *limits,
                         const atomic_bool *cancel) {
    hamel_report *report = NULL;
    hamel_error quiet = {0};
    s->n = s->model->n;
    s->m = s->model->m;
    s->size = s->n + s->m;
    hamel_status status = local_create(&s->local, s->model, NULL, 0, s->error);
    if (status != HAMEL_OK) return status;
    if (!allocate(s) || !create_solver(s)) return no_memory(s->error);
    /* The structure is not known when no state satisfies the constraints; then no coordinate is taken for cyclic. */
    status = hamel_analyze(&report, d, limits, cancel, &quiet);
    if (status == HAMEL_OK) mark_cyclic(s, &report->cyclic);
    if (status == HAMEL_NO_MEMORY) s->starved = true;
    hamel_error_clear(&quiet);
    hamel_report_free(report);
    status = run(s, starts, cancel);
    return status == HAMEL_OK ? publish(s) : status;
}

hamel_status hamel_find_equilibria(hamel_equilibria **out, const hamel_description *d, size_t starts,
                                   const hamel_limits *limits, const atomic_bool *cancel, hamel_error *error) {
    hamel_limits taken = limits ? *limits : hamel_limits_default();
    hamel_error own = {0};
    if (!error) error = &own;
    *out = NULL;
    search s = {.owned = calloc(1, sizeof(owned_equilibria)), .error = error};
    if (s.owned) arena_init(&s.owned->memory, taken.memory);
    hamel_status status = s.owned ? hamel_model_create(&s.model, d, &taken, cancel, error) : no_memory(error);
    if (status == HAMEL_OK) status = find(&s, starts, d, &taken, cancel);
    free_solver(&s);
    local_free(&s.local);
    hamel_model_free(s.model);
    if (status == HAMEL_OK)
        *out = &s.owned->equilibria;
    else
        hamel_equilibria_free(s.owned ? &s.owned->equilibria : NULL);
    hamel_error_clear(&own);
    return status;
}

void hamel_equilibria_free(hamel_equilibria *equilibria) {
    owned_equilibria *owned = (owned_equilibria *)equilibria;
    if (!owned) return;
    arena_free(&owned->memory);
    free(owned);
}
