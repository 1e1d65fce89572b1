/* formulation.c — the table of formulations. */
#include "engine/mechanics/formulation.h"

#include "engine/base/text_buffer.h"

#include <string.h>

enum { DENSE_MOST = 500 }; /* coordinates */

static const formulation *const formulations[] = {
    &formulation_lagrange,        &formulation_udwadia_kalaba, &formulation_gauss,
    &formulation_maggi,           &formulation_kane,           &formulation_gibbs_appell,
    &formulation_boltzmann_hamel, &formulation_hamilton,       &formulation_routh};
enum { FORMULATION_COUNT = sizeof formulations / sizeof *formulations };

const formulation *formulation_at(size_t index) {
    return index < FORMULATION_COUNT ? formulations[index] : NULL;
}

const formulation *formulation_named(const char *name) {
    /* Multipliers allow redundant constraints and are cheap to solve for: over the 162 shipped examples that both
     * serve, runs by Maggi's and Kane's equations take 1.4 times as long in the median, by Boltzmann and Hamel's 1.6 times.
     * Formulations in quasi-velocities are faster by more than a tenth in one example, whose constraints are redundant. */
    if (!name || strcmp(name, "auto") == 0) return &formulation_lagrange;
    for (size_t i = 0; i < FORMULATION_COUNT; i++)
        if (strcmp(formulations[i]->name, name) == 0) return formulations[i];
    return NULL;
}

static const char *const reasons[] = {
#define X(name, reason) reason,
    FORMULATION_NEED_LIST(X)
#undef X
};

static bool has_nonlinear_constraint(hamel_system *s) {
    for (size_t c = 0; c < s->constraint_count; c++) {
        int32_t *list;
        if (s->constraints[c].order != CONSTRAINT_VELOCITY) continue;
        size_t count = node_support(s, s->constraints[c].equation, SYMBOL_VELOCITY, &list);
        for (size_t i = 0; i < count; i++) {
            graph_node slope = graph_partial(s->graph, s->constraints[c].equation, s->v[list[i]]);
            if (graph_depends(s->graph, slope) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) return true;
        }
    }
    return false;
}

static unsigned needs_of(hamel_system *s) {
    unsigned needs = 0;
    if (s->lagrangian >= 0) needs |= NEED_LAGRANGIAN;
    if (s->acceleration_energy >= 0) needs |= NEED_ACCELERATION_ENERGY;
    if (s->coordinate_count > DENSE_MOST) needs |= NEED_SIZE;
    if (has_nonlinear_constraint(s)) needs |= NEED_NONLINEAR_CONSTRAINTS;
    return needs;
}

static hamel_status refuse_needs(const formulation *f, hamel_system *s, unsigned needs, const char *reason) {
    const char *pointer = s->description->simulation.formulation_pointer;
    text_buffer names;
    text_buffer_init(&names, 1024);
    for (size_t i = 0; i < FORMULATION_COUNT; i++)
        if (formulations[i] != f && !(needs & ~formulations[i]->serves))
            text_buffer_printf(&names, "%s%s", names.length ? ", " : "", formulations[i]->name);
    (void)hamel_fail(s->error, HAMEL_INVALID, pointer ? pointer : "/simulation/formulation", 0,
                     "the formulation `%s` does not support this system: %s", f->name, reason);
    if (names.bytes && !names.failed) hamel_suggest(s->error, "use one of %s", names.bytes);
    text_buffer_free(&names);
    return s->error->status;
}

hamel_status formulation_serves(const formulation *f, hamel_system *s) {
    if (f->serves == NEED_ANY) return HAMEL_OK;
    unsigned needs = needs_of(s), unmet = needs & ~f->serves;
    for (size_t k = 0; k < NEED_COUNT; k++)
        if (unmet & (1u << k)) return refuse_needs(f, s, needs, reasons[k]);
    return equations_status(s);
}

hamel_status formulation_refuse(const formulation *f, hamel_system *s, const char *reason) {
    return refuse_needs(f, s, needs_of(s), reason);
}

const char *hamel_formulation_name(size_t index) {
    return index < FORMULATION_COUNT ? formulations[index]->name : NULL;
}
const char *hamel_formulation_summary(size_t index) {
    return index < FORMULATION_COUNT ? formulations[index]->summary : NULL;
}
