/* system.c — translates a description to a checked system, section by section.
 *
 * Names (parameters, coordinates, definitions, elements) are declared before expressions are bound, so that expressions
 * may refer to each other in any order. Errors in one section do not prevent the check of the next, so that all errors
 * are reported together. Elements without a name or expression are skipped, since the reader has reported them. */
#include "engine/system/elements.h"
#include "engine/system/units.h"
#include "engine/system/validity.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool system_fail(hamel_system *s, const char *pointer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = hamel_text(format, arguments);
    va_end(arguments);
    (void)(text ? hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "%s", text) : hamel_out_of_memory(s->error));
    free(text);
    return false;
}

void *binder_grow(hamel_system *s, void *items, size_t *capacity, size_t count, size_t size, const char *pointer) {
    assert(!items || count <= *capacity);
    void *grown = arena_grow(s->memory, items, capacity, count + 1, size);
    if (!grown) binder_graph_fault(s, pointer);
    return grown;
}

bool scope_copy(hamel_system *s, const loop_scope *scope, loop_variable **loops, size_t *count) {
    *count = 0;
    *loops = NULL;
    if (!scope || scope->count == 0) return true;
    *loops = arena_alloc(s->memory, scope->count, sizeof **loops);
    if (!*loops) return binder_graph_fault(s, "");
    memcpy(*loops, scope->variables, scope->count * sizeof **loops);
    *count = scope->count;
    return true;
}

void scope_from(loop_scope *scope, const loop_variable *loops, size_t count) {
    assert(count <= SCOPE_MAX);
    scope->count = count;
    if (count) memcpy(scope->variables, loops, count * sizeof *loops);
}

bool binder_check_name(hamel_system *s, const char *name, const char *pointer) {
    if (syntax_is_name(name, strcspn(name, "["))) return true;
    system_fail(s, pointer, "`%s` is not a name", name);
    return hamel_suggest(s->error, "a name consists of letters, digits and _, and does not start with a digit"), false;
}

static bool name_is_free(hamel_system *s, const char *name, const char *pointer) {
    size_t length = strlen(name), base = strcspn(name, "[");
    if (!binder_check_name(s, name, pointer)) return false;
    if (syntax_is_reserved(name, base)) {
        return system_fail(s, pointer, "`%.*s` is reserved: it has a meaning in expressions", (int)base, name);
    }
    if (symbol_find(&s->binder->quantities, name, length) >= 0) {
        system_fail(s, pointer, "the name `%s` is already used", name);
        return hamel_suggest(s->error, "parameters, coordinates and definitions share one name space"), false;
    }
    return true;
}

/* Checks the form of a name and adds it to the name space of quantities; reports errors at `pointer`. */
static bool declare(hamel_system *s, const char *name, entry_kind kind, size_t index, const char *pointer) {
    if (!name_is_free(s, name, pointer)) return false;
    hamel_status status = symbol_add(&s->binder->quantities, name, strlen(name), entry_make(kind, index), NULL);
    return status == HAMEL_OK || binder_graph_fault(s, pointer);
}

/* Elements of one kind share a name space. */
bool binder_declare_element(hamel_system *s, symbol_table *table, const char *name, size_t index, const char *pointer,
                            const char *kind) {
    hamel_status status = symbol_add(table, name, strlen(name), (int32_t)index, NULL);
    if (status == HAMEL_OK) return true;
    if (status == HAMEL_NO_MEMORY) return binder_graph_fault(s, pointer);
    system_fail(s, pointer, "there are two %s named `%s`", kind, name);
    return false;
}

int32_t binder_add_slot(hamel_system *s, const char *name, const char *pointer, const hamel_expressions *value,
                        system_place place, const loop_scope *scope) {
    system_binder *b = s->binder;
    bind_slot *slots = binder_grow(s, b->slots, &b->slot_capacity, b->slot_count, sizeof *slots, pointer);
    if (!slots) return -1;
    b->slots = slots;
    bind_slot *slot = &slots[b->slot_count];
    *slot =
        (bind_slot){.name = name, .pointer = pointer, .value = value, .place = place, .count = (uint8_t)value->count};
    if (!scope_copy(s, scope, &slot->loops, &slot->loop_count)) return -1;
    return (int32_t)b->slot_count++;
}

/* --- parameters ---------------------------------------------------------------------------------------------------- */

static void declare_parameters(hamel_system *s) {
    const hamel_description *d = s->description;
    system_binder *b = s->binder;
    size_t n = d->parameter_count;
    s->parameter_names = arena_alloc(s->memory, n, sizeof *s->parameter_names);
    s->parameter_units = arena_alloc(s->memory, n, sizeof *s->parameter_units);
    s->parameter_values = arena_alloc(s->memory, n, sizeof *s->parameter_values);
    s->parameter_nodes = arena_alloc(s->memory, n, sizeof *s->parameter_nodes);
    s->parameter_structural = arena_alloc(s->memory, n, sizeof *s->parameter_structural);
    s->parameter_judged = arena_alloc(s->memory, n, sizeof *s->parameter_judged);
    b->parameter_numbers = arena_alloc(s->memory, n, sizeof *b->parameter_numbers);
    hamel_expressions *values = arena_alloc(s->memory, n, sizeof *values);
    if (!s->parameter_names || !s->parameter_units || !s->parameter_values || !s->parameter_nodes ||
        !s->parameter_structural || !s->parameter_judged || !b->parameter_numbers || !values) {
        binder_graph_fault(s, "/parameters");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        hamel_parameter *p = &d->parameters[i];
        values[i] = (hamel_expressions){p->value.pointer, &p->value, 1};
        s->parameter_names[i] =
            arena_text(s->memory, p->name, strlen(p->name)); /* copied: must outlive the description */
        s->parameter_units[i] = p->unit ? arena_text(s->memory, p->unit, strlen(p->unit)) : "";
        if (!s->parameter_names[i]) {
            binder_graph_fault(s, p->pointer);
            return;
        }
        s->parameter_structural[i] = s->parameter_judged[i] = false;
        b->parameter_numbers[i] = GRAPH_NONE;
        if (strchr(p->name, '['))
            system_fail(s, p->pointer, "a parameter's name must not have an index: `%s`", p->name);
        else
            declare(s, p->name, ENTRY_PARAMETER, i, p->pointer);
        if (binder_add_slot(s, p->name, p->value.pointer, &values[i], PLACE_PARAMETERS, NULL) < 0) return;
    }
    s->parameter_count = n;
}

/* Runs after the tables are declared, since parameters may use them. */
static void resolve_parameters(hamel_system *s) {
    for (size_t i = 0; i < s->parameter_count; i++) binder_resolve_slot(s, (int32_t)i);
}

/* --- names of coordinates and elements -------------------------------------------------------------------------- */

static bool within(hamel_system *s, size_t count, size_t limit, const char *pointer, const char *what) {
    if (limit == 0 || count < limit) return true;
    if (s->error->status != HAMEL_LIMIT)
        (void)hamel_fail(s->error, HAMEL_LIMIT, pointer, 0, "more than %zu %s", limit, what);
    return false;
}

static bool declare_coordinate(hamel_system *s, const hamel_coordinate *c, const loop_scope *scope) {
    const char *name = family_member(s, c->name, c->pointer, scope);
    if (!name) return false;
    if (!within(s, s->coordinate_count, s->limits->coordinates, c->pointer, "coordinates")) return false;
    if (!declare(s, name, ENTRY_COORDINATE, s->coordinate_count, c->pointer))
        return false; /* report an error once for the family */
    if (!binder_declare_element(s, &s->binder->coordinates, name, s->coordinate_count, c->pointer, "coordinates"))
        return false;
    system_coordinate *all =
        binder_grow(s, s->coordinates, &s->coordinate_capacity, s->coordinate_count, sizeof *all, c->pointer);
    if (!all) return false;
    s->coordinates = all;
    const char *unit = c->unit ? arena_text(s->memory, c->unit, strlen(c->unit)) : "";
    size_t described = (size_t)(c - s->description->coordinates);
    all[s->coordinate_count++] = (system_coordinate){.name = name, .unit = unit ? unit : "", .described = described};
    return true;
}

static void declare_coordinates(hamel_system *s) {
    const hamel_description *d = s->description;
    family_iterator f;
    for (size_t i = 0; i < d->coordinate_count; i++) {
        if (!d->coordinates[i].name) continue;
        for (family_begin(&f, s, &d->coordinates[i].family); family_next(&f);)
            if (!declare_coordinate(s, &d->coordinates[i], &f.scope)) break;
    }
    size_t n = s->coordinate_count;
    s->q = arena_alloc(s->memory, n, sizeof *s->q);
    s->v = arena_alloc(s->memory, n, sizeof *s->v);
    s->a = arena_alloc(s->memory, n, sizeof *s->a);
    if (!s->q || !s->v || !s->a) {
        binder_graph_fault(s, "/coordinates");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        s->q[i] = graph_symbol(s->graph, SYMBOL_COORDINATE, (int32_t)i);
        s->v[i] = graph_symbol(s->graph, SYMBOL_VELOCITY, (int32_t)i);
        s->a[i] = graph_symbol(s->graph, SYMBOL_ACCELERATION, (int32_t)i);
        s->coordinates[i].force = s->coordinates[i].nonideal = graph_number(s->graph, 0);
    }
    if (n == 0 && s->error->count == 0) system_fail(s, "/coordinates", "the system has no coordinates");
}

static void declare_quasi_velocities(hamel_system *s) {
    const hamel_description *d = s->description;
    s->quasi = arena_alloc(s->memory, d->quasi_velocity_count, sizeof *s->quasi);
    s->binder->quasi_slots = arena_alloc(s->memory, d->quasi_velocity_count, sizeof *s->binder->quasi_slots);
    if (!s->quasi || !s->binder->quasi_slots) {
        binder_graph_fault(s, "/quasi_velocities");
        return;
    }
    for (size_t i = 0; i < d->quasi_velocity_count; i++) {
        const hamel_quasi_velocity *u = &d->quasi_velocities[i];
        if (!u->name || !u->definition.count) continue;
        const char *name = family_name(s, u->name, u->pointer, NULL);
        int32_t slot = name ? binder_add_slot(s, name, u->definition.pointer, &u->definition, PLACE_ENERGY, NULL) : -1;
        if (slot < 0 || !declare(s, name, ENTRY_QUASI, s->quasi_count, u->pointer)) continue;
        s->binder->quasi_slots[s->quasi_count] = slot;
        system_quasi_velocity *at = &s->quasi[s->quasi_count++];
        *at = (system_quasi_velocity){.name = name, .pointer = u->pointer, .initial_node = GRAPH_NONE};
        if (!hamel_expression_given(&u->initial)) continue;
        at->initial_node = system_bind(s, &u->initial, PLACE_PARAMETERS, NULL, SYNTAX_EXPRESSION, NULL);
        if (at->initial_node >= 0) (void)system_node_number(s, &u->initial, at->initial_node, &at->initial);
    }
}

/* Checks that a quasi-velocity is linear in the velocities. */
static void check_quasi_velocity(hamel_system *s, system_quasi_velocity *u, const bind_slot *slot) {
    graph *g = s->graph;
    const int32_t *found;
    if (slot->state != SLOT_BOUND) return;
    u->definition = slot->nodes[0];
    size_t n = graph_support(g, u->definition, SYMBOL_VELOCITY, &found);
    int32_t first = n ? found[0] : -1;
    bool linear = n > 0;
    for (size_t i = 0; i < n && linear; i++) {
        n = graph_support(g, u->definition, SYMBOL_VELOCITY, &found); /* again: adding nodes invalidates the list */
        linear = !(graph_depends(g, graph_partial(g, u->definition, s->v[found[i]])) & GRAPH_DEPENDS(SYMBOL_VELOCITY));
    }
    if (!linear)
        system_fail(s, slot->pointer, "the quasi-velocity `%s` %s", u->name,
                    first < 0 ? "contains no velocity" : "is not linear in the velocities");
}

static void resolve_quasi_velocities(hamel_system *s) {
    for (size_t i = 0; i < s->quasi_count; i++) {
        int32_t slot = s->binder->quasi_slots[i];
        if (binder_resolve_slot(s, slot)) check_quasi_velocity(s, &s->quasi[i], &s->binder->slots[slot]);
    }
}

static void declare_definitions(hamel_system *s) {
    const hamel_named_list *list = &s->description->definitions;
    family_iterator f;
    for (size_t i = 0; i < list->count; i++) {
        const hamel_named *d = &list->items[i];
        if (!d->name || !d->value.count) continue;
        for (family_begin(&f, s, &d->family); family_next(&f);) {
            const char *name = family_member(s, d->name, d->pointer, &f.scope);
            if (!name) break;
            int32_t slot = binder_add_slot(s, name, d->pointer, &d->value, PLACE_DEFINITION, &f.scope);
            if (slot < 0) return;
            if (!declare(s, name, ENTRY_SLOT, (size_t)slot, d->pointer)) break;
        }
    }
}

/* --- quasi-velocities and definitions -------------------------------------------------------------------------------- */

void system_note_continuous(hamel_system *s, graph_node node, const char *pointer, const char *what) {
    if (s->complete || node < 0 || !(graph_depends(s->graph, node) & ~GRAPH_DEPENDS(SYMBOL_PARAMETER))) return;
    system_continuous *all =
        binder_grow(s, s->continuous, &s->continuous_capacity, s->continuous_count, sizeof *all, pointer);
    if (!all) return;
    s->continuous = all;
    all[s->continuous_count++] = (system_continuous){node, pointer, what};
}

graph_node system_rate(hamel_system *s, graph_node node, const char *pointer, const char *what) {
    system_note_continuous(s, node, pointer, what);
    return graph_rate(s->graph, node);
}

/* --- energies ------------------------------------------------------------------------------------------------------ */

static void add_action(hamel_system *s, system_action action) {
    system_action *all = binder_grow(s, s->actions, &s->action_capacity, s->action_count, sizeof *all, "");
    if (!all) return;
    s->actions = all;
    action.origin = s->origin;
    all[s->action_count++] = action;
}

/* Splits a sum into terms, so that each is differentiated only with respect to the symbols it contains. */
void binder_add_energy(hamel_system *s, graph_node node, bool kinetic, const char *pointer) {
    graph_node *terms, **list = kinetic ? &s->kinetic : &s->potential;
    size_t *count = kinetic ? &s->kinetic_count : &s->potential_count;
    size_t *capacity = kinetic ? &s->kinetic_capacity : &s->potential_capacity;
    signed char *signs;
    if (node < 0) return;
    units_note(s, node, pointer, UNIT_ENERGY, 0);
    if (!kinetic) add_action(s, (system_action){.potential = node, .force = GRAPH_NONE});
    size_t n = graph_terms(s->graph, node, s->memory, &terms, &signs);
    if (n == 0) binder_graph_fault(s, pointer);
    for (size_t i = 0; i < n; i++) {
        graph_node *grown = binder_grow(s, *list, capacity, *count, sizeof *grown, pointer);
        if (!grown) return;
        *list = grown;
        grown[(*count)++] = signs[i] < 0 ? graph_neg(s->graph, terms[i]) : terms[i];
    }
}

static void bind_energies(hamel_system *s) {
    const hamel_description *d = s->description;
    for (size_t i = 0; i < d->kinetic_energy.count; i++) {
        const hamel_expression *e = &d->kinetic_energy.items[i];
        binder_add_energy(s, system_bind(s, e, PLACE_ENERGY, NULL, SYNTAX_EXPRESSION, NULL), true, e->pointer);
    }
    s->origin = "potential_energy";
    for (size_t i = 0; i < d->potential_energy.count; i++) {
        const hamel_expression *e = &d->potential_energy.items[i];
        binder_add_energy(s, system_bind(s, e, PLACE_ENERGY, NULL, SYNTAX_EXPRESSION, NULL), false, e->pointer);
    }
    s->kinetic_given = s->kinetic_count;
    s->potential_given = s->potential_count;
    s->acceleration_energy = system_bind(s, &d->acceleration_energy, PLACE_CONSTRAINT, NULL, SYNTAX_EXPRESSION, NULL);
    s->lagrangian = system_bind(s, &d->lagrangian, PLACE_ENERGY, NULL, SYNTAX_EXPRESSION, NULL);
    units_note(s, s->acceleration_energy, d->acceleration_energy.pointer, UNIT_ACCELERATED, 0);
    units_note(s, s->lagrangian, d->lagrangian.pointer, UNIT_ENERGY, 0);
    bool both = hamel_expression_given(&d->lagrangian) && (d->kinetic_energy.count || d->potential_energy.count);
    if (both) {
        system_fail(s, d->lagrangian.pointer, "a lagrangian replaces the energies; give one or the other");
        hamel_suggest(s->error, "give either lagrangian, or kinetic_energy and potential_energy");
    }
    if (hamel_expression_given(&d->acceleration_energy) &&
        (d->kinetic_energy.count || hamel_expression_given(&d->lagrangian))) {
        system_fail(s, d->acceleration_energy.pointer,
                    "an acceleration energy replaces the kinetic energy or lagrangian; give one of them");
    }
    bool moves = d->kinetic_energy.count || hamel_expression_given(&d->lagrangian) ||
                 hamel_expression_given(&d->acceleration_energy);
    if (!moves && !d->particle_count && !d->body_count) {
        system_fail(s, "", "the system has no kinetic energy");
        hamel_suggest(s->error, "give kinetic_energy, lagrangian, particles or bodies");
    }
}

/* --- constraints --------------------------------------------------------------------------------------------------- */

bool binder_add_constraint(hamel_system *s, const char *name, const char *pointer, size_t *index) {
    if (!within(s, s->constraint_count, s->limits->constraints, pointer, "constraints")) return false;
    if (!binder_declare_element(s, &s->binder->constraints, name, s->constraint_count, pointer, "constraints"))
        return false;
    return binder_add_row(s, name, pointer, index);
}

bool binder_add_row(hamel_system *s, const char *name, const char *pointer, size_t *index) {
    system_constraint *all =
        binder_grow(s, s->constraints, &s->constraint_capacity, s->constraint_count, sizeof *all, pointer);
    const char *kept = arena_text(s->memory, pointer, strlen(pointer)); /* copied: must outlive the description */
    if (!all || !kept) return false;
    s->constraints = all;
    *index = s->constraint_count++;
    all[*index] = (system_constraint){.name = name, .pointer = kept, .equation = GRAPH_NONE};
    return true;
}

static bool declare_constraint(hamel_system *s, const hamel_constraint *c, const loop_scope *scope) {
    size_t index;
    const char *name = family_member(s, c->name, c->pointer, scope);
    if (!name) return false;
    if (!binder_add_constraint(s, name, c->equation.pointer, &index)) return s->error->status != HAMEL_LIMIT;
    s->constraints[index].written = &c->equation;
    s->constraints[index].described = c;
    s->constraints[index].inactive = c->inactive;
    return scope_copy(s, scope, &s->constraints[index].loops, &s->constraints[index].loop_count);
}

static void declare_those(hamel_system *s, bool inactive) {
    const hamel_description *d = s->description;
    family_iterator f;
    for (size_t i = 0; i < d->constraint_count; i++) {
        if (d->constraints[i].inactive != inactive) continue;
        if (!d->constraints[i].name || !hamel_expression_given(&d->constraints[i].equation)) continue;
        for (family_begin(&f, s, &d->constraints[i].family); family_next(&f);)
            if (!declare_constraint(s, &d->constraints[i], &f.scope)) break;
    }
}

/* Declares names before equations are bound, since forces and definitions may contain multipliers. */
static void declare_constraints(hamel_system *s) {
    declare_those(s, false);
}

static void declare_inactive_constraints(hamel_system *s) {
    s->standing_count = s->constraint_count;
    declare_those(s, true);
}

/* The symbols in the equation determine the order of the constraint. */
void binder_set_equation(hamel_system *s, size_t index, graph_node f) {
    assert(index < s->constraint_count);
    const unsigned moving =
        GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY) | GRAPH_DEPENDS(SYMBOL_ACCELERATION);
    system_constraint *c = &s->constraints[index];
    unsigned depends = graph_depends(s->graph, f);
    c->equation = f;
    c->order = depends & GRAPH_DEPENDS(SYMBOL_ACCELERATION) ? CONSTRAINT_ACCELERATION
               : depends & GRAPH_DEPENDS(SYMBOL_VELOCITY)   ? CONSTRAINT_VELOCITY
                                                            : CONSTRAINT_HOLONOMIC;
    if (f < 0 || (depends & moving)) return;
    if (c->written)
        system_fail(s, c->pointer, "the constraint `%s` contains no coordinate", c->name);
    else if (!graph_is_zero(s->graph, f)) /* 0 = 0, an element's equation without coordinates, holds */
        system_fail(s, c->pointer, "the constraint `%s` contains no coordinate and does not hold", c->name);
}

static void bind_constraints(hamel_system *s) {
    for (size_t i = 0; i < s->constraint_count; i++) {
        const system_constraint *c = &s->constraints[i];
        loop_scope scope;
        if (!c->written) continue; /* added by an element, with its equation */
        scope_from(&scope, c->loops, c->loop_count);
        binder_set_equation(s, i, system_bind(s, c->written, PLACE_CONSTRAINT, &scope, SYNTAX_EQUATION, NULL));
    }
}

void binder_add_force(hamel_system *s, int32_t i, graph_node force) {
    assert(0 <= i && (size_t)i < s->coordinate_count);
    s->coordinates[i].force = graph_add(s->graph, s->coordinates[i].force, force);
    add_action(s, (system_action){.potential = GRAPH_NONE, .coordinate = i, .force = force});
}

void binder_note_work(hamel_system *s, graph_node force, graph_node along, graph_symbol_kind kind) {
    system_work *all = binder_grow(s, s->works, &s->work_capacity, s->work_count, sizeof *all, "");
    if (!all || force < 0 || along < 0) return;
    s->works = all;
    all[s->work_count++] = (system_work){force, along, kind};
}

/* Binds an expression of parameters, if given: sets its value and node, and notes its required unit. */
static bool bind_value(hamel_system *s, const hamel_expression *e, const loop_scope *scope, unit_rule rule,
                       size_t index, double *value, graph_node *node) {
    *node = GRAPH_NONE;
    if (!hamel_expression_given(e)) return true;
    *node = system_bind(s, e, PLACE_PARAMETERS, scope, SYNTAX_EXPRESSION, NULL);
    if (*node < 0 || !system_node_number(s, e, *node, value)) return false;
    units_note_number(s, e, scope, rule, index);
    return true;
}

static void bind_initial_values(hamel_system *s) {
    const hamel_description *d = s->description;
    family_iterator f;
    for (size_t i = 0; i < d->coordinate_count; i++) {
        const hamel_coordinate *c = &d->coordinates[i];
        if (!c->name) continue;
        for (family_begin(&f, s, &c->family); family_next(&f);) {
            const char *name = family_name(s, c->name, c->pointer, &f.scope);
            int32_t k = name ? system_coordinate_index(s, name) : -1;
            if (k < 0) break;
            system_coordinate *at = &s->coordinates[k];
            at->velocity_given = hamel_expression_given(&c->velocity);
            bool good =
                bind_value(s, &c->initial, &f.scope, UNIT_INITIAL, (size_t)k, &at->initial, &at->initial_node) &&
                bind_value(s, &c->velocity, &f.scope, UNIT_VELOCITY, (size_t)k, &at->velocity, &at->velocity_node);
            if (!good && c->family.count) break; /* report an error once for the family */
        }
    }
}

bool binder_add_output(hamel_system *s, system_output output) {
    if (!within(s, s->output_count, s->limits->outputs, output.pointer, "outputs")) return false;
    system_output *all = binder_grow(s, s->outputs, &s->output_capacity, s->output_count, sizeof *all, output.pointer);
    if (!all) return false;
    s->outputs = all;
    all[s->output_count++] = output;
    return true;
}

static void declare_outputs(hamel_system *s) {
    const hamel_named_list *list = &s->description->outputs;
    family_iterator f;
    for (size_t i = 0; i < list->count; i++) {
        const hamel_named *o = &list->items[i];
        if (!o->name || !o->value.count) continue;
        if (!*o->name) {
            system_fail(s, o->pointer, "the name of an output must not be empty");
            continue;
        }
        for (family_begin(&f, s, &o->family); family_next(&f);) {
            const char *name = o->family.count ? family_member(s, o->name, o->pointer, &f.scope)
                                               : arena_text(s->memory, o->name, strlen(o->name));
            system_output output = {.name = name, .expression = &o->value.items[0]};
            output.pointer = output.expression->pointer;
            if (!name || !scope_copy(s, &f.scope, &output.loops, &output.loop_count)) break;
            if (!binder_add_output(s, output)) break;
        }
    }
}

bool system_interrupted(hamel_system *s) {
    hamel_status asked = hamel_ask(s->poll);
    if (asked == HAMEL_OK) return false;
    hamel_status last = s->error->status;
    if (asked == HAMEL_CANCELED && last != asked)
        (void)hamel_fail(s->error, asked, "", 0, "canceled while the equations were derived");
    if (asked == HAMEL_LIMIT && last != asked)
        (void)hamel_fail(s->error, asked, "", 0, "the equations were not derived within the limit of %s",
                         s->poll->spent);
    return true;
}

static bool is_interrupted(void *system) {
    return system_interrupted(system);
}

static bool create_binder(hamel_system *s) {
    system_binder *b = s->binder = arena_alloc(s->memory, 1, sizeof *b);
    return b && symbol_table_init(&b->quantities, s->memory) == HAMEL_OK &&
           symbol_table_init(&b->coordinates, s->memory) == HAMEL_OK &&
           symbol_table_init(&b->elements, s->memory) == HAMEL_OK &&
           symbol_table_init(&b->links, s->memory) == HAMEL_OK &&
           symbol_table_init(&b->constraints, s->memory) == HAMEL_OK &&
           symbol_table_init(&b->table_names, s->memory) == HAMEL_OK;
}

/* Runs last, so that alternatives do not affect the numbers of the nodes in the equations. */
static void check_alternatives(hamel_system *s) {
    const hamel_expressions *all = &s->description->alternatives;
    for (size_t i = 0; i < all->count && !system_interrupted(s); i++)
        (void)system_bind(s, &all->items[i], PLACE_PARAMETERS, NULL, SYNTAX_EXPRESSION, NULL);
}

static void resolve_slots(hamel_system *s) {
    for (size_t i = s->parameter_count; i < s->binder->slot_count; i++) binder_resolve_slot(s, (int32_t)i);
}

/* The steps of system_create: names before expressions, constraints before forces that contain their reactions. */
typedef void system_step(hamel_system *s);
static system_step *const steps[] = {
    units_declare,        declare_parameters,  tables_declare,           resolve_parameters,
    tables_resolve,       declare_coordinates, declare_quasi_velocities, declare_definitions,
    located_declare,      declare_constraints, joints_declare,           declare_inactive_constraints,
    located_find_parents, resolve_slots,       located_resolve,          resolve_quasi_velocities,
    bind_energies,        joints_lower,        bind_constraints,         elements_lower,
    forces_dissipation,   forces_given,        forces_nonideal,          bind_initial_values,
    frictions_lower,      events_declare,      frictions_add_rows,       declare_outputs,
    scene_lower,          units_check,         validity_check,           warnings_check,
    check_alternatives,
};

/* Returns true for errors that end all checks: exhausted memory, a limit or cancellation. */
static bool is_fatal(hamel_status status) {
    return status == HAMEL_NO_MEMORY || status == HAMEL_LIMIT || status == HAMEL_CANCELED;
}

hamel_status system_create(hamel_system **out, arena *memory, arena *scratch, const hamel_description *d,
                           const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    hamel_system *s = *out = arena_alloc(memory, 1, sizeof *s);
    if (!s) return hamel_out_of_memory(error);
    *s = (hamel_system){.memory = memory,
                        .description = d,
                        .limits = limits,
                        .poll = poll,
                        .error = error,
                        .lagrangian = GRAPH_NONE,
                        .acceleration_energy = GRAPH_NONE};
    s->graph = graph_create(memory, scratch, limits->nodes);
    if (s->graph) graph_watch(s->graph, is_interrupted, s);
    if (!s->graph || !create_binder(s)) {
        *out = NULL;
        return hamel_out_of_memory(error);
    }
    for (size_t k = 0; k < sizeof steps / sizeof *steps && !is_fatal(error->status); k++) steps[k](s);
    if (error->status == HAMEL_OK && graph_status(s->graph) != HAMEL_OK) binder_graph_fault(s, "");
    s->complete = true;
    hamel_error_once(error);
    return error->status;
}
