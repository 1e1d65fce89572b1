/* parser_int.h — private declarations of engine/text: names, suggestions, and the parser's stacks, code and errors. */
#pragma once

#include "engine/text/lexer.h"
#include "engine/text/parser.h"

/* --- names.c ----------------------------------------------------------------------------------------------------- */

/* Meaning of a function name. `code` is a graph_op for FUNCTION_OPERATOR, a syntax_quantity for FUNCTION_QUANTITY. */
typedef enum function_kind { FUNCTION_NONE, FUNCTION_OPERATOR, FUNCTION_QUANTITY, FUNCTION_SUM } function_kind;
typedef struct function_name {
    function_kind kind;
    uint16_t code;
} function_name;

function_name function_find(const char *text, size_t length);

/* Returns the name of a function that is nearest to the text, or NULL. */
const char *function_nearest(const char *text, size_t length);

bool word_is(const char *text, size_t length, const char *word);

/* Writes the list of arguments of a quantity, for messages: "name, expression". */
void quantity_arguments(syntax_quantity quantity, char *text, size_t size);

/* --- hints.c: suggestions for expressions in the notation of other languages ------------------------------------- */

/* Returns a suggestion for a condition where a number is expected. */
const char *hint_for_condition(syntax_goal goal);

/* Returns a suggestion for an "=" that is not allowed. */
const char *hint_for_equal_sign(syntax_goal goal);

/* Adds a suggestion for an unknown function to the last error. */
void hint_for_function(hamel_error *error, const char *text, size_t length);

/* Adds a suggestion for a missing operator between `last` and `next` to the last error. `range` is true if the text is
 * the range of a family, such as i = 1..N. */
void hint_before(hamel_error *error, const syntax_item *last, const token *next, bool range);

/* --- parser.c, parser_state.c ------------------------------------------------------------------------------------ */

typedef enum frame_kind {
    FRAME_PREFIX,
    FRAME_BINARY,
    FRAME_GROUP, /* frames of this kind and of the kinds below begin with a bracket */
    FRAME_CALL,
    FRAME_QUANTITY,
    FRAME_SUM,
    FRAME_INDEX
} frame_kind;

enum { OR_LEVEL = 1, AND_LEVEL, NOT_LEVEL, COMPARISON_LEVEL, SUM_LEVEL, PRODUCT_LEVEL, SIGN_LEVEL, POWER_LEVEL };

enum { NO_OPERATION = GRAPH_OP_COUNT }; /* marks a unary plus, which has no operator */

typedef struct frame {
    uint8_t kind;       /* frame_kind */
    uint8_t level;      /* precedence of an operator */
    uint8_t is_name;    /* FRAME_INDEX: true for the index of a bare name */
    uint16_t operation; /* graph_op or syntax_quantity */
    int32_t count;      /* number of finished arguments; a sum has the arguments first, last and term */
    int32_t column;     /* column of the operator, or of the name before the bracket */
    int32_t open;       /* column of the bracket */
    int32_t item;       /* FRAME_SUM: index of the item SYNTAX_SUM */
    uint32_t length;    /* length of `name` */
    const char *name;   /* FRAME_INDEX: the indexed name; FRAME_SUM: the loop variable */
} frame;

typedef struct value {
    int32_t column;
    bool condition;
} value;

typedef struct parser {
    arena scratch;
    lexer lexer;
    token token; /* current token */
    syntax_item *items;
    size_t count, items_capacity, first; /* `first`: index of the first item of the current expression */
    frame *frames;
    size_t frame_count, frames_capacity;
    value *values;
    size_t value_count, values_capacity, depth;
    int32_t levels, sums;
    token_kind stop; /* token that ends the current expression: TOKEN_END or TOKEN_RANGE */
    syntax_goal goal;
    bool equation;        /* true if a single '=' may still follow */
    int32_t equal_column; /* column of the '=', or 0 */
    bool want_value, done;
    const char *text, *pointer;
    size_t length;
    hamel_error *error;
    hamel_status status;
} parser;

/* Functions that add an error and return false. parser_suggest only adds a suggestion to the last error. */
bool parser_fail(parser *p, int32_t column, const char *format, ...) HAMEL_PRINTF(3, 4);
bool parser_fail_memory(parser *p);
bool parser_fail_arena(parser *p, const arena *memory);     /* adds the error that the caller's arena is full */
bool parser_fail_expected(parser *p, const char *expected); /* adds the error that `expected` is missing */
bool parser_fail_expected_try(parser *p, const char *expected, const char *hint);
bool parser_suggest(parser *p, const char *hint);

/* Arguments for "%.*s": length and text of a name or token. */
#define SHOWN(item) hamel_shown((item)->text, (item)->length), (item)->text

/* Functions below that return a bool return false after adding an error. */
void parser_advance(parser *p); /* reads the next token */
frame *parser_top(parser *p);   /* NULL if no frame is open */
bool parser_push(parser *p, frame f);
frame parser_pop(parser *p);

static inline bool frame_is_operator(const frame *f) {
    return f->kind < FRAME_GROUP;
}

/* Writes an item that pops `pops` values and pushes one value. */
bool parser_emit(parser *p, syntax_item item, size_t pops, bool condition);
value parser_last_value(const parser *p);
bool parser_check_number(parser *p, value v);
bool parser_check_condition(parser *p, value v, const char *who);
