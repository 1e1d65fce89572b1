/* jerk.c — compiles the right-hand sides of the equations for q''' (engine/dynamics/jerk.h). */
#include "engine/model/model.h"

#include <assert.h>

static hamel_status refuse_jerk(const hamel_model *model, const char *pointer, const char *why, const char *remedy) {
    (void)hamel_fail(model->system->error, HAMEL_INVALID, pointer, 0, "rates of accelerations are not available %s",
                     why);
    hamel_suggest(model->system->error, "%s", remedy);
    return HAMEL_INVALID;
}

static bool contains_jerk(const program *p) {
    return p && (program_depends(p) & GRAPH_DEPENDS(SYMBOL_JERK));
}

hamel_status model_compile_jerk(hamel_model *model, const hamel_equations *e) {
    hamel_system *s = model->system;
    const size_t count = e->n + e->m;
    if (contains_jerk(model->events.roots) || contains_jerk(model->events.jumps))
        return refuse_jerk(model, "/events", "in events",
                           "use jerk(), path_torsion() and der() of accelerations in outputs only");
    if (contains_jerk(model->observation.integrands))
        return refuse_jerk(model, model->observation.integral_pointers[0], "in integrals over time",
                           "use jerk(), path_torsion() and der() of accelerations outside of integrals");
    if (!contains_jerk(model->observation.program)) return HAMEL_OK;
    if (e->reaction_shift)
        return refuse_jerk(model, "/simulation/formulation",
                           "in this formulation, whose forces agree with Lagrange's only on the constraints",
                           "use the formulation lagrange");
    assert(e->F.count == 0 && e->W.count == 0 && !e->nonideal);
    graph_node *nodes = arena_alloc(&model->memory, count, sizeof *nodes);
    if (!nodes) return equations_exhausted(s);
    for (size_t i = 0; i < count; i++) nodes[i] = graph_neg(s->graph, graph_rate(s->graph, e->residual[i]));
    if (graph_status(s->graph) != HAMEL_OK) return equations_status(s);
    return model_compile(model, &model->observation.jerk, nodes, count);
}
