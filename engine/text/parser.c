/* parser.c — parses expressions by precedence climbing with explicit stacks.
 *
 * The parser alternates between two states: expecting a value, or expecting an operator or an end. Open constructs
 * (operators without their right operand, parentheses, calls, indices) are frames on a stack. The value stack contains
 * the type (number or condition) of each finished value, and the value's column for messages. An operator is written to
 * the postfix code when its frame is popped, so that the items are in the order of evaluation.
 *
 * Each item of the code corresponds to a different token, so the code has at most as many items as there are tokens.
 * The two items of a sum correspond to the token `sum` and to a parenthesis. The code is built in a scratch arena and
 * copied to the caller's arena. A function that fails adds an error, stores the status of the error in p->status, and
 * returns false. */
#include "engine/text/parser_int.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool check_operands(parser *p, graph_op op, int arity) {
    bool conditions = op == GRAPH_AND || op == GRAPH_OR || op == GRAPH_NOT;
    for (int i = arity; i > 0; i--) {
        value v = p->values[p->value_count - (size_t)i];
        if (conditions ? !parser_check_condition(p, v, graph_op_get(op)->text) : !parser_check_number(p, v))
            return false;
    }
    return true;
}

/* Pops the operator on top of the stack and writes it to the code. */
static bool finish_operator(parser *p) {
    frame f = parser_pop(p);
    if (f.operation == NO_OPERATION) return parser_check_number(p, parser_last_value(p));
    const graph_op_info *info = graph_op_get((graph_op)f.operation);
    if (!check_operands(p, (graph_op)f.operation, info->arity)) return false;
    syntax_item item = {.kind = SYNTAX_OPERATOR, .op = f.operation, .column = f.column};
    return parser_emit(p, item, (size_t)info->arity, info->condition != 0);
}

/* Pops and writes the operators on top of the stack whose precedence is at least `level`. */
static bool finish_operators(parser *p, int level) {
    for (frame *f = parser_top(p); f && frame_is_operator(f) && f->level >= level; f = parser_top(p))
        if (!finish_operator(p)) return false;
    return true;
}

typedef struct binary {
    uint16_t operation;
    uint8_t level; /* 0: no operator */
} binary;

static binary binary_of(const token *t) {
    static const binary binaries[TOKEN_ERROR + 1] = {[TOKEN_PLUS] = {GRAPH_ADD, SUM_LEVEL},
                                                     [TOKEN_MINUS] = {GRAPH_SUB, SUM_LEVEL},
                                                     [TOKEN_TIMES] = {GRAPH_MUL, PRODUCT_LEVEL},
                                                     [TOKEN_DIVIDE] = {GRAPH_DIV, PRODUCT_LEVEL},
                                                     [TOKEN_POWER] = {GRAPH_POW, POWER_LEVEL},
                                                     [TOKEN_LESS] = {GRAPH_LT, COMPARISON_LEVEL},
                                                     [TOKEN_LESS_EQUAL] = {GRAPH_LE, COMPARISON_LEVEL},
                                                     [TOKEN_GREATER] = {GRAPH_GT, COMPARISON_LEVEL},
                                                     [TOKEN_GREATER_EQUAL] = {GRAPH_GE, COMPARISON_LEVEL},
                                                     [TOKEN_EQUAL] = {GRAPH_EQ, COMPARISON_LEVEL},
                                                     [TOKEN_NOT_EQUAL] = {GRAPH_NE, COMPARISON_LEVEL}};
    if (t->kind == TOKEN_NAME && word_is(t->text, t->length, "and")) return (binary){GRAPH_AND, AND_LEVEL};
    if (t->kind == TOKEN_NAME && word_is(t->text, t->length, "or")) return (binary){GRAPH_OR, OR_LEVEL};
    return binaries[t->kind];
}

static bool parse_binary(parser *p, binary b) {
    int32_t column = p->token.column;
    /* Powers associate to the right: a new power leaves an unfinished power on the stack. Other operators associate to
     * the left. */
    if (!finish_operators(p, b.level == POWER_LEVEL || b.level == COMPARISON_LEVEL ? b.level + 1 : b.level))
        return false;
    const frame *before = parser_top(p);
    if (b.level == COMPARISON_LEVEL && before != NULL && frame_is_operator(before) &&
        before->level == COMPARISON_LEVEL) {
        parser_fail(p, column, "comparisons cannot be chained");
        return parser_suggest(p, "write a < b and b < c");
    }
    parser_advance(p);
    p->want_value = true;
    return parser_push(p, (frame){.kind = FRAME_BINARY, .level = b.level, .operation = b.operation, .column = column});
}

static bool parse_prefix(parser *p, uint16_t operation, uint8_t level) {
    frame f = {.kind = FRAME_PREFIX, .level = level, .operation = operation, .column = p->token.column};
    parser_advance(p);
    return parser_push(p, f);
}

/* Parses the '=' of an equation. At the end of the text, the expression after '=' is subtracted from the expression
 * before '='. */
static bool parse_equal_sign(parser *p) {
    int32_t column = p->token.column;
    if (!finish_operators(p, OR_LEVEL)) return false;
    const frame *open = parser_top(p);
    bool condition = open != NULL && open->kind == FRAME_CALL && open->operation == GRAPH_IF;
    if (open != NULL && p->equation && p->equal_column == 0 && !condition)
        return parser_fail(p, open->open, "this \"%s\" is not closed before \"=\"",
                           open->kind == FRAME_INDEX ? "[" : "(");
    if (open != NULL || !p->equation) {
        parser_fail(p, column,
                    p->equal_column > 0 ? "an equation must have exactly one \"=\"" : "\"=\" is not allowed here");
        return parser_suggest(p, hint_for_equal_sign(p->goal));
    }
    if (!parser_check_number(p, parser_last_value(p))) return false;
    p->equation = false;
    p->equal_column = column;
    p->want_value = true;
    parser_advance(p);
    return true;
}

/* Writes a name with its indices and primes. `suffix` is the text after the index of a bare name, such as 1 in J[i].1;
 * otherwise its length is 0. */
static bool emit_name(parser *p, const frame *f, token suffix) {
    syntax_item item = {.kind = f->is_name ? SYNTAX_ARGUMENT : SYNTAX_NAME, .count = f->count, .column = f->column};
    item.length = f->length;
    item.as.name = f->name;
    item.suffix = suffix.length > 0 ? (uint32_t)(suffix.text - f->name) : 0;
    item.suffix_length = suffix.length;
    for (; !f->is_name && p->token.kind == TOKEN_PRIME; parser_advance(p)) {
        if (++item.primes <= 2) continue;
        parser_fail(p, p->token.column, "a name may be differentiated at most twice");
        return parser_suggest(p, "write der(x'') for the rate of an acceleration, where der is allowed");
    }
    p->want_value = false;
    return parser_emit(p, item, (size_t)f->count, false);
}

/* Parses the indices of a name, if there are any. The current token is the token after the name. */
static bool parse_indexed(parser *p, const token *name, bool is_name) {
    frame f = {.kind = FRAME_INDEX, .is_name = is_name, .column = name->column, .open = p->token.column};
    f.length = name->length;
    f.name = name->text;
    if (p->token.kind != TOKEN_INDEX_OPEN) return emit_name(p, &f, (token){0});
    parser_advance(p);
    p->want_value = true;
    return parser_push(p, f);
}

static bool fail_no_function(parser *p, const token *name) {
    parser_fail(p, name->column, "there is no function \"%.*s\"", SHOWN(name));
    hint_for_function(p->error, name->text, name->length);
    return false;
}

static bool fail_open(parser *p, const frame *f) {
    return parser_fail(p, f->open, "this \"%s\" is never closed", f->kind == FRAME_INDEX ? "[" : "(");
}

static const char *call_text(const frame *f) {
    if (f->kind == FRAME_SUM) return "sum";
    if (f->kind == FRAME_CALL) return graph_op_get((graph_op)f->operation)->text;
    return quantity_text((syntax_quantity)f->operation);
}

static int call_arity(const frame *f) {
    if (f->kind == FRAME_SUM) return 3;
    if (f->kind == FRAME_CALL) return graph_op_get((graph_op)f->operation)->arity;
    return (int)strlen(quantity_signature((syntax_quantity)f->operation));
}

/* Returns the number of mandatory arguments. */
static int call_least(const frame *f) {
    if (f->kind != FRAME_QUANTITY) return call_arity(f);
    return (int)strcspn(quantity_signature((syntax_quantity)f->operation), "om");
}

/* Returns true if the signature of the quantity requires a name as the next argument. */
static bool takes_name(const frame *f) {
    char letter = quantity_signature((syntax_quantity)f->operation)[f->count];
    return letter == 'n' || letter == 'm';
}

/* Adds an error about the number of arguments. `found` is the number of arguments, or −1 if there are more than the
 * call takes. */
static bool fail_arity(parser *p, const frame *f, int32_t column, int found) {
    const char *text = call_text(f);
    int variable = f->kind == FRAME_SUM ? 1 : 0; /* the message counts the loop variable as an argument */
    int takes = call_arity(f) + variable;
    char count[32] = "more";
    if (found >= 0) snprintf(count, sizeof count, "%d", found + variable);
    char wanted[32] = "no";
    if (takes > 0) snprintf(wanted, sizeof wanted, "%d", takes);
    if (f->kind == FRAME_QUANTITY && 0 < call_least(f) && call_least(f) < takes)
        snprintf(wanted, sizeof wanted, "%d or %d", call_least(f), takes);
    parser_fail(p, column, "%s takes %s argument%s, found %s", text, wanted, takes == 1 ? "" : "s",
                takes == 0 ? "one" : count);
    if (f->kind == FRAME_SUM) hamel_suggest(p->error, "write sum(i, first, last, term)");
    if (f->kind == FRAME_CALL && f->operation == GRAPH_IF) hamel_suggest(p->error, "write if(condition, a, b)");
    if (f->kind != FRAME_QUANTITY) return false;
    char arguments[64];
    quantity_arguments((syntax_quantity)f->operation, arguments, sizeof arguments);
    hamel_suggest(p->error, "write %s(%s)", text, arguments);
    return false;
}

/* Pops the frame of a call that has all its arguments and writes the call. The current token is its ')'. */
static bool finish_call(parser *p) {
    frame f = parser_pop(p);
    parser_advance(p);
    p->want_value = false;
    syntax_item item = {.op = f.operation, .count = f.kind == FRAME_CALL ? 0 : f.count, .column = f.column};
    if (f.kind == FRAME_SUM) {
        syntax_item *head = &p->items[f.item];
        head->count = (int32_t)p->count - f.item - 1;
        item = (syntax_item){.kind = SYNTAX_SUM_END, .count = head->count + 1, .column = f.column};
        p->sums--;
        return parser_emit(p, item, 2, false); /* pops the term and the total */
    }
    item.kind = f.kind == FRAME_CALL ? SYNTAX_OPERATOR : SYNTAX_QUANTITY;
    return parser_emit(p, item, (size_t)f.count, false);
}

/* Starts an argument of the quantity whose frame is on top of the stack. The current token is the '(' or ',' before the
 * argument. */
static bool begin_quantity_argument(parser *p) {
    const frame *f = parser_top(p);
    bool is_name = takes_name(f);
    p->token = is_name ? lexer_next_dotted(&p->lexer) : lexer_next(&p->lexer);
    p->want_value = true;
    if (p->token.kind == TOKEN_CLOSE && f->count == 0)
        return call_least(f) == 0 ? finish_call(p) : fail_arity(p, f, f->column, 0);
    if (!is_name) return true;
    if (p->token.kind != TOKEN_NAME) {
        char expected[80];
        snprintf(expected, sizeof expected, "a name for %s", call_text(f));
        return parser_fail_expected(p, expected);
    }
    token name = p->token;
    parser_advance(p);
    return parse_indexed(p, &name, true);
}

/* Reads the variable of a sum and the comma after it, so that the variable is not parsed as a value. */
static bool begin_sum(parser *p, frame f) {
    if (++p->sums > SYNTAX_SUMS_MAX)
        return parser_fail(p, f.column, "the sums are nested deeper than %d levels", SYNTAX_SUMS_MAX);
    parser_advance(p);
    if (p->token.kind != TOKEN_NAME) return parser_fail_expected(p, "the variable of the sum");
    if (syntax_is_reserved(p->token.text, p->token.length))
        return parser_fail(p, p->token.column, "\"%.*s\" is reserved and cannot be a sum's variable", SHOWN(&p->token));
    f.name = p->token.text;
    f.length = p->token.length;
    parser_advance(p);
    if (p->token.kind == TOKEN_CLOSE) return fail_arity(p, &f, f.column, 0);
    if (p->token.kind != TOKEN_COMMA)
        return parser_fail_expected_try(p, "\",\" after the variable of the sum", "write sum(i, first, last, term)");
    parser_advance(p);
    return parser_push(p, f);
}

static bool parse_call(parser *p, const token *name, function_name function) {
    if (p->token.kind != TOKEN_OPEN) {
        parser_fail(p, name->column, "the function %.*s needs its arguments in parentheses", SHOWN(name));
        char arguments[64] = "...";
        if (function.kind == FUNCTION_QUANTITY)
            quantity_arguments((syntax_quantity)function.code, arguments, sizeof arguments);
        hamel_suggest(p->error, "write %.*s(%s); a quantity cannot have this name", SHOWN(name), arguments);
        return false;
    }
    frame f = {.operation = function.code, .column = name->column, .open = p->token.column};
    if (function.kind == FUNCTION_SUM) {
        f.kind = FRAME_SUM;
        return begin_sum(p, f);
    }
    f.kind = function.kind == FUNCTION_OPERATOR ? FRAME_CALL : FRAME_QUANTITY;
    if (!parser_push(p, f)) return false;
    if (call_arity(&f) > 0 && f.kind == FRAME_QUANTITY) return begin_quantity_argument(p);
    parser_advance(p);
    if (p->token.kind == TOKEN_CLOSE) return call_arity(&f) > 0 ? fail_arity(p, &f, f.column, 0) : finish_call(p);
    if (call_arity(&f) > 0) return true;
    return p->token.kind == TOKEN_END ? fail_open(p, &f) : fail_arity(p, &f, p->token.column, -1);
}

/* Checks and counts the argument of frame `f` that has just ended. */
static bool finish_argument(parser *p, frame *f) {
    f->count++;
    if (f->kind == FRAME_CALL && f->operation == GRAPH_IF && f->count == 1)
        return parser_check_condition(p, parser_last_value(p), "if");
    return parser_check_number(p, parser_last_value(p));
}

/* Writes the SYNTAX_SUM item of a sum whose limits have been parsed. When the code runs, this item leaves the total on
 * the value stack. */
static bool emit_sum(parser *p, frame *f) {
    syntax_item item = {.kind = SYNTAX_SUM, .column = f->column, .length = f->length, .as.name = f->name};
    f->item = (int32_t)p->count;
    return parser_emit(p, item, 2, false);
}

/* Combines the first two arguments of min, max or hypot, which may have more than two: f(a, b, c) = f(f(a, b), c). For
 * other functions, adds an error. */
static bool fold_arguments(parser *p, frame *f, int32_t column) {
    bool takes_more = f->operation == GRAPH_MIN || f->operation == GRAPH_MAX || f->operation == GRAPH_HYPOT;
    if (f->kind != FRAME_CALL || !takes_more) return fail_arity(p, f, column, -1);
    f->count = 1;
    return parser_emit(p, (syntax_item){.kind = SYNTAX_OPERATOR, .op = f->operation, .column = f->column}, 2, false);
}

static bool parse_comma(parser *p) {
    int32_t column = p->token.column;
    if (!finish_operators(p, OR_LEVEL)) return false;
    frame *f = parser_top(p);
    if (f == NULL || f->kind == FRAME_GROUP) return parser_fail(p, column, "a \",\" is allowed only between arguments");
    if (!finish_argument(p, f)) return false;
    if (f->kind == FRAME_INDEX && f->count >= SYNTAX_INDICES_MAX)
        return parser_fail(p, column, "more than %d indices", SYNTAX_INDICES_MAX);
    if (f->kind != FRAME_INDEX && f->count >= call_arity(f) && !fold_arguments(p, f, column)) return false;
    if (f->kind == FRAME_QUANTITY) return begin_quantity_argument(p);
    if (f->kind == FRAME_SUM && f->count == 2 && !emit_sum(p, f)) return false;
    parser_advance(p);
    p->want_value = true;
    return true;
}

static bool parse_close(parser *p, bool index) {
    const token t = p->token;
    if (!finish_operators(p, OR_LEVEL)) return false;
    frame *f = parser_top(p);
    if (f == NULL) return parser_fail(p, t.column, "this \"%.*s\" has no matching opening bracket", SHOWN(&t));
    if ((f->kind == FRAME_INDEX) != index)
        return parser_fail(p, t.column, "expected \"%s\" to close the \"%s\" in column %d, found \"%.*s\"",
                           index ? ")" : "]", index ? "(" : "[", f->open, SHOWN(&t));
    if (f->kind == FRAME_GROUP) {
        parser_pop(p);
        parser_advance(p);
        return true;
    }
    if (!finish_argument(p, f)) return false;
    if (f->kind == FRAME_INDEX) {
        frame indexed = parser_pop(p);
        token suffix = {0};
        if (indexed.is_name) suffix = lexer_next_suffix(&p->lexer);
        parser_advance(p);
        return emit_name(p, &indexed, suffix);
    }
    if (f->count < call_least(f) || f->count > call_arity(f)) return fail_arity(p, f, f->column, f->count);
    return finish_call(p);
}

static bool parse_word(parser *p) {
    token name = p->token;
    if (word_is(name.text, name.length, "not")) return parse_prefix(p, GRAPH_NOT, NOT_LEVEL);
    if (binary_of(&name).level > 0) return parser_fail_expected(p, "a value");
    parser_advance(p);
    function_name function = function_find(name.text, name.length);
    if (function.kind != FUNCTION_NONE) return parse_call(p, &name, function);
    if (p->token.kind == TOKEN_OPEN) return fail_no_function(p, &name);
    return parse_indexed(p, &name, false);
}

static bool parse_number(parser *p) {
    syntax_item item = {.kind = SYNTAX_NUMBER, .column = p->token.column, .as.number = p->token.number};
    parser_advance(p);
    p->want_value = false;
    return parser_emit(p, item, 0, false);
}

static bool parse_group(parser *p) {
    frame f = {.kind = FRAME_GROUP, .column = p->token.column, .open = p->token.column};
    parser_advance(p);
    return parser_push(p, f);
}

static bool fail_no_value(parser *p) {
    if (p->count == 0 && p->frame_count == 0 && p->token.kind == TOKEN_END)
        return parser_fail(p, 1, "the expression is empty");
    const frame *f = parser_top(p);
    if (p->token.kind == TOKEN_END && f != NULL && !frame_is_operator(f)) return fail_open(p, f);
    return parser_fail_expected(p, "a value");
}

static bool parse_value(parser *p) {
    switch (p->token.kind) {
    case TOKEN_NUMBER: return parse_number(p);
    case TOKEN_NAME: return parse_word(p);
    case TOKEN_OPEN: return parse_group(p);
    case TOKEN_MINUS: return parse_prefix(p, GRAPH_NEG, SIGN_LEVEL);
    case TOKEN_PLUS: return parse_prefix(p, NO_OPERATION, SIGN_LEVEL);
    default: return fail_no_value(p);
    }
}

/* Ends the current expression. If a parenthesis, bracket or call is not closed, adds an error. */
static bool parse_end(parser *p) {
    if (!finish_operators(p, OR_LEVEL)) return false;
    if (p->frame_count > 0) return fail_open(p, parser_top(p));
    if (!parser_check_number(p, parser_last_value(p))) return false;
    if (p->equal_column > 0) {
        syntax_item item = {.kind = SYNTAX_OPERATOR, .op = GRAPH_SUB, .column = p->equal_column};
        if (!parser_emit(p, item, 2, false)) return false;
    }
    assert(p->value_count == 1);
    p->done = true;
    return true;
}

/* Adds an error for an unexpected token after a value. The most frequent mistake is a missing multiplication sign. */
static bool fail_no_operator(parser *p) {
    const token *t = &p->token;
    if (t->kind == TOKEN_PRIME) {
        parser_fail(p, t->column, "only a name can be differentiated with '");
        return parser_suggest(p, "write der(expression) for the rate of an expression");
    }
    if (t->kind == TOKEN_INDEX_OPEN) return parser_fail(p, t->column, "only a name can have an index");
    if (t->kind == TOKEN_RANGE) return parser_fail(p, t->column, "\"..\" is allowed only in a range such as i = 1..N");
    if (t->kind != TOKEN_NAME && t->kind != TOKEN_NUMBER && t->kind != TOKEN_OPEN)
        return parser_fail_expected(p, "an operator");
    parser_fail_expected(p, "an operator");
    hint_before(p->error, &p->items[p->count - 1], t, p->stop == TOKEN_RANGE);
    return false;
}

/* Returns true if an invalid token follows an argument that must be a bare name. */
static bool after_bare_name(parser *p) {
    const frame *f = parser_top(p);
    if (!f || f->kind != FRAME_QUANTITY || !takes_name(f)) return false;
    return p->token.kind != TOKEN_COMMA && p->token.kind != TOKEN_CLOSE && p->token.kind != TOKEN_END;
}

static bool parse_after_value(parser *p) {
    if (after_bare_name(p)) {
        char expected[96];
        snprintf(expected, sizeof expected, "\",\" or \")\" after the name that %s takes", call_text(parser_top(p)));
        return parser_fail_expected(p, expected);
    }
    if (p->token.kind == p->stop && (p->stop == TOKEN_END || p->levels == 0)) return parse_end(p);
    binary b = binary_of(&p->token);
    if (b.level > 0) return parse_binary(p, b);
    switch (p->token.kind) {
    case TOKEN_COMMA: return parse_comma(p);
    case TOKEN_CLOSE: return parse_close(p, false);
    case TOKEN_INDEX_CLOSE: return parse_close(p, true);
    case TOKEN_ASSIGN: return parse_equal_sign(p);
    case TOKEN_END: return p->levels > 0 ? parse_end(p) : parser_fail_expected(p, "\"..\"");
    default: return fail_no_operator(p);
    }
}

static bool parser_start(parser *p, const char *text, size_t length, const char *pointer, hamel_error *error) {
    *p = (parser){.text = text, .length = length, .pointer = pointer, .error = error};
    arena_init(&p->scratch, 0); /* no limit: the length of the text bounds the memory */
    if (length > SYNTAX_TEXT_MAX) {
        p->status = hamel_fail(error, HAMEL_LIMIT, pointer, 0, "the expression has %zu bytes; the limit is %d bytes",
                               length, SYNTAX_TEXT_MAX);
        return false;
    }
    lexer_init(&p->lexer, text, length);
    do p->items_capacity++;
    while (lexer_next(&p->lexer).kind != TOKEN_END);
    p->items = arena_alloc(&p->scratch, p->items_capacity, sizeof *p->items);
    if (p->items == NULL) return parser_fail_memory(p);
    lexer_init(&p->lexer, text, length);
    parser_advance(p);
    return true;
}

/* Parses one expression up to a `stop` token and copies its code to `memory`. */
static bool parse_expression(parser *p, token_kind stop, arena *memory, syntax *out) {
    p->stop = stop;
    p->first = p->count;
    p->frame_count = p->value_count = p->depth = 0;
    p->want_value = true;
    p->done = false;
    while (!p->done)
        if (!(p->want_value ? parse_value(p) : parse_after_value(p))) return false;
    size_t count = p->count - p->first;
    syntax_item *items = arena_alloc(memory, count, sizeof *items);
    if (items == NULL) return parser_fail_arena(p, memory);
    memcpy(items, p->items + p->first, count * sizeof *items);
    *out = (syntax){.items = items, .count = count, .depth = p->depth, .text = p->text, .length = p->length};
    return true;
}

/* Frees the scratch memory and returns the status. */
static hamel_status parser_finish(parser *p, bool success) {
    arena_free(&p->scratch);
    assert(success == (p->status == HAMEL_OK));
    return success ? HAMEL_OK : p->status;
}

hamel_status syntax_parse(syntax *out, arena *memory, const char *text, size_t length, syntax_goal goal,
                          const char *pointer, hamel_error *error) {
    parser p;
    bool success = parser_start(&p, text, length, pointer, error);
    p.goal = goal;
    p.equation = goal == SYNTAX_EQUATION;
    if (success) success = parse_expression(&p, TOKEN_END, memory, out);
    return parser_finish(&p, success);
}

static bool parse_range(parser *p, arena *memory, syntax_range *out) {
    static const char hint[] = "write a range as i = 1..N";
    if (p->token.kind != TOKEN_NAME) return parser_fail_expected_try(p, "the variable of a range", hint);
    if (syntax_is_reserved(p->token.text, p->token.length))
        return parser_fail(p, p->token.column, "\"%.*s\" is reserved and cannot be a range's variable",
                           SHOWN(&p->token));
    out->variable = p->token.text;
    out->variable_length = p->token.length;
    parser_advance(p);
    if (p->token.kind != TOKEN_ASSIGN) return parser_fail_expected_try(p, "\"=\"", hint);
    parser_advance(p);
    if (!parse_expression(p, TOKEN_RANGE, memory, &out->first)) return false;
    parser_advance(p);
    return parse_expression(p, TOKEN_END, memory, &out->last);
}

hamel_status syntax_parse_range(syntax_range *out, arena *memory, const char *text, size_t length, const char *pointer,
                                hamel_error *error) {
    parser p;
    bool success = parser_start(&p, text, length, pointer, error) && parse_range(&p, memory, out);
    return parser_finish(&p, success);
}
