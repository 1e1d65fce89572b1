/* bind_quantities.c — translates calls of functions that are not computed from the values of their arguments alone,
 * such as der(), position(), table(), integral(), lambda() and energy(). */
#include "engine/system/bind_int.h"
#include "engine/system/kinematics.h"

#include <assert.h>

static bool element_argument(machine *m, const syntax_item *item, const symbol_table *table, const char *kind,
                             const char *name, int32_t *index) {
    *index = binder_find(table, name);
    if (*index >= 0) return true;
    (void)machine_fault(m, item, "%s() needs a %s, but `%s` is not one", quantity_text(item->op), kind, name);
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
        return machine_fault(m, item,
                             "der() cannot differentiate multipliers, reactions, integrals and rates of accelerations");
    if ((needs & motion) && m->place == PLACE_OUTPUT) {
        graph_node third = path_rate(m->s, e);
        locate_faults(m, item, faults);
        return machine_push(m, third, NULL);
    }
    if (needs & motion)
        return machine_fault(m, item, "der() can differentiate accelerations only in outputs, invariants and checks");
    graph_node rate = system_rate(m->s, e, m->pointer, "the operand of der()");
    if (rate >= 0 && !machine_allows(m, item, rate, "der(...)")) return false;
    return machine_push(m, rate, NULL);
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
    if (!machine_integer(m, item, k, "the component", &component)) return false;
    if (component < 1 || component > 3) return machine_fault(m, item, "the component must be 1, 2 or 3");
    if (turns && component < 3 && m->s->dimension == 2)
        system_warn(m->s, m->pointer, "in the plane %s() has only component 3; components 1 and 2 are 0",
                    quantity_text(item->op));
    if (!located_need(m->s, element, &complete)) return false;
    const system_located *at = &b->located[element];
    if (turns && !at->turns)
        return machine_fault(m, item, "`%s` has no orientation, so it has no angular velocity", name);
    if (complete)
        node = item->op == QUANTITY_ANGULAR_VELOCITY ? at->omega[component - 1]
               : turns                               ? at->omega_body[component - 1]
                                                     : at->position[component - 1];
    if (item->op == QUANTITY_VELOCITY || item->op == QUANTITY_ACCELERATION)
        node = system_rate(m->s, node, m->pointer, "a position");
    if (item->op == QUANTITY_ACCELERATION) node = system_rate(m->s, node, m->pointer, "a velocity");
    if (node >= 0 && !machine_allows(m, item, node, quantity_text(item->op))) return false;
    return machine_push(m, node, NULL);
}

/* Runs table(NAME, x). The result is 0 if the table is not bound yet, or if an error is reported at the table. */
static bool run_table(machine *m, const syntax_item *item, const char *name, graph_node x) {
    int32_t table;
    graph *g = m->s->graph;
    if (!element_argument(m, item, &m->s->binder->table_names, "table", name, &table)) return false;
    bool made = binder_need_table(m->s, table);
    return machine_push(m, made ? graph_lookup(g, x, m->s->binder->tables[table].index, 0) : graph_number(g, 0), NULL);
}

/* Computes the argument k of kinetic_energy(k). */
static bool degree_argument(machine *m, const syntax_item *item, graph_node k, int32_t *degree) {
    long long value;
    if (!machine_integer(m, item, k, "the degree", &value)) return false;
    if (value < 0 || value > 2)
        return machine_fault(m, item, "kinetic_energy(k) is the part of degree k in the velocities: k is 0, 1 or 2");
    *degree = (int32_t)value;
    return true;
}

/* Sets *index to the residual_form FORM of form_residual(FORM, coordinate), or to the energy_term NAME of
 * energy_rate(NAME) or quasi_energy_rate(NAME). If `name` is unknown, adds an error and returns false. */
static bool word_argument(machine *m, const syntax_item *item, const char *name, int32_t *index) {
    const char *expected;
    bool is_form = item->op == QUANTITY_FORM_RESIDUAL;
    *index = is_form ? residual_form_find(name, &expected)
                     : energy_term_find(name, item->op == QUANTITY_QUASI_ENERGY_RATE, &expected);
    if (*index >= 0) return true;
    if (is_form)
        return machine_fault(m, item, "form_residual() needs a form (%s), but `%s` is not one", expected, name);
    (void)machine_fault(m, item, "%s() has no term `%s`", quantity_text(item->op), name);
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
        return machine_fault(m, item, "%s() may not contain another integral", quantity_text(item->op));
    if (!m->quantities || s->binder->waiting_count > 0) return machine_push(m, graph_number(g, 0), NULL);
    if (binder_is_nonsmooth(s, e))
        system_warn(s, m->pointer,
                    "the integrand of %s() may have jumps or kinks, so the error of the integral may exceed the "
                    "tolerances; set simulation.max_step to less than the time between jumps",
                    quantity_text(item->op));
    graph_node sum = system_integral(s, e, m->pointer);
    if (item->op == QUANTITY_INTEGRAL) return machine_push(m, sum, NULL);
    graph_node elapsed = system_integral(s, graph_number(g, 1), m->pointer),
               started = graph_apply(g, GRAPH_GT, elapsed, graph_number(g, 0), GRAPH_NONE);
    return machine_push(m, graph_apply(g, GRAPH_IF, started, graph_div(g, sum, elapsed), e), NULL);
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
            if (!machine_integer(m, item, argument[i].node, "the component", &component)) return false;
            if (component < 1 || component > 3) return machine_fault(m, item, "the component must be 1, 2 or 3");
            call.component = (int)component - 1;
        } else if (!element_argument(m, item, table, contact ? "rolling joint" : "particle, body, point or frame",
                                     argument[i].name, &call.elements[names++]))
            return false;
    }
    if (m->place != PLACE_OUTPUT) {
        (void)machine_fault(m, item, "%s() may not be used here", quantity_text(call.quantity));
        return hamel_suggest(m->s->error, "use it only in outputs, invariants, checks and events"), false;
    }
    if (!m->quantities) return machine_push(m, graph_number(m->s->graph, 0), NULL);
    graph_node node = kinematics_node(m->s, &call);
    locate_faults(m, item, faults);
    return machine_push(m, node, NULL);
}

/* Sets index[k] to the value of argument k: a degree, a residual_form, an energy_term, or the index of a coordinate or
 * constraint. Returns false after an error. */
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

bool machine_run_quantity(machine *m, const syntax_item *item) {
    machine_value argument[3] = {{GRAPH_NONE, NULL}, {GRAPH_NONE, NULL}, {GRAPH_NONE, NULL}};
    int32_t index[2] = {-1, -1};
    assert(item->count >= 0 && item->count <= 3);
    for (int32_t k = item->count; k-- > 0;) argument[k] = machine_pop(m);
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
        return (lambda < 0 || machine_allows(m, item, lambda, "lambda()")) && machine_push(m, lambda, NULL);
    }
    bool in_force = m->place == PLACE_FORCE && item->op == QUANTITY_REACTION,
         in_nonideal = m->place == PLACE_NONIDEAL && item->op == QUANTITY_IDEAL;
    bool served = m->quantities || m->s->error->count > 0; /* after an error, only syntax and names are checked */
    if ((m->place != PLACE_OUTPUT && !in_force && !in_nonideal) || !served) {
        (void)machine_fault(m, item, "%s() may not be used here", quantity_text(item->op));
        return hamel_suggest(m->s->error, "use it only in outputs, invariants and checks%s", known_elsewhere(item->op)),
               false;
    }
    if (item->op == QUANTITY_INTEGRAL || item->op == QUANTITY_MEAN) return run_integral(m, item, argument[0].node);
    if (!m->quantities) return machine_push(m, graph_number(m->s->graph, 0), NULL);
    size_t faults = m->s->error->count;
    graph_node node = m->quantities->get(m->quantities->context, (syntax_quantity)item->op, index);
    if (node < 0) locate_faults(m, item, faults);
    return machine_push(m, node, NULL);
}
