/* steady.c — search for steady motions by Gauss–Newton steps of least norm; see steady.h. */
#include "engine/analyze/steady.h"
#include "engine/analyze/steady_int.h"
#include "engine/dynamics/initial_values.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A residual is accepted up to SOLVED, relative to the size of its terms. SOLVED is about 5e4 ε, which exceeds the
 * rounding error of a sum of many terms. An iteration ends if all residuals are below ROUNDED, about 5 ε, or if a step
 * is below SETTLED, 45 ε. Solutions closer than SAME_MOTION count as the same motion; double roots have errors of about
 * √ε = 1.5e-8. */
static const double SOLVED = 1e-11, ROUNDED = 1e-15, SETTLED = 1e-14, SAME_MOTION = 1e-6;
/* Pivots of the least-squares solver below this fraction of the largest pivot count as 0; see
 * SAMPLED_RANK_TOLERANCE. */
static const double STEADY_RANK = 1e-9;
/* Smallest scale of a row, relative to the largest scale. Rounding errors of 1e-16 are at most 1e-10 after scaling,
 * below STEADY_RANK. */
static const double LEAST_ROW = 1e-6;
/* Unknowns below TINY count as 0, and so do velocities below TINY times the initial velocities. TINY exceeds the error
 * of double roots, about √ε = 1.5e-8. */
static const double TINY = 1e-7;
/* Distance at which another steady motion is searched for along a null direction; a motion found there cannot be the
 * same root, because the distance is far above SAME_MOTION. */
static const double FAMILY_STEP = 1e-2;
/* Bounds on coordinates and constraints in total, iterations, halvings of a step, listed motions, and velocities u of
 * which subsets are changed. */
enum { LARGEST = 40, MOST_STEPS = 60, MOST_HALVINGS = 12, MOST_MOTIONS = 64, FREED_MOST = 8 };

typedef struct motion {
    hamel_steady_motion published;
    double *x, distance;
    bool degenerate; /* true if the Jacobian of the changed unknowns is singular at the motion */
} motion;

typedef struct steady_search {
    analysis *a;
    steady_system system;
    hamel_steady_motions *out;
    size_t k, f, rows;
    double speed;                  /* largest initial velocity */
    double *q, *start, *x, *trial; /* q has n entries; the other arrays contain the unknowns (s, u) */
    double *work, *right, *scale, *directions;
    bool *varies; /* true for each unknown that the iteration changes */
    bool *periodic;
    lapack_int *pivot;
    motion *motions;
    size_t count;
} steady_search;

/* --- Newton's method ---------------------------------------------------------------------------------------------- */

static bool evaluate_unknowns(steady_search *s, const double *x, bool derivatives) {
    steady_system *p = &s->system;
    for (size_t j = 0; j < s->k; j++) s->q[p->shape[j]] = x[j];
    return steady_evaluate(p, s->a->model->settings.start, s->q, x + s->k, derivatives);
}

/* Sets scale[i] to the size of the terms of row i of F, but at least to LEAST_ROW times the largest size. Without this
 * bound, a row that vanishes up to rounding errors would count as an equation. */
static void fill_scales(steady_search *s, const double *x) {
    size_t columns = s->k + s->f;
    double largest = 0;
    for (size_t i = 0; i < s->rows; i++) {
        s->scale[i] = fabs(s->system.F[i]) + s->system.terms[i];
        for (size_t j = 0; j < columns; j++) s->scale[i] += fabs(s->system.J[i * columns + j]) * fmax(1, fabs(x[j]));
        largest = fmax(largest, s->scale[i]);
    }
    for (size_t i = 0; i < s->rows; i++) s->scale[i] = largest > 0 ? fmax(s->scale[i], LEAST_ROW * largest) : 1;
}

static double largest_residual(steady_search *s, const double *x) {
    double worst = 0;
    fill_scales(s, x);
    for (size_t i = 0; i < s->rows; i++) worst = fmax(worst, fabs(s->system.F[i]) / s->scale[i]);
    return worst;
}

/* Computes the step of least norm for the unknowns marked in s->varies, and stores it in s->right. Returns the rank of
 * the Jacobian of these unknowns, or SIZE_MAX on failure. */
static size_t newton_step(steady_search *s, const double *x) {
    size_t columns = s->k + s->f;
    lapack_int rank = 0;
    fill_scales(s, x);
    for (size_t i = 0; i < s->rows; i++) {
        for (size_t j = 0; j < columns; j++)
            s->work[i * columns + j] =
                s->varies[j] ? s->system.J[i * columns + j] * fmax(1, fabs(x[j])) / s->scale[i] : 0;
        s->right[i] = -s->system.F[i] / s->scale[i];
    }
    memset(s->pivot, 0, columns * sizeof *s->pivot);
    int info = LAPACKE_dgelsy(LAPACK_ROW_MAJOR, (lapack_int)s->rows, (lapack_int)columns, 1, s->work,
                              (lapack_int)columns, s->right, 1, s->pivot, STEADY_RANK, &rank);
    s->system.starved = s->system.starved || lapacke_starved(info);
    return info == 0 ? (size_t)rank : SIZE_MAX;
}

/* Adds the step s->right to x. Halves the step until the residual decreases. Returns the relative length of the
 * accepted step, or 0 if no step decreases the residual. */
static double make_step(steady_search *s, double *x) {
    size_t columns = s->k + s->f;
    double before = largest_residual(s, x), length = 0, factor;
    for (size_t j = 0; j < columns; j++) length = hypot(length, s->right[j]);
    factor = length > 1 ? 1 / length : 1;
    for (int halving = 0; halving <= MOST_HALVINGS; halving++, factor /= 2) {
        for (size_t j = 0; j < columns; j++) s->trial[j] = x[j] + factor * s->right[j] * fmax(1, fabs(x[j]));
        if (!evaluate_unknowns(s, s->trial, true) || !(largest_residual(s, s->trial) < before)) continue;
        memcpy(x, s->trial, columns * sizeof *x);
        return factor * length;
    }
    return 0;
}

/* Iterates from x to a steady motion. Returns false if the iteration does not converge. On success, s->system contains
 * the state x with derivatives. Stores in *rank the rank of the Jacobian of the unknowns that vary. */
static bool converge(steady_search *s, double *x, size_t *rank) {
    if (!evaluate_unknowns(s, x, true)) return false;
    for (int step = 0; step < MOST_STEPS && largest_residual(s, x) > ROUNDED; step++) {
        *rank = newton_step(s, x);
        if (*rank == SIZE_MAX) return false;
        if (make_step(s, x) <= SETTLED) break;
    }
    return evaluate_unknowns(s, x, true) && largest_residual(s, x) <= SOLVED && (*rank = newton_step(s, x)) != SIZE_MAX;
}

/* --- families ----------------------------------------------------------------------------------------------------- */

/* Returns the dimension of the set of steady motions at x: the number of null directions of J along which another
 * steady motion is found. Afterwards s->system contains the state x with derivatives. Returns SIZE_MAX on failure. */
static size_t family_dimension(steady_search *s, const double *x) {
    size_t columns = s->k + s->f, rank = 0, dimension = 0, rows = s->rows > columns ? s->rows : columns;
    double *values = s->directions + columns * columns, *super = values + columns, *other = super + columns;
    if (!evaluate_unknowns(s, x, true)) return SIZE_MAX;
    memset(s->work, 0, rows * columns * sizeof *s->work);
    fill_scales(s, x);
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < columns; j++)
            s->work[i * columns + j] = s->system.J[i * columns + j] * fmax(1, fabs(x[j])) / s->scale[i];
    int info = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', (lapack_int)rows, (lapack_int)columns, s->work,
                              (lapack_int)columns, values, NULL, 1, s->directions, (lapack_int)columns, super);
    s->system.starved = s->system.starved || lapacke_starved(info);
    if (info != 0) return SIZE_MAX;
    /* the rows have the scale 1, so an absolute bound suffices */
    while (rank < columns && values[rank] > STEADY_RANK) rank++;
    for (size_t j = 0; j < columns; j++) s->varies[j] = true;
    for (size_t d = rank; d < columns; d++) {
        double moved = 0;
        size_t ignored;
        for (size_t j = 0; j < columns; j++)
            other[j] = x[j] + FAMILY_STEP * s->directions[d * columns + j] * fmax(1, fabs(x[j]));
        if (!converge(s, other, &ignored)) continue;
        for (size_t j = 0; j < columns; j++)
            moved += (other[j] - x[j]) / fmax(1, fabs(x[j])) * s->directions[d * columns + j];
        dimension += fabs(moved) > FAMILY_STEP / 2;
    }
    return evaluate_unknowns(s, x, true) ? dimension : SIZE_MAX;
}

/* --- search ------------------------------------------------------------------------------------------------------- */

static void wrap_angles(const steady_search *s, double *x) {
    for (size_t j = 0; j < s->k; j++)
        if (s->periodic[j]) x[j] -= 2 * M_PI * ceil((x[j] - M_PI) / (2 * M_PI) - 1e-9);
}

static bool is_known_motion(const steady_search *s, const double *x) {
    for (size_t k = 0; k < s->count; k++) {
        double worst = 0;
        for (size_t j = 0; j < s->k + s->f; j++) {
            double difference = fabs(x[j] - s->motions[k].x[j]);
            if (j < s->k && s->periodic[j]) difference = fmin(difference, fabs(2 * M_PI - difference));
            worst = fmax(worst, difference / fmax(1, fabs(x[j])));
        }
        if (worst < SAME_MOTION) return true;
    }
    return false;
}

/* Adds x to the list of motions, and decides its stability. Omits x if the dimension of its family cannot be
 * computed. */
static hamel_status keep_motion(steady_search *s, const double *x, bool kept, bool degenerate) {
    analysis *a = s->a;
    size_t n = s->system.n, columns = s->k + s->f;
    double *copy = arena_doubles(a->memory, columns + 2 * n);
    if (!copy) return analysis_no_memory(a);
    motion *to = &s->motions[s->count];
    *to = (motion){.x = memcpy(copy, x, columns * sizeof *x), .degenerate = degenerate};
    to->published.kept = kept;
    size_t dimension = family_dimension(s, to->x);
    if (dimension == SIZE_MAX) return HAMEL_OK;
    to->published.u = copy + s->k;
    to->published.q = memcpy(copy + columns, s->system.q, n * sizeof *copy);
    to->published.v = memcpy(copy + columns + n, s->system.v, n * sizeof *copy);
    for (size_t j = 0; j < columns; j++) to->distance = hypot(to->distance, x[j] - s->start[j]);
    s->count++;
    return steady_decide(&s->system, dimension, &to->published);
}

static bool is_rate_of_shape(const steady_system *p, size_t r) {
    int32_t i = p->coordinate[p->chosen[r]];
    return i >= 0 && !p->ignorable[i];
}

/* Marks the unknowns s, the velocities u that are rates of s, and the velocities in the bit set `freed`. Returns the
 * number of marked unknowns. */
static size_t mark_unknowns(steady_search *s, uint64_t freed) {
    size_t count = 0;
    for (size_t j = 0; j < s->k; j++) s->varies[j] = true;
    for (size_t r = 0; r < s->f; r++) s->varies[s->k + r] = is_rate_of_shape(&s->system, r) || (freed >> r & 1);
    for (size_t j = 0; j < s->k + s->f; j++) count += s->varies[j];
    return count;
}

/* Sets tiny unknowns and the rates of s to 0 if F still vanishes then. */
static void remove_tiny(steady_search *s) {
    size_t columns = s->k + s->f;
    memcpy(s->trial, s->x, columns * sizeof *s->x);
    for (size_t j = 0; j < columns; j++)
        if (fabs(s->trial[j]) < TINY || (j >= s->k && is_rate_of_shape(&s->system, j - s->k))) s->trial[j] = 0;
    if (evaluate_unknowns(s, s->trial, true) && largest_residual(s, s->trial) <= SOLVED)
        memcpy(s->x, s->trial, columns * sizeof *s->x);
}

/* Returns true if the system moves in the state s->x. A system at rest is an equilibrium, which equilibria.c
 * reports. */
static bool is_moving(steady_search *s) {
    double largest = 0;
    if (!evaluate_unknowns(s, s->x, false)) return false;
    for (size_t i = 0; i < s->system.n; i++) largest = fmax(largest, fabs(s->system.v[i]));
    return largest > TINY * s->speed;
}

/* Searches from s->x for a steady motion. Of the velocities u other than rates of s, only those in the bit set `freed`
 * change. */
static hamel_status try_start(steady_search *s, uint64_t freed) {
    size_t rank = 0, free_count = mark_unknowns(s, freed);
    if (!converge(s, s->x, &rank)) return HAMEL_OK;
    bool degenerate = rank < free_count;
    remove_tiny(s);
    wrap_angles(s, s->x);
    for (size_t k = 0; k < s->count && degenerate; k++)
        if (s->motions[k].degenerate) return HAMEL_OK; /* one motion represents a family */
    if (!is_moving(s) || is_known_motion(s, s->x) || s->count == MOST_MOTIONS) return HAMEL_OK;
    return keep_motion(s, s->x, freed == 0, degenerate);
}

/* Marks a coordinate as an angle if adding 2π changes no equation. The test state has the initial values, except that
 * this coordinate is increased by 0.3. */
static void find_angles(steady_search *s) {
    for (size_t j = 0; j < s->k; j++) {
        memcpy(s->trial, s->start, (s->k + s->f) * sizeof *s->trial);
        s->trial[j] += 0.3;
        bool same = evaluate_unknowns(s, s->trial, false);
        memcpy(s->right, s->system.F, s->rows * sizeof *s->right);
        s->trial[j] += 2 * M_PI;
        same = same && evaluate_unknowns(s, s->trial, false);
        for (size_t i = 0; i < s->rows && same; i++)
            same = fabs(s->system.F[i] - s->right[i]) <= 1e-9 * (1 + fabs(s->right[i]));
        s->periodic[j] = same;
    }
}

static size_t count_bits(uint64_t set) {
    size_t count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

/* Searches from the initial values for steady motions in which as few velocities u as possible change. Omits the search
 * if u has more than FREED_MOST entries. */
static hamel_status free_velocities(steady_search *s) {
    hamel_status status = HAMEL_OK;
    uint64_t rates = 0, sets = s->f <= FREED_MOST ? UINT64_C(1) << s->f : 0;
    for (size_t r = 0; r < s->f; r++)
        if (is_rate_of_shape(&s->system, r)) rates |= UINT64_C(1) << r;
    for (size_t size = 1; size <= s->f && s->count == 0; size++)
        for (uint64_t set = 1; set < sets && status == HAMEL_OK; set++) {
            if ((set & rates) != 0 || count_bits(set) != size) continue;
            memcpy(s->x, s->start, (s->k + s->f) * sizeof *s->x);
            status = try_start(s, set);
            if (system_interrupted(s->a->system)) return s->a->error->status;
        }
    return status;
}

static hamel_status search_starts(steady_search *s, size_t starts) {
    analysis *a = s->a;
    uint64_t seed = 0x9e3779b97f4a7c15u;
    hamel_status status = HAMEL_OK;
    find_angles(s);
    for (size_t k = 0; k <= starts && status == HAMEL_OK; k++) {
        memcpy(s->x, s->start, (s->k + s->f) * sizeof *s->x);
        for (size_t j = 0; j < s->k && k > 0; j++) {
            double reach = s->periodic[j] ? M_PI : 1.5 * fmax(1, fabs(s->start[j]));
            s->x[j] += random_uniform(&seed, -reach, reach);
        }
        status = try_start(s, 0);
        if (system_interrupted(a->system)) return a->error->status;
    }
    return status == HAMEL_OK && s->count == 0 ? free_velocities(s) : status;
}

/* --- result ------------------------------------------------------------------------------------------------------- */

static int by_distance(const void *x, const void *y) {
    const motion *a = x, *b = y;
    return (a->distance > b->distance) - (a->distance < b->distance);
}

static const char *name_of_velocity(steady_search *s, size_t candidate) {
    analysis *a = s->a;
    graph_node node = s->system.candidate[candidate];
    for (size_t r = 0; r < a->system->quasi_count; r++)
        if (a->system->quasi[r].definition == node) return arena_format(a->memory, "%s", a->system->quasi[r].name);
    return analysis_text(a, node, ANALYSIS_TEXT_MOST);
}

static hamel_status publish_motions(steady_search *s) {
    analysis *a = s->a;
    hamel_steady_motions *out = s->out;
    steady_system *p = &s->system;
    const char **ignorable = arena_alloc(a->memory, p->n, sizeof *ignorable);
    const char **constant = arena_alloc(a->memory, s->f, sizeof *constant);
    hamel_steady_motion *items = arena_alloc(a->memory, s->count, sizeof *items);
    out->coordinates = analysis_coordinate_names(a);
    if (a->memory->failed) return analysis_no_memory(a);
    for (size_t i = 0; i < p->n; i++)
        if (p->ignorable[i]) ignorable[out->ignorable.count++] = out->coordinates[i];
    for (size_t r = 0; r < s->f; r++) constant[out->constant.count++] = name_of_velocity(s, p->chosen[r]);
    out->ignorable.items = ignorable;
    out->constant.items = constant;
    qsort(s->motions, s->count, sizeof *s->motions, by_distance);
    for (size_t k = 0; k < s->count; k++) items[k] = s->motions[k].published;
    out->items = items;
    out->count = s->count;
    out->coordinate_count = p->n;
    out->searched = true;
    out->note = "the search used random starting points; other steady motions may exist";
    return a->memory->failed ? analysis_no_memory(a) : HAMEL_OK;
}

/* --- creation ----------------------------------------------------------------------------------------------------- */

static bool allocate_search(steady_search *s) {
    arena *memory = s->a->memory;
    s->k = s->system.shape_count;
    s->f = s->system.freedom;
    s->rows = steady_rows(&s->system);
    size_t columns = s->k + s->f, rows = s->rows > columns ? s->rows : columns;
    s->q = arena_doubles(memory, s->system.n);
    s->start = arena_doubles(memory, columns);
    s->x = arena_doubles(memory, columns);
    s->trial = arena_doubles(memory, columns);
    s->work = arena_doubles(memory, rows * columns);
    s->right = arena_doubles(memory, rows);
    s->scale = arena_doubles(memory, rows);
    s->directions = arena_doubles(memory, columns * columns + 3 * columns);
    s->varies = arena_alloc(memory, columns, sizeof *s->varies);
    s->periodic = arena_alloc(memory, columns, sizeof *s->periodic);
    s->pivot = arena_alloc(memory, columns, sizeof *s->pivot);
    s->motions = arena_alloc(memory, MOST_MOTIONS + 1, sizeof *s->motions);
    return !memory->failed;
}

/* Stores the consistent initial state in q and v, and the largest velocity in *speed. If there is no consistent state,
 * uses the initial values of the model. */
static hamel_status read_initial_state(analysis *a, double *q, double *v, double *speed) {
    size_t n = a->n, m = a->model->m;
    double *rest = arena_doubles(a->memory, n + m);
    dynamics *k = rest ? dynamics_create(a->model) : NULL;
    hamel_error quiet = {0};
    if (!k) return analysis_no_memory(a);
    dynamics_limit(k, a->request.poll, 0);
    if (initial_state(k, q, v, rest, rest + n, &quiet) != HAMEL_OK) {
        memcpy(q, a->model->q0, n * sizeof *q);
        memcpy(v, a->model->v0, n * sizeof *v);
    }
    hamel_error_clear(&quiet);
    dynamics_free(k);
    for (size_t i = 0; i < n; i++) *speed = fmax(*speed, fabs(v[i]));
    return HAMEL_OK;
}

/* Returns true if the search applies: velocity constraints act, and the system has no acceleration constraints, no
 * acceleration energy and no nonsmooth operators. Coordinates and constraints together must not exceed LARGEST. */
static bool is_nonholonomic(const analysis *a) {
    bool velocity = false;
    for (size_t c = 0; c < a->model->m; c++) {
        if (a->model->order[c] == CONSTRAINT_ACCELERATION) return false;
        velocity = velocity || (a->model->active[c] && a->model->order[c] == CONSTRAINT_VELOCITY);
    }
    return velocity && a->n + a->model->m <= LARGEST && a->system->acceleration_energy < 0 &&
           a->system->nonsmooth_count == 0;
}

static hamel_status find_motions(steady_search *s, size_t starts, const double *q, const double *v) {
    bool found = false;
    hamel_status status = steady_create(&s->system, s->a, &found);
    if (status != HAMEL_OK || !found) return status;
    if (!allocate_search(s)) return analysis_no_memory(s->a);
    memcpy(s->q, q, s->a->n * sizeof *q);
    for (size_t j = 0; j < s->k; j++) s->start[j] = q[s->system.shape[j]];
    steady_velocities(&s->system, s->a->model->settings.start, q, v, s->start + s->k);
    status = search_starts(s, starts);
    if (status == HAMEL_OK && s->system.starved) status = analysis_no_memory(s->a);
    return status == HAMEL_OK ? publish_motions(s) : status;
}

static hamel_status search_steady(analysis *a, void *result, void *context) {
    const size_t *starts = context;
    steady_search s = {.a = a, .out = result};
    hamel_status status = analysis_open(a);
    if (status != HAMEL_OK || !is_nonholonomic(a)) return status;
    double *q = arena_doubles(a->memory, 2 * a->n);
    if (!q) return analysis_no_memory(a);
    status = read_initial_state(a, q, q + a->n, &s.speed);
    if (status == HAMEL_OK && s.speed > 0) status = find_motions(&s, *starts, q, q + a->n);
    steady_free(&s.system);
    return status;
}

hamel_status hamel_find_steady_motions(hamel_steady_motions **out, const hamel_description *d, size_t starts,
                                       const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, search_steady, &starts,
                            out);
}

void hamel_steady_motions_free(hamel_steady_motions *motions) {
    analysis_result_free(motions);
}
