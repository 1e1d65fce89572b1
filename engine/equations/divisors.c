/* divisors.c — what solving for velocities has divided by.
 *
 * Velocities are solved for once, at the start. The rates that result hold between the zeros of their divisors: at a
 * zero the free velocities no longer determine the others, and a step across it leads to any motion. The sign of a divisor
 * tells on which side a state is, even where steps are too long to come near the zero. A program that has the rates can
 * thus refuse the states beyond, if it has the divisors and their values at the start.
 *
 * Divisors are read off the expressions, so those that canceled are left out, and so are those of the description itself. */
#include "engine/equations/written.h"

#include <math.h>
#include <stdlib.h>

static const double STATE_ERROR = 1e-11; /* of initial values: rounding of π/2, and what a projection leaves */
static const double SAFETY = 8;          /* of the bound on rounding, as in engine/analyze/zero.c */

typedef struct divisor_list {
    written *w;
    graph_node *nodes;
    size_t count, capacity;
} divisor_list;

static bool contains(const divisor_list *list, graph_node node) {
    for (size_t k = 0; k < list->count; k++)
        if (list->nodes[k] == node) return true;
    return false;
}

static bool add(divisor_list *list, graph_node node) {
    if (contains(list, node)) return true;
    graph_node *nodes = arena_grow(list->w->memory, list->nodes, &list->capacity, list->count + 1, sizeof *nodes);
    if (!nodes) return false;
    list->nodes = nodes;
    nodes[list->count++] = node;
    return true;
}

/* The factors of a divisor that change with the state, each by itself: two that change sign together leave the sign of
 * the product. */
static bool add_factors(divisor_list *list, graph_node divisor) {
    const unsigned state = GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_TIME);
    graph *g = list->w->system->graph;
    graph_node *below;
    size_t count = graph_below(g, &divisor, 1, list->w->memory, &below);
    bool *factor = count ? arena_alloc(list->w->memory, count, sizeof *factor) : NULL;
    if (!factor) return false;
    factor[count - 1] = true; /* operands come before what is made of them */
    for (size_t k = count; k-- > 0;) {
        const graph_cell *cell = graph_at(g, below[k]);
        bool product = cell->op == GRAPH_MUL, power = cell->op == GRAPH_POW, sign = cell->op == GRAPH_NEG;
        if (!factor[k] || !(graph_depends(g, below[k]) & state)) continue;
        if (!product && !power && !sign) {
            if (!add(list, below[k])) return false;
            continue;
        }
        factor[graph_position(below, count, cell->as.operand[0])] = true;
        if (product) factor[graph_position(below, count, cell->as.operand[1])] = true;
    }
    return true;
}

static bool collect(divisor_list *list, const graph_node *nodes, size_t node_count) {
    graph *g = list->w->system->graph;
    graph_node *below;
    size_t count = node_count ? graph_below(g, nodes, node_count, list->w->memory, &below) : 0;
    if (node_count && count == 0) return false;
    for (size_t k = 0; k < count; k++) {
        const graph_cell *cell = graph_at(g, below[k]);
        double exponent = 0;
        bool inverse = cell->op == GRAPH_POW && graph_is_number(g, cell->as.operand[1], &exponent) && exponent < 0;
        if (cell->op != GRAPH_DIV && !inverse) continue;
        if (!add_factors(list, cell->as.operand[inverse ? 0 : 1])) return false;
    }
    return true;
}

/* "y' (constraint edge), z'": the rates that contain the divisor, and what they were solved from. */
static const char *rates_divided_by(written *w, graph_node divisor, const char *const *solved_from) {
    const char *text = "";
    for (size_t i = 0; i < w->n && text; i++) {
        divisor_list list = {.w = w};
        if (!collect(&list, &w->rates[i], 1)) return NULL;
        if (!contains(&list, divisor)) continue;
        const char *from = solved_from[i];
        text = written_text(w, "%s%s%s'%s%s%s", text, *text ? ", " : "", w->system->coordinates[i].name,
                            from ? " (constraint " : "", from ? from : "", from ? ")" : "");
    }
    return text;
}

static bool evaluate_at_start(written *w, const divisor_list *list) {
    graph *g = w->system->graph;
    graph_point start = w->start;
    graph_node last = 0;
    start.error[SYMBOL_COORDINATE] = STATE_ERROR;
    for (size_t k = 0; k < list->count; k++) last = list->nodes[k] > last ? list->nodes[k] : last;
    double *value = calloc(2 * ((size_t)last + 1), sizeof *value), *error = value + last + 1;
    if (!value) return false;
    graph_evaluate(g, last, &start, value, error);
    bool regular = true;
    for (size_t k = 0; k < list->count; k++) {
        graph_node node = list->nodes[k];
        w->divisors[k].start = value[node];
        regular = regular && isfinite(value[node]) && fabs(value[node]) > SAFETY * error[node];
    }
    free(value);
    return regular || written_cannot(w, "the start is singular for the velocities that were chosen as free",
                                     "write the equations with multipliers: --formulation lagrange");
}

bool written_find_divisors(written *w, const graph_node *given, size_t given_count, const char *const *solved_from) {
    divisor_list all = {.w = w}, known = {.w = w}, list = {.w = w};
    if (!collect(&known, given, given_count) || !collect(&all, w->rates, w->n)) return false;
    for (size_t k = 0; k < all.count; k++)
        if (!contains(&known, all.nodes[k]) && !add(&list, all.nodes[k])) return false;
    if (list.count == 0) return true;
    w->divisors = arena_alloc(w->memory, list.count, sizeof *w->divisors);
    if (!w->divisors || !evaluate_at_start(w, &list)) return false;
    for (size_t k = 0; k < list.count; k++) {
        w->divisors[k].node = list.nodes[k];
        w->divisors[k].of = rates_divided_by(w, list.nodes[k], solved_from);
        if (!w->divisors[k].of) return false;
    }
    w->divisor_count = list.count;
    return true;
}
