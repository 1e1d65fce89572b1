/* print.c — prints nodes as infix text that the parser reads back, as LaTeX, or as C.
 *
 * A stack of pending pieces replaces recursion. A piece is a text, or a node with the precedence required at its
 * position. The text of a shared node is repeated at each use, so it can be far longer than the graph. The maximum of
 * the buffer bounds it: the loop ends if the buffer fails. */
#include "engine/graph/graph_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ESCAPED: the text may contain special characters of LaTeX. */
enum { VERBATIM = 0, ESCAPED };
enum { LOOSE = 0, CONDITION_OR, CONDITION_AND, CONDITION_NOT, COMPARISON, SUM, PRODUCT, SIGNED, POWER, ATOM };

typedef struct piece {
    graph_node node; /* GRAPH_NONE: `text` */
    int precedence;  /* parenthesize a node that binds less tightly */
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

/* Returns the name of the table of a lookup, and sets *order to the order of the derivative. */
static const char *looked_up(const graph *g, const graph_node *operand, size_t *order) {
    double table = 0, n = 0;
    (void)graph_is_number(g, operand[1], &table);
    (void)graph_is_number(g, operand[2], &n);
    *order = (size_t)n;
    return g->tables[(size_t)table]->name;
}

/* Pushes table(NAME, x). Derivatives, which descriptions cannot contain, are printed as table'(NAME, x). */
static void push_text_table(pieces *p, const graph *g, const graph_cell *cell) {
    static const char *const calls[] = {"table(", "table'(", "table''(", "table'''("};
    size_t order;
    const char *name = looked_up(g, cell->as.operand, &order);
    push(p, GRAPH_NONE, 0, ")");
    push(p, cell->as.operand[0], LOOSE, NULL);
    push(p, GRAPH_NONE, 0, ", ");
    push(p, GRAPH_NONE, 0, name);
    push(p, GRAPH_NONE, 0, calls[order]);
}

/* Pushes the pieces of an operation in reverse order. */
static void push_text(pieces *p, graph_op op, const graph_cell *cell, int outer) {
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
        /* no parentheses in -a/b: it is read as (-a)/b, which is equal. A negation that is a divisor needs them */
        push(p, o[0], op == GRAPH_NOT ? own : outer <= PRODUCT ? PRODUCT : POWER, NULL);
        push(p, GRAPH_NONE, 0, op == GRAPH_NOT ? "not " : "-");
    } else {
        /* at equal precedence, the right operand of -, / and comparisons needs parentheses; of ^, the left operand */
        push(p, o[1], op == GRAPH_POW ? POWER : own + 1, NULL);
        push(p, GRAPH_NONE, 0, spaced(op));
        push(p, o[0], op == GRAPH_POW || own == COMPARISON ? own + 1 : own, NULL);
    }
    if (parenthesize) push(p, GRAPH_NONE, 0, "(");
}

static void text_number(double value, int outer, text_buffer *out) {
    bool parenthesize = value < 0 && outer > SUM;
    if (parenthesize) text_buffer_puts(out, "(");
    if (value == M_PI)
        text_buffer_puts(out, "pi");
    else
        text_buffer_number(out, value);
    if (parenthesize) text_buffer_puts(out, ")");
}

/* --- LaTeX -------------------------------------------------------------------------------------------------------- */

static const char *latex_operator(graph_op op) {
    switch (op) {
    case GRAPH_ADD: return " + ";
    case GRAPH_SUB: return " - ";
    case GRAPH_MUL: return " \\, ";
    case GRAPH_LT: return " < ";
    case GRAPH_LE: return " \\le ";
    case GRAPH_GT: return " > ";
    case GRAPH_GE: return " \\ge ";
    case GRAPH_EQ: return " = ";
    case GRAPH_NE: return " \\ne ";
    case GRAPH_AND: return " \\land ";
    case GRAPH_OR: return " \\lor ";
    default: return "";
    }
}

/* Returns the LaTeX before the operands of a function. Functions without a LaTeX command are printed upright. */
static const char *latex_function(graph_op op) {
    switch (op) {
    case GRAPH_SIN: return "\\sin";
    case GRAPH_COS: return "\\cos";
    case GRAPH_TAN: return "\\tan";
    case GRAPH_ASIN: return "\\arcsin";
    case GRAPH_ACOS: return "\\arccos";
    case GRAPH_ATAN: return "\\arctan";
    case GRAPH_SINH: return "\\sinh";
    case GRAPH_COSH: return "\\cosh";
    case GRAPH_TANH: return "\\tanh";
    case GRAPH_EXP: return "\\exp";
    case GRAPH_LOG: return "\\ln";
    case GRAPH_MIN: return "\\min";
    case GRAPH_MAX: return "\\max";
    default: return NULL;
    }
}

/* Pushes: before, operand[0], between, operand[1], between, operand[2], after. */
static void push_around(pieces *p, const graph_cell *cell, int arity, const char *before, const char *between,
                        const char *after) {
    push(p, GRAPH_NONE, 0, after);
    for (int k = arity - 1; k >= 0; k--) {
        push(p, cell->as.operand[k], LOOSE, NULL);
        push(p, GRAPH_NONE, 0, k ? between : before);
    }
}

static void push_latex_function(pieces *p, graph_op op, const graph_cell *cell) {
    int arity = graph_op_get(op)->arity;
    const char *command = latex_function(op);
    switch (op) {
    case GRAPH_DIV: push_around(p, cell, arity, "\\frac{", "}{", "}"); return;
    case GRAPH_SQRT: push_around(p, cell, arity, "\\sqrt{", "", "}"); return;
    case GRAPH_CBRT: push_around(p, cell, arity, "\\sqrt[3]{", "", "}"); return;
    case GRAPH_ABS: push_around(p, cell, arity, "\\left|", "", "\\right|"); return;
    case GRAPH_FLOOR: push_around(p, cell, arity, "\\left\\lfloor ", "", "\\right\\rfloor "); return;
    case GRAPH_CEIL: push_around(p, cell, arity, "\\left\\lceil ", "", "\\right\\rceil "); return;
    default: break;
    }
    push_around(p, cell, arity, "\\left(", ", ", "\\right)");
    push(p, GRAPH_NONE, 0, command ? command : "}");
    if (!command) push(p, GRAPH_NONE, 0, graph_op_get(op)->text);
    if (!command) push(p, GRAPH_NONE, 0, "\\operatorname{");
}

static void push_latex(pieces *p, graph_op op, const graph_cell *cell, int outer) {
    int own = op == GRAPH_DIV ? ATOM : op == GRAPH_NEG ? SUM : precedence_of(op);
    const graph_node *o = cell->as.operand;
    if (own == ATOM) {
        push_latex_function(p, op, cell);
        return;
    }
    bool parenthesize = own < outer;
    if (parenthesize) push(p, GRAPH_NONE, 0, "\\right)");
    if (op == GRAPH_POW) {
        push(p, GRAPH_NONE, 0, "}");
        push(p, o[1], LOOSE, NULL);
        push(p, GRAPH_NONE, 0, "^{");
        push(p, o[0], ATOM, NULL);
    } else if (graph_op_get(op)->arity == 1) {
        push(p, o[0], op == GRAPH_NEG ? PRODUCT : own, NULL);
        push(p, GRAPH_NONE, 0, op == GRAPH_NOT ? "\\lnot " : "-");
    } else {
        push(p, o[1], own + 1, NULL);
        push(p, GRAPH_NONE, 0, latex_operator(op));
        push(p, o[0], own == COMPARISON ? own + 1 : own, NULL);
    }
    if (parenthesize) push(p, GRAPH_NONE, 0, "\\left(");
}

/* Pushes NAME(x), with one prime per differentiation. */
static void push_latex_table(pieces *p, const graph *g, const graph_cell *cell) {
    static const char *const primes[] = {"}\\left(", "}'\\left(", "}''\\left(", "}'''\\left("};
    size_t order;
    const char *name = looked_up(g, cell->as.operand, &order);
    push(p, GRAPH_NONE, VERBATIM, "\\right)");
    push(p, cell->as.operand[0], LOOSE, NULL);
    push(p, GRAPH_NONE, VERBATIM, primes[order]);
    push(p, GRAPH_NONE, ESCAPED, name);
    push(p, GRAPH_NONE, VERBATIM, "\\operatorname{");
}

static void latex_number(double value, int outer, text_buffer *out) {
    text_buffer plain;
    if (value == M_PI) {
        text_buffer_puts(out, "\\pi ");
        return;
    }
    text_buffer_init(&plain, 64);
    text_buffer_number(&plain, value);
    const char *text = plain.bytes ? plain.bytes : "", *e = strchr(text, 'e');
    bool parenthesize = (value < 0 && outer > SUM) || (e && outer > PRODUCT);
    if (parenthesize) text_buffer_puts(out, "\\left(");
    if (e)
        text_buffer_printf(out, "%.*s \\cdot 10^{%ld}", (int)(e - text), text, strtol(e + 1, NULL, 10));
    else
        text_buffer_puts(out, text);
    if (parenthesize) text_buffer_puts(out, "\\right)");
    text_buffer_free(&plain);
}

/* --- C ------------------------------------------------------------------------------------------------------------ */

static const char *c_operator(graph_op op) {
    switch (op) {
    case GRAPH_AND: return " && ";
    case GRAPH_OR: return " || ";
    case GRAPH_MUL: return "*";
    case GRAPH_DIV: return "/";
    default: return spaced(op);
    }
}

/* Returns the C name of a function. sign and mod are defined in the generated program. */
static const char *c_function(graph_op op) {
    switch (op) {
    case GRAPH_ABS: return "fabs";
    case GRAPH_MIN: return "fmin";
    case GRAPH_MAX: return "fmax";
    default: return graph_op_get(op)->text;
    }
}

static void push_c(pieces *p, graph_op op, const graph_cell *cell, int outer) {
    int own = precedence_of(op), arity = graph_op_get(op)->arity;
    const graph_node *o = cell->as.operand;
    if (op == GRAPH_IF) {
        push(p, GRAPH_NONE, 0, ")");
        push(p, o[2], COMPARISON, NULL);
        push(p, GRAPH_NONE, 0, " : ");
        push(p, o[1], COMPARISON, NULL);
        push(p, GRAPH_NONE, 0, " ? ");
        push(p, o[0], COMPARISON, NULL);
        push(p, GRAPH_NONE, 0, "(");
        return;
    }
    if (op == GRAPH_SECH) {
        push_around(p, cell, arity, "(1/cosh(", "", "))");
        return;
    }
    if (own == ATOM || op == GRAPH_POW) {
        push_around(p, cell, arity, "(", ", ", ")");
        push(p, GRAPH_NONE, 0, op == GRAPH_POW ? "pow" : c_function(op));
        return;
    }
    bool parenthesize = own < outer || (own <= COMPARISON && outer > LOOSE);
    if (parenthesize) push(p, GRAPH_NONE, 0, ")");
    if (arity == 1) {
        push(p, o[0], op == GRAPH_NEG ? POWER : ATOM, NULL);
        push(p, GRAPH_NONE, 0, op == GRAPH_NOT ? "!" : "-");
    } else {
        push(p, o[1], own + 1, NULL);
        push(p, GRAPH_NONE, 0, c_operator(op));
        push(p, o[0], own, NULL);
    }
    if (parenthesize) push(p, GRAPH_NONE, 0, "(");
}

/* Prints 1 as 1.0, so that 1/2 is not an integer division. */
static void c_number(double value, int outer, text_buffer *out) {
    size_t before = out->length;
    bool parenthesize = value < 0 && outer > SUM;
    if (parenthesize) text_buffer_puts(out, "(");
    text_buffer_number(out, value);
    if (!out->failed && !strpbrk(out->bytes + before, ".en")) text_buffer_puts(out, ".0");
    if (parenthesize) text_buffer_puts(out, ")");
}

/* Pushes table(x, NUMBER, ORDER); these are the operands of the node. */
static void push_c_table(pieces *p, const graph *g, const graph_cell *cell) {
    (void)g;
    push_c(p, GRAPH_TABLE, cell, LOOSE);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

typedef struct notation {
    void (*push)(pieces *p, graph_op op, const graph_cell *cell, int outer);
    void (*number)(double value, int outer, text_buffer *out);
    void (*table)(pieces *p, const graph *g, const graph_cell *cell);
} notation;

static void print_text(const piece *at, text_buffer *out) {
    for (const char *c = at->text; c && *c; c++) {
        if (at->precedence == ESCAPED && *c == '_') text_buffer_puts(out, "\\");
        text_buffer_add(out, c, 1);
    }
}

static void print(const graph *g, graph_node node, const notation *as, graph_namer *name, void *context,
                  text_buffer *out) {
    pieces p = {0};
    push(&p, node, LOOSE, NULL);
    while (p.count > 0 && !p.failed && !out->failed) {
        piece at = p.items[--p.count];
        if (at.node < 0) {
            print_text(&at, out);
            continue;
        }
        const graph_cell *cell = graph_at(g, at.node);
        if (cell->op == GRAPH_IS_NUMBER)
            as->number(cell->as.number, at.precedence, out);
        else if (cell->op == GRAPH_IS_SYMBOL)
            name(context, (graph_symbol_kind)cell->kind, cell->as.index, out);
        else if (cell->op == GRAPH_TABLE)
            as->table(&p, g, cell);
        else
            as->push(&p, (graph_op)cell->op, cell, at.precedence);
    }
    free(p.items);
}

void graph_print(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out) {
    static const notation text = {push_text, text_number, push_text_table};
    print(g, node, &text, name, context, out);
}

void graph_print_latex(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out) {
    static const notation latex = {push_latex, latex_number, push_latex_table};
    print(g, node, &latex, name, context, out);
}

void graph_print_c(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out) {
    static const notation c = {push_c, c_number, push_c_table};
    print(g, node, &c, name, context, out);
}
