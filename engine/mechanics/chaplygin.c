/* chaplygin.c — Chaplygin's equations: Voronets' equations of systems whose energies, forces and constraints do not
 * contain the dependent coordinates.
 *
 *     d/dt ∂T_o/∂q'_I − ∂T_o/∂q_I − Σ_D p_D (Σ_I' t^D_II' q'_I' + t^D_I) = Q_I + Σ_D b_DI Q_D
 *                                                                              Papastavridis Intro 3.8, P2.12.2
 *     t^D_II' = ∂b_DI/∂q_I' − ∂b_DI'/∂q_I,     t^D_I = ∂b_DI/∂t − ∂b_D/∂q_I
 *
 * The notation is that of voronets.c. The equations hold if no energy, force or constraint contains a dependent
 * coordinate q_D. They then form a closed system for the independent coordinates. The potential may contain q_D
 * linearly if the force −∂V/∂q_D is constant. Energies and constraints may depend on time, although Chaplygin's own
 * constraints are catastatic and stationary.
 *
 * Only coordinates that are absent from energies, forces and constraints may be dependent. chaplygin_derive decides by
 * the generic rank of the constraint gradients whether the constraints can be solved for the velocities of absent
 * coordinates. At single states the solution may still fail (engine/dynamics/velocity_basis.h). */
#include "engine/algebra/identity.h"
#include "engine/base/text_buffer.h"
#include "engine/linear/dense.h"
#include "engine/mechanics/formulation.h"

#include <assert.h>
#include <string.h>

/* Largest system in which a coordinate counts as absent from an expression if the derivative of the expression vanishes
 * identically. The test needs up to n² derivatives. In larger systems, a coordinate that occurs in an expression is
 * never absent. */
enum { TESTED_MOST = 64 };
/* Maximum number of coordinates that refuse_chaplygin lists in an error. */
enum { DESCRIBED = 3 };

typedef enum occurrence_place { IN_KINETIC_ENERGY, IN_FORCE, IN_CONSTRAINT, ABSENT } occurrence_place;

/* The first of the places that contain a coordinate, in the order of occurrence_place. */
typedef struct occurrence {
    occurrence_place place;
    int32_t where; /* index of the coordinate of the force, or of the constraint */
} occurrence;

/* A derivative, or an expression, that must be identically 0 if `coordinate` is absent from the place `at`. */
typedef struct absence {
    graph_node slope;
    int32_t coordinate;
    occurrence at;
} absence;

typedef struct absences {
    hamel_equations *e;
    absence *items;
    size_t count, capacity;
} absences;

static bool list_contained(absences *a, graph_node node, occurrence_place place, int32_t where) {
    hamel_system *s = a->e->system;
    int32_t *list;
    if (node < 0) return true; /* acceleration constraints have no velocity equation */
    size_t count = node_support(s, node, SYMBOL_COORDINATE, &list);
    for (size_t i = 0; i < count; i++) {
        graph_node slope = a->e->n <= TESTED_MOST ? graph_partial(s->graph, node, s->q[list[i]]) : node;
        absence *items = arena_grow(s->memory, a->items, &a->capacity, a->count + 1, sizeof *items);
        if (slope < 0 || !items) return false;
        a->items = items;
        items[a->count++] = (absence){slope, list[i], {place, where}};
    }
    return true;
}

static bool list_pattern(absences *a, const matrix_pattern *p, occurrence_place place) {
    for (size_t k = 0; k < p->count; k++)
        if (!list_contained(a, p->entries[k].node, place, p->entries[k].row)) return false;
    return true;
}

static bool list_absences(absences *a) {
    const hamel_equations *e = a->e;
    for (size_t i = 0; i < e->n; i++) {
        int32_t of = (int32_t)i;
        if (!list_contained(a, e->momentum[i], IN_KINETIC_ENERGY, of) || !list_contained(a, e->Q[i], IN_FORCE, of) ||
            (e->nonideal && !list_contained(a, e->nonideal[i], IN_FORCE, of)))
            return false;
    }
    for (size_t c = 0; c < e->m; c++)
        if (!list_contained(a, e->velocity[c], IN_CONSTRAINT, (int32_t)c) ||
            !list_contained(a, e->b[c], IN_CONSTRAINT, (int32_t)c))
            return false;
    return list_pattern(a, &e->F, IN_FORCE) && list_pattern(a, &e->A, IN_CONSTRAINT);
}

/* Sets found[n] to the first occurrence of each coordinate, ABSENT if there is no occurrence. Returns false if out of
 * memory or interrupted. */
static bool find_occurrences(absences *a, occurrence *found) {
    hamel_system *s = a->e->system;
    arena scratch;
    arena_init(&scratch, s->limits->memory);
    graph_node *nodes = arena_alloc(&scratch, a->count, sizeof *nodes);
    bool *zero = arena_alloc(&scratch, a->count, sizeof *zero);
    bool good = nodes && zero;
    for (size_t k = 0; good && k < a->count; k++) nodes[k] = a->items[k].slope;
    if (good && a->e->n <= TESTED_MOST) good = identity_find_zeros(s->graph, nodes, a->count, zero, &scratch);
    for (size_t i = 0; i < a->e->n; i++) found[i] = (occurrence){ABSENT, -1};
    for (size_t k = 0; good && k < a->count; k++) {
        occurrence *of = &found[a->items[k].coordinate];
        if (!zero[k] && a->items[k].at.place < of->place) *of = a->items[k].at;
    }
    arena_free(&scratch);
    return good && !system_interrupted(s);
}

/* Returns the value of a constant node. For other nodes, returns a pseudorandom number in [1, 2) that depends on the
 * index of the node only, so that the rank of a matrix of such numbers is generic. The generator is the finalizer of
 * SplitMix64 (Steele, Lea & Flood, OOPSLA 2014). */
static double generic_value(const graph *g, graph_node node) {
    double value;
    if (graph_is_number(g, node, &value)) return value;
    uint64_t x = (uint64_t)node + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return 1 + (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* Returns the generic rank of the holonomic and velocity constraints in the velocities of the coordinates that are
 * absent, or in all velocities if `found` is NULL. If the rank is below m, sets *rest to a constraint that does not
 * increase the rank. Returns −1 if out of memory. */
static int generic_rank(const hamel_equations *e, const occurrence *found, size_t *rest) {
    const double tolerance = 1e-9; /* entries are of order 1: a smaller pivot is almost certainly a rounding error */
    hamel_system *s = e->system;
    arena scratch;
    arena_init(&scratch, s->limits->memory);
    double *a = arena_doubles(&scratch, e->n * e->m), *tau = arena_doubles(&scratch, e->n + e->m),
           *work = arena_doubles(&scratch, 2 * e->m);
    size_t *pivot = arena_alloc(&scratch, e->m, sizeof *pivot), rank = 0;
    bool good = a && tau && work && pivot;
    for (size_t k = 0; good && k < e->A.count; k++) {
        const matrix_entry *entry = &e->A.entries[k];
        if (s->constraints[entry->row].order == CONSTRAINT_ACCELERATION) continue;
        if (found && found[entry->column].place != ABSENT) continue;
        a[(size_t)entry->column + e->n * (size_t)entry->row] = generic_value(s->graph, entry->node);
    }
    if (good) rank = dense_qr(e->n, e->m, e->n < e->m ? e->n : e->m, a, tau, pivot, tolerance, work);
    if (good && rank < e->m) *rest = pivot[rank];
    arena_free(&scratch);
    return good ? (int)rank : -1;
}

static void describe_occurrence(const hamel_system *s, size_t i, const occurrence *at, text_buffer *out) {
    text_buffer_printf(out, "`%s` appears in ", s->coordinates[i].name);
    if (at->place == IN_KINETIC_ENERGY)
        text_buffer_puts(out, s->lagrangian >= 0 ? "the lagrangian" : "the kinetic energy");
    else if (at->place == IN_FORCE)
        text_buffer_printf(out, "the force on `%s`", s->coordinates[at->where].name);
    else
        text_buffer_printf(out, "the constraint `%s`", s->constraints[at->where].name);
}

/* Adds the error that `constraint` cannot be solved for the velocity of an absent coordinate. Returns the status of the
 * error. */
static hamel_status refuse_chaplygin(const hamel_equations *e, size_t constraint, const occurrence *found) {
    hamel_system *s = e->system;
    size_t first, count = pattern_row(&e->A, (int32_t)constraint, &first), shown = 0;
    text_buffer text;
    text_buffer_init(&text, 4096);
    text_buffer_printf(&text,
                       "the constraint `%s` cannot be solved for a dependent velocity whose coordinate is absent from "
                       "all energies, forces and constraints",
                       s->constraints[constraint].name);
    for (size_t k = first; k < first + count; k++) {
        size_t i = (size_t)e->A.entries[k].column;
        if (found[i].place == ABSENT || shown == DESCRIBED) continue;
        text_buffer_puts(&text, shown++ ? "; " : ": ");
        describe_occurrence(s, i, &found[i], &text);
    }
    hamel_status status =
        text.bytes && !text.failed ? formulation_refuse(&formulation_chaplygin, s, text.bytes) : equations_exhausted(s);
    text_buffer_free(&text);
    return status;
}

/* Returns an array of n first occurrences, allocated in the system's memory, or NULL after adding an error. */
static occurrence *all_occurrences(hamel_equations *e) {
    absences all = {.e = e};
    occurrence *found = arena_alloc(e->system->memory, e->n, sizeof *found);
    if (found && list_absences(&all) && find_occurrences(&all, found)) return found;
    (void)equations_exhausted(e->system);
    return NULL;
}

bool chaplygin_find_absent(hamel_equations *e, bool from_constraints, bool *absent) {
    const occurrence *found = all_occurrences(e);
    const occurrence_place least = from_constraints ? ABSENT : IN_CONSTRAINT;
    for (size_t i = 0; found && i < e->n; i++) absent[i] = found[i].place >= least;
    return found != NULL;
}

hamel_status chaplygin_derive(hamel_equations *e) {
    hamel_system *s = e->system;
    hamel_status status = voronets_derive(e);
    if (status != HAMEL_OK || e->m == 0) return status;
    size_t rest = 0;
    const occurrence *found = all_occurrences(e);
    e->independent = arena_alloc(s->memory, e->n, sizeof *e->independent);
    if (!found || !e->independent) return equations_exhausted(s);
    for (size_t i = 0; i < e->n; i++) e->independent[i] = found[i].place != ABSENT;
    int most = generic_rank(e, NULL, &rest), rank = generic_rank(e, found, &rest);
    if (most < 0 || rank < 0) return equations_exhausted(s);
    return rank < most ? refuse_chaplygin(e, rest, found) : HAMEL_OK;
}
