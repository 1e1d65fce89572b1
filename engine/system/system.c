/* system.c — translates a description to a checked system, section by section.
 *
 * Names (parameters, coordinates, definitions, elements) are declared before expressions are bound, so that expressions
 * may refer to each other in any order. Errors in one section do not prevent the check of the next section, so that all
 * errors are reported together. An element that lacks a name or an expression is skipped, since the reader has already
 * reported the error. */
#include "engine/system/elements.h"
#include "engine/system/units.h"

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

bool binder_suggest_nearest(hamel_system *s, const symbol_table *names, const char *name) {
    const char *nearest = symbol_nearest(names, name, strlen(name));
    if (nearest) hamel_suggest(s->error, "did you mean `%s`?", nearest);
    return false;
}

void *binder_alloc(hamel_system *s, size_t count, size_t size, const char *pointer) {
    void *items = arena_alloc(s->memory, count, size);
    if (!items) binder_graph_fault(s, pointer);
    return items;
}

const char *binder_text(hamel_system *s, const char *text, const char *pointer) {
    const char *copy = arena_text(s->memory, text, strlen(text));
    if (!copy) binder_graph_fault(s, pointer);
    return copy;
}

void *binder_grow(hamel_system *s, void *items, size_t *capacity, size_t count, size_t size, const char *pointer) {
    assert(size > 0 && (!items || count <= *capacity));
    void *grown = arena_grow(s->memory, items, capacity, count + 1, size);
    if (!grown) binder_graph_fault(s, pointer);
    return grown;
}

void *binder_append(hamel_system *s, void *items, size_t *count, size_t *capacity, const void *item, size_t size,
                    const char *pointer) {
    char *all;
    memcpy(&all, items, sizeof all);
    if (!(all = binder_grow(s, all, capacity, *count, size, pointer))) return NULL;
    memcpy(items, &all, sizeof all);
    return memcpy(all + size * (*count)++, item, size);
}

bool binder_is_linear(hamel_system *s, graph_node node) {
    const int32_t *found;
    size_t n = graph_support(s->graph, node, SYMBOL_VELOCITY, &found);
    bool linear = true;
    for (size_t i = 0; i < n && linear; i++) {
        n = graph_support(s->graph, node, SYMBOL_VELOCITY, &found); /* again: a new node invalidates the list */
        linear =
            !(graph_depends(s->graph, graph_partial(s->graph, node, s->v[found[i]])) & GRAPH_DEPENDS(SYMBOL_VELOCITY));
    }
    return linear;
}

bool scope_copy(hamel_system *s, const loop_scope *scope, loop_variable **loops, size_t *count) {
    *count = 0;
    *loops = NULL;
    if (!scope || scope->count == 0) return true;
    if (!(*loops = binder_alloc(s, scope->count, sizeof **loops, ""))) return false;
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
    return hamel_suggest(s->error, "use only letters, digits and _, and do not start with a digit"), false;
}

static bool name_is_free(hamel_system *s, const char *name, const char *pointer) {
    size_t length = strlen(name), base = strcspn(name, "[");
    if (!binder_check_name(s, name, pointer)) return false;
    if (syntax_is_reserved(name, base))
        return system_fail(s, pointer, "`%.*s` is reserved: it has a meaning in expressions", (int)base, name);
    if (symbol_find(&s->binder->quantities, name, length) >= 0) {
        system_fail(s, pointer, "the name `%s` is already used", name);
        return hamel_suggest(s->error,
                             "choose another name; parameters, coordinates and definitions share one name space"),
               false;
    }
    return true;
}

/* Checks the form of a name and adds the name to the name space of quantities. Reports errors at `pointer`. */
static bool declare(hamel_system *s, const char *name, entry_kind kind, size_t index, const char *pointer) {
    if (!name_is_free(s, name, pointer)) return false;
    hamel_status status = symbol_add(&s->binder->quantities, name, strlen(name), entry_make(kind, index), NULL);
    return status == HAMEL_OK || binder_graph_fault(s, pointer);
}

bool binder_declare_element(hamel_system *s, symbol_table *table, const char *name, size_t index, const char *pointer,
                            const char *kind) {
    hamel_status status = symbol_add(table, name, strlen(name), (int32_t)index, NULL);
    if (status == HAMEL_OK) return true;
    if (status == HAMEL_NO_MEMORY) return binder_graph_fault(s, pointer);
    return system_fail(s, pointer, "there are two %s named `%s`", kind, name);
}

int32_t binder_add_slot(hamel_system *s, const char *name, const char *pointer, const hamel_expressions *value,
                        system_place place, const loop_scope *scope) {
    assert(value->count <= SLOT_NODES);
    system_binder *b = s->binder;
    bind_slot slot = {name, pointer, value, place, .count = (uint8_t)value->count};
    if (!scope_copy(s, scope, &slot.loops, &slot.loop_count) ||
        !binder_append(s, &b->slots, &b->slot_count, &b->slot_capacity, &slot, sizeof slot, pointer))
        return -1;
    return (int32_t)b->slot_count - 1;
}

static void declare_parameters(hamel_system *s) {
    const hamel_description *d = s->description;
    system_binder *b = s->binder;
    size_t n = d->parameter_count;
    static const char where[] = "/parameters";
    s->parameter_names = binder_alloc(s, n, sizeof *s->parameter_names, where);
    s->parameter_units = binder_alloc(s, n, sizeof *s->parameter_units, where);
    s->parameter_values = binder_alloc(s, n, sizeof *s->parameter_values, where);
    s->parameter_nodes = binder_alloc(s, n, sizeof *s->parameter_nodes, where);
    s->parameter_structural = binder_alloc(s, n, sizeof *s->parameter_structural, where);
    s->parameter_judged = binder_alloc(s, n, sizeof *s->parameter_judged, where);
    b->parameter_numbers = binder_alloc(s, n, sizeof *b->parameter_numbers, where);
    hamel_expressions *values = binder_alloc(s, n, sizeof *values, where);
    if (s->memory->failed) return;
    for (size_t i = 0; i < n; i++) {
        hamel_parameter *p = &d->parameters[i];
        values[i] = (hamel_expressions){p->value.pointer, &p->value, 1};
        s->parameter_names[i] = binder_text(s, p->name, p->pointer);
        s->parameter_units[i] = p->unit ? binder_text(s, p->unit, p->pointer) : "";
        if (!s->parameter_names[i] || !s->parameter_units[i]) return;
        b->parameter_numbers[i] = GRAPH_NONE;
        if (strchr(p->name, '['))
            system_fail(s, p->pointer, "a parameter's name must not have an index: `%s`", p->name);
        else
            declare(s, p->name, ENTRY_PARAMETER, i, p->pointer);
        if (binder_add_slot(s, p->name, p->value.pointer, &values[i], PLACE_PARAMETERS, NULL) < 0) return;
    }
    s->parameter_count = n;
}

static void resolve_parameters(hamel_system *s) {
    for (size_t i = 0; i < s->parameter_count; i++) binder_resolve_slot(s, (int32_t)i);
}

static bool within(hamel_system *s, size_t count, size_t limit, const char *pointer, const char *what) {
    if (limit == 0 || count < limit) return true;
    if (s->error->status != HAMEL_LIMIT)
        (void)hamel_fail(s->error, HAMEL_LIMIT, pointer, 0, "the system has more than %zu %s", limit, what);
    return false;
}

static bool declare_coordinate(hamel_system *s, const hamel_coordinate *c, const loop_scope *scope) {
    size_t n = s->coordinate_count;
    const char *name = family_member(s, c->name, c->pointer, scope), *unit = "";
    if (!name || !within(s, n, s->limits->coordinates, c->pointer, "coordinates")) return false;
    if (!declare(s, name, ENTRY_COORDINATE, n, c->pointer) ||
        !binder_declare_element(s, &s->binder->coordinates, name, n, c->pointer, "coordinates"))
        return false;
    if (c->unit && !(unit = binder_text(s, c->unit, c->pointer))) return false;
    system_coordinate own = {.name = name, .unit = unit, .described = (size_t)(c - s->description->coordinates)};
    return binder_append(s, &s->coordinates, &s->coordinate_count, &s->coordinate_capacity, &own, sizeof own,
                         c->pointer);
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
    s->q = binder_alloc(s, n, sizeof *s->q, "/coordinates");
    s->v = binder_alloc(s, n, sizeof *s->v, "/coordinates");
    s->a = binder_alloc(s, n, sizeof *s->a, "/coordinates");
    if (!s->q || !s->v || !s->a) return;
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
    size_t n = d->quasi_velocity_count;
    s->quasi = binder_alloc(s, n, sizeof *s->quasi, "/quasi_velocities");
    s->binder->quasi_slots = binder_alloc(s, n, sizeof *s->binder->quasi_slots, "/quasi_velocities");
    if (!s->quasi || !s->binder->quasi_slots) return;
    for (size_t i = 0; i < n; i++) {
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

static void resolve_quasi_velocities(hamel_system *s) {
    for (size_t i = 0; i < s->quasi_count; i++) {
        int32_t index = s->binder->quasi_slots[i];
        if (!binder_resolve_slot(s, index)) continue;
        const bind_slot *slot = &s->binder->slots[index];
        graph_node definition = s->quasi[i].definition = slot->nodes[0];
        bool moves = graph_depends(s->graph, definition) & GRAPH_DEPENDS(SYMBOL_VELOCITY);
        if (!moves || !binder_is_linear(s, definition))
            system_fail(s, slot->pointer, "the quasi-velocity `%s` %s", s->quasi[i].name,
                        moves ? "is not linear in the velocities" : "contains no velocity");
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

void system_note_continuous(hamel_system *s, graph_node node, const char *pointer, const char *what) {
    if (s->complete || node < 0 || binder_is_constant(s, node)) return;
    binder_append(s, &s->continuous, &s->continuous_count, &s->continuous_capacity,
                  &(system_continuous){node, pointer, what}, sizeof *s->continuous, pointer);
}

graph_node system_rate(hamel_system *s, graph_node node, const char *pointer, const char *what) {
    system_note_continuous(s, node, pointer, what);
    return graph_rate(s->graph, node);
}

graph_node system_integral(hamel_system *s, graph_node integrand, const char *pointer) {
    size_t i = 0, pointers = s->integral_count;
    if (integrand < 0) return GRAPH_NONE;
    while (i < s->integral_count && s->integrands[i] != integrand) i++;
    if (i == s->integral_count && (!binder_append(s, &s->integral_pointers, &pointers, &s->integral_pointer_capacity,
                                                  &pointer, sizeof pointer, pointer) ||
                                   !binder_append(s, &s->integrands, &s->integral_count, &s->integral_capacity,
                                                  &integrand, sizeof integrand, pointer)))
        return GRAPH_NONE;
    return graph_symbol(s->graph, SYMBOL_INTEGRAL, (int32_t)i);
}

static void add_action(hamel_system *s, system_action action) {
    action.origin = s->origin;
    binder_append(s, &s->actions, &s->action_count, &s->action_capacity, &action, sizeof action, "");
}

/* Stores the terms of an energy separately, so that each term is differentiated only with respect to the symbols that
 * it contains. */
void binder_add_energy(hamel_system *s, graph_node node, bool kinetic, const char *pointer) {
    graph_node *terms, **list = kinetic ? &s->kinetic : &s->potential;
    size_t *count = kinetic ? &s->kinetic_count : &s->potential_count;
    size_t *capacity = kinetic ? &s->kinetic_capacity : &s->potential_capacity;
    signed char *signs;
    if (node < 0) return;
    units_note(s, node, pointer, UNIT_ENERGY, 0);
    if (!kinetic) add_action(s, (system_action){.potential = node, .force = GRAPH_NONE});
    size_t n = graph_terms(s->graph, node, s->memory, &s->energy_sums, &terms, &signs);
    if (n == 0) binder_graph_fault(s, pointer);
    for (size_t i = 0; i < n; i++) {
        graph_node term = signs[i] < 0 ? graph_neg(s->graph, terms[i]) : terms[i];
        if (!binder_append(s, list, count, capacity, &term, sizeof term, pointer)) return;
    }
}

static void bind_terms(hamel_system *s, const hamel_expressions *list, bool kinetic) {
    for (size_t i = 0; i < list->count; i++) {
        const hamel_expression *e = &list->items[i];
        binder_add_energy(s, system_bind(s, e, PLACE_ENERGY, NULL, SYNTAX_EXPRESSION, NULL), kinetic, e->pointer);
    }
}

static void bind_energies(hamel_system *s) {
    const hamel_description *d = s->description;
    bind_terms(s, &d->kinetic_energy, true);
    s->origin = "potential_energy";
    bind_terms(s, &d->potential_energy, false);
    s->kinetic_given = s->kinetic_count;
    s->potential_given = s->potential_count;
    s->acceleration_energy = system_bind(s, &d->acceleration_energy, PLACE_CONSTRAINT, NULL, SYNTAX_EXPRESSION, NULL);
    s->lagrangian = system_bind(s, &d->lagrangian, PLACE_ENERGY, NULL, SYNTAX_EXPRESSION, NULL);
    units_note(s, s->acceleration_energy, d->acceleration_energy.pointer, UNIT_ACCELERATED, 0);
    units_note(s, s->lagrangian, d->lagrangian.pointer, UNIT_ENERGY, 0);
    bool has_lagrangian = hamel_expression_given(&d->lagrangian), has_kinetic = d->kinetic_energy.count > 0,
         has_acceleration = hamel_expression_given(&d->acceleration_energy);
    if (has_lagrangian && (has_kinetic || d->potential_energy.count)) {
        system_fail(s, d->lagrangian.pointer, "a lagrangian replaces the energies; give one or the other");
        hamel_suggest(s->error, "give either lagrangian, or kinetic_energy and potential_energy");
    }
    if (has_acceleration && (has_kinetic || has_lagrangian))
        system_fail(s, d->acceleration_energy.pointer,
                    "an acceleration energy replaces the kinetic energy or lagrangian; give one of them");
    if (!has_kinetic && !has_lagrangian && !has_acceleration && !d->particle_count && !d->body_count) {
        system_fail(s, "", "the system has no kinetic energy");
        hamel_suggest(s->error, "give kinetic_energy, lagrangian, particles or bodies");
    }
}

bool binder_add_constraint(hamel_system *s, const char *name, const char *pointer, size_t *index) {
    if (!within(s, s->constraint_count, s->limits->constraints, pointer, "constraints")) return false;
    if (!binder_declare_element(s, &s->binder->constraints, name, s->constraint_count, pointer, "constraints"))
        return false;
    return binder_add_row(s, name, pointer, index);
}

bool binder_add_row(hamel_system *s, const char *name, const char *pointer, size_t *index) {
    system_constraint own = {.name = name, .pointer = binder_text(s, pointer, pointer), .equation = GRAPH_NONE};
    *index = s->constraint_count;
    return own.pointer &&
           binder_append(s, &s->constraints, &s->constraint_count, &s->constraint_capacity, &own, sizeof own, pointer);
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
    family_iterator f;
    for (size_t i = 0; i < s->description->constraint_count; i++) {
        const hamel_constraint *c = &s->description->constraints[i];
        if (c->inactive != inactive || !c->name || !hamel_expression_given(&c->equation)) continue;
        for (family_begin(&f, s, &c->family); family_next(&f);)
            if (!declare_constraint(s, c, &f.scope)) break;
    }
}

/* Declares the names of active constraints. Names are declared before equations are bound, since forces and definitions
 * may contain multipliers. */
static void declare_constraints(hamel_system *s) {
    declare_those(s, false);
}

static void declare_inactive_constraints(hamel_system *s) {
    s->standing_count = s->constraint_count;
    declare_those(s, true);
}

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
    else if (!graph_is_zero(s->graph, f)) /* elements may add equations 0 = 0 */
        system_fail(s, c->pointer, "the constraint `%s` contains no coordinate and does not hold", c->name);
}

static void bind_constraints(hamel_system *s) {
    for (size_t i = 0; i < s->constraint_count; i++) {
        const system_constraint *c = &s->constraints[i];
        loop_scope scope;
        if (!c->written) continue; /* an element has added the constraint with its equation */
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
    if (force < 0 || along < 0) return;
    binder_append(s, &s->works, &s->work_count, &s->work_capacity, &(system_work){force, along, kind}, sizeof *s->works,
                  "");
}

/* Binds an expression in parameters unless the expression is absent. Sets *value and *node, and records the required
 * unit of the expression. */
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
            if (!good && c->family.count) break; /* report only the first error of a family */
        }
    }
}

bool binder_add_output(hamel_system *s, system_output output) {
    return within(s, s->output_count, s->limits->outputs, output.pointer, "outputs") &&
           binder_append(s, &s->outputs, &s->output_count, &s->output_capacity, &output, sizeof output, output.pointer);
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
            const char *name =
                o->family.count ? family_member(s, o->name, o->pointer, &f.scope) : binder_text(s, o->name, o->pointer);
            const hamel_expression *e = &o->value.items[0];
            system_output output = {.name = name, .pointer = e->pointer, .expression = e};
            if (!name || !scope_copy(s, &f.scope, &output.loops, &output.loop_count) || !binder_add_output(s, output))
                break;
        }
    }
}

bool system_interrupted(hamel_system *s) {
    hamel_status asked = hamel_ask(s->poll);
    if (asked == HAMEL_CANCELED && s->error->status != asked)
        (void)hamel_fail(s->error, asked, "", 0, "canceled while the equations were derived");
    if (asked == HAMEL_LIMIT && s->error->status != asked)
        (void)hamel_fail(s->error, asked, "", 0, "the equations were not derived within the limit of %s",
                         s->poll->spent);
    return asked != HAMEL_OK;
}

static bool is_interrupted(void *system) {
    return system_interrupted(system);
}

static bool create_binder(hamel_system *s) {
    system_binder *b = s->binder = arena_alloc(s->memory, 1, sizeof *b);
    if (!b) return false;
    symbol_table *tables[] = {&b->quantities,  &b->coordinates, &b->elements, &b->links,
                              &b->constraints, &b->table_names, &b->contacts};
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        if (symbol_table_init(tables[k], s->memory) != HAMEL_OK) return false;
    return true;
}

/* Checks the expressions of inputs in other runs. This step is the last one, so that its nodes do not change the
 * indices of the other nodes of the system. */
static void check_alternatives(hamel_system *s) {
    const hamel_expressions *all = &s->description->alternatives;
    for (size_t i = 0; i < all->count && !system_interrupted(s); i++)
        (void)system_bind(s, &all->items[i], PLACE_PARAMETERS, NULL, SYNTAX_EXPRESSION, NULL);
}

static void resolve_slots(hamel_system *s) {
    for (size_t i = s->parameter_count; i < s->binder->slot_count; i++) binder_resolve_slot(s, (int32_t)i);
}

/* The steps of system_create. Names are declared before expressions are bound. Constraints are bound before forces,
 * which may contain reactions, and tables are declared before parameters, which may call tables. */
static void (*const steps[])(hamel_system *s) = {
    units_declare,
    declare_parameters,
    tables_declare,
    resolve_parameters,
    tables_resolve,
    declare_coordinates,
    declare_quasi_velocities,
    declare_definitions,
    located_declare,
    declare_constraints,
    joints_declare,
    declare_inactive_constraints,
    located_find_parents,
    resolve_slots,
    located_resolve,
    resolve_quasi_velocities,
    bind_energies,
    joints_lower,
    bind_constraints,
    elements_lower,
    forces_dissipation,
    forces_given,
    forces_nonideal,
    servos_lower,
    bind_initial_values,
    frictions_lower,
    friction_couples_lower,
    events_declare,
    frictions_add_rows,
    declare_outputs,
    scene_lower,
    units_check,
    validity_check,
    warnings_check,
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
