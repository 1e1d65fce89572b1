/* routh.c — Routh's equations: the velocities of cyclic coordinates are eliminated by their conserved momenta.
 *
 *     p_c = ∂L/∂q'_c = β_c,     R(q, q', t; β) = L − Σ β_c q'_c with q'_c(q, q', t; β)      Greenwood 2.4; Talamucci 23
 *     d/dt ∂R/∂q'_i − ∂R/∂q_i = Q_i + Σ λ_c A_ci      for the coordinates that are not cyclic
 *
 * (R = ½ m r'² − β²/(2 m r²) − V in a central field: what β leaves in R has the sign of a potential.) R is stationary in
 * q'_c, so ∂R/∂q'_i = ∂L/∂q'_i and ∂R/∂q_i = ∂L/∂q_i: the equations are Lagrange's, with the q'_c that belong to β in them
 * and d/dt p_c = 0 as the cyclic rows. They are solved as they stand; what is integrated are q and the velocities that
 * are not cyclic (engine/solve/noncyclic.c), and momenta are constant to the last digit.
 *
 * A coordinate must be cyclic beyond doubt. What is not 0 at a random state is not; of what is, it is proved with the
 * relations of sines and cosines (engine/algebra), since a force that begins further away also vanishes here. */
#include "engine/algebra/arrange.h"
#include "engine/base/random.h"
#include "engine/base/text_buffer.h"
#include "engine/mechanics/cyclic.h"
#include "engine/mechanics/formulation.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 2, NEAREST = 3 };
static const double RADIUS = 0.1; /* of the random states around the initial values */

/* Values of all symbols at one random state. */
static void random_point(const hamel_system *s, uint64_t *seed, double *values, graph_point *at) {
    for (size_t i = 0; i < s->coordinate_count; i++)
        values[i] = s->coordinates[i].initial + random_uniform(seed, -RADIUS, RADIUS);
    double *others = values + s->coordinate_count;
    size_t most = s->coordinate_count > s->constraint_count ? s->coordinate_count : s->constraint_count;
    for (size_t i = 0; i <= most; i++) others[i] = random_uniform(seed, 0.5, 1.5);
    *at = (graph_point){{0}, {0}};
    for (int kind = 0; kind < SYMBOL_KIND_COUNT; kind++) at->values[kind] = others;
    at->values[SYMBOL_PARAMETER] = s->parameter_values;
    at->values[SYMBOL_COORDINATE] = values;
}

/* failed[k] for the conditions that do not hold at a random state; where they have no value, nothing is said. */
static bool test_at_random(const hamel_system *s, const cyclic_conditions *list, bool *failed) {
    size_t count = graph_count(s->graph), symbols = 2 * s->coordinate_count + s->constraint_count + 1;
    double *value = malloc((2 * count + symbols + 1) * sizeof *value), *error = value ? value + count : NULL;
    uint64_t seed = 0x2545f4914f6cdd1du;
    for (int point = 0; value && point < POINTS; point++) {
        graph_point at;
        random_point(s, &seed, error + count, &at);
        graph_evaluate(s->graph, (graph_node)(count - 1), &at, value, error);
        for (size_t k = 0; k < list->count; k++)
            if (fabs(value[list->items[k].node]) > 8 * error[list->items[k].node]) failed[k] = true;
    }
    free(value);
    return value != NULL;
}

static bool prove(hamel_system *s, const cyclic_conditions *list, bool *failed, const bool *refuted) {
    arena scratch;
    arena_init(&scratch, s->limits->memory);
    for (size_t k = 0; k < list->count && !system_interrupted(s); k++) {
        if (failed[k] || refuted[list->items[k].coordinate]) continue;
        graph_node node = arrange(s->graph, list->items[k].node, &scratch);
        failed[k] = node < 0 || !graph_is_zero(s->graph, node);
    }
    arena_free(&scratch);
    return s->error->status == HAMEL_OK && graph_status(s->graph) == HAMEL_OK;
}

/* Which coordinates some failed condition speaks of. */
static void collect(const cyclic_conditions *list, const bool *failed, bool *refuted) {
    for (size_t k = 0; k < list->count; k++)
        if (failed[k]) refuted[list->items[k].coordinate] = true;
}

/* --- why there is none --------------------------------------------------------------------------------------------- */

static bool contains(hamel_system *s, const graph_node *terms, size_t count, int32_t i) {
    for (size_t k = 0; k < count; k++)
        if (!graph_is_zero(s->graph, graph_partial(s->graph, terms[k], s->q[i]))) return true;
    return false;
}

static void add_reason(hamel_system *s, const cyclic_condition *c, text_buffer *out) {
    const char *constraint =
        c->where >= 0 && (size_t)c->where < s->constraint_count ? s->constraints[c->where].name : "";
    bool kinetic = contains(s, s->kinetic, s->kinetic_count, c->coordinate);
    bool potential = contains(s, s->potential, s->potential_count, c->coordinate);
    switch (c->place) {
    case CYCLIC_IN_LAGRANGIAN:
        text_buffer_printf(out, "appears in the %s",
                           s->lagrangian >= 0     ? "lagrangian"
                           : !potential           ? "kinetic energy"
                           : kinetic && potential ? "energies"
                                                  : "potential energy");
        break;
    case CYCLIC_IN_ACCELERATION_ENERGY: text_buffer_printf(out, "appears in the acceleration energy"); break;
    case CYCLIC_IN_FORCE: text_buffer_printf(out, "appears in the force on `%s`", s->coordinates[c->where].name); break;
    case CYCLIC_IN_CONSTRAINT: text_buffer_printf(out, "appears in the constraint `%s`", constraint); break;
    case CYCLIC_FORCED: text_buffer_printf(out, "is moved by a force"); break;
    case CYCLIC_CONSTRAINED: text_buffer_printf(out, "is moved by the constraint `%s`", constraint); break;
    }
}

/* Places of failure of each coordinate, as bits. */
static unsigned *places_of(hamel_system *s, const cyclic_conditions *list, const bool *failed) {
    unsigned *places = arena_alloc(s->memory, s->coordinate_count, sizeof *places);
    for (size_t k = 0; places && k < list->count; k++)
        if (failed[k]) places[list->items[k].coordinate] |= 1u << list->items[k].place;
    return places;
}

static int count_bits(unsigned bits) {
    int count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
}

/* "`x` appears in the potential energy and is moved by a force": one clause a place. */
static void describe(hamel_system *s, const cyclic_conditions *list, const bool *failed, int32_t i, text_buffer *out) {
    unsigned told = 0;
    text_buffer_printf(out, "`%s` ", s->coordinates[i].name);
    for (size_t k = 0; k < list->count; k++) {
        const cyclic_condition *c = &list->items[k];
        if (!failed[k] || c->coordinate != i || (told & (1u << c->place))) continue;
        if (told) text_buffer_printf(out, " and ");
        told |= 1u << c->place;
        add_reason(s, c, out);
    }
}

/* Those that come closest, by the number of places that they would have to be absent from. */
static hamel_status refuse(hamel_system *s, const cyclic_conditions *list, const bool *failed) {
    unsigned *places = places_of(s, list, failed);
    text_buffer text;
    int shown = 0;
    text_buffer_init(&text, 4096);
    text_buffer_printf(&text, "no momentum of a cyclic coordinate is conserved: ");
    for (int bits = 1; places && bits <= 8; bits++)
        for (size_t i = 0; i < s->coordinate_count && shown < NEAREST; i++) {
            if (count_bits(places[i]) != bits) continue;
            if (shown++) text_buffer_printf(&text, "; ");
            describe(s, list, failed, (int32_t)i, &text);
        }
    hamel_status status = text.bytes && !text.failed && places
                              ? formulation_refuse(&formulation_routh, s, text.bytes)
                              : hamel_fail(s->error, HAMEL_NO_MEMORY, "", 0, "no memory for the equations");
    text_buffer_free(&text);
    return status;
}

/* --- derivation ---------------------------------------------------------------------------------------------------- */

static hamel_status find_cyclic(hamel_equations *e) {
    hamel_system *s = e->system;
    cyclic_conditions list = {0};
    if (!cyclic_list(&list, e)) return equations_status(s);
    bool *failed = arena_alloc(s->memory, list.count, sizeof *failed);
    bool *refuted = arena_alloc(s->memory, e->n, sizeof *refuted);
    e->cyclic = arena_alloc(s->memory, e->n, sizeof *e->cyclic);
    if (!failed || !refuted || !e->cyclic || !test_at_random(s, &list, failed))
        return hamel_fail(s->error, HAMEL_NO_MEMORY, "", 0, "no memory for the equations");
    collect(&list, failed, refuted);
    if (!prove(s, &list, failed, refuted)) return equations_status(s);
    collect(&list, failed, refuted);
    bool any = false;
    for (size_t i = 0; i < e->n; i++) {
        e->cyclic[i] = !refuted[i];
        any = any || e->cyclic[i];
    }
    return any ? HAMEL_OK : refuse(s, &list, failed);
}

static hamel_status derive(hamel_equations *e) {
    hamel_status status = lagrange_derive(e);
    return status == HAMEL_OK ? find_cyclic(e) : status;
}

const formulation formulation_routh = {
    "routh",
    "Routh's equations: velocities of cyclic coordinates are eliminated by their momenta",
    SOLVER_MULTIPLIERS,
    VARIABLES_NONCYCLIC,
    NEED_LAGRANGIAN | NEED_NONLINEAR_CONSTRAINTS,
    derive,
};
