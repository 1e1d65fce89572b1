/* statics.c — equilibrium equations, also for steady motion, and Newton's method for them; see statics.h. */
#include "engine/analyze/statics.h"

#include "engine/base/finite.h"
#include "engine/base/random.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A residual up to this bound, relative to its terms, is accepted. The bound is a few thousand ε (2.2e-16), the
 * rounding error of a sum of many terms. A larger residual is accepted only if it is within a computed bound on its
 * rounding error. */
static const double SOLVED = 1e-12;
/* The iteration stops at this residual, relative to its terms. The residual is then a few ε, which further steps cannot
 * reduce. */
static const double ROUNDED = 1e-15;
/* Smallest pivot accepted near multiple roots, relative to the largest pivot. The bound is a few hundred ε, because
 * smaller pivots may be rounding errors. */
static const double FINEST = 1e-13;
/* If an iteration has failed, refine_root continues only if the residual is below this bound. A smaller bound would
 * miss multiple roots, near which convergence is slow. A larger bound would cost time at points far from a root. */
static const double NEAR_ROOT = 1e-4;
/* Largest Newton step without line search, relative to max(1, |value|). With this bound, a step changes an unknown at
 * most by max(1, |value|). */
static const double LONGEST = 1;
/* Distance at which the sizes of rows are sampled, relative to max(1, |value|). A term x² that vanishes at the point
 * reaches 1e-2 at this distance. */
static const double ROW_SIZE_RADIUS = 0.1;
/* Lower bound on the row sizes at a solution, relative to the sizes at the first point. Near roots of an order up to
 * 50, the row sizes exceed this bound. */
static const double UNDERFLOW = 1e-100;
/* Upper bound on the reactions, relative to the forces that they balance. If reactions reach this bound, five digits
 * cancel in the sum of reactions and forces. */
static const double BOUNDED = 1e5;
/* Two sums count as equal if they differ by at most this bound, relative to the sum of the absolute values of all
 * terms. The bound is a few thousand ε, the rounding error of a sum of many terms. */
static const double SAME_SUM = 1e-12;
/* Numbers of random points or displacements at which equations are compared. Different analytic expressions agree at a
 * random point with probability 0, so a few points suffice. */
enum { AUTONOMOUS_TRIALS = 3, NOISE_TRIALS = 3, NEARBY_TRIALS = 4 };
/* MOST_ITERATIONS bounds the iterations, and HALVINGS bounds the halvings of a step. A descent ends if PATIENCE
 * iterations have not reduced the residual by 10 %. These limits bound the time. Near a simple root, Newton's method
 * needs fewer than ten iterations. */
enum { MOST_ITERATIONS = 150, PATIENCE = 20, HALVINGS = 12 };

size_t statics_most(const statics *s) {
    return s->n + STATICS_INSTANTS * s->m + s->spinning_count;
}

/* --- creation ----------------------------------------------------------------------------------------------------- */

static bool contains_time(const hamel_model *model) {
    unsigned time = GRAPH_DEPENDS(SYMBOL_TIME);
    return ((program_depends(model->dynamics.residual) | program_depends(model->dynamics.program)) & time) != 0;
}

/* Sets sum[0] to a randomly weighted sum of all values and derivatives of the equations, and sum[1] to the sum of their
 * absolute values. */
static void summarize(local_equations *l, double sum[2]) {
    local_matrix list[LOCAL_MATRICES];
    uint64_t seed = 31;
    local_list(l, list);
    sum[0] = sum[1] = 0;
    for (size_t k = 0; k < LOCAL_MATRICES; k++)
        for (size_t i = 0; i < list[k].rows * list[k].columns; i++) {
            sum[0] += random_uniform(&seed, -1, 1) * (*list[k].values)[i];
            sum[1] += fabs((*list[k].values)[i]);
        }
}

/* Returns true if the equations contain t but are the same at all times, as in a frame that rotates uniformly about the
 * vertical. Compares the equations at random states and at several times. `state` is scratch for 3n + m numbers. */
static bool is_autonomous(statics *s, double *state) {
    size_t n = s->n, total = 3 * n + s->m;
    for (int trial = 0; trial < AUTONOMOUS_TRIALS; trial++) {
        double before[2] = {0};
        for (size_t i = 0; i < total; i++) state[i] = random_uniform(&s->seed, -1, 1);
        for (size_t i = 0; i < n; i++) state[i] += s->model->q0[i];
        for (int k = 0; k < STATICS_INSTANTS; k++) {
            double t = s->model->settings.start + (k ? random_uniform(&s->seed, 0, 5) : 0), sum[2];
            local_state at = {t, state, state + n, state + 2 * n, state + 3 * n};
            if (local_evaluate(&s->local, &at, NULL) != HAMEL_OK) return false;
            summarize(&s->local, sum);
            if (k > 0 && !(fabs(sum[0] - before[0]) <= SAME_SUM * sum[1])) return false;
            memcpy(before, sum, sizeof sum);
        }
    }
    return true;
}

static void choose_instants(statics *s, double *room) {
    s->instants = contains_time(s->model) && !is_autonomous(s, room) ? STATICS_INSTANTS : 1;
    s->t[0] = s->model->settings.start;
    for (size_t k = 0; k < s->instants && s->instants > 1; k++)
        s->t[k] = s->model->settings.start + (double)k + random_uniform(&s->seed, 0.1, 0.9);
}

static void mark_cyclic(statics *s, const hamel_names *names, const double *v) {
    for (size_t k = 0; names && k < names->count; k++) {
        int32_t i = system_coordinate_index(s->model->system, names->items[k]);
        if (i < 0) continue;
        s->cyclic[i] = true;
        s->v[i] = v[i];
        s->spinning[s->spinning_count++] = (size_t)i;
        if (s->v[i] != 0) s->steady = true;
    }
}

/* If each cyclic coordinate has a momentum, compiles these momenta. */
static hamel_status compile_momenta(statics *s, hamel_error *error) {
    hamel_system *system = s->model->system;
    hamel_equations e = {.system = system, .n = s->n, .m = s->m};
    size_t count = s->spinning_count;
    graph_node *nodes = arena_alloc(&s->memory, count, sizeof *nodes);
    if (!nodes) return hamel_out_of_memory(error);
    if (!s->steady) return HAMEL_OK;
    system->error = error;
    if (lagrange_derive(&e) != HAMEL_OK) return error->status;
    for (size_t k = 0; k < count; k++) {
        nodes[k] = e.momentum ? e.momentum[s->spinning[k]] : GRAPH_NONE;
        if (nodes[k] == GRAPH_NONE) return equations_status(system);
    }
    hamel_status status = program_compile(&s->momenta, &s->memory, system->graph, nodes, count, error);
    if (status != HAMEL_OK) return status;
    s->momentum_values = arena_doubles(&s->memory, count);
    s->momentum_rates = arena_doubles(&s->memory, count * s->n);
    return local_program_create(&s->momentum_program, s->model, s->momenta, count, s->n, &s->memory)
               ? HAMEL_OK
               : hamel_out_of_memory(error);
}

static bool allocate_statics(statics *s) {
    size_t rows = s->instants * (s->n + s->m) + s->spinning_count + 1,
           most = s->n + s->instants * s->m + s->spinning_count;
    size_t large = (rows > most ? rows : most) + s->n + 1; /* includes up to n additional rows of potential.c */
    double **const by_rows[] = {&s->F, &s->scale, &s->noise, &s->weight},
                   **const by_most[] = {&s->right, &s->step, &s->singular},
                   **const by_z[] = {&s->trial, &s->start, &s->kept};
    s->J = arena_doubles(&s->memory, rows * most);
    s->work = arena_doubles(&s->memory, large * large);
    s->vectors = arena_doubles(&s->memory, large * large);
    s->velocity = arena_doubles(&s->memory, s->n);
    s->momentum = arena_doubles(&s->memory, s->spinning_count);
    for (size_t k = 0; k < 4; k++) *by_rows[k] = arena_doubles(&s->memory, rows);
    for (size_t k = 0; k < 3; k++) *by_most[k] = arena_doubles(&s->memory, large);
    for (size_t k = 0; k < 3; k++) *by_z[k] = arena_doubles(&s->memory, statics_most(s));
    s->pivot = arena_alloc(&s->memory, large, sizeof *s->pivot);
    return !s->memory.failed;
}

hamel_status statics_create(statics *s, hamel_model *model, const hamel_names *cyclic, const double *v,
                            hamel_error *error) {
    *s = (statics){.model = model,
                   .n = model->n,
                   .m = model->m,
                   .rank = SAMPLED_RANK_TOLERANCE,
                   .deadline = INFINITY,
                   .seed = 0x9e3779b97f4a7c15u};
    arena_init(&s->memory, model->limits.memory);
    hamel_status status = local_create(&s->local, model, NULL, 0, error);
    if (status != HAMEL_OK) return status;
    s->v = arena_doubles(&s->memory, s->n);
    s->zero_a = arena_doubles(&s->memory, s->n);
    s->cyclic = arena_alloc(&s->memory, s->n, sizeof *s->cyclic);
    s->spinning = arena_alloc(&s->memory, s->n, sizeof *s->spinning);
    double *room = arena_doubles(&s->memory, 3 * s->n + s->m);
    if (s->memory.failed) return hamel_out_of_memory(error);
    mark_cyclic(s, cyclic, v);
    choose_instants(s, room);
    if (!allocate_statics(s)) return hamel_out_of_memory(error);
    status = compile_momenta(s, error);
    statics_take(s, STATICS_GIVEN, NULL);
    return status;
}

void statics_free(statics *s) {
    local_free(&s->local);
    arena_free(&s->memory);
}

/* --- the equations ------------------------------------------------------------------------------------------------ */

static void fill_balance(statics *s, size_t instant, size_t i, const double *lambda) {
    assert(instant < s->instants && i < s->n + s->m);
    const local_equations *l = &s->local;
    size_t n = s->n, m = s->m, c = i - n, row = instant * (n + m) + i;
    double *J = s->J + row * s->unknowns;
    bool constraint = i >= n && s->model->active[c] && s->model->order[c] != CONSTRAINT_ACCELERATION;
    bool holonomic = i >= n && s->model->order[c] == CONSTRAINT_HOLONOMIC;
    if (i >= n && s->holonomic_only && !holonomic) {
        s->F[row] = lambda[c];
        J[n + instant * m + c] = 1;
        return;
    }
    s->F[row] = constraint ? (holonomic ? l->phi : l->psi)[c] : l->R[i];
    memcpy(J, constraint ? (holonomic ? l->phi_q : l->psi_q) + c * n : l->R_q + i * n, n * sizeof *J);
    if (!constraint && m > 0) memcpy(J + n + instant * m, l->R_l + i * m, m * sizeof *J);
    if (s->velocities == STATICS_GIVEN) return;
    bool moves = !constraint || !holonomic;
    const double *by_v = constraint ? l->psi_v + c * n : l->R_v + i * n;
    for (size_t k = 0; k < s->spinning_count && moves; k++) J[n + s->instants * m + k] = by_v[s->spinning[k]];
}

/* Fills the rows p_c − p*_c and their derivatives. */
static void fill_momenta(statics *s, const double *z) {
    assert(s->velocities == STATICS_MOMENTA);
    size_t n = s->n, count = s->spinning_count, first = s->instants * (n + s->m), at_v = n + s->instants * s->m;
    double *rows = s->J + first * s->unknowns;
    const local_rows by_q = {0, count, s->unknowns, rows}, by_v = {0, count, n, s->momentum_rates};
    const program_inputs in = discrete_state_inputs(&s->local.discrete_state, &s->t[0], z, s->velocity, NULL, NULL);
    program_evaluate(s->momenta, &in, s->momentum_program.work, s->momentum_values);
    local_derivatives(&s->momentum_program, &in, SYMBOL_COORDINATE, n, &by_q, 1);
    local_derivatives(&s->momentum_program, &in, SYMBOL_VELOCITY, n, &by_v, 1);
    for (size_t r = 0; r < count; r++) {
        for (size_t k = 0; k < count; k++) rows[r * s->unknowns + at_v + k] = s->momentum_rates[r * n + s->spinning[k]];
        s->F[first + r] = s->momentum_values[r] - s->momentum[r];
    }
}

void statics_take(statics *s, statics_velocities velocities, const double *q) {
    assert(!s->centre && (velocities != STATICS_MOMENTA || s->momenta));
    size_t c = s->spinning_count;
    s->velocities = velocities;
    s->rows = s->instants * (s->n + s->m) + (velocities == STATICS_MOMENTA ? c : 0);
    s->unknowns = s->n + s->instants * s->m + (velocities == STATICS_GIVEN ? 0 : c);
    if (velocities != STATICS_MOMENTA) return;
    discrete_state_choose_branches(&s->local.discrete_state, s->t[0], q, s->v);
    const program_inputs in = discrete_state_inputs(&s->local.discrete_state, &s->t[0], q, s->v, NULL, NULL);
    program_evaluate(s->momenta, &in, s->momentum_program.work, s->momentum);
}

void statics_stay_at(statics *s, const double *centre, double radius) {
    if (centre && !s->centre) s->rows++;
    if (!centre && s->centre) s->rows--;
    s->centre = centre;
    s->radius = radius;
}

/* Sets the last element of F to Σ d_k² − 1 and the last row of J to its derivatives. The sum is over the entries of z
 * that define a family, with d_k = (z_k − centre_k) / (radius · max(1, |centre_k|)). */
static void fill_distance(statics *s, const double *z) {
    assert(s->radius > 0 && s->rows > 0);
    size_t row = s->rows - 1;
    double sum = 0;
    for (size_t j = 0; j < statics_width(s); j++) {
        size_t k = statics_place(s, j);
        double unit = s->radius * fmax(1, fabs(s->centre[k])), x = (z[k] - s->centre[k]) / unit;
        sum += x * x;
        s->J[row * s->unknowns + k] = 2 * x / unit;
    }
    s->F[row] = sum - 1;
}

bool statics_evaluate(statics *s, const double *z) {
    assert(s->unknowns <= statics_most(s) && s->instants <= STATICS_INSTANTS);
    size_t n = s->n, m = s->m;
    memcpy(s->velocity, s->v, n * sizeof *s->velocity);
    for (size_t k = 0; k < s->spinning_count && s->velocities != STATICS_GIVEN; k++)
        s->velocity[s->spinning[k]] = z[n + s->instants * m + k];
    memset(s->J, 0, s->rows * s->unknowns * sizeof *s->J);
    for (size_t k = 0; k < s->instants; k++) {
        local_state state = {s->t[k], z, s->velocity, s->zero_a, z + n + k * m};
        hamel_status status = local_evaluate(&s->local, &state, NULL);
        s->starved = s->starved || status == HAMEL_NO_MEMORY;
        if (status != HAMEL_OK) return false;
        for (size_t i = 0; i < n + m; i++) fill_balance(s, k, i, state.lambda);
    }
    if (s->velocities == STATICS_MOMENTA) fill_momenta(s, z);
    if (s->centre) fill_distance(s, z);
    for (size_t i = 0; i < s->rows; i++) {
        s->scale[i] = fabs(s->F[i]);
        for (size_t j = 0; j < s->unknowns; j++) s->scale[i] += fabs(s->J[i * s->unknowns + j]) * fmax(1, fabs(z[j]));
    }
    double lanes = PROGRAM_LANES, instructions = (double)program_instruction_count(s->model->dynamics.residual);
    s->spent += (double)s->instants * instructions * (3 * (double)n + (double)m + lanes);
    return all_finite(s->F, s->rows) && all_finite(s->scale, s->rows);
}

double statics_residual(const statics *s) {
    double worst = 0;
    for (size_t i = 0; i < s->rows; i++)
        if (s->F[i] != 0) worst = fmax(worst, fabs(s->F[i]) / s->scale[i]);
    return worst;
}

/* --- linear systems ----------------------------------------------------------------------------------------------- */

bool statics_least_squares(statics *s, size_t rows, size_t columns, double *A, double *b) {
    lapack_int rank = 0;
    if (rows == 0 || columns == 0) {
        memset(b, 0, columns * sizeof *b);
        return true;
    }
    memset(s->pivot, 0, columns * sizeof *s->pivot);
    s->spent += 4 * (double)rows * (double)columns * (double)(rows < columns ? rows : columns);
    int info = LAPACKE_dgelsy(LAPACK_ROW_MAJOR, (lapack_int)rows, (lapack_int)columns, 1, A, (lapack_int)columns, b, 1,
                              s->pivot, s->rank, &rank);
    s->starved = s->starved || lapacke_starved(info);
    return info == 0;
}

/* Rows are scaled to the same size, because a force may be in newtons and a constraint in metres. */
bool statics_newton_step(statics *s, double *step) {
    size_t columns = s->unknowns;
    for (size_t i = 0; i < s->rows; i++) {
        double scale = s->scale[i] > 0 ? s->scale[i] : 1;
        for (size_t j = 0; j < columns; j++) s->work[i * columns + j] = s->J[i * columns + j] / scale;
        s->right[i] = -s->F[i] / scale;
    }
    if (!statics_least_squares(s, s->rows, columns, s->work, s->right)) return false;
    memcpy(step, s->right, columns * sizeof *step);
    return true;
}

bool statics_balance(statics *s, double *z) {
    size_t m = s->instants * s->m;
    memset(z + s->n, 0, m * sizeof *z);
    if (!statics_evaluate(s, z) || m == 0) return m == 0;
    for (size_t i = 0; i < s->rows; i++) {
        bool motion = i % (s->n + s->m) < s->n;
        for (size_t c = 0; c < m; c++) s->work[i * m + c] = motion ? s->J[i * s->unknowns + s->n + c] : 0;
        s->right[i] = motion ? -s->F[i] : 0;
    }
    if (!statics_least_squares(s, s->rows, m, s->work, s->right)) return false;
    memcpy(z + s->n, s->right, m * sizeof *z);
    return true;
}

bool statics_noise(statics *s, const double *z) {
    double *F = s->work, *linear = F + s->rows, *moved = s->right;
    uint64_t seed = 1;
    if (!statics_evaluate(s, z)) return false;
    memset(s->noise, 0, s->rows * sizeof *s->noise);
    for (int trial = 0; trial < NOISE_TRIALS; trial++) {
        memcpy(F, s->F, s->rows * sizeof *F);
        for (size_t j = 0; j < s->unknowns; j++) moved[j] = z[j] * (1 + random_uniform(&seed, -4, 4) * 0x1p-52);
        for (size_t i = 0; i < s->rows; i++) {
            linear[i] = 0;
            for (size_t j = 0; j < s->unknowns; j++) linear[i] += s->J[i * s->unknowns + j] * (moved[j] - z[j]);
        }
        bool good = statics_evaluate(s, moved);
        for (size_t i = 0; i < s->rows && good; i++) s->noise[i] = fmax(s->noise[i], fabs(s->F[i] - F[i] - linear[i]));
        if (!statics_evaluate(s, z)) return false;
    }
    return true;
}

bool statics_is_rounding(statics *s, const double *z) {
    bool small = true;
    if (!statics_noise(s, z)) return false;
    for (size_t i = 0; i < s->rows; i++) {
        s->weight[i] = 64 * fmax(s->noise[i], 0x1p-52 * (s->scale[i] - fabs(s->F[i])));
        small = small && fabs(s->F[i]) <= s->weight[i];
    }
    return small;
}

/* --- Newton's method ---------------------------------------------------------------------------------------------- */

static double merit(const statics *s) {
    double sum = 0;
    for (size_t i = 0; i < s->rows; i++) sum += s->F[i] * s->weight[i] * s->F[i] * s->weight[i];
    return sum;
}

/* Adds factor · step to z if the weighted residual is then at most `wanted`. Returns true if z has changed. */
static bool try_step(statics *s, double *z, double factor, double wanted) {
    for (size_t j = 0; j < s->unknowns; j++) s->trial[j] = z[j] + factor * s->step[j];
    if (!statics_evaluate(s, s->trial) || !(merit(s) <= wanted)) return false;
    memcpy(z, s->trial, s->unknowns * sizeof *z);
    return true;
}

static double step_size(const statics *s, const double *step, const double *z) {
    double sum = 0;
    for (size_t j = 0; j < s->unknowns; j++) sum = hypot(sum, step[j] / fmax(1, fabs(z[j])));
    return sum;
}

/* Makes one step from the point evaluated last. If `stretch` > 1 and `stretch` times Newton's step reduces the residual
 * to a quarter, makes this longer step. Otherwise, if `descending`, halves Newton's step until it reduces the residual.
 * If not `descending`, makes Newton's step with its length bounded by LONGEST. */
static bool advance_newton(statics *s, double *z, double stretch, double size, bool descending) {
    double before, factor = 1;
    for (size_t i = 0; i < s->rows; i++) s->weight[i] = s->scale[i] > 0 ? 1 / s->scale[i] : 1;
    before = merit(s);
    if (stretch > 1 && try_step(s, z, stretch, before / 16)) return true;
    if (!descending) return try_step(s, z, fmin(1, LONGEST / size), INFINITY);
    for (int k = 0; k <= HALVINGS; k++, factor /= 2)
        if (try_step(s, z, factor, before * (1 - 1e-4 * factor))) return true;
    return false;
}

/* Returns true if the residual is within rounding errors or small relative to its terms. */
static bool is_solved(statics *s, const double *z) {
    if (!statics_evaluate(s, z)) return false;
    if (statics_residual(s) <= SOLVED) return true;
    if (!statics_noise(s, z)) return false;
    for (size_t i = 0; i < s->rows; i++)
        if (!(fabs(s->F[i]) <= fmax(SOLVED * s->scale[i], 16 * s->noise[i]))) return false;
    return true;
}

/* Iterates Newton's method. Near an m-fold root, a step multiplies the error by 1 − 1/m. If the ratio of successive
 * step lengths is constant, m follows from this ratio, and the next step is multiplied by m (Schröder 1870). */
static bool iterate_newton(statics *s, double *z, bool descending) {
    double previous = 0, ratio = 0, watched = INFINITY;
    if (!statics_evaluate(s, z)) return false;
    for (int k = 0; k < MOST_ITERATIONS && statics_residual(s) > ROUNDED && s->spent < s->deadline; k++) {
        double worst = statics_residual(s);
        if (k % PATIENCE == 0 && descending && worst > 0.9 * watched) break;
        if (k % PATIENCE == 0) watched = worst;
        if (!statics_newton_step(s, s->step)) return false;
        double size = step_size(s, s->step, z), now = previous > 0 ? size / previous : 0;
        bool linear = now > 0.4 && now < 0.999 && fabs(now - ratio) < 0.02;
        ratio = now;
        previous = size;
        if (!advance_newton(s, z, linear ? 1 / (1 - now) : 1, size, descending)) break;
    }
    return is_solved(s, z);
}

/* Returns false if reactions exceed BOUNDED times the forces that they balance. If constraints are nearly singular, the
 * residual can fall to zero while the multipliers grow without bound, although there is no equilibrium. */
static bool reactions_are_bounded(statics *s, const double *z) {
    size_t m = s->instants * s->m;
    double reaction = 0, force = 0;
    if (m == 0) return true;
    for (size_t i = 0; i < s->rows; i++) {
        double sum = 0;
        if (i % (s->n + s->m) >= s->n) continue;
        for (size_t c = 0; c < m; c++) sum += fabs(s->J[i * s->unknowns + s->n + c] * z[s->n + c]);
        reaction = fmax(reaction, sum);
    }
    memcpy(s->trial, z, s->unknowns * sizeof *z);
    memset(s->trial + s->n, 0, m * sizeof *z);
    if (!statics_evaluate(s, s->trial)) return false;
    for (size_t i = 0; i < s->rows; i++)
        if (i % (s->n + s->m) < s->n) force = fmax(force, fabs(s->F[i]));
    return reaction <= BOUNDED * force + 1e-9 && statics_evaluate(s, z);
}

/* Continues the iteration and accepts pivots down to FINEST, because pivots become small near multiple roots. Uses
 * whole Newton steps, because stiff terms may increase the residual before it decreases. */
static bool refine_root(statics *s, double *z, bool solved) {
    if (solved && statics_residual(s) <= ROUNDED) return true;
    if (!solved && !(statics_residual(s) < NEAR_ROOT)) return false;
    memcpy(s->kept, z, s->unknowns * sizeof *z);
    s->rank = FINEST;
    bool better = iterate_newton(s, z, false);
    s->rank = SAMPLED_RANK_TOLERANCE;
    if (!better) memcpy(z, s->kept, s->unknowns * sizeof *z);
    return better || solved;
}

bool statics_row_sizes(statics *s, const double *z) {
    uint64_t seed = 7;
    if (!statics_evaluate(s, z)) return false;
    memcpy(s->weight, s->scale, s->rows * sizeof *s->weight);
    for (int trial = 0; trial < NEARBY_TRIALS; trial++) {
        memcpy(s->trial, z, s->unknowns * sizeof *z);
        for (size_t j = 0; j < s->n; j++)
            s->trial[j] += ROW_SIZE_RADIUS * fmax(1, fabs(z[j])) * random_uniform(&seed, -1, 1);
        if (!statics_evaluate(s, s->trial)) continue;
        for (size_t i = 0; i < s->rows; i++) s->weight[i] = fmax(s->weight[i], s->scale[i]);
    }
    return statics_evaluate(s, z);
}

static double largest_of(const double *x, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* Returns false if the forces vanish only because of underflow, as exp(−x) does at large x. Near a root, in contrast,
 * forces vanish at z but not at the points around z. `before` is the largest size of a row before the iteration. */
static bool is_no_underflow(statics *s, const double *z, double before) {
    if (largest_of(s->scale, s->rows) >= UNDERFLOW * before) return true;
    return statics_row_sizes(s, z) && largest_of(s->weight, s->rows) >= UNDERFLOW * before;
}

/* Descent may end at a fold, where J is singular and F is not 0. Newton's method without line search can pass the
 * fold. */
bool statics_converge(statics *s, double *z) {
    if (s->unknowns == 0) return true;
    if (!statics_evaluate(s, z)) return false;
    double before = largest_of(s->scale, s->rows);
    memcpy(s->start, z, s->unknowns * sizeof *z);
    if (!refine_root(s, z, iterate_newton(s, z, true))) {
        memcpy(z, s->start, s->unknowns * sizeof *z);
        if (!refine_root(s, z, iterate_newton(s, z, false))) return false;
    }
    return is_no_underflow(s, z, before) && reactions_are_bounded(s, z);
}
