/* parser_state.c — the stacks of the parser, the code that it writes, and its errors. */
#include "engine/text/parser_int.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

bool parser_fail(parser *p, int32_t column, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    p->status = hamel_fail(p->error, HAMEL_INVALID, p->pointer, column, "%s", message);
    hamel_quote(p->error, p->text, p->length);
    return false;
}

bool parser_fail_memory(parser *p) {
    p->status = hamel_out_of_memory(p->error);
    return false;
}

bool parser_fail_arena(parser *p, const arena *memory) {
    if (memory->starved || memory->limit == 0) return parser_fail_memory(p);
    p->status = hamel_fail(p->error, HAMEL_LIMIT, p->pointer, 0,
                           "the expression does not fit into the memory limit of %zu bytes", memory->limit);
    return false;
}

bool parser_fail_expected(parser *p, const char *expected) {
    const token *t = &p->token;
    if (t->kind == TOKEN_ERROR) return parser_fail(p, t->column, "%s", t->message);
    if (t->kind == TOKEN_END) return parser_fail(p, t->column, "expected %s, but the text ends", expected);
    return parser_fail(p, t->column, "expected %s, found \"%.*s\"", expected, SHOWN(t));
}

bool parser_suggest(parser *p, const char *hint) {
    hamel_suggest(p->error, "%s", hint);
    return false;
}

bool parser_fail_expected_try(parser *p, const char *expected, const char *hint) {
    parser_fail_expected(p, expected);
    return parser_suggest(p, hint);
}

void parser_advance(parser *p) {
    p->token = lexer_next(&p->lexer);
}

frame *parser_top(parser *p) {
    return p->frame_count == 0 ? NULL : &p->frames[p->frame_count - 1];
}

bool parser_push(parser *p, frame f) {
    if (!frame_is_operator(&f) && ++p->levels > SYNTAX_LEVELS_MAX)
        return parser_fail(p, f.open, "the expression is nested deeper than %d levels", SYNTAX_LEVELS_MAX);
    frame *frames = arena_grow(&p->scratch, p->frames, &p->frames_capacity, p->frame_count + 1, sizeof *frames);
    if (frames == NULL) return parser_fail_memory(p);
    p->frames = frames;
    p->frames[p->frame_count++] = f;
    return true;
}

frame parser_pop(parser *p) {
    assert(p->frame_count > 0);
    frame f = p->frames[--p->frame_count];
    if (!frame_is_operator(&f)) p->levels--;
    return f;
}

static bool push_value(parser *p, int32_t column, bool condition) {
    value *values = arena_grow(&p->scratch, p->values, &p->values_capacity, p->value_count + 1, sizeof *values);
    if (values == NULL) return parser_fail_memory(p);
    p->values = values;
    p->values[p->value_count++] = (value){.column = column, .condition = condition};
    if (p->value_count > p->depth) p->depth = p->value_count;
    return true;
}

bool parser_emit(parser *p, syntax_item item, size_t pops, bool condition) {
    assert(p->count < p->items_capacity && pops <= p->value_count);
    p->items[p->count++] = item;
    p->value_count -= pops;
    return push_value(p, item.column, condition);
}

value parser_last_value(const parser *p) {
    assert(p->value_count > 0);
    return p->values[p->value_count - 1];
}

bool parser_check_number(parser *p, value v) {
    if (!v.condition) return true;
    parser_fail(p, v.column, "a number is expected here, not a condition");
    return parser_suggest(p, hint_for_condition(p->goal));
}

bool parser_check_condition(parser *p, value v, const char *who) {
    if (v.condition) return true;
    parser_fail(p, v.column, "\"%s\" takes a condition, but this is a number", who);
    return parser_suggest(p, "write a comparison, such as x > 0");
}
