/* impulses.c — types of the constraints and degree of indeterminacy of each event with impulses (Papastavridis,
 * Analytical Mechanics, ch. 4, Table 1). The file also finds the theorems of engine/simulate/impact_theorems.c whose
 * hypotheses the description rules out. */
#include "engine/analyze/impulses.h"

#include "engine/analyze/analysis_int.h"
#include "engine/system/binder.h"

#include <assert.h>

typedef struct shock_work {
    analysis *a;
    const system_event *event;
    hamel_shock *out;
    hamel_shock_constraint *list;
    size_t *index; /* index[k]: index in the system of the constraint list[k] */
    hamel_shock_theorem *excluded;
} shock_work;

static bool names_constraint(const int32_t *list, size_t count, size_t c) {
    size_t i = 0;
    while (i < count && (size_t)list[i] != c) i++;
    return i < count;
}

/* Stores in *on whether constraint c may be active when the event happens for the first time, and in *off whether it
 * may be inactive. */
static void find_before(const shock_work *w, size_t c, bool *on, bool *off) {
    const hamel_system *s = w->a->system;
    *off = s->constraints[c].inactive;
    *on = !*off;
    for (size_t i = 0; i < s->event_count; i++) {
        const system_event *e = &s->events[i];
        if (e == w->event) continue;
        if (names_constraint(e->deactivate, e->deactivate_count, c)) *off = true;
        if (names_constraint(e->activate, e->activate_count, c)) *on = true;
    }
}

/* Appends constraint c to w->list if it can act during the impulses of the event. */
static void list_constraint(shock_work *w, size_t c) {
    const hamel_system *s = w->a->system;
    const system_event *e = w->event;
    bool struck = names_constraint(e->impulses, e->impulse_count, c), on, off;
    bool leaves = names_constraint(e->deactivate, e->deactivate_count, c),
         joins = names_constraint(e->activate, e->activate_count, c);
    if (s->constraints[c].order == CONSTRAINT_ACCELERATION) return;
    find_before(w, c, &on, &off);
    if (!struck && (c >= s->named_count || !on || leaves)) return;
    w->index[w->out->constraint_count] = c;
    hamel_shock_constraint *to = &w->list[w->out->constraint_count++];
    *to = (hamel_shock_constraint){.name = arena_format(w->a->memory, "%s", s->constraints[c].name),
                                   .certain = struck || !off};
    if (struck && off) to->types[to->type_count++] = model_impact_type(false, joins);
    if (on) to->types[to->type_count++] = model_impact_type(true, joins || !leaves);
    if (!to->certain) return;
    w->out->impulses++;
    w->out->equations += to->types[0] <= 2;
}

/* --- theorems ----------------------------------------------------------------------------------------------------- */

/* Returns true if the velocity form of constraint c contains terms without velocities. */
static bool moves(shock_work *w, size_t c, const graph_node *zeros) {
    hamel_system *s = w->a->system;
    graph_node rate = s->constraints[c].equation;
    if (s->constraints[c].order == CONSTRAINT_HOLONOMIC) rate = graph_rate(s->graph, rate);
    return !graph_is_zero(s->graph, graph_substitute(s->graph, rate, SYMBOL_VELOCITY, zeros, s->coordinate_count));
}

/* Reasons that exclude theorems. Each reason that does not apply is NULL. */
typedef struct exclusion {
    const char *given, *none, *moving, *passing, *not_first, *persistent, *general;
} exclusion;

static const char *name_reason(const shock_work *w, size_t k, const char *text) {
    return arena_format(w->a->memory, "`%s` %s", w->list[k].name, text);
}

static bool look_at_shock(shock_work *w, exclusion *x) {
    hamel_system *s = w->a->system;
    const graph_node *zeros = node_array(s, s->coordinate_count);
    if (!zeros) return false;
    *x = (exclusion){.persistent = "all constraints persist; carnot_first applies instead"};
    if (w->out->percussion_count > 0)
        x->given = "the event has a percussion";
    else
        x->none = "the event has no percussion";
    if (s->acceleration_energy >= 0) x->general = "the description has no kinetic energy";
    for (size_t c = 0; c < s->named_count; c++)
        if (s->constraints[c].order == CONSTRAINT_VELOCITY && !binder_is_linear(s, s->constraints[c].equation))
            x->general = arena_format(w->a->memory, "`%s` is not linear in the velocities", s->constraints[c].name);
    for (size_t k = 0; k < w->out->constraint_count; k++) {
        const hamel_shock_constraint *at = &w->list[k];
        if (at->certain && moves(w, w->index[k], zeros)) x->moving = name_reason(w, k, "moves");
        if (at->type_count == 1 && at->types[0] > 2) x->passing = name_reason(w, k, "does not persist");
        if (at->type_count == 1 && at->types[0] > 1) x->not_first = name_reason(w, k, "is not of type 1");
        if (at->types[0] > 2 || at->types[at->type_count - 1] > 2) x->persistent = NULL;
    }
    return graph_status(s->graph) == HAMEL_OK;
}

/* Lists a theorem as excluded, with the first reason that is not NULL. If all reasons are NULL, lists it as
 * applicable. */
static void list_theorem(shock_work *w, const char *name, const char *first, const char *second, const char *third) {
    const char *reason = first ? first : second ? second : third;
    if (reason)
        w->excluded[w->out->excluded_count++] = (hamel_shock_theorem){name, reason};
    else
        w->out->theorems.items[w->out->theorems.count++] = name;
}

static bool find_theorems(shock_work *w) {
    enum { THEOREMS = 6 };
    exclusion x;
    w->out->theorems.items = arena_alloc(w->a->memory, THEOREMS, sizeof *w->out->theorems.items);
    w->out->excluded = w->excluded = arena_alloc(w->a->memory, THEOREMS, sizeof *w->excluded);
    if (!w->out->theorems.items || !w->excluded || !look_at_shock(w, &x)) return false;
    const char *carnot = x.general ? x.general : x.moving;
    list_theorem(w, "carnot_first", carnot, x.given, x.passing);
    list_theorem(w, "carnot_second", carnot, x.none, NULL);
    list_theorem(w, "carnot_third", carnot, x.given, x.persistent);
    list_theorem(w, "kelvin", x.general, x.none, x.not_first);
    list_theorem(w, "bertrand_delaunay", carnot, x.none, x.passing);
    list_theorem(w, "robin", x.general, NULL, NULL);
    assert(w->out->theorems.count + w->out->excluded_count == THEOREMS);
    return !w->a->memory->failed;
}

/* --- result ------------------------------------------------------------------------------------------------------- */

static hamel_status find_shocks(analysis *a, void *result, void *context) {
    hamel_shocks *to = result;
    (void)context;
    hamel_status status = analysis_open(a);
    if (status != HAMEL_OK) return status;
    const hamel_system *s = a->system;
    to->items = arena_alloc(a->memory, s->event_count, sizeof *to->items);
    if (!to->items) return analysis_no_memory(a);
    for (size_t i = 0; i < s->event_count; i++) {
        const system_event *e = &s->events[i];
        if (e->impulse_count == 0 && e->percussion_count == 0) continue;
        hamel_shock *out = &to->items[to->count++];
        shock_work w = {.a = a, .event = e, .out = out};
        w.list = arena_alloc(a->memory, s->constraint_count, sizeof *w.list);
        w.index = arena_alloc(a->memory, s->constraint_count, sizeof *w.index);
        *out = (hamel_shock){.event = arena_format(a->memory, "%s", e->name),
                             .percussion_count = e->percussion_count,
                             .constraints = w.list,
                             .velocities = a->n,
                             .equations = a->n};
        if (!w.list || !w.index || !out->event) return analysis_no_memory(a);
        for (size_t c = 0; c < s->constraint_count; c++) list_constraint(&w, c);
        if (!find_theorems(&w)) return analysis_stopped(a);
    }
    return HAMEL_OK;
}

hamel_status hamel_find_shocks(hamel_shocks **out, const hamel_description *d, const hamel_limits *limits,
                               hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, find_shocks, NULL, out);
}

void hamel_shocks_free(hamel_shocks *shocks) {
    analysis_result_free(shocks);
}
