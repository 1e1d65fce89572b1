/* equilibria.c — where a system can rest, or move steadily.
 *
 * The equations of statics.h are solved from the initial values, from the configuration at which the system settles
 * when released there, and from random configurations around them. Solutions are distinguished by their distance,
 * families by following them; stability.c decides their stability. */
#include "engine/analyze/families.h"
#include "engine/analyze/moving.h"
#include "engine/analyze/stability.h"
#include "engine/base/random.h"
#include "engine/solve/initial_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME = 1e-6; /* distance of two solutions, relative to values above 1 */
/* Relaxation: the first step moves by so much of a coordinate or of 1, and none by more; it has settled below the last. */
static const double FIRST_MOVE = 0.05, LARGEST_MOVE = 0.4, SETTLED = 1e-4;
/* Work budget of a search in multiplications, about a second; counted, not timed, so that results are reproducible. */
static const double MOST_WORK = 1e9;
enum { RELAXATION = 400, MOST = 256, MOST_FAMILIES = 16 };

/* What the caller holds is the list inside. */
typedef struct owned_equilibria {
    hamel_equilibria equilibria; /* first */
    arena memory;
} owned_equilibria;

typedef struct found {
    hamel_equilibrium equilibrium;
    double distance;
    bool meet; /* several families meet there */
} found;

typedef struct search {
    owned_equilibria *owned;
    hamel_model *model;
    hamel_error *error;
    statics statics;
    stability_facts facts;
    size_t n;
    bool *periodic; /* n: of period 2π */
    double *walk, *target;
    family family; /* of the last solution */
    found *items;
    size_t count, families;
    bool full; /* more were found than the list can hold */
    uint64_t seed;
} search;

static hamel_status no_memory(hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the equilibria");
}

/* --- relaxation ---------------------------------------------------------------------------------------------------- */

/* The step in which the forces at z alone would move some coordinate by FIRST_MOVE. */
static double first_step(const statics *s, const double *z) {
    double h = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        double mass = s->local.R_a[i * s->n + i], force = fabs(s->F[i]);
        if (mass > 0 && force > 0) h = fmin(h, FIRST_MOVE * fmax(1, fabs(z[i])) * mass / force);
    }
    return h;
}

/* One step of implicit Euler in s->step; how far it moves, relative to values above 1, or NAN. */
static double relaxed(statics *s, const double *z, double h) {
    double most = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++) s->J[i * s->unknowns + j] += s->local.R_a[i * s->n + j] / h;
    if (!statics_newton_step(s, s->step)) return NAN;
    for (size_t i = 0; i < s->n; i++) most = fmax(most, fabs(s->step[i]) / fmax(1, fabs(z[i])));
    return most;
}

/* Along M dq/ds = Q + Aᵀλ, Φ = 0 to where it settles, in place: damped relaxation, whose steps grow as the distance that is
 * left shrinks (pseudo-transient continuation: Kelley & Keyes, SIAM J. Numer. Anal. 35 (1998) 508). */
static bool relax(statics *s, double *z) {
    if (s->instants > 1 || !statics_evaluate(s, z)) return false;
    double h = first_step(s, z);
    for (int k = 0; k < RELAXATION && h > 0 && isfinite(h) && s->spent < s->deadline; k++) {
        if (k > 0 && !statics_evaluate(s, z)) return false;
        double move = relaxed(s, z, h);
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

/* --- what is found ------------------------------------------------------------------------------------------------- */

static void wrap(const search *s, double *q) {
    for (size_t i = 0; i < s->n; i++)
        if (s->periodic[i] && !s->statics.cyclic[i]) q[i] -= 2 * M_PI * ceil((q[i] - M_PI) / (2 * M_PI) - 1e-9);
}

/* Two equilibria are the same if their distance is within the accuracy of both. */
static bool is_known(const search *s, const double *q, double accuracy) {
    for (size_t k = 0; k < s->count; k++) {
        double worst = 0, apart = fmax(SAME, 4 * (accuracy + s->items[k].equilibrium.accuracy));
        for (size_t i = 0; i < s->n; i++) {
            double difference = fabs(q[i] - s->items[k].equilibrium.q[i]);
            if (s->periodic[i]) difference = fmin(difference, fabs(2 * M_PI - difference));
            worst = fmax(worst, difference / fmax(1, fabs(q[i])));
        }
        if (worst < apart) return true;
    }
    return false;
}

/* Whether a known family of this dimension is reached from z along its own; angles by the shorter way. */
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
        if (statics_distance(&s->statics, s->walk, s->target) < SAME) return true;
    }
    return false;
}

static double *copied(search *s, const double *x, size_t count) {
    double *copy = arena_alloc(&s->owned->memory, count, sizeof *copy);
    if (copy && count > 0) memcpy(copy, x, count * sizeof *copy);
    return copy;
}

static hamel_status add(search *s, const double *z, hamel_equilibrium *e) {
    statics *p = &s->statics;
    hamel_status status = stability_judge(p, z, &s->family, &s->facts, e, &s->owned->memory, s->error);
    e->q = copied(s, z, s->n);
    e->v = copied(s, p->v, s->n);
    e->lambda = copied(s, z + s->n, p->m);
    if (status == HAMEL_OK && (!e->q || !e->v || !e->lambda)) status = no_memory(s->error);
    if (status != HAMEL_OK) return status;
    double distance = 0;
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

/* Moves along the family to the member nearest to the initial values; false if that member or its family is listed. */
static bool choose_member(search *s, double *z, hamel_equilibrium *e) {
    family_approach(&s->statics, z, s->model->q0);
    statics_tidy(&s->statics, z);
    wrap(s, z);
    if (is_known(s, z, 0) || is_connected(s, z, e->family_dimension)) return false;
    look_at_family(s, z, e);
    return true;
}

/* Where families meet, with the dimension that they have elsewhere; z becomes another member. */
static hamel_status add_crossing(search *s, double *z, hamel_equilibrium *e) {
    memcpy(s->walk, z, s->statics.unknowns * sizeof *z);
    memcpy(z, s->family.member, s->statics.unknowns * sizeof *z);
    look_at_family(s, z, e);
    s->family.meet = true;
    return add(s, s->walk, e);
}

/* z is a solution. If families meet there, that point is listed, and the family continues from another member. */
static hamel_status keep(search *s, double *z) {
    statics *p = &s->statics;
    hamel_equilibrium e = {0};
    hamel_status status = HAMEL_OK;
    statics_tidy(p, z);
    wrap(s, z);
    if (is_known(s, z, 0)) return HAMEL_OK;
    look_at_family(s, z, &e);
    s->full = s->full || s->count == MOST || (!e.isolated && s->families == MOST_FAMILIES);
    if (s->full) return HAMEL_OK;
    if (s->family.flat > 0 && e.isolated) {
        e.accuracy = family_uncertainty(p, z);
        if (is_known(s, z, e.accuracy)) return HAMEL_OK;
    }
    if (s->family.meet) {
        status = add_crossing(s, z, &e);
        e = (hamel_equilibrium){0};
        look_at_family(s, z, &e);
    }
    if (status != HAMEL_OK || (!e.isolated && !choose_member(s, z, &e))) return status;
    return add(s, z, &e);
}

/* --- starts -------------------------------------------------------------------------------------------------------- */

static void draw(search *s, double *z) {
    for (size_t i = 0; i < s->n; i++) {
        double start = s->model->q0[i], reach = s->periodic[i] ? M_PI : 1.5 * fmax(1, fabs(start));
        z[i] = s->statics.cyclic[i] ? start : start + random_uniform(&s->seed, -reach, reach);
    }
}

/* A coordinate is an angle when a whole turn changes no equation, at two random configurations. */
static void find_angles(search *s, double *z) {
    statics *p = &s->statics;
    for (size_t i = 0; i < s->n; i++) s->periodic[i] = false; /* draw asks */
    for (size_t i = 0; i < s->n; i++) {
        bool same = true;
        for (int k = 0; k < 2 && same; k++) {
            draw(s, z);
            for (size_t c = s->n; c < p->unknowns; c++) z[c] = random_uniform(&s->seed, -1, 1);
            if (!statics_evaluate(p, z)) continue;
            memcpy(p->step, p->F, p->rows * sizeof *p->step);
            z[i] += 2 * M_PI;
            same = statics_evaluate(p, z);
            for (size_t r = 0; r < p->rows && same; r++) same = fabs(p->F[r] - p->step[r]) <= 1e-9 * (1 + p->scale[r]);
        }
        s->periodic[i] = same;
    }
}

/* Whether J is the same at three random points: the equations of rest are linear, and what is found is all there is. */
static bool is_linear(search *s, double *z) {
    statics *p = &s->statics;
    size_t count = p->rows * p->unknowns;
    for (int k = 0; k < 4; k++) {
        draw(s, z);
        for (size_t c = s->n; c < p->unknowns; c++) z[c] = random_uniform(&s->seed, -1, 1);
        if (!statics_evaluate(p, z)) return false;
        for (size_t i = 0; i < count && k > 0; i++)
            if (fabs(p->J[i] - p->work[i]) > 1e-12 * fabs(p->J[i])) return false;
        memcpy(p->work, p->J, count * sizeof *p->work);
    }
    return s->model->system->switch_count == 0;
}

/* Searches from one configuration: the initial one and the one at which it settles, or a random one. */
static hamel_status try_start(search *s, double *z, bool initial, bool *solved) {
    statics *p = &s->statics;
    hamel_status status = HAMEL_OK;
    if (initial)
        memcpy(z, s->model->q0, s->n * sizeof *z);
    else
        draw(s, z);
    p->deadline = MOST_WORK;
    *solved = statics_balance(p, z) && statics_converge(p, z);
    p->deadline = INFINITY;
    if (*solved) status = keep(s, z);
    if (!initial || status != HAMEL_OK) return status;
    memcpy(z, s->model->q0, s->n * sizeof *z);
    p->deadline = 2 * MOST_WORK; /* whatever the first iteration took */
    bool settled = statics_balance(p, z) && relax(p, z) && statics_converge(p, z);
    p->deadline = INFINITY;
    *solved = *solved || settled;
    return settled ? keep(s, z) : HAMEL_OK;
}

static hamel_status run(search *s, size_t starts) {
    hamel_equilibria *out = &s->owned->equilibria;
    double *z = arena_alloc(&s->owned->memory, statics_most(&s->statics), sizeof *z);
    if (!z) return no_memory(s->error);
    s->seed = 0x9e3779b97f4a7c15u;
    find_angles(s, z);
    bool linear = is_linear(s, z), bounded = false, solved = false;
    for (size_t k = 0; k <= starts && !bounded && !(linear && k > 0); k++) {
        hamel_status status = try_start(s, z, k == 0, &solved);
        if (system_interrupted(s->model->system)) return s->error->status; /* evaluations were refused */
        if (status == HAMEL_OK && s->statics.starved) status = no_memory(s->error);
        if (status != HAMEL_OK) return status;
        out->starts++;
        out->unsolved += !solved;
        bounded = s->statics.spent > MOST_WORK && k < starts;
    }
    out->complete = linear;
    if (!out->complete)
        out->note = s->count == 0 ? "no start led to an equilibrium; equilibria may exist"
                    : s->full     ? "more were found than are listed"
                    : bounded     ? "the search used up its work budget before all starts; there may be others"
                                  : "found from random starts; there may be others";
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
    size_t m = s->statics.m;
    const char **coordinates = arena_alloc(memory, s->n, sizeof *coordinates);
    const char **constraints = arena_alloc(memory, m, sizeof *constraints);
    hamel_equilibrium *items = arena_alloc(memory, s->count, sizeof *items);
    if (!coordinates || !constraints || !items) return no_memory(s->error);
    for (size_t i = 0; i < s->n; i++)
        if (!(coordinates[i] = arena_format(memory, "%s", system->coordinates[i].name))) return no_memory(s->error);
    for (size_t c = 0; c < m; c++)
        if (!(constraints[c] = arena_format(memory, "%s", system->constraints[c].name))) return no_memory(s->error);
    qsort(s->items, s->count, sizeof *s->items, by_distance);
    for (size_t k = 0; k < s->count; k++) items[k] = s->items[k].equilibrium;
    out->coordinates = coordinates;
    out->constraints = constraints;
    out->coordinate_count = s->n;
    out->constraint_count = m;
    out->items = items;
    out->count = s->count;
    out->steady = s->statics.steady;
    return HAMEL_OK;
}

static bool allocate(search *s) {
    arena *memory = &s->owned->memory;
    size_t most = statics_most(&s->statics);
    s->periodic = arena_alloc(memory, s->n, sizeof *s->periodic);
    s->family.directions = arena_alloc(memory, s->n * s->n, sizeof *s->family.directions);
    s->family.member = arena_alloc(memory, most, sizeof *s->family.member);
    s->walk = arena_alloc(memory, most, sizeof *s->walk);
    s->target = arena_alloc(memory, most, sizeof *s->target);
    s->items = arena_alloc(memory, MOST, sizeof *s->items);
    return s->periodic && s->family.directions && s->family.member && s->walk && s->target && s->items;
}

/* The initial velocities, made consistent, or as given if that is impossible. Velocities of the size of rounding become
 * 0. */
static double *initial_velocities(search *s) {
    size_t n = s->n, m = s->model->m;
    double *q = arena_alloc(&s->owned->memory, 3 * n + m, sizeof *q), *v = q ? q + n : NULL, largest = 0;
    kinetics *k = kinetics_create(s->model);
    hamel_error quiet = {0};
    if (q && k) {
        kinetics_limit(k, s->model->system->poll, 0);
        bool consistent = initial_state(k, q, v, v + n, v + 2 * n, &quiet) == HAMEL_OK;
        if (!consistent) memcpy(v, s->model->v0, n * sizeof *v);
    }
    hamel_error_clear(&quiet);
    bool good = q && k;
    kinetics_free(k);
    for (size_t i = 0; i < n && good; i++) largest = fmax(largest, fabs(v[i]));
    for (size_t i = 0; i < n && good; i++)
        if (fabs(v[i]) < 1e-12 * largest) v[i] = 0;
    return good ? v : NULL;
}

static hamel_status find(search *s, size_t starts, const hamel_description *d, const hamel_limits *limits,
                         hamel_poll *poll) {
    hamel_report *report = NULL;
    hamel_error quiet = {0};
    s->n = s->model->n;
    /* The structure is not known when no state satisfies the constraints; then no coordinate is taken for cyclic. */
    hamel_status status = hamel_analyze(&report, d, limits, poll, &quiet);
    hamel_error_clear(&quiet);
    if (status == HAMEL_NO_MEMORY) return no_memory(s->error);
    s->facts = stability_look_up(report);
    const double *v = initial_velocities(s);
    status =
        v ? statics_create(&s->statics, s->model, report ? &report->cyclic : NULL, v, s->error) : no_memory(s->error);
    hamel_report_free(report);
    if (status == HAMEL_OK && !allocate(s)) status = no_memory(s->error);
    if (status == HAMEL_OK) status = run(s, starts);
    if (status == HAMEL_OK && s->count == 0) status = moving_refuse(&s->statics, s->error);
    if (status == HAMEL_OK && s->statics.starved) status = no_memory(s->error);
    return status == HAMEL_OK ? publish(s) : status;
}

hamel_status hamel_find_equilibria(hamel_equilibria **out, const hamel_description *d, size_t starts,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_limits taken = limits ? *limits : hamel_limits_default();
    hamel_error own = {0};
    if (!error) error = &own;
    *out = NULL;
    search s = {.owned = calloc(1, sizeof(owned_equilibria)), .error = error};
    if (s.owned) arena_init(&s.owned->memory, taken.memory);
    hamel_status status = s.owned ? hamel_model_create(&s.model, d, &taken, poll, error) : no_memory(error);
    if (status == HAMEL_OK) {
        s.model->system->poll = poll;
        s.model->system->error = error;
        status = find(&s, starts, d, &taken, poll);
        statics_free(&s.statics);
    }
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
