/* print.c — nodes as infix text that the parser reads back.
 *
 * A stack of pending pieces (a node with the precedence its place asks for, or a piece of text) replaces recursion. The
 * text of a shared node is repeated at each use, so it can be far longer than the graph: the buffer's maximum bounds it,
 * and the loop ends when the buffer has failed. */
#include "engine/graph/graph_int.h"

#include <stdlib.h>

enum { LOOSE = 0, CONDITION_OR, CONDITION_AND, CONDITION_NOT, COMPARISON, SUM, PRODUCT, SIGNED, POWER, ATOM };

typedef struct piece {
    graph_node node; /* GRAPH_NONE: `text` */
    int precedence;  /* parenthesize when the node binds less tightly */
    const char *text;
} piece;

typedef struct pieces {
    piece *items;
    size_t count, capacity;
    bool failed;
} pieces;

static void push(pieces *p, graph_node node, int precedence, const char *text) {
    if (p->failed) return;
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? p->capacity * 2 : 64;
        piece *items = realloc(p->items, capacity * sizeof *items);
        if (!items) {
            p->failed = true;
            return;
        }
        p->items = items;
        p->capacity = capacity;
    }
    p->items[p->count++] = (piece){node, precedence, text};
}

static int precedence_of(graph_op op) {
    switch (op) {
    case GRAPH_OR: return CONDITION_OR;
    case GRAPH_AND: return CONDITION_AND;
    case GRAPH_NOT: return CONDITION_NOT;
    case GRAPH_LT:
    case GRAPH_LE:
    case GRAPH_GT:
    case GRAPH_GE:
    case GRAPH_EQ:
    case GRAPH_NE: return COMPARISON;
    case GRAPH_ADD:
    case GRAPH_SUB: return SUM;
    case GRAPH_MUL:
    case GRAPH_DIV: return PRODUCT;
    case GRAPH_NEG: return SIGNED;
    case GRAPH_POW: return POWER;
    default: return ATOM;
    }
}

static const char *spaced(graph_op op) {
    switch (op) {
    case GRAPH_ADD: return " + ";
    case GRAPH_SUB: return " - ";
    case GRAPH_AND: return " and ";
    case GRAPH_OR: return " or ";
    default: return graph_op_get(op)->text;
    }
}

/* table(NAME, x); its derivatives, which have no name in expressions, as table'(NAME, x). */
static void push_table(pieces *p, const graph *g, const graph_node *operand) {
    static const char *const calls[] = {"table(", "table'(", "table''(", "table'''("};
    double table = 0, order = 0;
    (void)graph_is_number(g, operand[1], &table);
    (void)graph_is_number(g, operand[2], &order);
    push(p, GRAPH_NONE, 0, ")");
    push(p, operand[0], LOOSE, NULL);
    push(p, GRAPH_NONE, 0, ", ");
    push(p, GRAPH_NONE, 0, g->tables[(size_t)table]->name);
    push(p, GRAPH_NONE, 0, calls[(size_t)order]);
}

/* Pieces are pushed last first. */
static void push_operator(pieces *p, graph_op op, const graph_cell *cell, int outer) {
    int own = precedence_of(op), arity = graph_op_get(op)->arity;
    const graph_node *o = cell->as.operand;
    bool parenthesize = own < outer;
    if (parenthesize) push(p, GRAPH_NONE, 0, ")");
    if (own == ATOM) {
        push(p, GRAPH_NONE, 0, ")");
        for (int k = arity - 1; k >= 0; k--) {
            push(p, o[k], LOOSE, NULL);
            push(p, GRAPH_NONE, 0, k ? ", " : "(");
        }
        push(p, GRAPH_NONE, 0, graph_op_get(op)->text);
    } else if (arity == 1) {
        push(p, o[0], op == GRAPH_NEG ? POWER : own, NULL);
        push(p, GRAPH_NONE, 0, op == GRAPH_NOT ? "not " : "-");
    } else {
        /* the right operand of -, / and comparisons needs parentheses at equal precedence; of ^ the left one */
        push(p, o[1], op == GRAPH_POW ? POWER : own + 1, NULL);
        push(p, GRAPH_NONE, 0, spaced(op));
        push(p, o[0], op == GRAPH_POW || own == COMPARISON ? own + 1 : own, NULL);
    }
    if (parenthesize) push(p, GRAPH_NONE, 0, "(");
}

static void print_number(double value, int outer, text_buffer *out) {
    bool parenthesize = value < 0 && outer > SUM;
    if (parenthesize) text_buffer_puts(out, "(");
    text_buffer_number(out, value);
    if (parenthesize) text_buffer_puts(out, ")");
}

void graph_print(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out) {
    pieces p = {0};
    push(&p, node, LOOSE, NULL);
    while (p.count > 0 && !p.failed && !out->failed) {
        piece at = p.items[--p.count];
        if (at.node < 0) {
            if (at.text) text_buffer_puts(out, at.text);
            continue;
        }
        const graph_cell *cell = graph_at(g, at.node);
        if (cell->op == GRAPH_IS_NUMBER)
            print_number(cell->as.number, at.precedence, out);
        else if (cell->op == GRAPH_IS_SYMBOL)
            name(context, (graph_symbol_kind)cell->kind, cell->as.index, out);
        else if (cell->op == GRAPH_TABLE)
            push_table(&p, g, cell->as.operand);
        else
            push_operator(&p, (graph_op)cell->op, cell, at.precedence);
    }
    free(p.items);
}
