/* select.c — selects the operations that compute a reachable subgraph.
 *
 * Each of three passes is a loop over the subgraph:
 *     1. From the outputs to the inputs, each needed value gets an operation, and the uses of its operands are counted.
 *        a + (-b) becomes a - b. A negation without other users is then not computed.
 *     2. A product used once is fused into the sum or difference that uses it.
 *     3. The sine and the cosine of one angle become one operation.
 * A value that depends on parameters only is not fused into an operation that depends on other symbols. Otherwise the
 * value would be evaluated at each call. */
#include "engine/compile/program_int.h"

#include <assert.h>
#include <stdlib.h>

typedef struct selection {
    program_operation *operations;
    const program_reachable *reachable;
    const graph *g;
} selection;

static const graph_cell *cell_of(const selection *s, uint32_t value) {
    return graph_at(s->g, s->reachable->nodes[value]);
}

static bool is_prepared(const graph_cell *cell) {
    return !(cell->depends & ~GRAPH_DEPENDS(SYMBOL_PARAMETER));
}

/* If the value is a negation, sets *operand to the negated value and returns true. */
static bool is_negated(const selection *s, uint32_t value, uint32_t *operand) {
    const graph_cell *cell = cell_of(s, value);
    if (cell->op != GRAPH_NEG) return false;
    *operand = program_reachable_find(s->reachable, cell->as.operand[0]);
    return true;
}

/* Replaces x + (-b) by x - b, (-a) + y by y - a, and x - (-b) by x + b. This is exact in floating point. */
static void fold_negation(const selection *s, program_operation *o) {
    uint32_t inner;
    if (is_negated(s, o->arg[1], &inner)) {
        o->op = o->op == GRAPH_ADD ? GRAPH_SUB : GRAPH_ADD;
        o->arg[1] = inner;
    } else if (o->op == GRAPH_ADD && is_negated(s, o->arg[0], &inner)) {
        o->op = GRAPH_SUB;
        o->arg[0] = o->arg[1];
        o->arg[1] = inner;
    }
}

enum { LARGEST_EXPONENT = 16 };

static void lower_power(const selection *s, program_operation *o) {
    static const struct {
        double exponent;
        uint8_t op;
    } special[] = {{2, PROGRAM_SQUARE},   {3, PROGRAM_CUBE},       {-1, PROGRAM_INVERSE},  {0.5, GRAPH_SQRT},
                   {1.5, PROGRAM_POW3_2}, {-0.5, PROGRAM_POWM1_2}, {-1.5, PROGRAM_POWM3_2}};
    double exponent;
    if (!graph_is_number(s->g, s->reachable->nodes[o->arg[1]], &exponent)) return;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (special[i].exponent != exponent) continue;
        o->op = special[i].op;
        o->arity = 1;
        return;
    }
    if (exponent == floor(exponent) && fabs(exponent) <= LARGEST_EXPONENT) o->op = PROGRAM_POWI;
}

static void select_one(const selection *s, uint32_t value) {
    program_operation *o = &s->operations[value];
    const graph_cell *cell = cell_of(s, value);
    o->prepared = is_prepared(cell);
    if (cell->op >= GRAPH_OP_COUNT || (!o->uses && !o->output)) return;
    o->op = cell->op;
    o->arity = (uint8_t)graph_op_get((graph_op)cell->op)->arity;
    for (int k = 0; k < o->arity; k++) o->arg[k] = program_reachable_find(s->reachable, cell->as.operand[k]);
    if (o->op == GRAPH_ADD || o->op == GRAPH_SUB) fold_negation(s, o);
    if (o->op == GRAPH_POW) lower_power(s, o);
    if (o->op == GRAPH_MUL && o->arg[0] == o->arg[1]) {
        o->op = PROGRAM_SQUARE;
        o->arity = 1;
    }
    for (int k = 0; k < o->arity; k++) s->operations[o->arg[k]].uses++;
}

static bool is_fusible(const selection *s, const program_operation *o, uint32_t value) {
    const program_operation *m = &s->operations[value];
    return m->op == GRAPH_MUL && m->uses == 1 && !m->output && m->prepared == o->prepared;
}

/* Fuses a product into a sum or difference: x·y + z, x·y - z, z - x·y. */
static void fuse_product(const selection *s, program_operation *o) {
    if (o->op != GRAPH_ADD && o->op != GRAPH_SUB) return;
    int product = is_fusible(s, o, o->arg[0]) ? 0 : is_fusible(s, o, o->arg[1]) ? 1 : -1;
    if (product < 0) return;
    assert(o->arity == 2);
    uint32_t other = o->arg[1 - product];
    program_operation *m = &s->operations[o->arg[product]];
    o->op = o->op == GRAPH_ADD ? PROGRAM_MULADD : product == 0 ? PROGRAM_MULSUB : PROGRAM_SUBMUL;
    o->arity = 3;
    o->arg[0] = m->arg[0];
    o->arg[1] = m->arg[1];
    o->arg[2] = other;
    m->op = PROGRAM_NO_OP;
    m->uses = 0;
}

/* Combines the sine and cosine of one angle. partner[x] is the first sine or cosine of the value x. */
static void pair_angle(const selection *s, uint32_t value, uint32_t *partner) {
    program_operation *o = &s->operations[value];
    if (o->op != GRAPH_SIN && o->op != GRAPH_COS) return;
    uint32_t first = partner[o->arg[0]];
    if (first == PROGRAM_NO_VALUE) {
        partner[o->arg[0]] = value;
        return;
    }
    uint32_t sine = o->op == GRAPH_SIN ? value : first, cosine = sine == value ? first : value;
    s->operations[sine].op = PROGRAM_SINCOS;
    s->operations[sine].second = cosine;
    s->operations[cosine].op = PROGRAM_NO_OP;
    s->operations[cosine].definer = sine;
}

hamel_status program_select(program_operation *operations, const program_reachable *reachable, const graph *g,
                            const uint32_t *values, size_t count) {
    selection s = {operations, reachable, g};
    uint32_t *partner = malloc((reachable->count + 1) * sizeof *partner);
    if (!partner) return HAMEL_NO_MEMORY;
    for (uint32_t i = 0; i < reachable->count; i++) {
        operations[i] = (program_operation){
            .op = PROGRAM_NO_OP, .second = PROGRAM_NO_VALUE, .place = PROGRAM_NO_VALUE, .definer = i};
        partner[i] = PROGRAM_NO_VALUE;
    }
    for (size_t i = 0; i < count; i++) operations[values[i]].output = true;
    for (size_t i = reachable->count; i-- > 0;) select_one(&s, (uint32_t)i);
    for (size_t i = reachable->count; i-- > 0;) fuse_product(&s, &operations[i]);
    for (uint32_t i = 0; i < reachable->count; i++) pair_angle(&s, i, partner);
    free(partner);
    return HAMEL_OK;
}
