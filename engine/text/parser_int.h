/* parser_int.h — the state of the parser: its stacks, the code that it writes, its errors. */
#pragma once

#include "engine/text/hints.h"
#include "engine/text/lexer.h"
#include "engine/text/parser.h"

typedef enum frame_kind {
    FRAME_PREFIX,
    FRAME_BINARY,
    FRAME_GROUP, /* this and the kinds below are opened by a bracket */
    FRAME_CALL,
    FRAME_QUANTITY,
    FRAME_SUM,
    FRAME_INDEX
} frame_kind;

enum { OR_LEVEL = 1, AND_LEVEL, NOT_LEVEL, COMPARISON_LEVEL, SUM_LEVEL, PRODUCT_LEVEL, SIGN_LEVEL, POWER_LEVEL };

enum { NO_OPERATION = GRAPH_OP_COUNT }; /* the operator of a unary plus */

typedef struct frame {
    uint8_t kind;       /* frame_kind */
    uint8_t level;      /* precedence of an operator */
    uint8_t is_name;    /* FRAME_INDEX: of a bare name */
    uint16_t operation; /* graph_op or syntax_quantity */
    int32_t count;      /* arguments finished; of a sum: first, last and then its term */
    int32_t column;     /* of the operator, or of the name before the bracket */
    int32_t open;       /* of the bracket */
    int32_t item;       /* FRAME_SUM: the index of its SYNTAX_SUM */
    uint32_t length;    /* of name */
    const char *name;   /* FRAME_INDEX: the indexed name; FRAME_SUM: the loop variable */
} frame;

typedef struct value {
    int32_t column;
    bool condition;
} value;

typedef struct parser {
    arena scratch;
    lexer lexer;
    token token; /* the current one */
    syntax_item *items;
    size_t count, items_capacity, first; /* `first`: of the current expression */
    frame *frames;
    size_t frame_count, frames_capacity;
    value *values;
    size_t value_count, values_capacity, depth;
    int32_t levels, sums;
    token_kind stop; /* the end of the current expression: TOKEN_END or TOKEN_RANGE */
    syntax_goal goal;
    bool equation;        /* a single '=' may still follow */
    int32_t equal_column; /* of the '=', or 0 */
    bool want_value, done;
    const char *text, *pointer;
    size_t length;
    hamel_error *error;
    hamel_status status;
} parser;

/* --- errors: each returns false ---------------------------------------------------------------------------------- */

bool parser_fail(parser *p, int32_t column, const char *format, ...) HAMEL_PRINTF(3, 4);
bool parser_fail_memory(parser *p);
bool parser_fail_arena(parser *p, const arena *memory);     /* the arena of the caller is full */
bool parser_fail_expected(parser *p, const char *expected); /* instead of the current token */
bool parser_fail_expected_try(parser *p, const char *expected, const char *hint);
bool parser_suggest(parser *p, const char *hint); /* how to correct the error just added */

/* The length and text of a name or token, for "%.*s". */
#define SHOWN(item) hamel_shown((item)->text, (item)->length), (item)->text

/* --- stacks: false after an error -------------------------------------------------------------------------------- */

void parser_advance(parser *p);
frame *parser_top(parser *p); /* NULL if no frame is open */
bool parser_push(parser *p, frame f);
frame parser_pop(parser *p);

static inline bool frame_is_operator(const frame *f) {
    return f->kind < FRAME_GROUP;
}

/* Writes an item that takes `pops` values and leaves one. */
bool parser_emit(parser *p, syntax_item item, size_t pops, bool condition);
value parser_last_value(const parser *p);
bool parser_check_number(parser *p, value v);
bool parser_check_condition(parser *p, value v, const char *who);
