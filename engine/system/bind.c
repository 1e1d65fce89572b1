/* bind.c — translates expressions to graph nodes.
 *
 * One loop runs the postfix code on a value stack. At the end of a sum, the loop jumps back to the start of the sum's
 * body. If a name refers to a definition that is not bound yet, the loop notes the definition and uses 0. The caller
 * then binds the noted definitions and runs the code again. Chains of definitions therefore need no recursion. */
#include "engine/system/elements.h"
#include "engine/system/kinematics.h"
#include "engine/system/units.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256, SUM_MEMORIES = 16 };
/* Bound on the number of postfix items that are run for one description. A sum over all pairs of 1000 elements (5·10^5
 * pairs) may have 100 items for each pair. sum(i, 1, 10^12, 0) is rejected after 5·10^7 items. */
static const double STEPS_MAX = 50e6;

static const struct {
    const char *meaning;
    unsigned mask;
} places[] = {
#define X(name, meaning, mask) {meaning, mask},
    SYSTEM_PLACE_LIST(X)
#undef X
};

typedef struct sum_frame {
    size_t body; /* index of the first item of the sum's body */
    long long at, last;
    graph_node total;
    size_t variable;
} sum_frame;

/* The total of a sum from `first` to `last`. A later sum with the same body, the same lower end and the same values of
 * the outer variables continues from this total. sum(i, 1, N, sum(j, 1, i, ...)) therefore takes N steps instead of
 * N²/2. */
typedef struct sum_memory {
    size_t body; /* index of the first item of the sum's body; 0: no total is stored */
    long long first, last;
    graph_node total;
    long long outer[SCOPE_MAX]; /* values of the outer loop variables that the body contains; 0 for other variables */
} sum_memory;

typedef struct machine {
    hamel_system *s;
    const syntax *code;
    const char *pointer;
    system_place place;
    const system_quantities *quantities;
    loop_scope scope;
    size_t depth; /* number of values on the stack */
    sum_frame frames[SYNTAX_SUMS_MAX];
    size_t frame_count;
    sum_memory memories[SUM_MEMORIES]; /* indexed by body % SUM_MEMORIES */
} machine;

bool binder_graph_fault(hamel_system *s, const char *pointer) {
    if (s->error->status == HAMEL_NO_MEMORY || s->error->status == HAMEL_LIMIT ||
        graph_status(s->graph) == HAMEL_CANCELED)
        return false; /* already reported */
    if (graph_status(s->graph) == HAMEL_LIMIT)
        (void)hamel_fail(s->error, HAMEL_LIMIT, pointer, 0, "the system needs more than %zu expression nodes",
                         s->limits->nodes);
    else
        (void)hamel_fail(s->error, HAMEL_NO_MEMORY, pointer, 0, "the system needs more than %zu MiB of memory",
                         s->limits->memory >> 20);
    return false;
}

HAMEL_PRINTF(3, 4)
static bool fault(machine *m, const syntax_item *item, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)hamel_fail(m->s->error, HAMEL_INVALID, m->pointer, item->column, "%s", text);
    hamel_quote(m->s->error, m->code->text, m->code->length);
    return false;
}

static bool push_value(machine *m, graph_node node, const char *name) {
    system_binder *b = m->s->binder;
    if (node < 0 && !name) /* an error has been reported, or the graph could not add the node */
        return graph_status(m->s->graph) != HAMEL_OK && binder_graph_fault(m->s, m->pointer);
    machine_value *stack = arena_grow(m->s->memory, b->stack, &b->stack_capacity, m->depth + 1, sizeof *stack);
    if (!stack) return binder_graph_fault(m->s, m->pointer);
    b->stack = stack;
    stack[m->depth++] = (machine_value){node, name};
    return true;
}

static machine_value pop_value(machine *m) {
    assert(m->depth > 0);
    return m->s->binder->stack[--m->depth];
}

bool binder_number(hamel_system *s, graph_node node, double *value) {
    graph_node n = graph_substitute(s->graph, node, SYMBOL_PARAMETER, s->binder->parameter_numbers, s->parameter_count);
    return n >= 0 && graph_is_number(s->graph, n, value);
}

static void note_parameters(hamel_system *s, graph_node node, bool *flags) {
    const int32_t *list;
    if (node < 0 || !(graph_depends(s->graph, node) & GRAPH_DEPENDS(SYMBOL_PARAMETER))) return;
    size_t count = graph_support(s->graph, node, SYMBOL_PARAMETER, &list);
    for (size_t k = 0; k < count; k++) flags[list[k]] = true;
}

void binder_note_structural(hamel_system *s, graph_node node) {
    note_parameters(s, node, s->parameter_structural);
}

void binder_note_judged(hamel_system *s, graph_node node) {
    note_parameters(s, node, s->parameter_judged);
}

static bool integer_value(machine *m, const syntax_item *item, graph_node node, const char *what, long long *value) {
    double number;
    binder_note_structural(m->s, node);
    if (!binder_number(m->s, node, &number)) {
        if (graph_status(m->s->graph) != HAMEL_OK) return binder_graph_fault(m->s, m->pointer);
        *value = 1; /* an arbitrary value: if a parameter is not bound yet, the code runs again */
        return m->s->binder->waiting_count > 0 ||
               fault(m, item, "%s may contain only numbers, parameters and loop variables", what);
    }
    if (number != floor(number) || fabs(number) > 1e15)
        return fault(m, item, "%s must be an integer, but is %.17g", what, number);
    *value = (long long)number;
    return true;
}

/* Writes name, name[3], name[1,2] or name[3].1 to text[NAME_BYTES]; pops the item's `count` indices from the stack. */
static bool indexed_name(machine *m, const syntax_item *item, char *text) {
    assert(item->count <= SYNTAX_INDICES_MAX && (size_t)item->count <= m->depth);
    if (item->length > NAME_BYTES / 2) return fault(m, item, "the name is longer than %d bytes", NAME_BYTES / 2);
    int at = snprintf(text, NAME_BYTES, "%.*s", (int)item->length, item->as.name);
    size_t first = m->depth - (size_t)item->count;
    for (int k = 0; k < item->count; k++) {
        long long index;
        if (!integer_value(m, item, m->s->binder->stack[first + (size_t)k].node, "an index", &index)) return false;
        at += snprintf(text + at, (size_t)(NAME_BYTES - at), "%c%lld", k ? ',' : '[', index);
    }
    if (item->count) at += snprintf(text + at, (size_t)(NAME_BYTES - at), "]");
    if (item->suffix_length > NAME_BYTES / 8) return fault(m, item, "the name is longer than %d bytes", NAME_BYTES / 2);
    if (item->suffix_length)
        snprintf(text + at, (size_t)(NAME_BYTES - at), ".%.*s", (int)item->suffix_length, item->as.name + item->suffix);
    m->depth = first;
    return true;
}

static bool allowed(machine *m, const syntax_item *item, graph_node node, const char *text) {
    unsigned extra = graph_depends(m->s->graph, node) & ~places[m->place].mask;
    if (!extra) return true;
    const char *what = extra & GRAPH_DEPENDS(SYMBOL_MULTIPLIER)     ? "multipliers"
                       : extra & GRAPH_DEPENDS(SYMBOL_ACCELERATION) ? "accelerations"
                       : extra & GRAPH_DEPENDS(SYMBOL_VELOCITY)     ? "velocities"
                       : extra & GRAPH_DEPENDS(SYMBOL_COORDINATE)   ? "coordinates"
                                                                    : "time";
    return fault(m, item, "%s may not be used here: `%s` contains %s, but only %s are allowed", what, text, what,
                 places[m->place].meaning);
}

static bool unknown_name(machine *m, const syntax_item *item, const char *text) {
    (void)fault(m, item, "unknown name `%s`", text);
    const char *moving = binder_coordinate_of_velocity(m->s, text);
    if (moving) return hamel_suggest(m->s->error, "write %s' for the velocity of `%s`", moving, moving), false;
    hamel_suggest(m->s->error, m->place == PLACE_PARAMETERS ? "use only numbers and parameters here"
                                                            : "declare it as a parameter, coordinate or definition");
    return binder_suggest_nearest(m->s, &m->s->binder->quantities, text); /* replaces the suggestion above */
}

bool binder_need_slot(hamel_system *s, int32_t slot) {
    assert(0 <= slot && (size_t)slot < s->binder->slot_count);
    system_binder *b = s->binder;
    if (b->slots[slot].state == SLOT_BOUND || b->slots[slot].state == SLOT_FAULTY) return true;
    binder_append(s, &b->waiting, &b->waiting_count, &b->waiting_capacity, &slot, sizeof slot, b->slots[slot].pointer);
    return false;
}

/* Returns the node of a slot's component, or the number 0 if the slot is not bound yet or its definition has an
 * error. */
static graph_node slot_node(machine *m, int32_t slot, long long component) {
    const bind_slot *at = &m->s->binder->slots[slot];
    return binder_need_slot(m->s, slot) && at->state == SLOT_BOUND ? at->nodes[component - 1]
                                                                   : graph_number(m->s->graph, 0);
}

static bool component_of(machine *m, const syntax_item *item, const char *text, int32_t slot, long long component,
                         graph_node *node) {
    const bind_slot *at = &m->s->binder->slots[slot];
    if (component < 1 || component > at->count)
        return fault(m, item, "`%s` does not exist: `%s` has components 1 to %d", text, at->name, at->count);
    *node = slot_node(m, slot, component);
    return true;
}

/* Returns the innermost loop variable with this name, or NULL. */
static const loop_variable *loop_variable_of(const machine *m, const char *text) {
    for (size_t k = m->scope.count; k-- > 0;) {
        const loop_variable *v = &m->scope.variables[k];
        if (strlen(text) == v->length && memcmp(v->name, text, v->length) == 0) return v;
    }
    return NULL;
}

/* Sets *node to the quantity with the name `text`, which may end in the index of a vector component. Sets *primable to
 * true if primes may follow the name. */
static bool find_quantity(machine *m, const syntax_item *item, char *text, graph_node *node, bool *primable) {
    system_binder *b = m->s->binder;
    graph *g = m->s->graph;
    int32_t entry = binder_find(&b->quantities, text);
    long long component = 0;
    if (entry < 0) { /* component 2 of a vector: u[2], or u[i,2] in a family */
        char base[NAME_BYTES];
        char *cut = strrchr(text, ',');
        if (!cut) cut = strrchr(text, '[');
        if (!cut) return unknown_name(m, item, text);
        snprintf(base, sizeof base, "%.*s%s", (int)(cut - text), text, *cut == ',' ? "]" : "");
        entry = binder_find(&b->quantities, base);
        if (entry < 0 || entry % ENTRY_KINDS != ENTRY_SLOT) return unknown_name(m, item, text);
        component = strtoll(cut + 1, NULL, 10); /* indexed_name has written a valid number */
    }
    int32_t index = entry / ENTRY_KINDS;
    switch (entry % ENTRY_KINDS) {
    case ENTRY_PARAMETER: /* parameter i is slot i */
        if (b->slots[index].state != SLOT_BOUND)
            *node = slot_node(m, index, 1); /* only records that the slot must be bound first */
        *node = b->slots[index].state == SLOT_FAULTY ? graph_number(g, 1) : graph_symbol(g, SYMBOL_PARAMETER, index);
        return true;
    case ENTRY_COORDINATE:
        *primable = true;
        *node = item->primes == 2   ? graph_symbol(g, SYMBOL_ACCELERATION, index)
                : item->primes == 1 ? graph_symbol(g, SYMBOL_VELOCITY, index)
                                    : graph_symbol(g, SYMBOL_COORDINATE, index);
        return true;
    case ENTRY_QUASI:
        *primable = item->primes < 2;
        *node = slot_node(m, b->quasi_slots[index], 1);
        if (item->primes == 1) *node = system_rate(m->s, *node, m->pointer, "a quasi-velocity");
        return true;
    default:
        if (component == 0 && b->slots[index].count > 1)
            return fault(m, item, "`%s` is a vector: write %s[1] to %s[%d] for its components", text, text, text,
                         b->slots[index].count);
        return component_of(m, item, text, index, component ? component : 1, node);
    }
}

static bool run_name(machine *m, const syntax_item *item) {
    char text[NAME_BYTES];
    graph_node node = GRAPH_NONE;
    bool primable = false;
    if (!indexed_name(m, item, text)) return false;
    const loop_variable *variable = item->count == 0 ? loop_variable_of(m, text) : NULL;
    if (variable)
        node = graph_number(m->s->graph, variable->value);
    else if (strcmp(text, "t") == 0)
        node = graph_symbol(m->s->graph, SYMBOL_TIME, 0);
    else if (strcmp(text, "pi") == 0)
        node = graph_number(m->s->graph, 3.14159265358979323846);
    else if (!find_quantity(m, item, text, &node, &primable))
        return false;
    if (item->primes && !primable) {
        (void)fault(m, item,
                    item->primes > 1 ? "`%s` is not a coordinate; '' gives the acceleration of a coordinate"
                                     : "`%s` is not a coordinate; ' gives the velocity of a coordinate",
                    text);
        return hamel_suggest(m->s->error, "write der(%s) for the total time derivative of an expression", text), false;
    }
    if (item->primes) strncat(text, item->primes == 2 ? "''" : "'", sizeof text - strlen(text) - 1);
    if (node >= 0 && !allowed(m, item, node, text)) return false;
    return push_value(m, node, NULL);
}

static bool element_argument(machine *m, const syntax_item *item, const symbol_table *table, const char *kind,
                             const char *name, int32_t *index) {
    *index = binder_find(table, name);
    if (*index >= 0) return true;
    (void)fault(m, item, "%s() needs a %s, but `%s` is not one", quantity_text(item->op), kind, name);
    const char *of_joint = arena_format(m->s->memory, "%s.1", name);
    if (!of_joint || binder_find(table, of_joint) < 0) return binder_suggest_nearest(m->s, table, name);
    return hamel_suggest(m->s->error, "did you mean `%s`?", of_joint), false;
}

/* Adds the position of `item` and a quotation of the expression to the errors after the first `faults` errors. */
static void locate_faults(machine *m, const syntax_item *item, size_t faults) {
    if (m->s->error->count == faults) return;
    hamel_relocate(m->s->error, m->pointer, item->column);
    hamel_quote(m->s->error, m->code->text, m->code->length);
}

static bool run_rate(machine *m, const syntax_item *item, graph_node e) {
    const unsigned motion = GRAPH_DEPENDS(SYMBOL_ACCELERATION);
    const unsigned never = GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_FREE) | GRAPH_DEPENDS(SYMBOL_IDEAL) |
                           GRAPH_DEPENDS(SYMBOL_NONIDEAL) | GRAPH_DEPENDS(SYMBOL_JERK) | GRAPH_DEPENDS(SYMBOL_INTEGRAL);
    unsigned needs = graph_depends(m->s->graph, e);
    size_t faults = m->s->error->count;
    if (needs & never)
        return fault(m, item,
                     "der() cannot differentiate multipliers, reactions, integrals and rates of accelerations");
    if ((needs & motion) && m->place == PLACE_OUTPUT) {
        graph_node third = path_rate(m->s, e);
        locate_faults(m, item, faults);
        return push_value(m, third, NULL);
    }
    if (needs & motion)
        return fault(m, item, "der() can differentiate accelerations only in outputs, invariants and checks");
    graph_node rate = system_rate(m->s, e, m->pointer, "the operand of der()");
    if (rate >= 0 && !allowed(m, item, rate, "der(...)")) return false;
    return push_value(m, rate, NULL);
}

/* Runs position(P, k), its rates, or angular_velocity(B, k). In the plane the third component of a position is 0. */
static bool run_motion(machine *m, const syntax_item *item, const char *name, graph_node k) {
    int32_t element;
    long long component;
    system_binder *b = m->s->binder;
    graph_node node = graph_number(m->s->graph, 0);
    bool turns = item->op == QUANTITY_ANGULAR_VELOCITY || item->op == QUANTITY_ANGULAR_VELOCITY_BODY, complete;
    if (!element_argument(m, item, &b->elements, turns ? "body or frame" : "particle, body, point or frame", name,
                          &element))
        return false;
    if (b->noting && !binder_append(m->s, &b->noted, &b->noted_count, &b->noted_capacity, &element, sizeof element, ""))
        return false;
    if (!integer_value(m, item, k, "the component", &component)) return false;
    if (component < 1 || component > 3) return fault(m, item, "the component must be 1, 2 or 3");
    if (turns && component < 3 && m->s->dimension == 2)
        system_warn(m->s, m->pointer, "in the plane %s() has only component 3; components 1 and 2 are 0",
                    quantity_text(item->op));
    if (!located_need(m->s, element, &complete)) return false;
    const system_located *at = &b->located[element];
    if (turns && !at->turns) return fault(m, item, "`%s` has no orientation, so it has no angular velocity", name);
    if (complete)
        node = item->op == QUANTITY_ANGULAR_VELOCITY ? at->omega[component - 1]
               : turns                               ? at->omega_body[component - 1]
                                                     : at->position[component - 1];
    if (item->op == QUANTITY_VELOCITY || item->op == QUANTITY_ACCELERATION)
        node = system_rate(m->s, node, m->pointer, "a position");
    if (item->op == QUANTITY_ACCELERATION) node = system_rate(m->s, node, m->pointer, "a velocity");
    if (node >= 0 && !allowed(m, item, node, quantity_text(item->op))) return false;
    return push_value(m, node, NULL);
}

/* Runs table(NAME, x). The result is 0 if the table is not bound yet, or if an error is reported at the table. */
static bool run_table(machine *m, const syntax_item *item, const char *name, graph_node x) {
    int32_t table;
    graph *g = m->s->graph;
    if (!element_argument(m, item, &m->s->binder->table_names, "table", name, &table)) return false;
    bool made = binder_need_table(m->s, table);
    return push_value(m, made ? graph_lookup(g, x, m->s->binder->tables[table].index, 0) : graph_number(g, 0), NULL);
}

/* Computes the argument k of kinetic_energy(k). */
static bool degree_argument(machine *m, const syntax_item *item, graph_node k, int32_t *degree) {
    long long value;
    if (!integer_value(m, item, k, "the degree", &value)) return false;
    if (value < 0 || value > 2)
        return fault(m, item, "kinetic_energy(k) is the part of degree k in the velocities: k is 0, 1 or 2");
    *degree = (int32_t)value;
    return true;
}

/* Finds the argument FORM of form_residual(FORM, coordinate), or NAME of energy_rate(NAME) or quasi_energy_rate(NAME). */
static bool word_argument(machine *m, const syntax_item *item, const char *name, int32_t *index) {
    const char *expected;
    bool is_form = item->op == QUANTITY_FORM_RESIDUAL;
    *index = is_form ? residual_form_find(name, &expected)
                     : energy_term_find(name, item->op == QUANTITY_QUASI_ENERGY_RATE, &expected);
    if (*index >= 0) return true;
    if (is_form) return fault(m, item, "form_residual() needs a form (%s), but `%s` is not one", expected, name);
    (void)fault(m, item, "%s() has no term `%s`", quantity_text(item->op), name);
    return hamel_suggest(m->s->error, "the terms are %s", expected), false;
}

/* Returns the part of a message that lists where a quantity may be used, in addition to outputs. */
static const char *known_elsewhere(int quantity) {
    if (quantity == QUANTITY_IDEAL) return ", and in `nonideal` of a constraint, but not in definitions used there";
    if (quantity == QUANTITY_REACTION) return ", and in forces, but not in definitions used there";
    return "";
}

/* Runs integral(e) or time_mean(e): integral(e) divided by the time since the start; at the start, e. */
static bool run_integral(machine *m, const syntax_item *item, graph_node e) {
    hamel_system *s = m->s;
    graph *g = s->graph;
    if (graph_depends(g, e) & GRAPH_DEPENDS(SYMBOL_INTEGRAL))
        return fault(m, item, "%s() may not contain another integral", quantity_text(item->op));
    if (!m->quantities || s->binder->waiting_count > 0) return push_value(m, graph_number(g, 0), NULL);
    graph_node sum = system_integral(s, e, m->pointer);
    if (item->op == QUANTITY_INTEGRAL) return push_value(m, sum, NULL);
    graph_node elapsed = system_integral(s, graph_number(g, 1), m->pointer),
               started = graph_apply(g, GRAPH_GT, elapsed, graph_number(g, 0), GRAPH_NONE);
    return push_value(m, graph_apply(g, GRAPH_IF, started, graph_div(g, sum, elapsed), e), NULL);
}

/* Runs a function of elements, such as linear_momentum(B, k). All elements have been bound before. */
static bool run_kinematics(machine *m, const syntax_item *item, const machine_value *argument) {
    kinematic_call call = {(syntax_quantity)item->op, {-1, -1}, 0};
    const char *signature = quantity_signature(call.quantity);
    const bool contact = item->op >= QUANTITY_OF_CONTACTS;
    const symbol_table *table = contact ? &m->s->binder->contacts : &m->s->binder->elements;
    size_t names = 0, faults = m->s->error->count;
    for (int32_t i = 0; i < item->count; i++) {
        long long component;
        if (signature[i] == 'k') {
            if (!integer_value(m, item, argument[i].node, "the component", &component)) return false;
            if (component < 1 || component > 3) return fault(m, item, "the component must be 1, 2 or 3");
            call.component = (int)component - 1;
        } else if (!element_argument(m, item, table, contact ? "rolling joint" : "particle, body, point or frame",
                                     argument[i].name, &call.elements[names++]))
            return false;
    }
    if (m->place != PLACE_OUTPUT) {
        (void)fault(m, item, "%s() may not be used here", quantity_text(call.quantity));
        return hamel_suggest(m->s->error, "use it only in outputs, invariants, checks and events"), false;
    }
    if (!m->quantities) return push_value(m, graph_number(m->s->graph, 0), NULL);
    graph_node node = kinematics_node(m->s, &call);
    locate_faults(m, item, faults);
    return push_value(m, node, NULL);
}

/* Finds the indices of the arguments of a quantity: a degree, a form or term, coordinates or constraints. */
static bool find_indices(machine *m, const syntax_item *item, const machine_value *argument, int32_t index[2]) {
    switch (item->op) {
    case QUANTITY_KINETIC_ENERGY:
        if (item->count && !degree_argument(m, item, argument[0].node, &index[0])) return false;
        return true;
    case QUANTITY_FORM_RESIDUAL:
        if (!word_argument(m, item, argument[0].name, &index[0]) ||
            !element_argument(m, item, &m->s->binder->coordinates, "coordinate", argument[1].name, &index[1]))
            return false;
        return true;
    case QUANTITY_ENERGY_RATE:
    case QUANTITY_QUASI_ENERGY_RATE:
        if (item->count && !word_argument(m, item, argument[0].name, &index[0])) return false;
        return true;
    case QUANTITY_MOMENTUM:
    case QUANTITY_IDEAL:
    case QUANTITY_NONIDEAL:
        if (!element_argument(m, item, &m->s->binder->coordinates, "coordinate", argument[0].name, &index[0]))
            return false;
        return true;
    case QUANTITY_INTEGRAL:
    case QUANTITY_MEAN: return true;
    default:
        if (argument[0].name &&
            !element_argument(m, item, &m->s->binder->constraints, "constraint", argument[0].name, &index[0]))
            return false;
        if (argument[1].name &&
            !element_argument(m, item, &m->s->binder->coordinates, "coordinate", argument[1].name, &index[1]))
            return false;
    }
    return true;
}

static bool run_quantity(machine *m, const syntax_item *item) {
    machine_value argument[3] = {{GRAPH_NONE, NULL}, {GRAPH_NONE, NULL}, {GRAPH_NONE, NULL}};
    int32_t index[2] = {-1, -1};
    for (int32_t k = item->count; k-- > 0;) argument[k] = pop_value(m);
    if (item->op >= QUANTITY_OF_ELEMENTS) return run_kinematics(m, item, argument);
    switch (item->op) {
    case QUANTITY_DER: return run_rate(m, item, argument[0].node);
    case QUANTITY_POSITION:
    case QUANTITY_VELOCITY:
    case QUANTITY_ACCELERATION:
    case QUANTITY_ANGULAR_VELOCITY:
    case QUANTITY_ANGULAR_VELOCITY_BODY: return run_motion(m, item, argument[0].name, argument[1].node);
    case QUANTITY_TABLE: return run_table(m, item, argument[0].name, argument[1].node);
    default:
        if (!find_indices(m, item, argument, index)) return false;
    }
    if (item->op == QUANTITY_LAMBDA) {
        graph_node lambda = graph_symbol(m->s->graph, SYMBOL_MULTIPLIER, index[0]);
        return (lambda < 0 || allowed(m, item, lambda, "lambda()")) && push_value(m, lambda, NULL);
    }
    bool in_force = m->place == PLACE_FORCE && item->op == QUANTITY_REACTION,
         in_nonideal = m->place == PLACE_NONIDEAL && item->op == QUANTITY_IDEAL;
    bool served = m->quantities || m->s->error->count > 0; /* after an error, only syntax and names are checked */
    if ((m->place != PLACE_OUTPUT && !in_force && !in_nonideal) || !served) {
        (void)fault(m, item, "%s() may not be used here", quantity_text(item->op));
        return hamel_suggest(m->s->error, "use it only in outputs, invariants and checks%s", known_elsewhere(item->op)),
               false;
    }
    if (item->op == QUANTITY_INTEGRAL || item->op == QUANTITY_MEAN) return run_integral(m, item, argument[0].node);
    if (!m->quantities) return push_value(m, graph_number(m->s->graph, 0), NULL);
    size_t faults = m->s->error->count;
    graph_node node = m->quantities->get(m->quantities->context, (syntax_quantity)item->op, index);
    if (node < 0) locate_faults(m, item, faults);
    return push_value(m, node, NULL);
}

static void read_outer(const machine *m, size_t body, long long outer[SCOPE_MAX]) {
    memset(outer, 0, SCOPE_MAX * sizeof *outer);
    for (size_t i = body; i < body + (size_t)m->code->items[body - 1].count; i++) {
        const syntax_item *item = &m->code->items[i];
        if (item->kind != SYNTAX_NAME || item->count) continue;
        for (size_t k = 0; k < m->scope.count; k++) {
            const loop_variable *v = &m->scope.variables[k];
            if (v->length == item->length && memcmp(v->name, item->as.name, v->length) == 0)
                outer[k] = (long long)v->value;
        }
    }
}

/* Returns the stored total of the sum with this body. Clears the total if its lower end or the values of its outer
 * variables differ, or if its upper end exceeds `last`. */
static sum_memory *memory_of(machine *m, size_t body, long long first, long long last) {
    sum_memory *memory = &m->memories[body % SUM_MEMORIES], fresh = {body, first, first - 1, 0, {0}};
    read_outer(m, body, fresh.outer);
    bool continues = memory->body == body && memory->first == first && memory->last <= last &&
                     memcmp(memory->outer, fresh.outer, sizeof fresh.outer) == 0;
    if (continues) return memory;
    fresh.total = graph_number(m->s->graph, 0);
    *memory = fresh;
    return memory;
}

static bool run_sum(machine *m, const syntax_item *item, size_t *at) {
    long long first, last;
    graph_node upper = pop_value(m).node, lower = pop_value(m).node;
    if (!integer_value(m, item, lower, "the lower end of sum()", &first) ||
        !integer_value(m, item, upper, "the upper end of sum()", &last))
        return false;
    size_t body = *at + 1;
    sum_memory known = *memory_of(m, body, first, last < first ? first - 1 : last);
    if (known.last >= last) {
        *at = body + (size_t)item->count; /* index of SYNTAX_SUM_END; the caller's loop then skips it */
        return push_value(m, known.total, NULL);
    }
    assert(m->frame_count < SYNTAX_SUMS_MAX &&
           m->scope.count < SCOPE_MAX); /* SCOPE_MAX = SYNTAX_SUMS_MAX + FAMILY_DEPTH */
    m->frames[m->frame_count++] = (sum_frame){body, known.last + 1, last, known.total, m->scope.count};
    m->scope.variables[m->scope.count++] = (loop_variable){item->as.name, item->length, (double)(known.last + 1)};
    return true;
}

static bool run_sum_end(machine *m, size_t *at) {
    assert(m->frame_count > 0);
    sum_frame *f = &m->frames[m->frame_count - 1];
    f->total = graph_add(m->s->graph, f->total, pop_value(m).node);
    if (f->total < 0) return binder_graph_fault(m->s, m->pointer);
    if (f->at < f->last) {
        f->at++;
        m->scope.variables[f->variable].value = (double)f->at;
        *at = f->body - 1; /* the caller's loop then advances to the body */
        return true;
    }
    sum_memory *memory = &m->memories[f->body % SUM_MEMORIES];
    if (memory->body == f->body) {
        memory->last = f->last;
        memory->total = f->total;
    }
    m->frame_count--;
    m->scope.count--;
    return push_value(m, f->total, NULL);
}

static bool run_item(machine *m, const syntax_item *item, size_t *at) {
    graph *g = m->s->graph;
    graph_node x, y = GRAPH_NONE, z = GRAPH_NONE;
    char text[NAME_BYTES];
    switch ((syntax_kind)item->kind) {
    case SYNTAX_NUMBER: return push_value(m, graph_number(g, item->as.number), NULL);
    case SYNTAX_NAME: return run_name(m, item);
    case SYNTAX_ARGUMENT:
        return indexed_name(m, item, text) && push_value(m, GRAPH_NONE, arena_text(m->s->memory, text, strlen(text)));
    case SYNTAX_OPERATOR:
        if (graph_op_get((graph_op)item->op)->arity > 2) z = pop_value(m).node;
        if (graph_op_get((graph_op)item->op)->arity > 1) y = pop_value(m).node;
        x = pop_value(m).node;
        if ((item->op == GRAPH_SIN || item->op == GRAPH_COS || item->op == GRAPH_TAN) && item[-1].kind == SYNTAX_NUMBER)
            system_warn_degrees(m->s, m->pointer, "the angle in a sine, cosine or tangent", item[-1].as.number);
        return push_value(m, graph_apply(g, (graph_op)item->op, x, y, z), NULL);
    case SYNTAX_QUANTITY: return run_quantity(m, item);
    case SYNTAX_SUM: return run_sum(m, item, at);
    case SYNTAX_SUM_END: return run_sum_end(m, at);
    }
    return false;
}

bool binder_step(hamel_system *s, const char *pointer, int column) {
    system_binder *b = s->binder;
    if (++b->steps > STEPS_MAX) {
        if (s->error->status == HAMEL_LIMIT) return false; /* already reported */
        (void)hamel_fail(s->error, HAMEL_LIMIT, pointer, column,
                         "the sums and families of this description expand to more than %.0f operations", STEPS_MAX);
        return false;
    }
    if (((long long)b->steps & 1023) == 0 && system_interrupted(s)) b->canceled = true;
    return !b->canceled;
}

/* Runs items [0, count) and leaves the results on the stack. */
static bool run_machine(machine *m, size_t count) {
    for (size_t at = 0; at < count; at++) {
        if (!binder_step(m->s, m->pointer, m->code->items[at].column)) return false;
        if (!run_item(m, &m->code->items[at], &at)) return false;
    }
    return true;
}

bool binder_integers(hamel_system *s, const syntax *code, size_t count, const loop_scope *scope, const char *pointer,
                     long long *values, size_t value_count) {
    machine m = {.s = s, .code = code, .pointer = pointer, .place = PLACE_PARAMETERS};
    if (scope) m.scope = *scope;
    if (!run_machine(&m, count)) return false;
    for (size_t k = value_count; k-- > 0;)
        if (!integer_value(&m, &code->items[count ? count - 1 : 0], pop_value(&m).node, "an index", &values[k]))
            return false;
    return true;
}

graph_node binder_walk(hamel_system *s, const hamel_expression *e, system_place place, const loop_scope *scope,
                       syntax_goal goal, const system_quantities *quantities, bool *complete) {
    *complete = true;
    if (e->is_number) {
        if (!isfinite(e->number)) return system_fail(s, e->pointer, "the number is not finite"), GRAPH_NONE;
        return graph_number(s->graph, e->number);
    }
    if (!e->text) return GRAPH_NONE;
    syntax code;
    s->binder->waiting_count = 0;
    if (syntax_parse(&code, s->memory, e->text, strlen(e->text), goal, e->pointer, s->error) != HAMEL_OK)
        return GRAPH_NONE;
    machine m = {.s = s, .code = &code, .pointer = e->pointer, .place = place, .quantities = quantities};
    if (scope) m.scope = *scope;
    graph_node node = run_machine(&m, code.count) ? pop_value(&m).node : GRAPH_NONE;
    *complete = s->binder->waiting_count == 0;
    return node;
}
