/* stability.c — stability of an equilibrium from eigenvalues, the potential and families; see stability.h. */
#include "engine/analyze/stability.h"

#include "engine/base/random.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A real part below this bound, relative to the largest eigenvalue, is treated as zero. Double eigenvalues are accurate
 * only to √ε = 1.5e-8. The bound includes a safety factor of about 70. */
static const double MOVES = 1e-6;
/* A singular value of the system matrix below this bound, relative to the largest eigenvalue, is treated as zero. A
 * perturbation of this size changes a double eigenvalue by its square root, 1e-5. */
static const double ZERO = 1e-10;
/* Distance at which the largest eigenvalue is sampled, relative to max(1, |value|). If V = x⁴, the eigenvalues vanish
 * at 0 and are proportional to x, so at this distance they reach a tenth of their size at x = 1. */
static const double NEARBY_MOTION = 0.1;
enum { NEARBY_TRIALS = 3 };

stability_facts stability_look_up(const hamel_report *report) {
    stability_facts facts = {false, false};
    if (!report) return facts;
    facts.integrable = report->verdict == HAMEL_VERDICT_HOLONOMIC && report->left_out.count == 0;
    size_t momenta = 0;
    for (size_t k = 0; k < report->cyclic.count; k++)
        for (size_t r = 0; r < report->conserved.count; r++) {
            const char *text = report->conserved.items[r], *name = report->cyclic.items[k];
            size_t open = strlen("momentum("), length = strlen(name);
            momenta += strncmp(text, "momentum(", open) == 0 && strncmp(text + open, name, length) == 0 &&
                       strcmp(text + open + length, ")") == 0;
        }
    facts.momenta_conserved = momenta == report->cyclic.count;
    return facts;
}

/* --- eigenvalues -------------------------------------------------------------------------------------------------- */

typedef struct spectrum {
    size_t zeros;
    /* right: largest real part of the nonzero eigenvalues; largest: largest absolute value of these eigenvalues */
    double right, largest;
    bool imaginary; /* true if some nonzero eigenvalues are imaginary */
    bool good;
} spectrum;

/* Removes the null space of B: replaces B by V1ᵀ B V1. The columns of V1 are the right singular vectors whose singular
 * values exceed the bound. Returns the remaining dimension, or SIZE_MAX on failure. */
static size_t deflate(double *B, size_t size, double bound, double *room, bool *starved) {
    assert(bound >= 0);
    double *A = room, *V = A + size * size, *values = V + size * size, *super = values + size;
    memcpy(A, B, size * size * sizeof *A);
    int info = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', (lapack_int)size, (lapack_int)size, A, (lapack_int)size,
                              values, NULL, 1, V, (lapack_int)size, super);
    *starved = *starved || lapacke_starved(info);
    if (info != 0) return SIZE_MAX;
    size_t rank = 0;
    while (rank < size && values[rank] > bound) rank++;
    if (rank == size) return size;
    statics_congruence(size, rank, B, V, 1, size, A, B);
    return rank;
}

static double largest_eigenvalue(const hamel_linearization *l) {
    double largest = 0;
    for (size_t k = 0; k < l->state_count; k++)
        largest = fmax(largest, hypot(l->eigenvalues[2 * k], l->eigenvalues[2 * k + 1]));
    return largest;
}

static void measure_eigenvalues(spectrum *found, double *B, size_t size, double unit, double *room) {
    double *re = room, *im = re + size;
    found->good = size == 0 || LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', (lapack_int)size, B, (lapack_int)size, re, im,
                                             NULL, (lapack_int)size, NULL, (lapack_int)size) == 0;
    for (size_t k = 0; k < size && found->good; k++) {
        found->right = fmax(found->right, unit * re[k]);
        found->largest = fmax(found->largest, unit * hypot(re[k], im[k]));
    }
    for (size_t k = 0; k < size && found->good; k++)
        if (fabs(unit * re[k]) <= MOVES * found->largest) found->imaginary = true;
}

/* Counts the zero eigenvalues by removing the null space repeatedly, because rounding would change a p-fold zero
 * eigenvalue to about ε^(1/p). Then computes the other eigenvalues. `unit` is the largest absolute value of an
 * eigenvalue at this state or nearby. */
static spectrum analyze_spectrum(const hamel_linearization *l, double unit, bool *starved) {
    size_t size = l->state_count, positions = 0, left = size;
    spectrum found = {.right = -INFINITY};
    double *B = calloc(4 * size * size + 4 * size + 1, sizeof *B), *room = B ? B + size * size : NULL;
    if (!B) {
        *starved = true;
        return found;
    }
    while (positions < size && l->state[positions][strlen(l->state[positions]) - 1] != '\'') positions++;
    for (size_t i = 0; i < size; i++) /* scale time by 1/unit */
        for (size_t k = 0; k < size; k++) {
            double scale = (i < positions) == (k < positions) ? 1 : i < positions ? unit : 1 / unit;
            B[i * size + k] = unit > 0 ? l->A[i * size + k] * scale / unit : l->A[i * size + k];
        }
    for (size_t before = size + 1; left > 0 && left < before && left != SIZE_MAX;) {
        before = left;
        left = deflate(B, left, ZERO, room, starved);
    }
    if (left != SIZE_MAX) {
        found.zeros = size - left;
        measure_eigenvalues(&found, B, left, unit > 0 ? unit : 1, room);
    }
    free(B);
    return found;
}

/* Returns the largest absolute value of the eigenvalues at z and at random points nearby. If the potential is flat at
 * z, the eigenvalues at z alone do not give the typical time scale. */
static double typical_rate(statics *s, const double *z, const hamel_linearization *here, hamel_status *status) {
    double largest = largest_eigenvalue(here), *q = s->trial;
    uint64_t seed = 23;
    for (int trial = 0; trial < NEARBY_TRIALS; trial++) {
        hamel_linearization linear = {0};
        arena memory;
        arena_init(&memory, s->model->limits.memory);
        for (size_t i = 0; i < s->n; i++)
            q[i] = z[i] + NEARBY_MOTION * fmax(1, fabs(z[i])) * random_uniform(&seed, -1, 1);
        local_state state = {s->t[0], q, s->v, s->zero_a, z + s->n};
        hamel_status own = linear_evaluate(&linear, &s->local, &state, &memory, NULL);
        if (own == HAMEL_OK) largest = fmax(largest, largest_eigenvalue(&linear));
        if (own == HAMEL_NO_MEMORY) *status = own;
        arena_free(&memory);
    }
    return largest;
}

/* --- the verdict -------------------------------------------------------------------------------------------------- */

static void set_decision(hamel_equilibrium *e, bool stable, const char *by) {
    e->decided = true;
    e->stable = stable;
    e->decided_by = by;
}

/* Returns the dimension of the manifold of steady motions near z. A point of this manifold is given by the velocities
 * of the cyclic coordinates and the values of the other coordinates. */
static size_t steady_dimension(statics *s, const double *z) {
    size_t most = s->n + s->spinning_count, unknowns = statics_most(s);
    double *own = calloc(2 * unknowns + most * most + 1, sizeof *own);
    if (!own) {
        s->starved = true;
        return 0;
    }
    family nearby = {.directions = own + 2 * unknowns, .member = own + unknowns};
    memcpy(own, z, s->unknowns * sizeof *own);
    for (size_t k = 0; k < s->spinning_count; k++) own[s->unknowns + k] = s->v[s->spinning[k]];
    statics_take(s, STATICS_FREE, z);
    family_find(s, own, &nearby);
    statics_take(s, STATICS_GIVEN, z);
    free(own);
    return nearby.dimension;
}

static bool decide_by_potential(hamel_equilibrium *e, const potential_verdict *p, arena *memory) {
    bool least = p->kind == POTENTIAL_LEAST;
    const char *by = least ? "minimum of the potential" : "no minimum of the potential";
    if (p->order > 2) by = arena_format(memory, "order %d of the potential", p->order);
    if (by) set_decision(e, least, by);
    return by != NULL;
}

/* Returns true if no nonzero eigenvalue is imaginary and the manifold of nearby steady motions accounts for all zero
 * eigenvalues. */
static bool zeros_are_explained(statics *s, const double *z, const spectrum *eigen) {
    size_t cyclic = s->spinning_count;
    return !eigen->imaginary && eigen->zeros >= cyclic && eigen->zeros - cyclic <= steady_dimension(s, z);
}

static potential_verdict ask_potential(statics *s, const double *z, const family *f, const stability_facts *facts,
                                       bool kinked) {
    if (f->meet) return (potential_verdict){.reason = "several families meet at the equilibrium"};
    if (f->inexact) return (potential_verdict){.reason = "stiff terms make the equilibrium's position uncertain"};
    if (s->steady && !facts->momenta_conserved)
        return (potential_verdict){.reason = "the momenta of cyclic coordinates are not conserved"};
    return potential_decide(s, z, f, facts->integrable, kinked);
}

/* Returns the reason why neither eigenvalues nor the potential decide the stability, or NULL if out of memory. */
static const char *reason_of(const potential_verdict *p, bool linear_decides, bool kinked, bool autonomous,
                             arena *memory) {
    const char *linear = linear_decides ? "linear theory does not decide"
                         : kinked       ? "the equations have a kink at the equilibrium"
                         : autonomous   ? "the forces have no linear terms at the equilibrium"
                                        : "the equations contain t";
    const char *potential = p->kind == POTENTIAL_NOT_LEAST
                                ? "the potential has no minimum, but gyroscopic forces may stabilize the equilibrium"
                                : p->reason;
    return arena_format(memory, "%s, and %s", linear, potential);
}

static hamel_status decide_determined(statics *s, const double *z, const family *f, const stability_facts *facts,
                                      const hamel_linearization *linear, hamel_equilibrium *e, arena *memory,
                                      hamel_error *error) {
    hamel_status status = HAMEL_OK;
    double unit = typical_rate(s, z, linear, &status);
    if (status != HAMEL_OK) return hamel_out_of_memory(error);
    spectrum eigen = analyze_spectrum(linear, unit, &s->starved);
    if (!eigen.good) return HAMEL_OK;
    bool kinked = statics_has_kink(s, z), linear_decides = s->instants == 1 && !kinked && !f->inexact;
    if (linear_decides && eigen.zeros == 0 && eigen.right < -MOVES * eigen.largest) {
        set_decision(e, true, "eigenvalues");
        return HAMEL_OK;
    }
    potential_verdict p = ask_potential(s, z, f, facts, kinked);
    bool grows = linear_decides && eigen.right > MOVES * eigen.largest;
    bool decides = p.kind == POTENTIAL_LEAST || (p.kind == POTENTIAL_NOT_LEAST && !p.gyroscopic);
    if (grows && p.order <= 2 && p.kind != POTENTIAL_LEAST)
        set_decision(e, false, "eigenvalues");
    else if (decides && !decide_by_potential(e, &p, memory))
        return hamel_out_of_memory(error);
    else if (!decides && linear_decides && zeros_are_explained(s, z, &eigen))
        set_decision(e, true, "eigenvalues");
    if (!e->decided) e->reason = reason_of(&p, linear_decides, kinked, s->instants == 1, memory);
    return e->decided || e->reason ? HAMEL_OK : hamel_out_of_memory(error);
}

/* Copies the eigenvalues to *e. Replaces eigenvalues whose absolute value is below 1e-12 by 0. Returns false if out of
 * memory. */
static bool take_eigenvalues(const hamel_linearization *linear, hamel_equilibrium *e, arena *memory) {
    double *list = arena_doubles(memory, 2 * linear->state_count);
    for (size_t k = 0; k < linear->state_count && list; k++) {
        const double *value = linear->eigenvalues + 2 * k;
        bool zero = hypot(value[0], value[1]) < 1e-12;
        for (size_t part = 0; part < 2; part++) list[2 * k + part] = zero ? 0 : value[part];
    }
    e->eigenvalues = list;
    e->eigenvalue_count = linear->state_count;
    return list != NULL;
}

hamel_status stability_decide(statics *s, const double *z, const family *f, const stability_facts *facts,
                              hamel_equilibrium *e, arena *memory, hamel_error *error) {
    assert(f->dimension <= statics_width(s));
    hamel_linearization linear = {0};
    local_state state = {s->t[0], z, s->v, s->zero_a, z + s->n};
    hamel_status status = linear_evaluate(&linear, &s->local, &state, memory, error);
    e->determined = status != HAMEL_SINGULAR;
    e->reason = e->determined ? "the eigenvalues were not found" : "the accelerations are not determined";
    if (!e->determined) {
        hamel_error_clear(error);
        return HAMEL_OK;
    }
    if (status == HAMEL_OK) status = decide_determined(s, z, f, facts, &linear, e, memory, error);
    if (status != HAMEL_OK) return status;
    if (e->decided) e->reason = NULL;
    if (s->instants > 1) return HAMEL_OK; /* the equations depend on t */
    return take_eigenvalues(&linear, e, memory) ? HAMEL_OK : hamel_out_of_memory(error);
}
