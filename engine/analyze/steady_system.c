/* steady_system.c — the reduced system of steady motions: choice of its velocities, evaluation, derivatives.
 *
 * The equations u' = f depend on the choice of the independent velocities u. For a rolling disk, f contains the heading
 * if u consists of X', Y' and θ'. If u consists of the rates of the three angles, f does not contain the heading. The
 * choice with the most ignorable coordinates is used. The candidates are the rates of coordinates and the
 * quasi-velocities of the description. Each velocity constraint a₁ q₁' + a₂ q₂' + ... = 0 adds the velocities a₂
 * q₁' − a₁ q₂', such as the speed of a skate. */
#include "engine/analyze/steady_int.h"
#include "engine/base/finite.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* EXTRA_MOST: largest number of velocities a₂ q₁' − a₁ q₂' among the candidates. SETS_MOST: largest number of sets of
 * candidates that are tried. TRIALS: number of random states at which each set is tested. */
enum { EXTRA_MOST = 6, SETS_MOST = 300, TRIALS = 2 };
/* Pivots of the least-squares solver below this fraction of the largest pivot count as 0; rounding errors are about
 * 1e-13. */
static const double PIVOT_LEAST = 1e-10;
/* Values that change by less than this, relative to 1 + |value|, count as equal. Solutions of the linear equations have
 * errors of about 1e-13 times their condition number. */
static const double SAME = 1e-8;

/* --- candidates --------------------------------------------------------------------------------------------------- */

static void add_candidate(steady_system *s, graph_node node, int32_t coordinate) {
    for (size_t k = 0; k < s->candidate_count; k++)
        if (s->candidate[k] == node) return;
    s->coordinate[s->candidate_count] = coordinate;
    s->candidate[s->candidate_count++] = node;
}

/* Adds a₂ q₁' − a₁ q₂' for pairs of entries of a velocity constraint. Both entries must depend on coordinates. */
static void add_perpendicular(steady_system *s, size_t most) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    for (size_t c = 0; c < a->m; c++) {
        size_t first, count = pattern_row(&a->equations.A, (int32_t)c, &first);
        if (a->model->order[c] != CONSTRAINT_VELOCITY) continue;
        for (size_t i = first; i < first + count; i++)
            for (size_t j = i + 1; j < first + count && s->candidate_count < most; j++) {
                const matrix_entry *x = &a->equations.A.entries[i], *y = &a->equations.A.entries[j];
                unsigned both = graph_depends(g, x->node) & graph_depends(g, y->node);
                if (!(both & GRAPH_DEPENDS(SYMBOL_COORDINATE))) continue;
                graph_node w = graph_sub(g, graph_mul(g, y->node, a->system->v[x->column]),
                                         graph_mul(g, x->node, a->system->v[y->column]));
                add_candidate(s, w, -1);
            }
    }
}

/* Lists the candidates, and compiles the candidates, their rates and h. */
static hamel_status make_candidates(steady_system *s) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    size_t most = s->n + a->system->quasi_count + EXTRA_MOST;
    s->candidate = arena_alloc(a->memory, most, sizeof *s->candidate);
    s->coordinate = arena_alloc(a->memory, most, sizeof *s->coordinate);
    if (a->memory->failed) return analysis_no_memory(a);
    for (size_t i = 0; i < s->n; i++) add_candidate(s, a->system->v[i], (int32_t)i);
    for (size_t r = 0; r < a->system->quasi_count; r++) add_candidate(s, a->system->quasi[r].definition, -1);
    add_perpendicular(s, most);
    size_t count = s->candidate_count, outputs = 2 * count + 1;
    graph_node *nodes = node_array(a->system, outputs);
    if (!nodes) return equations_status(a->system);
    for (size_t k = 0; k < count; k++) {
        nodes[k] = s->candidate[k];
        nodes[count + k] = graph_rate(g, s->candidate[k]);
    }
    nodes[2 * count] = a->equations.jacobi;
    if (equations_status(a->system) != HAMEL_OK) return a->error->status;
    program *p;
    hamel_status status = program_compile(&p, &s->local.memory, g, nodes, outputs, a->error);
    if (status != HAMEL_OK) return status;
    s->W = arena_doubles(a->memory, outputs * (1 + 3 * s->n));
    s->Wq = s->W + outputs;
    s->Wv = s->Wq + outputs * s->n;
    s->Wa = s->Wv + outputs * s->n;
    bool good = s->W && local_program_create(&s->rates, a->model, p, outputs, s->n, &s->local.memory);
    return good ? HAMEL_OK : analysis_no_memory(a);
}

/* Evaluates the candidates, their rates and h, and the derivatives of these values. If `derivatives` is false, computes
 * only the derivatives with respect to velocities. */
static void evaluate_rates(steady_system *s, const local_state *at, bool derivatives) {
    size_t outputs = 2 * s->candidate_count + 1;
    const program_inputs in = discrete_state_inputs(&s->local.discrete_state, &at->t, at->q, at->v, at->a, at->lambda);
    const local_rows q = {0, outputs, s->n, s->Wq}, v = {0, outputs, s->n, s->Wv}, a = {0, outputs, s->n, s->Wa};
    program_evaluate(s->rates.p, &in, s->rates.work, s->W);
    local_derivatives(&s->rates, &in, SYMBOL_VELOCITY, s->n, &v, 1);
    if (!derivatives) return;
    local_derivatives(&s->rates, &in, SYMBOL_COORDINATE, s->n, &q, 1);
    local_derivatives(&s->rates, &in, SYMBOL_ACCELERATION, s->n, &a, 1);
}

void steady_velocities(steady_system *s, double t, const double *q, const double *v, double *u) {
    memset(s->acceleration, 0, s->n * sizeof *s->acceleration);
    const local_state at = {t, q, v, s->acceleration, s->lambda};
    evaluate_rates(s, &at, false);
    for (size_t r = 0; r < s->freedom; r++) u[r] = s->W[s->chosen[r]];
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

/* Solves A X = B by least squares. A is overwritten; B holds max(rows, columns) rows of `count` numbers; X overwrites
 * its first rows. Returns the rank, or SIZE_MAX on failure. */
static size_t least_squares(steady_system *s, size_t rows, size_t columns, double *A, size_t count, double *B) {
    lapack_int rank = 0;
    memset(s->pivot, 0, columns * sizeof *s->pivot);
    int info = LAPACKE_dgelsy(LAPACK_ROW_MAJOR, (lapack_int)rows, (lapack_int)columns, (lapack_int)count, A,
                              (lapack_int)columns, B, (lapack_int)count, s->pivot, PIVOT_LEAST, &rank);
    s->starved = s->starved || lapacke_starved(info);
    return info == 0 ? (size_t)rank : SIZE_MAX;
}

/* Evaluates the residuals, constraints and derivatives in s->local at the state in *s. Returns false on failure. */
static bool evaluate_equations(steady_system *s) {
    const local_state at = {s->t, s->q, s->v, s->acceleration, s->lambda};
    hamel_status status = local_evaluate(&s->local, &at, NULL);
    s->starved = s->starved || status == HAMEL_NO_MEMORY;
    return status == HAMEL_OK;
}

/* Fills E = (ψ_v, ∂w/∂q'), the matrix of the equations that determine q' from u. The velocities w are those chosen as
 * u. */
static void fill_velocity_matrix(steady_system *s) {
    memcpy(s->E, s->local.psi_v, s->m * s->n * sizeof *s->E);
    for (size_t r = 0; r < s->freedom; r++)
        memcpy(s->E + (s->m + r) * s->n, s->Wv + s->chosen[r] * s->n, s->n * sizeof *s->E);
}

static void fill_acceleration_matrix(steady_system *s) {
    size_t rows = s->n + s->m;
    for (size_t i = 0; i < rows; i++) {
        memcpy(s->K + i * rows, s->local.R_a + i * s->n, s->n * sizeof *s->K);
        if (s->m > 0) memcpy(s->K + i * rows + s->n, s->local.R_l + i * s->m, s->m * sizeof *s->K);
    }
}

/* Computes s->v from u. Returns false if u does not determine all velocities, or if a velocity is not finite. */
static bool velocities_from(steady_system *s, const double *u) {
    memset(s->v, 0, s->n * sizeof *s->v);
    const local_state at = {s->t, s->q, s->v, s->acceleration, s->lambda};
    if (!evaluate_equations(s)) return false;
    evaluate_rates(s, &at, false);
    fill_velocity_matrix(s);
    for (size_t c = 0; c < s->m; c++) s->right[c] = -s->local.psi[c];
    for (size_t r = 0; r < s->freedom; r++) s->right[s->m + r] = u[r] - s->W[s->chosen[r]];
    if (least_squares(s, s->m + s->freedom, s->n, s->E, 1, s->right) != s->n) return false;
    memcpy(s->v, s->right, s->n * sizeof *s->v);
    return all_finite(s->v, s->n);
}

/* Computes s->acceleration and s->lambda from the equations of motion at (s->q, s->v). Returns false if the
 * accelerations are not determined or not finite. */
static bool accelerations_at(steady_system *s) {
    size_t rows = s->n + s->m;
    if (!evaluate_equations(s)) return false;
    fill_acceleration_matrix(s);
    for (size_t i = 0; i < rows; i++) s->right[i] = -s->local.R[i];
    size_t rank = least_squares(s, rows, rows, s->K, 1, s->right);
    if (rank == SIZE_MAX || rank < s->n) return false;
    memcpy(s->acceleration, s->right, s->n * sizeof *s->acceleration);
    memcpy(s->lambda, s->right + s->n, s->m * sizeof *s->lambda);
    return all_finite(s->right, rows);
}

/* Fills s->dv with the right-hand sides of the equations for δq', one column for each unit change of s and u. */
static void fill_velocity_changes(steady_system *s) {
    size_t k = steady_unknowns(s);
    memset(s->dv, 0, (s->n + s->m + s->freedom) * k * sizeof *s->dv);
    for (size_t j = 0; j < s->shape_count; j++) {
        size_t i = s->shape[j];
        for (size_t c = 0; c < s->m; c++) s->dv[c * k + j] = -s->local.psi_q[c * s->n + i];
        for (size_t r = 0; r < s->freedom; r++) s->dv[(s->m + r) * k + j] = -s->Wq[s->chosen[r] * s->n + i];
    }
    for (size_t r = 0; r < s->freedom; r++) s->dv[(s->m + r) * k + s->shape_count + r] = 1;
}

/* Fills s->da with the right-hand sides −(R_q δq + R_v δq') of the equations for δq'' and δλ. */
static void fill_acceleration_changes(steady_system *s) {
    size_t k = steady_unknowns(s), rows = s->n + s->m;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < k; j++) {
            double sum = j < s->shape_count ? s->local.R_q[i * s->n + s->shape[j]] : 0;
            for (size_t x = 0; x < s->n; x++) sum += s->local.R_v[i * s->n + x] * s->dv[x * k + j];
            s->da[i * k + j] = -sum;
        }
}

/* Fills J from the changes of the velocities, s->dv, and of the accelerations, s->da. */
static void fill_jacobian(steady_system *s) {
    size_t k = steady_unknowns(s), count = s->candidate_count;
    for (size_t j = 0; j < k; j++) {
        for (size_t x = 0; x < s->shape_count; x++) s->J[x * k + j] = s->dv[s->shape[x] * k + j];
        for (size_t r = 0; r < s->freedom; r++) {
            size_t at = (count + s->chosen[r]) * s->n;
            double sum = j < s->shape_count ? s->Wq[at + s->shape[j]] : 0;
            for (size_t x = 0; x < s->n; x++)
                sum += s->Wv[at + x] * s->dv[x * k + j] + s->Wa[at + x] * s->da[x * k + j];
            s->J[(s->shape_count + r) * k + j] = sum;
        }
        for (size_t c = 0; c < s->m; c++)
            s->J[(s->shape_count + s->freedom + c) * k + j] =
                j < s->shape_count ? s->local.phi_q[c * s->n + s->shape[j]] : 0;
    }
}

static bool differentiate(steady_system *s) {
    size_t k = steady_unknowns(s), rows = s->n + s->m;
    fill_velocity_matrix(s);
    fill_velocity_changes(s);
    if (least_squares(s, s->m + s->freedom, s->n, s->E, k, s->dv) != s->n) return false;
    fill_acceleration_matrix(s);
    fill_acceleration_changes(s);
    if (least_squares(s, rows, rows, s->K, k, s->da) == SIZE_MAX) return false;
    fill_jacobian(s);
    return all_finite(s->J, steady_rows(s) * k);
}

/* Sets terms[i] to the sum of the magnitudes of the terms of F[i] for the rows of u', and to 0 for other rows. Each
 * rate u' is a bias plus a linear function of q''. Each q'' counts with the largest magnitude of all q'', because
 * rounding errors are relative to this magnitude. */
static void fill_terms(steady_system *s) {
    double largest = 0;
    memset(s->terms, 0, steady_rows(s) * sizeof *s->terms);
    for (size_t i = 0; i < s->n; i++) largest = fmax(largest, fabs(s->acceleration[i]));
    for (size_t r = 0; r < s->freedom; r++) {
        size_t at = s->candidate_count + s->chosen[r];
        double bias = s->W[at], *to = &s->terms[s->shape_count + r];
        for (size_t i = 0; i < s->n; i++) {
            bias -= s->Wa[at * s->n + i] * s->acceleration[i];
            *to += fabs(s->Wa[at * s->n + i]) * largest;
        }
        *to += fabs(bias);
    }
}

bool steady_evaluate(steady_system *s, double t, const double *q, const double *u, bool derivatives) {
    s->t = t;
    if (q != s->q) memcpy(s->q, q, s->n * sizeof *s->q);
    memset(s->acceleration, 0, s->n * sizeof *s->acceleration);
    memset(s->lambda, 0, s->m * sizeof *s->lambda);
    if (!velocities_from(s, u) || !accelerations_at(s)) return false;
    const local_state at = {s->t, s->q, s->v, s->acceleration, s->lambda};
    if (!evaluate_equations(s)) return false;
    evaluate_rates(s, &at, derivatives);
    for (size_t j = 0; j < s->shape_count; j++) s->F[j] = s->v[s->shape[j]];
    for (size_t r = 0; r < s->freedom; r++) s->F[s->shape_count + r] = s->W[s->candidate_count + s->chosen[r]];
    memcpy(s->F + s->shape_count + s->freedom, s->local.phi, s->m * sizeof *s->F);
    s->energy = s->W[2 * s->candidate_count];
    if (derivatives) fill_terms(s);
    return all_finite(s->F, steady_rows(s)) && (!derivatives || differentiate(s));
}

/* --- choice of the velocities ------------------------------------------------------------------------------------- */

/* Influence of each coordinate. `reduced`: the rates of u, Φ or h. `velocity`: the rates of the coordinates. */
typedef struct influence {
    /* reduced: n entries; velocity: n × n entries, velocity[i n + j] is true if q_i influences q'_j */
    bool *reduced, *velocity;
} influence;

static bool differs(double x, double y) {
    return !(fabs(x - y) <= SAME * (1 + fabs(x)));
}

/* Sets *reduced and the entries of velocity[n] to true if the values at the current state differ from `before`.
 * `before` contains u', Φ, h and q' at the first state. */
static void mark_differences(const steady_system *s, const double *before, bool *reduced, bool *velocity) {
    const double *u = s->F + s->shape_count;
    for (size_t r = 0; r < s->freedom + s->m; r++) *reduced = *reduced || differs(before[r], u[r]);
    *reduced = *reduced || differs(before[s->freedom + s->m], s->energy);
    for (size_t j = 0; j < s->n; j++) velocity[j] = velocity[j] || differs(before[s->freedom + s->m + 1 + j], s->v[j]);
}

/* Determines at random states what each coordinate influences. Returns false if u does not determine the motion, or if
 * the equations depend on t. */
static bool find_influence(steady_system *s, influence *out, double *room) {
    size_t n = s->n, head = s->freedom + s->m;
    double *q = room, *u = q + n, *before = u + s->freedom;
    uint64_t seed = 5;
    memset(out->reduced, 0, n * sizeof *out->reduced);
    memset(out->velocity, 0, n * n * sizeof *out->velocity);
    for (int trial = 0; trial < TRIALS; trial++) {
        double t = s->a->model->settings.start;
        bool timed = false, *none = out->velocity + n * n;
        for (size_t i = 0; i < n; i++) {
            double start = s->a->model->q0[i];
            q[i] = start + fmax(1, fabs(start)) * random_uniform(&seed, -0.6, 0.6);
        }
        for (size_t r = 0; r < s->freedom; r++) u[r] = random_uniform(&seed, -1.5, 1.5);
        if (!steady_evaluate(s, t, q, u, false)) return false;
        memcpy(before, s->F + s->shape_count, head * sizeof *before);
        before[head] = s->energy;
        memcpy(before + head + 1, s->v, n * sizeof *before);
        if (!steady_evaluate(s, t + 0.37, q, u, false)) return false;
        mark_differences(s, before, &timed, none);
        if (timed) return false;
        for (size_t i = 0; i < n; i++) {
            double kept = q[i];
            q[i] += 0.5 * fmax(1, fabs(kept)) * random_uniform(&seed, 0.2, 1);
            if (!steady_evaluate(s, t, q, u, false)) return false;
            mark_differences(s, before, &out->reduced[i], out->velocity + i * n);
            q[i] = kept;
        }
    }
    return true;
}

/* Marks the ignorable coordinates. They influence neither u', Φ and h nor the rates of coordinates that are not
 * ignorable. Returns their number. */
static size_t mark_ignorable(const steady_system *s, const influence *f, bool *ignorable) {
    size_t n = s->n, count = 0;
    for (size_t i = 0; i < n; i++) ignorable[i] = !f->reduced[i];
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                if (ignorable[i] && !ignorable[j] && f->velocity[i * n + j]) ignorable[i] = false, changed = true;
    }
    for (size_t i = 0; i < n; i++) count += ignorable[i];
    return count;
}

/* Advances to the next set of `freedom` candidates in lexicographic order. Returns false after the last set. */
static bool next_set(steady_system *s) {
    size_t k = s->freedom;
    while (k > 0 && s->chosen[k - 1] == s->candidate_count - s->freedom + k - 1) k--;
    if (k == 0) return false;
    s->chosen[k - 1]++;
    for (size_t j = k; j < s->freedom; j++) s->chosen[j] = s->chosen[j - 1] + 1;
    return true;
}

/* Returns the score of a choice. The number of ignorable coordinates (`count`) has the largest weight, followed by the
 * number of rates s' in u. */
static size_t score_of(const steady_system *s, const bool *ignorable, size_t count) {
    size_t direct = 0;
    for (size_t r = 0; r < s->freedom; r++) {
        int32_t i = s->coordinate[s->chosen[r]];
        direct += i >= 0 && !ignorable[i];
    }
    return count == 0 ? 0 : count * (s->n + 1) + direct;
}

static hamel_status choose_velocities(steady_system *s, bool *found) {
    analysis *a = s->a;
    size_t n = s->n, best = 0, *kept = arena_alloc(a->memory, n + 1, sizeof *kept);
    influence f = {arena_alloc(a->memory, n, sizeof *f.reduced),
                   arena_alloc(a->memory, n * (n + 1), sizeof *f.velocity)};
    bool *ignorable = arena_alloc(a->memory, n, sizeof *ignorable);
    double *room = arena_doubles(a->memory, 2 * n + 2 * s->freedom + s->m + 1);
    if (a->memory->failed) return analysis_no_memory(a);
    for (size_t r = 0; r < s->freedom; r++) s->chosen[r] = r;
    bool more = s->freedom > 0;
    for (size_t sets = 0; more && sets < SETS_MOST; sets++, more = next_set(s)) {
        if (system_interrupted(a->system)) return a->error->status;
        if (!find_influence(s, &f, room)) continue;
        size_t score = score_of(s, ignorable, mark_ignorable(s, &f, ignorable));
        if (score <= best) continue;
        best = score;
        memcpy(kept, s->chosen, s->freedom * sizeof *kept);
        memcpy(s->ignorable, ignorable, n * sizeof *ignorable);
    }
    *found = best > 0;
    memcpy(s->chosen, kept, s->freedom * sizeof *kept);
    for (size_t i = 0; i < n && *found; i++)
        if (!s->ignorable[i]) s->shape[s->shape_count++] = i;
    return s->starved ? analysis_no_memory(a) : HAMEL_OK;
}

/* --- creation ----------------------------------------------------------------------------------------------------- */

static bool allocate(steady_system *s) {
    arena *memory = s->a->memory;
    size_t n = s->n, m = s->m, most = 2 * n, rows = 2 * n + m;
    s->chosen = arena_alloc(memory, n + 1, sizeof *s->chosen);
    s->shape = arena_alloc(memory, n, sizeof *s->shape);
    s->ignorable = arena_alloc(memory, n, sizeof *s->ignorable);
    s->pivot = arena_alloc(memory, n + m, sizeof *s->pivot);
    s->q = arena_doubles(memory, 3 * n + m);
    s->v = s->q + n;
    s->acceleration = s->v + n;
    s->lambda = s->acceleration + n;
    s->F = arena_doubles(memory, 2 * rows);
    s->terms = s->F + rows;
    s->J = arena_doubles(memory, rows * most);
    s->E = arena_doubles(memory, (n + m) * n);
    s->K = arena_doubles(memory, (n + m) * (n + m));
    s->right = arena_doubles(memory, n + m + n);
    s->dv = arena_doubles(memory, (n + m + n) * most);
    s->da = arena_doubles(memory, (n + m) * most);
    return !memory->failed;
}

/* Sets s->freedom, the number of independent velocities, to n minus the rank of ψ_v at a random configuration. Returns
 * false if a velocity constraint is not linear, or if the equations are not finite. */
static bool count_freedom(steady_system *s) {
    uint64_t seed = 3;
    s->t = s->a->model->settings.start;
    for (size_t i = 0; i < s->n; i++) {
        s->q[i] = s->a->model->q0[i] + random_uniform(&seed, -0.3, 0.3);
        s->v[i] = random_uniform(&seed, -1, 1);
    }
    for (int trial = 0; trial < 2; trial++) {
        if (!evaluate_equations(s)) return false;
        for (size_t k = 0; k < s->m * s->n && trial > 0; k++)
            if (differs(s->E[k], s->local.psi_v[k])) return false;
        memcpy(s->E, s->local.psi_v, s->m * s->n * sizeof *s->E);
        for (size_t i = 0; i < s->n; i++) s->v[i] = random_uniform(&seed, -1, 1);
    }
    memset(s->right, 0, (2 * s->n + s->m) * sizeof *s->right);
    size_t rank = s->m == 0 ? 0 : least_squares(s, s->m, s->n, s->E, 1, s->right);
    if (rank == SIZE_MAX) return false;
    s->freedom = s->n - rank;
    return true;
}

hamel_status steady_create(steady_system *s, analysis *a, bool *found) {
    *s = (steady_system){.a = a, .n = a->model->n, .m = a->model->m};
    *found = false;
    hamel_status status = local_create(&s->local, a->model, NULL, 0, a->error);
    if (status == HAMEL_OK && !allocate(s)) status = analysis_no_memory(a);
    if (status == HAMEL_OK) status = make_candidates(s);
    if (status != HAMEL_OK) return status;
    if (count_freedom(s)) return choose_velocities(s, found);
    return s->starved ? analysis_no_memory(a) : HAMEL_OK;
}

void steady_free(steady_system *s) {
    local_free(&s->local);
}
