/* print.c — prints nodes as infix text that the parser reads back, as LaTeX, or as C.
 *
 * A stack of pending pieces replaces recursion. A piece is a text, or a node with the precedence required at its
 * position. The pieces of an operation are pushed in reverse order, so that they are popped in the order of the text.
 * The text of a shared node is repeated at each use, so the output can be far longer than the graph. The loop therefore
 * ends when the buffer exceeds its maximum size. */
#include "engine/graph/graph_int.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ESCAPED: the text may contain special characters of LaTeX. */
enum { VERBATIM = 0, ESCAPED };
enum { LOOSE = 0, CONDITION_OR, CONDITION_AND, CONDITION_NOT, COMPARISON, SUM, PRODUCT, SIGNED, POWER, ATOM };

/* The texts of an operator in each notation. For a function, `latex` is printed before the operands, `between` between
 * them and `after` after them; the defaults are ", " and "\right)". A function without a text in some notation is
 * printed with its name in operators.h, which is upright in LaTeX. */
typedef struct operator_style {
    int precedence; /* 0 for a function */
    const char *text, *latex, *c, *between, *after;
} operator_style;

static const operator_style STYLES[GRAPH_OP_COUNT] = {
    [GRAPH_OR] = {CONDITION_OR, " or ", " \\lor ", " || ", NULL, NULL},
    [GRAPH_AND] = {CONDITION_AND, " and ", " \\land ", " && ", NULL, NULL},
    [GRAPH_NOT] = {CONDITION_NOT, "not ", "\\lnot ", "!", NULL, NULL},
    [GRAPH_LT] = {COMPARISON, "<", " < ", "<", NULL, NULL},
    [GRAPH_LE] = {COMPARISON, "<=", " \\le ", "<=", NULL, NULL},
    [GRAPH_GT] = {COMPARISON, ">", " > ", ">", NULL, NULL},
    [GRAPH_GE] = {COMPARISON, ">=", " \\ge ", ">=", NULL, NULL},
    [GRAPH_EQ] = {COMPARISON, "==", " = ", "==", NULL, NULL},
    [GRAPH_NE] = {COMPARISON, "!=", " \\ne ", "!=", NULL, NULL},
    [GRAPH_ADD] = {SUM, " + ", " + ", " + ", NULL, NULL},
    [GRAPH_SUB] = {SUM, " - ", " - ", " - ", NULL, NULL},
    [GRAPH_MUL] = {PRODUCT, "*", " \\, ", "*", NULL, NULL},
    [GRAPH_DIV] = {PRODUCT, "/", "\\frac{", "/", "}{", "}"},
    [GRAPH_NEG] = {SIGNED, "-", "-", "-", NULL, NULL},
    [GRAPH_POW] = {POWER, "^", "^{", "pow", NULL, NULL},
    [GRAPH_SIN] = {.latex = "\\sin\\left("},
    [GRAPH_COS] = {.latex = "\\cos\\left("},
    [GRAPH_TAN] = {.latex = "\\tan\\left("},
    [GRAPH_ASIN] = {.latex = "\\arcsin\\left("},
    [GRAPH_ACOS] = {.latex = "\\arccos\\left("},
    [GRAPH_ATAN] = {.latex = "\\arctan\\left("},
    [GRAPH_SINH] = {.latex = "\\sinh\\left("},
    [GRAPH_COSH] = {.latex = "\\cosh\\left("},
    [GRAPH_TANH] = {.latex = "\\tanh\\left("},
    [GRAPH_EXP] = {.latex = "\\exp\\left("},
    [GRAPH_LOG] = {.latex = "\\ln\\left("},
    [GRAPH_MIN] = {.latex = "\\min\\left(", .c = "fmin"},
    [GRAPH_MAX] = {.latex = "\\max\\left(", .c = "fmax"},
    [GRAPH_ABS] = {.latex = "\\left|", .c = "fabs", .after = "\\right|"},
    [GRAPH_SQRT] = {.latex = "\\sqrt{", .after = "}"},
    [GRAPH_CBRT] = {.latex = "\\sqrt[3]{", .after = "}"},
    [GRAPH_FLOOR] = {.latex = "\\left\\lfloor ", .after = "\\right\\rfloor "},
    [GRAPH_CEIL] = {.latex = "\\left\\lceil ", .after = "\\right\\rceil "},
};

typedef struct piece {
    graph_node node; /* GRAPH_NONE: the piece is `text` */
    int precedence;  /* a node with a lower precedence is parenthesized; for a text: VERBATIM or ESCAPED */
    const char *text;
} piece;

typedef struct pieces {
    piece *items;
    size_t count, capacity;
    bool failed;
} pieces;

static void push_piece(pieces *p, piece item) {
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
    p->items[p->count++] = item;
}

static void push(pieces *p, const char *text) {
    push_piece(p, (piece){GRAPH_NONE, VERBATIM, text});
}

static void push_node(pieces *p, graph_node node, int precedence) {
    push_piece(p, (piece){node, precedence, NULL});
}

static int precedence_of(graph_op op) {
    return STYLES[op].precedence ? STYLES[op].precedence : ATOM;
}

/* Pushes the operands, with `before` before the first one, `between` between two of them, and `after` after the last
 * one. */
static void push_around(pieces *p, graph_op op, const graph_cell *cell, const char *before, const char *between,
                        const char *after) {
    push(p, after);
    for (int k = graph_op_get(op)->arity - 1; k >= 0; k--) {
        push_node(p, cell->as.operand[k], LOOSE);
        push(p, k ? between : before);
    }
}

/* Pushes name(operands). */
static void push_call(pieces *p, graph_op op, const graph_cell *cell, const char *name) {
    push_around(p, op, cell, "(", ", ", ")");
    push(p, name ? name : graph_op_get(op)->text);
}

/* Pushes an operator with the precedences required of its operands. A unary operator has only the right operand. */
static void push_infix(pieces *p, graph_op op, const graph_cell *cell, const char *operator, int left, int right) {
    int last = graph_op_get(op)->arity - 1;
    assert(last <= 1);
    push_node(p, cell->as.operand[last], right);
    push(p, operator);
    if (last > 0) push_node(p, cell->as.operand[0], left);
}

/* Returns the name of the table that a TABLE node looks up, and sets *order to the order of the derivative. */
static const char *looked_up(const graph *g, const graph_node *operand, size_t *order) {
    double table = 0, n = 0;
    (void)graph_is_number(g, operand[1], &table);
    (void)graph_is_number(g, operand[2], &n);
    *order = (size_t)n;
    return g->tables[(size_t)table]->name;
}

/* Pushes table(NAME, x). A derivative of the table is printed as table'(NAME, x), although descriptions cannot contain
 * it. */
static void push_text_table(pieces *p, const graph *g, const graph_cell *cell) {
    static const char *const calls[] = {"table(", "table'(", "table''(", "table'''("};
    size_t order;
    const char *name = looked_up(g, cell->as.operand, &order);
    push(p, ")");
    push_node(p, cell->as.operand[0], LOOSE);
    push(p, ", ");
    push(p, name);
    push(p, calls[order]);
}

/* At equal precedence, parentheses are needed around the right operand of -, / and comparisons, and around the left
 * operand of ^. A negation that is a divisor also needs parentheses. A negation that is a dividend does not, because
 * -a/b has the same value whether it is parsed as (-a)/b or as -(a/b). */
static void push_text(pieces *p, graph_op op, const graph_cell *cell, int outer) {
    int own = precedence_of(op);
    int left = op == GRAPH_POW || own == COMPARISON ? own + 1 : own, right = op == GRAPH_POW ? POWER : own + 1;
    if (op == GRAPH_NOT) right = own;
    if (op == GRAPH_NEG) right = outer <= PRODUCT ? PRODUCT : POWER;
    if (own < outer) push(p, ")");
    if (own == ATOM)
        push_call(p, op, cell, NULL);
    else
        push_infix(p, op, cell, STYLES[op].text, left, right);
    if (own < outer) push(p, "(");
}

/* If `floating` is true, prints 1 as 1.0, so that 1/2 is not an integer division in C. */
static void plain_number(double value, int outer, bool floating, text_buffer *out) {
    bool parenthesize = value < 0 && outer > SUM;
    if (parenthesize) text_buffer_puts(out, "(");
    size_t before = out->length;
    text_buffer_number(out, value);
    if (floating && !out->failed && !strpbrk(out->bytes + before, ".en")) text_buffer_puts(out, ".0");
    if (parenthesize) text_buffer_puts(out, ")");
}

static void text_number(double value, int outer, text_buffer *out) {
    if (value == M_PI)
        text_buffer_puts(out, "pi");
    else
        plain_number(value, outer, false, out);
}

static void push_latex_function(pieces *p, graph_op op, const graph_cell *cell) {
    const operator_style *s = &STYLES[op];
    const char *before = s->latex ? s->latex : "}\\left(", *after = s->after ? s->after : "\\right)";
    push_around(p, op, cell, before, s->between ? s->between : ", ", after);
    if (s->latex) return;
    push(p, graph_op_get(op)->text);
    push(p, "\\operatorname{");
}

static void push_latex(pieces *p, graph_op op, const graph_cell *cell, int outer) {
    int own = op == GRAPH_DIV ? ATOM : op == GRAPH_NEG ? SUM : precedence_of(op);
    int left = own == COMPARISON ? own + 1 : own, right = own + 1;
    if (op == GRAPH_NEG) right = PRODUCT;
    if (op == GRAPH_NOT) right = own;
    if (op == GRAPH_POW) left = ATOM, right = LOOSE;
    if (own < outer) push(p, "\\right)");
    if (op == GRAPH_POW) push(p, "}");
    if (own == ATOM)
        push_latex_function(p, op, cell);
    else
        push_infix(p, op, cell, STYLES[op].latex, left, right);
    if (own < outer) push(p, "\\left(");
}

/* Pushes NAME(x), with one prime per differentiation. */
static void push_latex_table(pieces *p, const graph *g, const graph_cell *cell) {
    static const char *const primes[] = {"}\\left(", "}'\\left(", "}''\\left(", "}'''\\left("};
    size_t order;
    const char *name = looked_up(g, cell->as.operand, &order);
    push(p, "\\right)");
    push_node(p, cell->as.operand[0], LOOSE);
    push(p, primes[order]);
    push_piece(p, (piece){GRAPH_NONE, ESCAPED, name});
    push(p, "\\operatorname{");
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

/* The C program that contains the expression must define sign, mod and table(x, NUMBER, ORDER). */
static void push_c(pieces *p, graph_op op, const graph_cell *cell, int outer) {
    int own = precedence_of(op);
    const graph_node *o = cell->as.operand;
    if (op == GRAPH_IF) {
        push(p, ")");
        push_node(p, o[2], COMPARISON);
        push(p, " : ");
        push_node(p, o[1], COMPARISON);
        push(p, " ? ");
        push_node(p, o[0], COMPARISON);
        push(p, "(");
    } else if (op == GRAPH_SECH) {
        push_around(p, op, cell, "(1/cosh(", "", "))");
    } else if (own == ATOM || op == GRAPH_POW) {
        push_call(p, op, cell, STYLES[op].c);
    } else {
        bool parenthesize = own < outer || (own <= COMPARISON && outer > LOOSE);
        if (parenthesize) push(p, ")");
        push_infix(p, op, cell, STYLES[op].c, own, op == GRAPH_NEG ? POWER : op == GRAPH_NOT ? ATOM : own + 1);
        if (parenthesize) push(p, "(");
    }
}

static void c_number(double value, int outer, text_buffer *out) {
    plain_number(value, outer, true, out);
}

typedef struct notation {
    void (*push)(pieces *p, graph_op op, const graph_cell *cell, int outer);
    void (*number)(double value, int outer, text_buffer *out);
    void (*table)(pieces *p, const graph *g, const graph_cell *cell); /* NULL: `push` handles lookups */
} notation;

static void print_text(const piece *at, text_buffer *out) {
    for (const char *c = at->text; c && *c; c++) {
        if (at->precedence == ESCAPED && *c == '_') text_buffer_puts(out, "\\");
        text_buffer_add(out, c, 1);
    }
}

static void print(const graph *g, graph_node node, const notation *as, graph_namer *name, void *context,
                  text_buffer *out) {
    assert(node < (graph_node)g->count);
    pieces p = {0};
    push_node(&p, node, LOOSE);
    while (p.count > 0 && !p.failed && !out->failed) {
        piece at = p.items[--p.count];
        const graph_cell *cell = at.node < 0 ? NULL : graph_at(g, at.node);
        if (!cell)
            print_text(&at, out);
        else if (cell->op == GRAPH_IS_NUMBER)
            as->number(cell->as.number, at.precedence, out);
        else if (cell->op == GRAPH_IS_SYMBOL)
            name(context, (graph_symbol_kind)cell->kind, cell->as.index, out);
        else if (cell->op == GRAPH_TABLE && as->table)
            as->table(&p, g, cell);
        else
            as->push(&p, (graph_op)cell->op, cell, at.precedence);
    }
    free(p.items);
}

void graph_print(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out) {
    print(g, node, &(notation){push_text, text_number, push_text_table}, name, context, out);
}

void graph_print_latex(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out) {
    print(g, node, &(notation){push_latex, latex_number, push_latex_table}, name, context, out);
}

void graph_print_c(const graph *g, graph_node node, graph_namer *name, void *context, text_buffer *out) {
    print(g, node, &(notation){push_c, c_number, NULL}, name, context, out);
}
