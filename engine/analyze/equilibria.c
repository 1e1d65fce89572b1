/* equilibria.c — search for equilibria and steady motions.
 *
 * The equations of statics.h are solved from several starting points: the initial values, the configuration at which
 * the released system settles, and random configurations. Solutions that are close together count as one solution. Two
 * families count as one if a path along one family leads to the other. stability.c decides the stability of each
 * solution. */
#include "engine/analyze/analysis_int.h"
#include "engine/analyze/stability.h"
#include "engine/base/random.h"
#include "engine/dynamics/initial_values.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest distance at which two solutions count as the same, relative to max(1, |value|). At simple roots, Newton's
 * method reaches residuals of 1e-12, so the error is below the bound unless the condition number exceeds 1e6. */
static const double SAME_SOLUTION = 1e-6;
/* Step lengths of the relaxation, relative to max(1, |value|). FIRST_MOVE: first step. LARGEST_MOVE: largest step.
 * SETTLED: a shorter step ends the relaxation. The relaxation need only reach a neighbourhood from which Newton's
 * method converges. */
static const double FIRST_MOVE = 0.05, LARGEST_MOVE = 0.4, SETTLED = 1e-4;
/* Upper bound on the multiplications of a search, which take about a second. Work is counted rather than timed, so that
 * results are reproducible. */
static const double MOST_WORK = 1e9;
/* Upper bounds on the number of relaxation steps, of listed equilibria and of listed families. These limits bound the
 * time and the length of the report. If a limit excludes a solution from the list, the search reports that more
 * equilibria were found. */
enum { RELAXATION = 400, MOST = 256, MOST_FAMILIES = 16 };

typedef struct found {
    hamel_equilibrium equilibrium;
    double distance;
    bool meet; /* true if several families meet at this equilibrium */
} found;

typedef struct search {
    analysis *a;
    hamel_model *model;
    hamel_error *error;
    hamel_equilibria *result;
    statics statics;
    stability_facts facts;
    size_t n;
    bool *periodic; /* n entries: true if the coordinate is an angle of period 2π */
    double *walk, *target;
    family family; /* family of the last solution */
    found *items;
    size_t count, families;
    bool full; /* true if more solutions were found than the list can hold */
    uint64_t seed;
} search;

/* --- relaxation --------------------------------------------------------------------------------------------------- */

/* Returns the step size for which the forces at z move some coordinate by FIRST_MOVE. */
static double first_relaxation_step(const statics *s, const double *z) {
    double h = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        double mass = s->local.R_a[i * s->n + i], force = fabs(s->F[i]);
        if (mass > 0 && force > 0) h = fmin(h, FIRST_MOVE * fmax(1, fabs(z[i])) * mass / force);
    }
    return h;
}

/* Computes one implicit Euler step into s->step. Returns the size of the step relative to max(1, |value|), or NAN on
 * failure. */
static double relaxation_step(statics *s, const double *z, double h) {
    double most = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++) s->J[i * s->unknowns + j] += s->local.R_a[i * s->n + j] / h;
    if (!statics_newton_step(s, s->step)) return NAN;
    for (size_t i = 0; i < s->n; i++) most = fmax(most, fabs(s->step[i]) / fmax(1, fabs(z[i])));
    return most;
}

/* Moves z to an equilibrium by overdamped relaxation M dq/ds = Q + Aᵀλ, Φ = 0. Steps grow as the remaining distance
 * shrinks (pseudo-transient continuation: Kelley & Keyes, SIAM J. Numer. Anal. 35 (1998) 508). */
static bool relax(statics *s, double *z) {
    if (s->instants > 1 || !statics_evaluate(s, z)) return false;
    double h = first_relaxation_step(s, z);
    for (int k = 0; k < RELAXATION && h > 0 && isfinite(h) && s->spent < s->deadline; k++) {
        if (k > 0 && !statics_evaluate(s, z)) return false;
        double move = relaxation_step(s, z, h);
        if (!(move <= LARGEST_MOVE)) {
            h /= isnan(move) ? 4 : fmin(4, 2 * move / LARGEST_MOVE);
            continue;
        }
        for (size_t i = 0; i < s->unknowns; i++) z[i] += s->step[i];
        if (move < SETTLED) return true;
        h *= move < LARGEST_MOVE / 4 ? 4 : 1;
    }
    return false;
}

/* --- solutions ---------------------------------------------------------------------------------------------------- */

static void wrap(const search *s, double *q) {
    for (size_t i = 0; i < s->n; i++)
        if (s->periodic[i] && !s->statics.cyclic[i]) q[i] -= 2 * M_PI * ceil((q[i] - M_PI) / (2 * M_PI) - 1e-9);
}

/* Returns true if q is already listed. Two equilibria count as the same if their distance is below SAME_SOLUTION or
 * below 4 times the sum of their accuracies. */
static bool is_listed(const search *s, const double *q, double accuracy) {
    for (size_t k = 0; k < s->count; k++) {
        double worst = 0, apart = fmax(SAME_SOLUTION, 4 * (accuracy + s->items[k].equilibrium.accuracy));
        for (size_t i = 0; i < s->n; i++) {
            double difference = fabs(q[i] - s->items[k].equilibrium.q[i]);
            if (s->periodic[i]) difference = fmin(difference, fabs(2 * M_PI - difference));
            worst = fmax(worst, difference / fmax(1, fabs(q[i])));
        }
        if (worst < apart) return true;
    }
    return false;
}

/* Returns true if a path along the family of z reaches a listed member of a family of this dimension. Angles change
 * along the shorter arc. */
static bool is_connected(search *s, const double *z, size_t dimension) {
    for (size_t k = 0; k < s->count; k++) {
        const hamel_equilibrium *e = &s->items[k].equilibrium;
        if (e->family_dimension != dimension || s->items[k].meet) continue;
        memcpy(s->walk, z, s->statics.unknowns * sizeof *s->walk);
        for (size_t i = 0; i < s->n; i++) {
            double turns = s->periodic[i] ? round((z[i] - e->q[i]) / (2 * M_PI)) : 0;
            s->target[i] = e->q[i] + 2 * M_PI * turns;
        }
        family_approach(&s->statics, s->walk, s->target);
        if (statics_distance(&s->statics, s->walk, s->target) < SAME_SOLUTION) return true;
    }
    return false;
}

static hamel_status add_equilibrium(search *s, const double *z, hamel_equilibrium *e) {
    assert(s->count <= MOST);
    statics *p = &s->statics;
    hamel_status status = stability_decide(p, z, &s->family, &s->facts, e, s->a->memory, s->error);
    if (status != HAMEL_OK) return status;
    double *q = arena_doubles(s->a->memory, s->n), *v = arena_doubles(s->a->memory, s->n);
    double *lambda = arena_doubles(s->a->memory, p->m), distance = 0;
    if (s->a->memory->failed) return hamel_out_of_memory(s->error);
    e->q = memcpy(q, z, s->n * sizeof *q);
    e->v = memcpy(v, p->v, s->n * sizeof *v);
    e->lambda = memcpy(lambda, z + s->n, p->m * sizeof *lambda);
    for (size_t i = 0; i < s->n; i++) distance = hypot(distance, z[i] - s->model->q0[i]);
    s->items[s->count++] = (found){*e, distance, s->family.meet};
    s->families += !e->isolated;
    return HAMEL_OK;
}

static void look_at_family(search *s, const double *z, hamel_equilibrium *e) {
    family_find(&s->statics, z, &s->family);
    e->family_dimension = s->family.dimension;
    e->isolated = e->family_dimension == 0;
}

/* Moves z along its family to the member nearest to the initial values. Returns false if that member or its family is
 * already listed. */
static bool choose_member(search *s, double *z, hamel_equilibrium *e) {
    family_approach(&s->statics, z, s->model->q0);
    statics_tidy(&s->statics, z);
    wrap(s, z);
    if (is_listed(s, z, 0) || is_connected(s, z, e->family_dimension)) return false;
    look_at_family(s, z, e);
    return true;
}

/* Lists the point z at which families meet, with the dimension of the families away from z. Replaces z by another
 * member of one of the families. */
static hamel_status add_crossing(search *s, double *z, hamel_equilibrium *e) {
    memcpy(s->walk, z, s->statics.unknowns * sizeof *z);
    memcpy(z, s->family.member, s->statics.unknowns * sizeof *z);
    look_at_family(s, z, e);
    s->family.meet = true;
    return add_equilibrium(s, s->walk, e);
}

/* Lists the solution z. If families meet at z, lists z as a crossing and also lists another member, which represents
 * one of the families. */
static hamel_status keep_solution(search *s, double *z) {
    statics *p = &s->statics;
    hamel_equilibrium e = {0};
    hamel_status status = HAMEL_OK;
    statics_tidy(p, z);
    wrap(s, z);
    if (is_listed(s, z, 0)) return HAMEL_OK;
    look_at_family(s, z, &e);
    s->full = s->full || s->count == MOST || (!e.isolated && s->families == MOST_FAMILIES);
    if (s->full) return HAMEL_OK;
    if (s->family.flat > 0 && e.isolated) {
        e.accuracy = family_uncertainty(p, z);
        if (is_listed(s, z, e.accuracy)) return HAMEL_OK;
    }
    if (s->family.meet) {
        status = add_crossing(s, z, &e);
        e = (hamel_equilibrium){0};
        look_at_family(s, z, &e);
    }
    if (status != HAMEL_OK || (!e.isolated && !choose_member(s, z, &e))) return status;
    return add_equilibrium(s, z, &e);
}

/* --- starts ------------------------------------------------------------------------------------------------------- */

static void draw_configuration(search *s, double *z) {
    for (size_t i = 0; i < s->n; i++) {
        double start = s->model->q0[i], reach = s->periodic[i] ? M_PI : 1.5 * fmax(1, fabs(start));
        z[i] = s->statics.cyclic[i] ? start : start + random_uniform(&s->seed, -reach, reach);
    }
}

/* Draws a configuration and multipliers at random. Returns false if the equations are not finite at this point. */
static bool draw_point(search *s, double *z) {
    draw_configuration(s, z);
    for (size_t c = s->n; c < s->statics.unknowns; c++) z[c] = random_uniform(&s->seed, -1, 1);
    return statics_evaluate(&s->statics, z);
}

/* Marks a coordinate as an angle if adding 2π to the coordinate changes no equation at two random configurations. */
static void find_angles(search *s, double *z) {
    statics *p = &s->statics;
    memset(s->periodic, 0, s->n * sizeof *s->periodic); /* draw_configuration reads the array */
    for (size_t i = 0; i < s->n; i++) {
        bool same = true;
        for (int k = 0; k < 2 && same; k++) {
            if (!draw_point(s, z)) continue;
            memcpy(p->step, p->F, p->rows * sizeof *p->step);
            z[i] += 2 * M_PI;
            same = statics_evaluate(p, z);
            for (size_t r = 0; r < p->rows && same; r++) same = fabs(p->F[r] - p->step[r]) <= 1e-9 * (1 + p->scale[r]);
        }
        s->periodic[i] = same;
    }
}

/* Returns true if J is the same at four random points. The equilibrium equations are then linear, and the search is
 * complete. */
static bool is_linear(search *s, double *z) {
    statics *p = &s->statics;
    size_t count = p->rows * p->unknowns;
    for (int k = 0; k < 4; k++) {
        if (!draw_point(s, z)) return false;
        for (size_t i = 0; i < count && k > 0; i++)
            if (fabs(p->J[i] - p->work[i]) > 1e-12 * fabs(p->J[i])) return false;
        memcpy(p->work, p->J, count * sizeof *p->work);
    }
    return s->model->system->nonsmooth_count == 0;
}

/* If `initial`, searches from the initial configuration, then from the configuration that relaxation of the initial
 * configuration reaches. Otherwise searches from a random configuration. */
static hamel_status try_start(search *s, double *z, bool initial, bool *solved) {
    statics *p = &s->statics;
    hamel_status status = HAMEL_OK;
    *solved = false;
    for (int relaxed = 0; relaxed <= (initial ? 1 : 0) && status == HAMEL_OK; relaxed++) {
        if (initial)
            memcpy(z, s->model->q0, s->n * sizeof *z);
        else
            draw_configuration(s, z);
        p->deadline = (1 + relaxed) * MOST_WORK; /* the second pass has a budget of its own */
        bool reached = statics_balance(p, z) && (!relaxed || relax(p, z)) && statics_converge(p, z);
        p->deadline = INFINITY;
        if (reached) status = keep_solution(s, z);
        *solved = *solved || reached;
    }
    return status;
}

static hamel_status search_starts(search *s, size_t starts) {
    hamel_equilibria *out = s->result;
    double *z = arena_doubles(s->a->memory, statics_most(&s->statics));
    if (!z) return hamel_out_of_memory(s->error);
    s->seed = 0x9e3779b97f4a7c15u;
    find_angles(s, z);
    bool linear = is_linear(s, z), bounded = false, solved = false;
    for (size_t k = 0; k <= starts && !bounded && !(linear && k > 0); k++) {
        hamel_status status = try_start(s, z, k == 0, &solved);
        if (system_interrupted(s->model->system)) return s->error->status; /* after a cancellation, evaluations fail */
        if (status == HAMEL_OK && s->statics.starved) status = hamel_out_of_memory(s->error);
        if (status != HAMEL_OK) return status;
        out->starts++;
        out->unsolved += !solved;
        bounded = s->statics.spent > MOST_WORK && k < starts;
    }
    out->complete = linear;
    if (!out->complete)
        out->note = s->count == 0 ? "no starting point led to an equilibrium; equilibria may exist nevertheless"
                    : s->full     ? "more equilibria were found than the list can hold"
                    : bounded     ? "the work budget did not cover all starting points; other equilibria may exist"
                                  : "the search used random starting points; other equilibria may exist";
    return HAMEL_OK;
}

static int by_distance(const void *x, const void *y) {
    const found *a = x, *b = y;
    return (a->distance > b->distance) - (a->distance < b->distance);
}

/* Fills the result. Names are copied, because the result outlives the model. */
static hamel_status publish(search *s) {
    assert(s->n == s->statics.n);
    hamel_equilibria *out = s->result;
    arena *memory = s->a->memory;
    size_t m = s->statics.m;
    const char **constraints = arena_alloc(memory, m, sizeof *constraints);
    hamel_equilibrium *items = arena_alloc(memory, s->count, sizeof *items);
    for (size_t c = 0; c < m && constraints; c++)
        constraints[c] = arena_format(memory, "%s", s->model->system->constraints[c].name);
    out->coordinates = analysis_coordinate_names(s->a);
    if (memory->failed) return hamel_out_of_memory(s->error);
    qsort(s->items, s->count, sizeof *s->items, by_distance);
    for (size_t k = 0; k < s->count; k++) items[k] = s->items[k].equilibrium;
    out->constraints = constraints;
    out->coordinate_count = s->n;
    out->constraint_count = m;
    out->items = items;
    out->count = s->count;
    out->steady = s->statics.steady;
    return HAMEL_OK;
}

static bool allocate_search(search *s) {
    arena *memory = s->a->memory;
    size_t most = statics_most(&s->statics);
    s->periodic = arena_alloc(memory, s->n, sizeof *s->periodic);
    s->family.directions = arena_doubles(memory, s->n * s->n);
    s->family.member = arena_doubles(memory, most);
    s->walk = arena_doubles(memory, most);
    s->target = arena_doubles(memory, most);
    s->items = arena_alloc(memory, MOST + 1, sizeof *s->items); /* the last solution may add two items */
    return !memory->failed;
}

/* Returns the consistent initial velocities. If no consistent velocities are found, returns those of the description.
 * Velocities within rounding errors of 0 are set to 0. */
static double *initial_velocities(search *s) {
    size_t n = s->n, m = s->model->m;
    double *q = arena_doubles(s->a->memory, 3 * n + m), *v = q + n, largest = 0;
    dynamics *k = q ? dynamics_create(s->model) : NULL;
    hamel_error quiet = {0};
    if (!k) return NULL;
    dynamics_limit(k, s->model->system->poll, 0);
    if (initial_state(k, q, v, v + n, v + 2 * n, &quiet) != HAMEL_OK) memcpy(v, s->model->v0, n * sizeof *v);
    hamel_error_clear(&quiet);
    dynamics_free(k);
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(v[i]));
    for (size_t i = 0; i < n; i++)
        if (fabs(v[i]) < 1e-12 * largest) v[i] = 0;
    return v;
}

static hamel_status find_all(search *s, size_t starts) {
    const analysis_request *r = &s->a->request;
    hamel_report *report = NULL;
    hamel_error quiet = {0};
    /* If no state satisfies the constraints, hamel_analyze returns no report, and no coordinate is treated as
     * cyclic. */
    hamel_status status = hamel_analyze(&report, r->description, r->limits, r->poll, &quiet);
    hamel_error_clear(&quiet);
    if (status == HAMEL_NO_MEMORY) return hamel_out_of_memory(s->error);
    s->facts = stability_look_up(report);
    const double *v = initial_velocities(s);
    status = v ? statics_create(&s->statics, s->model, report ? &report->cyclic : NULL, v, s->error)
               : hamel_out_of_memory(s->error);
    hamel_report_free(report);
    if (status == HAMEL_OK && !allocate_search(s)) status = hamel_out_of_memory(s->error);
    if (status == HAMEL_OK) status = search_starts(s, starts);
    if (status == HAMEL_OK && s->count == 0) status = moving_refuse(&s->statics, s->error);
    if (status == HAMEL_OK && s->statics.starved) status = hamel_out_of_memory(s->error);
    return status == HAMEL_OK ? publish(s) : status;
}

static hamel_status find_equilibria(analysis *a, void *result, void *context) {
    const size_t *starts = context;
    hamel_status status = analysis_create_model(a, a->request.description);
    if (status != HAMEL_OK) return status;
    search s = {.a = a, .model = a->model, .error = a->error, .result = result, .n = a->n};
    status = find_all(&s, *starts);
    statics_free(&s.statics);
    return status;
}

hamel_status hamel_find_equilibria(hamel_equilibria **out, const hamel_description *d, size_t starts,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, find_equilibria, &starts,
                            out);
}

void hamel_equilibria_free(hamel_equilibria *equilibria) {
    analysis_result_free(equilibria);
}
