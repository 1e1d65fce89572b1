/* inputs.c — see the header. Derivatives are taken in the graph, by the chain rule from parameter to parameter. */
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

/* Parameters refer to each other without circles, so as many passes as there are parameters are enough; few are needed. */
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
