/* constant.c — evaluates expressions that contain only numbers, such as "pi/6". */
#include "engine/text/constant.h"

#include "engine/text/parser_int.h"

#include <assert.h>
#include <math.h>

static double applied(graph_op op, double x, double y, double z) {
    switch (op) {
#define OP(name, text, arity, kind, value, dx, dy) \
    case GRAPH_##name: return value;
        GRAPH_OPERATOR_LIST(OP)
#undef OP
    default: (void)x, (void)y, (void)z; return NAN;
    }
}

/* Computes the value of an item with the operands x. Returns false if the item is not a number, pi or an operator. */
static bool item_value(const syntax_item *item, const double *x, double *out) {
    switch ((syntax_kind)item->kind) {
    case SYNTAX_NUMBER: *out = item->as.number; return true;
    case SYNTAX_NAME:
        *out = M_PI;
        return item->count == 0 && item->primes == 0 && word_is(item->as.name, item->length, "pi");
    case SYNTAX_OPERATOR: *out = applied((graph_op)item->op, x[0], x[1], x[2]); return true;
    default: return false;
    }
}

static bool run(const syntax *code, double *stack, double *out) {
    size_t depth = 0;
    for (size_t i = 0; i < code->count; i++) {
        const syntax_item *item = &code->items[i];
        size_t arity = item->kind == SYNTAX_OPERATOR ? (size_t)graph_op_get((graph_op)item->op)->arity : 0;
        double x[3] = {0};
        assert(depth >= arity && depth - arity < code->depth);
        for (size_t k = arity; k-- > 0;) x[k] = stack[--depth];
        if (!item_value(item, x, &stack[depth++])) return false;
    }
    *out = stack[0];
    return isfinite(*out);
}

bool syntax_constant(const char *text, size_t length, double *out) {
    arena memory;
    syntax code;
    hamel_error quiet = {0};
    arena_init(&memory, 0); /* no limit: the length of the text bounds the memory */
    bool found = syntax_parse(&code, &memory, text, length, SYNTAX_EXPRESSION, "", &quiet) == HAMEL_OK;
    double *stack = found ? arena_alloc(&memory, code.depth + 1, sizeof *stack) : NULL;
    found = stack && run(&code, stack, out);
    arena_free(&memory);
    hamel_error_clear(&quiet);
    return found;
}
