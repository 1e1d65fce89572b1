/* divisors.c — finds the divisors in the expressions of the velocities that were solved for.
 *
 * Velocities are solved for once, at the initial state. The resulting rates are valid between the zeros of their
 * divisors. At a zero, the free velocities no longer determine the other velocities. A trajectory that crosses a zero
 * in a single step is wrong after this step. Even if a long step crosses a zero without evaluating a state near it, the
 * sign of the divisor shows on which side a state is. The generated C code therefore compares each divisor with its
 * initial value and rejects states on the other side of a zero.
 *
 * Divisors are collected from the final expressions, so divisors that have canceled are omitted. Divisors that occur in
 * the description are also omitted. */
#include "engine/base/tolerances.h"
#include "engine/equations/written.h"

#include <assert.h>
#include <math.h>

typedef struct divisor_list {
    written *w;
    graph_node *nodes;
    size_t count, capacity;
} divisor_list;

static bool list_contains(const divisor_list *list, graph_node node) {
    for (size_t k = 0; k < list->count; k++)
        if (list->nodes[k] == node) return true;
    return false;
}

static bool add_divisor(divisor_list *list, graph_node node) {
    if (list_contains(list, node)) return true;
    graph_node *nodes = arena_grow(list->w->memory, list->nodes, &list->capacity, list->count + 1, sizeof *nodes);
    if (!nodes) return false;
    list->nodes = nodes;
    nodes[list->count++] = node;
    return true;
}

/* Adds the factors of a divisor that depend on the state. Each factor is added separately, because the sign of the
 * product does not change when two factors change sign together. */
static bool add_factors(divisor_list *list, graph_node divisor) {
    const unsigned state = GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_TIME);
    graph *g = list->w->system->graph;
    graph_node *below;
    size_t count = graph_below(g, &divisor, 1, list->w->memory, &below);
    bool *factor = count ? arena_alloc(list->w->memory, count, sizeof *factor) : NULL;
    if (!factor) return false;
    factor[count - 1] = true; /* operands precede results */
    for (size_t k = count; k-- > 0;) {
        const graph_cell *cell = graph_at(g, below[k]);
        bool product = cell->op == GRAPH_MUL, power = cell->op == GRAPH_POW, sign = cell->op == GRAPH_NEG;
        if (!factor[k] || !(graph_depends(g, below[k]) & state)) continue;
        if (product || power || sign) factor[graph_position(below, count, cell->as.operand[0])] = true;
        if (product) factor[graph_position(below, count, cell->as.operand[1])] = true;
        if (!product && !power && !sign && !add_divisor(list, below[k])) return false;
    }
    return true;
}

static bool collect_divisors(divisor_list *list, const graph_node *nodes, size_t node_count) {
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

/* Lists the rates that contain the divisor, with the constraints they were solved from: "y' (constraint edge), z'". */
static const char *rates_divided_by(written *w, graph_node divisor, const char *const *solved_from) {
    const char *text = "";
    for (size_t i = 0; i < w->n && text; i++) {
        divisor_list list = {.w = w};
        if (!collect_divisors(&list, &w->rates[i], 1)) return NULL;
        if (!list_contains(&list, divisor)) continue;
        const char *from = solved_from[i];
        text = arena_format(w->memory, "%s%s%s'%s%s%s", text, *text ? ", " : "", w->system->coordinates[i].name,
                            from ? " (constraint " : "", from ? from : "", from ? ")" : "");
    }
    return text;
}

static bool evaluate_at_start(written *w, const divisor_list *list) {
    assert(list->count > 0);
    graph *g = w->system->graph;
    graph_point start = w->start;
    start.error[SYMBOL_COORDINATE] = PROJECTION_ERROR;
    double *value = arena_alloc(w->memory, 2 * list->count, sizeof *value), *error = value ? value + list->count : NULL;
    if (!value || !graph_values(g, list->nodes, list->count, &start, value, error)) return false;
    bool regular = true;
    for (size_t k = 0; k < list->count; k++) {
        w->divisors[k].start = value[k];
        regular = regular && isfinite(value[k]) && fabs(value[k]) > ROUNDING_SAFETY * error[k];
    }
    return regular ||
           written_cannot(w, "the initial state is singular for the chosen free velocities", WRITTEN_BY_LAGRANGE);
}

bool written_find_divisors(written *w, const graph_node *given, size_t given_count, const char *const *solved_from) {
    divisor_list all = {.w = w}, known = {.w = w}, list = {.w = w};
    if (!collect_divisors(&known, given, given_count) || !collect_divisors(&all, w->rates, w->n)) return false;
    for (size_t k = 0; k < all.count; k++)
        if (!list_contains(&known, all.nodes[k]) && !add_divisor(&list, all.nodes[k])) return false;
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
