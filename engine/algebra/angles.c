/* angles.c — writes arguments of sines and cosines as sums of terms. Lists the pairs of angles whose sum or difference
 * is an angle of the ring. */
#include "engine/algebra/ring.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { TERM_FACTORS = 8 };

/* Writes the node as *factor · rest with a number *factor. Returns the rest. */
static graph_node split_factor(const ring *r, graph_node node, double *factor) {
    const graph_cell *cell = graph_at(r->graph, node);
    if (graph_is_number(r->graph, node, factor)) return graph_number(r->graph, 1);
    *factor = 1;
    if (cell->op == GRAPH_MUL && graph_is_number(r->graph, cell->as.operand[0], factor)) return cell->as.operand[1];
    return node;
}

/* Lists the factors of a product, sorted by node index. Returns the number of factors, or 0 if there are more than
 * TERM_FACTORS. */
static size_t factors_of(const ring *r, graph_node product, graph_node *factors) {
    size_t count = 1;
    factors[0] = product;
    for (size_t i = 0; i < count;) {
        const graph_cell *cell = graph_at(r->graph, factors[i]);
        if (cell->op != GRAPH_MUL) {
            i++;
            continue;
        }
        if (count == TERM_FACTORS) return 0;
        factors[count++] = cell->as.operand[1];
        factors[i] = cell->as.operand[0];
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && factors[k - 1] > factors[k]; k--) {
            graph_node larger = factors[k - 1];
            factors[k - 1] = factors[k];
            factors[k] = larger;
        }
    return count;
}

static bool same_product(const ring *r, graph_node x, graph_node y) {
    graph_node left[TERM_FACTORS], right[TERM_FACTORS];
    if (x == y) return true;
    if (graph_at(r->graph, x)->op != GRAPH_MUL || graph_at(r->graph, y)->op != GRAPH_MUL) return false;
    size_t count = factors_of(r, x, left);
    return count > 0 && count == factors_of(r, y, right) && memcmp(left, right, count * sizeof *left) == 0;
}

/* Returns a term of `angle`, or of an angle of the ring, that has the same factors as `term` in any order. If no such
 * term exists, returns `term`. */
static graph_node first_form(const ring *r, const ring_angle *angle, graph_node term) {
    for (size_t i = 0; i < angle->count; i++)
        if (same_product(r, angle->term[i], term)) return angle->term[i];
    for (int k = 0; k < r->angle_count; k++)
        for (size_t i = 0; i < r->angles[k].count; i++)
            if (same_product(r, r->angles[k].term[i], term)) return r->angles[k].term[i];
    return term;
}

/* Moves the terms with the indices `from` and above, so that they begin at index `to`. */
static void move_terms(ring_angle *angle, size_t to, size_t from) {
    size_t moved = angle->count - from;
    assert(to + moved <= ANGLE_TERMS);
    memmove(angle->term + to, angle->term + from, moved * sizeof *angle->term);
    memmove(angle->factor + to, angle->factor + from, moved * sizeof *angle->factor);
    angle->count = to + moved;
}

static void add_term(ring_angle *angle, graph_node term, double factor) {
    size_t at = 0;
    while (at < angle->count && angle->term[at] < term) at++;
    if (at < angle->count && angle->term[at] == term) {
        angle->factor[at] += factor;
        if (angle->factor[at] == 0) move_terms(angle, at, at + 1);
        return;
    }
    move_terms(angle, at + 1, at);
    angle->term[at] = term;
    angle->factor[at] = factor;
}

/* Makes the first factor positive and returns the sign removed. */
static int take_sign(ring_angle *angle) {
    if (angle->count == 0 || angle->factor[0] > 0) return 1;
    for (size_t i = 0; i < angle->count; i++) angle->factor[i] = -angle->factor[i];
    return -1;
}

static bool equal(const ring_angle *x, const ring_angle *y) {
    if (x->count != y->count) return false;
    for (size_t i = 0; i < x->count; i++)
        if (x->term[i] != y->term[i] || x->factor[i] != y->factor[i]) return false;
    return true;
}

static int find_angle(const ring *r, const ring_angle *angle) {
    for (int i = 0; i < r->angle_count; i++)
        if (equal(&r->angles[i], angle)) return i;
    return -1;
}

static int find_or_add(ring *r, const ring_angle *angle) {
    assert(r->angle_count <= RING_ANGLES);
    int at = find_angle(r, angle);
    if (at >= 0 || r->open || r->angle_count == RING_ANGLES) return at; /* variables cannot be added to an open ring */
    r->angles[r->angle_count] = *angle;
    return r->angle_count++;
}

int ring_angle_of(ring *r, graph_node argument, int *sign) {
    graph_node *terms;
    signed char *signs;
    ring_angle angle = {0};
    size_t count = graph_terms(r->graph, argument, r->memory, NULL, &terms, &signs);
    for (size_t k = 0; k < count && count <= ANGLE_TERMS; k++) {
        double factor;
        graph_node term = first_form(r, &angle, split_factor(r, terms[k], &factor));
        add_term(&angle, term, signs[k] * factor);
    }
    for (size_t k = 0; k < angle.count; k++) r->failed |= !isfinite(angle.factor[k]);
    if (angle.count == 0) {
        angle.count = 1;
        angle.term[0] = argument;
        angle.factor[0] = 1;
    }
    *sign = take_sign(&angle);
    int at = find_or_add(r, &angle);
    if (at < 0) r->failed = true;
    return at;
}

graph_node ring_angle_node(ring *r, const ring_angle *angle) {
    graph *g = r->graph;
    graph_node sum = GRAPH_NONE;
    for (size_t i = 0; i < angle->count; i++) {
        double factor = fabs(angle->factor[i]), one;
        graph_node term = angle->term[i];
        if (graph_is_number(g, term, &one))
            term = graph_number(g, factor);
        else if (factor != 1)
            term = graph_literal(g, GRAPH_MUL, graph_number(g, factor), term);
        if (sum < 0)
            sum = term;
        else
            sum = graph_literal(g, angle->factor[i] < 0 ? GRAPH_SUB : GRAPH_ADD, sum, term);
    }
    return sum;
}

static ring_angle combine_angles(const ring_angle *a, const ring_angle *b, int sign) {
    ring_angle sum = *a;
    for (size_t i = 0; i < b->count && sum.count < ANGLE_TERMS; i++) add_term(&sum, b->term[i], sign * b->factor[i]);
    return sum;
}

static void add_terms_as_angles(ring *r, const ring_angle *angle) {
    for (size_t i = 0; i < angle->count && angle->count > 1; i++) {
        ring_angle part = {.count = 1, .term = {angle->term[i]}, .factor = {fabs(angle->factor[i])}};
        (void)find_or_add(r, &part);
    }
}

/* Returns true if z, the sum or difference of the angles x and y, is added to the ring as an angle. This requires that
 * z has at most as many terms as x and at most as many as y. An example is b − c, the difference of a + b and a + c. */
static bool is_worth(const ring_angle *x, const ring_angle *y, const ring_angle *z) {
    return z->count <= x->count && z->count <= y->count;
}

static void add_angle_pair(ring *r, int a, int b, size_t *capacity) {
    assert(a <= b && b < r->angle_count);
    ring_angle_pair pair = {a, b, -1, -1, 1};
    const ring_angle *x = &r->angles[a], *y = &r->angles[b];
    bool fits = x->count + y->count <= ANGLE_TERMS;
    ring_angle sum = combine_angles(x, y, 1), difference = combine_angles(x, y, -1);
    if (a != b && difference.count > 0 && fits) {
        pair.difference_sign = take_sign(&difference);
        bool single = x->count == 1 && y->count == 1;
        pair.difference =
            single || is_worth(x, y, &difference) ? find_or_add(r, &difference) : find_angle(r, &difference);
    }
    if (sum.count > 0 && fits && take_sign(&sum) > 0)
        pair.sum = a != b && is_worth(x, y, &sum) ? find_or_add(r, &sum) : find_angle(r, &sum);
    if (pair.sum < 0 && pair.difference < 0) return;
    ring_angle_pair *pairs = arena_grow(r->memory, r->pairs, capacity, r->pair_count + 1, sizeof *pairs);
    if (!pairs) {
        r->failed = true;
        return;
    }
    r->pairs = pairs;
    pairs[r->pair_count++] = pair;
}

void ring_angles_finish(ring *r) {
    size_t capacity = 0;
    int written = r->angle_count;
    for (int i = 0; i < written; i++) add_terms_as_angles(r, &r->angles[i]);
    r->angle_given = r->angle_count;
    for (int a = 0; a < r->angle_given; a++)
        for (int b = a; b < r->angle_given; b++) add_angle_pair(r, a, b, &capacity);
}
