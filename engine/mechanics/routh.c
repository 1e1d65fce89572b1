/* routh.c — Routh's equations: the velocities of cyclic coordinates are eliminated by their conserved momenta.
 *
 *     p_c = ∂L/∂q'_c = β_c,     R(q, q', t; β) = L − Σ β_c q'_c with q'_c(q, q', t; β)      Greenwood 2.4; Talamucci 23
 *     d/dt ∂R/∂q'_i − ∂R/∂q_i = Q_i + Σ λ_c A_ci      for the coordinates that are not cyclic
 *
 * In R, the term with β acts like a potential: in a central field, R = ½ m r'² − β²/(2 m r²) − V. R is stationary in
 * q'_c, so ∂R/∂q'_i = ∂L/∂q'_i and ∂R/∂q_i = ∂L/∂q_i. The equations are therefore Lagrange's, with the q'_c that belong
 * to β. The cyclic rows are d/dt p_c = 0. Lagrange's equations are solved unchanged. The state consists of q and the
 * velocities of the coordinates that are not cyclic (engine/dynamics/noncyclic.c). The momenta of cyclic coordinates
 * are exactly constant.
 *
 * A coordinate must be cyclic everywhere, not only at the initial state, where a force may vanish. Each condition is
 * therefore shown to be 0 identically (engine/algebra/identity.h). */
#include "engine/algebra/identity.h"
#include "engine/base/text_buffer.h"
#include "engine/mechanics/cyclic.h"
#include "engine/mechanics/formulation.h"

#include <math.h>
#include <stdlib.h>

enum { NEAREST = 3 };

/* Sets failed[k] for the conditions that are not identically 0. */
static bool find_failed(hamel_system *s, const cyclic_conditions *list, bool *failed) {
    arena scratch;
    arena_init(&scratch, s->limits->memory);
    graph_node *nodes = arena_alloc(&scratch, list->count, sizeof *nodes);
    for (size_t k = 0; nodes && k < list->count; k++) nodes[k] = list->items[k].node;
    bool found = nodes && identity_find_zeros(s->graph, nodes, list->count, failed, &scratch);
    for (size_t k = 0; found && k < list->count; k++) failed[k] = !failed[k];
    arena_free(&scratch);
    return found && !system_interrupted(s);
}

static bool depends_on_coordinate(hamel_system *s, const graph_node *terms, size_t count, int32_t i) {
    for (size_t k = 0; k < count; k++)
        if (!graph_is_zero(s->graph, graph_partial(s->graph, terms[k], s->q[i]))) return true;
    return false;
}

static void add_reason(hamel_system *s, const cyclic_condition *c, text_buffer *out) {
    const char *constraint =
        c->where >= 0 && (size_t)c->where < s->constraint_count ? s->constraints[c->where].name : "";
    bool kinetic = depends_on_coordinate(s, s->kinetic, s->kinetic_count, c->coordinate);
    bool potential = depends_on_coordinate(s, s->potential, s->potential_count, c->coordinate);
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
    case CYCLIC_FORCED: text_buffer_printf(out, "is driven by a force"); break;
    case CYCLIC_CONSTRAINED: text_buffer_printf(out, "is driven by the constraint `%s`", constraint); break;
    }
}

/* Prints a sentence such as "`x` appears in the potential energy and is driven by a force", with one clause per
 * place. */
static void describe_coordinate(hamel_system *s, const cyclic_conditions *list, const bool *failed, int32_t i,
                                text_buffer *out) {
    unsigned shown = 0;
    text_buffer_printf(out, "`%s` ", s->coordinates[i].name);
    for (size_t k = 0; k < list->count; k++) {
        const cyclic_condition *c = &list->items[k];
        if (!failed[k] || c->coordinate != i || (shown & (1u << c->place))) continue;
        if (shown) text_buffer_printf(out, " and ");
        shown |= 1u << c->place;
        add_reason(s, c, out);
    }
}

/* Reports the coordinates with the fewest kinds of failed conditions; places[i] has a bit for each kind that fails. */
static hamel_status refuse_routh(hamel_system *s, const cyclic_conditions *list, const bool *failed,
                                 const unsigned *places) {
    text_buffer text;
    int shown = 0;
    text_buffer_init(&text, 4096);
    text_buffer_printf(&text, "no momentum of a cyclic coordinate is conserved: ");
    for (int bits = 1; bits <= 8; bits++)
        for (size_t i = 0; i < s->coordinate_count && shown < NEAREST; i++) {
            if (__builtin_popcount(places[i]) != bits) continue;
            if (shown++) text_buffer_printf(&text, "; ");
            describe_coordinate(s, list, failed, (int32_t)i, &text);
        }
    hamel_status status =
        text.bytes && !text.failed ? formulation_refuse(&formulation_routh, s, text.bytes) : equations_exhausted(s);
    text_buffer_free(&text);
    return status;
}

hamel_status routh_derive(hamel_equations *e) {
    hamel_system *s = e->system;
    cyclic_conditions list = {0};
    hamel_status status = lagrange_derive(e);
    if (status != HAMEL_OK) return status;
    if (!cyclic_list(&list, e)) return equations_status(s);
    bool *failed = arena_alloc(s->memory, list.count, sizeof *failed);
    unsigned *places = arena_alloc(s->memory, e->n, sizeof *places);
    e->cyclic = arena_alloc(s->memory, e->n, sizeof *e->cyclic);
    if (!failed || !places || !e->cyclic || !find_failed(s, &list, failed)) return equations_exhausted(s);
    for (size_t k = 0; k < list.count; k++)
        if (failed[k]) places[list.items[k].coordinate] |= 1u << list.items[k].place;
    bool any = false;
    for (size_t i = 0; i < e->n; i++) any |= e->cyclic[i] = places[i] == 0;
    return any ? HAMEL_OK : refuse_routh(s, &list, failed, places);
}
