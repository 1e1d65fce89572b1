/* bind.c — translates expressions to graph nodes.
 *
 * One loop runs the postfix code on a value stack. At the end of a sum, the loop jumps back to the start of the sum's
 * body. If a name refers to a definition that is not bound yet, the loop notes the definition and uses 0. The caller
 * then binds the noted definitions and runs the code again. Chains of definitions therefore need no recursion. */
#include "engine/system/bind_int.h"
#include "engine/system/units.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };
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

bool machine_fault(machine *m, const syntax_item *item, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)hamel_fail(m->s->error, HAMEL_INVALID, m->pointer, item->column, "%s", text);
    hamel_quote(m->s->error, m->code->text, m->code->length);
    return false;
}

bool machine_push(machine *m, graph_node node, const char *name) {
    system_binder *b = m->s->binder;
    if (node < 0 && !name) /* an error has been reported, or the graph could not add the node */
        return graph_status(m->s->graph) != HAMEL_OK && binder_graph_fault(m->s, m->pointer);
    machine_value *stack = arena_grow(m->s->memory, b->stack, &b->stack_capacity, m->depth + 1, sizeof *stack);
    if (!stack) return binder_graph_fault(m->s, m->pointer);
    b->stack = stack;
    stack[m->depth++] = (machine_value){node, name};
    return true;
}

machine_value machine_pop(machine *m) {
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

bool machine_integer(machine *m, const syntax_item *item, graph_node node, const char *what, long long *value) {
    double number;
    binder_note_structural(m->s, node);
    if (!binder_number(m->s, node, &number)) {
        if (graph_status(m->s->graph) != HAMEL_OK) return binder_graph_fault(m->s, m->pointer);
        *value = 1; /* an arbitrary value: if a parameter is not bound yet, the code runs again */
        return m->s->binder->waiting_count > 0 ||
               machine_fault(m, item, "%s may contain only numbers, parameters and loop variables", what);
    }
    if (number != floor(number) || fabs(number) > 1e15)
        return machine_fault(m, item, "%s must be an integer, but is %.17g", what, number);
    *value = (long long)number;
    return true;
}

/* Writes name, name[3], name[1,2] or name[3].1 to text[NAME_BYTES]; pops the item's `count` indices from the stack. */
static bool indexed_name(machine *m, const syntax_item *item, char *text) {
    assert(item->count <= SYNTAX_INDICES_MAX && (size_t)item->count <= m->depth);
    if (item->length > NAME_BYTES / 2)
        return machine_fault(m, item, "the name is longer than %d bytes", NAME_BYTES / 2);
    int at = snprintf(text, NAME_BYTES, "%.*s", (int)item->length, item->as.name);
    size_t first = m->depth - (size_t)item->count;
    for (int k = 0; k < item->count; k++) {
        long long index;
        if (!machine_integer(m, item, m->s->binder->stack[first + (size_t)k].node, "an index", &index)) return false;
        at += snprintf(text + at, (size_t)(NAME_BYTES - at), "%c%lld", k ? ',' : '[', index);
    }
    if (item->count) at += snprintf(text + at, (size_t)(NAME_BYTES - at), "]");
    if (item->suffix_length > NAME_BYTES / 8)
        return machine_fault(m, item, "the name is longer than %d bytes", NAME_BYTES / 2);
    if (item->suffix_length)
        snprintf(text + at, (size_t)(NAME_BYTES - at), ".%.*s", (int)item->suffix_length, item->as.name + item->suffix);
    m->depth = first;
    return true;
}

bool machine_allows(machine *m, const syntax_item *item, graph_node node, const char *text) {
    unsigned extra = graph_depends(m->s->graph, node) & ~places[m->place].mask;
    if (!extra) return true;
    const char *what = extra & GRAPH_DEPENDS(SYMBOL_MULTIPLIER)     ? "multipliers"
                       : extra & GRAPH_DEPENDS(SYMBOL_ACCELERATION) ? "accelerations"
                       : extra & GRAPH_DEPENDS(SYMBOL_VELOCITY)     ? "velocities"
                       : extra & GRAPH_DEPENDS(SYMBOL_COORDINATE)   ? "coordinates"
                                                                    : "time";
    return machine_fault(m, item, "%s may not be used here: `%s` contains %s, but only %s are allowed", what, text,
                         what, places[m->place].meaning);
}

static bool unknown_name(machine *m, const syntax_item *item, const char *text) {
    (void)machine_fault(m, item, "unknown name `%s`", text);
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
        return machine_fault(m, item, "`%s` does not exist: `%s` has components 1 to %d", text, at->name, at->count);
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
            return machine_fault(m, item, "`%s` is a vector: write %s[1] to %s[%d] for its components", text, text,
                                 text, b->slots[index].count);
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
        (void)machine_fault(m, item,
                            item->primes > 1 ? "`%s` is not a coordinate; '' gives the acceleration of a coordinate"
                                             : "`%s` is not a coordinate; ' gives the velocity of a coordinate",
                            text);
        return hamel_suggest(m->s->error, "write der(%s) for the total time derivative of an expression", text), false;
    }
    if (item->primes) strncat(text, item->primes == 2 ? "''" : "'", sizeof text - strlen(text) - 1);
    if (node >= 0 && !machine_allows(m, item, node, text)) return false;
    return machine_push(m, node, NULL);
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
    graph_node upper = machine_pop(m).node, lower = machine_pop(m).node;
    if (!machine_integer(m, item, lower, "the lower end of sum()", &first) ||
        !machine_integer(m, item, upper, "the upper end of sum()", &last))
        return false;
    size_t body = *at + 1;
    sum_memory known = *memory_of(m, body, first, last < first ? first - 1 : last);
    if (known.last >= last) {
        *at = body + (size_t)item->count; /* index of SYNTAX_SUM_END; the caller's loop then skips it */
        return machine_push(m, known.total, NULL);
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
    f->total = graph_add(m->s->graph, f->total, machine_pop(m).node);
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
    return machine_push(m, f->total, NULL);
}

static bool run_item(machine *m, const syntax_item *item, size_t *at) {
    graph *g = m->s->graph;
    graph_node x, y = GRAPH_NONE, z = GRAPH_NONE;
    char text[NAME_BYTES];
    switch ((syntax_kind)item->kind) {
    case SYNTAX_NUMBER: return machine_push(m, graph_number(g, item->as.number), NULL);
    case SYNTAX_NAME: return run_name(m, item);
    case SYNTAX_ARGUMENT:
        return indexed_name(m, item, text) && machine_push(m, GRAPH_NONE, arena_text(m->s->memory, text, strlen(text)));
    case SYNTAX_OPERATOR:
        if (graph_op_get((graph_op)item->op)->arity > 2) z = machine_pop(m).node;
        if (graph_op_get((graph_op)item->op)->arity > 1) y = machine_pop(m).node;
        x = machine_pop(m).node;
        if ((item->op == GRAPH_SIN || item->op == GRAPH_COS || item->op == GRAPH_TAN) && item[-1].kind == SYNTAX_NUMBER)
            system_warn_degrees(m->s, m->pointer, "the angle in a sine, cosine or tangent", item[-1].as.number);
        return machine_push(m, graph_apply(g, (graph_op)item->op, x, y, z), NULL);
    case SYNTAX_QUANTITY: return machine_run_quantity(m, item);
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
        if (!machine_integer(&m, &code->items[count ? count - 1 : 0], machine_pop(&m).node, "an index", &values[k]))
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
    graph_node node = run_machine(&m, code.count) ? machine_pop(&m).node : GRAPH_NONE;
    *complete = s->binder->waiting_count == 0;
    return node;
}
