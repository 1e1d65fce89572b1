/* linear.c — linearized motion on the constraint manifold, about the initial state or an equilibrium.
 *
 * Small changes satisfy Φ_q δq + Φ_p δp = 0 and ψ_q δq + ψ_v δv + ψ_p δp = 0. If these equations are solved for some of
 * the changes, they define a chart of the manifold. In the chart, the motion x' = f(x, p) is linearized exactly at any
 * state:
 *     δq = T_q z_q + S_q δp,     δv = T_v z_v + U_v z_q + S_v δp,
 *     z_q' = δv, z_v' = δa (rows of the independent entries).
 * By the implicit function theorem, δa is the solution of
 *     R_a δa + R_λ δλ = −(R_q δq + R_v δv + R_p δp).
 * LAPACK's dgeev computes the eigenvalues. LAPACK's dgelsy computes δa, because λ is not unique if constraints are
 * redundant. */
#include "engine/analyze/analysis_int.h"
#include "engine/analyze/local.h"
#include "engine/dynamics/initial_values.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smallest pivot accepted, relative to the largest entry. Rounding errors of an elimination with n rows are about n ε,
 * at most 1.3e-13 for LOCAL_MOST rows. */
static const double PIVOT_ZERO = 1e-10;
/* Smallest real part that counts as unstable, relative to the largest eigenvalue. Rounding changes a double eigenvalue
 * by about √ε = 1.5e-8, so the bound includes a safety factor of about 70. */
static const double UNSTABLE = 1e-6;

/* Upper bound on accelerations in a steady motion. Rounding errors are about ε = 2.2e-16 times the terms of the
 * equations, so terms up to 1e6 are allowed. */
static const double STILL = 1e-9;
/* Largest change of an entry of A in a steady motion, relative to the largest entry. Rounding errors of the entries are
 * about ε times the condition number of the equations, so condition numbers up to 1e8 are allowed. */
static const double CHANGES = 1e-7;

/* Solution x = T z + S y of C x + E y = 0; z are the entries independent[] of x. */
typedef struct chart {
    size_t n, free_count;
    size_t *independent; /* free_count, increasing */
    double *T, *S;       /* T: n × free_count; S: n × length of y */
} chart;

/* Reduces the first n columns by Gauss–Jordan elimination with complete pivoting. Sets column[r] to the column of pivot
 * r and returns the rank. */
static size_t reduce_rows(double *x, size_t rows, size_t n, size_t width, size_t *column) {
    assert(n <= width);
    double largest = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) largest = fmax(largest, fabs(x[i * width + j]));
    size_t rank = 0;
    for (; rank < rows; rank++) {
        size_t row = rank, at = 0;
        double best = 0;
        for (size_t i = rank; i < rows; i++)
            for (size_t j = 0; j < n; j++)
                if (fabs(x[i * width + j]) > best) best = fabs(x[i * width + j]), row = i, at = j;
        if (!(best > PIVOT_ZERO * largest)) break;
        double *pivot = x + rank * width, value = x[row * width + at];
        for (size_t k = 0; k < width && row != rank; k++) {
            double other = pivot[k];
            pivot[k] = x[row * width + k];
            x[row * width + k] = other;
        }
        for (size_t k = 0; k < width; k++) pivot[k] /= value;
        for (size_t i = 0; i < rows; i++) {
            double factor = i == rank ? 0 : x[i * width + at];
            for (size_t k = 0; k < width && factor != 0; k++) x[i * width + k] -= factor * pivot[k];
        }
        column[rank] = at;
    }
    return rank;
}

static bool chart_make(chart *c, arena *memory, const double *C, const double *E, size_t rows, size_t n,
                       size_t others) {
    size_t width = n + others;
    double *x = arena_doubles(memory, rows * width);
    size_t *column = arena_alloc(memory, rows, sizeof *column);
    bool *dependent = arena_alloc(memory, n, sizeof *dependent);
    c->n = n;
    c->independent = arena_alloc(memory, n, sizeof *c->independent);
    if (memory->failed) return false;
    for (size_t i = 0; i < rows; i++) {
        memcpy(x + i * width, C + i * n, n * sizeof *x);
        if (others > 0) memcpy(x + i * width + n, E + i * others, others * sizeof *x);
    }
    size_t rank = reduce_rows(x, rows, n, width, column);
    for (size_t r = 0; r < rank; r++) dependent[column[r]] = true;
    for (size_t j = 0; j < n; j++)
        if (!dependent[j]) c->independent[c->free_count++] = j;
    c->T = arena_doubles(memory, n * c->free_count);
    c->S = arena_doubles(memory, n * others);
    if (memory->failed) return false;
    for (size_t z = 0; z < c->free_count; z++) {
        c->T[c->independent[z] * c->free_count + z] = 1;
        for (size_t r = 0; r < rank; r++) c->T[column[r] * c->free_count + z] = -x[r * width + c->independent[z]];
    }
    for (size_t r = 0; r < rank; r++)
        for (size_t k = 0; k < others; k++) c->S[column[r] * others + k] = -x[r * width + n + k];
    return true;
}

/* Adds the product of X (rows × inner) and Y (inner × columns) to out (rows × columns). */
static void multiply_add(double *out, const double *X, const double *Y, size_t rows, size_t inner, size_t columns) {
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < inner; k++) {
            double x = X[i * inner + k];
            for (size_t j = 0; j < columns && x != 0; j++) out[i * columns + j] += x * Y[k * columns + j];
        }
}

/* δq, δv and δa as linear functions of the state z = (z_q, z_v) and the inputs. */
typedef struct reduction {
    chart position, velocity;
    size_t states, columns; /* columns = states + inputs */
    double *dq, *dv, *da;   /* n × columns */
} reduction;

/* Creates the chart of velocities, in which E y is ψ_q δq + ψ_p δp as a function of y = (z_q, p). */
static bool make_velocities(reduction *r, const local_equations *l, arena *memory) {
    size_t nq = r->position.free_count, others = nq + l->inputs;
    double *E = arena_doubles(memory, l->m * others), *dq = arena_doubles(memory, l->n * others);
    if (memory->failed) return false;
    for (size_t i = 0; i < l->n; i++) {
        for (size_t z = 0; z < nq; z++) dq[i * others + z] = r->position.T[i * nq + z];
        for (size_t k = 0; k < l->inputs; k++) dq[i * others + nq + k] = r->position.S[i * l->inputs + k];
    }
    for (size_t c = 0; c < l->m; c++)
        for (size_t k = 0; k < l->inputs; k++) E[c * others + nq + k] = l->psi_p[c * l->inputs + k];
    multiply_add(E, l->psi_q, dq, l->m, l->n, others);
    return chart_make(&r->velocity, memory, l->psi_v, E, l->m, l->n, others);
}

static bool spread_state(reduction *r, const local_equations *l, arena *memory) {
    size_t nq = r->position.free_count, nv = r->velocity.free_count, k = l->inputs, others = nq + k;
    r->states = nq + nv;
    r->columns = r->states + k;
    r->dq = arena_doubles(memory, l->n * r->columns);
    r->dv = arena_doubles(memory, l->n * r->columns);
    if (memory->failed) return false;
    for (size_t i = 0; i < l->n; i++) {
        double *q = r->dq + i * r->columns, *v = r->dv + i * r->columns;
        for (size_t z = 0; z < nq; z++) q[z] = r->position.T[i * nq + z];
        for (size_t z = 0; z < k; z++) q[r->states + z] = r->position.S[i * k + z];
        for (size_t z = 0; z < nq; z++) v[z] = r->velocity.S[i * others + z];
        for (size_t z = 0; z < nv; z++) v[nq + z] = r->velocity.T[i * nv + z];
        for (size_t z = 0; z < k; z++) v[r->states + z] = r->velocity.S[i * others + nq + z];
    }
    return true;
}

/* Checks that accelerations are unique: the null space of K = [R_a R_λ] may contain only changes of the multipliers of
 * redundant constraints. The dimension of this null space must therefore be that of the null space of R_λ. */
static hamel_status check_rank(const local_equations *l, size_t rank, arena *memory, hamel_error *error) {
    assert(rank <= l->rows);
    double *reactions = arena_doubles(memory, l->rows * l->m);
    size_t *column = arena_alloc(memory, l->rows, sizeof *column);
    if (memory->failed) return hamel_out_of_memory(error);
    if (l->m > 0) memcpy(reactions, l->R_l, l->rows * l->m * sizeof *reactions);
    if (rank >= l->n + reduce_rows(reactions, l->rows, l->m, l->m, column)) return HAMEL_OK;
    (void)hamel_fail(error, HAMEL_SINGULAR, "", 0, "accelerations are not determined at this state");
    hamel_suggest(error, "check for zero masses or inertias, and for singular coordinates, such as Euler angles of an "
                         "upright top");
    return HAMEL_SINGULAR;
}

/* Computes δa as a function of (z, p) by least squares with complete orthogonal factorization. */
static hamel_status accelerations(reduction *r, const local_equations *l, arena *memory, hamel_error *error) {
    size_t rows = l->rows, columns = r->columns;
    double *K = arena_doubles(memory, rows * rows), *right = arena_doubles(memory, rows * columns);
    lapack_int *pivot = arena_alloc(memory, rows, sizeof *pivot), rank;
    if (memory->failed) return hamel_out_of_memory(error);
    for (size_t i = 0; i < rows; i++) {
        memcpy(K + i * rows, l->R_a + i * l->n, l->n * sizeof *K);
        if (l->m > 0) memcpy(K + i * rows + l->n, l->R_l + i * l->m, l->m * sizeof *K);
        for (size_t k = 0; k < l->inputs; k++) right[i * columns + r->states + k] = l->R_p[i * l->inputs + k];
    }
    multiply_add(right, l->R_q, r->dq, rows, l->n, columns);
    multiply_add(right, l->R_v, r->dv, rows, l->n, columns);
    for (size_t k = 0; k < rows * columns; k++) right[k] = -right[k];
    r->da = right;
    if (rows == 0 || columns == 0) return HAMEL_OK;
    int info = LAPACKE_dgelsy(LAPACK_ROW_MAJOR, (lapack_int)rows, (lapack_int)rows, (lapack_int)columns, K,
                              (lapack_int)rows, right, (lapack_int)columns, pivot, 1e-12, &rank);
    if (lapacke_starved(info)) return hamel_out_of_memory(error);
    if (info != 0) return hamel_fail(error, HAMEL_INTERNAL, "", 0, "LAPACK could not compute the accelerations");
    return check_rank(l, (size_t)rank, memory, error);
}

static bool name_states(hamel_linearization *out, const reduction *r, const hamel_system *s, arena *memory) {
    const char **names = arena_alloc(memory, r->states, sizeof *names);
    size_t nq = r->position.free_count;
    for (size_t z = 0; z < r->states && names; z++) {
        size_t i = z < nq ? r->position.independent[z] : r->velocity.independent[z - nq];
        names[z] = arena_format(memory, "%s%s", s->coordinates[i].name, z < nq ? "" : "'");
    }
    out->state = names;
    return !memory->failed;
}

/* Copies the rows of the independent coordinates and velocities to A and B. */
static bool assemble(hamel_linearization *out, const reduction *r, size_t inputs, arena *memory) {
    size_t states = r->states, nq = r->position.free_count;
    double *A = arena_doubles(memory, states * states), *B = arena_doubles(memory, states * inputs);
    if (memory->failed) return false;
    for (size_t z = 0; z < states; z++) {
        const double *row = z < nq ? r->dv + r->position.independent[z] * r->columns
                                   : r->da + r->velocity.independent[z - nq] * r->columns;
        memcpy(A + z * states, row, states * sizeof *A);
        if (inputs > 0) memcpy(B + z * inputs, row + states, inputs * sizeof *B);
    }
    out->A = A;
    out->B = B;
    out->state_count = states;
    out->input_count = inputs;
    return true;
}

/* --- eigenvalues and modes ---------------------------------------------------------------------------------------- */

typedef struct eigen {
    double re, im;
    size_t column; /* column with the real part of the eigenvector */
} eigen;

static int by_frequency(const void *x, const void *y) {
    const eigen *a = x, *b = y;
    if (fabs(a->im) != fabs(b->im)) return fabs(a->im) < fabs(b->im) ? -1 : 1;
    if (a->re != b->re) return a->re < b->re ? -1 : 1;
    return (a->im < b->im) - (a->im > b->im);
}

/* Returns δq = T_q z_q of an eigenvector, scaled so that the largest coordinate is 1. */
static double *shape_of(const reduction *r, const double *vectors, const eigen *e, size_t n, arena *memory) {
    double *shape = arena_doubles(memory, 2 * n), largest = 0, by_re = 1, by_im = 0;
    if (!shape) return NULL;
    for (size_t i = 0; i < n; i++) {
        for (size_t z = 0; z < r->position.free_count; z++) {
            double T = r->dq[i * r->columns + z];
            shape[2 * i] += T * vectors[z * r->states + e->column];
            if (e->im != 0) shape[2 * i + 1] += T * vectors[z * r->states + e->column + 1];
        }
        double size = hypot(shape[2 * i], shape[2 * i + 1]);
        if (size > largest * (1 + 1e-9)) largest = size, by_re = shape[2 * i], by_im = shape[2 * i + 1];
    }
    for (size_t i = 0; i < n && largest > 0; i++) {
        double re = shape[2 * i], im = shape[2 * i + 1], norm = by_re * by_re + by_im * by_im;
        shape[2 * i] = (re * by_re + im * by_im) / norm;
        shape[2 * i + 1] = (im * by_re - re * by_im) / norm;
    }
    return shape;
}

static bool list_modes(hamel_linearization *out, const reduction *r, const eigen *e, const double *vectors, size_t n,
                       arena *memory) {
    double *eigenvalues = arena_doubles(memory, 2 * r->states), largest = 0, right = -INFINITY;
    hamel_mode *modes = arena_alloc(memory, r->states, sizeof *modes);
    if (memory->failed) return false;
    for (size_t k = 0; k < r->states; k++) {
        double size = hypot(e[k].re, e[k].im);
        eigenvalues[2 * k] = e[k].re;
        eigenvalues[2 * k + 1] = e[k].im;
        largest = fmax(largest, size);
        right = fmax(right, e[k].re);
        if (e[k].im < 0) continue;
        hamel_mode *mode = &modes[out->mode_count++];
        *mode = (hamel_mode){.eigenvalue = {e[k].re, e[k].im},
                             .frequency = size,
                             .damping = size > 0 ? (0 - e[k].re) / size : 0, /* avoids −0 */
                             .shape = shape_of(r, vectors, &e[k], n, memory)};
    }
    out->eigenvalues = eigenvalues;
    out->modes = modes;
    out->stable = r->states == 0 || right <= UNSTABLE * largest;
    return !memory->failed;
}

static hamel_status find_modes(hamel_linearization *out, const reduction *r, size_t n, arena *memory,
                               hamel_error *error) {
    size_t states = r->states;
    double *A = arena_doubles(memory, states * states), *vectors = arena_doubles(memory, states * states);
    double *re = arena_doubles(memory, states), *im = arena_doubles(memory, states);
    eigen *list = arena_alloc(memory, states, sizeof *list);
    if (memory->failed) return hamel_out_of_memory(error);
    memcpy(A, out->A, states * states * sizeof *A);
    lapack_int size = (lapack_int)states;
    int info = 0;
    if (states > 0) info = LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'V', size, A, size, re, im, NULL, size, vectors, size);
    if (lapacke_starved(info)) return hamel_out_of_memory(error);
    if (info != 0) return hamel_fail(error, HAMEL_SINGULAR, "", 0, "the eigenvalue iteration did not converge");
    for (size_t k = 0; k < states; k++) list[k] = (eigen){re[k], im[k], im[k] < 0 ? k - 1 : k};
    if (states > 0) qsort(list, states, sizeof *list, by_frequency);
    return list_modes(out, r, list, vectors, n, memory) ? HAMEL_OK : hamel_out_of_memory(error);
}

hamel_status linear_evaluate(hamel_linearization *out, local_equations *l, const local_state *s, arena *memory,
                             hamel_error *error) {
    reduction r = {0};
    hamel_status status = local_evaluate(l, s, error);
    if (status != HAMEL_OK) return status;
    if (!chart_make(&r.position, memory, l->phi_q, l->phi_p, l->m, l->n, l->inputs) ||
        !make_velocities(&r, l, memory) || !spread_state(&r, l, memory))
        return hamel_out_of_memory(error);
    status = accelerations(&r, l, memory, error);
    if (status != HAMEL_OK) return status;
    if (!name_states(out, &r, l->model->system, memory) || !assemble(out, &r, l->inputs, memory))
        return hamel_out_of_memory(error);
    out->at_rest = true;
    for (size_t i = 0; i < l->n; i++) out->at_rest = out->at_rest && s->v[i] == 0 && fabs(s->a[i]) <= STILL;
    return find_modes(out, &r, l->n, memory, error);
}

/* --- the state to linearize about --------------------------------------------------------------------------------- */

typedef struct linearizer {
    analysis *a;
    const hamel_equilibrium *at; /* equilibrium to linearize about; NULL for the initial state */
    const hamel_argument *inputs;
    size_t input_count;
    dynamics *dynamics;
    local_equations local;
} linearizer;

/* Allocates the state and fills in the equilibrium, or the consistent initial state with its accelerations and
 * multipliers. */
static hamel_status make_state(linearizer *z, local_state *state) {
    analysis *a = z->a;
    size_t n = a->n, m = a->model->m;
    double *q = arena_doubles(a->memory, 3 * n + m);
    if (!q) return analysis_no_memory(a);
    double *v = q + n, *lambda = q + 3 * n;
    *state = (local_state){a->model->settings.start, q, v, q + 2 * n, lambda};
    if (!z->at) {
        hamel_status status = initial_state(z->dynamics, q, v, q + 2 * n, lambda, a->error);
        return status == HAMEL_OK || a->error->status != HAMEL_OK ? status
                                                                  : dynamics_explain(z->dynamics, status, a->error);
    }
    memcpy(q, z->at->q, n * sizeof *q);
    memcpy(v, z->at->v, n * sizeof *v);
    memcpy(lambda, z->at->lambda, m * sizeof *lambda);
    return HAMEL_OK;
}

/* Returns true if the matrix A of the linearization is constant along a motion with constant velocities v. */
static bool is_steady(linearizer *z, const local_state *now, const hamel_linearization *here, hamel_status *status) {
    size_t n = z->a->n, count = here->state_count * here->state_count;
    double *q = arena_doubles(z->a->memory, n), largest = 0, worst = 0;
    if (!q) *status = analysis_no_memory(z->a);
    for (size_t i = 0; i < n && q; i++)
        if (fabs(now->a[i]) > STILL) return false;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, fabs(here->A[k]));
    for (int later = 1; later <= 2 && q; later++) {
        hamel_linearization there = {0};
        arena memory;
        for (size_t i = 0; i < n; i++) q[i] = now->q[i] + 0.37 * later * now->v[i];
        local_state state = {now->t + 0.37 * later, q, now->v, now->a, now->lambda};
        arena_init(&memory, z->a->model->limits.memory);
        hamel_status own = linear_evaluate(&there, &z->local, &state, &memory, NULL);
        bool same = own == HAMEL_OK && there.state_count == here->state_count;
        for (size_t k = 0; k < count && same; k++) worst = fmax(worst, fabs(there.A[k] - here->A[k]));
        arena_free(&memory);
        if (own == HAMEL_NO_MEMORY) *status = analysis_no_memory(z->a);
        if (!same) return false;
    }
    return worst <= CHANGES * largest;
}

static hamel_status linearize(linearizer *z, hamel_linearization *out) {
    analysis *a = z->a;
    const char **inputs = arena_alloc(a->memory, z->input_count, sizeof *inputs);
    local_state state;
    hamel_status status = make_state(z, &state);
    if (status != HAMEL_OK) return status;
    *out = (hamel_linearization){
        .t = state.t, .q = state.q, .v = state.v, .lambda = state.lambda, .coordinate_count = a->n, .inputs = inputs};
    out->coordinates = analysis_coordinate_names(a);
    for (size_t k = 0; k < z->input_count && inputs; k++) inputs[k] = arena_format(a->memory, "%s", z->inputs[k].name);
    if (a->memory->failed) return analysis_no_memory(a);
    status = local_create(&z->local, a->model, z->inputs, z->input_count, a->error);
    if (status == HAMEL_OK) status = linear_evaluate(out, &z->local, &state, a->memory, a->error);
    if (status == HAMEL_OK) out->steady = is_steady(z, &state, out, &status);
    out->stable = out->stable && out->steady;
    local_free(&z->local);
    return status;
}

static hamel_status linearize_description(analysis *a, void *result, void *context) {
    linearizer *z = context;
    z->a = a;
    hamel_status status = analysis_create_model(a, a->request.description);
    if (status != HAMEL_OK) return status;
    z->dynamics = dynamics_create(a->model);
    if (!z->dynamics) return analysis_no_memory(a);
    dynamics_limit(z->dynamics, a->request.poll, 0);
    status = linearize(z, result);
    dynamics_free(z->dynamics);
    return status;
}

hamel_status hamel_linearize(hamel_linearization **out, const hamel_description *d, const hamel_equilibrium *at,
                             const hamel_argument *inputs, size_t input_count, const hamel_limits *limits,
                             hamel_poll *poll, hamel_error *error) {
    linearizer z = {.at = at, .inputs = inputs, .input_count = input_count};
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, linearize_description, &z,
                            out);
}

void hamel_linearization_free(hamel_linearization *linearization) {
    analysis_result_free(linearization);
}
