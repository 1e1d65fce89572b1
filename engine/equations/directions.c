/* directions.c — quasi-velocities along the free directions of constraints.
 *
 * A constraint a w_i + b w_j + … = 0 prescribes the velocity component perpendicular to a direction, such as that of a
 * sleigh's blade. If the constraint is solved for w_i or w_j, the divisor is the coefficient a or b, which vanishes in
 * some positions. If the velocity along the direction, u = (b w_i − a w_j)/p with p² = a² + b², is used instead, no
 * divisor vanishes. The equations are then those of the textbooks (Neimark & Fufaev, ch. 3; Baruh 4.7):
 *
 *   w_i = a ρ/(a² + b²) + b u/p,  w_j = b ρ/(a² + b²) − a u/p,  where ρ = a w_i + b w_j follows from the other velocities.
 *
 * A direction is found if a² + b² = 1, as for a wheel, a blade, or a thread of prescribed slope. If a and b are the
 * only coefficients, a² + b² need only be constant when the constraints hold, as for a bead on a circle. For a bead on
 * a sphere, no direction is found, and the constraint is solved for the velocity whose coefficient is largest at the
 * initial state. */
#include "engine/equations/written.h"

#include "engine/algebra/arrange.h"
#include "engine/system/binder.h"

#include <assert.h>
#include <string.h>

/* A constraint in terms of the velocities w that are not yet solved for. */
typedef struct row {
    graph_node f, *coefficients; /* f: the constraint is f = 0; coefficients: one per velocity */
    size_t width, nonzero;
    bool constant; /* at least one coefficient is constant */
} row;

static bool depends_only(const graph *g, graph_node node, unsigned kinds) {
    return (graph_depends(g, node) & ~kinds) == 0;
}

static bool read_row(written *w, const written_directions *d, size_t constraint, row *r) {
    graph *g = w->system->graph;
    r->width = w->n + d->count;
    r->f = graph_substitute(g, w->equations.velocity[constraint], SYMBOL_VELOCITY, d->velocity, r->width);
    r->f = graph_sub(g, r->f, w->excess[constraint]);
    r->nonzero = 0;
    r->constant = false;
    for (size_t k = 0; k < r->width; k++) {
        graph_node velocity = graph_symbol(g, SYMBOL_VELOCITY, (int32_t)k);
        graph_node x = r->coefficients[k] = written_arranged(w, graph_partial(g, r->f, velocity));
        if (graph_is_zero(g, x)) continue;
        if (graph_depends(g, x) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) return false; /* not linear */
        r->nonzero++;
        r->constant |= depends_only(g, x, GRAPH_DEPENDS(SYMBOL_PARAMETER));
    }
    return graph_status(g) == HAMEL_OK;
}

/* Returns the numerical factor of the first term of an arranged sum. */
static double leading_number(const graph *g, graph_node node) {
    double number = 1;
    for (;;) {
        const graph_cell *cell = graph_at(g, node);
        bool first = cell->op == GRAPH_ADD || cell->op == GRAPH_SUB || cell->op == GRAPH_MUL || cell->op == GRAPH_NEG;
        if (!first) break;
        node = cell->as.operand[0];
    }
    (void)graph_is_number(g, node, &number);
    return number;
}

/* Divides a and b by a common numerical factor, because (2 x, 2 y) has the same direction as (x, y). Returns the
 * factor. */
static double take_number(written *w, graph_node *a, graph_node *b) {
    graph *g = w->system->graph;
    double number = leading_number(g, *a);
    if (number != leading_number(g, *b) || number == 0) return 1;
    *a = written_arranged(w, graph_div(g, *a, graph_number(g, number)));
    *b = written_arranged(w, graph_div(g, *b, graph_number(g, number)));
    return number;
}

static graph_node sum_of_squares(graph *g, graph_node a, graph_node b) {
    return graph_add(g, graph_mul(g, a, a), graph_mul(g, b, b));
}

/* Simplifies `squares`, which is a² + b², with the holonomic constraints. If the result is not 0 and contains no
 * coordinates, returns the result, otherwise GRAPH_NONE. */
static graph_node length_on_constraints(written *w, graph_node squares) {
    graph *g = w->system->graph;
    graph_node sum = arrange_where(g, squares, w->zero, w->zero_count, &w->work_budget, w->memory);
    bool constant = depends_only(g, sum, GRAPH_DEPENDS(SYMBOL_PARAMETER) | GRAPH_DEPENDS(SYMBOL_TIME));
    return constant && !graph_is_zero(g, sum) ? sum : GRAPH_NONE;
}

typedef struct direction {
    size_t i, j;
    graph_node a, b, squares;
    double number; /* the coefficients are number·a and number·b */
} direction;

static bool find_unit(written *w, const row *r, direction *d) {
    graph *g = w->system->graph;
    for (d->i = 0; d->i < r->width; d->i++)
        for (d->j = d->i + 1; d->j < r->width; d->j++) {
            double value;
            d->a = r->coefficients[d->i];
            d->b = r->coefficients[d->j];
            d->number = 1;
            if (graph_is_zero(g, d->a) || graph_is_zero(g, d->b)) continue;
            d->squares = written_arranged(w, sum_of_squares(g, d->a, d->b));
            if (graph_is_number(g, d->squares, &value) && value == 1 && !graph_is_number(g, d->a, NULL)) return true;
        }
    return false;
}

static bool find_pair(written *w, const row *r, direction *d) {
    graph *g = w->system->graph;
    size_t found[2], count = 0;
    if (r->nonzero != 2 || r->constant) return false;
    for (size_t k = 0; k < r->width && count < 2; k++)
        if (!graph_is_zero(g, r->coefficients[k])) found[count++] = k;
    *d = (direction){.i = found[0], .j = found[1], .a = r->coefficients[found[0]], .b = r->coefficients[found[1]]};
    d->number = take_number(w, &d->a, &d->b);
    d->squares = length_on_constraints(w, sum_of_squares(g, d->a, d->b));
    return d->squares >= 0;
}

/* If `squares` is the square of an expression p, returns p. Otherwise returns 1. The quasi-velocity is then p·u instead
 * of u. */
static graph_node root_of_squares(graph *g, graph_node squares) {
    double exponent;
    const graph_cell *cell = graph_at(g, squares);
    bool square = cell->op == GRAPH_POW && graph_is_number(g, cell->as.operand[1], &exponent) && exponent == 2;
    return square ? cell->as.operand[0] : graph_number(g, 1);
}

/* Returns a name that the description does not use, or NULL if out of memory. */
static const char *name_along(written *w, const char *constraint) {
    const char *name = arena_format(w->memory, "v_%s", constraint);
    while (name && symbol_find(&w->system->binder->quantities, name, strlen(name)) >= 0)
        name = arena_format(w->memory, "v%s", name);
    return name;
}

/* Returns the definition of the velocity in terms of q'. */
static graph_node definition_of(const written *w, const written_directions *d, size_t velocity) {
    return velocity < w->n ? w->system->v[velocity] : d->quasi[velocity - w->n].definition;
}

static void replace_velocity(written *w, written_directions *d, size_t width, size_t i, graph_node by) {
    graph *g = w->system->graph;
    d->velocity[i] = written_arranged(w, by);
    for (size_t k = 0; k < width; k++)
        if (d->velocity[k] >= 0)
            d->velocity[k] =
                written_arranged(w, graph_substitute(g, d->velocity[k], SYMBOL_VELOCITY, d->velocity, width));
}

static bool add_direction(written *w, written_directions *d, size_t constraint, const row *r, const direction *along) {
    assert(along->i < along->j && along->j < r->width);
    graph *g = w->system->graph;
    const char *name = name_along(w, w->system->constraints[constraint].name);
    int32_t index = name ? written_symbol(w, name) : -1;
    if (index < 0) return false;
    graph_node u = graph_symbol(g, SYMBOL_VELOCITY, index), p = root_of_squares(g, along->squares);
    graph_node scale = graph_is_number(g, p, NULL) ? along->squares : p; /* divisor of u, or of p·u */
    graph_node *still = arena_alloc(w->memory, r->width, sizeof *still);
    if (!still) return false;
    for (size_t k = 0; k < r->width; k++) still[k] = GRAPH_NONE;
    still[along->i] = still[along->j] = graph_number(g, 0);
    graph_node others = graph_substitute(g, r->f, SYMBOL_VELOCITY, still, r->width);
    others = graph_div(g, others, graph_number(g, along->number));
    graph_node across = graph_neg(g, graph_div(g, others, along->squares));
    graph_node left = definition_of(w, d, along->i), right = definition_of(w, d, along->j);
    left = graph_sub(g, graph_mul(g, along->b, left), graph_mul(g, along->a, right));
    d->quasi[d->count++] = (quasi_velocity){name, written_arranged(w, graph_div(g, left, p))};
    graph_node part = graph_div(g, graph_mul(g, along->b, u), scale);
    replace_velocity(w, d, w->n + d->count, along->i, graph_add(g, graph_mul(g, along->a, across), part));
    part = graph_div(g, graph_mul(g, along->a, u), scale);
    replace_velocity(w, d, w->n + d->count, along->j, graph_sub(g, graph_mul(g, along->b, across), part));
    d->used[constraint] = true;
    return graph_status(g) == HAMEL_OK;
}

/* Kinds of constraints, in the order in which they are searched for. Constraints of the kinds BLADES and WHEELS satisfy
 * a² + b² = 1. Among them, only those of the kind WHEELS have a constant coefficient. Constraints of the kind CIRCLES
 * have only the coefficients a and b, and a² + b² is constant when the constraints hold. */
enum { BLADES, WHEELS, CIRCLES, KINDS };

static bool matches(written *w, int kind, const row *r, direction *found) {
    if (kind == CIRCLES) return find_pair(w, r, found);
    return r->constant == (kind == WHEELS) && find_unit(w, r, found);
}

bool written_find_directions(written *w, written_directions *d) {
    row r = {.coefficients = arena_alloc(w->memory, w->n + w->m, sizeof *r.coefficients)};
    direction found = {0};
    if (!r.coefficients) return false;
    for (bool more = true; more;) { /* every round but the last uses at least one constraint */
        more = false;
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t c = 0; c < w->m; c++) {
                bool open = !d->used[c] && w->acts[c] && w->equations.velocity[c] >= 0;
                if (!open || !read_row(w, d, c, &r) || !matches(w, kind, &r, &found)) continue;
                if (!add_direction(w, d, c, &r, &found)) return false;
                more = true;
            }
    }
    return graph_status(w->system->graph) == HAMEL_OK;
}
