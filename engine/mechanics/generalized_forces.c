/* generalized_forces.c — lists the forces on the coordinates, ordered by the element that causes them. */
#include "engine/mechanics/generalized_forces.h"

typedef struct collector {
    hamel_equations *equations;
    arena *memory;
    graph_node *on;   /* n: forces of the current origin, or GRAPH_NONE */
    int32_t *touched; /* coordinates on which the current origin acts, in the order in which their forces were found */
    size_t touched_count;
    generalized_force *all;
    size_t count, capacity;
} collector;

static void collect_part(collector *c, int32_t i, graph_node force) {
    graph *g = c->equations->system->graph;
    if (graph_is_zero(g, force)) return;
    if (c->on[i] < 0) c->touched[c->touched_count++] = i;
    c->on[i] = c->on[i] < 0 ? force : graph_add(g, c->on[i], force);
}

/* Appends the forces collected for one origin to the list; all other fields are copied from `like`. */
static bool finish_origin(collector *c, generalized_force like) {
    generalized_force *all = arena_grow(c->memory, c->all, &c->capacity, c->count + c->touched_count, sizeof *all);
    if (!all || !like.origin) return false;
    c->all = all;
    for (size_t k = 0; k < c->touched_count; k++) {
        like.coordinate = c->touched[k];
        like.node = c->on[like.coordinate];
        all[c->count++] = like;
        c->on[like.coordinate] = GRAPH_NONE;
    }
    c->touched_count = 0;
    return true;
}

static bool collect_action(collector *c, const system_action *action) {
    hamel_system *s = c->equations->system;
    graph *g = s->graph;
    int32_t *list;
    if (action->potential < 0) {
        collect_part(c, action->coordinate, action->force);
        return true;
    }
    size_t count = node_support(s, action->potential, SYMBOL_COORDINATE, &list);
    for (size_t k = 0; k < count; k++)
        collect_part(c, list[k], graph_neg(g, graph_partial(g, action->potential, s->q[list[k]])));
    return graph_status(g) == HAMEL_OK;
}

static bool collect_actions(collector *c) {
    const hamel_system *s = c->equations->system;
    for (size_t k = 0; k < s->action_count; k++) {
        const char *origin = s->actions[k].origin;
        bool last = k + 1 == s->action_count || s->actions[k + 1].origin != origin;
        if (!collect_action(c, &s->actions[k])) return false;
        if (last && !finish_origin(c, (generalized_force){.origin = origin, .friction = -1})) return false;
    }
    return true;
}

static bool collect_dissipation(collector *c) {
    hamel_system *s = c->equations->system;
    graph *g = s->graph;
    for (size_t i = 0; i < s->coordinate_count; i++)
        collect_part(c, (int32_t)i, graph_neg(g, graph_partial(g, s->dissipation, s->v[i])));
    return finish_origin(c, (generalized_force){.origin = "dissipation", .friction = -1});
}

static bool collect_prescribed(collector *c) {
    const hamel_equations *e = c->equations;
    for (size_t i = 0; e->nonideal && i < e->n; i++) collect_part(c, (int32_t)i, e->nonideal[i]);
    return finish_origin(c, (generalized_force){.origin = "nonideal", .friction = -1, .prescribed = true});
}

static bool collect_frictions(collector *c) {
    const hamel_equations *e = c->equations;
    hamel_system *s = e->system;
    graph *g = s->graph;
    for (size_t k = 0; k < s->friction_count; k++) {
        int32_t by = s->frictions[k].constraint;
        graph_node pressing = graph_unary(g, GRAPH_ABS, graph_symbol(g, SYMBOL_MULTIPLIER, by));
        for (size_t i = 0; i < e->F.count; i++)
            if ((size_t)e->F.entries[i].column == k)
                collect_part(c, e->F.entries[i].row, graph_mul(g, e->F.entries[i].node, pressing));
        const char *origin = arena_format(c->memory, "friction on %s", s->constraints[by].name);
        if (!finish_origin(c, (generalized_force){.origin = origin, .friction = (int32_t)k})) return false;
    }
    return true;
}

hamel_status generalized_forces_list(hamel_equations *e, arena *memory, generalized_force **list, size_t *count) {
    collector c = {.equations = e,
                   .memory = memory,
                   .on = arena_alloc(memory, e->n, sizeof *c.on),
                   .touched = arena_alloc(memory, e->n, sizeof *c.touched)};
    if (!c.on || !c.touched) return HAMEL_NO_MEMORY;
    for (size_t i = 0; i < e->n; i++) c.on[i] = GRAPH_NONE;
    bool good = collect_actions(&c) && collect_dissipation(&c) && collect_prescribed(&c) && collect_frictions(&c);
    *list = c.all;
    *count = c.count;
    hamel_status status = equations_status(e->system);
    return status != HAMEL_OK ? status : good ? HAMEL_OK : HAMEL_NO_MEMORY;
}
