/* inputs.c — inputs by name, and derivatives with respect to inputs by the chain rule through dependent parameters. */
#include "engine/model/inputs.h"

#include "engine/mechanics/equations.h"
#include "engine/system/binder.h"

#include <string.h>

int32_t inputs_find_parameter(const hamel_system *s, const char *name) {
    const symbol_table *names = &s->binder->quantities;
    int32_t found = symbol_find(names, name, strlen(name));
    if (found < 0 || names->symbols[found].value % ENTRY_KINDS != ENTRY_PARAMETER) return -1;
    return names->symbols[found].value / ENTRY_KINDS;
}

static int32_t find_quasi_velocity(const hamel_system *s, const char *name, size_t length) {
    for (size_t i = 0; i < s->quasi_count; i++)
        if (strncmp(s->quasi[i].name, name, length) == 0 && !s->quasi[i].name[length]) return (int32_t)i;
    return -1;
}

/* Returns the length of NAME in "NAME.initial" or "NAME.velocity" and sets *kind. For other texts, returns 0 and sets
 * *kind to INPUT_NONE. */
static size_t base_length(const char *name, input_kind *kind) {
    const char *dot = strrchr(name, '.');
    *kind = !dot                            ? INPUT_NONE
            : strcmp(dot, ".initial") == 0  ? INPUT_INITIAL
            : strcmp(dot, ".velocity") == 0 ? INPUT_VELOCITY
                                            : INPUT_NONE;
    return *kind == INPUT_NONE ? 0 : (size_t)(dot - name);
}

const char *inputs_base_name(hamel_system *s, const char *name, input_kind *kind) {
    size_t length = base_length(name, kind);
    return *kind == INPUT_NONE ? NULL : arena_text(s->memory, name, length);
}

model_input inputs_find(const hamel_system *s, const char *name) {
    input_kind kind;
    int32_t index = inputs_find_parameter(s, name);
    if (index >= 0) return (model_input){INPUT_PARAMETER, index};
    size_t length = base_length(name, &kind);
    index = kind == INPUT_NONE ? -1 : symbol_find(&s->binder->coordinates, name, length);
    if (index >= 0) return (model_input){kind, s->binder->coordinates.symbols[index].value};
    index = kind == INPUT_INITIAL ? find_quasi_velocity(s, name, length) : -1;
    return (model_input){index >= 0 ? INPUT_QUASI : INPUT_NONE, index};
}

graph_node inputs_along(hamel_system *s, graph_node node, const graph_node *rates) {
    graph *g = s->graph;
    graph_node sum = graph_number(g, 0);
    int32_t *list;
    size_t count = node >= 0 ? node_support(s, node, SYMBOL_PARAMETER, &list) : 0;
    for (size_t k = 0; k < count; k++) {
        if (graph_is_zero(g, rates[list[k]])) continue;
        graph_node slope = graph_partial(g, node, graph_symbol(g, SYMBOL_PARAMETER, list[k]));
        sum = graph_add(g, sum, graph_mul(g, slope, rates[list[k]]));
    }
    return sum;
}

/* Repeats passes until no rate changes. There are at most as many passes as parameters, because definitions are not
 * circular. */
bool inputs_parameter_rates(hamel_system *s, int32_t input, graph_node *rates) {
    graph *g = s->graph;
    bool changed = true;
    for (size_t j = 0; j < s->parameter_count; j++) rates[j] = graph_number(g, (int32_t)j == input);
    for (size_t pass = 0; changed && pass < s->parameter_count; pass++) {
        changed = false;
        for (size_t j = 0; j < s->parameter_count; j++) {
            if ((int32_t)j == input) continue;
            graph_node rate = inputs_along(s, s->parameter_nodes[j], rates);
            changed |= rate != rates[j];
            rates[j] = rate;
        }
    }
    return graph_status(g) == HAMEL_OK;
}
